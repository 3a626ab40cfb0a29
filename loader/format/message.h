/* message.h: protobuf-c behind a check.
 *
 * protobuf-c has no limit of nesting or of memory: 34 KB of nested messages overflow its stack, and two bytes of an empty
 * message ask for hundreds. So the bytes are walked first, along the message's own description, and what it then takes comes
 * from an arena with an end. Messages are never freed one by one: they live as long as the arena. */
#ifndef PROF_MESSAGE_H
#define PROF_MESSAGE_H

#include "../base.h"

#include <protobuf-c/protobuf-c.h>

enum { MESSAGE_MAX_DEPTH = 100 }; /* as protobuf's own readers */

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

/* Unpacks a message. Nothing borrows from `bytes` afterwards. On failure too the arena may hold something that is of no use. */
enum MessageState message_unpack(const ProtobufCMessageDescriptor *description, uint8_t *bytes, size_t n_bytes, Arena *arena, MessageResult *result);
/* The walk alone: says of nearly all that cannot be unpacked why. result->message stays NULL. */
enum MessageState message_check(const ProtobufCMessageDescriptor *description, uint8_t *bytes, size_t n_bytes, MessageResult *result);

#endif
