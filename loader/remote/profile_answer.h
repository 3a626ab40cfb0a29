// SPDX-License-Identifier: Apache-2.0
/* profile_answer.h: writes the answer of Profile and GetSnapshot to files as it arrives. */
#ifndef PROF_REMOTE_PROFILE_ANSWER_H
#define PROF_REMOTE_PROFILE_ANSWER_H

#include "grpc.h"
#include "message_stream.h"
#include "part_file.h"

enum { MAX_TOOL_FILES = 64, MAX_TOOL_NAME = 200 };
typedef struct {
    PartFile file;
    char name[MAX_TOOL_NAME + 1]; /* the server's name for it, made valid for a file name */
    size_t n_name;
} ToolFile;

/* Set folder and host, call profile_answer_open(), and pass it as context to a call. */
typedef struct {
    const char *folder; /* folder of the run */
    const char *host;   /* files are named HOST.xplane.pb and HOST.TOOL */
    bool opened, started;
    MessageStream stream;
    PartFile profile;
    bool has_profile, empty_trace;
    ToolFile *tools[MAX_TOOL_FILES];
    size_t n_tools;
    char path[4096]; /* of the profile, once it has its name */
    uint64_t n_profile_bytes;
    ProfErr err;
} ProfileAnswer;

/* Creates the profile's part file, so that a folder that cannot be written is reported at once. */
bool profile_answer_open(ProfileAnswer *a);
bool profile_answer_sink(GrpcCall *call, const uint8_t *bytes, size_t n_bytes, uint64_t n_message);
/* Called after the last byte: gives the files their names. False with a->err; files without a final
 * name are then removed. */
bool profile_answer_finish(ProfileAnswer *a);
void profile_answer_close(ProfileAnswer *a); /* removes files without a final name */

#endif
