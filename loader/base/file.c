// SPDX-License-Identifier: Apache-2.0
/* file.c: opening, inflating and reading files; see file.h. */
#define _GNU_SOURCE
#include "file.h"

#include "interrupt.h"

#include <errno.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>
#include <zlib.h>

const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

bool is_folder(const char *path)
{
    struct stat st;
    return !stat(path, &st) && S_ISDIR(st.st_mode);
}

bool file_identity(const char *path, uint64_t *size_bytes, int64_t *mtime_ns)
{
    struct stat st;
    if (stat(path, &st) || !S_ISREG(st.st_mode)) return false;
    *size_bytes = (uint64_t)st.st_size, *mtime_ns = mtime_of(&st);
    return true;
}

bool file_write_all(int fd, const void *from, size_t n)
{
    const uint8_t *bytes = from;
    while (n) {
        ssize_t k = write(fd, bytes, n);
        if (k < 0 && errno == EINTR) continue;
        if (k <= 0) return false;
        bytes += k, n -= (size_t)k;
    }
    return true;
}

/* Deflate shrinks profiles 5 to 60 fold. A much larger ratio is a decompression bomb. */
enum { MAX_RATIO = 400, FREE_BYTES = 64 << 20 };

static voidpf z_alloc(voidpf unused, uInt n, uInt size)
{
    (void)unused;
    return prof_alloc((size_t)n * size);
}
static void z_free(voidpf unused, voidpf p)
{
    (void)unused;
    prof_free(p);
}

/* A gzip file while it is inflated. */
typedef struct {
    File *file;
    z_stream z;
    uint8_t *in, *out;
    uint64_t offset; /* bytes read from the file on disk */
    bool ended;      /* no further member follows, or the stream is damaged */
} Inflation;

enum { INFLATE_STEP = 256 << 10 };

/* Writes bytes that were inflated, within the limits of a profile. */
static int keep_inflated(Inflation *i, size_t n, ProfErr *err)
{
    File *file = i->file;
    if (n && !file_write_all(file->inflated_fd, i->out, n))
        return prof_fail(
            err, PROF_IO, 0,
            "%s: cannot write the inflated bytes: %s; set TMPDIR to a folder with free space",
            file->path, strerror(errno));
    file->n_bytes += n;
    if (interrupt_poll(n / 64, err)) return err->code;
    if (file->n_bytes > FREE_BYTES && file->n_bytes / MAX_RATIO > i->offset)
        prof_fail(err, PROF_FORMAT, i->offset,
                  "%s: inflates to more than %d times its size, which no profile does; if you "
                  "trust it, decompress it with gzip -d and give the result",
                  file->path, MAX_RATIO);
    return err->code;
}

/* Ends a member. Another may follow; other bytes after it are counted and ignored. */
static void end_member(Inflation *i)
{
    bool last = !i->z.avail_in && i->offset >= i->file->disk_size;
    bool junk = i->z.avail_in && i->z.next_in[0] != 0x1f;
    if (junk) i->file->trailing_bytes = i->file->disk_size - i->offset + i->z.avail_in;
    i->ended = last || junk || inflateReset(&i->z) != Z_OK;
}

/* Inflates the bytes that were read. */
static int inflate_bytes(Inflation *i, ProfErr *err)
{
    z_stream *z = &i->z;
    do {
        z->next_out = i->out, z->avail_out = INFLATE_STEP;
        int rc = inflate(z, Z_NO_FLUSH);
        size_t n = INFLATE_STEP - z->avail_out;
        if (keep_inflated(i, n, err)) return err->code;
        if (rc == Z_MEM_ERROR) return prof_nomem(err);
        if (rc == Z_BUF_ERROR && !n) return PROF_OK;
        if (rc == Z_STREAM_END) {
            end_member(i);
            if (!z->avail_in) return PROF_OK;
        } else if (rc != Z_OK && rc != Z_BUF_ERROR) {
            i->file->cut_short = i->ended = true;
        }
    } while (!i->ended && (z->avail_in || !z->avail_out));
    return PROF_OK;
}

/* Reads and inflates the file to its end. */
static int inflate_all(Inflation *i, int disk_fd, ProfErr *err)
{
    while (!i->ended && !interrupt_poll(INFLATE_STEP / 64, err)) {
        ssize_t n = pread(disk_fd, i->in, INFLATE_STEP, (off_t)i->offset);
        if (n < 0 && errno == EINTR) continue;
        if (n < 0)
            prof_fail(err, PROF_IO, i->offset, "%s: cannot read at byte %llu: %s", i->file->path,
                      (unsigned long long)i->offset, strerror(errno));
        if (n <= 0) {
            i->file->cut_short = true; /* no end of stream seen */
            break;
        }
        i->offset += (uint64_t)n;
        i->z.next_in = i->in, i->z.avail_in = (uInt)n;
        if (inflate_bytes(i, err)) break;
    }
    if (!err->code && !i->file->n_bytes)
        prof_fail(err, PROF_FORMAT, 0,
                  i->file->cut_short ? "%s: is a gzip file whose content cannot be inflated; copy "
                                       "it again from its origin"
                                     : "%s: is a gzip file of nothing (0 bytes), because the "
                                       "capture wrote nothing; record the profile again",
                  i->file->path);
    return err->code;
}

static int inflate_file(File *file, int disk_fd, ProfErr *err)
{
    Inflation i = {.file = file, .z = {.zalloc = z_alloc, .zfree = z_free}};
    i.in = prof_alloc(INFLATE_STEP);
    i.out = prof_alloc(INFLATE_STEP);
    if (!i.in || !i.out || inflateInit2(&i.z, 16 + MAX_WBITS) != Z_OK) {
        prof_nomem(err);
    } else {
        file->inflated_fd = temporary_open(file->path, err);
        if (file->inflated_fd >= 0) inflate_all(&i, disk_fd, err);
        inflateEnd(&i.z);
    }
    prof_free(i.in);
    prof_free(i.out);
    return err->code;
}

#define GIVE_PROFILE "give the *.xplane.pb that the profiler wrote"

/* Files of /proc and /sys look like regular files of 0 bytes, but reading them may block. */
static bool is_of_kernel(const char *path)
{
    enum { PROC = 0x9fa0, SYSFS = 0x62656572 };
    struct statfs s;
    return !statfs(path, &s) && (s.f_type == PROC || s.f_type == SYSFS);
}

/* Sets the kind of the file from its first bytes, and inflates it if it is gzipped. */
static int read_kind(File *f, const struct stat *st, ProfErr *err)
{
    uint8_t magic[2] = {0};
    if (S_ISFIFO(st->st_mode))
        return prof_fail(
            err, PROF_FORMAT, 0,
            "%s: is a pipe, not a regular file; save its bytes to a file and give that", f->path);
    if (!S_ISREG(st->st_mode))
        return prof_fail(err, PROF_FORMAT, 0, "%s: is a device, not a regular file; " GIVE_PROFILE,
                         f->path);
    if (!f->disk_size && is_of_kernel(f->path))
        return prof_fail(err, PROF_FORMAT, 0,
                         "%s: is a file of the kernel (/proc, /sys) without a size; " GIVE_PROFILE,
                         f->path);
    if (!f->disk_size)
        return prof_fail(
            err, PROF_FORMAT, 0,
            "%s: is empty (0 bytes), because the capture wrote nothing; record the profile again",
            f->path);
    int fd = handle_pin(f->handle, f->path, err);
    if (fd < 0) return err->code;
    if (pread(fd, magic, 2, 0) < 0)
        prof_fail(err, PROF_IO, 0, "%s: cannot read: %s", f->path, strerror(errno));
    f->gzipped = magic[0] == 0x1f && magic[1] == 0x8b;
    if (!f->gzipped)
        f->n_bytes = f->disk_size;
    else if (!err->code)
        inflate_file(f, fd, err);
    handle_release(f->handle);
    return err->code;
}

int file_open(File *file, const char *path, ProfErr *err)
{
    File f = {.inflated_fd = -1};
    struct stat st;
    f.path = prof_alloc(strlen(path) + 1);
    if (!f.path) return prof_nomem(err);
    strcpy(f.path, path);
    if ((f.handle = handle_open(path, &st, err))) {
        f.disk_size = (uint64_t)st.st_size, f.mtime_ns = mtime_of(&st);
        read_kind(&f, &st, err);
    }
    if (err->code)
        file_close(&f);
    else
        *file = f;
    return err->code;
}

int file_note(File *file, const char *path, ProfErr *err)
{
    File f = {.inflated_fd = -1};
    if (!file_identity(path, &f.disk_size, &f.mtime_ns))
        return prof_fail(err, PROF_IO, 0, "%s: is not a regular file that can be read", path);
    f.n_bytes = f.disk_size;
    f.path = prof_alloc(strlen(path) + 1);
    if (!f.path) return prof_nomem(err);
    strcpy(f.path, path);
    *file = f;
    return PROF_OK;
}

int file_reopen(const File *noted, File *file, ProfErr *err)
{
    if (file_open(file, noted->path, err)) return err->code;
    if (file->disk_size == noted->disk_size && file->mtime_ns == noted->mtime_ns) return PROF_OK;
    file_close(file);
    return prof_fail(err, PROF_IO, 0,
                     "%s: changed while it was being read; run the query again when it is complete",
                     noted->path);
}

void file_close(File *file)
{
    temporary_close(file->inflated_fd);
    handle_close(file->handle);
    prof_free(file->path);
    prof_free(file->merged);
    *file = (File){.inflated_fd = -1};
}

int file_translate(File *file, int (*translate)(const File *file, int fd, ProfErr *err),
                   ProfErr *err)
{
    struct stat st;
    int fd = temporary_open(file->path, err);
    if (fd < 0) return err->code;
    if (!translate(file, fd, err) && fstat(fd, &st))
        prof_fail(err, PROF_IO, 0, "%s: cannot be translated: %s", file->path, strerror(errno));
    if (err->code) {
        temporary_close(fd);
        return err->code;
    }
    temporary_close(file->inflated_fd);
    file->inflated_fd = fd, file->n_bytes = (uint64_t)st.st_size;
    return PROF_OK;
}

bool file_merge(File *file, const uint8_t *bytes, size_t n_bytes)
{
    while (file->merged_capacity - file->n_merged < n_bytes)
        if (!prof_grow(&file->merged, file->merged_capacity, &file->merged_capacity, 1))
            return false;
    if (n_bytes) memcpy(file->merged + file->n_merged, bytes, n_bytes);
    file->n_merged += n_bytes;
    return true;
}

int file_read(const File *file, uint64_t offset, void *out, size_t n_bytes, ProfErr *err)
{
    if (offset >= FILE_MERGED) {
        memcpy(out, file->merged + (offset - FILE_MERGED), n_bytes);
        return PROF_OK;
    }
    int disk_fd = handle_pin(file->handle, file->path, err),
        fd = file->inflated_fd >= 0 ? file->inflated_fd : disk_fd;
    if (disk_fd < 0) return err->code;
    char *to = out;
    while (n_bytes && !err->code) {
        ssize_t k = pread(fd, to, n_bytes, (off_t)offset);
        if (k < 0 && errno == EINTR) continue;
        if (k > 0)
            to += k, offset += (uint64_t)k, n_bytes -= (size_t)k;
        else
            prof_fail(err, PROF_IO, offset, "%s: cannot read at byte %llu: %s", file->path,
                      (unsigned long long)offset,
                      k < 0 ? strerror(errno) : "the file became shorter");
    }
    handle_release(file->handle);
    return err->code;
}

const uint8_t *window_at(Window *w, uint64_t offset, size_t n_wanted, size_t *n_there, ProfErr *err)
{
    if (offset >= w->offset && offset - w->offset <= w->n_bytes &&
        w->n_bytes - (offset - w->offset) >= n_wanted) {
        *n_there = w->n_bytes - (offset - w->offset);
        return w->bytes + (offset - w->offset);
    }
    uint64_t end = offset < FILE_MERGED ? w->file->n_bytes : FILE_MERGED + w->file->n_merged,
             left = end - offset;
    if (offset > end || n_wanted > left) {
        prof_fail(err, PROF_FORMAT, offset,
                  "%s: %zu bytes are needed at byte %llu, but the file ends before them",
                  w->file->path, n_wanted, (unsigned long long)offset);
        return NULL;
    }
    bool goes_on = w->n_bytes && offset >= w->offset && offset - w->offset <= w->n_bytes;
    w->ahead = goes_on ? size_within(w->ahead * 4, 0, WINDOW_BYTES) : WINDOW_LEAST;
    size_t n = n_wanted > w->ahead ? n_wanted : w->ahead;
    if (n > left) n = (size_t)left;
    if (w->capacity < n ||
        w->capacity > 2 * n + WINDOW_BYTES) { /* it grew for one huge message: shrink it again */
        prof_free(w->bytes);
        w->n_bytes = w->capacity = 0;
        w->bytes = prof_buffer(n);
        if (!w->bytes) {
            prof_nomem(err);
            return NULL;
        }
        w->capacity = n;
    }
    w->n_bytes = 0;
    if (file_read(w->file, offset, w->bytes, n, err)) return NULL;
    w->offset = offset, w->n_bytes = n;
    *n_there = n;
    return w->bytes;
}

void window_free(Window *window)
{
    prof_free(window->bytes);
    *window = (Window){.file = window->file};
}
