// SPDX-License-Identifier: Apache-2.0
/* occupancy.c: computes theoretical occupancy; see occupancy.h. tests/capture compares it with
 * NVIDIA's calculator, if its header is installed. */
#include "occupancy.h"

enum { PARTITIONS = 4 }; /* parts of a multiprocessor, each with its share of the registers */
enum { MOST_THREADS = 1 << 16, MOST_REGISTERS = 255, REGISTER_UNIT = 256 };

static uint64_t round_up(uint64_t x, uint64_t to) { return (x + to - 1) / to * to; }

static uint64_t least(uint64_t a, uint64_t b) { return a < b ? a : b; }

/* Returns how many blocks can be resident at the same time. */
static uint64_t resident_blocks(const SmLimits *sm, uint64_t threads, BlockNeeds needs)
{
    uint64_t warp = sm->warp ? sm->warp : 32, warps = (threads + warp - 1) / warp;
    if (sm->threads_per_block && threads > sm->threads_per_block) return 0;
    uint64_t blocks = least(sm->warps_per_sm / warps, sm->blocks_per_sm);
    if (needs.registers && sm->registers_per_sm) {
        uint64_t of_warp = round_up(needs.registers * warp, REGISTER_UNIT);
        if (needs.registers > MOST_REGISTERS) return 0;
        if (sm->registers_per_block &&
            of_warp * round_up(warps, PARTITIONS) > sm->registers_per_block)
            return 0;
        blocks = least(blocks, PARTITIONS * (sm->registers_per_sm / PARTITIONS / of_warp) / warps);
    }
    uint64_t reserved = sm->major >= 8 ? 1024 : 0; /* reserved by the system in each block */
    uint64_t used = round_up(needs.shared_bytes + reserved, sm->major >= 8 ? 128 : 256);
    return used && sm->shared_per_sm ? least(blocks, sm->shared_per_sm / used) : blocks;
}

static int is_known(const SmLimits *sm, BlockNeeds needs)
{
    return sm->warps_per_sm && sm->warps_per_sm <= MOST_THREADS && sm->blocks_per_sm &&
           sm->warp <= MOST_THREADS && needs.shared_bytes <= UINT32_MAX;
}

double occupancy_percent(const SmLimits *sm, uint64_t threads, BlockNeeds needs)
{
    if (!threads || threads > MOST_THREADS || !is_known(sm, needs)) return -1;
    return (double)(resident_blocks(sm, threads, needs) * threads) * 100 /
           (double)((uint64_t)sm->warps_per_sm * (sm->warp ? sm->warp : 32));
}

uint32_t occupancy_best_block(const SmLimits *sm, BlockNeeds needs, uint32_t *blocks)
{
    uint32_t warp = sm->warp ? sm->warp : 32, best = 0;
    uint64_t most = 0;
    *blocks = 0;
    if (!is_known(sm, needs) || sm->threads_per_block > MOST_THREADS) return 0;
    for (uint32_t threads = sm->threads_per_block / warp * warp; threads; threads -= warp) {
        uint64_t n = resident_blocks(sm, threads, needs);
        if (n * threads <= most) continue;
        most = n * threads, best = threads, *blocks = (uint32_t)n;
    }
    return best;
}
