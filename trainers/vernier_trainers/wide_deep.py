"""Wide and deep: a linear model and a neural network, trained together.

python3 -m vernier_trainers.wide_deep --model_type=classification --preprocess --training_data_path=data.csv
"""

import argparse

import vernier_trainers.threads  # First: before numpy is loaded.
from vernier_trainers import reports, steps
from vernier_trainers import arguments as command_line

METRICS = {"classification": ("accuracy", "loss", "auc"), "regression": ("loss", "rmse", "mae")}
OPTIMIZERS = ("ftrl", "adam", "sgd")
MOST_LAYERS = 32
MOST_UNITS = 16384


def hidden_units(text):
    units = [int(part) if part.strip().isdecimal() else 0 for part in text.split(",")]
    if not all(0 < count <= MOST_UNITS for count in units) or len(units) > MOST_LAYERS:
        raise argparse.ArgumentTypeError(f"must be at most {MOST_LAYERS} whole numbers from 1 to {MOST_UNITS}, separated by "
                                         f"commas, got '{text}'")
    return units


def read_arguments(words):
    parser = command_line.Parser(__doc__.splitlines()[0])
    number, boolean = command_line.number, command_line.boolean
    steps.add_arguments(parser, METRICS)
    parser.add_argument("--learning_rate", type=number(above=0), default=0.1, help="of the wide part")
    steps.add_optimizer_arguments(parser, OPTIMIZERS, "ftrl")
    parser.add_argument("--hidden_units", type=hidden_units, default=[30, 30, 30], help="of each layer; 30,30,30")
    parser.add_argument("--use_wide", nargs="?", const=True, type=boolean, default=True)
    parser.add_argument("--embed_categories", nargs="?", const=True, type=boolean, default=True)
    parser.add_argument("--dnn_learning_rate", type=number(above=0), default=0.001, help="of the deep part")
    parser.add_argument("--dnn_dropout", type=number(0, 0.9999999), default=0.0, help="of the deep part")
    steps.add_optimizer_arguments(parser, OPTIMIZERS, "adam", prefix="dnn_")
    arguments = parser.read(words)
    steps.check_arguments(parser, arguments, prefixes=("", "dnn_"))
    return arguments


def train(words):
    arguments = read_arguments(words)
    from vernier_trainers import wide_deep_network  # PyTorch takes a second or two to load: after the arguments.
    steps.run("wide_deep", arguments, METRICS, wide_deep_network.Trainer, one_hot=False)


if __name__ == "__main__":
    reports.run(train)
