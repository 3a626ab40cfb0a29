// SPDX-License-Identifier: Apache-2.0
/* fake_cuda.c: the calls of the driver that waiting for a context and describing devices take:
 * libcuda.so.1 of the tests.
 *
 * FAKE_CUDA_HANG=1     a context's work never ends
 * FAKE_CUDA_DEVICES=N  how many devices there are (1); their attributes are numbered as in cuda.h
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define EXPORT __attribute__((visibility("default")))
enum { OK = 0, INVALID_VALUE = 1, INVALID_DEVICE = 101, INVALID_CONTEXT = 201 };

static _Thread_local void *current;
static void (*finish)(void);

EXPORT void fake_cuda_of(void (*finish_of_cupti)(void));
EXPORT void fake_cuda_of(void (*finish_of_cupti)(void)) { finish = finish_of_cupti; }

EXPORT int cuCtxPushCurrent_v2(void *context)
{
    current = context;
    return context ? OK : INVALID_CONTEXT;
}
EXPORT int cuCtxPopCurrent_v2(void **context)
{
    *context = current;
    current = NULL;
    return OK;
}
EXPORT int cuCtxGetCurrent(void **context)
{
    *context = current;
    return OK;
}
EXPORT int cuCtxSynchronize(void)
{
    if (!current) return INVALID_CONTEXT;
    while (getenv("FAKE_CUDA_HANG")) sleep(1);
    if (finish) finish();
    return OK;
}

/* ---- devices ---- */

static int n_devices(void)
{
    return getenv("FAKE_CUDA_DEVICES") ? atoi(getenv("FAKE_CUDA_DEVICES")) : 1;
}
EXPORT int cuDeviceGetCount(int *count)
{
    *count = n_devices();
    return OK;
}
EXPORT int cuDeviceGet(int *device, int ordinal)
{
    if (ordinal < 0 || ordinal >= n_devices()) return INVALID_DEVICE;
    *device = ordinal + 40;
    return OK; /* a handle, not the number */
}
EXPORT int cuDeviceGetAttribute(int *value, int attribute, int device)
{
    static const struct {
        int attribute, value;
    } of_an_h100[] = {{1, 1024},     {8, 49152},     {10, 32},    {12, 65536},
                      {13, 1755000}, {16, 114},      {32, 1},     {36, 1593000},
                      {37, 5120},    {38, 52428800}, {39, 2048},  {75, 9},
                      {76, 0},       {81, 233472},   {82, 65536}, {106, 32}};
    if (device < 40) return INVALID_DEVICE;
    for (size_t i = 0; i < sizeof of_an_h100 / sizeof *of_an_h100; i++)
        if (of_an_h100[i].attribute == attribute) {
            *value = of_an_h100[i].value;
            return OK;
        }
    return INVALID_VALUE;
}
EXPORT int cuDeviceTotalMem_v2(size_t *bytes, int device)
{
    *bytes = (size_t)80 << 30;
    return device < 40 ? INVALID_DEVICE : OK;
}
EXPORT int cuDeviceGetName(char *name, int n, int device)
{
    snprintf(name, (size_t)n, "NVIDIA H100 (fake driver's) %d", device - 40);
    return OK;
}
EXPORT int cuDeviceGetUuid(unsigned char *uuid, int device)
{
    for (int i = 0; i < 16; i++) uuid[i] = (unsigned char)(device - 40 + i);
    return OK;
}
