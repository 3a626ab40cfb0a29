// SPDX-License-Identifier: Apache-2.0
/* report.h: `profsql RUN`: a run on one screen. */
#ifndef COMMAND_REPORT_H
#define COMMAND_REPORT_H

#include "database.h"

/* Returns an exit status. */
int report(Database *d);

#endif
