// SPDX-License-Identifier: Apache-2.0
/* owners.h: the framework op that an instruction belongs to, even if the compiler gave it no name.
 *
 * A compiler adds copies, collectives and fusions without metadata that says what they are for.
 * Their owner is found in the graph: among the instructions that they run, the nearest ones that
 * use their result, or the nearest ones that produce their operands. The rules are in
 * docs/semantics.md. */
#ifndef PROF_OWNERS_H
#define PROF_OWNERS_H

#include "../../format/hlo.h"

enum OwnerBy { OWNER_NONE, OWNER_OWN, OWNER_FUSED, OWNER_USER, OWNER_PRODUCER, OWNER_CALLER };
extern const char *const owner_by_names[]; /* NULL for OWNER_NONE */

typedef struct {
    const Xla__HloInstructionProto *instruction; /* has an op name; NULL for OWNER_NONE */
    enum OwnerBy by;
} OpOwner;

/* Returns the owner of an instruction. Owners of all instructions of the module are computed
 * together, in time and memory that grow linearly with its size. OWNER_NONE with err set on
 * failure. */
OpOwner hlo_owner(const HloModule *module, const Xla__HloInstructionProto *op, ProfErr *err);

#endif
