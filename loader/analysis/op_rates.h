// SPDX-License-Identifier: Apache-2.0
/* op_rates.h: an op's rates, intensities and what bounds it, as XProf's tables of ops have them. */
#ifndef PROF_OP_RATES_H
#define PROF_OP_RATES_H

#include "devices.h"
#include "op_metrics.h"

/* Memories whose traffic XProf tells apart. */
enum Traffic { TRAFFIC_HBM, TRAFFIC_CMEM_READ, TRAFFIC_CMEM_WRITE, TRAFFIC_VMEM_READ, TRAFFIC_VMEM_WRITE, N_TRAFFICS };

/* 0 is XProf's "unknown" too. */
typedef struct {
    double gflops, model_gflops, memory_gibps; /* GFLOP/s as the device and as the model counts; GiB/s of bytes_accessed */
    double intensity;                          /* FLOP/byte of bytes_accessed */
    double traffic_gibps[N_TRAFFICS], traffic_intensity[N_TRAFFICS];
    const char *bound_by; /* the resource that is used most: Compute, HBM, CMEM Read, ..., Shm/L1, or Unknown */
    double bottleneck_intensity;
} OpRates;
OpRates op_rates(const OpMetrics *op, const DeviceCapabilities *devices);

#endif
