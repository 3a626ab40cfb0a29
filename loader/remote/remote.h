// SPDX-License-Identifier: Apache-2.0
/* remote.h: profiles and measures programs that run elsewhere, through the profiler service in them
 * (jax.profiler.start_server, tf.profiler.experimental.server.start, TPU VMs).
 *
 * The functions of this folder print nothing, so a command and SQL can both use them. */
#ifndef PROF_REMOTE_H
#define PROF_REMOTE_H

#include "grpc.h"
#include "requests.h"

/* Outcomes of a request, which are a command's exit statuses. */
#define REMOTE_OUTCOMES(S)                                                                         \
    S(DONE, 0, "everything requested is there")                                                    \
    S(FAILED, 1, "a server answered with an error, or something here failed")                      \
    S(USAGE, 2, "the command line is wrong")                                                       \
    S(UNREACHABLE, 3, "no server can be reached, or the connection broke")                         \
    S(NO_GRPC, 4, "the server is not a profiler service")                                          \
    S(TOO_LATE, 5, "the deadline passed")                                                          \
    S(IN_THE_WAY, 6, "another session is being profiled there, or the run has this host's file")   \
    S(EMPTY, 7, "nothing was recorded in any attempt")                                             \
    S(NOT_WRITTEN, 8, "a file or folder cannot be written")                                        \
    S(UNIMPLEMENTED, 9, "the server does not have this call")                                      \
    S(PARTLY, 10, "only some of the hosts have profiles")                                          \
    S(NO_LIBRARY, 127, "libcurl with HTTP/2 is not installed")                                     \
    S(INTERRUPTED, 130, "Ctrl-C ended it; what arrived before is kept")
#define AS_OUTCOME(name, number, description) REMOTE_##name = number,
enum RemoteOutcome { REMOTE_OUTCOMES(AS_OUTCOME) };
#undef AS_OUTCOME

/* Callbacks to the caller. Each may be NULL. */
typedef struct {
    void *context;
    void (*print_line)(void *context, const char *line);
    /* Called ten times a second; n_bytes have arrived. */
    void (*progress)(void *context, int64_t ms, int64_t expected_ms, uint64_t n_bytes);
    /* returns 1 to end the session and keep its data, 2 to end at once */
    int (*stop)(void *context);
} RemoteCaller;
void remote_print(const RemoteCaller *caller, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
int remote_stop(const RemoteCaller *caller);

/* Returns the outcome of a call that has no answer. */
enum RemoteOutcome outcome_of_call(const GrpcCall *call);
enum RemoteOutcome outcome_of_error(const ProfErr *err);

/* Makes one call whose answer fits in memory, and waits for it. It takes ownership of `request`,
 * which may be NULL if err is set. False with *outcome and err, which names the address. *answer is
 * freed with prof_free(answer->bytes). */
bool remote_ask(const GrpcChannel *channel, const RemoteCaller *caller, const char *address,
                const char *method, uint8_t *request, size_t n_request, int64_t deadline_ms,
                Answer *answer, enum RemoteOutcome *outcome, ProfErr *err);

/* ---- profiles: capture.c ---- */

typedef struct {
    GrpcChannel channel;
    RemoteCaller caller;
    const char *const *addresses;
    size_t n_addresses;
    ProfileRequest request; /* start_ns is set for each attempt; repository NULL: logdir */
    const char *logdir;     /* files go to logdir/plugins/profile/session_id */
    int64_t delay_ms;
    /* 0: the delay, plus a minute or twice the duration, whichever is longer */
    int64_t deadline_ms;
    int attempts;
} RemoteCapture;

enum { MAX_HOST_NAME = 320 };
/* The outcome for one address. */
typedef struct {
    char host[MAX_HOST_NAME]; /* as in file names: the address with _ in place of : */
    enum RemoteOutcome outcome;
    char path[4096];  /* path of the profile, which is on the server's machine if !is_here */
    bool is_here;     /* the profile is a local file */
    uint64_t n_bytes; /* size of the profile, if it came with the answer */
    char why[1200];   /* one sentence, if there is no profile */
} RemoteHost;

/* Profiles all addresses at the same time. `hosts` has n_addresses items. */
enum RemoteOutcome remote_capture(const RemoteCapture *c, RemoteHost *hosts, ProfErr *err);
/* Returns the local time as YYYY_MM_DD_HH_MM_SS, as XProf names runs. */
void run_name_of_now(char out[32]);
/* Returns whether a text can be the name of a run's folder. */
bool is_run_name(const char *name);
/* Returns the name of an address in file names. */
void host_of_address(const char *address, char out[MAX_HOST_NAME]);

/* ---- continuous profiling: continuous.c ---- */

/* Start and stop it on all addresses. Both report each address. */
enum RemoteOutcome remote_continuous_start(const RemoteCapture *c, ProfErr *err);
enum RemoteOutcome remote_continuous_stop(const RemoteCapture *c, ProfErr *err);
/* Takes profiles of what was recorded since the previous snapshot. `hosts` has n_addresses items.
 */
enum RemoteOutcome remote_snapshot(const RemoteCapture *c, RemoteHost *hosts, ProfErr *err);

/* ---- measurements: monitor.c ---- */

/* The service's answer to Monitor. Numbers that its response_type does not have are NAN. */
typedef struct {
    char *text; /* the service's text; freed with prof_free() */
    double utilization_percent, idle_percent;
    double step_ms[3], infeed_percent[3]; /* average, least, most */
} RemoteMeasures;
/* Asks the first address of c to measure for c->request.duration_ms. */
enum RemoteOutcome remote_monitor(const RemoteCapture *c, int level, bool timestamp,
                                  RemoteMeasures *m, ProfErr *err);

/* ---- the analysis service of TPU pods: analysis_service.c ---- */

/* Makes the service profile the hosts and write to its repository (NewSession). Retries, and fills
 * in `host`, like remote_capture(). */
enum RemoteOutcome remote_new_session(const RemoteCapture *c, const char *const *workers,
                                      size_t n_workers, RemoteHost *host, ProfErr *err);
/* Lists the sessions of a repository: calls `session` for each, with its n tools. */
enum RemoteOutcome remote_sessions(const RemoteCapture *c, const char *repository,
                                   void (*session)(void *context, const char *session_id,
                                                   char *const *tools, size_t n),
                                   void *context, ProfErr *err);
/* Fetches the data of a session's tool to logdir/plugins/profile/SESSION/[HOST.]TOOL, and writes
 * that to `path`. */
enum RemoteOutcome remote_fetch(const RemoteCapture *c, const char *repository, const char *tool,
                                const char *host, char path[4096], ProfErr *err);

#endif
