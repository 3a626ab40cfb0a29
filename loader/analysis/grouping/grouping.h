// SPDX-License-Identifier: Apache-2.0
/* grouping.h: the group (step) that each event belongs to, by XProf's rules for the events of one
 * host.
 *
 * XProf builds a forest of the host's events. The parent of an event is the event that includes it
 * on its line; of a kernel, also the launch with its correlation id; of a consumer, its producers.
 * Root events (step annotations, loop iterations) open groups, numbered from 0, which all their
 * descendants join. Then groups spread on devices: a TPU's events join the group of the step that
 * they overlap, and a GPU's ungrouped event joins the group of the grouped event before it. A file
 * that was already grouped when it was written keeps its numbers.
 *
 * Before grouping, XProf adds to old files what their events lack: a Region for each StartRegion
 * and StopRegion of a thread pool, and stats that connect producers with consumers. After grouping,
 * it merges consecutive steps of one group on a TPU. */
#ifndef PROF_GROUPING_H
#define PROF_GROUPING_H

#include "../../run.h"

enum GroupedBy {
    GROUPED_BY_FILE, /* the file already contains group ids, as stats */
    GROUPED_HERE,    /* the groups were computed by the rules above */
    /* the file has TensorFlow loop ops on its devices, so XProf does not group it */
    GROUPED_BY_NOTHING,
};

/* A group, usually a step. */
typedef struct {
    const char *name; /* for example "train 12"; NULL: no name */
    uint64_t root;    /* ordinal of the event that opened the group; UINT64_MAX: none did */
    /* The root has the name as its stat step_name. False for roots that are functions or loops,
     * which do not mark steps themselves. */
    bool explicit;
    /* Ids of the groups whose events are parents of this group's events, and of the groups whose
     * events are children of them; ascending. */
    const int64_t *parents, *children;
    size_t n_parents, n_children;
} Group;

/* A thread pool's region, an event that XProf adds to a line. */
typedef struct {
    int64_t start_ps, end_ps, group; /* group: -1 if none */
} Region;

/* A step of a TPU's Steps line after XProf merged consecutive events of one group. */
typedef struct {
    uint64_t event; /* first of the merged events; its stats and name count */
    int64_t start_ps, duration_ps, group, idle_ps;
    int64_t device_start_ps, device_duration_ps; /* INT64_MIN if unknown */
    bool extended;                               /* more than one event was merged */
} MergedStep;

/* What grouping did to a line. Each Packed pointer is an array with one column per chunk of the
 * line, whose values are -1 where the event has none. The pointer is NULL if no event of the line
 * has a value. */
typedef struct {
    const Packed *groups, *eager; /* group and is_eager of each event */
    /* The groups by which events belong to steps, where these differ from `groups`: if an event of
     * a host or GPU has several stats group_id, the last, and on a TPU the event's own group. NULL:
     * no event has another. See step_groups(). */
    const Packed *of_steps;
    /* For a TPU's grouping line that is not a step line: the groups of its events in the file. */
    const Packed *own;
    /* Above 0 where a value of `groups` or `eager` is the file's own stat, unchanged. NULL if none
     * is. */
    const Packed *groups_of_file, *eager_of_file;
    const Region *regions; /* by start, longer ones first */
    size_t n_regions;
    bool merged; /* a Steps line: read `steps` instead of its events */
    const MergedStep *steps;
    size_t n_steps;
} LineGroups;
/* Returns the value of the i-th event of a line in one of these columns; -1 for a NULL column. */
static inline int64_t packed_nth(const Packed *column, uint64_t i)
{
    return column ? packed_at(&column[i / CHUNK_EVENTS], (size_t)(i % CHUNK_EVENTS)) : -1;
}

/* The groups of a host. */
typedef struct {
    Host *host;
    enum GroupedBy by;
    const Group *groups; /* by id; empty unless `by` is GROUPED_HERE */
    size_t n_groups;
    const LineGroups *lines; /* in the order of host->lines */
    uint64_t n_held;         /* bytes of memory */
} Grouping;

/* Returns the grouping of one host, computed on first use. */
const Grouping *host_grouping(Host *host, ProfErr *err);
/* Returns the grouping that XProf's Events DB uses, for any file: only by the stats that the file
 * has, without regions. Steps of TPUs are neither merged nor passed on to other events. */
const Grouping *host_plain_grouping(Host *host, ProfErr *err);
/* Returns the group of an event, by its ordinal in the run; -1 if it has none. If grouping did not
 * set one, it is the file's own stat group_id. */
int64_t event_group(const Grouping *grouping, uint64_t event);
/* Like event_group(), but the group by which the event belongs to a step, see step_groups(). */
int64_t event_step_group(const Grouping *grouping, uint64_t event);
/* Returns the group that the i-th event of the line has in the file, for the line that groups a
 * TPU's events; -1 if none. XProf's tools that derive no lines use it. */
int64_t line_own_group(const Line *line, const LineGroups *groups, uint64_t i);
/* Returns the group that the i-th event of a line has in the file, even if grouping set another; -1
 * if none. */
int64_t line_file_group(const Line *line, uint64_t i);
/* Like line_file_group(), for rules where XProf reads an int64: 0 if the stat has another type. */
int64_t line_signed_file_group(const Line *line, uint64_t i);
/* Returns is_eager of an event: 0 or 1; -1 if XProf gives it neither. */
int event_eager(const Grouping *grouping, uint64_t event);
/* Returns the name of a group; NULL if it has none. */
const char *group_name(const Grouping *grouping, int64_t group);
/* Returns the column of groups that XProf's steps use: the last group_id of each event, but on TPUs
 * the first. NULL if no event has a group. */
static inline const Packed *step_groups(const LineGroups *groups)
{
    return groups->of_steps ? groups->of_steps : groups->groups;
}
static inline const LineGroups *line_groups(const Grouping *grouping, const Line *line)
{
    return &grouping->lines[line - grouping->host->lines];
}

#endif
