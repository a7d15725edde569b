#!/usr/bin/env python3
"""Stops a real gang of three replicas early: every process is down within two seconds of the verdict, the trial keeps its
last value and says why it was stopped, and the freed room runs the next trial.   usage: early_stop_test.py BIN_DIR
"""

import datetime
import json
import os
import pathlib
import sys
import tempfile

from command import vernier

# Good trials end by themselves after six reports; a bad one would go on for minutes. Workers ignore nothing and do nothing.
TRAINER = """\
import os, pathlib, sys, time
role, folder = sys.argv[1], pathlib.Path(sys.argv[2])
trial = int(os.environ["VERNIER_TRIAL"])
(folder / f"{trial}-{role}-{os.environ.get('RANK')}.pid").write_text(str(os.getpid()))
if role != "chief":
    time.sleep(300)
while len(list(folder.glob(f"{trial}-*.pid"))) < 3:  # A gang trains together.
    time.sleep(0.01)
for step in range(1, 7 if trial != 6 else 3000):
    print(f"accuracy={0.9 if trial != 6 else 0.1}", flush=True)
    time.sleep(0.05 if trial != 6 else 0.1)
"""

STUDY = """\
study: stopped
objective: {{maximize: accuracy}}
parameters: {{x: {{float: [0, 1]}}}}
algorithm: random
stopping: median
budget: {{trials: 7}}
metrics: {{accuracy: {{regex: 'accuracy=([0-9.]+)'}}}}
job:
  command: [/usr/bin/python3, {trainer}]
  replicas:
    chief: {{count: 1, args: [chief, {folder}]}}
    worker: {{count: 2, args: [worker, {folder}]}}
"""


def seconds(text):
    return datetime.datetime.fromisoformat(text[:26].rstrip("Z") + "+00:00").timestamp()


def is_alive(pid):
    try:
        return pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except FileNotFoundError:
        return False


def main():
    bin_dir = pathlib.Path(sys.argv[1])
    with tempfile.TemporaryDirectory(prefix="vernier-stop-") as name:
        folder = pathlib.Path(name)
        (folder / "trainer.py").write_text(TRAINER)
        (folder / "study.yaml").write_text(STUDY.format(trainer=folder / "trainer.py", folder=folder))
        vernier(bin_dir, folder, "run", str(folder / "study.yaml"), "--cpus", "3")  # Room for one gang.
        trials = json.loads(vernier(bin_dir, folder, "trial", "list", "stopped", "-o", "json"))
        events = [json.loads(line) for line in vernier(bin_dir, folder, "study", "export", "stopped").splitlines()]
        why = vernier(bin_dir, folder, "trial", "why", "stopped", "6")
        replay = vernier(bin_dir, folder, "study", "replay", "stopped", "--verify", "--strict")
        alive = [p.name for p in folder.glob("*.pid") if is_alive(int(p.read_text()))]
        started = sorted(p.name for p in folder.glob("6-*.pid"))

    assert [t["state"] for t in trials] == ["COMPLETED"] * 7, trials
    stopped = trials[5]
    assert stopped["stop"]["rule"] == "median" and stopped["final_metrics"] == {"accuracy": 0.1}, stopped
    assert all("stop" not in t for t in trials if t["number"] != 6), trials
    assert len(started) == 3, started
    assert not alive, f"still running: {alive}"
    assert "median" in why and "0.9" in why, why

    verdict = next(e for e in events if e["kind"] == "stop_decided")
    down = next(e for e in events if e["trial"] == 6 and e["kind"] == "attempt_state_changed"
                and e["payload"]["to"] == "STOPPED")
    took = seconds(down["time"]) - seconds(verdict["time"])
    assert took < 2, f"the gang was down {took:.2f} s after the verdict"
    following = next(e for e in events if e["trial"] == 7 and e["kind"] == "attempt_placed")
    waited = seconds(following["time"]) - seconds(down["time"])
    assert waited < 1, f"the freed room was used after {waited:.2f} s"
    print(f"3 replicas down {took:.2f} s after the verdict, the next trial placed {waited:.2f} s later; {replay.strip()}")


if __name__ == "__main__":
    main()
