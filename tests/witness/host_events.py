#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Messages between slices (dcn_messages, dcn_bursts), and of GPUs which kernel ran for which
framework op, and how (kernel_ops, kernel_stats), from the bytes of each profile."""
import collections
import os
import random
import re
import sys
import tempfile

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
from compare import Run, agree, integer, looks_at_all, main, numbered, seeds, tried  # noqa: E402
from flops import programs_of  # noqa: E402
from hlo import Message, Program  # noqa: E402
from lib import hlo  # noqa: E402
from lib.wire import L, Plane, V, space  # noqa: E402
from ops import op_text  # noqa: E402
from places import Named  # noqa: E402
from xspace import Stats  # noqa: E402

met = collections.Counter()  # what the programs made at random have
RECEIVE = 'MegaScale: Communication Transport Receive'


# ---- messages between slices ----

def messages(run):
    """{host: [message]} of the host threads."""
    found = collections.defaultdict(list)
    for event_id, host, plane, line, e in numbered(run):
        if plane.kind == 'host' and e.name == RECEIVE:
            s = e.stats
            ids = [integer(s.get('dcn_%s' % x))
                   for x in ('source_slice_id', 'source_per_slice_device_id',
                             'destination_slice_id', 'destination_per_slice_device_id')]
            duration = (integer(s.get('duration_us')) or 0) * 1000000
            bad = not isinstance(s.get('dcn_label'), str) or not s['dcn_label'] or None in ids
            validity = 'BAD_KEY' if bad else 'CLOCK_SKEW' if not duration else 'LOOPBACK' if ids[
                0] == ids[2] else 'VALID'
            found[host].append(dict(event_id=event_id, ids=ids, label=s.get('dcn_label'),
                                    bytes=integer(s.get('payload_size_bytes')),
                                    start=e.start_ps - duration, end=e.start_ps,
                                    validity=validity, chunk=integer(s.get('dcn_chunk')),
                                    loop_index=integer(s.get('dcn_loop_index'))))
    return found


def dcn(run):
    by_host = messages(run)
    got = {r['event_id']: r for r in run.ask('SELECT * FROM dcn_messages({x})')}
    agree('messages', sorted(got), sorted(m['event_id'] for of in by_host.values() for m in of))
    bursts = []
    for host, of_host in by_host.items():
        valid = sorted((m for m in of_host if m['validity'] == 'VALID'),
                       key=lambda m: (m['start'], m['end']))
        groups, until = [], None
        for m in valid:
            if until is None or m['start'] > until:
                groups.append([])
                until = m['end']
            groups[-1].append(m)
            until = max(until, m['end'])
        for number, group in enumerate(groups, 1):
            first, last = min(m['start'] for m in group), max(m['end'] for m in group)
            carried = sum(m['bytes'] or 0 for m in group)
            at_once = max(sum(x['start'] <= m['start'] < x['end'] for x in group) for m in group)
            rate = carried / (last - first) * 1e12
            bursts.append([host, number, first, last - first, len(group), carried, at_once, rate,
                           'Low' if rate < 4.17e9 else 'Medium' if rate < 8.34e9 else 'High',
                           rate / 12.5e9])
            for m in group:
                m['burst'] = number
            ends = sorted((m['end'] for m in group), reverse=True)[:4]
            agree('stragglers of burst %d' % number,
                  [got[x]['start_ps'] + got[x]['duration_ps'] for x in sorted(
                      (m['event_id'] for m in group if got[m['event_id']]['straggler'] is not None),
                      key=lambda x: got[x]['straggler'])], ends)
        for m in of_host:
            r = got[m['event_id']]
            agree('message %d' % m['event_id'],
                  [r['label'], [r[c] for c in ('source_slice', 'source_device', 'destination_slice',
                                               'destination_device')], r['bytes'], r['start_ps'],
                   r['duration_ps'], r['validity'], r['burst'], r['chunk'], r['loop_index']],
                  [m['label'], m['ids'], m['bytes'], m['start'], m['end'] - m['start'] or None,
                   m['validity'], m.get('burst'), m['chunk'], m['loop_index']])
    agree('bursts',
          [list(r.values())[1:]
           for r in run.ask('SELECT run, host, burst, start_ps, duration_ps, message_count, bytes, '
                            'max_overlap, bytes_per_second, bandwidth, utilization_fraction '
                            'FROM dcn_bursts({x}) ORDER BY host, burst')], sorted(bursts), rel=1e-6)


# ---- kernels ----

TYPE = re.compile(r'([A-Z_][A-Za-z0-9_]*|[a-z_][a-z0-9_]*(\[.*\])?)?', re.ASCII)  # of an op
# XProf's names of kernels on tensor cores, and those that it lacks (docs/semantics.md).
NVIDIA = re.compile('16816|c1688|conv1x1|conv2d_c1_k1|dgrad_1x1_stride_2x2|direct_group|'
                    'first_layer_wgrad_kernel|h1688|h884|hmma|i16832|i8816|s884|s1688|xmma_gemm|'
                    'xmma_implicit_gemm|xmma_sparse_conv|xmma_sparse_gemm|'
                    'xmma_warp_specialized_implicit_gemm|'
                    'wgmma|gmma|wmma|tensorop|nvjet|tcgen05|utcmma|tensor16x8|'
                    'xmma_[fdw](prop|grad)|flash_(fwd|bwd|fprop|bprop)|fmha')
ORDINARY = re.compile('ffma|simt|conv2d_c1_k1|fmha_cutlass(.*_sm50|(?!.*_f16_)(?!.*_sm80))')
AMD = re.compile('gemm_fusion|Custom_Cijk_|_xdl|gtcx|miopenSp3AsmConvRage|moe_gemm|moe_mxgemm|wmma|'
                 'aiter|FMHA_FWD|attn_fwd|bwd_kernel_|mfma|_MI[0-9]+x[0-9]+x[0-9]+|'
                 'FmhaFwd(|SplitKV|PagedKV)Kernel|FmhaBwdDQDKDVKernel|ck_tile::GemmKernel')


def on_tensor_cores(name, vendor):
    """Of an unknown vendor's GPU either may be right."""
    of_nvidia = NVIDIA.search(name) and not ORDINARY.search(name)
    return bool(of_nvidia and vendor != 'AMD' or AMD.search(name) and vendor != 'Nvidia')


def opcodes(program, op, depth=0):
    found = {op.opcode}
    for c in op.calls if depth < 10 else ():
        for inner in program.computations.get(c, ()):
            found |= opcodes(program, inner, depth + 1)
    return found


def multiplies(program, op):
    """Whether an HLO op has a product, a convolution or a call of a library in it."""
    found = opcodes(program, op)
    return bool(found & {'dot', 'scaled-dot', 'ragged-dot', 'convolution', 'custom-call'}
                or {'multiply', 'reduce'} <= found)


# ---- Triton ----

F32, WIDE_ALGORITHMS, OPAQUE, TOKEN, BUFFER = 11, (11, 12), 14, 17, 34
NARROW = {2, 6, 10, 16, 19, 20, 21, 22, 23, 24, 25, 28, 29, 32, 35, 36}


def is_rounded(program, dot):
    """Whether tensor cores can compute a dot of these numbers."""
    precision = dot.m.sub(51) or Message()
    algorithm = precision.int(2)
    rounds = algorithm not in WIDE_ALGORITHMS if algorithm else not any(precision.ints(1))
    types = [program.by_id[i].shape.type for i in dot.operands[:2] if i in program.by_id]
    return len(types) == 2 and all(t in NARROW or t == F32 and rounds for t in types)


def dots(program, op, depth=0):
    for c in op.calls if depth < 10 else ():
        for inner in program.computations.get(c, ()):
            if inner.opcode == 'dot':
                yield inner
            yield from dots(program, inner, depth + 1)


def is_triton_product(program, op):
    """Whether XLA compiles a fusion with Triton, with a dot in it that tensor cores compute."""
    kind = program.config(op).get('fusion_backend_config', {}).get('kind', '')
    if op.opcode != 'fusion' or not kind.startswith('__triton'):
        return False
    found = [is_rounded(program, dot) for dot in dots(program, op)]
    met.update(['%s product of Triton' % ('a' if any(found) else 'a wide' if found else 'no')])
    return any(found)


def named_op(metadata):
    """XProf's name of an instruction's op."""
    return metadata.text(2) or (':' + metadata.text(1) if metadata.text(1) else '')


# XProf's names of ops that are products or convolutions.
ENDS = ('Conv2D', 'Conv2DBackpropFilter', 'Conv2DBackpropInput', 'Conv3D', 'DepthwiseConv2dNative',
        'DepthwiseConv2dNativeBackpropFilter', 'DepthwiseConv2dNativeBackpropInput', '/MatMul',
        'FusedMatMul', '/CudnnRNN', 'XlaDot', 'XlaDotV2')
PARTS = ('BatchMatMul', 'CudnnRNNV', 'CudnnRNNForward', 'CudnnRNNBackprop', 'dot_general',
         'conv_general_dilated')


def is_eligible(uses, product, *ops):
    """Whether tensor cores could run an op: a kernel on them shows it, else one of the op's names,
    unless its HLO op has no product in it."""
    named = any((op or '').endswith(ENDS) or any(part in (op or '') for part in PARTS)
                for op in ops)
    return int(uses or named and product is not False)


def kernels_of(planes):
    """Kernels are what XProf treats as kernels: events with a duration and kernel_details of their
    own (of several the last), of TPUs if the host has any. (name, nanoseconds, HLO op, framework
    op, whether tensor cores could run it, details, whether they do)"""
    prefix, programs = '/device:TPU:' if any(p.name.startswith('/device:TPU:')
                                             for p in planes) else '/device:GPU:', {}
    names = {}
    for p in planes:
        for line in p.lines if p.name.startswith(prefix) else ():
            for e in line.events if not line.derived else ():
                stats = Stats(p, reversed(e.messages))
                details = stats.get('kernel_details')
                if e.duration_ps and isinstance(details, str) and details:
                    for name, value in e.meta.stats.items():
                        stats.setdefault(name, value)
                    programs = programs or {id: Program(proto)
                                            for id, proto in programs_of(planes).items()}
                    names = names or {id: Named(program) for id, program in programs.items()}
                    id, hlo_op = integer(stats.get('program_id')), stats.get('hlo_op')
                    hlo_op = hlo_op.rpartition('::')[2] if isinstance(hlo_op, str) else None
                    program = programs.get(id % 2**64 if id is not None else None)
                    op = program.by_name.get(hlo_op) if program else None
                    run, also = op, ''
                    if op:
                        name = named_op(op.m.sub(7) or Message())
                    else:
                        known = names[id % 2**64].by_kernel if program and hlo_op else {}
                        of = known.get(e.name, [])
                        run = of[0] if len(of) == 1 else None
                        also = named_op(run.m.sub(7) or Message()) if run else ''
                        name = op_text(stats) or ''
                        before, _, kind = name.partition(':')
                        if before not in ('', 'Iterator') and TYPE.fullmatch(kind):
                            name = before
                    # XProf's kernel stats treat the duration as unsigned
                    uses = int(on_tensor_cores(e.name, p.stats.get('device_vendor'))
                               or bool(run) and is_triton_product(program, run))
                    product = multiplies(program, run) if run else None
                    yield (e.name, e.duration_ps % 2**64 // 1000, hlo_op and (id, hlo_op),
                           name or None, is_eligible(uses, product, name or None, also), details,
                           uses)


def launch_of(details):
    """(registers, shared memory, block, grid, occupancy); None: not known."""
    def number(name):
        found = re.search(r'(?:^|[ \n])%s:([0-9]+)(?![0-9.])' % name, details)
        return int(found.group(1)) if found else None
    static, dynamic = number('static_shared'), number('dynamic_shared')
    shared = number('group_mem') if number('shm') is None else number('shm')
    registers = number('regs')
    is_set = registers is None or registers <= 1024  # else the profiler wrote what memory had
    sizes = [re.search(r'(?:^|[ \n])%s:([0-9]+,[0-9]+,[0-9]+)' % name, details)
             for name in ('block', 'grid')]
    occupancy = re.search(r'(?:^|[ \n])occ_pct:([0-9.]+)', details)
    if static is not None or dynamic is not None:
        shared = (static or 0) + (dynamic or 0)
    return (registers if is_set else None, shared if is_set else None,
            *(s.group(1) if s else None for s in sizes),
            float(occupancy.group(1)) if occupancy and 0 < float(occupancy.group(1)) <= 100
            else None)


ACTUAL = ('registers_per_thread_actual', 'shared_memory_bytes_actual', 'block_dim_actual',
          'grid_dim_actual', 'occupancy_percent_actual', 'op_name_actual',
          'kernel_uses_tensorcore_actual', 'op_is_tensorcore_eligible_actual')


def kernel_stats(run):
    """What is right of kernels of which one row shows all launches."""
    rows = collections.defaultdict(list)
    for r in run.ask('SELECT * FROM kernel_stats({x}, 0)'):
        rows[r['host'], r['kernel_name']].append(r)
    for host, planes in run.hosts.items():
        launches = collections.defaultdict(set)
        for name, _, _, op, eligible, details, uses in kernels_of(planes):
            launches[name].add(launch_of(details) + (op, uses, eligible))
        for name, of in launches.items():
            if len(rows[host, name]) == 1:
                want = [values.pop() if len(values) == 1 else None for values in map(set, zip(*of))]
                want[-1] = max(eligible for *_, eligible in of)  # if one of them is
                agree('launches of %s' % name, [rows[host, name][0][c] for c in ACTUAL], want)


def kernel_ops(run):
    """All rows of a kernel and op together."""
    want = collections.defaultdict(list)
    for host, planes in run.hosts.items():
        found, running = list(kernels_of(planes)), set()
        for _, _, hlo_op, op, _, _, uses in found:
            if uses:
                running.add(hlo_op or op)
        for name, ns, hlo_op, op, eligible, _, uses in found:
            helps = eligible and not uses and (hlo_op or op) in running
            want[host, name, op, eligible, uses, int(helps)].append(ns / 1e3)
    got = collections.defaultdict(lambda: [0, 0.0, [], []])
    for r in run.ask('SELECT * FROM kernel_ops({x})'):
        of = got[tuple(r[k] for k in ('host', 'kernel_name', 'op_name', 'op_is_tensorcore_eligible',
                                      'kernel_uses_tensorcore', 'is_helper'))]
        of[0], of[1] = of[0] + r['occurrences'], of[1] + r['total_duration_us']
        of[2].append(r['min_duration_us'])
        of[3].append(r['max_duration_us'])
    agree('kernels', {k: [n, us, min(least), max(most)] for k, (n, us, least, most) in got.items()},
          {k: [len(t), sum(t), min(t), max(t)] for k, t in want.items()}, rel=1e-6)


def each(run):
    for check in (dcn, kernel_ops, kernel_stats):
        tried('%s %s' % (check.__name__, run.path), check, run)


# ---- kernels made at random ----

KERNELS = ('volta_h884gemm', 'ampere_sgemm', 'sm90_xmma_gemm_f16', 'cutlass_tensorop_f16', 'im2col',
           'Cijk_MI16x16x16', 'elementwise', 'wgmma_simt')
OPS = ('model/MatMul:MatMul', 'Conv2D:Conv2D', 'layer/dot_general:', 'add:Add', 'x/BatchMatMulV2:')


def kernels(dice):
    """On a GPU of a vendor; the ops share them."""
    plane = Plane('/device:GPU:0', stats={'device_vendor': {'str': dice.choice(
        ('Nvidia', 'AMD', 'other'))}})
    found = []
    for i in range(dice.randrange(2, 12)):
        details = 'regs:%d static_shared:%d dynamic_shared:0 grid:1,1,1 block:32,1,1 occ_pct:%d' % (
            dice.choice((16, 32, 1025)), dice.randrange(3), dice.choice((0, 50, 100)))
        found.append((dice.choice(KERNELS), i * 10**6, 10**6, {
            'kernel_details': {'str': details}, 'correlation_id': {'uint64': i},
            **({'tf_op': {'str': dice.choice(OPS)}} if dice.random() < 0.9 else {})}))
    return space(plane.line(1, 'Stream #1', found).bytes())


CONFIGS = ['{"fusion_backend_config":{"kind":"__triton_gemm"}}',
           '{"fusion_backend_config":{"kind":"__triton"}}',
           '{"fusion_backend_config":{"kind":"__custom_fusion"}}', '{"kind":"__triton"}', '']
TYPES = [t for t in range(1, 37) if t not in (hlo.TUPLE, OPAQUE, TOKEN, BUFFER)]


class Body:
    """Instructions of a computation; what they are given are its parameters."""

    def __init__(self, made):
        self.made, self.types, self.ops = made, [], []

    def parameter(self, type):
        self.ops.append(hlo.instruction(
            self.made.number(), 'p%d' % self.made.n, 'parameter', hlo.shape(type, 8, 8),
            more=V(9, len(self.types))))
        self.types.append(type)
        return self.made.n

    def computation(self, id):
        return hlo.computation(id, 'c%d' % id, self.ops, self.made.n)


class Fusions:
    """A program of fusions with products of numbers of all types in them, some in other fusions."""

    def __init__(self, dice):
        self.dice, self.computations, self.names, self.n = dice, [], [], 10
        main = Body(self)
        for _ in range(dice.randint(1, 3)):
            self.fusion(main, 0)
        self.proto = hlo.proto(hlo.module('m', *self.computations, main.computation(1), more=L(4)))

    def number(self):
        self.n += 1
        return self.n

    def product(self, body):
        dice = self.dice
        left = dice.choice([hlo.F32, hlo.F32, hlo.BF16, dice.choice(TYPES)])
        right = left if dice.random() < 0.8 else dice.choice(TYPES)
        operands = [body.parameter(left), body.parameter(right)]
        algorithm = dice.choice([0, 0, 0, *range(1, 18)])
        precision = b''.join(V(1, dice.choice([0, 0, 0, 1, 2])) for _ in range(dice.choice([
            0, 2]))) + (V(2, algorithm) if algorithm else b'')
        body.ops.append(hlo.instruction(
            self.number(), 'dot.%d' % self.n, 'dot', hlo.shape(hlo.F32, 8, 8), operands,
            more=L(30, hlo.ints(1, 1) + hlo.ints(2, 0)) + (L(51, precision) if precision else b'')))

    def fusion(self, outer, depth):
        """Adds one to a computation."""
        dice, c, body = self.dice, self.number(), Body(self)
        for _ in range(dice.choice([0, 1, 1, 2])):
            self.product(body)
        if depth < 2 and dice.random() < 0.4:
            self.fusion(body, depth + 1)
        given = body.parameter(hlo.F32)
        body.ops.append(hlo.instruction(self.number(), 'negate.%d' % self.n, 'negate',
                                        hlo.shape(hlo.F32, 8, 8), [given]))
        self.computations.append(body.computation(c))
        operands, config = [outer.parameter(t) for t in body.types], dice.choice(
            CONFIGS[:1] * 4 + CONFIGS)
        self.names.append('fusion.%d' % self.number())
        outer.ops.append(hlo.instruction(
            self.n, self.names[-1], 'fusion', hlo.shape(hlo.F32, 8, 8), operands, [c],
            dice.choice(['', 'jit(f)/dot_general', 'jit(f)/add']),
            L(11, 'kCustom') + (L(43, config) if config else b'')))

    def planes(self):
        """Kernels that the fusions name, and some of a CUDA graph that are named after them."""
        metadata = Plane('/host:metadata', 9)
        metadata.meta('m(1)', stats={'Hlo Proto': {'bytes': self.proto}}, key=1)
        events = []
        for i, name in enumerate(self.names * 2):
            of_graph = self.dice.random() < 0.3
            events.append((name.replace('.', '_') if of_graph else 'kernel%d' % i, i * 10**6, 10**6,
                           {'kernel_details': {'str': 'regs:32'}, 'program_id': {'uint64': 1},
                            'hlo_op': {'str': 'command_buffer' if of_graph else name}}))
        return space(Plane('/device:GPU:0').line(1, 'Stream #1', events).bytes(), metadata.bytes())


def made():
    met.clear()
    for seed in seeds(60):
        dice = random.Random(seed)
        with tempfile.NamedTemporaryFile(suffix='.xplane.pb') as f:
            f.write(Fusions(dice).planes() if seed % 3 else kernels(dice))
            f.flush()
            run = Run(f.name, [f.name])
            if run.ask("SELECT 1 FROM prof_issues({x}) WHERE code = 'refused_program'"):
                continue  # XLA has no such product
            for check in (kernel_ops, kernel_stats):
                tried('%s of seed %d' % (check.__name__, seed), check, run)
    if looks_at_all():
        tried('fusions of Triton', lambda: agree(
            'fusions', [x for x in ('a', 'a wide', 'no') if not met[x + ' product of Triton']], []))


if __name__ == '__main__':
    main(each, made)
