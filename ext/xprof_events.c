// SPDX-License-Identifier: Apache-2.0
/* xprof_events.c: the table xprof_events: XProf's Events DB of a run, with its 31 columns under
 * their names.
 *
 *   SELECT hlo_op, count(*), sum(self_time_ns) FROM xprof_events('logs')
 *   WHERE category = 'XLA Ops' GROUP BY 1 ORDER BY 3 DESC;
 *
 * Rows are the file's events: all of /host:CPU; of GPUs all except derived lines and _counters_; of
 * a TensorCore those on the lines that OF_CORE names; all of other TPU planes and custom planes. An
 * event's stats are read when a column needs them. */
#define _GNU_SOURCE
#include "../loader/analysis/steps/parent_events.h"
#include "xprof_events_row.h"

SQLITE_EXTENSION_INIT3

#define DCN_OF                                                                                     \
    "; NULL unless the event is a host event named MegaScale: Communication Transport Receive "    \
    "with slices, devices, label and a duration above 0"
#define EVENTS_DB_COLUMNS(C)                                                                       \
    C(ED_DEVICE, "device", "TEXT", NULL,                                                           \
      "cpu:0 for the host; gpu: and XPlane.id; for a TPU the name of the plane without /device:; " \
      "for a custom plane its entire name",                                                        \
      "XPlane")                                                                                    \
    C(ED_STREAM, "stream_id", "INTEGER", NULL,                                                     \
      "id of the device's line, modulo 2^32; NULL for host events", "XLine.id")                    \
    C(ED_THREAD, "thread_id", "INTEGER", NULL,                                                     \
      "id of the host thread's line, modulo 2^32; NULL for device events", "XLine.id")             \
    C(ED_THREAD_NAME, "thread_name", "TEXT", NULL,                                                 \
      "name of the host thread; NULL for device events", "XLine.name")                             \
    C(ED_CORRELATION, "correlation_id", "INTEGER", NULL,                                           \
      "correlation_id of a host or GPU event, modulo 2^32; 0 if the stat is not a uint64 (on a "   \
      "GPU: not an integer); NULL without the stat, and on TPU and custom planes and XLA lines "   \
      "of GPUs",                                                                                   \
      "stat correlation_id")                                                                       \
    C(ED_KERNEL_NAME, "kernel_name", "TEXT", NULL,                                                 \
      "name of the event; prefixed with step: (steps of a TensorCore), HLO Module: (modules of a " \
      "TensorCore or GPU) or TC Overlay: (overlays of a TensorCore); NULL on other TPU planes",    \
      "XEventMetadata.name")                                                                       \
    C(ED_KERNEL_DETAILS, "kernel_details", "TEXT", NULL,                                           \
      "launch parameters of a GPU kernel; NULL for other events, on XLA lines of GPUs, and if "    \
      "the text is empty",                                                                         \
      "stat kernel_details")                                                                       \
    C(ED_TF_OP_NAME, "tf_op_name", "TEXT", NULL,                                                   \
      "name of the framework op: from the event's name on the host; on a GPU from the HLO "        \
      "instruction, or from the stat if the event has no hlo_op; from the stat on a TPU; NULL if " \
      "there is none",                                                                             \
      "XEventMetadata.name, op_name of the program, stat tf_op")                                   \
    C(ED_TF_OP_TYPE, "tf_op_type", "TEXT", NULL,                                                   \
      "type of the framework op in tf_op_name; NULL if there is none", "as tf_op_name")            \
    C(ED_HLO_OP, "hlo_op", "TEXT", NULL,                                                           \
      "HLO instruction of a GPU kernel or TensorCore op; empty if XProf shows an empty text; "     \
      "NULL for other events",                                                                     \
      "stat hlo_op, XEventMetadata.display_name")                                                  \
    C(ED_HLO_MODULE, "hlo_module", "TEXT", NULL,                                                   \
      "HLO module of a GPU kernel or TensorCore op (for the latter, the name of the module event " \
      "that includes it); NULL if there is none",                                                  \
      "stat hlo_module, XEvent")                                                                   \
    C(ED_START, "start_ns", "INTEGER", "ns",                                                       \
      "start of the event, rounded down to 1 ns (Unix times to 256 ns). As in XProf, it is 2^64 "  \
      "ps too late if offset_ps is negative, and 2^64 too large, as decimal TEXT, before the "     \
      "session",                                                                                   \
      "XLine.timestamp_ns, XEvent.offset_ps")                                                      \
    C(ED_END, "end_ns", "INTEGER", "ns",                                                           \
      "end of the event: start_ns plus the duration, rounded down to 1 ns; as in XProf, 2^64 ps "  \
      "too late if duration_ps is negative",                                                       \
      "XEvent")                                                                                    \
    C(ED_SELF, "self_time_ns", "INTEGER", "ns",                                                    \
      "duration of the event; on TPU planes, as in XProf, without the directly nested events "     \
      "(computed in ns, in stored order)",                                                         \
      "XProf")                                                                                     \
    C(ED_STEP, "step", "TEXT", NULL,                                                               \
      "step of the event: for host and GPU events the step to which XProf's grouping assigns it, " \
      "for TensorCore ops the step event that includes it; NULL if there is none",                 \
      "XProf's grouping")                                                                          \
    C(ED_CATEGORY, "category", "TEXT", NULL,                                                       \
      "host, device, or the name of the line (on TPU and custom planes, and XLA lines of GPUs)",   \
      "XLine.name")                                                                                \
    C(ED_FLOPS, "flops", "INTEGER", "FLOP",                                                        \
      "floating-point operations of an event on a TPU or custom plane, or on an XLA line of a "    \
      "GPU; 0 if the stat is not an integer; NULL for other events and without the stat",          \
      "stat flops")                                                                                \
    C(ED_MEMORY, "memory_accessed", "INTEGER", "bytes",                                            \
      "bytes accessed by an event on a TPU or custom plane, or on an XLA line of a GPU; 0 if the " \
      "stat is not an integer; NULL for other events and without the stat",                        \
      "stat bytes_accessed")                                                                       \
    C(ED_INPUTS, "input_tensors", "TEXT", "JSON",                                                  \
      "array of the shapes of the HLO instruction's operands, or of those in the stat of a GPU "   \
      "kernel with a tf_op and no hlo_op; NULL if there are none, or XProf finds no program",      \
      "HloInstructionProto, stat shape")                                                           \
    C(ED_OUTPUTS, "output_tensors", "TEXT", "JSON",                                                \
      "array with the shape of the HLO instruction's result; NULL if there is no instruction, or " \
      "XProf finds no program",                                                                    \
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
static const Column xprof_events_columns[] = {EVENTS_DB_COLUMNS(COLUMN_DOC)};

/* ---- rows ---- */

static void xprof_events_close(void *state)
{
    EventsRows *r = state;
    if (r->reading) event_reader_close(&r->reader);
    hlo_details_free(&r->hlo);
    event_finder_close(&r->finder);
    meta_bytes_free(&r->meta);
}

static bool xprof_events_next(RowCursor *c)
{
    EventsRows *r = c->state;
    if (!c->started) r->cpu = events_cpu_plane(c->host);
    for (;;) {
        if (r->reading && event_reader_next(&r->reader, &r->event)) {
            r->has_stats = r->has_detail = false;
            c->place = r->event.event;
            return true;
        }
        if (r->reading) event_reader_close(&r->reader);
        r->reading = false;
        while (!c->err.code && r->n_lines < c->host->n_lines &&
               (r->place = events_place(&c->host->lines[r->n_lines], r->cpu)) == AT_NONE)
            r->n_lines++;
        if (c->err.code || r->n_lines >= c->host->n_lines) return false;
        r->line = &c->host->lines[r->n_lines++];
        event_reader_open(&r->reader, r->line, EVENT_STATS, &c->err);
        r->reading = true;
    }
}

/* ---- HLO instructions and framework ops ---- */

/* Returns the name of the module or step around an op of a TensorCore. */
static const Text *name_around(RowCursor *c, EventsRows *r, enum ParentKind which)
{
    Statement s;
    statement_open(&s, row_db(c));
    const uint64_t *around = line_parent_events(r->line, which, &c->err);
    statement_end(&s, &c->err);
    uint64_t event = around ? around[index_of(r)] : 0;
    if (!event) return NULL;
    Line *line = run_line_of_event(c->from->run, event - 1);
    EventAt at;
    return line && event_find(&r->finder, line, event - 1 - line->first_event, 0, &at, &c->err)
               ? at.meta->name
               : NULL;
}

/* Returns the program of an op of a TensorCore, from the module around it, "name(program id)". */
static const HloModule *module_around(RowCursor *c, EventsRows *r)
{
    const Text *name = name_around(c, r, PARENT_MODULE);
    const char *open = name ? memrchr(name->text, '(', name->n_bytes) : NULL;
    char *end;
    if (!open || open[1] < '0' || open[1] > '9') return NULL;
    uint64_t id = strtoull(open + 1, &end, 10);
    return strcmp(end, ")") ? NULL : hlo_valid_program(c->host, id, &c->err);
}

static const HloModule *module_of_kernel(RowCursor *c, EventsRows *r)
{
    const Stat *program = kept_stat(c, r, KEPT_PROGRAM);
    return program ? hlo_valid_program(c->host, stat_int_or_uint(program), &c->err) : NULL;
}

/* Returns the instruction of a GPU's kernel or of an op of a TensorCore; NULL if unknown. */
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

static void result_repaired(sqlite3_context *ctx, Slice s) { result_utf8(ctx, s.text, s.n); }

static void tf_op_column(RowCursor *c, EventsRows *r, sqlite3_context *ctx, bool type)
{
    TfOp op;
    const HloDetail *detail;
    if (r->place == AT_HOST) {
        op = tf_op_parse(slice_of(r->event.meta->name));
        if (op.category != OP_TENSORFLOW && op.category != OP_JAX) return;
    } else if (r->place == AT_GPU && kept_stat(c, r, KEPT_HLO_OP)) {
        if (!(detail = instruction_of(c, r))) return;
        op = tf_op_parse(slice_of_string(detail->provenance));
    } else if (kept_stat(c, r, KEPT_TF_OP) &&
               (r->kept[KEPT_TF_OP].type == TYPE_STR || r->kept[KEPT_TF_OP].type == TYPE_REF)) {
        if (r->place == AT_GPU && is_empty_text(c, r, KEPT_TF_OP)) return;
        op = tf_op_parse(kept_text(c, r, KEPT_TF_OP));
    } else {
        return;
    }
    result_repaired(ctx, type ? op.type : op.name);
}

/* Writes "(half[64,512];half[])" as an array. */
static void shapes_column(sqlite3_context *ctx, Slice shapes)
{
    if (shapes.n && *shapes.text == '(') shapes = (Slice){shapes.text + 1, shapes.n - 1};
    if (shapes.n && shapes.text[shapes.n - 1] == ')') shapes.n--;
    char *fixed = sqlite3_malloc64((sqlite3_uint64)shapes.n * 3 + 1);
    if (!fixed) {
        sqlite3_result_error_nomem(ctx);
        return;
    }
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
        kept_stat(c, r, KEPT_TF_OP) && kept_stat(c, r, KEPT_SHAPES)) {
        shapes_column(ctx, kept_text(c, r, KEPT_SHAPES));
        return;
    }
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
        result_repaired(ctx, module ? name : slice_innermost(name));
        return;
    }
    if (r->place != AT_OP) return;
    if (!module) {
        result_text(ctx, r->event.meta->display_name);
        return;
    }
    const Text *name = name_around(c, r, PARENT_MODULE);
    result_text(ctx, name);
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
        return; /* without a duration, XProf treats its clocks as different */
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
        result_static(ctx, "cpu:0");
    else if (on_gpu(r->place))
        result_owned(ctx, sqlite3_mprintf("gpu:%lld", (long long)plane->proto_id));
    else if (r->place == AT_CUSTOM)
        result_text(ctx, plane->name);
    else
        result_static(ctx, plane->name->text + strlen("/device:"));
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
    sqlite3_result_int64(ctx, counts ? (uint32_t)stat->u64 : 0);
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
    const Text *name = r->place == AT_OP ? name_around(c, r, PARENT_STEP) : NULL;
    if (name) result_prefixed(ctx, "step:", name);
}

static void category_column(const EventsRows *r, sqlite3_context *ctx)
{
    if (r->place == AT_HOST || r->place == AT_GPU)
        result_static(ctx, r->place == AT_HOST ? "host" : "device");
    else
        result_text(ctx, r->line->name);
}

static void stat_column(RowCursor *c, EventsRows *r, sqlite3_context *ctx, enum KeptStat which)
{
    const Stat *stat = kept_stat(c, r, which);
    if (!stat) return;
    if (which == KEPT_FLOPS || which == KEPT_BYTES || which == KEPT_FLOW)
        result_u64(ctx, stat_int_or_uint(stat));
    else
        result_repaired(ctx, stat_text(r->line->plane, stat));
}

static void xprof_events_column(RowCursor *c, sqlite3_context *ctx, int column)
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

static double xprof_events_count(const Counts *counts) { return counts->events; }
static const RowSource xprof_events_rows = {
    .next = xprof_events_next,
    .reads_events = true,
    .column = xprof_events_column,
    .state_bytes = sizeof(EventsRows),
    .close = xprof_events_close,
    .count = xprof_events_count,
    .needs = NEED_EVENTS,
    .nothing = "no event is on a line that XProf's Events DB includes (threads of /host:CPU, "
               "streams, lines of TPU cores, custom planes)"};
const Table xprof_events_table = {
    "xprof_events",
    "one event as in XProf's Events DB (`xprof query_events_db`), with XProf's column names",
    xprof_events_columns,
    COUNT(xprof_events_columns),
    &row_table_module,
    &xprof_events_rows,
    100000,
    "0.1.0",
    "SELECT category, count(*), sum(self_time_ns) FROM xprof_events GROUP BY category"};
