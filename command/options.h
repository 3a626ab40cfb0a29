// SPDX-License-Identifier: Apache-2.0
/* options.h: the words of the command line. */
#ifndef COMMAND_OPTIONS_H
#define COMMAND_OPTIONS_H

#include "catalog.h"

enum Format { FORMAT_TABLE, FORMAT_CSV, FORMAT_JSON, FORMAT_JSONL, FORMAT_MARKDOWN };

/* Options that only apply to some uses, as bits. */
enum {
    TAKES_FORMAT = 1,
    TAKES_OUTPUT = 2,
    TAKES_SELECTION = 4,
    TAKES_FORCE = 8,
    TAKES_TABLES = 16,
    TAKES_TRACE = 32,
    TAKES_AGAINST = 64
};

/* The value of a table's parameter. */
typedef struct {
    const char *name; /* in SQL */
    const char *value;
} Given;

typedef struct {
    enum Format format;
    const char *output, *where, *order_by, *columns, *limit, *tables; /* NULL: not given */
    const char *trace, *from, *to, *lines,
        *against; /* trace: "perfetto" or "chrome"; NULL if not given */
    bool help, version, force, quiet;
    Given given[MAX_PARAMETERS];
    int n_given;
    unsigned used; /* bits of the options that were given */
    char **words;
    int n_words;
} Options;

/* Parses the command line. False after writing an error. */
bool options_parse(Options *options, const Catalog *catalog, int argc, char **argv);
/* Writes an error for options that do not apply to a use, which `use` names. False if there are
 * any. */
bool options_allow(const Options *options, unsigned allowed, bool parameters, const char *use);

#endif
