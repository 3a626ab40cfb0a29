// SPDX-License-Identifier: Apache-2.0
/* device_time.h: how each device of a run spends its time, as defined in docs/semantics.md. */
#ifndef PROF_DEVICE_TIME_H
#define PROF_DEVICE_TIME_H

#include "../../run.h"

/* How one device spends its time. */
typedef struct {
    const Plane *plane;
    bool has_work;    /* false: all times are unknown */
    bool is_main;     /* the run's shares are computed from its main devices */
    int64_t start_ps; /* start of the span */
    /* length of the span, from the first to the last work of all devices of the host and kind */
    uint64_t span_ps;
    uint64_t busy_ps;
    uint64_t computing_ps;
    uint64_t communicating_ps, exposed_communication_ps;
    uint64_t transferring_ps, exposed_transfer_ps;
    uint64_t exposed_ps; /* of communication and transfers together; where both run, the time counts
                            once */
} DeviceTime;

typedef struct {
    DeviceTime *devices; /* in the order of planes */
    size_t n_devices;
} DeviceTimes;

/* Returns the times of the devices of all hosts, or of `only`. */
const DeviceTimes *run_device_times(Run *run, Host *only, ProfErr *err);

#endif
