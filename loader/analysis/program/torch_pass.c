// SPDX-License-Identifier: Apache-2.0
/* torch_pass.c: see torch_pass.h. Autograd runs the backward pass on threads of its own. What it
 * calls in Python there, such as the function that computes a checkpointed layer again, has a call
 * of PyTorch as its outermost frame; everything else there has no frame. */
#include "torch_pass.h"

#include "user_code.h"

/* Files of PyTorch that call Python in the backward pass. */
enum Caller { NO_CALLER, AUTOGRAD, CHECKPOINT };

static uint8_t caller_of(const char *file)
{
    const char *name = file;
    for (const char *p = file; *p; p++)
        if (*p == '/' || *p == '\\') name = p + 1;
    bool torch = file_is_in(file, "torch");
    if (!strcmp(name, "checkpoint.py") && (torch || file_is_in(file, "torch_xla")))
        return CHECKPOINT;
    return torch && file_is_in(file, "autograd") ? AUTOGRAD : NO_CALLER;
}

/* Finds which source files of a module are callers, once. */
static void *callers_make(const HloModule *module, ProfErr *err)
{
    const Xla__StackFrameIndexProto *index = module->proto->hlo_module->stack_frame_index;
    uint8_t *callers = prof_alloc(index->n_file_names + 1);
    if (!callers) prof_nomem(err);
    for (size_t i = 0; callers && i < index->n_file_names; i++)
        callers[i + 1] = caller_of(index->file_names[i]);
    return callers;
}

enum OpPass torch_pass(const HloModule *module, int32_t frame_id, ProfErr *err)
{
    static const HloAnalysis analysis = {callers_make, prof_free};
    const Xla__StackFrameIndexProto *index = module->proto->hlo_module->stack_frame_index;
    const uint8_t *callers =
        index && index->n_stack_frames ? hlo_analysis(module, &analysis, err) : NULL;
    if (!callers) return PASS_UNKNOWN;
    HloFrame frame;
    enum Caller innermost = NO_CALLER, outermost = AUTOGRAD; /* autograd itself has no frame */
    for (int n = 0; n < MOST_FRAMES && hlo_frame(module, frame_id, &frame); n++) {
        outermost = callers[frame_file(module, frame_id)];
        if (!innermost) innermost = outermost;
        frame_id = frame.parent_id;
    }
    if (!outermost) return PASS_FORWARD;
    return innermost == CHECKPOINT ? PASS_RECOMPUTED : PASS_BACKWARD;
}
