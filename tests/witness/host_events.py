#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Messages between slices (dcn_messages, dcn_bursts), and of GPUs which kernel ran for which
framework op (kernel_ops), from the bytes of each profile."""
import collections
import sys

sys.dont_write_bytecode = True
from compare import agree, checking, finish, integer, numbered, runs  # noqa: E402
from xspace import Stats  # noqa: E402

RECEIVE = 'MegaScale: Communication Transport Receive'


# ---- messages between slices ----

def messages(run):
    """{host: [message]} of the host threads."""
    found = collections.defaultdict(list)
    for event_id, host, plane, line, e in numbered(run):
        if plane.kind == 'host' and e.name == RECEIVE:
            s = e.stats
            ids = [integer(s.get('dcn_%s' % x))
                   for x in ('source_slice_id', 'source_per_slice_device_id',
                             'destination_slice_id', 'destination_per_slice_device_id')]
            duration = (integer(s.get('duration_us')) or 0) * 1000000
            bad = not isinstance(s.get('dcn_label'), str) or not s['dcn_label'] or None in ids
            validity = 'BAD_KEY' if bad else 'CLOCK_SKEW' if not duration else 'LOOPBACK' if ids[
                0] == ids[2] else 'VALID'
            found[host].append(dict(event_id=event_id, ids=ids, label=s.get('dcn_label'),
                                    bytes=integer(s.get('payload_size_bytes')),
                                    start=e.start_ps - duration, end=e.start_ps,
                                    validity=validity))
    return found


def dcn(run):
    by_host = messages(run)
    got = {r['event_id']: r for r in run.ask('SELECT * FROM dcn_messages({x})')}
    agree('messages', sorted(got), sorted(m['event_id'] for of in by_host.values() for m in of))
    bursts = []
    for host, of_host in by_host.items():
        valid = sorted((m for m in of_host if m['validity'] == 'VALID'),
                       key=lambda m: (m['start'], m['end']))
        groups, until = [], None
        for m in valid:
            if until is None or m['start'] > until:
                groups.append([])
                until = m['end']
            groups[-1].append(m)
            until = max(until, m['end'])
        for number, group in enumerate(groups, 1):
            first, last = min(m['start'] for m in group), max(m['end'] for m in group)
            carried = sum(m['bytes'] or 0 for m in group)
            at_once = max(sum(x['start'] <= m['start'] < x['end'] for x in group) for m in group)
            rate = carried / (last - first) * 1e12
            bursts.append([host, number, first, last - first, len(group), carried, at_once, rate,
                           'Low' if rate < 4.17e9 else 'Medium' if rate < 8.34e9 else 'High',
                           rate / 12.5e9])
            for m in group:
                m['burst'] = number
            ends = sorted((m['end'] for m in group), reverse=True)[:4]
            agree('stragglers of burst %d' % number,
                  [got[x]['start_ps'] + got[x]['duration_ps'] for x in sorted(
                      (m['event_id'] for m in group if got[m['event_id']]['straggler'] is not None),
                      key=lambda x: got[x]['straggler'])], ends)
        for m in of_host:
            r = got[m['event_id']]
            agree('message %d' % m['event_id'],
                  [r['label'], [r[c] for c in ('source_slice', 'source_device', 'destination_slice',
                                               'destination_device')], r['bytes'], r['start_ps'],
                   r['duration_ps'], r['validity'], r['burst']],
                  [m['label'], m['ids'], m['bytes'], m['start'], m['end'] - m['start'] or None,
                   m['validity'], m.get('burst')])
    agree('bursts',
          [list(r.values())[1:]
           for r in run.ask('SELECT run, host, burst, start_ps, duration_ps, message_count, bytes, '
                            'max_overlap, bytes_per_second, bandwidth, utilization_fraction '
                            'FROM dcn_bursts({x}) ORDER BY host, burst')], sorted(bursts), rel=1e-6)


# ---- kernels ----

def kernel_ops(run):
    """Kernels are what XProf takes for them: events with a duration and kernel_details of their own
    (of several the last), of TPUs if the host has any. All ops of a kernel together."""
    times = collections.defaultdict(list)
    for host, planes in run.hosts.items():
        prefix = '/device:TPU:' if any(p.name.startswith('/device:TPU:')
                                       for p in planes) else '/device:GPU:'
        for p in planes:
            for line in p.lines if p.name.startswith(prefix) else ():
                for e in line.events if not line.derived else ():
                    details = Stats(p, reversed(e.messages)).get('kernel_details')
                    if e.duration_ps and isinstance(details, str) and details:
                        # a duration below 0 as XProf's kernel stats have it
                        times[host, e.name].append(e.duration_ps % 2**64 // 1000)
    got = collections.defaultdict(lambda: [0, 0.0, [], []])
    for r in run.ask('SELECT * FROM kernel_ops({x})'):
        of = got[r['host'], r['kernel_name']]
        of[0], of[1] = of[0] + r['occurrences'], of[1] + r['total_duration_us']
        of[2].append(r['min_duration_us'])
        of[3].append(r['max_duration_us'])
    agree('kernels', {k: [n, us, min(least), max(most)] for k, (n, us, least, most) in got.items()},
          {k: [len(t), sum(t) / 1e3, min(t) / 1e3, max(t) / 1e3] for k, t in times.items()},
          rel=1e-6)


if __name__ == '__main__':
    for one in runs():
        for check in (dcn, kernel_ops):
            with checking('%s %s' % (check.__name__, one.path)):
                check(one)
    finish()
