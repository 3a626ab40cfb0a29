// SPDX-License-Identifier: Apache-2.0
/* attached.h: the attached runs of a connection, and what they share with runs opened by path. */
#ifndef PROF_ATTACHED_H
#define PROF_ATTACHED_H

#include "prof.h"

/* Returns the attached run with a label, a text of n_bytes; NULL if there is none. */
NamedRun *prof_labelled(Prof *prof, const char *label, size_t n_bytes);
/* Returns the attached run that a source names by its label or by label/host; NULL if there is
 * none. *host is the host's name or NULL. */
NamedRun *prof_attached(Prof *prof, const char *source, const char **host);
/* Returns the length without slashes at the end, with which shells complete names of folders. */
size_t length_of_label(const char *source);
const char *named_path(const NamedRun *named);
/* Gives a run that was read to the attached runs of its path that were not. What prof_issues says
 * of it then lasts as long as they are attached. */
void give_to_attached(Prof *prof, Run *run);
/* Reads an attached run if it was not read or its files have changed. */
bool refresh_attached(const Prof *prof, NamedRun *named, ProfErr *err);

/* ---- connection.c ---- */

/* Opens the run of a path, with a progress line and a warning about damage. *n_others: older runs
 * of the log dir. within: see source_resolve(). */
Run *load_named(const char *path, const char *within, bool streaming, size_t *n_others,
                ProfErr *err);
/* Appends a run, which the list then owns. False if memory runs out. */
bool add_named(NamedRun **list, int *n, const char *label, Run *run, size_t n_others);
void named_free(NamedRun *named);

#endif
