// SPDX-License-Identifier: Apache-2.0
/* op_percentiles.c: the table op_percentiles: percentiles of the durations of each op, program and
 * step.
 *
 *   SELECT name, occurrences, p50_us, p99_us, max_us FROM op_percentiles('logs')
 *    WHERE line_kind = 'modules'; */
#include "../loader/analysis/ops/op_percentiles.h"

#include "../loader/format/hlo.h"
#include "../loader/format/hlo_text.h"
#include "../loader/analysis/ops/op_shape.h"
#include "hlo_rows.h"
#include "trace_events.h"

#include <math.h>
SQLITE_EXTENSION_INIT3

#define OP_PERCENTILES_COLUMNS(C)                                                                  \
    C(OP_RUN, RUN_DOC)                                                                             \
    C(OP_HOST, HOST_DOC)                                                                           \
    C(OP_PLANE_KIND, "plane_kind", "TEXT", NULL,                                                   \
      "kind of the planes, as in planes.kind; planes of a kind on one host are combined",          \
      "libprofsql")                                                                                \
    C(OP_LINE_KIND, "line_kind", "TEXT", NULL,                                                     \
      "kind of the lines, as in lines.kind: a row of ops, stream or thread is an op, of modules "  \
      "a program, of steps a step",                                                                \
      "libprofsql")                                                                                \
    C(OP_NAME, "name", "TEXT", NULL,                                                               \
      "name of the events: on TPUs the op's HLO text, on GPUs the kernel, on modules lines "       \
      "program(id)",                                                                               \
      "XEventMetadata.name")                                                                       \
    C(OP_SHORT_NAME, EVENT_SHORT_NAME_DOC)                                                         \
    C(OP_HLO_OP, "hlo_op", "TEXT", NULL,                                                           \
      "HLO instruction that the events record, without everything up to the last `::`; if they "   \
      "record none, the name of the op on op lines of TPUs, elsewhere NULL",                       \
      "stat hlo_op; on TPUs XEventMetadata.display_name, else name up to ` = `")                   \
    C(OP_SHAPE, "shape", "TEXT", NULL,                                                             \
      "shape of the op's result: from the HLO text in name, else with layout from the "            \
      "instruction hlo_op of the program; NULL if the file has neither",                           \
      "XEventMetadata.name, HloInstructionProto.shape")                                            \
    C(OP_PROGRAM, "program_id", "TEXT", NULL,                                                      \
      "id of the program, decimal; NULL if the events record none",                                \
      "stat program_id, or (id) in the name of a run of a program")                                \
    C(OP_MODULE, "hlo_module", "TEXT", NULL,                                                       \
      "HLO module without (id): on lines of kind modules the name, elsewhere the module of the "   \
      "program; NULL there if program_id is NULL or the file does not have the program",           \
      "libprofsql")                                                                                \
    C(OP_OCCURRENCES, "occurrences", "INTEGER", "events", "number of events", "libprofsql")        \
    C(OP_TOTAL, "total_us", "REAL", "us", "sum of the durations, nested events included",          \
      "XEvent.duration_ps")                                                                        \
    C(OP_AVG, "avg_us", "REAL", "us", "average duration", "libprofsql")                            \
    C(OP_STDDEV, "stddev_us", "REAL", "us",                                                        \
      "sample standard deviation of the durations; NULL for one event", "libprofsql")              \
    C(OP_MIN, "min_us", "REAL", "us", "shortest duration", "XEvent.duration_ps")                   \
    C(OP_P50, "p50_us", "REAL", "us", "median of the durations, interpolated as by percentile()",  \
      "libprofsql")                                                                                \
    C(OP_P90, "p90_us", "REAL", "us",                                                              \
      "90th percentile of the durations, interpolated as by percentile()", "libprofsql")           \
    C(OP_P99, "p99_us", "REAL", "us",                                                              \
      "99th percentile of the durations, interpolated as by percentile()", "libprofsql")           \
    C(OP_MAX, "max_us", "REAL", "us", "longest duration", "XEvent.duration_ps")                    \
    C(OP_SOURCE, SOURCE_DOC)
enum { OP_PERCENTILES_COLUMNS(COLUMN_ENUM) };
static const Column op_percentiles_columns[] = {OP_PERCENTILES_COLUMNS(COLUMN_DOC)};

static void op_percentiles_list(RowCursor *c, RowList *list)
{
    const OpPercentilesList *all = host_op_percentiles(c->host, &c->err);
    if (!all || !all->n) return;
    *list = ROW_LIST(all->ops, all->n);
    list->first_place = place_pair(c->at_host, 32, 0);
}

/* Returns the shape in "%name = f32[2]{0} add(...)": one word, or a tuple in brackets. */
static Slice text_shape(const Text *name)
{
    const char *s = strstr(name->text, " = ");
    if (!s) return (Slice){"", 0};
    s += 3;
    size_t n = 0, open = 0;
    for (; s[n] && (open || s[n] != ' '); n++) {
        open += s[n] == '(';
        if (s[n] == ')' && open) open--;
    }
    return (Slice){s, s[n] ? n : 0};
}

/* Returns the instruction that the events record; on a TPU, the one they are named after. */
static Slice op_name(const OpPercentiles *row)
{
    bool on_tpu = row->plane_kind == PLANE_TENSORCORE || row->plane_kind == PLANE_SPARSECORE;
    if (row->hlo_op->n_bytes || !on_tpu ||
        (row->line_kind != LINE_OPS && row->line_kind != LINE_ASYNC_OPS))
        return slice_innermost(slice_of(row->hlo_op));
    if (row->display_name->n_bytes) return slice_of(row->display_name);
    return op_instruction_name(row->name);
}

static void shape_column(RowCursor *c, sqlite3_context *ctx, const OpPercentiles *row)
{
    Slice shape = text_shape(row->name), op = op_name(row);
    if (shape.n) result_slice(ctx, shape);
    if (shape.n || !row->has_program || !op.n) return;
    const HloModule *module = hlo_program(c->host, row->program_id, &c->err);
    const Xla__HloInstructionProto *found = module ? hlo_find(module, op.text, op.n) : NULL;
    if (!found || !found->shape) return;
    TextBuffer text = {0};
    hlo_shape_text(found->shape, true, &text);
    result_buffer(ctx, &text);
}

static void module_column(RowCursor *c, sqlite3_context *ctx, const OpPercentiles *row)
{
    const Text *name = NULL;
    if (row->line_kind == LINE_MODULES)
        name = row->name;
    else if (row->has_program)
        name = hlo_program_entry(c->host, row->program_id);
    if (name) {
        result_module(ctx, name);
        return;
    }
    const HloModule *module =
        row->has_program ? hlo_program(c->host, row->program_id, &c->err) : NULL;
    if (module) result_proto_text(ctx, module->proto->hlo_module->name);
}

static void result_us(sqlite3_context *ctx, double ps) { sqlite3_result_double(ctx, ps / 1e6); }

static void op_percentiles_column(RowCursor *c, sqlite3_context *ctx, int column)
{
    const OpPercentiles *row = c->row;
    switch (column) {
    case OP_PLANE_KIND: result_static(ctx, plane_kind_names[row->plane_kind]); break;
    case OP_LINE_KIND: result_static(ctx, line_kind_names[row->line_kind]); break;
    case OP_NAME: result_text(ctx, row->name); break;
    case OP_SHORT_NAME:
        if (row->plane_kind == PLANE_GPU)
            result_kernel(c, ctx, row->name);
        else
            result_text(ctx, row->display_name->n_bytes ? row->display_name : row->name);
        break;
    case OP_HLO_OP:
        if (op_name(row).n) result_slice(ctx, op_name(row));
        break;
    case OP_SHAPE: shape_column(c, ctx, row); break;
    case OP_PROGRAM:
        if (row->has_program) result_id(ctx, row->program_id);
        break;
    case OP_MODULE: module_column(c, ctx, row); break;
    case OP_OCCURRENCES: result_u64(ctx, row->n); break;
    case OP_TOTAL: result_us(ctx, row->total); break;
    case OP_AVG: result_us(ctx, row->total / (double)row->n); break;
    case OP_STDDEV: result_us(ctx, row->stddev); break;
    case OP_MIN: result_us(ctx, row->min); break;
    case OP_P50: result_us(ctx, row->p50); break;
    case OP_P90: result_us(ctx, row->p90); break;
    case OP_P99: result_us(ctx, row->p99); break;
    case OP_MAX: result_us(ctx, row->max); break;
    default: break;
    }
}

static const RowSource op_percentiles_rows = {.list = op_percentiles_list,
                                              .column = op_percentiles_column,
                                              .needs = NEED_EVENTS,
                                              .nothing = "no event has a duration of its own"};
const Table op_percentiles_table = {"op_percentiles",
                                    "one op, program or step on the planes of a kind, with the "
                                    "percentiles of its durations (docs/semantics.md, Spread)",
                                    op_percentiles_columns,
                                    COUNT(op_percentiles_columns),
                                    &row_table_module,
                                    &op_percentiles_rows,
                                    2000,
                                    "0.1.0",
                                    "SELECT name, occurrences, p50_us, p99_us, max_us FROM "
                                    "op_percentiles WHERE line_kind = 'modules'"};
