// SPDX-License-Identifier: Apache-2.0
/* compile_shapes.c: lists the parameters of programs and how they differ; see compilations.h. */
#include "../../base/interrupt.h"
#include "../../base/list.h"
#include "../../base/sort.h"
#include "../../format/hlo_text.h"
#include "compilations.h"

/* The entry computation's parameters by number, followed by its root if there is one. */
typedef struct {
    const Xla__HloInstructionProto **items;
    size_t n, capacity; /* n: number of parameters */
    const Xla__HloInstructionProto *root;
} Parameters;

static int by_number(const void *a, const void *b)
{
    const Xla__HloInstructionProto *x = *(Xla__HloInstructionProto *const *)a,
                                   *y = *(Xla__HloInstructionProto *const *)b;
    int64_t x_number = x->more->parameter_number, y_number = y->more->parameter_number;
    return x_number != y_number ? ORDER(x_number, y_number) : ORDER(x->id, y->id);
}

/* Reads the parameters. False if the program has none that can be read, or with err set. */
static bool read_parameters(HloProgram *program, Parameters *list, ProfErr *err)
{
    const HloModule *module = hlo_open(program, err);
    if (!module && !err->code) module = hlo_program(program->host, program->program_id, err);
    const Xla__HloComputationProto *entry = module ? hlo_entry(module) : NULL;
    for (size_t i = 0; entry && i < entry->n_instructions && !interrupt_poll(1, err); i++) {
        const Xla__HloInstructionProto *op = entry->instructions[i];
        if (strcmp(op->opcode, "parameter") != 0 || !op->shape) continue;
        const Xla__HloInstructionProto **place = PUSH(*list);
        if (place)
            *place = op;
        else
            prof_nomem(err);
    }
    sort_array(list->items, list->n, sizeof(void *), by_number);
    list->root = entry ? hlo_instruction(module, entry->root_id) : NULL;
    return entry && !err->code;
}

bool parameter_shapes(HloProgram *program, TextBuffer *out, ProfErr *err)
{
    Parameters list = {0};
    bool read = read_parameters(program, &list, err);
    for (size_t i = 0; read && i < list.n; i++) {
        if (i) text_add(out, ", ");
        hlo_shape_text(list.items[i]->shape, false, out);
    }
    prof_free(list.items);
    return read;
}

/* ---- differences ---- */

enum { MOST_PARAMETERS = 8, MOST_SHAPES = 8 }; /* limits of a text */

/* Returns the shape of parameter i, or of the root. NULL if there is none. */
enum { ROOT = -1 };
static const Xla__ShapeProto *shape_at(const Parameters *list, int64_t i)
{
    if (i == ROOT) return list->root ? list->root->shape : NULL;
    return (size_t)i < list->n ? list->items[i]->shape : NULL;
}

/* Appends the different shapes of parameter i, or of the root, in the order of the programs.
 * Returns how many there are. */
static size_t add_shapes(const Parameters *lists, size_t n, int64_t i, bool layout, TextBuffer *out,
                         ProfErr *err)
{
    TextTable seen = {0};
    Arena arena = {0};
    TextBuffer shape = {0};
    for (size_t p = 0; p < n && !interrupt_poll(1, err); p++) {
        size_t n_before = seen.n_texts;
        const Text *text = NULL;
        text_clear(&shape);
        const Xla__ShapeProto *at = shape_at(&lists[p], i);
        if (at)
            hlo_shape_text(at, layout, &shape);
        else
            text_add(&shape, "none");
        if (!shape.no_memory) text = text_intern(&seen, &arena, shape.text, shape.n_bytes);
        if (!text) {
            prof_nomem(err);
        } else if (seen.n_texts > n_before && n_before < MOST_SHAPES) {
            if (n_before) text_add(out, " -> ");
            text_add_bytes(out, text->text, text->n_bytes);
        }
    }
    size_t n_shapes = seen.n_texts;
    if (n_shapes > MOST_SHAPES) text_add_format(out, " ... (%zu shapes)", n_shapes);
    text_free(&shape);
    text_table_free(&seen);
    arena_free(&arena);
    return n_shapes;
}

static void add_name(const Parameters *lists, size_t n, int64_t i, TextBuffer *out)
{
    if (i == ROOT) {
        text_add(out, "result: ");
        return;
    }
    text_add_format(out, "parameter %lld", (long long)i);
    for (size_t p = n; p-- > 0;) {
        const Xla__OpMetadata *metadata =
            (size_t)i < lists[p].n ? lists[p].items[i]->metadata : NULL;
        if (!metadata || !*metadata->op_name) continue;
        text_add(out, " ("), text_add(out, metadata->op_name), text_add(out, ")");
        break;
    }
    text_add(out, ": ");
}

static void add_differences(const Parameters *lists, size_t n, bool layout, TextBuffer *out,
                            ProfErr *err)
{
    size_t n_different = 0;
    int64_t n_parameters = 0;
    TextBuffer shapes = {0};
    for (size_t p = 0; p < n; p++)
        if ((int64_t)lists[p].n > n_parameters) n_parameters = (int64_t)lists[p].n;
    for (int64_t i = 0; i <= n_parameters && !err->code; i++) {
        if (i == n_parameters && n_different) break;
        text_clear(&shapes);
        if (add_shapes(lists, n, i < n_parameters ? i : ROOT, layout, &shapes, err) < 2 ||
            n_different++ >= MOST_PARAMETERS || err->code)
            continue;
        if (out->n_bytes) text_add(out, "; ");
        add_name(lists, n, i < n_parameters ? i : ROOT, out);
        text_add_bytes(out, shapes.text, shapes.n_bytes);
    }
    if (n_different > MOST_PARAMETERS)
        text_add_format(out, "; and %zu parameters more", n_different - MOST_PARAMETERS);
    out->no_memory |= shapes.no_memory;
    text_free(&shapes);
}

bool parameter_differences(HloProgram *const *programs, size_t n, TextBuffer *out, ProfErr *err)
{
    Parameters *lists = prof_alloc(n * sizeof *lists);
    bool read = lists != NULL;
    if (!lists) prof_nomem(err);
    for (size_t p = 0; p < n && read; p++) read = read_parameters(programs[p], &lists[p], err);
    if (read) add_differences(lists, n, false, out, err);
    if (read && !out->n_bytes) add_differences(lists, n, true, out, err);
    if (read && !out->n_bytes) text_add(out, "the parameters and the result are equal");
    for (size_t p = 0; lists && p < n; p++) prof_free(lists[p].items);
    prof_free(lists);
    return read && !err->code;
}
