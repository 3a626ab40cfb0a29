// SPDX-License-Identifier: Apache-2.0
/* event_values.c: typed values out of stats; see event_values.h. */
#include "event_values.h"

#include "../base/interrupt.h"
#include "../base/nest.h"
#include "../base/sort.h"
#include "events.h"

bool stat_value_of(StatValue *fact, const Plane *plane, const Stat *stat, TextTable *texts,
                   Arena *arena)
{
    *fact = (StatValue){.type = stat->type, .u64 = stat->u64};
    if (stat->type == TYPE_REF) fact->type = TYPE_STR, fact->text = stat_ref_text(plane, stat->u64);
    if (stat->type != TYPE_STR) return true;
    fact->text = text_intern(texts, arena, stat->bytes, stat->n_bytes);
    return fact->text != NULL;
}

/* Reads the facts of a metadata entry into facts[]. Returns how many there are. */
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
    if (!meta->has_stats) return PROF_OK;
    pthread_mutex_lock(&host->lock);
    if (!meta->values_read) {
        KnownValue facts[N_KNOWN_STATS];
        uint16_t n = read_meta_facts(plane, meta, facts, err);
        KnownValue *kept = err->code || !n ? NULL : arena_alloc(&host->arena, n * sizeof *kept);
        if (n && !kept && !err->code) prof_nomem(err);
        if (!err->code) {
            if (n) memcpy(kept, facts, n * sizeof *kept);
            meta->facts = kept, meta->n_facts = n, meta->values_read = true;
        }
    }
    pthread_mutex_unlock(&host->lock);
    return err->code;
}

int event_values_read(EventValues *facts, const Plane *plane, EventMeta *meta, uint64_t position,
                      Window *window, ProfErr *err)
{
    arena_free(&facts->texts);
    memset(facts->by_stat, 0, sizeof facts->by_stat);
    StatIter stats = stat_iter_at(window, position, err);
    if (err->code) return err->code;
    Stat stat;
    while (stat_iter_next(&stats, &stat)) {
        enum KnownStat known = stat_known(plane, stat.id);
        if (known == STAT_UNKNOWN || facts->by_stat[known].type || stat.type == TYPE_BYTES)
            continue;
        TextTable none = {0}; /* a table of its own: the text lives until the next event */
        bool memory = stat_value_of(&facts->by_stat[known], plane, &stat, &none, &facts->texts);
        text_table_free(&none);
        if (!memory) return facts->by_stat[known].type = TYPE_NONE, prof_nomem(err);
    }
    if (event_meta_values(plane, meta, err)) return err->code;
    for (uint16_t i = 0; i < meta->n_facts; i++)
        if (!facts->by_stat[meta->facts[i].known].type)
            facts->by_stat[meta->facts[i].known] = meta->facts[i].fact;
    return PROF_OK;
}

void event_values_free(EventValues *facts) { arena_free(&facts->texts); }

bool stat_value_integer(const StatValue *fact, int64_t *value)
{
    if (fact->type != TYPE_INT64 && fact->type != TYPE_UINT64) return false;
    return *value = fact->integer, true;
}

/* Reads the facts of every event of a line, in stored order. */
static int each_fact(Line *line,
                     void (*take)(void *context, const EventAt *event, const EventValues *facts),
                     void *context, ProfErr *err)
{
    EventValues *facts = prof_alloc(sizeof *facts);
    Window stats = {.file = &line->plane->host->file};
    EventReader reader;
    EventAt e;
    if (!facts) return prof_nomem(err);
    event_reader_open(&reader, line, 0, err);
    while (event_reader_next(&reader, &e) &&
           !event_values_read(facts, line->plane, e.meta, e.stored.position, &stats, err))
        take(context, &e, facts);
    event_reader_close(&reader);
    window_free(&stats);
    event_values_free(facts);
    prof_free(facts);
    return err->code;
}

/* ---- correlation ---- */

typedef struct {
    Correlation pairs;
    bool failed;
} CorrelationMaker;

static void add_pair(void *context, const EventAt *event, const EventValues *facts)
{
    CorrelationMaker *m = context;
    int64_t id;
    if (m->failed || !stat_value_integer(&facts->by_stat[STAT_CORRELATION_ID], &id)) return;
    Correlated *pair = PUSH(m->pairs);
    if (pair)
        *pair = (Correlated){(uint64_t)id, event->event};
    else
        m->failed = true;
}

static int by_correlation(const void *a, const void *b)
{
    const Correlated *x = a, *y = b;
    if (x->correlation_id != y->correlation_id)
        return x->correlation_id < y->correlation_id ? -1 : 1;
    return x->event < y->event ? -1 : x->event > y->event;
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
    CorrelationMaker m = {0};
    Correlation *pairs = prof_alloc(sizeof *pairs);
    for (uint32_t l = 0; l < run->n_lines && !err->code; l++)
        if (plane_declares(run->lines[l]->plane, STAT_CORRELATION_ID))
            each_fact(run->lines[l], add_pair, &m, err);
    if (m.failed || !pairs) prof_nomem(err);
    sort_array(m.pairs.items, m.pairs.n, sizeof *m.pairs.items, by_correlation);
    if (pairs && !err->code) return *pairs = m.pairs, pairs;
    prof_free(m.pairs.items);
    prof_free(pairs);
    return NULL;
}

const Correlation *run_correlation(Run *run, ProfErr *err)
{
    static const Analysis correlation = {make_correlation, free_correlation, NEEDS_ALL_HOSTS};
    return run_analysis(run, NULL, &correlation, err);
}

/* ---- the device's clock ---- */

typedef struct {
    int64_t start, end, duration;
    uint64_t event; /* on the line */
    bool known;     /* the file has the device's times; else the event's own are used */
} DeviceSpan;

typedef struct {
    uint64_t first_event;
    DeviceSpan *spans;
    size_t n;
} Spans;

static void add_span(void *context, const EventAt *event, const EventValues *facts)
{
    Spans *s = context;
    int64_t start, duration;
    bool known = stat_value_integer(&facts->by_stat[STAT_DEVICE_DURATION_PS], &duration) &&
                 stat_value_integer(&facts->by_stat[STAT_DEVICE_OFFSET_PS], &start);
    if (!known) start = event->start_ps, duration = event->duration_ps;
    s->spans[s->n++] = (DeviceSpan){start, add_saturated(start, duration), duration,
                                    event->event - s->first_event, known};
}

static int by_start_then_longest(const void *a, const void *b)
{
    const DeviceSpan *x = a, *y = b;
    return BY_START_THEN_LONGEST(x, y, start, end, event);
}

typedef struct {
    int64_t start, end;
    int64_t *self;
} OpenSpan;

/* Nests as XProf's op tools do, after ordering the spans. False: no memory. */
static bool nest(const Spans *s, int64_t *self)
{
    LIST(OpenSpan) open = {0};
    OpenSpan *opened = NULL;
    sort_array(s->spans, s->n, sizeof *s->spans, by_start_then_longest);
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
    Spans s = {.first_event = line->first_event,
               .spans = prof_alloc((size_t)line->n_events * sizeof *s.spans)};
    int64_t *self = arena_alloc(&run->line_arena, (size_t)line->n_events * sizeof *self);
    if (!s.spans || !self)
        prof_nomem(err);
    else if (!each_fact(line, add_span, &s, err) && !nest(&s, self))
        prof_nomem(err);
    prof_free(s.spans);
    return err->code ? NULL : self;
}

const int64_t *line_device_self(Line *line, ProfErr *err)
{
    static const LineAnalysis device_self = {make_device_self, NULL};
    bool has_times = plane_declares(line->plane, STAT_DEVICE_DURATION_PS);
    return has_times ? line_analysis(line, &device_self, err) : NULL;
}
