// SPDX-License-Identifier: Apache-2.0
/* derived_parts.h: internals shared by the files that derive lines; derived.h is the public part.
 *
 *   derived_build.c   opens, extends and closes events, level by level
 *   derived_line.c    packs and sorts the events of a line
 *   derived_gpu.c     steps and streams of GPUs
 *   derived_tpu.c     TensorCores
 *   derived.c         launch stats, the result */
#ifndef PROF_DERIVED_PARTS_H
#define PROF_DERIVED_PARTS_H

#include "../../base/list.h"
#include "derived.h"
#include "../../store/event_stats.h"

/* XProf numbers its derived lines from here. */
enum { DERIVED_LINE_BASE = -559038737 };
enum DerivedLineId {
    DERIVED_STEPS = DERIVED_LINE_BASE,
    DERIVED_LAUNCH_STATS,
    DERIVED_NAME_SCOPE,
    DERIVED_FRAMEWORK_OPS,
    DERIVED_MODULES,
    DERIVED_OPS,
    DERIVED_SOURCE = DERIVED_LINE_BASE + 7,
    DERIVED_OFFLOAD,
    DERIVED_STREAMS = DERIVED_LINE_BASE + 290,
};

/* ---- names of a plane ---- */

typedef struct {
    const Plane *plane;
    LIST(DerivedMeta) metas; /* those of the file first, in its order */
    HashTable by_name;       /* of metas */
} NameTable;

/* A line while it is built. */

typedef struct {
    DerivedEvent event; /* the open event, as extended until now */
    uint32_t place;     /* index of the event on the line */
    bool open, changed; /* changed: it differs from the stored event at its place */
    bool has_scope, has_graph, has_correlation;
    int64_t scope, correlation;
    uint64_t graph;
} Level;

typedef struct LineMaker LineMaker;
struct LineMaker {
    DerivedLine line;
    RowWriter events;
    RowWriter stats;
    LIST(Level) levels;
    bool is_gpu;
    LineMaker *dependents[3]; /* lines that are closed with this line's first level */
};

typedef struct {
    int64_t child, parent;
} ScopeLink;

typedef struct {
    LIST(ScopeLink) links; /* sorted by child; the last of a child comes first */
} ScopeTree;

/* The result, or the part of a plane, while it is built. Cores are derived in parallel; a part
 * only changes what it owns and, in `names` and `display_ids`, the entries of its plane. */
typedef struct {
    Host *host;
    const Grouping *grouping;
    ScopeTree scopes; /* set by scopes_read(), used while lines are derived */
    LIST(DerivedLine) lines;
    NameTable *names; /* in the order of host->planes */
    int64_t *display_ids;
    /* Limits the number of events, because names with many levels could create any number. */
    uint64_t events_left;
    Arena arena;
    TextTable texts;
} Derivation;

/* What one event contributes to the derived events that cover it. */
typedef struct {
    int64_t start_ps, duration_ps, group;
    const int64_t *scopes; /* one for each level; NULL if none */
} CoverSpan;

#define NO_META UINT32_MAX

/* Prepares the names of a plane. False if memory runs out. names_close() frees them. */
bool names_open(NameTable *names, const Plane *plane);
void names_close(NameTable *names);
/* Returns the index of the metadata of a name, which is added if the plane has none; NO_META if
 * memory runs out. Invalid UTF-8 is repaired. */
uint32_t names_find(Derivation *d, NameTable *names, const char *text, size_t n_bytes);
/* Sets the display name unless there is one. False if memory runs out. */
bool names_display(Derivation *d, NameTable *names, uint32_t meta, const char *text,
                   size_t n_bytes);

/* Returns the duration from start to end; 0 if the end is before the start. */
int64_t span_between(int64_t start_ps, int64_t end_ps);
/* Extends a span to include another one. As in XProf, a span that starts at 0 with duration 0 is
 * empty. */
void span_extend(int64_t *start_ps, int64_t *duration_ps, int64_t by_start_ps,
                 int64_t by_duration_ps);
/* Prepares a line. */
void line_open(LineMaker *maker, Plane *plane, int64_t id, const char *name, enum LineKind kind);
/* Covers the span by events with these metas, one for each level: extends the open ones or opens
 * new ones. */
bool line_cover(Derivation *d, LineMaker *maker, const uint32_t *metas, size_t n_levels,
                const CoverSpan *span, ProfErr *err);
/* Closes the open events from a level on, and shortens nested events that end together, as XProf
 * does. */
void line_close(LineMaker *maker, size_t level);
/* Adds an event that no level has open. Returns its index on the line. */
uint32_t line_add(LineMaker *maker, const DerivedEvent *event);
/* Adds a stat to an event. */
void line_add_stat(LineMaker *maker, uint32_t event, enum DerivedStatName name, StatValue value);
/* Writes the event that a level has open, and its stats, to the line. */
void level_write(LineMaker *maker, Level *level);
/* Empties the line, because its events are derived again. */
void line_restart(Derivation *d, LineMaker *maker);
/* Sorts the line's events, adds the line to the derivation if it has any, and frees the maker. */
bool line_end(Derivation *d, LineMaker *maker, ProfErr *err);
/* Frees the maker without keeping its line. */
void line_drop(LineMaker *maker);

/* The metas of a framework op: its own, and one for each name scope. */
typedef struct {
    uint32_t op;
    uint32_t *scopes;
    size_t n_scopes;
    bool has_scopes; /* TensorFlow or JAX op: even without scopes, it ends those before it */
} OpMetas;
/* Covers a span by events for the op's name scopes and for the op itself. */
bool line_cover_op(Derivation *d, LineMaker *name_scope, LineMaker *framework_ops,
                   const OpMetas *op, const CoverSpan *span, ProfErr *err);
/* Finds the metas of a framework op with this full name. */
bool op_metas(Derivation *d, NameTable *names, Slice full_name, OpMetas *metas, ProfErr *err);

/* Reads the host's tree of name scopes. */
bool scopes_read(ScopeTree *tree, const Host *host, ProfErr *err);
/* Derive the lines of a plane. */
bool derive_gpu(Derivation *d, Plane *plane, ProfErr *err);
bool derive_tensorcore(Derivation *d, Plane *plane, ProfErr *err);
/* Finds the names of derive_tensorcore(), without lines. */
bool name_tensorcore(Derivation *d, Plane *plane, ProfErr *err);

#endif
