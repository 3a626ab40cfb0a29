// SPDX-License-Identifier: Apache-2.0
/* scope_ops.c: sums the time of ops by scope; see scope_ops.h.
 *
 * One walk over the lines that have ops. Ops nest: a stack of the running ops gives self times, and
 * the innermost loop around an op counts its iterations. */
#include "scope_ops.h"

#include "../../base/interrupt.h"
#include "../../base/list.h"
#include "../../base/search.h"
#include "../../base/sort.h"
#include "../../format/hlo_opcode.h"
#include "../../store/event_values.h"
#include "../../store/events.h"
#include "../../store/lines.h"
#include "../device/graph_kernels.h"
#include "../device/work_kind.h"
#include "../program/cost.h"
#include "../program/hlo_scope.h"
#include "gpu_op_name.h"
#include "op_metrics.h"
#include "op_shape.h"

#include <math.h>

enum { MOST_ITERATIONS = 1000 }; /* of a loop, with rows of their own */

typedef struct {
    uint64_t n;
    int64_t total_ps, self_ps;
} Sum;

/* An op while its events are read. */
typedef struct {
    ScopedOp op;
    Sum outside;             /* outside of loops, or in an iteration after MOST_ITERATIONS */
    LIST(Sum) in;            /* by iteration */
    bool is_loop;            /* ops inside its events are iterations */
    bool by_kernel;          /* its op is no instruction, so its kernels are ops of their own */
    uint64_t loop_event;     /* event of the loop around its last event */
    int64_t iteration, last; /* iteration of the last event; the largest of all */
    uint32_t loop;           /* index + 1 of the op of that loop; 0: none */
    uint64_t n_costed;       /* number of occurrences that the costs in `op` include */
    uint64_t n_in_graphs;    /* number of events that are kernels of CUDA graphs */
    uint64_t n_executed;     /* executions in CUDA graphs */
} Op;

/* The values that an event metadata entry gives to its events. Texts belong to Build.texts. */
typedef struct {
    bool read, is_op;
    bool has_program;
    uint64_t program_id;
    const Text *hlo_op, *tf_op;
    uint32_t last; /* index + 1 of the op of the last event */
} MetaOp;

/* An event of an op. */
typedef struct {
    int64_t start, duration;
    uint32_t op, event; /* event: index on its line */
} OpEvent;

/* A running event. */
typedef struct {
    int64_t start, end, self;
    uint64_t event; /* ordinal in the run */
    int64_t iteration, duration;
    uint32_t op, loop; /* loop: stack index + 1 of the innermost loop, itself included */
} Open;

typedef struct {
    Host *host;
    bool on_devices;
    LIST(Op) ops; /* of all hosts */
    size_t first; /* index of the first op of this host */
    HashTable by_key;
    TextTable texts;
    Arena *arena;
    MetaOp *metas;
    LIST(Open) open;
    LIST(OpEvent) unordered;
    const GraphKernels *graph; /* of the host; NULL until a kernel records no instruction */
    size_t next_graph_kernel;  /* those before it are of earlier events */
} Build;

/* ---- ops ---- */

static uint64_t key_hash(const ScopedOp *k)
{
    uint64_t hash = hash64((uint64_t)k->plane_kind << 1 | k->has_program);
    hash = hash64(hash ^ k->program_id);
    hash = hash64(hash ^ (uint64_t)(uintptr_t)k->hlo_op);
    return hash64(hash ^ (uint64_t)(uintptr_t)(k->hlo_op->n_bytes ? NULL : k->tf_op) ^
                  (uint64_t)(uintptr_t)k->name);
}

/* Compares keys. An HLO op is one op, even if its events name different framework ops. */
static bool same_key(const ScopedOp *a, const ScopedOp *b)
{
    return a->plane_kind == b->plane_kind && a->has_program == b->has_program &&
           a->program_id == b->program_id && a->hlo_op == b->hlo_op &&
           (a->hlo_op->n_bytes || a->tf_op == b->tf_op) && a->name == b->name;
}

/* Looks the op's instruction up in the file's programs. */
static void find_instruction(Build *b, Op *op, ProfErr *err)
{
    Slice name = slice_of(op->op.hlo_op);
    const HloModule *module = op->op.has_program && name.n && b->host->readable
                                  ? hlo_program(b->host, op->op.program_id, err)
                                  : NULL;
    op->op.instruction = module ? hlo_find(module, name.text, name.n) : NULL;
    op->op.module = op->op.instruction ? module : NULL;
    op->by_kernel = module && !op->op.instruction && op->op.plane_kind == PLANE_GPU;
    op->is_loop = op->op.instruction ? !strcmp(op->op.instruction->opcode, "while")
                                     : slice_starts(name, "while");
}

/* Returns index + 1 of the op; 0 with err set. */
static uint32_t find_op(Build *b, const ScopedOp *key, ProfErr *err)
{
    uint64_t hash = key_hash(key);
    HASH_EACH(i, &b->by_key, hash) {
        if (same_key(&b->ops.items[i].op, key)) return (uint32_t)i + 1;
    }
    Op *op = PUSH_KEYED(b->ops, &b->by_key, hash);
    if (!op) {
        prof_nomem(err);
        return 0;
    }
    *op = (Op){.op = *key, .last = -1, .loop_event = UINT64_MAX};
    find_instruction(b, op, err);
    return err->code ? 0 : (uint32_t)b->ops.n;
}

/* ---- stats of events ---- */

/* Returns whether a name has the form name:Type, as in tf_ops and idle_causes. */
static bool is_framework_op(Slice name)
{
    TfOp op = tf_op_parse(name);
    return op.category == OP_TENSORFLOW && !slice_ends(name, ":");
}

/* Returns the op in a text. For kernels, the instruction's name may follow a path of computations.
 */
static Slice op_text(unsigned known, Slice text)
{
    return known == STAT_HLO_OP ? slice_innermost(text) : text;
}

static bool read_meta(Build *b, const Line *line, EventMeta *meta, MetaOp *out, ProfErr *err)
{
    *out = (MetaOp){.read = true, .hlo_op = empty_text, .tf_op = empty_text};
    if (event_meta_values(line->plane, meta, err)) return false;
    for (size_t i = 0; i < meta->n_facts; i++) {
        const StatValue *fact = &meta->facts[i].fact;
        unsigned known = meta->facts[i].known;
        const Text **text = known == STAT_HLO_OP ? &out->hlo_op : &out->tf_op;
        int64_t id;
        if (known == STAT_PROGRAM_ID && stat_value_integer(fact, &id))
            out->has_program = true, out->program_id = (uint64_t)id;
        if ((known == STAT_HLO_OP || known == STAT_TF_OP) && fact->type == TYPE_STR &&
            !(*text = slice_intern(&b->texts, b->arena, op_text(known, slice_of(fact->text)), err)))
            return false;
    }
    if (line->kind == LINE_OPS && b->on_devices && !out->hlo_op->n_bytes &&
        !(out->hlo_op = slice_intern(&b->texts, b->arena, event_op_name(meta), err)))
        return false;
    if (line->plane->kind == PLANE_HOST && !out->hlo_op->n_bytes) {
        out->is_op = is_framework_op(slice_of(meta->name));
        if (out->is_op &&
            !(out->tf_op = slice_intern(&b->texts, b->arena, slice_of(meta->name), err)))
            return false;
    }
    out->is_op |= out->hlo_op->n_bytes > 0 || b->on_devices;
    return true;
}

static bool intern(Build *b, Slice slice, const Text **text, ProfErr *err)
{
    *text = slice.n ? slice_intern(&b->texts, b->arena, slice, err) : empty_text;
    return *text != NULL;
}

/* Reads an event's stats. The first of a name counts, and before those of the metadata. */
static bool read_stats(Build *b, const Plane *plane, const EventAt *e, const StatFilter *filter,
                       ScopedOp *key, ProfErr *err)
{
    StatIter stats = stat_iter_of_event(e);
    StatSet seen = {{0}};
    GpuOpTexts texts = {.tf_op = slice_of(key->tf_op)};
    Slice hlo_op = slice_of(key->hlo_op);
    unsigned known;
    Stat stat;
    while (stat_iter_next_wanted(&stats, filter, &known, &stat)) {
        if (stat_set_has(&seen, known)) continue;
        stat_set_add(&seen, known);
        switch (known) {
        case STAT_HLO_OP: hlo_op = slice_innermost(stat_text(plane, &stat)); break;
        case STAT_TF_OP: texts.tf_op = stat_text(plane, &stat); break;
        case STAT_OP_NAME: texts.name = stat_text(plane, &stat); break;
        case STAT_LEVEL_0: texts.level_0 = stat_text(plane, &stat); break;
        case STAT_ANNOTATION: texts.annotation = stat_text(plane, &stat); break;
        default:
            key->has_program = stat_is_integer(&stat), key->program_id = stat_int_or_uint(&stat);
        }
    }
    return intern(b, hlo_op, &key->hlo_op, err) &&
           (plane->kind != PLANE_GPU || intern(b, gpu_op_name(&texts), &key->tf_op, err));
}

/* Returns the kernel of a CUDA graph that an event is; NULL if it is none. */
static const GraphKernel *graph_kernel(Build *b, uint64_t event, ProfErr *err)
{
    if (!b->graph && !(b->graph = host_graph_kernels(b->host, err))) return NULL;
    while (b->next_graph_kernel < b->graph->n &&
           b->graph->kernels[b->next_graph_kernel].event < event)
        b->next_graph_kernel++;
    if (b->next_graph_kernel == b->graph->n) return NULL;
    const GraphKernel *kernel = &b->graph->kernels[b->next_graph_kernel];
    return kernel->event == event ? kernel : NULL;
}

/* Returns index + 1 of the op of a kernel that records no instruction: the one that it runs, or the
 * kernels of its name; 0 with err set. */
static uint32_t kernel_op(Build *b, ScopedOp *key, const EventAt *e, ProfErr *err)
{
    const GraphKernel *kernel = graph_kernel(b, e->event, err);
    const KernelPlace *place = kernel ? &b->graph->placed[kernel->placed].place : NULL;
    bool known = place && place->by != FOUND_NOT;
    if (err->code) return 0;
    if (known) {
        const HloModule *module = b->graph->graphs[kernel->graph].module;
        const char *name = hlo_op(module, place->position).instruction->name;
        key->hlo_op = slice_intern(&b->texts, b->arena, slice_of_string(name), err);
        key->tf_op = empty_text;
    } else {
        key->name = slice_intern(&b->texts, b->arena, slice_of(e->meta->name), err);
    }
    uint32_t op = err->code ? 0 : find_op(b, key, err);
    if (op && known) {
        b->ops.items[op - 1].n_in_graphs++;
        b->ops.items[op - 1].n_executed += place->is_execution;
    }
    return op;
}

/* Returns index + 1 of the event's op; 0 if it is not an op, or with err set. */
static uint32_t op_of(Build *b, Line *line, const EventAt *e, const StatFilter *filter,
                      ProfErr *err)
{
    MetaOp *of_meta = &b->metas[e->meta - line->plane->event_metas];
    if (!of_meta->read && !read_meta(b, line, e->meta, of_meta, err)) return 0;
    bool has_stats = event_has_stats(e);
    if (!has_stats && (!of_meta->is_op || of_meta->last)) return of_meta->is_op ? of_meta->last : 0;
    ScopedOp key = {.plane_kind = line->plane->kind,
                    .has_program = of_meta->has_program,
                    .program_id = of_meta->program_id,
                    .hlo_op = of_meta->hlo_op,
                    .tf_op = of_meta->tf_op,
                    .name = empty_text};
    if (has_stats && !read_stats(b, line->plane, e, filter, &key, err)) return 0;
    if (!of_meta->is_op && !key.hlo_op->n_bytes) return 0;
    if (!key.hlo_op->n_bytes) key.has_program = false, key.program_id = 0;
    if (!key.hlo_op->n_bytes && !key.tf_op->n_bytes &&
        !(key.name = slice_intern(&b->texts, b->arena, slice_of(e->meta->name), err)))
        return 0;
    uint32_t last = of_meta->last;
    if (!last || !same_key(&b->ops.items[last - 1].op, &key)) last = find_op(b, &key, err);
    if (last && b->ops.items[last - 1].by_kernel) last = kernel_op(b, &key, e, err);
    if (!last) return 0;
    ScopedOp *op = &b->ops.items[last - 1].op;
    if (!op->tf_op->n_bytes) op->tf_op = key.tf_op;
    if (!has_stats) of_meta->last = last;
    return last;
}

/* ---- nesting ---- */

static void add_to(Sum *sum, int64_t duration, int64_t self)
{
    sum->n++;
    sum->total_ps = add_saturated(sum->total_ps, duration);
    sum->self_ps = add_saturated(sum->self_ps, self);
}

static bool close_top(Build *b)
{
    const Open *top = &b->open.items[--b->open.n];
    Op *op = &b->ops.items[top->op];
    Sum *sum = &op->outside;
    if (top->iteration >= 0 && top->iteration < MOST_ITERATIONS) {
        while (op->in.n <= (size_t)top->iteration) {
            Sum *next = PUSH(op->in);
            if (!next) return false;
            *next = (Sum){0};
        }
        sum = &op->in.items[top->iteration];
    }
    add_to(sum, top->duration, top->self);
    op->op.n++;
    return true;
}

/* Returns the iteration of the op's next event: counts its events within one event of the innermost
 * loop. */
static int64_t next_iteration(Op *op, const Open *loop)
{
    op->iteration = op->loop_event == loop->event ? op->iteration + 1 : 0;
    op->loop_event = loop->event, op->loop = loop->op + 1;
    if (op->iteration > op->last) op->last = op->iteration;
    return op->iteration;
}

static bool open_op(Build *b, const Line *line, const OpEvent *e)
{
    int64_t end = add_saturated(e->start, e->duration);
    bool nests = line->plane->kind != PLANE_GPU;
    while (b->open.n && (!nests || b->open.items[b->open.n - 1].start > e->start ||
                         b->open.items[b->open.n - 1].end < end))
        if (!close_top(b)) return false;
    Open *top = PUSH(b->open);
    if (!top) return false;
    Op *op = &b->ops.items[e->op];
    Open *around = b->open.n > 1 ? top - 1 : NULL;
    *top = (Open){.start = e->start,
                  .end = end,
                  .self = e->duration,
                  .duration = e->duration,
                  .event = line->first_event + e->event,
                  .iteration = -1,
                  .op = e->op};
    if (around) {
        around->self = add_saturated(around->self, -e->duration);
        b->ops.items[around->op].op.runs_ops = true;
        top->loop = around->loop;
        if (around->loop) top->iteration = next_iteration(op, &b->open.items[around->loop - 1]);
    }
    if (op->is_loop) top->loop = (uint32_t)b->open.n;
    return true;
}

static int by_start_then_longest(const void *a, const void *b)
{
    const OpEvent *x = a, *y = b;
    if (x->start != y->start) return ORDER(x->start, y->start);
    if (x->duration != y->duration) return ORDER(y->duration, x->duration);
    return ORDER(x->event, y->event);
}

static void read_line(Build *b, Line *line, const StatFilter *filter, ProfErr *err)
{
    bool sorts = !line->ordered && line->plane->kind != PLANE_GPU;
    EventReader reader;
    EventAt e;
    if (sorts && line->n_events > UINT32_MAX) line_too_long(line, "sorted", err);
    event_reader_open_for(&reader, line, &filter->wanted, err);
    b->unordered.n = 0;
    while (!err->code && event_reader_next(&reader, &e)) {
        uint32_t op = e.occurrences < 0 ? op_of(b, line, &e, filter, err) : 0;
        if (!op || err->code) continue;
        OpEvent event = {e.start_ps, e.duration_ps > 0 ? e.duration_ps : 0, op - 1,
                         (uint32_t)(e.event - line->first_event)};
        OpEvent *later = sorts ? PUSH(b->unordered) : NULL;
        if (later) *later = event;
        if (sorts ? !later : !open_op(b, line, &event)) prof_nomem(err);
    }
    event_reader_close(&reader);
    sort_in_place(b->unordered.items, b->unordered.n, sizeof(OpEvent), by_start_then_longest);
    for (size_t i = 0; i < b->unordered.n && !interrupt_poll(1, err); i++)
        if (!open_op(b, line, &b->unordered.items[i])) prof_nomem(err);
    while (b->open.n && !err->code)
        if (!close_top(b)) prof_nomem(err);
    b->open.n = 0;
}

static void read_plane(Build *b, Plane *plane, ProfErr *err)
{
    static const enum KnownStat wanted[] = {STAT_HLO_OP,  STAT_PROGRAM_ID, STAT_TF_OP,
                                            STAT_OP_NAME, STAT_LEVEL_0,    STAT_ANNOTATION};
    StatFilter filter;
    /* on other planes, tf_op and `name` have other meanings */
    bool has_names = plane->kind == PLANE_GPU;
    stat_filter_open(&filter, plane, wanted, has_names ? COUNT(wanted) : 2, err);
    if (!(b->metas = prof_alloc(plane->n_event_metas * sizeof *b->metas))) prof_nomem(err);
    for (size_t i = 0; i < plane->n_lines && !err->code; i++) {
        Line *line = &plane->host->lines[plane->first_line + i];
        if (b->on_devices ? line_is_work(line) : !line->derived) read_line(b, line, &filter, err);
    }
    prof_free(b->metas);
    stat_filter_close(&filter);
}

/* ---- sums ---- */

static void add_device_cost(Build *b, const OpMetrics *from, ProfErr *err)
{
    static const enum PlaneKind kinds[] = {
        [CORE_UNKNOWN] = PLANE_GPU,
        [CORE_TENSORCORE] = PLANE_TENSORCORE,
        [CORE_SPARSECORE] = PLANE_SPARSECORE,
    };
    Slice name = op_instruction_name(from->long_name->n_bytes ? from->long_name : from->name);
    ScopedOp key = {.plane_kind = kinds[from->core_type],
                    .has_program = true,
                    .program_id = from->program_id,
                    .name = empty_text,
                    .tf_op = empty_text};
    if (!(key.hlo_op = slice_intern(&b->texts, b->arena, name, err))) return;
    uint64_t hash = key_hash(&key);
    HASH_EACH(i, &b->by_key, hash) {
        Op *op = &b->ops.items[i];
        if (!same_key(&op->op, &key)) continue;
        op->n_costed += from->occurrences;
        if (op->op.plane_kind == PLANE_GPU) op->op.executions += from->executions;
        op->op.flops += from->model_flops_actual;
        op->op.n_bytes += from->has_actual_bytes ? (double)from->bytes_actual : NAN;
    }
}

/* A loop may go round any number of times, and a conditional may take any branch. */
static bool has_program_cost(const ScopedOp *op)
{
    if (!op->instruction || op->runs_ops) return false;
    enum HloOpcode opcode = hlo_opcode(op->instruction->opcode);
    return opcode != HLO_WHILE && opcode != HLO_CONDITIONAL;
}

/* Adds what n executions of an op cost. */
static void add_program_cost(Op *op, double n, ProfErr *err)
{
    const HloCost *cost =
        has_program_cost(&op->op) ? hlo_cost(op->op.module, op->op.instruction, err) : NULL;
    bool has_bytes = cost && cost->bytes_accessed_actual >= 0;
    op->op.flops += cost ? cost->model_flops_actual * n : NAN;
    op->op.n_bytes += has_bytes ? (double)cost->bytes_accessed_actual * n : NAN;
}

/* Takes the FLOPs and bytes of device ops from hlo_ops, an equal part for each event. On TPUs the
 * events may have other names, or be of a plane that is not a device here, and XProf's occurrences
 * count all of them; on GPUs those count events of other programs too. */
static void set_device_costs(Build *b, ProfErr *err)
{
    const OpStats *stats = run_op_stats(b->host->run, b->host, err);
    for (size_t i = b->first; i < b->ops.n; i++)
        b->ops.items[i].op.flops = b->ops.items[i].op.n_bytes = 0;
    for (size_t i = 0; stats && i < stats->device.n_ops; i++) {
        const OpMetrics *op = &stats->device.ops[i];
        add_device_cost(b, op, err);
        for (size_t k = 0; op->children && k < op->children->n_ops; k++)
            if (op->children->ops[k].core_type == CORE_SPARSECORE)
                add_device_cost(b, &op->children->ops[k], err);
    }
    for (size_t i = b->first; i < b->ops.n && !err->code; i++) {
        Op *op = &b->ops.items[i];
        double listed = (double)(op->op.n - op->n_in_graphs);
        double n_events = op->op.plane_kind == PLANE_GPU ? listed : (double)op->n_costed;
        double share = op->n_costed ? listed / n_events : NAN;
        if (listed > 0) op->op.flops *= share, op->op.n_bytes *= share;
        if (op->n_in_graphs) add_program_cost(op, (double)op->n_executed, err);
        bool listed_known = op->op.n == op->n_in_graphs || op->op.executions;
        if (listed_known) op->op.executions += op->n_executed;
    }
}

static void set_program_costs(Build *b, ProfErr *err)
{
    for (size_t i = b->first; i < b->ops.n && !err->code; i++) {
        Op *op = &b->ops.items[i];
        bool known = has_program_cost(&op->op);
        op->op.flops = op->op.n_bytes = known ? 0 : NAN;
        if (known) add_program_cost(op, (double)op->op.n, err);
    }
}

/* Returns whether a loop runs backwards through the layers, from the last to the first. */
static bool is_backward_loop(const Build *b, const Op *op)
{
    const ScopedOp *loop = op->loop ? &b->ops.items[op->loop - 1].op : NULL;
    if (!loop) return false;
    const Xla__OpMetadata *metadata = loop->instruction ? loop->instruction->metadata : NULL;
    const char *name = loop->instruction ? "" : loop->tf_op->text;
    if (metadata) name = metadata->op_name;
    enum OpPass pass = op_scope(slice_of_string(name), NULL);
    return pass == PASS_BACKWARD || pass == PASS_RECOMPUTED;
}

typedef LIST(ScopedTime) TimeList;

static bool add_rows(const Build *b, size_t i, TimeList *rows)
{
    const Op *op = &b->ops.items[i];
    bool reversed = is_backward_loop(b, op);
    for (size_t k = 0; k <= op->in.n; k++) {
        const Sum *sum = k < op->in.n ? &op->in.items[k] : &op->outside;
        int64_t iteration = k < op->in.n ? (reversed ? op->last - (int64_t)k : (int64_t)k) : -1;
        if (!sum->n && !sum->total_ps) continue;
        ScopedTime *row = PUSH(*rows);
        if (!row) return false;
        *row = (ScopedTime){(uint32_t)i, iteration, sum->n, sum->total_ps, sum->self_ps};
    }
    return true;
}

static int longest_first(const void *a, const void *b)
{
    const ScopedTime *x = a, *y = b;
    if (x->self_ps != y->self_ps) return ORDER(y->self_ps, x->self_ps);
    if (x->op != y->op) return ORDER(x->op, y->op);
    return ORDER(x->iteration, y->iteration);
}

static bool has_work(const Host *host)
{
    for (size_t i = 0; i < host->n_lines; i++)
        if (line_is_work(&host->lines[i]) && host->lines[i].n_events) return true;
    return false;
}

static int read_host(Build *b, Host *host, TimeList *rows, ProfErr *err)
{
    if (!host->readable || host->reader->is_program || host_load_only(host, err)) return err->code;
    b->host = host, b->on_devices = has_work(host), b->first = b->ops.n;
    b->graph = NULL, b->next_graph_kernel = 0;
    hash_clear(&b->by_key);
    for (size_t i = 0; i < host->n_planes && !err->code; i++) {
        Plane *plane = &host->planes[i];
        if (b->on_devices ? plane_is_device(plane) : plane->kind == PLANE_HOST)
            read_plane(b, plane, err);
    }
    if (!err->code && b->on_devices) set_device_costs(b, err);
    if (!err->code && !b->on_devices) set_program_costs(b, err);
    size_t before = rows->n;
    for (size_t i = b->first; i < b->ops.n && !err->code; i++)
        if (!add_rows(b, i, rows)) prof_nomem(err);
    if (rows->n > before)
        sort_array(rows->items + before, rows->n - before, sizeof *rows->items, longest_first);
    return err->code;
}

/* Drops the rows of host threads if a host of the run has devices. */
static void keep_devices(const Build *b, TimeList *rows, size_t *first, size_t n_hosts)
{
    size_t kept = 0;
    bool any = false;
    for (size_t i = 0; i < rows->n; i++)
        any |= b->ops.items[rows->items[i].op].op.plane_kind != PLANE_HOST;
    for (size_t h = 0, i = 0; h < n_hosts; h++) {
        size_t end = first[h + 1];
        for (; i < end; i++)
            if (!any || b->ops.items[rows->items[i].op].op.plane_kind != PLANE_HOST)
                rows->items[kept++] = rows->items[i];
        first[h + 1] = kept;
    }
    rows->n = kept;
}

static void scope_ops_release(void *result)
{
    ScopeOps *out = result;
    prof_free(out->rows), prof_free(out->first);
    arena_free(&out->arena);
    prof_free(out);
}

static int read_run(Build *b, Run *run, Host *only, ScopeOps *out, ProfErr *err)
{
    TimeList rows = {0};
    if (!(out->first = prof_alloc((run->n_hosts + 1) * sizeof *out->first))) prof_nomem(err);
    for (size_t h = 0; h < run->n_hosts && !err->code; h++) {
        if (!only || only == &run->hosts[h]) read_host(b, &run->hosts[h], &rows, err);
        out->first[h + 1] = rows.n;
    }
    if (!err->code) keep_devices(b, &rows, out->first, run->n_hosts);
    out->rows = rows.items, out->n_rows = rows.n, out->n_ops = b->ops.n;
    if (!(out->ops = arena_alloc(&out->arena, (b->ops.n + 1) * sizeof *out->ops))) prof_nomem(err);
    for (size_t i = 0; i < b->ops.n && !err->code; i++) out->ops[i] = b->ops.items[i].op;
    return err->code;
}

static void *scope_ops_make(Run *run, Host *only, ProfErr *err)
{
    ScopeOps *out = prof_alloc(sizeof *out);
    if (!out) {
        prof_nomem(err);
        return NULL;
    }
    Build b = {.arena = &out->arena};
    if (read_run(&b, run, only, out, err)) scope_ops_release(out), out = NULL;
    for (size_t i = 0; i < b.ops.n; i++) prof_free(b.ops.items[i].in.items);
    prof_free(b.ops.items), prof_free(b.open.items), prof_free(b.unordered.items);
    hash_free(&b.by_key);
    text_table_free(&b.texts);
    return out;
}

const ScopeOps *run_scope_ops(Run *run, Host *only, ProfErr *err)
{
    static const Analysis analysis = {scope_ops_make, scope_ops_release, NEEDS_ONE_HOST_AT_A_TIME};
    return run_analysis(run, only, &analysis, err);
}
