"""Neural networks by PyTorch: what the trainers of networks share. Devices, seeds, inputs, optimisers, training, export."""

import io
import os
import warnings

from vernier_trainers import reports, threads

os.environ.setdefault("CUBLAS_WORKSPACE_CONFIG", ":4096:8")  # Without it sums on a GPU differ from run to run.
np = reports.need("numpy", "apt install python3-numpy")
torch = reports.need("torch", "apt install python3-torch")

from vernier_trainers import steps
from vernier_trainers.reports import UserError, log

ROWS_AT_ONCE = 8192  # Of an evaluation.


def device():
    return torch.device("cuda" if torch.cuda.is_available() else "cpu")


def fix_seed(*numbers):
    """What is drawn from here on depends on these numbers alone."""
    torch.manual_seed(int(np.random.SeedSequence(numbers).generate_state(1, np.uint64)[0] >> np.uint64(1)))


# --- inputs ---

class Inputs(torch.nn.Module):
    """Splits encoded columns into numbers, standardised, and the numbers of categories."""

    def __init__(self, columns, x):
        """`columns`: as the encoder describes them; `x`: the training data."""
        super().__init__()
        numbers = [index for index, about in enumerate(columns) if about["kind"] == "number"]
        categories = [index for index, about in enumerate(columns) if about["kind"] == "category"]
        scale = steps.Scale(x[:, numbers])
        self.sizes = [len(columns[index]["values"]) for index in categories]  # Of each category column, 0 not counted.
        self.count = len(numbers)
        for name, values in (("numbers", torch.tensor(numbers, dtype=torch.long)),
                             ("categories", torch.tensor(categories, dtype=torch.long)),
                             ("mean", torch.tensor(scale.mean)), ("deviation", torch.tensor(scale.deviation))):
            self.register_buffer(name, values)

    def forward(self, x):
        """x: rows x columns, of double precision, which numbers far from 0 need until they are standardised."""
        numbers = (x.index_select(1, self.numbers) - self.mean) / self.deviation
        return numbers.float(), x.index_select(1, self.categories).long()


class Embeddings(torch.nn.Module):
    """One vector for each category of each column; unknown ones begin at 0."""

    def __init__(self, sizes, dimensions, deviation=None):
        """`deviation`: of the initial values; by default 1 / sqrt(dimension)."""
        super().__init__()
        self.tables = torch.nn.ModuleList(
            torch.nn.Embedding(size + 1, dimension) for size, dimension in zip(sizes, dimensions))
        for table, dimension in zip(self.tables, dimensions):
            torch.nn.init.normal_(table.weight, std=dimension ** -0.5 if deviation is None else deviation)
            with torch.no_grad():
                table.weight[0] = 0

    def forward(self, categories):
        return [table(categories[:, index]) for index, table in enumerate(self.tables)]


# --- optimisers ---

class Ftrl(torch.optim.Optimizer):
    """Follow the regularised leader, as optimizers.py has it. It begins from the initial weights, as networks need them
    to differ from each other: z is such that the update would leave them as they are if nothing were penalised."""

    FIRST_N = 0.1

    def __init__(self, parameters, rate, l1, l2, shrinkage):
        super().__init__(parameters, {"rate": rate, "l1": l1, "l2": l2, "shrinkage": shrinkage})

    @torch.no_grad()
    def step(self, closure=None):
        for group in self.param_groups:
            for weights in group["params"]:
                if weights.grad is not None:
                    self.update(weights, group)

    def update(self, weights, group):
        rate, l1, l2 = group["rate"], group["l1"], group["l2"]
        state = self.state[weights]
        if not state:
            state["n"] = torch.full_like(weights, self.FIRST_N)
            state["z"] = -weights * self.FIRST_N ** 0.5 / rate
        before = state["n"].sqrt()
        state["n"] += weights.grad ** 2
        root = state["n"].sqrt()
        state["z"] += weights.grad + 2 * group["shrinkage"] * weights - (root - before) / rate * weights
        z = state["z"]
        weights.copy_(torch.where(z.abs() <= l1, torch.zeros_like(z), (z.sign() * l1 - z) / (root / rate + 2 * l2)))


def optimizer_of(arguments, parameters, rate, prefix=""):
    """For --PREFIXoptimizer_type. Biases are not penalised."""
    def value(name):
        return getattr(arguments, prefix + name)

    parameters = list(parameters)
    kind = value("optimizer_type")
    if kind == "adam":
        return torch.optim.Adam(parameters, lr=rate, betas=(value("beta_1"), value("beta_2")), foreach=True)
    if kind == "sgd":
        return torch.optim.SGD(parameters, lr=rate)
    penalties = {"l1": value("l1_regularization_strength"), "l2": value("l2_regularization_strength"),
                 "shrinkage": value("l2_shrinkage_regularization_strength")}
    groups = [{"params": [values for values in parameters if values.dim() > 1]},
              {"params": [values for values in parameters if values.dim() == 1], **dict.fromkeys(penalties, 0.0)}]
    return Ftrl([group for group in groups if group["params"]], rate, **penalties)


# --- how good it is ---

def area_under_curve(scores, positive):
    """The chance that a positive row has a higher score than a negative one, ties counted half."""
    _, places, counts = np.unique(scores, return_inverse=True, return_counts=True)
    ranks = (np.cumsum(counts) - (counts - 1) / 2)[places]
    positives = np.count_nonzero(positive)
    return (ranks[positive].sum() - positives * (positives + 1) / 2) / (positives * (len(scores) - positives))


def metrics_of(scores, y, unit):
    metrics = steps.metrics_of(scores, y, unit)
    if scores.shape[1] == 1:
        metrics["mae"] = float(np.mean(np.abs(scores[:, 0] - y))) * unit
        return metrics
    if not np.isfinite(scores).all():
        return metrics
    chances = np.exp(steps.log_softmax(scores))
    classes = [1] if scores.shape[1] == 2 else range(scores.shape[1])
    areas = [area_under_curve(chances[:, number], y == number) for number in classes if 0 < np.mean(y == number) < 1]
    if areas:  # Of more than two classes, the mean of each against the others.
        metrics["auc"] = float(np.mean(areas))
    return metrics


# --- training ---

class NetworkTrainer(steps.StepTrainer):
    """A subclass sets `network`, of double columns to scores or predictions, and `optimizers`, and defines loss()."""

    def __init__(self, arguments, parts, **options):
        super().__init__(arguments, parts, **options)
        self.device = device()
        torch.set_num_threads(threads.COUNT)
        torch.use_deterministic_algorithms(True, warn_only=True)
        fix_seed(arguments.seed)
        self.outputs = 1 if parts.classes is None else len(parts.classes)
        self.y_scale = steps.Scale(parts.training.y) if parts.classes is None else None
        self.inputs = Inputs(parts.encoder.columns, parts.training.x)
        self.x = torch.tensor(parts.training.x, device=self.device)
        self.y = self.targets(parts.training.y)
        self.optimizers = []
        self.network = None

    def targets(self, y):
        if self.y_scale is None:
            return torch.tensor(y, device=self.device)
        return torch.tensor(self.y_scale.apply(y), dtype=torch.float32, device=self.device)

    def place(self, network):
        """Sets the network and says where it is trained."""
        self.network = network.to(self.device)
        weights = sum(values.numel() for values in network.parameters())
        where = torch.cuda.get_device_name() if self.device.type == "cuda" else "the CPU"
        log("INFO", f"a network of {weights} weights on {where}, PyTorch {torch.__version__}")

    def usual_loss(self, scores, y):
        if self.y_scale is None:
            return torch.nn.functional.cross_entropy(scores, y)
        return torch.nn.functional.mse_loss(scores[:, 0], y)

    def train_step(self, step, rows):
        fix_seed(self.arguments.seed, step)  # A resumed run draws the same.
        rows = torch.from_numpy(rows).to(self.device)
        self.network.train()
        for optimizer in self.optimizers:
            optimizer.zero_grad()
        self.loss(self.x[rows], self.y[rows]).backward()
        self.before_update(step)
        for optimizer in self.optimizers:
            optimizer.step()

    def before_update(self, step):
        """What is done with gradients and rates before they are used."""

    def scores(self, x):
        self.network.eval()
        with torch.no_grad():
            parts = [self.network(torch.tensor(x[begin:begin + ROWS_AT_ONCE], device=self.device)).double().cpu().numpy()
                     for begin in range(0, len(x), ROWS_AT_ONCE)]
        return np.concatenate(parts)

    def metrics(self, part):
        y = part.y if self.y_scale is None else self.y_scale.apply(part.y)
        metrics = metrics_of(self.scores(part.x), y, 1.0 if self.y_scale is None else float(self.y_scale.deviation))
        wanted = os.environ.get("CLOUD_ML_HP_METRIC_TAG")
        if wanted == "auc" and wanted not in metrics and np.isfinite(metrics["loss"]):
            raise UserError("the study asks for the metric 'auc', and the validation data has one class only")
        return metrics

    # --- what is kept ---

    def state(self):
        buffer = io.BytesIO()
        torch.save({"network": self.network.state_dict(),
                    "optimizers": [optimizer.state_dict()["state"] for optimizer in self.optimizers]}, buffer)
        return buffer.getvalue()

    def restore(self, state):
        saved = torch.load(io.BytesIO(state), map_location=self.device, weights_only=True)
        self.network.load_state_dict(saved["network"])
        for optimizer, state in zip(self.optimizers, saved["optimizers"]):  # Their settings are the arguments'.
            optimizer.load_state_dict({**optimizer.state_dict(), "state": state})

    def export(self, folder):
        """A program of PyTorch's own that needs none of ours, from encoded columns to chances or predictions."""
        exported = Exported(self.network, self.y_scale).cpu().eval().requires_grad_(False)
        buffer = io.BytesIO()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # Newer versions would have it in another form.
            traced = torch.jit.trace(exported, torch.tensor(self.data.training.x[:2]), check_trace=False)
            torch.jit.save(traced, buffer)
        folder.write("model/model.pt", buffer.getvalue())
        about = {"model_type": self.arguments.model_type, "classes": self.data.classes,
                 "columns": self.data.training.x.shape[1], "pytorch": str(torch.__version__)}
        folder.write_json("model/model.json", about)


class Exported(torch.nn.Module):
    def __init__(self, network, y_scale):
        super().__init__()
        self.network = network
        self.regression = y_scale is not None
        self.mean = 0.0 if y_scale is None else float(y_scale.mean)
        self.deviation = 1.0 if y_scale is None else float(y_scale.deviation)

    def forward(self, x):
        scores = self.network(x).double()
        return scores * self.deviation + self.mean if self.regression else scores.softmax(dim=1)
