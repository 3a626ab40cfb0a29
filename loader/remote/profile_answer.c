// SPDX-License-Identifier: Apache-2.0
/* profile_answer.c: see profile_answer.h. */
#include "profile_answer.h"

#include <stdio.h>
#include <unistd.h>

/* Paths in ProfileResponse (message_stream.h). */
enum { TOOL = 6, TOOL_NAME = 601, TOOL_BYTES = 602, EMPTY_TRACE = 7, XSPACE = 8 };

static const char profile_suffix[] = "xplane.pb";

static enum FieldUse use(int path)
{
    if (path == TOOL) return FIELD_ENTER;
    return path == TOOL_NAME || path == TOOL_BYTES || path == XSPACE ? FIELD_TAKE : FIELD_SKIP;
}

static ToolFile *last_tool(const ProfileAnswer *a) { return a->tools[a->n_tools - 1]; }

static bool file_name(const ProfileAnswer *a, const char *suffix, char *out, size_t n_out,
                      ProfErr *err)
{
    if (snprintf(out, n_out, "%s.%s", a->host, suffix) < (int)n_out) return true;
    prof_fail(err, PROF_IO, 0, "%s: the name of the host is too long", a->host);
    return false;
}

static bool add_tool(ProfileAnswer *a)
{
    if (a->n_tools == MAX_TOOL_FILES) {
        prof_fail(&a->err, PROF_FORMAT, 0, "the answer has data of more than %d tools",
                  MAX_TOOL_FILES);
        return false;
    }
    ToolFile *tool = prof_alloc(sizeof *tool);
    if (!tool) {
        prof_nomem(&a->err);
        return false;
    }
    tool->file.fd = -1;
    a->tools[a->n_tools++] = tool;
    return true;
}

/* Starts the file of a tool. The tool's name may come after its data. */
static bool open_tool(ProfileAnswer *a)
{
    char number[32], name[512];
    if (last_tool(a)->file.fd >= 0) return true;
    snprintf(number, sizeof number, "tool_%zu", a->n_tools);
    return file_name(a, number, name, sizeof name, &a->err) &&
           part_open(&last_tool(a)->file, a->folder, name, &a->err);
}

static bool begin(void *context, int path, uint64_t n_bytes)
{
    ProfileAnswer *a = context;
    (void)n_bytes;
    if (path == TOOL) return add_tool(a);
    if (path == TOOL_BYTES) return open_tool(a);
    a->has_profile |= path == XSPACE;
    return true;
}

/* Turns a server's text into a part of a file name. */
static void add_to_name(ToolFile *tool, const uint8_t *bytes, size_t n)
{
    for (size_t i = 0; i < n && tool->n_name < MAX_TOOL_NAME; i++)
        tool->name[tool->n_name++] =
            (char)(bytes[i] == '/' || bytes[i] < ' ' || bytes[i] > '~' ? '_' : bytes[i]);
}

static bool receive(void *context, int path, const uint8_t *bytes, size_t n_bytes)
{
    ProfileAnswer *a = context;
    if (path == TOOL_NAME) {
        add_to_name(last_tool(a), bytes, n_bytes);
        return true;
    }
    return part_write(path == XSPACE ? &a->profile : &last_tool(a)->file, bytes, n_bytes, &a->err);
}

static void number(void *context, int path, uint64_t value)
{
    ProfileAnswer *a = context;
    if (path == EMPTY_TRACE) a->empty_trace = value;
}

static const FieldHandler handler = {use, begin, receive, number};

bool profile_answer_open(ProfileAnswer *a)
{
    char name[512];
    a->profile.fd = -1, a->opened = true;
    return file_name(a, profile_suffix, name, sizeof name, &a->err) &&
           part_open(&a->profile, a->folder, name, &a->err);
}

bool profile_answer_sink(GrpcCall *call, const uint8_t *bytes, size_t n_bytes, uint64_t n_message)
{
    ProfileAnswer *a = call->context;
    if (!a->started)
        a->stream = (MessageStream){.handler = &handler, .context = a, .n_bytes = n_message},
        a->started = true;
    return message_stream_read(&a->stream, bytes, n_bytes, &a->err);
}

/* Finishes the data of a tool. If they are the profile itself and no other profile came, they
 * become the profile. */
static bool finish_tool(ProfileAnswer *a, ToolFile *tool)
{
    char name[512];
    if (tool->file.fd < 0) return true; /* no data */
    bool is_profile = !strcmp(tool->name, profile_suffix);
    if (is_profile && (a->has_profile || a->n_profile_bytes)) {
        part_discard(&tool->file);
        return true;
    }
    if (!*tool->name) snprintf(tool->name, sizeof tool->name, "tool");
    uint64_t n_bytes = tool->file.n_bytes;
    if (!file_name(a, tool->name, name, sizeof name, &a->err) ||
        !part_finish(&tool->file, a->folder, name, &a->err))
        return false;
    if (is_profile) {
        a->n_profile_bytes = n_bytes;
        snprintf(a->path, sizeof a->path, "%.3500s/%s", a->folder, name);
    }
    return true;
}

bool profile_answer_finish(ProfileAnswer *a)
{
    char name[512];
    if (a->started && !message_stream_finish(&a->stream, &a->err)) return false;
    if (!a->has_profile)
        part_discard(&a->profile);
    else if (a->empty_trace) {
        part_discard(&a->profile);
        return true;
    } /* it has planes but no events */
    else {
        a->n_profile_bytes = a->profile.n_bytes;
        if (!file_name(a, profile_suffix, name, sizeof name, &a->err) ||
            !part_finish(&a->profile, a->folder, name, &a->err))
            return false;
        snprintf(a->path, sizeof a->path, "%.3500s/%s", a->folder, name);
    }
    for (size_t i = 0; i < a->n_tools; i++)
        if (!finish_tool(a, a->tools[i])) return false;
    return true;
}

void profile_answer_close(ProfileAnswer *a)
{
    if (a->opened) part_discard(&a->profile);
    for (size_t i = 0; i < a->n_tools; i++) {
        part_discard(&a->tools[i]->file);
        prof_free(a->tools[i]);
    }
    a->n_tools = 0;
}
