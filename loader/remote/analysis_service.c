// SPDX-License-Identifier: Apache-2.0
/* analysis_service.c: ProfileAnalysis, a service of the master of a TPU pod: sessions of many
 * hosts, whose files the service writes to and reads from a repository, a log dir that it can
 * access. */
#include "message_stream.h"
#include "part_file.h"
#include "remote.h"
#include "schema/profiler_service.pb-c.h"

#include <stdio.h>

enum { DEADLINE_MS = 60000, WAIT_MS = 100, ERROR_MESSAGE = 1, OUTPUT = 3 };
static const uint64_t answer_limit = INT32_MAX;

static int64_t deadline_of(const RemoteCapture *c)
{
    int64_t twice = 2 * c->request.duration_ms;
    if (c->deadline_ms) return c->deadline_ms;
    return twice > DEADLINE_MS ? twice : DEADLINE_MS;
}

static enum RemoteOutcome refuse(const char *address, const char *message, ProfErr *err)
{
    prof_fail(err, PROF_IO, 0, "%s: %s", address, message);
    return REMOTE_FAILED;
}

/* ---- NewSession ---- */

static enum RemoteOutcome read_new_session(const char *address, const Answer *answer, ProfErr *err)
{
    Tensorflow__NewSessionResponse *r =
        tensorflow__new_session_response__unpack(NULL, answer->n, answer->bytes);
    if (!r) {
        prof_fail(err, PROF_FORMAT, 0, "%s: the answer is not a NewProfileSessionResponse",
                  address);
        return REMOTE_NO_GRPC;
    }
    enum RemoteOutcome outcome = r->empty_trace ? REMOTE_EMPTY : REMOTE_DONE;
    if (*r->error_message) outcome = refuse(address, r->error_message, err);
    tensorflow__new_session_response__free_unpacked(r, NULL);
    return outcome;
}

static enum RemoteOutcome ask_new_session(const RemoteCapture *c, const char *const *workers,
                                          size_t n_workers, ProfErr *err)
{
    Answer answer = {0};
    enum RemoteOutcome outcome;
    size_t n = 0;
    uint8_t *request = request_new_session(&c->request, workers, n_workers, &n, err);
    if (remote_ask(&c->channel, &c->caller, c->addresses[0],
                   "/tensorflow.ProfileAnalysis/NewSession", request, n, deadline_of(c), &answer,
                   &outcome, err))
        outcome = read_new_session(c->addresses[0], &answer, err);
    prof_free(answer.bytes);
    return outcome;
}

enum RemoteOutcome remote_new_session(const RemoteCapture *c, const char *const *workers,
                                      size_t n_workers, RemoteHost *host, ProfErr *err)
{
    enum RemoteOutcome outcome = REMOTE_FAILED;
    snprintf(host->path, sizeof host->path, "%.2000s/plugins/profile/%.200s", c->request.repository,
             c->request.session_id);
    for (int i = 1; i <= c->attempts; i++) {
        ProfErr one = {0};
        remote_print(&c->caller, "attempt %d of %d: %zu worker%s, %lld ms%s%s", i, c->attempts,
                     n_workers, n_workers == 1 ? "" : "s", (long long)c->request.duration_ms,
                     i > 1 ? "; before: " : "", i > 1 ? host->why : "");
        outcome = ask_new_session(c, workers, n_workers, &one);
        snprintf(host->why, sizeof host->why, "%s", one.code ? one.text : "no event was recorded");
        bool again = outcome == REMOTE_EMPTY || outcome == REMOTE_UNREACHABLE ||
                     outcome == REMOTE_IN_THE_WAY;
        if (!again || i == c->attempts) {
            if (one.code) prof_fail(err, one.code, 0, "%s", one.text);
            break;
        }
    }
    return host->outcome = outcome;
}

/* ---- EnumSessions ---- */

enum RemoteOutcome remote_sessions(const RemoteCapture *c, const char *repository,
                                   void (*session)(void *context, const char *session_id,
                                                   char *const *tools, size_t n),
                                   void *context, ProfErr *err)
{
    Answer answer = {0};
    enum RemoteOutcome outcome;
    size_t n = 0;
    Tensorflow__EnumSessionsResponse *r = NULL;
    uint8_t *request = request_sessions(repository, &n, err);
    if (remote_ask(&c->channel, &c->caller, c->addresses[0],
                   "/tensorflow.ProfileAnalysis/EnumSessions", request, n, deadline_of(c), &answer,
                   &outcome, err)) {
        r = tensorflow__enum_sessions_response__unpack(NULL, answer.n, answer.bytes);
        if (!r)
            prof_fail(err, PROF_FORMAT, 0, "%s: the answer is not an EnumProfileSessions response",
                      c->addresses[0]),
                outcome = REMOTE_NO_GRPC;
        else if (*r->error_message)
            outcome = refuse(c->addresses[0], r->error_message, err);
    }
    for (size_t i = 0; r && i < r->n_sessions && outcome == REMOTE_DONE; i++)
        session(context, r->sessions[i]->session_id, r->sessions[i]->available_tools,
                r->sessions[i]->n_available_tools);
    if (r) tensorflow__enum_sessions_response__free_unpacked(r, NULL);
    prof_free(answer.bytes);
    return outcome;
}

/* ---- GetSessionToolData ---- */

typedef struct {
    MessageStream stream;
    PartFile file;
    char message[512]; /* from the service */
    size_t n_message;
    bool started, has_output;
    ProfErr err;
} Fetch;

static enum FieldUse use(int path)
{
    return path == ERROR_MESSAGE || path == OUTPUT ? FIELD_TAKE : FIELD_SKIP;
}

static bool begin(void *context, int path, uint64_t n_bytes)
{
    Fetch *f = context;
    (void)n_bytes;
    f->has_output |= path == OUTPUT;
    return true;
}

static bool receive(void *context, int path, const uint8_t *bytes, size_t n_bytes)
{
    Fetch *f = context;
    if (path == OUTPUT) return part_write(&f->file, bytes, n_bytes, &f->err);
    for (size_t i = 0; i < n_bytes && f->n_message + 1 < sizeof f->message; i++)
        f->message[f->n_message++] = (char)bytes[i];
    return true;
}

static const FieldHandler handler = {use, begin, receive, NULL};

static bool fetch_sink(GrpcCall *call, const uint8_t *bytes, size_t n_bytes, uint64_t n_message)
{
    Fetch *f = call->context;
    if (!f->started)
        f->stream = (MessageStream){.handler = &handler, .context = f, .n_bytes = n_message},
        f->started = true;
    return message_stream_read(&f->stream, bytes, n_bytes, &f->err);
}

static void ask_tool_data(const RemoteCapture *c, const char *repository, const char *tool,
                          const char *host, Fetch *f, GrpcCall *call)
{
    *call = (GrpcCall){.address = c->addresses[0],
                       .method = "/tensorflow.ProfileAnalysis/GetSessionToolData",
                       .deadline_ms = deadline_of(c),
                       .n_answer_limit = answer_limit,
                       .sink = fetch_sink,
                       .context = f};
    call->request =
        request_tool_data(repository, c->request.session_id, tool, host, &call->n_request, &f->err);
    Grpc *grpc = call->request ? grpc_open(&c->channel, &f->err) : NULL;
    if (!grpc) {
        prof_free(call->request);
        return;
    }
    grpc_start(grpc, call);
    while (!call->done && grpc_wait(grpc, WAIT_MS))
        if (remote_stop(&c->caller)) grpc_cancel(grpc, call);
    grpc_close(grpc);
}

static enum RemoteOutcome finish_fetch(const GrpcCall *call, Fetch *f, const char *folder,
                                       const char *name, ProfErr *err)
{
    ProfErr *own = &f->err;
    if (!own->code && call->failure == GRPC_ANSWERED && f->started)
        message_stream_finish(&f->stream, own);
    if (own->code) {
        prof_fail(err, own->code, 0,
                  own->code == PROF_FORMAT ? "%s: the answer is not tool data (%s)" : "%s%s",
                  own->code == PROF_FORMAT ? call->address : "", own->text);
        return outcome_of_error(own);
    }
    enum RemoteOutcome outcome = outcome_of_call(call);
    if (outcome) {
        refuse(call->address, call->why, err);
        return outcome;
    }
    if (*f->message) return refuse(call->address, f->message, err);
    if (!f->has_output) return refuse(call->address, "the session has no data of this tool", err);
    return part_finish(&f->file, folder, name, err) ? REMOTE_DONE : outcome_of_error(err);
}

enum RemoteOutcome remote_fetch(const RemoteCapture *c, const char *repository, const char *tool,
                                const char *host, char path[4096], ProfErr *err)
{
    char folder[2048], name[512];
    Fetch f = {.file.fd = -1};
    GrpcCall call = {0};
    int n = snprintf(folder, sizeof folder, "%s/plugins/profile/%s", c->logdir,
                     c->request.session_id),
        k = snprintf(name, sizeof name, "%s%s%s", host ? host : "", host ? "." : "", tool);
    if (n >= (int)sizeof folder || k >= (int)sizeof name) {
        prof_fail(err, PROF_IO, 0, "%s: the path is too long", c->logdir);
        return REMOTE_NOT_WRITTEN;
    }
    for (char *p = name; *p; p++)
        if (*p == '/' || *p == ':') *p = '_';
    int n_made = make_folders(folder, err);
    if (n_made < 0 || !part_open(&f.file, folder, name, err)) return REMOTE_NOT_WRITTEN;
    ask_tool_data(c, repository, tool, host, &f, &call);
    enum RemoteOutcome outcome = finish_fetch(&call, &f, folder, name, err);
    part_discard(&f.file);
    remove_empty_folders(folder, n_made);
    snprintf(path, 4096, "%s/%s", folder, name);
    return outcome;
}
