// SPDX-License-Identifier: Apache-2.0
/* cupti.c: finds CUPTI, subscribes, and enables recording; see cupti.h. */
#define _GNU_SOURCE
#include "cupti.h"

#include "system.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <link.h>
#include <stdio.h>
#include <unistd.h>

/* ---- the library ---- */

static void problem(Cupti *c, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void problem(Cupti *c, const char *format, ...)
{
    char text[512];
    va_list ap;
    va_start(ap, format);
    vsnprintf(text, sizeof text, format, ap);
    va_end(ap);
    size_t n = strlen(c->problems);
    if (!strstr(c->problems, text))
        snprintf(c->problems + n, sizeof c->problems - n, "%s%s", n ? "\n" : "", text);
}

static const struct {
    const char *name;
    int major; /* 0: any */
} sonames[] = {{"libcupti.so.13", 13},   {"libcupti.so.12", 12},   {"libcupti.so.11.8", 11},
               {"libcupti.so.11.7", 11}, {"libcupti.so.11.6", 11}, {"libcupti.so.11.5", 11},
               {"libcupti.so.11.4", 11}, {"libcupti.so.11.3", 11}, {"libcupti.so.11.2", 11},
               {"libcupti.so.11.1", 11}, {"libcupti.so.11.0", 11}, {"libcupti.so", 0}};

/* Returns the newest CUDA version that the kernel driver supports. */
static int newest_of_driver(void)
{
    char line[256] = "";
    int fd = open("/proc/driver/nvidia/version", O_RDONLY | O_CLOEXEC);
    ssize_t n = fd < 0 ? 0 : read(fd, line, sizeof line - 1);
    if (fd >= 0) close(fd);
    line[n > 0 ? n : 0] = 0;
    for (const char *p = line; (p = strpbrk(p, "0123456789")); p += strspn(p, "0123456789")) {
        long branch = strtol(p, NULL, 10);
        bool is_version = branch >= 300 && p[strspn(p, "0123456789")] == '.';
        if (!is_version) continue; /* "... Module  580.65.06 ..." */
        if (branch >= 580) return 13;
        return branch >= 525 ? 12 : 11;
    }
    return 13;
}

/* Opens CUPTI in a folder that ends in '/', or through the loader for "". Versions that are too new
 * for the driver are tried last. */
static void *open_in(const char *folder, int newest, int flags)
{
    void *library = NULL;
    for (int too_new = 0; too_new < 2; too_new++)
        for (size_t i = 0; i < COUNT(sonames) && !library; i++) {
            char path[2048];
            if ((sonames[i].major > newest) != too_new ||
                snprintf(path, sizeof path, "%s%s", folder, sonames[i].name) >= (int)sizeof path)
                continue;
            library = dlopen(path, flags);
        }
    return library;
}

/* Folders of the NVIDIA libraries in the process, as they are in Python wheels: .../nvidia/cu13/lib
 * with CUPTI next to the others, or .../nvidia/cuda_runtime/lib with CUPTI in
 * .../nvidia/cuda_cupti/lib. */
typedef struct {
    int n;
    char own[64][1024], wheel[64][1024]; /* of the library itself; of the CUPTI wheel next to it */
} Folders;

/* Only collects folders: loading a library inside this walk would deadlock if another thread is
 * loading one. */
static int collect_folder(struct dl_phdr_info *object, size_t size, void *context)
{
    (void)size;
    Folders *found = context;
    const char *name = object->dlpi_name, *nvidia = name ? strstr(name, "/nvidia/") : NULL;
    if (!nvidia || strlen(name) > 900) return 0;
    char *own = found->own[found->n];
    snprintf(own, sizeof *found->own, "%.*s/", (int)(strrchr(name, '/') - name), name);
    for (int i = 0; i < found->n; i++)
        if (!strcmp(found->own[i], own)) return 0;
    snprintf(found->wheel[found->n], sizeof *found->wheel, "%.*s/nvidia/cuda_cupti/lib/",
             (int)(nvidia - name), name);
    return ++found->n == COUNT(found->own);
}

/* Tries the folders of the libraries themselves first, because a wheel of another CUDA may be next
 * to them. */
static void *open_beside(int newest)
{
    static Folders found; /* large; only one thread at a time opens */
    void *library = NULL;
    found.n = 0;
    dl_iterate_phdr(collect_folder, &found);
    for (int i = 0; i < found.n && !library; i++)
        library = open_in(found.own[i], newest, RTLD_NOW | RTLD_LOCAL);
    for (int i = 0; i < found.n && !library; i++)
        library = open_in(found.wheel[i], newest, RTLD_NOW | RTLD_LOCAL);
    return library;
}

/* Two copies of CUPTI in a process interfere, so one that is loaded (a framework brings its own) is
 * used. */
static void *open_library(const char *path)
{
    if (path && *path) return dlopen(path, RTLD_NOW | RTLD_LOCAL);
    int newest = newest_of_driver();
    void *library = open_in("", 99, RTLD_NOW | RTLD_LOCAL | RTLD_NOLOAD);
    if (!library) library = open_beside(newest);
    if (!library) library = open_in("", newest, RTLD_NOW | RTLD_LOCAL);
    const char *homes[] = {getenv("CUDA_HOME"), getenv("CUDA_PATH"), "/usr/local/cuda"};
    static const char *const folders[] = {"extras/CUPTI/lib64/", "lib64/"};
    for (size_t i = 0; i < COUNT(homes) * COUNT(folders) && !library; i++) {
        char folder[1024];
        const char *home = homes[i / COUNT(folders)];
        if (home && snprintf(folder, sizeof folder, "%s/%s", home, folders[i % COUNT(folders)]) <
                        (int)sizeof folder)
            library = open_in(folder, newest, RTLD_NOW | RTLD_LOCAL);
    }
    return library;
}

int cupti_open(Cupti *c, const char *path, ProfErr *err)
{
    c->library = open_library(path);
    if (!c->library)
        return prof_fail(err, PROF_NOTFOUND, 0,
                         "no CUPTI library: %s; install the toolkit's CUPTI (or pip's "
                         "nvidia-cuda-cupti) and name it with --cupti",
                         path && *path ? path : "libcupti.so is in none of the usual places");
    const char *missing = NULL;
    struct {
        const char *name;
        void *to;
        bool required;
    } functions[] = {
#define AS_ENTRY(name, parameters, required) {"cupti" #name, &c->name, required},
        CUPTI_FUNCTIONS(AS_ENTRY)
#undef AS_ENTRY
    };
    for (size_t i = 0; i < COUNT(functions); i++) {
        void *symbol = dlsym(c->library, functions[i].name);
        memcpy(functions[i].to, &symbol,
               sizeof symbol); /* copies a function's address from the object pointer of dlsym() */
        if (!symbol && functions[i].required && !missing) missing = functions[i].name;
    }
    Dl_info info;
    void *symbol = NULL;
    memcpy(&symbol, &c->GetVersion, sizeof symbol);
    if (symbol && dladdr(symbol, &info) && info.dli_fname)
        snprintf(c->path, sizeof c->path, "%s", info.dli_fname);
    if (missing)
        return prof_fail(err, PROF_FORMAT, 0,
                         "%s has no %s: this CUPTI cannot be used; name another with --cupti",
                         c->path, missing);
    int rc = c->GetVersion(&c->api_version);
    if (rc)
        return prof_fail(
            err, PROF_FORMAT, 0,
            "%s does not say its version: %s (%d); check with nvidia-smi that a driver is loaded",
            c->path, cupti_result(c, rc), rc);
    if (c->api_version < API_11_0)
        return prof_fail(
            err, PROF_FORMAT, 0,
            "%s has API version %u, older than CUDA 11.0; name a newer one with --cupti", c->path,
            c->api_version);
    return PROF_OK;
}

const char *cupti_result(const Cupti *c, int result)
{
    const char *text = NULL;
    if (c->GetResultString) c->GetResultString(result, &text);
    return text ? text : "unknown result";
}

/* ---- subscribing ---- */

typedef struct {
    size_t struct_size;
    const char *name;
    char *old_name;
    size_t old_name_size;
} SubscriberParams;

int cupti_subscribe(Cupti *c, CuptiCallback *callback, bool profiler_api, ProfErr *err)
{
    if (c->subscribed) return PROF_OK;
    char other[128] = "";
    SubscriberParams params = {sizeof params, "libprofsql", other, sizeof other - 1};
    int rc = CUPTI_NOT_INITIALIZED;
    if (c->Subscribe_v2 && c->api_version >= API_13_0)
        rc = c->Subscribe_v2(&c->subscriber, callback, NULL, &params);
    if (rc && rc != CUPTI_MULTIPLE_SUBSCRIBERS)
        rc = c->Subscribe(&c->subscriber, callback, NULL); /* supported by all drivers */
    if (rc == CUPTI_MULTIPLE_SUBSCRIBERS || rc == CUPTI_MAX_LIMIT_REACHED)
        return prof_fail(err, PROF_IO, 0,
                         "CUPTI is busy: another tool has it%s%s%s; end that tool's profiling "
                         "(nsys, ncu, torch.profiler, jax.profiler) to capture",
                         *other ? " (" : "", other, *other ? ")" : "");
    if (rc == CUPTI_NOT_INITIALIZED)
        return prof_fail(err, PROF_IO, 0,
                         "the driver is too old for %s, or a stub libcuda was found first; name an "
                         "older CUPTI with --cupti",
                         c->path);
    if (rc == CUPTI_INSUFFICIENT_PRIVILEGES)
        return prof_fail(err, PROF_IO, 0,
                         "no permission to use CUPTI; run as root, or let users profile "
                         "(NVreg_RestrictProfilingToAdminUsers=0)");
    if (rc)
        return prof_fail(
            err, PROF_IO, 0, "CUPTI cannot be used: %s (%d)%s", cupti_result(c, rc), rc,
            rc == CUPTI_UNKNOWN ? "; check with nvidia-smi that a driver is loaded" : "");
    c->subscribed = true;
    c->EnableCallback(1, c->subscriber, CB_DOMAIN_RESOURCE, CB_CONTEXT_CREATED);
    c->EnableCallback(1, c->subscriber, CB_DOMAIN_RESOURCE, CB_CONTEXT_ENDS);
    if (profiler_api && (c->EnableCallback(1, c->subscriber, CB_DOMAIN_DRIVER, CB_PROFILER_START) ||
                         c->EnableCallback(1, c->subscriber, CB_DOMAIN_DRIVER, CB_PROFILER_STOP)))
        problem(c, "the program's cudaProfilerStart() and cudaProfilerStop() cannot be seen");
    return PROF_OK;
}

void cupti_unsubscribe(Cupti *c)
{
    if (c->subscribed) c->Unsubscribe(c->subscriber);
    c->subscribed = c->callbacks_registered = false; /* the other tool registers its own */
}

/* ---- names ---- */

void cupti_api_name(const Cupti *c, int domain, uint32_t cbid, char *out, size_t n)
{
    const char *name = NULL;
    if (c->GetCallbackName(domain, cbid, &name) || !name) {
        snprintf(out, n, "%s call %u", domain == CB_DOMAIN_DRIVER ? "driver" : "runtime", cbid);
        return;
    }
    snprintf(out, n, "%s", name);
    for (;;) { /* the versions of a call are one name: cudaLaunchKernel_ptsz_v7000 */
        char *tail = strrchr(out, '_');
        if (!tail) return;
        bool version = tail[1] == 'v' && tail[2] && !tail[2 + strspn(tail + 2, "0123456789")];
        if (!version && strcmp(tail, "_ptsz") && strcmp(tail, "_ptds")) return;
        if (version && domain == CB_DOMAIN_DRIVER && strlen(tail) < 4)
            return; /* the call's own name may end like a version: cuMemAlloc_v2 */
        *tail = 0;
    }
}

bool cupti_is_launch(const char *name)
{
    static const char *const begins[] = {"cuLaunch",   "cuGraphLaunch", "cuMemcpy",     "cuMemset",
                                         "cuMemAlloc", "cuMemFree",     "cuMemPrefetch"};
    for (size_t i = 0; i < COUNT(begins); i++)
        if (starts_with(name, begins[i])) return true;
    return strstr(name, "Synchronize") || !strcmp(name, "cuStreamWaitEvent");
}

/* ---- enabling ---- */

static bool enable(Cupti *c, enum RecordKind kind, bool dump)
{
    uint32_t number = record_kinds[kind].number;
    int rc = dump && c->ActivityEnableAndDump ? c->ActivityEnableAndDump(number)
                                              : c->ActivityEnable(number);
    if (rc)
        problem(c, "%s records are not available: %s (%d)%s", record_kinds[kind].name,
                cupti_result(c, rc), rc,
                kind == REC_ENVIRONMENT
                    ? "; --gpu-samples takes clocks, power and temperature from NVML"
                    : "");
    return rc == 0;
}

/* Enables or disables the driver's calls that are worth a row. Returns how many there are; *rc is
 * the result of the last. */
static int choose_driver_calls(Cupti *c, uint8_t on, int *rc)
{
    int n = 0;
    const char *raw;
    for (uint32_t cbid = 1; cbid < 5000 && !c->GetCallbackName(CB_DOMAIN_DRIVER, cbid, &raw) && raw;
         cbid++) {
        char name[256];
        cupti_api_name(c, CB_DOMAIN_DRIVER, cbid, name, sizeof name);
        if (!cupti_is_launch(name)) continue;
        *rc = c->ActivityEnableDriverApi(cbid, on);
        n += *rc == 0;
    }
    return n;
}

/* Driver calls are nested in runtime calls, so only those worth a row are recorded, if the library
 * can select them. */
static void enable_driver(Cupti *c, bool all)
{
    int rc = 0;
    if (all || !c->ActivityEnableDriverApi)
        enable(c, REC_DRIVER, false);
    else if (!choose_driver_calls(c, 1, &rc))
        problem(c, "driver records are not available: %s (%d)", cupti_result(c, rc), rc);
}

/* Disables calls with which programs poll, which say nothing about time. */
static void enable_runtime(Cupti *c)
{
    static const char *const chatty[] = {"cudaGetDevice_",        "cudaGetLastError",
                                         "cudaPeekAtLastError",   "cudaEventQuery",
                                         "cudaStreamIsCapturing", "cudaSetDevice_"};
    if (!enable(c, REC_RUNTIME, false) || !c->ActivityEnableRuntimeApi) return;
    const char *name;
    for (uint32_t cbid = 1;
         cbid < 5000 && !c->GetCallbackName(CB_DOMAIN_RUNTIME, cbid, &name) && name; cbid++)
        for (size_t i = 0; i < COUNT(chatty); i++)
            if (starts_with(name, chatty[i])) c->ActivityEnableRuntimeApi(cbid, 0);
}

void cupti_enable_unified(Cupti *c, uint32_t n_devices)
{
    enum { N = 4, MOST_DEVICES = 64 };
    struct {
        uint32_t scope, kind, device, enable;
    } config[MOST_DEVICES][N];
    if (n_devices > MOST_DEVICES) n_devices = MOST_DEVICES;
    for (uint32_t d = 0; d < n_devices; d++)
        for (uint32_t i = 0; i < N;
             /* 1 to 4: bytes to the device, bytes to the host, page faults of the CPU and of the
                GPU */
             i++)
            config[d][i].scope = 1, config[d][i].kind = i + 1, config[d][i].device = d,
            config[d][i].enable = 1;
    int rc = c->ActivityConfigureUnifiedMemoryCounter
                 ? c->ActivityConfigureUnifiedMemoryCounter(config, n_devices * N)
                 : CUPTI_INVALID_KIND;
    if (rc)
        problem(c, "unified memory counters are not available: %s (%d)", cupti_result(c, rc), rc);
    else
        enable(c, REC_UNIFIED, false);
}

/* CUPTI uses CLOCK_REALTIME on Linux, but not on all systems (WSL). */
static void check_clock(Cupti *c)
{
    enum { NEAR_NS = 100000 }; /* CUPTI may convert its times from another clock */
    uint64_t stamp = 0, before = clock_ns(CLOCK_REALTIME);
    if (!c->GetTimestamp || c->GetTimestamp(&stamp)) return;
    uint64_t after = clock_ns(CLOCK_REALTIME);
    if (stamp + NEAR_NS >= before && stamp <= after + NEAR_NS) return;
    c->clock_offset = before + (after - before) / 2 - stamp;
    problem(c, "CUPTI's clock is not the system's time: %lld ns were added to its times",
            (long long)c->clock_offset);
}

void cupti_enable(Cupti *c, unsigned kinds, bool late, CuptiRequest *request,
                  CuptiComplete *complete)
{
    if (!c->callbacks_registered) {
        uint8_t on = 1;
        size_t size = sizeof on;
        if (c->SetThreadIdType && c->SetThreadIdType(1))
            problem(c, "threads are not the kernel's ids: they cannot be joined with NVTX ranges");
        if (c->ActivitySetAttribute) {
            c->ActivitySetAttribute(5, &size, &on); /* our buffers are zeroed */
            if (c->api_version >= API_12_3)
                c->ActivitySetAttribute(9, &size, &on); /* one buffer for each thread */
        }
        int rc = c->ActivityRegisterCallbacks(request, complete);
        if (rc) problem(c, "buffers cannot be registered: %s (%d)", cupti_result(c, rc), rc);
        c->callbacks_registered = rc == 0;
        check_clock(c);
    }
    enable(c, REC_DEVICE, true); /* its records come when CUDA starts, which may be before us */
    enable(c, REC_CONTEXT, late);
    enable(c, REC_STREAM, late);
    if (kinds & CAPTURE_GRAPHS) enable(c, REC_GRAPH, false); /* before graphs are created */
    if (kinds & CAPTURE_KERNELS) enable(c, REC_KERNEL, false);
    if (kinds & CAPTURE_COPIES)
        enable(c, REC_MEMCPY, false), enable(c, REC_MEMCPY_PEER, false),
            enable(c, REC_MEMSET, false);
    if (kinds & CAPTURE_RUNTIME) enable_runtime(c);
    if (kinds & (CAPTURE_DRIVER | CAPTURE_DRIVER_ALL)) enable_driver(c, kinds & CAPTURE_DRIVER_ALL);
    if (kinds & CAPTURE_SYNC) enable(c, REC_SYNC, false);
    if (kinds & CAPTURE_OVERHEAD) enable(c, REC_OVERHEAD, false);
    if (kinds & CAPTURE_MEMORY) enable(c, REC_MEMORY, false), enable(c, REC_POOL, false);
    if (kinds & CAPTURE_EVENTS) enable(c, REC_EVENT, false);
    if (kinds & CAPTURE_EXTERNAL) enable(c, REC_EXTERNAL, false); /* needs a kind of API calls */
    if (kinds & CAPTURE_JIT) enable(c, REC_JIT, false);
    if (kinds & CAPTURE_ENVIRONMENT) enable(c, REC_ENVIRONMENT, false);
    if (kinds & CAPTURE_LINKS) enable(c, REC_NVLINK, late), enable(c, REC_PCIE, late);
    c->kinds = kinds, c->enabled = true;
}

void cupti_disable(Cupti *c)
{
    for (int k = 0; k < N_RECORD_KINDS; k++) {
        if (record_kinds[k].number >= 1000) continue;
        if (k == REC_KERNEL && c->api_version < API_13_0)
            continue; /* disabling may hang; it costs little once the records are not read */
        c->ActivityDisable(record_kinds[k].number);
    }
    int rc;
    if ((c->kinds & (CAPTURE_DRIVER | CAPTURE_DRIVER_ALL)) == CAPTURE_DRIVER &&
        c->ActivityEnableDriverApi)
        choose_driver_calls(c, 0, &rc);
    c->enabled = false;
}
