#!/usr/bin/env python3
"""Records small training jobs whose ops are named in the ways of several libraries, on CPU.

    python tests/data/recipes/jax_scopes.py MODEL --out LOGDIR

MODEL is nnx (flax), haiku, equinox, keras (on JAX), keras_tf (on TensorFlow), or scan: layers in
lax.scan, of which each computes its activations again in the backward pass (jax.checkpoint), in a
step of two micro batches (another lax.scan). Needs jax 0.10.2, and flax 0.12, dm-haiku 0.0.17,
equinox 0.13 or keras 3.15 with tensorflow-cpu 2.21. Two steps are recorded, without Python frames.
Paths in the programs are shortened to what follows lib/python3.x/, or to the name of this file."""

import argparse
import os

FEATURES, BATCH, STEPS, LAYERS = 16, 8, 2, 3


def data():
    import numpy as np

    rng = np.random.default_rng(0)
    return [rng.normal(size=(BATCH, FEATURES)).astype(np.float32) for _ in range(STEPS + 1)]


def sgd(parameters, gradients):
    import jax

    with jax.named_scope("sgd"):
        return jax.tree.map(lambda p, g: p - 0.01 * g, parameters, gradients)


def nnx():
    import jax.numpy as jnp
    from flax import nnx

    class Net(nnx.Module):
        def __init__(self, rngs):
            self.first = nnx.Linear(FEATURES, 64, rngs=rngs)
            self.norm = nnx.LayerNorm(64, rngs=rngs)
            self.second = nnx.Linear(64, FEATURES, rngs=rngs)

        def __call__(self, x):
            x = nnx.relu(self.norm(self.first(x)))
            return self.second(x)

    model = Net(nnx.Rngs(0))

    @nnx.jit
    def train_step(model, batch):
        def loss_fn(model):
            return jnp.mean(jnp.square(model(batch) - batch))

        loss, gradients = nnx.value_and_grad(loss_fn)(model)
        nnx.update(model, sgd(nnx.state(model, nnx.Param), gradients))
        return loss

    return lambda batch: train_step(model, batch)


def haiku():
    import haiku as hk
    import jax
    import jax.numpy as jnp

    def forward(x):
        x = jax.nn.relu(hk.Linear(64, name="first")(x))
        return hk.nets.MLP([32, FEATURES], name="head")(x)

    net = hk.without_apply_rng(hk.transform(forward))
    state = [net.init(jax.random.PRNGKey(0), jnp.zeros((BATCH, FEATURES)))]

    @jax.jit
    def train_step(parameters, batch):
        gradients = jax.grad(lambda p: jnp.mean(jnp.square(net.apply(p, batch) - batch)))(
            parameters
        )
        return sgd(parameters, gradients)

    def step(batch):
        state[0] = train_step(state[0], batch)
        return state[0]

    return step


def equinox():
    import equinox as eqx
    import jax
    import jax.numpy as jnp

    class Block(eqx.Module):
        up: eqx.nn.Linear
        down: eqx.nn.Linear

        def __init__(self, key):
            a, b = jax.random.split(key)
            self.up, self.down = eqx.nn.Linear(FEATURES, 64, key=a), eqx.nn.Linear(
                64, FEATURES, key=b
            )

        def __call__(self, x):
            h = jax.nn.gelu(self.up(x))
            return x + self.down(h)

    class Net(eqx.Module):
        first: Block
        last: Block

        def __call__(self, x):
            x = self.first(x)
            return self.last(x)

    state = [Net(*[Block(key) for key in jax.random.split(jax.random.PRNGKey(0))])]

    @eqx.filter_jit
    def train_step(model, batch):
        def loss_fn(model):
            return jnp.mean(jnp.square(jax.vmap(model)(batch) - batch))

        gradients = eqx.filter_grad(loss_fn)(model)
        return eqx.apply_updates(model, jax.tree.map(lambda g: -0.01 * g, gradients))

    def step(batch):
        state[0] = train_step(state[0], batch)
        return jax.tree.leaves(state[0], is_leaf=eqx.is_array)

    return step


def keras():
    import keras

    keras.utils.set_random_seed(0)
    inputs = keras.Input((FEATURES,))
    x = keras.layers.Dense(64, activation="relu", name="first")(inputs)
    x = keras.layers.LayerNormalization(name="norm")(x)
    model = keras.Model(inputs, keras.layers.Dense(FEATURES, name="second")(x), name="net")
    model.compile(
        optimizer="sgd",
        loss="mse",
        jit_compile=False if keras.backend.backend() == "tensorflow" else "auto",
    )
    return lambda batch: model.train_on_batch(batch, batch)


def scan():
    import jax
    import jax.numpy as jnp
    import numpy as np

    rng = np.random.default_rng(0)
    state = [
        {
            "up": jnp.asarray(rng.normal(size=(LAYERS, FEATURES, 64)).astype(np.float32) / 8),
            "down": jnp.asarray(rng.normal(size=(LAYERS, 64, FEATURES)).astype(np.float32) / 8),
        }
    ]

    @jax.checkpoint
    def layer(x, weights):
        with jax.named_scope("layer"):
            with jax.named_scope("up"):
                h = jnp.tanh(x @ weights["up"])
            with jax.named_scope("down"):
                return x + h @ weights["down"], None

    def loss(weights, batch):
        y, _ = jax.lax.scan(layer, batch, weights)
        with jax.named_scope("loss"):
            return jnp.mean(jnp.square(y - batch))

    @jax.jit
    def train_step(weights, batch):
        def micro_batch(total, part):
            return jax.tree.map(jnp.add, total, jax.grad(loss)(weights, part)), None

        gradients, _ = jax.lax.scan(
            micro_batch,
            jax.tree.map(jnp.zeros_like, weights),
            batch.reshape(2, BATCH // 2, FEATURES),
        )
        return sgd(weights, gradients)

    def step(batch):
        state[0] = train_step(state[0], batch)
        return state[0]

    return step


def record_tensorflow(step, batches, out):
    import tensorflow as tf

    step(batches[0])
    with tf.profiler.experimental.Profile(
        out, options=tf.profiler.experimental.ProfilerOptions(python_tracer_level=0)
    ):
        for number, batch in enumerate(batches[1:]):
            with tf.profiler.experimental.Trace("train", step_num=number, _r=1):
                step(batch)


def record_jax(step, batches, out):
    import jax

    jax.block_until_ready(step(batches[0]))
    options = jax.profiler.ProfileOptions()
    options.python_tracer_level = 0
    with jax.profiler.trace(out, profiler_options=options):
        for number, batch in enumerate(batches[1:]):
            with jax.profiler.StepTraceAnnotation("train", step_num=number):
                jax.block_until_ready(step(batch))


def main():
    models = {
        "nnx": nnx,
        "haiku": haiku,
        "equinox": equinox,
        "keras": keras,
        "keras_tf": keras,
        "scan": scan,
    }
    parser = argparse.ArgumentParser()
    parser.add_argument("model", choices=models)
    parser.add_argument("--out", required=True)
    arguments = parser.parse_args()
    of_tensorflow = arguments.model == "keras_tf"
    os.environ["KERAS_BACKEND"] = "tensorflow" if of_tensorflow else "jax"
    if not of_tensorflow:
        import jax

        jax.config.update(
            "jax_hlo_source_file_canonicalization_regex", r"^.*/lib/python3\.\d+/|^.*/recipes/"
        )
    (record_tensorflow if of_tensorflow else record_jax)(
        models[arguments.model](), data(), arguments.out
    )


if __name__ == "__main__":
    main()
