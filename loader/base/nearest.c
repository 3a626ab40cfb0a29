// SPDX-License-Identifier: Apache-2.0
/* nearest.c: see nearest.h. */
#include "nearest.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

enum { LONGEST = 200 };

/* Returns a byte as names are compared: lower case, with _ for - and blanks. */
static int name_letter(char c) { return c == '-' || c == ' ' ? '_' : tolower((unsigned char)c); }

static int least(int a, int b) { return a < b ? a : b; }

/* Returns the number of insertions, deletions, replacements and swaps of neighbouring bytes between
 * two words of n and m bytes. */
static int edit_distance(const char *a, size_t n, const char *b, size_t m)
{
    int rows[3][LONGEST + 1];
    int *before = rows[0], *last = rows[1], *row = rows[2];
    if (n > LONGEST || m > LONGEST) return LONGEST;
    for (size_t j = 0; j <= m; j++) before[j] = last[j] = (int)j;
    for (size_t i = 1; i <= n; i++) {
        row[0] = (int)i;
        for (size_t j = 1; j <= m; j++) {
            int cost = name_letter(a[i - 1]) != name_letter(b[j - 1]);
            row[j] = least(least(last[j], row[j - 1]) + 1, last[j - 1] + cost);
            if (i > 1 && j > 1 && name_letter(a[i - 1]) == name_letter(b[j - 2]) &&
                name_letter(a[i - 2]) == name_letter(b[j - 1]))
                row[j] = least(row[j], before[j - 2] + 1);
        }
        int *oldest = before;
        before = last, last = row, row = oldest;
    }
    return last[m];
}

bool begins_with_word(const char *text, const char *word, size_t n)
{
    size_t i = 0;
    while (i < n && text[i] && name_letter(text[i]) == name_letter(word[i])) i++;
    return i == n;
}

const char *find_word(const char *text, const char *word, size_t n)
{
    int first = n ? name_letter(*word) : 0;
    for (; *text; text++)
        if (!n || (name_letter(*text) == first && begins_with_word(text, word, n))) return text;
    return NULL;
}

static int most_edits(size_t n) { return n < 4 ? 1 : (int)n / 3; }

/* Returns the least distance to a word of the name, such as "kernels" of top_kernels. */
static int distance_to_words(const char *name, const char *word, size_t n_word)
{
    int found = LONGEST;
    for (const char *p = name; *p;) {
        size_t n = strcspn(p, "_");
        found = least(found, edit_distance(word, n_word, p, n));
        p += n + (p[n] == '_');
    }
    return found;
}

int near_distance(const char *word, size_t n, const char *name)
{
    int distance = edit_distance(word, n, name, strlen(name));
    if (n >= 4) distance = least(distance, distance_to_words(name, word, n));
    return distance <= most_edits(n) ? distance : -1;
}

void nearest_try(Nearest *nearest, const char *name)
{
    size_t length = strlen(nearest->word);
    int distance = edit_distance(nearest->word, length, name, strlen(name));
    int near = most_edits(length);
    bool is_part = length >= 3 && find_word(name, nearest->word, length);
    if (distance > near && (is_part || near_distance(nearest->word, length, name) >= 0))
        distance = near;
    if (distance > near) return;
    int place = nearest->n;
    for (int i = 0; i < nearest->n; i++)
        if (!strcasecmp(nearest->names[i], name)) return;
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
