// SPDX-License-Identifier: Apache-2.0
/* command.h: the half of profsql-capture that profiles programs on other machines. */
#ifndef PROF_REMOTE_COMMAND_H
#define PROF_REMOTE_COMMAND_H

#include <stdbool.h>

/* Returns whether the command line is about servers: it has a --host with a port, and no program to
 * run. */
bool remote_is_wanted(int argc, char **argv);
/* Executes the command line. Returns the exit status (REMOTE_OUTCOMES). */
int remote_command(int argc, char **argv);
/* Prints the options and the exit statuses, as a part of --help. */
void remote_print_help(void);

#endif
