#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Columns of hlo_ops, op_metrics, op_metrics_totals, tf_ops and kernel_time_by_op that XProf does
not show: times on the event clock, names of modules, bytes of executions and padding from the bytes
of each profile; the others from rows of op_metrics and kernel_ops that are compared elsewhere."""
import collections
import json
import sys

sys.dont_write_bytecode = True
from compare import agree, integer, main, tried  # noqa: E402
from flops import Program, programs_of  # noqa: E402
from hlo import Message  # noqa: E402
from ops import Host, kernels_by_op  # noqa: E402
from shapes import Shape, is_library_call, library_bytes  # noqa: E402

OP_LINES = {'XLA Ops', 'Sparse Core Ops', 'Framework Ops', 'TensorFlow Ops'}
CONTAINERS = ('while', 'call', 'conditional', 'megacore fusion')
S8 = 2
SPACES = {'hbm': 1, 'cmem': 2, 'vmem': 3}
NO_PARTS = 'parent_id IS NULL'


def share(part, whole):
    return part / whole if whole else None


# ---- from rows of op_metrics ----

def parts(run):
    """Ops in order of their sides; the parts of an op follow it."""
    sides = collections.defaultdict(list)
    for r in run.ask('SELECT * FROM op_metrics({x})'):
        sides[r['side']].append(r)
    for side, rows in sides.items():
        agree('ordinals of ' + side, [r['op_id'] for r in rows], list(range(len(rows))))
        path = []
        for r in rows:
            while path and path[-1]['op_id'] != r['parent_id']:
                path.pop()
            agree('parent of %s' % r['name'], [r['parent_id'], r['parent']],
                  [path[-1]['op_id'], path[-1]['name']] if path else [None, None])
            path.append(r)


def memories(run):
    for r in run.ask('SELECT * FROM op_metrics({x})'):
        of = r['memory_breakdown'] and collections.Counter()
        for operation, space, n in json.loads(r['memory_breakdown'] or '[]'):
            of[operation, space] += n
        agree('memories of %s' % r['name'], [r['%s_%s_bytes' % (m, way)] for m in SPACES
                                             for way in ('read', 'write')],
              [None if of is None else of[operation, space] for space in SPACES.values()
               for operation in (1, 2)])


def shared(run):
    """What hlo_ops and op_metrics both have."""
    ops, metrics = run.ask_all(
        "SELECT * FROM hlo_ops({x}) WHERE rank > 0",
        "SELECT * FROM op_metrics({x}) WHERE side = 'device' AND name <> 'IDLE' AND " + NO_PARTS)
    columns = ('min_ps', 'normalized_ps', 'hbm_read_bytes', 'hbm_write_bytes', 'deduplicated_name',
               'event_time_ps', 'event_self_ps', 'flops_actual', 'bytes_accessed_actual')
    # the keys: the name in the HLO text, or the display name
    rows = [[[r['program_id'] or '0', r['expression'] or r[name]] + [r[c] for c in columns]
             for r in of] for of, name in ((ops, 'hlo_op'), (metrics, 'name'))]
    ops_rows, metrics_rows = (sorted(of, key=repr) for of in rows)
    agree('hlo_ops as op_metrics', ops_rows, metrics_rows)
    agree('op_metrics as hlo_ops', metrics_rows, ops_rows)
    for o in ops:
        agree('container %s' % o['hlo_op'], o['is_container'], int(o['category'] in CONTAINERS))


def totals(run):
    for r in run.ask('SELECT * FROM op_metrics_totals({x})'):
        agree('idle fraction of ' + r['side'], r['idle_fraction'],
              1 - r['total_op_ps'] / r['total_ps'] if r['total_ps'] else 1)


# ---- the event clock ----

def own_times(events):
    """{event: self time} on the event clock, of a line in order of start, the longer first."""
    own, inside = {}, []
    for e in sorted(events, key=lambda e: (e.start_ps, -e.duration_ps)):
        while inside and not (inside[-1].start_ps <= e.start_ps
                              and e.end_ps <= inside[-1].end_ps):
            inside.pop()
        if inside:
            own[inside[-1]] -= e.duration_ps
        own[e] = e.duration_ps
        inside.append(e)
    return own


def tensor_ops(run):
    """{(program, op): [time, self time]} on the event clock."""
    sums, wrapped = collections.defaultdict(lambda: [0, 0]), set()
    for planes in run.hosts.values():
        for p in planes:
            if not p.name.startswith('/device:TPU:') or p.kind == 'sparsecore':
                continue
            first = {}
            for line in p.lines:
                for e, own in own_times(line.events).items() if line.name in OP_LINES else ():
                    key = tuple(integer(e.meta.stats.get(n)) for n in ('program_id', 'symbol_id'))
                    if (e.occurrences or 0) >= 2**31:  # they wrap, see occurrences_overflow
                        wrapped.add((str((key[0] or 0) % 2**64), e.short_name))
                    if key[0] is not None and key[1]:
                        of = sums[str(key[0] % 2**64), first.setdefault(key, e.short_name)]
                        of[0], of[1] = of[0] + e.duration_ps, of[1] + own
    return {key: of for key, of in sums.items() if key not in wrapped}


def has_device_clock(run):
    return any('device_duration_ps' in p.stat_names.values() for planes in run.hosts.values()
               for p in planes)


def event_clock(run):
    """Of TensorCores from their events; of GPUs and host threads there is no other clock; of
    framework ops the sum of their ops on devices."""
    tensor, rows = tensor_ops(run), run.ask('SELECT * FROM op_metrics({x}) WHERE ' + NO_PARTS)
    tf_ops = run.ask('SELECT * FROM tf_ops({x}, 1, 0)')
    for r in rows:
        key = r['program_id'], r['name']
        if r['side'] == 'device' and r['core_type'] == 'TensorCore' and key in tensor:
            agree('event times of %s' % r['name'], [r['event_time_ps'], r['event_self_ps']],
                  tensor[key])
    if not has_device_clock(run):
        for r in rows + tf_ops:
            agree('times of %s' % r.get('name', r.get('operation')), [r['event_time_ps'],
                                                                     r['event_self_ps']],
                  [r['time_ps'], r['self_ps']])
    for column in ('event_time_ps', 'event_self_ps'):
        sums = collections.Counter()
        for r in rows:
            for c in (column, column[6:]):
                sums[r['side'], c] += r[c] if r['name'] != 'IDLE' else 0
        if sums['framework', column[6:]] == sums['device', column[6:]]:  # all ops have one
            agree('%s of framework ops' % column, sums['framework', column],
                  sums['device', column])
        want = collections.Counter()
        for r in rows:
            if r['side'] in ('framework', 'host') and r['name'] != 'IDLE':
                want['Device' if r['side'] == 'framework' else 'Host', r['name']] += r[column]
        got = collections.Counter()
        for r in tf_ops:
            if r['operation'] != 'IDLE':
                got[r['host_or_device'], r['operation']] += r[column]
        agree('%s of tf_ops' % column, dict(got), dict(want))


# ---- programs ----

def modules(run):
    names = {}
    for planes in run.hosts.values():
        for key, proto in programs_of(planes).items():
            module = Message(proto).sub(1)
            names.setdefault(str(key), module.text(1) if module else None)
    recorded = {integer(of.get('program_id')) for planes in run.hosts.values() for p in planes
                for line in p.lines for e in line.events for of in (e.stats, e.meta.stats)}
    if 0 not in recorded:  # then the ops of this id are outside of programs
        names.pop('0', None)
    for o in run.ask('SELECT * FROM hlo_ops({x}) WHERE rank > 0'):
        agree('module of %s' % o['program_id'], o['hlo_module'], names.get(o['program_id']))


def padding(run):
    """Of the shape of the op's instruction."""
    shapes = {}
    for planes in run.hosts.values():
        for key, proto in programs_of(planes).items():
            for op in Program(proto).by_name.values():
                shapes.setdefault((str(key), op.name), set()).add(op.m.data[3][-1])
    for o in run.ask('SELECT * FROM hlo_ops({x}) WHERE rank > 0'):
        of = shapes.get((o['program_id'], o['hlo_op']), set())
        if len(of) == 1 or not of and not o['core_type']:  # TPUs record the HLO text
            shape = Shape(Message(*of)) if of else None
            data, stored = (shape.data_bytes(), shape.stored_bytes()) if of else (None, None)
            agree('padding of %s' % o['hlo_op'], o['padding_efficiency'],
                  min(data / stored, 1) if data is not None and stored else None)


def executions(run):
    """Bytes of one execution, times the executions. A GPU's calls of other code are unknown."""
    one, calls = collections.defaultdict(set), collections.defaultdict(set)
    for i in run.ask('SELECT program_id, hlo_op, bytes_accessed, cost_source '
                     'FROM hlo_instructions({x})'):
        one[i['program_id'], i['hlo_op']].add(i['bytes_accessed'])
    for planes in run.hosts.values():
        for key, proto in programs_of(planes).items():
            program = Program(proto)
            for op in program.by_name.values():
                if op.opcode == 'custom-call':
                    calls[str(key), op.name].add(library_bytes(program, op)
                                                 if is_library_call(op) else None)
    for o in run.ask('SELECT * FROM hlo_ops({x}) WHERE rank > 0'):
        key = o['program_id'], o['hlo_op']
        of = one[key] if o['core_type'] or key not in calls else calls[key]
        if len(of) == 1 and not o['is_container'] and not o['category'].startswith('async'):
            n, = of
            agree('bytes of %s' % o['hlo_op'], o['bytes_accessed_actual'],
                  None if n is None else n * o['occurrences_actual'])


# ---- tensor cores ----

def tensor_cores(run):
    """By op the time of its kernels; which kernels use tensor cores is what kernel_ops says of
    their names. A kernel that it does not list is judged by none here."""
    flags = collections.defaultdict(set)  # of a name; kernels of several programs can have it
    for k in run.ask('SELECT * FROM kernel_ops({x})'):
        flags[k['kernel_name']].add(k['kernel_uses_tensorcore'])
    uses = {name: of.pop() for name, of in flags.items() if len(of) == 1}
    sums, unsure = collections.defaultdict(lambda: [0, 0]), set()
    for key, events in kernels_by_op(
            run, [Host(planes) for planes in run.hosts.values()]).items():
        for ps, name in events:
            if name in flags:  # else no kernel, but a copy
                sums[key][0] += ps if uses.get(name) else 0
                sums[key][1] += ps
                unsure |= {key} if name not in uses else set()
    for r in run.ask('SELECT * FROM kernel_time_by_op({x}, 1000000000)'):
        key = r['operation'], r['type']
        if key not in unsure:
            agree('tensor cores of %s' % (key,), r['tensorcore_utilization_fraction'],
                  share(*sums[key]), rel=1e-6)
    of_op = collections.defaultdict(lambda: [0, 0])
    for k in run.ask('SELECT * FROM kernel_ops({x})'):
        of_op[k['op_name']][0] += k['total_duration_us'] if k['kernel_uses_tensorcore'] else 0
        of_op[k['op_name']][1] += k['total_duration_us']
    for r in run.ask("SELECT * FROM tf_ops({x}, 0, 0) WHERE operation <> 'XlaModule'"):
        agree('tensor cores of %s' % r['operation'], r['tensorcore_utilization_fraction_actual'],
              share(*of_op[r['operation']]) if r['host_or_device'] == 'Device'
              and r['operation'] in of_op else None, rel=1e-6)


CHECKS = (parts, memories, shared, totals, event_clock, modules, padding, executions, tensor_cores)


def each(run):
    for check in CHECKS:
        tried('%s %s' % (check.__name__, run.path), check, run)


if __name__ == '__main__':
    main(each)
