// SPDX-License-Identifier: Apache-2.0
/* message.c: reads messages into the structs that protoc-c declares; see message.h. */
#include "message.h"

#include "../base/interrupt.h"
#include "wire.h"

typedef ProtobufCMessageDescriptor Type;
typedef ProtobufCFieldDescriptor FieldType;

/* ---- fields and where they are kept ---- */

/* A field with the number PART in the schema is a part: a struct with further fields of the
 * message. A part may have a part itself. */
enum { PART = 1000, MAX_PARTS = 2, MAX_PART_TYPES = 3, UNREAD = 2000 };

typedef struct {
    const FieldType *field; /* NULL: the schema has no field of this number */
    unsigned kept;          /* 0: in the message; n: in its n-th part; UNREAD: nowhere */
} Place;

/* Returns a type's field for its part, or for what is not kept (UNREAD); NULL if it has none. */
static const FieldType *special_field(const Type *type, uint32_t id)
{
    const FieldType *field = type->n_fields ? &type->fields[type->n_fields - 1] : NULL;
    return field && field->id == id ? field : NULL;
}

static Place place_of(const Type *type, uint32_t number)
{
    if (number >= PART) return (Place){0};
    Place place = {.field = protobuf_c_message_descriptor_get_field(type, number)};
    while (!place.field && special_field(type, PART)) {
        type = special_field(type, PART)->descriptor;
        place.field = protobuf_c_message_descriptor_get_field(type, number), place.kept++;
    }
    const FieldType *unread = special_field(type, UNREAD);
    if (!place.field && unread)
        place.field = protobuf_c_message_descriptor_get_field(unread->descriptor, number),
        place.kept = UNREAD;
    return place;
}

/* Like place_of(), but fast if fields of one number follow each other. */
static inline Place next_place(const Type *type, uint32_t number, Place last)
{
    return last.field && last.field->id == number ? last : place_of(type, number);
}

/* ---- the check ---- */

/* Replaces bytes that are not UTF-8, so that every text in the result is. */
static bool text_repair(uint8_t *bytes, size_t n_bytes)
{
    if (utf8_valid(bytes, n_bytes)) return false;
    for (size_t i = 0; i < n_bytes; i++)
        if (bytes[i] >= 0x80) bytes[i] = '?';
    return true;
}

/* Returns whether a field may have this wire type. If not, the message is rejected. */
static bool fits(const FieldType *field, uint8_t wire_type)
{
    bool repeated = field->label == PROTOBUF_C_LABEL_REPEATED;
    switch (field->type) {
    case PROTOBUF_C_TYPE_STRING:
    case PROTOBUF_C_TYPE_BYTES:
    case PROTOBUF_C_TYPE_MESSAGE: return wire_type == WIRE_BYTES;
    case PROTOBUF_C_TYPE_FIXED32:
    case PROTOBUF_C_TYPE_SFIXED32:
    case PROTOBUF_C_TYPE_FLOAT:
        return wire_type == WIRE_FIXED32 || (repeated && wire_type == WIRE_BYTES);
    case PROTOBUF_C_TYPE_FIXED64:
    case PROTOBUF_C_TYPE_SFIXED64:
    case PROTOBUF_C_TYPE_DOUBLE:
        return wire_type == WIRE_FIXED64 || (repeated && wire_type == WIRE_BYTES);
    default: return wire_type == WIRE_VARINT || (repeated && wire_type == WIRE_BYTES);
    }
}

static enum MessageState check(const Type *type, uint8_t *bytes, const uint8_t *end, int depth,
                               MessageResult *result, const uint8_t *start)
{
    if (depth > MESSAGE_MAX_DEPTH) {
        result->at = (size_t)(bytes - start);
        return MESSAGE_DEEP;
    }
    if (interrupt_due(1)) return MESSAGE_NO_MEMORY;
    Place place = {0};
    for (const uint8_t *p = bytes; p < end;) {
        Field f = {0};
        const uint8_t *next = wire_field(p, end, &f);
        if (next) place = next_place(type, f.number, place);
        const FieldType *field = place.field;
        if (!next || (field && !fits(field, f.type))) {
            result->at = (size_t)(p - start);
            return MESSAGE_DAMAGED;
        }
        p = next;
        if (!field || f.type != WIRE_BYTES) continue;
        uint8_t *payload = bytes + (f.bytes - bytes);
        if (field->type == PROTOBUF_C_TYPE_STRING) {
            result->repaired += text_repair(payload, (size_t)f.value);
        } else if (field->type == PROTOBUF_C_TYPE_MESSAGE) {
            enum MessageState state =
                check(field->descriptor, payload, payload + f.value, depth + 1, result, start);
            if (state != MESSAGE_READ) return state;
        }
    }
    return MESSAGE_READ;
}

enum MessageState message_check(const Type *type, uint8_t *bytes, size_t n_bytes,
                                MessageResult *result)
{
    *result = (MessageResult){0};
    return check(type, bytes, bytes + n_bytes, 1, result, bytes);
}

/* ---- memory ---- */

/* Messages and texts with equal bytes are shared if they are close together. That applies to most
 * of a program's shapes, source locations and attributes. */
enum { N_SEEN = 1 << 12, MOST_SEEN_BYTES = 512 };
typedef struct {
    const void *type; /* NULL for a text */
    const uint8_t *bytes;
    size_t n_bytes;
    void *made; /* NULL: the slot is free */
} Seen;

/* A message of this size or more gives the memory of its bytes back while it is read. */
enum { LARGE = 2 << 20 };

typedef struct {
    Arena *arena;
    uint64_t limit;
    enum MessageState failure;
    struct {
        const Type *type; /* NULL: free */
        void *part;
    } blanks[MAX_PART_TYPES + 1]; /* empty parts */
    Seen *seen;                   /* by hash; newer entries replace older ones */
    uint8_t *copies;    /* copies of the bytes of seen messages, if `bytes` does not stay */
    uint8_t *discarded; /* the bytes before this are given back */
    size_t n_left;      /* bytes after it */
    size_t n_joining; /* large messages around the current one that are read again: their bytes have
                         to stay */
    char *text;       /* memory for texts */
    size_t text_left, text_block;
} Reader;

static void *reader_alloc(Reader *r, size_t n_bytes)
{
    uint64_t taken = r->arena->n_bytes + r->n_left;
    if (taken > r->limit || n_bytes > r->limit - taken) {
        r->failure = MESSAGE_COSTLY;
        return NULL;
    }
    void *p = arena_buffer(r->arena, n_bytes);
    if (!p) r->failure = MESSAGE_NO_MEMORY;
    return p;
}

/* Returns the slot for what was made from these bytes, if they are few. *made: it is there. */
static Seen *seen_slot(const Reader *r, const void *type, const uint8_t *bytes, size_t n_bytes,
                       bool *made)
{
    *made = false;
    if (n_bytes > MOST_SEEN_BYTES) return NULL;
    Seen *slot = &r->seen[(text_hash((const char *)bytes, n_bytes) ^ hash64((uintptr_t)type)) &
                          (N_SEEN - 1)];
    *made = slot->made && slot->type == type && slot->n_bytes == n_bytes &&
            !memcmp(slot->bytes, bytes, n_bytes);
    return slot;
}

/* Returns memory for a text, which needs no alignment. */
static char *read_text(Reader *r, size_t n_bytes)
{
    if (n_bytes > r->text_left && n_bytes > r->text_block / 4) return reader_alloc(r, n_bytes);
    if (n_bytes > r->text_left) {
        r->text = reader_alloc(r, r->text_block), r->text_left = r->text ? r->text_block : 0;
        if (!r->text) return NULL;
    }
    r->text += n_bytes, r->text_left -= n_bytes;
    return r->text - n_bytes;
}

/* Copies a text and adds a NUL byte. */
static void *text_copy(Reader *r, const uint8_t *bytes, size_t n_bytes)
{
    bool made;
    Seen *slot = seen_slot(r, NULL, bytes, n_bytes, &made);
    if (made) return slot->made;
    char *copy = read_text(r, n_bytes + 1);
    if (!copy) return NULL;
    memcpy(copy, bytes, n_bytes);
    copy[n_bytes] = 0;
    if (slot) *slot = (Seen){NULL, (uint8_t *)copy, n_bytes, copy};
    return copy;
}

/* ---- reading ---- */

/* A message and its parts while they are read. */
typedef struct {
    const Type *type[1 + MAX_PARTS];
    char *at[1 + MAX_PARTS];
    bool lists[1 + MAX_PARTS];    /* whether it has repeated fields */
    uint64_t came[1 + MAX_PARTS]; /* fields that occurred, by position */
    /* fields that occurred several times and were joined, by position */
    uint64_t joined[1 + MAX_PARTS];
    bool joins; /* it has messages that occur several times */
} Target;

static size_t element_bytes(const FieldType *field)
{
    switch (field->type) {
    case PROTOBUF_C_TYPE_INT32:
    case PROTOBUF_C_TYPE_SINT32:
    case PROTOBUF_C_TYPE_SFIXED32:
    case PROTOBUF_C_TYPE_UINT32:
    case PROTOBUF_C_TYPE_FIXED32:
    case PROTOBUF_C_TYPE_FLOAT: return 4;
    case PROTOBUF_C_TYPE_ENUM:
    case PROTOBUF_C_TYPE_BOOL: return sizeof(int);
    case PROTOBUF_C_TYPE_STRING:
    case PROTOBUF_C_TYPE_MESSAGE: return sizeof(void *);
    case PROTOBUF_C_TYPE_BYTES: return sizeof(ProtobufCBinaryData);
    default: return 8;
    }
}

static bool is_packed(const FieldType *field, const Field *f)
{
    return f->type == WIRE_BYTES && field->type != PROTOBUF_C_TYPE_STRING &&
           field->type != PROTOBUF_C_TYPE_BYTES && field->type != PROTOBUF_C_TYPE_MESSAGE;
}

/* Returns the size of each number of a packed field; 0 for varints. */
static size_t packed_bytes(const FieldType *field)
{
    switch (field->type) {
    case PROTOBUF_C_TYPE_FIXED32:
    case PROTOBUF_C_TYPE_SFIXED32:
    case PROTOBUF_C_TYPE_FLOAT: return 4;
    case PROTOBUF_C_TYPE_FIXED64:
    case PROTOBUF_C_TYPE_SFIXED64:
    case PROTOBUF_C_TYPE_DOUBLE: return 8;
    default: return 0;
    }
}

static size_t count_packed(const FieldType *field, const Field *f)
{
    size_t each = packed_bytes(field), n = 0;
    if (each) return (size_t)f->value / each;
    for (size_t i = 0; i < f->value; i++) n += f->bytes[i] < 0x80;
    return n;
}

static void store_number(const FieldType *field, char *at, uint64_t value)
{
    uint32_t low = (uint32_t)value;
    int truth = value != 0;
    switch (field->type) {
    case PROTOBUF_C_TYPE_BOOL: memcpy(at, &truth, sizeof truth); break;
    case PROTOBUF_C_TYPE_SINT32: low = low >> 1 ^ -(low & 1); /* fall through */
    case PROTOBUF_C_TYPE_INT32:
    case PROTOBUF_C_TYPE_UINT32:
    case PROTOBUF_C_TYPE_ENUM:
    case PROTOBUF_C_TYPE_FIXED32:
    case PROTOBUF_C_TYPE_SFIXED32:
    case PROTOBUF_C_TYPE_FLOAT: memcpy(at, &low, sizeof low); break;
    case PROTOBUF_C_TYPE_SINT64: value = value >> 1 ^ -(value & 1); /* fall through */
    default: memcpy(at, &value, sizeof value); break;
    }
}

/* Appends the numbers of a packed field to its array, which has room for them. */
static bool store_packed(const FieldType *field, char *array, size_t *n, const Field *f)
{
    size_t each = packed_bytes(field), size = element_bytes(field);
    if (each) {
        if (f->value % each) return false;
        if (f->value) memcpy(array + *n * each, f->bytes, (size_t)f->value);
        *n += (size_t)f->value / each;
        return true;
    }
    const uint8_t *p = f->bytes, *end = p + f->value;
    for (uint64_t value; p && p < end;)
        if ((p = wire_varint(p, end, &value))) store_number(field, array + (*n)++ * size, value);
    return p;
}

static bool unpack(Reader *r, const Type *type, char *message, const uint8_t *bytes,
                   const uint8_t *end);

/* Returns the message of these bytes. One that may be shared is returned again for equal bytes. */
static void *message_of(Reader *r, const Type *type, const uint8_t *bytes, size_t n_bytes,
                        bool may_share)
{
    bool made = false;
    Seen *slot = may_share ? seen_slot(r, type, bytes, n_bytes, &made) : NULL;
    if (made) return slot->made;
    char *message = reader_alloc(r, type->sizeof_message);
    if (!message || !unpack(r, type, message, bytes, bytes + n_bytes)) return NULL;
    if (slot && r->copies)
        bytes = memcpy(r->copies + (slot - r->seen) * MOST_SEEN_BYTES, bytes, n_bytes);
    if (slot) *slot = (Seen){type, bytes, n_bytes, message};
    return message;
}

/* Reads a message that occurs in several pieces: it is the message of all their bytes. */
static void *joined_message(Reader *r, const Type *around, const FieldType *field,
                            const uint8_t *bytes, const uint8_t *end)
{
    uint8_t *joined = NULL;
    size_t n_bytes = 0;
    for (int storing = 0; storing < 2; storing++) {
        if (storing && !(joined = reader_alloc(r, n_bytes))) return NULL;
        n_bytes = 0;
        Field f;
        Place place = {0};
        for (const uint8_t *p = bytes; p < end;) {
            p = wire_field(p, end, &f);
            place = next_place(around, f.number, place);
            if (place.field != field) continue;
            if (storing) memcpy(joined + n_bytes, f.bytes, (size_t)f.value);
            n_bytes += (size_t)f.value;
        }
    }
    return message_of(r, field->descriptor, joined, n_bytes, false);
}

static bool store(Reader *r, Target *t, unsigned kept, const FieldType *field, const Field *f,
                  const uint8_t *bytes, const uint8_t *end)
{
    char *base = t->at[kept], *at = base + field->offset;
    bool repeated = field->label == PROTOBUF_C_LABEL_REPEATED;
    if (repeated) {
        size_t *n = (size_t *)(base + field->quantifier_offset);
        char *array;
        memcpy(&array, at, sizeof array);
        if (is_packed(field, f)) return store_packed(field, array, n, f);
        at = array + (*n)++ * element_bytes(field);
    } else if (field->flags & PROTOBUF_C_FIELD_FLAG_ONEOF) {
        memcpy(base + field->quantifier_offset, &field->id, sizeof field->id);
    }
    void *made;
    switch (field->type) {
    case PROTOBUF_C_TYPE_STRING:
        made = text_copy(r, f->bytes, (size_t)f->value);
        memcpy(at, &made, sizeof made);
        return made;
    case PROTOBUF_C_TYPE_BYTES: {
        ProtobufCBinaryData data = {(size_t)f->value, text_copy(r, f->bytes, (size_t)f->value)};
        memcpy(at, &data, sizeof data);
        return data.data;
    }
    case PROTOBUF_C_TYPE_MESSAGE: {
        unsigned position = (unsigned)(field - t->type[kept]->fields);
        memcpy(&made, at, sizeof made);
        if (repeated || !made) {
            made = message_of(r, field->descriptor, f->bytes, (size_t)f->value, !repeated);
        } else if (position >= 64 || !(t->joined[kept] >> position & 1)) {
            made = joined_message(r, t->type[0], field, bytes, end);
            if (position < 64) t->joined[kept] |= UINT64_C(1) << position;
        }
        memcpy(at, &made, sizeof made);
        return made;
    }
    default: store_number(field, at, f->value); return true;
    }
}

/* Allocates the arrays of repeated fields, whose elements the first walk counted. */
static bool make_lists(Reader *r, const Type *type, char *base)
{
    for (unsigned i = 0; i < type->n_fields; i++) {
        const FieldType *field = &type->fields[i];
        size_t *n = (size_t *)(base + field->quantifier_offset), size = element_bytes(field);
        if (field->label != PROTOBUF_C_LABEL_REPEATED || !*n) continue;
        void *array = *n <= SIZE_MAX / size ? reader_alloc(r, *n * size) : NULL;
        if (!array) return false;
        memset(array, 0, *n * size);
        memcpy(base + field->offset, &array, sizeof array);
        *n = 0;
    }
    return true;
}

static void note_message(Target *t, unsigned kept, const FieldType *field)
{
    unsigned position = (unsigned)(field - t->type[kept]->fields);
    uint64_t bit = position < 64 ? UINT64_C(1) << position : ~UINT64_C(0);
    t->joins |= (t->came[kept] & bit) != 0;
    t->came[kept] |= bit;
}

/* Counts the elements of repeated fields and allocates their arrays. */
static bool count_fields(Reader *r, Target *t, const uint8_t *bytes, const uint8_t *end)
{
    Field f;
    Place place = {0};
    for (const uint8_t *p = bytes; p < end;) {
        p = wire_field(p, end, &f);
        place = next_place(t->type[0], f.number, place);
        const FieldType *field = place.field;
        if (!field || place.kept == UNREAD) continue;
        if (field->label != PROTOBUF_C_LABEL_REPEATED) {
            if (field->type == PROTOBUF_C_TYPE_MESSAGE) note_message(t, place.kept, field);
            continue;
        }
        t->lists[place.kept] = true;
        *(size_t *)(t->at[place.kept] + field->quantifier_offset) +=
            is_packed(field, &f) ? count_packed(field, &f) : 1;
    }
    for (unsigned i = 0; i <= MAX_PARTS; i++)
        if (t->lists[i] && !make_lists(r, t->type[i], t->at[i])) return false;
    return true;
}

/* Gives back the memory of the bytes that were read of a large message. */
static void discard(Reader *r, const uint8_t *to)
{
    size_t n = (size_t)(to - r->discarded) & ~(size_t)(LARGE - 1);
    if (!n || r->n_joining) return;
    prof_discard(r->discarded, n);
    r->discarded += n, r->n_left -= n;
}

static bool fill(Reader *r, Target *t, const uint8_t *bytes, const uint8_t *end)
{
    Field f;
    Place place = {0};
    bool large = end - bytes >= LARGE;
    if (!count_fields(r, t, bytes, end)) return false;
    r->n_joining += large && t->joins;
    for (const uint8_t *p = bytes; p < end;) {
        p = wire_field(p, end, &f);
        place = next_place(t->type[0], f.number, place);
        if (!place.field || place.kept == UNREAD) continue;
        if (store(r, t, place.kept, place.field, &f, bytes, end)) {
            if (large) discard(r, p);
            continue;
        }
        if (r->failure == MESSAGE_READ) r->failure = MESSAGE_DAMAGED;
        return false;
    }
    r->n_joining -= large && t->joins;
    return true;
}

/* Returns the empty part of a type, whose own part is empty too. */
static void *blank_part(Reader *r, const Type *type)
{
    unsigned i = 0;
    while (r->blanks[i].type && r->blanks[i].type != type) i++;
    if (r->blanks[i].type) return r->blanks[i].part;
    const FieldType *inner = special_field(type, PART);
    void *inside = inner ? blank_part(r, inner->descriptor) : NULL;
    char *blank = inner && !inside ? NULL : reader_alloc(r, type->sizeof_message);
    if (!blank) return NULL;
    type->message_init(memset(blank, 0, type->sizeof_message));
    if (inner) memcpy(blank + inner->offset, &inside, sizeof inside);
    for (i = 0; r->blanks[i].type;) i++;
    r->blanks[i].type = type, r->blanks[i].part = blank;
    return blank;
}

/* Keeps a part that was read. Equal parts that are close together are shared. */
static void *keep_part(Reader *r, const Type *type, const char *made)
{
    size_t n = type->sizeof_message;
    void *blank = blank_part(r, type);
    if (!blank || !memcmp(blank, made, n)) return blank;
    Seen *slot = &r->seen[text_hash(made, n) & (N_SEEN - 1)];
    if (slot->made && slot->type == type && !memcmp(slot->made, made, n)) return slot->made;
    void *kept = reader_alloc(r, n);
    if (kept) *slot = (Seen){type, memcpy(kept, made, n), n, kept};
    return kept;
}

static bool unpack_with_parts(Reader *r, const Type *type, char *message, const uint8_t *bytes,
                              const uint8_t *end)
{
    _Alignas(8) char parts[MESSAGE_PARTS_BYTES];
    size_t used = 0;
    const FieldType *field[MAX_PARTS];
    Target t = {.type = {type}, .at = {message}};
    unsigned n = 0;
    for (; n < MAX_PARTS && (field[n] = special_field(t.type[n], PART)); n++) {
        const Type *part = field[n]->descriptor;
        t.type[1 + n] = part, t.at[1 + n] = memset(parts + used, 0, part->sizeof_message);
        part->message_init((ProtobufCMessage *)t.at[1 + n]);
        used += (part->sizeof_message + 7) & ~(size_t)7;
    }
    if (!fill(r, &t, bytes, end)) return false;
    for (unsigned i = n; i-- > 0;) { /* the innermost first */
        void *kept = keep_part(r, t.type[1 + i], t.at[1 + i]);
        if (!kept) return false;
        memcpy(t.at[i] + field[i]->offset, &kept, sizeof kept);
    }
    return true;
}

static bool unpack(Reader *r, const Type *type, char *message, const uint8_t *bytes,
                   const uint8_t *end)
{
    if (interrupt_due(4)) {
        r->failure = MESSAGE_NO_MEMORY;
        return false;
    }
    type->message_init((ProtobufCMessage *)message);
    if (special_field(type, PART)) return unpack_with_parts(r, type, message, bytes, end);
    return fill(r, &(Target){.type = {type}, .at = {message}}, bytes, end);
}

enum MessageState message_unpack(const Type *type, uint8_t *bytes, size_t n_bytes, uint64_t limit,
                                 Arena *arena, MessageResult *result)
{
    enum MessageState state = message_check(type, bytes, n_bytes, result);
    if (state != MESSAGE_READ) return state;
    enum { LEAST_TEXTS = 256, MOST_TEXTS = 64 << 10 };
    Reader r = {.arena = arena,
                .limit = arena->n_bytes + limit,
                .seen = prof_alloc(N_SEEN * sizeof(Seen)),
                .copies = n_bytes < LARGE ? NULL : prof_buffer(N_SEEN * MOST_SEEN_BYTES),
                .discarded = bytes,
                .n_left = n_bytes,
                .text_block = size_within(n_bytes / 16, LEAST_TEXTS, MOST_TEXTS)};
    if (!r.seen || (n_bytes >= LARGE && !r.copies))
        r.failure = MESSAGE_NO_MEMORY;
    else
        result->message = message_of(&r, type, bytes, n_bytes, false);
    prof_free(r.seen);
    prof_free(r.copies);
    return r.failure;
}
