// SPDX-License-Identifier: Apache-2.0
/* event_stats.c: which stat ids of a plane an analysis wants; see event_stats.h. */
#include "event_stats.h"

int stat_filter_open(StatFilter *filter, const Plane *plane, const enum KnownStat *wanted,
                     size_t n_wanted, ProfErr *err)
{
    enum { MOST_IDS = 1 << 16 };
    *filter = (StatFilter){.plane = plane};
    for (size_t i = 0; i < n_wanted; i++) stat_set_add(&filter->wanted, wanted[i]);
    for (size_t i = 0; i < plane->n_stat_metas; i++) {
        if (!stat_filter_wants(filter, plane->stat_metas[i].known)) continue;
        filter->any = true;
        uint64_t id = (uint64_t)plane->stat_metas[i].id;
        if (id >= MOST_IDS)
            filter->large = true;
        else if (id >= filter->n_ids)
            filter->n_ids = id + 1;
    }
    filter->known_of_id = prof_alloc((size_t)filter->n_ids);
    if (!filter->known_of_id) return prof_nomem(err);
    for (size_t i = 0; i < plane->n_stat_metas; i++) {
        const StatMeta *meta = &plane->stat_metas[i];
        if ((uint64_t)meta->id < filter->n_ids && stat_filter_wants(filter, meta->known))
            filter->known_of_id[meta->id] = meta->known;
    }
    return PROF_OK;
}

void stat_filter_close(StatFilter *filter)
{
    prof_free(filter->known_of_id);
    filter->known_of_id = NULL;
}
