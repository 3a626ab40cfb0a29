// SPDX-License-Identifier: Apache-2.0
/* interrupt.h: asking whether the statement that is being answered was interrupted.
 *
 * The table that answers a statement opens an Interrupt on its thread; parallel_for() lends it to the
 * worker threads. Long loops poll it with the number of events (or other small pieces of work) that they have
 * handled since they last did. Once it is stopped, every poll of the statement fails, on all its threads.
 *
 * A poll may call back into the application, which may query a run that is in use on this thread. So
 * nobody polls while holding a lock, except recursive ones whose data are consistent at that moment. */
#ifndef PROF_INTERRUPT_H
#define PROF_INTERRUPT_H

#include "base.h"

#include <pthread.h>
#include <stdatomic.h>

typedef struct Interrupt {
    bool (*ask)(void *context); /* called every few ms on the opening thread; returns true to stop */
    void *context;
    atomic_bool stopped;
    int64_t asked_ns;
    struct InterruptThread *thread;
    struct Interrupt *outer; /* what the thread polled before */
    bool outer_asks;
} Interrupt;

/* Makes it what this thread polls, until it is closed. */
void interrupt_open(Interrupt *interrupt, bool (*ask)(void *context), void *context);
void interrupt_close(Interrupt *interrupt);

/* What this thread polls (NULL: nothing), for interrupt_borrow() on another thread. Polls of that one
 * never ask, they only look whether it was stopped. */
Interrupt *interrupt_lend(void);
void interrupt_borrow(Interrupt *interrupt);

/* Counts n pieces of work; now and then asks. True once the statement is to stop. */
bool interrupt_due(uint64_t n);
/* The same, as an error. Returns the code in err, which may be an earlier one. */
int interrupt_poll(uint64_t n, ProfErr *err);
/* Asks at once: for waits, which count nothing. */
int interrupt_ask(ProfErr *err);
/* How many calls of `ask` this thread is in: above 0 in statements that a progress handler runs. */
unsigned interrupt_depth(void);

/* Locks; false with err set if interrupted while another thread holds the lock. */
bool interrupt_lock(pthread_mutex_t *lock, ProfErr *err);
/* Waits some ms for a signal, with the lock held. */
void interrupt_wait(pthread_cond_t *signal, pthread_mutex_t *lock);

/* How often it is asked: after so much work and time. Tests make it more often. */
extern struct InterruptPace {
    uint64_t units;
    int64_t interval_ns;
} interrupt_pace;

#endif
