// SPDX-License-Identifier: Apache-2.0
/* file.h: a profile's bytes, read through a window.
 *
 * Files are read with pread() into a window instead of being mapped: a mapping of a file that somebody truncates kills the
 * process, a read gives an error, and measured over the page cache the window is the faster of the two. Every refill checks
 * that the file is still the one that was opened. */
#ifndef PROF_FILE_H
#define PROF_FILE_H

#include "open_files.h"

typedef struct {
    char *path;         /* as opened; owned */
    FileHandle *handle; /* the file at path; NULL: it was only noted */
    int inflated_fd;    /* its inflated copy, an unlinked temporary file; -1: none */
    uint64_t n_bytes;   /* to read */
    uint64_t disk_size; /* of the file at path */
    int64_t mtime_ns;
    uint64_t trailing_bytes; /* behind the last gzip member, left out */
    bool gzipped, cut_short; /* cut_short: the gzip stream ended early; what was there is readable */
    uint8_t *merged;         /* messages that the file holds in parts, put together: read as the bytes from FILE_MERGED on */
    size_t n_merged, merged_capacity;
} File;
#define FILE_MERGED ((uint64_t)1 << 62)

/* Opens a regular file, inflating gzip. On failure err is set and nothing is held. */
int file_open(File *file, const char *path, ProfErr *err);
void file_close(File *file);
/* Notes a file's path, size and time without holding it open: there may be thousands of HLO programs. */
int file_note(File *file, const char *path, ProfErr *err);
/* Opens a noted file; an error when it is not the one any more. */
int file_reopen(const File *noted, File *file, ProfErr *err);
/* Size and mtime of a path, for knowing a file again. False when there is no regular file. */
bool file_identity(const char *path, uint64_t *size_bytes, int64_t *mtime_ns);

/* Puts bytes behind file->merged, before anybody else reads them; false when there is no memory. */
bool file_merge(File *file, const uint8_t *bytes, size_t n_bytes);
/* Reads exactly n_bytes at offset; an error when the file has changed since it was opened. */
int file_read(const File *file, uint64_t offset, void *out, size_t n_bytes, ProfErr *err);

typedef struct {
    const File *file;
    uint8_t *bytes;
    uint64_t offset; /* of bytes[0] in the file */
    size_t n_bytes, capacity;
    size_t ahead; /* bytes of the last refill: few after a jump, more as long as reading goes on where it was */
} Window;

enum { WINDOW_LEAST = 4 << 10, WINDOW_BYTES = 256 << 10 };

/* The n_wanted bytes at offset (which must lie in the file, or in what was merged), and in *n_there how many follow in the window, at least as
 * many. They stay valid until the next call. NULL on failure, with err set. */
const uint8_t *window_at(Window *window, uint64_t offset, size_t n_wanted, size_t *n_there, ProfErr *err);
void window_free(Window *window);

#endif
