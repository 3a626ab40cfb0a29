// SPDX-License-Identifier: Apache-2.0
/* xspace.c: libFuzzer target: any bytes as a profile file, through the tables that read it.
 *
 * One connection and its prepared statements serve all runs: opening one costs more than reading a
 * small profile. Each input goes through the raw tables, and through one other table or canned
 * query of each few, chosen by its bytes. Three in four inputs are made by changes that know an
 * XSpace's fields, so that they get past the reader of the file. Build and run with `make fuzz`. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <sqlite3.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

size_t LLVMFuzzerMutate(uint8_t *bytes, size_t n, size_t room);
#define OWN_TEXT_CHANGE                                                                            \
    LLVMFuzzerMutate /* knows the dictionary, and what texts the library compares with */
#include "../mutations.h"

int sqlite3_profsql_init(sqlite3 *db, char **message, const void *api);
int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n);
size_t LLVMFuzzerCustomMutator(uint8_t *bytes, size_t n, size_t room, unsigned seed);
size_t LLVMFuzzerCustomCrossOver(const uint8_t *a, size_t n_a, const uint8_t *b, size_t n_b,
                                 uint8_t *out, size_t room, unsigned seed);

static const char *const always[] = {
    "SELECT total(start_ps + 0.0), total(self_ps), max(depth), total(parent_id), count(hlo_op), "
    "count(hlo_module), count(grid_dim), count(source_line),"
    " total(device_self_ps), count(metadata_id), count(step_event_id + module_event_id), "
    "sum(json_valid(stats)) = count(*) FROM trace_events(?1)",
    "SELECT name, metadata_id, count(*), max(start_ps) FROM trace_events(?1) GROUP BY name, "
    "metadata_id",
    "SELECT count(*) FROM trace_events(?1) AS a JOIN trace_events(?1) AS b ON b.event_id = "
    "a.parent_id WHERE a.event_id < 200",
    "SELECT count(value), max(name), max(type) FROM event_stats(?1)",
    "SELECT count(*), max(message) FROM prof_issues(?1)",
};
enum { N_ALWAYS = sizeof always / sizeof *always, MOST = 200, OTHERS = 4 };

static sqlite3 *db;
static sqlite3_stmt *statements[MOST], *clear;
static int n_statements, profile = -1;
static char path[64];

static sqlite3_stmt *prepare(const char *sql)
{
    sqlite3_stmt *stmt = NULL;
    if (sqlite3_prepare_v2(db, sql, -1, &stmt, NULL)) {
        fprintf(stderr, "%s: %s\n", sql, sqlite3_errmsg(db));
        abort();
    }
    return stmt;
}

/* All tables and canned queries that take a source, as SELECT * of it. */
static void prepare_others(void)
{
    sqlite3_stmt *list = prepare("SELECT DISTINCT table_name FROM prof_columns WHERE \"column\" = "
                                 "'source' AND table_name <> 'trace_events' ORDER BY 1");
    while (sqlite3_step(list) == SQLITE_ROW && n_statements < MOST) {
        char *sql = sqlite3_mprintf("SELECT * FROM temp.%w(?1)", sqlite3_column_text(list, 0));
        statements[n_statements++] = prepare(sql);
        sqlite3_free(sql);
    }
    sqlite3_finalize(list);
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
    (void)argc, (void)argv;
    char *message = NULL;
    profile = memfd_create("profile", 0);
    snprintf(path, sizeof path, "/proc/self/fd/%d", profile);
    if (profile < 0 || sqlite3_open(":memory:", &db) || sqlite3_profsql_init(db, &message, NULL))
        abort();
    for (int i = 0; i < N_ALWAYS; i++) statements[n_statements++] = prepare(always[i]);
    prepare_others();
    clear = prepare("SELECT prof_clear()");
    return 0;
}

static void run(sqlite3_stmt *stmt)
{
    sqlite3_bind_text(stmt, 1, path, -1, SQLITE_STATIC);
    while (sqlite3_step(stmt) == SQLITE_ROW)
        for (int c = 0; c < sqlite3_column_count(stmt); c++) sqlite3_column_text(stmt, c);
    sqlite3_reset(stmt);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
    uint32_t hash = 2166136261u;
    for (size_t i = 0; i < n; i++) hash = (hash ^ bytes[i]) * 16777619u;
    if (ftruncate(profile, 0) || pwrite(profile, bytes, n, 0) != (ssize_t)n) abort();
    for (int i = 0; i < N_ALWAYS; i++) run(statements[i]);
    for (int i = 0; i < OTHERS; i++)
        run(statements[N_ALWAYS + (hash + (uint32_t)i * 7) % (uint32_t)(n_statements - N_ALWAYS)]);
    sqlite3_step(clear); /* so that the next input is read, not remembered */
    sqlite3_reset(clear);
    return 0;
}

/* ---- inputs ---- */

enum { MOST_CHANGES = 5 };

/* Writes the tree if there is room, and gives its memory back; the bytes written, 0 if there is no
 * room. */
static size_t write_tree(const Node *root, uint8_t *out, size_t room)
{
    size_t n = message_size(root->child);
    uint8_t *whole = n <= room ? take(n + 1) : NULL; /* leaves lie in what out may hold */
    if (whole && put_message(whole, root->child) == whole + n) memcpy(out, whole, n);
    memset(lists, 0, sizeof lists);
    take_back();
    return whole ? n : 0;
}

size_t LLVMFuzzerCustomMutator(uint8_t *bytes, size_t n, size_t room, unsigned seed)
{
    Node root = {0};
    state = seed;
    if (one_in(4) || !parse(bytes, n, K_SPACE, 0, &root.child))
        return LLVMFuzzerMutate(bytes, n, room);
    for (size_t i = 0, most = 1 + below(MOST_CHANGES); i < most; i++) change(&root, bytes, n);
    size_t made = write_tree(&root, bytes, room);
    return made ? made : LLVMFuzzerMutate(bytes, n, room);
}

size_t LLVMFuzzerCustomCrossOver(const uint8_t *a, size_t n_a, const uint8_t *b, size_t n_b,
                                 uint8_t *out, size_t room, unsigned seed)
{
    Node root = {0};
    state = seed;
    if (!parse(a, n_a, K_SPACE, 0, &root.child)) return 0;
    for (size_t i = 0, most = 1 + below(MOST_CHANGES); i < most; i++) {
        collect_all(&root);
        graft(b, n_b);
    }
    return write_tree(&root, out, room);
}
