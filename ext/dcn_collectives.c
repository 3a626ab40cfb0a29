// SPDX-License-Identifier: Apache-2.0
/* dcn_collectives.c: the table dcn_collectives: collectives between slices of TPUs over the
 * data-centre network.
 *
 *   SELECT rendezvous_name, slack_time_ms, stall_duration_ms, required_bandwidth_gbps
 *     FROM dcn_collectives('logs') ORDER BY total_stall_ms DESC; */
#include "../loader/analysis/communication/dcn.h"

#include "prof.h"
SQLITE_EXTENSION_INIT3

#include <limits.h>

#define DCN_COLUMNS(C)                                                                             \
    C(DC_RUN, RUN_DOC)                                                                             \
    C(DC_RENDEZVOUS, "rendezvous_name", "TEXT", NULL,                                              \
      "name of the rendezvous at which the send and recv ops of a transfer meet",                  \
      "megascale_stats rendezvous_name")                                                           \
    C(DC_RECV_OP, "recv_op_name", "TEXT", NULL, "name of the recv-done op of the last transfer",   \
      "megascale_stats recv_op_name")                                                              \
    C(DC_SEND_OP, "send_op_name", "TEXT", NULL, "name of the send op of the last transfer",        \
      "megascale_stats send_op_name")                                                              \
    C(DC_TYPE, "transfer_type", "TEXT", NULL,                                                      \
      "ONE_TO_ONE, ALL_GATHER, ALL_REDUCE, ...; empty if the program does not record the type",    \
      "megascale_stats transfer_type")                                                             \
    C(DC_SLACK, "slack_time_ms", "REAL", "ms",                                                     \
      "average time from the start of the send to the start of the recv-done, minus the transfer " \
      "ops in between: a transfer that takes no longer than this causes no delay",                 \
      "megascale_stats slack_time")                                                                \
    C(DC_OBSERVED, "observed_duration_ms", "REAL", "ms",                                           \
      "average time from the start of the send to the end of the recv-done",                       \
      "megascale_stats observed_duration")                                                         \
    C(DC_SEND, "send_stall_ms", "REAL", "ms", "average duration of the send",                      \
      "megascale_stats send_stall")                                                                \
    C(DC_SEND_DONE, "send_done_stall_ms", "REAL", "ms", "average duration of the send-done",       \
      "megascale_stats send_done_stall")                                                           \
    C(DC_RECV, "recv_stall_ms", "REAL", "ms",                                                      \
      "average duration of the recv as in XProf, which divides by a million once too often (see "  \
      "recv_stall_ms_actual)",                                                                     \
      "megascale_stats recv_stall")                                                                \
    C(DC_RECV_DONE, "recv_done_stall_ms", "REAL", "ms", "average duration of the recv-done",       \
      "megascale_stats recv_done_stall")                                                           \
    C(DC_STALL, "stall_duration_ms", "REAL", "ms",                                                 \
      "average total duration of send, send-done, recv and recv-done, during which the core does " \
      "nothing else",                                                                              \
      "megascale_stats stall_duration")                                                            \
    C(DC_TOTAL, "total_stall_ms", "REAL", "ms", "stall_duration_ms summed over all transfers",     \
      "megascale_stats total_stall")                                                               \
    C(DC_OCCURRENCES, "occurrences", "INTEGER", "transfers", "number of transfers",                \
      "megascale_stats occurrences")                                                               \
    C(DC_BYTES, "net_tx_bytes", "INTEGER", "bytes",                                                \
      "bytes that one transfer sends; 0 if the group or the type is unknown",                      \
      "megascale_stats net_tx_bytes")                                                              \
    C(DC_BANDWIDTH, "required_bandwidth_gbps", "REAL", "Gbit/s",                                   \
      "bandwidth at which a transfer takes no longer than the slack; 2147483647 if there is no "   \
      "slack",                                                                                     \
      "megascale_stats required_bandwidth")                                                        \
    C(DC_GROUP, "group_size", "INTEGER", "devices",                                                \
      "number of devices in a group; NULL if the profile does not record it",                      \
      "dcn_collective_info")                                                                       \
    C(DC_RECV_ACTUAL, "recv_stall_ms_actual", "REAL", "ms", "average duration of the recv",        \
      "libprofsql")                                                                                \
    C(DC_HOST_STALL, "host_stall_ms", "REAL", "ms",                                                \
      "average time from the start of the recv-done to the end of the host event of the transfer " \
      "(`device_<core>_gid_<rendezvous>`); negative if the host finished first; NULL if the "      \
      "first core has no such event. XProf's page has this column but always shows -",             \
      "libprofsql")                                                                                \
    C(DC_SHOWN, "shown_by_xprof", "INTEGER", "0 or 1",                                             \
      "1: XProf's page shows the collectives; 0: the page is empty, because some host declares "   \
      "no event named MegaScale:...",                                                              \
      "libprofsql")                                                                                \
    C(DC_SOURCE, SOURCE_DOC)
enum { DCN_COLUMNS(COLUMN_ENUM) };
static const Column dcn_columns[] = {DCN_COLUMNS(COLUMN_DOC)};

typedef struct {
    bool shown;
} DcnState;

static void dcn_list(RowCursor *c, RowList *list)
{
    const DcnCollectives *all = run_dcn_collectives(c->from->run, c->from->only, &c->err);
    DcnState *state = c->state;
    if (!all) return;
    *list = ROW_LIST(all->collectives.items, all->collectives.n);
    state->shown = all->shown;
}

/* Writes the average in us, truncated. */
static void result_average(sqlite3_context *ctx, const DcnCollective *d, uint64_t sum_us)
{
    sqlite3_result_double(ctx, (double)(sum_us / d->occurrences) / 1e3);
}

static void dcn_column(RowCursor *c, sqlite3_context *ctx, int column)
{
    const DcnCollective *d = c->row;
    uint64_t slack_us = d->slack_us / d->occurrences;
    switch (column) {
    case DC_RENDEZVOUS: result_text(ctx, d->rendezvous); break;
    case DC_RECV_OP: result_text(ctx, d->recv_op); break;
    case DC_SEND_OP: result_text(ctx, d->send_op); break;
    case DC_TYPE: result_text(ctx, d->transfer_type); break;
    case DC_SLACK: result_average(ctx, d, d->slack_us); break;
    case DC_OBSERVED: result_average(ctx, d, d->observed_us); break;
    case DC_SEND: result_average(ctx, d, d->send_us); break;
    case DC_SEND_DONE: result_average(ctx, d, d->send_done_us); break;
    case DC_RECV: result_average(ctx, d, d->recv_us); break;
    case DC_RECV_DONE: result_average(ctx, d, d->recv_done_us); break;
    case DC_STALL: result_average(ctx, d, d->stall_us); break;
    case DC_TOTAL:
        sqlite3_result_double(ctx, (double)(d->stall_us / d->occurrences * d->occurrences) / 1e3);
        break;
    case DC_OCCURRENCES: sqlite3_result_int64(ctx, (sqlite3_int64)d->occurrences); break;
    case DC_BYTES: sqlite3_result_int64(ctx, (sqlite3_int64)d->bytes); break;
    case DC_BANDWIDTH:
        sqlite3_result_double(ctx,
                              slack_us ? (double)d->bytes / (double)slack_us * 0.008 : INT_MAX);
        break;
    case DC_GROUP:
        if (d->group_size) sqlite3_result_int64(ctx, d->group_size);
        break;
    case DC_SHOWN: sqlite3_result_int(ctx, ((DcnState *)c->state)->shown); break;
    case DC_RECV_ACTUAL:
        sqlite3_result_double(ctx, d->recv_ps / (double)d->occurrences / 1e9);
        break;
    case DC_HOST_STALL:
        if (d->host_events)
            sqlite3_result_double(ctx, d->host_stall_ns / (double)d->host_events / 1e6);
        break;
    default: break;
    }
}

static const RowSource dcn_rows = {.list = dcn_list,
                                   .state_bytes = sizeof(DcnState),
                                   .column = dcn_column,
                                   .per_run = true,
                                   .nothing =
                                       "libprofsql found no send or recv op to another slice on "
                                       "/device:TPU:0 whose HLO program is in the profile",
                                   .needs = NEED_EVENTS | NEED_TPU};
const Table dcn_collectives_table = {
    "dcn_collectives",
    "one collective between TPU slices over the data-center network, as in XProf's megascale stats",
    dcn_columns,
    COUNT(dcn_columns),
    &row_table_module,
    &dcn_rows,
    20,
    "0.1.0",
    "SELECT rendezvous_name, transfer_type, total_stall_ms FROM dcn_collectives"};
