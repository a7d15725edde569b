"""Steps downhill, for --optimizer_type. Each keeps its state in arrays of the weights' form, so that it can be saved."""

import numpy as np


class Sgd:
    SLOTS = {}

    def __init__(self, arguments):
        self.rate = arguments.learning_rate

    def step(self, weights, gradient, slots, number, penalised):
        del slots, number, penalised
        weights -= self.rate * gradient


class Adam:
    """Kingma and Ba, 2015."""
    SLOTS = {"first": 0.0, "second": 0.0}
    EPSILON = 1e-8

    def __init__(self, arguments):
        self.rate, self.beta_1, self.beta_2 = arguments.learning_rate, arguments.beta_1, arguments.beta_2

    def step(self, weights, gradient, slots, number, penalised):
        del penalised
        slots["first"] += (1 - self.beta_1) * (gradient - slots["first"])
        slots["second"] += (1 - self.beta_2) * (gradient ** 2 - slots["second"])
        first = slots["first"] / (1 - self.beta_1 ** number)
        second = slots["second"] / (1 - self.beta_2 ** number)
        weights -= self.rate * first / (np.sqrt(second) + self.EPSILON)


class Ftrl:
    """Follow the regularised leader, proximal: McMahan et al., 2013, algorithm 1. l2 counts twice, as in TensorFlow."""
    SLOTS = {"z": 0.0, "n": 0.1}

    def __init__(self, arguments):
        self.rate = arguments.learning_rate
        self.l1, self.l2 = arguments.l1_regularization_strength, arguments.l2_regularization_strength
        self.shrinkage = arguments.l2_shrinkage_regularization_strength

    def step(self, weights, gradient, slots, number, penalised):
        del number
        l1, l2, shrinkage = (self.l1, self.l2, self.shrinkage) if penalised else (0.0, 0.0, 0.0)
        before = np.sqrt(slots["n"])
        slots["n"] += gradient ** 2
        root = np.sqrt(slots["n"])
        slots["z"] += gradient + 2 * shrinkage * weights - (root - before) / self.rate * weights
        z = slots["z"]
        weights[...] = np.where(np.abs(z) <= l1, 0.0, (np.sign(z) * l1 - z) / (root / self.rate + 2 * l2))


OPTIMIZERS = {"ftrl": Ftrl, "adam": Adam, "sgd": Sgd}
