#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""How long a run compiles, and in which parts of the compiler: compile_time, compiler_events and
compile_passes, from the rows of compilations and of trace_events on host threads."""
import collections
import os
import random
import re
import sys
import tempfile

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.dirname(HERE))
from compare import Run, agree, agree_one_of, main, seeds, tried  # noqa: E402
from lib.wire import Plane, space  # noqa: E402


def name_of(compilation):
    return compilation['function'] or compilation['hlo_module']


def covered_ps(intervals):
    """Length of the union: at each edge, how many intervals are open."""
    total, n_open, since = 0, 0, None
    for at, change in sorted([(a, 1) for a, b in intervals if b > a]
                             + [(b, -1) for a, b in intervals if b > a]):
        total += at - since if n_open else 0
        n_open, since = n_open + change, at
    return total


def known_sum(values):
    known = [x for x in values if x is not None]
    return sum(known) / 1e3 if known else None


def end(row):
    return row['start_ps'] + max(row['duration_ps'], 0)


def compile_time(run):
    compilations = run.ask('SELECT * FROM compilations({x})')
    by_host = collections.defaultdict(list)
    for c in compilations:
        by_host[c['host']].append(c)
    got = run.ask('SELECT * FROM compile_time({x})')
    agree('hosts', sorted(r['host'] for r in got), sorted(by_host))
    times = [r['elapsed_ms'] for r in got]
    agree('order of hosts', times, sorted(times, reverse=True))
    for r in got:
        of = by_host[r['host']]
        longest = max(c['duration_ps'] for c in of)
        want = {'run': of[0]['run'], 'host': r['host'], 'compilations': len(of),
                'elapsed_ms': covered_ps([(c['start_ps'], end(c)) for c in of]) / 1e9,
                'compiling_ms': sum(c['duration_ps'] for c in of) / 1e9,
                'tracing_ms': known_sum(c['tracing_us'] for c in of),
                'lowering_ms': known_sum(c['lowering_us'] for c in of),
                'in_steps': sum(c['step'] is not None for c in of), 'longest_ms': longest / 1e9}
        want['total_ms'] = want['compiling_ms'] + (want['tracing_ms'] or 0) + (
            want['lowering_ms'] or 0)
        agree_one_of('longest', r.pop('longest_function'),
                     [name_of(c) for c in of if c['duration_ps'] == longest])
        agree('compile_time %s' % r['host'], r, want)


def of_a_compiler(name):
    return bool(re.search(r'::Compile|Compiler::|Pass$|^XlaPass(Pipeline)?:#', name))


def pass_of(name):
    """Of XLA's markers of passes the name of the pass, of others the title."""
    found = re.match(r'XlaPass(?:Pipeline)?:#name=(.+?)(,module=|#|$)', name, re.S)
    title = re.match('(.+?):#', name, re.S)
    return (found or title).group(1) if found or title else name


def compiler_events(run, during):
    """During: (event, compilation, self time)"""
    want = collections.defaultdict(list)
    for e, c, own in during:
        want[e['host'], e['line_id'], e['name'], name_of(c)].append((e['duration_ps'], own))
    got = run.ask('SELECT host, line_id, name, function, occurrences, duration_ps, self_ps, '
                  'duration_us, self_us FROM compiler_events({x})')
    rows = []
    for key, of in want.items():
        duration, own = (sum(x) for x in zip(*of))
        rows.append(key + (len(of), duration, own, duration / 1e6, own / 1e6))
    agree('compiler_events', sorted((tuple(r.values()) for r in got), key=repr),
          sorted(rows, key=repr))


def compile_passes(run):
    compilations = run.ask('SELECT * FROM compilations({x})')
    events = run.ask("SELECT host, line_id, event_id, name, start_ps, duration_ps, parent_id "
                     "FROM trace_events({x}) WHERE plane_kind = 'host' AND NOT derived "
                     "AND occurrences IS NULL") if compilations else []
    nested, during, threads = collections.Counter(), [], set()
    for e in events:
        nested[e['parent_id']] += e['duration_ps']
        of = [c for c in compilations if c['host'] == e['host'] and c['start_ps'] <= e['start_ps']
              and end(e) <= end(c)]
        if of:
            during.append((e, max(of, key=lambda c: (c['start_ps'], c['event_id']))))
            if of_a_compiler(e['name']):
                threads.add(e['line_id'])
    compiler_events(run, [(e, c, e['duration_ps'] - nested[e['event_id']]) for e, c in during
                          if e['line_id'] in threads])
    passes = collections.defaultdict(list)
    for e, c in during:
        if e['line_id'] in threads:
            passes[pass_of(e['name'])].append((e, c, e['duration_ps'] - nested[e['event_id']]))
    everything = sum(own for of in passes.values() for _, _, own in of)
    got = run.ask('SELECT * FROM compile_passes({x})')
    agree('passes', sorted(r['pass'] for r in got), sorted(passes))
    for rank, r in enumerate(got, 1):
        of, by_function = passes[r['pass']], collections.Counter()
        own = sum(x for _, _, x in of)
        for _, c, x in of:
            by_function[name_of(c)] += x
        want = {'run': compilations[0]['run'], 'rank': rank, 'pass': r['pass'],
                'occurrences': len(of), 'self_ms': own / 1e9,
                'percent': 100 * own / everything if everything else None,
                'total_ms': sum(e['duration_ps'] for e, _, _ in of) / 1e9,
                'threads': len({e['line_id'] for e, _, _ in of})}
        agree_one_of('top function of %s' % r['pass'], r.pop('top_function'),
                     [f for f, x in by_function.items() if x == max(by_function.values())])
        agree('pass', r, want)
    times = [r['self_ms'] for r in got]
    agree('order', times, sorted(times, reverse=True))


# ---- random runs ----

PARTS = ['tf.function-graph_building',
         'GpuCompiler::RunBackend', 'XlaPass', 'SimplifierPass', 'Passage', 'MyCompiler', 'emit',
         'Tool::Compile', 'backend_compile', 'Tool::Compiled', 'llvm opt', 'trace_to_jaxpr_dynamic',
         'lower_sharding_computation', 'XlaPass:#name=fusion,module=jit_f,program_id=3#',
         'XlaPassPipeline:#name=fusion#', 'XlaPass:#module=f,name=x#', 'Thunk:#hlo_op=a.1#',
         'Thunk:#hlo_op=a.2,name=y#', 'XlaPassPipeline:#name=layout assignment,v=1,module=f']


def nested(dice, events, start, end, depth):
    """Events between two times, in each of which are others."""
    at = start
    while at < end and dice.randint(0, 3):
        first = at + dice.randint(0, 4) * 10**5
        last = min(end, first + dice.randint(0, 9) * 10**6 // depth)
        if first <= last:
            events.append((dice.choice(PARTS), first, last - first))
            if depth < 4:
                nested(dice, events, first, last, depth + 1)
        at = last + 10**5


def thread(dice, plane, number):
    events, at = [], dice.randint(0, 5) * 10**6
    for i in range(dice.randint(0, 4)):
        length = dice.randint(1, 20) * 10**6
        if dice.randint(0, 2):
            events.append(('PjitFunction(%s)' % dice.choice('fgh'), at, length))
        nested(dice, events, at, at + length, 1)
        if dice.randint(0, 2) == 0:
            events.append(('train', at, length, {'step_num': {'int64': i}, '_r': {'int64': 1}}))
        at += length + dice.randint(0, 3) * 10**6
    plane.line(number, 'thread %d' % number, sorted(events, key=lambda e: (e[1], -e[2])))


def random_run(dice, folder):
    os.makedirs(folder)
    files = [os.path.join(folder, 'host%d.xplane.pb' % i) for i in range(dice.randint(1, 2))]
    for path in files:
        plane = Plane('/host:CPU')
        for number in range(1, dice.randint(2, 4)):
            thread(dice, plane, number)
        with open(path, 'wb') as f:
            f.write(space(plane.bytes()))
    return Run(folder, files)


def each(run):
    for check in (compile_time, compile_passes):
        tried('%s %s' % (check.__name__, run.path), check, run)


def made():
    with tempfile.TemporaryDirectory() as top:
        for seed in seeds(40):
            each(random_run(random.Random(seed), os.path.join(top, 'plugins/profile/%d' % seed)))


if __name__ == '__main__':
    main(each, made)
