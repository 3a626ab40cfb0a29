// SPDX-License-Identifier: Apache-2.0
/* step_outlines.c: are the outlines of steps the steps, in all that both tell? Of the profiles
 * named, else of all in tests/data. */
#include "../../loader/analysis/steps/steps.h"
#include "check.h"
#include "profiles.h"

#include <stdlib.h>

static bool same_core(const StepCore *a, const StepCore *b)
{
    return a->core_id == b->core_id && a->kind == b->kind && a->host == b->host &&
           a->plane == b->plane && a->begin_ps == b->begin_ps && a->duration_ps == b->duration_ps;
}

static bool same_host_step(const HostStep *a, const HostStep *b)
{
    return a->group == b->group && a->begin_ps == b->begin_ps && a->duration_ps == b->duration_ps &&
           a->dropped == b->dropped && a->n_ops == b->n_ops;
}

static bool same_step(const Step *a, const Step *b, size_t n_hosts)
{
    if (a->number != b->number || a->kept_number != b->kept_number || a->begin_ps != b->begin_ps ||
        a->duration_ps != b->duration_ps)
        return false;
    if (a->n_cores != b->n_cores || a->dropped != b->dropped) return false;
    bool same = true;
    for (size_t i = 0; i < a->n_cores; i++) same &= same_core(&a->cores[i], &b->cores[i]);
    for (size_t h = 0; h < n_hosts; h++) same &= same_host_step(a->of_hosts[h], b->of_hosts[h]);
    return same;
}

static bool same_steps(const StepDb *a, const StepDb *b)
{
    if (a->n_steps != b->n_steps || a->n_hosts != b->n_hosts || a->hardware != b->hardware ||
        a->merged != b->merged || a->drops_ends != b->drops_ends)
        return false;
    if (a->empty_intersect != b->empty_intersect || a->has_complete_steps != b->has_complete_steps)
        return false;
    bool same = true;
    for (size_t h = 0; h < a->n_hosts; h++)
        same &= a->hosts[h]->host == b->hosts[h]->host && a->host_places[h] == b->host_places[h];
    for (size_t i = 0; i < a->n_steps; i++)
        same &= same_step(&a->steps[i], &b->steps[i], a->n_hosts);
    return same;
}

static size_t n_outlined, n_steps_outlined;

/* Outlines first: of steps that are made there are none. */
static void compare(const char *path)
{
    ProfErr err = {0};
    char what[2000];
    Run *run = run_open(path, &(RunOptions){.n_threads = 2}, &err);
    const StepDb **outlines = run ? calloc(run->n_hosts + 1, sizeof *outlines) : NULL;
    if (!outlines) return;
    for (size_t h = 0; h <= run->n_hosts && !err.code; h++) {
        Host *only = h < run->n_hosts ? &run->hosts[h] : NULL;
        n_outlined += only && has_step_outlines(only);
        if (!only || only->readable) outlines[h] = run_step_outlines(run, only, &err);
    }
    for (size_t h = 0; h <= run->n_hosts && !err.code; h++) {
        if (!outlines[h]) continue;
        const StepDb *steps = run_steps(run, h < run->n_hosts ? &run->hosts[h] : NULL, &err);
        snprintf(what, sizeof what, "%s, of host %zu of %zu", path, h, run->n_hosts);
        check(steps && same_steps(outlines[h], steps), what);
        if (steps != outlines[h]) n_steps_outlined += outlines[h]->n_steps;
    }
    snprintf(what, sizeof what, "%s: %s", path, err.text);
    check(!err.code, what);
    free(outlines);
    run_unref(run);
}

int main(int n_args, char **args)
{
    each_profile(n_args, args, compare);
    if (n_args == 1)
        check(n_outlined > 1 && n_steps_outlined > 5, "there are GPUs with steps in tests/data");
    if (n_args > 1)
        printf("%zu hosts with outlines, %zu steps of these\n", n_outlined, n_steps_outlined);
    return finish();
}
