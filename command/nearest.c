// SPDX-License-Identifier: Apache-2.0
/* nearest.c: see nearest.h. */
#include "nearest.h"

#include "profsql.h"

#include <ctype.h>
#include <string.h>

enum { LONGEST = 200 };

static int lower(char c) { return c == '-' ? '_' : tolower((unsigned char)c); }

static int least(int a, int b) { return a < b ? a : b; }

/* Insertions, deletions, replacements and swaps of neighbours between two words. */
static int edit_distance(const char *a, const char *b)
{
    int n = (int)strlen(a), m = (int)strlen(b);
    int rows[3][LONGEST + 1];
    int *before = rows[0], *last = rows[1], *row = rows[2];
    if (n > LONGEST || m > LONGEST) return LONGEST;
    for (int j = 0; j <= m; j++) last[j] = j, before[j] = j;
    for (int i = 1; i <= n; i++) {
        row[0] = i;
        for (int j = 1; j <= m; j++) {
            int cost = lower(a[i - 1]) != lower(b[j - 1]);
            row[j] = least(least(last[j], row[j - 1]) + 1, last[j - 1] + cost);
            if (i > 1 && j > 1 && lower(a[i - 1]) == lower(b[j - 2]) &&
                lower(a[i - 2]) == lower(b[j - 1]))
                row[j] = least(row[j], before[j - 2] + 1);
        }
        int *oldest = before;
        before = last, last = row, row = oldest;
    }
    return last[m];
}

static bool contains(const char *name, const char *word)
{
    size_t n = strlen(word);
    for (; *name; name++) {
        size_t i = 0;
        while (i < n && name[i] && lower(name[i]) == lower(word[i])) i++;
        if (i == n) return true;
    }
    return false;
}

/* Is one of the words of a name, "kernel" of top_kernels, near? */
static bool has_near_word(const char *name, const char *word, int near)
{
    for (const char *p = name; *p;) {
        size_t n = strcspn(p, "_");
        if (edit_distance(word, keep_text("%.*s", (int)n, p)) <= near) return true;
        p += n + (p[n] == '_');
    }
    return false;
}

void nearest_try(Nearest *nearest, const char *name)
{
    int length = (int)strlen(nearest->word);
    int distance = edit_distance(nearest->word, name);
    int near = length < 4 ? 1 : length / 3;
    bool is_part = length >= 3 && contains(name, nearest->word);
    if (distance > near && (is_part || (length >= 4 && has_near_word(name, nearest->word, near))))
        distance = near;
    if (distance > near) return;
    int place = nearest->n;
    for (int i = 0; i < nearest->n; i++)
        if (!strcmp(nearest->names[i], name)) return;
    while (place && nearest->distances[place - 1] > distance) place--;
    if (place == NEAREST_MAX) return;
    if (nearest->n < NEAREST_MAX) nearest->n++;
    for (int i = nearest->n - 1; i > place; i--) {
        nearest->names[i] = nearest->names[i - 1];
        nearest->distances[i] = nearest->distances[i - 1];
    }
    nearest->names[place] = name;
    nearest->distances[place] = distance;
}

const char *nearest_text(const Nearest *nearest)
{
    const char *text = "";
    for (int i = 0; i < nearest->n; i++) {
        const char *before = !i ? "; nearest: " : i + 1 < nearest->n ? ", " : " or ";
        text = keep_text("%s%s%s", text, before, nearest->names[i]);
    }
    return text;
}
