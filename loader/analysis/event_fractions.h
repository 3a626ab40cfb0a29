// SPDX-License-Identifier: Apache-2.0
/* event_fractions.h: which part of its steps a TensorCore spends in events of a name: XProf's event time fractions. */
#ifndef PROF_EVENT_FRACTIONS_H
#define PROF_EVENT_FRACTIONS_H

#include "../run.h"

/* One TensorCore. */
typedef struct {
    const Plane *plane;
    const float *fractions; /* of its steps with such events, by group; may pass 1 */
    size_t n;
} CoreFractions;

typedef struct {
    CoreFractions *cores; /* those with such events in a step */
    size_t n_cores;
    Arena arena;
} EventFractions;

/* Events whose name contains `name`, on any line of a TensorCore, with the device's own duration, be it 0; others are not counted, nor
 * are barriers (`barrier-cores`) of no length and of 1250 ps, which waited for nobody. Of three and more steps with such events
 * the first and the last do not count, of two not the one that is shorter than 1 % of the other. XProf adds the events' shares as
 * floats in the order of a hash, another each time: its last digits are no-one's. Freed by the caller, also on failure. */
int event_fractions(Run *run, Host *only, const char *name, EventFractions *out, ProfErr *err);
void event_fractions_free(EventFractions *f);
/* The average over the steps of all cores, or of one host's; NAN without any. */
double average_fraction(const EventFractions *f, const Host *only);

#endif
