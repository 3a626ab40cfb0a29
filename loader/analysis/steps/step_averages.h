// SPDX-License-Identifier: Apache-2.0
/* step_averages.h: what a step spent its time on, averaged over its cores. SparseCores do not
 * count. */
#ifndef PROF_STEP_AVERAGES_H
#define PROF_STEP_AVERAGES_H

#include "steps.h"

/* Return the time of a category in ms, averaged over the cores; 0 without cores. */
double step_average_ms(const Step *step, enum StepCategory category);
double step_average_ms_actual(const Step *step, enum StepCategory category);
/* Returns whether step_average_ms_actual() of STEP_COMPILATION is known. */
bool step_compiling_is_known(const Step *step);
/* Returns the category with the largest actual time. */
enum StepCategory step_bottleneck_actual(const Step *step);
/* Returns the longest range that marks the step on host threads, in ps; NULL if there is none. */
const uint64_t *step_longest_range(const StepDb *db, const Step *step);

/* XProf's pod viewer shows the steps of run_all_steps(), or those outside XProf if there are any.
 * NULL with err set on failure. */
const StepDb *run_pod_steps(Run *run, Host *only, ProfErr *err);
/* Returns whether a step of run_steps() is also in run_pod_steps(). If hosts are merged, they may
 * be aligned differently there, because of the steps that XProf drops elsewhere. Both are in the
 * order of the first host's steps: ask about one after another, with `at` from 0. */
bool step_is_in_pod(const StepDb *pod, const Step *kept, size_t *at);

#endif
