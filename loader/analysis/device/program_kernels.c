// SPDX-License-Identifier: Apache-2.0
/* program_kernels.c: reads the kernels of a GPU; see program_kernels.h. */
#include "program_kernels.h"

#include "../../base/sort.h"
#include "../../store/event_values.h"
#include "../../store/events.h"
#include "work_kind.h"

static const Text *kept_text(Host *host, const Plane *plane, const Stat *stat, ProfErr *err)
{
    if (stat->type == TYPE_REF) return stat_ref_text(plane, stat->u64);
    if (stat->type != TYPE_STR) return NULL;
    return host_text(host, stat->bytes, stat->n_bytes, err);
}

/* Reads the stats of a kernel. The event's own stats come before those of its metadata. */
static void read_facts(ProgramKernel *kernel, Plane *plane, const StatFilter *filter,
                       const EventAt *e, ProfErr *err)
{
    StatIter stats = stat_iter_of_event(e);
    unsigned known;
    Stat stat;
    while (filter->any && stat_iter_next_wanted(&stats, filter, &known, &stat) && !err->code)
        if (known == STAT_PROGRAM_ID && !kernel->has_program && stat_is_integer(&stat))
            kernel->has_program = true, kernel->program_id = stat.u64;
        else if (known == STAT_HLO_MODULE && !kernel->module)
            kernel->module = kept_text(plane->host, plane, &stat, err);
        else if (known == STAT_HLO_OP && !kernel->op)
            kernel->op = kept_text(plane->host, plane, &stat, err);
        else if (known == STAT_CORRELATION_ID && !kernel->has_launch && stat_is_integer(&stat))
            kernel->launch = stat.u64, kernel->has_launch = true;
        else if (known == STAT_GRAPH_ID)
            kernel->in_graph = true;
    if (!e->meta->has_stats || event_meta_values(plane, e->meta, err)) return;
    for (uint16_t i = 0; i < e->meta->n_facts; i++) {
        const KnownValue *of = &e->meta->facts[i];
        bool is_text = of->fact.type == TYPE_STR;
        if (of->known == STAT_PROGRAM_ID && !kernel->has_program && !is_text)
            kernel->has_program = stat_value_integer(&of->fact, (int64_t *)&kernel->program_id);
        else if (of->known == STAT_HLO_MODULE && !kernel->module && is_text)
            kernel->module = of->fact.text;
        else if (of->known == STAT_HLO_OP && !kernel->op && is_text)
            kernel->op = of->fact.text;
    }
}

static void add_kernels(ProgramKernels *kernels, Line *line, const StatFilter *filter,
                        const StatSet *wanted, ProfErr *err)
{
    EventReader reader;
    EventAt e;
    event_reader_open_for(&reader, line, wanted, err);
    while (event_reader_next(&reader, &e) && !err->code) {
        ProgramKernel kernel = {
            .start_ps = e.start_ps,
            .end_ps = add_saturated(e.start_ps, e.duration_ps > 0 ? e.duration_ps : 0),
            .event = e.event,
            .meta = e.meta};
        if (e.occurrences >= 0) continue;
        read_facts(&kernel, line->plane, filter, &e, err);
        if (!kernel.has_program && !kernel.module) continue;
        ProgramKernel *place = PUSH(*kernels);
        if (place)
            *place = kernel;
        else
            prof_nomem(err);
    }
    event_reader_close(&reader);
}

static int by_start(const void *a, const void *b)
{
    const ProgramKernel *x = a, *y = b;
    return BY_START_THEN_LONGEST(x, y, start_ps, end_ps, event);
}

void read_program_kernels(Plane *plane, ProgramKernels *kernels, ProfErr *err)
{
    static const enum KnownStat wanted[] = {STAT_PROGRAM_ID, STAT_HLO_MODULE, STAT_HLO_OP,
                                            STAT_CORRELATION_ID, STAT_GRAPH_ID};
    StatFilter filter;
    StatSet set = {0};
    for (size_t k = 0; k < COUNT(wanted); k++) stat_set_add(&set, wanted[k]);
    stat_filter_open(&filter, plane, wanted, COUNT(wanted), err);
    for (size_t k = 0; k < plane->n_lines && !err->code; k++) {
        Line *line = &plane->host->lines[plane->first_line + k];
        if (line_is_work(line)) add_kernels(kernels, line, &filter, &set, err);
    }
    stat_filter_close(&filter);
    sort_array(kernels->items, kernels->n, sizeof *kernels->items, by_start);
}

bool same_text(const Text *a, const Text *b)
{
    return a == b || (a && b && a->n_bytes == b->n_bytes && !memcmp(a->text, b->text, a->n_bytes));
}

bool same_program(const ProgramKernel *a, const ProgramKernel *b)
{
    return a->has_program == b->has_program &&
           (a->has_program ? a->program_id == b->program_id : same_text(a->module, b->module));
}
