// SPDX-License-Identifier: Apache-2.0
/* hlo_parts.h: what hlo.c (the programs of a host) and hlo_parse.c (the module of one) share. */
#ifndef PROF_HLO_PARTS_H
#define PROF_HLO_PARTS_H

#include "hlo.h"

struct HloProgramState {
    HloModule *module; /* NULL if it is not parsed yet or cannot be parsed */
    bool checked;      /* its problems are recorded as issues */
    bool bad;          /* it cannot be parsed */
    bool judged; /* in the state of the first program of an id: the one that counts was passed to
                    the judge of hlo_check_programs() */
    Arena arena; /* for the module */
    HloProgram *first, *next; /* programs of the same id */
    HloProgram *untried,
        /* in the state of the first program of an id: the next one to parse, and the one that
           counts */
        *best;
    struct HloResult *results;
};

/* A result of hlo_analysis(). */
typedef struct HloResult {
    struct HloResult *next;
    const HloAnalysis *analysis;
    void *result;
} HloResult;

/* Parses a program and sets the module of its state, unless it is bad: then an issue has the
 * reason. Returns the code in err. */
int hlo_parse_program(HloProgram *program, ProfErr *err);
void hlo_module_free(HloModule *module);
/* Checks a program's bytes, once, without building its module. */
void hlo_check_program(const HloProgram *program, ProfErr *err);

#endif
