// SPDX-License-Identifier: Apache-2.0
/* profsql.c: the entry points, and the lists of tables and functions.
 *
 *   .load ./libprofsql
 *   SELECT * FROM top_ops('logs/plugins/profile/2026_11_20') LIMIT 10; */
#include "prof.h"
#include "profsql.h"
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
    T(prof_help) \
    T(hosts) \
    T(planes) \
    T(lines) \
    T(trace_events) \
    T(events) \
    T(event_totals) \
    T(op_percentiles) \
    T(slow_calls) \
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
    T(time_breakdown) \
    T(op_metrics) \
    T(op_metrics_totals) \
    T(tf_ops) \
    T(hlo_ops) \
    T(scope_ops) \
    T(kernel_stats) \
    T(kernel_ops) \
    T(launch_delays) \
    T(graph_kernels) \
    T(launch_latency) \
    T(launch_queue) \
    T(program_runs) \
    T(program_totals) \
    T(program_gaps) \
    T(gaps) \
    T(op_profile) \
    T(compilations) \
    T(recompilations) \
    T(compiler_events) \
    T(idle_causes) \
    T(all_others) \
    T(wait_totals) \
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
    T(step_ops) \
    T(step_op_spread) \
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
    T(memory_time) \
    T(memory_over_time) \
    T(memory_ops) \
    T(async_ops) \
    T(async_op_totals) \
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
    T(profsql_live) \
    T(prof_capture) \
    T(prof_monitor)
#define DECLARE(name) extern const Table name##_table;
#define ADDRESS(name) &name##_table,
TABLES(DECLARE)
const Table *const prof_tables[] = {TABLES(ADDRESS)};
const int n_prof_tables = COUNT(prof_tables);
enum { N_REACHING = 2 }; /* the last tables connect to other machines */

int n_tables_of(const Prof *prof)
{
    return prof->serving ? n_prof_tables - N_REACHING : n_prof_tables;
}

const FunctionList prof_function_lists[] = {
    {admin_functions, &n_admin_functions},
    {interval_functions, &n_interval_functions},
    {padding_functions, &n_padding_functions},
    {statistics_functions, &n_statistics_functions},
    {flops_functions, &n_flops_functions},
    {chart_functions, &n_chart_functions},
    {scope_functions, &n_scope_functions},
};
/* clang-format on */
const int n_prof_function_lists = COUNT(prof_function_lists);

/* ---- registering ---- */

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

/* Registers a table. sqlite3_create_module_v2() frees the context even on failure. */
static int register_table(Prof *prof, const char *name, const Table *table, bool is_view)
{
    TableContext *context = sqlite3_malloc64(sizeof *context);
    if (!context) return SQLITE_NOMEM;
    *context = (TableContext){prof_ref(prof), table, statement_module(table)};
    if (is_view) {
        context->module.xCreate = context->module.xConnect;
        context->module.xDestroy = context->module.xDisconnect;
    }
    return sqlite3_create_module_v2(prof->db, name, &context->module, context, free_context);
}

static int register_query(Prof *prof, const char *name, const Query *query, bool is_view)
{
    QueryContext *context = sqlite3_malloc64(sizeof *context);
    if (!context) return SQLITE_NOMEM;
    *context = (QueryContext){prof_ref(prof), query};
    return sqlite3_create_module_v2(prof->db, name, is_view ? &query_view_module : &query_module,
                                    context, free_query_context);
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

/* Removes a module that the connection may no longer use. */
static int unregister_table(Prof *prof, const char *name)
{
    return sqlite3_create_module_v2(prof->db, name, NULL, NULL, NULL);
}

int register_tables(Prof *prof)
{
    int rc = SQLITE_OK;
    for (int i = 0; i < n_prof_tables + n_prof_queries && rc == SQLITE_OK; i++) {
        const Table *table = i < n_prof_tables ? prof_tables[i] : NULL;
        const Query *query = table ? NULL : &prof_queries[i - n_prof_tables];
        const char *name = table ? table->name : query->name;
        char view[100];
        sqlite3_snprintf(sizeof view, view, VIEW_MODULE, name);
        rc = table ? register_table(prof, name, table, false)
                   : register_query(prof, name, query, false);
        if (rc == SQLITE_OK)
            rc = table ? register_table(prof, view, table, true)
                       : register_query(prof, view, query, true);
        if (rc == SQLITE_OK && table && i >= n_tables_of(prof)) {
            unregister_table(prof, name);
            unregister_table(prof, view);
        }
    }
    return rc;
}

static int register_functions(Prof *prof)
{
    int rc = SQLITE_OK;
    for (int i = 0; i < n_prof_function_lists; i++)
        for (int k = 0; k < *prof_function_lists[i].n && rc == SQLITE_OK; k++) {
            const FunctionDef *f = &prof_function_lists[i].functions[k];
            rc = register_function(prof->db, prof, f);
            /* Functions cannot be replaced while a statement runs, such as SELECT load_extension().
             * SQLite 3.51 has some of these itself; they then stay. */
            if (rc == SQLITE_BUSY && prof_function_lists[i].functions == statistics_functions)
                rc = SQLITE_OK;
        }
    return rc;
}

/* Takes back all registrations, because SQLite unmaps a library whose entry point fails but keeps
 * what it registered. */
static void unregister_all(sqlite3 *db)
{
    for (int i = 0; i < n_prof_tables + n_prof_queries; i++) {
        const char *name =
            i < n_prof_tables ? prof_tables[i]->name : prof_queries[i - n_prof_tables].name;
        char view[100];
        sqlite3_snprintf(sizeof view, view, VIEW_MODULE, name);
        sqlite3_create_module_v2(db, name, NULL, NULL, NULL);
        sqlite3_create_module_v2(db, view, NULL, NULL, NULL);
    }
    for (int i = 0; i < n_prof_function_lists; i++)
        for (int k = 0; k < *prof_function_lists[i].n; k++) {
            const FunctionDef *f = &prof_function_lists[i].functions[k];
            sqlite3_create_function_v2(db, f->name, f->n_args, SQLITE_UTF8, NULL, NULL, NULL, NULL,
                                       NULL);
        }
}

/* Returns whether the connection has libprofsql, by one of its functions. */
static int is_registered(sqlite3 *db, bool *is)
{
    sqlite3_stmt *stmt = NULL;
    int rc = sqlite3_prepare_v2(db, "SELECT prof_clear()", -1, &stmt, NULL);
    sqlite3_finalize(stmt);
    *is = rc != SQLITE_ERROR ||
          strncmp(sqlite3_errmsg(db), "no such function", sizeof "no such function" - 1) != 0;
    return rc == SQLITE_ERROR || rc == SQLITE_AUTH ? SQLITE_OK
                                                   /* a function that an authorizer hides exists */
                                                   : rc;
}

static void *host_alloc(uint64_t n) { return sqlite3_malloc64(n); }
static void *host_resize(void *p, uint64_t n) { return sqlite3_realloc64(p, n); }
static void host_release(void *p) { sqlite3_free(p); }

/* Done once, because another connection may be allocating. */
static void bind_memory(void)
{
    prof_use_memory((ProfMemory){host_alloc, host_resize, host_release});
}

/* If it is loaded again, existing tables and attached runs stay. */
static int init(sqlite3 *db, char **message, bool *is_new)
{
    static pthread_once_t bound = PTHREAD_ONCE_INIT;
    bool is_there;
    *is_new = false;
    if (sqlite3_libversion_number() < 3038000) {
        *message = sqlite3_mprintf("libprofsql needs SQLite 3.38 or later; this is SQLite %s",
                                   sqlite3_libversion());
        return SQLITE_ERROR;
    }
    pthread_once(&bound, bind_memory);
    int rc = is_registered(db, &is_there);
    if (rc != SQLITE_OK) {
        *message = sqlite3_mprintf("%s", sqlite3_errstr(rc));
        return rc;
    }
    if (is_there) return SQLITE_OK;
    Prof *prof = prof_new(db);
    if (!prof) {
        *message = sqlite3_mprintf("out of memory");
        return SQLITE_NOMEM;
    }
    rc = register_tables(prof);
    if (rc == SQLITE_OK) rc = register_functions(prof);
    if (rc != SQLITE_OK) {
        unregister_all(db);
        *message = sqlite3_mprintf("%s", sqlite3_errstr(rc)); /* SQLite only shows this text */
    }
    prof_unref(prof); /* the registrations hold it from here on */
    *is_new = rc == SQLITE_OK;
    return rc;
}

EXPORTED int sqlite3_profsql_init(sqlite3 *db, char **message, const sqlite3_api_routines *api)
{
    (void)api;
    SQLITE_EXTENSION_INIT2(api);
    bool is_new;
    return init(db, message, &is_new);
}

EXPORTED int sqlite3_profsql_nofile_init(sqlite3 *db, char **message,
                                         const sqlite3_api_routines *api)
{
    (void)api;
    SQLITE_EXTENSION_INIT2(api);
    bool is_new;
    int rc = init(db, message, &is_new);
    if (rc == SQLITE_OK) rc = serve_from_environment(db, message);
    if (rc != SQLITE_OK && is_new) unregister_all(db);
    return rc;
}
