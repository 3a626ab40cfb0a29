// SPDX-License-Identifier: Apache-2.0
/* Out of memory at every allocation of every query: the Nth allocation fails, for N = 1, 2, 3, ...
 *
 *     oom [EXTENSION [PROFILE [MOST_RUNS]]]      defaults: build/libprofsql.so, a profile of
 * tests/data, 400
 *
 * One process, the trunk, loads the extension and runs the queries one after the other. Before each
 * query it forks a child for each N, in which the Nth allocation of that query fails: once with
 * that one failure, once with everything failing from N on. The query may succeed or say "out of
 * memory", nothing else. Asked again with memory, it must give the rows that it gives without
 * failures. No byte may be left after close. A crash fails one case only.
 *
 * Tried are the first allocation of every chain of calls within the extension that no earlier query
 * had (each place in the code fails at least once on each way to it), and about MOST_RUNS cases of
 * each kind that are spread evenly over the allocations of all queries. */
#define _GNU_SOURCE
#include "../ext/profsql_arrow.h"

#include <dlfcn.h>
#include <errno.h>
#include <execinfo.h>
#include <link.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

static sqlite3_mem_methods real;
static long n_calls, fail_at; /* fail_at 0: never */
static int fail_on, n_failed; /* fail_on: the failures go on */

/* ---- chains of calls ---- */

enum { MOST_CHAINS = 1 << 20, MOST_NEW = 20000, MOST_FRAMES = 100 };

typedef struct {
    unsigned long long hash; /* 0: none */
    int n_bytes;             /* of the first allocation, and its number: walking the stack takes */
    long call;               /* long, and is left out elsewhere; 0: any number */
} Chain;

/* Shared by the trunk and its children. */
static struct Chains {
    unsigned long long seen[MOST_CHAINS]; /* hashes; 0: free */
    Chain made[MOST_NEW];                 /* by the last run without failures */
    long n_made, failed_call;
} * chains;
static Chain fail_chain; /* its first allocation fails */
static int recording;
static uintptr_t code_start, code_end; /* of the extension */

static int find_code(struct dl_phdr_info *object, size_t size, void *extension)
{
    (void)size;
    const char *name = strrchr(extension, '/');
    if (!object->dlpi_name || !strstr(object->dlpi_name, name ? name + 1 : extension)) return 0;
    for (int i = 0; i < object->dlpi_phnum; i++)
        if (object->dlpi_phdr[i].p_type == PT_LOAD && object->dlpi_phdr[i].p_flags & PF_X) {
            code_start = object->dlpi_addr + object->dlpi_phdr[i].p_vaddr;
            code_end = code_start + object->dlpi_phdr[i].p_memsz;
        }
    return 1;
}

/* A hash of the callers within the extension, of which a repeated one counts once; 0: none. */
static unsigned long long chain_hash(void)
{
    void *frames[MOST_FRAMES];
    unsigned long long hash = 0, last = 0;
    int n = backtrace(frames, MOST_FRAMES);
    for (int i = 0; i < n; i++) {
        uintptr_t at = (uintptr_t)frames[i];
        if (at < code_start || at >= code_end || at == last) continue;
        last = at, hash = (hash ^ (at - code_start)) * 0x9e3779b97f4a7c15u, hash ^= hash >> 29;
    }
    return hash;
}

static void record(int n_bytes, long call)
{
    unsigned long long hash = chain_hash(), free_slot = 0;
    if (!hash) return;
    for (unsigned long long i = hash;; i++, free_slot = 0) {
        unsigned long long *slot = &chains->seen[i % MOST_CHAINS];
        if (__atomic_compare_exchange_n(slot, &free_slot, hash, 0, __ATOMIC_RELAXED,
                                        __ATOMIC_RELAXED))
            break;
        if (free_slot == hash) return;
    }
    long n = __atomic_fetch_add(&chains->n_made, 1, __ATOMIC_RELAXED);
    if (n < MOST_NEW) chains->made[n] = (Chain){hash, n_bytes, call};
}

/* Whether this is the first allocation of the chain that is to fail. */
static int at_chain(int n_bytes, long call)
{
    unsigned long long hash = __atomic_load_n(&fail_chain.hash, __ATOMIC_RELAXED);
    return hash && n_bytes == fail_chain.n_bytes && (!fail_chain.call || call == fail_chain.call) &&
           chain_hash() == hash &&
           __atomic_exchange_n(&fail_chain.hash, 0, __ATOMIC_RELAXED) == hash;
}

static int failing(int n_bytes)
{
    long call = __atomic_add_fetch(&n_calls, 1, __ATOMIC_RELAXED); /* the loader may have threads */
    if (recording) record(n_bytes, call);
    if (at_chain(n_bytes, call)) chains->failed_call = fail_at = call;
    if (!fail_at || call < fail_at || (call > fail_at && !fail_on)) return 0;
    __atomic_add_fetch(&n_failed, 1, __ATOMIC_RELAXED);
    return 1;
}

static void *oom_malloc(int n) { return failing(n) ? 0 : real.xMalloc(n); }
static void *oom_realloc(void *p, int n) { return failing(n) ? 0 : real.xRealloc(p, n); }

/* Asked as an Arrow stream. */
#define ARROW "arrow: "
#define ARROW_EVENTS ARROW "events"

static const char *const queries[] = {
    "SELECT count(*), sum(duration_ps), sum(self_ps), total(length(name)), total(length(stats)) "
    "FROM trace_events(?1)",
    "SELECT * FROM trace_events(?1) WHERE start_ps > 5 AND name LIKE '%a%' ORDER BY start_ps LIMIT "
    "20",
    "SELECT name, count(*), max(end_ps) FROM trace_events(?1) WHERE line_id IN (0, 1, 2) GROUP BY "
    "name",
    "SELECT count(*) FROM trace_events(?1) WHERE name = 'no such' OR event_id IN (1, 2, 'x') OR "
    "plane = '/host:CPU'",
    "SELECT b.name FROM trace_events(?1) a JOIN trace_events(?1) b ON b.event_id = a.parent_id "
    "WHERE a.event_id < 20",
    "SELECT max(step_event_id), max(module_event_id), max(device_self_ps) FROM trace_events(?1)",
    "SELECT max(self_time_ns), max(step), max(tf_op_name), max(input_tensors), "
    "max(hlo_fingerprint), max(trace_args) FROM xprof_events(?1)",
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
    "SELECT * FROM memory_time(?1)",
    "SELECT * FROM memory_over_time(?1)",
    "SELECT * FROM memory_ops(?1)",
    "SELECT * FROM wait_totals(?1)",
    "SELECT * FROM peak_holders(?1)",
    "SELECT * FROM advice(?1)",
    "SELECT * FROM missing(?1)",
    "SELECT * FROM temp.capture_summary('tests/data/inference_batches')",
    "SELECT * FROM scope_ops('tests/data/scopes_scan')",
    "SELECT * FROM time_by_scope('tests/data/scopes_nnx', 3)",
    "SELECT * FROM program_runs('tests/data/h100_jax')",
    "SELECT * FROM program_totals('tests/data/h100_jax')",
    "SELECT * FROM scope_ops('tests/data/h100_jax')",
    "SELECT runs_per_execution FROM hlo_instructions('tests/data/h100_jax')",
    "SELECT * FROM hosts('tests/data/hosts_tied/plugins/profile/hosts_*/host-0[02].xplane.pb')",
    "SELECT * FROM time_by_source_line('tests/data/scopes_equinox')",
    "SELECT owner_tf_op, owner_by, scope, user_file FROM "
    "hlo_instructions('tests/data/scopes_keras')",
    ARROW "SELECT name, stats, depth, 1.5, NULL FROM trace_events('tests/data/gpu_train_latency')",
    ARROW "VALUES (1, 2, NULL), (2.5, 'x', 3), (NULL, x'00', 4)",
    ARROW_EVENTS,
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
    "SELECT * FROM step_times(?1)",
    "SELECT * FROM roofline_properties(?1)",
    "SELECT prof_attach_by_host('tests/data/jax_two_hosts', 'by host')",
    "SELECT (SELECT count(*) FROM op_metrics('by host')), (SELECT count(*) FROM kernel_stats('by "
    "host')), (SELECT count(*) FROM host_steps('by host'))",
    "SELECT (SELECT count(*) FROM lines('by host')), prof_detach('by host')",
    "SELECT * FROM async_ops(?1)",
    "SELECT * FROM device_time(?1)",
    "SELECT * FROM device_steps(?1)",
    "SELECT * FROM time_breakdown(?1, 1)",
    "SELECT * FROM time_breakdown(?1, 0, 1)",
    "SELECT * FROM exposed_communication_by_step('tests/data/tpu_train_54')",
    "SELECT * FROM perf_counters('tests/data/perf_counters_odd')",
    "SELECT * FROM utilization('tests/data/perf_counters_odd')",
    "SELECT * FROM kernel_utilization('tests/data/perf_counters_odd')",
    "SELECT * FROM dcn_collectives('tests/data/megascale_small')",
    "SELECT * FROM dcn_messages('tests/data/megascale_small')",
    "SELECT * FROM dcn_bursts('tests/data/megascale_small')",
    "SELECT * FROM collectives('tests/data/megascale_small')",
    "SELECT * FROM collectives('tests/data/gpu_dropped_steps')",
    "SELECT * FROM launch_delays('tests/data/gpu_train_latency')",
    "SELECT count(*) FROM trace_events('tests/data/gpu_train_latency') AS a JOIN "
    "trace_events('tests/data/gpu_train_latency') AS b ON b.correlation_id = a.correlation_id "
    "WHERE a.event_id < 50",
    "SELECT count(*) FROM trace_events('tests/data/tpu_train_54') WHERE hlo_op = 'no such' AND "
    "program_id = '1'",
    "SELECT * FROM graph_kernels('tests/data/h100_jax')",
    "SELECT * FROM gaps('tests/data/gpu_train_latency', 5)",
    "SELECT * FROM gaps('tests/data/jax_recompiles')",
    "SELECT * FROM async_op_totals('tests/data/tpu_train_54', 1)",
    "SELECT count(*) FROM timeline('tests/data/tpu_train_54')",
    "SELECT * FROM program_runs('tests/data/gpu_train_latency')",
    "SELECT * FROM program_runs('tests/data/h100_jax')",
    "SELECT * FROM program_gaps('tests/data/tpu_train_54')",
    "SELECT * FROM compilations('tests/data/jax_recompiles')",
    "SELECT * FROM recompilations('tests/data/jax_recompiles')",
    "SELECT * FROM compile_passes('tests/data/jax_recompiles')",
    "SELECT * FROM idle_causes('tests/data/gpu_train_latency')",
    "SELECT * FROM idle_causes('tests/data/jax_recompiles')",
    "SELECT * FROM idle_causes('tests/data/tpu_train_54')",
    "SELECT * FROM all_others('tests/data/gpu_train_latency')",
    "SELECT * FROM all_others('tests/data/tf_fit_input_bound')",
    "SELECT * FROM step_ops('tests/data/gpu_train_latency')",
    "SELECT * FROM step_op_spread('tests/data/tf_two_workers')",
    "SELECT * FROM step_variance('tests/data/gpu_train_latency')",
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
    "SELECT * FROM hlo_instructions('tests/data/tf_xla_jit') WHERE hlo_op = 'no such' OR "
    "instruction_id = 1",
    "SELECT * FROM hlo_operands('tests/data/tf_xla_jit') LIMIT 40",
    "SELECT * FROM hlo_text('tests/data/tf_xla_jit') WHERE text LIKE '%frontend_attributes%'",
    "SELECT count(*) FROM hlo_modules('tests/data/megascale_small')",
    "SELECT * FROM hlo_text('tests/data/megascale_small') WHERE text LIKE '%frontend_attributes%'",
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
    "SELECT count(*), max(matched) FROM prof_help('kernl tmie')",
    "SELECT prof_version(), prof_debug()",
    "SELECT interval_union(start_ps, duration_ps), median(duration_ps), percentile(duration_ps, "
    "90), stddev(duration_ps) FROM trace_events(?1)",
    "SELECT prof_clear()",
    "SELECT count(*) FROM trace_events('/no/such/file')",
};

/* What changes the connection: run in children alone. */
static const char *const changing[] = {
    "SELECT prof_views(?1)",
    "SELECT prof_serve(), (SELECT count(*) FROM prof_find)",
    "SELECT prof_serve('tests/data/gpu_train_38'), (SELECT count(*) FROM hosts('gpu_train_38'))",
};

/* Asked with PROFSQL_CACHE, first with a folder that loses each answer at once. */
static const char *const kept[] = {
    "SELECT * FROM top_ops(?1)",
    "SELECT * FROM hosts(?1)",
    "SELECT prof_attach(?1, 'kept'), (SELECT count(*) FROM lines), prof_detach('kept')",
};

/* An error that is no lack of memory, printed; 1 if so. Errors that a run without failures has too
 * are not held against it. */
static int wrong(int rc, const char *what, const char *message)
{
    static const char *const fine[] = {
        "out of memory", "no such file", "this connection serves",
        "no run is attached"}; /* the last when attaching it failed */
    rc &= 0xff;
    if (rc == SQLITE_OK || rc == SQLITE_DONE || rc == SQLITE_ROW || rc == SQLITE_NOMEM) return 0;
    for (size_t i = 0; message && i < sizeof fine / sizeof *fine; i++)
        if (strstr(message, fine[i])) return 0;
    /* where an error is due, SQLite may have had no memory to copy its message */
    if (n_failed &&
        (!message || (strstr(what, "/no/such/file") && !strcmp(message, sqlite3_errstr(rc)))))
        return 0;
    printf("# %s: rc %d, %s\n", what, rc, message ? message : "(no message)");
    return 1;
}

typedef struct {
    unsigned long long rows; /* a hash of all values in their order */
    int failed, rc;
} Outcome;

static unsigned long long add_to_hash(unsigned long long hash, const void *bytes, int n)
{
    const unsigned char *p = bytes;
    for (int i = 0; i < n; i++) hash = (hash ^ p[i]) * 0x100000001b3u;
    return (hash ^ (unsigned)n) * 0x100000001b3u;
}

/* Reads a value as what it is: turning a number into text takes memory too, and then NULL would be
 * no fault of ours. */
static unsigned long long add_value(unsigned long long hash, sqlite3_stmt *stmt, int i)
{
    int type = sqlite3_column_type(stmt, i);
    sqlite3_int64 integer = type == SQLITE_INTEGER ? sqlite3_column_int64(stmt, i) : 0;
    double real_value = type == SQLITE_FLOAT ? sqlite3_column_double(stmt, i) : 0;
    hash = add_to_hash(hash, &type, sizeof type);
    if (type == SQLITE_INTEGER) return add_to_hash(hash, &integer, sizeof integer);
    if (type == SQLITE_FLOAT) return add_to_hash(hash, &real_value, sizeof real_value);
    const void *value = type == SQLITE_NULL ? 0 : sqlite3_column_blob(stmt, i);
    return add_to_hash(hash, value, value ? sqlite3_column_bytes(stmt, i) : 0);
}

/* ---- Arrow streams ---- */

static __typeof__(&profsql_arrow_query) arrow_query;
static __typeof__(&profsql_arrow_stream) arrow_stream;

static void find_arrow(const char *extension)
{
    void *library = dlopen(extension, RTLD_NOW);
    *(void **)&arrow_query = library ? dlsym(library, "profsql_arrow_query") : 0;
    *(void **)&arrow_stream = library ? dlsym(library, "profsql_arrow_stream") : 0;
}

/* A hash of fixed-width values, codes of texts and ends of texts, which is all that differs. */
static unsigned long long add_batch(unsigned long long hash, const struct ArrowArray *batch)
{
    for (int64_t i = 0; i < batch->n_children; i++) {
        const struct ArrowArray *a = batch->children[i];
        int width = a->n_buffers == 2 && !a->dictionary ? 8 : 4;
        hash = add_to_hash(hash, &a->null_count, sizeof a->null_count);
        if (a->n_buffers > 1) hash = add_to_hash(hash, a->buffers[1], (int)(a->length * width));
    }
    return hash;
}

static int sqlite_code(int of_errno)
{
    return of_errno == ENOMEM ? SQLITE_NOMEM : of_errno ? SQLITE_ERROR : SQLITE_OK;
}

static Outcome run_arrow(sqlite3 *db, const char *sql, const char *profile)
{
    static const char *const columns[] = {"name",  "plane", "short_name",     "start_us",
                                          "depth", "step",  "device_self_ps", "display_name"};
    ProfsqlArrowOptions options = {.columns = columns, .n_columns = 8, .line = 0};
    struct ArrowArrayStream stream;
    struct ArrowSchema schema;
    struct ArrowArray batch;
    char *message = 0;
    Outcome out = {0};
    out.rc = strcmp(sql, ARROW_EVENTS)
                 ? arrow_query(db, sql + strlen(ARROW), 0, &stream, &message)
                 : arrow_stream(db, profile, "trace_events", &options, &stream, &message);
    out.failed = wrong(out.rc, sql, message);
    sqlite3_free(message);
    if (out.rc != SQLITE_OK) return out;
    out.rc = sqlite_code(stream.get_schema(&stream, &schema));
    if (out.rc == SQLITE_OK) schema.release(&schema);
    do {
        if (out.rc == SQLITE_OK) out.rc = sqlite_code(stream.get_next(&stream, &batch));
        if (out.rc != SQLITE_OK || !batch.release) break;
        out.rows = add_batch(out.rows, &batch);
        batch.release(&batch);
    } while (1);
    out.failed |= wrong(out.rc, sql, stream.get_last_error(&stream));
    stream.release(&stream);
    return out;
}

static Outcome run_query(sqlite3 *db, const char *sql, const char *profile)
{
    sqlite3_stmt *stmt = 0;
    Outcome out = {0};
    if (!strncmp(sql, ARROW, strlen(ARROW))) return run_arrow(db, sql, profile);
    out.rc = sqlite3_prepare_v2(db, sql, -1, &stmt, 0);
    if (out.rc == SQLITE_OK && sqlite3_bind_parameter_count(stmt))
        out.rc = sqlite3_bind_text(stmt, 1, profile, -1, SQLITE_STATIC);
    if (out.rc == SQLITE_OK) {
        while ((out.rc = sqlite3_step(stmt)) == SQLITE_ROW)
            for (int i = 0; i < sqlite3_column_count(stmt); i++)
                out.rows = add_value(out.rows, stmt, i);
    }
    out.failed = wrong(out.rc, sql, sqlite3_errmsg(db));
    sqlite3_finalize(stmt);
    return out;
}

/* A connection with the extension, or NULL with *n_wrong counted up where that is no lack of
 * memory. */
static sqlite3 *start(const char *extension, int *n_wrong)
{
    sqlite3 *db = 0;
    char *message = 0;
    int rc = sqlite3_open(":memory:", &db);
    *n_wrong += wrong(rc, "open", db ? sqlite3_errmsg(db) : 0);
    if (rc == SQLITE_OK) {
        sqlite3_db_config(db, SQLITE_DBCONFIG_ENABLE_LOAD_EXTENSION, 1, 0);
        rc = sqlite3_load_extension(db, extension, 0, &message);
        *n_wrong += wrong(rc, "load", message);
        sqlite3_free(message);
    }
    if (rc == SQLITE_OK) return db;
    sqlite3_close(db);
    return 0;
}

/* Closes everything; 1 if something is left. */
static int end(sqlite3 *db)
{
    int rc = sqlite3_close(db), n_wrong = wrong(rc, "close", "something is still open");
    if (rc == SQLITE_OK) sqlite3_shutdown();
    if (sqlite3_memory_used()) {
        printf("# %lld bytes left after close\n", (long long)sqlite3_memory_used());
        n_wrong++;
    }
    return n_wrong;
}

/* What a child that runs without failures says to the trunk. */
static struct Clean {
    long n_calls;
    Outcome first, again;
} * clean;

typedef enum { CLEAN, ONE, ALL } Kind;
static const char *const kind_names[] = {"without failures", "allocation", "all allocations from"};

/* Which allocation fails: the first by a chain of calls, else one by its number. */
typedef struct {
    Kind kind;
    long call;
    Chain chain;
} Case;

static void arm(Case c)
{
    n_calls = 0, n_failed = 0, fail_on = c.kind == ALL;
    fail_at = c.call, fail_chain = c.chain;
    if (c.kind != CLEAN) chains->failed_call = c.call;
}

/* What a child does: loads the extension (db NULL), or runs a query and then runs it again with
 * memory. Returns what went wrong. */
static int one_case(sqlite3 *db, const char *extension, const char *sql, const char *profile,
                    Case c)
{
    int n_wrong = 0;
    Outcome first = {0};
    arm(c);
    recording = c.kind == CLEAN && db;
    if (!db)
        db = start(extension, &n_wrong);
    else
        first = run_query(db, sql, profile);
    recording = 0;
    long calls = n_calls;
    arm((Case){CLEAN});
    if (!db && !n_wrong) db = start(extension, &n_wrong);
    if (!db) return n_wrong + 1;
    Outcome again = run_query(db, sql, profile);
    n_wrong += first.failed;
    if (c.kind == CLEAN)
        clean->n_calls = calls, clean->first = first, clean->again = again;
    else if (clean->first.rows == clean->again.rows &&
             clean->first.rc == clean->again.rc) { /* else it changes what is attached */
        n_wrong += again.failed;
        if (again.rc != clean->again.rc || again.rows != clean->again.rows)
            n_wrong++,
                printf("# %s: asked again with memory: %s\n", sql,
                       again.rc == clean->again.rc ? "other rows" : sqlite3_errstr(again.rc));
        if (first.rc == SQLITE_DONE && first.rows != clean->first.rows)
            n_wrong++, printf("# %s: other rows, and no error\n", sql);
    }
    return n_wrong + end(db);
}

/* Runs a case in a child; whether it went well. */
static int try(sqlite3 *db, const char *extension, const char *sql, const char *profile, Case c)
{
    fflush(stdout);
    pid_t child = fork();
    if (!child) {
        struct rlimit limit = {60, 61};
        setrlimit(RLIMIT_CPU, &limit);
        alarm(600);
        int n_wrong = one_case(db, extension, sql, profile, c);
        fflush(stdout);
        _exit(n_wrong != 0);
    }
    int status = 0;
    waitpid(child, &status, 0);
    if (child > 0 && WIFEXITED(status) && WEXITSTATUS(status) == 0) return 1;
    printf("not ok %s %ld of: %s", kind_names[c.kind], chains->failed_call, db ? sql : ".load");
    if (WIFSIGNALED(status)) printf(": signal %d", WTERMSIG(status));
    printf("\n");
    return 0;
}

static int passed, failed;
static long n_allocations, n_chains, n_unmet;

/* Runs a case whose chain has another number, as allocations of several threads have, once more. */
static int try_chain(sqlite3 *db, const char *extension, const char *sql, const char *profile,
                     Case c)
{
    int well = try(db, extension, sql, profile, c);
    if (!well || !c.chain.hash || chains->failed_call) return well;
    c.chain.call = 0;
    well = try(db, extension, sql, profile, c);
    n_unmet += !chains->failed_call;
    return well;
}

/* A case of each kind; at most ten of a query may fail. */
static void both_cases(sqlite3 *db, const char *extension, const char *sql, const char *profile,
                       Case c, int *bad)
{
    for (c.kind = ONE; c.kind <= ALL && *bad < 10; c.kind++)
        if (try_chain(db, extension, sql, profile, c))
            passed++;
        else
            failed++, ++*bad;
}

/* All cases of one query, or of loading the extension (db NULL). share: the most cases of each kind
 * that are spread. */
static void all_cases(sqlite3 *db, const char *extension, const char *sql, const char *profile,
                      long share)
{
    int bad = 0;
    memset(clean, 0, sizeof *clean);
    chains->n_made = 0;
    int well = try(db, extension, sql, profile, (Case){CLEAN});
    passed += well, failed += !well;
    n_allocations += clean->n_calls;
    n_chains += chains->n_made;
    if (chains->n_made > MOST_NEW)
        printf("not ok more than %d chains of calls\n", MOST_NEW), failed++;
    for (long i = 0; i < chains->n_made && i < MOST_NEW; i++)
        both_cases(db, extension, sql, profile, (Case){.chain = chains->made[i]}, &bad);
    double stride = clean->n_calls > share ? (double)clean->n_calls / (double)share : 1;
    for (double n = 1; n < (double)clean->n_calls + 1; n += stride)
        both_cases(db, extension, sql, profile, (Case){.call = (long)n}, &bad);
}

/* All cases of a query, then the query itself in the trunk. */
static int all_cases_and_go_on(sqlite3 *trunk, const char *sql, const char *profile, long share)
{
    all_cases(trunk, 0, sql, profile, share);
    return run_query(trunk, sql, profile).failed;
}

/* Every table and canned query that the list above does not name; profsql_live ends with an error
 * where no capture runs. */
static int other_tables(sqlite3 *trunk, const char *profile, long share)
{
    enum { MOST = 400 };
    static char sql[MOST][200];
    int n = 0, n_wrong = 0;
    sqlite3_stmt *list = 0;
    sqlite3_prepare_v2(trunk,
                       "SELECT DISTINCT table_name, \"column\" = 'a' FROM prof_columns WHERE "
                       "\"column\" IN ('source', 'a')"
                       " AND table_name <> 'profsql_live' ORDER BY 1",
                       -1, &list, 0);
    while (list && sqlite3_step(list) == SQLITE_ROW && n < MOST) {
        const char *name = (const char *)sqlite3_column_text(list, 0);
        int listed = 0;
        char call[100];
        snprintf(call, sizeof call, "FROM %s(", name);
        for (size_t i = 0; i < sizeof queries / sizeof *queries; i++)
            listed |= strstr(queries[i], call) != 0;
        if (!listed)
            snprintf(sql[n++], sizeof *sql, "SELECT * FROM temp.%s(%s)", name,
                     sqlite3_column_int(list, 1) ? "?1, ?1" : "?1");
    }
    sqlite3_finalize(list);
    for (int i = 0; i < n; i++) n_wrong += all_cases_and_go_on(trunk, sql[i], profile, share);
    if (!n) printf("not ok there are no other tables\n");
    return n_wrong + !n;
}

static void cases_of_kept_answers(sqlite3 *trunk, const char *profile, long share)
{
    char folder[] = "build/oom_answers.XXXXXX", command[100];
    if (!mkdtemp(folder)) {
        printf("not ok %s: %s\n", folder, strerror(errno)), failed++;
        return;
    }
    setenv("PROFSQL_CACHE", folder, 1);
    setenv("PROFSQL_CACHE_MIB", "0", 1);
    for (int pass = 0; pass < 2; pass++, unsetenv("PROFSQL_CACHE_MIB"))
        for (size_t i = 0; i < sizeof kept / sizeof *kept; i++)
            all_cases(trunk, 0, kept[i], profile, share);
    unsetenv("PROFSQL_CACHE");
    snprintf(command, sizeof command, "rm -r %s", folder);
    if (system(command)) printf("not ok %s\n", command), failed++;
}

int main(int argc, char **argv)
{
    const char *extension = argc > 1 ? argv[1] : "build/libprofsql.so";
    const char *profile = argc > 2 ? argv[2] : "tests/data/tf_custom_loop";
    const long n_queries = sizeof queries / sizeof *queries,
               share = (argc > 3 ? atol(argv[3]) : 400) / n_queries;
    int n_wrong = 0;
    setenv("PROFSQL_THREADS", "2", 0);         /* the profiles are small */
    sqlite3_config(SQLITE_CONFIG_MULTITHREAD); /* no two threads use a connection at once */
    sqlite3_config(SQLITE_CONFIG_GETMALLOC, &real);
    sqlite3_mem_methods mine = real;
    mine.xMalloc = oom_malloc;
    mine.xRealloc = oom_realloc;
    sqlite3_config(SQLITE_CONFIG_MALLOC, &mine);
    clean = mmap(0, sizeof *clean, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    chains = mmap(0, sizeof *chains, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (clean == MAP_FAILED || chains == MAP_FAILED) return 2;

    find_arrow(extension);
    if (!dl_iterate_phdr(find_code, (void *)extension)) return 2;
    all_cases(0, extension, queries[0], profile, 10 * share);
    sqlite3 *trunk = start(extension, &n_wrong);
    for (long i = 0; i < n_queries && trunk; i++)
        n_wrong += all_cases_and_go_on(trunk, queries[i], profile, share);
    if (trunk) n_wrong += other_tables(trunk, "tests/data/gpu_train_38", share / 4);
    if (trunk) n_wrong += other_tables(trunk, "tests/data/tpu_train_54", share / 4);
    for (size_t i = 0; i < sizeof changing / sizeof *changing && trunk; i++)
        all_cases(trunk, 0, changing[i], profile, share);
    if (trunk) cases_of_kept_answers(trunk, profile, share);
    if (!trunk || end(trunk)) n_wrong++;
    printf(
        "%s the run without failures (%ld allocations, %ld chains of calls, %ld not met again)\n",
        n_wrong ? "not ok" : "ok", n_allocations, n_chains, n_unmet);
    printf("%d passed, %d failed, 0 skipped\n", passed + !n_wrong, failed + (n_wrong != 0));
    return failed || n_wrong;
}
