"""Trains a small neural network to tell two moons of points apart. Needs nothing but Python 3.

Prints the loss on the training points and the accuracy on others after each epoch.
"""

import argparse
import math
import random


def two_moons(count, noise, seed):
    """Points of two interleaved half circles, each with its label: -1 or 1."""
    source = random.Random(seed)
    points = []
    for i in range(count):
        angle = math.pi * source.random()
        x, y, label = math.cos(angle), math.sin(angle), -1
        if i % 2:
            x, y, label = 1 - x, 0.5 - y, 1
        points.append((x + noise * source.gauss(0, 1), y + noise * source.gauss(0, 1), label))
    return points


class Network:
    """One hidden layer of tanh units; the sign of the output is the predicted label."""

    def __init__(self, hidden, seed):
        source = random.Random(seed)
        # Of each hidden unit: two input weights, a bias, the output weight.
        self.units = [[source.gauss(0, 1), source.gauss(0, 1), 0.0, source.gauss(0, 1 / math.sqrt(hidden))]
                      for _ in range(hidden)]
        self.bias = 0.0

    def forward(self, x, y):
        activations = [math.tanh(a * x + b * y + c) for a, b, c, _ in self.units]
        return activations, self.bias + sum(unit[3] * h for unit, h in zip(self.units, activations))


def train_epoch(network, velocity, points, args, source):
    """One pass over the points in batches, by gradient descent with momentum. Returns the mean logistic loss."""
    points = source.sample(points, len(points))
    total = 0.0
    for start in range(0, len(points), args.batch):
        batch = points[start:start + args.batch]
        gradient = [[0.0] * 4 for _ in network.units]
        bias_gradient = 0.0
        for x, y, label in batch:
            activations, output = network.forward(x, y)
            margin = max(-50.0, min(50.0, label * output))
            total += math.log1p(math.exp(-margin))
            slope = -label / (1 + math.exp(margin)) / len(batch)
            bias_gradient += slope
            for unit, row, h in zip(network.units, gradient, activations):
                inner = slope * unit[3] * (1 - h * h)
                row[0] += inner * x
                row[1] += inner * y
                row[2] += inner
                row[3] += slope * h
        for unit, row, speed in zip(network.units, gradient, velocity):
            for i in range(4):
                speed[i] = args.momentum * speed[i] - args.lr * row[i]
                unit[i] += speed[i]
        network.bias -= args.lr * bias_gradient
    return total / len(points)


def accuracy(network, points):
    return sum(network.forward(x, y)[1] * label > 0 for x, y, label in points) / len(points)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--lr", type=float, default=0.01, help="learning rate")
    parser.add_argument("--momentum", type=float, default=0.0)
    parser.add_argument("--hidden", type=int, default=4, help="number of hidden units")
    parser.add_argument("--batch", type=int, default=32, help="points per gradient step")
    parser.add_argument("--epochs", type=int, default=12)
    args = parser.parse_args()

    training, validation = two_moons(200, 0.2, seed=1), two_moons(500, 0.2, seed=2)
    network = Network(args.hidden, seed=3)
    velocity = [[0.0] * 4 for _ in network.units]
    source = random.Random(4)
    for epoch in range(1, args.epochs + 1):
        loss = train_epoch(network, velocity, training, args, source)
        print(f"epoch={epoch} loss={loss:.4f} accuracy={accuracy(network, validation):.4f}", flush=True)


if __name__ == "__main__":
    main()
