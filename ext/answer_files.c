// SPDX-License-Identifier: Apache-2.0
/* answer_files.c: files of kept answers; see answers.h.
 *
 * A file is called after the fingerprint of its key. It has a header, the key and the rows; the
 * checksum covers all after it. It is written under another name and renamed, so that a process
 * that reads sees all of a file or none, whatever others do at the time. Its modification time is
 * that of its last use. */
#define _GNU_SOURCE
#include "answers.h"
SQLITE_EXTENSION_INIT3

#include "../loader/base/file.h"
#include "../loader/base/fingerprint.h"
#include "../loader/base/list.h"
#include "../loader/base/sort.h"
#include "settings.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define SUFFIX ".answer"
static const char magic[8] = "profsql";

typedef struct {
    char magic[8];
    uint64_t checksum; /* of everything after it */
    uint64_t n_key_bytes, n_rows, n_columns;
} Header;
enum { CHECKED = offsetof(Header, n_key_bytes), MOST_FILE_BYTES = 16 << 20 };

static const char *folder(void) { return getenv("PROFSQL_CACHE"); }

/* Returns the path of a key's file, with a text before its suffix; NULL if memory runs out. */
static char *path_of(const char *key, const char *before_suffix)
{
    return sqlite3_mprintf("%s/%016llx%s" SUFFIX, folder(), fingerprint64(key, strlen(key)),
                           before_suffix);
}

/* ---- reading ---- */

/* Reads a file. False if there is none, or if another user wrote it, whose files are not trusted.
 */
static bool read_file(const char *path, TextBuffer *out)
{
    struct stat st;
    char block[1 << 14];
    ssize_t n = 0;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    if (fd < 0) return false;
    bool ok = !fstat(fd, &st) && S_ISREG(st.st_mode) && st.st_uid == geteuid() &&
              st.st_size <= MOST_FILE_BYTES;
    out->limit = MOST_FILE_BYTES;
    while (ok && (n = read(fd, block, sizeof block)) > 0) text_add_bytes(out, block, (size_t)n);
    if (ok) futimens(fd, NULL);
    close(fd);
    return ok && !n && !out->cut && !out->no_memory;
}

static bool is_right(const TextBuffer *file, const Header *header, const char *key, int n_columns)
{
    size_t n_key = strlen(key);
    return !memcmp(header->magic, magic, sizeof magic) && header->n_key_bytes == n_key &&
           header->n_columns == (uint64_t)n_columns && file->n_bytes >= sizeof *header + n_key &&
           !memcmp(file->text + sizeof *header, key, n_key) &&
           header->checksum == fingerprint64(file->text + CHECKED, file->n_bytes - CHECKED);
}

Answer *answer_read(const char *key, int n_columns)
{
    TextBuffer file = {0};
    Header header = {0};
    char *path = path_of(key, "");
    bool is_there = path && read_file(path, &file);
    if (is_there && file.n_bytes >= sizeof header) memcpy(&header, file.text, sizeof header);
    bool ok = is_there && is_right(&file, &header, key, n_columns);
    if (is_there && !ok) unlink(path); /* damaged, or of another key with this fingerprint */
    sqlite3_free(path);
    if (!ok) {
        text_free(&file);
        return NULL;
    }
    size_t before = sizeof header + strlen(key);
    file.n_bytes -= before;
    memmove(file.text, file.text + before, file.n_bytes);
    return answer_of_bytes(&file, header.n_rows, n_columns);
}

/* ---- the size of the folder ---- */

typedef struct {
    char *path;
    int64_t used_ns;
    uint64_t n_bytes; /* of the blocks that it takes */
} Kept;
typedef LIST(Kept) Files;
enum { BLOCK = 4096 };

static int used_first(const void *a, const void *b)
{
    return ORDER(((const Kept *)a)->used_ns, ((const Kept *)b)->used_ns);
}

static uint64_t most_bytes(void)
{
    static NumberSetting mib = {
        .name = "PROFSQL_CACHE_MIB", .unit = "MiB", .most = 1 << 30, .otherwise = 256};
    return number_setting(&mib) << 20;
}

/* Returns whether a file is one of ours: an answer, or one that was never finished. */
static bool is_ours(const char *name)
{
    size_t n = strlen(name), n_suffix = sizeof SUFFIX - 1;
    return n >= 16 + n_suffix && strspn(name, "0123456789abcdef") == 16 &&
           !strcmp(name + n - n_suffix, SUFFIX);
}

static bool list_files(DIR *dir, const char *in, Files *files)
{
    for (struct dirent *e; (e = readdir(dir));) {
        struct stat st;
        if (!is_ours(e->d_name) || fstatat(dirfd(dir), e->d_name, &st, AT_SYMLINK_NOFOLLOW))
            continue;
        Kept *kept = PUSH(*files);
        if (!kept) return false;
        int64_t used_ns = (int64_t)st.st_mtim.tv_sec * 1000000000 + st.st_mtim.tv_nsec;
        *kept = (Kept){sqlite3_mprintf("%s/%s", in, e->d_name), used_ns,
                       ((uint64_t)st.st_size + BLOCK - 1) / BLOCK * BLOCK};
        if (!kept->path) return false;
    }
    return true;
}

/* Deletes the files used longest ago while the folder has more than `most` bytes. */
static void trim(const char *in, uint64_t most)
{
    Files files = {0};
    uint64_t total = 0;
    DIR *dir = opendir(in);
    bool ok = dir && list_files(dir, in, &files);
    if (dir) closedir(dir);
    sort_array(files.items, files.n, sizeof *files.items, used_first);
    for (size_t i = 0; i < files.n; i++) total += files.items[i].n_bytes;
    for (size_t i = 0; i < files.n; i++) {
        const Kept *kept = &files.items[i];
        if (ok && total > most && !unlink(kept->path)) total -= kept->n_bytes;
        sqlite3_free(kept->path);
    }
    prof_free(files.items);
}

/* ---- writing ---- */

/* Makes the folders of a file. That one is missing shows when the file is written. */
static void make_folders(char *path)
{
    for (char *p = path + 1; *p; p++) {
        if (*p != '/') continue;
        *p = 0;
        mkdir(path, 0700);
        *p = '/';
    }
}

/* Says once that answers are not kept, since nothing else would show it. */
static void complain(const char *path)
{
    static atomic_bool told;
    int why = errno;
    if (atomic_exchange(&told, true)) return;
    fprintf(stderr,
            "libprofsql: %s: cannot be written (%s), so answers are not kept; set PROFSQL_CACHE "
            "to a folder of your own\n",
            path, strerror(why));
}

/* Returns whether the process may write a file of this size. Writing a longer one ends it. */
static bool may_write(size_t n_bytes)
{
    struct rlimit limit;
    if (getrlimit(RLIMIT_FSIZE, &limit) || limit.rlim_cur >= n_bytes) return true;
    errno = EFBIG;
    return false;
}

static bool write_file(const char *path, const Header *header, const TextBuffer *content)
{
    if (!may_write(CHECKED + content->n_bytes)) return false;
    int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (fd < 0) return false;
    bool ok =
        file_write_all(fd, header, CHECKED) && file_write_all(fd, content->text, content->n_bytes);
    return !close(fd) && ok;
}

void answer_write(const Answer *answer, const char *key)
{
    enum { WRITES_UNTIL_TRIM = 32 };
    static atomic_uint n_written;
    unsigned nth = atomic_fetch_add(&n_written, 1);
    const TextBuffer *rows = answer_bytes(answer);
    TextBuffer content = {0};
    char room[100];
    struct timespec now; /* containers that share the folder may have the same process numbers */
    Header header = {.n_key_bytes = strlen(key),
                     .n_rows = answer_n_rows(answer),
                     .n_columns = (uint64_t)answer_n_columns(answer)};
    memcpy(header.magic, magic, sizeof magic);
    text_add_bytes(&content, (const char *)&header + CHECKED, sizeof header - CHECKED);
    text_add(&content, key);
    text_add_bytes(&content, rows->text, rows->n_bytes);
    header.checksum = fingerprint64(content.text, content.n_bytes);
    clock_gettime(CLOCK_REALTIME, &now);
    snprintf(room, sizeof room, ".%ld-%u-%lld.%09ld", (long)getpid(), nth, (long long)now.tv_sec,
             now.tv_nsec);
    char *part = path_of(key, room), *path = path_of(key, "");
    if (part && path && !content.no_memory) {
        make_folders(path);
        if (!write_file(part, &header, &content) || rename(part, path)) {
            complain(path);
            unlink(part);
        } else if (nth % WRITES_UNTIL_TRIM == 0) {
            trim(folder(), most_bytes());
        }
    }
    text_free(&content);
    sqlite3_free(part);
    sqlite3_free(path);
}
