// SPDX-License-Identifier: Apache-2.0
/* layout.c: the offsets of loader/capture/record.h, the lengths of fake_records.h and the numbers
 * of nvtx.h against NVIDIA's own headers, of CUDA 11.7 to 13.5. Built only where they are.
 *
 *   cc -I$CUDA_HOME/include -DKERNEL=CUpti_ActivityKernel10 ... the newest struct of each kind:
 * tests/capture/run finds their names in the headers. Without -DJIT the headers have no such
 * record.
 *
 * Exit 77: something is wrong, and the headers are newer than those that were read for the tables
 */
#define _GNU_SOURCE
#include <cuda.h>
#include <cupti_activity.h>
#include <cupti_callbacks.h>
#include <cupti_driver_cbid.h>
#include <cupti_version.h>
#include <nvtx3/nvToolsExt.h>

#include "../../loader/capture/cupti.h"
#include "../../loader/capture/nvtx.h"
#include "fake_records.h"

enum { NEWEST_READ = 130599 };

_Static_assert(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL == 10 && CUPTI_ACTIVITY_KIND_MEMCPY2 == 22 &&
                   CUPTI_ACTIVITY_KIND_GRAPH_TRACE == 51,
               "kinds");
_Static_assert(CUPTI_ACTIVITY_KIND_MEMORY2 == 49 && CUPTI_ACTIVITY_KIND_MEMORY_POOL == 50 &&
                   CUPTI_ACTIVITY_KIND_SYNCHRONIZATION == 38,
               "kinds");
_Static_assert(CUPTI_ACTIVITY_KIND_ENVIRONMENT == 20 && CUPTI_ACTIVITY_KIND_NVLINK == 40 &&
                   CUPTI_ACTIVITY_KIND_PCIE == 46,
               "kinds");
#if CUPTI_API_VERSION >= 18
_Static_assert(CUPTI_ACTIVITY_KIND_JIT == 52, "kinds");
#endif
_Static_assert(CUPTI_ACTIVITY_KIND_CUDA_EVENT == 36 &&
                   CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION == 39,
               "kinds");
_Static_assert((int)CUPTI_EXTERNAL_CORRELATION_KIND_CUSTOM0 == EXTERNAL_CUSTOM0, "external ids");
_Static_assert((int)CUPTI_CB_DOMAIN_DRIVER_API == CB_DOMAIN_DRIVER &&
                   (int)CUPTI_CB_DOMAIN_RUNTIME_API == CB_DOMAIN_RUNTIME,
               "domains");
_Static_assert((int)CUPTI_CB_DOMAIN_RESOURCE == CB_DOMAIN_RESOURCE &&
                   (int)CUPTI_CBID_RESOURCE_CONTEXT_CREATED == CB_CONTEXT_CREATED,
               "callbacks");
_Static_assert((int)CUPTI_CBID_RESOURCE_CONTEXT_DESTROY_STARTING == CB_CONTEXT_ENDS &&
                   (int)CUPTI_API_ENTER == CB_AT_ENTRY && (int)CUPTI_API_EXIT == CB_AT_EXIT,
               "callbacks");
_Static_assert((int)CUPTI_DRIVER_TRACE_CBID_cuProfilerStart == CB_PROFILER_START &&
                   (int)CUPTI_DRIVER_TRACE_CBID_cuProfilerStop == CB_PROFILER_STOP,
               "callbacks");
_Static_assert(offsetof(CUpti_ResourceData, context) == 0 &&
                   offsetof(CUpti_CallbackData, callbackSite) == 0,
               "callbacks");
_Static_assert(CUPTI_ACTIVITY_ATTR_ZEROED_OUT_ACTIVITY_BUFFER == 5, "attributes");
#if CUPTI_API_VERSION >= 21
_Static_assert(CUPTI_ACTIVITY_ATTR_PER_THREAD_ACTIVITY_BUFFER == 9, "attributes");
#endif
_Static_assert((int)CUPTI_ERROR_INVALID_KIND == CUPTI_INVALID_KIND &&
                   (int)CUPTI_ERROR_MAX_LIMIT_REACHED == CUPTI_MAX_LIMIT_REACHED,
               "results");

/* Each field of the tables beside the member that it means; those that came later by themselves. */
#define FIELDS(S)                                                                                  \
    S(REC_KERNEL, START, KERNEL, start)                                                            \
    S(REC_KERNEL, END, KERNEL, end)                                                                \
    S(REC_KERNEL, CORRELATION, KERNEL, correlationId)                                              \
    S(REC_KERNEL, GRAPH_NODE, KERNEL, graphNodeId)                                                 \
    S(REC_KERNEL, NAME, KERNEL, name)                                                              \
    S(REC_KERNEL, DEVICE, KERNEL, deviceId)                                                        \
    S(REC_KERNEL, CONTEXT, KERNEL, contextId)                                                      \
    S(REC_KERNEL, STREAM, KERNEL, streamId)                                                        \
    S(REC_KERNEL, GRID_X, KERNEL, gridX)                                                           \
    S(REC_KERNEL, GRID_Y, KERNEL, gridY)                                                           \
    S(REC_KERNEL, GRID_Z, KERNEL, gridZ)                                                           \
    S(REC_KERNEL, BLOCK_X, KERNEL, blockX)                                                         \
    S(REC_KERNEL, BLOCK_Y, KERNEL, blockY)                                                         \
    S(REC_KERNEL, BLOCK_Z, KERNEL, blockZ)                                                         \
    S(REC_KERNEL, REGISTERS, KERNEL, registersPerThread)                                           \
    S(REC_KERNEL, STATIC_SHARED, KERNEL, staticSharedMemory)                                       \
    S(REC_KERNEL, DYNAMIC_SHARED, KERNEL, dynamicSharedMemory)                                     \
    S(REC_KERNEL, LOCAL_PER_THREAD, KERNEL, localMemoryPerThread)                                  \
    S(REC_KERNEL, LAUNCH_TYPE, KERNEL, launchType)                                                 \
    S(REC_KERNEL, GRAPH, KERNEL, graphId)                                                          \
    S(REC_MEMCPY, START, MEMCPY, start)                                                            \
    S(REC_MEMCPY, END, MEMCPY, end)                                                                \
    S(REC_MEMCPY, CORRELATION, MEMCPY, correlationId)                                              \
    S(REC_MEMCPY, GRAPH_NODE, MEMCPY, graphNodeId)                                                 \
    S(REC_MEMCPY, BYTES, MEMCPY, bytes)                                                            \
    S(REC_MEMCPY, GRAPH, MEMCPY, graphId)                                                          \
    S(REC_MEMCPY, DEVICE, MEMCPY, deviceId)                                                        \
    S(REC_MEMCPY, CONTEXT, MEMCPY, contextId)                                                      \
    S(REC_MEMCPY, STREAM, MEMCPY, streamId)                                                        \
    S(REC_MEMCPY, COPY_KIND, MEMCPY, copyKind)                                                     \
    S(REC_MEMCPY, SOURCE_KIND, MEMCPY, srcKind)                                                    \
    S(REC_MEMCPY, TARGET_KIND, MEMCPY, dstKind)                                                    \
    S(REC_MEMCPY, FLAGS, MEMCPY, flags)                                                            \
    S(REC_MEMCPY_PEER, START, PEER, start)                                                         \
    S(REC_MEMCPY_PEER, END, PEER, end)                                                             \
    S(REC_MEMCPY_PEER, CORRELATION, PEER, correlationId)                                           \
    S(REC_MEMCPY_PEER, GRAPH_NODE, PEER, graphNodeId)                                              \
    S(REC_MEMCPY_PEER, BYTES, PEER, bytes)                                                         \
    S(REC_MEMCPY_PEER, GRAPH, PEER, graphId)                                                       \
    S(REC_MEMCPY_PEER, DEVICE, PEER, deviceId)                                                     \
    S(REC_MEMCPY_PEER, CONTEXT, PEER, contextId)                                                   \
    S(REC_MEMCPY_PEER, STREAM, PEER, streamId)                                                     \
    S(REC_MEMCPY_PEER, COPY_KIND, PEER, copyKind)                                                  \
    S(REC_MEMCPY_PEER, SOURCE_KIND, PEER, srcKind)                                                 \
    S(REC_MEMCPY_PEER, TARGET_KIND, PEER, dstKind)                                                 \
    S(REC_MEMCPY_PEER, FLAGS, PEER, flags)                                                         \
    S(REC_MEMCPY_PEER, SOURCE_DEVICE, PEER, srcDeviceId)                                           \
    S(REC_MEMCPY_PEER, TARGET_DEVICE, PEER, dstDeviceId)                                           \
    S(REC_MEMSET, START, MEMSET, start)                                                            \
    S(REC_MEMSET, END, MEMSET, end)                                                                \
    S(REC_MEMSET, CORRELATION, MEMSET, correlationId)                                              \
    S(REC_MEMSET, GRAPH_NODE, MEMSET, graphNodeId)                                                 \
    S(REC_MEMSET, BYTES, MEMSET, bytes)                                                            \
    S(REC_MEMSET, GRAPH, MEMSET, graphId)                                                          \
    S(REC_MEMSET, DEVICE, MEMSET, deviceId)                                                        \
    S(REC_MEMSET, CONTEXT, MEMSET, contextId)                                                      \
    S(REC_MEMSET, STREAM, MEMSET, streamId)                                                        \
    S(REC_MEMSET, VALUE, MEMSET, value)                                                            \
    S(REC_MEMSET, FLAGS, MEMSET, flags)                                                            \
    S(REC_MEMSET, SOURCE_KIND, MEMSET, memoryKind)                                                 \
    S(REC_DRIVER, START, CUpti_ActivityAPI, start)                                                 \
    S(REC_DRIVER, END, CUpti_ActivityAPI, end)                                                     \
    S(REC_DRIVER, CORRELATION, CUpti_ActivityAPI, correlationId)                                   \
    S(REC_DRIVER, CBID, CUpti_ActivityAPI, cbid)                                                   \
    S(REC_DRIVER, THREAD, CUpti_ActivityAPI, threadId)                                             \
    S(REC_DRIVER, RETURN_VALUE, CUpti_ActivityAPI, returnValue)                                    \
    S(REC_RUNTIME, START, CUpti_ActivityAPI, start)                                                \
    S(REC_RUNTIME, END, CUpti_ActivityAPI, end)                                                    \
    S(REC_RUNTIME, CORRELATION, CUpti_ActivityAPI, correlationId)                                  \
    S(REC_RUNTIME, CBID, CUpti_ActivityAPI, cbid)                                                  \
    S(REC_RUNTIME, THREAD, CUpti_ActivityAPI, threadId)                                            \
    S(REC_RUNTIME, RETURN_VALUE, CUpti_ActivityAPI, returnValue)                                   \
    S(REC_OVERHEAD, START, OVERHEAD, start)                                                        \
    S(REC_OVERHEAD, END, OVERHEAD, end)                                                            \
    S(REC_OVERHEAD, OVERHEAD_KIND, OVERHEAD, overheadKind)                                         \
    S(REC_OVERHEAD, OBJECT_KIND, OVERHEAD, objectKind)                                             \
    S(REC_OVERHEAD, OBJECT_FIRST, OVERHEAD, objectId.dcs.deviceId)                                 \
    S(REC_OVERHEAD, OBJECT_SECOND, OVERHEAD, objectId.dcs.contextId)                               \
    S(REC_SYNC, START, SYNC, start)                                                                \
    S(REC_SYNC, END, SYNC, end)                                                                    \
    S(REC_SYNC, CORRELATION, SYNC, correlationId)                                                  \
    S(REC_SYNC, SYNC_TYPE, SYNC, type)                                                             \
    S(REC_SYNC, CONTEXT, SYNC, contextId)                                                          \
    S(REC_SYNC, STREAM, SYNC, streamId)                                                            \
    S(REC_SYNC, EVENT, SYNC, cudaEventId)                                                          \
    S(REC_DEVICE, DEVICE, DEVICE, id)                                                              \
    S(REC_DEVICE, BANDWIDTH_KB, DEVICE, globalMemoryBandwidth)                                     \
    S(REC_DEVICE, BYTES, DEVICE, globalMemorySize)                                                 \
    S(REC_DEVICE, L2_BYTES, DEVICE, l2CacheSize)                                                   \
    S(REC_DEVICE, WARP, DEVICE, numThreadsPerWarp)                                                 \
    S(REC_DEVICE, CLOCK_KHZ, DEVICE, coreClockRate)                                                \
    S(REC_DEVICE, PROCESSORS, DEVICE, numMultiprocessors)                                          \
    S(REC_DEVICE, WARPS_PER_SM, DEVICE, maxWarpsPerMultiprocessor)                                 \
    S(REC_DEVICE, BLOCKS_PER_SM, DEVICE, maxBlocksPerMultiprocessor)                               \
    S(REC_DEVICE, SHARED_PER_SM, DEVICE, maxSharedMemoryPerMultiprocessor)                         \
    S(REC_DEVICE, REGISTERS_PER_SM, DEVICE, maxRegistersPerMultiprocessor)                         \
    S(REC_DEVICE, REGISTERS_PER_BLOCK, DEVICE, maxRegistersPerBlock)                               \
    S(REC_DEVICE, SHARED_PER_BLOCK, DEVICE, maxSharedMemoryPerBlock)                               \
    S(REC_DEVICE, THREADS_PER_BLOCK, DEVICE, maxThreadsPerBlock)                                   \
    S(REC_DEVICE, MAJOR, DEVICE, computeCapabilityMajor)                                           \
    S(REC_DEVICE, MINOR, DEVICE, computeCapabilityMinor)                                           \
    S(REC_DEVICE, ECC, DEVICE, eccEnabled)                                                         \
    S(REC_DEVICE, NAME, DEVICE, name)                                                              \
    S(REC_DEVICE, MIG, DEVICE, isMigEnabled)                                                       \
    S(REC_CONTEXT, CONTEXT, CONTEXT, contextId)                                                    \
    S(REC_CONTEXT, DEVICE, CONTEXT, deviceId)                                                      \
    S(REC_CONTEXT, NULL_STREAM, CONTEXT, nullStreamId)                                             \
    S(REC_STREAM, CONTEXT, CUpti_ActivityStream, contextId)                                        \
    S(REC_STREAM, STREAM, CUpti_ActivityStream, streamId)                                          \
    S(REC_STREAM, PRIORITY, CUpti_ActivityStream, priority)                                        \
    S(REC_STREAM, FLAGS, CUpti_ActivityStream, flag)                                               \
    S(REC_STREAM, CORRELATION, CUpti_ActivityStream, correlationId)                                \
    S(REC_MEMORY, START, MEMORY, timestamp)                                                        \
    S(REC_MEMORY, CORRELATION, MEMORY, correlationId)                                              \
    S(REC_MEMORY, ADDRESS, MEMORY, address)                                                        \
    S(REC_MEMORY, BYTES, MEMORY, bytes)                                                            \
    S(REC_MEMORY, OPERATION, MEMORY, memoryOperationType)                                          \
    S(REC_MEMORY, SOURCE_KIND, MEMORY, memoryKind)                                                 \
    S(REC_MEMORY, DEVICE, MEMORY, deviceId)                                                        \
    S(REC_MEMORY, CONTEXT, MEMORY, contextId)                                                      \
    S(REC_MEMORY, STREAM, MEMORY, streamId)                                                        \
    S(REC_MEMORY, NAME, MEMORY, name)                                                              \
    S(REC_MEMORY, FLAGS, MEMORY, isAsync)                                                          \
    S(REC_MEMORY, POOL_TYPE, MEMORY, memoryPoolConfig.memoryPoolType)                              \
    S(REC_MEMORY, POOL_ADDRESS, MEMORY, memoryPoolConfig.address)                                  \
    S(REC_POOL, START, POOL, timestamp)                                                            \
    S(REC_POOL, CORRELATION, POOL, correlationId)                                                  \
    S(REC_POOL, ADDRESS, POOL, address)                                                            \
    S(REC_POOL, BYTES, POOL, size)                                                                 \
    S(REC_POOL, OPERATION, POOL, memoryPoolOperationType)                                          \
    S(REC_POOL, POOL_TYPE, POOL, memoryPoolType)                                                   \
    S(REC_POOL, DEVICE, POOL, deviceId)                                                            \
    S(REC_POOL, USED_BYTES, POOL, utilizedSize)                                                    \
    S(REC_UNIFIED, START, UNIFIED, start)                                                          \
    S(REC_UNIFIED, END, UNIFIED, end)                                                              \
    S(REC_UNIFIED, COUNTER, UNIFIED, counterKind)                                                  \
    S(REC_UNIFIED, BYTES, UNIFIED, value)                                                          \
    S(REC_UNIFIED, ADDRESS, UNIFIED, address)                                                      \
    S(REC_UNIFIED, SOURCE_DEVICE, UNIFIED, srcId)                                                  \
    S(REC_UNIFIED, TARGET_DEVICE, UNIFIED, dstId)                                                  \
    S(REC_UNIFIED, STREAM, UNIFIED, streamId)                                                      \
    S(REC_UNIFIED, FLAGS, UNIFIED, flags)                                                          \
    S(REC_GRAPH, START, GRAPH, start)                                                              \
    S(REC_GRAPH, END, GRAPH, end)                                                                  \
    S(REC_GRAPH, CORRELATION, GRAPH, correlationId)                                                \
    S(REC_GRAPH, DEVICE, GRAPH, deviceId)                                                          \
    S(REC_GRAPH, CONTEXT, GRAPH, contextId)                                                        \
    S(REC_GRAPH, STREAM, GRAPH, streamId)                                                          \
    S(REC_GRAPH, GRAPH, GRAPH, graphId)                                                            \
    S(REC_ENVIRONMENT, START, CUpti_ActivityEnvironment, timestamp)                                \
    S(REC_ENVIRONMENT, DEVICE, CUpti_ActivityEnvironment, deviceId)                                \
    S(REC_ENVIRONMENT, SAMPLE_KIND, CUpti_ActivityEnvironment, environmentKind)                    \
    S(REC_ENVIRONMENT, SAMPLE_1, CUpti_ActivityEnvironment, data.speed.smClock)                    \
    S(REC_ENVIRONMENT, SAMPLE_2, CUpti_ActivityEnvironment, data.speed.memoryClock)                \
    S(REC_ENVIRONMENT, SAMPLE_3, CUpti_ActivityEnvironment, data.speed.pcieLinkGen)                \
    S(REC_ENVIRONMENT, SAMPLE_4, CUpti_ActivityEnvironment, data.speed.pcieLinkWidth)              \
    S(REC_ENVIRONMENT, SAMPLE_5, CUpti_ActivityEnvironment, data.speed.clocksThrottleReasons)      \
    S(REC_NVLINK, LINK_VERSION, NVLINK, nvlinkVersion)                                             \
    S(REC_NVLINK, TYPE_0, NVLINK, typeDev0)                                                        \
    S(REC_NVLINK, TYPE_1, NVLINK, typeDev1)                                                        \
    S(REC_NVLINK, FLAGS, NVLINK, flag)                                                             \
    S(REC_NVLINK, LINKS, NVLINK, physicalNvLinkCount)                                              \
    S(REC_NVLINK, BANDWIDTH_KB, NVLINK, bandwidth)                                                 \
    S(REC_PCIE, TYPE_0, CUpti_ActivityPcie, type)                                                  \
    S(REC_PCIE, DEVICE, CUpti_ActivityPcie, id.devId)                                              \
    S(REC_PCIE, PCI_DOMAIN, CUpti_ActivityPcie, domain)                                            \
    S(REC_PCIE, GENERATION, CUpti_ActivityPcie, pcieGeneration)                                    \
    S(REC_PCIE, LINK_RATE, CUpti_ActivityPcie, linkRate)                                           \
    S(REC_PCIE, LINKS, CUpti_ActivityPcie, linkWidth)                                              \
    S(REC_PCIE, BUS, CUpti_ActivityPcie, upstreamBus)                                              \
    S(REC_EVENT, CORRELATION, EVENT, correlationId)                                                \
    S(REC_EVENT, CONTEXT, EVENT, contextId)                                                        \
    S(REC_EVENT, STREAM, EVENT, streamId)                                                          \
    S(REC_EVENT, EVENT, EVENT, eventId)                                                            \
    S(REC_EXTERNAL, CORRELATION, CUpti_ActivityExternalCorrelation, correlationId)                 \
    S(REC_EXTERNAL, EXTERNAL_KIND, CUpti_ActivityExternalCorrelation, externalKind)                \
    S(REC_EXTERNAL, EXTERNAL, CUpti_ActivityExternalCorrelation, externalId)
#if CUPTI_API_VERSION >= 18
#define FIELDS_11_8(S)                                                                             \
    S(REC_KERNEL, CLUSTER_X, KERNEL, clusterX)                                                     \
    S(REC_KERNEL, CLUSTER_Y, KERNEL, clusterY)                                                     \
    S(REC_KERNEL, CLUSTER_Z, KERNEL, clusterZ)                                                     \
    S(REC_JIT, START, JIT, start)                                                                  \
    S(REC_JIT, END, JIT, end)                                                                      \
    S(REC_JIT, CORRELATION, JIT, correlationId)                                                    \
    S(REC_JIT, JIT_ENTRY, JIT, jitEntryType)                                                       \
    S(REC_JIT, OPERATION, JIT, jitOperationType)                                                   \
    S(REC_JIT, DEVICE, JIT, deviceId)                                                              \
    S(REC_JIT, JIT_OPERATION, JIT, jitOperationCorrelationId)                                      \
    S(REC_JIT, BYTES, JIT, cacheSize)                                                              \
    S(REC_JIT, NAME, JIT, cachePath)
#else
#define FIELDS_11_8(S)
#endif
#if CUPTI_API_VERSION >= 21
#define FIELDS_12_3(S) S(REC_OVERHEAD, CORRELATION, OVERHEAD, correlationId)
#else
#define FIELDS_12_3(S)
#endif
#if CUPTI_API_VERSION >= 22
#define FIELDS_12_4(S)                                                                             \
    S(REC_CONTEXT, PARENT_CONTEXT, CONTEXT, parentContextId)                                       \
    S(REC_JIT, THREAD, JIT, threadId)
#else
#define FIELDS_12_4(S)
#endif
#if CUPTI_API_VERSION >= 26
#define FIELDS_12_8(S)                                                                             \
    S(REC_MEMCPY, COPY_COUNT, MEMCPY, copyCount)                                                   \
    S(REC_SYNC, RETURN_VALUE, SYNC, returnValue)                                                   \
    S(REC_SYNC, EVENT_SYNC, SYNC, cudaEventSyncId)                                                 \
    S(REC_EVENT, DEVICE, EVENT, deviceId)                                                          \
    S(REC_EVENT, EVENT_SYNC, EVENT, cudaEventSyncId)
#else
#define FIELDS_12_8(S)
#endif
#if CUPTI_API_VERSION >= 130000
#define FIELDS_13_0(S) S(REC_KERNEL, DEVICE_LAUNCHED, KERNEL, isDeviceLaunched)
#else
#define FIELDS_13_0(S)
#endif
/* UUIDs, which the tables have as two numbers. */
#define UUIDS(U)                                                                                   \
    U(REC_DEVICE, UUID, DEVICE, uuid)                                                              \
    U(REC_DEVICE, MIG_UUID, DEVICE, migUuid)                                                       \
    U(REC_NVLINK, UUID, NVLINK, idDev0)                                                            \
    U(REC_NVLINK, PEER_UUID, NVLINK, idDev1)                                                       \
    U(REC_PCIE, UUID, CUpti_ActivityPcie, attr.gpuAttr.uuidDev)

/* The fake's records are as long as the library's. */
#define SIZES(Z)                                                                                   \
    Z(2, MEMSET)                                                                                   \
    Z(1, MEMCPY)                                                                                   \
    Z(22, PEER)                                                                                    \
    Z(4, CUpti_ActivityAPI)                                                                        \
    Z(17, OVERHEAD)                                                                                \
    Z(38, SYNC)                                                                                    \
    Z(8, DEVICE)                                                                                   \
    Z(9, CONTEXT)                                                                                  \
    Z(37, CUpti_ActivityStream)                                                                    \
    Z(49, MEMORY)                                                                                  \
    Z(50, POOL)                                                                                    \
    Z(25, UNIFIED)                                                                                 \
    Z(51, GRAPH)                                                                                   \
    Z(20, CUpti_ActivityEnvironment)                                                               \
    Z(40, NVLINK)                                                                                  \
    Z(46, CUpti_ActivityPcie)                                                                      \
    Z(36, EVENT)                                                                                   \
    Z(39, CUpti_ActivityExternalCorrelation)                                                       \
    Z(10, KERNEL)

_Static_assert(sizeof(NvtxAttributes) == sizeof(nvtxEventAttributes_t) &&
                   offsetof(NvtxAttributes, message) == offsetof(nvtxEventAttributes_t, message),
               "NVTX attributes");
_Static_assert(offsetof(NvtxAttributes, payload) == offsetof(nvtxEventAttributes_t, payload),
               "NVTX payload");
_Static_assert((int)NVTX_CBID_CORE_RangePushA == NVTX_PUSH_A &&
                   (int)NVTX_CBID_CORE_RangePop == NVTX_POP &&
                   (int)NVTX_CBID_CORE_NameOsThreadA == NVTX_NAME_THREAD_A,
               "NVTX slots");
_Static_assert((int)NVTX_CBID_CORE_RangeStartA == NVTX_START_A &&
                   (int)NVTX_CBID_CORE_RangeEnd == NVTX_END &&
                   (int)NVTX_CBID_CORE_MarkEx == NVTX_MARK_EX,
               "NVTX slots");
_Static_assert((int)NVTX_CBID_CORE2_DomainRangePushEx == NVTX_DOMAIN_PUSH_EX &&
                   (int)NVTX_CBID_CORE2_DomainCreateA == NVTX_DOMAIN_CREATE_A,
               "NVTX slots");
_Static_assert((int)NVTX_CBID_CORE2_DomainRegisterStringA == NVTX_DOMAIN_TEXT_A &&
                   (int)NVTX_CBID_CORE2_DomainDestroy == NVTX_DOMAIN_DESTROY,
               "NVTX slots");
_Static_assert((int)NVTX_ETID_CALLBACKS == NVTX_TABLE_CALLBACKS &&
                   (int)NVTX_CB_MODULE_CORE2 == NVTX_MODULE_CORE2,
               "NVTX tables");
_Static_assert(sizeof(NvtxExportTableCallbacks) == sizeof(NvtxCallbacks), "NVTX callbacks");

static bool checked[N_RECORD_KINDS][N_RECORD_FIELDS];
static int n_compared, n_wrong;

static void complain(const char *what, const char *type, const char *member)
{
    n_wrong++, printf("%s: %s.%s\n", what, type, member);
}

static void check_field(enum RecordKind kind, enum RecordField field, size_t at, size_t n_bytes,
                        const char *type, const char *member)
{
    const FieldSpec *f = &record_kinds[kind].fields[record_field_index(kind, field)];
    n_compared++, checked[kind][field] = true;
    if (record_offset(kind, f, CUPTI_API_VERSION) != at || f->bytes != n_bytes)
        complain("wrong place", type, member);
    if (f->since > CUPTI_API_VERSION) complain("is there already", type, member);
}

static void check_length(uint32_t kind, size_t n_bytes, const char *type)
{
    /* CUDA 12.0 and 12.1 call themselves 18, as 11.8 does, and have the kernels of version 19 */
    uint32_t version = CUPTI_API_VERSION == 18 && sizeof(KERNEL) > 200 ? 19 : CUPTI_API_VERSION;
    n_compared++;
    if (fake_record_size(kind, version) != n_bytes)
        n_wrong++, printf("wrong length: %s has %zu bytes\n", type, n_bytes);
}

/* Every field that is read of a record of this version has been compared. */
static void check_all_are_checked(void)
{
    for (int k = 0; k < N_RECORD_KINDS; k++)
        for (int i = 0; i < record_kinds[k].n_fields; i++) {
            const FieldSpec *f = &record_kinds[k].fields[i];
            bool absent = !fake_record_size(record_kinds[k].number, CUPTI_API_VERSION);
            if (!f->bytes || f->since > CUPTI_API_VERSION || absent || checked[k][f->field])
                continue;
            n_wrong++, printf("not compared: field %d of %s\n", i, record_kinds[k].name);
        }
}

int main(void)
{
#define CHECK(record, name, type, member)                                                          \
    check_field(record, FIELD_##name, offsetof(type, member), sizeof(((type *)0)->member), #type,  \
                #member);
    FIELDS(CHECK)
    FIELDS_11_8(CHECK)
    FIELDS_12_3(CHECK)
    FIELDS_12_4(CHECK)
    FIELDS_12_8(CHECK)
    FIELDS_13_0(CHECK)
#define CHECK_UUID(record, name, type, member)                                                     \
    check_field(record, FIELD_##name##_LOW, offsetof(type, member), 8, #type, #member);            \
    check_field(record, FIELD_##name##_HIGH, offsetof(type, member) + 8, 8, #type, #member);
    UUIDS(CHECK_UUID)
#define CHECK_LENGTH(kind, type) check_length(kind, sizeof(type), #type);
    SIZES(CHECK_LENGTH)
#ifdef JIT
    check_length(52, sizeof(JIT), "JIT");
#endif
    check_all_are_checked();
    printf("version %d: %d offsets and lengths compared, %d wrong\n", CUPTI_API_VERSION, n_compared,
           n_wrong);
    return !n_wrong ? 0 : CUPTI_API_VERSION > NEWEST_READ ? 77 : 1;
}
