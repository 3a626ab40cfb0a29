// SPDX-License-Identifier: Apache-2.0
/* profsql_live.c: the table profsql_live: what a capture has recorded until now, while the program
 * runs.
 *
 *   SELECT name, count(*), sum(duration_ns)
 *     FROM profsql_live('logs') WHERE kind = 'kernel' GROUP BY name;
 *
 * Each scan reads the spools (loader/capture/spool.h) again, in the order in which they were
 * written. When the capture ends its spools become a profile, and this table is empty. */
#include "../loader/capture/spool.h"
#include "prof.h"
SQLITE_EXTENSION_INIT3

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <sys/stat.h>

#define LIVE_COLUMNS(C)                                                                            \
    C(LI_RUN, "run", "TEXT", NULL, "name of the run that is being captured", "spool")              \
    C(LI_HOST, "host", "TEXT", NULL,                                                               \
      "name of the host, as the file name of the profile will contain it", "spool")                \
    C(LI_PROCESS, "process_id", "INTEGER", NULL, "id of the captured process", "spool")            \
    C(LI_KIND, "kind", "TEXT", NULL,                                                               \
      "kind of the record: kernel, memcpy, memcpy_peer, memset, graph, runtime, driver, sync, "    \
      "cuda_event, external_correlation, overhead, jit, memory, memory_pool, unified_memory, "     \
      "environment, device, context, stream, nvlink, pcie, thread, clock; from NVTX: range_push "  \
      "and range_pop, range_start and range_end, mark",                                            \
      "CUPTI activity kind")                                                                       \
    C(LI_NAME, "name", "TEXT", NULL,                                                               \
      "name of the kernel (mangled), API call, range, device, thread or cache file; NULL if the "  \
      "record has no name",                                                                        \
      "CUPTI name")                                                                                \
    C(LI_START, "start_unix_ns", "INTEGER", "ns since 1970",                                       \
      "start time, or the time of a record without duration; NULL if the record has no time",      \
      "CUPTI start")                                                                               \
    C(LI_DURATION, "duration_ns", "INTEGER", "ns",                                                 \
      "duration; NULL for records without duration and for work that has not ended",               \
      "CUPTI end - start")                                                                         \
    C(LI_DEVICE, "device_id", "INTEGER", NULL,                                                     \
      "number of the GPU in the process; NULL if the record has none", "CUPTI deviceId")           \
    C(LI_CONTEXT, "context_id", "INTEGER", NULL,                                                   \
      "id of the CUDA context; NULL if the record has none", "CUPTI contextId")                    \
    C(LI_STREAM, "stream_id", "INTEGER", NULL,                                                     \
      "id of the stream, unique in its context; NULL if the record has none", "CUPTI streamId")    \
    C(LI_THREAD, "thread_id", "INTEGER", NULL,                                                     \
      "id of the thread of the call or range; NULL if the record has none", "CUPTI threadId")      \
    C(LI_CORRELATION, "correlation_id", "INTEGER", NULL,                                           \
      "id that connects an API call with the work that it launched; NULL if the record has none",  \
      "CUPTI correlationId")                                                                       \
    C(LI_BYTES, "size_bytes", "INTEGER", "bytes",                                                  \
      "size of the copy, memset or allocation; NULL for other kinds", "CUPTI bytes")               \
    C(LI_SOURCE, "source", "TEXT HIDDEN", NULL,                                                    \
      "what to read: a .spool file, a run folder, or a log dir (for its newest run that is being " \
      "captured)",                                                                                 \
      "argument 1")                                                                                \
    C(LI_FIELDS, "fields", "TEXT HIDDEN", NULL,                                                    \
      "all fields of the record except times, as JSON with CUPTI's field names", "CUPTI record")
enum { LIVE_COLUMNS(COLUMN_ENUM) };
static const Column live_columns[] = {LIVE_COLUMNS(COLUMN_DOC)};

static const char *const field_names[] = {
#define AS_NAME(field) [FIELD_##field] = #field,
    RECORD_FIELDS(AS_NAME)
#undef AS_NAME
};

/* ---- finding the spools ---- */

/* Keeps the first reason why a path could not be read, as a message. A missing path is not a
 * reason. */
static void note_unreadable(const char *path, char **why)
{
    if (errno == ENOENT || errno == ENOTDIR || *why) return;
    *why = sqlite3_mprintf("%s: cannot look for a running capture: %s; run "
                           "the query as the user whose program is captured",
                           path, strerror(errno));
}

static DIR *open_folder(const char *path, char **why)
{
    DIR *d = opendir(path);
    if (!d) note_unreadable(path, why);
    return d;
}

/* Returns the newest entry of a folder of runs that has a spool folder, by name, because runs are
 * named after their time; NULL if there is none. */
static char *newest_run(const char *folder, char **why)
{
    char *best = NULL;
    DIR *d = open_folder(folder, why);
    for (struct dirent *e; d && (e = readdir(d));) {
        if (e->d_name[0] == '.' || (best && strcmp(e->d_name, strrchr(best, '/') + 1) <= 0))
            continue;
        char *run = sqlite3_mprintf("%s/%s", folder, e->d_name),
             *spool = sqlite3_mprintf("%s/%s/.spool", folder, e->d_name);
        errno = 0;
        if (run && spool && is_folder(spool))
            sqlite3_free(best), best = run, run = NULL;
        else if (spool && errno)
            note_unreadable(spool, why);
        sqlite3_free(run);
        sqlite3_free(spool);
    }
    if (d) closedir(d);
    return best;
}

typedef struct {
    sqlite3_vtab_cursor base;
    char *source;
    char **paths;
    int n_paths, at_path;
    SpoolReader reader;
    bool reading;
    Record record;
    char run[256], host[256];
    sqlite3_int64 process_id, row;
    bool eof;
} LiveCursor;

static int add_path(LiveCursor *c, char *path)
{
    char **grown =
        path ? sqlite3_realloc64(c->paths, (size_t)(c->n_paths + 1) * sizeof *grown) : NULL;
    if (!grown) {
        sqlite3_free(path);
        return SQLITE_NOMEM;
    }
    c->paths = grown;
    c->paths[c->n_paths++] = path;
    return SQLITE_OK;
}

/* Opens the spool folder of a capture that writes to a folder: the folder's own, or that of its
 * newest run. */
static DIR *open_spools(const char *source, char **path, char **why)
{
    *path = sqlite3_mprintf("%s/.spool", source);
    DIR *d = *path ? open_folder(*path, why) : NULL;
    if (d) return d;
    char *runs = sqlite3_mprintf("%s/plugins/profile", source),
         *run = runs ? newest_run(runs, why) : NULL;
    sqlite3_free(*path);
    *path = run ? sqlite3_mprintf("%s/.spool", run) : NULL;
    sqlite3_free(runs);
    sqlite3_free(run);
    return *path ? open_folder(*path, why) : NULL;
}

static int find_spools(LiveCursor *c, sqlite3_vtab *vtab)
{
    if (!*c->source)
        return prof_table_fail(
            vtab, SQLITE_ERROR,
            sqlite3_mprintf("the path is empty; give a .spool file, a run folder or a log dir"));
    if (!is_folder(c->source)) return add_path(c, sqlite3_mprintf("%s", c->source));
    char *folder = NULL, *why = NULL;
    DIR *d = open_spools(c->source, &folder, &why);
    int rc = SQLITE_OK;
    for (struct dirent *e; rc == SQLITE_OK && d && (e = readdir(d));)
        if (has_suffix(e->d_name, ".spool"))
            rc = add_path(c, sqlite3_mprintf("%s/%s", folder, e->d_name));
    if (d) closedir(d);
    sqlite3_free(folder);
    if (rc != SQLITE_OK || c->n_paths) {
        sqlite3_free(why);
        return rc;
    }
    if (!why)
        why = sqlite3_mprintf("%s: no capture is running here; if it has ended, query its profile: "
                              "SELECT * FROM trace_events('%s')",
                              c->source, c->source);
    return prof_table_fail(vtab, SQLITE_ERROR, why);
}

/* ---- rows ---- */

static int fail(LiveCursor *c, const ProfErr *err)
{
    char *message = NULL;
    int rc = prof_error(((ProfTable *)c->base.pVtab)->prof, err, &message);
    c->eof = true;
    return prof_table_fail(c->base.pVtab, rc, message);
}

static int live_next(sqlite3_vtab_cursor *cursor)
{
    LiveCursor *c = (LiveCursor *)cursor;
    for (;;) {
        ProfErr err = {0};
        if (!c->reading) {
            if (c->at_path == c->n_paths) {
                c->eof = true;
                return SQLITE_OK;
            }
            int rc = spool_open(&c->reader, c->paths[c->at_path++], &err);
            if (rc == PROF_NOTFOUND && c->n_paths > 1) continue; /* it ended in the meantime */
            if (rc) return fail(c, &err);
            char number[32];
            spool_header_value(&c->reader, "run", c->run, sizeof c->run);
            spool_header_value(&c->reader, "host", c->host, sizeof c->host);
            spool_header_value(&c->reader, "pid", number, sizeof number);
            c->process_id = strtoll(number, NULL, 10);
            c->reading = true;
        }
        if (spool_next(&c->reader, &c->record, &err)) {
            c->row++;
            return SQLITE_OK;
        }
        if (err.code) return fail(c, &err);
        spool_reader_close(&c->reader);
        c->reading = false;
    }
}

static void live_reset(LiveCursor *c)
{
    if (c->reading) spool_reader_close(&c->reader);
    for (int i = 0; i < c->n_paths; i++) sqlite3_free(c->paths[i]);
    sqlite3_free(c->paths);
    sqlite3_free(c->source);
    *c = (LiveCursor){.base = c->base, .eof = true};
}

static int live_filter(sqlite3_vtab_cursor *cursor, int plan, const char *letters, int argc,
                       sqlite3_value **argv)
{
    (void)plan, (void)letters;
    LiveCursor *c = (LiveCursor *)cursor;
    live_reset(c);
    if (((ProfTable *)cursor->pVtab)->prof->serving)
        return prof_table_fail(cursor->pVtab, SQLITE_ERROR,
                               sqlite3_mprintf("profsql_live: " SERVED_ONLY));
    if (!argc)
        return prof_table_fail(cursor->pVtab, SQLITE_ERROR,
                               sqlite3_mprintf("profsql_live needs a folder or a .spool file: "
                                               "SELECT * FROM profsql_live('logs')"));
    const char *source = (const char *)sqlite3_value_text(argv[0]);
    if (!source) return SQLITE_OK;
    if (has_nul(argv[0]))
        return prof_table_fail(cursor->pVtab, SQLITE_ERROR,
                               sqlite3_mprintf(SOURCE_WITH_NUL, source));
    if (!(c->source = sqlite3_mprintf("%s", source))) return SQLITE_NOMEM;
    int rc = find_spools(c, cursor->pVtab);
    if (rc != SQLITE_OK) return rc;
    c->eof = false;
    return live_next(cursor);
}

static void result_field(sqlite3_context *ctx, const Record *r, uint32_t version,
                         enum RecordField field, bool zero_is_none)
{
    if (!record_has(r->kind, field, version)) return;
    uint64_t value = record_get(r, field);
    if (value || !zero_is_none) result_u64(ctx, value);
}

static void result_fields(LiveCursor *c, sqlite3_context *ctx)
{
    const Record *r = &c->record;
    const KindSpec *spec = &record_kinds[r->kind];
    sqlite3_str *json = sqlite3_str_new(sqlite3_context_db_handle(ctx));
    sqlite3_str_appendall(json, "{");
    for (int i = 0, n = 0; i < spec->n_fields; i++) {
        const FieldSpec *f = &spec->fields[i];
        if (f->role == TIME || f->role == UNTIL || f->role == TEXT ||
            f->since > c->reader.status.api_version)
            continue;
        sqlite3_str_appendf(json, "%s\"%s\":%llu", n++ ? "," : "", field_names[f->field],
                            (unsigned long long)r->values[i]);
    }
    sqlite3_str_appendall(json, "}");
    int rc = sqlite3_str_errcode(json);
    char *text = sqlite3_str_finish(json);
    if (!text || rc) {
        sqlite3_free(text);
        sqlite3_result_error_nomem(ctx);
        return;
    }
    for (char *p = text; *p; p++)
        if (*p >= 'A' && *p <= 'Z') *p = (char)(*p + 'a' - 'A');
    sqlite3_result_text(ctx, text, -1, sqlite3_free);
}

static int live_column(sqlite3_vtab_cursor *cursor, sqlite3_context *ctx, int column)
{
    LiveCursor *c = (LiveCursor *)cursor;
    const Record *r = &c->record;
    uint64_t start = record_get(r, FIELD_START), end = record_get(r, FIELD_END);
    uint32_t version = c->reader.status.api_version;
    const Text *name;
    switch (column) {
    case LI_RUN: sqlite3_result_text(ctx, c->run, -1, SQLITE_TRANSIENT); break;
    case LI_HOST: sqlite3_result_text(ctx, c->host, -1, SQLITE_TRANSIENT); break;
    case LI_PROCESS: sqlite3_result_int64(ctx, c->process_id); break;
    case LI_KIND: result_static(ctx, record_kinds[r->kind].name); break;
    case LI_NAME:
        name = spool_text_of(&c->reader, record_get(r, FIELD_NAME));
        if (name->n_bytes)
            sqlite3_result_text(ctx, name->text, (int)name->n_bytes, SQLITE_TRANSIENT);
        break;
    case LI_START: result_field(ctx, r, version, FIELD_START, true); break;
    case LI_DURATION:
        if (record_field_index(r->kind, FIELD_END) >= 0 && start && end >= start)
            result_u64(ctx, end - start);
        break;
    case LI_DEVICE:
        if (r->kind != REC_PCIE || !record_get(r, FIELD_TYPE_0))
            result_field(ctx, r, version, FIELD_DEVICE,
                         false); /* a bridge has a number of its own */
        break;
    case LI_CONTEXT: result_field(ctx, r, version, FIELD_CONTEXT, true); break;
    case LI_STREAM: result_field(ctx, r, version, FIELD_STREAM, true); break;
    case LI_THREAD: result_field(ctx, r, version, FIELD_THREAD, true); break;
    case LI_CORRELATION: result_field(ctx, r, version, FIELD_CORRELATION, true); break;
    case LI_BYTES:
        if (r->kind != REC_DEVICE && r->kind != REC_UNIFIED && r->kind != REC_JIT)
            result_field(ctx, r, version, FIELD_BYTES, false);
        break;
    case LI_FIELDS: result_fields(c, ctx); break;
    case LI_SOURCE: sqlite3_result_text(ctx, c->source, -1, SQLITE_TRANSIENT); break;
    default: break;
    }
    return SQLITE_OK;
}

/* ---- the module ---- */

static int live_best_index(sqlite3_vtab *vtab, sqlite3_index_info *info)
{
    (void)vtab;
    ArgumentTerms arguments;
    if (!prof_plan_arguments(info, LI_SOURCE, 1, &arguments)) return SQLITE_CONSTRAINT;
    int source = arguments.term[0];
    if (source >= 0)
        info->aConstraintUsage[source].argvIndex = 1, info->aConstraintUsage[source].omit = 1;
    info->estimatedRows = 1000000, info->estimatedCost = source >= 0 ? 1e8 : COST_OF_MISSING;
    return SQLITE_OK;
}

static int live_open(sqlite3_vtab *vtab, sqlite3_vtab_cursor **cursor)
{
    LiveCursor *c = sqlite3_malloc64(sizeof *c);
    if (!c) return SQLITE_NOMEM;
    rowids_open(&((ProfTable *)vtab)->rowids);
    *c = (LiveCursor){.eof = true};
    *cursor = &c->base;
    return SQLITE_OK;
}

static int live_close(sqlite3_vtab_cursor *cursor)
{
    live_reset((LiveCursor *)cursor);
    rowids_close(&((ProfTable *)cursor->pVtab)->rowids);
    sqlite3_free(cursor);
    return SQLITE_OK;
}

static int live_eof(sqlite3_vtab_cursor *cursor) { return ((LiveCursor *)cursor)->eof; }

static int live_rowid(sqlite3_vtab_cursor *cursor, sqlite3_int64 *rowid)
{
    LiveCursor *c = (LiveCursor *)cursor;
    ProfTable *table = (ProfTable *)cursor->pVtab;
    int number, rc = rowids_number(&table->rowids, c->source, NULL, NULL, 0, &number);
    return rc == SQLITE_OK
               ? rowids_make(cursor->pVtab, table->table->name, number, (uint64_t)c->row, rowid)
               : rc;
}

static const sqlite3_module live_module = {
    .iVersion = 2,
    .xConnect = prof_table_connect,
    .xBestIndex = live_best_index,
    .xDisconnect = prof_table_disconnect,
    .xOpen = live_open,
    .xClose = live_close,
    .xFilter = live_filter,
    .xNext = live_next,
    .xEof = live_eof,
    .xColumn = live_column,
    .xRowid = live_rowid,
};
const Table profsql_live_table = {"profsql_live",
                                  "one record of a capture that is still running",
                                  live_columns,
                                  COUNT(live_columns),
                                  &live_module,
                                  NULL,
                                  1000000,
                                  "0.1.0",
                                  "SELECT kind, name, duration_ns FROM profsql_live('logs') ORDER "
                                  "BY start_unix_ns DESC LIMIT 10"};
