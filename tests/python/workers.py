"""Functions to train with that worker processes can import."""

import os
import signal
import sys
import time


def square(trial):
    trial.report(1, loss=trial["x"] ** 2 + 1)
    return trial["x"] ** 2


def pid(trial):
    return {"loss": trial["x"] ** 2, "pid": os.getpid()}


def dies_at_third(trial):
    if trial.number == 3:
        os.kill(os.getpid(), signal.SIGKILL)
    return trial["x"] ** 2


def exits_at_third(trial):
    if trial.number == 3:
        os._exit(4)
    return trial["x"] ** 2


def leaves_at_third(trial):
    if trial.number == 3:
        sys.exit(5)
    return trial["x"] ** 2


def fails_at_third(trial):
    if trial.number == 3:
        raise KeyError("third")
    return trial["x"] ** 2


def stops(trial):
    step = 0
    while not trial.should_stop():
        trial.report(step, loss=float(trial.number))
        step += 1
        if step == 6:
            break
    return float(trial.number)


def waits(trial):
    """Writes its process, and never reports."""
    os.write(1, f"{os.getpid()}\n".encode())
    time.sleep(1000)
