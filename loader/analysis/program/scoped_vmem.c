// SPDX-License-Identifier: Apache-2.0
/* scoped_vmem.c: fast memory that single TPU instructions reserve for themselves. It is in their
 * backend config,
 *   {... "used_scoped_memory_configs":[{"memory_space":"1","offset":"0","size":"1048576"}] ...}
 * with numbers as JSON numbers or as texts. Only this list is parsed; the rest of the JSON may be
 * anything. */
#define _GNU_SOURCE
#include "../../format/json.h"
#include "heap.h"

/* Returns a number of the object that starts here; -1 if it has none with this name. */
static int64_t number_of(Json object, const char *name)
{
    int64_t value;
    return json_enter(&object, name) && json_integer(&object, &value) && object.p < object.end
               ? value
               : -1;
}

/* Returns the largest size for space 1 in a list of configs; -1 if there is none. */
static int64_t largest(Json list)
{
    int64_t best = -1;
    if (!json_accept(&list, ':') || !json_accept(&list, '[')) return best;
    do {
        int64_t size = number_of(list, "size");
        if (size > best && number_of(list, "memory_space") == 1) best = size;
        json_skip(&list);
    } while (json_accept(&list, ','));
    return best;
}

const Xla__HloInstructionProto *scoped_vmem(const HloModule *module, int64_t *bytes)
{
    static const char key[] = "\"used_scoped_memory_configs\"";
    const Xla__HloInstructionProto *best = NULL;
    *bytes = 0;
    for (size_t i = 0; i < module->n_ops; i++) {
        size_t n;
        const char *config =
            (const char *)hlo_backend_config(module, hlo_op(module, i).instruction, &n);
        const char *found = n ? memmem(config, n, key, sizeof key - 1) : NULL;
        if (!found) continue;
        int64_t size = largest((Json){found + sizeof key - 1, config + n});
        if (size > *bytes) *bytes = size, best = hlo_op(module, i).instruction;
    }
    return best;
}
