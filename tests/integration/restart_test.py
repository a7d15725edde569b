#!/usr/bin/env python3
"""Kills workers, and the daemon in the middle of their restarts. Afterwards: every kill is one restart, in the records as
on the wire; chiefs went on; the budget is exact; commands that follow the study outlived the daemon. Then a gang of which one loss takes all: it is run again as a whole. Then a
program that is ended from outside whenever it runs: (1 + 5) x (1 + 3) runs, and no more.
usage: restart_test.py BIN_DIR [--seed N]
"""

import argparse
import collections
import json
import os
import pathlib
import random
import subprocess
import sys
import tempfile
import time

from daemon import Daemon, kill_program, running, wait_until

# The chief waits for the worker's word, the worker for the test's.
TRAINER = """\
#!/bin/sh
echo "$VERNIER_TRIAL $VERNIER_ATTEMPT $1 $TF_CONFIG $*" >> "$2/started"
if [ "$1" = worker ]; then
  while [ ! -e "$2/enough" ]; do sleep 0.02; done
  touch "$2/done-$VERNIER_TRIAL"
  exec sleep 1000
fi
n=0
while [ ! -e "$2/done-$VERNIER_TRIAL" ]; do n=$((n + 1)); echo "tick $n"; sleep 0.02; done
echo "accuracy=0.$VERNIER_TRIAL"
"""

# As collectives do: whoever loses its peer ends by a status of its own.
COLLECTIVE = """\
#!/bin/sh
echo "$VERNIER_ATTEMPT $1 $*" >> "$2/started"
if [ "$1" = worker ]; then
  [ -e "$2/lost" ] || { touch "$2/lost"; kill -KILL $$; }
  [ "$VERNIER_ATTEMPT" = 1 ] && { sleep 0.3; exit 1; }
  exec sleep 1000
fi
if [ "$VERNIER_ATTEMPT" = 1 ]; then until [ -e "$2/lost" ]; do sleep 0.02; done; sleep 0.2; exit 1; fi
echo accuracy=0.5
"""

DOOMED = """\
#!/bin/sh
[ "$1" = worker ] && exec sleep 1000
echo "$VERNIER_ATTEMPT" >> "$2/started"
kill -KILL $$
"""

STUDY = """\
study: {name}
objective: {{maximize: accuracy}}
parameters: {{x: {{float: [0, 1]}}}}
algorithm: random
parallel: 2
budget: {{trials: {trials}}}
metrics: {{accuracy: {{regex: 'accuracy=([0-9.]+)'}}}}
job:
  command: [/bin/sh, {trainer}]
  dir: {folder}/jobs
  replicas:
    chief: {{count: 1, cpus: 0.1, args: [chief, {folder}]}}
    worker: {{count: 1, cpus: 0.1, args: [worker, {folder}]}}
"""
KILLS = 7
TRIALS = 3


def create(daemon, folder, name, trainer, trials):
    (folder / f"{name}.sh").write_text(trainer)
    (folder / f"{name}.yaml").write_text(
        STUDY.format(name=name, trials=trials, trainer=folder / f"{name}.sh", folder=folder))
    daemon.call("study", "create", folder / f"{name}.yaml")


def kill_workers(daemon, folder, chance):
    """Kills KILLS runs of workers, each with the daemon beside it; returns how many of each replica."""
    kills = collections.Counter()
    while sum(kills.values()) < KILLS:
        def victim():
            # One that was killed too often would take its job down.
            found = [(r, p) for r, p in running(folder, "worker-0").items() if kills[r] < 4]
            return chance.choice(found) if found else None
        replica, process = wait_until(victim, "no worker runs")
        time.sleep(chance.uniform(0, 0.2))
        if kill_program(process, replica):
            kills[replica] += 1
            time.sleep(chance.uniform(0, 0.03))
            daemon.kill()
            daemon.start()
    return kills


class Follower:
    """A command that goes on until the study ends. What it shows goes to a file."""

    def __init__(self, daemon, place, words):
        self.words = words
        self.shown = tempfile.TemporaryFile("w+")
        self.process = subprocess.Popen([daemon.bin_dir / "vernier", *place, "-o", "jsonl", *words],
                                        stdout=self.shown, stderr=subprocess.PIPE, text=True)

    def has_begun(self):
        return "wait" in self.words or os.fstat(self.shown.fileno()).st_size > 0


def follow(daemon, *words):
    """By the address of the daemon and by its store."""
    places = [["--server", daemon.address], ["--store", daemon.store]]
    return [Follower(daemon, place, words) for place in places]


def await_followers(daemon, followers):
    """Until each has reached the daemon: one that comes to a dead daemon has nothing to outlive."""
    def connections():
        path = daemon.address.removeprefix("unix:")
        rows = [line.split() for line in pathlib.Path("/proc/net/unix").read_text().splitlines()]
        return sum(row[-1] == path and row[5] == "03" for row in rows)  # 03: connected.
    wait_until(lambda: connections() >= len(followers), "not all commands reached the daemon")
    wait_until(lambda: all(follower.has_begun() for follower in followers), "a command shows nothing")


def check_followers(followers):
    """They outlived the daemon, said so, and showed every event and every line once."""
    for follower in followers:
        _, complaint = follower.process.communicate(timeout=60)
        assert follower.process.returncode == 0, (follower.process.args, follower.process.returncode, complaint)
        assert complaint.count("; waiting for another one") == len(complaint.splitlines()) > 0, complaint
        follower.shown.seek(0)
        shown = [json.loads(line) for line in follower.shown]
        follower.shown.close()
        if "watch" in follower.words:
            assert [event["seq"] for event in shown] == list(range(1, len(shown) + 1)), shown
            assert shown[-1]["payload"]["to"] == "COMPLETED", shown[-1]
        if "logs" in follower.words:
            ticks = [int(line["text"].split()[1]) for line in shown if line["text"].startswith("tick ")]
            assert ticks == list(range(1, len(ticks) + 1)) and len(ticks) > 1, ticks


def check_restarts(daemon, folder, kills):
    study = daemon.wait_for_study("restarted")
    assert study["state"] == "COMPLETED", study
    trials = [daemon.json("trial", "show", "restarted", str(n)) for n in range(1, TRIALS + 1)]
    starts = (folder / "started").read_text().splitlines()
    for trial in trials:
        assert trial["state"] == "COMPLETED" and len(trial["attempts"]) == 1, trial
        [attempt] = trial["attempts"]
        restarts = {r["role"]: r.get("restarts", 0) for r in attempt["replicas"]}
        killed = kills[pathlib.Path(attempt["directory"]) / "worker-0"]
        assert restarts == {"chief": 0, "worker": killed}, (restarts, killed)
        for role, runs in (("chief", 1), ("worker", killed + 1)):
            lines = [line for line in starts if line.startswith(f"{trial['number']} 1 {role} ")]
            assert len(lines) == runs, (trial["number"], role, lines)
            assert len(set(lines)) == 1, lines  # The same address, arguments and job directory each time.
    assert len(daemon.json("trial", "list", "restarted")) == TRIALS


def check_collective(daemon, folder):
    (folder / "started").unlink()
    create(daemon, folder, "collective", COLLECTIVE, trials=1)
    study = daemon.wait_for_study("collective")
    trial = daemon.json("trial", "show", "collective", "1")
    assert study["state"] == "COMPLETED" and trial["state"] == "COMPLETED", trial
    states = [(a["state"], a.get("failure")) for a in trial["attempts"]]
    assert states[0] == ("FAILED", "PREEMPTED") and states[1][0] == "SUCCEEDED", trial["attempts"]
    assert trial["attempts"][0]["message"].startswith("The replica worker 0 exited"), trial["attempts"][0]
    starts = (folder / "started").read_text().splitlines()
    chiefs = [line.split(" ", 1)[1] for line in starts if " chief " in line]
    assert len(chiefs) == 2 and chiefs[0] == chiefs[1], starts


def check_doomed(daemon, folder):
    (folder / "started").unlink()
    create(daemon, folder, "doomed", DOOMED, trials=1)
    study = daemon.wait_for_study("doomed")
    trial = daemon.json("trial", "show", "doomed", "1")
    assert study["state"] == "FAILED" and trial["state"] == "FAILED", (study, trial)
    assert trial["failure"] == "PREEMPTED" and len(trial["attempts"]) == 4, trial
    assert (folder / "started").read_text().split() == [str(n) for n in range(1, 5) for _ in range(6)]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("bin_dir", type=pathlib.Path)
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="vernier-restart-") as name:
        folder = pathlib.Path(name)
        daemon = Daemon(args.bin_dir, folder)
        daemon.start()
        create(daemon, folder, "restarted", TRAINER, TRIALS)
        wait_until(lambda: running(folder, "chief-0"), "no chief runs")
        followers = [follower for words in (("study", "wait", "restarted"), ("study", "watch", "restarted"),
                                            ("trial", "logs", "restarted", "1", "--follow", "--role", "chief"))
                     for follower in follow(daemon, *words)]
        await_followers(daemon, followers)
        kills = kill_workers(daemon, folder, random.Random(args.seed))
        (folder / "enough").touch()
        check_followers(followers)
        check_restarts(daemon, folder, kills)
        check_collective(daemon, folder)
        check_doomed(daemon, folder)
        daemon.stop()
    print(f"{sum(kills.values())} kills of {len(kills)} workers, seed {args.seed}")


if __name__ == "__main__":
    main()
