// program.cu: a CUDA program whose every launch, copy and byte is known. Prints what it did as JSON; tests/gpu/run compares.
//
//   program            the known work
//   program overhead N N empty launches; prints microseconds a launch
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <chrono>
#include <thread>
#include <cuda_runtime.h>
#include <nvtx3/nvToolsExt.h>

#define CHECK(call)                                                                                                          \
    do {                                                                                                                     \
        cudaError_t rc = call;                                                                                               \
        if (rc != cudaSuccess) fprintf(stderr, "%s: %s\n", #call, cudaGetErrorString(rc)), exit(rc == cudaErrorNoDevice || rc == cudaErrorInsufficientDriver ? 77 : 1); \
    } while (0)

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
    out[blockIdx.x * blockDim.x + threadIdx.x] = fixed[(threadIdx.x + 1) % blockDim.x] + asked[threadIdx.x];
}

enum { SPINS = 100, STEPS = 5, NODES = 3, REPLAYS = 20, THREAD_LAUNCHES = 7 };
static const size_t H2D = 1000003, D2H = 500009, D2D = 250007, SET = 123457;

static void overhead(int n)
{
    empty<<<1, 1>>>();
    CHECK(cudaDeviceSynchronize());
    auto begin = std::chrono::steady_clock::now();
    for (int i = 0; i < n; i++) {
        empty<<<1, 1>>>();
        if (i % 1000 == 999) CHECK(cudaDeviceSynchronize());
    }
    CHECK(cudaDeviceSynchronize());
    printf("%.4f\n", std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - begin).count() / n);
}

int main(int argc, char **argv)
{
    CHECK(cudaSetDevice(0));
    CHECK(cudaFree(0));
    if (argc == 3 && !strcmp(argv[1], "overhead")) return overhead(atoi(argv[2])), 0;
    cudaDeviceProp p;
    CHECK(cudaGetDeviceProperties(&p, 0));
    char *device, *other, *pinned, *pageable = (char *)malloc(H2D);
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
        for (int i = 0; i < SPINS / STEPS; i++) spin<<<1, 32, 0, stream>>>(200000);
        CHECK(cudaEventRecord(end, stream));
        CHECK(cudaEventSynchronize(end));
        CHECK(cudaEventElapsedTime(&ms, begin, end));
        events_ms += ms;
        nvtxRangePop();
        nvtxRangePop();
    }

    // what a launch is made of
    with_shared<<<dim3(3, 2, 1), dim3(128, 1, 1), 128 * sizeof(float), stream>>>((float *)device, 1);
    CHECK(cudaGetLastError());
    cudaFuncAttributes a;
    CHECK(cudaFuncGetAttributes(&a, with_shared));
    int blocks = 0;
    CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, with_shared, 128, 128 * sizeof(float)));

    // a graph
    cudaGraph_t graph;
    cudaGraphExec_t graph_exec;
    CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    for (int i = 0; i < NODES; i++) empty<<<1, 64, 0, stream>>>();
    CHECK(cudaStreamEndCapture(stream, &graph));
    CHECK(cudaGraphInstantiate(&graph_exec, graph, 0));
    for (int i = 0; i < REPLAYS; i++) CHECK(cudaGraphLaunch(graph_exec, stream));
    CHECK(cudaStreamSynchronize(stream));

    // another thread
    std::thread([] {
        for (int i = 0; i < THREAD_LAUNCHES; i++) empty<<<2, 32>>>();
        CHECK(cudaDeviceSynchronize());
    }).join();
    CHECK(cudaFree(other));
    CHECK(cudaDeviceSynchronize());
    printf("{\"spins\": %d, \"steps\": %d, \"events_ms\": %.6f, \"h2d\": %zu, \"d2h\": %zu, \"d2d\": %zu, \"set\": %zu, \"registers\": %d, \"static_shared\": %zu, "
           "\"dynamic_shared\": %zu, \"occupancy_percent\": %.6f, \"graph_kernels\": %d, \"graph_launches\": %d, \"thread_launches\": %d, \"device\": \"%s\", \"sms\": %d}\n",
           SPINS, STEPS, events_ms, H2D, D2H, D2D, SET, a.numRegs, a.sharedSizeBytes, 128 * sizeof(float), 100.0 * blocks * 128 / p.maxThreadsPerMultiProcessor,
           NODES * REPLAYS, REPLAYS, THREAD_LAUNCHES, p.name, p.multiProcessorCount);
    return 0;
}
