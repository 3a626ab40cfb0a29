// SPDX-License-Identifier: Apache-2.0
/* async_host.c: keeps the asynchronous ops of a host's TPU planes, and visits the ops of devices;
 * see async_pairs.h. */
#include "../../base/interrupt.h"
#include "../../base/parallel.h"
#include "async_pairs.h"

typedef struct {
    Host *host;
    FoundOps *planes; /* by index of the plane */
} HostPairs;

static void plane_task(void *context, size_t i, ProfErr *err)
{
    HostPairs *all = context;
    Plane *plane = &all->host->planes[i];
    if (!plane_is_device(plane) || plane->kind == PLANE_GPU) return;
    uint8_t *kinds = plane_work_kinds(plane, err);
    if (kinds) find_async_pairs(plane, kinds, &all->planes[i], err);
    prof_free(kinds);
}

static void pairs_release(void *result)
{
    HostPairs *all = result;
    for (size_t i = 0; all->planes && i < all->host->n_planes; i++) {
        prof_free(all->planes[i].ops.items);
        shared_free(&all->planes[i].shared);
    }
    prof_free(all->planes);
    prof_free(all);
}

static void *pairs_make(Run *run, Host *host, ProfErr *err)
{
    HostPairs *all = prof_alloc(sizeof *all);
    if (!all) {
        prof_nomem(err);
        return NULL;
    }
    all->host = host ? host : &run->hosts[0]; /* a run of one host asks for all hosts */
    if (!(all->planes = prof_alloc((all->host->n_planes + 1) * sizeof *all->planes)))
        prof_nomem(err);
    else
        parallel_for(run->n_workers, all->host->n_planes, plane_task, all, err);
    if (!err->code) return all;
    pairs_release(all);
    return NULL;
}

const FoundOps *host_async_pairs(Host *host, ProfErr *err)
{
    static const Analysis analysis = {pairs_make, pairs_release, NEEDS_HOST_EVENTS};
    const HostPairs *all = run_analysis(host->run, host, &analysis, err);
    return all ? all->planes : NULL;
}

AsyncPlane *list_async_planes(Run *run, Host *only, size_t *n, ProfErr *err)
{
    AsyncPlane *planes = prof_alloc((run->n_planes + 1) * sizeof *planes);
    *n = 0;
    if (!planes) prof_nomem(err);
    for (size_t h = 0; h < run->n_hosts && !err->code; h++) {
        Host *host = &run->hosts[h];
        const FoundOps *pairs = !only || only == host ? host_async_pairs(host, err) : NULL;
        for (size_t i = 0; i < host->n_planes && pairs; i++)
            if (plane_is_device(&host->planes[i]))
                planes[(*n)++] = (AsyncPlane){.plane = &host->planes[i], .pairs = &pairs[i]};
    }
    return planes;
}

bool visit_device_ops(AsyncPlane *p, const uint8_t *kinds, bool with_synchronous,
                      const AsyncVisitor *visitor, ProfErr *err)
{
    if (p->plane->kind == PLANE_GPU)
        find_gpu_async(p->plane, kinds, visitor, &p->shared, err);
    else if (with_synchronous)
        find_synchronous(p->plane, kinds, visitor, &p->shared, err);
    for (size_t i = 0; i < p->pairs->ops.n && !interrupt_poll(1, err); i++)
        visitor->take(visitor->context, &p->pairs->ops.items[i], err);
    return !err->code;
}
