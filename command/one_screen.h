// SPDX-License-Identifier: Apache-2.0
/* one_screen.h: `profsql RUN`: shows a run on one screen. */
#ifndef COMMAND_ONE_SCREEN_H
#define COMMAND_ONE_SCREEN_H

#include "database.h"

/* Returns an exit status. */
int one_screen(Database *d);

#endif
