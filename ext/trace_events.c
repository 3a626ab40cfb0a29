// SPDX-License-Identifier: Apache-2.0
/* trace_events.c: the table of all events: its columns; see trace_events.h.
 *
 *   SELECT name, start_ps, duration_ps, self_ps
 *     FROM trace_events('logs') WHERE plane = '/device:GPU:0' ORDER BY start_ps LIMIT 3;
 *
 * Stats are decoded only for rows whose stat columns are read. */
#include "trace_events.h"

#include "../loader/analysis/ops/gpu_op_name.h"
#include "../loader/analysis/steps/parent_events.h"
#include "../loader/format/hlo.h"
#include "../loader/store/events.h"

#include <math.h>
SQLITE_EXTENSION_INIT3

static const Column events_columns[] = {EVENTS_COLUMNS(COLUMN_DOC)};

/* ---- cursor ---- */

static int events_open(sqlite3_vtab *vtab, sqlite3_vtab_cursor **cursor)
{
    EventsCursor *c = sqlite3_malloc64(sizeof *c);
    if (!c) return SQLITE_NOMEM;
    rowids_open(&((ProfTable *)vtab)->rowids);
    *c = (EventsCursor){.eof = true};
    *cursor = &c->base;
    return SQLITE_OK;
}

void events_free(EventsCursor *c)
{
    events_forget(c);
    prof_release(c->sources, c->n_sources);
    source_names_free(&c->asked);
    prof_free(c->units);
    prof_free(c->list);
    prof_free(c->match);
    prof_free(c->values);
    prof_free(c->spare);
    event_values_free(&c->facts);
    window_free(&c->window);
    window_free(&c->stat_window);
    prof_release_kept(&c->kept);
    rowids_close(&((ProfTable *)c->base.pVtab)->rowids);
}

static int events_close(sqlite3_vtab_cursor *cursor)
{
    events_free((EventsCursor *)cursor);
    sqlite3_free(cursor);
    return SQLITE_OK;
}

static int events_eof(sqlite3_vtab_cursor *cursor) { return ((EventsCursor *)cursor)->eof; }

static int events_rowid(sqlite3_vtab_cursor *cursor, sqlite3_int64 *rowid)
{
    const EventsCursor *c = (EventsCursor *)cursor;
    return prof_rowid(cursor->pVtab, c->unit.from, event_of(c), rowid);
}

/* ---- columns ---- */

static const StatValue *fact(EventsCursor *c, enum KnownStat known)
{
    static const StatValue none;
    uint64_t event = index_of(c);
    if (c->facts_line != c->unit.line || c->facts_event != event) {
        const Plane *plane = c->unit.line->plane;
        uint64_t position = (uint64_t)value_of(c, COL_POSITION);
        c->facts_line = NULL;
        event_values_of(&c->facts, plane, &plane->event_metas[value_of(c, COL_META)], position);
        if (c->err.code) return &none;
        c->facts_line = c->unit.line, c->facts_event = event;
    }
    return event_values_get(&c->facts, known, &c->stat_window, &c->err);
}

/* Writes an integer. As with SQLite's INTEGER affinity, a double with an integer value counts. */
static void result_number(sqlite3_context *ctx, const StatValue *f)
{
    if (f->type == TYPE_INT64) sqlite3_result_int64(ctx, f->integer);
    if (f->type == TYPE_UINT64) result_u64(ctx, f->u64);
    if (f->type != TYPE_DOUBLE) return;
    if (fabs(f->number) < 9223372036854775808.0 && (double)(int64_t)f->number == f->number)
        sqlite3_result_int64(ctx, (int64_t)f->number);
    else
        sqlite3_result_double(ctx, f->number);
}

static void result_string(sqlite3_context *ctx, const char *text, size_t n)
{
    sqlite3_result_text64(ctx, text, n, SQLITE_TRANSIENT, SQLITE_UTF8);
}

static void result_hlo_op(sqlite3_context *ctx, Slice op)
{
    if (op.n) result_string(ctx, op.text, op.n);
}

void result_module(sqlite3_context *ctx, const Text *name)
{
    Slice module = slice_without_id(slice_of(name));
    if (module.n) result_string(ctx, module.text, module.n);
}

static bool on_tpu(const Line *line)
{
    return line->plane->kind == PLANE_TENSORCORE || line->plane->kind == PLANE_SPARSECORE;
}

static void hlo_module_column(EventsCursor *c, sqlite3_context *ctx)
{
    const StatValue *f = fact(c, STAT_HLO_MODULE);
    int64_t id;
    if (f->type == TYPE_STR) {
        result_module(ctx, f->text);
    } else if (on_tpu(c->unit.line) && c->unit.line->kind == LINE_MODULES) {
        result_module(ctx, meta_of(c)->name);
    } else if (on_tpu(c->unit.line) && stat_value_integer(fact(c, STAT_PROGRAM_ID), &id)) {
        const Text *name = hlo_program_entry(c->unit.line->plane->host, (uint64_t)id);
        if (name) result_module(ctx, name);
    }
}

static void hlo_op_column(EventsCursor *c, sqlite3_context *ctx)
{
    const StatValue *f = fact(c, STAT_HLO_OP);
    if (f->type == TYPE_STR)
        result_hlo_op(ctx, hlo_op_in(slice_of(f->text)));
    else if (line_has_hlo_ops(c->unit.line))
        result_hlo_op(ctx, hlo_op_of_meta(meta_of(c)));
}

static void source_column(EventsCursor *c, sqlite3_context *ctx, bool line)
{
    const StatValue *f = fact(c, STAT_SOURCE);
    if (f->type != TYPE_STR || !f->text->n_bytes) return;
    const char *s = f->text->text, *colon = strrchr(s, ':');
    bool numbered = colon && colon[1] && strspn(colon + 1, "0123456789") == strlen(colon + 1) &&
                    strlen(colon + 1) < 10;
    if (line && numbered) sqlite3_result_int(ctx, atoi(colon + 1));
    if (!line) result_string(ctx, s, numbered ? (size_t)(colon - s) : f->text->n_bytes);
}

/* Returns whether a text is x,y,z of a launch, each from 1 to 2^31-1. Old profilers left the field
 * uninitialised in some launches. */
static bool is_launch_size(const char *text, size_t n)
{
    uint64_t size = 0;
    int n_sizes = 0;
    for (size_t i = 0; i <= n; i++) {
        if (i < n && text[i] != ',') {
            size = size > INT32_MAX ? size : size * 10 + (uint64_t)(text[i] - '0');
        } else {
            if (!size || size > INT32_MAX) return false;
            n_sizes++, size = 0;
        }
    }
    return n_sizes == 3;
}

/* Writes the value of a key in kernel_details, "regs:32 grid:8,1,1 block:128,1,1". The last token
 * of the form key:value counts. */
static void details_column(EventsCursor *c, sqlite3_context *ctx, const char *key)
{
    const StatValue *f = fact(c, STAT_KERNEL_DETAILS);
    if (f->type != TYPE_STR) return;
    size_t key_length = strlen(key), n;
    const char *found = NULL;
    size_t found_length = 0;
    for (const char *s = f->text->text; *s; s += n + (s[n] != 0)) {
        n = strcspn(s, " \n");
        if (n > key_length + 1 && !memcmp(s, key, key_length) && s[key_length] == ':' &&
            strspn(s + key_length + 1, "0123456789,") == n - key_length - 1)
            found = s + key_length + 1, found_length = n - key_length - 1;
    }
    if (found && is_launch_size(found, found_length)) result_string(ctx, found, found_length);
}

static void metadata_id_column(EventsCursor *c, sqlite3_context *ctx)
{
    const Plane *plane = c->unit.line->plane;
    if (c->unit.group) {
        sqlite3_result_int64(ctx, c->unit.group->id);
        return;
    }
    size_t meta = (size_t)value_of(c, COL_META);
    if (meta < plane->n_declared) {
        sqlite3_result_int64(ctx, plane->event_metas[meta].id);
        return;
    }
    int64_t id;
    if (event_id_at(&c->stat_window, (uint64_t)value_of(c, COL_POSITION), &id, &c->err))
        sqlite3_result_int64(ctx, id);
}

/* Without a length SQLite measures the text; with one, SQLite copies it when a client reads it.
 * Either way is slower than needed. */
static void name_column(EventsCursor *c, sqlite3_context *ctx)
{
    const Text *name = meta_of(c)->name;
    if (c->plan & PLAN_COMPARED)
        sqlite3_result_text(ctx, name->text, (int)name->n_bytes, SQLITE_STATIC);
    else
        result_text(ctx, name);
}

static void short_name_column(EventsCursor *c, sqlite3_context *ctx)
{
    const Plane *plane = c->unit.line->plane;
    const EventMeta *meta = meta_of(c);
    Run *run = c->unit.from->run;
    if (plane->kind != PLANE_GPU) {
        result_text(ctx, meta->display_name->n_bytes ? meta->display_name : meta->name);
        return;
    }
    if (c->short_names_of != run) {
        Statement s;
        statement_open(&s, events_db(c));
        c->short_names = run_short_names(run, &c->err);
        statement_end(&s, &c->err);
        if (!c->short_names) return;
        c->short_names_of = run;
    }
    const Text *name = short_name(c->short_names, meta->name);
    result_text(ctx, name ? name : meta->name);
}

static void nesting_column(EventsCursor *c, sqlite3_context *ctx, enum NestingColumn column)
{
    if (c->nesting_of != c->unit.line) {
        Statement s;
        statement_open(&s, events_db(c));
        c->nesting = line_nesting(c->unit.line, &c->err);
        statement_end(&s, &c->err);
        if (!c->nesting) return;
        c->nesting_of = c->unit.line;
    }
    uint64_t i = index_of(c);
    int64_t value = packed_at(&c->nesting[i / CHUNK_EVENTS].columns[column], i % CHUNK_EVENTS);
    if (column != NEST_PARENT)
        sqlite3_result_int64(ctx, value);
    else if (value)
        sqlite3_result_int64(ctx, (int64_t)event_of(c) - value);
}

static void enclosing_column(EventsCursor *c, sqlite3_context *ctx, enum ParentKind which)
{
    Statement s;
    statement_open(&s, events_db(c));
    const uint64_t *enclosing = line_parent_events(c->unit.line, which, &c->err);
    statement_end(&s, &c->err);
    uint64_t event = enclosing ? enclosing[index_of(c)] : 0;
    if (event) sqlite3_result_int64(ctx, (sqlite3_int64)event - 1);
}

/* Appends all stats of a walk. False if memory runs out. */
static bool json_stats(sqlite3_str *out, const Plane *plane, StatIter stats)
{
    Stat stat;
    bool complete = true;
    while (stat_iter_next(&stats, &stat)) complete &= json_stat(out, plane, &stat);
    return complete;
}

static void stats_column(EventsCursor *c, sqlite3_context *ctx)
{
    const Plane *plane = c->unit.line->plane;
    const EventMeta *meta = meta_of(c);
    sqlite3_str *out = sqlite3_str_new(NULL);
    sqlite3_str_appendchar(out, 1, '{');
    StatIter own = stat_iter_at(&c->stat_window, (uint64_t)value_of(c, COL_POSITION), &c->err);
    bool complete = json_stats(out, plane, own);
    MetaBytes bytes = {0};
    if (meta->has_stats && !c->err.code && meta_bytes_read(&bytes, plane->host, meta, &c->err))
        complete &= json_stats(out, plane, stat_iter_of_meta(&bytes));
    bool nomem = !complete || sqlite3_str_errcode(out);
    meta_bytes_free(&bytes);
    sqlite3_str_appendchar(out, 1, '}');
    int length = sqlite3_str_length(out);
    char *text = sqlite3_str_finish(out);
    if (nomem || !text) {
        sqlite3_free(text);
        sqlite3_result_error_nomem(ctx);
    } else {
        sqlite3_result_text(ctx, text, length, sqlite3_free);
        sqlite3_result_subtype(ctx, 'J');
    }
}

static const Grouping *grouping_of(EventsCursor *c)
{
    if (c->grouping_of == c->unit.line->plane->host) return c->grouping;
    Statement s;
    statement_open(&s, events_db(c));
    const Grouping *grouping = events_grouping(c);
    statement_end(&s, &c->err);
    return grouping;
}

/* Returns the value from grouping; -1 if there is none. */
static int64_t grouped_value(EventsCursor *c, bool eager)
{
    const Grouping *g = grouping_of(c);
    const LineGroups *groups = g ? line_groups(g, c->unit.line) : NULL;
    const Packed *packed = NULL;
    if (groups) packed = eager ? groups->eager : step_groups(groups);
    uint64_t at = index_of(c);
    return packed ? packed_at(&packed[at / CHUNK_EVENTS], (size_t)(at % CHUNK_EVENTS)) : -1;
}

static void step_name_column(EventsCursor *c, sqlite3_context *ctx)
{
    int64_t group = grouped_value(c, false);
    const char *name = group >= 0 ? group_name(c->grouping, group) : NULL;
    if (name) {
        sqlite3_result_text(ctx, name, -1, SQLITE_TRANSIENT);
        return;
    }
    const StatValue *f = c->err.code ? NULL : fact(c, STAT_STEP_NAME);
    if (f && f->type == TYPE_STR) result_string(ctx, f->text->text, f->text->n_bytes);
}

/* Writes the op_name of the event's instruction, if the run has its program. */
static void instruction_op_name(EventsCursor *c, sqlite3_context *ctx)
{
    const StatValue *op = fact(c, STAT_HLO_OP);
    int64_t id;
    if (op->type != TYPE_STR || !stat_value_integer(fact(c, STAT_PROGRAM_ID), &id)) return;
    Statement s;
    statement_open(&s, events_db(c));
    const HloModule *module = hlo_program(c->unit.line->plane->host, (uint64_t)id, &c->err);
    statement_end(&s, &c->err);
    Slice name = slice_innermost(slice_of(op->text));
    const Xla__HloInstructionProto *instruction =
        module ? hlo_find(module, name.text, name.n) : NULL;
    if (instruction && instruction->metadata && *instruction->metadata->op_name)
        result_string(ctx, instruction->metadata->op_name, strlen(instruction->metadata->op_name));
}

static Slice fact_text(EventsCursor *c, enum KnownStat known)
{
    const StatValue *f = fact(c, known);
    return f->type == TYPE_STR ? slice_of(f->text) : (Slice){"", 0};
}

static void tf_op_column(EventsCursor *c, sqlite3_context *ctx)
{
    GpuOpTexts texts = {.tf_op = fact_text(c, STAT_TF_OP)};
    Slice op = texts.tf_op;
    if (c->unit.line->plane->kind == PLANE_GPU && (!op.n || names_module_only(op))) {
        texts.name = fact_text(c, STAT_OP_NAME);
        texts.level_0 = fact_text(c, STAT_LEVEL_0);
        texts.annotation = fact_text(c, STAT_ANNOTATION);
        op = gpu_op_name(&texts);
    }
    if (op.n)
        result_string(ctx, op.text, op.n);
    else if (names_module_only(texts.tf_op) && c->unit.line->plane->kind == PLANE_GPU)
        instruction_op_name(c, ctx);
}

static void device_self_column(EventsCursor *c, sqlite3_context *ctx)
{
    Statement s;
    statement_open(&s, events_db(c));
    const int64_t *self = line_device_self(c->unit.line, &c->err);
    statement_end(&s, &c->err);
    if (self && self[index_of(c)] != INT64_MIN) sqlite3_result_int64(ctx, self[index_of(c)]);
}

static void result_fact_text(sqlite3_context *ctx, const StatValue *f)
{
    if (f->type == TYPE_STR) result_string(ctx, f->text->text, f->text->n_bytes);
}

static void result_fact_integer(sqlite3_context *ctx, const StatValue *f)
{
    int64_t n;
    if (stat_value_integer(f, &n)) sqlite3_result_int64(ctx, n);
}

/* Writes a column that has the value of one stat. */
static void stat_column(EventsCursor *c, sqlite3_context *ctx, int column)
{
    const StatValue *f;
    int64_t n;
    switch (column) {
    case EV_GROUP: result_fact_integer(ctx, fact(c, STAT_GROUP_ID)); break;
    case EV_CORRELATION:
        f = fact(c, STAT_CORRELATION_ID);
        if (f->type != TYPE_DOUBLE) result_number(ctx, f);
        break;
    case EV_PROGRAM:
        f = fact(c, STAT_PROGRAM_ID);
        if (stat_value_integer(f, &n)) result_id(ctx, (uint64_t)n);
        result_fact_text(ctx, f);
        break;
    case EV_CATEGORY: result_fact_text(ctx, fact(c, STAT_HLO_CATEGORY)); break;
    case EV_FLOPS: result_number(ctx, fact(c, STAT_FLOPS)); break;
    case EV_BYTES: result_number(ctx, fact(c, STAT_BYTES_ACCESSED)); break;
    case EV_SHAPE:
        f = fact(c, STAT_SHAPE_WITH_LAYOUT);
        result_fact_text(ctx, f->type == TYPE_STR ? f : fact(c, STAT_SHAPE));
        break;
    case EV_DEVICE_START: result_fact_integer(ctx, fact(c, STAT_DEVICE_OFFSET_PS)); break;
    case EV_DEVICE_DURATION: result_fact_integer(ctx, fact(c, STAT_DEVICE_DURATION_PS)); break;
    case EV_ASYNC:
        if (stat_value_integer(fact(c, STAT_ASYNC), &n)) sqlite3_result_int(ctx, n != 0);
        break;
    default: break;
    }
}

int events_column(sqlite3_vtab_cursor *cursor, sqlite3_context *ctx, int column)
{
    EventsCursor *c = (EventsCursor *)cursor;
    const Plane *plane = c->unit.line->plane;
    switch (column) {
    case EV_RUN: sqlite3_result_text(ctx, c->unit.from->label, -1, SQLITE_TRANSIENT); break;
    case EV_HOST: result_static(ctx, plane->host->name); break;
    case EV_ID: sqlite3_result_int64(ctx, (sqlite3_int64)event_of(c)); break;
    case EV_PLANE: result_text(ctx, plane->name); break;
    case EV_LINE: result_text(ctx, line_label(c->unit.line)); break;
    case EV_NAME: name_column(c, ctx); break;
    case EV_SHORT_NAME: short_name_column(c, ctx); break;
    case EV_START:
    case EV_START_US: result_time(ctx, start_of(c), column == EV_START_US); break;
    case EV_DURATION:
    case EV_DURATION_US:
        result_time(ctx, value_of(c, COL_DURATION), column == EV_DURATION_US);
        break;
    case EV_SELF: nesting_column(c, ctx, NEST_SELF); break;
    case EV_DEPTH: nesting_column(c, ctx, NEST_DEPTH); break;
    case EV_PARENT: nesting_column(c, ctx, NEST_PARENT); break;
    case EV_OCCURRENCES:
        if (value_of(c, COL_AGGREGATED)) sqlite3_result_int64(ctx, value_of(c, COL_OFFSET));
        break;
    case EV_HLO_MODULE: hlo_module_column(c, ctx); break;
    case EV_HLO_OP: hlo_op_column(c, ctx); break;
    case EV_TF_OP: tf_op_column(c, ctx); break;
    case EV_SOURCE_FILE: source_column(c, ctx, false); break;
    case EV_SOURCE_LINE: source_column(c, ctx, true); break;
    case EV_PLANE_ID: sqlite3_result_int64(ctx, plane->plane_id); break;
    case EV_LINE_ID: sqlite3_result_int64(ctx, c->unit.line->line_id); break;
    case EV_METADATA_ID: metadata_id_column(c, ctx); break;
    case EV_DISPLAY_NAME: result_nonempty(ctx, meta_of(c)->display_name); break;
    case EV_END: sqlite3_result_int64(ctx, end_of(c)); break;
    case EV_PLANE_KIND: result_static(ctx, plane_kind_names[plane->kind]); break;
    case EV_LINE_KIND: result_static(ctx, line_kind_names[c->unit.line->kind]); break;
    case EV_DERIVED: sqlite3_result_int(ctx, c->unit.line->derived); break;
    case EV_DEVICE_SELF: device_self_column(c, ctx); break;
    case EV_GRID: details_column(c, ctx, "grid"); break;
    case EV_BLOCK: details_column(c, ctx, "block"); break;
    case EV_STEP_EVENT: enclosing_column(c, ctx, PARENT_STEP); break;
    case EV_MODULE_EVENT: enclosing_column(c, ctx, PARENT_MODULE); break;
    case EV_STEP_NAME: step_name_column(c, ctx); break;
    case EV_EAGER:
    case EV_STEP: result_nonnegative(ctx, grouped_value(c, column == EV_EAGER)); break;
    case EV_STATS: stats_column(c, ctx); break;
    case EV_SOURCE: sqlite3_result_text(ctx, c->unit.from->source, -1, SQLITE_TRANSIENT); break;
    default: stat_column(c, ctx, column); break;
    }
    return c->err.code ? events_fail(c) : SQLITE_OK;
}

/* Called if a query for all events of the sources found none: records the reason in prof_issues. */
int events_explain_nothing(EventsCursor *c, int argc)
{
    const ProfTable *asked = (const ProfTable *)c->base.pVtab;
    if (asked->prof->n_running || argc != c->asked.given) return SQLITE_OK;
    for (int i = 0; i < c->n_sources; i++)
        if (!empty_record(&(Empty){asked->table->name, NEED_EVENTS, NULL}, c->sources[i].run,
                          c->sources[i].only, &c->err))
            return events_fail(c);
    return SQLITE_OK;
}

static int filter(sqlite3_vtab_cursor *cursor, int plan, const char *terms, int argc,
                  sqlite3_value **argv)
{
    int rc = events_filter(cursor, plan, terms, argc, argv);
    EventsCursor *c = (EventsCursor *)cursor;
    return rc == SQLITE_OK && c->eof ? events_explain_nothing(c, argc) : rc;
}

static const sqlite3_module events_module = {
    .iVersion = 2,
    .xConnect = prof_table_connect,
    .xBestIndex = events_best_index,
    .xDisconnect = prof_table_disconnect,
    .xOpen = events_open,
    .xClose = events_close,
    .xFilter = filter,
    .xNext = events_next,
    .xEof = events_eof,
    .xColumn = events_column,
    .xRowid = events_rowid,
};
const Table trace_events_table = {
    "trace_events",
    "one event, in file order, with its times, self time, depth, parent and typed stats",
    events_columns,
    COUNT(events_columns),
    &events_module,
    NULL,
    1e6,
    "0.1.0",
    "SELECT plane, line, name, start_us, duration_us FROM trace_events ORDER BY duration_ps DESC "
    "LIMIT 10"};
/* SQL names ignore case: without this table, `events` would be XProf's view `Events`. */
const Table events_table = {
    "events",
    "one event: the same table as `trace_events`, under a shorter name",
    events_columns,
    COUNT(events_columns),
    &events_module,
    NULL,
    1e6,
    "0.1.0",
    "SELECT line, name, start_us, self_ps FROM events ORDER BY start_ps LIMIT 10"};
