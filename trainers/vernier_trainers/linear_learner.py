"""Linear learner: softmax regression, or least squares, by stochastic gradients.

python3 -m vernier_trainers.linear_learner --model_type=classification --preprocess --training_data_path=data.csv
"""

import io

from vernier_trainers import reports

np = reports.need("numpy", "apt install python3-numpy")

from vernier_trainers import arguments as command_line
from vernier_trainers import steps
from vernier_trainers.optimizers import OPTIMIZERS

METRICS = {"classification": ("accuracy", "loss"), "regression": ("loss", "rmse")}


def read_arguments(words):
    parser = command_line.Parser(__doc__.splitlines()[0])
    steps.add_arguments(parser, METRICS)
    parser.add_argument("--learning_rate", type=command_line.number(above=0), default=0.1)
    steps.add_optimizer_arguments(parser, OPTIMIZERS, "ftrl")
    arguments = parser.read(words)
    steps.check_arguments(parser, arguments)
    return arguments


# --- the model: scores = x @ weights + bias ---

def one_hot(y, outputs):
    return np.eye(outputs)[y]


def gradients(model, x, y):
    """Of the mean loss, by weights and bias."""
    weights, bias = model
    scores = x @ weights + bias
    if weights.shape[1] > 1:
        by_scores = np.exp(steps.log_softmax(scores)) - one_hot(y, weights.shape[1])
    else:
        by_scores = 2 * (scores - y[:, np.newaxis])
    by_scores /= len(x)
    return x.T @ by_scores, by_scores.sum(axis=0)


class Trainer(steps.StepTrainer):
    def __init__(self, arguments, parts):
        super().__init__(arguments, parts)
        self.x_scale = steps.Scale(parts.training.x)
        self.y_scale = steps.Scale(parts.training.y) if parts.classes is None else None
        self.x, self.y = self.scaled(parts.training)
        outputs = 1 if parts.classes is None else len(parts.classes)
        self.optimizer = OPTIMIZERS[arguments.optimizer_type](arguments)
        self.model = [np.zeros((self.x.shape[1], outputs)), np.zeros(outputs)]
        self.slots = [{name: np.full_like(values, first) for name, first in self.optimizer.SLOTS.items()}
                      for values in self.model]

    def scaled(self, part):
        return self.x_scale.apply(part.x), part.y if self.y_scale is None else self.y_scale.apply(part.y)

    def train_step(self, step, rows):
        for index, gradient in enumerate(gradients(self.model, self.x[rows], self.y[rows])):
            self.optimizer.step(self.model[index], gradient, self.slots[index], step + 1, penalised=index == 0)

    def metrics(self, part):
        x, y = self.scaled(part)
        return steps.metrics_of(x @ self.model[0] + self.model[1], y,
                                1.0 if self.y_scale is None else float(self.y_scale.deviation))

    # --- what is kept ---

    def arrays(self):
        return [*self.model, *(values for slots in self.slots for values in slots.values())]

    def state(self):
        buffer = io.BytesIO()
        np.savez(buffer, *self.arrays())
        return buffer.getvalue()

    def restore(self, state):
        with np.load(io.BytesIO(state)) as saved:
            for index, values in enumerate(self.arrays()):
                values[...] = saved[f"arr_{index}"]

    def export(self, folder):
        """The model of columns as they are encoded, not as they were scaled."""
        weights = self.model[0] / self.x_scale.deviation[:, np.newaxis]
        bias = self.model[1] - self.x_scale.mean @ weights
        if self.y_scale is not None:
            weights, bias = weights * self.y_scale.deviation, bias * self.y_scale.deviation + self.y_scale.mean
        folder.write_json("model/model.json", {"model_type": self.arguments.model_type, "classes": self.data.classes,
                                               "weights": weights.tolist(), "bias": bias.tolist()})


def train(words):
    steps.run("linear_learner", read_arguments(words), METRICS, Trainer)


if __name__ == "__main__":
    reports.run(train)
