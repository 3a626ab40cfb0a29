#!/usr/bin/env python3
"""Records what tf_fit_input_bound.py of the recording scripts does, with an input pipeline that
keeps up: the same images, decoding, slow step in Python and model, but decoded once (cache) and
read ahead (prefetch). Its steps must not be called input bound.

    python tests/data/recipes/tf_fit_prefetched.py --out LOGDIR       needs tensorflow-cpu 2.21
    (Keras 3)

writes LOGDIR/train/plugins/profile/TIME/HOST.xplane.pb."""
import argparse
import os
import time

os.environ.setdefault("KERAS_BACKEND", "tensorflow")
import keras  # noqa: E402
import numpy as np  # noqa: E402
import tensorflow as tf  # noqa: E402

SIDE, BATCH, IMAGES, DELAY_S = 64, 16, 64, 0.002
FIRST, LAST = 12, 17  # profiled batches: behind the first round, which fills the cache


def slow_augment(image):
    x = image.numpy().astype(np.float32)
    end = time.perf_counter() + DELAY_S
    while time.perf_counter() < end:
        x = np.clip(x * 1.01, 0, 255)
    return x / 255.0


def decode(png, label):
    image = tf.io.decode_png(png, channels=3)
    image = tf.image.random_flip_left_right(image, seed=0)
    image = tf.py_function(slow_augment, [image], tf.float32)
    image.set_shape((SIDE, SIDE, 3))
    return image, label


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--out", required=True)
    out = parser.parse_args().out
    rng = np.random.default_rng(0)
    keras.utils.set_random_seed(0)
    images = [tf.io.encode_png(rng.integers(0, 255, (SIDE, SIDE, 3), dtype=np.uint8)).numpy()
              for _ in range(IMAGES)]
    labels = rng.integers(0, 10, IMAGES)
    data = tf.data.Dataset.from_tensor_slices((images, labels))
    data = data.map(decode).batch(BATCH, drop_remainder=True).cache().repeat().prefetch(8)
    model = keras.Sequential([
        keras.layers.Input((SIDE, SIDE, 3)),
        keras.layers.Conv2D(8, 3, strides=2, activation="relu"),
        keras.layers.Conv2D(16, 3, strides=2, activation="relu"),
        keras.layers.GlobalAveragePooling2D(),
        keras.layers.Dense(10),
    ])
    model.compile("adam", keras.losses.SparseCategoricalCrossentropy(from_logits=True))
    board = keras.callbacks.TensorBoard(out, profile_batch=(FIRST, LAST), write_graph=False)
    model.fit(data, epochs=1, steps_per_epoch=LAST + 3, callbacks=[board], verbose=2)


if __name__ == "__main__":
    main()
