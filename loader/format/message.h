// SPDX-License-Identifier: Apache-2.0
/* message.h: unpacks protobuf messages, using the descriptors that protoc-c generates from the
 * schema.
 *
 * protobuf-c's own reader limits neither nesting nor memory, and stores equal texts many times.
 * Here a first walk over the bytes finds everything that is wrong with them. Then they are unpacked
 * into protoc-c's structs (schema/compact.awk) in an arena with a limit. Equal texts, and equal
 * messages of a singular field, are shared if they are close together, so unpacked messages must
 * not be changed. Fields that few messages have are stored in `parts` of their message, which the
 * schema declares. A part is never NULL: all messages without such fields share an empty one. The
 * memory of the bytes of a large message goes back to the system while it is read. */
#ifndef PROF_MESSAGE_H
#define PROF_MESSAGE_H

#include "../base/base.h"

#include <protobuf-c/protobuf-c.h>

enum { MESSAGE_MAX_DEPTH = 100 };   /* as in protobuf's own readers */
enum { MESSAGE_PARTS_BYTES = 768 }; /* most that the parts of a message take together */

enum MessageState {
    MESSAGE_READ,
    MESSAGE_DAMAGED,   /* the bytes are not a message of this type */
    MESSAGE_DEEP,      /* nested deeper than MESSAGE_MAX_DEPTH */
    MESSAGE_COSTLY,    /* would take more memory than `limit` */
    MESSAGE_NO_MEMORY, /* memory ran out */
};

typedef struct {
    void *message; /* MESSAGE_READ: the message, a struct of the descriptor's type, in the arena */
    size_t at;     /* otherwise: position of the byte where reading ended */
    /* Number of texts that were not UTF-8. Their bytes from 0x80 on are now '?', in the message and
     * in `bytes`. */
    size_t repaired;
} MessageResult;

/* Unpacks a message into an arena. The message and the bytes that are not given back take at most
 * `limit`. `bytes` comes from prof_buffer() or an arena; its content is lost, and the result does
 * not refer to it. On failure the arena may contain unused data. */
enum MessageState message_unpack(const ProtobufCMessageDescriptor *type, uint8_t *bytes,
                                 size_t n_bytes, uint64_t limit, Arena *arena,
                                 MessageResult *result);
/* Only checks the bytes, without unpacking them. Finds the reason for nearly all messages that
 * cannot be unpacked. result->message stays NULL. */
enum MessageState message_check(const ProtobufCMessageDescriptor *type, uint8_t *bytes,
                                size_t n_bytes, MessageResult *result);

#endif
