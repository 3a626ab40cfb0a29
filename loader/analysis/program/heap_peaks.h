// SPDX-License-Identifier: Apache-2.0
/* heap_peaks.h: where the buffers of a program are at the peaks of its memory spaces. */
#ifndef PROF_HEAP_PEAKS_H
#define PROF_HEAP_PEAKS_H

#include "heap.h"

enum HeapLife {
    LIFE_UNKNOWN, /* shares storage with a live buffer, or has no trace */
    LIFE_DEAD,    /* not live at the peak */
    LIFE_LIVE,
    LIFE_FOLDED /* live, and only shown in the row of small buffers */
};
typedef struct {
    int64_t program_order, size_rank; /* see HeapObject; -1 if it is not one */
    enum HeapLife life;
} HeapPlace;

/* An object of a peak with a row besides that of its buffer: the small buffers together, the second
 * listing of a buffer, or one from another memory space. */
typedef struct {
    HeapObject object;
    int64_t color;
} HeapExtra;

typedef struct {
    size_t n_extra;
    HeapExtra *extra;   /* stored after the places */
    HeapPlace places[]; /* of each buffer of the heap */
} HeapPeaks;

/* Returns the places, with buffers below small_bytes folded. Freed with prof_free(). */
HeapPeaks *heap_peaks(const Heap *heap, int64_t small_bytes, ProfErr *err);

/* Return the peak of a space in MiB, with and without the padding of temporaries; NAN if the trace
 * contradicts itself. */
double heap_peak_mib(const HeapSpace *space);
double heap_unpadded_peak_mib(const HeapSpace *space);
/* Returns the share of temporary memory that is unused at the peak. NAN if the peak is unknown or
 * larger than the allocations. */
double heap_fragmentation(const HeapSpace *space);

#endif
