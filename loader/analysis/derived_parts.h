// SPDX-License-Identifier: Apache-2.0
/* derived_parts.h: what the parts of the derived lines share; see derived.h.
 *
 *   derived_build.c   opens, extends and closes events, level by level
 *   derived_gpu.c     steps and streams of GPUs
 *   derived_tpu.c     TensorCores
 *   derived.c         launch stats, the result */
#ifndef PROF_DERIVED_PARTS_H
#define PROF_DERIVED_PARTS_H

#include "../list.h"
#include "derived.h"
#include "event_stats.h"

/* Ids of XProf's derived lines count up from here. */
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
    LIST(DerivedMeta) metas; /* the file's first, in its order */
    uint32_t *slots;         /* of metas, + 1 */
    size_t n_slots;
} NameTable;

/* ---- a line in the making ---- */

typedef struct {
    uint32_t event, stats; /* stats: place in the maker's of what was set for it, + 1 */
    bool open, has_scope;
    int64_t scope;
} Level;

typedef struct LineMaker LineMaker;
struct LineMaker {
    DerivedLine line;
    LIST(DerivedEvent) events;
    LIST(DerivedStat) stats;
    LIST(Level) levels;
    bool is_gpu;
    LineMaker *dependents[3]; /* closed with this line's first level */
};

typedef struct {
    int64_t child, parent;
} ScopeLink;

typedef struct {
    LIST(ScopeLink) links; /* by child, the last of a child first */
} ScopeTree;

typedef struct {
    Host *host;
    const Grouping *grouping;
    ScopeTree scopes; /* while lines are derived: scopes_read() */
    LIST(DerivedLine) lines;
    NameTable *names; /* as host->planes */
    int64_t *display_ids;
    uint64_t events_left; /* to be made: names of many levels could ask for more than memory holds */
    Arena arena;
    TextTable texts;
} Derivation;

/* What an event says of the derived events that cover it. */
typedef struct {
    int64_t start_ps, duration_ps, group;
    const int64_t *scopes; /* one a level; NULL: none */
} CoverSpan;

#define NO_META UINT32_MAX

bool names_open(NameTable *names, const Plane *plane);
void names_close(NameTable *names);
/* The metadata of a name, made now if the plane has none; NO_META: no memory. Names that are no UTF-8 are repaired. */
uint32_t names_find(Derivation *d, NameTable *names, const char *text, size_t n_bytes);
/* Sets the display name unless there is one. False: no memory. */
bool names_display(Derivation *d, NameTable *names, uint32_t meta, const char *text, size_t n_bytes);

/* Duration from start to end; 0 where the end lies before. */
int64_t span_between(int64_t start_ps, int64_t end_ps);
/* Lets a span cover another one too. What begins at 0 and takes no time is an empty span to XProf, which covers nothing. */
void span_extend(int64_t *start_ps, int64_t *duration_ps, int64_t by_start_ps, int64_t by_duration_ps);
void line_open(LineMaker *maker, Plane *plane, int64_t id, const char *name, enum LineKind kind);
/* Lets events of the metas, one a level, cover the span. False: err is set. */
bool line_cover(Derivation *d, LineMaker *maker, const uint32_t *metas, size_t n_levels, const CoverSpan *span, ProfErr *err);
/* Closes what is open from a level on; the line is then as XProf shortens nested events that end together. */
void line_close(LineMaker *maker, size_t level);
/* Sorts the events, keeps them in the derivation if there are any, and frees the maker. False: err is set. */
bool line_end(Derivation *d, LineMaker *maker, ProfErr *err);
void line_drop(LineMaker *maker);

/* The metas that a framework op is shown by: its own, and one a name scope. */
typedef struct {
    uint32_t op;
    uint32_t *scopes;
    size_t n_scopes;
    bool has_scopes; /* an op without any still ends those before */
} OpMetas;
/* Covers a framework op by events of its name scopes and its own. */
bool line_cover_op(Derivation *d, LineMaker *name_scope, LineMaker *framework_ops, const OpMetas *op, const CoverSpan *span, ProfErr *err);
bool op_metas(Derivation *d, NameTable *names, Slice full_name, OpMetas *metas, ProfErr *err);

bool scopes_read(ScopeTree *tree, const Host *host, ProfErr *err);
bool derive_gpu(Derivation *d, Plane *plane, ProfErr *err);
bool derive_tensorcore(Derivation *d, Plane *plane, ProfErr *err);

#endif
