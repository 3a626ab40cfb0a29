// SPDX-License-Identifier: Apache-2.0
/* step_parts.h: internals shared by the files that build a host's steps; steps.h is the public
 * part.
 *
 *   step_events.c      classifies events of GPUs and host threads: spans of a type, markers
 *   step_sweep.c       finds the most important of overlapping spans at each moment
 *   step_generic.c     steps of GPUs and of hosts without devices
 *   step_tpu.c         steps of TensorCores
 *   step_tpu_times.c   what TensorCores did during each step
 *   step_tpu_lines.c   lines of TensorCores: ops by group, and markers
 *   step_sparsecore.c  SparseCores in the steps of the TensorCores
 *   step_marked.c      steps that frameworks mark, by which XProf does not group
 *   host_steps.c       the steps of one host, from all parts
 *   step_merge.c       steps of several hosts
 *   steps.c            functions that read steps */
#ifndef PROF_STEP_PARTS_H
#define PROF_STEP_PARTS_H

#include "../device/cover.h"
#include "../ops/device_ops.h"
#include "../../store/sorted_events.h"
#include "steps.h"

/* Ids of the groups that a host's events have, ascending. A group's number is its index here. */
typedef struct {
    int64_t *ids;
    size_t n, capacity;
} GroupList;
#define NO_GROUP UINT32_MAX
/* Returns the number of a group; NO_GROUP if it is not listed. *last is NO_GROUP at first; it keeps
 * the number that was found last, because events of a group are consecutive. */
uint32_t group_number(const GroupList *groups, int64_t id, uint32_t *last);

/* The longest marker of a group; the first of equal ones. */
typedef struct {
    uint64_t begin_ps, duration_ps;
    bool there;
} Marker;
/* Keeps the marker if it is longer than the one before. */
void marker_add(Marker *marker, uint64_t begin_ps, uint64_t duration_ps);

/* What is collected for each group of the host. */
typedef struct {
    Marker device, host;
    const char *name; /* name that its events give it; NULL: none */
    StepTransfers transfers[N_STEP_TRANSFERS];
    uint64_t n_collectives, host_input_ps, xprof_all_reduce_ps;
    bool host_spoke;
    bool marked;     /* TPU: a core has a marker */
    bool has_events; /* on a device, or on the host if it has no device */
} GroupFacts;

/* State that is shared while the steps of one host are built. */
typedef struct {
    HostSteps *steps; /* the result, being built */
    Host *host;
    const Grouping *grouping;
    GroupList groups;
    size_t n_settled; /* repetitions in `groups` are removed when there are more than this */
    /* For GPUs: does not read threads, nor what only shows that a step computes. */
    bool is_outline;
    /* Every event counts as group number 0, except marks and Python frames. For steps without
     * groups. */
    bool by_time;
    bool keeps_unknown; /* fills HostStep.unknown */
    GroupFacts *facts;  /* by group number */
} StepBuild;

/* ---- spans ---- */

/* Use of SpanRef for steps: `line` is the group's number. `at` consists of XProf's enum StepType,
 * the actual type above it, and bits: SPAN_COUNTS if XProf counts the span, SPAN_HOST if it is from
 * the host. */
enum { SPAN_TYPE = 0xff, SPAN_ACTUAL_SHIFT = 8, SPAN_COUNTS = 1 << 16, SPAN_HOST = 1 << 17 };
static inline enum StepType span_type(const SpanRef *s)
{
    return (enum StepType)(s->at & SPAN_TYPE);
}
static inline enum StepType span_actual_type(const SpanRef *s)
{
    return (enum StepType)(s->at >> SPAN_ACTUAL_SHIFT & SPAN_TYPE);
}

/* A marker or name that an event gives to a group. */
typedef struct {
    uint32_t group;
    bool is_step; /* from the file's own line of steps, or from the host */
    uint64_t begin_ps, duration_ps;
    const char *name;
} LineMarker;
/* Copies in a group. */
typedef struct {
    uint32_t group;
    enum StepTransfer kind;
    StepTransfers what;
} LineTransfer;

/* The spans, markers and transfers of a line. */
typedef struct {
    SpanRef *spans; /* spans of grouped events, in stored order */
    size_t n, capacity;
    LineMarker *markers;
    size_t n_markers, marker_capacity;
    LineTransfer *transfers; /* summed over consecutive events */
    size_t n_transfers, transfer_capacity;
} LineSpans;
void line_spans_free(LineSpans *spans);

/* Returns the type of a GPU's event by its name: a copy, a collective, or computing
 * (TIME_COMPUTE_32). */
enum StepType gpu_event_type(const Text *name);
/* Read lines on all processors. read_gpu_planes() fills spans in the order of host->lines,
 * read_host_plane() one for each line of the plane. The caller frees them. */
void read_gpu_planes(StepBuild *build, LineSpans *spans, ProfErr *err);
int read_host_plane(StepBuild *build, Plane *plane, bool has_device, LineSpans *spans,
                    ProfErr *err);

/* Returns the priority of an actual type. The order is XProf's, but launching kernels comes after
 * compiling and copying: a launch call, or the executor that makes it, continues while the host
 * waits for a copy to the device or compiles a program for it. */
unsigned actual_rank(enum StepType type);

/* Result of step_sweep(). */
typedef struct {
    uint64_t type_ps[N_STEP_TYPES]; /* within the step */
    uint64_t all_ps[N_STEP_TYPES];  /* anywhere */
    unsigned types;                 /* bits: types that occur */
} SweepResult;
/* Sums the spans of one group by type: at each moment the most important type counts. actual: by
 * actual types and including host spans; otherwise by XProf's types, with only the spans that XProf
 * counts. `unknown` gets the times within the step in which no type counts; NULL: they are not
 * wanted. */
int step_sweep(const SpanRef *spans, size_t n, bool actual, uint64_t begin_ps, uint64_t duration_ps,
               SweepResult *result, Cover *unknown, ProfErr *err);

/* Sums the times of each actual type (covers[type], which this function finishes) over each of many
 * steps, which may overlap: at each moment the most important type counts. type_ps has N_STEP_TYPES
 * values for each step. */
int step_sweep_by_time(Cover *covers, const Marker *steps, size_t n_steps, uint64_t *type_ps,
                       ProfErr *err);

/* ---- parts ---- */

/* Returns whether Keras 3 marks a step with events of this name, by which XProf does not group. */
bool is_foreign_step(Slice name);

/* Each adds its steps to build->steps. */
int generic_steps(StepBuild *build, ProfErr *err);
int tpu_steps(StepBuild *build, ProfErr *err);
/* Adds steps that XProf does not recognise. If XProf finds no other steps, they get times by type,
 * except on TPUs. */
int marked_steps(StepBuild *build, ProfErr *err);
/* Adds actual_ps to the cores of TensorCores' steps. */
void tensorcore_times(StepBuild *build, ProfErr *err);
/* Adds the SparseCores to the steps of the TensorCores. */
int sparsecore_steps(StepBuild *build, ProfErr *err);

/* Keeps the times of a step in which no activity counts. False if memory runs out. */
bool keep_unknown(StepBuild *build, HostStep *step, const Cover *unknown);
/* Adds a step for the group, with room for its cores. NULL if memory runs out. */
HostStep *add_host_step(StepBuild *build, uint32_t group, size_t n_cores);
/* Returns the group of the nth event of a line; -1 if it has none. */
static inline int64_t nth_group(const LineGroups *groups, uint64_t nth)
{
    return packed_nth(step_groups(groups), nth);
}

#endif
