// SPDX-License-Identifier: Apache-2.0
/* source_pattern.c: a run whose hosts are in several folders; see source.h. */
#include "base/list.h"
#include "base/sort.h"
#include "source.h"

#include <errno.h>
#include <glob.h>

bool source_is_pattern(const char *path) { return strpbrk(path, "*?[") != NULL; }

static const char *file_of(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

static int by_host(const void *a, const void *b)
{
    const char *x = *(char *const *)a, *y = *(char *const *)b;
    int order = strcmp(file_of(x), file_of(y));
    return order ? order : strcmp(x, y);
}

static bool is_same_host(const char *a, const char *b)
{
    size_t n = host_name_length(file_of(a));
    return n == host_name_length(file_of(b)) && !memcmp(file_of(a), file_of(b), n);
}

/* Adds paths to a list whose texts the source owns. */
static bool add_paths(Source *to, char ***list, size_t *n, char *const *paths, size_t n_paths)
{
    char **grown = prof_alloc((*n + n_paths) * sizeof *grown);
    if (!grown) return false;
    if (*n) memcpy(grown, *list, *n * sizeof *grown);
    prof_free(*list);
    *list = grown;
    for (size_t i = 0; i < n_paths; i++) {
        size_t n_bytes = strlen(paths[i]) + 1;
        char *copy = arena_alloc(&to->arena, n_bytes);
        if (!copy) return false;
        grown[(*n)++] = memcpy(copy, paths[i], n_bytes);
    }
    return true;
}

static void add_match(Source *to, const char *path, ProfErr *err)
{
    Source part = {0};
    if (source_resolve(path, NULL, &part, err)) return;
    if (!add_paths(to, &to->files, &to->n_files, part.files, part.n_files) ||
        !add_paths(to, &to->programs, &to->n_programs, part.programs, part.n_programs))
        prof_nomem(err);
    to->size_bytes += part.size_bytes;
    if (part.mtime_ns > to->mtime_ns) to->mtime_ns = part.mtime_ns;
    source_free(&part);
}

/* Names the run after the first folder or file that matches. */
static void name_run(Source *to, const char *pattern, const char *first, ProfErr *err)
{
    const char *name = file_of(first);
    char *paths[] = {(char *)pattern, (char *)name}, **texts = NULL;
    size_t n = 0;
    if (add_paths(to, &texts, &n, paths, 2))
        to->path = texts[0], to->name = texts[1], to->name[host_name_length(name)] = 0;
    else
        prof_nomem(err);
    prof_free(texts);
}

/* Fails if two files are of one host: they are two runs. */
static void check_hosts(Source *of, ProfErr *err)
{
    sort_array(of->files, of->n_files, sizeof *of->files, by_host);
    for (size_t i = 1; i < of->n_files && !err->code; i++)
        if (is_same_host(of->files[i - 1], of->files[i]))
            prof_fail(err, PROF_NOTFOUND, 0,
                      "%s: matches two profiles of the host %.*s, %s and %s; a pattern is one run, "
                      "so let it match one folder for each host",
                      of->path, (int)host_name_length(file_of(of->files[i])), file_of(of->files[i]),
                      of->files[i - 1], of->files[i]);
}

bool source_resolve_pattern(const char *pattern, Source *source, ProfErr *err)
{
    glob_t matches = {0};
    Source found = {0};
    int failed = glob(pattern, 0, NULL, &matches);
    if (failed == GLOB_NOSPACE) prof_nomem(err);
    if (failed) return err->code;
    name_run(&found, pattern, matches.gl_pathv[0], err);
    for (size_t i = 0; i < matches.gl_pathc && !err->code; i++)
        add_match(&found, matches.gl_pathv[i], err);
    if (!err->code) check_hosts(&found, err);
    globfree(&matches);
    if (err->code)
        source_free(&found);
    else
        *source = found;
    return true;
}
