// SPDX-License-Identifier: Apache-2.0
/* op_hlo.c: fills in op metrics from HLO instructions; see op_hlo.h. */
#include "op_hlo.h"

#include "../../format/hlo_text.h"
#include "../program/cost.h"

static const Text *name_and_type(OpBuild *build, const char *name, const char *type, ProfErr *err)
{
    TextBuffer out = {0};
    text_add(&out, name), text_add_char(&out, ':'), text_add(&out, type);
    const Text *text = out.no_memory ? NULL : op_text(build, (Slice){out.text, out.n_bytes}, err);
    if (!text) prof_nomem(err);
    text_free(&out);
    return text;
}

/* Returns "op_name:op_type". In what XLA added itself, the name is the type. */
static const Text *provenance(OpBuild *build, const Xla__OpMetadata *metadata, ProfErr *err)
{
    const char *name = metadata ? metadata->op_name : "", *type = metadata ? metadata->op_type : "";
    if (!*name && !*type) return empty_text;
    if (!*type && (!strcmp(name, "XLA_Args") || !strcmp(name, "XLA_Retvals"))) type = name;
    return name_and_type(build, name, type, err);
}

static const Text *plain(OpBuild *build, const char *text, ProfErr *err)
{
    return op_text(build, slice_of_string(text), err);
}

/* HLO texts repeat the shapes of operands, and stacks repeat the frames of callers: together they
 * can grow with the square of the file. In real files they are less than half of its size. */
enum { REPEATED_FREELY = 32 << 20, CUT_TEXT = 100 };

static TextBuffer repeating(const OpBuild *build, size_t most)
{
    bool enough = build->n_repeated > build->host->file.n_bytes + REPEATED_FREELY;
    return (TextBuffer){.limit = enough ? CUT_TEXT : most};
}

static const Text *keep(OpBuild *build, TextBuffer *out, ProfErr *err)
{
    build->n_repeated += out->n_bytes;
    if (out->cut && out->limit == CUT_TEXT) {
        while (out->n_bytes && !utf8_valid((const uint8_t *)out->text, out->n_bytes))
            out->n_bytes--; /* at most one cut character */
        out->cut = false, out->limit = 0;
        text_add(out, "...");
        host_issue(build->host, "warning", "op_texts_cut", build,
                   "HLO texts and source stacks of ops are much longer than the file; some were "
                   "cut to %d bytes",
                   CUT_TEXT);
    }
    const Text *text =
        out->no_memory ? NULL : op_text(build, (Slice){out->text, out->n_bytes}, err);
    if (!text) prof_nomem(err);
    text_free(out);
    return text;
}

static const Text *long_name(OpBuild *build, const HloModule *module,
                             const Xla__HloInstructionProto *instruction, ProfErr *err)
{
    TextBuffer out = repeating(build, HLO_LONG_NAME_MAX);
    hlo_instruction_text(module, instruction, HLO_TEXT_LONG_NAME, &out);
    return keep(build, &out, err);
}

/* Returns "file:line:column" of each frame, the innermost first, each followed by a line feed. */
static const Text *stack(OpBuild *build, const HloModule *module, int32_t frame_id, ProfErr *err)
{
    enum { MAX_FRAMES = 1000 }; /* the index of a damaged program may be circular */
    TextBuffer out = repeating(build, 0);
    HloFrame frame;
    for (int n = 0; n < MAX_FRAMES && !out.cut && hlo_frame(module, frame_id, &frame);
         n++, frame_id = frame.parent_id) {
        text_add(&out, frame.file);
        text_add_format(&out, ":%d:%d\n", frame.line, frame.column);
    }
    return keep(build, &out, err);
}

int op_describe_hlo(OpBuild *build, OpMetrics *op, const HloModule *module,
                    const Xla__HloInstructionProto *instruction, ProfErr *err)
{
    const Xla__OpMetadata *metadata = instruction->metadata;
    const char *file = "";
    op->has_source = true, op->source_line = -1;
    if (!hlo_source(module, instruction, &file, &op->source_line)) file = "";
    op->provenance = provenance(build, metadata, err);
    op->category = plain(build, hlo_category(module, instruction), err);
    op->deduplicated_name = metadata ? plain(build, metadata->deduplicated_name, err) : empty_text;
    op->long_name = long_name(build, module, instruction, err);
    op->source_file = plain(build, file, err);
    op->source_stack = metadata ? stack(build, module, metadata->stack_frame_id, err) : empty_text;
    return err->code;
}

int op_describe_fused(OpBuild *build, OpMetrics *op, const HloModule *module,
                      const Xla__HloInstructionProto *instruction, ProfErr *err)
{
    const Xla__OpMetadata *metadata = instruction->metadata;
    op->name = plain(build, instruction->name, err);
    op->category = plain(build, hlo_category(module, instruction), err);
    op->provenance = name_and_type(build, metadata ? metadata->op_name : "",
                                   metadata ? metadata->op_type : "", err);
    op->long_name = long_name(build, module, instruction, err);
    return err->code;
}

int op_add_cost(OpBuild *build, OpMetrics *op, const HloModule *module,
                const Xla__HloInstructionProto *instruction, uint32_t occurrences,
                uint64_t event_flops, uint64_t event_bytes, ProfErr *err)
{
    static const HloCost unknown = {0};
    const HloCost *cost = hlo_cost(module, instruction, err);
    if (!cost) return err->code;
    if (!cost->known) cost = &unknown;
    double n = occurrences;
    double flops = cost->flops > 0 ? (double)cost->flops : (double)event_flops,
           model = cost->flops > 0 ? (double)cost->model_flops : flops;
    uint64_t bytes = cost->bytes_accessed > 0 ? (uint64_t)cost->bytes_accessed : event_bytes;
    op->flops += flops * n;
    op->model_flops = model != 0 ? op->model_flops + model * n : op->flops;
    op->bytes_accessed += bytes * occurrences;
    if (cost->hbm_read_bytes > 0 && !op_add_memory(op, &build->stats->arena, MEMORY_READ, SPACE_HBM,
                                                   (uint64_t)cost->hbm_read_bytes * occurrences))
        prof_nomem(err);
    if (cost->hbm_write_bytes > 0 &&
        !op_add_memory(op, &build->stats->arena, MEMORY_WRITE, SPACE_HBM,
                       (uint64_t)cost->hbm_write_bytes * occurrences))
        prof_nomem(err);
    return err->code;
}
