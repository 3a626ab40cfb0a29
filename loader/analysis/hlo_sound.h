// SPDX-License-Identifier: Apache-2.0
/* hlo_sound.h: whether XLA would take a program. It refuses one whose parts do not fit together, and XProf then has no program of that id. */
#ifndef PROF_HLO_SOUND_H
#define PROF_HLO_SOUND_H

#include "../format/hlo.h"

/* hlo_program(), but NULL without err set for a program that XLA refuses; an issue of the host says why, once. The tables of programs show it
 * all the same. Known are the rules of numbers, names and their order, and hlo_rules.h. */
const HloModule *hlo_sound_program(Host *host, uint64_t program_id, ProfErr *err);
/* Only lets the issue say it: for hlo_check_programs(). */
void hlo_judge(const HloModule *module, ProfErr *err);

#endif
