// SPDX-License-Identifier: Apache-2.0
/* profsql.c: the entry points, and the one list of tables and of functions.
 *
 *   .load ./libprofsql
 *   SELECT * FROM top_ops('logs/plugins/profile/2026_11_20') LIMIT 10; */
#include "prof.h"
SQLITE_EXTENSION_INIT1

#include <pthread.h>

/* ---- the lists ---- */

/* clang-format off */
#define TABLES(T) \
    T(prof_tables) \
    T(prof_columns) \
    T(prof_functions) \
    T(prof_queries) \
    T(prof_differences) \
    T(prof_runs) \
    T(prof_find) \
    T(hosts) \
    T(planes) \
    T(lines) \
    T(trace_events) \
    T(events) \
    T(event_totals) \
    T(timeline) \
    T(xprof_events) \
    T(event_stats) \
    T(event_metadata) \
    T(event_metadata_stats) \
    T(stat_metadata) \
    T(plane_stats) \
    T(session) \
    T(prof_issues) \
    T(devices) \
    T(device_time) \
    T(device_steps) \
    T(op_metrics) \
    T(op_metrics_totals) \
    T(tf_ops) \
    T(hlo_ops) \
    T(kernel_stats) \
    T(kernel_ops) \
    T(op_profile) \
    T(roofline) \
    T(roofline_properties) \
    T(tf_functions) \
    T(overview) \
    T(top_device_ops) \
    T(recommendations) \
    T(steps) \
    T(step_breakdown) \
    T(core_steps) \
    T(host_steps) \
    T(input_pipeline) \
    T(input_steps) \
    T(input_ops) \
    T(input_breakdown) \
    T(tf_data_pipelines) \
    T(tf_data_calls) \
    T(tf_data_iterators) \
    T(hlo_modules) \
    T(hlo_computations) \
    T(hlo_instructions) \
    T(hlo_operands) \
    T(hlo_text) \
    T(buffer_allocations) \
    T(heap_timeline) \
    T(memory_peaks) \
    T(memory_events) \
    T(memory_allocators) \
    T(memory_active) \
    T(async_ops) \
    T(collectives) \
    T(dcn_collectives) \
    T(dcn_messages) \
    T(dcn_bursts) \
    T(inference_models) \
    T(inference_requests) \
    T(inference_batches) \
    T(inference_percentiles) \
    T(inference_tensor_patterns) \
    T(inference_latency) \
    T(perf_counters) \
    T(utilization) \
    T(kernel_utilization) \
    T(profsql_live)
#define DECLARE(name) extern const Table name##_table;
#define ADDRESS(name) &name##_table,
TABLES(DECLARE)
const Table *const prof_tables[] = {TABLES(ADDRESS)};
const int n_prof_tables = COUNT(prof_tables);

const FunctionList prof_function_lists[] = {
    {admin_functions, &n_admin_functions},
    {interval_functions, &n_interval_functions},
    {padding_functions, &n_padding_functions},
    {statistics_functions, &n_statistics_functions},
    {flops_functions, &n_flops_functions},
};
/* clang-format on */
const int n_prof_function_lists = COUNT(prof_function_lists);

/* ---- registering ---- */

/* Tables, queries and functions that need no file come in both entries; the rest only in the full
 * one. */
static bool opens_files(const Table *table)
{
    return !table->rows || !table->rows->without_source || table == &prof_find_table;
}

static void free_context(void *p)
{
    TableContext *context = p;
    prof_unref(context->prof);
    sqlite3_free(context);
}

static void free_query_context(void *p)
{
    QueryContext *context = p;
    prof_unref(context->prof);
    sqlite3_free(context);
}

static int register_table(sqlite3 *db, Prof *prof, const Table *table)
{
    TableContext *context = sqlite3_malloc64(sizeof *context);
    if (!context) return SQLITE_NOMEM;
    *context = (TableContext){prof_ref(prof), table, statement_module(table)};
    return sqlite3_create_module_v2(db, table->name, &context->module, context,
                                    free_context); /* frees it even on failure */
}

static int register_query(sqlite3 *db, Prof *prof, const Query *query)
{
    QueryContext *context = sqlite3_malloc64(sizeof *context);
    if (!context) return SQLITE_NOMEM;
    *context = (QueryContext){prof_ref(prof), query};
    return sqlite3_create_module_v2(db, query->name, &query_module, context, free_query_context);
}

static int register_function(sqlite3 *db, Prof *prof, const FunctionDef *f)
{
    prof_ref(prof);
    if (f->kind == FUNCTION_WINDOW)
        return sqlite3_create_window_function(db, f->name, f->n_args, f->flags, prof, f->xStep,
                                              f->xFinal, f->xValue, f->xInverse, prof_unref);
    return sqlite3_create_function_v2(db, f->name, f->n_args, f->flags, prof, f->xFunc, f->xStep,
                                      f->xFinal, prof_unref);
}

/* What an entry registers. */
enum { HARMLESS = 1, OPENING_FILES = 2 };

static bool is_among(int parts, bool opening_files)
{
    return (parts & (opening_files ? OPENING_FILES : HARMLESS)) != 0;
}

static int register_all(sqlite3 *db, Prof *prof, int parts)
{
    int rc = SQLITE_OK;
    for (int i = 0; i < n_prof_tables && rc == SQLITE_OK; i++)
        if (is_among(parts, opens_files(prof_tables[i])))
            rc = register_table(db, prof, prof_tables[i]);
    for (int i = 0; i < n_prof_queries && is_among(parts, true) && rc == SQLITE_OK; i++)
        rc = register_query(db, prof, &prof_queries[i]);
    for (int i = 0; i < n_prof_function_lists; i++)
        for (int k = 0; k < *prof_function_lists[i].n && rc == SQLITE_OK; k++) {
            const FunctionDef *f = &prof_function_lists[i].functions[k];
            if (is_among(parts, f->flags & SQLITE_DIRECTONLY)) rc = register_function(db, prof, f);
        }
    return rc;
}

/* SQLite unmaps a library whose entry fails but keeps what it registered: take it back. */
static void unregister_all(sqlite3 *db, int parts)
{
    for (int i = 0; i < n_prof_tables; i++)
        if (is_among(parts, opens_files(prof_tables[i])))
            sqlite3_create_module_v2(db, prof_tables[i]->name, NULL, NULL, NULL);
    for (int i = 0; i < n_prof_queries && is_among(parts, true); i++)
        sqlite3_create_module_v2(db, prof_queries[i].name, NULL, NULL, NULL);
    for (int i = 0; i < n_prof_function_lists; i++)
        for (int k = 0; k < *prof_function_lists[i].n; k++) {
            const FunctionDef *f = &prof_function_lists[i].functions[k];
            if (is_among(parts, f->flags & SQLITE_DIRECTONLY))
                sqlite3_create_function_v2(db, f->name, f->n_args, SQLITE_UTF8, NULL, NULL, NULL,
                                           NULL, NULL);
        }
}

/* Removes from *wanted what the connection has already, to be seen by one function of it. */
static int leave_out(sqlite3 *db, const char *call, int part, int *wanted)
{
    sqlite3_stmt *stmt = NULL;
    int rc = sqlite3_prepare_v2(db, call, -1, &stmt, NULL);
    sqlite3_finalize(stmt);
    bool absent = rc == SQLITE_ERROR &&
                  !strncmp(sqlite3_errmsg(db), "no such function", sizeof "no such function" - 1);
    if (!absent) *wanted &= ~part;
    return rc == SQLITE_ERROR || rc == SQLITE_AUTH ? SQLITE_OK
                                                   : rc; /* what an authorizer hides is there */
}

static void *host_alloc(uint64_t n) { return sqlite3_malloc64(n); }
static void *host_resize(void *p, uint64_t n) { return sqlite3_realloc64(p, n); }
static void host_release(void *p) { sqlite3_free(p); }

/* Once: another connection's load may be using it. */
static void bind_memory(void)
{
    prof_use_memory((ProfMemory){host_alloc, host_resize, host_release});
}

/* Loaded again, it leaves what is there, and the attached runs with it. */
static int init(sqlite3 *db, char **message, int wanted)
{
    static pthread_once_t bound = PTHREAD_ONCE_INIT;
    if (sqlite3_libversion_number() < 3038000) {
        *message = sqlite3_mprintf("libprofsql needs SQLite 3.38 or later; this is SQLite %s",
                                   sqlite3_libversion());
        return SQLITE_ERROR;
    }
    pthread_once(&bound, bind_memory);
    int rc = leave_out(db, "SELECT prof_version()", HARMLESS, &wanted);
    if (rc == SQLITE_OK) rc = leave_out(db, "SELECT prof_clear()", OPENING_FILES, &wanted);
    if (rc != SQLITE_OK) return *message = sqlite3_mprintf("%s", sqlite3_errstr(rc)), rc;
    if (!wanted) return SQLITE_OK;
    Prof *prof = sqlite3_malloc64(sizeof *prof);
    if (!prof) return *message = sqlite3_mprintf("out of memory"), SQLITE_NOMEM;
    *prof = (Prof){.db = db, .n_references = 1};
    rc = register_all(db, prof, wanted);
    if (rc != SQLITE_OK) {
        unregister_all(db, wanted);
        *message = sqlite3_mprintf("%s", sqlite3_errstr(rc)); /* SQLite shows nothing else of rc */
    }
    prof_unref(prof); /* the registrations hold it now */
    return rc;
}

#ifdef __GNUC__
#define EXPORTED __attribute__((visibility("default")))
#else
#define EXPORTED
#endif

EXPORTED int sqlite3_profsql_init(sqlite3 *db, char **message, const sqlite3_api_routines *api);
EXPORTED int sqlite3_profsql_nofile_init(sqlite3 *db, char **message,
                                         const sqlite3_api_routines *api);

/* Everything. */
int sqlite3_profsql_init(sqlite3 *db, char **message, const sqlite3_api_routines *api)
{
    (void)api;
    SQLITE_EXTENSION_INIT2(api);
    return init(db, message, HARMLESS | OPENING_FILES);
}

/* For hosts that run other people's SQL: nothing that opens a path. */
int sqlite3_profsql_nofile_init(sqlite3 *db, char **message, const sqlite3_api_routines *api)
{
    (void)api;
    SQLITE_EXTENSION_INIT2(api);
    return init(db, message, HARMLESS);
}
