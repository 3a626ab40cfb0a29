// SPDX-License-Identifier: Apache-2.0
/* async_ops.c: the tables async_ops and async_op_totals: asynchronous transfers and collectives of
 * devices, and how much of them computing hides.
 *
 *   SELECT hlo_op, sum(duration_ps) / 1e6 AS us, sum(exposed_ps) / 1e6 AS exposed_us
 *     FROM async_ops('logs') GROUP BY 1 ORDER BY 3 DESC; */
#include "../loader/analysis/communication/async_totals.h"

#include "prof.h"
SQLITE_EXTENSION_INIT3

#define ASYNC_OP_DOC                                                                               \
    "hlo_op", "TEXT", NULL,                                                                        \
        "name of the start op; on a GPU, name of the collective's kernel, the copy or the memset", \
        "XEventMetadata.display_name"
#define ASYNC_CATEGORY_DOC                                                                         \
    "category", "TEXT", NULL,                                                                      \
        "HLO category of the start op; on a GPU: collective, copy or memset; NULL if unknown",     \
        "hlo_category"
#define ASYNC_KIND_DOC                                                                             \
    "kind", "TEXT", NULL, "kind of the asynchronous op: collective or transfer", "libprofsql"
#define ASYNC_IS_SYNCHRONOUS_DOC                                                                   \
    "is_synchronous", "INTEGER", "0 or 1",                                                         \
        "1: a synchronous op, one event during which the TensorCore waits; 0: an asynchronous "    \
        "op; always 0 on a GPU",                                                                   \
        "libprofsql"
#define INCLUDE_SYNCHRONOUS_DOC                                                                    \
    "include_synchronous", "INTEGER HIDDEN", "0 or 1",                                             \
        "1: include synchronous collectives and transfers, which are one event for which the "     \
        "TensorCore waits; default 0",                                                             \
        "argument 2"

/* ---- async_ops ---- */

#define ASYNC_OPS_COLUMNS(C)                                                                       \
    C(AO_RUN, RUN_DOC)                                                                             \
    C(AO_HOST, HOST_DOC)                                                                           \
    C(AO_PLANE, PLANE_DOC)                                                                         \
    C(AO_OP, ASYNC_OP_DOC)                                                                         \
    C(AO_CATEGORY, ASYNC_CATEGORY_DOC)                                                             \
    C(AO_KIND, ASYNC_KIND_DOC)                                                                     \
    C(AO_IS_SYNCHRONOUS, ASYNC_IS_SYNCHRONOUS_DOC)                                                 \
    C(AO_START_EVENT, "start_event_id", "INTEGER", NULL, "event_id of the start op", "libprofsql") \
    C(AO_DONE_EVENT, "done_event_id", "INTEGER", NULL,                                             \
      "event_id of the done op, or of the event of the line Async XLA Ops with which a start "     \
      "without a done ends; equal to start_event_id if one event is the entire op; NULL if there " \
      "is neither",                                                                                \
      "libprofsql")                                                                                \
    C(AO_START, "start_ps", "INTEGER", "ps", "start of the start op, from the session start",      \
      "libprofsql")                                                                                \
    C(AO_START_US, START_US_DOC)                                                                   \
    C(AO_DURATION, "duration_ps", "INTEGER", "ps",                                                 \
      "time from the start of the start op to the end of the done op; NULL if there is no done "   \
      "op",                                                                                        \
      "libprofsql")                                                                                \
    C(AO_DURATION_US, DURATION_US_DOC)                                                             \
    C(AO_EXPOSED, "exposed_ps", "INTEGER", "ps",                                                   \
      "part of duration_ps in which the device does not compute; NULL if there is no done op",     \
      "libprofsql")                                                                                \
    C(AO_HIDDEN, "hidden_ps", "INTEGER", "ps",                                                     \
      "part of duration_ps in which the device computes (other collectives and transfers hide "    \
      "nothing); NULL if there is no done op",                                                     \
      "libprofsql")                                                                                \
    C(AO_COVER, "overlapped_by", "TEXT", NULL,                                                     \
      "compute op with the longest uninterrupted overlap with this op; while several compute at "  \
      "once, only the one that started first counts, then the one that ends first; NULL if no "    \
      "compute op overlaps it, or duration_ps is NULL",                                            \
      "libprofsql")                                                                                \
    C(AO_DONE_OP, "done_op", "TEXT", NULL,                                                         \
      "name of the done op, which waits until the op is done; equal to hlo_op if there is no "     \
      "separate done op; NULL if duration_ps is NULL",                                             \
      "XEventMetadata.display_name")                                                               \
    C(AO_WAIT, "wait_ps", "INTEGER", "ps",                                                         \
      "duration of the done op, in which the device waits; NULL on a GPU, and if there is no "     \
      "separate done op",                                                                          \
      "libprofsql")                                                                                \
    C(AO_BYTES, "bytes", "INTEGER", "bytes",                                                       \
      "payload, without padding: for a collective, its operands; for a transfer, the result of "   \
      "its done op or infeed, or its first operand if that has no data; for a "                    \
      "dynamic-update-slice, the update; NULL if unknown, or duration_ps is NULL on a TPU",        \
      "HLO text; memcpy_details")                                                                  \
    C(AO_BYTES_ACCESSED, "bytes_accessed", "INTEGER", "bytes",                                     \
      "bytes read plus bytes written, of the start op or the done op, the larger, as their "       \
      "metadata record it; NULL on a GPU, and if it is not recorded or 0",                         \
      "bytes_accessed")                                                                            \
    C(AO_PLANE_ID, PLANE_ID_DOC)                                                                   \
    C(AO_SOURCE, SOURCE_DOC)                                                                       \
    C(AO_SYNCHRONOUS, INCLUDE_SYNCHRONOUS_DOC)
enum { ASYNC_OPS_COLUMNS(COLUMN_ENUM) };
static const Column async_ops_columns[] = {ASYNC_OPS_COLUMNS(COLUMN_DOC)};

static void async_ops_list(RowCursor *c, RowList *list)
{
    bool with_synchronous = row_integer_parameter(c, 0, 0) != 0;
    const AsyncOps *all = run_async_ops(c->from->run, c->from->only, with_synchronous, &c->err);
    if (all) *list = ROW_LIST(all->ops, all->n_ops);
}

static const Plane *async_ops_plane(const void *item)
{
    return ((const AsyncOp *)item)->shared->plane;
}

static void result_category(sqlite3_context *ctx, const AsyncShared *op)
{
    result_text(ctx, op->category);
}

static void result_cover(sqlite3_context *ctx, const EventMeta *cover)
{
    if (cover) result_text(ctx, cover->display_name->n_bytes ? cover->display_name : cover->name);
}

static void async_ops_column(RowCursor *c, sqlite3_context *ctx, int column)
{
    const AsyncOp *run = c->row;
    const AsyncShared *op = run->shared;
    switch (column) {
    case AO_PLANE: result_text(ctx, op->plane->name); break;
    case AO_PLANE_ID: sqlite3_result_int64(ctx, op->plane->plane_id); break;
    case AO_OP: result_slice(ctx, op->op); break;
    case AO_CATEGORY: result_category(ctx, op); break;
    case AO_IS_SYNCHRONOUS: sqlite3_result_int(ctx, op->form == ASYNC_SYNCHRONOUS); break;
    case AO_KIND: result_static(ctx, work_kind_names[op->kind]); break;
    case AO_START_EVENT: sqlite3_result_int64(ctx, (sqlite3_int64)run->start_event); break;
    case AO_START:
    case AO_START_US: result_time(ctx, run->start_ps, column == AO_START_US); break;
    case AO_BYTES: result_nonnegative(ctx, op->bytes_moved); break;
    case AO_BYTES_ACCESSED: result_nonnegative(ctx, op->bytes_accessed); break;
    default:
        if (!op->done) return;
        switch (column) {
        case AO_DONE_EVENT: sqlite3_result_int64(ctx, (sqlite3_int64)run->done_event); break;
        case AO_DURATION:
        case AO_DURATION_US: result_time(ctx, run->duration_ps, column == AO_DURATION_US); break;
        case AO_EXPOSED: sqlite3_result_int64(ctx, run->duration_ps - run->hidden_ps); break;
        case AO_HIDDEN: sqlite3_result_int64(ctx, run->hidden_ps); break;
        case AO_COVER: result_cover(ctx, run->cover); break;
        case AO_DONE_OP: result_slice(ctx, op->done_op); break;
        case AO_WAIT:
            if (op->form == ASYNC_PAIR) sqlite3_result_int64(ctx, run->done_ps);
            break;
        default: break;
        }
    }
}

static const RowSource async_ops_rows = {
    .list = async_ops_list,
    .plane = async_ops_plane,
    .column = async_ops_column,
    .n_parameters = 1,
    .needs = NEED_EVENTS | NEED_DEVICE,
    .nothing = "no TPU core has an asynchronous op, and no GPU has a collective, copy or memset"};
const Table async_ops_table = {
    "async_ops",
    "one asynchronous transfer or collective of a device, with the time that computing hides",
    async_ops_columns,
    COUNT(async_ops_columns),
    &row_table_module,
    &async_ops_rows,
    500,
    "0.1.0",
    "SELECT plane, hlo_op, duration_us, exposed_ps, hidden_ps FROM async_ops"};

/* ---- async_op_totals ---- */

#define ASYNC_TOTALS_COLUMNS(C)                                                                    \
    C(AT_RUN, RUN_DOC)                                                                             \
    C(AT_HOST, HOST_DOC)                                                                           \
    C(AT_PLANE_ID, PLANE_ID_DOC)                                                                   \
    C(AT_PLANE, PLANE_DOC)                                                                         \
    C(AT_OP, ASYNC_OP_DOC)                                                                         \
    C(AT_CATEGORY, ASYNC_CATEGORY_DOC)                                                             \
    C(AT_KIND, ASYNC_KIND_DOC)                                                                     \
    C(AT_IS_SYNCHRONOUS, ASYNC_IS_SYNCHRONOUS_DOC)                                                 \
    C(AT_COVER, "overlapped_by", "TEXT", NULL,                                                     \
      "compute op with the longest overlap with each execution that the row counts; NULL if no "   \
      "compute op overlaps them",                                                                  \
      "libprofsql")                                                                                \
    C(AT_OCCURRENCES, "occurrences", "INTEGER", "executions",                                      \
      "number of executions that have a done op", "libprofsql")                                    \
    C(AT_DURATION, "duration_ps", "INTEGER", "ps", "sum of async_ops.duration_ps", "libprofsql")   \
    C(AT_DURATION_US, DURATION_US_DOC)                                                             \
    C(AT_EXPOSED, "exposed_ps", "INTEGER", "ps", "sum of async_ops.exposed_ps", "libprofsql")      \
    C(AT_HIDDEN, "hidden_ps", "INTEGER", "ps", "sum of async_ops.hidden_ps", "libprofsql")         \
    C(AT_WAIT, "wait_ps", "INTEGER", "ps",                                                         \
      "sum of async_ops.wait_ps; NULL if it is NULL for all executions", "libprofsql")             \
    C(AT_BYTES, "bytes", "INTEGER", "bytes", "async_ops.bytes of one execution; NULL if unknown",  \
      "HLO text; memcpy_details")                                                                  \
    C(AT_SOURCE, SOURCE_DOC)                                                                       \
    C(AT_SYNCHRONOUS, INCLUDE_SYNCHRONOUS_DOC)
enum { ASYNC_TOTALS_COLUMNS(COLUMN_ENUM) };
static const Column async_totals_columns[] = {ASYNC_TOTALS_COLUMNS(COLUMN_DOC)};

static void async_totals_list(RowCursor *c, RowList *list)
{
    bool with_synchronous = row_integer_parameter(c, 0, 0) != 0;
    const AsyncTotals *all =
        run_async_totals(c->from->run, c->from->only, with_synchronous, &c->err);
    if (all) *list = ROW_LIST(all->totals, all->n_totals);
}

static const Plane *async_totals_plane(const void *item)
{
    return ((const AsyncTotal *)item)->shared->plane;
}

static void async_totals_column(RowCursor *c, sqlite3_context *ctx, int column)
{
    const AsyncTotal *total = c->row;
    const AsyncShared *op = total->shared;
    switch (column) {
    case AT_PLANE_ID: sqlite3_result_int64(ctx, op->plane->plane_id); break;
    case AT_PLANE: result_text(ctx, op->plane->name); break;
    case AT_OP: result_slice(ctx, op->op); break;
    case AT_CATEGORY: result_category(ctx, op); break;
    case AT_KIND: result_static(ctx, work_kind_names[op->kind]); break;
    case AT_IS_SYNCHRONOUS: sqlite3_result_int(ctx, op->form == ASYNC_SYNCHRONOUS); break;
    case AT_COVER: result_cover(ctx, total->cover); break;
    case AT_OCCURRENCES: sqlite3_result_int64(ctx, total->n); break;
    case AT_DURATION:
    case AT_DURATION_US: result_time(ctx, total->duration_ps, column == AT_DURATION_US); break;
    case AT_EXPOSED:
        sqlite3_result_int64(ctx, add_saturated(total->duration_ps, -total->hidden_ps));
        break;
    case AT_HIDDEN: sqlite3_result_int64(ctx, total->hidden_ps); break;
    case AT_WAIT:
        if (total->n_waits) sqlite3_result_int64(ctx, total->done_ps);
        break;
    case AT_BYTES: result_nonnegative(ctx, op->bytes_moved); break;
    default: break;
    }
}

static const RowSource async_totals_rows = {.list = async_totals_list,
                                            .plane = async_totals_plane,
                                            .column = async_totals_column,
                                            .n_parameters = 1,
                                            .needs = NEED_EVENTS | NEED_DEVICE,
                                            .nothing =
                                                "no TPU core has an asynchronous op that is done, "
                                                "and no GPU has a collective, copy or memset"};
const Table async_op_totals_table = {
    "async_op_totals",
    "one asynchronous transfer or collective of a device with the compute op that overlaps it "
    "longest: the number and times of all such executions",
    async_totals_columns,
    COUNT(async_totals_columns),
    &row_table_module,
    &async_totals_rows,
    50,
    "0.1.0",
    "SELECT plane, hlo_op, sum(occurrences), sum(exposed_ps) / 1e6 AS exposed_us FROM "
    "async_op_totals GROUP BY 1, 2 ORDER BY 4 DESC"};
