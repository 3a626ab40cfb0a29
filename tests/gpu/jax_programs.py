# SPDX-License-Identifier: Apache-2.0
"""Many small JAX programs on a GPU, each recorded by JAX's own profiler: what compilers and
libraries make of them is the widest mixture of instructions and kernels that one recording has.

    jax_programs.py FOLDER [NAME...]     FOLDER/NAME/plugins/profile/...; status 78: no JAX, no GPU

library   decompositions, FFT, sorting, scatter, convolutions of every rank, callbacks, loops
types     products and sums of every element type, fused epilogues, normalizations, pooling
loops     scans in scans, conditionals, slices that move, associative scans, a Hessian
attention a transformer with cuDNN's attention, dropout, recomputed layers and Adam
odd       steps with odd numbers and names, a step that ends by an exception, programs of a thread

A program that this JAX or GPU cannot run is left out, with a line that says so."""
import os
import sys
import threading

sys.dont_write_bytecode = True
from jax_on_gpu import jax, jnp  # noqa: E402
import numpy as np  # noqa: E402

lax, linalg = jax.lax, jnp.linalg
ELEMENTS = ('int4', 'int8', 'uint8', 'int16', 'float8_e5m2', 'float8_e4m3fn', 'bfloat16',
            'float16', 'float32', 'complex64')
DEPTH, WIDTH, HEADS, TOKENS, BATCH = 4, 512, 8, 256, 8


def normal(seed, *shape):
    return jax.random.normal(jax.random.key(seed), shape, jnp.float32) * 0.05


class Programs:
    """Compiled programs by name, and what each is called with."""

    def __init__(self):
        self.compiled = {}

    def add(self, name, function, *arguments):
        program = jax.jit(function)
        try:
            jax.block_until_ready(program(*arguments))
        except Exception as why:  # of any library below JAX
            print('without %s: %s' % (name, str(why).split('\n')[0][:200]), flush=True)
            return
        self.compiled[name] = program, arguments

    def steps(self, n):
        for i in range(n):
            with jax.profiler.StepTraceAnnotation('all', step_num=i):
                for name, (program, arguments) in self.compiled.items():
                    with jax.profiler.TraceAnnotation(name, step=i):
                        jax.block_until_ready(program(*arguments))


def conv(images, filters, strides=(1, 1), **options):
    return lax.conv_general_dilated(images, filters, strides, 'SAME', **options)


def library():
    p, a = Programs(), normal(1, 256, 256)
    positive = a @ a.T + 256 * jnp.eye(256)
    p.add('cholesky', linalg.cholesky, positive)
    p.add('qr', lambda a: linalg.qr(a)[0], a)
    p.add('svd', lambda a: linalg.svd(a)[1], a)
    p.add('solve', linalg.solve, positive, a)
    p.add('eigh', lambda a: linalg.eigh(a)[0], positive)
    p.add('fft', lambda a: jnp.fft.ifft2(jnp.fft.fft2(a) * 2).real, a)
    p.add('sort', lambda a: jnp.sort(a, axis=-1), normal(2, 64, 4096))
    p.add('argsort', jnp.argsort, normal(2, 1 << 18))
    p.add('top_k', lambda a: lax.top_k(a, 8), normal(2, 64, 4096))
    p.add('cumsum', lambda a: jnp.cumsum(a, axis=0), normal(2, 1 << 16, 8))
    indices = jnp.arange(65536) * 7919
    p.add('scatter', lambda a, i: jax.ops.segment_sum(a, i % 128, 128), normal(3, 65536, 16),
          indices)
    p.add('gather', lambda a, i: a[i % 65536] * 2, normal(3, 65536, 16), indices)
    for rank, images, filters in ((1, (8, 64, 1024), (128, 64, 5)),
                                  (2, (8, 32, 64, 64), (64, 32, 3, 3)),
                                  (3, (2, 8, 16, 32, 32), (16, 8, 3, 3, 3))):
        p.add('convolution_%dd' % rank, lambda x, w, strides=(2,) * rank: conv(x, w, strides),
              normal(4, *images), normal(5, *filters))
    p.add('depthwise', lambda x, w: conv(x, w, feature_group_count=32), normal(4, 8, 32, 64, 64),
          normal(5, 32, 1, 3, 3))
    p.add('while', lambda a: lax.while_loop(lambda s: jnp.sum(s) < 1e9, lambda s: s * 2 + 1, a),
          jnp.ones(1000))
    p.add('switch', lambda a, i: lax.switch(i, [jnp.sin, jnp.cos, lambda a: a @ a], a), a, 2)
    p.add('callback', lambda a: jax.pure_callback(
        lambda a: np.asarray(a) * 2, jax.ShapeDtypeStruct(a.shape, a.dtype), a), a)
    p.add('random', lambda key: jax.random.normal(key, (512, 512)), jax.random.key(3))
    p.add('reduce', lambda a: (a.sum(), a.max(0), a.var(1)), normal(2, 2048, 2048))
    p.add('transpose', lambda a: jnp.transpose(a, (2, 0, 1)) + 1, normal(2, 64, 128, 256))
    p.add('convolve', lambda a: jnp.convolve(a, jnp.ones(9), mode='same'), jnp.ones(4096))
    return p


def types():
    p = Programs()
    for name in ELEMENTS:
        a = jnp.ones((128, 128), getattr(jnp, name))
        wide = {'i': jnp.int32, 'u': jnp.int32, 'c': jnp.complex64}.get(name[0], jnp.float32)
        p.add('product_' + name, lambda a, wide=wide: lax.dot(a, a, preferred_element_type=wide), a)
        p.add('sum_' + name, lambda a: (a.astype(jnp.float32) * 2 + 1).astype(a.dtype), a)
    half, bias = jnp.ones((256, 256), jnp.bfloat16), jnp.ones(256, jnp.bfloat16)
    p.add('epilogue', lambda a, b: jax.nn.gelu(a @ a + b), half, bias)
    p.add('softmax', jax.nn.softmax, half)
    p.add('norm', lambda a: (a - a.mean(-1, keepdims=True)) * lax.rsqrt(
        a.var(-1, keepdims=True) + 1e-5), half)
    images = jnp.arange(2 * 4 * 16 * 16.0).reshape(2, 4, 16, 16)
    p.add('pooling', jax.grad(lambda a: lax.reduce_window(
        a, -jnp.inf, lax.max, (1, 1, 3, 3), (1, 1, 2, 2), 'SAME').sum()), images)
    p.add('resize', lambda a: jax.image.resize(a, (2, 4, 24, 24), 'bicubic'), images)
    return p


def loops():
    def inner(c, i):
        return jnp.where(i % 2 == 0, jnp.sin(c), c * 1.01), c.sum()

    def outer(c, key):
        c, _ = lax.scan(inner, c, jnp.arange(7))
        c = lax.cond(c.mean() > 0, lambda a: a - 1, lambda a: a @ jnp.eye(a.shape[-1]), c)
        return c + jax.random.uniform(key, c.shape), c.max()

    def move(i, a):
        return lax.dynamic_update_slice(a, lax.dynamic_slice(a, (i, 0), (1, 16)) * 2, (i + 1, 0))

    def whole(x, keys):
        x, largest = lax.scan(outer, x, keys)
        return lax.fori_loop(0, 5, move, x).sum() + lax.associative_scan(jnp.add, largest)[-1]
    p = Programs()
    p.add('nested', jax.vmap(jax.value_and_grad(whole), in_axes=(0, None)), jnp.ones((4, 16, 16)),
          jax.random.split(jax.random.key(0), 6))
    p.add('hessian', jax.hessian(lambda v: jnp.sum(jnp.tanh(v) ** 2)), jnp.ones(64))
    p.add('unique', lambda a: jnp.unique(a, size=16), jnp.arange(1000) % 13)
    return p


def layer(x, w):
    with jax.named_scope('attention'):
        q, k, v = (jnp.einsum('btd,dhe->bthe', x, w[n].astype(x.dtype)) for n in 'qkv')
        y = jax.nn.dot_product_attention(q, k, v, is_causal=True, implementation='cudnn')
        x = x + jnp.einsum('bthe,hed->btd', y, w['o'].astype(x.dtype))
    with jax.named_scope('mlp'):
        return x + jax.nn.gelu(x @ w['up'].astype(x.dtype)) @ w['down'].astype(x.dtype)


def loss(w, tokens, key):
    x = w['embed'][tokens].astype(jnp.bfloat16)
    x = x * jax.random.bernoulli(key, 0.9, x.shape)
    x, _ = lax.scan(lambda x, w: (jax.checkpoint(layer)(x, w), None), x, w['layers'])
    logits = (x @ w['embed'].T.astype(x.dtype)).astype(jnp.float32)
    found = jnp.take_along_axis(jax.nn.log_softmax(logits[:, :-1]), tokens[:, 1:, None], -1)
    return -jnp.mean(found)


@jax.jit
def adam(w, m, v, tokens, key):
    value, g = jax.value_and_grad(loss)(w, tokens, key)
    with jax.named_scope('adam'):
        m = jax.tree.map(lambda m, g: 0.9 * m + 0.1 * g, m, g)
        v = jax.tree.map(lambda v, g: 0.99 * v + 0.01 * g * g, v, g)
        w = jax.tree.map(lambda w, m, v: w - 1e-3 * m / (jnp.sqrt(v) + 1e-8), w, m, v)
    return w, m, v, value


class Attention:
    def __init__(self):
        size = WIDTH // HEADS
        shapes = {n: (DEPTH, WIDTH, HEADS, size) for n in 'qkv'}
        shapes.update(o=(DEPTH, HEADS, size, WIDTH), up=(DEPTH, WIDTH, 4 * WIDTH),
                      down=(DEPTH, 4 * WIDTH, WIDTH))
        self.w = {'embed': normal(1, 1024, WIDTH),
                  'layers': {n: normal(i, *s) for i, (n, s) in enumerate(shapes.items())}}
        self.m = self.v = jax.tree.map(jnp.zeros_like, self.w)
        self.steps(2)

    def steps(self, n):
        for i in range(n):
            with jax.profiler.StepTraceAnnotation('train', step_num=100 + i):
                tokens = np.random.default_rng(i).integers(0, 1024, (BATCH, TOKENS), np.int32)
                self.w, self.m, self.v, value = adam(self.w, self.m, self.v, tokens,
                                                     jax.random.key(i))
                float(value)


class Odd:
    def __init__(self):
        self.program, self.a = jax.jit(lambda a: a * 2 + 1), jnp.ones(1000)
        self.run()

    def run(self):
        self.program(self.a).block_until_ready()

    def steps(self, n):
        for number in (5, 3, 3, -1, 2**40):
            with jax.profiler.StepTraceAnnotation('odd', step_num=number):
                with jax.profiler.StepTraceAnnotation('inner', step_num=1):
                    self.run()
        try:
            with jax.profiler.StepTraceAnnotation('odd', step_num=99):
                raise ValueError
        except ValueError:
            pass
        thread = threading.Thread(target=lambda: [self.run() for _ in range(n)])
        thread.start()
        thread.join()
        for name in ('a/b:c#k=v,w=1#', 'é ☃ %s $x.py:3 y', ''):
            with jax.profiler.TraceAnnotation(name, more='ü'):
                self.run()


SESSIONS = {'library': library, 'types': types, 'loops': loops, 'attention': Attention, 'odd': Odd}
for session in sys.argv[2:] or SESSIONS:
    work = SESSIONS[session]()
    jax.profiler.start_trace(os.path.join(sys.argv[1], session))
    work.steps(3)
    jax.profiler.stop_trace()
    print('recorded', session, flush=True)
