// SPDX-License-Identifier: Apache-2.0
/* threads.c: connections in threads ask random tables of shared runs, under the thread sanitizer.
 *
 *     threads SECONDS THREADS SOURCE...
 *
 * Each thread has a connection of its own; half of them share SQLite's cache. It asks tables and
 * canned queries by path, by label and by host, attaches, detaches and clears in between, leaves
 * statements early, exports traces, and is interrupted by another thread now and then. A query may
 * end with an error; what may not be is a race, a deadlock or memory that stays. Not a part of
 * `make test`: `make threads` builds it. */
#define _GNU_SOURCE
#include "../ext/trace_export.h"

#include <pthread.h>
#include <sqlite3.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

int sqlite3_profsql_init(sqlite3 *db, char **message, const void *api);

enum { MOST_TABLES = 300, MOST_THREADS = 64 };
static char *tables[MOST_TABLES];
static int n_tables, n_sources;
static char **sources;
static time_t end;
static atomic_ulong n_queries, n_interrupted, n_errors;

typedef struct {
    uint64_t state;
    sqlite3 *db;
} Asker;
static Asker askers[MOST_THREADS];

static size_t draw(uint64_t *state, size_t below)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return (size_t)(*state >> 33) % below;
}

static sqlite3 *open_db(int i)
{
    sqlite3 *db = NULL;
    int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_MEMORY | SQLITE_OPEN_URI |
                SQLITE_OPEN_NOMUTEX;
    if (sqlite3_open_v2(i % 2 ? "file:shared?mode=memory&cache=shared" : ":memory:", &db, flags,
                        NULL) ||
        sqlite3_profsql_init(db, NULL, NULL))
        fprintf(stderr, "cannot open: %s\n", sqlite3_errmsg(db)), exit(2);
    return db;
}

static void list_tables(sqlite3 *db)
{
    sqlite3_stmt *list;
    if (sqlite3_prepare_v2(db,
                           "SELECT DISTINCT table_name FROM prof_columns WHERE \"column\" = "
                           "'source' AND table_name <> 'profsql_live'",
                           -1, &list, NULL))
        exit(2);
    while (sqlite3_step(list) == SQLITE_ROW && n_tables < MOST_TABLES)
        tables[n_tables++] = strdup((const char *)sqlite3_column_text(list, 0));
    sqlite3_finalize(list);
}

static void run(Asker *a, const char *sql, long most)
{
    sqlite3_stmt *stmt = NULL;
    int rc = sqlite3_prepare_v2(a->db, sql, -1, &stmt, NULL);
    for (long n = 0; rc == SQLITE_OK || rc == SQLITE_ROW; n++) {
        if ((rc = sqlite3_step(stmt)) != SQLITE_ROW || n == most) break;
        for (int c = 0; c < sqlite3_column_count(stmt); c++) sqlite3_column_text(stmt, c);
    }
    atomic_fetch_add(&n_queries, 1);
    atomic_fetch_add(rc == SQLITE_INTERRUPT ? &n_interrupted : &n_errors,
                     rc != SQLITE_DONE && rc != SQLITE_ROW);
    sqlite3_finalize(stmt);
}

static bool drop(void *context, const void *bytes, size_t n_bytes)
{
    (void)context;
    (void)bytes;
    (void)n_bytes;
    return true;
}

static void export(Asker *a, const char *source)
{
    TraceOptions options = {.from_ps = INT64_MIN, .to_ps = INT64_MAX, .write = drop};
    TraceTotals totals;
    char *message = NULL;
    int rc = prof_export_trace(a->db, source, "perfetto", &options, &totals, &message);
    atomic_fetch_add(&n_queries, 1);
    atomic_fetch_add(rc == SQLITE_INTERRUPT ? &n_interrupted : &n_errors, rc != SQLITE_OK);
    sqlite3_free(message);
}

static void *ask(void *argument)
{
    Asker *a = argument;
    uint64_t *s = &a->state;
    while (time(NULL) < end) {
        char sql[2000];
        const char *source = sources[draw(s, (size_t)n_sources)],
                   *table = tables[draw(s, (size_t)n_tables)];
        int label = (int)draw(s, 3);
        if (!draw(s, 20)) {
            export(a, source);
            continue;
        }
        switch (draw(s, 12)) {
        case 0: snprintf(sql, sizeof sql, "SELECT prof_attach('%s', 'r%d')", source, label); break;
        case 1:
            snprintf(sql, sizeof sql, "SELECT prof_attach_by_host('%s', 'r%d')", source, label);
            break;
        case 2: snprintf(sql, sizeof sql, "SELECT prof_detach('r%d')", label); break;
        case 3: snprintf(sql, sizeof sql, "SELECT prof_clear()"); break;
        case 4: snprintf(sql, sizeof sql, "SELECT * FROM temp.%s('r%d')", table, label); break;
        case 5: snprintf(sql, sizeof sql, "SELECT * FROM temp.%s", table); break;
        case 6: snprintf(sql, sizeof sql, "SELECT * FROM prof_issues('%s')", source); break;
        default: snprintf(sql, sizeof sql, "SELECT * FROM temp.%s('%s')", table, source);
        }
        run(a, sql, draw(s, 4) ? 100000 : 3);
    }
    return NULL;
}

static void *interrupt(void *unused)
{
    uint64_t state = 1;
    while (time(NULL) < end) {
        Asker *a = &askers[draw(&state, MOST_THREADS)];
        usleep(3000);
        if (a->db) sqlite3_interrupt(a->db);
    }
    return unused;
}

int main(int argc, char **argv)
{
    if (argc < 4) {
        fprintf(stderr, "usage: threads SECONDS THREADS SOURCE...\n");
        return 2;
    }
    int n = atoi(argv[2]);
    pthread_t threads[MOST_THREADS], interrupter;
    if (n < 1 || n > MOST_THREADS) return 2;
    sources = argv + 3, n_sources = argc - 3;
    end = time(NULL) + atoi(argv[1]);
    for (int i = 0; i < n; i++) askers[i].db = open_db(i), askers[i].state = (uint64_t)i + 1;
    list_tables(askers[0].db);
    for (int i = 0; i < n; i++) pthread_create(&threads[i], NULL, ask, &askers[i]);
    pthread_create(&interrupter, NULL, interrupt, NULL);
    for (int i = 0; i < n; i++) pthread_join(threads[i], NULL);
    pthread_join(interrupter, NULL);
    for (int i = 0; i < n; i++) sqlite3_close(askers[i].db);
    for (int i = 0; i < n_tables; i++) free(tables[i]);
    sqlite3_shutdown();
    printf("%lu queries, %lu interrupted, %lu other errors, %lld bytes left\n",
           atomic_load(&n_queries), atomic_load(&n_interrupted), atomic_load(&n_errors),
           (long long)sqlite3_memory_used());
    return sqlite3_memory_used() != 0;
}
