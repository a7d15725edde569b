"""Trials of one second as Slurm jobs by Submitit, chosen by Optuna's random sampler. Called by run_benchmark, whose Python has neither.
usage: submitit_load.py FOLDER --trials N --parallel N --cpus N
Prints {figures, versions} as JSON."""

import argparse
import functools
import importlib.metadata
import json
import pathlib
import resource
import time

import optuna
import submitit


def program(times, x):
    began = time.time()
    time.sleep(1)
    with open(times, "a") as file:
        file.write(f"{began} {time.time()}\n")
    return x


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--trials", type=int, required=True)
    parser.add_argument("--parallel", type=int, required=True)
    parser.add_argument("--cpus", type=int, required=True)
    args = parser.parse_args()
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    executor = submitit.AutoExecutor(folder=args.folder / "submitit", cluster="slurm")
    executor.update_parameters(cpus_per_task=args.cpus, timeout_min=5)
    study = optuna.create_study(direction="maximize", sampler=optuna.samplers.RandomSampler(seed=1))
    run = functools.partial(program, str(args.folder / "times"))
    started, running, asked, completed = time.time(), [], 0, 0
    while running or asked < args.trials:
        while len(running) < args.parallel and asked < args.trials:
            trial = study.ask()
            running.append((trial, executor.submit(run, trial.suggest_float("x", 0, 1))))
            asked += 1
        for trial, job in [pair for pair in running if pair[1].done()]:
            running.remove((trial, job))
            study.tell(trial, job.result())
            completed += 1
        time.sleep(0.1)
    wall = time.time() - started
    own, children = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    print(json.dumps({
        "figures": {"completed": completed,
                    "its_cpu_of_a_core": round((own.ru_utime + own.ru_stime) / wall, 4),
                    "its_clients_cpu_of_a_core": round((children.ru_utime + children.ru_stime) / wall, 4)},
        "versions": {package: importlib.metadata.version(package) for package in ("submitit", "optuna")}}))


if __name__ == "__main__":
    main()
