"""Trains a small model step by step, and goes on where an earlier run of it stopped.

Vernier starts a replica that was ended from outside again, and may run the whole job again, with the same --job-dir each
time. What this program has done is in a checkpoint there; the one rule is to look for it first.
"""

import argparse
import json
import os
import pathlib
import random
import time

SAVE_EVERY = 10  # Number of steps that a kill loses at most.


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--job-dir", type=pathlib.Path, required=True)
    parser.add_argument("--steps", type=int, default=200)
    parser.add_argument("--pause", type=float, default=0.0, help="seconds that a step takes besides")
    parser.add_argument("--lr", type=float, default=0.1)
    return parser.parse_args()


def load(checkpoint):
    """The last state that was saved, or the first of all."""
    if checkpoint.exists():
        return json.loads(checkpoint.read_text())
    return {"step": 0, "weights": [0.0, 0.0]}


def save(checkpoint, state):
    """Written beside the old one and renamed over it: a kill at any moment leaves one of the two, whole."""
    fresh = checkpoint.with_suffix(".new")
    with open(fresh, "w") as file:
        json.dump(state, file)
        file.flush()
        os.fsync(file.fileno())
    fresh.replace(checkpoint)


def train_step(state, lr):
    """One step towards y = 3 x + 1 on a point that depends on the step alone, so that a resumed run sees the same."""
    x = random.Random(state["step"]).uniform(-1, 1)
    a, b = state["weights"]
    error = a * x + b - (3 * x + 1)
    state["weights"] = [a - lr * error * x, b - lr * error]
    state["step"] += 1
    return error * error


def main():
    args = parse_arguments()
    args.job_dir.mkdir(parents=True, exist_ok=True)
    checkpoint = args.job_dir / "checkpoint.json"
    state = load(checkpoint)
    print(f"starts at step {state['step']}", flush=True)
    while state["step"] < args.steps:
        loss = train_step(state, args.lr)
        if state["step"] % SAVE_EVERY == 0:
            save(checkpoint, state)
            print(f"step={state['step']} loss={loss:.6f}", flush=True)
        time.sleep(args.pause)


if __name__ == "__main__":
    main()
