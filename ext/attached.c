// SPDX-License-Identifier: Apache-2.0
/* attached.c: the attached runs of a connection; see attached.h.
 *
 * With PROFSQL_CACHE, a run that was attached before and has not changed is not read at once, but
 * when a query needs it that has no kept answer. */
#include "attached.h"
#include "answers.h"
SQLITE_EXTENSION_INIT3

#include "../loader/issues.h"

NamedRun *prof_labelled(Prof *prof, const char *label, size_t n_bytes)
{
    for (int i = 0; i < prof->n_attached; i++)
        if (strlen(prof->attached[i].label) == n_bytes &&
            !memcmp(prof->attached[i].label, label, n_bytes))
            return &prof->attached[i];
    return NULL;
}

size_t length_of_label(const char *source)
{
    size_t n = strlen(source);
    while (n > 1 && source[n - 1] == '/') n--;
    return n;
}

NamedRun *prof_attached(Prof *prof, const char *source, const char **host)
{
    NamedRun *named = prof_labelled(prof, source, length_of_label(source));
    const char *slash = strrchr(source, '/');
    *host = NULL;
    if (named || !slash) return named;
    *host = slash + 1;
    return prof_labelled(prof, source, (size_t)(slash - source));
}

const char *named_path(const NamedRun *named)
{
    return named->run ? named->run->path : named->path;
}

void give_to_attached(Prof *prof, Run *run)
{
    for (int i = 0; i < prof->n_attached; i++)
        if (!prof->attached[i].run && !strcmp(prof->attached[i].path, run->path))
            prof->attached[i].run = run_ref(run);
}

/* Reads an attached run again if its files have changed. */
bool refresh_attached(const Prof *prof, NamedRun *named, ProfErr *err)
{
    if (named->run && run_is_current(named->run)) return true;
    size_t none; /* ignored, because the path is that of a run */
    Run *run = load_named(named_path(named), NULL, named->streaming, &none, err);
    served_hide_error(prof, named->label, err);
    if (!run) return false;
    run_unref(named->run);
    named->run = run;
    return true;
}

/* ---- runs that need not be read yet ---- */

enum { ATTACHED_NAME, ATTACHED_PATH, ATTACHED_OTHERS, N_ATTACHED };

/* Calls `use` with the question that an attached run answers by its name, path and n_others, and
 * its key. */
static bool ask_attached(NamedRun *named, Prof *prof, const char *path,
                         bool (*use)(NamedRun *, Prof *, const Question *, const char *key))
{
    sqlite3_value *value = text_value(prof->db, path);
    Question question = {"prof_attach", &value, 1, .sources = 1, .by_path = true};
    char *key = value ? answer_key(prof, &question) : NULL;
    bool done = key && use(named, prof, &question, key);
    sqlite3_free(key);
    sqlite3_value_free(value);
    return done;
}

static bool write_attached(NamedRun *named, Prof *prof, const Question *question, const char *key)
{
    sqlite3_stmt *stmt = NULL;
    Answer *answer = answer_new(N_ATTACHED);
    int rc = sqlite3_prepare_v2(prof->db, "SELECT ?1, ?2, ?3", -1, &stmt, NULL);
    if (rc == SQLITE_OK) {
        sqlite3_bind_text(stmt, 1, named->run->name, -1, SQLITE_STATIC);
        sqlite3_bind_text(stmt, 2, named->run->path, -1, SQLITE_STATIC);
        sqlite3_bind_int64(stmt, 3, (sqlite3_int64)named->n_others);
        bool made = answer && sqlite3_step(stmt) == SQLITE_ROW && answer_add(answer, 0, stmt, 0);
        if (made && !answer_key_differs(prof, question, key)) answer_write(answer, key);
    }
    sqlite3_finalize(stmt);
    answer_free(answer);
    return rc == SQLITE_OK;
}

static bool read_attached(NamedRun *named, Prof *prof, const Question *question, const char *key)
{
    (void)prof, (void)question;
    Answer *answer = answer_read(key, N_ATTACHED);
    if (answer && answer_next(answer)) {
        const char *label = answer_text(answer, ATTACHED_NAME),
                   *path = answer_text(answer, ATTACHED_PATH);
        named->label = label ? sqlite3_mprintf("%s", label) : NULL;
        named->path = path ? sqlite3_mprintf("%s", path) : NULL;
        named->n_others = (size_t)answer_integer(answer, ATTACHED_OTHERS);
    }
    answer_free(answer);
    return named->label && named->path;
}

/* Attaches a run without reading it. False if it has to be read, or is open: then it stays so. */
static bool attach_unread(Prof *prof, const char *path, const char *label, char **attached_as)
{
    NamedRun named = {0};
    bool ok = ask_attached(&named, prof, path, read_attached);
    if (ok && !label) label = named.label;
    ok = ok && !run_any_open(named.path) && !prof_labelled(prof, label, strlen(label)) &&
         (*attached_as = sqlite3_mprintf("%s", label)) &&
         add_named(&prof->attached, &prof->n_attached, label, NULL, named.n_others);
    if (ok) prof->attached[prof->n_attached - 1].path = named.path, named.path = NULL;
    if (!ok) sqlite3_free(*attached_as), *attached_as = NULL;
    named_free(&named);
    return ok;
}

/* ---- attaching ---- */

int prof_attach(Prof *prof, const char *path, const char *label, bool streaming, char **attached_as,
                char **message)
{
    ProfErr err = {0};
    *attached_as = NULL;
    if (!streaming && attach_unread(prof, path, label, attached_as)) return SQLITE_OK;
    Statement s;
    statement_open(&s, prof->db);
    size_t n_others;
    Run *run = load_named(path, NULL, streaming, &n_others, &err);
    statement_close(&s, SQLITE_OK);
    if (!run) return prof_error(prof, &err, message);
    if (!label) label = run->name;
    NamedRun *old = prof_labelled(prof, label, strlen(label));
    if (old && old->run != run && strcmp(named_path(old), run->path)) {
        *message = sqlite3_mprintf("%s: the run %s already has this label; give another label as "
                                   "the second argument, or call prof_detach('%s') first",
                                   label, named_path(old), label);
        run_unref(run);
        return SQLITE_ERROR;
    }
    *attached_as = sqlite3_mprintf("%s", label);
    if (!*attached_as) {
        run_unref(run);
        return SQLITE_NOMEM;
    }
    if (old) {
        run_unref(old->run);
        old->run = run;
        old->streaming = streaming;
        old->n_others = n_others;
    } else if (!add_named(&prof->attached, &prof->n_attached, label, run, n_others)) {
        run_unref(run);
        sqlite3_free(*attached_as);
        return SQLITE_NOMEM;
    } else {
        prof->attached[prof->n_attached - 1].streaming = streaming;
        if (!streaming && !run_has_losses(run, NULL))
            ask_attached(&prof->attached[prof->n_attached - 1], prof, path, write_attached);
    }
    return SQLITE_OK;
}

bool prof_detach(Prof *prof, const char *label)
{
    NamedRun *named = prof_labelled(prof, label, strlen(label));
    if (!named) return false;
    named_free(named);
    int i = (int)(named - prof->attached);
    memmove(named, named + 1, (size_t)(prof->n_attached - i - 1) * sizeof *named);
    prof->n_attached--;
    return true;
}
