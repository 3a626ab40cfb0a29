// SPDX-License-Identifier: Apache-2.0
/* base.c: errors, memory, arenas and text; see base.h. */
#define _GNU_SOURCE
#include "base.h"

#include <stdio.h>
#include <sys/mman.h>
#include <sys/random.h>
#ifdef __SANITIZE_ADDRESS__
#include <sanitizer/asan_interface.h>
#endif

int prof_fail(ProfErr *err, int code, uint64_t offset, const char *format, ...)
{
    if (err->code) return err->code; /* the first error is the cause of later ones */
    err->code = code, err->offset = offset;
    va_list ap;
    va_start(ap, format);
    print_utf8(err->text, sizeof err->text, format, ap);
    va_end(ap);
    return code;
}

int prof_nomem(ProfErr *err) { return prof_fail(err, PROF_NOMEM, 0, "out of memory"); }

static void *system_alloc(uint64_t n) { return malloc(n); }
static void *system_resize(void *p, uint64_t n) { return realloc(p, n); }
static ProfMemory memory = {system_alloc, system_resize, free};

void prof_use_memory(ProfMemory other) { memory = other; }

enum { PAGE = 4096, HUGE_PAGE = 2 << 20 };

static uintptr_t page_from(const void *p)
{
    return ((uintptr_t)p + PAGE - 1) & ~(uintptr_t)(PAGE - 1);
}

/* Asks for huge pages for large blocks, where the system has them: filling these takes a third of
 * the time. */
static void *advised(void *p, size_t n_bytes)
{
#ifdef MADV_HUGEPAGE
    uintptr_t first = page_from(p);
    if (p && n_bytes >= 2 * HUGE_PAGE)
        madvise((void *)first, (uintptr_t)p + n_bytes - first, MADV_HUGEPAGE);
#else
    (void)n_bytes;
#endif
    return p;
}

void prof_discard(void *p, size_t n_bytes)
{
    uintptr_t first = page_from(p), end = ((uintptr_t)p + n_bytes) & ~(uintptr_t)(PAGE - 1);
    if (end > first) madvise((void *)first, end - first, MADV_DONTNEED);
}

void *prof_buffer(size_t n_bytes) { return advised(memory.alloc(n_bytes ? n_bytes : 1), n_bytes); }

void *prof_alloc(size_t n_bytes)
{
    void *p = prof_buffer(n_bytes);
    if (p) memset(p, 0, n_bytes);
    return p;
}

void prof_free(void *p) { memory.release(p); }

/* Under the address sanitizer, small arrays have no room beyond their items, and each piece of an
 * arena ends with bytes that must not be touched, as if it had been allocated alone. */
#ifdef __SANITIZE_ADDRESS__
enum { FORBIDDEN_BYTES = 8, EXACT_ITEMS = 64 };
static void forbid(void *p, size_t n_bytes) { ASAN_POISON_MEMORY_REGION(p, n_bytes); }
static size_t capacity_of(size_t n, size_t usual) { return n <= EXACT_ITEMS ? n : usual; }
#else
enum { FORBIDDEN_BYTES = 0 };
static void forbid(void *p, size_t n_bytes) { (void)p, (void)n_bytes; }
static size_t capacity_of(size_t n, size_t usual)
{
    (void)n;
    return usual;
}
#endif

enum {
    FIRST_ITEMS_BYTES = 128
}; /* most arrays of large items, such as the chunks of a line, have one or two */

bool prof_grow(void *array_address, size_t n_used, size_t *capacity, size_t element_bytes)
{
    if (n_used < *capacity) return true;
    size_t wanted = *capacity ? *capacity + *capacity / 2 + 1
                              : size_within(FIRST_ITEMS_BYTES / element_bytes, 1, 8);
    wanted = capacity_of(n_used + 1, wanted);
    void *old;
    memcpy(&old, array_address, sizeof old);
    void *grown = memory.resize(old, wanted * element_bytes);
    if (!grown) return false;
    memcpy(array_address, &grown, sizeof grown);
    *capacity = wanted;
    return true;
}

/* ---- arena ---- */

struct ArenaBlock {
    ArenaBlock *older;
    size_t used, capacity;
    uint64_t bytes[]; /* uint64_t for its alignment */
};
enum {
    FIRST_BLOCK = 64,
    LARGEST_BLOCK = 1 << 20
}; /* small at first, because a file of many planes has several arenas for each */

void *arena_buffer(Arena *arena, size_t n_bytes)
{
    size_t n = ((n_bytes + 7) & ~(size_t)7) + FORBIDDEN_BYTES;
    ArenaBlock *block = arena->block;
    if (!block || block->capacity - block->used < n) {
        size_t capacity = block ? block->capacity * 2 : FIRST_BLOCK;
        if (capacity > LARGEST_BLOCK) capacity = LARGEST_BLOCK;
        if (capacity < arena->block_bytes) capacity = arena->block_bytes;
        /* A large block is put after the current one in the list: the free part of the current one
         * is still used. */
        bool alone = block && capacity >= LARGEST_BLOCK && n > capacity / 2;
        if (alone || capacity < n) capacity = n;
        ArenaBlock *added = prof_buffer(sizeof *block + capacity);
        if (!added) return NULL;
        arena->n_bytes += sizeof *block + capacity;
        if (alone) {
            *added = (ArenaBlock){.older = block->older, .used = n, .capacity = n};
            block->older = added;
            forbid((char *)added->bytes + n_bytes, n - n_bytes);
            return added->bytes;
        }
        *added = (ArenaBlock){.older = block, .capacity = capacity};
        arena->block = block = added;
    }
    void *p = (char *)block->bytes + block->used;
    block->used += n;
    forbid((char *)p + n_bytes, n - n_bytes);
    return p;
}

void *arena_alloc(Arena *arena, size_t n_bytes)
{
    void *p = arena_buffer(arena, n_bytes);
    return p ? memset(p, 0, n_bytes) : NULL;
}

void arena_free(Arena *arena)
{
    for (ArenaBlock *block = arena->block, *older; block; block = older) {
        older = block->older;
        memory.release(block);
    }
    *arena = (Arena){0};
}

/* ---- text ---- */

static const union {
    Text text;
    char room[sizeof(Text) + 8];
} empty;
const Text *const empty_text = &empty.text;

/* Returns the length of the well-formed sequence at s. 0 if there is none: *bad is then the length
 * of the ill-formed part (at least 1). */
static size_t utf8_step(const uint8_t *s, const uint8_t *end, size_t *bad)
{
    *bad = 1;
    uint8_t c = s[0], low = 0x80, high = 0xbf;
    size_t n;
    if (c < 0x80) return 1;
    if (c < 0xc2) return 0;
    if (c < 0xe0) {
        n = 2;
    } else if (c < 0xf0) {
        n = 3;
        if (c == 0xe0) low = 0xa0;
        if (c == 0xed) high = 0x9f;
    } else if (c < 0xf5) {
        n = 4;
        if (c == 0xf0) low = 0x90;
        if (c == 0xf4) high = 0x8f;
    } else {
        return 0;
    }
    for (size_t i = 1; i < n; i++) {
        if (s + i == end || s[i] < low || s[i] > high) {
            *bad = i;
            return (size_t)0;
        }
        low = 0x80, high = 0xbf;
    }
    return n;
}

bool utf8_valid(const uint8_t *s, size_t n_bytes)
{
    const uint8_t *end = s + n_bytes;
    while (s < end) {
        uint64_t eight;
        if (end - s >= 8 && (memcpy(&eight, s, 8), !(eight & 0x8080808080808080u))) {
            s += 8;
            continue;
        }
        size_t bad, n = utf8_step(s, end, &bad);
        if (!n) return false;
        s += n;
    }
    return true;
}

size_t utf8_repair(const uint8_t *s, size_t n_bytes, char *out)
{
    const uint8_t *end = s + n_bytes;
    char *o = out;
    while (s < end) {
        size_t bad, n = utf8_step(s, end, &bad);
        if (n)
            memcpy(o, s, n), o += n, s += n;
        else
            memcpy(o, "\xef\xbf\xbd", 3), o += 3, s += bad;
    }
    return (size_t)(o - out);
}

void print_utf8(char *out, size_t n_out, const char *format, va_list ap)
{
    vsnprintf(out, n_out, format, ap);
    uint8_t *s = (uint8_t *)out;
    for (const uint8_t *end = s + strlen(out); s < end;) {
        size_t bad, n = utf8_step(s, end, &bad);
        if (!n) memset(s, s + bad < end ? '?' : '\0', bad);
        s += n ? n : bad;
    }
}

uint64_t hash_bytes(const uint8_t *s, size_t n)
{
    uint64_t h = n * 0x9e3779b97f4a7c15u;
    while (n >= 8) {
        uint64_t word;
        memcpy(&word, s, 8);
        h = mix64(h ^ word) * 0x9e3779b97f4a7c15u;
        s += 8, n -= 8;
    }
    uint64_t rest = 0;
    if (n) memcpy(&rest, s, n);
    return mix64(h ^ rest);
}

uint64_t hash_secrets[2] = {0x9e3779b97f4a7c15u, 0xd6e8feb86659fd93u};

__attribute__((constructor)) static void draw_secrets(void)
{
    uint64_t drawn[2];
    if (getrandom(drawn, sizeof drawn, GRND_NONBLOCK) != (ssize_t)sizeof drawn)
        return; /* fails only early at boot: then the secrets keep their constant values */
    hash_secrets[0] = drawn[0], hash_secrets[1] = drawn[1] | 1;
}

uint64_t text_hash(const char *text, size_t n)
{
    uint64_t h = n, rest = 0;
    for (; n >= 8; text += 8, n -= 8) {
        uint64_t word;
        memcpy(&word, text, 8);
        h = hash_product(h ^ word);
    }
    if (n) memcpy(&rest, text, n);
    return hash64(h ^ rest);
}

const Text *text_intern(TextTable *table, Arena *arena, const void *bytes, size_t n_bytes)
{
    if (!n_bytes) return empty_text;
    char *fixed = NULL;
    if (!utf8_valid(bytes, n_bytes)) {
        fixed = prof_alloc(n_bytes * 3);
        if (!fixed) return NULL;
        n_bytes = utf8_repair(bytes, n_bytes, fixed);
        bytes = fixed;
    }
    Text *text = NULL;
    uint64_t hash = text_hash(bytes, n_bytes);
    HASH_EACH(i, &table->by_text, hash) {
        const Text *old = table->texts[i];
        if (old->n_bytes != n_bytes || memcmp(old->text, bytes, n_bytes)) continue;
        prof_free(fixed);
        return old;
    }
    if (n_bytes <= UINT32_MAX - 64 && GROW(table->texts, table->n_texts, table->capacity) &&
        (text = arena_alloc(arena, sizeof *text + n_bytes + 1)) &&
        hash_add(&table->by_text, hash, table->n_texts)) {
        text->n_bytes = (uint32_t)n_bytes;
        text->has_nul = memchr(bytes, 0, n_bytes) != NULL;
        text->repaired = fixed != NULL;
        memcpy(text->text, bytes, n_bytes);
        table->texts[table->n_texts++] = text;
    } else {
        text = NULL;
    }
    prof_free(fixed);
    return text;
}

void text_table_free(TextTable *table)
{
    prof_free(table->texts);
    hash_free(&table->by_text);
    *table = (TextTable){0};
}
