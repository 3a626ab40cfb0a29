// SPDX-License-Identifier: Apache-2.0
/* system.c: see system.h. */
#define _GNU_SOURCE
#include "system.h"

#include <signal.h>

enum { NS_PER_S = 1000000000 };

uint64_t clock_ns(clockid_t clock)
{
    struct timespec t;
    clock_gettime(clock, &t);
    return (uint64_t)t.tv_sec * NS_PER_S + (uint64_t)t.tv_nsec;
}

static struct timespec after_ns(clockid_t clock, int64_t ns)
{
    uint64_t moment = clock_ns(clock) + (uint64_t)(ns > 0 ? ns : 0);
    return (struct timespec){(time_t)(moment / NS_PER_S), (long)(moment % NS_PER_S)};
}

/* Waits with CLOCK_MONOTONIC exist since glibc 2.30 and 2.31. GCC's thread sanitizer does not see
 * that pthread_clockjoin_np() joins. */
#ifdef __GLIBC_PREREQ
#define HAVE_SEM_CLOCKWAIT __GLIBC_PREREQ(2, 30)
#define HAVE_CLOCKJOIN __GLIBC_PREREQ(2, 31)
#else
#define HAVE_SEM_CLOCKWAIT 0
#define HAVE_CLOCKJOIN 0
#endif
#ifdef __SANITIZE_THREAD__
#undef HAVE_CLOCKJOIN
#define HAVE_CLOCKJOIN 0
#endif

void wait_ns(sem_t *sem, int64_t ns)
{
#if HAVE_SEM_CLOCKWAIT
    struct timespec until = after_ns(CLOCK_MONOTONIC, ns);
    sem_clockwait(sem, CLOCK_MONOTONIC, &until);
#else
    struct timespec until = after_ns(CLOCK_REALTIME, ns);
    sem_timedwait(sem, &until);
#endif
}

bool join_within(pthread_t thread, int64_t ns)
{
#if HAVE_CLOCKJOIN
    struct timespec until = after_ns(CLOCK_MONOTONIC, ns);
    return !pthread_clockjoin_np(thread, NULL, CLOCK_MONOTONIC, &until);
#else
    struct timespec until = after_ns(CLOCK_REALTIME, ns);
    return !pthread_timedjoin_np(thread, NULL, &until);
#endif
}

int start_thread(pthread_t *thread, void *(*run)(void *))
{
    sigset_t all, old;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &old);
    int rc = pthread_create(thread, NULL, run, NULL);
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    return rc;
}
