#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Programs, from the bytes of their HLO protos: hlo_modules, hlo_computations, hlo_instructions,
hlo_operands and what fusion_breakdown says of fusions; and padding_waste from the rows of
buffer_allocations, which are compared with XProf elsewhere (tests/parity).

Some columns of hlo_instructions start from what is compared with XLA or XProf: expression from the
text of the program, fingerprint from XProf's Events DB, costs on a GPU from the rates of ops."""
import collections
import os
import re
import sys

sys.dont_write_bytecode = True
import hlo  # noqa: E402
from compare import agree, main, tried  # noqa: E402
from hlo import Message  # noqa: E402
from shapes import TUPLE, Shape, is_library_call, library_bytes, listed  # noqa: E402
from xspace import program_id, text  # noqa: E402

ALL = 1000000000
MIB = 1048576.0
CALLERS = 'call', 'while', 'conditional', 'async-start'
met = collections.Counter()  # ways of bytes_of_caller()


class Program:
    def __init__(self, module):
        self.module, self.name = module, module.text(1)
        self.entry_name, self.entry = module.text(2), module.int(6)
        self.computations = [Message(x) for x in module.all(3)]
        self.instructions = {c.int(5): [Message(x) for x in c.all(2)] for c in self.computations}
        self.by_id = {}
        for instructions in self.instructions.values():
            for i in instructions:
                self.by_id.setdefault(i.int(35), i)
        self.names = {id: i.text(1) for id, i in self.by_id.items()}

    def parameter_bytes(self):
        sizes = [Shape(i.sub(3)).stored_bytes() for i in self.instructions.get(self.entry, ())
                 if i.text(2) == 'parameter']
        return None if None in sizes else sum(sizes)

    def stack(self, metadata):
        """[(file, line, column)] of an instruction, innermost first."""
        index, found = self.module.sub(17) or Message(), []
        files, locations, frames = index.all(1), index.all(3), index.all(4)
        at = metadata.int(15)
        while 0 < at <= len(frames) and len(found) < 1000:
            frame = Message(frames[at - 1])
            if not 0 < frame.int(1) <= len(locations):
                break
            place = Message(locations[frame.int(1) - 1])
            file = text(files[place.int(1) - 1]) if 0 < place.int(1) <= len(files) else ''
            found.append((file, place.int(3), place.int(4)))
            at = frame.int(2)
        return found


def protos_of(run):
    """{(host, program id): (name of the plane, bytes)}"""
    found = {}
    for host, planes in run.hosts.items():
        for p in planes:
            for key, meta in p.metas.items() if p.name == '/host:metadata' else ():
                proto = meta.stats.get('Hlo Proto', meta.stats.get('HLO Proto'))
                if isinstance(proto, bytes) and Message(proto).sub(1):
                    found.setdefault((host, str(program_id(key, meta))), (p.name, proto))
    return found


def programs_of(run, make=Program):
    """{(host, program id): program}"""
    return {key: make(Message(proto).sub(1)) for key, (_, proto) in protos_of(run).items()}


def structure(run, programs):
    def ours(table, *columns):
        """Rows of a program: those that this reader found too."""
        rows = collections.defaultdict(list)
        for r in run.ask('SELECT * FROM %s({x})' % table):
            if (r['host'], r['program_id']) in programs:
                rows[r['host'], r['program_id']].append([r[c] for c in columns])
        return rows
    modules = ours('hlo_modules', 'program_id', 'hlo_module', 'entry_computation',
                   'computation_count', 'instruction_count', 'parameter_bytes')
    computations = ours('hlo_computations', 'computation_id', 'program_id', 'hlo_module',
                        'computation', 'is_entry', 'is_fusion', 'instruction_count',
                        'execution_thread')
    instructions = ours('hlo_instructions', 'computation', 'instruction_id', 'hlo_op', 'opcode',
                        'tf_op', 'op_type', 'is_root', 'called_computations')
    operands = ours('hlo_operands', 'instruction_id', 'operand_index', 'operand_id', 'program_id',
                    'hlo_module', 'hlo_op', 'operand')
    agree('programs', sorted(modules), sorted(programs))
    for key, p in programs.items():
        names = {c.int(5): c.text(1) for c in p.computations}
        fused = {c for of in p.instructions.values() for i in of if i.text(2) == 'fusion'
                 for c in i.ints(38)}
        agree('module %s' % (key,), modules[key],
              [[key[1], p.name, p.entry_name or names.get(p.entry), len(p.computations),
                sum(map(len, p.instructions.values())), p.parameter_bytes()]])
        agree('computations of %s' % (key,), sorted(computations[key]),
              sorted([c.int(5), key[1], p.name, c.text(1), int(c.int(5) == p.entry), int(
                  bool(c.int(7)) or c.int(5) in fused), len(c.all(2)), c.text(8)
                      if c.text(8) not in ('', 'main') else None]
                     for c in p.computations))
        want, takes = [], []
        for c in p.computations:
            for i in map(Message, c.all(2)):
                metadata = i.sub(7) or Message()
                want.append([c.text(1), i.int(35), i.text(1), i.text(2), metadata.text(2) or None,
                             metadata.text(1) or None, int(i.int(35) == c.int(6)),
                             ','.join(names.get(x, '?') for x in i.ints(38)) or None])
                takes += [[i.int(35), at, x, key[1], p.name, i.text(1), p.names.get(x)]
                          for at, x in enumerate(i.ints(36))]
        agree('instructions of %s' % (key,), sorted(instructions[key], key=repr),
              sorted(want, key=repr))
        agree('operands of %s' % (key,), sorted(operands[key], key=repr), sorted(takes, key=repr))


def modules(run, programs):
    """Where a program is in the file, and how many bytes it has; equal ones have one hash."""
    where, protos, hashes = dict(zip(run.hosts, run.files)), protos_of(run), {}
    got = [((r['host'], r['program_id']), r) for r in run.ask('SELECT * FROM hlo_modules({x})')]
    for key, r in got:
        if key in programs:
            plane, proto = protos[key]
            agree('module %s' % (key,), [r['path'], r['plane'], r['size_bytes']],
                  [where[r['host']], plane, len(proto)])
            hashes.setdefault(proto, r['content_hash'])
    for key, r in got:
        if key in programs:
            proto = protos[key][1]
            others = {x for other, x in hashes.items() if other != proto}
            agree('%s has a hash of its own' % (key,), r['content_hash'] in {
                hashes[proto]} - others, True)


ELEMENTWISE = set('''abs acos acosh asin asinh atanh round-nearest-afz round-nearest-even ceil
    count-leading-zeros convert bitcast-convert cosine cosh erf exponential exponential-minus-one
    floor imag is-finite log log-plus-one not negate popcnt real reduce-precision rsqrt logistic
    sign sine sinh sqrt cbrt tan tanh add atan2 compare complex divide maximum minimum multiply
    mulhi power remainder subtract and or xor shift-left shift-right-arithmetic shift-right-logical
    stochastic-convert select clamp map rng constant'''.split())


def category(i, operands):
    """As in XProf's op tables; operands: shapes."""
    code, window = i.text(2), [Message(x) for x in (i.sub(15) or Message()).all(1)]
    if code == 'fusion':
        return '%s fusion' % i.text(11)[1:].lower()
    if code == 'convolution':
        return code + ' base-dilated' * any(w.int(6) > 1 for w in window) + (
            ' window-dilated' * any(w.int(5) > 1 for w in window))
    if code in ('transpose', 'copy', 'reshape', 'dynamic-reshape'):
        return 'data formatting'
    if code == 'bitcast-convert' and operands[0].bits() != Shape(i.sub(3)).bits():
        return code
    return 'non-fusion elementwise' if code in ELEMENTWISE else code


def instructions_in_full(run, programs):
    """What an instruction computes, and where it comes from."""
    got = {(r['host'], r['program_id'], r['computation_id'], r['instruction_id']): r
           for r in run.ask('SELECT * FROM hlo_instructions({x})')}
    for (host, id), p in programs.items():
        for c in p.computations:
            for i in p.instructions[c.int(5)]:
                operands = [Shape(p.by_id[x].sub(3)) for x in i.ints(36) if x in p.by_id]
                r = got[host, id, c.int(5), i.int(35)]
                shape, metadata = Shape(i.sub(3)), i.sub(7) or Message()
                stack = p.stack(metadata)
                file, line = metadata.text(3), metadata.int(4)
                if not file and stack:
                    file, line, _ = stack[0]
                data, stored = shape.data_bytes(), shape.stored_bytes()
                want = dict(
                    program_id=id, hlo_module=p.name, computation_id=c.int(5),
                    category=category(i, operands), shape=shape.text(),
                    fusion_kind=i.text(11) or None, bytes=data, padded_bytes=stored,
                    memory_space=shape.memory_space(), source_file=file or None,
                    source_line=line if file else None,
                    source_stack='\n'.join('%s:%d:%d' % f for f in stack) or None)
                agree('%s of %s' % (i.text(1), id), {k: r[k] for k in want}, want)
                agree('padding of %s' % i.text(1), r['padding_efficiency'],
                      min(data / stored, 1) if stored else None)


def is_large(shape):
    """A constant that is not written out."""
    return shape.type == TUPLE or shape.elements() > 10


def expressions(run, programs):
    """The line of hlo_text without what configures a backend, and each operand with its shape."""
    lines = {(r['host'], r['program_id'], r['hlo_op']): r['text'].strip().removeprefix('ROOT ')
             for r in run.ask('SELECT * FROM hlo_text({x}) WHERE hlo_op IS NOT NULL')}
    for r in run.ask('SELECT host, program_id, hlo_op, opcode, instruction_id, expression '
                     'FROM hlo_instructions({x})'):
        p = programs.get((r['host'], r['program_id']))
        line = lines.get((r['host'], r['program_id'], r['hlo_op']))
        if p and line:
            operands = [p.by_id[x] for x in p.by_id[r['instruction_id']].ints(36) if x in p.by_id]
            shapes = [Shape(o.sub(3)).text().encode() for o in operands]
            cut = [s.decode() if len(s) <= 1000 else s[:1000].decode() + '...' for s in shapes]
            plain = listed('%' + o.text(1) for o in operands)
            full = listed('%s %%%s' % (s, o.text(1)) for s, o in zip(cut, operands))
            line = re.sub(', (backend_config|metadata|infeed_config|outfeed_config)=.*', '', line,
                          flags=re.S)
            if operands:
                line = line.replace(plain, full, 1)
            elif r['opcode'] == 'constant' and is_large(Shape(p.by_id[r['instruction_id']].sub(3))):
                line = re.sub(r'constant\(.*\)', 'constant({...})', line, flags=re.S)
            agree('text of %s' % r['hlo_op'], r['expression'], line)


def fingerprints(run, programs):
    if len(run.hosts) != 1:
        return
    known, got = collections.defaultdict(set), collections.defaultdict(set)
    for r in run.ask("SELECT DISTINCT hlo_module, hlo_op, hlo_fingerprint FROM xprof_events({x}) "
                     "WHERE hlo_fingerprint IS NOT NULL AND hlo_module <> ''"):
        known[r['hlo_module'], r['hlo_op']].add(r['hlo_fingerprint'])
    for r in run.ask('SELECT program_id, hlo_module, hlo_op, fingerprint '
                     'FROM hlo_instructions({x})'):
        for module in r['hlo_module'], '%(hlo_module)s(%(program_id)s)' % r:
            got[module, r['hlo_op']].add(r['fingerprint'])
    for key, of in known.items():
        if len(of) == len(got[key]):
            agree('fingerprints of %s' % (key,), got[key], of)
        else:
            agree('fingerprints of %s' % (key,), of - got[key], set())


def has_no_costs(program):
    """XLA's analysis fails at a collective that has global ids but no groups."""
    return any(i.int(71) and not any(any(i.all(f)) for f in (49, 87, 92, 93))
               for of in program.instructions.values() for i in of)


def costs(run, programs):
    """On hosts with TPUs of the metadata of events, of others by the rates that XProf shows."""
    got = {(r['host'], r['program_id'], r['hlo_op']): r for r in run.ask(
        'SELECT host, program_id, hlo_op, flops, model_flops, bytes_accessed'
        ', cost_source FROM hlo_instructions({x})')}
    names, on_tpus = ('flops', 'model_flops', 'bytes_accessed'), False
    for host, planes in run.hosts.items():
        metas = {}
        for plane in planes:
            if plane.name.startswith('/device:TPU:'):
                on_tpus = True
                for meta in plane.metas.values():
                    if isinstance(meta.stats.get('program_id'), int) and meta.display:
                        key = host, str(meta.stats['program_id'] % 2**64), meta.display
                        metas.setdefault(key, meta.stats)
        for key, r in got.items():
            if on_tpus and key[0] == host:
                stats = metas.get(key, {})
                recorded = [stats.get(n) for n in names]
                if any(isinstance(x, int) for x in recorded):
                    agree('costs of %s' % (key,), [r[n] for n in names] + [r['cost_source']],
                          recorded + ['metadata'])
    if not on_tpus and len(run.hosts) == 1:
        for r in run.ask('SELECT * FROM hlo_ops({x}) WHERE rank > 0 AND total_time_us > 0'):
            one = got.get((*run.hosts, r['program_id'], r['hlo_op']))
            if one:
                each = r['total_time_us'] / r['occurrences']
                want = [r['normalized_gflops'] * each * 1e3, r['model_gflops'] * each * 1e3,
                        r['memory_bw_gibps'] * each / 1e6 * 2**30, 'program']
                if has_no_costs(programs[(*run.hosts, r['program_id'])]):
                    agree('rates of %s' % r['hlo_op'], want[:3], [0, 0, 0])
                    want = [None] * 4
                agree('costs of %s' % r['hlo_op'], [one[n] for n in names] + [one['cost_source']],
                      want, rel=1e-6, abs_tol=0.01)


def inside(program, op, within=()):
    """Instructions that a call, loop, conditional or async-start runs, also in each other: what a
    fusion runs is no memory's. None: a program that calls itself."""
    found = []
    for x in (x for c in op.calls for x in program.computations.get(c, ())):
        if x.opcode in CALLERS:
            more = None if x.id in within else inside(program, x, (*within, x.id))
            if more is None:
                return None
            found += more
        found.append(x)
    return found


def total(program, op, of):
    """Of a call, loop, conditional or async-start; of: {id: bytes} of all else and of what
    async-starts have themselves."""
    if op.opcode not in CALLERS:
        return of[op.id] or 0
    sums = [sum(total(program, x, of) for x in program.computations.get(c, ())) for c in op.calls]
    return max(sums) if op.opcode == 'conditional' else sum(sums) + (
        of[op.id] if op.opcode == 'async-start' else 0)


def bytes_of_caller(program, op, counted, own):
    """bytes_accessed_actual of a call, loop, conditional or async-start; counted: bytes_accessed by
    id; own: bytes of custom calls by id. XLA counts some of them as -1, which the column
    shows as 0."""
    run = inside(program, op)
    calls = [x for x in run or () if x.opcode == 'custom-call']
    if run is None or not calls or counted[op.id] is None:
        return counted[op.id]
    if any(own[x.id] is None for x in calls):
        return None
    hidden = {x.id: counted[x.id] or -1 for x in calls}
    if any(x.opcode in ('conditional', 'async-start') and any(
            hidden[y.id] != own[y.id] for y in inside(program, x) if y.id in hidden)
            for x in [*run, op]):
        return None
    base, of = counted[op.id], {**counted, **hidden}
    if op.opcode != 'async-start' and max(total(program, op, of), 0) == base:
        base = total(program, op, of)
    else:  # XLA counts them as 0, or not in here
        hidden = {x.id: counted[x.id] for x in calls}
    met['calls in a %s' % op.opcode] += 1
    met['-1 shown as 0'] += base < 0
    met['-1 in a sum'] += base > 0 and -1 in hidden.values()
    return base + sum(own[x.id] - hidden[x.id] for x in calls)


def bytes_of_calls(run, programs):
    """bytes_accessed_actual: on hosts without TPUs of libraries' calls their operands and results,
    NULL of other custom calls, and of what runs them as bytes_of_caller() says."""
    on_tpus = {host for host, planes in run.hosts.items()
               if any(p.name.startswith('/device:TPU:') for p in planes)}
    got, counted, own = run.ask(
        'SELECT host, program_id, hlo_op, instruction_id, opcode, bytes_accessed, '
        'bytes_accessed_actual FROM hlo_instructions({x})'), {}, {}
    found = {key: hlo.Program(proto) for key, (_, proto) in protos_of(run).items()}
    for r in got:
        key, id = (r['host'], r['program_id']), r['instruction_id']
        counted.setdefault(key, {})[id] = r['bytes_accessed']
        if r['opcode'] == 'custom-call' and key in programs:
            call = found[key].by_id[id]
            own.setdefault(key, {})[id] = library_bytes(
                found[key], call) if is_library_call(call) else None
    for r in got:
        key, id, want = (r['host'], r['program_id']), r['instruction_id'], r['bytes_accessed']
        if key in programs:
            if r['host'] not in on_tpus and r['opcode'] == 'custom-call':
                want = own[key][id]
            elif r['host'] not in on_tpus and r['opcode'] in CALLERS and key in own:
                want = bytes_of_caller(found[key], found[key].by_id[id], counted[key], own[key])
                met['NULL of a %s' % r['opcode']] += want is None
            agree('bytes of %s' % r['hlo_op'], r['bytes_accessed_actual'], want)


def fusion_breakdown(run, programs):
    """Of each fusion: what its computation consists of. Hosts with equal numbers are one row."""
    want = set()
    for p in programs.values():
        for of in p.instructions.values():
            for i in of:
                if i.text(2) == 'fusion':
                    inside = collections.Counter(x.text(2) for c in i.ints(38)
                                                 for x in p.instructions.get(c, [])
                                                 if x.text(2) != 'parameter')
                    if inside:
                        want.add((p.name, i.text(1), sum(inside.values()), ', '.join(
                            '%s %d' % x for x in sorted(inside.items(),
                                                        key=lambda x: (-x[1], x[0])))))
    got = run.ask('SELECT * FROM fusion_breakdown({x}, %d)' % ALL)
    rows = {(r['hlo_module'], r['hlo_op'], r['instructions'], r['opcodes']) for r in got}
    agree('fusions', sorted(rows), sorted(want))
    times = [r['self_time_us'] for r in got if r['self_time_us'] is not None]
    agree('order of fusions', times, sorted(times, reverse=True))
    if len(run.hosts) != 1:
        return
    on_tpus = run.ask("SELECT hlo_module, hlo_op, total_self_time_us AS us FROM hlo_ops({x}) "
                      "WHERE core_type <> ''")
    elsewhere = run.ask("SELECT hlo_module, hlo_op, self_us AS us FROM scope_ops({x}) "
                        "WHERE plane_kind IN ('gpu', 'host') AND name IS NULL "
                        "AND hlo_op IS NOT NULL")
    of_ops, of_fusions = collections.Counter(), collections.Counter()
    for r in on_tpus + elsewhere:
        of_ops[r['hlo_module'], r['hlo_op']] += r['us']
    for r in got:
        of_fusions[r['hlo_module'], r['hlo_op']] += r['self_time_us'] or 0
    agree('times of fusions', dict(of_fusions), {key: of_ops[key] for key in of_fusions}, rel=1e-6)


# ---- buffers ----

def label(b):
    return b['hlo_op'] + (b['shape_index'] or '')


def padding_waste(run):
    buffers = run.ask('SELECT * FROM buffer_allocations({x}) WHERE padding_bytes_actual > 0')
    want = collections.Counter()
    for b in buffers:
        want[b['hlo_module'], label(b), b['memory_space'], b['padding_bytes_actual'] / MIB,
             b['size_bytes'] / MIB, b['size_bytes'] / b['unpadded_bytes_actual']
             if b['unpadded_bytes_actual'] else None] += 1
    got = run.ask('SELECT * FROM padding_waste({x}, %d)' % ALL)
    columns = ('hlo_module', 'hlo_op', 'memory_space', 'padding_mib', 'size_mib', 'expansion')
    agree('padding', sorted({tuple(r[c] for c in columns) for r in got}, key=repr),
          sorted(want, key=repr), rel=1e-6)
    agree('order of padding', [r['padding_mib'] for r in got],
          sorted((r['padding_mib'] for r in got), reverse=True))
    for r in got:
        if r['padding_time_us'] is not None:
            agree('time that goes into padding: at most all',
                  0 <= r['padding_time_us'] <= r['self_time_us'] + 1e-9, True)


def each(run):
    found = programs_of(run)
    if found:
        for check in (structure, modules, instructions_in_full, expressions, fingerprints, costs,
                      bytes_of_calls, fusion_breakdown):
            tried('%s %s' % (check.__name__, run.path), check, run, found)
        tried('padding_waste ' + run.path, padding_waste, run)


if __name__ == '__main__':
    main(each)
