#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Questions about compiled programs: donation from the buffer assignments in the bytes of each
program; and program_cost, layout_ops and time_by_type from the rows of instructions, operands and
scope_ops, which are compared elsewhere."""
import collections
import os
import random
import sys
import tempfile

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import xspace  # noqa: E402
from compare import Run, agree, main, seeds, tried  # noqa: E402
from hlo import Message  # noqa: E402
from lib import hlo  # noqa: E402
from lib.wire import Plane, space  # noqa: E402
from memory import integer, integers, last, message  # noqa: E402
from outputs import Made  # noqa: E402
from queries import percent, ranked, rows_agree  # noqa: E402
from shapes import TUPLE, Shape  # noqa: E402

MIB = 1048576.0


# ---- donation ----

def leaves(shape, index=()):
    """(place, shape) of each array."""
    if shape.type != TUPLE:
        yield index, shape
    for i, part in enumerate(shape.parts):
        yield from leaves(part, index + (i,))


class Program:
    """The entry computation's parameters and outputs, and the allocations that hold them."""

    def __init__(self, proto):
        module, assignment = message(last(proto, 1, b'')), message(last(proto, 3, b''))
        self.name, self.ops, self.entry, self.root = xspace.text(last(module, 1, b'')), {}, [], None
        self.roots = {}  # of computations
        for c in map(message, module[3]):
            ops = [message(x) for x in c[2]]
            self.roots[integer(c, 5)] = integer(c, 6)
            self.ops.update((integer(op, 35), op) for op in ops)
            if integer(c, 5) == integer(module, 6):
                self.entry, self.root = ops, integer(c, 6)
        by_name = {self.text(op, 1): op for op in self.ops.values()}
        holds = {integer(message(x), 1): a for a in map(message, assignment[3]) for x in a[9]}
        self.places = {}  # of a part of an instruction's result: the allocation
        for m in map(message, assignment[1]):
            at = message(last(m, 3, b''))
            op = self.ops.get(integer(at, 4)) or by_name.get(xspace.text(last(at, 2, b'')))
            if op and integer(m, 1) in holds:
                self.places[integer(op, 35), tuple(integers(at, 3))] = holds[integer(m, 1)]

    def text(self, op, field):
        return xspace.text(last(op, field, b''))

    def maker(self, id, index, calls=()):
        """The instruction, and the part of its result, that makes a part of a result. calls: those
        whose computations it is in, the innermost first."""
        op = self.ops[id]
        code, operands = self.text(op, 2), integers(op, 36)
        if code == 'tuple' and index:
            return self.maker(operands[index[0]], index[1:], calls)
        if code == 'get-tuple-element':
            return self.maker(operands[0], (integer(op, 13),) + index, calls)
        if code in ('bitcast', 'opt-barrier'):
            return self.maker(operands[0], index, calls)
        if code == 'call' and (id, index) not in self.places:
            return self.maker(self.roots[integers(op, 38)[0]], index, (id, *calls))
        if code == 'parameter' and calls:
            return self.maker(integers(self.ops[calls[0]], 36)[integer(op, 9)], index, calls[1:])
        return id, index

    def outputs(self):
        """[instruction, part, shape, allocation]"""
        if self.root not in self.ops:
            return []
        made = [(*self.maker(self.root, index), shape.text())
                for index, shape in leaves(Shape(Message(last(self.ops[self.root], 3, b''))))]
        return [(*m, self.places.get(m[:2])) for m in made]

    def donation(self):
        """[parameter, shape, MiB, donated, could be, output]"""
        outputs, found = self.outputs(), []
        own = {}  # shapes of outputs in memory of their own; what is two outputs counts once
        for _, _, shape, a in outputs:
            if a and last(a, 7) and not last(a, 5):
                own.setdefault(integer(a, 1), shape)
        free = collections.Counter(own.values())
        for op in self.entry:
            for index, shape in leaves(Shape(Message(last(op, 3, b'')))):
                a = self.places.get((integer(op, 35), index))
                if self.text(op, 2) == 'parameter' and a and not integer(a, 8):
                    found.append((integer(a, 1), op, index, shape.text(), a))
        rows = []
        for _, op, index, shape, a in sorted(found, key=lambda f: f[0]):
            inside = [(id, part) for id, part, _, other in outputs if other is a]
            names = [label(self.text(self.ops[id], 1), part) for id, part in inside
                     if self.ops[id] is not op]
            could_be = not inside and free[shape] > 0
            free[shape] -= could_be
            rows.append((label(self.text(op, 1), index), shape, integer(a, 2) / MIB,
                         int(bool(inside)), int(could_be), names[0] if names else None))
        could_save = sum(r[2] for r in rows if r[4])
        return [r + (could_save,) for r in rows]


def label(name, index):
    return name + ('{%s}' % ','.join(map(str, index)) if index else '')


def programs_of(run):
    """{(host, program id): HloProto}"""
    found = {}
    for host, planes in zip([r['host'] for r in run.ask('SELECT host FROM hosts({x})')],
                            run.hosts.values()):
        for p in planes:
            for key, meta in p.metas.items() if p.name == '/host:metadata' else ():
                proto = meta.stats.get('Hlo Proto', meta.stats.get('HLO Proto'))
                if isinstance(proto, bytes) and message(proto)[1]:
                    found.setdefault((host, str(xspace.program_id(key, meta))), message(proto))
    return found


def donation(run):
    want, ids, protos = collections.Counter(), set(), programs_of(run)
    for (_, id), proto in protos.items():
        program = Program(proto)
        ids.add(id)
        want.update((id, program.name, *r) for r in program.donation())
    got = [r for r in run.ask('SELECT * FROM donation({x})') if r['program_id'] in ids]
    rows_agree('donation', [list(r.values())[1:] for r in got],
               [[*key, hosts] for key, hosts in want.items()])
    of = collections.defaultdict(list)
    for r in got:
        of[r['program_id'], r['could_save_mib'], r['hosts']].append(r)
    order = [(r['could_be'], r['size_mib']) for rows in of.values() for r in rows]
    if len(of) == len(protos) == len({id for id, _, _ in of}):
        totals = [sum(r['size_mib'] for r in rows) for rows in of.values()]
        agree('programs in order', totals, sorted(totals, reverse=True))
        agree('parameters in order', order, [
            x for rows in of.values()
            for x in sorted(((r['could_be'], r['size_mib']) for r in rows), reverse=True)])
    agree('the first two', run.ask('SELECT * FROM donation({x}, 2)'),
          run.ask('SELECT * FROM donation({x})')[:2])


def of_all_kinds():
    """A tuple of which a part is donated, a parameter that is an output, three of one shape for two
    outputs, one of them by a bitcast, and one whose shape only a temporary has."""
    f, g, square = hlo.shape(hlo.F32, 256), hlo.shape(hlo.F32, 512), hlo.shape(hlo.F32, 16, 16)
    ops = [hlo.instruction(1, 'state', 'parameter', hlo.tuple_of(f, g)),
           hlo.instruction(2, 'kept', 'parameter', g)]
    ops += [hlo.instruction(i, 'p%d' % i, 'parameter', f) for i in (3, 4, 5)]
    ops += [hlo.instruction(6, 'part', 'get-tuple-element', g, [1], more=hlo.V(13, 1)),
            hlo.instruction(7, 'new', 'negate', g, [6]), hlo.instruction(8, 'x', 'negate', f, [3]),
            hlo.instruction(9, 'y', 'negate', square, [4]),
            hlo.instruction(11, 'flat', 'bitcast', f, [9]),
            hlo.instruction(10, 'both', 'tuple', hlo.tuple_of(g, g, f, f), [7, 2, 8, 11])]
    parts = [(1, (0,)), (1, (1,)), (2, ()), (3, ()), (4, ()), (5, ()), (7, ()), (8, ()), (9, ())]
    size = [1024, 2048, 2048, 1024, 1024, 1024, 2048, 1024, 1024]
    buffers = [hlo.buffer(i, size[i], id, index) for i, (id, index) in enumerate(parts)]
    places = [hlo.allocation(0, 1024, [(0, 0, 1024)], parameter=True),
              hlo.allocation(1, 2048, [(1, 0, 2048), (6, 0, 2048)], parameter=True, live_out=True),
              hlo.allocation(2, 2048, [(2, 0, 2048)], parameter=True, live_out=True)]
    places += [hlo.allocation(i, 1024, [(i, 0, 1024)], parameter=True) for i in (3, 4, 5)]
    places += [hlo.allocation(i, 1024, [(i, 0, 1024)], live_out=True) for i in (7, 8)]
    return hlo.proto(hlo.module('m', hlo.computation(1, 'main', ops, 10)),
                     hlo.assignment(buffers, places))


def moving(element_type, last='sum'):
    """A fusion that copies and reshapes, one that converts, and a product of a library."""
    flat, square = hlo.shape(element_type, 16), hlo.shape(element_type, 4, 4)

    def body(id, opcode):
        return hlo.computation(id, 'body%d' % id, [
            hlo.instruction(10 * id, 'q%d' % id, 'parameter', square),
            hlo.instruction(10 * id + 1, 'r%d' % id, 'reshape', flat, [10 * id]),
            hlo.instruction(10 * id + 2, 's%d' % id, opcode, flat, [10 * id + 1])])
    ops = [hlo.instruction(1, 'p', 'parameter', square),
           hlo.instruction(2, 'moved', 'fusion', flat, [1], [2]),
           hlo.instruction(3, 'converted', 'fusion', flat, [1], [3]),
           hlo.instruction(4, 'gemm', 'custom-call', hlo.shape(hlo.S32, 4), [2],
                           more=hlo.L(28, '__cublas$gemm')),
           hlo.instruction(5, last, 'add', flat, [3, 2])]
    return hlo.proto(hlo.module('m', hlo.computation(1, 'main', ops), body(2, 'copy'),
                                body(3, 'convert')))


def host_with(proto, n_runs=0):
    metadata, gpu = Plane('/host:metadata'), Plane('/device:GPU:0', 2)
    metadata.meta('m(1)', stats={'Hlo Proto': {'bytes': proto}}, key=1)
    kernels = [(op, 1000 * (10 * i + at), 100 * (i + at + 1), {
        'hlo_op': {'str': op}, 'hlo_module': {'str': 'm'}, 'program_id': {'uint64': 1}})
               for i in range(n_runs)
               for at, op in enumerate(('moved', 'converted', 'gemm', 'sum'))]
    gpu.line(1, 'Stream #1', kernels)
    return space(metadata.bytes(), gpu.bytes())


def made_run(top, *hosts):
    folder = os.path.join(top, 'plugins', 'profile', 'run')
    os.makedirs(folder)
    files = [os.path.join(folder, 'h%d.xplane.pb' % i) for i in range(len(hosts))]
    for file, data in zip(files, hosts):
        with open(file, 'wb') as f:
            f.write(data)
    return Run(folder, files)


def donation_by_hand(run):
    donation(run)
    agree('by hand', [[r['hlo_op'], r['donated'], r['could_be'], r['output']]
                      for r in run.ask('SELECT * FROM donation({x})')],
          [['state{0}', 0, 1, None], ['p3', 0, 1, None], ['state{1}', 1, 0, 'new'],
           ['kept', 1, 0, None], ['p4', 0, 0, None], ['p5', 0, 0, None]])


def donating(dice):
    """A program made at random. Some of its outputs are in the memory of parameters, which
    temporaries use too."""
    program = Made(dice)
    results = Program(message(program.proto())).outputs()
    outputs = {(id, index) for id, index, *_ in results}
    given = [b for b in program.buffers if b[0] <= len(program.main.parameters)]
    results = dice.sample(sorted(outputs - set(given)), len(outputs - set(given)))
    rest = [b for b in program.buffers if b not in given and b not in outputs]
    memory = {b: [b] for b in given}
    for b in given:
        if results and b not in outputs and dice.random() < 0.6:
            memory[b].append(results.pop())
            memory[b] += [rest.pop(dice.randrange(len(rest))) for _ in range(3) if rest]
    memory.update((b, [b]) for b in results + rest)
    numbers = {b: i + 1 for i, b in enumerate(program.buffers)}
    return space(program.metadata([
        hlo.allocation(i, 96, [(numbers[b], 0, 96) for b in of], parameter=first in given,
                       live_out=bool(outputs & set(of)))
        for i, (first, of) in enumerate(memory.items())]))


def made():
    with tempfile.TemporaryDirectory() as top:
        run = made_run(top, host_with(moving(hlo.F32), 3), host_with(moving(hlo.BF16), 4),
                        host_with(moving(hlo.F32), 2))
        for check in (program_cost, layout_ops, time_by_type):
            tried('%s of programs of one id' % check.__name__, check, run)
    with tempfile.TemporaryDirectory() as top:
        run = made_run(top, *[host_with(moving(hlo.F32, last), 3) for last in ('sum', 'total')],
                       host_with(moving(hlo.F32).replace(b'__cublas$gemm', b'__another$one'), 1))
        tried('program_cost of equal numbers', program_cost, run)
    with tempfile.TemporaryDirectory() as top:
        run = made_run(top, *[host_with(of_all_kinds())] * 2)
        tried('donation of each kind', donation_by_hand, run)
    for seed in seeds(60):
        with tempfile.TemporaryDirectory() as top:
            run = made_run(top, donating(random.Random(seed)))
            tried('donation of seed %d' % seed, donation, run)


# ---- what ran ----

class Tables:
    """Rows of programs and ops, by host, program id and name."""

    def __init__(self, run):
        (self.modules, self.instructions, operands, self.computations, self.ops) = run.ask_all(
            'SELECT * FROM hlo_modules({x})', 'SELECT * FROM hlo_instructions({x})',
            'SELECT * FROM hlo_operands({x})', 'SELECT * FROM hlo_computations({x})',
            'SELECT * FROM scope_ops({x})')
        self.hash = {(m['host'], m['program_id']): m['content_hash'] for m in self.modules}
        self.of, self.inside = collections.defaultdict(list), collections.defaultdict(list)
        self.by_name, self.operand, self.user = {}, {}, {}
        for i in sorted(self.instructions, key=lambda i: i['instruction_id']):
            program = i['host'], i['program_id']
            self.of[program].append(i)
            self.inside[(*program, i['computation'])].append(i)
            self.by_name[(*program, i['hlo_op'])] = i
        for o in sorted(operands, key=lambda o: o['instruction_id']):
            program = o['host'], o['program_id']
            if o['operand_index'] == 0:
                self.operand[(*program, o['hlo_op'])] = (*program, o['operand'])
            self.user.setdefault((*program, o['operand']), o['hlo_op'])
        self.all_us = collections.Counter()
        for o in self.ops:
            self.all_us[o['plane_kind']] += o['self_us']

    def instruction(self, op):
        return self.by_name.get((op['host'], op['program_id'], op['hlo_op']))

    def fused(self, i):
        """Instructions of a fusion."""
        return [x for c in (i['called_computations'] or '').split(',')
                for x in self.inside.get((i['host'], i['program_id'], c), [])
                ] if i['opcode'] == 'fusion' else []

    def first_operand(self, i):
        return self.by_name.get(self.operand.get((i['host'], i['program_id'], i['hlo_op'])))

    def is_only(self, i, wanted, *more):
        """Whether an instruction, or all of a fusion but what is free, is of wanted opcodes."""
        codes = {x['opcode'] for x in self.fused(i)} or {i['opcode']}
        return bool(codes & wanted) and not codes - wanted - {'parameter', 'reshape', 'bitcast',
                                                              *more}


def is_product(i):
    target = i['expression'].partition('custom_call_target="')[2].partition('"')[0].lower(
    ) if i['opcode'] == 'custom-call' else ''
    return i['opcode'] in ('dot', 'ragged-dot', 'scaled-dot', 'convolution') or (
        any(w in target for w in ('gemm', 'matmul', '$conv', '$fmha')) and 'reorder' not in target)


def time_by_type(run):
    t = Tables(run)
    sums = collections.defaultdict(lambda: [set(), 0, 0.0, 0.0, 0.0])
    for op in t.ops:
        i = t.instruction(op)
        product = next((x for x in [i] + t.fused(i) if is_product(x)), None) if i else None
        typed = t.first_operand(product) if product else i
        of = sums[op['plane_kind'], typed['element_type'] if typed else None]
        if i:
            of[0].add((t.hash[op['host'], op['program_id']], op['program_id'], op['hlo_op']))
        of[1] += op['occurrences']
        of[2] += op['self_us']
        of[3] += op['self_us'] if product else 0
        of[4] += op['self_us'] if i and t.is_only(i, {'convert'}, 'copy') else 0
    want = [[kind, type, len(of[0]), of[1], of[2], percent(of[2], t.all_us[kind]), *of[3:]]
            for (kind, type), of in sums.items()]
    if not any(type for _, type in sums):
        want = []
    got = run.ask('SELECT * FROM time_by_type({x})')
    rows_agree('time_by_type', [list(r.values())[2:] for r in got], want, rel=1e-7)
    for kind in t.all_us:
        ranked('time_by_type', [r for r in got if r['plane_kind'] == kind], lambda r: r['self_us'])


def layout_ops(run):
    t = Tables(run)
    sums, share = collections.defaultdict(lambda: [0, 0.0]), collections.Counter()
    for op in t.ops:
        i = t.instruction(op)
        if i and t.is_only(i, {'copy', 'transpose'}):
            operand = t.first_operand(i)
            of = sums[op['plane_kind'], op['program_id'], t.hash[i['host'], i['program_id']],
                      i['hlo_module'], i['hlo_op'], i['opcode'], i['shape'],
                      operand['shape'] if operand else None,
                      t.user.get((i['host'], i['program_id'], i['hlo_op'])), i['owner_tf_op'],
                      i['user_file'], i['user_line']]
            of[0] += op['occurrences']
            of[1] += op['self_us']
            share[op['plane_kind']] += op['self_us']
    want = [[key[0], *key[3:8], n, us, percent(us, t.all_us[key[0]]),
             percent(share[key[0]], t.all_us[key[0]]), *key[8:]] for key, (n, us) in sums.items()]
    got = run.ask('SELECT * FROM layout_ops({x})')
    ranked('layout_ops', got, lambda r: r['self_us'])
    rows_agree('layout_ops', [list(r.values())[2:] for r in got], want, rel=1e-7)
    agree('the first two', run.ask('SELECT * FROM layout_ops({x}, 2)'), got[:2])


def operations(i):
    """Of a custom call whose work is unknown, those that a TPU's events record."""
    recorded = i['opcode'] == 'custom-call' and i['cost_source'] == 'metadata'
    return i['model_flops'] if i['model_flops_actual'] is None and recorded else i[
        'model_flops_actual']


def program_cost(run):
    t = Tables(run)
    compiled, executed = collections.Counter(), collections.Counter()
    for c in run.ask('SELECT host, program_id, duration_ps FROM compilations({x})'):
        compiled[c['host'], c['program_id']] += c['duration_ps']
    for r in run.ask('SELECT host, program_id FROM program_runs({x})'):
        executed[r['host'], r['program_id']] += 1
    entries = {(c['host'], c['program_id'], c['computation']) for c in t.computations
               if c['is_entry']}
    want = {}
    for m in t.modules:
        key = m['host'], m['program_id']
        of = [i for i in t.of[key] if (*key, i['computation']) in entries]
        flops, moved = [operations(i) for i in of], [i['bytes_accessed_actual'] for i in of]
        row = want.setdefault((
            key[1], m['hlo_module'], len(t.of[key]), m['computation_count'],
            sum(i['opcode'] == 'while' for i in t.of[key]),
            None if None in flops or not flops else float(sum(flops)),
            None if None in moved or not moved else float(sum(moved)),
            *(None if b is None else b / MIB for b in (m['parameter_bytes'],
                                                       m['peak_heap_bytes']))), [None, 0, 0])
        if key in compiled:
            row[0] = max(row[0] or 0, compiled[key] / 1e9)
        row[1:] = row[1] + executed[key], row[2] + 1
    got = run.ask('SELECT * FROM program_cost({x})')
    rows_agree('program_cost', [list(r.values())[2:] for r in got],
               [[*key, ms, n if executed else None, hosts]
                for key, (ms, n, hosts) in want.items()])
    agree('ranks', [r['rank'] for r in got], list(range(1, len(got) + 1)))
    order = [tuple(-1 if r[c] is None else r[c] for c in ('compile_ms', 'flops')) for r in got]
    agree('order', order, sorted(order, reverse=True))
    agree('the first two', run.ask('SELECT * FROM program_cost({x}, 2)'), got[:2])


def each(run):
    tried('donation ' + run.path, donation, run)
    for check in (program_cost, layout_ops, time_by_type):
        tried('%s %s' % (check.__name__, run.path), check, run)


if __name__ == '__main__':
    main(each, made)
