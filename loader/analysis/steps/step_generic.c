// SPDX-License-Identifier: Apache-2.0
/* step_generic.c: builds steps of GPUs and of hosts without devices; see step_parts.h.
 *
 * XProf counts the threads of a host only if it has no device. actual_ps includes what threads did
 * beside a GPU. It also separates compiling, which XProf counts as computing, and ignores events
 * with a duration of 0 or less. */
#include "../../base/interrupt.h"
#include "../../base/search.h"
#include "../../base/sort.h"
#include "step_parts.h"

typedef struct {
    StepBuild *build;
    bool has_device;
    Plane *threads; /* NULL if there are none, or if they do not matter */
    SpanRef *spans; /* of all lines by group, then ops of host threads without a group */
    /* index of the first span of each group, of the ops without a group, and one more */
    size_t *first;
    bool *seen;                   /* in the current plane */
    uint64_t *collectives_ps;     /* by group, in the current plane */
    SweepResult *parity, *actual; /* by group; actual: NULL for outlines */
    Cover *unknown;               /* by group; NULL if not wanted */
    Marker *steps;
} Generic;

/* ---- a GPU's steps: spans of consecutive events with one group (the first stat group_id) ---- */

typedef struct {
    const StepBuild *build;
    Line **lines;
    Marker *markers; /* by group */
    uint32_t group;  /* of the current run; NO_GROUP if none */
    uint64_t begin_ps, end_ps;
} Runs;

static void close_run(Runs *r)
{
    if (r->group != NO_GROUP)
        marker_add(&r->markers[r->group], r->begin_ps, r->end_ps - r->begin_ps);
}

static int64_t group_of(const Runs *r, const SpanRef *span)
{
    return packed_nth(line_groups(r->build->grouping, r->lines[span->line])->groups, span->at);
}

static bool add_step_span(void *context, const SpanRef *span, ProfErr *err)
{
    (void)err;
    Runs *r = context;
    uint32_t last = r->group, group = group_number(&r->build->groups, group_of(r, span), &last);
    uint64_t begin = (uint64_t)span->start_ps, end = begin + (uint64_t)span->duration_ps;
    if (group == NO_GROUP) return true;
    if (group != r->group) {
        close_run(r);
        r->group = group, r->begin_ps = begin, r->end_ps = end;
    }
    if (end > r->end_ps) r->end_ps = end;
    return true;
}

static bool spans_alike(void *context, const SpanRef *a, const SpanRef *b, ProfErr *err)
{
    (void)err;
    return group_of(context, a) == group_of(context, b);
}

static void start_again(void *context)
{
    Runs *r = context;
    r->group = NO_GROUP;
    memset(r->markers, 0, r->build->groups.n * sizeof *r->markers);
}

/* Reads the steps of a line. If XProf grouped the file when it was written, the line is XProf's
 * own. */
static int mark_steps(const StepBuild *b, const Plane *plane, const LineSpans *spans,
                      Marker *markers, ProfErr *err)
{
    bool files_own = b->grouping->by != GROUPED_HERE;
    Runs runs = {.build = b,
                 .markers = markers,
                 .lines = prof_alloc(plane->n_lines * sizeof *runs.lines),
                 .group = NO_GROUP};
    size_t n = 0;
    if (!runs.lines) return prof_nomem(err);
    memset(markers, 0, b->groups.n * sizeof *markers);
    for (size_t i = 0; i < plane->n_lines; i++) {
        Line *line = &b->host->lines[plane->first_line + i];
        if (!line->derived) runs.lines[n++] = line;
        for (size_t k = 0; files_own && k < spans[i].n_markers; k++)
            marker_add(&markers[spans[i].markers[k].group], spans[i].markers[k].begin_ps,
                       spans[i].markers[k].duration_ps);
    }
    const SpanVisitor visitor = {&runs, add_step_span, spans_alike, start_again};
    if (!files_own && spans_walk(runs.lines, n, &visitor, err)) close_run(&runs);
    prof_free(runs.lines);
    return err->code;
}

/* Adds a collective. XProf uses its start on the session's clock, but its end relative to the line.
 */
static void add_collective(Generic *g, const Line *of, const SpanRef *span)
{
    g->build->facts[span->line].n_collectives++;
    g->collectives_ps[span->line] += (uint64_t)span->duration_ps - (uint64_t)of->start_ps;
}

static void add_line_facts(Generic *g, const Line *of, const LineSpans *line, const bool *counts)
{
    GroupFacts *facts = g->build->facts;
    for (size_t i = 0; i < line->n_transfers; i++) {
        StepTransfers *to = &facts[line->transfers[i].group].transfers[line->transfers[i].kind];
        const StepTransfers *what = &line->transfers[i].what;
        to->count += what->count, to->ps += what->ps, to->bytes += what->bytes;
    }
    for (size_t i = 0; i < line->n; i++) {
        uint32_t group = line->spans[i].line;
        bool is_collective = span_actual_type(&line->spans[i]) == TIME_COLLECTIVES;
        if (is_collective && counts[group] && (line->spans[i].at & SPAN_COUNTS))
            add_collective(g, of, &line->spans[i]);
    }
}

/* Keeps the groups of a plane that have both a marker and events. */
static void join_plane(Generic *g, const Plane *plane, LineSpans *lines, const Marker *markers)
{
    GroupFacts *facts = g->build->facts;
    size_t n = g->build->groups.n, n_lines = plane->n_lines;
    memset(g->seen, 0, n);
    memset(g->collectives_ps, 0, n * sizeof *g->collectives_ps);
    for (size_t i = 0; i < n_lines; i++)
        for (size_t k = 0; k < lines[i].n; k++)
            g->seen[lines[i].spans[k].line] |= (lines[i].spans[k].at & SPAN_COUNTS) != 0;
    for (size_t k = 0; k < n; k++) {
        facts[k].has_events |= g->seen[k];
        facts[k].device.there |= markers[k].there; /* with duration 0 until now */
        if (g->seen[k] && markers[k].there)
            marker_add(&g->steps[k], markers[k].begin_ps, markers[k].duration_ps);
        g->seen[k] &= markers[k].there;
    }
    for (size_t i = 0; i < n_lines; i++) {
        add_line_facts(g, &g->build->host->lines[plane->first_line + i], &lines[i], g->seen);
        for (size_t k = 0; k < lines[i].n; k++)
            if (!g->seen[lines[i].spans[k].line]) lines[i].spans[k].at &= ~(uint32_t)SPAN_COUNTS;
    }
    for (size_t k = 0; k < n; k++)
        if (g->collectives_ps[k] > facts[k].xprof_all_reduce_ps)
            facts[k].xprof_all_reduce_ps = g->collectives_ps[k];
}

/* ---- spans by group ---- */

static int scatter(Generic *g, const LineSpans *lines, size_t n_lines, ProfErr *err)
{
    size_t n_groups = g->build->groups.n, n = 0;
    size_t *place = g->first = prof_alloc((n_groups + 3) * sizeof *place);
    if (!place) return prof_nomem(err);
    for (size_t i = 0; i < n_lines; i++)
        for (size_t k = 0; k < lines[i].n; k++) {
            if (k % CHUNK_EVENTS == 0 && interrupt_poll(CHUNK_EVENTS, err)) return err->code;
            place[lines[i].spans[k].line + 2]++, n++;
        }
    for (size_t k = 2; k < n_groups + 3; k++) place[k] += place[k - 1];
    if (!(g->spans = prof_buffer(n * sizeof *g->spans))) return prof_nomem(err);
    for (size_t i = 0; i < n_lines; i++)
        for (size_t k = 0; k < lines[i].n; k++) {
            if (k % CHUNK_EVENTS == 0 && interrupt_poll(CHUNK_EVENTS, err)) return err->code;
            g->spans[place[lines[i].spans[k].line + 1]++] = lines[i].spans[k];
        }
    return PROF_OK;
}

ORDER_BY(by_start, SpanRef, start_ps)

/* Joins ops without a group to intervals, because all of them count alike. */
static void join_loose_ops(Generic *g)
{
    size_t n_groups = g->build->groups.n, n = 0;
    SpanRef *ops = g->spans + g->first[n_groups], *end = g->spans + g->first[n_groups + 1];
    if (ops < end) sort_array(ops, (size_t)(end - ops), sizeof *ops, by_start);
    for (const SpanRef *op = ops; op < end; op++) {
        int64_t op_end = add_saturated(op->start_ps, op->duration_ps),
                last_end =
                    n ? add_saturated(ops[n - 1].start_ps, ops[n - 1].duration_ps) : INT64_MIN;
        if (op->duration_ps <= 0 || op_end <= last_end) continue;
        if (!n || op->start_ps > last_end)
            ops[n++] = *op;
        else if (__builtin_sub_overflow(op_end, ops[n - 1].start_ps, &ops[n - 1].duration_ps))
            ops[n - 1].duration_ps = INT64_MAX;
    }
    g->first[n_groups + 1] = g->first[n_groups] + n;
}

/* Sums a group together with ops that have no group. XProf rarely groups the ops of programs on
 * host threads; those that run during a step belong to it. */
static int sweep_with_loose_ops(Generic *g, size_t group, ProfErr *err)
{
    const Marker *step = &g->steps[group];
    const SpanRef *spans = g->spans + g->first[group],
                  *ops = g->spans + g->first[g->build->groups.n];
    size_t n = g->first[group + 1] - g->first[group],
           n_ops = g->first[g->build->groups.n + 1] - g->first[g->build->groups.n], i;
    int64_t begin = (int64_t)step->begin_ps, end = add_saturated(begin, (int64_t)step->duration_ps);
    size_t low =
        LOWER_BOUND(k, 0, n_ops, add_saturated(ops[k].start_ps, ops[k].duration_ps) <= begin);
    for (i = low; i < n_ops && ops[i].start_ps < end; i++) {
    }
    if (i == low)
        return step_sweep(spans, n, true, step->begin_ps, step->duration_ps, &g->actual[group],
                          NULL, err);
    SpanRef *all = prof_alloc((n + i - low) * sizeof *all);
    if (!all) return prof_nomem(err);
    if (n) memcpy(all, spans, n * sizeof *all);
    memcpy(all + n, ops + low, (i - low) * sizeof *all);
    step_sweep(all, n + i - low, true, step->begin_ps, step->duration_ps, &g->actual[group], NULL,
               err);
    prof_free(all);
    return err->code;
}

static void sweep_group(void *context, size_t i, ProfErr *err)
{
    Generic *g = context;
    if (!g->steps[i].there) return;
    if (step_sweep(g->spans + g->first[i], g->first[i + 1] - g->first[i], false,
                   g->steps[i].begin_ps, g->steps[i].duration_ps, &g->parity[i],
                   g->unknown ? &g->unknown[i] : NULL, err))
        return;
    if (g->actual) sweep_with_loose_ops(g, i, err);
}

/* ---- steps ---- */

static bool keep_times(StepBuild *b, StepCore *core, const SweepResult *parity,
                       const SweepResult *actual)
{
    uint64_t *ps = arena_alloc(&b->steps->arena, (actual ? 2 : 1) * sizeof parity->type_ps);
    if (!ps) return false;
    memcpy(ps, parity->type_ps, sizeof parity->type_ps);
    core->type_ps = ps, core->types = parity->types;
    if (!actual) return true;
    memcpy(ps + N_STEP_TYPES, actual->type_ps, sizeof actual->type_ps);
    core->actual_ps = ps + N_STEP_TYPES;
    return true;
}

static enum StepDrop why_dropped(const Generic *g, size_t group)
{
    const GroupFacts *f = &g->build->facts[group];
    const unsigned computes =
        g->has_device ? 1u << TIME_COMPUTE_16 | 1u << TIME_COMPUTE_32 : 1u << TIME_HOST_COMPUTE;
    if (!f->has_events) return STEP_NO_EVENTS;
    if (!g->steps[group].there) return STEP_NO_MARKER;
    if (!g->steps[group].duration_ps) return STEP_NO_TIME;
    return g->parity[group].types & computes ? STEP_KEPT : STEP_NO_COMPUTE;
}

static int add_step(Generic *g, uint32_t group, ProfErr *err)
{
    StepBuild *b = g->build;
    const GroupFacts *f = &b->facts[group];
    if (!f->has_events && !f->device.there && !f->host.there) return PROF_OK;
    HostStep *step = add_host_step(b, group, 1);
    if (!step) return prof_nomem(err);
    step->dropped = why_dropped(g, group);
    const Marker *span = g->steps[group].there ? &g->steps[group] : &f->host;
    if (span->there) step->begin_ps = span->begin_ps, step->duration_ps = span->duration_ps;
    if (!g->steps[group].there) return PROF_OK;
    step->n_cores = 1;
    step->cores[0] = (StepCore){.core_id = 1,
                                .kind = STEP_CORE_GENERIC,
                                .host = b->host,
                                .begin_ps = step->begin_ps,
                                .duration_ps = step->duration_ps,
                                .has_threads = g->threads && g->threads->n_events};
    if (b->is_outline) return PROF_OK;
    if (g->unknown && !keep_unknown(b, step, &g->unknown[group])) return prof_nomem(err);
    return keep_times(b, &step->cores[0], &g->parity[group], g->actual ? &g->actual[group] : NULL)
               ? PROF_OK
               : prof_nomem(err);
}

/* Sets the longest marker of a group on host threads, its name, and the time that it waits for
 * input. */
static void add_host_facts(Generic *g, const LineSpans *lines, size_t n_lines)
{
    GroupFacts *facts = g->build->facts;
    for (size_t i = 0; i < n_lines; i++) {
        for (size_t k = 0; k < lines[i].n_markers; k++) {
            const LineMarker *m = &lines[i].markers[k];
            marker_add(&facts[m->group].host, m->begin_ps, m->duration_ps);
            if (m->name) facts[m->group].name = m->name;
        }
        for (size_t k = 0; k < lines[i].n; k++) {
            if (lines[i].spans[k].line == g->build->groups.n) continue; /* an op without a group */
            GroupFacts *f = &facts[lines[i].spans[k].line];
            enum StepType type = span_type(&lines[i].spans[k]);
            if (type == TIME_WAIT_INPUT || type == TIME_HOST_TO_DEVICE)
                f->host_input_ps += (uint64_t)lines[i].spans[k].duration_ps;
            f->host_spoke = true;
            if (!g->has_device) f->has_events = true;
        }
    }
    for (size_t k = 0; k < g->build->groups.n && !g->has_device; k++)
        if (facts[k].has_events && facts[k].host.there) g->steps[k] = facts[k].host;
}

static int read_planes(Generic *g, LineSpans *spans, ProfErr *err)
{
    StepBuild *b = g->build;
    Plane *threads = g->threads;
    Marker *markers = prof_alloc(b->groups.n * sizeof *markers);
    if (!markers) return prof_nomem(err);
    read_gpu_planes(b, spans, err);
    for (size_t i = 0; i < b->host->n_planes && !err->code; i++) {
        Plane *plane = &b->host->planes[i];
        LineSpans *lines = spans + plane->first_line;
        if (plane->kind != PLANE_GPU) continue;
        if (!mark_steps(b, plane, lines, markers, err)) join_plane(g, plane, lines, markers);
    }
    prof_free(markers);
    if (threads && !err->code &&
        !read_host_plane(b, threads, g->has_device, spans + threads->first_line, err))
        add_host_facts(g, spans + threads->first_line, threads->n_lines);
    /* If there is a device, XProf does not count what the host did. */
    for (size_t i = 0; threads && g->has_device && i < threads->n_lines; i++)
        for (size_t k = 0; k < spans[threads->first_line + i].n; k++)
            spans[threads->first_line + i].spans[k].at &= ~(uint32_t)SPAN_COUNTS;
    return err->code;
}

int generic_steps(StepBuild *build, ProfErr *err)
{
    size_t n = build->groups.n, n_lines = build->host->n_lines;
    bool has_device = build->steps->has_device;
    Generic g = {.build = build,
                 .has_device = has_device,
                 .threads =
                     build->is_outline ? NULL : host_find_plane(build->host, PREFIX_HOST_THREADS)};
    bool tells_times = !build->is_outline;
    LineSpans *spans = prof_alloc(n_lines * sizeof *spans);
    g.seen = prof_alloc(n), g.steps = prof_alloc(n * sizeof *g.steps),
    g.collectives_ps = prof_alloc(n * sizeof *g.collectives_ps);
    g.parity = prof_alloc(n * sizeof *g.parity),
    g.actual = tells_times ? prof_alloc(n * sizeof *g.actual) : NULL;
    g.unknown = build->keeps_unknown ? prof_alloc(n * sizeof *g.unknown) : NULL;
    if (!spans || !g.seen || !g.steps || !g.collectives_ps || !g.parity ||
        (tells_times && !g.actual) || (build->keeps_unknown && !g.unknown))
        prof_nomem(err);
    if (!err->code && !read_planes(&g, spans, err) && !scatter(&g, spans, n_lines, err))
        join_loose_ops(&g);
    for (size_t i = 0; spans && i < n_lines; i++) line_spans_free(&spans[i]);
    if (!err->code) parallel_for(build->host->run->n_workers, n, sweep_group, &g, err);
    for (size_t i = 0; i < n && !interrupt_poll(8, err); i++) {
        if (tells_times) {
            build->steps->compute_16bit_ps += g.parity[i].all_ps[TIME_COMPUTE_16];
            build->steps->compute_32bit_ps += g.parity[i].all_ps[TIME_COMPUTE_32];
            build->steps->compute_16bit_ps_actual += g.actual[i].all_ps[TIME_COMPUTE_16];
            build->steps->compute_32bit_ps_actual += g.actual[i].all_ps[TIME_COMPUTE_32];
        }
        add_step(&g, (uint32_t)i, err);
    }
    for (size_t i = 0; g.unknown && i < n; i++) cover_free(&g.unknown[i]);
    void *owned[] = {spans,    g.seen,    g.steps, g.collectives_ps, g.parity,
                     g.actual, g.unknown, g.spans, g.first};
    for (size_t i = 0; i < COUNT(owned); i++) prof_free(owned[i]);
    return err->code;
}
