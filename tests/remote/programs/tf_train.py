# SPDX-License-Identifier: Apache-2.0
"""Trains a small network with TensorFlow on the CPU, with a profiler server: tf_train.py PORT.

Ends when its standard input does."""
import sys
import threading

import tensorflow as tf

tf.profiler.experimental.server.start(int(sys.argv[1]))
ended = threading.Event()
threading.Thread(target=lambda: (sys.stdin.read(), ended.set()), daemon=True).start()

weights = [tf.Variable(tf.random.normal((128, 128)) * 0.1) for _ in range(3)]
data = tf.data.Dataset.from_tensors((tf.ones((128,)), tf.zeros((128,)))).repeat()
batches = iter(data.map(lambda x, y: (x * 2.0, y)).batch(64).prefetch(2))


@tf.function
def train_step(x, y):
    with tf.GradientTape() as tape:
        for w in weights:
            x = tf.nn.relu(x @ w)
        loss = tf.reduce_mean((x - y) ** 2)
    for w, g in zip(weights, tape.gradient(loss, weights)):
        w.assign_sub(0.01 * g)
    return loss


train_step(*next(batches))
print('ready', flush=True)
step = 0
while not ended.wait(0.02):
    with tf.profiler.experimental.Trace('train', step_num=step, _r=1):
        train_step(*next(batches))
    step += 1
