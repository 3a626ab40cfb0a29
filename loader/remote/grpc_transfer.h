// SPDX-License-Identifier: Apache-2.0
/* grpc_transfer.h: a running call, and its outcome after libcurl has ended it. For grpc.c and
 * grpc_failure.c only. */
#ifndef PROF_REMOTE_GRPC_TRANSFER_H
#define PROF_REMOTE_GRPC_TRANSFER_H

#include "curl.h"
#include "grpc.h"

typedef struct GrpcTransfer {
    GrpcCall *call;
    struct GrpcTransfer *next;
    CurlEasy *easy;
    CurlList *headers;
    uint8_t *body; /* the framed request */
    char error[CURL_ERROR_SIZE];
    int64_t started_ms;
    bool has_headers, is_http1, is_grpc; /* is_grpc: by the content type */
    char content_type[100];
    bool has_status;
    int status;     /* as sent, if has_status */
    size_t n_other; /* bytes of a body that is not gRPC */
    uint8_t frame_head[5];
    int n_head;
    int n_races;  /* how often the status of a call was lost */
    bool gave_up; /* failure, status and why of the call are already set */
} GrpcTransfer;

int64_t monotonic_ms(void);
/* Sets failure, status and why of the call from what arrived and libcurl's result. */
void grpc_explain(const Curl *curl, const GrpcChannel *channel, GrpcTransfer *t, int result);

#endif
