// SPDX-License-Identifier: Apache-2.0
/* spool_read.c: reads a spool, complete or still growing; see spool.h. With any bytes, reading ends
 * without a crash. */
#define _GNU_SOURCE
#include "spool.h"

#include "../format/wire.h"
#include "../base/varint.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sys/stat.h>
#include <unistd.h>

const char *const loss_texts[N_LOSSES] = {
#define AS_TEXT(id, text) [id] = text,
    LOSSES(AS_TEXT)
#undef AS_TEXT
};

static uint32_t crc_table[256];
static pthread_once_t crc_once = PTHREAD_ONCE_INIT;

static void make_crc_table(void)
{
    for (uint32_t i = 0; i < 256; i++) {
        uint32_t c = i;
        for (int k = 0; k < 8; k++) c = c >> 1 ^ (c & 1 ? 0xedb88320 : 0);
        crc_table[i] = c;
    }
}

uint32_t spool_crc(uint32_t crc, const void *bytes, size_t n_bytes)
{
    pthread_once(&crc_once, make_crc_table);
    const uint8_t *p = bytes;
    crc = ~crc;
    for (size_t i = 0; i < n_bytes; i++) crc = crc >> 8 ^ crc_table[(crc ^ p[i]) & 255];
    return ~crc;
}

static bool read_at(int fd, void *out, size_t n, uint64_t at)
{
    uint8_t *p = out;
    while (n) {
        ssize_t k = pread(fd, p, n, (off_t)at);
        if (k < 0 && errno == EINTR) continue;
        if (k <= 0) return false;
        p += k, n -= (size_t)k, at += (uint64_t)k;
    }
    return true;
}

static bool spool_read_status(SpoolReader *r)
{
    for (int i = 0; i < 2; i++) {
        SpoolStatus s;
        if (!read_at(r->fd, &s, sizeof s, (uint64_t)i * STATUS_SLOT) || s.magic != STATUS_MAGIC)
            continue;
        if (s.crc != spool_crc(0, &s.sequence, sizeof s - offsetof(SpoolStatus, sequence)))
            continue;
        if (r->has_status && s.sequence < r->status.sequence) continue;
        s.note[sizeof s.note - 1] = 0;
        r->status = s, r->has_status = true;
    }
    return r->has_status;
}

static uint32_t get_u32(const uint8_t *p)
{
    uint32_t value;
    memcpy(&value, p, 4);
    return value;
}

/* Reads the payload of the block at a position of the file. Returns its type; 0 if there is no
 * complete block with this or a later number. */
static uint32_t block_at(SpoolReader *r, uint64_t at, uint32_t number, ProfErr *err)
{
    uint8_t head[BLOCK_HEAD];
    if (at + BLOCK_HEAD > r->n_bytes || !read_at(r->fd, head, sizeof head, at)) return 0;
    uint32_t type = get_u32(head + 4), n = get_u32(head + 8), found = get_u32(head + 12),
             crc = get_u32(head + 20);
    if (get_u32(head) != SPOOL_MAGIC || n > BLOCK_MAX || found < number ||
        at + BLOCK_HEAD + n > r->n_bytes)
        return 0;
    if (!r->block && !(r->block = prof_alloc(BLOCK_MAX))) {
        prof_nomem(err);
        return 0;
    }
    memset(head + 20, 0, 4);
    r->left_to_search = r->left_to_search > n ? r->left_to_search - n : 0;
    if (!read_at(r->fd, r->block, n, at + BLOCK_HEAD) ||
        spool_crc(spool_crc(0, head, sizeof head), r->block, n) != crc)
        return 0;
    r->block_bytes = n, r->block_at = 0, r->block_records = get_u32(head + 16),
    r->n_blocks = found + 1;
    r->at = at + BLOCK_HEAD + n;
    return type;
}

/* Finds the next complete block after damaged bytes. All searches in a file together do a limited
 * amount of work, because a hostile file may be full of block starts. */
static uint32_t search_block(SpoolReader *r, ProfErr *err)
{
    enum { WINDOW = 1 << 16 };
    uint64_t from = r->at;
    uint32_t number = r->n_blocks, type = 0, magic = SPOOL_MAGIC;
    uint8_t *window = prof_alloc(WINDOW);
    if (!window) {
        prof_nomem(err);
        return 0;
    }
    if (!r->searched) r->searched = true, r->left_to_search = 2 * r->n_bytes + ((uint64_t)64 << 20);
    for (uint64_t at = from + 1;
         at + BLOCK_HEAD <= r->n_bytes && !type && r->left_to_search && !err->code;) {
        size_t n = r->n_bytes - at < WINDOW ? (size_t)(r->n_bytes - at) : WINDOW;
        r->left_to_search = r->left_to_search > n ? r->left_to_search - n : 0;
        if (!read_at(r->fd, window, n, at)) break;
        const uint8_t *p = memmem(window, n, &magic, sizeof magic);
        if (p) at += (uint64_t)(p - window);
        if (p && (type = block_at(r, at, number, err))) r->n_skipped_bytes += at - from;
        at += p ? 1 : n - (sizeof magic - 1);
    }
    prof_free(window);
    if (type) r->n_bad_blocks += r->n_blocks - 1 - number;
    return type;
}

/* Reads the next block's payload. Returns its type; 0 if there is none. */
static uint32_t next_block(SpoolReader *r, ProfErr *err)
{
    struct stat st;
    if (fstat(r->fd, &st)) {
        prof_fail(err, PROF_IO, r->at, "cannot stat the spool: %s", strerror(errno));
        return 0;
    }
    r->n_bytes = (uint64_t)st.st_size;
    if (r->at >= r->n_bytes) return 0;
    uint32_t expected = r->n_blocks, type = block_at(r, r->at, expected, err);
    if (type && r->n_blocks != expected + 1) r->n_bad_blocks += r->n_blocks - 1 - expected;
    if (!type && r->salvage && !err->code) type = search_block(r, err);
    r->damaged = !type; /* a block that is being written is checked again later */
    return type;
}

/* Marks the texts up to this id as lost with their block. */
static bool lose_texts(SpoolReader *r, uint64_t last, ProfErr *err)
{
    enum { MOST = 1 << 24 };
    if (last > MOST) return false;
    while (r->n_texts < last) {
        if (!GROW(r->texts, r->n_texts, r->text_capacity)) {
            prof_nomem(err);
            return false;
        }
        r->texts[r->n_texts++] = empty_text;
    }
    return true;
}

static bool read_texts(SpoolReader *r, ProfErr *err)
{
    const uint8_t *p = r->block, *end = p + r->block_bytes;
    while (p < end) {
        uint64_t id, n;
        if (!(p = wire_varint(p, end, &id)) || !(p = wire_varint(p, end, &n)) ||
            n > (uint64_t)(end - p) || id <= r->n_texts)
            return false;
        if (id > r->n_texts + 1 && (id > UINT32_MAX || !lose_texts(r, id - 1, err))) return false;
        const Text *text = text_intern(&r->table, &r->arena, p, (size_t)n);
        if (!text || !GROW(r->texts, r->n_texts, r->text_capacity)) {
            prof_nomem(err);
            return false;
        }
        r->texts[r->n_texts++] = text;
        p += n;
    }
    return true;
}

int spool_open(SpoolReader *r, const char *path, ProfErr *err)
{
    *r = (SpoolReader){.fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY),
                       .at = BLOCKS_AT};
    struct stat st;
    if (r->fd < 0)
        return prof_fail(err, errno == ENOENT ? PROF_NOTFOUND : PROF_IO, 0, "%s: cannot open: %s",
                         path, strerror(errno));
    uint32_t type = 0;
    if (fstat(r->fd, &st) || !S_ISREG(st.st_mode)) {
        prof_fail(err, PROF_FORMAT, 0,
                  "%s: is not a regular file; give the .spool file of a capture", path);
    } else {
        spool_read_status(r);
        type = next_block(r, err);
        if (type != BLOCK_HEADER)
            prof_fail(err, PROF_FORMAT, r->at,
                      "%s: does not begin as the spool of a capture: it was cut short, or is "
                      "another file; give a whole .spool file",
                      path);
    }
    if (!err->code && !(r->header = prof_alloc(r->block_bytes + 1))) prof_nomem(err);
    if (!err->code && !(r->shapes = prof_alloc(MAX_SHAPES * sizeof *r->shapes))) prof_nomem(err);
    if (err->code) {
        spool_reader_close(r);
        return err->code;
    }
    memcpy(r->header, r->block, r->block_bytes);
    r->block_bytes = r->block_at = 0, r->block_records = 0;
    char version[16];
    spool_header_value(r, "version", version, sizeof version);
    if (strtol(version, NULL, 10) != SPOOL_VERSION) {
        prof_fail(err, PROF_FORMAT, 0,
                  "%s: is a spool of version %s, not %d; ask the profsql-capture that wrote it",
                  path, version, SPOOL_VERSION);
        spool_reader_close(r);
    }
    return err->code;
}

/* Reads a shape that the block introduces. False if it is invalid. */
static bool read_shape(SpoolReader *r, const uint8_t **p, const uint8_t *end)
{
    uint64_t kind;
    if (r->n_shapes >= MAX_SHAPES || !(*p = wire_varint(*p, end, &kind)) || kind >= N_RECORD_KINDS)
        return false;
    const KindSpec *spec = &record_kinds[kind];
    SpoolShape *shape = &r->shapes[r->n_shapes];
    *shape = (SpoolShape){.kind = (uint32_t)kind};
    for (int i = 0; i < spec->n_fields; i++)
        if (field_is_fixed(&spec->fields[i]) && !(*p = wire_varint(*p, end, &shape->values[i])))
            return false;
    r->shape = r->n_shapes++;
    return true;
}

static bool read_record(SpoolReader *r, Record *record)
{
    const uint8_t *p = r->block + r->block_at, *end = r->block + r->block_bytes;
    uint64_t number, value;
    if (!(p = wire_varint(p, end, &number)) || number > r->n_shapes) return false;
    if (number) r->shape = (uint32_t)number - 1;
    if (!number && !read_shape(r, &p, end)) return false;
    const SpoolShape *shape = &r->shapes[r->shape];
    const KindSpec *spec = &record_kinds[shape->kind];
    record->kind = (enum RecordKind)shape->kind;
    uint64_t time = 0;
    for (int i = 0; i < spec->n_fields; i++) {
        if (field_is_fixed(&spec->fields[i])) {
            record->values[i] = shape->values[i];
            continue;
        }
        if (!(p = wire_varint(p, end, &value))) return false;
        switch ((enum Role)spec->fields[i].role) {
        case TIME: value = r->last_time = time = unzigzag(value) + r->last_time; break;
        case UNTIL: value = unzigzag(value) + time; break;
        case ORDER: value = r->last_order = unzigzag(value) + r->last_order; break;
        default: break;
        }
        record->values[i] = value;
    }
    r->block_at = (size_t)(p - r->block);
    return true;
}

bool spool_next(SpoolReader *r, Record *record, ProfErr *err)
{
    for (;;) {
        if (r->block_records) {
            r->block_records--;
            if (read_record(r, record)) {
                r->n_read++;
                return true;
            }
            /* The crc is right, but it cannot be parsed: the following blocks may be good. */
            r->n_bad_blocks++, r->block_records = 0;
        }
        uint32_t type = next_block(r, err);
        if (!type || err->code) return false;
        r->n_shapes = 0, r->last_time = r->last_order = 0;
        if (type == BLOCK_TEXTS && !read_texts(r, err)) {
            if (err->code) return false;
            r->n_bad_blocks++;
        }
        if (type != BLOCK_RECORDS) r->block_records = 0;
    }
}

const Text *spool_text_of(const SpoolReader *r, uint64_t id)
{
    return id && id <= r->n_texts ? r->texts[id - 1] : empty_text;
}

void spool_header_value(const SpoolReader *r, const char *key, char *out, size_t n)
{
    size_t k = strlen(key);
    out[0] = 0;
    for (const char *line = r->header; line && *line;
         line = strchr(line, '\n') ? strchr(line, '\n') + 1 : NULL)
        if (!strncmp(line, key, k) && line[k] == '=') {
            size_t length = strcspn(line + k + 1, "\n");
            if (length >= n) length = n - 1;
            memcpy(out, line + k + 1, length);
            out[length] = 0;
            return;
        }
}

void spool_reader_close(SpoolReader *r)
{
    if (r->fd >= 0) close(r->fd);
    prof_free(r->header);
    prof_free(r->block);
    prof_free(r->shapes);
    prof_free(r->texts);
    text_table_free(&r->table);
    arena_free(&r->arena);
    *r = (SpoolReader){.fd = -1};
}
