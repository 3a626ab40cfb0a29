// SPDX-License-Identifier: Apache-2.0
/* command.c: runs the remote half of profsql-capture; see command.h. */
#define _GNU_SOURCE
#include "command.h"

#include "../../base/option_help.h"
#include "monitor.h"
#include "options.h"
#include "series.h"

#include <signal.h>
#include <stdio.h>
#include <unistd.h>

bool remote_is_wanted(int argc, char **argv)
{
    static const char host[] = "--host";
    size_t n = sizeof host - 1;
    bool wanted = false;
    for (int i = 1; i < argc; i++) {
        const char *value = NULL;
        if (!strcmp(argv[i], "--")) return false;
        if (!strcmp(argv[i], host) && i + 1 < argc) value = argv[i + 1];
        if (!strncmp(argv[i], host, n) && argv[i][n] == '=') value = argv[i] + n + 1;
        wanted |= value && strchr(value, ':');
        wanted |= !strncmp(argv[i], "--worker-list", n + 7);
    }
    return wanted;
}

void remote_print_help(void)
{
    puts("\nWith --host HOST:PORT and without a program: the profile of a program that runs\n"
         "jax.profiler.start_server(PORT), tf.profiler.experimental.server.start(PORT) or\n"
         "on a TPU VM (port 8466). Needs libcurl (libcurl.so.4).\n");
    for (int i = 0; i < N_REMOTE_OPTIONS; i++) {
        const RemoteOptionSpec *s = &remote_option_specs[i];
        if (s->help) print_option_help(s->name, s->letter, s->argument, s->help);
    }
    puts("\nExit status with --host HOST:PORT:");
#define AS_LINE(name, number, description) printf("  %3d  %s\n", number, description);
    REMOTE_OUTCOMES(AS_LINE)
#undef AS_LINE
}

/* ---- the caller of remote.h ---- */

static volatile sig_atomic_t n_signals;
static bool progress_is_shown;

static void on_signal(int number)
{
    (void)number;
    n_signals++;
}

static int stop(void *context)
{
    (void)context;
    return n_signals;
}

static void clear_progress(void)
{
    if (progress_is_shown) fputs("\r\033[K", stderr);
    progress_is_shown = false;
}

static void print_line(void *context, const char *line)
{
    (void)context;
    clear_progress();
    fprintf(stderr, "profsql-capture: %s\n", line);
}

enum { LOG_MS = 10000 };

/* Shows progress: on a terminal in a line that changes, else in a line every ten seconds. */
static void show_progress(void *context, int64_t ms, int64_t expected_ms, uint64_t n_bytes)
{
    int64_t *next_ms = context;
    bool on_terminal = isatty(STDERR_FILENO);
    if (*next_ms - ms > LOG_MS) *next_ms = LOG_MS; /* another attempt has started */
    if (!on_terminal && ms < *next_ms) return;
    *next_ms = ms + LOG_MS;
    fprintf(stderr, "%s%.1f of %.1f s, %.1f MiB received%s",
            on_terminal ? "\r" : "profsql-capture: ", (double)ms / 1000, (double)expected_ms / 1000,
            (double)n_bytes / (1 << 20), on_terminal ? "\033[K" : "\n");
    progress_is_shown = on_terminal;
}

static void catch_signals(void)
{
    struct sigaction action = {.sa_handler = on_signal};
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
    sigaction(SIGHUP, &action, NULL);
    signal(SIGPIPE, SIG_IGN); /* from connections */
}

/* ---- tasks ---- */

static void report(const RemoteOptions *o, const RemoteHost *host, const char *address)
{
    clear_progress();
    if (host->outcome != REMOTE_DONE)
        fprintf(stderr, "profsql-capture: %s: %s\n", address, host->why);
    else if (o->quiet)
        puts(host->path);
    else if (host->n_bytes)
        remote_print(&o->capture.caller, "wrote %s (%.1f MiB)", host->path,
                     (double)host->n_bytes / (1 << 20));
    else
        remote_print(&o->capture.caller, "%s: the server wrote %s%s", address, host->path,
                     host->is_here ? "" : " on its own machine");
}

enum RemoteOutcome command_capture(const RemoteOptions *o, ProfErr *err)
{
    const RemoteCapture *c = &o->capture;
    RemoteHost *hosts = prof_alloc(c->n_addresses * sizeof *hosts);
    if (!hosts) {
        prof_nomem(err);
        return REMOTE_FAILED;
    }
    enum RemoteOutcome outcome =
        o->task == TASK_SNAPSHOT ? remote_snapshot(c, hosts, err) : remote_capture(c, hosts, err);
    for (size_t i = 0; i < c->n_addresses && !err->code; i++) report(o, &hosts[i], c->addresses[i]);
    if (outcome == REMOTE_EMPTY)
        remote_print(&c->caller,
                     "is the program running? a longer --duration or more --attempts may help");
    prof_free(hosts);
    return outcome;
}

static enum RemoteOutcome new_session(RemoteOptions *o, ProfErr *err)
{
    RemoteCapture *c = &o->capture;
    RemoteHost *host = prof_alloc(sizeof *host);
    if (!host) {
        prof_nomem(err);
        return REMOTE_FAILED;
    }
    if (!c->request.repository) c->request.repository = c->logdir;
    c->request.emit = false;
    enum RemoteOutcome outcome = remote_new_session(c, o->workers, o->n_workers, host, err);
    if (outcome == REMOTE_DONE)
        remote_print(&c->caller, "%s: the service wrote the profiles of %zu hosts below %s",
                     c->addresses[0], o->n_workers, host->path);
    else if (!err->code)
        prof_fail(err, PROF_IO, 0, "%s", host->why);
    prof_free(host);
    return outcome;
}

static void print_session(void *context, const char *session_id, char *const *tools, size_t n)
{
    (void)context;
    fputs(session_id, stdout);
    for (size_t i = 0; i < n; i++) printf("%s%s", i ? "," : "\t", tools[i]);
    putchar('\n');
}

static enum RemoteOutcome fetch(const RemoteOptions *o, const char *repository, ProfErr *err)
{
    char path[4096];
    enum RemoteOutcome outcome = remote_fetch(&o->capture, repository, o->tool, o->from, path, err);
    if (outcome == REMOTE_DONE && o->quiet) puts(path);
    if (outcome == REMOTE_DONE) remote_print(&o->capture.caller, "wrote %s", path);
    return outcome;
}

static enum RemoteOutcome monitor(const RemoteOptions *o, ProfErr *err)
{
    enum RemoteOutcome outcome = REMOTE_DONE;
    for (int64_t i = 0; i < o->n_queries && !outcome && !n_signals; i++) {
        if (i) putchar('\n');
        if (o->n_queries > 1)
            printf("Cloud TPU Monitoring Results (Sample %lld):\n\n", (long long)i);
        outcome = monitor_once(o, err);
    }
    return outcome;
}

static enum RemoteOutcome do_task(RemoteOptions *o, ProfErr *err)
{
    RemoteCapture *c = &o->capture;
    const char *repository = c->request.repository ? c->request.repository : c->logdir;
    switch (o->task) {
    case TASK_CAPTURE: return o->every_ms ? command_series(o, err) : command_capture(o, err);
    case TASK_SNAPSHOT: return command_capture(o, err);
    case TASK_NEW_SESSION: return new_session(o, err);
    case TASK_MONITOR: return monitor(o, err);
    case TASK_LIST: return remote_sessions(c, repository, print_session, NULL, err);
    case TASK_FETCH: return fetch(o, repository, err);
    case TASK_START:
    case TASK_STOP: {
        ProfErr said = {0}; /* has one line for each address */
        ProfErr *to = o->quiet ? err : &said;
        return o->task == TASK_START ? remote_continuous_start(c, to)
                                     : remote_continuous_stop(c, to);
    }
    case TASK_HELP: break;
    }
    remote_print_help();
    return REMOTE_DONE;
}

int remote_command(int argc, char **argv)
{
    RemoteOptions o;
    ProfErr err = {0};
    int64_t next_ms = LOG_MS;
    bool read = remote_options_read(&o, argc, argv, &err);
    enum RemoteOutcome outcome = REMOTE_USAGE;
    if (read) {
        catch_signals();
        o.capture.caller = (RemoteCaller){&next_ms, o.quiet ? NULL : print_line,
                                          o.quiet ? NULL : show_progress, stop};
        outcome = do_task(&o, &err);
    }
    clear_progress();
    if (*err.text) fprintf(stderr, "profsql-capture: %s\n", err.text);
    if (!read) fputs("profsql-capture: profsql-capture --help lists the options\n", stderr);
    remote_options_free(&o);
    return (int)outcome;
}
