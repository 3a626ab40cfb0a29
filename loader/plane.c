// SPDX-License-Identifier: Apache-2.0
/* plane.c: the stats that a plane declares; see plane.h. */
#include "plane.h"

const StatMeta *stat_meta(const Plane *plane, int64_t id)
{
    int64_t i = id_find(&plane->stat_ids, plane->stat_metas, sizeof *plane->stat_metas, id);
    return i < 0 ? NULL : &plane->stat_metas[i];
}

enum KnownStat stat_known_by_table(const Plane *plane, int64_t id)
{
    const StatMeta *meta = stat_meta(plane, id);
    return meta ? (enum KnownStat)meta->known : STAT_UNKNOWN;
}

bool plane_declares(const Plane *plane, enum KnownStat known)
{
    for (size_t i = 0; i < plane->n_stat_metas; i++)
        if (plane->stat_metas[i].known == known) return true;
    return false;
}

const Text *stat_ref_text(const Plane *plane, uint64_t ref)
{
    const StatMeta *meta = stat_meta(plane, (int64_t)ref);
    return meta ? meta->name : empty_text;
}
