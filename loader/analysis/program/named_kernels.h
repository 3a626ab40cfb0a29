// SPDX-License-Identifier: Apache-2.0
/* named_kernels.h: the instructions of a program that run as a GPU kernel of a given name. */
#ifndef PROF_NAMED_KERNELS_H
#define PROF_NAMED_KERNELS_H

#include "../../base/tf_op.h"
#include "../../format/hlo.h"

/* Returns whether XLA gives kernels of this instruction such a name: its own, with _ for each byte
 * that is no ASCII letter or digit. */
bool hlo_names_kernel(const char *instruction, Slice kernel);

/* Returns the position of the instruction, of those that the program runs, after which a kernel is
 * named; -1 if there is none, or several have the name. */
int64_t hlo_namesake(const HloModule *module, Slice kernel, ProfErr *err);

/* XLA compiles equal fusions once, and names the kernel after one of them. So a kernel has a class:
 * the instructions that it may be, of those that the program runs. */
enum { NO_CLASS = -1 };
/* Returns the class of each instruction, by position; NO_CLASS for those that never run. */
const int64_t *hlo_kernel_classes(const HloModule *module, ProfErr *err);
/* Returns the class of a kernel; NO_CLASS if no instruction has its name, or several have. */
int64_t hlo_class_of_kernel(const HloModule *module, Slice kernel, ProfErr *err);
/* Returns the position of the only instruction of a class; -1 if it has several. */
int64_t hlo_only_op_of_class(const HloModule *module, int64_t class, ProfErr *err);

#endif
