// SPDX-License-Identifier: Apache-2.0
/* device_time.c: the table device_time: how each device spends its time.
 *
 *   SELECT plane, busy_percent, computing_percent, exposed_communication_percent
 *     FROM device_time('logs');
 *   SELECT step, span_ps, idle_percent FROM device_time('logs', 1); */
#include "../loader/analysis/communication/time_sums.h"

#include "prof.h"
SQLITE_EXTENSION_INIT3

#define WITHOUT_WORK "; NULL if the device has no work"
#define SHARE "; NULL if the span is 0 or the device has no work"
#define DEVICE_TIME_COLUMNS(C)                                                                     \
    C(DT_RUN, RUN_DOC)                                                                             \
    C(DT_HOST, HOST_DOC)                                                                           \
    C(DT_PLANE_ID, PLANE_ID_DOC)                                                                   \
    C(DT_PLANE, PLANE_DOC)                                                                         \
    C(DT_KIND, "kind", "TEXT", NULL, "kind of device: gpu, tensorcore or sparsecore",              \
      "libprofsql")                                                                                \
    C(DT_START, "start_ps", "INTEGER", "ps",                                                       \
      "start of the span: first start of work on any device of this kind on the host, from the "   \
      "session start; NULL if by_step is 1, or if the device has no work",                         \
      "libprofsql")                                                                                \
    C(DT_START_US, START_US_DOC)                                                                   \
    C(DT_SPAN, "span_ps", "INTEGER", "ps",                                                         \
      "time from the first start to the last end of work on any device of this kind on the host; " \
      "if by_step is 1, the part of it in the step" WITHOUT_WORK,                                  \
      "libprofsql")                                                                                \
    C(DT_BUSY, "busy_ps", "INTEGER", "ps",                                                         \
      "part of the span in which the device works, including ops that wait" WITHOUT_WORK,          \
      "libprofsql")                                                                                \
    C(DT_IDLE, "idle_ps", "INTEGER", "ps",                                                         \
      "part of the span in which the device does not work: span_ps - busy_ps" WITHOUT_WORK,        \
      "libprofsql")                                                                                \
    C(DT_COMPUTING, "computing_ps", "INTEGER", "ps",                                               \
      "part of the span in which the device computes: work that is neither a collective nor a "    \
      "transfer" WITHOUT_WORK,                                                                     \
      "libprofsql")                                                                                \
    C(DT_COMMUNICATING, "communicating_ps", "INTEGER", "ps",                                       \
      "part of the span in which collectives run; asynchronous ones last from the start of the "   \
      "start op to the end of the done op" WITHOUT_WORK,                                           \
      "libprofsql")                                                                                \
    C(DT_EXPOSED_COMMUNICATION, "exposed_communication_ps", "INTEGER", "ps",                       \
      "part of communicating_ps in which the device does not compute; the rest is "                \
      "hidden" WITHOUT_WORK,                                                                       \
      "libprofsql")                                                                                \
    C(DT_TRANSFERRING, "transferring_ps", "INTEGER", "ps",                                         \
      "part of the span in which transfers run: copies between memories or with the host, "        \
      "infeed, outfeed; asynchronous ones last from the start of the start op to the end of the "  \
      "done op" WITHOUT_WORK,                                                                      \
      "libprofsql")                                                                                \
    C(DT_EXPOSED_TRANSFER, "exposed_transfer_ps", "INTEGER", "ps",                                 \
      "part of transferring_ps in which the device does not compute; the rest is "                 \
      "hidden" WITHOUT_WORK,                                                                       \
      "libprofsql")                                                                                \
    C(DT_EXPOSED, "exposed_ps", "INTEGER", "ps",                                                   \
      "part of the span in which collectives or transfers run and the device does not compute; "   \
      "both at once count once" WITHOUT_WORK,                                                      \
      "libprofsql")                                                                                \
    C(DT_BUSY_PERCENT, "busy_percent", "REAL", "percent 0..100",                                   \
      "busy_ps as a percentage of span_ps" SHARE, "libprofsql")                                    \
    C(DT_IDLE_PERCENT, "idle_percent", "REAL", "percent 0..100",                                   \
      "idle_ps as a percentage of span_ps" SHARE, "libprofsql")                                    \
    C(DT_COMPUTING_PERCENT, "computing_percent", "REAL", "percent 0..100",                         \
      "computing_ps as a percentage of span_ps" SHARE, "libprofsql")                               \
    C(DT_COMMUNICATING_PERCENT, "communicating_percent", "REAL", "percent 0..100",                 \
      "communicating_ps as a percentage of span_ps" SHARE, "libprofsql")                           \
    C(DT_EXPOSED_COMMUNICATION_PERCENT, "exposed_communication_percent", "REAL", "percent 0..100", \
      "exposed_communication_ps as a percentage of span_ps" SHARE, "libprofsql")                   \
    C(DT_TRANSFERRING_PERCENT, "transferring_percent", "REAL", "percent 0..100",                   \
      "transferring_ps as a percentage of span_ps" SHARE, "libprofsql")                            \
    C(DT_EXPOSED_TRANSFER_PERCENT, "exposed_transfer_percent", "REAL", "percent 0..100",           \
      "exposed_transfer_ps as a percentage of span_ps" SHARE, "libprofsql")                        \
    C(DT_EXPOSED_PERCENT, "exposed_percent", "REAL", "percent 0..100",                             \
      "exposed_ps as a percentage of span_ps" SHARE, "libprofsql")                                 \
    C(DT_IS_MAIN, "is_main", "INTEGER", "0 or 1",                                                  \
      "1: a main device, included in shares of the run: a GPU or TensorCore; a SparseCore only "   \
      "if no GPU or TensorCore of the source has work",                                            \
      "libprofsql")                                                                                \
    C(DT_LINE_ID, "line_id", "INTEGER", NULL,                                                      \
      "number of the line in the run, from 0; NULL unless by_line is 1", "libprofsql")             \
    C(DT_LINE, "line", "TEXT", NULL, "name of the line; NULL unless by_line is 1", "XLine.name")   \
    C(DT_STEP, "step", "INTEGER", NULL,                                                            \
      "number of the step (as in steps) whose interval on the device includes this time; NULL "    \
      "outside all steps, on a SparseCore, and unless by_step is 1",                               \
      "steps")                                                                                     \
    C(DT_WAITING, "waiting_ps", "INTEGER", "ps",                                                   \
      "part of busy_ps in which the core waits for an asynchronous op (time_breakdown); NULL on "  \
      "a GPU, whose streams do not record when they wait, and if the device has no work",          \
      "libprofsql")                                                                                \
    C(DT_SOURCE, SOURCE_DOC)                                                                       \
    C(DT_BY_STEP, "by_step", "INTEGER HIDDEN", "0 or 1",                                           \
      "1: one row for each step of a device and one for its time outside steps, which add up to "  \
      "the times of the device; devices without work or with a span of 0 have no row; 0: all "     \
      "time together; default 0",                                                                  \
      "argument 2")                                                                                \
    C(DT_BY_LINE, "by_line", "INTEGER HIDDEN", "0 or 1",                                           \
      "1: one row for each stream of a GPU and each op line of a TPU core, which counts only the " \
      "work on that line, within the device's span (an asynchronous op counts as its start and "   \
      "done ops); devices without work or with a span of 0 have no row; 0: one row for the "       \
      "device; default 0",                                                                         \
      "argument 3")
enum { DEVICE_TIME_COLUMNS(COLUMN_ENUM) };
static const Column device_time_columns[] = {DEVICE_TIME_COLUMNS(COLUMN_DOC)};

/* A row is a device, or the sum over a part of its work. */
typedef struct {
    bool by_step, by_line;
} DeviceTimeState;

static void device_time_list(RowCursor *c, RowList *list)
{
    DeviceTimeState *state = c->state;
    Run *run = c->from->run;
    Host *only = c->from->only;
    state->by_step = row_integer_parameter(c, 0, 0) != 0;
    state->by_line = row_integer_parameter(c, 1, 0) != 0;
    if (state->by_step || state->by_line) {
        const TimeSums *sums = run_time_sums(run, only, state->by_step, state->by_line, &c->err);
        if (sums) *list = ROW_LIST(sums->sums, sums->n);
        return;
    }
    const DeviceTimes *all = run_device_times(run, only, &c->err);
    if (all) *list = ROW_LIST(all->devices, all->n_devices);
}

/* Returns the plane of a row. A TimeSum starts with a DeviceTime. */
static const Plane *device_time_plane(const void *item)
{
    return ((const DeviceTime *)item)->plane;
}

/* Returns the row as a sum; NULL if it is a device. */
static const TimeSum *sum_of(const RowCursor *c)
{
    const DeviceTimeState *state = c->state;
    return state->by_step || state->by_line ? c->row : NULL;
}

static bool device_time_shows(RowCursor *c, const void *item)
{
    const DeviceTimeState *state = c->state;
    const Line *line = state->by_line ? ((const TimeSum *)item)->line : NULL;
    return line ? row_wanted(c, KEY_LINE_ID, line->line_id) : !c->has_key[KEY_LINE_ID];
}

static void sum_column(sqlite3_context *ctx, const TimeSum *sum, int column)
{
    if (column == DT_STEP && sum->step) sqlite3_result_int64(ctx, sum->step->number);
    if (column == DT_LINE_ID && sum->line) sqlite3_result_int64(ctx, sum->line->line_id);
    if (column == DT_LINE && sum->line) result_text(ctx, sum->line->name);
}

/* For a device this computes the time breakdown, which no other column needs. */
static void result_waiting(RowCursor *c, sqlite3_context *ctx, const Plane *device)
{
    const TimeSum *sum = sum_of(c);
    if (device->kind == PLANE_GPU) return;
    if (!sum) {
        const TimeSums *all = run_time_sums(c->from->run, c->from->only, false, false, &c->err);
        sum = all ? time_sum_of(all, device) : NULL;
    }
    if (!c->err.code) result_u64(ctx, sum ? sum->waiting_ps : 0);
}

static void device_time_column(RowCursor *c, sqlite3_context *ctx, int column)
{
    const DeviceTime *t = c->row;
    switch (column) {
    case DT_PLANE_ID: sqlite3_result_int64(ctx, t->plane->plane_id); return;
    case DT_PLANE: result_text(ctx, t->plane->name); return;
    case DT_KIND: result_static(ctx, plane_kind_names[t->plane->kind]); return;
    case DT_IS_MAIN: sqlite3_result_int(ctx, t->is_main); return;
    case DT_LINE_ID:
    case DT_LINE:
    case DT_STEP:
        if (sum_of(c)) sum_column(ctx, sum_of(c), column);
        return;
    default: break;
    }
    if (!t->has_work) return;
    switch (column) {
    case DT_START:
    case DT_START_US:
        if (!((DeviceTimeState *)c->state)->by_step)
            result_time(ctx, t->start_ps, column == DT_START_US);
        break;
    case DT_WAITING: result_waiting(c, ctx, t->plane); break;
    case DT_SPAN: result_u64(ctx, t->span_ps); break;
    case DT_BUSY: result_u64(ctx, t->busy_ps); break;
    case DT_IDLE: result_u64(ctx, t->span_ps - t->busy_ps); break;
    case DT_COMPUTING: result_u64(ctx, t->computing_ps); break;
    case DT_COMMUNICATING: result_u64(ctx, t->communicating_ps); break;
    case DT_EXPOSED_COMMUNICATION: result_u64(ctx, t->exposed_communication_ps); break;
    case DT_TRANSFERRING: result_u64(ctx, t->transferring_ps); break;
    case DT_EXPOSED_TRANSFER: result_u64(ctx, t->exposed_transfer_ps); break;
    case DT_EXPOSED: result_u64(ctx, t->exposed_ps); break;
    case DT_EXPOSED_PERCENT: result_percent(ctx, t->exposed_ps, t->span_ps); break;
    case DT_BUSY_PERCENT: result_percent(ctx, t->busy_ps, t->span_ps); break;
    case DT_IDLE_PERCENT: result_percent(ctx, t->span_ps - t->busy_ps, t->span_ps); break;
    case DT_COMPUTING_PERCENT: result_percent(ctx, t->computing_ps, t->span_ps); break;
    case DT_COMMUNICATING_PERCENT: result_percent(ctx, t->communicating_ps, t->span_ps); break;
    case DT_EXPOSED_COMMUNICATION_PERCENT:
        result_percent(ctx, t->exposed_communication_ps, t->span_ps);
        break;
    case DT_TRANSFERRING_PERCENT: result_percent(ctx, t->transferring_ps, t->span_ps); break;
    case DT_EXPOSED_TRANSFER_PERCENT:
        result_percent(ctx, t->exposed_transfer_ps, t->span_ps);
        break;
    default: break;
    }
}

static const RowSource device_time_rows = {.list = device_time_list,
                                           .state_bytes = sizeof(DeviceTimeState),
                                           .plane = device_time_plane,
                                           .shows = device_time_shows,
                                           .column = device_time_column,
                                           .n_parameters = 2,
                                           .needs = NEED_EVENTS | NEED_DEVICE,
                                           .nothing =
                                               "no plane is a GPU, TensorCore or SparseCore"};
const Table device_time_table = {
    "device_time",
    "one device (or one of its streams, or one step on it) with its time busy, computing, "
    "communicating, transferring, waiting and idle, and the parts that computing does not hide",
    device_time_columns,
    COUNT(device_time_columns),
    &row_table_module,
    &device_time_rows,
    8,
    "0.1.0",
    "SELECT plane, busy_percent, computing_percent, exposed_communication_percent FROM "
    "device_time"};
