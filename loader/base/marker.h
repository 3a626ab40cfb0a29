// SPDX-License-Identifier: Apache-2.0
/* marker.h: names of ranges with arguments, as XLA writes them:
 *
 *     XlaCompile:#module=jit_step,program_id=5# */
#ifndef PROF_MARKER_H
#define PROF_MARKER_H

#include "tf_op.h"

/* Returns the length of the key that starts at text[at], if "=" follows it; else 0. */
static inline size_t marker_key(Slice s, size_t at)
{
    size_t n = 0;
    while (at + n < s.n &&
           (s.text[at + n] == '_' || (s.text[at + n] >= 'a' && s.text[at + n] <= 'z')))
        n++;
    return at + n < s.n && s.text[at + n] == '=' ? n : 0;
}

/* Returns the value of the first argument with this key; empty if there is none. Arguments start
 * after the first # and end at the second. A value may contain a comma, unless a key follows it. */
static inline Slice marker_value(Slice marker, const char *key)
{
    size_t n_key = strlen(key), at = 0;
    while (at < marker.n && marker.text[at] != '#') at++;
    while (at < marker.n) {
        size_t start = at + 1, n = marker_key(marker, start), end = start;
        while (end < marker.n && marker.text[end] != '#' &&
               !(marker.text[end] == ',' && marker_key(marker, end + 1)))
            end++;
        if (n && n == n_key && !memcmp(marker.text + start, key, n))
            return (Slice){marker.text + start + n + 1, end - start - n - 1};
        if (end >= marker.n || marker.text[end] == '#') break;
        at = end;
    }
    return (Slice){"", 0};
}

#endif
