#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Programs, from the bytes of their HLO protos: hlo_modules, hlo_computations, hlo_instructions,
hlo_operands and what fusion_breakdown says of fusions; and padding_waste and remat_candidates from
the rows of buffer_allocations, which are compared with XProf elsewhere (tests/parity)."""
import collections
import sys

sys.dont_write_bytecode = True
from compare import agree, checking, finish, runs  # noqa: E402
from hlo import Message  # noqa: E402
from xspace import program_id  # noqa: E402

ALL = 1000000000
MIB = 1048576.0


class Program:
    def __init__(self, module):
        self.name, self.entry_name, self.entry = module.text(1), module.text(2), module.int(6)
        self.computations = [Message(x) for x in module.all(3)]
        self.instructions = {c.int(5): [Message(x) for x in c.all(2)] for c in self.computations}
        self.names = {}
        for instructions in self.instructions.values():
            for i in instructions:
                self.names.setdefault(i.int(35), i.text(1))


def programs_of(run, make=Program):
    """{(host, program id): program}"""
    found = {}
    for host, planes in run.hosts.items():
        for p in planes:
            for key, meta in p.metas.items() if p.name == '/host:metadata' else ():
                proto = meta.stats.get('Hlo Proto', meta.stats.get('HLO Proto'))
                if isinstance(proto, bytes) and Message(proto).sub(1):
                    found.setdefault((host, str(program_id(key, meta))),
                                     make(Message(proto).sub(1)))
    return found


def structure(run, programs):
    def ours(table, *columns):
        """Rows of a program: those that this reader found too."""
        rows = collections.defaultdict(list)
        for r in run.ask('SELECT * FROM %s({x})' % table):
            if (r['host'], r['program_id']) in programs:
                rows[r['host'], r['program_id']].append([r[c] for c in columns])
        return rows
    modules = ours('hlo_modules', 'hlo_module', 'entry_computation', 'computation_count',
                   'instruction_count')
    computations = ours('hlo_computations', 'computation_id', 'computation', 'is_entry',
                        'is_fusion', 'instruction_count')
    instructions = ours('hlo_instructions', 'computation', 'instruction_id', 'hlo_op', 'opcode',
                        'tf_op', 'op_type', 'is_root', 'called_computations')
    operands = ours('hlo_operands', 'instruction_id', 'operand_index', 'operand_id', 'hlo_op',
                    'operand')
    agree('programs', sorted(modules), sorted(programs))
    for key, p in programs.items():
        names = {c.int(5): c.text(1) for c in p.computations}
        fused = {c for of in p.instructions.values() for i in of if i.text(2) == 'fusion'
                 for c in i.ints(38)}
        agree('module %s' % (key,), modules[key],
              [[p.name, p.entry_name or names.get(p.entry), len(p.computations),
                sum(map(len, p.instructions.values()))]])
        agree('computations of %s' % (key,), sorted(computations[key]),
              sorted([c.int(5), c.text(1), int(c.int(5) == p.entry), int(
                  bool(c.int(7)) or c.int(5) in fused), len(c.all(2))] for c in p.computations))
        want, takes = [], []
        for c in p.computations:
            for i in map(Message, c.all(2)):
                metadata = i.sub(7) or Message()
                want.append([c.text(1), i.int(35), i.text(1), i.text(2), metadata.text(2) or None,
                             metadata.text(1) or None, int(i.int(35) == c.int(6)),
                             ','.join(names.get(x, '') for x in i.ints(38)) or None])
                takes += [[i.int(35), at, x, i.text(1), p.names.get(x)]
                          for at, x in enumerate(i.ints(36))]
        agree('instructions of %s' % (key,), sorted(instructions[key], key=repr),
              sorted(want, key=repr))
        agree('operands of %s' % (key,), sorted(operands[key], key=repr), sorted(takes, key=repr))


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
                        want.add((p.name, i.text(1), sum(inside.values()),
                                  ', '.join(sorted('%s %d' % x for x in inside.items()))))
    got, counts = run.ask('SELECT * FROM fusion_breakdown({x}, %d)' % ALL), {}
    rows = {(r['hlo_module'], r['hlo_op'], r['instructions'],
             ', '.join(sorted((r['opcodes'] or '').split(', ')))) for r in got}
    agree('fusions', sorted(rows), sorted(want))
    for r in got:
        counts = [int(x.rpartition(' ')[2]) for x in (r['opcodes'] or '').split(', ') if x]
        agree('order of opcodes', counts, sorted(counts, reverse=True))
    times = [r['self_time_us'] for r in got if r['self_time_us'] is not None]
    agree('order of fusions', times, sorted(times, reverse=True))
    if len(run.hosts) != 1:
        return
    has_devices = run.ask('SELECT count(*) AS n FROM hlo_ops({x})')[0]['n'] > 0
    table = ('hlo_op, total_self_time_us AS us FROM hlo_ops({x}) WHERE rank > 0' if has_devices
             else 'hlo_op, self_ps / 1e6 AS us FROM trace_events({x}) WHERE hlo_op IS NOT NULL '
             'AND NOT derived')
    of_ops, of_fusions = collections.Counter(), collections.Counter()
    for r in run.ask('SELECT hlo_module, %s' % table):
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


def remat_candidates(run):
    """Temporaries whose storage lives across the peak of the main memory: of those, what an
    instruction computes cheaply by itself, neither communicates nor copies asynchronously, and is
    not computed again already."""
    aside = ('all-', 'collective-', 'ragged-all-', 'async-', 'reduce-scatter', 'send', 'recv',
             'infeed', 'outfeed', 'tuple', 'get-tuple-element', 'while', 'conditional', 'call')
    flops = {(r['host'], r['program_id'], r['hlo_op']): r['model_flops_actual']
             for r in run.ask('SELECT host, program_id, hlo_op, opcode, model_flops_actual '
                              'FROM hlo_instructions({x})')
             if not r['opcode'].startswith(aside) and not r['opcode'].endswith(('-start', '-done'))
             and not (r['opcode'] == 'custom-call' and r['model_flops_actual'] == 0)}
    peaks = {(r['host'], r['program_id'], r['memory_space']): r
             for r in run.ask('SELECT * FROM memory_peaks({x})')}
    events = {(r['host'], r['program_id'], r['memory_space']): r['n'] for r in
              run.ask('SELECT host, program_id, memory_space, max(event) AS n '
                      'FROM heap_timeline({x}) GROUP BY 1, 2, 3')}
    want = set()
    for b in run.ask("SELECT * FROM buffer_allocations({x}) WHERE memory_space = 0 AND kind = "
                     "'temporary' AND storage_start_event IS NOT NULL AND size_bytes > 0"):
        space, cost = (b['host'], b['program_id'],
                       b['memory_space']), flops.get((b['host'], b['program_id'], b['hlo_op']))
        again = '.remat' in b['hlo_op'] or 'rematted_computation' in (b['tf_op'] or '')
        if not again and space in peaks and cost is not None and cost <= 16 * b['size_bytes'] and b[
            'storage_start_event'] < (peaks[space]['peak_event'] or 0) < b['storage_end_event']:
            lived = 100 * (b['storage_end_event'] - b['storage_start_event']) / events[space]
            want.add((b['hlo_module'], b['hlo_op'], cost)
                     + tuple(round(x, 6) for x in (b['size_bytes'] / MIB, 100 * b['size_bytes']
                                                   / MIB / peaks[space]['peak_heap_mib'], lived)))
    got = run.ask('SELECT * FROM remat_candidates({x}, %d)' % ALL)
    agree('candidates', sorted({(r['hlo_module'], r['hlo_op'], r['flops']) + tuple(
        round(r[c], 6) for c in ('size_mib', 'peak_percent', 'lived_percent')) for r in got}),
          sorted(want))
    for r in got:
        agree('cost of a byte', r['flops_per_byte'], r['flops'] / r['size_mib'] / MIB, rel=1e-6)
    sizes = [r['size_mib'] * r['lived_percent'] for r in got]
    agree('order of candidates', sizes, sorted(sizes, reverse=True), rel=1e-6)


if __name__ == '__main__':
    for one in runs():
        found = programs_of(one)
        if found:
            for check in (structure, fusion_breakdown):
                with checking('%s %s' % (check.__name__, one.path)):
                    check(one, found)
            for check in (padding_waste, remat_candidates):
                with checking('%s %s' % (check.__name__, one.path)):
                    check(one)
    finish()
