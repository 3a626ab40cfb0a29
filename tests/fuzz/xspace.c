/* xspace.c: libFuzzer target: any bytes as a profile file, through the whole of the tables that read it.
 * Build and run with `make fuzz`. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <sqlite3.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

int sqlite3_profsql_init(sqlite3 *db, char **message, const void *api);
int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
    static const char *const queries[] = {
        "SELECT total(start_ps + 0.0), total(self_ps), max(depth), total(parent_id), count(hlo_op), count(hlo_module), count(grid_dim), count(source_line),"
        " total(device_self_ps), count(metadata_id), sum(json_valid(stats)) = count(*) FROM trace_events(?1)",
        "SELECT name, count(*) FROM trace_events(?1) GROUP BY name",
        "SELECT count(*) FROM trace_events(?1) AS a JOIN trace_events(?1) AS b ON b.event_id = a.parent_id WHERE a.event_id < 200",
        "SELECT count(value), max(name), max(type) FROM event_stats(?1)",
        "SELECT count(metadata), max(child_ids), total(stat_count), total(event_count) FROM event_metadata(?1)",
        "SELECT count(value) FROM event_metadata_stats(?1)",
        "SELECT max(name), max(description) FROM stat_metadata(?1)",
        "SELECT count(value) FROM plane_stats(?1)",
        "SELECT count(value), max(name) FROM session(?1)",
        "SELECT count(*), max(message) FROM prof_issues(?1)",
        "SELECT * FROM top_ops(?1)",
        "SELECT * FROM hosts(?1)",
        "SELECT * FROM prof_runs(?1)",
    };
    static char path[64];
    static int fd = -1;
    if (fd < 0) {
        fd = memfd_create("profile", 0);
        snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    }
    if (ftruncate(fd, 0) || pwrite(fd, bytes, n, 0) != (ssize_t)n) abort();
    sqlite3 *db;
    char *message = NULL;
    if (sqlite3_open(":memory:", &db) || sqlite3_profsql_init(db, &message, NULL)) abort();
    for (size_t i = 0; i < sizeof queries / sizeof *queries; i++) {
        sqlite3_stmt *stmt = NULL;
        if (sqlite3_prepare_v2(db, queries[i], -1, &stmt, NULL)) abort();
        sqlite3_bind_text(stmt, 1, path, -1, SQLITE_STATIC);
        while (sqlite3_step(stmt) == SQLITE_ROW)
            for (int c = 0; c < sqlite3_column_count(stmt); c++) sqlite3_column_text(stmt, c);
        sqlite3_finalize(stmt);
    }
    if (sqlite3_close(db) != SQLITE_OK) abort();
    return 0;
}
