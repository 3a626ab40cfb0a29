// SPDX-License-Identifier: Apache-2.0
/* all_others.c: what hosts did while no activity of a step counts; see all_others.h.
 *
 * These times are attributed to the host's main thread, as idle gaps without a launch are. */
#include "all_others.h"

#include "../../base/interrupt.h"
#include "../steps/steps.h"
#include "idle_parts.h"

typedef struct {
    AllOthers *out;
    const StepDb *db;
    IdleTree tree;
} AllOthersBuild;

/* Adds the unknown times of the complete steps on a host. */
static int add_times(AllOthersBuild *b, size_t h, IdleStretches *stretches, ProfErr *err)
{
    const HostSteps *steps = b->db->hosts[h],
                    *with = host_steps_with_unknown(steps->host, err); /* the same steps */
    for (size_t i = 0; with && i < b->db->n_steps && !err->code; i++) {
        const HostStep *step = &with->steps[b->db->steps[i].of_hosts[h] - steps->steps];
        if (b->db->steps[i].dropped || !step->n_cores) continue;
        b->out->n_cores++;
        b->out->steps_ps += step->duration_ps;
        for (size_t k = 0; k < step->n_unknown && !interrupt_poll(1, err); k++) {
            IdleStretch *stretch = PUSH(*stretches);
            if (!stretch) return prof_nomem(err);
            *stretch = (IdleStretch){
                .start = step->unknown[k].start, .end = step->unknown[k].end, .weight = 1};
        }
    }
    return err->code;
}

/* Gets the names of the work of a host's GPUs, by which profilers name the calls that launch it. */
static int find_kernels(Host *host, IdleNames *kernels, ProfErr *err)
{
    IdleStretches gaps = {0};
    IdleTree unused = {0};
    idle_gaps_of_host(host, CLASS_DEVICES, &gaps, kernels, &unused, err);
    prof_free(gaps.items);
    return err->code;
}

static int read_host(AllOthersBuild *b, size_t h, ProfErr *err)
{
    Host *host = b->db->hosts[h]->host;
    IdleStretches stretches = {0};
    IdleNames kernels = {0};
    if (b->db->hosts[h]->is_tpu || host_load_only(host, err)) return err->code;
    if (!add_times(b, h, &stretches, err) && stretches.n && !find_kernels(host, &kernels, err))
        idle_threads_of_host(host, &stretches, &kernels, &b->tree, err);
    prof_free(stretches.items);
    prof_free(kernels.items);
    return err->code;
}

static void all_others_release(void *result)
{
    AllOthers *out = result;
    if (out->causes) idle_causes_free(out->causes);
    prof_free(out);
}

static void *all_others_make(Run *run, Host *only, ProfErr *err)
{
    AllOthersBuild b = {.db = run_shown_steps(run, only, err)};
    if (!b.db) return NULL;
    if (!(b.out = prof_alloc(sizeof *b.out))) {
        prof_nomem(err);
        return NULL;
    }
    for (size_t i = 0; i < b.db->n_steps; i++) b.out->n_steps += !b.db->steps[i].dropped;
    for (size_t h = 0; h < b.db->n_hosts && b.out->n_steps && !err->code; h++)
        read_host(&b, h, err);
    b.out->causes = idle_tree_rows(&b.tree, err);
    if (b.out->causes) return b.out;
    all_others_release(b.out);
    return NULL;
}

const AllOthers *run_all_others(Run *run, Host *only, ProfErr *err)
{
    static const Analysis analysis = {all_others_make, all_others_release,
                                      NEEDS_ONE_HOST_AT_A_TIME};
    return run_analysis(run, only, &analysis, err);
}
