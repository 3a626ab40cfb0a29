// SPDX-License-Identifier: Apache-2.0
/* empty.h: records why a table or canned query has no rows, as a row of prof_issues with the code
 * nothing_to_show. */
#ifndef PROF_EMPTY_H
#define PROF_EMPTY_H

#include "../loader/run.h"

/* What rows are computed from. The first one that a run lacks is the reason. */
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

/* A table or query without rows. */
typedef struct {
    const char *name; /* of the table or query */
    unsigned needs;   /* bits of enum Need */
    const char
        /* the reason if the run has everything that is needed; NULL: then none is recorded */
        *nothing;
} Empty;

/* Records why there are no rows for the run, or for its host `only`. False with err set. */
bool empty_record(const Empty *empty, Run *run, Host *only, ProfErr *err);

#endif
