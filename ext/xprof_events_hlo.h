// SPDX-License-Identifier: Apache-2.0
/* xprof_events_hlo.h: what the table xprof_events says of HLO instructions, put together once for
 * each. */
#ifndef PROF_XPROF_EVENTS_HLO_H
#define PROF_XPROF_EVENTS_HLO_H

#include "../loader/analysis/program/hlo_validate.h"
#include "../loader/base/list.h"
#include "prof.h"

typedef struct {
    const Xla__HloInstructionProto *op;
    char *provenance;       /* op_name:op_type */
    char *inputs, *outputs; /* JSON arrays of shapes; NULL: it has none */
    bool has_fingerprint;
    uint64_t fingerprint;
} HloDetail;

/* Begin with {0}. */
typedef struct {
    LIST(HloDetail *) details;
    HashTable by_op;
} HloDetails;

/* What is known of an instruction; NULL: err is set. It stays until all are freed. */
const HloDetail *hlo_detail(HloDetails *details, const HloModule *module,
                            const Xla__HloInstructionProto *op, ProfErr *err);
void hlo_details_free(HloDetails *details);

#endif
