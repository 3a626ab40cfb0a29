// SPDX-License-Identifier: Apache-2.0
/* xspace_parts.h: what the parts of the reader of XSpace share; see xspace.h.
 *
 *   xspace.c          structure, stats, and what needs the whole host read
 *   xspace_events.c   the events of a line */
#ifndef PROF_XSPACE_PARTS_H
#define PROF_XSPACE_PARTS_H

#include "xspace.h"

/* Records bytes that are left out, and a message that claims more than there is. */
void xspace_lost(Host *host, const void *where, uint64_t offset, uint64_t n_bytes, const char *what);
void xspace_cut(Host *host, const void *where, uint64_t offset, uint64_t missing, const char *what);
/* The text at a place of the file, interned; NULL with err set. */
const Text *xspace_text(Host *host, Window *window, Span span, ProfErr *err);

#endif
