// SPDX-License-Identifier: Apache-2.0
/* gaps.h: when devices do nothing between two pieces of work. In a run without work on a device:
 * when the threads of a process run no op.
 *
 * Work is every event on a GPU's streams, or on the op lines of a TensorCore or SparseCore, that
 * has a duration, a time of its own, and is not nested in another event of its line. The planes are
 * GPUs and TensorCores; if none of these has work, SparseCores; if none of these has work,
 * processes, whose work is the ops of their threads (host_ops.h). */
#ifndef PROF_GAPS_H
#define PROF_GAPS_H

#include "../../base/list.h"
#include "../../run.h"

/* A period of work without a gap. */
typedef struct {
    int64_t start_ps, end_ps;
    /* Ordinals of the event that starts it and of the one that ends it. Of several that start
     * together, the shortest counts; of several that end together, the one that starts first, then
     * the shortest. Then the first in the file. */
    uint64_t first, last;
} BusyPiece;

/* A plane with work. Its gaps are between its pieces. */
typedef struct {
    Plane *plane;
    LIST(BusyPiece) pieces; /* by start */
} PlaneGaps;

typedef struct {
    PlaneGaps *planes; /* in file order */
    size_t n_planes;
} Gaps;

/* Returns the length of the gap before a piece, which must not be the first. */
static inline uint64_t gap_before(const BusyPiece *piece)
{
    return (uint64_t)piece->start_ps - (uint64_t)piece[-1].end_ps;
}

/* Returns the gaps of all hosts, or of `only`. */
const Gaps *run_gaps(Run *run, Host *only, ProfErr *err);

#endif
