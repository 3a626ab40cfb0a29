// SPDX-License-Identifier: Apache-2.0
/* slow_library.c: a library that another one is loaded by while it is loaded itself: its thread
 * holds the loader's lock meanwhile. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <unistd.h>

#ifdef THEN
__attribute__((constructor)) static void load_another(void)
{
    usleep(500000); /* others begin to walk the libraries */
    dlopen(THEN, RTLD_NOW);
}
#endif
