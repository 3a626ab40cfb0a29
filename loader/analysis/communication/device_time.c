// SPDX-License-Identifier: Apache-2.0
/* device_time.c: computes how each device spends its time, from lengths of unions and intersections
 * (device_covers.h); see device_time.h. */
#include "device_time.h"

#include "../../base/parallel.h"
#include "device_covers.h"

typedef struct {
    DeviceTime time;
    int64_t end_ps; /* end of the device's own work */
    const FoundOps *pairs;
} Device;

static void measure(DeviceCovers *d, Device *device, ProfErr *err)
{
    Cover *compute = &d->covers[WORK_COMPUTE], *collective = &d->covers[WORK_COLLECTIVE],
          *transfer = &d->covers[WORK_TRANSFER];
    DeviceTime *t = &device->time;
    if (!device_covers_of_work(d, device->time.plane, err) || !d->range.any) return;
    t->has_work = true, t->start_ps = d->range.start, device->end_ps = d->range.end;
    t->busy_ps = cover_length_of_all(d->covers, N_WORK_KINDS),
    t->computing_ps = cover_length(compute);
    if (!device_covers_add_async(d, device->pairs, err)) return;
    t->communicating_ps = cover_length(collective),
    t->exposed_communication_ps = t->communicating_ps - cover_common(collective, compute);
    t->transferring_ps = cover_length(transfer),
    t->exposed_transfer_ps = t->transferring_ps - cover_common(transfer, compute);
    t->exposed_ps = cover_length_of_all(d->covers, N_WORK_KINDS) - t->computing_ps;
}

static void plane_task(void *context, size_t i, ProfErr *err)
{
    Device *device = &((Device *)context)[i];
    DeviceCovers covers = {0};
    measure(&covers, device, err);
    device_covers_free(&covers);
}

/* Sets the spans of the devices of one kind. */
static void set_spans(Device *devices, size_t n, enum PlaneKind kind)
{
    bool any = false;
    int64_t start = 0, end = 0;
    for (size_t i = 0; i < n; i++) {
        const DeviceTime *t = &devices[i].time;
        if (!t->has_work || t->plane->kind != kind) continue;
        if (!any || t->start_ps < start) start = t->start_ps;
        if (!any || devices[i].end_ps > end) end = devices[i].end_ps;
        any = true;
    }
    for (size_t i = 0; i < n; i++)
        if (devices[i].time.plane->kind == kind)
            devices[i].time.start_ps = start,
            devices[i].time.span_ps = (uint64_t)end - (uint64_t)start;
}

static void measure_host(DeviceTimes *all, Host *host, ProfErr *err)
{
    size_t n = 0;
    Device *devices = prof_alloc(host->n_planes * sizeof *devices);
    if (!devices) prof_nomem(err);
    for (size_t i = 0; devices && i < host->n_planes; i++)
        if (plane_is_device(&host->planes[i])) devices[n++].time.plane = &host->planes[i];
    const FoundOps *pairs =
        n && !err->code && !host_load_only(host, err) ? host_async_pairs(host, err) : NULL;
    for (size_t i = 0; i < n && pairs; i++)
        devices[i].pairs = &pairs[devices[i].time.plane - host->planes];
    if (pairs) parallel_for(host->run->n_workers, n, plane_task, devices, err);
    set_spans(devices, n, PLANE_GPU), set_spans(devices, n, PLANE_TENSORCORE),
        set_spans(devices, n, PLANE_SPARSECORE);
    for (size_t i = 0; i < n && !err->code; i++) all->devices[all->n_devices++] = devices[i].time;
    prof_free(devices);
}

/* Marks the main devices. SparseCores are main devices only if no other device has work. */
static void set_main(DeviceTimes *all)
{
    bool others = false;
    for (size_t i = 0; i < all->n_devices; i++)
        others |= all->devices[i].has_work && all->devices[i].plane->kind != PLANE_SPARSECORE;
    for (size_t i = 0; i < all->n_devices; i++)
        all->devices[i].is_main = !others || all->devices[i].plane->kind != PLANE_SPARSECORE;
}

static void device_time_release(void *result)
{
    DeviceTimes *all = result;
    prof_free(all->devices);
    prof_free(all);
}

static void *device_time_make(Run *run, Host *only, ProfErr *err)
{
    DeviceTimes *all = prof_alloc(sizeof *all);
    if (!all || !(all->devices = prof_alloc(run->n_planes * sizeof *all->devices))) prof_nomem(err);
    for (size_t h = 0; h < run->n_hosts && !err->code; h++)
        if (!only || only == &run->hosts[h]) measure_host(all, &run->hosts[h], err);
    if (err->code && all) device_time_release(all), all = NULL;
    if (all) set_main(all);
    return all;
}

const DeviceTimes *run_device_times(Run *run, Host *only, ProfErr *err)
{
    static const Analysis analysis = {device_time_make, device_time_release,
                                      NEEDS_ONE_HOST_AT_A_TIME};
    return run_analysis(run, only, &analysis, err);
}
