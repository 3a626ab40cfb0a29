// SPDX-License-Identifier: Apache-2.0
/* occupancy_real.c: occupancy.c against NVIDIA's own calculator, cuda_occupancy.h of the toolkit,
 * on launches drawn at random. Built only where the header is: cc -I$CUDA_HOME/include. */
#include <stdio.h>
#include <string.h>

#include <cuda_occupancy.h>

#include "../../loader/capture/occupancy.h"

static uint64_t seed = 11;
static uint32_t draw(uint32_t below)
{
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(seed >> 33) % below;
}

int main(void)
{
    static const struct {
        SmLimits sm;
        size_t opt_in;
    } chips[] = {{{7, 0, 32, 64, 32, 65536, 98304, 1024, 65536}, 98304},
                 {{7, 5, 32, 32, 16, 65536, 65536, 1024, 65536}, 65536},
                 {{8, 0, 32, 64, 32, 65536, 167936, 1024, 65536}, 166912},
                 {{8, 6, 32, 48, 16, 65536, 102400, 1024, 65536}, 101376},
                 {{8, 9, 32, 48, 24, 65536, 102400, 1024, 65536}, 101376},
                 {{9, 0, 32, 64, 32, 65536, 233472, 1024, 65536}, 232448},
                 {{10, 0, 32, 64, 32, 65536, 233472, 1024, 65536}, 232448},
                 {{12, 0, 32, 48, 24, 65536, 102400, 1024, 65536}, 101376}};
    unsigned n = 0, n_bad = 0;
    for (size_t c = 0; c < sizeof chips / sizeof *chips; c++)
        for (int i = 0; i < 4000; i++, n++) {
            const SmLimits *sm = &chips[c].sm;
            size_t reserved = sm->major >= 8 ? 1024 : 0,
                   dynamic = draw(2) ? draw((uint32_t)chips[c].opt_in) : 0;
            cudaOccDeviceProp device = {(int)sm->major,
                                        (int)sm->minor,
                                        (int)sm->threads_per_block,
                                        (int)(sm->warps_per_sm * sm->warp),
                                        (int)sm->registers_per_block,
                                        (int)sm->registers_per_sm,
                                        (int)sm->warp,
                                        49152,
                                        sm->shared_per_sm,
                                        100,
                                        chips[c].opt_in,
                                        reserved};
            cudaOccFuncAttributes kernel = {.maxThreadsPerBlock = 1 << 30,
                                            .numRegs = (int)draw(256),
                                            .shmemLimitConfig = FUNC_SHMEM_LIMIT_OPTIN,
                                            .maxDynamicSharedSizeBytes = dynamic};
            cudaOccDeviceState state = {.carveoutConfig = -1};
            cudaOccResult theirs;
            int threads = (int)draw(1024) + 1, grid = 0, block = 0;
            BlockNeeds needs = {(uint32_t)kernel.numRegs, dynamic};
            if (cudaOccMaxActiveBlocksPerMultiprocessor(&theirs, &device, &kernel, &state, threads,
                                                        dynamic)) {
                printf("the calculator refused\n");
                return 1;
            }
            double percent = theirs.activeBlocksPerMultiprocessor * threads * 100.0 /
                             device.maxThreadsPerMultiprocessor,
                   ours;
            cudaOccMaxPotentialOccupancyBlockSize(&grid, &block, &device, &kernel, &state, NULL,
                                                  dynamic);
            uint32_t blocks = 0, best = occupancy_best_block(sm, needs, &blocks);
            ours = occupancy_percent(sm, (uint64_t)threads, needs);
            if (ours == percent && best == (uint32_t)block && blocks * 100 == (uint32_t)grid)
                continue;
            n_bad++;
            if (n_bad < 10)
                printf("cc %u.%u, %d threads, %u registers, %zu shared: %g %% and %u x %u; "
                       "NVIDIA's %g %% and %d x %d\n",
                       sm->major, sm->minor, threads, needs.registers, dynamic, ours, blocks * 100,
                       best, percent, grid, block);
        }
    printf("%u launches compared, %u wrong\n", n, n_bad);
    return n_bad != 0;
}
