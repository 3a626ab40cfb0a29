// SPDX-License-Identifier: Apache-2.0
/* source.c: finding runs in the file system; see source.h. */
#define _GNU_SOURCE
#include "source.h"

#include "base/file.h"
#include "base/hash_table.h"
#include "base/list.h"
#include "reader.h"
#include "base/interrupt.h"
#include "base/sort.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

/* Returns the length of a file's name without its suffix. 0 if it has no suffix of a profile or,
 * with of_program, of a program. */
static size_t stem_length(const char *file_name, bool of_program)
{
    size_t stem = 0;
    const Reader *reader = reader_of_name(file_name, &stem);
    return reader && reader->is_program == of_program ? stem : 0;
}

static size_t profile_name_length(const char *file_name) { return stem_length(file_name, false); }
size_t program_name_length(const char *file_name) { return stem_length(file_name, true); }

size_t host_name_length(const char *file_name)
{
    size_t stem;
    return reader_of_name(file_name, &stem) ? stem : strlen(file_name);
}

static char *copy(Arena *arena, const char *s, size_t n)
{
    char *to = arena_alloc(arena, n + 1);
    return to ? memcpy(to, s, n) : NULL;
}

static char *join(Arena *arena, const char *folder, const char *name)
{
    size_t n = strlen(folder), k = strlen(name);
    while (n > 1 && folder[n - 1] == '/') n--;
    char *to = arena_alloc(arena, n + k + 2);
    if (!to) return NULL;
    memcpy(to, folder, n);
    if (!n || folder[n - 1] != '/') to[n++] = '/';
    memcpy(to + n, name, k);
    return to;
}

void source_free(Source *source)
{
    prof_free(source->files);
    prof_free(source->programs);
    arena_free(&source->arena);
    *source = (Source){0};
}

void source_list_free(Source *list, size_t n)
{
    for (size_t i = 0; i < n; i++) source_free(&list[i]);
    prof_free(list);
}

static int by_text(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* Returns whether a path, with all its links resolved, leads into a folder. `folder` has no links.
 */
static bool is_within(const char *path, const char *folder)
{
    char *real = folder ? realpath(path, NULL) : NULL;
    size_t n = folder ? strlen(folder) : 0;
    while (n && folder[n - 1] == '/') n--;
    bool within = !folder || (real && !strncmp(real, folder, n) && (!real[n] || real[n] == '/'));
    free(real);
    return within;
}

static int add_file(Source *source, const char *folder, const char *name, const char *within,
                    char ***files, size_t *n, size_t *capacity, ProfErr *err)
{
    char *path = join(&source->arena, folder, name);
    uint64_t size;
    int64_t mtime;
    if (!path || !prof_grow(files, *n, capacity, sizeof **files)) return prof_nomem(err);
    if (!is_within(path, within)) return PROF_OK;
    if (!file_identity(path, &size, &mtime)) return PROF_OK;
    (*files)[(*n)++] = path;
    if (files != &source->files) return PROF_OK;
    source->size_bytes += size;
    if (mtime > source->mtime_ns) source->mtime_ns = mtime;
    return PROF_OK;
}

/* Finds the profiles and programs in a folder, not below it. n_files is 0 if it has no profiles. */
static int read_folder(const char *folder, const char *within, Source *source, ProfErr *err)
{
    DIR *dir = opendir(folder);
    if (!dir)
        return prof_fail(err, PROF_IO, 0, "%s: cannot open the folder: %s", folder,
                         strerror(errno));
    size_t capacity = 0, program_capacity = 0;
    for (struct dirent *entry; (entry = readdir(dir)) && !interrupt_poll(20, err);)
        if (profile_name_length(entry->d_name))
            add_file(source, folder, entry->d_name, within, &source->files, &source->n_files,
                     &capacity, err);
        else if (program_name_length(entry->d_name))
            add_file(source, folder, entry->d_name, within, &source->programs, &source->n_programs,
                     &program_capacity, err);
    closedir(dir);
    sort_array(source->files, source->n_files, sizeof *source->files, by_text);
    sort_array(source->programs, source->n_programs, sizeof *source->programs, by_text);
    return err->code;
}

/* Reads a folder of HLO programs as a source. n_files is 0 if it has a file of another kind. */
static int read_dump(const char *folder, const char *within, Source *source, ProfErr *err)
{
    if (read_folder(folder, within, source, err) || source->n_files || !source->n_programs)
        return err->code;
    const char *name = base_name(folder);
    source->path = copy(&source->arena, folder, strlen(folder));
    source->name = copy(&source->arena, name, strlen(name));
    if (!source->path || !source->name) return prof_nomem(err);
    source->files = source->programs, source->n_files = source->n_programs;
    source->programs = NULL, source->n_programs = 0;
    for (size_t i = 0; i < source->n_files; i++) {
        uint64_t size = 0;
        int64_t mtime = 0;
        file_identity(source->files[i], &size, &mtime);
        source->size_bytes += size;
        if (mtime > source->mtime_ns) source->mtime_ns = mtime;
    }
    return PROF_OK;
}

/* A symbolic link to a folder. Links are searched after all folders, because a run below one may
 * also have a path without links. */
typedef struct {
    char *path;
    int depth;
} Link;

typedef struct {
    dev_t device;
    ino_t inode;
} Seen;

typedef struct {
    Source *list;
    size_t n, capacity, root_length;
    const char *within;
    Link *links;
    size_t n_links, link_capacity;
    LIST(Seen) seen; /* folders that were searched, because a link may lead back to one */
    HashTable by_inode;
    Arena names;    /* of links */
    ProfErr closed; /* error of the first folder that could not be opened */
} Search;

enum { MAX_FOLDER_DEPTH = 24, MAX_FOLDERS = 200000 };

/* Records a folder. False if it was searched before, or with err set. */
static bool is_new(Search *s, const struct stat *st, ProfErr *err)
{
    uint64_t hash = hash64((uint64_t)st->st_ino ^ mix64((uint64_t)st->st_dev));
    HASH_EACH(i, &s->by_inode, hash)
        if (s->seen.items[i].device == st->st_dev && s->seen.items[i].inode == st->st_ino)
            return false;
    Seen *made = PUSH_KEYED(s->seen, &s->by_inode, hash);
    if (!made) {
        prof_nomem(err);
        return false;
    }
    *made = (Seen){st->st_dev, st->st_ino};
    return true;
}

static void add_link(Search *s, const char *path, int depth, ProfErr *err)
{
    char *kept = copy(&s->names, path, strlen(path));
    if (!kept || !GROW(s->links, s->n_links, s->link_capacity))
        prof_nomem(err);
    else
        s->links[s->n_links++] = (Link){kept, depth};
}

static int search(Search *s, const char *folder, int depth, ProfErr *err)
{
    Source found = {0};
    struct stat st;
    if (interrupt_poll(100, err) || (!stat(folder, &st) && !is_new(s, &st, err))) return err->code;
    if (s->seen.n > MAX_FOLDERS)
        return prof_fail(err, PROF_IO, 0,
                         "%s: more than %d folders; give a folder nearer to the runs", folder,
                         MAX_FOLDERS);
    if (depth && read_folder(folder, s->within, &found, err)) {
        bool unreadable = err->code == PROF_IO;
        source_free(&found);
        if (!unreadable) return err->code;
        if (!s->closed.code) s->closed = *err;
        *err = (ProfErr){0};
        return PROF_OK;
    }
    if (!depth && read_folder(folder, s->within, &found, err)) {
        source_free(&found);
        return err->code;
    }
    if (found.n_files) {
        found.path = copy(&found.arena, folder, strlen(folder));
        /* <sub>/plugins/profile/<run> is shown as <sub>/<run> */
        const char *below =
            strlen(folder) > s->root_length ? folder + s->root_length + 1 : base_name(folder);
        char *name = found.name = copy(&found.arena, below, strlen(below));
        if (!found.path || !name || !GROW(s->list, s->n, s->capacity)) {
            source_free(&found);
            return prof_nomem(err);
        }
        char *plugin = strstr(name, "plugins/profile/");
        if (plugin) memmove(plugin, plugin + 16, strlen(plugin + 16) + 1);
        if (!*name) found.name = copy(&found.arena, base_name(folder), strlen(base_name(folder)));
        s->list[s->n++] = found;
    } else {
        source_free(&found);
    }
    if (depth == MAX_FOLDER_DEPTH) return PROF_OK;
    DIR *dir = opendir(folder);
    if (!dir) return PROF_OK;
    Arena names = {0};
    for (struct dirent *entry; (entry = readdir(dir)) && !interrupt_poll(20, err);) {
        if (entry->d_name[0] == '.' ||
            (entry->d_type != DT_DIR && entry->d_type != DT_UNKNOWN && entry->d_type != DT_LNK))
            continue;
        char *path = join(&names, folder, entry->d_name);
        if (!path)
            prof_nomem(err);
        else if (lstat(path, &st))
            continue;
        else if (S_ISDIR(st.st_mode))
            search(s, path, depth + 1, err);
        else if (S_ISLNK(st.st_mode) && !stat(path, &st) && S_ISDIR(st.st_mode) &&
                 is_within(path, s->within))
            add_link(s, path, depth + 1, err);
    }
    arena_free(&names);
    closedir(dir);
    return err->code;
}

static int add_dump(Search *s, const char *folder, ProfErr *err)
{
    Source found = {0};
    if (read_dump(folder, s->within, &found, err) || !found.n_files) {
        source_free(&found);
        return err->code;
    }
    if (!GROW(s->list, s->n, s->capacity)) {
        source_free(&found);
        return prof_nomem(err);
    }
    s->list[s->n++] = found;
    return PROF_OK;
}

static int by_path(const void *a, const void *b)
{
    return strcmp(((const Source *)a)->path, ((const Source *)b)->path);
}

/* Fails if a path that does not exist is one of another system, or needs a shell. */
static int fail_unread(const char *path, ProfErr *err)
{
    const char *colon = strstr(path, "://");
    if (colon)
        return prof_fail(
            err, PROF_NOTFOUND, 0,
            "%s: paths of %.*s:// are not read; copy the profile to a local folder and give that",
            path, (int)(colon - path), path);
    if (*path == '~')
        return prof_fail(err, PROF_NOTFOUND, 0,
                         "%s: only a shell expands ~; write out the path of the home folder", path);
    return PROF_OK;
}

int source_find(const char *folder, const char *within, Source **list, size_t *n, ProfErr *err)
{
    struct stat st;
    if (!*folder)
        return prof_fail(err, PROF_NOTFOUND, 0,
                         "the path is empty; give the log dir that the profiler wrote to");
    bool is_missing = stat(folder, &st) != 0;
    if (is_missing && fail_unread(folder, err)) return err->code;
    if (!is_missing && !S_ISDIR(st.st_mode)) { /* a file is a run of its own */
        if (!S_ISREG(st.st_mode) ||
            (!profile_name_length(base_name(folder)) && !program_name_length(base_name(folder))))
            return prof_fail(err, PROF_NOTFOUND, 0,
                             "%s: is neither a folder nor a file named *.xplane.pb or *.hlo.pb; "
                             "give the log dir that the profiler wrote to",
                             folder);
        Source *only = prof_alloc(sizeof *only);
        if (!only) return prof_nomem(err);
        if (source_resolve(folder, within, only, err)) {
            prof_free(only);
            return err->code;
        }
        *list = only, *n = 1;
        return PROF_OK;
    }
    Search s = {.root_length = strlen(folder), .within = within};
    while (s.root_length > 1 && folder[s.root_length - 1] == '/') s.root_length--;
    Arena arena = {0};
    char *root = copy(&arena, folder, s.root_length);
    if (!root)
        prof_nomem(err);
    else
        search(&s, root, 0, err);
    for (size_t i = 0; i < s.n_links && !err->code; i++)
        search(&s, s.links[i].path, s.links[i].depth, err);
    if (!err->code && !s.n) add_dump(&s, root, err);
    if (!err->code && !s.n && s.closed.code && !within)
        prof_fail(err, PROF_IO, 0, "%s: no *.xplane.pb in the folders that can be read; %s", folder,
                  s.closed.text);
    arena_free(&arena);
    arena_free(&s.names);
    prof_free(s.links);
    prof_free(s.seen.items);
    hash_free(&s.by_inode);
    if (err->code) {
        source_list_free(s.list, s.n);
        return err->code;
    }
    sort_array(s.list, s.n, sizeof *s.list, by_path);
    *list = s.list, *n = s.n;
    return PROF_OK;
}

static bool has_spools(const char *run)
{
    char folder[4096];
    return snprintf(folder, sizeof folder, "%s/.spool", run) < (int)sizeof folder &&
           !access(folder, F_OK);
}

/* Returns whether a capture is at work in a run folder or log dir, or was killed there before it
 * wrote a profile. */
static bool is_being_captured(const char *path)
{
    char runs[4096], run[8192];
    if (has_spools(path)) return true;
    if (snprintf(runs, sizeof runs, "%s/plugins/profile", path) >= (int)sizeof runs) return false;
    DIR *dir = opendir(runs);
    bool found = false;
    for (struct dirent *e; dir && !found && (e = readdir(dir));) {
        snprintf(run, sizeof run, "%s/%s", runs, e->d_name);
        found = has_spools(run);
    }
    if (dir) closedir(dir);
    return found;
}

/* Fails with suggestions for a path that does not exist. */
static int fail_missing(const char *path, ProfErr *err)
{
    if (fail_unread(path, err)) return err->code;
    char folder[4096];
    ssize_t length = readlink(path, folder, sizeof folder - 1);
    if (length > 0)
        return prof_fail(err, PROF_NOTFOUND, 0,
                         "%s: is a link to %.*s, which does not exist; give a *.xplane.pb, a run "
                         "folder or a log dir",
                         path, (int)length, folder);
    size_t n = strlen(path);
    while (n && n < sizeof folder && (path[n] != '/' || path[n - 1] == '/')) n--;
    memcpy(folder, path, n < sizeof folder ? n : 0);
    folder[n < sizeof folder ? n : 0] = 0;
    if (*folder && is_folder(folder))
        return prof_fail(err, PROF_NOTFOUND, 0,
                         "%s: no such file or folder, and no attached label; SELECT path FROM "
                         "prof_find('%s') lists the runs in the folder above it",
                         path, folder);
    return prof_fail(err, PROF_NOTFOUND, 0,
                     "%s: no such file or folder, and no attached label; give a *.xplane.pb, a run "
                     "folder or a log dir, or a path of prof_find()",
                     path);
}

/* Returns the run whose files are in the folder itself; n if there is none. */
static size_t own_run(const Source *list, size_t n, const char *path)
{
    size_t i = 0;
    while (i < n && strlen(list[i].path) > strlen(path)) i++;
    return i;
}

/* Returns whether the folder has runs in its plugins/profile, as in XProf. Files beside them are
 * then no newest run. */
static bool is_log_dir(const Source *list, size_t n, const char *path)
{
    size_t length = strlen(path);
    while (length > 1 && path[length - 1] == '/') length--;
    for (size_t i = 0; i < n; i++)
        if (!strncmp(list[i].path, path, length) &&
            !strncmp(list[i].path + length, "/plugins/profile/", 17))
            return true;
    return false;
}

int source_resolve(const char *path, const char *within, Source *source, ProfErr *err)
{
    struct stat st;
    Source found = {0};
    if (!*path)
        return prof_fail(err, PROF_NOTFOUND, 0,
                         "the path is empty; give a file, a run folder, a log dir, or a label");
    if (stat(path, &st)) {
        bool is_missing = errno == ENOENT;
        if (is_missing && !within && source_is_pattern(path) &&
            source_resolve_pattern(path, source, err))
            return err->code;
        if (is_missing) return fail_missing(path, err);
        return prof_fail(err, PROF_NOTFOUND, 0,
                         "%s: %s; give a *.xplane.pb, a run folder or a log dir", path,
                         strerror(errno));
    }
    if (!is_within(path, within))
        return prof_fail(err, PROF_NOTFOUND, 0, "%s: is not in %s", path, within);
    if (!S_ISDIR(st.st_mode)) {
        found.path = copy(&found.arena, path, strlen(path));
        found.name = copy(&found.arena, base_name(path), host_name_length(base_name(path)));
        found.files = prof_alloc(sizeof *found.files);
        if (!found.path || !found.name || !found.files) {
            source_free(&found);
            return prof_nomem(err);
        }
        found.files[0] = found.path, found.n_files = 1;
        if (S_ISREG(st.st_mode)) file_identity(path, &found.size_bytes, &found.mtime_ns);
        *source = found;
        return PROF_OK;
    }
    Source *list = NULL;
    size_t n = 0;
    if (source_find(path, within, &list, &n, err)) return err->code;
    if (!n && is_being_captured(path)) {
        source_list_free(list, n);
        return prof_fail(err, PROF_NOTFOUND, 0,
                         "%s: a capture is running here and has written no profile yet; query "
                         "profsql_live('%s'), or convert what a killed program left with "
                         "profsql-capture --convert",
                         path, path);
    }
    if (!n) {
        source_list_free(list, n);
        return prof_fail(err, PROF_NOTFOUND, 0,
                         "%s: no *.xplane.pb in this folder or below and no HLO dump in it; give "
                         "the log dir that the profiler wrote to",
                         path);
    }
    size_t own = own_run(list, n, path), best = own == 0 && n > 1 ? 1 : 0;
    bool is_run = own < n && !is_log_dir(list, n, path);
    for (size_t i = 0; i < n; i++)
        if (i != own && strcmp(base_name(list[i].path), base_name(list[best].path)) >= 0) best = i;
    if (is_run) best = own; /* whatever is below it */
    *source = list[best];
    source->n_others = is_run ? 0 : n - 1;
    list[best] = (Source){0};
    source_list_free(list, n);
    const char *slash = strrchr(source->path, '/');
    if (slash) source->name = (char *)slash + 1; /* a run is named after its folder */
    return PROF_OK;
}
