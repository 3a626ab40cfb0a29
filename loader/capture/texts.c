// SPDX-License-Identifier: Apache-2.0
/* texts.c: copies texts; see texts.h. Copies live as long as the process: there are as many as the
 * program has kernels. */
#include "texts.h"

#include <pthread.h>

enum {
    SLOTS = 1 << 16,
    POINTERS = 1 << 12,
    MOST_BYTES = 16 << 20
}; /* if there are more, pointers are left unchanged */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static const char *slots[SLOTS];
static struct {
    const char *from, *copy;
} pointers[POINTERS]; /* cache of the last ones */
static size_t n_texts, n_bytes;

static const char *keep(const char *text)
{
    size_t memo = mix64((uint64_t)(uintptr_t)text * 0x9e3779b97f4a7c15u) & (POINTERS - 1);
    if (pointers[memo].from == text && !strcmp(pointers[memo].copy, text))
        return pointers[memo].copy;
    uint64_t h = 0xcbf29ce484222325u;
    size_t n = 0;
    for (; text[n]; n++) h = (h ^ (uint8_t)text[n]) * 0x100000001b3u;
    size_t slot = mix64(h) & (SLOTS - 1);
    while (slots[slot] && strcmp(slots[slot], text)) slot = (slot + 1) & (SLOTS - 1);
    if (!slots[slot]) {
        char *copy = n_texts < SLOTS / 2 && n_bytes + n < MOST_BYTES ? malloc(n + 1) : NULL;
        if (!copy) return text;
        slots[slot] = memcpy(copy, text, n + 1);
        n_texts++, n_bytes += n + 1;
    }
    pointers[memo].from = text, pointers[memo].copy = slots[slot];
    return slots[slot];
}

void texts_keep(const Cupti *cupti, uint8_t *bytes, size_t n_valid)
{
    static const struct {
        enum RecordKind kind;
        uint32_t number;
    } with_text[] = {{REC_KERNEL, 10}, {REC_MEMORY, 49}, {REC_JIT, 52}};
    uint8_t *record = NULL;
    size_t offsets[COUNT(with_text)];
    for (size_t i = 0; i < COUNT(with_text); i++)
        offsets[i] = record_kinds[with_text[i].kind]
                         .fields[record_field_index(with_text[i].kind, FIELD_NAME)]
                         .offset;
    pthread_mutex_lock(&lock);
    while (!cupti->ActivityGetNextRecord(bytes, n_valid, &record)) {
        uint32_t number;
        const char *text;
        memcpy(&number, record, sizeof number);
        for (size_t i = 0; i < COUNT(with_text); i++) {
            if (number != with_text[i].number) continue;
            memcpy(&text, record + offsets[i], sizeof text);
            if (text) text = keep(text);
            memcpy(record + offsets[i], &text, sizeof text);
        }
    }
    pthread_mutex_unlock(&lock);
}

void texts_child(void) { pthread_mutex_init(&lock, NULL); }
