// SPDX-License-Identifier: Apache-2.0
/* nvtx.c: receives ranges and marks of NVTX. Works without a GPU and without CUPTI.
 *
 * NVTX is a header. Each shared object that includes it has its own function table. On its first
 * call it opens the library that NVTX_INJECTION64_PATH names and calls InitializeInjectionNvtx2()
 * in it, once for each object. We put our functions into the slots of the table. Programs with the
 * old libnvToolsExt call InitializeInjectionNvtx(). */
#define _GNU_SOURCE
#include "nvtx.h"

#include "record.h"
#include "step_window.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <wchar.h>

/* A domain or a registered string. NVTX passes the pointer back to us. It is never freed, because
 * the program may keep it. */
typedef struct {
    size_t n;
    char text[];
} Handle;

static Handle *make_handle(const char *text)
{
    size_t n = text ? strlen(text) : 0;
    Handle *h = malloc(sizeof *h + n + 1);
    if (!h) return NULL;
    h->n = n;
    memcpy(h->text, text ? text : "", n + 1);
    return h;
}

/* Converts a wide text to UTF-8, cut where `out` ends. */
static const char *narrow(const wchar_t *wide, char *out, size_t n)
{
    char *o = out, *end = out + n - 5;
    for (; wide && *wide && o < end; wide++) {
        uint32_t c = (uint32_t)*wide;
        if (c < 0x80) {
            *o++ = (char)c;
        } else if (c < 0x800) {
            *o++ = (char)(0xc0 | c >> 6), *o++ = (char)(0x80 | (c & 0x3f));
        } else if (c < 0x10000) {
            *o++ = (char)(0xe0 | c >> 12), *o++ = (char)(0x80 | (c >> 6 & 0x3f)),
            *o++ = (char)(0x80 | (c & 0x3f));
        } else {
            *o++ = (char)(0xf0 | (c >> 18 & 7)), *o++ = (char)(0x80 | (c >> 12 & 0x3f)),
            *o++ = (char)(0x80 | (c >> 6 & 0x3f));
            *o++ = (char)(0x80 | (c & 0x3f));
        }
    }
    *o = 0;
    return out;
}

enum { WIDE_ROOM = 1024 };

static void put_event(enum RecordKind kind, const void *domain, uint64_t range, const char *text)
{
    RangeEvent event = {
        .kind = kind, .range = range, .domain = domain ? ((const Handle *)domain)->text : NULL};
    step_window_put(&event, text, text ? strlen(text) : 0);
}

/* Records the attributes that newer programs pass. */
static void put_attributes(enum RecordKind kind, const void *domain, uint64_t range,
                           const NvtxAttributes *a)
{
    RangeEvent event = {
        .kind = kind, .range = range, .domain = domain ? ((const Handle *)domain)->text : NULL};
    char room[WIDE_ROOM];
    const char *text = NULL;
    if (a && a->size >= sizeof *a) {
        event.category = a->category;
        if (a->payload_type > 0 && a->payload_type <= NVTX_PAYLOAD_FLOAT)
            event.payload_type = (uint32_t)a->payload_type, event.payload = a->payload;
        if (a->message_type == NVTX_MESSAGE_ASCII) text = a->message;
        if (a->message_type == NVTX_MESSAGE_UNICODE) text = narrow(a->message, room, sizeof room);
        if (a->message_type == NVTX_MESSAGE_REGISTERED && a->message)
            text = ((const Handle *)a->message)->text;
    }
    step_window_put(&event, text, text ? strlen(text) : 0);
}

static _Atomic uint64_t next_range = 1;
enum { NOT_TRACKED = -2 }; /* NVTX_NO_PUSH_POP_TRACKING */

static void mark_ex(const NvtxAttributes *a) { put_attributes(REC_MARK, NULL, 0, a); }
static void mark_a(const char *text) { put_event(REC_MARK, NULL, 0, text); }
static void mark_w(const wchar_t *wide)
{
    char room[WIDE_ROOM];
    put_event(REC_MARK, NULL, 0, narrow(wide, room, sizeof room));
}

static uint64_t domain_start_ex(void *domain, const NvtxAttributes *a)
{
    uint64_t id = next_range++;
    put_attributes(REC_OPEN, domain, id, a);
    return id;
}
static uint64_t start_ex(const NvtxAttributes *a) { return domain_start_ex(NULL, a); }
static uint64_t start_a(const char *text)
{
    uint64_t id = next_range++;
    put_event(REC_OPEN, NULL, id, text);
    return id;
}
static uint64_t start_w(const wchar_t *wide)
{
    char room[WIDE_ROOM];
    return start_a(narrow(wide, room, sizeof room));
}
static void domain_end(void *domain, uint64_t id) { put_event(REC_CLOSE, domain, id, NULL); }
static void end(uint64_t id) { put_event(REC_CLOSE, NULL, id, NULL); }

static int domain_push_ex(void *domain, const NvtxAttributes *a)
{
    put_attributes(REC_PUSH, domain, 0, a);
    return NOT_TRACKED;
}
static int push_ex(const NvtxAttributes *a) { return domain_push_ex(NULL, a); }
static int push_a(const char *text)
{
    put_event(REC_PUSH, NULL, 0, text);
    return NOT_TRACKED;
}
static int push_w(const wchar_t *wide)
{
    char room[WIDE_ROOM];
    return push_a(narrow(wide, room, sizeof room));
}
static int domain_pop(void *domain)
{
    put_event(REC_POP, domain, 0, NULL);
    return NOT_TRACKED;
}
static int pop(void) { return domain_pop(NULL); }
static void domain_mark_ex(void *domain, const NvtxAttributes *a)
{
    put_attributes(REC_MARK, domain, 0, a);
}

static void name_thread_a(uint32_t thread, const char *name)
{
    RangeEvent event = {.kind = REC_THREAD, .thread = thread};
    step_window_put(&event, name, name ? strlen(name) : 0);
}
static void name_thread_w(uint32_t thread, const wchar_t *name)
{
    char room[WIDE_ROOM];
    name_thread_a(thread, narrow(name, room, sizeof room));
}

static void *make_text_a(void *domain, const char *text)
{
    (void)domain;
    return make_handle(text);
}
static void *make_text_w(void *domain, const wchar_t *wide)
{
    char room[WIDE_ROOM];
    return make_text_a(domain, narrow(wide, room, sizeof room));
}
static void *make_domain_a(const char *name) { return make_handle(name); }
static void *make_domain_w(const wchar_t *name) { return make_text_w(NULL, name); }
static void destroy_domain(void *domain) { (void)domain; }

/* ---- the slots ---- */

typedef void AnyFunction(void);
typedef struct {
    unsigned slot;
    AnyFunction *function;
} Slot;
#define SLOT(number, function)                                                                     \
    {                                                                                              \
        number, (AnyFunction *)(function)                                                          \
    }

/* One table serves NVTX 2 and 3, because numbers are only added. */
static const Slot core_slots[] = {SLOT(NVTX_MARK_EX, mark_ex),
                                  SLOT(NVTX_MARK_A, mark_a),
                                  SLOT(NVTX_MARK_W, mark_w),
                                  SLOT(NVTX_START_EX, start_ex),
                                  SLOT(NVTX_START_A, start_a),
                                  SLOT(NVTX_START_W, start_w),
                                  SLOT(NVTX_END, end),
                                  SLOT(NVTX_PUSH_EX, push_ex),
                                  SLOT(NVTX_PUSH_A, push_a),
                                  SLOT(NVTX_PUSH_W, push_w),
                                  SLOT(NVTX_POP, pop),
                                  SLOT(NVTX_NAME_THREAD_A, name_thread_a),
                                  SLOT(NVTX_NAME_THREAD_W, name_thread_w)};
static const Slot core2_slots[] = {
    SLOT(NVTX_DOMAIN_MARK_EX, domain_mark_ex), SLOT(NVTX_DOMAIN_START_EX, domain_start_ex),
    SLOT(NVTX_DOMAIN_END, domain_end),         SLOT(NVTX_DOMAIN_PUSH_EX, domain_push_ex),
    SLOT(NVTX_DOMAIN_POP, domain_pop),         SLOT(NVTX_DOMAIN_TEXT_A, make_text_a),
    SLOT(NVTX_DOMAIN_TEXT_W, make_text_w),     SLOT(NVTX_DOMAIN_CREATE_A, make_domain_a),
    SLOT(NVTX_DOMAIN_CREATE_W, make_domain_w), SLOT(NVTX_DOMAIN_DESTROY, destroy_domain)};

static bool fill(const NvtxCallbacks *callbacks, int module, const Slot *slots, size_t n)
{
    AnyFunction ***table = NULL;
    unsigned size = 0;
    if (!callbacks->get_module_function_table(module, &table, &size) || !table) return false;
    for (size_t i = 0; i < n; i++)
        if (slots[i].slot < size && table[slots[i].slot]) *table[slots[i].slot] = slots[i].function;
    return true;
}

int nvtx_attach(NvtxExportTable *export_table)
{
    const NvtxCallbacks *callbacks = export_table ? export_table(NVTX_TABLE_CALLBACKS) : NULL;
    if (!callbacks || callbacks->struct_size < sizeof *callbacks ||
        !callbacks->get_module_function_table)
        return 0;
    bool core =
        fill(callbacks, NVTX_MODULE_CORE, core_slots, sizeof core_slots / sizeof *core_slots);
    fill(callbacks, NVTX_MODULE_CORE2, core2_slots, sizeof core2_slots / sizeof *core2_slots);
    return core;
}
