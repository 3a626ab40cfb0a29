// SPDX-License-Identifier: Apache-2.0
/* probe.h: finds out what answers on a port where a call found no gRPC. */
#ifndef PROF_REMOTE_PROBE_H
#define PROF_REMOTE_PROBE_H

#include "curl.h"

enum Protocol { PROTOCOL_OTHER, PROTOCOL_HTTP1, PROTOCOL_TLS, PROTOCOL_HTTP2, PROTOCOL_SILENT };
/* Connects in plain text, sends the start of HTTP/2 and looks at the first bytes that come back
 * within a second. If none come it tries TLS. PROTOCOL_SILENT: no answer, or no connection. */
enum Protocol probe_port(const Curl *curl, const char *address);

#endif
