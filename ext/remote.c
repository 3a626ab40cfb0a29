// SPDX-License-Identifier: Apache-2.0
/* remote.c: the tables that call profiler servers in running programs: prof_capture takes profiles,
 * prof_monitor measures.
 *
 *   SELECT run_path, host, error FROM prof_capture('localhost:9012', 1000);
 *   SELECT step_time_ms, measured_by FROM prof_monitor('localhost:9012', 1000);
 *
 * Each scan calls the servers again. A serving connection does not have these tables. */
#include "../loader/remote/profile_measures.h"
#include "prof.h"
SQLITE_EXTENSION_INIT3

#include <math.h>
#include <stdio.h>

enum { DEFAULT_MS = 1000, ATTEMPTS = 3, LONGEST_MS = 24 * 3600 * 1000 };
static const char default_logdir[] = "logs";

/* ---- shared by both tables ---- */

typedef struct {
    RemoteCapture capture;
    char *text; /* the addresses; `list` points into it */
    const char **list;
    size_t n, capacity;
} Asked;

static void asked_free(Asked *a)
{
    profiler_options_free(a->capture.request.options);
    prof_free(a->list);
    prof_free(a->text);
}

/* Returns whether SQL's statement was interrupted, which ends the calls at once. */
static int stop(void *context)
{
    RowCursor *c = context;
    return interrupt_ask(&c->err) ? 2 : 0;
}

static bool add_address(Asked *a, char *address, RowCursor *c)
{
    if (!is_address(address))
        prof_fail(&c->err, PROF_NOTFOUND, 0,
                  "'%s' is not the address of a server: give HOST:PORT, such as localhost:9012",
                  address);
    else if (!GROW(a->list, a->n, a->capacity))
        prof_nomem(&c->err);
    else
        a->list[a->n++] = address;
    return !c->err.code;
}

static bool read_addresses(Asked *a, const char *table, RowCursor *c)
{
    const char *given = row_source(c);
    if (!given) {
        prof_fail(
            &c->err, PROF_NOTFOUND, 0,
            "%s needs the address of a profiler server: SELECT * FROM %s('localhost:9012', 1000)",
            table, table);
        return false;
    }
    size_t n = strlen(given);
    if (!(a->text = prof_alloc(n + 1))) {
        prof_nomem(&c->err);
        return false;
    }
    memcpy(a->text, given, n);
    for (char *word = a->text, *comma; word; word = comma ? comma + 1 : NULL) {
        if ((comma = strchr(word, ','))) *comma = 0;
        if (!add_address(a, word, c)) return false;
    }
    return true;
}

static bool ask_with(Asked *a, const char *table, RowCursor *c)
{
    if (!read_addresses(a, table, c)) return false;
    sqlite3_int64 ms = row_integer_parameter(c, 0, DEFAULT_MS);
    if (ms < 1 || ms > LONGEST_MS) {
        prof_fail(&c->err, PROF_NOTFOUND, 0, "%s: duration_ms must be 1 to %d", table, LONGEST_MS);
        return false;
    }
    a->capture = (RemoteCapture){.caller = {.context = c, .stop = stop},
                                 .addresses = a->list,
                                 .n_addresses = a->n,
                                 .attempts = ATTEMPTS,
                                 .request = {.duration_ms = ms, .emit = true}};
    a->capture.request.options = profiler_options_new();
    return a->capture.request.options || (prof_nomem(&c->err), false);
}

/* ---- prof_capture ---- */

#define CAPTURE_COLUMNS(C)                                                                         \
    C(PC_RUN, "run_path", "TEXT", NULL,                                                            \
      "path of the new run, usable as a source; NULL if the run is on the machine of the server, " \
      "or there is no profile",                                                                    \
      "libprofsql")                                                                                \
    C(PC_HOST, "host", "TEXT", NULL,                                                               \
      "name of the host in the run: its address with : replaced by _", "libprofsql")               \
    C(PC_PATH, "path", "TEXT", NULL,                                                               \
      "path of the host's file, on the machine of the server if run_path is NULL; NULL if there "  \
      "is no profile",                                                                             \
      "libprofsql")                                                                                \
    C(PC_SIZE, "size_bytes", "INTEGER", "bytes",                                                   \
      "size of the profile that the server sent; NULL if it sent none", "libprofsql")              \
    C(PC_ERROR, "error", "TEXT", NULL, "why the host has no profile; NULL if it has one",          \
      "libprofsql")                                                                                \
    C(PC_ADDRESS, "address", "TEXT HIDDEN", NULL,                                                  \
      "HOST:PORT of the profiler server in the program; several addresses, separated by commas, "  \
      "are profiled at the same time",                                                             \
      "argument 1")                                                                                \
    C(PC_DURATION, "duration_ms", "INTEGER HIDDEN", "ms",                                          \
      "duration of the recording; default: 1000", "argument 2")                                    \
    C(PC_DIR, "logdir", "TEXT HIDDEN", NULL,                                                       \
      "log dir; the run is written to a folder in its plugins/profile; default: logs",             \
      "argument 3")
enum { CAPTURE_COLUMNS(COLUMN_ENUM) };
static const Column capture_columns[] = {CAPTURE_COLUMNS(COLUMN_DOC)};

typedef struct {
    Asked asked;
    RemoteHost *hosts;
    char run[32], run_path[4096];
} Captured;

static void capture_close(void *state)
{
    Captured *s = state;
    asked_free(&s->asked);
    prof_free(s->hosts);
}

static const char *first_reason(const Captured *s)
{
    for (size_t i = 0; i < s->asked.n; i++)
        if (s->hosts[i].outcome) return s->hosts[i].why;
    return "";
}

static void capture_list(RowCursor *c, RowList *list)
{
    Captured *s = c->state;
    RemoteCapture *capture = &s->asked.capture;
    *list = (RowList){0};
    if (!ask_with(&s->asked, "prof_capture", c)) return;
    capture->logdir = row_text_parameter(c, 1, default_logdir);
    run_name_of_now(s->run);
    capture->request.session_id = s->run;
    snprintf(s->run_path, sizeof s->run_path, "%.3500s/plugins/profile/%s", capture->logdir,
             s->run);
    if (!(s->hosts = prof_alloc(s->asked.n * sizeof *s->hosts))) {
        prof_nomem(&c->err);
        return;
    }
    enum RemoteOutcome outcome = remote_capture(capture, s->hosts, &c->err);
    if (outcome && outcome != REMOTE_PARTLY)
        prof_fail(&c->err, PROF_NOTFOUND, 0, "%s: %s", row_source(c), first_reason(s));
    *list = ROW_LIST(s->hosts, s->asked.n);
}

static void text_or_null(sqlite3_context *ctx, const char *text)
{
    if (*text) sqlite3_result_text(ctx, text, -1, SQLITE_TRANSIENT);
}

static void capture_column(RowCursor *c, sqlite3_context *ctx, int column)
{
    const Captured *s = c->state;
    const RemoteHost *host = c->row;
    switch (column) {
    case PC_RUN: text_or_null(ctx, host->is_here ? s->run_path : ""); break;
    case PC_HOST: text_or_null(ctx, host->host); break;
    case PC_PATH: text_or_null(ctx, host->path); break;
    case PC_SIZE:
        if (host->n_bytes) result_u64(ctx, host->n_bytes);
        break;
    case PC_ERROR: text_or_null(ctx, host->why); break;
    default: break;
    }
}

static const RowSource capture_rows = {.list = capture_list,
                                       .state_bytes = sizeof(Captured),
                                       .close = capture_close,
                                       .column = capture_column,
                                       .without_source = true,
                                       .n_parameters = 2};
const Table prof_capture_table = {
    "prof_capture",
    "one host whose running program was profiled by this query (docs/remote.md)",
    capture_columns,
    COUNT(capture_columns),
    &row_table_module,
    &capture_rows,
    1,
    "0.1.0",
    "SELECT run_path, host, error FROM prof_capture('localhost:9012', 1000)"};

/* ---- prof_monitor ---- */

#define MEASURED "; NULL if unknown, as at level 1 or for a program without devices or steps"
#define MONITOR_COLUMNS(C)                                                                         \
    C(PM_BY, "measured_by", "TEXT", NULL,                                                          \
      "service: the server measured; profile: it cannot, and the numbers come from kpi and steps " \
      "on a profile that was recorded for this query",                                             \
      "libprofsql")                                                                                \
    C(PM_TEXT, "text", "TEXT", NULL, "the measurement as text of several lines",                   \
      "MonitorResponse.data")                                                                      \
    C(PM_HARDWARE, "hardware", "TEXT", NULL,                                                       \
      "kind of hardware: CPU_ONLY, GPU or TPU; NULL if unknown, and if measured_by is service",    \
      "kpi.hardware")                                                                              \
    C(PM_IDLE, "idle_percent", "REAL", "percent 0..100",                                           \
      "share of the time in which the devices are idle" MEASURED,                                  \
      "device_idle_time_percent; kpi.device_busy_percent")                                         \
    C(PM_UTILIZATION, "utilization_percent", "REAL", "percent",                                    \
      "utilization of the matrix units; if measured_by is profile, operations of the steps as a "  \
      "share of the devices' peak; NULL if unknown",                                               \
      "matrix_unit_utilization_percent; kpi.flops_utilization_percent")                            \
    C(PM_STEP, "step_time_ms", "REAL", "ms", "average duration of a step" MEASURED,                \
      "step_time_ms_avg; kpi.step_time_ms")                                                        \
    C(PM_STEP_MIN, "step_time_min_ms", "REAL", "ms", "duration of the shortest step" MEASURED,     \
      "step_time_ms_min; steps.duration_ms")                                                       \
    C(PM_STEP_MAX, "step_time_max_ms", "REAL", "ms", "duration of the longest step" MEASURED,      \
      "step_time_ms_max; steps.duration_ms")                                                       \
    C(PM_INPUT, "input_percent", "REAL", "percent 0..100",                                         \
      "average share of step time spent on input" MEASURED,                                        \
      "infeed_percent_avg; kpi.input_percent")                                                     \
    C(PM_ADDRESS, "address", "TEXT HIDDEN", NULL,                                                  \
      "HOST:PORT of the profiler server in the program", "argument 1")                             \
    C(PM_DURATION, "duration_ms", "INTEGER HIDDEN", "ms",                                          \
      "duration of the measurement; default: 1000", "argument 2")                                  \
    C(PM_LEVEL, "level", "INTEGER HIDDEN", "1 to 2",                                               \
      "1: a short measurement; 2: all columns; default 2", "argument 3")
enum { MONITOR_COLUMNS(COLUMN_ENUM) };
static const Column monitor_columns[] = {MONITOR_COLUMNS(COLUMN_DOC)};

typedef struct {
    Asked asked;
    RemoteMeasures measures;
    char hardware[100], text[1000]; /* of a profile */
    bool by_profile;
} Measured;

static void monitor_close(void *state)
{
    Measured *s = state;
    asked_free(&s->asked);
    prof_free(s->measures.text);
}

static double column_or_nan(sqlite3_stmt *stmt, int column)
{
    return sqlite3_column_type(stmt, column) == SQLITE_NULL ? (double)NAN
                                                            : sqlite3_column_double(stmt, column);
}

static void read_measures(Measured *s, sqlite3_stmt *stmt)
{
    const char *hardware = (const char *)sqlite3_column_text(stmt, MEASURE_HARDWARE);
    snprintf(s->hardware, sizeof s->hardware, "%s", hardware ? hardware : "");
    s->measures.idle_percent = column_or_nan(stmt, MEASURE_IDLE);
    s->measures.utilization_percent = column_or_nan(stmt, MEASURE_UTILIZATION);
    for (int i = 0; i < 3; i++) s->measures.step_ms[i] = column_or_nan(stmt, MEASURE_STEP + i);
    s->measures.infeed_percent[0] = column_or_nan(stmt, MEASURE_INPUT);
}

/* Keeps only the utilization, as level 1 of the service does. */
static void forget_level_2(RemoteMeasures *m)
{
    m->idle_percent = m->infeed_percent[0] = NAN;
    for (int i = 0; i < 3; i++) m->step_ms[i] = NAN;
}

static void measure_profile(RowCursor *c, Measured *s, int level)
{
    char logdir[4096];
    sqlite3_stmt *stmt = NULL;
    const RemoteCapture *capture = &s->asked.capture;
    if (profile_measures_capture(capture, s->asked.list[0], logdir, &c->err)) return;
    int rc = sqlite3_prepare_v2(row_db(c), profile_measures_sql, -1, &stmt, NULL);
    if (rc == SQLITE_OK) rc = sqlite3_bind_text(stmt, 1, logdir, -1, SQLITE_STATIC);
    if (rc == SQLITE_OK && (rc = sqlite3_step(stmt)) == SQLITE_ROW) read_measures(s, stmt);
    if (rc != SQLITE_ROW)
        prof_fail(&c->err, rc == SQLITE_INTERRUPT ? PROF_INTERRUPT : PROF_FORMAT, 0,
                  "%s: the profile cannot be queried: %s", s->asked.list[0],
                  rc == SQLITE_DONE ? "it is empty" : sqlite3_errmsg(row_db(c)));
    sqlite3_finalize(stmt);
    remove_folder(logdir);
    if (level < 2) forget_level_2(&s->measures);
    s->by_profile = true;
    print_measures(&s->measures, s->hardware, level, capture->request.duration_ms, s->text,
                   sizeof s->text);
}

static void monitor_list(RowCursor *c, RowList *list)
{
    Measured *s = c->state;
    ProfErr refused = {0};
    int level = (int)row_integer_parameter(c, 1, 2);
    *list = (RowList){0};
    if (!ask_with(&s->asked, "prof_monitor", c)) return;
    if (s->asked.n > 1) {
        prof_fail(&c->err, PROF_NOTFOUND, 0, "prof_monitor: give one address");
        return;
    }
    enum RemoteOutcome outcome =
        remote_monitor(&s->asked.capture, level, false, &s->measures, &refused);
    if (outcome == REMOTE_UNIMPLEMENTED)
        measure_profile(c, s, level);
    else if (outcome)
        prof_fail(&c->err, refused.code == PROF_IO ? PROF_NOTFOUND : refused.code, 0, "%s",
                  refused.text);
    *list = (RowList){s, 1, sizeof *s, 0};
}

static void monitor_column(RowCursor *c, sqlite3_context *ctx, int column)
{
    const Measured *s = c->row;
    const RemoteMeasures *m = &s->measures;
    switch (column) { /* NAN becomes NULL */
    case PM_BY: text_or_null(ctx, s->by_profile ? "profile" : "service"); break;
    case PM_TEXT: text_or_null(ctx, s->by_profile ? s->text : m->text); break;
    case PM_HARDWARE: text_or_null(ctx, s->hardware); break;
    case PM_IDLE: sqlite3_result_double(ctx, m->idle_percent); break;
    case PM_UTILIZATION: sqlite3_result_double(ctx, m->utilization_percent); break;
    case PM_STEP: sqlite3_result_double(ctx, m->step_ms[0]); break;
    case PM_STEP_MIN: sqlite3_result_double(ctx, m->step_ms[1]); break;
    case PM_STEP_MAX: sqlite3_result_double(ctx, m->step_ms[2]); break;
    case PM_INPUT: sqlite3_result_double(ctx, m->infeed_percent[0]); break;
    default: break;
    }
}

static const RowSource monitor_rows = {.list = monitor_list,
                                       .state_bytes = sizeof(Measured),
                                       .close = monitor_close,
                                       .column = monitor_column,
                                       .without_source = true,
                                       .n_parameters = 2};
const Table prof_monitor_table = {
    "prof_monitor",
    "one measurement of a running program, made by this query (docs/remote.md)",
    monitor_columns,
    COUNT(monitor_columns),
    &row_table_module,
    &monitor_rows,
    1,
    "0.1.0",
    "SELECT measured_by, step_time_ms, idle_percent FROM prof_monitor('localhost:9012', 1000)"};
