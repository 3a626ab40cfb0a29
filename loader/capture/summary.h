// SPDX-License-Identifier: Apache-2.0
/* summary.h: what a profile contains, on one screen: the canned query capture_summary. */
#ifndef PROF_CAPTURE_SUMMARY_H
#define PROF_CAPTURE_SUMMARY_H

#include <stdbool.h>
#include <stddef.h>

/* Prints the lines of the query on standard error. False if it could not be run: `why` says what is
 * missing. */
bool summary_print(const char *source, char *why, size_t n_why);

#endif
