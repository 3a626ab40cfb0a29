// SPDX-License-Identifier: Apache-2.0
/* dcn.h: collectives between TPU slices over the data-centre network, as in XProf's megascale
 * stats.
 *
 * A transfer is four ops of a TensorCore: send, recv and the done of each, which meet in one
 * rendezvous (a frontend attribute of the instructions). Slack is the time from the start of send
 * to the start of recv-done, minus ops of transfers: in it, the network can work without delaying
 * the core. XProf reads the ops of /device:TPU:0. */
#ifndef PROF_DCN_H
#define PROF_DCN_H

#include "../../base/list.h"
#include "../../run.h"

/* The transfers of one rendezvous. Times are sums over occurrences, each truncated to us; they wrap
 * as in XProf. */
typedef struct {
    int64_t key;
    const Text *rendezvous, *recv_op, *send_op; /* names of the last transfer */
    const Text *transfer_type;
    uint64_t occurrences, slack_us, observed_us, send_us, send_done_us, recv_us, recv_done_us,
        stall_us;
    /* Corrected receive time: XProf divides it by 10^6 once too often. */
    double recv_ps;
    /* Time from the start of recv-done to the host's completion event, summed over the host_events
     * transfers that have one. XProf has the rule but never sees the host's events. */
    double host_stall_ns;
    uint64_t host_events;
    uint64_t bytes; /* bytes that one device sends in one transfer */
    int64_t group_size;
} DcnCollective;

typedef struct {
    LIST(DcnCollective) collectives; /* in the order of their first transfer */
    TextTable texts;
    Arena arena;
    HashTable ids;
    bool shown; /* whether XProf shows them: it does only if all hosts have events named
                   MegaScale:... */
} DcnCollectives;

/* Returns the collectives of all hosts together, or of `only`. Hosts are merged to averages over
 * occurrences, with the names and bytes of the last host. */
const DcnCollectives *run_dcn_collectives(Run *run, Host *only, ProfErr *err);

#endif
