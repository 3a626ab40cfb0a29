// SPDX-License-Identifier: Apache-2.0
/* help_words.h: words that people search for and that no name or description has to contain. */
#ifndef PROF_HELP_WORDS_H
#define PROF_HELP_WORDS_H

typedef struct {
    const char *words;   /* with ", " between them */
    const char *targets; /* TABLE, QUERY, FUNCTION or TABLE.COLUMN, best first, ", " between them */
} HelpWords;
extern const HelpWords help_words[];
extern const int n_help_words;

#endif
