// SPDX-License-Identifier: Apache-2.0
/* host_ops.c: ops that the threads of a process run; see host_ops.h. */
#include "host_ops.h"

#include "../../base/tf_op.h"
#include "../../plane.h"

static bool is_named_like_op(Slice name)
{
    TfOp op = tf_op_parse(name);
    return op.category == OP_TENSORFLOW && !slice_ends(name, ":") &&
           !slice_starts_ignoring_case(name, "IteratorGetNext") &&
           !slice_starts_ignoring_case(op.type, "IteratorGetNext");
}

bool host_ops_open(HostOps *ops, const Plane *plane, ProfErr *err)
{
    static const enum KnownStat wanted[] = {STAT_HLO_OP};
    *ops = (HostOps){.by_name = prof_alloc(plane->n_event_metas + 1)};
    if (!ops->by_name) return !prof_nomem(err);
    for (size_t i = 0; i < plane->n_event_metas; i++)
        ops->by_name[i] = is_named_like_op(slice_of(plane->event_metas[i].name));
    stat_filter_open(&ops->filter, plane, wanted, COUNT(wanted), err);
    return !err->code;
}

void host_ops_close(HostOps *ops)
{
    stat_filter_close(&ops->filter);
    prof_free(ops->by_name);
}

static bool is_op(const HostOps *ops, const Line *line, const EventAt *e)
{
    Stat stat;
    unsigned known;
    if (ops->by_name[e->meta - line->plane->event_metas]) return true;
    StatIter stats = stat_iter_of_event(e);
    return event_has_stats(e) && stat_iter_next_wanted(&stats, &ops->filter, &known, &stat);
}

bool host_ops_walk(const HostOps *ops, Line *line, HostOpVisitor *visit, void *context,
                   ProfErr *err)
{
    EventReader reader;
    EventAt e;
    if (line->derived) return true;
    event_reader_open_for(&reader, line, &ops->filter.wanted, err);
    while (event_reader_next(&reader, &e)) {
        if (e.occurrences >= 0 || e.duration_ps <= 0 || !is_op(ops, line, &e)) continue;
        if (!visit(context, &e)) prof_nomem(err);
    }
    event_reader_close(&reader);
    return !err->code;
}
