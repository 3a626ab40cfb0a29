// SPDX-License-Identifier: Apache-2.0
/* kernels.h: sums of the GPU kernels of a run, as in XProf's kernel stats tool, and corrected.
 *
 * A kernel is an event of a device plane with kernel_details and a duration. Kernels of one host
 * with the same name, launch, op and tensor core flags are one report. Hosts are not merged. */
#ifndef PROF_KERNELS_H
#define PROF_KERNELS_H

#include "../../run.h"
#include "kernel_names.h"

/* Bit of `actual.known` after those of enum LaunchFact. Bits are cleared if the kernels of a report
 * differ. */
enum { KERNEL_OP_NAME = 32 };

typedef struct {
    const Host *host;
    const Text *name, *op_name; /* op_name: empty if XProf has none */
    /* As XProf reads it, with the occupancy of the first kernel, which may be NaN. */
    KernelLaunch launch;
    bool uses_tensorcore, eligible;
    uint64_t occurrences, total_ns, min_ns, max_ns;
    /* Corrected values. actual.known has the values that are known and the same for all kernels,
     * and KERNEL_OP_NAME for actual_op_name. */
    KernelLaunch actual;
    const Text *actual_op_name;
    bool actual_uses_tensorcore, actual_eligible;
    const void *op; /* the instruction or the op's name; used while reports are built */
    /* In by_op: runs together with a kernel of the same op that uses tensor cores. */
    bool is_helper;
} KernelReport;

enum { XPROF_KERNELS = 1000 }; /* XProf keeps this many of the first reports */

typedef struct KernelOp KernelOp;
typedef struct {
    /* Of all hosts, in XProf's order: by total_ns, the longest first. */
    const KernelReport *reports;
    size_t n_reports;
    /* The same kernels by name and corrected op only: op_name and both flags are corrected,
     * launches are empty. */
    const KernelReport *by_op;
    size_t n_by_op;
    const KernelOp *ops; /* by op name, for kernel_tensorcore_utilization() */
    size_t n_ops;
    Arena arena;
    TextTable texts;
} KernelStats;

/* Returns the reports of all hosts, or of `only`. */
const KernelStats *run_kernel_stats(Run *run, Host *only, ProfErr *err);
/* Returns the share (0 to 1) of an op's kernel time that is in kernels on tensor cores, by the
 * reports that XProf keeps; 0 if it has no kernel among them. */
double kernel_tensorcore_utilization(const KernelStats *stats, const char *op_name);
/* Returns whether one of these kernels could use tensor cores. */
bool kernel_op_is_eligible(const KernelStats *stats, const char *op_name);
/* Like kernel_tensorcore_utilization(), but from all kernels and with the corrected flags; -1 if
 * the op has no kernel. */
double kernel_tensorcore_utilization_actual(const KernelStats *stats, const char *op_name);

#endif
