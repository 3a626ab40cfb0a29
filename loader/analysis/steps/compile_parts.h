// SPDX-License-Identifier: Apache-2.0
/* compile_parts.h: internals shared by the files that find a host's compilations; compilations.h is
 * the public part.
 *
 *   compile_events.c   names of compilers' events
 *   compile_requests.c which of them are separate compilations
 *   compilations.c     their functions and programs
 *   compile_shapes.c   parameters of programs, and how they differ */
#ifndef PROF_COMPILE_PARTS_H
#define PROF_COMPILE_PARTS_H

#include "compilations.h"

#include "../../base/list.h"

/* A compiler's event. */
typedef struct {
    Line *line;
    int64_t start, end;
    uint64_t event; /* ordinal in the run */
    uint32_t meta;
    uint32_t owner; /* index of its compilation */
    /* from the innermost event PjitFunction(NAME) around it; NULL if there is none */
    const Text *function;
    int64_t tracing_ps, lowering_ps; /* -1: not recorded */
} CompilePart;

typedef struct {
    LIST(CompilePart) parts; /* the compilations first, by start */
    size_t n_compilations;
} CompileParts;

/* Finds the compilers' events of a host. Freed with prof_free(parts->parts.items). */
int find_compile_parts(Host *host, CompileParts *parts, ProfErr *err);

#endif
