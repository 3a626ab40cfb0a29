// SPDX-License-Identifier: Apache-2.0
/* load.c: reading the files of a run; see load.h.
 *
 * Hosts are read in two steps: structure (one task for each file), then events (one task for each
 * line, the longest first, on all processors). Workers take tasks from one list by a counter, so
 * that no processor waits for another's line. */
#define _GNU_SOURCE
#include "load.h"

#include "memo.h"
#include "base/interrupt.h"
#include "base/parallel.h"
#include "base/sort.h"

#include <time.h>
#include <unistd.h>

/* ---- a pool of workers over a list of tasks ---- */

typedef struct {
    Run *run;
    Line **order;  /* lines, the longest first */
    Arena *arenas; /* for events, one of each worker */
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

void host_drop_structure(Host *host)
{
    for (size_t i = 0; i < host->n_planes; i++) {
        Plane *plane = &host->planes[i];
        prof_free(plane->event_metas);
        prof_free(plane->stat_metas);
        hash_free(&plane->event_ids);
        hash_free(&plane->stat_ids);
        prof_free(plane->known_metas);
        prof_free(plane->known_of_id);
        prof_free(plane->meta_of_id);
        prof_free(plane->stat_of_id);
        prof_free(plane->stat_offsets);
    }
    for (size_t i = 0; i < host->n_lines; i++) {
        prof_free(host->lines[i].chunks);
        line_results_free(&host->lines[i]);
    }
    host->n_planes = host->n_lines = 0;
}

/* Opens the host's file, translated if its format needs that. */
static int open_as(Host *host, const Reader *reader, const char *path, ProfErr *err)
{
    host->reader = reader;
    if (reader->is_program) return file_note(&host->file, path, err);
    if (file_open(&host->file, path, err) || !reader->translate) return err->code;
    if (file_translate(&host->file, reader->translate, err)) file_close(&host->file);
    return err->code;
}

/* Reads a host's file except its events. If a run has a single file, its name may have any suffix:
 * then all formats are tried, and the error of the first counts. */
static int read_structure(Host *host, ProfErr *err)
{
    size_t stem;
    bool named = reader_of_name(base_name(host->file.path), &stem);
    if (reader_of_content(host->reader)->read_structure(host, err) != PROF_FORMAT || named ||
        host->run->n_hosts > 1)
        return err->code;
    for (const Reader *const *other = readers; *other; other++) {
        ProfErr no = {0};
        if (*other == host->reader) continue;
        host_drop_structure(host);
        host->n_issues = 0, host->plausible = false, host->odd_fields = 0;
        if ((*other)->translate && file_translate(&host->file, (*other)->translate, &no)) continue;
        if (reader_of_content(*other)->read_structure(host, &no)) continue;
        host->reader = *other;
        *err = (ProfErr){0};
        return PROF_OK;
    }
    return err->code;
}

static void host_task(Job *job, Host *host)
{
    ProfErr err = {0};
    if (!host->readable) return;
    read_structure(host, &err);
    if (!err.code && host->file.trailing_bytes)
        host_issue_in_file(host, "warning", "gzip_trailing_bytes", host->file.n_bytes,
                           host->file.trailing_bytes, host,
                           "bytes after the end of the gzip stream were ignored");
    if (!err.code && host->file.cut_short)
        host_issue_in_file(host, "error", "gzip_cut_short", host->file.n_bytes, 0, host,
                           "the gzip stream is truncated or damaged; %llu inflated bytes were read",
                           (unsigned long long)host->file.n_bytes);
    if (is_fault_of_none(err.code)) {
        job_fail(job, &err);
    } else if (err.code) {
        host->readable = false;
        host_drop_structure(host);
        host_issue_in_file(host, "error", "unreadable", err.offset, host->file.n_bytes, host, "%s",
                           err.text);
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
        const Reader *reader = reader_of_content(line->plane->host->reader);
        reader->read_line(line, &window, w->arena, &job->stop, &job->bytes_done, &err);
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
    if (options && options->progress)
        options->progress(options->context, atomic_load(&job->bytes_done), job->run->size_bytes);
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
    if (x->span.n_bytes != y->span.n_bytes) return ORDER(y->span.n_bytes, x->span.n_bytes);
    return ORDER(x, y);
}

static char *run_text(Run *run, const char *s, size_t n)
{
    char *to = arena_alloc(&run->arena, n + 1);
    return to ? memcpy(to, s, n) : NULL;
}

/* Copies a name that is shown, with invalid UTF-8 replaced. */
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
        host->start_unix_ns = host->stop_unix_ns = -1;
        pthread_mutex_init(&host->lock, NULL);
        run->n_hosts = i + 1;
        const char *name = base_name(source->files[i]);
        size_t stem;
        const Reader *reader = reader_of_name(name, &stem);
        host->name = run_name(run, name, host_name_length(name));
        if (!host->name) return prof_nomem(err);
        ProfErr why = {0};
        if (!open_as(host, reader ? reader : readers[0], source->files[i], &why)) {
            host->readable = true;
            n_open++;
            run->size_bytes += host->file.n_bytes;
            continue;
        }
        if (is_fault_of_none(why.code)) {
            *err = why;
            return why.code;
        }
        if (!first.code) first = why;
        host_issue(host, "error", "unreadable", host, "%s", why.text);
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
        for (size_t i = 0; i < host->n_lines; i++)
            host->lines[i].first_event = run->n_events, run->n_events += host->lines[i].n_events;
    }
}

/* Reads the events of n lines, from run->lines[first] on. */
static int read_events(Run *run, size_t first, size_t n, Arena *arenas, const RunOptions *options,
                       ProfErr *err)
{
    enum { LARGE_BLOCK = 16 << 20 };
    Line **by_length = prof_alloc(n * sizeof *by_length);
    uint64_t n_bytes = 0;
    if (!by_length) return prof_nomem(err);
    for (size_t i = 0; i < n; i++) {
        Line *line = by_length[i] = run->lines[first + i];
        n_bytes += line->span.n_bytes;
        prof_free(line->chunks); /* left over from an attempt that failed */
        line->chunks = NULL, line->n_chunks = line->chunk_capacity = 0, line->n_events = 0;
    }
    sort_array(by_length, n, sizeof *by_length, longer_first);
    for (size_t i = 0; i < run->n_workers && n_bytes > 4 * LARGE_BLOCK; i++)
        arenas[i].block_bytes = LARGE_BLOCK; /* allows huge pages */
    Job events = {.run = run, .n_tasks = n, .order = by_length, .lines = true, .arenas = arenas};
    job_run(&events, options, err);
    prof_free(by_length);
    return err->code;
}

/* Returns whether nearly all of the file is damaged and nothing is left that it describes or
 * measures. */
static bool holds_nothing(const Host *host)
{
    uint64_t lost = 0;
    for (size_t i = 0; i < host->n_issues; i++) lost += host->issues[i].lost_bytes;
    for (size_t i = 0; i < host->n_planes; i++)
        if (host->planes[i].n_declared || host->planes[i].n_stat_metas) return false;
    return !host->n_events && lost > host->file.n_bytes / 10 * 9;
}

/* Fails if the run has no files but such ones. */
static int refuse_nothing(const Run *run, ProfErr *err)
{
    const Host *damaged = NULL;
    for (size_t h = 0; h < run->n_hosts; h++) {
        const Host *host = &run->hosts[h];
        if (host->reader->is_program || (host->readable && !holds_nothing(host))) return PROF_OK;
        if (host->readable && !damaged) damaged = host;
    }
    if (!damaged) return PROF_OK;
    return prof_fail(err, PROF_FORMAT, damaged->issues[0].offset,
                     "%s: is damaged from byte %llu on, and nothing in it can be read; copy it "
                     "again as a binary file, or record again",
                     damaged->file.path, (unsigned long long)damaged->issues[0].offset);
}

/* Does what needs all lines to be read. */
static int finish(Host *host, ProfErr *err)
{
    const Reader *reader = reader_of_content(host->reader);
    return reader->finish ? reader->finish(host, err) : PROF_OK;
}

int run_load_events(Run *run, const RunOptions *options, ProfErr *err)
{
    unsigned lost = run->n_issues_lost;
    read_events(run, 0, run->n_lines, run->worker_arenas, options, err);
    number_events(run);
    for (size_t h = 0; h < run->n_hosts && !err->code; h++) {
        Host *host = &run->hosts[h];
        if (host->readable) finish(host, err);
    }
    run_issue_lost_since(run, lost, err);
    return err->code;
}

int host_load_events(Host *host, ProfErr *err)
{
    Run *run = host->run;
    if (read_events(run, host->first_line, host->n_lines, host->event_arenas, NULL, err))
        return err->code;
    number_events(run);
    return finish(host, err);
}

/* Fails with the first file's error if no file can be read. */
static int fail_unreadable(Run *run, ProfErr *err)
{
    for (size_t h = 0; h < run->n_hosts; h++)
        for (size_t i = 0; i < run->hosts[h].n_issues; i++) {
            const Issue *issue = &run->hosts[h].issues[i];
            if (!strcmp(issue->code, "unreadable"))
                return prof_fail(err, PROF_FORMAT, issue->offset,
                                 "%s: none of its %zu files can be read; %s", run->path,
                                 run->n_hosts, issue->message);
        }
    return prof_fail(err, PROF_FORMAT, 0, "%s: none of its %zu files can be read", run->path,
                     run->n_hosts);
}

/* A thread is worth it for this many bytes of files. Below, it costs more than it saves: once a
 * process has had a second thread, each lock takes longer, and SQLite's shell locks for each
 * character that it prints. */
enum { BYTES_PER_WORKER = 1 << 16, MOST_WORKERS = 64 };

static size_t worker_count(const Run *run, const RunOptions *options)
{
    uint64_t useful = run->size_bytes / BYTES_PER_WORKER + 1;
    size_t n = processor_count();
    if (options && options->n_threads > 0)
        n = (size_t)options->n_threads;
    else if (useful < n)
        n = (size_t)useful;
    return n < MOST_WORKERS ? n : MOST_WORKERS;
}

int run_load(Run *run, const Source *source, const RunOptions *options, ProfErr *err)
{
    struct timespec begin, end;
    clock_gettime(CLOCK_MONOTONIC, &begin);
    run->path = run_text(run, source->path, strlen(source->path));
    run->name = run_name(run, source->name, strlen(source->name));
    if (!run->path || !run->name) return prof_nomem(err);
    if (open_hosts(run, source, err) || note_programs(run, source, err)) return err->code;
    run->n_workers = worker_count(run, options);
    run->worker_arenas = prof_alloc(run->n_workers * sizeof *run->worker_arenas);
    if (!run->worker_arenas) return prof_nomem(err);
    Job structure = {.run = run, .n_tasks = run->n_hosts};
    if (job_run(&structure, options, err)) return err->code;
    size_t n_readable = 0;
    for (size_t h = 0; h < run->n_hosts; h++) n_readable += run->hosts[h].readable;
    if (!n_readable) return fail_unreadable(run, err);
    run->streaming = options && options->streaming && run->n_hosts > 1;
    if (!number_lines(run, err) && !run->streaming && !run_load_events(run, options, err))
        refuse_nothing(run, err);
    if (run->n_issues_lost)
        prof_nomem(err); /* better no run than one that keeps a loss to itself */
    clock_gettime(CLOCK_MONOTONIC, &end);
    run->loaded_ms =
        (double)(end.tv_sec - begin.tv_sec) * 1e3 + (double)(end.tv_nsec - begin.tv_nsec) / 1e6;
    return err->code;
}
