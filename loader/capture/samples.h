// SPDX-License-Identifier: Apache-2.0
/* samples.h: --gpu-samples: power, clocks, utilization, temperature and memory of the GPUs in use,
 * from NVML, the driver's management library.
 *
 * It is loaded at run time. A separate thread asks it, because a call may take many milliseconds.
 * GPUs are identified by UUID: NVML numbers all GPUs of the machine, CUDA those in
 * CUDA_VISIBLE_DEVICES, in that order. */
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
/* Adds a device to the samples. */
void samples_of(uint32_t device, uint64_t uuid_low, uint64_t uuid_high);
/* Passes all samples to `take`. Returns how many did not fit. */
uint64_t samples_drain(void (*take)(void *context, const GpuSample *sample), void *context);
/* Copies what could not be sampled, as lines; false if nothing. */
bool samples_problems(char *out, size_t n);
void samples_stop(void);  /* takes a last sample; waits at most two seconds */
void samples_child(void); /* for a forked child: forgets the thread */

#endif
