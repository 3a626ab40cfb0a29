// SPDX-License-Identifier: Apache-2.0
/* series.c: see series.h. */
#define _GNU_SOURCE
#include "series.h"
#include "../grpc_transfer.h"
#include "../profile_measures.h"

#include <stdio.h>
#include <time.h>

enum { WAIT_MS = 100 };
typedef struct {
    char name[32];
} RunName;

static bool wait_until(const RemoteCaller *caller, int64_t at_ms)
{
    while (!remote_stop(caller) && monotonic_ms() < at_ms)
        nanosleep(&(struct timespec){0, WAIT_MS * 1000000L}, NULL);
    return !remote_stop(caller);
}

/* Deletes the oldest of our runs, including files of other programs in its folder. */
static void drop_first(const RemoteOptions *o, RunName *runs, size_t *n_runs)
{
    char folder[4096];
    snprintf(folder, sizeof folder, "%.3500s/plugins/profile/%s", o->capture.logdir, runs[0].name);
    if (!remove_folder(folder)) remote_print(&o->capture.caller, "%s cannot be deleted", folder);
    memmove(runs, runs + 1, --*n_runs * sizeof *runs);
}

/* Returns whether it is useless to continue. */
static bool is_final(enum RemoteOutcome outcome)
{
    return outcome == REMOTE_NOT_WRITTEN || outcome == REMOTE_NO_LIBRARY ||
           outcome == REMOTE_INTERRUPTED;
}

enum RemoteOutcome command_series(RemoteOptions *o, ProfErr *err)
{
    RunName *runs = NULL;
    size_t n_runs = 0, capacity = 0;
    enum RemoteOutcome outcome;
    int64_t next_ms = monotonic_ms();
    do {
        ProfErr one = {0};
        run_name_of_now(o->run);
        outcome = command_capture(o, &one);
        if (is_final(outcome)) prof_fail(err, one.code, 0, "%s", one.text);
        if (is_final(outcome)) break;
        if (one.code) fprintf(stderr, "profsql-capture: %s\n", one.text);
        if (!outcome || outcome == REMOTE_PARTLY) {
            if (!GROW(runs, n_runs, capacity)) break;
            memcpy(runs[n_runs++].name, o->run, sizeof runs->name);
        }
        while (o->keep && n_runs > (size_t)o->keep) drop_first(o, runs, &n_runs);
        next_ms += o->every_ms;
        /* the last profile took longer than the interval */
        if (next_ms < monotonic_ms()) next_ms = monotonic_ms();
    } while (wait_until(&o->capture.caller, next_ms));
    prof_free(runs);
    return outcome;
}
