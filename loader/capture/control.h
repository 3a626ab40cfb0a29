// SPDX-License-Identifier: Apache-2.0
/* control.h: a thread that starts and stops recording after a delay, by a signal or through a
 * socket, and flushes once a second.
 *
 * The socket is a UNIX socket in the abstract namespace, "profsql-capture.PID": it leaves no file
 * and needs no folder. It only accepts the process's own user and root. A message is one word
 * (start, stop, status); the answer is a line. */
#ifndef PROF_CAPTURE_CONTROL_H
#define PROF_CAPTURE_CONTROL_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

void control_begin(void);       /* starts the thread, once */
void control_end(void);         /* ends it; waits at most two seconds */
bool control_has_stopped(void); /* recording was stopped from outside or by its duration, so it does
                                   not start by itself again */
void control_wake(void);        /* there is a spool to convert */
void control_child(void);       /* for a forked child: forgets the thread */
/* The client: sends a word to a process and copies the answer. False with errno if no process
 * listens. */
bool control_send(pid_t pid, const char *word, char *answer, size_t n);

#endif
