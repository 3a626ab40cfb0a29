// SPDX-License-Identifier: Apache-2.0
/* step_tpu.h: TensorCores as step_tpu.c makes steps of them, and the reading of their lines in step_tpu_lines.c; see step_parts.h. */
#ifndef PROF_STEP_TPU_H
#define PROF_STEP_TPU_H

#include "step_parts.h"

/* Events of one metadata in one run. */
typedef struct {
    uint32_t meta, occurrences;
    uint64_t time_ps, self_ps;
} Record;

/* Ops of a line that follow each other, all of one group. */
typedef struct {
    uint32_t group, n;
    uint32_t next; /* of the group's on this line, + 1; 0: none */
    Record *records;
} GroupRun;

/* Where a record is: of which run, + 1; 0: nowhere, for no step can have the op. */
typedef struct {
    uint32_t run, at;
} RecordAt;

typedef struct OpenEvent OpenEvent;

/* A line of ops or of steps. */
typedef struct {
    struct Core *core;
    Line *line;
    bool is_steps;
    GroupRun *runs;
    size_t n_runs, run_capacity;
    Record *in_hand; /* of the last run */
    size_t n_in_hand, in_hand_capacity;
    RecordAt *last; /* of each metadata: its latest record */
    OpenEvent *open;
    size_t n_open, open_capacity;
    LineMarker *markers;
    size_t n_markers, marker_capacity;
    Arena arena; /* of records */
} CoreLine;

/* What a core has of a group. */
typedef struct {
    int64_t group;
    Marker marker;
    uint64_t all_reduce_ps; /* ops that name the all-reduce they are part of */
    uint32_t first_run;     /* on the line of ops, + 1; 0: none */
    bool has_events;
} CoreGroup;

typedef struct Core {
    Plane *plane;
    StatFilter filter;
    uint32_t *op_of;   /* of each metadata: its op, + 1; 0: none */
    uint32_t *twin_of; /* of each metadata: the first of the same program and symbol, + 1; 0: no other has them; NULL: all */
    bool *used;        /* events have the metadata */
    CoreGroup *groups; /* those alone that it has: there may be as many cores as groups */
    size_t n_groups, group_capacity, latest;
    IdTable group_ids;
    const CoreLine *ops; /* NULL: there is no such line */
    bool is_last;        /* XProf tells cores by a number: of several of one that have steps the last counts */
} Core;

typedef struct {
    StepBuild *build;
    bool sorted; /* XProf sorts lines of files that it groups */
    Core *cores;
    size_t n_cores;
    CoreLine *lines, **step_lines, **op_lines; /* all; those of steps and of ops */
    size_t n_lines, n_step_lines, n_op_lines;
    bool *marked; /* groups: a core has a marker. Ops of others are in no step */
    bool any_marked;
    uint32_t *counted;        /* of each group: in how many cores it stands */
    uint64_t *all_reduce_ps;  /* of each group: of the core that has most */
    uint32_t *step_in, round; /* of each group: the last round that left it a step; the last of all */
    Core **stepping;          /* cores that have steps, in order: all of them have all steps */
    size_t n_stepping;
    bool few_sparsecores;    /* so that steps can have them all */
    uint32_t *category_of;   /* of each op */
    const Text **categories; /* by name */
    size_t n_categories;
    uint32_t idle; /* category */
    const Text *infeed;
    size_t n_twins; /* the most metadata of a core with twins */
} Tpu;

/* What a core has of a group; NULL: nothing. */
const CoreGroup *core_group(const Core *core, uint32_t group);
/* Finds the cores and their lines; freed by the caller even on failure. */
int tpu_find_lines(Tpu *t, ProfErr *err);
/* Reads them: groups, markers and runs of the cores; facts of the groups. */
int tpu_read_lines(Tpu *t, ProfErr *err);

#endif
