# SPDX-License-Identifier: Apache-2.0
"""JAX programs on a GPU of which JAX, arithmetic or the clock says what the profile must show.

    jax_facts.py FOLDER NAME...     FOLDER/NAME/plugins/profile/... and FOLDER/NAME/facts.json

net       a net of matrix products of known shapes, trained with donated weights; its memory, costs
          and step times as JAX and the clock tell them
kernels   the same without CUDA graphs, kernel by kernel; alone in its process
compiles  a function that is compiled for two shapes within steps, with JAX's own durations
memory    arrays of known sizes that come and go, with the allocator's own counts
copies    copies of known sizes to and from the device
idle      steps between which the host sleeps for a known time
callback  a program that calls Python, which sleeps for a known time
threads   three threads that each run a program a known number of times
offload   a program that takes a matrix from the host's memory and leaves one there
pallas    a kernel written with Pallas

tests/cases/jax_facts.py compares them with the tables: JAX_FACTS=FOLDER tests/run jax_facts.
Status 78: there is no JAX, or it sees no GPU."""
import json
import os
import sys
import threading
import time

sys.dont_write_bytecode = True
if 'kernels' in sys.argv[2:]:
    os.environ['XLA_FLAGS'] = '--xla_gpu_enable_command_buffer='
from jax_on_gpu import jax, jnp  # noqa: E402
import numpy as np  # noqa: E402

lax = jax.lax
DEVICE = jax.devices()[0]
ROWS, WIDTH, LAYERS, STEPS = 1024, 2048, 4, 6
MIB = 1 << 20
durations = []
jax.monitoring.register_event_duration_secs_listener(
    lambda event, seconds, **more: durations.append(
        {'event': event, 'us': seconds * 1e6, 'function': str(more.get('fun_name'))}))


def normal(seed, *shape, dtype=jnp.float32):
    return jax.device_put(jax.random.normal(jax.random.key(seed), shape, dtype) * 0.02)


def sleep(seconds):
    began = time.perf_counter()
    time.sleep(seconds)
    return (time.perf_counter() - began) * 1e6


def memory_in_use():
    return {key: (DEVICE.memory_stats() or {}).get(key)
            for key in ('bytes_in_use', 'peak_bytes_in_use', 'num_allocs')}


class Steps:
    """Steps by number, each with its start and its length by the clock; all work is done then."""

    def __init__(self):
        self.us, self.unix_ns = [], []

    def run(self, i, work):
        self.unix_ns.append(time.time_ns())
        began = time.perf_counter()
        with jax.profiler.StepTraceAnnotation('train', step_num=i):
            result = jax.block_until_ready(work())
        self.us.append((time.perf_counter() - began) * 1e6)
        return result

    def facts(self):
        return {'steps_us': self.us, 'steps_unix_ns': self.unix_ns}


def net(record):
    def loss(weights, x):
        for i, w in enumerate(weights):
            with jax.named_scope('layer%d' % i):
                x = jax.nn.gelu(x @ w)
        with jax.named_scope('loss'):
            return jnp.mean(jnp.square(x.astype(jnp.float32)))

    def train(weights, momentum, x):
        grads = jax.grad(loss)(weights, x)
        with jax.named_scope('optimizer'):
            momentum = [0.9 * m + g.astype(m.dtype) for m, g in zip(momentum, grads)]
            weights = [w - (0.01 * m).astype(w.dtype) for w, m in zip(weights, momentum)]
        return weights, momentum

    weights = [normal(i, WIDTH, WIDTH, dtype=jnp.bfloat16) for i in range(LAYERS)]
    momentum = [jnp.zeros((WIDTH, WIDTH), jnp.float32) for _ in weights]
    x = normal(9, ROWS, WIDTH, dtype=jnp.bfloat16)
    compiled = jax.jit(train, donate_argnums=(0, 1)).lower(weights, momentum, x).compile()
    for _ in range(3):
        weights, momentum = compiled(weights, momentum, x)
    jax.block_until_ready(weights)
    memory, steps = compiled.memory_analysis(), Steps()
    with record():
        before = memory_in_use()
        for i in range(STEPS):
            weights, momentum = steps.run(i, lambda: compiled(weights, momentum, x))
    products = 3 * LAYERS - 1  # forward, by weights, and by inputs except those of the first layer
    return {**steps.facts(), 'before': before, 'after': memory_in_use(),
            'matmul_flops': products * 2 * ROWS * WIDTH * WIDTH, 'donated': 2 * LAYERS,
            'cost_flops': compiled.cost_analysis()['flops'],
            'memory': {name: getattr(memory, name + '_size_in_bytes')
                       for name in ('argument', 'output', 'temp', 'alias', 'generated_code')}}


def compiles(record):
    def grow(x):
        return lax.tanh(lax.dot(x, x))
    steps, program = Steps(), jax.jit(grow)
    xs = [jnp.ones((128 + 16 * (i // 2),) * 2) for i in range(4)]
    program(jnp.ones((64, 64)))
    with record():
        durations.clear()
        for i, x in enumerate(xs):
            steps.run(i, lambda: program(x))
    return {**steps.facts(), 'compiled': list(durations),
            'shapes': sorted({x.shape for x in xs})}


def memory(record):
    steps, kept, told, sizes = Steps(), [], [], (16, 64, 32, 128, 8)

    def allocate(mib):
        return jnp.zeros(mib * MIB // 4, jnp.float32)
    for mib in sizes:  # compiled before the recording
        allocate(mib).delete()
    with record():
        for i, mib in enumerate(sizes):
            kept.append(steps.run(i, lambda: allocate(mib)))
            told.append(memory_in_use())
            if i % 2:
                kept.pop(0).delete()
                told.append(memory_in_use())
        live = sum(a.nbytes for a in kept)
    return {**steps.facts(), 'in_use': told, 'live_bytes': live}


def copies(record):
    to, back = [4 * MIB, 256, 12 * MIB, 1000], [2 * MIB, 512]
    arrays = [np.arange(n, dtype=np.uint8) for n in to]
    source = [jnp.ones(n, jnp.uint8) + 1 for n in back]
    jax.block_until_ready(source)
    with record():
        on_device = [jax.block_until_ready(jax.device_put(a)) for a in arrays]
        fetched = [np.asarray(a) for a in source]
    assert len(on_device) == len(to) and len(fetched) == len(back)
    return {'to_device': to, 'to_host': back}


def idle(record):
    program, x, slept = jax.jit(lambda x: jnp.tanh(x @ x)), normal(1, 4096, 4096), []
    jax.block_until_ready(program(x))
    steps = Steps()
    with record():
        for i in range(5):
            x = steps.run(i, lambda: program(x))
            with jax.profiler.TraceAnnotation('wait_for_data'):
                slept.append(sleep(0.004 * (i + 1)))
    return {**steps.facts(), 'slept_us': slept}


def callback(record):
    slept = []

    def ask(x):
        slept.append(sleep(0.003))
        return np.asarray(x)

    @jax.jit
    def program(x):
        y = jax.pure_callback(ask, jax.ShapeDtypeStruct(x.shape, x.dtype), x @ x)
        return jnp.tanh(y)
    x, steps = normal(1, 256, 256), Steps()
    jax.block_until_ready(program(x))
    with record():
        slept.clear()
        for i in range(4):
            steps.run(i, lambda: program(x))
    return {**steps.facts(), 'slept_us': slept}


def threads(record):
    programs = {'first': jax.jit(lambda x: jnp.sin(x) * 2), 'second': jax.jit(lambda x: x @ x),
                'third': jax.jit(lambda x: jnp.sort(x, axis=-1))}
    x, times = normal(1, 512, 512), {'first': 7, 'second': 11, 'third': 5}
    for program in programs.values():
        jax.block_until_ready(program(x))

    def work(name):
        with jax.profiler.TraceAnnotation('worker_' + name):
            for _ in range(times[name]):
                jax.block_until_ready(programs[name](x))
    with record():
        all_threads = [threading.Thread(target=work, args=(name,)) for name in programs]
        for thread in all_threads:
            thread.start()
        for thread in all_threads:
            thread.join()
    return {'executions': times}


def offload(record):
    from jax.sharding import SingleDeviceSharding
    host = SingleDeviceSharding(DEVICE, memory_kind='pinned_host')
    device = SingleDeviceSharding(DEVICE, memory_kind='device')
    big = jax.device_put(np.ones((2048, 2048), np.float32), host)

    @jax.jit
    def program(big, x):
        x = x @ jax.device_put(big, device)
        return jax.device_put(x * 2, host), x.sum()
    x = normal(2, 2048, 2048)
    jax.block_until_ready(program(big, x))
    with record():
        for i in range(3):
            with jax.profiler.StepTraceAnnotation('train', step_num=i):
                jax.block_until_ready(program(big, x))
    return {'to_device': [big.nbytes] * 3, 'to_host': [big.nbytes] * 3}


def pallas(record):
    from jax.experimental import pallas as pl

    def add(x_ref, y_ref, o_ref):
        o_ref[...] = x_ref[...] + y_ref[...]

    def program(x, y):
        with jax.named_scope('written'):
            z = pl.pallas_call(add, grid=(8,), name='add_rows',
                               in_specs=[pl.BlockSpec((128, 256), lambda i: (i, 0))] * 2,
                               out_specs=pl.BlockSpec((128, 256), lambda i: (i, 0)),
                               out_shape=jax.ShapeDtypeStruct(x.shape, x.dtype))(x, y)
        return z @ y.T
    x, y, run = normal(1, 1024, 256), normal(2, 1024, 256), jax.jit(program)
    jax.block_until_ready(run(x, y))
    with record():
        for i in range(4):
            with jax.profiler.StepTraceAnnotation('train', step_num=i):
                jax.block_until_ready(run(x, y))
    return {'launches': 4}


class Record:
    """Records what runs inside it; the device is idle at both ends."""

    def __init__(self, folder):
        self.folder = folder

    def __enter__(self):
        jax.profiler.start_trace(self.folder)

    def __exit__(self, *why):
        jax.effects_barrier()
        jax.profiler.stop_trace()


def kernels(record):
    return net(record)


PROGRAMS = (net, kernels, compiles, memory, copies, idle, callback, threads, offload, pallas)
for f in PROGRAMS:
    if f.__name__ not in sys.argv[2:]:
        continue
    folder = os.path.join(sys.argv[1], f.__name__)
    try:
        facts = f(lambda: Record(folder))
    except Exception as why:  # of any library below JAX
        print('without %s: %s' % (f.__name__, str(why)[:800]), flush=True)
        continue
    with open(os.path.join(folder, 'facts.json'), 'w') as file:
        json.dump(facts, file, indent=1)
    print('recorded', f.__name__, flush=True)
