// SPDX-License-Identifier: Apache-2.0
/* device_steps.h: how long each device communicates and transfers in each step, as defined in
 * docs/semantics.md. */
#ifndef PROF_DEVICE_STEPS_H
#define PROF_DEVICE_STEPS_H

#include "../steps/steps.h"

typedef struct {
    uint64_t ps, exposed_ps; /* exposed_ps: part of it in which the device does not compute */
} ExposedTime;

/* A GPU or TensorCore in one step, or outside of all steps. The rows of a device add up to its
 * DeviceTime. */
typedef struct {
    const Plane *plane;
    const Step *step;     /* NULL: outside of all steps */
    const StepCore *core; /* the step's core for this device */
    int64_t group;        /* the step's group on the device's host; -1 if it has none */
    size_t place;         /* index of the step; rows outside of all steps come last */
    ExposedTime communicating, transferring;
} DeviceStep;

typedef struct {
    DeviceStep *rows; /* by plane, then by step */
    size_t n_rows, capacity;
} DeviceSteps;

/* Returns the rows of devices that communicate or transfer, by the steps of run_shown_steps().
 * Empty if there are no steps. */
const DeviceSteps *run_device_steps(Run *run, Host *only, ProfErr *err);

#endif
