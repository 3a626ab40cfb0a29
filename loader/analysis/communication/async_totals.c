// SPDX-License-Identifier: Apache-2.0
/* async_totals.c: sums over executions; see async_totals.h. The executions are not kept, because
 * there may be as many as events. */
#include "async_totals.h"

#include "../../base/parallel.h"
#include "../../base/sort.h"
#include "async_hidden.h"

/* A sum, and its first execution. */
typedef struct {
    AsyncTotal total;
    int64_t start_ps;
    uint64_t event;
} Sum;

/* The sums of a device. */
typedef struct {
    AsyncPlane of;
    bool with_synchronous;
    LIST(Sum) sums;
    HashTable by_key;
} PlaneSums;

static Sum *sum_of(PlaneSums *p, const AsyncOp *op)
{
    uint64_t hash =
        hash64((uint64_t)(uintptr_t)op->shared ^ hash64((uint64_t)(uintptr_t)op->cover));
    HASH_EACH(i, &p->by_key, hash) {
        Sum *sum = &p->sums.items[i];
        if (sum->total.shared == op->shared && sum->total.cover == op->cover) return sum;
    }
    Sum *added = PUSH_KEYED(p->sums, &p->by_key, hash);
    if (added)
        *added = (Sum){{.shared = op->shared, .cover = op->cover}, op->start_ps, op->start_event};
    return added;
}

static void add(Sum *sum, const AsyncOp *op)
{
    AsyncTotal *total = &sum->total;
    bool is_first = op->start_ps < sum->start_ps ||
                    (op->start_ps == sum->start_ps && op->start_event < sum->event);
    if (is_first) sum->start_ps = op->start_ps, sum->event = op->start_event;
    total->n++;
    total->duration_ps = add_saturated(total->duration_ps, op->duration_ps);
    total->hidden_ps = add_saturated(total->hidden_ps, op->hidden_ps);
    if (op->shared->form != ASYNC_PAIR) return;
    total->n_waits++;
    total->done_ps = add_saturated(total->done_ps, op->done_ps);
}

static bool add_op(void *context, const AsyncOp *op, ProfErr *err)
{
    if (!op->shared->done) return true;
    Sum *sum = sum_of(context, op);
    if (sum)
        add(sum, op);
    else
        prof_nomem(err);
    return sum != NULL;
}

ORDER_BY_TWO(by_first, Sum, start_ps, event)

static void plane_task(void *context, size_t i, ProfErr *err)
{
    PlaneSums *p = &((PlaneSums *)context)[i];
    const AsyncVisitor visitor = {p, add_op};
    if (visit_async_ops(&p->of, p->with_synchronous, &visitor, err) && p->sums.n)
        sort_array(p->sums.items, p->sums.n, sizeof *p->sums.items, by_first);
}

static void totals_release(void *result)
{
    AsyncTotals *all = result;
    for (size_t i = 0; i < all->n_shared; i++) shared_free(&all->shared[i]);
    prof_free(all->shared);
    prof_free(all->totals);
    prof_free(all);
}

static bool join(AsyncTotals *all, PlaneSums *planes, size_t n)
{
    size_t n_totals = 0;
    for (size_t i = 0; i < n; i++) n_totals += planes[i].sums.n;
    all->totals = prof_alloc(n_totals * sizeof *all->totals);
    all->shared = prof_alloc(n * sizeof *all->shared);
    if (!all->totals || !all->shared) return false;
    for (size_t i = 0; i < n; i++) {
        for (size_t k = 0; k < planes[i].sums.n; k++)
            all->totals[all->n_totals++] = planes[i].sums.items[k].total;
        all->shared[all->n_shared++] = planes[i].of.shared;
        planes[i].of.shared = (SharedOps){0};
    }
    return true;
}

static void *totals_make(Run *run, Host *only, bool with_synchronous, ProfErr *err)
{
    size_t n = 0;
    AsyncTotals *all = prof_alloc(sizeof *all);
    AsyncPlane *devices = list_async_planes(run, only, &n, err);
    PlaneSums *planes = prof_alloc((n + 1) * sizeof *planes);
    if (!all || !planes) prof_nomem(err);
    for (size_t i = 0; i < n && planes; i++)
        planes[i] = (PlaneSums){.of = devices[i], .with_synchronous = with_synchronous};
    if (!err->code) parallel_for(run->n_workers, n, plane_task, planes, err);
    if (!err->code && !join(all, planes, n)) prof_nomem(err);
    for (size_t i = 0; i < n && planes; i++) {
        prof_free(planes[i].sums.items);
        hash_free(&planes[i].by_key);
        shared_free(&planes[i].of.shared);
    }
    prof_free(planes);
    prof_free(devices);
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
