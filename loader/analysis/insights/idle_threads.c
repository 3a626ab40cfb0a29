// SPDX-License-Identifier: Apache-2.0
/* idle_threads.c: finds what host threads did while devices were idle; see idle_parts.h.
 *
 * A thread is walked once, with its open events as a stack and the number of idle devices as a
 * function of time. */
#include "../../base/interrupt.h"
#include "../../base/parallel.h"
#include "../../base/search.h"
#include "../../base/sort.h"
#include "../../store/events.h"
#include "../../store/lines.h"
#include "../steps/compile_events.h"
#include "idle_parts.h"

/* ---- causes by name ---- */

static bool is_input(Slice name) { return slice_starts_ignoring_case(name, "IteratorGetNext"); }

enum IdleCause idle_cause_of(Slice name)
{
    static const char *const waiting[] = {
        "Synchronize", "block_until_ready", "BlockUntilReady",       "BlockHostUntilReady",
        "Await",       "Acquire semaphore", "(wait for completion)", "np.asarray(jax.Array)"};
    static const char *const copies[] = {"Memcpy",       "DevicePut",  "device_put", "shard_arg",
                                         "HostBuffer",   "ToLiteral",  "ToDevice",   "FromDevice",
                                         "MapDmaBuffer", "TransferTo", "Memset"};
    static const char *const launches[] = {"Launch", "Executable::Execute", "Executable_Execute",
                                           "EnqueueExecution", "ExecuteReplicated"};
    TfOp op = tf_op_parse(name);
    if (is_compile_event(name)) return IDLE_COMPILING;
    if (is_tracing_event(name) || is_lowering_event(name)) return IDLE_TRACING;
    if (is_input(name) || slice_starts(name, "Iterator::") || op_is_infeed_enqueue(op.type))
        return IDLE_INPUT;
    if (slice_contains_any(name, waiting, COUNT(waiting))) return IDLE_WAITING;
    if (op.category >= OP_MEMCPY_HTOD || slice_contains_any(name, copies, COUNT(copies)))
        return IDLE_COPY;
    if (*name.text == '$' && name.n) return IDLE_PYTHON;
    if (called_function(name).n || slice_contains_any(name, launches, COUNT(launches)))
        return IDLE_LAUNCHING;
    return IDLE_HOST;
}

/* Returns whether a cause applies to everything inside its event, unless that has a specific cause
 * itself. */
static bool is_specific(enum IdleCause cause) { return cause > IDLE_QUEUED; }
/* Returns whether a cause applies to everything inside its event. */
static bool is_final(enum IdleCause cause) { return cause >= IDLE_TRACING; }

/* ---- paths ---- */

static uint32_t find_node(IdleTree *tree, uint32_t parent, enum IdleCause cause, const Text *text)
{
    uint64_t hash = hash64((uint64_t)(uintptr_t)text ^ mix64((uint64_t)parent << 8 | cause));
    HASH_EACH(i, &tree->by_path, hash) {
        const IdleNode *node = &tree->nodes.items[i];
        if (node->parent == parent && node->cause == cause && node->text == text)
            return (uint32_t)i + 1;
    }
    IdleNode *node = PUSH_KEYED(tree->nodes, &tree->by_path, hash);
    if (!node) return 0;
    *node = (IdleNode){.parent = parent, .cause = cause, .text = text};
    return (uint32_t)tree->nodes.n;
}

/* ---- a thread ---- */

typedef struct {
    int64_t start, end;
    uint64_t place;
    uint32_t meta;
} HostSpan;

typedef struct {
    HostSpan span;
    enum IdleCause cause; /* cause of the time inside */
    bool named;           /* the path ends with its name, not with that of the event around it */
    bool runs_program;    /* its cause is that of an event that launches without being a call */
    uint32_t node;        /* index + 1; 0: not created yet */
    uint32_t call;        /* index + 1 of the innermost open call of a function */
} Open;

typedef struct {
    int64_t time, change;
} Change;

/* Merging more runs of stretches than these takes longer than sorting. */
enum { FEW_RUNS = 32 };
/* Consecutive stretches that are ascending and disjoint, as those of one device are. */
typedef struct {
    const IdleStretch *next, *end;
    int64_t time; /* of the next change */
    bool inside;  /* the start of `next` was used */
} StretchRun;

typedef struct {
    IdleTree *tree;
    Line *line;
    const uint8_t *causes; /* by index of event metadata */
    const Text **names; /* texts of the tree, by index of event metadata; NULL: not looked up yet */
    const Cover *input; /* when a thread of the host waits for input */
    const Text *input_name;
    const Cover *compiling; /* when the main thread compiles */
    size_t at_input, at_compiling;
    LIST(Open) open;
    LIST(StretchRun) runs;
    LIST(Change) changes; /* of the number of idle devices, sorted by time */
    size_t at_change;
    int64_t weight, reached;
    IdleStretches *left; /* gets the times without an event; NULL: their cause is unknown */
} Walk;

static const Text *name_of(Walk *w, uint32_t meta)
{
    const Text *name = w->line->plane->event_metas[meta].name;
    if (!w->names[meta])
        w->names[meta] = text_intern(&w->tree->names, &w->tree->arena, name->text, name->n_bytes);
    return w->names[meta];
}

/* Returns the path of the i-th open event. 0 if memory runs out. */
static uint32_t node_of(Walk *w, size_t i)
{
    size_t first = i;
    while (first && !w->open.items[first].node) first--;
    for (size_t k = first; k <= i; k++) {
        Open *o = &w->open.items[k];
        uint32_t around = k ? w->open.items[k - 1].node : 0, meta = o->span.meta;
        if (o->node) continue;
        if (!o->named && k) {
            o->node = around;
            continue;
        }
        /* the function is more informative than the compiler's event */
        if (is_final(o->cause) && o->call) {
            around = w->open.items[o->call - 1].node;
            meta = w->open.items[o->call - 1].span.meta;
        }
        const Text *name = name_of(w, meta);
        if (!name || !(o->node = find_node(w->tree, around, o->cause, name))) return 0;
    }
    return w->open.items[i].node;
}

static bool add_time(Walk *w, uint32_t node, int64_t start, int64_t end)
{
    if (!node) return false;
    w->tree->nodes.items[node - 1].own_ps +=
        ((uint64_t)end - (uint64_t)start) * (uint64_t)w->weight;
    return true;
}

/* Adds a time in which another thread waits for input: that is the cause if the thread's own cause
 * is unknown. */
static bool add_input(Walk *w, uint32_t around, int64_t start, int64_t end)
{
    return add_time(w, find_node(w->tree, around, IDLE_INPUT, w->input_name), start, end);
}

/* Returns whether the main thread is examined instead, because it waits for threads that compile
 * for it. */
static bool is_for_main(const Walk *w, bool compiling)
{
    if (!w->left || !w->open.n) return w->left;
    enum IdleCause cause = w->open.items[w->open.n - 1].cause;
    return compiling && (!is_specific(cause) || cause == IDLE_WAITING || is_final(cause));
}

static bool add_moment(Walk *w, int64_t start, int64_t end, bool input, bool compiling)
{
    if (is_for_main(w, compiling)) {
        IdleStretch *stretch = PUSH(*w->left);
        if (stretch) *stretch = (IdleStretch){.start = start, .end = end, .weight = w->weight};
        return stretch != NULL;
    }
    if (!w->open.n) {
        if (input) return add_input(w, 0, start, end);
        w->tree->unknown_ps += ((uint64_t)end - (uint64_t)start) * (uint64_t)w->weight;
        return true;
    }
    const Open *top = &w->open.items[w->open.n - 1];
    uint32_t node = node_of(w, w->open.n - 1);
    if (!node) return false;
    bool specific = is_specific(top->cause) && top->cause != IDLE_WAITING;
    return input && !specific ? add_input(w, node, start, end) : add_time(w, node, start, end);
}

/* Returns whether the time is in the cover, and lowers `until` to where that changes. */
static bool is_covered(const Cover *cover, size_t *at, int64_t start, int64_t *until)
{
    while (*at < cover->n && cover->items[*at].end <= start) ++*at;
    const Stretch *next = *at < cover->n ? &cover->items[*at] : NULL;
    bool inside = next && next->start <= start;
    int64_t change = *until;
    if (next) change = inside ? next->end : next->start;
    if (change < *until) *until = change;
    return inside;
}

/* Adds a time in which the open events stay the same. It is split where other threads wait for
 * input or the main thread compiles. */
static bool add_times(Walk *w, int64_t start, int64_t end)
{
    while (start < end) {
        int64_t until = end;
        bool input = is_covered(w->input, &w->at_input, start, &until);
        bool compiling = is_covered(w->compiling, &w->at_compiling, start, &until);
        if (!add_moment(w, start, until, input, compiling)) return false;
        start = until;
    }
    return true;
}

/* Adds the time up to `time` in which devices are idle. The open events stay the same. */
static bool pass(Walk *w, int64_t time)
{
    while (w->reached < time) {
        const Change *next = w->at_change < w->changes.n ? &w->changes.items[w->at_change] : NULL;
        int64_t until = next && next->time < time ? next->time : time;
        if (until > w->reached) {
            if (w->weight > 0 && !add_times(w, w->reached, until)) return false;
            w->reached = until;
        }
        if (next && next->time <= w->reached) w->weight += next->change, w->at_change++;
    }
    return true;
}

static bool advance(Walk *w, int64_t time)
{
    while (w->open.n && w->open.items[w->open.n - 1].span.end <= time) {
        if (!pass(w, w->open.items[w->open.n - 1].span.end)) return false;
        w->open.n--;
    }
    return pass(w, time);
}

/* Returns whether an event takes its cause from the event around it. A runtime that runs a program
 * calls Python only because the program does, so that a frame there does not launch. */
static bool takes_cause(enum IdleCause own, const Open *around)
{
    if (is_final(around->cause)) return true;
    if (own == IDLE_PYTHON && around->runs_program) return false;
    return is_specific(around->cause) && !is_specific(own);
}

static bool open_span(Walk *w, const HostSpan *span)
{
    if (!advance(w, span->start)) return false;
    while (w->open.n && w->open.items[w->open.n - 1].span.end < span->end) w->open.n--;
    const Open *around = w->open.n ? &w->open.items[w->open.n - 1] : NULL;
    bool calls = called_function(slice_of(w->line->plane->event_metas[span->meta].name)).n != 0;
    Open now = {.span = *span, .cause = w->causes[span->meta], .named = true};
    now.runs_program = now.cause == IDLE_LAUNCHING && !calls;
    if (around) now.call = around->call;
    if (around && takes_cause(now.cause, around)) {
        now.cause = around->cause;
        now.named = false;
        now.runs_program = around->runs_program;
    }
    Open *place = PUSH(w->open);
    if (!place) return false;
    if (calls && now.named) now.call = (uint32_t)w->open.n;
    *place = now;
    return true;
}

static int by_start_then_longest(const void *a, const void *b)
{
    const HostSpan *x = a, *y = b;
    return BY_START_THEN_LONGEST(x, y, start, end, place);
}

/* Walks the thread to the end of its last stretch. */
static void walk_line(Walk *w, ProfErr *err)
{
    LIST(HostSpan) all = {0};
    EventReader reader;
    EventAt e;
    int64_t last = w->changes.items[w->changes.n - 1].time;
    bool sorts = !w->line->ordered;
    w->open.n = w->at_change = w->at_input = w->at_compiling = 0;
    w->weight = 0, w->reached = INT64_MIN;
    event_reader_open(&reader, w->line, 0, err);
    while (!err->code && event_reader_next(&reader, &e)) {
        if (e.occurrences >= 0 || e.duration_ps <= 0) continue;
        if (!sorts && e.start_ps >= last) break;
        HostSpan span = {e.start_ps, add_saturated(e.start_ps, e.duration_ps), e.event,
                         (uint32_t)(e.meta - w->line->plane->event_metas)};
        HostSpan *place = sorts ? PUSH(all) : NULL;
        if (sorts ? !place : !open_span(w, &span)) prof_nomem(err);
        if (place) *place = span;
    }
    event_reader_close(&reader);
    sort_in_place(all.items, all.n, sizeof *all.items, by_start_then_longest);
    for (size_t i = 0; i < all.n && !interrupt_poll(1, err); i++)
        if (!open_span(w, &all.items[i])) prof_nomem(err);
    if (!err->code && !advance(w, last)) prof_nomem(err);
    prof_free(all.items);
}

/* ---- the host ---- */

/* The causes and names of a plane, computed when its first thread is walked. */
typedef struct {
    uint8_t *causes;
    const Text **names;
} PlaneNames;

/* The bare launches [first, end), which are inside an event that is the innermost on its line. */
typedef struct {
    uint32_t first, end;
    int64_t start; /* start of the event */
    Line *line;
} Around;

typedef struct {
    Host *host;
    const IdleNames *kernels;
    PlaneNames *planes;
    LIST(IdleStretch *) bare; /* sorted by launch */
    LIST(Around) around;
    bool *launches;         /* by line of the host: whether it has bare launches */
    Cover input, compiling; /* compiling: of the main thread */
    const Text *input_name;
    Line *main;
} Threads;

/* Returns the cause of an event by its name. Profilers name the call that launches a kernel after
 * the kernel. */
static enum IdleCause cause_of_name(const Threads *t, const Text *name)
{
    enum IdleCause cause = idle_cause_of(slice_of(name));
    const Text *const *kernels = t->kernels->items;
    size_t n = t->kernels->n;
    size_t at =
        cause == IDLE_HOST ? LOWER_BOUND(i, 0, n, (uintptr_t)kernels[i] < (uintptr_t)name) : n;
    return at < n && kernels[at] == name ? IDLE_LAUNCHING : cause;
}

static PlaneNames *names_of_plane(Threads *t, const Plane *plane, ProfErr *err)
{
    PlaneNames *p = &t->planes[plane - t->host->planes];
    if (p->causes) return p;
    p->causes = prof_alloc(plane->n_event_metas + 1);
    p->names = prof_alloc((plane->n_event_metas + 1) * sizeof *p->names);
    if (!p->causes || !p->names) prof_nomem(err);
    for (size_t i = 0; i < plane->n_event_metas && !interrupt_poll(1, err); i++)
        p->causes[i] = (uint8_t)cause_of_name(t, plane->event_metas[i].name);
    return err->code ? NULL : p;
}

/* Lengths of a line's time that events of each kind cover. */
enum { COVERED_CALLS, COVERED_FRAMES, COVERED_ALL, N_COVERED };

static bool calls_functions(Slice name)
{
    return called_function(name).n || slice_starts(name, "FunctionRun") ||
           slice_starts(name, "EagerExecute");
}

static int by_launch(const void *a, const void *b)
{
    const IdleStretch *x = *(IdleStretch *const *)a, *y = *(IdleStretch *const *)b;
    return ORDER(x->launch, y->launch);
}

/* What one look at a line finds. Lines are looked at in parallel. */
typedef struct {
    const Threads *threads;
    Line *line;
    const uint8_t *kinds; /* by event metadata: bits of COVERED_*, and N_COVERED of input */
    uint64_t covered[N_COVERED];
    Cover times[N_COVERED]; /* covered, while a line is read that is not stored by start */
    LIST(Change) open;      /* start and (here) end times */
    LIST(Around) around;
    Cover input;
    const Text *input_name; /* of the first event of input */
} Look;

static int list_bare(Threads *t, IdleStretches *stretches, ProfErr *err)
{
    if (!(t->launches = prof_alloc(t->host->n_lines + 1))) return prof_nomem(err);
    for (size_t i = 0; i < stretches->n && !interrupt_poll(1, err); i++) {
        IdleStretch *s = &stretches->items[i];
        if (!s->line || !s->bare) continue;
        IdleStretch **bare = PUSH(t->bare);
        if (!bare) return prof_nomem(err);
        *bare = s;
        t->launches[s->line - t->host->lines] = true;
    }
    if (t->bare.n >= UINT32_MAX)
        return prof_fail(err, PROF_LIMIT, 0, "%s: too many launches", t->host->name);
    sort_array(t->bare.items, t->bare.n, sizeof *t->bare.items, by_launch);
    return err->code;
}

/* Records the innermost event around the bare launches before a time, from *at on. */
static bool look_around(Look *look, size_t *at, int64_t time)
{
    const Threads *t = look->threads;
    while (*at < t->bare.n && t->bare.items[*at]->launch < time) {
        int64_t launch = t->bare.items[*at]->launch, until = time;
        while (look->open.n && look->open.items[look->open.n - 1].change <= launch) look->open.n--;
        const Change *top = look->open.n ? &look->open.items[look->open.n - 1] : NULL;
        if (top && top->change < until) until = top->change;
        size_t end = LOWER_BOUND(i, *at, t->bare.n, t->bare.items[i]->launch < until);
        if (top) {
            Around *around = PUSH(look->around);
            if (!around) return false;
            *around = (Around){(uint32_t)*at, (uint32_t)end, top->time, look->line};
        }
        *at = end;
    }
    return true;
}

static int latest_first(const void *a, const void *b)
{
    const Around *x = a, *y = b;
    if (x->start != y->start) return ORDER(y->start, x->start);
    return ORDER(x->line, y->line);
}

static uint32_t next_free(uint32_t *next, uint32_t i)
{
    while (next[i] != i) i = next[i] = next[next[i]];
    return i;
}

/* Assigns each bare launch to the line whose event around it started last. */
static int assign_bare(Threads *t, ProfErr *err)
{
    uint32_t n = (uint32_t)t->bare.n, *next = prof_buffer(((size_t)n + 1) * sizeof *next);
    if (!next) return prof_nomem(err);
    for (uint32_t i = 0; i <= n; i++) next[i] = i;
    sort_array(t->around.items, t->around.n, sizeof *t->around.items, latest_first);
    for (size_t k = 0; k < t->around.n && !interrupt_poll(1, err); k++) {
        const Around *around = &t->around.items[k];
        for (uint32_t i = next_free(next, around->first); i < around->end; i = next_free(next, i))
            t->bare.items[i]->line = around->line, next[i] = i + 1;
    }
    prof_free(next);
    return err->code;
}

/* Opens an event, for look_around(). */
static bool look_into(Look *look, size_t *at, int64_t start, int64_t end)
{
    if (!look_around(look, at, start)) return false;
    while (look->open.n && look->open.items[look->open.n - 1].change <= start) look->open.n--;
    Change *open = PUSH(look->open);
    if (open) *open = (Change){start, end};
    return open != NULL;
}

/* Adds an event to what its kind covers; until: the latest end of this kind. */
static bool add_covered(Look *look, int kind, int64_t start, int64_t end, int64_t *until)
{
    if (!look->line->ordered) return cover_add(&look->times[kind], start, end);
    if (end <= *until) return true;
    look->covered[kind] += (uint64_t)end - (uint64_t)(start > *until ? start : *until);
    *until = end;
    return true;
}

static void finish_covered(Look *look)
{
    for (int k = 0; k < N_COVERED && !look->line->ordered; k++) {
        cover_finish(&look->times[k]);
        look->covered[k] = cover_length(&look->times[k]);
        cover_free(&look->times[k]);
    }
}

static void look_at_line(void *context, size_t i, ProfErr *err)
{
    Look *look = &((Look *)context)[i];
    const Threads *t = look->threads;
    const Line *line = look->line;
    EventReader reader;
    EventAt e;
    int64_t ends[N_COVERED] = {INT64_MIN, INT64_MIN, INT64_MIN};
    bool looks = t->bare.n && line->ordered && !t->launches[line - t->host->lines];
    size_t at = 0;
    event_reader_open(&reader, look->line, 0, err);
    while (event_reader_next(&reader, &e)) {
        size_t meta = (size_t)(e.meta - line->plane->event_metas);
        if (e.occurrences >= 0 || e.duration_ps <= 0) continue;
        int64_t end = add_saturated(e.start_ps, e.duration_ps);
        for (int k = 0; k < N_COVERED; k++)
            if (look->kinds[meta] >> k & 1 && !add_covered(look, k, e.start_ps, end, &ends[k]))
                prof_nomem(err);
        if (looks && !look_into(look, &at, e.start_ps, end)) prof_nomem(err);
        if (!(look->kinds[meta] >> N_COVERED)) continue;
        if (!look->input_name) look->input_name = e.meta->name;
        if (!cover_add(&look->input, e.start_ps, end)) prof_nomem(err);
    }
    event_reader_close(&reader);
    finish_covered(look);
    if (looks && !err->code && !look_around(look, &at, INT64_MAX)) prof_nomem(err);
}

/* Returns the kinds of a plane's events, by metadata. */
static uint8_t *kinds_of(const Plane *plane, ProfErr *err)
{
    uint8_t *kinds = prof_alloc(plane->n_event_metas + 1);
    if (!kinds) prof_nomem(err);
    for (size_t i = 0; kinds && i < plane->n_event_metas && !interrupt_poll(1, err); i++) {
        Slice name = slice_of(plane->event_metas[i].name);
        kinds[i] = (uint8_t)(calls_functions(name) << COVERED_CALLS |
                             slice_starts(name, "$") << COVERED_FRAMES | 1 << COVERED_ALL |
                             is_input(name) << N_COVERED);
    }
    return kinds;
}

/* Adds what was found on a line. Lines come in the order of the file. */
static void add_look(Threads *t, const Look *look, uint64_t *most, IdleTree *tree, ProfErr *err)
{
    const Text *name = look->input_name;
    int order = 0;
    for (int c = 0; c < N_COVERED && !order; c++) order = ORDER(look->covered[c], most[c]);
    if (order > 0) t->main = look->line, memcpy(most, look->covered, sizeof look->covered);
    for (size_t i = 0; i < look->around.n; i++) {
        Around *around = PUSH(t->around);
        if (!around) {
            prof_nomem(err);
            return;
        }
        *around = look->around.items[i];
    }
    for (size_t i = 0; i < look->input.n; i++)
        if (!cover_add(&t->input, look->input.items[i].start, look->input.items[i].end))
            prof_nomem(err);
    if (!name || t->input_name) return;
    t->input_name = text_intern(&tree->names, &tree->arena, name->text, name->n_bytes);
    if (!t->input_name) prof_nomem(err);
}

/* Finds the main thread: the one that calls compiled functions for the longest time; without such
 * calls, the one with Python frames for the longest time; without these, the one with events for
 * the longest time. */
static int find_main(Threads *t, IdleTree *tree, ProfErr *err)
{
    uint64_t most[N_COVERED] = {0};
    size_t n = 0;
    Look *looks = prof_alloc((t->host->n_lines + 1) * sizeof *looks);
    uint8_t **kinds = prof_alloc((t->host->n_planes + 1) * sizeof *kinds);
    if (!looks || !kinds) prof_nomem(err);
    for (size_t i = 0; i < t->host->n_planes && !err->code; i++) {
        const Plane *plane = &t->host->planes[i];
        if (plane->kind != PLANE_HOST) continue;
        kinds[i] = kinds_of(plane, err);
        for (size_t k = 0; k < plane->n_lines; k++) {
            Line *line = &t->host->lines[plane->first_line + k];
            if (!line->derived) looks[n++] = (Look){.threads = t, .line = line, .kinds = kinds[i]};
        }
    }
    if (!err->code) parallel_for(t->host->run->n_workers, n, look_at_line, looks, err);
    for (size_t i = 0; i < n; i++) {
        if (!err->code) add_look(t, &looks[i], most, tree, err);
        prof_free(looks[i].open.items);
        prof_free(looks[i].around.items);
        cover_free(&looks[i].input);
    }
    for (size_t i = 0; kinds && i < t->host->n_planes; i++) prof_free(kinds[i]);
    prof_free(kinds);
    prof_free(looks);
    cover_finish(&t->input);
    return err->code;
}

/* Finds when the main thread compiles or traces. */
static int find_compiling(Threads *t, ProfErr *err)
{
    EventReader reader;
    EventAt e;
    PlaneNames *names = t->main ? names_of_plane(t, t->main->plane, err) : NULL;
    if (!names) return err->code;
    event_reader_open(&reader, t->main, 0, err);
    while (event_reader_next(&reader, &e) && !err->code)
        if (e.occurrences < 0 && e.duration_ps > 0 &&
            is_final((enum IdleCause)names->causes[e.meta - t->main->plane->event_metas]) &&
            !cover_add(&t->compiling, e.start_ps, add_saturated(e.start_ps, e.duration_ps)))
            prof_nomem(err);
    event_reader_close(&reader);
    cover_finish(&t->compiling);
    return err->code;
}

static int by_line(const void *a, const void *b)
{
    const IdleStretch *x = a, *y = b;
    uintptr_t x_line = (uintptr_t)x->line, y_line = (uintptr_t)y->line;
    return ORDER(x_line, y_line);
}

ORDER_BY(by_time, Change, time)

/* Adds stretches in which the thread is examined. */
static void add_stretches(Walk *w, const IdleStretch *stretches, size_t n, ProfErr *err)
{
    for (size_t i = 0; i < n && !interrupt_poll(1, err); i++) {
        const IdleStretch *s = &stretches[i];
        StretchRun *run = i ? &w->runs.items[w->runs.n - 1] : NULL;
        if (!run || s->start < s[-1].end) {
            if (!(run = PUSH(w->runs))) {
                prof_nomem(err);
                break;
            }
            *run = (StretchRun){.next = s, .time = s->start};
        }
        run->end = s + 1;
    }
}

/* Adds the next start or end of a run. Several at one time are one change. */
static bool add_change(Walk *w, StretchRun *run)
{
    int64_t time = run->time, change = run->inside ? -run->next->weight : run->next->weight;
    Change *last = w->changes.n ? &w->changes.items[w->changes.n - 1] : NULL;
    bool same = last && last->time == time;
    if (!same && !(last = PUSH(w->changes))) return false;
    *last = (Change){time, same ? last->change + change : change};
    if (!run->inside)
        run->time = run->next->end;
    else if (++run->next < run->end)
        run->time = run->next->start;
    run->inside = !run->inside;
    return true;
}

/* Lists the changes of many runs. */
static void sort_changes(Walk *w, ProfErr *err)
{
    for (size_t i = 0; i < w->runs.n; i++) {
        StretchRun *run = &w->runs.items[i];
        while (run->next < run->end && !interrupt_poll(1, err))
            if (!add_change(w, run)) prof_nomem(err);
    }
    sort_array(w->changes.items, w->changes.n, sizeof *w->changes.items, by_time);
}

/* Lists the changes of few runs, such as those of the devices of a host. */
static void merge_changes(Walk *w, ProfErr *err)
{
    StretchRun *runs = w->runs.items;
    for (size_t n = w->runs.n; n && !interrupt_poll(1, err);) {
        StretchRun *first = runs;
        for (size_t i = 1; i < n; i++)
            if (runs[i].time < first->time) first = &runs[i];
        if (!add_change(w, first)) prof_nomem(err);
        if (first->next == first->end) *first = runs[--n];
    }
}

/* Walks a thread in the stretches that were added. */
static void walk_changes(Threads *t, Walk *w, ProfErr *err)
{
    PlaneNames *names = names_of_plane(t, w->line->plane, err);
    if (names && !err->code) (w->runs.n <= FEW_RUNS ? merge_changes : sort_changes)(w, err);
    if (names && w->changes.n && !err->code) {
        w->causes = names->causes, w->names = names->names;
        walk_line(w, err);
    }
    w->changes.n = w->runs.n = 0;
}

static bool is_of_main(const Threads *t, const Line *line) { return !line || line == t->main; }

/* Returns the end of the stretches with the same line as the first. */
static size_t end_of_line(const IdleStretches *all, size_t first)
{
    size_t end = first;
    while (end < all->n && all->items[end].line == all->items[first].line) end++;
    return end;
}

/* Walks the threads other than the main one. `left` of the walk gets what the main thread is
 * examined for instead. */
static void walk_others(Threads *t, Walk *w, const IdleStretches *all, ProfErr *err)
{
    for (size_t first = 0, end; first < all->n && !err->code; first = end) {
        end = end_of_line(all, first);
        w->line = all->items[first].line;
        if (is_of_main(t, w->line)) continue;
        add_stretches(w, all->items + first, end - first, err);
        walk_changes(t, w, err);
    }
}

static void add_unknown(IdleTree *tree, const IdleStretch *stretches, size_t n)
{
    for (const IdleStretch *s = stretches; s < stretches + n; s++)
        tree->unknown_ps += ((uint64_t)s->end - (uint64_t)s->start) * (uint64_t)s->weight;
}

/* Adds stretches of the main thread; their times are unknown if there is none. */
static void add_to_main(Threads *t, Walk *w, const IdleStretch *stretches, size_t n, ProfErr *err)
{
    if (t->main)
        add_stretches(w, stretches, n, err);
    else
        add_unknown(w->tree, stretches, n);
}

static void walk_main(Threads *t, Walk *w, const IdleStretches *all, const IdleStretches *left,
                      ProfErr *err)
{
    w->left = NULL, w->line = t->main;
    for (size_t first = 0, end; first < all->n; first = end) {
        end = end_of_line(all, first);
        if (is_of_main(t, all->items[first].line))
            add_to_main(t, w, all->items + first, end - first, err);
    }
    add_to_main(t, w, left->items, left->n, err);
    if (t->main && !err->code) walk_changes(t, w, err);
}

static int walk_threads(Threads *t, IdleStretches *stretches, IdleTree *tree, ProfErr *err)
{
    IdleStretches left = {0};
    Walk w = {.tree = tree,
              .input = &t->input,
              .input_name = t->input_name,
              .compiling = &t->compiling,
              .left = &left};
    sort_array(stretches->items, stretches->n, sizeof *stretches->items, by_line);
    walk_others(t, &w, stretches, err);
    walk_main(t, &w, stretches, &left, err);
    prof_free(left.items);
    prof_free(w.open.items);
    prof_free(w.changes.items);
    prof_free(w.runs.items);
    return err->code;
}

int idle_threads_of_host(Host *host, IdleStretches *stretches, const IdleNames *kernels,
                         IdleTree *tree, ProfErr *err)
{
    Threads t = {.host = host,
                 .kernels = kernels,
                 .planes = prof_alloc((host->n_planes + 1) * sizeof *t.planes)};
    if (!t.planes) prof_nomem(err);
    if (!err->code && !list_bare(&t, stretches, err) && !find_main(&t, tree, err) &&
        !find_compiling(&t, err) && !assign_bare(&t, err))
        walk_threads(&t, stretches, tree, err);
    prof_free(t.bare.items);
    prof_free(t.around.items);
    prof_free(t.launches);
    for (size_t i = 0; t.planes && i < host->n_planes; i++) {
        prof_free(t.planes[i].causes);
        prof_free(t.planes[i].names);
    }
    prof_free(t.planes);
    cover_free(&t.input);
    cover_free(&t.compiling);
    return err->code;
}
