// SPDX-License-Identifier: Apache-2.0
/* functions.h: SQL functions as lists: the entry points register all lists in the same way, and
 * prof_functions shows them. */
#ifndef PROF_FUNCTIONS_H
#define PROF_FUNCTIONS_H

#include <stddef.h>

#include "sqlite3ext.h"

enum { FUNCTION_SCALAR, FUNCTION_AGGREGATE, FUNCTION_WINDOW };

/* A scalar function has xFunc; an aggregate xStep and xFinal; a window function also xValue and
 * xInverse. The user data of callbacks that read it is the connection's Prof. */
typedef struct {
    const char *name;
    int n_args; /* -1: any number */
    int kind;   /* FUNCTION_... */
    int flags;  /* for sqlite3_create_function_v2() */
    void (*xFunc)(sqlite3_context *, int, sqlite3_value **);
    void (*xStep)(sqlite3_context *, int, sqlite3_value **);
    void (*xFinal)(sqlite3_context *);
    void (*xValue)(sqlite3_context *);
    void (*xInverse)(sqlite3_context *, int, sqlite3_value **);
    const char *signature, *unit, *description, *origin;
    const char *since, *example; /* first version that has it; a query that shows its use */
} FunctionDef;

/* Deterministic and harmless with any arguments: may be used in indexes, views and triggers of any
 * schema. */
#define FUNCTION_PURE (SQLITE_UTF8 | SQLITE_DETERMINISTIC | SQLITE_INNOCUOUS)

extern const FunctionDef interval_functions[];
extern const int n_interval_functions;
extern const FunctionDef padding_functions[];
extern const int n_padding_functions;
extern const FunctionDef statistics_functions[];
extern const int n_statistics_functions;
extern const FunctionDef scope_functions[];
extern const int n_scope_functions;
extern const FunctionDef flops_functions[]; /* the user data of peak_flops is the Prof */
extern const int n_flops_functions;
extern const FunctionDef chart_functions[];
extern const int n_chart_functions;

/* Fails the call with a message that contains one %s, the function's name. */
void function_error(sqlite3_context *ctx, const char *format, const char *name);

/* Returns the array, moved by sqlite3_realloc64() to a place with room for more items than
 * *capacity. NULL if memory runs out: then the old array and *capacity are unchanged, and the
 * caller still frees the array. */
void *functions_grow(void *array, sqlite3_int64 *capacity, size_t item_size);

#endif
