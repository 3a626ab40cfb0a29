// SPDX-License-Identifier: Apache-2.0
/* empty.h: why a table or a canned query has no rows. "Empty" is then a row of prof_issues, code
 * nothing_to_show. */
#ifndef PROF_EMPTY_H
#define PROF_EMPTY_H

#include "../loader/run.h"

/* What rows are made of. The first that a run lacks is the reason. */
enum Need {
    NEED_EVENTS = 1,
    NEED_HOST = 2,
    NEED_DEVICE = 4,
    NEED_GPU = 8,
    NEED_TPU = 16,
    NEED_STEPS = 32,
    NEED_PROGRAMS = 64,
    NEED_ALLOCATIONS = 128,
};

/* What has no rows. */
typedef struct {
    const char *name; /* of the table or query */
    unsigned needs;   /* enum Need */
    const char
        *nothing; /* the reason if the run has all that is needed; NULL: then none is recorded */
} Empty;

/* Records why it has no rows of the run, or of `only`. False with err set. */
bool empty_record(const Empty *empty, Run *run, Host *only, ProfErr *err);

#endif
