// SPDX-License-Identifier: Apache-2.0
/* report.h: `profsql report`: writes a page about a run, as one HTML file.
 *
 * A section has figures. A figure is a query and the way in which its rows are displayed. The page
 * computes nothing: each number is a cell of a table or canned query, and the SQL is shown beside
 * it. */
#ifndef COMMAND_REPORT_H
#define COMMAND_REPORT_H

#include "../options.h"

/* Writes the page about the first attached run to `path`; NULL: report.html. If there is a second
 * run, its values are shown beside those of the first. Returns an exit status. */
int report(Database *d, const char *path, bool force);

#endif
