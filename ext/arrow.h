// SPDX-License-Identifier: Apache-2.0
/* arrow.h: builds record batches, and the streams that return them.
 *
 * arrow.c has the functions of profsql_arrow.h, arrow_batch.c the memory of batches and how callers
 * get them, arrow_rows.c the rows of a statement, arrow_events.c events from memory. */
#ifndef PROF_ARROW_H
#define PROF_ARROW_H

#include "prof.h"
#include "profsql_arrow.h"

/* ---- batches: arrow_batch.c ---- */

enum ArrowType { ARROW_NULL, ARROW_INTEGER, ARROW_REAL, ARROW_TEXT, ARROW_BLOB, ARROW_NAMES };

/* A dictionary of different texts, numbered from 0. The batches of a stream share it; it is
 * reference-counted. */
typedef struct ArrowNames ArrowNames;
ArrowNames *arrow_names_new(void);
ArrowNames *arrow_names_ref(ArrowNames *names);
void arrow_names_unref(ArrowNames *names); /* may be NULL */
/* Adds a text unless it is there. Only before the first batch is handed out. Returns its number; -1
 * if memory runs out or the texts exceed 2 GiB. */
int32_t arrow_names_add(ArrowNames *names, const char *text, size_t n_bytes);

/* The values of one column. Rows are written in order, or anywhere if the type has fixed width. */
typedef struct {
    enum ArrowType type;
    int64_t n_nulls;
    uint8_t *valid; /* bit per row; NULL: all values are valid */
    union {         /* by type; for TEXT and BLOB: where each value ends */
        void *values;
        int64_t *integers;
        double *reals;
        int32_t *codes, *ends;
    };
    char *bytes; /* for TEXT and BLOB */
    size_t n_bytes, capacity;
    ArrowNames *names; /* for NAMES; the batch owns a reference */
} ArrowColumn;

typedef struct {
    ArrowColumn *columns;
    int n_columns;
    int64_t n, room; /* number of rows; rows that fit into the memory */
} ArrowBatch;

/* Makes room for n_rows in a column whose type (and names) are set, or for room rows in total.
 * Small answers do not get memory for a full batch, because callers keep them for a long time. */
NODISCARD bool arrow_column_open(ArrowColumn *column, int64_t n_rows);
NODISCARD bool arrow_batch_grow(ArrowBatch *batch, int64_t n_rows);
void arrow_column_free(ArrowColumn *column);
NODISCARD bool arrow_set_null(ArrowColumn *column, int64_t row);
/* Appends a TEXT or BLOB value. */
NODISCARD bool arrow_append(ArrowColumn *column, int64_t row, const void *bytes, size_t n_bytes);
/* Moves the columns to *out; the batch is then empty. Returns 0 or ENOMEM. */
int arrow_hand_out(ArrowBatch *batch, struct ArrowArray *out);
void arrow_batch_free(ArrowBatch *batch); /* frees the columns and their array */

/* ---- streams ---- */

typedef struct {
    char *name; /* from sqlite3_mprintf() */
    enum ArrowType type;
} ArrowField;

/* Creates the batches of a stream. */
typedef struct ArrowMaker {
    ArrowField *fields;
    int n_fields;
    /* Fills an empty batch; n stays 0 at the end. Returns an SQLite code; *message is set on
     * errors. */
    int (*next)(struct ArrowMaker *maker, ArrowBatch *batch, char **message);
    void (*close)(struct ArrowMaker *maker); /* frees the maker, but not the fields */
} ArrowMaker;

void arrow_fields_free(ArrowMaker *maker);

/* Create makers. NULL with *rc and *message set on errors. */
/* takes ownership of the statement */
ArrowMaker *arrow_rows(sqlite3_stmt *stmt, int *rc, char **message);
ArrowMaker *arrow_events(sqlite3 *db, const char *source, const ProfsqlArrowOptions *options,
                         int *rc, char **message);
bool arrow_events_has(const char *column); /* whether arrow_events() has the column */

#endif
