// SPDX-License-Identifier: Apache-2.0
/* roofline.c: computes the rows of the roofline model; see roofline.h.
 *
 * The model has two halves: with the ops that feed the device, and without them. Each has the
 * entire program, its ops by self time (the first thousand; those without occurrences are not
 * shown), and the program in each step. */
#include "roofline.h"

#include <math.h>

#include "../../format/hlo_opcode.h"

enum { MOST_OPS = 1000 };

typedef struct {
    Roofline *roofline;
    const OpStats *stats;
    const DeviceCapabilities *devices;
    const StepDb *steps;
    size_t capacity;
    bool with_infeed_outfeed;
    ProfErr *err;
} Builder;

Slice roofline_category(const OpMetrics *op)
{
    Slice known = slice_of(op->category);
    if (known.n && !slice_is(known, "unknown") && !slice_is(known, "Unknown")) return known;
    if (!op->name->has_nul && hlo_opcode(op->name->text) != HLO_UNKNOWN) return slice_of(op->name);
    return known.n ? known : slice_of_string("unknown");
}

static bool counts(const Builder *b, const OpMetrics *op)
{
    return b->with_infeed_outfeed || !op_is_infeed_or_outfeed(roofline_category(op));
}

static OpMetrics empty_program(uint64_t time_ps)
{
    return (OpMetrics){.name = empty_text,
                       .category = empty_text,
                       .provenance = empty_text,
                       .long_name = empty_text,
                       .deduplicated_name = empty_text,
                       .source_file = empty_text,
                       .source_stack = empty_text,
                       .occurrences = 1,
                       .time_ps = time_ps};
}

/* Sums the work of the program's ops. Ops that run other ops are left out, because those are
 * included; their corrected operations are unknown, unless events that work share their symbol. */
static OpMetrics sum_program(Builder *b, const OpMetricsDb *db)
{
    OpMetrics sum = empty_program(db->total_ps);
    for (size_t i = 0; i < db->n_ops; i++) {
        const OpMetrics *op = &db->ops[i];
        if (!counts(b, op)) {
            sum.time_ps -= op->time_ps;
            continue;
        }
        if (!isnan(op->model_flops_actual))
            sum.flops_actual += op->flops_actual,
                sum.model_flops_actual += op_is_recomputed(op) ? 0 : op->model_flops_actual;
        if (op_is_container(roofline_category(op))) continue;
        sum.flops += op->flops, sum.model_flops += op->model_flops,
            sum.bytes_accessed += op->bytes_accessed;
        for (size_t k = 0; k < op->n_memory; k++)
            if (!op_add_memory(&sum, &b->roofline->arena, op->memory[k].operation,
                               op->memory[k].space, op->memory[k].bytes))
                prof_nomem(b->err);
    }
    return sum;
}

/* Returns the larger number; a if b is NaN, because a peak may be unknown. */
static double larger(double a, double b) { return b > a ? b : a; }

static void set_efficiency(const Builder *b, RooflineRow *row)
{
    const PerfEnv *env = &b->devices->env;
    const double *gibps = row->rates.traffic_gibps;
    row->compute_efficiency = safe_div(row->rates.gflops, peak_gflops(b->devices));
    double memory = larger(0, safe_div(gibps[TRAFFIC_HBM], peak_gibps(b->devices, MEMORY_HBM)));
    if (b->devices->hardware == HARDWARE_GPU) {
        memory = larger(
            memory, safe_div(gibps[TRAFFIC_VMEM_READ], peak_gibps(b->devices, MEMORY_SRAM_READ)));
        memory = larger(
            memory, safe_div(gibps[TRAFFIC_VMEM_WRITE], peak_gibps(b->devices, MEMORY_SRAM_WRITE)));
    } else if (env->has_cmem) {
        memory = larger(
            memory, safe_div(gibps[TRAFFIC_CMEM_READ], peak_gibps(b->devices, MEMORY_CMEM_READ)));
        memory = larger(
            memory, safe_div(gibps[TRAFFIC_CMEM_WRITE], peak_gibps(b->devices, MEMORY_CMEM_WRITE)));
    } else if (env->has_merged_vmem) {
        memory = larger(
            memory, safe_div(gibps[TRAFFIC_VMEM_READ], peak_gibps(b->devices, MEMORY_VMEM_READ)));
        memory = larger(
            memory, safe_div(gibps[TRAFFIC_VMEM_WRITE], peak_gibps(b->devices, MEMORY_VMEM_WRITE)));
    }
    row->memory_utilization = memory;
    row->efficiency = larger(memory, row->compute_efficiency);
    row->optimal_gflops = safe_div(row->rates.gflops, row->efficiency);
}

/* total_ps: the base of the shares. NULL if memory runs out. */
static RooflineRow *add_row(Builder *b, const OpMetrics *op, uint64_t total_ps)
{
    Roofline *r = b->roofline;
    if (!GROW(r->rows, r->n_rows, b->capacity)) {
        prof_nomem(b->err);
        return NULL;
    }
    RooflineRow *row = &r->rows[r->n_rows++];
    *row = (RooflineRow){.op = *op,
                         .with_infeed_outfeed = b->with_infeed_outfeed,
                         .rates = op_rates(op, b->devices)};
    row->total_us = ps_to_us(op->time_ps),
    row->average_us = safe_div(row->total_us, op->occurrences);
    row->self_us = ps_to_us(op->self_ps),
    row->average_self_us = safe_div(row->self_us, op->occurrences);
    row->dma_stall_fraction = safe_div((double)op->dma_stall_ps, (double)op->time_ps);
    row->total_us_per_core = safe_div(row->total_us, (double)b->devices->device_core_count);
    row->total_fraction = safe_div((double)op->time_ps, (double)total_ps);
    set_efficiency(b, row);
    return row;
}

static void add_ops(Builder *b, const OpMetricsDb *db, uint64_t total_ps)
{
    uint32_t *order = op_db_order(db);
    uint64_t rank = 0;
    double cumulative = 0;
    if (!order) prof_nomem(b->err);
    for (size_t i = 0; i < db->n_ops && i < MOST_OPS && !b->err->code; i++) {
        const OpMetrics *op = &db->ops[order[i]];
        if (!op->occurrences || !counts(b, op)) continue;
        RooflineRow *row = add_row(b, op, total_ps);
        if (!row) break;
        row->rank = ++rank;
        row->self_fraction = safe_div(row->self_us, ps_to_us(total_ps));
        row->cumulative_fraction = cumulative += row->self_fraction;
    }
    prof_free(order);
}

/* Adds the program of the steps. NULL with err set. */
static RooflineRow *add_program(Builder *b, const StepProgram *sums)
{
    OpMetrics program = empty_program(sums->time_ps);
    program.flops = sums->flops, program.model_flops = sums->model_flops,
    program.bytes_accessed = sums->bytes_accessed;
    program.flops_actual = sums->flops_actual,
    program.model_flops_actual = sums->model_flops_actual;
    program.memory = sums->memory, program.n_memory = sums->n_memory;
    return add_row(b, &program, program.time_ps);
}

/* Adds the average step. XProf divides its times by the number of steps, but not its rates and
 * shares. */
static void add_average(Builder *b, int feed)
{
    RooflineRow *row = add_program(b, &b->roofline->programs.all[feed]);
    double n = (double)b->steps->n_steps;
    if (!row) return;
    row->record = ROOFLINE_AVERAGE;
    row->total_us = safe_div(row->total_us, n), row->self_us = safe_div(row->self_us, n),
    row->total_us_per_core = safe_div(row->total_us_per_core, n);
}

/* Returns the base of the shares of ops. Here XProf recognises infeed and outfeed only by the
 * categories in the file. */
static uint64_t shared_ps(const Builder *b, const OpMetricsDb *db)
{
    uint64_t ps = db->total_ps;
    for (size_t i = 0; i < db->n_ops && !b->with_infeed_outfeed; i++)
        if (op_is_infeed_or_outfeed(slice_of(db->ops[i].category))) ps -= db->ops[i].time_ps;
    return ps;
}

static void build(Builder *b)
{
    OpMetrics program = sum_program(b, &b->stats->device);
    if (add_row(b, &program, program.time_ps))
        add_ops(b, &b->stats->device, shared_ps(b, &b->stats->device));
    int feed = b->with_infeed_outfeed ? WITH_FEED : WITHOUT_FEED;
    if (b->steps->has_complete_steps && !b->err->code) add_average(b, feed);
    for (size_t i = 0; i < b->steps->n_steps && !b->err->code; i++) {
        RooflineRow *row = add_program(b, &b->roofline->programs.steps[i][feed]);
        if (row) row->record = ROOFLINE_STEP, row->step = b->steps->steps[i].number;
    }
}

/* Reserves room for all rows, so that none moves. */
static void reserve_rows(Builder *b)
{
    size_t n_ops = b->stats->device.n_ops < MOST_OPS ? b->stats->device.n_ops : MOST_OPS;
    b->capacity = 2 * (2 + n_ops + b->steps->n_steps);
    if (!(b->roofline->rows = prof_buffer(b->capacity * sizeof *b->roofline->rows)))
        prof_nomem(b->err);
}

static void roofline_release(void *result)
{
    Roofline *r = result;
    prof_free(r->rows);
    step_programs_free(&r->programs);
    arena_free(&r->arena);
    prof_free(r);
}

static void *roofline_make(Run *run, Host *only, ProfErr *err)
{
    const OpStats *stats =
        run_ops_and_steps(run, only, host_step_outlines, err) ? NULL : run_op_stats(run, only, err);
    const DeviceCapabilities *devices = stats ? run_devices(run, only, err) : NULL;
    const StepDb *steps = devices ? run_step_outlines(run, only, err) : NULL;
    Roofline *r = steps ? prof_alloc(sizeof *r) : NULL;
    if (!r) {
        prof_nomem(err);
        return NULL;
    }
    Builder b = {.roofline = r, .stats = stats, .devices = devices, .steps = steps, .err = err};
    r->gpu = strstr(devices->device_type, "GPU") != NULL;
    bool has_device = devices->hardware > HARDWARE_CPU;
    if (has_device && !step_programs_make(&r->programs, run, steps, err)) reserve_rows(&b);
    for (int pass = 0; pass < 2 && has_device && !err->code; pass++) {
        b.with_infeed_outfeed = !pass;
        build(&b);
    }
    prof_free(r->programs.steps);
    r->programs.steps = NULL;
    if (err->code) {
        roofline_release(r);
        return NULL;
    }
    return r;
}

const Roofline *run_roofline(Run *run, Host *only, ProfErr *err)
{
    static const Analysis analysis = {roofline_make, roofline_release, NEEDS_ONE_HOST_AT_A_TIME};
    return run_analysis(run, only, &analysis, err);
}
