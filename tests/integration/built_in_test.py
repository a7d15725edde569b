#!/usr/bin/env python3
"""Tunes the built-in trainers as their examples say: each finds better than its defaults, and replays. The older form, an
image's name, runs the same program. XGBoost trains in several replicas, and survives the loss of one.

usage: built_in_test.py SOURCE_DIR BIN_DIR
"""

import importlib.util
import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile

from daemon import Daemon, wait_until

PYTHON = sys.executable
CONFIGURATION = f"host: {{cpus: 2, memory: 64GiB, fitting: scaled}}\nruntimes: {{default: {{python: {PYTHON}}}}}\n"
DEFAULTS = {"linear_learner": "job: {trainer: linear_learner, args: [--model_type=classification, --preprocess, "
                              "--training_data_path=digits.csv, --max_steps=300]}",
            "wide_deep": "job: {trainer: wide_deep, args: [--model_type=classification, --preprocess, "
                         "--training_data_path=digits.csv]}",
            "xgboost": "job: {trainer: xgboost, args: [--preprocess, --training_data_path=diabetes.csv, --nthread=1]}"}


def main():
    source, bin_dir = (pathlib.Path(word).resolve() for word in sys.argv[1:])
    trainers = {"linear_learner": "linear_digits"}
    if importlib.util.find_spec("xgboost"):
        trainers["xgboost"] = "boosted_diabetes"
    if importlib.util.find_spec("torch"):
        trainers["wide_deep"] = "wide_deep_digits"
    with tempfile.TemporaryDirectory(prefix="vernier-built-in-") as name:
        folder = pathlib.Path(name)
        for file in (source / "examples" / "built_in").iterdir():
            shutil.copy(file, folder)
        subprocess.run([PYTHON, "make_data.py"], cwd=folder, check=True)
        for trainer, study in trainers.items():
            tune(Runner(bin_dir, folder), trainer, study)
        submit(Runner(bin_dir, folder), "boosted_trees" if "xgboost" in trainers else "linear_learner_cpu")
        refuse(Runner(bin_dir, folder))


class Runner:
    """The command line, in the folder; without a daemon trials are run by the interpreter that runs this."""

    def __init__(self, bin_dir, folder):
        self.bin_dir, self.folder, self.store = bin_dir, folder, folder / "vernier.db"
        self.environment = dict(os.environ, PATH=f"{pathlib.Path(PYTHON).parent}:{os.environ['PATH']}")

    def __call__(self, *words, code=0):
        result = subprocess.run([self.bin_dir / "vernier", "--store", self.store, *words], cwd=self.folder,
                                env=self.environment, capture_output=True, text=True, timeout=200)
        assert result.returncode == code, (words, result.stdout[-2000:], result.stderr[-2000:])
        return result.stdout if code == 0 else result.stderr

    def json(self, *words):
        return json.loads(self("-o", "json", *words))


def tune(vernier, trainer, study):
    objective = "rmse" if trainer == "xgboost" else "loss"
    (vernier.folder / "default.yaml").write_text(
        f"study: default_{trainer}\nobjective: {{minimize: {objective}}}\nparameters: {{seed: {{discrete: [0]}}}}\n"
        f"budget: {{trials: 1}}\n{DEFAULTS[trainer]}\n")
    vernier("run", "default.yaml")
    vernier("run", f"{trainer}.yaml")
    default, [default_value] = best_of(vernier, f"default_{trainer}", objective)
    best, values = best_of(vernier, study, objective)
    print(f"{trainer}: {objective} {default_value:.4f} by default, {min(values):.4f} tuned")
    assert len(values) == 12, values
    assert min(values) < 0.95 * default_value, (min(values), default_value)
    vernier("study", "replay", "--verify", study)
    out = vernier.folder / "out" / study / str(best)
    assert json.loads((out / "artifacts/evaluation.json").read_text())["validation"][objective] == min(values)
    assert (out / "model/model.json").stat().st_size > 0


def best_of(vernier, study, objective):
    """The number of the best trial, and the last values of all."""
    trials = vernier.json("trial", "list", study)
    assert {trial["state"] for trial in trials} == {"COMPLETED"}, trials
    values = {trial["number"]: trial["last_measurement"]["metrics"][objective] for trial in trials}
    return min(values, key=values.get), list(values.values())


def submit(vernier, algorithm):
    folder = vernier.folder
    (folder / "vernierd.yaml").write_text(CONFIGURATION)
    daemon = Daemon(vernier.bin_dir, folder)
    daemon.start("--config", folder / "vernierd.yaml")
    try:
        submit_to(vernier, algorithm)
        if importlib.util.find_spec("torch"):
            submit_networks(vernier)
        if algorithm == "boosted_trees":
            submit_group(vernier)
            lose_worker(vernier)
    finally:
        daemon.stop_with_trials()


def submit_to(vernier, algorithm):
    folder = vernier.folder
    image = f"gcr.io/cloud-ml-algos/{algorithm}:latest"
    args = ["--preprocess", f"--training_data_path={folder}/breast_cancer.csv"]
    args += ["--objective=binary:logistic"] if algorithm == "boosted_trees" else ["--model_type=classification"]
    vernier("jobs", "submit", "training", "by_image", "--master-image-uri", image, "--job-dir", folder / "by_image",
            "--stream-logs", "--", *args)
    job = vernier.json("jobs", "describe", "by_image")
    assert job["state"] == "SUCCEEDED" and job["trainingInput"]["masterConfig"]["imageUri"] == image, job
    assert (folder / "by_image/model/model.json").exists()
    if algorithm == "boosted_trees":
        vernier("jobs", "submit", "training", "tuned", "--config", folder / "config.yaml", "--job-dir", folder / "tuned",
                "--stream-logs", "--", "--preprocess", f"--training_data_path={folder}/digits.csv",
                "--objective=multi:softmax", "--num_class=10", "--nthread=1")
        trials = vernier.json("jobs", "describe", "tuned")["trainingOutput"]["trials"]
        assert len(trials) == 6 and trials[0]["finalMetric"]["objectiveValue"] > 0.93, trials


NETWORK = """trainingInput:
  masterConfig: {{imageUri: "gcr.io/cloud-ml-algos/{image}:latest"}}
  hyperparameters:
    goal: MAXIMIZE
    hyperparameterMetricTag: {metric}
    maxTrials: 2
    params: [{{parameterName: learning_rate, type: DOUBLE, minValue: 0.01, maxValue: 0.1, scaleType: UNIT_LOG_SCALE}}]
"""


def submit_networks(vernier):
    """Tuning jobs by the images' names, and what a trial leaves."""
    folder = vernier.folder
    for image, metric, words in (("wide_deep_learner_cpu", "auc", ["--hidden_units=30,10", "--use_wide"]),
                                 ("tab_net", "accuracy", ["--feature_dim=16", "--num_decision_steps=2"])):
        (folder / "network.yaml").write_text(NETWORK.format(image=image, metric=metric))
        vernier("jobs", "submit", "training", image, "--config", folder / "network.yaml", "--job-dir", folder / image,
                "--stream-logs", "--", "--preprocess", f"--training_data_path={folder}/breast_cancer.csv",
                "--model_type=classification", "--max_steps=60", *words)
        trials = vernier.json("jobs", "describe", image)["trainingOutput"]["trials"]
        assert len(trials) == 2 and trials[0]["finalMetric"]["objectiveValue"] > 0.9, trials
        assert (folder / image / "1/model/model.pt").stat().st_size > 0


GROUP = """trainingInput:
  scaleTier: CUSTOM
  masterType: n1-standard-4
  workerType: n1-standard-4
  workerCount: 2
  masterConfig: {imageUri: "gcr.io/cloud-ml-algos/xgboost_dist:latest"}
  workerConfig: {imageUri: "gcr.io/cloud-ml-algos/xgboost_dist:latest"}
"""
TUNED = """  hyperparameters:
    goal: MAXIMIZE
    hyperparameterMetricTag: accuracy
    maxTrials: 2
    params: [{parameterName: max_depth, type: INTEGER, minValue: 2, maxValue: 4}]
"""


def group_arguments(folder):
    return ["--preprocess", f"--training_data_path={folder}/digits.csv", "--objective=multi:softmax", "--nthread=1"]


def submit_group(vernier):
    """A job of AI Platform Training's distributed XGBoost, tuned: a master and two workers in each trial."""
    folder = vernier.folder
    (folder / "group.yaml").write_text(GROUP + TUNED)
    vernier("jobs", "submit", "training", "group", "--config", folder / "group.yaml", "--job-dir", folder / "group",
            "--stream-logs", "--", *group_arguments(folder))
    trials = vernier.json("jobs", "describe", "group")["trainingOutput"]["trials"]
    assert len(trials) == 2 and trials[0]["finalMetric"]["objectiveValue"] > 0.9, trials
    assert json.loads((folder / "group/1/artifacts/evaluation.json").read_text())["validation"]["accuracy"] > 0.9


def lose_worker(vernier):
    """A worker that is killed costs an attempt, and the next goes on from the chief's checkpoint."""
    folder = vernier.folder
    (folder / "lost.yaml").write_text(GROUP)
    vernier("jobs", "submit", "training", "lost", "--config", folder / "lost.yaml", "--job-dir", folder / "lost", "--",
            *group_arguments(folder), "--num_boost_round=150")
    wait_until((folder / "lost/experiment/checkpoint").exists, "no checkpoint")
    [worker] = programs("1", str(folder / "lost"))
    os.kill(worker, signal.SIGKILL)
    vernier("study", "wait", "lost")
    job = vernier.json("jobs", "describe", "lost")
    assert job["state"] == "SUCCEEDED", job
    first, second = (vernier("trial", "logs", "lost", "1", "--attempt", attempt) for attempt in "12")
    assert "worker 0 is lost: " in first and "goes on from step" in second, (first, second)
    assert (folder / "lost/model/model.json").exists()


def programs(rank, word):
    """The processes of this rank with this word in their command lines, supervisors left out."""
    found = []
    for process in pathlib.Path("/proc").glob("[0-9]*"):
        try:
            words = (process / "cmdline").read_bytes().split(b"\0")
            environment = (process / "environ").read_bytes().split(b"\0")
        except OSError:
            continue
        if (b"vernier_trainers.xgboost" in words and b"-m" in words[1:2] and word.encode() in b" ".join(words)
                and f"RANK={rank}".encode() in environment):
            found.append(int(process.name))
    return found


def refuse(vernier):
    folder = vernier.folder
    (folder / "bad.yaml").write_text("study: bad\nobjective: {minimize: auc}\nparameters: {seed: {discrete: [0]}}\n"
                                     f"budget: {{trials: 1}}\n{DEFAULTS['linear_learner']}\n")
    vernier("run", "bad.yaml", code=1)
    [trial] = vernier.json("trial", "list", "bad")
    sentence = "the study asks for the metric 'auc', and this trainer reports accuracy, loss"
    assert sentence in vernier("trial", "show", "bad", "1"), trial
    (folder / "image.yaml").write_text("jobId: image\ntrainingInput: {masterConfig: "
                                      "{imageUri: 'gcr.io/cloud-ml-algos/image_classification:latest'}}\n")
    assert "'image_classification' is not offered; offered are" in vernier("run", "image.yaml", code=2)


if __name__ == "__main__":
    main()
