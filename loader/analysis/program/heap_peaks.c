// SPDX-License-Identifier: Apache-2.0
/* heap_peaks.c: finds the places of buffers at peaks; see heap_peaks.h. */
#include "heap_peaks.h"

#include <math.h>

static bool lies_elsewhere(const Heap *heap, uint32_t buffer, const HeapSpace *space)
{
    return heap->allocations[heap->buffers[buffer].allocation].proto->color != space->color;
}

/* Returns the maximum number of extra rows. `seen` is all false. */
static size_t most_extra(const Heap *heap, bool *seen)
{
    size_t n = heap->n_spaces;
    for (const HeapSpace *space = heap->spaces; space < heap->spaces + heap->n_spaces; space++)
        for (size_t i = 0; i < space->n_objects; i++) {
            n += seen[space->objects[i]] || lies_elsewhere(heap, space->objects[i], space);
            seen[space->objects[i]] = true;
        }
    return n;
}

static void place_objects(const Heap *heap, const HeapSpace *space, const HeapObject *objects,
                          size_t n, int64_t small_bytes, HeapPeaks *peaks)
{
    for (size_t i = 0; i < space->n_objects; i++) {
        const HeapBuffer *b = &heap->buffers[space->objects[i]];
        bool listed = !space->color || i >= space->n_indefinite_objects;
        if (!lies_elsewhere(heap, space->objects[i], space))
            peaks->places[space->objects[i]].life =
                listed && b->size_bytes < small_bytes ? LIFE_FOLDED : LIFE_LIVE;
    }
    for (size_t i = 0; i < n; i++) {
        HeapPlace *place = objects[i].buffer < 0 ? NULL : &peaks->places[objects[i].buffer];
        if (!place || place->program_order >= 0 ||
            lies_elsewhere(heap, (uint32_t)objects[i].buffer, space))
            peaks->extra[peaks->n_extra++] = (HeapExtra){objects[i], space->color};
        else
            place->program_order = (int64_t)objects[i].program_order,
            place->size_rank = (int64_t)objects[i].size_rank;
    }
}

/* Returns the state of a buffer that is not an object of a peak. */
static enum HeapLife life_of(const HeapAllocation *a, const HeapBuffer *b)
{
    return b->start_event >= 0 || (a->indefinite && a->counts) ? LIFE_DEAD : LIFE_UNKNOWN;
}

static HeapPeaks *peaks_alloc(const Heap *heap, ProfErr *err)
{
    bool *seen = prof_alloc(heap->n_buffers);
    size_t places_bytes = sizeof(HeapPeaks) + heap->n_buffers * sizeof(HeapPlace);
    HeapPeaks *peaks =
        seen ? prof_alloc(places_bytes + most_extra(heap, seen) * sizeof *peaks->extra) : NULL;
    prof_free(seen);
    if (!peaks) {
        prof_nomem(err);
        return NULL;
    }
    peaks->extra = (void *)((char *)peaks + places_bytes);
    return peaks;
}

HeapPeaks *heap_peaks(const Heap *heap, int64_t small_bytes, ProfErr *err)
{
    HeapPeaks *peaks = peaks_alloc(heap, err);
    if (!peaks) return NULL;
    for (size_t a = 0; a < heap->n_allocations; a++)
        for (size_t i = heap->allocations[a].first_buffer, n = i + heap->allocations[a].n_buffers;
             i < n; i++)
            peaks->places[i] =
                (HeapPlace){-1, -1, life_of(&heap->allocations[a], &heap->buffers[i])};
    for (size_t i = 0; i < heap->n_spaces; i++) {
        HeapObject *objects;
        size_t n;
        if (!heap_objects(heap, &heap->spaces[i], small_bytes, &objects, &n)) {
            prof_free(peaks);
            prof_nomem(err);
            return NULL;
        }
        place_objects(heap, &heap->spaces[i], objects, n, small_bytes, peaks);
        prof_free(objects);
    }
    return peaks;
}

/* ---- sums of a space ---- */

static double peak_mib(const HeapSpace *s, bool unpadded)
{
    const HeapTrace *t = s->trace;
    if (t && t->failure) return NAN;
    double trace = !t ? 0 : heap_mib(unpadded ? t->peak_unpadded_bytes : t->peak_bytes);
    return trace + heap_mib(s->indefinite_bytes);
}

double heap_peak_mib(const HeapSpace *space) { return peak_mib(space, false); }
double heap_unpadded_peak_mib(const HeapSpace *space) { return peak_mib(space, true); }

double heap_fragmentation(const HeapSpace *space)
{
    double peak = heap_peak_mib(space), total = heap_mib(space->total_bytes),
           temporary = total - heap_mib(space->indefinite_allocation_bytes);
    if (!(peak <= total)) return NAN;
    return temporary != 0 ? (total - peak) / temporary : 0;
}
