// SPDX-License-Identifier: Apache-2.0
/* host_steps.c: the table host_steps: the steps and groups of one host, including those that XProf
 * does not count.
 *
 *   SELECT group_id, name, dropped FROM host_steps('logs') WHERE step IS NULL; */
#include "../loader/analysis/steps/steps.h"
#include "prof.h"
#include "../loader/base/search.h"
SQLITE_EXTENSION_INIT3

#define HOST_STEPS_COLUMNS(C)                                                                      \
    C(HS_RUN, RUN_DOC)                                                                             \
    C(HS_HOST, HOST_DOC)                                                                           \
    C(HS_GROUP, "group_id", "INTEGER", NULL,                                                       \
      "number of the step on its host (group of events); NULL if the step has no group and only "  \
      "its framework marks it",                                                                    \
      "grouping")                                                                                  \
    C(HS_STEP, "step", "INTEGER", NULL,                                                            \
      "number of the step in the table steps; NULL if steps lacks it or it was dropped (for a "    \
      "single host, steps lists dropped steps by group_id)",                                       \
      "step db step_num")                                                                          \
    C(HS_NAME, "name", "TEXT", NULL, "name of the step; NULL if it has no name",                   \
      "grouping step_name")                                                                        \
    C(HS_START, "start_ps", "INTEGER", "ps",                                                       \
      "start of the step's longest marker, from the start of the host's session; NULL without a "  \
      "marker",                                                                                    \
      "step marker")                                                                               \
    C(HS_START_US, START_US_DOC)                                                                   \
    C(HS_DURATION, "duration_ps", "INTEGER", "ps",                                                 \
      "duration of the step's longest marker; NULL without a marker", "step marker")               \
    C(HS_DURATION_US, DURATION_US_DOC)                                                             \
    C(HS_DROPPED, "dropped", "TEXT", NULL,                                                         \
      "reason why XProf does not count the step; NULL if it counts it", "libprofsql")              \
    C(HS_H2D, "host_to_device_bytes", "INTEGER", "bytes",                                          \
      "bytes copied to devices in the step; NULL if unknown", "memcpy_details")                    \
    C(HS_D2H, "device_to_host_bytes", "INTEGER", "bytes",                                          \
      "bytes copied from devices in the step; NULL if unknown", "memcpy_details")                  \
    C(HS_D2D, "device_to_device_bytes", "INTEGER", "bytes",                                        \
      "bytes copied between devices in the step; NULL if unknown", "memcpy_details")               \
    C(HS_H2D_COUNT, "host_to_device_count", "INTEGER", NULL,                                       \
      "number of copies to devices in the step, by name (HtoD, H2D); as in XProf, only those "     \
      "with a correlation_id; NULL if not on GPU",                                                 \
      "step db")                                                                                   \
    C(HS_D2H_COUNT, "device_to_host_count", "INTEGER", NULL,                                       \
      "number of copies from devices in the step, by name (DtoH, D2H); as in XProf, only those "   \
      "with a correlation_id; NULL if not on GPU",                                                 \
      "step db")                                                                                   \
    C(HS_D2D_COUNT, "device_to_device_count", "INTEGER", NULL,                                     \
      "number of copies between devices in the step, by name (DtoD, D2D, P2P); as in XProf, only " \
      "those with a correlation_id; NULL if not on GPU",                                           \
      "step db")                                                                                   \
    C(HS_COLLECTIVES, "collective_count", "INTEGER", NULL,                                         \
      "number of collective kernels in the step; as in XProf, only those with a correlation_id; "  \
      "NULL if not on GPU",                                                                        \
      "step db")                                                                                   \
    C(HS_INPUT, "host_input_ps", "INTEGER", "ps",                                                  \
      "time in which host threads wait for input or copy it to the device; overlapping times "     \
      "count twice; NULL if the host recorded nothing about the step",                             \
      "libprofsql")                                                                                \
    C(HS_RANGE_START, "range_start_ps", "INTEGER", "ps",                                           \
      "start of the range in range_ps, from the start of the host's session; NULL if there is no " \
      "range",                                                                                     \
      "libprofsql")                                                                                \
    C(HS_RANGE, "range_ps", "INTEGER", "ps",                                                       \
      "duration of the step's longest marker on host threads (NVTX range, step annotation); NULL " \
      "if there is no marker",                                                                     \
      "libprofsql")                                                                                \
    C(HS_SOURCE, SOURCE_DOC)
enum { HOST_STEPS_COLUMNS(COLUMN_ENUM) };
static const Column host_steps_columns[] = {HOST_STEPS_COLUMNS(COLUMN_DOC)};

static const char *const drop_reasons[] = {
    [STEP_KEPT] = NULL,
    [STEP_NO_MARKER] = "no marker records its duration",
    [STEP_NO_EVENTS] = "no event ran in it",
    [STEP_NO_TIME] = "its marker has no duration",
    [STEP_NO_COMPUTE] = "no computation ran in it",
    [STEP_OUTSIDE_XPROF] = "XProf does not recognize its marker",
    [STEP_FIRST_OR_LAST] = "first or last of more than five steps: may be incomplete",
    [STEP_NOT_ON_ALL_CORES] = "not all cores ran it",
};

typedef struct {
    const HostSteps *all;
    const StepDb *steps, *outside; /* computed if the column `step` is read */
} HostStepRows;

static void host_steps_list(RowCursor *c, RowList *list)
{
    HostStepRows *state = c->state;
    if (!c->host->readable || c->host->reader->is_program) return;
    if (!(state->all = host_steps(c->host, &c->err))) return;
    *list = ROW_LIST(state->all->steps, state->all->n_steps);
    list->first_place = place_pair(c->at_host, 32, 0);
}

/* Returns the steps that number a step of the host. */
static const StepDb *numbered_steps(RowCursor *c, const HostStep *step)
{
    HostStepRows *state = c->state;
    if (step->dropped == STEP_OUTSIDE_XPROF) {
        if (!state->outside)
            state->outside = run_outside_steps(c->from->run, c->from->only, &c->err);
        return state->outside;
    }
    if (!state->steps) state->steps = run_steps(c->from->run, c->from->only, &c->err);
    return state->steps;
}

/* Returns the step's number in the source. A HostStep belongs to at most one merged step. */
static int64_t number_of(RowCursor *c, const HostStep *step)
{
    const StepDb *db = numbered_steps(c, step);
    for (size_t h = 0; db && db->n_steps && h < db->n_hosts; h++) {
        if (db->hosts[h]->host != c->host) continue;
        /* The steps of a host are sorted by group. */
        size_t low = LOWER_BOUND(i, 0, db->n_steps, db->steps[i].of_hosts[h] < step);
        if (low < db->n_steps && db->steps[low].of_hosts[h] == step) return db->steps[low].number;
    }
    return -1;
}

static void host_steps_column(RowCursor *c, sqlite3_context *ctx, int column)
{
    const HostStep *s = c->row;
    const HostSteps *all = ((HostStepRows *)c->state)->all;
    bool gpu = all->has_device && !all->is_tpu, marked = s->dropped != STEP_NO_MARKER;
    int64_t number;
    switch (column) {
    case HS_GROUP: result_nonnegative(ctx, s->group); break;
    case HS_STEP:
        if ((number = number_of(c, s)) >= 0) sqlite3_result_int64(ctx, number);
        break;
    case HS_NAME: result_static(ctx, s->name); break;
    case HS_START:
    case HS_START_US:
        if (marked) result_time(ctx, (int64_t)s->begin_ps, column == HS_START_US);
        break;
    case HS_DURATION:
        if (marked) result_u64_or_real(ctx, s->duration_ps);
        break;
    case HS_DURATION_US:
        if (marked) sqlite3_result_double(ctx, (double)s->duration_ps / 1e6);
        break;
    case HS_DROPPED: result_static(ctx, drop_reasons[s->dropped]); break;
    case HS_H2D:
    case HS_D2H:
    case HS_D2D:
        if (gpu && (s->transfers[column - HS_H2D].bytes || !s->transfers[column - HS_H2D].count))
            result_u64_or_real(ctx, s->transfers[column - HS_H2D].bytes);
        break;
    case HS_H2D_COUNT:
    case HS_D2H_COUNT:
    case HS_D2D_COUNT:
        if (gpu) result_u64_or_real(ctx, s->transfers[column - HS_H2D_COUNT].count);
        break;
    case HS_COLLECTIVES:
        if (gpu) result_u64_or_real(ctx, s->n_collectives);
        break;
    case HS_INPUT:
        if (s->host_spoke) result_u64_or_real(ctx, s->host_input_ps);
        break;
    case HS_RANGE_START:
        if (s->has_range) sqlite3_result_int64(ctx, (sqlite3_int64)s->range_begin_ps);
        break;
    case HS_RANGE:
        if (s->has_range) result_u64_or_real(ctx, s->range_ps);
        break;
    default: break;
    }
}

static const RowSource host_steps_rows = {
    .list = host_steps_list,
    .state_bytes = sizeof(HostStepRows),
    .column = host_steps_column,
    .needs = NEED_EVENTS,
    .nothing = "no event on the host belongs to a group, and no framework marks a step"};
const Table host_steps_table = {"host_steps",
                                "one step, or group of events, on one host, including steps that "
                                "XProf does not count and the reason for it",
                                host_steps_columns,
                                COUNT(host_steps_columns),
                                &row_table_module,
                                &host_steps_rows,
                                50,
                                "0.1.0",
                                "SELECT host, step, name, duration_us, dropped FROM host_steps"};
