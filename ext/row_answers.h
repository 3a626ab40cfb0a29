// SPDX-License-Identifier: Apache-2.0
/* row_answers.h: kept answers of row tables (vtab.c). */
#ifndef PROF_ROW_ANSWERS_H
#define PROF_ROW_ANSWERS_H

#include "prof.h"

/* Sets c->answer if all rows of the table are asked for and their answer is kept or can be kept.
 * letters: the plan of vtab.c. values: the source and the parameters, NULL where none is given.
 * Returns an SQLite code. */
int row_answer_open(RowCursor *c, const char *letters, sqlite3_value *const *values);
/* Moves to the next row of c->answer, or to the end. */
void row_answer_next(RowCursor *c);
/* Writes a column that is not an argument. */
void row_answer_column(const RowCursor *c, sqlite3_context *ctx, int column);
/* Returns the label of the row's run; NULL if the kept file has none. */
const char *row_answer_run(const RowCursor *c);

#endif
