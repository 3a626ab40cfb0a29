// SPDX-License-Identifier: Apache-2.0
/* cupti.h: NVIDIA's tracing library, found at run time: its functions, what is enabled, and its
 * buffers.
 *
 * Nothing of CUDA is needed to build or to load this library: the few declarations below are facts
 * of the binary interface. A process has one Cupti. Once opened it stays, because its threads and
 * exit handlers cannot be removed. */
#ifndef PROF_CAPTURE_CUPTI_H
#define PROF_CAPTURE_CUPTI_H

#include "../base/base.h"
#include "buffers.h"
#include "record.h"

/* What to record, as bits of an option's list. */
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
enum { EXTERNAL_CUSTOM0 = 3 }; /* the kind of our external ids */

typedef struct {
    void *context;
} CuptiResourceData; /* its first members */
typedef struct {
    int site;        /* CB_AT_ENTRY or CB_AT_EXIT */
} CuptiCallbackData; /* its first members */

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
    unsigned kinds;        /* enabled kinds */
    uint64_t clock_offset; /* added to CUPTI's times to get ns since 1970 */
    char problems[900];    /* lines that say what could not be recorded */
#define AS_POINTER(name, parameters, required) int(*name) parameters;
    CUPTI_FUNCTIONS(AS_POINTER)
#undef AS_POINTER
} Cupti;

/* Finds the library: at `path` if that is given, else the one in the process, else in the usual
 * places. */
int cupti_open(Cupti *c, const char *path, ProfErr *err);
/* Makes us the only subscriber. `callback` is called in a thread of the program when a context is
 * created or destroyed and, with profiler_api, around cuProfilerStart() and cuProfilerStop(). */
int cupti_subscribe(Cupti *c, CuptiCallback *callback, bool profiler_api, ProfErr *err);
void cupti_unsubscribe(Cupti *c); /* after that, another tool may subscribe */
/* Enables what `kinds` asks for. Adds to c->problems what cannot be recorded. `late`: contexts may
 * already exist. */
void cupti_enable(Cupti *c, unsigned kinds, bool late, CuptiRequest *request,
                  CuptiComplete *complete);
/* Enables the counters of unified memory. Only works after the driver is initialized, which it may
 * not be when cupti_enable() is called. */
void cupti_enable_unified(Cupti *c, uint32_t n_devices);
void cupti_disable(Cupti *c);
/* Returns the text of a result code. */
const char *cupti_result(const Cupti *c, int result);
/* Copies the name of an API call without suffixes for versions. */
void cupti_api_name(const Cupti *c, int domain, uint32_t cbid, char *out, size_t n);
bool cupti_is_launch(const char *driver_api_name); /* whether a call launches, copies, sets,
                                                      allocates or waits: those are worth a row */

#endif
