// SPDX-License-Identifier: Apache-2.0
/* host.c: a C program that serves runs by profsql.h, and watches that SQL gives no path to the file
 * system: the functions below stand in for those of the C library. */
#define _GNU_SOURCE
#include "../../ext/profsql.h"
#include "check.h"

#include <dirent.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define GPU "tests/data/gpu_train_38"
#define TPU "tests/data/tpu_train_54"

/* ---- what is given to the file system ---- */

static const char *probe; /* a part of a path that must not reach it */
static atomic_int n_seen, n_calls;

static void watch(const char *path)
{
    n_calls++;
    n_seen += probe && path && strstr(path, probe);
}
#define NEXT(name) ((__typeof__(&(name)))(uintptr_t)dlsym(RTLD_NEXT, #name))

int stat(const char *path, struct stat *st)
{
    watch(path);
    return NEXT(stat)(path, st);
}
int lstat(const char *path, struct stat *st)
{
    watch(path);
    return NEXT(lstat)(path, st);
}
int access(const char *path, int mode)
{
    watch(path);
    return NEXT(access)(path, mode);
}
DIR *opendir(const char *path)
{
    watch(path);
    return NEXT(opendir)(path);
}
char *realpath(const char *path, char *to)
{
    watch(path);
    return NEXT(realpath)(path, to);
}
int open(const char *path, int flags, ...)
{
    va_list ap;
    va_start(ap, flags);
    int mode = flags & O_CREAT ? va_arg(ap, int) : 0;
    va_end(ap);
    watch(path);
    return NEXT(open)(path, flags, mode);
}

/* ---- the host ---- */

#define CHECK(condition) check(condition, #condition)

static sqlite3 *serve(void)
{
    sqlite3 *db;
    char *message = NULL;
    CHECK(sqlite3_open(":memory:", &db) == SQLITE_OK);
    CHECK(sqlite3_profsql_nofile_init(db, &message, NULL) == SQLITE_OK && !message);
    return db;
}

/* The first value of an answer, or the error; freed with sqlite3_free(). */
static char *ask(sqlite3 *db, const char *sql)
{
    sqlite3_stmt *stmt = NULL;
    int rc = sqlite3_prepare_v2(db, sql, -1, &stmt, NULL);
    rc = rc == SQLITE_OK ? sqlite3_step(stmt) : rc;
    char *answer = sqlite3_mprintf("%s", rc == SQLITE_ROW    ? (char *)sqlite3_column_text(stmt, 0)
                                         : rc == SQLITE_DONE ? "no row"
                                                             : sqlite3_errmsg(db));
    sqlite3_finalize(stmt);
    return answer;
}

static bool answers(sqlite3 *db, const char *sql, const char *wanted)
{
    char *answer = ask(db, sql);
    bool is_same = !strcmp(answer, wanted);
    if (!is_same) printf("%s: %s, not %s\n", sql, answer, wanted);
    sqlite3_free(answer);
    return is_same;
}

static bool fails(sqlite3 *db, const char *sql, const char *words)
{
    char *answer = ask(db, sql);
    bool has = strstr(answer, words);
    if (!has) printf("%s: %s, without %s\n", sql, answer, words);
    sqlite3_free(answer);
    return has;
}

static void test_attach(void)
{
    sqlite3 *db = serve(), *other = serve();
    char *message = "none";
    CHECK(fails(db, "SELECT * FROM kpi", "none is attached"));
    CHECK(profsql_attach(db, GPU, "g", &message) == SQLITE_OK && !message);
    CHECK(profsql_attach(db, GPU, "g", NULL) == SQLITE_OK);
    CHECK(profsql_attach(other, GPU, "g", NULL) == SQLITE_OK);
    CHECK(profsql_attach(db, TPU, NULL, NULL) == SQLITE_OK);
    CHECK(answers(db, "SELECT group_concat(run) FROM prof_runs", "g,tpu_train_54"));
    CHECK(answers(other, "SELECT group_concat(run) FROM prof_runs", "g"));
    CHECK(answers(db, "SELECT occurrences FROM top_kernels('g')", "19"));
    CHECK(answers(db, "SELECT host FROM hosts('g/gpu-worker')", "gpu-worker"));
    CHECK(profsql_attach(db, TPU, "g", &message) == SQLITE_ERROR);
    CHECK(message && strstr(message, "already has this label"));
    sqlite3_free(message);
    CHECK(profsql_attach(db, "no/such", "x", &message) == SQLITE_ERROR);
    CHECK(message && strstr(message, "no/such: no such file"));
    sqlite3_free(message);
    CHECK(profsql_attach(db, GPU, "", &message) == SQLITE_ERROR && message);
    sqlite3_free(message);
    CHECK(profsql_attach(db, NULL, "x", &message) == SQLITE_MISUSE && !message);
    CHECK(profsql_detach(db, "g", &message) == SQLITE_OK && !message);
    CHECK(profsql_detach(db, "g", &message) == SQLITE_ERROR && message);
    sqlite3_free(message);
    CHECK(fails(db, "SELECT * FROM kpi('g')", "no run of this name"));
    CHECK(answers(other, "SELECT occurrences FROM top_kernels('g')", "19"));
    CHECK(sqlite3_close(db) == SQLITE_OK && sqlite3_close(other) == SQLITE_OK);
}

static void test_folder(void)
{
    sqlite3 *db = serve();
    char *message = NULL;
    CHECK(profsql_serve(db, "tests/data/no_such", &message) == SQLITE_ERROR);
    CHECK(message && strstr(message, "is not a folder"));
    sqlite3_free(message);
    CHECK(profsql_serve(db, GPU, NULL) == SQLITE_OK);
    CHECK(answers(db, "SELECT group_concat(name) FROM prof_find", "gpu_train_38"));
    CHECK(profsql_serve(db, TPU, NULL) == SQLITE_OK && profsql_serve(db, NULL, NULL) == SQLITE_OK);
    CHECK(answers(db, "SELECT group_concat(name) FROM prof_find", "tpu_train_54"));
    CHECK(answers(db, "SELECT host_count FROM prof_runs('tpu_train_54')", "1"));
    CHECK(fails(db, "SELECT * FROM kpi('gpu_train_38')", "no run of this name"));
    CHECK(sqlite3_close(db) == SQLITE_OK);
}

/* What is there, what is not, and what is a profile: none of it is looked at. */
static void test_nothing_is_looked_at(void)
{
    static const char *const paths[] = {"/etc/passwd", "/no/such/path", GPU, GPU "/nothing"};
    static const char *const queries[] = {
        "SELECT * FROM kpi(%Q)",          "SELECT * FROM trace_events(%Q)",
        "SELECT * FROM prof_runs(%Q)",    "SELECT * FROM prof_find(%Q)",
        "SELECT * FROM profsql_live(%Q)", "SELECT * FROM compare_ops('g', %Q)",
        "SELECT prof_attach(%Q)",         "SELECT prof_serve(%Q)",
        "SELECT peak_flops(%Q)",          "SELECT * FROM kpi('g/' || %Q)"};
    sqlite3 *db = serve();
    CHECK(profsql_serve(db, TPU, NULL) == SQLITE_OK);
    CHECK(profsql_attach(db, GPU, "g", NULL) == SQLITE_OK);
    char *first = ask(db, "SELECT * FROM kpi('tpu_train_54')");
    sqlite3_free(first);
    for (size_t q = 0; q < sizeof queries / sizeof *queries; q++)
        for (size_t p = 0; p < sizeof paths / sizeof *paths; p++) {
            /* A run of this name that nobody attached: the probe is found nowhere else. */
            char *path = sqlite3_mprintf("%s/probe-%d", paths[p], (int)p);
            char *sql = sqlite3_mprintf(queries[q], path);
            probe = "probe-";
            char *answer = ask(db, sql);
            probe = NULL;
            CHECK(strstr(answer, "this connection serves the runs") ||
                  strstr(answer, "has no host"));
            sqlite3_free(answer);
            sqlite3_free(sql);
            sqlite3_free(path);
        }
    CHECK(n_seen == 0);
    CHECK(n_calls > 0); /* the watch is at work */
    probe = "probe-";
    CHECK(profsql_attach(db, "/etc/probe-of-the-host", NULL, NULL) == SQLITE_ERROR);
    CHECK(n_seen > 0);
    probe = NULL;
    CHECK(sqlite3_close(db) == SQLITE_OK);
}

/* The pointers of the program are its own: no text of SQL is one. */
static void test_forged(void)
{
    sqlite3 *db = serve();
    sqlite3_stmt *stmt;
    CHECK(sqlite3_prepare_v2(db, "SELECT prof_attach(?1)", -1, &stmt, NULL) == SQLITE_OK);
    sqlite3_bind_pointer(stmt, 1, GPU, "another_type", NULL);
    CHECK(sqlite3_step(stmt) == SQLITE_ERROR);
    sqlite3_finalize(stmt);
    CHECK(answers(db, "SELECT count(*) FROM prof_runs", "0"));
    CHECK(sqlite3_close(db) == SQLITE_OK);
}

/* Returns NULL if all answers are right. */
static void *work(void *own)
{
    sqlite3 *db = own;
    for (int i = 0; i < 20; i++)
        if (!answers(db, "SELECT occurrences FROM top_kernels('g')", "19") ||
            !answers(db, "SELECT count(*) FROM prof_find", "2"))
            return "wrong";
    return NULL;
}

static void test_threads(void)
{
    enum { N = 4 };
    pthread_t threads[N];
    sqlite3 *connections[N];
    void *result;
    for (int i = 0; i < N; i++) {
        connections[i] = serve();
        CHECK(profsql_serve(connections[i], TPU, NULL) == SQLITE_OK);
        CHECK(profsql_attach(connections[i], GPU, "g", NULL) == SQLITE_OK);
        pthread_create(&threads[i], NULL, work, connections[i]);
    }
    for (int i = 0; i < N; i++) {
        pthread_join(threads[i], &result);
        CHECK(!result && sqlite3_close(connections[i]) == SQLITE_OK);
    }
}

int main(void)
{
    unsetenv("PROFSQL_RUNS"), unsetenv("PROFSQL_ROOT");
    test_attach();
    test_folder();
    test_nothing_is_looked_at();
    test_forged();
    test_threads();
    return finish();
}
