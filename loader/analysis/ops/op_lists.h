// SPDX-License-Identifier: Apache-2.0
/* op_lists.h: the ops of a run in lists, ordered and with shares as on XProf's pages. */
#ifndef PROF_OP_LISTS_H
#define PROF_OP_LISTS_H

#include "op_metrics.h"

/* ---- framework op stats ---- */

typedef struct {
    const OpMetrics *op;
    bool on_host;                /* false: on devices */
    double fraction, cumulative; /* shares of the self time of its side */
    uint32_t nth;                /* rank by self time within its side, including IDLE */
} FrameworkOp;
/* Device ops, then host ops, each by self time. */
typedef struct {
    FrameworkOp *ops;
    size_t n;
} FrameworkOps;
/* Returns the framework ops. Without IDLE, fractions are of the time in ops. */
const FrameworkOps *run_framework_ops(Run *run, Host *only, bool with_idle, ProfErr *err);

enum { TOP_OPS = 10 };
/* The ops with the most self time on devices, as on XProf's overview page. */
typedef struct {
    FrameworkOp ops[TOP_OPS];
    size_t n;
} TopOps;
const TopOps *run_top_ops(Run *run, Host *only, ProfErr *err);

/* ---- HLO op stats ---- */

typedef struct {
    const OpMetrics *op, *parent; /* parent: the op that offloaded to a SparseCore, or NULL */
    double fraction, cumulative;  /* of the devices' time; 0 if it has a parent */
    uint32_t rank;                /* from 1; 0 if it has a parent */
} HloOpRow;
/* HLO ops by self time, each followed by the SparseCore ops that it offloaded. */
typedef struct {
    HloOpRow *ops;
    size_t n, capacity;
} HloOps;
const HloOps *run_hlo_ops(Run *run, Host *only, ProfErr *err);

/* ---- all databases ---- */

enum OpSide { SIDE_HOST, SIDE_DEVICE, SIDE_FRAMEWORK, N_OP_SIDES };
extern const char *const op_side_names[N_OP_SIDES];
/* Returns the database of a side. */
const OpMetricsDb *op_side_db(const OpStats *stats, enum OpSide side);

typedef struct {
    const OpMetrics *op, *parent;
    enum OpSide side;
    uint32_t id, parent_id; /* unique within the side */
} OpRow;
/* All ops of all sides, each followed by its children. */
typedef struct {
    OpRow *ops;
    size_t n, capacity;
} OpRows;
const OpRows *run_op_rows(Run *run, Host *only, ProfErr *err);

#endif
