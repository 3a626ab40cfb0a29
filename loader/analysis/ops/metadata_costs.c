// SPDX-License-Identifier: Apache-2.0
/* metadata_costs.c: reads costs of ops from event metadata; see metadata_costs.h. */
#include "metadata_costs.h"

#include <math.h>

#include "../../store/events.h"
#include "../../store/event_values.h"

/* Adds the costs of an op. If several cores have the op, the first counts. */
static int add_costs(OpMetricsDb *db, const EventMeta *meta, ProfErr *err)
{
    const StatValue *facts[N_KNOWN_STATS] = {0};
    for (uint16_t i = 0; i < meta->n_facts; i++) {
        const StatValue *fact = &meta->facts[i].fact;
        if (fact->type == TYPE_INT64 || fact->type == TYPE_UINT64)
            facts[meta->facts[i].known] = fact;
    }
    const StatValue *program = facts[STAT_PROGRAM_ID], *flops = facts[STAT_FLOPS],
                    *model = facts[STAT_MODEL_FLOPS], *bytes = facts[STAT_BYTES_ACCESSED];
    const Text *name = meta->display_name->n_bytes ? meta->display_name : meta->name;
    if (!program || (!flops && !bytes)) return PROF_OK;
    size_t n = db->n_ops;
    OpMetrics *op = op_db_at(db, program->u64, name);
    if (!op) return prof_nomem(err);
    if (db->n_ops == n) return PROF_OK;
    if (flops)
        op->flops = op->model_flops = op->flops_actual = op->model_flops_actual =
            (double)flops->u64;
    if (model && model->u64) op->model_flops = op->model_flops_actual = (double)model->u64;
    if (bytes) op->has_actual_bytes = true, op->bytes_accessed = op->bytes_actual = bytes->u64;
    return PROF_OK;
}

static void *metadata_costs_make(Run *run, Host *only, ProfErr *err)
{
    Host *host = only ? only : &run->hosts[0]; /* the only host of its run */
    OpMetricsDb *db = prof_alloc(sizeof *db);
    if (!db) {
        prof_nomem(err);
        return NULL;
    }
    for (size_t i = 0; i < host->n_planes && !err->code; i++) {
        Plane *plane = &host->planes[i];
        if (!is_tpu(plane) ||
            !(plane_declares(plane, STAT_FLOPS) || plane_declares(plane, STAT_BYTES_ACCESSED)))
            continue;
        for (size_t k = 0; k < plane->n_event_metas && !err->code; k++)
            if (!event_meta_values(plane, &plane->event_metas[k], err))
                add_costs(db, &plane->event_metas[k], err);
    }
    if (!err->code) return db;
    op_db_free(db);
    prof_free(db);
    return NULL;
}

static void metadata_costs_release(void *db)
{
    op_db_free(db);
    prof_free(db);
}

const OpMetricsDb *host_metadata_costs(Host *host, ProfErr *err)
{
    static const Analysis analysis = {metadata_costs_make, metadata_costs_release, NEEDS_NO_EVENTS};
    return run_analysis(host->run, host, &analysis, err);
}
