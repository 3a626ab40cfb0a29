/* occupancy.c: theoretical occupancy; see occupancy.h. */
#include "occupancy.h"

enum { PARTITIONS = 4 }; /* of a multiprocessor, each with its share of the registers */

static uint64_t round_up(uint64_t x, uint64_t to) { return (x + to - 1) / to * to; }

double occupancy_percent(const SmLimits *sm, uint64_t threads, uint32_t registers, uint64_t shared)
{
    uint64_t warp = sm->warp ? sm->warp : 32;
    if (!threads || threads > 1u << 16 || !sm->warps_per_sm || !sm->blocks_per_sm || shared > UINT32_MAX) return -1;
    uint64_t warps = (threads + warp - 1) / warp;
    uint64_t blocks = sm->warps_per_sm / warps;
    if (blocks > sm->blocks_per_sm) blocks = sm->blocks_per_sm;
    if (registers && sm->registers_per_sm) {
        uint64_t per_warp = round_up((uint64_t)registers * warp, 256);
        uint64_t fit = PARTITIONS * (sm->registers_per_sm / PARTITIONS / per_warp) / warps;
        if (fit < blocks) blocks = fit;
    }
    uint64_t reserved = sm->major >= 8 ? 1024 : 0; /* of each block, for the system */
    uint64_t used = round_up(shared + reserved, sm->major >= 8 ? 128 : 256);
    if (used && sm->shared_per_sm && sm->shared_per_sm / used < blocks) blocks = sm->shared_per_sm / used;
    return (double)(blocks * threads) * 100 / (double)((uint64_t)sm->warps_per_sm * warp);
}
