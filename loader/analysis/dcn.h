// SPDX-License-Identifier: Apache-2.0
/* dcn.h: collectives between slices of TPUs over the data-centre network, as XProf's megascale stats has them.
 *
 * A transfer is four ops of a TensorCore, send and recv and the done of each, that meet in one rendezvous (a frontend
 * attribute of the instructions). What lies between the begin of the send and the begin of the recv-done, without ops of
 * transfers, is slack: the time in which the network may do its work unnoticed. XProf reads the ops of /device:TPU:0. */
#ifndef PROF_DCN_H
#define PROF_DCN_H

#include "../list.h"
#include "../run.h"

/* Transfers of one rendezvous. Times are sums of whole us over the occurrences; XProf's wrap. */
typedef struct {
    int64_t key;
    const Text *rendezvous, *recv_op, *send_op; /* of the last transfer */
    const Text *transfer_type;
    uint64_t occurrences, slack_us, observed_us, send_us, send_done_us, recv_us, recv_done_us, stall_us;
    double recv_ps; /* as it is: XProf divides the time of recv once too often */
    /* from the begin of the recv-done to where the host was done with the transfer, of those of which the host tells; XProf has the rule,
     * but never sees the host's events */
    double host_stall_ns;
    uint64_t host_events;
    uint64_t bytes; /* that one transfer of one device sends */
    int64_t group_size;
} DcnCollective;

typedef struct {
    LIST(DcnCollective) collectives; /* in order of their first transfer */
    TextTable texts;
    Arena arena;
    IdTable ids;
    bool shown; /* XProf shows them: it looks only where all hosts know events named MegaScale:... */
} DcnCollectives;

/* Of all hosts together: averages over occurrences, names and bytes of the last; or of one host. NULL with err set. */
const DcnCollectives *run_dcn_collectives(Run *run, Host *only, ProfErr *err);

#endif
