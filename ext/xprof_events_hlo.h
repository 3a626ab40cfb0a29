// SPDX-License-Identifier: Apache-2.0
/* xprof_events_hlo.h: texts about HLO instructions for the table xprof_events, built once for each
 * instruction. */
#ifndef PROF_XPROF_EVENTS_HLO_H
#define PROF_XPROF_EVENTS_HLO_H

#include "../loader/analysis/program/hlo_validate.h"
#include "../loader/base/list.h"
#include "prof.h"

typedef struct {
    const Xla__HloInstructionProto *op;
    char *provenance;       /* op_name:op_type */
    char *inputs, *outputs; /* JSON arrays of shapes; NULL if there are none */
    bool has_fingerprint;
    uint64_t fingerprint;
} HloDetail;

/* Start as {0}. */
typedef struct {
    LIST(HloDetail *) details;
    HashTable by_op;
} HloDetails;

/* Returns the texts of an instruction, valid until all are freed. NULL with err set. */
const HloDetail *hlo_detail(HloDetails *details, const HloModule *module,
                            const Xla__HloInstructionProto *op, ProfErr *err);
void hlo_details_free(HloDetails *details);

#endif
