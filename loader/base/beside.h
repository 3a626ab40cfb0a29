// SPDX-License-Identifier: Apache-2.0
/* beside.h: files of ours that belong to the running program. */
#ifndef PROFSQL_BESIDE_H
#define PROFSQL_BESIDE_H

#include <stdbool.h>
#include <stddef.h>

/* The library of this name that belongs to the running program: in its own folder, in the Python
 * package that brought it, or in LIBDIR, also if PREFIX was moved. False if there is none: out is
 * then the path in LIBDIR. */
bool find_library_beside(const char *name, char *out, size_t n);

#endif
