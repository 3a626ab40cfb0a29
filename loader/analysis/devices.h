// SPDX-License-Identifier: Apache-2.0
/* devices.h: what the devices of a run can do: peak rates, memories, and what XProf takes for them.
 *
 * A GPU's peaks follow from its clock, its core count and the tables of its generation; a TPU's stand in the file. Rates of
 * a Device are in units of one a second; PerfEnv holds XProf's own figures in XProf's units. */
#ifndef PROF_DEVICES_H
#define PROF_DEVICES_H

#include "../run.h"

/* Memories, in the order of XProf's vector of bandwidths. On a GPU the SRAM is the shared memory and first-level cache. */
enum Memory { MEMORY_HBM, MEMORY_SRAM_READ, MEMORY_SRAM_WRITE, MEMORY_CMEM_READ, MEMORY_CMEM_WRITE, MEMORY_VMEM_READ, MEMORY_VMEM_WRITE, N_MEMORIES };

/* A plane of one GPU, TensorCore or SparseCore. Unknown: NULL for texts, -1 for integers, NAN for rates. */
typedef struct {
    const Plane *plane;
    const Text *type; /* the model: "Nvidia GPU (Ampere)", "TPU v4", ... */
    const Text *vendor;
    int64_t core_count, clock_khz, memory_bytes, compute_major, compute_minor;
    double peak_flops;             /* FLOP/s */
    double peak_bytes[N_MEMORIES]; /* bytes/s */
    int megacore, merged_vmem;     /* 0 or 1 */
    /* the stat core_details */
    const Text *core_hostname;
    int64_t device_ordinal, core_num, local_chip_id, global_chip_id, global_core_id;
} Device;

enum Hardware { HARDWARE_UNKNOWN, HARDWARE_CPU, HARDWARE_GPU, HARDWARE_TPU };

/* What XProf computes utilizations with: the first device plane of each host, hosts combined. 0 is XProf's unknown. */
typedef struct {
    double peak_tera_flops;                       /* TFLOP/s of one device */
    double ridge_point;                           /* FLOP/byte; may be infinite or NaN */
    double bandwidths[9];                         /* GB/s, indexed by enum Memory; 0 beyond n_bandwidths */
    int n_bandwidths;                             /* 0: no device, 3: GPU, 9: TPU */
    bool has_cmem, has_merged_vmem, has_megacore; /* lost where hosts are merged, as in XProf */
} PerfEnv;

typedef struct {
    const Device *devices; /* of all hosts, in order of their planes */
    size_t n_devices;
    PerfEnv env;
    const char *device_type;   /* as XProf names the run's: "CPU" without a device, "" where a TPU's plane does not say */
    enum Hardware hardware;    /* the highest of the hosts' */
    int64_t device_core_count; /* GPUs, or TensorCores */
    Arena arena;
} DeviceCapabilities;

/* Of all hosts, or of one. Lives as long as the run. NULL with err set. */
const DeviceCapabilities *run_devices(Run *run, Host *only, ProfErr *err);

/* GFLOP/s, and GiB/s of one memory, as XProf's formulas take them. */
static inline double peak_gflops(const DeviceCapabilities *d) { return d->env.peak_tera_flops * 1e3; }
static inline double peak_gibps(const DeviceCapabilities *d, enum Memory memory) { return d->env.bandwidths[memory] / 1.073741824; }

#endif
