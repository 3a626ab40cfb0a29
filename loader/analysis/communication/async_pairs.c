// SPDX-License-Identifier: Apache-2.0
/* async_pairs.c: joins the events of asynchronous ops of a TPU plane; see async_pairs.h.
 *
 * Start and done events are read by start time. The starts of a pair wait in a queue for their
 * dones. */
#define _GNU_SOURCE
#include "async_pairs.h"
#include "../../base/search.h"
#include "../../base/sort.h"
#include "../../store/events.h"
#include "../../store/event_values.h"
#include "../program/instruction_text.h"

/* ---- the role of an op, by its metadata ---- */

enum Role { ROLE_NONE, ROLE_START, ROLE_DONE, ROLE_SYNCHRONOUS };
typedef struct {
    Slice name;
    uint32_t pair; /* number of the pair of a start or done, from 1 */
    uint8_t role;
} Meaning;

/* Returns the name of the start that a done's HLO text names. Empty if the text is not a done's or
 * names none. */
static Slice start_in_text(Slice text)
{
    const char *done = text.n ? memmem(text.text, text.n, "-done(", 6) : NULL,
               *end = text.text + text.n;
    const char *name = done ? memchr(done, '%', (size_t)(end - done)) : NULL, *at;
    if (!name) return (Slice){text.text, 0};
    for (at = ++name; at < end && *at != ',' && *at != ')' && *at != ' ';) at++;
    return (Slice){name, (size_t)(at - name)};
}

static int64_t bytes_of(const EventMeta *meta)
{
    for (uint16_t i = 0; i < meta->n_facts; i++)
        if (meta->facts[i].known == STAT_BYTES_ACCESSED &&
            (meta->facts[i].fact.type == TYPE_INT64 || meta->facts[i].fact.type == TYPE_UINT64))
            return meta->facts[i].fact.integer > 0 ? meta->facts[i].fact.integer : -1;
    return -1;
}

/* ---- a plane while it is read ---- */

/* An event that is a start or a done. */
typedef struct {
    const EventMeta *meta;
    uint64_t event;
    int64_t start_ps, duration_ps;
} Half;
typedef struct Waiting {
    struct Waiting *next;
    Half half;
    size_t run; /* index of the program execution that it belongs to */
} Waiting;
typedef struct {
    Slice name; /* name of the start */
    Waiting *first, *last;
} Pair;

/* An op, for lookup by the name of its start. */
typedef struct {
    Slice op;
    int64_t start_ps;
    size_t nth; /* index in the ops */
} Known;

typedef struct {
    Plane *plane;
    const uint8_t *kinds;
    ProfErr *err;
    FoundOps *found;
    SharedOps *shared;
    /* Asynchronous ops of the lines before the current one, by name, then start. */
    Known *known;
    size_t n_known, known_capacity;
    size_t n_looked;   /* number of ops that know_all() has seen */
    Meaning *meanings; /* by index of event metadata */
    Pair *pairs;
    size_t n_pairs, pair_capacity;
    HashTable by_name; /* of the pairs */
    int64_t *runs;     /* start times of the plane's programs, sorted */
    size_t n_runs, run_capacity;
    /* done events that start at the current time; start events of the same time are handled first
     */
    LIST(Half) dones;
    Arena arena;
} AsyncPairsBuilder;

/* Returns the pair of a start's name; 0 if there is none. */
static uint32_t pair_find(const AsyncPairsBuilder *m, Slice name)
{
    uint64_t hash = text_hash(name.text, name.n);
    HASH_EACH(i, &m->by_name, hash)
        if (slice_equal(m->pairs[i].name, name)) return (uint32_t)i + 1;
    return 0;
}

static uint32_t pair_of(AsyncPairsBuilder *m, Slice name)
{
    uint32_t found = pair_find(m, name);
    if (found) return found;
    if (!GROW(m->pairs, m->n_pairs, m->pair_capacity) ||
        !hash_add(&m->by_name, text_hash(name.text, name.n), m->n_pairs)) {
        prof_nomem(m->err);
        return 0;
    }
    m->pairs[m->n_pairs++] = (Pair){.name = name};
    return (uint32_t)m->n_pairs;
}

/* Returns the start's name for a done's name, whichever the plane has: "copy-start.3" for
 * "copy-done.3", or "send.3" for "send-done.3". */
static Slice start_by_name(AsyncPairsBuilder *m, Slice done)
{
    const char *at = memmem(done.text, done.n, "-done", 5);
    size_t before = (size_t)(at - done.text), after = done.n - before - 5;
    char *name = arena_alloc(&m->arena, done.n + 2);
    if (!name) {
        prof_nomem(m->err);
        return (Slice){"", 0};
    }
    memcpy(name, done.text, before);
    bool plain = (before == 4 && (!memcmp(name, "send", 4) || !memcmp(name, "recv", 4)));
    size_t n = before;
    if (!plain) memcpy(name + n, "-start", 6), n += 6;
    memcpy(name + n, at + 5, after);
    return (Slice){name, n + after};
}

/* Finds the roles of all ops of the plane. A start is an op that a done names, or that has a
 * start's name. */
static void read_meanings(AsyncPairsBuilder *m)
{
    Plane *plane = m->plane;
    m->meanings = prof_alloc(plane->n_event_metas * sizeof *m->meanings);
    if (!m->meanings) prof_nomem(m->err);
    for (size_t i = 0; i < plane->n_event_metas && !m->err->code; i++) {
        Meaning *meaning = &m->meanings[i];
        meaning->name = event_op_name(&plane->event_metas[i]);
        if (m->kinds[i] == WORK_COMPUTE) continue;
        Slice start = start_in_text(slice_of(plane->event_metas[i].name));
        if (!start.n && slice_contains(meaning->name, "-done"))
            start = start_by_name(m, meaning->name);
        if (start.n) meaning->role = ROLE_DONE, meaning->pair = pair_of(m, start);
    }
    for (size_t i = 0; i < plane->n_event_metas && !m->err->code; i++) {
        Meaning *meaning = &m->meanings[i];
        if (meaning->role == ROLE_DONE || m->kinds[i] == WORK_COMPUTE) continue;
        meaning->pair = slice_contains(meaning->name, "-start") ? pair_of(m, meaning->name)
                                                                : pair_find(m, meaning->name);
        meaning->role = meaning->pair ? ROLE_START : ROLE_SYNCHRONOUS;
    }
}

/* Returns the bytes that an op moves: a collective's operands; for a transfer the result, or the
 * operand if it goes to the host or into a larger buffer. */
static int64_t moved_bytes(const AsyncShared *op)
{
    Slice start = slice_of(op->start->name), done = slice_of(op->done->name);
    if (op->kind == WORK_COLLECTIVE) return instruction_operand_bytes(start, ALL_OPERANDS);
    if (slice_contains(op->op, "update-slice")) return instruction_operand_bytes(start, 1);
    int64_t bytes = op->form == ASYNC_PAIR || slice_starts(op->op, "infeed")
                        ? instruction_result_bytes(done)
                        : 0;
    return bytes > 0 ? bytes : instruction_operand_bytes(start, 0);
}

static void describe_start(AsyncPairsBuilder *m, AsyncShared *op)
{
    op->op = event_op_name(op->start);
    if (op->op.n && *op->op.text == '%') op->op = instruction_name(op->op);
    if (op->form == ASYNC_SPAN) op->op = instruction_name(slice_of(op->start->name));
    op->kind = m->kinds[op->start - m->plane->event_metas] == WORK_COLLECTIVE ? WORK_COLLECTIVE
                                                                              : WORK_TRANSFER;
    if (event_meta_values(m->plane, (EventMeta *)op->start, m->err)) return;
    op->category = event_meta_text(op->start, STAT_HLO_CATEGORY);
    op->bytes_accessed = bytes_of(op->start);
    op->has_program = event_meta_number(op->start, STAT_PROGRAM_ID, &op->program_id);
}

static void describe_done(AsyncPairsBuilder *m, AsyncShared *op)
{
    op->done_op = op->op;
    if (op->form == ASYNC_PAIR) {
        if (event_meta_values(m->plane, (EventMeta *)op->done, m->err)) return;
        op->done_op = event_op_name(op->done);
        int64_t bytes = bytes_of(op->done);
        if (bytes > op->bytes_accessed) op->bytes_accessed = bytes;
    }
    op->bytes_moved = moved_bytes(op);
}

/* Returns what the ops of these two events have in common. NULL with err set on failure. */
static const AsyncShared *shared_of(AsyncPairsBuilder *m, enum AsyncForm form,
                                    const EventMeta *start, const EventMeta *done)
{
    AsyncShared op = {.plane = m->plane,
                      .form = form,
                      .start = start,
                      .done = done,
                      .bytes_moved = -1,
                      .bytes_accessed = -1};
    const AsyncShared *known = shared_find(m->shared, &op);
    if (known) return known;
    describe_start(m, &op);
    if (done && !m->err->code) describe_done(m, &op);
    if (m->err->code) return NULL;
    const AsyncShared *added = shared_add(m->shared, &op);
    return added ? added : (prof_nomem(m->err), NULL);
}

static AsyncOp op_of(const AsyncShared *shared, const Half *start)
{
    return (AsyncOp){.shared = shared, .start_event = start->event, .start_ps = start->start_ps};
}

static void add_op(AsyncPairsBuilder *m, const AsyncOp *op)
{
    AsyncOp *added = PUSH(m->found->ops);
    if (added)
        *added = *op;
    else
        prof_nomem(m->err);
}

/* Returns how many programs have started by a time. */
static size_t run_at(const AsyncPairsBuilder *m, int64_t time)
{
    size_t low = LOWER_BOUND(i, 0, m->n_runs, m->runs[i] <= time);
    return low;
}

static Pair *pair_of_half(const AsyncPairsBuilder *m, const Half *half)
{
    return &m->pairs[m->meanings[half->meta - m->plane->event_metas].pair - 1];
}

static void add_start(AsyncPairsBuilder *m, const Half *half)
{
    Pair *pair = pair_of_half(m, half);
    Waiting *w = arena_alloc(&m->arena, sizeof *w);
    if (!w) {
        prof_nomem(m->err);
        return;
    }
    *w = (Waiting){NULL, *half, run_at(m, half->start_ps)};
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

/* Adds a start whose done is not in the profile. */
static void give_up(AsyncPairsBuilder *m, const Waiting *w)
{
    const AsyncShared *shared = shared_of(m, ASYNC_UNFINISHED, w->half.meta, NULL);
    if (!shared) return;
    AsyncOp op = op_of(shared, &w->half);
    add_op(m, &op);
}

static int64_t length(int64_t start, int64_t end)
{
    if (end <= start) return 0;
    return (uint64_t)end - (uint64_t)start > INT64_MAX ? INT64_MAX : end - start;
}

/* Adds the op of a done: with the oldest start that waits in the same execution of the program. A
 * start from an earlier execution has lost its done. A done without a start is dropped. */
static void add_done(AsyncPairsBuilder *m, const Half *done)
{
    Pair *pair = pair_of_half(m, done);
    size_t run = run_at(m, done->start_ps);
    Waiting *w;
    while ((w = next_waiting(pair)) && w->run < run && !m->err->code) give_up(m, w);
    const AsyncShared *shared =
        w && !m->err->code ? shared_of(m, ASYNC_PAIR, w->half.meta, done->meta) : NULL;
    if (!shared) return;
    AsyncOp op = op_of(shared, &w->half);
    op.done_event = done->event, op.done_ps = done->duration_ps > 0 ? done->duration_ps : 0;
    op.duration_ps = length(op.start_ps, add_saturated(done->start_ps, op.done_ps));
    add_op(m, &op);
}

static void add_dones(AsyncPairsBuilder *m)
{
    for (size_t i = 0; i < m->dones.n && !m->err->code; i++) add_done(m, &m->dones.items[i]);
    m->dones.n = 0;
}

static void add_half(AsyncPairsBuilder *m, const Half *half)
{
    enum Role role = m->meanings[half->meta - m->plane->event_metas].role;
    if (m->dones.n && m->dones.items[0].start_ps != half->start_ps) add_dones(m);
    if (role == ROLE_START) {
        add_start(m, half);
        return;
    }
    Half *place = PUSH(m->dones);
    if (place)
        *place = *half;
    else
        prof_nomem(m->err);
}

static void read_runs(AsyncPairsBuilder *m)
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
    sort_int64(m->runs, m->n_runs);
}

ORDER_BY_TWO(by_start, Half, start_ps, event)

static void walk_line(AsyncPairsBuilder *m, Line *line)
{
    LIST(Half) all = {0};
    EventReader reader;
    EventAt e;
    event_reader_open(&reader, line, 0, m->err);
    while (!m->err->code && event_reader_next(&reader, &e)) {
        Half half = {e.meta, e.event, e.start_ps, e.duration_ps}, *place;
        enum Role role = m->meanings[e.meta - m->plane->event_metas].role;
        if (e.occurrences >= 0 || role == ROLE_NONE || role == ROLE_SYNCHRONOUS) continue;
        if (line->ordered)
            add_half(m, &half);
        else if ((place = PUSH(all)))
            *place = half;
        else
            prof_nomem(m->err);
    }
    event_reader_close(&reader);
    sort_array(all.items, all.n, sizeof *all.items, by_start);
    for (size_t i = 0; i < all.n && !m->err->code; i++) add_half(m, &all.items[i]);
    prof_free(all.items);
    add_dones(m);
    for (size_t i = 0; i < m->n_pairs; i++)
        for (Waiting *w; !m->err->code && (w = next_waiting(&m->pairs[i]));) give_up(m, w);
}

/* ---- spans that the file stores as events ---- */

static int by_name_then_start(const void *a, const void *b)
{
    const Known *x = a, *y = b;
    int order = slice_order(x->op, y->op);
    if (order) return order;
    if (x->start_ps != y->start_ps) return ORDER(x->start_ps, y->start_ps);
    return ORDER(x->nth, y->nth);
}

/* Merges new ops into the sorted known ones. */
static bool know_all(AsyncPairsBuilder *m)
{
    size_t n_old = m->n_known, n_new = 0;
    const AsyncOp *ops = m->found->ops.items;
    for (size_t i = m->n_looked; i < m->found->ops.n; i++)
        n_new += ops[i].shared->form != ASYNC_SYNCHRONOUS;
    size_t n_all = n_old + n_new;
    if (!n_new) return true;
    Known *added = prof_buffer(n_new * sizeof *added);
    while (added && m->known_capacity < n_all)
        if (!prof_grow(&m->known, m->known_capacity, &m->known_capacity, sizeof *m->known)) break;
    if (!added || m->known_capacity < n_all) {
        prof_free(added);
        return false;
    }
    n_new = 0;
    for (; m->n_looked < m->found->ops.n; m->n_looked++) {
        const AsyncOp *op = &ops[m->n_looked];
        if (op->shared->form != ASYNC_SYNCHRONOUS)
            added[n_new++] = (Known){op->shared->op, op->start_ps, m->n_looked};
    }
    sort_array(added, n_new, sizeof *added, by_name_then_start);
    while (n_new) {
        bool old = n_old && by_name_then_start(&m->known[n_old - 1], &added[n_new - 1]) > 0;
        m->known[n_old + n_new - 1] = old ? m->known[n_old - 1] : added[n_new - 1];
        n_old -= old, n_new -= !old;
    }
    m->n_known = n_all;
    prof_free(added);
    return true;
}

/* Returns the known op that is the same span: it has the same start op and runs at this time. NULL
 * if there is none. */
static const AsyncOp *find_known(const AsyncPairsBuilder *m, Slice name, int64_t time)
{
    Known wanted = {name, time, SIZE_MAX};
    size_t low = LOWER_BOUND(i, 0, m->n_known, by_name_then_start(&m->known[i], &wanted) <= 0);
    const AsyncOp *known = low ? &m->found->ops.items[m->known[low - 1].nth] : NULL;
    if (!known || !slice_equal(known->shared->op, name)) return NULL;
    return !known->shared->done || time <= add_saturated(known->start_ps, known->duration_ps)
               ? known
               : NULL;
}

static void add_span(AsyncPairsBuilder *m, enum AsyncForm form, const EventMeta *start,
                     const EventAt *e, AsyncOp *op)
{
    int64_t end = add_saturated(e->start_ps, e->duration_ps > 0 ? e->duration_ps : 0);
    op->shared = shared_of(m, form, start, e->meta);
    op->done_event = e->event, op->duration_ps = length(op->start_ps, end);
}

/* A span of an op whose done is not in the profile. */
typedef struct {
    size_t op;
    EventAt span;
} Found;

/* Reads a line of spans. They are compared with the ops of other lines only, so what this line adds
 * is used afterwards. */
static void walk_async_line(AsyncPairsBuilder *m, Line *line)
{
    Found *found = NULL;
    size_t n_found = 0, capacity = 0;
    EventReader reader;
    EventAt e;
    if (!know_all(m)) prof_nomem(m->err);
    event_reader_open(&reader, line, 0, m->err);
    while (event_reader_next(&reader, &e)) {
        Slice name = instruction_name(slice_of(e.meta->name));
        const AsyncOp *known = e.occurrences < 0 ? find_known(m, name, e.start_ps) : NULL;
        if (known && !known->shared->done) {
            if (!GROW(found, n_found, capacity)) {
                prof_nomem(m->err);
                break;
            }
            found[n_found++] = (Found){(size_t)(known - m->found->ops.items), e};
        }
        if (known || e.occurrences >= 0) continue;
        AsyncOp op = {.start_event = e.event, .start_ps = e.start_ps};
        add_span(m, ASYNC_SPAN, e.meta, &e, &op);
        if (!m->err->code) add_op(m, &op);
        if (m->err->code) break;
    }
    event_reader_close(&reader);
    for (size_t i = 0; i < n_found && !m->err->code; i++) {
        AsyncOp *op = &m->found->ops.items[found[i].op];
        add_span(m, ASYNC_START_SPAN, op->shared->start, &found[i].span, op);
    }
    prof_free(found);
}

static void walk_plane(AsyncPairsBuilder *m)
{
    Host *host = m->plane->host;
    read_meanings(m);
    if (!m->err->code) read_runs(m);
    for (int pass = 0; pass < 2; pass++)
        for (size_t i = 0; i < m->plane->n_lines && !m->err->code; i++) {
            Line *line = &host->lines[m->plane->first_line + i];
            if (line->derived || !line->n_events) continue;
            if (!pass && line->kind == LINE_OPS) walk_line(m, line);
            if (pass && line->kind == LINE_ASYNC_OPS) walk_async_line(m, line);
        }
}

static void builder_free(AsyncPairsBuilder *m)
{
    prof_free(m->known);
    prof_free(m->runs);
    prof_free(m->meanings);
    prof_free(m->pairs);
    hash_free(&m->by_name);
    prof_free(m->dones.items);
    arena_free(&m->arena);
}

bool find_async_pairs(Plane *plane, const uint8_t *kinds, FoundOps *found, ProfErr *err)
{
    AsyncPairsBuilder m = {
        .plane = plane, .kinds = kinds, .found = found, .shared = &found->shared, .err = err};
    walk_plane(&m);
    builder_free(&m);
    return !err->code;
}

/* ---- synchronous ops ---- */

static void visit_line(AsyncPairsBuilder *m, Line *line, const AsyncVisitor *visitor)
{
    EventReader reader;
    EventAt e;
    event_reader_open(&reader, line, 0, m->err);
    while (!m->err->code && event_reader_next(&reader, &e)) {
        if (e.occurrences >= 0 ||
            m->meanings[e.meta - m->plane->event_metas].role != ROLE_SYNCHRONOUS)
            continue;
        const AsyncShared *shared = shared_of(m, ASYNC_SYNCHRONOUS, e.meta, e.meta);
        if (!shared) break;
        AsyncOp op = {.shared = shared,
                      .start_event = e.event,
                      .done_event = e.event,
                      .start_ps = e.start_ps,
                      .duration_ps = e.duration_ps > 0 ? e.duration_ps : 0};
        visitor->take(visitor->context, &op, m->err);
    }
    event_reader_close(&reader);
}

bool find_synchronous(Plane *plane, const uint8_t *kinds, const AsyncVisitor *visitor,
                      SharedOps *shared, ProfErr *err)
{
    AsyncPairsBuilder m = {.plane = plane, .kinds = kinds, .shared = shared, .err = err};
    bool any = false;
    read_meanings(&m);
    for (size_t i = 0; i < plane->n_event_metas && !err->code; i++)
        any |= m.meanings[i].role == ROLE_SYNCHRONOUS;
    for (size_t i = 0; i < plane->n_lines && any && !err->code; i++) {
        Line *line = &plane->host->lines[plane->first_line + i];
        if (!line->derived && line->kind == LINE_OPS) visit_line(&m, line, visitor);
    }
    builder_free(&m);
    return !err->code;
}
