// SPDX-License-Identifier: Apache-2.0
/* overview.h: the properties of XProf's overview page. */
#ifndef PROF_OVERVIEW_H
#define PROF_OVERVIEW_H

#include "../../run.h"

/* A property of XProf's overview page, as it prints it. */
typedef struct {
    const char *section, *name, *value, *unit, *description; /* value: in the arena, or NULL */
} OverviewProperty;

enum { MAX_PROPERTIES = 96 };

typedef struct {
    OverviewProperty properties[MAX_PROPERTIES];
    size_t n;
    const char *section; /* section of the properties that are added now */
    Arena arena;
    ProfErr *err;
} Overview;
/* Returns the properties, in the order of the page. */
const Overview *run_overview(Run *run, Host *only, ProfErr *err);

#endif
