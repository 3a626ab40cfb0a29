// SPDX-License-Identifier: Apache-2.0
/* occupancy.h: how much of a multiprocessor the launch of a kernel can fill, by NVIDIA's documented
 * limits. */
#ifndef PROF_CAPTURE_OCCUPANCY_H
#define PROF_CAPTURE_OCCUPANCY_H

#include <stdint.h>

typedef struct {
    uint32_t major, minor; /* compute capability */
    uint32_t warp, warps_per_sm, blocks_per_sm, registers_per_sm, shared_per_sm;
    uint32_t threads_per_block, registers_per_block;
} SmLimits;

/* The resources that a block of the kernel needs. */
typedef struct {
    uint32_t registers;    /* for each thread */
    uint64_t shared_bytes; /* static and dynamic together */
} BlockNeeds;

/* Returns resident threads as a percentage of the maximum, as XLA computes it (a block's last warp
 * counts its threads). Negative if the limits or the launch are invalid. */
double occupancy_percent(const SmLimits *sm, uint64_t threads_per_block, BlockNeeds needs);
/* Returns the number of threads of the largest block with which the kernel fills a multiprocessor
 * best; *blocks: how many of them are resident. 0 if there is none. */
uint32_t occupancy_best_block(const SmLimits *sm, BlockNeeds needs, uint32_t *blocks);

#endif
