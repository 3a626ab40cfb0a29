// SPDX-License-Identifier: Apache-2.0
/* grpc_failure.c: describes the outcome of a call: one sentence, a status and the kind of failure;
 * see grpc_transfer.h. */
#include "grpc_transfer.h"
#include "probe.h"

#include <errno.h>
#include <stdio.h>

static void set(GrpcTransfer *t, enum GrpcFailure failure, int status, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
static void set(GrpcTransfer *t, enum GrpcFailure failure, int status, const char *format, ...)
{
    va_list ap;
    va_start(ap, format);
    print_utf8(t->call->why, sizeof t->call->why, format, ap);
    va_end(ap);
    t->call->failure = failure, t->call->status = status;
}

/* Sets the server's status and message. */
static void set_status(GrpcTransfer *t)
{
    const GrpcCall *call = t->call;
    const char *words = call->server_words;
    set(t, t->status == GRPC_DEADLINE_EXCEEDED ? GRPC_TOO_LATE : GRPC_REFUSED, t->status, "%s%s%s",
        grpc_status_name(t->status), *words ? ": " : "", words);
}

/* Handles a complete HTTP response that has no gRPC status. */
static void set_no_status(const Curl *curl, GrpcTransfer *t)
{
    long http = 0;
    curl->easy_getinfo(t->easy, CURL_RESPONSE_CODE, &http);
    if (t->is_http1)
        set(t, GRPC_NO_GRPC, grpc_status_of_http(http),
            "the server there speaks HTTP/1, and gRPC needs HTTP/2");
    else if (http != 200)
        set(t, GRPC_NO_GRPC, grpc_status_of_http(http),
            "the server answers with HTTP status %ld instead of gRPC", http);
    else if (!t->is_grpc)
        set(t, GRPC_NO_GRPC, GRPC_UNKNOWN, "the server answers with content of type %s, not gRPC",
            *t->content_type ? t->content_type : "(none)");
    else
        set(t, GRPC_NO_GRPC, GRPC_UNKNOWN,
            "the answer ends without a status of gRPC, after %llu bytes",
            (unsigned long long)t->call->n_received);
}

/* Returns the status for the code with which an HTTP/2 stream was reset. */
static int status_of_reset(long code)
{
    switch (code) {
    case 7: return GRPC_UNAVAILABLE;         /* REFUSED_STREAM */
    case 8: return GRPC_CANCELLED;           /* CANCEL */
    case 11: return GRPC_RESOURCE_EXHAUSTED; /* ENHANCE_YOUR_CALM */
    case 12: return GRPC_PERMISSION_DENIED;  /* INADEQUATE_SECURITY */
    default: return GRPC_INTERNAL;
    }
}

static void set_reset(GrpcTransfer *t)
{
    const char *code = strstr(t->error, "(err ");
    set(t, GRPC_NO_GRPC, code ? status_of_reset(strtol(code + 5, NULL, 10)) : GRPC_INTERNAL,
        "the server reset the call after %llu bytes of the answer (%s)",
        (unsigned long long)t->call->n_received, *t->error ? t->error : "no reason given");
    if (t->call->status == GRPC_UNAVAILABLE) t->call->failure = GRPC_UNREACHABLE;
}

/* Handles a connection that failed before an answer: finds out what answers there. */
static void set_wrong_protocol(const Curl *curl, const GrpcChannel *channel, GrpcTransfer *t)
{
    enum Protocol found = probe_port(curl, t->call->address);
    if (found == PROTOCOL_HTTP1)
        set(t, GRPC_NO_GRPC, GRPC_UNAVAILABLE,
            "the server there speaks HTTP/1, and gRPC needs HTTP/2");
    else if (found == PROTOCOL_TLS && !channel->tls)
        set(t, GRPC_NO_GRPC, GRPC_UNAVAILABLE, "the server there speaks TLS; add --tls");
    else if (found != PROTOCOL_SILENT && found != PROTOCOL_TLS && channel->tls)
        set(t, GRPC_NO_GRPC, GRPC_UNAVAILABLE,
            "the server there does not speak TLS; leave out --tls");
    else if (found == PROTOCOL_OTHER)
        set(t, GRPC_NO_GRPC, GRPC_UNAVAILABLE, "what answers there is not gRPC");
    else
        set(t, GRPC_UNREACHABLE, GRPC_UNAVAILABLE,
            "the connection broke before an answer came (%s)",
            *t->error ? t->error : "no reason given");
}

static void set_unreachable(const Curl *curl, GrpcTransfer *t)
{
    long number = 0;
    curl->easy_getinfo(t->easy, CURL_OS_ERRNO, &number);
    if (number == ECONNREFUSED)
        set(t, GRPC_UNREACHABLE, GRPC_UNAVAILABLE,
            "the connection is refused: no server listens there");
    else
        set(t, GRPC_UNREACHABLE, GRPC_UNAVAILABLE, "there is no connection: %s",
            number ? strerror((int)number) : t->error);
}

static void set_timeout(GrpcTransfer *t)
{
    int64_t ms = monotonic_ms() - t->started_ms;
    if (ms + 50 < t->call->deadline_ms)
        set(t, GRPC_UNREACHABLE, GRPC_UNAVAILABLE, "there is no connection after %lld s",
            (long long)ms / 1000);
    else if (t->has_headers)
        set(t, GRPC_TOO_LATE, GRPC_DEADLINE_EXCEEDED,
            "the deadline of %g s passed after %llu bytes of the answer",
            (double)t->call->deadline_ms / 1000, (unsigned long long)t->call->n_received);
    else
        set(t, GRPC_TOO_LATE, GRPC_DEADLINE_EXCEEDED, "no answer came within the deadline of %g s",
            (double)t->call->deadline_ms / 1000);
}

static void set_result(const Curl *curl, const GrpcChannel *channel, GrpcTransfer *t, int result)
{
    switch (result) {
    case CURL_UNRESOLVABLE:
        set(t, GRPC_UNREACHABLE, GRPC_UNAVAILABLE, "no address is known for this name");
        return;
    case CURL_UNREACHABLE: set_unreachable(curl, t); return;
    case CURL_TIMED_OUT: set_timeout(t); return;
    case CURL_BAD_SERVER_CERT:
        set(t, GRPC_NO_GRPC, GRPC_UNAVAILABLE, "the server's certificate is not accepted (%s)",
            t->error);
        return;
    case CURL_BAD_CLIENT_CERT:
    case CURL_BAD_CA_FILE:
        set(t, GRPC_FAULT, GRPC_INVALID_ARGUMENT, "a certificate or key cannot be used (%s)",
            t->error);
        return;
    case CURL_NO_MEMORY: set(t, GRPC_FAULT, GRPC_RESOURCE_EXHAUSTED, "out of memory"); return;
    case CURL_STREAM_ERROR: set_reset(t); return;
    default: break;
    }
    if (t->has_headers && !t->is_grpc)
        set_no_status(curl, t);
    else if (t->has_headers)
        set(t, GRPC_UNREACHABLE, GRPC_UNAVAILABLE,
            "the connection broke after %llu bytes of the answer (%s)",
            (unsigned long long)t->call->n_received,
            *t->error ? t->error : curl->easy_strerror(result));
    else
        set_wrong_protocol(curl, channel, t);
}

static bool is_complete(const GrpcTransfer *t)
{
    return t->n_head == 5 && t->call->n_received == t->call->n_message;
}

void grpc_explain(const Curl *curl, const GrpcChannel *channel, GrpcTransfer *t, int result)
{
    GrpcCall *call = t->call;
    if (t->has_status && t->status != GRPC_OK)
        set_status(t);
    else if (t->has_status && is_complete(t))
        call->failure = GRPC_ANSWERED, call->status = GRPC_OK;
    else if (t->has_status)
        set(t, GRPC_NO_GRPC, GRPC_INTERNAL, "the answer ends after %llu of %llu bytes",
            (unsigned long long)call->n_received, (unsigned long long)call->n_message);
    else if (result == CURL_OK)
        set_no_status(curl, t);
    else
        set_result(curl, channel, t, result);
}
