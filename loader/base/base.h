// SPDX-License-Identifier: Apache-2.0
/* base.h: errors, memory, arenas, text and hashes, for every file of the loader. It also states the
 * contract of the loader's functions, so that the other headers only say what differs from it.
 *
 * Errors. A function that can fail takes a `ProfErr *err` and sets it on failure. It then returns
 * NULL (pointer), false (bool) or the code in err (int; PROF_OK is success). The first error wins:
 * prof_fail() keeps an error that is already set. So callers may make several calls and check
 * err->code once, before they use the results. A function without `err` whose result alone says
 * that it failed is NODISCARD. The loader never prints and never exits.
 *
 * Memory. All memory comes from prof_alloc() and its kin, which may return NULL; the caller then
 * records PROF_NOMEM and unwinds. An Arena owns what is allocated from it and is freed as one
 * piece.
 *
 * Ownership. Pointers that are returned are borrowed unless the comment says "freed with X". What
 * is reached from a Run (hosts, lines, texts, results of run_*(), host_*(), line_*() and hlo_*())
 * lives as long as the run; run.h names the exception, runs that hold the events of one host at a
 * time. Texts (`Text`) live as long as the arena that they were interned in.
 *
 * Threads. A loaded Run is read-only. Results that are computed on first use are kept with it under
 * a lock, so several threads may use one Run, Host, Line or HloModule at the same time. What a
 * caller opens or fills (window, reader, cursor, arena, buffer, list) belongs to one thread at a
 * time.
 *
 * Units. Names end in their unit: `_ps` picoseconds, `_ns` nanoseconds, `_us` microseconds,
 * `_bytes` bytes. Start times in ps count from the session's start unless the comment says
 * otherwise. `n_things` is the number of things. An ordinal counts through the entire run, in file
 * order. */
#ifndef PROF_BASE_H
#define PROF_BASE_H

#include "hash_table.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define COUNT(array) (sizeof(array) / sizeof *(array))

enum ProfCode {
    PROF_OK,
    PROF_NOMEM,     /* memory could not be allocated */
    PROF_IO,        /* the file cannot be opened or read */
    PROF_FORMAT,    /* the bytes are not a valid profile or program */
    PROF_NOTFOUND,  /* no profile at this path */
    PROF_INTERRUPT, /* the caller asked to stop */
    PROF_LIMIT,     /* a limit of the process, such as open files; the file is not at fault */
};

/* An error, or none. Starts as {0}. */
typedef struct {
    int code;        /* enum ProfCode; PROF_OK: no error */
    uint64_t offset; /* byte of the file where it was found; 0 if unknown */
    char text[1024]; /* message: which file, what is wrong, where, what to do next */
} ProfErr;

/* Returns whether the cause is the caller or the process, rather than the file that is being
 * read. */
static inline bool is_fault_of_none(int code)
{
    return code == PROF_NOMEM || code == PROF_LIMIT || code == PROF_INTERRUPT;
}

/* Records an error, with a printf message, unless one is already set. Returns the code in err. */
int prof_fail(ProfErr *err, int code, uint64_t offset, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
/* Records PROF_NOMEM. Returns the code in err. */
int prof_nomem(ProfErr *err);

/* The allocator: malloc, realloc and free unless prof_use_memory() sets another, before any other
 * call of the loader. Safe to call from several threads if those functions are. */
typedef struct {
    void *(*alloc)(uint64_t n_bytes);
    void *(*resize)(void *old, uint64_t n_bytes);
    void (*release)(void *p);
} ProfMemory;
void prof_use_memory(ProfMemory memory);

NODISCARD void *prof_alloc(size_t n_bytes);  /* zeroed; NULL if memory runs out */
NODISCARD void *prof_buffer(size_t n_bytes); /* as prof_alloc(), but not zeroed */
/* Gives the pages in a part of such memory back to the system. Their content is lost; the memory
 * still has to be freed. */
void prof_discard(void *p, size_t n_bytes);
/* Frees memory of prof_alloc(), prof_buffer() or prof_grow(). p may be NULL. */
void prof_free(void *p);
/* Makes room for one more element in an array: array_address is the address of the pointer to it,
 * n_used and *capacity count elements. Returns false if memory runs out; the array is then
 * unchanged. Free the array with prof_free(). */
NODISCARD bool prof_grow(void *array_address, size_t n_used, size_t *capacity,
                         size_t element_bytes);
#define GROW(array, n, capacity) prof_grow(&(array), (n), &(capacity), sizeof *(array))

/* Memory for many small objects that are freed together. Starts as {0}. Not for several threads at
 * once. */
typedef struct ArenaBlock ArenaBlock;
typedef struct {
    ArenaBlock *block;
    uint64_t n_bytes;   /* total that the arena has allocated */
    size_t block_bytes; /* least size of the next blocks; 0: blocks grow from 512 bytes to 1 MiB */
} Arena;
NODISCARD void *arena_alloc(Arena *arena,
                            size_t n_bytes); /* zeroed, aligned to 8; NULL if memory runs out */
NODISCARD void *arena_buffer(Arena *arena, size_t n_bytes); /* as arena_alloc(), but not zeroed */
/* Frees all that was allocated from the arena. The arena is empty again and can be reused. */
void arena_free(Arena *arena);

/* A text: valid UTF-8 (invalid bytes of the file are replaced) that ends in a NUL byte. */
typedef struct {
    uint32_t n_bytes;
    bool has_nul;  /* the text itself contains NUL bytes, so its length counts */
    bool repaired; /* the file's bytes were not UTF-8 */
    char text[];
} Text;
extern const Text *const empty_text;

/* Mixes the bits of a number. The result is the same on every machine: use it for identities. Not
 * for hash tables, because a file can choose keys that collide. */
static inline uint64_t mix64(uint64_t x)
{
    x ^= x >> 32, x *= 0xd6e8feb86659fd93u, x ^= x >> 32;
    return x;
}

/* Returns a hash of bytes that is the same on every machine that we build for. Use it for
 * identities. Not for hash tables, because a file can choose keys that collide. */
uint64_t hash_bytes(const uint8_t *bytes, size_t n_bytes);

/* Hashes for hash tables: text_hash() and hash64(). They differ from process to process, so that no
 * file can choose keys that collide. */
extern uint64_t hash_secrets[2]; /* random, drawn when the library is loaded; [1] is odd */
static inline uint64_t hash_product(uint64_t x)
{
    __extension__ unsigned __int128 product =
        (unsigned __int128)(x ^ hash_secrets[0]) * hash_secrets[1];
    return (uint64_t)product ^ (uint64_t)(product >> 64);
}
static inline uint64_t hash64(uint64_t x)
{
    /* The products of ids that follow each other are a sequence, which some secrets crowd. */
    return mix64(hash_product(x));
}
/* Returns the hash of a text for tables, like hash64(). */
uint64_t text_hash(const char *text, size_t n_bytes);

/* A set of texts: equal texts of one table are the same pointer. Starts as {0}. */
typedef struct {
    const Text **texts;
    size_t n_texts, capacity;
    HashTable by_text;
} TextTable;
/* Returns the table's text with these bytes, repaired to valid UTF-8. Adds it, allocated from the
 * arena, if the table does not have it yet. An empty text is always empty_text. NULL if memory runs
 * out. */
NODISCARD const Text *text_intern(TextTable *table, Arena *arena, const void *bytes,
                                  size_t n_bytes);
/* Frees the table, but not its texts: they belong to the arena. */
void text_table_free(TextTable *table);

/* Copies text to `out`, with U+FFFD for each maximal ill-formed part, as WHATWG decoders and
 * Python's errors='replace' do. `out` has room for 3 * n_bytes. Returns the number of bytes
 * written. */
size_t utf8_repair(const uint8_t *bytes, size_t n_bytes, char *out);
bool utf8_valid(const uint8_t *bytes, size_t n_bytes);
/* Like vsnprintf, but the result is always valid UTF-8: ill-formed bytes become '?', and a
 * character that the end of `out` cuts off is dropped. */
void print_utf8(char *out, size_t n_out, const char *format, va_list ap);

static inline bool starts_with(const char *text, const char *prefix)
{
    return !strncmp(text, prefix, strlen(prefix));
}

/* Returns whether a file's name has this suffix after another character. */
static inline bool has_suffix(const char *name, const char *suffix)
{
    size_t n = strlen(name), k = strlen(suffix);
    return n > k && !strcmp(name + n - k, suffix);
}

/* Compares two numbers: negative, 0 or positive, like qsort()'s function. */
#define ORDER(x, y) (((x) > (y)) - ((x) < (y)))

/* Returns the size from `least` to `most` that is nearest to n. */
static inline size_t size_within(size_t n, size_t least, size_t most)
{
    if (n < least) return least;
    return n > most ? most : n;
}

/* Return the sum and the difference as XProf computes them: they wrap. */
static inline int64_t add_wrapped(int64_t a, int64_t b)
{
    return (int64_t)((uint64_t)a + (uint64_t)b);
}
static inline int64_t sub_wrapped(int64_t a, int64_t b)
{
    return (int64_t)((uint64_t)a - (uint64_t)b);
}

/* Returns a + b, or the nearest int64 if the sum does not fit. */
static inline int64_t add_saturated(int64_t a, int64_t b)
{
    int64_t sum;
    if (!__builtin_add_overflow(a, b, &sum)) return sum;
    return a < 0 ? INT64_MIN : INT64_MAX;
}
static inline int64_t sub_saturated(int64_t a, int64_t b)
{
    int64_t difference;
    bool over = __builtin_sub_overflow(a, b, &difference);
    return over ? (a < b ? INT64_MIN : INT64_MAX) : difference;
}

#endif
