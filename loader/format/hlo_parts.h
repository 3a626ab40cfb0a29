// SPDX-License-Identifier: Apache-2.0
/* hlo_parts.h: what hlo.c (the programs of a host) and hlo_parse.c (the module of one) share. */
#ifndef PROF_HLO_PARTS_H
#define PROF_HLO_PARTS_H

#include "hlo.h"

struct HloProgramState {
    HloModule *module;        /* NULL: not tried, or it cannot be parsed */
    bool checked;             /* its problems are issues already */
    bool bad;                 /* it cannot be parsed */
    bool judged;              /* in the state of the first of an id: the one that counts went to
                                 hlo_check_programs()' judge */
    Arena arena;              /* of the module */
    HloProgram *first, *next; /* of the same id */
    HloProgram *untried,
        *best; /* in the state of the first of an id: the next to parse, and the one that counts */
    struct HloResult *results;
};

/* A result of hlo_analysis(). */
typedef struct HloResult {
    struct HloResult *next;
    const HloAnalysis *analysis;
    void *result;
} HloResult;

/* Parses a program: sets the module of its state, unless the program is bad. An issue says why it
 * is. Returns the code. */
int hlo_parse_program(HloProgram *program, ProfErr *err);
void hlo_module_free(HloModule *module);
/* Checks a program's bytes without building its module, once. */
void hlo_check_program(const HloProgram *program, ProfErr *err);

#endif
