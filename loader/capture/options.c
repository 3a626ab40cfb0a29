// SPDX-License-Identifier: Apache-2.0
/* options.c: parses options; see options.h. */
#define _GNU_SOURCE
#include "options.h"

#include "cupti.h"

#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

enum { MOST_STEPS = 1000000000 };

#define AS_SPEC(id, name, letter, argument, variable, help)                                        \
    [id] = {name, letter, argument, "PROFSQL_CAPTURE_" variable, help},
const OptionSpec option_specs[N_CAPTURE_OPTIONS] = {CAPTURE_OPTIONS(AS_SPEC)};

/* Returns the name that a launcher gives to all processes of a launch. */
static bool name_by_launch(char *out, size_t n)
{
    static const struct {
        const char *variable, *more, *size,
            *prefix; /* more: a number that is also part of it; size: number of processes, because
                        one alone is not a launch */
    } launchers[] = {
        {"SLURM_JOB_ID", "SLURM_STEP_ID", "SLURM_STEP_NUM_TASKS", "slurm"},
        {"TORCHELASTIC_RUN_ID", "TORCHELASTIC_RESTART_COUNT", "WORLD_SIZE", "torchrun"},
        {"PMIX_NAMESPACE", NULL, NULL, "pmix"},
        {"OMPI_MCA_ess_base_jobid", NULL, "OMPI_COMM_WORLD_SIZE", "mpi"}};
    for (size_t i = 0; i < COUNT(launchers); i++) {
        const char *name = getenv(launchers[i].variable),
                   *more = launchers[i].more ? getenv(launchers[i].more) : "";
        const char *size = launchers[i].size ? getenv(launchers[i].size) : "2";
        if (!name || !*name || !more || !size || strtol(size, NULL, 10) < 2 ||
            !strcmp(name, "none"))
            continue; /* torchrun's "none" means that it was not given */
        snprintf(out, n, "%s_%s%s%s", launchers[i].prefix, name, *more ? "_" : "", more);
        for (char *p = out; *p; p++)
            if (*p == '/' || *p <= ' ') *p = '_';
        return true;
    }
    return false;
}

/* Sets defaults. The run is named after the launch that the process belongs to, so that all its
 * processes have one run, or after the time; the host after the machine. */
static void options_default(CaptureOptions *o)
{
    *o = (CaptureOptions){.logdir = "logs",
                          .kinds = CAPTURE_DEFAULT,
                          .spool_limit_bytes = (uint64_t)8192 << 20,
                          .buffer_bytes = 4 << 20,
                          .n_buffers = 64};
    time_t now = time(NULL);
    struct tm t;
    localtime_r(&now, &t);
    if (!name_by_launch(o->run, sizeof o->run - 16))
        strftime(o->run, sizeof o->run, "%Y_%m_%d_%H_%M_%S", &t);
    if (gethostname(o->host, sizeof o->host - 1) || !*o->host) strcpy(o->host, "localhost");
}

static int set_number(const char *name, const char *value, double low, double high, double *out,
                      ProfErr *err)
{
    char *end;
    double x = strtod(value, &end);
    if (end == value || *end || !(x >= low && x <= high))
        return prof_fail(err, PROF_FORMAT, 0, "--%s wants a number from %g to %g, not '%s'", name,
                         low, high, value);
    *out = x;
    return PROF_OK;
}

static int set_text(const char *name, const char *value, char *out, size_t n, bool is_file_name,
                    ProfErr *err)
{
    if (strlen(value) >= n)
        return prof_fail(err, PROF_FORMAT, 0, "--%s is longer than %zu bytes", name, n - 1);
    if (!*value || (is_file_name && (strchr(value, '/') || value[0] == '.')))
        return prof_fail(err, PROF_FORMAT, 0, "--%s cannot be '%s'%s", name, value,
                         is_file_name ? ": it is used as a file's name" : "");
    strcpy(out, value);
    return PROF_OK;
}

/* Parses "kernels,copies", "default,-memory" or "all". */
static int set_kinds(const char *value, unsigned *out, ProfErr *err)
{
    static char *const words[] = {
#define AS_WORD(id, name) [id##_NUMBER] = name,
        CAPTURE_KINDS(AS_WORD)
#undef AS_WORD
            [N_CAPTURE_KINDS] = "all",
        [N_CAPTURE_KINDS + 1] = "default", [N_CAPTURE_KINDS + 2] = NULL};
    char copy[512], *rest = copy, *unused;
    unsigned kinds = 0;
    if (snprintf(copy, sizeof copy, "%s", value) >= (int)sizeof copy)
        return prof_fail(err, PROF_FORMAT, 0, "--kinds is too long");
    while (*rest) {
        bool out_of = *rest == '-';
        char *word = rest += out_of;
        int i = getsubopt(&rest, words, &unused);
        if (i < 0)
            return prof_fail(err, PROF_FORMAT, 0, "--kinds has no word '%s'; see --help", word);
        unsigned bits = i > N_CAPTURE_KINDS ? (unsigned)CAPTURE_DEFAULT : 1u << i;
        if (i == N_CAPTURE_KINDS) bits--; /* all kinds */
        kinds = out_of ? kinds & ~bits : kinds | bits;
    }
    *out = kinds;
    return PROF_OK;
}

static int set_signal(const char *value, int *out, ProfErr *err)
{
    static const struct {
        const char *name;
        int number;
    } names[] = {{"USR1", SIGUSR1}, {"USR2", SIGUSR2}, {"PROF", SIGPROF}};
    const char *plain = starts_with(value, "SIG") ? value + 3 : value;
    for (size_t i = 0; i < COUNT(names); i++)
        if (!strcmp(plain, names[i].name)) {
            *out = names[i].number;
            return PROF_OK;
        }
    double x = 0;
    if (set_number("signal", value, 1, SIGRTMAX, &x, err)) return err->code;
    if (x == SIGKILL || x == SIGSTOP || x == SIGSEGV || x == SIGBUS || x == SIGFPE || x == SIGILL)
        return prof_fail(err, PROF_FORMAT, 0, "--signal %s belongs to the system", value);
    *out = (int)x;
    return PROF_OK;
}

int options_set(CaptureOptions *o, enum CaptureOption option, const char *value, ProfErr *err)
{
    const char *name = option_specs[option].name;
    double x = 0;
    switch (option) {
    case OPT_LOGDIR: return set_text(name, value, o->logdir, sizeof o->logdir, false, err);
    case OPT_RUN: return set_text(name, value, o->run, sizeof o->run - 16, true, err);
    case OPT_HOST: return set_text(name, value, o->host, sizeof o->host, true, err);
    case OPT_KINDS: return set_kinds(value, &o->kinds, err);
    case OPT_DELAY: return set_number(name, value, 0, 1e6, &o->delay_s, err);
    case OPT_DURATION: return set_number(name, value, 0, 1e6, &o->duration_s, err);
    case OPT_EVERY: return set_number(name, value, 1, 1e6, &o->every_s, err);
    case OPT_WAIT: o->wait = true; return PROF_OK;
    case OPT_PROFILER: o->profiler_api = true; return PROF_OK;
    case OPT_SYNCHRONIZE: o->synchronize = true; return PROF_OK;
    case OPT_SIGNAL: return set_signal(value, &o->signal, err);
    case OPT_STEPS: return set_text(name, value, o->step_range, sizeof o->step_range, false, err);
    case OPT_FROM_STEP:
        if (set_number(name, value, 0, MOST_STEPS, &x, err)) return err->code;
        o->by_steps = true;
        o->first_step = (uint64_t)x;
        return PROF_OK;
    case OPT_N_STEPS:
        if (set_number(name, value, 1, MOST_STEPS, &x, err)) return err->code;
        o->by_steps = true;
        o->n_steps = (uint64_t)x;
        return PROF_OK;
    case OPT_SAMPLES:
        if (set_number(name, value, 1, 60000, &x, err)) return err->code;
        o->sample_ms = (int)x;
        return PROF_OK;
    case OPT_SPOOL_LIMIT:
        if (set_number(name, value, 0.0625, 1 << 20, &x, err)) return err->code;
        o->spool_limit_bytes = (uint64_t)(x * (1 << 20));
        return PROF_OK;
    case OPT_BUFFER_KIB:
        if (set_number(name, value, 16, 1 << 20, &x, err)) return err->code;
        o->buffer_bytes = (size_t)x << 10;
        return PROF_OK;
    case OPT_BUFFERS:
        if (set_number(name, value, 2, MAX_BUFFERS, &x, err)) return err->code;
        o->n_buffers = (int)x;
        return PROF_OK;
    case OPT_CUPTI: return set_text(name, value, o->cupti, sizeof o->cupti, false, err);
    case OPT_KEEP: o->keep_spool = true; return PROF_OK;
    case OPT_QUIET: o->quiet = true; return PROF_OK;
    case OPT_LATER: o->convert_later = true; return PROF_OK;
    case OPT_TOKEN: snprintf(o->token, sizeof o->token, "%s", value); return PROF_OK;
    default: return PROF_OK;
    }
}

int options_check(const CaptureOptions *o, ProfErr *err)
{
    if (o->every_s > 0 && (o->duration_s <= 0 || o->duration_s >= o->every_s))
        return prof_fail(
            err, PROF_FORMAT, 0,
            "--every needs a --duration that is shorter: how long to record each time");
    if (o->every_s > 0 && (o->wait || o->profiler_api || o->by_steps))
        return prof_fail(err, PROF_FORMAT, 0,
                         "--every says when to start, and so do --wait, --profiler-api, "
                         "--from-step and --steps: give only one of them");
    if (!o->by_steps) return PROF_OK;
    if (!*o->step_range)
        return prof_fail(
            err, PROF_FORMAT, 0,
            "--from-step and --steps count the NVTX ranges that --step-range names: give it too");
    if (!(o->kinds & CAPTURE_NVTX))
        return prof_fail(err, PROF_FORMAT, 0,
                         "--from-step and --steps count NVTX ranges: --kinds must have nvtx");
    if (o->wait || o->profiler_api || o->delay_s > 0)
        return prof_fail(err, PROF_FORMAT, 0,
                         "--from-step and --steps say when to start, and so do --wait, --delay and "
                         "--profiler-api: give only one of them");
    return PROF_OK;
}

int options_from_environment(CaptureOptions *o, ProfErr *err)
{
    options_default(o);
    for (int i = 0; i < N_CAPTURE_OPTIONS; i++) {
        const char *value = getenv(option_specs[i].variable);
        if (value) options_set(o, (enum CaptureOption)i, value, err);
    }
    return err->code;
}
