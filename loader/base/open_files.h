// SPDX-License-Identifier: Apache-2.0
/* open_files.h: keeps few files open at once, and reopens the others when they are read.
 *
 * A run may have thousands of hosts, but a process may have only 1024 open files by default. So at
 * most 256 profiles, or a quarter of the limit if that is less, are open at once. The least
 * recently used one is closed to open another, and opened again when it is read; if it is no longer
 * the same file, that is an error. Inflated copies have no name by which they could be opened
 * again: they stay open, at most half of the limit.
 *
 * All functions may be called from several threads. */
#ifndef PROF_OPEN_FILES_H
#define PROF_OPEN_FILES_H

#include "base.h"

#include <sys/stat.h>

typedef struct FileHandle FileHandle;

/* Opens a file and describes it in *st. Closed with handle_close(). Fails with PROF_LIMIT if the
 * process has too many open files. */
FileHandle *handle_open(const char *path, struct stat *st, ProfErr *err);
/* Returns a descriptor that stays open until handle_release(); -1 on failure: the file cannot be
 * opened again or has changed. `path` is the path of handle_open(). */
int handle_pin(FileHandle *handle, const char *path, ProfErr *err);
void handle_release(FileHandle *handle);
void handle_close(FileHandle *handle); /* handle may be NULL */

/* Opens a temporary file without a name, in $TMPDIR, else in /var/tmp or /tmp, for the bytes
 * inflated from the file at `path` (which is only named in errors). Returns its descriptor, -1 on
 * failure. */
int temporary_open(const char *path, ProfErr *err);
void temporary_close(int fd); /* fd may be -1 */

/* Returns the modification time in ns since 1970. */
int64_t mtime_of(const struct stat *st);
/* Records that open() failed with errno `why`: "path: what: reason". Returns the code in err. */
int fail_to_open(ProfErr *err, int why, const char *path, const char *what);

#endif
