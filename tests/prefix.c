// SPDX-License-Identifier: Apache-2.0
/* Every prefix of a profile loads or fails cleanly; loads and analyses can be interrupted. Built
 * with the extension inside
 * (-DSQLITE_CORE), the address sanitizer and the undefined behaviour sanitizer.
 *
 *     prefix FILE... [-i FILE...]
 *
 * Prefixes: of a file of up to 4 KB all, of a longer one 1500 at even distances, or as many as
 * $PREFIXES says; of an HLO program (*.hlo.pb) as a program.
 * Loads are interrupted on a big profile that is made here in $TMPDIR, analyses on the files after
 * -i, whose events are repeated until the longest line has LONG_LINE. */
#define _GNU_SOURCE
#include "../loader/base/interrupt.h"
#include "message_tree.h"

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
    if (*rc == SQLITE_OK && sqlite3_bind_parameter_count(stmt))
        sqlite3_bind_text(stmt, 1, path, -1, SQLITE_STATIC);
    if (*rc == SQLITE_OK) {
        while ((*rc = sqlite3_step(stmt)) == SQLITE_ROW)
            if (value < 0) value = sqlite3_column_int64(stmt, 0);
        if (*rc == SQLITE_DONE) *rc = SQLITE_OK;
    }
    sqlite3_finalize(stmt);
    return value;
}

static const char count_issues[] =
    "SELECT count(*) FROM prof_issues(?1) WHERE code <> 'no_steps' AND code NOT LIKE 'xprof%'";
static const char count_events[] =
    "SELECT count(*), sum(duration_ps), sum(self_ps), total(length(stats)) FROM trace_events(?1)";

/* What is wrong with the file at path as it is, or NULL. *n_events keeps the last count: a shorter
 * prefix has no more events. */
static const char *check(sqlite3 *db, int whole, sqlite3_int64 *n_events, sqlite3_int64 *n_cut)
{
    static char why[400];
    int rc;
    sqlite3_int64 n = ask(db, count_events, &rc);
    if (rc != SQLITE_OK) {
        const char *message = sqlite3_errmsg(db);
        int no_event_left = strstr(message, "what is left has no events") != 0;
        if (rc != SQLITE_ERROR || !strstr(message, path) || strlen(message) <= strlen(path) + 10) {
            snprintf(why, sizeof why, "rc %d without a good message: %s", rc, message);
            return why;
        }
        if (no_event_left && ask(db, count_issues, &rc) <= 0) return "an error, but no issue";
        *n_cut += no_event_left;
        return 0;
    }
    sqlite3_int64 issues = ask(db, count_issues, &rc);
    if (rc != SQLITE_OK) {
        snprintf(why, sizeof why, "rows, but prof_issues: %s", sqlite3_errmsg(db));
        return why;
    }
    ask(db,
        "SELECT (SELECT count(*) FROM op_metrics(?1)) + (SELECT count(hlo_op) FROM hlo_ops(?1)) + "
        "(SELECT count(*) FROM tf_functions(?1))",
        &rc);
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

/* The same of a file that holds an HLO program: what is cut is no program, and a whole one has rows
 * everywhere. */
static const char *check_program(sqlite3 *db, int whole, sqlite3_int64 *n_cut)
{
    static const char *const queries[] = {
        "SELECT count(*), max(shape), max(category), max(expression), max(source_stack), "
        "total(padding_efficiency) FROM hlo_instructions(?1)",
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
        snprintf(why, sizeof why, "rc %d, %lld rows, %s: %s", rc, (long long)n, message,
                 queries[i]);
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
    const char *most = getenv("PREFIXES");
    size_t n_prefixes = most ? strtoul(most, 0, 10) : 1500, n = size,
           step = size > 4096 && n_prefixes ? size / n_prefixes + 1 : 1;
    sqlite3_int64 n_events = INT64_MAX, n_cut = 0;
    int runs = 0;
    sqlite3 *db = open_db();
    for (;; n -= n > step ? step : n) { /* downwards: one truncate each */
        int rc;
        if (ftruncate(fd, n)) why = "cannot be truncated";
        ask(db, "SELECT prof_clear()", &rc);
        if (!why)
            why = program ? check_program(db, n == size, &n_cut)
                          : check(db, n == size, &n_events, &n_cut);
        runs++;
        if (why || !n) break;
    }
    sqlite3_close(db);
    close(fd);
    const char *base = strrchr(sample, '/') ? strrchr(sample, '/') + 1 : sample;
    snprintf(name, sizeof name, "%d prefixes of %s (%lld with issues)", runs, base,
             (long long)n_cut);
    if (why) snprintf(name, sizeof name, "prefix of %zu bytes of %s", n, base);
    report(!why, name, why);
    if (!why)
        report(n_cut > runs / 2, "most prefixes have issues", "prof_issues is empty for cut files");
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
    for (int k = 0; k < 10 && sizes[1] >> 7 * k; k++)
        sizes[0]++; /* the plane holds the line's tag and length as well */
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
static void *interrupt(void *db)
{
    sqlite3_interrupt(db);
    return (void *)0;
}
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
    long n_events = 250 * 1000;
    int rc;
    interrupt_pace = (struct InterruptPace){.units = 2048, .interval_ns = 0};
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
        snprintf(why, sizeof why, "stopped at tick %ld of %ld: rc %d, %s", stop_at, cold, rc,
                 sqlite3_errmsg(db));
        bad++;
    }
    report(!bad, "a progress handler interrupts at any tick", why);
    stop_at = 0;
    sqlite3_progress_handler(db, 0, 0, 0);
    n = ask(db, "SELECT sum(event_count) FROM lines(?1)", &rc);
    snprintf(why, sizeof why, "rc %d, %lld of %ld events", rc, (long long)n, n_events);
    report(rc == SQLITE_OK && n == n_events, "after an interrupt the profile loads whole", why);

    /* SQLite calls the handler late, at a statement's next jump or end, once for each step until
     * then: the statement that asks whether to stop has made less than JUMP steps, and the one that
     * is asked for what it makes without a load, once more. */
    enum { JUMP = 40 };
    long late = JUMP + warm;
    for (int i = 1; i <= 3; i++) {
        stop_at = warm + (cold - warm) * i / 5;
        for (n_ticks = 0;;
             stop_at =
                 n_ticks /
                 2) { /* a load that has more of the processors than the first one ticks less */
            ask(db, "SELECT prof_clear()", &rc);
            sqlite3_progress_handler(db, 1, tick_beside, db);
            n_ticks = 0, ask(db, load_only, &rc);
            sqlite3_progress_handler(db, 0, 0, 0);
            if (rc != SQLITE_OK || n_ticks >= stop_at) break;
        }
        snprintf(name, sizeof name, "sqlite3_interrupt from a thread at %d/5 of the load", i);
        snprintf(why, sizeof why, "rc %d after %ld ticks; interrupted at %ld of %ld", rc, n_ticks,
                 stop_at, cold);
        report(rc == SQLITE_INTERRUPT && n_ticks <= stop_at + late, name, why);
    }
    n = ask(db, "SELECT sum(event_count) FROM lines(?1)", &rc);
    snprintf(why, sizeof why, "rc %d, %lld of %ld events", rc, (long long)n, n_events);
    report(rc == SQLITE_OK && n == n_events, "after sqlite3_interrupt the profile loads whole",
           why);
    sqlite3_close(db);
}

/* ---- analyses ---- */

enum { LONG_LINE = 5000, MOST_TABLES = 200 };

static uint64_t number_of(const Node *event, uint32_t field)
{
    for (const Node *f = event->child; f; f = f->next)
        if (f->field == field && f->wire == 0) return f->value;
    return 0;
}

/* Appends the line's events n times, each time later by `span`. */
static void repeat_line(Node *line, long n, uint64_t span)
{
    Node *last = line->child;
    while (last && last->next) last = last->next;
    Node *tail = last;
    for (long k = 1; last && k < n; k++)
        for (Node *e = line->child;; e = e->next) {
            if (e->kind == K_EVENT) {
                tail = tail->next = copy(e, false);
                for (Node *f = tail->child; f; f = f->next)
                    if (f->field == 2 && f->wire == 0) f->value += span * (uint64_t)k;
            }
            if (e == last) break;
        }
}

/* Writes a profile with its events repeated to path. */
static int write_repeated(const char *sample)
{
    FILE *in = fopen(sample, "rb");
    struct stat st;
    Node *space = NULL;
    if (!in || fstat(fileno(in), &st)) return 0;
    uint8_t *bytes = malloc((size_t)st.st_size);
    int good = fread(bytes, 1, (size_t)st.st_size, in) == (size_t)st.st_size &&
               parse(bytes, (size_t)st.st_size, K_SPACE, 0, &space);
    fclose(in);
    uint64_t longest = 1, span = 0;
    for (int write = 0; write < 2; write++)
        for (Node *plane = space; plane; plane = plane->next)
            for (Node *line = plane->child; line; line = line->next) {
                uint64_t n = 0;
                if (line->kind != K_LINE) continue;
                if (write) {
                    repeat_line(line, LONG_LINE / (long)longest + 1, span);
                    continue;
                }
                for (Node *e = line->child; e; e = e->next) {
                    if (e->kind != K_EVENT) continue;
                    uint64_t end = number_of(e, 2) + number_of(e, 3);
                    n++;
                    if (end > span && end < (uint64_t)1 << 50) span = end;
                }
                if (n > longest) longest = n;
            }
    size_t size = message_size(space);
    uint8_t *out = malloc(size);
    put_message(out, space);
    FILE *f = fopen(path, "wb");
    good = good && f && fwrite(out, 1, size, f) == size;
    if (f) fclose(f);
    free(out);
    free(bytes);
    return good;
}

static struct {
    char *name, *sql;
    uint64_t answer; /* of a fresh connection */
    long n_ticks;    /* until then */
} tables[MOST_TABLES];
static int n_tables;

static void list_tables(sqlite3 *db)
{
    sqlite3_stmt *list = 0;
    sqlite3_prepare_v2(db,
                       "SELECT table_name, 'SELECT ' || group_concat('\"' || \"column\" || '\"') "
                       "|| ' FROM temp.\"' || table_name || '\"(?1)' FROM prof_columns"
                       " WHERE table_name IN (SELECT table_name FROM prof_columns WHERE \"column\" "
                       "= 'source') AND table_name <> 'profsql_live'"
                       " AND table_name NOT IN (SELECT name FROM prof_queries) AND (type NOT LIKE "
                       "'%HIDDEN' OR \"column\" IN ('stats', 'args')) AND \"column\" <> 'loaded_ms'"
                       " GROUP BY table_name",
                       -1, &list, 0);
    while (sqlite3_step(list) == SQLITE_ROW && n_tables < MOST_TABLES) {
        tables[n_tables].name = strdup((const char *)sqlite3_column_text(list, 0));
        tables[n_tables++].sql = strdup((const char *)sqlite3_column_text(list, 1));
    }
    sqlite3_finalize(list);
}

/* A hash of the first rows, or 0 with *rc. An analysis is over with the first of them. */
static uint64_t answer_of(sqlite3 *db, int table, int *rc)
{
    enum { MOST_ROWS = 500 };
    sqlite3_stmt *stmt = 0;
    uint64_t hash = 14695981039346656037u;
    *rc = sqlite3_prepare_v2(db, tables[table].sql, -1, &stmt, 0);
    if (*rc == SQLITE_OK) sqlite3_bind_text(stmt, 1, path, -1, SQLITE_STATIC);
    for (int rows = 0; *rc == SQLITE_OK || *rc == SQLITE_ROW; rows++) {
        *rc = sqlite3_step(stmt);
        if (*rc == SQLITE_DONE || (*rc == SQLITE_ROW && rows == MOST_ROWS)) {
            *rc = SQLITE_OK;
            break;
        }
        for (int c = 0; *rc == SQLITE_ROW && c < sqlite3_column_count(stmt); c++) {
            const unsigned char *text = sqlite3_column_text(stmt, c);
            for (; text && *text; text++) hash = (hash ^ *text) * 1099511628211u;
            hash = (hash ^ (text ? 1 : 2)) * 1099511628211u;
        }
    }
    sqlite3_finalize(stmt);
    return *rc == SQLITE_OK ? hash : 0;
}

/* The handler is called about once for each asking, and the tick at which it stops is one of them.
 */
enum { STEPS_A_TICK = 1000 };

static int by_flag; /* the tick interrupts with sqlite3_interrupt() */
static int tick_once(void *db)
{
    if (++n_ticks != stop_at) return 0;
    if (by_flag) sqlite3_interrupt(db);
    return !by_flag;
}

static uint64_t ask_until(sqlite3 *db, int table, long tick, int *rc)
{
    int unused;
    ask(db, "SELECT prof_clear()", &unused);
    sqlite3_progress_handler(db, STEPS_A_TICK, tick_once, db);
    n_ticks = 0, stop_at = tick;
    uint64_t answer = answer_of(db, table, rc);
    sqlite3_progress_handler(db, 0, 0, 0);
    return answer;
}

/* Interrupts a table's query at a tick, of each file another one; NULL, or what is wrong. */
static const char *interrupt_table(sqlite3 *db, int table, int file, long *n_interrupted)
{
    static char why[400];
    enum { LATE = 2 };
    int rc;
    long n = tables[table].n_ticks, tick = 1 + n * (1 + (file + table) % 3) / 4;
    by_flag = (file + table) & 1;
    ask_until(db, table, tick, &rc);
    snprintf(why, sizeof why, "%s at tick %ld of %ld: rc %d after %ld, %s", tables[table].name,
             tick, n, rc, n_ticks, sqlite3_errmsg(db));
    if (rc == SQLITE_INTERRUPT ? n_ticks > tick + LATE : rc != SQLITE_OK || n_ticks >= tick)
        return why;
    *n_interrupted += rc == SQLITE_INTERRUPT;
    uint64_t again = answer_of(db, table, &rc);
    snprintf(why, sizeof why, "%s after an interrupt at tick %ld of %ld: rc %d, another answer",
             tables[table].name, tick, n, rc);
    return rc != SQLITE_OK || again != tables[table].answer ? why : 0;
}

/* ---- several statements at once ---- */

static int table_named(const char *name)
{
    for (int i = 0; i < n_tables; i++)
        if (!strcmp(tables[i].name, name)) return i;
    return 0;
}

typedef struct {
    sqlite3 *db;
    int table, rc;
    uint64_t answer;
} Asking;

static void *ask_beside(void *argument)
{
    Asking *a = argument;
    a->answer = answer_of(a->db, a->table, &a->rc);
    return 0;
}

/* Two connections want the same analysis, and the one that makes it may be interrupted. */
static const char *interrupt_one_of_two(const char *name)
{
    static char why[400];
    Asking one = {.db = open_db(), .table = table_named(name)}, other = one;
    other.db = open_db();
    *why = 0;
    for (int i = 1; i < 6 && !*why; i++) {
        pthread_t thread;
        int rc;
        ask(other.db, "SELECT prof_clear()", &rc);
        ask(one.db, "SELECT prof_clear()", &rc);
        ask(other.db, "SELECT count(*) FROM lines(?1)", &rc); /* so that both have the same run */
        by_flag = i & 1;
        sqlite3_progress_handler(one.db, STEPS_A_TICK, tick_once, one.db);
        n_ticks = 0, stop_at = tables[one.table].n_ticks * i / 6;
        pthread_create(&thread, 0, ask_beside, &other);
        ask_beside(&one);
        pthread_join(thread, 0);
        sqlite3_progress_handler(one.db, 0, 0, 0);
        uint64_t again = answer_of(one.db, one.table, &rc);
        if ((one.rc != SQLITE_INTERRUPT && one.rc != SQLITE_OK) || other.rc != SQLITE_OK ||
            other.answer != tables[one.table].answer || rc != SQLITE_OK || again != other.answer)
            snprintf(why, sizeof why, "%s: rc %d, the other's %d, again %d", name, one.rc, other.rc,
                     rc);
    }
    sqlite3_close(one.db);
    sqlite3_close(other.db);
    return *why ? why : 0;
}

static sqlite3 *nested_db;
static int nested_table, nested_bad, n_nested, n_refused;

/* Asks the same run in the midst of a statement that works on it. */
static int tick_and_ask(void *unused)
{
    (void)unused;
    int rc;
    if (++n_ticks % 7 || n_nested + n_refused > 60) return 0;
    uint64_t answer = answer_of(nested_db, nested_table, &rc);
    if (rc == SQLITE_OK && answer == tables[nested_table].answer)
        n_nested++;
    else if (rc == SQLITE_ERROR && strstr(sqlite3_errmsg(nested_db), "progress handler"))
        n_refused++;
    else
        nested_bad++;
    return 0;
}

static void nested(const char *outer, const char *inner)
{
    char name[200], why[200];
    sqlite3 *db = open_db();
    int rc, unused, table = table_named(outer);
    nested_db = open_db(), nested_table = table_named(inner), nested_bad = n_nested = n_refused = 0;
    ask(nested_db, "SELECT count(*) FROM lines(?1)", &unused);
    n_ticks = 0;
    sqlite3_progress_handler(db, STEPS_A_TICK, tick_and_ask, 0);
    uint64_t answer = answer_of(db, table, &rc);
    sqlite3_progress_handler(db, 0, 0, 0);
    snprintf(name, sizeof name, "a progress handler of %s asks %s", outer, inner);
    snprintf(why, sizeof why, "rc %d, %d right, %d refused, %d wrong inside", rc, n_nested,
             n_refused, nested_bad);
    report(rc == SQLITE_OK && answer == tables[table].answer && !nested_bad && n_nested + n_refused,
           name, why);
    sqlite3_close(nested_db);
    sqlite3_close(db);
}

static void interrupt_analyses(const char *sample, int file)
{
    char name[300];
    const char *base = strrchr(sample, '/') ? strrchr(sample, '/') + 1 : sample, *why = 0;
    long n_interrupted = 0;
    int rc = SQLITE_OK;
    interrupt_pace = (struct InterruptPace){.units = 512, .interval_ns = 0};
    snprintf(name, sizeof name, "%s repeated", base);
    if (!write_repeated(sample)) {
        report(0, name, "cannot be written");
        return;
    }
    sqlite3 *db = open_db();
    if (!n_tables) list_tables(db);
    for (int i = 0; i < n_tables && rc == SQLITE_OK; i++)
        tables[i].answer = ask_until(db, i, 0, &rc), tables[i].n_ticks = n_ticks;
    report(rc == SQLITE_OK, name, sqlite3_errmsg(db));
    sqlite3_close(db);
    db = open_db();
    for (int i = 0; i < n_tables && rc == SQLITE_OK && !why; i++)
        why = interrupt_table(db, i, file, &n_interrupted);
    snprintf(name, sizeof name, "%s: %ld interrupts of %d tables", base, n_interrupted, n_tables);
    report(!why && n_interrupted > n_tables / 2, name, why ? why : "few were interrupted");
    sqlite3_close(db);
    static const char *const waited_for[] = {"xprof_events", "op_metrics", "timeline",
                                             "device_time"};
    why = 0;
    for (size_t i = 0; i < sizeof waited_for / sizeof *waited_for && !why; i++)
        why = interrupt_one_of_two(waited_for[i]);
    snprintf(name, sizeof name, "%s: one of two that want the same is interrupted", base);
    report(!why, name, why);
    nested("xprof_events", "trace_events");
    nested("core_steps", "tf_ops");
    nested("trace_events", "hlo_instructions");
}

int main(int argc, char **argv)
{
    const char *folder = getenv("TMPDIR");
    /* Here no two threads use a connection at once. SQLite's locks take a tenth of the time. */
    sqlite3_config(SQLITE_CONFIG_MULTITHREAD);
    sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0);
    snprintf(profile_path, sizeof profile_path, "%s/prefix.%ld.xplane.pb", folder ? folder : "/tmp",
             (long)getpid());
    snprintf(program_path, sizeof program_path, "%s/prefix.%ld.hlo.pb", folder ? folder : "/tmp",
             (long)getpid());
    int i = 1;
    for (; i < argc && strcmp(argv[i], "-i") != 0; i++) prefixes(argv[i]);
    strcpy(path, profile_path);
    interrupts();
    for (int file = 0; ++i < argc; file++) interrupt_analyses(argv[i], file);
    unlink(profile_path);
    unlink(program_path);
    printf("%d passed, %d failed, 0 skipped\n", passed, failed);
    return failed != 0;
}
