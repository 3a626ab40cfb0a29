#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What ops did: model_flops_actual and occurrences_actual of hlo_ops, flops_utilization_by_step and
kpi, from events and programs.

Operations come from the bytes of the programs (hlo.py), executions from the kernels of each stream.
Made profiles have answers worked out by hand."""
import collections
import itertools
import os
import sys
import tempfile

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import compare  # noqa: E402
from compare import Run, agree, integer, looks_at_all, main, numbered, tried  # noqa: E402
from device_time import work_lines  # noqa: E402
from hlo import Message, Program, Unknown  # noqa: E402
from program_flops import are_operations_unknown, programs_that_ran  # noqa: E402
from xspace import Stats, program_id  # noqa: E402
from lib.wire import (F64, L, V, event, event_metadata, line, plane, space, stat,  # noqa: E402,F401
                      stat_metadata)

# hlo.py has no second way to count them
NOT_COUNTED = {'reduce-window', 'select-and-scatter', 'scan', 'ragged-dot'}
OP_LINES = ('XLA Ops', 'Framework Ops', 'Sparse Core Ops')
CONTAINERS = {'while', 'conditional', 'call', 'async-start', 'megacore fusion'}


def programs_of(planes):
    found = {}
    for p in planes:
        if p.name != '/host:metadata':
            continue
        for key, meta in p.metas.items():
            proto = next((v for k, v in meta.stats.items() if k == 'Hlo Proto'
                          and isinstance(v, bytes)), None)
            if proto:
                found.setdefault(program_id(key, meta), proto)
    return found


def check_instructions(run):
    """How often each instruction of a program runs, and what it needs."""
    got = {(r['host'], r['program_id'], r['computation_id'], r['instruction_id'], r['hlo_op']): [
        r['runs'], r['model'], r['weighted']] for r in run.ask(
            'SELECT host, program_id, computation_id, instruction_id, hlo_op, runs_per_execution '
            'AS runs, model_flops_actual AS model, flops_actual AS weighted '
            'FROM hlo_instructions({x})')}
    want = {}
    for host, planes in run.hosts.items():
        for key, proto in programs_of(planes).items():
            program = Program(proto)
            runs = program.runs()
            for number, ops in program.computations.items():
                for op in ops:
                    at = host, str(key), number, op.id, op.name
                    if at in got:
                        one = program.known(op)
                        want[at] = [runs[number]] + (
                            [one, one and float(one * program.weight(op))]
                            if counted(program, op) else got[at][1:])
    agree('instructions', {at: got[at] for at in want}, want)


def innermost(name):
    return name.rpartition('::')[2]


def counted(program, op, seen=()):
    """Whether hlo.py knows the operation and all that it calls."""
    if op.opcode in NOT_COUNTED or not program.is_consistent(op):
        return False
    return all(counted(program, x, seen + (c,)) for c in op.calls if c not in seen
               for x in program.computations.get(c, []))


# ---- executions on GPUs ----

def kernels_of(planes):
    """({(program, op): executions}, {(program, op): time}) of a host, device by device."""
    total, times = collections.Counter(), collections.Counter()
    for p in planes:
        if p.kind != 'gpu':
            continue
        by_kernel, rows = collections.defaultdict(collections.Counter), collections.Counter()
        for l in p.lines:
            if l.derived:
                continue
            stream = []
            for e in l.events:
                op, program = e.stats.get('hlo_op'), e.stats.get('program_id')
                if isinstance(op, str):
                    stream.append(((program, op), e.name))
                    times[program, innermost(op)] += e.duration_ps
            for (program, op), row in itertools.groupby(stream, lambda x: x[0]):
                counts = collections.Counter(name for _, name in row)
                key = program, innermost(op)
                rows[key] += min(counts.values())
                by_kernel[key].update(counts)
        for key, counts in by_kernel.items():
            alike = len(set(counts.values())) == 1
            total[key] += next(iter(counts.values())) if alike else rows[key]
    return total, times


# ---- TPUs ----

def tpu_ops(planes, programs):
    """{(program, op): (executions, operations or None, category)} of TensorCores: plane by plane,
    events of one program and symbol are an op, which their first metadata names."""
    found = {}
    for p in planes:
        if not p.name.startswith('/device:TPU:') or p.kind == 'sparsecore':
            continue
        ops = {}
        for e in (e for l in p.lines if l.name in OP_LINES for e in l.events):
            program, symbol = (integer(e.meta.stats.get(name))
                               for name in ('program_id', 'symbol_id'))
            if program is None or not symbol:
                continue
            op = ops.setdefault((program, symbol), {'name': e.short_name, 'of': {}})
            op = op['of'].setdefault(e.meta, {'n': 0, 'n_own': 0, 'own': 0})
            n, own = max(e.occurrences or 1, 1), Stats(p, e.messages)
            flops, model = integer(own.get('flops')), integer(own.get('model_flops'))
            op['n'] += n
            if flops is not None:
                op['n_own'] += n
                op['own'] += n * (flops if model is None else model)
        for (program, _), op in ops.items():
            kinds = [meta.stats.get('hlo_category', '') for meta in op['of']]
            before = found.setdefault((program, op['name']), [0, 0, kinds[0]])
            if set(kinds) <= {'while', 'conditional', 'call', 'megacore fusion'}:
                before[1] = None
            for meta, of in op['of'].items():
                flops, rest = integer(meta.stats.get('flops')), of['n'] - of['n_own']
                done = None if rest and flops is None else of['own'] + rest * (
                    integer(meta.stats.get('model_flops')) or flops or 0)
                before[0] += of['n']
                if meta.stats.get('hlo_category', '') in CONTAINERS:
                    continue
                before[1] = None if None in (before[1], done) else before[1] + done
    for (program, name), sums in found.items():
        if sums[1] is None and program in programs and name in programs[program].by_name:
            one = programs[program].operations(name)
            sums[1] = None if one is None else one * sums[0]
    return found


def names_by_symbol(run):
    """{event id: the op's name in hlo_ops}: that of the first event of the plane with the same
    program and symbol."""
    first, names = {}, {}
    for id, _, plane, line, e in numbered(run):
        program, symbol = (integer(e.meta.stats.get(name)) for name in ('program_id', 'symbol_id'))
        if line.name in OP_LINES and program is not None and symbol:
            names[id] = first.setdefault((plane, program, symbol), e.short_name)
    return names


# ---- profiles ----

def check_gpu(run):
    """How many ops were compared, and {(program, op): (operations, those against the peak)}; None:
    not known or not counted here."""
    executions, times, sums, sure = collections.Counter(), collections.Counter(), {}, {}
    for planes in run.hosts.values():  # hosts may have different programs of one id
        programs = {key: Program(proto) for key, proto in programs_of(planes).items()}
        own = any(p.kind == 'gpu' and 'flops' in p.stat_names.values() for p in planes)
        counts, lengths = kernels_of(planes)
        for key, count in counts.items():
            op = programs[key[0]].by_name.get(key[1]) if key[0] in programs else None
            if not op:
                continue
            executions[key] += count
            times[key] += lengths[key]
            one = programs[key[0]].known(op)
            model, weighted = sums.get(key, (0, 0))
            sums[key] = (None, None) if None in (one, model) else (
                model + count * one, weighted + count * one * programs[key[0]].weight(op))
            sure[key] = sure.get(key, True) and counted(
                programs[key[0]], op) and op.opcode not in CONTAINERS and not (own and one is None)
    rows = run.ask("SELECT program_id, hlo_op, occurrences_actual AS n, time_ps_actual AS ps, "
                   "flops_actual AS weighted, model_flops_actual AS flops FROM hlo_ops({x}) "
                   "WHERE program_id <> '0'")
    n = 0
    for row in rows:
        key = int(row['program_id']), row['hlo_op']
        if key in executions:
            agree('executions of %s' % (key,), row['n'], executions[key])
            agree('time of %s' % (key,), row['ps'], times[key])
            n += 1
            if sure[key]:
                agree('operations of %s' % (key,), [row['flops'], row['weighted']],
                      [x if x is None else float(x) for x in sums[key]])
    return n, {key: sums[key] if sure[key] else (None, None) for key in sums}


def check_tpu(run):
    n = 0
    sums = {}
    for planes in run.hosts.values():
        programs = {key: Program(proto) for key, proto in programs_of(planes).items()}
        for key, (count, flops, category) in tpu_ops(planes, programs).items():
            before = sums.get(key)
            op = programs[key[0]].by_name.get(key[1]) if key[0] in programs else None
            sure = not op or counted(programs[key[0]], op)
            sums[key] = (count, flops, category, sure) if not before else (
                before[0] + count, None if None in (before[1], flops) else before[1] + flops,
                category, sure)
    rows = run.ask("SELECT program_id, name, occurrences_actual AS n, model_flops_actual AS flops, "
                   "category FROM op_metrics({x}) "
                   "WHERE side = 'device' AND parent_id IS NULL AND program_id IS NOT NULL "
                   "AND core_type = 'TensorCore'")
    for row in rows:
        found = sums.get((int(row['program_id']), row['name']))
        if not found:
            continue
        agree('executions of %s' % row['name'], row['n'], found[0])
        n += 1
        if found[3] and row['category'] not in CONTAINERS and found[2] not in CONTAINERS:
            agree('operations of %s' % row['name'], row['flops'],
                  None if found[1] is None else float(found[1]))
    return n


def check_steps(run, mine):
    """By step of a GPU: what each kernel's share of its op's operations sums to, or of those of its
    program, if hlo_ops lacks kernels of this."""
    events = run.ask("SELECT host, step, program_id, hlo_op, count(*) AS n FROM trace_events({x}) "
                     "WHERE plane_kind = 'gpu' AND NOT derived AND hlo_op IS NOT NULL "
                     "GROUP BY 1, 2, 3, 4")
    kernels = collections.Counter()
    for e in events:
        kernels[e['program_id'], e['hlo_op']] += e['n']
    sums, ran = collections.Counter(), programs_that_ran(run)
    for e in events:
        of = ran.get(e['program_id'])
        done = mine.get((int(e['program_id'] or 0), e['hlo_op']), (None, None))[1]
        if of and of.by == 'program':
            sums[e['step']] += e['n'] / of.events * of.done[1]
        elif done:
            sums[e['step']] += e['n'] / kernels[e['program_id'], e['hlo_op']] * done
    devices = run.ask("SELECT max(peak_flops_per_second) AS peak FROM devices({x})")[0]
    devices['n'] = sum(any(l.events for l in work_lines(p)) for planes in run.hosts.values()
                       for p in planes if p.kind == 'gpu')
    if are_operations_unknown(run, ran):
        sums.clear()
    rows = run.ask("SELECT step, duration_ms AS ms, flops, utilization_percent AS percent "
                   "FROM flops_utilization_by_step({x})")
    for row in rows:
        want = sums.get(row['step']) or None
        agree('operations of step %s' % row['step'], row['flops'], want)
        if want and devices['peak']:
            agree('utilization of step %s' % row['step'], row['percent'],
                  100 * want / devices['n'] / (row['ms'] / 1e3) / devices['peak'])
    used = [(r['percent'], r['ms']) for r in rows if r['percent'] is not None]
    total = run.ask("SELECT flops_utilization_percent AS percent FROM kpi({x})")[0]['percent']
    agree('utilization of the run', total, sum(p * ms for p, ms in used) / sum(ms for _, ms in used)
          if used else None)
    return len(rows)


checked = collections.Counter()


def check(run):
    kinds = {p.kind for planes in run.hosts.values() for p in planes}
    if 'gpu' in kinds and 'tensorcore' not in kinds:
        n, mine = check_gpu(run)
        checked['gpu'] += n
        whole = run.ask("SELECT count(*) AS n FROM hlo_ops({x}) WHERE model_flops_actual "
                        "IS NOT NULL")[0]['n'] == sum(v[0] is not None for v in mine.values())
        if mine and whole and len(run.hosts) == 1:
            checked['steps'] += check_steps(run, mine)
    if any(p.name.startswith('/device:TPU:') for planes in run.hosts.values() for p in planes):
        checked['tpu'] += check_tpu(run)


def each(run):
    tried('instructions ' + run.path, check_instructions, run)
    tried('flops ' + run.path, check, run)


def compared_enough():
    assert checked['gpu'] > 50 and checked['tpu'] > 50 and checked[
        'steps'] > 2, 'only %s were compared' % dict(checked)


# ---- real profiles, by their known shapes ----

def check_dump(dump, name):
    with open(os.path.join(dump, name), 'rb') as f:
        program = Program(f.read())
    rows = Run(dump, []).ask("SELECT hlo_op, model_flops_actual AS flops "
                       "FROM hlo_instructions({x}) WHERE opcode = 'custom-call' "
                       "AND expression LIKE '%__cublas$gemm%'")
    agree('products', {r['hlo_op']: r['flops'] for r in rows},
          {op.name: program.known(op) for op in program.by_name.values()
           if op.target == '__cublas$gemm'})
    agree('number of products', len(rows), 159)


def check_known():
    """Five runs of one convolution; products of matrices of known sizes; a program whose cost XLA
    itself reports."""
    shared = os.path.join(os.path.dirname(compare.ROOT), 'shared')
    amd = os.path.join(shared, 'data', 'xplane', 'AMD-AGI-TraceLens')

    def known(path, sql, want, rel=1e-9):
        if os.path.exists(path):
            tried(path, lambda: agree(sql, [list(r.values()) for r in Run(path, []).ask(sql)],
                                      want, rel))
    known(os.path.join(amd, 'jax_conv_minimal'), "SELECT occurrences, occurrences_actual, "
          "model_flops_actual FROM hlo_ops({x}) WHERE category = 'custom-call'",
          [[10, 5, 5 * 32715571200.0]])
    sizes = [(16384, 1024, 4096), (8192, 4096, 8192), (4096, 4096, 4096), (2048, 8192, 2048),
             (1024, 1024, 1024)]
    known(os.path.join(amd, 'jax08_gemm', 'tw003.xplane.pb'), "SELECT occurrences_actual, "
          "model_flops_actual FROM hlo_ops({x}) WHERE hlo_op = 'custom-call.1' ORDER BY 2",
          sorted([3, 3 * 2.0 * m * n * k] for m, k, n in sizes))
    known(os.path.join(shared, 'samples', 'recorded', 'jax_train_transformer'),
          "SELECT sum(i.model_flops_actual) FROM hlo_instructions({x}) AS i "
          "JOIN hlo_computations({x}) AS c USING (run, host, program_id, computation) "
          "WHERE c.is_entry AND c.hlo_module = 'jit_train_step'", [[198286592.0]], 1e-6)
    dump = os.path.join(shared, 'data', 'hlo', 'NVIDIA-JAX-Toolbox', 'maxtext_fsdp4_h100')
    name = 'module_0016.jit_train_step.sm_9.0_gpu_after_optimizations.hlo.pb'
    if os.path.exists(os.path.join(dump, name)):
        tried(dump, check_dump, dump, name)


# ---- made profiles ----

F32, BF16, S8 = 11, 16, 2


def shape(kind, *dimensions):
    layout = L(5, *(V(1, d) for d in reversed(range(len(dimensions)))))
    return V(2, kind) + b''.join(V(3, d) for d in dimensions) + layout


def tuple_of(*shapes):
    return V(2, 13) + b''.join(L(4, s) for s in shapes)


def instruction(number, name, opcode, result, operands=(), *rest):
    return L(2, L(1, name), L(2, opcode), L(3, result), V(35, number),
             *(V(36, i) for i in operands), *rest)


def hlo(name, *computations):
    """An HloProto; the first computation is the entry, and stands last in the file. Their ids count
    from 1."""
    out = L(1, name) + V(5, 1) + V(6, 1) + L(2, 'main') + L(4, L(1, shape(F32)))
    for i, (instructions, root) in reversed(list(enumerate(computations))):
        out += L(3, L(1, 'main' if not i else 'c%d' % i), *instructions, L(4, b''), V(5, i + 1),
                 V(6, root))
    return L(1, out)


def call(number, name, target, result, operands, config='', *rest):
    return instruction(number, name, 'custom-call', result, operands, L(28, target),
                       *([L(43, config)] if config else []), *rest)


def gpu(proto, streams, **kernel_stats):
    """A profile of program 7 on one GPU; streams: [[(op, kernel), ...], ...], each kernel 10 ns
    after the one before."""
    names = sorted({k for s in streams for _, k in s})
    stats = b''.join(stat_metadata(i, n)
                     for i, n in enumerate(('hlo_op', 'program_id', 'flops', 'correlation_id'), 1))
    meta = b''.join(event_metadata(i, n) for i, n in enumerate(names, 1))
    lines = [line(i + 10, 'Stream #%d(Compute)' % i, [
        event(names.index(k) + 1, at * 10000, 5000, (stat(1, str=op), stat(2, uint64=7), *(
            [stat(3, uint64=kernel_stats[op])] if op in kernel_stats else [])))
        for at, (op, k) in enumerate(s)]) for i, s in enumerate(streams)]
    programs = plane(9, '/host:metadata', (),
                     event_metadata(7, 'jit_f(7)', '',
                                    (stat(1, bytes=proto),)) + stat_metadata(1, 'Hlo Proto'))
    return space(plane(1, '/device:GPU:0', lines, meta + stats), programs)


def tpu(events, metadata=(('flops', 1000), ('model_flops', 3000))):
    """One op of a TensorCore; events: stats of each; None: a stat without a value."""
    names = ('program_id', 'symbol_id', 'hlo_category', 'flops', 'model_flops')

    def number(name, value):
        return stat(names.index(name) + 1, **({} if value is None else {'uint64': value}))
    own = [number(k, v) for k, v in metadata]
    meta = event_metadata(1, '%k = f32[8]{0} custom-call()', 'k',
                          (stat(1, uint64=7), stat(2, uint64=5), stat(3, str='custom-call'), *own))
    rows = [event(1, at * 10000, 5000, [number(k, v) for k, v in stats.items()])
            for at, stats in enumerate(events)]
    return space(plane(1, '/device:TPU:0', [line(1, 'XLA Ops', rows)],
                       meta + b''.join(stat_metadata(i, n) for i, n in enumerate(names, 1))))


SQL = ('SELECT hlo_op, occurrences, occurrences_actual, flops_actual, model_flops_actual '
       'FROM hlo_ops({x}) WHERE rank > 0 ORDER BY hlo_op')
GEMM = ('{"gemm_backend_config":{"dot_dimension_numbers":{'
        '"lhs_contracting_dimensions":["%s"],"rhs_contracting_dimensions":["%s"]%s}}}')


def expect(name, data, want, sql=SQL):
    with tempfile.NamedTemporaryFile(suffix='.xplane.pb') as f:
        f.write(data)
        f.flush()
        tried(name, lambda: agree(name, [tuple(r.values()) for r in Run(f.name, []).ask(sql)],
                                  want))


def parameter(number, *dims, kind=F32):
    return instruction(number, 'p%d' % number, 'parameter', shape(kind, *dims), (), V(9, number))


def check_made():
    a, b = parameter(0, 6, 4), parameter(1, 4, 10)
    work = tuple_of(shape(F32, 6, 10), shape(S8, 1024))
    gemm = call(2, 'gemm', '__cublas$gemm', work, (0, 1), GEMM % (1, 0, ''))
    negate = instruction(3, 'negate', 'negate', shape(F32, 6, 4), (0,))
    program = hlo('f', ([a, b, gemm, negate], 2))
    flops = 2.0 * 6 * 10 * 4
    two = [('gemm', 'main'), ('gemm', 'reduce')]
    between = [('negate', 'loop')]
    expect('two kernels an execution', gpu(program, [(two + between) * 3]),
           [('gemm', 6, 3, 3 * flops, 3 * flops), ('negate', 3, 3, 72.0, 72.0)])
    expect('nothing between executions', gpu(program, [two * 4]),
           [('gemm', 8, 4, 4 * flops, 4 * flops)])
    expect('one kernel more than once',
           gpu(program, [([('gemm', 'pass')] * 3 + two + between) * 2]),
           [('gemm', 10, 2, 2 * flops, 2 * flops), ('negate', 2, 2, 48.0, 48.0)])
    expect('the capture starts in an execution',
           gpu(program, [[('gemm', 'reduce')] + between + (two + between) * 2]),
           [('gemm', 5, 3, 3 * flops, 3 * flops), ('negate', 3, 3, 72.0, 72.0)])
    expect('other kernels in other executions',
           gpu(program, [[('gemm', 'small')] + between + two + between + two]),
           [('gemm', 5, 3, 3 * flops, 3 * flops), ('negate', 2, 2, 48.0, 48.0)])
    expect('nodes of a graph mix', gpu(program, [[two[0], between[0], two[1]] * 3]),
           [('gemm', 6, 3, 3 * flops, 3 * flops), ('negate', 3, 3, 72.0, 72.0)])
    expect('two streams', gpu(program, [[two[0]] * 3, [two[1]] * 3]),
           [('gemm', 6, 3, 3 * flops, 3 * flops)])
    expect('one kernel of all', gpu(program, [[('negate', 'loop')] * 5]),
           [('negate', 5, 5, 120.0, 120.0)])

    batch = '"lhs_batch_dimensions":["0"],"rhs_batch_dimensions":["0"]'
    left, right = parameter(0, 5, 6, 4, kind=20), parameter(1, 5, 10, 4, kind=20)
    narrow = call(2, 'f8', '__cublas$lt$matmul$f8', tuple_of(shape(BF16, 5, 6, 10), shape(S8, 8)),
                  (0, 1), GEMM % (2, 2, ',' + batch))
    n = 2.0 * 5 * 6 * 10 * 4
    expect('8 bit products count half against the peak',
           gpu(hlo('f', ([left, right, narrow], 2)), [[('f8', 'k')]]), [('f8', 1, 1, n / 2, n)])
    older = call(
        2, 'old', '__cublas$gemm', shape(F32, 6, 10), (0, 1),
        '{"dot_dimension_numbers":{"lhs_contracting_dimensions":["1"],'
        '"rhs_contracting_dimensions":["0"]}}')
    expect('an older configuration', gpu(hlo('f', ([a, b, older], 2)), [[('old', 'k')]]),
           [('old', 1, 1, flops, flops)])
    bare = call(2, 'bare', '__cublas$gemm', shape(F32, 6, 10), (0, 1))
    expect('a product without configuration', gpu(hlo('f', ([a, b, bare], 2)), [[('bare', 'k')]]),
           [('bare', 1, 1, None, None)])
    other = call(2, 'other', 'my_kernel', shape(F32, 6, 10), (0, 1))
    expect('work that nobody knows', gpu(hlo('f', ([a, b, other], 2)), [[('other', 'k')] * 2]),
           [('other', 2, 2, None, None)])
    expect('a kernel that brings its own', gpu(hlo('f', ([a, b, other], 2)), [[('other', 'k')] * 2],
                                               other=500), [('other', 2, 2, 1000.0, 1000.0)])
    fused = instruction(2, 'fused', 'fusion', shape(F32, 6, 4), (0,), L(11, 'kLoop'), V(38, 2))
    inside = [instruction(10, 'q', 'parameter', shape(F32, 6, 4)),
              instruction(11, 'e', 'exponential', shape(F32, 6, 4), (10,)),
              instruction(12, 'm', 'multiply', shape(F32, 6, 4), (11, 10)),
              instruction(13, 's', 'add', shape(F32, 6, 4), (12, 11))]
    expect('a fusion, whose exponential counts nothing',
           gpu(hlo('f', ([a, fused], 2), (inside, 13)), [[('fused', 'k')]]),
           [('fused', 1, 1, 48.0, 48.0)])

    # images 2 x 3 x 8 x 8, kernels 5 x 3 x 3 x 3, no padding: 6 x 6 places of 9 pairs
    numbers = L(16, V(7, 0), V(8, 1), V(11, 2), V(11, 3), V(4, 0), V(3, 1), V(6, 2), V(6, 3),
                V(9, 0), V(10, 1), V(12, 2), V(12, 3))
    window = L(15, *(L(1, V(1, 3), V(2, 1), V(5, 1), V(6, 1)) for _ in range(2)))
    image, kernel, result = (2, 3, 8, 8), (5, 3, 3, 3), (2, 5, 6, 6)
    n = 2.0 * 2 * 3 * 5 * 36 * 9
    for target, x, y, z in (('Forward', image, kernel, result),
                            ('BackwardInput', result, kernel, image),
                            ('BackwardFilter', image, result, kernel)):
        conv = call(2, 'conv', '__cudnn$conv' + target, tuple_of(shape(F32, *z), shape(S8, 64)),
                    (0, 1), '', numbers, window, V(50, 1), V(58, 1))
        expect('convolution, ' + target,
               gpu(hlo('f', ([parameter(0, *x), parameter(1, *y), conv], 2)),
                   [[('conv', 'im2col'), ('conv', 'gemm')] * 5]), [('conv', 10, 5, 5 * n, 5 * n)])

    # 2 x 3 heads, 16 queries and keys of 8
    config = ('{"cudnn_fmha_backend_config":{"intermediate_tensor_shape":{"element_type":"BF16",'
              '"dimensions":["2","3","16","16"]}}}')
    q = [parameter(i, 2, 3, 16, 8, kind=BF16) for i in range(3)]
    n = 2.0 * 2 * 3 * 16 * 16 * 8
    forward = call(3, 'fmha', '__cudnn$fmhaSoftmax',
                   tuple_of(shape(BF16, 2, 3, 16, 8), shape(S8, 8)), (0, 1, 2), config)
    expect('attention: two products', gpu(hlo('f', (q + [forward], 3)), [[('fmha', 'k')]]),
           [('fmha', 1, 1, 2 * n, 2 * n)])
    backward = call(3, 'fmha', '__cudnn$fmhaSoftmaxBackward',
                    tuple_of(*[shape(BF16, 2, 3, 16, 8)] * 3, shape(S8, 8)), (0, 1, 2), config)
    expect('and four backwards', gpu(hlo('f', (q + [backward], 3)), [[('fmha', 'k')]]),
           [('fmha', 1, 1, 4 * n, 4 * n)])
    solve = call(2, 'solve', '__cublas$triangularSolve', tuple_of(shape(F32, 6, 4), shape(S8, 8)),
                 (0, 1))
    expect('a triangular solve',
           gpu(hlo('f', ([parameter(0, 6, 6), parameter(1, 6, 4), solve], 2)), [[('solve', 'k')]]),
           [('solve', 1, 1, 2.0 * 6 * 24, 2.0 * 6 * 24)])

    inner = [instruction(10, 'q', 'parameter', shape(F32, 6, 4)),
             instruction(11, 'inner', 'negate', shape(F32, 6, 4), (10,))]
    graph = instruction(2, 'graph', 'call', shape(F32, 6, 4), (0,), V(38, 2))
    expect('a graph recorded as one event',
           gpu(hlo('f', ([a, graph], 2), (inner, 11)), [[('graph', 'CudaGraph')] * 2]),
           [('graph', 2, 2, 48.0, 48.0)])
    expect('or as its kernels too',
           gpu(hlo('f', ([a, graph], 2), (inner, 11)), [[('graph', 'copy'), ('inner', 'k')] * 2]),
           [('graph', 2, 2, None, None), ('inner', 2, 2, 48.0, 48.0)])

    expect('a TPU: the metadata', tpu([{}] * 3), [('k', 3, 3, 3000.0, 9000.0)])
    expect('a TPU: what events say of themselves counts',
           tpu([{'flops': 7, 'model_flops': 9}, {'flops': 5}, {}]), [('k', 3, 3, 1012.0, 3014.0)])
    expect('a TPU: a stat without a value is none',
           tpu([{'flops': 7, 'model_flops': 9}, {'flops': 5, 'model_flops': None},
                {'flops': None, 'model_flops': 8}]),
           [('k', 3, 3, 1012.0, 3014.0)])
    expect('a TPU: so it is in the metadata', tpu([{}], (('flops', None),)),
           [('k', 1, 1, None, None)])
    expect('a TPU: nothing is known', tpu([{}], ()), [('k', 1, 1, None, None)])
    expect('the type of a library call is that of its result', gpu(program, [two]), [('f32', 480)],
           "SELECT element_type, model_flops_actual FROM hlo_instructions({x}) "
           "WHERE hlo_op = 'gemm'")


def made():
    if looks_at_all():
        tried('profiles with ops', compared_enough)
    check_known()
    check_made()


if __name__ == '__main__':
    main(each, made)
