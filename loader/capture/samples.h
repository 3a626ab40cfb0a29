// SPDX-License-Identifier: Apache-2.0
/* samples.h: --gpu-samples: power, clocks, load, temperature and memory of the GPUs in use, from
 * NVML, the driver's library of management. It is found at run time; a thread of its own asks it,
 * because a call may take many milliseconds. A GPU is known by its UUID: NVML numbers GPUs by their
 * place in the machine, CUDA those that CUDA_VISIBLE_DEVICES leaves, in its order. */
#ifndef PROF_CAPTURE_SAMPLES_H
#define PROF_CAPTURE_SAMPLES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct {
    uint64_t time_ns;         /* since 1970; the same for all values of a sample */
    uint32_t device, counter; /* enum Counter */
    uint64_t value;
} GpuSample;

void samples_start(int interval_ms);
/* From now on the samples are of this device too. */
void samples_of(uint32_t device, uint64_t uuid_low, uint64_t uuid_high);
/* Hands over what is there. Returns how many did not fit. */
uint64_t samples_drain(void (*take)(void *context, const GpuSample *sample), void *context);
/* What could not be had, in lines; false when there was nothing. */
bool samples_problems(char *out, size_t n);
void samples_stop(void);  /* takes a last sample; waits at most two seconds */
void samples_child(void); /* in a forked child: forgets the thread */

#endif
