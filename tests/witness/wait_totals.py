#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Waits for a device on each host thread: wait_totals, from the bytes of each profile.

Each wait is compared with every other wait of its thread. Random threads have a coarse grid of
time, so waits start together, or when another one ends, and names of all causes."""
import collections
import os
import re
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
from compare import Run, agree, check_random, main, numbered, tried  # noqa: E402
from lib.wire import Plane, space  # noqa: E402

COLUMNS = ('host', 'line_id', 'line', 'name', 'calls', 'total_us', 'longest_us',
           'longest_start_us', 'longest_event_id')
met = collections.Counter()  # what the random threads have

# ---- names ----

COMPILING_OPS = ('_XlaCompile', 'XlaCompile', 'TPUCompile', '_TPUCompileMlir', 'TpuCompileMlir')
TRACING = ('trace_to_jaxpr', 'trace_to_subjaxpr', 'tf.function-graph_building',
           'lower_sharding_computation', 'lower_mesh_computation', 'lower_parallel_callable',
           'lower_xla_callable')
WAITING = ('Synchronize', 'block_until_ready', 'BlockUntilReady', 'BlockHostUntilReady', 'Await',
           'Acquire semaphore', 'np.asarray(jax.Array)')


def op_type(name):
    """Of an op of TensorFlow, name:Type."""
    found = re.fullmatch(r'[A-Za-z0-9.][A-Za-z0-9_./>-]*:([A-Z_][A-Za-z0-9_]*)', name)
    return found.group(1) if found else ''


def is_compiling(name):
    if name.startswith('$'):
        return False
    name = re.split('[# ]', name, maxsplit=1)[0]
    return bool(name.startswith('backend_compile') or op_type(name) in COMPILING_OPS
                or re.match('(XlaCompile|TpuCompile|TPUCompile)(?![dr])', name)
                or re.search('::Compile(?![a-z])', name) or 'Compiler::Run' in name
                or (name.endswith('_Compile') and '/' not in name))


def is_tracing(name):
    frame = re.match(r'\$[^ ]*:[0-9]+ ', name)
    return name[frame.end() if frame else 0:].startswith(TRACING)


def is_input(name):
    return name.lower().startswith('iteratorgetnext') or name.startswith(
        'Iterator::') or op_type(name).startswith('InfeedEnqueue')


def is_wait(name):
    """(wait for completion) and ThreadPool::Await are waits for threads."""
    if re.fullmatch(r'\$.*[ .](item|tolist)', name, re.S):
        return True
    if is_compiling(name) or is_tracing(name) or is_input(name):
        return False
    if '(wait for completion)' in name or 'ThreadPool::Await' in name:
        return False
    return any(word in name for word in WAITING)


# ---- threads ----

def is_within(a, b):
    """Whether a wait starts within another one. Of waits that start together, the longer comes
    first, then the first in the file."""
    (i, e), (j, around) = a, b
    return (around.start_ps, -around.duration_ps, j) < (e.start_ps, -e.duration_ps, i) and \
        e.start_ps < around.end_ps


def outermost(waits):
    return [a for a in waits if not any(is_within(a, b) for b in waits)]


def row(of):
    longest = max(of, key=lambda x: (x[1].duration_ps, -x[1].start_ps, -x[0]))
    met['several are longest'] += sum(e.duration_ps == longest[1].duration_ps for _, e in of) > 1
    return [len(of), sum(e.duration_ps for _, e in of) / 1e6, longest[1].duration_ps / 1e6,
            longest[1].start_ps / 1e6, longest[0]]


def threads(run):
    """(host, number of the line, line, its waits)"""
    found, number = collections.defaultdict(list), {}
    for planes in run.hosts.values():
        for plane in planes:
            for line in plane.lines:
                number[id(line)] = len(number)
    for i, host, plane, line, e in numbered(run):
        if plane.kind == 'host' and not line.derived and e.occurrences is None and is_wait(e.name):
            found[host, number[id(line)], line.display or line.name].append((i, e))
    return found


def check(run):
    want = {}
    for key, waits in threads(run).items():
        names, counted = collections.defaultdict(list), outermost(waits)
        met['within another'] += len(counted) < len(waits)
        for i, e in counted:
            names[e.name].append((i, e))
        want.update({(*key, name): row(of) for name, of in names.items()})
    got = [[r[c] for c in COLUMNS] for r in run.ask('SELECT * FROM wait_totals({x})')]
    agree('waits', {tuple(r[:4]): r[4:] for r in got}, want)
    agree('rows of waits', len(got), len(want))


def each(run):
    tried('wait_totals ' + run.path, check, run)


# ---- random threads ----

DERIVED = -559038737  # id of a line that XProf derives
WAYS = ['several are longest', 'within another']
NAMES = ['tf.function-graph_building Await', 'tf.function-graph Await',
         'cudaStreamSynchronize', 'block_until_ready', '$a.py:1 item', '$b.py:2 x.tolist',
         '$item', '$c.py:3 items', 'item', 'ThunkExecutor (wait for completion)',
         'ThreadPool::Await', 'Future::Await', 'IteratorGetNext:Synchronize', 'XlaCompileAwait',
         'XlaCompiledAwait', 'Await XlaCompile', 'X::Compile Await', '$api.py:9 block_until_ready',
         'trace_to_jaxpr Synchronize', '$pe.py:1 trace_to_jaxpr_Await', 'a:InfeedEnqueueTuple',
         'a/Await:InfeedEnqueueTuple', 'Iterator::Await', 'np.asarray(jax.Array)', 'synchronize',
         'Acquire semaphore', 'host work', 'Await (wait for completion)', '']


def random_run(dice, folder):
    os.makedirs(folder)
    files = []
    for i in range(dice.choice([1, 1, 2])):
        planes = [Plane(name, n) for n, name in enumerate(
            ['/host:CPU', '/host:CPU [7]', 'Host CPUs', '/device:GPU:0', '/host:metadata'][
                :dice.randint(1, 5)], 1)]
        for plane in planes:
            for line in range(dice.randint(0, 3)):
                names = dice.sample(NAMES, dice.choice([2, 3, 9]))
                keys = [plane.meta(name, dice.choice(['', 'Shown']), dice.choice(
                    [None, {'correlation_id': {'int64': 1}}])) for name in names for _ in '12']
                events = [(dice.choice(keys), dice.randint(-3, 20) * 1000, dice.choice(
                    [0, 0, 1000, 2000, 5000, 9000, -2000]), None, dice.choice([None] * 9 + [2]))
                    for _ in range(dice.randint(0, 14))]
                if dice.random() < 0.5:
                    events.sort(key=lambda e: (e[1], -e[2]))
                plane.line(dice.choice([line, line, 1, DERIVED]), 'thread', events,
                           timestamp_ns=dice.choice([0, 0, 5, -5]))
        files.append(os.path.join(folder, 'host%d.xplane.pb' % i))
        with open(files[-1], 'wb') as f:
            f.write(space(*[p.bytes() for p in planes]))
    return Run(folder, files)


def made():
    check_random('wait_totals', 60, random_run, check, 'threads', WAYS, met)


if __name__ == '__main__':
    main(each, made)
