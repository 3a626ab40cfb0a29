/* step_tpu.c */
#include "step_parts.h"
int tpu_steps(StepBuild *build, ProfErr *err) { (void)build; return err->code; }
