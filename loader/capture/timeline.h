// SPDX-License-Identifier: Apache-2.0
/* timeline.h: the items of a conversion: spool_items.c and convert.c create them from records,
 * timeline.c writes them. */
#ifndef PROF_CAPTURE_TIMELINE_H
#define PROF_CAPTURE_TIMELINE_H

#include "names.h"
#include "occupancy.h"
#include "sorter.h"
#include "spool.h"
#include "xplane_out.h"

/* Lines by number. Host plane: the threads, then the special lines. Device: its streams, with
 * `context` in bits 32 to 43. */
enum {
    PLANE_SHIFT = 48,
    HOST_PLANE = 0,
    MAX_DEVICES = 4096,
    MAX_CONTEXTS = 2048,
    OVERFLOW_SHIFT = 44,
    THREAD_OVERFLOW_SHIFT = 23,
    MOST_OVERFLOWS = 15
};
enum HostLine { HOST_SYNC = 1, HOST_OVERHEAD, HOST_RANGES, HOST_GRAPHS, HOST_UNIFIED, HOST_JIT };
/* Readers show the lower half, which is no thread's id. */
#define SPECIAL_LINE ((uint64_t)1 << 32 | 0x10000000)
#define MEMORY_LINE ((uint64_t)2 << 32 | 0x20000000)
#define HOST_MEMORY                                                                                \
    ((uint64_t)1 << 16) /* added to a memory line: of the host, not of the device                  \
                         */
enum { UNIFIED_STREAM = 0x10000000, OVERHEAD_STREAM = 0x20000000, COUNTER_STREAM = 0x30000000 };

/* An event before it is written. Fields that a kind does not use are 0. */
typedef struct {
    uint64_t line; /* plane << PLANE_SHIFT | line; the thread while ranges and calls are sorted */
    uint64_t start, end; /* ns since 1970 */
    uint64_t order;      /* order in which it was read */
    uint64_t amount;     /* bytes; a range's step number + 1; a call's result */
    uint64_t node;       /* graph node; a range's payload; an address; a call's external id */
    uint32_t correlation, name;
    uint32_t detail; /* kernels: launch; copies: kinds and flags; ranges: payload type; calls: event
                        + 1; others: their own kind */
    uint32_t range, path; /* names: the innermost NVTX range at the launch, and the path of all; for
                             ranges, `range` is the domain */
    uint32_t graph, api, thread; /* graph: for a wait, the event that it waits for; for a call that
                                    records an event, the stream */
    int32_t device;              /* of a launch or of memory; -1 if none */
    uint8_t kind;                /* enum RecordKind; REC_PUSH: a range */
    uint8_t flags, unused[2];
} Item;
enum {
    ITEM_UNFINISHED = 1,
    ITEM_EXTERNAL = 2,
    ITEM_STEP = 4
}; /* a range that was open when recording stopped; a call with an external id; a step */

/* The launch of a kernel, for the stat kernel_details. */
typedef struct {
    uint32_t device, registers, static_shared, dynamic_shared, grid[3], block[3], cluster[3];
} Launch;
typedef struct {
    uint32_t name;    /* of kernel_details; 0: not created yet */
    double occupancy; /* percent; negative if unknown */
    /* block and grid with which it fills the device best; 0 if unknown */
    uint32_t best_block, best_grid;
} LaunchText;

typedef struct {
    Record record; /* REC_DEVICE */
    bool known;    /* `record` is set; otherwise only events of the device are known */
} Device;

/* The op in the ranges around a launch. XLA's ranges are "XlaModule:#hlo_module=NAME,program_id=N#"
 * and "Thunk:#name=PATH,hlo_op=NAME#"; for others, the op is their path. */
typedef struct {
    uint32_t tf_op, hlo_op, hlo_module; /* names; 0 if none */
    uint64_t program_id;
    bool has_program;
} XlaNames;

/* A range that is a step. */
typedef struct {
    uint64_t line, start, end, order; /* those of its Item */
    bool is_root;                     /* it has a number, so readers make a step of it */
    bool has_work;                    /* of threads without steps */
} StepRange;

/* A period in which exactly one step is open. */
typedef struct {
    uint64_t start, end;
    size_t range;
} StepAlone;

typedef struct {
    StepRange *ranges; /* by line, start and decreasing length, once closed */
    uint64_t *starts;  /* of all, sorted */
    StepAlone *alone;  /* by time, disjoint */
    size_t n, capacity, n_alone, alone_capacity;
} Steps;

typedef struct {
    SpoolReader reader;
    ProfErr *err;
    Names names;
    const char *folder; /* for temporary files */
    char host[256];
    int64_t pid;
    uint64_t start_ns, first_ns,
        stop_ns; /* start and end of recording; start of the earliest event; end, as far as known */
    uint32_t api_version;
    Device *devices;
    uint32_t n_devices;
    Launch *launches;
    LaunchText *launch_texts; /* by launch, while events are written */
    size_t n_launches;
    struct {
        uint32_t thread, name;
    } * threads;
    size_t n_threads;
    Record *links; /* REC_NVLINK and REC_PCIE */
    size_t n_links;
    Record first_clock, last_clock;
    bool has_clock;
    /* of the last item, because the next is often the same */
    uint32_t last_context, context_name, last_path;
    XlaNames path;           /* of last_path */
    Sorter *events, *memory; /* by line and time; by device and time */
    Steps steps;
    uint64_t n_events, n_odd, n_unfinished,
        n_missing; /* missing: records that the spool should have */
    /* for --from-step and --steps; n_steps_asked 0: all following ones; n_steps: those that are
     * complete */
    uint64_t first_step, n_steps_asked, n_steps;
} Timeline;

int by_line_and_time(const void *a,
                     /* Compares Items: line, start, decreasing length, order of reading. */
                     const void *b);
/* ---- the stats that are written ---- */

#define XSTATS(X)                                                                                  \
    X(XS_CORRELATION, "correlation_id")                                                            \
    X(XS_CONTEXT, "context_id")                                                                    \
    X(XS_DEVICE, "device_id")                                                                      \
    X(XS_KERNEL, "kernel_details")                                                                 \
    X(XS_MEMCPY, "memcpy_details")                                                                 \
    X(XS_MEMSET, "Memset_details")                                                                 \
    X(XS_OCCUPANCY, "theoretical_occupancy_pct")                                                   \
    X(XS_MIN_GRID, "occupancy_min_grid_size")                                                      \
    X(XS_BEST_BLOCK, "occupancy_suggested_block_size")                                             \
    X(XS_GRAPH, "cuda_graph_id")                                                                   \
    X(XS_GRAPH_NODE, "cuda_graph_node_id")                                                         \
    X(XS_GRAPH_EXEC, "cuda_graph_exec_id")                                                         \
    X(XS_NVTX, "nvtx_range")                                                                       \
    X(XS_HLO_OP, "hlo_op")                                                                         \
    X(XS_HLO_MODULE, "hlo_module")                                                                 \
    X(XS_PROGRAM, "program_id")                                                                    \
    X(XS_TF_OP, "tf_op")                                                                           \
    X(XS_ROOT, "_r")                                                                               \
    X(XS_STEP, "step_num")                                                                         \
    X(XS_PRODUCER_TYPE, "_pt")                                                                     \
    X(XS_PRODUCER, "_p")                                                                           \
    X(XS_CONSUMER_TYPE, "_ct")                                                                     \
    X(XS_CONSUMER, "_c")                                                                           \
    X(XS_API, "cuda_api")                                                                          \
    X(XS_RETURN, "return_value")                                                                   \
    X(XS_DOMAIN, "nvtx_domain")                                                                    \
    X(XS_PAYLOAD, "marker_payload")                                                                \
    X(XS_UNFINISHED, "unfinished")                                                                 \
    X(XS_STREAM, "stream")                                                                         \
    X(XS_EVENT, "cuda_event")                                                                      \
    X(XS_EXTERNAL, "external_id")                                                                  \
    X(XS_CACHE, "cache_path")                                                                      \
    X(XS_COUNTER, "counter_value")                                                                 \
    X(XS_CAUSE, "cause_correlation_id")                                                            \
    X(XS_BYTES, "bytes")                                                                           \
    X(XS_ADDRESS, "addr")                                                                          \
    X(XS_FAULTS, "page_fault_groups")                                                              \
    X(XS_PROGRAM_COUNTER, "program_counter")                                                       \
    X(XS_ALLOCATOR, "allocator_name")                                                              \
    X(XS_ALLOCATED, "bytes_allocated")                                                             \
    X(XS_RESERVED, "bytes_reserved")                                                               \
    X(XS_AVAILABLE, "bytes_available")                                                             \
    X(XS_PEAK, "peak_bytes_in_use")                                                                \
    X(XS_REQUESTED, "requested_bytes")                                                             \
    X(XS_ALLOCATION, "allocation_bytes")                                                           \
    X(XS_FRAGMENTATION, "fragmentation")                                                           \
    X(XS_REGION, "region_type")                                                                    \
    X(XS_DATA_TYPE, "data_type")                                                                   \
    X(XS_SHAPE, "shape")                                                                           \
    X(XS_VENDOR, "device_vendor")                                                                  \
    X(XS_GPU_NAME, "gpu_device_name")                                                              \
    X(XS_CLOCK, "clock_rate")                                                                      \
    X(XS_CORES, "core_count")                                                                      \
    X(XS_BANDWIDTH, "memory_bandwidth")                                                            \
    X(XS_MEMORY, "memory_size")                                                                    \
    X(XS_MAJOR, "compute_cap_major")                                                               \
    X(XS_MINOR, "compute_cap_minor")                                                               \
    X(XS_UUID, "uuid")                                                                             \
    X(XS_MIG_UUID, "mig_uuid")                                                                     \
    X(XS_NVLINK, "nvlink")                                                                         \
    X(XS_PCIE_GENERATION, "pcie_generation")                                                       \
    X(XS_PCIE_LANES, "pcie_lanes")                                                                 \
    X(XS_PCIE_RATE, "pcie_gigatransfers_per_second")                                               \
    X(XS_PROCESS, "process_id")                                                                    \
    X(XS_START, "profile_start_time")                                                              \
    X(XS_STOP, "profile_stop_time")                                                                \
    X(XS_DROPPED, "capture_dropped_records")                                                       \
    X(XS_UNDRAWN, "capture_unfinished_records")                                                    \
    X(XS_ODD, "capture_odd_records")                                                               \
    X(XS_ABRUPT, "capture_ended_abruptly")                                                         \
    X(XS_MISSING_STEPS, "capture_missing_steps")                                                   \
    X(XS_CUPTI, "cupti_api_version")                                                               \
    X(XS_OWN, "capture_cpu_ns")                                                                    \
    X(XS_CLOCKS, "capture_clocks")                                                                 \
    X(XS_COMMAND, "capture_command")
#define AS_XSTAT(id, name) id,
enum XStatId { XS_NONE, XSTATS(AS_XSTAT) N_XSTATS };
#undef AS_XSTAT
enum { FIRST_REF = 1000 }; /* stat metadata from this id on are texts: FIRST_REF + name */

/* The name and the stats of an item, from describe(). */
typedef struct {
    uint32_t name;     /* of the event */
    Small stats;       /* its XStats, as fields 4 of an XEvent */
    uint32_t refs[8];  /* names that the stats refer to; 0 if none */
    unsigned type_bit; /* for the line's name, see stream_types; 0 if none */
} Description;
extern const char *const stream_types[];
void describe(Timeline *t, const Item *item, Description *d);
/* Replays allocations by time: running totals of one line. */
typedef struct {
    struct {
        uint64_t address, bytes;
    } * slots;              /* by address; bytes 0: empty or freed */
    size_t n_slots, n_used; /* n_used: not empty, including freed ones */
    uint64_t allocated, peak;
} Allocations;
void allocations_describe(Timeline *t, Allocations *a, const Item *item, Description *d);
void allocations_free(Allocations *a);

/* Steps, and the work of other threads that belongs to them; see steps.c. Steps are added, then
 * closed once, then looked up. */
void steps_add(Steps *s, const Item *range, ProfErr *err);
void steps_close(Steps *s, ProfErr *err);
/* returns the number of steps that start earlier */
size_t steps_before(const Steps *s, uint64_t start);
StepRange *steps_find(const Steps *s, const Item *range); /* returns the step of this range */
bool steps_on_line(const Steps *s, uint64_t line);
/* Returns the only step that is open from start to end; NULL if there is none, or several. */
StepRange *steps_only(const Steps *s, uint64_t start, uint64_t end);
/* Adds the stats that connect a step with work of other threads. *joined_until is 0 at the start of
 * a line; events before it are inside an event that has the stats. */
void steps_describe(const Steps *s, const Item *item, uint64_t *joined_until, Description *d);
void steps_free(Steps *s);

/* Writes the XSpace. */
int timeline_write(Timeline *t, int fd);

#endif
