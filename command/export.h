// SPDX-License-Identifier: Apache-2.0
/* export.h: `profsql export`: writes a database of ordinary tables, for programs without the
 * extension. */
#ifndef COMMAND_EXPORT_H
#define COMMAND_EXPORT_H

#include "catalog.h"
#include "options.h"

/* Writes the tables of the attached runs to a new file. Returns an exit status. */
int export_to(Database *d, const Catalog *catalog, const char *path, const Options *options);

#endif
