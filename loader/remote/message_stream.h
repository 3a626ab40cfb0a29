// SPDX-License-Identifier: Apache-2.0
/* message_stream.h: reads a protobuf message while it arrives, in pieces of any size, so that a
 * field of 2 GB is never in memory.
 *
 * A field has a path: its number; for a field of a nested message, 100 times the path of that
 * message plus the number. Fields with numbers above 99 are skipped. */
#ifndef PROF_REMOTE_MESSAGE_STREAM_H
#define PROF_REMOTE_MESSAGE_STREAM_H

#include "../base/base.h"

enum FieldUse { FIELD_SKIP, FIELD_ENTER, FIELD_TAKE };
/* Callbacks for the fields. `begin` and `bytes` return false to stop reading. */
typedef struct {
    /* Returns whether the field, with n_bytes bytes, is skipped, read as a message, or passed to
     * `bytes`. */
    enum FieldUse (*use)(int path);
    /* called for a field that is not skipped */
    bool (*begin)(void *context, int path, uint64_t n_bytes);
    bool (*bytes)(void *context, int path, const uint8_t *bytes, size_t n_bytes);
    /* called for a varint; NULL: not wanted */
    void (*number)(void *context, int path, uint64_t value);
} FieldHandler;

enum { MAX_MESSAGE_DEPTH = 3 };
/* Set handler, context and n_bytes (the length of the message), and the rest to 0. */
typedef struct {
    const FieldHandler *handler;
    void *context;
    uint64_t n_bytes;
    uint64_t at; /* bytes read until now */
    struct {
        int path;
        uint64_t end; /* position */
    } inside[MAX_MESSAGE_DEPTH];
    int depth;
    enum { AT_TAG, AT_VARINT, AT_LENGTH, AT_BYTES } state;
    int path; /* of the current field */
    enum FieldUse field_use;
    uint64_t field_end;
    uint64_t varint;
    int n_varint_bytes;
} MessageStream;

/* Reads the next bytes of the message. False: the handler stopped, or err is set, with the position
 * at which the bytes are not a message. */
bool message_stream_read(MessageStream *s, const uint8_t *bytes, size_t n_bytes, ProfErr *err);
/* Called after the last byte. False with err if the message ends within a field. */
bool message_stream_finish(const MessageStream *s, ProfErr *err);

#endif
