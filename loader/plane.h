// SPDX-License-Identifier: Apache-2.0
/* plane.h: looks up the stats that a plane declares. */
#ifndef PROF_PLANE_H
#define PROF_PLANE_H

#include "run.h"

/* Returns the stat's metadata; NULL if the plane has none of this id. */
const StatMeta *stat_meta(const Plane *plane, int64_t id);
/* Returns the known stat of an id; STAT_UNKNOWN for others. */
enum KnownStat stat_known_by_table(const Plane *plane, int64_t id);
static inline enum KnownStat stat_known(const Plane *plane, int64_t id)
{
    return (uint64_t)id < plane->n_known_ids ? (enum KnownStat)plane->known_of_id[id]
                                             : stat_known_by_table(plane, id);
}
/* Returns whether the plane has metadata for the stat. If not, none of its events has the stat. */
bool plane_declares(const Plane *plane, enum KnownStat known);
/* Returns the text that a TYPE_REF stat refers to; empty_text if the plane does not have it. */
const Text *stat_ref_text(const Plane *plane, uint64_t ref);

#endif
