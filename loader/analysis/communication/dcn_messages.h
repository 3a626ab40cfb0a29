// SPDX-License-Identifier: Apache-2.0
/* dcn_messages.h: messages that a host received from other TPU slices over the data-centre network,
 * and bursts of them.
 *
 * Some older runtimes recorded an event "MegaScale: Communication Transport Receive" when a message
 * had arrived, with a stat for its duration. XProf reads these events for lines of its trace viewer
 * that its open build no longer shows. */
#ifndef PROF_DCN_MESSAGES_H
#define PROF_DCN_MESSAGES_H

#include "../../base/list.h"
#include "../../run.h"

enum DcnValidity {
    DCN_VALID,
    DCN_LOOPBACK,   /* sent by a slice to itself */
    DCN_CLOCK_SKEW, /* arrived before it was sent, so its duration is unknown */
    DCN_BAD_KEY,    /* sender, receiver or content is unknown */
};

/* Sender, receiver and content. A key is known only if its bit 1 << enum is set in
 * DcnMessage.known. */
enum DcnKey {
    DCN_SOURCE_SLICE,
    DCN_SOURCE_DEVICE,
    DCN_DESTINATION_SLICE,
    DCN_DESTINATION_DEVICE,
    DCN_CHUNK,
    DCN_LOOP,
    DCN_BYTES,
    N_DCN_KEYS
};

/* A message that the host received. */
typedef struct {
    uint64_t event;
    const Text *label; /* NULL if unknown */
    unsigned known;
    int64_t keys[N_DCN_KEYS];
    int64_t start_ps, end_ps; /* equal if the duration is unknown */
    enum DcnValidity validity;
    size_t burst; /* number of its burst, from 1; 0: the message is not valid */
    /* 1 for the last message of its burst to end, 2 for the one before, up to DCN_STRAGGLERS; 0 for
     * others. */
    int straggler;
} DcnMessage;
enum { DCN_STRAGGLERS = 4 };

/* A time in which at least one valid message is under way at every moment. */
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

/* Returns the messages of one host. */
const DcnMessages *host_dcn_messages(Host *host, ProfErr *err);

#endif
