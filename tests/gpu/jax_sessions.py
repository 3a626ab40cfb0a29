# SPDX-License-Identifier: Apache-2.0
"""Sessions of JAX on a GPU, each recorded by JAX's own profiler.

    jax_sessions.py FOLDER [NAME...]     FOLDER/NAME/plugins/profile/...; status 78: no JAX, no GPU

train     a convolutional net: scanned and recomputed layers, an optimizer, a slow input, a program
          that is compiled in the middle
serve     requests of changing size through a decoder: a loop on the device, copies both ways
traced    train with every Python call and all that the host's tracer records
counters  train with samples of the GPU's hardware counters"""
import os
import sys
import time

sys.dont_write_bytecode = True
from jax_on_gpu import jax, jnp  # noqa: E402
import numpy as np  # noqa: E402

BATCH, SIDE, WIDTH, LAYERS = 64, 32, 64, 6


def normal(seed, *shape):
    return jax.random.normal(jax.random.key(seed), shape, jnp.float32) * 0.05


def block(x, w):
    with jax.named_scope('block'):
        y = jax.lax.conv_general_dilated(x, w.astype(x.dtype), (1, 1), 'SAME',
                                         dimension_numbers=('NHWC', 'HWIO', 'NHWC'))
        return x + jax.nn.gelu(y)


def loss(weights, images, labels):
    with jax.named_scope('stem'):
        x = images.astype(jnp.bfloat16) @ weights['stem'].astype(jnp.bfloat16)
    x, _ = jax.lax.scan(lambda x, w: (jax.checkpoint(block)(x, w), None), x, weights['blocks'])
    with jax.named_scope('head'):
        logits = x.mean((1, 2)).astype(jnp.float32) @ weights['head']
        return -jnp.mean(jax.nn.log_softmax(logits)[jnp.arange(BATCH), labels])


@jax.jit
def train_step(weights, momentum, images, labels):
    value, grads = jax.value_and_grad(loss)(weights, images, labels)
    with jax.named_scope('optimizer'):
        momentum = jax.tree.map(lambda m, g: 0.9 * m + g, momentum, grads)
        weights = jax.tree.map(lambda w, m: w - 0.01 * m, weights, momentum)
    return weights, momentum, value


@jax.jit
def evaluate(weights, images, labels):
    return loss(weights, images, labels)


def load_batch(i):
    with jax.profiler.TraceAnnotation('load_batch'):
        rng = np.random.default_rng(i)
        images = rng.standard_normal((BATCH, SIDE, SIDE, 3), np.float32)
        time.sleep(0.002)
        return jax.device_put(images), jax.device_put(rng.integers(0, 10, BATCH))


class Training:
    def __init__(self):
        self.weights = {'stem': normal(1, 3, WIDTH), 'head': normal(3, WIDTH, 10),
                        'blocks': normal(2, LAYERS, 3, 3, WIDTH, WIDTH)}
        self.momentum = jax.tree.map(jnp.zeros_like, self.weights)
        self.steps(3)

    def steps(self, n):
        for i in range(n):
            with jax.profiler.StepTraceAnnotation('train', step_num=i):
                batch = load_batch(i)
                self.weights, self.momentum, value = train_step(self.weights, self.momentum, *batch)
                if i == 5:
                    evaluate(self.weights, *batch)
                float(value)


@jax.jit
def decode(prompt, weights):
    def body(state):
        i, x = state
        return i + 1, jnp.tanh(x @ weights) * jax.lax.rsqrt(1.0 + i)
    with jax.named_scope('decode'):
        _, x = jax.lax.while_loop(lambda state: state[0] < 12, body, (0, prompt))
        return jnp.argmax(x, -1), jnp.sort(x, -1)[:, -5:]


class Serving:
    def __init__(self):
        self.weights = normal(4, 1024, 1024).astype(jnp.bfloat16)
        self.steps(4)

    def steps(self, n):
        for i in range(n):
            with jax.profiler.TraceAnnotation('request', id=i):
                prompt = np.ones((8 << i % 4, 1024), jnp.bfloat16)
                best, five = decode(jax.device_put(prompt), self.weights)
                np.asarray(best), np.asarray(five)


def record(name, work, n, **options):
    chosen = jax.profiler.ProfileOptions()
    for option, value in options.items():
        setattr(chosen, option, value)
    jax.profiler.start_trace(os.path.join(sys.argv[1], name), profiler_options=chosen)
    work.steps(n)
    jax.profiler.stop_trace()
    print('recorded', name, flush=True)


SESSIONS = {'train': lambda: record('train', Training(), 8),
            'serve': lambda: record('serve', Serving(), 16),
            'traced': lambda: record('traced', Training(), 4, python_tracer_level=1,
                                     host_tracer_level=3),
            'counters': lambda: record('counters', Training(), 4, advanced_configuration={
                'gpu_pm_sample_counters': 'sm__cycles_active.sum,dram__bytes_read.sum',
                'gpu_pm_sample_interval_us': 500})}
for name in sys.argv[2:] or SESSIONS:
    SESSIONS[name]()
