# SPDX-License-Identifier: Apache-2.0
"""Scopes, passes, owners and user lines of ops, and the time by each: the rules of
docs/semantics.md."""

import os

from lib import hlo
from lib.cases import case, must, near, same
from lib.hlo import computation, instruction, module, proto
from lib.shell import quoted, rows
from lib.wire import L, Plane, V, space

US = 10**6


# ---- names ----

NAMES = [  # name, scope, pass
    ('jit(step)/transpose(jvp(Net))/block_1/dot_general', 'Net/block_1', 'backward'),
    (
        'jit(step)/jit(main)/jvp(Net)/decoder/while/body/layers/mlp/wi_0/'
        'dot_general[dimension_numbers=(((2,), (0,)), ((), ())) to=a/b]',
        'Net/decoder/layers/mlp/wi_0',
        'forward',
    ),
    (
        'jit(step)/transpose(jvp(Net))/while/body/checkpoint/rematted_computation/layers/mlp/'
        'jit(silu)/mul',
        'Net/layers/mlp',
        'recomputed',
    ),
    ('jit(step)/transpose(jvp(Net))/while/body/checkpoint/layers/add', 'Net/layers', 'backward'),
    (
        'jit(step)/while/body/closed_call/jvp()/while/body/closed_call/layer/up/tanh',
        'layer/up',
        'forward',
    ),
    (
        'jit(step)/transpose(jvp())/while/body/eval_jaxpr/checkpoint/block/add_any',
        'block',
        'backward',
    ),
    ('jit(step)/jvp()/jit(relu)/max', None, 'forward'),
    ('jit(step)/transpose(jvp())/mul;jit(step)/jvp(other)/broadcast_in_dim', None, 'backward'),
    ('jit(step)/jvp(vmap(eqx.nn.Linear))/dot_general', None, 'forward'),
    ('jit(step)/jvp(head)/bqhd,bkhd->bhqk/transpose', 'head/bqhd,bkhd->bhqk', 'forward'),
    ('jit(step)/transpose', None, 'forward'),
    ('jit(step)/transpose(jvp(x))', None, 'backward'),
    ('jit(step)/cond/branch_1_fun/block/add', 'block', 'forward'),
    ('jit(step)/encoder/cond/branch_0_fun/add', 'encoder', 'forward'),
    ('jit(step)/cond/embed/add', 'cond/embed', 'forward'),
    ('jit(step)/while/cond/lt', None, 'forward'),
    ('jit(step)/body/lt', 'body', 'forward'),
    ('net_1/dense/MatMul:MatMul', 'net_1/dense', 'forward'),
    ('gradient_tape/net_1/dense/MatMul/MatMul_1:MatMul', 'net_1/dense/MatMul', 'backward'),
    ('StatefulPartitionedCall/gradient_tape/net/ReluGrad', 'net', 'backward'),
    ('gradients/dense/MatMul_grad/MatMul', 'dense/MatMul_grad', 'backward'),
    ('gradients_2/dense/MatMul', 'dense', 'backward'),
    ('dense/gradients/MatMul', 'dense/gradients', 'forward'),
    ('model//dense/MatMul', 'model/dense', 'forward'),
    ('jvp(a)(b)/add', 'jvp(a)(b)', 'forward'),
    ('shard_map(x)/psum', 'x', 'forward'),
    ('a:b/add', 'a:b', 'forward'),
    ('MatMul', None, 'forward'),
    ('step/loss/linear:NVTX', 'step/loss', None),
    ('train_step.1/block.2/aten__add.3/aten__mul', 'train_step.1/block.2', None),
    ('aten__mm', None, None),
    ('aten__add.3/xla__select', None, None),
    ('aten__native_layer_norm_backward', None, 'backward'),
    ('net.1/aten___softmax_backward_data', 'net.1', 'backward'),
    ('net_backward.1/aten__mm', 'net_backward.1', None),
    ('gradients/net/aten__mm', 'net', 'backward'),
    ('aten/mm_backward', 'aten', 'forward'),
    # merged by XLA, of ops that it combines
    ('jit(step)/(transpose(jvp(mlp))/dot_general:jvp(mlp)/reduce_sum)', 'mlp', 'backward'),
    ('jit(f)/(transpose(jvp(a))/b/dot:transpose(jvp(a))/bc/d/dot:jvp()/sum)', 'a', 'backward'),
    ('jit(f)/net/(a/x/mul:b/x/mul):AllReduce', 'net', 'forward'),
    ('jit(f)/net/(a/x/mul:a/x/y/mul:a/x/z/mul)', 'net/a/x', 'forward'),
    ('jit(f)/net/(mul:a/mul)', 'net', 'forward'),
    ('(a/mul:b/mul)', None, 'forward'),
    ('(a/mul:a/add)', 'a', 'forward'),
    ('transpose(jvp(net))/(a/mul:b/mul)', 'net', 'backward'),
    ('jit(f)/(x/rematted_computation/a/mul:x/mul)', 'x/a', 'recomputed'),
    ('jit(f)/(x/rematted_computation/a/mul:transpose(jvp(y))/mul)', 'y', 'backward'),
    ('net/(aten__mm:mul)', 'net', None),
    ('net/(aten__mm:aten__mm_backward)', 'net', 'backward'),
    ('net/cond/(branch_0_fun/a/mul:branch_1_fun/a/add:a/mul)', 'net', 'forward'),
    ('net/cond/(branch_0_fun/a/mul:branch_1_fun/a/add)', 'net/a', 'forward'),
    ('net/((a/b/mul:a/c/mul):a/(d/mul:transpose(jvp(e))/mul))', 'net/a/e', 'backward'),
    ('net/(a/reshape[dims=(1:2) x/y]:a/b/add)', 'net/a', 'forward'),
    ('net/(a/b::a/c)', 'net', 'forward'),
    # not merged
    ('net/(transpose(jvp(a))/mul)', 'net', 'forward'),
    ('net/(a/mul:transpose(jvp(b))/mul', 'net', 'forward'),
    ('net/(a/mul:b/mul)c', 'net', 'forward'),
    ('net/(a/mul:b/mul)/c/d', 'net/(a/mul:b/mul)/c', 'forward'),
    ('net/f(a/mul:transpose(jvp(b))/mul)', 'net', 'forward'),
    ('a(b/c', None, 'forward'),
    ('a)b/c', 'a)b', 'forward'),
    ('', None, 'forward'),
]


@case
def names():
    for name, scope, passed in NAMES:
        same(
            rows('SELECT op_scope(%s), op_pass(%s)' % (quoted(name), quoted(name))),
            [(scope, passed)],
            name,
        )
    same(rows('SELECT op_scope(NULL), op_pass(NULL)'), [(None, None)])
    wrapped = 'vmap(' * 64 + 'x' + ')' * 64
    same(
        rows("SELECT op_scope('%s/add'), op_scope('vmap(%s)/add')" % (wrapped, wrapped)),
        [('x', 'vmap(x)')],
        '64 wrappers and 65',
    )


@case
def merged_names_in_merged_names():
    """Eight levels, the ninth is an op; and a name of many parts, in little time."""
    def nested(levels):
        return '(a/x:' * levels + 'a/transpose(b)/x' + ')' * levels
    for levels, want in ((8, ('a/b', 'backward')), (9, (None, 'forward'))):
        same(rows("SELECT op_scope('%s'), op_pass('%s')" % (2 * (nested(levels),))), [want])
    many = ('n/(' + 100000 * 'a/x:' + 'a/b/x)', 'n/' + 100000 * '(a:', 'n/' * 50000 + '(' +
            50000 * 'a:' + ')', 'n/' + 50000 * '(a:' + 50000 * ')')
    same([rows("SELECT op_scope('%s')" % name)[0][0] for name in many],
         ['n/a', 'n', 'n/' * 49999 + 'n', 'n'])


@case
def prefixes():
    for scope, depth, want in (
        ('a/b/c', 1, 'a'),
        ('a/b/c', 2, 'a/b'),
        ('a/b/c', 9, 'a/b/c'),
        ('a(x/y)/b', 1, 'a(x/y)'),
        ('a/b', 0, None),
        ('a/b', -1, None),
    ):
        same(rows("SELECT scope_prefix('%s', %d)" % (scope, depth)), [(want,)])
    same(rows("SELECT scope_prefix('a/b/c', NULL), scope_prefix(NULL, 1)"), [('a/b/c', None)])


# ---- programs ----


def program_plane(*programs):
    plane = Plane('/host:metadata', 9)
    for program_id, made in programs:
        plane.meta(
            'm(%d)' % program_id, stats={'Hlo Proto': {'bytes': proto(made)}}, key=program_id
        )
    return plane.bytes()


def owners(*computations):
    data = space(program_plane((1, module('m', *computations))))
    return {
        name: (owner, by)
        for name, owner, by in rows(
            "SELECT hlo_op, owner_hlo_op, owner_by FROM hlo_instructions('{x}')", data
        )
    }


def op(id, name, opcode='add', operands=(), named='', calls=()):
    return instruction(
        id, name, opcode, operands=operands, op_name='m/%s/op' % named if named else '', calls=calls
    )


@case
def owners_in_a_computation():
    """p -> a -> named1 -> tail; b is used by two, of which the first in the file is the owner;
    c is two steps from one user, one from another."""
    found = owners(
        computation(
            1,
            'main',
            [
                op(1, 'p', 'parameter', named='argument'),
                op(2, 'a', operands=(1,)),
                op(3, 'b', operands=(1,)),
                op(4, 'c', operands=(1,)),
                op(5, 'd', operands=(4,)),
                op(6, 'first', operands=(2, 3), named='1'),
                op(7, 'second', operands=(3, 5), named='2'),
                op(8, 'third', operands=(4,), named='3'),
                op(9, 'tail', operands=(6, 8)),
                op(10, 'end', operands=(9,)),
                op(11, 'alone', operands=(1,)),
                op(12, 'lost', operands=(77,)),
            ],
            root=10,
        )
    )
    same(
        found,
        {
            'p': ('p', 'own'),
            'a': ('first', 'user'),
            'b': ('first', 'user'),
            'c': ('third', 'user'),
            'd': ('second', 'user'),
            'first': ('first', 'own'),
            'second': ('second', 'own'),
            'third': ('third', 'own'),
            'tail': ('first', 'producer'),
            'end': ('first', 'producer'),
            'alone': (None, None),
            'lost': (None, None),
        },
    )


@case
def owners_of_costly_programs():
    """A program may take twice its size and its share of 60 MB, of a file with other programs: then
    there is memory for the program, but not for the owners of its unnamed instructions."""
    ops = [op(1, 'p', 'parameter')] + [op(i, 'op%d' % i, operands=[i - 1] * 500)
                                       for i in range(2, 100)]
    ops.append(op(100, 'named', operands=(99,), named='1'))
    costly = 1, module('m', computation(1, 'main', ops, root=100))
    other = 2, module('other', more=L(99, bytes(3 << 20)))
    ask = (
        "SELECT owner_by, count(*), (SELECT message FROM prof_issues('{x}') "
        "WHERE code = 'program_owners' AND o.owner_by <> '') "
        "FROM hlo_instructions('{x}') AS o GROUP BY 1"
    )
    same(rows(ask, space(program_plane(costly))), [('own', 1, None), ('user', 99, None)])
    found = rows(ask, space(program_plane(costly, other)))
    same([r[:2] for r in found], [(None, 99), ('own', 1)])
    must('owners of its unnamed instructions are unknown' in (found[1][2] or ''), found)


@case
def owner_through_a_user():
    """`left` gets its owner from a user, and hands on that of its producer."""
    found = owners(
        computation(
            1,
            'main',
            [
                op(1, 'from', named='f'),
                op(2, 'left', operands=(1,)),
                op(3, 'to', operands=(2,), named='t'),
                op(4, 'right', operands=(2,)),
            ],
        )
    )
    same(
        found,
        {
            'from': ('from', 'own'),
            'left': ('to', 'user'),
            'to': ('to', 'own'),
            'right': ('from', 'producer'),
        },
    )


@case
def owners_of_fusions():
    """The nearest to the root, along operands in their order; parameters and constants are not
    asked. Reducers are functions, not what an op runs."""
    inside = computation(
        2,
        'fused',
        [
            op(21, 'q', 'parameter', named='argument'),
            op(22, 'k', 'constant', named='constant'),
            op(23, 'far', operands=(21,), named='far'),
            op(24, 'left', operands=(23,)),
            op(25, 'near', operands=(21,), named='near'),
            op(26, 'r', operands=(22, 24, 25)),
        ],
        root=26,
    )
    empty = computation(3, 'empty', [op(31, 'z', 'parameter')], root=31)
    reducer = computation(4, 'sum', [op(41, 'y', named='reducer')], root=41)
    found = owners(
        computation(
            1,
            'main',
            [
                op(1, 'fusion', 'fusion', calls=(2,)),
                op(2, 'use', operands=(1,), named='use'),
                op(3, 'reduce', 'reduce', calls=(4,)),
                op(4, 'call', 'call', calls=(3, 2)),
                op(5, 'feeds', operands=()),
                op(6, 'sink', 'fusion', operands=(5,), calls=(2,)),
            ],
            root=2,
        ),
        inside,
        empty,
        reducer,
    )
    same(
        {
            k: found[k]
            for k in ('fusion', 'use', 'reduce', 'call', 'feeds', 'sink', 'r', 'left', 'q')
        },
        {
            'fusion': ('near', 'fused'),
            'use': ('use', 'own'),
            'reduce': (None, None),
            'call': ('near', 'fused'),
            'feeds': ('near', 'user'),
            'sink': ('near', 'fused'),
            'r': ('near', 'producer'),
            'left': ('far', 'producer'),
            'q': ('q', 'own'),
        },
    )
    same(found['z'], ('near', 'caller'), 'its caller is `call`, whose owner is fused')


@case
def owners_of_callers():
    """An op that only its computation's caller explains, through two levels; a computation that
    calls itself ends."""
    inner = computation(3, 'inner', [op(31, 'copy', 'copy')], root=31)
    outer = computation(2, 'outer', [op(21, 'starts', 'async-start', calls=(3,))], root=21)
    circle = computation(4, 'circle', [op(41, 'again', 'call', calls=(4,))], root=41)
    found = owners(
        computation(
            1,
            'main',
            [op(1, 'loop', 'while', calls=(2,)), op(2, 'use', operands=(1,), named='use')],
            root=2,
        ),
        outer,
        inner,
        circle,
    )
    same(
        found,
        {
            'loop': ('use', 'user'),
            'use': ('use', 'own'),
            'starts': ('use', 'caller'),
            'copy': ('use', 'caller'),
            'again': (None, None),
        },
    )


@case
def owners_in_circles():
    """Operands that run in a circle, an instruction that uses itself, and ids that come twice."""
    found = owners(
        computation(
            1,
            'main',
            [
                op(1, 'a', operands=(2,)),
                op(2, 'b', operands=(1,)),
                op(3, 'self', operands=(3,)),
                op(4, 'named', operands=(2,), named='n'),
            ],
        )
    )
    same(
        found,
        {
            'a': ('named', 'user'),
            'b': ('named', 'user'),
            'self': (None, None),
            'named': ('named', 'own'),
        },
    )


# ---- stacks ----


def stacks(*frames):
    """An index of frames (file, line, function, parent id); file, line and function may be 0:
    unknown."""
    files = [f[0] for f in frames]
    names = [f[2] for f in frames]
    places = b''.join(L(3, V(1, i + 1), V(2, i + 1), V(3, f[1])) for i, f in enumerate(frames))
    return L(
        17,
        b''.join(L(1, x) for x in files)
        + b''.join(L(2, x) for x in names)
        + places
        + b''.join(L(4, V(1, i + 1), V(2, f[3])) for i, f in enumerate(frames)),
    )


def placed(id, name, frame=0, op_name='', source='', line=0, opcode='add', operands=()):
    metadata = L(
        7,
        (L(2, op_name) if op_name else b''),
        (L(3, source) + V(4, line) if source else b''),
        (V(15, frame) if frame else b''),
    )
    return instruction(id, name, opcode, operands=operands, more=metadata)


def of_program(columns, instructions, frames=()):
    made = module(
        'm', computation(1, 'main', instructions), more=stacks(*frames) if frames else b''
    )
    return rows(
        "SELECT hlo_op, %s FROM hlo_instructions('{x}')" % columns, space(program_plane((1, made)))
    )


LIBRARY = [
    '/home/me/venv/lib/python3.11/site-packages/pkg/x.py',
    '/usr/lib/python3/dist-packages/x.py',
    '/usr/lib/python3.11/threading.py',
    '/opt/lib64/python3/x.py',
    '/opt/site/flax/nnx/nn/linear.py',
    'jax/_src/x.py',
    'third_party/py/optax/x.py',
    '<frozen runpy>',
    '<string>',
    'C:\\py\\site-packages\\x.py',
    '',
]
OWN = [
    '/home/me/train.py',
    'train.py',
    '/home/me/flax.py',
    '/home/me/flax_models/x.py',
    '/home/me/python3.11/x.py',
    '<stdin>',
    '<ipython-input-3-a1>',
    '/tmp/ipykernel_7/9.py',
    'keras',
]


@case
def library_files():
    for files, want in ((LIBRARY, None), (OWN, 7)):
        for file in files:
            same(
                of_program('user_line', [placed(1, 'a', 1)], [(file, 7, 'f', 0)]),
                [('a', want)],
                file,
            )


@case
def library_setting():
    try:
        for setting, file, want in (
            ('maxtext', '/opt/maxtext/a.py', None),
            ('maxtext', '/opt/maxtext.py', 7),
            ('/opt/', '/opt/a.py', None),
            ('opt', '/opt/a.py', None),
            ('!/home/me/flax/', '/home/me/flax/a.py', 7),
            ('!flax:flax', '/home/me/flax/a.py', None),
            ('flax:!flax', '/home/me/flax/a.py', 7),
            (':', '/opt/a.py', 7),
        ):
            os.environ['PROFSQL_LIBRARIES'] = setting
            same(
                of_program(
                    'user_line',
                    [placed(1, 'a', 1), placed(2, 'b', source=file, line=7)],
                    [(file, 7, 'f', 0)],
                ),
                [('a', want), ('b', want)],
                setting,
            )
    finally:
        del os.environ['PROFSQL_LIBRARIES']


@case
def user_lines():
    """The innermost frame of the user's; the source line if no frame is; the owner's if there
    is neither. Circles of frames end."""
    frames = [
        ('site-packages/flax/x.py', 1, 'Linear.__call__', 2),
        ('train.py', 40, 'loss', 3),
        ('train.py', 50, 'step', 0),
        ('jax/x.py', 5, 'f', 0),
        ('flax/y.py', 6, 'g', 5),
    ]
    same(
        of_program(
            'user_file, user_line, user_function, source_line, owner_by',
            [
                placed(1, 'a', 1, op_name='m/a'),
                placed(2, 'b', 3),
                placed(3, 'c', 4, source='mine.py', line=9),
                placed(4, 'd', 4),
                placed(5, 'e', 5),
                placed(6, 'f', 99),
                placed(7, 'g', operands=(1,)),
                placed(8, 'h', source='flax/z.py', line=3, operands=(1,)),
            ],
            frames,
        ),
        [
            ('a', 'train.py', 40, 'loss', 1, 'own'),
            ('b', 'train.py', 50, 'step', 50, None),
            ('c', 'mine.py', 9, None, 9, None),
            ('d', None, None, None, 5, None),
            ('e', None, None, None, 6, None),
            ('f', None, None, None, None, None),
            ('g', 'train.py', 40, 'loss', None, 'producer'),
            ('h', None, None, None, 3, 'producer'),
        ],
    )


@case
def backward_pass_of_pytorch():
    """Autograd's threads have frames only of what it calls in Python, the outermost torch's own.
    Without frames in the program, the pass of an operator is unknown."""
    checkpoint = '/v/torch_xla/utils/checkpoint.py'
    frames = [('train.py', 40, 'loss', 0), ('/v/torch/autograd/function.py', 315, 'apply', 0),
              ('mine.py', 10, 'Square.backward', 2), (checkpoint, 195, 'f', 2),
              ('net.py', 7, 'Net.forward', 4), ('/v/torch/autograd/graph.py', 841, 'run', 4),
              ('/v/torch/nn/linear.py', 134, 'Linear.forward', 1), (checkpoint, 100, 'f', 1),
              ('/me/torch/train.py', 40, 'loss', 0), ('/me/autograd/x.py', 41, 'f', 0)]
    ops = [placed(1 + i, name, frame, op_name=op) for i, (name, frame, op) in enumerate((
        ('a', 1, 'aten__mm'), ('b', 0, 'net.1/aten__mm'), ('c', 1, 'aten__gelu_backward'),
        ('d', 0, 'add'), ('e', 3, 'aten__mul'), ('f', 5, 'net.1/aten__mm'), ('g', 6, 'aten__mm'),
        ('h', 7, 'net.1/aten__add.2/aten__mm'), ('i', 8, 'aten__mm'), ('j', 9, 'aten__mm'),
        ('k', 10, 'aten__mm')))]
    same(of_program('pass', ops, frames), list(zip('abcdefghijk', (
        'forward', 'backward', 'backward', 'forward', 'backward', 'recomputed', 'backward',
        'forward', 'forward', 'forward', 'forward'))))
    same(of_program('pass', ops), [(x, {'c': 'backward', 'd': 'forward'}.get(x))
                                   for x in 'abcdefghijk'])


@case
def modules_on_the_stack():
    """Classes of calls from the outermost in, with the line of the call. Not: classes of
    frameworks that are no layers, base classes, functions, and calls that a loop repeats."""
    frames = [
        ('site-packages/flax/nnx/nn/linear.py', 422, 'Linear.__call__', 2),
        ('train.py', 12, 'main.<locals>.Block.forward', 3),
        ('site-packages/keras/src/layers/layer.py', 1, 'Layer.__call__', 4),
        ('train.py', 30, 'Net.call', 5),
        ('site-packages/flax/nnx/transforms/autodiff.py', 9, 'GradFn.__call__', 6),
        ('train.py', 40, 'loss', 7),
        ('train.py', 50, '<lambda>.__call__', 0),
        ('train.py', 60, 'Tower.__call__', 9),
        ('train.py', 61, 'run', 10),
        ('train.py', 62, 'Tower.__call__', 11),
        ('train.py', 61, 'run', 0),
        ('train.py', 70, '__call__', 0),
    ]
    same(
        of_program(
            'scope, scope_by, pass',
            [
                placed(1, 'a', 1, op_name='jit(f)/jvp()/add'),
                placed(2, 'b', 2),
                placed(3, 'c', 8, op_name='x/add'),
                placed(4, 'd', 8),
                placed(5, 'e', 12, op_name='jit(f)/add'),
                placed(6, 'f', 7),
            ],
            frames,
        ),
        [
            ('a', 'Net/Block:1/Linear:12', 'stack', 'forward'),
            ('b', 'Net/Block:1', 'stack', None),
            ('c', 'x', 'name', 'forward'),
            ('d', 'Tower', 'stack', None),
            ('e', None, None, 'forward'),
            ('f', None, None, None),
        ],
    )


@case
def recomputed_by_xla():
    same(
        of_program(
            'pass',
            [
                instruction(1, 'add.1.remat', op_name='jit(f)/transpose(jvp(x))/add'),
                instruction(2, 'add.2', op_name='jit(f)/transpose(jvp(x))/add'),
            ],
        ),
        [('add.1.remat', 'recomputed'), ('add.2', 'backward')],
    )


# ---- time ----


def hlo_events(*events, program=1):
    return [
        (
            name,
            start * US,
            duration * US,
            {'hlo_op': {'str': name}, 'program_id': {'uint64': program}},
        )
        for name, start, duration in events
    ]


def loops():
    """A step of a forward loop of three layers and a backward one, recorded twice; 2 + 3 + 3 +
    2 us of ops outside."""
    loss, grad = 'jit(f)/jvp(loss)/', 'jit(f)/transpose(jvp(loss))/'
    made = module(
        'm',
        computation(
            1,
            'main',
            [
                instruction(1, 'while.1', 'while', op_name=loss + 'while'),
                instruction(2, 'while.2', 'while', op_name=grad + 'while'),
                instruction(3, 'dot', op_name=loss + 'while/body/layer/dot'),
                instruction(4, 'dot.b', op_name=grad + 'while/body/layer/dot'),
                instruction(5, 'sgd', op_name='jit(f)/sgd/sub'),
                instruction(6, 'copy', 'copy'),
            ],
        ),
    )
    events = []
    for start in (0, 100):
        events += (
            [('while.1', start, 20)]
            + [('dot', start + 1 + 5 * i, 1 + i) for i in range(3)]
            + [('while.2', start + 20, 20)]
            + [('dot.b', start + 21 + 5 * i, 2 + i) for i in range(3)]
        )
        events += [('sgd', start + 50, 4), ('copy', start + 60, 1)]
    return made, events


@case
def operations_of_loops():
    """What a thread did in a loop without events in it is not known: it may go round any number of
    times. A call runs once what it calls."""
    made = module(
        'm',
        computation(1, 'main', [instruction(1, 'while.1', 'while', calls=[2]),
                                instruction(2, 'call.1', 'call', calls=[2])]),
        computation(2, 'inner', [instruction(3, 'add.1', 'add', hlo.shape(hlo.F32, 8))]),
    )
    data = space(Plane('/host:CPU').line(1, 'tf_XLA', hlo_events(
        ('while.1', 0, 2), ('call.1', 5, 2))).bytes(), program_plane((1, made)))
    same(rows("SELECT hlo_op, flops FROM scope_ops('{x}') ORDER BY hlo_op", data),
         [('call.1', 8.0), ('while.1', None)])


@case
def iterations():
    """Layers are separate rows, and a backward loop counts from its end. The self time of a loop is
    what its ops leave: 20 - 6 and 20 - 9 us."""
    made, events = loops()
    data = space(
        Plane('/host:CPU').line(1, 'tf_XLA', hlo_events(*events)).bytes(), program_plane((1, made))
    )
    same(
        rows(
            "SELECT hlo_op, iteration, occurrences, self_us, total_us, pass, scope FROM "
            "scope_ops('{x}') ORDER BY hlo_op, iteration",
            data,
        ),
        [
            ('copy', None, 2, 2.0, 2.0, None, None),
            ('dot', 0, 2, 2.0, 2.0, 'forward', 'loss/layer'),
            ('dot', 1, 2, 4.0, 4.0, 'forward', 'loss/layer'),
            ('dot', 2, 2, 6.0, 6.0, 'forward', 'loss/layer'),
            ('dot.b', 0, 2, 8.0, 8.0, 'backward', 'loss/layer'),
            ('dot.b', 1, 2, 6.0, 6.0, 'backward', 'loss/layer'),
            ('dot.b', 2, 2, 4.0, 4.0, 'backward', 'loss/layer'),
            ('sgd', None, 2, 8.0, 8.0, 'forward', 'sgd'),
            ('while.1', None, 2, 28.0, 40.0, 'forward', 'loss'),
            ('while.2', None, 2, 22.0, 40.0, 'backward', 'loss'),
        ],
    )
    columns = (
        "scope, forward_us, backward_us, unknown_us, self_us, occurrences, "
        "scope_by, top_op FROM time_by_scope('{x}'"
    )
    same(
        rows('SELECT rank, plane_kind, %s)' % columns, data),
        [
            (1, 'host', 'loss', 28.0, 22.0, 0.0, 50.0, 4, 'name', 'while.1'),
            (2, 'host', 'loss/layer', 12.0, 18.0, 0.0, 30.0, 12, 'name', 'dot.b'),
            (3, 'host', 'sgd', 8.0, 0.0, 0.0, 8.0, 2, 'name', 'sgd'),
            (4, 'host', None, 0.0, 0.0, 2.0, 2.0, 2, None, 'copy'),
        ],
    )
    same(
        rows('SELECT %s, 1)' % columns, data),
        [
            ('loss', 40.0, 40.0, 0.0, 80.0, 16, 'name', 'while.1'),
            ('sgd', 8.0, 0.0, 0.0, 8.0, 2, 'name', 'sgd'),
            (None, 0.0, 0.0, 2.0, 2.0, 2, None, 'copy'),
        ],
    )
    same(
        rows(
            "SELECT iteration, forward_us, backward_us FROM time_by_scope('{x}', 9, 1) "
            "WHERE scope = 'loss/layer' ORDER BY 1",
            data,
        ),
        [(0, 2.0, 8.0), (1, 4.0, 6.0), (2, 6.0, 4.0)],
    )
    for (percent,), want in zip(
        rows("SELECT percent FROM time_by_scope('{x}')", data),
        (5000 / 90, 3000 / 90, 800 / 90, 200 / 90),
    ):
        near(percent, want)


@case
def iterations_beyond():
    """The first 1000 of 1002 iterations of a loop are separate."""
    made = module(
        'm', computation(1, 'main', [instruction(1, 'while', 'while'), instruction(2, 'dot')])
    )
    events = hlo_events(('while', 0, 2000), *[('dot', i, 1) for i in range(1002)])
    data = space(Plane('/host:CPU').line(1, 't', events).bytes(), program_plane((1, made)))
    same(
        rows(
            "SELECT count(*), max(iteration), sum(occurrences) FILTER (WHERE iteration IS "
            "NULL) FROM scope_ops('{x}') WHERE hlo_op = 'dot'",
            data,
        ),
        [(1001, 999, 2)],
    )


@case
def nested_loops():
    """The innermost loop counts, and each of its events from 0; ops of a line that is not
    stored in order too. On another line there is no loop around."""
    made = module(
        'm',
        computation(
            1,
            'main',
            [
                instruction(1, 'outer', 'while'),
                instruction(2, 'inner', 'while'),
                instruction(3, 'dot'),
            ],
        ),
    )
    events = hlo_events(
        ('outer', 0, 100),
        ('inner', 0, 20),
        ('inner', 50, 20),
        *[('dot', at, 1) for at in (1, 5, 51, 55, 59, 80)],
    )
    for order in (events, events[::-1]):
        data = space(
            Plane('/host:CPU').line(1, 't', order).line(2, 'u', hlo_events(('dot', 3, 1))).bytes(),
            program_plane((1, made)),
        )
        same(
            rows(
                "SELECT hlo_op, iteration, occurrences, self_us FROM scope_ops('{x}') ORDER "
                "BY 1, 2",
                data,
            ),
            [
                ('dot', None, 1, 1.0),
                ('dot', 0, 3, 3.0),
                ('dot', 1, 2, 2.0),
                ('dot', 2, 1, 1.0),
                ('inner', 0, 1, 18.0),
                ('inner', 1, 1, 17.0),
                ('outer', None, 1, 59.0),
            ],
        )


@case
def framework_ops_of_a_host():
    """Ops of TensorFlow by their names, next to events that are not ops; and HLO ops that run
    inside one."""
    events = [
        ('gradient_tape/net/dense/MatMul/MatMul:MatMul', 0, 10 * US),
        ('Session::Run', 0, 10 * US),
        ('net/dense/MatMul:MatMul', 20 * US, 5 * US),
        ('IteratorGetNext:IteratorGetNext', 30 * US, US),
        ('EagerLocalExecute: Mul', 40 * US, US),
        ('cluster/XlaRun:_XlaRun', 50 * US, 9 * US),
        *hlo_events(('dot', 52, 4)),
    ]
    data = space(Plane('/host:CPU').line(1, 't', events).bytes())
    same(
        rows(
            "SELECT hlo_op, tf_op, owner_by, scope, pass, self_us, program_id FROM "
            "scope_ops('{x}') ORDER BY self_us DESC",
            data,
        ),
        [
            (
                None,
                'gradient_tape/net/dense/MatMul/MatMul:MatMul',
                'own',
                'net/dense/MatMul',
                'backward',
                10.0,
                None,
            ),
            (None, 'net/dense/MatMul:MatMul', 'own', 'net/dense', 'forward', 5.0, None),
            (None, 'cluster/XlaRun:_XlaRun', 'own', 'cluster', 'forward', 5.0, None),
            ('dot', None, None, None, None, 4.0, '1'),
            (None, 'IteratorGetNext:IteratorGetNext', 'own', None, 'forward', 1.0, None),
        ],
    )


@case
def time_of_passes():
    """The optimizer is what has its name in a component of the scope, in the forward pass."""
    events = [
        ('net/dense/MatMul:MatMul', 0, 10 * US),
        ('gradient_tape/net/dense/MatMul/MatMul:MatMul', 10 * US, 12 * US),
        ('gradient_tape/net/Adam/MatMul:MatMul', 30 * US, 3 * US),
        ('Adam_W_12/truediv:RealDiv', 40 * US, 4 * US),
        ('train/sgd/AssignSub:AssignSub', 50 * US, 1 * US),
        ('net/ArithmeticOptimizer/AddOps:AddV2', 60 * US, 2 * US),
        ('net/adamant/AddOps:AddV2', 70 * US, 2 * US),
        *hlo_events(('dot', 80, 6)),
    ]
    data = space(Plane('/host:CPU').line(1, 't', events).bytes())
    same(
        rows(
            "SELECT rank, plane_kind, pass, self_us, percent, occurrences, top_scope, "
            "top_scope_us FROM time_by_pass('{x}')",
            data,
        ),
        [
            (1, 'host', 'backward', 15.0, 37.5, 2, 'net/dense/MatMul', 12.0),
            (2, 'host', 'forward', 14.0, 35.0, 3, 'net/dense', 10.0),
            (3, 'host', None, 6.0, 15.0, 1, None, 6.0),
            (4, 'host', 'optimizer', 5.0, 12.5, 2, 'Adam_W_12', 4.0),
        ],
    )


@case
def ops_of_gpus():
    """Kernels overlap without nesting. JAX on AMD has the op's name in the stat `name`, older
    TensorFlow in an annotation. What has no op has its own name. Host threads do not count
    beside a device."""
    stats = [
        {'hlo_op': {'str': 'a::dot'}, 'program_id': {'uint64': 1}},
        {'tf_op': {'str': 'net/dense/MatMul:MatMul'}},
        {'tf_op': {'str': 'XlaModule:'}, 'name': {'str': 'jit(f)/jvp(head)/conv'}},
        {'tf_op': {'str': 'XlaModule:'}},
        {},
        {'name': {'str': 'k'}, 'level 0': {'str': 'a/Cast:Cast'}, 'annotation': {'str': 'b#x=1#'}},
        {'level 0': {'str': '#x=1#'}, 'annotation': {'str': 'b/MatMul:MatMul#shape=(f32[3])#'}},
    ]
    gpu = Plane('/device:GPU:0').line(
        1, 'Stream #1', [('k%d' % i, 0, (10 - i) * US, s) for i, s in enumerate(stats)]
    )
    made = module(
        'm',
        computation(1, 'main', [instruction(1, 'dot', op_name='jit(f)/transpose(jvp(tail))/dot')]),
    )
    data = space(
        gpu.bytes(),
        Plane('/host:CPU', 2).line(1, 't', hlo_events(('dot', 0, 5))).bytes(),
        program_plane((1, made)),
    )
    same(
        rows(
            "SELECT plane_kind, hlo_module, hlo_op, tf_op, name, scope, pass, self_us FROM "
            "scope_ops('{x}')",
            data,
        ),
        [
            ('gpu', 'm', 'dot', 'jit(f)/transpose(jvp(tail))/dot', None, 'tail', 'backward', 10.0),
            ('gpu', None, None, 'net/dense/MatMul:MatMul', None, 'net/dense', 'forward', 9.0),
            ('gpu', None, None, 'jit(f)/jvp(head)/conv', None, 'head', 'forward', 8.0),
            ('gpu', None, None, None, 'k3', None, None, 7.0),
            ('gpu', None, None, None, 'k4', None, None, 6.0),
            ('gpu', None, None, 'a/Cast:Cast', None, 'a', 'forward', 5.0),
            ('gpu', None, None, 'b/MatMul:MatMul', None, 'b', 'forward', 4.0),
        ],
    )


@case
def ops_of_tpus():
    """Ops nest; the program of their metadata, else the framework op there. A SparseCore is a
    kind of its own."""
    made = module(
        'm',
        computation(
            1,
            'main',
            [
                instruction(1, 'while.1', 'while'),
                instruction(2, 'dot.1', op_name='jit(f)/block/dot'),
            ],
        ),
    )
    tpu = Plane('/device:TPU:0')
    keys = [
        tpu.meta(
            '%' + name + ' = f32[2] ' + name[:3] + '()',
            stats={'program_id': {'uint64': program}, 'tf_op': {'str': tf_op}},
            key=70 + i,
        )
        for i, (name, program, tf_op) in enumerate(
            (('while.1', 1, ''), ('dot.1', 1, 'other/dot:'), ('add.1', 2, 'jit(g)/tail/add:'))
        )
    ]
    tpu.line(
        3,
        'XLA Ops',
        [
            (keys[0], 0, 10 * US),
            (keys[1], US, 3 * US),
            (keys[1], 5 * US, 3 * US),
            (keys[2], 20 * US, 4 * US),
        ],
    )
    sparse = Plane('/device:TPU:0 SparseCore 0', 2).line(
        1, 'Sparse Core Ops', [('gather', 0, 6 * US)]
    )
    data = space(tpu.bytes(), sparse.bytes(), program_plane((1, made)))
    same(
        rows(
            "SELECT plane_kind, hlo_op, iteration, scope, owner_by, self_us FROM "
            "scope_ops('{x}') ORDER BY 1, 2, 3",
            data,
        ),
        [
            ('sparsecore', 'gather', None, None, None, 6.0),
            ('tensorcore', 'add.1', None, 'tail', 'own', 4.0),
            ('tensorcore', 'dot.1', 0, 'block', 'own', 3.0),
            ('tensorcore', 'dot.1', 1, 'block', 'own', 3.0),
            ('tensorcore', 'while.1', None, None, None, 4.0),
        ],
    )
    near(
        rows(
            "SELECT percent FROM time_by_scope('{x}') WHERE plane_kind = 'tensorcore' AND "
            "scope = 'block'",
            data,
        )[0][0],
        600 / 14,
    )


@case
def lines_of_my_program():
    frames = [
        ('site-packages/flax/x.py', 1, 'Linear.__call__', 2),
        ('train.py', 40, 'loss', 0),
        ('train.py', 50, 'step', 0),
    ]
    made = module(
        'm',
        computation(
            1,
            'main',
            [
                placed(1, 'a', 1, op_name='jit(f)/jvp(x)/a'),
                placed(2, 'b', 2, op_name='jit(f)/transpose(jvp(x))/b'),
                placed(3, 'c', 3, op_name='jit(f)/c'),
                placed(4, 'd'),
            ],
        ),
        more=stacks(*frames),
    )
    data = space(
        Plane('/host:CPU')
        .line(1, 't', hlo_events(('a', 0, 4), ('b', 10, 5), ('c', 20, 2), ('d', 30, 9)))
        .bytes(),
        program_plane((1, made)),
    )
    same(
        rows(
            "SELECT rank, user_file, user_line, user_function, forward_us, backward_us, "
            "unknown_us, self_us, percent, occurrences, scope, top_op "
            "FROM time_by_source_line('{x}')",
            data,
        ),
        [
            (1, None, None, None, 0.0, 0.0, 9.0, 9.0, 45.0, 1, None, 'd'),
            (2, 'train.py', 40, 'loss', 4.0, 5.0, 0.0, 9.0, 45.0, 2, 'x', 'b'),
            (3, 'train.py', 50, 'step', 2.0, 0.0, 0.0, 2.0, 10.0, 1, None, 'c'),
        ],
    )
    same(rows("SELECT count(*) FROM time_by_source_line('{x}', 2)", data), [(2,)])


@case
def two_hosts():
    """One op of two hosts is a row of each, and one scope. A host without a device has no rows
    beside one that has."""
    gpu = space(
        Plane('/device:GPU:0')
        .line(1, 'Stream #1', [('k', 0, 2 * US, {'tf_op': {'str': 'net/MatMul:MatMul'}})])
        .bytes()
    )
    cpu = space(Plane('/host:CPU').line(1, 't', [('net/MatMul:MatMul', 0, US)]).bytes())
    same(
        rows("SELECT host, plane_kind, self_us FROM scope_ops('{x}')", [gpu, gpu]),
        [('host0', 'gpu', 2.0), ('host1', 'gpu', 2.0)],
    )
    same(
        rows("SELECT scope, self_us, percent FROM time_by_scope('{x}')", [gpu, gpu]),
        [('net', 4.0, 100.0)],
    )
    same(rows("SELECT host, plane_kind FROM scope_ops('{x}')", [cpu, gpu]), [('host1', 'gpu')])
    same(
        rows("SELECT host, plane_kind FROM scope_ops('{x}')", [cpu, cpu]),
        [('host0', 'host'), ('host1', 'host')],
    )


# ---- memory ----


@case
def memory_of_my_lines():
    """A buffer whose instruction has no metadata belongs to its owner's line."""
    frames = [('site-packages/flax/x.py', 1, 'f', 2), ('train.py', 40, 'loss', 0)]
    made = module(
        'm',
        computation(
            1,
            'main',
            [
                placed(1, 'a', 1, op_name='jit(f)/block/a'),
                placed(2, 'copy', opcode='copy', operands=(1,)),
                placed(3, 'b', source='flax/y.py', line=3),
            ],
        ),
        more=stacks(*frames),
    )
    MIB = 1 << 20
    buffers = [hlo.buffer(1, MIB, 1), hlo.buffer(2, 2 * MIB, 2), hlo.buffer(3, 4 * MIB, 3)]
    plan = hlo.assignment(
        buffers,
        [hlo.allocation(0, 7 * MIB, [(1, 0, MIB), (2, MIB, 2 * MIB), (3, 3 * MIB, 4 * MIB)])],
        [hlo.trace((hlo.ALLOC, 1, 'a'), (hlo.ALLOC, 2, 'copy'), (hlo.ALLOC, 3, 'b'))],
    )
    plane = Plane('/host:metadata', 9)
    plane.meta('m(1)', stats={'Hlo Proto': {'bytes': proto(made, plan)}}, key=1)
    data = space(plane.bytes())
    same(
        rows(
            "SELECT user_file, user_line, buffers, size_mib, largest_op, tf_op FROM "
            "memory_by_source_line('{x}')",
            data,
        ),
        [(None, None, 1, 4.0, 'b', None), ('train.py', 40, 2, 3.0, 'copy', 'jit(f)/block/a')],
    )
    same(
        rows(
            "SELECT hlo_op, source_line, user_file, user_line, scope, owner_tf_op FROM "
            "largest_buffers('{x}')",
            data,
        ),
        [
            ('b', 'flax/y.py:3', None, None, None, None),
            ('copy', None, 'train.py', 40, 'block', 'jit(f)/block/a'),
            ('a', 'site-packages/flax/x.py:1', 'train.py', 40, 'block', 'jit(f)/block/a'),
        ],
    )
    same(
        rows("SELECT hlo_op, user_line, scope FROM live_at('{x}')", data),
        [('b', None, None), ('copy', 40, 'block'), ('a', 40, 'block')],
    )
