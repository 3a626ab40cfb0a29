// SPDX-License-Identifier: Apache-2.0
/* trace_out.c: the buffer in front of the output; see trace_writer.h. */
#include "trace_writer.h"

void trace_out_flush(TraceOut *out)
{
    if (!out->failed && out->n) {
        out->failed = !out->write(out->context, out->bytes, out->n);
        out->n_written += out->n;
    }
    out->n = 0;
}

void trace_out_add(TraceOut *out, const void *bytes, size_t n_bytes)
{
    const char *from = bytes;
    if (n_bytes <= TRACE_OUT_BYTES - out->n) {
        if (n_bytes) memcpy(out->bytes + out->n, from, n_bytes);
        out->n += n_bytes;
        return;
    }
    while (n_bytes) {
        if (out->n == TRACE_OUT_BYTES) trace_out_flush(out);
        size_t room = TRACE_OUT_BYTES - out->n, part = n_bytes < room ? n_bytes : room;
        memcpy(out->bytes + out->n, from, part);
        out->n += part, from += part, n_bytes -= part;
    }
}
