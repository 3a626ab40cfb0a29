// SPDX-License-Identifier: Apache-2.0
/* monitor.c: the call Monitor of ProfilerService: what the service itself measures. Only Cloud
 * TPU's service does. */
#include "remote.h"
#include "schema/profiler_service.pb-c.h"

#include <math.h>
#include <stdio.h>

enum { DEADLINE_MS = 60000 };
enum ResponseType { UTILIZATION = 1, IDLE, STEPS };

static void read_numbers(RemoteMeasures *m, const Tensorflow__MonitorResult *r)
{
    if (r->response_type >= UTILIZATION)
        m->utilization_percent = r->matrix_unit_utilization_percent;
    if (r->response_type >= IDLE) m->idle_percent = r->device_idle_time_percent;
    if (r->response_type < STEPS) return;
    m->step_ms[0] = r->step_time_ms_avg;
    m->step_ms[1] = r->step_time_ms_min;
    m->step_ms[2] = r->step_time_ms_max;
    m->infeed_percent[0] = r->infeed_percent_avg;
    m->infeed_percent[1] = r->infeed_percent_min;
    m->infeed_percent[2] = r->infeed_percent_max;
}

static void read_answer(RemoteMeasures *m, const char *address, const Answer *answer, ProfErr *err)
{
    Tensorflow__MonitorResponse *r =
        tensorflow__monitor_response__unpack(NULL, answer->n, answer->bytes);
    if (!r) {
        prof_fail(err, PROF_FORMAT, 0, "%s: the answer is not a MonitorResponse", address);
        return;
    }
    size_t n = strlen(r->data);
    if ((m->text = prof_alloc(3 * n + 1)))
        utf8_repair((const uint8_t *)r->data, n, m->text);
    else
        prof_nomem(err);
    if (r->monitor_result) read_numbers(m, r->monitor_result);
    tensorflow__monitor_response__free_unpacked(r, NULL);
}

enum RemoteOutcome remote_monitor(const RemoteCapture *c, int level, bool timestamp,
                                  RemoteMeasures *m, ProfErr *err)
{
    const char *address = c->addresses[0];
    Answer answer = {0};
    enum RemoteOutcome outcome;
    size_t n = 0;
    int64_t duration_ms = c->request.duration_ms,
            deadline_ms = c->deadline_ms ? c->deadline_ms : duration_ms + DEADLINE_MS;
    *m = (RemoteMeasures){NULL, NAN, NAN, {NAN, NAN, NAN}, {NAN, NAN, NAN}};
    uint8_t *request = request_monitor(duration_ms, level, timestamp, &n, err);
    if (remote_ask(&c->channel, &c->caller, address, "/tensorflow.ProfilerService/Monitor", request,
                   n, deadline_ms, &answer, &outcome, err)) {
        read_answer(m, address, &answer, err);
        outcome = outcome_of_error(err);
    }
    prof_free(answer.bytes);
    return outcome;
}
