// SPDX-License-Identifier: Apache-2.0
/* sink.h: where an answer goes: standard output, or a file that appears when it is complete. */
#ifndef COMMAND_SINK_H
#define COMMAND_SINK_H

#include "profsql.h"

#include <stdio.h>

typedef struct {
    FILE *file;
    const char *name; /* for messages */
    /* name of the file when it is complete; NULL for standard output and devices */
    const char *path;
    const char *part; /* file that is written */
} Sink;

/* Opens the sink. path NULL: standard output. An existing file is replaced at the end. */
bool sink_open(Sink *sink, const char *path);
/* Writes what is buffered. With `keep`, the file gets its name; otherwise it is removed. False,
 * after writing an error, if something could not be written. */
bool sink_close(Sink *sink, bool keep);
/* Returns the columns of the terminal, or COLUMNS of the environment; 0: no limit. */
int sink_width(const Sink *sink);
/* Returns whether to write colours: to a terminal, without NO_COLOR. */
bool sink_has_colour(const Sink *sink);

#endif
