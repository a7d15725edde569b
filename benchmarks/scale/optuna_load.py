"""Asks Optuna, with a store of SQLite, what run_benchmark asks Vernier; prints the figures as a line of JSON.

usage: optuna_load.py STORE fill|best|suggest|csv TRIALS

The rows of `fill` are those that Optuna's own calls leave behind: a trial, its three parameters, three intermediate values, a final
one. They are written past it, since it takes ten minutes for 100,000 trials.
"""

import json
import random
import resource
import sqlite3
import sys
import time

import optuna

optuna.logging.set_verbosity(optuna.logging.ERROR)
CALLS = 20


def distributions():
    d = optuna.distributions
    return {"lr": d.FloatDistribution(1e-5, 0.1, log=True), "dropout": d.FloatDistribution(0, 0.5), "units": d.IntDistribution(16, 1024)}


def fill(store, trials):
    optuna.create_study(storage=f"sqlite:///{store}", study_name="scale", direction="maximize")
    rng = random.Random(1)
    texts = {name: optuna.distributions.distribution_to_json(value) for name, value in distributions().items()}
    with sqlite3.connect(store) as database:
        database.execute("PRAGMA synchronous = OFF")
        for n in range(trials):
            trial, at = n + 1, "2026-01-01 00:00:00.000000"
            state = "FAIL" if trial % 100 == 0 else "COMPLETE"
            database.execute("INSERT INTO trials (trial_id, number, study_id, state, datetime_start, datetime_complete) VALUES (?, ?, 1, ?, ?, ?)",
                             (trial, n, state, at, at))
            values = {"lr": 10 ** (-5 + 4 * rng.random()), "dropout": rng.random() / 2, "units": rng.randint(16, 1024)}
            database.executemany("INSERT INTO trial_params (trial_id, param_name, param_value, distribution_json) VALUES (?, ?, ?, ?)",
                                 [(trial, name, value, texts[name]) for name, value in values.items()])
            curve = [1 - 1 / (1 + step) * rng.random() for step in (1, 2, 3)]
            database.executemany("INSERT INTO trial_intermediate_values (trial_id, step, intermediate_value, intermediate_value_type) "
                                 "VALUES (?, ?, ?, 'FINITE')", [(trial, step + 1, value) for step, value in enumerate(curve)])
            if state == "COMPLETE":
                database.execute("INSERT INTO trial_values (trial_id, objective, value, value_type) VALUES (?, 0, ?, 'FINITE')", (trial, curve[-1]))


def ms(call):
    begun = time.perf_counter()
    call()
    return 1e3 * (time.perf_counter() - begun)


def load(store):
    return optuna.load_study(storage=f"sqlite:///{store}", study_name="scale", sampler=optuna.samplers.RandomSampler(seed=1))


def quantiles(durations):
    durations = sorted(durations)
    return {"count": len(durations), "p50_ms": durations[len(durations) // 2], "max_ms": durations[-1]}


def best(store):
    study = load(store)
    first = ms(lambda: study.best_trial)
    return {"first_ms": first, "best": quantiles([ms(lambda: study.best_trial) for _ in range(CALLS)])}


def suggest(store):
    study = load(store)
    space = distributions()
    first = ms(lambda: study.tell(study.ask(space), 0.5))
    suggestions, completions = [], []
    for _ in range(CALLS):
        trials = []
        suggestions.append(ms(lambda: trials.append(study.ask(space))))
        completions.append(ms(lambda: study.tell(trials[0], 0.5)))
    return {"first_ms": first, "suggest": quantiles(suggestions), "complete": quantiles(completions)}


def csv(store):
    lines = []
    seconds = ms(lambda: lines.append(load(store).trials_dataframe().to_csv().count("\n"))) / 1e3
    return {"seconds": seconds, "lines": lines[0], "lines_per_second": round(lines[0] / seconds)}


def main():
    store, question, trials = sys.argv[1], sys.argv[2], int(sys.argv[3])
    if question == "fill":
        begun = time.monotonic()
        fill(store, trials)
        figures = {"seconds": round(time.monotonic() - begun, 1)}
    else:
        figures = {"best": best, "suggest": suggest, "csv": csv}[question](store)
    figures["peak_mib"] = round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024, 1)
    figures["optuna"] = optuna.__version__
    print(json.dumps(figures))


if __name__ == "__main__":
    main()
