// SPDX-License-Identifier: Apache-2.0
/* beside.c: see beside.h. The Makefile defines PROFSQL_LIBDIR: LIBDIR relative to PREFIX/bin if it
 * is in PREFIX, else as it is. */
#define _GNU_SOURCE
#include "beside.h"

#include <dirent.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#ifndef PROFSQL_LIBDIR
#define PROFSQL_LIBDIR "../lib"
#endif

static bool is_readable(const char *path) { return !access(path, R_OK); }

/* pip installs commands in bin and packages in lib/python3.X/site-packages, Debian in
 * dist-packages. */
static bool find_in_package(const char *folder, const char *name, char *out, size_t n)
{
    static const char *const kinds[] = {"site-packages", "dist-packages"};
    char lib[4096];
    bool is_found = false;
    snprintf(lib, sizeof lib, "%s/../lib", folder);
    DIR *dir = opendir(lib);
    for (struct dirent *e; dir && !is_found && (e = readdir(dir));)
        for (int i = 0; i < 2 && !is_found && !strncmp(e->d_name, "python3", 7); i++) {
            snprintf(out, n, "%s/%s/%s/profsql/%s", lib, e->d_name, kinds[i], name);
            is_found = is_readable(out);
        }
    if (dir) closedir(dir);
    return is_found;
}

bool find_library_beside(const char *name, char *out, size_t n)
{
    char self[3072];
    ssize_t k = readlink("/proc/self/exe", self, sizeof self - 1);
    if (k <= 0) {
        *out = 0;
        return false;
    }
    self[k] = 0;
    *strrchr(self, '/') = 0;
    snprintf(out, n, "%s/%s", self, name);
    if (is_readable(out) || find_in_package(self, name, out, n)) return true;
    bool is_absolute = *PROFSQL_LIBDIR == '/';
    snprintf(out, n, "%s%s%s/%s", is_absolute ? "" : self, is_absolute ? "" : "/", PROFSQL_LIBDIR,
             name);
    return is_readable(out);
}
