// SPDX-License-Identifier: Apache-2.0
/* run.h: a loaded profile.
 * A Run is the content of one source (a file, or a run folder with a file per host): hosts, their
 * planes, lines and events. In a dump of HLO programs each file is a host without planes. A Run is
 * read once. Afterwards it changes only where results are computed on first use, under its locks.
 * It is reference-counted and freed as a whole with the last reference. All pointers into a Run
 * live as long as the reference through which it was reached.
 *
 * Ordinals (plane, line, event) count
 * through the entire run, hosts in order of their file names, everything else in file order: the
 * same bytes always give the same ordinals. */
#ifndef PROF_RUN_H
#define PROF_RUN_H

#include "reader.h"
#include "issues.h"
#include "base/known_stats.h"
#include "base/column.h"
#include "base/hash_table.h"

#include <pthread.h>
#include <stdatomic.h>

typedef struct Run Run;
typedef struct Plane Plane;
typedef struct Line Line;

enum PlaneKind {
    PLANE_HOST,
    PLANE_TENSORCORE,
    PLANE_SPARSECORE,
    PLANE_GPU,
    PLANE_METADATA,
    PLANE_CUSTOM,
    PLANE_OTHER
};
enum LineKind {
    LINE_THREAD,
    LINE_STREAM,
    LINE_STEPS,
    LINE_MODULES,
    LINE_OPS,
    LINE_ASYNC_OPS,
    LINE_NAME_SCOPE,
    LINE_FRAMEWORK_OPS,
    LINE_SOURCE,
    LINE_LAUNCH_STATS,
    LINE_COUNTERS,
    LINE_OTHER,
};
/* What a plane's name starts with. plane.c has the texts and the plane kind of each. */
enum PlanePrefix {
    PREFIX_NONE,
    PREFIX_HOST_THREADS, /* "/host:CPU" */
    PREFIX_HOST_CPUS,
    PREFIX_TFSTREAMZ,
    PREFIX_METADATA, /* has the HLO programs */
    PREFIX_SYSCALLS,
    PREFIX_PYTHON_TRACER,
    PREFIX_CUPTI,
    PREFIX_SCOPE_TREE,
    PREFIX_TPU,
    PREFIX_GPU,
    PREFIX_CUSTOM,
    PREFIX_OTHER_DEVICE, /* "/device" */
    PREFIX_CHIP,
    PREFIX_LEGACY_CUSTOM,
    PREFIX_OTHER_HOST, /* "/host:" */
    N_PLANE_PREFIXES
};
/* A line's name, if it has a meaning. plane.c has the texts. */
enum LineName {
    NAME_OTHER,
    NAME_STEPS,
    NAME_SPARSE_STEPS,
    NAME_MODULES,
    NAME_SPARSE_MODULES,
    NAME_OPS,
    NAME_SPARSE_OPS,
    NAME_ASYNC_OPS,
    NAME_NAME_SCOPE,
    NAME_TF_NAME_SCOPE,
    NAME_FRAMEWORK_OPS,
    NAME_TF_OPS,
    NAME_SOURCE,
    NAME_LAUNCH_STATS,
    NAME_COUNTERS,
    N_LINE_NAMES
};
extern const char *const plane_kind_names[], *const line_kind_names[];

enum StatType { TYPE_NONE, TYPE_DOUBLE, TYPE_UINT64, TYPE_INT64, TYPE_STR, TYPE_BYTES, TYPE_REF };
extern const char *const stat_type_names[];

/* One decoded XStat. `bytes` points into the message that it was read from. */
typedef struct {
    int64_t id; /* key into the plane's stat metadata */
    enum StatType type;
    union {
        double number;
        int64_t integer;
        uint64_t u64; /* TYPE_UINT64, TYPE_REF */
    };
    const uint8_t *bytes; /* TYPE_STR, TYPE_BYTES */
    size_t n_bytes;
} Stat;

/* The value of a stat that is kept: interned text, or a number. */
typedef struct {
    enum StatType type; /* TYPE_NONE: the event has no such stat. References are resolved: TYPE_STR,
                           never TYPE_REF */
    union {
        double number;
        int64_t integer;
        uint64_t u64;
        const Text *text;
    };
} StatValue;
typedef struct {
    enum KnownStat known;
    StatValue fact;
} KnownValue;

/* A set of known stats. */
enum { STAT_SET_WORDS = (N_KNOWN_STATS + 63) / 64 };
typedef struct {
    uint64_t bits[STAT_SET_WORDS];
} StatSet;
/* Adds a stat. Writes every word, so that the compiler can keep the set in registers. */
static inline void stat_set_add(StatSet *set, unsigned known)
{
    for (size_t i = 0; i < STAT_SET_WORDS; i++)
        set->bits[i] |= (uint64_t)(known / 64 == i) << (known % 64);
}
static inline void stat_set_remove(StatSet *set, unsigned known)
{
    set->bits[known / 64] &= ~((uint64_t)1 << (known % 64));
}
static inline bool stat_set_has(const StatSet *set, unsigned known)
{
    return set->bits[known / 64] >> (known % 64) & 1;
}
static inline bool stat_sets_meet(const StatSet *a, const StatSet *b)
{
    uint64_t both = 0;
    for (size_t i = 0; i < STAT_SET_WORDS; i++) both |= a->bits[i] & b->bits[i];
    return both != 0;
}

/* Place of a message in the file. */
typedef struct {
    uint64_t offset, n_bytes;
} Span;

typedef struct {
    int64_t id; /* key in the map of event metadata */
    const Text *name, *display_name;
    Span span;               /* of the XEventMetadata; n_bytes 0: the file has no such entry */
    const KnownValue *facts; /* values of known stats, read on first use: event_meta_values() */
    uint16_t n_facts;
    bool has_stats;
    atomic_bool values_read;                      /* whether `facts` is read */
    _Atomic uint64_t event_stats[STAT_SET_WORDS]; /* StatSet of the known stats that its events have
                                                     themselves */
} EventMeta;
/* Returns whether events of the metadata have one of these stats themselves. */
static inline bool meta_events_have(const EventMeta *meta, const StatSet *stats)
{
    uint64_t both = 0;
    for (size_t i = 0; i < STAT_SET_WORDS; i++)
        both |= stats->bits[i] & atomic_load_explicit(&meta->event_stats[i], memory_order_relaxed);
    return both != 0;
}

typedef struct {
    int64_t id;
    const Text *name, *description;
    uint8_t known; /* enum KnownStat */
} StatMeta;

struct Plane {
    Host *host;
    uint32_t plane_id;
    int64_t proto_id;
    const Text *name;
    enum PlaneKind kind;
    enum PlanePrefix prefix;
    bool is_prefix;   /* the name has nothing after the prefix */
    bool is_numbered; /* a TensorCore: its name has a number that XProf can read */
    Span span;
    /* n_declared entries of the file, then one that stands for every id that events use although it
     * is not declared */
    EventMeta *event_metas;
    size_t n_event_metas, n_declared, event_meta_capacity;
    StatMeta *stat_metas;
    size_t n_stat_metas, stat_meta_capacity;
    HashTable event_ids, stat_ids; /* indexes of event_metas and stat_metas, for id_find() */
    StatSet declared;              /* known stats that have metadata */
    uint32_t *known_metas;         /* indexes in stat_metas of those of known stats */
    uint32_t n_known_metas;
    uint8_t *known_of_id; /* enum KnownStat of the stat ids below n_known_ids; use stat_known() */
    uint32_t *meta_of_id; /* index in event_metas + 1 of the metadata ids below n_meta_ids; 0: not
                             declared. event_ids has all ids */
    uint32_t *stat_of_id; /* likewise in stat_metas, of the stat ids below n_stat_ids */
    uint32_t n_known_ids, n_meta_ids, n_stat_ids;
    uint64_t *stat_offsets; /* file offset of each XStat's field */
    size_t n_stats, stat_capacity;
    size_t first_line, n_lines; /* in host->lines */
    Line *core_lines[2]; /* the first lines with XLine.id 1 and 2, which have the steps and programs
                            of a TensorCore; NULL if there is none */
    uint64_t n_events;
    int64_t process_id; /* of the sub-process that the plane came from; -1 if there is none */
};

enum { CHUNK_EVENTS = 1024 };
enum ChunkColumn {
    COL_OFFSET,
    COL_DURATION,
    COL_META,
    COL_POSITION,
    COL_AGGREGATED,
    N_CHUNK_COLUMNS
};

/* Stats that analyses need of all events, stored as columns. If an event has a stat several times,
 * the first counts. */
enum StatColumnName {
    STAT_COLUMN_GROUP,           /* group_id */
    STAT_COLUMN_EAGER,           /* is_eager */
    STAT_COLUMN_DEVICE_OFFSET,   /* device_offset_ps */
    STAT_COLUMN_DEVICE_DURATION, /* device_duration_ps */
    STAT_COLUMN_TF_OP,           /* tf_op */
    N_STAT_COLUMNS
};
extern const enum KnownStat stat_column_stats[N_STAT_COLUMNS];
typedef struct {
    Packed types;  /* enum StatType; TYPE_NONE: the event has no such stat */
    Packed values; /* 64 bits: a number, the Text of a tf_op with TYPE_STR, or the key of one with
                      TYPE_REF; undefined for other types and without the stat */
} StatColumn;

/* CHUNK_EVENTS events of a line in stored order (the last chunk may be shorter), and the range of
 * each value, so that a search can skip chunks. COL_META: index into event_metas. COL_POSITION:
 * file offset of the event's field. COL_AGGREGATED: 1 if COL_OFFSET contains num_occurrences
 * instead of an offset. If the packed events would take more than 1.5 times their size in the file,
 * they stay in the file (packed is false) and are read again. */
typedef struct {
    Packed columns[N_CHUNK_COLUMNS];
    Span span; /* place of the events in the file */
    int64_t min_offset, max_offset, min_duration, max_duration, min_end,
        max_end;                    /* relative to the line's start */
    StatSet stats;                  /* known stats that its events have; they have no others */
    const StatColumn *stat_columns; /* N_STAT_COLUMNS; most chunks share those without any stat */
    uint32_t n_events;
    uint8_t columns_kept; /* bits 1 << enum StatColumnName: the column has all that the events have
                             of the stat; always set for group_id and is_eager */
    bool packed;
    bool repeats_group; /* an event of the chunk has the stat group_id more than once */
} Chunk;

/* Nesting of a chunk's events on their line. NEST_PARENT: index of the event minus the parent's; 0
 * if it has no parent. */
enum NestingColumn { NEST_SELF, NEST_DEPTH, NEST_PARENT, N_NESTING_COLUMNS };
typedef struct {
    Packed columns[N_NESTING_COLUMNS];
} NestingChunk;

/* Sums over the events of one name on one line. They saturate at the ends of int64. */
typedef struct {
    uint32_t meta;
    int64_t count, total_ps, self_ps, min_ps, max_ps;
} LineTotal;
typedef struct {
    size_t n;
    LineTotal items[];
} LineTotals;

/* The events of a line that have one metadata id: EventsByMeta.events from the end of the group
 * before up to `end`. */
typedef struct {
    int64_t id;    /* metadata id, also if the plane does not declare it */
    uint32_t meta; /* index into event_metas */
    uint32_t end;
} LineGroup;
typedef struct {
    uint32_t *events; /* indexes on the line, by group, and in stored order within a group */
    LineGroup *groups;
    size_t n_groups;
} EventsByMeta;
static inline uint32_t group_begin(const EventsByMeta *order, const LineGroup *group)
{
    return group == order->groups ? 0 : group[-1].end;
}

struct Line {
    Plane *plane;
    uint32_t line_id;
    bool derived; /* one of the lines that XProf derives, recognised by its id */
    bool ordered; /* events are sorted by start, those with equal starts by decreasing length */
    enum LineKind kind;
    enum LineName named;
    const Text *name, *display_name; /* display_name: empty if the file has none */
    int64_t proto_id, display_id, timestamp_ns, duration_ps;
    int64_t epoch_ns; /* what timestamp_ns counts from, on the session's clock: 0, or the Unix time
                         of the session's start */
    int64_t start_ps; /* timestamp_ns - epoch_ns in ps */
    Span span;
    uint64_t first_event, n_events;
    Chunk *chunks;
    size_t n_chunks, chunk_capacity;
    _Atomic(struct KeptResult *) results; /* results of line_analysis() */
};

struct Host {
    Run *run;
    const char *name; /* from the file's name; in run->arena */
    File file;
    bool readable;
    const Reader *reader; /* reader of its file's format */
    Plane *planes;
    Line *lines;
    size_t n_planes, plane_capacity, n_lines, line_capacity;
    uint32_t first_plane, first_line; /* ordinals */
    uint64_t n_events;
    const Text **hostnames, **errors, **warnings;
    size_t n_hostnames, n_errors, n_warnings, hostname_capacity, error_capacity, warning_capacity;
    int64_t start_unix_ns, stop_unix_ns; /* -1: not in the file */
    Issue *issues;                       /* under the lock, because some are found late */
    size_t n_issues, issue_capacity;
    pthread_mutex_t lock; /* for issues, and for metadata that is read late, while lines are read */
    TextTable texts;
    Arena arena;
    uint64_t structure_bytes; /* memory of planes, lines and metadata, counted to bound what a
                                 hostile file can ask for */
    unsigned odd_fields;      /* bits of the XPlane fields that were seen with a wrong wire type */
    bool events_read;         /* the events were in memory before */
    bool plausible;           /* a plane has a name that profilers use */
    struct KeptResult *results; /* of this host alone, under run->analyses_lock */
    Arena *event_arenas; /* for the events in a streaming run, one arena for each worker; NULL if
                            the events are not in memory */
};

struct Run {
    Run *next; /* next in the registry */
    atomic_int n_references;
    char *path; /* as given, made absolute */
    char *name; /* of the folder, or of the file without suffix */
    Host *hosts;
    size_t n_hosts;
    uint32_t n_planes, n_lines;
    uint64_t n_events, size_bytes, identity;
    double loaded_ms;
    const char **programs; /* paths of HLO programs beside the profiles */
    size_t n_programs;
    Arena arena, *worker_arenas;
    size_t n_workers;
    bool streaming; /* only the events of `held` are in memory; see run_load_all_events() and
                       host_load_only() */
    Host *held;
    atomic_uint n_issues_lost;       /* because memory ran out */
    atomic_uint n_losses_told;       /* the first so many made their statements fail */
    pthread_mutex_t lines_lock;      /* for results of lines; recursive, see interrupt.h */
    pthread_mutex_t analyses_lock;   /* recursive, because an analysis may ask for another */
    unsigned n_making, making_depth; /* analyses that are being computed, and interrupt_depth() of
                                        the last; under analyses_lock */
    struct KeptResult *results;
    Arena line_arena; /* for results of lines; under lines_lock */
    Line **lines;     /* all lines of all hosts, by ordinal */
};

/* How a run was opened. */
typedef struct {
    size_t n_others; /* older runs of the log dir (by name) that were not opened */
    bool was_read;   /* false: the run was loaded before */
} RunOpened;

typedef struct {
    /* Called every few ms on the calling thread. May be NULL. */
    void (*progress)(void *context, uint64_t bytes_done, uint64_t bytes_total);
    void *context;
    int n_threads;  /* 0 or less: as many as are of use */
    bool streaming; /* for a run of several hosts: reads no events at first, then those of one host
                       at a time */
    const char *within; /* see source_resolve() */
    RunOpened *opened;  /* filled in if not NULL */
} RunOptions;

/* Opens a source: the shared Run if the same bytes are loaded already, else loads it. NULL on
 * failure, with err set. The caller owns one reference. */
NODISCARD Run *run_open(const char *path, const RunOptions *options, ProfErr *err);
Run *run_ref(Run *run);
void run_unref(Run *run);
/* Returns whether the files at the run's path are still those that were read. */
bool run_is_current(const Run *run);
/* Returns whether the process has an open run; path: of this path, or NULL. */
bool run_any_open(const char *path);

/* Returns a text of the host's file, repaired to valid UTF-8, that lives as long as the run. For
 * several threads. */
const Text *host_text(Host *host, const void *bytes, size_t n_bytes, ProfErr *err);

/* A run opened with `streaming` has the events of one host in memory at a time. host_load_only()
 * loads those of a host and drops the others; run_load_all_events() loads all, and from then on the
 * run keeps them. PROF_OK, or err is set. */
int run_load_all_events(Run *run, ProfErr *err);
int host_load_only(Host *host, ProfErr *err);

/* Loops over the hosts of a run, or over `only` alone if it is not NULL. */
#define EACH_HOST(host, run, only)                                                                 \
    for (Host *host = (only) ? (only) : (run)->hosts,                                              \
              *host##_end = (only) ? host + 1 : host + (run)->n_hosts;                             \
         host < host##_end; host++)

/* Returns the host's name in the file; "localhost" if the file has none. */
const char *host_hostname(const Host *host);

/* ---- reading events ---- */

/* Unpacked columns of a chunk. Only the wanted columns are filled. */
typedef struct {
    int64_t columns[N_CHUNK_COLUMNS][CHUNK_EVENTS];
} ChunkValues;
/* Reads the wanted columns, bits 1 << enum ChunkColumn. The window may be used for other reads of
 * the host's file. Polls for interrupts (interrupt.h), so a walk over the chunks of lines need not.
 */
int chunk_read(const Line *line, const Chunk *chunk, unsigned wanted, ChunkValues *values,
               Window *window, ProfErr *err);

static inline const Text *line_label(const Line *line)
{
    return line->display_name->n_bytes ? line->display_name : line->name;
}
/* Returns the line that has an event ordinal; NULL if none does. */
Line *run_line_of_event(const Run *run, uint64_t event);

/* ---- results that are computed on first use, and kept (memo.c) ---- */

/* The events that an analysis needs. They are loaded before it is computed, also in a run that was
 * opened streaming. */
enum AnalysisNeeds {
    NEEDS_ALL_HOSTS,          /* of all hosts, which then stay in memory */
    NEEDS_NO_EVENTS,          /* none: planes and metadata alone */
    NEEDS_ONE_HOST_AT_A_TIME, /* of one host after another; the result refers to no event */
    NEEDS_HOST_EVENTS         /* of one host; the result is freed with them */
};
/* A result that is computed from a run when it is first needed and kept as long as the run. `make`
 * returns what run_analysis() hands out, or NULL with err set. It may ask for other analyses, but
 * not for itself. `release` frees the result. */
typedef struct {
    void *(*make)(Run *run, Host *only, ProfErr *err);
    void (*release)(void *result);
    enum AnalysisNeeds needs;
} Analysis;
/* Returns the result for all hosts together, or for one host (only), which is computed once and
 * then shared. NULL with err set on failure. Two analyses are the same if their addresses are. */
const void *run_analysis(Run *run, Host *only, const Analysis *analysis, ProfErr *err);
/* Returns the result if it is there already, else NULL. */
const void *run_analysis_made(Run *run, Host *only, const Analysis *analysis);

/* The same for one line whose events are in memory. `make` is called under the run's lines_lock: it
 * may ask for other results of lines, but not for analyses of runs or hosts. release NULL: the
 * result is in run->line_arena. */
typedef struct {
    void *(*make)(Line *line, ProfErr *err);
    void (*release)(void *result);
} LineAnalysis;
const void *line_analysis(Line *line, const LineAnalysis *analysis, ProfErr *err);
/* Returns the result if it is there already, else NULL. */
const void *line_analysis_made(const Line *line, const LineAnalysis *analysis);
/* Keeps a result that a worker computed without the lock, or releases it if another worker was
 * faster. False if memory ran out or the result is NULL. */
bool line_analysis_keep(Line *line, const LineAnalysis *analysis, void *result, ProfErr *err);

/* Sets the error for a statement that runs in a progress handler and needs what the interrupted
 * statement is computing. */
int run_is_busy(const Run *run, ProfErr *err);

/* ---- results of lines ---- */

const NestingChunk *line_nesting(Line *line, ProfErr *err); /* for each chunk */
const LineTotals *line_totals(Line *line, ProfErr *err);
/* Computes the totals of all lines, on all processors. */
bool run_totals(Run *run, ProfErr *err);
/* Returns a line's events by metadata. Fails for a line of 2^32 events or more. */
const EventsByMeta *line_events_by_meta(Line *line, ProfErr *err);
/* Returns the same if it was computed, else NULL. */
const EventsByMeta *line_events_ordered(const Line *line);
/* Orders all lines, on all processors. */
bool run_events_by_meta(Run *run, ProfErr *err);

#endif
