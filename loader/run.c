// SPDX-License-Identifier: Apache-2.0
/* run.c: loading runs, and the registry of those that are open; see run.h.
 *
 * Hosts are read in two steps: structure (one task a file), then events (one task a line, the longest first, on all
 * processors). Tasks are taken from one list by a counter, so no processor waits for another's line. */
#define _GNU_SOURCE
#include "run.h"

#include "format/hlo.h"
#include "format/xspace.h"
#include "interrupt.h"
#include "source.h"
#include "store/sort.h"

#include <stdio.h>
#include <time.h>
#include <unistd.h>

const char *const plane_kind_names[] = {"host", "tensorcore", "sparsecore", "gpu", "metadata", "custom", "other"};
const char *const line_kind_names[] = {"thread",     "stream",        "steps",  "modules",      "ops",      "async_ops",
                                       "name_scope", "framework_ops", "source", "launch_stats", "counters", "other"};
const char *const stat_type_names[] = {"none", "double", "uint64", "int64", "str", "bytes", "ref"};
#define KNOWN_STAT_NAME(id, name) name,
const char *const known_stat_names[N_KNOWN_STATS] = {"", KNOWN_STATS(KNOWN_STAT_NAME)};

/* ---- issues ---- */

enum { MAX_ISSUES = 10000 };

const char *host_hostname(const Host *host) { return host->n_hostnames ? host->hostnames[0]->text : "localhost"; }

void host_issue(Host *host, const char *severity, const char *code, uint64_t offset, uint64_t n_bytes, const void *where, const char *format, ...)
{
    if (offset >= FILE_MERGED) offset = 0; /* not at one place */
    pthread_mutex_lock(&host->lock);
    size_t first = host->n_issues > 64 ? host->n_issues - 64 : 0;
    Issue *issue = NULL;
    for (size_t i = first; i < host->n_issues && !issue; i++)
        if (host->issues[i].where == where && !strcmp(host->issues[i].code, code)) issue = &host->issues[i];
    if (!issue && host->n_issues >= MAX_ISSUES) {
        issue = &host->issues[host->n_issues - 1];
        issue->code = "more", issue->message = "further issues, only counted";
    }
    if (issue) {
        issue->count++, issue->lost_bytes += n_bytes;
    } else {
        char text[1200];
        va_list ap;
        va_start(ap, format);
        print_utf8(text, sizeof text, format, ap);
        va_end(ap);
        char *message = arena_alloc(&host->arena, strlen(text) + 1);
        if (message && GROW(host->issues, host->n_issues, host->issue_capacity))
            host->issues[host->n_issues++] = (Issue){severity, code, offset, 1, n_bytes, strcpy(message, text), where};
        else
            host->issue_lost = true;
    }
    pthread_mutex_unlock(&host->lock);
}

void host_remark(Host *host, const char *severity, const char *code, const void *where, const char *message)
{
    bool there = false;
    pthread_mutex_lock(&host->lock);
    for (size_t i = 0; i < host->n_issues && !there; i++) there = host->issues[i].where == where && !strcmp(host->issues[i].code, code);
    pthread_mutex_unlock(&host->lock);
    if (!there) host_issue(host, severity, code, 0, 0, where, "%s", message);
}

bool host_issue_at(Host *host, size_t i, Issue *issue, ProfErr *err)
{
    pthread_mutex_lock(&host->lock);
    bool there = i < host->n_issues && !host->issue_lost;
    if (there) *issue = host->issues[i];
    if (host->issue_lost) prof_nomem(err);
    pthread_mutex_unlock(&host->lock);
    return there;
}

/* ---- a pool of workers over a list of tasks ---- */

typedef struct {
    Run *run;
    Line **order;  /* lines, the longest first */
    Arena *arenas; /* of the workers, for events */
    size_t n_tasks;
    bool lines;
    atomic_size_t next, n_finished_workers;
    atomic_bool stop;
    atomic_uint_fast64_t bytes_done;
    pthread_mutex_t lock;
    pthread_cond_t finished;
    Interrupt *interrupt;
    ProfErr err;
} Job;

typedef struct {
    Job *job;
    Arena *arena;
} Worker;

static void job_fail(Job *job, const ProfErr *err)
{
    pthread_mutex_lock(&job->lock);
    if (!job->err.code) job->err = *err;
    pthread_mutex_unlock(&job->lock);
    atomic_store(&job->stop, true);
}

/* Frees what the planes and lines of a host hold, and forgets them. */
static void drop_structure(Host *host)
{
    for (size_t i = 0; i < host->n_planes; i++) {
        Plane *plane = &host->planes[i];
        prof_free(plane->event_metas);
        prof_free(plane->stat_metas);
        prof_free(plane->event_ids.slots);
        prof_free(plane->stat_ids.slots);
        prof_free(plane->known_of_id);
        prof_free(plane->meta_of_id);
        prof_free(plane->stat_offsets);
    }
    for (size_t i = 0; i < host->n_lines; i++) {
        prof_free(host->lines[i].chunks);
        line_order_free(host->lines[i].order);
    }
    host->n_planes = host->n_lines = 0;
}

/* Reads a host's file up to its events. A single file whose name does not say what it is may be an HLO program. */
static int read_structure(Host *host, ProfErr *err)
{
    if (host->is_program) return hlo_check_file(host, err);
    const char *slash = strrchr(host->file.path, '/'), *name = slash ? slash + 1 : host->file.path;
    bool open_minded = host->run->n_hosts == 1 && host_name_length(name) == strlen(name);
    if (xspace_read_structure(host, err) != PROF_FORMAT || !open_minded) return err->code;
    ProfErr other = {0};
    if (hlo_check_file(host, &other)) return err->code;
    drop_structure(host);
    host->is_program = true, host->n_issues = 0;
    *err = (ProfErr){0};
    return PROF_OK;
}

static void host_task(Job *job, Host *host)
{
    ProfErr err = {0};
    if (!host->readable) return;
    read_structure(host, &err);
    if (!err.code && host->file.trailing_bytes)
        host_issue(host, "warning", "gzip_trailing_bytes", host->file.n_bytes, host->file.trailing_bytes, host,
                   "bytes behind the end of the gzip stream were left out");
    if (!err.code && host->file.cut_short)
        host_issue(host, "error", "gzip_cut_short", host->file.n_bytes, 0, host, "the gzip stream is cut short or damaged; %llu inflated bytes were read",
                   (unsigned long long)host->file.n_bytes);
    if (is_fault_of_none(err.code)) {
        job_fail(job, &err);
    } else if (err.code) {
        host->readable = false;
        drop_structure(host);
        host_issue(host, "error", "unreadable", err.offset, host->file.n_bytes, host, "%s", err.text);
        pthread_mutex_lock(&job->lock);
        if (job->run->n_hosts == 1 && !job->err.code) job->err = err;
        pthread_mutex_unlock(&job->lock);
    }
}

static void *work(void *argument)
{
    Worker *w = argument;
    Job *job = w->job;
    Window window = {0};
    size_t i;
    while (!atomic_load(&job->stop) && (i = atomic_fetch_add(&job->next, 1)) < job->n_tasks) {
        if (!job->lines) {
            host_task(job, &job->run->hosts[i]);
            continue;
        }
        Line *line = job->order[i];
        ProfErr err = {0};
        const File *file = &line->plane->host->file;
        if (window.file != file) {
            window_free(&window);
            window.file = file;
        }
        xspace_read_line(line, &window, w->arena, &job->stop, &job->bytes_done, &err);
        if (err.code) job_fail(job, &err);
    }
    window_free(&window);
    pthread_mutex_lock(&job->lock);
    atomic_fetch_add(&job->n_finished_workers, 1);
    pthread_cond_signal(&job->finished);
    pthread_mutex_unlock(&job->lock);
    return NULL;
}

static void *work_beside(void *argument)
{
    const Worker *w = argument;
    interrupt_borrow(w->job->interrupt);
    return work(argument);
}

static void show_progress(Job *job, const RunOptions *options)
{
    if (options && options->progress) options->progress(options->context, atomic_load(&job->bytes_done), job->run->size_bytes);
}

static int job_run(Job *job, const RunOptions *options, ProfErr *err)
{
    Run *run = job->run;
    enum { SMALL = 4 << 20 };
    Worker workers[64];
    pthread_t threads[64];
    size_t n = run->n_workers, n_started = 0;
    pthread_mutex_init(&job->lock, NULL);
    pthread_cond_init(&job->finished, NULL);
    job->interrupt = interrupt_lend();
    for (size_t i = 0; i < n; i++) workers[i] = (Worker){job, job->arenas ? &job->arenas[i] : NULL};
    if (run->size_bytes < SMALL || job->n_tasks == 0) {
        work(&workers[0]);
    } else {
        for (; n_started < n && n_started < job->n_tasks; n_started++)
            if (pthread_create(&threads[n_started], NULL, work_beside, &workers[n_started])) break;
        if (!n_started) work(&workers[0]);
        pthread_mutex_lock(&job->lock);
        while (atomic_load(&job->n_finished_workers) < n_started) {
            interrupt_wait(&job->finished, &job->lock);
            if (atomic_load(&job->stop)) continue;
            pthread_mutex_unlock(&job->lock);
            ProfErr stopped = {0};
            show_progress(job, options);
            if (interrupt_ask(&stopped)) job_fail(job, &stopped);
            pthread_mutex_lock(&job->lock);
        }
        pthread_mutex_unlock(&job->lock);
        for (size_t i = 0; i < n_started; i++) pthread_join(threads[i], NULL);
    }
    show_progress(job, options);
    interrupt_ask(&job->err);
    pthread_cond_destroy(&job->finished);
    pthread_mutex_destroy(&job->lock);
    if (job->err.code && !err->code) *err = job->err;
    return err->code;
}

/* ---- loading ---- */

static int longer_first(const void *a, const void *b)
{
    const Line *x = *(Line *const *)a, *y = *(Line *const *)b;
    if (x->span.n_bytes != y->span.n_bytes) return x->span.n_bytes < y->span.n_bytes ? 1 : -1;
    return x < y ? -1 : x > y;
}

static char *run_text(Run *run, const char *s, size_t n)
{
    char *to = arena_alloc(&run->arena, n + 1);
    return to ? memcpy(to, s, n) : NULL;
}

/* The same for a name to be shown: a file's may be no UTF-8. */
static char *run_name(Run *run, const char *s, size_t n)
{
    char *to = arena_alloc(&run->arena, 3 * n + 1);
    if (to) to[utf8_repair((const uint8_t *)s, n, to)] = 0;
    return to;
}

static int open_hosts(Run *run, const Source *source, ProfErr *err)
{
    run->hosts = prof_alloc(source->n_files * sizeof *run->hosts);
    if (!run->hosts) return prof_nomem(err);
    ProfErr first = {0};
    size_t n_open = 0;
    for (size_t i = 0; i < source->n_files; i++) {
        Host *host = &run->hosts[i];
        host->run = run;
        host->file = (File){.inflated_fd = -1};
        pthread_mutex_init(&host->lock, NULL);
        run->n_hosts = i + 1;
        const char *slash = strrchr(source->files[i], '/'), *name = slash ? slash + 1 : source->files[i];
        host->name = run_name(run, name, host_name_length(name));
        if (!host->name) return prof_nomem(err);
        ProfErr why = {0};
        host->is_program = source->hlo;
        if (!(source->hlo ? file_note(&host->file, source->files[i], &why) : file_open(&host->file, source->files[i], &why))) {
            host->readable = true;
            n_open++;
            run->size_bytes += host->file.n_bytes;
            if (host->file.gzipped) run->format = "xspace.gz";
            continue;
        }
        if (is_fault_of_none(why.code)) return *err = why, why.code;
        if (!first.code) first = why;
        host_issue(host, "error", "unreadable", 0, 0, host, "%s", why.text);
    }
    if (!n_open) *err = first;
    return err->code;
}

static int note_programs(Run *run, const Source *source, ProfErr *err)
{
    run->programs = arena_alloc(&run->arena, source->n_programs * sizeof *run->programs);
    if (!run->programs) return prof_nomem(err);
    for (size_t i = 0; i < source->n_programs; i++) {
        const char *path = run_text(run, source->programs[i], strlen(source->programs[i]));
        if (!path) return prof_nomem(err);
        run->programs[run->n_programs++] = path;
    }
    return PROF_OK;
}

static int number_lines(Run *run, ProfErr *err)
{
    size_t n_lines = 0;
    for (size_t h = 0; h < run->n_hosts; h++) {
        Host *host = &run->hosts[h];
        host->first_plane = run->n_planes, host->first_line = (uint32_t)n_lines;
        for (size_t i = 0; i < host->n_planes; i++) host->planes[i].plane_id = run->n_planes++;
        n_lines += host->n_lines;
    }
    run->lines = prof_alloc(n_lines * sizeof *run->lines);
    if (!run->lines) return prof_nomem(err);
    for (size_t h = 0; h < run->n_hosts; h++)
        for (size_t i = 0; i < run->hosts[h].n_lines; i++) {
            Line *line = &run->hosts[h].lines[i];
            line->line_id = run->n_lines;
            run->lines[run->n_lines++] = line;
        }
    return PROF_OK;
}

static void number_events(Run *run)
{
    run->n_events = 0;
    for (size_t h = 0; h < run->n_hosts; h++) {
        Host *host = &run->hosts[h];
        host->first_event = run->n_events;
        for (size_t i = 0; i < host->n_lines; i++) host->lines[i].first_event = run->n_events, run->n_events += host->lines[i].n_events;
    }
}

/* Reads the events of lines that follow each other in run->lines. */
static int read_events(Run *run, size_t first, size_t n, Arena *arenas, const RunOptions *options, ProfErr *err)
{
    enum { LARGE_BLOCK = 16 << 20 };
    Line **by_length = prof_alloc(n * sizeof *by_length);
    uint64_t n_bytes = 0;
    if (!by_length) return prof_nomem(err);
    for (size_t i = 0; i < n; i++) {
        Line *line = by_length[i] = run->lines[first + i];
        n_bytes += line->span.n_bytes;
        prof_free(line->chunks); /* of an attempt that failed */
        line->chunks = NULL, line->n_chunks = line->chunk_capacity = 0, line->n_events = 0;
    }
    sort_array(by_length, n, sizeof *by_length, longer_first);
    for (size_t i = 0; i < run->n_workers && n_bytes > 4 * LARGE_BLOCK; i++) arenas[i].block_bytes = LARGE_BLOCK; /* large pages */
    Job events = {.run = run, .n_tasks = n, .order = by_length, .lines = true, .arenas = arenas};
    job_run(&events, options, err);
    prof_free(by_length);
    return err->code;
}

/* Is nearly all of the file damaged, and nothing that it describes or measures left? */
static bool holds_nothing(const Host *host)
{
    uint64_t lost = 0;
    for (size_t i = 0; i < host->n_issues; i++) lost += host->issues[i].lost_bytes;
    for (size_t i = 0; i < host->n_planes; i++)
        if (host->planes[i].n_declared || host->planes[i].n_stat_metas) return false;
    return !host->n_events && lost > host->file.n_bytes / 10 * 9;
}

/* A run of such files alone is no profile. */
static int refuse_nothing(const Run *run, ProfErr *err)
{
    const Host *damaged = NULL;
    for (size_t h = 0; h < run->n_hosts; h++) {
        const Host *host = &run->hosts[h];
        if (host->is_program || (host->readable && !holds_nothing(host))) return PROF_OK;
        if (host->readable && !damaged) damaged = host;
    }
    if (!damaged) return PROF_OK;
    return prof_fail(err, PROF_FORMAT, damaged->issues[0].offset,
                     "%s: is damaged from byte %llu on and holds nothing readable; copy it again as a binary file, or record again", damaged->file.path,
                     (unsigned long long)damaged->issues[0].offset);
}

static int read_all_events(Run *run, const RunOptions *options, ProfErr *err)
{
    read_events(run, 0, run->n_lines, run->worker_arenas, options, err);
    number_events(run);
    for (size_t h = 0; h < run->n_hosts && !err->code; h++) {
        Host *host = &run->hosts[h];
        if (host->readable) xspace_finish(host, err);
        if (host->issue_lost) prof_nomem(err); /* better no run than one that keeps a loss to itself */
    }
    return err->code;
}

/* No file of the run can be read: why the first cannot. */
static int fail_unreadable(Run *run, ProfErr *err)
{
    for (size_t h = 0; h < run->n_hosts; h++)
        for (size_t i = 0; i < run->hosts[h].n_issues; i++) {
            const Issue *issue = &run->hosts[h].issues[i];
            if (!strcmp(issue->code, "unreadable"))
                return prof_fail(err, PROF_FORMAT, issue->offset, "%s: none of its %zu files can be read; %s", run->path, run->n_hosts, issue->message);
        }
    return prof_fail(err, PROF_FORMAT, 0, "%s: none of its %zu files can be read", run->path, run->n_hosts);
}

static int run_load(Run *run, const Source *source, const RunOptions *options, ProfErr *err)
{
    struct timespec begin, end;
    clock_gettime(CLOCK_MONOTONIC, &begin);
    run->path = run_text(run, source->path, strlen(source->path));
    run->name = run_name(run, source->name, strlen(source->name));
    run->format = "xspace";
    long n = options && options->n_threads ? options->n_threads : sysconf(_SC_NPROCESSORS_ONLN);
    run->n_workers = n < 1 ? 1 : n > 64 ? 64 : (size_t)n;
    run->worker_arenas = prof_alloc(run->n_workers * sizeof *run->worker_arenas);
    if (!run->path || !run->name || !run->worker_arenas) return prof_nomem(err);
    if (open_hosts(run, source, err) || note_programs(run, source, err)) return err->code;
    Job structure = {.run = run, .n_tasks = run->n_hosts};
    if (job_run(&structure, options, err)) return err->code;
    size_t n_readable = 0;
    for (size_t h = 0; h < run->n_hosts; h++) n_readable += run->hosts[h].readable;
    if (run->hosts[0].is_program) run->format = "hlo";
    if (!n_readable) return fail_unreadable(run, err);
    run->by_host = options && options->by_host && run->n_hosts > 1;
    if (!number_lines(run, err) && !run->by_host && !read_all_events(run, options, err)) refuse_nothing(run, err);
    clock_gettime(CLOCK_MONOTONIC, &end);
    run->loaded_ms = (double)(end.tv_sec - begin.tv_sec) * 1e3 + (double)(end.tv_nsec - begin.tv_nsec) / 1e6;
    return err->code;
}

/* ---- analyses ---- */

typedef struct DerivedResult {
    struct DerivedResult *next;
    const Analysis *analysis;
    const Host *only;
    enum AnalysisNeeds needs;
    void *result;
} DerivedResult;

const void *run_analysis(Run *run, Host *only, const Analysis *analysis, ProfErr *err) { return run_analysis_of(run, only, analysis, NEEDS_ALL_HOSTS, err); }

const void *run_analysis_made(Run *run, Host *only, const Analysis *analysis)
{
    if (run->n_hosts == 1) only = NULL;
    const void *result = NULL;
    ProfErr interrupted = {0};
    if (!interrupt_lock(&run->analyses_lock, &interrupted)) return NULL; /* so will the caller's next step be */
    for (const DerivedResult *r = run->analyses; r && !result; r = r->next)
        if (r->analysis == analysis && r->only == only) result = r->result;
    pthread_mutex_unlock(&run->analyses_lock);
    return result;
}

int run_is_busy(const Run *run, ProfErr *err)
{
    return prof_fail(err, PROF_LIMIT, 0, "%s: the statement that calls this progress handler is working on it; ask again when that has ended", run->path);
}

/* With the analyses' lock held: may more be read or derived? An analysis that is being made on this very thread must not be disturbed by a
 * statement that the application runs when it is asked whether to go on. */
static bool may_change(const Run *run, ProfErr *err)
{
    if (run->n_making && interrupt_depth() > run->making_depth) run_is_busy(run, err);
    return !err->code;
}

static const void *make_analysis(Run *run, Host *only, const Analysis *analysis, enum AnalysisNeeds needs, ProfErr *err)
{
    DerivedResult *made = prof_alloc(sizeof *made);
    if (!made) return prof_nomem(err), NULL;
    unsigned depth = run->making_depth;
    run->n_making++, run->making_depth = interrupt_depth();
    void *result = analysis->make(run, only, err);
    run->n_making--, run->making_depth = depth;
    if (result && interrupt_poll(0, err)) analysis->release(result), result = NULL; /* it may lack what was left out then */
    if (result)
        *made = (DerivedResult){run->analyses, analysis, only, needs, result}, run->analyses = made;
    else
        prof_free(made);
    return result;
}

const void *run_analysis_of(Run *run, Host *only, const Analysis *analysis, enum AnalysisNeeds needs, ProfErr *err)
{
    if (run->n_hosts == 1) only = NULL;
    if (!interrupt_lock(&run->analyses_lock, err)) return NULL;
    const void *result = run_analysis_made(run, only, analysis);
    if (!result && needs == NEEDS_ALL_HOSTS)
        run_hold(run, err);
    else if (!result && needs != NEEDS_NO_EVENTS && only)
        host_hold(only, err);
    if (!result && may_change(run, err)) result = make_analysis(run, only, analysis, needs, err);
    pthread_mutex_unlock(&run->analyses_lock);
    return result;
}

/* Frees all results, or with a host only those that go with its events. */
static void analyses_free(Run *run, const Host *of_events)
{
    for (DerivedResult **link = &run->analyses, *r; (r = *link);) {
        if (of_events && (r->only != of_events || r->needs != NEEDS_HOST_EVENTS)) {
            link = &r->next;
            continue;
        }
        *link = r->next;
        r->analysis->release(r->result);
        prof_free(r);
    }
}

/* ---- one host at a time ---- */

static void give_back(Run *run)
{
    Host *host = run->held;
    if (!host) return;
    analyses_free(run, host);
    for (size_t i = 0; i < host->n_lines; i++) {
        Line *line = &host->lines[i];
        prof_free(line->chunks);
        line->chunks = NULL, line->n_chunks = line->chunk_capacity = 0;
    }
    for (size_t i = 0; i < run->n_workers; i++) arena_free(&host->event_arenas[i]);
    prof_free(host->event_arenas);
    host->event_arenas = NULL, run->held = NULL;
}

/* What is read again is found wrong again: each loss counts once. */
typedef struct {
    uint64_t *counts, *lost_bytes;
    size_t n;
    bool read_before;
} IssueCounts;

static bool note_issues(IssueCounts *noted, const Host *host)
{
    size_t n = host->n_issues;
    *noted = (IssueCounts){prof_alloc(n * sizeof(uint64_t)), prof_alloc(n * sizeof(uint64_t)), n, host->events_read};
    if (!noted->counts || !noted->lost_bytes) return noted->read_before = false; /* nothing to restore */
    for (size_t i = 0; i < noted->n; i++) noted->counts[i] = host->issues[i].count, noted->lost_bytes[i] = host->issues[i].lost_bytes;
    return true;
}

static void restore_issues(IssueCounts *noted, Host *host)
{
    for (size_t i = 0; noted->read_before && i < noted->n; i++) host->issues[i].count = noted->counts[i], host->issues[i].lost_bytes = noted->lost_bytes[i];
    if (noted->read_before) host->n_issues = noted->n;
    prof_free(noted->counts);
    prof_free(noted->lost_bytes);
}

static int read_host(Run *run, Host *host, ProfErr *err)
{
    IssueCounts noted;
    bool lost_before = host->issue_lost;
    if (!(host->event_arenas = prof_alloc(run->n_workers * sizeof *host->event_arenas))) return prof_nomem(err);
    run->held = host;
    if (!note_issues(&noted, host)) prof_nomem(err);
    if (!err->code && !read_events(run, host->first_line, host->n_lines, host->event_arenas, NULL, err)) {
        number_events(run);
        xspace_finish(host, err);
        host->events_read = true;
    }
    restore_issues(&noted, host);
    if (host->issue_lost) prof_nomem(err);
    if (err->code) give_back(run), host->issue_lost = lost_before; /* what is read again is found wrong again */
    return err->code;
}

int host_hold(Host *host, ProfErr *err)
{
    Run *run = host->run;
    if (!interrupt_lock(&run->analyses_lock, err)) return err->code;
    if (run->by_host && run->held != host && host->readable && !host->is_program && may_change(run, err)) {
        give_back(run);
        read_host(run, host, err);
    }
    pthread_mutex_unlock(&run->analyses_lock);
    return err->code;
}

int run_hold(Run *run, ProfErr *err)
{
    if (!interrupt_lock(&run->analyses_lock, err)) return err->code;
    if (run->by_host && may_change(run, err)) {
        IssueCounts *noted = prof_alloc(run->n_hosts * sizeof *noted);
        bool memory = noted != NULL;
        give_back(run);
        for (size_t h = 0; h < run->n_hosts && memory; h++) memory = note_issues(&noted[h], &run->hosts[h]);
        if (memory)
            read_all_events(run, NULL, err);
        else
            prof_nomem(err);
        for (size_t h = 0; noted && h < run->n_hosts; h++) restore_issues(&noted[h], &run->hosts[h]);
        prof_free(noted);
        if (!err->code) run->by_host = false;
    }
    pthread_mutex_unlock(&run->analyses_lock);
    return err->code;
}

static void init_locks(Run *run)
{
    pthread_mutexattr_t recursive;
    pthread_mutexattr_init(&recursive);
    pthread_mutexattr_settype(&recursive, PTHREAD_MUTEX_RECURSIVE);
    pthread_mutex_init(&run->lock, &recursive);
    pthread_mutex_init(&run->analyses_lock, &recursive);
    pthread_mutexattr_destroy(&recursive);
}

static void run_free(Run *run)
{
    analyses_free(run, NULL); /* while the hosts that they speak of are whole */
    give_back(run);
    for (size_t h = 0; h < run->n_hosts; h++) {
        Host *host = &run->hosts[h];
        drop_structure(host);
        prof_free(host->planes);
        prof_free(host->lines);
        prof_free(host->hostnames);
        prof_free(host->errors);
        prof_free(host->warnings);
        prof_free(host->issues);
        text_table_free(&host->texts);
        arena_free(&host->arena);
        file_close(&host->file);
        pthread_mutex_destroy(&host->lock);
    }
    for (size_t i = 0; run->worker_arenas && i < run->n_workers; i++) arena_free(&run->worker_arenas[i]);
    prof_free(run->correlated);
    prof_free(run->worker_arenas);
    prof_free(run->hosts);
    prof_free(run->lines);
    arena_free(&run->derived_arena);
    arena_free(&run->arena);
    pthread_mutex_destroy(&run->lock);
    pthread_mutex_destroy(&run->analyses_lock);
    prof_free(run);
}

Line *run_line_of_event(const Run *run, uint64_t event)
{
    size_t low = 0, high = run->n_lines;
    while (low < high) {
        size_t mid = low + (high - low) / 2;
        const Line *line = run->lines[mid];
        if (event < line->first_event)
            high = mid;
        else if (event >= line->first_event + line->n_events)
            low = mid + 1;
        else
            return run->lines[mid];
    }
    return NULL;
}

/* ---- the registry: one Run per source and content in the process ---- */

static pthread_mutex_t registry_lock = PTHREAD_MUTEX_INITIALIZER;
static Run *registry;

/* What the files of a source look like from outside: paths, sizes and times. */
static uint64_t identity_of(const Source *source)
{
    uint64_t h = mix64(source->n_files);
    for (size_t i = 0; i < source->n_files; i++) {
        uint64_t size = 0;
        int64_t mtime = 0;
        file_identity(source->files[i], &size, &mtime);
        for (const char *s = source->files[i]; *s; s++) h = (h ^ (uint8_t)*s) * 0x100000001b3u;
        h = mix64(h ^ mix64(size) ^ mix64((uint64_t)mtime * 3));
    }
    return h;
}

Run *run_ref(Run *run)
{
    atomic_fetch_add(&run->n_references, 1);
    return run;
}

void run_unref(Run *run)
{
    if (!run) return;
    pthread_mutex_lock(&registry_lock);
    bool last = atomic_fetch_sub(&run->n_references, 1) == 1;
    if (last)
        for (Run **link = &registry; *link; link = &(*link)->next)
            if (*link == run) {
                *link = run->next;
                break;
            }
    pthread_mutex_unlock(&registry_lock);
    if (last) run_free(run);
}

bool run_is_current(const Run *run)
{
    for (size_t h = 0; h < run->n_hosts; h++) {
        const File *file = &run->hosts[h].file;
        uint64_t size;
        int64_t mtime;
        if (!file->path) continue;
        if (!file_identity(file->path, &size, &mtime) || size != file->disk_size || mtime != file->mtime_ns) return false;
    }
    return true;
}

Run *run_open(const char *path, const RunOptions *options, ProfErr *err)
{
    Source source = {0};
    if (source_resolve(path, &source, err)) return NULL;
    uint64_t identity = identity_of(&source);
    Run *run = NULL;
    pthread_mutex_lock(&registry_lock);
    for (Run *r = registry; r && !run; r = r->next)
        if (r->identity == identity && !strcmp(r->path, source.path)) run = run_ref(r);
    pthread_mutex_unlock(&registry_lock);
    if (!run && !(run = prof_alloc(sizeof *run))) {
        prof_nomem(err);
    } else if (!atomic_load(&run->n_references)) {
        atomic_store(&run->n_references, 1);
        run->identity = identity;
        init_locks(run);
        if (run_load(run, &source, options, err)) {
            run_free(run);
            run = NULL;
        } else {
            pthread_mutex_lock(&registry_lock);
            run->next = registry, registry = run;
            pthread_mutex_unlock(&registry_lock);
        }
    }
    source_free(&source);
    return run;
}
