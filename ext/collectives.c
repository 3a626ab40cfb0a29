// SPDX-License-Identifier: Apache-2.0
/* collectives.c: the table collectives: what the devices of a run exchange with each other, and
 * what that costs each of them.
 *
 *   SELECT plane, name, kind, total_ps / 1e6 AS us, wait_ps / 1e6 AS waited_us
 *     FROM collectives('logs') ORDER BY wait_ps DESC LIMIT 10; */
#include "../loader/analysis/communication/collectives.h"

#include "prof.h"
SQLITE_EXTENSION_INIT3

#define COLLECTIVES_COLUMNS(C)                                                                     \
    C(CO_RUN, RUN_DOC)                                                                             \
    C(CO_HOST, HOST_DOC)                                                                           \
    C(CO_PLANE, PLANE_DOC)                                                                         \
    C(CO_NAME, "name", "TEXT", NULL,                                                               \
      "name of the collective op (of its start op if it has a start and a done op); on a GPU, "    \
      "name of the kernel",                                                                        \
      "XEventMetadata.display_name")                                                               \
    C(CO_KIND, "kind", "TEXT", NULL,                                                               \
      "kind of collective: all-reduce, all-gather, reduce-scatter, all-to-all, "                   \
      "collective-permute, ...",                                                                   \
      "hlo_category; libprofsql")                                                                  \
    C(CO_HLO_OP, "hlo_op", "TEXT", NULL,                                                           \
      "HLO instruction of the collective; NULL if a GPU kernel does not record it", "hlo_op")      \
    C(CO_GROUP, "group_size", "INTEGER", "devices",                                                \
      "number of devices in a group; NULL if unknown, if groups differ in size, and for a "        \
      "collective-permute",                                                                        \
      "HloInstructionProto; HLO text")                                                             \
    C(CO_OCCURRENCES, "occurrences", "INTEGER", NULL,                                              \
      "number of times that the device took part in the collective", "libprofsql")                 \
    C(CO_BYTES, "bytes", "INTEGER", "bytes",                                                       \
      "payload of one occurrence: bytes that the device contributes, its operands without "        \
      "padding; NULL if unknown, as for kernels whose program is not in the file (kernels record " \
      "no sizes)",                                                                                 \
      "HloInstructionProto; HLO text")                                                             \
    C(CO_TOTAL, "total_ps", "INTEGER", "ps",                                                       \
      "total duration of all occurrences; an op with a start and a done op lasts from the start "  \
      "of the one to the end of the other",                                                        \
      "libprofsql")                                                                                \
    C(CO_MIN, "min_ps", "INTEGER", "ps", "duration of the shortest occurrence", "libprofsql")      \
    C(CO_MAX, "max_ps", "INTEGER", "ps", "duration of the longest occurrence", "libprofsql")       \
    C(CO_WAIT, "wait_ps", "INTEGER", "ps",                                                         \
      "part of total_ps in which the device waited for the last device of its group on the same "  \
      "host to start; devices on other hosts are ignored; if the groups are unknown, all devices " \
      "of the host that ran the op are treated as one group. NULL if no other device of the "      \
      "group is on the host, if the devices ran the op different numbers of times, or if their "   \
      "ids are unknown",                                                                           \
      "libprofsql")                                                                                \
    C(CO_GLOBAL_WAIT, "global_wait_ps", "INTEGER", "ps",                                           \
      "part of total_ps in which the device waited for the last device of its group, on any "      \
      "host of the run, to start. If spans_hosts is 1, hosts.start_unix_ns makes the times "       \
      "absolute, so the wait is only as exact as the hosts' clocks. NULL in the same cases as "    \
      "wait_ps, if a host of the group has no start_unix_ns, and if the source is one host of a "  \
      "run of several hosts",                                                                      \
      "libprofsql")                                                                                \
    C(CO_OVER_HOSTS, "spans_hosts", "INTEGER", "0 or 1",                                           \
      "1: global_wait_ps compares devices of several hosts; NULL if global_wait_ps is NULL",       \
      "libprofsql")                                                                                \
    C(CO_MESSAGE, "message_bytes", "INTEGER", "bytes",                                             \
      "size of one occurrence as NCCL's tests count it: the column bytes, times group_size for "   \
      "an all-gather; NULL if unknown and for a ragged-all-to-all",                                \
      "libprofsql")                                                                                \
    C(CO_ALGORITHM, "algorithm_gibps", "REAL", "GiB/s",                                            \
      "algorithm bandwidth: message_bytes of all occurrences divided by total_ps, waiting "        \
      "included; NULL if unknown",                                                                 \
      "libprofsql")                                                                                \
    C(CO_BUS, "bus_gibps", "REAL", "GiB/s",                                                        \
      "bus bandwidth: algorithm_gibps times 2(n-1)/n for an all-reduce, (n-1)/n for an "           \
      "all-gather, reduce-scatter or all-to-all, 1 for others; n is group_size. NULL if unknown",  \
      "libprofsql")                                                                                \
    C(CO_BANDWIDTH, "bandwidth_gibps", "REAL", "GiB/s",                                            \
      "bytes of all occurrences divided by total_ps; NULL if bytes is NULL or total_ps is 0",      \
      "libprofsql")                                                                                \
    C(CO_PROGRAM, "program_id", "TEXT", NULL,                                                      \
      "id of the HLO program with the collective, decimal; NULL if unknown", "program_id")         \
    C(CO_PLANE_ID, PLANE_ID_DOC)                                                                   \
    C(CO_SOURCE, SOURCE_DOC)
enum { COLLECTIVES_COLUMNS(COLUMN_ENUM) };
static const Column collectives_columns[] = {COLLECTIVES_COLUMNS(COLUMN_DOC)};

static void collectives_list(RowCursor *c, RowList *list)
{
    const Collectives *all = run_collectives(c->from->run, c->from->only, &c->err);
    if (all) *list = ROW_LIST(all->collectives.items, all->collectives.n);
}

static const Plane *collectives_plane(const void *item)
{
    return ((const Collective *)item)->plane;
}

/* Writes the bytes of all occurrences divided by their time; NULL for negative or NaN values. */
static void rate_column(sqlite3_context *ctx, const Collective *op, double bytes)
{
    if (bytes >= 0 && op->total_ps)
        sqlite3_result_double(ctx, bytes * (double)op->occurrences / 1073741824.0 /
                                       ((double)op->total_ps / 1e12));
}

static void collectives_column(RowCursor *c, sqlite3_context *ctx, int column)
{
    const Collective *op = c->row;
    int64_t message = collective_message_bytes(op);
    switch (column) {
    case CO_PLANE: result_text(ctx, op->plane->name); break;
    case CO_NAME: result_slice(ctx, op->name); break;
    case CO_KIND: result_static(ctx, op->kind); break;
    case CO_HLO_OP:
        if (op->hlo_op.n) result_slice(ctx, op->hlo_op);
        break;
    case CO_GROUP:
        if (op->group_size) sqlite3_result_int64(ctx, op->group_size);
        break;
    case CO_OCCURRENCES: sqlite3_result_int64(ctx, (sqlite3_int64)op->occurrences); break;
    case CO_BYTES: result_nonnegative(ctx, op->bytes); break;
    case CO_TOTAL: sqlite3_result_int64(ctx, (sqlite3_int64)op->total_ps); break;
    case CO_MIN: sqlite3_result_int64(ctx, op->min_ps); break;
    case CO_MAX: sqlite3_result_int64(ctx, op->max_ps); break;
    case CO_WAIT:
        if (op->wait.known) result_u64(ctx, op->wait.ps);
        break;
    case CO_GLOBAL_WAIT:
        if (op->wait_of_all.known) result_u64(ctx, op->wait_of_all.ps);
        break;
    case CO_OVER_HOSTS:
        if (op->wait_of_all.known) sqlite3_result_int(ctx, op->wait_of_all.over_hosts);
        break;
    case CO_MESSAGE: result_nonnegative(ctx, message); break;
    case CO_ALGORITHM: rate_column(ctx, op, (double)message); break;
    case CO_BUS: rate_column(ctx, op, (double)message * collective_bus_factor(op)); break;
    case CO_BANDWIDTH: rate_column(ctx, op, (double)op->bytes); break;
    case CO_PROGRAM:
        if (op->has_program) result_id(ctx, op->program_id);
        break;
    case CO_PLANE_ID: sqlite3_result_int64(ctx, op->plane->plane_id); break;
    default: break;
    }
}

static const RowSource collectives_rows = {.list = collectives_list,
                                           .plane = collectives_plane,
                                           .column = collectives_column,
                                           .nothing = "no collective op ran on a device",
                                           .needs = NEED_EVENTS | NEED_DEVICE};
const Table collectives_table = {
    "collectives",
    "one collective op of one device: how long it took, and how long the device waited for other "
    "devices",
    collectives_columns,
    COUNT(collectives_columns),
    &row_table_module,
    &collectives_rows,
    50,
    "0.1.0",
    "SELECT plane, name, occurrences, total_ps, wait_ps FROM collectives"};
