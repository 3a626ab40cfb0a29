// SPDX-License-Identifier: Apache-2.0
/* profile_measures.c: see profile_measures.h. */
#define _GNU_SOURCE
#include "profile_measures.h"

#include <ftw.h>
#include <math.h>
#include <stdio.h>
#include <unistd.h>

const char profile_measures_sql[] =
    "SELECT hardware, 100.0 - device_busy_percent, flops_utilization_percent, step_time_ms,"
    " (SELECT min(duration_ms) FROM \"profsql.steps\"(?1) WHERE NOT dropped),"
    " (SELECT max(duration_ms) FROM \"profsql.steps\"(?1) WHERE NOT dropped), input_percent FROM "
    "\"profsql.kpi\"(?1)";

static int remove_one(const char *path, const struct stat *st, int kind, struct FTW *at)
{
    (void)st, (void)kind, (void)at;
    return remove(path);
}

bool remove_folder(const char *path)
{
    enum { OPEN_FOLDERS = 8 };
    return !nftw(path, remove_one, OPEN_FOLDERS, FTW_DEPTH | FTW_PHYS);
}

enum RemoteOutcome profile_measures_capture(const RemoteCapture *like, const char *address,
                                            char logdir[4096], ProfErr *err)
{
    const char *temporary = getenv("TMPDIR");
    RemoteCapture c = *like;
    RemoteHost *host = prof_alloc(sizeof *host);
    snprintf(logdir, 4096, "%.3000s/profsql_monitor.XXXXXX",
             temporary && *temporary ? temporary : "/tmp");
    if (!host) {
        prof_nomem(err);
        return REMOTE_FAILED;
    }
    if (!mkdtemp(logdir)) {
        prof_free(host);
        prof_fail(err, PROF_IO, 0, "%s: a temporary folder cannot be made", logdir);
        return REMOTE_NOT_WRITTEN;
    }
    c.addresses = &address, c.n_addresses = 1;
    c.logdir = logdir, c.request.repository = NULL, c.request.emit = true;
    c.request.session_id = "monitor";
    c.caller.print_line = NULL, c.caller.progress = NULL;
    enum RemoteOutcome outcome = remote_capture(&c, host, err);
    if (outcome && !err->code) prof_fail(err, PROF_IO, 0, "%s: %s", address, host->why);
    if (!outcome && !host->is_here) {
        prof_fail(err, PROF_IO, 0, "%s: the server sends no profile, and wrote one to %s", address,
                  host->path);
        outcome = REMOTE_UNIMPLEMENTED;
    }
    prof_free(host);
    if (outcome) remove_folder(logdir);
    return outcome;
}

/* Writes a number with three significant digits, without an exponent. NAN becomes "unknown". */
static void print_measure(double value, const char *unit, char *out, size_t n_out)
{
    static const double ends[] = {100, 10, 1};
    int decimals = 0;
    while (decimals < (int)COUNT(ends) && fabs(value) < ends[decimals]) decimals++;
    if (isnan(value))
        snprintf(out, n_out, "unknown");
    else
        snprintf(out, n_out, "%.*f%s", decimals, value, unit);
}

static size_t append(char *out, size_t n_out, size_t at, const char *format, ...)
{
    va_list ap;
    va_start(ap, format);
    int n = at < n_out ? vsnprintf(out + at, n_out - at, format, ap) : 0;
    va_end(ap);
    return at + (n > 0 ? (size_t)n : 0);
}

void print_measures(const RemoteMeasures *m, const char *hardware, int level, int64_t duration_ms,
                    char *out, size_t n_out)
{
    char idle[40], used[40], step[3][40], input[40];
    print_measure(m->idle_percent, "%", idle, sizeof idle);
    print_measure(m->utilization_percent, "%", used, sizeof used);
    print_measure(m->infeed_percent[0], "% (avg)", input, sizeof input);
    for (int i = 0; i < 3; i++) print_measure(m->step_ms[i], "ms", step[i], sizeof step[i]);
    size_t at = append(out, n_out, 0,
                       "From a profile of %lld ms by libprofsql; this server does not monitor.\n"
                       "Hardware: %s\n",
                       (long long)duration_ms, hardware ? hardware : "unknown");
    if (level > 1) at = append(out, n_out, at, "Device idle time (lower is better): %s\n", idle);
    at = append(out, n_out, at, "Utilization of the devices' peak (higher is better): %s\n", used);
    if (level < 2) return;
    if (isnan(m->step_ms[0]))
        at = append(out, n_out, at, "Step time: unknown (no complete step)\n");
    else
        at = append(out, n_out, at, "Step time: %s (avg), %s (min), %s (max)\n", step[0], step[1],
                    step[2]);
    append(out, n_out, at, "Input percentage: %s\n", input);
}
