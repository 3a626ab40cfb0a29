// SPDX-License-Identifier: Apache-2.0
/* program_kernels_by_time.c: finds executions of programs from the order of kernels; see
 * program_kernels.h.
 *
 * An execution ends when a kernel of another program follows, or a kernel that the execution
 * already has. Kernels of a CUDA graph record the name of the graph (`command_buffer_1`) as their
 * op. One launch runs all of them. */
#include "../../base/interrupt.h"
#include "../../base/tf_op.h"
#include "../../format/hlo.h"
#include "../program/named_kernels.h"
#include "program_kernels.h"

/* A kernel of a program's op, or a graph, and the last execution that has it. */
typedef struct {
    const ProgramKernel *kernel;
    const EventMeta *meta; /* NULL: the op is a graph, with all its kernels */
    bool once;             /* the entry computation runs it, so it runs once in an execution */
    bool names_entry_op;   /* the name is that of an op of the entry computation; its op is none */
    size_t last_run;
    uint64_t last_launch;
} SeenKernel;

static bool is_named_in(const Xla__HloComputationProto *entry, const Text *kernel)
{
    for (size_t i = 0; entry && i < entry->n_instructions; i++)
        if (hlo_names_kernel(entry->instructions[i]->name, slice_of(kernel))) return true;
    return false;
}

static const HloModule *program_of(const ProgramKernel *kernel, Host *host, ProfErr *err)
{
    return kernel->has_program ? hlo_program(host, kernel->program_id, err) : NULL;
}

static int64_t position_of(const ProgramKernel *kernel, const HloModule *module)
{
    Slice op = slice_innermost(slice_of(kernel->op));
    return module ? hlo_find_position(module, op.text, op.n) : -1;
}

static void find_in_entry(SeenKernel *seen, Host *host, ProfErr *err)
{
    const HloModule *module = program_of(seen->kernel, host, err);
    int64_t at = position_of(seen->kernel, module);
    if (module && at < 0) seen->names_entry_op = is_named_in(hlo_entry(module), seen->meta->name);
    seen->once = at >= 0 && hlo_op(module, (size_t)at).computation == hlo_entry(module);
}

typedef struct {
    PlaneRuns *plane;
    HashTable by_kernel;
    LIST(SeenKernel) seen;
} Splitter;

static SeenKernel *seen_kernel(Splitter *s, const ProgramKernel *kernel, const EventMeta *meta,
                               ProfErr *err)
{
    uint64_t hash = text_hash(kernel->op->text, kernel->op->n_bytes);
    hash = hash64(hash ^ hash64(kernel->program_id + (uint64_t)(uintptr_t)meta));
    HASH_EACH(i, &s->by_kernel, hash) {
        SeenKernel *at = &s->seen.items[i];
        if (at->meta == meta && same_program(at->kernel, kernel) &&
            same_text(at->kernel->op, kernel->op))
            return at;
    }
    SeenKernel made = {.kernel = kernel, .meta = meta, .last_run = SIZE_MAX};
    if (meta) find_in_entry(&made, s->plane->plane->host, err);
    SeenKernel *at = err->code ? NULL : PUSH_KEYED(s->seen, &s->by_kernel, hash);
    if (at)
        *at = made;
    else
        prof_nomem(err);
    return at;
}

/* Returns the kernel, or the graph that it is part of. */
static SeenKernel *seen_work(Splitter *s, const ProgramKernel *kernel, ProfErr *err)
{
    return kernel->op ? seen_kernel(s, kernel, kernel->in_graph ? NULL : kernel->meta, err) : NULL;
}

/* Marks graphs as run by the entry computation if it runs one of their ops. */
static void add_graphs(Splitter *s, ProfErr *err)
{
    for (size_t i = 0; i < s->plane->kernels.n && !interrupt_poll(0, err); i++) {
        const ProgramKernel *kernel = &s->plane->kernels.items[i];
        if (!kernel->op || !kernel->in_graph) continue;
        SeenKernel *one = seen_kernel(s, kernel, kernel->meta, err);
        bool once = one && (one->once || one->names_entry_op);
        SeenKernel *graph = one ? seen_work(s, kernel, err) : NULL;
        if (graph) graph->once |= once;
    }
}

/* Returns whether the kernel or its graph cannot be part of the current execution. */
static bool starts_again(const SeenKernel *seen, const ProgramKernel *kernel, size_t n_runs)
{
    return seen && seen->once && n_runs && seen->last_run == n_runs - 1 &&
           (seen->meta || seen->last_launch != kernel->launch);
}

/* Notes the kernel in its execution: as itself, and as part of its graph. */
static void note_kernel(Splitter *s, SeenKernel *seen, const ProgramKernel *kernel, ProfErr *err)
{
    size_t run = s->plane->runs.n - 1;
    if (!seen) return;
    seen->last_run = run, seen->last_launch = kernel->launch;
    SeenKernel *own = seen->meta ? NULL : seen_kernel(s, kernel, kernel->meta, err);
    if (own) own->last_run = run;
}

void add_runs_by_time(PlaneRuns *p, ProfErr *err)
{
    Splitter s = {.plane = p};
    const ProgramKernel *last = NULL;
    ProgramRun *run = NULL;
    add_graphs(&s, err);
    for (size_t i = 0; i < p->kernels.n && !interrupt_poll(0, err); i++) {
        const ProgramKernel *kernel = &p->kernels.items[i];
        if (kernel->execution) continue;
        SeenKernel *seen = seen_work(&s, kernel, err);
        if (err->code) break;
        bool again = starts_again(seen, kernel, p->runs.n);
        if (!last || again || !same_program(last, kernel)) run = program_run_of(p, kernel, err);
        if (!run) break;
        program_run_extend(run, kernel);
        note_kernel(&s, seen, kernel, err);
        last = kernel;
    }
    hash_free(&s.by_kernel);
    prof_free(s.seen.items);
}
