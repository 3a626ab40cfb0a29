/* sparsecore_busy.c: when the ops of a SparseCore ran; see duty_cycle.h. */
#include "device_ops.h"
#include "duty_cycle.h"

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

int sparsecore_busy(const Plane *plane, SpanList *busy, ProfErr *err)
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
