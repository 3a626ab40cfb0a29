/* message.c: checked unpacking with protobuf-c; see message.h. */
#include "message.h"

#include "wire.h"

/* ---- memory ---- */

/* What a message may cost. Real programs take 7 to 20 times their bytes, the tersest that still say something 35 times; an empty
 * sub-message of two bytes becomes a struct of hundreds. So 64 times and a little, and of what is large 24 times and 512 MiB. */
enum { COST_FREE = 1 << 20, COST_PER_BYTE = 24, COST_PER_SMALL_BYTE = 40, COST_SMALL = 512 << 20 };
/* Of large messages, memory is taken in large blocks; of real ones the first holds half. */
enum { LARGE = 1 << 20, MOST_AT_ONCE = 16 << 20 };

/* protobuf-c's own scratch, one piece for every so many fields of a message, comes in powers of two from here on, and goes before its message is done. All
 * else stays, whatever its size, so it is enough to know the last of such blocks. */
enum { SMALLEST_SCRATCH = 512, N_CLASSES = 48, MOST_LENT = 128 };

typedef struct {
    void *block;
    unsigned class; /* it holds 2^class bytes */
} Lent;

typedef struct {
    Arena *arena;
    uint64_t limit;
    void *freed[N_CLASSES]; /* to be used again, by class; chained through their first bytes */
    Lent lent[MOST_LENT];
    size_t n_lent;
    bool no_memory, too_costly; /* why the message cannot be unpacked */
} Memory;

static void *lend(Memory *memory, void *block, unsigned class)
{
    if (memory->n_lent == MOST_LENT) memmove(memory->lent, memory->lent + 1, --memory->n_lent * sizeof *memory->lent);
    memory->lent[memory->n_lent++] = (Lent){block, class};
    return block;
}

static void *block_alloc(void *data, size_t n_bytes)
{
    Memory *memory = data;
    bool may_return = n_bytes >= SMALLEST_SCRATCH && !(n_bytes & (n_bytes - 1));
    unsigned class = may_return ? (unsigned)__builtin_ctzll(n_bytes) : 0;
    void *block = may_return && class < N_CLASSES ? memory->freed[class] : NULL;
    if (block) {
        memcpy(&memory->freed[class], block, sizeof(void *));
        return lend(memory, block, class);
    }
    if (memory->arena->n_bytes > memory->limit || n_bytes > memory->limit) return memory->too_costly = true, NULL;
    block = arena_take(memory->arena, n_bytes);
    if (!block) return memory->no_memory = true, NULL;
    return may_return && class < N_CLASSES ? lend(memory, block, class) : block;
}

static void block_free(void *data, void *block)
{
    Memory *memory = data;
    for (size_t i = memory->n_lent; block && i-- > 0;) {
        Lent lent = memory->lent[i];
        if (lent.block != block) continue;
        memmove(&memory->lent[i], &memory->lent[i + 1], (--memory->n_lent - i) * sizeof lent);
        memcpy(block, &memory->freed[lent.class], sizeof(void *));
        memory->freed[lent.class] = block;
        return;
    }
}

/* ---- the check ---- */

/* Overwrites what no text may hold, so that every text handed on is UTF-8. */
static bool text_repair(uint8_t *bytes, size_t n_bytes)
{
    if (utf8_valid(bytes, n_bytes)) return false;
    for (size_t i = 0; i < n_bytes; i++)
        if (bytes[i] >= 0x80) bytes[i] = '?';
    return true;
}

/* Whether protobuf-c takes a field of this wire type; it refuses the whole message otherwise. */
static bool fits(const ProtobufCFieldDescriptor *field, uint8_t wire_type)
{
    bool repeated = field->label == PROTOBUF_C_LABEL_REPEATED;
    switch (field->type) {
    case PROTOBUF_C_TYPE_STRING:
    case PROTOBUF_C_TYPE_BYTES:
    case PROTOBUF_C_TYPE_MESSAGE: return wire_type == WIRE_BYTES;
    case PROTOBUF_C_TYPE_FIXED32:
    case PROTOBUF_C_TYPE_SFIXED32:
    case PROTOBUF_C_TYPE_FLOAT: return wire_type == WIRE_FIXED32 || (repeated && wire_type == WIRE_BYTES);
    case PROTOBUF_C_TYPE_FIXED64:
    case PROTOBUF_C_TYPE_SFIXED64:
    case PROTOBUF_C_TYPE_DOUBLE: return wire_type == WIRE_FIXED64 || (repeated && wire_type == WIRE_BYTES);
    default: return wire_type == WIRE_VARINT || (repeated && wire_type == WIRE_BYTES);
    }
}

static enum MessageState check(const ProtobufCMessageDescriptor *description, uint8_t *bytes, const uint8_t *end, int depth, MessageResult *result,
                               const uint8_t *start)
{
    if (depth > MESSAGE_MAX_DEPTH) return result->at = (size_t)(bytes - start), MESSAGE_DEEP;
    const ProtobufCFieldDescriptor *field = NULL;
    for (const uint8_t *p = bytes; p < end;) {
        Field f = {0};
        const uint8_t *next = wire_field(p, end, &f);
        if (next && (!field || field->id != f.number)) field = protobuf_c_message_descriptor_get_field(description, f.number);
        if (!next || (field && !fits(field, f.type))) return result->at = (size_t)(p - start), MESSAGE_DAMAGED;
        p = next;
        if (!field || f.type != WIRE_BYTES) continue;
        uint8_t *payload = bytes + (f.bytes - bytes);
        if (field->type == PROTOBUF_C_TYPE_STRING) {
            result->repaired += text_repair(payload, (size_t)f.value);
        } else if (field->type == PROTOBUF_C_TYPE_MESSAGE) {
            enum MessageState state = check(field->descriptor, payload, payload + f.value, depth + 1, result, start);
            if (state != MESSAGE_READ) return state;
        }
    }
    return MESSAGE_READ;
}

enum MessageState message_check(const ProtobufCMessageDescriptor *description, uint8_t *bytes, size_t n_bytes, MessageResult *result)
{
    *result = (MessageResult){0};
    return check(description, bytes, bytes + n_bytes, 1, result, bytes);
}

enum MessageState message_unpack(const ProtobufCMessageDescriptor *description, uint8_t *bytes, size_t n_bytes, Arena *arena, MessageResult *result)
{
    enum MessageState state = message_check(description, bytes, n_bytes, result);
    if (state != MESSAGE_READ) return state;
    uint64_t n = n_bytes, small = COST_PER_SMALL_BYTE * n < COST_SMALL ? COST_PER_SMALL_BYTE * n : COST_SMALL;
    Memory memory = {.arena = arena, .limit = arena->n_bytes + COST_FREE + COST_PER_BYTE * n + small};
    arena->block_bytes = n_bytes < LARGE ? 0 : 4 * n_bytes < MOST_AT_ONCE ? 4 * n_bytes : MOST_AT_ONCE;
    ProtobufCAllocator allocator = {block_alloc, block_free, &memory};
    result->message = protobuf_c_message_unpack(description, &allocator, n_bytes, bytes);
    if (result->message) return MESSAGE_READ;
    if (memory.no_memory) return MESSAGE_NO_MEMORY;
    return memory.too_costly ? MESSAGE_COSTLY : MESSAGE_DAMAGED;
}
