// SPDX-License-Identifier: Apache-2.0
/* step_rows.h: what the tables of steps share.
 *
 * If XProf has no step at all, the steps that Keras 3 marks are shown: outside_xprof = 1, XProf's
 * columns NULL. */
#ifndef PROF_STEP_ROWS_H
#define PROF_STEP_ROWS_H

#include "../loader/analysis/steps/steps.h"
#include "prof.h"

void result_ps(sqlite3_context *ctx, uint64_t ps);
/* NULL for NULL. */
void result_name(sqlite3_context *ctx, const char *name);

#endif
