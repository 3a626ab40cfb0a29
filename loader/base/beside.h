// SPDX-License-Identifier: Apache-2.0
/* beside.h: finds files that were installed together with the running program. */
#ifndef PROFSQL_BESIDE_H
#define PROFSQL_BESIDE_H

#include <stdbool.h>
#include <stddef.h>

/* Finds the library of this name that belongs to the running program: in the program's folder, in
 * the Python package that contains it, or in LIBDIR (also after PREFIX was moved). False if there
 * is none: `out` is then the path in LIBDIR. */
bool find_library_beside(const char *name, char *out, size_t n);

#endif
