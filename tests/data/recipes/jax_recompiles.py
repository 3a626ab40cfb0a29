#!/usr/bin/env python3
"""Records a JAX program that compiles during its steps, and one that accumulates gradients; on CPU.

    python tests/data/recipes/jax_recompiles.py --out LOGDIR                 needs jax 0.10.2
    python tests/data/recipes/jax_recompiles.py --accumulate --out LOGDIR

The first has a batch of another size every third step, for which train_step is compiled, and a
function with a static argument. The second compiles nothing: a step is four micro batches from a
slow loader and one update. Only the second records Python frames."""
import argparse
import functools
import time

import jax
import jax.numpy as jnp
import numpy as np

FEATURES, BATCH, MICRO_BATCHES, STEPS = 32, 16, 4, 4
DELAY_S = 0.003


@functools.partial(jax.profiler.annotate_function, name="load_batch")
def load_batch(rng, size):
    time.sleep(DELAY_S)
    return rng.normal(size=(size, FEATURES)).astype(np.float32)


def loss(weights, batch):
    return jnp.mean(jnp.square(jnp.tanh(batch @ weights) - batch))


@jax.jit
def train_step(weights, batch):
    return weights - 0.1 * jax.grad(loss)(weights, batch)


@functools.partial(jax.jit, static_argnums=1)
def window(weights, n):
    return weights[:n] * 2


@jax.jit
def accumulate(gradients, weights, batch):
    return gradients + jax.grad(loss)(weights, batch)


@jax.jit
def update(weights, gradients):
    return weights - 0.1 * gradients / MICRO_BATCHES


def recompiling(rng, weights, step):
    weights = train_step(weights, load_batch(rng, BATCH - step if step % 3 == 2 else BATCH))
    return weights, window(weights, 8 + step % 2)


def accumulating(rng, weights, _):
    gradients = jnp.zeros_like(weights)
    for _ in range(MICRO_BATCHES):
        gradients = accumulate(gradients, weights, load_batch(rng, BATCH))
    return update(weights, gradients), gradients


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--out", required=True)
    parser.add_argument("--accumulate", action="store_true")
    arguments = parser.parse_args()
    run_step = accumulating if arguments.accumulate else recompiling
    rng = np.random.default_rng(0)
    weights = jnp.asarray(rng.normal(size=(FEATURES, FEATURES)).astype(np.float32))
    jax.block_until_ready(run_step(rng, weights, 0))
    options = jax.profiler.ProfileOptions()
    options.python_tracer_level = int(arguments.accumulate)
    with jax.profiler.trace(arguments.out, profiler_options=options):
        for step in range(STEPS):
            with jax.profiler.StepTraceAnnotation("train", step_num=step):
                weights, other = run_step(rng, weights, step)
                jax.block_until_ready((weights, other))


if __name__ == "__main__":
    main()
