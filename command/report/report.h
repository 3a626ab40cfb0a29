// SPDX-License-Identifier: Apache-2.0
/* report.h: `profsql report`: a page about a run, in one file of HTML.
 *
 * A section has figures; a figure is a query, and the way in which its rows are shown. The page
 * computes nothing: a number of it is a cell of a table or canned query, and the SQL is beside it.
 */
#ifndef COMMAND_REPORT_H
#define COMMAND_REPORT_H

#include "../options.h"

/* Writes the page about the first attached run to `path`; NULL: report.html. With a second run,
 * its values are beside those of the first. Returns an exit status. */
int report(Database *d, const char *path, bool force);

#endif
