// SPDX-License-Identifier: Apache-2.0
/* findings.h: verdicts on the input pipeline, precision and ops of a run, by XProf's rules. */
#ifndef PROF_FINDINGS_H
#define PROF_FINDINGS_H

#include "../input/input.h"

enum Finding {
    FINDING_INPUT,
    FINDING_OUTPUT,
    FINDING_IDLE,
    FINDING_LAUNCH,
    FINDING_COLLECTIVES,
    FINDING_OTHERS,
    N_FINDINGS
};

/* Returns the percentage of the steps' time; NAN if there are no steps, or if XProf does not
 * compute it for this kind of device. */
double finding_percent(const InputAnalysis *a, enum Finding finding);
/* Returns the corrected percentage (input.h). NAN also if it is unknown. */
double finding_percent_actual(const InputAnalysis *a, enum Finding finding);
/* Returns XProf's verdict. Input: unknown, device, both, host; output: device, both, host; idle
 * (TPU only): no, yes; launch, collectives, others: no, moderate, high (TPU: only collectives, no
 * and yes). NULL if XProf has none for this kind of device. */
const char *finding_verdict(const InputAnalysis *a, enum Finding finding);
/* Returns the verdict on the input from the corrected percentages. Severities and sentences use the
 * same percentages. */
const char *input_verdict_actual(const InputAnalysis *a);
/* Returns how much time the input takes, from the corrected percentages. */
enum ShareVerdict input_share_actual(const InputAnalysis *a);
/* by enum ShareVerdict: "no", "moderate", "high" */
extern const char *const share_verdict_names[];
/* Returns how much the input slows the run down, in XProf's words: unknown, not, potentially,
 * moderately, highly. */
const char *input_degree(const InputAnalysis *a);
/* Returns "info" if there is nothing to do, "warning" for a notable share, "error" for a large one.
 */
const char *finding_severity(const InputAnalysis *a, enum Finding finding);
/* Returns whether the finding is mentioned. The one on input always is. */
bool finding_holds(const InputAnalysis *a, enum Finding finding);
/* Returns the next step that XProf recommends: use_tf_data, input_ops or none. */
const char *next_step_code(const InputAnalysis *a);

/* Returns the percentage of computing time that uses 16-bit numbers; 0 if no computing time is
 * known. Low means less than 10 % of a known time. */
double precision_16bit_percent(const StepDb *steps);
bool precision_is_low(const StepDb *steps);
/* Returns the percentage of eager ops in the self time of all ops except IDLE. */
double eager_percent(const OpMetricsDb *db);
/* Returns the percentage of ops that a TPU hands to the host in the self time of all framework ops
 * of devices. */
double outside_compilation_percent(const OpStats *stats);

/* Returns the average over hosts of a stat of their planes. NAN if no plane has it. */
double host_stat(Run *run, Host *only, const char *name, ProfErr *err);

extern const char *const hardware_names[]; /* by enum Hardware, as XProf spells them */

#endif
