// SPDX-License-Identifier: Apache-2.0
/* xspace_parts.h: internals shared by the files that read XSpace; xspace.h is the public part.
 *
 *   xspace.c          structure, stats, and what depends on all lines of a host
 *   xspace_events.c   the events of a line */
#ifndef PROF_XSPACE_PARTS_H
#define PROF_XSPACE_PARTS_H

#include "xspace.h"

/* xspace_lost() records an issue for bytes that are skipped, xspace_cut() for a message that claims
 * `missing` bytes more than there are. `where` is the object that the issue is about, `what` is its
 * name. */
void xspace_lost(Host *host, const void *where, uint64_t offset, uint64_t n_bytes,
                 const char *what);
void xspace_cut(Host *host, const void *where, uint64_t offset, uint64_t missing, const char *what);
/* Returns the text at a place of the file, interned in the host's texts. */
const Text *xspace_text(Host *host, Window *window, Span span, ProfErr *err);

/* Reader.read_line of XSpace. */
int xspace_read_line(Line *line, Window *window, Arena *arena, const atomic_bool *stop,
                     atomic_uint_fast64_t *bytes_done, ProfErr *err);

#endif
