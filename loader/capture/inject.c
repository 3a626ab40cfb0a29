// SPDX-License-Identifier: Apache-2.0
/* inject.c: the entry points of the library: for the CUDA driver (CUDA_INJECTION64_PATH), NVTX
 * (NVTX_INJECTION64_PATH), LD_PRELOAD, and the program's own calls (profsql_capture.h); and its
 * ends: exit and fork. */
#define _GNU_SOURCE
#include "profsql_capture.h"

#include "../base/base.h"
#include "control.h"
#include "cupti.h"
#include "inject.h"
#include "nvtx.h"
#include "session.h"
#include "step_window.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

#define EXPORT __attribute__((visibility("default")))

/* ---- exit and fork ---- */

static void finish(void)
{
    control_end();
    step_window_end();
    session_stop_aloud();
    session_convert_left();
}

void inject_at_exit(void)
{
    static _Atomic int n;
    if (n++ < 8) atexit(finish); /* finish() has no effect the second time */
}

static void in_child(void)
{
    control_child();
    step_window_child();
    session_child();
}

/* ---- entry points ---- */

static pthread_once_t begun = PTHREAD_ONCE_INIT;

static void begin_once(void)
{
    pthread_atfork(NULL, NULL, in_child);
    inject_at_exit();
}

void inject_begin(bool cuda)
{
    pthread_once(&begun, begin_once);
    const CaptureOptions *o = session_options();
    ProfErr err = {0};
    if (cuda) session_use_cuda(false);
    bool later = o->wait || o->profiler_api || o->delay_s > 0 || o->by_steps || o->every_s > 0;
    step_window_begin();
    if (!later && !session_is_on() && !control_has_stopped()) session_start(false, &err);
    if (!err.code) {
        control_begin();
        return;
    }
    session_say("%s. Nothing is recorded.", err.text);
    session_release(); /* another tool may then use CUPTI */
}

/* The driver calls it inside the program's first cuInit(). A result other than 0 keeps the library.
 */
EXPORT int InitializeInjection(void);
EXPORT int InitializeInjection(void)
{
    inject_begin(true);
    return 1;
}

EXPORT int InitializeInjectionNvtx2(NvtxExportTable *export_table);
EXPORT int InitializeInjectionNvtx2(NvtxExportTable *export_table)
{
    inject_begin(false);
    return nvtx_attach(export_table);
}

EXPORT int InitializeInjectionNvtx(NvtxExportTable *export_table);
EXPORT int InitializeInjectionNvtx(NvtxExportTable *export_table)
{
    return InitializeInjectionNvtx2(export_table);
}

/* If it is preloaded, only makes the driver and NVTX find us, because every program of a shell
 * script executes this. */
__attribute__((constructor)) static void preloaded(void)
{
    const char *preload = getenv("LD_PRELOAD");
    Dl_info info;
    if (!preload || !strstr(preload, "libprofsql_capture") ||
        !dladdr((const void *)&option_specs, &info) || !info.dli_fname)
        return;
    setenv("CUDA_INJECTION64_PATH", info.dli_fname, 0);
    setenv("NVTX_INJECTION64_PATH", info.dli_fname, 0);
}

/* ---- the program's own calls ---- */

static _Thread_local char last_error[1024];

EXPORT int profsql_capture_start(const ProfsqlCapture *wanted)
{
    ProfErr err = {0};
    CaptureOptions *o = session_options();
    if (session_is_on()) prof_fail(&err, PROF_IO, 0, "a capture is running already; stop it first");
    if (wanted && !err.code) {
        const struct {
            enum CaptureOption option;
            const char *value;
        } given[] = {
            {OPT_LOGDIR, wanted->logdir}, {OPT_RUN, wanted->run},
            {OPT_KINDS, wanted->kinds},   {OPT_STEPS, wanted->step_range},
            {OPT_CUPTI, wanted->cupti},   {OPT_SYNCHRONIZE, wanted->synchronize ? "1" : NULL}};
        if (wanted->size != sizeof *wanted)
            prof_fail(&err, PROF_FORMAT, 0,
                      "ProfsqlCapture.size is not sizeof(ProfsqlCapture); build with this "
                      "library's header");
        for (size_t i = 0; i < COUNT(given) && !err.code; i++)
            if (given[i].value) options_set(o, given[i].option, given[i].value, &err);
    }
    pthread_once(&begun, begin_once);
    if (!err.code) session_use_cuda(true);
    if (!err.code) session_start(true, &err);
    snprintf(last_error, sizeof last_error, "%s", err.text);
    return err.code;
}

EXPORT int profsql_capture_stop(char *path, size_t path_bytes)
{
    ProfErr err = {0};
    if (!session_is_on()) prof_fail(&err, PROF_NOTFOUND, 0, "no capture is running");
    session_wait_for_gpus();
    if (!err.code) session_stop(true, path, path_bytes, &err);
    snprintf(last_error, sizeof last_error, "%s", err.text);
    return err.code;
}

EXPORT void profsql_capture_release(void) { session_release(); }

EXPORT const char *profsql_capture_error(void) { return last_error; }

EXPORT void profsql_capture_push(const char *name)
{
    RangeEvent event = {.kind = REC_PUSH};
    step_window_put(&event, name, name ? strlen(name) : 0);
}

EXPORT void profsql_capture_pop(void)
{
    RangeEvent event = {.kind = REC_POP};
    step_window_put(&event, NULL, 0);
}

EXPORT void profsql_capture_push_id(uint64_t id) { session_push_external(id); }
EXPORT void profsql_capture_pop_id(void) { session_pop_external(); }
