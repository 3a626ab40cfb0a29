// SPDX-License-Identifier: Apache-2.0
/* spool.h: the file that a capture writes while the program runs. It is valid at any time.
 *
 *   0      two copies of SpoolStatus, 2048 bytes apart, overwritten in turn: if the process is
 * killed while it writes one, the other is intact; and they can be written when the disk is full
 *   4096   blocks, appended: { magic u32, type u32, payload bytes u32, number u32 (from 0),
 *          records u32, crc32 u32 }, payload
 *
 * BLOCK_HEADER: lines "key=value". BLOCK_TEXTS: { varint id, varint length, bytes }...; ids count
 * from 1, and a text precedes the first record that uses it. BLOCK_RECORDS: { varint shape,
 * values... }: shape 0 introduces the next shape of the block, { varint kind, the kind's FIXED
 * values }; shape n is the n-th of the block; then the values that are not FIXED. All values are
 * varints, differences zigzag. A block can be read without earlier blocks, except for their texts.
 * The crc32 is that of the payload and of the header with 0 in its place.
 *
 * A reader stops at the first incomplete block or, in a finished file, searches for the next one.
 * The writer holds flock() on the file. */
#ifndef PROF_CAPTURE_SPOOL_H
#define PROF_CAPTURE_SPOOL_H

#include "../base/base.h"
#include "record.h"

enum { SPOOL_MAGIC = 0x42535150, STATUS_MAGIC = 0x54535150, SPOOL_VERSION = 2 };
enum { STATUS_SLOT = 2048, BLOCKS_AT = 4096, BLOCK_HEAD = 24, BLOCK_MAX = 1 << 20 };
enum { BLOCK_HEADER = 1, BLOCK_TEXTS, BLOCK_RECORDS };
/* longest text, later bytes are cut; most shapes in a block */
enum { TEXT_MAX = 60000, MAX_SHAPES = 1024 };

/* Why records are missing. */
#define LOSSES(L)                                                                                  \
    L(LOST_CUPTI, "dropped by CUPTI, whose own buffers were full")                                 \
    L(LOST_NO_BUFFER, "buffers refused because all were in use (each for one or more records)")    \
    L(LOST_REUSED, "overwritten because all buffers were in use")                                  \
    L(LOST_SPOOL, "not written because the spool could not grow")                                  \
    L(LOST_RING, "ranges dropped because a thread made them faster than they were written")        \
    L(LOST_UNREADABLE, "left out because the buffer that held them could not be read")
#define AS_LOSS(id, text) id,
enum Loss { LOSSES(AS_LOSS) N_LOSSES };
#undef AS_LOSS
extern const char *const loss_texts[N_LOSSES];

enum SpoolState {
    SPOOL_RUNNING,
    SPOOL_ENDED,
    SPOOL_FULL,
    SPOOL_FAILED
}; /* SPOOL_FULL: the spool's limit is reached, or the disk is full */

typedef struct {
    uint32_t magic, crc; /* crc: of everything after it */
    uint64_t sequence;   /* the copy with the higher number counts */
    uint64_t n_records, n_blocks, n_bytes;
    uint64_t lost[N_LOSSES];
    uint64_t stop_unix_ns;        /* 0: not stopped */
    uint64_t own_ns;              /* CPU time of our threads */
    uint64_t n_unfinished, n_odd; /* records without an end; records of kinds that we do not read */
    uint32_t state;               /* enum SpoolState */
    uint32_t api_version;         /* of CUPTI; 0 if it was not used */
    char note[1024];              /* lines about problems; empty if none */
} SpoolStatus;
_Static_assert(sizeof(SpoolStatus) <= STATUS_SLOT, "a status fits its slot");

uint32_t spool_crc(uint32_t crc, const void *bytes, size_t n_bytes);

/* ---- writing: one thread ---- */

typedef struct SpoolWriter SpoolWriter;
/* Creates the file and its folders. `header` is the text of the first block. NULL with err set. */
SpoolWriter *spool_create(const char *path, const char *header, uint64_t limit_bytes, ProfErr *err);
/* Returns the id of a text; 0 for NULL and "". It is written before the next records. */
uint32_t spool_text(SpoolWriter *w, const char *text, size_t n_bytes);
uint32_t spool_text_pointer(SpoolWriter *w,
                            const char *text); /* the same, with a cache of pointers */
void spool_append(SpoolWriter *w, const Record *record);
void spool_flush(SpoolWriter *w); /* writes what is pending, and the status */
SpoolStatus *spool_status(SpoolWriter *w);
void spool_note(SpoolWriter *w, const char *format, ...) __attribute__((format(printf, 2, 3)));
bool spool_is_full(const SpoolWriter *w);
void spool_close(SpoolWriter *w, bool ended); /* flushes; w may be NULL */
/* For a forked child: closes the file and does nothing else. */
void spool_abandon(SpoolWriter *w);

/* ---- reading ---- */

typedef struct {
    uint32_t kind, n_values;
    uint64_t values[MAX_KIND_FIELDS]; /* FIXED values at their indexes */
} SpoolShape;

typedef struct {
    int fd;
    uint64_t at, n_bytes; /* n_bytes: size of the file */
    SpoolStatus status;
    bool has_status, damaged; /* damaged: something that is not a block follows */
    bool salvage;  /* set for a spool to which no process writes any more: reading continues after
                      damaged bytes */
    bool searched; /* left_to_search is set */
    uint64_t n_read, n_skipped_bytes; /* records returned; bytes left out */
    uint64_t left_to_search;          /* bytes that searching may still check */
    char *header;                     /* text of the first block */
    uint8_t *block;
    size_t block_bytes, block_at;
    uint32_t block_records, n_blocks,
        n_bad_blocks; /* bad: complete, but not as our writer writes it */
    SpoolShape *shapes;
    uint32_t n_shapes, shape; /* of this block; of the last record */
    uint64_t last_time, last_order;
    TextTable table;
    Arena arena;
    const Text **texts; /* by id - 1 */
    size_t n_texts, text_capacity;
} SpoolReader;
int spool_open(SpoolReader *r, const char *path, ProfErr *err);
/* Reads the next record. False at the end of the file (call it again when more may have been
 * written), or with err set. */
bool spool_next(SpoolReader *r, Record *record, ProfErr *err);
const Text *spool_text_of(const SpoolReader *r,
                          /* empty_text if there is none */
                          uint64_t id);
/* Copies a value of the header; empty if it does not have it. `out` is NUL-terminated. */
void spool_header_value(const SpoolReader *r, const char *key, char *out, size_t n);
void spool_reader_close(SpoolReader *r);

#endif
