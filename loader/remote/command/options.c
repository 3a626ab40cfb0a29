// SPDX-License-Identifier: Apache-2.0
/* options.c: see options.h. */
#define _GNU_SOURCE
#include "options.h"

#include <ctype.h>
#include <errno.h>
#include <getopt.h>
#include <stdio.h>

const RemoteOptionSpec remote_option_specs[N_REMOTE_OPTIONS] = {
#define AS_SPEC(id, name, letter, argument, help) {name, letter, argument, help},
    REMOTE_OPTIONS(AS_SPEC)
#undef AS_SPEC
};
enum { KEY_OPTION = 1000, LONGEST_MS = 7 * 24 * 3600 * 1000 };
static const char grpc_prefix[] = "grpc://";

static bool wrong(ProfErr *err, enum RemoteOption option, const char *value, const char *wanted)
{
    prof_fail(err, PROF_FORMAT, 0, "--%s %s: give %s", remote_option_specs[option].name, value,
              wanted);
    return false;
}

/* Reads a time in the option's unit. 0 is valid only if zero is allowed. */
static bool read_time(enum RemoteOption option, const char *value, int64_t unit_ms, bool zero,
                      int64_t *ms, ProfErr *err)
{
    static const struct {
        const char *name;
        int64_t ms;
    } units[] = {{"ms", 1}, {"s", 1000}, {"m", 60000}, {"h", 3600000}};
    char *end;
    double number = strtod(value, &end);
    int64_t unit = *end ? 0 : unit_ms;
    for (size_t i = 0; i < COUNT(units); i++)
        if (!strcmp(end, units[i].name)) unit = units[i].ms;
    double time_ms = number * (double)unit;
    if (isdigit((unsigned char)*value) && unit && time_ms <= LONGEST_MS && (zero || time_ms >= 1)) {
        *ms = (int64_t)time_ms;
        return true;
    }
    return wrong(err, option, value, "a time of at most a week, such as 500ms, 2s or 10m");
}

static bool read_number(enum RemoteOption option, const char *value, int64_t most, int64_t *number,
                        ProfErr *err)
{
    char *end, wanted[80];
    errno = 0;
    *number = strtoll(value, &end, 10);
    if (isdigit((unsigned char)*value) && !*end && !errno && *number >= 1 && *number <= most)
        return true;
    snprintf(wanted, sizeof wanted, "a number from 1 to %lld", (long long)most);
    return wrong(err, option, value, wanted);
}

/* Adds the comma-separated words to a list. */
static bool read_list(RemoteOptions *o, const char *value, const char ***list, size_t *n,
                      size_t *capacity, ProfErr *err)
{
    char *copy = o->n_texts < COUNT(o->texts) ? strdup(value) : NULL, *rest = copy;
    if (!copy) {
        prof_nomem(err);
        return false;
    }
    o->texts[o->n_texts++] = copy;
    for (char *word; (word = strsep(&rest, ","));) {
        if (!strncmp(word, grpc_prefix, sizeof grpc_prefix - 1)) word += sizeof grpc_prefix - 1;
        if (!GROW(*list, *n, *capacity)) {
            prof_nomem(err);
            return false;
        }
        if (*word) (*list)[(*n)++] = word;
    }
    return true;
}

static bool add_metadata(RemoteOptions *o, char *value, ProfErr *err)
{
    size_t n = strcspn(value, ":=");
    if (!n || !value[n] || strpbrk(value, "\r\n"))
        return wrong(err, R_METADATA, value, "NAME:VALUE in one line");
    if (!GROW(o->metadata, o->n_metadata, o->capacities[2])) {
        prof_nomem(err);
        return false;
    }
    value[n] = ':';
    o->metadata[o->n_metadata++] = value;
    return true;
}

static bool set_task(RemoteOptions *o, enum RemoteTask task, enum RemoteOption option, ProfErr *err)
{
    if (o->task != TASK_CAPTURE && o->task != task)
        prof_fail(err, PROF_FORMAT, 0, "--%s does not go with another task",
                  remote_option_specs[option].name);
    o->task = task;
    return !err->code;
}

static bool set_run(RemoteOptions *o, enum RemoteOption option, const char *value, ProfErr *err)
{
    if (!is_run_name(value)) return wrong(err, option, value, "a name without / in it");
    snprintf(o->run, sizeof o->run, "%s", value);
    return o->run_given = true;
}

static bool set_option(RemoteOptions *o, enum RemoteOption option, char *value, ProfErr *err)
{
    RemoteCapture *c = &o->capture;
    int64_t number;
    switch (option) {
    case R_HOST:
        if (o->n_addresses) return wrong(err, option, value, "all addresses in one --host");
        return read_list(o, value, &o->addresses, &o->n_addresses, &o->capacities[0], err);
    case R_WORKERS:
        if (o->n_workers) return wrong(err, option, value, "all workers in one --worker-list");
        return set_task(o, TASK_NEW_SESSION, option, err) &&
               read_list(o, value, &o->workers, &o->n_workers, &o->capacities[1], err);
    case R_DURATION: return read_time(option, value, 1, false, &c->request.duration_ms, err);
    case R_DELAY: return read_time(option, value, 1, true, &c->delay_ms, err);
    case R_TIMEOUT: return read_time(option, value, 1000, false, &c->deadline_ms, err);
    case R_EVERY: return read_time(option, value, 1000, false, &o->every_ms, err);
    case R_ATTEMPTS:
        return read_number(option, value, 1000, &number, err) && (c->attempts = (int)number);
    case R_KEEP: return read_number(option, value, 1000000, &o->keep, err);
    case R_QUERIES: return read_number(option, value, 1000000, &o->n_queries, err);
    case R_MONITOR:
        return read_number(option, value, 2, &o->monitor_level, err) &&
               set_task(o, TASK_MONITOR, option, err);
    case R_OUT: c->logdir = value; return true;
    case R_RUN: return set_run(o, option, value, err);
    case R_OPTION: return profiler_options_set(c->request.options, value, err);
    case R_SERVER_WRITES: c->request.emit = false; return true;
    case R_REPOSITORY: c->request.repository = value; return true;
    case R_START: return set_task(o, TASK_START, option, err);
    case R_SNAPSHOT: return set_task(o, TASK_SNAPSHOT, option, err);
    case R_STOP: return set_task(o, TASK_STOP, option, err);
    case R_LIST: return set_task(o, TASK_LIST, option, err);
    case R_FETCH: return set_run(o, option, value, err) && set_task(o, TASK_FETCH, option, err);
    case R_TOOL: o->tool = value; return true;
    case R_FROM: o->from = value; return true;
    case R_TLS: c->channel.tls = true; return true;
    case R_CA: c->channel.ca_file = value; return true;
    case R_CERT: c->channel.cert_file = value; return true;
    case R_KEY: c->channel.key_file = value; return true;
    case R_METADATA: return add_metadata(o, value, err);
    case R_QUIET: return o->quiet = true;
    case R_HELP: o->task = TASK_HELP; return true;
    case N_REMOTE_OPTIONS: break;
    }
    return false;
}

/* Sets the address of a TPU's analysis service: its own port replaces that of the TPU's runtime. */
static bool set_service_port(RemoteOptions *o, ProfErr *err)
{
    enum { SERVICE_PORT = 8466, RUNTIME_PORT = 8470 };
    char *address;
    const char *given = o->addresses[0];
    size_t n = strcspn(given, ":");
    if (given[n] && strtol(given + n + 1, NULL, 10) != RUNTIME_PORT) return true;
    if (asprintf(&address, "%.*s:%d", (int)n, given, SERVICE_PORT) < 0) {
        prof_nomem(err);
        return false;
    }
    o->texts[o->n_texts++] = address;
    o->addresses[0] = address;
    return true;
}

static bool check_addresses(RemoteOptions *o, ProfErr *err)
{
    bool one = o->task == TASK_NEW_SESSION || o->task == TASK_LIST || o->task == TASK_FETCH ||
               o->task == TASK_MONITOR;
    if (!o->n_addresses) return wrong(err, R_HOST, "", "HOST:PORT");
    if (o->task == TASK_NEW_SESSION && !set_service_port(o, err)) return false;
    for (size_t i = 0; i < o->n_addresses; i++) {
        if (!is_address(o->addresses[i]))
            return wrong(err, R_HOST, o->addresses[i], "HOST:PORT, such as localhost:9012");
        for (size_t k = 0; k < i; k++)
            if (!strcmp(o->addresses[i], o->addresses[k]))
                return wrong(err, R_HOST, o->addresses[i], "each address once");
    }
    if (one && o->n_addresses > 1)
        return wrong(err, R_HOST, o->addresses[1], "one address for this task");
    return true;
}

static bool check(RemoteOptions *o, ProfErr *err)
{
    const GrpcChannel *channel = &o->capture.channel;
    const char *logdir = o->capture.logdir;
    if (!check_addresses(o, err)) return false;
    if (!*logdir || strstr(logdir, "://"))
        return wrong(err, R_OUT, logdir, "a folder of this machine, and --repository for others");
    if ((channel->ca_file || channel->cert_file || channel->key_file) && !channel->tls) {
        prof_fail(err, PROF_FORMAT, 0, "--ca, --cert and --key need --tls");
        return false;
    }
    if (o->every_ms && (o->task != TASK_CAPTURE || o->run_given)) {
        prof_fail(err, PROF_FORMAT, 0,
                  "--every makes profiles and names their runs: give no other task and no --run");
        return false;
    }
    if (o->keep && !o->every_ms) {
        prof_fail(err, PROF_FORMAT, 0, "--keep needs --every");
        return false;
    }
    return true;
}

static void set_defaults(RemoteOptions *o)
{
    *o = (RemoteOptions){.n_queries = 1, .tool = "xplane.pb"};
    o->capture.logdir = "logs";
    o->capture.attempts = 3;
    o->capture.request.duration_ms = 1000;
    o->capture.request.emit = true;
    run_name_of_now(o->run);
}

bool remote_options_read(RemoteOptions *o, int argc, char **argv, ProfErr *err)
{
    struct option options[N_REMOTE_OPTIONS + 1] = {0};
    char letters[2 * N_REMOTE_OPTIONS + 2] = "", *letter = letters;
    set_defaults(o);
    RemoteCapture *c = &o->capture;
    if (!(c->request.options = profiler_options_new())) {
        prof_nomem(err);
        return false;
    }
    for (int i = 0; i < N_REMOTE_OPTIONS; i++) {
        const RemoteOptionSpec *s = &remote_option_specs[i];
        options[i] = (struct option){s->name, s->argument ? required_argument : no_argument, NULL,
                                     KEY_OPTION + i};
        if (s->letter) *letter++ = (char)s->letter;
        if (s->letter && s->argument) *letter++ = ':';
    }
    for (int key; (key = getopt_long(argc, argv, letters, options, NULL)) != -1;) {
        int i = key - KEY_OPTION;
        for (int k = 0; k < N_REMOTE_OPTIONS && key < KEY_OPTION; k++)
            if (key == remote_option_specs[k].letter) i = k;
        if (key == '?') {
            prof_fail(err, PROF_FORMAT, 0, "%s", "");
            return false;
        } /* the error has named it */
        if (!set_option(o, (enum RemoteOption)i, optarg, err)) return false;
    }
    if (o->task == TASK_HELP) return true;
    if (optind < argc) {
        prof_fail(err, PROF_FORMAT, 0,
                  "%s: unexpected; a program to run is given after --, and then --host is its name "
                  "in the profile",
                  argv[optind]);
        return false;
    }
    c->addresses = o->addresses, c->n_addresses = o->n_addresses;
    c->request.session_id = o->run;
    c->channel.metadata = o->metadata, c->channel.n_metadata = o->n_metadata;
    return check(o, err);
}

void remote_options_free(RemoteOptions *o)
{
    profiler_options_free(o->capture.request.options);
    for (size_t i = 0; i < o->n_texts; i++) free(o->texts[i]);
    prof_free(o->addresses);
    prof_free(o->workers);
    prof_free(o->metadata);
}
