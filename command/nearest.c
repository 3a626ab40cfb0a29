// SPDX-License-Identifier: Apache-2.0
/* nearest.c: lists the names nearest to a word; see nearest.h. */
#include "nearest.h"

#include "profsql.h"

const char *nearest_text(const Nearest *nearest)
{
    const char *text = "";
    for (int i = 0; i < nearest->n; i++) {
        const char *before = i + 1 < nearest->n ? ", " : " or ";
        if (!i) before = "; nearest: ";
        text = keep_text("%s%s%s", text, before, nearest->names[i]);
    }
    return text;
}
