"""Writes vernier.jsonl, the log of a study with trials in every state, and vernier.json, what its store says of it.

    PYTHONPATH=build/release/python python3 make_vernier.py build/release/bin/vernier
"""

import json
import pathlib
import subprocess
import sys
import tempfile

import vernier

HERE = pathlib.Path(__file__).parent


def main():
    with tempfile.TemporaryDirectory() as folder:
        store = f"{folder}/tuning.db"
        study = vernier.create_study(
            "digits",
            {"lr": vernier.Float(1e-5, 0.1, log=True), "layers": vernier.Int(1, 8), "optimizer": ["sgd", "adam"],
             "momentum": vernier.Float(0.5, 0.99, when={"optimizer": "sgd"})},
            maximize="accuracy", stopping="median", seed=3, storage=store)
        for number in range(9):
            trial = study.ask()
            if number == 2:
                study.tell(trial, failed="the loss is no number")
            elif number == 4:
                study.tell(trial, infeasible="too many layers")
            else:
                value = 0.1 if number == 8 else 0.9 - 0.05 * number
                for step in range(1, 11):
                    trial.report(step, accuracy=value * step / (step + 1))
                    if trial.should_stop():
                        study.tell(trial)
                        break
                else:
                    study.tell(trial, {"accuracy": value, "seconds": 9})
        cancelled = study.enqueue({"lr": 0.02, "layers": 5, "optimizer": "adam"})
        study.enqueue({"lr": 0.01, "layers": 4, "optimizer": "adam"})

        def run(*words):
            return subprocess.run([sys.argv[1], *words, "--store", store], capture_output=True, text=True, check=True).stdout

        run("trial", "stop", "digits", str(cancelled.number))
        (HERE / "vernier.jsonl").write_text(run("study", "export", "digits"))
        said = [{"state": t["state"], "point": t["parameters"], "final": t.get("final_metrics", {})}
                for t in json.loads(run("trial", "list", "digits", "-o", "json"))]
        (HERE / "vernier.json").write_text(json.dumps({"trials": said}, indent=1) + "\n")


if __name__ == "__main__":
    main()
