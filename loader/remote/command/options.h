// SPDX-License-Identifier: Apache-2.0
/* options.h: the command line of remote capture. */
#ifndef PROF_REMOTE_OPTIONS_H
#define PROF_REMOTE_OPTIONS_H

#include "../remote.h"

/* O(id, long name, letter or 0, argument or NULL, help) */
#define REMOTE_OPTIONS(O)                                                                          \
    O(R_HOST, "host", 0, "H:P,...",                                                                \
      "address of the profiler server in the program; several, with commas, are profiled at the "  \
      "same time")                                                                                 \
    O(R_DURATION, "duration", 't', "MS", "how long to record (1000 ms; also 2s, 1m)")              \
    O(R_DELAY, "delay", 'd', "MS", "start this long after the command (0)")                        \
    O(R_ATTEMPTS, "attempts", 0, "N", "try again when nothing was recorded, N times in total (3)") \
    O(R_OUT, "out", 'o', "DIR", "write DIR/plugins/profile/RUN/HOST.xplane.pb (logs)")             \
    O(R_RUN, "run", 'r', "NAME", "name of the run (the time)")                                     \
    O(R_OPTION, "option", 0, "K=V",                                                                \
      "an option of the profiler, such as host_tracer_level=3, python_tracer_level=1 or "          \
      "advanced.NAME=V; may be repeated")                                                          \
    O(R_SERVER_WRITES, "server-writes", 0, NULL,                                                   \
      "let each server write its file into --repository on its own machine")                       \
    O(R_REPOSITORY, "repository", 0, "DIR",                                                        \
      "the log dir as the servers see it, such as gs://bucket/logs (--out)")                       \
    O(R_WORKERS, "worker-list", 0, "H,...",                                                        \
      "hosts of a TPU pod: the analysis service at --host (port 8466) profiles them")              \
    O(R_START, "start-continuous", 0, NULL,                                                        \
      "start continuous recording in the program, for --snapshot")                                 \
    O(R_SNAPSHOT, "snapshot", 0, NULL, "get the profile of what continuous recording still has")   \
    O(R_STOP, "stop-continuous", 0, NULL, "stop such recording")                                   \
    O(R_EVERY, "every", 0, "TIME", "profile again and again, such as every 10m; each is a run")    \
    O(R_KEEP, "keep", 0, "N", "with --every: keep the last N runs and delete those before")        \
    O(R_MONITOR, "monitor", 0, "1|2",                                                              \
      "print how well the program performs, briefly or at length, instead of profiling it")        \
    O(R_QUERIES, "num-queries", 0, "N", "with --monitor: measure N times (1)")                     \
    O(R_LIST, "list", 0, NULL, "list the sessions in --repository and their tools")                \
    O(R_FETCH, "fetch", 0, "RUN", "get the data of --tool of a session in --repository")           \
    O(R_TOOL, "tool", 0, "NAME", "with --fetch: which tool (xplane.pb)")                           \
    O(R_FROM, "from", 0, "HOST", "with --fetch: of this host")                                     \
    O(R_TIMEOUT, "timeout", 0, "TIME",                                                             \
      "deadline of a call (the delay plus the longer of a minute and twice the duration)")         \
    O(R_TLS, "tls", 0, NULL, "use TLS (plain text)")                                               \
    O(R_CA, "ca", 0, "FILE", "with --tls: certificates to trust (the system's)")                   \
    O(R_CERT, "cert", 0, "FILE", "with --tls: the client's certificate")                           \
    O(R_KEY, "key", 0, "FILE", "with --tls: its private key")                                      \
    O(R_METADATA, "metadata", 0, "NAME:VALUE",                                                     \
      "a header of each call, such as authorization:...; may be repeated")                         \
    O(R_QUIET, "quiet", 'q', NULL, "print only errors and results")                                \
    O(R_HELP, "help", 0, NULL, NULL)
#define AS_OPTION(id, name, letter, argument, help) id,
enum RemoteOption { REMOTE_OPTIONS(AS_OPTION) N_REMOTE_OPTIONS };
#undef AS_OPTION
typedef struct {
    const char *name;
    int letter;
    const char *argument, *help;
} RemoteOptionSpec;
extern const RemoteOptionSpec remote_option_specs[N_REMOTE_OPTIONS];

enum RemoteTask {
    TASK_CAPTURE,
    TASK_NEW_SESSION,
    TASK_START,
    TASK_SNAPSHOT,
    TASK_STOP,
    TASK_MONITOR,
    TASK_LIST,
    TASK_FETCH,
    TASK_HELP
};
typedef struct {
    RemoteCapture capture; /* refers to memory of the command */
    enum RemoteTask task;
    const char **addresses, **workers, **metadata;
    size_t n_addresses, n_workers, n_metadata, capacities[3];
    char *texts[3]; /* memory that the lists point into */
    size_t n_texts;
    char run[256];
    bool run_given, quiet;
    const char *tool, *from;
    int64_t every_ms, keep; /* 0: not given */
    int64_t monitor_level, n_queries;
} RemoteOptions;

/* Reads the command line. False with err, which says what is wrong. Freed with
 * remote_options_free() in any case. */
bool remote_options_read(RemoteOptions *o, int argc, char **argv, ProfErr *err);
void remote_options_free(RemoteOptions *o);

#endif
