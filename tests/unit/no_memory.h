// SPDX-License-Identifier: Apache-2.0
/* no_memory.h: from use_no_memory() on, every allocation of the loader fails. */
#ifndef PROF_NO_MEMORY_UNIT_H
#define PROF_NO_MEMORY_UNIT_H

#include "../../loader/base/base.h"

#include <stdlib.h>

static void *allocate_nothing(uint64_t n_bytes)
{
    (void)n_bytes;
    return NULL;
}

static void *grow_nothing(void *old, uint64_t n_bytes)
{
    (void)old, (void)n_bytes;
    return NULL;
}

static void use_no_memory(void)
{
    prof_use_memory((ProfMemory){allocate_nothing, grow_nothing, free});
}

#endif
