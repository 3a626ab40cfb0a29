// SPDX-License-Identifier: Apache-2.0
/* interrupt.c: polling for interrupts; see interrupt.h. */
#define _GNU_SOURCE
#include "interrupt.h"

#include <time.h>

struct InterruptPace interrupt_pace = {.units = 8192, .interval_ns = 5000000};

enum { WAIT_NS = 20000000 };

static _Thread_local struct InterruptThread {
    Interrupt *polled;
    bool asks;
    uint64_t n_units; /* work since the clock was last read */
    unsigned depth;
} here;

void interrupt_open(Interrupt *interrupt, bool (*ask)(void *context), void *context)
{
    struct InterruptThread *thread = &here;
    *interrupt = (Interrupt){.ask = ask,
                             .context = context,
                             .thread = thread,
                             .outer = thread->polled,
                             .outer_asks = thread->asks};
    thread->polled = interrupt, thread->asks = true;
}

void interrupt_close(Interrupt *interrupt)
{
    interrupt->thread->polled = interrupt->outer, interrupt->thread->asks = interrupt->outer_asks;
}

Interrupt *interrupt_lend(void) { return here.polled; }

void interrupt_borrow(Interrupt *interrupt) { here.polled = interrupt, here.asks = false; }

static int64_t now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

/* Statements that the application runs inside the callback open an Interrupt of their own. */
static bool ask(struct InterruptThread *thread, Interrupt *interrupt)
{
    thread->polled = NULL, thread->depth++;
    bool stop = interrupt->ask(interrupt->context);
    thread->polled = interrupt, thread->asks = true, thread->depth--;
    if (stop) atomic_store(&interrupt->stopped, true);
    interrupt->asked_ns = now_ns();
    return stop;
}

bool interrupt_due(uint64_t n)
{
    struct InterruptThread *thread = &here;
    Interrupt *interrupt = thread->polled;
    if (!interrupt) return false;
    if (atomic_load_explicit(&interrupt->stopped, memory_order_relaxed)) return true;
    if ((thread->n_units += n) < interrupt_pace.units) return false;
    thread->n_units = 0;
    if (!thread->asks) return false;
    if (!interrupt->asked_ns) interrupt->asked_ns = now_ns();
    return now_ns() - interrupt->asked_ns >= interrupt_pace.interval_ns && ask(thread, interrupt);
}

static int fail(ProfErr *err) { return prof_fail(err, PROF_INTERRUPT, 0, "interrupted"); }

int interrupt_poll(uint64_t n, ProfErr *err)
{
    if (interrupt_due(n)) fail(err);
    return err->code;
}

int interrupt_ask(ProfErr *err)
{
    struct InterruptThread *thread = &here;
    Interrupt *interrupt = thread->polled;
    if (interrupt && (atomic_load(&interrupt->stopped) || (thread->asks && ask(thread, interrupt))))
        fail(err);
    return err->code;
}

unsigned interrupt_depth(void) { return here.depth; }

static struct timespec in_a_moment(void)
{
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_nsec += WAIT_NS;
    if (until.tv_nsec >= 1000000000) until.tv_nsec -= 1000000000, until.tv_sec++;
    return until;
}

bool interrupt_lock(pthread_mutex_t *lock, ProfErr *err)
{
    if (!pthread_mutex_trylock(lock)) return true;
    for (;;) {
        struct timespec until = in_a_moment();
        if (!pthread_mutex_timedlock(lock, &until)) return true;
        ProfErr stopped = {0}; /* this wait does not fail because of an earlier error */
        if (!interrupt_ask(&stopped)) continue;
        fail(err);
        return false;
    }
}

void interrupt_wait(pthread_cond_t *signal, pthread_mutex_t *lock)
{
    struct timespec until = in_a_moment();
    pthread_cond_timedwait(signal, lock, &until);
}
