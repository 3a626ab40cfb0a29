// SPDX-License-Identifier: Apache-2.0
/* convert.h: converts a spool to <host>.xplane.pb in its run folder. */
#ifndef PROF_CAPTURE_CONVERT_H
#define PROF_CAPTURE_CONVERT_H

#include "options.h"

/* Converts a spool to which no process writes any more. The spool is deleted; with
 * options->keep_spool it is renamed to NAME.kept.spool. The profile is <run>/<host>.xplane.pb, or
 * <host>.<pid>.xplane.pb if that exists; its path is copied to `written`. Memory is bounded by
 * SORT_BYTES and by the number of different names. On failure err is set, the spool stays, and
 * there is no incomplete profile. */
int convert_spool(const char *spool_path, const CaptureOptions *options, char *written, size_t n,
                  ProfErr *err);
/* Returns whether the spool was kept after its profile was written. */
bool convert_is_kept(const char *path);
/* Returns whether the spool was written by a program that the command with this token ran. */
bool convert_is_of(const char *spool_path, const char *token);

#endif
