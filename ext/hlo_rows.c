// SPDX-License-Identifier: Apache-2.0
/* hlo_rows.c: shared by the tables of HLO programs; see hlo_rows.h. A program is parsed when its
 * first row is read. With an equality on program_id or hlo_module, other programs are not parsed.
 */
#include "hlo_rows.h"
SQLITE_EXTENSION_INIT3

/* An upper bound of the programs that a host lists, without listing them. */
static uint64_t most_programs(const Host *host)
{
    uint64_t n = host->reader->is_program ? 1 : 0;
    for (size_t i = 0; i < host->n_planes; i++)
        if (host->planes[i].kind == PLANE_METADATA) n += host->planes[i].n_declared;
    return host == host->run->hosts ? n + host->run->n_programs : n;
}

static bool is_wanted(const RowCursor *c, const HloProgram *program)
{
    const char *name = c->text_key[KEY_HLO_MODULE];
    return !name || !strcmp(name, program->name->text);
}

/* Returns the first program with the wanted id, which is decimal and without further zeros. */
static HloProgram *first_of_key(RowCursor *c)
{
    const char *wanted = c->text_key[KEY_PROGRAM_ID];
    char digits[24];
    uint64_t id = strtoull(wanted, NULL, 10);
    sqlite3_snprintf(sizeof digits, digits, "%llu", (unsigned long long)id);
    return strcmp(wanted, digits) ? NULL : hlo_find_program(c->host, id, &c->err);
}

/* Moves to the program with the wanted id: only one counts. */
static void read_keyed(RowCursor *c, const HloProgramList *list)
{
    HloAt *at = c->state;
    HloProgram *program = at->n_programs ? NULL : first_of_key(c);
    at->n_programs = list->n;
    for (; program && !at->module && !c->err.code; program = hlo_next_of_id(program)) {
        if (!is_wanted(c, program)) continue;
        at->module = hlo_open(program, &c->err);
        if (at->module) at->n_programs = (size_t)(program - list->programs) + 1;
    }
}

const HloModule *row_next_module(RowCursor *c)
{
    HloAt *at = c->state;
    at->module = NULL;
    const HloProgramList *list = hlo_program_list(c->host, &c->err);
    if (!list) return NULL;
    if (!at->n_programs)
        for (const Host *host = c->host->run->hosts; host < c->host; host++)
            at->first_program += most_programs(host);
    if (c->text_key[KEY_PROGRAM_ID]) {
        read_keyed(c, list);
        return at->module;
    }
    while (at->n_programs < list->n && !at->module && !c->err.code) {
        HloProgram *program = &list->programs[at->n_programs++];
        if (is_wanted(c, program)) at->module = hlo_open(program, &c->err);
    }
    return at->module;
}

/* Returns the only instruction that a key matches; -1 if there is no such key. */
static int64_t keyed_op(const RowCursor *c, const HloModule *m)
{
    const char *name = c->text_key[KEY_HLO_OP];
    return name ? hlo_find_position(m, name, strlen(name))
                : hlo_position(m, c->key[KEY_INSTRUCTION_ID]);
}

bool row_next_op(RowCursor *c)
{
    HloAt *at = c->state;
    for (const HloModule *m = at->module;; at->op = SIZE_MAX, at->keyed = false) {
        bool keyed = m && m->unique && (c->text_key[KEY_HLO_OP] || c->has_key[KEY_INSTRUCTION_ID]);
        if (keyed && !at->keyed) {
            int64_t position = keyed_op(c, m);
            at->keyed = true, at->op = (size_t)position;
            if (position >= 0) return true;
        } else if (m && !keyed && ++at->op < m->n_ops) {
            return true;
        }
        if (!(m = row_next_module(c))) return false;
    }
}

const HloProgram *row_program(const RowCursor *c)
{
    const HloAt *at = c->state;
    ProfErr err = {0};
    const HloProgramList *list =
        hlo_program_list(c->host, &err); /* computed before, so it does not fail */
    return list ? &list->programs[at->n_programs - 1] : NULL;
}

uint64_t row_place(const RowCursor *c, uint64_t n)
{
    enum { ROW_BITS = 34 };
    const HloAt *at = c->state;
    return place_pair(at->first_program + at->n_programs - 1, ROW_BITS, n);
}

bool row_program_column(const RowCursor *c, sqlite3_context *ctx, int column)
{
    const HloProgram *program =
        column == HLO_PROGRAM_ID || column == HLO_MODULE_NAME ? row_program(c) : NULL;
    if (!program) return false;
    if (column == HLO_PROGRAM_ID)
        result_id(ctx, program->program_id);
    else
        result_text(ctx, program->name);
    return true;
}

void result_proto_text(sqlite3_context *ctx, const char *text)
{
    if (*text) result_static(ctx, text);
}

void result_source_file(sqlite3_context *ctx, const HloModule *module,
                        const Xla__HloInstructionProto *op)
{
    const char *file;
    int32_t line;
    if (hlo_source(module, op, &file, &line)) result_static(ctx, file);
}

void result_source_line(sqlite3_context *ctx, const HloModule *module,
                        const Xla__HloInstructionProto *op)
{
    const char *file;
    int32_t line;
    if (hlo_source(module, op, &file, &line)) sqlite3_result_int(ctx, line);
}

void result_source_stack(sqlite3_context *ctx, const HloModule *module,
                         const Xla__HloInstructionProto *op)
{
    enum { MAX_FRAMES = 1000 }; /* the index of a damaged program may be circular */
    HloFrame frame;
    int32_t id = op->metadata ? op->metadata->stack_frame_id : 0;
    if (!hlo_frame(module, id, &frame)) return;
    TextBuffer text = {0};
    for (int n = 0; n < MAX_FRAMES && hlo_frame(module, id, &frame); n++, id = frame.parent_id) {
        if (n) text_add_char(&text, '\n');
        text_add(&text, frame.file);
        text_add_format(&text, ":%d:%d", frame.line, frame.column);
    }
    result_buffer(ctx, &text);
}
