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

/* What is NULL is as the environment (PROFSQL_CAPTURE_LOGDIR, ...) says, else the default. */
typedef struct {
    size_t size;        /* sizeof(ProfsqlCapture) */
    const char *logdir; /* the profile is written to logdir/plugins/profile/run/host.xplane.pb */
    const char
        *run; /* the time of the first capture, if NULL; later captures get _2, _3, ... behind it */
    const char *kinds;      /* as --kinds of profsql-capture */
    const char *step_range; /* as --step-range */
    const char *cupti;      /* path of libcupti.so */
    int synchronize; /* not 0: as --synchronize, profsql_capture_stop() waits for the work on the
                        GPUs (5 seconds at most) */
} ProfsqlCapture;

/* Starts recording; `options` may be NULL. 0, or a code with its text in profsql_capture_error().
 */
int profsql_capture_start(const ProfsqlCapture *options);
/* Stops, and writes the profile; its path goes to `path` (may be NULL with 0 bytes). 0, or a code;
 * then the spool stays. */
int profsql_capture_stop(char *path, size_t path_bytes);
/* Between captures: lets another tool of this process (torch.profiler, jax.profiler) have CUPTI;
 * the next start takes it again. */
void profsql_capture_release(void);
/* What the last call of this thread failed with; "" when it did not. */
const char *profsql_capture_error(void);

/* A range on the calling thread, shown in the profile as an NVTX range is. From any thread; without
 * a capture they do nothing. */
void profsql_capture_push(const char *name);
void profsql_capture_pop(void);
/* An id that the thread's CUDA calls carry until it is popped (kinds with "external"): their stat
 * external_id. */
void profsql_capture_push_id(uint64_t id);
void profsql_capture_pop_id(void);

#ifdef __cplusplus
}
#endif
#endif
