// SPDX-License-Identifier: Apache-2.0
/* launch_times.c: sums up launches by name and by stream; see launch_times.h. */
#include "launch_times.h"

#include "../../base/interrupt.h"
#include "../../base/list.h"
#include "../../base/parallel.h"
#include "../../base/sort.h"

/* Sorts the values and returns their median, the same as the SQL function median(). */
static double median_of(int64_t *values, size_t n)
{
    sort_int64(values, n);
    double low = (double)values[(n - 1) / 2];
    return n % 2 ? low : low + ((double)values[n / 2] - low) * 0.5;
}

/* ---- by name ---- */

typedef struct {
    LaunchLatency sums;
    const Text *text; /* the name in `texts`, which is the same on all planes */
    LIST(int64_t) delays;
} NamedLaunches;

typedef struct {
    LIST(NamedLaunches) names;
    HashTable by_name;
    TextTable texts;
    Arena arena;
    LaunchLatencies *result;
} LatencyBuilder;

/* Returns the index of a name; SIZE_MAX with err set. */
static size_t find_name(LatencyBuilder *b, const Text *name, ProfErr *err)
{
    const Text *text = text_intern(&b->texts, &b->arena, name->text, name->n_bytes);
    uint64_t hash = hash64((uint64_t)(uintptr_t)text);
    HASH_EACH(i, &b->by_name, hash)
        if (b->names.items[i].text == text) return i;
    NamedLaunches *made = text ? PUSH_KEYED(b->names, &b->by_name, hash) : NULL;
    if (!made) {
        prof_nomem(err);
        return SIZE_MAX;
    }
    *made = (NamedLaunches){.sums = {.name = name, .max_delay = INT64_MIN}, .text = text};
    return b->names.n - 1;
}

static void add_launch(NamedLaunches *to, const Launches *all, const LaunchedWork *work,
                       ProfErr *err)
{
    int64_t delay = launch_delay_ps(all, work), *place = PUSH(to->delays);
    if (!place) {
        prof_nomem(err);
        return;
    }
    *place = delay;
    to->sums.n++;
    to->sums.total_delay += (double)delay;
    to->sums.total_launch += (double)all->launches[work->launch].duration_ps;
    to->sums.total_work += (double)work->duration_ps;
    if (delay > to->sums.max_delay) to->sums.max_delay = delay;
}

static void add_host(LatencyBuilder *b, const Launches *all, ProfErr *err)
{
    const Text *last = NULL;
    size_t at = 0;
    for (size_t i = 0; i < all->n_work && !interrupt_poll(1, err); i++) {
        const Text *name = all->work[i].meta->name;
        if (name != last) at = find_name(b, last = name, err);
        if (at == SIZE_MAX) break;
        add_launch(&b->names.items[at], all, &all->work[i], err);
    }
}

static void find_median(void *context, size_t i, ProfErr *err)
{
    LatencyBuilder *b = context;
    NamedLaunches *of = &b->names.items[i];
    if (interrupt_poll(of->delays.n, err)) return;
    of->sums.median_delay = median_of(of->delays.items, of->delays.n);
    b->result->names[i] = of->sums;
}

static int largest_total_first(const void *a, const void *b)
{
    const LaunchLatency *x = a, *y = b;
    if (x->total_delay != y->total_delay) return ORDER(y->total_delay, x->total_delay);
    return strcmp(x->name->text, y->name->text);
}

static void latencies_release(void *result)
{
    prof_free(((LaunchLatencies *)result)->names);
    prof_free(result);
}

static void sum_names(LatencyBuilder *b, const Run *run, ProfErr *err)
{
    LaunchLatencies *out = b->result;
    if (!(out->names = prof_buffer(b->names.n * sizeof *out->names))) prof_nomem(err);
    if (err->code || parallel_for(run->n_workers, b->names.n, find_median, b, err)) return;
    out->n = b->names.n;
    sort_array(out->names, out->n, sizeof *out->names, largest_total_first);
}

static void *latencies_make(Run *run, Host *only, ProfErr *err)
{
    LatencyBuilder b = {.result = prof_alloc(sizeof(LaunchLatencies))};
    if (!b.result) prof_nomem(err);
    EACH_HOST(host, run, only) {
        const Launches *all = err->code || !host->readable ? NULL : host_launches(host, err);
        if (all) add_host(&b, all, err);
    }
    if (!err->code) sum_names(&b, run, err);
    for (size_t i = 0; i < b.names.n; i++) prof_free(b.names.items[i].delays.items);
    prof_free(b.names.items);
    hash_free(&b.by_name);
    text_table_free(&b.texts);
    arena_free(&b.arena);
    if (err->code && b.result) latencies_release(b.result), b.result = NULL;
    return b.result;
}

const LaunchLatencies *run_launch_latencies(Run *run, Host *only, ProfErr *err)
{
    static const Analysis analysis = {latencies_make, latencies_release, NEEDS_NO_EVENTS};
    return run_analysis(run, only, &analysis, err);
}

/* ---- by stream ---- */

/* Sums up the queue of one stream. `starts` is sorted and has as many items as `launched`. */
static void sum_queue(LaunchQueue *q, int64_t *launched, const int64_t *starts)
{
    uint64_t started = 0;
    double total = 0;
    sort_int64(launched, q->n);
    for (size_t i = 0; i < q->n; i++) {
        while (started < q->n && starts[started] <= launched[i]) started++;
        uint64_t length = i + 1 - started; /* at equal times work starts before other comes */
        if (length > q->longest) q->longest = length, q->longest_start = launched[i];
        q->n_empty += length == 1;
        total += (double)length;
    }
    q->average = total / (double)q->n;
}

typedef struct {
    LIST(LaunchQueue) streams;
    LIST(int64_t) launched;
    LIST(int64_t) starts;
    LIST(int64_t) delays;
} QueueBuilder;

/* Adds the stream of the work from `first` to `end`. */
static void add_stream(QueueBuilder *b, const Launches *all, size_t first, size_t end, ProfErr *err)
{
    LaunchQueue q = {.line = all->work[first].line};
    b->launched.n = b->starts.n = b->delays.n = 0;
    for (size_t i = first; i < end && !interrupt_poll(1, err); i++) {
        const LaunchedWork *work = &all->work[i];
        const Launch *launch = &all->launches[work->launch];
        int64_t delay = launch_delay_ps(all, work);
        if (delay <= 0) continue;
        int64_t *launched = PUSH(b->launched), *start = PUSH(b->starts), *place = PUSH(b->delays);
        if (!launched || !start || !place) {
            prof_nomem(err);
            break;
        }
        *launched = launch->start_ps, *start = work->start_ps, *place = delay;
        if (!q.n++ || launch->duration_ps > q.longest_launch)
            q.longest_launch = launch->duration_ps;
    }
    if (err->code || !q.n) return;
    sum_queue(&q, b->launched.items, b->starts.items);
    q.median_delay = median_of(b->delays.items, b->delays.n);
    LaunchQueue *made = PUSH(b->streams);
    if (made)
        *made = q;
    else
        prof_nomem(err);
}

static int longest_first(const void *a, const void *b)
{
    const LaunchQueue *x = a, *y = b;
    if (x->longest != y->longest) return ORDER(y->longest, x->longest);
    int order = strcmp(x->line->plane->host->name, y->line->plane->host->name);
    return order ? order : ORDER(x->line->line_id, y->line->line_id);
}

static void queues_release(void *result)
{
    prof_free(((LaunchQueues *)result)->streams);
    prof_free(result);
}

static void *queues_make(Run *run, Host *only, ProfErr *err)
{
    QueueBuilder b = {0};
    LaunchQueues *out = prof_alloc(sizeof *out);
    if (!out) prof_nomem(err);
    EACH_HOST(host, run, only) {
        const Launches *all = err->code || !host->readable ? NULL : host_launches(host, err);
        for (size_t i = 0, end; all && i < all->n_work && !err->code; i = end) {
            for (end = i + 1; end < all->n_work && all->work[end].line == all->work[i].line;) end++;
            add_stream(&b, all, i, end, err);
        }
    }
    prof_free(b.launched.items);
    prof_free(b.starts.items);
    prof_free(b.delays.items);
    if (out) *out = (LaunchQueues){b.streams.items, b.streams.n};
    if (out && !err->code) sort_array(out->streams, out->n, sizeof *out->streams, longest_first);
    if (out && err->code) queues_release(out), out = NULL;
    return out;
}

const LaunchQueues *run_launch_queues(Run *run, Host *only, ProfErr *err)
{
    static const Analysis analysis = {queues_make, queues_release, NEEDS_NO_EVENTS};
    return run_analysis(run, only, &analysis, err);
}
