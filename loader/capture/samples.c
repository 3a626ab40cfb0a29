// SPDX-License-Identifier: Apache-2.0
/* samples.c: samples the state of GPUs; see samples.h. The declarations are those of nvml.h. */
#define _GNU_SOURCE
#include "samples.h"

#include "system.h"
#include "../base/base.h"
#include "record.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>

enum { MOST_GPUS = 64, MOST_SAMPLES = 1 << 13, END_WAIT_NS = 2000000000 };
#define NS_PER_MS UINT64_C(1000000)

/* ---- NVML ---- */

enum { NVML_NOT_SUPPORTED = 3, CLOCK_OF_SM = 1, CLOCK_OF_MEMORY = 2, SENSOR_OF_GPU = 0 };
typedef struct {
    unsigned gpu, memory; /* percent of the time since the driver's previous sample */
} NvmlUtilization;
typedef struct {
    unsigned long long total, free, used;
} NvmlMemory;

/* F(result, symbol, parameters) */
#define NVML_FUNCTIONS(F)                                                                          \
    F(Init, nvmlInit_v2, (void))                                                                   \
    F(DeviceByUuid, nvmlDeviceGetHandleByUUID, (const char *uuid, void **device))                  \
    F(Power, nvmlDeviceGetPowerUsage, (void *device, unsigned *milliwatts))                        \
    F(Clock, nvmlDeviceGetClockInfo, (void *device, int type, unsigned *mhz))                      \
    F(Utilization, nvmlDeviceGetUtilizationRates, (void *device, NvmlUtilization *out))            \
    F(Temperature, nvmlDeviceGetTemperature, (void *device, int sensor, unsigned *celsius))        \
    F(Memory, nvmlDeviceGetMemoryInfo, (void *device, NvmlMemory *out))
typedef struct {
#define AS_POINTER(name, symbol, parameters) int(*name) parameters;
    NVML_FUNCTIONS(AS_POINTER)
#undef AS_POINTER
    const char *(*ErrorString)(int result);
} Nvml;

typedef struct {
    uint32_t device;
    uint64_t uuid_low, uuid_high;
    void *handle;     /* NULL: not requested yet */
    unsigned refused; /* bits of counters that are not requested again */
} Gpu;

static struct {
    pthread_mutex_t lock; /* for the list of GPUs, the samples and the problems */
    Gpu gpus[MOST_GPUS];
    size_t n_gpus;
    GpuSample samples[MOST_SAMPLES];
    size_t n_samples;
    uint64_t n_lost;
    char problems[512];
    size_t n_told; /* bytes of the problems */
    Nvml nvml;     /* used by the thread only */
    bool opened;
    pthread_t thread;
    bool started;
    sem_t wake;
    /* number of the current thread: a thread that hangs in NVML is replaced, and then ignored */
    _Atomic unsigned turn;
    uint64_t interval_ns;
} g = {.lock = PTHREAD_MUTEX_INITIALIZER};

static void problem(const char *format, ...) __attribute__((format(printf, 1, 2)));
static void problem(const char *format, ...)
{
    char text[256];
    va_list ap;
    va_start(ap, format);
    vsnprintf(text, sizeof text, format, ap);
    va_end(ap);
    pthread_mutex_lock(&g.lock);
    size_t n = strlen(g.problems);
    if (!strstr(g.problems, text)) snprintf(g.problems + n, sizeof g.problems - n, "%s\n", text);
    pthread_mutex_unlock(&g.lock);
}

static const char *text_of(int result)
{
    const char *text = g.nvml.ErrorString ? g.nvml.ErrorString(result) : NULL;
    return text ? text : "unknown error";
}

static bool open_nvml(void)
{
    if (g.opened) return true;
    void *library = dlopen("libnvidia-ml.so.1", RTLD_NOW | RTLD_LOCAL);
    if (!library) {
        problem("no samples of GPUs (--gpu-samples): libnvidia-ml.so.1, which comes with the "
                "driver, cannot be loaded");
        return false;
    }
    const struct {
        const char *name;
        void *to;
    } functions[] = {
#define AS_ENTRY(name, symbol, parameters) {#symbol, &g.nvml.name},
        NVML_FUNCTIONS(AS_ENTRY)
#undef AS_ENTRY
            {"nvmlErrorString", &g.nvml.ErrorString}};
    for (size_t i = 0; i < COUNT(functions); i++) {
        void *symbol = dlsym(library, functions[i].name);
        memcpy(functions[i].to, &symbol,
               sizeof symbol); /* copies a function's address from the object pointer of dlsym() */
    }
    int rc = g.nvml.Init && g.nvml.DeviceByUuid ? g.nvml.Init() : NVML_NOT_SUPPORTED;
    if (rc)
        problem("no samples of GPUs (--gpu-samples): NVML does not start: %s (%d)", text_of(rc),
                rc);
    return g.opened = rc == 0;
}

/* ---- one sample ---- */

typedef struct {
    unsigned turn;
    Gpu *gpu;
    uint64_t time_ns;
} Sample;

static void put(const Sample *s, enum Counter counter, uint64_t value)
{
    pthread_mutex_lock(&g.lock);
    if (s->turn == atomic_load(&g.turn) && g.n_samples < MOST_SAMPLES)
        g.samples[g.n_samples++] = (GpuSample){s->time_ns, s->gpu->device, counter, value};
    else
        g.n_lost += s->turn == atomic_load(&g.turn);
    pthread_mutex_unlock(&g.lock);
}

/* Returns whether a call returned a value. One that a GPU does not support is not requested again.
 */
static bool has(const Sample *s, enum Counter counter, int rc)
{
    if (!rc) return true;
    if (rc == NVML_NOT_SUPPORTED) s->gpu->refused |= 1u << counter;
    problem("NVML does not give %s of GPU %u: %s (%d)", counter_names[counter], s->gpu->device,
            text_of(rc), rc);
    return false;
}

static bool wanted(const Sample *s, enum Counter counter)
{
    return !(s->gpu->refused >> counter & 1);
}

static void sample_gpu(const Sample *s)
{
    const Nvml *n = &g.nvml;
    void *gpu = s->gpu->handle;
    unsigned value;
    NvmlUtilization load;
    NvmlMemory memory;
    if (n->Power && wanted(s, COUNTER_POWER) && has(s, COUNTER_POWER, n->Power(gpu, &value)))
        put(s, COUNTER_POWER, value);
    if (n->Clock && wanted(s, COUNTER_SM_CLOCK) &&
        has(s, COUNTER_SM_CLOCK, n->Clock(gpu, CLOCK_OF_SM, &value)))
        put(s, COUNTER_SM_CLOCK, value);
    if (n->Clock && wanted(s, COUNTER_MEMORY_CLOCK) &&
        has(s, COUNTER_MEMORY_CLOCK, n->Clock(gpu, CLOCK_OF_MEMORY, &value)))
        put(s, COUNTER_MEMORY_CLOCK, value);
    if (n->Temperature && wanted(s, COUNTER_TEMPERATURE) &&
        has(s, COUNTER_TEMPERATURE, n->Temperature(gpu, SENSOR_OF_GPU, &value)))
        put(s, COUNTER_TEMPERATURE, value);
    if (n->Memory && wanted(s, COUNTER_MEMORY_USED) &&
        has(s, COUNTER_MEMORY_USED, n->Memory(gpu, &memory)))
        put(s, COUNTER_MEMORY_USED, memory.used);
    if (!n->Utilization || !wanted(s, COUNTER_GPU_LOAD) ||
        !has(s, COUNTER_GPU_LOAD, n->Utilization(gpu, &load)))
        return;
    put(s, COUNTER_GPU_LOAD, load.gpu);
    put(s, COUNTER_MEMORY_LOAD, load.memory);
}

static void find_gpu(Gpu *gpu)
{
    char uuid[48] = "GPU-";
    uint8_t b[16];
    size_t n = strlen(uuid);
    memcpy(b, &gpu->uuid_low, 8);
    memcpy(b + 8, &gpu->uuid_high, 8);
    for (int i = 0; i < 16; i++)
        n += (size_t)snprintf(uuid + n, sizeof uuid - n, "%s%02x",
                              i == 4 || i == 6 || i == 8 || i == 10 ? "-" : "", b[i]);
    int rc = g.nvml.DeviceByUuid(uuid, &gpu->handle);
    if (!rc) return;
    gpu->handle = NULL, gpu->refused = UINT32_MAX;
    problem("no samples of GPU %u: NVML does not find %s: %s (%d)", gpu->device, uuid, text_of(rc),
            rc);
}

static size_t count_gpus(void)
{
    pthread_mutex_lock(&g.lock);
    size_t n = g.n_gpus; /* existing entries do not move */
    pthread_mutex_unlock(&g.lock);
    return n;
}

static void sample_all(unsigned turn, size_t n)
{
    for (size_t i = 0; i < n && turn == atomic_load(&g.turn); i++) {
        Gpu *gpu = &g.gpus[i];
        if (!gpu->handle && gpu->refused != UINT32_MAX) find_gpu(gpu);
        if (gpu->handle) sample_gpu(&(Sample){turn, gpu, clock_ns(CLOCK_REALTIME)});
    }
}

static _Atomic bool quit;

static void *samples_main(void *unused)
{
    (void)unused;
    unsigned turn = atomic_load(&g.turn);
    pthread_setname_np(pthread_self(), "profsql-samples");
    uint64_t next = clock_ns(CLOCK_MONOTONIC);
    size_t n_sampled = 0;
    for (bool last = false; !last && turn == atomic_load(&g.turn);) {
        uint64_t now = clock_ns(CLOCK_MONOTONIC);
        /* before the count, so that everything added until then is sampled */
        last = atomic_load(&quit);
        size_t n = count_gpus();
        if (n && !open_nvml()) break;
        if (last || now >= next || n > n_sampled) sample_all(turn, n);
        n_sampled = n;
        /* at regular times, however long a sample takes */
        while (next <= now) next += g.interval_ns;
        if (!last) wait_ns(&g.wake, (int64_t)(next - now));
    }
    return NULL;
}

/* ---- called by other threads ---- */

static pthread_once_t wake_once = PTHREAD_ONCE_INIT;
static void make_wake(void) { sem_init(&g.wake, 0, 0); }

void samples_start(int interval_ms)
{
    pthread_once(&wake_once, make_wake);
    g.interval_ns = (uint64_t)interval_ms * NS_PER_MS;
    *g.problems = 0, g.n_told = 0; /* each profile gets its own */
    for (size_t i = 0; i < g.n_gpus; i++) g.gpus[i].refused = 0;
    atomic_store(&quit, false);
    g.started = !start_thread(&g.thread, samples_main);
    if (!g.started) problem("no samples of GPUs (--gpu-samples): cannot start a thread");
}

void samples_of(uint32_t device, uint64_t uuid_low, uint64_t uuid_high)
{
    pthread_mutex_lock(&g.lock);
    bool known = g.n_gpus == MOST_GPUS;
    for (size_t i = 0; i < g.n_gpus; i++) known |= g.gpus[i].device == device;
    if (!known)
        g.gpus[g.n_gpus++] = (Gpu){.device = device, .uuid_low = uuid_low, .uuid_high = uuid_high};
    pthread_mutex_unlock(&g.lock);
    pthread_once(&wake_once, make_wake); /* the writer may be earlier than the thread */
    if (!known) sem_post(&g.wake);
}

uint64_t samples_drain(void (*take)(void *context, const GpuSample *sample), void *context)
{
    pthread_mutex_lock(&g.lock);
    uint64_t n_lost = g.n_lost;
    for (size_t i = 0; i < g.n_samples; i++) take(context, &g.samples[i]);
    g.n_samples = g.n_lost = 0;
    pthread_mutex_unlock(&g.lock);
    return n_lost;
}

bool samples_problems(char *out, size_t n)
{
    pthread_mutex_lock(&g.lock);
    bool any = g.problems[g.n_told] != 0;
    if (any) snprintf(out, n, "%s", g.problems + g.n_told);
    g.n_told += strlen(g.problems + g.n_told);
    pthread_mutex_unlock(&g.lock);
    return any;
}

void samples_stop(void)
{
    if (!g.started) return;
    atomic_store(&quit, true);
    sem_post(&g.wake);
    if (!join_within(g.thread, END_WAIT_NS)) {
        pthread_detach(g.thread);
        problem("samples of GPUs stopped early: NVML did not answer");
    }
    g.started = false;
    pthread_mutex_lock(&g.lock);
    atomic_fetch_add(&g.turn, 1);
    pthread_mutex_unlock(&g.lock);
}

void samples_child(void)
{
    pthread_mutex_init(&g.lock, NULL); /* another thread of the parent may have held it */
    g.started = false;
}
