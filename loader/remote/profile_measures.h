// SPDX-License-Identifier: Apache-2.0
/* profile_measures.h: what Monitor measures, of a profile: for servers that do not monitor. */
#ifndef PROF_REMOTE_PROFILE_MEASURES_H
#define PROF_REMOTE_PROFILE_MEASURES_H

#include "remote.h"

/* The SQL about a run, with one parameter. Its row has these columns, NULL where unknown. */
enum {
    MEASURE_HARDWARE,
    MEASURE_IDLE,
    MEASURE_UTILIZATION,
    MEASURE_STEP, /* average, least, most */
    MEASURE_INPUT = MEASURE_STEP + 3,
    N_MEASURES
};
extern const char profile_measures_sql[];

/* Takes a short profile of one address into a temporary folder, whose name goes to `logdir`. It is
 * removed with remove_temporary(). */
enum RemoteOutcome profile_measures_capture(const RemoteCapture *like, const char *address,
                                            char logdir[4096], ProfErr *err);
void remove_temporary(const char *logdir);

/* A number with three significant digits, without an exponent. NAN is "unknown". */
void print_measure(double value, const char *unit, char *out, size_t n_out);
/* The lines of capture_tpu_profile, at a level, marked as measured from a profile. */
void print_measures(const RemoteMeasures *m, const char *hardware, int level, int64_t duration_ms,
                    char *out, size_t n_out);

#endif
