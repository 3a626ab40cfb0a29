// SPDX-License-Identifier: Apache-2.0
/* step_align.c: aligns the steps of hosts; see step_align.h.
 *
 * The best shift has the largest sum of overlaps of pairs of steps. As in XProf, one walk over both
 * hosts finds the pairs: it advances past the step that ends first. If steps of a host overlap, it
 * misses some pairs. */
#include "step_align.h"

/* Adds the overlap of each pair of steps to scores[the leader's step - the other's + other->n - 1].
 */
static void score_shifts(const HostSpans *leader, const HostSpans *other, uint64_t *scores)
{
    for (size_t i = 0, k = 0; i < leader->n && k < other->n;) {
        StepSpan t = leader->spans[i], s = other->spans[k];
        if (s.begin_ps >= s.end_ps) {
            k++;
        } else if (t.begin_ps >= t.end_ps) {
            i++;
        } else {
            uint64_t from = s.begin_ps > t.begin_ps ? s.begin_ps : t.begin_ps,
                     to = s.end_ps < t.end_ps ? s.end_ps : t.end_ps;
            if (from < to) scores[i + other->n - 1 - k] += to - from;
            k += s.end_ps <= t.end_ps, i += t.end_ps <= s.end_ps;
        }
    }
}

/* Finds the shift that overlaps best, as the first step of the leader or else of the other host.
 * Shifts of the leader are tried first; the first of equal ones wins. False if nothing overlaps. */
static bool best_shift(const uint64_t *scores, size_t n_leader, size_t n_other, size_t *leader,
                       size_t *other)
{
    size_t zero = n_other - 1, best = zero;
    for (size_t i = zero; i < zero + n_leader; i++)
        if (scores[i] > scores[best]) best = i;
    for (size_t i = zero; i-- > 0;)
        if (scores[i] > scores[best]) best = i;
    *leader = best > zero ? best - zero : 0, *other = best < zero ? zero - best : 0;
    return scores[best] > 0;
}

static int align(const HostSpans *leader, HostSpans *host, size_t *from_leader, size_t *from_host,
                 ProfErr *err)
{
    uint64_t *scores = prof_alloc((leader->n + host->n) * sizeof *scores);
    if (!scores) return prof_nomem(err);
    score_shifts(leader, host, scores);
    host->apart = !best_shift(scores, leader->n, host->n, from_leader, from_host);
    prof_free(scores);
    return PROF_OK;
}

/* Returns the time from the first start to the last end of steps with a duration. */
static uint64_t whole_span(const HostSpans *host)
{
    uint64_t begin = UINT64_MAX, end = 0;
    for (size_t i = 0; i < host->n; i++) {
        if (host->spans[i].begin_ps >= host->spans[i].end_ps) continue;
        if (host->spans[i].begin_ps < begin) begin = host->spans[i].begin_ps;
        if (host->spans[i].end_ps > end) end = host->spans[i].end_ps;
    }
    return begin < end ? end - begin : 0;
}

size_t steps_align(HostSpans *hosts, size_t n_hosts, bool *is_empty, ProfErr *err)
{
    size_t leader = 0, begin = 0, end, from_leader = 0, from_host = 0;
    *is_empty = false;
    for (size_t h = 0; h < n_hosts; h++) hosts[h].first = 0, hosts[h].apart = false;
    for (size_t h = 0; h < n_hosts; h++)
        if (!hosts[h].n || hosts[h].n >= UINT32_MAX) return 0;
    if (n_hosts < 2) return n_hosts ? hosts[0].n : 0;
    for (size_t h = 1; h < n_hosts; h++)
        if (whole_span(&hosts[h]) < whole_span(&hosts[leader])) leader = h;
    end = hosts[leader].n;
    for (size_t h = 0; h < n_hosts && !err->code; h++) {
        if (h == leader || align(&hosts[leader], &hosts[h], &from_leader, &from_host, err))
            continue;
        size_t left = hosts[h].n - from_host;
        hosts[h].first =
            /* may wrap; adding the first common step makes it right again */
            from_host - from_leader;
        if (from_leader > begin) begin = from_leader;
        if (from_leader + left < end) end = from_leader + left;
    }
    for (size_t h = 0; h < n_hosts; h++) hosts[h].first += begin;
    *is_empty = !err->code && begin > end;
    return err->code || begin >= end ? 0 : end - begin;
}
