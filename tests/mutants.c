// SPDX-License-Identifier: Apache-2.0
/* Profiles whose messages were changed at random, read through every table and every canned query
 * under the address sanitizer and the undefined behaviour sanitizer.
 *
 *     mutants [-n COUNT] [-s FIRST_SEED] [-k] FOLDER...        each a run folder, a file a host; -k
 * keeps the mutants that fail
 *
 * A mutant is a sound XSpace whose fields lie, and one in six has changed bytes too. It is made and
 * read in a process of its own, from its seed and the folders alone. A query may end with an error
 * that names the source; what may not be is a finding of a sanitizer, a crash, a leak, text that is
 * no UTF-8, invalid JSON, more than MOST_SECONDS of CPU or MOST_MIB of memory (both as the
 * sanitizers have them, which cost several times the library's own). */
#define _GNU_SOURCE
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include "every_table.h"
#include "mutant.h"

int sqlite3_profsql_init(sqlite3 *db, char **err, const void *api);
const char *__asan_default_options(void);
const char *__asan_default_options(void)
{
    return "quarantine_size_mb=8:allocator_may_return_null=1:max_allocation_size_mb=512:detect_"
           "leaks=1";
}

enum { MOST_SECONDS = 60, MOST_MIB = 700 };

/* What the process of a mutant tells the one that waits for it. */
static volatile struct {
    int statement, n_errors;
    char why[300];
} * told;

static bool is_utf8(const uint8_t *p, size_t n)
{
    for (size_t i = 0; i < n;) {
        int more = p[i] < 0x80   ? 0
                   : p[i] < 0xc2 ? -1
                   : p[i] < 0xe0 ? 1
                   : p[i] < 0xf0 ? 2
                   : p[i] < 0xf5 ? 3
                                 : -1;
        if (more < 0 || n - i <= (size_t)more) return false;
        for (int k = 1; k <= more; k++)
            if ((p[i + (size_t)k] & 0xc0) != 0x80) return false;
        i += 1 + (size_t)more;
    }
    return true;
}

static int fail(const char *what, const char *detail)
{
    snprintf((char *)told->why, sizeof told->why, "%s: %.200s", what, detail);
    return 1;
}

static int read_one(sqlite3_stmt *stmt, const char *source)
{
    int rc, bad = 0;
    sqlite3_bind_text(stmt, 1, source, -1, SQLITE_STATIC);
    while ((rc = sqlite3_step(stmt)) == SQLITE_ROW && !bad)
        for (int c = 0; c < sqlite3_column_count(stmt); c++) {
            if (sqlite3_column_type(stmt, c) != SQLITE_TEXT) continue;
            const uint8_t *text = sqlite3_column_text(stmt, c);
            if (text && !is_utf8(text, (size_t)sqlite3_column_bytes(stmt, c)))
                bad = fail("not UTF-8 in column", sqlite3_column_name(stmt, c));
        }
    if (rc != SQLITE_DONE && !bad) {
        const char *message = sqlite3_errmsg(db);
        told->n_errors++;
        if (getenv("VERBOSE")) fprintf(stderr, "error: %s\n", message);
        /* of a run that is attached by a label, the path may be named */
        if (rc != SQLITE_ERROR || (!strstr(message, source) && !strstr(message, folder)))
            bad = fail("error", message);
    }
    sqlite3_reset(stmt);
    return bad;
}

static void finalize_all(void)
{
    for (int i = 0; i < n_statements; i++) sqlite3_finalize(statements[i]);
    sqlite3_finalize(attach);
}

/* Makes the mutant of a seed in folder and reads it; the exit status of its process. */
static int be_mutant(uint64_t seed)
{
    write_mutant(seed);
    const char *source = one_in(4) ? attach_by_host(folder) : folder;
    int bad = 0;
    for (int i = 0; i < n_statements && !bad; i++) {
        told->statement = i;
        bad = read_one(statements[i], source);
    }
    finalize_all();
    if (sqlite3_close(db) && !bad) bad = fail("close", sqlite3_errmsg(db));
    return bad;
}

/* What the mutant's process wrote, from the first line that tells of an error. */
static void print_log(int log)
{
    static char text[8000];
    ssize_t n = pread(log, text, sizeof text - 1, 0);
    text[n > 0 ? n : 0] = 0;
    char *from = strstr(text, "rror");
    while (from && from > text && from[-1] != 10) from--;
    for (char *line = strtok(from ? from : text, "\n"); line; line = strtok(NULL, "\n"))
        printf("#   %s\n", line);
}

static bool run_mutant(uint64_t seed, int log)
{
    memset((void *)told, 0, sizeof *told);
    if (ftruncate(log, 0) || lseek(log, 0, SEEK_SET)) exit(2);
    fflush(stdout);
    pid_t pid = fork();
    if (pid < 0) exit(2);
    if (!pid) {
        struct rlimit limit = {MOST_SECONDS, MOST_SECONDS + 1};
        setrlimit(RLIMIT_CPU, &limit);
        alarm(MOST_SECONDS * 10);
        dup2(log, 1), dup2(log, 2);
        exit(be_mutant(seed));
    }
    int status;
    struct rusage use;
    while (wait4(pid, &status, 0, &use) < 0)
        if (errno != EINTR) exit(2);
    long mib = use.ru_maxrss / 1024;
    double seconds = (double)use.ru_utime.tv_sec + (double)use.ru_utime.tv_usec / 1e6;
    if (getenv("VERBOSE")) {
        printf("# seed %llu: %.1f s, %ld MiB, %d errors\n", (unsigned long long)seed, seconds, mib,
               told->n_errors);
        print_log(log);
    }
    if (WIFEXITED(status) && !WEXITSTATUS(status) && mib <= MOST_MIB) return true;
    const char *sql =
        told->statement < n_statements ? sqlite3_sql(statements[told->statement]) : "";
    const char *table = strstr(sql, "FROM ");
    printf("not ok seed %llu: %s %d, %.1f s, %ld MiB; %s; %s\n", (unsigned long long)seed,
           WIFSIGNALED(status) ? "signal" : "status",
           WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status), seconds, mib, told->why,
           table ? table : sql);
    print_log(log);
    return false;
}

int main(int argc, char **argv)
{
    uint64_t first = 1, n = 100;
    bool keep = false;
    int option, passed = 0, failed = 0;
    while ((option = getopt(argc, argv, "n:s:k")) != -1) {
        if (option == 'n') n = strtoull(optarg, NULL, 10);
        if (option == 's') first = strtoull(optarg, NULL, 10);
        if (option == 'k') keep = true;
    }
    for (int i = optind; i < argc; i++) load_folder(argv[i]);
    if (!n_folders) return 2;
    /* Here no two threads use a connection at once. SQLite's locks take a tenth of the time. */
    sqlite3_config(SQLITE_CONFIG_MULTITHREAD);
    sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0);
    qsort(files, (size_t)n_files, sizeof *files, by_name);
    snprintf(folder, sizeof folder, "%s/mutants.%ld", getenv("TMPDIR") ? getenv("TMPDIR") : "/tmp",
             (long)getpid());
    told = mmap(NULL, sizeof *told, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    int log = memfd_create("log", 0);
    if (mkdir(folder, 0700) || told == MAP_FAILED || log < 0) return 2;
    if (sqlite3_open(":memory:", &db) || sqlite3_profsql_init(db, NULL, NULL)) return 2;
    prepare_all();
    for (uint64_t seed = first; seed < first + n; seed++) {
        if (run_mutant(seed, log)) {
            passed++;
        } else {
            failed++;
            if (keep) {
                char command[2000];
                snprintf(command, sizeof command, "rm -rf '%s.%llu' && cp -r '%s' '%s.%llu'",
                         folder, (unsigned long long)seed, folder, folder,
                         (unsigned long long)seed);
                if (!system(command))
                    printf("# kept in %s.%llu\n", folder, (unsigned long long)seed);
            }
        }
        empty_folder();
    }
    rmdir(folder);
    finalize_all();
    sqlite3_close(db);
    for (int i = 0; i < n_files; i++) free(files[i].bytes);
    close(log);
    printf("%d passed, %d failed, 0 skipped\n", passed, failed);
    return failed != 0;
}
