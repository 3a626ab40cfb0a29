// SPDX-License-Identifier: Apache-2.0
/* system.h: the clock and the threads of the capture. */
#ifndef PROF_CAPTURE_SYSTEM_H
#define PROF_CAPTURE_SYSTEM_H

#include <pthread.h>
#include <semaphore.h>
#include <stdint.h>
#include <time.h>

uint64_t clock_ns(clockid_t clock);
/* The moment of CLOCK_REALTIME so many ns from now, as the timed waits want it. */
struct timespec after_ns(int64_t ns);
/* Waits for a semaphore, at most so many ns whatever happens to the system's time, where the C
 * library can. */
void wait_ns(sem_t *sem, int64_t ns);
/* Starts a thread that takes none of the program's signals; an errno, 0 on success. */
int start_thread(pthread_t *thread, void *(*run)(void *));

#endif
