// SPDX-License-Identifier: Apache-2.0
#include "numbered_texts.h"

size_t numbered_find(const NumberedTexts *texts, const char *text, size_t n_bytes)
{
    uint64_t hash = text_hash(text, n_bytes);
    HASH_EACH(i, &texts->by_text, hash) {
        const NumberedText *known = &texts->texts.items[i];
        if (known->n_bytes == n_bytes && !memcmp(known->text, text, n_bytes)) return i;
    }
    return NO_NUMBER;
}

size_t numbered_add(NumberedTexts *texts, Arena *arena, const char *text, size_t n_bytes)
{
    size_t number = texts->texts.n;
    char *copy = arena_take(arena, n_bytes + 1);
    NumberedText *added = copy ? PUSH(texts->texts) : NULL;
    if (added && hash_add(&texts->by_text, text_hash(text, n_bytes), number)) {
        memcpy(copy, text, n_bytes);
        *added = (NumberedText){copy, n_bytes};
        return number;
    }
    texts->texts.n = number;
    return NO_NUMBER;
}

void numbered_free(NumberedTexts *texts)
{
    prof_free(texts->texts.items);
    hash_free(&texts->by_text);
    *texts = (NumberedTexts){0};
}
