// SPDX-License-Identifier: Apache-2.0
/* sentences.h: sentences about the results of loader/analysis/insights/advice.h and findings.h. */
#ifndef PROF_SENTENCES_H
#define PROF_SENTENCES_H

#include "../loader/analysis/insights/advice.h"
#include "prof.h"

/* Returns a sentence on a finding that applies, from sqlite3_mprintf(). NULL if memory runs out. */
char *finding_statement(const InputAnalysis *a, enum Finding finding);
/* Returns a sentence on an advice of the list, from sqlite3_mprintf(). NULL if memory runs out. */
char *advice_statement(const AdviceList *list, const Advice *advice);
/* Returns what to do next, from the corrected verdict. */
const char *next_step_statement(const InputAnalysis *a);

#endif
