#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What was compiled, and what was compiled again: compilations and recompilations from the bytes of
each profile, as docs/semantics.md defines them, and of profiles that are made at random, so that
each rule decides something. A rule that no profile reaches is a failure."""
import collections
import os
import random
import re
import sys
import tempfile

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.dirname(HERE))
from compare import Run, agree, integer, main, numbered, tried  # noqa: E402
from hlo import Message  # noqa: E402
from idle_causes import cause_of, compiles, function_of  # noqa: E402
from lib import hlo  # noqa: E402
from lib.wire import L, V, Plane, space  # noqa: E402
from programs import programs_of  # noqa: E402
from shapes import NAMES  # noqa: E402
from xspace import Stats  # noqa: E402

met = collections.Counter()
RULES = (['differs by ' + x for x in ('parameter', 'result', 'parameter with layout',
                                      'result with layout', 'nothing')]
         + ['within an event of ' + x for x in ('the thread', 'another thread')]
         + ['module by ' + x for x in ('stat', 'function', 'stat and function', 'argument')]
         + [x + ' around something else' for x in ('tracing', 'lowering')]
         + ['another compilation goes on', 'other arguments', 'a call within itself',
            'the second of a call',
            'a name that is no module', 'no module', 'run by name', 'program that runs next',
            'the only program', 'no program', 'function without a module', 'several functions',
            'title', 'several names', 'program before of another name'])


# ---- shapes ----

def layout_of(m):
    if m is None:
        return ''
    tiles = ''.join('(%s)' % ','.join(map(str, Message(t).ints(1))) for t in m.all(6))
    more = ('T' + tiles if tiles else '') + ('E(%d)' % m.int(7) if m.int(7) else '') + (
        'S(%d)' % m.int(8) if m.int(8) else '')
    order = ','.join(map(str, m.ints(1)))
    return '{%s%s}' % (order, ':' + more if more else '') if order or more else ''


def shape_text(m, with_layout):
    """In the syntax of HLO."""
    if m.int(2) == hlo.TUPLE:
        return '(%s)' % ', '.join(shape_text(Message(x), with_layout) for x in m.all(4))
    return '%s[%s]%s' % (NAMES[m.int(2)], ','.join(map(str, m.ints(3))),
                         layout_of(m.sub(5)) if with_layout else '')


class Program:
    """The parameters, [(number, name or None, shape)], and the result's shape of a module."""

    def __init__(self, module):
        self.module, self.first_run = module.text(1), None
        entry = next(c for c in map(Message, module.all(3)) if c.int(5) == module.int(6))
        ops = list(map(Message, entry.all(2)))
        self.parameters = {i.int(9): ((i.sub(7) or Message()).text(2) or None, i.sub(3))
                           for i in sorted(ops, key=lambda i: i.int(9))
                           if i.text(2) == 'parameter'}
        self.result = next(i.sub(3) for i in ops if i.int(35) == entry.int(6))


def differences(programs):
    """Of programs in their order: the parameters whose shapes differ, else the result, else both
    with layouts."""
    def change(what, shapes):
        shapes = list(dict.fromkeys(shapes))
        more = ' ... (%d shapes)' % len(shapes) if len(shapes) > 8 else ''
        return ['%s: %s%s' % (what, ' -> '.join(shapes[:8]), more)] if len(shapes) > 1 else []
    for with_layout in (False, True):
        found = []
        for n in sorted({n for p in programs for n in p.parameters}):
            of = [p.parameters.get(n) for p in programs]
            name = next((x[0] for x in reversed(of) if x and x[0]), None)
            found += change('parameter %d%s' % (n, ' (%s)' % name if name else ''), [
                shape_text(x[1], with_layout) if x else 'none' for x in of])
        if not found:
            found = change('result', [shape_text(p.result, with_layout) for p in programs])
        if found:
            met['differs by ' + found[0].split(' ')[0].strip(':')
                + (' with layout' if with_layout else '')] += 1
            if len(found) > 8:
                found[8:] = ['and %d parameters more' % len(found[8:])]
            return '; '.join(found)
    met['differs by nothing'] += 1
    return 'the parameters and the result are equal'


# ---- threads ----

def within(a, b):
    """Whether event b contains a of another thread."""
    return b.start_ps <= a.start_ps and a.end_ps <= b.end_ps


def nested(a, b):
    """Whether event b contains a of its thread."""
    return within(a, b) and a.start_ps < b.end_ps


class Thread:
    """A line: its events, the longest of those that start together first."""

    def __init__(self, line, ids):
        self.line = line
        self.events = sorted((e for e in line.events if e.occurrences is None),
                             key=lambda e: (e.start_ps, -e.duration_ps, ids[id(e)]))
        self.place = {id(e): i for i, e in enumerate(self.events)}
        self.compiling = [e for e in self.events if compiles(e.name)]

    def around(self, e):
        """Events that contain e, outermost first."""
        return [x for x in self.events[:self.place[id(e)]] if nested(e, x)]

    def call_of(self, e):
        """(function, start of its call); a call of the same name right within is the same call."""
        calls = [x for x in self.around(e) if function_of(x.name)]
        if not calls:
            return None, None
        call = calls.pop()
        while calls and calls[-1].name == call.name:
            met['a call within itself'] += 1
            call = calls.pop()
        return function_of(call.name), call

    def before(self, e):
        """The compiling event of the thread before e in the same call, in no other one."""
        mine = self.call_of(e)[1]
        return next((x for x in reversed(self.events[:self.place[id(e)]]) if mine
                     and compiles(x.name) and self.call_of(x)[1] is mine and not any(
                         compiles(y.name) for y in self.around(x))), None)

    def innermost(self, since, e, kind):
        """Time from one event to another in which what traces (lowers) is the innermost of what
        traces, lowers or compiles; None: nothing of the kind starts in it."""
        start, end = since.start_ps, e.start_ps
        of = [(x, kind_of(x)) for x in self.events if kind_of(x)]
        if not any(k == kind and self.place[id(since)] < self.place[id(x)] < self.place[id(e)]
                   for x, k in of):
            return None
        moments = sorted({m for x, _ in of for m in (x.start_ps, x.end_ps) if start < m < end}
                         | {start, end})
        total = 0
        for a, b in zip(moments, moments[1:]):
            on = [k for x, k in of if x.start_ps <= a and x.end_ps >= b]
            if on and on[-1] == kind:
                total += b - a
            elif kind in on:
                met['%s around something else' % kind] += 1
        return total


def kind_of(e):
    cause = cause_of(e.name)
    if cause == 'tracing':
        frame = re.sub(r'^\$\S* ', '', e.name)
        return 'tracing' if frame.startswith(('trace_', 'tf.function-')) else 'lowering'
    return cause if cause == 'compiling' else None


class Compilation:
    def __init__(self, event_id, event, thread):
        self.id, self.event, self.thread, self.parts = event_id, event, thread, []
        self.program = self.before = None


def title_of(name):
    return re.match('[^# ]*', name).group()


def found_on(threads, ids):
    """The compilations of a host."""
    tops, inside = [], []
    for t in threads:
        for e in t.compiling:
            outer = next((x for x in t.around(e) if compiles(x.name)), None)
            if outer:
                met['within an event of the thread'] += 1
                inside.append((outer, e))
            else:
                tops.append(Compilation(ids[id(e)], e, t))
    found, part_of = [], {}
    for c in sorted(tops, key=lambda c: (c.event.start_ps, -c.event.duration_ps, c.id)):
        whole = [x for x in found if within(c.event, x.event)
                 and title_of(x.event.name) != title_of(c.event.name)]
        met['other arguments'] += any(within(c.event, x.event) and x not in whole
                                      and x.event.name != c.event.name for x in found)
        if whole:
            met['within an event of another thread'] += 1
            max(whole, key=lambda x: x.event.end_ps).parts.append(c.event)
        else:
            met['another compilation goes on'] += any(within(c.event, x.event) for x in found)
            found.append(c)
        part_of[id(c.event)] = max(whole, key=lambda x: x.event.end_ps) if whole else c
    for outer, e in inside:
        part_of[id(outer)].parts.append(e)
    return found


# ---- modules and programs ----

def derived_name(function):
    return 'jit_' + re.sub(r'[^A-Za-z0-9_.-]', '_', function)


def after_jit(module):
    return module[4:] if module and module.startswith('jit_') and module[4:] else None


def argument_of(name, key):
    """Of a marker TITLE:#KEY=VALUE,KEY=VALUE#."""
    pieces = re.split(r',(?=[a-z_]+=)', name.split('#')[1]) if '#' in name else []
    return next((p[len(key) + 1:] for p in pieces if p.startswith(key + '=')), None)


def module_of(c, function, modules, ids):
    derived = derived_name(function) if function else None
    names = []
    for e in [c.event] + sorted(c.parts, key=lambda e: ids[id(e)]):
        argument = argument_of(e.name, 'module')
        if argument:
            met['module by argument'] += not names
            names.append(re.sub(r'\(\d+\)$', '', argument))
        for stat, name in e.stats.items():
            if stat in ('hlo_module', 'name') and isinstance(name, str) and name:
                name = re.sub(r'\(\d+\)$', '', name) if stat == 'hlo_module' else name
                if stat == 'hlo_module' or name in modules or name == derived:
                    names.append(name)
                else:
                    met['a name that is no module'] += 1
    if derived in names or (not names and derived in modules):
        met['module by function' if not names else 'module by stat and function'] += 1
        return derived
    met['module by stat' if names else 'no module'] += 1
    return names[0] if names else None


def first_runs(planes, programs):
    for p in planes:
        if p.kind not in ('host', 'gpu', 'tensorcore'):
            continue
        for line in p.lines:
            for e in line.events if not line.derived else ():
                if e.occurrences is not None:
                    continue
                number = integer(e.stats.get('program_id'))
                if number is None and p.kind != 'host':
                    named = re.search(r'\((\d+)\)$', e.name)
                    number = int(named.group(1)) if named else None
                    met['run by name'] += bool(named)
                program = programs.get(str(number % 2**64)) if number is not None else None
                if program and (program.first_run is None or e.start_ps < program.first_run):
                    program.first_run = e.start_ps


def module_title(module):
    found = re.fullmatch(r'(.+)\.\d+', module, re.S | re.A)
    met['title'] += found is not None
    return found.group(1) if found else module


def runs_before(program, programs):
    """The latest first run of a program of the same title before this one's: (start, id, program),
    or None."""
    of = [(p.first_run, int(number), p) for number, p in programs.items()
          if p.first_run is not None and module_title(p.module) == module_title(program[2].module)
          and p is not program[2]]
    own = float('inf') if program[0] is None else program[0]
    earlier = [x for x in of if (x[0], x[1]) < (own, program[1])]
    found = max(earlier, key=lambda x: x[:2]) if earlier else None
    met['program before of another name'] += bool(found and found[2].module != program[2].module)
    return found


def assign(compilations, programs):
    """Of each compilation the program, and the one before."""
    by_module = collections.defaultdict(list)
    for c in compilations:
        if c.module is not None:
            by_module[c.module].append(c)
    for module, of in by_module.items():
        mine = [(p.first_run, int(number), p) for number, p in programs.items()
                if p.module == module]
        ran = sorted((x for x in mine if x[0] is not None), key=lambda x: x[:2])
        for c in of:
            ends = sorted(x.event.end_ps for x in of if x is not c
                          and (x.event.end_ps, x.id) > (c.event.end_ps, c.id))
            next_end = ends[0] if ends else None
            at = next((i for i, x in enumerate(ran) if x[0] >= c.event.end_ps
                       and (next_end is None or x[0] < next_end)), None)
            if at is not None:
                met['program that runs next'] += 1
                c.program = ran[at]
            elif len(mine) == len(of) == 1 and mine[0][0] is None:
                met['the only program'] += 1
                c.program = mine[0]
            else:
                met['no program'] += 1
            c.before = runs_before(c.program, programs) if c.program else None


# ---- both tables ----

def line_name(line):
    return line.display or line.name


def of_run(run):
    ids = {id(e): event_id for event_id, _, _, _, e in numbered(run)}
    line_ids = {id(line): i for i, line in enumerate(
        line for planes in run.hosts.values() for p in planes for line in p.lines)}
    every, rows, again = programs_of(run, Program), [], []
    for host, planes in run.hosts.items():
        programs = {number: p for (of, number), p in every.items() if of == host}
        modules = {p.module for p in programs.values()}
        threads = [Thread(line, ids) for p in planes if p.kind == 'host' for line in p.lines
                   if not line.derived]
        compilations = found_on(threads, ids)
        for c in compilations:
            function, call = c.thread.call_of(c.event)
            c.module = module_of(c, function, modules, ids)
            c.function = function or after_jit(c.module)
            c.tracing = c.lowering = None
            if call:
                before = c.thread.before(c.event)
                met['the second of a call'] += before is not None
                c.tracing, c.lowering = (c.thread.innermost(before or call, c.event, kind)
                                         for kind in ('tracing', 'lowering'))
        first_runs(planes, programs)
        assign(compilations, programs)
        for c in compilations:
            program = c.program and c.program[2]
            rows.append({
                'host': host, 'function': c.function, 'hlo_module': c.module,
                'program_id': c.program and str(c.program[1]), 'start_ps': c.event.start_ps,
                'start_us': c.event.start_ps / 1e6, 'duration_ps': c.event.duration_ps,
                'duration_us': c.event.duration_ps / 1e6, 'tracing_us': micro(c.tracing),
                'lowering_us': micro(c.lowering), 'parameter_shapes': (program and ', '.join(
                    shape_text(s, False) for _, s in program.parameters.values())) or None,
                'differs': c.before and differences([c.before[2], program]),
                'name': c.event.name, 'line': line_name(c.thread.line),
                'line_id': line_ids[id(c.thread.line)], 'event_id': c.id})
        again += recompiled(host, programs, compilations)
    return rows, again


def micro(ps):
    return ps / 1e6 if ps is not None else None


def known_sum(values):
    known = [x for x in values if x is not None]
    return sum(known) if known else None


def recompiled(host, programs, compilations):
    groups = collections.defaultdict(list)
    for c in compilations:
        groups[(module_title(c.module), None) if c.module else (None, c.function)].append(c)
    for p in programs.values():
        groups[module_title(p.module), None]
    for (title, function), of in groups.items():
        of.sort(key=lambda c: (c.event.end_ps, c.id))
        mine = [(int(n), p) for n, p in programs.items() if module_title(p.module) == title]
        names = {c.module for c in of} | {p.module for _, p in mine}
        module = title if len(names) > 1 else names.pop()
        met['several names'] += len(names) > 1
        met['several functions'] += len({c.function for c in of}) > 1
        if len(of) < 2 and len(mine) < 2 or (title, function) == (None, None):
            continue
        met['function without a module'] += module is None
        made = [c.program for c in of if c.program]
        made = [(number, p) for _, number, p in made]
        order = sorted(x for x in mine if x[0] not in [n for n, _ in made]) + made
        named = [c.function for c in of if c.function] or [after_jit(module)]
        yield {'host': host, 'function': named[-1],
               'hlo_module': module, 'program_count': len(mine), 'compilation_count': len(of),
               'duration_us': micro(known_sum(c.event.duration_ps for c in of)),
               'tracing_us': micro(known_sum(c.tracing for c in of)),
               'lowering_us': micro(known_sum(c.lowering for c in of)),
               'differs': differences([p for _, p in order]) if len(mine) > 1 else None}


def steps_of(run):
    """{event id: step} in files that contain their groups; in others what trace_events has."""
    grouped = all('group_id' in p.stat_names.values() for planes in run.hosts.values()
                  for p in planes if p.name.startswith(('/host:CPU', '/device:')))
    if not grouped:
        return {r['event_id']: r['step'] for r in run.ask('SELECT event_id, step '
                                                          'FROM trace_events({x})')}
    return {event_id: Stats(plane, reversed(e.messages)).get('group_id')
            for event_id, _, plane, _, e in numbered(run)}


def check(run):
    rows, again = of_run(run)
    got, got_again = run.ask_all('SELECT * FROM compilations({x})',
                                 'SELECT * FROM recompilations({x})')
    steps = steps_of(run) if rows else {}
    rows = [{**r, 'step': steps[r['event_id']]} for r in rows]
    places = list(run.hosts).index
    rows.sort(key=lambda r: (places(r['host']), r['start_ps'], -r['duration_ps'], r['event_id']))
    agree('event ids', [r['event_id'] for r in got], [r['event_id'] for r in rows])
    for ours, want in zip(got, rows):
        agree('compilation %d' % want['event_id'], {k: ours[k] for k in want}, want)
    again.sort(key=lambda r: (places(r['host']),
                              -(-1 if r['duration_us'] is None else r['duration_us']),
                              -r['program_count'], r['hlo_module'] is None,
                              r['hlo_module'] or r['function']))
    agree('recompilations', [r['hlo_module'] for r in got_again], [r['hlo_module'] for r in again])
    for ours, want in zip(got_again, again):
        agree('recompilations of %s' % want['hlo_module'], {k: ours[k] for k in want}, want)


# ---- made at random ----

US = 1000000
COMPILING = ['backend_compile', 'backend_compile_and_load', 'XlaCompile#id=1#', 'TpuCompile x',
             'PjRtClient::Compile', 'LlvmCompiler::RunBackend', 'a_Compile', 'x:XlaCompile',
             'XlaCompile:#module=jit_f#', 'XlaCompile:#id=1,module=cluster_0(3),x#module=jit_g#',
             'XlaCompileBackend:#module=a,b,program_id=2', 'XlaCompile:#module=,modules=jit_f#']
ALIKE = ['tf.function-graph', 'f:tf.function-graph_building',
         'backend_compiled', 'XlaCompiler', 'X::Compiled', 'a/b_Compile', '$x.py:1 backend_compile',
         'y x::Compile', 'work']
TRACING = ['trace_to_jaxpr_dynamic', '$pe.py:12 trace_to_subjaxpr', '$x.py:3 trace_to_jaxpr',
           'tf.function-graph_building', '$f.py:7 tf.function-graph_building x']
LOWERING = ['lower_sharding_computation', '$m.py:9 lower_mesh_computation', 'lower_xla_callable',
            'lower_parallel_callable']
FUNCTIONS = ['f', 'g', '<lambda>', 'a.b-c', 'h h']
CALLS = ['PjitFunction(%s)' % f for f in FUNCTIONS]
MODULES = [derived_name(f) for f in FUNCTIONS] + 'cluster_0 jit_f.3 jit_f.21 .5 .7 x.'.split()


def some_shape(dice):
    n = dice.choice([(), (2, 3), (2, 3), (2, 3), (4, 3)])
    one = hlo.shape(dice.choice([hlo.F32, hlo.F32, hlo.F32, hlo.BF16]), *n)
    if n and dice.random() < 0.4:  # another layout
        one = V(2, hlo.F32) + hlo.ints(3, *n) + L(5, hlo.ints(1, *range(len(n))) + L(
            6, hlo.ints(1, 8, 128)) + V(8, 1))
    return hlo.tuple_of(one, hlo.shape(hlo.S32)) if dice.random() < 0.2 else one


def program(dice, module, id):
    n = dice.choice([0, 1, 1, 1, 2])
    numbers = dice.sample(range(n), n)
    ops = [hlo.instruction(10 + i, 'p.%d' % i, 'parameter', some_shape(dice),
                           op_name=dice.choice(['', 'x', 'args[%d]' % i]), more=V(9, i))
           for i in numbers]
    ops.append(hlo.instruction(99, 'root', 'add', some_shape(dice), op_name='y'))
    other = hlo.computation(2, 'c', [hlo.instruction(50, 'q', 'parameter', more=V(9, 0))], root=50)
    return hlo.proto(hlo.module(module, other, hlo.computation(1, 'main', ops, root=99), id=id))


def stats(dice, name):
    found = {'group_id': {'int64': dice.randint(1, 3)}} if dice.random() < 0.3 else {}
    if name in COMPILING and dice.random() < 0.5:
        for stat in dice.sample(['hlo_module', 'name'], dice.randint(1, 2)):
            found[stat] = {'str': dice.choice(MODULES + ['jit_f(3)', 'no module'])}
    if name == 'work' and dice.random() < 0.6:
        found['program_id'] = {dice.choice(['uint64', 'int64']): dice.randint(1, 8)}
    return found


def events(dice, start, end, depth):
    """Events from start to end, and events within them."""
    at, found = start, []
    while at < end and len(found) < 12:
        first = min(end, at + dice.randint(0, 3))
        last = min(end, first + dice.randint(0, (end - start) // 2 + 1))
        name = dice.choice(dice.choice([COMPILING, CALLS, CALLS, TRACING, LOWERING, ALIKE,
                                        ['work']]))
        found.append((name, first * US, (last - first) * US, stats(dice, name)))
        if depth and last > first:
            found += events(dice, first, last, depth - 1)
        at = last + dice.randint(0, 2)
    return found


def host_of(dice):
    planes = []
    for name in ['/host:CPU'] + dice.choice([[], ['/host:python']]):
        plane = Plane(name, len(planes) + 1, stats={'group_id': {'int64': 0}})
        for i in range(dice.randint(1, 3)):
            of = events(dice, 0, 60, 3)
            if dice.random() < 0.3:
                of.append((dice.choice(COMPILING), None, 10, {}, 3))
            plane.line(i + 1 if dice.random() < 0.9 else -559038737 + i, 'thread %d' % i, of)
        planes.append(plane.bytes())
    planes += [device(dice, '/device:GPU:0', 'Stream #1', 5),
               device(dice, '/device:TPU:0', 'XLA Modules', 6)]
    metadata = Plane('/host:metadata', 9)
    for id in range(1, 9):
        module = dice.choice(MODULES[:3] + MODULES)
        metadata.meta('%s(%d)' % (module, id), stats={'Hlo Proto': {'bytes': program(
            dice, module, id)}}, key=id)
    return space(*planes, metadata.bytes())


def device(dice, name, line, id):
    """A device that runs some of the programs."""
    plane, ran = Plane(name, id, stats={'group_id': {'int64': 0}}), []
    for at in sorted(dice.choices(range(70), k=dice.randint(0, 6))):
        number = dice.randint(1, 8)
        ran.append(('%s(%d)' % (dice.choice(MODULES), number), at * US, US // 2, {})
                   if dice.random() < 0.5 else
                   ('k', at * US, US // 2, {'program_id': {'uint64': number}}))
    return plane.line(1, line, ran).bytes()


def run_of(dice, folder):
    files = [os.path.join(folder, '%s.xplane.pb' % host) for host in 'ab'[:dice.choice([1, 1, 2])]]
    for path in files:
        with open(path, 'wb') as f:
            f.write(host_of(dice))
    return Run(folder, files)


def each(run):
    tried('compilations ' + run.path, check, run)


def made():
    met.clear()
    for seed in range(int(os.environ.get('SEEDS', 200))):
        with tempfile.TemporaryDirectory() as top:
            tried('compilations of seed %d' % seed, check, run_of(random.Random(seed), top))
    tried('each rule is reached', lambda: agree(
        'rules that no profile reaches', [x for x in RULES if not met[x]], []))


if __name__ == '__main__':
    main(each, made)
