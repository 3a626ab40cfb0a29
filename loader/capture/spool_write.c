// SPDX-License-Identifier: Apache-2.0
/* spool_write.c: writes a spool; see spool.h. Memory is bounded: one block, its shapes, and the
 * known names. */
#define _GNU_SOURCE
#include "spool.h"

#include "../base/varint.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

enum {
    RECORDS_BYTES = 256 << 10,
    TEXTS_BYTES = 256 << 10,
    RECORD_ROOM = 12 + 11 * MAX_KIND_FIELDS
};
enum {
    NAME_SLOTS = 1 << 15,
    NAMES_BYTES = 4 << 20,
    POINTER_SLOTS = 1 << 12,
    SHAPE_SLOTS = 4 * MAX_SHAPES
};

typedef struct {
    uint32_t id, at, n_bytes; /* at: in the names' bytes */
} Name;

struct SpoolWriter {
    int fd;
    dev_t device; /* identity of the file */
    ino_t inode;
    char path[4096];
    uint64_t n_bytes, limit_bytes;
    uint32_t n_blocks;
    SpoolStatus status;
    uint8_t records[RECORDS_BYTES + RECORD_ROOM], texts[TEXTS_BYTES];
    size_t n_record_bytes, n_text_bytes;
    uint32_t n_records, n_texts;
    uint64_t last_time, last_order;
    SpoolShape shapes[MAX_SHAPES];
    uint16_t shape_slots[SHAPE_SLOTS]; /* index + 1 */
    uint32_t n_shapes;
    char names[NAMES_BYTES];
    Name name_slots[NAME_SLOTS];
    uint32_t n_names, next_id;
    size_t n_name_bytes;
    struct {
        const char *pointer;
        uint32_t slot;
    } pointers[POINTER_SLOTS];
};

/* ---- the file ---- */

static bool write_at(int fd, const void *bytes, size_t n, uint64_t at)
{
    const uint8_t *p = bytes;
    while (n) {
        ssize_t k = pwrite(fd, p, n, (off_t)at);
        if (k < 0 && errno == EINTR) continue;
        if (k <= 0) return false;
        p += k, n -= (size_t)k, at += (uint64_t)k;
    }
    return true;
}

/* Returns whether the descriptor is still our file. Checked before each write: programs close
 * unknown descriptors, and the number may then be one of their files. */
static bool still_ours(SpoolWriter *w)
{
    struct stat st;
    if (!fstat(w->fd, &st) && st.st_dev == w->device && st.st_ino == w->inode) return true;
    int fd = open(w->path, O_RDWR | O_CLOEXEC | O_NOFOLLOW);
    if (fd < 0) return false;
    w->fd = fd;
    if (fstat(fd, &st) || st.st_dev != w->device || st.st_ino != w->inode) {
        close(fd);
        w->fd = -1;
        return false;
    }
    flock(fd, LOCK_EX | LOCK_NB);
    return true;
}

static void write_status(SpoolWriter *w)
{
    if (!still_ours(w)) return;
    SpoolStatus *s = &w->status;
    s->magic = STATUS_MAGIC, s->sequence++, s->n_blocks = w->n_blocks, s->n_bytes = w->n_bytes;
    s->crc = spool_crc(0, &s->sequence, sizeof *s - offsetof(SpoolStatus, sequence));
    write_at(w->fd, s, sizeof *s, s->sequence % 2 * STATUS_SLOT);
}

/* Stops recording. The file is left as it was before the block that did not fit. */
static void stop_full(SpoolWriter *w, enum SpoolState state, const char *why)
{
    if (w->status.state == SPOOL_RUNNING) spool_note(w, "recording stopped early: %s", why);
    w->status.state = state;
    if (!still_ours(w)) return;
    if (ftruncate(w->fd, (off_t)w->n_bytes))
        w->status.state = SPOOL_FAILED; /* the reader stops at the incomplete block anyway */
}

static void put_u32(uint8_t *p, uint32_t value) { memcpy(p, &value, 4); }

static void block_head(uint8_t *head, uint32_t type, const void *payload, size_t n,
                       uint32_t n_records, uint32_t number)
{
    put_u32(head, SPOOL_MAGIC), put_u32(head + 4, type), put_u32(head + 8, (uint32_t)n);
    put_u32(head + 12, number), put_u32(head + 16, n_records), put_u32(head + 20, 0);
    put_u32(head + 20, spool_crc(spool_crc(0, head, BLOCK_HEAD), payload, n));
}

/* Appends pending texts and records with one call, so that at most these are lost if the process is
 * killed. */
static void write_blocks(SpoolWriter *w)
{
    uint8_t heads[2][BLOCK_HEAD];
    struct iovec parts[4];
    int n_parts = 0;
    uint32_t number = w->n_blocks;
    size_t n = 0;
    if (w->n_text_bytes) {
        block_head(heads[0], BLOCK_TEXTS, w->texts, w->n_text_bytes, w->n_texts, number++);
        parts[n_parts++] = (struct iovec){heads[0], BLOCK_HEAD};
        parts[n_parts++] = (struct iovec){w->texts, w->n_text_bytes};
        n += BLOCK_HEAD + w->n_text_bytes;
    }
    if (w->n_records) {
        block_head(heads[1], BLOCK_RECORDS, w->records, w->n_record_bytes, w->n_records, number++);
        parts[n_parts++] = (struct iovec){heads[1], BLOCK_HEAD};
        parts[n_parts++] = (struct iovec){w->records, w->n_record_bytes};
        n += BLOCK_HEAD + w->n_record_bytes;
    }
    if (!n) return;
    if (w->status.state == SPOOL_RUNNING && w->n_bytes + n > w->limit_bytes)
        stop_full(w, SPOOL_FULL, "the spool is at its limit (--spool-limit)");
    if (w->status.state == SPOOL_RUNNING && !still_ours(w))
        stop_full(w, SPOOL_FAILED, "the spool was removed");
    if (w->status.state == SPOOL_RUNNING) {
        ssize_t k;
        do k = pwritev(w->fd, parts, n_parts, (off_t)w->n_bytes);
        while (k < 0 && errno == EINTR);
        if (k >= 0 && (size_t)k == n) {
            w->n_bytes += n, w->n_blocks = number, w->status.n_records += w->n_records;
            return;
        }
        stop_full(w,
                  k < 0 && errno != ENOSPC && errno != EDQUOT && errno != EFBIG ? SPOOL_FAILED
                                                                                : SPOOL_FULL,
                  k < 0 ? strerror(errno) : "no space left on the disk");
    }
    w->status.lost[LOST_SPOOL] += w->n_records;
}

static void finish_block(SpoolWriter *w)
{
    write_blocks(w);
    w->n_record_bytes = w->n_text_bytes = 0;
    w->n_records = w->n_texts = w->n_shapes = 0;
    w->last_time = w->last_order = 0;
    memset(w->shape_slots, 0, sizeof w->shape_slots);
}

void spool_flush(SpoolWriter *w)
{
    finish_block(w);
    write_status(w);
}

static bool make_folders(const char *path)
{
    char part[4096];
    if (snprintf(part, sizeof part, "%s", path) >= (int)sizeof part) {
        errno = ENAMETOOLONG;
        return false;
    }
    for (char *p = part + 1; *p; p++)
        if (*p == '/') {
            *p = 0;
            if (mkdir(part, 0777) && errno != EEXIST) return false;
            *p = '/';
        }
    return true;
}

SpoolWriter *spool_create(const char *path, const char *header, uint64_t limit_bytes, ProfErr *err)
{
    if (!make_folders(path)) {
        prof_fail(err, PROF_IO, 0, "cannot make the folder of %s: %s", path, strerror(errno));
        return NULL;
    }
    int fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0666);
    if (fd < 0) {
        prof_fail(err, PROF_IO, 0, "cannot create %s: %s", path, strerror(errno));
        return NULL;
    }
    SpoolWriter *w = prof_alloc(sizeof *w);
    if (!w) {
        prof_nomem(err);
        goto fail;
    }
    struct stat st;
    if (fstat(fd, &st) || snprintf(w->path, sizeof w->path, "%s", path) >= (int)sizeof w->path) {
        prof_fail(err, PROF_IO, 0, "cannot use %s: %s", path, strerror(errno));
        goto fail;
    }
    w->fd = fd, w->limit_bytes = limit_bytes, w->n_bytes = BLOCKS_AT, w->device = st.st_dev,
    w->inode = st.st_ino;
    flock(fd, LOCK_EX | LOCK_NB);
    uint8_t head[BLOCK_HEAD];
    static const uint8_t zeros[BLOCKS_AT];
    size_t n = strlen(header);
    block_head(head, BLOCK_HEADER, header, n, 0, w->n_blocks++);
    if (!write_at(fd, zeros, sizeof zeros, 0) || !write_at(fd, head, sizeof head, w->n_bytes) ||
        !write_at(fd, header, n, w->n_bytes + BLOCK_HEAD)) {
        prof_fail(err, PROF_IO, 0, "cannot write %s: %s", path, strerror(errno));
        goto fail;
    }
    w->n_bytes += BLOCK_HEAD + n;
    write_status(w);
    return w;
fail:
    prof_free(w);
    close(fd);
    unlink(path);
    return NULL;
}

SpoolStatus *spool_status(SpoolWriter *w) { return &w->status; }

bool spool_is_full(const SpoolWriter *w) { return w->status.state != SPOOL_RUNNING; }

void spool_note(SpoolWriter *w, const char *format, ...)
{
    size_t n = strnlen(w->status.note, sizeof w->status.note);
    if (n && n + 1 < sizeof w->status.note) w->status.note[n++] = '\n';
    va_list ap;
    va_start(ap, format);
    vsnprintf(w->status.note + n, sizeof w->status.note - n, format, ap);
    va_end(ap);
}

void spool_close(SpoolWriter *w, bool ended)
{
    if (!w) return;
    finish_block(w);
    if (ended && w->status.state == SPOOL_RUNNING) w->status.state = SPOOL_ENDED;
    write_status(w);
    if (still_ours(w)) close(w->fd);
    prof_free(w);
}

void spool_abandon(SpoolWriter *w)
{
    struct stat st;
    if (w && !fstat(w->fd, &st) && st.st_dev == w->device && st.st_ino == w->inode) close(w->fd);
}

/* ---- texts ---- */

static uint64_t hash_text(const char *s, size_t n)
{
    uint64_t h = n;
    for (size_t i = 0; i < n; i++) h = (h ^ (uint8_t)s[i]) * 0x100000001b3u;
    return mix64(h);
}

static void forget_names(SpoolWriter *w)
{
    memset(w->name_slots, 0, sizeof w->name_slots);
    memset(w->pointers, 0, sizeof w->pointers);
    w->n_names = 0, w->n_name_bytes = 0;
}

/* Returns the slot of a text, which is written if it is new. */
static uint32_t name_slot(SpoolWriter *w, const char *text, size_t n)
{
    if (n > TEXT_MAX) n = TEXT_MAX;
    uint32_t slot = (uint32_t)hash_text(text, n) & (NAME_SLOTS - 1);
    for (; w->name_slots[slot].id; slot = (slot + 1) & (NAME_SLOTS - 1)) {
        const Name *name = &w->name_slots[slot];
        if (name->n_bytes == n && !memcmp(w->names + name->at, text, n)) return slot;
    }
    if (w->n_names >= NAME_SLOTS / 2 || w->n_name_bytes + n > NAMES_BYTES) {
        forget_names(w); /* they get new ids when they occur again */
        return name_slot(w, text, n);
    }
    if (w->n_text_bytes + n + 20 > TEXTS_BYTES) finish_block(w);
    w->name_slots[slot] = (Name){++w->next_id, (uint32_t)w->n_name_bytes, (uint32_t)n};
    memcpy(w->names + w->n_name_bytes, text, n);
    w->n_name_bytes += n, w->n_names++, w->n_texts++;
    uint8_t *p = w->texts + w->n_text_bytes;
    p = put_varint(p, w->next_id), p = put_varint(p, n);
    memcpy(p, text, n);
    w->n_text_bytes = (size_t)(p + n - w->texts);
    return slot;
}

uint32_t spool_text(SpoolWriter *w, const char *text, size_t n_bytes)
{
    return text && n_bytes ? w->name_slots[name_slot(w, text, n_bytes)].id : 0;
}

uint32_t spool_text_pointer(SpoolWriter *w, const char *text)
{
    if (!text || !*text) return 0;
    size_t at = mix64((uint64_t)(uintptr_t)text * 0x9e3779b97f4a7c15u) & (POINTER_SLOTS - 1);
    size_t n = strnlen(text, TEXT_MAX);
    /* checked, because the address may contain another text now */
    if (w->pointers[at].pointer == text) {
        const Name *name = &w->name_slots[w->pointers[at].slot];
        if (name->id && name->n_bytes == n && !memcmp(w->names + name->at, text, n))
            return name->id;
    }
    uint32_t slot = name_slot(w, text, n);
    w->pointers[at].pointer = text, w->pointers[at].slot = slot;
    return w->name_slots[slot].id;
}

/* ---- records ---- */

/* Returns the number of the record's shape in this block, from 1; *fresh if it is new. */
static uint32_t shape_number(SpoolWriter *w, const SpoolShape *shape, bool *fresh)
{
    uint64_t h = shape->kind;
    for (uint32_t i = 0; i < shape->n_values; i++)
        h = (h ^ shape->values[i]) * 0x9e3779b97f4a7c15u, h ^= h >> 29;
    for (size_t slot = mix64(h) & (SHAPE_SLOTS - 1);; slot = (slot + 1) & (SHAPE_SLOTS - 1)) {
        uint32_t number = w->shape_slots[slot];
        if (!number) {
            *fresh = true;
            w->shapes[w->n_shapes++] = *shape;
            return w->shape_slots[slot] = (uint16_t)w->n_shapes;
        }
        const SpoolShape *old = &w->shapes[number - 1];
        if (old->kind == shape->kind &&
            !memcmp(old->values, shape->values, shape->n_values * sizeof *shape->values))
            return number;
    }
}

void spool_append(SpoolWriter *w, const Record *record)
{
    const KindSpec *spec = &record_kinds[record->kind];
    if (w->n_record_bytes > RECORDS_BYTES - RECORD_ROOM || w->n_shapes == MAX_SHAPES)
        finish_block(w);
    SpoolShape shape = {.kind = record->kind};
    for (int i = 0; i < spec->n_fields; i++)
        if (field_is_fixed(&spec->fields[i])) shape.values[shape.n_values++] = record->values[i];
    bool fresh = false;
    uint32_t number = shape_number(w, &shape, &fresh);
    uint8_t *p = w->records + w->n_record_bytes;
    p = put_varint(p, fresh ? 0 : number);
    if (fresh) {
        p = put_varint(p, shape.kind);
        for (uint32_t i = 0; i < shape.n_values; i++) p = put_varint(p, shape.values[i]);
    }
    uint64_t time = 0;
    for (int i = 0; i < spec->n_fields; i++) {
        uint64_t value = record->values[i];
        switch ((enum Role)spec->fields[i].role) {
        case TIME:
            p = put_varint(p, zigzag(value - w->last_time)), w->last_time = time = value;
            break;
        case UNTIL: p = put_varint(p, zigzag(value - time)); break;
        case ORDER: p = put_varint(p, zigzag(value - w->last_order)), w->last_order = value; break;
        case VARIES: p = put_varint(p, value); break;
        default: break;
        }
    }
    w->n_record_bytes = (size_t)(p - w->records);
    w->n_records++;
}
