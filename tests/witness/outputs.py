#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Which buffers of a program are its outputs, and in which shape: buffer_allocations.output_shape,
from the bytes of each profile.

From each result of an instruction a walk goes forward, to whatever passes it on, into and out of
computations that calls run, until it arrives in the result of the program."""
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


class Outputs:
    """Where results of a program's instructions go."""

    def __init__(self, proto):
        module = Message(proto).sub(1) or Message()
        self.ops, self.users, self.root, callers = {}, collections.defaultdict(list), None, {}
        self.parameters, roots = {}, {}  # of computations
        for c in map(Message, module.all(3)):
            if c.int(5) == module.int(6):
                self.root = c.int(6)
            roots[c.int(6)] = c.int(5)
            for op in map(Message, c.all(2)):
                self.ops.setdefault(op.int(35), op)
                if op.text(2) == 'parameter':
                    self.parameters[c.int(5), op.int(9)] = op.int(35)
                if op.text(2) == 'call':
                    callers.setdefault(op.ints(38)[0], []).append(op.int(35))
                for place, operand in enumerate(op.ints(36)):
                    self.users[operand].append((op, place))
        self.callers = {root: callers.get(id, []) for root, id in roots.items()}

    def next(self, id, index, calls):
        """What a part of a result is also a part of. calls: those that the walk has entered."""
        if id in self.callers:
            yield from ((call, index, calls[1:]) for call in calls[:1] or self.callers[id])
        for user, place in self.users[id]:
            code, to = user.text(2), user.int(35)
            if code in ('bitcast', 'opt-barrier'):
                yield to, index, calls
            elif code == 'tuple':
                yield to, (place, *index), calls
            elif code == 'get-tuple-element' and index and index[0] == user.int(13):
                yield to, index[1:], calls
            elif code == 'call' and (user.ints(38)[0], place) in self.parameters:
                yield self.parameters[user.ints(38)[0], place], index, (to, *calls)

    def arrivals(self, id, index):
        """Places in the program's result to which a part of an instruction's result comes."""
        found, seen, left = [], set(), [(id, tuple(index), ())]
        while left:
            at = left.pop()
            if at not in seen:
                seen.add(at)
                found += [at[1]] * (at[0] == self.root)
                left += self.next(*at)
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
        programs = {str(key): Outputs(proto) for key, proto in programs_of(planes).items()}
        ids = {key: {op.text(1): id for id, op in program.ops.items()}
               for key, program in programs.items()}
        for b in run.ask('SELECT * FROM buffer_allocations({x}) WHERE hlo_op IS NOT NULL') \
                if programs else ():
            if b['host'] == host and b['program_id'] in programs:
                id = ids[b['program_id']].get(b['hlo_op'])
                index = [int(i) for i in (b['shape_index'] or '{}').strip('{}').split(',') if i]
                if b['opcode'] == 'tuple' and index:  # XLA's tuples have no own parts
                    continue
                agree('output of %s%s' % (b['hlo_op'], b['shape_index'] or ''), b['output_shape'],
                      None if id is None else programs[b['program_id']].output_shape(id, index))


def each(run):
    tried('outputs ' + run.path, check, run)


# ---- made at random ----

ARRAYS = (hlo.shape(hlo.F32, 6, 4), hlo.shape(hlo.F32, 24), hlo.shape(hlo.F32, 4, 6))


class Computation:
    """Instructions with their shapes; what passes on has no buffer. A shape is bytes, or a list of
    shapes: a tuple."""

    def __init__(self, program, parameters, n, depth=0):
        self.program, self.dice, self.depth = program, program.dice, depth
        self.made, self.shapes, self.parameters = [], {}, parameters
        for i, shape in enumerate(parameters):
            self.add('parameter', shape, (), V(9, i))
        for _ in range(n):
            self.grow()
        ids = list(self.shapes)
        self.root = self.dice.choice(ids[len(ids) // 2:])
        program.computations.append(self)
        self.id = len(program.computations)

    def add(self, code, shape, operands, more=b'', calls=()):
        self.program.n_ops += 1
        id = self.program.n_ops
        self.made.append(hlo.instruction(id, 'i%d' % id, code, self.bytes(shape), operands, calls,
                                         more=more))
        self.shapes[id] = shape
        if code in ('negate', 'fusion') or code == 'parameter' and not self.depth:
            self.program.buffers += [(id, index) for index in self.leaves(shape)]

    def bytes(self, shape):
        return hlo.tuple_of(*map(self.bytes, shape)) if isinstance(shape, list) else shape

    def leaves(self, shape, index=()):
        return [x for i, part in enumerate(shape) for x in self.leaves(part, (*index, i))] \
            if isinstance(shape, list) else [index]

    def grow(self):
        id = self.dice.choice(list(self.shapes))
        shape, new = self.shapes[id], self.dice.choice(ARRAYS)
        if isinstance(shape, list):
            i = self.dice.randrange(len(shape))
            self.add(*self.dice.choice((('get-tuple-element', shape[i], (id,), V(13, i)),
                                        ('opt-barrier', shape, (id,)))))
        else:
            self.add(*self.dice.choice((('bitcast', new, (id,)), ('negate', new, (id,)),
                                        ('fusion', [new, self.dice.choice(ARRAYS)], (id,)))))
        if self.dice.random() < 0.4:
            of = self.some(3)
            self.add('tuple', [self.shapes[x] for x in of], of)
        if self.dice.random() < 0.3 and self.depth < 2:
            self.call()

    def some(self, n):
        return self.dice.choices(list(self.shapes), k=n)

    def call(self):
        """A call of a new computation, or of one that has such parameters."""
        of = self.some(self.dice.choice((1, 2, 3)))
        shapes = [self.shapes[x] for x in of]
        called = [c for c in self.program.computations if c.parameters == shapes]
        c = self.dice.choice(called) if called and self.dice.random() < 0.7 else Computation(
            self.program, shapes, self.dice.randrange(4), self.depth + 1)
        self.add('call', c.shapes[c.root], of, calls=(c.id,))


class Made:
    """A program, each of whose buffers has memory of its own."""

    def __init__(self, dice):
        self.dice, self.n_ops, self.buffers, self.computations = dice, 0, [], []
        self.main = Computation(self, [dice.choice(ARRAYS) for _ in range(3)],
                                dice.randrange(2, 12))

    def proto(self, allocations=None):
        """allocations: of the buffers, as lib.hlo makes them."""
        return hlo.proto(
            hlo.module('m', *[hlo.computation(c.id, 'c%d' % c.id, c.made, root=c.root)
                              for c in self.computations], entry=self.main.id, more=L(4)),
            hlo.assignment([hlo.buffer(i + 1, 96, id, index)
                            for i, (id, index) in enumerate(self.buffers)],
                           allocations or [hlo.allocation(i, 96, [(i + 1, 0, 96)])
                                           for i in range(len(self.buffers))]))

    def metadata(self, allocations=None):
        """The plane with the program."""
        plane = Plane('/host:metadata', 9)
        plane.meta('m(1)', stats={'Hlo Proto': {'bytes': self.proto(allocations)}}, key=1)
        return plane.bytes()


def made():
    for seed in seeds(60):
        with tempfile.NamedTemporaryFile(suffix='.xplane.pb') as f:
            f.write(space(Made(random.Random(seed)).metadata()))
            f.flush()
            tried('outputs of seed %d' % seed, check, Run(f.name, [f.name]))


if __name__ == '__main__':
    main(each, made)
