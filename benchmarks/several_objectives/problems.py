"""Problems of several objectives, all minimised, some with outcome constraints (kept where a slack is at least 0).

Each problem has `space` (parameters as `vernier ask-tell` takes them), `evaluate(params) -> (values, slacks)`, `reference`
(values at which hypervolume begins), and `ideal`: the hypervolume of the true front where it is known, else None.
"""

import dataclasses
import functools
import math
from typing import Callable, Optional


@dataclasses.dataclass
class Problem:
    name: str
    space: list
    objectives: int
    evaluate: Callable
    reference: list
    constraints: int = 0
    ideal: Optional[float] = None


def floats(count, low=0.0, high=1.0):
    return [{"name": f"x{i}", "type": "float", "min": low, "max": high} for i in range(count)]


def listed(function, count):
    return lambda params: function([params[f"x{i}"] for i in range(count)])


# Zitzler, Deb and Thiele, 2000.
def zdt(shape):
    def evaluate(x):
        g = 1 + 9 * sum(x[1:]) / (len(x) - 1)
        return [x[0], g * shape(x[0] / g, x[0])], []
    return evaluate


# Deb, Thiele, Laumanns and Zitzler, 2005.
def dtlz2(x, objectives):
    k = objectives - 1
    g = sum((v - 0.5) ** 2 for v in x[k:])
    values = []
    for j in range(objectives):
        value = 1 + g
        for v in x[:k - j]:
            value *= math.cos(v * math.pi / 2)
        if j > 0:
            value *= math.sin(x[k - j] * math.pi / 2)
        values.append(value)
    return values, []


def dtlz7(x):
    g = 1 + 9 * sum(x[1:]) / (len(x) - 1)
    return [x[0], (1 + g) * (2 - x[0] / (1 + g) * (1 + math.sin(3 * math.pi * x[0])))], []


# C2-DTLZ2 of Jain and Deb, 2014, two objectives.
def c2_dtlz2(x):
    values, _ = dtlz2(x, 2)
    f, g = values
    r = 0.2
    corner = min((f - 1) ** 2 + g ** 2 - r ** 2, (g - 1) ** 2 + f ** 2 - r ** 2)
    middle = (f - 1 / math.sqrt(2)) ** 2 + (g - 1 / math.sqrt(2)) ** 2 - r ** 2
    return values, [-min(corner, middle)]


# Binh and Korn, 1997; Osyczka and Kundu, 1995.
def bnh(x):
    a, b = 5 * x[0], 3 * x[1]
    return ([4 * a * a + 4 * b * b, (a - 5) ** 2 + (b - 5) ** 2],
            [25 - (a - 5) ** 2 - b * b, (a - 8) ** 2 + (b + 3) ** 2 - 7.7])


def osy(x):
    low, high = [0, 0, 1, 0, 1, 0], [10, 10, 5, 6, 5, 10]
    a, b, c, d, e, f = (l + v * (h - l) for v, l, h in zip(x, low, high))
    values = [-(25 * (a - 2) ** 2 + (b - 2) ** 2 + (c - 1) ** 2 + (d - 4) ** 2 + (e - 1) ** 2),
              a * a + b * b + c * c + d * d + e * e + f * f]
    return values, [a + b - 2, 6 - a - b, 2 - b + a, 2 - a + 3 * b, 4 - (c - 3) ** 2 - d, (e - 3) ** 2 + f - 4]


@functools.lru_cache(None)
def digits():
    from sklearn.datasets import load_digits
    from sklearn.model_selection import train_test_split
    x, y = load_digits(return_X_y=True)
    return train_test_split(x / 16.0, y, test_size=0.4, random_state=0)


# A perceptron on scikit-learn's digits: validation error, and the multiplications of its training (log10).
def perceptron(params):
    import warnings
    from sklearn.neural_network import MLPClassifier
    x, held_out, y, answers = digits()
    hidden = (params["width"],) * params["layers"]
    model = MLPClassifier(hidden_layer_sizes=hidden, activation=params["activation"], alpha=params["alpha"],
                          learning_rate_init=params["rate"], batch_size=params["batch"], max_iter=params["epochs"],
                          random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.fit(x, y)
    weights = 64 * params["width"] + (params["layers"] - 1) * params["width"] ** 2 + 10 * params["width"]
    cost = math.log10(float(weights) * params["epochs"] * len(x))
    return [1 - model.score(held_out, answers), cost], []


PERCEPTRON_SPACE = [
    {"name": "width", "type": "int", "min": 4, "max": 256, "log": True},
    {"name": "layers", "type": "int", "min": 1, "max": 3},
    {"name": "activation", "type": "categorical", "values": ["relu", "tanh", "logistic"]},
    {"name": "alpha", "type": "float", "min": 1e-6, "max": 1.0, "log": True},
    {"name": "rate", "type": "float", "min": 1e-4, "max": 0.3, "log": True},
    {"name": "batch", "type": "discrete", "values": [16, 32, 64, 128]},
    {"name": "epochs", "type": "int", "min": 2, "max": 30, "log": True},
]

PROBLEMS = {problem.name: problem for problem in [
    Problem("zdt1", floats(6), 2, listed(zdt(lambda r, f: 1 - math.sqrt(r)), 6), [1.1, 1.1], ideal=1.1 * 1.1 - 1 / 3),
    Problem("zdt2", floats(6), 2, listed(zdt(lambda r, f: 1 - r * r), 6), [1.1, 1.1], ideal=1.1 * 1.1 - 2 / 3),
    Problem("zdt3", floats(6), 2, listed(zdt(lambda r, f: 1 - math.sqrt(r) - r * math.sin(10 * math.pi * f)), 6), [1.1, 1.1]),
    Problem("dtlz2-2", floats(6), 2, listed(lambda x: dtlz2(x, 2), 6), [1.1, 1.1], ideal=1.21 - math.pi / 4),
    Problem("dtlz2-3", floats(6), 3, listed(lambda x: dtlz2(x, 3), 6), [1.1] * 3, ideal=1.331 - math.pi / 6),
    Problem("dtlz7", floats(6), 2, listed(dtlz7, 6), [1.1, 4.4]),
    Problem("c2-dtlz2", floats(6), 2, listed(c2_dtlz2, 6), [1.1, 1.1], constraints=1),
    Problem("bnh", floats(2), 2, listed(bnh, 2), [140.0, 50.0], constraints=2),
    Problem("osy", floats(6), 2, listed(osy, 6), [0.0, 80.0], constraints=6),
    Problem("perceptron", PERCEPTRON_SPACE, 2, perceptron, [0.3, 8.5]),
]}


def hypervolume(points, reference):
    """Of what the points dominate, up to the reference; all are minimised."""
    points = sorted(p for p in points if all(v < r for v, r in zip(p, reference)))
    if not points:
        return 0.0
    if len(reference) == 1:
        return reference[0] - points[0][0]
    volume = 0.0
    for i, point in enumerate(points):
        # From this point's first value to the next one's, what those so far dominate in the others.
        end = points[i + 1][0] if i + 1 < len(points) else reference[0]
        if end > point[0]:
            volume += (end - point[0]) * hypervolume([p[1:] for p in points[:i + 1]], reference[1:])
    return volume
