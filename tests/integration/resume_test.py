#!/usr/bin/env python3
"""Kills the trainer of examples/resume twice: it is started again in the same attempt, with the same --job-dir, and its
step count goes on from the checkpoint.   usage: resume_test.py SOURCE_DIR BIN_DIR
"""

import pathlib
import re
import sys
import tempfile

from daemon import Daemon, kill_program, running, wait_until

STUDY = """\
study: resumed
objective: {{minimize: loss}}
parameters: {{lr: {{float: [0.05, 0.2]}}}}
algorithm: random
budget: {{trials: 1}}
metrics: {{loss: {{regex: 'step=(?P<step>\\d+) loss=([0-9.]+)'}}}}
job:
  command: [/usr/bin/python3, {trainer}, --steps, "300", --pause, "0.01"]
  replicas: {{chief: {{count: 1, cpus: 0.1}}}}
  dir: {folder}/jobs
"""
KILLS = 2


def main():
    source, bin_dir = (pathlib.Path(word).resolve() for word in sys.argv[1:])
    with tempfile.TemporaryDirectory(prefix="vernier-resume-") as name:
        folder = pathlib.Path(name)
        trainer = source / "examples" / "resume" / "train.py"
        (folder / "study.yaml").write_text(STUDY.format(trainer=trainer, folder=folder))
        daemon = Daemon(bin_dir, folder)
        daemon.start()
        daemon.call("study", "create", folder / "study.yaml")
        for kill in range(1, KILLS + 1):
            wait_until(lambda: f"step={50 * kill} " in logs(daemon), f"step {50 * kill} was not reached")
            [(replica, process)] = running(folder, "chief-0").items()
            assert kill_program(process, replica), "the trainer had ended"
            wait_until(lambda: logs(daemon).count("starts at step") == kill + 1, "the trainer was not started again")
        study = daemon.wait_for_study("resumed")
        trial = daemon.json("trial", "show", "resumed", "1")
        check(study, trial, logs(daemon))
        daemon.call("study", "best", "resumed", "--export", folder / "best")
        written, copied = ({p.name: p.read_bytes() for p in (folder / d).iterdir()} for d in ("jobs/1", "best"))
        assert copied == written and copied, (sorted(copied), sorted(written))
        daemon.stop()
    print(f"{KILLS} kills, {trial['measurement_count']} measurements")


def logs(daemon):
    return daemon.call("trial", "logs", "resumed", "1") if daemon.json("trial", "list", "resumed") else ""


def check(study, trial, text):
    assert study["state"] == "COMPLETED", study
    assert len(trial["attempts"]) == 1, trial["attempts"]
    [replica] = trial["attempts"][0]["replicas"]
    assert replica["restarts"] == KILLS, replica
    starts = [int(step) for step in re.findall(r"starts at step (\d+)", text)]
    assert starts[0] == 0 and starts[1] >= 40 and starts[2] >= 90, starts
    steps = [int(step) for step in re.findall(r"step=(\d+) loss", text)]
    assert steps == list(range(10, 301, 10)), steps  # Each once: none was done, or reported, again.


if __name__ == "__main__":
    main()
