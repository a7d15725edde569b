#!/usr/bin/env python3
"""Tunes the PyTorch example with a small budget, as a user would: the two replicas of each trial train together, and the best
trial can be run again with the same result.   usage: digits_test.py SOURCE_DIR BIN_DIR
"""

import functools
import json
import pathlib
import sys
import tempfile

import command

vernier = functools.partial(command.vernier, seconds=240)


def main():
    source, bin_dir = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
    example = source / "examples/digits"
    with tempfile.TemporaryDirectory(prefix="vernier-digits-") as name:
        folder = pathlib.Path(name)
        text = (example / "study.yaml").read_text()
        text = text.replace("trials: 20", "trials: 4").replace("train.py,", f"{example}/train.py,")
        assert "trials: 4" in text and str(example) in text
        (folder / "study.yaml").write_text(text)
        output = vernier(bin_dir, folder, "run", str(folder / "study.yaml"), "--cpus", "2", "--plot")
        trials = json.loads(vernier(bin_dir, folder, "trial", "list", "digits", "-o", "json"))
        logs = [vernier(bin_dir, folder, "trial", "logs", "digits", str(n)) for n in range(1, 5)]
        replay = vernier(bin_dir, folder, "study", "replay", "digits", "--verify", "--strict")

    assert [t["state"] for t in trials] == ["COMPLETED"] * 4, trials
    assert [t["measurement_count"] for t in trials] == [12] * 4, trials
    best = max(t["final_metrics"]["accuracy"] for t in trials)
    assert best > 0.85, best
    for number, log in enumerate(logs, start=1):
        assert f"trial {number}: replica 0 of 2" in log and f"trial {number}: replica 1 of 2" in log, log
    for trial in trials:  # momentum belongs to sgd, weight_decay to adam.
        parameters = trial["parameters"]
        assert ("momentum" in parameters) == (parameters["optimizer"] == "sgd"), parameters
        assert ("weight_decay" in parameters) == (parameters["optimizer"] == "adam"), parameters
    for words in ("best trial", "reproduce", "logs", "best so far"):
        assert words in output, output
    print(f"best accuracy {best}; {replay.strip()}")


if __name__ == "__main__":
    main()
