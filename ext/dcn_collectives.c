// SPDX-License-Identifier: Apache-2.0
/* dcn_collectives.c: the table dcn_collectives: collectives between slices of TPUs over the data-centre network.
 *
 *   SELECT rendezvous_name, slack_time_ms, stall_duration_ms, required_bandwidth_gbps FROM dcn_collectives('logs') ORDER BY total_stall_ms DESC; */
#include "../loader/analysis/dcn.h"

#include "prof.h"
SQLITE_EXTENSION_INIT3

#include <limits.h>

#define DCN_COLUMNS(C)                                                                                                                                         \
    C(DC_RUN, RUN_DOC)                                                                                                                                         \
    C(DC_RENDEZVOUS, "rendezvous_name", "TEXT", NULL, "where the ops of a transfer meet", "megascale_stats rendezvous_name")                                   \
    C(DC_RECV_OP, "recv_op_name", "TEXT", NULL, "the recv-done of the last transfer", "megascale_stats recv_op_name")                                          \
    C(DC_SEND_OP, "send_op_name", "TEXT", NULL, "the send of the last transfer", "megascale_stats send_op_name")                                               \
    C(DC_TYPE, "transfer_type", "TEXT", NULL, "ONE_TO_ONE, ALL_GATHER, ALL_REDUCE, ...; empty when the program does not say", "megascale_stats transfer_type") \
    C(DC_SLACK, "slack_time_ms", "REAL", "ms",                                                                                                                 \
      "average time from the begin of the send to that of the recv-done without ops of transfers: what the network may take unnoticed",                        \
      "megascale_stats slack_time")                                                                                                                            \
    C(DC_OBSERVED, "observed_duration_ms", "REAL", "ms", "average time from the begin of the send to the end of the recv-done",                                \
      "megascale_stats observed_duration")                                                                                                                     \
    C(DC_SEND, "send_stall_ms", "REAL", "ms", "average duration of the send", "megascale_stats send_stall")                                                    \
    C(DC_SEND_DONE, "send_done_stall_ms", "REAL", "ms", "average duration of the send-done", "megascale_stats send_done_stall")                                \
    C(DC_RECV, "recv_stall_ms", "REAL", "ms", "average duration of the recv, as XProf has it: divided by a million once too often",                            \
      "megascale_stats recv_stall")                                                                                                                            \
    C(DC_RECV_DONE, "recv_done_stall_ms", "REAL", "ms", "average duration of the recv-done", "megascale_stats recv_done_stall")                                \
    C(DC_STALL, "stall_duration_ms", "REAL", "ms", "average sum of the four: time in which the core does nothing else", "megascale_stats stall_duration")      \
    C(DC_TOTAL, "total_stall_ms", "REAL", "ms", "the same of all transfers", "megascale_stats total_stall")                                                    \
    C(DC_OCCURRENCES, "occurrences", "INTEGER", "transfers", "how often it took place", "megascale_stats occurrences")                                         \
    C(DC_BYTES, "net_tx_bytes", "INTEGER", "bytes", "what one transfer sends; 0 when the group or the type is unknown", "megascale_stats net_tx_bytes")        \
    C(DC_BANDWIDTH, "required_bandwidth_gbps", "REAL", "Gbit/s", "what the network needs not to be noticed; 2147483647 without slack",                         \
      "megascale_stats required_bandwidth")                                                                                                                    \
    C(DC_GROUP, "group_size", "INTEGER", "devices", "devices of a group; NULL when the profile does not say", "dcn_collective_info")                           \
    C(DC_RECV_ACTUAL, "recv_stall_ms_actual", "REAL", "ms", "average duration of the recv", "libprofsql")                                                      \
    C(DC_HOST_STALL, "host_stall_ms", "REAL", "ms",                                                                                                            \
      "average time from the begin of the recv-done to where the host was done (`device_<core>_gid_<rendezvous>`), below 0 if it was before; NULL: no such "   \
      "event of the first core. XProf's page has the column, but always prints -",                                                                             \
      "libprofsql")                                                                                                                                            \
    C(DC_SHOWN, "shown_by_xprof", "INTEGER", "0 or 1", "0: XProf's page is empty, since not every host knows events named MegaScale:...", "libprofsql")        \
    C(DC_SOURCE, SOURCE_DOC)
enum { DCN_COLUMNS(COLUMN_ENUM) };
static const Column dcn_columns[] = {DCN_COLUMNS(COLUMN_DOC)};

static bool dcn_next(RowCursor *c)
{
    const DcnCollectives *all = run_dcn_collectives(c->from->run, c->from->only, &c->err);
    c->i += c->started;
    if (!all || c->i >= all->collectives.n) return false;
    c->item = &all->collectives.items[c->i];
    return c->place = c->i, true;
}

/* Whole us on average. */
static void result_average(sqlite3_context *ctx, const DcnCollective *d, uint64_t sum_us)
{
    sqlite3_result_double(ctx, (double)(sum_us / d->occurrences) / 1e3);
}

static void dcn_column(RowCursor *c, sqlite3_context *ctx, int column)
{
    const DcnCollective *d = c->item;
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
    case DC_TOTAL: sqlite3_result_double(ctx, (double)(d->stall_us / d->occurrences * d->occurrences) / 1e3); break;
    case DC_OCCURRENCES: sqlite3_result_int64(ctx, (sqlite3_int64)d->occurrences); break;
    case DC_BYTES: sqlite3_result_int64(ctx, (sqlite3_int64)d->bytes); break;
    case DC_BANDWIDTH: sqlite3_result_double(ctx, slack_us ? (double)d->bytes / (double)slack_us * 0.008 : INT_MAX); break;
    case DC_GROUP:
        if (d->group_size) sqlite3_result_int64(ctx, d->group_size);
        break;
    case DC_SHOWN: {
        const DcnCollectives *all = run_dcn_collectives(c->from->run, c->from->only, &c->err);
        if (all) sqlite3_result_int(ctx, all->shown);
        break;
    }
    case DC_RECV_ACTUAL: sqlite3_result_double(ctx, d->recv_ps / (double)d->occurrences / 1e9); break;
    case DC_HOST_STALL:
        if (d->host_events) sqlite3_result_double(ctx, d->host_stall_ns / (double)d->host_events / 1e6);
        break;
    default: break;
    }
}

static const RowSource dcn_rows = {.next = dcn_next,
                                   .column = dcn_column,
                                   .per_run = true,
                                   .by_host = true,
                                   .nothing = "/device:TPU:0 ran no send or receive of the host, with its program, that meets another slice",
                                   .needs = NEED_EVENTS | NEED_TPU};
const Table dcn_collectives_table = {"dcn_collectives",
                                     "one collective between TPU slices over the data-center network, as in XProf's megascale stats",
                                     dcn_columns,
                                     COUNT(dcn_columns),
                                     &row_table_module,
                                     &dcn_rows,
                                     20};
