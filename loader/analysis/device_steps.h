// SPDX-License-Identifier: Apache-2.0
/* device_steps.h: how long each device communicates and transfers in each step, by the words of docs/semantics.md. */
#ifndef PROF_DEVICE_STEPS_H
#define PROF_DEVICE_STEPS_H

#include "steps.h"

typedef struct {
    uint64_t ps, exposed_ps; /* exposed: while the device does not compute */
} ExposedTime;

/* A GPU or TensorCore in a step, or outside of all steps. Rows of a device add up to its DeviceTime. */
typedef struct {
    const Plane *plane;
    const Step *step;     /* NULL: outside */
    const StepCore *core; /* of the step, on the device */
    int64_t group;        /* of the step on the device's host, -1: none */
    size_t place;         /* of the step; outside is last */
    ExposedTime communicating, transferring;
} DeviceStep;

typedef struct {
    DeviceStep *rows; /* by plane, then by step */
    size_t n_rows, capacity;
} DeviceSteps;

/* Of the devices that communicate or transfer, in run_shown_steps(). None if there are no steps. Lives as long as the run. NULL with err
 * set. */
const DeviceSteps *run_device_steps(Run *run, Host *only, ProfErr *err);

#endif
