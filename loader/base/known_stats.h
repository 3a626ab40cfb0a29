// SPDX-License-Identifier: Apache-2.0
/* known_stats.h: the stats that the loader understands: S(identifier, name of the stat in the
 * file). */
#ifndef PROF_KNOWN_STATS_H
#define PROF_KNOWN_STATS_H

#define KNOWN_STATS(S)                                                                             \
    S(GROUP_ID, "group_id")                                                                        \
    S(CORRELATION_ID, "correlation_id")                                                            \
    S(PROGRAM_ID, "program_id")                                                                    \
    S(HLO_MODULE, "hlo_module")                                                                    \
    S(HLO_OP, "hlo_op")                                                                            \
    S(TF_OP, "tf_op")                                                                              \
    S(HLO_CATEGORY, "hlo_category")                                                                \
    S(FLOPS, "flops")                                                                              \
    S(BYTES_ACCESSED, "bytes_accessed")                                                            \
    S(SHAPE_WITH_LAYOUT, "shape_with_layout")                                                      \
    S(SHAPE, "shape")                                                                              \
    S(SOURCE, "source")                                                                            \
    S(DEVICE_OFFSET_PS, "device_offset_ps")                                                        \
    S(DEVICE_DURATION_PS, "device_duration_ps")                                                    \
    S(KERNEL_DETAILS, "kernel_details")                                                            \
    S(ASYNC, "_a")                                                                                 \
    S(SYMBOL_ID, "symbol_id")                                                                      \
    S(PROFILE_START_TIME, "profile_start_time")                                                    \
    S(PROFILE_STOP_TIME, "profile_stop_time")                                                      \
    S(PROCESS_ID, "process_id")                                                                    \
    S(TIME_SCALE, "Time Scale Multiplier")                                                         \
    S(MIN_DURATION_PS, "min_duration_ps")                                                          \
    S(DMA_STALL_PS, "dma_stall_duration_ps")                                                       \
    S(ENERGY_J, "vdd_energy_j")                                                                    \
    S(OFFLOAD_CORE_ID, "offload_core_id")                                                          \
    S(OFFLOAD_START_ID, "tc_offload_start_id")                                                     \
    S(MODEL_FLOPS, "model_flops")                                                                  \
    S(MEMORY_BREAKDOWN, "memory_access_breakdown")                                                 \
    S(DEDUPLICATED_NAME, "deduplicated_name")                                                      \
    S(SOURCE_STACK, "source_stack")                                                                \
    S(STAGE_ID, "_ipl_stage_id")                                                                   \
    S(STAGE_CATEGORY, "_ipl_stage_cat")                                                            \
    S(IS_EAGER, "is_eager")                                                                        \
    S(CORE_DETAILS, "core_details")                                                                \
    S(TF_FUNCTION_CALL, "tf_function_call")                                                        \
    S(TRACING_COUNT, "tracing_count")                                                              \
    S(EQUATION, "equation")                                                                        \
    S(ANNOTATION, "annotation")                                                                    \
    S(OP_NAME, "name")                                                                             \
    S(LEVEL_0, "level 0")                                                                          \
    S(ALLOCATOR_NAME, "allocator_name")                                                            \
    S(INDEX_ON_HOST, "index_on_host")                                                              \
    S(DEVICE_ORDINAL, "device_ordinal")                                                            \
    S(BYTES_RESERVED, "bytes_reserved")                                                            \
    S(BYTES_ALLOCATED, "bytes_allocated")                                                          \
    S(BYTES_AVAILABLE, "bytes_available")                                                          \
    S(FRAGMENTATION, "fragmentation")                                                              \
    S(PEAK_BYTES_IN_USE, "peak_bytes_in_use")                                                      \
    S(REQUESTED_BYTES, "requested_bytes")                                                          \
    S(ALLOCATION_BYTES, "allocation_bytes")                                                        \
    S(ADDRESS, "addr")                                                                             \
    S(REGION_TYPE, "region_type")                                                                  \
    S(DATA_TYPE, "data_type")                                                                      \
    S(PRODUCER_TYPE, "_pt")                                                                        \
    S(PRODUCER, "_p")                                                                              \
    S(CONSUMER_TYPE, "_ct")                                                                        \
    S(CONSUMER, "_c")                                                                              \
    S(CONSUMER_PROCESS, "_pid")                                                                    \
    S(ROOT, "_r")                                                                                  \
    S(STEP_ID, "id")                                                                               \
    S(ITERATION, "iter_num")                                                                       \
    S(STEP_NUM, "step_num")                                                                        \
    S(GRAPH_TYPE, "graph_type")                                                                    \
    S(IS_FUNCTION, "is_func")                                                                      \
    S(REQUEST_ID, "request_id")                                                                    \
    S(QUEUE_ADDRESS, "queue_addr")                                                                 \
    S(RUN_ID, "run_id")                                                                            \
    S(QUEUE_ID, "queue_id")                                                                        \
    S(CORE_TYPE, "core_type")                                                                      \
    S(STEP_NAME, "step_name")                                                                      \
    S(STEP_IDLE_PS, "step_idle_time_ps")                                                           \
    S(GRAPH_EXEC_ID, "cuda_graph_exec_id")                                                         \
    S(GRAPH_ID, "cuda_graph_id")                                                                   \
    S(SCOPE_RANGE_ID, "scope_range_id")                                                            \
    S(DEVICE_ID, "device_id")                                                                      \
    S(RAW_BYTES_ACCESSED, "raw_bytes_accessed")                                                    \
    S(FLOW, "flow")                                                                                \
    S(MEMCPY_DETAILS, "memcpy_details")                                                            \
    S(STAGE_NAME, "_ipl_stage_name")                                                               \
    S(ALL_REDUCE_ID, "all_reduce_unique_id")                                                       \
    S(COUNTER_VALUE, "counter_value")                                                              \
    S(COUNTER_ID, "performance_counter_id")                                                        \
    S(COUNTER_DESCRIPTION, "performance_counter_description")                                      \
    S(COUNTER_SETS, "performance_counter_sets")                                                    \
    S(MODEL_ID, "model_id")                                                                        \
    S(PADDING_AMOUNT, "padding_amount")                                                            \
    S(PADDED_BATCH, "batch_size_after_padding")                                                    \
    S(BATCH_TASK_SIZE, "batching_input_task_size")                                                 \
    S(LAYOUT, "layout")                                                                            \
    S(ITERATOR_PARENT, "parent_id")                                                                \
    S(ELEMENT_ID, "element_id")                                                                    \
    S(DCN_INFO, "dcn_collective_info")                                                             \
    S(DCN_LABEL, "dcn_label")                                                                      \
    S(DCN_SOURCE_SLICE, "dcn_source_slice_id")                                                     \
    S(DCN_SOURCE_DEVICE, "dcn_source_per_slice_device_id")                                         \
    S(DCN_DESTINATION_SLICE, "dcn_destination_slice_id")                                           \
    S(DCN_DESTINATION_DEVICE, "dcn_destination_per_slice_device_id")                               \
    S(DCN_CHUNK, "dcn_chunk")                                                                      \
    S(DCN_LOOP, "dcn_loop_index")                                                                  \
    S(DURATION_US, "duration_us")                                                                  \
    S(PAYLOAD_BYTES, "payload_size_bytes")

#define KNOWN_STAT_ENUM(id, name) STAT_##id,
enum KnownStat { STAT_UNKNOWN, KNOWN_STATS(KNOWN_STAT_ENUM) N_KNOWN_STATS };
/* by enum KnownStat; "" for STAT_UNKNOWN */
extern const char *const known_stat_names[N_KNOWN_STATS];

#endif
