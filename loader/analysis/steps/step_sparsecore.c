// SPDX-License-Identifier: Apache-2.0
/* step_sparsecore.c: adds SparseCores to the steps of the TensorCores; see step_parts.h.
 *
 * XProf uses neither their own steps nor their groups. What counts is for how long any of their ops
 * ran (sparsecore_busy.c) during the TensorCores' step, in the profiler's time. */
#include "../ops/duty_cycle.h"
#include "../../base/search.h"
#include "../../base/sort.h"
#include "step_parts.h"

typedef struct {
    PsSpan *spans;    /* disjoint and sorted */
    uint64_t *before; /* for each span: total length of the spans before it */
    size_t n;
} Busy;

/* Unites the spans in place. */
static int unite(SpanList *list, Busy *busy, ProfErr *err)
{
    if (list->n && !list->sorted)
        sort_array(list->spans, list->n, sizeof *list->spans, by_span_start);
    *busy =
        (Busy){.spans = list->spans, .before = prof_alloc((list->n + 1) * sizeof *busy->before)};
    if (!busy->before) return prof_nomem(err);
    for (size_t i = 0; i < list->n; i++) {
        PsSpan s = list->spans[i], *last = busy->n ? &busy->spans[busy->n - 1] : NULL;
        if (last && s.begin <= last->end) {
            if (s.end > last->end) last->end = s.end;
        } else {
            busy->spans[busy->n++] = s;
        }
    }
    for (size_t i = 0; i < busy->n; i++)
        busy->before[i + 1] = busy->before[i] + (busy->spans[i].end - busy->spans[i].begin);
    return PROF_OK;
}

/* Returns how long it was busy before a time. */
static uint64_t busy_until(const Busy *busy, uint64_t ps)
{
    size_t low = LOWER_BOUND(i, 0, busy->n, busy->spans[i].end <= ps);
    return busy->before[low] +
           (low < busy->n && busy->spans[low].begin < ps ? ps - busy->spans[low].begin : 0);
}

static int add_plane(StepBuild *b, const Plane *plane, ProfErr *err)
{
    SpanList list = {0};
    Busy busy = {0};
    if (!sparsecore_busy(plane, &list, err) && list.n && !unite(&list, &busy, err))
        for (size_t i = 0; i < b->steps->n_steps; i++) {
            HostStep *step = &b->steps->steps[i];
            if (!step->n_cores) continue;
            uint64_t end_ps = step->begin_ps + step->duration_ps;
            step->cores[step->n_cores++] = (StepCore){
                .core_id = SPARSECORE_IDS + (uint32_t)plane->proto_id,
                .kind = STEP_CORE_SPARSE,
                .host = b->host,
                .plane = plane,
                .begin_ps = step->begin_ps,
                .duration_ps = step->duration_ps,
                .busy_ps = busy_until(&busy, end_ps) - busy_until(&busy, step->begin_ps)};
        }
    prof_free(busy.before);
    span_list_free(&list);
    return err->code;
}

int sparsecore_steps(StepBuild *build, ProfErr *err)
{
    for (size_t i = 0; i < build->host->n_planes && !err->code; i++)
        if (build->host->planes[i].kind == PLANE_SPARSECORE)
            add_plane(build, &build->host->planes[i], err);
    return err->code;
}
