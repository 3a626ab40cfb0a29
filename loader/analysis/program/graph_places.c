// SPDX-License-Identifier: Apache-2.0
/* graph_places.c: see graph_places.h.
 *
 * XLA launches the instructions of a computation in the order of its schedule. Kernels whose name
 * only one instruction has are fixed points. From these on, in both directions, kernels and
 * instructions are compared one by one. Calls of libraries, whose kernels have other names, are
 * what is left between two kernels with a place. */
#include "graph_places.h"

#include "../../base/interrupt.h"
#include "../../base/list.h"
#include "../../format/hlo_opcode.h"
#include "named_kernels.h"

/* ---- schedules ---- */

enum Kind {
    FUSION,  /* one kernel with the instruction's name, or a copy */
    COPY,    /* one copy, or a kernel with the name of what it starts */
    LIBRARY, /* any number of kernels with other names */
    CONTROL, /* runs other instructions */
};

/* An instruction that starts work, in the order of the schedule. */
typedef struct {
    uint32_t position; /* of the instruction, or of the one that an async-start wraps */
    uint32_t sequence; /* index of its computation's schedule */
    enum Kind kind;
    int64_t class; /* of its kernel, if that has its name */
} Item;

typedef struct {
    LIST(Item) items;
    int64_t *item_of; /* index of the item of an instruction, by position; -1: none */
} Schedule;

static bool starts_no_work(enum HloOpcode opcode)
{
    switch (opcode) {
    case HLO_PARAMETER:
    case HLO_CONSTANT:
    case HLO_GET_TUPLE_ELEMENT:
    case HLO_TUPLE:
    case HLO_BITCAST:
    case HLO_AFTER_ALL:
    case HLO_ADD_DEPENDENCY:
    case HLO_OPT_BARRIER:
    case HLO_PARTITION_ID:
    case HLO_REPLICA_ID:
    case HLO_ASYNC_UPDATE:
    case HLO_ASYNC_DONE:
    case HLO_COPY_DONE:
    case HLO_SEND_DONE:
    case HLO_RECV_DONE:
    case HLO_ALL_GATHER_DONE:
    case HLO_ALL_REDUCE_DONE:
    case HLO_COLLECTIVE_PERMUTE_DONE: return true;
    default: return false;
    }
}

static enum Kind kind_of(enum HloOpcode opcode)
{
    switch (opcode) {
    case HLO_FUSION: return FUSION;
    case HLO_COPY:
    case HLO_COPY_START: return COPY;
    case HLO_WHILE:
    case HLO_CONDITIONAL:
    case HLO_CALL: return CONTROL;
    default: return LIBRARY;
    }
}

/* Returns the position of the computation that an async-start runs; -1 for other instructions. */
static int64_t wrapped_computation(const HloModule *module, const Xla__HloInstructionProto *op)
{
    bool wraps =
        hlo_opcode(op->opcode) == HLO_ASYNC_START && op->more->n_called_computation_ids == 1;
    return wraps ? hlo_computation_position(module, op->more->called_computation_ids[0]) : -1;
}

/* Returns the position of what an async-start runs: the root of its computation. */
static int64_t wrapped(const HloModule *module, const Xla__HloInstructionProto *op)
{
    int64_t at = wrapped_computation(module, op);
    return at < 0 ? -1 : hlo_position(module, module->proto->hlo_module->computations[at]->root_id);
}

static void add_item(Schedule *s, const HloModule *module, const int64_t *classes, int64_t position,
                     uint32_t sequence, ProfErr *err)
{
    const Xla__HloInstructionProto *op = hlo_op(module, (size_t)position).instruction;
    enum HloOpcode opcode = hlo_opcode(op->opcode);
    if (starts_no_work(opcode) || classes[position] == NO_CLASS) return;
    Item item = {(uint32_t)position, sequence, kind_of(opcode), classes[position]};
    int64_t inner = wrapped(module, op);
    if (inner >= 0) {
        opcode = hlo_opcode(hlo_op(module, (size_t)inner).instruction->opcode);
        item.position = (uint32_t)inner, item.class = classes[inner];
        item.kind = opcode == HLO_FUSION ? COPY : kind_of(opcode);
    }
    Item *place = PUSH(s->items);
    if (!place) {
        prof_nomem(err);
        return;
    }
    *place = item;
    s->item_of[item.position] = (int64_t)s->items.n - 1;
}

static void schedule_release(void *result)
{
    Schedule *s = result;
    prof_free(s->items.items), prof_free(s->item_of);
    prof_free(s);
}

/* Marks the computations that an async-start calls. Their root is an item of the caller. */
static void mark_wrapped(const HloModule *module, bool *is_wrapped, ProfErr *err)
{
    for (size_t i = 0; i < module->n_ops && !interrupt_poll(0, err); i++) {
        int64_t at = wrapped_computation(module, hlo_op(module, i).instruction);
        if (at >= 0) is_wrapped[at] = true;
    }
}

/* Adds the items of a computation. Ids of other computations' instructions do not count. */
static void add_sequence(Schedule *s, const HloModule *module, uint32_t sequence,
                         int64_t computation, ProfErr *err)
{
    const Xla__HloScheduleProto__InstructionSequence *of =
        module->proto->hlo_module->schedule->sequences[sequence]->value;
    const int64_t *classes = hlo_kernel_classes(module, err);
    for (size_t k = 0; of && classes && k < of->n_instruction_ids && !interrupt_poll(1, err); k++) {
        int64_t position = hlo_position(module, of->instruction_ids[k]);
        if (position >= 0 && module->computation_of[position] == computation)
            add_item(s, module, classes, position, sequence, err);
    }
}

static void *schedule_make(const HloModule *module, ProfErr *err)
{
    const Xla__HloModuleProto *hlo = module->proto->hlo_module;
    size_t n_sequences = hlo->schedule ? hlo->schedule->n_sequences : 0;
    bool *is_wrapped = prof_alloc(hlo->n_computations * sizeof *is_wrapped);
    Schedule *s = prof_alloc(sizeof *s);
    if (s) s->item_of = prof_buffer(module->n_ops * sizeof *s->item_of);
    if (!s || !s->item_of || !is_wrapped) prof_nomem(err);
    for (size_t i = 0; i < module->n_ops && !err->code; i++) s->item_of[i] = -1;
    if (!err->code) mark_wrapped(module, is_wrapped, err);
    for (size_t i = 0; i < n_sequences && !err->code; i++) {
        int64_t of = hlo_computation_position(module, hlo->schedule->sequences[i]->key);
        if (of >= 0 && !is_wrapped[of]) add_sequence(s, module, (uint32_t)i, of, err);
    }
    prof_free(is_wrapped);
    if (err->code && s) schedule_release(s), s = NULL;
    return s;
}

/* ---- kernels with names of instructions ---- */

typedef struct {
    int64_t class;
    int64_t item; /* of the schedule; -1: no place */
    bool fixed;   /* only one instruction has its name */
    bool is_copy, is_set;
} Kernel;

typedef struct {
    const Schedule *schedule;
    Kernel *kernels;
    size_t n;
} Launch;

/* Kernels whose items are further apart are not neighbours. */
enum { MOST_ITEMS_BETWEEN = 1000 };

/* Returns the item of a class that follows item `at`, or comes before it with step -1; -1: none.
 * Fusions between them run as copies, so there are at most n_copies. */
static int64_t next_item(const Schedule *s, int64_t at, int step, int64_t class, size_t n_copies)
{
    int64_t n_between = 0;
    for (int64_t i = at + step; i >= 0 && i < (int64_t)s->items.n; i += step) {
        const Item *item = &s->items.items[i];
        if (n_between++ > MOST_ITEMS_BETWEEN) break;
        if (item->sequence != s->items.items[at].sequence || item->kind == CONTROL) break;
        if (item->class == class) return i;
        if (item->kind == FUSION && n_copies-- == 0) break;
    }
    return -1;
}

/* Follows the schedule from fixed kernels on: forwards, or backwards with step -1. `found` has the
 * item of each kernel. */
static void follow(const Launch *l, int step, int64_t *found)
{
    int64_t at = -1;
    size_t n_copies = 0;
    for (size_t i = 0; i < l->n; i++) {
        size_t k = step > 0 ? i : l->n - 1 - i;
        const Kernel *kernel = &l->kernels[k];
        found[k] = -1, n_copies += kernel->is_copy;
        if (kernel->class == NO_CLASS) continue;
        if (kernel->fixed)
            at = kernel->item;
        else if (at >= 0)
            at = next_item(l->schedule, at, step, kernel->class, n_copies);
        found[k] = at, n_copies = 0;
    }
}

/* Takes the place of neighbours that got the same one from different directions: it is that of one
 * of them. */
static void take_shared(Launch *l)
{
    Kernel *last = NULL;
    for (size_t k = 0; k < l->n; k++) {
        Kernel *kernel = &l->kernels[k];
        if (kernel->class == NO_CLASS) continue;
        if (last && !last->fixed && !kernel->fixed && last->item == kernel->item)
            last->item = kernel->item = -1;
        last = kernel;
    }
}

/* Gives kernels the place that both directions agree on, or that one of them finds. */
static void place_named(Launch *l, ProfErr *err)
{
    int64_t *found = prof_buffer(2 * l->n * sizeof *found);
    if (!found) {
        prof_nomem(err);
        return;
    }
    int64_t *back = found + l->n;
    follow(l, 1, found), follow(l, -1, back);
    for (size_t k = 0; k < l->n; k++) {
        bool agree = found[k] == back[k] || found[k] < 0 || back[k] < 0;
        if (!l->kernels[k].fixed && agree) l->kernels[k].item = found[k] < 0 ? back[k] : found[k];
    }
    prof_free(found);
    take_shared(l);
}

/* ---- kernels between these ---- */

/* Kernels [first, end) and items [low, high) between two kernels with a place. */
typedef struct {
    size_t first, end;
    int64_t low, high;
} Gap;

/* Returns the end of the group of kernels that starts at k: what is set to a value before a kernel
 * belongs to it. */
static size_t group_end(const Launch *l, size_t k, size_t end)
{
    while (k < end && l->kernels[k].is_set) k++;
    return k < end ? k + 1 : end;
}

/* Returns whether an item can be this group of kernels on its own. */
static bool fits(const Launch *l, size_t group_end, const Item *item)
{
    bool is_copy = l->kernels[group_end - 1].is_copy;
    return item->kind == FUSION || (item->kind == COPY) == is_copy;
}

static void give(Launch *l, size_t first, size_t end, int64_t item)
{
    for (size_t k = first; k < end; k++) l->kernels[k].item = item;
}

/* If there are as many items as groups, and each fits its group, they are the same in order. */
static void fill_one_by_one(Launch *l, Gap gap)
{
    int64_t item = gap.low;
    bool equal = true;
    for (size_t k = gap.first; k < gap.end && equal; item++) {
        k = group_end(l, k, gap.end);
        equal = item < gap.high && fits(l, k, &l->schedule->items.items[item]);
    }
    if (!equal || item != gap.high) return;
    item = gap.low;
    for (size_t k = gap.first, end; k < gap.end; k = end, item++)
        give(l, k, end = group_end(l, k, gap.end), item);
}

static void fill_part(Launch *l, Gap gap)
{
    if (gap.high - gap.low == 1)
        give(l, gap.first, gap.end, gap.low);
    else
        fill_one_by_one(l, gap);
}

static size_t count_copies(const Launch *l, const Gap *gap)
{
    size_t n = 0;
    for (size_t k = gap->first; k < gap->end; k++) n += l->kernels[k].is_copy;
    return n;
}

/* Returns the number of items that are copies; SIZE_MAX if fusions may be, too. */
static size_t count_copy_items(const Launch *l, const Gap *gap)
{
    size_t n = 0;
    for (int64_t i = gap->low; i < gap->high; i++) {
        enum Kind kind = l->schedule->items.items[i].kind;
        if (kind == FUSION) return SIZE_MAX;
        n += kind == COPY;
    }
    return n;
}

static bool runs_others(const Launch *l, const Gap *gap)
{
    for (int64_t i = gap->low; i < gap->high; i++)
        if (l->schedule->items.items[i].kind == CONTROL) return true;
    return false;
}

/* Fills a gap between two kernels with a place. Copies divide it, if they are as many as the
 * instructions that copy. */
static void fill_gap(Launch *l, Gap gap)
{
    size_t n_copies = count_copies(l, &gap);
    if (gap.high - gap.low == 1 || n_copies != count_copy_items(l, &gap)) {
        fill_part(l, gap);
        return;
    }
    for (; n_copies; n_copies--) {
        Gap part = gap;
        while (!l->kernels[gap.first].is_copy) gap.first++;
        while (l->schedule->items.items[gap.low].kind != COPY) gap.low++;
        part.end = gap.first, part.high = gap.low;
        fill_part(l, part);
        give(l, gap.first, gap.first + 1, gap.low);
        gap.first++, gap.low++;
    }
    fill_part(l, gap);
}

/* ---- kernels beside one with a place ---- */

/* Kernels beside one with a place, and the items beside its own: forwards, or backwards with step
 * -1. The next kernel is `k`, of n_left; the next item is `item`. */
typedef struct {
    int step;
    size_t k, n_left;
    int64_t item;
    uint32_t sequence;
    bool ends; /* no other kernel of the launch is beyond them */
} Edge;

static const Item *item_at(const Launch *l, int64_t item, uint32_t sequence)
{
    bool inside = item >= 0 && item < (int64_t)l->schedule->items.n;
    const Item *at = inside ? &l->schedule->items.items[item] : NULL;
    return at && at->sequence == sequence ? at : NULL;
}

/* Returns whether nothing but the next item can be the next kernels. */
static bool is_only_item(const Launch *l, const Edge *e)
{
    const Item *beyond = item_at(l, e->item + e->step, e->sequence);
    return e->ends && (!beyond || beyond->kind == CONTROL);
}

/* Returns the number of next kernels that the next item is. One that copies is a copy. A call of a
 * library is all until the next copy, if a copy or fusion is beside it: otherwise the kernels may
 * be of other calls, too. */
static size_t count_kernels(const Launch *l, const Edge *e)
{
    const Item *item = item_at(l, e->item, e->sequence);
    const Item *beyond = item_at(l, e->item + e->step, e->sequence);
    size_t n = 0, k = e->k;
    if (!item || item->kind == CONTROL) return 0;
    if (is_only_item(l, e)) return e->n_left;
    if (l->kernels[k].is_copy) return item->kind == LIBRARY ? 0 : 1;
    if (item->kind != LIBRARY) return 0;
    if (!beyond || beyond->kind == LIBRARY || beyond->kind == CONTROL) return 0;
    for (; n < e->n_left && !l->kernels[k].is_copy; k += (size_t)e->step) n++;
    return n;
}

/* Returns the number of kernels that get no place. */
static size_t fill_edge(Launch *l, Edge e)
{
    for (size_t n; e.n_left && (n = count_kernels(l, &e)); e.item += e.step)
        for (; n; n--, e.n_left--, e.k += (size_t)e.step) l->kernels[e.k].item = e.item;
    return e.n_left;
}

/* ---- all kernels ---- */

static bool all_set(const Launch *l, size_t first, size_t end)
{
    bool all = true;
    for (size_t k = first; k < end; k++) all &= l->kernels[k].is_set;
    return all;
}

/* Finds the places of kernels [first, end), none of which has one. */
static void place_between(Launch *l, size_t first, size_t end)
{
    int64_t before = first ? l->kernels[first - 1].item : -1;
    int64_t after = end < l->n ? l->kernels[end].item : -1;
    const Item *items = l->schedule->items.items;
    Gap gap = {first, end, before + 1, after};
    bool closed = before >= 0 && after > before && after - before - 1 <= MOST_ITEMS_BETWEEN &&
                  items[before].sequence == items[after].sequence;
    size_t n = end - first;
    if (closed && after == before + 1 && all_set(l, first, end)) {
        give(l, first, end, after);
    } else if (closed && !runs_others(l, &gap)) {
        fill_gap(l, gap);
    } else {
        if (before >= 0)
            n = fill_edge(l, (Edge){1, first, n, before + 1, items[before].sequence, end == l->n});
        if (after >= 0 && n)
            fill_edge(l, (Edge){-1, end - 1, n, after - 1, items[after].sequence, first == 0});
    }
}

static void place_others(Launch *l)
{
    for (size_t k = 0, end; k < l->n; k = end) {
        for (end = k; end < l->n && l->kernels[end].class == NO_CLASS;) end++;
        if (end > k) place_between(l, k, end);
        if (end < l->n) end++;
    }
}

/* Returns the end of the neighbouring kernels that are the instruction of kernel k. */
static size_t end_of_instruction(const PlacedKernel *kernels, size_t k, size_t n)
{
    const KernelPlace *place = &kernels[k].place;
    size_t end = k + 1;
    while (end < n && place->by != FOUND_NOT && kernels[end].place.by != FOUND_NOT &&
           kernels[end].place.position == place->position)
        end++;
    return end;
}

/* Of neighbouring kernels of one instruction, those with a name like an instruction's are
 * executions, else the first. */
static void mark_executions(PlacedKernel *kernels, const Launch *l)
{
    for (size_t k = 0, end; k < l->n; k = end) {
        bool any = false;
        end = end_of_instruction(kernels, k, l->n);
        for (size_t i = k; i < end; i++) {
            kernels[i].place.is_execution = l->kernels[i].class != NO_CLASS;
            any |= kernels[i].place.is_execution;
        }
        if (!any) kernels[k].place.is_execution = true;
    }
}

static Kernel read_kernel(PlacedKernel *kernel, const HloModule *module, const Schedule *s,
                          ProfErr *err)
{
    Slice name = slice_of(kernel->name);
    Kernel read = {.class = hlo_class_of_kernel(module, name, err),
                   .item = -1,
                   .is_copy = slice_starts_ignoring_case(name, "memcpy"),
                   .is_set = slice_starts_ignoring_case(name, "memset")};
    int64_t only = hlo_only_op_of_class(module, read.class, err);
    if (only < 0) return read;
    kernel->place = (KernelPlace){.position = (uint32_t)only, .by = FOUND_BY_NAME};
    read.item = s->item_of[only], read.fixed = true;
    return read;
}

int hlo_place_kernels(const HloModule *module, PlacedKernel *kernels, size_t n, ProfErr *err)
{
    static const HloAnalysis analysis = {schedule_make, schedule_release};
    Launch l = {.schedule = hlo_analysis(module, &analysis, err), .n = n};
    if (!l.schedule) return err->code;
    if (!(l.kernels = prof_alloc(n * sizeof *l.kernels))) prof_nomem(err);
    for (size_t k = 0; k < n && !interrupt_poll(1, err); k++)
        l.kernels[k] = read_kernel(&kernels[k], module, l.schedule, err);
    if (!err->code) place_named(&l, err);
    if (!err->code) place_others(&l);
    for (size_t k = 0; k < n && !err->code; k++) {
        int64_t item = l.kernels[k].item;
        if (item >= 0 && kernels[k].place.by == FOUND_NOT)
            kernels[k].place = (KernelPlace){.position = l.schedule->items.items[item].position,
                                             .by = FOUND_BY_PLACE};
    }
    if (!err->code) mark_executions(kernels, &l);
    prof_free(l.kernels);
    return err->code;
}
