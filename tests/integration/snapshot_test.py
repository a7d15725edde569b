#!/usr/bin/env python3
"""What was submitted is what runs: of a package and of `code`, whatever becomes of the files afterwards.

Jobs and studies are submitted from a folder whose files are edited while trials wait and run, and which is removed before
the last of them starts. Checked besides: what the server cannot reach is refused, the lines of the service in a job's log,
and the times of programs that ended while nobody looked.
usage: snapshot_test.py BIN_DIR
"""

import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time

from daemon import Daemon, wait_until

# Says which code it is and where it runs, waits until it is let go, and leaves a file where it runs.
TASK = '''\
import argparse, os, pathlib, time
CODE = "A"
parser = argparse.ArgumentParser()
parser.add_argument("--gate", required=True)
parser.add_argument("--x", type=float, default=0)
parser.add_argument("--job-dir", default="")
args = parser.parse_args()
trial = os.environ.get("CLOUD_ML_TRIAL_ID", "1")
gate = pathlib.Path(args.gate)
assert not pathlib.Path("left").exists(), os.listdir(".")
pathlib.Path("left").touch()
if args.job_dir:
    (pathlib.Path(args.job_dir) / "model").write_text(CODE)
(gate / f"there-{trial}").write_text(os.getcwd())
while not (gate / f"go-{trial}").exists():
    time.sleep(0.02)
print(f"code={CODE} loss={args.x}", flush=True)
'''

TUNING = """\
trainingInput:
  hyperparameters:
    goal: MINIMIZE
    hyperparameterMetricTag: loss
    maxTrials: 3
    maxParallelTrials: 1
    params:
    - {parameterName: x, type: DOUBLE, minValue: 0, maxValue: 1}
"""

STUDY = """\
study: NAME
parameters: {x: {float: [0, 1]}}
objective: {minimize: loss}
algorithm: random
parallel: 1
budget: {trials: 3}
job:
  code: .
  working_dir: src
  command: [python3, -B, task.py, --gate, GATE]
"""


def edit(path):
    path.write_text(path.read_text().replace('CODE = "A"', 'CODE = "B"'))


def run_trials(gate, edited, away):
    """Lets three trials go one after another; the files are edited while the first runs, and gone before the last."""
    folders = []
    for trial in (1, 2, 3):
        there = gate / f"there-{trial}"
        wait_until(there.exists, f"trial {trial} did not start")
        wait_until(lambda there=there: there.read_text(), "it did not say where it runs")
        folders.append(there.read_text())
        if trial == 1:
            edit(edited)
        if trial == 2:
            shutil.rmtree(away)
        (gate / f"go-{trial}").touch()
    assert len(set(folders)) == 3, folders
    return folders


def codes(daemon, study):
    lines = [json.loads(line)["text"] for trial in (1, 2, 3)
             for line in daemon.call("-o", "jsonl", "trial", "logs", study, trial).splitlines()]
    return [line.split()[0] for line in lines if line.startswith("code=")]


def make_package(folder):
    package = folder / "trainer"
    package.mkdir(parents=True)
    (package / "__init__.py").touch()
    (package / "task.py").write_text(TASK)
    return package


def test_package(daemon, root):
    home, gate = root / "home", root / "gate"
    gate.mkdir()
    package = make_package(home)
    (home / "config.yaml").write_text(TUNING)
    submit = [daemon.bin_dir / "vernier", "--store", daemon.store, "jobs", "submit", "training", "pkg", "--package-path",
              "trainer", "--module-name", "trainer.task", "--config", "config.yaml", "--job-dir", "../out", "--",
              "--gate", gate]
    subprocess.run(submit, cwd=home, check=True, capture_output=True, timeout=60)
    folders = run_trials(gate, package / "task.py", home)
    assert all("/chief-0/work" in folder for folder in folders), folders
    assert daemon.wait_for_study("pkg")["state"] == "COMPLETED"
    assert codes(daemon, "pkg") == ["code=A"] * 3, codes(daemon, "pkg")
    assert [(root / "out" / str(trial) / "model").read_text() for trial in (1, 2, 3)] == ["A"] * 3


def test_service_log(daemon):
    """After the one above."""
    lines = [json.loads(line) for line in
             daemon.call("jobs", "stream-logs", "pkg", "--task-name", "service", "--format", "json").splitlines()]
    texts = [line["text"] for line in lines]
    for text in ("The job was checked and accepted.", "Its programs run.", "The trial completed.",
                 "The job completed: budget of 3 trials spent"):
        assert text in texts, (text, texts)
    assert any(text.startswith("Waiting: installing its packages") for text in texts) or any(
        "Successfully installed" in text for text in texts), texts
    assert any("chief 0 on 127.0.0.1:" in text for text in texts), texts
    assert {line.get("trial") for line in lines} == {None, 1, 2, 3}, lines
    assert {line["task"] for line in lines} == {"service"}, lines
    job = daemon.json("jobs", "describe", "pkg")
    assert job["etag"], job


def test_code(daemon, root):
    home, gate = root / "tree", root / "gate2"
    gate.mkdir()
    (home / "src").mkdir(parents=True)
    (home / "src" / "task.py").write_text(TASK)
    (home / "data").mkdir()
    (home / "data" / "large").write_text("x" * 1000)
    (home / ".vernierignore").write_text("data/\n")
    (home / "study.yaml").write_text(STUDY.replace("GATE", str(gate)).replace("NAME", "code"))
    subprocess.run([daemon.bin_dir / "vernier", "--store", daemon.store, "study", "create", home / "study.yaml"], cwd="/",
                   check=True, capture_output=True, timeout=60)
    stored = daemon.json("study", "show", "code")["spec"]["job"]["code"]
    assert len(stored["sha256"]) == 64 and stored["sha256"] in stored["archive"], stored
    folders = run_trials(gate, home / "src" / "task.py", home)
    assert all(folder.endswith("/chief-0/work/src") for folder in folders), folders
    assert not (pathlib.Path(folders[0]).parent / "data").exists()
    assert daemon.wait_for_study("code")["state"] == "COMPLETED"
    assert codes(daemon, "code") == ["code=A"] * 3, codes(daemon, "code")


def test_amended_code(daemon, root):
    """An update sends the files anew: trials that start from then on run them, and no other."""
    home, gate = root / "tree3", root / "gate3"
    gate.mkdir()
    (home / "src").mkdir(parents=True)
    (home / "src" / "task.py").write_text(TASK)
    (home / "study.yaml").write_text(STUDY.replace("GATE", str(gate)).replace("NAME", "amended"))
    create = [daemon.bin_dir / "vernier", "--store", daemon.store, "study", "create", home / "study.yaml"]
    subprocess.run(create, check=True, capture_output=True, timeout=60)
    wait_until((gate / "there-1").exists, "trial 1 did not start")
    again = subprocess.run(create + ["--update"], check=True, capture_output=True, text=True, timeout=60)
    assert "did not change" in again.stdout and "amended" not in again.stdout.replace("'amended'", ""), again.stdout
    edit(home / "src" / "task.py")
    changed = subprocess.run(create + ["--update"], check=True, capture_output=True, text=True, timeout=60)
    assert "job.code.sha256" in changed.stdout and "as it was amended" not in changed.stdout, changed.stdout
    for trial in (1, 2, 3):
        (gate / f"go-{trial}").touch()
    assert daemon.wait_for_study("amended")["state"] == "COMPLETED"
    assert codes(daemon, "amended") == ["code=A", "code=B", "code=B"], codes(daemon, "amended")


def test_out_of_reach(daemon, root):
    def refused(name, text, expected):
        path = root / f"{name}.yaml"
        path.write_text(text)
        result = subprocess.run([daemon.bin_dir / "vernier", "--store", daemon.store, "study", "create", path],
                                capture_output=True, text=True, check=False, timeout=60)
        assert result.returncode != 0 and expected in result.stderr, (result.returncode, result.stderr)
        listed = [study["name"] for study in daemon.json("study", "list")]
        assert f"studies/{name}" not in listed and name not in listed, listed

    head = "parameters: {x: {float: [0, 1]}}\nobjective: {minimize: loss}\nbudget: {trials: 1}\n"
    refused("gone", f"study: gone\n{head}job: {{command: [train], working_dir: /nowhere/at/all}}\n",
            "job.working_dir: '/nowhere/at/all' is no folder on the server's host")
    refused("package", f"study: package\n{head}job: {{python: {{module: a.b, packages: [./x.tar.gz]}}}}\n",
            "x.tar.gz' is not there on the server's host")
    refused("code2", f"study: code2\n{head}job: {{command: [train], code: nowhere}}\n", "nowhere' is no folder")
    refused("both", f"study: both\n{head}job: {{command: [train], code: ., working_dir: /tmp}}\n",
            "job.working_dir: must be below the folder of job.code, got '/tmp'")


def test_program_times(daemon, root):
    """A program that ends while the daemon is away: its times are its own, and it did not use more than there is."""
    path = root / "times.yaml"
    path.write_text("study: times\nparameters: {x: {float: [0, 1]}}\nobjective: {minimize: loss}\nbudget: {trials: 1}\n"
                    "job: {command: \"sh -c 'echo there; sleep 1; echo loss=1'\", replicas: {chief: {cpus: 1}}}\n")
    daemon.call("study", "create", path)
    running = wait_until(lambda: [trial for trial in daemon.json("trial", "list", "times")
                                  if trial["state"] == "RUNNING"], "it did not start")
    assert running
    daemon.kill()
    time.sleep(3)
    daemon.start()
    daemon.wait_for_study("times")
    trial = daemon.json("trial", "show", "times", 1)
    start, end = (daemon_time(trial[key]) for key in ("start_time", "end_time"))
    assert 0.9 < end - start < 2.5, (start, end)
    attempt = trial["attempts"][0]
    assert (attempt["start_time"], attempt["end_time"]) == (trial["start_time"], trial["end_time"]), attempt


def daemon_time(text):
    whole, _, fraction = text.rstrip("Z").partition(".")
    return time.mktime(time.strptime(whole, "%Y-%m-%dT%H:%M:%S")) + float("0." + (fraction or "0"))


def main():
    bin_dir = pathlib.Path(sys.argv[1]).resolve()
    with tempfile.TemporaryDirectory() as folder:
        root = pathlib.Path(os.path.realpath(folder))
        daemon = Daemon(bin_dir, root)
        os.chdir(root)
        daemon.start("--cpus", "4")
        try:
            test_package(daemon, root)
            test_service_log(daemon)
            test_code(daemon, root)
            test_amended_code(daemon, root)
            test_out_of_reach(daemon, root)
            test_program_times(daemon, root)
        finally:
            daemon.stop_with_trials()
    print("ok")


if __name__ == "__main__":
    main()
