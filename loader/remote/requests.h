// SPDX-License-Identifier: Apache-2.0
/* requests.h: encodes the messages that are sent. Texts are borrowed. Each function returns bytes
 * from prof_alloc() and their number in *n; NULL with PROF_NOMEM. */
#ifndef PROF_REMOTE_REQUESTS_H
#define PROF_REMOTE_REQUESTS_H

#include "../base/base.h"

typedef struct ProfilerOptions ProfilerOptions;
/* Returns the options of XProf's client: TraceMe levels 1 and 2, device tracer, HLO programs, no
 * Python tracer. Freed with profiler_options_free(). NULL if memory runs out. */
ProfilerOptions *profiler_options_new(void);
void profiler_options_free(ProfilerOptions *options);
/* Sets a field of ProfileOptions, or advanced.NAME, from "NAME=VALUE". The error says what is wrong
 * and lists the names. */
bool profiler_options_set(ProfilerOptions *options, const char *assignment, ProfErr *err);

typedef struct {
    ProfilerOptions *options;
    int64_t duration_ms;
    int64_t start_ns;       /* since 1970; 0: now */
    const char *repository; /* log dir on the server's machine; NULL if none */
    const char *session_id;
    bool emit; /* the profile should come with the answer */
} ProfileRequest;
uint8_t *request_profile(const ProfileRequest *r, const char *address, size_t *n, ProfErr *err);
/* Starts continuous profiling: the same message without time and repository. Its snapshots always
 * come with the answers. */
uint8_t *request_continuous(const ProfileRequest *r, const char *address, size_t *n, ProfErr *err);
uint8_t *request_new_session(const ProfileRequest *r, const char *const *hosts, size_t n_hosts,
                             size_t *n, ProfErr *err);
uint8_t *request_terminate(const char *session_id, size_t *n, ProfErr *err);
uint8_t *request_monitor(int64_t duration_ms, int level, bool timestamp, size_t *n, ProfErr *err);
uint8_t *request_sessions(const char *repository, size_t *n, ProfErr *err);
uint8_t *request_tool_data(const char *repository, const char *session_id, const char *tool,
                           const char *host, size_t *n, ProfErr *err);
uint8_t *request_empty(size_t *n, ProfErr *err);

#endif
