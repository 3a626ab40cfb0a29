// SPDX-License-Identifier: Apache-2.0
/* new_file.h: a file that has its name when it is complete, and replaces another only if it may. */
#ifndef COMMAND_NEW_FILE_H
#define COMMAND_NEW_FILE_H

#include "profsql.h"

typedef struct {
    const char *path; /* name that it gets */
    const char *part; /* empty file to write to */
    bool force;       /* replaces another file of that name */
} NewFile;

/* Both write what is wrong. */
bool new_file_open(NewFile *file, const char *path, bool force);
/* Gives the file its name if `keep`, else removes it. False if it does not have its name. */
bool new_file_close(const NewFile *file, bool keep);
double new_file_megabytes(const NewFile *file);

#endif
