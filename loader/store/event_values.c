// SPDX-License-Identifier: Apache-2.0
/* event_values.c: typed values of stats; see event_values.h. */
#include "event_values.h"

#include "../base/interrupt.h"
#include "../base/nest.h"
#include "../base/sort.h"
#include "lines.h"

bool stat_value_of(StatValue *fact, const Plane *plane, const Stat *stat, TextTable *texts,
                   Arena *arena)
{
    *fact = (StatValue){.type = stat->type, .u64 = stat->u64};
    if (stat->type == TYPE_REF) fact->type = TYPE_STR, fact->text = stat_ref_text(plane, stat->u64);
    if (stat->type != TYPE_STR) return true;
    fact->text = text_intern(texts, arena, stat->bytes, stat->n_bytes);
    return fact->text != NULL;
}

/* Reads the known stats of a metadata entry into facts[]. Returns how many there are. */
static uint16_t read_meta_facts(const Plane *plane, const EventMeta *meta,
                                KnownValue facts[N_KNOWN_STATS], ProfErr *err)
{
    Host *host = plane->host;
    MetaBytes bytes = {0};
    meta_bytes_read(&bytes, host, meta, err);
    StatIter stats = stat_iter_of_meta(&bytes);
    Stat stat;
    bool seen[N_KNOWN_STATS] = {false};
    uint16_t n = 0;
    while (!err->code && stat_iter_next(&stats, &stat)) {
        enum KnownStat known = stat_known(plane, stat.id);
        if (known == STAT_UNKNOWN || seen[known] || stat.type == TYPE_BYTES ||
            stat.type == TYPE_NONE)
            continue;
        seen[known] = true;
        facts[n].known = known;
        if (!stat_value_of(&facts[n++].fact, plane, &stat, &host->texts, &host->arena))
            prof_nomem(err);
    }
    meta_bytes_free(&bytes);
    return n;
}

int event_meta_values(const Plane *plane, EventMeta *meta, ProfErr *err)
{
    Host *host = plane->host;
    if (!meta->has_stats || atomic_load_explicit(&meta->values_read, memory_order_acquire))
        return PROF_OK;
    pthread_mutex_lock(&host->lock);
    if (!atomic_load_explicit(&meta->values_read, memory_order_relaxed)) {
        KnownValue facts[N_KNOWN_STATS];
        uint16_t n = read_meta_facts(plane, meta, facts, err);
        KnownValue *kept = err->code || !n ? NULL : arena_alloc(&host->arena, n * sizeof *kept);
        if (n && !kept && !err->code) prof_nomem(err);
        if (!err->code) {
            if (n) memcpy(kept, facts, n * sizeof *kept);
            meta->facts = kept, meta->n_facts = n;
            atomic_store_explicit(&meta->values_read, true, memory_order_release);
        }
    }
    pthread_mutex_unlock(&host->lock);
    return err->code;
}

/* ---- of one event ---- */

void event_values_of(EventValues *values, const Plane *plane, EventMeta *meta, uint64_t position)
{
    if (values->texts.n_bytes) arena_free(&values->texts);
    values->plane = plane, values->meta = meta, values->position = position;
    values->own_read = false;
}

/* Returns the known stat if the stat counts; else STAT_UNKNOWN. The first stat of an event counts.
 */
static enum KnownStat counted(const Plane *plane, const Stat *stat)
{
    if (stat->type == TYPE_BYTES || stat->type == TYPE_NONE) return STAT_UNKNOWN;
    return stat_known(plane, stat->id);
}

static void read_own(EventValues *values, Window *window, ProfErr *err)
{
    StatIter stats = stat_iter_at(window, values->position, err);
    Stat stat;
    values->own = (StatSet){0};
    while (!err->code && stat_iter_next(&stats, &stat)) {
        enum KnownStat known = counted(values->plane, &stat);
        if (known == STAT_UNKNOWN || stat_set_has(&values->own, known)) continue;
        stat_set_add(&values->own, known);
        values->by_stat[known] = (StatValue){.type = stat.type, .u64 = stat.u64};
        if (stat.type == TYPE_STR) values->by_stat[known].text = NULL;
        if (stat.type == TYPE_REF)
            values->by_stat[known] =
                (StatValue){.type = TYPE_STR, .text = stat_ref_text(values->plane, stat.u64)};
    }
    values->own_read = !err->code;
}

/* Reads the text of an event's own stat. Texts are read one by one, because few queries need them.
 */
static const Text *own_text(EventValues *values, enum KnownStat known, Window *window, ProfErr *err)
{
    StatIter stats = stat_iter_at(window, values->position, err);
    Stat stat;
    TextTable none = {0}; /* a table of its own, because the text lives only until the next event */
    const Text *text = NULL;
    bool found = false;
    while (!err->code && !found && stat_iter_next(&stats, &stat))
        found = counted(values->plane, &stat) == known;
    if (found) text = text_intern(&none, &values->texts, stat.bytes, stat.n_bytes);
    text_table_free(&none);
    if (!text && !err->code) prof_nomem(err);
    return text;
}

const StatValue *event_values_get(EventValues *values, enum KnownStat known, Window *window,
                                  ProfErr *err)
{
    static const StatValue none;
    EventMeta *meta = values->meta;
    bool some_have =
        atomic_load_explicit(&meta->event_stats[known / 64], memory_order_relaxed) >> (known % 64) &
        1;
    if (some_have && !values->own_read) read_own(values, window, err);
    if (err->code) return &none;
    if (some_have && stat_set_has(&values->own, known)) {
        StatValue *own = &values->by_stat[known];
        if (own->type == TYPE_STR && !own->text) own->text = own_text(values, known, window, err);
        return err->code ? &none : own;
    }
    if (event_meta_values(values->plane, meta, err)) return &none;
    for (uint16_t i = 0; i < meta->n_facts; i++)
        if (meta->facts[i].known == known) return &meta->facts[i].fact;
    return &none;
}

void event_values_free(EventValues *values) { arena_free(&values->texts); }

bool stat_value_integer(const StatValue *fact, int64_t *value)
{
    if (fact->type != TYPE_INT64 && fact->type != TYPE_UINT64) return false;
    *value = fact->integer;
    return true;
}

/* ---- an integer of a line's events ---- */

void integer_reader_open(IntegerReader *reader, Line *line, enum KnownStat known, ProfErr *err)
{
    *reader = (IntegerReader){.line = line, .known = known};
    stat_filter_open(&reader->filter, line->plane, &known, 1, err);
    event_reader_open_for(&reader->events, line, &reader->filter.wanted, err);
}

void integer_reader_close(IntegerReader *reader)
{
    event_reader_close(&reader->events);
    stat_filter_close(&reader->filter);
}

static bool integer_of_meta(IntegerReader *r, EventMeta *meta, int64_t *value)
{
    if (!meta->has_stats) return false;
    if (r->last != meta) {
        r->last = meta, r->last_has = false;
        if (event_meta_values(r->line->plane, meta, r->events.err)) return false;
        for (uint16_t i = 0; i < meta->n_facts; i++)
            if (meta->facts[i].known == r->known)
                r->last_has = stat_value_integer(&meta->facts[i].fact, &r->last_value);
    }
    *value = r->last_value;
    return r->last_has;
}

bool integer_reader_next(IntegerReader *reader, EventAt *at, bool *has, int64_t *value)
{
    unsigned known;
    Stat stat;
    if (!event_reader_next(&reader->events, at)) return false;
    StatIter stats = stat_iter_of_event(at);
    while (reader->filter.any && stat_iter_next_wanted(&stats, &reader->filter, &known, &stat)) {
        if (stat.type == TYPE_BYTES || stat.type == TYPE_NONE) continue;
        *value = stat.integer;
        *has = stat_is_integer(&stat);
        return true;
    }
    *has = integer_of_meta(reader, at->meta, value);
    return !reader->events.err->code;
}

/* ---- correlation ---- */

typedef struct {
    Run *run;
    Correlation *of_lines; /* one for each line, sorted by event */
} CorrelationMaker;

static void correlate_line(void *context, size_t i, ProfErr *err)
{
    const CorrelationMaker *m = context;
    Line *line = m->run->lines[i];
    if (!line->n_events || !plane_declares(line->plane, STAT_CORRELATION_ID)) return;
    IntegerReader reader;
    EventAt e;
    bool has;
    int64_t id;
    integer_reader_open(&reader, line, STAT_CORRELATION_ID, err);
    while (integer_reader_next(&reader, &e, &has, &id)) {
        Correlated *pair = has ? PUSH(m->of_lines[i]) : NULL;
        if (pair)
            *pair = (Correlated){(uint64_t)id, e.event};
        else if (has)
            prof_nomem(err);
    }
    integer_reader_close(&reader);
}

/* Joins the pairs of all lines into one list, sorted by event. */
static void join_lines(CorrelationMaker *m, Correlation *all, ProfErr *err)
{
    for (uint32_t l = 0; l < m->run->n_lines; l++) all->capacity += m->of_lines[l].n;
    if (!(all->items = prof_buffer(all->capacity * sizeof *all->items))) prof_nomem(err);
    for (uint32_t l = 0; l < m->run->n_lines && !err->code; l++) {
        Correlation *line = &m->of_lines[l];
        if (line->n) memcpy(&all->items[all->n], line->items, line->n * sizeof *line->items);
        all->n += line->n;
        prof_free(line->items);
        line->items = NULL;
    }
}

/* Sorts by id with a radix sort, which keeps the order of events with equal ids. */
static void sort_pairs(Correlation *pairs, ProfErr *err)
{
    Correlated *from = pairs->items, *to = prof_buffer(pairs->n * sizeof *to);
    uint64_t varies = 0;
    if (!to) prof_nomem(err);
    for (size_t i = 1; i < pairs->n; i++) varies |= from[i].correlation_id ^ from[0].correlation_id;
    for (unsigned shift = 0; shift < 64 && !interrupt_poll(pairs->n, err); shift += 8) {
        size_t begins[256] = {0}, begin = 0;
        if (!(varies >> shift & 0xff)) continue;
        for (size_t i = 0; i < pairs->n; i++) begins[from[i].correlation_id >> shift & 0xff]++;
        for (size_t b = 0; b < COUNT(begins); b++) {
            size_t n = begins[b];
            begins[b] = begin, begin += n;
        }
        for (size_t i = 0; i < pairs->n; i++)
            to[begins[from[i].correlation_id >> shift & 0xff]++] = from[i];
        Correlated *swapped = from;
        from = to, to = swapped;
    }
    pairs->items = from;
    prof_free(to);
}

static void free_correlation(void *result)
{
    Correlation *pairs = result;
    prof_free(pairs->items);
    prof_free(pairs);
}

static void *make_correlation(Run *run, Host *only, ProfErr *err)
{
    (void)only;
    CorrelationMaker m = {run, prof_alloc(run->n_lines * sizeof *m.of_lines)};
    Correlation *pairs = prof_alloc(sizeof *pairs);
    if (!m.of_lines || !pairs)
        prof_nomem(err);
    else if (!parallel_lines_at(run->lines, run->n_lines, correlate_line, &m, err))
        join_lines(&m, pairs, err);
    if (!err->code) sort_pairs(pairs, err);
    for (uint32_t l = 0; m.of_lines && l < run->n_lines; l++) prof_free(m.of_lines[l].items);
    prof_free(m.of_lines);
    if (err->code && pairs) free_correlation(pairs), pairs = NULL;
    return pairs;
}

const Correlation *run_correlation(Run *run, ProfErr *err)
{
    static const Analysis correlation = {make_correlation, free_correlation, NEEDS_ALL_HOSTS};
    return run_analysis(run, NULL, &correlation, err);
}

/* ---- the device's clock ---- */

typedef struct {
    int64_t start, end, duration; /* on the device's clock if `known`, else the event's own */
    int64_t event_start, event_end;
    uint64_t event; /* index on the line */
    bool known;     /* the event has both device times */
} DeviceSpan;

typedef struct {
    DeviceSpan *spans;
    size_t n;
} Spans;

/* As XProf's op tools read device times: a stat without a value or of another type is 0. */
static DeviceSpan device_span_of(const StatFilter *filter, const EventAt *e)
{
    DeviceSpan span = {
        .start = e->start_ps, .duration = e->duration_ps, .event_start = e->start_ps};
    bool has_start = false, has_duration = false;
    int64_t start = 0, duration = 0;
    unsigned known;
    Stat stat;
    StatIter stats = stat_iter_of_event(e);
    while (filter->any && stat_iter_next_wanted(&stats, filter, &known, &stat)) {
        bool *has = known == STAT_DEVICE_OFFSET_PS ? &has_start : &has_duration;
        if (!*has) *(has == &has_start ? &start : &duration) = (int64_t)stat_int_or_uint(&stat);
        *has = true;
    }
    if (has_start && has_duration) span.start = start, span.duration = duration, span.known = true;
    span.end = add_saturated(span.start, span.duration);
    span.event_end = add_saturated(e->start_ps, e->duration_ps);
    return span;
}

/* Reads the device times of every event of the line. */
static void read_spans(Line *line, Spans *s, ProfErr *err)
{
    static const enum KnownStat wanted[] = {STAT_DEVICE_OFFSET_PS, STAT_DEVICE_DURATION_PS};
    StatFilter filter = {0};
    EventReader reader;
    EventAt e;
    stat_filter_open(&filter, line->plane, wanted, COUNT(wanted), err);
    event_reader_open_for(&reader, line, &filter.wanted, err);
    while (event_reader_next(&reader, &e)) {
        s->spans[s->n] = device_span_of(&filter, &e);
        s->spans[s->n++].event = e.event - line->first_event;
    }
    event_reader_close(&reader);
    stat_filter_close(&filter);
}

static int by_start_then_longest(const void *a, const void *b)
{
    const DeviceSpan *x = a, *y = b;
    return BY_START_THEN_LONGEST(x, y, event_start, event_end, event);
}

typedef struct {
    int64_t start, end;
    int64_t *self;
} OpenSpan;

/* Nests the spans like XProf's op tools, in order of the events. False if memory runs out. */
static bool nest(const Spans *s, bool sorted, int64_t *self)
{
    LIST(OpenSpan) open = {0};
    OpenSpan *opened = NULL;
    if (!sorted) sort_array(s->spans, s->n, sizeof *s->spans, by_start_then_longest);
    for (size_t i = 0; i < s->n; i++) {
        const DeviceSpan *span = &s->spans[i];
        const OpenSpan *around = NEST_AROUND(open, start, end, span->start, span->end, 0);
        if (around && *around->self != INT64_MIN)
            *around->self = add_saturated(
                *around->self, span->duration == INT64_MIN ? INT64_MAX : -span->duration);
        self[span->event] = span->known ? span->duration : INT64_MIN;
        if (!(opened = PUSH(open))) break;
        *opened = (OpenSpan){span->start, span->end, &self[span->event]};
    }
    prof_free(open.items);
    return opened || !s->n;
}

static void *make_device_self(Line *line, ProfErr *err)
{
    Run *run = line->plane->host->run;
    Spans s = {.spans = prof_alloc((size_t)line->n_events * sizeof *s.spans)};
    int64_t *self = arena_alloc(&run->line_arena, (size_t)line->n_events * sizeof *self);
    if (!s.spans || !self)
        prof_nomem(err);
    else
        read_spans(line, &s, err);
    if (!err->code && !nest(&s, line->ordered, self)) prof_nomem(err);
    prof_free(s.spans);
    return err->code ? NULL : self;
}

const int64_t *line_device_self(Line *line, ProfErr *err)
{
    static const LineAnalysis device_self = {make_device_self, NULL};
    bool has_times = plane_declares(line->plane, STAT_DEVICE_DURATION_PS);
    return has_times ? line_analysis(line, &device_self, err) : NULL;
}
