// SPDX-License-Identifier: Apache-2.0
/* torch_pass.c: see torch_pass.h. Autograd runs the backward pass on threads of its own. What it
 * calls in Python there, such as the function that computes a checkpointed layer again, has a call
 * of PyTorch as its outermost frame; everything else there has no frame. */
#include "torch_pass.h"

#include "user_code.h"

/* Where a source file is. */
enum { IN_TORCH = 1, IN_AUTOGRAD = 2, IS_CHECKPOINT = 4 };

static uint8_t place_of(const char *file)
{
    bool torch = file_is_in(file, "torch");
    const char *name = file;
    for (const char *p = file; *p; p++)
        if (*p == '/' || *p == '\\') name = p + 1;
    bool checkpoint = !strcmp(name, "checkpoint.py");
    uint8_t place = torch ? IN_TORCH : 0;
    if (file_is_in(file, "autograd")) place |= IN_AUTOGRAD;
    if (checkpoint && (torch || file_is_in(file, "torch_xla"))) place |= IS_CHECKPOINT;
    return place;
}

/* Computes the places of a module's source files, once. */
static void *places_make(const HloModule *module, ProfErr *err)
{
    const Xla__StackFrameIndexProto *index = module->proto->hlo_module->stack_frame_index;
    uint8_t *places = prof_alloc(index->n_file_names + 1);
    if (!places) prof_nomem(err);
    for (size_t i = 0; places && i < index->n_file_names; i++)
        places[i + 1] = place_of(index->file_names[i]);
    return places;
}

enum OpPass torch_pass(const HloModule *module, int32_t frame_id, ProfErr *err)
{
    static const HloAnalysis analysis = {places_make, prof_free};
    const Xla__StackFrameIndexProto *index = module->proto->hlo_module->stack_frame_index;
    const uint8_t *places =
        index && index->n_stack_frames ? hlo_analysis(module, &analysis, err) : NULL;
    if (!places) return PASS_UNKNOWN;
    HloFrame frame;
    uint8_t outermost = IN_TORCH, found = 0;
    for (int n = 0; n < MOST_FRAMES && hlo_frame(module, frame_id, &frame); n++) {
        outermost = places[frame_file(module, frame_id)];
        if (!found) found = outermost & (IN_AUTOGRAD | IS_CHECKPOINT);
        frame_id = frame.parent_id;
    }
    if (!(outermost & IN_TORCH)) return PASS_FORWARD;
    return found & IS_CHECKPOINT ? PASS_RECOMPUTED : PASS_BACKWARD;
}
