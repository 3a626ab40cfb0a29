# SPDX-License-Identifier: Apache-2.0
"""Trains a small network with JAX on the CPU, with a profiler server: jax_train.py PORT
[busy|idle].

busy: beside the training, many annotations with long names of their own, for a large profile.
idle: the server alone. Ends when its standard input does."""
import sys
import threading

import jax
import jax.numpy as jnp

port, how = int(sys.argv[1]), (sys.argv[2:] or ['train'])[0]
server = jax.profiler.start_server(port)
ended = threading.Event()
threading.Thread(target=lambda: (sys.stdin.read(), ended.set()), daemon=True).start()


def loss(weights, x, y):
    for w in weights[:-1]:
        x = jax.nn.relu(x @ w)
    return jnp.mean((x @ weights[-1] - y) ** 2)


@jax.jit
def train_step(weights, x, y):
    return [w - 0.01 * g for w, g in zip(weights, jax.grad(loss)(weights, x, y))]


def annotate(step):
    for i in range(1000):
        with jax.profiler.TraceAnnotation('%d.%d%s' % (step, i, ' and so on' * 300)):
            pass


keys = jax.random.split(jax.random.PRNGKey(0), 4)
weights = [jax.random.normal(k, (128, 128)) * 0.1 for k in keys]
x, y = jnp.ones((64, 128)), jnp.zeros((64, 128))
weights = train_step(weights, x, y)
jax.block_until_ready(weights)
print('ready', flush=True)
step = 0
while not ended.wait(0 if how == 'busy' else 0.02):
    if how == 'idle':
        continue
    if how == 'busy':
        annotate(step)
    with jax.profiler.StepTraceAnnotation('train', step_num=step):
        weights = train_step(weights, x, y)
        jax.block_until_ready(weights)
    step += 1
