// SPDX-License-Identifier: Apache-2.0
/* settings.h: whole numbers that environment variables set. */
#ifndef EXT_SETTINGS_H
#define EXT_SETTINGS_H

#include <stdatomic.h>
#include <stdint.h>

typedef struct {
    const char *name, *unit;
    uint64_t least, most;
    uint64_t otherwise; /* if the variable is not set, or to another value */
    atomic_bool told;   /* a wrong value was named on standard error: once in a process */
} NumberSetting;

uint64_t number_setting(NumberSetting *setting);

#endif
