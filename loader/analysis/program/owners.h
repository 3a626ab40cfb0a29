// SPDX-License-Identifier: Apache-2.0
/* owners.h: the framework op that an instruction belongs to, also if the compiler gave it no name.
 *
 * A compiler makes copies, collectives and fusions of its own, without the metadata that say what
 * they were made for. Their owner is found in the graph: among the instructions that they run, the
 * nearest that use their result, or the nearest that produce their operands. docs/semantics.md has
 * the rules. */
#ifndef PROF_OWNERS_H
#define PROF_OWNERS_H

#include "../../format/hlo.h"

enum OwnerBy { OWNER_NONE, OWNER_OWN, OWNER_FUSED, OWNER_USER, OWNER_PRODUCER, OWNER_CALLER };
extern const char *const owner_by_names[]; /* NULL for OWNER_NONE */

typedef struct {
    const Xla__HloInstructionProto *instruction; /* has an op name; NULL for OWNER_NONE */
    enum OwnerBy by;
} OpOwner;

/* Returns the owner of an instruction. Owners of all instructions of the module are computed on
 * first use, in time and memory that grow with its size alone. OWNER_NONE with err set on failure.
 */
OpOwner hlo_owner(const HloModule *module, const Xla__HloInstructionProto *op, ProfErr *err);

#endif
