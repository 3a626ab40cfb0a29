# SPDX-License-Identifier: Apache-2.0
"""Operations of HLO programs, from the bytes of the HloProto alone: what XLA's cost analysis
counts, with calls of libraries.

    program = Program(bytes of an HloProto)
    program.operations('fusion.1')       None: not known"""
import collections
import functools
import itertools
import json
import math
import re

from xspace import fields, signed, text

TRANSCENDENTAL = set('''acos acosh asin asinh atan2 atanh cbrt cosh cosine erf exponential
    exponential-minus-one log log-plus-one logistic power rsqrt sine sinh sqrt tan tanh'''.split())
PLAIN = set('''abs add and bitcast-convert ceil clamp compare complex convert count-leading-zeros
    divide floor imag is-finite maximum minimum mulhi multiply negate not or popcnt real
    reduce-precision remainder round-nearest-afz round-nearest-even select shift-left
    shift-right-arithmetic shift-right-logical sign stochastic-convert subtract xor'''.split())
TUPLE = 13
BITS = {1: 1, 2: 8, 6: 8, 21: 4, 22: 4, 19: 8, 20: 8, 23: 8, 24: 8, 25: 8, 28: 8, 29: 8, 33: 8,
        26: 2, 27: 2, 30: 1, 31: 1, 32: 4}


class Message:
    def __init__(self, data=b''):
        self.data = {}
        for number, x in fields(data):
            self.data.setdefault(number, []).append(x)

    def all(self, number):
        return self.data.get(number, [])

    def int(self, number):
        return signed(self.data.get(number, [0])[-1])

    def text(self, number):
        return text(self.data.get(number, [b''])[-1])

    def sub(self, number):
        return Message(self.data[number][-1]) if number in self.data else None

    def ints(self, number):
        """Packed or not."""
        out = []
        for x in self.all(number):
            if isinstance(x, int):
                out.append(signed(x))
                continue
            value = shift = 0
            for byte in x:
                value, shift = value | (byte & 127) << shift, shift + 7
                if byte < 128:
                    out.append(signed(value & (2**64 - 1)))
                    value = shift = 0
        return out


class Shape:
    def __init__(self, m):
        self.type, self.dimensions = (m.int(2), m.ints(3)) if m else (0, [])
        self.parts = [Shape(Message(x)) for x in m.all(4)] if m else []

    def first(self):
        return self.parts[0] if self.type == TUPLE and self.parts else self

    def elements(self):
        if self.type == TUPLE:
            return sum(p.elements() for p in self.parts)
        return 0 if self.type in (0, 14, 17) else math.prod(d if d > 0 else 0
                                                            for d in self.dimensions)


class Instruction:
    def __init__(self, data):
        m = self.m = Message(data)
        self.name, self.opcode, self.id = m.text(1), m.text(2), m.int(35)
        self.shape, self.operands, self.calls, self.target = Shape(m.sub(3)), m.ints(36), m.ints(
            38), m.text(28)


class Unknown(Exception):
    pass


def pairs(kernel, image, result, d):
    """Places of the kernel and of the result that meet a true element of the image, one by one."""
    size, stride, low, _, dilation, base = (d.int(i) for i in range(1, 7))
    dilation, base = max(dilation, 1), max(base, 1)
    n = 0
    for k, r in itertools.product(range(kernel), range(result)):
        at = r * stride - low + k * dilation
        n += 0 <= at <= (image - 1) * base and at % base == 0
    return n


def snake(config):
    """JSON of a protobuf message has its fields' names in either spelling."""
    return config and {re.sub('[A-Z]', lambda m: '_' + m.group().lower(), k): v
                       for k, v in config.items()}


@functools.lru_cache(maxsize=64)  # several witnesses look at the programs of a run
class Program:
    def __init__(self, proto):
        module = Message(proto).sub(1)
        self.name, self.id = module.text(1), module.int(5)
        self.payloads = module.all(22)
        self.computations, self.roots, self.by_id, self.by_name = {}, {}, {}, {}
        for data in module.all(3):
            c = Message(data)
            ops = [Instruction(x) for x in c.all(2)]
            self.computations.setdefault(c.int(5), ops)
            self.roots.setdefault(c.int(5), c.int(6))
            for op in ops:
                self.by_id.setdefault(op.id, op)
                self.by_name.setdefault(op.name, op)
        self.entry = module.int(6)
        self.sums = {}

    def operations(self, name):
        return self.known(self.by_name[name])

    def known(self, op):
        try:
            return self.needs(op)
        except (Unknown, KeyError, IndexError):
            return None

    def weight(self, op):
        shapes = [self.by_id[i].shape for i in op.operands if i in self.by_id]
        widest = max([BITS.get(s.type, 64)
                      for s in (shapes[:1] if op.opcode == 'custom-call' else shapes)
                      if s.type != TUPLE and s.type != 17] + [0])
        return {8: 0.5, 4: 0.25}.get(widest, 1)

    def called(self, op, i=0):
        if op.calls[i] not in self.sums:
            self.sums[op.calls[i]] = None
            self.sums[op.calls[i]] = [self.known(x) for x in self.computations[op.calls[i]]]
        sums = self.sums[op.calls[i]]
        if sums is None or None in sums:
            raise Unknown
        return sum(sums)

    def shape(self, op, i):
        return self.by_id[op.operands[i]].shape

    def trips(self, op):
        """Iterations of a loop; None: not known."""
        known = self.config(op).get('known_trip_count')
        n = str(known.get('n', '')) if isinstance(known, dict) else ''
        return int(n) if n.isdigit() else None

    def runs(self):
        """{computation: how often it runs in one execution; None: not known}. If one runs
        itself, no number is known but 0."""
        runs, callers = {}, collections.defaultdict(list)
        for number, ops in self.computations.items():
            for op in ops:
                trips = self.trips(op) if op.opcode == 'while' else None
                for i, c in enumerate(op.calls):
                    if op.opcode == 'while':  # its body is the first; a known condition runs free
                        callers[c].append((number, trips if not i or trips is None else 0))
                    elif op.opcode in ('call', 'async-start', 'conditional'):
                        callers[c].append((number, None if op.opcode == 'conditional' else 1))
        reached = [self.entry]
        for c in reached:
            reached += [x for x, by in callers.items() if x not in reached
                        and any(at == c and n != 0 for at, n in by)]

        def of(c, inside):
            if c in inside:
                raise Unknown
            if c not in runs:
                times = [(of(by, inside | {c}), n) for by, n in callers[c]
                         if n != 0 and by in reached] + [(1, 1)] * (c == self.entry)
                runs[c] = None if any(None in x for x in times) else sum(a * n for a, n in times)
            return runs[c]
        try:
            return {c: of(c, frozenset()) if c in reached else 0 for c in self.computations}
        except Unknown:
            return {c: None if c in reached else 0 for c in self.computations}

    def product(self, left, right, left_sums, right_sums, left_batch, right_batch):
        """Of the sizes of both operands, not of the result; unless they do not fit together."""
        if [left.dimensions[i] for i in left_sums] != [right.dimensions[i] for i in right_sums]:
            raise Unknown
        rest = [d for i, d in enumerate(right.dimensions) if i not in right_sums
                and i not in right_batch]
        return 2 * left.elements() * math.prod(rest)

    def is_consistent(self, op):
        """Whether the result of a dot is as large as its operands make it, and a library sums over
        as many dimensions of both operands."""
        if op.opcode == 'custom-call':
            n = self.gemm(op) or {}
            return len(n.get('lhs_contracting_dimensions', [])) == len(
                n.get('rhs_contracting_dimensions', []))
        if op.opcode != 'dot':
            return True
        d, left, right = op.m.sub(30) or Message(), self.shape(op, 0), self.shape(op, 1)
        rest = [x for i, x in enumerate(left.dimensions) if i not in d.ints(1)]
        return op.shape.elements() == math.prod(rest) * math.prod(
            x for i, x in enumerate(right.dimensions) if i not in d.ints(2) + d.ints(4))

    def convolution(self, op, image, kernel, result):
        d, window = op.m.sub(16), op.m.sub(15)
        places = 1
        for i, x in enumerate(window.all(1) if window else []):
            places *= pairs(kernel.dimensions[d.ints(6)[i]], image.dimensions[d.ints(11)[i]],
                            result.dimensions[d.ints(12)[i]], Message(x))
        groups, batches = max(op.m.int(50), 1), max(op.m.int(58), 1)
        return 2 * (image.dimensions[d.int(8)] // groups) * result.dimensions[d.int(10)] * (
            image.dimensions[d.int(7)] // batches) * places

    def config(self, op):
        raw = op.m.all(43)[-1] if op.m.all(43) else b''
        payload = op.m.sub(99)
        if not raw and payload:
            raw = payload.all(1)[-1] if payload.all(1) else self.payloads[
                payload.int(2)] if payload.int(2) < len(self.payloads) else b''
        try:
            return json.loads(raw or b'{}')
        except ValueError:
            return {}

    def gemm(self, op):
        """Numbers of the dimensions of a library's product; None: it is none, or has none."""
        if op.target != '__cublas$gemm' and not op.target.startswith('__cublas$lt$matmul'):
            return None
        config = snake(self.config(op))
        return snake(snake(config.get('gemm_backend_config', config)).get('dot_dimension_numbers'))

    def library(self, op):
        target, config = op.target, self.config(op)
        if target == '__cublas$gemm' or target.startswith('__cublas$lt$matmul'):
            n = self.gemm(op)
            if n is None:
                raise Unknown
            n = {k: [int(x) for x in v] for k, v in n.items()}
            return self.product(self.shape(op, 0), self.shape(op, 1), *(
                n.get(k, []) for k in ('lhs_contracting_dimensions', 'rhs_contracting_dimensions',
                                       'lhs_batch_dimensions', 'rhs_batch_dimensions')))
        if target.startswith('__cudnn$conv') and 'Reorder' not in target:
            a, b, c = self.shape(op, 0), self.shape(op, 1), op.shape.first()
            places = {'__cudnn$convBackwardInput': (c, b, a),
                      '__cudnn$convBackwardFilter': (a, c, b)}
            return self.convolution(op, *places.get(target, (a, b, c)))
        if target.startswith('__cudnn$fmha'):
            scores = math.prod(int(x) for x in config['cudnn_fmha_backend_config'][
                'intermediate_tensor_shape']['dimensions'])
            length = self.shape(op, 0).dimensions[-1]
            return (4 if 'Backward' in target else 2) * scores * 2 * length
        if target == '__cublas$triangularSolve':
            return 2 * self.shape(op, 0).dimensions[-1] * self.shape(op, 1).elements()
        if target in ('Sharding', 'SPMDFullToShardShape', 'SPMDShardToFullShape', 'MoveToHost',
                      'MoveToDevice', 'AllocateBuffer', 'PadToStatic', 'SliceToDynamic'):
            return 0
        raise Unknown

    def needs(self, op):
        code, out, m = op.opcode, op.shape, op.m
        if code in PLAIN:
            return out.elements()
        if code in ('dot', 'scaled-dot'):
            d = m.sub(30) or Message()
            return self.product(self.shape(op, 0), self.shape(op, 1),
                                *(d.ints(i) for i in (1, 2, 3, 4)))
        if code == 'ragged-dot':
            raise Unknown  # not held against this
        if code == 'convolution':
            return self.convolution(op, self.shape(op, 0), self.shape(op, 1), out)
        if code == 'custom-call':
            return self.library(op)
        if code in ('all-reduce', 'all-reduce-start'):
            return out.elements()
        if code == 'map':
            return self.called(op) * out.elements()
        if code == 'reduce':
            return self.called(op) * (self.shape(op, 0).elements() - out.first().elements())
        if code == 'scatter':
            return self.called(op) * self.shape(op, len(op.operands) // 2 + 1).elements()
        if code == 'sort':
            n = self.shape(op, 0).elements()
            return n * max(n - 1, 0).bit_length()
        if code == 'triangular-solve':
            return 2 * self.shape(op, 0).dimensions[-1] * self.shape(op, 1).elements()
        if code == 'cholesky':
            return self.shape(op, 0).dimensions[-1] * self.shape(op, 0).elements() // 3
        if code == 'fft':
            return 8 * math.prod([n.bit_length() - 1
                                  for n in m.ints(32)]) * self.shape(op, 0).elements()
        if code in ('reduce-window', 'select-and-scatter', 'scan'):
            raise Unknown
        if code == 'conditional':
            return max(self.called(op, i) for i in range(len(op.calls)))
        if code in ('fusion', 'call', 'while', 'async-start'):
            return sum(self.called(op, i) for i in range(len(op.calls)))
        return 0
