// SPDX-License-Identifier: Apache-2.0
/* message.h: reads protobuf messages along the descriptions that protoc-c makes of the schema.
 *
 * protobuf-c's own reader has no limit of nesting or of memory, and keeps each message as often as it comes. Here the bytes are walked first, which
 * finds all that is wrong with them; then they are read into protoc-c's structs (schema/compact.awk), in an arena with an end. Equal texts and equal
 * messages of a singular field are shared where they come close together, so nobody may write to them. Fields that few messages have are kept in
 * parts of their message, which the schema declares: a part is never NULL, and the same one for all messages without such a field. */
#ifndef PROF_MESSAGE_H
#define PROF_MESSAGE_H

#include "../base.h"

#include <protobuf-c/protobuf-c.h>

enum { MESSAGE_MAX_DEPTH = 100 };   /* as protobuf's own readers */
enum { MESSAGE_PART_BYTES = 1024 }; /* no part's struct may be larger */

enum MessageState {
    MESSAGE_READ,
    MESSAGE_DAMAGED,   /* the bytes are no such message */
    MESSAGE_DEEP,      /* nested deeper than MESSAGE_MAX_DEPTH */
    MESSAGE_COSTLY,    /* takes more memory than its size can pay for */
    MESSAGE_NO_MEMORY, /* there is none */
};

typedef struct {
    void *message;   /* MESSAGE_READ: a message of the description, in the arena */
    size_t at;       /* else: the byte where the walk ended */
    size_t repaired; /* texts that were not UTF-8: their bytes from 0x80 on are '?' now, in the message and in `bytes` */
} MessageResult;

/* Reads a message into an arena, of which it takes at most `limit` bytes. Nothing borrows from `bytes` afterwards. On failure too the arena may hold
 * something that is of no use. */
enum MessageState message_unpack(const ProtobufCMessageDescriptor *type, uint8_t *bytes, size_t n_bytes, uint64_t limit, Arena *arena, MessageResult *result);
/* The walk alone: says of nearly all that cannot be unpacked why. result->message stays NULL. */
enum MessageState message_check(const ProtobufCMessageDescriptor *type, uint8_t *bytes, size_t n_bytes, MessageResult *result);

#endif
