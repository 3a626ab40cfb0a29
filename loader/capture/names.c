// SPDX-License-Identifier: Apache-2.0
/* names.c: numbers texts; see names.h. */
#include "names.h"

#include <stdio.h>

enum { LONGEST = 64 << 10 };

uint32_t name_id(Names *names, const char *text, ProfErr *err)
{
    if (!*text) return 0;
    size_t n = strlen(text);
    uint64_t hash = text_hash(text, n);
    HASH_EACH(i, &names->by_text, hash)
        if (!strcmp(names->texts[i], text)) return (uint32_t)i + 1;
    char *copy = arena_alloc(&names->arena, n + 1);
    if (!copy || !GROW(names->texts, names->n, names->capacity) ||
        !hash_add(&names->by_text, hash, names->n)) {
        prof_nomem(err);
        return 0;
    }
    names->texts[names->n++] = memcpy(copy, text, n + 1);
    return (uint32_t)names->n;
}

uint32_t name_id_format(Names *names, ProfErr *err, const char *format, ...)
{
    char small[512], *text = small;
    va_list ap;
    va_start(ap, format);
    int n = vsnprintf(small, sizeof small, format, ap);
    va_end(ap);
    if (n >= (int)sizeof small) {
        if (n > LONGEST) n = LONGEST;
        if (!(text = prof_alloc((size_t)n + 1))) {
            prof_nomem(err);
            return 0;
        }
        va_start(ap, format);
        vsnprintf(text, (size_t)n + 1, format, ap);
        va_end(ap);
    }
    uint32_t id = name_id(names, text, err);
    if (text != small) prof_free(text);
    return id;
}

void names_free(Names *names)
{
    prof_free(names->texts);
    hash_free(&names->by_text);
    arena_free(&names->arena);
    *names = (Names){0};
}
