// SPDX-License-Identifier: Apache-2.0
/* launch_contexts.c: finds what contains each launch; see launches.h.
 *
 * Events that do not contain the start of a launch are dropped when they are read. The others are
 * visited by start. If an event starts later and ends no earlier than another, it is the
 * inner one of the two for all later launches. So the events that still matter are a stack, in
 * which later ones end earlier. */
#include "launch_contexts.h"

#include "../../base/interrupt.h"
#include "../../base/search.h"
#include "../../base/sort.h"
#include "../../store/events.h"
#include "../../store/lines.h"

bool is_python_frame(const EventMeta *meta) { return meta->name->text[0] == '$'; }

Slice executed_module(const EventMeta *meta)
{
    static const char suffix[] = ":XLA GPU module";
    Slice name = slice_of(meta->name);
    return (Slice){name.text, slice_ends(name, suffix) ? name.n - (sizeof suffix - 1) : 0};
}

ORDER_BY_TWO(by_moment, Moment, place, start_ps)

/* Lists the starts of calls that launched something, sorted. */
static void list_moments(ContextsBuilder *m, ProfErr *err)
{
    const Launches *all = m->all;
    bool *wanted = prof_alloc(all->n_launches);
    m->moments = prof_buffer(all->n_launches * sizeof *m->moments);
    if (!wanted || !m->moments) prof_nomem(err);
    for (size_t i = 0; i < all->n_work && !err->code; i++) wanted[all->work[i].launch] = true;
    for (size_t i = 0; i < all->n_launches && !err->code; i++) {
        const Launch *l = &all->launches[i];
        if (wanted[i])
            m->moments[m->n_moments++] =
                (Moment){l->line->plane->process_id, l->start_ps,
                         add_saturated(l->start_ps, l->duration_ps), (uint32_t)i};
    }
    prof_free(wanted);
    if (!err->code) sort_array(m->moments, m->n_moments, sizeof *m->moments, by_moment);
}

static bool contains_start(const ContextsBuilder *m, const Container *c)
{
    const Moment from = {c->place, c->start_ps, 0, 0};
    size_t at = LOWER_BOUND(i, 0, m->n_moments, by_moment(&m->moments[i], &from) < 0);
    return at < m->n_moments && m->moments[at].place == c->place &&
           m->moments[at].start_ps <= c->end_ps;
}

static void read_containers(void *context, size_t i, ProfErr *err)
{
    ContextsBuilder *m = context;
    Containers *out = &m->lines[i];
    Line *line = &m->host->lines[i];
    if (line->plane->kind != PLANE_HOST || line->derived) return;
    EventReader reader;
    EventAt e;
    const uint64_t *calls = m->all->calls;
    size_t n_calls = m->all->n_calls,
           call = LOWER_BOUND(k, 0, n_calls, calls[k] < line->first_event);
    event_reader_open(&reader, line, 0, err);
    while (event_reader_next(&reader, &e)) {
        bool is_call = call < n_calls && calls[call] == e.event;
        call += is_call;
        Container c = {e.start_ps,
                       add_saturated(e.start_ps, e.duration_ps),
                       line->plane->process_id,
                       line,
                       {e.event, e.meta}};
        if (is_call || e.occurrences >= 0 || !contains_start(m, &c)) continue;
        Container *place = PUSH(*out);
        if (!place) {
            prof_nomem(err);
            break;
        }
        *place = c;
    }
    event_reader_close(&reader);
}

static int by_opening(const void *a, const void *b)
{
    const Container *x = a, *y = b;
    if (x->place != y->place) return ORDER(x->place, y->place);
    return BY_START_THEN_LONGEST(x, y, start_ps, end_ps, event.event);
}

bool open_container(Open *open, const Container *c)
{
    while (open->n && (open->items[open->n - 1]->end_ps <= c->end_ps ||
                       open->items[open->n - 1]->place != c->place))
        open->n--;
    const Container **place = PUSH(*open);
    if (place) *place = c;
    return place != NULL;
}

const Container *innermost(const Open *open, const Moment *moment)
{
    size_t n = LOWER_BOUND(i, 0, open->n, open->items[i]->end_ps >= moment->end_ps);
    return n && open->items[n - 1]->place == moment->place ? open->items[n - 1] : NULL;
}

static LaunchContext innermost_event(const Open *open, const Moment *moment)
{
    const Container *found = innermost(open, moment);
    return found ? found->event : (LaunchContext){0};
}

/* The open containers of each kind. Those of executions are annotations too. */
typedef struct {
    Open annotations, frames, executions;
} OpenKinds;

static bool open_by_kind(OpenKinds *open, const Container *c)
{
    if (is_python_frame(c->event.meta)) return open_container(&open->frames, c);
    if (executed_module(c->event.meta).n && !open_container(&open->executions, c)) return false;
    return open_container(&open->annotations, c);
}

enum Where { OWN_LINE, ANY_LINE, THREAD };

/* Events of the own line come before those of other lines, and those of the thread's before both.
 */
static void set_contexts(LaunchContexts *launch, const OpenKinds *open, const Moment *moment,
                         enum Where where)
{
    LaunchContext annotation = innermost_event(&open->annotations, moment),
                  python = innermost_event(&open->frames, moment);
    bool found = annotation.meta || python.meta;
    bool counts = where == ANY_LINE ? !launch->on_own_line : found;
    if (where == OWN_LINE) launch->on_own_line = found;
    if (counts) launch->annotation = annotation;
    if (counts || where == THREAD) launch->execution = innermost_event(&open->executions, moment);
    if (where == ANY_LINE ? !launch->python.meta : python.meta != NULL) launch->python = python;
}

static void visit(ContextsBuilder *m, enum Where where, ProfErr *err)
{
    OpenKinds open = {0};
    size_t at = 0;
    for (size_t i = 0; i < m->n_moments && !err->code; i++) {
        const Moment *moment = &m->moments[i];
        for (; at < m->events.n && has_begun(&m->events.items[at], moment) && !err->code; at++)
            if (!open_by_kind(&open, &m->events.items[at])) prof_nomem(err);
        set_contexts(&m->result[moment->launch], &open, moment, where);
        if (interrupt_due(1)) interrupt_poll(0, err);
    }
    prof_free(open.annotations.items), prof_free(open.frames.items);
    prof_free(open.executions.items);
}

static void join_lines(ContextsBuilder *m, ProfErr *err)
{
    Containers *all = &m->events;
    for (size_t i = 0; i < m->host->n_lines; i++) all->capacity += m->lines[i].n;
    all->items = prof_buffer(all->capacity * sizeof *all->items);
    if (!all->items) {
        prof_nomem(err);
        return;
    }
    for (size_t i = 0; i < m->host->n_lines; i++) {
        Containers *line = &m->lines[i];
        if (line->n) memcpy(&all->items[all->n], line->items, line->n * sizeof *all->items);
        all->n += line->n;
        prof_free(line->items);
        line->items = NULL;
    }
}

static void sort_places(ContextsBuilder *m)
{
    sort_array(m->events.items, m->events.n, sizeof *m->events.items, by_opening);
    sort_array(m->moments, m->n_moments, sizeof *m->moments, by_moment);
}

static void place_by_line(ContextsBuilder *m)
{
    for (size_t i = 0; i < m->events.n; i++)
        m->events.items[i].place = m->events.items[i].line - m->host->lines;
    for (size_t i = 0; i < m->n_moments; i++)
        m->moments[i].place = (int64_t)launch_line(m, &m->moments[i]);
    sort_places(m);
}

static void place_by_process(ContextsBuilder *m)
{
    for (size_t i = 0; i < m->events.n; i++)
        m->events.items[i].place = m->events.items[i].line->plane->process_id;
    for (size_t i = 0; i < m->n_moments; i++)
        m->moments[i].place = m->host->lines[launch_line(m, &m->moments[i])].plane->process_id;
    sort_places(m);
}

/* Places launches at the lines of their threads, and leaves out those without. */
static void place_by_thread(ContextsBuilder *m, const uint32_t *threads)
{
    size_t n = 0;
    place_by_line(m);
    for (size_t i = 0; i < m->n_moments; i++) {
        uint32_t thread = threads[launch_line(m, &m->moments[i])];
        if (thread) m->moments[n] = m->moments[i], m->moments[n++].place = thread - 1;
    }
    m->n_moments = n;
    sort_array(m->moments, n, sizeof *m->moments, by_moment);
}

static void find_contexts(ContextsBuilder *m, ProfErr *err)
{
    join_lines(m, err);
    if (err->code) return;
    place_by_line(m);
    visit(m, OWN_LINE, err);
    place_by_process(m);
    visit(m, ANY_LINE, err);
    uint32_t *threads = err->code ? NULL : find_launch_threads(m, err);
    if (threads) {
        place_by_thread(m, threads);
        visit(m, THREAD, err);
    }
    prof_free(threads);
}

/* ---- the analysis ---- */

static void *contexts_make(Run *run, Host *only, ProfErr *err)
{
    Host *host = only ? only : &run->hosts[0];
    ContextsBuilder m = {.host = host, .all = host_launches(host, err)};
    if (!m.all) return NULL;
    m.lines = prof_alloc(host->n_lines * sizeof *m.lines);
    m.result = prof_alloc(m.all->n_launches * sizeof *m.result);
    if (!m.lines || !m.result) prof_nomem(err);
    if (!err->code) list_moments(&m, err);
    if (!err->code && m.n_moments &&
        !parallel_lines(host->lines, host->n_lines, read_containers, &m, err))
        find_contexts(&m, err);
    for (size_t i = 0; m.lines && i < host->n_lines; i++) prof_free(m.lines[i].items);
    prof_free(m.lines);
    prof_free(m.events.items);
    prof_free(m.moments);
    if (err->code) prof_free(m.result), m.result = NULL;
    return m.result;
}

const LaunchContexts *host_launch_contexts(Host *host, ProfErr *err)
{
    static const Analysis analysis = {contexts_make, prof_free, NEEDS_ONE_HOST_AT_A_TIME};
    return run_analysis(host->run, host, &analysis, err);
}
