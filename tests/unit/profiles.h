// SPDX-License-Identifier: Apache-2.0
/* profiles.h: the profiles that a test looks at: those named on its command line, else all in
 * tests/data. */
#ifndef PROF_PROFILES_UNIT_H
#define PROF_PROFILES_UNIT_H

#include <dirent.h>
#include <stdio.h>

static void each_profile(int n_args, char **args, void (*look)(const char *path))
{
    char path[1000];
    DIR *data = n_args > 1 ? NULL : opendir("tests/data");
    for (int i = 1; i < n_args; i++) look(args[i]);
    for (struct dirent *entry; data && (entry = readdir(data));) {
        snprintf(path, sizeof path, "tests/data/%s", entry->d_name);
        if (entry->d_name[0] != '.') look(path);
    }
    if (data) closedir(data);
}

#endif
