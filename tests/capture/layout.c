/* layout.c: the offsets of loader/capture/record.h and the numbers of nvtx.h against NVIDIA's own headers (CUDA 13.0), at compile time.
 * Built only where the toolkit's headers are: cc -I$CUDA_HOME/include. */
#define _GNU_SOURCE
#include <cupti.h>
#include <nvtx3/nvToolsExt.h>

#include "../../loader/capture/cupti.h"
#include "../../loader/capture/nvtx.h"
#include "fake_records.h"

#if CUPTI_API_VERSION >= 130000 && CUPTI_API_VERSION < 130100
#define SAME(cupti, member, at) _Static_assert(offsetof(cupti, member) == (at), #cupti "." #member);
#define SIZE(cupti, ours, n) _Static_assert(sizeof(cupti) == (n) && sizeof(ours) == (n), #cupti);
SIZE(CUpti_ActivityKernel10, FakeKernel, 216)
SIZE(CUpti_ActivityMemcpy6, FakeMemcpy, 96)
SIZE(CUpti_ActivityMemcpyPtoP4, FakePeer, 96)
SIZE(CUpti_ActivityMemset4, FakeMemset, 88)
SIZE(CUpti_ActivityAPI, FakeApi, 40)
SIZE(CUpti_ActivityOverhead3, FakeOverhead, 56)
SIZE(CUpti_ActivitySynchronization2, FakeSync, 56)
SIZE(CUpti_ActivityDevice5, FakeDevice, 184)
SIZE(CUpti_ActivityContext3, FakeContext, 32)
SIZE(CUpti_ActivityStream, FakeStreamRecord, 24)
SIZE(CUpti_ActivityMemory4, FakeMemory, 128)
SIZE(CUpti_ActivityMemoryPool3, FakePool, 80)
SIZE(CUpti_ActivityUnifiedMemoryCounter3, FakeUnified, 104)
SIZE(CUpti_ActivityGraphTrace2, FakeGraph, 56)
_Static_assert(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL == 10 && CUPTI_ACTIVITY_KIND_MEMCPY2 == 22 && CUPTI_ACTIVITY_KIND_GRAPH_TRACE == 51, "kinds");
_Static_assert(CUPTI_ACTIVITY_KIND_MEMORY2 == 49 && CUPTI_ACTIVITY_KIND_MEMORY_POOL == 50 && CUPTI_ACTIVITY_KIND_SYNCHRONIZATION == 38, "kinds");
_Static_assert((int)CUPTI_CB_DOMAIN_DRIVER_API == CB_DOMAIN_DRIVER && (int)CUPTI_CB_DOMAIN_RUNTIME_API == CB_DOMAIN_RUNTIME, "domains");
_Static_assert((int)CUPTI_CB_DOMAIN_RESOURCE == CB_DOMAIN_RESOURCE && (int)CUPTI_CBID_RESOURCE_CONTEXT_CREATED == CB_RESOURCE_CONTEXT_CREATED, "callbacks");
_Static_assert(CUPTI_ACTIVITY_ATTR_ZEROED_OUT_ACTIVITY_BUFFER == 5 && CUPTI_ACTIVITY_ATTR_PER_THREAD_ACTIVITY_BUFFER == 9, "attributes");
_Static_assert((int)CUPTI_ERROR_INVALID_KIND == CUPTI_INVALID_KIND && (int)CUPTI_ERROR_MAX_LIMIT_REACHED == CUPTI_MAX_LIMIT_REACHED, "results");

/* Each field of the table beside the member that it means. */
#define FIELDS(S)                                                                                                                                              \
    S(REC_KERNEL, START, CUpti_ActivityKernel10, start)                                                                                                        \
    S(REC_KERNEL, END, CUpti_ActivityKernel10, end)                                                                                                            \
    S(REC_KERNEL, CORRELATION, CUpti_ActivityKernel10, correlationId)                                                                                          \
    S(REC_KERNEL, GRAPH_NODE, CUpti_ActivityKernel10, graphNodeId)                                                                                             \
    S(REC_KERNEL, NAME, CUpti_ActivityKernel10, name)                                                                                                          \
    S(REC_KERNEL, DEVICE, CUpti_ActivityKernel10, deviceId)                                                                                                    \
    S(REC_KERNEL, CONTEXT, CUpti_ActivityKernel10, contextId)                                                                                                  \
    S(REC_KERNEL, STREAM, CUpti_ActivityKernel10, streamId)                                                                                                    \
    S(REC_KERNEL, GRID_X, CUpti_ActivityKernel10, gridX)                                                                                                       \
    S(REC_KERNEL, GRID_Z, CUpti_ActivityKernel10, gridZ)                                                                                                       \
    S(REC_KERNEL, BLOCK_X, CUpti_ActivityKernel10, blockX)                                                                                                     \
    S(REC_KERNEL, BLOCK_Z, CUpti_ActivityKernel10, blockZ)                                                                                                     \
    S(REC_KERNEL, REGISTERS, CUpti_ActivityKernel10, registersPerThread)                                                                                       \
    S(REC_KERNEL, STATIC_SHARED, CUpti_ActivityKernel10, staticSharedMemory)                                                                                   \
    S(REC_KERNEL, DYNAMIC_SHARED, CUpti_ActivityKernel10, dynamicSharedMemory)                                                                                 \
    S(REC_KERNEL, LOCAL_PER_THREAD, CUpti_ActivityKernel10, localMemoryPerThread)                                                                              \
    S(REC_KERNEL, LAUNCH_TYPE, CUpti_ActivityKernel10, launchType)                                                                                             \
    S(REC_KERNEL, GRAPH, CUpti_ActivityKernel10, graphId)                                                                                                      \
    S(REC_KERNEL, CLUSTER_X, CUpti_ActivityKernel10, clusterX)                                                                                                 \
    S(REC_KERNEL, CLUSTER_Z, CUpti_ActivityKernel10, clusterZ)                                                                                                 \
    S(REC_KERNEL, DEVICE_LAUNCHED, CUpti_ActivityKernel10, isDeviceLaunched)                                                                                   \
    S(REC_MEMCPY, START, CUpti_ActivityMemcpy6, start)                                                                                                         \
    S(REC_MEMCPY, CORRELATION, CUpti_ActivityMemcpy6, correlationId)                                                                                           \
    S(REC_MEMCPY, BYTES, CUpti_ActivityMemcpy6, bytes)                                                                                                         \
    S(REC_MEMCPY, STREAM, CUpti_ActivityMemcpy6, streamId)                                                                                                     \
    S(REC_MEMCPY, FLAGS, CUpti_ActivityMemcpy6, flags)                                                                                                         \
    S(REC_MEMCPY, GRAPH_NODE, CUpti_ActivityMemcpy6, graphNodeId)                                                                                              \
    S(REC_MEMCPY, GRAPH, CUpti_ActivityMemcpy6, graphId)                                                                                                       \
    S(REC_MEMCPY, COPY_COUNT, CUpti_ActivityMemcpy6, copyCount)                                                                                                \
    S(REC_MEMCPY_PEER, CORRELATION, CUpti_ActivityMemcpyPtoP4, correlationId)                                                                                  \
    S(REC_MEMCPY_PEER, SOURCE_DEVICE, CUpti_ActivityMemcpyPtoP4, srcDeviceId)                                                                                  \
    S(REC_MEMCPY_PEER, TARGET_DEVICE, CUpti_ActivityMemcpyPtoP4, dstDeviceId)                                                                                  \
    S(REC_MEMCPY_PEER, GRAPH_NODE, CUpti_ActivityMemcpyPtoP4, graphNodeId)                                                                                     \
    S(REC_MEMCPY_PEER, GRAPH, CUpti_ActivityMemcpyPtoP4, graphId)                                                                                              \
    S(REC_MEMSET, VALUE, CUpti_ActivityMemset4, value)                                                                                                         \
    S(REC_MEMSET, BYTES, CUpti_ActivityMemset4, bytes)                                                                                                         \
    S(REC_MEMSET, CORRELATION, CUpti_ActivityMemset4, correlationId)                                                                                           \
    S(REC_MEMSET, FLAGS, CUpti_ActivityMemset4, flags)                                                                                                         \
    S(REC_MEMSET, SOURCE_KIND, CUpti_ActivityMemset4, memoryKind)                                                                                              \
    S(REC_MEMSET, GRAPH_NODE, CUpti_ActivityMemset4, graphNodeId)                                                                                              \
    S(REC_MEMSET, GRAPH, CUpti_ActivityMemset4, graphId)                                                                                                       \
    S(REC_RUNTIME, CBID, CUpti_ActivityAPI, cbid)                                                                                                              \
    S(REC_RUNTIME, START, CUpti_ActivityAPI, start)                                                                                                            \
    S(REC_RUNTIME, THREAD, CUpti_ActivityAPI, threadId)                                                                                                        \
    S(REC_RUNTIME, CORRELATION, CUpti_ActivityAPI, correlationId)                                                                                              \
    S(REC_RUNTIME, RETURN_VALUE, CUpti_ActivityAPI, returnValue)                                                                                               \
    S(REC_OVERHEAD, OVERHEAD_KIND, CUpti_ActivityOverhead3, overheadKind)                                                                                      \
    S(REC_OVERHEAD, OBJECT_FIRST, CUpti_ActivityOverhead3, objectId)                                                                                           \
    S(REC_OVERHEAD, START, CUpti_ActivityOverhead3, start)                                                                                                     \
    S(REC_OVERHEAD, CORRELATION, CUpti_ActivityOverhead3, correlationId)                                                                                       \
    S(REC_SYNC, SYNC_TYPE, CUpti_ActivitySynchronization2, type)                                                                                               \
    S(REC_SYNC, CORRELATION, CUpti_ActivitySynchronization2, correlationId)                                                                                    \
    S(REC_SYNC, EVENT, CUpti_ActivitySynchronization2, cudaEventId)                                                                                            \
    S(REC_SYNC, RETURN_VALUE, CUpti_ActivitySynchronization2, returnValue)                                                                                     \
    S(REC_DEVICE, DEVICE, CUpti_ActivityDevice5, id)                                                                                                           \
    S(REC_DEVICE, BANDWIDTH_KB, CUpti_ActivityDevice5, globalMemoryBandwidth)                                                                                  \
    S(REC_DEVICE, BYTES, CUpti_ActivityDevice5, globalMemorySize)                                                                                              \
    S(REC_DEVICE, L2_BYTES, CUpti_ActivityDevice5, l2CacheSize)                                                                                                \
    S(REC_DEVICE, WARP, CUpti_ActivityDevice5, numThreadsPerWarp)                                                                                              \
    S(REC_DEVICE, CLOCK_KHZ, CUpti_ActivityDevice5, coreClockRate)                                                                                             \
    S(REC_DEVICE, PROCESSORS, CUpti_ActivityDevice5, numMultiprocessors)                                                                                       \
    S(REC_DEVICE, WARPS_PER_SM, CUpti_ActivityDevice5, maxWarpsPerMultiprocessor)                                                                              \
    S(REC_DEVICE, BLOCKS_PER_SM, CUpti_ActivityDevice5, maxBlocksPerMultiprocessor)                                                                            \
    S(REC_DEVICE, SHARED_PER_SM, CUpti_ActivityDevice5, maxSharedMemoryPerMultiprocessor)                                                                      \
    S(REC_DEVICE, REGISTERS_PER_SM, CUpti_ActivityDevice5, maxRegistersPerMultiprocessor)                                                                      \
    S(REC_DEVICE, SHARED_PER_BLOCK, CUpti_ActivityDevice5, maxSharedMemoryPerBlock)                                                                            \
    S(REC_DEVICE, THREADS_PER_BLOCK, CUpti_ActivityDevice5, maxThreadsPerBlock)                                                                                \
    S(REC_DEVICE, MAJOR, CUpti_ActivityDevice5, computeCapabilityMajor)                                                                                        \
    S(REC_DEVICE, MINOR, CUpti_ActivityDevice5, computeCapabilityMinor)                                                                                        \
    S(REC_DEVICE, ECC, CUpti_ActivityDevice5, eccEnabled)                                                                                                      \
    S(REC_DEVICE, UUID_LOW, CUpti_ActivityDevice5, uuid)                                                                                                       \
    S(REC_DEVICE, NAME, CUpti_ActivityDevice5, name)                                                                                                           \
    S(REC_DEVICE, MIG, CUpti_ActivityDevice5, isMigEnabled)                                                                                                    \
    S(REC_DEVICE, MIG_UUID_LOW, CUpti_ActivityDevice5, migUuid)                                                                                                \
    S(REC_CONTEXT, CONTEXT, CUpti_ActivityContext3, contextId)                                                                                                 \
    S(REC_CONTEXT, DEVICE, CUpti_ActivityContext3, deviceId)                                                                                                   \
    S(REC_CONTEXT, NULL_STREAM, CUpti_ActivityContext3, nullStreamId)                                                                                          \
    S(REC_CONTEXT, PARENT_CONTEXT, CUpti_ActivityContext3, parentContextId)                                                                                    \
    S(REC_STREAM, STREAM, CUpti_ActivityStream, streamId)                                                                                                      \
    S(REC_STREAM, PRIORITY, CUpti_ActivityStream, priority)                                                                                                    \
    S(REC_MEMORY, START, CUpti_ActivityMemory4, timestamp)                                                                                                     \
    S(REC_MEMORY, ADDRESS, CUpti_ActivityMemory4, address)                                                                                                     \
    S(REC_MEMORY, BYTES, CUpti_ActivityMemory4, bytes)                                                                                                         \
    S(REC_MEMORY, OPERATION, CUpti_ActivityMemory4, memoryOperationType)                                                                                       \
    S(REC_MEMORY, SOURCE_KIND, CUpti_ActivityMemory4, memoryKind)                                                                                              \
    S(REC_MEMORY, DEVICE, CUpti_ActivityMemory4, deviceId)                                                                                                     \
    S(REC_MEMORY, NAME, CUpti_ActivityMemory4, name)                                                                                                           \
    S(REC_MEMORY, FLAGS, CUpti_ActivityMemory4, isAsync)                                                                                                       \
    S(REC_MEMORY, POOL_TYPE, CUpti_ActivityMemory4, memoryPoolConfig.memoryPoolType)                                                                           \
    S(REC_MEMORY, POOL_ADDRESS, CUpti_ActivityMemory4, memoryPoolConfig.address)                                                                               \
    S(REC_POOL, OPERATION, CUpti_ActivityMemoryPool3, memoryPoolOperationType)                                                                                 \
    S(REC_POOL, START, CUpti_ActivityMemoryPool3, timestamp)                                                                                                   \
    S(REC_POOL, ADDRESS, CUpti_ActivityMemoryPool3, address)                                                                                                   \
    S(REC_POOL, BYTES, CUpti_ActivityMemoryPool3, size)                                                                                                        \
    S(REC_POOL, DEVICE, CUpti_ActivityMemoryPool3, deviceId)                                                                                                   \
    S(REC_POOL, USED_BYTES, CUpti_ActivityMemoryPool3, utilizedSize)                                                                                           \
    S(REC_UNIFIED, COUNTER, CUpti_ActivityUnifiedMemoryCounter3, counterKind)                                                                                  \
    S(REC_UNIFIED, BYTES, CUpti_ActivityUnifiedMemoryCounter3, value)                                                                                          \
    S(REC_UNIFIED, START, CUpti_ActivityUnifiedMemoryCounter3, start)                                                                                          \
    S(REC_UNIFIED, ADDRESS, CUpti_ActivityUnifiedMemoryCounter3, address)                                                                                      \
    S(REC_UNIFIED, SOURCE_DEVICE, CUpti_ActivityUnifiedMemoryCounter3, srcId)                                                                                  \
    S(REC_UNIFIED, FLAGS, CUpti_ActivityUnifiedMemoryCounter3, flags)                                                                                          \
    S(REC_GRAPH, CORRELATION, CUpti_ActivityGraphTrace2, correlationId)                                                                                        \
    S(REC_GRAPH, START, CUpti_ActivityGraphTrace2, start)                                                                                                      \
    S(REC_GRAPH, DEVICE, CUpti_ActivityGraphTrace2, deviceId)                                                                                                  \
    S(REC_GRAPH, GRAPH, CUpti_ActivityGraphTrace2, graphId)                                                                                                    \
    S(REC_GRAPH, CONTEXT, CUpti_ActivityGraphTrace2, contextId)                                                                                                \
    S(REC_GRAPH, STREAM, CUpti_ActivityGraphTrace2, streamId)
#define KNOWS_CUPTI 1
#else
#define KNOWS_CUPTI 0
#endif

_Static_assert(sizeof(NvtxAttributes) == sizeof(nvtxEventAttributes_t) && offsetof(NvtxAttributes, message) == offsetof(nvtxEventAttributes_t, message),
               "NVTX attributes");
_Static_assert(offsetof(NvtxAttributes, payload) == offsetof(nvtxEventAttributes_t, payload), "NVTX payload");
_Static_assert((int)NVTX_CBID_CORE_RangePushA == NVTX_PUSH_A && (int)NVTX_CBID_CORE_RangePop == NVTX_POP &&
                   (int)NVTX_CBID_CORE_NameOsThreadA == NVTX_NAME_THREAD_A,
               "NVTX slots");
_Static_assert((int)NVTX_CBID_CORE_RangeStartA == NVTX_START_A && (int)NVTX_CBID_CORE_RangeEnd == NVTX_END && (int)NVTX_CBID_CORE_MarkEx == NVTX_MARK_EX,
               "NVTX slots");
_Static_assert((int)NVTX_CBID_CORE2_DomainRangePushEx == NVTX_DOMAIN_PUSH_EX && (int)NVTX_CBID_CORE2_DomainCreateA == NVTX_DOMAIN_CREATE_A, "NVTX slots");
_Static_assert((int)NVTX_CBID_CORE2_DomainRegisterStringA == NVTX_DOMAIN_TEXT_A && (int)NVTX_CBID_CORE2_DomainDestroy == NVTX_DOMAIN_DESTROY, "NVTX slots");
_Static_assert((int)NVTX_ETID_CALLBACKS == NVTX_TABLE_CALLBACKS && (int)NVTX_CB_MODULE_CORE2 == NVTX_MODULE_CORE2, "NVTX tables");
_Static_assert(sizeof(NvtxExportTableCallbacks) == sizeof(NvtxCallbacks), "NVTX callbacks");

int main(void)
{
    int n_bad = 0, n = 0;
#if KNOWS_CUPTI
#define CHECK(record, name, type, member)                                                                                                                      \
    n++;                                                                                                                                                       \
    if (record_kinds[record].fields[record_field_index(record, FIELD_##name)].offset != offsetof(type, member))                                                \
        n_bad++, printf("wrong offset: %s.%s\n", #type, #member);
    FIELDS(CHECK)
#endif
    printf("%d offsets compared, %d wrong\n", n, n_bad);
    return n_bad ? 1 : n ? 0 : 77;
}
