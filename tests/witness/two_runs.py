#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""How two runs differ: compare_ops and compare_slower_ops of every kind, compare_hlo_ops,
compare_kernels, compare_tf_ops and compare_steps, of profiles that follow each other and of random
runs.

The rows of one run come from the tables that compare_ops names; tests/witness/ops.py and XProf's
answers are about these. Which row of a run is which of the other, what is divided by how many
devices, hosts and steps, and all that follows is worked out here."""
import collections
import itertools
import os
import random
import re
import statistics
import sys
import tempfile

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.dirname(HERE))
from lib import hlo  # noqa: E402
from compare import Run, agree, ask_all, looks_at_all, main, seeds, tried  # noqa: E402
from lib.wire import L, Plane, space  # noqa: E402

KINDS = ('operation', 'hlo', 'framework', 'kernel')
PAIRS = (('tf_input_slow', 'tf_input_prefetched'), ('tf_fit_input_bound', 'tf_fit_prefetched'),
         ('gpu_train_38', 'gpu_train_latency'), ('tpu_train_54', 'tpu_infer_78'),
         ('tpu_train_54', 'tpu_no_details'), ('jax_train_mlp', 'jax_two_hosts'),
         ('ops_odd', 'hlo_zoo'))
ROUNDING = 1e-9  # us, less than a picosecond for each device and step
met = collections.Counter()


def percent(part, whole):
    return 100 * part / whole if whole else None


# ---- one run ----

class Side:
    """What a run ran: {kind: {(scope, type, name): [occurrences, us, fingerprints, short name]}},
    and what its times are divided by."""

    def __init__(self, run):
        ops, hlo_ops, fingerprints, tf_ops, kernels, devices, steps = run.ask_all(
            'SELECT hlo_module AS scope, place AS type, operation AS name, occurrences AS n, '
            'self_time_us AS us, short_name AS short FROM top_ops({x}, 1000000000)',
            'SELECT hlo_module AS scope, category AS type, hlo_op AS name, occurrences AS n, '
            'self_time_us AS us, program_id FROM top_hlo_ops({x}, 1000000000)',
            'SELECT program_id, hlo_op, fingerprint FROM hlo_instructions({x})',
            'SELECT host_or_device AS scope, type, operation AS name, occurrences AS n, '
            'total_self_time_us AS us FROM tf_ops({x}, 1, 0)',
            'SELECT NULL AS scope, op_name AS type, kernel_name AS name, occurrences AS n, '
            'total_duration_us AS us, short_name AS short FROM kernel_ops({x})',
            'SELECT kind, count(*) AS n FROM device_time({x}) WHERE computing_ps > 0 GROUP BY 1',
            'SELECT * FROM steps({x})')
        of = collections.defaultdict(set)
        for r in fingerprints:
            of[r['program_id'], r['hlo_op']].add(r['fingerprint'])
        self.rows = {}
        for kind, rows in zip(KINDS, (ops, hlo_ops, tf_ops, kernels)):
            self.rows[kind] = collections.defaultdict(lambda: [0, 0.0, set(), None])
            for r in rows:
                row = self.rows[kind][r['scope'], r['type'], r['name']]
                row[0], row[1] = row[0] + (r['n'] or 0), row[1] + (r['us'] or 0)
                row[3] = r.get('short', r['name'])
                if kind == 'hlo':
                    row[2] |= of.get((r['program_id'], r['name']), {None})
        self.steps = steps
        n = {r['kind']: r['n'] for r in devices}
        self.parts = {'device': n.get('gpu', 0) + n.get('tensorcore', 0) or len(run.files),
                      'sparsecore': n.get('sparsecore', 0), 'host': len(run.files)}


# ---- which operation is which ----

def cleaned(name):
    return name[:-3] if name.endswith('.kd') else name.replace('jit(main)/', '')


def stem(name):
    return re.sub(r'[0-9._]*$', '', cleaned(name))


def one_each(mine, theirs, key):
    """Pairs of rows whose key no other row of either run has; None is no key."""
    groups = collections.defaultdict(lambda: ([], []))
    for side, rows in enumerate((mine, theirs)):
        for row in rows:
            if key(row, side) is not None:
                groups[key(row, side)][side].append(row)
    return {a[0]: b[0] for a, b in groups.values() if len(a) == len(b) == 1}


def paired(kind, a, b):
    """[(row of a or None, row of b or None, how)]: what the same thing is called in both runs."""
    def same_thing(row):
        scope, place, name = row
        return {'operation': (scope, place, name), 'hlo': (scope, name), 'framework': row,
                'kernel': row}[kind]

    def fingerprint(row, side):
        prints = (a, b)[side][row][2]
        return next(iter(prints)) if len(prints) == 1 else None

    def similar(name_of):
        def key(row, _):
            scope, what, name = row
            return scope, name_of(name), {'operation': what, 'hlo': None, 'framework': what,
                                          'kernel': what and what.replace('jit(main)/', '')}[kind]
        return key

    mine, theirs, found = set(a), set(b), []
    for how, key in (('name', lambda row, _: row), ('name', lambda row, _: same_thing(row)),
                     ('fingerprint', fingerprint), ('similar name', similar(cleaned)),
                     ('similar name', similar(stem))):
        pairs = one_each(mine, theirs, key)
        found += [(x, y, how) for x, y in pairs.items()]
        mine, theirs = mine - pairs.keys(), theirs - set(pairs.values())
    met.update('%s by %s' % (kind, how) for _, _, how in found)
    return found + [(x, None, None) for x in mine] + [(None, y, None) for y in theirs]


# ---- what a pair says ----

def compare_ops(kind, a, b):
    """{(scope, type, operation, change): the other columns}, and the rows of compare_slower_ops but
    for those that come from their order."""
    with_steps, answer, slower, executions = bool(a.steps and b.steps), {}, [], {}
    for x, y, how in paired(kind, a.rows[kind], b.rows[kind]):
        scope, place, name = x or y
        what = place if kind == 'operation' else scope.lower() if kind == 'framework' else 'device'
        row = {'matched_by': how, 'name_b': y[2] if x and y and x[2] != y[2] else None,
               'short_name': a.rows[kind][x][3] if x else b.rows[kind][y][3]}
        for letter, side, key in (('a', a, x), ('b', b, y)):
            n, us = side.rows[kind][key][:2] if key else (0, 0.0)
            parts = max(side.parts[what], 1) * (len(side.steps) if with_steps else 1)
            row.update({'occurrences_' + letter: n, 'time_us_' + letter: us,
                        'avg_us_' + letter: us / n if n else None,
                        'per_device_step_us_' + letter: us / parts})
            executions[letter] = n / parts
        row['delta_us'] = row['time_us_b'] - row['time_us_a']
        row['delta_percent'] = percent(row['delta_us'], row['time_us_a'])
        row['avg_ratio'] = row['avg_us_b'] / row['avg_us_a'] if row['avg_us_a'] and row[
            'avg_us_b'] is not None else None
        row['delta_per_device_step_us'] = row['per_device_step_us_b'] - row['per_device_step_us_a']
        change = 'both' if x and y else 'vanished' if x else 'appeared'
        answer[scope, place, name, change] = row
        if row['delta_per_device_step_us'] > ROUNDING and not is_idle(kind, place):
            slower.append(grown(place, name, change, row, executions['b'] - executions['a']))
    return answer, slower


def is_idle(kind, place):
    """Whether it is the time without any op: the type IDLE of tf_ops. What is called IDLE without
    being of this type is an operation, and so is an HLO op of a category with this name."""
    return kind == 'framework' and place == 'IDLE'


def grown(place, name, change, row, more):
    """The row of compare_slower_ops; more: by how many executions for each device and step."""
    grew = row['delta_per_device_step_us']
    by_count = more * row['avg_us_a'] if change == 'both' else None
    return {'type': place, 'operation': name, 'short_name': row['short_name'], 'change': change,
            'grew_us': grew, 'grew_percent': percent(grew, row['per_device_step_us_a']),
            'by_count_us': by_count, 'by_time_us': None if by_count is None else grew - by_count}


SPECIAL = {
    'hlo': ('compare_hlo_ops', {'hlo_module': 'scope', 'category': 'type', 'hlo_op': 'operation',
                                'self_time_us': 'time_us', 'avg_self_time_us': 'avg_us'}),
    'kernel': ('compare_kernels', {'op_name': 'type', 'kernel_name': 'operation',
                                   'total_duration_us': 'time_us', 'avg_duration_us': 'avg_us'}),
    'framework': ('compare_tf_ops', {'host_or_device': 'scope', 'self_time_us': 'time_us',
                                     'avg_self_time_us': 'avg_us'})}


def general(row, names):
    """A row of a special query under compare_ops' names, with the columns that it lacks."""
    row = {names.get(c, names.get(c[:-2], '') + c[-2:] if c[:-2] in names else c): x
           for c, x in row.items()}
    return {'scope': None, 'short_name': row['operation'], **row}


def ops_agree(what, kind, got, want):
    keys = [tuple(r.get(c) for c in ('scope', 'type', 'operation', 'change')) for r in got]
    agree('rows of ' + what, collections.Counter(keys), collections.Counter(list(want)))
    for key, r in zip(keys, got):
        agree('%s %s' % (what, key), {c: r[c] for c in want[key]}, want[key], rel=1e-6,
              abs_tol=1e-6)
    sizes = [(is_idle(kind, r['type']), -abs(r['delta_per_device_step_us'])) for r in got]
    agree('order of ' + what, sizes, sorted(sizes), abs_tol=1e-6)


def slower_agree(what, got, want):
    """Rows of equal size have any order, and a difference by rounding may be a row."""
    def alike(row):
        return ([str(row[c]) for c in ('type', 'operation', 'change')],
                [round(row[c] or 0, 6) for c in ('grew_us', 'by_count_us')])

    agree('ranks of ' + what, [r['rank'] for r in got], list(range(1, len(got) + 1)))
    agree('what grew, of ' + what, [r for r in got if r['grew_us'] <= 0], [])
    rows = [r for r in got if r['grew_us'] > ROUNDING]
    mine = dict(zip(map(id, sorted(rows, key=alike)), sorted(want, key=alike)))
    agree('number of ' + what, len(rows), len(want))
    sums = list(itertools.accumulate(mine[id(r)]['grew_us'] for r in rows))
    for r, cumulative in zip(rows, sums):
        agree('%s %s' % (what, r['operation']),
              {c: x for c, x in r.items() if c not in ('run_a', 'run_b', 'rank')},
              {**mine[id(r)], 'cumulative_percent': percent(cumulative, sums[-1])}, rel=1e-6,
              abs_tol=1e-6)
    sizes = [-r['grew_us'] for r in got]
    agree('order of ' + what, sizes, sorted(sizes), abs_tol=1e-6)


CATEGORIES = {'Step time': 'duration_ms', 'Device compute': 'device_compute_ms_actual',
              'Device to device': 'device_to_device_ms_actual',
              'Device collective communication': 'device_collectives_ms_actual',
              'Host compute': 'host_compute_ms_actual', 'Kernel launch': 'kernel_launch_ms_actual',
              'Input': 'input_ms_actual', 'Output': 'output_ms_actual',
              'Compilation': 'compilation_ms_actual', 'All others': 'all_others_ms_actual'}


def compare_steps(a, b):
    answer = {}
    for name, column in CATEGORIES.items():
        row, means = {}, []
        for letter, side in (('a', a), ('b', b)):
            complete = [s for s in side.steps if not s['dropped']]
            known = [s[column] for s in complete if s[column] is not None]
            means.append(statistics.fmean(known) if known else None)
            row.update({letter + '_ms': means[-1], letter + '_deviation_ms': statistics.stdev(known)
                        if len(known) > 1 else None, letter + '_steps': len(complete)})
        row['difference_ms'] = means[1] - means[0] if None not in means else None
        row['ratio'] = means[1] / means[0] if None not in means and means[0] > 0 else None
        answer[name] = row
    return answer


def check(a, b):
    special = [name for name, _ in SPECIAL.values()]
    queries = ["SELECT * FROM compare_ops(%%s, '%s')" % kind for kind in KINDS] + [
        "SELECT * FROM compare_slower_ops(%%s, '%s')" % kind for kind in KINDS] + [
        'SELECT * FROM %s(%%s)' % name for name in special + ['compare_steps']]
    both = "'%s', '%s'" % tuple(run.path.replace("'", "''") for run in (a, b))
    got = ask_all(*(q % both for q in queries))
    sides = side_of(a), side_of(b)
    want = {kind: compare_ops(kind, *sides) for kind in KINDS}
    for kind, rows, slower in zip(KINDS, got, got[len(KINDS):]):
        ops_agree(kind, kind, rows, want[kind][0])
        slower_agree('compare_slower_ops of ' + kind, slower, want[kind][1])
        met.update('slower %s %s' % (kind, r['change']) for r in slower)
    for (kind, (name, names)), rows in zip(SPECIAL.items(), got[2 * len(KINDS):]):
        ops_agree(name, kind, [general(r, names) for r in rows], want[kind][0])
    steps = compare_steps(*sides)
    agree('categories', [r['category'] for r in got[-1]],
          list(steps) if sides[0].steps or sides[1].steps else [])
    for r in got[-1]:
        agree(r['category'], {c: r[c] for c in steps[r['category']]}, steps[r['category']],
              abs_tol=1e-9)


sides = {}


def side_of(run):
    if run.path not in sides:
        sides[run.path] = Side(run)
    return sides[run.path]


# ---- random runs: few names, so that they meet in all ways ----

NAMES = ['f', 'f.1', 'f.2', 'g.1', 'g_2', 'g', 'jit(main)/h.3', 'h', 'k.kd', 'k']
OPCODES = ['custom-call', 'negate', 'copy', 'sort']


def programs(dice, ids):
    """Of each program its name and {instruction: (opcode, size of the result)}; two programs can
    have the same name, and what does the same often has another name."""
    def instructions(id):
        return {name: (OPCODES[i % 4], i + 3 * id + dice.choice([0, 0, 0, 1, 20, 40]))
                for i, name in enumerate(dice.sample(NAMES, dice.randint(1, 6)))}
    return {id: (dice.choice(['m', 'm', 'n']), instructions(id)) for id in ids}


def metadata(of):
    plane = Plane('/host:metadata', 9)
    for id, (name, instructions) in of.items():
        made = [hlo.instruction(i + 1, n, opcode, hlo.shape(hlo.F32, size))
                for i, (n, (opcode, size)) in enumerate(instructions.items())]
        program = hlo.proto(hlo.module(name, hlo.computation(1, 'main', made, root=1), id=id,
                                       more=L(4)))
        plane.meta('%s(%d)' % (name, id), stats={'Hlo Proto': {'bytes': program}}, key=id)
    return plane.bytes()


def gpu(dice, of, number):
    events, at = [], 0
    for _ in range(dice.randint(0, 9)):
        id, at, length = dice.choice(list(of)), at + 10**6 * dice.randint(
            1, 4), 10**5 * dice.randint(1, 9)
        tf_op = '%sop%d:%s' % (dice.choice(['', 'jit(main)/']), dice.randint(1, 2),
                               dice.choice(['', 'MatMul', 'Add', 'IDLE']))
        stats = {'tf_op': {'str': tf_op},
                 'hlo_op': {'str': dice.choice(list(of[id][1]))},
                 'hlo_module': {'str': of[id][0]}, 'program_id': {'uint64': id},
                 'kernel_details': {'str': 'regs:32 grid:1,1,1 block:32,1,1'}}
        name = dice.choice(NAMES + ['MemcpyH2D', 'ncclAllReduce', 'IDLE'])
        events.append((name, at, length, stats))
    return Plane('/device:GPU:%d' % number, number + 1).line(1, 'Stream #1', events).bytes()


def tpu(dice, of, number, sparse):
    name = '/device:TPU:%d SparseCore %d' % (number,
                                             number) if sparse else '/device:TPU:%d' % number
    plane, events, at = Plane(name, number + (20 if sparse else 1)), [], 0
    for _ in range(dice.randint(1, 9)):
        id, at, length = dice.choice(list(of)), at + 10**6 * dice.randint(
            1, 4), 10**5 * dice.randint(1, 9)
        op = dice.choice(list(of[id][1]))
        opcode = of[id][1][op][0]
        stats = {'program_id': {'uint64': id}, 'symbol_id': {'uint64': 100 * id + NAMES.index(op)},
                 'hlo_category': {'str': opcode}}
        key = plane.meta('%%%s = f32[1] %s()' % (op, opcode), op, stats)
        events.append((key, at, length))
    plane.line(1, 'Sparse Core Ops' if sparse else 'XLA Ops', events)
    if not sparse and dice.randint(0, 2):
        plane.line(2, 'Steps', [(str(i), i * 10**7, 10**7) for i in range(dice.randint(1, 8))])
    return plane.bytes()


def threads(dice):
    names = NAMES + ['op1:MatMul', 'op2:MatMul', 'op1:Add', 'op1.1:Add', 'backend_compile', 'IDLE',
                     'op3:IDLE']
    events = [(dice.choice(names), i * 10**6, 10**5 * dice.randint(1, 9))
              for i in range(dice.randint(1, 12))]
    return Plane('/host:CPU', 30).line(5, 'main', events).bytes()


def random_run(dice, folder):
    os.makedirs(folder)
    kind, files = dice.choice(['gpu', 'gpu', 'tpu', 'tpu', 'host']), []
    for i in range(dice.randint(1, 2)):
        of = programs(dice, range(1, dice.randint(2, 4)))
        planes = [threads(dice),
                  metadata(of)] if dice.randint(0, 3) or kind == 'host' else [metadata(of)]
        for number in range(dice.randint(1, 3)):
            planes += [gpu(dice, of, number)] if kind == 'gpu' else [
                tpu(dice, of, number, False)] if kind == 'tpu' else []
            planes += [tpu(dice, of, number,
                           True)] if kind == 'tpu' and dice.randint(0, 2) == 0 else []
        files.append(os.path.join(folder, 'host%d.xplane.pb' % i))
        with open(files[-1], 'wb') as f:
            f.write(space(*planes))
    return Run(folder, files)


before, by_name = [], {}


def each(run):
    if before:
        tried('two_runs ' + run.path, check, before[0], run)
    before[:] = [run]
    by_name[os.path.relpath(run.path, os.path.join(os.path.dirname(os.path.dirname(HERE)),
                                                   'tests', 'data')).split(os.sep)[0]] = run


def made():
    for first, second in PAIRS:
        if first in by_name and second in by_name:
            tried('two_runs %s and %s' % (first, second), check, by_name[first], by_name[second])
    with tempfile.TemporaryDirectory() as top:
        for seed in seeds(40):
            dice = random.Random(seed)
            tried('two_runs of seed %d' % seed, check, *(
                random_run(dice, os.path.join(top, 'plugins/profile/%d%s' % (seed, side)))
                for side in 'ab'))
    if looks_at_all():
        ways = ('operation by name', 'operation by similar name', 'hlo by name',
                'hlo by fingerprint', 'hlo by similar name', 'framework by name',
                'framework by similar name', 'kernel by name', 'kernel by similar name',
                *('slower %s %s' % (kind, change) for kind in KINDS
                  for change in ('both', 'appeared')))
        tried('two_runs meets all ways', lambda: agree('ways', [w for w in ways if not met[w]], []))


if __name__ == '__main__':
    main(each, made)
