// SPDX-License-Identifier: Apache-2.0
/* summary.h: what a profile contains, on one screen: the canned query capture_summary, asked by the
 * command. */
#ifndef PROF_CAPTURE_SUMMARY_H
#define PROF_CAPTURE_SUMMARY_H

#include <stdbool.h>
#include <stddef.h>

/* Prints the query's lines on standard error. False when it could not be asked: `why` says what was
 * missing. */
bool summary_print(const char *source, char *why, size_t n_why);

#endif
