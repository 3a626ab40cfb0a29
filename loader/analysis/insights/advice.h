// SPDX-License-Identifier: Apache-2.0
/* advice.h: the findings and rules that apply to a run, with their numbers. The sentences for them
 * are in ext/sentences.c. */
#ifndef PROF_ADVICE_H
#define PROF_ADVICE_H

#include "findings.h"

/* What the fields of an Advice contain for each kind. Percentages are of time. */
enum AdviceKind {
    ADVICE_FINDING,             /* finding */
    ADVICE_PRECISION_16BIT,     /* percent: 16-bit numbers, of the devices' compute time */
    ADVICE_TF_FUNCTION,         /* name: function; percent: tracing and eager calls, of its time */
    ADVICE_EAGER_HOST,          /* percent: eager execution, of the host's op time */
    ADVICE_EAGER_DEVICE,        /* percent: eager execution, of the devices' op time */
    ADVICE_OUTSIDE_COMPILATION, /* percent: such ops, of the devices' op time */
    ADVICE_DEVICE_IDLE,         /* percent: idle, of the devices' spans; count: devices with work */
    ADVICE_COMPILATION,         /* compiling */
    /* Rules of XProf's smart suggestions. XProf applies only the first one, although it contains
       the others. */
    RULE_BARRIER_CORES,   /* percent: waiting at barriers, of the cores' steps */
    RULE_STRAGGLER,       /* percent: median over hosts of that; hosts: those far from it */
    RULE_COLLECTIVES,     /* percent: collectives, of the devices' time */
    RULE_COMPUTE,         /* percent: utilization of matrix units; other_percent: of HBM */
    RULE_MEMORY,          /* percent: utilization of HBM; other_percent: of matrix units */
    RULE_DATA_SHUFFLE,    /* percent: data movement, of the devices' time */
    RULE_OFFLOAD,         /* percent: waiting, of TensorCores' time; other_percent: use of HBM */
    RULE_SPARSECORE,      /* percent: SparseCores busy, of the steps */
    RULE_TENSORCORE_IDLE, /* percent: TensorCores idle, of the steps */
    RULE_DATA_TRANSFER,   /* percent: steps wait for input; other_percent: sending data to the
                             device, of the host's input time */
    RULE_HOST_PROCESSING, /* percent: steps wait for input; other_percent: reading and
                             preprocessing, of the host's input time */
    RULE_INPUT,           /* percent: steps wait for input */
    RULE_DEBUG_PRINT,     /* name: host; percent: debug prints, of its cores' steps */
    N_ADVICE_KINDS
};

typedef struct {
    const Host *host;
    double percent;
} HostShare;

typedef struct {
    enum AdviceKind kind;
    enum Finding finding;
    double percent, other_percent;
    const char *name;
    size_t count; /* number of devices, or of hosts */
    const HostShare *hosts;
} Advice;

/* Programs that were compiled during steps. */
typedef struct {
    size_t n_compiling, n_steps; /* steps with compilations, and all steps */
    double total_ms, percent;    /* percent: of the steps' time */
    double longest_start_ms, longest_ms;
} CompilingSteps;

typedef struct {
    const Advice *advices; /* findings, then rules */
    size_t n;
    const InputAnalysis *input;
    CompilingSteps compiling;
    Arena arena;
} AdviceList;

/* Returns what applies to all hosts, or to `only`. */
const AdviceList *run_advice(Run *run, Host *only, ProfErr *err);

/* A list while it is built; for advice.c and suggestions.c. */
typedef struct {
    AdviceList *list;
    Advice *advices;
    Run *run;
    Host *only;
    ProfErr *err;
} AdviceBuild;
enum { MAX_ADVICES = 32 };
void advice_add(AdviceBuild *b, Advice advice);
/* Adds the rules of XProf's smart suggestions that apply. A rule does not apply if the profile
 * lacks its input. */
void add_suggestions(AdviceBuild *b, const OpStats *stats);

#endif
