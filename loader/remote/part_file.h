// SPDX-License-Identifier: Apache-2.0
/* part_file.h: files that get their name when they are complete. Before that a file is named
 * .NAME.part, which readers of profiles ignore. */
#ifndef PROF_REMOTE_PART_FILE_H
#define PROF_REMOTE_PART_FILE_H

#include "../base/base.h"

/* Starts as {.fd = -1}. */
typedef struct {
    char part[4096]; /* path */
    int fd;          /* -1 if not open */
    uint64_t n_bytes;
} PartFile;

/* Creates a file that will be named folder/name. Both texts must be valid until the file is
 * finished or discarded. PROF_IO with err if it cannot be created. */
bool part_open(PartFile *file, const char *folder, const char *name, ProfErr *err);
bool part_write(PartFile *file, const void *bytes, size_t n_bytes, ProfErr *err);
/* Closes the file and renames it to folder/name, if that does not exist; otherwise fails with
 * PROF_LIMIT. On failure the part is removed. */
bool part_finish(PartFile *file, const char *folder, const char *name, ProfErr *err);
void part_discard(PartFile *file); /* also for a file that is not open */

/* Makes a folder and its missing parents. Returns how many were made; -1 with err. */
int make_folders(const char *path, ProfErr *err);
/* Removes the folder and its parents, n in total, as long as they are empty. */
void remove_empty_folders(const char *path, int n);

#endif
