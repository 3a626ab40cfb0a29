// SPDX-License-Identifier: Apache-2.0
/* time_sums.c: see time_sums.h. */
#include "time_sums.h"

#include "../../base/interrupt.h"
#include "../../base/list.h"
#include "../../base/search.h"

/* Returns the times of a plane's device. Devices and sums are both in the order of planes. */
static const DeviceTime *time_of(const DeviceTimes *all, const Plane *plane)
{
    int64_t id = plane->plane_id;
    return &all->devices[LOWER_BOUND(i, 0, all->n_devices, all->devices[i].plane->plane_id < id)];
}

const TimeSum *time_sum_of(const TimeSums *all, const Plane *plane)
{
    int64_t id = plane->plane_id;
    size_t at = LOWER_BOUND(i, 0, all->n, all->sums[i].time.plane->plane_id < id);
    return at < all->n && all->sums[at].time.plane == plane ? &all->sums[at] : NULL;
}

static void add_part(TimeSum *sum, const TimePart *part)
{
    DeviceTime *t = &sum->time;
    bool computing = part->activity & ACTIVITY_COMPUTING,
         communicating = part->activity & ACTIVITY_COMMUNICATING,
         transferring = part->activity & ACTIVITY_TRANSFERRING;
    t->span_ps += part->ps;
    t->busy_ps += part->ps - part->idle_ps;
    t->computing_ps += computing ? part->ps : 0;
    t->communicating_ps += communicating ? part->ps : 0;
    t->transferring_ps += transferring ? part->ps : 0;
    t->exposed_communication_ps += communicating && !computing ? part->ps : 0;
    t->exposed_transfer_ps += transferring && !computing ? part->ps : 0;
    t->exposed_ps += (communicating || transferring) && !computing ? part->ps : 0;
    sum->waiting_ps += part->waiting_ps;
}

static bool is_of(const TimeSum *sum, const TimePart *part)
{
    return sum->time.plane == part->plane && sum->line == part->line && sum->step == part->step;
}

static void add_up(TimeSums *sums, const TimeBreakdown *all, const DeviceTimes *devices,
                   ProfErr *err)
{
    for (size_t i = 0; i < all->n && !interrupt_poll(0, err); i++) {
        const TimePart *part = &all->parts[i];
        if (!sums->n || !is_of(&sums->sums[sums->n - 1], part)) {
            if (!GROW(sums->sums, sums->n, sums->capacity)) {
                prof_nomem(err);
                return;
            }
            const DeviceTime *device = time_of(devices, part->plane);
            sums->sums[sums->n++] = (TimeSum){.line = part->line,
                                              .step = part->step,
                                              .time = {.plane = part->plane,
                                                       .has_work = true,
                                                       .is_main = device->is_main,
                                                       .start_ps = device->start_ps}};
        }
        add_part(&sums->sums[sums->n - 1], part);
    }
}

static void time_sums_release(void *result)
{
    prof_free(((TimeSums *)result)->sums);
    prof_free(result);
}

static void *make(Run *run, Host *only, bool by_step, bool by_line, ProfErr *err)
{
    const TimeBreakdown *all = run_time_breakdown(run, only, by_step, by_line, err);
    const DeviceTimes *devices = all ? run_device_times(run, only, err) : NULL;
    TimeSums *sums = devices ? prof_alloc(sizeof *sums) : NULL;
    if (!sums) return devices ? (prof_nomem(err), NULL) : NULL;
    add_up(sums, all, devices, err);
    if (err->code) time_sums_release(sums), sums = NULL;
    return sums;
}

static void *make_devices(Run *r, Host *only, ProfErr *err)
{
    return make(r, only, false, false, err);
}
static void *make_steps(Run *r, Host *only, ProfErr *err)
{
    return make(r, only, true, false, err);
}
static void *make_lines(Run *r, Host *only, ProfErr *err)
{
    return make(r, only, false, true, err);
}
static void *make_both(Run *r, Host *only, ProfErr *err) { return make(r, only, true, true, err); }

const TimeSums *run_time_sums(Run *run, Host *only, bool by_step, bool by_line, ProfErr *err)
{
    static const Analysis analyses[2][2] = {
        {{make_devices, time_sums_release, NEEDS_ONE_HOST_AT_A_TIME},
         {make_lines, time_sums_release, NEEDS_ONE_HOST_AT_A_TIME}},
        {{make_steps, time_sums_release, NEEDS_ONE_HOST_AT_A_TIME},
         {make_both, time_sums_release, NEEDS_ONE_HOST_AT_A_TIME}}};
    return run_analysis(run, only, &analyses[by_step][by_line], err);
}
