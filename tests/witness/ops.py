#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What takes the time: top_ops, op_time_by_line, event_totals, launch_latency, top_kernels and
kernel_time_by_op from the bytes of each profile.

Nesting: events of a line in order of their start, the longer first; the parent of an event is the
last before it that includes it."""
import collections
import re
import statistics
import sys

sys.dont_write_bytecode = True
import xspace  # noqa: E402
from compare import agree, main, tried  # noqa: E402
from places import in_graphs  # noqa: E402

OP_LINES = {'XLA Ops', 'Sparse Core Ops'}
US = 1e6


class Sum:
    """Times of the events of one key."""

    def __init__(self):
        self.n = self.total = self.own = 0
        self.shortest = self.longest = None

    def add(self, duration, own):
        self.n, self.total, self.own, self.longest = (self.n + 1, self.total + duration, self.own
                                                      + own, duration if self.longest is None
                                                      else max(self.longest, duration))
        self.shortest = duration if self.shortest is None else min(self.shortest, duration)

    def list(self):
        return [self.n, self.total, self.own, self.shortest, self.longest]


def self_times(events):
    """One for each event: its duration without those that nest directly in it. What ended before
    can include an event of negative duration alone."""
    own = [e.duration_ps for e in events]
    inside, forget = [], all(x >= 0 for x in own)
    for i in sorted(range(len(events)), key=lambda i: (events[i].start_ps, -events[i].end_ps, i)):
        if forget:
            inside = [k for k in inside if events[k].end_ps > events[i].start_ps]
        for k in reversed(inside):
            if events[k].end_ps >= events[i].end_ps:
                own[k] -= events[i].duration_ps
                break
        inside.append(i)
    return own


def plain_module(name):
    """Without the program's (id)."""
    head, bracket, tail = name.rpartition('(')
    return head if bracket and tail[-1:] == ')' and tail[:-1].isdigit() else name


def integer(value):
    return value if isinstance(value, int) and not isinstance(value, bool) else None


class Host:
    """One host's planes: their events with self times, and its programs."""

    def __init__(self, planes):
        self.planes = planes
        self.modules = {key: plain_module(meta.name) or None for p in planes
                        if p.name == '/host:metadata' for key, meta in p.metas.items()}
        self.lines = [(p, line, self_times(line.events)) for p in planes for line in p.lines]

    def module(self, plane, event):
        if plane.kind in ('tensorcore', 'sparsecore'):
            program = integer(event.meta.stats.get('program_id'))
            return self.modules.get(program if program is None else xspace.signed(program % 2**64))
        name = event.stats.get('hlo_module') if plane.kind == 'host' else None
        return plain_module(name) or None if isinstance(name, str) else None

    def instructions(self):
        """(program id, name): (op_name, op_type). Newer libraries spell the stat HLO Proto."""
        found = {}
        for p in self.planes:
            for key, meta in p.metas.items() if p.name == '/host:metadata' else ():
                proto = meta.stats.get('Hlo Proto', meta.stats.get('HLO Proto'))
                program = xspace.program_id(key, meta)
                for module in [x for n, x in xspace.fields(proto)
                               if n == 1] if isinstance(proto, bytes) else ():
                    for computation in [x for n, x in xspace.fields(module) if n == 3]:
                        for instruction in [x for n, x in xspace.fields(computation) if n == 2]:
                            parts = dict(xspace.fields(instruction))
                            metadata = dict(xspace.fields(parts.get(7, b'')))
                            found.setdefault((program, xspace.text(parts.get(1, b''))),
                                             (xspace.text(metadata.get(2, b'')),
                                              xspace.text(metadata.get(1, b''))))
        return found


def is_work(plane, line):
    return not line.derived and (plane.kind == 'gpu' or (plane.kind in ('tensorcore', 'sparsecore')
                                                         and line.name in OP_LINES))


def top_ops(hosts):
    work = [(h, p, line, own) for h in hosts for p, line, own in h.lines if is_work(p, line)
            and line.events]
    if not work:
        work = [(h, p, line, own) for h in hosts for p, line, own in h.lines if p.kind == 'host'
                and not line.derived]
    sums = collections.defaultdict(Sum)
    for h, p, line, own in work:
        for e, self_ps in zip(line.events, own):
            sums[e.short_name, h.module(p, e), p.kind if p.kind in ('host', 'sparsecore')
                 else 'device'].add(e.duration_ps, self_ps)
    of_place = collections.Counter()
    for (_, _, place), s in sums.items():
        of_place[place] += s.own
    return {key: [s.n, s.total / US, s.own / US, 100 * s.own / of_place[key[2]]
                        if of_place[key[2]] > 0 else None, s.total / US / s.n, s.shortest / US,
                        s.longest / US]
            for key, s in sums.items()}


def by_line(names, hosts):
    """Of each metadata of a line and of each name of a line, as sorted rows."""
    totals, lines = [], []
    for name, h in zip(names, hosts):
        for p, line, own in h.lines:
            of_meta, of_name = collections.defaultdict(Sum), collections.defaultdict(Sum)
            for e, self_ps in zip(line.events, own):
                module = h.module(p, e) if p.kind != 'host' else None
                of_meta[id(e.meta), e.name, module].add(e.duration_ps, self_ps)
                of_name[e.name, e.short_name, module].add(e.duration_ps, self_ps)
            everything = sum(s.own for s in of_name.values())
            totals += [[name, p.name, key[1], key[2]] + s.list() for key, s in of_meta.items()]
            lines += [[name, p.name, key[1], key[2], s.n, s.total / US, s.own / US, 100 * s.own
                       / everything if everything > 0 else None] for key, s in of_name.items()]
    return sorted(totals, key=repr), lines


def launch_latency(hosts):
    waits = collections.defaultdict(list)
    for h in hosts:
        launches = {}
        for p, line, _ in h.lines:
            for e in line.events if p.kind == 'host' else ():
                which = integer(e.stats.get('correlation_id'))
                if which is not None:
                    # The first call counts; of several that start together, the longest.
                    call = (e.start_ps, -e.duration_ps)
                    launches[which] = min(launches.get(which, call), call)
        for p, line, _ in h.lines:
            for e in line.events if p.kind == 'gpu' and not line.derived else ():
                launch = launches.get(integer(e.stats.get('correlation_id')))
                if launch:
                    waits[e.name].append((e.start_ps - launch[0], -launch[1], e.duration_ps))
    return {name: [len(w), statistics.mean(x[0] for x in w) / US, statistics.median(x[0] for x in w)
                   / US, max(x[0] for x in w) / US, statistics.mean(x[1] for x in w) / US,
                   statistics.mean(x[2] for x in w) / US] for name, w in waits.items()}


def top_kernels(hosts):
    times = collections.defaultdict(list)
    for h in hosts:
        # as XProf looks for kernels
        prefix = '/device:TPU:' if any(p.name.startswith('/device:TPU:')
                                       for p in h.planes) else '/device:GPU:'
        for p, line, _ in h.lines:
            for e in line.events if p.name.startswith(prefix) and not line.derived else ():
                # The last stat of the name counts.
                details = xspace.Stats(p, reversed(e.messages)).get('kernel_details')
                if e.duration_ps and isinstance(details, str) and details:
                    # a duration below 0 as XProf's kernel stats have it
                    times[e.name].append(e.duration_ps % 2**64 // 1000)
    everything = sum(map(sum, times.values()))
    return {name: [len(t), sum(t) / 1e3, 100 * sum(t) / everything if everything else None,
                   sum(t) / 1e3 / len(t), min(t) / 1e3, max(t) / 1e3] for name, t in times.items()}


def op_text(stats):
    """The framework op that the stats of a GPU event name."""
    texts = {x: stats[x] for x in ('tf_op', 'name', 'level 0', 'annotation')
             if isinstance(stats.get(x), str)}
    first = texts.get('tf_op', '')
    if first == 'XlaModule' or first.startswith('XlaModule:'):
        return texts.get('name') or None
    return first or next((texts[x].partition('#')[0] for x in ('level 0', 'annotation')
                          if texts.get(x, '').partition('#')[0]), None)


def kernels_by_op(run, hosts):
    """{(operation, type): [(duration, name of the kernel)]}; a kernel of a CUDA graph is of the
    instruction that it runs."""
    sums, graphs = collections.defaultdict(list), in_graphs(run)
    for h in hosts:
        instructions = None
        for p, line, _ in h.lines:
            for e in line.events if p.kind == 'gpu' and not line.derived else ():
                hlo, text = e.stats.get('hlo_op'), op_text(e.stats)
                if isinstance(hlo, str) and hlo.rpartition('::')[2].lstrip('%'):
                    instructions = h.instructions() if instructions is None else instructions
                    program, name = integer(e.stats.get('program_id')), hlo.rpartition('::')[
                        2].removeprefix('%')
                    if id(e) in graphs and graphs[id(e)].op:
                        name = graphs[id(e)].op.name
                    op_name, op_type = instructions.get((program % 2**64 if program is not None
                                                         else None, name), ('', ''))
                    key = (op_name, op_type or None) if op_name else (name, None)
                elif text and text.find(':') > 0 and not text.startswith('Iterator:'):
                    key = text.partition(':')[0], text.partition(':')[2] or None
                elif text:
                    key = text, text.partition(':')[2] or None
                else:
                    key = None, None
                sums[key].append((e.duration_ps, e.name))
    return sums


def kernel_time_by_op(run, hosts):
    sums = kernels_by_op(run, hosts)
    everything = sum(ps for events in sums.values() for ps, _ in events)
    return {key: [len(events), len({name for _, name in events}),
                        sum(ps for ps, _ in events) / US,
                        100 * sum(ps for ps, _ in events) / everything if everything else None]
            for key, events in sums.items()}


def numbered(rows, n_keys):
    return {tuple(list(r.values())[:n_keys]) if n_keys > 1
            else list(r.values())[0]: list(r.values())[n_keys:] for r in rows}


def check(run):
    hosts = [Host(planes) for planes in run.hosts.values()]
    names = [r['host'] for r in run.ask('SELECT host FROM hosts({x})')]
    agree('top_ops', numbered(run.ask('SELECT operation, hlo_module, place, occurrences, '
                                      'total_time_us, self_time_us, self_time_percent, '
                                      'avg_time_us, min_time_us, max_time_us '
                                      'FROM top_ops({x}, 1000000000)'), 3), top_ops(hosts))
    totals, lines = by_line(names, hosts)
    agree('event_totals',
          sorted((list(r.values()) for r in run.ask('SELECT host, plane, name, hlo_module, '
                                                    'occurrences, total_ps, self_ps, min_ps, '
                                                    'max_ps FROM event_totals({x})')),
                 key=repr), totals)
    got = run.ask('SELECT host, plane, operation, hlo_module, occurrences, total_time_us, '
                  'self_time_us, line_percent FROM op_time_by_line({x}, 1000000000)')

    def rounded(row):
        return repr([round(x, 6) if isinstance(x, float) else x for x in row])
    agree('op_time_by_line', sorted((list(r.values()) for r in got), key=rounded),
          sorted(lines, key=rounded), abs_tol=1e-6)
    agree('launch_latency',
          numbered(run.ask('SELECT kernel, launches, avg_latency_us, median_latency_us, '
                           'max_latency_us, avg_launch_us, avg_kernel_us '
                           'FROM launch_latency({x}, 1000000000)'), 1), launch_latency(hosts))
    agree('top_kernels',
          numbered(run.ask('SELECT kernel_name, occurrences, total_duration_us, percent, '
                           'avg_duration_us, min_duration_us, max_duration_us '
                           'FROM top_kernels({x}, 1000000000)'), 1), top_kernels(hosts))
    agree('kernel_time_by_op',
          numbered(run.ask('SELECT operation, type, occurrences, kernel_count, total_time_us, '
                           'percent FROM kernel_time_by_op({x}, 1000000000)'), 2),
          kernel_time_by_op(run, hosts))


def each(run):
    tried('ops ' + run.path, check, run)


if __name__ == '__main__':
    main(each)
