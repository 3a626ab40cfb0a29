// SPDX-License-Identifier: Apache-2.0
/* Sums of every table and every canned query over many mutants of run folders, for kept_mutants.
 *
 *     sums [-n COUNT] [-s FIRST_SEED] [-e] [-k] LIBRARY WORKPLACE FOLDER...
 *
 * Prints a line for each statement: how many rows it gave, how often it ended with an error, and a
 * hash of all values. With -e (each) it prints such lines for each mutant: the outputs of two
 * builds show on which mutants the builds differ. LIBRARY is the extension's file. Each mutant is
 * written into WORKPLACE/run, where the last one stays with -k (keep). Without a first seed, the
 * folders are read as they are, too.
 *
 * Real numbers count to 9 digits. Of canned queries the order of rows does not count: where rows
 * are equal in what they are ordered by, SQLite may choose. Each mutant is made and read in a
 * process of its own. */
#define _GNU_SOURCE
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include "../every_table.h"
#include "../mutant.h"

enum { MOST_SECONDS = 60 };

typedef struct {
    uint64_t rows, errors, hash;
} Sums;

static char names[MOST_STATEMENTS][250];
static bool in_order[MOST_STATEMENTS];
static Sums *of_one, all[MOST_STATEMENTS]; /* of_one: shared with the process of a mutant */

static uint64_t mix(uint64_t h, uint64_t x)
{
    h = (h ^ x) * 0x9fb21c651e98df25u;
    return h ^ h >> 32;
}

static uint64_t hash_text(const char *text, size_t n)
{
    uint64_t h = n;
    for (size_t i = 0; i < n; i++) h = mix(h, (uint8_t)text[i]);
    return h;
}

static uint64_t hash_value(sqlite3_stmt *stmt, int column)
{
    char digits[40];
    int type = sqlite3_column_type(stmt, column);
    if (type == SQLITE_INTEGER) return mix(1, (uint64_t)sqlite3_column_int64(stmt, column));
    if (type == SQLITE_NULL) return 2;
    if (type == SQLITE_FLOAT) {
        int n = snprintf(digits, sizeof digits, "%.9g", sqlite3_column_double(stmt, column));
        return hash_text(digits, (size_t)n);
    }
    const char *bytes = sqlite3_column_blob(stmt, column);
    return mix(3, hash_text(bytes ? bytes : "", (size_t)sqlite3_column_bytes(stmt, column)));
}

/* Columns whose values depend on when and where a run is read. */
static bool is_elsewhere(const char *column)
{
    return !strcmp(column, "path") || !strcmp(column, "loaded_ms");
}

static void sum_one(int i, const char *source)
{
    sqlite3_stmt *stmt = statements[i];
    Sums *sums = &of_one[i];
    int rc;
    sqlite3_bind_text(stmt, 1, source, -1, SQLITE_STATIC);
    while ((rc = sqlite3_step(stmt)) == SQLITE_ROW) {
        uint64_t row = 0;
        for (int c = 0; c < sqlite3_column_count(stmt); c++)
            if (!is_elsewhere(sqlite3_column_name(stmt, c))) row = mix(row, hash_value(stmt, c));
        sums->hash = in_order[i] ? mix(sums->hash, row) : sums->hash + mix(0, row);
        sums->rows++;
    }
    if (rc != SQLITE_DONE) {
        const char *message = sqlite3_errmsg(db);
        sums->hash = mix(sums->hash, hash_text(message, strlen(message)));
        sums->errors++;
    }
    sqlite3_reset(stmt);
}

/* Copies a folder as it is. */
static void write_folder(int of)
{
    for (int i = 0; i < n_files; i++)
        if (files[i].folder == of) write_file(files[i].name, files[i].bytes, files[i].n);
}

/* seed: of a mutant; or -1 - i for the folder i as it is. */
static void be_mutant(int64_t seed)
{
    const char *source = folder;
    if (seed < 0) {
        write_folder((int)(-1 - seed));
    } else {
        write_mutant((uint64_t)seed);
        if (one_in(4)) source = attach_by_host(folder);
    }
    for (int i = 0; i < n_statements; i++) sum_one(i, source);
}

static void print(const char *before, int i, const Sums *sums)
{
    printf("%s%s\t%llu\t%llu\t%016llx\n", before, names[i], (unsigned long long)sums->rows,
           (unsigned long long)sums->errors, (unsigned long long)sums->hash);
}

static bool run_mutant(int64_t seed, bool each, bool keeps)
{
    memset(of_one, 0, sizeof all);
    fflush(stdout);
    pid_t pid = fork();
    if (pid < 0) exit(2);
    if (!pid) {
        struct rlimit limit = {MOST_SECONDS, MOST_SECONDS + 1};
        setrlimit(RLIMIT_CPU, &limit);
        be_mutant(seed);
        exit(0);
    }
    int status;
    while (waitpid(pid, &status, 0) < 0)
        if (errno != EINTR) exit(2);
    if (!keeps) empty_folder();
    char before[40];
    snprintf(before, sizeof before, "%lld\t", (long long)seed);
    for (int i = 0; i < n_statements; i++) {
        if (each) print(before, i, &of_one[i]);
        all[i].rows += of_one[i].rows, all[i].errors += of_one[i].errors;
        all[i].hash += mix((uint64_t)seed, of_one[i].hash);
    }
    if (!status) return true;
    printf("not ok seed %lld: %s %d\n", (long long)seed, WIFSIGNALED(status) ? "signal" : "status",
           WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status));
    return false;
}

/* Names and kinds of the statements: the table's name, or its SQL. */
static void name_all(void)
{
    sqlite3_stmt *is_query = prepare("SELECT count(*) FROM prof_queries WHERE name = ?1");
    for (int i = 0; i < n_statements; i++) {
        const char *sql = sqlite3_sql(statements[i]);
        const char *table = *sql == 'S' && sql[7] == '"' ? strstr(sql, " FROM temp.\"") : NULL;
        snprintf(names[i], sizeof names[i], "%s", table ? table + strlen(" FROM temp.\"") : sql);
        if (table) names[i][strcspn(names[i], "\"")] = 0;
        sqlite3_bind_text(is_query, 1, names[i], -1, SQLITE_STATIC);
        in_order[i] = sqlite3_step(is_query) == SQLITE_ROW && !sqlite3_column_int(is_query, 0);
        sqlite3_reset(is_query);
    }
    sqlite3_finalize(is_query);
}

static bool open_library(const char *library)
{
    char *message = NULL;
    if (sqlite3_open(":memory:", &db)) return false;
    sqlite3_enable_load_extension(db, 1);
    if (!sqlite3_load_extension(db, library, NULL, &message)) return true;
    fprintf(stderr, "%s: %s\n", library, message ? message : "cannot be loaded");
    return false;
}

int main(int argc, char **argv)
{
    int64_t first = 0, n = 100;
    bool each = false, keeps = false, good = true;
    int option;
    while ((option = getopt(argc, argv, "n:s:ek")) != -1) {
        if (option == 'n') n = strtoll(optarg, NULL, 10);
        if (option == 's') first = strtoll(optarg, NULL, 10);
        if (option == 'e') each = true;
        if (option == 'k') keeps = true;
    }
    for (int i = optind + 2; i < argc; i++) load_folder(argv[i]);
    if (!n_folders || !open_library(argv[optind])) return 2;
    const char *workplace = argv[optind + 1];
    snprintf(folder, sizeof folder, "run"); /* in the messages, on every machine */
    qsort(files, (size_t)n_files, sizeof *files, by_name);
    of_one = mmap(NULL, sizeof all, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (of_one == MAP_FAILED || chdir(workplace) || mkdir(folder, 0700)) return 2;
    prepare_all();
    name_all();
    for (int i = 0; i < n_folders && !first; i++) good &= run_mutant(-1 - i, each, false);
    if (!first) first = 1;
    for (int64_t seed = first; seed < first + n; seed++) good &= run_mutant(seed, each, keeps);
    if (!keeps) rmdir(folder);
    for (int i = 0; i < n_statements && !each; i++) print("", i, &all[i]);
    return !good;
}
