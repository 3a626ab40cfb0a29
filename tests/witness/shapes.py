# SPDX-License-Identifier: Apache-2.0
"""Shapes of HLO programs from the bytes of a ShapeProto alone: their text, and the bytes of their
data without padding and as their layout stores them.

    shape = Shape(Message(bytes of a ShapeProto))
    shape.text(), shape.data_bytes(), shape.stored_bytes(), shape.memory_space()"""
import itertools
import math

import hlo
from hlo import Message

PRED, TUPLE, OPAQUE, TOKEN = 1, 13, 14, 17
POINTER = 8  # bytes of what a program does not look into
NAMES = '''invalid pred s8 s16 s32 s64 u8 u16 u32 u64 f16 f32 f64 tuple opaque c64 bf16 token c128
    f8e5m2 f8e4m3fn s4 u4 f8e4m3b11fnuz f8e5m2fnuz f8e4m3fnuz s2 u2 f8e4m3 f8e3m4 s1 u1 f4e2m1fn
    f8e8m0fnu'''.split()
BITS = {3: 16, 4: 32, 5: 64, 7: 16, 8: 32, 9: 64, 10: 16, 11: 32, 12: 64, 15: 64, 16: 16, 18: 128}
COMBINED = -2**63  # in a tile: this dimension goes into the next


def up_to(n, multiple):
    return -(-n // multiple) * multiple if multiple > 0 else n


def listed(texts):
    """In brackets; every fifth has its number."""
    return '(%s)' % ', '.join('/*index=%d*/%s' % (i, x) if i and i % 5 == 0 else x
                              for i, x in enumerate(texts))


class Shape(hlo.Shape):
    def __init__(self, m):
        super().__init__(m)
        self.parts = [Shape(Message(x)) for x in m.all(4)] if m else []
        self.layout, self.dynamic = (m.sub(5), m.ints(6)) if m else (None, [])

    def arrays(self):
        """All that are no tuples, in their order."""
        return [a for p in self.parts for a in p.arrays()] if self.type == TUPLE else [self]

    def is_known(self):
        return all(d >= 0 for a in self.arrays() for d in a.dimensions)

    def bits(self):
        """Of an element: a pred takes a byte."""
        return 8 if self.type == PRED else hlo.BITS.get(self.type, BITS.get(self.type))

    def data_bytes(self):
        """At least one byte for an element."""
        if not self.is_known():
            return None
        return sum(POINTER if a.type == OPAQUE else a.elements() * -(-BITS.get(a.type, 8) // 8)
                   for a in self.arrays())

    def stored_bytes(self):
        return sum(a.stored() for a in self.arrays()) if self.is_known() else None

    def largest_part(self, d):
        """The longest of the parts into which the layout splits a dimension."""
        size = self.dimensions[d]
        for split in map(Message, self.layout.all(17)):
            if split.int(1) == d:
                at = [0] + split.ints(2) + [size]
                size = max(b - a for a, b in zip(at, at[1:]))
        return size

    def stored(self):
        """The first tile counts: those in it add nothing. A tail is padded if there are tiles."""
        if self.type in (OPAQUE, TOKEN):
            return POINTER if self.type == OPAQUE else 0
        layout = self.layout or Message()
        bits = layout.int(7) or up_to(BITS.get(self.type, 8), 8)
        tiles = layout.all(6)
        if not tiles:
            return -(-self.elements() * bits // 8)
        sizes, n = [self.largest_part(d) for d in layout.ints(1)], 1
        tile = Message(tiles[0]).ints(1)[::-1]
        for i, multiple in enumerate(tile):
            if multiple != COMBINED:
                taken = 1 + len(list(itertools.takewhile(COMBINED.__eq__, tile[i + 1:])))
                n *= up_to(math.prod(sizes[:taken]), multiple)
                sizes = sizes[taken:]
        n = up_to(n * math.prod(sizes), layout.int(16))
        return -(-n * bits // 8)

    def memory_space(self):
        """None: of several, or unknown."""
        spaces = {a.layout.int(8) if a.layout else None for a in self.arrays()}
        return spaces.pop() if len(spaces) == 1 else None

    def text(self):
        if self.type == TUPLE:
            return listed(p.text() for p in self.parts)
        sizes = ['?' if d < 0 else '%s%d' % ('<=' if i < len(self.dynamic) and self.dynamic[i]
                                             else '', d) for i, d in enumerate(self.dimensions)]
        return '%s[%s]%s' % (NAMES[self.type], ','.join(sizes), self.layout_text())

    def layout_text(self):
        m = self.layout or Message()
        said = [''.join('(%s)' % ','.join('*' if d == COMBINED else str(d)
                                          for d in Message(t).ints(1)) for t in m.all(6))]
        said = ['T' + said[0] if said[0] else '']
        said += ['%s(%d)' % (letter, m.int(number)) for letter, number in
                 (('L', 16), ('E', 7), ('S', 8)) if m.int(number) > (letter == 'L')]
        said += ['SC' * (not i) + '(%d:%s)' % (s.int(1), ','.join(map(str, s.ints(2))))
                 for i, s in enumerate(map(Message, m.all(17)))]
        said += ['M(%d)' % m.int(15)] if m.int(15) else []
        attributes = ''.join(said)
        if not self.dimensions and not attributes:
            return ''
        return '{%s%s}' % (','.join(map(str, m.ints(1))), ':' + attributes if attributes else '')


# ---- bytes of libraries ----

S8, U8 = 2, 6
LIBRARIES = ('__cublas$gemm', '__cublas$lt$matmul', '__cublas$lt$groupedMatmul',
             '__cublas$triangularSolve', '__cusolver$cholesky', '__cudnn$conv', '__cudnn$fmha')


def is_library_call(op):
    """op: an instruction as in hlo.py"""
    return op.opcode == 'custom-call' and op.target.startswith(LIBRARIES)


def library_bytes(program, op):
    """Of the operands and the results. The last of several results is room to work in, if it is
    bytes."""
    results = Shape(op.m.sub(3)).arrays()
    if len(results) > 1 and results[-1].type in (S8, U8):
        results.pop()
    return sum(x.data_bytes() for x in results + [
        Shape(program.by_id[i].m.sub(3)) for i in op.operands])
