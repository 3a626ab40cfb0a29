#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""How events spread, and what steps consist of: op_percentiles, step_ops, step_op_spread,
slow_step_ops and step_variance from the bytes of each profile, as docs/semantics.md defines them.

The group of an event is the column trace_events.step; which groups are steps, and when, is asked of
libprofsql too."""
import collections
import re
import statistics
import sys

sys.dont_write_bytecode = True
from collectives import last, programs_of, text  # noqa: E402
from compare import agree, integer, main, numbered, tried  # noqa: E402
from ops import plain_module, self_times  # noqa: E402
from short_names import unique  # noqa: E402

OP_LINES = {'gpu': {'stream'}, 'tensorcore': {'ops'}, 'sparsecore': {'ops'}}


class Events:
    """(host, plane, line, kind of the line, event, its id, its self time) of all lines that XProf
    does not derive."""

    def __init__(self, run):
        of_lines = run.ask('SELECT kind, derived FROM lines({x}) ORDER BY line_id')
        of_planes = [r['kind'] for r in run.ask('SELECT kind FROM planes({x}) ORDER BY plane_id')]
        own, of_line, self.kind, lines = {}, {}, {}, 0
        for planes in run.hosts.values():
            for plane in planes:
                self.kind[id(plane)] = of_planes[len(self.kind)]
                for line in plane.lines:
                    own.update((id(e), t) for e, t in zip(line.events, self_times(line.events)))
                    of_line[id(line)] = of_lines[lines]
                    lines += 1
        self.all = [(host, plane, line, of_line[id(line)]['kind'], e, event_id, own[id(e)])
                    for event_id, host, plane, line, e in numbered(run)
                    if not of_line[id(line)]['derived'] and e.occurrences is None]
        self.of_gpus = unique({meta.name for planes in run.hosts.values() for p in planes
                               if p.kind == 'gpu' for meta in p.metas.values()} | {''})

    def short_name(self, plane, e):
        return self.of_gpus[e.name] if plane.kind == 'gpu' else e.short_name


# ---- spread ----

def at(values, percent):
    place = percent / 100 * (len(values) - 1)
    low = int(place)
    return values[low] + (values[min(low + 1, len(values) - 1)] - values[low]) * (place - low)


def program_of(line_kind, e):
    program = e.stats.get('program_id')
    if integer(program) is None and line_kind == 'modules':
        module, _, number = e.name.rpartition('(')
        return str(int(number[:-1])) if number[-1:] == ')' and number[
            :-1].isdigit() and module else None
    return str(program % 2**64) if integer(program) is not None else None


def shape_in(hlo_text):
    """Of '%name = SHAPE opcode(...)': up to the first space outside brackets."""
    rest, depth = hlo_text.partition(' = ')[2], 0
    for i, c in enumerate(rest):
        depth += (c in '([{') - (c in ')]}')
        if c == ' ' and not depth:
            return rest[:i]
    return None


def module_in(line_kind, name):
    """The name without (id) on a line of modules."""
    return re.sub(r'(?<=.)\(\d+\)$', '', name) or None if line_kind == 'modules' else None


def hlo_op_of(key, e):
    """What the column shows: the stat after its last ::, on op lines of TPUs else the op's name."""
    _, plane_kind, line_kind, name, hlo_op, _ = key
    if not hlo_op and plane_kind in ('tensorcore', 'sparsecore') and line_kind in ('ops',
                                                                                   'async_ops'):
        return e.meta.display or name.partition(' = ')[0].removeprefix('%') or None
    return hlo_op and (hlo_op.rpartition('::')[2] or None)


def op_percentiles(run, events):
    found = collections.defaultdict(list)
    for host, plane, _, line_kind, e, _, _ in events.all:
        op = e.stats.get('hlo_op')
        op = op if isinstance(op, str) and op else None
        found[host, events.kind[id(plane)], line_kind, e.name, op,
              program_of(line_kind, e)].append((plane, e))
    modules = {(host, str(program)): plain_module(text(last(p.module, 1, b'')))
               for host, planes in run.hosts.items() for program, p in programs_of(planes).items()}
    want = []
    for key, of in found.items():
        times = sorted(e.duration_ps / 1e6 for _, e in of)
        want.append(key[:4] + (hlo_op_of(key, of[0][1]), key[5], events.short_name(*of[0]),
                               module_in(*key[2:4]) or modules.get((key[0], key[5])),
                               len(times), sum(times),
                               sum(times) / len(times),
                               statistics.stdev(times) if len(times) > 1 else None, times[0],
                               at(times, 50), at(times, 90), at(times, 99), times[-1]))
    got = run.ask("""SELECT host, plane_kind, line_kind, name, hlo_op, program_id, short_name,
                     hlo_module, occurrences, total_us, avg_us, stddev_us, min_us, p50_us, p90_us,
                     p99_us, max_us
                     FROM op_percentiles({x})""")
    agree('op_percentiles', sorted((tuple(r.values()) for r in got), key=repr),
          sorted(want, key=repr), abs_tol=1e-6)
    got = run.ask("SELECT name, shape FROM op_percentiles({x}) WHERE name GLOB '%* = *' "
                  "AND plane_kind = 'tensorcore'")
    agree('shapes in HLO texts', [r['shape'] for r in got], [shape_in(r['name']) for r in got])


# ---- ops of steps ----

def step_of(run):
    """A function from host, plane, event and its id to (step, in_group), or None."""
    groups = {r['event_id']: r['step']
              for r in run.ask('SELECT event_id, step FROM trace_events({x}) '
                               'WHERE step IS NOT NULL')}
    steps = {r['step']: r for r in run.ask('SELECT step, outside_xprof FROM steps({x})')}
    of_group, ranges, outside = {}, collections.defaultdict(list), any(r['outside_xprof']
                                                                       for r in steps.values())
    single = len(run.hosts) == 1
    for r in run.ask('SELECT host, group_id, step, start_ps, duration_ps, range_start_ps, range_ps '
                     'FROM host_steps({x})'):
        step = r['step'] if r['step'] is not None else r[
            'group_id'] if single and not outside else None
        if step not in steps or step is None or (outside and r['group_id'] is not None):
            continue
        of_group[r['host'], r['group_id']] = step
        start, length = (r['range_start_ps'],
                         r['range_ps']) if r['range_ps'] is not None else (r['start_ps'],
                                                                           r['duration_ps'])
        ranges[r['host']].append((start, start + length, step))
    for of_host in ranges.values():
        of_host.sort(key=lambda x: (x[0], x[2]))

    def step(host, plane, e, event_id):
        group = groups.get(event_id)
        if group is not None and (host, group) in of_group:
            return of_group[host, group], 1
        if plane.kind != 'host' and not outside:
            return None
        before = [x for x in ranges[host] if x[0] <= e.start_ps]
        return (before[-1][2], 0) if before and e.start_ps < before[-1][1] else None
    return step


def step_ops(run, events):
    step, sums, short = step_of(run), collections.defaultdict(lambda: [0, 0, 0]), {}
    for host, plane, _, line_kind, e, event_id, own in events.all:
        if plane.kind != 'host' and line_kind not in OP_LINES.get(plane.kind, ()):
            continue
        belongs = step(host, plane, e, event_id)
        if belongs:
            row = sums[host, belongs[0], plane.kind, e.name, belongs[1]]
            row[0] += 1
            row[1] += e.duration_ps
            row[2] += own
            short.setdefault((host, belongs[0], plane.kind, e.name, belongs[1]),
                             events.short_name(plane, e))
    want = [key[:4] + (short[key], key[4], n, total / 1e6, own / 1e6)
            for key, (n, total, own) in sums.items()]
    got = run.ask('SELECT host, step, plane_kind, name, short_name, in_group, occurrences, '
                  'total_us, self_us FROM step_ops({x})')
    agree('step_ops', sorted((tuple(r.values()) for r in got), key=repr), sorted(want, key=repr))
    by_op = collections.defaultdict(lambda: collections.defaultdict(lambda: [0, 0, set()]))
    for key, (n, _, own) in sums.items():
        row = by_op[key[2:]][key[1]]
        row[0] += n
        row[1] += own / 1e6
        row[2].add(short[key])
    return by_op


def step_op_spread(run, by_op, steps, chosen, argument):
    """chosen: None if the argument is no step."""
    lengths = {s['step']: s['duration_us'] for s in steps if not s['dropped']}
    number = chosen and chosen['step']
    others = [s for s in lengths if s != number]
    varies, want = len(set(lengths.values())) > 1, {}
    for key, of_steps in by_op.items():
        times = [of_steps[s][1] if s in of_steps else 0 for s in lengths]
        n = sum(s in of_steps for s in lengths)
        if not n and number not in of_steps:
            continue
        names = set().union(*(of_steps[s][2] for s in of_steps if s in lengths or s == number))
        row = [max(names, key=lambda x: x.encode()), n, statistics.fmean(times) if times else None,
               statistics.stdev(times) if len(times) > 1 else None,
               100 * statistics.covariance(times, lengths.values()) /
               statistics.variance(lengths.values()) if varies else None] + [None] * 6
        if chosen:
            count, own = of_steps[number][:2] if number in of_steps else (0, 0)
            row[5:] = [number, None, count, own, None, sum(s in of_steps for s in others)]
        if chosen and others:
            row[6] = chosen['duration_us'] - statistics.median(lengths[s] for s in others)
            row[9] = statistics.median(of_steps[s][1] if s in of_steps else 0 for s in others)
        want[key] = row
    got = run.ask('SELECT plane_kind, name, in_group, short_name, steps, avg_us, stddev_us, '
                  'variance_percent, step, over_median_us, occurrences, self_us, median_us, '
                  'other_steps FROM step_op_spread({x}, %s)' % argument)
    agree('step_op_spread of %s' % argument,
          {tuple(r.values())[:3]: list(r.values())[3:] for r in got}, want, rel=1e-6, abs_tol=1e-6)


# ---- the queries ----

def slow_step_ops(run, by_op, steps, chosen, argument):
    others = [s['step'] for s in steps if not s['dropped'] and s['step'] != chosen['step']]
    lengths = [s['duration_us'] for s in steps if s['step'] in others]
    want = {}
    for key, of_steps in by_op.items():
        n, own = of_steps[chosen['step']][:2] if chosen['step'] in of_steps else (0, 0)
        median = statistics.median(of_steps[s][1] if s in of_steps else 0
                                   for s in others) if others else None
        if n or median:
            want[key] = [chosen['step'], chosen['duration_us'] - statistics.median(lengths)
                         if others else None, n, own, median, own - median if others else None,
                         sum(s in of_steps for s in others)]
    got = run.ask('SELECT plane_kind, name, in_group, step, over_median_us, occurrences, self_us, '
                  'median_us, difference_us, other_steps '
                  'FROM slow_step_ops({x}, %s, NULL)' % argument)
    agree('slow_step_ops of %s' % argument,
          {tuple(r.values())[:3]: list(r.values())[3:] for r in got}, want, abs_tol=1e-6)
    order = [(-r['in_group'], -(r['difference_us'] if others else r['self_us'])) for r in got]
    agree('order of slow_step_ops', order, sorted(order))


def step_variance(run, by_op, steps):
    lengths = {s['step']: s['duration_us'] for s in steps if not s['dropped']}
    got = run.ask('SELECT plane_kind, name, in_group, steps, avg_us, stddev_us, variance_percent '
                  'FROM step_variance({x}, NULL)')
    if len(lengths) < 2 or min(lengths.values()) == max(lengths.values()):
        return agree('step_variance', got, [])
    mean, want = statistics.fmean(lengths.values()), {}
    squares = sum((x - mean)**2 for x in lengths.values())
    for key, of_steps in by_op.items():
        times = {s: of_steps[s][1] if s in of_steps else 0 for s in lengths}
        n, own = sum(s in of_steps for s in lengths), statistics.fmean(times.values())
        if n:
            share = 100 * sum((times[s] - own) * (lengths[s] - mean) for s in lengths) / squares
            want[key] = [n, own, statistics.stdev(times.values()), share]
    rest = 100 - sum(row[3] for row in want.values())
    want[None, None, None] = [len(lengths), mean, statistics.stdev(lengths.values()), rest]
    agree('step_variance', {tuple(r.values())[:3]: list(r.values())[3:] for r in got}, want,
          rel=1e-6, abs_tol=1e-6)
    order = [(r['name'] is None, -(r['in_group'] or 0), -r['variance_percent']) for r in got]
    agree('order of step_variance', order, sorted(order))


def check(run):
    events = Events(run)
    op_percentiles(run, events)
    by_op = step_ops(run, events)
    steps = run.ask('SELECT step, duration_us, dropped FROM steps({x})')
    if steps:
        longest = max(steps, key=lambda s: (s['duration_us'], -s['step']))
        step_op_spread(run, by_op, steps, longest, 'NULL')
        step_op_spread(run, by_op, steps, steps[-1], steps[-1]['step'])
        step_op_spread(run, by_op, steps, None, 1 + max(s['step'] for s in steps))
        slow_step_ops(run, by_op, steps, longest, 'NULL')
        slow_step_ops(run, by_op, steps, steps[0], steps[0]['step'])
        step_variance(run, by_op, steps)


def each(run):
    tried('step_ops ' + run.path, check, run)


if __name__ == '__main__':
    main(each)
