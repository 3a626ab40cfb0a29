// SPDX-License-Identifier: Apache-2.0
/* open_files.c: limits how many files are open at once; see open_files.h. */
#define _GNU_SOURCE
#include "open_files.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <sys/resource.h>
#include <unistd.h>

struct FileHandle {
    int fd; /* -1: closed to make room */
    unsigned n_pins;
    dev_t device;
    ino_t inode;
    uint64_t size;
    int64_t mtime_ns;
    FileHandle *older, *newer; /* list of the open handles, by last use */
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static FileHandle *oldest, *newest;
static size_t n_open, n_temporary;

int64_t mtime_of(const struct stat *st)
{
    return (int64_t)st->st_mtim.tv_sec * 1000000000 + st->st_mtim.tv_nsec;
}

/* Returns a share of the files that the process may have open. The rest is for others. */
static size_t share(unsigned part, size_t most)
{
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) || limit.rlim_cur / part > most) return most;
    return limit.rlim_cur / part < 8 ? 8 : (size_t)limit.rlim_cur / part;
}

/* ---- under the lock ---- */

static void remove_handle(FileHandle *handle)
{
    *(handle->older ? &handle->older->newer : &oldest) = handle->newer;
    *(handle->newer ? &handle->newer->older : &newest) = handle->older;
    handle->older = handle->newer = NULL;
    n_open--;
}

static void put_in(FileHandle *handle)
{
    handle->older = newest;
    *(newest ? &newest->newer : &oldest) = handle;
    newest = handle;
    n_open++;
}

/* Closes the least recently used file. False if all are in use. */
static bool close_one(void)
{
    FileHandle *handle = oldest;
    while (handle && handle->n_pins) handle = handle->newer;
    if (!handle) return false;
    remove_handle(handle);
    close(handle->fd);
    handle->fd = -1;
    return true;
}

static int open_with_room(const char *path)
{
    while (n_open >= share(4, 256) && close_one()) continue;
    for (;;) {
        /* O_NONBLOCK: opening a FIFO must not wait for its writer */
        int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
        if (fd >= 0 || (errno != EMFILE && errno != ENFILE)) return fd;
        int why = errno;
        if (!close_one()) {
            errno = why;
            return -1;
        }
    }
}

/* ---- files ---- */

FileHandle *handle_open(const char *path, struct stat *st, ProfErr *err)
{
    FileHandle *handle = prof_alloc(sizeof *handle);
    if (!handle) {
        prof_nomem(err);
        return NULL;
    }
    pthread_mutex_lock(&lock);
    handle->fd = open_with_room(path);
    int why = errno;
    if (handle->fd >= 0) put_in(handle), handle->n_pins++;
    pthread_mutex_unlock(&lock);
    if (handle->fd < 0) {
        fail_to_open(err, why, path, "cannot open");
    } else if (fstat(handle->fd, st)) {
        prof_fail(err, PROF_IO, 0, "%s: cannot stat: %s", path, strerror(errno));
    } else {
        handle->device = st->st_dev, handle->inode = st->st_ino;
        handle->size = (uint64_t)st->st_size, handle->mtime_ns = mtime_of(st);
    }
    if (handle->fd >= 0) handle_release(handle);
    if (!err->code) return handle;
    handle_close(handle);
    return NULL;
}

static bool is_same(const FileHandle *handle, int fd, bool opened_again)
{
    struct stat st;
    if (fstat(fd, &st) || (uint64_t)st.st_size != handle->size || mtime_of(&st) != handle->mtime_ns)
        return false;
    return !opened_again ||
           (S_ISREG(st.st_mode) && st.st_dev == handle->device && st.st_ino == handle->inode);
}

int handle_pin(FileHandle *handle, const char *path, ProfErr *err)
{
    bool again = false;
    int why = 0;
    pthread_mutex_lock(&lock);
    if (handle->fd >= 0) {
        remove_handle(handle);
        put_in(handle);
    } else {
        again = true;
        handle->fd = open_with_room(path);
        why = errno;
        if (handle->fd >= 0) put_in(handle);
    }
    int fd = handle->fd;
    if (fd >= 0) handle->n_pins++;
    pthread_mutex_unlock(&lock);
    if (fd >= 0 && is_same(handle, fd, again)) return fd;
    if (fd >= 0) handle_release(handle);
    if (fd < 0 && why != ENOENT)
        fail_to_open(err, why, path, "cannot open again");
    else
        prof_fail(err, PROF_IO, 0,
                  "%s: changed while it was being read; run the query again when it is complete",
                  path);
    return -1;
}

void handle_release(FileHandle *handle)
{
    pthread_mutex_lock(&lock);
    handle->n_pins--;
    pthread_mutex_unlock(&lock);
}

void handle_close(FileHandle *handle)
{
    if (!handle) return;
    pthread_mutex_lock(&lock);
    if (handle->fd >= 0) {
        remove_handle(handle);
        close(handle->fd);
    }
    pthread_mutex_unlock(&lock);
    prof_free(handle);
}

static const char *what_to_do(int why)
{
    switch (why) {
    case EMFILE:
    case ENFILE: return "; raise the limit of open files (ulimit -n)";
    case EACCES: return "; ask its owner for permission to read it";
    case ENXIO:
        return "; it is a socket or an absent device, give the *.xplane.pb that the profiler wrote";
    default: return "";
    }
}

int fail_to_open(ProfErr *err, int why, const char *path, const char *what)
{
    int code = why == EMFILE || why == ENFILE ? PROF_LIMIT : PROF_IO;
    if (why == ENOENT) code = PROF_NOTFOUND;
    return prof_fail(err, code, 0, "%s: %s: %s%s", path, what, strerror(why), what_to_do(why));
}

/* ---- temporary files ---- */

/* Opens a temporary file without a name. Returns -1 with errno set on failure. */
static int temporary_in(const char *folder)
{
    int fd = open(folder, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    if (fd >= 0) return fd;
    char name[512];
    if (snprintf(name, sizeof name, "%s/libprofsql-XXXXXX", folder) >= (int)sizeof name)
        name[0] = 0;
    fd = mkostemp(name, O_CLOEXEC);
    if (fd >= 0) unlink(name);
    return fd;
}

/* Tries SQLite's folders in SQLite's order: /var/tmp is on a disk, /tmp often in memory. */
int temporary_open(const char *path, ProfErr *err)
{
    const char *chosen = getenv("TMPDIR");
    bool is_chosen = chosen && *chosen;
    pthread_mutex_lock(&lock);
    bool full = n_temporary >= share(2, SIZE_MAX);
    if (!full) n_temporary++;
    pthread_mutex_unlock(&lock);
    if (full) {
        prof_fail(err, PROF_LIMIT, 0,
                  "%s: %zu gzipped files are already open, each inflated; raise the limit of open "
                  "files (ulimit -n) or gunzip them",
                  path, n_temporary);
        return -1;
    }
    int fd = temporary_in(is_chosen ? chosen : "/var/tmp");
    if (fd < 0 && !is_chosen) fd = temporary_in("/tmp");
    if (fd >= 0) return fd;
    bool too_many = errno == EMFILE || errno == ENFILE;
    prof_fail(err, too_many ? PROF_LIMIT : PROF_IO, 0,
              "no temporary file in %s to inflate into: %s; %s", is_chosen ? chosen : "/tmp",
              strerror(errno),
              too_many ? "raise the limit of open files (ulimit -n)"
                       : "set TMPDIR to a folder with free space");
    pthread_mutex_lock(&lock);
    n_temporary--;
    pthread_mutex_unlock(&lock);
    return -1;
}

void temporary_close(int fd)
{
    if (fd < 0) return;
    close(fd);
    pthread_mutex_lock(&lock);
    n_temporary--;
    pthread_mutex_unlock(&lock);
}
