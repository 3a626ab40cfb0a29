// SPDX-License-Identifier: Apache-2.0
/* trace_parts.c: collects the items of a trace and formats them; see trace_parts.h. */
#include "trace_parts.h"

#include "../base/interrupt.h"
#include "../base/parallel.h"

/* Larger parts repeat fewer texts, smaller ones take less memory: 48 bytes an item. */
enum { PART_ITEMS = 65536, PARTS_PER_WORKER = 2 };

typedef LIST(TraceItem) Part;

/* What a thread formats a part with. */
typedef struct {
    char *bytes; /* TRACE_OUT_BYTES; NULL until the first use */
    ViewerEvent event;
    bool taken;
} Bench;

struct TraceParts {
    const TraceOptions *options;
    int64_t unix_ns;
    LIST(TraceTrack) tracks; /* by id - 1 */
    LIST(TraceSource) sources;
    Part *parts;
    size_t capacity, n_full; /* of `parts`; the first n_full are complete */
    size_t n_done;           /* parts that were written before parts[0] */
    bool complete;           /* the last part of `parts` is the last of the trace */
    Bench *benches;
    size_t n_workers;
    pthread_mutex_t lock; /* for what follows, and Bench.taken */
    pthread_cond_t passed;
    size_t turn; /* index of the part that may be written */
    uint64_t n_bytes;
};

/* ---- writing in order ---- */

typedef struct {
    TraceParts *all;
    size_t part;
    ProfErr *err;
} Turn;

/* Parts before this one end without waiting for it, so its turn always comes. */
static void wait_for_turn(const Turn *turn)
{
    TraceParts *p = turn->all;
    pthread_mutex_lock(&p->lock);
    while (p->turn != turn->part) {
        interrupt_wait(&p->passed, &p->lock);
        pthread_mutex_unlock(&p->lock);
        interrupt_ask(turn->err);
        pthread_mutex_lock(&p->lock);
    }
    pthread_mutex_unlock(&p->lock);
}

static void pass_turn(const Turn *turn)
{
    wait_for_turn(turn);
    pthread_mutex_lock(&turn->all->lock);
    turn->all->turn++;
    pthread_cond_broadcast(&turn->all->passed);
    pthread_mutex_unlock(&turn->all->lock);
}

static bool write_in_turn(void *context, const void *bytes, size_t n_bytes)
{
    const Turn *turn = context;
    const TraceOptions *options = turn->all->options;
    wait_for_turn(turn);
    if (turn->err->code) return false;
    turn->all->n_bytes += n_bytes;
    return options->write(options->context, bytes, n_bytes);
}

/* ---- formatting a part ---- */

static Bench *claim_bench(TraceParts *p, ProfErr *err)
{
    Bench *bench = p->benches;
    pthread_mutex_lock(&p->lock);
    while (bench->taken) bench++;
    bench->taken = true;
    pthread_mutex_unlock(&p->lock);
    if (!bench->bytes && !(bench->bytes = prof_buffer(TRACE_OUT_BYTES))) prof_nomem(err);
    return bench;
}

static void release_bench(TraceParts *p, Bench *bench)
{
    pthread_mutex_lock(&p->lock);
    bench->taken = false;
    pthread_mutex_unlock(&p->lock);
}

typedef struct {
    TraceParts *all;
    Bench *bench;
    TraceWriter writer;
    EventReader reader; /* of the last line whose events are stored in order */
    ProfErr *err;
} Formatter;

/* Reads an event of an ordered line. Those of one line are asked for by ascending index. */
static bool read_ordered(Formatter *f, const TraceSource *s, uint64_t index)
{
    EventReader *r = &f->reader;
    EventAt e;
    uint64_t next = r->event - s->line->first_event;
    if (r->line != s->line || next > index || next / CHUNK_EVENTS != index / CHUNK_EVENTS) {
        event_reader_close(r);
        event_reader_open(r, s->line, EVENT_STATS, f->err);
        event_reader_skip_to(r, (size_t)(index / CHUNK_EVENTS));
    }
    while (event_reader_next(r, &e))
        if (e.event - s->line->first_event == index)
            return viewer_event_at(s->viewer, s->line, &e, &f->bench->event, f->err);
    return false;
}

static bool read_event(Formatter *f, const TraceItem *item)
{
    const TraceSource *s = &f->all->sources.items[item->source];
    ViewerEvent *event = &f->bench->event;
    if (item->of == OF_DERIVED)
        return viewer_derived(s->viewer, s->derived, (size_t)item->index, event, f->err);
    const LineGroups *groups = line_groups(s->viewer->grouping, s->line);
    if (item->of == OF_REGIONS)
        return viewer_region(s->viewer, s->line, &groups->regions[item->index], event, f->err);
    if (item->of == OF_STEPS)
        return viewer_step(s->viewer, s->line, &groups->steps[item->index], event, f->err);
    if (s->line->ordered) return read_ordered(f, s, item->index);
    return viewer_event(s->viewer, s->line, item->index, event, f->err);
}

static uint64_t flow_of(const TraceSource *source, bool has, int64_t id)
{
    return has ? (uint64_t)id ^ source->flow_mask : 0;
}

static void write_event(Formatter *f, const TraceItem *item, const TraceTrack *track)
{
    const TraceSource *source = &f->all->sources.items[item->source];
    const ViewerEvent *event = &f->bench->event;
    TraceWriter *w = &f->writer;
    if (!read_event(f, item)) return;
    if (item->kind == ITEM_COUNTER) {
        w->format->counter(w, track, item->at, &event->first_stat);
        return;
    }
    w->format->slice(
        w, &(TraceSlice){.track = track,
                         .start = item->at,
                         .duration_ps = item->duration_ps,
                         .flow_in = flow_of(source, event->has_flow_in, event->flow_in),
                         .flow_out = flow_of(source, event->has_flow_out, event->flow_out),
                         .event = event});
}

static void write_items(Formatter *f, const Part *part)
{
    TraceWriter *w = &f->writer;
    for (size_t i = 0; i < part->n && !interrupt_poll(1, f->err) && !w->no_memory; i++) {
        const TraceItem *item = &part->items[i];
        const TraceTrack *track = trace_parts_track(f->all, item->track);
        switch (item->kind) {
        case ITEM_TRACK: w->format->track(w, track); break;
        case ITEM_END: w->format->end(w, track, item->at); break;
        default: write_event(f, item, track);
        }
    }
}

static void format_part(void *context, size_t i, ProfErr *err)
{
    TraceParts *p = context;
    Turn turn = {p, i, err};
    Formatter f = {.all = p, .bench = claim_bench(p, err), .err = err};
    TraceWriter *w = &f.writer;
    *w = (TraceWriter){.format = p->options->format, .part = p->n_done + i};
    w->out = (TraceOut){.write = write_in_turn, .context = &turn, .bytes = f.bench->bytes};
    if (!err->code && !w->format->open(w)) prof_nomem(err);
    if (!err->code) {
        if (!w->part) w->format->start(w, p->unix_ns);
        write_items(&f, &p->parts[i]);
        if (p->complete && i + 1 == p->n_full) w->format->finish(w);
        if (!err->code && !w->no_memory) trace_out_flush(&w->out);
        if (w->no_memory) prof_nomem(err);
        if (w->out.failed) prof_fail(err, PROF_IO, 0, "the trace cannot be written");
        w->format->close(w);
    }
    event_reader_close(&f.reader);
    pass_turn(&turn);
    release_bench(p, f.bench);
}

static void format_parts(TraceParts *p, ProfErr *err)
{
    p->turn = 0;
    if (!err->code) parallel_for(p->n_workers, p->n_full, format_part, p, err);
    for (size_t i = 0; i < p->n_full; i++) p->parts[i].n = 0;
    p->n_done += p->n_full;
    p->n_full = 0;
}

static void parts_free(TraceParts *p)
{
    for (size_t i = 0; p->parts && i < p->capacity; i++) prof_free(p->parts[i].items);
    for (size_t i = 0; p->benches && i < p->n_workers; i++) {
        prof_free(p->benches[i].bytes);
        viewer_event_free(&p->benches[i].event);
    }
    prof_free(p->parts);
    prof_free(p->benches);
    prof_free(p->tracks.items);
    prof_free(p->sources.items);
    pthread_mutex_destroy(&p->lock);
    pthread_cond_destroy(&p->passed);
    prof_free(p);
}

/* ---- items ---- */

TraceParts *trace_parts_open(const Run *run, const TraceOptions *options, int64_t unix_ns,
                             ProfErr *err)
{
    TraceParts *p = prof_alloc(sizeof *p);
    if (p) {
        p->options = options, p->unix_ns = unix_ns, p->n_workers = run->n_workers;
        p->capacity = PARTS_PER_WORKER * p->n_workers;
        p->parts = prof_alloc(p->capacity * sizeof *p->parts);
        p->benches = prof_alloc(p->n_workers * sizeof *p->benches);
        pthread_mutex_init(&p->lock, NULL);
        pthread_cond_init(&p->passed, NULL);
    }
    if (p && p->parts && p->benches) return p;
    if (p) parts_free(p);
    prof_nomem(err);
    return NULL;
}

TraceTrack *trace_parts_add_track(TraceParts *p, ProfErr *err)
{
    TraceTrack *track = p->tracks.n < UINT32_MAX ? PUSH(p->tracks) : NULL;
    if (track)
        *track = (TraceTrack){.id = (uint32_t)p->tracks.n};
    else
        prof_nomem(err);
    return track;
}

const TraceTrack *trace_parts_track(const TraceParts *p, uint32_t id)
{
    return &p->tracks.items[id - 1];
}

uint32_t trace_parts_add_source(TraceParts *p, const TraceSource *source, ProfErr *err)
{
    TraceSource *added = PUSH(p->sources);
    if (added)
        *added = *source;
    else
        prof_nomem(err);
    return (uint32_t)p->sources.n - 1;
}

void trace_parts_add(TraceParts *p, const TraceItem *item, ProfErr *err)
{
    if (p->parts[p->n_full].n == PART_ITEMS && ++p->n_full == p->capacity) format_parts(p, err);
    TraceItem *added = PUSH(p->parts[p->n_full]);
    if (added)
        *added = *item;
    else
        prof_nomem(err);
}

void trace_parts_close(TraceParts *p, uint64_t *n_bytes, ProfErr *err)
{
    p->n_full++;
    p->complete = true;
    format_parts(p, err);
    *n_bytes = p->n_bytes;
    parts_free(p);
}
