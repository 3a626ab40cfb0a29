// SPDX-License-Identifier: Apache-2.0
/* mutant.h: run folders whose profiles were changed at random, each made from a seed; for tests
 * alone. The same seed and the same folders make the same mutant. */
#ifndef MUTANT_H
#define MUTANT_H

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "mutations.h"

enum { MOST_FILES = 500, MOST_OPS = 16 };

typedef struct {
    uint8_t *bytes;
    size_t n;
    int folder;
    char name[256];
} File;

static File files[MOST_FILES];
static int n_files, n_folders;
static char folder[500]; /* where mutants are written */

static void change_bytes(uint8_t *bytes, size_t *n)
{
    size_t most = 1 + below(6);
    for (size_t i = 0; i < most && *n; i++) switch (below(4)) {
        case 0: bytes[below(*n)] = (uint8_t)any(); break;
        case 1: bytes[below(*n)] ^= (uint8_t)(1u << below(8)); break;
        case 2: bytes[below(*n)] = one_in(2) ? 0xff : 0; break;
        default: {
            size_t at = below(*n), gone = below(*n - at < 40 ? *n - at : 40);
            memmove(bytes + at, bytes + at + gone, *n - at - gone);
            *n -= gone;
        }
        }
    if (one_in(8)) *n = below(*n);
}

static uint8_t *mutate(const File *file, size_t *n)
{
    Node root = {0};
    if (!parse(file->bytes, file->n, K_SPACE, 0, &root.child)) root.child = NULL;
    size_t most = 1 + below(MOST_OPS);
    for (size_t i = 0; i < most; i++) {
        const File *donor = &files[below((size_t)n_files)];
        change(&root, donor->bytes, donor->n);
    }
    *n = message_size(root.child);
    uint8_t *bytes = take(*n + 1);
    if (put_message(bytes, root.child) != bytes + *n) abort();
    if (one_in(6)) change_bytes(bytes, n);
    return bytes;
}

static void write_file(const char *name, const void *bytes, size_t n)
{
    char path[1000];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *f = fopen(path, "wb");
    if (!f || fwrite(bytes, 1, n, f) != n || fclose(f)) exit(2);
}

/* Writes into folder the mutant of a seed: one of the run folders, of which one file or more are
 * changed. */
static void write_mutant(uint64_t seed)
{
    state = seed * 0x2545f4914f6cdd1du;
    int of = (int)below((size_t)n_folders), n_hosts = 0;
    for (int i = 0; i < n_files; i++) n_hosts += files[i].folder == of;
    int changed = (int)below((size_t)n_hosts);
    for (int i = 0, host = 0; i < n_files; i++) {
        if (files[i].folder != of) continue;
        size_t n = files[i].n;
        const uint8_t *bytes =
            host++ == changed || one_in(2) ? mutate(&files[i], &n) : files[i].bytes;
        write_file(files[i].name, bytes, n);
    }
}

static void load_folder(const char *path)
{
    DIR *dir = opendir(path);
    if (!dir) {
        fprintf(stderr, "%s: %s\n", path, strerror(errno));
        exit(2);
    }
    int before = n_files;
    for (struct dirent *entry; (entry = readdir(dir)) && n_files < MOST_FILES;) {
        char full[1000];
        struct stat st;
        snprintf(full, sizeof full, "%s/%s", path, entry->d_name);
        File *file = &files[n_files];
        FILE *in = strstr(entry->d_name, ".xplane.pb") ? fopen(full, "rb") : NULL;
        if (!in) continue;
        if (!fstat(fileno(in), &st) && (file->bytes = malloc((size_t)st.st_size + 1))) {
            file->n = fread(file->bytes, 1, (size_t)st.st_size, in), file->folder = n_folders;
            snprintf(file->name, sizeof file->name, "%s", entry->d_name);
            n_files++;
        }
        fclose(in);
    }
    closedir(dir);
    n_folders += n_files > before;
}

static int by_name(const void *a, const void *b)
{
    const File *x = a, *y = b;
    return x->folder != y->folder ? x->folder - y->folder : strcmp(x->name, y->name);
}

static void empty_folder(void)
{
    DIR *dir = opendir(folder);
    char path[1000];
    for (struct dirent *entry; dir && (entry = readdir(dir));) {
        snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
        unlink(path);
    }
    if (dir) closedir(dir);
}

#endif
