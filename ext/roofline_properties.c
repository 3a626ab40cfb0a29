// SPDX-License-Identifier: Apache-2.0
/* roofline_properties.c: the table roofline_properties: the devices' peaks in XProf's
 * roofline model.
 *
 *   SELECT name, value, unit
 *     FROM roofline_properties('logs');   -- hbm_ridge_point|139.567|FLOP/byte */
#include "../loader/analysis/insights/roofline_properties.h"

#include "prof.h"
SQLITE_EXTENSION_INIT3

#define PROPERTIES_COLUMNS(C)                                                                      \
    C(RP_RUN, RUN_DOC)                                                                             \
    C(RP_NAME, "name", "TEXT", NULL, "name of the property, as in XProf",                          \
      "roofline_model properties")                                                                 \
    C(RP_VALUE, "value", "TEXT", NULL,                                                             \
      "value of the property as XProf prints it, with six digits; 0 if unknown or if the device "  \
      "lacks the memory",                                                                          \
      "roofline_model properties")                                                                 \
    C(RP_EXACT, "exact", "REAL", "see unit",                                                       \
      "value of the property with full precision; NULL if unknown and for texts", "libprofsql")    \
    C(RP_UNIT, "unit", "TEXT", NULL, "unit of the value; NULL for texts and flags", "libprofsql")  \
    C(RP_SOURCE, SOURCE_DOC)
enum { PROPERTIES_COLUMNS(COLUMN_ENUM) };
static const Column roofline_properties_columns[] = {PROPERTIES_COLUMNS(COLUMN_DOC)};

static void properties_list(RowCursor *c, RowList *list)
{
    const RooflineProperties *all = run_roofline_properties(c->from->run, c->from->only, &c->err);
    if (all) *list = ROW_LIST(all->properties, all->n);
}

static void properties_column(RowCursor *c, sqlite3_context *ctx, int column)
{
    const RooflineProperty *p = c->row;
    switch (column) {
    case RP_NAME: result_static(ctx, p->name); break;
    case RP_VALUE:
        if (p->text)
            result_static(ctx, p->text);
        else
            result_real(ctx, "%g", p->number);
        break;
    case RP_EXACT:
        if (p->known) sqlite3_result_double(ctx, p->number);
        break;
    case RP_UNIT: result_static(ctx, p->unit); break;
    default: break;
    }
}

static const RowSource roofline_properties_rows = {.list = properties_list,
                                                   .column = properties_column,
                                                   .per_run = true,
                                                   .needs = NEED_EVENTS | NEED_DEVICE};
const Table roofline_properties_table = {
    "roofline_properties",
    "one property of the devices that XProf's roofline model uses",
    roofline_properties_columns,
    COUNT(roofline_properties_columns),
    &row_table_module,
    &roofline_properties_rows,
    16,
    "0.1.0",
    "SELECT name, value, unit FROM roofline_properties"};
