// SPDX-License-Identifier: Apache-2.0
/* op_executions.c: counts the executions of ops from their kernels; see op_executions.h. */
#include "op_executions.h"

enum { MOST_KERNELS = 64 }; /* of an op: more only occur in made-up files */

static bool is(const KernelCount *kernel, const Text *name)
{
    return kernel->name == name || (kernel->name->n_bytes == name->n_bytes &&
                                    !memcmp(kernel->name->text, name->text, name->n_bytes));
}

/* Returns the kernel with a name. NULL if there are too many, or with *memory false. */
static KernelCount *kernel_of(OpKernels *k, const Text *name, bool *memory)
{
    *memory = true;
    if (k->n && is(&k->kernels[k->last], name)) return &k->kernels[k->last];
    for (size_t i = 0; i < k->n; i++)
        if (is(&k->kernels[i], name)) return &k->kernels[k->last = i];
    if (k->n == MOST_KERNELS) {
        k->too_many = true;
        return NULL;
    }
    if (!GROW(k->kernels, k->n, k->capacity)) {
        *memory = false;
        return NULL;
    }
    k->kernels[k->last = k->n++] = (KernelCount){.name = name};
    return &k->kernels[k->last];
}

bool op_kernels_add(OpKernels *k, const Text *name)
{
    bool memory;
    KernelCount *kernel = kernel_of(k, name, &memory);
    if (kernel) kernel->n++, kernel->in_row++;
    return memory;
}

void op_kernels_end_row(OpKernels *k)
{
    uint32_t least = 0;
    for (size_t i = 0; i < k->n; i++) {
        uint32_t n = k->kernels[i].in_row;
        if (n && (!least || n < least)) least = n;
        k->kernels[i].in_row = 0;
    }
    k->rows += least;
}

bool op_kernels_join(OpKernels *to, const OpKernels *from)
{
    bool memory = true;
    for (size_t i = 0; i < from->n && memory; i++) {
        KernelCount *kernel = kernel_of(to, from->kernels[i].name, &memory);
        if (kernel) kernel->n += from->kernels[i].n;
    }
    to->rows += from->rows;
    to->too_many |= from->too_many;
    return memory;
}

uint64_t op_kernels_executions(const OpKernels *k)
{
    bool equal = !k->too_many;
    for (size_t i = 1; i < k->n; i++) equal &= k->kernels[i].n == k->kernels[0].n;
    return equal && k->n ? k->kernels[0].n : k->rows;
}

void op_kernels_free(OpKernels *k) { prof_free(k->kernels); }
