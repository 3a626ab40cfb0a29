#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What host threads record, from the bytes of each profile: messages between slices (dcn_messages, dcn_bursts), the calls of tf.data pipelines (tf_data_pipelines,
tf_data_calls, tf_data_iterators), and of GPUs which kernel ran for which framework op (kernel_ops)."""
import collections
import sys

sys.dont_write_bytecode = True
from compare import agree, checking, finish, runs  # noqa: E402
from xspace import Stats  # noqa: E402

RECEIVE = 'MegaScale: Communication Transport Receive'
ASYNC = {'Prefetch', 'ParallelInterleave', 'ParallelMap', 'ParseExample', 'MapAndBatch', 'DataService', 'LegacyParallelInterleave', 'ParallelBatch'}
JOINED = ('Prefetch', 'ParallelInterleave', 'ParallelMap', 'MapAndBatch', 'ParseExample', 'ParallelBatch')
SLOW_PS = 50000000


def integer(value):
    return value if isinstance(value, int) else None


def numbered(run):
    """(event id, host, plane, line, event) of the run: ids count through all files."""
    event_id = 0
    for host, planes in run.hosts.items():
        for plane in planes:
            for line in plane.lines:
                for e in line.events:
                    yield event_id, host, plane, line, e
                    event_id += 1


# ---- messages between slices ----

def messages(run):
    """{host: [message]} of the host threads."""
    found = collections.defaultdict(list)
    for event_id, host, plane, line, e in numbered(run):
        if plane.kind == 'host' and e.name == RECEIVE:
            s = e.stats
            ids = [integer(s.get('dcn_%s' % x)) for x in ('source_slice_id', 'source_per_slice_device_id', 'destination_slice_id', 'destination_per_slice_device_id')]
            duration = (integer(s.get('duration_us')) or 0) * 1000000
            bad = not isinstance(s.get('dcn_label'), str) or not s['dcn_label'] or None in ids
            validity = 'BAD_KEY' if bad else 'LOOPBACK' if ids[0] == ids[2] else 'CLOCK_SKEW' if not duration else 'VALID'
            found[host].append(dict(event_id=event_id, ids=ids, label=s.get('dcn_label'), bytes=integer(s.get('payload_size_bytes')), start=e.start_ps - duration, end=e.start_ps,
                                    validity=validity))
    return found


def dcn(run):
    by_host = messages(run)
    got = {r['event_id']: r for r in run.ask('SELECT * FROM dcn_messages({x})')}
    agree('messages', sorted(got), sorted(m['event_id'] for of in by_host.values() for m in of))
    bursts = []
    for host, of_host in by_host.items():
        valid = sorted((m for m in of_host if m['validity'] == 'VALID'), key=lambda m: (m['start'], m['end']))
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
            bursts.append([host, number, first, last - first, len(group), carried, at_once, rate, 'Low' if rate < 4.17e9 else 'Medium' if rate < 8.34e9 else 'High', rate / 12.5e9])
            for m in group:
                m['burst'] = number
            ends = sorted((m['end'] for m in group), reverse=True)[:4]
            agree('stragglers of burst %d' % number, [got[x]['start_ps'] + got[x]['duration_ps'] for x in sorted(
                (m['event_id'] for m in group if got[m['event_id']]['straggler'] is not None), key=lambda x: got[x]['straggler'])], ends)
        for m in of_host:
            r = got[m['event_id']]
            agree('message %d' % m['event_id'], [r['label'], [r[c] for c in ('source_slice', 'source_device', 'destination_slice', 'destination_device')], r['bytes'], r['start_ps'],
                                                 r['duration_ps'], r['validity'], r['burst']],
                  [m['label'], m['ids'], m['bytes'], m['start'], m['end'] - m['start'] or None, m['validity'], m.get('burst')])
    agree('bursts', [list(r.values())[1:] for r in run.ask('SELECT * FROM dcn_bursts({x}) ORDER BY host, burst')], sorted(bursts), rel=1e-6)


# ---- tf.data ----

class Call:
    """An event of a host thread, the one that it nests in, and what it includes."""

    def __init__(self, event_id, e):
        self.event_id, self.e, self.name, self.inside, self.parent = event_id, e, e.name, [], None
        self.calls_iterator = self.name.startswith('Iterator::')
        self.iterator = self.calls_iterator and integer(e.stats.get('id')) is not None


def calls_of(events):
    """Nests the events of one thread."""
    open_calls, found = [], []
    for event_id, e in sorted(events, key=lambda x: (x[1].start_ps, -x[1].end_ps, x[0])):
        call = Call(event_id, e)
        while open_calls and open_calls[-1].e.end_ps < e.end_ps or open_calls and open_calls[-1].e.end_ps <= e.start_ps < e.end_ps:
            open_calls.pop()
        if open_calls:
            call.parent = open_calls[-1]
            call.parent.inside.append(call)
        open_calls.append(call)
        found.append(call)
    return found


def iterators_in(call):
    return [x for x in call.inside if x.calls_iterator]


def number_of(e, stat):
    """An id, which tables write without sign; None: no integer."""
    value = integer(e.stats.get(stat))
    return None if value is None else value % 2**64


def overlap(a, b):
    return max(0, min(a.e.end_ps, b.e.end_ps) - max(a.e.start_ps, b.e.start_ps))


def tf_data(run):
    want = {}
    for host, planes in run.hosts.items():
        by_line, threads = collections.defaultdict(list), next((p for p in planes if p.name == '/host:CPU'), None)
        for event_id, of, plane, line, e in numbered(run):
            if of == host and plane is threads:
                by_line[id(line)].append((event_id, e))
        calls = [c for events in by_line.values() for c in calls_of(events)]
        produced, joined = collections.defaultdict(list), collections.defaultdict(list)
        for c in calls:
            if c.name in [kind + 'Produce' for kind in JOINED] and number_of(c.e, 'element_id') is not None:
                for x in iterators_in(c):
                    produced[number_of(c.e, 'element_id'), number_of(x.e, 'parent_id')].append(x)
        for c in calls:
            if c.name in [kind + 'Consume' for kind in JOINED] and c.parent and c.parent.iterator:
                joined[c.parent.event_id] += produced[number_of(c.e, 'element_id'), number_of(c.parent.e, 'id')]
        devices = {number_of(c.e, 'parent_id') for c in calls if c.name == 'Iterator::Prefetch::Generator'}
        for c in calls:
            if c.iterator and c.name.count('::') == 1:
                stats = {}
                visit(c, joined, stats, True)
                want[c.event_id] = (host, number_of(c.e, 'id'), c.e.duration_ps, stats, number_of(c.e, 'id') in devices)
    got = {r['event_id']: r for r in run.ask('SELECT * FROM tf_data_calls({x})')}
    agree('calls', sorted(got), sorted(want))
    by_pipeline = collections.defaultdict(list)
    iterators = collections.defaultdict(dict)
    for r in run.ask('SELECT * FROM tf_data_iterators({x})'):
        iterators[r['host'], r['pipeline'], r['call']][int(r['iterator_id'])] = (r['duration_ps'], r['self_ps'], r['blocking'], r['calls'], r['is_async'])
    for event_id, (host, root, duration, stats, of_device) in want.items():
        r = got[event_id]
        by_pipeline[host, root].append((r, duration, of_device))
        agree('call %d' % event_id, [r['duration_ps'], r['pipeline'].partition(':')[0]], [duration, 'Device' if of_device else 'Host'])
        agree('iterators of call %d' % event_id, iterators[host, r['pipeline'], r['call']], {key: tuple(x[:3]) + (x[3], int(x[4] in ASYNC)) for key, x in stats.items()})
        blocking = [x[1] for x in stats.values() if x[2] and x[1] > 0]
        agree('bottleneck of call %d' % event_id, [r['bottleneck_ps'], r['bottleneck_id'] is not None], [max(blocking, default=0), bool(blocking)])
        if blocking:
            agree('its time', stats[int(r['bottleneck_id'])][1], max(blocking))
    pipelines = {(r['host'], int(r['iterator_id'])): r for r in run.ask('SELECT * FROM tf_data_pipelines({x})')}
    agree('pipelines', sorted(pipelines), sorted(by_pipeline))
    for key, of in by_pipeline.items():
        r, times = pipelines[key], [d for _, d, _ in of]
        agree('pipeline %s' % (key,), [r[c] for c in ('calls', 'slow_calls', 'avg_latency_ps', 'min_latency_ps', 'max_latency_ps', 'is_input_bound')],
              [len(of), sum(t > SLOW_PS for t in times), sum(times) // len(times), min(times), max(times), int(max(times) > SLOW_PS and not of[0][2])])
        agree('longest call first', [d for x, d, _ in sorted(of, key=lambda x: x[0]['call'])], sorted(times, reverse=True))
        agree('bottleneck of the longest', r['bottleneck_ps'], next(x['bottleneck_ps'] for x, _, _ in of if x['call'] == 1))


def visit(call, joined, stats, blocking):
    """Adds up iterators of a call: [duration, self time, blocking, calls, name]. One without an id only takes time off its caller."""
    if not call.iterator:
        return
    below = [x for x in iterators_in(call)] + joined[call.event_id]
    entry = stats.setdefault(number_of(call.e, 'id'), [0, 0, 0, 0, call.name.rpartition('::')[2]])
    entry[0] += call.e.duration_ps
    entry[1] += call.e.duration_ps - sum(overlap(call, x) for x in below)
    entry[2] |= int(blocking)
    entry[3] += 1
    for x in below:
        visit(x, joined, stats, blocking and overlap(call, x) > 0)


# ---- kernels ----

def kernel_ops(run):
    """Kernels are what XProf takes for them: events with a duration and kernel_details of their own (of several the last), of TPUs if the host has any. All ops of a kernel together."""
    times = collections.defaultdict(list)
    for host, planes in run.hosts.items():
        prefix = '/device:TPU:' if any(p.name.startswith('/device:TPU:') for p in planes) else '/device:GPU:'
        for p in planes:
            for line in p.lines if p.name.startswith(prefix) else ():
                for e in line.events if not line.derived else ():
                    details = Stats(p, reversed(e.messages)).get('kernel_details')
                    if e.duration_ps and isinstance(details, str) and details:
                        times[host, e.name].append(e.duration_ps % 2**64 // 1000)  # a duration below 0 as XProf's kernel stats have it
    got = collections.defaultdict(lambda: [0, 0.0, [], []])
    for r in run.ask('SELECT * FROM kernel_ops({x})'):
        of = got[r['host'], r['kernel_name']]
        of[0], of[1] = of[0] + r['occurrences'], of[1] + r['total_duration_us']
        of[2].append(r['min_duration_us'])
        of[3].append(r['max_duration_us'])
    agree('kernels', {k: [n, us, min(least), max(most)] for k, (n, us, least, most) in got.items()},
          {k: [len(t), sum(t) / 1e3, min(t) / 1e3, max(t) / 1e3] for k, t in times.items()}, rel=1e-6)


if __name__ == '__main__':
    for one in runs():
        for check in (dcn, tf_data, kernel_ops):
            with checking('%s %s' % (check.__name__, one.path)):
                check(one)
    finish()
