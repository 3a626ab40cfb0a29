// SPDX-License-Identifier: Apache-2.0
/* step_op_spread.c: the table step_op_spread: how the self time of each op varies over the steps.
 *
 *   SELECT name, avg_us, stddev_us FROM step_op_spread('logs') ORDER BY stddev_us DESC; */
#include "../loader/analysis/steps/step_op_spread.h"

#include "prof.h"
SQLITE_EXTENSION_INIT3

#define STEP_OP_SPREAD_COLUMNS(C)                                                                  \
    C(OS_RUN, RUN_DOC)                                                                             \
    C(OS_PLANE_KIND, "plane_kind", "TEXT", NULL,                                                   \
      "kind of the planes, as in planes.kind: host, gpu, tensorcore or sparsecore; planes of a "   \
      "kind on all hosts are combined",                                                            \
      "libprofsql")                                                                                \
    C(OS_NAME, "name", "TEXT", NULL, "name of the events; on TPUs the op's HLO text",              \
      "XEventMetadata.name")                                                                       \
    C(OS_SHORT_NAME, "short_name", "TEXT", NULL,                                                   \
      "readable name, as in step_ops; if there are several, the last in byte order", "libprofsql") \
    C(OS_IN_GROUP, "in_group", "INTEGER", "0 or 1",                                                \
      "1: the events have the steps' groups; 0: they belong to the steps by their time, and may "  \
      "only run at the same time as them",                                                         \
      "stat group_id, or libprofsql's grouping")                                                   \
    C(OS_STEPS, "steps", "INTEGER", "steps",                                                       \
      "number of complete steps (those not dropped) in which it ran", "libprofsql")                \
    C(OS_AVG, "avg_us", "REAL", "us",                                                              \
      "average self time per complete step, 0 in a step in which it did not run; negative if "     \
      "directly nested events overlap each other; NULL if no step is complete",                    \
      "libprofsql")                                                                                \
    C(OS_STDDEV, "stddev_us", "REAL", "us",                                                        \
      "sample standard deviation of the self time per complete step; NULL if fewer than two are "  \
      "complete",                                                                                  \
      "libprofsql")                                                                                \
    C(OS_PERCENT, "variance_percent", "REAL", "percent",                                           \
      "covariance of the self time per complete step with the step's duration, as a share of "     \
      "the variance of the duration: how much of the variation the op explains. Negative if the "  \
      "op takes longer in shorter steps; above 100 if other ops vary in the opposite direction "   \
      "or run at the same time. NULL if fewer than two steps are complete, or all are equally "    \
      "long",                                                                                      \
      "libprofsql")                                                                                \
    C(OS_STEP, "step", "INTEGER", NULL,                                                            \
      "number of the step that the following columns describe: of_step, else the longest step, "   \
      "complete or not; NULL if the run has no step of_step",                                      \
      "steps")                                                                                     \
    C(OS_OVER_MEDIAN, "over_median_us", "REAL", "us",                                              \
      "duration of the step minus the median duration of the other complete steps; NULL if there " \
      "are none, or step is NULL",                                                                 \
      "libprofsql")                                                                                \
    C(OS_OCCURRENCES, "occurrences", "INTEGER", "events",                                          \
      "number of events in the step; NULL if step is NULL", "libprofsql")                          \
    C(OS_SELF, "self_us", "REAL", "us",                                                            \
      "self time in the step, summed over threads, devices and hosts; negative as avg_us; NULL "   \
      "if step is NULL",                                                                           \
      "libprofsql")                                                                                \
    C(OS_MEDIAN, "median_us", "REAL", "us",                                                        \
      "median of the self time over the other complete steps, 0 in a step in which it did not "    \
      "run; negative as avg_us; NULL if there are no other complete steps, or step is NULL",       \
      "libprofsql")                                                                                \
    C(OS_OTHERS, "other_steps", "INTEGER", "steps",                                                \
      "number of other complete steps in which it ran; NULL if step is NULL", "libprofsql")        \
    C(OS_SOURCE, SOURCE_DOC)                                                                       \
    C(OS_OF_STEP, "of_step", "INTEGER HIDDEN", NULL,                                               \
      "number of a step, as in the table steps; default: the longest step of each run",            \
      "argument 2")
enum { STEP_OP_SPREAD_COLUMNS(COLUMN_ENUM) };
static const Column step_op_spread_columns[] = {STEP_OP_SPREAD_COLUMNS(COLUMN_DOC)};

typedef struct {
    const StepOpIndex *index;
    size_t chosen; /* index of the step; n_steps if there is none */
    double over_median_ps;
    size_t next; /* index of the op that follows */
    StepOpSpread row;
    StepOpScratch scratch;
} SpreadState;

/* Returns the index of the step of this number; the number of steps if there is none. */
static size_t step_at(const StepDb *db, sqlite3_int64 number)
{
    size_t i = 0;
    while (i < db->n_steps && db->steps[i].number != number) i++;
    return i;
}

static bool open_rows(RowCursor *c, SpreadState *s)
{
    s->index = run_step_op_index(c->from->run, c->from->only, &c->err);
    if (!s->index) return false;
    const StepDb *db = s->index->ops->steps;
    sqlite3_int64 wanted = row_integer_parameter(c, 0, -1);
    s->chosen = wanted < 0 ? s->index->longest : step_at(db, wanted);
    if (s->chosen < db->n_steps)
        s->over_median_ps = (double)db->steps[s->chosen].duration_ps -
                            other_steps_median(s->index, s->chosen, &c->err);
    return !c->err.code;
}

static bool step_op_spread_next(RowCursor *c)
{
    SpreadState *s = c->state;
    if (!c->started && !open_rows(c, s)) return false;
    while (s->next < s->index->ops->n_ops) {
        c->place = s->next++;
        if (step_op_spread(s->index, c->place, s->chosen, &s->scratch, &s->row, &c->err))
            return false;
        if (s->row.n_steps || s->row.n_chosen) return true; /* not in dropped steps only */
    }
    return false;
}

static void step_op_spread_close(void *state)
{
    step_op_scratch_free(&((SpreadState *)state)->scratch);
}

static void result_us(sqlite3_context *ctx, double ps) { sqlite3_result_double(ctx, ps / 1e6); }

/* Writes a column about the chosen step. */
static void chosen_column(const SpreadState *s, sqlite3_context *ctx, int column)
{
    const StepDb *db = s->index->ops->steps;
    if (s->chosen == db->n_steps) return;
    switch (column) {
    case OS_STEP: sqlite3_result_int64(ctx, db->steps[s->chosen].number); break;
    case OS_OVER_MEDIAN: result_us(ctx, s->over_median_ps); break;
    case OS_OCCURRENCES: result_u64(ctx, s->row.n_chosen); break;
    case OS_SELF: result_us(ctx, s->row.self_chosen); break;
    case OS_MEDIAN: result_us(ctx, s->row.median); break;
    case OS_OTHERS: result_u64(ctx, s->row.n_others); break;
    default: break;
    }
}

static void step_op_spread_column(RowCursor *c, sqlite3_context *ctx, int column)
{
    const SpreadState *s = c->state;
    const EventMeta *meta = s->row.meta;
    switch (column) {
    case OS_PLANE_KIND: result_static(ctx, plane_kind_names[s->row.key->plane_kind]); break;
    case OS_NAME: result_text(ctx, meta->name); break;
    case OS_SHORT_NAME:
        if (s->row.key->plane_kind == PLANE_GPU)
            result_kernel(c, ctx, meta->name);
        else
            result_text(ctx, meta->display_name->n_bytes ? meta->display_name : meta->name);
        break;
    case OS_IN_GROUP: sqlite3_result_int(ctx, s->row.key->in_group); break;
    case OS_STEPS: result_u64(ctx, s->row.n_steps); break;
    case OS_AVG: result_us(ctx, s->row.average); break;
    case OS_STDDEV: result_us(ctx, s->row.stddev); break;
    case OS_PERCENT: sqlite3_result_double(ctx, s->row.percent); break;
    default: chosen_column(s, ctx, column); break;
    }
}

static const RowSource step_op_spread_rows = {
    .next = step_op_spread_next,
    .close = step_op_spread_close,
    .state_bytes = sizeof(SpreadState),
    .column = step_op_spread_column,
    .per_run = true,
    .n_parameters = 1,
    .needs = NEED_EVENTS | NEED_STEPS,
    .nothing = "no event of a host thread or device is in a step that is complete or the longest"};
const Table step_op_spread_table = {
    "step_op_spread",
    "one op or host event over all steps of a run: how its self time varies, how much of the "
    "variation of the step time it explains, and what it took in the longest step or another",
    step_op_spread_columns,
    COUNT(step_op_spread_columns),
    &row_table_module,
    &step_op_spread_rows,
    500,
    "0.1.0",
    "SELECT name, variance_percent, avg_us, stddev_us FROM step_op_spread ORDER BY "
    "variance_percent DESC LIMIT 10"};
