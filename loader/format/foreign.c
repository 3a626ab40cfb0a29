// SPDX-License-Identifier: Apache-2.0
/* foreign.c: see foreign.h. */
#include "foreign.h"

enum { N_FIRST = 512 };

static const struct {
    size_t at;
    const char *bytes, *advice;
} known_starts[] = {
    {0, "PK\003\004", "is a zip archive; unpack it and give the *.xplane.pb in it"},
    {257, "ustar", "is a tar archive; unpack it and give the folder or the *.xplane.pb in it"},
    {0, "\x28\xb5\x2f\xfd", "is compressed with zstd; decompress it (zstd -d)"},
    {0, "\3757zXZ", "is compressed with xz; decompress it (xz -d)"},
    {0, "BZh", "is compressed with bzip2; decompress it (bzip2 -d)"},
    {0, "SQLite format 3",
     "is an SQLite database; libprofsql does not read those of Nsight Systems and rocprof; give "
     "the *.xplane.pb that the profiler wrote"},
    {0, "\177ELF", "is a program or library; give the *.xplane.pb that the profiler wrote"},
};

/* Files that are recognised by their names, because their content is not specific. */
static const struct {
    const char *part, *advice;
} known_names[] = {
    {".tfevents.", "is a summary file of TensorBoard; give its folder, which has the profiles in "
                   "plugins/profile"},
    {".nsys-rep", "is a report of Nsight Systems, which libprofsql does not read; record with JAX "
                  "or TensorFlow, or with profsql-capture"},
    {".qdrep", "is a report of Nsight Systems, which libprofsql does not read; record with JAX or "
               "TensorFlow, or with profsql-capture"},
    {".ncu-rep", "is a report of Nsight Compute, which libprofsql does not read; record with JAX "
                 "or TensorFlow, or with profsql-capture"},
};

/* Returns whether the bytes start like a JSON object, or an array of objects or numbers. */
static bool is_json(const uint8_t *bytes, size_t n)
{
    size_t i = 0;
    bool open = false;
    for (; i < n && memchr(" \t\r\n[{", bytes[i], 6); i++)
        open |= bytes[i] == '{' || bytes[i] == '[';
    return open && i < n && memchr("\"-0123456789", bytes[i], 12) != NULL;
}

const char *foreign_advice(const File *file)
{
    uint8_t first[N_FIRST];
    size_t n = file->n_bytes < N_FIRST ? (size_t)file->n_bytes : N_FIRST;
    ProfErr err = {0}; /* dropped: a file that cannot be read has an error of its own */
    if (file_read(file, 0, first, n, &err)) return NULL;
    for (size_t i = 0; i < COUNT(known_names); i++)
        if (strstr(file->path, known_names[i].part)) return known_names[i].advice;
    for (size_t i = 0; i < COUNT(known_starts); i++) {
        size_t n_start = strlen(known_starts[i].bytes), at = known_starts[i].at;
        if (n >= at + n_start && !memcmp(first + at, known_starts[i].bytes, n_start))
            return known_starts[i].advice;
    }
    if (is_json(first, n))
        return "is JSON, as Chrome traces are, which are not read; give the *.xplane.pb that JAX "
               "and TensorFlow write beside it";
    return NULL;
}
