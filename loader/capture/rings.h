// SPDX-License-Identifier: Apache-2.0
/* rings.h: passes ranges and marks from the program's threads to our writer, without locks or
 * waiting.
 *
 * Each thread with ranges gets its own ring. Events that do not fit are dropped and counted. Rings
 * of threads that have ended are reused. */
#ifndef PROF_CAPTURE_RINGS_H
#define PROF_CAPTURE_RINGS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct {
    uint64_t time_ns; /* since 1970 */
    uint64_t range;   /* id of a start/end range */
    uint64_t payload; /* NVTX's number, interpreted by payload_type; 0 if none */
    const char *domain;
    uint32_t kind; /* REC_PUSH, REC_POP, REC_OPEN, REC_CLOSE or REC_MARK; REC_THREAD: the text is
                      the thread's name */
    uint32_t thread, category, payload_type;
    uint32_t n_text; /* bytes of text after it */
    uint32_t n_bytes;
} RangeEvent;

/* rings_start() switches recording on, rings_stop() off. A thread of the program calls `wake`
 * (rarely) when a ring is half full. */
void rings_start(void (*wake)(void));
void rings_stop(void);
void rings_put(RangeEvent *event, const char *text,
               size_t n_text); /* fills in time, thread and lengths */
/* Passes all events to `take`, thread by thread, each in order. Only one caller at a time. Returns
 * how many were lost. */
uint64_t rings_drain(void (*take)(void *context, const RangeEvent *event, const char *text),
                     void *context);
void rings_forget(void); /* for a forked child */

#endif
