#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Where in the user's program an op comes from: the columns owner_*, scope, scope_by, pass and
user_* of hlo_instructions, from the bytes of the HLO protos, as docs/semantics.md defines them
(Layers, lines and owners)."""
import collections
import glob
import os
import random
import re
import sys

sys.dont_write_bytecode = True
from compare import ROOT, agree, ask, checking, finish, runs  # noqa: E402
from hlo import Message  # noqa: E402
from programs import programs_of  # noqa: E402
from xspace import text  # noqa: E402

LEFT_OUT = set('''checkpoint remat remat2 rematted_computation closed_call core_call
    core_closed_call named_call custom_jvp_call custom_vjp_call custom_vjp_call_jaxpr shard_map pjit
    jit xla_call while gradient_tape PartitionedCall StatefulPartitionedCall'''.split())
PROGRAMS = {'jit', 'pjit', 'pmap', 'xmap'}
TRANSFORMED = set('''jvp transpose vmap vjp linearize checkpoint remat custom_jvp custom_vjp
    shard_map'''.split())
FRAMEWORKS = set('''jax jaxlib flax optax haiku equinox keras tf_keras tensorflow torch torch_xla
    torchax orbax chex numpy site-packages dist-packages'''.split())
BASES = {'Module', 'Layer', 'Operation', 'Functional', 'Model', 'Sequential'}
OWNER = ('owner_tf_op', 'owner_by', 'owner_hlo_op', 'scope', 'scope_by', 'pass', 'user_file',
         'user_line', 'user_function')
DEEPEST, MOST_MODULES = 1000, 32
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
            return '', transposed
        if not parts or parts[0] not in TRANSFORMED:
            break
        transposed |= parts[0] == 'transpose'
        component = parts[1]
    return component, transposed


def scope_of(name):
    """(scope, pass) of the name of a framework op."""
    name = name[:(outside(name, ';') or [len(name)])[0]]
    colons = outside(name, ':')
    if colons and '/' not in name[colons[-1]:]:
        name = name[:colons[-1]]
    cuts = outside(name, '/')
    parts = [name[a + 1:b] for a, b in zip([-1] + cuts, cuts + [len(name)])]
    plain = [unwrapped(x) for x in parts]
    backward, components, scope = any(t for _, t in plain), [x for x, _ in plain[:-1]], []
    for i, x in enumerate(components):
        before, after = components[i - 1] if i else '', ''.join(components[i + 1:i + 2])
        gradients = not scope and re.fullmatch(r'gradients(_\d+)?', x)
        backward |= bool(gradients) or x == 'gradient_tape'
        if x and not (x in LEFT_OUT or gradients or x.startswith('eqx.')
                or before == 'while' and x in ('body', 'cond') or re.fullmatch(r'branch_\d+_fun', x)
                or x == 'cond' and re.fullmatch(r'branch_\d+_fun', after)):
            scope.append(x)
    again = 'rematted_computation' in components
    return '/'.join(scope), 'recomputed' if again else 'backward' if backward else 'forward'


# ---- stacks ----

def is_library(path):
    if not path or path[0] == '<' and not path.startswith(('<stdin>', '<ipython-')):
        return True
    folders = re.split(r'[/\\]', path)[:-1]
    return bool(FRAMEWORKS & set(folders)) or any(
        a in ('lib', 'lib64') and re.match(r'python\d', b) for a, b in zip(folders, folders[1:]))


Frame = collections.namedtuple('Frame', 'file line function')


class Stacks:
    """Frames of each stack_frame_id, innermost first."""

    def __init__(self, index):
        index = index or Message()
        self.files, self.functions = ([text(x) for x in index.all(n)] for n in (1, 2))
        self.locations = [Message(x) for x in index.all(3)]
        self.frames = [Message(x) for x in index.all(4)]

    @staticmethod
    def at(of, number):
        return of[number - 1] if 0 < number <= len(of) else None

    def stack(self, number):
        found = []
        while len(found) < DEEPEST:
            frame = self.at(self.frames, number)
            if frame is None:
                break
            place, number = self.at(self.locations, frame.int(1)) or Message(), frame.int(2)
            found.append(Frame(self.at(self.files, place.int(1)), place.int(3),
                               self.at(self.functions, place.int(2))))
        return found


def module_class(frame):
    found = re.fullmatch(r'(?:.*\.)?([^.]+)\.(?:__call__|forward|call)', frame.function or '', re.S)
    name = found.group(1) if found else '<'
    inside = re.split(r'[/\\]', frame.file or '')[:-1]
    if name.startswith('<') or name in BASES or (is_library(frame.file) and not {
            'nn', 'linen', 'layers', 'nets'} & set(inside)):
        return None
    return name


def modules(stack):
    """The path of modules on a stack."""
    found = {}
    for frame, outer in zip(stack, stack[1:] + [Frame(None, None, None)]):
        name = module_class(frame)
        if name:
            found.setdefault((name, outer.file, outer.line))
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
        self.by_id = by_id
        for i in self.all:
            for x in i.operand_ids:
                of = by_id.get(x)
                if of and of.computation is i.computation and by_id[i.id] is i:
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
                    return at
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
        for frame in self.stacks.stack(i.frame):
            if not is_library(frame.file):
                return frame
        file, line = i.source
        return Frame(file, line, None) if not is_library(file) else None

    def origin(self, i):
        """The columns of OWNER."""
        owner, scope, scope_by, of_pass = i.owner, None, None, None
        if owner:
            scope, of_pass = scope_of(owner.tf_op)
            scope_by = 'name'
            if '.remat' in i.name:
                of_pass = 'recomputed'
        if not scope:
            scope, scope_by = modules(self.stacks.stack((owner or i).frame)), 'stack'
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


def random_names():
    """Names of what the rules speak of, in any order."""
    words = sorted(LEFT_OUT | TRANSFORMED | PROGRAMS) + '''cond branch_0_fun body while gradients
        gradients_1 eqx.nn Net a x[1] gradient_tape'''.split() + ['']
    draw, found = random.Random(3), set()

    def component():
        part = draw.choice(words)
        for _ in range(draw.choice((0, 0, 1, 2, 3))):
            part = '%s(%s)' % (draw.choice(sorted(TRANSFORMED | PROGRAMS) + ['f', '']), part)
        return part
    while len(found) < 3000:
        name = list('/'.join(component() for _ in range(draw.randint(1, 6))))
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
                  [scope or None, of_pass])


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


if __name__ == '__main__':
    with checking('op_scope, op_pass'):
        functions(random_names())
    for path, found in dumps():
        with checking('instructions %s' % path):
            instructions(lambda sql: ask(sql.replace('{x}', "'%s'" % path)), found)
    for one in runs():
        found = programs_of(one, Program)
        if found:
            with checking('instructions %s' % one.path):
                instructions(one.ask, found)
    finish()
