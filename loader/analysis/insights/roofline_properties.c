// SPDX-License-Identifier: Apache-2.0
/* roofline_properties.c: computes properties of the devices; see roofline_properties.h. */
#include "roofline_properties.h"

#include "../device/devices.h"
#include "../ops/op_metrics.h"

enum PropertyKind {
    PROPERTY_TYPE,
    PROPERTY_FLOPS,
    PROPERTY_BANDWIDTH,
    PROPERTY_RIDGE,
    PROPERTY_TIME_SCALE,
    PROPERTY_MEGACORE,
    PROPERTY_CMEM,
    PROPERTY_VMEM
};
static const struct Property {
    const char *name;
    enum PropertyKind kind;
    enum Memory memory;
    bool gpu; /* also shown for a GPU */
} properties[] = {
    {"cmem_read_ridge_point", PROPERTY_RIDGE, MEMORY_CMEM_READ, false},
    {"cmem_write_ridge_point", PROPERTY_RIDGE, MEMORY_CMEM_WRITE, false},
    {"device_type", PROPERTY_TYPE, 0, true},
    {"has_cmem", PROPERTY_CMEM, 0, false},
    {"has_merged_vmem", PROPERTY_VMEM, 0, false},
    {"hbm_ridge_point", PROPERTY_RIDGE, MEMORY_HBM, true},
    {"megacore", PROPERTY_MEGACORE, 0, false},
    {"peak_cmem_read_bw", PROPERTY_BANDWIDTH, MEMORY_CMEM_READ, false},
    {"peak_cmem_write_bw", PROPERTY_BANDWIDTH, MEMORY_CMEM_WRITE, false},
    {"peak_flop_rate", PROPERTY_FLOPS, 0, true},
    {"peak_hbm_bw", PROPERTY_BANDWIDTH, MEMORY_HBM, true},
    {"peak_vmem_read_bw", PROPERTY_BANDWIDTH, MEMORY_VMEM_READ, false},
    {"peak_vmem_write_bw", PROPERTY_BANDWIDTH, MEMORY_VMEM_WRITE, true},
    {"time_scale_multiplier", PROPERTY_TIME_SCALE, 0, false},
    {"vmem_read_ridge_point", PROPERTY_RIDGE, MEMORY_VMEM_READ, false},
    {"vmem_write_ridge_point", PROPERTY_RIDGE, MEMORY_VMEM_WRITE, true},
};

/* Returns the bandwidth of a memory in XProf's model, in GB/s. On a GPU, shared memory takes the
 * place of VMEM. */
static double model_bandwidth(const DeviceCapabilities *d, enum Memory memory)
{
    if (d->hardware == HARDWARE_GPU)
        return d->env.bandwidths[memory == MEMORY_VMEM_WRITE ? MEMORY_SRAM_WRITE : memory];
    bool cmem = memory == MEMORY_CMEM_READ || memory == MEMORY_CMEM_WRITE,
         vmem = memory == MEMORY_VMEM_READ || memory == MEMORY_VMEM_WRITE;
    return (cmem && !d->env.has_cmem) || (vmem && !d->env.has_merged_vmem)
               ? 0
               : d->env.bandwidths[memory];
}

/* Returns the ratio of the actual clock to the default clock. */
static double time_scale(const OpStats *stats)
{
    return safe_div((double)stats->device.normalized_total_ps, (double)stats->device.total_op_ps);
}

static double property_number(const DeviceCapabilities *d, const OpStats *stats,
                              const struct Property *property)
{
    enum Memory memory = property->memory;
    if (d->hardware <= HARDWARE_CPU) return 0;
    switch (property->kind) {
    case PROPERTY_FLOPS: return peak_gflops(d);
    case PROPERTY_BANDWIDTH: return giga_to_gibi(model_bandwidth(d, memory));
    case PROPERTY_RIDGE:
        return safe_div(peak_gflops(d), gibi_to_giga(giga_to_gibi(model_bandwidth(d, memory))));
    case PROPERTY_MEGACORE: return d->env.has_megacore;
    case PROPERTY_CMEM: return d->env.has_cmem;
    case PROPERTY_VMEM: return d->env.has_merged_vmem;
    default: return time_scale(stats);
    }
}

static void *properties_make(Run *run, Host *only, ProfErr *err)
{
    static const char *const units[] = {NULL,    "GFLOP/s", "GiB/s", "FLOP/byte",
                                        "ratio", NULL,      NULL,    NULL};
    const DeviceCapabilities *d = run_devices(run, only, err);
    if (!d) return NULL;
    bool is_gpu = strstr(d->device_type, "GPU") != NULL;
    const OpStats *stats = is_gpu ? NULL : run_op_stats(run, only, err);
    if (!is_gpu && !stats) return NULL;
    RooflineProperties *all = prof_alloc(sizeof *all);
    if (!all) {
        prof_nomem(err);
        return NULL;
    }
    for (size_t i = 0; i < COUNT(properties); i++) {
        const struct Property *property = &properties[i];
        RooflineProperty *p = &all->properties[all->n];
        if (is_gpu && !property->gpu) continue;
        *p = (RooflineProperty){.name = property->name, .unit = units[property->kind]};
        if (property->kind == PROPERTY_TYPE)
            p->text = d->hardware > HARDWARE_CPU ? d->device_type : "";
        else
            p->number = property_number(d, stats, property);
        p->known = !p->text && (p->number != 0 || property->kind >= PROPERTY_MEGACORE);
        all->n++;
    }
    return all;
}

const RooflineProperties *run_roofline_properties(Run *run, Host *only, ProfErr *err)
{
    static const Analysis analysis = {properties_make, prof_free, NEEDS_ONE_HOST_AT_A_TIME};
    return run_analysis(run, only, &analysis, err);
}
