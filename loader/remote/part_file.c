// SPDX-License-Identifier: Apache-2.0
/* part_file.c: see part_file.h. */
#define _GNU_SOURCE
#include "part_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

static const char *advice_for(int number)
{
    switch (number) {
    case ENOSPC:
    case EDQUOT: return "; free some space or give another --out";
    case EACCES:
    case EROFS:
    case EPERM: return "; give an --out that can be written";
    default: return "";
    }
}

static bool fail(const char *path, const char *what, ProfErr *err)
{
    int number = errno;
    prof_fail(err, PROF_IO, 0, "%s: %s: %s%s", path, what, strerror(number), advice_for(number));
    return false;
}

static bool join(char *out, size_t n_out, const char *folder, const char *before, const char *name,
                 const char *after, ProfErr *err)
{
    if (snprintf(out, n_out, "%s/%s%s%s", folder, before, name, after) < (int)n_out) return true;
    prof_fail(err, PROF_IO, 0, "%s: the path is too long", folder);
    return false;
}

bool part_open(PartFile *file, const char *folder, const char *name, ProfErr *err)
{
    file->n_bytes = 0;
    if (!join(file->part, sizeof file->part, folder, ".", name, ".part", err)) return false;
    file->fd = open(file->part, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0666);
    return file->fd >= 0 || fail(folder, "a profile cannot be written there", err);
}

bool part_write(PartFile *file, const void *bytes, size_t n_bytes, ProfErr *err)
{
    const char *p = bytes;
    while (n_bytes) {
        ssize_t n = write(file->fd, p, n_bytes);
        if (n < 0 && errno == EINTR) continue;
        if (n < 0) return fail(file->part, "the profile cannot be written", err);
        p += n, n_bytes -= (size_t)n, file->n_bytes += (uint64_t)n;
    }
    return true;
}

/* Renames a file. link() does not replace an existing file, but some file systems have no links. */
static bool rename_new(const char *from, const char *to)
{
    if (!link(from, to)) {
        unlink(from);
        return true;
    }
    if (errno == EEXIST) return false;
    struct stat st;
    if (!lstat(to, &st)) {
        errno = EEXIST;
        return false;
    }
    return !rename(from, to);
}

bool part_finish(PartFile *file, const char *folder, const char *name, ProfErr *err)
{
    char path[4096];
    bool closed = !close(file->fd);
    file->fd = -1;
    if (!closed)
        fail(file->part, "the profile cannot be written", err);
    else if (join(path, sizeof path, folder, "", name, "", err) && !rename_new(file->part, path)) {
        if (errno == EEXIST)
            prof_fail(err, PROF_LIMIT, 0, "%s exists already; give another --run", path);
        else
            fail(path, "the profile cannot get its name", err);
    }
    if (err->code) unlink(file->part);
    return !err->code;
}

void part_discard(PartFile *file)
{
    if (file->fd < 0) return;
    close(file->fd);
    unlink(file->part);
    file->fd = -1;
}

/* ---- folders ---- */

int make_folders(const char *path, ProfErr *err)
{
    char folder[4096];
    int n_made = 0;
    size_t n = strlen(path);
    if (n >= sizeof folder) {
        prof_fail(err, PROF_IO, 0, "%s: the path is too long", path);
        return -1;
    }
    for (size_t i = 1; i <= n; i++) {
        if (path[i] && path[i] != '/') continue;
        memcpy(folder, path, i), folder[i] = 0;
        if (!mkdir(folder, 0777))
            n_made++;
        else if (errno != EEXIST && errno != EISDIR && (errno != EROFS || !path[i])) {
            remove_empty_folders(folder, n_made + 1);
            fail(folder, "the folder cannot be made", err);
            return -1;
        }
    }
    struct stat st;
    if (!stat(path, &st) && S_ISDIR(st.st_mode)) return n_made;
    errno = ENOTDIR;
    fail(path, "the folder cannot be made", err);
    return -1;
}

void remove_empty_folders(const char *path, int n)
{
    char folder[4096];
    int number = errno;
    snprintf(folder, sizeof folder, "%s", path);
    for (char *slash; n-- > 0; *slash = 0) {
        rmdir(folder);
        if (!(slash = strrchr(folder, '/')) || slash == folder) break;
    }
    errno = number;
}
