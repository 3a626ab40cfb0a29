// SPDX-License-Identifier: Apache-2.0
/* base.h: what every file of the loader stands on: sticky errors, memory that may fail, an arena, interned text.
 *
 * Errors: the first one wins and later steps do nothing. The loader never prints and never exits.
 * Memory: prof_alloc() may return NULL; whoever sees NULL records PROF_NOMEM and unwinds. An Arena owns all that is
 * taken from it and is freed whole. */
#ifndef PROF_BASE_H
#define PROF_BASE_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define COUNT(array) (sizeof(array) / sizeof *(array))

enum ProfCode {
    PROF_OK,
    PROF_NOMEM,     /* out of memory */
    PROF_IO,        /* the file cannot be opened or read */
    PROF_FORMAT,    /* the bytes are not what they should be */
    PROF_NOTFOUND,  /* no profile at this path */
    PROF_INTERRUPT, /* the caller asked to stop */
    PROF_LIMIT,     /* the process may have no more of something, as open files: no fault of this file */
};

typedef struct {
    int code;        /* enum ProfCode; PROF_OK: no error */
    uint64_t offset; /* byte of the file, 0 when there is none */
    char text[1024]; /* which file, what, where, what to do */
} ProfErr;

/* Is it the caller's or the process's, and no fault of the file that was being read? */
static inline bool is_fault_of_none(int code) { return code == PROF_NOMEM || code == PROF_LIMIT || code == PROF_INTERRUPT; }

/* Records an error unless one stands already. Returns the code that stands. */
int prof_fail(ProfErr *err, int code, uint64_t offset, const char *format, ...) __attribute__((format(printf, 4, 5)));
int prof_nomem(ProfErr *err);

/* The allocator, malloc's family unless the host binds another before the first call. Thread-safe if the host's is. */
typedef struct {
    void *(*alloc)(uint64_t n_bytes);
    void *(*resize)(void *old, uint64_t n_bytes);
    void (*release)(void *p);
} ProfMemory;
void prof_use_memory(ProfMemory memory);

void *prof_alloc(size_t n_bytes);  /* zeroed; NULL when there is no memory */
void *prof_buffer(size_t n_bytes); /* the same, not zeroed: for what is written before it is read */
void prof_free(void *p);
/* Grows *array (of n_used elements) so that one more fits; false and unchanged when there is no memory. */
bool prof_grow(void *array_address, size_t n_used, size_t *capacity, size_t element_bytes);
#define GROW(array, n, capacity) prof_grow(&(array), (n), &(capacity), sizeof *(array))

typedef struct ArenaBlock ArenaBlock;
typedef struct {
    ArenaBlock *block;
    uint64_t n_bytes;   /* taken from the allocator */
    size_t block_bytes; /* of blocks to come, at least; 0: they grow from small to 1 MiB */
} Arena;
void *arena_alloc(Arena *arena, size_t n_bytes); /* zeroed, aligned to 8; NULL when there is no memory */
void *arena_take(Arena *arena, size_t n_bytes);  /* the same, with anything in it */
void arena_free(Arena *arena);

/* A piece of text: UTF-8, repaired where the file's was not, with a NUL behind it. */
typedef struct {
    uint32_t n_bytes;
    bool has_nul;  /* text holds NUL bytes of its own: hand it over with its length */
    bool repaired; /* the file's bytes were not UTF-8 */
    char text[];
} Text;
extern const Text *const empty_text;

/* A number that spreads, the same on every machine: for identities, not for tables. */
static inline uint64_t mix64(uint64_t x)
{
    x ^= x >> 32, x *= 0xd6e8feb86659fd93u, x ^= x >> 32;
    return x;
}

/* A hash of bytes, the same on every machine that we build for. Not for tables: a file can be made to collide in it. */
uint64_t hash_bytes(const uint8_t *bytes, size_t n_bytes);

/* Hashes for tables: other ones in each process, so that no file can choose keys that share a slot. */
extern uint64_t hash_secrets[2]; /* drawn before main, the second odd */
static inline uint64_t hash64(uint64_t x)
{
    __extension__ unsigned __int128 product = (unsigned __int128)(x ^ hash_secrets[0]) * hash_secrets[1];
    return (uint64_t)product ^ (uint64_t)(product >> 64);
}
uint64_t text_hash(const char *text, size_t n_bytes);

/* Texts by content: equal texts of one table are one pointer. */
typedef struct {
    const Text **slots;
    size_t n_slots, n_texts;
} TextTable;
const Text *text_intern(TextTable *table, Arena *arena, const uint8_t *bytes, size_t n_bytes); /* NULL: no memory */
void text_table_free(TextTable *table);

/* Repairs as WHATWG decoders and Python's errors='replace' do: U+FFFD for each maximal ill-formed part.
 * out holds up to 3 * n_bytes; returns the bytes written. */
size_t utf8_repair(const uint8_t *bytes, size_t n_bytes, char *out);
bool utf8_valid(const uint8_t *bytes, size_t n_bytes);
/* vsnprintf whose text is valid UTF-8 whatever is printed and wherever it is cut. */
void print_utf8(char *out, size_t n_out, const char *format, va_list ap);

/* Sums that stop at the ends of int64 instead of wrapping. */
static inline int64_t add_saturated(int64_t a, int64_t b)
{
    int64_t sum;
    if (!__builtin_add_overflow(a, b, &sum)) return sum;
    return a < 0 ? INT64_MIN : INT64_MAX;
}

#endif
