// SPDX-License-Identifier: Apache-2.0
/* names.c: see names.h. */
#include "names.h"

#include <stdio.h>

enum { LONGEST = 64 << 10 };

static uint64_t hash_of(const char *s)
{
    uint64_t h = 0xcbf29ce484222325u;
    for (; *s; s++) h = (h ^ (uint8_t)*s) * 0x100000001b3u;
    return mix64(h);
}

static bool has_room(Names *names)
{
    if ((names->n + 1) * 2 <= names->n_slots) return true;
    size_t n_slots = names->n_slots ? names->n_slots * 2 : 256;
    uint32_t *slots = prof_alloc(n_slots * sizeof *slots);
    if (!slots) return false;
    for (size_t i = 0; i < names->n; i++) {
        size_t slot = hash_of(names->texts[i]) & (n_slots - 1);
        while (slots[slot]) slot = (slot + 1) & (n_slots - 1);
        slots[slot] = (uint32_t)i + 1;
    }
    prof_free(names->slots);
    names->slots = slots, names->n_slots = n_slots;
    return true;
}

uint32_t name_id(Names *names, const char *text, ProfErr *err)
{
    if (!*text) return 0;
    if (!has_room(names)) return prof_nomem(err), 0;
    size_t slot = hash_of(text) & (names->n_slots - 1), n = strlen(text) + 1;
    for (; names->slots[slot]; slot = (slot + 1) & (names->n_slots - 1))
        if (!strcmp(names->texts[names->slots[slot] - 1], text)) return names->slots[slot];
    char *copy = arena_alloc(&names->arena, n);
    if (!copy || names->n >= UINT32_MAX - 1 || !GROW(names->texts, names->n, names->capacity))
        return prof_nomem(err), 0;
    names->texts[names->n++] = memcpy(copy, text, n);
    return names->slots[slot] = (uint32_t)names->n;
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
        if (!(text = prof_alloc((size_t)n + 1))) return prof_nomem(err), 0;
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
    prof_free(names->slots);
    arena_free(&names->arena);
    *names = (Names){0};
}
