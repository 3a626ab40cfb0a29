// SPDX-License-Identifier: Apache-2.0
/* work.c: counts work, so that tests need not time it. Load it before the library.
 *
 *   SELECT steps_done();  -- of the connection's statements that have ended, in SQLite's machine
 *   SELECT blocks_done(); -- basic blocks of a library that is compiled with
 *                         -- -fsanitize-coverage=trace-pc, run by any thread */
#include <sqlite3ext.h>
#include <stdatomic.h>
#include <string.h>
SQLITE_EXTENSION_INIT1

static atomic_llong blocks;
static sqlite3_int64 steps;

void __sanitizer_cov_trace_pc(void);
void __sanitizer_cov_trace_pc(void) { atomic_fetch_add_explicit(&blocks, 1, memory_order_relaxed); }

static void blocks_done(sqlite3_context *ctx, int argc, sqlite3_value **argv)
{
    (void)argc;
    (void)argv;
    sqlite3_result_int64(ctx, atomic_load_explicit(&blocks, memory_order_relaxed));
}

static void steps_done(sqlite3_context *ctx, int argc, sqlite3_value **argv)
{
    (void)argc;
    (void)argv;
    sqlite3_result_int64(ctx, steps);
}

/* The small statement of ext/statement.c, which runs every few milliseconds. */
static int is_tick(sqlite3_stmt *statement)
{
    static const char start[] = "WITH RECURSIVE n(i) AS (VALUES (0)";
    const char *sql = sqlite3_sql(statement);
    return sql && !strncmp(sql, start, sizeof start - 1);
}

/* A statement has ended: also one that a table runs within another. */
static int add_steps(unsigned what, void *context, void *statement, void *ns)
{
    (void)what;
    (void)context;
    (void)ns;
    if (!is_tick(statement)) steps += sqlite3_stmt_status(statement, SQLITE_STMTSTATUS_VM_STEP, 1);
    return 0;
}

int sqlite3_work_init(sqlite3 *db, char **message, const sqlite3_api_routines *api);
int sqlite3_work_init(sqlite3 *db, char **message, const sqlite3_api_routines *api)
{
    (void)message;
    SQLITE_EXTENSION_INIT2(api);
    sqlite3_create_function(db, "blocks_done", 0, SQLITE_UTF8, 0, blocks_done, 0, 0);
    sqlite3_create_function(db, "steps_done", 0, SQLITE_UTF8, 0, steps_done, 0, 0);
    return sqlite3_trace_v2(db, SQLITE_TRACE_PROFILE, add_steps, 0);
}
