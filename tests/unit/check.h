// SPDX-License-Identifier: Apache-2.0
/* check.h: counts what holds and what does not; the last line is what tests/unit/run reads. */
#ifndef PROF_CHECK_UNIT_H
#define PROF_CHECK_UNIT_H

#include <stdbool.h>
#include <stdio.h>

static int n_passed, n_failed;

static void check(bool good, const char *what)
{
    n_passed += good, n_failed += !good;
    if (!good) printf("not ok %s\n", what);
}

static int finish(void)
{
    printf("%d passed, %d failed\n", n_passed, n_failed);
    return n_failed != 0;
}

#endif
