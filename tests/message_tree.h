// SPDX-License-Identifier: Apache-2.0
/* message_tree.h: an XSpace as a tree of fields, to be changed and written again; for tests alone.
 *
 * Nodes come from memory that is given back all at once, or never: a process that makes one mutant
 * ends with it. Content that is no message stays bytes, borrowed from what was parsed. */
#ifndef MESSAGE_TREE_H
#define MESSAGE_TREE_H

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

typedef enum {
    K_SPACE,
    K_PLANE,
    K_LINE,
    K_EVENT,
    K_STAT,
    K_EVENT_ENTRY,
    K_EVENT_METADATA,
    K_STAT_ENTRY,
    K_STAT_METADATA,
    K_GUESSED,
    K_LEAF,
    K_COUNT
} Kind;

typedef struct Node Node;
struct Node {
    Node *child, *next;
    const uint8_t *bytes; /* of a leaf of wire type 2 */
    uint64_t value;       /* of another leaf */
    size_t n;
    uint32_t field;
    uint8_t wire;
    uint8_t kind;   /* what its content is */
    uint8_t parent; /* what it is part of */
};

/* What XSpace's messages hold; inside of a stat's bytes (programs) whatever parses is a message. */
static Kind kind_of(Kind parent, uint32_t field)
{
    switch (parent) {
    case K_SPACE: return field == 1 ? K_PLANE : K_LEAF;
    case K_PLANE:
        return field == 3   ? K_LINE
               : field == 4 ? K_EVENT_ENTRY
               : field == 5 ? K_STAT_ENTRY
               : field == 6 ? K_STAT
                            : K_LEAF;
    case K_LINE: return field == 4 ? K_EVENT : K_LEAF;
    case K_EVENT: return field == 4 ? K_STAT : K_LEAF;
    case K_EVENT_ENTRY: return field == 2 ? K_EVENT_METADATA : K_LEAF;
    case K_EVENT_METADATA: return field == 5 ? K_STAT : K_LEAF;
    case K_STAT_ENTRY: return field == 2 ? K_STAT_METADATA : K_LEAF;
    case K_STAT: return field == 6 ? K_GUESSED : K_LEAF;
    case K_GUESSED: return K_GUESSED;
    default: return K_LEAF;
    }
}

typedef struct Block Block;
struct Block {
    Block *older;
    size_t n;
};
static Block *blocks;
static char *arena, *arena_end;

static void *take(size_t n)
{
    n = (n + 15) & ~(size_t)15;
    if ((size_t)(arena_end - arena) < n) {
        size_t size = sizeof(Block) + (n > 1 << 22 ? n : 1 << 22);
        Block *block = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (block == MAP_FAILED) abort();
        *block = (Block){blocks, size};
        blocks = block, arena = (char *)(block + 1), arena_end = (char *)block + size;
    }
    char *p = arena;
    arena += n;
    return memset(p, 0, n);
}

/* Gives all of it back, for a process that makes more than one mutant. */
static inline void take_back(void)
{
    for (Block *older; blocks; blocks = older) {
        older = blocks->older;
        munmap(blocks, blocks->n);
    }
    arena = arena_end = NULL;
}

static bool varint(const uint8_t **p, const uint8_t *end, uint64_t *x)
{
    *x = 0;
    for (int shift = 0; *p < end && shift < 70; shift += 7) {
        uint8_t b = *(*p)++;
        if (shift < 64) *x |= (uint64_t)(b & 127) << shift;
        if (b < 128) return true;
    }
    return false;
}

/* The fields of a message, or false if it is none. */
static bool parse(const uint8_t *p, size_t n, Kind parent, int depth, Node **first)
{
    const uint8_t *end = p + n;
    Node **tail = first;
    *first = NULL;
    while (p < end) {
        uint64_t tag, x = 0;
        if (!varint(&p, end, &tag) || tag >> 3 == 0 || tag >> 3 > 4095) return false;
        Node *node = take(sizeof *node);
        node->field = (uint32_t)(tag >> 3), node->wire = tag & 7, node->kind = K_LEAF,
        node->parent = (uint8_t)parent;
        if (node->wire == 0) {
            if (!varint(&p, end, &node->value)) return false;
        } else if (node->wire == 1 || node->wire == 5) {
            size_t size = node->wire == 1 ? 8 : 4;
            if ((size_t)(end - p) < size) return false;
            memcpy(&node->value, p, size);
            p += size;
        } else if (node->wire == 2) {
            if (!varint(&p, end, &x) || x > (size_t)(end - p)) return false;
            node->bytes = p, node->n = x, p += x;
            Kind kind = kind_of(parent, node->field);
            if (kind != K_LEAF && depth < 60 && (x || kind != K_GUESSED) &&
                parse(node->bytes, x, kind, depth + 1, &node->child))
                node->kind = (uint8_t)kind;
        } else
            return false;
        *tail = node, tail = &node->next;
    }
    return true;
}

static size_t varint_size(uint64_t x)
{
    size_t n = 1;
    while (x >>= 7) n++;
    return n;
}

static size_t message_size(const Node *node);
static size_t content_size(const Node *node)
{
    return node->kind == K_LEAF ? node->n : message_size(node->child);
}
static size_t message_size(const Node *node)
{
    size_t n = 0;
    for (; node; node = node->next) {
        n += varint_size((uint64_t)node->field << 3);
        if (node->wire == 2) {
            size_t inside = content_size(node);
            n += varint_size(inside) + inside;
        } else
            n += node->wire == 0 ? varint_size(node->value) : node->wire == 1 ? 8 : 4;
    }
    return n;
}

static uint8_t *put_varint(uint8_t *p, uint64_t x)
{
    for (; x > 127; x >>= 7) *p++ = (uint8_t)(x | 128);
    *p++ = (uint8_t)x;
    return p;
}

static uint8_t *put_message(uint8_t *p, const Node *node)
{
    for (; node; node = node->next) {
        p = put_varint(p, (uint64_t)node->field << 3 | node->wire);
        if (node->wire == 0)
            p = put_varint(p, node->value);
        else if (node->wire != 2) {
            size_t size = node->wire == 1 ? 8 : 4;
            memcpy(p, &node->value, size);
            p += size;
        } else {
            p = put_varint(p, content_size(node));
            if (node->kind == K_LEAF) {
                if (node->n) memcpy(p, node->bytes, node->n);
                p += node->n;
            } else
                p = put_message(p, node->child);
        }
    }
    return p;
}

static Node *copy(const Node *node, bool all)
{
    Node *made = NULL, **tail = &made;
    for (; node; node = all ? node->next : NULL) {
        Node *n = take(sizeof *n);
        *n = *node, n->next = NULL, n->child = copy(node->child, true);
        *tail = n, tail = &n->next;
    }
    return made;
}

#endif
