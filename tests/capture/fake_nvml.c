// SPDX-License-Identifier: Apache-2.0
/* fake_nvml.c: an NVML of our own, libnvidia-ml.so.1 of the tests: names, parameters and structs as
 * in nvml.h.
 *
 * It has four GPUs, whose indices run against CUDA's numbers: a GPU is the one that its UUID says,
 * of those that fake_cupti.c (01020304-...-NN) and fake_cuda.c (NN, NN+1, ...) give to device NN.
 * Values tell the device: power (NN + 1) * 100 W and 1 mW more each time, and so on.
 *
 * FAKE_NVML_FAIL    "init=9 power=3": calls that fail, and with what
 * FAKE_NVML_HANG=1  power never answers */
#define _GNU_SOURCE
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define EXPORT __attribute__((visibility("default")))
enum {
    OK = 0,
    UNINITIALIZED = 1,
    INVALID_ARGUMENT = 2,
    NOT_SUPPORTED = 3,
    NOT_FOUND = 6,
    DRIVER_NOT_LOADED = 9,
    GPU_IS_LOST = 15
};
enum { N_GPUS = 4, SM_CLOCK = 1, MEMORY_CLOCK = 2 };

typedef struct {
    unsigned device; /* CUDA's number */
    atomic_uint n_asked;
} Gpu;
static Gpu gpus[N_GPUS] = {{3, 0}, {2, 0}, {1, 0}, {0, 0}}; /* by NVML's index */
static atomic_int n_inits;

static int failure(const char *what)
{
    const char *failures = getenv("FAKE_NVML_FAIL"), *at = failures ? strstr(failures, what) : NULL;
    if (!atomic_load(&n_inits)) return UNINITIALIZED;
    return at && at[strlen(what)] == '=' ? atoi(at + strlen(what) + 1) : OK;
}

EXPORT int nvmlInit_v2(void)
{
    atomic_fetch_add(&n_inits, 1);
    int rc = failure("init");
    if (rc) atomic_fetch_sub(&n_inits, 1);
    return rc;
}
EXPORT int nvmlInitWithFlags(unsigned flags) { return flags ? INVALID_ARGUMENT : nvmlInit_v2(); }
EXPORT int nvmlShutdown(void) { return atomic_fetch_sub(&n_inits, 1) > 0 ? OK : UNINITIALIZED; }
EXPORT const char *nvmlErrorString(int result)
{
    switch (result) {
    case OK: return "Success";
    case NOT_SUPPORTED: return "Not Supported";
    case NOT_FOUND: return "Not Found";
    case DRIVER_NOT_LOADED: return "Driver Not Loaded";
    case GPU_IS_LOST: return "GPU is lost";
    default: return "Unknown Error";
    }
}

/* ---- devices ---- */

static void write_uuid(char *out, size_t n, unsigned char (*byte)(unsigned device, int i),
                       unsigned device)
{
    size_t k = (size_t)snprintf(out, n, "GPU-");
    for (int i = 0; i < 16; i++)
        k += (size_t)snprintf(out + k, n - k, "%s%02x",
                              i == 4 || i == 6 || i == 8 || i == 10 ? "-" : "", byte(device, i));
}
static unsigned char of_cupti(unsigned device, int i)
{
    return (unsigned char)(i < 15 ? i + 1 : (int)device);
}
static unsigned char of_cuda(unsigned device, int i) { return (unsigned char)((int)device + i); }

EXPORT int nvmlDeviceGetCount_v2(unsigned *count)
{
    *count = N_GPUS;
    return failure("count");
}
EXPORT int nvmlDeviceGetHandleByIndex_v2(unsigned index, void **device)
{
    if (index >= N_GPUS) return INVALID_ARGUMENT;
    *device = &gpus[index];
    return failure("index");
}
EXPORT int nvmlDeviceGetUUID(void *device, char *uuid, unsigned length)
{
    write_uuid(uuid, length, of_cupti, ((const Gpu *)device)->device);
    return failure("uuid");
}
EXPORT int nvmlDeviceGetHandleByUUID(const char *uuid, void **device)
{
    char text[48];
    if (!uuid) return INVALID_ARGUMENT;
    for (int i = 0; i < N_GPUS; i++)
        for (int way = 0; way < 2; way++) {
            write_uuid(text, sizeof text, way ? of_cuda : of_cupti, gpus[i].device);
            if (!strcmp(text, uuid)) {
                *device = &gpus[i];
                return failure("find");
            }
        }
    return NOT_FOUND;
}

/* ---- values ---- */

EXPORT int nvmlDeviceGetPowerUsage(void *device, unsigned *milliwatts)
{
    Gpu *gpu = device;
    while (getenv("FAKE_NVML_HANG")) sleep(1);
    *milliwatts = (gpu->device + 1) * 100000 + atomic_fetch_add(&gpu->n_asked, 1);
    return failure("power");
}
EXPORT int nvmlDeviceGetClockInfo(void *device, int type, unsigned *mhz)
{
    if (type != SM_CLOCK && type != MEMORY_CLOCK) return INVALID_ARGUMENT;
    *mhz = ((const Gpu *)device)->device + (type == SM_CLOCK ? 1980 : 3201);
    return failure(type == SM_CLOCK ? "sm_clock" : "memory_clock");
}
EXPORT int nvmlDeviceGetUtilizationRates(void *device, void *out)
{
    struct {
        unsigned gpu, memory;
    } rates = {90 + ((const Gpu *)device)->device, 30 + ((const Gpu *)device)->device};
    memcpy(out, &rates, sizeof rates);
    return failure("utilization");
}
EXPORT int nvmlDeviceGetTemperature(void *device, int sensor, unsigned *celsius)
{
    if (sensor != 0) return INVALID_ARGUMENT;
    *celsius = 60 + ((const Gpu *)device)->device;
    return failure("temperature");
}
EXPORT int nvmlDeviceGetMemoryInfo(void *device, void *out)
{
    unsigned long long used = (((const Gpu *)device)->device + 1ull) << 30,
                       info[] = {140ull << 30, (140ull << 30) - used, used};
    memcpy(out, info, sizeof info);
    return failure("memory");
}
