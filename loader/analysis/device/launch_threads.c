// SPDX-License-Identifier: Apache-2.0
/* launch_threads.c: finds the threads of launches that a profiler records on lines of their own,
 * whose ids are none of the threads' lines; see launches.h.
 *
 * A line of launches is of one thread. Of the lines with executions of HLO programs, the thread's
 * has those that contain the launches. At any moment executions may run on several lines, so each
 * launch gives points to all whose executions contain it. */
#include "launch_contexts.h"

#include "../../base/hash_table.h"
#include "../../base/interrupt.h"

enum { MOST_AT_ONCE = 64 }; /* lines with an execution that runs at one moment */

/* The containers of a line that have begun. */
typedef struct {
    Open executions, annotations;
    bool has_executions, listed;
} LineOpen;

typedef struct {
    size_t launches, line; /* two lines, by their indexes */
    uint64_t points;
} Score;

typedef struct {
    const ContextsBuilder *m;
    LineOpen *lines;
    LIST(size_t) running; /* lines whose executions have begun and may still run */
    LIST(Score) scores;
    HashTable by_lines;
    uint32_t *threads; /* the result; UINT32_MAX: wanted */
} ThreadSearch;

/* Marks lines with launches none of which another event of the line contains. */
static bool mark_wanted(ThreadSearch *s)
{
    const ContextsBuilder *m = s->m;
    bool any = false;
    for (size_t i = 0; i < m->n_moments; i++)
        s->threads[launch_line(m, &m->moments[i])] = UINT32_MAX;
    for (size_t i = 0; i < m->n_moments; i++)
        if (m->result[m->moments[i].launch].on_own_line)
            s->threads[launch_line(m, &m->moments[i])] = 0;
    for (size_t i = 0; i < m->host->n_lines; i++) any |= s->threads[i] != 0;
    return any;
}

static bool mark_executions(ThreadSearch *s)
{
    const Containers *events = &s->m->events;
    bool any = false;
    for (size_t i = 0; i < events->n; i++) {
        bool executes = executed_module(events->items[i].event.meta).n;
        if (executes) s->lines[events->items[i].line - s->m->host->lines].has_executions = true;
        any |= executes;
    }
    return any;
}

static bool open_on_line(ThreadSearch *s, const Container *c)
{
    size_t at = (size_t)(c->line - s->m->host->lines);
    LineOpen *line = &s->lines[at];
    if (!line->has_executions || is_python_frame(c->event.meta)) return true;
    if (!open_container(&line->annotations, c)) return false;
    if (!executed_module(c->event.meta).n) return true;
    if (!open_container(&line->executions, c)) return false;
    if (line->listed) return true;
    size_t *place = PUSH(s->running);
    if (place) *place = at, line->listed = true;
    return place != NULL;
}

/* Drops lines on which no execution runs any more. Returns whether few enough are left. */
static bool keep_running(ThreadSearch *s, const Moment *moment)
{
    for (size_t i = 0; i < s->running.n && i <= MOST_AT_ONCE;) {
        LineOpen *line = &s->lines[s->running.items[i]];
        const Container *longest = line->executions.items[0];
        bool runs = longest->place == moment->place && longest->end_ps >= moment->start_ps;
        if (!runs) line->listed = false, s->running.items[i] = s->running.items[--s->running.n];
        i += runs;
    }
    return s->running.n <= MOST_AT_ONCE;
}

static bool add_points(ThreadSearch *s, size_t launches, size_t line, uint64_t points)
{
    uint64_t hash = hash64(launches ^ hash64(line));
    HASH_EACH(i, &s->by_lines, hash) {
        Score *score = &s->scores.items[i];
        if (score->launches == launches && score->line == line) {
            score->points += points;
            return true;
        }
    }
    Score *score = PUSH_KEYED(s->scores, &s->by_lines, hash);
    if (score) *score = (Score){launches, line, points};
    return score != NULL;
}

/* One point for an execution that contains the launch, one more for an event within it. */
static bool score_launch(ThreadSearch *s, const Moment *moment)
{
    size_t launches = launch_line(s->m, moment);
    if (!s->threads[launches] || !keep_running(s, moment)) return true;
    for (size_t i = 0; i < s->running.n; i++) {
        size_t line = s->running.items[i];
        const Container *execution = innermost(&s->lines[line].executions, moment),
                        *annotation = innermost(&s->lines[line].annotations, moment);
        if (execution && !add_points(s, launches, line, 1 + (annotation != execution)))
            return false;
    }
    return true;
}

static void score_launches(ThreadSearch *s, ProfErr *err)
{
    const ContextsBuilder *m = s->m;
    size_t at = 0;
    bool ok = true;
    for (size_t i = 0; i < m->n_moments && ok && !interrupt_poll(1, err); i++) {
        const Moment *moment = &m->moments[i];
        for (; at < m->events.n && has_begun(&m->events.items[at], moment) && ok; at++)
            ok = open_on_line(s, &m->events.items[at]);
        ok = ok && score_launch(s, moment);
    }
    if (!ok) prof_nomem(err);
}

/* The line with the most points; of several, the first. */
static bool choose_threads(ThreadSearch *s)
{
    uint64_t *most = prof_alloc(s->m->host->n_lines * sizeof *most);
    if (!most) return false;
    for (size_t i = 0; i < s->scores.n; i++) {
        const Score *score = &s->scores.items[i];
        uint32_t *thread = &s->threads[score->launches], line = (uint32_t)score->line + 1;
        uint64_t *best = &most[score->launches];
        if (score->points > *best || (score->points == *best && line < *thread))
            *best = score->points, *thread = line;
    }
    for (size_t i = 0; i < s->m->host->n_lines; i++)
        if (!most[i]) s->threads[i] = 0;
    prof_free(most);
    return true;
}

uint32_t *find_launch_threads(const ContextsBuilder *m, ProfErr *err)
{
    size_t n = m->host->n_lines;
    ThreadSearch s = {.m = m,
                      .lines = prof_alloc(n * sizeof *s.lines),
                      .threads = prof_alloc(n * sizeof *s.threads)};
    bool found = false;
    if (!s.lines || !s.threads) {
        prof_nomem(err);
    } else if (mark_wanted(&s) && mark_executions(&s)) {
        score_launches(&s, err);
        found = !err->code && s.scores.n;
        if (found && !choose_threads(&s)) prof_nomem(err);
    }
    for (size_t i = 0; s.lines && i < n; i++)
        prof_free(s.lines[i].executions.items), prof_free(s.lines[i].annotations.items);
    prof_free(s.lines), prof_free(s.running.items), prof_free(s.scores.items);
    hash_free(&s.by_lines);
    if (found && !err->code) return s.threads;
    prof_free(s.threads);
    return NULL;
}
