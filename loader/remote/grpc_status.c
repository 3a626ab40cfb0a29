// SPDX-License-Identifier: Apache-2.0
/* grpc_status.c: see grpc_status.h. */
#include "grpc_status.h"

#include <stdio.h>

const char *grpc_status_name(int status)
{
#define AS_NAME(name) #name,
    static const char *const names[] = {GRPC_STATUSES(AS_NAME)};
#undef AS_NAME
    return status >= 0 && status < N_GRPC_STATUSES ? names[status] : "UNKNOWN";
}

enum GrpcStatus grpc_status_of_http(long http_status)
{
    switch (http_status) {
    case 400: return GRPC_INTERNAL;
    case 401: return GRPC_UNAUTHENTICATED;
    case 403: return GRPC_PERMISSION_DENIED;
    case 404: return GRPC_UNIMPLEMENTED;
    case 429:
    case 502:
    case 503:
    case 504: return GRPC_UNAVAILABLE;
    default: return GRPC_UNKNOWN;
    }
}

static int hex_digit(char c)
{
    if (c >= '0' && c <= '9') return c - '0';
    if (c >= 'a' && c <= 'f') return c - 'a' + 10;
    return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

static void print(char *out, size_t n_out, const char *format, ...)
{
    va_list ap;
    va_start(ap, format);
    print_utf8(out, n_out, format, ap);
    va_end(ap);
}

void grpc_message_decode(const char *text, size_t n_text, char *out, size_t n_out)
{
    char decoded[512];
    size_t n = 0;
    for (size_t i = 0; i < n_text && n + 1 < sizeof decoded; i++) {
        int high = text[i] == '%' && i + 2 < n_text ? hex_digit(text[i + 1]) : -1,
            low = high >= 0 ? hex_digit(text[i + 2]) : -1;
        char c = low >= 0 ? (char)(high << 4 | low) : text[i];
        if (low >= 0) i += 2;
        decoded[n++] = (unsigned char)c < ' ' || c == 127 ? ' ' : c;
    }
    decoded[n] = 0;
    print(out, n_out, "%s", decoded);
}
