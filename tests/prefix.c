/* Every prefix of a profile loads or fails cleanly, and a load can be interrupted. Built with the extension inside (-DSQLITE_CORE),
 * the address sanitizer and the undefined behaviour sanitizer.
 *
 *     prefix FILE...
 *
 * Prefixes: all lengths up to 4 KB, then 3000 a file; of an HLO program (*.hlo.pb) as a program. The interrupts are tried on a big profile that is made here in
 * $TMPDIR. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <sqlite3.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

int sqlite3_profsql_init(sqlite3 *db, char **err, const void *api);

static int passed, failed;
static char path[1000], profile_path[1000], program_path[1000];

static void report(int good, const char *name, const char *why)
{
    if (good)
        passed++, printf("ok %s\n", name);
    else
        failed++, printf("not ok %s: %s\n", name, why);
    fflush(stdout);
}

static sqlite3 *open_db(void)
{
    sqlite3 *db = 0;
    char *message = 0;
    if (sqlite3_open(":memory:", &db) || sqlite3_profsql_init(db, &message, 0)) {
        fprintf(stderr, "cannot start: %s\n", message ? message : sqlite3_errmsg(db));
        exit(2);
    }
    return db;
}

/* Runs one query on path; the first column of its first row, or -1 with *rc. */
static sqlite3_int64 ask(sqlite3 *db, const char *sql, int *rc)
{
    sqlite3_stmt *stmt = 0;
    sqlite3_int64 value = -1;
    *rc = sqlite3_prepare_v2(db, sql, -1, &stmt, 0);
    if (*rc == SQLITE_OK && sqlite3_bind_parameter_count(stmt)) sqlite3_bind_text(stmt, 1, path, -1, SQLITE_STATIC);
    if (*rc == SQLITE_OK) {
        while ((*rc = sqlite3_step(stmt)) == SQLITE_ROW)
            if (value < 0) value = sqlite3_column_int64(stmt, 0);
        if (*rc == SQLITE_DONE) *rc = SQLITE_OK;
    }
    sqlite3_finalize(stmt);
    return value;
}

static const char count_events[] = "SELECT count(*), sum(duration_ps), sum(self_ps), total(length(stats)) FROM trace_events(?1)";

/* What is wrong with the file at path as it is, or NULL. *n_events keeps the last count: a shorter prefix has no more events. */
static const char *check(sqlite3 *db, int whole, sqlite3_int64 *n_events, sqlite3_int64 *n_cut)
{
    static char why[400];
    int rc;
    sqlite3_int64 n = ask(db, count_events, &rc);
    if (rc != SQLITE_OK) {
        const char *message = sqlite3_errmsg(db);
        if (rc == SQLITE_ERROR && strstr(message, path) && strlen(message) > strlen(path) + 10) return 0;
        snprintf(why, sizeof why, "rc %d without a good message: %s", rc, message);
        return why;
    }
    sqlite3_int64 issues = ask(db, "SELECT count(*) FROM prof_issues(?1) WHERE code <> 'no_steps' AND code NOT LIKE 'xprof%'", &rc);
    if (rc != SQLITE_OK) {
        snprintf(why, sizeof why, "rows, but prof_issues: %s", sqlite3_errmsg(db));
        return why;
    }
    ask(db, "SELECT (SELECT count(*) FROM op_metrics(?1)) + (SELECT count(hlo_op) FROM hlo_ops(?1)) + (SELECT count(*) FROM tf_functions(?1))", &rc);
    if (rc != SQLITE_OK) {
        snprintf(why, sizeof why, "rows, but op_metrics: %s", sqlite3_errmsg(db));
        return why;
    }
    if (n > *n_events) {
        snprintf(why, sizeof why, "%lld events, more than the longer prefix has", (long long)n);
        return why;
    }
    *n_events = n;
    if (!whole && issues > 0) ++*n_cut;
    return 0;
}

/* The same of a file that holds an HLO program: what is cut is no program, and a whole one has rows everywhere. */
static const char *check_program(sqlite3 *db, int whole, sqlite3_int64 *n_cut)
{
    static const char *const queries[] = {
        "SELECT count(*), max(shape), max(category), max(expression), max(source_stack), total(padding_efficiency) FROM hlo_instructions(?1)",
        "SELECT count(*), max(label), max(end_event), max(size_rank) FROM buffer_allocations(?1)",
        "SELECT count(*), total(heap_mib) FROM heap_timeline(?1)",
        "SELECT count(*), max(scoped_vmem_op) FROM memory_peaks(?1)",
        "SELECT count(*), max(operand) FROM hlo_operands(?1)",
        "SELECT count(*), total(peak_heap_bytes) FROM hlo_modules(?1)",
    };
    static char why[400];
    for (size_t i = 0; i < sizeof queries / sizeof *queries; i++) {
        int rc;
        sqlite3_int64 n = ask(db, queries[i], &rc);
        const char *message = sqlite3_errmsg(db);
        if (rc == SQLITE_ERROR && strstr(message, path) && strlen(message) > strlen(path) + 10) {
            *n_cut += i == 0;
            continue;
        }
        snprintf(why, sizeof why, "rc %d, %lld rows, %s: %s", rc, (long long)n, message, queries[i]);
        if (rc != SQLITE_OK || (whole && n <= 0)) return why;
    }
    return 0;
}

static void prefixes(const char *sample)
{
    size_t length = strlen(sample);
    int program = length > 7 && !strcmp(sample + length - 7, ".hlo.pb");
    strcpy(path, program ? program_path : profile_path);
    FILE *in = fopen(sample, "rb");
    struct stat st;
    if (!in || fstat(fileno(in), &st)) {
        report(0, sample, "cannot be read");
        return;
    }
    char *bytes = malloc(st.st_size ? st.st_size : 1);
    size_t size = fread(bytes, 1, st.st_size, in);
    fclose(in);
    int fd = open(path, O_CREAT | O_TRUNC | O_RDWR, 0600);
    if (fd < 0 || write(fd, bytes, size) != (ssize_t)size) {
        report(0, path, "cannot be written");
        free(bytes);
        return;
    }
    const char *why = 0;
    char name[300];
    size_t step = size > 4096 ? (size - 4096) / 3000 + 1 : 1, n = size;
    sqlite3_int64 n_events = INT64_MAX, n_cut = 0;
    int runs = 0;
    sqlite3 *db = open_db();
    for (;; n -= n > 4096 + step ? step : n > 4096 ? n - 4096 : 1) { /* downwards: one truncate each */
        int rc;
        if (ftruncate(fd, n)) why = "cannot be truncated";
        ask(db, "SELECT prof_clear()", &rc);
        if (!why) why = program ? check_program(db, n == size, &n_cut) : check(db, n == size, &n_events, &n_cut);
        runs++;
        if (why || !n) break;
    }
    sqlite3_close(db);
    close(fd);
    const char *base = strrchr(sample, '/') ? strrchr(sample, '/') + 1 : sample;
    snprintf(name, sizeof name, "%d prefixes of %s (%lld with issues)", runs, base, (long long)n_cut);
    if (why) snprintf(name, sizeof name, "prefix of %zu bytes of %s", n, base);
    report(!why, name, why);
    if (!why) report(n_cut > runs / 2, "most prefixes have issues", "prof_issues is empty for cut files");
    free(bytes);
}

/* A line of n events of 8 bytes, in one plane, at path. */
static void write_big(long n)
{
    static const unsigned char event[] = {0x22, 6, 0x08, 1, 0x10, 9, 0x18, 5};
    unsigned char head[24], *p = head;
    FILE *f = fopen(path, "wb");
    uint64_t line = (uint64_t)n * sizeof event;
    uint64_t sizes[2] = {line, line};
    for (int k = 0; k < 10 && sizes[1] >> 7 * k; k++) sizes[0]++; /* the plane holds the line's tag and length as well */
    sizes[0]++;
    for (int i = 0; i < 2; i++) {
        *p++ = i ? 0x1a : 0x0a;
        for (uint64_t x = sizes[i];; x >>= 7) {
            *p++ = (x & 127) | (x > 127 ? 128 : 0);
            if (x < 128) break;
        }
    }
    fwrite(head, 1, p - head, f);
    for (long i = 0; i < n; i++) fwrite(event, 1, sizeof event, f);
    fclose(f);
}

static long n_ticks, stop_at;
static int tick(void *unused)
{
    (void)unused;
    return ++n_ticks == stop_at;
}

/* At its tick, interrupts from another thread, and goes on. */
static void *interrupt(void *db) { return sqlite3_interrupt(db), (void *)0; }
static int tick_beside(void *db)
{
    pthread_t thread;
    if (++n_ticks != stop_at) return 0;
    pthread_create(&thread, 0, interrupt, db);
    pthread_join(thread, 0);
    return 0;
}

static void interrupts(void)
{
    static const char load_only[] = "SELECT count(*) FROM lines(?1)";
    char name[200], why[200];
    long n_events = 10L * 1000 * 1000;
    int rc;
    write_big(n_events);
    sqlite3 *db = open_db();
    sqlite3_int64 n = ask(db, "SELECT sum(event_count) FROM lines(?1)", &rc);
    snprintf(why, sizeof why, "rc %d, %lld of %ld events", rc, (long long)n, n_events);
    report(rc == SQLITE_OK && n == n_events, "the big profile loads", why);

    /* Once loaded the same query takes fewer ticks; what is over are the ticks of the load. */
    sqlite3_progress_handler(db, 1, tick, 0);
    n_ticks = 0, ask(db, load_only, &rc);
    long warm = n_ticks;
    ask(db, "SELECT prof_clear()", &rc);
    n_ticks = 0, ask(db, load_only, &rc);
    long cold = n_ticks;
    snprintf(why, sizeof why, "%ld ticks cold, %ld warm", cold, warm);
    report(cold >= warm + 4, "the load calls the progress handler", why);
    int bad = 0;
    for (stop_at = 1; stop_at <= cold; stop_at += 1 + cold / 40) {
        ask(db, "SELECT prof_clear()", &rc);
        n_ticks = 0, ask(db, load_only, &rc);
        if (rc == SQLITE_INTERRUPT || (rc == SQLITE_OK && n_ticks < stop_at)) continue;
        snprintf(why, sizeof why, "stopped at tick %ld of %ld: rc %d, %s", stop_at, cold, rc, sqlite3_errmsg(db));
        bad++;
    }
    report(!bad, "a progress handler interrupts at any tick", why);
    stop_at = 0;
    sqlite3_progress_handler(db, 0, 0, 0);
    n = ask(db, "SELECT sum(event_count) FROM lines(?1)", &rc);
    snprintf(why, sizeof why, "rc %d, %lld of %ld events", rc, (long long)n, n_events);
    report(rc == SQLITE_OK && n == n_events, "after an interrupt the profile loads whole", why);

    enum { LATE = 20 }; /* ticks between the interrupt and the end: those of the statements that are given up, and no part of the load */
    for (int i = 1; i <= 3; i++) {
        ask(db, "SELECT prof_clear()", &rc);
        sqlite3_progress_handler(db, 1, tick_beside, db);
        n_ticks = 0, stop_at = warm + (cold - warm) * i / 5;
        ask(db, load_only, &rc);
        sqlite3_progress_handler(db, 0, 0, 0);
        snprintf(name, sizeof name, "sqlite3_interrupt from a thread at %d/5 of the load", i);
        snprintf(why, sizeof why, "rc %d after %ld ticks; interrupted at %ld of %ld", rc, n_ticks, stop_at, cold);
        report(rc == SQLITE_INTERRUPT && n_ticks <= stop_at + LATE, name, why);
    }
    n = ask(db, "SELECT sum(event_count) FROM lines(?1)", &rc);
    snprintf(why, sizeof why, "rc %d, %lld of %ld events", rc, (long long)n, n_events);
    report(rc == SQLITE_OK && n == n_events, "after sqlite3_interrupt the profile loads whole", why);
    sqlite3_close(db);
}

int main(int argc, char **argv)
{
    const char *folder = getenv("TMPDIR");
    snprintf(profile_path, sizeof profile_path, "%s/prefix.%ld.xplane.pb", folder ? folder : "/tmp", (long)getpid());
    snprintf(program_path, sizeof program_path, "%s/prefix.%ld.hlo.pb", folder ? folder : "/tmp", (long)getpid());
    for (int i = 1; i < argc; i++) prefixes(argv[i]);
    strcpy(path, profile_path);
    interrupts();
    unlink(profile_path);
    unlink(program_path);
    printf("%d passed, %d failed, 0 skipped\n", passed, failed);
    return failed != 0;
}
