// SPDX-License-Identifier: Apache-2.0
/* session.c: starts, writes and stops a capture; see session.h. */
#define _GNU_SOURCE
#include "session.h"

#include "buffers.h"
#include "collect.h"
#include "contexts.h"
#include "convert.h"
#include "cupti.h"
#include "driver.h"
#include "inject.h"
#include "rings.h"
#include "samples.h"
#include "spool.h"
#include "system.h"
#include "texts.h"

#include <fcntl.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

enum { READY_BUFFERS = 6, CLOCK_EVERY_S = 60, WAKE_EVERY_NS = 100000000, SETTLE_S = 5 };
enum { DEVICES_AFTER = 2 }; /* seconds after which CUPTI's own device records should have come */
#define NS_PER_S UINT64_C(1000000000)

static struct {
    pthread_mutex_t lock; /* for starting and stopping */
    CaptureOptions options;
    bool options_read;
    Cupti cupti;
    bool cupti_tried, cupti_dead; /* cupti_dead: in a forked child CUPTI must not be called again */
    Buffers buffers;
    Collector collector;
    pthread_t writer;
    sem_t wake;
    _Atomic bool running, stopping;
    _Atomic bool asked; /* CUPTI asked for a buffer, so there may be something to flush */
    _Atomic bool has_context, wants_unified,
        devices_described;      /* the driver is initialized; steps that need this are done */
    _Atomic uint64_t gpus_used; /* bits of the devices that have a context */
    uint64_t gpus_sampled;      /* used by the writer: devices that NVML samples */
    uint64_t n_samples_lost;
    _Atomic bool problems_new;
    _Atomic uint32_t api_version;
    _Atomic uint64_t n_refused, n_overwritten, n_dropped;
    unsigned n_windows;
    char spool_path[4096];
    pthread_mutex_t converting;
    char left[4096]; /* a spool that is not converted yet; empty if none */
} s = {.lock = PTHREAD_MUTEX_INITIALIZER, .converting = PTHREAD_MUTEX_INITIALIZER};

void session_say(const char *format, ...)
{
    char line[2048];
    int n = snprintf(line, sizeof line, "profsql-capture: ");
    va_list ap;
    va_start(ap, format);
    n += vsnprintf(line + n, sizeof line - (size_t)n - 1, format, ap);
    va_end(ap);
    if (n > (int)sizeof line - 2) n = sizeof line - 2;
    line[n++] = '\n';
    if (write(STDERR_FILENO, line, (size_t)n) < 0) return; /* standard error is closed */
}

CaptureOptions *session_options(void)
{
    if (!s.options_read) {
        ProfErr err = {0};
        s.options_read = true;
        if (options_from_environment(&s.options, &err)) session_say("%s", err.text);
        err = (ProfErr){0};
        if (options_check(&s.options, &err))
            session_say("%s", err.text), s.options.by_steps = false, s.options.every_s = 0;
    }
    return &s.options;
}

bool session_is_on(void) { return atomic_load(&s.running); }

/* ---- called by CUPTI, in the program's threads ---- */

static void on_request(uint8_t **buffer, size_t *size, size_t *max_records)
{
    int32_t i = buffers_take(&s.buffers);
    if (!atomic_load_explicit(&s.asked, memory_order_relaxed) && !atomic_exchange(&s.asked, true))
        inject_at_exit(); /* CUDA has started */
    *max_records = 0;
    if (i == NO_BUFFER) i = buffers_make(&s.buffers, false);
    if (i == NO_BUFFER && s.cupti.api_version >= API_12_9) {
        atomic_fetch_add(&s.n_refused, 1);
        *buffer = NULL, *size = 0;
        return;
    }
    if (i == NO_BUFFER && (i = buffers_take_filled(&s.buffers)) !=
                              NO_BUFFER) { /* older libraries crash if they get none */
        atomic_fetch_add(&s.n_overwritten,
                         collect_count(&s.cupti, s.buffers.all[i].bytes, s.buffers.all[i].n_valid));
        buffers_zero(&s.buffers, i);
    }
    if (i == NO_BUFFER) i = buffers_make(&s.buffers, true);
    *buffer = i == NO_BUFFER ? NULL : s.buffers.all[i].bytes;
    *size = i == NO_BUFFER ? 0 : s.buffers.all[i].size;
    if (i != NO_BUFFER) buffers_lend(&s.buffers, i);
}

static void on_complete(void *context, uint32_t stream, uint8_t *buffer, size_t size,
                        size_t n_valid)
{
    (void)context, (void)stream;
    int32_t i = buffer ? buffers_find(buffer) : NO_BUFFER;
    if (i == NO_BUFFER) return;
    if (n_valid > size) n_valid = size;
    texts_keep(&s.cupti, buffer, n_valid);
    buffers_fill(&s.buffers, i, n_valid);
    sem_post(&s.wake);
}

/* ---- the writer ---- */

static void wake_writer(void) { sem_post(&s.wake); }

/* Finds the UUID of a GPU. The driver's answer counts, because CUPTI also describes devices that
 * the program does not see. */
static bool find_uuid(uint32_t device, uint64_t uuid[2])
{
    Record r;
    char name[256];
    if (driver_device(device, &r, name, sizeof name)) {
        uuid[0] = record_get(&r, FIELD_UUID_LOW), uuid[1] = record_get(&r, FIELD_UUID_HIGH);
    } else if (collect_knows_device(&s.collector, device)) {
        memcpy(uuid, s.collector.uuids[device], sizeof s.collector.uuids[device]);
    } else {
        return false;
    }
    return uuid[0] || uuid[1];
}

static void sample_gpus(void)
{
    if (!s.options.sample_ms) return;
    uint64_t used = atomic_load(&s.gpus_used) | s.collector.used, fresh = used & ~s.gpus_sampled,
             uuid[2];
    for (uint32_t i = 0; fresh >> i && i < 64; i++) {
        if (!(fresh >> i & 1) || !find_uuid(i, uuid)) continue;
        samples_of(i, uuid[0], uuid[1]);
        s.gpus_sampled |= UINT64_C(1) << i;
    }
    s.n_samples_lost += samples_drain(collect_sample, &s.collector);
}

static void note_sample_problems(void)
{
    char problems[512];
    if (samples_problems(problems, sizeof problems)) spool_note(s.collector.spool, "%s", problems);
}

static bool drain(void)
{
    SpoolStatus *status = spool_status(s.collector.spool);
    status->lost[LOST_RING] += rings_drain(collect_range, &s.collector);
    sample_gpus();
    bool with_cuda = atomic_load(&s.api_version) != 0;
    int32_t i = with_cuda ? buffers_take_all_filled(&s.buffers) : NO_BUFFER;
    bool any = i != NO_BUFFER;
    while (i != NO_BUFFER) {
        int32_t next = atomic_load(&s.buffers.all[i].next);
        collect_buffer(&s.collector, s.buffers.all[i].bytes, s.buffers.all[i].n_valid);
        buffers_give(&s.buffers, i);
        i = next;
    }
    if (with_cuda) buffers_keep_ready(&s.buffers, READY_BUFFERS);
    return any;
}

static void count_losses(void)
{
    SpoolStatus *status = spool_status(s.collector.spool);
    status->lost[LOST_NO_BUFFER] += atomic_exchange(&s.n_refused, 0);
    status->lost[LOST_REUSED] += atomic_exchange(&s.n_overwritten, 0);
    status->lost[LOST_CUPTI] += atomic_exchange(&s.n_dropped, 0);
    status->own_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID);
    status->api_version = atomic_load(&s.api_version);
    if (s.options.sample_ms) note_sample_problems();
    if (atomic_exchange(&s.problems_new, false))
        spool_note(s.collector.spool, "%s", s.cupti.problems);
}

/* CUPTI may have described devices before we started; then the driver is asked, once it is
 * initialized. */
static void describe_devices(void)
{
    if (atomic_load(&s.devices_described) ||
        (!atomic_load(&s.has_context) && !atomic_load(&s.asked)))
        return;
    uint32_t n = driver_devices();
    for (uint32_t i = 0; i < n; i++) {
        Record r;
        char name[256];
        if (!collect_knows_device(&s.collector, i) && driver_device(i, &r, name, sizeof name))
            collect_device(&s.collector, &r, name);
    }
    atomic_store(&s.devices_described, n != 0);
}

static void *writer_main(void *unused)
{
    (void)unused;
    pthread_setname_np(pthread_self(), "profsql-writer");
    uint64_t flushed_s = 0, clocked_s = 0, n_flushes = 0;
    bool was_full = false;
    for (;;) {
        uint64_t now_s = clock_ns(CLOCK_REALTIME) / NS_PER_S;
        if (now_s >= clocked_s + CLOCK_EVERY_S || now_s < clocked_s)
            collect_clock(&s.collector), clocked_s = now_s;
        wait_ns(&s.wake, WAKE_EVERY_NS);
        bool last = atomic_load(&s.stopping);
        bool any = drain();
        if (last || n_flushes > DEVICES_AFTER) describe_devices();
        if (last && !any) break;
        if (now_s != flushed_s)
            flushed_s = now_s, n_flushes++, count_losses(), spool_flush(s.collector.spool);
        if (spool_is_full(s.collector.spool) && !was_full)
            was_full = true,
            session_say("%s; the program goes on", spool_status(s.collector.spool)->note);
    }
    collect_clock(&s.collector);
    count_losses();
    return NULL;
}

static int start_writer(ProfErr *err)
{
    atomic_store(&s.stopping, false);
    int rc = start_thread(&s.writer, writer_main);
    return rc ? prof_fail(err, PROF_IO, 0, "cannot start a thread: %s", strerror(rc)) : PROF_OK;
}

/* ---- starting ---- */

/* Why recording starts. */
typedef struct {
    const StepsAsked *steps; /* NULL: not for steps */
    uint64_t unix_s;         /* 0: not by the clock */
} Window;

static void read_line(const char *path, char *out, size_t n)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t k = fd < 0 ? 0 : read(fd, out, n - 1);
    if (fd >= 0) close(fd);
    if (k < 0) k = 0;
    for (ssize_t i = 0; i + 1 < k; i++)
        if (!out[i]) out[i] = ' '; /* /proc/self/cmdline separates words by NUL bytes */
    out[k] = 0;
    out[strcspn(out, "\n")] = 0;
}

/* Names the run. Each window is a separate run: RUN, RUN_2, ..., or all are named after their
 * times. */
static void name_run(uint64_t unix_s, char *out, size_t n)
{
    const char *run = s.options.run;
    char text[32];
    struct tm t;
    time_t seconds = (time_t)unix_s;
    if (unix_s && gmtime_r(&seconds, &t) && strftime(text, sizeof text, "%Y%m%d%H%M%S", &t))
        snprintf(out, n, "%s_%s", run, text);
    else if (s.n_windows)
        snprintf(out, n, "%s_%u", run, s.n_windows + 1);
    else
        snprintf(out, n, "%s", run);
}

static SpoolWriter *create_spool(const Window *window, ProfErr *err)
{
    const CaptureOptions *o = &s.options;
    const StepsAsked *steps = window->steps;
    char run[512], boot[64], command[1024], asked[128] = "", header[8192];
    name_run(window->unix_s, run, sizeof run);
    if (snprintf(s.spool_path, sizeof s.spool_path, "%s/plugins/profile/%s/.spool/%s.%d.spool",
                 o->logdir, run, o->host, (int)getpid()) >= (int)sizeof s.spool_path) {
        prof_fail(err, PROF_IO, 0, "the path of %s is too long", o->logdir);
        return NULL;
    }
    read_line("/proc/sys/kernel/random/boot_id", boot, sizeof boot);
    read_line("/proc/self/cmdline", command, sizeof command);
    if (steps)
        snprintf(asked, sizeof asked, "first_step=%llu\nn_steps=%llu\n",
                 (unsigned long long)steps->first, (unsigned long long)steps->n);
    snprintf(header, sizeof header,
             "version=%d\npid=%d\nhost=%s\nrun=%s\nboot_id=%s\nstart_unix_ns=%llu\nstep_range=%s\n%"
             "stoken=%s\ncommand=%s\n",
             SPOOL_VERSION, (int)getpid(), o->host, run, boot,
             (unsigned long long)clock_ns(CLOCK_REALTIME), o->step_range, asked, o->token, command);
    return spool_create(s.spool_path, header, o->spool_limit_bytes, err);
}

/* Only works after the driver is initialized. */
static void enable_unified(void)
{
    if (!atomic_exchange(&s.wants_unified, false)) return;
    uint32_t n = driver_devices();
    cupti_enable_unified(&s.cupti, n ? n : 1);
    if (*s.cupti.problems) atomic_store(&s.problems_new, true);
}

/* Called in a thread of the program, inside its call. */
static void on_callback(void *user, int domain, uint32_t cbid, const void *data)
{
    ProfErr err = {0};
    (void)user;
    if (domain == CB_DOMAIN_RESOURCE && data) {
        void *context = ((const CuptiResourceData *)data)->context;
        if (cbid == CB_CONTEXT_ENDS) {
            contexts_remove(context);
            return;
        }
        inject_at_exit(); /* CUDA has registered its exit handlers: registered again, ours runs
                             before them */
        contexts_add(context);
        uint32_t device;
        if (s.cupti.GetDeviceId && !s.cupti.GetDeviceId(context, &device) && device < 64)
            atomic_fetch_or(&s.gpus_used, UINT64_C(1) << device);
        atomic_store(&s.has_context, true);
        enable_unified();
    } else if (domain == CB_DOMAIN_DRIVER && data) {
        int site = ((const CuptiCallbackData *)data)->site;
        if (cbid == CB_PROFILER_START && site == CB_AT_EXIT && !session_is_on() &&
            session_start(true, &err))
            session_say("%s. Nothing is recorded.", err.text);
        if (cbid == CB_PROFILER_STOP && site == CB_AT_ENTRY)
            session_wait_for_gpus(), session_stop_aloud();
    }
}

/* Opens CUPTI, once, and subscribes. */
static void use_cuda(void)
{
    ProfErr err = {0};
    if (s.cupti_dead || s.cupti_tried) return;
    s.cupti_tried = true, s.cupti.problems[0] = 0;
    if ((s.cupti.api_version || !cupti_open(&s.cupti, s.options.cupti, &err)) &&
        !cupti_subscribe(&s.cupti, on_callback, s.options.profiler_api, &err)) {
        if (!s.buffers.limit_bytes)
            buffers_init(&s.buffers, s.options.buffer_bytes, s.options.n_buffers);
        buffers_keep_ready(&s.buffers, READY_BUFFERS);
        atomic_store(&s.api_version, s.cupti.api_version);
        return;
    }
    s.cupti_tried = !s.cupti.api_version; /* another tool that uses CUPTI may release it, so the
                                             next start tries again */
    session_say("%s. Only the host's ranges are recorded.", err.text);
    snprintf(s.cupti.problems, sizeof s.cupti.problems, "%.800s", err.text);
    atomic_store(&s.problems_new, true);
}

static void enable(bool late)
{
    if (!s.cupti.subscribed || s.cupti.enabled) return;
    cupti_enable(&s.cupti, s.options.kinds, late, on_request, on_complete);
    atomic_store(&s.wants_unified, (s.options.kinds & CAPTURE_UNIFIED) != 0);
    if (late || atomic_load(&s.has_context)) enable_unified();
    atomic_store(&s.problems_new, *s.cupti.problems != 0);
}

/* Drops records, and losses, that CUPTI returned while recording was off: before CUDA 13 it
 * continues to record kernels. */
static void forget_filled(void)
{
    size_t n = 0;
    int32_t i = s.cupti.subscribed ? buffers_take_all_filled(&s.buffers) : NO_BUFFER;
    while (i != NO_BUFFER) {
        int32_t next = atomic_load(&s.buffers.all[i].next);
        collect_count(&s.cupti, s.buffers.all[i].bytes, s.buffers.all[i].n_valid);
        buffers_give(&s.buffers, i);
        i = next;
    }
    if (s.cupti.subscribed && atomic_load(&s.asked))
        s.cupti.ActivityGetNumDroppedRecords(NULL, 0, &n);
    atomic_store(&s.n_refused, 0);
    atomic_store(&s.n_overwritten, 0);
    atomic_store(&s.n_dropped, 0);
}

/* The same, including what CUPTI still has. */
static void forget_all(void)
{
    if (s.cupti.subscribed && atomic_load(&s.asked)) s.cupti.ActivityFlushAll(1);
    forget_filled();
}

static int start(bool late, Window window, ProfErr *err)
{
    pthread_mutex_lock(&s.lock);
    CaptureOptions *o = session_options();
    if (!atomic_load(&s.running)) {
        if (!s.n_windows) sem_init(&s.wake, 0, 0);
        forget_all();
        atomic_store(&s.devices_described, false);
        s.gpus_sampled = s.n_samples_lost = 0;
        s.collector = (Collector){.cupti = &s.cupti, .spool = create_spool(&window, err)};
        if (s.collector.spool && start_writer(err)) {
            spool_close(s.collector.spool, false);
        } else if (s.collector.spool) {
            s.n_windows++;
            if (o->sample_ms) samples_start(o->sample_ms);
            if (o->kinds & CAPTURE_NVTX) rings_start(wake_writer);
            atomic_store(&s.running, true);
            enable(late);
        }
    }
    pthread_mutex_unlock(&s.lock);
    return err->code;
}

int session_start(bool late, ProfErr *err) { return start(late, (Window){0}, err); }

int session_start_window(uint64_t unix_s, ProfErr *err)
{
    return start(true, (Window){.unix_s = unix_s}, err);
}

static void wait_for_gpus(void)
{
    if (!contexts_wait(SETTLE_S))
        session_say("the GPU's work could not be waited for, or had not ended after %d s: what "
                    "runs is recorded without an end",
                    SETTLE_S);
}

/* Waits before it starts, because work of earlier steps must not end in this window. */
int session_start_steps(const StepsAsked *steps, ProfErr *err)
{
    if (atomic_load(&s.has_context)) wait_for_gpus();
    start(true, (Window){.steps = steps}, err);
    if (!err->code) session_regain_cuda();
    return err->code;
}

void session_use_cuda(bool late)
{
    pthread_mutex_lock(&s.lock);
    session_options();
    use_cuda();
    if (atomic_load(&s.running)) enable(late);
    pthread_mutex_unlock(&s.lock);
}

void session_regain_cuda(void)
{
    pthread_mutex_lock(&s.lock);
    if (s.cupti.api_version && !s.cupti.subscribed) use_cuda();
    if (atomic_load(&s.running)) enable(true);
    pthread_mutex_unlock(&s.lock);
}

/* ---- running ---- */

void session_tick(void)
{
    size_t n = 0;
    if (!atomic_load(&s.asked)) return;
    if (!atomic_load(&s.running)) {
        if (pthread_mutex_trylock(&s.lock)) return;
        if (!atomic_load(&s.running)) forget_filled();
        pthread_mutex_unlock(&s.lock);
        return;
    }
    s.cupti.ActivityFlushAll(0);
    if (!s.cupti.ActivityGetNumDroppedRecords(NULL, 0, &n)) atomic_fetch_add(&s.n_dropped, n);
}

void session_describe(char *out, size_t n)
{
    pthread_mutex_lock(&s.lock);
    if (atomic_load(&s.running))
        snprintf(out, n, "recording into %s", s.spool_path);
    else
        snprintf(out, n, "not recording; %u recorded so far", s.n_windows);
    pthread_mutex_unlock(&s.lock);
}

/* ---- stopping ---- */

/* CUPTI returns all its records through on_complete(). */
static void stop_cupti(void)
{
    size_t n = 0;
    if (!s.cupti.enabled) return;
    buffers_next_epoch(&s.buffers);
    cupti_disable(&s.cupti);
    atomic_store(&s.wants_unified, false);
    if (!atomic_load(&s.asked)) return; /* flushing may hang if no buffer was ever requested */
    s.cupti.ActivityFlushAll(1);
    if (!s.cupti.ActivityGetNumDroppedRecords(NULL, 0, &n)) atomic_fetch_add(&s.n_dropped, n);
}

/* Called after the writer has ended, because the last buffer may be the first that describes a GPU.
 */
static void finish_samples(void)
{
    if (!s.options.sample_ms) return;
    sample_gpus();
    samples_stop();
    sample_gpus();
    note_sample_problems();
    if (s.n_samples_lost)
        spool_note(s.collector.spool, "%llu values of GPU samples were lost",
                   (unsigned long long)s.n_samples_lost);
}

/* Records if CUPTI did not return all buffers after a flush: another tool may have registered its
 * own callbacks, which CUPTI allows. */
static void note_taken_over(void)
{
    static const char taken[] = "another tool (torch.profiler?) registered itself with CUPTI "
                                "during the capture and received what is missing here";
    uint32_t n = s.cupti.subscribed ? buffers_kept_out(&s.buffers) : 0;
    if (n) {
        spool_note(s.collector.spool, "%u buffers did not come back from CUPTI: %s", n, taken);
        session_say("%u buffers did not come back from CUPTI: %s", n, taken);
    } else if (s.cupti.subscribed && atomic_load(&s.has_context) && !atomic_load(&s.asked)) {
        spool_note(s.collector.spool,
                   "the program made a CUDA context, and CUPTI has recorded nothing: the GPU had "
                   "nothing to do, or %s",
                   taken);
    }
}

int session_stop(bool convert, char *written, size_t n, ProfErr *err)
{
    char path[sizeof s.spool_path];
    if (n) *written = 0;
    pthread_mutex_lock(&s.lock);
    if (!atomic_load(&s.running)) {
        pthread_mutex_unlock(&s.lock);
        return PROF_OK;
    }
    stop_cupti();
    rings_stop();
    atomic_store(&s.stopping, true);
    sem_post(&s.wake);
    pthread_join(s.writer, NULL);
    finish_samples();
    note_taken_over();
    spool_status(s.collector.spool)->stop_unix_ns = clock_ns(CLOCK_REALTIME);
    spool_close(s.collector.spool, true);
    s.collector.spool = NULL;
    atomic_store(&s.running, false);
    memcpy(path, s.spool_path, sizeof path);
    if (!convert) memcpy(s.left, path, sizeof s.left);
    pthread_mutex_unlock(&s.lock);
    if (convert) convert_spool(path, &s.options, written, n, err);
    return err->code;
}

void session_stop_aloud(void)
{
    char written[4096];
    ProfErr err = {0};
    session_stop(!s.options.convert_later, written, sizeof written, &err);
    if (err.code) session_say("%s", err.text);
    if (*written && !s.options.quiet) session_say("wrote %s", written);
}

void session_wait_for_gpus(void)
{
    if (s.options.synchronize && atomic_load(&s.running) && atomic_load(&s.asked)) wait_for_gpus();
}

void session_stop_steps(void)
{
    ProfErr err = {0};
    if (atomic_load(&s.running) && atomic_load(&s.asked)) wait_for_gpus();
    session_stop(false, NULL, 0, &err);
}

void session_convert_left(void)
{
    char path[sizeof s.left], written[4096] = "";
    ProfErr err = {0};
    pthread_mutex_lock(&s.converting);
    pthread_mutex_lock(&s.lock);
    memcpy(path, s.left, sizeof path);
    *s.left = 0;
    pthread_mutex_unlock(&s.lock);
    if (*path && !s.options.convert_later)
        convert_spool(path, &s.options, written, sizeof written, &err);
    if (err.code) session_say("%s", err.text);
    if (*written && !s.options.quiet) session_say("wrote %s", written);
    pthread_mutex_unlock(&s.converting);
}

void session_release(void)
{
    pthread_mutex_lock(&s.lock);
    if (!atomic_load(&s.running) && s.cupti.subscribed)
        cupti_unsubscribe(&s.cupti), s.cupti_tried = false;
    pthread_mutex_unlock(&s.lock);
}

/* ---- the rest ---- */

void session_push_external(uint64_t id)
{
    if (atomic_load(&s.api_version) && s.cupti.ActivityPushExternalCorrelationId)
        s.cupti.ActivityPushExternalCorrelationId(EXTERNAL_CUSTOM0, id);
}

void session_pop_external(void)
{
    uint64_t id;
    if (atomic_load(&s.api_version) && s.cupti.ActivityPopExternalCorrelationId)
        s.cupti.ActivityPopExternalCorrelationId(EXTERNAL_CUSTOM0, &id);
}

void session_child(void)
{
    bool had_cupti = s.cupti.library != NULL;
    spool_abandon(s.collector.spool);
    rings_forget();
    texts_child();
    contexts_child();
    samples_child();
    pthread_mutex_init(&s.lock, NULL); /* another thread of the parent may have held them */
    pthread_mutex_init(&s.converting, NULL);
    *s.left = 0;
    atomic_store(&s.running, false);
    atomic_store(&s.stopping, false);
    atomic_store(&s.api_version, 0);
    atomic_store(&s.has_context, false);
    s.collector.spool = NULL, s.n_windows = 0;
    if (had_cupti) s.cupti_dead = true; /* its threads do not exist in the child */
    s.cupti.enabled = s.cupti.subscribed = false;
}
