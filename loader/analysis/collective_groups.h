// SPDX-License-Identifier: Apache-2.0
/* collective_groups.h: which devices exchange data in a collective: replica groups in any of their forms, or pairs of source and target.
 *
 * The ids in groups are of replicas, of partitions, or of devices counted over both, depending on the instruction. A program's device
 * assignment says which device runs which replica and partition. Without one, the ids are taken for the devices' ids. */
#ifndef PROF_COLLECTIVE_GROUPS_H
#define PROF_COLLECTIVE_GROUPS_H

#include "../format/hlo.h"
#include "../list.h"
#include "tf_op.h"

enum GroupForm { GROUPS_UNKNOWN, GROUPS_ALL, GROUPS_LIST, GROUPS_IOTA, GROUPS_PAIRS };
enum GroupIds { IDS_REPLICA, IDS_PARTITION, IDS_REPLICA_AND_PARTITIONS, IDS_DEVICE };
typedef struct {
    int64_t id, other; /* an id and the number of its group, or source and target */
} GroupEntry;
enum { MAX_IOTA_RANK = 16 };
typedef struct {
    enum GroupForm form;
    enum GroupIds ids;
    LIST(GroupEntry) entries;
    int64_t dims[MAX_IOTA_RANK], transpose[MAX_IOTA_RANK];
    int n_dims;
    int64_t size; /* of a group, 0: unknown */
    const Xla__DeviceAssignmentProto *assignment;
} CollectiveGroups;

/* Reads the groups from an instruction, or from its text (Slice of HLO). kind: as collectives.kind. False: no memory. */
bool groups_read(CollectiveGroups *groups, const HloModule *module, const Xla__HloInstructionProto *instruction, const char *kind);
bool groups_read_text(CollectiveGroups *groups, Slice text, const char *kind);
void groups_free(CollectiveGroups *groups);

/* A device as the groups see it. */
typedef struct {
    bool known;        /* its id is, and it takes part */
    int64_t id, apart; /* devices with another `apart` are never peers */
    int64_t group;
} GroupPlace;
/* device_id: the number of the device among all that run the program, -1: unknown. */
GroupPlace groups_place(const CollectiveGroups *groups, int64_t device_id);
bool groups_are_peers(const CollectiveGroups *groups, const GroupPlace *a, const GroupPlace *b);
/* How many devices run the program, as far as the groups and the assignment say. */
int64_t groups_device_count(const CollectiveGroups *groups);

#endif
