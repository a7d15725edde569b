#!/usr/bin/env python3
"""The same load on Optuna: processes that ask for a random trial, complete it, and ask again.

usage: optuna_load.py sqlite|journal FOLDER PROCESSES SECONDS      prints one JSON object
Both storages sync every write as they come: SQLite's default is synchronous=FULL, the journal file calls fsync.
"""

import json
import multiprocessing
import pathlib
import sys
import time

import optuna


def open_storage(kind, folder):
    if kind == "sqlite":
        return optuna.storages.RDBStorage(f"sqlite:///{folder}/optuna.db", engine_kwargs={"connect_args": {"timeout": 60}})
    backend = optuna.storages.journal.JournalFileBackend(str(folder / "optuna.journal"))
    return optuna.storages.JournalStorage(backend)


def run(kind, folder, seconds, start, results):
    study = optuna.load_study(study_name="load", storage=open_storage(kind, folder),
                              sampler=optuna.samplers.RandomSampler())
    start.wait()
    latencies, end = [], time.perf_counter() + seconds
    while time.perf_counter() < end:
        before = time.perf_counter()
        trial = study.ask()
        values = [trial.suggest_float(name, 0, 1) for name in "abcd"]
        study.tell(trial, values[0])
        latencies.append(time.perf_counter() - before)
    results.put(latencies)


def main():
    kind, folder = sys.argv[1], pathlib.Path(sys.argv[2])
    processes, seconds = int(sys.argv[3]), float(sys.argv[4])
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    optuna.create_study(study_name="load", storage=open_storage(kind, folder))
    context = multiprocessing.get_context("spawn")
    start, results = context.Barrier(processes + 1), context.Queue()
    workers = [context.Process(target=run, args=(kind, folder, seconds, start, results)) for _ in range(processes)]
    for worker in workers:
        worker.start()
    start.wait()
    began = time.perf_counter()
    latencies = sorted(sum((results.get() for _ in workers), []))
    took = time.perf_counter() - began
    for worker in workers:
        worker.join()
    print(json.dumps({
        "processes": processes, "trials": len(latencies), "seconds": took,
        "trials_per_second": len(latencies) / took,
        "trial": {"p50_ms": 1e3 * latencies[len(latencies) // 2], "p99_ms": 1e3 * latencies[int(len(latencies) * 0.99)]},
        "optuna": optuna.__version__, "python": sys.version.split()[0]}))


if __name__ == "__main__":
    main()
