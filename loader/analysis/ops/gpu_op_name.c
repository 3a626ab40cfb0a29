// SPDX-License-Identifier: Apache-2.0
/* gpu_op_name.c: see gpu_op_name.h. */
#include "gpu_op_name.h"

bool names_module_only(Slice tf_op)
{
    return slice_is(tf_op, "XlaModule") || slice_starts(tf_op, "XlaModule:");
}

/* Older software appends "#key=value#" to one of its two texts. */
static Slice before_values(Slice text)
{
    const char *hash = text.n ? memchr(text.text, '#', text.n) : NULL;
    if (hash) text.n = (size_t)(hash - text.text);
    return text;
}

Slice gpu_op_name(const GpuOpTexts *texts)
{
    if (names_module_only(texts->tf_op)) return texts->name;
    if (texts->tf_op.n) return texts->tf_op;
    Slice op = before_values(texts->level_0);
    return op.n ? op : before_values(texts->annotation);
}
