#!/usr/bin/env python3
"""Studies that other tools wrote, imported by the command line: into a store, and into the store of a daemon.

What Optuna, Vizier and Ray say of their studies, written by the scripts in tests/import/data, is what is here afterwards.
A study that is imported can be shown, plotted, computed again and started from. An import that is killed leaves nothing that
could be taken for a whole study.
usage: import_test.py SOURCE_DIR BIN_DIR
"""

import json
import pathlib
import random
import signal
import subprocess
import sys
import tempfile
import time

from command import vernier
from daemon import Daemon

DATA = pathlib.Path(sys.argv[1]) / "tests" / "import" / "data"
BIN = pathlib.Path(sys.argv[2])
STATES = {"COMPLETE": "COMPLETED", "PRUNED": "COMPLETED", "FAIL": "FAILED", "WAITING": "REQUESTED", "RUNNING": "REQUESTED"}


def check(condition, what):
    if not condition:
        sys.exit(f"failed: {what}")


def trials_of(folder, study):
    return json.loads(vernier(BIN, folder, "trial", "list", study, "-o", "json"))


def check_optuna(folder, file):
    name = f"from-{file.replace('.', '-')}"
    vernier(BIN, folder, "study", "import", DATA / file, "--study", "digits", "--name", name)
    said = json.loads((DATA / "optuna.json").read_text())[file]["digits"]
    complete = [t for t in said["trials"] if t["state"] == "COMPLETE"]
    here = trials_of(folder, name)
    there = sorted(t["values"][0] for t in complete)
    values = sorted(t["final_metrics"]["value"] for t in here if t["state"] == "COMPLETED" and "stop" not in t)
    check(values == there, f"{file}: values {values}, Optuna says {there}")
    best = json.loads(vernier(BIN, folder, "trial", "show", name, "best", "-o", "json"))
    check(best["final_metrics"]["value"] == max(there), f"{file}: best {best}")
    params = said["trials"][said["best"]]["params"]
    check(best["parameters"]["lr"] == params["lr"], f"{file}: lr of {best}")
    stopped = [t for t in here if "stop" in t]
    check(len(stopped) == sum(t["state"] == "PRUNED" for t in said["trials"]), f"{file}: {len(stopped)} stopped")
    failed = [t for t in here if t["state"] == "FAILED"]
    check(len(failed) == sum(t["state"] == "FAIL" for t in said["trials"]), f"{file}: {len(failed)} failed")
    curve = json.loads(vernier(BIN, folder, "trial", "metrics", name, "best", "-o", "json"))
    check([m["metrics"]["value"] for m in curve] == list(said["trials"][said["best"]]["curve"].values()), f"{file}: {curve}")
    return name


def check_used(folder, name):
    shown = vernier(BIN, folder, "study", "show", name)
    check("best" in shown, shown)
    check("<svg" in svg(folder, name), "plot history")
    vernier(BIN, folder, "study", "replay", name, "--verify")
    file = folder / "warm.yaml"
    definition = vernier(BIN, folder, "study", "show", name, "--as-file")
    file.write_text(definition.replace(f"study: {name}", "study: warm") + f"warm_start: [{name}]\n")
    vernier(BIN, folder, "study", "create", file)
    check(f"warm start  {name}" in vernier(BIN, folder, "study", "show", "warm"), "warm start")


def svg(folder, name):
    vernier(BIN, folder, "plot", "history", name, "--svg", folder / "history.svg")
    return (folder / "history.svg").read_text()


def check_others(folder):
    vernier(BIN, folder, "study", "import", DATA / "vizier.db", "--name", "from-vizier")
    said = json.loads((DATA / "vizier.json").read_text())
    best = json.loads(vernier(BIN, folder, "trial", "show", "from-vizier", "best", "-o", "json"))
    check([best["number"]] == [str(n) for n in said["best"]] or [int(best["number"])] == said["best"], f"Vizier: {best}")
    vernier(BIN, folder, "study", "import", DATA / "ray", "--name", "from-ray", "--objective", "maximize:accuracy")
    said = json.loads((DATA / "ray.json").read_text())
    best = json.loads(vernier(BIN, folder, "trial", "show", "from-ray", "best", "-o", "json"))
    values = [t["metrics"]["accuracy"] for t in said["trials"] if not t["failed"]]
    check(best["final_metrics"]["accuracy"] == max(values), f"Ray: {best}")


def check_killed(folder):
    """Kills imports of a table that takes several calls, at any moment."""
    table = folder / "large.csv"
    rows = (f"{i / 25000},{(i % 977) / 977}" for i in range(25000))
    table.write_text("x,loss\n" + "\n".join(rows) + "\n")
    words = [BIN / "vernier", "study", "import", table, "--parameters", "x", "--objective", "minimize:loss",
             "--store", folder / "vernier.db"]
    begun = time.monotonic()
    subprocess.run([*words, "--name", "timed"], check=True, stdout=subprocess.DEVNULL)
    lasts = time.monotonic() - begun
    for seed in range(5):
        process = subprocess.Popen([*words, "--name", "large"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        time.sleep(random.Random(seed).uniform(0.05, lasts))
        process.send_signal(signal.SIGKILL)
        process.wait()
        studies = {s["name"].removeprefix("studies/"): s for s in
                   json.loads(vernier(BIN, folder, "study", "list", "-o", "json"))}
        if "large" in studies:
            is_whole = int(studies["large"].get("trial_count", 0)) == 25000
            is_marked = "import-unfinished" in studies["large"]["spec"].get("labels", {})
            check(is_whole or is_marked, f"seed {seed}: {studies['large']}")
            if not is_marked:
                vernier(BIN, folder, "study", "delete", "large", "--yes")
    done = subprocess.run([*words, "--name", "large"], capture_output=True, text=True)
    check(done.returncode == 0 and "25000 trials (25000 completed)" in done.stdout, done)
    shown = json.loads(vernier(BIN, folder, "study", "show", "large", "-o", "json"))
    check(not shown["spec"].get("labels"), f"the label is left: {shown['spec']}")


def main():
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        for file in ("optuna.db", "optuna.log"):
            name = check_optuna(folder, file)
        check_used(folder, name)
        check_others(folder)
        check_killed(folder)
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        daemon = Daemon(BIN, folder)
        daemon.start()
        check_optuna(folder, "optuna.db")
        daemon.stop()
    print("import: ok")


main()
