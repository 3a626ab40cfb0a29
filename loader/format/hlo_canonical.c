// SPDX-License-Identifier: Apache-2.0
/* hlo_canonical.c: what an instruction does, as text without names. XProf's fingerprint is computed
 * from it.
 *
 *   f32[8]{0} fusion(f32[8]{0}, f32[]), kind=kLoop, calls=
 *   {
 *     tmp_0 = f32[8]{0} parameter(0)
 *     ROOT tmp_1 = f32[8]{0} negate(f32[8]{0} tmp_0)
 *   }
 *
 * Called computations are written in full. In a damaged program they may call each other in a
 * circle, or many times: the text then ends at its limit, and `cut` says so. */
#include "hlo_writer.h"

#include "../base/fingerprint.h"

enum { MAX_DEPTH = 100 }; /* most nested calls */
/* Limits of texts, by the size of the proto. In a program that XLA wrote, each computation is
 * called once: a text is then no longer than the program's text, and all texts together are no
 * longer than that times the depth of calls. */
enum { TEXT_AT_LEAST = 1 << 20, TEXT_PER_BYTE = 16, ALL_TEXTS_PER_BYTE = 256 };

void hlo_write_number(const HloWriter *w, const Xla__HloInstructionProto *op)
{
    const HloBody *body = w->body;
    if (!body) return;
    size_t at = (size_t)hlo_position(w->module, op->id) - body->first;
    uint32_t number = at < body->computation->n_instructions ? body->numbers[at] : 0;
    text_add_format(w->out, "tmp_%lld", (long long)number - 1);
}

static void write_lines(const HloWriter *w, const HloBody *body,
                        const Xla__HloInstructionProto *const *ops, size_t n)
{
    HloWriter inner = *w;
    inner.body = body;
    const Xla__HloInstructionProto *root = hlo_root(body->computation);
    text_add(w->out, "{\n");
    for (size_t i = 0; i < n && !w->out->no_memory && !w->out->cut; i++) {
        for (int k = 0; k <= body->depth; k++) text_add(w->out, "  ");
        if (ops[i] == root) text_add(w->out, "ROOT ");
        hlo_write_instruction(&inner, ops[i]);
        text_add_char(w->out, '\n');
    }
    for (int k = 0; k < body->depth; k++) text_add(w->out, "  ");
    text_add_char(w->out, '}');
}

void hlo_write_body(const HloWriter *w, const Xla__HloComputationProto *c)
{
    HloBody body = {.computation = c, .depth = w->body ? w->body->depth + 1 : 0};
    int64_t first = c->n_instructions ? hlo_position(w->module, c->instructions[0]->id) : -1;
    if (first < 0 || hlo_op(w->module, first).instruction != c->instructions[0] ||
        body.depth > MAX_DEPTH) {
        w->out->cut = true; /* XLA would reject this */
        return;
    }
    body.first = (size_t)first;
    uint32_t *numbers = prof_alloc(c->n_instructions * sizeof *numbers);
    HloWalk walk = {.module = w->module,
                    .computation = c,
                    .state = prof_alloc(c->n_instructions),
                    .base = body.first,
                    .to = prof_alloc(c->n_instructions * sizeof *walk.to)};
    ProfErr err = {0};
    if (!numbers || !walk.state || !walk.to ||
        hlo_walk_all(&walk, body.first, c->n_instructions, &err)) {
        w->out->no_memory = true;
    } else {
        for (size_t i = 0; i < walk.n; i++) {
            size_t at = (size_t)hlo_position(w->module, walk.to[i]->id) - body.first;
            if (at < c->n_instructions) numbers[at] = (uint32_t)i + 1;
        }
        body.numbers = numbers;
        for (int k = 0; k < body.depth; k++) text_add(w->out, "  ");
        write_lines(w, &body, walk.to, walk.n);
    }
    prof_free(numbers);
    prof_free(walk.state);
    prof_free(walk.stack);
    prof_free(walk.to);
}

/* ---- fingerprints ---- */

enum { ASKED = 1, KNOWN = 2 };

typedef struct {
    pthread_mutex_t lock;
    uint8_t *state; /* by position of the instruction in the module */
    uint64_t *fingerprints;
    uint64_t n_written; /* bytes of all texts until now */
} Fingerprints;

static void fingerprints_free(void *result)
{
    Fingerprints *f = result;
    if (!f) return;
    pthread_mutex_destroy(&f->lock);
    prof_free(f->state);
    prof_free(f->fingerprints);
    prof_free(f);
}

static void *fingerprints_make(const HloModule *module, ProfErr *err)
{
    Fingerprints *f = prof_alloc(sizeof *f);
    if (!f) {
        prof_nomem(err);
        return NULL;
    }
    pthread_mutex_init(&f->lock, NULL);
    f->state = prof_alloc(module->n_ops);
    f->fingerprints = prof_alloc(module->n_ops * sizeof *f->fingerprints);
    if (f->state && f->fingerprints) return f;
    fingerprints_free(f);
    prof_nomem(err);
    return NULL;
}

static int add_fingerprint(Fingerprints *f, const HloModule *module, size_t at, ProfErr *err)
{
    TextBuffer text = {.limit = TEXT_AT_LEAST + TEXT_PER_BYTE * (size_t)module->n_bytes};
    bool bounded = f->n_written <= TEXT_AT_LEAST + ALL_TEXTS_PER_BYTE * module->n_bytes;
    if (bounded)
        hlo_instruction_text(module, hlo_op(module, at).instruction, HLO_TEXT_CANONICAL, &text);
    f->n_written += text.n_bytes;
    if (text.no_memory) prof_nomem(err);
    if (bounded && !text.cut) f->fingerprints[at] = fingerprint64(text.text, text.n_bytes);
    if (!err->code) f->state[at] = ASKED | (bounded && !text.cut ? KNOWN : 0);
    text_free(&text);
    return err->code;
}

bool hlo_fingerprint(const HloModule *module, const Xla__HloInstructionProto *op,
                     uint64_t *fingerprint, ProfErr *err)
{
    static const HloAnalysis analysis = {fingerprints_make, fingerprints_free};
    Fingerprints *f =
        (Fingerprints *)hlo_analysis(module, &analysis, err); /* its lock guards its content */
    int64_t at = hlo_position(module, op->id);
    if (!f || at < 0) return false;
    pthread_mutex_lock(&f->lock);
    if (!f->state[at]) add_fingerprint(f, module, (size_t)at, err);
    bool known = f->state[at] & KNOWN;
    *fingerprint = f->fingerprints[at];
    pthread_mutex_unlock(&f->lock);
    return known;
}
