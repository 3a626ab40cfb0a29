// SPDX-License-Identifier: Apache-2.0
/* host_events.c: the events of one host at a time; see host_events.h. */
#include "host_events.h"

#include "base/interrupt.h"
#include "load.h"
#include "memo.h"

void run_drop_events(Run *run)
{
    Host *host = run->held;
    if (!host) return;
    results_free_of_events(host);
    for (size_t i = 0; i < host->n_lines; i++) {
        Line *line = &host->lines[i];
        prof_free(line->chunks);
        line->chunks = NULL, line->n_chunks = line->chunk_capacity = 0;
    }
    for (size_t i = 0; i < run->n_workers; i++) arena_free(&host->event_arenas[i]);
    prof_free(host->event_arenas);
    host->event_arenas = NULL, run->held = NULL;
}

/* Reading events again finds the same problems again: each loss is counted once. */
typedef struct {
    uint64_t *counts, *lost_bytes;
    size_t n;
    bool read_before;
} IssueCounts;

static bool note_issues(IssueCounts *noted, const Host *host)
{
    size_t n = host->n_issues;
    *noted = (IssueCounts){prof_alloc(n * sizeof(uint64_t)), prof_alloc(n * sizeof(uint64_t)), n,
                           host->events_read};
    if (!noted->counts || !noted->lost_bytes)
        return noted->read_before = false; /* nothing to restore */
    for (size_t i = 0; i < noted->n; i++)
        noted->counts[i] = host->issues[i].count, noted->lost_bytes[i] = host->issues[i].lost_bytes;
    return true;
}

static void restore_issues(IssueCounts *noted, Host *host)
{
    for (size_t i = 0; noted->read_before && i < noted->n; i++)
        host->issues[i].count = noted->counts[i], host->issues[i].lost_bytes = noted->lost_bytes[i];
    if (noted->read_before) host->n_issues = noted->n;
    prof_free(noted->counts);
    prof_free(noted->lost_bytes);
}

static int read_host(Run *run, Host *host, ProfErr *err)
{
    IssueCounts noted;
    unsigned lost_before = run->n_issues_lost;
    if (!(host->event_arenas = prof_alloc(run->n_workers * sizeof *host->event_arenas)))
        return prof_nomem(err);
    run->held = host;
    if (!note_issues(&noted, host)) prof_nomem(err);
    if (!err->code) host_load_events(host, err);
    if (!err->code) host->events_read = true;
    restore_issues(&noted, host);
    run_issue_lost_since(run, lost_before, err); /* reading again finds the same problems again */
    if (err->code) run_drop_events(run);
    return err->code;
}

int host_load_only(Host *host, ProfErr *err)
{
    Run *run = host->run;
    if (!interrupt_lock(&run->analyses_lock, err)) return err->code;
    if (run->streaming && run->held != host && host->readable && !host->reader->is_program &&
        run_may_change(run, err)) {
        run_drop_events(run);
        read_host(run, host, err);
    }
    pthread_mutex_unlock(&run->analyses_lock);
    return err->code;
}

int run_load_all_events(Run *run, ProfErr *err)
{
    if (!interrupt_lock(&run->analyses_lock, err)) return err->code;
    if (run->streaming && run_may_change(run, err)) {
        IssueCounts *noted = prof_alloc(run->n_hosts * sizeof *noted);
        bool memory = noted != NULL;
        run_drop_events(run);
        for (size_t h = 0; h < run->n_hosts && memory; h++)
            memory = note_issues(&noted[h], &run->hosts[h]);
        if (memory)
            run_load_events(run, NULL, err);
        else
            prof_nomem(err);
        for (size_t h = 0; noted && h < run->n_hosts; h++)
            restore_issues(&noted[h], &run->hosts[h]);
        prof_free(noted);
        if (!err->code) run->streaming = false;
    }
    pthread_mutex_unlock(&run->analyses_lock);
    return err->code;
}
