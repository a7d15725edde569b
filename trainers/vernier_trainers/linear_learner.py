"""Linear learner: softmax regression, or least squares, by stochastic gradients.

python3 -m vernier_trainers.linear_learner --model_type=classification --preprocess --training_data_path=data.csv
"""

import io
import json

from vernier_trainers import reports

np = reports.need("numpy", "apt install python3-numpy")

from vernier_trainers import arguments as command_line
from vernier_trainers import data, job_directory
from vernier_trainers.optimizers import OPTIMIZERS
from vernier_trainers.reports import UserError, log

DEFAULT_EPOCHS = 10
MOST_REPORTS = 100
METRICS = {"classification": ("accuracy", "loss"), "regression": ("loss", "rmse")}
ONLY_FOR = {"l1_regularization_strength": "ftrl", "l2_regularization_strength": "ftrl",
            "l2_shrinkage_regularization_strength": "ftrl", "beta_1": "adam", "beta_2": "adam"}


def read_arguments(words):
    parser = command_line.Parser(__doc__.splitlines()[0])
    number, whole = command_line.number, command_line.whole
    parser.add_argument("--model_type", choices=METRICS, required=True)
    parser.add_argument("--max_steps", type=whole(1), help=f"batches; {DEFAULT_EPOCHS} times through the data")
    parser.add_argument("--batch_size", type=whole(1), default=100)
    parser.add_argument("--learning_rate", type=number(above=0), default=0.1)
    parser.add_argument("--optimizer_type", choices=OPTIMIZERS, default="ftrl")
    for name in ("l1_regularization_strength", "l2_regularization_strength", "l2_shrinkage_regularization_strength"):
        parser.add_argument(f"--{name}", type=number(0), default=0.0, help="with ftrl")
    parser.add_argument("--beta_1", type=number(0, 0.9999999), default=0.9, help="with adam")
    parser.add_argument("--beta_2", type=number(0, 0.9999999), default=0.999, help="with adam")
    parser.add_argument("--eval_steps", type=whole(1), help="batches of the validation data; all of it")
    parser.add_argument("--eval_frequency_secs", type=whole(1), help="without effect: each epoch is evaluated")
    arguments = parser.read(words)
    for name, optimizer in ONLY_FOR.items():
        if getattr(arguments, name) != parser.get_default(name) and arguments.optimizer_type != optimizer:
            raise UserError(f"--{name} is for --optimizer_type={optimizer}, got {arguments.optimizer_type}")
    if arguments.eval_frequency_secs is not None:
        log("WARNING", "--eval_frequency_secs has no effect: the model is evaluated after each epoch")
    return arguments


# --- the model: scores = x @ weights + bias ---

def one_hot(y, outputs):
    return np.eye(outputs)[y]


def log_softmax(scores):
    scores = scores - scores.max(axis=1, keepdims=True)
    return scores - np.log(np.exp(scores).sum(axis=1, keepdims=True))


def gradients(model, x, y):
    """Of the mean loss, by weights and bias."""
    weights, bias = model
    scores = x @ weights + bias
    if weights.shape[1] > 1:
        by_scores = np.exp(log_softmax(scores)) - one_hot(y, weights.shape[1])
    else:
        by_scores = 2 * (scores - y[:, np.newaxis])
    by_scores /= len(x)
    return x.T @ by_scores, by_scores.sum(axis=0)


def evaluate(model, x, y, unit):
    """`unit`: what a target of 1 is in the units of the file."""
    scores = x @ model[0] + model[1]
    if model[0].shape[1] > 1:
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


class Trainer:
    def __init__(self, arguments, parts):
        self.arguments, self.data = arguments, parts
        self.x_scale = Scale(parts.training.x)
        self.y_scale = Scale(parts.training.y) if parts.classes is None else None
        self.x, self.y = self.scaled(parts.training)
        self.validation = self.scaled(parts.validation)
        if arguments.eval_steps is not None:
            self.validation = tuple(values[:arguments.eval_steps * arguments.batch_size] for values in self.validation)
        outputs = 1 if parts.classes is None else len(parts.classes)
        self.optimizer = OPTIMIZERS[arguments.optimizer_type](arguments)
        self.model = [np.zeros((self.x.shape[1], outputs)), np.zeros(outputs)]
        self.slots = [{name: np.full_like(values, first) for name, first in self.optimizer.SLOTS.items()}
                      for values in self.model]
        self.batches = -(-len(self.x) // arguments.batch_size)  # Of an epoch.
        self.last_step = arguments.max_steps or DEFAULT_EPOCHS * self.batches
        epochs = -(-self.last_step // self.batches)
        self.report_every = self.batches * -(-epochs // MOST_REPORTS)
        self.order = (None, None)  # An epoch and its order of rows.

    def scaled(self, part):
        return self.x_scale.apply(part.x), part.y if self.y_scale is None else self.y_scale.apply(part.y)

    def batch(self, step):
        """Rows of the step, which depend on the seed and on the step alone: a resumed run sees the same."""
        epoch, index = divmod(step, self.batches)
        if self.order[0] != epoch:
            self.order = epoch, np.random.default_rng([self.arguments.seed, epoch]).permutation(len(self.x))
        return self.order[1][index * self.arguments.batch_size:(index + 1) * self.arguments.batch_size]

    def train_step(self, step):
        rows = self.batch(step)
        for index, gradient in enumerate(gradients(self.model, self.x[rows], self.y[rows])):
            self.optimizer.step(self.model[index], gradient, self.slots[index], step + 1, penalised=index == 0)

    def metrics(self, x, y):
        return evaluate(self.model, x, y, 1.0 if self.y_scale is None else float(self.y_scale.deviation))

    def train(self, folder, reporter):
        step = self.resume(folder)
        metrics = {}
        while step < self.last_step:
            self.train_step(step)
            step += 1
            if step % self.report_every == 0 or step == self.last_step:
                metrics = self.metrics(*self.validation)
                if not all(np.isfinite(list(metrics.values()))):
                    raise UserError(f"the loss is not finite after step {step}; --learning_rate="
                                    f"{self.arguments.learning_rate:g} is too large")
                reporter.report(step, metrics)
                folder.save(step, self.state)
        return metrics or self.metrics(*self.validation)

    # --- what is kept ---

    def arrays(self):
        return [*self.model, *(values for slots in self.slots for values in slots.values())]

    def state(self):
        buffer = io.BytesIO()
        np.savez(buffer, *self.arrays())
        return buffer.getvalue()

    def resume(self, folder):
        """The step to go on from."""
        checkpoint = folder.load()
        if checkpoint is None:
            return 0
        step, content = checkpoint
        with np.load(io.BytesIO(content)) as saved:
            for index, values in enumerate(self.arrays()):
                values[...] = saved[f"arr_{index}"]
        log("INFO", f"goes on from step {step}")
        return step

    def exported(self):
        """The model of columns as they are encoded, not as they were scaled."""
        weights = self.model[0] / self.x_scale.deviation[:, np.newaxis]
        bias = self.model[1] - self.x_scale.mean @ weights
        if self.y_scale is not None:
            weights, bias = weights * self.y_scale.deviation, bias * self.y_scale.deviation + self.y_scale.mean
        return {"model_type": self.arguments.model_type, "classes": self.data.classes,
                "weights": weights.tolist(), "bias": bias.tolist()}


def train(words):
    np.seterr(all="ignore")  # What is not finite is looked for.
    arguments = read_arguments(words)
    job_directory.check_folder(arguments.job_dir)
    reporter = reports.Reporter(METRICS[arguments.model_type])
    parts = data.load(arguments, classification=arguments.model_type == "classification")
    said = {name: value for name, value in vars(arguments).items() if name != "job_dir"}
    folder = job_directory.JobDirectory(arguments.job_dir, parts.fingerprint("linear_learner", json.dumps(said)))
    if arguments.preprocess:
        folder.write_parts(parts)
    trainer = Trainer(arguments, parts)
    log("INFO", f"trains on {len(trainer.x)} rows of {trainer.x.shape[1]} columns, {trainer.last_step} steps")
    results = {"validation": trainer.train(folder, reporter)}
    if parts.test is not None:
        results["test"] = trainer.metrics(*trainer.scaled(parts.test))
        log("INFO", f"test: {reports.text_of(results['test'])}")
    folder.write_json("model/model.json", trainer.exported())
    folder.write_json("artifacts/preprocessing.json", parts.describe())
    folder.write_json("artifacts/evaluation.json", results)
    folder.finish()


if __name__ == "__main__":
    reports.run(train)
