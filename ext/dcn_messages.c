// SPDX-License-Identifier: Apache-2.0
/* dcn_messages.c: the tables dcn_messages and dcn_bursts: what a host received from other slices
 * over the data-centre network.
 *
 *   SELECT burst, bytes, bytes_per_second / 1e9 AS gb_per_s, bandwidth
 *     FROM dcn_bursts('logs') ORDER BY duration_ps DESC LIMIT 10; */
#include "../loader/analysis/communication/dcn_messages.h"

#include "prof.h"
SQLITE_EXTENSION_INIT3

/* ---- dcn_messages ---- */

#define MESSAGES_COLUMNS(C)                                                                        \
    C(DM_RUN, RUN_DOC)                                                                             \
    C(DM_HOST, HOST_DOC)                                                                           \
    C(DM_LABEL, "label", "TEXT", NULL,                                                             \
      "label of the collective that the message belongs to; NULL if the event does not record it", \
      "dcn_label")                                                                                 \
    C(DM_SOURCE_SLICE, "source_slice", "INTEGER", NULL,                                            \
      "slice that sent the message; NULL if the event does not record it", "dcn_source_slice_id")  \
    C(DM_SOURCE_DEVICE, "source_device", "INTEGER", NULL,                                          \
      "device that sent the message, by its number in the slice; NULL if the event does not "      \
      "record it",                                                                                 \
      "dcn_source_per_slice_device_id")                                                            \
    C(DM_TARGET_SLICE, "destination_slice", "INTEGER", NULL,                                       \
      "slice that received the message; NULL if the event does not record it",                     \
      "dcn_destination_slice_id")                                                                  \
    C(DM_TARGET_DEVICE, "destination_device", "INTEGER", NULL,                                     \
      "device that received the message, by its number in the slice; NULL if the event does not "  \
      "record it",                                                                                 \
      "dcn_destination_per_slice_device_id")                                                       \
    C(DM_CHUNK, "chunk", "INTEGER", NULL,                                                          \
      "chunk of the collective that the message carries; NULL if the event does not record it",    \
      "dcn_chunk")                                                                                 \
    C(DM_LOOP, "loop_index", "INTEGER", NULL,                                                      \
      "iteration of the collective; NULL if the event does not record it", "dcn_loop_index")       \
    C(DM_BYTES, "bytes", "INTEGER", "bytes",                                                       \
      "payload of the message; NULL if the event does not record it", "payload_size_bytes")        \
    C(DM_START, "start_ps", "INTEGER", "ps",                                                       \
      "time at which the message was sent, from the session start; time of its arrival if "        \
      "duration_ps is NULL",                                                                       \
      "duration_us")                                                                               \
    C(DM_START_US, START_US_DOC)                                                                   \
    C(DM_DURATION, "duration_ps", "INTEGER", "ps",                                                 \
      "time from sending to arrival; NULL if the event records none, or 0", "duration_us")         \
    C(DM_DURATION_US, DURATION_US_DOC)                                                             \
    C(DM_VALIDITY, "validity", "TEXT", NULL,                                                       \
      "first that applies: BAD_KEY (no label, slice or device), CLOCK_SKEW (no duration), "        \
      "LOOPBACK (from a slice to itself) or VALID; only VALID messages are part of bursts",        \
      "libprofsql")                                                                                \
    C(DM_BURST, "burst", "INTEGER", NULL,                                                          \
      "number of the burst on the host that the message is part of, as in dcn_bursts; NULL if it " \
      "is not VALID",                                                                              \
      "libprofsql")                                                                                \
    C(DM_STRAGGLER, "straggler", "INTEGER", NULL,                                                  \
      "1: the last message of its burst to arrive; 2 to 4: the messages that arrived before it, "  \
      "in reverse order; NULL for other messages",                                                 \
      "libprofsql")                                                                                \
    C(DM_EVENT, EVENT_ID_DOC)                                                                      \
    C(DM_SOURCE, SOURCE_DOC)
enum { MESSAGES_COLUMNS(COLUMN_ENUM) };
static const Column messages_columns[] = {MESSAGES_COLUMNS(COLUMN_DOC)};

static void messages_list(RowCursor *c, RowList *list)
{
    const DcnMessages *all = host_dcn_messages(c->host, &c->err);
    if (all) *list = ROW_LIST(all->messages.items, all->messages.n);
}

static bool messages_shows(RowCursor *c, const void *item)
{
    const DcnMessage *m = item;
    c->place = m->event;
    return row_wanted(c, KEY_EVENT_ID, (int64_t)m->event);
}

static void messages_column(RowCursor *c, sqlite3_context *ctx, int column)
{
    static const char *const validities[] = {[DCN_VALID] = "VALID",
                                             [DCN_LOOPBACK] = "LOOPBACK",
                                             [DCN_CLOCK_SKEW] = "CLOCK_SKEW",
                                             [DCN_BAD_KEY] = "BAD_KEY"};
    static const enum DcnKey keys[] = {DCN_SOURCE_SLICE,
                                       DCN_SOURCE_DEVICE,
                                       DCN_DESTINATION_SLICE,
                                       DCN_DESTINATION_DEVICE,
                                       DCN_CHUNK,
                                       DCN_LOOP,
                                       DCN_BYTES};
    const DcnMessage *m = c->row;
    switch (column) {
    case DM_LABEL: result_text(ctx, m->label); break;
    case DM_START:
    case DM_START_US: result_time(ctx, m->start_ps, column == DM_START_US); break;
    case DM_DURATION:
    case DM_DURATION_US:
        if (m->end_ps > m->start_ps)
            result_time(ctx, (int64_t)((uint64_t)m->end_ps - (uint64_t)m->start_ps),
                        column == DM_DURATION_US);
        break;
    case DM_VALIDITY: result_static(ctx, validities[m->validity]); break;
    case DM_BURST:
        if (m->burst) sqlite3_result_int64(ctx, (sqlite3_int64)m->burst);
        break;
    case DM_STRAGGLER:
        if (m->straggler) sqlite3_result_int(ctx, m->straggler);
        break;
    case DM_EVENT: sqlite3_result_int64(ctx, (sqlite3_int64)m->event); break;
    default:
        if (column >= DM_SOURCE_SLICE && column <= DM_BYTES &&
            m->known >> keys[column - DM_SOURCE_SLICE] & 1)
            sqlite3_result_int64(ctx, m->keys[keys[column - DM_SOURCE_SLICE]]);
        break;
    }
}

static const RowSource messages_rows = {
    .list = messages_list,
    .shows = messages_shows,
    .column = messages_column,
    .nothing = "the host has no event `MegaScale: Communication Transport Receive`",
    .needs = NEED_EVENTS | NEED_HOST};
const Table dcn_messages_table = {
    "dcn_messages",
    "one message that a host received from another TPU slice over the data-center network",
    messages_columns,
    COUNT(messages_columns),
    &row_table_module,
    &messages_rows,
    1000,
    "0.1.0",
    "SELECT label, source_slice, destination_slice, duration_us, bytes FROM dcn_messages"};

/* ---- dcn_bursts ---- */

#define BURSTS_COLUMNS(C)                                                                          \
    C(DB_RUN, RUN_DOC)                                                                             \
    C(DB_HOST, HOST_DOC)                                                                           \
    C(DB_BURST, "burst", "INTEGER", NULL,                                                          \
      "number of the burst on its host, from 1, in order of time", "libprofsql")                   \
    C(DB_START, "start_ps", "INTEGER", "ps",                                                       \
      "time at which the first message of the burst was sent, from the session start",             \
      "libprofsql")                                                                                \
    C(DB_START_US, START_US_DOC)                                                                   \
    C(DB_DURATION, "duration_ps", "INTEGER", "ps",                                                 \
      "time from start_ps until the last message arrived, after which none was in flight",         \
      "libprofsql")                                                                                \
    C(DB_DURATION_US, DURATION_US_DOC)                                                             \
    C(DB_MESSAGES, "message_count", "INTEGER", "messages",                                         \
      "number of VALID messages in the burst", "libprofsql")                                       \
    C(DB_BYTES, "bytes", "INTEGER", "bytes",                                                       \
      "payload of the messages in the burst; a message that does not record its size counts 0",    \
      "payload_size_bytes")                                                                        \
    C(DB_MOST, "max_overlap", "INTEGER", "messages",                                               \
      "largest number of messages in flight at once", "libprofsql")                                \
    C(DB_RATE, "bytes_per_second", "REAL", "bytes/s",                                              \
      "bytes divided by the duration of the burst", "libprofsql")                                  \
    C(DB_BANDWIDTH, "bandwidth", "TEXT", NULL,                                                     \
      "class of bytes_per_second: Low, Medium (4.17e9 bytes/s or more) or High (8.34e9 or more)",  \
      "XProf")                                                                                     \
    C(DB_FRACTION, "utilization_fraction", "REAL", "fraction",                                     \
      "bytes_per_second divided by 12.5e9, which is XProf's figure for the network of a host",     \
      "XProf")                                                                                     \
    C(DB_SOURCE, SOURCE_DOC)
enum { BURSTS_COLUMNS(COLUMN_ENUM) };
static const Column bursts_columns[] = {BURSTS_COLUMNS(COLUMN_DOC)};

static void bursts_list(RowCursor *c, RowList *list)
{
    const DcnMessages *all = host_dcn_messages(c->host, &c->err);
    if (!all) return;
    *list = ROW_LIST(all->bursts.items, all->bursts.n);
    list->first_place = (uint64_t)c->host->first_plane << 32;
}

static const char *bandwidth_class(double rate)
{
    if (rate < 4.17e9) return "Low";
    return rate < 8.34e9 ? "Medium" : "High";
}

static void bursts_column(RowCursor *c, sqlite3_context *ctx, int column)
{
    const double network = 12.5e9;
    const DcnBurst *b = c->row;
    uint64_t duration_ps = (uint64_t)b->end_ps - (uint64_t)b->start_ps;
    double rate = (double)b->bytes / ((double)duration_ps / 1e12);
    switch (column) {
    case DB_BURST: sqlite3_result_int64(ctx, (sqlite3_int64)c->at_row + 1); break;
    case DB_START:
    case DB_START_US: result_time(ctx, b->start_ps, column == DB_START_US); break;
    case DB_DURATION:
    case DB_DURATION_US: result_time(ctx, (int64_t)duration_ps, column == DB_DURATION_US); break;
    case DB_MESSAGES: sqlite3_result_int64(ctx, (sqlite3_int64)b->n_messages); break;
    case DB_BYTES: sqlite3_result_int64(ctx, b->bytes); break;
    case DB_MOST: sqlite3_result_int64(ctx, (sqlite3_int64)b->most_at_once); break;
    case DB_RATE: sqlite3_result_double(ctx, rate); break;
    case DB_BANDWIDTH: result_static(ctx, bandwidth_class(rate)); break;
    case DB_FRACTION: sqlite3_result_double(ctx, rate / network); break;
    default: break;
    }
}

static const RowSource bursts_rows = {.list = bursts_list,
                                      .column = bursts_column,
                                      .nothing =
                                          "the host received no VALID message from another slice",
                                      .needs = NEED_EVENTS | NEED_HOST};
const Table dcn_bursts_table = {
    "dcn_bursts",
    "one burst: a period without a pause in which messages from other slices were in flight, with "
    "the share of the network that they used",
    bursts_columns,
    COUNT(bursts_columns),
    &row_table_module,
    &bursts_rows,
    100,
    "0.1.0",
    "SELECT host, start_us, duration_us, message_count, utilization_fraction FROM dcn_bursts"};
