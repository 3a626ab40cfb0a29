// SPDX-License-Identifier: Apache-2.0
/* findings.h: sentences on what analyses find, and XProf's smart suggestions. The verdicts are in
 * loader/analysis/insights/findings.h. */
#ifndef PROF_FINDING_SENTENCES_H
#define PROF_FINDING_SENTENCES_H

#include "../loader/analysis/insights/findings.h"
#include "prof.h"

/* A sentence of ours on a finding that holds, from sqlite3_mprintf(); NULL: no memory. */
char *finding_statement(const InputAnalysis *a, enum Finding finding);
/* What to do next, by the actual verdict. */
const char *next_step_statement(const InputAnalysis *a);

/* What a rule of XProf's smart suggestions makes of a run. */
typedef struct {
    const char *code; /* the rule, as XProf calls it */
    bool shown;       /* XProf applies it; the others it only has */
    char *statement;  /* from sqlite3_mprintf(), to be freed; NULL: no memory */
} Suggestion;
enum { MAX_SUGGESTIONS = 13 };
/* Returns how many rules the run meets. A rule is not met if the profile lacks what it asks for.
 * On failure err is set, and 0 is returned. */
size_t find_suggestions(Run *run, Host *only, Suggestion found[MAX_SUGGESTIONS], ProfErr *err);

#endif
