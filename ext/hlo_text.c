// SPDX-License-Identifier: Apache-2.0
/* hlo_text.c: the table hlo_text: HLO programs as text, byte for byte as XProf's graph viewer shows
 * them.
 *
 *   SELECT text FROM hlo_text('logs', 'jit_step') WHERE hlo_op = 'fusion.1';
 *   -- %fusion.1 = f32[4,8]{1,0} fusion(%param_0), kind=kLoop, calls=%fused_computation
 *
 * The text of a line is only written if the column is read. */
#include "hlo_rows.h"
SQLITE_EXTENSION_INIT3

#define HLO_TEXT_COLUMNS(C)                                                                        \
    C(HT_RUN, RUN_DOC)                                                                             \
    C(HT_HOST, HOST_DOC)                                                                           \
    C(HT_PROGRAM, "program_id", "TEXT", NULL, "id of the program, decimal",                        \
      "XEventMetadata.id, .name of /host:metadata")                                                \
    C(HT_MODULE, "hlo_module", "TEXT", NULL, "name of the program's HLO module",                   \
      "HloModuleProto.name")                                                                       \
    C(HT_LINE, "line_number", "INTEGER", NULL, "number of the line in the program's text, from 1", \
      "libprofsql")                                                                                \
    C(HT_TEXT, "text", "TEXT", NULL,                                                               \
      "text of the line, as XProf writes it; line feeds inside a configuration do not start a "    \
      "new row",                                                                                   \
      "HloModuleProto")                                                                            \
    C(HT_OP, "hlo_op", "TEXT", NULL,                                                               \
      "HLO instruction on this line; NULL for lines that belong to the program or a computation",  \
      "HloInstructionProto.name")                                                                  \
    C(HT_SOURCE, SOURCE_DOC)                                                                       \
    C(HT_MODULE_IS, "module", "TEXT HIDDEN", NULL,                                                 \
      "program to show: the name of its module, its id, or module(id); an error if there is "      \
      "none; default: all programs",                                                               \
      "argument 2")                                                                                \
    C(HT_STYLE, "style", "TEXT HIDDEN", NULL,                                                      \
      "long (default): % before names, all constants, control predecessors; short: no %, large "   \
      "constants as {...}, no control predecessors",                                               \
      "argument 3")
enum { HLO_TEXT_COLUMNS(COLUMN_ENUM) };
static const Column hlo_text_columns[] = {HLO_TEXT_COLUMNS(COLUMN_DOC)};

static bool style_of(const RowCursor *c, enum HloTextStyle *style, ProfErr *err)
{
    const char *name = row_text_parameter(c, 1, "long");
    bool is_long = !sqlite3_stricmp(name, "long"), is_short = !sqlite3_stricmp(name, "short");
    *style = is_short ? HLO_TEXT_SHORT : HLO_TEXT_LONG;
    if (!is_long && !is_short)
        prof_fail(err, PROF_FORMAT, 0, "hlo_text: style must be 'long' or 'short', not '%.100s'",
                  name);
    return is_long || is_short;
}

/* Returns whether a name is that of a program: its module, its id, or both as module(id). */
static bool is_named(const HloProgram *program, const char *name)
{
    char id[24];
    if (!strcmp(name, program->name->text)) return true;
    sqlite3_snprintf(sizeof id, id, "%llu", (sqlite3_uint64)program->program_id);
    if (!strcmp(name, id)) return true;
    size_t stem = program->name->n_bytes, n = strlen(name), n_id = strlen(id);
    return n == stem + n_id + 2 && !memcmp(name, program->name->text, stem) && name[stem] == '(' &&
           !memcmp(name + stem + 1, id, n_id) && name[n - 1] == ')';
}

/* Returns whether a program of the query's runs has this name. */
static bool is_anywhere(const RowCursor *c, const char *name, ProfErr *err)
{
    for (int i = 0; i < c->n_sources; i++)
        for (size_t h = 0; h < c->sources[i].run->n_hosts; h++) {
            const HloProgramList *list = hlo_program_list(&c->sources[i].run->hosts[h], err);
            for (size_t k = 0; list && k < list->n; k++)
                if (is_named(&list->programs[k], name)) return true;
        }
    return false;
}

/* Returns whether the parameters are valid; otherwise sets an error. */
static bool check_parameters(RowCursor *c, enum HloTextStyle *style, const char *name)
{
    if (!style_of(c, style, &c->err)) return false;
    if (!name || is_anywhere(c, name, &c->err)) return true;
    const char *source = row_source(c);
    prof_fail(&c->err, PROF_NOTFOUND, 0,
              "hlo_text: %s%sno program is called '%.100s'; SELECT DISTINCT hlo_module FROM "
              "hlo_modules lists them",
              source ? source : "", source ? ": " : "", name);
    return false;
}

static const HloListing *open_listing(HloProgram *program, ProfErr *err)
{
    const HloModule *module = hlo_open(program, err);
    return module ? hlo_listing(module, err) : NULL;
}

typedef struct {
    const HloProgramList *programs;
    enum HloTextStyle style;
    size_t program, line;
    const HloListing *listing; /* of the program; NULL: not computed yet */
} TextAt;

static bool hlo_text_next(RowCursor *c)
{
    TextAt *at = c->state;
    const char *name = row_text_parameter(c, 0, NULL);
    if (!c->started && check_parameters(c, &at->style, name))
        at->programs = hlo_program_list(c->host, &c->err);
    if (!at->programs) return false;
    at->line += c->started;
    for (; at->program < at->programs->n; at->program++, at->line = 0, at->listing = NULL) {
        HloProgram *program = &at->programs->programs[at->program];
        if (name && !is_named(program, name)) continue;
        if (!at->listing) at->listing = open_listing(program, &c->err);
        if (c->err.code) return false;
        if (at->listing && at->line < hlo_listing_count(at->listing)) {
            c->place = place_pair(place_pair(c->at_host, 14, at->program), 28, at->line);
            return true;
        }
    }
    return false;
}

static void result_line(const TextAt *at, sqlite3_context *ctx)
{
    TextBuffer line = {0};
    hlo_listing_line(at->listing, at->line, at->style, &line);
    if (line.n_bytes || line.no_memory)
        result_buffer(ctx, &line);
    else
        result_static(ctx, "");
}

static void hlo_text_column(RowCursor *c, sqlite3_context *ctx, int column)
{
    const TextAt *at = c->state;
    const HloProgram *program = &at->programs->programs[at->program];
    const Xla__HloInstructionProto *op;
    switch (column) {
    case HT_PROGRAM: result_id(ctx, program->program_id); break;
    case HT_MODULE: result_text(ctx, program->name); break;
    case HT_LINE: sqlite3_result_int64(ctx, (sqlite3_int64)at->line + 1); break;
    case HT_TEXT: result_line(at, ctx); break;
    case HT_OP:
        op = hlo_listing_instruction(at->listing, at->line);
        if (op) result_static(ctx, op->name);
        break;
    default: break;
    }
}

static const RowSource hlo_text_rows = {
    .next = hlo_text_next,
    .state_bytes = sizeof(TextAt),
    .column = hlo_text_column,
    .n_parameters = 2,
    .needs = NEED_PROGRAMS,
    .nothing = "no HLO program can be read (prof_issues has the reason)"};
const Table hlo_text_table = {"hlo_text",
                              "one line of an HLO program's text, as XProf's graph viewer shows it",
                              hlo_text_columns,
                              COUNT(hlo_text_columns),
                              &row_table_module,
                              &hlo_text_rows,
                              5000,
                              "0.1.0",
                              "SELECT hlo_module, line_number, text FROM hlo_text LIMIT 10"};
