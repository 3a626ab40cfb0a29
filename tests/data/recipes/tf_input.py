#!/usr/bin/env python3
"""Record a job whose input pipeline is slow by construction, and with --prefetch the same job
without the wait.

  tf_input.py --out LOGDIR [--prefetch]        needs tensorflow-cpu 2.21

Each element of the pipeline takes 30 ms in which it only sleeps; each step computes for longer than
that. Without prefetch a step begins by waiting for its element; with it the element is made while
the step before computes."""
import argparse
import time

import tensorflow as tf


def main():
    p = argparse.ArgumentParser(description=__doc__,
                                formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--out", required=True)
    p.add_argument("--prefetch", action="store_true")
    args = p.parse_args()

    def load(i):
        time.sleep(0.03)
        return tf.cast(i, tf.float32)

    data = tf.data.Dataset.range(1000).map(
        lambda i: tf.ensure_shape(tf.py_function(load, [i], tf.float32), []))
    if args.prefetch:
        data = data.prefetch(4)
    options = tf.data.Options()
    options.autotune.enabled = False
    iterator = iter(data.with_options(options))
    weights = tf.Variable(tf.random.stateless_uniform([700, 700], seed=(1, 2)))

    @tf.function
    def step(x):
        y = weights + x
        for _ in range(4):
            y = tf.matmul(y, weights) / 350.0
        weights.assign_add(y * 1e-6)
        return tf.reduce_sum(y)

    step(next(iterator))
    time.sleep(0.2)
    tf.profiler.experimental.start(args.out)
    for number in range(6):
        with tf.profiler.experimental.Trace("train", step_num=number, _r=1):
            step(next(iterator)).numpy()
    tf.profiler.experimental.stop()


if __name__ == "__main__":
    main()
