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

/* What a line says: its first word, and the fields that most records have. */
typedef struct {
    char word[32];
    const char *fields;
    uint64_t start, end;
    uint32_t device, context, stream, corr, thread, version;
} FakeLine;
#define NUMBER(key, otherwise) fake_number(l->fields, key, otherwise)

static inline void make_kernel(FakeRecord *r, const FakeLine *l)
{
    FakeKernel *k = &r->kernel;
    k->kind = 10, k->start = l->start, k->end = l->end, k->deviceId = l->device,
    k->contextId = l->context, k->streamId = l->stream, k->correlationId = l->corr;
    fake_three(l->fields, "grid", &k->gridX, &k->gridY, &k->gridZ),
        fake_three(l->fields, "block", &k->blockX, &k->blockY, &k->blockZ);
    int32_t cluster[3] = {0};
    if (fake_field(l->fields, "cluster"))
        fake_three(l->fields, "cluster", &cluster[0], &cluster[1], &cluster[2]);
    k->clusterX = (uint32_t)cluster[0], k->clusterY = (uint32_t)cluster[1],
    k->clusterZ = (uint32_t)cluster[2];
    k->registersPerThread = (uint16_t)NUMBER("regs", 32),
    k->staticSharedMemory = (int32_t)NUMBER("static", 0),
    k->dynamicSharedMemory = (int32_t)NUMBER("dynamic", 0);
    k->name = fake_text(l->fields, "name"), k->graphId = (uint32_t)NUMBER("graph", 0),
    k->graphNodeId = NUMBER("node", 0);
}

static inline void make_memcpy(FakeRecord *r, const FakeLine *l)
{
    FakeMemcpy *c = &r->copy;
    c->kind = 1, c->start = l->start, c->end = l->end, c->deviceId = l->device,
    c->contextId = l->context, c->streamId = l->stream, c->correlationId = l->corr;
    c->copyKind = (uint8_t)NUMBER("copy", 1), c->srcKind = (uint8_t)NUMBER("src", 1),
    c->dstKind = (uint8_t)NUMBER("dst", 3), c->flags = (uint8_t)NUMBER("async", 1),
    c->bytes = NUMBER("bytes", 0);
    c->copyCount = 1, c->graphId = (uint32_t)NUMBER("graph", 0), c->graphNodeId = NUMBER("node", 0);
}

static inline void make_peer(FakeRecord *r, const FakeLine *l)
{
    FakePeer *c = &r->peer;
    c->kind = 22, c->start = l->start, c->end = l->end, c->deviceId = l->device,
    c->contextId = l->context, c->streamId = l->stream, c->correlationId = l->corr;
    c->copyKind = 10, c->srcKind = c->dstKind = 3, c->flags = 1, c->bytes = NUMBER("bytes", 0),
    c->srcDeviceId = l->device, c->dstDeviceId = (uint32_t)NUMBER("to", 1);
}

static inline void make_memset(FakeRecord *r, const FakeLine *l)
{
    FakeMemset *c = &r->set;
    c->kind = 2, c->start = l->start, c->end = l->end, c->deviceId = l->device,
    c->contextId = l->context, c->streamId = l->stream, c->correlationId = l->corr;
    c->value = (uint32_t)NUMBER("value", 0), c->bytes = NUMBER("bytes", 0), c->memoryKind = 3,
    c->flags = (uint16_t)NUMBER("async", 1);
}

static inline void make_call(FakeRecord *r, const FakeLine *l)
{
    FakeApi *a = &r->api;
    a->kind = *l->word == 'd' ? 4 : 5,
    a->cbid = (uint32_t)NUMBER("cbid", *l->word == 'd' ? 307 : 211), a->start = l->start,
    a->end = l->end, a->threadId = l->thread, a->correlationId = l->corr;
    a->returnValue = (uint32_t)NUMBER("result", 0);
}

static inline void make_overhead(FakeRecord *r, const FakeLine *l)
{
    FakeOverhead *o = &r->overhead;
    o->kind = 17, o->overheadKind = (uint32_t)NUMBER("what", 0x10000),
    o->objectKind = (uint32_t)NUMBER("object", 1), o->start = l->start, o->end = l->end;
    o->object[0] = o->objectKind >= 3 ? l->device : 1,
    o->object[1] = o->objectKind >= 3 ? l->context : l->thread;
    if (NUMBER("data", 0) && fake_does(FAKE_OVERHEAD_DATA, l->version))
        o->overheadData = calloc(1, 12);
}

static inline void make_sync(FakeRecord *r, const FakeLine *l)
{
    FakeSync *s = &r->sync;
    s->kind = 38, s->type = (uint32_t)NUMBER("what", 3), s->start = l->start, s->end = l->end,
    s->correlationId = l->corr, s->contextId = l->context, s->streamId = l->stream;
    s->cudaEventId = (uint32_t)NUMBER("event", UINT32_MAX);
}

/* An H200. */
static inline void make_device(FakeRecord *r, const FakeLine *l)
{
    FakeDevice *d = &r->device;
    *d = (FakeDevice){.kind = 8,
                      .id = l->device,
                      .globalMemoryBandwidth = 4916736000u,
                      .globalMemorySize = NUMBER("bytes", 150121545728u),
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
    fake_uuid(d->uuid, l->device);
    static char shared_name[] = "NVIDIA H200 (fake)";
    d->name = fake_does(FAKE_DEVICE_NAMES, l->version) ? strdup(shared_name) : shared_name;
}

static inline void make_context(FakeRecord *r, const FakeLine *l)
{
    r->context = (FakeContext){
        .kind = 9, .contextId = l->context, .deviceId = l->device, .computeApiKind = 1};
}

static inline void make_stream(FakeRecord *r, const FakeLine *l)
{
    r->stream = (FakeStreamRecord){37, l->context, l->stream, 0, 1, l->corr};
}

static inline void make_memory(FakeRecord *r, const FakeLine *l)
{
    FakeMemory *m = &r->memory;
    m->kind = 49, m->memoryOperationType = (uint32_t)NUMBER("what", 1),
    m->memoryKind = (uint32_t)NUMBER("memory", 3), m->correlationId = l->corr,
    m->address = NUMBER("addr", 0), m->bytes = NUMBER("bytes", 0);
    m->timestamp = l->start, m->deviceId = l->device, m->contextId = l->context,
    m->streamId = l->stream;
}

static inline void make_pool(FakeRecord *r, const FakeLine *l)
{
    FakePool *p = &r->pool;
    p->kind = 50, p->operation = (uint32_t)NUMBER("what", 1), p->poolType = 1,
    p->correlationId = l->corr, p->deviceId = l->device, p->address = NUMBER("addr", 0),
    p->size = NUMBER("bytes", 0);
    p->timestamp = l->start;
}

static inline void make_unified(FakeRecord *r, const FakeLine *l)
{
    FakeUnified *u = &r->unified;
    u->kind = 25, u->counterKind = (uint32_t)NUMBER("what", 1), u->value = NUMBER("bytes", 0),
    u->start = l->start, u->end = l->end, u->address = NUMBER("addr", 0),
    u->srcId = (uint32_t)NUMBER("from", 0);
    u->dstId = (uint32_t)NUMBER("to", 0);
}

static inline void make_graph(FakeRecord *r, const FakeLine *l)
{
    FakeGraph *g = &r->graph;
    g->kind = 51, g->correlationId = l->corr, g->start = l->start, g->end = l->end,
    g->deviceId = l->device, g->graphId = (uint32_t)NUMBER("graph", 1), g->contextId = l->context,
    g->streamId = l->stream;
}

/* A kind that nobody asks for. */
static inline void make_preemption(FakeRecord *r, const FakeLine *l)
{
    (void)l;
    r->kind = 18;
}

static inline void make_environment(FakeRecord *r, const FakeLine *l)
{
    FakeEnvironment *e = &r->environment;
    e->kind = 20, e->deviceId = l->device, e->timestamp = l->start,
    e->environmentKind = (uint32_t)NUMBER("what", 1);
    const char *p = fake_field(l->fields, "values");
    for (int i = 0; i < 5 && p; i++, p = strchr(p, ',') ? strchr(p, ',') + 1 : NULL)
        e->data[i] = (uint32_t)strtoul(p, NULL, 10);
}

static inline void make_jit(FakeRecord *r, const FakeLine *l)
{
    FakeJit *j = &r->jit;
    j->kind = 52, j->entryType = (uint32_t)NUMBER("entry", 1),
    j->operationType = (uint32_t)NUMBER("what", 3), j->deviceId = l->device, j->start = l->start,
    j->end = l->end;
    j->correlationId = l->corr, j->cacheSize = NUMBER("bytes", 0),
    j->cachePath = fake_text(l->fields, "path"), j->threadId = l->thread;
}

static inline void make_nvlink(FakeRecord *r, const FakeLine *l)
{
    FakeNvLink *n = &r->nvlink;
    n->kind = 40, n->version = 4, n->type[0] = n->type[1] = 1,
    n->linkCount = (uint32_t)NUMBER("links", 18), n->flag = 0x1e;
    fake_uuid(n->id[0], l->device), fake_uuid(n->id[1], (uint32_t)NUMBER("to", 1));
    if (!fake_does(FAKE_NVLINK_PORTS, l->version)) {
        n->rest.old.bandwidth = NUMBER("bandwidth", 0), n->rest.old.nvswitch = 1;
        return;
    }
    for (int i = 0; i < 2; i++) n->rest.new.ports[i] = calloc(n->linkCount, sizeof(uint32_t));
    n->rest.new.bandwidth = NUMBER("bandwidth", 0), n->rest.new.nvswitch = 1;
}

static inline void make_pcie(FakeRecord *r, const FakeLine *l)
{
    FakePcie *c = &r->pcie;
    c->kind = 46, c->type = (uint32_t)NUMBER("what", 0), c->id = l->device, c->generation = 5,
    c->linkRate = 32, c->linkWidth = 16, c->upstreamBus = 26;
    if (!c->type) fake_uuid(c->uuid, l->device);
}

static inline void make_event(FakeRecord *r, const FakeLine *l)
{
    FakeEvent *e = &r->event;
    e->kind = 36, e->correlationId = l->corr, e->contextId = l->context, e->streamId = l->stream,
    e->eventId = (uint32_t)NUMBER("event", 1), e->deviceId = l->device;
    e->cudaEventSyncId = NUMBER("sync", 0);
}

static inline void make_external(FakeRecord *r, const FakeLine *l)
{
    r->external = (FakeExternal){39, (uint32_t)NUMBER("what", 3), NUMBER("id", 0), l->corr, 0};
}

/* Makes the record of a line; returns its kind, 0 when the line is not one. `shift` is added to
 * correlation ids. */
static inline uint32_t fake_record_make(FakeRecord *r, const char *fields, uint64_t base,
                                        uint32_t shift, uint32_t version)
{
    static const struct {
        const char *word;
        void (*make)(FakeRecord *r, const FakeLine *l);
    } makers[] = {{"kernel", make_kernel},
                  {"memcpy", make_memcpy},
                  {"peer", make_peer},
                  {"memset", make_memset},
                  {"runtime", make_call},
                  {"driver", make_call},
                  {"overhead", make_overhead},
                  {"sync", make_sync},
                  {"device", make_device},
                  {"ctx", make_context},
                  {"strm", make_stream},
                  {"memory", make_memory},
                  {"pool", make_pool},
                  {"unified", make_unified},
                  {"graph", make_graph},
                  {"preemption", make_preemption},
                  {"environment", make_environment},
                  {"jit", make_jit},
                  {"nvlink", make_nvlink},
                  {"pcie", make_pcie},
                  {"event", make_event},
                  {"external", make_external}};
    FakeLine line = {.fields = fields, .version = version}, *l = &line;
    sscanf(fields, "%31s", line.word);
    line.start = fake_time(fields, "start", base), line.end = fake_time(fields, "end", base);
    line.device = (uint32_t)NUMBER("device", 0), line.context = (uint32_t)NUMBER("context", 1);
    line.stream = (uint32_t)NUMBER("stream", 7), line.corr = (uint32_t)NUMBER("corr", 0);
    line.thread = (uint32_t)NUMBER("thread", 100);
    const char *thread = fake_field(fields, "thread");
    if (thread && !strncmp(thread, "self", 4)) line.thread = (uint32_t)syscall(SYS_gettid);
    if (line.corr) line.corr += shift;
    memset(r, 0, sizeof *r);
    for (size_t i = 0; i < sizeof makers / sizeof *makers; i++)
        if (!strcmp(line.word, makers[i].word)) makers[i].make(r, l);
    return r->kind;
}
#undef NUMBER

#endif
