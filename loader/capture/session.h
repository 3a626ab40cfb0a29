// SPDX-License-Identifier: Apache-2.0
/* session.h: the capture of this process: recording on and off, the thread that writes, and the
 * end.
 *
 * There is one in a process, without a handle: the driver, NVTX and the program's own calls all
 * mean the same one. Functions may be called from any thread; starting and stopping take a lock,
 * nothing else does. */
#ifndef PROF_CAPTURE_SESSION_H
#define PROF_CAPTURE_SESSION_H

#include "options.h"

CaptureOptions *session_options(void); /* changed before the first start only */
/* Starts recording into a new spool. `late`: contexts may exist. An error leaves the program as it
 * was. */
int session_start(bool late, ProfErr *err);
/* The steps that --from-step and --steps ask for; n 0: all from the first on. */
typedef struct {
    uint64_t first, n;
} StepsAsked;
/* Starts recording of a window that all processes of a launch have; `unix_s`, its time, names the
 * run. */
int session_start_window(uint64_t unix_s, ProfErr *err);
/* Starts recording for them, once the GPUs have done what they were given. */
int session_start_steps(const StepsAsked *steps, ProfErr *err);
/* Stops when the GPUs have done the steps' work; the profile is made by session_convert_left(). */
void session_stop_steps(void);
/* Makes the profile of a window that has none yet, unless the command does; waits for another
 * thread that is at it. */
void session_convert_left(void);
/* CUDA is there: opens CUPTI if that has not been tried, and enables it if recording is on.
 * Problems are told on standard error and in the profile. */
void session_use_cuda(bool late);
/* The same where CUPTI was opened but another tool had it, or it was released. */
void session_regain_cuda(void);
/* Stops and writes what is known; with `convert` the profile too. *written: its path, empty when
 * there is none. */
int session_stop(bool convert, char *written, size_t n, ProfErr *err);
/* The same for who has nobody to tell: at exit and where the program stops us. The profile is left
 * to the command if that ran us. */
void session_stop_aloud(void);
/* With --synchronize: before stopping, waits for the work that the program has given to its GPUs.
 */
void session_settle(void);
/* Lets CUPTI go, so that another tool may have it; the next start takes it again. */
void session_release(void);
bool session_is_on(void);
/* An id of the calling thread's, which CUDA calls carry until it is popped. */
void session_push_external(uint64_t id);
void session_pop_external(void);
void session_tick(void); /* once a second: makes CUPTI hand over what is complete */
void session_describe(char *out, size_t n); /* one line */
void session_child(
    void); /* in a forked child: lets go of everything; takes no lock, allocates nothing */
void session_say(const char *format, ...)
    __attribute__((format(printf, 1, 2))); /* one line on standard error */

#endif
