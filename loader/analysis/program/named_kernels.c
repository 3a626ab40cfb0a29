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
    LIST(Work) works;  /* by work, then by position. The index of its first item is a class */
    int64_t *classes;  /* by position */
    HashTable by_name; /* of `works`, by the name of their kernel */
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
    k->classes = prof_buffer(module->n_ops * sizeof *k->classes);
    if (!k->classes || !hash_reserve(&k->by_name, k->works.n)) prof_nomem(err);
    sort_array(k->works.items, k->works.n, sizeof *k->works.items, by_work);
    for (size_t i = 0; i < module->n_ops && !err->code; i++) k->classes[i] = NO_CLASS;
    for (size_t i = 0, class = 0; i < k->works.n && !interrupt_poll(1, err); i++) {
        const Work *work = &k->works.items[i];
        if (work->work != k->works.items[class].work) class = i;
        k->classes[work->position] = (int64_t) class;
        const char *op = hlo_op(module, work->position).instruction->name;
        hash_add_reserved(&k->by_name, kernel_hash(op, &name), i);
        if (name.no_memory) prof_nomem(err);
    }
    text_free(&name);
}

static void release(void *result)
{
    NamedKernels *k = result;
    hash_free(&k->by_name);
    prof_free(k->works.items), prof_free(k->classes);
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

static const NamedKernels *named_kernels(const HloModule *module, ProfErr *err)
{
    static const HloAnalysis analysis = {make, release};
    return hlo_analysis(module, &analysis, err);
}

const int64_t *hlo_kernel_classes(const HloModule *module, ProfErr *err)
{
    const NamedKernels *k = named_kernels(module, err);
    return k ? k->classes : NULL;
}

int64_t hlo_namesake(const HloModule *module, Slice kernel, ProfErr *err)
{
    const NamedKernels *k = named_kernels(module, err);
    uint64_t hash = text_hash(kernel.text, kernel.n);
    int64_t found = -1;
    if (!k) return -1;
    HASH_EACH(i, &k->by_name, hash) {
        uint32_t position = k->works.items[i].position;
        if (!hlo_names_kernel(hlo_op(module, position).instruction->name, kernel)) continue;
        if (found >= 0) return -1;
        found = position;
    }
    return found;
}

int64_t hlo_class_of_kernel(const HloModule *module, Slice kernel, ProfErr *err)
{
    int64_t namesake = hlo_namesake(module, kernel, err);
    const NamedKernels *k = namesake < 0 ? NULL : named_kernels(module, err);
    return k ? k->classes[namesake] : NO_CLASS;
}

int64_t hlo_only_op_of_class(const HloModule *module, int64_t class, ProfErr *err)
{
    const NamedKernels *k = named_kernels(module, err);
    if (!k || class == NO_CLASS) return -1;
    size_t i = (size_t) class;
    bool only = i + 1 == k->works.n || k->works.items[i + 1].work != k->works.items[i].work;
    return only ? (int64_t)k->works.items[i].position : -1;
}
