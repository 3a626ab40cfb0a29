// SPDX-License-Identifier: Apache-2.0
/* remote.h: profiles and measurements of programs that run elsewhere, from the profiler service in
 * them (jax.profiler.start_server, tf.profiler.experimental.server.start, TPU VMs).
 *
 * Functions of this folder print nothing and can be used by a command and by SQL. */
#ifndef PROF_REMOTE_H
#define PROF_REMOTE_H

#include "grpc.h"
#include "requests.h"

/* What became of what was asked; of a command its exit status. */
#define REMOTE_OUTCOMES(S)                                                                         \
    S(DONE, 0, "everything that was asked for is there")                                           \
    S(FAILED, 1, "a server answered with an error, or something here failed")                      \
    S(USAGE, 2, "the command line is wrong")                                                       \
    S(UNREACHABLE, 3, "no server can be reached, or the connection broke")                         \
    S(NO_GRPC, 4, "what answers there is not a profiler service")                                  \
    S(TOO_LATE, 5, "the deadline passed")                                                          \
    S(IN_THE_WAY, 6, "another session is being profiled there, or the run has this host's file")   \
    S(EMPTY, 7, "nothing was recorded in any attempt")                                             \
    S(NOT_WRITTEN, 8, "a file or folder cannot be written")                                        \
    S(UNIMPLEMENTED, 9, "the server does not have this call")                                      \
    S(PARTLY, 10, "there are profiles of some of the hosts")                                       \
    S(NO_LIBRARY, 127, "libcurl with HTTP/2 is not installed")                                     \
    S(INTERRUPTED, 130, "Ctrl-C ended it; what arrived before is kept")
#define AS_OUTCOME(name, number, description) REMOTE_##name = number,
enum RemoteOutcome { REMOTE_OUTCOMES(AS_OUTCOME) };
#undef AS_OUTCOME

/* How the caller hears of what goes on, and is asked. Each member may be NULL. */
typedef struct {
    void *context;
    void (*say)(void *context, const char *line);
    /* Called ten times a second; n_bytes have arrived. */
    void (*progress)(void *context, int64_t ms, int64_t expected_ms, uint64_t n_bytes);
    int (*stop)(void *context); /* 1: end the session and keep what it has; 2: end at once */
} RemoteCaller;
void remote_say(const RemoteCaller *caller, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
int remote_stop(const RemoteCaller *caller);

/* The outcome of a call that has no answer. */
enum RemoteOutcome outcome_of_call(const GrpcCall *call);
enum RemoteOutcome outcome_of_error(const ProfErr *err);

/* Makes one call whose answer fits in memory, and waits for it. `request` is taken, and may be NULL
 * if err is set. False with *outcome and err, which names the address. *answer is freed with
 * prof_free(answer->bytes). */
bool remote_ask(const GrpcChannel *channel, const RemoteCaller *caller, const char *address,
                const char *method, uint8_t *request, size_t n_request, int64_t deadline_ms,
                Answer *answer, enum RemoteOutcome *outcome, ProfErr *err);

/* ---- profiles: capture.c ---- */

typedef struct {
    GrpcChannel channel;
    RemoteCaller caller;
    const char *const *addresses;
    size_t n_addresses;
    ProfileRequest request; /* start_ns is set for each attempt; repository: NULL is logdir */
    const char *logdir;     /* files go to logdir/plugins/profile/session_id */
    int64_t delay_ms;
    int64_t deadline_ms; /* 0: delay, and the longer of a minute and twice the duration */
    int attempts;
} RemoteCapture;

enum { MAX_HOST_NAME = 320 };
/* What became of one address. */
typedef struct {
    char host[MAX_HOST_NAME]; /* as in file names: the address with _ for : */
    enum RemoteOutcome outcome;
    char path[4096];  /* of the profile; on the server's machine if it is not here */
    bool is_here;     /* the profile is a file that we can see */
    uint64_t n_bytes; /* of the profile, if it came with the answer */
    char why[1200];   /* one sentence, if there is no profile */
} RemoteHost;

/* Profiles all addresses at the same time. hosts: n_addresses of them. */
enum RemoteOutcome remote_capture(const RemoteCapture *c, RemoteHost *hosts, ProfErr *err);
/* YYYY_MM_DD_HH_MM_SS in local time, as XProf names runs. */
void run_name_of_now(char out[32]);
/* Is it a name for a folder of a run? */
bool is_run_name(const char *name);
/* The file name of an address. */
void host_of_address(const char *address, char out[MAX_HOST_NAME]);

/* ---- continuous profiling: continuous.c ---- */

/* Starts and stops it on all addresses; both report each address. */
enum RemoteOutcome remote_continuous_start(const RemoteCapture *c, ProfErr *err);
enum RemoteOutcome remote_continuous_stop(const RemoteCapture *c, ProfErr *err);
/* Profiles of what was recorded since the snapshot before. hosts: n_addresses of them. */
enum RemoteOutcome remote_snapshot(const RemoteCapture *c, RemoteHost *hosts, ProfErr *err);

/* ---- measurements: monitor.c ---- */

/* The service's answer to Monitor. The numbers are those of its response_type, else NAN. */
typedef struct {
    char *text; /* the service's words; freed with prof_free() */
    double utilization_percent, idle_percent;
    double step_ms[3], infeed_percent[3]; /* average, least, most */
} RemoteMeasures;
/* Asks the first address of c to measure for c->request.duration_ms. */
enum RemoteOutcome remote_monitor(const RemoteCapture *c, int level, bool timestamp,
                                  RemoteMeasures *m, ProfErr *err);

/* ---- the analysis service of TPU pods: analysis_service.c ---- */

/* Lets the service profile the hosts and write into its repository (NewSession). Retries like
 * remote_capture(), which it fills `host` like. */
enum RemoteOutcome remote_new_session(const RemoteCapture *c, const char *const *workers,
                                      size_t n_workers, RemoteHost *host, ProfErr *err);
/* The sessions of a repository: `session` is called for each, with n tools. */
enum RemoteOutcome remote_sessions(const RemoteCapture *c, const char *repository,
                                   void (*session)(void *context, const char *session_id,
                                                   char *const *tools, size_t n),
                                   void *context, ProfErr *err);
/* Fetches the data of a tool of a session into logdir/plugins/profile/SESSION/[HOST.]TOOL; path
 * gets its name. */
enum RemoteOutcome remote_fetch(const RemoteCapture *c, const char *repository, const char *tool,
                                const char *host, char path[4096], ProfErr *err);

#endif
