// SPDX-License-Identifier: Apache-2.0
/* work_kind.h: the kind of work that an event of a device is, as docs/semantics.md defines it. Every analysis that has to separate
 * computing, communicating and transferring asks here. */
#ifndef PROF_WORK_KIND_H
#define PROF_WORK_KIND_H

#include "tf_op.h"

#include "../run.h"

enum WorkKind { WORK_COMPUTE, WORK_COLLECTIVE, WORK_TRANSFER, N_WORK_KINDS };
extern const char *const work_kind_names[N_WORK_KINDS];

/* The name of an op: the display name if there is one, else the name in the HLO text. */
Slice event_op_name(const EventMeta *meta);
/* A fact of the metadata that is a text; NULL if absent. Its facts are read (event_meta_facts()). */
const Text *event_meta_text(const EventMeta *meta, enum KnownStat known);
bool event_meta_number(const EventMeta *meta, enum KnownStat known, uint64_t *number);

/* An op of a TensorCore or SparseCore. Category and text may be empty. */
enum WorkKind op_work_kind(Slice category, Slice text, Slice name);
/* An event on a GPU's stream. */
enum WorkKind stream_work_kind(Slice name);
bool stream_is_memset(Slice name);
/* The kind of all events of a device's plane, by index of their metadata. Freed with
 * prof_free(); NULL with err set. */
uint8_t *plane_work_kinds(Plane *plane, ProfErr *err);

static inline bool plane_is_device(const Plane *plane)
{
    return plane->kind == PLANE_GPU || plane->kind == PLANE_TENSORCORE || plane->kind == PLANE_SPARSECORE;
}
/* Are the events of the line a device's work? */
static inline bool line_is_work(const Line *line)
{
    return !line->derived && (line->plane->kind == PLANE_GPU ? line->kind == LINE_STREAM : plane_is_device(line->plane) && line->kind == LINE_OPS);
}

#endif
