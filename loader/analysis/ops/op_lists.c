// SPDX-License-Identifier: Apache-2.0
/* op_lists.c: lists ops as on XProf's pages; see op_lists.h. */
#include "op_lists.h"

/* ---- framework op stats ---- */

static void framework_free(void *result)
{
    prof_free(((FrameworkOps *)result)->ops);
    prof_free(result);
}

static int add_side(FrameworkOps *list, const OpMetricsDb *db, bool on_host, bool with_idle,
                    ProfErr *err)
{
    uint32_t *order = op_db_order(db);
    if (!order) return prof_nomem(err);
    double all = ps_to_us(with_idle ? db->total_ps : db->total_op_ps), cumulative = 0;
    for (uint32_t i = 0; i < db->n_ops; i++) {
        const OpMetrics *op = &db->ops[order[i]];
        if (!with_idle && op_is_idle(op)) continue;
        double fraction = safe_div(ps_to_us(op->self_ps), all);
        cumulative += fraction;
        list->ops[list->n++] = (FrameworkOp){op, on_host, fraction, cumulative, i};
    }
    prof_free(order);
    return PROF_OK;
}

static void *framework_make(Run *run, Host *only, bool with_idle, ProfErr *err)
{
    const OpStats *stats = run_op_stats(run, only, err);
    if (!stats) return NULL;
    FrameworkOps *list = prof_alloc(sizeof *list);
    if (!list) {
        prof_nomem(err);
        return NULL;
    }
    size_t most = stats->framework.n_ops + stats->host.n_ops;
    if (!(list->ops = prof_alloc(most * sizeof *list->ops))) prof_nomem(err);
    if (!err->code) add_side(list, &stats->framework, false, with_idle, err);
    if (!err->code) add_side(list, &stats->host, true, with_idle, err);
    if (!err->code) return list;
    framework_free(list);
    return NULL;
}

static void *make_with_idle(Run *run, Host *only, ProfErr *err)
{
    return framework_make(run, only, true, err);
}

static void *make_without_idle(Run *run, Host *only, ProfErr *err)
{
    return framework_make(run, only, false, err);
}

const FrameworkOps *run_framework_ops(Run *run, Host *only, bool with_idle, ProfErr *err)
{
    static const Analysis with = {make_with_idle, framework_free, NEEDS_ONE_HOST_AT_A_TIME},
                          without = {make_without_idle, framework_free, NEEDS_ONE_HOST_AT_A_TIME};
    return run_analysis(run, only, with_idle ? &with : &without, err);
}

static void *top_make(Run *run, Host *only, ProfErr *err)
{
    const OpStats *stats = run_op_stats(run, only, err);
    uint32_t *order = stats ? op_db_order(&stats->framework) : NULL;
    TopOps *top = prof_alloc(sizeof *top);
    if (stats && (!order || !top)) prof_nomem(err);
    double cumulative = 0;
    for (uint32_t i = 0; !err->code && i < stats->framework.n_ops && top->n < TOP_OPS; i++) {
        const OpMetrics *op = &stats->framework.ops[order[i]];
        if (op_is_idle(op)) continue;
        double fraction = safe_div((double)op->self_ps, (double)stats->framework.total_op_ps);
        cumulative += fraction;
        top->ops[top->n++] = (FrameworkOp){op, false, fraction, cumulative, i};
    }
    prof_free(order);
    if (!err->code) return top;
    prof_free(top);
    return NULL;
}

const TopOps *run_top_ops(Run *run, Host *only, ProfErr *err)
{
    static const Analysis analysis = {top_make, prof_free, NEEDS_ONE_HOST_AT_A_TIME};
    return run_analysis(run, only, &analysis, err);
}

/* ---- HLO op stats ---- */

static void hlo_free(void *result)
{
    prof_free(((HloOps *)result)->ops);
    prof_free(result);
}

static int add_hlo_op(HloOps *list, HloOpRow row, ProfErr *err)
{
    if (!GROW(list->ops, list->n, list->capacity)) return prof_nomem(err);
    list->ops[list->n++] = row;
    return PROF_OK;
}

/* Adds the SparseCore ops among the children of an op, recursively. */
static int add_sparse(HloOps *list, const OpMetrics *parent, ProfErr *err)
{
    if (!parent->children) return PROF_OK;
    uint32_t *order = op_db_order(parent->children);
    if (!order) return prof_nomem(err);
    for (size_t i = 0; i < parent->children->n_ops && !err->code; i++) {
        const OpMetrics *op = &parent->children->ops[order[i]];
        if (op->core_type == CORE_SPARSECORE && op->occurrences)
            add_hlo_op(list, (HloOpRow){.op = op, .parent = parent}, err);
        if (!err->code) add_sparse(list, op, err);
    }
    prof_free(order);
    return err->code;
}

static void *hlo_make(Run *run, Host *only, ProfErr *err)
{
    const OpStats *stats = run_op_stats(run, only, err);
    if (!stats) return NULL;
    HloOps *list = prof_alloc(sizeof *list);
    uint32_t *order = op_db_order(&stats->device), rank = 0;
    if (!list || !order) prof_nomem(err);
    double all = ps_to_us(stats->device.total_ps), cumulative = 0;
    for (size_t i = 0; i < stats->device.n_ops && !err->code; i++) {
        const OpMetrics *op = &stats->device.ops[order[i]];
        if (!op->occurrences) continue;
        double share = safe_div(ps_to_us(op->self_ps), all);
        cumulative += share;
        add_hlo_op(list, (HloOpRow){op, NULL, share, cumulative, ++rank}, err);
        if (!err->code) add_sparse(list, op, err);
    }
    prof_free(order);
    if (!err->code) return list;
    if (list) hlo_free(list);
    return NULL;
}

const HloOps *run_hlo_ops(Run *run, Host *only, ProfErr *err)
{
    static const Analysis analysis = {hlo_make, hlo_free, NEEDS_ONE_HOST_AT_A_TIME};
    return run_analysis(run, only, &analysis, err);
}

/* ---- all databases ---- */

const char *const op_side_names[N_OP_SIDES] = {"host", "device", "framework"};

const OpMetricsDb *op_side_db(const OpStats *stats, enum OpSide side)
{
    if (side == SIDE_HOST) return &stats->host;
    return side == SIDE_DEVICE ? &stats->device : &stats->framework;
}

static void rows_free(void *result)
{
    prof_free(((OpRows *)result)->ops);
    prof_free(result);
}

static int add_rows(OpRows *list, const OpMetricsDb *db, const OpRow *parent, enum OpSide side,
                    uint32_t *id, ProfErr *err)
{
    OpRow of = parent ? *parent : (OpRow){0};
    for (size_t i = 0; i < db->n_ops && !err->code; i++) {
        if (!GROW(list->ops, list->n, list->capacity)) return prof_nomem(err);
        OpRow row = {&db->ops[i], parent ? of.op : NULL, side, (*id)++, of.id};
        list->ops[list->n++] = row;
        if (db->ops[i].children) add_rows(list, db->ops[i].children, &row, side, id, err);
    }
    return err->code;
}

static void *rows_make(Run *run, Host *only, ProfErr *err)
{
    const OpStats *stats = run_op_stats(run, only, err);
    if (!stats) return NULL;
    OpRows *list = prof_alloc(sizeof *list);
    if (!list) {
        prof_nomem(err);
        return NULL;
    }
    for (int side = 0; side < N_OP_SIDES && !err->code; side++) {
        uint32_t id = 0;
        add_rows(list, op_side_db(stats, side), NULL, side, &id, err);
    }
    if (!err->code) return list;
    rows_free(list);
    return NULL;
}

const OpRows *run_op_rows(Run *run, Host *only, ProfErr *err)
{
    static const Analysis analysis = {rows_make, rows_free, NEEDS_ONE_HOST_AT_A_TIME};
    return run_analysis(run, only, &analysis, err);
}
