// SPDX-License-Identifier: Apache-2.0
/* gaps.h: when devices do nothing between two pieces of work. Of a run without work on a device:
 * when the threads of a process do nothing.
 *
 * Work is every event of a GPU's streams, or of the op lines of a TensorCore or SparseCore, that
 * has a duration, a time of its own, and lies in no other event of its line. GPUs and TensorCores
 * are looked at, SparseCores if none of these has an event, threads of hosts if none of these has
 * one. */
#ifndef PROF_GAPS_H
#define PROF_GAPS_H

#include "../../base/list.h"
#include "../../run.h"

/* Time without a gap. */
typedef struct {
    int64_t start_ps, end_ps;
    /* ordinals: of the event that starts it, and of the one that ends it. Of several that start
     * together the shortest counts; of several that end together the one that starts first, then
     * the shortest; then the first of the file. */
    uint64_t first, last;
} BusyPiece;

/* A plane with work: between its pieces are its gaps. */
typedef struct {
    Plane *plane;
    LIST(BusyPiece) pieces; /* by start */
} PlaneGaps;

typedef struct {
    PlaneGaps *planes; /* in order of the file */
    size_t n_planes;
} Gaps;

/* Returns the length of the gap before a piece that is not the first. */
static inline uint64_t gap_before(const BusyPiece *piece)
{
    return (uint64_t)piece->start_ps - (uint64_t)piece[-1].end_ps;
}

/* Returns the gaps of all hosts together, or of `only`. */
const Gaps *run_gaps(Run *run, Host *only, ProfErr *err);

#endif
