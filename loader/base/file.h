// SPDX-License-Identifier: Apache-2.0
/* file.h: opens a profile, inflates gzip, and reads its bytes through a window.
 *
 * Files are read with pread() instead of being mapped. If a mapped file is truncated, the process
 * dies; a read returns an error. Reading from the page cache through a window was also measured to
 * be faster. Each read checks that the file's size and modification time are still those of the
 * opened file. */
#ifndef PROF_FILE_H
#define PROF_FILE_H

#include "open_files.h"

/* An open or noted file. */
typedef struct {
    char *path;         /* path as it was opened; owned by the File */
    FileHandle *handle; /* open file; NULL after file_note() */
    int inflated_fd;  /* unlinked temporary file with the inflated or translated bytes; -1: none */
    uint64_t n_bytes; /* size of the content, inflated or translated */
    uint64_t disk_size; /* size of the file on disk */
    int64_t mtime_ns;
    uint64_t trailing_bytes; /* bytes after the last gzip member, which are ignored */
    /* cut_short: the gzip stream ends early; the bytes before that can be read */
    bool gzipped, cut_short;
    /* Messages that the file stores in several parts, joined (file_merge()). They are read as if
     * they followed at offset FILE_MERGED. */
    uint8_t *merged;
    size_t n_merged, merged_capacity;
} File;
#define FILE_MERGED ((uint64_t)1 << 62)

/* Opens a regular file and inflates it if it is gzipped. Close it with file_close(). On failure
 * nothing is left open. */
int file_open(File *file, const char *path, ProfErr *err);
/* Closes the file and frees what it owns. Also for files of file_note(). */
void file_close(File *file);
/* Records a file's path, size and modification time without opening it, because a run may have
 * thousands of HLO programs. Close it with file_close(). */
int file_note(File *file, const char *path, ProfErr *err);
/* Opens in `file` what file_note() recorded in `noted`. Fails if size or modification time
 * changed. */
int file_reopen(const File *noted, File *file, ProfErr *err);
/* Returns the last part of a path, after its last slash. */
const char *base_name(const char *path);
bool is_folder(const char *path);
/* Returns the size and modification time of the file at `path`. False if it is not a regular
 * file. */
bool file_identity(const char *path, uint64_t *size_bytes, int64_t *mtime_ns);
/* Writes n bytes to a descriptor. False, with errno set, if that fails. */
bool file_write_all(int fd, const void *from, size_t n);

/* Replaces the content by what `translate` writes to the descriptor of a temporary file. On failure
 * the file is as before. */
int file_translate(File *file, int (*translate)(const File *file, int fd, ProfErr *err),
                   ProfErr *err);

/* Appends bytes to file->merged. Only while no other thread reads the file. False if memory runs
 * out. */
bool file_merge(File *file, const uint8_t *bytes, size_t n_bytes);
/* Reads exactly n_bytes at offset into `out`. Fails if the file has changed since it was opened.
 * May be called from several threads. */
int file_read(const File *file, uint64_t offset, void *out, size_t n_bytes, ProfErr *err);

/* Part of a file in memory. Set `file`, the rest to 0, and free it with window_free(). For one
 * thread. */
typedef struct {
    const File *file;
    uint8_t *bytes;
    uint64_t offset; /* position of bytes[0] in the file */
    size_t n_bytes, capacity;
    /* bytes that the last refill read at least: WINDOW_LEAST after a jump, up to WINDOW_BYTES while
     * reading goes forward */
    size_t ahead;
} Window;

enum { WINDOW_LEAST = 4 << 10, WINDOW_BYTES = 256 << 10 };

/* Returns the n_wanted bytes at offset, valid until the next call with this window. *n_there is how
 * many bytes from offset on are in the window: n_wanted or more. Fails if the file ends before
 * offset + n_wanted. */
const uint8_t *window_at(Window *window, uint64_t offset, size_t n_wanted, size_t *n_there,
                         ProfErr *err);
/* Frees the window's memory. It can be used again for the same file. */
void window_free(Window *window);

#endif
