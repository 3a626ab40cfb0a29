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
    char *copy = arena_buffer(arena, n_bytes + 1);
    uint64_t hash = text_hash(text, n_bytes);
    NumberedText *added = copy ? PUSH_KEYED(texts->texts, &texts->by_text, hash) : NULL;
    if (!added) return NO_NUMBER;
    memcpy(copy, text, n_bytes);
    *added = (NumberedText){copy, n_bytes};
    return texts->texts.n - 1;
}

void numbered_free(NumberedTexts *texts)
{
    prof_free(texts->texts.items);
    hash_free(&texts->by_text);
    *texts = (NumberedTexts){0};
}
