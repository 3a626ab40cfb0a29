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
/* Both wait at most so many ns whatever happens to the system's time, where the C library can: for
 * a semaphore, and for a thread to end. False: it has not ended. */
void wait_ns(sem_t *sem, int64_t ns);
bool join_within(pthread_t thread, int64_t ns);
/* Starts a thread that takes none of the program's signals; an errno, 0 on success. */
int start_thread(pthread_t *thread, void *(*run)(void *));

#endif
