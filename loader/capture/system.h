// SPDX-License-Identifier: Apache-2.0
/* system.h: the clock and the threads of the capture. */
#ifndef PROF_CAPTURE_SYSTEM_H
#define PROF_CAPTURE_SYSTEM_H

#include <pthread.h>
#include <semaphore.h>
#include <stdbool.h>
#include <stdint.h>
#include <time.h>

uint64_t clock_ns(clockid_t clock);
/* Wait for a semaphore, and for a thread to end, at most this many ns. If the C library supports
 * it, changes of the system's time have no influence. False: the thread has not ended. */
void wait_ns(sem_t *sem, int64_t ns);
bool join_within(pthread_t thread, int64_t ns);
/* Starts a thread that handles none of the program's signals. Returns 0 or an errno. */
int start_thread(pthread_t *thread, void *(*run)(void *));

#endif
