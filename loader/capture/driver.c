// SPDX-License-Identifier: Apache-2.0
/* driver.c: asks the CUDA driver about devices; see driver.h. Numbers of attributes and
 * declarations are those of cuda.h. */
#define _GNU_SOURCE
#include "driver.h"

#include "../base/base.h"

#include <dlfcn.h>

void *driver_function(const char *name)
{
    static _Atomic(void *) library;
    void *now = library;
    if (!now) library = now = dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD);
    return now ? dlsym(now, name) : NULL;
}

typedef struct {
    int (*count)(int *count), (*get)(int *device, int ordinal),
        (*attribute)(int *value, int attribute, int device);
    int (*memory)(size_t *bytes, int device), (*name)(char *name, int n, int device),
        (*uuid)(uint8_t *uuid, int device);
} Driver;

/* Only the functions for count and attributes are required. */
static bool find(Driver *d)
{
    const struct {
        const char *name;
        void *to;
    } functions[] = {{"cuDeviceGetCount", &d->count},         {"cuDeviceGet", &d->get},
                     {"cuDeviceGetAttribute", &d->attribute}, {"cuDeviceTotalMem_v2", &d->memory},
                     {"cuDeviceGetName", &d->name},           {"cuDeviceGetUuid", &d->uuid}};
    for (size_t i = 0; i < COUNT(functions); i++) {
        void *symbol = driver_function(functions[i].name);
        memcpy(functions[i].to, &symbol,
               sizeof symbol); /* copies a function's address from the object pointer of dlsym() */
    }
    return d->count && d->get && d->attribute;
}

uint32_t driver_devices(void)
{
    Driver d;
    int n = 0;
    return find(&d) && !d.count(&n) && n > 0 ? (uint32_t)n : 0;
}

static void set(Record *r, enum RecordField field, uint64_t value)
{
    r->values[record_field_index(r->kind, field)] = value;
}

bool driver_device(uint32_t ordinal, Record *r, char *name, size_t n_name)
{
    static const struct {
        enum RecordField field;
        int attribute;
    } attributes[] = {{FIELD_L2_BYTES, 38},
                      {FIELD_WARP, 10},
                      {FIELD_CLOCK_KHZ, 13},
                      {FIELD_PROCESSORS, 16},
                      {FIELD_BLOCKS_PER_SM, 106},
                      {FIELD_SHARED_PER_SM, 81},
                      {FIELD_REGISTERS_PER_SM, 82},
                      {FIELD_REGISTERS_PER_BLOCK, 12},
                      {FIELD_SHARED_PER_BLOCK, 8},
                      {FIELD_THREADS_PER_BLOCK, 1},
                      {FIELD_MAJOR, 75},
                      {FIELD_MINOR, 76},
                      {FIELD_ECC, 32}};
    enum {
        THREADS_PER_SM = 39,
        WARP_SIZE = 10,
        MEMORY_CLOCK_KHZ = 36,
        BUS_BITS = 37,
        PER_CLOCK = 2 /* bits for each line, because all memory is DDR */
    };
    Driver d;
    int device, value, threads, warp, clock, bits;
    size_t bytes;
    uint8_t uuid[16];
    uint64_t halves[2];
    *name = 0;
    if (!find(&d) || d.get(&device, (int)ordinal)) return false;
    *r = (Record){.kind = REC_DEVICE};
    set(r, FIELD_DEVICE, ordinal);
    for (size_t i = 0; i < COUNT(attributes); i++)
        if (!d.attribute(&value, attributes[i].attribute, device))
            set(r, attributes[i].field, (uint32_t)value);
    if (!d.attribute(&threads, THREADS_PER_SM, device) && !d.attribute(&warp, WARP_SIZE, device) &&
        warp > 0)
        set(r, FIELD_WARPS_PER_SM, (uint32_t)(threads / warp));
    if (!d.attribute(&clock, MEMORY_CLOCK_KHZ, device) && !d.attribute(&bits, BUS_BITS, device))
        set(r, FIELD_BANDWIDTH_KB, (uint64_t)clock * (uint32_t)bits / 8 * PER_CLOCK);
    if (d.memory && !d.memory(&bytes, device)) set(r, FIELD_BYTES, bytes);
    if (d.name && d.name(name, (int)n_name, device)) *name = 0;
    if (d.uuid && !d.uuid(uuid, device)) {
        memcpy(halves, uuid, sizeof halves);
        set(r, FIELD_UUID_LOW, halves[0]), set(r, FIELD_UUID_HIGH, halves[1]);
    }
    return true;
}
