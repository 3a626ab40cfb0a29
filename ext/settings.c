// SPDX-License-Identifier: Apache-2.0
/* settings.c: whole numbers that environment variables set; see settings.h. */
#include "settings.h"

#include <ctype.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

uint64_t number_setting(NumberSetting *setting)
{
    const char *text = getenv(setting->name);
    if (!text || !*text) return setting->otherwise;
    char *end;
    errno = 0;
    unsigned long long number = strtoull(text, &end, 10);
    if (isdigit((unsigned char)*text) && !*end && !errno && number >= setting->least &&
        number <= setting->most)
        return number;
    if (!atomic_exchange(&setting->told, true))
        fprintf(stderr, "libprofsql: %s is '%s', which is no number of %s, and is ignored\n",
                setting->name, text, setting->unit);
    return setting->otherwise;
}
