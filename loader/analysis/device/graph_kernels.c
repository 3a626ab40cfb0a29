// SPDX-License-Identifier: Apache-2.0
/* graph_kernels.c: see graph_kernels.h.
 *
 * Launches of a graph mostly run the same kernels, so each sequence of kernels is placed once. */
#include "graph_kernels.h"

#include "../../base/interrupt.h"
#include "../../base/list.h"
#include "../../base/sort.h"
#include "../../base/tf_op.h"
#include "program_kernels.h"

typedef struct {
    size_t kernel; /* index of the kernel, in order of time */
    uint64_t launch;
    uint32_t graph;
} Member;

/* The kernels of a launch, and those of the launches that ran the same. */
typedef struct {
    size_t first, n; /* of `placed` */
    uint32_t graph;
} Sequence;

typedef struct {
    Host *host;
    ProgramKernels kernels; /* of a plane */
    LIST(Member) members;
    LIST(KernelGraph) graphs; /* of the host, like the following */
    HashTable graph_by_op;
    LIST(Sequence) sequences;
    HashTable sequence_by_names;
    LIST(PlacedKernel) placed;
    LIST(GraphKernel) found;
} Build;

static const HloModule *program_of_graph(Host *host, const ProgramKernel *kernel, ProfErr *err)
{
    const HloModule *module = hlo_program(host, kernel->program_id, err);
    Slice op = slice_innermost(slice_of(kernel->op));
    return module && hlo_find_position(module, op.text, op.n) < 0 ? module : NULL;
}

/* Returns index + 1 of the graph that a kernel records; 0 if it records none, or with err set. */
static uint32_t graph_of(Build *b, const ProgramKernel *kernel, ProfErr *err)
{
    if (!kernel->has_program || !kernel->op) return 0;
    Slice name = slice_innermost(slice_of(kernel->op));
    uint64_t hash = hash64(text_hash(name.text, name.n) ^ hash64(kernel->program_id));
    HASH_EACH(i, &b->graph_by_op, hash) {
        const KernelGraph *graph = &b->graphs.items[i];
        if (graph->program_id == kernel->program_id && graph->name.n == name.n &&
            !memcmp(graph->name.text, name.text, name.n))
            return graph->module ? (uint32_t)i + 1 : 0;
    }
    KernelGraph made = {program_of_graph(b->host, kernel, err), kernel->program_id, name};
    KernelGraph *place = err->code ? NULL : PUSH_KEYED(b->graphs, &b->graph_by_op, hash);
    if (!place) {
        prof_nomem(err);
        return 0;
    }
    *place = made;
    return made.module ? (uint32_t)b->graphs.n : 0;
}

static void list_members(Build *b, ProfErr *err)
{
    for (size_t i = 0; i < b->kernels.n && !interrupt_poll(1, err); i++) {
        uint32_t graph = graph_of(b, &b->kernels.items[i], err);
        Member *place = graph ? PUSH(b->members) : NULL;
        if (place)
            *place = (Member){i, b->kernels.items[i].launch, graph - 1};
        else if (graph)
            prof_nomem(err);
    }
}

static int by_launch(const void *a, const void *b)
{
    const Member *x = a, *y = b;
    if (x->graph != y->graph) return x->graph < y->graph ? -1 : 1;
    if (x->launch != y->launch) return x->launch < y->launch ? -1 : 1;
    return (x->kernel > y->kernel) - (x->kernel < y->kernel);
}

static const Text *name_of(const Build *b, const Member *member)
{
    return b->kernels.items[member->kernel].meta->name;
}

/* Returns the sequence of kernels that a launch ran, if one like it was placed. */
static const Sequence *known_sequence(const Build *b, const Member *launch, size_t n, uint64_t hash)
{
    HASH_EACH(i, &b->sequence_by_names, hash) {
        const Sequence *s = &b->sequences.items[i];
        size_t k = 0;
        while (k < n && s->n == n && b->placed.items[s->first + k].name == name_of(b, &launch[k]))
            k++;
        if (k == n && s->graph == launch->graph) return s;
    }
    return NULL;
}

static const Sequence *add_sequence(Build *b, const Member *launch, size_t n, uint64_t hash,
                                    ProfErr *err)
{
    Sequence s = {b->placed.n, n, launch->graph};
    for (size_t k = 0; k < n; k++) {
        PlacedKernel *place = PUSH(b->placed);
        if (place) *place = (PlacedKernel){.name = name_of(b, &launch[k])};
        if (!place) prof_nomem(err);
    }
    Sequence *added = err->code ? NULL : PUSH_KEYED(b->sequences, &b->sequence_by_names, hash);
    if (!added) {
        prof_nomem(err);
        return NULL;
    }
    *added = s;
    hlo_place_kernels(b->graphs.items[launch->graph].module, &b->placed.items[s.first], n, err);
    return err->code ? NULL : added;
}

static void add_launch(Build *b, const Member *launch, size_t n, ProfErr *err)
{
    uint64_t hash = launch->graph;
    for (size_t k = 0; k < n; k++)
        hash = hash64(hash ^ (uint64_t)(uintptr_t)name_of(b, &launch[k]));
    const Sequence *s = known_sequence(b, launch, n, hash);
    if (!s) s = add_sequence(b, launch, n, hash, err);
    for (size_t k = 0; s && k < n; k++) {
        const ProgramKernel *kernel = &b->kernels.items[launch[k].kernel];
        GraphKernel *found = PUSH(b->found);
        if (!found) {
            prof_nomem(err);
            return;
        }
        *found = (GraphKernel){kernel->event, sub_saturated(kernel->end_ps, kernel->start_ps),
                               launch->graph, (uint32_t)(s->first + k)};
    }
}

static void read_plane(Build *b, Plane *plane, ProfErr *err)
{
    b->kernels.n = b->members.n = 0;
    read_program_kernels(plane, &b->kernels, err);
    if (!err->code) list_members(b, err);
    sort_array(b->members.items, b->members.n, sizeof *b->members.items, by_launch);
    for (size_t i = 0, end; i < b->members.n && !interrupt_poll(1, err); i = end) {
        const Member *launch = &b->members.items[i];
        for (end = i + 1; end < b->members.n && b->members.items[end].graph == launch->graph &&
                          b->members.items[end].launch == launch->launch;)
            end++;
        add_launch(b, launch, end - i, err);
    }
}

static int by_event(const void *a, const void *b)
{
    const GraphKernel *x = a, *y = b;
    return (x->event > y->event) - (x->event < y->event);
}

static void release(void *result)
{
    GraphKernels *out = result;
    prof_free(out->graphs), prof_free(out->placed), prof_free(out->kernels);
    prof_free(out);
}

static void *make(Run *run, Host *only, ProfErr *err)
{
    Host *host = only ? only : &run->hosts[0];
    GraphKernels *out = prof_alloc(sizeof *out);
    Build b = {.host = host};
    if (!out) prof_nomem(err);
    if (!err->code) host_load_only(host, err);
    for (size_t i = 0; i < host->n_planes && !err->code; i++)
        if (host->planes[i].kind == PLANE_GPU) read_plane(&b, &host->planes[i], err);
    sort_array(b.found.items, b.found.n, sizeof *b.found.items, by_event);
    if (out) *out = (GraphKernels){b.graphs.items, b.placed.items, b.found.items, b.found.n};
    prof_free(b.kernels.items), prof_free(b.members.items), prof_free(b.sequences.items);
    hash_free(&b.graph_by_op), hash_free(&b.sequence_by_names);
    if (err->code && out) release(out), out = NULL;
    return out;
}

const GraphKernels *host_graph_kernels(Host *host, ProfErr *err)
{
    static const Analysis analysis = {make, release, NEEDS_ONE_HOST_AT_A_TIME};
    return run_analysis(host->run, host, &analysis, err);
}
