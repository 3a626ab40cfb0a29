// SPDX-License-Identifier: Apache-2.0
/* op_shape.c: reads the HLO text of ops; see op_shape.h. */
#include "op_shape.h"

#include "../../format/shape.h"

#include <math.h>

/* Returns the text before " = ", and in *right the text after it. */
static Slice left_side(const Text *expression, Slice *right)
{
    const char *equals = strstr(expression->text, " = ");
    Slice s = {expression->text,
               equals ? (size_t)(equals - expression->text) : expression->n_bytes};
    *right = equals ? (Slice){equals + 3, expression->n_bytes - s.n - 3} : (Slice){"", 0};
    if (s.n && *s.text == '%') s.text++, s.n--;
    return s;
}

Slice op_instruction_name(const Text *expression)
{
    Slice right;
    return left_side(expression, &right);
}

/* The shape of the result ends at the first space outside of brackets. */
double op_padding_efficiency(const OpMetrics *op)
{
    Slice right;
    left_side(op->long_name, &right);
    int depth = 0;
    size_t n = 0;
    for (; n < right.n && (depth || right.text[n] != ' '); n++) {
        depth += right.text[n] == '(' || right.text[n] == '{';
        depth -= right.text[n] == ')' || right.text[n] == '}';
    }
    if (!n || n == right.n) return NAN;
    ProfErr unreadable = {0};
    ShapeSizes sizes = shape_text_sizes(right.text, n, &unreadable);
    return unreadable.code ? NAN : shape_efficiency(&sizes);
}
