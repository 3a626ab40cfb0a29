// SPDX-License-Identifier: Apache-2.0
/* step_rows.h: shared by the tables of steps.
 *
 * If XProf has no steps, the steps that Keras 3 marks are shown, with outside_xprof = 1 and NULL in
 * XProf's columns. */
#ifndef PROF_STEP_ROWS_H
#define PROF_STEP_ROWS_H

#include "../loader/analysis/steps/steps.h"
#include "prof.h"

void result_ps(sqlite3_context *ctx, uint64_t ps);
/* Writes a text; NULL for NULL. */
void result_name(sqlite3_context *ctx, const char *name);

#endif
