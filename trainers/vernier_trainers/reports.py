"""What a trainer says: log lines, metrics, and one sentence when it cannot go on. Needs the standard library alone."""

import importlib
import json
import os
import sys
import time


class UserError(Exception):
    """What whoever started the job can mend, as one sentence."""


def log(severity, message):
    print(json.dumps({"severity": severity, "message": message}), flush=True)


def need(module, debian):
    """The module, or the end of the program with a sentence that says how to install it."""
    try:
        return importlib.import_module(module)
    except ImportError as error:
        log("ERROR", f"the Python package {module} is missing from {sys.executable} ({error}); install it there "
                     f"(Debian: {debian}; elsewhere: pip install {module}) or name it in the job's python.packages")
        sys.exit(1)


def run(train):
    """Calls train(words of the command line) and ends the program."""
    try:
        train(sys.argv[1:])
    except UserError as error:
        log("ERROR", str(error))
        sys.exit(1)


def text_of(metrics):
    return ", ".join(f"{name} {value:.6g}" for name, value in metrics.items())


class Reporter:
    """Reports to the file that Vernier reads, in the form of the package cloudml-hypertune, and to the log."""

    def __init__(self, names):
        self.path = os.environ.get("CLOUD_ML_HP_METRIC_FILE")
        wanted = os.environ.get("CLOUD_ML_HP_METRIC_TAG")
        if wanted and wanted not in names:
            raise UserError(f"the study asks for the metric '{wanted}', and this trainer reports {', '.join(names)}")

    def report(self, step, metrics):
        log("INFO", f"step {step}: {text_of(metrics)}")
        if self.path:
            line = {"timestamp": time.time(), "trial": os.environ.get("CLOUD_ML_TRIAL_ID", "0"), "global_step": str(step)}
            line.update((name, str(float(value))) for name, value in metrics.items())
            with open(self.path, "a", encoding="utf-8") as file:
                file.write(json.dumps(line) + "\n")
