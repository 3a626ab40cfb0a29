// SPDX-License-Identifier: Apache-2.0
/* damage.c: spools that are damaged but for their checksums, and spools cut at every so many bytes:
 * a profile or an error, never a crash.
 *
 *   damage SPOOL ROUNDS     works on copies in the spool's folder; built with the sanitizers */
#define _GNU_SOURCE
#include "../../loader/capture/convert.h"
#include "../../loader/capture/spool.h"

#include <stdio.h>
#include <unistd.h>

enum { TYPE_AT = 4, LENGTH_AT = 8, NUMBER_AT = 12, CRC_AT = 20, MOST_BLOCKS = 4096 };

static uint64_t seed = 3;
static size_t draw(size_t below)
{
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    return (size_t)(seed >> 33) % below;
}

static uint32_t get(const uint8_t *p)
{
    uint32_t value;
    memcpy(&value, p, 4);
    return value;
}

static size_t find_blocks(const uint8_t *bytes, size_t n, size_t *at)
{
    size_t n_blocks = 0;
    for (size_t p = BLOCKS_AT; p + BLOCK_HEAD <= n && n_blocks < MOST_BLOCKS;
         p += BLOCK_HEAD + get(bytes + p + LENGTH_AT))
        at[n_blocks++] = p;
    return n_blocks;
}

static void seal(uint8_t *block)
{
    uint32_t n = get(block + LENGTH_AT);
    memset(block + CRC_AT, 0, 4);
    uint32_t crc = spool_crc(spool_crc(0, block, BLOCK_HEAD), block + BLOCK_HEAD, n);
    memcpy(block + CRC_AT, &crc, 4);
}

/* Bytes, or the counts of its header, become what a hostile writer would make them. */
static void damage(uint8_t *block)
{
    static const uint8_t values[] = {0, 1, 0x7f, 0x80, 0xff};
    uint32_t n = get(block + LENGTH_AT);
    for (size_t i = draw(6) + 1; i && n; i--) {
        uint8_t *at = block + BLOCK_HEAD + draw(n);
        size_t run = draw(8) ? 1 : draw(12); /* a run of 0xff is a varint without an end */
        for (size_t k = 0; k < run && at + k < block + BLOCK_HEAD + n; k++)
            at[k] = run > 1 ? 0xff : draw(2) ? values[draw(sizeof values)] : (uint8_t)draw(256);
    }
    if (!draw(4)) block[TYPE_AT] = (uint8_t)draw(5);
    if (!draw(4)) block[NUMBER_AT + 4 + draw(4)] = (uint8_t)draw(256); /* how many records */
    seal(block);
}

static void convert(const char *path, const uint8_t *bytes, size_t n, size_t *n_profiles)
{
    FILE *f = fopen(path, "w");
    if (!f || fwrite(bytes, 1, n, f) != n || fclose(f)) perror(path), exit(2);
    CaptureOptions options = {.keep_spool = true};
    ProfErr err = {0};
    char written[4096] = "";
    if (!convert_spool(path, &options, written, sizeof written, &err))
        ++*n_profiles, unlink(written);
}

int main(int argc, char **argv)
{
    static size_t at[MOST_BLOCKS];
    char path[4096];
    size_t n_profiles = 0, n_tried = 0, rounds = argc > 2 ? strtoul(argv[2], NULL, 10) : 0;
    FILE *f = argc > 2 ? fopen(argv[1], "r") : NULL;
    static uint8_t whole[1 << 20], copy[1 << 20];
    size_t n = f ? fread(whole, 1, sizeof whole, f) : 0;
    if (!n) {
        fprintf(stderr, "usage: damage SPOOL ROUNDS\n");
        return 2;
    }
    fclose(f);
    snprintf(path, sizeof path, "%s.damaged.spool", argv[1]);
    for (size_t i = 0; i < rounds; i++, n_tried++) {
        memcpy(copy, whole, n);
        size_t n_blocks = find_blocks(copy, n, at);
        for (size_t k = draw(3) + 1; k; k--) damage(copy + at[draw(n_blocks)]);
        convert(path, copy, n, &n_profiles);
    }
    for (size_t cut = 0; cut < n; cut += n / rounds + 1, n_tried++)
        convert(path, whole, cut, &n_profiles);
    unlink(path);
    printf("%zu spools tried, %zu profiles\n", n_tried, n_profiles);
    return n_profiles ? 0 : 1;
}
