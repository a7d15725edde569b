"""A small classifier of TensorFlow, its data, and what programs of several replicas have in common.

Who a replica is comes from TF_CONFIG alone. The chief writes checkpoints to the job's folder; the evaluator, if the job
has one, scores each and writes the score beside it, without end; the chief reports the last with cloudml-hypertune.
"""

import argparse
import json
import os
import pathlib
import time

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

import hypertune  # noqa: E402  The variables come before TensorFlow.
import numpy as np  # noqa: E402
import tensorflow as tf  # noqa: E402

CONFIG = json.loads(os.environ["TF_CONFIG"])
TASK = CONFIG["task"]
HAS_EVALUATOR = int(CONFIG["job"].get("evaluator_count", 0)) > 0
PATIENCE = 300


def parse_arguments():
    parser = argparse.ArgumentParser()
    parser.add_argument("--lr", type=float, default=0.1)
    parser.add_argument("--width", type=int, default=8)
    parser.add_argument("--epochs", type=int, default=2)
    parser.add_argument("--job-dir", type=pathlib.Path, required=True)
    parser.add_argument("--hold-trial", help="the trial that goes on until the file `go` is in its folder")
    arguments = parser.parse_args()
    print(f"{TASK['type']} {TASK['index']} of trial {TASK.get('trial')}: lr={arguments.lr} width={arguments.width} "
          f"devices={os.environ['CUDA_VISIBLE_DEVICES']} cluster={sorted(CONFIG['cluster'])}", flush=True)
    return arguments


def make_data(count, seed):
    """Points of a plane, labelled by the side of a curve that they lie on."""
    random = np.random.default_rng(seed)
    points = random.uniform(-1, 1, size=(count, 2)).astype(np.float32)
    labels = (points[:, 1] > np.sin(3 * points[:, 0])).astype(np.int64)
    return points, labels


def held_out():
    return tf.data.Dataset.from_tensor_slices(make_data(256, seed=2)).batch(256)


def make_model(arguments):
    model = tf.keras.Sequential([
        tf.keras.layers.Dense(arguments.width, activation="relu", input_shape=(2,)),
        tf.keras.layers.Dense(2),
    ])
    model.compile(optimizer=tf.keras.optimizers.SGD(arguments.lr), metrics=["accuracy"],
                  loss=tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True))
    return model


def checkpoints(arguments):
    return arguments.job_dir / "checkpoints"


def score_file(arguments, step):
    return arguments.job_dir / f"score-{step}.json"


def evaluate_for_ever(arguments):
    """Scores the newest checkpoint whenever there is one. Somebody else ends it."""
    class WriteScore(tf.keras.callbacks.Callback):
        def on_test_end(self, logs=None):
            file = score_file(arguments, int(self.model.optimizer.iterations.numpy()))
            fresh = file.with_suffix(".new")
            fresh.write_text(json.dumps({"accuracy": logs["accuracy"]}))
            fresh.replace(file)
            print(f"scored {file.name}", flush=True)

    tf.keras.utils.SidecarEvaluator(make_model(arguments), held_out(), str(checkpoints(arguments)),
                                    callbacks=[WriteScore()]).start()


def wait_for(file):
    deadline = time.monotonic() + PATIENCE
    while not file.exists():
        if time.monotonic() > deadline:
            raise TimeoutError(f"{file} did not appear")
        time.sleep(0.05)


def is_held(arguments):
    return TASK.get("trial", "none") == arguments.hold_trial and not (arguments.job_dir / "go").exists()


def report(arguments, model, step):
    """Of the chief: what the evaluator found, or without one what the model does now."""
    if HAS_EVALUATOR:
        wait_for(score_file(arguments, step))
        accuracy = json.loads(score_file(arguments, step).read_text())["accuracy"]
    else:
        points, labels = make_data(256, seed=2)
        accuracy = float(np.mean(np.argmax(model(points).numpy(), axis=1) == labels))
    print(f"accuracy {accuracy} at step {step}", flush=True)
    hypertune.HyperTune().report_hyperparameter_tuning_metric("accuracy", accuracy, step)
