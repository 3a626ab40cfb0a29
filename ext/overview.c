// SPDX-License-Identifier: Apache-2.0
/* overview.c: the table overview: the properties of XProf's overview page, as it prints them.
 *
 *   SELECT section, name, value FROM overview('logs') WHERE section = 'run_environment'; */
#include "../loader/analysis/insights/overview.h"
#include "prof.h"
SQLITE_EXTENSION_INIT3

#define OVERVIEW_COLUMNS(C)                                                                        \
    C(OV_RUN, RUN_DOC)                                                                             \
    C(OV_SECTION, "section", "TEXT", NULL,                                                         \
      "table of XProf's overview page that shows the property: top_ops, input_pipeline, "          \
      "run_environment or recommendation. not_shown: XProf computes it but does not show it. "     \
      "disaggregated_serving: only in profiles of servers that run decoding separately",           \
      "libprofsql")                                                                                \
    C(OV_NAME, "name", "TEXT", NULL, "name of the property", "overview_page key")                  \
    C(OV_VALUE, "value", "TEXT", NULL,                                                             \
      "value as XProf prints it, or a code instead of XProf's sentences; NULL if unknown, where "  \
      "XProf prints 0 or -nan. Properties that XProf omits have no row",                           \
      "overview_page value")                                                                       \
    C(OV_UNIT, "unit", "TEXT", NULL, "unit of the value; NULL if it has none", "libprofsql")       \
    C(OV_DESCRIPTION, "description", "TEXT", NULL, "what the property means", "libprofsql")        \
    C(OV_SOURCE, SOURCE_DOC)
enum { OVERVIEW_COLUMNS(COLUMN_ENUM) };
static const Column overview_columns[] = {OVERVIEW_COLUMNS(COLUMN_DOC)};

static void overview_list(RowCursor *c, RowList *list)
{
    if (c->from->run->hosts[0].reader->is_program) return; /* a program was not executed */
    const Overview *all = run_overview(c->from->run, c->from->only, &c->err);
    if (all) *list = ROW_LIST(all->properties, all->n);
}

static void overview_column(RowCursor *c, sqlite3_context *ctx, int column)
{
    const OverviewProperty *p = c->row;
    switch (column) {
    case OV_SECTION: result_static(ctx, p->section); break;
    case OV_NAME: result_static(ctx, p->name); break;
    case OV_VALUE: result_static(ctx, p->value); break;
    case OV_UNIT: result_static(ctx, p->unit); break;
    default: result_static(ctx, p->description); break;
    }
}

static const RowSource overview_rows = {
    .list = overview_list, .column = overview_column, .per_run = true, .needs = NEED_EVENTS};
const Table overview_table = {"overview",
                              "one property of XProf's overview page",
                              overview_columns,
                              COUNT(overview_columns),
                              &row_table_module,
                              &overview_rows,
                              50,
                              "0.1.0",
                              "SELECT section, name, value, unit FROM overview"};
