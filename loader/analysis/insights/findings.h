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
/* Returns the right percentage (input.h); NAN also if it is unknown. */
double finding_percent_actual(const InputAnalysis *a, enum Finding finding);
/* XProf's classification: input: unknown, device, both, host; output: device, both, host; idle: no,
 * yes (TPU alone); launch, collectives, others: no, moderate, high (on TPU collectives alone, no
 * and yes). NULL: the flavour has none. */
const char *finding_verdict(const InputAnalysis *a, enum Finding finding);
/* The verdict on the input by what is actual; so are severities and sentences. */
const char *input_verdict_actual(const InputAnalysis *a);
/* How much the input takes, by what is actual: of it there are sentences. */
enum ShareVerdict input_share_actual(const InputAnalysis *a);
/* by enum ShareVerdict: no, moderate, high */
extern const char *const share_verdict_names[];
/* How much the input holds the run up, as XProf words it: unknown, not, potentially, moderately,
 * highly. */
const char *input_degree(const InputAnalysis *a);
/* info where there is nothing to do, warning for a share worth a look, error for a large one. */
const char *finding_severity(const InputAnalysis *a, enum Finding finding);
/* Is there something to say of it? Of the input there always is. */
bool finding_holds(const InputAnalysis *a, enum Finding finding);
/* Returns the next step that XProf recommends: use_tf_data, input_ops or none. */
const char *next_step_code(const InputAnalysis *a);

/* Computing with 16 bit numbers, of all computing; 0 where none is known. Low: less than 10 % of a
 * known time. */
double precision_16bit_percent(const StepDb *steps);
bool precision_is_low(const StepDb *steps);
/* Eager ops' share of the self time of all ops but IDLE. */
double eager_percent(const OpMetricsDb *db);
/* Ops that a TPU hands to the host, of the self time of all framework ops of devices. */
double outside_compilation_percent(const OpStats *stats);

/* Returns the average over hosts of a stat of their planes. NAN if no plane has it. */
double host_stat(Run *run, Host *only, const char *name, ProfErr *err);

extern const char *const hardware_names[]; /* by enum Hardware, as XProf spells them */

#endif
