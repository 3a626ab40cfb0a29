// SPDX-License-Identifier: Apache-2.0
/* profsql.h: shared by the files of the command: exit statuses, memory, messages.
 *
 * The command sends SQL to libprofsql and writes the answers. It computes nothing from a profile
 * itself. */
#ifndef COMMAND_PROFSQL_H
#define COMMAND_PROFSQL_H

#include <stdbool.h>
#include <stddef.h>

#define COUNT(array) (sizeof(array) / sizeof *(array))

enum { STATUS_OK = 0, STATUS_FAILED = 1, STATUS_USAGE = 2, STATUS_NO_COMMAND = 127 };

/* Memory that is kept until the command ends. These functions exit if memory runs out. */
void *keep_alloc(size_t n_bytes);
char *keep_text(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* Returns a text as one word of a shell, in quotes if needed. */
const char *shell_word(const char *text);
/* Returns the command as a word of a shell, as it was called: profsql, or its path. */
const char *own_word(void);

/* Writes "profsql: MESSAGE" and a new line to stderr. */
void complain(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* The same for messages that are not errors; silent with --quiet. */
void note(const char *format, ...) __attribute__((format(printf, 1, 2)));
void notes_off(void);

#endif
