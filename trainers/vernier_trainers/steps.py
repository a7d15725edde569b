"""Training in steps, each on a batch of rows: what trainers by gradients share. Arguments, batches, reports, checkpoints."""

import json

from vernier_trainers import reports

np = reports.need("numpy", "apt install python3-numpy")

from vernier_trainers import arguments as command_line
from vernier_trainers import data, job_directory
from vernier_trainers.reports import UserError, log

DEFAULT_EPOCHS = 10
MOST_REPORTS = 100
# What --optimizer_type's optimisers take beside the learning rate, and with which of them.
OF_OPTIMIZERS = {"l1_regularization_strength": "ftrl", "l2_regularization_strength": "ftrl",
                 "l2_shrinkage_regularization_strength": "ftrl", "beta_1": "adam", "beta_2": "adam"}


# --- arguments ---

def add_arguments(parser, metrics, steps=f"{DEFAULT_EPOCHS} times through the data"):
    whole = command_line.whole
    parser.add_argument("--model_type", choices=metrics, required=True)
    parser.add_argument("--max_steps", type=whole(1), help=f"batches; {steps}")
    parser.add_argument("--batch_size", type=whole(1), default=100)
    parser.add_argument("--eval_steps", type=whole(1), help="batches of the validation data; all of it")
    parser.add_argument("--eval_frequency_secs", type=whole(1), help="without effect: each epoch is evaluated")


def add_optimizer_arguments(parser, types, default, prefix=""):
    number = command_line.number
    parser.add_argument(f"--{prefix}optimizer_type", choices=types, default=default)
    for name, optimizer in OF_OPTIMIZERS.items():
        if optimizer == "ftrl":
            parser.add_argument(f"--{prefix}{name}", type=number(0), default=0.0, help="with ftrl")
    parser.add_argument(f"--{prefix}beta_1", type=number(0, 0.9999999), default=0.9, help="with adam")
    parser.add_argument(f"--{prefix}beta_2", type=number(0, 0.9999999), default=0.999, help="with adam")


def check_arguments(parser, arguments, prefixes=("",)):
    for prefix in prefixes:
        wanted = getattr(arguments, f"{prefix}optimizer_type")
        for name, optimizer in OF_OPTIMIZERS.items():
            if getattr(arguments, prefix + name) != parser.get_default(prefix + name) and wanted != optimizer:
                raise UserError(f"--{prefix}{name} is for --{prefix}optimizer_type={optimizer}, got {wanted}")
    if arguments.eval_frequency_secs is not None:
        log("WARNING", "--eval_frequency_secs has no effect: the model is evaluated after each epoch")


# --- how good it is ---

def log_softmax(scores):
    scores = scores - scores.max(axis=1, keepdims=True)
    return scores - np.log(np.exp(scores).sum(axis=1, keepdims=True))


def metrics_of(scores, y, unit):
    """Of scores by class, or of one column of predictions. `unit`: a target of 1 in the units of the file."""
    if scores.shape[1] > 1:
        chances = log_softmax(scores)
        return {"accuracy": float(np.mean(scores.argmax(axis=1) == y)),
                "loss": float(-np.mean(chances[np.arange(len(y)), y]))}
    loss = float(np.mean((scores[:, 0] - y) ** 2)) * unit ** 2
    return {"loss": loss, "rmse": loss ** 0.5}


class Scale:
    """Columns of mean 0 and deviation 1, by which one learning rate suits them all."""

    def __init__(self, x):
        self.mean, self.deviation = x.mean(axis=0), x.std(axis=0)
        self.deviation = np.where(self.deviation > 0, self.deviation, 1.0)

    def apply(self, x):
        return (x - self.mean) / self.deviation


# --- training ---

class StepTrainer:
    """Trains a model that a subclass has. It must define

    train_step(step, rows): one step on these rows of the training data
    metrics(part): of a part of the data
    state(), restore(state): all that a later step depends on, as bytes
    """

    def __init__(self, arguments, parts, *, least_steps=0, whole_batches=False):
        """`whole_batches`: the rows that an epoch has beyond its last whole batch are left out of it."""
        self.arguments, self.data = arguments, parts
        self.rows, size = len(parts.training.x), arguments.batch_size
        self.batches = max(1, self.rows // size) if whole_batches else -(-self.rows // size)  # Of an epoch.
        self.last_step = arguments.max_steps or max(DEFAULT_EPOCHS * self.batches, least_steps)
        epochs = -(-self.last_step // self.batches)
        self.report_every = self.batches * -(-epochs // MOST_REPORTS)
        self.order = (None, None)  # An epoch and its order of rows.
        self.validation = parts.validation
        if arguments.eval_steps:
            rows = slice(arguments.eval_steps * size)
            self.validation = data.Part(parts.validation.x[rows], parts.validation.y[rows])

    def batch(self, step):
        """Rows of the step, which depend on the seed and on the step alone: a resumed run sees the same."""
        epoch, index = divmod(step, self.batches)
        if self.order[0] != epoch:
            self.order = epoch, np.random.default_rng([self.arguments.seed, epoch]).permutation(self.rows)
        return self.order[1][index * self.arguments.batch_size:(index + 1) * self.arguments.batch_size]

    def train(self, folder, reporter):
        step = self.resume(folder)
        metrics = {}
        while step < self.last_step:
            self.train_step(step, self.batch(step))
            step += 1
            if step % self.report_every == 0 or step == self.last_step:
                metrics = self.metrics(self.validation)
                if not all(np.isfinite(list(metrics.values()))):
                    raise UserError(f"the loss is not finite after step {step}; {self.learning_rates()} is too large")
                reporter.report(step, metrics)
                folder.save(step, self.state)
        return metrics or self.metrics(self.validation)

    def learning_rates(self):
        return f"--learning_rate={self.arguments.learning_rate:g}"

    def resume(self, folder):
        """The step to go on from."""
        checkpoint = folder.load()
        if checkpoint is None:
            return 0
        step, state = checkpoint
        self.restore(state)
        log("INFO", f"goes on from step {step}")
        return step


def run(name, arguments, metrics, make_trainer, *, one_hot=True):
    """Trains what make_trainer(arguments, data) makes, and fills the job directory. `metrics`: names by type of model."""
    np.seterr(all="ignore")  # What is not finite is looked for.
    job_directory.check_folder(arguments.job_dir)
    reporter = reports.Reporter(metrics[arguments.model_type])
    parts = data.load(arguments, classification=arguments.model_type == "classification", one_hot=one_hot)
    said = {key: value for key, value in vars(arguments).items() if key != "job_dir"}
    folder = job_directory.JobDirectory(arguments.job_dir, parts.fingerprint(name, json.dumps(said)))
    if arguments.preprocess:
        folder.write_parts(parts)
    trainer = make_trainer(arguments, parts)
    log("INFO", f"trains on {trainer.rows} rows of {parts.training.x.shape[1]} columns, {trainer.last_step} steps")
    results = {"validation": trainer.train(folder, reporter)}
    if parts.test is not None:
        results["test"] = trainer.metrics(parts.test)
        log("INFO", f"test: {reports.text_of(results['test'])}")
    trainer.export(folder)
    folder.write_json("artifacts/preprocessing.json", parts.describe())
    folder.write_json("artifacts/evaluation.json", results)
    folder.finish()
