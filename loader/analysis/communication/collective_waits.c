// SPDX-License-Identifier: Apache-2.0
/* collective_waits.c: computes waiting times in collectives; see collective_waits.h.
 *
 * Devices of one group form a class, so that each class needs only one pass over its occurrences.
 * Each pair of source and target is a class of two. */
#include "collective_waits.h"

#include "../../base/interrupt.h"
#include "../../base/search.h"
#include "../../base/sort.h"

/* A device in the pass for its host, or for all hosts. */
typedef struct {
    CollectiveDevice *device;
    const Host *host; /* NULL in the pass for all hosts */
    int64_t shift_ps; /* added to its times to make them comparable with those of other hosts */
    bool has_shift;
    bool has_peers, is_unknown, over_hosts;
    int64_t *last; /* for each occurrence, the time when the last peer started */
} Member;

static int compare_places(const Member *x, const Member *y)
{
    const CollectiveDevice *a = x->device, *b = y->device;
    if (x->host != y->host) return ORDER(x->host, y->host);
    if (a->has_groups != b->has_groups) return a->has_groups ? 1 : -1;
    if (a->place.known != b->place.known) return a->place.known ? 1 : -1;
    return ORDER(a->place.apart, b->place.apart);
}

static int by_group(const void *a, const void *b)
{
    const Member *x = a, *y = b;
    int order = compare_places(x, y);
    return order ? order : ORDER(x->device->place.group, y->device->place.group);
}

static int by_id(const void *a, const void *b)
{
    const Member *x = a, *y = b;
    if (x->device->place.id != y->device->place.id)
        return ORDER(x->device->place.id, y->device->place.id);
    return compare_places(x, y);
}

static int64_t start_of(const Member *member, size_t k)
{
    return add_saturated(member->device->instances[k].start_ps, member->shift_ps);
}

/* Processes devices that wait for each other. */
static void meet(Member *const *members, size_t n)
{
    bool comparable = true, over_hosts = false;
    for (size_t i = 0; i < n; i++) {
        comparable &= members[i]->device->n == members[0]->device->n;
        over_hosts |= members[i]->device->plane->host != members[0]->device->plane->host;
    }
    for (size_t i = 0; i < n; i++) comparable &= !over_hosts || members[i]->has_shift;
    for (size_t i = 0; i < n; i++)
        members[i]->has_peers = true, members[i]->over_hosts |= over_hosts,
        members[i]->is_unknown |= !comparable;
    for (size_t k = 0; k < members[0]->device->n && comparable && !interrupt_due(n); k++) {
        int64_t last = INT64_MIN;
        for (size_t i = 0; i < n; i++)
            if (start_of(members[i], k) > last) last = start_of(members[i], k);
        for (size_t i = 0; i < n; i++)
            if (last > members[i]->last[k]) members[i]->last[k] = last;
    }
}

static void meet_groups(Member *members, Member **group, size_t n)
{
    sort_array(members, n, sizeof *members, by_group);
    for (size_t i = 0, k; i < n; i = k) {
        for (k = i; k < n && !by_group(&members[i], &members[k]); k++) group[k - i] = &members[k];
        const CollectiveDevice *first = members[i].device;
        if (k - i > 1 && (first->place.known || !first->has_groups)) meet(group, k - i);
    }
}

/* Returns the first member whose device has this id. */
static size_t first_of(const Member *members, size_t n, int64_t id)
{
    return LOWER_BOUND(i, 0, n, members[i].device->place.id < id);
}

static bool has_id(const Member *members, size_t n, size_t at, int64_t id)
{
    return at < n && members[at].device->place.id == id;
}

static void meet_pairs(Member *members, size_t n, const CollectiveGroups *groups)
{
    sort_array(members, n, sizeof *members, by_id);
    for (size_t e = 0; e < groups->entries.n && !interrupt_due(n); e++) {
        GroupEntry pair = groups->entries.items[e];
        size_t a = first_of(members, n, pair.id), b = first_of(members, n, pair.other);
        if (pair.id == pair.other) continue;
        while (has_id(members, n, a, pair.id) && has_id(members, n, b, pair.other)) {
            int order = compare_places(&members[a], &members[b]);
            if (!order && members[a].device->place.known && members[b].device->place.known)
                meet((Member *[]){&members[a], &members[b]}, 2);
            a += order <= 0, b += order >= 0;
        }
    }
}

static CollectiveWait wait_of(const Member *member)
{
    const CollectiveDevice *device = member->device;
    CollectiveWait wait = {.known = member->has_peers && !member->is_unknown,
                           .over_hosts = member->over_hosts};
    for (size_t k = 0; k < device->n && wait.known; k++) {
        uint64_t ps = (uint64_t)member->last[k] - (uint64_t)start_of(member, k),
                 most = (uint64_t)device->instances[k].duration_ps;
        wait.ps += ps < most ? ps : most;
    }
    return wait;
}

/* Computes the difference between the session starts of two hosts. */
static bool shift_between(const Host *host, const Host *first, int64_t *ps)
{
    int64_t ns;
    return host->start_unix_ns >= 0 && first->start_unix_ns >= 0 &&
           !__builtin_sub_overflow(host->start_unix_ns, first->start_unix_ns, &ns) &&
           !__builtin_mul_overflow(ns, 1000, ps);
}

static void pass(Member *members, Member **group, size_t n, const CollectiveGroups *groups)
{
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < members[i].device->n; k++)
            members[i].last[k] = start_of(&members[i], k);
    if (groups->form == GROUPS_PAIRS)
        meet_pairs(members, n, groups);
    else
        meet_groups(members, group, n);
}

int collective_waits(CollectiveDevice *devices, size_t n, const CollectiveGroups *groups,
                     bool over_hosts, ProfErr *err)
{
    size_t n_instances = 0;
    for (size_t i = 0; i < n; i++) n_instances += devices[i].n;
    Member *members = prof_alloc(n * sizeof *members), **group = prof_alloc(n * sizeof *group);
    int64_t *last = prof_buffer(n_instances * sizeof *last);
    if (!members || !group || !last) prof_nomem(err);
    for (int all = 0; all < (over_hosts ? 2 : 1) && !err->code; all++) {
        int64_t *at = last;
        for (size_t i = 0; i < n; at += devices[i++].n) {
            const Host *host = devices[i].plane->host;
            members[i] = (Member){&devices[i], .host = all ? NULL : host, .last = at};
            if (all)
                members[i].has_shift =
                    shift_between(host, devices[0].plane->host, &members[i].shift_ps);
        }
        pass(members, group, n, groups);
        for (size_t i = 0; i < n; i++)
            *(all ? &members[i].device->of_all : &members[i].device->on_host) =
                wait_of(&members[i]);
    }
    prof_free(members);
    prof_free(group);
    prof_free(last);
    return err->code;
}
