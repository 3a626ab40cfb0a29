# SPDX-License-Identifier: Apache-2.0
"""Which instructions the kernels of CUDA graphs run, by their names and by their places in the
schedule of the program: docs/semantics.md, Kernel of a CUDA graph.

    found = in_graphs(run)     {id of an event (xspace.py): Found}"""
import collections
import functools
import re

from device_time import own_times, work_lines
import hlo
from programs import protos_of

# Fields of an instruction that say nothing of what it does: names, ids, metadata, configurations
# of the backend, frontend attributes.
ASIDE = {1, 4, 5, 6, 7, 10, 12, 35, 36, 37, 38, 43, 68, 99}
NO_WORK = set('''parameter constant get-tuple-element tuple bitcast after-all add-dependency
    opt-barrier partition-id replica-id async-update'''.split())
FUSION, COPY, CONTROL, CALL = 'fusion', 'copy', 'control', 'call'
KINDS = {'copy': COPY, 'copy-start': COPY, 'fusion': FUSION, 'while': CONTROL,
         'conditional': CONTROL, 'call': CONTROL}
Item = collections.namedtuple('Item', 'op kind')
met = collections.Counter()  # rules that decided something


def as_kernel(name):
    return re.sub(b'[^A-Za-z0-9]', b'_', name.encode()).decode()


class Found:
    """What a kernel of a graph runs; op is None if that is unknown."""

    def __init__(self, program, op, by, is_execution):
        self.program, self.op, self.by, self.is_execution = program, op, by, is_execution


# ---- by name ----

class Named:
    """The instructions of a program (hlo.Program) that kernels can be."""

    def __init__(self, program):
        self.program, runs = program, program.runs()
        self.runs = {op.id: runs[number] for number, ops in program.computations.items()
                     for op in ops}
        self.by_kernel = collections.defaultdict(list)
        for ops in program.computations.values():
            for op in ops:
                if self.runs[op.id] != 0:
                    self.by_kernel[as_kernel(op.name)].append(op)

    @functools.cached_property
    def equal(self):
        """{id of a fusion: the fusions that equal it, itself included}"""
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

    def may_be(self, kernel):
        """The instructions that a kernel of this name can run."""
        named = self.by_kernel.get(kernel, [])
        if len(named) != 1:
            return []
        return [op for op in self.equal.get(named[0].id, named) if self.runs[op.id] != 0]


# ---- the schedule ----

def sequences_of(proto):
    """{computation: ids of its instructions in the order of the schedule}"""
    schedule = hlo.Message(proto).sub(1).sub(7)
    entries = map(hlo.Message, schedule.all(1) if schedule else ())
    return {entry.int(1): (entry.sub(2) or hlo.Message()).ints(1) for entry in entries}


class Schedule:
    def __init__(self, program, proto, runs):
        self.program, self.items, self.place = program, {}, {}
        of_async = set()  # what an async-start runs has its place in the schedule of the start
        for number, ids in sequences_of(proto).items():
            own = {op.id: op for op in program.computations.get(number, ())}
            ops = [own[id] for id in ids if id in own and runs.get(id) != 0]
            self.items[number] = [item for item in map(self.item, ops) if item]
            of_async |= {c for op in ops if op.opcode == 'async-start' for c in op.calls}
        for number, items in self.items.items():
            for at, item in enumerate(items if number not in of_async else ()):
                self.place.setdefault(item.op.id, (number, at))

    def item(self, op):
        if op.opcode in NO_WORK or op.opcode.endswith('-done'):
            return None
        if op.opcode != 'async-start':
            return Item(op, KINDS.get(op.opcode, CALL))
        root = self.root(op.calls[0]) if op.calls else None
        return root and Item(root, COPY if root.opcode == 'fusion' else KINDS.get(
            root.opcode, CALL))

    def root(self, number):
        ops = self.program.computations.get(number, ())
        return next((op for op in ops if op.id == self.program.roots.get(number)), None)

    def at(self, place):
        """The item there; None: beyond an end of the schedule."""
        items = self.items[place[0]]
        return items[place[1]] if 0 <= place[1] < len(items) else None

    def next_of(self, place, ops, copies, step):
        """The place of the next item that is one of some instructions, unless control lies between,
        or more fusions than copies; step: 1, or -1 for backwards."""
        fusions, wanted = 0, {op.id for op in ops}
        while True:
            place = place[0], place[1] + step
            item = self.at(place)
            if not item:
                return None
            if item.op.id in wanted:
                return place if fusions <= copies else None
            if item.kind == CONTROL:
                return None
            fusions += item.kind == FUSION


# ---- a launch ----

class Launch:
    """The kernels of a launch in order: .name, .copy, .set, .may (the instructions that it can be
    by its name) and .place (of the item that it is found to be)."""

    def __init__(self, named, schedule, names):
        self.schedule, self.n = schedule, len(names)
        self.may = [named.may_be(name) for name in names]
        self.is_copy = [name.lower().startswith('memcpy') for name in names]
        self.is_set = [name.lower().startswith('memset') for name in names]
        self.ops = [of[0] if len(of) == 1 else None for of in self.may]
        self.by = ['name' if op else None for op in self.ops]
        self.places = [schedule.place.get(op.id) if op else None for op in self.ops]
        self.follow_names()
        for run in self.unnamed():
            self.between(*run) or self.beside(*run)

    def give(self, kernels, place, rule):
        op = self.schedule.at(place).op
        for i in kernels:
            met[rule] += 1
            self.ops[i], self.by[i], self.places[i] = op, 'place', place

    # 1.

    def follow_names(self):
        found = [self.followed(step) for step in (1, -1)]
        for i in found[0].keys() | found[1].keys():
            both = {of[i] for of in found if i in of}
            met['directions differ'] += len(both) > 1
            if len(both) == 1:
                self.give([i], both.pop(), 'name in %d directions' % sum(i in of for of in found))
        named = [i for i in range(self.n) if self.may[i]]
        for a, b in zip(named, named[1:]):
            if self.by[a] == self.by[b] == 'place' and self.places[a] == self.places[b]:
                met['one item for two'] += 1
                for i in (a, b):
                    self.ops[i] = self.by[i] = self.places[i] = None

    def followed(self, step):
        """{kernel: place} of those with names of several instructions."""
        found, place, copies = {}, None, 0
        for i in range(self.n)[::step]:
            if not self.may[i]:
                copies += self.is_copy[i]
                continue
            if self.by[i] == 'name':
                place = self.places[i]
            elif place:
                place = self.schedule.next_of(place, self.may[i], copies, step)
                if place:
                    found[i] = place
            copies = 0
        return found

    # 2.

    def unnamed(self):
        """(first, after last) of the kernels without an instruction's name."""
        first = None
        for i in range(self.n + 1):
            if i < self.n and not self.may[i]:
                first = i if first is None else first
            elif first is not None:
                yield first, i
                first = None

    def between(self, first, end):
        """Whether the run lies between two items, without control; then it is divided."""
        before = self.places[first - 1] if first else None
        after = self.places[end] if end < self.n else None
        if not before or not after or before[0] != after[0] or before[1] >= after[1]:
            return False
        places = [(before[0], at) for at in range(before[1] + 1, after[1])]
        kinds = [self.schedule.at(place).kind for place in places]
        run = list(range(first, end))
        if not places and all(self.is_set[i] for i in run):
            self.give(run, after, 'sets between neighbours')
        elif CONTROL in kinds:
            return False
        elif len(places) == 1:
            self.give(run, places[0], 'a single item')
        else:
            self.divide(run, places, kinds, after)
        return True

    def divide(self, run, places, kinds, after):
        copies, copied = ([i for i in run if self.is_copy[i]],
                          [p for p, kind in zip(places, kinds) if kind == COPY])
        if len(copies) != len(copied) or FUSION in kinds:
            self.one_by_one(run, places)
            return
        i, at = run[0], places[0][1] if places else 0
        for copy, place in zip(copies + [run[-1] + 1], copied + [after]):
            part, of = list(range(i, copy)), [p for p in places if at <= p[1] < place[1]]
            if len(of) == 1:
                self.give(part, of[0], 'a part of a single item')
            else:
                self.one_by_one(part, of)
            if copy in copies:
                self.give([copy], place, 'a copy of as many')
            i, at = copy + 1, place[1] + 1

    def one_by_one(self, run, places):
        """Sets before a kernel are its; those at the end are one of their own."""
        units = []
        for i in run:
            if not units or not self.is_set[units[-1][-1]]:
                units.append([])
            units[-1].append(i)
        if len(units) == len(places) and all(map(self.fits, units, places)):
            for unit, place in zip(units, places):
                self.give(unit, place, 'one by one')

    def fits(self, unit, place):
        kind = self.schedule.at(place).kind
        return kind == FUSION or self.is_copy[unit[-1]] == (kind == COPY)

    # 3.

    def beside(self, first, end):
        """From the item before the run, then from the one after it."""
        rest = list(range(first, end))
        if first and self.places[first - 1]:
            rest = self.walk(rest, self.places[first - 1], 1, end == self.n)
        if rest and end < self.n and self.places[end]:
            self.walk(rest[::-1], self.places[end], -1, first == 0)

    def walk(self, rest, place, step, is_at_end):
        """What is left of the kernels; is_at_end: nothing is beyond them in the launch."""
        while rest:
            place = place[0], place[1] + step
            item, beyond = self.schedule.at(place), self.schedule.at((place[0], place[1] + step))
            if not item or item.kind == CONTROL:
                break
            calls = next((n for n, i in enumerate(rest) if self.is_copy[i]), len(rest))
            if is_at_end and (not beyond or beyond.kind == CONTROL):
                taken, rule = len(rest), 'the last item'
            elif calls == 0 and item.kind in (COPY, FUSION):
                taken, rule = 1, 'a copy in a step'
            elif calls and item.kind == CALL and beyond and beyond.kind not in (CALL, CONTROL):
                taken, rule = calls, 'a call in a step'
            else:
                met['a call at the end of the schedule'] += bool(
                    calls and item.kind == CALL and not beyond)
                break
            self.give(rest[:taken], place, '%s %+d' % (rule, step))
            rest = rest[taken:]
        return rest

    def found(self):
        """A Found for each kernel."""
        executions, i = [None] * self.n, 0
        while i < self.n:
            end = i + 1
            while end < self.n and self.ops[end] is self.ops[i]:
                end += 1
            named = [bool(self.may[k]) for k in range(i, end)]
            executions[i:end] = map(int, named if any(named) else [True] + named[1:])
            i = end
        return [Found(self.schedule.program, op, by, is_execution if op else None)
                for op, by, is_execution in zip(self.ops, self.by, executions)]


class Kernel:
    def __init__(self, event):
        self.event, self.name, program = event, event.name, event.stats.get('program_id')
        launch, graph = event.stats.get('correlation_id'), event.stats.get('hlo_op')
        self.program = str(program % 2**64) if isinstance(program, int) else None
        self.graph = graph.rpartition('::')[2] if isinstance(graph, str) else ''
        self.launch = launch if isinstance(launch, int) else 0
        self.time = event.start_ps, -max(event.duration_ps, 0)


def in_graphs(run):
    """{id of an event: Found} of the kernels that CUDA graphs ran."""
    launches, protos = collections.defaultdict(list), None
    for host, planes in run.hosts.items():
        for plane in planes:
            for line in work_lines(plane) if plane.kind == 'gpu' else ():
                for k in map(Kernel, own_times(line)):
                    if k.graph and k.program:
                        launches[host, k.program, plane.name, k.graph, k.launch].append(k)
    protos, programs, found = protos_of(run) if launches else {}, {}, {}
    for (host, program, _, graph, _), of in launches.items():
        proto = protos.get((host, program), (None, None))[1]
        if proto and (host, program) not in programs:
            known = hlo.Program(proto)
            named = Named(known)
            programs[host, program] = known, named, Schedule(known, proto, named.runs)
        if proto and graph not in programs[host, program][0].by_name:
            of.sort(key=lambda k: k.time)
            launch = Launch(*programs[host, program][1:], [k.name for k in of])
            found.update(zip((id(k.event) for k in of), launch.found()))
    return found
