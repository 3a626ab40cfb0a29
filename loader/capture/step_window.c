// SPDX-License-Identifier: Apache-2.0
/* step_window.c: records a window of steps; see step_window.h. */
#define _GNU_SOURCE
#include "step_window.h"

#include "control.h"
#include "record.h"
#include "session.h"

#include <fnmatch.h>
#include <pthread.h>

enum { MOST_DOMAINS = 8, MOST_OPEN = 256 };

/* A step that is open on this thread, with the number of open ranges of its domain, including
 * itself. */
typedef struct {
    const char *domain;
    uint32_t depth;
    bool in_window;
} OpenStep;
static _Thread_local OpenStep open_steps[MOST_DOMAINS];
static _Thread_local unsigned n_open_steps; /* usually 0: then a range costs almost nothing */

static struct {
    _Atomic bool counting;
    const char *pattern;
    size_t n_literal; /* length of the pattern before its first special character */
    StepsAsked asked;
    pthread_mutex_t lock; /* for the following fields */
    uint64_t n_seen, n_closed;
    bool recording;
    uint64_t open_ids[MOST_OPEN]; /* start/end ranges of the window */
    _Atomic size_t n_open_ids;
} w = {.lock = PTHREAD_MUTEX_INITIALIZER};

void step_window_begin(void)
{
    const CaptureOptions *o = session_options();
    if (!o->by_steps || atomic_load(&w.counting)) return;
    w.pattern = o->step_range, w.n_literal = strcspn(o->step_range, "*?[\\");
    w.asked = (StepsAsked){o->first_step, o->n_steps};
    atomic_store(&w.counting, true);
}

static bool is_step(const char *text)
{
    return text && !strncmp(text, w.pattern, w.n_literal) &&
           !fnmatch(w.pattern, text, FNM_NOESCAPE);
}

/* Called with the lock held: steps of other threads wait until recording has started. */
static void start_window(void)
{
    ProfErr err = {0};
    if (session_is_on()) { /* recording was started by other means */
        atomic_store(&w.counting, false);
        return;
    }
    w.recording = !session_start_steps(&w.asked, &err);
    if (w.recording) return;
    atomic_store(&w.counting, false);
    session_say("%s. Nothing is recorded.", err.text);
}

/* Counts a step that starts. Returns true, with the lock held, if it is in the window: the times of
 * steps then have the order in which they are counted. */
static bool step_starts(void)
{
    pthread_mutex_lock(&w.lock);
    uint64_t number = w.n_seen++;
    if (number == w.asked.first) start_window();
    return w.recording && (!w.asked.n || number < w.asked.first + w.asked.n);
}

static void step_ends(void)
{
    pthread_mutex_lock(&w.lock);
    bool last = w.recording && ++w.n_closed == w.asked.n;
    if (last) w.recording = false, atomic_store(&w.counting, false);
    pthread_mutex_unlock(&w.lock);
    if (!last) return;
    session_stop_steps();
    control_wake();
}

/* ---- ranges of a thread ---- */

static OpenStep *open_step(const char *domain)
{
    for (size_t i = 0; i < MOST_DOMAINS && n_open_steps; i++)
        if (open_steps[i].depth && open_steps[i].domain == domain) return &open_steps[i];
    return NULL;
}

/* Returns true, with the lock held, if the range is a step. */
static bool range_pushed(const char *domain, const char *text)
{
    OpenStep *step = open_step(domain);
    if (step) {
        step->depth++;
        return false;
    }
    if (!is_step(text)) return false;
    for (size_t i = 0; i < MOST_DOMAINS && !step; i++)
        if (!open_steps[i].depth) step = &open_steps[i];
    if (!step) return false;
    n_open_steps++;
    *step = (OpenStep){domain, 1, step_starts()};
    return true;
}

static void range_popped(const char *domain)
{
    OpenStep *step = open_step(domain);
    if (!step || --step->depth) return;
    n_open_steps--;
    if (step->in_window) step_ends();
}

/* ---- ranges that may end on another thread ---- */

/* Returns true, with the lock held, if the range is a step. */
static bool range_opened(uint64_t id, const char *text)
{
    if (!is_step(text)) return false;
    size_t n = step_starts() ? atomic_load(&w.n_open_ids) : MOST_OPEN;
    if (n < MOST_OPEN) w.open_ids[n] = id, atomic_store(&w.n_open_ids, n + 1);
    return true;
}

static void range_closed(uint64_t id)
{
    bool found = false;
    if (!atomic_load(&w.n_open_ids)) return;
    pthread_mutex_lock(&w.lock);
    size_t n = atomic_load(&w.n_open_ids);
    for (size_t i = 0; i < n && !found; i++)
        if ((found = w.open_ids[i] == id))
            w.open_ids[i] = w.open_ids[n - 1], atomic_store(&w.n_open_ids, n - 1);
    pthread_mutex_unlock(&w.lock);
    if (found) step_ends();
}

void step_window_put(RangeEvent *event, const char *text, size_t n_text)
{
    bool counting = atomic_load_explicit(&w.counting, memory_order_acquire), starts = false;
    if (counting && event->kind == REC_PUSH) starts = range_pushed(event->domain, text);
    if (counting && event->kind == REC_OPEN) starts = range_opened(event->range, text);
    rings_put(event, text, n_text);
    if (starts) pthread_mutex_unlock(&w.lock);
    if (counting && event->kind == REC_POP) range_popped(event->domain);
    if (counting && event->kind == REC_CLOSE) range_closed(event->range);
}

void step_window_end(void)
{
    if (!atomic_exchange(&w.counting, false)) return;
    pthread_mutex_lock(&w.lock);
    unsigned long long first = w.asked.first, n = w.asked.n, seen = w.n_seen, closed = w.n_closed;
    bool recording = w.recording;
    pthread_mutex_unlock(&w.lock);
    if (!recording)
        session_say("nothing was recorded: the program ended after %llu ranges '%s', before step "
                    "%llu (--from-step)",
                    seen, w.pattern, first);
    else if (n)
        session_say("%llu of the %llu steps that --steps asks for were recorded: the program ended "
                    "after %llu ranges '%s'",
                    closed, n, seen, w.pattern);
}

void step_window_child(void)
{
    pthread_mutex_init(&w.lock, NULL); /* another thread of the parent may have held it */
    atomic_store(&w.counting, false);
    w.recording = false;
}
