// SPDX-License-Identifier: Apache-2.0
/* device_ops.c: sums the events of TPU op lines by metadata; see device_ops.h. */
#include "device_ops.h"

#include "../../base/nest.h"
#include "../../base/sort.h"
#include "../../store/lines.h"

int by_span_start(const void *a, const void *b)
{
    return ORDER(((const PsSpan *)a)->begin, ((const PsSpan *)b)->begin);
}

void hull_add(Hull *hull, PsSpan span)
{
    if (!hull->any || span.begin < hull->begin) hull->begin = span.begin;
    if (!hull->any || span.end > hull->end) hull->end = span.end;
    hull->any = true;
}

/* ---- the op of an event ---- */

const enum KnownStat op_fact_stats[] = {
    STAT_DEVICE_OFFSET_PS,
    STAT_DEVICE_DURATION_PS,
    STAT_TIME_SCALE,
    STAT_MIN_DURATION_PS,
    STAT_DMA_STALL_PS,
    STAT_ENERGY_J,
    STAT_OFFLOAD_CORE_ID,
    STAT_OFFLOAD_START_ID,
    STAT_TF_OP,
    STAT_ASYNC,
    STAT_FLOPS,
    STAT_MODEL_FLOPS,
    STAT_ALL_REDUCE_ID,
};
const size_t n_op_fact_stats = COUNT(op_fact_stats);

OpFacts op_facts(const StatFilter *filter, const EventAt *e)
{
    OpFacts f = {.event = {(uint64_t)e->start_ps, (uint64_t)e->start_ps + (uint64_t)e->duration_ps},
                 .min_ps = (uint64_t)e->duration_ps};
    Stat stat, offset_stat = event_stat(e, STAT_COLUMN_DEVICE_OFFSET),
               duration_stat = event_stat(e, STAT_COLUMN_DEVICE_DURATION);
    bool has_offset = offset_stat.type != TYPE_NONE, has_duration = duration_stat.type != TYPE_NONE;
    uint64_t offset = stat_int_or_uint(&offset_stat), duration = stat_int_or_uint(&duration_stat);
    if (event_column_kept(e, STAT_COLUMN_TF_OP)) {
        Stat tf_op = event_stat(e, STAT_COLUMN_TF_OP);
        f.has_tf_op = tf_op.type != TYPE_NONE,
        f.tf_op_is_empty = !event_stat_text(filter->plane, &tf_op)->n_bytes;
    }
    unsigned known;
    StatIter stats = stat_iter_of_event(e);
    while (stat_iter_next_wanted(&stats, filter, &known, &stat)) switch (known) {
        case STAT_DEVICE_OFFSET_PS:
            if (!has_offset) has_offset = true, offset = stat_int_or_uint(&stat);
            break;
        case STAT_DEVICE_DURATION_PS:
            if (!has_duration) has_duration = true, duration = stat_int_or_uint(&stat);
            break;
        case STAT_TIME_SCALE: f.has_scale = true, f.scale = stat_double(&stat); break;
        case STAT_MIN_DURATION_PS: f.min_ps = (uint64_t)stat_int(&stat); break;
        case STAT_DMA_STALL_PS: f.dma_stall_ps = (uint64_t)stat_int(&stat); break;
        case STAT_ENERGY_J: f.has_energy = true, f.energy_j = stat_double(&stat); break;
        case STAT_OFFLOAD_CORE_ID:
            f.has_core_id = true, f.core_id_unsigned = stat.type == TYPE_UINT64 ? stat.u64 : 0;
            break;
        case STAT_OFFLOAD_START_ID:
            f.has_start_id = true;
            f.start_id_unsigned = stat.type == TYPE_UINT64 ? stat.u64 : 0,
            f.start_id_signed = (uint64_t)stat_int(&stat);
            break;
        case STAT_FLOPS:
            f.has_flops = true, f.flops_known = stat_is_integer(&stat),
            f.flops = stat_int_or_uint(&stat), f.flops_positive = is_positive_int32(f.flops);
            break;
        case STAT_MODEL_FLOPS:
            f.has_model_flops = true, f.model_flops_known = stat_is_integer(&stat),
            f.model_flops = stat_int_or_uint(&stat),
            f.model_flops_positive = is_positive_int32(f.model_flops);
            break;
        case STAT_TF_OP:
            f.has_tf_op = true, f.tf_op_is_empty = !stat_text(filter->plane, &stat).n;
            break;
        case STAT_ALL_REDUCE_ID: f.names_all_reduce = true; break;
        case STAT_ASYNC: f.is_async = stat_int(&stat) != 0; break;
        default: break;
        }
    f.device = has_offset && has_duration ? (PsSpan){offset, offset + duration} : f.event;
    return f;
}

/* ---- sums ---- */

static OpSums *sums_of(OpSummer *s, const EventMeta *meta)
{
    if (!s->index && !(s->index = prof_alloc(s->plane->n_event_metas * sizeof *s->index)))
        return NULL;
    uint32_t *at = &s->index[meta - s->plane->event_metas];
    if (!*at) {
        if (!GROW(s->sums, s->n, s->capacity)) return NULL;
        s->sums[s->n] = (OpSums){.meta = meta, .min_ps = UINT64_MAX};
        *at = (uint32_t)++s->n;
    }
    return &s->sums[*at - 1];
}

/* Opens a span. Returns the sums of the op around it; NULL if there is none. */
static OpSums *around(OpSummer *s, OpStack *stack, PsSpan span)
{
    const OpenSpan *top = NEST_AROUND(*stack, span.begin, span.end, span.begin, span.end, 0);
    return top ? &s->sums[top->sums] : NULL;
}

/* Pushes a span. If it equals the one around it, one entry represents both: nothing else is
 * directly inside the outer one, and they end together. */
static bool push(OpStack *stack, PsSpan span, uint32_t sums)
{
    OpenSpan *top = NEST_INNERMOST(*stack);
    if (top && top->span.begin == span.begin && top->span.end == span.end) {
        top->sums = sums;
        return true;
    }
    if ((top = PUSH(*stack))) *top = (OpenSpan){span, sums};
    return top != NULL;
}

int64_t op_summer_add(OpSummer *s, const EventMeta *meta, int64_t occurrences, const OpFacts *f,
                      double default_scale, ProfErr *err)
{
    OpSums *sums = sums_of(s, meta);
    if (!sums) {
        prof_nomem(err);
        return -1;
    }
    if (sums->n_events++ &&
        !sums->occurrences) { /* XProf treats an op whose uint32 of occurrences is 0 as a new one */
        *sums = (OpSums){.meta = meta,
                         .min_ps = UINT64_MAX,
                         .n_events = sums->n_events,
                         .own_flops = sums->own_flops,
                         .own_model_flops = sums->own_model_flops,
                         .n_own = sums->n_own,
                         .executions = sums->executions};
        host_issue_in_file(
            s->plane->host, "warning", "occurrences_overflow", s->plane->span.offset, 0, s->plane,
            "the occurrences of aggregated events are a multiple of 2^32; XProf then loses "
            "the earlier time of their ops");
    }
    uint64_t time = f->device.end - f->device.begin, event_time = f->event.end - f->event.begin;
    OpSums *outer = around(s, &s->device, f->device), *event_outer = around(s, &s->event, f->event);
    if (outer) outer->self_ps -= time;
    if (event_outer) event_outer->event_self_ps -= event_time;
    uint64_t n = occurrences > 1 ? (uint64_t)occurrences : 1;
    sums->occurrences += (uint32_t)n, sums->executions += n;
    if (f->flops_known) {
        sums->n_own += n;
        sums->own_flops += (double)f->flops * (double)n,
            sums->own_model_flops +=
            (double)(f->model_flops_known ? f->model_flops : f->flops) * (double)n;
    }
    sums->time_ps += time, sums->self_ps += time;
    sums->event_time_ps += event_time, sums->event_self_ps += event_time;
    if (f->min_ps < sums->min_ps) sums->min_ps = f->min_ps;
    sums->normalized_ps += truncated((double)time * (f->has_scale ? f->scale : default_scale));
    sums->dma_stall_ps += f->dma_stall_ps;
    sums->has_energy |= f->has_energy, sums->energy_j += f->energy_j;
    uint32_t position = (uint32_t)(sums - s->sums);
    if (push(&s->device, f->device, position) && push(&s->event, f->event, position))
        return position;
    prof_nomem(err);
    return -1;
}

void op_summer_close_spans(OpSummer *s) { s->device.n = s->event.n = 0; }

void op_summer_free(OpSummer *s)
{
    prof_free(s->sums);
    prof_free(s->index);
    prof_free(s->device.items);
    prof_free(s->event.items);
}

/* ---- walking a line ---- */

/* An event while it is sorted. Only 16 bytes, because a small file may have many. */
typedef struct {
    int64_t key;    /* its start; then, for those that start together, its duration */
    uint32_t index; /* index on the line */
} Placed;

ORDER_BY_TWO(by_start, Placed, key, index)

static int longer_first(const void *a, const void *b)
{
    const Placed *x = a, *y = b;
    if (x->key != y->key) return ORDER(y->key, x->key);
    return ORDER(x->index, y->index);
}

/* Sorts events that start together. There are few, so their durations are read again. */
static bool order_together(Line *line, EventFinder *finder, Placed *events, size_t n, ProfErr *err)
{
    EventAt e;
    if (n < 2) return true;
    for (size_t i = 0; i < n; i++) {
        if (!event_find(finder, line, events[i].index, 0, &e, err)) return false;
        events[i].key = e.duration_ps;
    }
    sort_in_place(events, n, sizeof *events, longer_first);
    return true;
}

static bool order_events(Line *line, EventFinder *finder, Placed *events, ProfErr *err)
{
    EventReader reader;
    EventAt e;
    size_t n = 0;
    event_reader_open(&reader, line, 0, err);
    for (; event_reader_next(&reader, &e); n++) events[n] = (Placed){e.start_ps, (uint32_t)n};
    event_reader_close(&reader);
    if (err->code) return false;
    sort_in_place(events, n, sizeof *events, by_start);
    for (size_t first = 0, end; first < n; first = end) {
        for (end = first + 1; end < n && events[end].key == events[first].key;) end++;
        if (!order_together(line, finder, events + first, end - first, err)) return false;
    }
    return true;
}

static int each_sorted(Line *line, bool (*take)(void *context, const EventAt *e, ProfErr *err),
                       void *context, ProfErr *err)
{
    if (line->n_events > UINT32_MAX) return line_too_long(line, "sorted", err);
    Placed *events = prof_buffer((size_t)line->n_events * sizeof *events);
    EventFinder *finder = prof_alloc(sizeof *finder);
    EventAt e;
    if (!events || !finder) prof_nomem(err);
    if (!err->code && order_events(line, finder, events, err))
        for (size_t i = 0; i < line->n_events &&
                           event_find(finder, line, events[i].index, EVENT_STATS, &e, err) &&
                           take(context, &e, err);)
            i++;
    if (finder) event_finder_close(finder);
    prof_free(finder);
    prof_free(events);
    return err->code;
}

int each_event(Line *line, const StatFilter *filter, bool sorted,
               bool (*take)(void *context, const EventAt *e, ProfErr *err), void *context,
               ProfErr *err)
{
    if (sorted && !line->ordered) return each_sorted(line, take, context, err);
    EventReader reader;
    EventAt e;
    event_reader_open_beside_columns(&reader, line, &filter->wanted, err);
    while (event_reader_next(&reader, &e) && take(context, &e, err)) {
    }
    event_reader_close(&reader);
    return err->code;
}
