// SPDX-License-Identifier: Apache-2.0
/* oom.c: makes a profile of a spool again and again, failing one allocation after the other: each
 * time an error and nothing left behind, until none fails.
 *
 *   oom SPOOL      the spool is kept; profiles are written two folders above it, as always */
#define _GNU_SOURCE
#include "../../loader/capture/convert.h"

#include <stdio.h>
#include <unistd.h>

static long until_failure, n_held;

static void *failing_alloc(uint64_t n)
{
    if (until_failure-- == 0) return NULL;
    n_held++;
    return malloc(n);
}
static void *failing_resize(void *p, uint64_t n)
{
    if (until_failure-- == 0) return NULL;
    n_held += !p;
    return realloc(p, n);
}
static void counting_free(void *p)
{
    n_held -= p != NULL;
    free(p);
}

int main(int argc, char **argv)
{
    if (argc < 2) return 2;
    prof_use_memory((ProfMemory){failing_alloc, failing_resize, counting_free});
    CaptureOptions options = {.keep_spool = true};
    for (long n = 0; n < 100000; n++) {
        ProfErr err = {0};
        char written[4096] = "";
        until_failure = n;
        int rc = convert_spool(argv[1], &options, written, sizeof written, &err);
        if (n_held) {
            printf("%ld pieces of memory left when allocation %ld failed\n", n_held, n);
            return 1;
        }
        if (!rc) {
            unlink(written);
            printf("%ld allocations\n", n);
            return until_failure >= 0 ? 0 : (printf("an allocation failed unseen\n"), 1);
        }
        if (err.code != PROF_NOMEM) {
            printf("allocation %ld failed as: %s\n", n, err.text);
            return 1;
        }
        if (*written) {
            printf("a profile in spite of allocation %ld\n", n);
            return 1;
        }
    }
    printf("there is no end of allocations\n");
    return 1;
}
