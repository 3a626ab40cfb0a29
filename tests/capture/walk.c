// SPDX-License-Identifier: Apache-2.0
/* walk.c: NVIDIA's own libcupti walks a buffer of our fake records: their lengths are the real
 * ones. Needs no driver.
 *
 *   walk LIBCUPTI     exit 77: the library is not of a version whose lengths we know */
#define _GNU_SOURCE
#include "fake_records.h"

#include <dlfcn.h>
#include <stdbool.h>

int main(int argc, char **argv)
{
    static const char *const lines[] = {
        "kernel name=a", "memcpy bytes=1", "peer bytes=1", "memset",       "runtime", "driver",
        "overhead",      "sync",           "device",       "ctx",          "strm",    "memory",
        "pool",          "unified",        "graph",        "environment",  "jit",     "nvlink",
        "pcie",          "event",          "external",     "kernel name=b"};
    void *library = argc > 1 ? dlopen(argv[1], RTLD_NOW) : NULL, *symbols[2];
    if (!library) {
        printf("%s\n", dlerror());
        return 77;
    }
    int (*get_version)(uint32_t *), (*next)(uint8_t *, size_t, uint8_t **);
    symbols[0] = dlsym(library, "cuptiGetVersion"),
    symbols[1] = dlsym(library, "cuptiActivityGetNextRecord");
    memcpy(&get_version, &symbols[0], sizeof get_version), memcpy(&next, &symbols[1], sizeof next);
    uint32_t version = 0;
    if (get_version(&version) || version >= 130200) {
        printf("version %u\n", version);
        return 77;
    }
    bool is_vague = version < 22; /* at zeros it says "unknown error", not "invalid kind" */
    /* 18 is CUDA 11.8's number, and 12.0's and 12.1's, whose kernels are longer */
    if (version == 18 && strstr(argv[1], ".so.12")) version = 19;
    static _Alignas(8) uint8_t buffer[8192];
    size_t n = 0, n_lines = sizeof lines / sizeof *lines;
    uint32_t kinds[sizeof lines / sizeof *lines];
    FakeRecord r;
    for (size_t i = 0; i < n_lines; i++) {
        kinds[i] = fake_record_make(&r, lines[i], 0, 0, version);
        memcpy(buffer + n, &r, fake_record_size(kinds[i], version));
        n += fake_record_size(kinds[i], version);
    }
    uint8_t *record = NULL, *expected = buffer;
    for (size_t i = 0; i < n_lines; i++) {
        if (!fake_record_size(kinds[i], version)) continue; /* a kind that came later */
        int rc = next(buffer, n, &record);
        if (rc || record != expected) {
            printf("record %zu (%s): result %d, at %td instead of %td\n", i, lines[i], rc,
                   record ? record - buffer : -1, expected - buffer);
            return 1;
        }
        expected += fake_record_size(kinds[i], version);
    }
    int end = next(buffer, n, &record);
    uint8_t *again = NULL;
    int zeros = next(buffer + n, 1024, &again);
    printf("%zu records of version %u walked; at the end %d, at zeros %d\n", n_lines, version, end,
           zeros);
    return end == 12 && (zeros == 21 || (is_vague && zeros == 999)) ? 0 : 1;
}
