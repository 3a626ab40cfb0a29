// SPDX-License-Identifier: Apache-2.0
/* arguments.c: hidden columns as arguments: which terms of a query give them, which sources they
 * name, and rowids that distinguish the rows of different arguments.
 *
 * SQLite splits `source = 'a' OR source = 'b'` into two scans and merges them by rowid: a row whose
 * rowid the other scan has returned is dropped. So a rowid consists of a number for the arguments
 * and the run, and of the row's place in that run:
 *
 *   bit 62 is 0: number in 6 bits, place in 56 bits
 *   bit 62 is 1: number - 64 in 18 bits, place in 44 bits
 *
 * A number is assigned when SQLite first asks for a rowid, and kept until the last cursor of the
 * table closes. */
#include "prof.h"
SQLITE_EXTENSION_INIT3

/* ---- plans ---- */

bool prof_plan_arguments(const sqlite3_index_info *info, int first, int n, ArgumentTerms *terms)
{
    /* All columns from this one on share a bit of colUsed. Arguments come before them; a test
     * checks that. */
    enum { COLUMNS_OF_COLUSED = 63 };
    unsigned unusable = 0, absent = 0;
    *terms = (ArgumentTerms){.missing = -1};
    for (int k = 0; k < MAX_ARGUMENTS; k++) terms->term[k] = -1;
    for (int i = 0; i < info->nConstraint; i++) {
        const struct sqlite3_index_constraint *c = &info->aConstraint[i];
        if (c->op >= SQLITE_INDEX_CONSTRAINT_LIMIT && c->op <= SQLITE_INDEX_CONSTRAINT_OFFSET)
            continue; /* LIMIT and OFFSET have no column */
        int k = c->iColumn - first;
        if (k < 0 || k >= n || k >= MAX_ARGUMENTS) continue;
        if (c->op == SQLITE_INDEX_CONSTRAINT_ISNULL) absent |= 1u << k;
        if (c->op != SQLITE_INDEX_CONSTRAINT_EQ && c->op != SQLITE_INDEX_CONSTRAINT_IS) continue;
        if (!c->usable)
            unusable |= 1u << k;
        else if (terms->term[k] < 0)
            terms->term[k] = i;
        else
            terms->twice = true;
    }
    for (int k = n < MAX_ARGUMENTS ? n - 1 : MAX_ARGUMENTS - 1; k >= 0; k--) {
        if (terms->term[k] >= 0) continue;
        if (unusable >> k & 1) return false;
        bool named = first + k < COLUMNS_OF_COLUSED && info->colUsed >> (first + k) & 1;
        if (named && !(absent >> k & 1)) terms->missing = k;
    }
    return true;
}

int prof_argument_missing(sqlite3_vtab *vtab, const char *table, const char *column)
{
    return prof_table_fail(
        vtab, SQLITE_ERROR,
        sqlite3_mprintf("%s: a part of the query reads the argument %s without setting it; write "
                        "%s = X or %s IN (X, Y) in every part of an OR, combine queries with UNION "
                        "ALL, or add %s IS NULL to leave it unset",
                        table, column, column, column, column));
}

/* ---- sources ---- */

bool has_nul(sqlite3_value *value)
{
    const char *text = (const char *)sqlite3_value_text(value);
    return text && strlen(text) != (size_t)sqlite3_value_bytes(value);
}

void source_names_free(SourceNames *names)
{
    for (int i = 0; i < names->n; i++) sqlite3_free(names->names[i]);
    sqlite3_free(names->names);
    *names = (SourceNames){0};
}

static int add_name(SourceNames *names, sqlite3_vtab *vtab, sqlite3_value *value)
{
    const char *text = (const char *)sqlite3_value_text(value);
    if (!text) return SQLITE_NOMEM;
    if (has_nul(value))
        return prof_table_fail(vtab, SQLITE_ERROR, sqlite3_mprintf(SOURCE_WITH_NUL, text));
    char **grown = sqlite3_realloc64(names->names, (sqlite3_uint64)(names->n + 1) * sizeof *grown);
    if (!grown) return SQLITE_NOMEM;
    names->names = grown;
    if (!(grown[names->n] = sqlite3_mprintf("%s", text))) return SQLITE_NOMEM;
    names->n++;
    return SQLITE_OK;
}

int source_names_read(SourceNames *names, sqlite3_vtab *vtab, sqlite3_value *value, bool is_list)
{
    names->given = is_list || sqlite3_value_type(value) != SQLITE_NULL;
    if (!is_list) return names->given ? add_name(names, vtab, value) : SQLITE_OK;
    sqlite3_value *item = NULL;
    int rc = sqlite3_vtab_in_first(value, &item);
    for (; rc == SQLITE_OK && item; rc = sqlite3_vtab_in_next(value, &item))
        if (sqlite3_value_type(item) != SQLITE_NULL &&
            (rc = add_name(names, vtab, item)) != SQLITE_OK)
            return rc; /* nothing is IN (NULL) */
    return rc == SQLITE_DONE ? SQLITE_OK : rc;
}

bool source_names_equal(const SourceNames *a, const SourceNames *b)
{
    if (a->given != b->given || a->n != b->n) return false;
    for (int i = 0; i < a->n; i++)
        if (strcmp(a->names[i], b->names[i])) return false;
    return true;
}

/* ---- rowids ---- */

enum {
    FEW_NUMBERS = 1 << 6,
    MANY_NUMBERS = 1 << 18,
    FEW_SHIFT = 56,
    MANY_SHIFT = 44,
    MANY_BIT = 62
};

void rowids_open(Rowids *rowids) { rowids->n_cursors++; }

void rowids_close(Rowids *rowids)
{
    if (--rowids->n_cursors) return;
    for (int i = 0; i < rowids->n; i++) sqlite3_free(rowids->sorted[i].key);
    sqlite3_free(rowids->sorted);
    *rowids = (Rowids){0};
}

static void add_value(sqlite3_str *key, sqlite3_value *value)
{
    int type = value ? sqlite3_value_type(value) : SQLITE_NULL;
    sqlite3_int64 integer = type == SQLITE_INTEGER ? sqlite3_value_int64(value) : 0;
    if (type == SQLITE_NULL) {
        sqlite3_str_appendall(key, "n,");
    } else if (type == SQLITE_FLOAT ||
               (integer > -((sqlite3_int64)1 << 53) && integer < (sqlite3_int64)1 << 53 &&
                type == SQLITE_INTEGER)) {
        sqlite3_str_appendf(key, "r%!.17g,", sqlite3_value_double(value)); /* 2 and 2.0 are equal */
    } else if (type == SQLITE_INTEGER) {
        sqlite3_str_appendf(key, "i%lld,", integer);
    } else {
        const char *bytes = type == SQLITE_BLOB ? sqlite3_value_blob(value)
                                                : (const char *)sqlite3_value_text(value);
        int n = sqlite3_value_bytes(value);
        sqlite3_str_appendf(key, "%c%d:", type == SQLITE_BLOB ? 'b' : 't', n);
        if (bytes) sqlite3_str_append(key, bytes, n);
    }
}

static int compare_keys(const char *a, int n_a, const RowidKey *b)
{
    int c = memcmp(a, b->key, (size_t)(n_a < b->n_bytes ? n_a : b->n_bytes));
    return c ? c : n_a - b->n_bytes;
}

/* Returns the number of a key and takes ownership of it. -1: memory ran out; -2: there are too
 * many. */
static int number_of(Rowids *rowids, char *key, int n_bytes)
{
    int low = 0, high = rowids->n;
    while (low < high) {
        int middle = (low + high) / 2, c = compare_keys(key, n_bytes, &rowids->sorted[middle]);
        if (!c) {
            sqlite3_free(key);
            return rowids->sorted[middle].number;
        }
        if (c < 0)
            high = middle;
        else
            low = middle + 1;
    }
    int number = rowids->n < FEW_NUMBERS + MANY_NUMBERS ? rowids->n : -2;
    if (number >= 0 && rowids->n == rowids->capacity) {
        int capacity = rowids->capacity ? 2 * rowids->capacity : 8;
        RowidKey *grown =
            sqlite3_realloc64(rowids->sorted, (sqlite3_uint64)capacity * sizeof *grown);
        if (grown) rowids->sorted = grown, rowids->capacity = capacity;
        if (!grown) number = -1;
    }
    if (number < 0) {
        sqlite3_free(key);
        return number;
    }
    memmove(&rowids->sorted[low + 1], &rowids->sorted[low],
            (size_t)(rowids->n - low) * sizeof *rowids->sorted);
    rowids->sorted[low] = (RowidKey){key, n_bytes, number};
    rowids->n++;
    return number;
}

int rowids_number(Rowids *rowids, const char *source, const char *run, sqlite3_value *const *values,
                  int n_values, int *number)
{
    sqlite3_str *key = sqlite3_str_new(NULL);
    sqlite3_str_appendf(key, "%Q,%Q,", source, run);
    for (int i = 0; i < n_values; i++) add_value(key, values[i]);
    int n_bytes = sqlite3_str_length(key), rc = sqlite3_str_errcode(key);
    char *text = sqlite3_str_finish(key);
    if (rc != SQLITE_OK || !text) {
        sqlite3_free(text);
        return SQLITE_NOMEM;
    }
    int found = number_of(rowids, text, n_bytes);
    if (found == -1) return SQLITE_NOMEM;
    *number = found;
    return SQLITE_OK;
}

int rowids_make(sqlite3_vtab *vtab, const char *table, int number, uint64_t place,
                sqlite3_int64 *rowid)
{
    bool few = number >= 0 && number < FEW_NUMBERS;
    if (number < 0 || place >> (few ? FEW_SHIFT : MANY_SHIFT))
        return prof_table_fail(
            vtab, SQLITE_ERROR,
            sqlite3_mprintf(
                "%s: too many sources or rows for SQLite to merge the parts of an OR; write UNION "
                "ALL instead of OR, or put a + before the columns of the OR other than source",
                table));
    if (few)
        *rowid = (sqlite3_int64)((uint64_t)number << FEW_SHIFT | place);
    else
        *rowid = (sqlite3_int64)((uint64_t)1 << MANY_BIT |
                                 (uint64_t)(number - FEW_NUMBERS) << MANY_SHIFT | place);
    return SQLITE_OK;
}

uint64_t rowids_place(sqlite3_int64 rowid)
{
    int bits = (uint64_t)rowid >> MANY_BIT ? MANY_SHIFT : FEW_SHIFT;
    return (uint64_t)rowid & (((uint64_t)1 << bits) - 1);
}
