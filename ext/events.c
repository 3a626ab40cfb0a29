// SPDX-License-Identifier: Apache-2.0
/* events.c: the table Events: what XProf's Events DB has of a run, its 31 columns under its names.
 *
 *   SELECT hlo_op, count(*), sum(self_time_ns) FROM Events('logs') WHERE category = 'XLA Ops' GROUP
 * BY 1 ORDER BY 3 DESC;
 *
 * Rows are the file's events: of /host:CPU all, of GPUs all but those of derived lines and
 * _counters_, of a TensorCore those of the lines that OF_CORE names, of other TPU planes and custom
 * ones all. An event's stats are read when a column is asked for. */
#define _GNU_SOURCE
#include "../loader/analysis/steps/enclosing.h"
#include "../loader/store/event_stats.h"
#include "../loader/store/events.h"
#include "../loader/analysis/grouping/grouping.h"
#include "../loader/base/text_buffer.h"
#include "events_hlo.h"

#include <math.h>

SQLITE_EXTENSION_INIT3

#define DCN_OF                                                                                     \
    "; NULL unless it is a host event MegaScale: Communication Transport Receive with "            \
    "slices, devices, label and a duration above 0"
#define EVENTS_DB_COLUMNS(C)                                                                       \
    C(ED_DEVICE, "device", "TEXT", NULL,                                                           \
      "cpu:0 for the host; gpu: and XPlane.id; for a TPU the name of the plane without "           \
      "/device:; for a custom plane its entire name",                                              \
      "XPlane")                                                                                    \
    C(ED_STREAM, "stream_id", "INTEGER", NULL,                                                     \
      "id of the device's line, modulo 2^32; NULL for host events", "XLine.id")                    \
    C(ED_THREAD, "thread_id", "INTEGER", NULL,                                                     \
      "id of the host thread's line, modulo 2^32; NULL for device events", "XLine.id")             \
    C(ED_THREAD_NAME, "thread_name", "TEXT", NULL,                                                 \
      "name of the host thread; NULL for device events", "XLine.name")                             \
    C(ED_CORRELATION, "correlation_id", "INTEGER", NULL,                                           \
      "correlation_id of a host or GPU event, modulo 2^32; 0 if the stat is not a uint64 (on "     \
      "a GPU: not an integer); NULL without the stat, and on TPU and custom planes and XLA "       \
      "lines of GPUs",                                                                             \
      "stat correlation_id")                                                                       \
    C(ED_KERNEL_NAME, "kernel_name", "TEXT", NULL,                                                 \
      "name of the event; prefixed with step: (steps of a TensorCore), HLO Module: (modules "      \
      "of a TensorCore or GPU) or TC Overlay: (overlays of a TensorCore); NULL on other TPU "      \
      "planes",                                                                                    \
      "XEventMetadata.name")                                                                       \
    C(ED_KERNEL_DETAILS, "kernel_details", "TEXT", NULL,                                           \
      "launch parameters of a GPU kernel; NULL for other events, on XLA lines of GPUs, and if "    \
      "the text is empty",                                                                         \
      "stat kernel_details")                                                                       \
    C(ED_TF_OP_NAME, "tf_op_name", "TEXT", NULL,                                                   \
      "name of the framework op: from the event's name on the host; on a GPU from the HLO "        \
      "instruction, or from the stat if the event has no hlo_op; from the stat on a TPU; NULL "    \
      "if there is none",                                                                          \
      "XEventMetadata.name, op_name of the program, stat tf_op")                                   \
    C(ED_TF_OP_TYPE, "tf_op_type", "TEXT", NULL,                                                   \
      "type of the framework op in tf_op_name; NULL if there is none", "as tf_op_name")            \
    C(ED_HLO_OP, "hlo_op", "TEXT", NULL,                                                           \
      "HLO instruction of a GPU kernel or TensorCore op; empty if XProf shows an empty text; "     \
      "NULL for other events",                                                                     \
      "stat hlo_op, XEventMetadata.display_name")                                                  \
    C(ED_HLO_MODULE, "hlo_module", "TEXT", NULL,                                                   \
      "HLO module of a GPU kernel or TensorCore op (for the latter, the name of the module "       \
      "event that includes it); NULL if there is none",                                            \
      "stat hlo_module, XEvent")                                                                   \
    C(ED_START, "start_ns", "INTEGER", "ns",                                                       \
      "start of the event, rounded down to 1 ns (Unix times to 256 ns). As in XProf, it is "       \
      "2^64 ps too late if offset_ps is negative, and 2^64 too large, as decimal TEXT, before "    \
      "the session",                                                                               \
      "XLine.timestamp_ns, XEvent.offset_ps")                                                      \
    C(ED_END, "end_ns", "INTEGER", "ns",                                                           \
      "end of the event: start_ns plus the duration, rounded down to 1 ns; as in XProf, 2^64 "     \
      "ps too late if duration_ps is negative",                                                    \
      "XEvent")                                                                                    \
    C(ED_SELF, "self_time_ns", "INTEGER", "ns",                                                    \
      "duration of the event, on TPU planes without the directly nested events (computed in "      \
      "ns, in stored order), as XProf subtracts these only there",                                 \
      "XProf")                                                                                     \
    C(ED_STEP, "step", "TEXT", NULL,                                                               \
      "step of the event: for host and GPU events the step to which XProf's grouping assigns "     \
      "it, for TensorCore ops the step event that includes it; NULL if there is none",             \
      "XProf's grouping")                                                                          \
    C(ED_CATEGORY, "category", "TEXT", NULL,                                                       \
      "host, device, or the name of the line (on TPU and custom planes, and XLA lines of "         \
      "GPUs)",                                                                                     \
      "XLine.name")                                                                                \
    C(ED_FLOPS, "flops", "INTEGER", "FLOP",                                                        \
      "floating-point operations of an event on a TPU or custom plane, or on an XLA line of a "    \
      "GPU; 0 if the stat is not an integer; NULL for other events and without the stat",          \
      "stat flops")                                                                                \
    C(ED_MEMORY, "memory_accessed", "INTEGER", "bytes",                                            \
      "bytes accessed by an event on a TPU or custom plane, or on an XLA line of a GPU; 0 if "     \
      "the stat is not an integer; NULL for other events and without the stat",                    \
      "stat bytes_accessed")                                                                       \
    C(ED_INPUTS, "input_tensors", "TEXT", "JSON",                                                  \
      "array of the shapes of the HLO instruction's operands, or of those in the stat of a "       \
      "GPU kernel with a tf_op and no hlo_op; NULL if there are none, or XProf finds no "          \
      "program",                                                                                   \
      "HloInstructionProto, stat shape")                                                           \
    C(ED_OUTPUTS, "output_tensors", "TEXT", "JSON",                                                \
      "array with the shape of the HLO instruction's result; NULL if there is no instruction, "    \
      "or XProf finds no program",                                                                 \
      "HloInstructionProto")                                                                       \
    C(ED_ARGS, "trace_args", "TEXT", NULL,                                                         \
      "name=value of all other stats and of those that XProf's grouping adds, separated by "       \
      "commas; for events on TPU and custom planes and XLA lines of GPUs, stats of their "         \
      "metadata come first; NULL if there are none",                                               \
      "XStat")                                                                                     \
    C(ED_FINGERPRINT, "hlo_fingerprint", "TEXT", NULL,                                             \
      "fingerprint of what the HLO instruction does, including the computations that it calls "    \
      "but no names; decimal; NULL if there is no instruction, or XProf finds no program",         \
      "HloInstructionProto")                                                                       \
    C(ED_FLOW, "flow", "INTEGER", NULL,                                                            \
      "flow id of a host event; NULL for other events and without the stat", "stat flow")          \
    C(ED_SOURCE_LINE, "source_line", "TEXT", NULL,                                                 \
      "source location, file:line; NULL without the stat, and for events of GPU streams",          \
      "stat source")                                                                               \
    C(ED_SRC_SLICE, "dcn_src_slice_id", "INTEGER", NULL, "slice that sent the message" DCN_OF,     \
      "stat dcn_source_slice_id")                                                                  \
    C(ED_DST_SLICE, "dcn_dst_slice_id", "INTEGER", NULL, "slice that received the message" DCN_OF, \
      "stat dcn_destination_slice_id")                                                             \
    C(ED_SRC_DEVICE, "dcn_src_logical_device_id", "INTEGER", NULL,                                 \
      "device that sent the message, by its number in the slice" DCN_OF,                           \
      "stat dcn_source_per_slice_device_id")                                                       \
    C(ED_DST_DEVICE, "dcn_dst_logical_device_id", "INTEGER", NULL,                                 \
      "device that received the message, by its number in the slice" DCN_OF,                       \
      "stat dcn_destination_per_slice_device_id")                                                  \
    C(ED_DCN_NAME, "dcn_collective_name", "TEXT", NULL,                                            \
      "label of the collective that the message belongs to" DCN_OF, "stat dcn_label")              \
    C(ED_DCN_DURATION, "dcn_duration_us", "INTEGER", "us",                                         \
      "time from sending to arrival of the message" DCN_OF, "stat duration_us")                    \
    C(ED_DCN_SIZE, "dcn_payload_size_bytes", "INTEGER", "bytes",                                   \
      "payload of the message, 0 if the event does not record it" DCN_OF,                          \
      "stat payload_size_bytes")                                                                   \
    C(ED_SOURCE, SOURCE_DOC)
enum { EVENTS_DB_COLUMNS(COLUMN_ENUM) };
static const Column Events_columns[] = {EVENTS_DB_COLUMNS(COLUMN_DOC)};

/* ---- lines that it shows ---- */

/* XProf shows lines called XLA Modules and XLA Ops of a GPU (AT_GPU_MODULE, AT_GPU_OP) like those
 * of a TPU, without nesting. */
enum Place {
    AT_NONE,
    AT_HOST,
    AT_GPU,
    AT_CUSTOM,
    AT_GPU_MODULE,
    AT_GPU_OP,
    AT_STEP,
    AT_MODULE,
    AT_OP,
    AT_OVERLAY,
    AT_TC_OVERLAY,
    AT_TPU
};
static const enum Place OF_CORE[] = {
    [1] = AT_STEP,    [2] = AT_MODULE,     [3] = AT_OP,
    [7] = AT_OVERLAY, [8] = AT_TC_OVERLAY, [9] = AT_OVERLAY}; /* by XLine.id */

static bool starts_with(const char *s, const char *prefix)
{
    return !strncmp(s, prefix, strlen(prefix));
}

/* Of several planes of this name, the last. */
static const Plane *cpu_plane(const Host *host)
{
    const Plane *found = NULL;
    for (size_t i = 0; i < host->n_planes; i++)
        if (!strcmp(host->planes[i].name->text, "/host:CPU")) found = &host->planes[i];
    return found;
}

static enum Place place_on_gpu(const Line *line)
{
    if (line->derived || line->kind == LINE_COUNTERS) return AT_NONE;
    if (!strcmp(line->name->text, "XLA Modules")) return AT_GPU_MODULE;
    return strcmp(line->name->text, "XLA Ops") ? AT_GPU : AT_GPU_OP;
}

static enum Place place_of(const Line *line, const Plane *cpu)
{
    const Plane *plane = line->plane;
    if (plane == cpu) return AT_HOST;
    if (plane->kind == PLANE_GPU) return place_on_gpu(line);
    if (is_numbered_core(plane))
        return line->proto_id > 0 && line->proto_id < (int64_t)COUNT(OF_CORE)
                   ? OF_CORE[line->proto_id]
                   : AT_NONE;
    if (starts_with(plane->name->text, "/device:CUSTOM:")) return AT_CUSTOM;
    return starts_with(plane->name->text, "/device:TPU:") ? AT_TPU : AT_NONE;
}

/* Do the metadata's stats count, and flops and bytes have columns? */
static bool shows_metadata(enum Place place) { return place >= AT_CUSTOM; }
static bool on_gpu(enum Place place)
{
    return place == AT_GPU || place == AT_GPU_MODULE || place == AT_GPU_OP;
}

/* ---- rows ---- */

/* The stats that have a column of their own, or say which HLO instruction it is. */
enum KeptStat {
    KEPT_CORRELATION,
    KEPT_FLOW,
    KEPT_SOURCE,
    KEPT_DETAILS,
    KEPT_TF_OP,
    KEPT_HLO_OP,
    KEPT_MODULE,
    KEPT_PROGRAM,
    KEPT_SHAPES,
    KEPT_FLOPS,
    KEPT_BYTES,
    N_KEPT
};

/* What a host's rows are made from. */
typedef struct {
    EventReader reader;
    EventAt event;
    bool reading, has_stats, has_detail; /* a line is open; `kept` is the event's; so is `detail` */
    Line *line;
    size_t n_lines; /* of the host that were looked at */
    enum Place place;
    const Plane *cpu;
    const Grouping *grouping;
    MetaBytes meta;    /* of the event's metadata, if its place shows that */
    Stat kept[N_KEPT]; /* TYPE_NONE: not there */
    bool has_stat[N_KEPT];
    HloDetails hlo;
    const HloDetail *detail; /* NULL: the event has no instruction */
    EventFinder finder;
} EventsRows;

static void Events_close(void *state)
{
    EventsRows *r = state;
    if (r->reading) event_reader_close(&r->reader);
    hlo_details_free(&r->hlo);
    event_finder_close(&r->finder);
    meta_bytes_free(&r->meta);
}

static uint64_t index_of(const EventsRows *r) { return r->event.event - r->line->first_event; }

static bool Events_next(RowCursor *c)
{
    EventsRows *r = c->state;
    if (!c->started) r->cpu = cpu_plane(c->host);
    for (;;) {
        if (r->reading && event_reader_next(&r->reader, &r->event)) {
            r->has_stats = r->has_detail = false;
            c->place = r->event.event;
            return true;
        }
        if (r->reading) event_reader_close(&r->reader);
        r->reading = false;
        while (!c->err.code && r->n_lines < c->host->n_lines &&
               (r->place = place_of(&c->host->lines[r->n_lines], r->cpu)) == AT_NONE)
            r->n_lines++;
        if (c->err.code || r->n_lines >= c->host->n_lines) return false;
        r->line = &c->host->lines[r->n_lines++];
        event_reader_open(&r->reader, r->line, EVENT_STATS, &c->err);
        r->reading = true;
    }
}

/* ---- stats ---- */

static void keep_stat(EventsRows *r, const Stat *stat)
{
    static const uint8_t kept_as[N_KNOWN_STATS] = {
        [STAT_CORRELATION_ID] = KEPT_CORRELATION + 1,
        [STAT_FLOW] = KEPT_FLOW + 1,
        [STAT_SOURCE] = KEPT_SOURCE + 1,
        [STAT_KERNEL_DETAILS] = KEPT_DETAILS + 1,
        [STAT_TF_OP] = KEPT_TF_OP + 1,
        [STAT_HLO_OP] = KEPT_HLO_OP + 1,
        [STAT_HLO_MODULE] = KEPT_MODULE + 1,
        [STAT_PROGRAM_ID] = KEPT_PROGRAM + 1,
        [STAT_SHAPE] = KEPT_SHAPES + 1,
        [STAT_FLOPS] = KEPT_FLOPS + 1,
        [STAT_BYTES_ACCESSED] = KEPT_BYTES + 1,
    };
    const StatMeta *meta = stat_meta(r->line->plane, stat->id);
    int kind = meta ? kept_as[meta->known] - 1 : -1;
    bool text = stat->type == TYPE_STR || stat->type == TYPE_REF;
    if (kind < 0) return;
    /* of several the last counts, also if it is no text and so names no op or kernel */
    r->kept[kind] = *stat;
    r->has_stat[kind] =
        text || (kind != KEPT_HLO_OP && kind != KEPT_MODULE && kind != KEPT_DETAILS);
}

/* The metadata's stats, which do not count everywhere. False: c->err is set. */
static bool meta_stats(RowCursor *c, EventsRows *r, StatIter *stats)
{
    *stats = (StatIter){0};
    if (!shows_metadata(r->place)) return true;
    if (!meta_bytes_read(&r->meta, c->host, r->event.meta, &c->err)) return false;
    *stats = stat_iter_of_meta(&r->meta);
    return true;
}

static bool read_stats(RowCursor *c, EventsRows *r)
{
    StatIter shared, own = stat_iter_of_event(&r->event);
    Stat stat;
    if (r->has_stats) return true;
    if (!meta_stats(c, r, &shared)) return false;
    memset(r->has_stat, 0, sizeof r->has_stat);
    while (stat_iter_next(&shared, &stat)) keep_stat(r, &stat);
    while (stat_iter_next(&own, &stat)) keep_stat(r, &stat);
    return r->has_stats = true;
}

/* The stat, NULL: the event has none. */
static const Stat *kept_stat(RowCursor *c, EventsRows *r, enum KeptStat which)
{
    return read_stats(c, r) && r->has_stat[which] ? &r->kept[which] : NULL;
}

static Slice kept_text(RowCursor *c, EventsRows *r, enum KeptStat which)
{
    const Stat *stat = kept_stat(c, r, which);
    return stat ? stat_text(r->line->plane, stat) : (Slice){"", 0};
}

/* Of kernels XProf shows an empty text as NULL. */
static bool is_empty_text(RowCursor *c, EventsRows *r, enum KeptStat which)
{
    const Stat *stat = kept_stat(c, r, which);
    return stat && (stat->type == TYPE_STR || stat->type == TYPE_REF) && !kept_text(c, r, which).n;
}

/* ---- groups ---- */

static const Grouping *grouping_of(RowCursor *c, EventsRows *r)
{
    if (r->grouping) return r->grouping;
    Statement s;
    statement_open(&s, row_db(c));
    r->grouping = host_plain_grouping(c->host, &c->err);
    statement_end(&s, &c->err);
    return r->grouping;
}

static int64_t grouped_value(RowCursor *c, EventsRows *r, bool eager)
{
    const Grouping *g = grouping_of(c, r);
    const LineGroups *groups = g ? line_groups(g, r->line) : NULL;
    const Packed *packed = !groups ? NULL : eager ? groups->eager : groups->groups;
    uint64_t at = index_of(r);
    return packed ? packed_at(&packed[at / CHUNK_EVENTS], (size_t)(at % CHUNK_EVENTS)) : -1;
}

/* ---- trace_args ---- */

/* What grouping says takes the place of the file's own stat, of several of the first. */
enum Grouped { GROUPED_STEP_NAME, GROUPED_GROUP, GROUPED_EAGER, N_GROUPED };
static const enum KnownStat grouped_stats[N_GROUPED] = {STAT_STEP_NAME, STAT_GROUP_ID,
                                                        STAT_IS_EAGER};

typedef struct {
    sqlite3_str *out;
    const Plane *plane;
    enum Place place;
    const char *grouped[N_GROUPED]; /* NULL: grouping says nothing */
    bool written[N_GROUPED];
} Args;

static bool has_column(enum Place place, unsigned known)
{
    switch (known) {
    case STAT_CORRELATION_ID:
    case STAT_GROUP_ID: return place == AT_HOST || place == AT_GPU;
    case STAT_FLOW: return place == AT_HOST;
    case STAT_SOURCE: return place != AT_GPU;
    case STAT_TF_OP: return place != AT_HOST;
    case STAT_FLOPS:
    case STAT_BYTES_ACCESSED: return shows_metadata(place);
    case STAT_KERNEL_DETAILS:
    case STAT_HLO_OP:
    case STAT_HLO_MODULE:
    case STAT_PROGRAM_ID:
    case STAT_SHAPE: return place == AT_GPU;
    default: return false;
    }
}

/* As XProf prints: six digits, and none of what is smaller than a double's usual range. */
static void add_real(sqlite3_str *out, double value)
{
    char digits[40];
    print_real(digits, sizeof digits, "%g",
               isnan(value)                      ? NAN
               : isnormal(value) || isinf(value) ? value
                                                 : copysign(0, value));
    sqlite3_str_appendall(out, digits);
}

static bool add_value(sqlite3_str *out, const Plane *plane, const Stat *stat)
{
    switch (stat->type) {
    case TYPE_DOUBLE: add_real(out, stat->number); break;
    case TYPE_UINT64: sqlite3_str_appendf(out, "%llu", (unsigned long long)stat->natural); break;
    case TYPE_INT64: sqlite3_str_appendf(out, "%lld", (long long)stat->integer); break;
    case TYPE_BYTES: sqlite3_str_appendall(out, "<opaque bytes>"); break;
    case TYPE_REF:
        sqlite3_str_append(out, stat_ref_text(plane, stat->natural)->text,
                           (int)stat_ref_text(plane, stat->natural)->n_bytes);
        break;
    case TYPE_STR: {
        char *fixed = sqlite3_malloc64(stat->n_bytes * 3 + 1);
        if (!fixed) return false;
        sqlite3_str_append(out, fixed, (int)utf8_repair(stat->bytes, stat->n_bytes, fixed));
        sqlite3_free(fixed);
        break;
    }
    default: break;
    }
    return true;
}

static void add_name(Args *args, const char *name, size_t n)
{
    if (sqlite3_str_length(args->out)) sqlite3_str_appendchar(args->out, 1, ',');
    sqlite3_str_append(args->out, name, (int)n);
    sqlite3_str_appendchar(args->out, 1, '=');
}

static bool add_args(Args *args, StatIter stats)
{
    Stat stat;
    while (stat_iter_next(&stats, &stat)) {
        const StatMeta *meta = stat_meta(args->plane, stat.id);
        const Text *name = stat_name(args->plane, &stat);
        const char *grouped = NULL;
        if (meta && has_column(args->place, meta->known)) continue;
        for (int i = 0; i < N_GROUPED && meta; i++)
            if (meta->known == grouped_stats[i] && !args->written[i])
                args->written[i] = true, grouped = args->grouped[i];
        add_name(args, name->text, name->n_bytes);
        if (grouped)
            sqlite3_str_appendall(args->out, grouped);
        else if (!add_value(args->out, args->plane, &stat))
            return false;
    }
    return true;
}

/* The group that the event names; where it has several stats group_id its own group may be another.
 */
static const Group *group_named_by(const EventsRows *r, int64_t group)
{
    const Grouping *g = r->grouping;
    if (group >= 0 && (uint64_t)group < g->n_groups && g->groups[group].root == r->event.event)
        return &g->groups[group];
    if (r->line->chunks[index_of(r) / CHUNK_EVENTS].repeats_group)
        for (size_t i = 0; i < g->n_groups; i++)
            if (g->groups[i].root == r->event.event) return &g->groups[i];
    return NULL;
}

static void args_column(RowCursor *c, EventsRows *r, sqlite3_context *ctx)
{
    char group_digits[24], eager_digits[24];
    int64_t group = grouped_value(c, r, false), eager = grouped_value(c, r, true);
    StatIter shared;
    if (!meta_stats(c, r, &shared) || c->err.code) return;
    const Group *g = group_named_by(r, group);
    Args args = {.out = sqlite3_str_new(NULL), .plane = r->line->plane, .place = r->place};
    if (g && g->explicit) args.grouped[GROUPED_STEP_NAME] = g->name ? g->name : "";
    if (group >= 0)
        args.grouped[GROUPED_GROUP] =
            sqlite3_snprintf(sizeof group_digits, group_digits, "%lld", (long long)group);
    if (eager >= 0)
        args.grouped[GROUPED_EAGER] =
            sqlite3_snprintf(sizeof eager_digits, eager_digits, "%lld", (long long)eager);
    bool memory = add_args(&args, shared) && add_args(&args, stat_iter_of_event(&r->event));
    for (int i = 0; i < N_GROUPED; i++) {
        if (!args.grouped[i] || args.written[i] || has_column(r->place, grouped_stats[i])) continue;
        add_name(&args, known_stat_names[grouped_stats[i]],
                 strlen(known_stat_names[grouped_stats[i]]));
        sqlite3_str_appendall(args.out, args.grouped[i]);
    }
    if (!memory)
        sqlite3_free(sqlite3_str_finish(args.out)), sqlite3_result_error_nomem(ctx);
    else
        result_built(ctx, args.out);
}

/* ---- HLO instructions and framework ops ---- */

/* The event of a module or step around an op of a TensorCore. */
static const Text *name_around(RowCursor *c, EventsRows *r, enum Enclosing which)
{
    Statement s;
    statement_open(&s, row_db(c));
    const uint64_t *around = line_enclosing(r->line, which, &c->err);
    statement_end(&s, &c->err);
    uint64_t event = around ? around[index_of(r)] : 0;
    if (!event) return NULL;
    Line *line = run_line_of_event(c->from->run, event - 1);
    EventAt at;
    return line && event_find(&r->finder, line, event - 1 - line->first_event, 0, &at, &c->err)
               ? at.meta->name
               : NULL;
}

/* The program of an op of a TensorCore: that of the module around it, "name(program id)". */
static const HloModule *module_around(RowCursor *c, EventsRows *r)
{
    const Text *name = name_around(c, r, IN_MODULE);
    const char *open = name ? memrchr(name->text, '(', name->n_bytes) : NULL;
    char *end;
    if (!open || open[1] < '0' || open[1] > '9') return NULL;
    uint64_t id = strtoull(open + 1, &end, 10);
    return strcmp(end, ")") ? NULL : hlo_sound_program(c->host, id, &c->err);
}

static const HloModule *module_of_kernel(RowCursor *c, EventsRows *r)
{
    const Stat *program = kept_stat(c, r, KEPT_PROGRAM);
    return program ? hlo_sound_program(c->host, stat_int_or_uint(program), &c->err) : NULL;
}

/* The instruction that a GPU's kernel or an op of a TensorCore is of; NULL: none that is known. */
static const HloDetail *instruction_of(RowCursor *c, EventsRows *r)
{
    if (r->has_detail || (r->place != AT_GPU && r->place != AT_OP))
        return r->has_detail ? r->detail : NULL;
    const HloModule *module = r->place == AT_OP ? module_around(c, r) : module_of_kernel(c, r);
    Slice name = r->place == AT_OP ? slice_of(r->event.meta->display_name)
                                   : slice_innermost(kept_text(c, r, KEPT_HLO_OP));
    const Xla__HloInstructionProto *op =
        module && !module->repaired ? hlo_find(module, name.text, name.n) : NULL;
    r->detail = op ? hlo_detail(&r->hlo, module, op, &c->err) : NULL;
    r->has_detail = !c->err.code;
    return r->detail;
}

static void result_slice(sqlite3_context *ctx, Slice s)
{
    result_utf8(ctx, (const uint8_t *)s.text, s.n);
}

static void tf_op_column(RowCursor *c, EventsRows *r, sqlite3_context *ctx, bool type)
{
    TfOp op;
    const HloDetail *detail;
    if (r->place == AT_HOST) {
        op = tf_op_parse(slice_of(r->event.meta->name));
        if (op.category != OP_TENSORFLOW && op.category != OP_JAX) return;
    } else if (r->place == AT_GPU && kept_stat(c, r, KEPT_HLO_OP)) {
        if (!(detail = instruction_of(c, r))) return;
        op = tf_op_parse((Slice){detail->provenance, strlen(detail->provenance)});
    } else if (kept_stat(c, r, KEPT_TF_OP) &&
               (r->kept[KEPT_TF_OP].type == TYPE_STR || r->kept[KEPT_TF_OP].type == TYPE_REF)) {
        if (r->place == AT_GPU && is_empty_text(c, r, KEPT_TF_OP)) return;
        op = tf_op_parse(kept_text(c, r, KEPT_TF_OP));
    } else {
        return;
    }
    result_slice(ctx, type ? op.type : op.name);
}

/* "(half[64,512];half[])" as an array. */
static void shapes_column(sqlite3_context *ctx, Slice shapes)
{
    if (shapes.n && *shapes.text == '(') shapes = (Slice){shapes.text + 1, shapes.n - 1};
    if (shapes.n && shapes.text[shapes.n - 1] == ')') shapes.n--;
    char *fixed = sqlite3_malloc64((sqlite3_uint64)shapes.n * 3 + 1);
    if (!fixed) return sqlite3_result_error_nomem(ctx);
    size_t n = utf8_repair((const uint8_t *)shapes.text, shapes.n, fixed);
    sqlite3_str *out = sqlite3_str_new(NULL);
    sqlite3_str_appendchar(out, 1, '[');
    for (size_t i = 0, start = 0; i <= n; i++) {
        if (i < n && fixed[i] != ';') continue;
        if (start) sqlite3_str_appendchar(out, 1, ',');
        json_text(out, fixed + start, i - start);
        start = i + 1;
    }
    sqlite3_str_appendchar(out, 1, ']');
    sqlite3_free(fixed);
    result_built(ctx, out);
}

static void instruction_column(RowCursor *c, EventsRows *r, sqlite3_context *ctx, int column)
{
    const HloDetail *detail = instruction_of(c, r);
    if (!kept_stat(c, r, KEPT_HLO_OP) && column == ED_INPUTS && r->place == AT_GPU &&
        kept_stat(c, r, KEPT_TF_OP) && kept_stat(c, r, KEPT_SHAPES))
        return shapes_column(ctx, kept_text(c, r, KEPT_SHAPES));
    if (!detail) return;
    if (column != ED_FINGERPRINT)
        sqlite3_result_text(ctx, column == ED_INPUTS ? detail->inputs : detail->outputs, -1,
                            SQLITE_TRANSIENT);
    else if (detail->has_fingerprint)
        result_id(ctx, detail->fingerprint);
}

static void hlo_name_column(RowCursor *c, EventsRows *r, sqlite3_context *ctx, bool module)
{
    if (r->place == AT_GPU) {
        if (!kept_stat(c, r, KEPT_HLO_OP)) return;
        Slice name = kept_text(c, r, module ? KEPT_MODULE : KEPT_HLO_OP);
        return result_slice(ctx, module ? name : slice_innermost(name));
    }
    if (r->place != AT_OP) return;
    if (!module) return result_text(ctx, r->event.meta->display_name);
    const Text *name = name_around(c, r, IN_MODULE);
    if (name) result_text(ctx, name);
}

/* ---- transfers between slices ---- */

enum Dcn {
    DCN_SRC_SLICE,
    DCN_DST_SLICE,
    DCN_SRC_DEVICE,
    DCN_DST_DEVICE,
    DCN_LABEL,
    DCN_DURATION,
    DCN_SIZE,
    N_DCN
};

static void dcn_column(EventsRows *r, sqlite3_context *ctx, enum Dcn wanted)
{
    static const char *const names[N_DCN] = {"dcn_source_slice_id",
                                             "dcn_destination_slice_id",
                                             "dcn_source_per_slice_device_id",
                                             "dcn_destination_per_slice_device_id",
                                             "dcn_label",
                                             "duration_us",
                                             "payload_size_bytes"};
    if (r->place != AT_HOST ||
        strcmp(r->event.meta->name->text, "MegaScale: Communication Transport Receive") != 0)
        return;
    Stat stat, found[N_DCN];
    bool has[N_DCN] = {false}, all = true;
    StatIter stats = stat_iter_of_event(&r->event);
    while (stat_iter_next(&stats, &stat))
        for (int i = 0; i < N_DCN; i++)
            if (!strcmp(stat_name(r->line->plane, &stat)->text, names[i]))
                found[i] = stat, has[i] = true;
    for (int i = 0; i < N_DCN; i++) all &= has[i] || i == DCN_SIZE;
    if (!all || !stat_int_or_uint(&found[DCN_DURATION]))
        return; /* without a duration its clocks are apart, to XProf */
    if (wanted == DCN_LABEL)
        result_stat(ctx, r->line->plane, &found[wanted]);
    else if (wanted == DCN_DURATION)
        result_u64(ctx, stat_int_or_uint(&found[wanted]));
    else
        sqlite3_result_int64(ctx, has[wanted] ? stat_int(&found[wanted]) : 0);
}

/* ---- columns ---- */

static void device_column(const EventsRows *r, sqlite3_context *ctx)
{
    const Plane *plane = r->line->plane;
    if (r->place == AT_HOST)
        sqlite3_result_text(ctx, "cpu:0", -1, SQLITE_STATIC);
    else if (on_gpu(r->place))
        result_owned(ctx, sqlite3_mprintf("gpu:%lld", (long long)plane->proto_id));
    else if (r->place == AT_CUSTOM)
        result_text(ctx, plane->name);
    else
        sqlite3_result_text(ctx, plane->name->text + strlen("/device:"), -1, SQLITE_STATIC);
}

static void result_prefixed(sqlite3_context *ctx, const char *prefix, const Text *name)
{
    sqlite3_str *out = sqlite3_str_new(NULL);
    sqlite3_str_appendall(out, prefix);
    sqlite3_str_append(out, name->text, (int)name->n_bytes);
    result_built(ctx, out);
}

static void kernel_name_column(const EventsRows *r, sqlite3_context *ctx)
{
    const Text *name = r->event.meta->name;
    static const char *const before[] = {[AT_STEP] = "step:",
                                         [AT_MODULE] = "HLO Module:",
                                         [AT_GPU_MODULE] = "HLO Module:",
                                         [AT_TC_OVERLAY] = "TC Overlay:",
                                         [AT_TPU] = NULL};
    if (before[r->place])
        result_prefixed(ctx, before[r->place], name);
    else if (r->place != AT_TPU)
        result_text(ctx, name);
}

static void correlation_column(RowCursor *c, EventsRows *r, sqlite3_context *ctx)
{
    const Stat *stat =
        r->place == AT_HOST || r->place == AT_GPU ? kept_stat(c, r, KEPT_CORRELATION) : NULL;
    if (!stat) return;
    bool counts = stat->type == TYPE_UINT64 || (stat->type == TYPE_INT64 && r->place == AT_GPU);
    sqlite3_result_int64(ctx, counts ? (uint32_t)stat->natural : 0);
}

static void self_column(RowCursor *c, EventsRows *r, sqlite3_context *ctx)
{
    bool nests = r->place >= AT_STEP;
    Statement s;
    statement_open(&s, row_db(c));
    const int64_t *self = nests ? line_self_ns(r->line, &c->err) : NULL;
    statement_end(&s, &c->err);
    int64_t value = self ? self[index_of(r)] : event_duration_ns(&r->event);
    sqlite3_result_int64(ctx, nests && value < 0 ? 0 : value);
}

static void step_column(RowCursor *c, EventsRows *r, sqlite3_context *ctx)
{
    if (r->place == AT_HOST || r->place == AT_GPU) {
        int64_t group = grouped_value(c, r, false);
        sqlite3_result_text(ctx, group >= 0 ? group_name(r->grouping, group) : NULL, -1,
                            SQLITE_TRANSIENT);
        return;
    }
    const Text *name = r->place == AT_OP ? name_around(c, r, IN_STEP) : NULL;
    if (name) result_prefixed(ctx, "step:", name);
}

static void category_column(const EventsRows *r, sqlite3_context *ctx)
{
    if (r->place == AT_HOST || r->place == AT_GPU)
        sqlite3_result_text(ctx, r->place == AT_HOST ? "host" : "device", -1, SQLITE_STATIC);
    else
        result_text(ctx, r->line->name);
}

static void stat_column(RowCursor *c, EventsRows *r, sqlite3_context *ctx, enum KeptStat which)
{
    const Stat *stat = kept_stat(c, r, which);
    if (!stat) return;
    if (which == KEPT_FLOPS || which == KEPT_BYTES)
        result_u64(ctx, stat_int_or_uint(stat));
    else
        result_stat(ctx, r->line->plane, stat);
}

static void Events_column(RowCursor *c, sqlite3_context *ctx, int column)
{
    EventsRows *r = c->state;
    uint32_t line_id = (uint32_t)r->line->proto_id;
    bool on_host = r->place == AT_HOST, of_kernel = r->place == AT_GPU;
    switch (column) {
    case ED_DEVICE: device_column(r, ctx); break;
    case ED_STREAM:
    case ED_THREAD:
        if (on_host == (column == ED_THREAD)) sqlite3_result_int64(ctx, line_id);
        break;
    case ED_THREAD_NAME:
        if (on_host) result_text(ctx, r->line->name);
        break;
    case ED_CORRELATION: correlation_column(c, r, ctx); break;
    case ED_KERNEL_NAME: kernel_name_column(r, ctx); break;
    case ED_KERNEL_DETAILS:
        if (of_kernel && !is_empty_text(c, r, KEPT_DETAILS)) stat_column(c, r, ctx, KEPT_DETAILS);
        break;
    case ED_TF_OP_NAME:
    case ED_TF_OP_TYPE: tf_op_column(c, r, ctx, column == ED_TF_OP_TYPE); break;
    case ED_HLO_OP:
    case ED_HLO_MODULE: hlo_name_column(c, r, ctx, column == ED_HLO_MODULE); break;
    case ED_START: result_u64(ctx, (uint64_t)event_start_ns(r->line, &r->event)); break;
    case ED_END: result_u64(ctx, (uint64_t)event_end_ns(r->line, &r->event)); break;
    case ED_SELF: self_column(c, r, ctx); break;
    case ED_STEP: step_column(c, r, ctx); break;
    case ED_CATEGORY: category_column(r, ctx); break;
    case ED_FLOPS:
    case ED_MEMORY:
        if (shows_metadata(r->place))
            stat_column(c, r, ctx, column == ED_FLOPS ? KEPT_FLOPS : KEPT_BYTES);
        break;
    case ED_INPUTS:
    case ED_OUTPUTS:
    case ED_FINGERPRINT: instruction_column(c, r, ctx, column); break;
    case ED_ARGS: args_column(c, r, ctx); break;
    case ED_FLOW:
        if (on_host) stat_column(c, r, ctx, KEPT_FLOW);
        break;
    case ED_SOURCE_LINE:
        if (!of_kernel) stat_column(c, r, ctx, KEPT_SOURCE);
        break;
    case ED_SRC_SLICE: dcn_column(r, ctx, DCN_SRC_SLICE); break;
    case ED_DST_SLICE: dcn_column(r, ctx, DCN_DST_SLICE); break;
    case ED_SRC_DEVICE: dcn_column(r, ctx, DCN_SRC_DEVICE); break;
    case ED_DST_DEVICE: dcn_column(r, ctx, DCN_DST_DEVICE); break;
    case ED_DCN_NAME: dcn_column(r, ctx, DCN_LABEL); break;
    case ED_DCN_DURATION: dcn_column(r, ctx, DCN_DURATION); break;
    case ED_DCN_SIZE: dcn_column(r, ctx, DCN_SIZE); break;
    default: break;
    }
}

static double Events_count(const Counts *counts) { return counts->events; }
static const RowSource Events_rows = {
    .next = Events_next,
    .reads_events = true,
    .column = Events_column,
    .state_bytes = sizeof(EventsRows),
    .close = Events_close,
    .count = Events_count,
    .needs = NEED_EVENTS,
    .nothing =
        "no event is on a line that XProf's Events DB includes (threads of /host:CPU, streams, "
        "lines of TPU cores, custom planes)"};
const Table Events_table = {
    "Events",
    "one event as in XProf's Events DB (`xprof query_events_db`), with XProf's column names",
    Events_columns,
    COUNT(Events_columns),
    &row_table_module,
    &Events_rows,
    100000};
