// SPDX-License-Identifier: Apache-2.0
/* profile_measures.h: computes what Monitor measures from a profile, for servers that do not
 * monitor. */
#ifndef PROF_REMOTE_PROFILE_MEASURES_H
#define PROF_REMOTE_PROFILE_MEASURES_H

#include "remote.h"

/* Columns of the SQL about a run, which has one parameter; NULL if unknown. */
enum {
    MEASURE_HARDWARE,
    MEASURE_IDLE,
    MEASURE_UTILIZATION,
    MEASURE_STEP, /* average, least, most */
    MEASURE_INPUT = MEASURE_STEP + 3,
    N_MEASURES
};
extern const char profile_measures_sql[];

/* Takes a short profile of one address into a temporary folder, whose path is written to `logdir`.
 * Remove it with remove_folder(). */
enum RemoteOutcome profile_measures_capture(const RemoteCapture *like, const char *address,
                                            char logdir[4096], ProfErr *err);
bool remove_folder(const char *path);

/* Writes the lines of capture_tpu_profile at a level, marked as measured from a profile. */
void print_measures(const RemoteMeasures *m, const char *hardware, int level, int64_t duration_ms,
                    char *out, size_t n_out);

#endif
