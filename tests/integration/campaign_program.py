#!/usr/bin/env python3
"""The program of trials in crash_campaign.py: computes a known function, reports it step by step, and keeps a journal.

The journal of a trial is one file of JSON lines, written by single appends: `start` and `end` of every run with the process
and its birth, `overlap` where another run of the trial lives that must not, `reporting` and `acknowledged` of every
`vernier report`, `unreported` of what could not be written.
"""

import argparse
import json
import os
import pathlib
import resource
import subprocess
import sys
import time

KILL_PENDING = 1 << 8  # SIGKILL in the masks of /proc/PID/status.


def score(x, kind, step, steps):
    """What a trial reports at a step; at the last step its result."""
    return (2 - (x - 0.3) ** 2 + (0.25 if kind == "b" else 0)) * step / steps


def fails(number, attempt, how):
    """How the chief of a trial ends before its last step, if its study wants that: None, "exit" or "abort"."""
    if how == "failing" and number % 4 == 0:
        return "exit"
    return "abort" if how == "failing" and number % 3 == 0 and attempt == 1 else None


def is_long(x, how):
    """Whether a trial never ends by itself."""
    return how == "long" and x > 0.6


def birth(process):
    """When the process started, in ticks since boot; None if it has ended or is about to."""
    try:
        stat = pathlib.Path(f"/proc/{process}/stat").read_text().rsplit(")", 1)[1].split()
        status = dict(line.split(":", 1) for line in pathlib.Path(f"/proc/{process}/status").read_text().splitlines())
    except (OSError, IndexError):
        return None
    is_dying = any(int(status.get(mask, "0"), 16) & KILL_PENDING for mask in ("SigPnd", "ShdPnd"))
    return None if stat[0] in "ZX" or is_dying else int(stat[19])


class Journal:
    def __init__(self, path):
        self.path = path
        self.replica = pathlib.Path(os.environ["VERNIER_REPLICA_DIRECTORY"]).name
        self.attempt = int(os.environ["VERNIER_ATTEMPT"])

    def write(self, event, **more):
        line = json.dumps({"event": event, "at": time.clock_gettime(time.CLOCK_BOOTTIME), "attempt": self.attempt,
                           "replica": self.replica, "process": os.getpid(), **more})
        file = os.open(self.path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        os.write(file, line.encode() + b"\n")
        os.close(file)

    def begin(self):
        """Two runs that begin at once both write first, so that at least one of them sees the other."""
        boot = pathlib.Path("/proc/sys/kernel/random/boot_id").read_text().strip()
        self.write("start", born=birth(os.getpid()), boot=boot)
        for line in self.path.read_text().splitlines():
            other = json.loads(line)
            if other["event"] != "start" or other["process"] == os.getpid() or other["boot"] != boot:
                continue
            is_rival = other["replica"] == self.replica or other["attempt"] != self.attempt
            if is_rival and birth(other["process"]) == other["born"]:
                self.write("overlap", other=other)


def print_score(journal, step, value):
    print(f"step={step} score={value!r}", flush=True)


def write_score(journal, step, value):
    """As cloudml-hypertune does, but never waits for a reader."""
    line = json.dumps({"timestamp": time.time(), "trial": "0", "score": value, "global_step": step})
    try:
        flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_NONBLOCK
        file = os.open(os.environ["CLOUD_ML_HP_METRIC_FILE"], flags, 0o600)
        written = os.write(file, line.encode() + b"\n")
        os.close(file)
        if written != len(line) + 1:
            journal.write("unreported", step=step, error="the disk is full")
    except OSError as error:
        journal.write("unreported", step=step, error=str(error))


def report_score(journal, step, value):
    journal.write("reporting", step=step, value=value)
    done = subprocess.run(["vernier", "report", f"score={value!r}", "--step", str(step), "--wait", "60s"],
                          stderr=subprocess.PIPE, text=True, check=False)
    if done.returncode == 0:
        journal.write("acknowledged", step=step, value=value)
    elif done.returncode == 3:
        journal.write("told", step=step, said=done.stderr)
        sys.exit(0)
    else:
        journal.write("unreported", step=step, error=f"exit {done.returncode}: {done.stderr}")


WAYS = {"print": print_score, "file": write_score, "report": report_score}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--x", type=float)
    parser.add_argument("--kind")
    parser.add_argument("--way", choices=WAYS)
    parser.add_argument("--how", default="well", choices=["well", "failing", "long"])
    parser.add_argument("--steps", type=int)
    parser.add_argument("--pause", type=float)
    parser.add_argument("--journal", type=pathlib.Path)
    args = parser.parse_args()
    number = int(os.environ["VERNIER_TRIAL"])
    journal = Journal(args.journal / f"{os.environ['VERNIER_STUDY']}.{number}")
    journal.begin()
    is_chief = journal.replica == "chief-0"
    end = fails(number, journal.attempt, args.how)
    for step in range(1, args.steps + 1):
        time.sleep(args.pause)
        if is_chief and end and step == args.steps:
            resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
            os.abort() if end == "abort" else sys.exit(1)
        if is_chief:
            WAYS[args.way](journal, step, score(args.x, args.kind, step, args.steps))
    while is_chief and is_long(args.x, args.how):
        time.sleep(60)
    journal.write("end")


if __name__ == "__main__":
    main()
