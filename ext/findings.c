// SPDX-License-Identifier: Apache-2.0
/* findings.c: sentences on what analyses find; see findings.h. */
#include "findings.h"
SQLITE_EXTENSION_INIT3

static char *marked_sentence(const InputAnalysis *a)
{
    static const char *const bound[] = {"Not input bound", "Partly input bound", "Input bound"};
    return sqlite3_mprintf("%s: input takes %.1f%% of the time of %d steps that the "
                           "framework marks. XProf does not recognize these steps.",
                           bound[input_share_actual(a)], a->actual_percent[STEP_INPUT],
                           (int)a->n_marked_steps);
}

static char *input_sentence(const InputAnalysis *a)
{
    double percent = a->actual_percent[STEP_INPUT];
    if (a->n_marked_steps) return marked_sentence(a);
    switch (a->actual_input) {
    case VERDICT_UNKNOWN:
        return sqlite3_mprintf("Unknown whether the run is input "
                               "bound: no complete step was recorded.");
    case VERDICT_HOST:
        return sqlite3_mprintf("Input bound: steps spend %.1f%% of their time on input. Speed up "
                               "the input pipeline first.",
                               percent);
    case VERDICT_BOTH:
        return sqlite3_mprintf("Partly input bound: steps spend %.1f%% of their time on input. "
                               "Optimize both the input pipeline and the rest of the step.",
                               percent);
    case VERDICT_POTENTIALLY:
        return sqlite3_mprintf("Perhaps input bound: the trace shows no activity in %.1f%% "
                               "of the steps' time. This may be file reads or Python code.",
                               a->actual_percent[STEP_ALL_OTHERS]);
    default:
        return sqlite3_mprintf("Not input bound: steps spend %.1f%% of their time on input.",
                               percent);
    }
}

char *finding_statement(const InputAnalysis *a, enum Finding finding)
{
    static const char *const sentences[] = {
        [FINDING_OUTPUT] = "Steps spend %.1f%% of their time on copying results from "
                           "the device. Fetch fewer results, or fetch less often.",
        [FINDING_IDLE] = "TensorCores are idle for %.1f%% of the steps' time "
                         "without waiting for input: work on the host delays them.",
        [FINDING_LAUNCH] = "Steps spend %.1f%% of their time on launching kernels. Fuse "
                           "or compile small ops, or launch from a dedicated thread%s.",
        [FINDING_COLLECTIVES] = "Collectives take %.1f%% of the steps' time. "
                                "Check whether work is balanced across devices, "
                                "and overlap communication with computation.",
        [FINDING_OTHERS] = "The trace shows no activity in %.1f%% of the steps' "
                           "time. Python code between steps is a common cause.",
    };
    if (finding == FINDING_INPUT) return input_sentence(a);
    if (finding != FINDING_LAUNCH)
        return sqlite3_mprintf(sentences[finding], finding_percent_actual(a, finding));
    return sqlite3_mprintf(sentences[finding], finding_percent_actual(a, finding),
                           a->uses_tf_data ? "(TF_GPU_THREAD_MODE=gpu_private), because "
                                             "tf.data's threads may compete with it for CPU cores"
                                           : "");
}

static bool is_input_bound(const InputAnalysis *a) { return input_share_actual(a) != SHARE_NO; }

const char *next_step_statement(const InputAnalysis *a)
{
    if (a->actual_input == VERDICT_UNKNOWN)
        return "Record complete steps to find out "
               "whether the run is input bound.";
    if (!is_input_bound(a)) return "The input pipeline needs no further analysis.";
    return a->uses_tf_data ? "Query input_ops and input_breakdown to "
                             "see where the host's input time goes."
                           : "The trace shows no tf.data pipeline. With one, input_ops "
                             "and input_breakdown show where the host's input time goes.";
}
