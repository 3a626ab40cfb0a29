// SPDX-License-Identifier: Apache-2.0
/* collective_groups.h: which devices exchange data in a collective, from replica groups in any of
 * their forms or from pairs of source and target.
 *
 * The ids in groups are those of replicas, of partitions, or of devices counted over both,
 * depending on the instruction. A program's device assignment says which device runs which replica
 * and partition. Without an assignment, ids are treated as ids of devices. */
#ifndef PROF_COLLECTIVE_GROUPS_H
#define PROF_COLLECTIVE_GROUPS_H

#include "../../format/hlo_groups.h"
#include "../../base/list.h"
#include "../../base/tf_op.h"

enum GroupForm { GROUPS_UNKNOWN, GROUPS_ALL, GROUPS_LIST, GROUPS_ARRAY, GROUPS_PAIRS };
enum GroupIds { IDS_REPLICA, IDS_PARTITION, IDS_REPLICA_AND_PARTITIONS, IDS_DEVICE };
typedef struct {
    int64_t id, other; /* an id and the number of its group, or source and target */
} GroupEntry;
/* The groups of one collective. */
typedef struct {
    enum GroupForm form;
    enum GroupIds ids;
    LIST(GroupEntry) entries;
    GroupArray array;
    int64_t size; /* ids in a group; 0: unknown, or groups of several sizes */
    const Xla__DeviceAssignmentProto *assignment;
} CollectiveGroups;

/* Reads the groups from an HLO instruction, or from its text. `kind` is the collective's kind, as
 * in the table `collectives`. Freed with groups_free(). False if memory runs out. */
bool groups_read(CollectiveGroups *groups, const HloModule *module,
                 const Xla__HloInstructionProto *instruction, const char *kind);
bool groups_read_text(CollectiveGroups *groups, Slice text, const char *kind);
void groups_free(CollectiveGroups *groups);

/* Where a device is in the groups. */
typedef struct {
    bool known; /* its id is known and it takes part */
    /* `apart` is a number that peers have in common: devices with different ones never exchange
     * data. */
    int64_t id, apart;
    int64_t group;
} GroupPlace;
/* Returns the place of a device. device_id is its number among all devices that run the program, -1
 * if unknown. */
GroupPlace groups_place(const CollectiveGroups *groups, int64_t device_id);
/* Returns how many devices a group has; 0: unknown, or groups of several sizes. */
int64_t groups_size(const CollectiveGroups *groups);
/* Returns how many devices run the program, as far as the groups and the assignment determine it.
 */
int64_t groups_device_count(const CollectiveGroups *groups);

#endif
