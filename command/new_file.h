// SPDX-License-Identifier: Apache-2.0
/* new_file.h: a file that gets its name when it is complete, and replaces another one only if
 * allowed. */
#ifndef COMMAND_NEW_FILE_H
#define COMMAND_NEW_FILE_H

#include "profsql.h"

typedef struct {
    const char *path; /* the name that it will get */
    const char *part; /* empty file to write to */
    bool force;       /* may replace another file with that name */
} NewFile;

/* Returns whether a path ends in one of some suffixes, in any case. The list ends in NULL. */
bool new_file_has_suffix(const char *path, const char *const *suffixes);
/* Opens the file. Both functions write an error on failure. */
bool new_file_open(NewFile *file, const char *path, bool force);
/* Gives the file its name if `keep`; otherwise removes it. False if it did not get its name. */
bool new_file_close(const NewFile *file, bool keep);
double new_file_megabytes(const NewFile *file);

#endif
