// SPDX-License-Identifier: Apache-2.0
#include "training.h"

#include "../../format/hlo.h"
#include "../../base/tf_op.h"

#include <string.h>

/* Returns whether a framework op's name has a scope of gradients. */
static bool names_gradient(const char *name)
{
    for (const char *scope = name, *end; (end = strchr(scope, '/')); scope = end + 1) {
        Slice s = {scope, (size_t)(end - scope)};
        if (slice_is(s, "gradient_tape") || slice_starts(s, "gradients") ||
            slice_starts(s, "transpose("))
            return true;
    }
    return false;
}

bool run_trains(Run *run, Host *only, ProfErr *err)
{
    Host *host = run->n_hosts ? &run->hosts[run->n_hosts - 1] : NULL;
    if (only) host = only;
    const HloPrograms *programs = host ? hlo_programs(host, err) : NULL;
    for (size_t i = 0; programs && i < programs->n; i++)
        for (size_t k = 0; k < programs->modules[i]->n_ops; k++) {
            const Xla__HloInstructionProto *op = hlo_op(programs->modules[i], k).instruction;
            if (op->metadata && op->metadata->op_name && names_gradient(op->metadata->op_name))
                return true;
        }
    return false;
}
