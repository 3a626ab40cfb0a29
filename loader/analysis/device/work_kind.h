// SPDX-License-Identifier: Apache-2.0
/* work_kind.h: the kind of work of a device's event, as defined in docs/semantics.md. Every
 * analysis that separates computing, communicating and transferring uses it. */
#ifndef PROF_WORK_KIND_H
#define PROF_WORK_KIND_H

#include "../../base/tf_op.h"

#include "../../run.h"

enum WorkKind { WORK_COMPUTE, WORK_COLLECTIVE, WORK_TRANSFER, N_WORK_KINDS };
extern const char *const work_kind_names[N_WORK_KINDS];

/* Returns the name of an op: the display name if there is one, else the name in the HLO text. */
Slice event_op_name(const EventMeta *meta);
/* Returns a text stat of the metadata; NULL if absent. Call event_meta_values() before. */
const Text *event_meta_text(const EventMeta *meta, enum KnownStat known);
/* Reads a number stat of the metadata. False if absent. Call event_meta_values() before. */
bool event_meta_number(const EventMeta *meta, enum KnownStat known, uint64_t *number);

/* Returns the kind of an op of a TensorCore or SparseCore. Category and text may be empty. */
enum WorkKind op_work_kind(Slice category, Slice text, Slice name);
/* Returns whether an event on a GPU's stream is a memset. */
bool stream_is_memset(Slice name);
/* Returns the enum WorkKind of a device plane's events, by index of event metadata. Freed with
 * prof_free(). */
uint8_t *plane_work_kinds(Plane *plane, ProfErr *err);

/* Returns whether the plane is a GPU, a TensorCore or a SparseCore. */
static inline bool plane_is_device(const Plane *plane)
{
    return plane->kind == PLANE_GPU || plane->kind == PLANE_TENSORCORE ||
           plane->kind == PLANE_SPARSECORE;
}
/* Returns whether the events of the line are a device's work. */
static inline bool line_is_work(const Line *line)
{
    return !line->derived && (line->plane->kind == PLANE_GPU
                                  ? line->kind == LINE_STREAM
                                  : plane_is_device(line->plane) && line->kind == LINE_OPS);
}

#endif
