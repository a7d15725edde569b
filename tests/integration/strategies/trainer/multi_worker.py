"""Trains with MultiWorkerMirroredStrategy: the chief and the workers take every step together."""

import time

from trainer import curve  # Before TensorFlow: it sets variables.

import tensorflow as tf


def make_dataset():
    options = tf.data.Options()
    options.experimental_distribute.auto_shard_policy = tf.data.experimental.AutoShardPolicy.DATA
    return tf.data.Dataset.from_tensor_slices(curve.make_data(384, seed=1)).batch(96).with_options(options)


def contributions(strategy):
    """A sum to which every replica gives a digit of its own: 111 of three."""
    @tf.function
    def contribute():
        digit = 0 if curve.TASK["type"] == "chief" else curve.TASK["index"] + 1
        return tf.distribute.get_replica_context().all_reduce(tf.distribute.ReduceOp.SUM, tf.constant(10**digit))
    return int(strategy.run(contribute))


class TakeTime(tf.keras.callbacks.Callback):
    """Of the chief, from the second epoch on, while the job is held: the others wait for it in their next step."""
    def __init__(self, arguments):
        super().__init__()
        self.arguments = arguments
        self.epoch = 0

    def on_epoch_begin(self, epoch, logs=None):
        self.epoch = epoch
        print(f"begins epoch {epoch + 1}", flush=True)

    def on_train_batch_end(self, batch, logs=None):
        if self.epoch > 0 and curve.is_held(self.arguments):
            time.sleep(1)


def train(arguments):
    strategy = tf.distribute.MultiWorkerMirroredStrategy()  # Before anything else: it starts the server.
    tf.keras.utils.set_random_seed(7)
    print(f"{strategy.num_replicas_in_sync} in sync, together {contributions(strategy)}", flush=True)
    with strategy.scope():
        model = curve.make_model(arguments)
    callbacks = [
        tf.keras.callbacks.BackupAndRestore(str(arguments.job_dir / "backup")),
        tf.keras.callbacks.ModelCheckpoint(str(curve.checkpoints(arguments) / "ckpt-{epoch}"), save_weights_only=True),
    ]
    if curve.TASK["type"] == "chief":
        callbacks.append(TakeTime(arguments))
    model.fit(make_dataset(), epochs=arguments.epochs, callbacks=callbacks, verbose=0)
    if curve.TASK["type"] == "chief":
        curve.report(arguments, model, int(model.optimizer.iterations.numpy()))


def main():
    arguments = curve.parse_arguments()
    if curve.TASK["type"] == "evaluator":
        curve.evaluate_for_ever(arguments)
    else:
        train(arguments)


if __name__ == "__main__":
    main()
