// SPDX-License-Identifier: Apache-2.0
/* source.h: finds the files of a run from a path that the user gives.
 *
 * A source is one of these:
 *   - a file: *.xplane.pb, gzipped or not, or a file with any other name;
 *   - a run folder with one file per host;
 *   - a log dir, which stands for its newest run, <logdir>/[sub/]plugins/profile/<run>: the one
 *     with the greatest folder name, as runs are named after their date;
 *   - a pattern with *, ? or [ that is not itself a path: the runs that match are one run, whose
 *     hosts each wrote a folder of their own; it is named after the first;
 *   - an HLO program (*.hlo_proto.pb, *.hlo.pb, gzipped or not), or a folder of programs as XLA
 *     dumps them, if neither the folder nor one below it has a run. */
#ifndef PROF_SOURCE_H
#define PROF_SOURCE_H

#include "base/base.h"

/* One run: where it is and which files it has. */
typedef struct {
    char *path; /* path of the file or of the run folder */
    /* File name without its suffix, or name of the run folder. source_find() gives the path below
     * the folder that was searched, without "plugins/profile/": sub/run. */
    char *name;
    char **files; /* paths, sorted */
    size_t n_files;
    char **programs; /* paths of HLO programs in the same run folder as the profiles, sorted */
    size_t n_programs;
    uint64_t size_bytes; /* total size of `files` */
    int64_t mtime_ns;    /* modification time of the newest of `files` */
    size_t n_others;     /* runs of the log dir that source_resolve() did not take */
    Arena arena;         /* owns the texts; the two arrays are freed with source_free() */
} Source;

/* Finds the one run that a path stands for. Freed with source_free().
 * within: a path as realpath() returns it. Files outside of this folder, or reached by a link that
 * leads out of it, are treated as absent. NULL: no restriction. */
int source_resolve(const char *path, const char *within, Source *source, ProfErr *err);
/* Returns whether a path has a character of patterns. */
bool source_is_pattern(const char *path);
/* Like source_resolve(), for a pattern. False without err set if nothing matches it. */
bool source_resolve_pattern(const char *pattern, Source *source, ProfErr *err);
/* Finds every run in a folder and below it, sorted by path. A path to a file gives that file, if
 * its name has a suffix of profiles or programs. *list is freed with source_list_free(). */
int source_find(const char *folder, const char *within, Source **list, size_t *n, ProfErr *err);
void source_free(Source *source);
void source_list_free(Source *list, size_t n);
/* Returns the length of the host's name in a file name without folder: the part before the suffix
 * of a profile or program, or all of it. */
size_t host_name_length(const char *file_name);
/* Returns the length of an HLO program's file name without its suffix; 0 if it has no suffix of HLO
 * programs. */
size_t program_name_length(const char *file_name);

#endif
