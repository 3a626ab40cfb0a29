// SPDX-License-Identifier: Apache-2.0
/* hlo_validate.h: checks whether XLA would accept a program. XLA rejects a program whose parts do
 * not fit together; XProf then has no program with that id. */
#ifndef PROF_HLO_VALIDATE_H
#define PROF_HLO_VALIDATE_H

#include "../../format/hlo.h"

/* Like hlo_program(), but returns NULL without err set for a program that XLA rejects, and records
 * the reason as an issue of the host, once. The tables of programs still show the program. Checks
 * numbers, names and their order, and hlo_verify_rules.h. */
const HloModule *hlo_valid_program(Host *host, uint64_t program_id, ProfErr *err);
/* Only records the issue. For hlo_check_programs(). */
void hlo_validate(const HloModule *module, ProfErr *err);

#endif
