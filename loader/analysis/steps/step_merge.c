// SPDX-License-Identifier: Apache-2.0
/* step_merge.c: finds the steps of a run: those of its host, or those that all its hosts have; see
 * steps.h. */
#include "../device/devices.h"
#include "../../base/sort.h"
#include "step_align.h"
#include "steps.h"

/* ---- the hosts and steps that count ---- */

enum Which {
    KEPT,
    ALL /* including those that XProf drops as incomplete */,
    MARKED /* those that XProf does not recognise */
};

typedef struct {
    StepDb *db;
    /* in the order of db->hosts */
    const HostStep ***steps; /* steps that may count */
    HostSpans *spans;        /* spans of these steps, over all cores */
    enum Which which;
    bool are_outlines;
} Merge;

/* Returns whether XProf merges the host's steps: if some hosts have devices, only those of these.
 * XProf decides by the names of planes. */
static bool is_worker(Run *run, Host *host, ProfErr *err)
{
    const DeviceCapabilities *devices = run_devices(run, host, err);
    return devices && (strstr(devices->device_type, "GPU") || strstr(devices->device_type, "TPU"));
}

static int choose_hosts(Merge *m, Run *run, Host *only, ProfErr *err)
{
    StepDb *db = m->db;
    size_t n_readable = 0;
    bool any_device = false;
    bool *works = arena_alloc(&db->arena, run->n_hosts);
    db->hosts = arena_alloc(&db->arena, run->n_hosts * sizeof *db->hosts);
    db->host_places = arena_alloc(&db->arena, run->n_hosts * sizeof *db->host_places);
    if (!works || !db->hosts || !db->host_places) return prof_nomem(err);
    for (size_t i = 0; i < run->n_hosts; i++) {
        Host *host = &run->hosts[i];
        if (!host->readable || host->reader->is_program || (only && host != only)) continue;
        const HostSteps *steps =
            m->are_outlines ? host_step_outlines(host, err) : host_steps(host, err);
        if (!steps) return err->code;
        works[db->n_hosts] = !only && is_worker(run, host, err);
        if (err->code) return err->code;
        any_device |= works[db->n_hosts];
        db->host_places[db->n_hosts] = only ? 0 : (uint32_t)n_readable;
        db->hosts[db->n_hosts++] = steps;
        n_readable++;
    }
    m->db->merged = n_readable > 1;
    size_t n = 0;
    for (size_t i = 0; i < db->n_hosts; i++) {
        if (any_device && !works[i]) continue;
        db->hosts[n] = db->hosts[i], db->host_places[n] = db->host_places[i];
        n++;
    }
    db->n_hosts = n;
    return PROF_OK;
}

static bool is_chosen(const HostStep *s, enum Which which)
{
    if (which == MARKED) return s->dropped == STEP_OUTSIDE_XPROF && s->n_cores;
    return s->dropped == STEP_KEPT || (which == ALL && s->dropped == STEP_FIRST_OR_LAST);
}

static int choose_steps_of(Merge *m, size_t h, ProfErr *err)
{
    const HostSteps *host = m->db->hosts[h];
    const HostStep **steps = m->steps[h] = prof_alloc(host->n_steps * sizeof *steps);
    StepSpan *spans = prof_alloc(host->n_steps * sizeof *spans);
    HostSpans *out = &m->spans[h];
    out->spans = spans;
    if (!steps || !spans) return prof_nomem(err);
    for (size_t i = 0; i < host->n_steps; i++) {
        const HostStep *s = &host->steps[i];
        m->db->drops_ends |= s->dropped == STEP_FIRST_OR_LAST;
        if (!is_chosen(s, m->which)) continue;
        StepSpan *span = &spans[out->n];
        for (size_t c = 0; c < s->n_cores; c++) {
            uint64_t begin = s->cores[c].begin_ps, end = begin + s->cores[c].duration_ps;
            if (!c || begin < span->begin_ps) span->begin_ps = begin;
            if (!c || end > span->end_ps) span->end_ps = end;
        }
        steps[out->n++] = s;
    }
    return PROF_OK;
}

static int choose_steps(Merge *m, ProfErr *err)
{
    m->steps = prof_alloc(m->db->n_hosts * sizeof *m->steps),
    m->spans = prof_alloc(m->db->n_hosts * sizeof *m->spans);
    if (!m->steps || !m->spans) return prof_nomem(err);
    for (size_t h = 0; h < m->db->n_hosts && !err->code; h++) choose_steps_of(m, h, err);
    return err->code;
}

/* Returns whether two hosts were recorded at the same time, as far as is known. */
static bool at_one_time(const Host *a, const Host *b)
{
    if (a->start_unix_ns < 0 || a->stop_unix_ns < 0 || b->start_unix_ns < 0 || b->stop_unix_ns < 0)
        return true;
    return a->start_unix_ns <= b->stop_unix_ns && b->start_unix_ns <= a->stop_unix_ns;
}

/* Records issues for what XProf does silently. */
static void report(const Merge *m)
{
    const StepDb *db = m->db;
    bool any = false;
    for (size_t h = 0; h < db->n_hosts; h++) any |= m->spans[h].n > 0;
    for (size_t h = 0; h < db->n_hosts && any; h++) {
        Host *host = db->hosts[h]->host;
        if (m->spans[h].apart)
            host_issue(host, "warning", "steps_apart", host,
                       "no step of this host overlaps a step of the host that it is aligned with: "
                       "steps are paired by number, as in XProf");
        if (!m->spans[h].n)
            host_issue(host, "warning", "host_without_steps", host,
                       "this host has no steps, so the run has none, as in XProf, and tables of "
                       "steps are empty; query another host alone (label/host) to see its steps");
        if (!at_one_time(host, db->hosts[0]->host))
            host_issue(host, "warning", "clocks_differ", host,
                       "according to the hosts' clocks, this host was recorded before or after the "
                       "first one: steps are aligned by the time since each host's own start");
    }
}

static int intersect(Merge *m, ProfErr *err)
{
    StepDb *db = m->db;
    db->n_steps = steps_align(m->spans, db->n_hosts, &db->empty_intersect, err);
    if (m->are_outlines) return err->code;
    report(m);
    bool have_steps = true;
    for (size_t h = 0; h < db->n_hosts; h++) have_steps &= m->spans[h].n > 0;
    if (have_steps && !db->n_steps && db->n_hosts && !err->code) {
        Host *host = db->hosts[0]->host;
        host_issue(host, "warning", "no_common_steps", host,
                   "no step is on all hosts of the run, so tables of steps are empty; query a "
                   "single host (label/host) to see its steps");
    }
    return err->code;
}

/* ---- the run's steps ---- */

ORDER_BY(by_core, StepCore, core_id)

static int make_step(Merge *m, Step *step, size_t nth, ProfErr *err)
{
    StepDb *db = m->db;
    const HostStep **of = arena_alloc(&db->arena, db->n_hosts * sizeof *of);
    size_t n_cores = 0;
    if (!of) return prof_nomem(err);
    for (size_t h = 0; h < db->n_hosts; h++) {
        of[h] = m->steps[h][m->spans[h].first + nth];
        n_cores += of[h]->n_cores;
    }
    StepCore *cores = step->cores = arena_alloc(&db->arena, n_cores * sizeof *cores);
    if (!cores) return prof_nomem(err);
    step->of_hosts = of;
    step->number = m->which == MARKED ? of[0]->number : (uint32_t)of[0]->group;
    if (m->db->merged) step->number = (uint32_t)nth;
    step->kept_number = step->number, step->outside_xprof = m->which == MARKED;
    step->name = of[0]->name;
    step->begin_ps = of[0]->begin_ps;
    for (size_t h = 0; h < db->n_hosts; h++) {
        for (size_t c = 0; c < of[h]->n_cores; c++) {
            cores[step->n_cores] = of[h]->cores[c];
            cores[step->n_cores++].core_id += db->host_places[h] * 1000;
            if (of[h]->cores[c].kind != STEP_CORE_SPARSE &&
                of[h]->cores[c].duration_ps > step->duration_ps)
                step->duration_ps = of[h]->cores[c].duration_ps;
        }
        if (of[h]->xprof_all_reduce_ps > step->xprof_all_reduce_ps)
            step->xprof_all_reduce_ps = of[h]->xprof_all_reduce_ps;
        step->dropped |= of[h]->dropped == STEP_FIRST_OR_LAST;
    }
    bool sorted = true;
    for (size_t c = 1; c < n_cores; c++) sorted &= cores[c - 1].core_id < cores[c].core_id;
    if (!sorted) sort_array(cores, n_cores, sizeof *cores, by_core);
    return PROF_OK;
}

static int make_steps(Merge *m, ProfErr *err)
{
    StepDb *db = m->db;
    if (!(db->steps = arena_alloc(&db->arena, db->n_steps * sizeof *db->steps)))
        return prof_nomem(err);
    for (size_t i = 0; i < db->n_steps && !err->code; i++) make_step(m, &db->steps[i], i, err);
    for (size_t h = 0; h < db->n_hosts; h++) {
        const HostSteps *host = db->hosts[h];
        db->compute_16bit_ps += host->compute_16bit_ps,
            db->compute_32bit_ps += host->compute_32bit_ps;
        db->compute_16bit_ps_actual += host->compute_16bit_ps_actual,
            db->compute_32bit_ps_actual += host->compute_32bit_ps_actual;
        db->has_complete_steps |= host->is_tpu;
        enum Hardware hardware = host->has_device ? HARDWARE_GPU : HARDWARE_CPU;
        if (host->is_tpu) hardware = HARDWARE_TPU;
        if (hardware > db->hardware) db->hardware = hardware;
    }
    db->has_complete_steps |= db->merged;
    return err->code;
}

static void step_db_release(void *result)
{
    StepDb *db = result;
    arena_free(&db->arena);
    prof_free(db);
}

static StepDb *merge(Run *run, Host *only, enum Which which, bool are_outlines, ProfErr *err)
{
    Merge m = {.db = prof_alloc(sizeof *m.db), .which = which, .are_outlines = are_outlines};
    if (!m.db) {
        prof_nomem(err);
        return NULL;
    }
    if (!choose_hosts(&m, run, only, err) && !choose_steps(&m, err) && !intersect(&m, err))
        make_steps(&m, err);
    for (size_t h = 0; h < m.db->n_hosts; h++) {
        if (m.steps) prof_free(m.steps[h]);
        if (m.spans) prof_free((void *)m.spans[h].spans);
    }
    prof_free(m.steps);
    prof_free(m.spans);
    if (!err->code) return m.db;
    step_db_release(m.db);
    return NULL;
}

int run_ops_and_steps(Run *run, Host *only, const HostSteps *(*of_host)(Host *host, ProfErr *err),
                      ProfErr *err)
{
    for (size_t i = 0; i < run->n_hosts && !only && !err->code; i++) {
        Host *host = &run->hosts[i];
        if (host->readable && !host->reader->is_program && run_op_stats(run, host, err))
            of_host(host, err);
    }
    return err->code;
}

static void *step_db_make_kept(Run *run, Host *only, ProfErr *err)
{
    return merge(run, only, KEPT, false, err);
}

const StepDb *run_steps(Run *run, Host *only, ProfErr *err)
{
    static const Analysis analysis = {step_db_make_kept, step_db_release, NEEDS_ONE_HOST_AT_A_TIME};
    return run_analysis(run, only, &analysis, err);
}

static void *step_db_make_outlines(Run *run, Host *only, ProfErr *err)
{
    return merge(run, only, KEPT, true, err);
}

const StepDb *run_step_outlines(Run *run, Host *only, ProfErr *err)
{
    static const Analysis analysis = {step_db_make_outlines, step_db_release,
                                      NEEDS_ONE_HOST_AT_A_TIME};
    bool any = false;
    for (size_t i = 0; i < run->n_hosts; i++)
        any |= (!only || only == &run->hosts[i]) && has_step_outlines(&run->hosts[i]);
    return any ? run_analysis(run, only, &analysis, err) : run_steps(run, only, err);
}

/* Maps each step that XProf keeps to its place among all steps, by a step of the same number on
 * each host, because hosts may be aligned differently here. */
static void *step_db_make_all(Run *run, Host *only, ProfErr *err)
{
    const StepDb *kept = run_steps(run, only, err);
    StepDb *all = kept ? merge(run, only, ALL, false, err) : NULL;
    size_t k = 0;
    for (size_t i = 0; all && i < all->n_steps; i++) {
        Step *step = &all->steps[i];
        while (k < kept->n_steps && kept->steps[k].of_hosts[0] < step->of_hosts[0]) k++;
        bool same = k < kept->n_steps;
        for (size_t h = 0; h < all->n_hosts && same; h++)
            same = kept->steps[k].of_hosts[h] == step->of_hosts[h];
        step->kept_number = same ? (int64_t)kept->steps[k].number : -1;
        step->dropped = !same;
    }
    return all;
}

const StepDb *run_all_steps(Run *run, Host *only, ProfErr *err)
{
    static const Analysis analysis = {step_db_make_all, step_db_release, NEEDS_ONE_HOST_AT_A_TIME};
    const StepDb *kept = run_steps(run, only, err);
    if (!kept || !kept->drops_ends) return kept;
    return run_analysis(run, only, &analysis, err);
}

static void *step_db_make_marked(Run *run, Host *only, ProfErr *err)
{
    return merge(run, only, MARKED, false, err);
}

const StepDb *run_marked_steps(Run *run, Host *only, ProfErr *err)
{
    static const Analysis analysis = {step_db_make_marked, step_db_release,
                                      NEEDS_ONE_HOST_AT_A_TIME};
    return run_analysis(run, only, &analysis, err);
}

const StepDb *run_outside_steps(Run *run, Host *only, ProfErr *err)
{
    const StepDb *all = run_all_steps(run, only, err);
    return all && !all->n_steps ? run_marked_steps(run, only, err) : NULL;
}

const StepDb *run_shown_steps(Run *run, Host *only, ProfErr *err)
{
    const StepDb *outside = run_outside_steps(run, only, err), *kept = run_steps(run, only, err);
    if (outside && outside->n_steps) return outside;
    return kept && !kept->merged ? run_all_steps(run, only, err) : kept;
}
