// SPDX-License-Identifier: Apache-2.0
/* parallel.c: the processors that a process may use, the threads of a run, and tasks on several
 * threads. */
#define _GNU_SOURCE
#include "../../ext/attached.h"
#include "../../loader/base/parallel.h"
#include "check.h"

#include <sched.h>
#include <stdatomic.h>

enum { MOST = 1000, NONE = MOST };
typedef struct {
    atomic_int runs[MOST];
    size_t fails; /* the task that fails; NONE: none does */
} Tasks;

static void task(void *context, size_t i, ProfErr *err)
{
    Tasks *t = context;
    atomic_fetch_add(&t->runs[i], 1);
    if (i == t->fails) prof_fail(err, PROF_FORMAT, 7, "task %zu", i);
}

/* Whether each task ran once, or some not at all if a task failed. */
static bool each_ran(const Tasks *t, size_t n)
{
    bool well = true;
    for (size_t i = 0; i < MOST; i++) {
        int most = i < n, least = most && (t->fails == NONE || i <= t->fails);
        well &= t->runs[i] >= least && t->runs[i] <= most;
    }
    return well;
}

static void tasks_run(size_t n_workers, size_t n, size_t fails)
{
    Tasks tasks = {.fails = fails};
    ProfErr err = {0};
    int code = parallel_for(n_workers, n, task, &tasks, &err);
    check(each_ran(&tasks, n), "a task runs once");
    check(code == (fails < n ? PROF_FORMAT : 0) && err.code == code, "an error is returned");
    check(!code || err.offset == 7, "it is that of the task");
}

/* With `taskset`, a process has fewer processors than the machine. */
static void processors(void)
{
    cpu_set_t all, one;
    check(!sched_getaffinity(0, sizeof all, &all) && processor_count() == (size_t)CPU_COUNT(&all),
          "the processors of this process");
    CPU_ZERO(&one);
    for (int i = 0; !CPU_COUNT(&one); i++)
        if (CPU_ISSET(i, &all)) CPU_SET(i, &one);
    check(!sched_setaffinity(0, sizeof one, &one) && processor_count() == 1, "one of them");
    check(!sched_setaffinity(0, sizeof all, &all), "all again");
}

/* setting: of PROFSQL_THREADS; NULL: none. */
static void threads_of(const char *path, const char *setting, size_t want)
{
    ProfErr err = {0};
    size_t n_others;
    if (setting)
        setenv("PROFSQL_THREADS", setting, 1);
    else
        unsetenv("PROFSQL_THREADS");
    Run *run = load_named(path, NULL, false, &n_others, &err);
    check(run && run->n_workers == want, path);
    if (run) run_unref(run);
}

static void threads(void)
{
    static const char small[] = "tests/data/gpu_train_38", larger[] = "tests/data/tpu_train_54";
    size_t all = processor_count();
    threads_of(small, NULL, 1);
    threads_of(larger, NULL, all < 2 ? all : 2); /* 115 KiB */
    threads_of(small, "3", 3);
    threads_of(larger, "1", 1);
    threads_of(small, "1000", 64);
    threads_of(small, "0", 1);
    threads_of(small, "many", 1); /* named on standard error */
}

int main(void)
{
    static const size_t workers[] = {1, 2, 7, 100}, numbers[] = {0, 1, 2, MOST};
    for (size_t w = 0; w < COUNT(workers); w++)
        for (size_t n = 0; n < COUNT(numbers); n++) {
            tasks_run(workers[w], numbers[n], NONE);
            tasks_run(workers[w], numbers[n], 0);
            tasks_run(workers[w], numbers[n], numbers[n] / 2);
        }
    processors();
    threads();
    return finish();
}
