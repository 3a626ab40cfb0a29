// SPDX-License-Identifier: Apache-2.0
/* programs.h: replaces the command by other programs: sqlite3 and profsql-capture. */
#ifndef COMMAND_PROGRAMS_H
#define COMMAND_PROGRAMS_H

#include "catalog.h"

/* Executes sqlite3 with the extension loaded, the runs attached, and a temporary view run_NAME of
 * each table. Returns an exit status if that fails. */
int run_shell(Database *d);
/* Executes profsql-capture with these arguments. */
int run_capture(char **arguments);

#endif
