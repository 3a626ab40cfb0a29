// SPDX-License-Identifier: Apache-2.0
/* async_ops.c: lists the transfers and collectives of all devices; see async_ops.h. */
#include "async_ops.h"

#include "../../base/parallel.h"
#include "../../base/sort.h"
#include "async_hidden.h"

/* The ops of a device. */
typedef struct {
    AsyncPlane of;
    bool with_synchronous;
    LIST(AsyncOp) ops;
} PlaneOps;

ORDER_BY_TWO(by_time, AsyncOp, start_ps, start_event)

static bool keep_op(void *context, const AsyncOp *op, ProfErr *err)
{
    PlaneOps *p = context;
    AsyncOp *kept = PUSH(p->ops);
    if (!kept) {
        prof_nomem(err);
        return false;
    }
    *kept = *op;
    return true;
}

static void plane_task(void *context, size_t i, ProfErr *err)
{
    PlaneOps *p = &((PlaneOps *)context)[i];
    const AsyncVisitor keep = {p, keep_op};
    if (visit_async_ops(&p->of, p->with_synchronous, &keep, err) && p->ops.n)
        sort_array(p->ops.items, p->ops.n, sizeof *p->ops.items, by_time);
}

/* ---- all together ---- */

static void async_ops_release(void *result)
{
    AsyncOps *all = result;
    for (size_t i = 0; i < all->n_shared; i++) shared_free(&all->shared[i]);
    prof_free(all->shared);
    prof_free(all->ops);
    prof_free(all);
}

/* Moves the ops of all planes into one array. The array of a single plane is used as it is, because
 * there may be as many ops as events. */
static bool join(AsyncOps *all, PlaneOps *planes, size_t n)
{
    size_t n_ops = 0;
    for (size_t i = 0; i < n; i++) n_ops += planes[i].ops.n;
    if (!(all->shared = prof_alloc(n * sizeof *all->shared))) return false;
    if (n == 1)
        all->ops = planes[0].ops.items, planes[0].ops.items = NULL;
    else if (!(all->ops = prof_buffer(n_ops * sizeof *all->ops)))
        return false;
    for (size_t i = 0; i < n; i++) {
        PlaneOps *p = &planes[i];
        if (p->ops.n && p->ops.items)
            memcpy(all->ops + all->n_ops, p->ops.items, p->ops.n * sizeof *all->ops);
        all->n_ops += p->ops.n;
        prof_free(p->ops.items);
        p->ops.items = NULL;
        all->shared[all->n_shared++] = p->of.shared;
        p->of.shared = (SharedOps){0};
    }
    return true;
}

static void *async_ops_make(Run *run, Host *only, bool with_synchronous, ProfErr *err)
{
    size_t n = 0;
    AsyncOps *all = prof_alloc(sizeof *all);
    AsyncPlane *devices = list_async_planes(run, only, &n, err);
    PlaneOps *planes = prof_alloc((n + 1) * sizeof *planes);
    if (!all || !planes) prof_nomem(err);
    for (size_t i = 0; i < n && planes; i++)
        planes[i] = (PlaneOps){.of = devices[i], .with_synchronous = with_synchronous};
    if (!err->code) parallel_for(run->n_workers, n, plane_task, planes, err);
    if (!err->code && !join(all, planes, n)) prof_nomem(err);
    for (size_t i = 0; i < n && planes; i++) {
        prof_free(planes[i].ops.items);
        shared_free(&planes[i].of.shared);
    }
    prof_free(planes);
    prof_free(devices);
    if (err->code && all) async_ops_release(all), all = NULL;
    return all;
}

static void *async_ops_make_all(Run *run, Host *only, ProfErr *err)
{
    return async_ops_make(run, only, true, err);
}

static void *async_ops_make_asynchronous(Run *run, Host *only, ProfErr *err)
{
    return async_ops_make(run, only, false, err);
}

const AsyncOps *run_async_ops(Run *run, Host *only, bool with_synchronous, ProfErr *err)
{
    static const Analysis all = {async_ops_make_all, async_ops_release, NEEDS_ALL_HOSTS},
                          asynchronous = {async_ops_make_asynchronous, async_ops_release,
                                          NEEDS_ALL_HOSTS};
    return run_analysis(run, only, with_synchronous ? &all : &asynchronous, err);
}
