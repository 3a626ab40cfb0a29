// SPDX-License-Identifier: Apache-2.0
/* remote.c: see remote.h. */
#include "remote.h"

#include <stdio.h>

void remote_print(const RemoteCaller *caller, const char *format, ...)
{
    char line[6000];
    va_list ap;
    if (!caller->print_line) return;
    va_start(ap, format);
    print_utf8(line, sizeof line, format, ap);
    va_end(ap);
    caller->print_line(caller->context, line);
}

int remote_stop(const RemoteCaller *caller)
{
    return caller->stop ? caller->stop(caller->context) : 0;
}

static bool says_busy(const GrpcCall *call)
{
    return call->status == GRPC_ALREADY_EXISTS ||
           (call->status == GRPC_INTERNAL &&
            strstr(call->server_words, "profiling session active"));
}

enum RemoteOutcome outcome_of_call(const GrpcCall *call)
{
    switch (call->failure) {
    case GRPC_ANSWERED: return REMOTE_DONE;
    case GRPC_UNREACHABLE: return REMOTE_UNREACHABLE;
    case GRPC_NO_GRPC: return REMOTE_NO_GRPC;
    case GRPC_TOO_LATE: return REMOTE_TOO_LATE;
    case GRPC_STOPPED: return REMOTE_INTERRUPTED;
    case GRPC_FAULT: return REMOTE_FAILED;
    case GRPC_REFUSED: break;
    }
    if (says_busy(call)) return REMOTE_IN_THE_WAY;
    if (call->status == GRPC_UNIMPLEMENTED) return REMOTE_UNIMPLEMENTED;
    return call->status == GRPC_UNAVAILABLE ? REMOTE_UNREACHABLE : REMOTE_FAILED;
}

enum RemoteOutcome outcome_of_error(const ProfErr *err)
{
    switch (err->code) {
    case PROF_OK: return REMOTE_DONE;
    case PROF_NOTFOUND: return REMOTE_NO_LIBRARY;
    case PROF_IO: return REMOTE_NOT_WRITTEN;
    case PROF_LIMIT: return REMOTE_IN_THE_WAY;
    case PROF_FORMAT: return REMOTE_NO_GRPC;
    case PROF_INTERRUPT: return REMOTE_INTERRUPTED;
    default: return REMOTE_FAILED;
    }
}

enum { SMALL_ANSWER = 16 << 20, WAIT_MS = 100 };

bool remote_ask(const GrpcChannel *channel, const RemoteCaller *caller, const char *address,
                const char *method, uint8_t *request, size_t n_request, int64_t deadline_ms,
                Answer *answer, enum RemoteOutcome *outcome, ProfErr *err)
{
    GrpcCall call = {.address = address,
                     .method = method,
                     .request = request,
                     .n_request = n_request,
                     .deadline_ms = deadline_ms,
                     .n_answer_limit = SMALL_ANSWER,
                     .sink = answer_sink,
                     .context = answer};
    Grpc *grpc = request ? grpc_open(channel, err) : NULL;
    *outcome = outcome_of_error(err);
    if (!grpc) {
        prof_free(request);
        return false;
    }
    grpc_start(grpc, &call);
    while (!call.done && grpc_wait(grpc, WAIT_MS))
        if (remote_stop(caller)) grpc_cancel(grpc, &call);
    grpc_close(grpc);
    *outcome = outcome_of_call(&call);
    if (answer->no_memory) *outcome = REMOTE_FAILED;
    if (*outcome == REMOTE_DONE) return true;
    prof_fail(err, *outcome == REMOTE_INTERRUPTED ? PROF_INTERRUPT : PROF_IO, 0, "%s: %s", address,
              call.why);
    return false;
}
