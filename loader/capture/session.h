// SPDX-License-Identifier: Apache-2.0
/* session.h: the capture of this process: recording on and off, the thread that writes, and the
 * end.
 *
 * There is one in a process, without a handle, because the driver, NVTX and the program's own calls
 * all refer to the same one. Functions may be called from any thread. Only starting and stopping
 * take a lock. */
#ifndef PROF_CAPTURE_SESSION_H
#define PROF_CAPTURE_SESSION_H

#include "options.h"

CaptureOptions *session_options(void); /* may only be changed before the first start */
/* Starts recording into a new spool. `late`: contexts may exist. On an error the program is
 * unaffected. */
int session_start(bool late, ProfErr *err);
/* The steps that --from-step and --steps ask for; n 0: all from the first on. */
typedef struct {
    uint64_t first, n;
} StepsAsked;
/* Starts recording a window that all processes of a launch share. Its time `unix_s` names the run.
 */
int session_start_window(uint64_t unix_s, ProfErr *err);
/* Starts recording these steps, after the GPUs have finished earlier work. */
int session_start_steps(const StepsAsked *steps, ProfErr *err);
/* Stops recording after the GPUs have finished the steps' work. session_convert_left() then writes
 * the profile. */
void session_stop_steps(void);
/* Writes the profile of a window that has none yet, unless the command does so. Waits for another
 * thread that is doing it. */
void session_convert_left(void);
/* CUDA is available: opens CUPTI if that was not tried yet, and enables it if recording is on.
 * Problems are reported on standard error and in the profile. */
void session_use_cuda(bool late);
/* The same if CUPTI was opened but another tool had it, or it was released. */
void session_regain_cuda(void);
/* Stops recording and, with `convert`, writes the profile. *written: its path, empty if there is
 * none. */
int session_stop(bool convert, char *written, size_t n, ProfErr *err);
/* The same for callers that cannot handle errors: at exit, and when the program stops recording. If
 * the command ran the program, it writes the profile. */
void session_stop_aloud(void);
/* With --synchronize: waits, before stopping, for the work that the program has given to its GPUs.
 */
void session_wait_for_gpus(void);
/* Releases CUPTI, so that another tool may use it. The next start takes it again. */
void session_release(void);
bool session_is_on(void);
/* Push and pop an id of the calling thread that its CUDA calls get. */
void session_push_external(uint64_t id);
void session_pop_external(void);
void session_tick(void); /* called once a second: makes CUPTI return complete records */
void session_describe(char *out, size_t n); /* writes one line */
void session_child(
    void); /* for a forked child: releases everything; takes no lock, allocates nothing */
void session_say(const char *format, ...)
    __attribute__((format(printf, 1, 2))); /* one line on standard error */

#endif
