#!/usr/bin/env python3
"""Pauses real programs at the rungs of successive halving, kills the engine with SIGKILL in between, and expects that the best
trials went on from their checkpoints, each step done once.   usage: pausing_test.py BIN_DIR
"""

import json
import pathlib
import signal
import subprocess
import sys
import tempfile
import time

from command import vernier

STEPS = 9
TRIALS = 9

# A step takes 0.1 s. Each one is noted, and is in the checkpoint before its result is printed.
TRAINER = """\
import os, pathlib, sys, time
folder = pathlib.Path(sys.argv[1]); x = float(sys.argv[2])
trial = os.environ["VERNIER_TRIAL"]
checkpoint = folder / f"{trial}.checkpoint"
step = int(checkpoint.read_text()) if checkpoint.exists() else 0
while step < 9:
    time.sleep(0.1)
    step += 1
    with open(folder / f"{trial}.steps", "a") as steps:
        steps.write(f"{step}\\n")
    fresh = checkpoint.with_suffix(".new")
    fresh.write_text(str(step))
    fresh.replace(checkpoint)
    print(f"step={step} accuracy={x:.6f}", flush=True)
"""

STUDY = """\
study: paused
objective: {{maximize: accuracy}}
parameters: {{x: {{float: [0, 1]}}}}
algorithm: random
seed: 3
parallel: 2
stopping: {{rule: asha, type: promotion, reduction_factor: 3, min_resource: 1, max_resource: 9}}
budget: {{trials: 9}}
metrics: {{accuracy: {{regex: 'step=(?P<step>[0-9]+) accuracy=(?P<value>[0-9.]+)'}}}}
job:
  command: [/usr/bin/python3, {trainer}, {folder}, "{{x}}"]
  pausable: true
"""


def run_and_kill(bin_dir, folder, is_time):
    """Runs the study until `is_time()`, then kills the engine alone."""
    engine = subprocess.Popen([bin_dir / "vernier", "run", folder / "study.yaml", "--store", folder / "vernier.db"],
                              stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    deadline = time.monotonic() + 60
    while not is_time() and engine.poll() is None and time.monotonic() < deadline:
        time.sleep(0.02)
    was_running = engine.poll() is None
    engine.send_signal(signal.SIGKILL)
    engine.wait()
    return was_running


def main():
    bin_dir = pathlib.Path(sys.argv[1])
    with tempfile.TemporaryDirectory(prefix="vernier-pause-") as name:
        folder = pathlib.Path(name)
        (folder / "trainer.py").write_text(TRAINER)
        (folder / "study.yaml").write_text(STUDY.format(trainer=folder / "trainer.py", folder=folder))
        begun = lambda count: lambda: len(list(folder.glob("*.steps"))) >= count
        kills = [run_and_kill(bin_dir, folder, begun(3)), run_and_kill(bin_dir, folder, begun(6))]
        vernier(bin_dir, folder, "run", str(folder / "study.yaml"))
        trials = json.loads(vernier(bin_dir, folder, "trial", "list", "paused", "-o", "json"))
        events = [json.loads(line) for line in vernier(bin_dir, folder, "study", "export", "paused").splitlines()]
        vernier(bin_dir, folder, "study", "replay", "paused", "--verify", "--strict")
        done = {t["number"]: (folder / f"{t['number']}.steps").read_text().split() for t in trials}

    assert kills == [True, True], "the study ended before it could be killed"
    assert [t["state"] for t in trials] == ["COMPLETED"] * TRIALS, trials
    best = max(trials, key=lambda t: t["parameters"]["x"])
    assert "stop" not in best and done[best["number"]][-1] == str(STEPS), best
    assert len(best["attempts"]) >= 2, best["attempts"]
    for trial in trials:
        steps = [int(step) for step in done[trial["number"]]]
        assert steps == list(range(1, len(steps) + 1)), f"trial {trial['number']} did steps {steps}"
        assert ("stop" in trial) == (len(steps) < STEPS), (trial, steps)
    total = sum(len(steps) for steps in done.values())
    # Three rungs of 9, 3 and 1 trials take 21 steps; a program does some more before it is down.
    assert total < 0.75 * STEPS * TRIALS, total
    kinds = [e["kind"] for e in events]
    assert kinds.count("resume_decided") >= 1, kinds  # How many depends on which trials arrive first.
    paused = [e for e in events if e["kind"] == "trial_state_changed" and e["payload"]["to"] == "PAUSED"]
    assert len(paused) >= TRIALS - 1, len(paused)
    print(f"{len(paused)} pauses, {kinds.count('resume_decided')} resumptions, {total} of {STEPS * TRIALS} steps")


if __name__ == "__main__":
    main()
