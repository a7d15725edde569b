#!/usr/bin/env python3
"""Ctrl-C during `vernier run`, on a study whose trials end when they are told to.

Once: no new trial starts, the command waits for the one that runs, the study is paused. Twice: the command leaves at once
and says how to go on; the trial goes on, was started once, and the next run takes it up and finishes the study. While the disk is too full to start
trials, the command says so and can be left. A command whose store was moved away ends, and goes on once the store is back.
usage: interrupt_test.py BIN_DIR
"""

import json
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import threading
import time

PATIENCE = 30
AT_ONCE = 5  # Far below the minutes that a trial may take; above what a busy machine takes to stop a server.

TRAINER = """\
#!/bin/sh
echo $$ >> "$1/started-$VERNIER_TRIAL"
while [ -d "$1" ] && [ ! -e "$1/end-$VERNIER_TRIAL" ]; do sleep 0.05; done
echo "score=$VERNIER_TRIAL"
"""

STUDY = """\
study: patient
objective: {{maximize: score}}
parameters: {{x: {{int: [1, 9]}}}}
algorithm: grid
parallel: 1
budget: {{trials: 3}}
metrics: {{score: {{regex: 'score=([0-9.]+)'}}}}
job:
  command: [/bin/sh, {folder}/trainer.sh, {folder}]
  replicas: {{chief: {{count: 1, cpus: 0.1}}}}
"""


class Run:
    """`vernier run` as a terminal runs it: a process group of its own, which Ctrl-C reaches as a whole."""

    def __init__(self, bin_dir, folder, store=None, flags=()):
        self.command = [bin_dir / "vernier", "run", folder / "study.yaml", "--store", store or folder / "vernier.db", *flags]
        self.process = subprocess.Popen(self.command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                                        start_new_session=True)
        self.lines = []
        self.reader = threading.Thread(target=self.read, daemon=True)
        self.reader.start()

    def read(self):
        for line in self.process.stdout:
            self.lines.append(line)

    def text(self):
        return "".join(self.lines)

    def interrupt(self):
        os.killpg(self.process.pid, signal.SIGINT)

    def wait_for(self, text):
        wait_until(lambda: text in self.text(), f"'{text}' in the output", self.text)

    def end(self, patience):
        try:
            code = self.process.wait(patience)
        except subprocess.TimeoutExpired:
            self.process.kill()
            sys.exit(f"still there after {patience} s:\n{self.text()}")
        self.reader.join(PATIENCE)
        return code


def wait_until(condition, what, context=lambda: ""):
    deadline = time.monotonic() + PATIENCE
    while not condition():
        if time.monotonic() > deadline:
            sys.exit(f"no {what} within {PATIENCE} s\n{context()}")
        time.sleep(0.02)


def ask(bin_dir, folder, *words):
    done = subprocess.run([bin_dir / "vernier", *words, "-o", "json", "--store", folder / "vernier.db"],
                          capture_output=True, text=True, timeout=PATIENCE)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def starts(folder, trial):
    file = folder / f"started-{trial}"
    return file.read_text().split() if file.exists() else []


def is_alive(pid):
    try:
        return pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except FileNotFoundError:
        return False


def check_once(bin_dir, folder):
    run = Run(bin_dir, folder)
    wait_until(lambda: starts(folder, 1), "start of trial 1", run.text)
    run.interrupt()
    run.wait_for("waiting for 1 trial to end")
    assert run.process.poll() is None, run.text()
    (folder / "end-1").touch()
    code = run.end(PATIENCE)
    assert code == 130, (code, run.text())
    assert run.lines[-1] == f"`vernier run {folder}/study.yaml --store {folder}/vernier.db` continues the study\n", run.text()
    study = ask(bin_dir, folder, "study", "show", "patient")
    assert study["state"] == "PAUSED" and study["trial_count"] == 1, study
    assert ask(bin_dir, folder, "trial", "show", "patient", "1")["state"] == "COMPLETED"


def check_twice(bin_dir, folder):
    run = Run(bin_dir, folder)
    wait_until(lambda: starts(folder, 2), "start of trial 2", run.text)
    run.interrupt()
    run.wait_for("waiting for 1 trial to end")
    run.interrupt()
    code = run.end(AT_ONCE)
    assert code == 130, (code, run.text())
    expected = f"`vernier run {folder}/study.yaml --store {folder}/vernier.db` continues the study."
    assert "leaving; 1 trial goes on" in run.text() and expected in run.text(), run.text()
    pid, = starts(folder, 2)
    assert is_alive(pid), "Ctrl-C reached the program"
    assert ask(bin_dir, folder, "study", "show", "patient")["state"] == "PAUSED"


def check_going_on(bin_dir, folder):
    (folder / "end-2").touch()  # It ends while nobody looks.
    wait_until(lambda: not is_alive(starts(folder, 2)[0]), "end of trial 2")
    (folder / "end-3").touch()
    run = Run(bin_dir, folder)
    code = run.end(PATIENCE)
    assert code == 0, (code, run.text())
    trials = ask(bin_dir, folder, "trial", "list", "patient")
    assert [t["final_metrics"] for t in trials] == [{"score": n} for n in (1, 2, 3)], trials
    assert [len(starts(folder, n)) for n in (1, 2, 3)] == [1, 1, 1]


def check_held(bin_dir, folder):
    """No trial starts, since the disk has less than the reserve: the command says so, and can be left."""
    run = Run(bin_dir, folder, folder / "held.db", ["--disk-reserve", "900TiB"])
    run.wait_for("waiting: the disk of the ")
    assert run.text().count("waiting: ") == 1, run.text()
    run.interrupt()
    assert run.end(PATIENCE) == 130, run.text()


def check_store_gone(bin_dir, folder):
    """Nothing can be stored any more: the command does not wait for ever. Its trial was started once."""
    own = folder / "gone"
    own.mkdir()
    (own / "trainer.sh").write_text(TRAINER)
    (own / "study.yaml").write_text(STUDY.format(folder=own))
    for trial in (2, 3):
        (own / f"end-{trial}").touch()
    run = Run(bin_dir, own)
    wait_until(lambda: starts(own, 1), "start of trial 1", run.text)
    (own / "vernier.db").rename(own / "elsewhere.db")
    (own / "end-1").touch()  # Its end cannot be stored.
    code = run.end(PATIENCE)
    assert code == 6 and "moved" in run.text() and "put the file back" in run.text(), (code, run.text())
    (own / "elsewhere.db").rename(own / "vernier.db")
    run = Run(bin_dir, own)
    code = run.end(PATIENCE)
    assert code == 0, (code, run.text())
    assert [len(starts(own, n)) for n in (1, 2, 3)] == [1, 1, 1], run.text()


def main():
    bin_dir = pathlib.Path(sys.argv[1])
    with tempfile.TemporaryDirectory(prefix="vernier-interrupt-") as name:
        folder = pathlib.Path(name)
        (folder / "trainer.sh").write_text(TRAINER)
        (folder / "study.yaml").write_text(STUDY.format(folder=folder))
        try:
            check_once(bin_dir, folder)
            check_twice(bin_dir, folder)
            check_going_on(bin_dir, folder)
            check_held(bin_dir, folder)
            check_store_gone(bin_dir, folder)
        finally:
            for trial in (1, 2, 3):
                (folder / f"end-{trial}").touch()
    print("one Ctrl-C waits, two leave at once, and the next run goes on")


if __name__ == "__main__":
    main()
