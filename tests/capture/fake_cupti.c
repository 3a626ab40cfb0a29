// SPDX-License-Identifier: Apache-2.0
/* fake_cupti.c: a CUPTI of our own for machines without a GPU: plays records from a script through
 * the real interface.
 *
 * FAKE_CUPTI_VERSION   what cuptiGetVersion() says (130001, or what -DFAKE_API=VERSION built it
 * for); it decides how long records are, as in the real library FAKE_CUPTI_FAIL      "subscribe=39
 * enable.25=21 version=1": calls that fail, and with what; "subscribe=39 once" FAKE_CUPTI_REPORT
 * file that gets "KIND COUNT" lines of what was handed over, when playing ends FAKE_CUPTI_CLOCK ns
 * added to the clock FAKE_CUPTI_UNTIL     playing ends early when this file is there
 *
 * A program calls fake_play(script, threads, times). A line of a script is a kind and its fields,
 * `kernel start=+100 end=+200 corr=1 name=gemm`, times from the start of playing; or `flush`,
 * `sleep MS`, `drop N`, `context [device=N]`, `context_ends`, `profiler_start`, `profiler_stop`,
 * `touch FILE`, `wait FILE` until it is there, `steal`: a second tool registers its own buffers,
 * which CUPTI takes without an error. The structs are laid out by the compiler from the fields that
 * NVIDIA documents, not from the library's table of offsets. */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "fake_behaviour.h"
#include "fake_records.h"

#ifndef FAKE_API
#define FAKE_API 130001
#endif

#define EXPORT __attribute__((visibility("default")))
enum {
    OK = 0,
    INVALID_PARAMETER = 1,
    INVALID_OPERATION = 7,
    MAX_LIMIT = 12,
    NOT_INITIALIZED = 15,
    INVALID_KIND = 21,
    N_KINDS = 64,
    MAX_THREADS = 64
};

typedef void Request(uint8_t **, size_t *, size_t *);
typedef void Complete(void *, uint32_t, uint8_t *, size_t, size_t);
typedef void Callback(void *, int, uint32_t, const void *);

static uint32_t version = FAKE_API;
static Request *request;
static Complete *complete;
static Callback *subscriber;
static void *subscriber_data;
static atomic_bool enabled[N_KINDS];
static atomic_ulong delivered[N_KINDS], refused, n_dropped;
static const char *failures;
static int64_t clock_offset;

typedef struct {
    pthread_mutex_t lock;
    uint8_t *bytes;
    size_t size, used;
} Stream;
static Stream streams[MAX_THREADS];

__attribute__((constructor)) static void begin(void)
{
    const char *text = getenv("FAKE_CUPTI_VERSION");
    if (text) version = (uint32_t)strtoul(text, NULL, 10);
    failures = getenv("FAKE_CUPTI_FAIL");
    if (getenv("FAKE_CUPTI_CLOCK")) clock_offset = strtoll(getenv("FAKE_CUPTI_CLOCK"), NULL, 10);
    for (int i = 0; i < MAX_THREADS; i++) pthread_mutex_init(&streams[i].lock, NULL);
}

static int failure(const char *what)
{
    const char *at = failures ? strstr(failures, what) : NULL;
    return at && at[strlen(what)] == '=' ? atoi(at + strlen(what) + 1) : OK;
}

static uint64_t now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_REALTIME, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec + (uint64_t)clock_offset;
}

/* ---- the interface ---- */

EXPORT int cuptiGetVersion(uint32_t *out)
{
    *out = version;
    return failure("version");
}
EXPORT int cuptiGetTimestamp(uint64_t *out)
{
    *out = now_ns();
    return OK;
}
EXPORT int cuptiGetResultString(int result, const char **out)
{
    static const char *const names[64] = {[0] = "CUPTI_SUCCESS",
                                          [12] = "CUPTI_ERROR_MAX_LIMIT_REACHED",
                                          [15] = "CUPTI_ERROR_NOT_INITIALIZED",
                                          [21] = "CUPTI_ERROR_INVALID_KIND",
                                          [35] = "CUPTI_ERROR_INSUFFICIENT_PRIVILEGES",
                                          [39] = "CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED"};
    *out = result >= 0 && result < 64 && names[result] ? names[result] : "CUPTI_ERROR_UNKNOWN";
    return OK;
}

EXPORT int cuptiGetCallbackName(int domain, uint32_t cbid, const char **out)
{
    static const struct {
        int domain;
        uint32_t cbid;
        const char *name;
    } names[] = {{2, 211, "cudaLaunchKernel_v7000"},
                 {2, 214, "cudaLaunchKernel_ptsz_v7000"},
                 {2, 41, "cudaMemcpyAsync_v3020"},
                 {2, 20, "cudaMalloc_v3020"},
                 {2, 22, "cudaFree_v3020"},
                 {2, 165, "cudaDeviceSynchronize_v3020"},
                 {2, 311, "cudaGraphLaunch_v10000"},
                 {2, 17, "cudaGetDevice_v3020"},
                 {2, 51, "cudaMemsetAsync_v3020"},
                 {1, 307, "cuLaunchKernel"},
                 {1, 514, "cuGraphLaunch"},
                 {1, 243, "cuMemAlloc_v2"},
                 {1, 5, "cuDeviceGetAttribute"},
                 {1, 436, "cuStreamWaitEvent_ptsz"},
                 {2, 135, "cudaEventRecord_v3020"},
                 {2, 31, "cudaMemcpy_v3020"},
                 {2, 131, "cudaStreamSynchronize_v3020"}};
    if (cbid == 0 || cbid > (domain == 1 ? 807u : 523u)) return INVALID_PARAMETER;
    *out = "cuUnnamed";
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (names[i].domain == domain && names[i].cbid == cbid) *out = names[i].name;
    return OK;
}

EXPORT int cuptiSubscribe(void **out, Callback *callback, void *data)
{
    int rc = failure("subscribe");
    if (rc && strstr(failures, " once")) failures = NULL;
    if (!rc && subscriber) rc = 39;
    if (rc) return rc;
    *out = &subscriber, subscriber = callback, subscriber_data = data;
    return OK;
}

#if FAKE_API >= SINCE_SUBSCRIBE_V2
EXPORT int cuptiSubscribe_v2(void **out, Callback *callback, void *data, void *params)
{
    struct {
        size_t size;
        const char *name;
        char *old;
        size_t old_size;
    } p;
    memcpy(&p, params, sizeof p);
    int rc = cuptiSubscribe(out, callback, data);
    if (rc && p.old) snprintf(p.old, p.old_size, "CUPTI for another tool");
    return rc;
}
#endif

EXPORT int cuptiUnsubscribe(void *handle)
{
    subscriber = NULL;
    return handle ? OK : INVALID_PARAMETER;
}
static atomic_bool callbacks[4][512];
EXPORT int cuptiEnableCallback(uint32_t enable, void *handle, int domain, uint32_t cbid)
{
    if (!handle || domain > 3 || cbid >= 512) return INVALID_PARAMETER;
    atomic_store(&callbacks[domain][cbid], enable != 0);
    return OK;
}

/* What the library does in a program's thread. Flushing is allowed in callbacks of API calls only.
 */
enum { DRIVER_DOMAIN = 1, RESOURCE_DOMAIN = 3 };
static _Thread_local bool must_not_flush;
static void call_back(int domain, uint32_t cbid, const void *data)
{
    if (!subscriber || !atomic_load(&callbacks[domain][cbid])) return;
    must_not_flush = domain == RESOURCE_DOMAIN;
    subscriber(subscriber_data, domain, cbid, data);
    must_not_flush = false;
}

static void call_profiler(uint32_t cbid)
{
    for (int site = 0; site < 2; site++)
        call_back(DRIVER_DOMAIN, cbid, &site); /* the site is what its data begins with */
}

EXPORT int cuptiActivityEnable(uint32_t kind)
{
    char name[32];
    snprintf(name, sizeof name, "enable.%u", kind);
    int rc = failure(name);
    if (rc) return rc;
    if (!fake_record_size(kind, version)) return INVALID_KIND;
    atomic_store(&enabled[kind], true);
    return OK;
}
#if FAKE_API >= SINCE_ENABLE_AND_DUMP
EXPORT int cuptiActivityEnableAndDump(uint32_t kind) { return cuptiActivityEnable(kind); }
#endif
EXPORT int cuptiActivityDisable(uint32_t kind)
{
    if (kind >= N_KINDS) return INVALID_KIND;
    atomic_store(&enabled[kind], false);
    return OK;
}
/* Chosen call by call; the header does not say that disabling the kind undoes it. */
enum { N_DRIVER_CALLS = 808 };
static atomic_bool driver_calls[N_DRIVER_CALLS];
#if FAKE_API >= SINCE_API_BY_CBID
EXPORT int cuptiActivityEnableDriverApi(uint32_t cbid, uint8_t enable)
{
    if (cbid >= N_DRIVER_CALLS) return INVALID_PARAMETER;
    atomic_store(&driver_calls[cbid], enable != 0);
    return OK;
}
EXPORT int cuptiActivityEnableRuntimeApi(uint32_t cbid, uint8_t enable)
{
    (void)cbid;
    (void)enable;
    return OK;
}
#endif
static _Thread_local uint64_t external_ids[16], n_external;
EXPORT int cuptiActivityPushExternalCorrelationId(int kind, uint64_t id)
{
    if (kind != 3 || n_external == 16) return INVALID_PARAMETER;
    external_ids[n_external++] = id;
    return OK;
}
EXPORT int cuptiActivityPopExternalCorrelationId(int kind, uint64_t *last)
{
    if (kind != 3 || !n_external) return INVALID_PARAMETER;
    *last = external_ids[--n_external];
    return OK;
}
/* "Should be called after CUDA driver initialization", says the header: the driver's first context
 * is later than that. */
static atomic_bool driver_is_initialized;
EXPORT int cuptiActivityConfigureUnifiedMemoryCounter(void *config, uint32_t count)
{
    if (fake_does(FAKE_UNIFIED, version) && !atomic_load(&driver_is_initialized))
        return NOT_INITIALIZED;
    return config && count ? OK : INVALID_PARAMETER;
}
static atomic_bool tool_zeroes; /* the buffers that it hands in; else the library does */
EXPORT int cuptiActivitySetAttribute(int attribute, size_t *size, void *value)
{
    if (!size || !value || (attribute == 9 && !fake_does(FAKE_PER_THREAD, version)))
        return INVALID_PARAMETER;
    if (attribute == 9 && request && fake_does(FAKE_PER_THREAD_FIRST, version))
        return INVALID_OPERATION;
    if (attribute == 5) atomic_store(&tool_zeroes, *(const uint8_t *)value != 0);
    return OK;
}
/* The contexts of a script are numbered as their devices. */
enum { MOST_DEVICES = 8 };
static int contexts[MOST_DEVICES];
EXPORT int cuptiGetDeviceId(void *context, uint32_t *device)
{
    if ((int *)context < contexts || (int *)context >= contexts + MOST_DEVICES)
        return INVALID_PARAMETER;
    *device = (uint32_t)((int *)context - contexts);
    return OK;
}
EXPORT int cuptiSetThreadIdType(int type) { return type == 1 ? OK : INVALID_PARAMETER; }
EXPORT int cuptiActivityRegisterCallbacks(Request *r, Complete *c)
{
    request = r;
    complete = c;
    return OK;
}
EXPORT int cuptiFinalize(void) { return OK; }

EXPORT int cuptiActivityGetNumDroppedRecords(void *context, uint32_t stream, size_t *out)
{
    (void)context, (void)stream;
    *out = atomic_exchange(&n_dropped, 0);
    return OK;
}

EXPORT int cuptiActivityGetNextRecord(uint8_t *buffer, size_t valid, uint8_t **record)
{
    uint32_t kind;
    if (!buffer) return INVALID_PARAMETER;
    uint8_t *p = buffer;
    if (*record) memcpy(&kind, *record, sizeof kind), p = *record + fake_record_size(kind, version);
    size_t left = (size_t)(buffer + valid - p);
    if (p >= buffer + valid || left < sizeof kind) return MAX_LIMIT;
    memcpy(&kind, p, sizeof kind);
    size_t n = fake_record_size(kind, version);
    if (!n) return INVALID_KIND;
    if (n > left) return MAX_LIMIT;
    *record = p;
    return OK;
}

/* Kernels of a script whose end is "running" end when the program waits for its context
 * (fake_cuda.c), or never. */
static uint64_t *running[256];
static int n_running;
EXPORT void fake_finish(void);
EXPORT void fake_finish(void)
{
    for (int i = 0; i < MAX_THREADS; i++) pthread_mutex_lock(&streams[i].lock);
    while (n_running) *running[--n_running] = now_ns();
    for (int i = 0; i < MAX_THREADS; i++) pthread_mutex_unlock(&streams[i].lock);
}

static void hand_over(Stream *s)
{
    for (int i = 0; i < n_running; i++)
        if ((uint8_t *)running[i] >= s->bytes && (uint8_t *)running[i] < s->bytes + s->size)
            running[i--] = running[--n_running];
    uint8_t *bytes = s->bytes;
    size_t size = s->size, used = s->used;
    s->bytes = NULL, s->used = 0;
    bool outside = must_not_flush;
    must_not_flush = true;
    if (bytes) complete(NULL, 0, bytes, size, used);
    must_not_flush = outside;
}

/* After the driver's own exit handler nothing of CUDA may be called. */
static atomic_bool driver_gone;
EXPORT void fake_driver_gone(void);
EXPORT void fake_driver_gone(void) { atomic_store(&driver_gone, true); }

EXPORT int cuptiActivityFlushAll(uint32_t flag)
{
    if (atomic_load(&driver_gone))
        fprintf(stderr, "fake_cupti: flushed after the driver's end\n"), abort();
    if (must_not_flush && fake_does(FAKE_FLUSH, version))
        fprintf(stderr, "fake_cupti: flushed in a callback that must not do it\n"), abort();
    if (!request && fake_does(FAKE_REGISTER, version)) return INVALID_OPERATION;
    for (int i = 0; i < MAX_THREADS; i++) {
        pthread_mutex_lock(&streams[i].lock);
        bool withheld =
            !flag && n_running; /* a flush that is not forced leaves what is not complete */
        if (streams[i].used && !withheld) hand_over(&streams[i]);
        pthread_mutex_unlock(&streams[i].lock);
    }
    return failure("flush");
}

/* ---- playing ---- */

/* The start of a buffer is enough: records are written from there on. */
static void check_zeroed(const Stream *s)
{
    size_t n = s->size < 4096 ? s->size : 4096;
    for (size_t i = 0; i < n; i++)
        if (s->bytes[i])
            fprintf(stderr, "fake_cupti: the buffer is not zeroed, byte %zu\n", i), abort();
}

static bool is_chosen(const void *record, uint32_t kind)
{
    uint32_t cbid = kind == 4 ? ((const FakeRecord *)record)->api.cbid : N_DRIVER_CALLS;
    return cbid < N_DRIVER_CALLS && atomic_load_explicit(&driver_calls[cbid], memory_order_relaxed);
}

/* Puts a record into the thread's buffer; false when the tool gave none. */
static bool put(Stream *s, const void *record, uint32_t kind, bool runs)
{
    size_t n = fake_record_size(kind, version), max = 0;
    if (kind < N_KINDS && !atomic_load_explicit(&enabled[kind], memory_order_relaxed) &&
        !is_chosen(record, kind))
        return true;
    pthread_mutex_lock(&s->lock);
    if (s->bytes && s->used + n > s->size) hand_over(s);
    if (!s->bytes) {
        must_not_flush = true;
        request(&s->bytes, &s->size, &max);
        must_not_flush = false;
        if (!s->bytes && !fake_does(FAKE_NULL_BUFFER, version)) {
            fprintf(stderr, "fake_cupti: NULL buffer, which this version does not take\n");
            abort();
        }
        if (s->bytes && atomic_load(&tool_zeroes)) check_zeroed(s);
        s->used = 0;
    }
    bool ok = s->bytes && s->size >= n;
    if (ok) memcpy(s->bytes + s->used, record, n);
    if (ok && runs && n_running < 256)
        running[n_running++] = (uint64_t *)(void *)(s->bytes + s->used + offsetof(FakeKernel, end));
    if (ok) s->used += n;
    pthread_mutex_unlock(&s->lock);
    atomic_fetch_add_explicit(ok ? &delivered[kind % N_KINDS] : &refused, 1, memory_order_relaxed);
    return ok;
}

/* Without a tool: one buffer for ever, which is what the library by itself costs. */
static void own_request(uint8_t **buffer, size_t *size, size_t *max)
{
    static uint8_t bytes[4 << 20];
    *buffer = bytes, *size = sizeof bytes, *max = 0;
}
static void own_complete(void *context, uint32_t stream, uint8_t *buffer, size_t size, size_t used)
{
    (void)context, (void)stream, (void)buffer, (void)size, (void)used;
}

typedef struct {
    char **lines;
    size_t n;
    int thread, times;
    uint64_t base;
} Play;

static void play_record(Stream *s, const char *line, uint64_t base, uint32_t shift)
{
    FakeRecord r;
    uint32_t kind = fake_record_make(&r, line, base, shift, version);
    if (!kind) fprintf(stderr, "fake_cupti: cannot read: %s\n", line), exit(3);
    put(s, &r, kind, strstr(line, "end=running"));
    if (kind == 5 && n_external) { /* each call inside has a record of the id */
        FakeRecord e = {.external = {39, 3, external_ids[n_external - 1], r.api.correlationId, 0}};
        put(s, &e, 39, false);
    }
    if (kind == 10 && getenv("FAKE_CUPTI_STALE")) { /* the module is unloaded as soon as its
                                                       records are out */
        pthread_mutex_lock(&s->lock);
        hand_over(s);
        memset(r.kernel.name, '#', strlen(r.kernel.name));
        pthread_mutex_unlock(&s->lock);
    }
}

static void play_line(Stream *s, const char *text, uint64_t base, uint32_t shift)
{
    char line[1024], *word, *rest;
    snprintf(line, sizeof line, "%s", text);
    word = strtok_r(line, " \n", &rest);
    if (!word || *word == '#') return;
    if (!strcmp(word, "flush")) {
        cuptiActivityFlushAll(0);
    } else if (!strcmp(word, "sleep")) {
        usleep((useconds_t)atoi(strtok_r(NULL, " \n", &rest)) * 1000);
    } else if (!strcmp(word, "touch")) {
        FILE *f = fopen(strtok_r(NULL, " \n", &rest), "w");
        if (f) fclose(f);
    } else if (!strcmp(word, "wait")) {
        const char *file = strtok_r(NULL, " \n", &rest);
        while (access(file, F_OK)) usleep(10000);
    } else if (!strcmp(word, "steal")) {
        cuptiActivityRegisterCallbacks(own_request, own_complete);
    } else if (!strcmp(word, "drop")) {
        atomic_fetch_add(&n_dropped, (unsigned long)atoi(strtok_r(NULL, " \n", &rest)));
    } else if (!strcmp(word, "context") || !strcmp(word, "context_ends")) {
        const char *device = strtok_r(NULL, " \n", &rest);
        int *context = &contexts[device ? atoi(device + strlen("device=")) % MOST_DEVICES : 0];
        atomic_store(&driver_is_initialized, true);
        void *data[] = {context, NULL, NULL};
        call_back(RESOURCE_DOMAIN, word[7] ? 2 : 1, data);
    } else if (!strcmp(word, "profiler_start") || !strcmp(word, "profiler_stop")) {
        call_profiler(word[11] == 'a' ? 308 : 309);
    } else {
        play_record(s, text, base, shift);
    }
}

static void *play(void *argument)
{
    const Play *p = argument;
    Stream *s = &streams[p->thread % MAX_THREADS];
    const char *until = getenv("FAKE_CUPTI_UNTIL");
    for (int time = 0; time < p->times && (!until || access(until, F_OK)); time++)
        for (size_t i = 0; i < p->n; i++) /* repetitions and threads have own ids and times */
            play_line(s, p->lines[i], p->base + (uint64_t)time * 1000000,
                      (uint32_t)(p->thread * p->times + time) * 1000);
    return NULL;
}

/* One line at once, on a buffer of the calling thread: for programs that make lines themselves. */
EXPORT void fake_line(const char *line);
EXPORT void fake_line(const char *line)
{
    static atomic_int n_threads;
    static _Thread_local Stream *mine;
    if (!mine) mine = &streams[atomic_fetch_add(&n_threads, 1) % MAX_THREADS];
    play_line(mine, line, 0, 0);
}

EXPORT int fake_wants(uint32_t kind);
EXPORT int fake_wants(uint32_t kind) { return kind < N_KINDS && atomic_load(&enabled[kind]); }

static void report(void)
{
    const char *path = getenv("FAKE_CUPTI_REPORT");
    FILE *f = path ? fopen(path, "w") : NULL;
    if (!f) return;
    for (int i = 0; i < N_KINDS; i++)
        if (delivered[i]) fprintf(f, "%d %lu\n", i, atomic_load(&delivered[i]));
    fprintf(f, "refused %lu\nsubscribed %d\n", atomic_load(&refused), subscriber != NULL);
    fclose(f);
}

EXPORT int fake_play(const char *path, int n_threads, int times);
EXPORT int fake_play(const char *path, int n_threads, int times)
{
    char *lines[4096], *line = NULL;
    size_t n = 0, capacity = 0;
    FILE *f = fopen(path, "r");
    if (!f) {
        perror(path);
        return 1;
    }
    while (n < 4096 && getline(&line, &capacity, f) > 0) lines[n++] = strdup(line);
    fclose(f);
    free(line);
    pthread_t threads[MAX_THREADS];
    Play plays[MAX_THREADS];
    static atomic_int n_plays;
    int first = atomic_fetch_add(&n_plays, 1) *
                n_threads; /* each time is as if by other threads: ids do not come again */
    uint64_t base = now_ns();
    for (int i = 0; i < n_threads; i++) {
        plays[i] = (Play){lines, n, first + i, times, base};
        if (n_threads > 1) pthread_create(&threads[i], NULL, play, &plays[i]);
    }
    if (n_threads == 1) play(&plays[0]);
    for (int i = 0; i < n_threads && n_threads > 1; i++) pthread_join(threads[i], NULL);
    while (n) free(lines[--n]);
    report();
    return 0;
}

static double cpu_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

/* Kernels at a rate for a time: what a launch-bound program makes. Returns how many were made, and
 * the thread's CPU ns for each. */
EXPORT unsigned long fake_soak(double per_second, double seconds, double *ns_each);
EXPORT unsigned long fake_soak(double per_second, double seconds, double *ns_each)
{
    if (!request) request = own_request, complete = own_complete, atomic_store(&enabled[10], true);
    enum { BATCH = 1000 };
    static const char *const names[4] = {"_Z4gemmPKfS0_Pfi", "_Z7softmaxPfi", "_Z9layernormPfS_i",
                                         "_Z4geluPfi"};
    FakeRecord r[4];
    char line[256];
    for (int i = 0; i < 4; i++) {
        snprintf(
            line, sizeof line,
            "kernel start=+0 end=+100 corr=1 name=%s stream=%d block=256,1,1 grid=%d,1,1 regs=32",
            names[i], 7 + i % 2, 100 + i);
        fake_record_make(&r[i], line, now_ns(), 0, version);
    }
    uint64_t begin = now_ns();
    uint32_t correlation = 0;
    unsigned long n = 0;
    double cpu = cpu_ns();
    for (; (double)(now_ns() - begin) / 1e9 < seconds; n += BATCH) {
        for (int i = 0; i < BATCH; i++) {
            FakeRecord *k = &r[i % 4];
            k->kernel.correlationId = ++correlation;
            k->kernel.start = begin + (n + (unsigned)i) * 1000,
            k->kernel.end = k->kernel.start + 900;
            put(&streams[0], k, 10, false);
        }
        double due = (double)(n + BATCH) / per_second - (double)(now_ns() - begin) / 1e9;
        if (due > 0.0005) usleep((useconds_t)(due * 1e6));
    }
    *ns_each = (cpu_ns() - cpu) / (double)n;
    cuptiActivityFlushAll(1);
    report();
    return n;
}
