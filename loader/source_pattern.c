// SPDX-License-Identifier: Apache-2.0
/* source_pattern.c: a run whose hosts are in several folders; see source.h. */
#include "base/file.h"
#include "base/interrupt.h"
#include "base/sort.h"
#include "reader.h"
#include "source.h"

#include <glob.h>
#include <sys/stat.h>

/* What matches. The texts belong to the source. */
typedef struct {
    Source source;
    size_t capacity, program_capacity;
} Matches;

bool source_is_pattern(const char *path) { return strpbrk(path, "*?[") != NULL; }

static int by_host(const void *a, const void *b)
{
    const char *x = *(char *const *)a, *y = *(char *const *)b;
    int order = strcmp(base_name(x), base_name(y));
    return order ? order : strcmp(x, y);
}

static bool is_same_host(const char *a, const char *b)
{
    size_t n = host_name_length(base_name(a));
    return n == host_name_length(base_name(b)) && !memcmp(base_name(a), base_name(b), n);
}

static char *keep_path(Source *source, const char *path)
{
    size_t n_bytes = strlen(path) + 1;
    char *copy = arena_alloc(&source->arena, n_bytes);
    return copy ? memcpy(copy, path, n_bytes) : NULL;
}

static void add_file(Matches *m, const char *path, bool is_program, ProfErr *err)
{
    Source *to = &m->source;
    char *kept = keep_path(to, path);
    bool grown = is_program ? GROW(to->programs, to->n_programs, m->program_capacity)
                            : GROW(to->files, to->n_files, m->capacity);
    if (!kept || !grown)
        prof_nomem(err);
    else if (is_program)
        to->programs[to->n_programs++] = kept;
    else
        to->files[to->n_files++] = kept;
}

/* Adds the run of a folder, or a file with the suffix of a profile or program. */
static void add_match(Matches *m, const char *path, ProfErr *err)
{
    size_t stem;
    bool folder = is_folder(path);
    const Reader *reader = folder ? NULL : reader_of_name(base_name(path), &stem);
    Source run = {0};
    if (reader) add_file(m, path, reader->is_program, err);
    if (!folder || source_resolve(path, NULL, &run, err)) return;
    for (size_t i = 0; i < run.n_files && !err->code; i++)
        add_file(m, run.files[i], program_name_length(base_name(run.files[i])) > 0, err);
    for (size_t i = 0; i < run.n_programs && !err->code; i++)
        add_file(m, run.programs[i], true, err);
    source_free(&run);
}

/* Names the run after the first folder or file that matches. */
static void name_run(Source *to, const char *pattern, const char *first, ProfErr *err)
{
    to->path = keep_path(to, pattern);
    to->name = keep_path(to, base_name(first));
    if (to->path && to->name)
        to->name[host_name_length(base_name(first))] = 0;
    else
        prof_nomem(err);
}

/* Takes programs as the files of the run if there are no profiles, and sums the sizes. */
static void finish(Source *of, ProfErr *err)
{
    if (!of->n_files) {
        prof_free(of->files);
        of->files = of->programs, of->n_files = of->n_programs;
        of->programs = NULL, of->n_programs = 0;
    }
    if (!of->n_files)
        prof_fail(err, PROF_NOTFOUND, 0,
                  "%s: what matches is neither a folder nor a file named *.xplane.pb or *.hlo.pb; "
                  "let it match run folders",
                  of->path);
    for (size_t i = 0; i < of->n_files; i++) {
        uint64_t size = 0;
        int64_t mtime = 0;
        file_identity(of->files[i], &size, &mtime);
        of->size_bytes += size;
        if (mtime > of->mtime_ns) of->mtime_ns = mtime;
    }
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
                      of->path, (int)host_name_length(base_name(of->files[i])),
                      base_name(of->files[i]), of->files[i - 1], of->files[i]);
}

bool source_resolve_pattern(const char *pattern, Source *source, ProfErr *err)
{
    glob_t matches = {0};
    Matches found = {0};
    int failed = glob(pattern, 0, NULL, &matches);
    if (failed == GLOB_NOSPACE) prof_nomem(err);
    if (failed) return err->code;
    name_run(&found.source, pattern, matches.gl_pathv[0], err);
    for (size_t i = 0; i < matches.gl_pathc && !interrupt_poll(100, err); i++)
        add_match(&found, matches.gl_pathv[i], err);
    globfree(&matches);
    if (!err->code) finish(&found.source, err);
    if (!err->code) check_hosts(&found.source, err);
    if (err->code)
        source_free(&found.source);
    else
        *source = found.source;
    return true;
}
