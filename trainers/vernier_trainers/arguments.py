"""Command lines as AI Platform Training's built-in algorithms took them: --name=value, each refused by one sentence."""

import argparse
import difflib
import math

from vernier_trainers.reports import UserError

MAX_SPLIT = 0.4


class Parser(argparse.ArgumentParser):
    def __init__(self, description):
        super().__init__(description=description, allow_abbrev=False)
        self.add_argument("--job-dir", "--job_dir", dest="job_dir", help="folder for model, data and checkpoint")
        self.add_argument("--preprocess", nargs="?", const=True, default=False, type=boolean,
                          help="split the data, fill in what is missing, make columns of categories")
        self.add_argument("--training_data_path", required=True, help="CSV without header, target first; or a pattern")
        self.add_argument("--validation_data_path", help="the same form")
        self.add_argument("--test_data_path", help="the same form")
        self.add_argument("--validation_split", type=number(0), help="share of the training data; 0.2")
        self.add_argument("--test_split", type=number(0), help="share of the training data; 0.2")
        self.add_argument("--seed", type=whole(0), default=0, help="of splits and of everything random")

    def error(self, message):
        raise UserError(message.removeprefix("argument "))

    def read(self, words):
        arguments, unknown = self.parse_known_args(words)
        if unknown:
            raise UserError(self.unknown_sentence(unknown[0]))
        check_data_arguments(arguments)
        return arguments

    def unknown_sentence(self, word):
        if not word.startswith("--"):
            return f"'{word}' belongs to no argument; values go as --name=value"
        name = word.partition("=")[0]
        near = difflib.get_close_matches(name, self._option_string_actions, n=1)
        return f"unknown argument {name}" + (f"; did you mean {near[0]}?" if near else "")


def boolean(text):
    values = {"true": True, "1": True, "false": False, "0": False}
    if text.lower() not in values:
        raise argparse.ArgumentTypeError(f"must be true or false, got '{text}'")
    return values[text.lower()]


def whole(least, most=math.inf):
    bound = f"of at least {least}" + (f" and at most {most}" if most < math.inf else "")

    def read(text):
        try:
            value = int(text)
        except ValueError:
            value = least - 1
        if not least <= value <= most:
            raise argparse.ArgumentTypeError(f"must be a whole number {bound}, got '{text}'")
        return value
    return read


def number(least=-math.inf, most=math.inf, above=None):
    """Reads a finite number within the bounds; with `above` the lower bound itself is out."""
    bound = f"above {above:g}" if above is not None else f"of at least {least:g}" if least > -math.inf else ""
    if most < math.inf:
        bound += f"{' and' if bound else 'of'} at most {most:g}"

    def read(text):
        try:
            value = float(text)
        except ValueError:
            value = math.nan
        if not (math.isfinite(value) and least <= value <= most and (above is None or value > above)):
            raise argparse.ArgumentTypeError(f"must be a number {bound}".rstrip() + f", got '{text}'")
        return value
    return read


def check_data_arguments(arguments):
    """Where the validation data comes from is said, and said once."""
    given = [name for name in ("validation_split", "test_split") if getattr(arguments, name) is not None]
    if arguments.validation_data_path is None and not arguments.preprocess:
        raise UserError("--validation_data_path is missing; give it, or --preprocess, which splits the training data")
    if given and (arguments.validation_data_path is not None or not arguments.preprocess):
        raise UserError(f"--{given[0]} needs --preprocess and no --validation_data_path")
    if arguments.test_split is not None and arguments.test_data_path is not None:
        raise UserError("--test_split and --test_data_path cannot go together; give one of them")
    arguments.validation_split = 0.2 if arguments.validation_split is None else arguments.validation_split
    arguments.test_split = 0.2 if arguments.test_split is None else arguments.test_split
    if arguments.validation_split + arguments.test_split > MAX_SPLIT + 1e-9:
        raise UserError(f"--validation_split and --test_split must be at most {MAX_SPLIT} together, got "
                        f"{arguments.validation_split:g} and {arguments.test_split:g}")
