// SPDX-License-Identifier: Apache-2.0
/* reader.c: the list of formats; see reader.h. */
#include "reader.h"

static const Reader *const all[] = {&xspace_reader, &hlo_reader, NULL};
const Reader *const *readers = all;

const Reader *reader_of_name(const char *file_name, size_t *stem)
{
    for (const Reader *const *reader = readers; *reader; reader++)
        for (const char *const *suffix = (*reader)->suffixes; *suffix; suffix++) {
            if (!has_suffix(file_name, *suffix)) continue;
            *stem = strlen(file_name) - strlen(*suffix);
            return *reader;
        }
    return NULL;
}

const Reader *reader_of_content(const Reader *reader)
{
    return reader->translate ? &xspace_reader : reader;
}
