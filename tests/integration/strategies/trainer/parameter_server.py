"""Trains with ParameterServerStrategy: the chief hands out steps, each worker takes them at its own pace, the parameter
servers keep the weights. Workers and parameter servers serve without end; somebody else ends them."""

from trainer import curve  # Before TensorFlow: it sets variables.

import tensorflow as tf

STEPS = 10  # Of an epoch, by whichever workers are free.


def serve(resolver):
    tf.distribute.Server(resolver.cluster_spec(), job_name=resolver.task_type, task_index=resolver.task_id,
                         protocol="grpc", start=True).join()


def make_dataset(context):
    data = tf.data.Dataset.from_tensor_slices(curve.make_data(384, seed=1))
    return data.shuffle(384).repeat().batch(context.get_per_replica_batch_size(64))


def make_step(strategy, model):
    def learn(points, labels):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(model.compiled_loss(labels, model(points, training=True)))
        gradients = tape.gradient(loss, model.trainable_variables)
        model.optimizer.apply_gradients(zip(gradients, model.trainable_variables))

    @tf.function
    def step(iterator):
        tf.print("takes a step")  # By the worker that does, to its own output.
        points, labels = next(iterator)
        strategy.run(learn, args=(points, labels))
    return step


def train(arguments, resolver):
    strategy = tf.distribute.ParameterServerStrategy(resolver)
    coordinator = tf.distribute.coordinator.ClusterCoordinator(strategy)
    tf.keras.utils.set_random_seed(7)
    with strategy.scope():
        model = curve.make_model(arguments)
        model.optimizer.build(model.trainable_variables)
    manager = tf.train.CheckpointManager(tf.train.Checkpoint(model=model, optimizer=model.optimizer),
                                         str(curve.checkpoints(arguments)), max_to_keep=None)
    servers = {variable.device for variable in model.trainable_variables}
    print(f"weights on {len(servers)} parameter servers", flush=True)
    batches = iter(coordinator.create_per_worker_dataset(
        lambda: strategy.distribute_datasets_from_function(make_dataset)))
    step = make_step(strategy, model)
    epoch = 0
    while epoch < arguments.epochs or curve.is_held(arguments):
        for _ in range(STEPS):
            coordinator.schedule(step, args=(batches,))
        coordinator.join()
        epoch += 1
        print(f"epoch {epoch} ended", flush=True)
    manager.save()
    curve.report(arguments, model, int(model.optimizer.iterations.numpy()))


def main():
    arguments = curve.parse_arguments()
    if curve.TASK["type"] == "evaluator":
        curve.evaluate_for_ever(arguments)
        return
    resolver = tf.distribute.cluster_resolver.TFConfigClusterResolver()
    if resolver.task_type in ("worker", "ps"):
        serve(resolver)
    else:
        train(arguments, resolver)


if __name__ == "__main__":
    main()
