// SPDX-License-Identifier: Apache-2.0
/* op_rates.c: rates and bounds of ops; see op_rates.h. */
#include "op_rates.h"

typedef struct {
    double utilization, intensity;
    const char *name;
} Bound;

/* The resource that is used more wins; of equals the first asked. */
static void consider(Bound *most, const char *name, double rate, double peak, double intensity)
{
    double utilization = safe_div(rate, peak);
    if (utilization > most->utilization) *most = (Bound){utilization, intensity, name};
}

OpRates op_rates(const OpMetrics *op, const DeviceCapabilities *devices)
{
    static const struct {
        const char *name;
        enum Memory memory;
        uint64_t space;
        int operation;
    } on_chip[N_TRAFFICS] = {
        [TRAFFIC_CMEM_READ] = {"CMEM Read", MEMORY_CMEM_READ, SPACE_CMEM, MEMORY_READ},
        [TRAFFIC_CMEM_WRITE] = {"CMEM Write", MEMORY_CMEM_WRITE, SPACE_CMEM, MEMORY_WRITE},
        [TRAFFIC_VMEM_READ] = {"VMEM Read", MEMORY_VMEM_READ, SPACE_VMEM, MEMORY_READ},
        [TRAFFIC_VMEM_WRITE] = {"VMEM Write", MEMORY_VMEM_WRITE, SPACE_VMEM, MEMORY_WRITE},
    };
    double ns = ps_to_ns(op->time_ps), bytes[N_TRAFFICS] = {(double)op_hbm_bytes(op)};
    OpRates r = {.gflops = safe_div(op->flops, ns),
                 .model_gflops = safe_div(op->model_flops, ns),
                 .memory_gibps = giga_to_gibi(safe_div((double)op->bytes_accessed, ns)),
                 .intensity = safe_div(op->flops, (double)op->bytes_accessed)};
    for (int t = 0; t < N_TRAFFICS; t++) {
        if (t) bytes[t] = (double)op_memory_bytes(op, on_chip[t].space, on_chip[t].operation);
        r.traffic_gibps[t] = giga_to_gibi(safe_div(bytes[t], ns));
        r.traffic_intensity[t] = safe_div(op->flops, bytes[t]);
    }
    Bound most = {0, 0, "Unknown"};
    consider(&most, "Compute", r.gflops, peak_gflops(devices), r.intensity);
    consider(&most, "HBM", r.traffic_gibps[TRAFFIC_HBM], peak_gibps(devices, MEMORY_HBM),
             r.traffic_intensity[TRAFFIC_HBM]);
    for (int t = 1; t < N_TRAFFICS && devices->hardware == HARDWARE_TPU; t++)
        if (bytes[t] != 0 && peak_gibps(devices, on_chip[t].memory) != 0)
            consider(&most, on_chip[t].name, r.traffic_gibps[t],
                     peak_gibps(devices, on_chip[t].memory), r.traffic_intensity[t]);
    /* XProf puts HBM's traffic over the peak of the shared memory */
    if (devices->hardware == HARDWARE_GPU && peak_gibps(devices, MEMORY_SRAM_WRITE) != 0)
        consider(&most, "Shm/L1", r.traffic_gibps[TRAFFIC_HBM],
                 peak_gibps(devices, MEMORY_SRAM_WRITE), r.traffic_intensity[TRAFFIC_HBM]);
    r.bound_by = most.name, r.bottleneck_intensity = most.intensity;
    return r;
}
