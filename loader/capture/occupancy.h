// SPDX-License-Identifier: Apache-2.0
/* occupancy.h: how much of a multiprocessor a kernel's launch can fill, by the limits that NVIDIA
 * documents. */
#ifndef PROF_CAPTURE_OCCUPANCY_H
#define PROF_CAPTURE_OCCUPANCY_H

#include <stdint.h>

typedef struct {
    uint32_t major, minor; /* compute capability */
    uint32_t warp, warps_per_sm, blocks_per_sm, registers_per_sm, shared_per_sm;
    uint32_t threads_per_block, registers_per_block;
} SmLimits;

/* What a block of the kernel needs. */
typedef struct {
    uint32_t registers;    /* of a thread */
    uint64_t shared_bytes; /* static and dynamic */
} BlockNeeds;

/* Resident threads over the most that fit, percent, as XLA writes it (a block's last warp counts by
 * its threads); negative: the limits or the launch make no sense. */
double occupancy_percent(const SmLimits *sm, uint64_t threads_per_block, BlockNeeds needs);
/* Threads of the largest block with which the kernel fills a multiprocessor most; *blocks: how many
 * of them are resident. 0: none. */
uint32_t occupancy_best_block(const SmLimits *sm, BlockNeeds needs, uint32_t *blocks);

#endif
