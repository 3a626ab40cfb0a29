// SPDX-License-Identifier: Apache-2.0
/* fake_records.h: CUPTI's activity records of CUDA 13.0 as NVIDIA documents them, how long older
 * libraries make them, and how to make one from a line of text. */
#ifndef FAKE_RECORDS_H
#define FAKE_RECORDS_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "fake_behaviour.h"

typedef struct {
    uint32_t kind;
    uint8_t cacheConfig, sharedMemoryConfig;
    uint16_t registersPerThread;
    uint32_t partitionedRequested, partitionedExecuted;
    uint64_t start, end, completed;
    uint32_t deviceId, contextId, streamId;
    int32_t gridX, gridY, gridZ, blockX, blockY, blockZ, staticSharedMemory, dynamicSharedMemory;
    uint32_t localMemoryPerThread, localMemoryTotal, correlationId;
    int64_t gridId;
    char *name;
    void *reserved0;
    uint64_t queued, submitted;
    uint8_t launchType, carveoutRequested, carveout, padding;
    uint32_t sharedMemoryExecuted;
    uint64_t graphNodeId;
    uint32_t shmemLimitConfig, graphId;
    void *accessPolicy;
    uint32_t channelID, channelType, clusterX, clusterY, clusterZ, clusterPolicy;
    uint64_t localMemoryTotal_v2;
    uint32_t maxPotentialClusterSize, maxActiveClusters;
    uint8_t isDeviceLaunched, padding3[7];
} FakeKernel;
typedef struct {
    uint32_t kind;
    uint8_t copyKind, srcKind, dstKind, flags;
    uint64_t bytes, start, end;
    uint32_t deviceId, contextId, streamId, correlationId, runtimeCorrelationId, pad;
    void *reserved0;
    uint64_t graphNodeId;
    uint32_t graphId, channelID, channelType;
    uint8_t isDeviceLaunched, pad2[3];
    uint64_t copyCount;
} FakeMemcpy;
typedef struct {
    uint32_t kind;
    uint8_t copyKind, srcKind, dstKind, flags;
    uint64_t bytes, start, end;
    uint32_t deviceId, contextId, streamId, srcDeviceId, srcContextId, dstDeviceId, dstContextId,
        correlationId;
    void *reserved0;
    uint64_t graphNodeId;
    uint32_t graphId, channelID, channelType;
} FakePeer;
typedef struct {
    uint32_t kind, value;
    uint64_t bytes, start, end;
    uint32_t deviceId, contextId, streamId, correlationId;
    uint16_t flags, memoryKind;
    uint32_t pad;
    void *reserved0;
    uint64_t graphNodeId;
    uint32_t graphId, channelID, channelType;
    uint8_t isDeviceLaunched, pad2[3];
} FakeMemset;
typedef struct {
    uint32_t kind, cbid;
    uint64_t start, end;
    uint32_t processId, threadId, correlationId, returnValue;
} FakeApi;
typedef struct {
    uint32_t kind, overheadKind, objectKind, object[3];
    uint64_t start, end;
    uint32_t correlationId, reserved0;
    void *overheadData;
} FakeOverhead;
typedef struct {
    uint32_t kind, type;
    uint64_t start, end;
    uint32_t correlationId, contextId, streamId, cudaEventId;
    uint64_t cudaEventSyncId;
    uint32_t returnValue, pad;
} FakeSync;
typedef struct {
    uint32_t kind, flags;
    uint64_t globalMemoryBandwidth, globalMemorySize;
    uint32_t constantMemorySize, l2CacheSize, numThreadsPerWarp, coreClockRate, numMemcpyEngines,
        numMultiprocessors, maxIPC, maxWarpsPerMultiprocessor;
    uint32_t maxBlocksPerMultiprocessor, maxSharedMemoryPerMultiprocessor,
        maxRegistersPerMultiprocessor, maxRegistersPerBlock, maxSharedMemoryPerBlock;
    uint32_t maxThreadsPerBlock, maxBlockDim[3], maxGridDim[3], major, minor, id, eccEnabled;
    uint8_t uuid[16];
    char *name;
    uint8_t isCudaVisible, isMigEnabled, reserved[6];
    uint32_t gpuInstanceId, computeInstanceId;
    uint8_t migUuid[16];
    uint32_t isNumaNode, numaId;
} FakeDevice;
typedef struct {
    uint32_t kind, contextId, deviceId;
    uint16_t computeApiKind, nullStreamId;
    uint32_t parentContextId;
    uint8_t isGreenContext, padding;
    uint16_t numMultiprocessors;
    uint32_t cigMode, padding2;
} FakeContext;
typedef struct {
    uint32_t kind, contextId, streamId, priority, flag, correlationId;
} FakeStreamRecord;
typedef struct {
    uint32_t kind, memoryOperationType, memoryKind, correlationId;
    uint64_t address, bytes, timestamp, PC;
    uint32_t processId, deviceId, contextId, streamId;
    char *name;
    uint32_t isAsync, pad1, poolType, pad2;
    uint64_t poolAddress, releaseThreshold, poolSize, utilizedSize;
    char *source;
} FakeMemory;
typedef struct {
    uint32_t kind, operation, poolType, correlationId, processId, deviceId;
    size_t minBytesToKeep;
    uint64_t address, size, releaseThreshold, timestamp, utilizedSize;
    uint8_t isManagedPool, pad2[7];
} FakePool;
typedef struct {
    uint32_t kind, counterKind;
    uint64_t value, start, end, address;
    uint32_t srcId, dstId, streamId, processId, flags, pad;
    uint64_t processors[5];
} FakeUnified;
typedef struct {
    uint32_t kind, correlationId;
    uint64_t start, end;
    uint32_t deviceId, graphId, contextId, streamId;
    void *reserved;
    uint32_t endDeviceId, endContextId;
} FakeGraph;

typedef struct {
    uint32_t kind, deviceId;
    uint64_t timestamp;
    uint32_t environmentKind, data[5];
} FakeEnvironment;
typedef struct {
    uint32_t kind, entryType, operationType, deviceId;
    uint64_t start, end;
    uint32_t correlationId, padding;
    uint64_t operationCorrelationId, cacheSize;
    char *cachePath;
    uint32_t processId, threadId;
} FakeJit;
typedef struct {
    uint32_t kind, version, type[2];
    uint8_t id[2][16];
    uint32_t flag, linkCount;
    union {
        struct {
            int8_t ports[2][32];
            uint64_t bandwidth;
            uint8_t nvswitch, pad[7];
        } old;
        struct { /* from 13.2 on */
            uint32_t *ports[2];
            uint64_t bandwidth;
            uint8_t nvswitch, pad[7];
        } new;
    } rest;
} FakeNvLink;
typedef struct {
    uint32_t kind, type, id, domain;
    uint16_t generation, linkRate, linkWidth, upstreamBus;
    uint8_t uuid[16];
    uint32_t peers[32];
} FakePcie;
typedef struct {
    uint32_t kind, correlationId, contextId, streamId, eventId, pad, deviceId, pad2;
    void *reserved0;
    uint64_t deviceTimestamp, cudaEventSyncId;
} FakeEvent;
typedef struct {
    uint32_t kind, externalKind;
    uint64_t externalId;
    uint32_t correlationId, reserved;
} FakeExternal;

typedef union {
    uint32_t kind;
    FakeKernel kernel;
    FakeMemcpy copy;
    FakePeer peer;
    FakeMemset set;
    FakeApi api;
    FakeOverhead overhead;
    FakeSync sync;
    FakeDevice device;
    FakeContext context;
    FakeStreamRecord stream;
    FakeMemory memory;
    FakePool pool;
    FakeUnified unified;
    FakeGraph graph;
    FakeEnvironment environment;
    FakeJit jit;
    FakeNvLink nvlink;
    FakePcie pcie;
    FakeEvent event;
    FakeExternal external;
    uint8_t longest[248]; /* of any version; fields after those of 13.0 are zero */
} FakeRecord;

/* Lengths by the API version that brought them, the newest first; 0: the library does not know the
 * kind. */
static inline size_t fake_record_size(uint32_t kind, uint32_t version)
{
    static const struct {
        uint32_t kind, since;
        size_t n;
    } sizes[] = {
        {1, 130400, 112},  {1, 26, 96},       {1, 16, 88},       {1, 14, 80},       {1, 0, 72},
        {2, 130400, 104},  {2, 16, 88},       {2, 14, 80},       {2, 0, 72},        {4, 0, 40},
        {5, 0, 40},        {8, 130200, 192},  {8, 20, 184},      {8, 16, 176},      {8, 15, 152},
        {8, 0, 144},       {9, 130100, 40},   {9, 23, 32},       {9, 22, 24},       {9, 0, 16},
        {10, 130400, 248}, {10, 130300, 232}, {10, 130100, 224}, {10, 130000, 216}, {10, 19, 208},
        {10, 18, 200},     {10, 16, 176},     {10, 15, 168},     {10, 0, 160},      {17, 22, 56},
        {17, 21, 48},      {17, 0, 40},       {20, 0, 40},       {22, 16, 96},      {22, 14, 88},
        {22, 0, 80},       {25, 26, 104},     {25, 0, 64},       {36, 130500, 80},  {36, 26, 56},
        {36, 0, 24},       {37, 0, 24},       {38, 26, 56},      {38, 0, 40},       {39, 0, 24},
        {40, 130200, 88},  {40, 0, 136},      {46, 0, 168},      {49, 24, 128},     {49, 16, 120},
        {49, 15, 112},     {50, 130000, 80},  {50, 16, 72},      {50, 15, 64},      {51, 21, 56},
        {51, 17, 48},      {52, 22, 72},      {52, 18, 64}};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        if (sizes[i].kind == kind && version >= sizes[i].since) return sizes[i].n;
    return 0;
}

static inline const char *fake_field(const char *fields, const char *key)
{
    size_t n = strlen(key);
    for (const char *p = fields; (p = strstr(p, key)); p += n)
        if (p > fields && p[-1] == ' ' && p[n] == '=') return p + n + 1;
    return NULL;
}

static inline uint64_t fake_number(const char *fields, const char *key, uint64_t otherwise)
{
    const char *p = fake_field(fields, key);
    return p ? strtoull(p, NULL, 0) : otherwise;
}

/* start=+100 is 100 ns after base, start=now when the record is made, start=100 is absolute. */
static inline uint64_t fake_time(const char *fields, const char *key, uint64_t base)
{
    const char *p = fake_field(fields, key);
    struct timespec t;
    if (!p) return base;
    if (!strncmp(p, "now", 3)) {
        clock_gettime(CLOCK_REALTIME, &t);
        return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
    }
    return *p == '+' ? base + strtoull(p + 1, NULL, 10) : strtoull(p, NULL, 10);
}

static inline void fake_three(const char *fields, const char *key, int32_t *x, int32_t *y,
                              int32_t *z)
{
    const char *p = fake_field(fields, key);
    *x = *y = *z = 1;
    if (p) sscanf(p, "%d,%d,%d", x, y, z);
}

static inline char *fake_text(const char *fields, const char *key)
{
    const char *p = fake_field(fields, key);
    return p ? strndup(p, strcspn(p, " \n")) : NULL;
}

static inline uint8_t *fake_uuid(uint8_t *uuid, uint32_t device)
{
    for (int i = 0; i < 15; i++) uuid[i] = (uint8_t)(i + 1);
    uuid[15] = (uint8_t)device;
    return uuid;
}

/* Makes the record of a line; returns its kind, 0 when the line is not one. `shift` is added to
 * correlation ids. */
static inline uint32_t fake_record_make(FakeRecord *r, const char *f, uint64_t base, uint32_t shift,
                                        uint32_t version)
{
    char word[32] = "";
    sscanf(f, "%31s", word);
    memset(r, 0, sizeof *r);
#define N(key, otherwise) fake_number(f, key, otherwise)
    uint64_t start = fake_time(f, "start", base), end = fake_time(f, "end", base);
    uint32_t device = (uint32_t)N("device", 0), context = (uint32_t)N("context", 1),
             stream = (uint32_t)N("stream", 7);
    uint32_t corr = (uint32_t)N("corr", 0), thread = (uint32_t)N("thread", 100);
    if (fake_field(f, "thread") && !strncmp(fake_field(f, "thread"), "self", 4))
        thread = (uint32_t)syscall(SYS_gettid);
    corr = corr ? corr + shift : 0;
    if (!strcmp(word, "kernel")) {
        FakeKernel *k = &r->kernel;
        k->kind = 10, k->start = start, k->end = end, k->deviceId = device, k->contextId = context,
        k->streamId = stream, k->correlationId = corr;
        fake_three(f, "grid", &k->gridX, &k->gridY, &k->gridZ),
            fake_three(f, "block", &k->blockX, &k->blockY, &k->blockZ);
        int32_t cluster[3] = {0};
        if (fake_field(f, "cluster"))
            fake_three(f, "cluster", &cluster[0], &cluster[1], &cluster[2]);
        k->clusterX = (uint32_t)cluster[0], k->clusterY = (uint32_t)cluster[1],
        k->clusterZ = (uint32_t)cluster[2];
        k->registersPerThread = (uint16_t)N("regs", 32),
        k->staticSharedMemory = (int32_t)N("static", 0),
        k->dynamicSharedMemory = (int32_t)N("dynamic", 0);
        k->name = fake_text(f, "name"), k->graphId = (uint32_t)N("graph", 0),
        k->graphNodeId = N("node", 0);
    } else if (!strcmp(word, "memcpy")) {
        FakeMemcpy *c = &r->copy;
        c->kind = 1, c->start = start, c->end = end, c->deviceId = device, c->contextId = context,
        c->streamId = stream, c->correlationId = corr;
        c->copyKind = (uint8_t)N("copy", 1), c->srcKind = (uint8_t)N("src", 1),
        c->dstKind = (uint8_t)N("dst", 3), c->flags = (uint8_t)N("async", 1),
        c->bytes = N("bytes", 0);
        c->copyCount = 1, c->graphId = (uint32_t)N("graph", 0), c->graphNodeId = N("node", 0);
    } else if (!strcmp(word, "peer")) {
        FakePeer *c = &r->peer;
        c->kind = 22, c->start = start, c->end = end, c->deviceId = device, c->contextId = context,
        c->streamId = stream, c->correlationId = corr;
        c->copyKind = 10, c->srcKind = c->dstKind = 3, c->flags = 1, c->bytes = N("bytes", 0),
        c->srcDeviceId = device, c->dstDeviceId = (uint32_t)N("to", 1);
    } else if (!strcmp(word, "memset")) {
        FakeMemset *c = &r->set;
        c->kind = 2, c->start = start, c->end = end, c->deviceId = device, c->contextId = context,
        c->streamId = stream, c->correlationId = corr;
        c->value = (uint32_t)N("value", 0), c->bytes = N("bytes", 0), c->memoryKind = 3,
        c->flags = (uint16_t)N("async", 1);
    } else if (!strcmp(word, "runtime") || !strcmp(word, "driver")) {
        FakeApi *a = &r->api;
        a->kind = *word == 'd' ? 4 : 5, a->cbid = (uint32_t)N("cbid", *word == 'd' ? 307 : 211),
        a->start = start, a->end = end, a->threadId = thread, a->correlationId = corr;
        a->returnValue = (uint32_t)N("result", 0);
    } else if (!strcmp(word, "overhead")) {
        FakeOverhead *o = &r->overhead;
        o->kind = 17, o->overheadKind = (uint32_t)N("what", 0x10000),
        o->objectKind = (uint32_t)N("object", 1), o->start = start, o->end = end;
        o->object[0] = o->objectKind >= 3 ? device : 1,
        o->object[1] = o->objectKind >= 3 ? context : thread;
        if (N("data", 0) && fake_does(FAKE_OVERHEAD_DATA, version)) o->overheadData = calloc(1, 12);
    } else if (!strcmp(word, "sync")) {
        FakeSync *s = &r->sync;
        s->kind = 38, s->type = (uint32_t)N("what", 3), s->start = start, s->end = end,
        s->correlationId = corr, s->contextId = context, s->streamId = stream;
        s->cudaEventId = (uint32_t)N("event", UINT32_MAX);
    } else if (!strcmp(word, "device")) { /* an H200 */
        FakeDevice *d = &r->device;
        *d = (FakeDevice){.kind = 8,
                          .id = device,
                          .globalMemoryBandwidth = 4916736000u,
                          .globalMemorySize = N("bytes", 150121545728u),
                          .l2CacheSize = 62914560,
                          .numThreadsPerWarp = 32,
                          .coreClockRate = 1980000,
                          .numMultiprocessors = 132,
                          .maxWarpsPerMultiprocessor = 64,
                          .maxBlocksPerMultiprocessor = 32,
                          .maxSharedMemoryPerMultiprocessor = 233472,
                          .maxRegistersPerMultiprocessor = 65536,
                          .maxRegistersPerBlock = 65536,
                          .maxSharedMemoryPerBlock = 49152,
                          .maxThreadsPerBlock = 1024,
                          .major = 9,
                          .minor = 0,
                          .eccEnabled = 1,
                          .isCudaVisible = 1};
        fake_uuid(d->uuid, device);
        static char shared_name[] = "NVIDIA H200 (fake)";
        d->name = fake_does(FAKE_DEVICE_NAMES, version) ? strdup(shared_name) : shared_name;
    } else if (!strcmp(word, "ctx")) {
        r->context =
            (FakeContext){.kind = 9, .contextId = context, .deviceId = device, .computeApiKind = 1};
    } else if (!strcmp(word, "strm")) {
        r->stream = (FakeStreamRecord){37, context, stream, 0, 1, corr};
    } else if (!strcmp(word, "memory")) {
        FakeMemory *m = &r->memory;
        m->kind = 49, m->memoryOperationType = (uint32_t)N("what", 1),
        m->memoryKind = (uint32_t)N("memory", 3), m->correlationId = corr,
        m->address = N("addr", 0), m->bytes = N("bytes", 0);
        m->timestamp = start, m->deviceId = device, m->contextId = context, m->streamId = stream;
    } else if (!strcmp(word, "pool")) {
        FakePool *p = &r->pool;
        p->kind = 50, p->operation = (uint32_t)N("what", 1), p->poolType = 1,
        p->correlationId = corr, p->deviceId = device, p->address = N("addr", 0),
        p->size = N("bytes", 0);
        p->timestamp = start;
    } else if (!strcmp(word, "unified")) {
        FakeUnified *u = &r->unified;
        u->kind = 25, u->counterKind = (uint32_t)N("what", 1), u->value = N("bytes", 0),
        u->start = start, u->end = end, u->address = N("addr", 0),
        u->srcId = (uint32_t)N("from", 0);
        u->dstId = (uint32_t)N("to", 0);
    } else if (!strcmp(word, "graph")) {
        FakeGraph *g = &r->graph;
        g->kind = 51, g->correlationId = corr, g->start = start, g->end = end, g->deviceId = device,
        g->graphId = (uint32_t)N("graph", 1), g->contextId = context, g->streamId = stream;
    } else if (!strcmp(word, "preemption")) { /* a kind that nobody asks for */
        r->kind = 18;
    } else if (!strcmp(word, "environment")) {
        FakeEnvironment *e = &r->environment;
        e->kind = 20, e->deviceId = device, e->timestamp = start,
        e->environmentKind = (uint32_t)N("what", 1);
        const char *p = fake_field(f, "values");
        for (int i = 0; i < 5 && p; i++, p = strchr(p, ',') ? strchr(p, ',') + 1 : NULL)
            e->data[i] = (uint32_t)strtoul(p, NULL, 10);
    } else if (!strcmp(word, "jit")) {
        FakeJit *j = &r->jit;
        j->kind = 52, j->entryType = (uint32_t)N("entry", 1),
        j->operationType = (uint32_t)N("what", 3), j->deviceId = device, j->start = start,
        j->end = end;
        j->correlationId = corr, j->cacheSize = N("bytes", 0), j->cachePath = fake_text(f, "path"),
        j->threadId = thread;
    } else if (!strcmp(word, "nvlink")) {
        FakeNvLink *l = &r->nvlink;
        l->kind = 40, l->version = 4, l->type[0] = l->type[1] = 1,
        l->linkCount = (uint32_t)N("links", 18), l->flag = 0x1e;
        fake_uuid(l->id[0], device), fake_uuid(l->id[1], (uint32_t)N("to", 1));
        if (!fake_does(FAKE_NVLINK_PORTS, version)) {
            l->rest.old.bandwidth = N("bandwidth", 0), l->rest.old.nvswitch = 1;
        } else {
            for (int i = 0; i < 2; i++)
                l->rest.new.ports[i] = calloc(l->linkCount, sizeof(uint32_t));
            l->rest.new.bandwidth = N("bandwidth", 0), l->rest.new.nvswitch = 1;
        }
    } else if (!strcmp(word, "pcie")) {
        FakePcie *c = &r->pcie;
        c->kind = 46, c->type = (uint32_t)N("what", 0), c->id = device, c->generation = 5,
        c->linkRate = 32, c->linkWidth = 16, c->upstreamBus = 26;
        if (!c->type) fake_uuid(c->uuid, device);
    } else if (!strcmp(word, "event")) {
        FakeEvent *e = &r->event;
        e->kind = 36, e->correlationId = corr, e->contextId = context, e->streamId = stream,
        e->eventId = (uint32_t)N("event", 1), e->deviceId = device;
        e->cudaEventSyncId = N("sync", 0);
    } else if (!strcmp(word, "external")) {
        r->external = (FakeExternal){39, (uint32_t)N("what", 3), N("id", 0), corr, 0};
    } else {
        return 0;
    }
#undef N
    return r->kind;
}

#endif
