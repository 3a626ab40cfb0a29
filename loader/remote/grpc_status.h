// SPDX-License-Identifier: Apache-2.0
/* grpc_status.h: the statuses of gRPC: their names, and which one applies if a server or proxy
 * sends none. */
#ifndef PROF_REMOTE_GRPC_STATUS_H
#define PROF_REMOTE_GRPC_STATUS_H

#include "../base/base.h"

#define GRPC_STATUSES(S)                                                                           \
    S(OK)                                                                                          \
    S(CANCELLED)                                                                                   \
    S(UNKNOWN)                                                                                     \
    S(INVALID_ARGUMENT)                                                                            \
    S(DEADLINE_EXCEEDED)                                                                           \
    S(NOT_FOUND)                                                                                   \
    S(ALREADY_EXISTS)                                                                              \
    S(PERMISSION_DENIED)                                                                           \
    S(RESOURCE_EXHAUSTED)                                                                          \
    S(FAILED_PRECONDITION)                                                                         \
    S(ABORTED)                                                                                     \
    S(OUT_OF_RANGE)                                                                                \
    S(UNIMPLEMENTED)                                                                               \
    S(INTERNAL)                                                                                    \
    S(UNAVAILABLE)                                                                                 \
    S(DATA_LOSS)                                                                                   \
    S(UNAUTHENTICATED)
#define AS_STATUS(name) GRPC_##name,
enum GrpcStatus { GRPC_STATUSES(AS_STATUS) N_GRPC_STATUSES };
#undef AS_STATUS

const char *grpc_status_name(int status);
/* Returns the status for an HTTP response that has no gRPC status. */
enum GrpcStatus grpc_status_of_http(long http_status);
/* Decodes %XX in a grpc-message, and replaces bytes that are not UTF-8 or not printable. */
void grpc_message_decode(const char *text, size_t n_text, char *out, size_t n_out);

#endif
