# SPDX-License-Identifier: Apache-2.0
"""Traces that `profsql export --format perfetto|chrome` writes, read again by tests/lib/perfetto.py
and compared with the table timeline: events, times, nesting, flows, counters and arguments."""
import collections
import json
import os
import random
import re

from lib import perfetto
from lib.cases import Skip, case, must, same
from lib.shell import DIR, put
from lib.wire import Plane, event, line, space
from command.profsql import GPU, interrupted, run, shell

HOSTILE = '</script><img src=x onerror=alert(1)>"\\\n\x01\u2028 ünï'
PROFILES = [GPU] + ['tests/data/' + name for name in (
    'tpu_train_54', 'tf_fit_input_bound', 'jax_two_hosts', 'multi_host_111', 'threads_odd',
    'events_odd', 'edge_names', 'edge_nested', 'edge_timestamp_extreme',
    'edge_unfinished', 'edge_aggregated', 'edge_stat_types', 'perf_counters_odd', 'edge_empty')]


def hash_of(number):
    x = number ^ number >> 32
    x = x * 0xd6e8feb86659fd93 & (1 << 64) - 1
    return x ^ x >> 32


def rows(sql, source):
    """Rows of a query of a source, which it names :s."""
    return shell(sql.replace(':s', "'%s'" % source.replace("'", "''")))


class Expected:
    """What a trace of a source has to have."""

    def __init__(self, source, where='1'):
        hosts = rows('SELECT host, start_unix_ns FROM hosts(:s)', source)
        unix = [h['start_unix_ns'] for h in hosts]
        first = min(unix) if unix and None not in unix else None
        if first is not None and max(unix) - first > 366 * 86400 * 10**9:
            first = None
        shift = trace_shift(source)
        self.unix = first - shift if first is not None and first >= shift else None
        self.number = {h['host']: i for i, h in enumerate(hosts)}
        self.several = len(hosts) > 1
        self.ns = {h['host']: shift + (h['start_unix_ns'] - first if first is not None else 0)
                   for h in hosts}
        self.slices, self.counters = [], []
        for row in rows('SELECT host, plane, line, shown_name, start_ps, duration_ps, flow_in, '
                        'flow_out, counter_value, args FROM timeline(:s) WHERE ' + where, source):
            self.add(row)

    def add(self, row):
        host, ns = row['host'], self.ns[row['host']]
        process = '%s %s' % (host, row['plane']) if self.several else row['plane']
        start = max(row['start_ps'] + ns * 1000, 0)
        end = max(min(row['start_ps'] + max(row['duration_ps'], 0), 2**63 - 1) + ns * 1000, 0)
        if re.fullmatch(r'-?[0-9.e+-]+', str(row['counter_value'])):
            self.counters.append((process, row['shown_name'], start, row['counter_value']))
            return
        mask = hash_of(self.number[host]) if self.number[host] else 0
        flows = [(kind, row[name] ^ mask) for kind, name in (('s', 'flow_out'), ('f', 'flow_in'))
                 if row[name] is not None]
        self.slices.append({
            'process': process, 'line': row['line'], 'name': row['shown_name'], 'start': start,
            'end': end, 'duration': max(row['duration_ps'], 0), 'flows': flows,
            'args': {k: v for k, v in json.loads(row['args']).items()}})


def keys(slices, expected, chrome):
    """What is compared of a slice."""
    out = []
    for s in slices:
        args = tuple(sorted((k, perfetto.shown(v)) for k, v in s['args'].items()))
        if not expected:
            times, flows = (s['start'], s['duration']), s['flows']
        elif chrome:
            times, flows = (s['start'], s['duration']), s['flows']
        else:
            times = s['start'] // 1000, s['end'] // 1000 - s['start'] // 1000
            flows = {i for _, i in s['flows']}
        out.append((s['process'], s['line'], s['name'], times, tuple(sorted(flows)), args))
    return collections.Counter(out)


def export(source, kind, *words):
    out = os.path.join(DIR, 'trace.' + kind)
    run('export', source, out, '--format', kind, '--force', '--quiet', *words)
    with open(out, 'rb') as f:
        return getattr(perfetto, kind)(f.read())


def equal(got, want, what):
    if got == want:
        return
    missing, more = list((want - got).items())[:2], list((got - want).items())[:2]
    must(not missing and not more, '%s: missing %s, too many %s' % (what, missing, more))


def compare(source, where='1', words=()):
    want = Expected(source, where)
    for kind in ('perfetto', 'chrome'):
        what = '%s of %s' % (kind, source)
        trace = export(source, kind, *words)
        equal(keys(trace.slices, False, kind == 'chrome'),
              keys(want.slices, True, kind == 'chrome'), what)
        per = 1000 if kind == 'perfetto' else 1
        equal(collections.Counter((p, n, t, float(v)) for p, n, t, v in trace.counters),
              collections.Counter((p, n, t // per, float(v)) for p, n, t, v in want.counters),
              'counters in ' + what)
        same(trace.clocks.get(1 if kind == 'perfetto' else 'start_unix_ns'),
             want.unix if kind == 'perfetto' or want.unix is None else str(want.unix), what)
    return want, trace


@case
def traces_have_the_timeline():
    """Each event of timeline is in both traces, once, with its times, flows and arguments, and
    nothing else is; values of counters too."""
    n_flows = 0
    for source in PROFILES:
        want, _ = compare(source)
        n_flows += sum(len(s['flows']) for s in want.slices)
    must(n_flows > 1000, 'too little to compare: %d flows' % n_flows)


@case
def slices_nest_as_in_the_table():
    """The depth of a slice among those of its row is that of timeline, on lines whose events are
    all drawn and nest."""
    n = 0
    for source in (GPU, 'tests/data/tpu_train_54', 'tests/data/tf_fit_input_bound',
                   'tests/data/edge_nested'):
        trace = export(source, 'perfetto')
        wanted = rows(
            "WITH t AS MATERIALIZED (SELECT plane, line, line_id, shown_name, start_ps, "
            "duration_ps, depth FROM timeline(:s)) SELECT plane, line, shown_name, start_ps, depth "
            "FROM t WHERE line_id IN (SELECT line_id FROM lines(:s) l WHERE event_count = "
            "(SELECT count(*) FROM t WHERE t.line_id = l.line_id)) AND NOT EXISTS (SELECT 1 FROM t "
            "d WHERE d.plane = t.plane AND d.line = t.line AND (d.duration_ps <= 1000 "
            "OR d.line_id IS NOT t.line_id))", source)
        by_line = collections.defaultdict(collections.Counter)
        for s in trace.slices:
            by_line[s['process'], s['line']][s['name'], s['start'], s['depth']] += 1
        shift = trace_shift(source)
        want = collections.defaultdict(collections.Counter)
        for r in wanted:
            want[r['plane'], r['line']][
                r['shown_name'], r['start_ps'] // 1000 + shift, r['depth']] += 1
        for line, depths in want.items():
            tracks = {s['track'] for s in trace.slices if (s['process'], s['line']) == line}
            if len(tracks) == 1:
                equal(by_line[line], depths, '%s of %s' % (line, source))
                n += sum(depths.values())
    must(n > 500, 'only %d events compared' % n)


def trace_shift(source):
    first = rows('SELECT min(start_ps) AS first FROM trace_events(:s)', source)[0]['first']
    return max(0, -((first or 0) // 1000))


def odd_profile():
    """Names that could break a file, overlapping events, times in no order, counters."""
    rnd = random.Random(7)
    host = Plane('/host:CPU', 1)
    events = [(HOSTILE, 1000 * rnd.randrange(0, 5000), 1000 * rnd.randrange(0, 900),
               {HOSTILE: {'str': HOSTILE}, 'n': {'int64': -2**62}, 'u': {'uint64': 2**63 + 5},
                'd': {'double': 0.1}, 'r': {'ref': 'a text that stats refer to'}})
              for _ in range(300)]
    host.line(1, 'unordered ' + HOSTILE, events)
    host.line(2, 'same', [('outer', 0, 10**9), ('inner', 0, 10**9), ('inner', 10**9, 0),
                          ('crosses', 5 * 10**8, 10**9)], timestamp_ns=-50)
    host.line(3, 'same', [('a', 10, 5)])
    gpu = Plane('/device:GPU:0', 2)
    gpu.line(7, '_counters_', [('power ' + HOSTILE, 1000 * i, 0, {'w': {'double': i / 3}})
                               for i in range(20)] + [('n', 5000, 0, {'w': {'uint64': 2**63}}),
                                                      ('text', 1, 0, {'w': {'str': 'x'}})])
    gpu.line(8, 'Stream #8(Kernel)', [('k', 2000, 1000, {'correlation_id': {'uint64': 5}})])
    return put('odd.xplane.pb', space(host.bytes(), gpu.bytes()))


@case
def odd_names_and_times():
    """Names with markup and control characters, overlapping and unordered events, lines of one
    name, integers that JSON cannot hold."""
    want, trace = compare(odd_profile())
    same(len(want.counters), 21)
    must(any(HOSTILE in s['args'] for s in trace.slices), 'no hostile argument')


@case
def long_traces():
    """A trace of four parts, which threads format: two of their ends are among nested slices, whose
    texts go on, and one is among counters."""
    host = Plane('/host:CPU', 1)
    host.line(1, 'outer', [('all', 0, 10**12)] + [
        ('name %d' % (i % 300), 10**7 * i, 10**6 * (i % 12),
         {'n': {'int64': i}, 'text': {'str': 'value %d' % (i % 7)}}) for i in range(68000)])
    rnd = random.Random(5)
    host.line(2, 'unordered', [('e', 10**7 * rnd.randrange(9000), 10**6) for _ in range(5000)])
    gpu = Plane('/device:GPU:0', 2)
    gpu.line(7, '_counters_', [('power', 10**7 * i, 0, {'w': {'uint64': i}}) for i in range(55000)])
    want, _ = compare(put('long.xplane.pb', space(host.bytes(), gpu.bytes())))
    same((len(want.slices), len(want.counters)), (73001, 55000))


@case
def more_lanes_than_there_are():
    """64 of 100 overlapping events have their own row; the others end early, and a note says so."""
    host = Plane('/host:CPU', 1)
    host.line(1, 't', [('e', 1000000 * i, 10**9) for i in range(100)])
    source, out = put('lanes.xplane.pb', space(host.bytes())), os.path.join(DIR, 'lanes.json')
    _, notes = run('export', source, out, '--format', 'chrome')
    must('36 events end early' in notes, notes)
    with open(out, 'rb') as f:
        trace = perfetto.chrome(f.read())
    same(len(trace.slices), 100)
    same(len({s['track'] for s in trace.slices}), 64)
    same(sum(s['duration'] == 10**9 for s in trace.slices), 64)


@case
def perfetto_reads_it():
    """Perfetto's own trace processor counts the same slices, and the same time in them."""
    try:
        from perfetto.trace_processor import TraceProcessor
        viewer = TraceProcessor
        viewer().close()
    except Exception as error:  # neither the package nor the program that it downloads is ours
        raise Skip("needs PyPI's perfetto and its trace_processor_shell: %s"
                   % type(error).__name__) from None
    for source in (GPU, 'tests/data/tf_fit_input_bound', odd_profile()):
        trace = export(source, 'perfetto')
        with viewer(trace=os.path.join(DIR, 'trace.perfetto')) as reader:
            got = next(iter(reader.query('SELECT count(*) AS n, sum(dur) AS ns FROM slice')))
            same((got.n, got.ns), (len(trace.slices), sum(s['duration'] for s in trace.slices)))
            got = next(iter(reader.query('SELECT count(*) AS n FROM counter')))
            same(got.n, len(trace.counters))
            got = next(iter(reader.query("SELECT sum(value) AS n FROM stats WHERE severity = "
                                         "'error' OR severity = 'data_loss'")))
            same(got.n, 0, 'problems')


@case
def parts_of_a_trace():
    """--from, --to and --lines choose events; times have units."""
    low, high = 2 * 10**9, 4 * 10**9
    compare(GPU, 'start_ps <= %d AND start_ps + duration_ps >= %d' % (high, low),
            ('--from', '2ms', '--to', '4000'))
    compare(GPU, "line GLOB 'Stream*' OR plane = '/host:CPU'", ('--lines', 'Stream*,/host:CPU'))
    compare(GPU, "plane GLOB '*GPU:0' AND line = 'Steps'", ('--lines', '*GPU:0/Steps'))
    _, notes = run('export', GPU, os.path.join(DIR, 'none.json'), '--format', 'chrome', '--lines',
                   'no such line')
    must("no line has the name 'no such line': profsql" in notes, notes)


@case
def lines_of_a_trace():
    """Names that `lines` lists, which may have commas and brackets, one or several; each item that
    is no line is named."""
    copies, compute = 'Stream #53(MemcpyD2H,MemcpyD2D,Memset)', 'Stream #20(Compute)'
    for names in ([copies], [copies, compute], [compute, copies]):
        compare(GPU, ' OR '.join("line = '%s'" % name for name in names),
                ('--lines', ','.join(names)))
    odd = put('names.xplane.pb', space(Plane('/host:CPU').line(1, 'a[1],b', [('e', 0, 9)]).line(
        2, 'a', [('f', 0, 9)]).bytes()))
    compare(odd, "line = 'a[1],b'", ('--lines', 'a[1],b'))
    out = os.path.join(DIR, 'lines.json')
    for source, words, said in (
            (GPU, ['--lines', 'Stream*,nosuch*,/host:*,no'],
             ["no line has the name 'nosuch*': ", "no line has the name 'no': "]),
            (GPU, ['--lines', copies], []),
            (GPU, ['--lines', copies + ',', '--to', '1ns'],
             ["no line has the name '': ", 'no event of such lines is in this time']),
            ('tests/data/edge_empty', [], ['the run has no event']),
            ('tests/data/edge_empty', ['--to', '3'], ['the run has no event'])):
        _, notes = run('export', source, out, '--format', 'chrome', '--force', *words)
        found = [line for line in notes.splitlines() if ': wrote' not in line]
        same(len(found), len(said), notes)
        must(all(text in line for text, line in zip(said, found)), notes)
    many = ','.join('no%d' % i for i in range(3000))
    _, notes = run('export', GPU, '-', '-f', 'chrome', '--lines', many)
    same(notes.count('no line has the name'), 3000, 'each is reported')


@case
def refused_traces():
    """Errors name wrong arguments, and no file is left."""
    out = os.path.join(DIR, 'refused.json')
    for words, text in (
            (('--format', 'chrome', '--from', 'soon'), '--from cannot be'),
            (('--format', 'chrome', '--tables', 'kpi'), 'does not take --tables'),
            (('--from', '3'), 'add --format perfetto'), (('--format', 'csv'), 'does not take')):
        _, error = run('export', GPU, out, *words, status=2)
        must(text in error, error)
    _, error = run(GPU, 'kpi', '--format', 'perfetto', status=2)
    must('kpi does not take --format perfetto or chrome' in error, error)
    _, error = run('export', GPU, GPU, out, '--format', 'chrome', status=2)
    must('a trace is of one run' in error, error)
    must(not os.path.exists(out), 'a file was left')
    _, error = run('export', GPU, '-', '--format', 'perfetto', stdout=open('/dev/full', 'w'),
                   status=1, stderr=-1)
    must('cannot be written' in error, error)


@case
def ctrl_c_ends_a_trace():
    plane = Plane('/host:CPU', 1)
    plane.lines.append(line(1, 't', [event(plane.meta('e'), 1, 0)] * 2000000))
    source = put('many.xplane.pb', space(plane.bytes()))
    out = os.path.join(DIR, 'many.pftrace')
    run('export', source, out, '--format', 'perfetto')
    part = interrupted('export', source, '-', '--format', 'perfetto')
    must(len(part) < os.path.getsize(out), 'the whole trace came after Ctrl-C')


@case
def memory_of_a_trace():
    """The trace goes out as it is made: to standard output as to a file."""
    out, _ = run('export', GPU, '-', '--format', 'chrome')
    export(GPU, 'chrome')
    with open(os.path.join(DIR, 'trace.chrome')) as f:
        same(out, f.read())
