// SPDX-License-Identifier: Apache-2.0
/* grpc.h: unary calls of gRPC over HTTP/2, several at once.
 *
 * A call sends one message and receives one. The bytes of the answer go to a sink as they arrive,
 * so a large answer needs no memory. Nothing is retried or printed here. */
#ifndef PROF_REMOTE_GRPC_H
#define PROF_REMOTE_GRPC_H

#include "grpc_status.h"

/* How servers are reached. The texts are borrowed. Starts as {0}: plain text. */
typedef struct {
    bool tls;
    /* PEM files; NULL: the system's CAs, no certificate */
    const char *ca_file, *cert_file, *key_file;
    const char *const *metadata; /* "name: value" */
    size_t n_metadata;
} GrpcChannel;

/* Why a call has no answer. */
enum GrpcFailure {
    GRPC_ANSWERED,    /* it has one: the status is OK and the message is complete */
    GRPC_REFUSED,     /* the server ended it with a status */
    GRPC_UNREACHABLE, /* no connection, or it broke; also UNAVAILABLE */
    GRPC_NO_GRPC,     /* the server speaks another protocol, or gRPC incorrectly */
    GRPC_TOO_LATE,    /* the deadline has passed; also DEADLINE_EXCEEDED */
    GRPC_STOPPED,     /* grpc_cancel() or the sink ended it */
    GRPC_FAULT, /* a local problem: no memory, no libcurl, a certificate that cannot be read */
};

/* Set the members above the line, and the rest to 0. */
typedef struct GrpcCall {
    const char *address; /* host:port, borrowed until the call is done */
    const char *method;  /* "/tensorflow.ProfilerService/Profile", borrowed */
    uint8_t *request;    /* the message, from prof_alloc(); grpc_start() takes ownership, even if it
                            fails */
    size_t n_request;
    int64_t deadline_ms; /* from now on, in ms */
    uint64_t n_answer_limit;
    /* Called with parts of the answer; its length is known before. False ends the call as
     * GRPC_STOPPED. */
    bool (*sink)(struct GrpcCall *call, const uint8_t *bytes, size_t n_bytes, uint64_t n_message);
    void *context; /* for the sink */
    /* ---- */
    bool done;
    enum GrpcFailure failure;
    int status;     /* enum GrpcStatus */
    char why[1024]; /* one sentence without address and full stop; empty if it was answered */
    char server_words[512]; /* the server's message with the status */
    uint64_t n_message;     /* length of the answer, once its start has arrived */
    uint64_t n_received;    /* bytes of the answer until now */
    struct GrpcTransfer *transfer;
} GrpcCall;

/* Calls that run at the same time, in the thread that calls grpc_wait(). */
typedef struct Grpc Grpc;
/* Opens a set of calls. Freed with grpc_close(). The channel is borrowed. NULL with err: no
 * libcurl, or memory ran out. */
Grpc *grpc_open(const GrpcChannel *channel, ProfErr *err);
void grpc_close(Grpc *grpc); /* unfinished calls end as GRPC_STOPPED */
/* Starts a call. It must not move until it is done. If it cannot start, it is done at once. */
void grpc_start(Grpc *grpc, GrpcCall *call);
void grpc_cancel(Grpc *grpc, GrpcCall *call);
/* Runs the calls for at most this time, or until one is done. Returns how many are not done. */
size_t grpc_wait(Grpc *grpc, int timeout_ms);

/* A sink that keeps answers of up to n_answer_limit bytes in memory. call->context is an Answer,
 * which starts as {0} and is freed with prof_free(answer.bytes). */
typedef struct {
    uint8_t *bytes;
    size_t n;
    bool no_memory;
} Answer;
bool answer_sink(GrpcCall *call, const uint8_t *bytes, size_t n_bytes, uint64_t n_message);

/* Returns whether a text is HOST:PORT, with [ ] around an IPv6 address and a port from 1 to 65535.
 */
bool is_address(const char *text);

#endif
