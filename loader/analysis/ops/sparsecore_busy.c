// SPDX-License-Identifier: Apache-2.0
/* sparsecore_busy.c: finds when the ops of a SparseCore ran; see duty_cycle.h.
 *
 * At each moment the innermost op counts, in file order. It counts as running if it is on duty; an
 * op without a category that has an op on duty directly inside does not, because its own activity
 * is unknown. */
#include "device_ops.h"
#include "duty_cycle.h"
#include "../../base/nest.h"
#include "../../store/event_values.h"

enum { NO_PART = UINT32_MAX };

/* A part of an op's span that is not in an op inside it. */
typedef struct {
    PsSpan span;
    uint32_t next;
} Part;

typedef struct {
    PsSpan span;
    uint64_t covered_until;
    uint32_t parts;
    bool has_category, off_duty, has_inside;
} OpenOp;

typedef struct {
    StatFilter filter;
    SpanList busy;
    LIST(OpenOp) open;
    Part *parts; /* of the open ops */
    size_t n_parts, part_capacity;
    bool failed; /* memory ran out */
} OpReader;

static bool add_part(OpReader *r, OpenOp *op, uint64_t until)
{
    if (op->off_duty || until <= op->covered_until) return true;
    if (r->n_parts == NO_PART || !GROW(r->parts, r->n_parts, r->part_capacity)) return false;
    r->parts[r->n_parts] = (Part){{op->covered_until, until}, op->parts};
    op->parts = (uint32_t)r->n_parts++;
    return true;
}

static void close_last(OpReader *r)
{
    OpenOp op = r->open.items[r->open.n];
    bool counts = !op.off_duty && (op.has_category || !op.has_inside),
         good = !counts || add_part(r, &op, op.span.end);
    for (uint32_t i = op.parts; good && counts && i != NO_PART; i = r->parts[i].next)
        good = span_list_add(&r->busy, r->parts[i].span);
    if (!r->open.n) r->n_parts = 0;
    if (!good) r->failed = true;
}

static bool open_op(OpReader *r, const OpenOp *op)
{
    OpenOp *around = NEST_AROUND(r->open, span.begin, span.end, op->span.begin, op->span.end,
                                 close_last(r)),
           *opened;
    if (r->failed) return false;
    if (around) {
        if (!add_part(r, around, op->span.begin)) return false;
        if (around->covered_until < op->span.end) around->covered_until = op->span.end;
        around->has_inside |= !op->off_duty;
    }
    if ((opened = PUSH(r->open))) *opened = *op;
    return opened != NULL;
}

/* Reads an op: the event's own category counts, else its metadata's. */
static OpenOp read_op(const OpReader *r, const Plane *plane, const EventAt *e, ProfErr *err)
{
    OpenOp op = {.span = {(uint64_t)e->start_ps, (uint64_t)e->start_ps + (uint64_t)e->duration_ps},
                 .covered_until = (uint64_t)e->start_ps,
                 .parts = NO_PART};
    StatIter stats = stat_iter_of_event(e);
    Stat stat;
    unsigned known;
    if (stat_iter_next_wanted(&stats, &r->filter, &known, &stat)) {
        op.has_category = true, op.off_duty = op_is_off_duty(stat_text(plane, &stat));
        return op;
    }
    if (event_meta_values(plane, e->meta, err)) return op;
    for (uint16_t i = 0; i < e->meta->n_facts && !op.has_category; i++) {
        const StatValue *fact = &e->meta->facts[i].fact;
        op.has_category = e->meta->facts[i].known == STAT_HLO_CATEGORY;
        op.off_duty =
            op.has_category && fact->type == TYPE_STR && op_is_off_duty(slice_of(fact->text));
    }
    return op;
}

static int read_line(OpReader *r, Line *line, ProfErr *err)
{
    EventReader reader;
    EventAt e;
    event_reader_open_for(&reader, line, &r->filter.wanted, err);
    while (event_reader_next(&reader, &e) && !err->code) {
        OpenOp op = read_op(r, line->plane, &e, err);
        if (!err->code && !open_op(r, &op)) prof_nomem(err);
    }
    event_reader_close(&reader);
    if (!err->code) NEST_CLOSE_ALL(r->open, close_last(r));
    if (r->failed) prof_nomem(err);
    return err->code;
}

bool is_sparse_op_line(const Line *line)
{
    return line->named == NAME_SPARSE_OPS ||
           (line->plane->kind == PLANE_SPARSECORE && line->named == NAME_OPS);
}

int sparsecore_busy(const Plane *plane, SpanList *busy, ProfErr *err)
{
    static const enum KnownStat wanted[] = {STAT_HLO_CATEGORY};
    OpReader r = {0};
    stat_filter_open(&r.filter, plane, wanted, COUNT(wanted), err);
    for (size_t i = plane->first_line; i < plane->first_line + plane->n_lines && !err->code; i++)
        if (is_sparse_op_line(&plane->host->lines[i])) read_line(&r, &plane->host->lines[i], err);
    stat_filter_close(&r.filter);
    prof_free(r.open.items);
    prof_free(r.parts);
    *busy = r.busy;
    return err->code;
}
