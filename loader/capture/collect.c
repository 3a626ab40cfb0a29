// SPDX-License-Identifier: Apache-2.0
/* collect.c: writes CUPTI's records and the threads' range events to the spool; see collect.h. */
#define _GNU_SOURCE
#include "collect.h"

#include "system.h"

#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

enum { SKIP_CALL = UINT32_MAX, LARGEST_RECORD = 512 };
enum { DEVICE_NAME_AT = 136, OVERHEAD_DATA_AT = 48, NVLINK_PORTS_AT = 56 };

static uint64_t *value_of(Record *record, enum RecordField field)
{
    return &record->values[record_field_index(record->kind, field)];
}

void collect_clock(Collector *c)
{
    Record r = {.kind = REC_CLOCK};
    *value_of(&r, FIELD_START) = clock_ns(CLOCK_REALTIME);
    *value_of(&r, FIELD_MONOTONIC) = clock_ns(CLOCK_MONOTONIC);
    *value_of(&r, FIELD_MONOTONIC_RAW) = clock_ns(CLOCK_MONOTONIC_RAW);
    *value_of(&r, FIELD_BOOTTIME) = clock_ns(CLOCK_BOOTTIME);
    spool_append(c->spool, &r);
}

void collect_sample(void *context, const GpuSample *sample)
{
    Collector *c = context;
    Record r = {.kind = REC_SAMPLE};
    *value_of(&r, FIELD_START) = sample->time_ns;
    *value_of(&r, FIELD_DEVICE) = sample->device;
    *value_of(&r, FIELD_COUNTER) = sample->counter;
    *value_of(&r, FIELD_VALUE) = sample->value;
    spool_append(c->spool, &r);
}

/* ---- threads ---- */

static void name_thread(Collector *c, uint32_t thread, const char *name, size_t n)
{
    Record r = {.kind = REC_THREAD};
    *value_of(&r, FIELD_THREAD) = thread;
    *value_of(&r, FIELD_NAME) = spool_text(c->spool, name, n);
    spool_append(c->spool, &r);
}

/* Writes the name of a thread when it first occurs, because it may have ended later. */
static void know_thread(Collector *c, uint32_t thread)
{
    if (c->n_threads >= THREAD_SLOTS / 2)
        memset(c->threads, 0, sizeof c->threads), c->n_threads = 0;
    size_t slot = mix64(thread * 0x9e3779b97f4a7c15u) & (THREAD_SLOTS - 1);
    for (; c->threads[slot]; slot = (slot + 1) & (THREAD_SLOTS - 1))
        if (c->threads[slot] == thread) return;
    c->threads[slot] = thread, c->n_threads++;
    char path[64], name[32];
    snprintf(path, sizeof path, "/proc/self/task/%u/comm", thread);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) return;
    ssize_t n = read(fd, name, sizeof name);
    close(fd);
    if (n > 1) name_thread(c, thread, name, (size_t)n - 1);
}

/* ---- devices ---- */

static void know_device(Collector *c, const Record *r)
{
    uint64_t device = record_get(r, FIELD_DEVICE);
    if (device >= 64) return;
    c->devices |= UINT64_C(1) << device;
    c->uuids[device][0] = record_get(r, FIELD_UUID_LOW);
    c->uuids[device][1] = record_get(r, FIELD_UUID_HIGH);
}

static void use_device(Collector *c, uint64_t device)
{
    if (device < 64) c->used |= UINT64_C(1) << device;
}

bool collect_knows_device(const Collector *c, uint32_t device)
{
    return device < 64 && c->devices >> device & 1;
}

void collect_device(Collector *c, Record *r, const char *name)
{
    *value_of(r, FIELD_NAME) = spool_text(c->spool, name, strlen(name));
    spool_append(c->spool, r);
}

/* ---- CUPTI ---- */

/* Returns the text id of a call's name; SKIP_CALL if the call is not recorded. */
static uint32_t api_name(Collector *c, enum RecordKind kind, uint32_t cbid)
{
    uint32_t *known = cbid < MAX_CBIDS ? &c->api_names[kind == REC_DRIVER][cbid] : NULL;
    uint32_t id = known ? *known : 0;
    if (id) return id;
    char name[256];
    cupti_api_name(c->cupti, kind == REC_DRIVER ? CB_DOMAIN_DRIVER : CB_DOMAIN_RUNTIME, cbid, name,
                   sizeof name);
    /* libraries before 12.5 cannot select which driver calls to record */
    bool skip =
        kind == REC_DRIVER && !(c->cupti->kinds & CAPTURE_DRIVER_ALL) && !cupti_is_launch(name);
    id = skip ? SKIP_CALL : spool_text(c->spool, name, strlen(name));
    if (known) *known = id;
    return id;
}

static void free_at(const uint8_t *at)
{
    void *p;
    memcpy(&p, at, sizeof p);
    free(p);
}

/* Frees the memory that a record owns. The notes in cupti_activity.h say which version passes
 * ownership of what. */
static void free_owned(enum RecordKind kind, const uint8_t *cupti_record, uint32_t api_version)
{
    if (kind == REC_DEVICE && api_version >= API_13_0)
        free_at(cupti_record + DEVICE_NAME_AT); /* older versions share CUPTI's own text */
    if (kind == REC_OVERHEAD && api_version >= API_12_4) free_at(cupti_record + OVERHEAD_DATA_AT);
    if (kind == REC_NVLINK && api_version >= API_13_2)
        free_at(cupti_record + NVLINK_PORTS_AT),
            free_at(cupti_record + NVLINK_PORTS_AT + sizeof(void *));
}

static void collect_record(Collector *c, const uint8_t *cupti_record)
{
    uint32_t number;
    memcpy(&number, cupti_record, sizeof number);
    int kind = record_kind_of(number);
    SpoolStatus *status = spool_status(c->spool);
    if (kind < 0) {
        status->n_odd++;
        return;
    }
    Record r;
    record_read(&r, (enum RecordKind)kind, cupti_record, c->cupti->api_version);
    const KindSpec *spec = &record_kinds[kind];
    for (int i = 0; i < spec->n_fields; i++) {
        const FieldSpec *f = &spec->fields[i];
        if (f->role == TEXT && f->bytes)
            r.values[i] = spool_text_pointer(c->spool, (const char *)(uintptr_t)r.values[i]);
        if ((f->role == TIME || f->role == UNTIL) && r.values[i])
            r.values[i] += c->cupti->clock_offset;
        if (f->role == UNTIL && !r.values[i]) status->n_unfinished++;
    }
    if (kind == REC_DEVICE) know_device(c, &r);
    if (kind == REC_CONTEXT) use_device(c, record_get(&r, FIELD_DEVICE));
    free_owned((enum RecordKind)kind, cupti_record, c->cupti->api_version);
    if (kind == REC_DRIVER || kind == REC_RUNTIME) {
        uint32_t name = api_name(c, (enum RecordKind)kind, (uint32_t)record_get(&r, FIELD_CBID));
        if (name == SKIP_CALL) return;
        *value_of(&r, FIELD_NAME) = name;
        know_thread(c, (uint32_t)record_get(&r, FIELD_THREAD));
    }
    spool_append(c->spool, &r);
}

/* Returns whether records follow. The walker returns "invalid kind" (CUDA 11: "unknown error") both
 * for zeros after the last record and for a kind that it does not have. */
static bool something_follows(const uint8_t *bytes, size_t n, const uint8_t *last)
{
    for (const uint8_t *p = last ? last + LARGEST_RECORD : bytes; p + 8 <= bytes + n; p += 8) {
        uint64_t word;
        memcpy(&word, p, 8);
        if (word) return true;
    }
    return false;
}

void collect_buffer(Collector *c, uint8_t *bytes, size_t n_valid)
{
    uint8_t *record = NULL, *last = NULL;
    int rc;
    while (!(rc = c->cupti->ActivityGetNextRecord(bytes, n_valid, &record)))
        collect_record(c, last = record);
    if (rc != CUPTI_MAX_LIMIT_REACHED && something_follows(bytes, n_valid, last))
        spool_status(c->spool)->lost[LOST_UNREADABLE]++;
}

uint64_t collect_count(const Cupti *cupti, uint8_t *bytes, size_t n_valid)
{
    uint8_t *record = NULL;
    uint64_t n = 0;
    for (; !cupti->ActivityGetNextRecord(bytes, n_valid, &record); n++) {
        uint32_t number;
        memcpy(&number, record, sizeof number);
        int kind = record_kind_of(number);
        if (kind >= 0) free_owned((enum RecordKind)kind, record, cupti->api_version);
    }
    return n;
}

/* ---- ranges ---- */

void collect_range(void *context, const RangeEvent *event, const char *text)
{
    Collector *c = context;
    if (event->kind == REC_THREAD) {
        name_thread(c, event->thread, text, event->n_text);
        return;
    }
    know_thread(c, event->thread);
    Record r = {.kind = (enum RecordKind)event->kind};
    *value_of(&r, FIELD_START) = event->time_ns;
    *value_of(&r, FIELD_THREAD) = event->thread;
    *value_of(&r, FIELD_DOMAIN) = spool_text_pointer(c->spool, event->domain);
    *value_of(&r, FIELD_NAME) = spool_text(c->spool, text, event->n_text);
    *value_of(&r, FIELD_RANGE) = event->range;
    *value_of(&r, FIELD_CATEGORY) = event->category;
    *value_of(&r, FIELD_PAYLOAD_TYPE) = event->payload_type;
    *value_of(&r, FIELD_PAYLOAD) = event->payload;
    spool_append(c->spool, &r);
}
