// SPDX-License-Identifier: Apache-2.0
/* fake_behaviour.h: in what the stand-in for CUPTI differs by version, as data: its code asks this
 * list, tests/capture/README.md is written from it (behaviour.c), and where NVIDIA's headers are,
 * tests/capture/run looks for the words in them. */
#ifndef FAKE_BEHAVIOUR_H
#define FAKE_BEHAVIOUR_H

#include <stdbool.h>
#include <stdint.h>

/* API versions; functions that came later are left out of a library that is built with
 * -DFAKE_API=VERSION. */
#define SINCE_ENABLE_AND_DUMP 17
#define SINCE_PER_THREAD 21
#define SINCE_OVERHEAD_DATA 22
#define SINCE_API_BY_CBID 23
#define SINCE_NULL_BUFFER 27
#define SINCE_DEVICE_NAMES 130000
#define SINCE_SUBSCRIBE_V2 130000
#define SINCE_NVLINK_PORTS 130200
/* The stand-in asks for these always; the first headers that say so, or the oldest that were read
 */
#define UNIFIED_WORDS 26
#define FLUSH_WORDS 130400
#define REGISTER_WORDS 17

/* B(id, since, header's version, what it does, words of the header from that version on, "" if no
 * header says it) */
#define FAKE_BEHAVIOURS(B)                                                                         \
    B(ENABLE_AND_DUMP, SINCE_ENABLE_AND_DUMP, SINCE_ENABLE_AND_DUMP,                               \
      "has `cuptiActivityEnableAndDump()`", "cuptiActivityEnableAndDump(")                         \
    B(PER_THREAD, SINCE_PER_THREAD, SINCE_PER_THREAD,                                              \
      "accepts the attribute for buffers by thread",                                               \
      "CUPTI_ACTIVITY_ATTR_PER_THREAD_ACTIVITY_BUFFER")                                            \
    B(OVERHEAD_DATA, SINCE_OVERHEAD_DATA, SINCE_OVERHEAD_DATA,                                     \
      "gives an overhead record memory that the tool frees", "void *overheadData;")                \
    B(API_BY_CBID, SINCE_API_BY_CBID, SINCE_API_BY_CBID,                                           \
      "has `cuptiActivityEnableDriverApi()` and `...RuntimeApi()`",                                \
      "cuptiActivityEnableDriverApi(")                                                             \
    B(UNIFIED, 0, UNIFIED_WORDS, "refuses counters of unified memory before the first context",    \
      "should be called after CUDA driver initialization")                                         \
    B(FLUSH, 0, FLUSH_WORDS,                                                                       \
      "ends the program if it is flushed from a callback for buffers or resources",                \
      "Do not call this function from activity buffer callbacks")                                  \
    B(REGISTER, 0, REGISTER_WORDS, "refuses a flush before buffers are registered",                \
      "Before calling this function, the buffer handling callback api must be activated")          \
    B(PER_THREAD_FIRST, SINCE_PER_THREAD, SINCE_PER_THREAD,                                        \
      "refuses the attribute for buffers by thread when buffers are registered",                   \
      "The attribute should be set before registering the buffer callbacks")                       \
    B(NULL_BUFFER, SINCE_NULL_BUFFER, 0,                                                           \
      "accepts that it gets no buffer; before, it ends the program, as Kineto expects", "")        \
    B(DEVICE_NAMES, SINCE_DEVICE_NAMES, SINCE_DEVICE_NAMES,                                        \
      "gives each device record a name that the tool frees; before, all share one",                \
      "The device name. Client is responsible for freeing this memory using the free function "    \
      "when done.")                                                                                \
    B(SUBSCRIBE_V2, SINCE_SUBSCRIBE_V2, SINCE_SUBSCRIBE_V2, "has `cuptiSubscribe_v2()`",           \
      "cuptiSubscribe_v2(")                                                                        \
    B(NVLINK_PORTS, SINCE_NVLINK_PORTS, SINCE_NVLINK_PORTS,                                        \
      "gives an NVLink record two arrays of ports that the tool frees", "uint32_t* portDev0;")
#define AS_BEHAVIOUR(id, since, header, what, words) FAKE_##id,
enum FakeBehaviour { FAKE_BEHAVIOURS(AS_BEHAVIOUR) N_FAKE_BEHAVIOURS };
#undef AS_BEHAVIOUR

static inline bool fake_does(enum FakeBehaviour behaviour, uint32_t version)
{
    static const uint32_t since[] = {
#define AS_SINCE(id, since, header, what, words) since,
        FAKE_BEHAVIOURS(AS_SINCE)
#undef AS_SINCE
    };
    return version >= since[behaviour];
}

#endif
