// SPDX-License-Identifier: Apache-2.0
/* answers.h: answers that are kept in files, so that a later process need not read the run again.
 *
 * PROFSQL_CACHE names the folder; without it nothing is kept. A file holds the answer of one canned
 * query or table to one set of arguments. Its key is what it answers: the build of this library,
 * the name, the arguments, and the files of the runs with their sizes and times. A file counts only
 * if its key is that of the question and its checksum is right (answer_files.c).
 *
 * Nothing depends on keeping: whenever it fails, the answer is computed. Used under the
 * connection's mutex. */
#ifndef PROF_ANSWERS_H
#define PROF_ANSWERS_H

#include "prof.h"

/* ---- rows ---- */

typedef struct Answer Answer;
Answer *answer_new(int n_columns); /* NULL if memory runs out */
void answer_free(Answer *answer);
/* Appends the current row of a statement, from a column on, and its place. False, without the row,
 * if the answer has become too long to be kept or memory runs out. */
bool answer_add(Answer *answer, uint64_t place, sqlite3_stmt *stmt, int first_column);
uint64_t answer_n_rows(const Answer *answer);
int answer_n_columns(const Answer *answer);
void answer_rewind(Answer *answer); /* moves before the first row */
bool answer_next(Answer *answer);   /* false if there is no other row */
uint64_t answer_place(const Answer *answer);
void answer_result(const Answer *answer, sqlite3_context *ctx, int column);
/* Returns the text of a cell, which lives until the next answer_next(); NULL if it is none. */
const char *answer_text(const Answer *answer, int column);
sqlite3_int64 answer_integer(const Answer *answer, int column); /* 0 if it is none */

/* ---- files: answer_files.c ---- */

/* Returns the kept answer with this key, before its first row; NULL if there is none. */
Answer *answer_read(const char *key, int n_columns);
void answer_write(const Answer *answer, const char *key);
/* The encoded rows. */
const TextBuffer *answer_bytes(const Answer *answer);
/* Makes an answer of encoded rows, which it then owns. NULL, with the rows freed, if they are not
 * n_rows of n_columns values, or memory runs out. */
Answer *answer_of_bytes(TextBuffer *bytes, uint64_t n_rows, int n_columns);

/* ---- questions ---- */

/* A canned query or table with its arguments. */
typedef struct {
    const char *name;
    sqlite3_value *const *values; /* NULL: not given */
    int n_values;
    unsigned sources; /* a bit for each value that names runs; if none is given, the attached runs
                         count */
    bool explained;   /* that it has no rows is explained by a row of prof_issues */
    bool by_path;     /* the sources are paths, even those that are labels of attached runs */
} Question;
/* Returns the key of a question, freed with sqlite3_free(). NULL if its answer is not kept: no
 * PROFSQL_CACHE, a serving connection, a run attached by host, files that cannot be found. */
char *answer_key(Prof *prof, const Question *question);
/* Returns whether the key is that of another question, or of files that have changed since. */
bool answer_key_differs(Prof *prof, const Question *question, const char *key);
/* Writes an answer, unless it is empty and that is explained, a run of it is damaged, or its files
 * have changed since the key was made. So explanations, and warnings about damage, are given each
 * time. */
void answer_keep(Prof *prof, const Question *question, const Answer *answer, const char *key);

#endif
