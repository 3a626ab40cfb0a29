// SPDX-License-Identifier: Apache-2.0
/* device_covers.c: collects the times in which a device does each kind of work; see
 * device_covers.h. */
#include "device_covers.h"

#include "../../base/interrupt.h"

static bool add_piece(void *context, const WorkPiece *piece)
{
    DeviceCovers *d = context;
    return cover_add(&d->covers[d->kinds[piece->meta - d->plane->event_metas]], piece->start,
                     piece->end);
}

bool device_covers_of_work(DeviceCovers *d, const Plane *plane, ProfErr *err)
{
    d->plane = plane;
    if (!(d->kinds = plane_work_kinds((Plane *)plane, err)) ||
        !device_work_walk(plane, add_piece, d, &d->range, err))
        return false;
    for (int i = 0; i < N_WORK_KINDS; i++) cover_finish(&d->covers[i]);
    return true;
}

bool device_covers_add_async(DeviceCovers *d, const FoundOps *pairs, ProfErr *err)
{
    for (size_t i = 0; i < pairs->ops.n && !interrupt_poll(1, err); i++) {
        const AsyncOp *op = &pairs->ops.items[i];
        int64_t start = op->start_ps, end = add_saturated(start, op->duration_ps);
        if (start < d->range.start) start = d->range.start;
        if (end > d->range.end) end = d->range.end;
        if (op->shared->done && !cover_add(&d->covers[op->shared->kind], start, end))
            prof_nomem(err);
    }
    for (int i = 0; i < N_WORK_KINDS; i++) cover_finish(&d->covers[i]);
    return !err->code;
}

void device_covers_free(DeviceCovers *d)
{
    for (int i = 0; i < N_WORK_KINDS; i++) cover_free(&d->covers[i]);
    prof_free(d->kinds);
}
