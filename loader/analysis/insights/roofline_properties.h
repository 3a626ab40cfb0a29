// SPDX-License-Identifier: Apache-2.0
/* roofline_properties.h: the properties of devices in XProf's roofline model: peaks, ridge points
 * and flags. */
#ifndef PROF_ROOFLINE_PROPERTIES_H
#define PROF_ROOFLINE_PROPERTIES_H

#include "../../run.h"

typedef struct {
    const char *name, *unit; /* unit: NULL for texts and flags */
    const char *text;        /* NULL: the property is a number */
    double number;           /* 0 if unknown or if the device lacks the memory, as in XProf */
    bool known;              /* the number is not a placeholder */
} RooflineProperty;

enum { MAX_ROOFLINE_PROPERTIES = 16 };
typedef struct {
    RooflineProperty properties[MAX_ROOFLINE_PROPERTIES]; /* by name */
    size_t n;
} RooflineProperties;

/* Returns the properties that XProf shows for the devices of all hosts, or of `only`. */
const RooflineProperties *run_roofline_properties(Run *run, Host *only, ProfErr *err);

#endif
