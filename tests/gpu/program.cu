// SPDX-License-Identifier: Apache-2.0
// program.cu: a CUDA program whose every launch, copy and byte is known. Prints what it did as JSON; tests/gpu/run compares.
//
//   program known          kernels, copies, sets, a graph, ranges, threads
//   program profiler       launches before, between and after cudaProfilerStart() and cudaProfilerStop()
//   program launch N       N empty launches; prints the microseconds that a call takes
//   program overhead N     N empty launches; prints microseconds from one kernel to the next
//   program allocate N     N allocations that end at once; prints microseconds each
//   program train N        N steps of kernels that take about 2 ms; prints microseconds a step
//   program threads N M    N threads, each launches M times on a stream of its own
//   program managed        memory that moves between the host and the GPU by page faults
//   program gemm           matrix products of cuBLAS (built with -DWITH_CUBLAS)
//   program die HOW FILE   works, waits for FILE, then ends by exit, _exit, kill, abort or a kernel that writes where it must not
//   program busy FILE      launches until FILE is there
//   program peers          copies between the first two GPUs
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <thread>
#include <unistd.h>
#include <vector>
#include <nvtx3/nvToolsExt.h>
#ifdef STAND_IN
#include "stand_in.h"
#else
#include <cuda_profiler_api.h>
#include <cuda_runtime.h>
#define LAUNCH(kernel, grid, block, shared, stream, ...) kernel<<<grid, block, shared, stream>>>(__VA_ARGS__)
#endif
#ifdef WITH_CUBLAS
#include <cublas_v2.h>
#endif

#define CHECK(call)                                                                                                                                            \
    do {                                                                                                                                                       \
        cudaError_t rc = call;                                                                                                                                 \
        if (rc != cudaSuccess) {                                                                                                                               \
            fprintf(stderr, "%s: %s\n", #call, cudaGetErrorString(rc));                                                                                        \
            exit(rc == cudaErrorNoDevice || rc == cudaErrorInsufficientDriver ? 77 : 1);                                                                       \
        }                                                                                                                                                      \
    } while (0)

#ifndef STAND_IN
__global__ void empty() {}

// Runs for about `ns`, so that its length can be compared with CUDA events.
__global__ void spin(long long ns)
{
    long long begin, now;
    asm volatile("mov.u64 %0, %globaltimer;" : "=l"(begin));
    do asm volatile("mov.u64 %0, %globaltimer;" : "=l"(now));
    while (now - begin < ns);
}

__global__ void with_shared(float *out, int n)
{
    __shared__ float fixed[1024];
    extern __shared__ float asked[];
    fixed[threadIdx.x] = threadIdx.x, asked[threadIdx.x] = n;
    __syncthreads();
    out[(blockIdx.y * gridDim.x + blockIdx.x) * blockDim.x + threadIdx.x] = fixed[(threadIdx.x + 1) % blockDim.x] + asked[threadIdx.x];
}

__global__ void add_one(float *p) { p[blockIdx.x * blockDim.x + threadIdx.x] += 1; }

__global__ void write_nowhere() { *(volatile int *)16 = 1; }
#endif

enum { SPINS = 100, STEPS = 5, NODES = 3, REPLAYS = 20, THREAD_LAUNCHES = 7, SPIN_NS = 200000 };
static const size_t H2D = 1000003, D2H = 500009, D2D = 250007, SET = 123457;

static double now_us()
{
    using namespace std::chrono;
    return duration<double, std::micro>(steady_clock::now().time_since_epoch()).count();
}

// Fewer than the driver's queue holds, so that no call waits for the GPU.
static void launch(int n)
{
    const int BATCH = 500;
    double took = 0;
    for (int i = -BATCH; i < n; i += BATCH) { // the first batch warms up
        double begin = now_us();
        for (int k = 0; k < BATCH; k++) LAUNCH(empty, 1, 1, 0, 0);
        if (i >= 0) took += now_us() - begin;
        CHECK(cudaDeviceSynchronize());
    }
    printf("%.4f\n", took / n);
}

static void overhead(int n)
{
    LAUNCH(empty, 1, 1, 0, 0);
    CHECK(cudaDeviceSynchronize());
    double begin = now_us();
    for (int i = 0; i < n; i++) {
        LAUNCH(empty, 1, 1, 0, 0);
        if (i % 1000 == 999) CHECK(cudaDeviceSynchronize());
    }
    CHECK(cudaDeviceSynchronize());
    printf("%.4f\n", (now_us() - begin) / n);
}

static void allocate(int n)
{
    void *p;
    double begin = now_us();
    for (int i = 0; i < n; i++) {
        CHECK(cudaMalloc(&p, 4096));
        CHECK(cudaFree(p));
    }
    printf("%.4f\n", (now_us() - begin) / n);
}

// As a step of training: a batch goes to the GPU, forty kernels of 50 us, the loss comes back.
static void train(int n)
{
    char *batch, *device, *loss;
    CHECK(cudaMallocHost(&batch, H2D));
    CHECK(cudaMallocHost(&loss, 4));
    CHECK(cudaMalloc(&device, H2D));
    double begin = 0;
    for (int step = -3; step < n; step++) { // the first three warm up
        if (!step) begin = now_us();
        nvtxRangePushA("step");
        CHECK(cudaMemcpyAsync(device, batch, H2D, cudaMemcpyHostToDevice));
        for (int i = 0; i < 40; i++) LAUNCH(spin, 1, 32, 0, 0, 50000);
        CHECK(cudaMemcpyAsync(loss, device, 4, cudaMemcpyDeviceToHost));
        CHECK(cudaDeviceSynchronize());
        nvtxRangePop();
    }
    printf("%.4f\n", (now_us() - begin) / n);
}

static void profiler()
{
    for (int i = 0; i < 3; i++) LAUNCH(spin, 1, 32, 0, 0, 1000);
    CHECK(cudaDeviceSynchronize());
    for (int window = 0; window < 2; window++) {
        CHECK(cudaProfilerStart());
        for (int i = 0; i < 5; i++) LAUNCH(empty, 1, 1, 0, 0);
        CHECK(cudaDeviceSynchronize());
        CHECK(cudaProfilerStop());
        for (int i = 0; i < 3; i++) LAUNCH(spin, 1, 32, 0, 0, 1000);
        CHECK(cudaDeviceSynchronize());
    }
    printf("{\"inside\": 5, \"windows\": 2}\n");
}

static void gemm()
{
#ifdef WITH_CUBLAS
    const int N = 2048, TIMES = 20;
    float *a, *b, *c, one = 1, zero = 0, ms;
    cublasHandle_t cublas;
    cudaEvent_t begin, end;
    CHECK(cudaMalloc(&a, sizeof(float) * N * N));
    CHECK(cudaMalloc(&b, sizeof(float) * N * N));
    CHECK(cudaMalloc(&c, sizeof(float) * N * N));
    CHECK(cudaMemset(a, 0, sizeof(float) * N * N));
    CHECK(cudaMemset(b, 0, sizeof(float) * N * N));
    CHECK(cudaEventCreate(&begin));
    CHECK(cudaEventCreate(&end));
    if (cublasCreate(&cublas)) fprintf(stderr, "cublasCreate failed\n"), exit(1);
    cublasSgemm(cublas, CUBLAS_OP_N, CUBLAS_OP_N, N, N, N, &one, a, N, b, N, &zero, c, N);
    CHECK(cudaDeviceSynchronize());
    nvtxRangePushA("gemms");
    CHECK(cudaEventRecord(begin));
    for (int i = 0; i < TIMES; i++) cublasSgemm(cublas, CUBLAS_OP_N, CUBLAS_OP_N, N, N, N, &one, a, N, b, N, &zero, c, N);
    CHECK(cudaEventRecord(end));
    CHECK(cudaEventSynchronize(end));
    nvtxRangePop();
    CHECK(cudaEventElapsedTime(&ms, begin, end));
    printf("{\"gemms\": %d, \"events_ms\": %.6f, \"flops\": %.0f}\n", TIMES, ms, 2.0 * N * N * N * TIMES);
#else
    fprintf(stderr, "built without cuBLAS\n"), exit(78);
#endif
}

static void die(const std::string &how, const char *file)
{
    for (int i = 0; i < 50; i++) LAUNCH(spin, 1, 32, 0, 0, 10000);
    CHECK(cudaDeviceSynchronize());
    while (access(file, F_OK)) usleep(10000);
    if (how == "_exit") _exit(42);
    if (how == "kill") raise(SIGKILL);
    if (how == "abort") abort();
    if (how == "fault") LAUNCH(write_nowhere, 1, 1, 0, 0), fprintf(stderr, "fault: %s\n", cudaGetErrorString(cudaDeviceSynchronize()));
    exit(42);
}

static void busy(const char *file)
{
    long n = 0;
    for (; access(file, F_OK); n += 10) {
        for (int i = 0; i < 10; i++) LAUNCH(spin, 1, 32, 0, 0, 100000);
        CHECK(cudaStreamSynchronize(0));
    }
    printf("{\"launches\": %ld}\n", n);
}

static void peers()
{
    int n = 0;
    char *from, *to;
    CHECK(cudaGetDeviceCount(&n));
    if (n < 2) fprintf(stderr, "one GPU\n"), exit(78);
    CHECK(cudaMalloc(&from, H2D));
    CHECK(cudaSetDevice(1));
    CHECK(cudaMalloc(&to, H2D));
    CHECK(cudaMemcpyPeer(to, 1, from, 0, H2D));
    LAUNCH(empty, 1, 1, 0, 0);
    CHECK(cudaDeviceSynchronize());
    printf("{\"peer_bytes\": %zu, \"gpus\": %d}\n", H2D, n);
}

static void threads(int n, int launches)
{
    std::vector<std::thread> all;
    for (int t = 0; t < n; t++)
        all.emplace_back([launches] {
            cudaStream_t stream;
            CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
            for (int i = 0; i < launches; i++) {
                LAUNCH(empty, 1, 1, 0, stream);
                if (i % 500 == 499) CHECK(cudaStreamSynchronize(stream));
            }
            CHECK(cudaStreamSynchronize(stream));
        });
    for (auto &thread : all) thread.join();
    printf("{\"threads\": %d, \"launches\": %d}\n", n, n * launches);
}

static void managed()
{
#ifdef STAND_IN
    fprintf(stderr, "the stand-in has no managed memory\n"), exit(78);
#else
    const int N = 1 << 20;
    float *p;
    CHECK(cudaMallocManaged(&p, N * sizeof *p));
    for (int round = 0; round < 4; round++) {
        for (int i = 0; i < N; i++) p[i] = (float)i;
        add_one<<<N / 256, 256>>>(p);
        CHECK(cudaDeviceSynchronize());
    }
    if (p[7] != 8) fprintf(stderr, "the kernel wrote %g\n", p[7]), exit(1);
    printf("{\"bytes\": %zu, \"rounds\": 4}\n", N * sizeof *p);
#endif
}

static void known()
{
    cudaDeviceProp p;
    CHECK(cudaGetDeviceProperties(&p, 0));
    char *device, *other, *pinned, *pageable = (char *)calloc(1, H2D);
    CHECK(cudaMalloc(&device, H2D));
    CHECK(cudaMalloc(&other, H2D));
    CHECK(cudaMallocHost(&pinned, H2D));
    cudaStream_t stream;
    CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    cudaEvent_t begin, end;
    CHECK(cudaEventCreate(&begin));
    CHECK(cudaEventCreate(&end));

    // copies and sets of odd sizes
    CHECK(cudaMemcpy(device, pageable, H2D, cudaMemcpyHostToDevice));
    CHECK(cudaMemcpyAsync(pinned, device, D2H, cudaMemcpyDeviceToHost, stream));
    CHECK(cudaMemcpyAsync(other, device, D2D, cudaMemcpyDeviceToDevice, stream));
    CHECK(cudaMemsetAsync(device, 7, SET, stream));
    CHECK(cudaStreamSynchronize(stream));

    // lengths against CUDA events, in steps
    float events_ms = 0, ms;
    for (int step = 0; step < STEPS; step++) {
        nvtxRangePushA("step");
        nvtxRangePushA("spin");
        CHECK(cudaEventRecord(begin, stream));
        for (int i = 0; i < SPINS / STEPS; i++) LAUNCH(spin, 1, 32, 0, stream, SPIN_NS);
        CHECK(cudaEventRecord(end, stream));
        CHECK(cudaEventSynchronize(end));
        CHECK(cudaEventElapsedTime(&ms, begin, end));
        events_ms += ms;
        nvtxRangePop();
        nvtxRangePop();
    }

    // what a launch is made of
    LAUNCH(with_shared, dim3(3, 2, 1), dim3(128, 1, 1), 128 * sizeof(float), stream, (float *)device, 1);
    CHECK(cudaGetLastError());
    cudaFuncAttributes a;
    CHECK(cudaFuncGetAttributes(&a, with_shared));
    int blocks = 0, best_grid = 0, best_block = 0;
    CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, with_shared, 128, 128 * sizeof(float)));
    CHECK(cudaOccupancyMaxPotentialBlockSize(&best_grid, &best_block, with_shared, 128 * sizeof(float)));

    // a graph
    cudaGraph_t graph;
    cudaGraphExec_t graph_exec;
    CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    for (int i = 0; i < NODES; i++) LAUNCH(empty, 1, 64, 0, stream);
    CHECK(cudaStreamEndCapture(stream, &graph));
    CHECK(cudaGraphInstantiateWithFlags(&graph_exec, graph, 0));
    for (int i = 0; i < REPLAYS; i++) CHECK(cudaGraphLaunch(graph_exec, stream));
    CHECK(cudaStreamSynchronize(stream));

    // another thread
    std::thread([] {
        for (int i = 0; i < THREAD_LAUNCHES; i++) LAUNCH(empty, 2, 32, 0, 0);
        CHECK(cudaDeviceSynchronize());
    }).join();
    CHECK(cudaFree(other));
    CHECK(cudaDeviceSynchronize());
    printf("{\"spins\": %d, \"spin_ns\": %d, \"steps\": %d, \"events_ms\": %.6f, \"h2d\": %zu, \"d2h\": %zu, \"d2d\": %zu, \"set\": %zu, \"registers\": %d, "
           "\"static_shared\": %zu, \"dynamic_shared\": %zu, \"occupancy_percent\": %.6f, \"best_grid\": %d, \"best_block\": %d, \"graph_kernels\": %d, "
           "\"graph_launches\": %d, \"thread_launches\": %d, \"device\": \"%s\", \"sms\": %d, \"compute_capability\": \"%d.%d\"}\n",
           SPINS, SPIN_NS, STEPS, events_ms, H2D, D2H, D2D, SET, a.numRegs, a.sharedSizeBytes, 128 * sizeof(float), 100.0 * blocks * 128 / p.maxThreadsPerMultiProcessor,
           best_grid, best_block, NODES * REPLAYS, REPLAYS, THREAD_LAUNCHES, p.name, p.multiProcessorCount, p.major, p.minor);
}

int main(int argc, char **argv)
{
    std::string what = argc > 1 ? argv[1] : "known", with = argc > 2 ? argv[2] : "";
    CHECK(cudaSetDevice(0));
    CHECK(cudaFree(0));
    if (what == "known") known();
    if (what == "profiler") profiler();
    if (what == "launch") launch(atoi(with.c_str()));
    if (what == "threads") threads(atoi(with.c_str()), atoi(argc > 3 ? argv[3] : "1"));
    if (what == "managed") managed();
    if (what == "overhead") overhead(atoi(with.c_str()));
    if (what == "allocate") allocate(atoi(with.c_str()));
    if (what == "train") train(atoi(with.c_str()));
    if (what == "gemm") gemm();
    if (what == "die") die(with, argc > 3 ? argv[3] : "/");
    if (what == "busy") busy(with.c_str());
    if (what == "peers") peers();
    return 0;
}
