// SPDX-License-Identifier: Apache-2.0
/* tpu_op_table.c: sums ops of one TPU core by program and symbol, and joins them with the metadata
 * of their events; see device_ops.h. */
#include "device_ops.h"

#include <math.h>

#include "op_metadata.h"

typedef struct {
    uint64_t symbol_id;
    /* The metadata of one of its events lacks operations (bytes). is_work: it does not only run
     * other ops. */
    bool lacks_flops, lacks_bytes, is_work;
    OpMetrics op;                 /* from the metadata of its first event, and the sums until now */
    const OpMetricsDb *offloaded; /* NULL if none */
} SymbolOp;

struct TpuOpTable {
    MetadataReader reader;
    enum CoreType core;
    SymbolOp *ops;
    size_t n, capacity;
    HashTable by_key; /* by program and symbol */
};

TpuOpTable *tpu_op_table_new(OpBuild *build, Plane *plane, enum CoreType core, ProfErr *err)
{
    TpuOpTable *s = prof_alloc(sizeof *s);
    if (!s) {
        prof_nomem(err);
        return NULL;
    }
    s->core = core;
    if (metadata_reader_open(&s->reader, build, plane, err)) {
        tpu_op_table_free(s);
        return NULL;
    }
    return s;
}

void tpu_op_table_free(TpuOpTable *s)
{
    if (!s) return;
    metadata_reader_close(&s->reader);
    prof_free(s->ops);
    hash_free(&s->by_key);
    prof_free(s);
}

/* Returns the op with this key. The first metadata that has the key describes it. */
static SymbolOp *symbol_op(TpuOpTable *s, const OpMetrics *read, const OpKey *key)
{
    uint64_t hash = hash64(hash64(read->program_id) + key->symbol_id);
    HASH_EACH(i, &s->by_key, hash)
        if (s->ops[i].op.program_id == read->program_id && s->ops[i].symbol_id == key->symbol_id)
            return &s->ops[i];
    if (!GROW(s->ops, s->n, s->capacity) || !hash_add(&s->by_key, hash, s->n)) return NULL;
    SymbolOp *made = &s->ops[s->n++];
    *made = (SymbolOp){.symbol_id = key->symbol_id, .op = *read};
    made->op.flops_actual = made->op.model_flops_actual = 0;
    made->op.min_ps = UINT64_MAX, made->op.n_cores = s->core == CORE_TENSORCORE,
    made->op.core_type = s->core;
    return made;
}

/* Adds the corrected costs of the events of one metadata. Each event has its own metadata's costs,
 * unlike in XProf. An op that runs others needs no more than they do. */
static void add_actual(SymbolOp *s, const OpMetrics *read, const OpKey *key, const OpSums *sums)
{
    OpMetrics *op = &s->op;
    double rest = (double)sums->executions - (double)sums->n_own,
           model = read->model_flops > 0 ? read->model_flops : read->flops;
    s->lacks_bytes |= !key->has_bytes;
    op->bytes_actual += read->bytes_accessed * sums->executions;
    if (op_is_container(slice_of(read->category))) return;
    s->is_work = true, s->lacks_flops |= rest > 0 && !key->has_flops;
    op->flops_actual += sums->own_flops + read->flops * rest,
        op->model_flops_actual += sums->own_model_flops + model * rest;
}

int64_t tpu_op_table_add(TpuOpTable *s, const OpSums *sums, ProfErr *err)
{
    OpMetricsDb one = {0};
    OpMetrics *read = op_db_append(&one);
    OpKey key;
    int64_t position = -1;
    if (!read)
        prof_nomem(err);
    else if (!metadata_read(&s->reader, sums->meta, read, &key, err) && read->has_program &&
             key.has_symbol && key.symbol_id) {
        SymbolOp *to = symbol_op(s, read, &key);
        if (!to || (to->op.name != read->name &&
                    !op_stats_rename(s->reader.build->stats, sums->meta, to->op.name))) {
            prof_nomem(err);
        } else {
            OpMetrics *op = &to->op;
            op->occurrences += sums->occurrences, op->executions += sums->executions;
            op->time_ps += sums->time_ps, op->self_ps += sums->self_ps,
                op->normalized_ps += sums->normalized_ps;
            op->event_time_ps += sums->event_time_ps, op->event_self_ps += sums->event_self_ps;
            op->dma_stall_ps += sums->dma_stall_ps;
            if (sums->min_ps < op->min_ps) op->min_ps = sums->min_ps;
            op->has_energy |= sums->has_energy, op->energy_j += sums->energy_j;
            add_actual(to, read, &key, sums);
            position = to - s->ops;
        }
    }
    op_db_free(&one);
    return position;
}

void symbol_ops_offload(TpuOpTable *s, int64_t position, const OpMetricsDb *programs)
{
    if (!s->ops[position].offloaded) s->ops[position].offloaded = programs;
}

/* Corrected values are unknown if they are for some of the events. */
static void end_actual(SymbolOp *s)
{
    s->op.has_actual_bytes = !s->lacks_bytes;
    if (s->lacks_flops || !s->is_work) s->op.flops_actual = s->op.model_flops_actual = NAN;
}

/* Multiplies the costs of one occurrence by the occurrences. */
static void multiply(OpMetrics *op)
{
    op->flops *= op->occurrences;
    op->bytes_accessed *= op->occurrences;
    op->model_flops = op->model_flops > 0 ? op->model_flops * op->occurrences : op->flops;
    for (size_t i = 0; i < op->n_memory; i++) op->memory[i].bytes *= op->occurrences;
}

/* Adds the ops of offloaded programs after the fused ones. */
static bool join_children(OpMetrics *op, const OpMetricsDb *offloaded, Arena *arena)
{
    OpMetricsDb all = {.total_ps = offloaded->total_ps,
                       .total_op_ps = offloaded->total_op_ps,
                       .normalized_total_ps = offloaded->normalized_total_ps};
    bool good = !op->children || op_db_append_all(&all, op->children);
    good = good && op_db_append_all(&all, offloaded) &&
           (op->children = op_db_keep(&all, arena)) != NULL;
    op_db_free(&all);
    return good;
}

int tpu_op_table_finish(TpuOpTable *s, OpMetricsDb *db, ProfErr *err)
{
    Arena *arena = &s->reader.build->stats->arena;
    for (size_t i = 0; i < s->n; i++) {
        OpMetrics *op = &s->ops[i].op;
        end_actual(&s->ops[i]);
        multiply(op);
        if (s->ops[i].offloaded && !join_children(op, s->ops[i].offloaded, arena))
            return prof_nomem(err);
        db->total_op_ps += op->self_ps;
        double share = safe_div((double)op->normalized_ps, (double)op->time_ps);
        /* A negative self time (children that are longer than their parent) wraps in XProf, and its
         * sum is then undefined. Here it is subtracted. */
        db->normalized_total_ps =
            truncated((double)db->normalized_total_ps + (double)(int64_t)op->self_ps * share);
        OpMetrics *to = op_db_at(db, op->program_id, op->name);
        if (!to || !op_merge(to, op, arena, true)) return prof_nomem(err);
    }
    return PROF_OK;
}
