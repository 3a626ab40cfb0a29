/* step_sparsecore.c: SparseCores in the steps of the TensorCores; see step_parts.h.
 *
 * XProf asks neither for their own steps nor for their groups: what counts is how much of the TensorCores' step any of their
 * ops ran, by the profiler's clock. Of an op without a category that has others inside, only these count. */
#include "duty_cycle.h"
#include "step_parts.h"

typedef struct {
    PsSpan span;
    bool has_category, has_inside;
} OpenOp;

typedef struct {
    StatFilter filter;
    SpanList busy;
    OpenOp *open;
    size_t n_open, capacity;
} OpReader;

typedef struct {
    PsSpan *spans;    /* apart from each other, in order */
    uint64_t *before; /* of each span: how long all before it are */
    size_t n;
} Busy;

static int by_begin(const void *a, const void *b)
{
    const PsSpan *x = a, *y = b;
    return x->begin < y->begin ? -1 : x->begin > y->begin;
}

static bool close_op(OpReader *r)
{
    OpenOp op = r->open[--r->n_open];
    bool counts = (op.has_category || !op.has_inside) && op.span.begin != op.span.end;
    return !counts || span_list_add(&r->busy, op.span);
}

/* Ops are inside each other in the order of the file. */
static bool open_op(OpReader *r, PsSpan span, bool has_category)
{
    while (r->n_open && !span_includes(r->open[r->n_open - 1].span, span))
        if (!close_op(r)) return false;
    if (r->n_open) r->open[r->n_open - 1].has_inside = true;
    if (!GROW(r->open, r->n_open, r->capacity)) return false;
    r->open[r->n_open++] = (OpenOp){.span = span, .has_category = has_category};
    return true;
}

static bool has_category(const OpReader *r, const Plane *plane, const EventAt *e, ProfErr *err)
{
    Stat stat;
    unsigned known;
    if (stat_filter_next(&r->filter, e->message, e->message + e->n_bytes, 4, &known, &stat)) return true;
    if (event_meta_facts(plane, e->meta, err)) return false;
    for (uint16_t i = 0; i < e->meta->n_facts; i++)
        if (e->meta->facts[i].known == STAT_HLO_CATEGORY) return true;
    return false;
}

static int read_line(OpReader *r, Line *line, ProfErr *err)
{
    EventReader reader;
    EventAt e;
    event_reader_open_for(&reader, line, &r->filter.wanted, err);
    while (event_reader_next(&reader, &e) && !err->code) {
        PsSpan span = {(uint64_t)e.start_ps, (uint64_t)e.start_ps + (uint64_t)e.duration_ps};
        bool category = has_category(r, line->plane, &e, err);
        if (!err->code && !open_op(r, span, category)) prof_nomem(err);
    }
    event_reader_close(&reader);
    while (r->n_open && !err->code)
        if (!close_op(r)) prof_nomem(err);
    return err->code;
}

/* When ops of the plane ran; to be freed by the caller. */
static int read_plane(const Plane *plane, SpanList *busy, ProfErr *err)
{
    static const enum KnownStat wanted[] = {STAT_HLO_CATEGORY};
    OpReader r = {0};
    stat_filter_open(&r.filter, plane, wanted, COUNT(wanted), err);
    for (size_t i = plane->first_line; i < plane->first_line + plane->n_lines && !err->code; i++)
        if (!strcmp(plane->host->lines[i].name->text, "Sparse Core Ops")) read_line(&r, &plane->host->lines[i], err);
    stat_filter_close(&r.filter);
    prof_free(r.open);
    *busy = r.busy;
    return err->code;
}

/* Unites the spans in place. */
static int unite(SpanList *list, Busy *busy, ProfErr *err)
{
    if (list->n && !list->sorted) qsort(list->spans, list->n, sizeof *list->spans, by_begin);
    *busy = (Busy){.spans = list->spans, .before = prof_alloc((list->n + 1) * sizeof *busy->before)};
    if (!busy->before) return prof_nomem(err);
    for (size_t i = 0; i < list->n; i++) {
        PsSpan s = list->spans[i], *last = busy->n ? &busy->spans[busy->n - 1] : NULL;
        if (last && s.begin <= last->end) {
            if (s.end > last->end) last->end = s.end;
        } else {
            busy->spans[busy->n++] = s;
        }
    }
    for (size_t i = 0; i < busy->n; i++) busy->before[i + 1] = busy->before[i] + (busy->spans[i].end - busy->spans[i].begin);
    return PROF_OK;
}

/* How long it was busy before a moment. */
static uint64_t busy_until(const Busy *busy, uint64_t ps)
{
    size_t low = 0, high = busy->n;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (busy->spans[middle].end <= ps)
            low = middle + 1;
        else
            high = middle;
    }
    return busy->before[low] + (low < busy->n && busy->spans[low].begin < ps ? ps - busy->spans[low].begin : 0);
}

static int add_plane(StepBuild *b, const Plane *plane, ProfErr *err)
{
    SpanList list = {0};
    Busy busy = {0};
    if (!read_plane(plane, &list, err) && list.n && !unite(&list, &busy, err))
        for (size_t i = 0; i < b->steps->n_steps; i++) {
            HostStep *step = &b->steps->steps[i];
            if (!step->n_cores) continue;
            uint64_t end_ps = step->begin_ps + step->duration_ps;
            step->cores[step->n_cores++] = (StepCore){.core_id = SPARSECORE_IDS + (uint32_t)plane->proto_id,
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
        if (build->host->planes[i].kind == PLANE_SPARSECORE) add_plane(build, &build->host->planes[i], err);
    return err->code;
}
