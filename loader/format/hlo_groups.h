// SPDX-License-Identifier: Apache-2.0
/* hlo_groups.h: the replica groups of a collective that are the rows of an array.
 *
 * HLO text writes such groups in two ways. "[4,2]<=[2,4]T(1,0)" are the numbers 0, 1, 2 ... in the
 * shape [2,4], transposed, and cut into 4 rows of 2. "mesh['a'=2,'b'=4] {'b':(2)2}" are devices
 * that differ only along some axes of a mesh, or along parts of axes. */
#ifndef PROF_HLO_GROUPS_H
#define PROF_HLO_GROUPS_H

#include "hlo.h"

enum { MAX_GROUP_RANK = 32 };
/* The numbers 0, 1, 2 ... in the shape `dims`, transposed: axis i of the result is the shape's axis
 * order[i]. */
typedef struct {
    int n;
    int64_t dims[MAX_GROUP_RANK], order[MAX_GROUP_RANK];
    int64_t count; /* of the numbers */
} Iota;
typedef struct {
    int64_t n_groups, size; /* `size` ids in each */
    Iota places;            /* places in the mesh, in the order of the groups */
    /* The id at each place; the number of the place if there is neither. */
    Iota devices;
    const int64_t *ids; /* points into the program */
} GroupArray;
/* Counts the numbers of `places`. False if they, n_groups and size do not make sense together. */
bool group_array_is_sound(GroupArray *groups);
/* Reads the groups of an instruction. False if it has none of this form, or they make no sense. */
bool group_array_read(GroupArray *groups, const Xla__HloInstructionProto *op);
/* Returns the id at a position: group position / size, and the place in it. */
int64_t group_array_id(const GroupArray *groups, int64_t position);
/* Returns the position of an id; -1 if no group has it. */
int64_t group_array_position(const GroupArray *groups, int64_t id);

#endif
