// SPDX-License-Identifier: Apache-2.0
/* serving.c: connections on which SQL opens no path, for programs that run other people's SQL.
 *
 *   SELECT prof_attach('logs', 'mine'), prof_serve();
 *   SELECT * FROM kpi('mine');      -- and nothing else
 *
 * SQL names runs by label. A label is compared with those of attached runs and of runs found in the
 * served folder; it is never passed to the file system. SQL sees labels in place of paths. The
 * reason why a run cannot be read goes to standard error. */
#define _GNU_SOURCE
#include "attached.h"
SQLITE_EXTENSION_INIT3

#include <stdio.h>
#include <sys/stat.h>

void served_forget(Prof *prof)
{
    for (int i = 0; i < prof->n_served; i++) {
        sqlite3_free(prof->served[i].label);
        sqlite3_free(prof->served[i].path);
    }
    sqlite3_free(prof->served);
    prof->served = NULL, prof->n_served = 0;
}

/* ---- the runs in the folder ---- */

static bool is_taken(const Prof *prof, const char *label)
{
    for (int i = 0; i < prof->n_attached; i++)
        if (!strcmp(prof->attached[i].label, label)) return true;
    return served_known(prof, label, strlen(label)) != NULL;
}

/* Returns a run's name as SQL can write it: valid UTF-8, and different from other runs. */
static char *label_of(const Prof *prof, const char *name)
{
    size_t n = strlen(name);
    char *label = sqlite3_malloc64(3 * n + 1);
    if (!label) return NULL;
    label[utf8_repair((const uint8_t *)name, n, label)] = 0;
    char *unique = sqlite3_mprintf("%s", label);
    for (int i = 2; unique && is_taken(prof, unique); i++) {
        sqlite3_free(unique);
        unique = sqlite3_mprintf("%s (%d)", label, i);
    }
    sqlite3_free(label);
    return unique;
}

/* Lists the current content of the folder. */
static int scan(Prof *prof, Source **list, size_t *n, ProfErr *err)
{
    *list = NULL, *n = 0;
    Statement s;
    statement_open(&s, prof->db);
    int failed = prof->root ? source_find(prof->root, prof->root, list, n, err) : PROF_OK;
    statement_end(&s, err);
    served_hide_error(prof, "the runs", err);
    if (failed || err->code) return err->code;
    served_forget(prof);
    prof->served = sqlite3_malloc64((*n + 1) * sizeof *prof->served);
    for (size_t i = 0; prof->served && i < *n; i++) {
        ServedRun run = {label_of(prof, (*list)[i].name), sqlite3_mprintf("%s", (*list)[i].path)};
        prof->served[prof->n_served++] = run;
        if (!run.label || !run.path) {
            served_forget(prof);
            return prof_nomem(err);
        }
    }
    return prof->served ? PROF_OK : prof_nomem(err);
}

const ServedRun *served_known(const Prof *prof, const char *label, size_t n_bytes)
{
    for (int i = 0; i < prof->n_served; i++)
        if (strlen(prof->served[i].label) == n_bytes &&
            !memcmp(prof->served[i].label, label, n_bytes))
            return &prof->served[i];
    return NULL;
}

const ServedRun *served_run(Prof *prof, const char *label, size_t n_bytes, ProfErr *err)
{
    Source *list;
    size_t n;
    int failed = scan(prof, &list, &n, err);
    source_list_free(list, n);
    return failed ? NULL : served_known(prof, label, n_bytes);
}

/* Lists a run as prof_find() shows it. */
static bool list_as(Source *made, const char *label, size_t n_files, uint64_t size, int64_t mtime)
{
    *made = (Source){.n_files = n_files, .size_bytes = size, .mtime_ns = mtime};
    made->name = made->path = arena_alloc(&made->arena, strlen(label) + 1);
    return made->name && strcpy(made->name, label);
}

static bool list_attached(Source *made, const NamedRun *named)
{
    uint64_t size = 0;
    int64_t mtime = 0;
    for (size_t h = 0; h < named->run->n_hosts; h++) {
        const File *file = &named->run->hosts[h].file;
        size += file->disk_size;
        if (file->mtime_ns > mtime) mtime = file->mtime_ns;
    }
    return list_as(made, named->label, named->run->n_hosts, size, mtime);
}

int served_list(Prof *prof, Source **list, size_t *n, ProfErr *err)
{
    Source *found;
    size_t n_found, n_attached = (size_t)prof->n_attached;
    if (scan(prof, &found, &n_found, err)) {
        source_list_free(found, n_found);
        return err->code;
    }
    Source *made = prof_alloc((n_attached + n_found + 1) * sizeof *made);
    bool ok = made;
    for (size_t i = 0; ok && i < n_attached; i++) ok = list_attached(&made[i], &prof->attached[i]);
    for (size_t i = 0; ok && i < n_found; i++)
        ok = list_as(&made[n_attached + i], prof->served[i].label, found[i].n_files,
                     found[i].size_bytes, found[i].mtime_ns);
    source_list_free(found, n_found);
    if (!ok) {
        source_list_free(made, made ? n_attached + n_found : 0);
        return prof_nomem(err);
    }
    *list = made, *n = n_attached + n_found;
    return PROF_OK;
}

/* ---- what SQL may see ---- */

void served_hide_error(const Prof *prof, const char *label, ProfErr *err)
{
    if (!prof->serving || !err->code || is_fault_of_none(err->code)) return;
    fprintf(stderr, "libprofsql: %s: %s\n", label, err->text);
    int code = err->code;
    *err = (ProfErr){0};
    prof_fail(err, code, 0,
              "%s: cannot be read; the program that serves it has the reason on its standard error",
              label);
}

/* Returns the label for the path at the start of a text, and the path's length; NULL if there is
 * none. */
static const char *label_at(const Prof *prof, const char *text, size_t *n)
{
    const char *label = NULL;
    *n = 0;
    for (int i = 0; i < prof->n_attached + prof->n_served; i++) {
        bool is_attached = i < prof->n_attached;
        const ServedRun *served = is_attached ? NULL : &prof->served[i - prof->n_attached];
        const char *path = is_attached ? prof->attached[i].run->path : served->path;
        size_t k = strlen(path);
        if (k <= *n || strncmp(text, path, k)) continue;
        *n = k, label = is_attached ? prof->attached[i].label : served->label;
    }
    size_t n_root = prof->root ? strlen(prof->root) : 0;
    if (!label && n_root && !strncmp(text, prof->root, n_root)) *n = n_root, label = "(served)";
    return label;
}

char *served_text(const Prof *prof, const char *text)
{
    if (!prof->serving) return sqlite3_mprintf("%s", text);
    sqlite3_str *out = sqlite3_str_new(NULL);
    while (*text) {
        size_t n;
        const char *label = label_at(prof, text, &n);
        if (label)
            sqlite3_str_appendall(out, label), text += n;
        else
            sqlite3_str_appendchar(out, 1, *text++);
    }
    int rc = sqlite3_str_errcode(out);
    char *made = sqlite3_str_finish(out);
    if (rc != SQLITE_OK) {
        sqlite3_free(made);
        return NULL;
    }
    return made ? made : sqlite3_mprintf("");
}

/* ---- starting ---- */

int prof_serve(Prof *prof, const char *folder, ProfErr *err)
{
    char *root = folder ? realpath(folder, NULL) : NULL;
    if (folder && (!root || !is_folder(root))) {
        free(root);
        return prof_fail(err, PROF_NOTFOUND, 0,
                         "%s: is not a folder; give one whose runs SQL may read", folder);
    }
    char *copy = root ? sqlite3_mprintf("%s", root) : NULL;
    free(root);
    if (folder && !copy) return prof_nomem(err);
    for (int i = 0; i < prof->n_attached && !err->code; i++)
        refresh_attached(prof, &prof->attached[i], err); /* some may not have been read yet */
    if (err->code) {
        sqlite3_free(copy);
        return err->code;
    }
    prof->serving = true;
    prof_clear(prof); /* SQL may no longer use runs that were opened by path */
    if (!folder) return PROF_OK;
    served_forget(prof);
    sqlite3_free(prof->root);
    prof->root = copy;
    return PROF_OK;
}
