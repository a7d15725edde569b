#!/usr/bin/env python3
"""Trains a small classifier on every replica of a MultiWorkerMirroredStrategy cluster.

The cluster comes from TF_CONFIG alone. The chief reports its accuracy with the package cloudml-hypertune.
"""
import argparse
import os

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

import numpy as np  # noqa: E402  The variables come before TensorFlow.
import tensorflow as tf  # noqa: E402


def make_data(count, seed):
    """Points of a plane, labelled by the side of a curve that they lie on."""
    random = np.random.default_rng(seed)
    points = random.uniform(-1, 1, size=(count, 2)).astype(np.float32)
    labels = (points[:, 1] > np.sin(3 * points[:, 0])).astype(np.int64)
    return points, labels


def make_dataset(points, labels, batch):
    options = tf.data.Options()
    options.experimental_distribute.auto_shard_policy = tf.data.experimental.AutoShardPolicy.DATA
    return tf.data.Dataset.from_tensor_slices((points, labels)).batch(batch).with_options(options)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--lr", type=float, required=True)
    parser.add_argument("--width", type=int, required=True)
    parser.add_argument("--epochs", type=int, default=3)
    arguments = parser.parse_args()

    strategy = tf.distribute.MultiWorkerMirroredStrategy()  # Before anything else: it starts the server.
    tf.keras.utils.set_random_seed(7)
    with strategy.scope():
        model = tf.keras.Sequential([
            tf.keras.layers.Dense(arguments.width, activation="relu", input_shape=(2,)),
            tf.keras.layers.Dense(2),
        ])
        model.compile(
            optimizer=tf.keras.optimizers.SGD(arguments.lr),
            loss=tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True),
            metrics=["accuracy"])
    points, labels = make_data(512, seed=1)
    history = model.fit(make_dataset(points, labels, 64), epochs=arguments.epochs, verbose=0)

    resolver = strategy.cluster_resolver
    task = f"{resolver.task_type} {resolver.task_id}"
    print(f"{task} of {strategy.num_replicas_in_sync} in sync", flush=True)
    if resolver.task_type == "chief":
        import hypertune
        reporter = hypertune.HyperTune()
        for epoch, accuracy in enumerate(history.history["accuracy"], start=1):
            reporter.report_hyperparameter_tuning_metric("accuracy", accuracy, epoch)


if __name__ == "__main__":
    main()
