// SPDX-License-Identifier: Apache-2.0
/* run.c: the registry of open runs; see run.h. Loading is in load.c, kept results are in memo.c. */
#define _GNU_SOURCE
#include "run.h"

#include "base/search.h"
#include "host_events.h"
#include "load.h"
#include "memo.h"

const char *const plane_kind_names[] = {"host",     "tensorcore", "sparsecore", "gpu",
                                        "metadata", "custom",     "other"};
const char *const line_kind_names[] = {"thread", "stream",       "steps",      "modules",
                                       "ops",    "async_ops",    "name_scope", "framework_ops",
                                       "source", "launch_stats", "counters",   "other"};
const char *const stat_type_names[] = {"none", "double", "uint64", "int64", "str", "bytes", "ref"};
#define KNOWN_STAT_NAME(id, name) name,
const char *const known_stat_names[N_KNOWN_STATS] = {"", KNOWN_STATS(KNOWN_STAT_NAME)};

const char *host_hostname(const Host *host)
{
    return host->n_hostnames ? host->hostnames[0]->text : "localhost";
}

const Text *host_text(Host *host, const void *bytes, size_t n_bytes, ProfErr *err)
{
    pthread_mutex_lock(&host->lock);
    const Text *text = text_intern(&host->texts, &host->arena, bytes, n_bytes);
    pthread_mutex_unlock(&host->lock);
    if (!text) prof_nomem(err);
    return text;
}

static void init_locks(Run *run)
{
    pthread_mutexattr_t recursive;
    pthread_mutexattr_init(&recursive);
    pthread_mutexattr_settype(&recursive, PTHREAD_MUTEX_RECURSIVE);
    pthread_mutex_init(&run->lines_lock, &recursive);
    pthread_mutex_init(&run->analyses_lock, &recursive);
    pthread_mutexattr_destroy(&recursive);
}

static void run_free(Run *run)
{
    results_free(run); /* before the hosts that they refer to */
    run_drop_events(run);
    for (size_t h = 0; h < run->n_hosts; h++) {
        Host *host = &run->hosts[h];
        host_drop_structure(host);
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
    for (size_t i = 0; run->worker_arenas && i < run->n_workers; i++)
        arena_free(&run->worker_arenas[i]);
    prof_free(run->worker_arenas);
    prof_free(run->hosts);
    prof_free(run->lines);
    arena_free(&run->line_arena);
    arena_free(&run->arena);
    pthread_mutex_destroy(&run->lines_lock);
    pthread_mutex_destroy(&run->analyses_lock);
    prof_free(run);
}

Line *run_line_of_event(const Run *run, uint64_t event)
{
    Line *const *lines = run->lines;
    size_t at =
        LOWER_BOUND(i, 0, run->n_lines, lines[i]->first_event + lines[i]->n_events <= event);
    return at < run->n_lines ? lines[at] : NULL;
}

/* ---- the registry: one Run for each source and content in the process ---- */

static pthread_mutex_t registry_lock = PTHREAD_MUTEX_INITIALIZER;
static Run *registry;

/* Hashes the paths, sizes and times of a source's files. `within` counts too, because programs that
 * links outside of it lead to are left out. */
static uint64_t identity_of(const Source *source, const char *within)
{
    uint64_t h = mix64(source->n_files * 2 + (within != NULL));
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

bool run_any_open(const char *path)
{
    bool any = false;
    pthread_mutex_lock(&registry_lock);
    for (const Run *r = registry; r && !any; r = r->next) any = !path || !strcmp(r->path, path);
    pthread_mutex_unlock(&registry_lock);
    return any;
}

bool run_is_current(const Run *run)
{
    for (size_t h = 0; h < run->n_hosts; h++) {
        const File *file = &run->hosts[h].file;
        uint64_t size;
        int64_t mtime;
        if (!file->path) continue;
        if (!file_identity(file->path, &size, &mtime) || size != file->disk_size ||
            mtime != file->mtime_ns)
            return false;
    }
    return true;
}

Run *run_open(const char *path, const RunOptions *options, ProfErr *err)
{
    Source source = {0};
    if (source_resolve(path, options->within, &source, err)) return NULL;
    uint64_t identity = identity_of(&source, options->within);
    Run *run = NULL;
    RunOpened opened = {.n_others = source.n_others};
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
            opened.was_read = true;
            pthread_mutex_lock(&registry_lock);
            run->next = registry, registry = run;
            pthread_mutex_unlock(&registry_lock);
        }
    }
    source_free(&source);
    if (options->opened) *options->opened = opened;
    return run;
}
