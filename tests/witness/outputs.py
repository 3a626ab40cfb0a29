#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Which buffers of a program are its outputs, and in which shape: buffer_allocations.output_shape,
from the bytes of each profile.

From each result of an instruction of the entry computation a walk goes forward, to whatever passes
it on, until it arrives in the result of the program."""
import collections
import random
import sys
import tempfile

sys.dont_write_bytecode = True
from compare import Run, agree, main, seeds, tried  # noqa: E402
from flops import programs_of  # noqa: E402
from hlo import Message  # noqa: E402
from shapes import TUPLE, Shape  # noqa: E402
from lib import hlo  # noqa: E402
from lib.wire import L, Plane, V, space  # noqa: E402


class Entry:
    """The entry computation of a program."""

    def __init__(self, proto):
        module = Message(proto).sub(1) or Message()
        entry = next((c for c in map(Message, module.all(3)) if c.int(5) == module.int(6)),
                     Message())
        self.ops, self.users = {}, collections.defaultdict(list)
        for op in map(Message, entry.all(2)):
            self.ops.setdefault(op.int(35), op)
            for place, operand in enumerate(op.ints(36)):
                self.users[operand].append((op, place))
        self.root = entry.int(6)

    def arrivals(self, id, index):
        """Places in the program's result to which a part of an instruction's result comes."""
        found, seen, left = [], set(), [(id, tuple(index))]
        while left:
            at = id, index = left.pop()
            if at in seen:
                continue
            seen.add(at)
            if id == self.root:
                found.append(index)
            for user, place in self.users[id]:
                code = user.text(2)
                if code in ('bitcast', 'opt-barrier'):
                    left.append((user.int(35), index))
                elif code == 'tuple':
                    left.append((user.int(35), (place, *index)))
                elif code == 'get-tuple-element' and index and index[0] == user.int(13):
                    left.append((user.int(35), index[1:]))
        return found

    def output_shape(self, id, index):
        """The first arrival's; what is not an array is a table of pointers and no output."""
        for at in sorted(self.arrivals(id, index)):
            shape = Shape(Message(self.ops[self.root].data[3][-1]))
            for i in at:
                shape = shape.parts[i] if shape.type == TUPLE and i < len(shape.parts) else None
                if not shape:
                    break
            if shape and shape.type != TUPLE:
                return shape.text()
        return None


def check(run):
    for host, planes in run.hosts.items():
        entries = {str(key): Entry(proto) for key, proto in programs_of(planes).items()}
        ids = {key: {op.text(1): id for id, op in entry.ops.items()}
               for key, entry in entries.items()}
        for b in run.ask('SELECT * FROM buffer_allocations({x}) WHERE hlo_op IS NOT NULL') \
                if entries else ():
            if b['host'] == host and b['program_id'] in entries:
                id = ids[b['program_id']].get(b['hlo_op'])
                index = [int(i) for i in (b['shape_index'] or '{}').strip('{}').split(',') if i]
                if b['opcode'] == 'tuple' and index:  # XLA's tuples have no own parts
                    continue
                agree('output of %s%s' % (b['hlo_op'], b['shape_index'] or ''), b['output_shape'],
                      None if id is None else entries[b['program_id']].output_shape(id, index))


def each(run):
    tried('outputs ' + run.path, check, run)


# ---- made at random ----

ARRAYS = (hlo.shape(hlo.F32, 6, 4), hlo.shape(hlo.F32, 24), hlo.shape(hlo.F32, 4, 6))


class Made:
    """Instructions with their shapes; what passes on has no buffer."""

    def __init__(self, dice):
        self.dice, self.made, self.shapes, self.buffers = dice, [], [], []
        for i in range(3):
            self.add('parameter', dice.choice(ARRAYS), (), V(9, i))
        for _ in range(dice.randrange(2, 12)):
            self.grow()

    def add(self, code, shape, operands, more=b''):
        """A shape is bytes, or a list of shapes: a tuple."""
        id = len(self.made) + 1
        self.made.append(hlo.instruction(id, 'i%d' % id, code, self.bytes(shape), operands,
                                         more=more))
        self.shapes.append(shape)
        if code in ('parameter', 'negate', 'fusion'):
            self.buffers += [(id, index) for index in self.leaves(shape)]

    def bytes(self, shape):
        return hlo.tuple_of(*map(self.bytes, shape)) if isinstance(shape, list) else shape

    def leaves(self, shape, index=()):
        return [x for i, part in enumerate(shape) for x in self.leaves(part, (*index, i))] \
            if isinstance(shape, list) else [index]

    def grow(self):
        id = self.dice.randrange(1, len(self.made) + 1)
        shape, new = self.shapes[id - 1], self.dice.choice(ARRAYS)
        if isinstance(shape, list):
            i = self.dice.randrange(len(shape))
            self.add(*self.dice.choice((('get-tuple-element', shape[i], (id,), V(13, i)),
                                        ('opt-barrier', shape, (id,)))))
        else:
            self.add(*self.dice.choice((('bitcast', new, (id,)), ('negate', new, (id,)),
                                        ('fusion', [new, self.dice.choice(ARRAYS)], (id,)))))
        if self.dice.random() < 0.4:
            of = [self.dice.randrange(1, len(self.made) + 1) for _ in range(3)]
            self.add('tuple', [self.shapes[x - 1] for x in of], of)

    def profile(self):
        root = self.dice.randrange(len(self.made) // 2, len(self.made)) + 1
        program = hlo.proto(
            hlo.module('m', hlo.computation(1, 'main', self.made, root=root), more=L(4)),
            hlo.assignment([hlo.buffer(i + 1, 96, id, index)
                            for i, (id, index) in enumerate(self.buffers)],
                           [hlo.allocation(i, 96, [(i + 1, 0, 96)])
                            for i in range(len(self.buffers))]))
        metadata = Plane('/host:metadata', 9)
        metadata.meta('m(1)', stats={'Hlo Proto': {'bytes': program}}, key=1)
        return space(metadata.bytes())


def made():
    for seed in seeds(30):
        with tempfile.NamedTemporaryFile(suffix='.xplane.pb') as f:
            f.write(Made(random.Random(seed)).profile())
            f.flush()
            tried('outputs of seed %d' % seed, check, Run(f.name, [f.name]))


if __name__ == '__main__':
    main(each, made)
