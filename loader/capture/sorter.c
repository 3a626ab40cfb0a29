// SPDX-License-Identifier: Apache-2.0
/* sorter.c: an external merge sort; see sorter.h. In the file, an element is the differences of its
 * 8-byte words to the previous element of its run, as varints, because neighbours are similar. */
#define _GNU_SOURCE
#include "sorter.h"

#include "../format/wire.h"
#include "../base/varint.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

enum { MOST_RUNS = 1024, WINDOW_BYTES = 64 << 10 };

/* A sorted run in the file, read through a window. */
typedef struct {
    uint64_t at, end;    /* part of the file that is not in the window yet */
    uint64_t n_elements; /* not read yet */
    uint8_t *window;
    size_t n, position; /* bytes of the window */
    uint64_t *element;  /* its first element */
} SortRun;

struct Sorter {
    size_t element_bytes, n_words, capacity, n; /* capacity, n: number of elements in memory */
    uint8_t *elements;
    const void **order; /* pointers to the elements, sorted, unless they are in_order */
    bool in_order;
    int (*compare)(const void *, const void *);
    const char *folder;
    int fd;
    uint64_t file_bytes, n_added;
    SortRun *runs;
    size_t n_runs, run_capacity;
    size_t *heap, n_heap; /* runs, by their first element */
    bool reading;
    size_t at;
};

Sorter *sorter_new(size_t element_bytes, int (*compare)(const void *, const void *),
                   const char *folder)
{
    Sorter *s = prof_alloc(sizeof *s);
    if (s)
        *s = (Sorter){.element_bytes = element_bytes,
                      .n_words = element_bytes / 8,
                      .compare = compare,
                      .folder = folder,
                      .fd = -1};
    return s;
}

void sorter_free(Sorter *s)
{
    if (!s) return;
    for (size_t i = 0; i < s->n_runs; i++)
        prof_free(s->runs[i].window), prof_free(s->runs[i].element);
    if (s->fd >= 0) close(s->fd);
    prof_free(s->runs);
    prof_free(s->heap);
    prof_free(s->elements);
    prof_free(s->order);
    prof_free(s);
}

static bool open_file(Sorter *s, ProfErr *err)
{
    char name[4096];
    s->fd = open(s->folder, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    if (s->fd < 0 && snprintf(name, sizeof name, "%s/.sort-XXXXXX", s->folder) < (int)sizeof name &&
        (s->fd = mkostemp(name, O_CLOEXEC)) >= 0)
        unlink(name);
    if (s->fd < 0)
        prof_fail(err, PROF_IO, 0, "no temporary file in %s: %s", s->folder, strerror(errno));
    return s->fd >= 0;
}

static bool write_out(Sorter *s, const uint8_t *p, size_t n, ProfErr *err)
{
    while (n) {
        ssize_t k = pwrite(s->fd, p, n, (off_t)s->file_bytes);
        if (k < 0 && errno == EINTR) continue;
        if (k <= 0) {
            prof_fail(err, PROF_IO, 0, "cannot write a temporary file in %s: %s", s->folder,
                      k < 0 ? strerror(errno) : "no space left");
            return false;
        }
        p += k, n -= (size_t)k, s->file_bytes += (uint64_t)k;
    }
    return true;
}

static int compare_through(const void *a, const void *b, void *sorter)
{
    return ((const Sorter *)sorter)->compare(*(const void *const *)a, *(const void *const *)b);
}

static const void *element_at(const Sorter *s, size_t i)
{
    return s->in_order ? s->elements + i * s->element_bytes : s->order[i];
}

/* Sorts pointers, without moving the elements, which are often sorted already. */
static bool sort_elements(Sorter *s)
{
    size_t n = 1;
    while (n < s->n && s->compare(s->elements + (n - 1) * s->element_bytes,
                                  s->elements + n * s->element_bytes) <= 0)
        n++;
    if ((s->in_order = n >= s->n)) return true;
    if (!s->order && !(s->order = prof_alloc(s->capacity * sizeof *s->order))) return false;
    for (size_t i = 0; i < s->n; i++) s->order[i] = s->elements + i * s->element_bytes;
    qsort_r(s->order, s->n, sizeof *s->order, compare_through, s);
    return true;
}

static int spill(Sorter *s, ProfErr *err)
{
    if (s->fd < 0 && !open_file(s, err)) return err->code;
    if (s->n_runs == MOST_RUNS)
        return prof_fail(err, PROF_IO, 0, "more records than can be sorted (%llu)",
                         (unsigned long long)s->n_added);
    if (!GROW(s->runs, s->n_runs, s->run_capacity)) return prof_nomem(err);
    uint8_t *room = prof_alloc(WINDOW_BYTES), *p = room;
    uint64_t *last = prof_alloc(s->element_bytes);
    if (room && last && sort_elements(s)) {
        SortRun run = {.at = s->file_bytes, .n_elements = s->n};
        for (size_t i = 0; i < s->n && !err->code; i++) {
            const uint64_t *words = element_at(s, i);
            if (p + s->n_words * VARINT_BYTES > room + WINDOW_BYTES)
                write_out(s, room, (size_t)(p - room), err), p = room;
            for (size_t w = 0; w < s->n_words; w++) p = put_varint(p, zigzag(words[w] - last[w]));
            memcpy(last, words, s->element_bytes);
        }
        if (!err->code) write_out(s, room, (size_t)(p - room), err);
        run.end = s->file_bytes;
        s->runs[s->n_runs++] = run;
        s->n = 0;
    } else {
        prof_nomem(err);
    }
    prof_free(room);
    prof_free(last);
    return err->code;
}

/* Doubles the memory, up to the limit of a sorter. */
static bool make_room(Sorter *s)
{
    size_t most = SORT_BYTES / s->element_bytes, wanted = s->capacity ? s->capacity * 2 : 256;
    if (wanted > most) wanted = most;
    uint8_t *grown = prof_alloc(wanted * s->element_bytes);
    if (!grown) return false;
    if (s->n) memcpy(grown, s->elements, s->n * s->element_bytes);
    prof_free(s->elements);
    s->elements = grown, s->capacity = wanted;
    return true;
}

int sorter_add(Sorter *s, const void *element, ProfErr *err)
{
    if (s->n == s->capacity) {
        if (s->capacity == SORT_BYTES / s->element_bytes) {
            if (spill(s, err)) return err->code;
        } else if (!make_room(s)) {
            return prof_nomem(err);
        }
    }
    memcpy(s->elements + s->n * s->element_bytes, element, s->element_bytes);
    s->n++, s->n_added++;
    return PROF_OK;
}

/* ---- merging ---- */

static const void *first_of(const Sorter *s, size_t run) { return s->runs[run].element; }

/* Moves the rest of the window to its start, and fills it. */
static bool refill(Sorter *s, SortRun *r, ProfErr *err)
{
    r->n -= r->position;
    memmove(r->window, r->window + r->position, r->n);
    r->position = 0;
    while (r->n < WINDOW_BYTES && r->at < r->end) {
        size_t n = WINDOW_BYTES - r->n;
        if (n > r->end - r->at) n = (size_t)(r->end - r->at);
        ssize_t k = pread(s->fd, r->window + r->n, n, (off_t)r->at);
        if (k < 0 && errno == EINTR) continue;
        if (k <= 0) {
            prof_fail(err, PROF_IO, 0, "cannot read a temporary file in %s: %s", s->folder,
                      k < 0 ? strerror(errno) : "it was cut");
            return false;
        }
        r->n += (size_t)k, r->at += (uint64_t)k;
    }
    return true;
}

/* Moves to the run's next element. False at its end or with err set. */
static bool advance(Sorter *s, SortRun *r, ProfErr *err)
{
    if (!r->n_elements) return false;
    if (!r->window && !(r->window = prof_alloc(WINDOW_BYTES))) {
        prof_nomem(err);
        return false;
    }
    if (!r->element && !(r->element = prof_alloc(s->element_bytes))) {
        prof_nomem(err);
        return false;
    }
    if (r->n - r->position < s->n_words * VARINT_BYTES && r->at < r->end && !refill(s, r, err))
        return false;
    const uint8_t *p = r->window + r->position, *end = r->window + r->n;
    for (size_t w = 0; w < s->n_words; w++) {
        uint64_t v;
        if (!(p = wire_varint(p, end, &v))) {
            prof_fail(err, PROF_IO, 0, "a temporary file in %s was changed", s->folder);
            return false;
        }
        r->element[w] += unzigzag(v);
    }
    r->position = (size_t)(p - r->window);
    r->n_elements--;
    return true;
}

static void sift_down(Sorter *s, size_t i)
{
    for (;;) {
        size_t least = i;
        for (size_t child = 2 * i + 1; child <= 2 * i + 2 && child < s->n_heap; child++)
            if (s->compare(first_of(s, s->heap[child]), first_of(s, s->heap[least])) < 0)
                least = child;
        if (least == i) return;
        size_t other = s->heap[i];
        s->heap[i] = s->heap[least], s->heap[least] = other;
        i = least;
    }
}

static void begin_reading(Sorter *s, ProfErr *err)
{
    s->reading = true;
    if (s->n_runs && s->n) spill(s, err);
    if (!s->n_runs && s->n && !sort_elements(s)) prof_nomem(err);
    if (!s->n_runs || err->code) return;
    prof_free(s->elements);
    prof_free(s->order);
    s->elements = NULL, s->order = NULL;
    if (!(s->heap = prof_alloc(s->n_runs * sizeof *s->heap))) {
        prof_nomem(err);
        return;
    }
    for (size_t i = 0; i < s->n_runs; i++)
        if (advance(s, &s->runs[i], err)) s->heap[s->n_heap++] = i;
    for (size_t i = s->n_heap / 2 + 1; i-- > 0;) sift_down(s, i);
}

const void *sorter_next(Sorter *s, ProfErr *err)
{
    if (!s->reading) {
        begin_reading(s, err);
    } else if (s->n_heap) { /* the element that was returned last is removed only now */
        if (!advance(s, &s->runs[s->heap[0]], err)) s->heap[0] = s->heap[--s->n_heap];
        sift_down(s, 0);
    }
    if (err->code) return NULL;
    if (s->n_runs) return s->n_heap ? first_of(s, s->heap[0]) : NULL;
    return s->at < s->n ? element_at(s, s->at++) : NULL;
}
