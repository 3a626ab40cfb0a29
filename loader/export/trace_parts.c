// SPDX-License-Identifier: Apache-2.0
/* trace_parts.c: collects the items of a trace and formats them; see trace_parts.h. */
#include "trace_parts.h"

#include "../base/interrupt.h"

/* Larger parts repeat fewer texts, smaller ones take less memory: 48 bytes an item. */
enum { PART_ITEMS = 65536, PARTS_PER_WORKER = 2, POLL_ITEMS = 64, MAX_THREADS = 63 };

typedef struct {
    LIST(TraceItem) items;
    bool last; /* of the trace */
} Part;

/* What a thread formats a part with. */
typedef struct {
    char *bytes; /* TRACE_OUT_BYTES; NULL until the first use */
    ViewerEvent event;
    bool taken;
} Bench;

/* Items in blocks, each twice as long as the one before, so that they never move: other threads
 * read them while more are added. */
enum { N_BLOCKS = 32 };
typedef struct {
    void *blocks[N_BLOCKS];
    uint32_t n;
} Blocks;

/* Parts are in a ring: the one with number n is parts[n % capacity]. Those before n_written are
 * written, those before n_claimed are written or formatted by a thread, those before n_filled are
 * complete, and the next one is being filled by the caller. The counts never decrease. */
struct TraceParts {
    const TraceOptions *options;
    int64_t unix_ns;
    Blocks tracks;  /* TraceTrack, by id - 1 */
    Blocks sources; /* TraceSource */
    Part *parts;
    size_t capacity;
    Bench *benches;
    size_t n_workers;
    pthread_t threads[MAX_THREADS];
    size_t n_threads;
    Interrupt *interrupt;
    pthread_mutex_t lock; /* for what follows, and Bench.taken */
    pthread_cond_t changed;
    size_t n_filled, n_claimed, n_written;
    bool complete; /* no part is added any more */
    ProfErr err;   /* of the first part that failed; later ones are not formatted */
    uint64_t n_bytes;
};

/* ---- items that never move ---- */

/* Block b has the items from 2^b - 1 to 2^(b + 1) - 2. */
static void *block_item(const Blocks *blocks, uint32_t i, size_t item_bytes)
{
    unsigned b = 31 - (unsigned)__builtin_clz(i + 1);
    return (char *)blocks->blocks[b] + (i + 1 - (1u << b)) * item_bytes;
}

/* Adds an item of zeros. Returns its address; NULL with err set. */
static void *block_add(Blocks *blocks, size_t item_bytes, ProfErr *err)
{
    unsigned b = 31 - (unsigned)__builtin_clz(blocks->n + 1);
    if (blocks->n == UINT32_MAX - 1 ||
        (!blocks->blocks[b] && !(blocks->blocks[b] = prof_alloc(item_bytes << b)))) {
        prof_nomem(err);
        return NULL;
    }
    return block_item(blocks, blocks->n++, item_bytes);
}

static void blocks_free(Blocks *blocks)
{
    for (size_t i = 0; i < N_BLOCKS; i++) prof_free(blocks->blocks[i]);
}

/* ---- writing in order ---- */

typedef struct {
    TraceParts *all;
    size_t part;
    ProfErr *err;
} Turn;

static void note_error(TraceParts *p, const ProfErr *err)
{
    if (err->code && !p->err.code) p->err = *err;
}

/* Waits for a change, and polls for interrupts meanwhile. The caller holds the lock. */
static void wait_for_change(TraceParts *p, ProfErr *err)
{
    interrupt_wait(&p->changed, &p->lock);
    pthread_mutex_unlock(&p->lock);
    interrupt_ask(err);
    pthread_mutex_lock(&p->lock);
}

/* Parts before this one end without waiting for it, so its turn always comes. */
static void wait_for_turn(const Turn *turn)
{
    TraceParts *p = turn->all;
    pthread_mutex_lock(&p->lock);
    while (p->n_written != turn->part) wait_for_change(p, turn->err);
    pthread_mutex_unlock(&p->lock);
}

static void pass_turn(const Turn *turn)
{
    TraceParts *p = turn->all;
    wait_for_turn(turn);
    pthread_mutex_lock(&p->lock);
    note_error(p, turn->err);
    p->n_written++;
    pthread_cond_broadcast(&p->changed);
    pthread_mutex_unlock(&p->lock);
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

static const TraceSource *trace_source(const TraceParts *p, uint32_t number)
{
    return block_item(&p->sources, number, sizeof(TraceSource));
}

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
    const TraceSource *s = trace_source(f->all, item->source);
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
    const TraceSource *source = trace_source(f->all, item->source);
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
    for (size_t i = 0; i < part->items.n && !f->err->code && !w->no_memory; i++) {
        if (i % POLL_ITEMS == 0 && interrupt_poll(POLL_ITEMS, f->err)) return;
        const TraceItem *item = &part->items.items[i];
        const TraceTrack *track = trace_parts_track(f->all, item->track);
        switch (item->kind) {
        case ITEM_TRACK: w->format->track(w, track); break;
        case ITEM_END: w->format->end(w, track, item->at); break;
        default: write_event(f, item, track);
        }
    }
}

static void format_part(TraceParts *p, size_t number)
{
    const Part *part = &p->parts[number % p->capacity];
    ProfErr err = {0};
    Turn turn = {p, number, &err};
    Formatter f = {.all = p, .bench = claim_bench(p, &err), .err = &err};
    TraceWriter *w = &f.writer;
    *w = (TraceWriter){.format = p->options->format, .part = number};
    w->out = (TraceOut){.write = write_in_turn, .context = &turn, .bytes = f.bench->bytes};
    if (!err.code && !w->format->open(w)) prof_nomem(&err);
    if (!err.code) {
        if (!number) w->format->start(w, p->unix_ns);
        write_items(&f, part);
        if (part->last) w->format->finish(w);
        if (!err.code && !w->no_memory) trace_out_flush(&w->out);
        if (w->no_memory) prof_nomem(&err);
        if (w->out.failed) prof_fail(&err, PROF_IO, 0, "the trace cannot be written");
        w->format->close(w);
    }
    event_reader_close(&f.reader);
    release_bench(p, f.bench);
    pass_turn(&turn);
}

/* ---- threads ---- */

/* Formats the next complete part, or nothing after a part that failed. The caller holds the lock.
 * Returns false if no part is left. */
static bool format_next(TraceParts *p)
{
    if (p->n_claimed == p->n_filled) return false;
    size_t number = p->n_claimed++;
    bool failed = p->err.code;
    pthread_mutex_unlock(&p->lock);
    if (failed)
        pass_turn(&(Turn){p, number, &(ProfErr){0}});
    else
        format_part(p, number);
    pthread_mutex_lock(&p->lock);
    return true;
}

static void *format_beside(void *context)
{
    TraceParts *p = context;
    interrupt_borrow(p->interrupt);
    pthread_mutex_lock(&p->lock);
    while (format_next(p) || !p->complete)
        if (p->n_claimed == p->n_filled && !p->complete) interrupt_wait(&p->changed, &p->lock);
    pthread_mutex_unlock(&p->lock);
    return NULL;
}

static void start_threads(TraceParts *p)
{
    p->interrupt = interrupt_lend();
    while (p->n_threads + 1 < p->n_workers && p->n_threads < MAX_THREADS &&
           !pthread_create(&p->threads[p->n_threads], NULL, format_beside, p))
        p->n_threads++;
}

/* Gives the filled part away. The next one can be filled then, after this thread has formatted
 * others if the ring is full. */
static void pass_part(TraceParts *p, ProfErr *err)
{
    if (!p->n_threads) start_threads(p);
    pthread_mutex_lock(&p->lock);
    note_error(p, err); /* items that were added since then are not formatted */
    p->n_filled++;
    pthread_cond_broadcast(&p->changed);
    while (p->n_filled - p->n_written == p->capacity)
        if (!format_next(p)) wait_for_change(p, err);
    if (p->err.code && !err->code) *err = p->err;
    pthread_mutex_unlock(&p->lock);
    p->parts[p->n_filled % p->capacity].items.n = 0;
}

static void finish_parts(TraceParts *p, ProfErr *err)
{
    pthread_mutex_lock(&p->lock);
    note_error(p, err);
    p->parts[p->n_filled % p->capacity].last = true;
    p->n_filled++;
    p->complete = true;
    pthread_cond_broadcast(&p->changed);
    while (p->n_written < p->n_filled)
        if (!format_next(p)) wait_for_change(p, err);
    if (p->err.code && !err->code) *err = p->err;
    pthread_mutex_unlock(&p->lock);
    while (p->n_threads) pthread_join(p->threads[--p->n_threads], NULL);
}

static void parts_free(TraceParts *p)
{
    for (size_t i = 0; p->parts && i < p->capacity; i++) prof_free(p->parts[i].items.items);
    for (size_t i = 0; p->benches && i < p->n_workers; i++) {
        prof_free(p->benches[i].bytes);
        viewer_event_free(&p->benches[i].event);
    }
    prof_free(p->parts);
    prof_free(p->benches);
    blocks_free(&p->tracks);
    blocks_free(&p->sources);
    pthread_mutex_destroy(&p->lock);
    pthread_cond_destroy(&p->changed);
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
        pthread_cond_init(&p->changed, NULL);
    }
    if (p && p->parts && p->benches) return p;
    if (p) parts_free(p);
    prof_nomem(err);
    return NULL;
}

TraceTrack *trace_parts_add_track(TraceParts *p, ProfErr *err)
{
    TraceTrack *track = block_add(&p->tracks, sizeof *track, err);
    if (track) track->id = p->tracks.n;
    return track;
}

const TraceTrack *trace_parts_track(const TraceParts *p, uint32_t id)
{
    return block_item(&p->tracks, id - 1, sizeof(TraceTrack));
}

uint32_t trace_parts_add_source(TraceParts *p, const TraceSource *source, ProfErr *err)
{
    TraceSource *added = block_add(&p->sources, sizeof *added, err);
    if (added) *added = *source;
    return p->sources.n - 1;
}

void trace_parts_add(TraceParts *p, const TraceItem *item, ProfErr *err)
{
    Part *part = &p->parts[p->n_filled % p->capacity];
    if (part->items.n == PART_ITEMS) {
        pass_part(p, err);
        part = &p->parts[p->n_filled % p->capacity];
    }
    TraceItem *added = PUSH(part->items);
    if (added)
        *added = *item;
    else
        prof_nomem(err);
}

void trace_parts_close(TraceParts *p, uint64_t *n_bytes, ProfErr *err)
{
    finish_parts(p, err);
    *n_bytes = p->n_bytes;
    parts_free(p);
}
