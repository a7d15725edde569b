#!/usr/bin/env python3
"""Metrics from programs that know nothing of vernier, and study files that say nothing of metrics: Keras' fit, its TensorBoard
callback, tqdm, JSON lines, numbers in every form.   usage: metrics_test.py SOURCE_DIR BIN_DIR
"""

import json
import pathlib
import subprocess
import sys
import tempfile
import textwrap

# One program for each producer. Values follow from x alone, so that they can be checked.
PROGRAMS = {
    "keras": """
        import argparse, os
        os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
        import numpy as np, tensorflow as tf
        parser = argparse.ArgumentParser()
        parser.add_argument("--x", type=float)
        parser.add_argument("--job-dir")
        args = parser.parse_args()
        tf.keras.utils.set_random_seed(1)
        inputs = np.random.rand(512, 2).astype("float32")
        labels = (inputs.sum(1) > 1).astype("float32")
        model = tf.keras.Sequential([tf.keras.layers.Dense(1, activation="sigmoid")])
        model.compile(tf.keras.optimizers.SGD(args.x), "binary_crossentropy", metrics=["accuracy"])
        callback = tf.keras.callbacks.TensorBoard(args.job_dir)
        history = model.fit(inputs, labels, batch_size=32, epochs=3, validation_split=0.5, callbacks=[callback])
        with open(args.job_dir + "/truth", "w") as file:
            file.write(repr(history.history["val_accuracy"]))
        """,
    "tqdm": """
        import sys, time
        from tqdm import tqdm
        x = float(sys.argv[1].split("=")[1])
        for epoch in range(1, 4):
            bar = tqdm(range(5), desc=f"Epoch {epoch}", mininterval=0)
            for i in bar:
                bar.set_postfix(score=f"{x * epoch + i / 100:.3f}")
                time.sleep(0.01)
        """,
    "json": """
        import json, sys
        x = float(sys.argv[1].split("=")[1])
        for epoch in range(1, 4):
            print("config", {"lr": 0.1}, flush=True)
            print(json.dumps({"epoch": epoch, "loss": 1, "score": x * epoch}), flush=True)
        """,
    "numbers": """
        import sys
        x = float(sys.argv[1].split("=")[1])
        for step in range(1, 4):
            print(f"\\x1b[32mstep {step}\\x1b[0m val_score: 7 \\x1b[1mscore\\x1b[0m: {x * step * 1e-7}", flush=True)
        """,
    "diverges": """
        import sys
        print("epoch=1 score=0.5")
        print("epoch=2 score=nan")
        """,
    "misnamed": """
        print("epoch=1 scor=0.5")
        """,
}
STUDY = """\
study: {name}
objective: {{maximize: {metric}}}
parameters: {{x: {{float: [0.1, 0.9]}}}}
algorithm: random
budget: {{trials: {trials}}}
{metrics}
job:
  command: [{python}, {program}]
  {dir}
"""


class Vernier:
    def __init__(self, bin_dir, folder):
        self.bin_dir, self.folder = bin_dir, folder

    def call(self, *words, ok=True):
        result = subprocess.run([self.bin_dir / "vernier", *map(str, words), "--store", self.folder / "vernier.db"],
                                capture_output=True, text=True, timeout=280)
        assert not ok or result.returncode == 0, (words, result.returncode, result.stdout, result.stderr)
        return result.stdout + result.stderr

    def run(self, name, program, metric="score", trials=1, python="/usr/bin/python3", metrics="", job_dir="", ok=True):
        script = self.folder / f"train_{program}.py"
        script.write_text(textwrap.dedent(PROGRAMS[program]))
        study = self.folder / f"{name}.yaml"
        study.write_text(STUDY.format(name=name, metric=metric, trials=trials, metrics=metrics, python=python,
                                      program=script, dir=f"dir: {job_dir}" if job_dir else ""))
        self.call("run", study, ok=ok)
        return json.loads(self.call("trial", "list", name, "-o", "json"))

    def curve(self, name, trial):
        return json.loads(self.call("trial", "metrics", name, trial, "-o", "json"))


def check_keras(vernier, python):
    """What is printed is rounded to four digits; the event files have all of them."""
    jobs = vernier.folder / "jobs"
    [printed] = vernier.run("printed", "keras", "val_accuracy", python=python, job_dir=jobs / "printed")
    truth = eval((jobs / "printed/1/truth").read_text())  # A list of numbers that the program wrote.
    assert printed["state"] == "COMPLETED", printed
    curve = vernier.curve("printed", 1)
    assert {point["source"] for point in curve} == {"log"}, curve
    values = {int(point["step"]): point["metrics"]["val_accuracy"] for point in curve}
    assert values == {step: round(value, 4) for step, value in enumerate(truth, start=1)}, (values, truth)

    source = "metrics: {val_accuracy: {tfevents: validation/epoch_accuracy}}"
    [logged] = vernier.run("logged", "keras", "val_accuracy", python=python, metrics=source, job_dir=jobs / "logged")
    truth = eval((jobs / "logged/1/truth").read_text())
    curve = vernier.curve("logged", 1)
    assert {point["source"] for point in curve} == {"tfevents"}, curve
    values = {int(point.get("step", 0)): point["metrics"]["val_accuracy"] for point in curve}
    assert values.keys() == {0, 1, 2}, values
    assert all(abs(values[i] - truth[i]) < 1e-6 for i in range(3)), (values, truth)
    assert abs(logged["final_metrics"]["val_accuracy"] - truth[-1]) < 1e-6, logged
    found = vernier.call("metrics", "test", "--trial", "logged", "1")
    assert "val_accuracy" in found and "tfevents" in found, found


def check_text(vernier):
    for trial in vernier.run("bar", "tqdm", trials=2):
        x = trial["parameters"]["x"]
        assert abs(trial["final_metrics"]["score"] - (x * 3 + 0.04)) < 2e-3, trial
        steps = [int(point["step"]) for point in vernier.curve("bar", trial["name"].rsplit("/", 1)[1])]
        assert set(steps) == {1, 2, 3} and steps == sorted(steps), steps
    [trial] = vernier.run("lines", "json")
    assert trial["final_metrics"] == {"score": trial["parameters"]["x"] * 3}, trial
    [trial] = vernier.run("numbers", "numbers")
    assert trial["final_metrics"]["score"] == float(str(trial["parameters"]["x"] * 3 * 1e-7)), trial
    [trial] = vernier.run("best", "json", metrics="", ok=True)
    assert [int(point["step"]) for point in vernier.curve("best", 1)] == [1, 2, 3]


def check_failures(vernier):
    [trial] = vernier.run("nan", "diverges", ok=False)
    assert (trial["state"], trial["failure"]) == ("FAILED", "DIVERGED"), trial
    assert len(vernier.curve("nan", 1)) == 2
    [trial] = vernier.run("typo", "misnamed", ok=False)
    assert (trial["state"], trial["failure"]) == ("FAILED", "NO_METRIC"), trial
    assert "metrics: {score: {after: 'scor='}}" in trial["message"], trial


def main():
    source, bin_dir = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
    python = subprocess.run([source / "scripts/lib/python_venv", "tensorflow"], check=True, capture_output=True,
                            text=True).stdout.strip()
    with tempfile.TemporaryDirectory(prefix="vernier-metrics-") as folder:
        vernier = Vernier(bin_dir, pathlib.Path(folder))
        check_text(vernier)
        check_failures(vernier)
        check_keras(vernier, python)
    print("metrics of Keras, TensorBoard, tqdm, JSON lines and plain text were found")


if __name__ == "__main__":
    main()
