// SPDX-License-Identifier: Apache-2.0
/* stand_in.h: as much of the CUDA runtime as program.cu uses, for machines without a GPU: calls and
 * their work become records of tests/capture/fake_cupti.c. Each stream is a clock that says until
 * when it is busy; waiting for it is sleeping.
 *
 * STAND_IN_CUPTI   the stand-in for CUPTI
 * STAND_IN_FAULT   "bytes", "kernel", "regs": something that a check must find */
#pragma once
#include <atomic>
#include <cstdarg>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <dlfcn.h>
#include <unistd.h>
#include <vector>

enum cudaError_t { cudaSuccess, cudaErrorNoDevice, cudaErrorInsufficientDriver, cudaErrorFault };
enum cudaMemcpyKind {
    cudaMemcpyHostToDevice = 1,
    cudaMemcpyDeviceToHost,
    cudaMemcpyDeviceToDevice = 8
};
enum { cudaStreamNonBlocking, cudaStreamCaptureModeGlobal };

struct dim3 {
    unsigned x, y, z;
    dim3(unsigned x = 1, unsigned y = 1, unsigned z = 1) : x(x), y(y), z(z) {}
};
struct cudaDeviceProp {
    char name[64];
    int multiProcessorCount, major, minor, maxThreadsPerMultiProcessor;
};
struct cudaFuncAttributes {
    int numRegs;
    size_t sharedSizeBytes;
};

namespace stand_in
{
struct Kernel { // its name as a compiler writes it; ns of 0: as long as the launch asks
    const char *name;
    int registers, shared;
    uint64_t ns;
};
struct Node {
    const Kernel *kernel;
    dim3 grid, block;
    size_t shared;
    uint64_t ns;
};
struct Stream {
    int id;
    std::atomic<uint64_t> busy_until{0};
    bool capturing = false;
    std::vector<Node> nodes;
    explicit Stream(int id) : id(id) {}
};
struct Event {
    int id;
    uint64_t time;
};
struct Graph {
    std::vector<Node> nodes;
};

inline std::atomic<uint32_t> n_calls{0};
inline std::atomic<int> n_streams{13}, n_events{0}, error{cudaSuccess};
inline std::atomic<uint64_t> next_address{0x7f0000000000};
inline Stream default_streams[2] = {Stream(7), Stream(7)};
inline thread_local int device = 0;
inline void (*play)(const char *line);
inline int (*wants)(uint32_t kind);
inline void (*driver_gone)();

inline bool has_fault(const char *fault)
{
    const char *wanted = getenv("STAND_IN_FAULT");
    return wanted && !strcmp(wanted, fault);
}

inline uint64_t now()
{
    timespec t;
    clock_gettime(CLOCK_REALTIME, &t);
    return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

__attribute__((format(printf, 1, 2))) inline void line(const char *format, ...)
{
    char text[512];
    va_list ap;
    va_start(ap, format);
    vsnprintf(text, sizeof text, format, ap);
    va_end(ap);
    if (play) play(text);
}

template <class F> void find(void *library, const char *name, F &out)
{
    out = library ? (F)dlsym(library, name) : nullptr;
}

// What the driver does in cuInit() and with the first context.
inline void begin()
{
    static bool begun;
    if (begun) return;
    begun = true;
    const char *path = getenv("CUDA_INJECTION64_PATH"), *cupti = getenv("STAND_IN_CUPTI");
    int (*inject)();
    find(path ? dlopen(path, RTLD_NOW) : nullptr, "InitializeInjection", inject);
    if (inject) inject();
    void *library = cupti ? dlopen(cupti, RTLD_NOW) : nullptr;
    find(library, "fake_line", play);
    find(library, "fake_wants", wants);
    find(library, "fake_driver_gone", driver_gone);
    atexit([] { driver_gone ? driver_gone() : (void)0; });
    for (int d = 0; d < 2; d++) line("device device=%d", d);
    line("context");
    line("environment what=1 start=%lu values=1980,3201,5,16,0", now());
}

// A call of the runtime: its record is made when it returns.
struct Call {
    uint32_t cbid, id = ++n_calls;
    uint64_t start = now();
    explicit Call(uint32_t cbid) : cbid(cbid) {}
    ~Call()
    {
        line("runtime cbid=%u start=%lu end=%lu corr=%u thread=self", cbid, start, now(), id);
    }
};

inline Stream *stream_of(Stream *s) { return s ? s : &default_streams[device]; }

// Work of a stream starts when its work before has ended, and not at once.
inline uint64_t reserve(Stream *s, uint64_t ns)
{
    uint64_t free = s->busy_until, start;
    do start = std::max(now() + 2000, free);
    while (!s->busy_until.compare_exchange_weak(free, start + ns));
    return start;
}

inline void sleep_until(uint64_t moment)
{
    for (uint64_t t; (t = now()) < moment;) usleep((useconds_t)((moment - t) / 1000 + 1));
}

inline void run(Stream *s, const Node &n, uint32_t id, int graph, size_t node)
{
    uint64_t start = reserve(s, n.ns);
    if (graph && wants && wants(51)) return; // the graph is one record
    line("kernel name=%s start=%lu end=%lu corr=%u device=%d context=%d stream=%d grid=%u,%u,%u "
         "block=%u,%u,%u regs=%d static=%d dynamic=%zu graph=%d node=%zu",
         n.kernel->name, start, start + n.ns, id, device, device + 1, s->id, n.grid.x, n.grid.y,
         n.grid.z, n.block.x, n.block.y, n.block.z, n.kernel->registers + has_fault("regs"),
         n.kernel->shared, n.shared, graph, node);
}

inline uint64_t first_of() { return 0; }
template <class A, class... B> uint64_t first_of(A a, B...) { return (uint64_t)a; }

template <class... Arguments>
void launch(const Kernel &kernel, dim3 grid, dim3 block, size_t shared, Stream *given,
            Arguments... arguments)
{
    static std::atomic<int> n_launches;
    Stream *s = stream_of(given);
    Node node = {&kernel, grid, block, shared, kernel.ns ? kernel.ns : first_of(arguments...)};
    if (s->capturing) return s->nodes.push_back(node);
    Call call(211);
    if (!strcmp(kernel.name, "_Z13write_nowherev")) error = cudaErrorFault;
    if (++n_launches == 50 && has_fault("kernel")) return;
    run(s, node, call.id, 0, 0);
}

inline cudaError_t copy(uint32_t cbid, size_t n, int kind, Stream *given)
{
    Stream *s = stream_of(given);
    Call call(cbid);
    uint64_t ns = 1000 + n / 20, start = reserve(s, ns);
    line("memcpy copy=%d src=%d dst=%d bytes=%zu start=%lu end=%lu corr=%u stream=%d async=%d",
         kind, kind == 1 ? 1 : 3, kind == 2 ? 2 : 3, n + has_fault("bytes"), start, start + ns,
         call.id, s->id, cbid == 41);
    if (cbid == 31) sleep_until(s->busy_until);
    return cudaSuccess;
}

inline cudaError_t wait_for(uint32_t cbid, Stream *s)
{
    Call call(cbid);
    uint64_t start = now();
    sleep_until(s->busy_until);
    line("sync what=%d start=%lu end=%lu corr=%u stream=%d", cbid == 165 ? 4 : 3, start, now(),
         call.id, s->id);
    return (cudaError_t)error.load();
}
} // namespace stand_in

typedef stand_in::Stream *cudaStream_t;
typedef stand_in::Event *cudaEvent_t;
typedef stand_in::Graph *cudaGraph_t, *cudaGraphExec_t;

inline const char *cudaGetErrorString(cudaError_t rc)
{
    return rc == cudaErrorFault ? "an illegal memory access was encountered" : "no error";
}
inline cudaError_t cudaGetLastError() { return cudaSuccess; }
inline cudaError_t cudaGetDeviceCount(int *n)
{
    *n = 2;
    return cudaSuccess;
}
inline cudaError_t cudaSetDevice(int device)
{
    stand_in::begin();
    if (device) stand_in::line("context device=%d", device);
    stand_in::device = device;
    return cudaSuccess;
}
inline cudaError_t cudaGetDeviceProperties(cudaDeviceProp *p, int)
{
    *p = {"NVIDIA H200 (fake)", 132, 9, 0, 2048};
    return cudaSuccess;
}

template <class T> cudaError_t cudaMalloc(T **out, size_t n)
{
    stand_in::Call call(20);
    *out = (T *)stand_in::next_address.fetch_add((n + 511) / 512 * 512);
    stand_in::line("memory what=1 addr=%lu bytes=%zu start=%lu corr=%u", (uint64_t)*out, n,
                   stand_in::now(), call.id);
    return cudaSuccess;
}
inline cudaError_t cudaFree(void *p)
{
    if (!p) return cudaSuccess;
    stand_in::Call call(22);
    stand_in::line("memory what=2 addr=%lu start=%lu corr=%u", (uint64_t)p, stand_in::now(),
                   call.id);
    return cudaSuccess;
}
template <class T> cudaError_t cudaMallocHost(T **out, size_t n)
{
    *out = (T *)calloc(1, n);
    return cudaSuccess;
}

inline cudaError_t cudaMemcpy(void *, const void *, size_t n, cudaMemcpyKind kind)
{
    return stand_in::copy(31, n, kind, nullptr);
}
inline cudaError_t cudaMemcpyAsync(void *, const void *, size_t n, cudaMemcpyKind kind,
                                   cudaStream_t s = nullptr)
{
    return stand_in::copy(41, n, kind, s);
}
inline cudaError_t cudaMemcpyPeer(void *, int to, const void *, int from, size_t n)
{
    stand_in::Call call(41);
    uint64_t start = stand_in::reserve(&stand_in::default_streams[from], 1000);
    stand_in::line("peer bytes=%zu device=%d to=%d start=%lu end=%lu corr=%u", n, from, to, start,
                   start + 1000, call.id);
    return cudaSuccess;
}
inline cudaError_t cudaMemsetAsync(void *, int value, size_t n, cudaStream_t s)
{
    stand_in::Call call(51);
    uint64_t start = stand_in::reserve(s, 1000);
    stand_in::line("memset value=%d bytes=%zu start=%lu end=%lu corr=%u stream=%d", value, n, start,
                   start + 1000, call.id, s->id);
    return cudaSuccess;
}

inline cudaError_t cudaStreamCreateWithFlags(cudaStream_t *s, int)
{
    *s = new stand_in::Stream(++stand_in::n_streams);
    return cudaSuccess;
}
inline cudaError_t cudaStreamSynchronize(cudaStream_t s)
{
    return stand_in::wait_for(131, stand_in::stream_of(s));
}
inline cudaError_t cudaDeviceSynchronize()
{
    return stand_in::wait_for(165, stand_in::stream_of(nullptr));
}

inline cudaError_t cudaEventCreate(cudaEvent_t *e)
{
    *e = new stand_in::Event{++stand_in::n_events, 0};
    return cudaSuccess;
}
inline cudaError_t cudaEventRecord(cudaEvent_t e, cudaStream_t s = nullptr)
{
    stand_in::Call call(135);
    e->time = std::max(stand_in::now(), stand_in::stream_of(s)->busy_until.load());
    stand_in::line("event event=%d stream=%d corr=%u", e->id, stand_in::stream_of(s)->id, call.id);
    return cudaSuccess;
}
inline cudaError_t cudaEventSynchronize(cudaEvent_t e)
{
    stand_in::sleep_until(e->time);
    return cudaSuccess;
}
inline cudaError_t cudaEventElapsedTime(float *ms, cudaEvent_t a, cudaEvent_t b)
{
    *ms = (float)((double)(b->time - a->time) / 1e6);
    return cudaSuccess;
}

// Of a kernel whose blocks of 128 threads fill an H200.
inline cudaError_t cudaFuncGetAttributes(cudaFuncAttributes *a, const stand_in::Kernel &kernel)
{
    *a = {kernel.registers, (size_t)kernel.shared};
    return cudaSuccess;
}
inline cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int *n, const stand_in::Kernel &,
                                                                 int, size_t)
{
    *n = 16;
    return cudaSuccess;
}
inline cudaError_t cudaOccupancyMaxPotentialBlockSize(int *grid, int *block,
                                                      const stand_in::Kernel &, size_t)
{
    *grid = 264;
    *block = 1024;
    return cudaSuccess;
}

inline cudaError_t cudaStreamBeginCapture(cudaStream_t s, int)
{
    s->capturing = true;
    return cudaSuccess;
}
inline cudaError_t cudaStreamEndCapture(cudaStream_t s, cudaGraph_t *graph)
{
    *graph = new stand_in::Graph{s->nodes};
    s->capturing = false;
    return cudaSuccess;
}
inline cudaError_t cudaGraphInstantiateWithFlags(cudaGraphExec_t *exec, cudaGraph_t graph, int)
{
    *exec = graph;
    return cudaSuccess;
}
inline cudaError_t cudaGraphLaunch(cudaGraphExec_t exec, cudaStream_t s)
{
    stand_in::Call call(311);
    uint64_t start = std::max(stand_in::now() + 2000, s->busy_until.load());
    for (size_t i = 0; i < exec->nodes.size(); i++)
        stand_in::run(s, exec->nodes[i], call.id, 1, 100 + i);
    stand_in::line("graph graph=1 start=%lu end=%lu corr=%u stream=%d", start, s->busy_until.load(),
                   call.id, s->id);
    return cudaSuccess;
}

inline cudaError_t cudaProfilerStart()
{
    stand_in::line("profiler_start");
    return cudaSuccess;
}
inline cudaError_t cudaProfilerStop()
{
    stand_in::line("profiler_stop");
    return cudaSuccess;
}

#define LAUNCH(kernel, grid, block, shared, stream, ...)                                           \
    stand_in::launch(kernel, grid, block, shared, stream, ##__VA_ARGS__)
static const stand_in::Kernel empty{"_Z5emptyv", 8, 0, 1500}, spin{"_Z4spinx", 10, 0, 0},
    with_shared{"_Z11with_sharedPfi", 32, 4096, 3000},
    write_nowhere{"_Z13write_nowherev", 8, 0, 1000};
