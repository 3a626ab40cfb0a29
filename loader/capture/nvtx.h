// SPDX-License-Identifier: Apache-2.0
/* nvtx.h: facts of NVTX's injection interface (tests/capture/layout.c compares them with its
 * header), and attaching to it. */
#ifndef PROF_CAPTURE_NVTX_H
#define PROF_CAPTURE_NVTX_H

#include <stddef.h>
#include <stdint.h>
#include <stdbool.h>

enum { NVTX_TABLE_CALLBACKS = 1, NVTX_MODULE_CORE = 1, NVTX_MODULE_CORE2 = 5 };
enum {
    NVTX_MARK_EX = 1,
    NVTX_MARK_A,
    NVTX_MARK_W,
    NVTX_START_EX,
    NVTX_START_A,
    NVTX_START_W,
    NVTX_END,
    NVTX_PUSH_EX,
    NVTX_PUSH_A,
    NVTX_PUSH_W,
    NVTX_POP,
    NVTX_NAME_THREAD_A = 14,
    NVTX_NAME_THREAD_W,
};
enum {
    NVTX_DOMAIN_MARK_EX = 1,
    NVTX_DOMAIN_START_EX,
    NVTX_DOMAIN_END,
    NVTX_DOMAIN_PUSH_EX,
    NVTX_DOMAIN_POP,
    NVTX_DOMAIN_TEXT_A = 10,
    NVTX_DOMAIN_TEXT_W,
    NVTX_DOMAIN_CREATE_A,
    NVTX_DOMAIN_CREATE_W,
    NVTX_DOMAIN_DESTROY,
};
enum { NVTX_MESSAGE_ASCII = 1, NVTX_MESSAGE_UNICODE, NVTX_MESSAGE_REGISTERED };
enum {
    NVTX_PAYLOAD_UINT64 = 1,
    NVTX_PAYLOAD_INT64,
    NVTX_PAYLOAD_DOUBLE,
    NVTX_PAYLOAD_UINT32,
    NVTX_PAYLOAD_INT32,
    NVTX_PAYLOAD_FLOAT
};

typedef struct {
    uint16_t version, size;
    uint32_t category;
    int32_t color_type;
    uint32_t color;
    int32_t payload_type, reserved;
    uint64_t payload;
    int32_t message_type;
    const void *message; /* char, wchar_t, or the result of registering */
} NvtxAttributes;

typedef struct {
    size_t struct_size;
    int (*get_module_function_table)(int module, void (****table)(void), unsigned *size);
} NvtxCallbacks;
typedef const void *NvtxExportTable(uint32_t id);

/* Puts our functions into the NVTX table of an object. Returns 1 on success, like
 * InitializeInjectionNvtx2(). */
int nvtx_attach(NvtxExportTable *export_table);

#endif
