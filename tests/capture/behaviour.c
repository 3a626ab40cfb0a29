// SPDX-License-Identifier: Apache-2.0
/* behaviour.c: prints tests/capture/README.md, or with an argument the words that NVIDIA's headers
 * have: "SINCE WORDS", a line each.
 *
 *   cc -o build/behaviour tests/capture/behaviour.c loader/capture/record.c -pthread &&
 * build/behaviour > tests/capture/README.md */
#define _GNU_SOURCE
#include "../../loader/capture/record.h"
#include "fake_behaviour.h"
#include "fake_records.h"

static const struct {
    uint32_t since, header;
    const char *what, *words;
} behaviours[] = {
#define AS_ROW(id, since, header, what, words) {since, header, what, words},
    FAKE_BEHAVIOURS(AS_ROW)
#undef AS_ROW
};

/* CUDA releases by their API versions, as cupti_version.h has them. */
static const char *cuda_of(uint32_t version)
{
    static const struct {
        uint32_t version;
        const char *cuda;
    } releases[] = {{13, "11.0"},     {14, "11.1"},     {15, "11.2"},     {16, "11.6"},
                    {17, "11.7"},     {18, "11.8"},     {19, "12.0"},     {20, "12.2"},
                    {21, "12.3"},     {22, "12.4"},     {23, "12.5"},     {24, "12.6"},
                    {26, "12.8"},     {27, "12.9"},     {130000, "13.0"}, {130100, "13.1"},
                    {130200, "13.2"}, {130400, "13.4"}, {130500, "13.5"}};
    for (size_t i = 0; i < sizeof releases / sizeof *releases; i++)
        if (releases[i].version == version) return releases[i].cuda;
    return "?";
}

static void print_version(uint32_t version)
{
    if (version)
        printf("%u (CUDA %s)", version, cuda_of(version));
    else
        printf("all");
}

static void print_behaviours(void)
{
    printf("| the stand-in | from API version | words in `cupti_activity.h` or `cupti_callbacks.h` "
           "| from |\n|---|---|---|---|\n");
    for (int i = 0; i < N_FAKE_BEHAVIOURS; i++) {
        printf("| %s | ", behaviours[i].what);
        print_version(behaviours[i].since);
        if (*behaviours[i].words)
            printf(" | `%s` | ", behaviours[i].words), print_version(behaviours[i].header);
        else
            printf(" | no header says it | ");
        printf(" |\n");
    }
}

static void print_lengths(void)
{
    printf("| record | bytes, and from which API version on |\n|---|---|\n");
    for (int k = 0; k < N_RECORD_KINDS; k++) {
        size_t last = 0;
        if (record_kinds[k].number >= 1000) continue;
        printf("| %s (%u) | ", record_kinds[k].name, record_kinds[k].number);
        for (uint32_t version = 13; version <= 130500; version++) {
            size_t n = fake_record_size(record_kinds[k].number, version);
            if (n == last) continue;
            printf(version > 13 ? "%s%zu from %u" : "%s%zu", last ? ", " : "", n, version);
            last = n;
        }
        printf(" |\n");
    }
}

int main(int argc, char **argv)
{
    (void)argv;
    if (argc > 1) {
        for (int i = 0; i < N_FAKE_BEHAVIOURS; i++)
            if (*behaviours[i].words) printf("%u %s\n", behaviours[i].header, behaviours[i].words);
        return 0;
    }
    printf("# The stand-ins for CUPTI, CUDA's driver and NVML\n\n"
           "`fake_cupti.c` is a CUPTI for machines without a GPU, `fake_cuda.c` the few calls of "
           "the driver that the capture\n"
           "makes, `fake_nvml.c` an NVML. They follow NVIDIA's headers, not our code. This page is "
           "written by `behaviour.c` from\n"
           "the lists that the stand-in itself uses. `tests/capture/run` fails if the page is not "
           "current, and looks for the words\n"
           "below in every header that it finds (`CUDA_HOME`, `CUPTI_WHEELS`): they must be there "
           "from the version on that the\n"
           "table names, and not before.\n\n"
           "## What depends on CUPTI's version\n\n");
    print_behaviours();
    printf("\nFunctions that a version does not have are left out of the library "
           "(`-DFAKE_API=VERSION`).\n\n"
           "## Lengths of records\n\n"
           "`layout.c` compares them with the structs of the headers, `walk.c` with NVIDIA's "
           "libraries.\n\n");
    print_lengths();
    return 0;
}
