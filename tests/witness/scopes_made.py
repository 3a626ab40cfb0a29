#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Owners, scopes, passes and user lines of programs that are made at random, with stacks, so that
each rule of docs/semantics.md (Layers, lines and owners) decides something: hlo_instructions,
hlo_ops and buffer_allocations. A rule that no program reaches is a failure."""
import os
import random
import sys
import tempfile

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.dirname(HERE))
import scopes  # noqa: E402
from compare import Run, agree, main, tried  # noqa: E402
from lib import hlo  # noqa: E402
from lib.wire import L, Plane, V, space  # noqa: E402
from programs import programs_of, structure  # noqa: E402

FILES = ['', '<string>', '<stdin>', '<ipython-input-1>', 'train.py', '/home/me/net.py',
         'C:\\me\\net.py', '/usr/lib/python3.11/runpy.py', '/usr/lib64/python3/runpy.py',
         '/opt/pythonic/x.py', 'lib/pythons/x.py'] + ['/v/%s/f.py' % x for x in
                                                      sorted(scopes.FRAMEWORKS)] + [
    '/v/site-packages/%s/m.py' % x for x in ('nn', 'linen', 'layers', 'nets')] + [
    '/v/torch/autograd/function.py', '/v/torch/utils/checkpoint.py', '/v/checkpoint.py',
    'C:\\torch_xla\\utils\\checkpoint.py', '/v/torch_xla/utils/checkpoint.py', 'autograd/x.py']
FUNCTIONS = ['main', 'f.<locals>.g', '__call__', '.forward', 'Net.__call__', 'a.Block.forward',
             'Dense.call', 'Dense.call', 'f.<locals>.Conv.__call__', '<lambda>.__call__',
             'Net.calls'] + ['x.%s.__call__' % x for x in sorted(scopes.BASES)]
OPCODES = ['add', 'add', 'parameter', 'constant', 'fusion', 'call', 'while', 'conditional',
           'async-start', 'map', 'copy']
RUN_OTHERS = OPCODES[4:10]
RULES = (['left out ' + x for x in scopes.LEFT_OUT] + ['program ' + x for x in scopes.PROGRAMS]
         + ['transformed ' + x for x in scopes.TRANSFORMED]
         + ['folder ' + x for x in scopes.FRAMEWORKS] + ['base ' + x for x in scopes.BASES]
         + ['owner by ' + x for x in ('own', 'fused', 'user', 'producer', 'caller', 'None')]
         + ['scope by ' + x for x in ('name', 'stack', 'None')]
         + ['pass ' + x for x in ('forward', 'backward', 'recomputed', 'None')]
         + ['library of ' + x for x in ('nn', 'linen', 'layers', 'nets')]
         + ['call by ' + x for x in ('__call__', 'forward', 'call')]
         + ['merged ' + x for x in (*scopes.PASSES, 'too deep', 'in a merged name', 'in one scope',
                                    'in scopes around', 'with another pass')]
         + ['typed in <stdin', 'typed in <ipyth', 'python in lib', 'python in lib64', 'no file',
            'file in brackets', 'body of while', 'cond of while', 'cond of branch', 'branch', 'eqx',
            'gradients', 'type', 'several names', 'module of a library', 'frame repeats',
            'many modules', 'fused below the root', 'fused in a later computation',
            'given in a fusion', 'recomputed by its own name', 'scope of a stack without owner',
            'operator aten__', 'operator prim__', 'operator xla__', 'several operators',
            'by stack: forward', 'by stack: backward', 'by stack: recomputed', 'by stack: None',
            'line of the owner', 'line of an outer frame', 'line of the metadata'])


def stack_index(dice, n_frames):
    """A StackFrameIndexProto. Frames have any parent, so that some call themselves for ever."""
    n_places = 60
    places = [V(1, dice.randint(0, len(FILES) + 1)) + V(2, dice.randint(0, len(FUNCTIONS) + 1))
              + V(3, dice.randint(0, 9)) for _ in range(n_places)]
    places += [V(1, 1 + FILES.index('train.py')) + V(2, 1 + FUNCTIONS.index('Net.__call__'))
               + V(3, 100 + i) for i in range(40)]
    places += [V(1, 1 + FILES.index('/v/torch/' + x)) for x in ('autograd/function.py',
                                                               'utils/checkpoint.py')]
    frames = [V(1, dice.randint(0, n_places + 1)) + V(2, dice.randint(0, i))
              for i in range(n_frames)]
    deep = [V(1, n_places + 1 + i) + V(2, n_frames + i if i else 0) for i in range(40)]
    itself = V(1, n_places + 1) + V(2, n_frames + 45)
    circle = [V(1, dice.randint(1, n_places)) + V(2, n_frames + 41 + dice.randint(0, 4))
              for _ in range(4)]
    autograd = [V(1, n_places + 41), V(1, n_places + 42) + V(2, n_frames + 46)]
    return b''.join([L(1, x) for x in FILES] + [L(2, x) for x in FUNCTIONS]
                    + [L(3, x) for x in places]
                    + [L(4, x) for x in frames + deep + circle + [itself] + autograd])


def instructions(dice, names, first, n, later, n_frames):
    """Of a computation: ids from first on; what runs others runs later computations."""
    made = []
    for i in range(first, first + n):
        opcode = dice.choice(OPCODES)
        metadata = L(2, dice.choice(names)) if dice.random() < 0.3 else b''
        if dice.random() < 0.4:
            metadata += V(15, dice.choice([n_frames + 47] + 4 * [dice.randint(1, n_frames + 48)]))
        if dice.random() < 0.3:
            metadata += L(3, dice.choice(FILES)) + V(4, dice.randint(0, 99))
        calls = dice.choices(later, k=dice.randint(1, 2)) if later and opcode in RUN_OTHERS else []
        operands = [dice.randint(first, i + 2) for _ in range(dice.randint(0, 3))]
        number = i if dice.random() > 0.03 else i - 1  # an id that comes twice
        made.append(hlo.instruction(
            number, '%s.%d%s' % (opcode, i, dice.choice(['', '', '.remat'])), opcode,
            hlo.shape(hlo.F32, 4), operands, calls, more=L(7, metadata) if metadata else b''))
    return made


def program(dice, id, names):
    n, n_frames = dice.randint(1, 6), dice.randint(5, 60)
    computations, first, buffers = [], 1, []
    for c in range(1, n + 1):
        size = dice.randint(1, 9)
        made = instructions(dice, names, first, size, list(range(c + 1, n + 2)), n_frames)
        computations.append(hlo.computation(c, 'c%d' % c, made, root=first + dice.randint(
            0, size - 1), more=L(8, ['', 'main', 'sparsecore', 'host'][(c + id) % 4])))
        buffers += [hlo.buffer(i, 16, i) for i in range(first, first + size)]
        first += 100
    plan = hlo.assignment(buffers, [hlo.allocation(0, 16 * len(buffers), [
        (i * 100 + k, 16 * k, 16) for i in range(n) for k in range(1, 2)])])
    frames = L(17, stack_index(dice, n_frames)) if dice.random() < 0.8 else b''
    return hlo.proto(hlo.module('m%d' % id, *computations, id=id, more=frames), plan)


def run_of(dice, folder, names):
    """A host with three programs, and a GPU that runs ops of them."""
    plane, ops = Plane('/host:metadata', 9), []
    for id in (1, 2, 3):
        proto = program(dice, id, names)
        plane.meta('m%d(%d)' % (id, id), stats={'Hlo Proto': {'bytes': proto}}, key=id)
        ops += [(id, i.name) for i in scopes.Program(scopes.Message(proto).sub(1)).all]
    events = [('kernel', 1000 * at, 500, {
        'hlo_op': {'str': op}, 'hlo_module': {'str': 'm%d' % id}, 'program_id': {'uint64': id},
        'kernel_details': {'str': 'regs:32 grid:1,1,1 block:32,1,1'}})
        for at, (id, op) in enumerate(ops)]
    gpu = Plane('/device:GPU:0', 1).line(1, 'Stream #1', events).bytes()
    path = os.path.join(folder, 'h.xplane.pb')
    with open(path, 'wb') as f:
        f.write(space(gpu, plane.bytes()))
    return Run(path, [path])


def run_without_programs(dice, folder, names):
    """A GPU whose kernels record names of framework ops."""
    path = os.path.join(folder, 'h.xplane.pb')
    kernels = [('kernel', 1000 * i, 500, {'tf_op': {'str': dice.choice(names)}, **({
        'hlo_op': {'str': 'a.%d' % i}} if dice.random() < 0.5 else {})}) for i in range(200)]
    with open(path, 'wb') as f:
        f.write(space(Plane('/device:GPU:0', 1).line(1, 'Stream #1', kernels).bytes()))
    return Run(path, [path])


def check(run, found):
    structure(run, programs_of(run))
    scopes.instructions(run.ask, found)
    scopes.of_ops_and_buffers(run, found)
    scopes.scope_ops(run, found)


def made():
    some_names = scopes.random_names() + 30 * ['while/body/add', 'while/cond/lt',
                                               'cond/branch_0_fun/mul']
    some_names += 100 * ['aten__mm', 'net.1/aten__mm', 'net.1/aten__add.2/xla__select']
    scopes.met.clear()
    for seed in range(int(os.environ.get('SEEDS', 130))):
        with tempfile.TemporaryDirectory() as top:
            run = run_of(random.Random(seed), top, some_names)
            tried('programs of seed %d' % seed, check, run, programs_of(run, scopes.Program))
    for seed in range(20):
        with tempfile.TemporaryDirectory() as top:
            run = run_without_programs(random.Random(seed), top, some_names)
            tried('without programs, seed %d' % seed, scopes.of_scopes, run, {})
    tried('each rule is reached', lambda: agree(
        'rules that no program reaches', [x for x in RULES if not scopes.met[x]], []))


if __name__ == '__main__':
    main(made=made)
