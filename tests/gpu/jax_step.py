# SPDX-License-Identifier: Apache-2.0
"""Steps of training with JAX. Prints JSON: microseconds a step; with a folder, JAX's own profile of
them goes there.

    jax_step.py STEPS [FOLDER]        status 78: there is no JAX, or it sees no GPU"""
import json
import sys
import time

sys.dont_write_bytecode = True
from jax_on_gpu import jax, jnp  # noqa: E402

steps = int(sys.argv[1])
weights = [jax.random.normal(jax.random.key(i), (2048, 2048), jnp.bfloat16) * 0.02
           for i in range(8)]
batch = jax.random.normal(jax.random.key(9), (512, 2048), jnp.bfloat16)


def loss(w, x):
    for layer in w:
        x = jax.nn.gelu(x @ layer)
    return jnp.mean(jnp.square(x.astype(jnp.float32)))


@jax.jit
def step(w, x):
    return [p - 0.01 * g for p, g in zip(w, jax.grad(loss)(w, x))]


def run(n):
    global weights
    jax.block_until_ready(weights)
    began = time.perf_counter()
    for _ in range(n):
        weights = step(weights, batch)
    jax.block_until_ready(weights)
    return (time.perf_counter() - began) / n * 1e6


run(5)
if len(sys.argv) > 2:
    with jax.profiler.trace(sys.argv[2]):
        took = run(steps)
else:
    took = run(steps)
print(json.dumps({'us_per_step': took, 'steps': steps, 'jax': jax.__version__}))
