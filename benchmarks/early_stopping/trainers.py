"""Six real trainers, small enough to train thousands of times, with the parameters that each is tuned over.

A trainer takes the values of its parameters and a seed, and yields the validation metric after each epoch. The seed
decides initial weights, order of batches and dropout; the data never change. All metrics are minimised. A metric that
is not finite means that training has diverged.
"""

import dataclasses
import functools
import math
import typing
import warnings

import numpy as np
import torch
from sklearn.datasets import load_digits, make_classification, make_friedman1
from sklearn.ensemble import GradientBoostingClassifier
from sklearn.linear_model import SGDClassifier
from sklearn.metrics import log_loss
from sklearn.neural_network import MLPRegressor
from torch import nn

EPOCHS = 50


@dataclasses.dataclass(frozen=True)
class Task:
    metric: str
    space: list
    train: typing.Callable


def real(name, low, high, log=False):
    return {"name": name, "type": "float", "min": low, "max": high, "log": log}


def integer(name, low, high, log=False):
    return {"name": name, "type": "int", "min": low, "max": high, "log": log}


def choice(name, *values):
    return {"name": name, "type": "categorical", "values": list(values)}


def fit(model, optimizer, x, y, batch, measure, *, clip=None, schedule=None):
    """Trains on cross-entropy, and yields measure(model) after each epoch."""
    for _ in range(EPOCHS):
        model.train()
        for chosen in torch.randperm(len(x)).split(batch):
            optimizer.zero_grad()
            nn.functional.cross_entropy(model(x[chosen]), y[chosen]).backward()
            if clip is not None:
                nn.utils.clip_grad_norm_(model.parameters(), clip)
            optimizer.step()
        if schedule is not None:
            schedule.step()
        model.eval()
        with torch.no_grad():
            yield measure(model)


def error_rate(x, y):
    def measure(model):
        scores = model(x)
        if not torch.isfinite(scores).all():
            return math.nan
        return (scores.argmax(1) != y).float().mean().item()
    return measure


# --- A multi-layer perceptron on scanned digits ---

@functools.lru_cache
def digits():
    """Every fourth digit is held out."""
    images, labels = load_digits(return_X_y=True)
    x = torch.tensor(images / 16, dtype=torch.float32)
    y = torch.tensor(labels)
    held_out = torch.arange(len(x)) % 4 == 3
    return x[~held_out], y[~held_out], x[held_out], y[held_out]


def train_digits_mlp(p, seed):
    torch.manual_seed(seed)
    x, y, test_x, test_y = digits()
    layers, inputs = [], x.shape[1]
    for _ in range(p["depth"]):
        layers += [nn.Linear(inputs, p["width"]), nn.ReLU(), nn.Dropout(p["dropout"])]
        inputs = p["width"]
    model = nn.Sequential(*layers, nn.Linear(inputs, 10))
    if p["optimizer"] == "sgd":
        optimizer = torch.optim.SGD(model.parameters(), p["lr"], momentum=p["momentum"], weight_decay=p["weight_decay"])
    else:
        optimizer = torch.optim.Adam(model.parameters(), p["lr"], betas=(p["momentum"], 0.999),
                                     weight_decay=p["weight_decay"])
    return fit(model, optimizer, x, y, p["batch"], error_rate(test_x, test_y))


# --- A convolutional network on noisy shapes, whose learning rate drops once ---

SHAPES = 6


def draw_shape(kind, rng):
    """A 16 x 16 picture: a shape of some size, place, angle and contrast, a distracting gradient, and noise."""
    angle, size = rng.uniform(0, 2 * math.pi), rng.uniform(4.0, 6.5)
    rows, columns = np.mgrid[0:16, 0:16] - 7.5
    rows, columns = rows - rng.uniform(-2, 2), columns - rng.uniform(-2, 2)
    u = (math.cos(angle) * rows + math.sin(angle) * columns) / size
    v = (math.cos(angle) * columns - math.sin(angle) * rows) / size
    radius = np.hypot(u, v)
    square = np.maximum(abs(u), abs(v)) < 0.85
    inside = [
        radius < 1,
        (radius < 1.05) & (radius > 0.6),
        square,
        square & ((abs(u) < 0.28) | (abs(v) < 0.28)),
        square & (np.sin(7 * u) > 0),
        square & (np.sin(6 * u) * np.sin(6 * v) > 0),
    ][kind]
    slope = rng.normal(0, 0.03, 2)
    picture = inside * rng.uniform(0.8, 1.5) + slope[0] * rows + slope[1] * columns
    return picture + rng.normal(0, 0.17, (16, 16))


@functools.lru_cache
def shapes():
    rng = np.random.default_rng(16)
    labels = np.arange(800 + 1000) % SHAPES
    pictures = np.stack([draw_shape(kind, rng) for kind in labels])
    x = torch.tensor(pictures[:, None], dtype=torch.float32)
    y = torch.tensor(labels)
    return x[:800], y[:800], x[800:], y[800:]


def train_shapes_cnn(p, seed):
    torch.manual_seed(seed)
    x, y, test_x, test_y = shapes()
    channels = p["channels"]
    model = nn.Sequential(
        nn.Conv2d(1, channels, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2),
        nn.Conv2d(channels, 2 * channels, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2),
        nn.Flatten(), nn.Linear(2 * channels * 16, SHAPES))
    optimizer = torch.optim.SGD(model.parameters(), p["lr"], momentum=p["momentum"], weight_decay=p["weight_decay"])
    schedule = torch.optim.lr_scheduler.MultiStepLR(optimizer, [p["decay_epoch"]], p["decay_factor"])
    return fit(model, optimizer, x, y, p["batch"], error_rate(test_x, test_y), schedule=schedule)


# --- A multi-layer perceptron of scikit-learn on Friedman's first regression function ---

@functools.lru_cache
def friedman():
    x, y = make_friedman1(800 + 1000, n_features=15, noise=1.0, random_state=1)
    x = (x - 0.5) * math.sqrt(12)  # Of mean 0 and variance 1.
    return x[:800], y[:800], x[800:], y[800:]


def train_friedman_regressor(p, seed):
    x, y, test_x, test_y = friedman()
    center, scale = y.mean(), y.std()
    model = MLPRegressor(hidden_layer_sizes=[p["width"]] * p["depth"], activation=p["activation"], solver=p["solver"],
                         alpha=p["alpha"], batch_size=p["batch_size"], learning_rate_init=p["learning_rate_init"],
                         momentum=p["momentum"], beta_1=p["momentum"], random_state=seed)
    for _ in range(EPOCHS):
        with np.errstate(all="ignore"), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                model.partial_fit(x, (y - center) / scale)
                guess = model.predict(test_x) * scale + center
                yield float(np.sqrt(np.mean((guess - test_y) ** 2)))
            except ValueError as error:
                # Divergence makes weights, loss or predictions infinite. Any other ValueError is a bug here.
                if not any(word in str(error) for word in ("finite", "NaN", "infinity", "too large")):
                    raise
                yield math.nan


# --- Gradient boosting, which overfits where labels are wrong ---

TREES_AN_EPOCH = 4


@functools.lru_cache
def wrong_labels():
    x, y = make_classification(800 + 2000, n_features=20, n_informative=8, n_redundant=4, n_clusters_per_class=4,
                               class_sep=1.0, flip_y=0.1, random_state=4)
    return x[:800], y[:800], x[800:], y[800:]


def train_boosting(p, seed):
    x, y, test_x, test_y = wrong_labels()
    model = GradientBoostingClassifier(n_estimators=EPOCHS * TREES_AN_EPOCH, random_state=seed, **p)
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.fit(x, y)
        for trees, chances in enumerate(model.staged_predict_proba(test_x), 1):
            if trees % TREES_AN_EPOCH == 0:
                finite = np.isfinite(chances).all()
                yield float(log_loss(test_y, np.clip(chances, 1e-7, 1 - 1e-7))) if finite else math.nan


# --- A recurrent network that predicts the next character of generated text ---

LETTERS = " abcdefghijklmnopqrst"
SEQUENCE = 32


def generate_text(length, words, successors, rng):
    """Words that follow each other by a Markov chain, with 2 % of the characters replaced."""
    text, word = [], 0
    while len(text) < length:
        word = rng.choice(successors[word], p=[0.5, 0.25, 0.15, 0.1])
        text += list(words[word]) + [0]
    typos = rng.random(len(text)) < 0.02
    return np.where(typos, rng.integers(1, len(LETTERS), len(text)), text)[:length]


@functools.lru_cache
def text():
    rng = np.random.default_rng(26)
    words = [rng.integers(1, len(LETTERS), rng.integers(2, 8)) for _ in range(80)]
    successors = [rng.choice(len(words), 4, replace=False) for _ in words]

    def sequences(count):
        codes = torch.tensor(generate_text(count * SEQUENCE + 1, words, successors, rng))
        return codes[:-1].view(count, SEQUENCE), codes[1:].view(count, SEQUENCE)
    return *sequences(256), *sequences(128)


class NextCharacter(nn.Module):
    """Maps codes [batch, time] to scores [batch, code, time], the layout that cross_entropy expects."""

    def __init__(self, hidden, dropout):
        super().__init__()
        self.embed = nn.Embedding(len(LETTERS), 16)
        self.recur = nn.GRU(16, hidden, batch_first=True)
        self.dropout = nn.Dropout(dropout)
        self.score = nn.Linear(hidden, len(LETTERS))

    def forward(self, codes):
        states, _ = self.recur(self.embed(codes))
        return self.score(self.dropout(states)).transpose(1, 2)


def train_text_gru(p, seed):
    torch.manual_seed(seed)
    x, y, test_x, test_y = text()
    model = NextCharacter(p["hidden"], p["dropout"])
    optimizer = torch.optim.Adam(model.parameters(), p["lr"], weight_decay=p["weight_decay"])

    def bits(trained):
        return nn.functional.cross_entropy(trained(test_x), test_y).item() / math.log(2)
    return fit(model, optimizer, x, y, p["batch"], bits, clip=p["clip"])


# --- A linear classifier of short texts on twenty topics, trained by stochastic gradient descent ---

TOPICS, VOCABULARY = 20, 250


@functools.lru_cache
def topics():
    """Shares of the words in each text, by the square root. Topics share most of their words, and a few texts have a wrong label."""
    rng = np.random.default_rng(35)
    common = 1 / np.arange(1, VOCABULARY + 1)
    words = np.stack([rng.permutation(common) for _ in range(TOPICS)])
    chances = 0.75 * common / common.sum() + 0.25 * words / words.sum(1, keepdims=True)
    labels = np.arange(600 + 1000) % TOPICS
    counts = np.stack([rng.multinomial(rng.integers(15, 60), chances[topic]) for topic in labels])
    wrong = rng.random(len(labels)) < 0.03
    labels = np.where(wrong, rng.integers(0, TOPICS, len(labels)), labels)
    x = np.sqrt(counts / counts.sum(1, keepdims=True))
    return x[:600], labels[:600], x[600:], labels[600:]


def train_topics_sgd(p, seed):
    x, y, test_x, test_y = topics()
    model = SGDClassifier(penalty="elasticnet", random_state=np.random.RandomState(seed % 2**32), **{**p, "average": bool(p["average"])})
    for _ in range(EPOCHS):
        with np.errstate(all="ignore"), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                model.partial_fit(x, y, classes=np.arange(TOPICS))
                yield float(np.mean(model.predict(test_x) != test_y))
            except ValueError as error:
                if not any(word in str(error).lower() for word in ("finite", "nan", "infinity", "overflow")):
                    raise
                yield math.nan


TASKS = {
    "digits_mlp": Task("validation error rate", [
        real("lr", 3e-4, 1.0, log=True),
        integer("batch", 16, 512, log=True),
        integer("width", 8, 256, log=True),
        integer("depth", 1, 3),
        real("dropout", 0.0, 0.7),
        choice("optimizer", "sgd", "adam"),
        real("momentum", 0.5, 0.99),
        real("weight_decay", 1e-6, 1e-2, log=True),
    ], train_digits_mlp),
    "shapes_cnn": Task("validation error rate", [
        real("lr", 1e-3, 1.0, log=True),
        real("momentum", 0.0, 0.99),
        real("weight_decay", 1e-6, 1e-1, log=True),
        integer("decay_epoch", 5, 45),
        real("decay_factor", 0.01, 1.0, log=True),
        integer("channels", 4, 16, log=True),
        integer("batch", 16, 256, log=True),
    ], train_shapes_cnn),
    "friedman_regressor": Task("validation root mean squared error", [
        integer("width", 4, 128, log=True),
        integer("depth", 1, 3),
        real("alpha", 1e-6, 10.0, log=True),
        real("learning_rate_init", 3e-4, 1.0, log=True),
        integer("batch_size", 8, 256, log=True),
        choice("activation", "relu", "tanh"),
        choice("solver", "sgd", "adam"),
        real("momentum", 0.0, 0.99),
    ], train_friedman_regressor),
    "boosting": Task("validation log loss", [
        real("learning_rate", 0.01, 1.0, log=True),
        integer("max_depth", 1, 8),
        real("subsample", 0.3, 1.0),
        real("max_features", 0.1, 1.0),
        integer("min_samples_leaf", 1, 100, log=True),
        choice("loss", "log_loss", "exponential"),
    ], train_boosting),
    "text_gru": Task("validation bits per character", [
        real("lr", 5e-4, 0.5, log=True),
        integer("hidden", 8, 64, log=True),
        real("dropout", 0.0, 0.7),
        real("weight_decay", 1e-7, 1e-2, log=True),
        real("clip", 0.01, 10.0, log=True),
        integer("batch", 8, 64, log=True),
    ], train_text_gru),
    "topics_sgd": Task("validation error rate", [
        choice("loss", "hinge", "log_loss", "modified_huber", "squared_hinge"),
        choice("learning_rate", "constant", "invscaling", "optimal"),
        real("eta0", 1e-3, 10.0, log=True),
        real("power_t", 0.05, 1.0),
        real("alpha", 1e-7, 1e-2, log=True),
        real("l1_ratio", 0.0, 1.0),
        choice("average", 0, 1),
    ], train_topics_sgd),
}
