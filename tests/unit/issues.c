// SPDX-License-Identifier: Apache-2.0
/* issues.c: an issue for which there is no memory is never lost in silence: the statements during
 * which it was lost fail, and prof_issues fails until they have. Afterwards it works again. */
#define _GNU_SOURCE
#include "../../loader/format/hlo.h"
#include "../../loader/memo.h"
#include "check.h"

#include <pthread.h>
#include <stdlib.h>

/* ---- memory that runs out ---- */

static Host *losing; /* its list of issues cannot grow */

static void *allocate(uint64_t n_bytes) { return malloc(n_bytes); }
static void *resize(void *old, uint64_t n_bytes)
{
    return losing && old == losing->issues ? NULL : realloc(old, n_bytes);
}

/* From now on, the host has no place for one more issue. */
static void lose_issues(Host *host)
{
    if (!host->issues) host_issue(host, "info", "first", host, "so that there is a list");
    host->issue_capacity = host->n_issues;
    losing = host;
}

static const RunOptions options = {.n_threads = 1};
static Run run;
static Host host = {.run = &run};
static Plane plane = {.host = &host};
static Line line = {.plane = &plane};

static void forget_issues(void)
{
    arena_free(&host.arena);
    prof_free(host.issues);
    host.issues = NULL, host.n_issues = host.issue_capacity = 0;
}

static void report_issue(const void *where, bool lost)
{
    if (lost) lose_issues(&host);
    host_issue(&host, "warning", "found", where, "found");
    losing = NULL;
}

/* Returns the number of issues that prof_issues shows, without "first"; -1 if it fails. */
static int n_shown(Host *of)
{
    ProfErr err = {0};
    Issue issue;
    int n = 0;
    for (size_t i = 0; host_issue_at(of, i, &issue, &err); i++) n += !!strcmp(issue.code, "first");
    return err.code ? -1 : n;
}

/* ---- statements at once, in every order ---- */

enum { MOST = 3, N_EVENTS = 3 }; /* of each statement: it begins, meets an issue, and ends */
typedef struct {
    int n_done; /* events that are over */
    unsigned lost_before;
    bool meets_loss, saw_loss, failed;
} Statement;
static Statement statements[MOST];
static int n_statements, n_orders;
static struct {
    int n_wrong, n_silent, n_stays, n_missing;
} seen;

/* Does the next event of a statement. */
static void go_on(Statement *s)
{
    ProfErr err = {0};
    switch (s->n_done++) {
    case 0: s->lost_before = run.n_issues_lost; break;
    case 1:
        report_issue(s, s->meets_loss);
        for (int i = 0; i < n_statements && s->meets_loss; i++)
            statements[i].saw_loss |= statements[i].n_done && statements[i].n_done < N_EVENTS;
        seen.n_silent += s->meets_loss && n_shown(&host) != -1;
        break;
    default:
        s->failed = run_issue_lost_since(&run, s->lost_before, &err);
        seen.n_wrong += s->failed != (err.code == PROF_NOMEM) || s->failed != s->saw_loss;
        break;
    }
}

static void replay(const int *order)
{
    forget_issues();
    for (int i = 0; i < n_statements; i++)
        statements[i] = (Statement){.meets_loss = statements[i].meets_loss};
    for (int i = 0; i < n_statements * N_EVENTS; i++) go_on(&statements[order[i]]);
    seen.n_stays += n_shown(&host) < 0;
    for (int i = 0; i < n_statements; i++) { /* those that failed are asked again */
        seen.n_wrong += statements[i].meets_loss && !statements[i].failed;
        if (statements[i].failed) report_issue(&statements[i], false);
    }
    seen.n_missing += n_shown(&host) != n_statements;
    n_orders++;
}

static void each_order(int *order, int n)
{
    if (n == n_statements * N_EVENTS) {
        replay(order);
        return;
    }
    for (int s = 0; s < n_statements; s++) {
        int n_so_far = 0;
        for (int i = 0; i < n; i++) n_so_far += order[i] == s;
        if (n_so_far == N_EVENTS) continue;
        order[n] = s;
        each_order(order, n + 1);
    }
}

static void statements_at_once(void)
{
    int order[MOST * N_EVENTS];
    for (n_statements = 1; n_statements <= MOST; n_statements++)
        for (int losses = 0; losses < 1 << n_statements; losses++) {
            for (int i = 0; i < n_statements; i++) statements[i].meets_loss = losses >> i & 1;
            each_order(order, 0);
        }
    check(n_orders == 2 * 1 + 4 * 20 + 8 * 1680, "every order");
    check(!seen.n_wrong, "those fail, and only those, during which an issue was lost");
    check(!seen.n_silent, "prof_issues fails after a loss until a statement has failed for it");
    check(!seen.n_stays, "prof_issues works once all have ended");
    check(!seen.n_missing, "asked again, each finds its issue");
}

/* ---- results that lost an issue ---- */

/* How making a result ends, after it has lost an issue. */
static enum { WITH_RESULT, WITHOUT_MEMORY, INTERRUPTED } how;
static bool meets_loss;
static int result;

static void *make_or_fail(ProfErr *err)
{
    if (!meets_loss || how == WITH_RESULT) return &result;
    prof_fail(err, how == INTERRUPTED ? PROF_INTERRUPT : PROF_NOMEM, 0, "stopped");
    return NULL;
}
static void *make_of_run(Run *r, Host *only, ProfErr *err)
{
    (void)r, (void)only;
    report_issue(&result, meets_loss);
    return make_or_fail(err);
}
static void *make_of_line(Line *l, ProfErr *err)
{
    (void)l;
    report_issue(&result, meets_loss);
    return make_or_fail(err);
}
static void release(void *r) { (void)r; }
static const Analysis analysis = {make_of_run, release, NEEDS_NO_EVENTS};
static const LineAnalysis of_line = {make_of_line, release};

static void results_are_made_again(void)
{
    for (int i = 0; i < 6; i++) {
        ProfErr lost = {0}, found = {0};
        how = i / 2, meets_loss = true;
        forget_issues();
        check(!(i % 2 ? line_analysis(&line, &of_line, &lost)
                      : run_analysis(&run, NULL, &analysis, &lost)) &&
                  lost.code == (how == INTERRUPTED ? PROF_INTERRUPT : PROF_NOMEM),
              "a result that lost an issue is not kept");
        meets_loss = false;
        check((i % 2 ? line_analysis(&line, &of_line, &found)
                     : run_analysis(&run, NULL, &analysis, &found)) == &result,
              "it is made again");
        check(n_shown(&host) == 1, "and then prof_issues has the issue");
        results_free(&run);
        line_results_free(&line);
    }
}

/* ---- programs ---- */

static void write_profile(const char *path)
{
    static const char damaged[] = /* whose program m(7) is no HloProto */
        "\x0a\x3b\x08\x01\x12\x0e/host:metadata\x22\x14\x08\x07\x12\x10\x08\x07\x12\x04m(7)\x2a\x06"
        "\x08\x01\x32\x02\x0a\xff\x2a\x11\x08\x01\x12\x0d\x08\x01\x12\x09Hlo Proto";
    FILE *f = fopen(path, "wb");
    if (!f || fwrite(damaged, 1, sizeof damaged - 1, f) != sizeof damaged - 1 || fclose(f)) abort();
}

static void judge(const HloModule *m, ProfErr *err)
{
    (void)err;
    if (meets_loss) lose_issues(m->host);
    host_issue(m->host, "warning", "found", &result, "found");
    losing = NULL;
}
static void *make_of_module(const HloModule *m, ProfErr *err)
{
    judge(m, err);
    return make_or_fail(err);
}
static const HloAnalysis of_module = {make_of_module, release};

/* Results of a program: as those of a run. */
static void results_of_programs(void)
{
    for (how = WITH_RESULT; how <= INTERRUPTED; how++) {
        ProfErr err = {0}, lost = {0}, found = {0};
        Run *opened = run_open("tests/data/jax_train_mlp", &options, &err);
        const HloPrograms *programs = opened ? hlo_programs(&opened->hosts[0], &err) : NULL;
        if (!programs || !programs->n) abort();
        int n = n_shown(&opened->hosts[0]);
        meets_loss = true;
        check(!hlo_analysis(programs->modules[0], &of_module, &lost) && lost.code,
              "a program's result that lost an issue is not kept");
        meets_loss = false;
        check(hlo_analysis(programs->modules[0], &of_module, &found) == &result &&
                  n_shown(&opened->hosts[0]) == n + 1,
              "it is made again, and prof_issues has the issue");
        run_unref(opened);
    }
}

/* Each program is judged once, unless the issue of its verdict is lost. */
static void verdicts(void)
{
    ProfErr err = {0}, lost = {0}, found = {0};
    Run *opened = run_open("tests/data/jax_train_mlp", &options, &err);
    if (!opened) abort();
    int n = n_shown(&opened->hosts[0]);
    meets_loss = true;
    check(hlo_check_programs(&opened->hosts[0], judge, &lost) == PROF_NOMEM,
          "judging fails if the verdict is lost");
    meets_loss = false;
    check(!hlo_check_programs(&opened->hosts[0], judge, &found) &&
              n_shown(&opened->hosts[0]) == n + 1,
          "the program is judged again, and prof_issues has the verdict");
    run_unref(opened);
}

/* What is wrong with a program is found once, when it is parsed (i = 0) or checked. */
static void damaged_programs(void)
{
    static const char path[] = "build/unit/damaged_program.xplane.pb";
    write_profile(path);
    for (int i = 0; i < 2; i++) {
        ProfErr err = {0}, lost = {0}, found = {0};
        Run *opened = run_open(path, &options, &err);
        if (!opened) abort();
        Host *of = &opened->hosts[0];
        lose_issues(of);
        int n = n_shown(of);
        check(i ? hlo_check_programs(of, judge, &lost) : !hlo_programs(of, &lost),
              "reading a damaged program fails if its issue is lost");
        losing = NULL;
        check(i ? !hlo_check_programs(of, judge, &found) : hlo_programs(of, &found) != NULL,
              "it is read again");
        check(n_shown(of) == n + 1, "and prof_issues has its issue");
        run_unref(opened);
    }
    remove(path);
}

int main(void)
{
    prof_use_memory((ProfMemory){allocate, resize, free});
    pthread_mutexattr_t recursive;
    pthread_mutexattr_init(&recursive);
    pthread_mutexattr_settype(&recursive, PTHREAD_MUTEX_RECURSIVE);
    pthread_mutex_init(&host.lock, NULL);
    pthread_mutex_init(&run.lines_lock, &recursive);
    pthread_mutex_init(&run.analyses_lock, &recursive);
    run.hosts = &host, run.n_hosts = 1;
    statements_at_once();
    results_are_made_again();
    results_of_programs();
    verdicts();
    damaged_programs();
    forget_issues();
    return finish();
}
