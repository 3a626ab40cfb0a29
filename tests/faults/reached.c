// SPDX-License-Identifier: Apache-2.0
/* reached.c: what a process ran of a library that clang's -fsanitize-coverage instruments.
 *
 * When it ends, each block that ran sets its byte of the file $REACHED/$CASE.LIBRARY, which all
 * processes of a case share. $REACHED/LIBRARY.blocks has the address of each block, as 8 bytes,
 * counted from the library's first. tests/faults/reach.py reads both. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static const uint8_t *counters;
static const uintptr_t *blocks; // of each its address and flags
static size_t n_blocks;

void __sanitizer_cov_8bit_counters_init(const uint8_t *begin, const uint8_t *end)
{
    counters = begin, n_blocks = (size_t)(end - begin);
}

void __sanitizer_cov_pcs_init(const uintptr_t *begin, const uintptr_t *end)
{
    blocks = begin;
    (void)end;
}

static void write_blocks(const char *path, const char *base)
{
    char part[4096];
    snprintf(part, sizeof part, "%s.%d", path, (int)getpid());
    FILE *f = access(path, F_OK) ? fopen(part, "w") : NULL;
    if (!f) return;
    for (size_t i = 0; i < n_blocks; i++) {
        uint64_t address = (uint64_t)(blocks[2 * i] - (uintptr_t)base);
        fwrite(&address, sizeof address, 1, f);
    }
    fclose(f);
    rename(part, path);
}

__attribute__((destructor)) static void write_reached(void)
{
    const char *folder = getenv("REACHED"), *name = getenv("CASE");
    Dl_info self;
    if (!folder || !blocks || !dladdr(blocks, &self)) return;
    const char *slash = strrchr(self.dli_fname, '/'), *library = slash ? slash + 1 : self.dli_fname;
    char path[4096];
    snprintf(path, sizeof path, "%s/%s.blocks", folder, library);
    write_blocks(path, self.dli_fbase);
    snprintf(path, sizeof path, "%s/%s.%s", folder, name ? name : "", library);
    int fd = open(path, O_RDWR | O_CREAT, 0666);
    if (fd < 0 || ftruncate(fd, (off_t)n_blocks)) return;
    uint8_t *ran = mmap(NULL, n_blocks, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    for (size_t i = 0; ran != MAP_FAILED && i < n_blocks; i++)
        if (counters[i]) ran[i] = 1;
}
