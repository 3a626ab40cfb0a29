/* facts.c: typed values out of stats; see facts.h. */
#include "facts.h"

#include "../format/xspace.h"

int event_facts_read(EventFacts *facts, const Plane *plane, EventMeta *meta, uint64_t position, Window *window, ProfErr *err)
{
    arena_free(&facts->texts);
    memset(facts->by_stat, 0, sizeof facts->by_stat);
    size_t n;
    const uint8_t *p = event_message(window, position, &n, err), *end = p ? p + n : NULL;
    if (!p) return err->code;
    Stat stat;
    while ((p = stat_next(p, end, 4, &stat))) {
        const StatMeta *sm = stat_meta(plane, stat.id);
        if (!sm || sm->known == STAT_UNKNOWN || facts->by_stat[sm->known].type || stat.type == TYPE_BYTES) continue;
        Fact *fact = &facts->by_stat[sm->known];
        *fact = (Fact){.type = stat.type, .natural = stat.natural};
        if (stat.type == TYPE_REF) fact->type = TYPE_STR, fact->text = stat_ref_text(plane, stat.natural);
        if (stat.type == TYPE_STR) {
            TextTable none = {0}; /* a table of its own: the text lives until the next event */
            fact->text = text_intern(&none, &facts->texts, stat.bytes, stat.n_bytes);
            text_table_free(&none);
            if (!fact->text) return fact->type = TYPE_NONE, prof_nomem(err);
        }
    }
    if (event_meta_facts(plane, meta, err)) return err->code;
    for (uint16_t i = 0; i < meta->n_facts; i++)
        if (!facts->by_stat[meta->facts[i].known].type) facts->by_stat[meta->facts[i].known] = meta->facts[i].fact;
    return PROF_OK;
}

void event_facts_free(EventFacts *facts) { arena_free(&facts->texts); }

bool fact_integer(const Fact *fact, int64_t *value)
{
    if (fact->type != TYPE_INT64 && fact->type != TYPE_UINT64) return false;
    return *value = fact->integer, true;
}

/* Reads the facts of every event of a line, in stored order. */
static int each_fact(Line *line, void (*take)(void *context, uint64_t event, const EventFacts *facts), void *context, ProfErr *err)
{
    ChunkValues *v = prof_alloc(sizeof *v);
    EventFacts *facts = prof_alloc(sizeof *facts);
    Window chunks = {.file = &line->plane->host->file}, stats = chunks;
    if (!v || !facts) prof_nomem(err);
    uint64_t event = line->first_event;
    for (size_t c = 0; c < line->n_chunks && !err->code; c++) {
        if (chunk_read(line, &line->chunks[c], 1 << COL_META | 1 << COL_POSITION, v, &chunks, err)) break;
        for (uint32_t i = 0; i < line->chunks[c].n_events; i++, event++) {
            EventMeta *meta = &line->plane->event_metas[v->columns[COL_META][i]];
            if (event_facts_read(facts, line->plane, meta, (uint64_t)v->columns[COL_POSITION][i], &stats, err)) break;
            take(context, event, facts);
        }
    }
    window_free(&chunks);
    window_free(&stats);
    if (facts) event_facts_free(facts);
    prof_free(facts);
    prof_free(v);
    return err->code;
}

/* ---- correlation ---- */

typedef struct {
    Correlated *pairs;
    size_t n, capacity;
    bool failed;
} Pairs;

static void take_pair(void *context, uint64_t event, const EventFacts *facts)
{
    Pairs *p = context;
    int64_t id;
    if (p->failed || !fact_integer(&facts->by_stat[STAT_CORRELATION_ID], &id)) return;
    if (!GROW(p->pairs, p->n, p->capacity))
        p->failed = true;
    else
        p->pairs[p->n++] = (Correlated){(uint64_t)id, event};
}

static int by_correlation(const void *a, const void *b)
{
    const Correlated *x = a, *y = b;
    if (x->correlation_id != y->correlation_id) return x->correlation_id < y->correlation_id ? -1 : 1;
    return x->event < y->event ? -1 : x->event > y->event;
}

static bool has_stat(const Plane *plane, enum KnownStat known)
{
    for (size_t i = 0; i < plane->n_stat_metas; i++)
        if (plane->stat_metas[i].known == known) return true;
    return false;
}

const Correlated *run_correlation(Run *run, size_t *n, ProfErr *err)
{
    static const Correlated none[1];
    pthread_mutex_lock(&run->lock);
    if (!run->correlated_made) {
        Pairs p = {0};
        for (uint32_t l = 0; l < run->n_lines && !err->code; l++)
            if (has_stat(run->lines[l]->plane, STAT_CORRELATION_ID)) each_fact(run->lines[l], take_pair, &p, err);
        if (p.failed) prof_nomem(err);
        if (err->code) {
            prof_free(p.pairs);
        } else {
            if (p.n) qsort(p.pairs, p.n, sizeof *p.pairs, by_correlation);
            run->correlated = p.pairs, run->n_correlated = p.n, run->correlated_made = true;
        }
    }
    *n = run->n_correlated;
    const Correlated *pairs = run->correlated ? run->correlated : none;
    pthread_mutex_unlock(&run->lock);
    return err->code ? NULL : pairs;
}

/* ---- the device's clock ---- */

typedef struct {
    int64_t start, end, self;
    uint64_t event;
} DeviceSpan;

typedef struct {
    uint64_t first_event;
    DeviceSpan *spans;
    size_t n;
} Spans;

static void take_span(void *context, uint64_t event, const EventFacts *facts)
{
    Spans *s = context;
    int64_t offset, duration;
    if (!fact_integer(&facts->by_stat[STAT_DEVICE_DURATION_PS], &duration) || !fact_integer(&facts->by_stat[STAT_DEVICE_OFFSET_PS], &offset)) return;
    s->spans[s->n++] = (DeviceSpan){offset, add_saturated(offset, duration), duration, event - s->first_event};
}

static int outer_first(const void *a, const void *b)
{
    const DeviceSpan *x = a, *y = b;
    if (x->start != y->start) return x->start < y->start ? -1 : 1;
    if (x->end != y->end) return x->end > y->end ? -1 : 1;
    return x->event < y->event ? -1 : x->event > y->event;
}

const int64_t *line_device_self(Line *line, ProfErr *err)
{
    Run *run = line->plane->host->run;
    pthread_mutex_lock(&run->lock);
    if (!line->device_self && has_stat(line->plane, STAT_DEVICE_DURATION_PS)) {
        Spans s = {.first_event = line->first_event, .spans = prof_alloc((size_t)line->n_events * sizeof *s.spans)};
        size_t *stack = prof_alloc((size_t)line->n_events * sizeof *stack), depth = 0;
        int64_t *self = arena_alloc(&run->derived_arena, (size_t)line->n_events * sizeof *self);
        if (!s.spans || !stack || !self)
            prof_nomem(err);
        else if (!each_fact(line, take_span, &s, err)) {
            qsort(s.spans, s.n, sizeof *s.spans, outer_first);
            for (uint64_t i = 0; i < line->n_events; i++) self[i] = INT64_MIN;
            for (size_t i = 0; i < s.n; i++) {
                while (depth && s.spans[stack[depth - 1]].end < s.spans[i].end) depth--;
                if (depth) s.spans[stack[depth - 1]].self -= s.spans[i].end - s.spans[i].start;
                stack[depth++] = i;
            }
            for (size_t i = 0; i < s.n; i++) self[s.spans[i].event] = s.spans[i].self;
            line->device_self = self;
        }
        prof_free(stack);
        prof_free(s.spans);
    }
    const int64_t *self = line->device_self;
    pthread_mutex_unlock(&run->lock);
    return self;
}
