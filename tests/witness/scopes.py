#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Where in the user's program an op comes from: the columns owner_*, scope, scope_by, pass and
user_* of hlo_instructions, from the bytes of the HLO protos, and scope_ops, time_by_scope and
time_by_source_line, from the events too, as docs/semantics.md defines them (Layers, lines and
owners)."""
import collections
import glob
import os
import random
import re
import sys

sys.dont_write_bytecode = True
from compare import ROOT, Run, agree, agree_one_of, ask, main, tried  # noqa: E402
from device_time import DEVICES, own_times, work_lines  # noqa: E402
from hlo import Message  # noqa: E402
from ops import op_text  # noqa: E402
from places import in_graphs  # noqa: E402
from programs import programs_of  # noqa: E402
from shapes import is_library_call, library_bytes  # noqa: E402
from xspace import text  # noqa: E402

LEFT_OUT = set('''checkpoint remat remat2 rematted_computation closed_call core_call
    core_closed_call eval_jaxpr named_call custom_jvp_call custom_vjp_call
    custom_vjp_call_jaxpr shard_map pjit jit xla_call while gradient_tape PartitionedCall
    StatefulPartitionedCall'''.split())
PROGRAMS = {'jit', 'pjit', 'pmap', 'xmap'}
TRANSFORMED = set('''jvp transpose vmap vjp linearize checkpoint remat custom_jvp custom_vjp
    shard_map'''.split())
FRAMEWORKS = set('''jax jaxlib flax optax haiku equinox keras tf_keras tensorflow torch torch_xla
    torchax orbax chex numpy site-packages dist-packages'''.split())
TORCH, OF_FRAMES = ('aten__', 'prim__', 'xla__'), 'as the stack shows'
PASSES, LEVELS = ('backward', 'recomputed', OF_FRAMES, 'forward'), 8  # of merged names
BASES = {'Module', 'Layer', 'Operation', 'Functional', 'Model', 'Sequential'}
OWNER = ('owner_tf_op', 'owner_by', 'owner_hlo_op', 'scope', 'scope_by', 'pass', 'user_file',
         'user_line', 'user_function')
DEEPEST, MOST_MODULES = 1000, 32
met = collections.Counter()  # rules of docs/semantics.md that decided something
os.environ.pop('PROFSQL_LIBRARIES', None)


# ---- names ----

def outside(name, wanted):
    """Places of the wanted characters outside of brackets."""
    depth, places = 0, []
    for i, c in enumerate(name):
        if c in '([{':
            depth += 1
        elif c in ')]}' and depth:
            depth -= 1
        elif c in wanted and not depth:
            places.append(i)
    return places


def wrapped(component):
    """(W, X) of W(X) whose first bracket the last character closes."""
    start, depth = component.find('('), 0
    for i in range(start, len(component) if start >= 0 else start):
        depth += (component[i] == '(') - (component[i] == ')')
        if not depth:
            return None if component[i + 1:] else (component[:start], component[start + 1:i])
    return None


def unwrapped(component):
    """(what it stands for, '' for nothing; whether a transpose() was around it)"""
    transposed = False
    for _ in range(64):
        parts = wrapped(component)
        if parts and parts[0] in PROGRAMS:
            met['program ' + parts[0]] += 1
            return '', transposed
        if not parts or parts[0] not in TRANSFORMED:
            break
        met['transformed ' + parts[0]] += 1
        transposed |= parts[0] == 'transpose'
        component = parts[1]
    return component, transposed


def scope_of(name):
    """(scope, pass) of the name of a framework op."""
    ends = outside(name, ';')
    met['several names'] += bool(ends)
    name = name[:(ends or [len(name)])[0]]
    colons = outside(name, ':')
    ranges = False
    if colons and '/' not in name[colons[-1]:]:
        met['type'] += 1
        ranges = name[colons[-1]:] == ':NVTX'
        name = name[:colons[-1]]
    found = [scope_of_one(x) for x in names_in(name)]
    of_pass = next(x for x in PASSES if any(x == of for _, of in found))
    scopes = [scope for scope, of in found if of == of_pass]
    n = 0
    while all(len(x) > n and x[n] == scopes[0][n] for x in scopes):
        n += 1
    if len(found) > 1:
        met['merged ' + of_pass] += 1
        met['merged with another pass'] += len(scopes) < len(found)
        met['merged in one scope'] += 0 < n == max(map(len, scopes))
        met['merged in scopes around'] += 0 < n < max(map(len, scopes))
    return '/'.join(scopes[0][:n]), None if ranges else of_pass


def names_in(name, level=0):
    """The names that XLA merged."""
    start = (outside(name, '/') or [-1])[-1] + 1
    parts = wrapped(name[start:])
    colons = outside(parts[1], ':') if parts and not parts[0] else []
    met['merged too deep'] += bool(colons) and level == LEVELS
    if not colons or level == LEVELS:
        return [name]
    met['merged in a merged name'] += level > 0
    return [x for a, b in zip([-1] + colons, colons + [len(parts[1])])
            for x in names_in(name[:start] + parts[1][a + 1:b], level + 1)]


def scope_of_one(name):
    """(components of the scope, pass) of a name that is not merged."""
    cuts = outside(name, '/')
    parts = [name[a + 1:b] for a, b in zip([-1] + cuts, cuts + [len(name)])]
    plain = [unwrapped(x) for x in parts]
    backward, components, scope = any(t for _, t in plain), [x for x, _ in plain[:-1]], []
    torch = plain[-1][0].startswith(TORCH)
    met.update('operator ' + x for x in TORCH if plain[-1][0].startswith(x))
    backward |= torch and '_backward' in plain[-1][0]
    for i, x in enumerate(components):
        before, after = components[i - 1] if i else '', ''.join(components[i + 1:i + 2])
        gradients = not scope and re.fullmatch(r'gradients(_\d+)?', x)
        backward |= bool(gradients) or x == 'gradient_tape'
        rules = {'left out ' + x: x in LEFT_OUT, 'gradients': bool(gradients),
                 'eqx': x.startswith('eqx.'), 'several operators': x.startswith(TORCH),
                 x + ' of while': before == 'while' and x in ('body', 'cond'),
                 'branch': re.fullmatch(r'branch_\d+_fun', x),
                 'cond of branch': x == 'cond' and re.fullmatch(r'branch_\d+_fun', after)}
        met.update(rule for rule, holds in rules.items() if holds)
        if x and not any(rules.values()):
            scope.append(x)
    of_pass = 'backward' if backward else 'forward'
    if 'rematted_computation' in components:
        of_pass = 'recomputed'
    if torch and of_pass == 'forward':
        of_pass = OF_FRAMES
    return scope, of_pass


def by_name(of_pass):
    return None if of_pass == OF_FRAMES else of_pass


# ---- stacks ----

def is_library(path):
    folders = re.split(r'[/\\]', path or '')[:-1]
    rules = {'no file': not path, 'file in brackets': (path or '')[:1] == '<'
             and not path.startswith(('<stdin>', '<ipython-'))}
    rules.update({'folder ' + x: True for x in FRAMEWORKS & set(folders)})
    rules.update({'python in ' + a: a in ('lib', 'lib64') and re.match(r'python\d', b)
                  for a, b in zip(folders, folders[1:])})
    met.update(rule for rule, holds in rules.items() if holds)
    if path and path[0] == '<' and not any(rules.values()):
        met['typed in ' + path[:6]] += 1
    return any(rules.values())


Frame = collections.namedtuple('Frame', 'file line function')


class Stacks:
    """Frames of each stack_frame_id, innermost first."""

    def __init__(self, index):
        index = index or Message()
        self.files, self.functions = ([text(x) for x in index.all(n)] for n in (1, 2))
        self.locations = [Message(x) for x in index.all(3)]
        self.frames = [Message(x) for x in index.all(4)]
        self.known = {}

    @staticmethod
    def at(of, number):
        return of[number - 1] if 0 < number <= len(of) else None

    def stack(self, number):
        if number not in self.known:
            self.known[number] = self.read(number)
        return self.known[number]

    def read(self, number):
        found = []
        while len(found) <= DEEPEST:  # the last is only looked at as the next outer frame
            frame = self.at(self.frames, number)
            if frame is None:
                break
            place, number = self.at(self.locations, frame.int(1)) or Message(), frame.int(2)
            found.append(Frame(self.at(self.files, place.int(1)), place.int(3),
                               self.at(self.functions, place.int(2))))
        return found


def pass_by_stack(stacks, number):
    """Of an operator of PyTorch."""
    if not stacks.frames:
        return None
    frames = stacks.stack(number)[:DEEPEST]
    callers = [is_checkpoint(f) for f in frames if is_checkpoint(f) is not None]
    if frames and is_checkpoint(frames[-1]) is None:
        return 'forward'
    return 'recomputed' if callers and callers[0] else 'backward'


def is_checkpoint(frame):
    """Of a frame in a caller; None for others."""
    *folders, file = re.split(r'[/\\]', frame.file or '')
    if file == 'checkpoint.py' and {'torch', 'torch_xla'} & set(folders):
        return True
    return False if {'torch', 'autograd'} <= set(folders) else None


def module_class(frame):
    found = re.fullmatch(r'(?:.*\.)?([^.]+)\.(?:__call__|forward|call)', frame.function or '', re.S)
    name = found.group(1) if found else '<'
    inside = re.split(r'[/\\]', frame.file or '')[:-1]
    if name.startswith('<') or name in BASES:
        met['base ' + name] += 1
        return None
    layers = {'nn', 'linen', 'layers', 'nets'} & set(inside)
    library = is_library(frame.file)
    if library:
        met.update(['library of ' + x for x in layers] or ['module of a library'])
    met['call by ' + frame.function.rpartition('.')[2]] += not library
    return None if library and not layers else name


def modules(stack):
    """The path of modules on a stack."""
    found = {}
    for frame, outer in zip(stack[:DEEPEST], stack[1:] + [Frame(None, None, None)]):
        name = module_class(frame)
        if name:
            met['frame repeats'] += (name, outer.file, outer.line) in found
            found.setdefault((name, outer.file, outer.line))
    met['many modules'] += len(found) > MOST_MODULES
    path = list(found)[:MOST_MODULES][::-1]
    return '/'.join([name + (':%d' % line if i and line is not None else '')
                     for i, (name, _, line) in enumerate(path)])


# ---- instructions ----

class Instruction:
    def __init__(self, data, computation, place):
        m = Message(data)
        metadata = m.sub(7) or Message()
        self.name, self.opcode, self.id, self.operand_ids, self.calls = m.text(1), m.text(
            2), m.int(35), m.ints(36), m.ints(38)
        self.computation, self.place = computation, place
        self.tf_op, self.source, self.frame = metadata.text(2), (metadata.text(3), metadata.int(
            4)), metadata.int(15)
        self.operands, self.users, self.owner, self.owner_by = [], [], None, None

    @property
    def runs_others(self):
        return self.opcode in ('fusion', 'call', 'while',
                               'conditional') or self.opcode.startswith('async-')

    @property
    def is_given(self):
        return self.opcode in ('parameter', 'constant')


class Program:
    def __init__(self, module):
        self.name, self.stacks = module.text(1), Stacks(module.sub(17))
        self.computations, self.all, self.roots, self.callers = {}, [], {}, {}
        by_id = {}
        for data in module.all(3):
            c = Message(data)
            number, of = c.int(5), []
            for x in c.all(2):
                of.append(Instruction(x, c, len(self.all) + len(of)))
            self.all += of
            for i in of:
                by_id.setdefault(i.id, i)
            if number not in self.computations:
                self.computations[number], self.roots[number] = of, c.int(6)
        self.by_id, self.by_name = by_id, {}
        for i in self.all:
            self.by_name.setdefault(i.name, i)
        for i in self.all:
            for x in i.operand_ids:
                of = by_id.get(x)
                if of and of.computation is i.computation:
                    i.operands.append(of)
                    of.users.append(i)
            for x in i.calls if i.runs_others else ():
                self.callers.setdefault(x, i)
        self.find_owners()

    def inside(self, i):
        """The instruction in what i runs that is the nearest to the root and has a name."""
        for number in i.calls:
            root = self.by_id.get(self.roots.get(number))
            queue = [root] if root and root in self.computations[number] else []
            for at in queue:
                if at.tf_op and not at.is_given:
                    met['fused below the root'] += at is not root
                    met['fused in a later computation'] += number != i.calls[0]
                    return at
                met['given in a fusion'] += bool(at.tf_op)
                queue += [x for x in dict.fromkeys(at.operands) if x not in queue]
        return None

    def find_owners(self):
        for i in self.all:
            if i.tf_op:
                i.owner, i.owner_by = i, 'own'
        for i in self.all:
            inside = self.inside(i) if i.runs_others and not i.owner else None
            if inside:
                i.owner, i.owner_by = inside, 'fused'
        starts = [i for i in self.all if i.owner]
        self.spread(starts, 'user', lambda i: i.operands)
        self.spread([i for i in starts if not i.is_given], 'producer', lambda i: i.users)
        called = []
        for i in self.all:
            at = i
            for _ in range(0 if i.owner else 100):
                at = self.callers.get(at.computation.int(5))
                if not at or at.owner:
                    break
            if not i.owner and at and at.owner:
                called.append((i, at.owner))
        for i, owner in called:
            i.owner, i.owner_by = owner, 'caller'
        for i in self.all:
            if not i.tf_op:
                first = self.by_id[i.id]
                i.owner, i.owner_by = first.owner, first.owner_by

    def spread(self, starts, by, neighbours):
        """Level after level, to what has no owner by its name or what it runs."""
        reached = {id(s): s for s in starts}
        level = starts
        while level:
            nearest = {}
            for at in level:
                for x in neighbours(at):
                    if id(x) not in reached and x.owner_by not in ('own', 'fused'):
                        nearest.setdefault(x.place, []).append(reached[id(at)])
            level = [self.all[place] for place in sorted(nearest)]
            for x in level:
                reached[id(x)] = min(nearest[x.place], key=lambda s: s.place)
                if not x.owner:
                    x.owner, x.owner_by = reached[id(x)].owner, by

    def user_line(self, i):
        for depth, frame in enumerate(self.stacks.stack(i.frame)[:DEEPEST]):
            if not is_library(frame.file):
                met['line of an outer frame'] += depth > 0
                return frame
        file, line = i.source
        met['line of the metadata'] += not is_library(file)
        return Frame(file, line, None) if not is_library(file) else None

    def origin(self, i):
        """The columns of OWNER."""
        owner, scope, scope_by, of_pass = i.owner, None, None, None
        if owner:
            scope, of_pass = scope_of(owner.tf_op)
            scope_by = 'name'
            if of_pass == OF_FRAMES:
                of_pass = pass_by_stack(self.stacks, owner.frame)
                met['by stack: %s' % of_pass] += 1
            if '.remat' in i.name:
                of_pass = 'recomputed'
        if not scope:
            scope, scope_by = modules(self.stacks.stack((owner or i).frame)), 'stack'
        met.update(['owner by %s' % i.owner_by, 'scope by %s' % (scope_by if scope else None),
                    'pass %s' % of_pass])
        met['recomputed by its own name'] += bool(owner) and '.remat' in i.name
        met['scope of a stack without owner'] += bool(scope) and not owner
        met['line of the owner'] += bool(owner) and not i.frame and not i.source[0]
        line = self.user_line(owner if owner and not i.frame and not i.source[0] else i)
        return [owner and owner.tf_op, i.owner_by, owner and owner.name, scope or None,
                scope_by if scope else None, of_pass] + (list(line) if line else [None] * 3)


def instructions(ask_run, programs):
    got = collections.defaultdict(list)
    for r in ask_run('SELECT * FROM hlo_instructions({x})'):
        got[r['host'], r['program_id']].append([r[c] for c in ('computation', 'instruction_id',
                                                               'hlo_op') + OWNER])
    agree('programs', sorted(got), sorted(programs))
    for key, p in programs.items():
        for mine, theirs in zip(sorted(([i.computation.text(1), i.id, i.name] + p.origin(i)
                                        for i in p.all), key=repr), sorted(got[key], key=repr)):
            agree('instruction of %s' % (key,), dict(zip(('computation', 'id', 'name') + OWNER,
                                                         theirs)),
                  dict(zip(('computation', 'id', 'name') + OWNER, mine)))
        agree('instructions of %s' % (key,), len(got[key]), len(p.all))


def by_its_name(columns, hlo_op, recorded):
    """What an op has whose program the file lacks: the framework op that it records is the
    owner."""
    scope, of_pass = scope_of(recorded or '')
    of_pass = by_name(of_pass)
    if '.remat' in (hlo_op or ''):
        of_pass = 'recomputed'
    return [recorded, 'own', hlo_op, scope or None, 'name' if scope else None, of_pass, None, None,
            None] if recorded else [None] * len(columns)


def of_ops_and_buffers(run, programs):
    """The columns of OWNER in hlo_ops, of each host alone, and in buffer_allocations, of the
    instruction that defines the buffer."""
    for host, file in zip(run.hosts, run.files):
        ops, buffers = Run(file, [file]).ask_all(
            'SELECT program_id, tf_op AS recorded, hlo_op, %s FROM hlo_ops({x})' % ', '.join(OWNER),
            'SELECT program_id, hlo_op, %s FROM buffer_allocations({x})' % ', '.join(OWNER))
        for r in ops + buffers:
            program = programs.get((host, r['program_id']))
            instruction = program and program.by_name.get(r['hlo_op'])
            if instruction:
                want = program.origin(instruction)
            elif 'recorded' in r:
                name = r['recorded']  # to which XProf adds a colon if there is no type
                if r['owner_tf_op'] != name:
                    name = '' if name.startswith('XlaModule:') else name.rstrip(':')
                want = by_its_name(OWNER, r['hlo_op'], name or None)
            else:
                want = [None] * len(OWNER)
            agree('origin of %s %s' % (r['program_id'], r['hlo_op']), {c: r[c] for c in OWNER},
                  dict(zip(OWNER, want)))


# ---- ops of events ----

FRAMEWORK_OP = re.compile(r'[A-Za-z0-9.][A-Za-z0-9_./>-]*:[A-Z_][A-Za-z0-9_]*')


def string(value):
    return value if isinstance(value, str) and value else None


class Work:
    """An event of an op: its op's key, its times, and the events that it nests in; in_graph: what
    it is in a CUDA graph (places.py)."""

    def __init__(self, host, kind, event, number, in_graph):
        stats = event.stats
        program, hlo_op, tf_op = (stats.get('program_id'), string(stats.get('hlo_op')),
                                  string(stats.get('tf_op')))
        self.host, self.kind, self.start, self.number = host, kind, event.start_ps, number
        self.duration = self.own = max(event.duration_ps, 0)
        self.end, self.parent = self.start + self.duration, None
        if kind in ('tensorcore', 'sparsecore'):
            if stats.get('hlo_op') is None:
                hlo_op = event.meta.display or event.name.partition(' = ')[0].removeprefix('%')
            tf_op = string(event.meta.stats.get('tf_op'))
        elif kind == 'gpu':
            tf_op = op_text(stats)
        elif kind == 'host':
            tf_op = event.name if FRAMEWORK_OP.fullmatch(event.name) else None
        hlo_op = (hlo_op or '').rpartition('::')[2]
        self.program = str(program % 2**64) if isinstance(program, int) else None
        self.recorded, self.is_op, self.name = tf_op, bool(hlo_op or tf_op), event.name
        self.in_graph = in_graph
        if hlo_op:
            op = in_graph and in_graph.op
            self.key = (host, kind, self.program, op.name if op else hlo_op, None,
                        event.name if in_graph and not op else None)
        else:
            self.key = (host, kind, None, None) + ((tf_op, None) if tf_op else (None, event.name))


def nest(line):
    """Of each event the last before it that includes it, in order of start, the longer first."""
    open_events = []
    for e in sorted(line, key=lambda e: (e.start, -e.end, e.number)):
        while open_events and open_events[-1].end < e.end:
            open_events.pop()
        if open_events:
            e.parent = open_events[-1]
            e.parent.own -= e.duration
        open_events.append(e)


def work(run):
    """Events of devices; of a run without, those of ops on host threads."""
    lines = []
    for host, planes in run.hosts.items():
        for plane in planes:
            for line in work_lines(plane) if plane.kind in DEVICES else ():
                lines.append([(host, plane.kind, e) for e in own_times(line)])
    if not any(lines):
        lines = [[(host, 'host', e) for e in own_times(line)]
                 for host, planes in run.hosts.items() for plane in planes if plane.kind == 'host'
                 for line in plane.lines if not line.derived]
    found, number, graphs = [], 0, in_graphs(run)
    for line in lines:
        of = []
        for host, kind, e in line:
            of.append(Work(host, kind, e, number, graphs.get(id(e))))
            number += 1
        of = [e for e in of if e.kind != 'host' or e.is_op]
        if of and of[0].kind != 'gpu':
            nest(of)
        found += of
    return found


class Op:
    """Events of one key."""

    def __init__(self, key, events, programs):
        self.host, self.kind, self.program, self.hlo_op, self.tf_op, self.name = key
        self.events, of = events, [e.in_graph for e in events if e.in_graph]
        self.n_in_graphs, self.executions = len(of), sum(x.is_execution or 0 for x in of)
        self.in_graph = of[0] if self.executions else None
        program = programs.get((self.host, self.program))
        self.instruction = program and self.hlo_op and program.by_name.get(self.hlo_op)
        self.module = program.name if self.instruction else None
        recorded = self.tf_op or next((e.recorded for e in events if e.recorded), None)
        if self.instruction:
            self.tf_op, self.origin = self.instruction.tf_op or None, program.origin(
                self.instruction)
            self.of_loop = scope_of(self.instruction.tf_op)[1]
        else:
            self.tf_op, (_, of_pass) = recorded, scope_of(recorded or '')
            self.of_loop = of_pass
            self.origin = by_its_name(OWNER, self.hlo_op, recorded)

    @property
    def is_loop(self):
        return self.instruction.opcode == 'while' if self.instruction else bool(
            self.hlo_op and self.hlo_op.startswith('while'))


def iterations(ops):
    """{event: iteration} of what is in loops."""
    loops, found = {e for op in ops for e in op.events if op.is_loop}, {}
    of_loop = {e: op.of_loop for op in ops for e in op.events}
    for op in ops:
        counts, loop, of_op = collections.Counter(), None, {}
        for e in sorted(op.events, key=lambda e: (e.start, -e.end, e.number)):
            at = e.parent
            while at and at not in loops:
                at = at.parent
            loop = at
            if at and counts[at] < 1000:
                of_op[e] = counts[at]
                counts[at] += 1
        if loop and of_loop[loop] != 'forward':
            of_op = {e: max(of_op.values()) - n for e, n in of_op.items()}
        found.update(of_op)
    return found


def scope_ops(run, programs):
    by_key, rows = collections.defaultdict(list), []
    for e in work(run):
        by_key[e.key].append(e)
    ops = [Op(key, of, programs) for key, of in by_key.items()]
    of_event = iterations(ops)
    for op in ops:
        parts = collections.defaultdict(list)
        for e in op.events:
            parts[of_event.get(e)].append(e)
        for iteration, of in parts.items():
            rows.append([op.host, op.kind, op.program, op.module, op.hlo_op, op.tf_op, op.name,
                         iteration] + op.origin + [
                             len(of), sum(e.duration for e in of) / 1e6,
                             sum(e.own for e in of) / 1e6, op.n_in_graphs, op.executions,
                             op.in_graph])
    columns = ('host', 'plane_kind', 'program_id', 'hlo_module', 'hlo_op', 'tf_op', 'name',
               'iteration') + OWNER + ('occurrences', 'total_us', 'self_us')
    got = run.ask('SELECT %s FROM scope_ops({x})' % ', '.join(columns))
    for theirs, mine in zip(sorted((list(r.values()) for r in got), key=repr),
                            sorted((r[:-3] for r in rows), key=repr)):
        agree('scope_ops', dict(zip(columns, theirs)), dict(zip(columns, mine)), abs_tol=1e-6)
    agree('number of scope_ops', len(got), len(rows))
    around = {e.parent for op in ops for e in op.events}
    runs_ops = {(op.host, op.program, op.hlo_op) for op in ops for e in op.events if e in around}
    return costs(run, [dict(zip(columns + ('n_in_graphs', 'executions', 'in_graph'), r))
                       for r in rows], runs_ops)


def in_graphs_each(found, instruction):
    """(operations, bytes) of an execution in a graph."""
    one = instruction['bytes_accessed']
    if found.op.opcode == 'custom-call':
        one = library_bytes(found.program, found.op) if is_library_call(found.op) else None
    return instruction['model_flops_actual'], one


def on_device(r, listed, n_events, instruction):
    """Of a row of scope_ops, from rows of hlo_ops and for its kernels in CUDA graphs."""
    own = r['occurrences'] - r['n_in_graphs']
    times = n_events if r['plane_kind'] == 'gpu' else sum(o['occurrences'] for o in listed)
    n, each = r['executions'], in_graphs_each(r['in_graph'], instruction) if r[
        'in_graph'] else (None, None)
    r['executions'] = r['occurrences'] if r['plane_kind'] != 'gpu' else n + sum(
        o['occurrences_actual'] for o in listed if own) if r['hlo_module'] and (
            listed or not own) else None
    for c, column, one in zip(('flops', 'bytes_accessed'),
                              ('model_flops_actual', 'bytes_accessed_actual'), each):
        all_of = [o[column] for o in listed]
        known = [sum(all_of) * own / times if all_of and times and None not in all_of
                 else None] * (own > 0)
        known += [one and one * n] if r['in_graph'] else []
        if known and None not in known:
            r[c] = sum(known)


def costs(run, rows, runs_ops):
    """The rows with executions, operations and bytes: on devices of hlo_ops (tests/witness/flops.py
    and op_columns.py), an equal part for each event, on host threads of the instruction for each
    event, in CUDA graphs for each execution; unless it runs other ops."""
    ops, events = collections.defaultdict(list), collections.Counter()
    for r in rows:
        events[r['host'], r['plane_kind'], r['program_id'], r['hlo_op']] += r[
            'occurrences'] - (r.get('n_in_graphs') or 0)
    for host, file in zip(run.hosts, run.files):
        for o in Run(file, [file]).ask('SELECT program_id, hlo_op, core_type, occurrences, '
                                       'occurrences_actual, model_flops_actual, '
                                       'bytes_accessed_actual FROM hlo_ops({x})'):
            ops[host, o['core_type'] == 'SparseCore', o['program_id'], o['hlo_op']].append(o)
    instructions = {(i['host'], i['program_id'], i['hlo_op']): i for i in run.ask(
        'SELECT host, program_id, hlo_op, opcode, model_flops_actual, bytes_accessed '
        'FROM hlo_instructions({x})')} if any(r['plane_kind'] == 'host' or r['in_graph']
                                              for r in rows) else {}
    for r in rows:
        r['flops'] = r['bytes_accessed'] = None
        i = instructions.get((r['host'], r['program_id'], r['hlo_op']))
        if r['plane_kind'] == 'host':
            r['executions'] = r['occurrences']
            if i and i['opcode'] not in ('while', 'conditional') and (
                    r['host'], r['program_id'], r['hlo_op']) not in runs_ops:
                if i['model_flops_actual'] is not None:
                    r['flops'] = i['model_flops_actual'] * r['occurrences']
                if i['bytes_accessed'] or i['opcode'] != 'custom-call':
                    r['bytes_accessed'] = i['bytes_accessed'] * r['occurrences']
        else:
            on_device(r, ops[r['host'], r['plane_kind'] == 'sparsecore', r['program_id'] or '0',
                             r['hlo_op']],
                      events[r['host'], r['plane_kind'], r['program_id'], r['hlo_op']], i)
    columns = ('host', 'plane_kind', 'program_id', 'hlo_op', 'tf_op', 'name', 'iteration',
               'executions', 'flops', 'bytes_accessed')
    got = run.ask('SELECT %s FROM scope_ops({x})' % ', '.join(columns))
    for theirs, mine in zip(*(sorted(([r[c] for c in columns] for r in of),
                                     key=lambda r: repr(r[:-3])) for of in (got, rows))):
        agree('costs of scope_ops', dict(zip(columns, theirs)), dict(zip(columns, mine)), rel=1e-6)
    return rows


# ---- queries ----

def prefix(scope, depth):
    return scope and scope[:(outside(scope, '/') + [len(scope)] * depth)[depth - 1]] or None


def grouped(run, rows, query, own, of_largest):
    """A query against the sums of the rows of scope_ops, by the query's own columns. Columns
    of_largest are those of the row with the largest self time: of several such, of any."""
    groups, everything = collections.defaultdict(list), collections.Counter()
    for r in rows:
        groups[(r['plane_kind'],) + own(r)].append(r)
        everything[r['plane_kind']] += r['self_us']
    got = run.ask(query)
    columns = list(got[0])[:1 + len(own(rows[0]))] if got else []
    agree('groups of %s' % query, sorted((tuple(r[c] for c in columns) for r in got), key=repr),
          sorted(groups, key=repr))
    for r in got:
        of = groups[tuple(r[c] for c in columns)]

        def us(*passes):
            return sum(x['self_us'] for x in of if x['pass'] in passes)
        want = {'forward_us': us('forward'), 'backward_us': us('backward'),
                'recomputed_us': us('recomputed'), 'unknown_us': us(None),
                'self_us': sum(x['self_us'] for x in of),
                'occurrences': sum(x['occurrences'] for x in of)}
        want['percent'] = 100 * want['self_us'] / everything[r['plane_kind']] if everything[
            r['plane_kind']] else None
        for cost in ('flops', 'bytes_accessed'):
            known = [x[cost] for x in of if x[cost] is not None]
            want[cost] = sum(known) if known else None
        agree('%s %s' % (query, list(r.values())[:4]), {k: r[k] for k in want}, want, rel=1e-6,
              abs_tol=1e-6)
        agree('passes', r['forward_us'] + r['backward_us'] + r['recomputed_us'] + r['unknown_us'],
              r['self_us'])
        largest = max(x['self_us'] for x in of)
        top = [dict(x, top_op=x['hlo_op'] and x['name'] or x['hlo_op'] or x['tf_op'] or x['name'])
               for x in of
               if x['self_us'] >= largest - 1e-6]
        agree_one_of('%s: is one of the largest' % (r,), [r[c] for c in of_largest],
                     [[x[c] for c in of_largest] for x in top])
    shares = collections.Counter()
    for r in got:
        shares[r['plane_kind']] += r['percent'] or 0
    agree('sum of percentages', dict(shares), {k: 100 if everything[k] else 0 for k in shares})
    times = [r['self_us'] for r in got]
    agree('order of %s' % query, times, sorted(times, reverse=True))
    agree('ranks', [r['rank'] for r in got], list(range(1, len(got) + 1)))


def by_scope(run, rows):
    for depth in (1, 2, 1000):
        for by_iteration in (0, 1):
            grouped(run, rows, 'SELECT plane_kind, scope, iteration, * FROM time_by_scope({x}, %d, '
                    '%d)' % (depth, by_iteration),
                    lambda r: (prefix(r['scope'], depth), r['iteration'] if by_iteration else None),
                    ('scope_by', 'owner_by', 'top_op'))


def by_line(run, rows):
    grouped(run, rows, 'SELECT plane_kind, user_file, user_line, * FROM time_by_source_line({x})',
            lambda r: (r['user_file'], r['user_line']), ('user_function', 'scope', 'top_op'))


# ---- what is looked at ----

def random_names():
    """Names of what the rules speak of, in any order."""
    words = sorted(LEFT_OUT | TRANSFORMED | PROGRAMS) + '''cond branch_0_fun body while gradients
        gradients_1 eqx.nn Net a x[1] gradient_tape aten__mul aten__gelu_backward prim__Constant
        xla__slice aten__add.3'''.split() + ['']
    draw, found = random.Random(3), set()

    def component():
        part = draw.choice(words)
        for _ in range(draw.choice((0, 0, 1, 2, 3))):
            part = '%s(%s)' % (draw.choice(sorted(TRANSFORMED | PROGRAMS) + ['f', '']), part)
        return part

    def path(level):
        parts = [component() for _ in range(draw.randint(1, 6 - 4 * (level > 0)))]
        if level < 3 and draw.random() < 0.4:
            parts.append(merged(level))
        return '/'.join(parts)

    def merged(level):
        start = draw.choice(['', '', component() + '/'])
        return '(%s)' % ':'.join(start + path(level + 1) for _ in range(draw.choice((1, 2, 2, 3))))

    def deep(levels):
        rest = draw.choice(('transpose(a)/b/mul', 'rematted_computation/b/mul', path(3)))
        for _ in range(levels):
            rest = '%s/(%s)' % (draw.choice(('a', 'jit(f)', 'x[1]')), ':'.join(
                draw.sample(['b/add', rest], 2)))
        return rest
    found.update(deep(levels) for levels in range(LEVELS - 2, LEVELS + 3) for _ in range(20))
    while len(found) < 3000:
        name = list(path(0))
        for _ in range(draw.choice((0, 0, 0, 1, 2))):
            name.insert(draw.randint(0, len(name)), draw.choice('()[]{}/:;:;.'))
        found.add(''.join(name))
    return sorted(found)


def functions(names):
    for at in range(0, len(names), 500):
        some = names[at:at + 500]
        rows = ask('SELECT column1 AS name, op_scope(column1) AS scope, op_pass(column1) AS pass '
                   'FROM (VALUES %s)' % ', '.join("('%s')" % x.replace("'", "''") for x in some))
        for row in rows:
            scope, of_pass = scope_of(row['name'])
            agree('scope and pass of %s' % row['name'], [row['scope'], row['pass']],
                  [scope or None, by_name(of_pass)])


def dumps():
    """(file, {(host, program id): program}) of each program that XLA wrote into a file."""
    top = os.path.join(os.path.dirname(ROOT), 'shared', 'data') if os.environ.get(
        'WITNESS_SHARED') else os.path.join(ROOT, 'tests', 'data')
    for path in sorted(glob.glob(os.path.join(top, '**', 'module_*.hlo.pb'), recursive=True)):
        name = os.path.basename(path)[:-len('.hlo.pb')]
        if all(word in path for word in sys.argv[1:2]):
            with open(path, 'rb') as f:
                proto = Message(f.read())
            yield path, {(name, str(int(name[7:].partition('.')[0]))): Program(proto.sub(1)
                                                                              or proto)}


def of_scopes(run, found):
    rows = scope_ops(run, found)
    by_scope(run, rows)
    by_line(run, rows)


def each(run):
    found = programs_of(run, Program)
    if found:
        tried('instructions ' + run.path, instructions, run.ask, found)
    tried('ops and buffers ' + run.path, of_ops_and_buffers, run, found)
    tried('scope_ops ' + run.path, of_scopes, run, found)


def made():
    tried('op_scope, op_pass', functions, random_names())
    for path, found in dumps():
        tried('instructions ' + path, instructions, Run(path, [path]).ask, found)


if __name__ == '__main__':
    main(each, made)
