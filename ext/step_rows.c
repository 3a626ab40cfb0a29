// SPDX-License-Identifier: Apache-2.0
/* step_rows.c: functions shared by the tables of steps; see step_rows.h. */
#include "step_rows.h"
SQLITE_EXTENSION_INIT3

void result_ps(sqlite3_context *ctx, uint64_t ps)
{
    if (ps <= INT64_MAX)
        sqlite3_result_int64(ctx, (sqlite3_int64)ps);
    else
        sqlite3_result_double(ctx, (double)ps);
}

void result_name(sqlite3_context *ctx, const char *name)
{
    if (name) sqlite3_result_text(ctx, name, -1, SQLITE_STATIC);
}
