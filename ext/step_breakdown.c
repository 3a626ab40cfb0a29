// SPDX-License-Identifier: Apache-2.0
/* step_breakdown.c: the table step_breakdown: the time of each core in each step, by XProf's
 * categories.
 *
 *   SELECT category, sum(duration_ps) FROM step_breakdown('logs') GROUP BY 1 ORDER BY 2 DESC; */
#include "../loader/analysis/steps/steps.h"
#include "prof.h"
SQLITE_EXTENSION_INIT3

#define BREAKDOWN_COLUMNS(C)                                                                       \
    C(SB_RUN, RUN_DOC)                                                                             \
    C(SB_STEP, "step", "INTEGER", NULL, "number of the step, as in steps", "step db step_num")     \
    C(SB_CORE, "core_id", "INTEGER", NULL,                                                         \
      "number of the core: 1 for all GPUs or all threads of the host, or the id of a TPU core; "   \
      "plus 1000 x the host's index if hosts are merged",                                          \
      "step db")                                                                                   \
    C(SB_HOST, HOST_DOC)                                                                           \
    C(SB_CATEGORY, "category", "TEXT", NULL,                                                       \
      "category of the time: type of activity, HLO category of a TensorCore's ops, or state of a " \
      "SparseCore",                                                                                \
      "step db")                                                                                   \
    C(SB_DURATION, "duration_ps", "INTEGER", "ps",                                                 \
      "time of the category in the step; categories of a core do not overlap; NULL if XProf does " \
      "not count the category",                                                                    \
      "step db")                                                                                   \
    C(SB_DURATION_US, DURATION_US_DOC)                                                             \
    C(SB_ACTUAL, "duration_ps_actual", "INTEGER", "ps",                                            \
      "duration_ps, corrected: includes host threads, copies under all their names, and "          \
      "compiling; NULL if it equals duration_ps (no GPU, and no compiling)",                       \
      "libprofsql")                                                                                \
    C(SB_OUTSIDE, "outside_xprof", "INTEGER", "0 or 1",                                            \
      "1: the step has a marker of Keras 3, which XProf does not recognize (see steps)",           \
      "libprofsql")                                                                                \
    C(SB_DROPPED, "dropped", "INTEGER", "0 or 1",                                                  \
      "1: XProf drops the step as possibly incomplete (see steps)", "libprofsql")                  \
    C(SB_SOURCE, SOURCE_DOC)
enum { BREAKDOWN_COLUMNS(COLUMN_ENUM) };
static const Column breakdown_columns[] = {BREAKDOWN_COLUMNS(COLUMN_DOC)};

static const char *const sparse_names[] = {"sc_busy_ps", "sc_compute_ps", "sc_idle_ps"};

static size_t n_categories(const StepCore *core)
{
    if (core->kind == STEP_CORE_GENERIC) return N_STEP_TYPES;
    return core->kind == STEP_CORE_TENSOR ? core->n_shares : COUNT(sparse_names);
}

/* Returns whether the core has a category: XProf has it, or only the actual times do. */
static bool has_category(const StepCore *core, size_t i)
{
    if (core->kind != STEP_CORE_GENERIC) return true;
    return core->types >> i & 1 || (core->actual_ps && core->actual_ps[i]);
}

typedef struct {
    const StepDb *db;
    size_t step, core, category;
    uint64_t row;
} BreakdownRow;

static bool breakdown_next(RowCursor *c)
{
    BreakdownRow *at = c->state;
    if (!c->started) at->db = run_shown_steps(c->from->run, c->from->only, &c->err);
    if (!at->db) return false;
    at->category += c->started;
    c->place = at->row++;
    for (; at->step < at->db->n_steps; at->step++, at->core = 0) {
        const Step *step = &at->db->steps[at->step];
        for (; at->core < step->n_cores; at->core++, at->category = 0) {
            const StepCore *core = &step->cores[at->core];
            for (; at->category < n_categories(core); at->category++)
                if (has_category(core, at->category)) return true;
        }
    }
    return false;
}

/* Returns whether XProf counts a category. */
static bool is_counted(const StepCore *core, size_t category)
{
    return core->kind != STEP_CORE_GENERIC || core->types >> category & 1;
}

static uint64_t category_ps(const StepCore *core, size_t category)
{
    if (core->kind == STEP_CORE_TENSOR) return core->shares[category].ps;
    if (core->kind == STEP_CORE_GENERIC) return core->type_ps[category];
    return category == 2 ? core->duration_ps - core->busy_ps : core->busy_ps;
}

static void breakdown_column(RowCursor *c, sqlite3_context *ctx, int column)
{
    const BreakdownRow *at = c->state;
    const Step *step = &at->db->steps[at->step];
    const StepCore *core = &step->cores[at->core];
    size_t category = at->category;
    bool generic = core->kind == STEP_CORE_GENERIC;
    switch (column) {
    case SB_STEP: sqlite3_result_int64(ctx, step->number); break;
    case SB_CORE: sqlite3_result_int64(ctx, core->core_id); break;
    case SB_HOST: result_static(ctx, core->host->name); break;
    case SB_CATEGORY:
        if (core->kind == STEP_CORE_TENSOR)
            result_text(ctx, core->shares[category].category);
        else
            result_static(ctx, generic ? step_type_names[category] : sparse_names[category]);
        break;
    case SB_DURATION:
        if (is_counted(core, category)) result_u64_or_real(ctx, category_ps(core, category));
        break;
    case SB_DURATION_US:
        if (is_counted(core, category))
            sqlite3_result_double(ctx, (double)category_ps(core, category) / 1e6);
        break;
    case SB_ACTUAL:
        if (generic && core->actual_ps) result_u64_or_real(ctx, core->actual_ps[category]);
        break;
    case SB_DROPPED: sqlite3_result_int(ctx, step->dropped); break;
    case SB_OUTSIDE: sqlite3_result_int(ctx, step->outside_xprof); break;
    default: break;
    }
}

static const RowSource breakdown_rows = {
    .next = breakdown_next,
    .state_bytes = sizeof(BreakdownRow),
    .column = breakdown_column,
    .per_run = true,
    .needs = NEED_EVENTS | NEED_STEPS,
    .nothing = "every step was dropped (host_steps lists the reasons)"};
const Table step_breakdown_table = {
    "step_breakdown",
    "one category of time of one core in one step, as in XProf's step database",
    breakdown_columns,
    COUNT(breakdown_columns),
    &row_table_module,
    &breakdown_rows,
    1000,
    "0.1.0",
    "SELECT step, core_id, category, duration_us FROM step_breakdown"};
