// SPDX-License-Identifier: Apache-2.0
/* op_rates.c: rates and bounds of ops; see op_rates.h. */
#include "op_rates.h"

#include <math.h>

typedef struct {
    double utilization, intensity;
    const char *name;
} Bound;

/* Keeps the resource with the highest utilization; of equal ones the first. */
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
    /* XProf divides HBM traffic by the peak of the shared memory. */
    if (devices->hardware == HARDWARE_GPU && peak_gibps(devices, MEMORY_SRAM_WRITE) != 0)
        consider(&most, "Shm/L1", r.traffic_gibps[TRAFFIC_HBM],
                 peak_gibps(devices, MEMORY_SRAM_WRITE), r.traffic_intensity[TRAFFIC_HBM]);
    r.bound_by = most.name, r.bottleneck_intensity = most.intensity;
    return r;
}

/* ---- utilization ---- */

/* XProf splits the bytes of all occurrences in the same proportion. */
static double hbm_bytes_actual(const OpMetrics *op)
{
    double bytes = (double)op_hbm_bytes(op);
    if (bytes > 0) return bytes / op->occurrences * (double)op->executions;
    return op->has_actual_bytes ? (double)op->bytes_actual : 0;
}

/* Returns the time in which the actual work was done. */
static uint64_t actual_ps(const OpMetrics *op)
{
    return op->kernels_ps ? op->kernels_ps : op->time_ps;
}

double op_flops_utilization(const OpMetrics *op, const DeviceCapabilities *devices)
{
    double peak = peak_gflops(devices), most = 0;
    for (size_t i = 0; i < devices->n_devices; i++)
        most = fmax(most, devices->devices[i].peak_flops / 1e9);
    if (!(peak > 0)) peak = most;
    if (!(peak > 0 && op->flops_actual > 0 && op->time_ps)) return NAN;
    double ps = (double)(op->normalized_ps && !op->kernels_ps ? op->normalized_ps : actual_ps(op));
    return op->flops_actual * 1e3 / ps / peak;
}

double op_hbm_utilization(const OpMetrics *op, const DeviceCapabilities *devices)
{
    double peak = peak_gibps(devices, MEMORY_HBM), most = 0, bytes = hbm_bytes_actual(op);
    for (size_t i = 0; i < devices->n_devices; i++)
        most = fmax(most, giga_to_gibi(devices->devices[i].peak_bytes[MEMORY_HBM] / 1e9));
    if (!(peak > 0)) peak = most;
    if (!(peak > 0 && bytes > 0 && op->time_ps)) return NAN;
    return giga_to_gibi(bytes * 1e3 / (double)actual_ps(op)) / peak;
}
