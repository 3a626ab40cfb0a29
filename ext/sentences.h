// SPDX-License-Identifier: Apache-2.0
/* sentences.h: sentences on what analyses find. What is found is in
 * loader/analysis/insights/advice.h and findings.h. */
#ifndef PROF_SENTENCES_H
#define PROF_SENTENCES_H

#include "../loader/analysis/insights/advice.h"
#include "prof.h"

/* Returns a sentence on a finding that holds, from sqlite3_mprintf(); NULL: no memory. */
char *finding_statement(const InputAnalysis *a, enum Finding finding);
/* Returns a sentence on one advice of the list, from sqlite3_mprintf(); NULL: no memory. */
char *advice_statement(const AdviceList *list, const Advice *advice);
/* Returns what to do next, by the actual verdict. */
const char *next_step_statement(const InputAnalysis *a);

#endif
