// SPDX-License-Identifier: Apache-2.0
/* pauses.h: included before a lock-free source in a test build. Each atomic operation that decides
 * something is preceded by a pause, in which another thread, or the test's own hook, can run. */
#ifndef PAUSES_H
#define PAUSES_H

#include <sched.h>
#include <stdatomic.h>

static void (*pause_hook)(void);

static inline void pause_here(void)
{
    static _Thread_local unsigned seed;
    if (pause_hook)
        pause_hook();
    else
        for (int n = (seed = seed * 1103515245u + 12345u) >> 29; n; n--) sched_yield();
}

#undef atomic_load
#undef atomic_fetch_add
#undef atomic_fetch_sub
#undef atomic_compare_exchange_weak
#undef atomic_compare_exchange_weak_explicit
#define atomic_load(at) (pause_here(), atomic_load_explicit(at, memory_order_seq_cst))
#define atomic_fetch_add(at, n)                                                                    \
    (pause_here(), atomic_fetch_add_explicit(at, n, memory_order_seq_cst))
#define atomic_fetch_sub(at, n)                                                                    \
    (pause_here(), atomic_fetch_sub_explicit(at, n, memory_order_seq_cst))
#define atomic_compare_exchange_weak(at, old, new)                                                 \
    (pause_here(), atomic_compare_exchange_strong(at, old, new))
#define atomic_compare_exchange_weak_explicit(at, old, new, yes, no)                               \
    (pause_here(), atomic_compare_exchange_strong_explicit(at, old, new, yes, no))

#endif
