// SPDX-License-Identifier: Apache-2.0
/* reader.c: the list of formats; see reader.h. */
#include "reader.h"

static const Reader *const all[] = {&xspace_reader, &hlo_reader, NULL};
const Reader *const *readers = all;

const Reader *reader_of_name(const char *file_name, size_t *stem)
{
    size_t n = strlen(file_name);
    for (const Reader *const *reader = readers; *reader; reader++)
        for (const char *const *suffix = (*reader)->suffixes; *suffix; suffix++) {
            size_t k = strlen(*suffix);
            if (n <= k || strcmp(file_name + n - k, *suffix) != 0) continue;
            *stem = n - k;
            return *reader;
        }
    return NULL;
}

const Reader *reader_of_content(const Reader *reader)
{
    return reader->translate ? &xspace_reader : reader;
}
