// SPDX-License-Identifier: Apache-2.0
/* hlo.c: libFuzzer target: any bytes as an HLO program, through the whole of the tables that read
 * it, and as the text of a shape. Build and run with `make fuzz FUZZ=hlo`. */
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

static char path[64], target[64];

static void remove_path(void) { unlink(path); }

/* A file in memory under a name that says what it is. */
static int open_file(void)
{
    int fd = memfd_create("program", 0);
    snprintf(target, sizeof target, "/proc/%ld/fd/%d", (long)getpid(), fd);
    snprintf(path, sizeof path, "/tmp/fuzz.%ld.hlo.pb", (long)getpid());
    unlink(path);
    if (fd < 0 || symlink(target, path)) abort();
    atexit(remove_path);
    return fd;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
    static const char *const queries[] = {
        "SELECT count(*), max(path), max(entry_computation), total(peak_heap_bytes), "
        "total(parameter_bytes), max(content_hash) FROM hlo_modules(?1)",
        "SELECT count(*), max(computation), sum(is_fusion), max(execution_thread) FROM "
        "hlo_computations(?1)",
        "SELECT count(*), max(category), max(shape), total(padded_bytes), "
        "total(padding_efficiency), max(memory_space), max(source_file), max(source_stack),"
        " max(called_computations), max(expression), total(flops), total(bytes_accessed) FROM "
        "hlo_instructions(?1)",
        "SELECT count(*) FROM hlo_instructions(?1) AS a JOIN hlo_instructions(?1) AS b USING "
        "(program_id, hlo_op) WHERE a.instruction_id < 200",
        "SELECT count(*), max(operand) FROM hlo_operands(?1)",
        "SELECT count(*), total(expansion), max(attributes), max(shape_index), max(label), "
        "max(end_event), sum(live_at_peak), max(size_rank)"
        " FROM buffer_allocations(?1, 64)",
        "SELECT count(*), total(heap_mib), total(unpadded_heap_mib), max(hlo_op) FROM "
        "heap_timeline(?1)",
        "SELECT count(*), total(peak_heap_mib), total(fragmentation_fraction), max(scoped_vmem_op) "
        "FROM memory_peaks(?1)",
        "SELECT count(*), max(text), max(hlo_op) FROM hlo_text(?1)",
        "SELECT max(text) FROM hlo_text(?1, NULL, 'short')",
        "SELECT count(*), max(message) FROM prof_issues(?1)",
        "SELECT shape_bytes(?2)",
        "SELECT padding_efficiency(?2)",
    };
    static int fd = -1;
    if (fd < 0) fd = open_file();
    if (ftruncate(fd, 0) || pwrite(fd, bytes, n, 0) != (ssize_t)n) abort();
    sqlite3 *db;
    char *message = NULL;
    if (sqlite3_open(":memory:", &db) || sqlite3_profsql_init(db, &message, NULL)) abort();
    for (size_t i = 0; i < sizeof queries / sizeof *queries; i++) {
        sqlite3_stmt *stmt = NULL;
        if (sqlite3_prepare_v2(db, queries[i], -1, &stmt, NULL)) abort();
        sqlite3_bind_text(stmt, 1, path, -1, SQLITE_STATIC);
        if (sqlite3_bind_parameter_count(stmt) > 1)
            sqlite3_bind_text(stmt, 2, (const char *)bytes, (int)n, SQLITE_STATIC);
        while (sqlite3_step(stmt) == SQLITE_ROW)
            for (int c = 0; c < sqlite3_column_count(stmt); c++) sqlite3_column_text(stmt, c);
        sqlite3_finalize(stmt);
    }
    if (sqlite3_close(db) != SQLITE_OK) abort();
    return 0;
}
