// SPDX-License-Identifier: Apache-2.0
/* capture.c: profiles several servers with one session time.
 *
 * Each server is asked to send its profile with its answer (emit_xspace). A server that is too old
 * for that writes it to the log dir on its own machine, as all servers do for XProf's client. */
#define _GNU_SOURCE
#include "profile_answer.h"
#include "remote.h"

#include <ctype.h>
#include <stdio.h>
#include <sys/stat.h>
#include <time.h>

enum {
    WAIT_MS = 100,
    SHORTEST_DEADLINE_MS = 60000,
    TERMINATE_MS = 5000, /* deadline of Terminate */
    LAST_WAIT_MS = 10000 /* for answers after Terminate */
};
static const uint64_t answer_limit = INT32_MAX; /* XProf's client has the same limit */

typedef struct {
    GrpcCall call, terminate;
    Answer terminated;
    ProfileAnswer answer;
    RemoteHost *host;
    const char *address;
} Session; /* one address in one attempt */

typedef struct {
    const RemoteCapture *c;
    char folder[4096], repository[4096];
    int64_t deadline_ms;
    Session *sessions;
    Grpc *grpc;
    int64_t started_ms, terminated_ms; /* terminated_ms: 0 if not terminated */
} Attempt;

static int64_t clock_ns(clockid_t clock)
{
    struct timespec now;
    clock_gettime(clock, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static int64_t now_ms(void) { return clock_ns(CLOCK_MONOTONIC) / 1000000; }

void run_name_of_now(char out[32])
{
    time_t now = time(NULL);
    struct tm local;
    localtime_r(&now, &local);
    strftime(out, 32, "%Y_%m_%d_%H_%M_%S", &local);
}

bool is_run_name(const char *name)
{
    return *name && *name != '.' && !strchr(name, '/') && strlen(name) < 200;
}

void host_of_address(const char *address, char out[MAX_HOST_NAME])
{
    snprintf(out, MAX_HOST_NAME, "%s", address);
    for (char *p = out; *p; p++)
        if (*p == ':') *p = '_';
}

static bool is_file(const char *path)
{
    struct stat st;
    return !stat(path, &st) && S_ISREG(st.st_mode);
}

/* ---- one attempt ---- */

static void start_session(Attempt *a, Session *s, int64_t start_ns)
{
    ProfErr *err = &s->answer.err;
    ProfileRequest request = a->c->request;
    request.start_ns = start_ns;
    request.repository = a->repository;
    s->answer.folder = a->folder, s->answer.host = s->host->host;
    s->call = (GrpcCall){.address = s->address,
                         .method = "/tensorflow.ProfilerService/Profile",
                         .deadline_ms = a->deadline_ms,
                         .n_answer_limit = answer_limit,
                         .sink = profile_answer_sink,
                         .context = &s->answer};
    if (profile_answer_open(&s->answer))
        s->call.request = request_profile(&request, s->address, &s->call.n_request, err);
    if (s->call.request)
        grpc_start(a->grpc, &s->call);
    else
        s->call.done = true;
}

static void terminate(Attempt *a)
{
    a->terminated_ms = now_ms();
    remote_print(&a->c->caller,
                 "stopping: asking the servers to end the session and to send what they have");
    for (size_t i = 0; i < a->c->n_addresses; i++) {
        Session *s = &a->sessions[i];
        ProfErr err = {0};
        if (s->call.done) continue;
        s->terminate = (GrpcCall){.address = s->address,
                                  .method = "/tensorflow.ProfilerService/Terminate",
                                  .deadline_ms = TERMINATE_MS,
                                  .n_answer_limit = 1 << 16,
                                  .sink = answer_sink,
                                  .context = &s->terminated};
        s->terminate.request =
            request_terminate(a->c->request.session_id, &s->terminate.n_request, &err);
        if (s->terminate.request) grpc_start(a->grpc, &s->terminate);
    }
}

static bool is_running(const Attempt *a, uint64_t *n_bytes)
{
    bool running = false;
    *n_bytes = 0;
    for (size_t i = 0; i < a->c->n_addresses; i++) {
        running |= !a->sessions[i].call.done;
        *n_bytes += a->sessions[i].call.n_received;
    }
    return running;
}

static void wait_for_answers(Attempt *a)
{
    const RemoteCaller *caller = &a->c->caller;
    uint64_t n_bytes;
    while (is_running(a, &n_bytes)) {
        int stop = remote_stop(caller);
        if (stop && !a->terminated_ms) terminate(a);
        if (stop > 1 || (a->terminated_ms && now_ms() - a->terminated_ms > LAST_WAIT_MS))
            for (size_t i = 0; i < a->c->n_addresses; i++)
                grpc_cancel(a->grpc, &a->sessions[i].call);
        grpc_wait(a->grpc, WAIT_MS);
        if (caller->progress)
            caller->progress(caller->context, now_ms() - a->started_ms,
                             a->c->delay_ms + a->c->request.duration_ms, n_bytes);
    }
}

/* Looks for the profile of an answer without one: the server has written it, on this machine or on
 * its own. */
static void find_written(const Attempt *a, RemoteHost *host)
{
    snprintf(host->path, sizeof host->path, "%.2000s/plugins/profile/%.200s/%s.xplane.pb",
             a->repository, a->c->request.session_id, host->host);
    host->is_here = is_file(host->path);
}

static void explain(const Session *s, RemoteHost *host)
{
    const ProfErr *err = &s->answer.err;
    host->outcome = err->code ? outcome_of_error(err) : outcome_of_call(&s->call);
    if (err->code == PROF_FORMAT)
        snprintf(host->why, sizeof host->why, "the answer is not a profile (%s)", err->text);
    else
        snprintf(host->why, sizeof host->why, "%s", err->code ? err->text : s->call.why);
}

static void end_session(Attempt *a, Session *s)
{
    RemoteHost *host = s->host;
    bool answered = !s->answer.err.code && s->call.failure == GRPC_ANSWERED;
    *host->why = *host->path = 0;
    if (!answered || !profile_answer_finish(&s->answer)) {
        explain(s, host);
    } else if (s->answer.empty_trace) {
        host->outcome = REMOTE_EMPTY;
        snprintf(host->why, sizeof host->why, "no event was recorded");
    } else {
        host->outcome = REMOTE_DONE;
        host->is_here = *s->answer.path;
        host->n_bytes = s->answer.n_profile_bytes;
        if (host->is_here)
            memcpy(host->path, s->answer.path, sizeof host->path);
        else
            find_written(a, host);
    }
    profile_answer_close(&s->answer);
    grpc_cancel(a->grpc, &s->terminate);
    prof_free(s->terminated.bytes);
}

/* Returns whether to try again, by the rules of XProf's client. */
static bool is_worth_another(const Session *s)
{
    const GrpcCall *call = &s->call;
    if (s->host->outcome == REMOTE_EMPTY) return true;
    if (s->answer.err.code || call->failure == GRPC_NO_GRPC) return false;
    return call->status == GRPC_UNAVAILABLE || call->status == GRPC_ALREADY_EXISTS ||
           (call->status == GRPC_UNKNOWN && strstr(call->server_words, "Stream removed"));
}

/* Makes one attempt. True if it was the last: a host has a profile, or another attempt would be
 * useless. */
static bool attempt_once(Attempt *a)
{
    size_t n = a->c->n_addresses, n_done = 0, n_again = 0;
    int64_t start_ns = clock_ns(CLOCK_REALTIME) + a->c->delay_ms * 1000000;
    a->started_ms = now_ms();
    for (size_t i = 0; i < n; i++) {
        RemoteHost *host = a->sessions[i].host;
        a->sessions[i] = (Session){.host = host, .address = a->c->addresses[i]};
        start_session(a, &a->sessions[i], start_ns);
    }
    wait_for_answers(a);
    for (size_t i = 0; i < n; i++) {
        end_session(a, &a->sessions[i]);
        n_done += a->sessions[i].host->outcome == REMOTE_DONE;
        n_again += is_worth_another(&a->sessions[i]);
    }
    return n_done || !n_again || a->terminated_ms;
}

/* ---- all attempts ---- */

static enum RemoteOutcome sum_up(const RemoteCapture *c, const RemoteHost *hosts)
{
    size_t n_done = 0;
    enum RemoteOutcome first = REMOTE_DONE;
    for (size_t i = 0; i < c->n_addresses; i++) {
        n_done += hosts[i].outcome == REMOTE_DONE;
        if (!first) first = hosts[i].outcome;
    }
    return n_done && n_done < c->n_addresses ? REMOTE_PARTLY : first;
}

static enum RemoteOutcome run_attempts(Attempt *a)
{
    const RemoteCapture *c = a->c;
    const RemoteHost *first = a->sessions[0].host;
    const char *plural = c->n_addresses == 1 ? "" : "s";
    for (int i = 1; i <= c->attempts; i++) {
        remote_print(&c->caller, "attempt %d of %d: %zu host%s, %lld ms%s%s", i, c->attempts,
                     c->n_addresses, plural, (long long)c->request.duration_ms,
                     i > 1 ? "; before: " : "", i > 1 ? first->why : "");
        if (attempt_once(a)) break;
    }
    enum RemoteOutcome outcome = sum_up(c, first);
    return a->terminated_ms ? REMOTE_INTERRUPTED : outcome;
}

/* Fails if a file exists already: that would otherwise only be found when the profile has arrived.
 */
static bool check_files(const Attempt *a, RemoteHost *hosts, ProfErr *err)
{
    for (size_t i = 0; i < a->c->n_addresses; i++) {
        char path[8192];
        host_of_address(a->c->addresses[i], hosts[i].host);
        snprintf(path, sizeof path, "%s/%s.xplane.pb", a->folder, hosts[i].host);
        if (is_file(path)) {
            prof_fail(err, PROF_LIMIT, 0, "%s exists already; give another --run", path);
            return false;
        }
    }
    return true;
}

/* Sets the log dir that is sent to the server. A local folder is sent with its full path, because
 * the server has another current folder. */
static bool set_paths(Attempt *a, ProfErr *err)
{
    const RemoteCapture *c = a->c;
    char *here = c->request.repository || *c->logdir == '/' ? NULL : realpath(".", NULL);
    const char *repository = c->request.repository ? c->request.repository : c->logdir;
    int n = here ? snprintf(a->repository, sizeof a->repository, "%s/%s", here, repository)
                 : snprintf(a->repository, sizeof a->repository, "%s", repository);
    int k = snprintf(a->folder, sizeof a->folder, "%s/plugins/profile/%s", c->logdir,
                     c->request.session_id);
    free(here);
    if (n < 2000 && k < 2000) return true;
    prof_fail(err, PROF_IO, 0, "%s: the path is too long", c->logdir);
    return false;
}

enum RemoteOutcome remote_capture(const RemoteCapture *c, RemoteHost *hosts, ProfErr *err)
{
    Attempt a = {.c = c, .deadline_ms = c->deadline_ms};
    int64_t twice = 2 * c->request.duration_ms;
    if (!a.deadline_ms)
        a.deadline_ms = c->delay_ms + (twice > SHORTEST_DEADLINE_MS ? twice : SHORTEST_DEADLINE_MS);
    int n_made = -1;
    if (set_paths(&a, err) && check_files(&a, hosts, err) && (a.grpc = grpc_open(&c->channel, err)))
        n_made = make_folders(a.folder, err);
    if (n_made >= 0 && !(a.sessions = prof_alloc(c->n_addresses * sizeof *a.sessions)))
        prof_nomem(err);
    enum RemoteOutcome outcome = REMOTE_FAILED;
    if (a.sessions) {
        for (size_t i = 0; i < c->n_addresses; i++) a.sessions[i].host = &hosts[i];
        outcome = run_attempts(&a);
    }
    if (a.grpc) grpc_close(a.grpc);
    if (n_made > 0) remove_empty_folders(a.folder, n_made);
    prof_free(a.sessions);
    return err->code ? outcome_of_error(err) : outcome;
}
