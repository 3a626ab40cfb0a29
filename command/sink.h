// SPDX-License-Identifier: Apache-2.0
/* sink.h: where an answer goes: the standard output, or a file that appears when it is complete. */
#ifndef COMMAND_SINK_H
#define COMMAND_SINK_H

#include "profsql.h"

#include <stdio.h>

typedef struct {
    FILE *file;
    const char *name; /* for messages */
    const char *path; /* the file that it becomes; NULL for the standard output and devices */
    const char *part; /* the file that is written */
} Sink;

/* path NULL: the standard output. An existing file is replaced at the end. */
bool sink_open(Sink *sink, const char *path);
/* Writes what is buffered. With `keep`, the file gets its name; without, it goes. False, with a
 * message: something could not be written. */
bool sink_close(Sink *sink, bool keep);
/* Columns of the terminal, or COLUMNS of the environment; 0: no limit. */
int sink_width(const Sink *sink);
/* Whether to write colours: a terminal, without NO_COLOR. */
bool sink_has_colour(const Sink *sink);

#endif
