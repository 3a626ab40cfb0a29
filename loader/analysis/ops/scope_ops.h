// SPDX-License-Identifier: Apache-2.0
/* scope_ops.h: the time of each op of a run, by which its scopes and source lines are summed: HLO
 * ops and framework ops on devices, or on host threads if the run has no device. The rules are in
 * docs/semantics.md. */
#ifndef PROF_SCOPE_OPS_H
#define PROF_SCOPE_OPS_H

#include "../../format/hlo.h"

/* An op: of an HLO program, else of a framework, else the events of one name. */
typedef struct {
    enum PlaneKind plane_kind;
    bool has_program;
    uint64_t program_id;
    const Text *hlo_op;      /* empty if the op is not in a program */
    const Text *tf_op;       /* name of the framework op that the events record; empty if none */
    const Text *name;        /* name of the events if neither is known, and of kernels whose hlo_op
                                is no instruction, as in CUDA graphs; else empty */
    const HloModule *module; /* with the next field; NULL: the file does not have the instruction */
    const Xla__HloInstructionProto *instruction;
    uint64_t n;          /* number of events in all rows */
    uint64_t executions; /* of an op on GPUs; 0: unknown */
    bool runs_ops;       /* other ops nest in its events */
    double flops;        /* of all events; NAN if unknown */
    double n_bytes;      /* the same for bytes */
} ScopedOp;

/* The events of an op, or of one iteration of the loop around it. */
typedef struct {
    uint32_t op;
    int64_t iteration; /* -1: not in a loop, or unknown */
    uint64_t n;
    int64_t total_ps, self_ps;
} ScopedTime;

typedef struct {
    ScopedOp *ops;
    ScopedTime *rows; /* by host, longest self time first */
    size_t n_ops, n_rows;
    size_t *first; /* index of the first row of each host of the run, and one more */
    Arena arena;
} ScopeOps;

/* Returns the ops of a run, or of `only`. */
const ScopeOps *run_scope_ops(Run *run, Host *only, ProfErr *err);

#endif
