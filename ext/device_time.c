// SPDX-License-Identifier: Apache-2.0
/* device_time.c: the table device_time: how each device spends its time.
 *
 *   SELECT plane, busy_percent, computing_percent, exposed_communication_percent
 *     FROM device_time('logs'); */
#include "../loader/analysis/communication/device_time.h"

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
      "start of the span: first start of work on any device of this kind on the host, from "       \
      "the session start" WITHOUT_WORK,                                                            \
      "libprofsql")                                                                                \
    C(DT_START_US, START_US_DOC)                                                                   \
    C(DT_SPAN, "span_ps", "INTEGER", "ps",                                                         \
      "time from the first start to the last end of work on any device of this kind on the "       \
      "host" WITHOUT_WORK,                                                                         \
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
      "part of the span in which collectives run; asynchronous ones last from the start of "       \
      "the start op to the end of the done op" WITHOUT_WORK,                                       \
      "libprofsql")                                                                                \
    C(DT_EXPOSED_COMMUNICATION, "exposed_communication_ps", "INTEGER", "ps",                       \
      "part of communicating_ps in which the device does not compute; the rest is "                \
      "hidden" WITHOUT_WORK,                                                                       \
      "libprofsql")                                                                                \
    C(DT_TRANSFERRING, "transferring_ps", "INTEGER", "ps",                                         \
      "part of the span in which transfers run: copies between memories or with the host, "        \
      "infeed, outfeed; asynchronous ones last from the start of the start op to the end of "      \
      "the done op" WITHOUT_WORK,                                                                  \
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
      "1: a main device, included in shares of the run: a GPU or TensorCore; a SparseCore "        \
      "only if no GPU or TensorCore of the source has work",                                       \
      "libprofsql")                                                                                \
    C(DT_SOURCE, SOURCE_DOC)
enum { DEVICE_TIME_COLUMNS(COLUMN_ENUM) };
static const Column device_time_columns[] = {DEVICE_TIME_COLUMNS(COLUMN_DOC)};

static void device_time_list(RowCursor *c, RowList *list)
{
    const DeviceTimes *all = run_device_times(c->from->run, c->from->only, &c->err);
    if (all) *list = ROW_LIST(all->devices, all->n_devices);
}

static const Plane *device_time_plane(const void *item)
{
    return ((const DeviceTime *)item)->plane;
}

static void result_percent(sqlite3_context *ctx, uint64_t part, uint64_t span)
{
    if (span) sqlite3_result_double(ctx, 100.0 * (double)part / (double)span);
}

static void device_time_column(RowCursor *c, sqlite3_context *ctx, int column)
{
    const DeviceTime *t = c->row;
    switch (column) {
    case DT_PLANE_ID: sqlite3_result_int64(ctx, t->plane->plane_id); return;
    case DT_PLANE: result_text(ctx, t->plane->name); return;
    case DT_KIND:
        sqlite3_result_text(ctx, plane_kind_names[t->plane->kind], -1, SQLITE_STATIC);
        return;
    case DT_IS_MAIN: sqlite3_result_int(ctx, t->is_main); return;
    default: break;
    }
    if (!t->has_work) return;
    switch (column) {
    case DT_START:
    case DT_START_US: result_time(ctx, t->start_ps, column == DT_START_US); break;
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
                                           .plane = device_time_plane,
                                           .column = device_time_column,
                                           .needs = NEED_EVENTS | NEED_DEVICE,
                                           .nothing =
                                               "no plane is a GPU, TensorCore or SparseCore"};
const Table device_time_table = {
    "device_time",
    "one device: its time busy, computing, communicating and transferring, and the parts "
    "that computing does not hide",
    device_time_columns,
    COUNT(device_time_columns),
    &row_table_module,
    &device_time_rows,
    8,
    "0.1.0",
    "SELECT plane, busy_percent, computing_percent, exposed_communication_percent FROM "
    "device_time"};
