// SPDX-License-Identifier: Apache-2.0
/* hosts.c: the tables prof_runs, hosts, session and prof_issues: what was read.
 *
 *   SELECT run, host, event_count FROM hosts('logs');   -- 2026_11_20|worker-0|74305 */
#include "../loader/analysis/device/launches.h"
#include "../loader/analysis/insights/diagnostics.h"
#include "../loader/analysis/program/hlo_validate.h"
#include "../loader/store/event_stats.h"
#include "../loader/store/stats_check.h"
#include "prof.h"
SQLITE_EXTENSION_INIT3

/* Returns true once for each host. */
static bool once(RowCursor *c)
{
    c->place = c->at_host;
    return !c->started;
}

/* Returns the place of a row in tables with several rows for each host. */
static uint64_t host_place(const RowCursor *c, size_t part, size_t n)
{
    return place_pair(place_pair(c->at_host, 16, part), 24, n);
}

/* ---- prof_runs ---- */

#define RUNS_COLUMNS(C)                                                                            \
    C(PR_RUN, RUN_DOC)                                                                             \
    C(PR_PATH, "path", "TEXT", NULL, "path of the file or run folder", "libprofsql")               \
    C(PR_HOSTS, "host_count", "INTEGER", "hosts",                                                  \
      "number of host files, including unreadable ones", "libprofsql")                             \
    C(PR_SIZE, "size_bytes", "INTEGER", "bytes", "size of the host files, after decompression",    \
      "libprofsql")                                                                                \
    C(PR_EVENTS, "event_count", "INTEGER", "events",                                               \
      "number of events on all hosts; NULL for a run attached by prof_attach_by_host() until a "   \
      "table of events reads them all",                                                            \
      "libprofsql")                                                                                \
    C(PR_START, "start_unix_ns", "INTEGER", "ns since 1970",                                       \
      "earliest session start of the hosts; NULL if no file records it, or event_count is NULL",   \
      "Task Environment profile_start_time")                                                       \
    C(PR_DURATION, "duration_ps", "INTEGER", "ps",                                                 \
      "duration of the longest session; NULL if no file records start and end, or event_count is " \
      "NULL",                                                                                      \
      "Task Environment profile_stop_time - profile_start_time")                                   \
    C(PR_DURATION_US, DURATION_US_DOC)                                                             \
    C(PR_DEVICE, "device_type", "TEXT", NULL,                                                      \
      "type of device, from the planes of the run: TPU, GPU or CPU; NULL if the source is an HLO " \
      "program",                                                                                   \
      "XPlane.name")                                                                               \
    C(PR_DEVICES, "device_count", "INTEGER", "devices",                                            \
      "number of TensorCore planes, or of GPU planes if there are none; 0 for CPU; NULL if the "   \
      "source is an HLO program",                                                                  \
      "XPlane.name")                                                                               \
    C(PR_FORMAT, "format", "TEXT", NULL, "format of the files: xspace, xspace.gz or hlo",          \
      "libprofsql")                                                                                \
    C(PR_LOADED, "loaded_ms", "REAL", "ms", "wall time of reading the files", "libprofsql")        \
    C(PR_OTHERS, "other_runs", "INTEGER", "runs",                                                  \
      "number of other runs in the log dir, which were not read because their folder names sort "  \
      "lower; 0 if the path names a run",                                                          \
      "libprofsql")                                                                                \
    C(PR_SOURCE, SOURCE_DOC)
enum { RUNS_COLUMNS(COLUMN_ENUM) };
static const Column runs_columns[] = {RUNS_COLUMNS(COLUMN_DOC)};

static int count_planes(const Run *run, enum PlaneKind kind)
{
    int n = 0;
    for (size_t h = 0; h < run->n_hosts; h++)
        for (size_t i = 0; i < run->hosts[h].n_planes; i++)
            n += run->hosts[h].planes[i].kind == kind;
    return n;
}

static bool has_gzipped_profile(const Run *run)
{
    bool any = false;
    for (size_t h = 0; h < run->n_hosts; h++)
        any |= run->hosts[h].file.gzipped && !run->hosts[h].reader->is_program;
    return any;
}

static void result_format(sqlite3_context *ctx, const Reader *reader, bool gzipped)
{
    result_owned(ctx, sqlite3_mprintf("%s%s", reader->name, gzipped ? ".gz" : ""));
}

static void result_devices(sqlite3_context *ctx, const Run *run, bool as_count)
{
    int n_tpu = count_planes(run, PLANE_TENSORCORE), n_gpu = count_planes(run, PLANE_GPU);
    if (as_count)
        sqlite3_result_int(ctx, n_tpu ? n_tpu : n_gpu);
    else if (n_tpu)
        result_static(ctx, "TPU");
    else
        result_static(ctx, n_gpu ? "GPU" : "CPU");
}

static void runs_column(RowCursor *c, sqlite3_context *ctx, int column)
{
    const Run *run = c->from->run;
    int64_t start = -1, duration_ns = -1;
    switch (column) {
    case PR_PATH: result_file_path(c, ctx, run->path); break;
    case PR_HOSTS: sqlite3_result_int64(ctx, (sqlite3_int64)run->n_hosts); break;
    case PR_SIZE: sqlite3_result_int64(ctx, (sqlite3_int64)run->size_bytes); break;
    case PR_EVENTS:
        if (!run->streaming) sqlite3_result_int64(ctx, (sqlite3_int64)run->n_events);
        break;
    case PR_START:
    case PR_DURATION:
    case PR_DURATION_US:
        for (size_t h = 0; h < run->n_hosts && !run->streaming; h++) {
            const Host *host = &run->hosts[h];
            if (!host->readable || host->start_unix_ns < 0) continue;
            if (start < 0 || host->start_unix_ns < start) start = host->start_unix_ns;
            if (host->stop_unix_ns < host->start_unix_ns) continue;
            int64_t ns = host->stop_unix_ns - host->start_unix_ns;
            if (ns > duration_ns) duration_ns = ns;
        }
        if (column == PR_START)
            result_nonnegative(ctx, start);
        else if (duration_ns >= 0 && duration_ns < INT64_MAX / 1000)
            result_time(ctx, duration_ns * 1000, column == PR_DURATION_US);
        break;
    case PR_DEVICE:
    case PR_DEVICES:
        if (!run->hosts[0].reader->is_program) /* programs do not record what ran them */
            result_devices(ctx, run, column == PR_DEVICES);
        break;
    case PR_FORMAT: result_format(ctx, run->hosts[0].reader, has_gzipped_profile(run)); break;
    case PR_LOADED: sqlite3_result_double(ctx, run->loaded_ms); break;
    case PR_OTHERS: sqlite3_result_int64(ctx, (sqlite3_int64)c->from->n_others); break;
    default: break;
    }
}

static const RowSource runs_rows = {
    .next = once,
    .column = runs_column,
    .per_run = true,
    .lists_runs = true,
};
const Table prof_runs_table = {
    "prof_runs",
    "one attached run, or the run that a path names",
    runs_columns,
    COUNT(runs_columns),
    &row_table_module,
    &runs_rows,
    2,
    "0.1.0",
    "SELECT run, path, duration_us, device_type, device_count FROM prof_runs"};

/* ---- hosts ---- */

#define HOSTS_COLUMNS(C)                                                                           \
    C(HO_RUN, RUN_DOC)                                                                             \
    C(HO_HOST, HOST_DOC)                                                                           \
    C(HO_SOURCE_OF, "host_source", "TEXT", NULL,                                                   \
      "source that reads this host alone: label/host, or the path of its file; NULL if the file "  \
      "of a run that is not attached cannot be opened",                                            \
      "libprofsql")                                                                                \
    C(HO_PATH, "path", "TEXT", NULL, "path of the host's file; NULL if it cannot be opened",       \
      "libprofsql")                                                                                \
    C(HO_SIZE, "size_bytes", "INTEGER", "bytes",                                                   \
      "size of the file on disk; NULL if it cannot be opened", "libprofsql")                       \
    C(HO_FORMAT, "format", "TEXT", NULL,                                                           \
      "format of the file: xspace, xspace.gz, hlo or hlo.gz; NULL if it cannot be read",           \
      "libprofsql")                                                                                \
    C(HO_EVENTS, "event_count", "INTEGER", "events", "number of events read from the file",        \
      "libprofsql")                                                                                \
    C(HO_START, "start_unix_ns", "INTEGER", "ns since 1970",                                       \
      "session start, the zero point of event times (events that start earlier have negative "     \
      "times); if the file does not record it, the start of the earliest line, if lines have "     \
      "Unix times; else NULL",                                                                     \
      "Task Environment profile_start_time")                                                       \
    C(HO_STOP, "stop_unix_ns", "INTEGER", "ns since 1970",                                         \
      "session end; NULL if the file does not record it", "Task Environment profile_stop_time")    \
    C(HO_HOSTNAME, "hostname", "TEXT", NULL,                                                       \
      "name of the host as the file records it; NULL if it does not", "XSpace.hostnames")          \
    C(HO_DAMAGE, "damage", "TEXT", NULL,                                                           \
      "what was lost when the file was read: the messages of prof_issues with severity error, "    \
      "separated by semicolons; NULL if nothing was lost",                                         \
      "libprofsql")                                                                                \
    C(HO_SOURCE, SOURCE_DOC)
enum { HOSTS_COLUMNS(COLUMN_ENUM) };
static const Column hosts_columns[] = {HOSTS_COLUMNS(COLUMN_DOC)};

/* Returns whether a serving connection hides the issue: of a file that is not a profile it shows
 * nothing but that. */
static bool is_withheld(const RowCursor *c)
{
    return ((const ProfTable *)c->base.pVtab)->prof->serving && !c->host->readable;
}

/* Finds the host's issue with this number, or the next one that is shown. */
static bool find_issue(RowCursor *c, size_t *at, Issue *issue)
{
    while (host_issue_at(c->host, *at, issue, &c->err)) {
        if (!is_withheld(c) || !strcmp(issue->code, "unreadable")) return true;
        ++*at;
    }
    return false;
}

static const char *message_of(const RowCursor *c, const Issue *issue)
{
    return is_withheld(c) ? "the file cannot be read as a profile" : issue->message;
}

static void damage(RowCursor *c, sqlite3_context *ctx)
{
    Issue issue;
    sqlite3_str *out = sqlite3_str_new(NULL);
    for (size_t i = 0; find_issue(c, &i, &issue); i++)
        if (!strcmp(issue.severity, "error"))
            sqlite3_str_appendf(out, "%s%s", sqlite3_str_length(out) ? "; " : "",
                                message_of(c, &issue));
    int rc = sqlite3_str_errcode(out);
    char *text = sqlite3_str_finish(out);
    if (rc != SQLITE_OK)
        sqlite3_result_error_code(ctx, rc);
    else
        result_file_path(c, ctx, text);
    sqlite3_free(text);
}

static void hosts_column(RowCursor *c, sqlite3_context *ctx, int column)
{
    const Host *host = c->host;
    const File *file = &host->file;
    switch (column) {
    case HO_SOURCE_OF:
        if (c->from->attached)
            result_owned(ctx, sqlite3_mprintf("%s/%s", c->from->label, host->name));
        else
            result_file_path(c, ctx, file->path);
        break;
    case HO_PATH: result_file_path(c, ctx, file->path); break;
    case HO_SIZE:
        if (file->path) sqlite3_result_int64(ctx, (sqlite3_int64)file->disk_size);
        break;
    case HO_FORMAT:
        if (!host->readable) break;
        result_format(ctx, host->reader, file->gzipped);
        break;
    case HO_EVENTS: sqlite3_result_int64(ctx, (sqlite3_int64)host->n_events); break;
    case HO_START:
    case HO_STOP:
        if (host->readable)
            result_nonnegative(ctx, column == HO_START ? host->start_unix_ns : host->stop_unix_ns);
        break;
    case HO_HOSTNAME:
        if (host->n_hostnames) result_text(ctx, host->hostnames[0]);
        break;
    case HO_DAMAGE: damage(c, ctx); break;
    default: break;
    }
}

static const RowSource hosts_rows = {.next = once, .reads_events = true, .column = hosts_column};
const Table hosts_table = {"hosts",
                           "one host file of a run",
                           hosts_columns,
                           COUNT(hosts_columns),
                           &row_table_module,
                           &hosts_rows,
                           2,
                           "0.1.0",
                           "SELECT host, path, event_count, damage FROM hosts"};

/* ---- session ---- */

#define SESSION_COLUMNS(C)                                                                         \
    C(SE_RUN, RUN_DOC)                                                                             \
    C(SE_HOST, HOST_DOC)                                                                           \
    C(SE_NAME, "name", "TEXT", NULL,                                                               \
      "name of a stat of the plane Task Environment; or error, warning or hostname", "XSpace")     \
    C(SE_VALUE, STAT_VALUE_DOC)                                                                    \
    C(SE_SOURCE, SOURCE_DOC)
enum { SESSION_COLUMNS(COLUMN_ENUM) };
static const Column session_columns[] = {SESSION_COLUMNS(COLUMN_DOC)};

static const struct {
    const char *name;
    size_t list, count; /* offsets of members of Host */
} session_texts[] = {
    {"error", offsetof(Host, errors), offsetof(Host, n_errors)},
    {"warning", offsetof(Host, warnings), offsetof(Host, n_warnings)},
    {"hostname", offsetof(Host, hostnames), offsetof(Host, n_hostnames)},
};

typedef struct {
    size_t kind;       /* index in session_texts; larger for the stats of Task Environment planes */
    size_t plane, nth; /* nth: among the texts, or the plane's stats */
    Stat stat;
    Window window;
} SessionAt;

static void session_close(void *state) { window_free(&((SessionAt *)state)->window); }

static const Text *session_text(const Host *host, const SessionAt *at)
{
    size_t n = *(const size_t *)((const char *)host + session_texts[at->kind].count);
    const Text **list = *(const Text **const *)((const char *)host + session_texts[at->kind].list);
    return at->nth < n ? list[at->nth] : NULL;
}

static bool session_next(RowCursor *c)
{
    SessionAt *at = c->state;
    at->nth += c->started;
    for (; at->kind < COUNT(session_texts); at->kind++, at->nth = 0)
        if (session_text(c->host, at)) {
            c->place = host_place(c, at->kind, at->nth);
            return true;
        }
    at->window.file = &c->host->file;
    for (; at->plane < c->host->n_planes; at->plane++, at->nth = 0) {
        const Plane *plane = &c->host->planes[at->plane];
        if (strcmp(plane->name->text, "Task Environment")) continue;
        for (; at->nth < plane->n_stats && !c->err.code; at->nth++)
            if (plane_stat(plane, at->nth, &at->window, &at->stat, &c->err)) {
                c->place = host_place(c, 4 + at->plane, at->nth);
                return true;
            }
    }
    return false;
}

static void session_column(RowCursor *c, sqlite3_context *ctx, int column)
{
    const SessionAt *at = c->state;
    if (at->kind < COUNT(session_texts)) {
        if (column == SE_NAME) result_static(ctx, session_texts[at->kind].name);
        if (column == SE_VALUE) result_text(ctx, session_text(c->host, at));
        return;
    }
    const Plane *plane = &c->host->planes[at->plane];
    if (column == SE_NAME) result_text(ctx, stat_name(plane, &at->stat));
    if (column == SE_VALUE) result_stat(ctx, plane, &at->stat);
}

static const RowSource session_rows = {.next = session_next,
                                       .state_bytes = sizeof(SessionAt),
                                       .close = session_close,
                                       .column = session_column,
                                       .nothing =
                                           "the file has no plane Task Environment, no hostname, "
                                           "and no error or warning of the profiler"};
const Table session_table = {
    "session",
    "one fact about the capture: its environment, or an error or warning of the profiler",
    session_columns,
    COUNT(session_columns),
    &row_table_module,
    &session_rows,
    8,
    "0.1.0",
    "SELECT host, name, value FROM session"};

/* ---- prof_issues ---- */

/* clang-format off */
#define ISSUE_CODES \
    "code of the issue. Found when a file is read, or when this table is queried: " \
    "damaged, " \
    "damaged_stat, " \
    "truncated, " \
    "too_many, " \
    "gzip_cut_short, " \
    "gzip_trailing_bytes, " \
    "unreadable, " \
    "invalid_utf8, " \
    "nul_in_name, " \
    "wrong_wire_type, " \
    "unknown_metadata, " \
    "time_overflow, " \
    "unix_times, " \
    "unreadable_program, " \
    "refused_program, " \
    "duplicate_program, " \
    "programs_of_subprocesses, " \
    "grouping_cut, " \
    "no_steps, " \
    "no_common_steps, " \
    "host_without_steps, " \
    "steps_without_cores, " \
    "sparsecores_cut, " \
    "steps_apart, " \
    "clocks_differ, " \
    "newest_run (which run of a log dir was taken), " \
    "capture_dropped, " \
    "capture_ended_abruptly, " \
    "capture_missing_steps, " \
    "launches_without_work, " \
    "more; " \
    "found when another table analyzes the file, so listed only after a query of that table: " \
    "nothing_to_show (why a table or canned query has no rows), " \
    "occurrences_overflow, " \
    "host_ops_lost, " \
    "too_many_children, " \
    "sparsecore_programs_mixed, " \
    "programs_mixed (tables of ops), " \
    "program_costs, " \
    "op_texts_cut (tables of ops), " \
    "program_owners, " \
    "heap_simulation, " \
    "memory_spaces (buffers), " \
    "memory_events_elsewhere, " \
    "free_without_allocation (memory_events), " \
    "derived_lines_cut (timeline), " \
    "request_of_several_models, " \
    "inference_cut (inference), " \
    "dcn_cut (dcn_collectives), " \
    "tf_data_cut (tf_data); " \
    "messages that XProf shows above its pages: xprof_error and xprof_warning (from the " \
    "profiler), "                                                                         \
    "xprof_steps (about the entire run, listed with its first host)"
/* clang-format on */

#define ISSUES_COLUMNS(C)                                                                          \
    C(IS_RUN, RUN_DOC)                                                                             \
    C(IS_HOST, HOST_DOC)                                                                           \
    C(IS_PATH, "path", "TEXT", NULL,                                                               \
      "file with the issue; NULL if it could not be opened (the message names it)", "libprofsql")  \
    C(IS_OFFSET, "byte_offset", "INTEGER", "bytes",                                                \
      "position of the first such issue in the file, after decompression; NULL if that is the "    \
      "file's first byte, if it is unknown, or if the issue has no single position",               \
      "libprofsql")                                                                                \
    C(IS_SEVERITY, "severity", "TEXT", NULL,                                                       \
      "error: data was lost, or the profiler reported an error; warning: data was repaired or is " \
      "doubtful; info: a remark",                                                                  \
      "libprofsql")                                                                                \
    C(IS_CODE, "code", "TEXT", NULL, ISSUE_CODES, "libprofsql")                                    \
    C(IS_COUNT, "count", "INTEGER", NULL,                                                          \
      "number of issues of this code at this place; for newest_run, number of runs that were not " \
      "read",                                                                                      \
      "libprofsql")                                                                                \
    C(IS_MESSAGE, "message", "TEXT", NULL, "what was lost, was repaired or is doubtful",           \
      "libprofsql")                                                                                \
    C(IS_LOST, "lost_bytes", "INTEGER", "bytes",                                                   \
      "bytes of the file that no row shows because of the issue", "libprofsql")                    \
    C(IS_SOURCE, SOURCE_DOC)
enum { ISSUES_COLUMNS(COLUMN_ENUM) };
static const Column issues_columns[] = {ISSUES_COLUMNS(COLUMN_DOC)};

/* The host's issues, to which analyses may add; then the diagnostics of XProf's pages; then, for
 * the first host, which run of a log dir was opened. */
enum IssuePart { ISSUE_OF_HOST, ISSUE_DIAGNOSTIC, ISSUE_NEWEST_RUN };
typedef struct {
    Diagnostic *diagnostics;
    size_t n_diagnostics, nth; /* nth: in this part */
    enum IssuePart part;
} IssueAt;

static void issues_close(void *state) { prof_free(((IssueAt *)state)->diagnostics); }

static bool issues_next(RowCursor *c)
{
    IssueAt *at = c->state;
    Issue issue;
    if (!c->started &&
        (!run_check_stats(c->host->run, &c->err) ||
         hlo_check_programs(c->host, hlo_validate, &c->err) || !host_launches(c->host, &c->err) ||
         !host_diagnostics(c->host, c->from->only, &at->diagnostics, &at->n_diagnostics, &c->err)))
        return false;
    bool is_first = c->host == c->from->run->hosts;
    at->nth += c->started;
    if (at->part == ISSUE_OF_HOST && !find_issue(c, &at->nth, &issue))
        at->part = ISSUE_DIAGNOSTIC, at->nth = 0;
    if (at->part == ISSUE_DIAGNOSTIC && at->nth == at->n_diagnostics)
        at->part = ISSUE_NEWEST_RUN, at->nth = 0;
    c->place = host_place(c, at->part, at->nth);
    return !c->err.code &&
           (at->part < ISSUE_NEWEST_RUN || (!at->nth && is_first && c->from->n_others));
}

static void issue_column(const RowCursor *c, const Issue *issue, sqlite3_context *ctx, int column)
{
    switch (column) {
    case IS_OFFSET:
        if (issue->offset && !is_withheld(c))
            sqlite3_result_int64(ctx, (sqlite3_int64)issue->offset);
        break;
    case IS_SEVERITY: result_static(ctx, issue->severity); break;
    case IS_CODE: result_static(ctx, issue->code); break;
    case IS_COUNT: sqlite3_result_int64(ctx, (sqlite3_int64)issue->count); break;
    case IS_MESSAGE: result_file_path(c, ctx, message_of(c, issue)); break;
    case IS_LOST: sqlite3_result_int64(ctx, (sqlite3_int64)issue->lost_bytes); break;
    default: break;
    }
}

static void diagnostic_column(const Diagnostic *said, sqlite3_context *ctx, int column)
{
    switch (column) {
    case IS_SEVERITY: result_static(ctx, said->severity); break;
    case IS_CODE: result_static(ctx, said->code); break;
    case IS_COUNT: sqlite3_result_int64(ctx, (sqlite3_int64)said->count); break;
    case IS_MESSAGE:
        sqlite3_result_text64(ctx, said->message, said->n_bytes, SQLITE_TRANSIENT, SQLITE_UTF8);
        break;
    case IS_LOST: sqlite3_result_int64(ctx, 0); break;
    default: break;
    }
}

static void newest_column(const RowCursor *c, sqlite3_context *ctx, int column)
{
    const SourceRun *from = c->from;
    char *message;
    switch (column) {
    case IS_SEVERITY: result_static(ctx, "info"); break;
    case IS_CODE: result_static(ctx, "newest_run"); break;
    case IS_COUNT: sqlite3_result_int64(ctx, (sqlite3_int64)from->n_others); break;
    case IS_MESSAGE:
        message = sqlite3_mprintf("%s is the newest by name of %llu runs in the log dir; "
                                  "prof_find() lists the others, whose paths are sources",
                                  from->run->path, (uint64_t)from->n_others + 1);
        if (message)
            result_file_path(c, ctx, message);
        else
            sqlite3_result_error_nomem(ctx);
        sqlite3_free(message);
        break;
    case IS_LOST: sqlite3_result_int64(ctx, 0); break;
    default: break;
    }
}

static void issues_column(RowCursor *c, sqlite3_context *ctx, int column)
{
    const IssueAt *at = c->state;
    Issue issue;
    if (column == IS_PATH)
        result_file_path(c, ctx, c->host->file.path);
    else if (at->part == ISSUE_NEWEST_RUN)
        newest_column(c, ctx, column);
    else if (at->part == ISSUE_DIAGNOSTIC)
        diagnostic_column(&at->diagnostics[at->nth], ctx, column);
    else if (host_issue_at(c->host, at->nth, &issue, &c->err))
        issue_column(c, &issue, ctx, column);
}

static const RowSource issues_rows = {.next = issues_next,
                                      .reads_events = true,
                                      .tells_asked = true,
                                      .state_bytes = sizeof(IssueAt),
                                      .close = issues_close,
                                      .column = issues_column};
const Table prof_issues_table = {
    "prof_issues",
    "one problem of a file (data was lost, was repaired or is doubtful), one reason why a table "
    "has no rows, or one warning of an XProf page",
    issues_columns,
    COUNT(issues_columns),
    &row_table_module,
    &issues_rows,
    4,
    "0.1.0",
    "SELECT severity, code, message, lost_bytes FROM prof_issues"};
