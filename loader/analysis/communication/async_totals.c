// SPDX-License-Identifier: Apache-2.0
/* async_totals.c: sums over executions; see async_totals.h. */
#include "async_totals.h"

#include "../../base/interrupt.h"

typedef struct {
    LIST(AsyncTotal) totals;
    HashTable by_key;
} TotalsBuilder;

static AsyncTotal *total_of(TotalsBuilder *b, const AsyncOp *op)
{
    uint64_t hash =
        hash64((uint64_t)(uintptr_t)op->shared ^ hash64((uint64_t)(uintptr_t)op->cover));
    HASH_EACH(i, &b->by_key, hash) {
        AsyncTotal *total = &b->totals.items[i];
        if (total->shared == op->shared && total->cover == op->cover) return total;
    }
    AsyncTotal *added = PUSH_KEYED(b->totals, &b->by_key, hash);
    if (!added) return NULL;
    *added = (AsyncTotal){.shared = op->shared, .cover = op->cover};
    return added;
}

static void add(AsyncTotal *total, const AsyncOp *op)
{
    total->n++;
    total->duration_ps = add_saturated(total->duration_ps, op->duration_ps);
    total->hidden_ps = add_saturated(total->hidden_ps, op->hidden_ps);
    if (op->shared->form != ASYNC_PAIR) return;
    total->n_waits++;
    total->done_ps = add_saturated(total->done_ps, op->done_ps);
}

static void totals_release(void *result)
{
    AsyncTotals *all = result;
    prof_free(all->totals);
    prof_free(all);
}

static void *totals_make(Run *run, Host *only, bool with_synchronous, ProfErr *err)
{
    const AsyncOps *ops = run_async_ops(run, only, with_synchronous, err);
    AsyncTotals *all = prof_alloc(sizeof *all);
    TotalsBuilder b = {0};
    if (!all) prof_nomem(err);
    for (size_t i = 0; !err->code && i < ops->n_ops && !interrupt_poll(1, err); i++) {
        if (!ops->ops[i].shared->done) continue;
        AsyncTotal *total = total_of(&b, &ops->ops[i]);
        if (total)
            add(total, &ops->ops[i]);
        else
            prof_nomem(err);
    }
    hash_free(&b.by_key);
    if (all) *all = (AsyncTotals){b.totals.items, b.totals.n};
    if (!all) prof_free(b.totals.items);
    if (err->code && all) totals_release(all), all = NULL;
    return all;
}

static void *make_all(Run *run, Host *only, ProfErr *err)
{
    return totals_make(run, only, true, err);
}

static void *make_asynchronous(Run *run, Host *only, ProfErr *err)
{
    return totals_make(run, only, false, err);
}

const AsyncTotals *run_async_totals(Run *run, Host *only, bool with_synchronous, ProfErr *err)
{
    static const Analysis all = {make_all, totals_release, NEEDS_ALL_HOSTS},
                          asynchronous = {make_asynchronous, totals_release, NEEDS_ALL_HOSTS};
    return run_analysis(run, only, with_synchronous ? &all : &asynchronous, err);
}
