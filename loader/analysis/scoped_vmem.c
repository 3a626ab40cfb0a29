/* scoped_vmem.c: fast memory that single TPU instructions set aside for themselves. It stands in their backend config,
 *   {... "used_scoped_memory_configs":[{"memory_space":"1","offset":"0","size":"1048576"}] ...}
 * with numbers as numbers or as texts. Only this list is looked at; the rest of the JSON may be anything. */
#define _GNU_SOURCE
#include "heap.h"

typedef struct {
    const char *p, *end;
} Json;

static void blanks(Json *j)
{
    while (j->p < j->end && (*j->p == ' ' || *j->p == '\t' || *j->p == '\n' || *j->p == '\r')) j->p++;
}

static bool take(Json *j, char c)
{
    blanks(j);
    if (j->p == j->end || *j->p != c) return false;
    j->p++;
    return true;
}

/* A text without what its escapes stand for: keys and numbers have none. */
static bool text(Json *j, const char **first, size_t *n)
{
    if (!take(j, '"')) return false;
    for (*first = j->p; j->p < j->end && *j->p != '"'; j->p++)
        if (*j->p == '\\' && j->p + 1 < j->end) j->p++;
    if (j->p >= j->end) return false;
    *n = (size_t)(j->p++ - *first);
    return true;
}

/* A whole number, bare or in quotes; anything else is passed over and is -1. */
static bool number(Json *j, int64_t *value)
{
    const char *p, *end;
    size_t n;
    blanks(j);
    if (text(j, &p, &n)) {
        end = p + n;
    } else {
        p = j->p;
        while (j->p < j->end && !strchr(",]}", *j->p)) j->p++;
        end = j->p;
    }
    while (p < end && end[-1] == ' ') end--;
    *value = p < end ? 0 : -1;
    for (; p < end && *value >= 0; p++)
        if (*p < '0' || *p > '9' || __builtin_mul_overflow(*value, (int64_t)10, value) || __builtin_add_overflow(*value, (int64_t)(*p - '0'), value))
            *value = -1;
    return j->p < j->end;
}

static bool is(const char *key, size_t n, const char *word) { return n == strlen(word) && !memcmp(key, word, n); }

/* The largest size in a list of configs that is of space 1; -1: none. */
static int64_t largest(Json *j)
{
    int64_t best = -1;
    if (!take(j, ':') || !take(j, '[')) return best;
    do {
        int64_t space = 0, size = -1, value;
        const char *key;
        size_t n;
        if (!take(j, '{')) return best;
        if (take(j, '}')) continue;
        do {
            if (!text(j, &key, &n) || !take(j, ':') || !number(j, &value)) return best;
            if (is(key, n, "memory_space")) space = value;
            if (is(key, n, "size")) size = value;
        } while (take(j, ','));
        if (space == 1 && size > best) best = size;
        if (!take(j, '}')) return best;
    } while (take(j, ','));
    return best;
}

const Xla__HloInstructionProto *scoped_vmem(const HloModule *module, int64_t *bytes)
{
    static const char key[] = "\"used_scoped_memory_configs\"";
    const Xla__HloInstructionProto *best = NULL;
    *bytes = 0;
    for (size_t i = 0; i < module->n_ops; i++) {
        size_t n;
        const char *config = (const char *)hlo_backend_config(module, module->ops[i].instruction, &n);
        const char *found = n ? memmem(config, n, key, sizeof key - 1) : NULL;
        if (!found) continue;
        Json j = {found + sizeof key - 1, config + n};
        int64_t size = largest(&j);
        if (size > *bytes) *bytes = size, best = module->ops[i].instruction;
    }
    return best;
}
