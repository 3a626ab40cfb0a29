// SPDX-License-Identifier: Apache-2.0
/* option_help.h: the lines of a command's --help. */
#ifndef PROFSQL_OPTION_HELP_H
#define PROFSQL_OPTION_HELP_H

/* Prints an option and its help, in lines of at most 79 columns. letter: 0 if it has none;
 * argument: NULL if it takes none. */
void print_option_help(const char *name, int letter, const char *argument, const char *help);

#endif
