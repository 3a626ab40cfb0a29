// SPDX-License-Identifier: Apache-2.0
/* record.c: the tables of kinds and fields, and reading CUPTI's records with them; see record.h. */
#include "record.h"

#include <pthread.h>
#include <string.h>

#define AS_SPEC(field, role, offset, bytes, since) {FIELD_##field, role, offset, bytes, since},
static const FieldSpec kernel_fields[] = {KERNEL_FIELDS(AS_SPEC)},
                       memcpy_fields[] = {MEMCPY_FIELDS(AS_SPEC)},
                       peer_fields[] = {MEMCPY_PEER_FIELDS(AS_SPEC)};
static const FieldSpec memset_fields[] = {MEMSET_FIELDS(AS_SPEC)},
                       api_fields[] = {API_FIELDS(AS_SPEC)},
                       overhead_fields[] = {OVERHEAD_FIELDS(AS_SPEC)};
static const FieldSpec sync_fields[] = {SYNC_FIELDS(AS_SPEC)},
                       device_fields[] = {DEVICE_FIELDS(AS_SPEC)},
                       context_fields[] = {CONTEXT_FIELDS(AS_SPEC)};
static const FieldSpec stream_fields[] = {STREAM_FIELDS(AS_SPEC)},
                       memory_fields[] = {MEMORY_FIELDS(AS_SPEC)},
                       pool_fields[] = {POOL_FIELDS(AS_SPEC)};
static const FieldSpec unified_fields[] = {UNIFIED_FIELDS(AS_SPEC)},
                       graph_fields[] = {GRAPH_FIELDS(AS_SPEC)},
                       range_fields[] = {RANGE_FIELDS(AS_SPEC)};
static const FieldSpec environment_fields[] = {ENVIRONMENT_FIELDS(AS_SPEC)},
                       jit_fields[] = {JIT_FIELDS(AS_SPEC)},
                       nvlink_fields[] = {NVLINK_FIELDS(AS_SPEC)};
static const FieldSpec pcie_fields[] = {PCIE_FIELDS(AS_SPEC)},
                       event_fields[] = {EVENT_FIELDS(AS_SPEC)},
                       external_fields[] = {EXTERNAL_FIELDS(AS_SPEC)};
static const FieldSpec thread_fields[] = {THREAD_FIELDS(AS_SPEC)},
                       clock_fields[] = {CLOCK_FIELDS(AS_SPEC)};
static const FieldSpec sample_fields[] = {SAMPLE_FIELDS(AS_SPEC)};

/* The lists, by the names in RECORD_KINDS. */
#define LIST_KERNEL_FIELDS kernel_fields
#define LIST_MEMCPY_FIELDS memcpy_fields
#define LIST_MEMCPY_PEER_FIELDS peer_fields
#define LIST_MEMSET_FIELDS memset_fields
#define LIST_API_FIELDS api_fields
#define LIST_OVERHEAD_FIELDS overhead_fields
#define LIST_SYNC_FIELDS sync_fields
#define LIST_DEVICE_FIELDS device_fields
#define LIST_CONTEXT_FIELDS context_fields
#define LIST_STREAM_FIELDS stream_fields
#define LIST_MEMORY_FIELDS memory_fields
#define LIST_POOL_FIELDS pool_fields
#define LIST_UNIFIED_FIELDS unified_fields
#define LIST_GRAPH_FIELDS graph_fields
#define LIST_ENVIRONMENT_FIELDS environment_fields
#define LIST_JIT_FIELDS jit_fields
#define LIST_NVLINK_FIELDS nvlink_fields
#define LIST_PCIE_FIELDS pcie_fields
#define LIST_EVENT_FIELDS event_fields
#define LIST_EXTERNAL_FIELDS external_fields
#define LIST_RANGE_FIELDS range_fields
#define LIST_THREAD_FIELDS thread_fields
#define LIST_CLOCK_FIELDS clock_fields
#define LIST_SAMPLE_FIELDS sample_fields
#define AS_KIND(kind, number, list, name)                                                          \
    [kind] = {name, number, sizeof(LIST_##list) / sizeof *(LIST_##list), LIST_##list},
const KindSpec record_kinds[N_RECORD_KINDS] = {RECORD_KINDS(AS_KIND)};

#define FITS(kind, number, list, name)                                                             \
    _Static_assert(sizeof(LIST_##list) / sizeof *(LIST_##list) <= MAX_KIND_FIELDS,                 \
                   name " has too many fields");
RECORD_KINDS(FITS)

const char *const counter_names[N_COUNTERS] = {
#define AS_NAME(id, name) [id] = name,
    COUNTERS(AS_NAME)
#undef AS_NAME
};

int record_kind_of(uint32_t cupti_kind)
{
    for (int k = 0; k < N_RECORD_KINDS; k++)
        if (record_kinds[k].number == cupti_kind) return k;
    return -1;
}

static uint64_t load(const uint8_t *p, unsigned n_bytes)
{
    uint64_t eight = 0; /* little-endian, like all supported machines */
    uint32_t four;
    uint16_t two;
    switch (n_bytes) {
    case 1: return *p;
    case 2: memcpy(&two, p, 2); return two;
    case 4: memcpy(&four, p, 4); return four;
    case 8: memcpy(&eight, p, 8); return eight;
    default: return 0;
    }
}

/* In CUDA 13.2 a field moved, for the only time until now: the ports of an NVLink before it became
 * two arrays outside of the record. */
enum { NVLINK_BANDWIDTH_13_2_AT = 72 };

size_t record_offset(enum RecordKind kind, const FieldSpec *f, uint32_t api_version)
{
    bool moved = kind == REC_NVLINK && f->field == FIELD_BANDWIDTH_KB && api_version >= API_13_2;
    return moved ? NVLINK_BANDWIDTH_13_2_AT : f->offset;
}

void record_read(Record *record, enum RecordKind kind, const uint8_t *cupti_record,
                 uint32_t api_version)
{
    const KindSpec *spec = &record_kinds[kind];
    record->kind = kind;
    for (int i = 0; i < spec->n_fields; i++) {
        const FieldSpec *f = &spec->fields[i];
        const uint8_t *at = cupti_record + record_offset(kind, f, api_version);
        record->values[i] = f->since <= api_version ? load(at, f->bytes) : 0;
    }
}

static int8_t positions[N_RECORD_KINDS][N_RECORD_FIELDS];
static pthread_once_t positions_once = PTHREAD_ONCE_INIT;

static void make_positions(void)
{
    memset(positions, -1, sizeof positions);
    for (int k = 0; k < N_RECORD_KINDS; k++)
        for (int i = 0; i < record_kinds[k].n_fields; i++)
            positions[k][record_kinds[k].fields[i].field] = (int8_t)i;
}

int record_field_index(enum RecordKind kind, enum RecordField field)
{
    pthread_once(&positions_once, make_positions);
    return positions[kind][field];
}

uint64_t record_get(const Record *record, enum RecordField field)
{
    int i = record_field_index(record->kind, field);
    return i < 0 ? 0 : record->values[i];
}

bool record_has(enum RecordKind kind, enum RecordField field, uint32_t api_version)
{
    int i = record_field_index(kind, field);
    return i >= 0 && record_kinds[kind].fields[i].since <= api_version;
}
