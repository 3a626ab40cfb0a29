// SPDX-License-Identifier: Apache-2.0
/* monitor.c: see monitor.h. */
#include "monitor.h"

#include "../../base/ask_sql.h"
#include "../profile_measures.h"

#include <math.h>
#include <stdio.h>

static double number_of(const char *text) { return text ? strtod(text, NULL) : NAN; }

typedef struct {
    RemoteMeasures measures;
    char hardware[100];
    bool found;
} FromProfile;

static void read_row(void *context, const char *const *texts, int n)
{
    FromProfile *f = context;
    if (n != N_MEASURES || f->found) return;
    f->found = true;
    snprintf(f->hardware, sizeof f->hardware, "%s",
             texts[MEASURE_HARDWARE] ? texts[MEASURE_HARDWARE] : "unknown");
    f->measures.idle_percent = number_of(texts[MEASURE_IDLE]);
    f->measures.utilization_percent = number_of(texts[MEASURE_UTILIZATION]);
    for (int i = 0; i < 3; i++) f->measures.step_ms[i] = number_of(texts[MEASURE_STEP + i]);
    f->measures.infeed_percent[0] = number_of(texts[MEASURE_INPUT]);
}

static enum RemoteOutcome measure_profile(const RemoteOptions *o, ProfErr *err)
{
    char logdir[4096], why[512], lines[1000];
    FromProfile found = {0};
    enum RemoteOutcome outcome =
        profile_measures_capture(&o->capture, o->addresses[0], logdir, err);
    if (outcome) return outcome;
    bool asked = ask_sql(profile_measures_sql, logdir, read_row, &found, why, sizeof why);
    remove_folder(logdir);
    if (!asked || !found.found) {
        prof_fail(err, PROF_NOMEM, 0, "%s: the profile cannot be queried: %s", o->addresses[0],
                  asked ? "it is empty" : why);
        return REMOTE_FAILED;
    }
    print_measures(&found.measures, found.hardware, (int)o->monitor_level,
                   o->capture.request.duration_ms, lines, sizeof lines);
    fputs(lines, stdout);
    return REMOTE_DONE;
}

enum RemoteOutcome monitor_once(const RemoteOptions *o, ProfErr *err)
{
    const RemoteCapture *c = &o->capture;
    ProfErr refused = {0};
    RemoteMeasures m;
    enum RemoteOutcome outcome = remote_monitor(c, (int)o->monitor_level, true, &m, &refused);
    if (outcome == REMOTE_DONE)
        printf("%s%s", m.text, *m.text && m.text[strlen(m.text) - 1] == '\n' ? "" : "\n");
    else if (outcome == REMOTE_UNIMPLEMENTED)
        outcome = measure_profile(o, err);
    else
        prof_fail(err, refused.code, 0, "%s", refused.text);
    prof_free(m.text);
    fflush(stdout);
    return outcome;
}
