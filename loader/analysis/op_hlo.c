/* op_hlo.c: op metrics from HLO instructions; see op_hlo.h. */
#include "op_hlo.h"

#include <stdio.h>

/* "op_name:op_type"; what XLA added itself has a name that is its type. */
static const Text *provenance(OpBuild *build, const Xla__OpMetadata *metadata, ProfErr *err)
{
    const char *name = metadata ? metadata->op_name : "", *type = metadata ? metadata->op_type : "";
    if (!*name && !*type) return empty_text;
    if (!*type && (!strcmp(name, "XLA_Args") || !strcmp(name, "XLA_Retvals"))) type = name;
    size_t n = strlen(name) + strlen(type) + 2;
    char *joined = prof_alloc(n);
    if (!joined) return prof_nomem(err), NULL;
    snprintf(joined, n, "%s:%s", name, type);
    const Text *text = op_text(build, (Slice){joined, n - 1}, err);
    prof_free(joined);
    return text;
}

static const Text *plain(OpBuild *build, const char *text, ProfErr *err) { return op_text(build, (Slice){text, strlen(text)}, err); }

int op_describe_hlo(OpBuild *build, OpMetrics *op, const HloModule *module, const Xla__HloInstructionProto *instruction, ProfErr *err)
{
    const Xla__OpMetadata *metadata = instruction->metadata;
    (void)module;
    const Text *from = provenance(build, metadata, err), *category = plain(build, instruction->opcode, err);
    const Text *deduplicated = metadata ? plain(build, metadata->deduplicated_name, err) : empty_text;
    if (err->code) return err->code;
    op->provenance = from, op->category = category, op->deduplicated_name = deduplicated;
    op->source_line = -1;
    return PROF_OK;
}

int op_add_cost(OpBuild *build, OpMetrics *op, const HloModule *module, const Xla__HloInstructionProto *instruction, uint32_t occurrences, uint64_t event_flops,
                uint64_t event_bytes, ProfErr *err)
{
    (void)build, (void)module, (void)instruction, (void)err;
    double k = occurrences;
    op->flops += (double)event_flops * k;
    op->bytes_accessed += event_bytes * occurrences;
    op->model_flops = event_flops ? op->model_flops + (double)event_flops * k : op->flops;
    return PROF_OK;
}
