// SPDX-License-Identifier: Apache-2.0
/* device_time.h: how each device of a run spends its time, by the words of docs/semantics.md. */
#ifndef PROF_DEVICE_TIME_H
#define PROF_DEVICE_TIME_H

#include "../run.h"

typedef struct {
    const Plane *plane;
    bool has_work;    /* else all times are unknown */
    bool is_main;     /* shares of the run are of it */
    int64_t start_ps; /* of the span */
    uint64_t span_ps; /* of all devices of the host and kind */
    uint64_t busy_ps;
    uint64_t computing_ps;
    uint64_t communicating_ps, exposed_communication_ps;
    uint64_t transferring_ps, exposed_transfer_ps;
} DeviceTime;

typedef struct {
    DeviceTime *devices; /* in order of the planes */
    size_t n_devices;
} DeviceTimes;

/* Of all hosts, or of one. Lives as long as the run. NULL with err set. */
const DeviceTimes *run_device_times(Run *run, Host *only, ProfErr *err);

#endif
