// SPDX-License-Identifier: Apache-2.0
/* profsql_capture.h: captures from inside a program. Link with -lprofsql_capture, or dlopen() it.
 *
 *   profsql_capture_start(NULL);
 *   profsql_capture_push("step"); ... profsql_capture_pop();
 *   cudaDeviceSynchronize();              kernels that still run when a capture stops have no end
 *   profsql_capture_stop(path, sizeof path);
 *
 * Needs no CUDA to build or to load; without a GPU only ranges are recorded. One capture at a time
 * in a process. */
#ifndef PROFSQL_CAPTURE_H
#define PROFSQL_CAPTURE_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What is NULL is read from the environment (PROFSQL_CAPTURE_LOGDIR, ...), or is the default. */
typedef struct {
    size_t size;        /* sizeof(ProfsqlCapture) */
    const char *logdir; /* the profile is written to logdir/plugins/profile/run/host.xplane.pb */
    const char
        *run; /* NULL: the time of the first capture; later captures get _2, _3, ... appended */
    const char *kinds;      /* like --kinds of profsql-capture */
    const char *step_range; /* like --step-range */
    const char *cupti;      /* path of libcupti.so */
    int synchronize; /* not 0: like --synchronize, profsql_capture_stop() waits for the work on the
                        GPUs (at most 5 seconds) */
} ProfsqlCapture;

/* Starts recording. `options` may be NULL. Returns 0, or a code with its text in
 * profsql_capture_error(). */
int profsql_capture_start(const ProfsqlCapture *options);
/* Stops recording and writes the profile. Its path is copied to `path` (may be NULL with 0 bytes).
 * Returns 0, or a code; the spool then stays. */
int profsql_capture_stop(char *path, size_t path_bytes);
/* Between captures, lets another tool of this process (torch.profiler, jax.profiler) use CUPTI. The
 * next start takes it again. */
void profsql_capture_release(void);
/* Returns the error of this thread's last call; "" if it succeeded. */
const char *profsql_capture_error(void);

/* A range on the calling thread, shown in the profile like an NVTX range. May be called from any
 * thread. Without a capture it has no effect. */
void profsql_capture_push(const char *name);
void profsql_capture_pop(void);
/* An id that the thread's CUDA calls get until it is popped (if kinds has "external"), as the stat
 * external_id. */
void profsql_capture_push_id(uint64_t id);
void profsql_capture_pop_id(void);

#ifdef __cplusplus
}
#endif
#endif
