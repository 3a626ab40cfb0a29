// SPDX-License-Identifier: Apache-2.0
/* diff.h: `profsql diff A B`: what changed from one run to another. */
#ifndef COMMAND_DIFF_H
#define COMMAND_DIFF_H

#include "database.h"

/* Compares the two attached runs. Returns an exit status. */
int diff(Database *d);

#endif
