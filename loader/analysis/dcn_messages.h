// SPDX-License-Identifier: Apache-2.0
/* dcn_messages.h: messages that a host received from other slices over the data-centre network, and bursts of them.
 *
 * Runtimes of some years wrote an event "MegaScale: Communication Transport Receive" when a message had come, with a stat for
 * how long it took. XProf reads them for lines of its trace viewer that the open build no longer draws. */
#ifndef PROF_DCN_MESSAGES_H
#define PROF_DCN_MESSAGES_H

#include "../list.h"
#include "../run.h"

enum DcnValidity {
    DCN_VALID,
    DCN_LOOPBACK,   /* from a slice to itself */
    DCN_CLOCK_SKEW, /* it came before it was sent: how long it took is not known */
    DCN_BAD_KEY,    /* who sent what to whom is not known */
};

/* Who and what, each known only if its bit 1 << enum is set. */
enum DcnKey { DCN_SOURCE_SLICE, DCN_SOURCE_DEVICE, DCN_DESTINATION_SLICE, DCN_DESTINATION_DEVICE, DCN_CHUNK, DCN_LOOP, DCN_BYTES, N_DCN_KEYS };

typedef struct {
    uint64_t event;
    const Text *label; /* NULL: not known */
    unsigned known;
    int64_t keys[N_DCN_KEYS];
    int64_t start_ps, end_ps; /* equal when the duration is not known */
    enum DcnValidity validity;
    size_t burst;  /* from 1 on; 0: none, it is not valid */
    int straggler; /* 1: the last to end of its burst, up to DCN_STRAGGLERS; 0: it is none of these */
} DcnMessage;
enum { DCN_STRAGGLERS = 4 };

/* A time in which at least one valid message was always under way. */
typedef struct {
    int64_t start_ps, end_ps, bytes;
    uint64_t n_messages, most_at_once;
} DcnBurst;

typedef struct {
    LIST(DcnMessage) messages; /* in stored order */
    LIST(DcnBurst) bursts;
    TextTable texts;
    Arena arena;
} DcnMessages;

/* Of one host. Lives as long as the run. NULL with err set. */
const DcnMessages *host_dcn_messages(Host *host, ProfErr *err);

#endif
