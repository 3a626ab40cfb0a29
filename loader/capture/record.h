// SPDX-License-Identifier: Apache-2.0
/* record.h: what a capture records: kinds, their fields, and where CUPTI stores them.
 *
 * A CUPTI activity record is a struct that starts with its kind (u32) and only grows at its end, so
 * one table of offsets reads the libraries of CUDA 11, 12 and 13. `since` is the API version of the
 * library that added a field. Offsets are facts of the binary interface; tests/capture/layout.c
 * compares them with the toolkit's headers if these are installed.
 *
 * In the spool a record is the values of its kind's fields, in the order of the list. Fields that
 * rarely change from record to record (a kernel's name, grid, registers) are FIXED: together they
 * are a shape, which is written once in each block. */
#ifndef PROF_CAPTURE_RECORD_H
#define PROF_CAPTURE_RECORD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* API versions of CUPTI: a counter up to 12.9; from 13.0 on, major * 10000 + minor * 100 + patch.
 */
enum {
    API_11_0 = 13,
    API_11_1 = 14,
    API_11_6 = 16,
    API_11_8 = 18,
    API_12_3 = 21,
    API_12_4 = 22
}; /* 12.1 also reports 18 */
enum { API_12_8 = 26, API_12_9 = 27, API_13_0 = 130000, API_13_2 = 130200 };

enum Role {
    VARIES,
    FIXED,
    TIME,  /* in ns; stored as the difference to the record before */
    UNTIL, /* in ns; stored as the difference to the record's TIME; 0: not finished */
    ORDER, /* a number that usually increases, stored as a difference */
    TEXT,  /* FIXED; in CUPTI a const char *, in the spool the id of a text, 0 if none */
};

/* F(field, role, offset, bytes, since); offset 0: our own field, not CUPTI's. */
#define KERNEL_FIELDS(F)                                                                           \
    F(START, TIME, 16, 8, 0)                                                                       \
    F(END, UNTIL, 24, 8, 0)                                                                        \
    F(CORRELATION, ORDER, 92, 4, 0)                                                                \
    F(GRAPH_NODE, VARIES, 144, 8, API_11_0)                                                        \
    F(NAME, TEXT, 104, 8, 0)                                                                       \
    F(DEVICE, FIXED, 40, 4, 0)                                                                     \
    F(CONTEXT, FIXED, 44, 4, 0)                                                                    \
    F(STREAM, FIXED, 48, 4, 0)                                                                     \
    F(GRID_X, FIXED, 52, 4, 0)                                                                     \
    F(GRID_Y, FIXED, 56, 4, 0)                                                                     \
    F(GRID_Z, FIXED, 60, 4, 0)                                                                     \
    F(BLOCK_X, FIXED, 64, 4, 0)                                                                    \
    F(BLOCK_Y, FIXED, 68, 4, 0)                                                                    \
    F(BLOCK_Z, FIXED, 72, 4, 0)                                                                    \
    F(REGISTERS, FIXED, 6, 2, 0)                                                                   \
    F(STATIC_SHARED, FIXED, 76, 4, 0)                                                              \
    F(DYNAMIC_SHARED, FIXED, 80, 4, 0)                                                             \
    F(LOCAL_PER_THREAD, FIXED, 84, 4, 0)                                                           \
    F(LAUNCH_TYPE, FIXED, 136, 1, 0)                                                               \
    F(GRAPH, FIXED, 156, 4, API_11_1)                                                              \
    F(CLUSTER_X, FIXED, 176, 4, API_11_8)                                                          \
    F(CLUSTER_Y, FIXED, 180, 4, API_11_8)                                                          \
    F(CLUSTER_Z, FIXED, 184, 4, API_11_8)                                                          \
    F(DEVICE_LAUNCHED, FIXED, 208, 1, API_13_0)
#define MEMCPY_FIELDS(F)                                                                           \
    F(START, TIME, 16, 8, 0)                                                                       \
    F(END, UNTIL, 24, 8, 0)                                                                        \
    F(CORRELATION, ORDER, 44, 4, 0)                                                                \
    F(GRAPH_NODE, VARIES, 64, 8, API_11_0)                                                         \
    F(BYTES, VARIES, 8, 8, 0)                                                                      \
    F(DEVICE, FIXED, 32, 4, 0)                                                                     \
    F(CONTEXT, FIXED, 36, 4, 0)                                                                    \
    F(STREAM, FIXED, 40, 4, 0)                                                                     \
    F(COPY_KIND, FIXED, 4, 1, 0)                                                                   \
    F(SOURCE_KIND, FIXED, 5, 1, 0)                                                                 \
    F(TARGET_KIND, FIXED, 6, 1, 0)                                                                 \
    F(FLAGS, FIXED, 7, 1, 0)                                                                       \
    F(GRAPH, FIXED, 72, 4, API_11_1)                                                               \
    F(COPY_COUNT, VARIES, 88, 8, API_12_8)
#define MEMCPY_PEER_FIELDS(F)                                                                      \
    F(START, TIME, 16, 8, 0)                                                                       \
    F(END, UNTIL, 24, 8, 0)                                                                        \
    F(CORRELATION, ORDER, 60, 4, 0)                                                                \
    F(GRAPH_NODE, VARIES, 72, 8, API_11_0)                                                         \
    F(BYTES, VARIES, 8, 8, 0)                                                                      \
    F(DEVICE, FIXED, 32, 4, 0)                                                                     \
    F(CONTEXT, FIXED, 36, 4, 0)                                                                    \
    F(STREAM, FIXED, 40, 4, 0)                                                                     \
    F(COPY_KIND, FIXED, 4, 1, 0)                                                                   \
    F(SOURCE_KIND, FIXED, 5, 1, 0)                                                                 \
    F(TARGET_KIND, FIXED, 6, 1, 0)                                                                 \
    F(FLAGS, FIXED, 7, 1, 0)                                                                       \
    F(SOURCE_DEVICE, FIXED, 44, 4, 0)                                                              \
    F(TARGET_DEVICE, FIXED, 52, 4, 0)                                                              \
    F(GRAPH, FIXED, 80, 4, API_11_1)
#define MEMSET_FIELDS(F)                                                                           \
    F(START, TIME, 16, 8, 0)                                                                       \
    F(END, UNTIL, 24, 8, 0)                                                                        \
    F(CORRELATION, ORDER, 44, 4, 0)                                                                \
    F(GRAPH_NODE, VARIES, 64, 8, API_11_0)                                                         \
    F(BYTES, VARIES, 8, 8, 0)                                                                      \
    F(VALUE, VARIES, 4, 4, 0)                                                                      \
    F(DEVICE, FIXED, 32, 4, 0)                                                                     \
    F(CONTEXT, FIXED, 36, 4, 0)                                                                    \
    F(STREAM, FIXED, 40, 4, 0)                                                                     \
    F(FLAGS, FIXED, 48, 2, 0)                                                                      \
    F(SOURCE_KIND, FIXED, 50, 2, 0)                                                                \
    F(GRAPH, FIXED, 72, 4, API_11_1)
/* NAME of an API call is looked up from its cbid while the library is loaded. */
#define API_FIELDS(F)                                                                              \
    F(START, TIME, 8, 8, 0)                                                                        \
    F(END, UNTIL, 16, 8, 0)                                                                        \
    F(CORRELATION, ORDER, 32, 4, 0)                                                                \
    F(CBID, FIXED, 4, 4, 0)                                                                        \
    F(NAME, TEXT, 0, 0, 0)                                                                         \
    F(THREAD, FIXED, 28, 4, 0)                                                                     \
    F(RETURN_VALUE, FIXED, 36, 4, 0)
#define OVERHEAD_FIELDS(F)                                                                         \
    F(START, TIME, 24, 8, 0)                                                                       \
    F(END, UNTIL, 32, 8, 0)                                                                        \
    F(OVERHEAD_KIND, FIXED, 4, 4, 0)                                                               \
    F(OBJECT_KIND, FIXED, 8, 4, 0)                                                                 \
    F(OBJECT_FIRST, FIXED, 12, 4, 0)                                                               \
    F(OBJECT_SECOND, FIXED, 16, 4, 0)                                                              \
    F(CORRELATION, ORDER, 40, 4, API_12_3)
#define SYNC_FIELDS(F)                                                                             \
    F(START, TIME, 8, 8, 0)                                                                        \
    F(END, UNTIL, 16, 8, 0)                                                                        \
    F(CORRELATION, ORDER, 24, 4, 0)                                                                \
    F(SYNC_TYPE, FIXED, 4, 4, 0)                                                                   \
    F(CONTEXT, FIXED, 28, 4, 0)                                                                    \
    F(STREAM, FIXED, 32, 4, 0)                                                                     \
    F(EVENT, VARIES, 36, 4, 0)                                                                     \
    F(EVENT_SYNC, VARIES, 40, 8, API_12_8)                                                         \
    F(RETURN_VALUE, FIXED, 48, 4, API_12_8)
#define DEVICE_FIELDS(F)                                                                           \
    F(DEVICE, FIXED, 112, 4, 0)                                                                    \
    F(BANDWIDTH_KB, FIXED, 8, 8, 0)                                                                \
    F(BYTES, FIXED, 16, 8, 0)                                                                      \
    F(L2_BYTES, FIXED, 28, 4, 0)                                                                   \
    F(WARP, FIXED, 32, 4, 0)                                                                       \
    F(CLOCK_KHZ, FIXED, 36, 4, 0)                                                                  \
    F(PROCESSORS, FIXED, 44, 4, 0)                                                                 \
    F(WARPS_PER_SM, FIXED, 52, 4, 0)                                                               \
    F(BLOCKS_PER_SM, FIXED, 56, 4, 0)                                                              \
    F(SHARED_PER_SM, FIXED, 60, 4, 0)                                                              \
    F(REGISTERS_PER_SM, FIXED, 64, 4, 0)                                                           \
    F(REGISTERS_PER_BLOCK, FIXED, 68, 4, 0)                                                        \
    F(SHARED_PER_BLOCK, FIXED, 72, 4, 0)                                                           \
    F(THREADS_PER_BLOCK, FIXED, 76, 4, 0)                                                          \
    F(MAJOR, FIXED, 104, 4, 0)                                                                     \
    F(MINOR, FIXED, 108, 4, 0)                                                                     \
    F(ECC, FIXED, 116, 4, 0)                                                                       \
    F(UUID_LOW, FIXED, 120, 8, 0)                                                                  \
    F(UUID_HIGH, FIXED, 128, 8, 0)                                                                 \
    F(NAME, TEXT, 136, 8, 0)                                                                       \
    F(MIG, FIXED, 145, 1, API_11_6)                                                                \
    F(MIG_UUID_LOW, FIXED, 160, 8, API_11_6)                                                       \
    F(MIG_UUID_HIGH, FIXED, 168, 8, API_11_6)
#define CONTEXT_FIELDS(F)                                                                          \
    F(CONTEXT, FIXED, 4, 4, 0)                                                                     \
    F(DEVICE, FIXED, 8, 4, 0)                                                                      \
    F(NULL_STREAM, FIXED, 14, 2, 0)                                                                \
    F(PARENT_CONTEXT, FIXED, 16, 4, API_12_4)
#define STREAM_FIELDS(F)                                                                           \
    F(CONTEXT, FIXED, 4, 4, 0)                                                                     \
    F(STREAM, FIXED, 8, 4, 0)                                                                      \
    F(PRIORITY, FIXED, 12, 4, 0)                                                                   \
    F(FLAGS, FIXED, 16, 4, 0)                                                                      \
    F(CORRELATION, ORDER, 20, 4, 0)
#define MEMORY_FIELDS(F)                                                                           \
    F(START, TIME, 32, 8, 0)                                                                       \
    F(CORRELATION, ORDER, 12, 4, 0)                                                                \
    F(ADDRESS, VARIES, 16, 8, 0)                                                                   \
    F(BYTES, VARIES, 24, 8, 0)                                                                     \
    F(OPERATION, FIXED, 4, 4, 0)                                                                   \
    F(SOURCE_KIND, FIXED, 8, 4, 0)                                                                 \
    F(DEVICE, FIXED, 52, 4, 0)                                                                     \
    F(CONTEXT, FIXED, 56, 4, 0)                                                                    \
    F(STREAM, FIXED, 60, 4, 0)                                                                     \
    F(NAME, TEXT, 64, 8, 0)                                                                        \
    F(FLAGS, FIXED, 72, 4, 0)                                                                      \
    F(POOL_TYPE, FIXED, 80, 4, 0)                                                                  \
    F(POOL_ADDRESS, FIXED, 88, 8, 0)
#define POOL_FIELDS(F)                                                                             \
    F(START, TIME, 56, 8, 0)                                                                       \
    F(CORRELATION, ORDER, 12, 4, 0)                                                                \
    F(ADDRESS, VARIES, 32, 8, 0)                                                                   \
    F(BYTES, VARIES, 40, 8, 0)                                                                     \
    F(OPERATION, FIXED, 4, 4, 0)                                                                   \
    F(POOL_TYPE, FIXED, 8, 4, 0)                                                                   \
    F(DEVICE, FIXED, 20, 4, 0)                                                                     \
    F(USED_BYTES, VARIES, 64, 8, API_11_6)
#define UNIFIED_FIELDS(F)                                                                          \
    F(START, TIME, 16, 8, 0)                                                                       \
    F(END, UNTIL, 24, 8, 0)                                                                        \
    F(COUNTER, FIXED, 4, 4, 0)                                                                     \
    F(BYTES, VARIES, 8, 8, 0)                                                                      \
    F(ADDRESS, VARIES, 32, 8, 0)                                                                   \
    F(SOURCE_DEVICE, FIXED, 40, 4, 0)                                                              \
    F(TARGET_DEVICE, FIXED, 44, 4, 0)                                                              \
    F(STREAM, FIXED, 48, 4, 0)                                                                     \
    F(FLAGS, FIXED, 56, 4, 0)
#define GRAPH_FIELDS(F)                                                                            \
    F(START, TIME, 8, 8, 0)                                                                        \
    F(END, UNTIL, 16, 8, 0)                                                                        \
    F(CORRELATION, ORDER, 4, 4, 0)                                                                 \
    F(DEVICE, FIXED, 24, 4, 0)                                                                     \
    F(CONTEXT, FIXED, 32, 4, 0)                                                                    \
    F(STREAM, FIXED, 36, 4, 0)                                                                     \
    F(GRAPH, FIXED, 28, 4, 0)
/* The meaning of the samples depends on their kind: clocks (SM, memory: MHz; PCIe generation,
 * lanes; reasons for throttling), temperature, power (mW, its limit), fan. */
#define ENVIRONMENT_FIELDS(F)                                                                      \
    F(START, TIME, 8, 8, 0)                                                                        \
    F(DEVICE, FIXED, 4, 4, 0)                                                                      \
    F(SAMPLE_KIND, FIXED, 16, 4, 0)                                                                \
    F(SAMPLE_1, VARIES, 20, 4, 0)                                                                  \
    F(SAMPLE_2, VARIES, 24, 4, 0)                                                                  \
    F(SAMPLE_3, VARIES, 28, 4, 0)                                                                  \
    F(SAMPLE_4, VARIES, 32, 4, 0)                                                                  \
    F(SAMPLE_5, VARIES, 36, 4, 0)
#define JIT_FIELDS(F)                                                                              \
    F(START, TIME, 16, 8, 0)                                                                       \
    F(END, UNTIL, 24, 8, 0)                                                                        \
    F(CORRELATION, ORDER, 32, 4, 0)                                                                \
    F(JIT_ENTRY, FIXED, 4, 4, 0)                                                                   \
    F(OPERATION, FIXED, 8, 4, 0)                                                                   \
    F(DEVICE, FIXED, 12, 4, 0)                                                                     \
    F(JIT_OPERATION, VARIES, 40, 8, 0)                                                             \
    F(BYTES, VARIES, 48, 8, 0)                                                                     \
    F(NAME, TEXT, 56, 8, 0)                                                                        \
    F(THREAD, FIXED, 68, 4, API_12_4)
/* BANDWIDTH_KB moved once; see record_offset(). Ids are UUIDs of GPUs. */
#define NVLINK_FIELDS(F)                                                                           \
    F(LINK_VERSION, FIXED, 4, 4, 0)                                                                \
    F(TYPE_0, FIXED, 8, 4, 0)                                                                      \
    F(TYPE_1, FIXED, 12, 4, 0)                                                                     \
    F(UUID_LOW, FIXED, 16, 8, 0)                                                                   \
    F(UUID_HIGH, FIXED, 24, 8, 0)                                                                  \
    F(PEER_UUID_LOW, FIXED, 32, 8, 0)                                                              \
    F(PEER_UUID_HIGH, FIXED, 40, 8, 0)                                                             \
    F(FLAGS, FIXED, 48, 4, 0)                                                                      \
    F(LINKS, FIXED, 52, 4, 0)                                                                      \
    F(BANDWIDTH_KB, FIXED, 120, 8, 0)
/* TYPE_0 is 0 for a GPU with its UUID, 1 for a bridge, whose number is DEVICE. */
#define PCIE_FIELDS(F)                                                                             \
    F(TYPE_0, FIXED, 4, 4, 0)                                                                      \
    F(DEVICE, FIXED, 8, 4, 0)                                                                      \
    F(PCI_DOMAIN, FIXED, 12, 4, 0)                                                                 \
    F(GENERATION, FIXED, 16, 2, 0)                                                                 \
    F(LINK_RATE, FIXED, 18, 2, 0)                                                                  \
    F(LINKS, FIXED, 20, 2, 0)                                                                      \
    F(BUS, FIXED, 22, 2, 0)                                                                        \
    F(UUID_LOW, FIXED, 24, 8, 0)                                                                   \
    F(UUID_HIGH, FIXED, 32, 8, 0)
#define EVENT_FIELDS(F)                                                                            \
    F(CORRELATION, ORDER, 4, 4, 0)                                                                 \
    F(CONTEXT, FIXED, 8, 4, 0)                                                                     \
    F(STREAM, FIXED, 12, 4, 0)                                                                     \
    F(EVENT, VARIES, 16, 4, 0)                                                                     \
    F(DEVICE, FIXED, 24, 4, API_12_8)                                                              \
    F(EVENT_SYNC, VARIES, 48, 8, API_12_8)
#define EXTERNAL_FIELDS(F)                                                                         \
    F(CORRELATION, ORDER, 16, 4, 0)                                                                \
    F(EXTERNAL_KIND, FIXED, 4, 4, 0)                                                               \
    F(EXTERNAL, VARIES, 8, 8, 0)
/* An NVTX range or mark on a thread. PUSH and OPEN have separate records for POP and CLOSE. RANGE
 * is the id of OPEN and CLOSE. */
#define RANGE_FIELDS(F)                                                                            \
    F(START, TIME, 0, 0, 0)                                                                        \
    F(THREAD, FIXED, 0, 0, 0)                                                                      \
    F(DOMAIN, TEXT, 0, 0, 0)                                                                       \
    F(NAME, TEXT, 0, 0, 0)                                                                         \
    F(RANGE, VARIES, 0, 0, 0)                                                                      \
    F(CATEGORY, FIXED, 0, 0, 0)                                                                    \
    F(PAYLOAD_TYPE, FIXED, 0, 0, 0)                                                                \
    F(PAYLOAD, VARIES, 0, 0, 0)
#define THREAD_FIELDS(F)                                                                           \
    F(THREAD, FIXED, 0, 0, 0)                                                                      \
    F(NAME, TEXT, 0, 0, 0)
/* The same moment on the clocks that other tools use, in ns. */
#define CLOCK_FIELDS(F)                                                                            \
    F(START, TIME, 0, 0, 0)                                                                        \
    F(MONOTONIC, VARIES, 0, 0, 0)                                                                  \
    F(MONOTONIC_RAW, VARIES, 0, 0, 0)                                                              \
    F(BOOTTIME, VARIES, 0, 0, 0)
#define SAMPLE_FIELDS(F)                                                                           \
    F(START, TIME, 0, 0, 0)                                                                        \
    F(DEVICE, FIXED, 0, 0, 0)                                                                      \
    F(COUNTER, FIXED, 0, 0, 0)                                                                     \
    F(VALUE, VARIES, 0, 0, 0)

/* K(kind, number, fields, name). The number is CUPTI's; from 1000 on, ours. */
#define RECORD_KINDS(K)                                                                            \
    K(REC_KERNEL, 10, KERNEL_FIELDS, "kernel")                                                     \
    K(REC_MEMCPY, 1, MEMCPY_FIELDS, "memcpy")                                                      \
    K(REC_MEMCPY_PEER, 22, MEMCPY_PEER_FIELDS, "memcpy_peer")                                      \
    K(REC_MEMSET, 2, MEMSET_FIELDS, "memset")                                                      \
    K(REC_DRIVER, 4, API_FIELDS, "driver")                                                         \
    K(REC_RUNTIME, 5, API_FIELDS, "runtime")                                                       \
    K(REC_OVERHEAD, 17, OVERHEAD_FIELDS, "overhead")                                               \
    K(REC_SYNC, 38, SYNC_FIELDS, "sync")                                                           \
    K(REC_DEVICE, 8, DEVICE_FIELDS, "device")                                                      \
    K(REC_CONTEXT, 9, CONTEXT_FIELDS, "context")                                                   \
    K(REC_STREAM, 37, STREAM_FIELDS, "stream")                                                     \
    K(REC_MEMORY, 49, MEMORY_FIELDS, "memory")                                                     \
    K(REC_POOL, 50, POOL_FIELDS, "memory_pool")                                                    \
    K(REC_UNIFIED, 25, UNIFIED_FIELDS, "unified_memory")                                           \
    K(REC_GRAPH, 51, GRAPH_FIELDS, "graph")                                                        \
    K(REC_ENVIRONMENT, 20, ENVIRONMENT_FIELDS, "environment")                                      \
    K(REC_JIT, 52, JIT_FIELDS, "jit")                                                              \
    K(REC_NVLINK, 40, NVLINK_FIELDS, "nvlink")                                                     \
    K(REC_PCIE, 46, PCIE_FIELDS, "pcie")                                                           \
    K(REC_EVENT, 36, EVENT_FIELDS, "cuda_event")                                                   \
    K(REC_EXTERNAL, 39, EXTERNAL_FIELDS, "external_correlation")                                   \
    K(REC_PUSH, 1000, RANGE_FIELDS, "range_push")                                                  \
    K(REC_POP, 1001, RANGE_FIELDS, "range_pop")                                                    \
    K(REC_OPEN, 1002, RANGE_FIELDS, "range_start")                                                 \
    K(REC_CLOSE, 1003, RANGE_FIELDS, "range_end")                                                  \
    K(REC_MARK, 1004, RANGE_FIELDS, "mark")                                                        \
    K(REC_THREAD, 1005, THREAD_FIELDS, "thread")                                                   \
    K(REC_CLOCK, 1006, CLOCK_FIELDS, "clock")                                                      \
    K(REC_SAMPLE, 1007, SAMPLE_FIELDS, "gpu_sample")

#define AS_KIND(kind, number, fields, name) kind,
enum RecordKind { RECORD_KINDS(AS_KIND) N_RECORD_KINDS };
#undef AS_KIND

/* The fields of all kinds, each once. */
/* clang-format off */
#define RECORD_FIELDS(F) \
    F(START) F(END) F(CORRELATION) F(GRAPH_NODE) F(NAME) F(DEVICE) F(CONTEXT) F(STREAM) \
    F(GRID_X) F(GRID_Y) F(GRID_Z) F(BLOCK_X) F(BLOCK_Y) F(BLOCK_Z) F(REGISTERS) F(STATIC_SHARED) \
    F(DYNAMIC_SHARED) F(LOCAL_PER_THREAD) F(LAUNCH_TYPE) F(GRAPH) F(CLUSTER_X) F(CLUSTER_Y) \
    F(CLUSTER_Z) F(DEVICE_LAUNCHED) F(BYTES) F(COPY_KIND) F(SOURCE_KIND) F(TARGET_KIND) F(FLAGS) \
    F(COPY_COUNT) F(SOURCE_DEVICE) F(TARGET_DEVICE) F(VALUE) F(CBID) F(THREAD) F(RETURN_VALUE) \
    F(OVERHEAD_KIND) F(OBJECT_KIND) F(OBJECT_FIRST) F(OBJECT_SECOND) F(SYNC_TYPE) F(EVENT) \
    F(BANDWIDTH_KB) F(L2_BYTES) F(WARP) F(CLOCK_KHZ) F(PROCESSORS) F(WARPS_PER_SM) \
    F(BLOCKS_PER_SM) F(SHARED_PER_SM) F(REGISTERS_PER_SM) F(REGISTERS_PER_BLOCK) \
    F(SHARED_PER_BLOCK) F(THREADS_PER_BLOCK) F(MAJOR) F(MINOR) F(ECC) F(UUID_LOW) F(UUID_HIGH) \
    F(MIG) F(MIG_UUID_LOW) F(MIG_UUID_HIGH) F(NULL_STREAM) F(PARENT_CONTEXT) F(PRIORITY) \
    F(ADDRESS) F(OPERATION) F(POOL_TYPE) F(POOL_ADDRESS) F(USED_BYTES) F(COUNTER) F(DOMAIN) \
    F(RANGE) F(CATEGORY) F(PAYLOAD_TYPE) F(PAYLOAD) F(MONOTONIC) F(MONOTONIC_RAW) F(BOOTTIME) \
    F(SAMPLE_KIND) F(SAMPLE_1) F(SAMPLE_2) F(SAMPLE_3) F(SAMPLE_4) F(SAMPLE_5) F(JIT_ENTRY) \
    F(JIT_OPERATION) F(LINK_VERSION) F(TYPE_0) F(TYPE_1) F(PEER_UUID_LOW) F(PEER_UUID_HIGH) \
    F(LINKS) F(PCI_DOMAIN) F(GENERATION) F(LINK_RATE) F(BUS) F(EVENT_SYNC) F(EXTERNAL_KIND) \
    F(EXTERNAL)
/* clang-format on */
#define AS_FIELD(field) FIELD_##field,
enum RecordField { RECORD_FIELDS(AS_FIELD) N_RECORD_FIELDS };
#undef AS_FIELD

enum { MAX_KIND_FIELDS = 24 };
typedef struct {
    uint8_t field; /* enum RecordField */
    uint8_t role;  /* enum Role */
    uint16_t offset;
    uint8_t bytes;
    uint32_t since;
} FieldSpec;
typedef struct {
    const char *name;
    uint32_t number; /* CUPTI's kind */
    uint8_t n_fields;
    const FieldSpec *fields;
} KindSpec;
extern const KindSpec record_kinds[N_RECORD_KINDS];

/* The values of a record, in the order of its kind's fields. */
typedef struct {
    enum RecordKind kind;
    uint64_t values[MAX_KIND_FIELDS];
} Record;

/* Samples of a GPU's state, from CUPTI's environment records and from NVML. Spools contain their
 * numbers, so new ones are added at the end. */
#define COUNTERS(C)                                                                                \
    C(COUNTER_SM_CLOCK, "sm_clock_mhz")                                                            \
    C(COUNTER_MEMORY_CLOCK, "memory_clock_mhz")                                                    \
    C(COUNTER_PCIE_GENERATION, "pcie_generation")                                                  \
    C(COUNTER_PCIE_LANES, "pcie_lanes")                                                            \
    C(COUNTER_THROTTLE, "clock_throttle_reasons")                                                  \
    C(COUNTER_TEMPERATURE, "gpu_temp_c")                                                           \
    C(COUNTER_POWER, "power_mw")                                                                   \
    C(COUNTER_POWER_LIMIT, "power_limit_mw")                                                       \
    C(COUNTER_FAN, "fan_speed_percent")                                                            \
    C(COUNTER_GPU_LOAD, "gpu_utilization_percent")                                                 \
    C(COUNTER_MEMORY_LOAD, "memory_utilization_percent")                                           \
    C(COUNTER_MEMORY_USED, "memory_used_bytes")
#define AS_COUNTER(id, name) id,
enum Counter { COUNTER_NONE, COUNTERS(AS_COUNTER) N_COUNTERS };
#undef AS_COUNTER
extern const char *const counter_names[N_COUNTERS];

int record_kind_of(uint32_t cupti_kind); /* enum RecordKind; -1 if we do not read it */
/* Returns the offset of a field in CUPTI of this API version. */
size_t record_offset(enum RecordKind kind, const FieldSpec *f, uint32_t api_version);
/* Copies the fields of CUPTI's record. Those that the library of this API version does not have are
 * 0. A TEXT is the pointer. */
void record_read(Record *record, enum RecordKind kind, const uint8_t *cupti_record,
                 uint32_t api_version);
/* Returns the index of a field in its kind's list; -1 if the kind does not have it. */
int record_field_index(enum RecordKind kind, enum RecordField field);
uint64_t record_get(const Record *record,
                    enum RecordField field); /* 0 if the kind does not have the field */
/* Returns whether a library of this API version fills the field. */
bool record_has(enum RecordKind kind, enum RecordField field, uint32_t api_version);
static inline bool field_is_fixed(const FieldSpec *spec)
{
    return spec->role == FIXED || spec->role == TEXT;
}

#endif
