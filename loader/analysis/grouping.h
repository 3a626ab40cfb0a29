// SPDX-License-Identifier: Apache-2.0
/* grouping.h: which step an event belongs to, as XProf groups the events of one host.
 *
 * XProf makes a forest of the host's events: an event is a child of the one that includes it on its line, a kernel of the
 * launch with its correlation id, a consumer of its producers. Roots of it (step annotations, loop iterations) open groups,
 * numbered from 0, and give them to all that is below. Devices then hand them on: a TPU's events get the group of the step
 * that they overlap, a GPU's ungrouped events that of the grouped event before. A file that was grouped when it was written
 * keeps its own numbers.
 *
 * Before that XProf adds to old files what their events lack: a Region for each StartRegion and StopRegion of a thread pool,
 * and stats that connect producers with consumers. After it, consecutive steps of one group on a TPU are one step. */
#ifndef PROF_GROUPING_H
#define PROF_GROUPING_H

#include "../run.h"

enum GroupedBy {
    GROUPED_BY_FILE,    /* group ids are stats of the file */
    GROUPED_HERE,       /* by the rules above */
    GROUPED_BY_NOTHING, /* the file has TensorFlow loop ops on its devices, which XProf does not group */
};

typedef struct {
    const char *name; /* "train 12"; NULL: none */
    uint64_t root;    /* ordinal of the event that opened the group, UINT64_MAX: none did */
    bool explicit;    /* the root bears the name as its stat step_name; else it is one of the functions and loops that mark no steps themselves */
    const int64_t *parents, *children; /* groups whose events lead to this one's, and the reverse; ascending */
    size_t n_parents, n_children;
} Group;

/* A thread pool's region, which XProf adds to a line. */
typedef struct {
    int64_t start_ps, end_ps, group; /* group -1: none */
} Region;

/* A step of a TPU's Steps line, as XProf leaves it. */
typedef struct {
    uint64_t event; /* the first of the merged events; its stats and name stay */
    int64_t start_ps, duration_ps, group, idle_ps;
    int64_t device_start_ps, device_duration_ps; /* INT64_MIN: not known */
    bool extended;                               /* by further events */
} MergedStep;

/* What grouping did to a line. Per chunk of the line: its events' group and is_eager, -1: none; NULL: none on the line. */
typedef struct {
    const Packed *groups, *eager;
    const Packed *last; /* like groups, but of an event with several stats group_id the last, where XProf visits them all; NULL: no such event */
    const Packed *own;  /* of the line that groups a TPU's events, where it is not of steps: the groups that its events brought */
    const Packed *groups_of_file, *eager_of_file; /* above 0: the value is that of the file's own stat, as it is; NULL: none is */
    const Region *regions;                        /* in order of their start, the longer first */
    size_t n_regions;
    bool merged; /* a Steps line whose events are to be read from `steps` */
    const MergedStep *steps;
    size_t n_steps;
} LineGroups;

typedef struct {
    Host *host;
    enum GroupedBy by;
    const Group *groups; /* by id; none unless GROUPED_HERE */
    size_t n_groups;
    const LineGroups *lines; /* as host->lines */
    uint64_t n_held;         /* bytes */
} Grouping;

/* The grouping of one host file: made on first use, kept with the run. NULL: err is set. */
const Grouping *host_grouping(Host *host, ProfErr *err);
/* The grouping as XProf's Events DB has it: of any file, by the stats that the file has, without regions, and steps of TPUs are
 * neither merged nor handed on. Made and kept likewise. */
const Grouping *host_plain_grouping(Host *host, ProfErr *err);
/* Group of an event, by its ordinal in the run; -1: none. Where grouping gives none, the file's own stat group_id. */
int64_t event_group(const Grouping *grouping, uint64_t event);
/* The same by the last stat group_id of an event that has several, where XProf visits them all. */
int64_t event_last_group(const Grouping *grouping, uint64_t event);
/* The group of the i-th event of the line that groups a TPU's events, as XProf's tools have it that derive no lines; -1: none. */
int64_t line_own_group(const Line *line, const LineGroups *groups, uint64_t i);
/* The group that the i-th event of a line brought along, whatever grouping says; -1: none. */
int64_t line_file_group(const Line *line, uint64_t i);
/* The same where XProf asks for a signed number: 0 if it is written otherwise. */
int64_t line_signed_file_group(const Line *line, uint64_t i);
/* is_eager of an event: 0, 1, or -1 where XProf says neither. */
int event_eager(const Grouping *grouping, uint64_t event);
/* Name of a group; NULL: it has none. */
const char *group_name(const Grouping *grouping, int64_t group);
static inline const LineGroups *line_groups(const Grouping *grouping, const Line *line) { return &grouping->lines[line - grouping->host->lines]; }

#endif
