// SPDX-License-Identifier: Apache-2.0
/* control.h: the thread that starts and stops recording from outside: delays, a signal, a socket;
 * and flushes once a second.
 *
 * The socket is a UNIX one in the abstract namespace, "profsql-capture.PID": it leaves nothing
 * behind and needs no folder. Only the process's own user and root are listened to. A message is
 * one word (start, stop, status); the answer is a line. */
#ifndef PROF_CAPTURE_CONTROL_H
#define PROF_CAPTURE_CONTROL_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

void control_begin(void);       /* starts the thread, once */
void control_end(void);         /* ends it; waits at most two seconds */
bool control_has_stopped(void); /* recording was stopped from outside or by its duration: it does
                                   not begin by itself again */
void control_wake(void);        /* there is a spool to convert */
void control_child(void);       /* in a forked child: forgets the thread */
/* The other side: sends a word to a process and copies its answer; false with errno when nobody
 * listens. */
bool control_send(pid_t pid, const char *word, char *answer, size_t n);

#endif
