// SPDX-License-Identifier: Apache-2.0
/* arrow.h: record batches as they are made, and the streams that make them.
 *
 * arrow.c has the functions of profsql_arrow.h, arrow_batch.c the memory of batches and how they
 * are handed out, arrow_rows.c the rows of a statement, arrow_events.c events from memory. */
#ifndef PROF_ARROW_H
#define PROF_ARROW_H

#include "prof.h"
#include "profsql_arrow.h"

/* ---- batches: arrow_batch.c ---- */

enum ArrowType { ARROW_NULL, ARROW_INTEGER, ARROW_REAL, ARROW_TEXT, ARROW_BLOB, ARROW_NAMES };

/* A dictionary: different texts, numbered from 0. Shared by the batches of a stream, and counted.
 */
typedef struct ArrowNames ArrowNames;
ArrowNames *arrow_names_new(void);
ArrowNames *arrow_names_ref(ArrowNames *names);
void arrow_names_unref(ArrowNames *names); /* also NULL */
/* Adds a text if it is not there, before the first batch is handed out. Returns its number; -1: no
 * memory, or 2 GiB of text. */
int32_t arrow_names_add(ArrowNames *names, const char *text, size_t n_bytes);

/* The values of one column. Rows are written in order, or anywhere if the type has fixed width. */
typedef struct {
    enum ArrowType type;
    int64_t n_nulls;
    uint8_t *valid; /* bit per row; NULL: no NULL so far */
    union {         /* by type; of TEXT and BLOB: where each value ends */
        void *values;
        int64_t *integers;
        double *reals;
        int32_t *codes, *ends;
    };
    char *bytes; /* of TEXT and BLOB */
    size_t n_bytes, capacity;
    ArrowNames *names; /* of NAMES; the batch has a reference */
} ArrowColumn;

typedef struct {
    ArrowColumn *columns;
    int n_columns;
    int64_t n, room; /* rows; rows that there is memory for */
} ArrowBatch;

/* Makes room for so many rows in a column that has its type (and names), or for so many rows in
 * all. Small answers are kept for long: they have no memory for a full batch. */
NODISCARD bool arrow_column_open(ArrowColumn *column, int64_t n_rows);
NODISCARD bool arrow_batch_grow(ArrowBatch *batch, int64_t n_rows);
void arrow_column_free(ArrowColumn *column);
NODISCARD bool arrow_set_null(ArrowColumn *column, int64_t row);
/* Appends a value of TEXT or BLOB. */
NODISCARD bool arrow_append(ArrowColumn *column, int64_t row, const void *bytes, size_t n_bytes);
/* Gives columns to whoever takes the array; the batch is then empty. Returns 0 or ENOMEM. */
int arrow_hand_out(ArrowBatch *batch, struct ArrowArray *out);
void arrow_batch_free(ArrowBatch *batch); /* its columns, and the array of them */

/* ---- streams ---- */

typedef struct {
    char *name; /* of sqlite3_mprintf() */
    enum ArrowType type;
} ArrowField;

/* What makes a stream's batches. */
typedef struct ArrowMaker {
    ArrowField *fields;
    int n_fields;
    /* Fills an empty batch; n stays 0 at the end. An SQLite code; *message is set on errors. */
    int (*next)(struct ArrowMaker *maker, ArrowBatch *batch, char **message);
    void (*close)(struct ArrowMaker *maker); /* frees it, but not the fields */
} ArrowMaker;

void arrow_fields_free(ArrowMaker *maker);

/* Makers; NULL with *rc and *message set on errors. */
ArrowMaker *arrow_rows(sqlite3_stmt *stmt, int *rc, char **message); /* takes the statement */
ArrowMaker *arrow_events(sqlite3 *db, const char *source, const ProfsqlArrowOptions *options,
                         int *rc, char **message);
bool arrow_events_has(const char *column); /* is it one of arrow_events()? */

#endif
