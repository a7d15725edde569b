"""What is tuned: learning curves over a space, lower is better. A task has

  name, space (as `vernier ask-tell` takes it), max_steps, optimum
  range: from the optimum to the median end of random points, or of all recorded ones
  curve(params, key) -> (reported values, noiseless values), both of max_steps; NaN from divergence on
  seconds(params) -> seconds of a step
"""

import json
import zlib

import numpy as np

STEPS = 50
DIMENSIONS = 5
FAMILIES = ["power_law", "exponential", "crossing", "late_bloomers", "noisy", "diverging", "step_decay", "overfitting"]
OPTIMUM = 0.1


class Family:
    """Parametric curves. How a point ends is a rotated bowl with ripples; how fast it gets there depends on the point, too."""

    def __init__(self, name, seed):
        rng = np.random.default_rng([seed, zlib.crc32(name.encode())])
        self.name, self.max_steps, self.optimum = name, STEPS, OPTIMUM
        self.space = [{"name": f"x{i}", "type": "float", "min": 0.0, "max": 1.0} for i in range(DIMENSIONS)]
        self.centre = rng.uniform(0.2, 0.8, DIMENSIONS)
        self.weights = rng.uniform(0.3, 1.5, DIMENSIONS)
        self.rotation = np.linalg.qr(rng.normal(size=(DIMENSIONS, DIMENSIONS)))[0]
        self.direction, self.phase = rng.normal(size=DIMENSIONS), rng.uniform(0, 6)
        # The bowl's value at its centre is 0, and 1 at most points.
        self.scale = 1.0
        bad = np.array([self.badness(x) for x in rng.uniform(size=(2000, DIMENSIONS))])
        self.scale = np.quantile(bad, 0.9)
        self.range = self.end(np.median(bad) / self.scale) - OPTIMUM

    def badness(self, x):
        z = self.rotation @ ((x - self.centre) * self.weights)
        ripples = 0.06 * (1 - np.cos(7 * z[0])) + 0.05 * (1 - np.cos(6 * z[1])) + 0.1 * abs(z[2])
        return ((z ** 2).sum() + ripples) / self.scale

    def end(self, bad):
        return OPTIMUM + 0.7 * bad / (1 + 0.6 * bad)

    def seconds(self, params):
        return float(np.exp(0.5 * np.sin(5 * params["x0"] + self.phase)))

    def curve(self, params, key):
        x = np.array([params[f"x{i}"] for i in range(DIMENSIONS)], float)
        bad = self.badness(x)
        end = self.end(bad)
        slow = 0.5 + 0.5 * np.sin(3 * self.direction @ x + self.phase)
        fall = 0.3 + 0.5 * slow
        t = np.arange(1, STEPS + 1)
        noise = 0.003

        def exponential(rate):
            return end + fall * (np.exp(-t / rate) - np.exp(-STEPS / rate))

        if self.name == "power_law":
            values = end + fall * (t ** -(0.5 + slow) - STEPS ** -(0.5 + slow))
        elif self.name == "exponential":
            values = exponential(3 + 12 * slow)
        elif self.name == "crossing":  # Good points are slow.
            values = exponential(3 + 14 * np.exp(-3 * bad) * (0.5 + slow))
        elif self.name == "late_bloomers":
            middle = STEPS * (0.1 + 0.45 * np.exp(-2 * bad) * (0.4 + 0.6 * slow))
            values = end + fall / (1 + np.exp((t - middle) / (0.08 * STEPS)))
        elif self.name == "noisy":
            values, noise = exponential(3 + 8 * slow), 0.03
        elif self.name == "diverging":
            values, over = exponential(3 + 8 * slow), x[0] - 0.55 - 0.3 * slow
            values = values + max(over, 0) * 0.05 * np.maximum(0, t - 15 * slow)
            if over > 0.3:
                values = np.where(t > 10 + 20 * slow, np.nan, values)
        elif self.name == "step_decay":  # The learning rate drops after three fifths.
            before = end + 0.05 + 0.15 * np.sin(2 * self.direction @ x) ** 2
            values = before + fall * np.exp(-t / (2 + 5 * slow))
            values = np.where(t > 0.6 * STEPS, end + (values - end) * np.exp(-(t - 0.6 * STEPS) / 2), values)
        elif self.name == "overfitting":
            turn = 8 + 30 * slow
            values = end + fall * np.exp(-4 * t / turn) + 0.004 * np.maximum(0, t - turn) * (1 - slow)
        else:
            raise ValueError(f"no family '{self.name}'")
        return values + noise * np.random.default_rng(key).normal(size=STEPS), values


class Recorded:
    """Curves of real trainers (record_curves). A point has the curve of the recorded configuration nearest to it."""

    def __init__(self, path):
        with np.load(path, allow_pickle=False) as data:
            self.space = json.loads(str(data["space"]))
            self.curves, self.runs, points = data["curves"], data["runs"], data["points"]
            self.run_seconds = data["seconds"]
        self.name, self.max_steps = path.stem, self.curves.shape[1]
        recorded = np.unique(self.runs[:, 0])
        self.of = [np.flatnonzero(self.runs[:, 0] == c) for c in recorded]
        self.places = np.array([[self.place(p, v) for p, v in zip(self.space, points[c])] for c in recorded])
        best = [np.nanmin(np.where(np.isnan(self.curves[of]), np.inf, self.curves[of]).mean(axis=0)) for of in self.of]
        self.optimum = min(best)
        self.range = np.nanmedian([self.curves[of].mean(axis=0)[-1] for of in self.of]) - self.optimum

    @staticmethod
    def place(parameter, value):
        if parameter["type"] == "categorical":
            return float(value)  # The index: another value is a whole range away.
        low, high = parameter["min"], parameter["max"]
        if parameter.get("log"):
            low, high, value = np.log(low), np.log(high), np.log(value)
        return (value - low) / (high - low)

    def nearest(self, params):
        values = [p["values"].index(params[p["name"]]) if p["type"] == "categorical" else params[p["name"]]
                  for p in self.space]
        place = np.array([self.place(p, v) for p, v in zip(self.space, values)])
        return self.of[int(np.argmin(((self.places - place) ** 2).sum(axis=1)))]

    def seconds(self, params):
        return float(self.run_seconds[self.nearest(params)].mean())

    def curve(self, params, key):
        of = self.nearest(params)
        values = self.curves[of[int(np.random.default_rng(key).integers(len(of)))]].astype(float)
        # Without noise: the mean over the recorded seeds.
        return values, self.curves[of].astype(float).mean(axis=0)


def all_tasks(folder, seed):
    return [Family(name, seed % 5) for name in FAMILIES] + [Recorded(path) for path in sorted(folder.glob("*.npz"))]
