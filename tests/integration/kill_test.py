#!/usr/bin/env python3
"""Kills the daemon at random moments of one study with real processes, and restarts it.

Afterwards: every replica of every attempt was started exactly once, no trial is lost, the budget is exact, and every
suggestion can be recomputed from the log.   usage: kill_test.py BIN_DIR [--kills N] [--seed N]
"""

import argparse
import collections
import pathlib
import random
import sys
import tempfile
import time

from daemon import Daemon

TRAINER = """\
#!/bin/sh
# Writes down that it was started, reports a few values, ends.
echo "$VERNIER_TRIAL $VERNIER_ATTEMPT $1" >> "$2"
for step in 1 2 3 4; do
  echo "step=$step accuracy=0.$(( (VERNIER_TRIAL * 7 + step) % 10 ))"
  sleep 0.1
done
"""

STUDY = """\
study: killed
objective: {{maximize: accuracy}}
parameters:
  x: {{float: [0, 1]}}
  kind: {{categorical: [a, b]}}
algorithm: {algorithm}
stopping: none
parallel: 3
budget: {{trials: {trials}}}
seed: 11
metrics: {{accuracy: {{regex: 'accuracy=([0-9.]+)'}}}}
job:
  command: [/bin/sh, {trainer}]
  replicas:
    chief: {{count: 1, cpus: 0.1, args: [chief, {record}]}}
    worker: {{count: 1, cpus: 0.1, args: [worker, {record}]}}
"""


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("bin_dir", type=pathlib.Path)
    parser.add_argument("--kills", type=int, default=30)
    parser.add_argument("--trials", type=int, default=36)
    parser.add_argument("--seed", type=int, default=3)
    parser.add_argument("--algorithm", default="gp")
    args = parser.parse_args()
    chance = random.Random(args.seed)

    with tempfile.TemporaryDirectory(prefix="vernier-kill-") as name:
        folder = pathlib.Path(name)
        trainer, record = folder / "trainer.sh", folder / "started.txt"
        trainer.write_text(TRAINER)
        (folder / "study.yaml").write_text(STUDY.format(
            trainer=trainer, record=record, trials=args.trials, algorithm=args.algorithm))
        daemon = Daemon(args.bin_dir, folder)
        daemon.start()
        daemon.call("study", "create", folder / "study.yaml")
        kills = 0
        while kills < args.kills:
            time.sleep(chance.uniform(0.02, 0.7))
            daemon.kill()
            kills += 1
            daemon.start()
        study = daemon.wait_for_study("killed")
        trials = daemon.json("trial", "list", "killed")
        replay = daemon.call("study", "replay", "killed", "--verify", "--strict")
        daemon.stop()
        check(args, study, trials, record.read_text().split("\n")[:-1])
    print(f"{kills} kills, {len(trials)} trials, seed {args.seed}; replay: {replay.strip().splitlines()[-1]}")


def check(args, study, trials, started):
    problems = []
    if study["state"] != "COMPLETED":
        problems.append(f"the study is {study['state']}: {study.get('reason')}")
    if [t["number"] for t in trials] != list(range(1, args.trials + 1)):
        problems.append(f"trials are {[t['number'] for t in trials]}")
    for trial in trials:
        if trial["state"] != "COMPLETED":
            problems.append(f"trial {trial['number']} is {trial['state']}: {trial.get('message')}")
        if len(trial["attempts"]) != 1:
            problems.append(f"trial {trial['number']} has {len(trial['attempts'])} attempts")
        if trial["measurement_count"] != 4:
            problems.append(f"trial {trial['number']} has {trial['measurement_count']} measurements instead of 4")
    counts = collections.Counter(started)
    expected = {f"{n} 1 {role}" for n in range(1, args.trials + 1) for role in ("chief", "worker")}
    problems += [f"'{line}' was started {count} times" for line, count in counts.items() if count != 1]
    problems += [f"'{line}' was never started" for line in expected - set(counts)]
    if problems:
        sys.exit("\n".join(problems))


if __name__ == "__main__":
    main()
