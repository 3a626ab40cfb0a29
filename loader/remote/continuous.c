// SPDX-License-Identifier: Apache-2.0
/* continuous.c: profiling that continues until it is stopped, into a buffer that drops the oldest
 * events. A snapshot is a profile of the buffer's content. */
#include "profile_answer.h"
#include "remote.h"

#include <stdio.h>

enum { DEADLINE_MS = 60000, WAIT_MS = 100 };
static const uint64_t answer_limit = INT32_MAX;

static int64_t deadline_of(const RemoteCapture *c)
{
    return c->deadline_ms ? c->deadline_ms : DEADLINE_MS;
}

/* Makes a call that has no answer, to one address after another. */
static enum RemoteOutcome ask_each(const RemoteCapture *c, const char *method, bool starts,
                                   const char *done, ProfErr *err)
{
    enum RemoteOutcome first = REMOTE_DONE;
    for (size_t i = 0; i < c->n_addresses; i++) {
        Answer answer = {0};
        ProfErr one = {0};
        size_t n = 0;
        enum RemoteOutcome outcome;
        uint8_t *request = starts ? request_continuous(&c->request, c->addresses[i], &n, &one)
                                  : request_empty(&n, &one);
        if (remote_ask(&c->channel, &c->caller, c->addresses[i], method, request, n, deadline_of(c),
                       &answer, &outcome, &one))
            remote_print(&c->caller, "%s: %s", c->addresses[i], done);
        else
            remote_print(&c->caller, "%s", one.text);
        prof_free(answer.bytes);
        if (!first && outcome) first = outcome, prof_fail(err, one.code, 0, "%s", one.text);
    }
    return first;
}

enum RemoteOutcome remote_continuous_start(const RemoteCapture *c, ProfErr *err)
{
    return ask_each(c, "/tensorflow.ProfilerService/StartContinuousProfiling", true,
                    "continuous profiling has started", err);
}

enum RemoteOutcome remote_continuous_stop(const RemoteCapture *c, ProfErr *err)
{
    return ask_each(c, "/tensorflow.ProfilerService/StopContinuousProfiling", false,
                    "continuous profiling has stopped", err);
}

static void fetch_snapshot(const RemoteCapture *c, const char *address, const char *folder,
                           RemoteHost *host)
{
    ProfileAnswer answer = {.folder = folder, .host = host->host};
    GrpcCall call = {.address = address,
                     .method = "/tensorflow.ProfilerService/GetSnapshot",
                     .deadline_ms = deadline_of(c),
                     .n_answer_limit = answer_limit,
                     .sink = profile_answer_sink,
                     .context = &answer};
    ProfErr *err = &answer.err;
    Grpc *grpc = NULL;
    if (profile_answer_open(&answer) && (grpc = grpc_open(&c->channel, err)))
        call.request = request_empty(&call.n_request, err);
    if (call.request) {
        grpc_start(grpc, &call);
        while (!call.done && grpc_wait(grpc, WAIT_MS))
            if (remote_stop(&c->caller)) grpc_cancel(grpc, &call);
    }
    if (grpc) grpc_close(grpc);
    bool answered = !err->code && call.failure == GRPC_ANSWERED;
    if (answered && profile_answer_finish(&answer)) {
        host->outcome = answer.n_profile_bytes ? REMOTE_DONE : REMOTE_EMPTY;
        host->is_here = *answer.path, host->n_bytes = answer.n_profile_bytes;
        memcpy(host->path, answer.path, sizeof host->path);
        if (host->outcome) snprintf(host->why, sizeof host->why, "no event was recorded");
    } else {
        host->outcome = err->code ? outcome_of_error(err) : outcome_of_call(&call);
        snprintf(host->why, sizeof host->why, "%s%s", err->code ? err->text : call.why,
                 call.status == GRPC_NOT_FOUND ? " (start it with --start-continuous)" : "");
    }
    profile_answer_close(&answer);
}

enum RemoteOutcome remote_snapshot(const RemoteCapture *c, RemoteHost *hosts, ProfErr *err)
{
    char folder[4096];
    size_t n_done = 0;
    enum RemoteOutcome first = REMOTE_DONE;
    if (snprintf(folder, sizeof folder, "%s/plugins/profile/%s", c->logdir, c->request.session_id) >
        2000) {
        prof_fail(err, PROF_IO, 0, "%s: the path is too long", c->logdir);
        return REMOTE_NOT_WRITTEN;
    }
    int n_made = make_folders(folder, err);
    if (n_made < 0) return REMOTE_NOT_WRITTEN;
    for (size_t i = 0; i < c->n_addresses; i++) {
        host_of_address(c->addresses[i], hosts[i].host);
        fetch_snapshot(c, c->addresses[i], folder, &hosts[i]);
        n_done += hosts[i].outcome == REMOTE_DONE;
        if (!first) first = hosts[i].outcome;
    }
    remove_empty_folders(folder, n_made);
    return n_done && n_done < c->n_addresses ? REMOTE_PARTLY : first;
}
