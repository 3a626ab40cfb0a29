// SPDX-License-Identifier: Apache-2.0
/* findings.c: computes verdicts; see findings.h. */
#include "findings.h"

#include "../../store/events.h"

#include <math.h>

/* ---- findings ---- */

const char *const hardware_names[] = {"UNKNOWN_HARDWARE", "CPU_ONLY", "GPU", "TPU"};

/* percentages from which XProf mentions them */
enum { TPU_COLLECTIVES_OVER_INPUT = 6, TPU_IDLE = 3 };

double finding_percent(const InputAnalysis *a, enum Finding finding)
{
    switch (finding) {
    case FINDING_INPUT: return a->input_percent;
    case FINDING_OUTPUT: return a->output_percent;
    case FINDING_IDLE: return a->idle_percent;
    case FINDING_LAUNCH: return a->is_tpu ? NAN : a->launch_percent;
    case FINDING_COLLECTIVES: return a->collectives_percent;
    default: return a->is_tpu ? NAN : a->others_percent;
    }
}

double finding_percent_actual(const InputAnalysis *a, enum Finding finding)
{
    static const enum StepCategory categories[] = {[FINDING_INPUT] = STEP_INPUT,
                                                   [FINDING_OUTPUT] = STEP_OUTPUT,
                                                   [FINDING_IDLE] = STEP_ALL_OTHERS,
                                                   [FINDING_LAUNCH] = STEP_KERNEL_LAUNCH,
                                                   [FINDING_COLLECTIVES] = STEP_COLLECTIVES,
                                                   [FINDING_OTHERS] = STEP_ALL_OTHERS};
    if (finding == FINDING_IDLE ? !a->is_tpu : finding == FINDING_OTHERS && a->is_tpu) return NAN;
    return a->actual_percent[categories[finding]];
}

/* ---- verdicts ---- */

static enum ShareVerdict input_share(enum InputVerdict input)
{
    if (input == VERDICT_HOST) return SHARE_HIGH;
    return input == VERDICT_BOTH || input == VERDICT_POTENTIALLY ? SHARE_MODERATE : SHARE_NO;
}

enum ShareVerdict input_share_actual(const InputAnalysis *a)
{
    return input_share(a->actual_input);
}

/* Returns the verdict on idle time or collectives of a TPU: mentioned or not. */
static enum ShareVerdict tpu_share(enum Finding finding, double percent, double input_percent)
{
    bool is_much = finding == FINDING_IDLE ? percent >= TPU_IDLE
                                           : percent - input_percent >= TPU_COLLECTIVES_OVER_INPUT;
    return is_much ? SHARE_HIGH : SHARE_NO;
}

static enum ShareVerdict share_verdict(const InputAnalysis *a, enum Finding finding)
{
    switch (finding) {
    case FINDING_OUTPUT: return a->output;
    case FINDING_IDLE: return a->is_tpu ? tpu_share(finding, a->idle_percent, 0) : SHARE_NO;
    case FINDING_LAUNCH: return a->launch;
    case FINDING_COLLECTIVES:
        return a->is_tpu ? tpu_share(finding, a->collectives_percent, a->input_percent)
                         : a->collectives;
    case FINDING_OTHERS: return a->others;
    default: return input_share(a->input);
    }
}

static enum ShareVerdict share_verdict_actual(const InputAnalysis *a, enum Finding finding)
{
    double percent = finding_percent_actual(a, finding);
    switch (finding) {
    case FINDING_OUTPUT: return a->actual_output;
    case FINDING_IDLE: return a->is_tpu ? tpu_share(finding, percent, 0) : SHARE_NO;
    case FINDING_LAUNCH: return a->is_tpu ? SHARE_NO : a->actual_launch;
    case FINDING_COLLECTIVES:
        return a->is_tpu ? tpu_share(finding, percent, a->actual_percent[STEP_INPUT])
                         : a->actual_collectives;
    case FINDING_OTHERS: return a->is_tpu ? SHARE_NO : a->actual_others;
    default: return input_share(a->actual_input);
    }
}

static const char *const input_verdicts[] = {"unknown", "device", "both", "both", "host"};
const char *const share_verdict_names[] = {"no", "moderate", "high"};

const char *input_verdict_actual(const InputAnalysis *a) { return input_verdicts[a->actual_input]; }

const char *finding_verdict(const InputAnalysis *a, enum Finding finding)
{
    static const char *const outputs[] = {"device", "both", "host"}, *const answers[] = {
                                                                         "no", "yes", "yes"};
    bool tpu_only = finding == FINDING_IDLE,
         generic_only = finding == FINDING_LAUNCH || finding == FINDING_OTHERS;
    if (finding == FINDING_INPUT) return input_verdicts[a->input];
    if (a->is_tpu ? generic_only : tpu_only) return NULL;
    if (a->input == VERDICT_UNKNOWN) return finding == FINDING_OUTPUT ? "unknown" : "no";
    enum ShareVerdict share = share_verdict(a, finding);
    if (finding == FINDING_OUTPUT) return outputs[share];
    return a->is_tpu ? answers[share] : share_verdict_names[share];
}

const char *input_degree(const InputAnalysis *a)
{
    static const char *const degrees[] = {"unknown", "not", "moderately", "potentially", "highly"};
    return degrees[a->input];
}

const char *finding_severity(const InputAnalysis *a, enum Finding finding)
{
    static const char *const severities[] = {"info", "warning", "error"};
    return severities[share_verdict_actual(a, finding)];
}

bool finding_holds(const InputAnalysis *a, enum Finding finding)
{
    return finding == FINDING_INPUT || share_verdict_actual(a, finding) != SHARE_NO;
}

const char *next_step_code(const InputAnalysis *a)
{
    bool bound = input_share(a->input) != SHARE_NO;
    if (!bound) return "none";
    return a->uses_tf_data ? "input_ops" : "use_tf_data";
}

double precision_16bit_percent(const StepDb *steps)
{
    return 100 * safe_div((double)steps->compute_16bit_ps,
                          (double)steps->compute_16bit_ps + (double)steps->compute_32bit_ps);
}

bool precision_is_low(const StepDb *steps)
{
    return (steps->compute_16bit_ps || steps->compute_32bit_ps) &&
           precision_16bit_percent(steps) < 10;
}

double eager_percent(const OpMetricsDb *db)
{
    uint64_t eager = 0, all = 0;
    for (size_t i = 0; i < db->n_ops; i++)
        if (!op_is_idle(&db->ops[i]))
            all += db->ops[i].self_ps, eager += db->ops[i].is_eager ? db->ops[i].self_ps : 0;
    return 100 * safe_div((double)eager, (double)all);
}

double outside_compilation_percent(const OpStats *stats)
{
    uint64_t outside = 0;
    for (size_t i = 0; i < stats->device.n_ops; i++) {
        const OpMetrics *op = &stats->device.ops[i];
        if (op_is_outside_compilation(slice_of(op->provenance), slice_of(op->long_name)))
            outside += op->self_ps;
    }
    return 100 * safe_div((double)outside, (double)stats->framework.total_op_ps);
}

double host_stat(Run *run, Host *only, const char *name, ProfErr *err)
{
    double sum = 0;
    size_t n = 0;
    for (size_t h = 0; h < run->n_hosts; h++) {
        Host *host = &run->hosts[h];
        Window window = {.file = &host->file};
        if (only && only != host) continue;
        for (size_t i = 0; i < host->n_planes; i++) {
            const Plane *plane = &host->planes[i];
            for (size_t k = 0; plane->kind != PLANE_METADATA && k < plane->n_stats && !err->code;
                 k++) {
                Stat stat;
                const StatMeta *meta =
                    plane_stat(plane, k, &window, &stat, err) ? stat_meta(plane, stat.id) : NULL;
                if (meta && stat.type == TYPE_DOUBLE && !strcmp(meta->name->text, name))
                    sum += stat.number, n++;
            }
        }
        window_free(&window);
    }
    return n ? sum / (double)n : NAN;
}
