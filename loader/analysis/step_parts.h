// SPDX-License-Identifier: Apache-2.0
/* step_parts.h: what the makers of a host's steps share; see steps.h.
 *
 *   step_events.c      what events of GPUs and host threads are: spans of a type, markers
 *   step_sweep.c       overlapping spans of a group into what counts at each moment
 *   step_generic.c     steps of GPUs and of hosts without devices
 *   step_tpu.c         steps of TensorCores
 *   step_tpu_times.c   what they did while each lasted
 *   step_tpu_lines.c   their lines: ops by group, and markers
 *   step_sparsecore.c  SparseCores in the steps of the TensorCores
 *   step_marked.c      steps as frameworks mark them that XProf does not group by
 *   host_steps.c       the steps of one host, put together
 *   step_merge.c       steps of several hosts
 *   steps.c            what steps are read by */
#ifndef PROF_STEP_PARTS_H
#define PROF_STEP_PARTS_H

#include "device_ops.h"
#include "span_walk.h"
#include "steps.h"

/* The groups of a host that events have, ascending: a group's number is its place. */
typedef struct {
    int64_t *ids;
    size_t n, capacity;
} GroupList;
#define NO_GROUP UINT32_MAX
/* The number of a group; *last is the one found before, NO_GROUP at first: events of a group stand together. NO_GROUP: none. */
uint32_t group_number(const GroupList *groups, int64_t id, uint32_t *last);

/* The longest marker of a group, the first of equal ones. */
typedef struct {
    uint64_t begin_ps, duration_ps;
    bool there;
} Marker;
void marker_add(Marker *marker, uint64_t begin_ps, uint64_t duration_ps);

/* What is known of each group of the host. */
typedef struct {
    Marker device, host;
    const char *name; /* that its events bear, NULL: none do */
    StepTransfers transfers[N_STEP_TRANSFERS];
    uint64_t n_collectives, host_input_ps, xprof_all_reduce_ps;
    bool host_spoke;
    bool marked;     /* TPU: a core has a marker */
    bool has_events; /* on a device, or without one on the host */
} GroupFacts;

typedef struct {
    HostSteps *steps; /* being made */
    Host *host;
    const Grouping *grouping;
    GroupList groups;
    size_t n_settled;  /* groups from which on repetitions are forgotten */
    bool is_outline;   /* of GPUs: threads are left out, and what says no more than that a step computes */
    bool by_time;      /* every event counts, as of group number 0, but marks and Python's frames: for steps that groups do not tell of */
    GroupFacts *facts; /* by number */
} StepBuild;

/* ---- spans ---- */

/* SpanRef.line: the group's number; SpanRef.at: enum StepType as XProf sees it, above it as it is, and bits. */
enum { SPAN_TYPE = 0xff, SPAN_ACTUAL_SHIFT = 8, SPAN_COUNTS = 1 << 16 /* XProf counts it */, SPAN_HOST = 1 << 17 };
static inline enum StepType span_type(const SpanRef *s) { return (enum StepType)(s->at & SPAN_TYPE); }
static inline enum StepType span_actual_type(const SpanRef *s) { return (enum StepType)(s->at >> SPAN_ACTUAL_SHIFT & SPAN_TYPE); }

/* A copy, or the name or marker that a group gets from an event. */
typedef struct {
    uint32_t group;
    bool is_step; /* of the file's own line of steps, or of the host */
    uint64_t begin_ps, duration_ps;
    const char *name;
} LineMarker;
typedef struct {
    uint32_t group;
    enum StepTransfer kind;
    StepTransfers what;
} LineTransfer;

/* What a line says of steps. */
typedef struct {
    SpanRef *spans; /* of grouped events, in stored order */
    size_t n, capacity;
    LineMarker *markers;
    size_t n_markers, marker_capacity;
    LineTransfer *transfers; /* summed over events in a row */
    size_t n_transfers, transfer_capacity;
} LineSpans;
void line_spans_free(LineSpans *spans);

/* What a GPU's event is by its name: a copy, a collective, or a computation (TIME_COMPUTE_32). */
enum StepType gpu_event_type(const Text *name);
/* Each reads lines on all processors; spans are freed by the caller. Those of all GPUs: spans as host->lines. Those of a plane: one a line. */
int read_gpu_planes(StepBuild *build, LineSpans *spans, ProfErr *err);
int read_host_plane(StepBuild *build, Plane *plane, bool has_device, LineSpans *spans, ProfErr *err);

/* How important an actual type is: as XProf orders types, but launching kernels comes after compiling and copying. A launch call, or the executor
 * that makes them, goes on while a copy to the device is awaited or a program compiled for it. */
unsigned actual_rank(enum StepType type);

/* Spans of one group into the time of each type: what counts is the most important type at each moment. */
typedef struct {
    uint64_t type_ps[N_STEP_TYPES]; /* inside the step */
    uint64_t all_ps[N_STEP_TYPES];  /* wherever */
    unsigned types;                 /* bits: which occur */
} SweepResult;
/* actual: by the actual types, host spans included; else those that XProf counts. */
int step_sweep(const SpanRef *spans, size_t n, bool actual, uint64_t begin_ps, uint64_t duration_ps, SweepResult *result, ProfErr *err);

/* Spans of whichever groups into what counts while each of many steps lasts, by the actual types: N_STEP_TYPES a step in type_ps.
 * Steps may overlap each other. */
int step_sweep_by_time(const SpanRef *spans, size_t n, const Marker *steps, size_t n_steps, uint64_t *type_ps, ProfErr *err);

/* ---- parts ---- */

/* An event with which Keras 3 marks a step, though not as XProf groups. */
bool is_foreign_step(Slice name);

/* Each adds its steps to build->steps. */
int generic_steps(StepBuild *build, ProfErr *err);
int tpu_steps(StepBuild *build, ProfErr *err);
/* Adds steps that XProf does not know: with what went on in their time where it knows no others (TPUs aside). */
int marked_steps(StepBuild *build, ProfErr *err);
/* Adds actual_ps to the cores of TensorCores' steps. */
int tensorcore_times(StepBuild *build, ProfErr *err);
/* Adds the SparseCores to the steps that the TensorCores have. */
int sparsecore_steps(StepBuild *build, ProfErr *err);

/* A step for the group, with room for its cores; NULL: no memory. */
HostStep *add_host_step(StepBuild *build, uint32_t group, size_t n_cores);
static inline int64_t nth_of(const Packed *packed, uint64_t nth) { return packed ? packed_at(&packed[nth / CHUNK_EVENTS], (size_t)(nth % CHUNK_EVENTS)) : -1; }
/* Group of the nth event of a line, -1: none. */
static inline int64_t nth_group(const LineGroups *groups, uint64_t nth) { return nth_of(groups->last ? groups->last : groups->groups, nth); }

#endif
