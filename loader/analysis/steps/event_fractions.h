// SPDX-License-Identifier: Apache-2.0
/* event_fractions.h: the fraction of its steps that a TensorCore spends in events with a certain
 * name, as in XProf's event time fractions. */
#ifndef PROF_EVENT_FRACTIONS_H
#define PROF_EVENT_FRACTIONS_H

#include "../../run.h"

/* One TensorCore. */
typedef struct {
    const Plane *plane;
    const float *fractions; /* of its steps with such events, by group; may exceed 1 */
    size_t n;
} CoreFractions;

typedef struct {
    CoreFractions *cores; /* cores that have such events in a step */
    size_t n_cores;
    Arena arena;
} EventFractions;

/* Computes the fractions for events whose name contains `name`, on any line of a TensorCore.
 *
 * Events without a device duration are left out, and so are barriers (`barrier-cores`) of 0 and of
 * 1250 ps, which waited for nothing. Of three or more steps with such events, the first and the
 * last do not count; of two, one that is shorter than 1 % of the other does not count. XProf adds
 * the shares as floats in the order of a hash, which differs each time, so its last digits are
 * random. Freed with event_fractions_free(), also after a failure. */
int event_fractions(Run *run, Host *only, const char *name, EventFractions *out, ProfErr *err);
void event_fractions_free(EventFractions *f);
/* Returns the average over the steps of all cores, or of those of `only`; NAN if there are none. */
double average_fraction(const EventFractions *f, const Host *only);

#endif
