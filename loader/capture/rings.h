// SPDX-License-Identifier: Apache-2.0
/* rings.h: ranges and marks from the program's threads to our writer, without locks or waiting.
 *
 * Each thread that says something gets a ring of its own; what does not fit is dropped and counted.
 * Rings of threads that ended are used again. */
#ifndef PROF_CAPTURE_RINGS_H
#define PROF_CAPTURE_RINGS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct {
    uint64_t time_ns; /* since 1970 */
    uint64_t range;   /* id of a start/end range */
    uint64_t payload; /* by payload_type, NVTX's number; 0: none */
    const char *domain;
    uint32_t kind; /* REC_PUSH, REC_POP, REC_OPEN, REC_CLOSE, REC_MARK; REC_THREAD: text names the
                      thread */
    uint32_t thread, category, payload_type;
    uint32_t n_text; /* bytes behind it */
    uint32_t n_bytes;
} RangeEvent;

/* Switches recording on and off; `wake` is called (rarely, by a program's thread) when a ring is
 * half full. */
void rings_start(void (*wake)(void));
void rings_stop(void);
bool rings_are_on(void);
void rings_put(RangeEvent *event, const char *text,
               size_t n_text); /* time, thread and lengths are filled in */
/* Hands over what is there, thread by thread, each in its order. One caller at a time. Returns how
 * many were lost. */
uint64_t rings_drain(void (*take)(void *context, const RangeEvent *event, const char *text),
                     void *context);
void rings_forget(void); /* in a forked child */

#endif
