// SPDX-License-Identifier: Apache-2.0
/* ask_sql.c: see ask_sql.h. */
#define _GNU_SOURCE
#include "ask_sql.h"

#include "base.h"
#include "beside.h"

#include <dlfcn.h>
#include <stdio.h>

enum { ROW = 100 /* SQLITE_ROW */, DONE = 101, MAX_COLUMNS = 16 };
typedef void (*Destructor)(void *);

/* Functions of sqlite3.h that are looked up at run time: F(result, name, parameters). */
#define SQLITE_FUNCTIONS(F)                                                                        \
    F(int, open, (const char *path, void **db))                                                    \
    F(int, close, (void *db))                                                                      \
    F(int, enable_load_extension, (void *db, int on))                                              \
    F(int, load_extension, (void *db, const char *file, const char *entry, char **error))          \
    F(int, prepare_v2, (void *db, const char *sql, int n, void **statement, const char **tail))    \
    F(int, bind_text, (void *statement, int at, const char *text, int n, Destructor))              \
    F(int, step, (void *statement))                                                                \
    F(int, column_count, (void *statement))                                                        \
    F(const unsigned char *, column_text, (void *statement, int column))                           \
    F(int, finalize, (void *statement))                                                            \
    F(const char *, errmsg, (void *db))                                                            \
    F(void, free, (void *))
typedef struct {
#define AS_POINTER(result, name, parameters) result(*name) parameters;
    SQLITE_FUNCTIONS(AS_POINTER)
#undef AS_POINTER
} Sqlite;

static bool find_sqlite(Sqlite *s)
{
    void *library = dlopen("libsqlite3.so.0", RTLD_NOW | RTLD_LOCAL);
    const struct {
        const char *name;
        void *to;
    } functions[] = {
#define AS_ENTRY(result, name, parameters) {"sqlite3_" #name, &s->name},
        SQLITE_FUNCTIONS(AS_ENTRY)
#undef AS_ENTRY
    };
    for (size_t i = 0; i < COUNT(functions) && library; i++) {
        void *symbol = dlsym(library, functions[i].name);
        if (!symbol) return false;
        memcpy(functions[i].to, &symbol,
               sizeof symbol); /* copies a function's address from the object pointer of dlsym() */
    }
    return library != NULL;
}

static int step_rows(const Sqlite *s, void *statement,
                     void (*row)(void *context, const char *const *texts, int n), void *context)
{
    int rc, n = s->column_count(statement);
    const char *texts[MAX_COLUMNS];
    while ((rc = s->step(statement)) == ROW) {
        for (int i = 0; i < n && i < MAX_COLUMNS; i++)
            texts[i] = (const char *)s->column_text(statement, i);
        row(context, texts, n);
    }
    return rc;
}

bool ask_sql(const char *sql, const char *parameter,
             void (*row)(void *context, const char *const *texts, int n), void *context, char *why,
             size_t n_why)
{
    Sqlite s;
    char extension[4096], *error = NULL;
    void *db = NULL, *statement = NULL;
    if (!find_library_beside("libprofsql.so", extension, sizeof extension)) {
        snprintf(why, n_why, "libprofsql.so is neither next to this command nor installed");
        return false;
    }
    /* SQLite would name the reason for another name that it tries last. */
    if (!dlopen(extension, RTLD_NOW | RTLD_LOCAL)) {
        snprintf(why, n_why, "%s", dlerror());
        return false;
    }
    if (!find_sqlite(&s)) {
        snprintf(why, n_why, "libsqlite3.so.0 cannot be loaded, or loads no extensions");
        return false;
    }
    bool ok = !s.open(":memory:", &db) && !s.enable_load_extension(db, 1) &&
              !s.load_extension(db, extension, NULL, &error) &&
              !s.prepare_v2(db, sql, -1, &statement, NULL) &&
              !s.bind_text(statement, 1, parameter, -1, NULL) &&
              step_rows(&s, statement, row, context) == DONE;
    const char *reason = db ? s.errmsg(db) : "no memory";
    if (!ok) snprintf(why, n_why, "%s", error ? error : reason);
    s.free(error);
    s.finalize(statement);
    s.close(db);
    return ok;
}
