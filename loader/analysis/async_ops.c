/* async_ops.c: pairing asynchronous ops and finding what hides them; see async_ops.h.
 *
 * A plane is walked twice. First its ops: starts wait in a queue for their dones, and events that compute are kept as
 * intervals. Sorted and cut so that they do not overlap, these make a lane in which a span's covered time is a difference of
 * two sums, and the largest interval of a range is found in a tree of maxima. */
#define _GNU_SOURCE
#include "async_ops.h"

#include "../parallel.h"
#include "event_stats.h"
#include "events.h"
#include "kernel_names.h"

/* ---- the lane: what computes, one interval after the other ---- */

typedef struct {
    int64_t start, end;
    const EventMeta *meta;
} Interval;
typedef struct {
    Interval *items;
    size_t n, capacity;
    uint64_t *before; /* time covered by the intervals before each: less than 2^64 */
    uint32_t *tree;   /* of the n intervals the longest: leaves at n and on, the longer of two children above; 0 unused */
} Lane;

static int by_start(const void *a, const void *b)
{
    const Interval *x = a, *y = b;
    if (x->start != y->start) return x->start < y->start ? -1 : 1;
    return x->end < y->end ? -1 : x->end > y->end;
}

static int64_t length(const Interval *i) { return i->end - i->start; }

static uint32_t longer(const Lane *lane, uint32_t a, uint32_t b) { return length(&lane->items[b]) > length(&lane->items[a]) ? b : a; }

/* An instant that several cover goes to the one that started first. */
static bool lane_finish(Lane *lane)
{
    size_t n = 0;
    int64_t end = INT64_MIN;
    if (lane->n) qsort(lane->items, lane->n, sizeof *lane->items, by_start);
    for (size_t i = 0; i < lane->n; i++) {
        Interval item = lane->items[i];
        if (item.start < end) item.start = end;
        if (item.start >= item.end || item.end - (uint64_t)item.start > INT64_MAX) continue;
        lane->items[n++] = item, end = item.end;
    }
    lane->n = n;
    lane->before = prof_alloc((n + 1) * sizeof *lane->before);
    lane->tree = prof_alloc(2 * n * sizeof *lane->tree);
    if (!lane->before || !lane->tree || n > UINT32_MAX / 2) return false;
    for (size_t i = 0; i < n; i++) lane->before[i + 1] = lane->before[i] + (uint64_t)length(&lane->items[i]), lane->tree[n + i] = (uint32_t)i;
    for (size_t i = n; i-- > 1;) lane->tree[i] = longer(lane, lane->tree[2 * i], lane->tree[2 * i + 1]);
    return true;
}

static void lane_free(Lane *lane)
{
    prof_free(lane->items);
    prof_free(lane->before);
    prof_free(lane->tree);
}

/* The first interval that ends behind a time. */
static size_t lane_find(const Lane *lane, int64_t time)
{
    size_t low = 0, high = lane->n;
    while (low < high) {
        size_t mid = low + (high - low) / 2;
        if (lane->items[mid].end > time)
            high = mid;
        else
            low = mid + 1;
    }
    return low;
}

/* The longest of the intervals [first, last), which is not empty. */
static uint32_t lane_longest(const Lane *lane, size_t first, size_t last)
{
    uint32_t best = (uint32_t)first;
    for (size_t l = first + lane->n, r = last + lane->n; l < r; l /= 2, r /= 2) {
        if (l & 1) best = longer(lane, best, lane->tree[l++]);
        if (r & 1) best = longer(lane, best, lane->tree[--r]);
    }
    return best;
}

static void consider(AsyncOp *op, const Interval *i, int64_t start, int64_t end)
{
    int64_t overlap = (i->end < end ? i->end : end) - (i->start > start ? i->start : start);
    if (overlap > op->cover_ps) op->cover = i->meta, op->cover_ps = overlap;
}

static void hide(AsyncOp *op, const Lane *lane)
{
    int64_t start = op->start_ps, end = add_saturated(start, op->duration_ps);
    size_t first = lane_find(lane, start), last = first;
    if (!op->done || first == lane->n || lane->items[first].start >= end) return;
    last = lane_find(lane, end); /* ends behind the span, or is none */
    if (last < lane->n && lane->items[last].start < end) last++;
    const Interval *left = &lane->items[first], *right = &lane->items[last - 1];
    uint64_t covered = lane->before[last] - lane->before[first];
    if (left->start < start) covered -= (uint64_t)start - (uint64_t)left->start;
    if (right->end > end) covered -= (uint64_t)right->end - (uint64_t)end;
    op->hidden_ps = (int64_t)covered;
    consider(op, left, start, end);
    consider(op, right, start, end);
    if (last - first > 2) consider(op, &lane->items[lane_longest(lane, first + 1, last - 1)], start, end);
}

/* ---- what an op is, by its metadata ---- */

enum Role { ROLE_NONE, ROLE_COMPUTE, ROLE_START, ROLE_DONE };
typedef struct {
    Slice name;
    uint32_t pair; /* of a start or done: which; counted from 1 */
    uint8_t role;
} Meaning;

/* "%name = shape opcode(...)": the name; a text that is no HLO is a name as a whole. */
static Slice hlo_name(Slice text)
{
    if (slice_starts(text, "ROOT ")) text.text += 5, text.n -= 5;
    const char *equals = text.n ? memmem(text.text, text.n, " = ", 3) : NULL;
    Slice name = {text.text, equals ? (size_t)(equals - text.text) : text.n};
    if (name.n && *name.text == '%') name.text++, name.n--;
    return name;
}

static Slice op_name(const EventMeta *meta) { return meta->display_name->n_bytes ? slice_of(meta->display_name) : hlo_name(slice_of(meta->name)); }

/* Where the HLO text is a done's: the name of its start. Empty: it is none, or does not say. */
static Slice start_in_text(Slice text)
{
    const char *done = text.n ? memmem(text.text, text.n, "-done(", 6) : NULL, *end = text.text + text.n;
    const char *name = done ? memchr(done, '%', (size_t)(end - done)) : NULL, *at;
    if (!name) return (Slice){text.text, 0};
    for (at = ++name; at < end && *at != ',' && *at != ')' && *at != ' ';) at++;
    return (Slice){name, (size_t)(at - name)};
}

static const Text *category_of(const EventMeta *meta)
{
    for (uint16_t i = 0; i < meta->n_facts; i++)
        if (meta->facts[i].known == STAT_HLO_CATEGORY && meta->facts[i].fact.type == TYPE_STR) return meta->facts[i].fact.text;
    return NULL;
}

static int64_t bytes_of(const EventMeta *meta)
{
    for (uint16_t i = 0; i < meta->n_facts; i++)
        if (meta->facts[i].known == STAT_BYTES_ACCESSED && (meta->facts[i].fact.type == TYPE_INT64 || meta->facts[i].fact.type == TYPE_UINT64))
            return meta->facts[i].fact.integer > 0 ? meta->facts[i].fact.integer : -1;
    return -1;
}

/* ---- a plane in the making ---- */

typedef struct Waiting {
    struct Waiting *next;
    const EventMeta *meta;
    uint64_t event;
    int64_t start_ps;
    size_t run; /* of a program, that it belongs to */
} Waiting;
typedef struct {
    Slice name; /* of the start */
    Waiting *first, *last;
} Pair;

/* An op by the name of its start. */
typedef struct {
    Slice op;
    int64_t start_ps;
    size_t nth; /* of the ops */
} Known;

typedef struct {
    Plane *plane;
    ProfErr *err;
    AsyncOp *ops;
    size_t n, capacity;
    Known *known; /* in order; of the ops that lines before the one in hand have */
    size_t n_known, known_capacity;
    Meaning *meanings; /* by metadata */
    Pair *pairs;
    size_t n_pairs, pair_capacity;
    uint32_t *slots; /* of pairs by name: position + 1 */
    size_t n_slots;
    int64_t *runs; /* when the programs of the plane begin, sorted */
    size_t n_runs, run_capacity;
    Lane lane;
    Arena arena;
} Making;

static uint64_t hash_slice(Slice s) { return text_hash(s.text, s.n); }

static bool same(Slice a, Slice b) { return a.n == b.n && !memcmp(a.text, b.text, a.n); }

/* The pair of a start's name, 0: none. */
static uint32_t pair_find(const Making *m, Slice name)
{
    if (!m->n_slots) return 0;
    for (size_t at = hash_slice(name) & (m->n_slots - 1); m->slots[at]; at = (at + 1) & (m->n_slots - 1))
        if (same(m->pairs[m->slots[at] - 1].name, name)) return m->slots[at];
    return 0;
}

static uint32_t pair_of(Making *m, Slice name)
{
    uint32_t found = pair_find(m, name);
    if (found) return found;
    if ((m->n_pairs + 1) * 2 > m->n_slots) {
        size_t n_slots = m->n_slots ? m->n_slots * 2 : 64;
        uint32_t *slots = prof_alloc(n_slots * sizeof *slots);
        if (!slots) return prof_nomem(m->err), 0;
        for (size_t i = 0; i < m->n_pairs; i++) {
            size_t at = hash_slice(m->pairs[i].name) & (n_slots - 1);
            while (slots[at]) at = (at + 1) & (n_slots - 1);
            slots[at] = (uint32_t)i + 1;
        }
        prof_free(m->slots);
        m->slots = slots, m->n_slots = n_slots;
    }
    if (!GROW(m->pairs, m->n_pairs, m->pair_capacity)) return prof_nomem(m->err), 0;
    m->pairs[m->n_pairs++] = (Pair){.name = name};
    size_t at = hash_slice(name) & (m->n_slots - 1);
    while (m->slots[at]) at = (at + 1) & (m->n_slots - 1);
    return m->slots[at] = (uint32_t)m->n_pairs;
}

/* "copy-done.3" -> "copy-start.3", and for pairs like send and send-done "send.3": the one that the plane has. */
static Slice start_by_name(Making *m, Slice done)
{
    const char *at = memmem(done.text, done.n, "-done", 5);
    size_t before = (size_t)(at - done.text), behind = done.n - before - 5;
    char *name = arena_alloc(&m->arena, done.n + 2);
    if (!name) return prof_nomem(m->err), (Slice){"", 0};
    memcpy(name, done.text, before);
    bool plain = (before == 4 && (!memcmp(name, "send", 4) || !memcmp(name, "recv", 4)));
    size_t n = before;
    if (!plain) memcpy(name + n, "-start", 6), n += 6;
    memcpy(name + n, at + 5, behind);
    return (Slice){name, n + behind};
}

/* Roles of all ops of the plane. A start is what a done names, or calls itself so. */
static void read_meanings(Making *m)
{
    Plane *plane = m->plane;
    m->meanings = prof_alloc(plane->n_event_metas * sizeof *m->meanings);
    if (!m->meanings) prof_nomem(m->err);
    for (size_t i = 0; i < plane->n_event_metas && !m->err->code; i++) {
        Meaning *meaning = &m->meanings[i];
        meaning->name = op_name(&plane->event_metas[i]);
        Slice start = start_in_text(slice_of(plane->event_metas[i].name));
        if (!start.n && slice_contains(meaning->name, "-done")) start = start_by_name(m, meaning->name);
        if (start.n) meaning->role = ROLE_DONE, meaning->pair = pair_of(m, start);
    }
    for (size_t i = 0; i < plane->n_event_metas && !m->err->code; i++) {
        Meaning *meaning = &m->meanings[i];
        if (meaning->role == ROLE_DONE) continue;
        meaning->pair = slice_contains(meaning->name, "-start") ? pair_of(m, meaning->name) : pair_find(m, meaning->name);
        if (event_meta_facts(plane, &plane->event_metas[i], m->err)) break;
        const Text *category = category_of(&plane->event_metas[i]);
        const char *dot = memchr(meaning->name.text, '.', meaning->name.n);
        Slice kind = category ? slice_of(category) : (Slice){meaning->name.text, dot ? (size_t)(dot - meaning->name.text) : meaning->name.n};
        meaning->role = meaning->pair                                                                      ? ROLE_START
                        : op_is_container(kind) || op_is_off_duty(kind) || slice_contains(kind, "-update") ? ROLE_NONE
                                                                                                           : ROLE_COMPUTE;
    }
}

static AsyncOp *add_op(Making *m)
{
    if (!GROW(m->ops, m->n, m->capacity)) return prof_nomem(m->err), NULL;
    AsyncOp *op = &m->ops[m->n++];
    *op = (AsyncOp){.plane = m->plane, .bytes = -1};
    return op;
}

static void add_interval(Making *m, const EventAt *e)
{
    if (e->duration_ps <= 0) return;
    if (!GROW(m->lane.items, m->lane.n, m->lane.capacity))
        prof_nomem(m->err);
    else
        m->lane.items[m->lane.n++] = (Interval){e->start_ps, add_saturated(e->start_ps, e->duration_ps), e->meta};
}

static void set_start(Making *m, AsyncOp *op, const Waiting *start)
{
    op->start = start->meta, op->start_event = start->event, op->start_ps = start->start_ps;
    op->op = op_name(start->meta);
    if (op->op.n && *op->op.text == '%') op->op = hlo_name(op->op);
    if (event_meta_facts(m->plane, (EventMeta *)start->meta, m->err)) return;
    op->category = category_of(start->meta);
    op->bytes = bytes_of(start->meta);
}

/* How many programs have begun by a time. */
static size_t run_at(const Making *m, int64_t time)
{
    size_t low = 0, high = m->n_runs;
    while (low < high) {
        size_t mid = low + (high - low) / 2;
        if (m->runs[mid] <= time)
            low = mid + 1;
        else
            high = mid;
    }
    return low;
}

static void take_start(Making *m, Pair *pair, const EventAt *e)
{
    Waiting *w = arena_alloc(&m->arena, sizeof *w);
    if (!w) {
        prof_nomem(m->err);
        return;
    }
    *w = (Waiting){NULL, e->meta, e->event, e->start_ps, run_at(m, e->start_ps)};
    if (pair->last)
        pair->last->next = w;
    else
        pair->first = w;
    pair->last = w;
}

static Waiting *next_waiting(Pair *pair)
{
    Waiting *w = pair->first;
    if (w && !(pair->first = w->next)) pair->last = NULL;
    return w;
}

/* A start whose done is not in the profile. */
static void give_up(Making *m, const Waiting *w)
{
    AsyncOp *op = add_op(m);
    if (op) set_start(m, op, w);
}

/* The oldest start that waits in this run of the program is this done's. A start of an earlier run has lost its done, and a
 * done whose start is not in the profile is none of ours. */
static void take_done(Making *m, Pair *pair, const EventAt *e)
{
    size_t run = run_at(m, e->start_ps);
    Waiting *w;
    while ((w = next_waiting(pair)) && w->run < run && !m->err->code) give_up(m, w);
    AsyncOp *op = w ? add_op(m) : NULL;
    if (!op) return;
    set_start(m, op, w);
    if (m->err->code || event_meta_facts(m->plane, e->meta, m->err)) return;
    op->done = e->meta, op->done_event = e->event, op->done_op = op_name(e->meta), op->done_ps = e->duration_ps > 0 ? e->duration_ps : 0;
    int64_t end = add_saturated(e->start_ps, op->done_ps);
    op->duration_ps = end > op->start_ps ? end - (uint64_t)op->start_ps > INT64_MAX ? INT64_MAX : end - op->start_ps : 0;
    if (bytes_of(e->meta) > op->bytes) op->bytes = bytes_of(e->meta);
}

static void end_line(Making *m)
{
    for (size_t i = 0; i < m->n_pairs; i++)
        for (Waiting *w; !m->err->code && (w = next_waiting(&m->pairs[i]));) give_up(m, w);
}

static int by_value(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return x < y ? -1 : x > y;
}

static void read_runs(Making *m)
{
    for (size_t i = 0; i < m->plane->n_lines && !m->err->code; i++) {
        Line *line = &m->plane->host->lines[m->plane->first_line + i];
        if (line->kind != LINE_MODULES || line->derived) continue;
        EventReader reader;
        EventAt e;
        event_reader_open(&reader, line, 0, m->err);
        while (event_reader_next(&reader, &e))
            if (!GROW(m->runs, m->n_runs, m->run_capacity))
                prof_nomem(m->err);
            else
                m->runs[m->n_runs++] = e.start_ps;
        event_reader_close(&reader);
    }
    if (m->n_runs) qsort(m->runs, m->n_runs, sizeof *m->runs, by_value);
}

static void walk_tpu_line(Making *m, Line *line)
{
    EventReader reader;
    EventAt e;
    event_reader_open(&reader, line, 0, m->err);
    while (event_reader_next(&reader, &e)) {
        const Meaning *meaning = &m->meanings[e.meta - m->plane->event_metas];
        if (e.occurrences >= 0) continue; /* sums of a capture without times */
        switch (meaning->role) {
        case ROLE_START: take_start(m, &m->pairs[meaning->pair - 1], &e); break;
        case ROLE_DONE: take_done(m, &m->pairs[meaning->pair - 1], &e); break;
        case ROLE_COMPUTE: add_interval(m, &e); break;
        default: break;
        }
        if (m->err->code) break;
    }
    event_reader_close(&reader);
    if (!m->err->code) end_line(m);
}

/* ---- spans that the file has as events of their own ---- */

static int by_name_then_start(const void *a, const void *b)
{
    const Known *x = a, *y = b;
    size_t n = x->op.n < y->op.n ? x->op.n : y->op.n;
    int c = memcmp(x->op.text, y->op.text, n);
    if (c || x->op.n != y->op.n) return c ? c : x->op.n < y->op.n ? -1 : 1;
    if (x->start_ps != y->start_ps) return x->start_ps < y->start_ps ? -1 : 1;
    return x->nth < y->nth ? -1 : x->nth > y->nth;
}

/* Takes what came since into the order of the known. */
static bool know_all(Making *m)
{
    size_t n_old = m->n_known, n_new = m->n - n_old;
    if (!n_new) return true;
    Known *added = prof_buffer(n_new * sizeof *added);
    while (added && m->known_capacity < m->n)
        if (!prof_grow(&m->known, m->known_capacity, &m->known_capacity, sizeof *m->known)) break;
    if (!added || m->known_capacity < m->n) return prof_free(added), false;
    for (size_t i = 0; i < n_new; i++) added[i] = (Known){m->ops[n_old + i].op, m->ops[n_old + i].start_ps, n_old + i};
    qsort(added, n_new, sizeof *added, by_name_then_start);
    while (n_new) {
        bool old = n_old && by_name_then_start(&m->known[n_old - 1], &added[n_new - 1]) > 0;
        m->known[n_old + n_new - 1] = old ? m->known[n_old - 1] : added[n_new - 1];
        n_old -= old, n_new -= !old;
    }
    m->n_known = m->n;
    prof_free(added);
    return true;
}

/* Of the known the one that is the same span: of the same start op, and running at this time; NULL: none. */
static const AsyncOp *find_known(const Making *m, Slice name, int64_t time)
{
    Known wanted = {name, time, SIZE_MAX};
    size_t low = 0, high = m->n_known;
    while (low < high) {
        size_t mid = low + (high - low) / 2;
        if (by_name_then_start(&m->known[mid], &wanted) <= 0)
            low = mid + 1;
        else
            high = mid;
    }
    const AsyncOp *known = low ? &m->ops[m->known[low - 1].nth] : NULL;
    if (!known || !same(known->op, name)) return NULL;
    return !known->done || time <= add_saturated(known->start_ps, known->duration_ps) ? known : NULL;
}

static void take_span(AsyncOp *op, const EventAt *e)
{
    int64_t end = add_saturated(e->start_ps, e->duration_ps > 0 ? e->duration_ps : 0);
    op->done = e->meta, op->done_event = e->event, op->done_op = op->op;
    op->duration_ps = end > op->start_ps ? end - (uint64_t)op->start_ps > INT64_MAX ? INT64_MAX : end - op->start_ps : 0;
}

/* A span of an op whose done was lost. */
typedef struct {
    size_t op;
    EventAt span;
} Found;

/* Spans are compared with what is known of other lines: what this one tells counts after it. */
static void walk_async_line(Making *m, Line *line)
{
    Found *found = NULL;
    size_t n_found = 0, capacity = 0;
    EventReader reader;
    EventAt e;
    if (!know_all(m)) prof_nomem(m->err);
    event_reader_open(&reader, line, 0, m->err);
    while (event_reader_next(&reader, &e)) {
        Slice name = hlo_name(slice_of(e.meta->name));
        const AsyncOp *known = e.occurrences < 0 ? find_known(m, name, e.start_ps) : NULL;
        if (known && !known->done) {
            if (!GROW(found, n_found, capacity)) {
                prof_nomem(m->err);
                break;
            }
            found[n_found++] = (Found){(size_t)(known - m->ops), e};
        }
        if (known || e.occurrences >= 0) continue;
        AsyncOp *op = add_op(m);
        if (!op) break;
        set_start(m, op, &(Waiting){NULL, e.meta, e.event, e.start_ps, 0});
        if (m->err->code) break;
        op->op = name;
        take_span(op, &e);
    }
    event_reader_close(&reader);
    for (size_t i = 0; i < n_found; i++) take_span(&m->ops[found[i].op], &found[i].span);
    prof_free(found);
}

/* ---- GPUs ---- */

static bool is_collective(Slice name) { return slice_starts_ignoring_case(name, "nccl") || slice_starts_ignoring_case(name, "rccl"); }
static bool is_copy(Slice name) { return slice_starts_ignoring_case(name, "memcpy") || (slice_starts(name, "Copy") && slice_contains(name, "To")); }

static const Text *gpu_category(Making *m, bool collective)
{
    Host *host = m->plane->host;
    const char *name = collective ? "collective" : "copy";
    pthread_mutex_lock(&host->lock);
    const Text *text = text_intern(&host->texts, &host->arena, (const uint8_t *)name, strlen(name));
    pthread_mutex_unlock(&host->lock);
    if (!text) prof_nomem(m->err);
    return text;
}

static void add_gpu_span(Making *m, const EventAt *e, Slice name, Slice copied)
{
    AsyncOp *op = add_op(m);
    uint64_t bytes;
    if (!op) return;
    op->start = op->done = e->meta, op->start_event = op->done_event = e->event, op->op = op->done_op = name;
    op->start_ps = e->start_ps, op->duration_ps = e->duration_ps > 0 ? e->duration_ps : 0;
    op->category = gpu_category(m, is_collective(name));
    if (copy_bytes(copied, &bytes) && bytes <= INT64_MAX) op->bytes = (int64_t)bytes;
}

static void walk_gpu_line(Making *m, Line *line)
{
    static const enum KnownStat wanted[] = {STAT_KERNEL_DETAILS, STAT_MEMCPY_DETAILS};
    StatFilter filter;
    EventReader reader;
    EventAt e;
    stat_filter_open(&filter, m->plane, wanted, COUNT(wanted), m->err);
    event_reader_open_for(&reader, line, &filter.wanted, m->err);
    while (event_reader_next(&reader, &e)) {
        Slice name = slice_of(e.meta->name), copied = {"", 0};
        unsigned known;
        Stat stat;
        bool kernel = false;
        const uint8_t *p = e.message, *end = p + e.n_bytes;
        while (filter.any && (p = stat_filter_next(&filter, p, end, 4, &known, &stat)))
            if (known == STAT_KERNEL_DETAILS)
                kernel = true;
            else
                copied = stat_text(m->plane, &stat);
        if (is_collective(name) || is_copy(name) || copied.n)
            add_gpu_span(m, &e, name, copied);
        else if (kernel)
            add_interval(m, &e);
        if (m->err->code) break;
    }
    event_reader_close(&reader);
    stat_filter_close(&filter);
}

/* ---- planes, and all together ---- */

static int by_time(const void *a, const void *b)
{
    const AsyncOp *x = a, *y = b;
    if (x->start_ps != y->start_ps) return x->start_ps < y->start_ps ? -1 : 1;
    return x->start_event < y->start_event ? -1 : x->start_event > y->start_event;
}

static void walk_plane(Making *m)
{
    Host *host = m->plane->host;
    bool gpu = m->plane->kind == PLANE_GPU;
    if (!gpu) read_meanings(m);
    if (!gpu && !m->err->code) read_runs(m);
    for (int pass = 0; pass < 2; pass++)
        for (size_t i = 0; i < m->plane->n_lines && !m->err->code; i++) {
            Line *line = &host->lines[m->plane->first_line + i];
            if (line->derived || !line->n_events) continue;
            if (gpu && !pass) walk_gpu_line(m, line);
            if (!gpu && !pass && line->kind == LINE_OPS) walk_tpu_line(m, line);
            if (!gpu && pass && line->kind == LINE_ASYNC_OPS) walk_async_line(m, line);
        }
    if (m->n && !m->err->code && !lane_finish(&m->lane)) prof_nomem(m->err);
    for (size_t i = 0; i < m->n && !m->err->code; i++) hide(&m->ops[i], &m->lane);
    if (m->n && !m->err->code) qsort(m->ops, m->n, sizeof *m->ops, by_time);
    lane_free(&m->lane);
    prof_free(m->known);
    prof_free(m->runs);
    prof_free(m->meanings);
    prof_free(m->pairs);
    prof_free(m->slots);
}

static void plane_task(void *context, size_t i, ProfErr *err)
{
    Making *m = &((Making *)context)[i];
    m->err = err;
    walk_plane(m);
}

static void release(void *result)
{
    AsyncOps *all = result;
    prof_free(all->ops);
    prof_free(all);
}

static void *make(Run *run, Host *only, ProfErr *err)
{
    size_t n = 0, n_ops = 0;
    AsyncOps *all = prof_alloc(sizeof *all);
    Making *makings = prof_alloc(run->n_planes * sizeof *makings);
    if (!all || !makings) prof_nomem(err);
    for (size_t h = 0; h < run->n_hosts && !err->code; h++)
        for (size_t i = 0; i < run->hosts[h].n_planes && (!only || only == &run->hosts[h]); i++) {
            Plane *plane = &run->hosts[h].planes[i];
            if (plane->kind == PLANE_GPU || plane->kind == PLANE_TENSORCORE || plane->kind == PLANE_SPARSECORE) makings[n++].plane = plane;
        }
    if (!err->code) parallel_for(run->n_workers, n, plane_task, makings, err);
    for (size_t i = 0; i < n; i++) n_ops += makings[i].n;
    if (!err->code && !(all->ops = prof_alloc(n_ops * sizeof *all->ops))) prof_nomem(err);
    for (size_t i = 0; i < n; i++) {
        if (!err->code && makings[i].n) memcpy(all->ops + all->n_ops, makings[i].ops, makings[i].n * sizeof *all->ops), all->n_ops += makings[i].n;
        prof_free(makings[i].ops);
        arena_free(&makings[i].arena);
    }
    prof_free(makings);
    if (err->code && all) release(all), all = NULL;
    return all;
}

const AsyncOps *run_async_ops(Run *run, Host *only, ProfErr *err)
{
    static const Analysis analysis = {make, release};
    return run_analysis(run, only, &analysis, err);
}
