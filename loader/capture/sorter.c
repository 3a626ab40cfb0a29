/* sorter.c: an external merge sort; see sorter.h. */
#define _GNU_SOURCE
#include "sorter.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

enum { MOST_RUNS = 1024, RUN_READ_BYTES = 64 << 10 };

/* A sorted run in the file, read through a window. */
typedef struct {
    uint64_t at, end; /* in the file: what is not in the window yet */
    uint8_t *window;
    size_t n, position; /* bytes of the window */
} SortRun;

struct Sorter {
    size_t element_bytes, capacity, n; /* elements in memory */
    uint8_t *elements;
    int (*compare)(const void *, const void *);
    const char *folder;
    int fd;
    uint64_t file_bytes, n_added;
    SortRun *runs;
    size_t n_runs, run_capacity;
    size_t *heap, n_heap; /* runs by their first element */
    bool reading;
    size_t at;
};

Sorter *sorter_new(size_t element_bytes, int (*compare)(const void *, const void *), const char *folder)
{
    Sorter *s = prof_alloc(sizeof *s);
    if (s) *s = (Sorter){.element_bytes = element_bytes, .compare = compare, .folder = folder, .fd = -1};
    return s;
}

void sorter_free(Sorter *s)
{
    if (!s) return;
    for (size_t i = 0; i < s->n_runs; i++) prof_free(s->runs[i].window);
    if (s->fd >= 0) close(s->fd);
    prof_free(s->runs);
    prof_free(s->heap);
    prof_free(s->elements);
    prof_free(s);
}

uint64_t sorter_count(const Sorter *s) { return s->n_added; }

static bool open_file(Sorter *s, ProfErr *err)
{
    char name[4096];
    s->fd = open(s->folder, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    if (s->fd < 0 && snprintf(name, sizeof name, "%s/.sort-XXXXXX", s->folder) < (int)sizeof name && (s->fd = mkostemp(name, O_CLOEXEC)) >= 0) unlink(name);
    if (s->fd < 0) prof_fail(err, PROF_IO, 0, "no temporary file in %s: %s", s->folder, strerror(errno));
    return s->fd >= 0;
}

static int spill(Sorter *s, ProfErr *err)
{
    if (s->fd < 0 && !open_file(s, err)) return err->code;
    if (s->n_runs == MOST_RUNS) return prof_fail(err, PROF_IO, 0, "more records than can be sorted (%llu)", (unsigned long long)s->n_added);
    if (!GROW(s->runs, s->n_runs, s->run_capacity)) return prof_nomem(err);
    qsort(s->elements, s->n, s->element_bytes, s->compare);
    size_t left = s->n * s->element_bytes;
    s->runs[s->n_runs++] = (SortRun){.at = s->file_bytes, .end = s->file_bytes + left};
    for (const uint8_t *p = s->elements; left;) {
        ssize_t k = pwrite(s->fd, p, left, (off_t)s->file_bytes);
        if (k < 0 && errno == EINTR) continue;
        if (k <= 0) return prof_fail(err, PROF_IO, 0, "cannot write a temporary file in %s: %s", s->folder, k < 0 ? strerror(errno) : "no space left");
        p += k, left -= (size_t)k, s->file_bytes += (uint64_t)k;
    }
    s->n = 0;
    return PROF_OK;
}

/* Doubles the room up to what a sorter may hold. */
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

static const uint8_t *first_of(const Sorter *s, size_t run) { return s->runs[run].window + s->runs[run].position; }

/* Fills the window of a run; false at its end or with err set. */
static bool refill(Sorter *s, SortRun *r, ProfErr *err)
{
    size_t n = RUN_READ_BYTES / s->element_bytes * s->element_bytes;
    if (n > r->end - r->at) n = (size_t)(r->end - r->at);
    r->n = r->position = 0;
    if (!n) return false;
    if (!r->window && !(r->window = prof_alloc(RUN_READ_BYTES))) return prof_nomem(err), false;
    while (r->n < n) {
        ssize_t k = pread(s->fd, r->window + r->n, n - r->n, (off_t)r->at);
        if (k < 0 && errno == EINTR) continue;
        if (k <= 0) return prof_fail(err, PROF_IO, 0, "cannot read a temporary file in %s: %s", s->folder, strerror(errno)), false;
        r->n += (size_t)k, r->at += (uint64_t)k;
    }
    return true;
}

static void sift_down(Sorter *s, size_t i)
{
    for (;;) {
        size_t least = i;
        for (size_t child = 2 * i + 1; child <= 2 * i + 2 && child < s->n_heap; child++)
            if (s->compare(first_of(s, s->heap[child]), first_of(s, s->heap[least])) < 0) least = child;
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
    if (!s->n_runs && s->n) qsort(s->elements, s->n, s->element_bytes, s->compare);
    if (!s->n_runs || err->code) return;
    prof_free(s->elements);
    s->elements = NULL;
    if (!(s->heap = prof_alloc(s->n_runs * sizeof *s->heap))) {
        prof_nomem(err);
        return;
    }
    for (size_t i = 0; i < s->n_runs; i++)
        if (refill(s, &s->runs[i], err)) s->heap[s->n_heap++] = i;
    for (size_t i = s->n_heap / 2 + 1; i-- > 0;) sift_down(s, i);
}

const void *sorter_next(Sorter *s, ProfErr *err)
{
    if (!s->reading) {
        begin_reading(s, err);
    } else if (s->n_heap) { /* the element handed out last is used up only now */
        SortRun *r = &s->runs[s->heap[0]];
        r->position += s->element_bytes;
        if (r->position == r->n && !refill(s, r, err)) s->heap[0] = s->heap[--s->n_heap];
        sift_down(s, 0);
    }
    if (err->code) return NULL;
    if (s->n_runs) return s->n_heap ? first_of(s, s->heap[0]) : NULL;
    return s->at < s->n ? s->elements + s->at++ * s->element_bytes : NULL;
}
