"""Writes optuna.db and optuna.log, a study in each of Optuna's two kinds of files, and optuna.json, what Optuna says of them.

    pip install optuna==5.0.0 && python3 make_optuna.py
"""

import json
import pathlib

import optuna
from optuna.storages import JournalStorage
from optuna.storages.journal import JournalFileBackend

HERE = pathlib.Path(__file__).parent


def train(trial):
    rate = trial.suggest_float("lr", 1e-5, 0.1, log=True)
    width = trial.suggest_int("width", 16, 256, log=True)
    layers = trial.suggest_int("layers", 1, 7, step=2)
    dropout = trial.suggest_float("dropout", 0.0, 0.5, step=0.1)
    optimizer = trial.suggest_categorical("optimizer", ["sgd", "adam", None])
    batch = trial.suggest_categorical("batch", [16, 32, 64])
    momentum = trial.suggest_float("momentum", 0.5, 0.99) if optimizer == "sgd" else 0.0
    trial.set_user_attr("host", "node-1")
    if trial.number == 3:
        raise RuntimeError("no memory left")
    value = 1.0 / (1 + abs(rate - 0.01)) - dropout / 10 + width / 1000 + layers / 100 + batch / 1e4 + momentum / 100
    for step in range(1, 4):
        trial.report(value * step / 3, step)
        if trial.number in (5, 8):
            raise optuna.TrialPruned()
    return value


def two(trial):
    x = trial.suggest_float("x", 0, 1)
    return x, (1 - x) ** 2


def fill(storage):
    study = optuna.create_study(
        study_name="digits", direction="maximize", storage=storage, sampler=optuna.samplers.RandomSampler(seed=7)
    )
    study.set_user_attr("team", "vision")
    study.optimize(train, n_trials=12, catch=(RuntimeError,))
    study.enqueue_trial({"lr": 0.01, "width": 64})
    study.ask()  # Takes the trial that waits, and leaves it running.
    study.enqueue_trial(
        {"lr": 0.02, "width": 32, "layers": 3, "dropout": 0.1, "optimizer": "adam", "batch": 32}
    )
    study.enqueue_trial({"lr": 0.03})
    front = optuna.create_study(
        study_name="front", directions=["maximize", "minimize"], storage=storage,
        sampler=optuna.samplers.RandomSampler(seed=7),
    )
    front.set_metric_names(["gain", "cost"])
    front.optimize(two, n_trials=6)
    return study, front


def described(study):
    trials = [
        {"number": t.number, "state": t.state.name, "values": t.values, "params": t.params,
         "curve": t.intermediate_values}
        for t in study.trials
    ]
    best = {"best": study.best_trials[0].number} if len(study.directions) == 1 else {
        "front": sorted(t.number for t in study.best_trials)}
    return {"trials": trials, **best}


def main():
    for name in ("optuna.db", "optuna.log"):
        (HERE / name).unlink(missing_ok=True)
    said = {}
    for name, storage in (
        ("optuna.db", f"sqlite:///{HERE}/optuna.db"),
        ("optuna.log", JournalStorage(JournalFileBackend(str(HERE / "optuna.log")))),
    ):
        digits, front = fill(storage)
        said[name] = {"digits": described(digits), "front": described(front)}
    (HERE / "optuna.json").write_text(json.dumps(said, indent=1) + "\n")


main()
