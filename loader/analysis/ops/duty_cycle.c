// SPDX-License-Identifier: Apache-2.0
/* duty_cycle.c: computes busy and idle time of chips; see duty_cycle.h. */
#include "duty_cycle.h"

#include "../../base/nest.h"
#include "../../base/sort.h"

bool span_list_add(SpanList *list, PsSpan span)
{
    if (span.end < span.begin) return true;
    PsSpan *last = list->n ? &list->spans[list->n - 1] : NULL;
    if (last && span.begin >= last->begin && span.begin <= last->end) {
        if (span.end > last->end) last->end = span.end;
        return true;
    }
    if (!list->n) list->sorted = true;
    if (last && span.begin < last->begin) list->sorted = false;
    if (!GROW(list->spans, list->n, list->capacity)) return false;
    list->spans[list->n++] = span;
    return true;
}

void span_list_free(SpanList *list)
{
    prof_free(list->spans);
    *list = (SpanList){0};
}

static bool append(SpanList *to, const SpanList *from)
{
    for (size_t i = 0; i < from->n; i++)
        if (!span_list_add(to, from->spans[i])) return false;
    return true;
}

/* Starts separate lists for the two duties. */
static bool split_duties(DutySpans *active)
{
    if (active->differ) return true;
    active->differ = true;
    return append(&active->spans[DUTY_SURE], &active->spans[DUTY_LIKELY]);
}

bool duty_spans_add(DutySpans *active, PsSpan span, unsigned on_duty)
{
    bool likely = on_duty >> DUTY_LIKELY & 1, sure = on_duty >> DUTY_SURE & 1;
    if (likely != sure && !split_duties(active)) return false;
    return (!likely || span_list_add(&active->spans[DUTY_LIKELY], span)) &&
           (!sure || !active->differ || span_list_add(&active->spans[DUTY_SURE], span));
}

void duty_spans_free(DutySpans *active)
{
    for (int d = 0; d < N_DUTIES; d++) span_list_free(&active->spans[d]);
}

/* Adds the op's time up to `until`. The time from there to `from` belongs to an op inside it. */
static bool add_until(DutyLine *line, DutyOp *op, uint64_t until, uint64_t from)
{
    bool good =
        until <= op->from || duty_spans_add(&line->active, (PsSpan){op->from, until}, op->on_duty);
    if (from > op->from) op->from = from;
    return good;
}

static void close_last(DutyLine *line)
{
    DutyOp *op = &line->open.items[line->open.n];
    if (!line->failed) line->failed = !add_until(line, op, op->span.end, op->span.end);
}

bool duty_line_add(DutyLine *line, PsSpan span, unsigned on_duty)
{
    DutyOp *outer = NEST_AROUND(line->open, span.begin, span.end, span.begin, span.end,
                                close_last(line)),
           *opened;
    if (line->failed) return false;
    bool again = outer && outer->on_duty == on_duty && outer->span.begin == span.begin &&
                 outer->span.end == span.end && outer->from == span.begin;
    if (again) return true; /* a repetition changes nothing: do not keep millions of equal ops */
    if (outer && !add_until(line, outer, span.begin, span.end)) return false;
    if ((opened = PUSH(line->open))) *opened = (DutyOp){span, span.begin, on_duty};
    return opened != NULL;
}

bool duty_line_end(DutyLine *line)
{
    NEST_CLOSE_ALL(line->open, close_last(line));
    return !line->failed;
}

void duty_line_free(DutyLine *line)
{
    prof_free(line->open.items);
    duty_spans_free(&line->active);
}

static uint64_t covered_ps(SpanList *list)
{
    if (!list->n) return 0;
    if (!list->sorted) sort_array(list->spans, list->n, sizeof *list->spans, by_span_start);
    uint64_t ps = 0, end = list->spans[0].begin;
    for (size_t i = 0; i < list->n; i++) {
        PsSpan s = list->spans[i];
        if (s.begin < end) s.begin = end;
        if (s.end > s.begin) ps += s.end - s.begin, end = s.end;
    }
    return ps;
}

bool core_duty_join(CoreDuty *duty, DutySpans *active, const Hull *measured)
{
    if (measured->any) hull_add(&duty->measured, (PsSpan){measured->begin, measured->end});
    DutySpans *to = &duty->active;
    if (!to->spans[DUTY_LIKELY].n && !to->differ) {
        duty_spans_free(to);
        *to = *active;
        *active = (DutySpans){0};
        return true;
    }
    if ((to->differ || active->differ) && (!split_duties(to) || !split_duties(active)))
        return false;
    bool good = append(&to->spans[DUTY_LIKELY], &active->spans[DUTY_LIKELY]) &&
                append(&to->spans[DUTY_SURE], &active->spans[DUTY_SURE]);
    duty_spans_free(active);
    return good;
}

ORDER_BY(by_chip, CoreDuty, chip)

int duty_cycle(CoreDuty *cores, size_t n_cores, OpMetricsDb *db, ProfErr *err)
{
    sort_array(cores, n_cores, sizeof *cores, by_chip);
    for (size_t i = 0, k; i < n_cores; i = k) {
        CoreDuty *chip = &cores[i];
        for (k = i + 1; k < n_cores && cores[k].chip == chip->chip; k++)
            if (!core_duty_join(chip, &cores[k].active, &cores[k].measured)) return prof_nomem(err);
        uint64_t all = chip->measured.any ? chip->measured.end - chip->measured.begin : 0;
        uint64_t busy = covered_ps(&chip->active.spans[DUTY_LIKELY]),
                 sure = chip->active.differ ? covered_ps(&chip->active.spans[DUTY_SURE]) : busy;
        db->busy_ps += busy, db->idle_ps += all - busy;
        db->sure_busy_ps += sure, db->sure_idle_ps += all - sure;
    }
    return PROF_OK;
}
