#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""How devices spend their time: device_time, async_ops, async_op_totals and exposed_communication
from the bytes of each profile, as docs/semantics.md defines them.

Every start and end is a moment. Between two moments nothing changes: what runs then is kept in
counters and heaps."""
import bisect
import collections
import functools
import heapq
import math
import re
import sys

sys.dont_write_bytecode = True
from compare import agree, agree_one_of, main, numbered, tried  # noqa: E402

COMPUTE, COLLECTIVE, TRANSFER = 'compute', 'collective', 'transfer'
NOT_STREAMS = {'Steps', 'Sparse Core Steps', 'XLA Modules', 'Sparse Core Modules', 'XLA Ops',
               'Sparse Core Ops', 'Async XLA Ops', 'Framework Name Scope',
               'TensorFlow Name Scope', 'Framework Ops', 'TensorFlow Ops', 'Source code',
               'Launch Stats', '_counters_'}
DEVICES = ('gpu', 'tensorcore', 'sparsecore')
BYTES = {name: -(-bits // 8) for name, bits in {
    'pred': 8, **{'%s%d' % (t, n): n for t in 'su' for n in (1, 2, 4, 8, 16, 32, 64)}, 'f16': 16,
    'bf16': 16, 'f32': 32, 'f64': 64, 'c64': 64, 'c128': 128, 'f8e5m2': 8, 'f8e4m3fn': 8,
    'f8e4m3': 8, 'f8e3m4': 8, 'f8e4m3b11fnuz': 8, 'f8e5m2fnuz': 8, 'f8e4m3fnuz': 8,
    'f8e8m0fnu': 8, 'f4e2m1fn': 4}.items()}


# ---- words ----

@functools.lru_cache(maxsize=1 << 14)
def opcode(text):
    """Of '%name = SHAPE opcode(...)'."""
    _, equals, rest = text.partition(' = ')
    while equals:
        before = rest
        rest = re.sub(r'\([^()]*\)|\[[^][]*\]|\{[^{}]*\}', lambda m: '_' * len(m.group()), rest)
        if rest == before:
            found = re.match(r'\S+ ([^ (_]+)[(_]', rest)
            return found.group(1) if found else ''
    return ''


def op_name(event_or_meta):
    meta = getattr(event_or_meta, 'meta', event_or_meta)
    return meta.display or meta.name.removeprefix('ROOT ').partition(' = ')[0].removeprefix('%')


def array_bytes(text):
    """Of all arrays in a text of HLO, without padding."""
    return sum(BYTES[name] * math.prod(int(d.lstrip('<=')) for d in sizes.split(',') if d)
               for name, sizes in re.findall(r'\b([a-z]+[0-9]+\w*|pred)\[([0-9,<=]*)\]', text)
               if name in BYTES)


def given_and_got(text):
    """Bytes of the operands and of the result in '%name = SHAPE opcode(OPERANDS), ...'."""
    _, equals, rest = text.partition(' = ')
    code = opcode(text)
    before, bracket, after = rest.partition(' %s(' % code) if code else ('', '', '')
    if not equals or not bracket:
        return None, None
    depth, end = 1, len(after)
    for i, c in enumerate(after):
        depth += (c == '(') - (c == ')')
        if not depth:
            end = i
            break
    return array_bytes(after[:end]), array_bytes(before)


def kind_of_op(meta):
    category, code = meta.stats.get('hlo_category', ''), opcode(meta.name)
    category = category if isinstance(category, str) else ''
    words = [w for w in (category, code) if w]
    if category.startswith('host ') or 'is_host_transfer=true' in meta.name:
        return TRANSFER
    if not words or any(w.startswith('async-') for w in words):
        words.append(op_name(meta).partition('.')[0])
    if any(re.match('all-reduce|all-gather|reduce-scatter|all-to-all|ragged-all-to-all|collective-|'
                    'async-collective-|(send|send-done|recv|recv-done|megacore fusion)$', w)
           for w in words):
        return COLLECTIVE
    return TRANSFER if any(re.search('-start$|-done$|async-update$|^async-|^host send|^host '
                                     'recv|infeed|outfeed', w) for w in words) else COMPUTE


def kind_of_stream_event(name, has_details):
    if re.match('nccl|rccl', name, re.I):
        return COLLECTIVE
    copy = re.match('memcpy|memset|__amd_rocclr_copy|__amd_rocclr_fill', name,
                    re.I) or (name.startswith('Copy') and 'To' in name) or name.startswith(
                        'Unified memory') or name in ('GPU page faults', 'Thrashing', 'Throttling',
                                                      'Remote map')
    return TRANSFER if copy or has_details else COMPUTE


# ---- work ----

def ends(e):
    return e.start_ps + max(e.duration_ps, 0)


def work_lines(plane):
    if plane.kind == 'gpu':
        return [l for l in plane.lines if not l.derived and l.name not in NOT_STREAMS]
    return [l for l in plane.lines if not l.derived and l.name in ('XLA Ops', 'Sparse Core Ops')]


def own_times(line):
    return [e for e in line.events if e.occurrences is None]


def innermost(events):
    """[(start, end, event)] in which an event is the innermost: at each moment the best of a heap
    of those that run."""
    moments = sorted({m for e in events for m in (e.start_ps, ends(e))})
    order = sorted(range(len(events)), key=lambda i: events[i].start_ps)
    heap, found, following = [], [], 0
    for moment, until in zip(moments, moments[1:]):
        while following < len(order) and events[order[following]].start_ps <= moment:
            i = order[following]
            heapq.heappush(heap, (-events[i].start_ps, ends(events[i]), -i))
            following += 1
        while heap and heap[0][1] <= moment:
            heapq.heappop(heap)
        if heap:
            found.append((moment, until, events[-heap[0][2]]))
    return found


class Device:
    def __init__(self, host, place, plane):
        self.host, self.place, self.plane, self.kind = host, place, plane, plane.kind
        self.events = [e for l in work_lines(plane) for e in own_times(l)]
        detailed = {id(e.meta) for e in self.events if self.kind == 'gpu'
                    and any(k == 'memcpy_details' for k in e.stats)}
        kinds = {}

        def kind(e):
            key = id(e.meta)
            if key not in kinds:
                kinds[key] = kind_of_stream_event(
                    e.name, id(e.meta) in detailed) if self.kind == 'gpu' else kind_of_op(e.meta)
            return kinds[key]
        self.kind_of, self.computes, self.computed = kind, None, None
        self.pieces = [(s, t, e) for l in work_lines(plane) for s, t, e in (
            [(e.start_ps, ends(e), e) for e in own_times(l)] if self.kind == 'gpu'
            else innermost(own_times(l)))]
        self.asynchronous = self.pairs() if self.kind != 'gpu' else [(e, e) for e in self.events
                                                                     if kind(e) != COMPUTE]

    # ---- asynchronous ops ----

    def started_by(self, e):
        """The name of the start that a done names; None: it is no done."""
        in_text = re.search(r'-done\([^%]*%([^,) ]*)', e.name)
        name = op_name(e)
        if in_text and in_text.group(1):
            return in_text.group(1)
        if '-done' not in name:
            return None
        before, _, after = name.partition('-done')
        return before + ('' if before in ('send', 'recv') else '-start') + after

    def pairs(self):
        """[(start, done or None)]; spans of the line of asynchronous ops are (event, event)."""
        metas = {id(m): m for m in self.plane.metas.values()}
        waits_for = {key: self.started_by(m) for key, m in ((k, _Of(m)) for k, m in metas.items())
                     if kind_of_op(m.meta) != COMPUTE}
        named = {name for name in waits_for.values() if name}
        programs = sorted(e.start_ps for l in self.plane.lines if not l.derived
                          and l.name in ('XLA Modules', 'Sparse Core Modules') for e in l.events)
        found = []
        for line in work_lines(self.plane):
            of_line = []
            for e in own_times(line):
                if self.kind_of(e) == COMPUTE:
                    continue
                done_of, name = waits_for.get(id(e.meta)), op_name(e)
                if done_of:
                    of_line.append((e.start_ps, 1, len(of_line), done_of, e))
                elif '-start' in name or name in named:
                    of_line.append((e.start_ps, 0, len(of_line), name, e))
            open_starts = collections.defaultdict(list)
            for at, is_done, _, name, e in sorted(of_line, key=lambda x: x[:3]):
                run = bisect.bisect_right(programs, at)
                if not is_done:
                    open_starts[name].append((run, e))
                    continue
                here = open_starts[name]
                found.extend((start, None) for of_run, start in here if of_run < run)
                here[:] = [x for x in here if x[0] >= run]
                if here:
                    found.append((here.pop(0)[1], e))
            found.extend((start, None) for here in open_starts.values() for _, start in here)
        for line in (l for l in self.plane.lines if not l.derived and l.name == 'Async XLA Ops'):
            known = list(found)
            for e in own_times(line):
                name = e.name.removeprefix('ROOT ').partition(' = ')[0].removeprefix('%')
                same = [(s.start_ps, d is None, i) for i, (s, d) in enumerate(known)
                        if self.op(s, d) == name and s.start_ps <= e.start_ps]
                at = max(same)[2] if same else None
                if at is not None and known[at][1] is None:
                    found[at] = (known[at][0], _Span(e))
                elif at is None or e.start_ps > ends(known[at][1]):
                    found.append((e, e))
        return found

    def op(self, start, done):
        if start is done and self.kind != 'gpu':
            return start.name.removeprefix('ROOT ').partition(' = ')[0].removeprefix('%')
        return start.name if self.kind == 'gpu' else op_name(start)

    # ---- answers ----

    def times(self, span):
        """Counts at each moment how much of each kind runs."""
        first, last = min(e.start_ps for e in self.events), max(map(ends, self.events))
        changes = collections.defaultdict(collections.Counter)

        def runs_in(start, end, *whats):
            if start < end:
                for what in whats:
                    changes[start][what] += 1
                    changes[end][what] -= 1
        for start, end, e in self.pieces:
            runs_in(start, end, 'busy', self.kind_of(e))
        if self.kind != 'gpu':
            for start, done in self.asynchronous:
                if done:
                    runs_in(max(start.start_ps, first), min(ends(done), last),
                            COLLECTIVE if self.kind_of(start) == COLLECTIVE else TRANSFER)
        sums, running, since = collections.Counter(), collections.Counter(), 0
        for moment in sorted(changes):
            for what in [w for w, n in running.items() if n]:
                sums[what] += moment - since
                if what in (COLLECTIVE, TRANSFER) and not running[COMPUTE]:
                    sums['exposed ' + what] += moment - since
            if (running[COLLECTIVE] or running[TRANSFER]) and not running[COMPUTE]:
                sums['exposed'] += moment - since
            running.update(changes[moment])
            since = moment
        return dict(span_ps=span, busy_ps=sums['busy'], idle_ps=span - sums['busy'],
                    computing_ps=sums[COMPUTE], communicating_ps=sums[COLLECTIVE],
                    exposed_communication_ps=sums['exposed ' + COLLECTIVE],
                    transferring_ps=sums[TRANSFER], exposed_transfer_ps=sums['exposed ' + TRANSFER],
                    exposed_ps=sums['exposed'])

    def hidden(self, start, end):
        """How long the device computes between two moments."""
        if self.computes is None:
            self.computes = []
            for first, last, e in sorted((p for p in self.pieces if self.kind_of(p[2]) == COMPUTE),
                                         key=lambda p: p[:2]):
                if self.computes and first <= self.computes[-1][1]:
                    self.computes[-1][1] = max(self.computes[-1][1], last)
                else:
                    self.computes.append([first, last])
            self.compute_ends = [last for _, last in self.computes]
        at, sum_ps = bisect.bisect_right(self.compute_ends, start), 0
        while at < len(self.computes) and self.computes[at][0] < end:
            sum_ps += min(self.computes[at][1], end) - max(self.computes[at][0], start)
            at += 1
        return sum_ps

    def spans(self):
        """(op, kind, start, duration, hidden) of each asynchronous op."""
        found = []
        for start, done in self.asynchronous:
            kind = COLLECTIVE if self.kind_of(start) == COLLECTIVE else TRANSFER
            duration = max(ends(done) - start.start_ps, 0) if done else None
            found.append((self.op(start, done), kind, start.start_ps, duration,
                          self.hidden(start.start_ps, ends(done)) if done else None))
        return found

    def lane(self):
        """[(start, end, name)] of compute ops, of several at once the one that started first."""
        if self.computed is None:
            self.computed, until = [], None
            for first, last, e in sorted((p for p in self.pieces if self.kind_of(p[2]) == COMPUTE),
                                         key=lambda p: p[:2]):
                first = first if until is None else max(first, until)
                if last > first:
                    self.computed.append((first, last, e.short_name if self.kind == 'gpu'
                                          else op_name(e)))
                    until = last
        return self.computed

    def overlaps(self, start, end):
        """[(how long a compute op runs without a break between two moments, its name)]"""
        lane = self.lane()
        at, found = bisect.bisect_right(lane, start, key=lambda x: x[1]), []
        while at < len(lane) and lane[at][0] < end and start < end:
            found.append((min(lane[at][1], end) - max(lane[at][0], start), lane[at][2]))
            at += 1
        return found

    def category(self, start):
        if self.kind != 'gpu':
            return text_or_none(start.stats.get('hlo_category'))
        return 'collective' if self.kind_of(start) == COLLECTIVE else 'memset' if re.match(
            'memset|__amd_rocclr_fill', start.name, re.I) else 'copy'

    def bytes(self, start, done):
        """Payload: what a device gives to a collective, or a transfer brings."""
        if self.kind == 'gpu':
            details = text_or_none(start.stats.get('memcpy_details'))
            found = re.search(r'(?:^|[ ,])(?:size|num_bytes):([0-9]+)', details or '')
            return int(found.group(1)) if found else None
        if done is None:
            return None
        given, got = given_and_got(start.name)
        if self.kind_of(start) == COLLECTIVE:
            return given or got
        if done is not None and done is not start and not isinstance(done, _Span):
            return given_and_got(done.name)[1] or given
        return got if op_name(start).startswith('infeed') and got else given

    def details(self, ids):
        """What async_ops shows beside times of each asynchronous op, and of synchronous ones."""
        found = []
        for start, done, waits in [(s, d, 0) for s, d in self.asynchronous] + [
                (e, e, 1) for e in self.synchronous()]:
            separate = done is not None and done is not start and not isinstance(done, _Span)
            accessed = [e.meta.stats.get('bytes_accessed') for e in (start, done)
                        if e is not None and not isinstance(e, _Span)]
            found.append(dict(
                start_event_id=ids[id(start)], is_synchronous=waits,
                done_event_id=done and ids[id(getattr(done, 'event', done))],
                category=self.category(start),
                done_op=done and (op_name(done) if separate else self.op(start, done)),
                wait_ps=max(done.duration_ps, 0) if separate else None,
                bytes=self.bytes(start, done),
                bytes_accessed=max((x for x in accessed if isinstance(x, int)), default=0) or None))
        return found

    def synchronous(self):
        """Collectives and transfers of one event, which are no halves."""
        if self.kind == 'gpu':
            return []
        named = {name for name in (self.started_by(m) for m in map(_Of, self.plane.metas.values())
                                   if kind_of_op(m.meta) != COMPUTE) if name}
        return [e for e in self.events if self.kind_of(e) != COMPUTE and not self.started_by(e)
                and '-start' not in op_name(e) and op_name(e) not in named]


def text_or_none(value):
    return value if isinstance(value, str) and value else None


class _Of:
    """Metadata where an event is looked at by its metadata alone."""

    def __init__(self, meta):
        self.meta, self.name = meta, meta.name


class _Span:
    """The end of a start whose done is not in the file, as the line of asynchronous ops has it."""

    def __init__(self, e):
        self.start_ps, self.duration_ps, self.event = e.start_ps, e.duration_ps, e


def devices(run):
    found = []
    for host, planes in run.hosts.items():
        found += [Device(host, place, plane) for place, plane in enumerate(planes)
                  if plane.kind in DEVICES]
    return found


def details(run, mine):
    ids = {id(e): number for number, _, _, _, e in numbered(run)}
    got = {r['start_event_id']: r for r in run.ask('SELECT * FROM async_ops({x}, 1)')}
    for d in mine:
        for want in d.details(ids):
            r = got[want['start_event_id']]
            agree('async op %d' % want['start_event_id'], {k: r[k] for k in want}, want)
            if r['duration_ps'] is not None:
                of = d.overlaps(r['start_ps'], r['start_ps'] + r['duration_ps'])
                agree_one_of('what hides op %d' % want['start_event_id'], r['overlapped_by'],
                             [op for ps, op in of if ps == max(of)[0]] or [None])
            agree('exposed', r['exposed_ps'], None if r['duration_ps'] is None
                  else r['duration_ps'] - r['hidden_ps'])


def known(values):
    """Their sum; None: one of them is unknown."""
    values = list(values)
    return None if None in values else sum(values)


def totals(run):
    """From the rows of async_ops, which details() compares."""
    for with_synchronous in (0, 1):
        groups = collections.defaultdict(list)
        for r in run.ask('SELECT * FROM async_ops({x}, %d) WHERE done_event_id IS NOT NULL'
                         % with_synchronous):
            groups[tuple(r[k] for k in ('host', 'plane_id', 'plane', 'hlo_op', 'category', 'kind',
                                        'is_synchronous', 'overlapped_by', 'bytes'))].append(r)
        want = {key: [len(of)] + [sum(r[k] for r in of) for k in (
            'duration_ps', 'exposed_ps', 'hidden_ps')]
            + [sum(r['wait_ps'] or 0 for r in of) if any(r['wait_ps'] is not None for r in of)
               else None] for key, of in groups.items()}
        got = collections.defaultdict(list)
        for r in run.ask('SELECT host, plane_id, plane, hlo_op, category, kind, is_synchronous, '
                         'overlapped_by, bytes, occurrences, duration_ps, exposed_ps, hidden_ps, '
                         'wait_ps FROM async_op_totals({x}, %d)' % with_synchronous):
            got[tuple(list(r.values())[:9])].append(list(r.values())[9:])
        agree('async_op_totals', {key: [*map(sum, list(zip(*of))[:4]), None if all(
            x[4] is None for x in of) else sum(x[4] or 0 for x in of)] for key, of in got.items()},
            want)


def exposed_in_full(run):
    """What exposed_communication says beside times."""
    groups = collections.defaultdict(list)
    kinds = {r['plane_id']: r['kind'] for r in run.ask('SELECT * FROM planes({x})')}
    for r in run.ask('SELECT * FROM async_ops({x}, 1) WHERE done_event_id IS NOT NULL'):
        groups[kinds[r['plane_id']], r['hlo_op'], r['kind'], r['category'],
               r['is_synchronous']].append(r)
    for r in run.ask('SELECT * FROM exposed_communication({x})'):
        of = groups.pop(tuple(r[k] for k in ('device', 'op', 'kind', 'category', 'is_synchronous')))
        often = collections.Counter(x['overlapped_by'] for x in of
                                    if x['overlapped_by'] is not None)
        waits = [x['wait_ps'] for x in of if x['wait_ps'] is not None]
        agree('communication %s' % r, [r['bytes'], r['wait_us']],
              [known(x['bytes'] for x in of), sum(waits) / 1e6 if waits else None])
        agree_one_of('what hides %s' % r['op'], r['overlapped_by'],
                     [op for op, n in often.items() if n == max(often.values())] or [None])
        agree_one_of('category of %s' % r['op'], r['category'], [x['category'] for x in of])
    agree('rows of exposed_communication', list(groups), [])


def check(run):
    mine = devices(run)
    ranges = {}
    for d in mine:
        if d.events:
            start, end = ranges.get((d.host, d.kind),
                                    (min(e.start_ps for e in d.events), max(map(ends, d.events))))
            ranges[d.host, d.kind] = min(start, min(e.start_ps for e in d.events)), max(
                end, max(map(ends, d.events)))
    got = run.ask('SELECT * FROM device_time({x}) ORDER BY plane_id')
    agree('devices', [(r['host'], r['plane'], r['kind']) for r in got],
          [(d.host, d.plane.name, d.kind) for d in mine])
    others = any(d.events and d.kind != 'sparsecore' for d in mine)
    agree('main devices', [r['is_main'] for r in got],
          [int(d.kind != 'sparsecore' or not others) for d in mine])
    for row, d in zip(got, mine):
        if not d.events:
            agree('%s without work' % d.plane.name,
                  {v for k, v in row.items() if k.endswith(('_ps', '_percent'))}, {None})
            continue
        start, end = ranges[d.host, d.kind]
        want = d.times(end - start)
        agree('%s %s' % (d.host, d.plane.name), {k: row[k] for k in want}, want)
        share = {k[:-3] + '_percent': 100 * v / (end - start) if end > start else None
                 for k, v in want.items() if k != 'span_ps'}
        agree('%s %s' % (d.host, d.plane.name), {k: row[k] for k in share}, share)
    got = run.ask('SELECT host, plane, hlo_op, kind, start_ps, duration_ps, hidden_ps, exposed_ps '
                  'FROM async_ops({x})')
    want = sorted(((d.host, d.plane.name) + span for d in mine for span in d.spans()), key=repr)
    agree('async_ops',
          sorted((tuple(r[k] for k in ('host', 'plane', 'hlo_op', 'kind', 'start_ps', 'duration_ps',
                                       'hidden_ps')) for r in got), key=repr), want)
    details(run, mine)
    totals(run)
    exposed_in_full(run)
    exposed, parts, spans = (collections.Counter(), collections.defaultdict(lambda: [0, 0, 0]),
                             collections.Counter())
    for d in mine:
        if d.events:
            start, end = ranges[d.host, d.kind]
            spans[d.kind] += end - start
        of = [(op, kind, 0, duration, duration - hidden) for op, kind, _, duration, hidden
              in d.spans() if duration is not None]
        of += [(op_name(e), d.kind_of(e), int(d.kind != 'gpu'), ends(e) - e.start_ps,
                ends(e) - e.start_ps - d.hidden(e.start_ps, ends(e))) for e in d.synchronous()]
        for op, kind, waits, duration, ps in of:
            exposed[op, kind, waits] += ps
            part = parts[d.kind, op, kind, waits]
            part[0], part[1], part[2] = part[0] + 1, part[1] + duration, part[2] + ps
    got = run.ask('SELECT device, op, kind, is_synchronous, sum(occurrences) AS n, '
                  'sum(total_us) AS total, sum(exposed_us) AS us '
                  'FROM exposed_communication({x}) GROUP BY 1, 2, 3, 4')
    agree('exposed_communication',
          {tuple(r.values())[:4]: list(r.values())[4:] for r in got if r['us']},
          {k: [n, ps / 1e6, us / 1e6] for k, (n, ps, us) in parts.items() if us})
    for r in run.ask('SELECT * FROM exposed_communication({x})'):
        total, us, span = r['total_us'] + 0, r['exposed_us'] + 0, spans[r['device']] / 1e6
        agree('shares of %s' % r, [r['exposed_percent'], r['exposed_span_percent'],
                                   r['total_exposed_span_percent'], r['gibps']],
              [100 * us / total if total else None, 100 * us / span if span else None,
               100 * r['total_exposed_us'] / span if span else None,
               r['bytes'] / total * 1e6 / 2**30 if r['bytes'] is not None and total else None])
    shares = collections.defaultdict(lambda: [0, 0])
    for d in mine:
        if d.events:
            start, end = ranges[d.host, d.kind]
            times = d.times(end - start)
            for kind, ps in ((COLLECTIVE, times['exposed_communication_ps']),
                             (TRANSFER, times['exposed_transfer_ps']),
                             ('total', times['exposed_ps'])):
                for device, by_device in ((d.kind, 0), (d.host + '/' + d.plane.name, 1)):
                    of = shares[by_device, device, kind]
                    of[0], of[1] = of[0] + ps, of[1] + end - start
    for by_device in (0, 1):
        rows = run.ask('SELECT device, kind, kind_exposed_us, kind_exposed_span_percent, '
                       'total_exposed_us, sum(exposed_us) AS us '
                       'FROM exposed_communication({x}, %d) GROUP BY 1, 2' % by_device)
        for r in rows:
            ps, span = shares[by_device, r['device'], r['kind']]
            agree('exposed in total %s' % r, r['total_exposed_us'],
                  shares[by_device, r['device'], 'total'][0] / 1e6)
            agree('exposed at once %s' % r, [r['kind_exposed_us'], r['kind_exposed_span_percent']],
                  [ps / 1e6, 100 * ps / span if span else None])
        agree('by device', sum(r['us'] for r in rows), sum(exposed.values()) / 1e6, rel=1e-6)


def each(run):
    tried('device_time ' + run.path, check, run)


if __name__ == '__main__':
    main(each)
