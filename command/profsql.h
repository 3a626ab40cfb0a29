// SPDX-License-Identifier: Apache-2.0
/* profsql.h: what the files of the command share: exit statuses, memory, messages.
 *
 * The command asks SQL of libprofsql and writes the answers. It computes nothing of a profile
 * itself. */
#ifndef COMMAND_PROFSQL_H
#define COMMAND_PROFSQL_H

#include <stdbool.h>
#include <stddef.h>

#define COUNT(array) (sizeof(array) / sizeof *(array))

enum { STATUS_OK = 0, STATUS_FAILED = 1, STATUS_USAGE = 2, STATUS_NO_COMMAND = 127 };

/* Memory that lives until the command ends. They exit if there is none. */
void *keep_alloc(size_t n_bytes);
char *keep_text(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* A text as one word of a shell: in quotes, if it needs them. */
const char *shell_word(const char *text);

/* Writes "profsql: MESSAGE" and a new line to stderr. */
void complain(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* The same for what is no failure; silent with --quiet. */
void note(const char *format, ...) __attribute__((format(printf, 1, 2)));
void notes_off(void);

#endif
