// SPDX-License-Identifier: Apache-2.0
/* reader.h: the file formats that can be read.
 *
 * A format that does not resemble XSpace needs only `translate`: it writes the profile as an XSpace
 * to an unnamed temporary file, which the XSpace reader then reads. To add a format, add a Reader
 * to `readers`. */
#ifndef PROF_READER_H
#define PROF_READER_H

#include "base/file.h"

#include <stdatomic.h>

typedef struct Host Host;
typedef struct Line Line;

typedef struct Reader {
    const char *name;            /* value of prof_runs.format */
    const char *const *suffixes; /* suffixes of file names, longest first, ended by NULL */
    bool is_program; /* a file is one HLO program, without planes and events; it is open only while
                        it is read */
    /* Writes the file to `fd` as an XSpace. NULL: the file is read as it is. Fails with PROF_FORMAT
     * if the file has another format. */
    int (*translate)(const File *file, int fd, ProfErr *err);
    /* The functions below are not used with `translate`.
     *
     * Reads the structure: planes, names, and where lines are. Damage becomes issues of the host.
     * Fails with PROF_FORMAT if the file has another format. */
    int (*read_structure)(Host *host, ProfErr *err);
    /* Reads the events of a line into memory of `arena`. Ends early when *stop is set; adds the
     * bytes read to *bytes_done. NULL for programs. */
    int (*read_line)(Line *line, Window *window, Arena *arena, const atomic_bool *stop,
                     atomic_uint_fast64_t *bytes_done, ProfErr *err);
    /* Does what needs all lines to be read. NULL for programs. */
    int (*finish)(Host *host, ProfErr *err);
} Reader;

extern const Reader xspace_reader, hlo_reader;
/* All formats, in the order in which a file with an unknown suffix is tried, ended by NULL. Tests
 * replace the list. */
extern const Reader *const *readers;

/* Returns the reader for a file's name, and in *stem the length of the name without its suffix.
 * NULL if no format has the suffix. */
const Reader *reader_of_name(const char *file_name, size_t *stem);
/* Returns the reader whose functions read the file once it is open: that of XSpace for a format
 * that is translated. */
const Reader *reader_of_content(const Reader *reader);

#endif
