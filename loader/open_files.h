// SPDX-License-Identifier: Apache-2.0
/* open_files.h: files that are opened again when they are needed.
 *
 * A run may have thousands of hosts, and a process has 1024 open files by default. At most a quarter of them (256) are profiles: the
 * one used longest ago is closed for the next, and opened again when it is read. A file that is then another one is an error.
 * Inflated copies have no name to open them by: of these there may be half of the limit. */
#ifndef PROF_OPEN_FILES_H
#define PROF_OPEN_FILES_H

#include "base.h"

#include <sys/stat.h>

typedef struct FileHandle FileHandle;

/* Opens a file and describes it in *st. NULL on failure, with err set: PROF_LIMIT if the process has too many open files. */
FileHandle *handle_open(const char *path, struct stat *st, ProfErr *err);
/* Returns a descriptor to read from until handle_release(); -1 with err set if the file cannot be opened again or has changed. */
int handle_pin(FileHandle *handle, const char *path, ProfErr *err);
void handle_release(FileHandle *handle);
void handle_close(FileHandle *handle); /* may be NULL */

/* Opens a file without a name, for bytes that are not worth memory: those inflated from the file at path. -1 with err set. */
int temporary_open(const char *path, ProfErr *err);
void temporary_close(int fd); /* may be -1 */

int64_t mtime_of(const struct stat *st);
/* Records the error of open(). */
int fail_to_open(ProfErr *err, int why, const char *path, const char *what);

#endif
