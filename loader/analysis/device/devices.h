// SPDX-License-Identifier: Apache-2.0
/* devices.h: what the devices of a run can do: peak rates, memories, and the figures that XProf
 * uses.
 *
 * A GPU's peaks follow from its clock, its core count and the tables of its generation. A TPU's are
 * stored in the file. Rates of a Device are per second, in FLOP or bytes; PerfEnv has XProf's
 * figures in XProf's units. */
#ifndef PROF_DEVICES_H
#define PROF_DEVICES_H

#include "../../run.h"

/* Memories, in the order of XProf's vector of bandwidths. On a GPU, SRAM is shared memory and L1
 * cache. */
enum Memory {
    MEMORY_HBM,
    MEMORY_SRAM_READ,
    MEMORY_SRAM_WRITE,
    MEMORY_CMEM_READ,
    MEMORY_CMEM_WRITE,
    MEMORY_VMEM_READ,
    MEMORY_VMEM_WRITE,
    N_MEMORIES
};

/* A plane of one GPU, TensorCore or SparseCore. If unknown, texts are NULL, integers -1 and rates
 * NAN. */
typedef struct {
    const Plane *plane;
    const Text *type; /* model: "Nvidia GPU (Ampere)", "TPU v4", ... */
    const Text *vendor;
    const Text *uuid; /* of a GPU, whatever the process names it */
    int64_t core_count, clock_khz, memory_bytes, compute_major, compute_minor;
    double peak_flops;             /* FLOP/s */
    double peak_bytes[N_MEMORIES]; /* bytes/s */
    int megacore, merged_vmem;     /* 0 or 1 */
    /* From the stat core_details: */
    const Text *core_hostname;
    int64_t device_ordinal, core_num, local_chip_id, global_chip_id, global_core_id;
} Device;

enum Hardware { HARDWARE_UNKNOWN, HARDWARE_CPU, HARDWARE_GPU, HARDWARE_TPU };

/* What XProf computes utilizations from: the first device plane of each host, hosts combined. 0
 * means unknown, as in XProf. */
typedef struct {
    double peak_tera_flops; /* TFLOP/s of one device */
    double ridge_point;     /* FLOP/byte; may be infinite or NaN */
    /* GB/s, indexed by enum Memory; 0 beyond n_bandwidths */
    double bandwidths[9];
    int n_bandwidths;                             /* 0: no device, 3: GPU, 9: TPU */
    bool has_cmem, has_merged_vmem, has_megacore; /* lost if hosts are merged, as in XProf */
} PerfEnv;

/* The devices of a run, and the figures that XProf uses for the run. */
typedef struct {
    const Device *devices; /* of all hosts, in the order of planes */
    size_t n_devices;
    PerfEnv env;
    /* XProf's name for the run's device: "CPU" without a device, "" if a TPU's plane does not name
     * it. */
    const char *device_type;
    enum Hardware hardware;    /* the highest of all hosts */
    int64_t device_core_count; /* number of GPUs or TensorCores */
    Arena arena;
} DeviceCapabilities;

/* Returns the devices of all hosts, or of `only`. */
const DeviceCapabilities *run_devices(Run *run, Host *only, ProfErr *err);

/* Returns the device of a plane; NULL if there is none. */
const Device *device_of_plane(const DeviceCapabilities *devices, const Plane *plane);

/* Returns the peak in FLOP/s that XProf computes utilizations with, else the first that a device
 * has; 0 or NAN if unknown. */
double devices_peak_flops(const DeviceCapabilities *devices);
/* Return the peak in GFLOP/s, and in GiB/s of one memory, as XProf's formulas use them. */
static inline double peak_gflops(const DeviceCapabilities *d)
{
    return d->env.peak_tera_flops * 1e3;
}
static inline double peak_gibps(const DeviceCapabilities *d, enum Memory memory)
{
    return d->env.bandwidths[memory] / 1.073741824;
}

#endif
