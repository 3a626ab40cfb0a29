// SPDX-License-Identifier: Apache-2.0
/* new_file.c: writes files that appear when they are complete; see new_file.h. */
#define _GNU_SOURCE
#include "new_file.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

/* Gives the file its name. Without `force`, does not replace a file of this name that was created
 * in the meantime. */
static bool publish(const NewFile *file)
{
    if (!file->force && !link(file->part, file->path)) return !unlink(file->part);
    if (!file->force && errno == EEXIST) return false;
    return !rename(file->part, file->path);
}

static bool may_write(const char *path, bool force)
{
    struct stat st;
    if (lstat(path, &st)) return true;
    if (S_ISDIR(st.st_mode)) {
        complain("%s is a folder; give a file name", path);
        return false;
    }
    if (!S_ISREG(st.st_mode) && !S_ISLNK(st.st_mode)) {
        complain("%s is not a regular file, and is not replaced; give another name", path);
        return false;
    }
    if (!force) complain("%s exists; --force replaces it", path);
    return force;
}

bool new_file_has_suffix(const char *path, const char *const *suffixes)
{
    const char *suffix = strrchr(path, '.');
    while (suffix && *suffixes && strcasecmp(suffix, *suffixes) != 0) suffixes++;
    return suffix && *suffixes;
}

bool new_file_open(NewFile *file, const char *path, bool force)
{
    char *part = keep_text("%s.XXXXXX", path);
    *file = (NewFile){.path = path, .part = part, .force = force};
    if (!may_write(path, force)) return false;
    int fd = mkstemp(part);
    if (fd < 0) {
        complain("%s: cannot be written: %s", path, strerror(errno));
        return false;
    }
    mode_t mask = umask(0);
    umask(mask);
    fchmod(fd, 0666 & ~mask);
    close(fd);
    return true;
}

bool new_file_close(const NewFile *file, bool keep)
{
    if (keep && publish(file)) return true;
    if (keep) complain("%s: cannot be written: %s", file->path, strerror(errno));
    unlink(file->part);
    return false;
}

double new_file_megabytes(const NewFile *file)
{
    struct stat st;
    return stat(file->part, &st) ? 0 : (double)st.st_size / 1e6;
}
