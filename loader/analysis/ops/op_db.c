// SPDX-License-Identifier: Apache-2.0
/* op_db.c: databases of op metrics: lookup, sums, merging, order; see op_metrics.h. */
#include "op_metrics.h"

#include <math.h>

#include "../../base/std_sort.h"

const char *const core_type_names[] = {"", "TensorCore", "SparseCore"};

/* ---- the index ---- */

static uint64_t hash_key(uint64_t program_id, const char *name, size_t n)
{
    return hash64(program_id ^ text_hash(name, n));
}

static bool is_key(const OpMetrics *op, uint64_t program_id, const char *name, size_t n)
{
    return op->program_id == program_id && op->name->n_bytes == n &&
           !memcmp(op->name->text, name, n);
}

static size_t position_of(const OpMetricsDb *db, uint64_t hash, uint64_t program_id,
                          const char *name, size_t n)
{
    HASH_EACH(i, &db->by_name, hash)
        if (is_key(&db->ops[i], program_id, name, n)) return i;
    return HASH_END;
}

const OpMetrics *op_db_find(const OpMetricsDb *db, uint64_t program_id, const char *name, size_t n)
{
    size_t i = position_of(db, hash_key(program_id, name, n), program_id, name, n);
    return i == HASH_END ? NULL : &db->ops[i];
}

OpMetrics *op_db_at(OpMetricsDb *db, uint64_t program_id, const Text *name)
{
    uint64_t hash = hash_key(program_id, name->text, name->n_bytes);
    size_t i = position_of(db, hash, program_id, name->text, name->n_bytes);
    if (i != HASH_END) return &db->ops[i];
    OpMetrics *op = op_db_append(db);
    if (!op || !hash_add(&db->by_name, hash, db->n_ops - 1)) return NULL;
    op->program_id = program_id, op->name = name;
    return op;
}

OpMetrics *op_db_append(OpMetricsDb *db)
{
    if (db->n_ops == UINT32_MAX - 1 || !GROW(db->ops, db->n_ops, db->capacity)) return NULL;
    OpMetrics *op = &db->ops[db->n_ops++];
    *op = (OpMetrics){.name = empty_text,
                      .category = empty_text,
                      .provenance = empty_text,
                      .long_name = empty_text,
                      .deduplicated_name = empty_text,
                      .source_file = empty_text,
                      .source_stack = empty_text,
                      .flops_actual = NAN,
                      .model_flops_actual = NAN};
    return op;
}

bool op_db_append_all(OpMetricsDb *db, const OpMetricsDb *src)
{
    for (size_t i = 0; i < src->n_ops; i++) {
        OpMetrics *op = op_db_append(db);
        if (!op) return false;
        *op = src->ops[i];
    }
    return true;
}

OpMetricsDb *op_db_keep(const OpMetricsDb *db, Arena *arena)
{
    OpMetricsDb *kept = arena_alloc(arena, sizeof *kept);
    OpMetrics *ops = kept ? arena_alloc(arena, db->n_ops * sizeof *ops) : NULL;
    if (!ops) return NULL;
    *kept = *db;
    kept->ops = ops, kept->by_name = (HashTable){0}, kept->capacity = 0;
    if (db->n_ops) memcpy(ops, db->ops, db->n_ops * sizeof *ops);
    return kept;
}

void op_db_free(OpMetricsDb *db)
{
    prof_free(db->ops);
    hash_free(&db->by_name);
    *db = (OpMetricsDb){0};
}

/* ---- adding up ---- */

bool op_add_memory(OpMetrics *op, Arena *arena, uint32_t operation, uint64_t space, uint64_t bytes)
{
    for (size_t i = 0; i < op->n_memory; i++)
        if (op->memory[i].operation == operation && op->memory[i].space == space) {
            op->memory[i].bytes += bytes;
            return true;
        }
    MemoryAccess *grown =
        /* there are only a few memory spaces */
        arena_alloc(arena, (op->n_memory + 1) * sizeof *grown);
    if (!grown) return false;
    if (op->n_memory) memcpy(grown, op->memory, op->n_memory * sizeof *grown);
    grown[op->n_memory++] = (MemoryAccess){operation, space, bytes};
    op->memory = grown;
    return true;
}

static void set_text(const Text **dst, const Text *src)
{
    if (!(*dst)->n_bytes) *dst = src;
}

/* Merges the corrected values. A sum is known if all its parts are. */
static void merge_actual(OpMetrics *dst, const OpMetrics *src)
{
    bool first = !dst->executions;
    if (!src->executions) return;
    dst->executions += src->executions;
    dst->flops_actual = first ? src->flops_actual : dst->flops_actual + src->flops_actual;
    dst->model_flops_actual =
        first ? src->model_flops_actual : dst->model_flops_actual + src->model_flops_actual;
    dst->has_actual_bytes = src->has_actual_bytes && (first || dst->has_actual_bytes);
    dst->bytes_actual += src->bytes_actual, dst->kernels_ps += src->kernels_ps;
}

bool op_merge(OpMetrics *dst, const OpMetrics *src, Arena *arena, bool count_cores)
{
    set_text(&dst->category, src->category);
    set_text(&dst->provenance, src->provenance);
    set_text(&dst->long_name, src->long_name);
    set_text(&dst->deduplicated_name, src->deduplicated_name);
    if (!dst->has_source) {
        dst->has_source = src->has_source;
        dst->source_file = src->source_file, dst->source_line = src->source_line;
        dst->source_stack = src->source_stack;
    }
    if (!dst->core_type) dst->core_type = src->core_type;
    if (!dst->children) dst->children = src->children;
    dst->has_program |= src->has_program;
    dst->is_eager |= src->is_eager, dst->autotuned |= src->autotuned;
    dst->min_ps = dst->occurrences && dst->min_ps < src->min_ps ? dst->min_ps : src->min_ps;
    dst->occurrences += src->occurrences;
    if (count_cores) dst->n_cores += src->n_cores;
    dst->time_ps += src->time_ps, dst->self_ps += src->self_ps,
        dst->normalized_ps += src->normalized_ps;
    dst->event_time_ps += src->event_time_ps, dst->event_self_ps += src->event_self_ps;
    dst->flops += src->flops, dst->model_flops += src->model_flops;
    dst->bytes_accessed += src->bytes_accessed, dst->dma_stall_ps += src->dma_stall_ps;
    merge_actual(dst, src);
    dst->has_energy |= src->has_energy, dst->energy_j += src->energy_j;
    for (size_t i = 0; i < src->n_memory; i++)
        if (!op_add_memory(dst, arena, src->memory[i].operation, src->memory[i].space,
                           src->memory[i].bytes))
            return false;
    return true;
}

bool op_db_merge(OpMetricsDb *dst, const OpMetricsDb *src, Arena *arena, bool count_cores)
{
    for (size_t i = 0; i < src->n_ops; i++) {
        OpMetrics *op = op_db_at(dst, src->ops[i].program_id, src->ops[i].name);
        if (!op || !op_merge(op, &src->ops[i], arena, count_cores)) return false;
    }
    dst->total_ps += src->total_ps, dst->total_op_ps += src->total_op_ps,
        dst->normalized_total_ps += src->normalized_total_ps;
    dst->idle_ps += src->idle_ps, dst->busy_ps += src->busy_ps;
    dst->sure_idle_ps += src->sure_idle_ps, dst->sure_busy_ps += src->sure_busy_ps;
    dst->infeed_duration_ps += src->infeed_duration_ps,
        dst->infeed_interval_ps += src->infeed_interval_ps;
    return true;
}

bool op_db_add_idle(OpMetricsDb *db, const Text *idle)
{
    OpMetrics *op = op_db_at(db, 0, idle);
    if (!op) return false;
    uint64_t ps = db->total_ps - db->total_op_ps;
    set_text(&op->category, idle);
    op->time_ps += ps, op->self_ps += ps, op->event_time_ps += ps, op->event_self_ps += ps;
    return true;
}

/* ---- reading ---- */

uint64_t op_memory_bytes(const OpMetrics *op, uint64_t space, int operation)
{
    uint64_t bytes = 0;
    for (size_t i = 0; i < op->n_memory; i++)
        if (op->memory[i].space == space &&
            (operation < 0 || op->memory[i].operation == (uint32_t)operation))
            bytes += op->memory[i].bytes;
    return bytes;
}

uint64_t op_hbm_bytes(const OpMetrics *op)
{
    return op->n_memory ? op_memory_bytes(op, SPACE_HBM, -1) : op->bytes_accessed;
}

bool op_is_recomputed(const OpMetrics *op)
{
    return op_is_rematerialization(slice_of(op->provenance),
                                   slice_of(op->long_name->n_bytes ? op->long_name : op->name));
}

double op_db_idle_fraction(const OpMetricsDb *db)
{
    return 1.0 - safe_div((double)db->total_op_ps, (double)db->total_ps);
}

/* Compares by self time, then name. XProf's order ends here: for ops of one name in several
 * programs, the sorting algorithm decides. */
static bool comes_first(const void *a, const void *b)
{
    const OpMetrics *x = a, *y = b;
    if (x->self_ps != y->self_ps) return x->self_ps > y->self_ps;
    return text_order(x->name, y->name) < 0;
}

uint32_t *op_db_order(const OpMetricsDb *db)
{
    uint32_t *order = prof_alloc(db->n_ops * sizeof *order);
    void **items = prof_alloc(db->n_ops * sizeof *items);
    if (!order || !items) {
        prof_free(order);
        prof_free(items);
        return NULL;
    }
    for (size_t i = 0; i < db->n_ops; i++) items[i] = &db->ops[i];
    std_sort(items, db->n_ops, comes_first);
    for (size_t i = 0; i < db->n_ops; i++) order[i] = (uint32_t)((OpMetrics *)items[i] - db->ops);
    prof_free(items);
    return order;
}
