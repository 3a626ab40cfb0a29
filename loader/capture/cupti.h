// SPDX-License-Identifier: Apache-2.0
/* cupti.h: NVIDIA's tracing library, found at run time: its functions, what is enabled, buffers in
 * and out.
 *
 * Nothing of CUDA is needed to build or to load us: the few declarations below are facts of the
 * binary interface. There is one Cupti in a process; once opened it stays (its threads and exit
 * handlers cannot be taken back). */
#ifndef PROF_CAPTURE_CUPTI_H
#define PROF_CAPTURE_CUPTI_H

#include "../base/base.h"
#include "buffers.h"
#include "record.h"

/* What to record; the bits of an option's list. */
#define CAPTURE_KINDS(K)                                                                           \
    K(CAPTURE_KERNELS, "kernels")                                                                  \
    K(CAPTURE_COPIES, "copies")                                                                    \
    K(CAPTURE_RUNTIME, "runtime")                                                                  \
    K(CAPTURE_DRIVER, "driver")                                                                    \
    K(CAPTURE_DRIVER_ALL, "driver-all")                                                            \
    K(CAPTURE_SYNC, "sync")                                                                        \
    K(CAPTURE_OVERHEAD, "overhead")                                                                \
    K(CAPTURE_MEMORY, "memory")                                                                    \
    K(CAPTURE_UNIFIED, "unified")                                                                  \
    K(CAPTURE_GRAPHS, "graphs")                                                                    \
    K(CAPTURE_NVTX, "nvtx")                                                                        \
    K(CAPTURE_EVENTS, "events")                                                                    \
    K(CAPTURE_EXTERNAL, "external")                                                                \
    K(CAPTURE_JIT, "jit")                                                                          \
    K(CAPTURE_ENVIRONMENT, "environment")                                                          \
    K(CAPTURE_LINKS, "links")
#define AS_NUMBER(id, name) id##_NUMBER,
#define AS_BIT(id, name) id = 1 << id##_NUMBER,
enum { CAPTURE_KINDS(AS_NUMBER) N_CAPTURE_KINDS };
enum CaptureKinds { CAPTURE_KINDS(AS_BIT) };
#undef AS_NUMBER
#undef AS_BIT
enum {
    CAPTURE_DEFAULT = CAPTURE_KERNELS | CAPTURE_COPIES | CAPTURE_RUNTIME | CAPTURE_DRIVER |
                      CAPTURE_OVERHEAD | CAPTURE_MEMORY | CAPTURE_NVTX
};

enum CuptiResult {
    CUPTI_MAX_LIMIT_REACHED = 12,
    CUPTI_NOT_INITIALIZED = 15,
    CUPTI_INVALID_KIND = 21,
    CUPTI_INSUFFICIENT_PRIVILEGES = 35,
    CUPTI_MULTIPLE_SUBSCRIBERS = 39,
    CUPTI_UNKNOWN = 999,
};
enum {
    CB_DOMAIN_DRIVER = 1,
    CB_DOMAIN_RUNTIME = 2,
    CB_DOMAIN_RESOURCE = 3,
    CB_CONTEXT_CREATED = 1,
    CB_CONTEXT_ENDS = 2
};
enum {
    CB_PROFILER_START = 308,
    CB_PROFILER_STOP = 309,
    CB_AT_ENTRY = 0,
    CB_AT_EXIT = 1
};                             /* cuProfilerStart(), cuProfilerStop() */
enum { EXTERNAL_CUSTOM0 = 3 }; /* whose external ids ours are */

typedef struct {
    void *context;
} CuptiResourceData; /* as it begins */
typedef struct {
    int site;        /* CB_AT_ENTRY or CB_AT_EXIT */
} CuptiCallbackData; /* as it begins */

typedef void CuptiCallback(void *user, int domain, uint32_t cbid, const void *data);
typedef void CuptiRequest(uint8_t **buffer, size_t *size, size_t *max_records);
typedef void CuptiComplete(void *context, uint32_t stream, uint8_t *buffer, size_t size,
                           size_t valid);

/* F(result, name, parameters, required) */
#define CUPTI_FUNCTIONS(F)                                                                         \
    F(GetVersion, (uint32_t * version), true)                                                      \
    F(GetTimestamp, (uint64_t * timestamp), false)                                                 \
    F(GetResultString, (int result, const char **text), false)                                     \
    F(GetCallbackName, (int domain, uint32_t cbid, const char **name), true)                       \
    F(Subscribe, (void **subscriber, CuptiCallback *callback, void *user), true)                   \
    F(Subscribe_v2, (void **subscriber, CuptiCallback *callback, void *user, void *params), false) \
    F(Unsubscribe, (void *subscriber), true)                                                       \
    F(EnableCallback, (uint32_t enable, void *subscriber, int domain, uint32_t cbid), true)        \
    F(ActivityEnable, (uint32_t kind), true)                                                       \
    F(ActivityEnableAndDump, (uint32_t kind), false)                                               \
    F(ActivityDisable, (uint32_t kind), true)                                                      \
    F(ActivityEnableDriverApi, (uint32_t cbid, uint8_t enable), false)                             \
    F(ActivityEnableRuntimeApi, (uint32_t cbid, uint8_t enable), false)                            \
    F(ActivityRegisterCallbacks, (CuptiRequest * request, CuptiComplete * complete), true)         \
    F(ActivityFlushAll, (uint32_t flag), true)                                                     \
    F(ActivityGetNextRecord, (uint8_t * buffer, size_t valid, uint8_t * *record), true)            \
    F(ActivityGetNumDroppedRecords, (void *context, uint32_t stream, size_t *dropped), true)       \
    F(ActivitySetAttribute, (int attribute, size_t *size, void *value), false)                     \
    F(ActivityConfigureUnifiedMemoryCounter, (void *config, uint32_t count), false)                \
    F(ActivityPushExternalCorrelationId, (int kind, uint64_t id), false)                           \
    F(ActivityPopExternalCorrelationId, (int kind, uint64_t *last), false)                         \
    F(GetDeviceId, (void *context, uint32_t *device), false)                                       \
    F(SetThreadIdType, (int type), false)

typedef struct {
    void *library;
    char path[1024];
    uint32_t api_version;
    bool subscribed, callbacks_registered, enabled;
    void *subscriber;
    unsigned kinds;        /* enabled */
    uint64_t clock_offset; /* to add to CUPTI's times to get ns since 1970 */
    char problems[900];    /* lines: what could not be had */
#define AS_POINTER(name, parameters, required) int(*name) parameters;
    CUPTI_FUNCTIONS(AS_POINTER)
#undef AS_POINTER
} Cupti;

/* Finds the library: `path` if given, else the one that the process has, else the usual places. */
int cupti_open(Cupti *c, const char *path, ProfErr *err);
/* Makes us the one subscriber. `callback` is called in a program's thread whenever a context was
 * made or ends and, with profiler_api, around cuProfilerStart() and cuProfilerStop(). */
int cupti_subscribe(Cupti *c, CuptiCallback *callback, bool profiler_api, ProfErr *err);
void cupti_unsubscribe(Cupti *c); /* another tool may subscribe then */
/* Enables what `kinds` asks for; what cannot be had is told in c->problems. `late`: contexts may be
 * there already. */
void cupti_enable(Cupti *c, unsigned kinds, bool late, CuptiRequest *request,
                  CuptiComplete *complete);
/* Enables the counters of unified memory: only once the driver is initialized, so not where
 * cupti_enable() may be called. */
void cupti_enable_unified(Cupti *c, uint32_t n_devices);
void cupti_disable(Cupti *c);
/* Text of a result code. */
const char *cupti_result(const Cupti *c, int result);
/* The name of an API call without the suffixes that tell versions apart. */
void cupti_api_name(const Cupti *c, int domain, uint32_t cbid, char *out, size_t n);
bool cupti_is_launch(const char *driver_api_name); /* launches, copies, sets, allocations and waits:
                                                      what is worth a row */

#endif
