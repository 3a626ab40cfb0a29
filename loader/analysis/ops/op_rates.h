// SPDX-License-Identifier: Apache-2.0
/* op_rates.h: an op's rates, its intensities and its bottleneck, as in XProf's tables of ops. */
#ifndef PROF_OP_RATES_H
#define PROF_OP_RATES_H

#include "../device/devices.h"
#include "op_metrics.h"

/* Memories whose traffic XProf separates. */
enum Traffic {
    TRAFFIC_HBM,
    TRAFFIC_CMEM_READ,
    TRAFFIC_CMEM_WRITE,
    TRAFFIC_VMEM_READ,
    TRAFFIC_VMEM_WRITE,
    N_TRAFFICS
};

/* Rates of an op. 0 also stands for unknown, as in XProf. */
typedef struct {
    /* GFLOP/s as the device and as the model counts them; GiB/s of bytes_accessed. */
    double gflops, model_gflops, memory_gibps;
    double intensity; /* FLOP per byte of bytes_accessed */
    double traffic_gibps[N_TRAFFICS], traffic_intensity[N_TRAFFICS];
    /* The resource that is used most: Compute, HBM, CMEM Read, ..., Shm/L1, or Unknown. */
    const char *bound_by;
    double bottleneck_intensity;
} OpRates;
/* Returns the rates of an op. */
OpRates op_rates(const OpMetrics *op, const DeviceCapabilities *devices);
/* Return the op's corrected FLOPs or HBM traffic per time, as a share of the device's peak. NAN if
 * either is unknown. If XProf has no peak, the highest of the devices is used: XProf reads a peak
 * that is not a double as 0. */
double op_flops_utilization(const OpMetrics *op, const DeviceCapabilities *devices);
double op_hbm_utilization(const OpMetrics *op, const DeviceCapabilities *devices);

#endif
