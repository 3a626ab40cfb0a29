// SPDX-License-Identifier: Apache-2.0
/* every_table.h: statements that read a run through every table and canned query; for tests alone.
 * Parameter 1 of each is the run. */
#ifndef EVERY_TABLE_H
#define EVERY_TABLE_H

#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>

enum { MOST_STATEMENTS = 250 };

static sqlite3 *db;
static sqlite3_stmt *statements[MOST_STATEMENTS], *attach;
static int n_statements;

static sqlite3_stmt *prepare(const char *sql)
{
    sqlite3_stmt *stmt = NULL;
    if (sqlite3_prepare_v2(db, sql, -1, &stmt, NULL)) {
        fprintf(stderr, "%s: %s\n", sql, sqlite3_errmsg(db));
        exit(2);
    }
    return stmt;
}

/* Every column of every table, the hidden ones too but for arguments that are not given, and all
 * that every query gives. db has the extension. */
static void prepare_all(void)
{
    static const char *const more[] = {
        "SELECT name, metadata_id, count(*), max(start_ps), sum(self_ps + 0.0) FROM "
        "trace_events(?1) GROUP BY name, metadata_id",
        "SELECT count(*) FROM trace_events(?1) AS a JOIN trace_events(?1) AS b ON b.event_id = "
        "a.parent_id",
        "SELECT count(*) FROM (SELECT * FROM trace_events(?1) WHERE correlation_id <> 0 LIMIT 9) "
        "AS a JOIN trace_events(?1) AS b ON b.correlation_id = a.correlation_id",
        "SELECT count(*) FROM (SELECT * FROM trace_events(?1) LIMIT 9) AS a JOIN trace_events(?1) "
        "AS b ON b.name = a.name AND b.start_ps BETWEEN a.start_ps AND a.end_ps",
        "SELECT 1 / (sum(json_valid(stats)) = count(*)) IS NULL AND count(*) > 0 FROM "
        "trace_events(?1)",
        "SELECT * FROM op_profile(?1, 'category', 1, 5)",
        "SELECT * FROM op_profile(?1, 'provenance', 0)",
        "SELECT * FROM hlo_text(?1, NULL, 'short')",
        "SELECT * FROM buffer_allocations(?1, 64)",
        "SELECT * FROM memory_events(?1, 0)",
        "SELECT * FROM live_allocations(?1)",
        "SELECT * FROM live_at(?1)",
        "SELECT * FROM tf_ops(?1, 0, 3)",
        "SELECT step_time_chart(?1)",
        "SELECT roofline_chart(?1)",
        "SELECT memory_chart(?1)",
        "SELECT op_treemap(?1)",
    };
    sqlite3_stmt *list =
        prepare("SELECT 'SELECT ' || group_concat('\"' || \"column\" || '\"') || ' FROM temp.\"' "
                "|| table_name || '\"(?1'"
                " || CASE WHEN table_name LIKE 'compare%' THEN ', ?1' WHEN table_name LIKE 'live%' "
                "THEN ', 5' ELSE '' END || ')' FROM prof_columns"
                " WHERE table_name IN (SELECT table_name FROM prof_columns WHERE \"column\" IN "
                "('source', 'a'))"
                " AND (type NOT LIKE '%HIDDEN' OR \"column\" IN ('source', 'a', 'b', 'stats', "
                "'args')) GROUP BY table_name");
    while (sqlite3_step(list) == SQLITE_ROW && n_statements < MOST_STATEMENTS)
        statements[n_statements++] = prepare((const char *)sqlite3_column_text(list, 0));
    sqlite3_finalize(list);
    for (size_t i = 0; i < sizeof more / sizeof *more && n_statements < MOST_STATEMENTS; i++)
        statements[n_statements++] = prepare(more[i]);
    attach = prepare("SELECT prof_attach_by_host(?1, 'by host')");
}

/* Attaches the run in path, each file a host of its own; what it is called then. */
static const char *attach_by_host(const char *path)
{
    sqlite3_bind_text(attach, 1, path, -1, SQLITE_STATIC);
    const char *source = sqlite3_step(attach) == SQLITE_ROW ? "by host" : path;
    sqlite3_reset(attach);
    return source;
}

#endif
