// SPDX-License-Identifier: Apache-2.0
/* names.h: texts with numbers; equal texts have one number, and 0 is the empty text. */
#ifndef PROF_CAPTURE_NAMES_H
#define PROF_CAPTURE_NAMES_H

#include "../base/base.h"

typedef struct {
    char **texts; /* NUL-terminated, in the arena */
    size_t n, capacity;
    HashTable by_text;
    Arena arena;
} Names;

uint32_t name_id(Names *names, const char *text, ProfErr *err);
uint32_t name_id_format(Names *names, ProfErr *err, const char *format, ...)
    __attribute__((format(printf, 3, 4))); /* cut to 64 KiB */
static inline const char *name_text(const Names *names, uint32_t id)
{
    return id ? names->texts[id - 1] : "";
}
void names_free(Names *names);

#endif
