// SPDX-License-Identifier: Apache-2.0
/* sentences.c: sentences about findings and advice; see sentences.h. */
#include "sentences.h"
SQLITE_EXTENSION_INIT3

static char *marked_sentence(const InputAnalysis *a)
{
    static const char *const bound[] = {"Not input bound", "Partly input bound", "Input bound"};
    return sqlite3_mprintf("%s: input takes %.1f%% of the time of %d steps that the framework "
                           "marks. XProf does not recognize these steps.",
                           bound[input_share_actual(a)], a->actual_percent[STEP_INPUT],
                           (int)a->n_marked_steps);
}

static char *input_sentence(const InputAnalysis *a)
{
    double percent = a->actual_percent[STEP_INPUT];
    if (a->n_marked_steps) return marked_sentence(a);
    switch (a->actual_input) {
    case VERDICT_UNKNOWN:
        return sqlite3_mprintf(
            "Unknown whether the run is input bound: no complete step was recorded.");
    case VERDICT_HOST:
        return sqlite3_mprintf("Input bound: steps spend %.1f%% of their time on input. Speed up "
                               "the input pipeline first.",
                               percent);
    case VERDICT_BOTH:
        return sqlite3_mprintf("Partly input bound: steps spend %.1f%% of their time on input. "
                               "Optimize both the input pipeline and the rest of the step.",
                               percent);
    case VERDICT_POTENTIALLY:
        return sqlite3_mprintf("Perhaps input bound: the trace shows no activity in %.1f%% of the "
                               "steps' time. This may be file reads or Python code.",
                               a->actual_percent[STEP_ALL_OTHERS]);
    default:
        return sqlite3_mprintf("Not input bound: steps spend %.1f%% of their time on input.",
                               percent);
    }
}

char *finding_statement(const InputAnalysis *a, enum Finding finding)
{
    static const char *const sentences[] = {
        [FINDING_OUTPUT] = "Steps spend %.1f%% of their time on copying results from the device. "
                           "Fetch fewer results, or fetch less often.",
        [FINDING_IDLE] = "TensorCores are idle for %.1f%% of the steps' time without waiting for "
                         "input: work on the host delays them.",
        [FINDING_LAUNCH] = "Steps spend %.1f%% of their time on launching kernels. Fuse or compile "
                           "small ops, or launch from a dedicated thread%s.",
        [FINDING_COLLECTIVES] =
            "Collectives take %.1f%% of the steps' time. Check whether work is balanced across "
            "devices, and overlap communication with computation.",
        [FINDING_OTHERS] = "The trace shows no activity in %.1f%% of the steps' time. Python code "
                           "between steps is a common cause.",
    };
    if (finding == FINDING_INPUT) return input_sentence(a);
    if (finding != FINDING_LAUNCH)
        return sqlite3_mprintf(sentences[finding], finding_percent_actual(a, finding));
    return sqlite3_mprintf(sentences[finding], finding_percent_actual(a, finding),
                           a->uses_tf_data ? "(TF_GPU_THREAD_MODE=gpu_private), because tf.data's "
                                             "threads may compete with it for CPU cores"
                                           : "");
}

static bool is_input_bound(const InputAnalysis *a) { return input_share_actual(a) != SHARE_NO; }

const char *next_step_statement(const InputAnalysis *a)
{
    if (a->actual_input == VERDICT_UNKNOWN)
        return "Record complete steps to find out whether the run is input bound.";
    if (!is_input_bound(a)) return "The input pipeline needs no further analysis.";
    return a->has_tf_data
               ? "Query input_ops and input_breakdown to see where the host's input time goes."
               : "The trace shows no tf.data pipeline. With one, input_ops and input_breakdown "
                 "show where the host's input time goes.";
}

/* ---- advice ---- */

static char *straggler_sentence(const Advice *a)
{
    sqlite3_str *out = sqlite3_str_new(NULL);
    sqlite3_str_appendf(
        out,
        "Hosts whose share of step time at barriers differs strongly from the median (%.1f%%): ",
        a->percent);
    for (size_t i = 0; i < a->count; i++)
        sqlite3_str_appendf(out, "%s%s (%.1f%%)", i ? ", " : "", a->hosts[i].host->name,
                            a->hosts[i].percent);
    sqlite3_str_appendall(out, ". A host that waits less than the others arrives late.");
    return sqlite3_str_finish(out);
}

static char *compilation_sentence(const CompilingSteps *c)
{
    return sqlite3_mprintf("Programs are compiled in %d of %d steps, for %.1f ms (%.1f%% of the "
                           "steps' time). The step that starts at %.3f ms compiles longest: %.1f "
                           "ms. Run each shape once before measuring, and keep input shapes the "
                           "same in all steps. Query recompilations to see which shapes differ.",
                           (int)c->n_compiling, (int)c->n_steps, c->total_ms, c->percent,
                           c->longest_start_ms, c->longest_ms);
}

char *advice_statement(const AdviceList *list, const Advice *a)
{
    /* Formats for a percentage and another one. */
    static const char *const sentences[N_ADVICE_KINDS] = {
        [ADVICE_PRECISION_16BIT] = "Only %.1f%% of the devices' compute time uses 16-bit numbers. "
                                   "If accuracy allows, use bfloat16 or float16, which are faster.",
        [ADVICE_EAGER_HOST] = "%.1f%% of the host's op time is eager execution. Use tf.function to "
                              "compile it into graphs.",
        [ADVICE_EAGER_DEVICE] = "%.1f%% of the devices' op time is eager execution. Use "
                                "tf.function to compile it into graphs.",
        [ADVICE_OUTSIDE_COMPILATION] = "%.1f%% of the devices' op time is in ops that run outside "
                                       "the compiled program, on the host.",
        [RULE_BARRIER_CORES] =
            "Cores spend %.1f%% of their steps, on average, waiting for each other at barriers. "
            "Query stragglers to see which core or host is late. Common causes are uneven work, "
            "slow input on one host, and the network.",
        [RULE_COLLECTIVES] = "Collectives take %.1f%% of the devices' time. Query the table "
                             "collectives to see which ones, and which device waits for the "
                             "others. Overlap them with computation, or send less data.",
        [RULE_COMPUTE] = "Compute bound: matrix units are utilized at %.1f%%, HBM at %.1f%%. Use "
                         "smaller number types or fewer operations.",
        [RULE_MEMORY] = "Memory bound: HBM is utilized at %.1f%%, matrix units at %.1f%%. Fuse "
                        "ops, and keep reused data on the chip.",
        [RULE_DATA_SHUFFLE] = "Devices spend %.1f%% of their time on data movement: copies, "
                              "reshapes, transposes, gathers. Choose layouts and shapes that need "
                              "fewer of them. Query hlo_ops to see which ops these are.",
        [RULE_OFFLOAD] =
            "TensorCores spend %.1f%% of their time waiting for work that they offloaded, although "
            "HBM is utilized at only %.1f%%. Start this work earlier, or offload less.",
        [RULE_SPARSECORE] =
            "SparseCores are busy for %.1f%% of the steps while matrix units and HBM are utilized "
            "at less than 50%%. Balance the embeddings, or use fewer of them.",
        [RULE_TENSORCORE_IDLE] =
            "TensorCores are idle for %.1f%% of the steps while matrix units and HBM are utilized "
            "at less than 50%%. Query host_bound to see what they wait for.",
        [RULE_DATA_TRANSFER] = "Steps wait for input for %.1f%% of their time, and %.1f%% of the "
                               "host's input time is spent on sending data to the device. Send "
                               "fewer bytes, in larger pieces, ahead of time.",
        [RULE_HOST_PROCESSING] =
            "Steps wait for input for %.1f%% of their time, and %.1f%% of the host's input time is "
            "spent on reading and preprocessing. Query input_breakdown to see on which.",
        [RULE_INPUT] = "Steps wait for input for %.1f%% of their time. The trace does not show "
                       "what the host does during it.",
    };
    switch (a->kind) {
    case ADVICE_FINDING: return finding_statement(list->input, a->finding);
    case ADVICE_TF_FUNCTION:
        return sqlite3_mprintf("%.1f%% of the time in the function '%s' is tracing or eager "
                               "execution. Query tf_functions to see how often it was retraced.",
                               a->percent, a->name);
    case ADVICE_DEVICE_IDLE:
        return sqlite3_mprintf(
            "Devices are idle for %.1f%% of the time from their first to their last work (%d "
            "devices with work). Query idle_causes to see what the host did meanwhile, device_time "
            "for each device, and idle_gaps for the longest gaps.",
            a->percent, (int)a->count);
    case ADVICE_COMPILATION: return compilation_sentence(&list->compiling);
    case RULE_STRAGGLER: return straggler_sentence(a);
    case RULE_DEBUG_PRINT:
        return sqlite3_mprintf("Cores of the host %s spend %.1f%% of their steps on debug prints. "
                               "Remove the prints from performance-critical code.",
                               a->name, a->percent);
    default: return sqlite3_mprintf(sentences[a->kind], a->percent, a->other_percent);
    }
}
