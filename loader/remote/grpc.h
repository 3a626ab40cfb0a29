// SPDX-License-Identifier: Apache-2.0
/* grpc.h: unary calls of gRPC over HTTP/2, several at once.
 *
 * A call sends one message and receives one. The answer's bytes go to a sink as they arrive, so
 * its size needs no memory. Nothing is retried and nothing is printed here. */
#ifndef PROF_REMOTE_GRPC_H
#define PROF_REMOTE_GRPC_H

#include "grpc_status.h"

/* How servers are reached; the texts are borrowed. Starts as {0}: plain text. */
typedef struct {
    bool tls;
    const char *ca_file, *cert_file, *key_file; /* PEM; NULL: the system's CAs, no certificate */
    const char *const *metadata;                /* "name: value" */
    size_t n_metadata;
} GrpcChannel;

/* Why a call has no answer. */
enum GrpcFailure {
    GRPC_ANSWERED,    /* it has one: the status is OK and the message complete */
    GRPC_REFUSED,     /* the server ended it with a status */
    GRPC_UNREACHABLE, /* no connection, or it broke: also UNAVAILABLE */
    GRPC_NO_GRPC,     /* what answers there speaks another protocol, or speaks it wrongly */
    GRPC_TOO_LATE,    /* the deadline has passed: also DEADLINE_EXCEEDED */
    GRPC_STOPPED,     /* grpc_cancel() ended it, or the sink did */
    GRPC_FAULT,       /* ours: no memory, no libcurl, a certificate that cannot be read */
};

/* Set the members above the line, the rest to 0. */
typedef struct GrpcCall {
    const char *address; /* host:port, borrowed until the call is done */
    const char *method;  /* "/tensorflow.ProfilerService/Profile", borrowed */
    uint8_t *request;    /* the message, of prof_alloc(); grpc_start() takes it, even if it fails */
    size_t n_request;
    int64_t deadline_ms; /* from now on */
    uint64_t n_answer_limit;
    /* The answer's length is known before its first bytes. False ends the call as GRPC_STOPPED. */
    bool (*sink)(struct GrpcCall *call, const uint8_t *bytes, size_t n_bytes, uint64_t n_message);
    void *context; /* the sink's own */
    /* ---- */
    bool done;
    enum GrpcFailure failure;
    int status;             /* enum GrpcStatus */
    char why[1024];         /* one sentence without address and full stop; empty if answered */
    char server_words[512]; /* the server's message with its status */
    uint64_t n_message;     /* length of the answer, when its head has arrived */
    uint64_t n_received;    /* bytes of the answer so far */
    struct GrpcTransfer *transfer;
} GrpcCall;

/* A set of calls that run at the same time, in the thread that calls grpc_wait(). */
typedef struct Grpc Grpc;
/* Freed with grpc_close(). The channel is borrowed. NULL with err: no libcurl, no memory. */
Grpc *grpc_open(const GrpcChannel *channel, ProfErr *err);
void grpc_close(Grpc *grpc); /* calls that are not done end as GRPC_STOPPED */
/* Starts a call. It stays where it is until it is done; if it cannot start it is done at once. */
void grpc_start(Grpc *grpc, GrpcCall *call);
void grpc_cancel(Grpc *grpc, GrpcCall *call);
/* Lets the calls go on for at most so long, or until one is done. Returns how many are not. */
size_t grpc_wait(Grpc *grpc, int timeout_ms);

/* A sink that keeps answers of up to n_answer_limit bytes in memory. call->context is an Answer,
 * which starts as {0} and is freed with prof_free(answer.bytes). */
typedef struct {
    uint8_t *bytes;
    size_t n;
    bool no_memory;
} Answer;
bool answer_sink(GrpcCall *call, const uint8_t *bytes, size_t n_bytes, uint64_t n_message);

/* Is it HOST:PORT, with [ ] around an IPv6 address and a port from 1 to 65535? */
bool is_address(const char *text);

#endif
