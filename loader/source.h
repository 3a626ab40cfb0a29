// SPDX-License-Identifier: Apache-2.0
/* source.h: from what a person types to the files of a run.
 *
 * A source is a file (*.xplane.pb, gzipped or not, or any file), a run folder with a file per host, or a log dir: then the
 * newest run below it, <logdir>/[sub/]plugins/profile/<run>. HLO programs are sources too: *.hlo_proto.pb and *.hlo.pb, one, or
 * a folder of them as XLA dumps them, unless it or a folder below holds a run. */
#ifndef PROF_SOURCE_H
#define PROF_SOURCE_H

#include "base.h"

typedef struct {
    char *path;   /* of the file, or of the run folder */
    char *name;   /* file name without suffix, or the folder's name; with sub-folders below the log dir: sub/run */
    char **files; /* sorted by name */
    size_t n_files;
    bool hlo;        /* the files are HLO programs, not profiles */
    char **programs; /* HLO programs that lie beside the profiles of a run folder, sorted by name */
    size_t n_programs;
    uint64_t size_bytes;
    int64_t mtime_ns; /* of the newest file */
    Arena arena;      /* owns all of the above */
} Source;

/* Resolves a path to one run. On failure err is set. */
int source_resolve(const char *path, Source *source, ProfErr *err);
/* Finds every run at and below a folder, sorted by path; a file must be called as those in folders are.
 * *list is freed with source_list_free(). */
int source_find(const char *folder, Source **list, size_t *n, ProfErr *err);
void source_free(Source *source);
void source_list_free(Source *list, size_t n);
/* The host that a file is named after: its name without folder and suffix. */
size_t host_name_length(const char *file_name);
/* Length of an HLO program's name without its suffix; 0: the file's name is not of one. */
size_t program_name_length(const char *file_name);

#endif
