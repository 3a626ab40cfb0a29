// SPDX-License-Identifier: Apache-2.0
/* kernels.c: sums kernels into reports; see kernels.h.
 *
 * There are two steps. First each line is read once, on all processors: events are summed by what
 * their stats refer to (ids, not texts), so that a line of a million kernels becomes a few hundred
 * tallies. Then the texts of the tallies are read, each once, and tallies become reports. XProf
 * uses an event's own stats only, and the last one of a name counts. */
#include "kernels.h"

#include "../../base/list.h"
#include "../../base/search.h"
#include "../../base/sort.h"
#include "../program/hlo_validate.h"
#include "../program/named_kernels.h"
#include "../../base/parallel.h"
#include "../../store/event_stats.h"
#include "../../store/events.h"
#include "products.h"

/* ---- a walk over a line ---- */

enum KernelText {
    TEXT_DETAILS,
    TEXT_TF_OP,
    TEXT_OP_NAME,
    TEXT_HLO_OP,
    TEXT_EQUATION,
    TEXT_ANNOTATION,
    TEXT_LEVEL_0,
    N_TEXTS
};

/* What distinguishes tallies. A text is a reference + 1 or, if its bit of `inlined` is set, the
 * address of an interned Text; 0: none. No padding, because keys are compared as bytes. */
typedef struct {
    uint64_t texts[N_TEXTS], program_id;
    uint32_t meta, inlined;
} Key;

typedef struct {
    Key key;
    uint64_t occurrences, total_ns, min_ns, max_ns;
} Tally;

typedef struct {
    Line *line;
    Tally *tallies; /* in order of their first event */
    size_t n, capacity;
    HashTable by_key;
} LineTallies;

typedef struct {
    KernelStats *stats;
    LineTallies *lines;
    pthread_mutex_t lock; /* for stats->texts */
} Walk;

static uint64_t key_hash(const Key *key)
{
    uint64_t h = key->program_id;
    for (int i = 0; i < N_TEXTS; i++) h = hash64(h ^ key->texts[i]);
    return hash64(h ^ key->meta);
}

static bool tally(LineTallies *l, const Key *key, uint64_t ns)
{
    uint64_t hash = key_hash(key);
    HASH_EACH(i, &l->by_key, hash) {
        Tally *t = &l->tallies[i];
        if (memcmp(&t->key, key, sizeof *key)) continue;
        t->occurrences++, t->total_ns += ns;
        if (ns < t->min_ns) t->min_ns = ns;
        if (ns > t->max_ns) t->max_ns = ns;
        return true;
    }
    if (!GROW(l->tallies, l->n, l->capacity) || !hash_add(&l->by_key, hash, l->n)) return false;
    l->tallies[l->n++] = (Tally){*key, 1, ns, ns, ns};
    return true;
}

static int text_of_stat(unsigned known)
{
    switch (known) {
    case STAT_KERNEL_DETAILS: return TEXT_DETAILS;
    case STAT_TF_OP: return TEXT_TF_OP;
    case STAT_OP_NAME: return TEXT_OP_NAME;
    case STAT_HLO_OP: return TEXT_HLO_OP;
    case STAT_EQUATION: return TEXT_EQUATION;
    case STAT_ANNOTATION: return TEXT_ANNOTATION;
    default: return TEXT_LEVEL_0;
    }
}

static int read_stat(Walk *walk, Key *key, unsigned known, const Stat *stat, ProfErr *err)
{
    if (known == STAT_PROGRAM_ID) {
        key->program_id = stat_int_or_uint(stat);
        return PROF_OK;
    }
    int text = text_of_stat(known);
    key->inlined &= ~(1u << text);
    key->texts[text] = stat->type == TYPE_REF ? stat->u64 + 1 : 0;
    if (stat->type != TYPE_STR || !stat->n_bytes) return PROF_OK;
    pthread_mutex_lock(&walk->lock);
    const Text *interned =
        text_intern(&walk->stats->texts, &walk->stats->arena, stat->bytes, stat->n_bytes);
    pthread_mutex_unlock(&walk->lock);
    if (!interned) return prof_nomem(err);
    key->texts[text] = (uint64_t)(uintptr_t)interned, key->inlined |= 1u << text;
    return PROF_OK;
}

static void walk_line(void *context, size_t i, ProfErr *err)
{
    static const enum KnownStat wanted[] = {STAT_KERNEL_DETAILS, STAT_TF_OP,     STAT_OP_NAME,
                                            STAT_HLO_OP,         STAT_EQUATION,  STAT_ANNOTATION,
                                            STAT_LEVEL_0,        STAT_PROGRAM_ID},
                                details[] = {STAT_KERNEL_DETAILS};
    Walk *walk = context;
    LineTallies *l = &walk->lines[i];
    const Plane *plane = l->line->plane;
    StatFilter filter = {0};
    stat_filter_open(&filter, plane, details, COUNT(details), err);
    bool any = filter.any;
    stat_filter_close(&filter);
    if (!any || stat_filter_open(&filter, plane, wanted, COUNT(wanted), err)) {
        stat_filter_close(&filter);
        return;
    }
    EventReader reader;
    EventAt e;
    event_reader_open_for(&reader, l->line, &filter.wanted, err);
    while (event_reader_next(&reader, &e)) {
        if (!e.duration_ps) continue;
        Key key = {.meta = (uint32_t)(e.meta - plane->event_metas)};
        StatIter stats = stat_iter_of_event(&e);
        Stat stat;
        unsigned known;
        while (stat_iter_next_wanted(&stats, &filter, &known, &stat) &&
               !read_stat(walk, &key, known, &stat, err)) {
        }
        if (err->code || !key.texts[TEXT_DETAILS]) continue;
        if (!key.texts[TEXT_HLO_OP]) key.program_id = 0;
        if (!tally(l, &key, (uint64_t)e.duration_ps / 1000)) prof_nomem(err);
    }
    event_reader_close(&reader);
    stat_filter_close(&filter);
}

/* ---- texts, each read once ---- */

/* Maps an address and a number to a number that is not 0. */
typedef struct {
    const void *address;
    uint64_t number, value;
} Memo;
typedef struct {
    LIST(Memo) memos;
    HashTable by_key;
} Memos;

static uint64_t *memo_find(const Memos *m, const void *address, uint64_t number, uint64_t hash)
{
    HASH_EACH(i, &m->by_key, hash)
        if (m->memos.items[i].address == address && m->memos.items[i].number == number)
            return &m->memos.items[i].value;
    return NULL;
}

static uint64_t memo_hash(const void *address, uint64_t number)
{
    return hash64((uint64_t)(uintptr_t)address * 31 + number);
}

/* Returns the place of the value, which is 0 if it is new. NULL if memory runs out. Valid until the
 * next call. */
static uint64_t *memo(Memos *m, const void *address, uint64_t number)
{
    uint64_t hash = memo_hash(address, number), *found = memo_find(m, address, number, hash);
    if (found) return found;
    Memo *made = PUSH_KEYED(m->memos, &m->by_key, hash);
    if (!made) return NULL;
    *made = (Memo){address, number, 0};
    return &made->value;
}

static bool memo_has(const Memos *m, const void *address)
{
    const uint64_t *value = memo_find(m, address, 0, memo_hash(address, 0));
    return value && *value;
}

typedef struct {
    KernelLaunch xprof, actual;
} Launches;
typedef struct {
    const Text *name;
    bool eligible;
} Op;

typedef struct {
    KernelReport *reports;
    size_t n, capacity;
    HashTable by_identity;
} ReportSet;

/* The reports of one host, while they are built. */
typedef struct {
    KernelStats *stats;
    Host *host;
    ProfErr *err;
    ReportSet reports, by_instruction, by_op;
    Memos launch_of, op_of, einsum_of, instruction_of, provenance_of, uses_tensorcore;
    Launches *launches;
    Op *ops;
    size_t n_launches, launch_capacity, n_ops, op_capacity;
} KernelsBuilder;

static const Text *key_text(const Plane *plane, const Key *key, enum KernelText text)
{
    if (!key->texts[text]) return empty_text;
    if (key->inlined >> text & 1) return (const Text *)(uintptr_t)key->texts[text];
    return stat_ref_text(plane, key->texts[text] - 1);
}

static const Launches *launches_of(KernelsBuilder *m, const Text *details)
{
    uint64_t *at = memo(&m->launch_of, details, 0);
    if (at && !*at && GROW(m->launches, m->n_launches, m->launch_capacity)) {
        m->launches[m->n_launches++] = (Launches){kernel_launch_xprof(slice_of(details)),
                                                  kernel_launch_actual(slice_of(details))};
        *at = m->n_launches;
    }
    if (!at || !*at) {
        prof_nomem(m->err);
        return NULL;
    }
    return &m->launches[*at - 1];
}

/* Returns the op with a framework op's full name: its name, and whether tensor cores could run it.
 */
static Op op_of(KernelsBuilder *m, const Text *full_name)
{
    static const Op none = {.name = NULL};
    uint64_t *at = memo(&m->op_of, full_name, 0);
    if (at && !*at && GROW(m->ops, m->n_ops, m->op_capacity)) {
        Slice name = tf_op_parse(slice_of(full_name)).name;
        const Text *text = text_intern(&m->stats->texts, &m->stats->arena, name.text, name.n);
        if (text) {
            m->ops[m->n_ops++] = (Op){text, op_is_tensorcore_eligible(name)};
            *at = m->n_ops;
        }
    }
    if (!at || !*at) {
        prof_nomem(m->err);
        return none;
    }
    return m->ops[*at - 1];
}

static bool is_einsum(KernelsBuilder *m, const Text *equation)
{
    uint64_t *at = memo(&m->einsum_of, equation, 0);
    if (!at) {
        prof_nomem(m->err);
        return false;
    }
    if (!*at) *at = equation_is_tensorcore_eligible(slice_of(equation)) ? 2 : 1;
    return *at == 2;
}

/* Returns the instruction of a program that hlo_op names (its last part between ::); NULL if there
 * is none. */
static const Xla__HloInstructionProto *instruction_of(KernelsBuilder *m, const Text *hlo_op,
                                                      const HloModule *module)
{
    enum { LONGEST_NAME = 1 << 16 };
    uint64_t *at = memo(&m->instruction_of, hlo_op, module ? module->program_id : 0);
    if (!at) {
        prof_nomem(m->err);
        return NULL;
    }
    if (!*at) {
        Slice name = slice_innermost(slice_of(hlo_op));
        const Xla__HloInstructionProto *found =
            module && name.n <= LONGEST_NAME ? hlo_find(module, name.text, name.n) : NULL;
        *at = found ? (uint64_t)(uintptr_t)found : 1;
    }
    return *at == 1 ? NULL : (const Xla__HloInstructionProto *)(uintptr_t)*at;
}

/* Returns the instruction after which a kernel is named; NULL if there is none. In a CUDA graph the
 * kernel may run an equal instruction. */
static const Xla__HloInstructionProto *namesake_of(KernelsBuilder *m, const Text *kernel,
                                                   const HloModule *module)
{
    int64_t position = module ? hlo_namesake(module, slice_of(kernel), m->err) : -1;
    return position < 0 ? NULL : hlo_op(module, (size_t)position).instruction;
}

/* Returns "op_name:op_type" of an instruction's metadata, as XProf joins them. NULL if memory runs
 * out. */
static const Text *provenance_of(KernelsBuilder *m, const Xla__HloInstructionProto *instruction)
{
    uint64_t *at = memo(&m->provenance_of, instruction, 0);
    if (!at) {
        prof_nomem(m->err);
        return NULL;
    }
    if (*at) return (const Text *)(uintptr_t)*at;
    const char *name = instruction->metadata ? instruction->metadata->op_name : "",
               *type = instruction->metadata ? instruction->metadata->op_type : "";
    if (!*type && (!strcmp(name, "XLA_Args") || !strcmp(name, "XLA_Retvals"))) type = name;
    size_t n = strlen(name), k = strlen(type);
    char *joined = prof_alloc(n + k + 2);
    if (!joined) {
        prof_nomem(m->err);
        return NULL;
    }
    memcpy(joined, name, n);
    if (n || k) joined[n] = ':';
    memcpy(joined + n + 1, type, k);
    const Text *text =
        text_intern(&m->stats->texts, &m->stats->arena, joined, n || k ? n + 1 + k : 0);
    prof_free(joined);
    if (!text) {
        prof_nomem(m->err);
        return NULL;
    }
    *at = (uint64_t)(uintptr_t)text;
    return text;
}

/* ---- reports ---- */

/* Tensor core flags by kernel name: the names of a plane are examined once. */
enum { NAME_READ = 1, NAME_XPROF = 2, NAME_ACTUAL = 4 };
static unsigned tensorcores_of(uint8_t *read, const Plane *plane, uint32_t meta,
                               enum KernelVendor vendor)
{
    if (!read[meta]) {
        Slice name = slice_of(plane->event_metas[meta].name);
        read[meta] =
            (uint8_t)(NAME_READ | (kernel_uses_tensorcore_xprof(name, vendor) ? NAME_XPROF : 0) |
                      (kernel_uses_tensorcore_actual(name, vendor) ? NAME_ACTUAL : 0));
    }
    return read[meta];
}

static uint64_t identity_hash(const KernelReport *r)
{
    uint64_t h = (uint64_t)(uintptr_t)r->name * 31 + (uint64_t)(uintptr_t)r->op_name;
    for (int i = 0; i < 3; i++)
        h = hash64(h ^ r->launch.block[i]), h = hash64(h ^ r->launch.grid[i]);
    h = hash64(h ^ r->launch.registers);
    h = hash64(h ^ ((uint64_t)r->launch.static_shared << 32 | r->launch.dynamic_shared));
    h = hash64(h ^ (uint64_t)(uintptr_t)r->op);
    return hash64(h ^ (uint64_t)(r->is_helper * 4 + r->uses_tensorcore * 2 + r->eligible));
}

static bool identical(const KernelReport *a, const KernelReport *b)
{
    return a->name == b->name && a->op_name == b->op_name &&
           !memcmp(a->launch.block, b->launch.block, sizeof a->launch.block) &&
           !memcmp(a->launch.grid, b->launch.grid, sizeof a->launch.grid) &&
           a->launch.registers == b->launch.registers &&
           a->launch.static_shared == b->launch.static_shared &&
           a->launch.dynamic_shared == b->launch.dynamic_shared &&
           a->uses_tensorcore == b->uses_tensorcore && a->eligible == b->eligible &&
           a->op == b->op && a->is_helper == b->is_helper;
}

/* Clears the values that differ between two kernels. */
static void keep_common(KernelReport *r, const KernelReport *other)
{
    KernelLaunch *a = &r->actual;
    const KernelLaunch *b = &other->actual;
    unsigned same = a->known & b->known;
    if (a->registers != b->registers) same &= ~(unsigned)LAUNCH_REGISTERS;
    if (a->static_shared + (uint64_t)a->dynamic_shared !=
        b->static_shared + (uint64_t)b->dynamic_shared)
        same &= ~(unsigned)LAUNCH_SHARED;
    if (memcmp(a->block, b->block, sizeof a->block)) same &= ~(unsigned)LAUNCH_BLOCK;
    if (memcmp(a->grid, b->grid, sizeof a->grid)) same &= ~(unsigned)LAUNCH_GRID;
    if (a->occupancy != b->occupancy) same &= ~(unsigned)LAUNCH_OCCUPANCY;
    if (r->actual_op_name != other->actual_op_name) same &= ~(unsigned)KERNEL_OP_NAME;
    a->known = same;
    r->actual_uses_tensorcore |= other->actual_uses_tensorcore;
    r->actual_eligible |= other->actual_eligible;
}

static void add_report(ReportSet *m, const KernelReport *report, ProfErr *err)
{
    uint64_t hash = identity_hash(report);
    HASH_EACH(i, &m->by_identity, hash) {
        KernelReport *r = &m->reports[i];
        if (!identical(r, report)) continue;
        r->occurrences += report->occurrences, r->total_ns += report->total_ns;
        if (report->min_ns < r->min_ns) r->min_ns = report->min_ns;
        if (report->max_ns > r->max_ns) r->max_ns = report->max_ns;
        keep_common(r, report);
        return;
    }
    if (!GROW(m->reports, m->n, m->capacity) || !hash_add(&m->by_identity, hash, m->n))
        prof_nomem(err);
    else
        m->reports[m->n++] = *report;
}

/* Returns the op name that older software recorded instead of tf_op: the op's full name, followed
 * by "#key=value#" in one of its two forms. */
static const Text *older_op_name(KernelsBuilder *m, const Plane *plane, const Key *key)
{
    const Text *text = key_text(plane, key, TEXT_LEVEL_0);
    if (!text->n_bytes) text = key_text(plane, key, TEXT_ANNOTATION);
    const char *hash = memchr(text->text, '#', text->n_bytes);
    if (!hash) return text;
    text = text_intern(&m->stats->texts, &m->stats->arena, text->text, (size_t)(hash - text->text));
    if (!text) prof_nomem(m->err);
    return text ? text : empty_text;
}

/* Sets whether tensor cores run a kernel, and whether they could run its op, which is one of those
 * by its name if `eligible`. */
static void judge_tensorcores(KernelsBuilder *m, KernelReport *r, const HloModule *module,
                              const Xla__HloInstructionProto *instruction, bool eligible)
{
    if (module && !instruction && (instruction = namesake_of(m, r->name, module))) {
        const Text *provenance = provenance_of(m, instruction);
        eligible |= provenance && op_of(m, provenance).eligible;
    }
    if (instruction) {
        r->actual_uses_tensorcore |= hlo_is_triton_product(module, instruction, m->err);
        eligible &= hlo_is_product(module, instruction, m->err);
    }
    r->actual_eligible = r->actual_uses_tensorcore || eligible;
}

static void add_tally(KernelsBuilder *m, const Plane *plane, const Tally *t, unsigned tensorcores)
{
    const Text *details = key_text(plane, &t->key, TEXT_DETAILS),
               *tf_op = key_text(plane, &t->key, TEXT_TF_OP);
    if (!details->n_bytes) return;
    const Launches *launches = launches_of(m, details);
    if (!launches) return;
    KernelReport r = {.host = m->host,
                      .name = plane->event_metas[t->key.meta].name,
                      .op_name = empty_text,
                      .launch = launches->xprof,
                      .actual = launches->actual,
                      .uses_tensorcore = tensorcores & NAME_XPROF,
                      .actual_uses_tensorcore = tensorcores & NAME_ACTUAL,
                      .occurrences = t->occurrences,
                      .total_ns = t->total_ns,
                      .min_ns = t->min_ns,
                      .max_ns = t->max_ns};
    bool eligible = false; /* by the op's name */
    if (tf_op->n_bytes) {
        Op op = op_of(m, tf_op);
        r.op_name = op.name;
        eligible = op.eligible || is_einsum(m, key_text(plane, &t->key, TEXT_EQUATION));
        r.eligible = eligible || r.uses_tensorcore;
    }
    const Text *hlo_op = key_text(plane, &t->key, TEXT_HLO_OP);
    const HloModule *module =
        hlo_op->n_bytes ? hlo_valid_program(m->host, t->key.program_id, m->err) : NULL;
    const Xla__HloInstructionProto *instruction = instruction_of(m, hlo_op, module);
    if (instruction) {
        const Text *provenance = provenance_of(m, instruction);
        Op op = provenance ? op_of(m, provenance) : (Op){0};
        r.op_name = op.name;
        eligible |= op.eligible, r.eligible |= op.eligible;
    }
    if (m->err->code) return;
    r.actual_op_name = r.op_name;
    /* XLA's annotation of a kernel whose program is not in the run */
    bool of_module = !instruction && slice_is(slice_of(tf_op), "XlaModule:");
    if (!r.op_name->n_bytes || of_module) {
        Op other = op_of(m, of_module ? key_text(plane, &t->key, TEXT_OP_NAME)
                                      : older_op_name(m, plane, &t->key));
        if (m->err->code) return;
        r.actual_op_name = other.name;
        eligible |= other.eligible;
    }
    judge_tensorcores(m, &r, module, instruction, eligible);
    if (r.actual_op_name->n_bytes) r.actual.known |= KERNEL_OP_NAME;
    add_report(&m->reports, &r, m->err);
    r.op_name = r.actual_op_name, r.uses_tensorcore = r.actual_uses_tensorcore,
    r.eligible = r.actual_eligible, r.launch = (KernelLaunch){0};
    r.op = instruction ? (const void *)instruction : r.op_name;
    add_report(&m->by_instruction, &r, m->err);
}

/* Sums kernels by op. A kernel that tensor cores could run is a helper if another kernel of its
 * instruction uses them. */
static void add_by_op(KernelsBuilder *m)
{
    const ReportSet *all = &m->by_instruction;
    for (size_t i = 0; i < all->n && !m->err->code; i++) {
        uint64_t *uses = all->reports[i].uses_tensorcore
                             ? memo(&m->uses_tensorcore, all->reports[i].op, 0)
                             : NULL;
        if (uses) *uses = 1;
        if (!uses && all->reports[i].uses_tensorcore) prof_nomem(m->err);
    }
    for (size_t i = 0; i < all->n && !m->err->code; i++) {
        KernelReport r = all->reports[i];
        r.is_helper = r.eligible && !r.uses_tensorcore && memo_has(&m->uses_tensorcore, r.op);
        r.op = NULL;
        add_report(&m->by_op, &r, m->err);
    }
}

/* ---- order ---- */

static int xprof_order(const void *x, const void *y)
{
    const KernelReport *a = x, *b = y;
    int c = ORDER(b->total_ns, a->total_ns);
    if (!c) c = text_order(a->name, b->name);
    for (int i = 0; i < 3 && !c; i++) c = ORDER(a->launch.grid[i], b->launch.grid[i]);
    for (int i = 0; i < 3 && !c; i++) c = ORDER(a->launch.block[i], b->launch.block[i]);
    if (!c) c = ORDER(a->launch.registers, b->launch.registers);
    if (!c) c = ORDER(a->launch.static_shared, b->launch.static_shared);
    if (!c) c = ORDER(a->launch.dynamic_shared, b->launch.dynamic_shared);
    if (!c) c = ORDER(a->uses_tensorcore, b->uses_tensorcore);
    if (!c) c = ORDER(a->eligible, b->eligible);
    if (!c) c = text_order(a->op_name, b->op_name);
    if (c) return c;
    return ORDER(a->host, b->host);
}

/* ---- by op ---- */

struct KernelOp {
    const Text *name;
    uint64_t total_ns, tensorcore_ns;               /* of the reports that XProf keeps */
    bool eligible;                                  /* whether one of these is eligible */
    uint64_t actual_total_ns, actual_tensorcore_ns; /* of all reports, by the corrected flag */
};

static int by_op_name(const void *a, const void *b)
{
    return strcmp(((const KernelOp *)a)->name->text, ((const KernelOp *)b)->name->text);
}

static void sum_by_op(KernelStats *stats, ProfErr *err)
{
    KernelOp *ops = arena_alloc(&stats->arena, stats->n_reports * sizeof *ops);
    size_t n = 0, merged = 0;
    if (!ops) {
        prof_nomem(err);
        return;
    }
    for (size_t i = 0; i < stats->n_reports; i++) {
        const KernelReport *r = &stats->reports[i];
        bool kept = i < XPROF_KERNELS;
        ops[n++] = (KernelOp){r->op_name,
                              kept ? r->total_ns : 0,
                              kept && r->uses_tensorcore ? r->total_ns : 0,
                              kept && r->eligible,
                              r->total_ns,
                              r->actual_uses_tensorcore ? r->total_ns : 0};
    }
    sort_array(ops, n, sizeof *ops, by_op_name);
    for (size_t i = 0; i < n; i++)
        if (merged && !by_op_name(&ops[merged - 1], &ops[i])) {
            KernelOp *op = &ops[merged - 1];
            op->total_ns += ops[i].total_ns, op->tensorcore_ns += ops[i].tensorcore_ns,
                op->eligible |= ops[i].eligible;
            op->actual_total_ns += ops[i].actual_total_ns,
                op->actual_tensorcore_ns += ops[i].actual_tensorcore_ns;
        } else {
            ops[merged++] = ops[i];
        }
    stats->ops = ops, stats->n_ops = merged;
}

static const KernelOp *find_op(const KernelStats *stats, const char *op_name)
{
    size_t at = LOWER_BOUND(i, 0, stats->n_ops, strcmp(stats->ops[i].name->text, op_name) < 0);
    return at < stats->n_ops && !strcmp(stats->ops[at].name->text, op_name) ? &stats->ops[at]
                                                                            : NULL;
}

double kernel_tensorcore_utilization(const KernelStats *stats, const char *op_name)
{
    const KernelOp *op = find_op(stats, op_name);
    return op && op->total_ns ? (double)op->tensorcore_ns / (double)op->total_ns : 0;
}

bool kernel_op_is_eligible(const KernelStats *stats, const char *op_name)
{
    const KernelOp *op = find_op(stats, op_name);
    return op && op->eligible;
}

double kernel_tensorcore_utilization_actual(const KernelStats *stats, const char *op_name)
{
    const KernelOp *op = find_op(stats, op_name);
    return op && op->actual_total_ns
               ? (double)op->actual_tensorcore_ns / (double)op->actual_total_ns
               : -1;
}

/* ---- a host, and hosts together ---- */

static enum KernelVendor plane_vendor(const Plane *plane, Window *window, ProfErr *err)
{
    enum KernelVendor vendor = VENDOR_OTHER;
    for (size_t i = 0; i < plane->n_stats && !err->code; i++) {
        Stat stat;
        if (!plane_stat(plane, i, window, &stat, err)) continue;
        const StatMeta *meta = stat_meta(plane, stat.id);
        if (!meta || strcmp(meta->name->text, "device_vendor")) continue;
        Slice name = stat_text(plane, &stat);
        vendor = slice_is(name, "Nvidia") ? VENDOR_NVIDIA : VENDOR_OTHER;
        if (slice_is(name, "AMD")) vendor = VENDOR_AMD;
    }
    return vendor;
}

static void add_plane(KernelsBuilder *m, const Plane *plane, const LineTallies *lines,
                      size_t n_lines)
{
    Window window = {.file = &m->host->file};
    enum KernelVendor vendor = plane_vendor(plane, &window, m->err);
    window_free(&window);
    uint8_t *read = prof_alloc(plane->n_event_metas);
    if (!read) prof_nomem(m->err);
    for (size_t i = 0; i < n_lines; i++)
        for (size_t k = 0; k < lines[i].n && !m->err->code; k++)
            add_tally(m, plane, &lines[i].tallies[k],
                      tensorcores_of(read, plane, lines[i].tallies[k].key.meta, vendor));
    prof_free(read);
}

static void making_free(KernelsBuilder *m)
{
    ReportSet *const sets[] = {&m->reports, &m->by_instruction, &m->by_op};
    for (size_t i = 0; i < COUNT(sets); i++) {
        prof_free(sets[i]->reports);
        hash_free(&sets[i]->by_identity);
    }
    prof_free(m->launches);
    prof_free(m->ops);
    Memos *const memos[] = {&m->launch_of,      &m->op_of,         &m->einsum_of,
                            &m->instruction_of, &m->provenance_of, &m->uses_tensorcore};
    for (size_t i = 0; i < COUNT(memos); i++) {
        prof_free(memos[i]->memos.items);
        hash_free(&memos[i]->by_key);
    }
}

static void append_reports(ReportSet *all, const ReportSet *some, ProfErr *err)
{
    for (size_t i = 0; i < some->n && !err->code; i++) {
        if (!GROW(all->reports, all->n, all->capacity))
            prof_nomem(err);
        else
            all->reports[all->n++] = some->reports[i];
    }
}

/* Reports of all hosts: XProf's, and by corrected op. */
typedef struct {
    ReportSet reports, by_op;
} Reports;

/* Adds a host. `lines` are those of the host, those of a plane together. */
static void add_host(KernelStats *stats, Host *host, const LineTallies *lines, size_t n_lines,
                     Reports *all, ProfErr *err)
{
    KernelsBuilder m = {.stats = stats, .host = host, .err = err};
    for (size_t i = 0, n; i < n_lines && !err->code; i += n) {
        for (n = 1; i + n < n_lines && lines[i + n].line->plane == lines[i].line->plane;) n++;
        add_plane(&m, lines[i].line->plane, &lines[i], n);
    }
    add_by_op(&m);
    append_reports(&all->reports, &m.reports, err);
    append_reports(&all->by_op, &m.by_op, err);
    making_free(&m);
}

/* Lists the host's lines that can have kernels: those of TPU planes if it has any, else of GPU
 * planes. */
static size_t device_lines(Host *host, LineTallies *lines)
{
    bool tpu = false;
    size_t n = 0;
    for (size_t i = 0; i < host->n_planes; i++) tpu |= is_tpu(&host->planes[i]);
    for (size_t i = 0; i < host->n_lines; i++) {
        Line *line = &host->lines[i];
        bool counts = tpu ? is_tpu(line->plane) : line->plane->kind == PLANE_GPU;
        if (!counts || line->derived || !line->n_events) continue;
        if (lines) lines[n] = (LineTallies){.line = line};
        n++;
    }
    return n;
}

static void kernels_release(void *result)
{
    KernelStats *stats = result;
    prof_free((void *)stats->reports);
    prof_free((void *)stats->by_op);
    text_table_free(&stats->texts);
    arena_free(&stats->arena);
    prof_free(stats);
}

static void walk_host(KernelStats *stats, Host *host, Reports *all, ProfErr *err)
{
    if (host_load_only(host, err)) return;
    Walk walk = {.stats = stats};
    size_t n = device_lines(host, NULL);
    if (!(walk.lines = prof_alloc(n * sizeof *walk.lines))) {
        prof_nomem(err);
        return;
    }
    device_lines(host, walk.lines);
    pthread_mutex_init(&walk.lock, NULL);
    parallel_for(host->run->n_workers, n, walk_line, &walk, err);
    pthread_mutex_destroy(&walk.lock);
    if (!err->code) add_host(stats, host, walk.lines, n, all, err);
    for (size_t i = 0; i < n; i++) {
        prof_free(walk.lines[i].tallies);
        hash_free(&walk.lines[i].by_key);
    }
    prof_free(walk.lines);
}

static void *kernels_make(Run *run, Host *only, ProfErr *err)
{
    KernelStats *stats = prof_alloc(sizeof *stats);
    if (!stats) {
        prof_nomem(err);
        return NULL;
    }
    Reports all = {0};
    for (size_t h = 0; h < run->n_hosts && !err->code; h++)
        if (!only || only == &run->hosts[h]) walk_host(stats, &run->hosts[h], &all, err);
    sort_array(all.reports.reports, all.reports.n, sizeof *all.reports.reports, xprof_order);
    sort_array(all.by_op.reports, all.by_op.n, sizeof *all.by_op.reports, xprof_order);
    stats->reports = all.reports.reports, stats->n_reports = all.reports.n;
    stats->by_op = all.by_op.reports, stats->n_by_op = all.by_op.n;
    if (!err->code) sum_by_op(stats, err);
    if (err->code) {
        kernels_release(stats);
        return NULL;
    }
    return stats;
}

const KernelStats *run_kernel_stats(Run *run, Host *only, ProfErr *err)
{
    static const Analysis analysis = {kernels_make, kernels_release, NEEDS_ONE_HOST_AT_A_TIME};
    return run_analysis(run, only, &analysis, err);
}
