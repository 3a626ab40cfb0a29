// SPDX-License-Identifier: Apache-2.0
/* statement.c: makes statements interruptible.
 *
 * SQLite checks for interrupts and calls progress handlers between the rows of a table. Within a
 * row a table may have to read a profile or compute an analysis. While it does, the loader polls
 * (loader/base/interrupt.h), and each poll runs a small statement, which checks for interrupts and
 * calls progress handlers in every version of SQLite (sqlite3_is_interrupted() is newer, and calls
 * no progress handler). */
#include "prof.h"
SQLITE_EXTENSION_INIT3

/* Takes some thousand steps, because a progress handler is called once every so many steps of a
 * statement. */
static const char tick_sql[] =
    "WITH RECURSIVE n(i) AS (VALUES (0) UNION ALL SELECT i + 1 FROM n LIMIT 100)"
    " SELECT max(i) FROM n";

static bool ask(void *context)
{
    Statement *s = context;
    int rc = s->tick ? SQLITE_OK : sqlite3_prepare_v2(s->db, tick_sql, -1, &s->tick, NULL);
    if (rc == SQLITE_OK && s->tick) {
        rc = sqlite3_step(s->tick);
        sqlite3_reset(s->tick);
    }
    return rc == SQLITE_INTERRUPT;
}

void statement_open(Statement *s, sqlite3 *db)
{
    s->db = db, s->tick = NULL;
    interrupt_open(&s->interrupt, ask, s);
}

int statement_close(Statement *s, int rc)
{
    interrupt_close(&s->interrupt);
    if (s->tick) sqlite3_finalize(s->tick);
    return atomic_load_explicit(&s->interrupt.stopped, memory_order_relaxed) ? SQLITE_INTERRUPT
                                                                             : rc;
}

void statement_end(Statement *s, ProfErr *err)
{
    if (statement_close(s, SQLITE_OK) == SQLITE_INTERRUPT)
        err->code = PROF_INTERRUPT; /* comes before any other error */
}

int statement_run(sqlite3 *db, sqlite3_stmt **running)
{
    int rc = sqlite3_prepare_v2(db, "SELECT 1", -1, running, NULL);
    if (rc == SQLITE_OK && sqlite3_step(*running) == SQLITE_ROW) return SQLITE_OK;
    rc = sqlite3_finalize(*running);
    *running = NULL;
    return rc;
}

/* ---- tables ---- */

static int table_filter(sqlite3_vtab_cursor *cursor, int plan, const char *terms, int argc,
                        sqlite3_value **argv)
{
    const ProfTable *table = (const ProfTable *)cursor->pVtab;
    Statement s;
    statement_open(&s, table->prof->db);
    return statement_close(&s, table->table->module->xFilter(cursor, plan, terms, argc, argv));
}

static int table_next(sqlite3_vtab_cursor *cursor)
{
    const ProfTable *table = (const ProfTable *)cursor->pVtab;
    Statement s;
    statement_open(&s, table->prof->db);
    return statement_close(&s, table->table->module->xNext(cursor));
}

static int table_value(sqlite3_vtab_cursor *cursor, sqlite3_context *ctx, int column)
{
    const ProfTable *table = (const ProfTable *)cursor->pVtab;
    Statement s;
    statement_open(&s, table->prof->db);
    return statement_close(&s, table->table->module->xColumn(cursor, ctx, column));
}

sqlite3_module statement_module(const Table *table)
{
    sqlite3_module module = *table->module;
    module.xFilter = table_filter;
    if (table->rows) module.xNext = table_next;
    if (table->rows && !table->rows->count) module.xColumn = table_value;
    return module;
}
