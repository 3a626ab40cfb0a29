// SPDX-License-Identifier: Apache-2.0
/* grpc.c: makes calls of gRPC; see grpc.h. grpc_failure.c describes what libcurl reports of a
 * failed transfer.
 *
 * A message is framed by five bytes: 0 (1 if it is compressed) and its length, big-endian. The
 * headers of an answer say that it is gRPC; its trailers have the status. An answer without a
 * message has both in one block. */
#define _GNU_SOURCE
#include "grpc.h"

#include "grpc_transfer.h"

#include <ctype.h>
#include <stdio.h>
#include <strings.h>
#include <time.h>

enum { FRAME_HEAD = 5, CONNECT_MS = 20000, MOST_OTHER_BYTES = 1 << 16 };

struct Grpc {
    const Curl *curl;
    const GrpcChannel *channel;
    CurlMulti *multi;
    GrpcTransfer *running; /* list of running transfers */
};

int64_t monotonic_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

bool is_address(const char *text)
{
    const char *colon = strrchr(text, ':'), *host_end = colon;
    if (!colon || colon == text || strlen(text) > 300) return false;
    bool is_v6 = text[0] == '[';
    if (is_v6 && (colon < text + 3 || *--host_end != ']')) return false;
    for (const char *p = text + is_v6; p < host_end; p++)
        if (is_v6 ? !isxdigit((unsigned char)*p) && !strchr(":.%", *p)
                  : !isalnum((unsigned char)*p) && !strchr(".-_", *p))
            return false;
    char *end;
    long port = isdigit((unsigned char)colon[1]) ? strtol(colon + 1, &end, 10) : 0;
    return port >= 1 && port <= 65535 && !*end;
}

/* ---- the answer ---- */

/* Ends the transfer with this reason. libcurl stops when it gets the return value. */
static size_t give_up(GrpcTransfer *t, enum GrpcFailure failure, int status, const char *format,
                      ...)
{
    va_list ap;
    va_start(ap, format);
    print_utf8(t->call->why, sizeof t->call->why, format, ap);
    va_end(ap);
    t->call->failure = failure, t->call->status = status, t->gave_up = true;
    return 0;
}

static bool check_frame_head(GrpcTransfer *t)
{
    const uint8_t *head = t->frame_head;
    uint32_t n =
        (uint32_t)head[1] << 24 | (uint32_t)head[2] << 16 | (uint32_t)head[3] << 8 | head[4];
    GrpcCall *call = t->call;
    if (head[0] == 1)
        return give_up(t, GRPC_NO_GRPC, GRPC_INTERNAL,
                       "the answer is compressed, which was not asked for");
    if (head[0]) return give_up(t, GRPC_NO_GRPC, GRPC_INTERNAL, "the answer is not a gRPC message");
    if (n > call->n_answer_limit)
        return give_up(t, GRPC_NO_GRPC, GRPC_RESOURCE_EXHAUSTED,
                       "the answer has %lu bytes, more than the limit of %llu", (unsigned long)n,
                       (unsigned long long)call->n_answer_limit);
    call->n_message = n;
    return true;
}

static size_t receive_body(char *from, size_t one, size_t n_bytes, void *context)
{
    (void)one;
    GrpcTransfer *t = context;
    const uint8_t *bytes = (const uint8_t *)from;
    if (!t->is_grpc) { /* a page of another server: only its end matters */
        t->n_other += n_bytes;
        return t->n_other < MOST_OTHER_BYTES ? n_bytes : 0;
    }
    for (size_t left = n_bytes, n; left; bytes += n, left -= n) {
        GrpcCall *call = t->call;
        if (t->n_head < FRAME_HEAD) {
            n = 1;
            t->frame_head[t->n_head++] = *bytes;
            if (t->n_head == FRAME_HEAD && !check_frame_head(t)) return 0;
            continue;
        }
        uint64_t wanted = call->n_message - call->n_received;
        if (!wanted)
            return give_up(t, GRPC_NO_GRPC, GRPC_INTERNAL,
                           "the answer goes on after its end, or has two messages");
        n = left < wanted ? left : (size_t)wanted;
        call->n_received += n;
        if (!call->sink(call, bytes, n, call->n_message)) {
            call->failure = GRPC_STOPPED, call->status = GRPC_CANCELLED, t->gave_up = true;
            return 0;
        }
    }
    return n_bytes;
}

/* Returns whether a header line has this name, and its value. */
static bool header_is(const char *line, size_t n_line, const char *name, const char **value,
                      size_t *n_value)
{
    size_t n = strlen(name);
    if (n_line <= n || line[n] != ':' || strncasecmp(line, name, n)) return false;
    const char *p = line + n + 1, *end = line + n_line;
    while (p < end && (*p == ' ' || *p == '\t')) p++;
    while (p < end && (end[-1] == '\r' || end[-1] == '\n' || end[-1] == ' ')) end--;
    *value = p, *n_value = (size_t)(end - p);
    return true;
}

static int status_of(const char *text, size_t n)
{
    int status = 0;
    if (!n || n > 2) return GRPC_UNKNOWN;
    for (size_t i = 0; i < n; i++) {
        if (!isdigit((unsigned char)text[i])) return GRPC_UNKNOWN;
        status = status * 10 + text[i] - '0';
    }
    return status < N_GRPC_STATUSES ? status : GRPC_UNKNOWN;
}

static size_t receive_header(char *line, size_t one, size_t n_line, void *context)
{
    (void)one;
    GrpcTransfer *t = context;
    const char *value;
    size_t n;
    t->has_headers = true;
    if (n_line >= 5 && !memcmp(line, "HTTP/", 5)) t->is_http1 = line[5] == '1';
    if (header_is(line, n_line, "content-type", &value, &n)) {
        static const char wanted[] = "application/grpc";
        size_t k = sizeof wanted - 1;
        t->is_grpc = n >= k && !strncasecmp(value, wanted, k) && (n == k || strchr("+;", value[k]));
        snprintf(t->content_type, sizeof t->content_type, "%.*s", (int)(n < 80 ? n : 80), value);
    } else if (header_is(line, n_line, "grpc-status", &value, &n)) {
        t->has_status = true, t->status = status_of(value, n);
    } else if (header_is(line, n_line, "grpc-message", &value, &n)) {
        grpc_message_decode(value, n, t->call->server_words, sizeof t->call->server_words);
    }
    return n_line;
}

/* ---- the request ---- */

static bool add_header(const Curl *curl, GrpcTransfer *t, const char *line)
{
    CurlList *longer = curl->slist_append(t->headers, line);
    if (longer) t->headers = longer;
    return longer != NULL;
}

static bool make_headers(Grpc *g, GrpcTransfer *t)
{
    static const char *const lines[] = {"content-type: application/grpc", "te: trailers",
                                        "grpc-accept-encoding: identity", "accept:", "expect:"};
    char timeout[64];
    int64_t ms = t->call->deadline_ms;
    bool ok = true;
    snprintf(timeout, sizeof timeout, "grpc-timeout: %lld%c",
             (long long)(ms < 100000000 ? ms : ms / 1000 % 100000000), ms < 100000000 ? 'm' : 'S');
    for (size_t i = 0; i < COUNT(lines); i++) ok = ok && add_header(g->curl, t, lines[i]);
    for (size_t i = 0; i < g->channel->n_metadata; i++)
        ok = ok && add_header(g->curl, t, g->channel->metadata[i]);
    return ok && add_header(g->curl, t, timeout);
}

static bool frame_request(GrpcTransfer *t)
{
    const GrpcCall *call = t->call;
    uint32_t n = (uint32_t)call->n_request;
    if (!(t->body = prof_buffer(FRAME_HEAD + call->n_request))) return false;
    const uint8_t head[FRAME_HEAD] = {0, (uint8_t)(n >> 24), (uint8_t)(n >> 16), (uint8_t)(n >> 8),
                                      (uint8_t)n};
    memcpy(t->body, head, FRAME_HEAD);
    if (n) memcpy(t->body + FRAME_HEAD, call->request, n);
    return true;
}

static void set_channel(const Grpc *g, CurlEasy *easy)
{
    const GrpcChannel *c = g->channel;
    const struct {
        int option;
        const char *value;
    } files[] = {
        {CURL_CAINFO, c->ca_file}, {CURL_SSLCERT, c->cert_file}, {CURL_SSLKEY, c->key_file}};
    g->curl->easy_setopt(easy, CURL_HTTP_VERSION,
                         c->tls ? (long)CURL_HTTP_2TLS : (long)CURL_HTTP_2_PRIOR_KNOWLEDGE);
    for (size_t i = 0; i < COUNT(files) && c->tls; i++)
        if (files[i].value) g->curl->easy_setopt(easy, files[i].option, files[i].value);
}

static bool set_up(Grpc *g, GrpcTransfer *t)
{
    const Curl *curl = g->curl;
    GrpcCall *call = t->call;
    char url[1024];
    snprintf(url, sizeof url, "http%s://%s%s", g->channel->tls ? "s" : "", call->address,
             call->method);
    if (!frame_request(t) || !make_headers(g, t) || !(t->easy = curl->easy_init())) return false;
    const struct {
        int option;
        const void *value;
    } pointers[] = {{CURL_URL, url},
                    {CURL_POSTFIELDS, t->body},
                    {CURL_HTTPHEADER, t->headers},
                    {CURL_WRITEDATA, t},
                    {CURL_HEADERDATA, t},
                    {CURL_ERRORBUFFER, t->error},
                    {CURL_USERAGENT, "grpc-c-profsql"},
                    {CURL_NOPROXY, "*"},
                    {CURL_PRIVATE, t}};
    for (size_t i = 0; i < COUNT(pointers); i++)
        if (curl->easy_setopt(t->easy, pointers[i].option, pointers[i].value)) return false;
    curl->easy_setopt(t->easy, CURL_POSTFIELDSIZE_LARGE, (int64_t)(FRAME_HEAD + call->n_request));
    curl->easy_setopt(t->easy, CURL_WRITEFUNCTION, receive_body);
    curl->easy_setopt(t->easy, CURL_HEADERFUNCTION, receive_header);
    curl->easy_setopt(t->easy, CURL_NOSIGNAL, 1L);
    curl->easy_setopt(t->easy, CURL_TCP_KEEPALIVE, 1L);
    /* libcurl 7.88 does not send a request on a connection on which another request still waits. */
    curl->easy_setopt(t->easy, CURL_FRESH_CONNECT, 1L);
    curl->easy_setopt(t->easy, CURL_FORBID_REUSE, 1L);
    curl->easy_setopt(t->easy, CURL_TIMEOUT_MS, (long)call->deadline_ms);
    curl->easy_setopt(t->easy, CURL_CONNECTTIMEOUT_MS,
                      (long)(call->deadline_ms < CONNECT_MS ? call->deadline_ms : CONNECT_MS));
    set_channel(g, t->easy);
    return !curl->multi_add_handle(g->multi, t->easy);
}

/* ---- calls ---- */

Grpc *grpc_open(const GrpcChannel *channel, ProfErr *err)
{
    const Curl *curl = curl_load(err);
    if (!curl) return NULL;
    Grpc *g = prof_alloc(sizeof *g);
    if (g && (g->multi = curl->multi_init()))
        g->curl = curl, g->channel = channel;
    else
        prof_free(g), g = NULL, prof_nomem(err);
    return g;
}

static void free_transfer(Grpc *g, GrpcTransfer *t)
{
    for (GrpcTransfer **p = &g->running; *p; p = &(*p)->next)
        if (*p == t) {
            *p = t->next;
            break;
        }
    if (t->easy) g->curl->multi_remove_handle(g->multi, t->easy), g->curl->easy_cleanup(t->easy);
    g->curl->slist_free_all(t->headers);
    prof_free(t->body);
    prof_free(t);
}

/* A server may end a call after reading only the headers, if it does not have the method. If
 * libcurl (7.88) has not sent the message by then, it drops the server's headers and so the status.
 * Nothing was executed, so the call is repeated until it wins this race. */
static bool start_again(Grpc *g, GrpcTransfer *t, int result)
{
    enum { MOST_RACES = 50 };
    bool lost_race = result == CURL_STREAM_ERROR && !t->has_headers && !*t->error;
    if (!lost_race || t->gave_up || ++t->n_races > MOST_RACES) return false;
    g->curl->multi_remove_handle(g->multi, t->easy);
    return !g->curl->multi_add_handle(g->multi, t->easy);
}

static void end_call(Grpc *g, GrpcTransfer *t, int result)
{
    GrpcCall *call = t->call;
    if (!t->gave_up) grpc_explain(g->curl, g->channel, t, result);
    call->done = true, call->transfer = NULL;
    free_transfer(g, t);
}

void grpc_start(Grpc *g, GrpcCall *call)
{
    GrpcTransfer *t = prof_alloc(sizeof *t);
    if (t) {
        *t = (GrpcTransfer){.call = call, .next = g->running, .started_ms = monotonic_ms()};
        call->transfer = g->running = t;
    }
    bool ok = t && set_up(g, t);
    prof_free(call->request);
    call->request = NULL;
    if (ok) return;
    if (t) free_transfer(g, t);
    call->failure = GRPC_FAULT, call->status = GRPC_RESOURCE_EXHAUSTED, call->done = true;
    snprintf(call->why, sizeof call->why, "out of memory");
}

void grpc_cancel(Grpc *g, GrpcCall *call)
{
    if (call->done || !call->transfer) return; /* or not started */
    give_up(call->transfer, GRPC_STOPPED, GRPC_CANCELLED, "the call was cancelled");
    end_call(g, call->transfer, CURL_OK);
}

void grpc_close(Grpc *g)
{
    while (g->running) grpc_cancel(g, g->running->call);
    g->curl->multi_cleanup(g->multi);
    prof_free(g);
}

static size_t n_running(const Grpc *g)
{
    size_t n = 0;
    for (const GrpcTransfer *t = g->running; t; t = t->next) n++;
    return n;
}

size_t grpc_wait(Grpc *g, int timeout_ms)
{
    const Curl *curl = g->curl;
    size_t before = n_running(g);
    int64_t until = monotonic_ms() + timeout_ms;
    for (int64_t left = timeout_ms; n_running(g) == before && before && left >= 0;
         left = until - monotonic_ms()) {
        int n, n_left;
        if (curl->multi_perform(g->multi, &n)) break;
        for (CurlMessage *m; (m = curl->multi_info_read(g->multi, &n_left));) {
            GrpcTransfer *t = NULL;
            int result = m->data.result;
            if (m->message != CURL_DONE) continue;
            curl->easy_getinfo(m->easy, CURL_PRIVATE_OF, &t);
            if (!start_again(g, t, result)) end_call(g, t, result);
        }
        if (n_running(g) == before && curl->multi_poll(g->multi, NULL, 0, (int)left, &n)) break;
    }
    return n_running(g);
}

/* ---- answers in memory ---- */

bool answer_sink(GrpcCall *call, const uint8_t *bytes, size_t n_bytes, uint64_t n_message)
{
    Answer *answer = call->context;
    if (!answer->bytes && !(answer->bytes = prof_buffer((size_t)n_message))) {
        answer->no_memory = true;
        snprintf(call->why, sizeof call->why, "out of memory");
        return false;
    }
    memcpy(answer->bytes + answer->n, bytes, n_bytes);
    answer->n += n_bytes;
    return true;
}
