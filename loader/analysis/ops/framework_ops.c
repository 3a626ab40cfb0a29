// SPDX-License-Identifier: Apache-2.0
/* framework_ops.c: sums device ops by framework op.
 *
 * The occurrences of a framework op are those of its most frequent kernel or HLO op. */
#include "op_build.h"

static int add(OpStats *stats, OpMetricsDb *db, const OpMetrics *src, ProfErr *err)
{
    TfOp parsed = {.name = slice_of(src->name)};
    if (op_is_idle(src))
        parsed.type = slice_of(stats->idle);
    else if (src->provenance->n_bytes)
        parsed = tf_op_parse(slice_of(src->provenance));
    if (op_is_idle(src)) parsed.name = slice_of(stats->idle);
    if (!parsed.type.n) parsed.type = slice_of_string("Unknown");
    const Text *name = slice_intern(&stats->texts, &stats->arena, parsed.name, err),
               *type = name ? slice_intern(&stats->texts, &stats->arena, parsed.type, err) : NULL;
    OpMetrics *op = type ? op_db_at(db, 0, name) : NULL;
    if (!op) return prof_nomem(err);
    if (!op->category->n_bytes) op->category = type;
    if (src->occurrences > op->occurrences) op->occurrences = src->occurrences;
    op->is_eager = src->is_eager, op->core_type = src->core_type;
    op->time_ps += src->time_ps, op->self_ps += src->self_ps;
    op->event_time_ps += src->event_time_ps, op->event_self_ps += src->event_self_ps;
    op->flops += src->flops, op->model_flops += src->model_flops;
    op->bytes_accessed += src->bytes_accessed;
    return PROF_OK;
}

int framework_ops_build(OpStats *stats, ProfErr *err)
{
    OpMetricsDb *db = &stats->framework;
    for (size_t i = 0; i < stats->device.n_ops && !err->code; i++)
        add(stats, db, &stats->device.ops[i], err);
    db->total_op_ps = stats->device.total_op_ps, db->total_ps = stats->device.total_ps;
    return err->code;
}
