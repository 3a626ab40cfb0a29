// SPDX-License-Identifier: Apache-2.0
/* program_gaps.c: finds the parts of the devices' spans between programs; see program_gaps.h. */
#include "program_gaps.h"

#include "../../base/interrupt.h"
#include "../../base/sort.h"
#include "../device/cover.h"
#include "../device/device_work.h"
#include "device_time.h"

static bool add_piece(void *context, const WorkPiece *piece)
{
    return cover_add(context, piece->start, piece->end);
}

/* Returns how much of [start, end) the cover includes. Moves *at forward, so later calls need later
 * times. */
static uint64_t covered(const Cover *cover, size_t *at, int64_t start, int64_t end)
{
    uint64_t sum = 0;
    while (*at < cover->n && cover->items[*at].end <= start) ++*at;
    for (size_t i = *at; i < cover->n && cover->items[i].start < end; i++) {
        int64_t from = cover->items[i].start, to = cover->items[i].end;
        if (from < start) from = start;
        if (to > end) to = end;
        sum += (uint64_t)to - (uint64_t)from;
        *at = i;
    }
    return sum;
}

/* Adds the gaps of one device, whose runs are sorted by start. */
static void add_gaps(ProgramGaps *all, const DeviceTime *time, const ProgramRun *runs, size_t n,
                     ProfErr *err)
{
    Cover work = {0};
    WorkRange range;
    int64_t reached = time->start_ps, end = add_saturated(reached, (int64_t)time->span_ps);
    const ProgramRun *before = NULL;
    size_t at = 0;
    if (device_work_walk(time->plane, add_piece, &work, &range, err)) cover_finish(&work);
    for (size_t i = 0; i <= n && !interrupt_poll(0, err); i++) {
        int64_t until = i < n && runs[i].start_ps < end ? runs[i].start_ps : end;
        if (until > reached) {
            if (!GROW(all->gaps, all->n, all->capacity)) {
                prof_nomem(err);
                break;
            }
            all->gaps[all->n++] = (ProgramGap){time->plane, reached,
                                               until,       covered(&work, &at, reached, until),
                                               before,      i < n ? &runs[i] : NULL};
            reached = until;
        }
        if (i == n || runs[i].start_ps >= end) break;
        if (!before || runs[i].end_ps > before->end_ps) before = &runs[i];
        if (runs[i].end_ps > reached) reached = runs[i].end_ps;
    }
    cover_free(&work);
}

static void program_gaps_release(void *result)
{
    ProgramGaps *all = result;
    prof_free(all->gaps);
    prof_free(all);
}

/* Adds the gaps of a host. Both lists are in the order of planes. */
static void add_host(ProgramGaps *all, Host *host, const DeviceTimes *times,
                     const ProgramRuns *runs, ProfErr *err)
{
    size_t at = 0;
    if (!host->readable || host_load_only(host, err)) return;
    for (size_t i = 0; i < times->n_devices && !err->code; i++) {
        const DeviceTime *time = &times->devices[i];
        while (at < runs->n && runs->runs[at].plane->plane_id < time->plane->plane_id) at++;
        size_t n = 0;
        while (at + n < runs->n && runs->runs[at + n].plane == time->plane) n++;
        if (time->plane->host == host && time->has_work && n)
            add_gaps(all, time, &runs->runs[at], n, err);
        at += n;
    }
}

static void *program_gaps_make(Run *run, Host *only, ProfErr *err)
{
    const DeviceTimes *times = run_device_times(run, only, err);
    const ProgramRuns *runs = times ? run_program_runs(run, only, err) : NULL;
    ProgramGaps *all = runs ? prof_alloc(sizeof *all) : NULL;
    if (runs && !all) prof_nomem(err);
    if (!all) return NULL;
    for (size_t h = 0; h < run->n_hosts && !err->code; h++)
        if (!only || only == &run->hosts[h]) add_host(all, &run->hosts[h], times, runs, err);
    if (err->code) program_gaps_release(all), all = NULL;
    return all;
}

const ProgramGaps *run_program_gaps(Run *run, Host *only, ProfErr *err)
{
    static const Analysis analysis = {program_gaps_make, program_gaps_release,
                                      NEEDS_ONE_HOST_AT_A_TIME};
    return run_analysis(run, only, &analysis, err);
}
