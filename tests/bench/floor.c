// SPDX-License-Identifier: Apache-2.0
/* floor.c: the least that SQLite makes of a virtual table here: one integer and one text column, no
 * work behind them.
 *
 *     SELECT name, count(*), sum(value) FROM floor GROUP BY name;    -- 5 million rows, handed over
 * in groups of a thousand
 *
 * Nothing that answers row by row can be quicker; tests/bench/run prints it beside what our tables
 * take. */
#include "sqlite3ext.h"
SQLITE_EXTENSION_INIT1

#include <stdio.h>
#include <string.h>

enum { N_ROWS = 5000000, GROUP = 1000 };

typedef struct {
    sqlite3_vtab_cursor base;
    sqlite3_int64 row;
    char (*names)[32];
} FloorCursor;

static int floor_connect(sqlite3 *db, void *context, int argc, const char *const *argv,
                         sqlite3_vtab **vtab, char **message)
{
    (void)context, (void)argc, (void)argv, (void)message;
    *vtab = sqlite3_malloc(sizeof **vtab);
    if (!*vtab) return SQLITE_NOMEM;
    memset(*vtab, 0, sizeof **vtab);
    return sqlite3_declare_vtab(db, "CREATE TABLE x(value INTEGER, name TEXT)");
}

static int floor_disconnect(sqlite3_vtab *vtab)
{
    sqlite3_free(vtab);
    return SQLITE_OK;
}

static int floor_best_index(sqlite3_vtab *vtab, sqlite3_index_info *info)
{
    (void)vtab;
    info->estimatedCost = info->estimatedRows = N_ROWS;
    info->orderByConsumed =
        info->nOrderBy == 1 && info->aOrderBy[0].iColumn == 1 && !info->aOrderBy[0].desc;
    return SQLITE_OK;
}

static int floor_open(sqlite3_vtab *vtab, sqlite3_vtab_cursor **cursor)
{
    (void)vtab;
    FloorCursor *c = sqlite3_malloc(sizeof *c);
    char(*names)[32] = sqlite3_malloc64(sizeof *names * (N_ROWS / GROUP));
    if (!c || !names) {
        sqlite3_free(c);
        sqlite3_free(names);
        return SQLITE_NOMEM;
    }
    for (int i = 0; i < N_ROWS / GROUP; i++)
        snprintf(names[i], sizeof *names, "an operation, number %06d", i);
    *c = (FloorCursor){.names = names};
    *cursor = &c->base;
    return SQLITE_OK;
}

static int floor_close(sqlite3_vtab_cursor *cursor)
{
    sqlite3_free(((FloorCursor *)cursor)->names);
    sqlite3_free(cursor);
    return SQLITE_OK;
}

static int floor_filter(sqlite3_vtab_cursor *cursor, int plan, const char *text, int argc,
                        sqlite3_value **argv)
{
    (void)plan, (void)text, (void)argc, (void)argv;
    ((FloorCursor *)cursor)->row = 0;
    return SQLITE_OK;
}

static int floor_next(sqlite3_vtab_cursor *cursor)
{
    ((FloorCursor *)cursor)->row++;
    return SQLITE_OK;
}
static int floor_eof(sqlite3_vtab_cursor *cursor) { return ((FloorCursor *)cursor)->row == N_ROWS; }
static int floor_rowid(sqlite3_vtab_cursor *cursor, sqlite3_int64 *rowid)
{
    *rowid = ((FloorCursor *)cursor)->row;
    return SQLITE_OK;
}

static int floor_column(sqlite3_vtab_cursor *cursor, sqlite3_context *ctx, int column)
{
    const FloorCursor *c = (FloorCursor *)cursor;
    if (column == 0)
        sqlite3_result_int64(ctx, c->row);
    else
        sqlite3_result_text(ctx, c->names[c->row / GROUP], 26, SQLITE_STATIC);
    return SQLITE_OK;
}

int sqlite3_floor_init(sqlite3 *db, char **message, const sqlite3_api_routines *api)
{
    static const sqlite3_module module = {
        .xConnect = floor_connect,
        .xBestIndex = floor_best_index,
        .xDisconnect = floor_disconnect,
        .xOpen = floor_open,
        .xClose = floor_close,
        .xFilter = floor_filter,
        .xNext = floor_next,
        .xEof = floor_eof,
        .xColumn = floor_column,
        .xRowid = floor_rowid,
    };
    (void)message;
    SQLITE_EXTENSION_INIT2(api);
    return sqlite3_create_module(db, "floor", &module, NULL);
}
