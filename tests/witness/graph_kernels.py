# SPDX-License-Identifier: Apache-2.0
"""Which instructions the kernels of CUDA graphs are, by their names: docs/semantics.md, Kernel of a
CUDA graph.

    found, rest = shares(Named(program), {('command_buffer_1', 'loop_add_fusion'): [events, ps]})"""
import collections
import functools
import re

# Fields of an instruction that say nothing of what it does: names, ids, metadata, configurations
# of the backend, frontend attributes.
ASIDE = {1, 4, 5, 6, 7, 10, 12, 35, 36, 37, 38, 43, 68, 99}


def as_kernel(name):
    return re.sub(b'[^A-Za-z0-9]', b'_', name.encode()).decode()


class Named:
    """The instructions of a program (hlo.Program) that kernels can be."""

    def __init__(self, program):
        self.program, runs = program, program.runs()
        self.runs = {op.id: runs[number] for number, ops in program.computations.items()
                     for op in ops}
        self.by_kernel, self.fusions = collections.defaultdict(list), collections.defaultdict(list)
        for ops in program.computations.values():
            for op in ops:
                if self.runs[op.id] != 0:
                    self.by_kernel[as_kernel(op.name)].append(op)

    @functools.cached_property
    def equal(self):
        """{id of a fusion: the fusions that equal it, itself included, in file order}"""
        alike = collections.defaultdict(list)
        for ops in self.program.computations.values():
            for op in ops:
                if op.opcode == 'fusion':
                    alike[self.meaning(op)].append(op)
        return {op.id: of for of in alike.values() for op in of}

    def meaning(self, op, places=None):
        """What an instruction does, with operands by their places, or by their shapes."""
        by_id = self.program.by_id
        operands = [places.get(x) if places else by_id[x].m.data.get(3) and bytes(
            by_id[x].m.data[3][-1]) if x in by_id else None for x in op.operands]
        fields = [(n, [bytes(x) if isinstance(x, (bytes, bytearray)) else x for x in values])
                  for n, values in sorted(op.m.data.items()) if n not in ASIDE]
        return repr((op.opcode, fields, operands, [self.body(c) for c in op.calls]))

    def body(self, number):
        ops = self.program.computations.get(number, [])
        places = {op.id: at for at, op in enumerate(ops)}
        return [self.meaning(op, places) for op in ops]

    def instruction(self, kernel):
        found = self.by_kernel.get(kernel, [])
        return found[0] if len(found) == 1 else None


def shares(named, kernels):
    """{instruction: [events, ps] in graphs} of a host and program, and the names of those kernels
    that are no instruction. kernels: {(graph, name): [events, ps]}."""
    direct = {key: named.instruction(key[1]) for key in kernels}
    taken = {op.id for op in direct.values() if op}
    found, rest = collections.defaultdict(lambda: [0, 0]), set()
    for key, op in direct.items():
        of = [x for x in named.equal.get(op.id, [op])
              if x is op or x.id not in taken and named.runs[x.id] != 0] if op else []
        runs, left = [named.runs[x.id] for x in of], kernels[key]
        if not op or len(of) > 1 and None in runs:
            rest.add(key[1])
            continue
        for i, x in enumerate(of):
            part = [n * runs[i] // sum(runs[i:]) for n in left] if i + 1 < len(of) else left
            found[x.name] = [a + b for a, b in zip(found[x.name], part)]
            left = [a - b for a, b in zip(left, part)]
    return found, rest
