// SPDX-License-Identifier: Apache-2.0
/* interrupt.h: lets the user interrupt long work.
 *
 * A table opens an Interrupt on the thread of its statement, and parallel_for() passes it on to the
 * worker threads. Long loops poll it, with the number of events (or similar small pieces of work)
 * that they handled since their last poll. Once the statement is interrupted, every poll fails, on
 * all its threads.
 *
 * A poll may call back into the application, which may query a run that is in use on this thread.
 * So never poll while you hold a lock, except a recursive lock whose data are consistent at that
 * moment. */
#ifndef PROF_INTERRUPT_H
#define PROF_INTERRUPT_H

#include "base.h"

#include <pthread.h>
#include <stdatomic.h>

typedef struct Interrupt {
    /* called every few ms on the opening thread; returns true to stop the statement */
    bool (*ask)(void *context);
    void *context;
    atomic_bool stopped; /* set once `ask` returned true */
    int64_t asked_ns;    /* when `ask` was last called, CLOCK_MONOTONIC */
    struct InterruptThread *thread;
    struct Interrupt *outer; /* what the thread polled before interrupt_open() */
    bool outer_asks;         /* whether the thread's polls called `ask` before interrupt_open() */
} Interrupt;

/* Makes this thread poll `interrupt` until interrupt_close(), which restores what it polled
 * before. */
void interrupt_open(Interrupt *interrupt, bool (*ask)(void *context), void *context);
void interrupt_close(Interrupt *interrupt);

/* interrupt_lend() returns what this thread polls (NULL: nothing). Another thread passes it to
 * interrupt_borrow() and polls it from then on. Its polls never call `ask`: they only see whether
 * the statement was stopped. */
Interrupt *interrupt_lend(void);
void interrupt_borrow(Interrupt *interrupt);

/* Counts n pieces of work and from time to time calls `ask`. Returns true if the statement is to
 * stop. */
bool interrupt_due(uint64_t n);
/* Like interrupt_due(), but records PROF_INTERRUPT. Returns the code in err, also of an earlier
 * error. */
int interrupt_poll(uint64_t n, ProfErr *err);
/* Like interrupt_poll(), but calls `ask` at once. For waits, during which no work is counted. */
int interrupt_ask(ProfErr *err);
/* Returns how many calls of `ask` this thread is inside of. Above 0 in a statement that the
 * application runs from its progress handler. */
unsigned interrupt_depth(void);

/* Takes the lock. If it has to wait, it asks for interrupts meanwhile: returns false, without the
 * lock, if the statement is interrupted. */
bool interrupt_lock(pthread_mutex_t *lock, ProfErr *err);
/* Waits for a signal, at most 20 ms. The caller holds the lock. */
void interrupt_wait(pthread_cond_t *signal, pthread_mutex_t *lock);

/* `ask` is called when this much work was counted and this much time has passed. Tests lower
 * both. */
extern struct InterruptPace {
    uint64_t units;
    int64_t interval_ns;
} interrupt_pace;

#endif
