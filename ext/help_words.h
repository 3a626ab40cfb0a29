// SPDX-License-Identifier: Apache-2.0
/* help_words.h: words that people search for, and what they lead to. */
#ifndef PROF_HELP_WORDS_H
#define PROF_HELP_WORDS_H

typedef struct {
    const char *words;   /* separated by ", " */
    const char *targets; /* TABLE, QUERY, FUNCTION or TABLE.COLUMN, best first, separated by ", " */
} HelpWords;
extern const HelpWords help_words[];
extern const int n_help_words;

#endif
