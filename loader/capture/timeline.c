// SPDX-License-Identifier: Apache-2.0
/* timeline.c: writes sorted items as planes, lines and events of an XSpace; see timeline.h.
 *
 * The file has the structure that XProf expects: one plane /host:CPU with calls and ranges on the
 * threads' lines; a plane for each GPU with a line for each stream; times from the session's start;
 * Task Environment with the session's times. Events of a line nest and never partly overlap; those
 * that would are on an overflow line, "name (2)". */
#define _GNU_SOURCE
#include "timeline.h"

#include <dlfcn.h>
#include <stdio.h>

enum { SPACE_PLANES = 1, SPACE_ERRORS, SPACE_WARNINGS, SPACE_HOSTNAMES };
enum {
    PLANE_ID = 1,
    PLANE_NAME,
    PLANE_LINES,
    PLANE_EVENT_METADATA,
    PLANE_STAT_METADATA,
    PLANE_STATS
};
enum { LINE_ID = 1, LINE_NAME, LINE_TIMESTAMP, LINE_EVENTS };
enum { EVENT_METADATA = 1, EVENT_OFFSET, EVENT_DURATION, EVENT_STATS };
enum { USED_AS_EVENT = 1, USED_AS_REF = 2 };

typedef struct {
    Timeline *t;
    XOut out;
    char *(*demangle)(const char *, char *, size_t *,
                      int *); /* from the C++ library, if it is loaded */
    uint8_t *used;            /* by name: used in this plane */
    size_t n_used;
    Description d;
    uint64_t *ends; /* ends of the events that are open on the line */
    size_t n_ends, ends_capacity;
} Writer;

/* ---- names ---- */

static void use(Writer *w, uint32_t name, uint8_t how)
{
    if (name >= w->n_used) {
        size_t n = w->t->names.n * 2 + 256;
        uint8_t *grown = prof_alloc(n);
        if (!grown) {
            prof_nomem(w->t->err);
            return;
        }
        if (w->n_used) memcpy(grown, w->used, w->n_used);
        prof_free(w->used);
        w->used = grown, w->n_used = n;
    }
    w->used[name] |= how;
}

static void write_metadata(Writer *w, uint32_t field, uint64_t id, const char *name)
{
    uint64_t entry = xout_begin(&w->out, field);
    xout_varint(&w->out, 1, id);
    uint64_t value = xout_begin(&w->out, 2);
    xout_varint(&w->out, 1, id);
    xout_text(&w->out, 2, name);
    xout_end(&w->out, value);
    xout_end(&w->out, entry);
}

/* Writes the metadata that the plane's events refer to, after the events, when they are known. */
static void write_all_metadata(Writer *w)
{
    static const char *const stats[] = {
#define AS_NAME(id, name) [id] = name,
        XSTATS(AS_NAME)
#undef AS_NAME
    };
    for (uint32_t name = 0; name < w->n_used && name <= w->t->names.n; name++) {
        const char *text = name_text(&w->t->names, name);
        if (w->used[name] & USED_AS_REF)
            write_metadata(w, PLANE_STAT_METADATA, FIRST_REF + (uint64_t)name, text);
        if (!(w->used[name] & USED_AS_EVENT)) continue;
        int status = -1;
        char *plain =
            w->demangle && starts_with(text, "_Z") ? w->demangle(text, NULL, NULL, &status) : NULL;
        write_metadata(w, PLANE_EVENT_METADATA, (uint64_t)name + 1,
                       plain && !status ? plain : text);
        free(plain);
    }
    for (int id = 1; id < N_XSTATS; id++)
        write_metadata(w, PLANE_STAT_METADATA, (uint64_t)id, stats[id]);
    if (w->n_used) memset(w->used, 0, w->n_used);
}

/* ---- lines ---- */

static void write_event(Writer *w, const Item *item)
{
    Description *d = &w->d;
    Small event = {.n = 0};
    uint64_t duration = item->end - item->start;
    bool instant = item->kind == REC_MARK || item->kind == REC_MEMORY || item->kind == REC_POOL ||
                   item->kind == REC_UNIFIED || item->kind == REC_ENVIRONMENT;
    if (!duration && !instant) duration = 1; /* readers drop events without duration */
    small_varint(&event, EVENT_METADATA, (uint64_t)d->name + 1);
    small_varint(&event, EVENT_OFFSET, (item->start - w->t->first_ns) * 1000);
    if (duration) small_varint(&event, EVENT_DURATION, duration * 1000);
    use(w, d->name, USED_AS_EVENT);
    for (size_t i = 0; i < COUNT(d->refs) && d->refs[i]; i++) use(w, d->refs[i], USED_AS_REF);
    memcpy(event.bytes + event.n, d->stats.bytes,
           d->stats.n); /* both fit, because stats have at most a few hundred bytes */
    xout_bytes(&w->out, LINE_EVENTS, event.bytes, event.n + d->stats.n);
    w->t->n_events++;
}

static void thread_name(const Timeline *t, uint64_t thread, char *out, size_t n)
{
    for (size_t i = 0; i < t->n_threads; i++)
        if (t->threads[i].thread == thread && t->threads[i].name) {
            snprintf(out, n, "%s/%llu", name_text(&t->names, t->threads[i].name),
                     (unsigned long long)thread);
            return;
        }
    snprintf(out, n, "Host Threads/%llu", (unsigned long long)thread);
}

static void line_name(const Timeline *t, uint64_t line, unsigned types, unsigned level, char *out,
                      size_t n)
{
    static const char *const special[] = {"",
                                          "CUDA synchronization",
                                          "CUPTI overhead",
                                          "NVTX start/end ranges",
                                          "CUDA graphs on the host",
                                          "Unified memory",
                                          "JIT compiler"};
    uint64_t plane = line >> PLANE_SHIFT, id = line & (((uint64_t)1 << OVERFLOW_SHIFT) - 1);
    char list[256] = "";
    if (plane == HOST_PLANE && id < SPECIAL_LINE) {
        thread_name(t, id, out, n);
    } else if (plane == HOST_PLANE && id >= MEMORY_LINE) {
        uint64_t device = (id - MEMORY_LINE) & (HOST_MEMORY - 1);
        snprintf(out, n,
                 (id - MEMORY_LINE) & HOST_MEMORY ? "Host memory for GPU %u" : "Memory of GPU %u",
                 (unsigned)device);
    } else if (plane == HOST_PLANE) {
        snprintf(out, n, "%s", special[(id - SPECIAL_LINE) % COUNT(special)]);
    } else if ((id & UINT32_MAX) == OVERHEAD_STREAM) {
        snprintf(out, n, "CUPTI overhead");
    } else if ((id & UINT32_MAX) == COUNTER_STREAM) {
        snprintf(out, n, "_counters_"); /* readers draw lines with this name as values */
    } else {
        for (int i = 0; stream_types[i]; i++)
            if (types >> i & 1)
                snprintf(list + strlen(list), sizeof list - strlen(list), "%s%s", *list ? "," : "",
                         stream_types[i]);
        snprintf(out, n, "Stream #%u(%s)", (unsigned)id, list);
    }
    size_t k = strlen(out);
    if (plane != HOST_PLANE && id >> 32 && (id & UINT32_MAX) != OVERHEAD_STREAM)
        k += (size_t)snprintf(out + k, n - k, " context %u", (unsigned)(id >> 32) + 1);
    if (level && k < n) snprintf(out + k, n - k, " (%u)", level + 1);
}

/* Returns false if the event would partly overlap an open one. */
static bool nests(Writer *w, const Item *item)
{
    while (w->n_ends && w->ends[w->n_ends - 1] <= item->start) w->n_ends--;
    if (w->n_ends && item->end > w->ends[w->n_ends - 1]) return false;
    if (!GROW(w->ends, w->n_ends, w->ends_capacity)) {
        prof_nomem(w->t->err);
        return false;
    }
    w->ends[w->n_ends++] = item->end;
    return true;
}

static const Item *next_item(Writer *w, Sorter *from) { return sorter_next(from, w->t->err); }

/* Writes the line of *item and its overflow lines. *item becomes the first of the next line, or
 * NULL. */
static void write_line(Writer *w, Sorter *from, const Item **item, unsigned level)
{
    Timeline *t = w->t;
    Sorter *overflow = NULL;
    uint64_t line = (*item)->line;
    unsigned types = 0;
    char name[512];
    uint64_t message = xout_begin(&w->out, PLANE_LINES), joined_until = 0;
    bool thread = line < (uint64_t)1 << THREAD_OVERFLOW_SHIFT;
    xout_varint(&w->out, LINE_ID,
                (line & (((uint64_t)1 << PLANE_SHIFT) - 1)) |
                    (uint64_t)level << (thread ? THREAD_OVERFLOW_SHIFT : OVERFLOW_SHIFT));
    w->n_ends = 0;
    for (; *item && (*item)->line == line && !t->err->code; *item = next_item(w, from)) {
        if (level < MOST_OVERFLOWS && !nests(w, *item)) {
            if (!overflow && !(overflow = sorter_new(sizeof(Item), by_line_and_time, t->folder)))
                prof_nomem(t->err);
            if (overflow) sorter_add(overflow, *item, t->err);
            continue;
        }
        describe(t, *item, &w->d);
        steps_describe(&t->steps, *item, &joined_until, &w->d);
        types |= w->d.type_bit;
        write_event(w, *item);
    }
    line_name(t, line, types, level, name, sizeof name);
    xout_text(&w->out, LINE_NAME, name);
    xout_end(&w->out, message);
    const Item *late = overflow ? next_item(w, overflow) : NULL;
    while (late && !t->err->code) write_line(w, overflow, &late, level + 1);
    sorter_free(overflow);
}

static void write_memory_lines(Writer *w)
{
    Timeline *t = w->t;
    char name[128];
    const Item *item = next_item(w, t->memory);
    while (item && !t->err->code) {
        Allocations a = {0};
        uint64_t line = item->line, message = xout_begin(&w->out, PLANE_LINES);
        xout_varint(&w->out, LINE_ID, MEMORY_LINE + line);
        for (; item && item->line == line && !t->err->code; item = next_item(w, t->memory)) {
            allocations_describe(t, &a, item, &w->d);
            write_event(w, item);
        }
        line_name(t, MEMORY_LINE + line, 0, 0, name, sizeof name);
        xout_text(&w->out, LINE_NAME, name);
        xout_end(&w->out, message);
        allocations_free(&a);
    }
}

/* ---- stats of planes ---- */

static void plane_stats(Writer *w, const Small *stats)
{
    if (stats->n) xout_bytes(&w->out, PLANE_STATS, stats->bytes, stats->n);
}

static void stat_uint(Writer *w, enum XStatId id, uint64_t value)
{
    Small s = {.n = 0};
    small_varint(&s, 1, id), small_varint(&s, 3, value);
    plane_stats(w, &s);
}

static void stat_int(Writer *w, enum XStatId id, int64_t value)
{
    Small s = {.n = 0};
    small_varint(&s, 1, id), small_varint(&s, 4, (uint64_t)value);
    plane_stats(w, &s);
}

static void stat_text(Writer *w, enum XStatId id, const char *text)
{
    Small s = {.n = 0};
    small_varint(&s, 1, id), small_bytes(&s, 5, text, strnlen(text, 1800));
    plane_stats(w, &s);
}

typedef struct {
    char text[40];
} UuidText;

static UuidText uuid_text(uint64_t low, uint64_t high)
{
    UuidText uuid;
    uint8_t b[16];
    size_t n = 0;
    memcpy(b, &low, 8), memcpy(b + 8, &high, 8);
    for (int i = 0; i < 16; i++)
        n += (size_t)snprintf(uuid.text + n, sizeof uuid.text - n, "%s%02x",
                              i == 4 || i == 6 || i == 8 || i == 10 ? "-" : "", b[i]);
    return uuid;
}

static void stat_uuid(Writer *w, enum XStatId id, uint64_t low, uint64_t high)
{
    stat_text(w, id, uuid_text(low, high).text);
}

/* Writes the links that connect a device with others. */
static void write_links(Writer *w, const Record *device)
{
    enum { TYPE_GPU = 1 };
    uint64_t low = record_get(device, FIELD_UUID_LOW), high = record_get(device, FIELD_UUID_HIGH);
    for (size_t i = 0; i < w->t->n_links; i++) {
        const Record *r = &w->t->links[i];
        bool first = record_get(r, FIELD_UUID_LOW) == low && record_get(r, FIELD_UUID_HIGH) == high;
        if (r->kind == REC_PCIE && first && !record_get(r, FIELD_TYPE_0)) {
            stat_uint(w, XS_PCIE_GENERATION, record_get(r, FIELD_GENERATION));
            stat_uint(w, XS_PCIE_LANES, record_get(r, FIELD_LINKS));
            stat_uint(w, XS_PCIE_RATE, record_get(r, FIELD_LINK_RATE));
        }
        if (r->kind != REC_NVLINK || (!first && (record_get(r, FIELD_PEER_UUID_LOW) != low ||
                                                 record_get(r, FIELD_PEER_UUID_HIGH) != high)))
            continue;
        UuidText peer =
            first
                ? uuid_text(record_get(r, FIELD_PEER_UUID_LOW), record_get(r, FIELD_PEER_UUID_HIGH))
                : uuid_text(record_get(r, FIELD_UUID_LOW), record_get(r, FIELD_UUID_HIGH));
        char text[160];
        bool gpu = record_get(r, first ? FIELD_TYPE_1 : FIELD_TYPE_0) == TYPE_GPU;
        snprintf(text, sizeof text, "to:%s links:%llu version:%llu kilobytes_per_second:%llu",
                 gpu ? peer.text : "CPU", (unsigned long long)record_get(r, FIELD_LINKS),
                 (unsigned long long)record_get(r, FIELD_LINK_VERSION),
                 (unsigned long long)record_get(r, FIELD_BANDWIDTH_KB));
        stat_text(w, XS_NVLINK, text);
    }
}

static void write_device_stats(Writer *w, const Device *device)
{
    const Record *r = &device->record;
    stat_text(w, XS_VENDOR, "Nvidia");
    if (!device->known) return;
    const Text *name = spool_text_of(&w->t->reader, record_get(r, FIELD_NAME));
    if (name->n_bytes) stat_text(w, XS_GPU_NAME, name->text);
    stat_uint(w, XS_CLOCK, record_get(r, FIELD_CLOCK_KHZ));
    stat_uint(w, XS_CORES, record_get(r, FIELD_PROCESSORS));
    stat_uint(w, XS_BANDWIDTH, record_get(r, FIELD_BANDWIDTH_KB) * 1000);
    stat_uint(w, XS_MEMORY, record_get(r, FIELD_BYTES));
    stat_uint(w, XS_MAJOR, record_get(r, FIELD_MAJOR));
    stat_uint(w, XS_MINOR, record_get(r, FIELD_MINOR));
    stat_uuid(w, XS_UUID, record_get(r, FIELD_UUID_LOW), record_get(r, FIELD_UUID_HIGH));
    if (record_has(REC_DEVICE, FIELD_MIG, w->t->api_version) && record_get(r, FIELD_MIG))
        stat_uuid(w, XS_MIG_UUID, record_get(r, FIELD_MIG_UUID_LOW),
                  record_get(r, FIELD_MIG_UUID_HIGH));
    write_links(w, r);
}

static void stat_clocks(Writer *w, const Record *r)
{
    char text[256];
    snprintf(text, sizeof text, "realtime:%llu monotonic:%llu monotonic_raw:%llu boottime:%llu",
             (unsigned long long)record_get(r, FIELD_START),
             (unsigned long long)record_get(r, FIELD_MONOTONIC),
             (unsigned long long)record_get(r, FIELD_MONOTONIC_RAW),
             (unsigned long long)record_get(r, FIELD_BOOTTIME));
    stat_text(w, XS_CLOCKS, text);
}

static bool ended_abruptly(const Timeline *t)
{
    return t->reader.has_status && t->reader.status.state == SPOOL_RUNNING;
}

static uint64_t count_lost(const SpoolStatus *s)
{
    uint64_t n = 0;
    for (int i = 0; i < N_LOSSES; i++) n += s->lost[i];
    return n;
}

static void write_session(Writer *w)
{
    const Timeline *t = w->t;
    const SpoolStatus *s = &t->reader.status;
    char command[1024];
    uint64_t plane = xout_begin(&w->out, SPACE_PLANES);
    xout_varint(&w->out, PLANE_ID, MAX_DEVICES + 1);
    xout_text(&w->out, PLANE_NAME, "Task Environment");
    stat_uint(w, XS_START, t->first_ns);
    stat_uint(w, XS_STOP, s->stop_unix_ns > t->stop_ns ? s->stop_unix_ns : t->stop_ns);
    stat_uint(w, XS_DROPPED, count_lost(s));
    stat_uint(w, XS_UNDRAWN, t->n_unfinished);
    stat_uint(w, XS_ODD, t->n_odd + s->n_odd);
    if (ended_abruptly(t)) stat_int(w, XS_ABRUPT, 1);
    if (t->n_steps < t->n_steps_asked)
        stat_uint(w, XS_MISSING_STEPS, t->n_steps_asked - t->n_steps);
    if (t->api_version) stat_uint(w, XS_CUPTI, t->api_version);
    stat_uint(w, XS_OWN, s->own_ns);
    if (t->has_clock) stat_clocks(w, &t->first_clock), stat_clocks(w, &t->last_clock);
    spool_header_value(&t->reader, "command", command, sizeof command);
    if (utf8_valid((const uint8_t *)command, strlen(command))) stat_text(w, XS_COMMAND, command);
    write_all_metadata(w);
    xout_end(&w->out, plane);
}

/* ---- the XSpace ---- */

static void warn(Writer *w, uint32_t field, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
static void warn(Writer *w, uint32_t field, const char *format, ...)
{
    char text[1536];
    va_list ap;
    va_start(ap, format);
    vsnprintf(text, sizeof text, format, ap);
    va_end(ap);
    xout_text(&w->out, field, text);
}

static void write_warnings(Writer *w)
{
    const Timeline *t = w->t;
    const SpoolReader *r = &t->reader;
    for (int i = 0; i < N_LOSSES; i++)
        if (r->status.lost[i])
            warn(w, SPACE_WARNINGS, "%llu %s %s", (unsigned long long)r->status.lost[i],
                 i == LOST_NO_BUFFER ? "requests for" : "records", loss_texts[i]);
    if (t->n_unfinished)
        warn(w, SPACE_WARNINGS, "%llu records without an end, or without times, are left out",
             (unsigned long long)t->n_unfinished);
    if (t->n_odd)
        warn(w, SPACE_WARNINGS, "%llu records with impossible times or devices are left out",
             (unsigned long long)t->n_odd);
    if (r->status.n_odd)
        warn(w, SPACE_WARNINGS, "%llu records of kinds that are not read",
             (unsigned long long)r->status.n_odd);
    if (t->n_steps < t->n_steps_asked)
        warn(w, SPACE_WARNINGS,
             "only %llu of the %llu steps from step %llu on were recorded: the program ended "
             "earlier, or recording was stopped",
             (unsigned long long)t->n_steps, (unsigned long long)t->n_steps_asked,
             (unsigned long long)t->first_step);
    if (ended_abruptly(t))
        warn(w, SPACE_WARNINGS,
             "the capture ended abruptly: the contents of the last buffers are lost");
    if (r->damaged || r->n_bad_blocks || t->n_missing)
        warn(w, SPACE_ERRORS,
             "the spool is damaged: %llu bytes, %u blocks and %llu records of it were left out or "
             "are missing",
             (unsigned long long)(r->n_bytes - r->at + r->n_skipped_bytes), r->n_bad_blocks,
             (unsigned long long)t->n_missing);
    for (uint32_t i = 0; i < t->n_devices; i++)
        if (!t->devices[i].known)
            warn(w, SPACE_WARNINGS,
                 "neither CUPTI nor the driver described GPU %u: its name, its peaks and the "
                 "occupancy of its kernels are unknown",
                 i);
    for (const char *line = r->status.note; *line;) {
        size_t n = strcspn(line, "\n");
        if (n && utf8_valid((const uint8_t *)line, n)) xout_bytes(&w->out, SPACE_WARNINGS, line, n);
        line += n + (line[n] != 0);
    }
}

static void write_plane(Writer *w, const Item **item, uint64_t plane)
{
    char name[64] = "/host:CPU";
    uint64_t message = xout_begin(&w->out, SPACE_PLANES);
    xout_varint(&w->out, PLANE_ID, plane == HOST_PLANE ? MAX_DEVICES : plane - 1);
    if (plane != HOST_PLANE)
        snprintf(name, sizeof name, "/device:GPU:%llu", (unsigned long long)plane - 1);
    xout_text(&w->out, PLANE_NAME, name);
    while (*item && (*item)->line >> PLANE_SHIFT == plane && !w->t->err->code)
        write_line(w, w->t->events, item, 0);
    if (plane == HOST_PLANE) {
        write_memory_lines(w);
        stat_int(w, XS_PROCESS, w->t->pid);
    } else {
        write_device_stats(w, &w->t->devices[plane - 1]);
    }
    write_all_metadata(w);
    xout_end(&w->out, message);
}

typedef char *Demangler(const char *, char *, size_t *, int *);

/* Returns the C++ library's demangler. Without it, kernels keep their mangled names. */
static Demangler *find_demangler(void)
{
    Demangler *demangle = NULL;
    void *library = dlopen("libstdc++.so.6", RTLD_NOW | RTLD_LOCAL),
         *symbol = library ? dlsym(library, "__cxa_demangle") : NULL;
    memcpy(&demangle, &symbol, sizeof symbol);
    return demangle;
}

int timeline_write(Timeline *t, int fd)
{
    Writer *w = prof_alloc(sizeof *w);
    if (!w) return prof_nomem(t->err);
    w->t = t, w->demangle = find_demangler();
    t->launch_texts = prof_alloc(t->n_launches * sizeof *t->launch_texts);
    if (!t->launch_texts) prof_nomem(t->err);
    if (!t->err->code && !xout_open(&w->out, fd, t->err)) {
        const Item *item = next_item(w, t->events);
        write_plane(w, &item, HOST_PLANE);
        while (item && !t->err->code) write_plane(w, &item, item->line >> PLANE_SHIFT);
        write_session(w);
        write_warnings(w);
        xout_text(&w->out, SPACE_HOSTNAMES, t->host);
        xout_close(&w->out);
    }
    prof_free(t->launch_texts);
    t->launch_texts = NULL;
    prof_free(w->used);
    prof_free(w->ends);
    prof_free(w);
    return t->err->code;
}
