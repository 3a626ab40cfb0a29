// SPDX-License-Identifier: Apache-2.0
/* plane.h: what planes and lines are by their names, and the stats that a plane declares. No other
 * file compares names of planes or lines. */
#ifndef PROF_PLANE_H
#define PROF_PLANE_H

#include "run.h"

/* Set a plane's kind, prefix and process from its name, and a line's kind from its name and plane.
 */
void plane_classify(Plane *plane);
void line_classify(Line *line);
/* Returns the host's first plane that is named like the prefix, with nothing after it; NULL if it
 * has none. */
Plane *host_find_plane(const Host *host, enum PlanePrefix prefix);
/* Returns the host's first plane "/device:TPU:0"; NULL if it has none. */
Plane *host_first_core(const Host *host);
/* Returns the number in the name of a plane with PREFIX_TPU; 0 if it has none. */
int64_t plane_core_number(const Plane *plane);
/* Returns whether XProf treats the plane as one of a host or device. */
static inline bool is_host_or_device(const Plane *plane)
{
    return plane->prefix != PREFIX_NONE && plane->prefix != PREFIX_OTHER_HOST;
}
/* Returns whether the name starts like a TPU core's. XProf treats most such planes as TensorCores
 * unless they are SparseCores. */
static inline bool is_tpu(const Plane *plane) { return plane->prefix == PREFIX_TPU; }
/* Returns whether XProf recognises the TensorCore by its number. Where XProf looks for TensorCores
 * only, it does not check the number. */
static inline bool is_numbered_core(const Plane *plane)
{
    return plane->kind == PLANE_TENSORCORE && plane->is_numbered;
}
/* Returns whether the line's name is that of a line of steps, programs or ops, on any plane. */
static inline bool is_step_line(const Line *line)
{
    return line->named == NAME_STEPS || line->named == NAME_SPARSE_STEPS;
}
static inline bool is_module_line(const Line *line)
{
    return line->named == NAME_MODULES || line->named == NAME_SPARSE_MODULES;
}
static inline bool is_op_line(const Line *line)
{
    return line->named == NAME_OPS || line->named == NAME_FRAMEWORK_OPS ||
           line->named == NAME_SPARSE_OPS;
}
/* Returns whether the line's name starts with this one. */
bool line_name_starts(const Line *line, enum LineName name);

/* Returns the stat's metadata; NULL if the plane has none of this id. */
const StatMeta *stat_meta(const Plane *plane, int64_t id);
/* Returns the known stat of an id; STAT_UNKNOWN for others. */
enum KnownStat stat_known_by_table(const Plane *plane, int64_t id);
static inline enum KnownStat stat_known(const Plane *plane, int64_t id)
{
    return (uint64_t)id < plane->n_known_ids ? (enum KnownStat)plane->known_of_id[id]
                                             : stat_known_by_table(plane, id);
}
/* Returns whether the plane has metadata for the stat. If not, none of its events has the stat. */
bool plane_declares(const Plane *plane, enum KnownStat known);
/* Returns the text that a TYPE_REF stat refers to; empty_text if the plane does not have it. */
const Text *stat_ref_text(const Plane *plane, uint64_t ref);

#endif
