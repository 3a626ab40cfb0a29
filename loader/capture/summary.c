// SPDX-License-Identifier: Apache-2.0
/* summary.c: prints a summary; see summary.h. */
#include "summary.h"

#include "../base/ask_sql.h"

#include <stdio.h>
#include <string.h>

typedef struct {
    const char *source;
    char topic[64]; /* of the previous line */
    int n_lines;
} Summary;

static void print_line(void *context, const char *const *texts, int n)
{
    Summary *s = context;
    const char *topic = texts[0], *text = n > 1 ? texts[1] : NULL;
    bool again = topic && !strcmp(topic, s->topic);
    if (!s->n_lines++) fprintf(stderr, "%s\n", s->source);
    fprintf(stderr, "  %-9s %s\n", again || !topic ? "" : topic, text ? text : "");
    snprintf(s->topic, sizeof s->topic, "%s", topic ? topic : "");
}

bool summary_print(const char *source, char *why, size_t n_why)
{
    Summary s = {.source = source};
    return ask_sql("SELECT topic, text FROM capture_summary(?1)", source, print_line, &s, why,
                   n_why);
}
