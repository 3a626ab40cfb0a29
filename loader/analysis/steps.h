// SPDX-License-Identifier: Apache-2.0
/* steps.h: what each step of a run spent its time on: XProf's step database.
 *
 * A step is what grouping calls a group (grouping.h), with the time that its markers span. Where the time goes is told per
 * core. All GPUs of a host are one core, and so are the threads of a host without devices: at any moment the most important
 * kind of activity counts (enum StepType, rising), so that types add up to the step. TensorCores tell the self time of
 * their ops by category. SparseCores tell busy from idle.
 *
 * Steps of several hosts are aligned by time, cut to those that all hosts have, and numbered anew from 0. */
#ifndef PROF_STEPS_H
#define PROF_STEPS_H

#include "devices.h"
#include "op_metrics.h"

/* In rising priority. */
enum StepType {
    TIME_UNKNOWN,
    TIME_HOST_COMPUTE,
    TIME_HOST_COMPILE,
    TIME_HOST_TO_HOST,
    TIME_HOST_TO_DEVICE,
    TIME_HOST_PREPARE,
    TIME_COLLECTIVES,
    TIME_WAIT_INPUT,
    TIME_DEVICE_TO_DEVICE,
    TIME_DEVICE_TO_HOST,
    TIME_COMPUTE_32,
    TIME_COMPUTE_16,
    TIME_WAIT_DEVICE, /* no profile of today has this one and the next */
    TIME_WAIT_HOST,
    N_STEP_TYPES,
};
extern const char *const step_type_names[N_STEP_TYPES]; /* as XProf spells them: UNKNOWN_TIME, ... */

/* What XProf shows steps by: categories 1 to 9 of its pages, in their order. */
enum StepCategory {
    STEP_DEVICE_COMPUTE,
    STEP_DEVICE_TO_DEVICE,
    STEP_COLLECTIVES,
    STEP_HOST_COMPUTE,
    STEP_KERNEL_LAUNCH,
    STEP_INPUT,
    STEP_OUTPUT,
    STEP_COMPILATION,
    STEP_ALL_OTHERS,
    N_STEP_CATEGORIES,
};
extern const char *const step_category_names[N_STEP_CATEGORIES]; /* "Device compute", ... */

/* Numbers of SparseCores; a TensorCore of such a number is one too where XProf sums the ops of a step. */
enum { SPARSECORE_IDS = 1000000 };

enum StepCoreKind { STEP_CORE_GENERIC, STEP_CORE_TENSOR, STEP_CORE_SPARSE };

typedef struct {
    const Text *category; /* of an HLO op; IDLE: none ran */
    uint64_t ps;
} StepShare;

/* A step on one core. Times count from the session start of the core's host. */
typedef struct {
    uint32_t core_id; /* 1: all of the host's GPUs, or its threads; a TPU core's id; several hosts: + 1000 x the host's place in the run */
    enum StepCoreKind kind;
    const Host *host;
    const Plane *plane; /* of a TPU core, else NULL */
    uint64_t begin_ps, duration_ps;
    /* generic: by enum StepType; a type is there when its bit in `types` is set, even with 0 */
    const uint64_t *type_ps; /* NULL: XProf does not know the step */
    unsigned types;
    /* the same with the host's threads, with copies known by every name that profilers give them and with compiling; NULL: as type_ps. Of a
     * TensorCore what it did while the step lasted; NULL: as shares */
    const uint64_t *actual_ps;
    bool has_threads; /* what host threads did is recorded */
    /* TensorCore: by category, in order of the categories' names, as XProf's step database has it */
    const StepShare *shares;
    size_t n_shares;
    uint64_t total_ps; /* the step's duration, or the ops' self times if those are longer */
    uint64_t input_ps; /* how much of IDLE XProf takes for waiting for input, as the host says: moved from IDLE to infeed */
    uint64_t busy_ps;  /* SparseCore */
} StepCore;

enum StepTransfer { TRANSFER_HOST_TO_DEVICE, TRANSFER_DEVICE_TO_HOST, TRANSFER_DEVICE_TO_DEVICE, N_STEP_TRANSFERS };
typedef struct {
    uint64_t count, ps, bytes; /* bytes: 0 where the profiler does not say */
} StepTransfers;

/* A step of one host. */
enum StepDrop {
    STEP_KEPT,
    STEP_NO_MARKER,        /* nothing says how long it was */
    STEP_NO_EVENTS,        /* a marker, but nothing ran in it (on one of the cores) */
    STEP_NO_TIME,          /* its markers span nothing */
    STEP_NO_COMPUTE,       /* nothing computed in it */
    STEP_OUTSIDE_XPROF,    /* marked as frameworks do that XProf does not know */
    STEP_NOT_ON_ALL_CORES, /* of a TPU */
    STEP_FIRST_OR_LAST,    /* of more than five: may be incomplete. XProf's pod viewer has it all the same */
};
/* Ops of one kind in one step, of all of a host's TensorCores together. */
typedef struct StepOpRecord {
    uint32_t op, occurrences; /* op: index in HostSteps.ops */
    uint64_t time_ps;
} StepOpRecord;
typedef struct HostStep {
    int64_t group;    /* -1: none */
    const char *name; /* NULL: none */
    uint32_t number;  /* STEP_OUTSIDE_XPROF: as its framework counts, from 0 where it does not */
    uint64_t begin_ps, duration_ps;
    uint64_t range_begin_ps, range_ps; /* its longest marker on host threads */
    bool has_range;
    enum StepDrop dropped;
    StepCore *cores; /* as of its host alone */
    size_t n_cores;
    StepTransfers transfers[N_STEP_TRANSFERS];
    uint64_t n_collectives;
    uint64_t xprof_all_reduce_ps; /* the most of any device: ops of a TPU that name an all-reduce; of GPUs all collectives, less their lines' begin: wraps */
    bool host_spoke;              /* host threads have events in it */
    uint64_t host_input_ps;       /* host threads that wait for input or copy it to the device, overlaps counted twice */
    const StepOpRecord *ops;      /* of a TPU's */
    size_t n_ops;
} HostStep;

typedef struct {
    Host *host;
    bool has_device, is_tpu;
    HostStep *steps; /* by group; those of no group last */
    size_t n_steps, step_capacity;
    uint64_t compute_16bit_ps, compute_32bit_ps; /* of GPUs: all groups, also those that are no steps */
    uint64_t compute_16bit_ps_actual, compute_32bit_ps_actual;
    OpMetricsDb ops;      /* what one occurrence of a TPU op costs, by no key */
    bool has_infeed;      /* an op brings input: idle time is not attributed to it */
    Arena arena, *arenas; /* arenas: of what was made side by side */
    size_t n_arenas;
    OpStats *texts; /* owns texts */
} HostSteps;

typedef struct {
    uint32_t number;                /* XProf's: the group, or counted from 0 where hosts are merged */
    const char *name;               /* NULL: none */
    uint64_t begin_ps, duration_ps; /* of its longest core that is no SparseCore */
    StepCore *cores;                /* by core_id */
    size_t n_cores;
    uint64_t xprof_all_reduce_ps;    /* the most of its hosts */
    const HostStep *const *of_hosts; /* one each of the db's hosts */
    bool dropped;                    /* of run_all_steps(): run_steps() does not have it */
    bool outside_xprof;              /* of run_marked_steps(): cores have actual_ps alone */
    int64_t kept_number;             /* its number in run_steps(), -1: not there */
} Step;

typedef struct {
    Step *steps; /* by number */
    size_t n_steps;
    const HostSteps **hosts; /* those whose steps count: without devices, hosts do not where others have some */
    uint32_t *host_places;   /* their places in the run, for core ids */
    size_t n_hosts;
    enum Hardware hardware;
    bool merged;             /* steps of several hosts: XProf numbers them anew */
    bool drops_ends;         /* a host has more steps, which XProf drops as incomplete */
    bool empty_intersect;    /* hosts have steps, but none in common */
    bool has_complete_steps; /* XProf has a database of the ops of complete steps, if an empty one */
    uint64_t compute_16bit_ps, compute_32bit_ps, compute_16bit_ps_actual, compute_32bit_ps_actual;
    Arena arena;
} StepDb;

/* XProf's step database of all hosts together or of one: what its overview, input pipeline and roofline show. Lives as long
 * as the run. NULL with err set. */
const StepDb *run_steps(Run *run, Host *only, ProfErr *err);
/* The same with the steps that XProf drops there as incomplete: what its pod viewer shows. */
const StepDb *run_all_steps(Run *run, Host *only, ProfErr *err);
/* The steps that XProf does not know (STEP_OUTSIDE_XPROF), where hosts have none that it knows: what went on in their time. */
const StepDb *run_marked_steps(Run *run, Host *only, ProfErr *err);
/* run_marked_steps() if run_all_steps() has none. NULL: it has some, or err is set. */
const StepDb *run_outside_steps(Run *run, Host *only, ProfErr *err);
/* The steps of the table steps: those outside XProf if there are some. A single host shows the steps that XProf drops as well; merged ones have
 * numbers of their own. NULL with err set. */
const StepDb *run_shown_steps(Run *run, Host *only, ProfErr *err);
/* run_steps() for who asks only which steps there are, when, and for their ops. Of hosts with GPUs that is sooner made: threads are not read.
 * Their steps have no names of their own, no times by type, and nothing of what copies, collectives and hosts did. */
const StepDb *run_step_outlines(Run *run, Host *only, ProfErr *err);
/* Of one host: every group with steps or events, and why some are no steps. */
const HostSteps *host_steps(Host *host, ProfErr *err);
/* For who needs both run_op_stats() and the steps of all hosts, of_host() of each: makes them host by host, so that the events of a run opened
 * by_host are read once. With `only` there is nothing to do. */
int run_ops_and_steps(Run *run, Host *only, const HostSteps *(*of_host)(Host *host, ProfErr *err), ProfErr *err);
/* host_steps() as run_step_outlines() has it: without steps that threads alone tell of. Says nothing in the host's issues. */
const HostSteps *host_step_outlines(Host *host, ProfErr *err);
/* Whether that is sooner made: of a host with GPUs, host_steps() of which is not made yet. */
bool has_step_outlines(Host *host);

/* ps of a core in XProf's nine categories; zeros for SparseCores. */
void step_categories(const StepCore *core, uint64_t ps[N_STEP_CATEGORIES]);
/* The same from actual_ps. Compiling is known of cores that have threads, and not of TPUs. */
void step_actual_categories(const StepCore *core, uint64_t ps[N_STEP_CATEGORIES]);
bool step_tells_compiling(const StepCore *core);
/* The largest; of equal ones the last by name, as XProf has it. */
enum StepCategory step_bottleneck(const uint64_t ps[N_STEP_CATEGORIES]);
enum StepCategory hlo_step_category(const Text *category);
/* ps of a category of a TensorCore, 0 when it has none. */
uint64_t step_share(const StepCore *core, const char *category);

/* A TensorCore's step as XProf's TpuStepBreakdown has it. */
typedef struct {
    uint64_t infeed_ps, host_outfeed_ps, wait_for_scv0_ps, scv0_transform_ps, scv0_outfeed_ps, all_reduce_ps, send_ps, recv_ps, host_send_ps, host_recv_ps,
        megacore_wait_ps, high_flops_ps, tc_idle_ps, tc_busy_ps; /* tc_idle, tc_busy: differences, which wrap as XProf's */
} TensorCoreStep;
TensorCoreStep tensorcore_step(const StepCore *core);
/* XProf's times of a step over its TensorCores, in ps; all 0 without one. */
typedef struct {
    uint64_t tc_compute_ps, tc_infeed_ps, tc_outfeed_ps, tc_idle_ps, host_transfer_ps, all_reduce_ps, scv0_compute_ps, scv0_infeed_ps;
    double tc_idle_ms;          /* tc_idle_ps in XProf's own arithmetic: a difference of times in ms */
    const StepCore *max_infeed; /* NULL: none */
    double infeed_percent_average, infeed_percent_min, infeed_percent_max;
    uint64_t tc_active_ps;                          /* time on duty, on average of the TensorCores */
    uint64_t sc_step_ps, sc_compute_ps, sc_idle_ps; /* of SparseCores */
    size_t n_tensorcores, n_sparsecores;
} TpuStep;
TpuStep tpu_step(const Step *step);

/* Over steps, as XProf's summaries: sample deviation; all 0 without values, and 0 where all are equal. */
typedef struct {
    double average, minimum, maximum, deviation;
    double xprof_maximum, xprof_deviation; /* what XProf makes of zeros: the smallest double, and NaN for a single 0 */
} StepSummary;
StepSummary step_summary(const double *values, size_t n);

#endif
