// SPDX-License-Identifier: Apache-2.0
/* kernels.h: what the kernels of a run sum to, as XProf's kernel stats tool has it, and as it is.
 *
 * A kernel is an event of a device plane with kernel_details and a duration. Kernels of one host with the same name, launch,
 * op and tensor core flags are one report; hosts are not merged. */
#ifndef PROF_KERNELS_H
#define PROF_KERNELS_H

#include "../run.h"
#include "kernel_names.h"

/* What is known of a kernel beside what XProf says; cleared where the kernels of a report differ. */
enum { KERNEL_OP_NAME = 32 }; /* behind the bits of enum LaunchFact */

typedef struct {
    const Host *host;
    const Text *name, *op_name; /* op_name: empty when XProf knows none */
    KernelLaunch launch;        /* as XProf reads it; occupancy of the first of the kernels, may be NaN */
    bool uses_tensorcore, eligible;
    uint64_t occurrences, total_ns, min_ns, max_ns;
    /* as it is: launch.known tells which facts are known and the same for all, with KERNEL_OP_NAME */
    KernelLaunch actual;
    const Text *actual_op_name;
    bool actual_uses_tensorcore, actual_eligible;
    const void *op; /* while reports are made: the instruction or the op's name */
    bool is_helper; /* of by_op: beside a kernel of the same op on tensor cores */
} KernelReport;

enum { XPROF_KERNELS = 1000 }; /* what XProf keeps: the first of all */

typedef struct KernelOp KernelOp;
typedef struct {
    const KernelReport *reports; /* of all hosts, in XProf's order: the longest total first */
    size_t n_reports;
    const KernelReport *by_op; /* the same kernels by name and actual op alone: op_name and both flags are the actual ones, launches are empty */
    size_t n_by_op;
    const KernelOp *ops; /* by op name: for kernel_tensorcore_utilization() */
    size_t n_ops;
    Arena arena;
    TextTable texts;
} KernelStats;

/* Of all hosts, or of one. Lives as long as the run. NULL with err set. */
const KernelStats *run_kernel_stats(Run *run, Host *only, ProfErr *err);
/* Share of an op's kernel time that is in kernels on tensor cores, by the reports that XProf keeps; 0 where it
 * has no kernel among them. */
double kernel_tensorcore_utilization(const KernelStats *stats, const char *op_name);
/* Could one of these kernels use tensor cores? */
bool kernel_op_is_eligible(const KernelStats *stats, const char *op_name);
/* The share of all its kernels, by what they really run on; -1 where it has none. */
double kernel_tensorcore_utilization_actual(const KernelStats *stats, const char *op_name);

#endif
