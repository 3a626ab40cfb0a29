// SPDX-License-Identifier: Apache-2.0
/* op_profile.c: the table op_profile: XProf's op profile, a tree of the device's ops, in preorder.
 *
 *   SELECT printf('%.*c%s', 2 * depth + 1, ' ', name), time_fraction, flops_utilization
 *     FROM op_profile('logs', 'category');
 *   SELECT * FROM op_profile('logs', 'provenance', 0, 0);   -- the entire tree, without IDLE */
#include "../loader/analysis/ops/op_profile.h"

#include "prof.h"
SQLITE_EXTENSION_INIT3

#include <math.h>

#define OP_PROFILE_COLUMNS(C)                                                                      \
    C(OP_RUN, RUN_DOC)                                                                             \
    C(OP_NODE, "node_id", "INTEGER", NULL, "position of the node in preorder, from 0",             \
      "libprofsql")                                                                                \
    C(OP_PARENT, "parent_id", "INTEGER", NULL, "node_id of the parent node; NULL for the root",    \
      "libprofsql")                                                                                \
    C(OP_DEPTH, "depth", "INTEGER", NULL, "depth of the node: number of levels below the root",    \
      "libprofsql")                                                                                \
    C(OP_PATH, "path", "TEXT", NULL,                                                               \
      "names of the nodes from below the root to this node, separated by slashes", "libprofsql")   \
    C(OP_NAME, "name", "TEXT", NULL,                                                               \
      "name that XProf shows: a program, a scope, a category, an op, or an op with its "           \
      "duplicates. Ops that contain other ops (while, conditional, call) are not in the tree; "    \
      "their own time counts only in the program and the root",                                    \
      "Node.name")                                                                                 \
    C(OP_KIND, "kind", "TEXT", NULL,                                                               \
      "kind of the node: root, program, provenance (a scope), category, duplicates (ops that are " \
      "copies of the first one) or op",                                                            \
      "libprofsql")                                                                                \
    C(OP_PROGRAM, "program_id", "TEXT", NULL,                                                      \
      "id of the program that contains the op or duplicates, decimal; NULL for other nodes",       \
      "Node.xla.program_id")                                                                       \
    C(OP_CATEGORY, "category", "TEXT", NULL,                                                       \
      "HLO category of the op or duplicates; NULL for other nodes", "Node.xla.category")           \
    C(OP_EXPRESSION, "expression", "TEXT", NULL,                                                   \
      "HLO text of the op, empty if the file has none; NULL for other nodes",                      \
      "Node.xla.expression")                                                                       \
    C(OP_PROVENANCE, "provenance", "TEXT", NULL,                                                   \
      "framework op of the op, empty if unknown and for duplicates of fusions; NULL for other "    \
      "nodes",                                                                                     \
      "Node.xla.provenance")                                                                       \
    C(OP_FILE, "source_file", "TEXT", NULL, "source file of the op; NULL if unknown",              \
      "Node.xla.source_info.file_name")                                                            \
    C(OP_LINE, "source_line", "INTEGER", NULL, "line of the op in source_file; NULL if unknown",   \
      "Node.xla.source_info.line_number")                                                          \
    C(OP_TIME, "raw_time_ps", "INTEGER", "ps",                                                     \
      "time in the node, summed over cores; for the root, the entire measured time",               \
      "Node.metrics.raw_time")                                                                     \
    C(OP_NORMALIZED, "normalized_time_ps", "INTEGER", "ps",                                        \
      "self time of the node at the device's default clock rate; 0 if the file does not record "   \
      "it",                                                                                        \
      "Node.metrics.normalized_time_ps")                                                           \
    C(OP_FRACTION, "time_fraction", "REAL", "fraction 0..1",                                       \
      "time of the node divided by the root's time; NULL if the root's time is 0",                 \
      "op profile page")                                                                           \
    C(OP_OCCURRENCES, "occurrences", "INTEGER", NULL,                                              \
      "number of times that the op ran; 0 for the root, programs and scopes",                      \
      "Node.metrics.occurrences")                                                                  \
    C(OP_AVG, "avg_time_ps", "REAL", "ps",                                                         \
      "average time of one occurrence; 0 if occurrences is 0", "Node.metrics.avg_time_ps")         \
    C(OP_FLOPS, "weighted_flops_utilization", "REAL", "fraction 0..1",                             \
      "FLOP rate divided by the peak rate, at most 1, multiplied by the share of time",            \
      "Node.metrics.flops")                                                                        \
    C(OP_UNCAPPED, "weighted_flops_utilization_uncapped", "REAL", "fraction",                      \
      "weighted_flops_utilization without the cap: above 1 if a cost is overestimated; 0 if the "  \
      "peak rate is unknown",                                                                      \
      "Node.metrics.uncapped_flops")                                                               \
    C(OP_RAW_FLOPS, "raw_flops", "REAL", "FLOP",                                                   \
      "floating-point operations, without device-specific weights", "Node.metrics.raw_flops")      \
    C(OP_BF16_FLOPS, "bf16_flops", "REAL", "FLOP",                                                 \
      "floating-point operations; an 8-bit operation counts as a half, a 4-bit one as a quarter",  \
      "Node.metrics.bf16_flops")                                                                   \
    C(OP_HBM, "hbm_utilization", "REAL", "fraction 0..1",                                          \
      "HBM bandwidth divided by the peak bandwidth, at most 1; 0 if unknown, NULL if XProf "       \
      "computes NaN",                                                                              \
      "Node.metrics.bandwidth_utils[0]")                                                           \
    C(OP_CHIP_READ, "on_chip_read_utilization", "REAL", "fraction 0..1",                           \
      "bandwidth of reads from on-chip memory divided by the peak bandwidth, at most 1; 0 if "     \
      "unknown, NULL if XProf computes NaN",                                                       \
      "Node.metrics.bandwidth_utils[1]")                                                           \
    C(OP_CHIP_WRITE, "on_chip_write_utilization", "REAL", "fraction 0..1",                         \
      "bandwidth of writes to on-chip memory divided by the peak bandwidth, at most 1; 0 if "      \
      "unknown, NULL if XProf computes NaN",                                                       \
      "Node.metrics.bandwidth_utils[2]")                                                           \
    C(OP_HBM_BYTES, "hbm_bytes", "REAL", "bytes",                                                  \
      "bytes read from and written to HBM, computed from a rate as in XProf",                      \
      "raw_bytes_accessed_array[0]")                                                               \
    C(OP_CHIP_READ_BYTES, "on_chip_read_bytes", "REAL", "bytes",                                   \
      "bytes read from on-chip memory, computed from a rate as in XProf",                          \
      "raw_bytes_accessed_array[1]")                                                               \
    C(OP_CHIP_WRITE_BYTES, "on_chip_write_bytes", "REAL", "bytes",                                 \
      "bytes written to on-chip memory, computed from a rate as in XProf",                         \
      "raw_bytes_accessed_array[2]")                                                               \
    C(OP_UTILIZATION, "flops_utilization", "REAL", "fraction",                                     \
      "FLOP rate divided by the peak rate, uncapped: above 1 if a cost is overestimated; NULL if " \
      "time or peak rate is 0 or unknown",                                                         \
      "op profile page")                                                                           \
    C(OP_WASTED, "wasted_time_fraction", "REAL", "fraction",                                       \
      "time_fraction x (1 - the larger of FLOP and HBM utilization), below 0 if that utilization " \
      "is above 1; NULL if HBM utilization is 0 or unknown, as on XProf's page",                   \
      "op profile page")                                                                           \
    C(OP_CHILDREN, "num_children", "INTEGER", "nodes",                                             \
      "number of child nodes; 100, the number that XProf keeps, if children were pruned",          \
      "Node.num_children")                                                                         \
    C(OP_PRIMITIVE, "computation_primitive_size", "INTEGER", NULL,                                 \
      "always 0, because no open-source profiler records it; NULL if the node is not an op",       \
      "Node.xla")                                                                                  \
    C(OP_FINGERPRINT, "fingerprint", "TEXT", NULL,                                                 \
      "always 0, because no open-source profiler records it; NULL if the node is not an op",       \
      "Node.xla")                                                                                  \
    C(OP_KERNEL, "kernel_metadata", "TEXT", NULL,                                                  \
      "always empty, because no open-source profiler records it; NULL if the node is not an op",   \
      "Node.xla")                                                                                  \
    C(OP_STACK, "source_stack", "TEXT", NULL,                                                      \
      "call stack of the op in source lines; NULL if unknown", "Node.xla.source_info.stack_frame") \
    C(OP_SELF, "self_time_ps", "INTEGER", "ps",                                                    \
      "time in the node without the ops that run inside its ops", "libprofsql")                    \
    C(OP_SOURCE, SOURCE_DOC)                                                                       \
    C(OP_GROUP, "group_by", "TEXT HIDDEN", NULL,                                                   \
      "how to group the ops: program, category or provenance; default program", "argument 2")      \
    C(OP_IDLE, "include_idle", "INTEGER HIDDEN", "0 or 1",                                         \
      "1: include IDLE; 0: omit IDLE and show shares of busy time; default 1", "argument 3")       \
    C(OP_LIMIT, "row_limit", "INTEGER HIDDEN", "nodes",                                            \
      "number of children to keep for each node below the upper levels; 0: all; default 100, as "  \
      "in XProf",                                                                                  \
      "argument 4")
enum { OP_PROFILE_COLUMNS(COLUMN_ENUM) };
static const Column op_profile_columns[] = {OP_PROFILE_COLUMNS(COLUMN_DOC)};

static bool read_options(RowCursor *c, ProfileOptions *options)
{
    static const char *const names[] = {"program", "category", "provenance"};
    const char *group = row_text_parameter(c, 0, names[0]);
    sqlite3_int64 limit = row_integer_parameter(c, 2, 100);
    *options = (ProfileOptions){.include_idle = row_integer_parameter(c, 1, 1) != 0,
                                .n_children = limit > 0 ? (uint64_t)limit : 0};
    for (size_t i = 0; i < COUNT(names); i++)
        if (!strcmp(group, names[i])) {
            options->group = (enum ProfileGroup)i;
            return true;
        }
    prof_fail(&c->err, PROF_FORMAT, 0,
              "op_profile: unknown group_by '%.40s'; use program, category or provenance", group);
    return false;
}

typedef struct {
    OpProfile *profile;
} OpProfileState;

static void op_profile_close(void *state)
{
    OpProfile *profile = ((OpProfileState *)state)->profile;
    if (profile) op_profile_free(profile);
}

static void op_profile_list(RowCursor *c, RowList *list)
{
    OpProfileState *state = c->state;
    ProfileOptions options;
    if (!read_options(c, &options)) return;
    state->profile = op_profile_make(c->from->run, c->from->only, &options, &c->err);
    if (state->profile) *list = ROW_LIST(state->profile->nodes, state->profile->n_nodes);
}

static const char duplicates[] = " and its duplicate(s)";

static void add_name(sqlite3_str *out, const ProfileNode *node)
{
    sqlite3_str_append(out, node->name.text, (int)node->name.n);
    if (node->kind == PROFILE_DUPLICATES) sqlite3_str_appendall(out, duplicates);
}

/* Writes a name, which may be empty. */
static void result_name(sqlite3_context *ctx, sqlite3_str *out)
{
    if (!sqlite3_str_length(out)) result_static(ctx, "");
    result_built(ctx, out);
}

static void result_path(sqlite3_context *ctx, const ProfileNode *node)
{
    const ProfileNode *up[1024]; /* the tree's depth is limited to less */
    size_t n = 0;
    for (const ProfileNode *at = node; at->parent && n < COUNT(up); at = at->parent) up[n++] = at;
    sqlite3_str *out = sqlite3_str_new(NULL);
    while (n) {
        add_name(out, up[--n]);
        if (n) sqlite3_str_appendchar(out, 1, '/');
    }
    result_name(ctx, out);
}

/* Writes a column of an op, or of the first of several duplicates. */
static void op_column(sqlite3_context *ctx, const ProfileNode *node, int column)
{
    const OpMetrics *op = node->op;
    if (!op) return;
    switch (column) {
    case OP_PROGRAM: result_id(ctx, op->program_id); break;
    case OP_CATEGORY: result_text(ctx, op->category); break;
    case OP_EXPRESSION: result_text(ctx, op->long_name); break;
    case OP_PROVENANCE:
        if (node->kind == PROFILE_DUPLICATES && slice_ends(slice_of(op->category), " fusion"))
            result_static(ctx, "");
        else
            result_text(ctx, op->provenance);
        break;
    case OP_FILE: result_nonempty(ctx, op->source_file); break;
    case OP_LINE:
        if (op->source_line > 0) sqlite3_result_int(ctx, op->source_line);
        break;
    case OP_STACK: result_nonempty(ctx, op->source_stack); break;
    case OP_PRIMITIVE: sqlite3_result_int(ctx, 0); break;
    case OP_FINGERPRINT: result_static(ctx, "0"); break;
    default: result_static(ctx, ""); break;
    }
}

/* Writes a column that XProf's page computes from the metrics. */
static void page_column(sqlite3_context *ctx, const OpProfile *profile, const ProfileNode *node,
                        const ProfileMetrics *m, int column)
{
    double fraction = (double)node->time_ps / (double)profile->nodes[0]->time_ps,
           utilization = m->uncapped_flops / fraction;
    if (!profile->nodes[0]->time_ps) return;
    if (column == OP_FRACTION)
        sqlite3_result_double(ctx, fraction);
    else if (!(fraction > 0) || !(profile->peak_gflops > 0))
        return;
    else if (column == OP_UTILIZATION)
        sqlite3_result_double(ctx, utilization);
    else if (m->bandwidth[0] > 0)
        sqlite3_result_double(ctx, fraction * (1 - fmax(utilization, m->bandwidth[0])));
}

static void op_profile_column(RowCursor *c, sqlite3_context *ctx, int column)
{
    const OpProfile *profile = ((OpProfileState *)c->state)->profile;
    const ProfileNode *node = *(ProfileNode *const *)c->row;
    ProfileMetrics m = profile_metrics(profile, node);
    switch (column) {
    case OP_NODE: sqlite3_result_int64(ctx, (sqlite3_int64)node->place); break;
    case OP_PARENT:
        if (node->parent) sqlite3_result_int64(ctx, (sqlite3_int64)node->parent->place);
        break;
    case OP_DEPTH: sqlite3_result_int(ctx, (int)node->depth); break;
    case OP_PATH: result_path(ctx, node); break;
    case OP_NAME: {
        sqlite3_str *out = sqlite3_str_new(NULL);
        add_name(out, node);
        result_name(ctx, out);
        break;
    }
    case OP_KIND: result_static(ctx, profile_kind_names[node->kind]); break;
    case OP_TIME: result_u64_or_real(ctx, node->time_ps); break;
    case OP_SELF: result_u64_or_real(ctx, node->self_ps); break;
    case OP_NORMALIZED: result_u64_or_real(ctx, node->normalized_ps); break;
    case OP_OCCURRENCES: sqlite3_result_int64(ctx, (sqlite3_int64)node->occurrences); break;
    case OP_AVG: sqlite3_result_double(ctx, m.avg_time_ps); break;
    case OP_FLOPS: sqlite3_result_double(ctx, m.flops); break;
    case OP_UNCAPPED: sqlite3_result_double(ctx, m.uncapped_flops); break;
    case OP_RAW_FLOPS: sqlite3_result_double(ctx, node->model_flops); break;
    case OP_BF16_FLOPS: sqlite3_result_double(ctx, node->flops); break;
    case OP_HBM:
    case OP_CHIP_READ:
    case OP_CHIP_WRITE: sqlite3_result_double(ctx, m.bandwidth[column - OP_HBM]); break;
    case OP_HBM_BYTES:
    case OP_CHIP_READ_BYTES:
    case OP_CHIP_WRITE_BYTES: sqlite3_result_double(ctx, m.bytes[column - OP_HBM_BYTES]); break;
    case OP_FRACTION:
    case OP_UTILIZATION:
    case OP_WASTED: page_column(ctx, profile, node, &m, column); break;
    case OP_CHILDREN: sqlite3_result_int64(ctx, (sqlite3_int64)node->num_children); break;
    default: op_column(ctx, node, column); break;
    }
}

static const RowSource op_profile_rows = {
    .list = op_profile_list,
    .state_bytes = sizeof(OpProfileState),
    .column = op_profile_column,
    .per_run = true,
    .n_parameters = 3,
    .close = op_profile_close,
};
const Table op_profile_table = {
    "op_profile",
    "one node of XProf's op profile, a tree of the devices' ops; in preorder",
    op_profile_columns,
    COUNT(op_profile_columns),
    &row_table_module,
    &op_profile_rows,
    300,
    "0.1.0",
    "SELECT path, time_fraction, raw_time_ps FROM op_profile WHERE depth <= 2"};
