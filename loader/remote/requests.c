// SPDX-License-Identifier: Apache-2.0
/* requests.c: encodes requests; see requests.h. */
#include "requests.h"

#include "profiler_options.h"

#include <stdio.h>

static uint8_t *pack(const ProtobufCMessage *message, size_t *n, ProfErr *err)
{
    size_t n_bytes = protobuf_c_message_get_packed_size(message);
    uint8_t *bytes = prof_alloc(n_bytes + 1);
    if (!bytes) {
        prof_nomem(err);
        return NULL;
    }
    *n = protobuf_c_message_pack(message, bytes);
    return bytes;
}

static char *text(const char *borrowed) { return (char *)(uintptr_t)(borrowed ? borrowed : ""); }

/* The tools that XProf's client requests. A server that only supports xplane.pb ignores the others.
 */
static char *tools[] = {"trace_viewer",     "op_profile",     "input_pipeline", "kernel_stats",
                        "memory_viewer",    "memory_profile", "overview_page",  "pod_viewer",
                        "tensorflow_stats", "xplane.pb"};
enum { MAX_EVENTS = 1000000 };

typedef struct {
    Tensorflow__ProfileRequest message;
    Tensorflow__ProfileOptions options;
    char root[4200];
} Filled;

static void fill(Filled *f, const ProfileRequest *r, const char *address)
{
    f->options = r->options->message;
    f->options.start_timestamp_ns = (uint64_t)r->start_ns;
    f->options.duration_ms = (uint64_t)r->duration_ms;
    f->options.repository_path = text(r->repository);
    tensorflow__profile_request__init(&f->message);
    f->message.duration_ms = (uint64_t)r->duration_ms;
    f->message.max_events = MAX_EVENTS;
    f->message.tools = tools, f->message.n_tools = COUNT(tools);
    f->message.opts = &f->options;
    snprintf(f->root, sizeof f->root, r->repository ? "%s/plugins/profile" : "%s",
             text(r->repository));
    f->message.repository_root = f->root;
    f->message.session_id = text(r->session_id);
    f->message.host_name = text(address);
    f->message.emit_xspace = r->emit;
}

uint8_t *request_profile(const ProfileRequest *r, const char *address, size_t *n, ProfErr *err)
{
    Filled f;
    fill(&f, r, address);
    return pack(&f.message.base, n, err);
}

uint8_t *request_continuous(const ProfileRequest *r, const char *address, size_t *n, ProfErr *err)
{
    ProfileRequest at_once = *r;
    at_once.start_ns = 0, at_once.repository = NULL, at_once.emit = false;
    return request_profile(&at_once, address, n, err);
}

uint8_t *request_new_session(const ProfileRequest *r, const char *const *hosts, size_t n_hosts,
                             size_t *n, ProfErr *err)
{
    Filled f;
    Tensorflow__NewSessionRequest message;
    fill(&f, r, NULL);
    tensorflow__new_session_request__init(&message);
    message.request = &f.message;
    message.repository_root = f.root;
    message.session_id = text(r->session_id);
    message.hosts = (char **)(uintptr_t)hosts, message.n_hosts = n_hosts;
    return pack(&message.base, n, err);
}

uint8_t *request_terminate(const char *session_id, size_t *n, ProfErr *err)
{
    Tensorflow__TerminateRequest message;
    tensorflow__terminate_request__init(&message);
    message.session_id = text(session_id);
    return pack(&message.base, n, err);
}

uint8_t *request_monitor(int64_t duration_ms, int level, bool timestamp, size_t *n, ProfErr *err)
{
    Tensorflow__MonitorRequest message;
    tensorflow__monitor_request__init(&message);
    message.duration_ms = (uint64_t)duration_ms;
    message.monitoring_level = level;
    message.timestamp = timestamp;
    return pack(&message.base, n, err);
}

uint8_t *request_sessions(const char *repository, size_t *n, ProfErr *err)
{
    Tensorflow__EnumSessionsRequest message;
    tensorflow__enum_sessions_request__init(&message);
    message.repository_root = text(repository);
    return pack(&message.base, n, err);
}

uint8_t *request_tool_data(const char *repository, const char *session_id, const char *tool,
                           const char *host, size_t *n, ProfErr *err)
{
    Tensorflow__ToolDataRequest message;
    tensorflow__tool_data_request__init(&message);
    message.repository_root = text(repository);
    message.session_id = text(session_id);
    message.tool_name = text(tool);
    message.host_name = text(host);
    return pack(&message.base, n, err);
}

uint8_t *request_empty(size_t *n, ProfErr *err)
{
    uint8_t *bytes = prof_alloc(1);
    if (!bytes) prof_nomem(err);
    *n = 0;
    return bytes;
}
