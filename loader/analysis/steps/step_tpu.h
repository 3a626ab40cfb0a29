// SPDX-License-Identifier: Apache-2.0
/* step_tpu.h: internals of step_tpu.c, which builds steps of TensorCores, and step_tpu_lines.c,
 * which reads their lines; see step_parts.h. */
#ifndef PROF_STEP_TPU_H
#define PROF_STEP_TPU_H

#include "step_parts.h"

/* Sums of the events of one metadata in one GroupRun. */
typedef struct {
    uint32_t meta, occurrences;
    uint64_t time_ps, self_ps;
} Record;

/* Consecutive ops of a line with one group. */
typedef struct {
    uint32_t group, n;
    uint32_t next; /* next run of the group on this line, + 1; 0 if none */
    Record *records;
} GroupRun;

/* Place of a metadata's latest record: the run + 1, and the index in it. run 0: no record, because
 * no step can have the op. */
typedef struct {
    uint32_t run, at;
} RecordAt;

typedef struct {
    PsSpan span;
    RecordAt record;
} OpenEvent;

/* A line of ops or of steps. */
typedef struct {
    struct Core *core;
    Line *line;
    bool is_steps;
    GroupRun *runs;
    size_t n_runs, run_capacity;
    Record *in_hand; /* records of the current run */
    size_t n_in_hand, in_hand_capacity;
    RecordAt *last; /* by metadata: place of its latest record */
    LIST(OpenEvent) open;
    LineMarker *markers;
    size_t n_markers, marker_capacity;
    Arena arena; /* for the records */
} CoreLine;

/* A group on a core. */
typedef struct {
    int64_t group;
    Marker marker;
    uint64_t all_reduce_ps; /* time of ops that name the all-reduce to which they belong */
    uint32_t first_run;     /* first run on the line of ops, + 1; 0 if none */
    bool has_events;
} CoreGroup;

/* A TensorCore. */
typedef struct Core {
    Plane *plane;
    StatFilter filter;
    uint32_t *op_of; /* by metadata: its op + 1; 0 if none */
    /* By metadata: the first with the same program and symbol, + 1; 0: no other has them. NULL if
     * all are 0. */
    uint32_t *twin_of;
    bool *used; /* by metadata: whether events use it */
    /* only the groups that it has, because there may be as many cores as groups */
    CoreGroup *groups;
    size_t n_groups, group_capacity, latest;
    HashTable group_ids;
    const CoreLine *ops; /* NULL if the core has none */
    size_t n_op_lines;
    /* XProf identifies cores by a number. If several with steps have the same one, the last
     * counts. */
    bool is_last;
} Core;

/* The TensorCores of a host, while its steps are built. */
typedef struct {
    StepBuild *build;
    bool sorted; /* XProf sorts the lines of this file, because it groups it */
    Core *cores;
    size_t n_cores;
    CoreLine *lines, **step_lines, **op_lines; /* all lines; those of steps; those of ops */
    size_t n_lines, n_step_lines, n_op_lines;
    /* By group: whether a core has a marker. Ops of other groups are in no step. */
    bool *marked;
    bool any_marked;
    uint32_t *counted;       /* by group: number of cores that have it */
    uint64_t *all_reduce_ps; /* by group: of the core with the most */
    /* step_in: by group, the last round in which it was still a step. round: the last round. */
    uint32_t *step_in, round;
    /* Cores that have steps, sorted. All of them have all steps. */
    Core **stepping;
    size_t n_stepping;
    bool few_sparsecores;    /* few enough to list all of them in each step */
    uint32_t *category_of;   /* by op */
    const Text **categories; /* by name */
    size_t n_categories;
    uint32_t idle; /* category IDLE */
    const Text *infeed;
    size_t n_twins; /* largest number of metadata with twins on a core */
} Tpu;

/* Returns a group of a core; NULL if the core does not have it. */
const CoreGroup *core_group(const Core *core, uint32_t group);
/* Finds the cores and their lines. The caller frees them, also after a failure. */
int tpu_find_lines(Tpu *t, ProfErr *err);
/* Reads the lines: groups, markers and runs of the cores, and the facts of the groups. */
int tpu_read_lines(Tpu *t, ProfErr *err);

#endif
