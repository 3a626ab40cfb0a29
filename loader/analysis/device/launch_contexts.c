// SPDX-License-Identifier: Apache-2.0
/* launch_contexts.c: finds what contains each launch; see launches.h.
 *
 * Events that do not contain the start of a launch are dropped when they are read. The others are
 * visited once, by start. If an event starts later and ends no earlier than another, it is the
 * inner one of the two for all later launches. So the events that still matter are a stack, in
 * which later ones end earlier. */
#include "launches.h"

#include "../../base/interrupt.h"
#include "../../base/list.h"
#include "../../base/search.h"
#include "../../base/sort.h"
#include "../../store/events.h"
#include "../../store/lines.h"

/* An event that contains the start of a launch. */
typedef struct {
    int64_t start_ps, end_ps, place; /* place: as in Moment */
    const Line *line;
    LaunchContext event;
} Container;

/* The start of a launch. Its containers have the same place: process, or line. */
typedef struct {
    int64_t place, start_ps, end_ps;
    uint32_t launch;
} Moment;

typedef LIST(Container) Containers;
typedef struct {
    Host *host;
    const Launches *all;
    Containers *lines; /* those of each line */
    LaunchContexts *result;
    Moment *moments; /* by place, then by start */
    size_t n_moments;
} ContextsBuilder;

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

/* Containers of one kind that have started, the innermost last. Each ends before those below it. */
typedef LIST(const Container *) Open;

static bool open_container(Open *open, const Container *c)
{
    while (open->n && (open->items[open->n - 1]->end_ps <= c->end_ps ||
                       open->items[open->n - 1]->place != c->place))
        open->n--;
    const Container **place = PUSH(*open);
    if (place) *place = c;
    return place != NULL;
}

static LaunchContext innermost(const Open *open, const Moment *moment)
{
    size_t n = LOWER_BOUND(i, 0, open->n, open->items[i]->end_ps >= moment->end_ps);
    bool found = n && open->items[n - 1]->place == moment->place;
    return found ? open->items[n - 1]->event : (LaunchContext){0};
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

/* Sets the containers of each launch. A container on the launch's own line replaces those of other
 * lines. */
static void visit(ContextsBuilder *m, const Container *containers, size_t n, bool own_line,
                  ProfErr *err)
{
    OpenKinds open = {0};
    size_t at = 0;
    for (size_t i = 0; i < m->n_moments && !err->code; i++) {
        const Moment *moment = &m->moments[i];
        LaunchContexts *launch = &m->result[moment->launch];
        for (; at < n && !err->code; at++) {
            const Container *c = &containers[at];
            if (c->place > moment->place ||
                (c->place == moment->place && c->start_ps > moment->start_ps))
                break;
            if (!open_by_kind(&open, c)) prof_nomem(err);
        }
        LaunchContext annotation = innermost(&open.annotations, moment),
                      python = innermost(&open.frames, moment);
        if (!own_line || annotation.meta || python.meta)
            launch->annotation = annotation,
            launch->execution = innermost(&open.executions, moment);
        if (!own_line || python.meta) launch->python = python;
        launch->on_own_line = own_line && (annotation.meta || python.meta);
        if (interrupt_due(1)) interrupt_poll(0, err);
    }
    prof_free(open.annotations.items), prof_free(open.frames.items);
    prof_free(open.executions.items);
}

static void find_contexts(ContextsBuilder *m, ProfErr *err)
{
    Containers all = {0};
    for (size_t i = 0; i < m->host->n_lines; i++) all.capacity += m->lines[i].n;
    all.items = prof_buffer(all.capacity * sizeof *all.items);
    if (!all.items) {
        prof_nomem(err);
        return;
    }
    for (size_t i = 0; i < m->host->n_lines; i++) {
        Containers *line = &m->lines[i];
        if (line->n) memcpy(&all.items[all.n], line->items, line->n * sizeof *all.items);
        all.n += line->n;
        prof_free(line->items);
        line->items = NULL;
    }
    sort_array(all.items, all.n, sizeof *all.items, by_opening);
    visit(m, all.items, all.n, false, err);
    for (size_t i = 0; i < all.n; i++) all.items[i].place = all.items[i].line - m->host->lines;
    for (size_t i = 0; i < m->n_moments; i++)
        m->moments[i].place = m->all->launches[m->moments[i].launch].line - m->host->lines;
    sort_array(all.items, all.n, sizeof *all.items, by_opening);
    sort_array(m->moments, m->n_moments, sizeof *m->moments, by_moment);
    if (!err->code) visit(m, all.items, all.n, true, err);
    prof_free(all.items);
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
    prof_free(m.moments);
    if (err->code) prof_free(m.result), m.result = NULL;
    return m.result;
}

const LaunchContexts *host_launch_contexts(Host *host, ProfErr *err)
{
    static const Analysis analysis = {contexts_make, prof_free, NEEDS_ONE_HOST_AT_A_TIME};
    return run_analysis(host->run, host, &analysis, err);
}
