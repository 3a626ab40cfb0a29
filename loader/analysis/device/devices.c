// SPDX-License-Identifier: Apache-2.0
/* devices.c: reads the capabilities of devices from their planes; see devices.h.
 *
 * Stats are read as in XProf: a peak must be stored as a double, counts and clocks as either
 * integer. For the counts of a GPU, the last stat of a name counts; for everything else, the first.
 */
#include "devices.h"
#include "../../base/search.h"
#include "../../base/text_buffer.h"

#include "../../format/wire.h"
#include "../../store/event_stats.h"
#include "../../store/event_values.h"

#include <ctype.h>
#include <math.h>

/* ---- the stats of a plane ---- */

enum Cap {
    CAP_CLOCK_RATE,
    CAP_CORE_COUNT,
    CAP_MEMORY_BANDWIDTH,
    CAP_MEMORY_SIZE,
    CAP_MAJOR,
    CAP_MINOR,
    CAP_VENDOR,
    N_LAST_CAPS, /* of the stats before this, the last counts */
    CAP_GPU_NAME = N_LAST_CAPS,
    CAP_UUID,
    CAP_TYPE,
    CAP_MEGACORE,
    CAP_MERGED_VMEM,
    CAP_CORE_DETAILS,
    CAP_PEAK_FLOPS,
    CAP_PEAK, /* first of several, one for each enum Memory */
    N_CAPS = CAP_PEAK + N_MEMORIES,
};
static const char *const cap_names[N_CAPS] = {
    [CAP_CLOCK_RATE] = "clock_rate",
    [CAP_CORE_COUNT] = "core_count",
    [CAP_MEMORY_BANDWIDTH] = "memory_bandwidth",
    [CAP_MEMORY_SIZE] = "memory_size",
    [CAP_MAJOR] = "compute_cap_major",
    [CAP_MINOR] = "compute_cap_minor",
    [CAP_VENDOR] = "device_vendor",
    [CAP_GPU_NAME] = "gpu_device_name",
    [CAP_UUID] = "uuid",
    [CAP_TYPE] = "device_type_string",
    [CAP_MEGACORE] = "has_megacore",
    [CAP_MERGED_VMEM] = "has_merged_vmem",
    [CAP_CORE_DETAILS] = "core_details",
    [CAP_PEAK_FLOPS] = "peak_teraflops_per_second",
    [CAP_PEAK + MEMORY_HBM] = "peak_hbm_bw_gigabytes_per_second",
    [CAP_PEAK + MEMORY_SRAM_READ] = "peak_sram_rd_bw_gigabytes_per_second",
    [CAP_PEAK + MEMORY_SRAM_WRITE] = "peak_sram_wr_bw_gigabytes_per_second",
    [CAP_PEAK + MEMORY_CMEM_READ] = "peak_cmem_rd_bw_gigabytes_per_second",
    [CAP_PEAK + MEMORY_CMEM_WRITE] = "peak_cmem_wr_bw_gigabytes_per_second",
    [CAP_PEAK + MEMORY_VMEM_READ] = "peak_vmem_rd_bw_gigabytes_per_second",
    [CAP_PEAK + MEMORY_VMEM_WRITE] = "peak_vmem_wr_bw_gigabytes_per_second",
};

typedef struct {
    StatValue facts[N_CAPS]; /* TYPE_NONE if the plane has no such stat */
} Caps;

static void read_core_details(Device *device, const Stat *stat, Host *host, ProfErr *err)
{
    const uint8_t *p = stat->bytes, *end = p + stat->n_bytes;
    int64_t *const numbers[] = {NULL,
                                NULL,
                                &device->device_ordinal,
                                &device->core_num,
                                &device->local_chip_id,
                                &device->global_chip_id,
                                &device->global_core_id};
    for (size_t i = 2; i < COUNT(numbers); i++) /* a missing field is 0 */
        *numbers[i] = 0;
    Field f = {0};
    while (p && p < end && (p = wire_field(p, end, &f))) {
        if (f.number == 1 && f.type == WIRE_BYTES) {
            device->core_hostname = host_text(host, f.bytes, (size_t)f.value, err);
        } else if (f.number >= 2 && f.number < COUNT(numbers) && f.type == WIRE_VARINT) {
            *numbers[f.number] = (int64_t)(f.value & UINT32_MAX);
        }
    }
    for (size_t i = 2; i < COUNT(numbers) && !p; i++) *numbers[i] = -1; /* damaged */
}

/* Reads the stats of a plane into caps and the stat core_details into the device. */
static void read_caps(Caps *caps, Device *device, Window *window, ProfErr *err)
{
    const Plane *plane = device->plane;
    Host *host = plane->host;
    for (size_t i = 0; i < plane->n_stats && !err->code; i++) {
        Stat stat;
        if (!plane_stat(plane, i, window, &stat, err)) continue;
        const StatMeta *meta = stat_meta(plane, stat.id);
        int cap = 0;
        while (meta && cap < N_CAPS && strcmp(meta->name->text, cap_names[cap])) cap++;
        if (!meta || cap == N_CAPS) continue;
        StatValue *fact = &caps->facts[cap];
        if (cap >= N_LAST_CAPS && fact->type != TYPE_NONE) continue;
        pthread_mutex_lock(&host->lock);
        bool memory = stat_value_of(fact, plane, &stat, &host->texts, &host->arena);
        pthread_mutex_unlock(&host->lock);
        if (!memory) prof_nomem(err);
        if (cap == CAP_CORE_DETAILS && stat.type == TYPE_BYTES)
            read_core_details(device, &stat, host, err);
    }
}

static uint64_t cap_integer(const Caps *caps, enum Cap cap)
{
    const StatValue *f = &caps->facts[cap];
    return f->type == TYPE_INT64 || f->type == TYPE_UINT64 ? f->u64 : 0;
}
static double cap_double(const Caps *caps, int cap)
{
    return caps->facts[cap].type == TYPE_DOUBLE ? caps->facts[cap].number : 0;
}
static const Text *cap_text(const Caps *caps, enum Cap cap)
{
    return caps->facts[cap].type == TYPE_STR ? caps->facts[cap].text : empty_text;
}
static bool cap_is(const Caps *caps, enum Cap cap, const char *text)
{
    return !strcmp(cap_text(caps, cap)->text, text);
}

/* Returns a number of any type; NAN if there is none. */
static double cap_number(const Caps *caps, int cap)
{
    const StatValue *f = &caps->facts[cap];
    if (f->type == TYPE_DOUBLE) return f->number;
    if (f->type == TYPE_INT64) return (double)f->integer;
    return f->type == TYPE_UINT64 ? (double)f->u64 : NAN;
}
static int64_t cap_count(const Caps *caps, enum Cap cap)
{
    uint64_t n = cap_integer(caps, cap);
    return caps->facts[cap].type == TYPE_NONE || n > INT64_MAX ? -1 : (int64_t)n;
}
static int cap_flag(const Caps *caps, enum Cap cap)
{
    return caps->facts[cap].type == TYPE_NONE ? -1 : cap_integer(caps, cap) != 0;
}

/* ---- GPUs: FLOPs and bytes of one core in one cycle ---- */

typedef struct {
    /* flops: the best of vector and matrix FP32 and FP16, dense; bytes: shared memory */
    double flops, bytes;
} PerCycle;

static PerCycle nvidia_per_cycle(uint32_t major, uint32_t minor)
{
    static const struct {
        int32_t capability; /* compute capability: major * 1000 + minor * 10 */
        double flops;
    } table[] = {{10000, 8192}, {9000, 4096}, {8090, 1024}, {8060, 1024},
                 {8000, 2048},  {7050, 1024}, {7000, 1024}, {6010, 256},
                 {6000, 256},   {5000, 256},  {3000, 384},  {2000, 64}};
    int32_t capability = (int32_t)(major * 1000 + minor * 10);
    size_t i = 0;
    while (i + 1 < COUNT(table) && table[i].capability > capability)
        i++; /* uses the older of two generations, or the oldest */
    return (PerCycle){table[i].flops, major <= 2 ? 64 : 256};
}

/* Returns whether s is "gfx" and three or more hex digits. */
static bool is_gfx_name(const char *s)
{
    if (!starts_with(s, "gfx")) return false;
    size_t n = 3;
    while (isxdigit((unsigned char)s[n])) n++;
    return n >= 6 && !s[n];
}

static const char *amd_architecture(const Caps *caps)
{
    const char *name = cap_text(caps, CAP_GPU_NAME)->text;
    uint32_t major = (uint32_t)cap_integer(caps, CAP_MAJOR),
             minor = (uint32_t)cap_integer(caps, CAP_MINOR);
    if (is_gfx_name(name)) return name;
    if (major != 9) return NULL;
    if (minor == 4) return "gfx942";
    return minor == 5 ? "gfx950" : NULL;
}

static PerCycle amd_per_cycle(const char *architecture)
{
    static const struct {
        const char *name;
        PerCycle per_cycle;
    } table[] = {{"gfx908", {1024, 128}},
                 {"gfx90a", {1024, 128}},
                 {"gfx942", {2048, 128}},
                 {"gfx950", {4096, 256}}};
    for (size_t i = 0; architecture && i < COUNT(table); i++)
        if (!strcmp(architecture, table[i].name)) return table[i].per_cycle;
    return (PerCycle){0};
}

static const char *nvidia_model(uint32_t major, uint32_t minor)
{
    switch (major) {
    case 2: return "Nvidia GPU (Fermi)";
    case 3: return "Nvidia GPU (Kepler)";
    case 5: return "Nvidia GPU (Maxwell)";
    case 6: return "Nvidia GPU (Pascal)";
    case 7: return minor < 5 ? "Nvidia GPU (Volta)" : "Nvidia GPU (Turing)";
    case 8: return minor < 9 ? "Nvidia GPU (Ampere)" : "Nvidia GPU (Ada Lovelace)";
    case 9: return "Nvidia GPU (Hopper)";
    case 10: return "Nvidia GPU (Blackwell)";
    default: return "Nvidia GPU";
    }
}

static const char *amd_model(uint32_t major)
{
    switch (major) {
    case 9: return "AMD GPU - gfx-9XX series";
    case 10: return "AMD GPU - gfx-10XX series";
    case 11: return "AMD GPU - gfx-11XX series";
    default: return "AMD GPU";
    }
}

/* Returns XProf's name of a GPU model. */
static const Text *gpu_model(const Caps *caps, Host *host, ProfErr *err)
{
    const char *name = "GPU", *architecture = NULL;
    uint32_t major = (uint32_t)cap_integer(caps, CAP_MAJOR);
    if (cap_is(caps, CAP_VENDOR, "Nvidia"))
        name = nvidia_model(major, (uint32_t)cap_integer(caps, CAP_MINOR));
    else if (cap_is(caps, CAP_VENDOR, "AMD") && !(architecture = amd_architecture(caps)))
        name = amd_model(major);
    if (!architecture) return host_text(host, name, strlen(name), err);
    TextBuffer joined = {0};
    text_add(&joined, "AMD GPU - ");
    text_add(&joined, architecture);
    if (joined.no_memory) prof_nomem(err);
    const Text *text = err->code ? NULL : host_text(host, joined.text, joined.n_bytes, err);
    text_free(&joined);
    return text;
}

/* ---- a plane as XProf reads it, and corrected ---- */

static PerfEnv gpu_env(const Caps *caps)
{
    PerCycle core = {0};
    if (cap_is(caps, CAP_VENDOR, "Nvidia"))
        core = nvidia_per_cycle((uint32_t)cap_integer(caps, CAP_MAJOR),
                                (uint32_t)cap_integer(caps, CAP_MINOR));
    else if (cap_is(caps, CAP_VENDOR, "AMD"))
        core = amd_per_cycle(amd_architecture(caps));
    double clock_ghz = (double)cap_integer(caps, CAP_CLOCK_RATE) / 1e6,
           n_cores = (double)(uint32_t)cap_integer(caps, CAP_CORE_COUNT);
    PerfEnv env = {.peak_tera_flops = cap_double(caps, CAP_PEAK_FLOPS), .n_bandwidths = 3};
    if (env.peak_tera_flops <= 0) env.peak_tera_flops = n_cores * (core.flops * clock_ghz / 1e3);
    env.bandwidths[MEMORY_HBM] = (double)cap_integer(caps, CAP_MEMORY_BANDWIDTH) / 1e9;
    for (int m = MEMORY_SRAM_READ; m <= MEMORY_SRAM_WRITE; m++) {
        env.bandwidths[m] = cap_double(caps, CAP_PEAK + m);
        if (env.bandwidths[m] <= 0)
            env.bandwidths[m] = n_cores * (core.bytes * clock_ghz * 1e9 / 1e9);
    }
    env.ridge_point = env.peak_tera_flops * 1e3 / env.bandwidths[MEMORY_HBM];
    return env;
}

static PerfEnv tpu_env(const Caps *caps)
{
    PerfEnv env = {.peak_tera_flops = cap_double(caps, CAP_PEAK_FLOPS),
                   .n_bandwidths = COUNT(env.bandwidths)};
    for (int m = 0; m < N_MEMORIES; m++) env.bandwidths[m] = cap_double(caps, CAP_PEAK + m);
    env.has_cmem = env.bandwidths[MEMORY_CMEM_READ] > 0 || env.bandwidths[MEMORY_CMEM_WRITE] > 0;
    env.has_megacore =
        caps->facts[CAP_MEGACORE].type == TYPE_INT64 && caps->facts[CAP_MEGACORE].integer;
    env.has_merged_vmem =
        caps->facts[CAP_MERGED_VMEM].type == TYPE_INT64 && caps->facts[CAP_MERGED_VMEM].integer;
    env.ridge_point = env.peak_tera_flops * 1e3 / env.bandwidths[MEMORY_HBM];
    return env;
}

static double positive_or_nan(double x) { return x > 0 && isfinite(x) ? x : NAN; }

static void describe(Device *device, const Caps *caps, const PerfEnv *env, ProfErr *err)
{
    bool gpu = device->plane->kind == PLANE_GPU;
    device->type = gpu ? gpu_model(caps, device->plane->host, err) : cap_text(caps, CAP_TYPE);
    if (!device->type) return;
    if (!device->type->n_bytes) device->type = NULL;
    if (cap_text(caps, CAP_VENDOR)->n_bytes) device->vendor = cap_text(caps, CAP_VENDOR);
    if (cap_text(caps, CAP_UUID)->n_bytes) device->uuid = cap_text(caps, CAP_UUID);
    device->core_count = cap_count(caps, CAP_CORE_COUNT);
    device->clock_khz = cap_count(caps, CAP_CLOCK_RATE);
    device->memory_bytes = cap_count(caps, CAP_MEMORY_SIZE);
    device->compute_major = cap_count(caps, CAP_MAJOR);
    device->compute_minor = cap_count(caps, CAP_MINOR);
    device->megacore = cap_flag(caps, CAP_MEGACORE);
    device->merged_vmem = cap_flag(caps, CAP_MERGED_VMEM);
    device->peak_flops = positive_or_nan(cap_number(caps, CAP_PEAK_FLOPS) * 1e12);
    for (int m = 0; m < N_MEMORIES; m++)
        device->peak_bytes[m] = positive_or_nan(cap_number(caps, CAP_PEAK + m) * 1e9);
    if (!gpu) return;
    if (isnan(device->peak_flops))
        device->peak_flops = positive_or_nan(env->peak_tera_flops * 1e12);
    double hbm = positive_or_nan(cap_number(caps, CAP_MEMORY_BANDWIDTH));
    if (!isnan(hbm)) device->peak_bytes[MEMORY_HBM] = hbm;
    for (int m = MEMORY_SRAM_READ; m <= MEMORY_SRAM_WRITE; m++)
        if (isnan(device->peak_bytes[m]))
            device->peak_bytes[m] = positive_or_nan(env->bandwidths[m] * 1e9);
}

/* ---- a host, and hosts together ---- */

static bool is_device(const Plane *plane) { return plane->kind == PLANE_GPU || is_tpu(plane); }

/* The devices of one host. */
typedef struct {
    /* the plane whose peaks count: the first TPU plane, else the first GPU plane */
    const Plane *measured;
    PerfEnv env;
    const char *gpu_type, *tpu_type; /* types of the first GPU and of the first TensorCore */
    int64_t n_gpus, n_tensorcores;
} HostDevices;

static void add_plane(HostDevices *h, const Device *device, const PerfEnv *env)
{
    const Plane *plane = device->plane;
    if (plane->kind == PLANE_GPU && !h->n_gpus++) h->gpu_type = device->type->text;
    if (plane->kind == PLANE_TENSORCORE && !h->n_tensorcores++)
        h->tpu_type = device->type ? device->type->text : "";
    if (!h->measured || (is_tpu(plane) && !is_tpu(h->measured))) h->measured = plane, h->env = *env;
}

/* Merges hosts like XProf: the last peak above 0, the first vector of bandwidths, the last device
 * type. */
static void merge(DeviceCapabilities *all, const HostDevices *h, bool alone)
{
    if (alone) {
        all->env = h->env;
    } else {
        if (h->env.peak_tera_flops > 0)
            all->env.peak_tera_flops = h->env.peak_tera_flops,
            all->env.ridge_point = h->env.ridge_point;
        if (!all->env.n_bandwidths) {
            memcpy(all->env.bandwidths, h->env.bandwidths, sizeof all->env.bandwidths);
            all->env.n_bandwidths = h->env.n_bandwidths;
        }
    }
    enum Hardware hardware = h->n_tensorcores ? HARDWARE_TPU : HARDWARE_CPU;
    if (h->n_gpus) hardware = HARDWARE_GPU;
    if (hardware > all->hardware) all->hardware = hardware;
    if (hardware != HARDWARE_CPU)
        all->device_type = h->n_gpus ? h->gpu_type : h->tpu_type;
    else if (!*all->device_type)
        all->device_type = "CPU"; /* counts more than a TPU without a device type */
    all->device_core_count += h->n_gpus ? h->n_gpus : h->n_tensorcores;
}

static void read_host(DeviceCapabilities *all, Device *devices, Host *host, bool alone,
                      ProfErr *err)
{
    Window window = {.file = &host->file};
    HostDevices h = {0};
    for (size_t i = 0; i < host->n_planes && !err->code; i++) {
        const Plane *plane = &host->planes[i];
        if (!is_device(plane)) continue;
        Device *device = &devices[all->n_devices];
        *device = (Device){.plane = plane,
                           .device_ordinal = -1,
                           .core_num = -1,
                           .local_chip_id = -1,
                           .global_chip_id = -1,
                           .global_core_id = -1};
        Caps caps = {0};
        read_caps(&caps, device, &window, err);
        PerfEnv env = plane->kind == PLANE_GPU ? gpu_env(&caps) : tpu_env(&caps);
        if (!err->code) describe(device, &caps, &env, err);
        if (err->code) break;
        add_plane(&h, device, &env);
        all->n_devices++;
    }
    window_free(&window);
    if (!err->code) merge(all, &h, alone);
}

const Device *device_of_plane(const DeviceCapabilities *devices, const Plane *plane)
{
    size_t i = LOWER_BOUND(k, 0, devices->n_devices,
                           devices->devices[k].plane->plane_id < plane->plane_id);
    return i < devices->n_devices && devices->devices[i].plane == plane ? &devices->devices[i]
                                                                        : NULL;
}

static void devices_release(void *result)
{
    DeviceCapabilities *d = result;
    arena_free(&d->arena);
    prof_free(d);
}

static void *devices_make(Run *run, Host *only, ProfErr *err)
{
    DeviceCapabilities *d = prof_alloc(sizeof *d);
    if (!d) {
        prof_nomem(err);
        return NULL;
    }
    d->device_type = "CPU";
    size_t n = 0;
    EACH_HOST(host, run, only)
        for (size_t k = 0; k < host->n_planes; k++) n += is_device(&host->planes[k]);
    Device *devices = arena_alloc(&d->arena, n * sizeof *devices);
    if (!devices) prof_nomem(err);
    EACH_HOST(host, run, only)
        if (host->readable && !err->code)
            read_host(d, devices, host, only || run->n_hosts == 1, err);
    d->devices = devices;
    if (err->code) {
        devices_release(d);
        return NULL;
    }
    return d;
}

const DeviceCapabilities *run_devices(Run *run, Host *only, ProfErr *err)
{
    static const Analysis analysis = {devices_make, devices_release, NEEDS_NO_EVENTS};
    return run_analysis(run, only, &analysis, err);
}

double devices_peak_flops(const DeviceCapabilities *devices)
{
    double peak = devices->env.peak_tera_flops * 1e12;
    for (size_t i = 0; i < devices->n_devices && !(peak > 0); i++)
        peak = devices->devices[i].peak_flops;
    return peak;
}
