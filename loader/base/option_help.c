// SPDX-License-Identifier: Apache-2.0
/* option_help.c: see option_help.h. */
#include "option_help.h"

#include <stdio.h>
#include <string.h>

void print_option_help(const char *name, int letter, const char *argument, const char *help)
{
    enum { INDENT = 29, WIDTH = 79 };
    int at = printf("  %c%c%c --%s%s%s", letter ? '-' : ' ', letter ? letter : ' ',
                    letter ? ',' : ' ', name, argument ? "=" : "", argument ? argument : "");
    const char *gap = at < INDENT ? "" : " ";
    at += printf("%s%*s", gap, at < INDENT ? INDENT - at : 0, "");
    for (const char *word = help; *word;) {
        int n = (int)strcspn(word, " ");
        if (at > INDENT && at + 1 + n > WIDTH) at = printf("\n%*s", INDENT, "") - 1;
        at += printf("%s%.*s", at > INDENT ? " " : "", n, word);
        word += n + (word[n] == ' ');
    }
    putchar('\n');
}
