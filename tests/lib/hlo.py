# SPDX-License-Identifier: Apache-2.0
"""HLO programs for tests, field by field: what of HloProto the tests need, good and bad."""

from lib.wire import L, V, varint

PRED, S32, U8, U64, F32, F64, TUPLE, BF16 = 1, 4, 6, 9, 11, 12, 13, 16
ALLOC, FREE, SHARE = 0, 1, 2


def ints(field, *numbers):
    """A packed field of integers."""
    return L(field, *map(varint, numbers)) if numbers else b""


def shape(element_type, *dimensions, tile=(), bits=0, space=0):
    layout = ints(1, *reversed(range(len(dimensions)))) + (
        L(6, ints(1, *tile)) if tile else b"") + (V(7, bits) if bits else b"") + (V(8, space)
                                                                                  if space else b"")
    return V(2, element_type) + ints(3, *dimensions) + L(5, layout)


def tuple_of(*shapes):
    return V(2, TUPLE) + b"".join(L(4, s) for s in shapes)


def instruction(id, name, opcode="add", shape=shape(F32), operands=(), calls=(), op_name="",
                more=b""):
    return L(1, name) + L(2, opcode) + L(3, shape) + (L(7, L(2, op_name)) if op_name else b"") + V(
        35, id) + ints(36, *operands) + ints(38, *calls) + more


def computation(id, name, instructions, root=None, more=b""):
    return L(1, name) + b"".join(L(2, i) for i in instructions) + V(5, id) + (V(6, root)
                                                                              if root is not None
                                                                              else b"") + more


def module(name, *computations, id=1, entry=1, more=b""):
    return L(1, name) + b"".join(L(3, c) for c in computations) + V(5, id) + V(6, entry) + more


def buffer(id, size, instruction, index=(), color=0):
    return V(1, id) + V(2, size) + L(3, ints(3, *index) + V(4, instruction)) + (V(4, color) if color
                                                                                else b"")


def allocation(index, size, assigned=(), color=0, parameter=False, thread_local=False,
               live_out=False, constant=False, is_tuple=False):
    """assigned: (buffer, offset, size)."""
    flags = b"".join(V(field, 1)
                     for field, is_set in ((3, thread_local), (5, parameter), (7, live_out),
                                           (11, is_tuple), (12, constant)) if is_set)
    return V(1, index) + V(2, size) + flags + (V(8, color) if color else b"") + b"".join(
        L(9, V(1, b) + V(2, at) + V(3, n)) for b, at, n in assigned)


def trace(*events):
    """events: (kind, buffer, instruction's name[, buffer shared with])."""
    return b"".join(L(1, V(1, e[0]) + V(2, e[1]) + L(4, e[2]) + (V(5, e[3]) if len(e) > 3 else b""))
                    for e in events)


def assignment(buffers=(), allocations=(), traces=()):
    return b"".join(L(1, b) for b in buffers) + b"".join(L(3, a) for a in allocations) + b"".join(
        L(4, t) for t in traces)


def proto(module, assignment=None):
    return L(1, module) + (L(3, assignment) if assignment is not None else b"")
