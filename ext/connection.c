// SPDX-License-Identifier: Apache-2.0
/* connection.c: the runs that a connection has opened, by label or by path.
 *
 *   SELECT prof_attach('logs/run_a', 'before');          -- before
 *   SELECT count(*) FROM lines('before/worker-0');       -- one host of it
 *
 * A few runs that were opened by path stay open for later queries, until prof_clear() or until the
 * connection closes. A run whose files have changed is read again when it is used next. */
#define _GNU_SOURCE
#include "attached.h"
SQLITE_EXTENSION_INIT3

#include "settings.h"

#include <limits.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

enum { MAX_CACHED = 8 };

/* ---- the connections of the process ---- */

static pthread_mutex_t list_lock = PTHREAD_MUTEX_INITIALIZER;
static Prof *listed;

Prof *prof_new(sqlite3 *db)
{
    static int64_t last;
    Prof *prof = sqlite3_malloc64(sizeof *prof);
    if (!prof) return NULL;
    *prof = (Prof){.db = db, .n_references = 1};
    pthread_mutex_lock(&list_lock);
    prof->number = ++last, prof->next = listed, listed = prof;
    pthread_mutex_unlock(&list_lock);
    return prof;
}

static void unlist(const Prof *prof)
{
    pthread_mutex_lock(&list_lock);
    Prof **at = &listed;
    while (*at != prof) at = &(*at)->next;
    *at = prof->next;
    pthread_mutex_unlock(&list_lock);
}

Prof *prof_of_connection(sqlite3 *db)
{
    pthread_mutex_lock(&list_lock);
    Prof *found = listed;
    while (found && found->db != db) found = found->next;
    pthread_mutex_unlock(&list_lock);
    return found;
}

EXPORTED sqlite3 *profsql_connection(int64_t number)
{
    pthread_mutex_lock(&list_lock);
    const Prof *found = listed;
    while (found && found->number != number) found = found->next;
    sqlite3 *db = found ? found->db : NULL;
    pthread_mutex_unlock(&list_lock);
    return db;
}

Prof *prof_ref(Prof *prof)
{
    prof->n_references++;
    return prof;
}

void named_free(NamedRun *named)
{
    run_unref(named->run);
    sqlite3_free(named->label);
    sqlite3_free(named->path);
}

void prof_unref(void *p)
{
    Prof *prof = p;
    if (--prof->n_references) return;
    prof_clear(prof);
    served_forget(prof);
    sqlite3_free(prof->root);
    for (int i = 0; i < prof->n_attached; i++) named_free(&prof->attached[i]);
    sqlite3_free(prof->attached);
    sqlite3_free(prof->cached);
    unlist(prof);
    sqlite3_free(prof);
}

int prof_clear(Prof *prof)
{
    int n = prof->n_cached;
    for (int i = 0; i < n; i++) named_free(&prof->cached[i]);
    prof->n_cached = 0;
    return n;
}

int prof_error(const Prof *prof, const ProfErr *err, char **message)
{
    if (err->code == PROF_NOMEM) return SQLITE_NOMEM;
    if (err->code == PROF_INTERRUPT) return SQLITE_INTERRUPT;
    sqlite3_free(*message);
    /* A missing source is an error of the SQL text, whose message is not changed. */
    *message = err->code == PROF_NOTFOUND ? sqlite3_mprintf("%s", err->text)
                                          : served_text(prof, err->text);
    if (!*message) return SQLITE_NOMEM;
    return err->code == PROF_IO ? SQLITE_IOERR : SQLITE_ERROR;
}

/* ---- loading ---- */

typedef struct {
    const char *path;
    struct timespec begin;
    double patience; /* seconds until progress is shown */
    bool shown;
} Loading;

static void show_progress(void *context, uint64_t done, uint64_t total)
{
    Loading *l = context;
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    if ((double)(now.tv_sec - l->begin.tv_sec) + (double)(now.tv_nsec - l->begin.tv_nsec) / 1e9 >
        l->patience) {
        fprintf(stderr, "\rlibprofsql: reading %s: %d %%", l->path,
                total ? (int)(done * 100 / total) : 0);
        l->shown = true;
    }
}

/* Warns about a damaged run, because its answers come from the rest of the file. */
static void warn_of_damage(const char *path, Run *run)
{
    const char *setting = getenv("PROFSQL_WARNINGS");
    if ((setting && !strcmp(setting, "0")) || !run_has_losses(run, NULL)) return;
    fprintf(
        stderr,
        "libprofsql: %s: parts of it are damaged or truncated, and results cover only the rest; "
        "SELECT * FROM prof_issues('%s') lists the losses (PROFSQL_WARNINGS=0 hides this)\n",
        path, path);
}

Run *load_named(const char *path, const char *within, bool streaming, size_t *n_others,
                ProfErr *err)
{
    static NumberSetting threads = {
        .name = "PROFSQL_THREADS", .unit = "threads", .least = 1, .most = INT_MAX};
    const char *setting = getenv("PROFSQL_PROGRESS");
    bool always = setting && !strcmp(setting, "1"), never = setting && !strcmp(setting, "0");
    bool shows = always || (!never && isatty(STDERR_FILENO) && isatty(STDOUT_FILENO));
    Loading l = {.path = path, .patience = always ? 0 : 2};
    clock_gettime(CLOCK_MONOTONIC, &l.begin);
    RunOpened opened = {0};
    RunOptions options = {.progress = shows ? show_progress : NULL,
                          .context = &l,
                          .n_threads = (int)number_setting(&threads),
                          .streaming = streaming,
                          .within = within,
                          .opened = &opened};
    Run *run = run_open(path, &options, err);
    if (l.shown) fprintf(stderr, "\r\033[K");
    if (run && opened.was_read) warn_of_damage(path, run);
    *n_others = opened.n_others;
    return run;
}

bool add_named(NamedRun **list, int *n, const char *label, Run *run, size_t n_others)
{
    NamedRun *grown = sqlite3_realloc64(*list, (sqlite3_uint64)(*n + 1) * sizeof *grown);
    if (!grown) return false;
    *list = grown;
    char *copy = sqlite3_mprintf("%s", label);
    if (!copy) return false;
    grown[(*n)++] = (NamedRun){.label = copy, .run = run, .n_others = n_others};
    return true;
}

/* Returns the cached run of a path and moves it to the end of the list. The first run, which was
 * used least recently, is dropped first. */
static NamedRun *find_cached(Prof *prof, const char *path)
{
    for (int i = 0; i < prof->n_cached; i++) {
        NamedRun found = prof->cached[i];
        if (strcmp(found.label, path)) continue;
        memmove(&prof->cached[i], &prof->cached[i + 1],
                (size_t)(prof->n_cached - i - 1) * sizeof found);
        prof->cached[prof->n_cached - 1] = found;
        return &prof->cached[prof->n_cached - 1];
    }
    return NULL;
}

/* Returns a reference to the run at a path. within: see source_resolve(). */
static Run *open_path(Prof *prof, const char *path, const char *within, size_t *n_others,
                      ProfErr *err)
{
    *n_others = 0;
    NamedRun *cached = find_cached(prof, path);
    bool is_folder = cached && (strcmp(cached->run->path, path) || cached->run->n_hosts != 1 ||
                                source_is_pattern(path)); /* it may have newer files */
    if (cached && !is_folder && run_is_current(cached->run)) return run_ref(cached->run);
    Run *run = load_named(path, within, false, n_others, err);
    if (!run) return NULL;
    if ((cached =
             /* a progress handler may have run statements in the meantime */
         find_cached(prof, path))) {
        run_unref(cached->run); /* only now, so that unchanged files give the same Run again */
        cached->run = run;
        return run_ref(run);
    }
    if (prof->n_cached == MAX_CACHED) {
        named_free(&prof->cached[0]);
        memmove(&prof->cached[0], &prof->cached[1], (MAX_CACHED - 1) * sizeof *prof->cached);
        prof->n_cached--;
    }
    if (add_named(&prof->cached, &prof->n_cached, path, run, *n_others)) return run_ref(run);
    run_unref(run);
    prof_nomem(err);
    return NULL;
}

/* ---- sources ---- */

static bool add_source(SourceRun **list, int *n, const NamedRun *named, Host *only,
                       const char *source, bool attached)
{
    SourceRun *grown = sqlite3_realloc64(*list, (sqlite3_uint64)(*n + 1) * sizeof *grown);
    if (!grown) return false;
    *list = grown;
    char *copy = sqlite3_mprintf("%s", named->label),
         *of = source ? sqlite3_mprintf("%s", source) : NULL;
    if (!copy || (source && !of)) {
        sqlite3_free(copy);
        sqlite3_free(of);
        return false;
    }
    grown[(*n)++] = (SourceRun){run_ref(named->run), only, copy, of, attached, named->n_others, -1};
    return true;
}

/* Adds a run, or only its host with this name. */
static void add_host(NamedRun *named, const char *host, const char *source, bool attached,
                     SourceRun **list, int *n, ProfErr *err)
{
    Host *only = NULL;
    for (size_t h = 0; host && h < named->run->n_hosts; h++)
        if (!strcmp(named->run->hosts[h].name, host)) only = &named->run->hosts[h];
    if (host && !only)
        prof_fail(err, PROF_NOTFOUND, 0,
                  "%s: the run has no host %s; SELECT host FROM hosts('%s') lists its hosts",
                  named->label, host, named->label);
    else if (!add_source(list, n, named, only, source, attached))
        prof_nomem(err);
}

static void open_by_path(Prof *prof, const char *source, SourceRun **list, int *n, ProfErr *err)
{
    NamedRun found = {0};
    if (!(found.run = open_path(prof, source, NULL, &found.n_others, err))) return;
    found.label = found.run->name;
    add_host(&found, NULL, source, false, list, n, err);
    run_unref(found.run);
}

/* Opens a served run by its label, which may be followed by a host. */
static void open_served(Prof *prof, const char *source, SourceRun **list, int *n, ProfErr *err)
{
    size_t n_label = length_of_label(source);
    const char *slash = strrchr(source, '/');
    size_t n_before = slash ? (size_t)(slash - source) : 0;
    const ServedRun *served = served_known(prof, source, n_label);
    bool of_host = !served && slash && (served = served_known(prof, source, n_before));
    if (!served) served = served_run(prof, source, n_label, err);
    if (!served && slash && (served = served_known(prof, source, n_before))) of_host = true;
    if (!served) {
        prof_fail(err, PROF_NOTFOUND, 0, "%s: no run of this name; " SERVED_ONLY, source);
        return;
    }
    NamedRun found = {.label = served->label};
    found.run = open_path(prof, served->path, prof->root, &found.n_others, err);
    served_hide_error(prof, found.label, err);
    if (found.run) add_host(&found, of_host ? slash + 1 : NULL, source, true, list, n, err);
    run_unref(found.run);
}

/* Opens the runs that a source names. */
static void open_source(Prof *prof, const char *source, SourceRun **list, int *n, ProfErr *err)
{
    const char *host = NULL;
    NamedRun *named = source ? prof_attached(prof, source, &host) : NULL;
    if (!source) {
        for (int i = 0; i < prof->n_attached && !err->code; i++)
            if (refresh_attached(prof, &prof->attached[i], err))
                add_host(&prof->attached[i], NULL, NULL, true, list, n, err);
    } else if (named) {
        if (refresh_attached(prof, named, err)) add_host(named, host, source, true, list, n, err);
    } else if (prof->serving) {
        open_served(prof, source, list, n, err);
    } else {
        open_by_path(prof, source, list, n, err);
    }
}

int prof_open(Prof *prof, const char *source, bool streaming, SourceRun **list, int *n,
              char **message)
{
    SourceNames names = {.names = (char *[]){(char *)(uintptr_t)source},
                         .n = source != NULL,
                         .given = source != NULL};
    return prof_open_names(prof, &names, streaming, list, n, message);
}

int prof_open_names(Prof *prof, const SourceNames *names, bool streaming, SourceRun **list, int *n,
                    char **message)
{
    ProfErr err = {0};
    *list = NULL, *n = 0;
    if (!names->given && !prof->n_attached && prof->serving)
        prof_fail(&err, PROF_NOTFOUND, 0, "no run is named and none is attached; " SERVED_ONLY);
    else if (!names->given && !prof->n_attached)
        prof_fail(&err, PROF_NOTFOUND, 0,
                  "no run is attached; name one as the argument, as in SELECT * FROM kpi('logs'), "
                  "or attach one first: SELECT prof_attach('logs')");
    else if (!names->given)
        open_source(prof, NULL, list, n, &err);
    for (int i = 0; i < names->n && !err.code; i++)
        open_source(prof, names->names[i], list, n, &err);
    for (int i = 0; i < *n && !streaming && !err.code; i++)
        run_load_all_events((*list)[i].run, &err);
    for (int i = 0; i < *n && !err.code; i++) give_to_attached(prof, (*list)[i].run);
    if (!err.code) return SQLITE_OK;
    prof_release(*list, *n);
    *list = NULL, *n = 0;
    return prof_error(prof, &err, message);
}

const Run *prof_known_run(Prof *prof, const char *source)
{
    const char *slash = strrchr(source, '/');
    const NamedRun *named = prof_labelled(prof, source, strlen(source));
    if (!named && slash) named = prof_labelled(prof, source, (size_t)(slash - source));
    const ServedRun *served = prof->serving ? served_known(prof, source, strlen(source)) : NULL;
    const char *path = prof->serving ? NULL : source;
    if (served) path = served->path;
    for (int i = 0; i < prof->n_cached && !named && path; i++)
        if (!strcmp(prof->cached[i].label, path)) named = &prof->cached[i];
    return named ? named->run : NULL;
}

void prof_release(SourceRun *list, int n)
{
    for (int i = 0; i < n; i++) {
        run_unref(list[i].run);
        sqlite3_free(list[i].label);
        sqlite3_free(list[i].source);
    }
    sqlite3_free(list);
}

bool prof_keep(KeptRuns *kept, const SourceRun *list, int n)
{
    for (int i = 0; i < n; i++) {
        bool there = false;
        for (int k = 0; k < kept->n; k++) there |= kept->runs[k] == list[i].run;
        if (there) continue;
        Run **grown = sqlite3_realloc64(kept->runs, (sqlite3_uint64)(kept->n + 1) * sizeof *grown);
        if (!grown) return false;
        kept->runs = grown;
        kept->runs[kept->n++] = run_ref(list[i].run);
    }
    return true;
}

void prof_release_kept(KeptRuns *kept)
{
    for (int i = 0; i < kept->n; i++) run_unref(kept->runs[i]);
    sqlite3_free(kept->runs);
    *kept = (KeptRuns){0};
}
