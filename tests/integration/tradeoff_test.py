#!/usr/bin/env python3
"""Tunes the PyTorch example for accuracy and size at once, with a small budget: what `study best` lists must be what the
definition says of the trials' own numbers.   usage: tradeoff_test.py SOURCE_DIR BIN_DIR
"""

import functools
import json
import pathlib
import sys
import tempfile

import command

vernier = functools.partial(command.vernier, seconds=240)

TRIALS = 8


def optimal_of(trials):
    """Numbers of the trials that keep the constraint and that no other such one dominates, the most accurate first."""
    values = {t["number"]: (t["final_metrics"]["accuracy"], -t["final_metrics"]["weights"]) for t in trials}
    kept = {number: value for number, value in values.items() if value[0] >= 0.85}

    def is_dominated(value):
        return any(other != value and other[0] >= value[0] and other[1] >= value[1] for other in kept.values())

    optimal = [number for number, value in kept.items() if not is_dominated(value)]
    return sorted(optimal, key=lambda number: (-kept[number][0], -kept[number][1], number))


def main():
    source, bin_dir = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
    example = source / "examples/digits"
    with tempfile.TemporaryDirectory(prefix="vernier-tradeoff-") as name:
        folder = pathlib.Path(name)
        text = (example / "tradeoff.yaml").read_text()
        text = text.replace("trials: 20", f"trials: {TRIALS}").replace("train.py,", f"{example}/train.py,")
        assert f"trials: {TRIALS}" in text and str(example) in text
        (folder / "study.yaml").write_text(text)
        output = vernier(bin_dir, folder, "run", str(folder / "study.yaml"), "--cpus", "2", "--plot")
        trials = json.loads(vernier(bin_dir, folder, "trial", "list", "tradeoff", "-o", "json"))
        best = json.loads(vernier(bin_dir, folder, "study", "best", "tradeoff", "-o", "json"))
        replay = vernier(bin_dir, folder, "study", "replay", "tradeoff", "--verify", "--strict")

    assert [t["state"] for t in trials] == ["COMPLETED"] * TRIALS, trials
    for trial in trials:  # 64 pixels in, 10 digits out, `depth` layers of `width` between.
        width, depth = trial["parameters"]["width"], trial["parameters"]["depth"]
        weights = 65 * width + (depth - 1) * (width + 1) * width + (width + 1) * 10
        assert trial["final_metrics"]["weights"] == weights, trial
        slack = trial["outcome_slacks"][0]["slack"]
        assert abs(slack - (trial["final_metrics"]["accuracy"] - 0.85)) < 1e-12, trial
    assert [t["number"] for t in best] == optimal_of(trials), (best, trials)
    assert best, trials
    for words in ("are optimal", "vernier plot pareto tradeoff", "weights (minimize)"):
        assert words in output, output
    print(f"{len(best)} of {TRIALS} trials are optimal; {replay.strip()}")


if __name__ == "__main__":
    main()
