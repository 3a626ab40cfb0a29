// SPDX-License-Identifier: Apache-2.0
/* convert.h: a spool becomes <host>.xplane.pb beside it. */
#ifndef PROF_CAPTURE_CONVERT_H
#define PROF_CAPTURE_CONVERT_H

#include "options.h"

/* Writes the profile of a spool that nobody writes to any more; the spool goes, or with
 * options->keep_spool is renamed to NAME.kept.spool. The file is <run>/<host>.xplane.pb, or
 * <host>.<pid>.xplane.pb where that one exists. Its path goes to `written`. Memory is bounded by
 * SORT_BYTES and by the distinct names. On failure err is set, the spool stays, and there is no
 * half-written profile. */
int convert_spool(const char *spool_path, const CaptureOptions *options, char *written, size_t n,
                  ProfErr *err);
/* Is this a spool that was kept after its profile was made? */
bool convert_is_kept(const char *path);
/* Was this spool made by a program that the command of this token ran? */
bool convert_is_of(const char *spool_path, const char *token);

#endif
