#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What launched each kernel, and what the host was doing: launch_delays and range_kernels from the
bytes of each profile, as docs/semantics.md defines them.

Every launch is compared with every event of its host."""
import collections
import re
import sys

sys.dont_write_bytecode = True
from compare import agree, integer, main, numbered, tried  # noqa: E402


def ends(e):
    return e.start_ps + e.duration_ps


def process(plane):
    found = re.search(r' \[(\d+)\]$', plane.name)
    return found.group(1) if found else None


def innermost(found):
    """Of (id, event), the one that started last, then ends first, then is the last in the file."""
    return max(found, key=lambda x: (x[1].start_ps, -ends(x[1]), x[0]), default=None)


class Context:
    """The events of a host's threads."""

    def __init__(self):
        self.calls, self.others = collections.defaultdict(list), collections.defaultdict(list)

    def every(self):
        """All events of host threads, calls too: a call is a range around itself."""
        yield from (x for of in self.others.values() for _, x in of)
        yield from (x[3] for of in self.calls.values() for x in of)

    def around(self, plane, call):
        return [x for x in self.others[process(plane)] if x[1].start_ps <= call.start_ps
                and ends(x[1]) >= ends(call)]


def launched(run):
    """[(host, plane, line, id, event, time at which the stream was free, (id, call), plane of the
    call)] and the Context of each host"""
    hosts, lines = collections.defaultdict(Context), collections.defaultdict(list)
    for event_id, host, plane, line, e in numbered(run):
        if line.derived or e.occurrences is not None:
            continue
        call = integer(e.stats.get('correlation_id'))
        if plane.kind == 'host' and call is not None:
            hosts[host].calls[call % 2**64].append((e.start_ps, -e.duration_ps, event_id, e, plane))
        elif plane.kind == 'host':
            hosts[host].others[process(plane)].append((event_id, e))
        elif plane.kind == 'gpu':
            lines[host,
                  id(line)].append((e.start_ps, -e.duration_ps, event_id, e, plane, line, call))
    found = []
    for (host, _), events in lines.items():
        free = None
        for *_, event_id, e, plane, line, call in sorted(events, key=lambda x: x[:3]):
            calls = hosts[host].calls[call % 2**64] if call is not None else []
            if calls:
                *_, call_id, launch, of = min(calls, key=lambda x: x[:3])
                found.append((host, plane, line, event_id, e, free, (call_id, launch), of))
            free = ends(e) if free is None else max(free, ends(e))
    return found, hosts


def check(run):
    found, hosts = launched(run)
    want, kernels = {}, collections.defaultdict(list)
    for host, plane, line, event_id, e, free, (call_id, call), of in found:
        around = hosts[host].around(of, call)
        own = [x for x in around if x[1].line is call.line]
        frame = innermost([x for x in own if x[1].name.startswith('$')]
                          or [x for x in around if x[1].name.startswith('$')])
        annotation = innermost([x for x in own or around if not x[1].name.startswith('$')])
        stack = None
        if frame:
            same = [x for x in hosts[host].others[process(of)] if x[1].line is frame[1].line
                    and x[1].name.startswith('$') and x[1].start_ps <= frame[1].start_ps
                    and ends(x[1]) >= ends(frame[1])]
            stack = '\n'.join(x[1].name for x in sorted(
                same, key=lambda x: (x[1].start_ps, -ends(x[1]), x[0]), reverse=True))
        queued = 0 if free is None else max(0, min(free, e.start_ps) - call.start_ps)
        want[event_id] = (host, plane.name, e.name, e.start_ps, e.duration_ps, call.name, call_id,
                          call.start_ps, call.duration_ps, e.start_ps - call.start_ps, queued,
                          annotation[1].name if annotation else None, annotation[0] if annotation
                          else None, frame[1].name if frame else None, stack)
        if annotation:
            kernels[annotation[1].name, e.name].append((e.duration_ps, e.start_ps - call.start_ps))
    got = run.ask('SELECT event_id, host, plane, name, start_ps, duration_ps, launch_name, '
                  'launch_event_id, launch_start_ps, launch_duration_ps, delay_ps, queued_ps, '
                  'annotation, '
                  'annotation_event_id, python_frame, python_stack FROM launch_delays({x})')
    agree('launch_delays', {r['event_id']: tuple(r.values())[1:] for r in got}, want)
    agree_on_ranges(run, '', kernels)
    names = collections.Counter(x[1].name for host in hosts.values() for of in host.others.values()
                                for x in of)
    for name in [n for n, _ in names.most_common(2)] + sorted({n for n, _ in kernels})[:2]:
        kernels = collections.defaultdict(list)
        ranges = {host: [x for x in of.every() if x.name == name] for host, of in hosts.items()}
        for host, _, _, _, e, _, (_, call), _ in found:
            if any(x.start_ps <= call.start_ps and ends(x) >= ends(call) for x in ranges[host]):
                kernels[name, e.name].append((e.duration_ps, e.start_ps - call.start_ps))
        agree_on_ranges(run, ", '%s'" % name.replace("'", "''"), kernels)


def agree_on_ranges(run, argument, kernels):
    whole = collections.Counter()
    for (name, _), times in kernels.items():
        whole[name] += sum(t for t, _ in times)
    got = run.ask('SELECT range_name, kernel, launches, total_us, avg_us, percent, avg_delay_us '
                  'FROM range_kernels({x}%s)' % argument)
    want = {(name, kernel): (len(times), sum(t for t, _ in times) / 1e6,
                             sum(t for t, _ in times) / len(times) / 1e6,
                             100 * sum(t for t, _ in times) / whole[name] if whole[name] else None,
                             sum(d for _, d in times) / len(times) / 1e6)
            for (name, kernel), times in kernels.items()}
    agree('range_kernels%s' % argument, {tuple(r.values())[:2]: tuple(r.values())[2:] for r in got},
          want)


def each(run):
    tried('launches ' + run.path, check, run)


if __name__ == '__main__':
    main(each)
