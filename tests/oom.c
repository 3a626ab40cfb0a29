/* Out of memory at every allocation: loads the extension and runs queries while the Nth allocation of SQLite fails, for N = 1, 2, 3, ...
 *
 *     oom [EXTENSION [PROFILE [MOST_RUNS]]]      what the build and tests/data have, if not given
 *
 * Each N runs in a child of its own, first with that one failure and then with everything failing from N on, so that a crash is one
 * failed case and not the end. A run may succeed or say "out of memory"; nothing else, and no byte may be left after close.
 * Up to MOST_RUNS failures of each kind are tried (default 3000): all in the first third, spread evenly over the rest. */
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static sqlite3_mem_methods real;
static long n_calls, fail_at; /* fail_at 0: never */
static int fail_on, n_failed; /* fail_on: the failures go on */

static int failing(void)
{
    long call = __atomic_add_fetch(&n_calls, 1, __ATOMIC_RELAXED); /* the loader may have threads */
    if (!fail_at || call < fail_at || (call > fail_at && !fail_on)) return 0;
    __atomic_add_fetch(&n_failed, 1, __ATOMIC_RELAXED);
    return 1;
}

static void *oom_malloc(int n) { return failing() ? 0 : real.xMalloc(n); }
static void *oom_realloc(void *p, int n) { return failing() ? 0 : real.xRealloc(p, n); }

static const char *const queries[] = {
    "SELECT count(*), sum(duration_ps), sum(self_ps), total(length(name)), total(length(stats)) FROM trace_events(?1)",
    "SELECT * FROM trace_events(?1) WHERE start_ps > 5 AND name LIKE '%a%' ORDER BY start_ps LIMIT 20",
    "SELECT name, count(*), max(end_ps) FROM trace_events(?1) WHERE line_id IN (0, 1, 2) GROUP BY name",
    "SELECT count(*) FROM trace_events(?1) WHERE name = 'no such' OR event_id IN (1, 2, 'x') OR plane = '/host:CPU'",
    "SELECT b.name FROM trace_events(?1) a JOIN trace_events(?1) b ON b.event_id = a.parent_id WHERE a.event_id < 20",
    "SELECT max(step_event_id), max(module_event_id), max(device_self_ps) FROM trace_events(?1)",
    "SELECT max(self_time_ns), max(step), max(tf_op_name), max(input_tensors), max(hlo_fingerprint), max(trace_args) FROM Events(?1)",
    "SELECT plane_id, metadata_id, count(*) FROM trace_events(?1) GROUP BY plane_id, metadata_id",
    "SELECT * FROM event_stats(?1) LIMIT 300",
    "SELECT * FROM hosts(?1)",
    "SELECT * FROM planes(?1)",
    "SELECT * FROM lines(?1)",
    "SELECT * FROM event_metadata(?1)",
    "SELECT * FROM event_metadata_stats(?1)",
    "SELECT * FROM stat_metadata(?1)",
    "SELECT * FROM plane_stats(?1)",
    "SELECT * FROM session(?1)",
    "SELECT * FROM event_totals(?1) ORDER BY total_ps DESC",
    "SELECT * FROM memory_events(?1)",
    "SELECT * FROM memory_allocators(?1)",
    "SELECT * FROM memory_active(?1)",
    "SELECT * FROM live_allocations(?1)",
    "SELECT *, peak_flops(?1) FROM devices(?1)",
    "SELECT * FROM kernel_stats(?1, 0)",
    "SELECT * FROM kernel_ops(?1)",
    "SELECT * FROM compare_ops(?1, ?1, 'hlo')",
    "SELECT * FROM op_metrics(?1)",
    "SELECT * FROM op_metrics_totals('tests/data/tpu_train_54')",
    "SELECT * FROM op_metrics('tests/data/tpu_train_54') LIMIT 80",
    "SELECT * FROM tf_ops(?1)",
    "SELECT * FROM hlo_ops('tests/data/tpu_train_54') LIMIT 20",
    "SELECT * FROM tf_functions(?1)",
    "SELECT * FROM input_ops(?1)",
    "SELECT * FROM input_breakdown(?1)",
    "SELECT * FROM input_steps(?1)",
    "SELECT * FROM top_device_ops(?1)",
    "SELECT * FROM input_pipeline(?1)",
    "SELECT * FROM overview(?1)",
    "SELECT * FROM recommendations('tests/data/tpu_train_54')",
    "SELECT * FROM op_profile(?1, 'provenance')",
    "SELECT * FROM roofline(?1)",
    "SELECT * FROM host_steps(?1)",
    "SELECT * FROM steps(?1)",
    "SELECT * FROM step_breakdown(?1)",
    "SELECT * FROM core_steps(?1)",
    "SELECT * FROM slowest_steps(?1)",
    "SELECT * FROM roofline_properties(?1)",
    "SELECT prof_attach_by_host('tests/data/jax_two_hosts', 'by host')",
    "SELECT (SELECT count(*) FROM op_metrics('by host')), (SELECT count(*) FROM kernel_stats('by host')), (SELECT count(*) FROM host_steps('by host'))",
    "SELECT (SELECT count(*) FROM lines('by host')), prof_detach('by host')",
    "SELECT * FROM async_ops(?1)",
    "SELECT * FROM device_time(?1)",
    "SELECT * FROM perf_counters('tests/data/perf_counters_odd')",
    "SELECT * FROM utilization('tests/data/perf_counters_odd')",
    "SELECT * FROM kernel_utilization('tests/data/perf_counters_odd')",
    "SELECT * FROM dcn_collectives('tests/data/megascale_small')",
    "SELECT * FROM dcn_messages('tests/data/megascale_small')",
    "SELECT * FROM dcn_bursts('tests/data/megascale_small')",
    "SELECT * FROM collectives('tests/data/megascale_small')",
    "SELECT * FROM tf_data_pipelines('tests/data/tf_fit_input_bound')",
    "SELECT * FROM tf_data_calls('tests/data/tf_fit_input_bound')",
    "SELECT * FROM tf_data_iterators('tests/data/tf_fit_input_bound')",
    "SELECT * FROM inference_models('tests/data/inference_batches')",
    "SELECT * FROM inference_requests('tests/data/inference_batches')",
    "SELECT * FROM inference_batches('tests/data/inference_batches')",
    "SELECT * FROM inference_percentiles('tests/data/inference_batches')",
    "SELECT * FROM inference_tensor_patterns('tests/data/inference_batches')",
    "SELECT * FROM inference_latency('tests/data/inference_batches')",
    "SELECT * FROM hlo_modules('tests/data/tf_xla_jit')",
    "SELECT * FROM hlo_computations('tests/data/tf_xla_jit')",
    "SELECT * FROM hlo_instructions('tests/data/tf_xla_jit') LIMIT 40",
    "SELECT * FROM hlo_instructions('tests/data/tf_xla_jit') WHERE hlo_op = 'no such' OR instruction_id = 1",
    "SELECT * FROM hlo_operands('tests/data/tf_xla_jit') LIMIT 40",
    "SELECT * FROM hlo_text('tests/data/tf_xla_jit') LIMIT 20",
    "SELECT * FROM buffer_allocations('tests/data/tf_xla_jit', 1000)",
    "SELECT * FROM heap_timeline('tests/data/tf_xla_jit')",
    "SELECT * FROM memory_peaks('tests/data/tf_xla_jit')",
    "SELECT * FROM peak_memory('tests/data/tf_xla_jit')",
    "SELECT * FROM remat_candidates('tests/data/tf_xla_jit')",
    "SELECT padded_bytes('(f32[8,3]{1,0:T(8,128)}, s32[])'), padding_efficiency(16, 128)",
    "SELECT * FROM prof_issues(?1)",
    "SELECT * FROM top_ops(?1)",
    "SELECT count(*) FROM prof_find(?1)",
    "SELECT prof_attach(?1, 'a')",
    "SELECT * FROM prof_runs",
    "SELECT count(*), max(name) FROM trace_events WHERE run = 'a'",
    "SELECT count(*) FROM planes('a') p JOIN lines('a') l USING (run, plane_id)",
    "SELECT prof_detach('a')",
    "SELECT count(*) FROM prof_columns",
    "SELECT count(*) FROM prof_functions",
    "SELECT count(*) FROM prof_queries",
    "SELECT prof_version(), prof_debug()",
    "SELECT interval_union(start_ps, duration_ps), median(duration_ps), percentile(duration_ps, 90), stddev(duration_ps) FROM trace_events(?1)",
    "SELECT prof_clear()",
    "SELECT count(*) FROM trace_events('/no/such/file')",
};

/* An error that is no lack of memory, printed; 1 if so. Errors that a run without failures has too are not held against it. */
static int wrong(int rc, const char *what, const char *message)
{
    static const char *const fine[] = {"out of memory", "no such file", "no run is attached"}; /* the last when attaching it failed */
    rc &= 0xff;
    if (rc == SQLITE_OK || rc == SQLITE_DONE || rc == SQLITE_ROW || rc == SQLITE_NOMEM) return 0;
    for (size_t i = 0; message && i < sizeof fine / sizeof *fine; i++)
        if (strstr(message, fine[i])) return 0;
    /* where an error is due, SQLite may have had no memory to copy its message */
    if (n_failed && (!message || (strstr(what, "/no/such/file") && !strcmp(message, sqlite3_errstr(rc))))) return 0;
    printf("# %s: rc %d, %s\n", what, rc, message ? message : "(no message)");
    return 1;
}

static int run_query(sqlite3 *db, const char *sql, const char *profile)
{
    sqlite3_stmt *stmt = 0;
    int rc = sqlite3_prepare_v2(db, sql, -1, &stmt, 0);
    if (rc == SQLITE_OK && sqlite3_bind_parameter_count(stmt)) rc = sqlite3_bind_text(stmt, 1, profile, -1, SQLITE_STATIC);
    if (rc == SQLITE_OK) {
        while ((rc = sqlite3_step(stmt)) == SQLITE_ROW) {
            for (int i = 0; i < sqlite3_column_count(stmt); i++) {
                if (i % 2)
                    sqlite3_column_text(stmt, i);
                else
                    sqlite3_column_blob(stmt, i);
            }
        }
    }
    int failed = wrong(rc, sql, sqlite3_errmsg(db));
    sqlite3_finalize(stmt);
    return failed;
}

/* One whole life of the extension; how many things went wrong. *n_load: the allocations up to the end of .load. */
static int life(const char *extension, const char *profile, long *n_load)
{
    sqlite3 *db = 0;
    char *message = 0;
    int failed = 0;
    int rc = sqlite3_open(":memory:", &db);
    failed += wrong(rc, "open", db ? sqlite3_errmsg(db) : 0);
    if (rc == SQLITE_OK) {
        sqlite3_db_config(db, SQLITE_DBCONFIG_ENABLE_LOAD_EXTENSION, 1, 0);
        rc = sqlite3_load_extension(db, extension, 0, &message);
        failed += wrong(rc, "load", message);
        sqlite3_free(message);
        if (n_load) *n_load = n_calls;
        if (rc == SQLITE_OK)
            for (size_t i = 0; i < sizeof queries / sizeof *queries; i++) failed += run_query(db, queries[i], profile);
    }
    rc = sqlite3_close(db);
    failed += wrong(rc, "close", "something is still open");
    if (rc == SQLITE_OK) sqlite3_shutdown();
    if (sqlite3_memory_used()) {
        printf("# %lld bytes left after close\n", (long long)sqlite3_memory_used());
        failed++;
    }
    return failed;
}

/* Runs one life in a child: 0 well, 1 wrong, 2 crashed. */
static int try(const char *extension, const char *profile, long n, int on, int seconds)
{
    fflush(stdout);
    pid_t child = fork();
    if (!child) {
        fail_at = n, fail_on = on;
        alarm(seconds);
        int failed = life(extension, profile, 0);
        fflush(stdout);
        _exit(failed != 0);
    }
    int status = 0;
    waitpid(child, &status, 0);
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return 0;
    if (WIFEXITED(status))
        printf("not ok %s %ld\n", on ? "all from" : "allocation", n);
    else
        printf("not ok %s %ld: signal %d\n", on ? "all from" : "allocation", n, WTERMSIG(status));
    return WIFEXITED(status) ? 1 : 2;
}

int main(int argc, char **argv)
{
    const char *extension = argc > 1 ? argv[1] : "build/libprofsql.so";
    const char *profile = argc > 2 ? argv[2] : "tests/data/tf_custom_loop";
    long most = argc > 3 ? atol(argv[3]) : 3000;
    int passed = 0, failed = 0;
    sqlite3_config(SQLITE_CONFIG_GETMALLOC, &real);
    sqlite3_mem_methods mine = real;
    mine.xMalloc = oom_malloc;
    mine.xRealloc = oom_realloc;
    sqlite3_config(SQLITE_CONFIG_MALLOC, &mine);

    int pipes[2]; /* the clean run counts in a child too: a library that stays loaded would be warm */
    long counts[2] = {0, 0};
    if (pipe(pipes)) return 2;
    fflush(stdout);
    pid_t child = fork();
    if (!child) {
        long n_load = 0;
        int wrongs = life(extension, profile, &n_load);
        counts[0] = n_load, counts[1] = n_calls;
        if (write(pipes[1], counts, sizeof counts) != sizeof counts) _exit(2);
        fflush(stdout);
        _exit(wrongs != 0);
    }
    int status = 0;
    waitpid(child, &status, 0);
    close(pipes[1]);
    if (read(pipes[0], counts, sizeof counts) != sizeof counts) counts[1] = 0;
    int clean = WIFEXITED(status) && WEXITSTATUS(status) == 0;
    printf("%s without failures (%ld allocations, %ld of them to load the extension)\n", clean ? "ok" : "not ok", counts[1], counts[0]);
    passed += clean, failed += !clean;

    for (int on = 0; on < 2 && counts[1]; on++) {
        int bad = 0, runs = 0;
        long n = 1, third = most / 3, stride = 1;
        if (third < counts[0]) third = counts[0];
        if (counts[1] > most) stride = (counts[1] - third) / (most - most / 3) + 1;
        for (; n <= counts[1] && bad < 40; n += n < third && !on ? 1 : stride, runs++)
            if (try(extension, profile, n, on, 120))
                bad++;
            else
                passed++;
        failed += bad;
        printf("%s %s: %d of %d runs well\n", bad ? "not ok" : "ok", on ? "all from N on" : "one failure", runs - bad, runs);
    }
    printf("%d passed, %d failed, 0 skipped\n", passed, failed);
    return failed != 0;
}
