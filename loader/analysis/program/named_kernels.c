// SPDX-License-Identifier: Apache-2.0
/* named_kernels.c: see named_kernels.h. */
#include "named_kernels.h"

#include "../../base/interrupt.h"
#include "../../base/list.h"
#include "../../base/search.h"
#include "../../base/sort.h"
#include "../../format/hlo_text.h"
#include "op_runs.h"

/* Texts of all fusions together, by the size of the proto; as in hlo_canonical.c. */
enum { TEXTS_AT_LEAST = 1 << 20, TEXTS_PER_BYTE = 256 };

/* An instruction that runs. Equal fusions have the same `work`; any other has one of its own. */
typedef struct {
    uint64_t work;
    uint32_t position;
} Work;

typedef struct {
    LIST(Work) works;    /* by work, then by position */
    uint32_t *positions; /* of `works` */
    HashTable by_name;   /* of `works`, by the name of their kernel */
} NamedKernels;

static bool is_kept(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

bool hlo_names_kernel(const char *instruction, Slice kernel)
{
    size_t n = strlen(instruction);
    if (n != kernel.n) return false;
    for (size_t i = 0; i < n; i++)
        if (kernel.text[i] != (is_kept(instruction[i]) ? instruction[i] : '_')) return false;
    return true;
}

static uint64_t kernel_hash(const char *instruction, TextBuffer *name)
{
    name->n_bytes = 0;
    for (const char *c = instruction; *c; c++) text_add_char(name, is_kept(*c) ? *c : '_');
    return text_hash(name->text, name->n_bytes);
}

/* Returns a hash of what a fusion computes. Attributes that only affect its launch do not count. */
static uint64_t work_of(const HloModule *module, const Xla__HloInstructionProto *op,
                        TextBuffer *text)
{
    Xla__HloInstructionProto same = *op;
    __typeof__(*op->more) more = *op->more;
    more.frontend_attributes = NULL;
    same.more = &more;
    text->n_bytes = 0;
    hlo_instruction_text(module, &same, HLO_TEXT_CANONICAL, text);
    return hash_bytes((const uint8_t *)text->text, text->n_bytes);
}

ORDER_BY_TWO(by_work, Work, work, position)

static void list_works(NamedKernels *k, const HloModule *module, ProfErr *err)
{
    TextBuffer text = {.limit = TEXTS_AT_LEAST + TEXTS_PER_BYTE * (size_t)module->n_bytes};
    for (size_t i = 0; i < module->n_ops && !interrupt_poll(1, err); i++) {
        const Xla__HloInstructionProto *op = hlo_op(module, i).instruction;
        if (hlo_op_runs(module, i, err) == 0 || err->code) continue;
        Work *place = PUSH(k->works);
        if (place) *place = (Work){hash64(i), (uint32_t)i};
        if (place && !text.cut && !strcmp(op->opcode, "fusion")) {
            uint64_t work = work_of(module, op, &text);
            if (!text.cut) place->work = work;
            text.cut |= text.n_bytes >= text.limit;
            if (!text.cut) text.limit -= text.n_bytes;
        }
        if (!place || text.no_memory) prof_nomem(err);
    }
    text_free(&text);
}

static void name_works(NamedKernels *k, const HloModule *module, ProfErr *err)
{
    TextBuffer name = {0};
    k->positions = prof_buffer(k->works.n * sizeof *k->positions);
    if (!k->positions || !hash_reserve(&k->by_name, k->works.n)) prof_nomem(err);
    sort_array(k->works.items, k->works.n, sizeof *k->works.items, by_work);
    for (size_t i = 0; i < k->works.n && !err->code; i++) {
        k->positions[i] = k->works.items[i].position;
        const char *op = hlo_op(module, k->positions[i]).instruction->name;
        hash_add_reserved(&k->by_name, kernel_hash(op, &name), i);
        if (name.no_memory) prof_nomem(err);
    }
    text_free(&name);
}

static void release(void *result)
{
    NamedKernels *k = result;
    hash_free(&k->by_name);
    prof_free(k->works.items), prof_free(k->positions);
    prof_free(k);
}

static void *make(const HloModule *module, ProfErr *err)
{
    NamedKernels *k = prof_alloc(sizeof *k);
    if (!k) {
        prof_nomem(err);
        return NULL;
    }
    list_works(k, module, err);
    if (!err->code) name_works(k, module, err);
    if (err->code) release(k), k = NULL;
    return k;
}

HloKernelOps hlo_kernel_ops(const HloModule *module, Slice kernel, ProfErr *err)
{
    static const HloAnalysis analysis = {make, release};
    const NamedKernels *k = hlo_analysis(module, &analysis, err);
    uint64_t hash = text_hash(kernel.text, kernel.n);
    size_t n_named = 0, at = 0;
    if (!k) return (HloKernelOps){0};
    HASH_EACH(i, &k->by_name, hash) {
        const char *name = hlo_op(module, k->positions[i]).instruction->name;
        if (!hlo_names_kernel(name, kernel)) continue;
        at = i;
        if (++n_named > 1) break;
    }
    if (n_named != 1) return (HloKernelOps){0};
    uint64_t work = k->works.items[at].work;
    size_t first = LOWER_BOUND(i, 0, k->works.n, k->works.items[i].work < work), end = at + 1;
    while (end < k->works.n && k->works.items[end].work == work) end++;
    return (HloKernelOps){&k->positions[first], end - first, k->positions[at]};
}
