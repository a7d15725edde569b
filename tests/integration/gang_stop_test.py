#!/usr/bin/env python3
"""A stop by a rule reaches every replica of a gang within two seconds of the measurement that was judged.

The gangs have a chief, two workers, a parameter server and an evaluator. Each program notes when it gets SIGTERM. The good
trials end by themselves; the poor ones would go on for minutes. Checked: the delay of each signal, the results of the stopped
trials, and what `trial list`, `trial show` and `trial why` say of them.   usage: gang_stop_test.py BIN_DIR
"""

import json
import pathlib
import sys
import tempfile

from command import vernier

REPLICAS = ["chief-0", "evaluator-0", "ps-0", "worker-0", "worker-1"]
POOR = [3, 4]
MOST_SECONDS = 2.0

# Times are CLOCK_MONOTONIC, which is the same in all processes of a host. The handler is there before a program counts as
# ready, and the chief trains only once all are ready.
TRAINER = """\
import json, os, pathlib, signal, sys, time
folder, trial = pathlib.Path(sys.argv[1]), int(os.environ["VERNIER_TRIAL"])
task = json.loads(os.environ["TF_CONFIG"])["task"]
name = f"{trial}-{task['type']}-{task['index']}"
def end(*_):
    (folder / f"{name}.signal").write_text(str(time.monotonic()))
    sys.exit(0)
signal.signal(signal.SIGTERM, end)
(folder / f"{name}.ready").touch()
while task["type"] != "chief":
    time.sleep(60)
while len(list(folder.glob(f"{trial}-*.ready"))) < 5:
    time.sleep(0.01)
poor = trial in (3, 4)
for step in range(1, 3000 if poor else 7):
    accuracy = (0.1 if poor else 0.9) + step / 10000
    (folder / f"{trial}-step-{step}").write_text(str(time.monotonic()))
    print(f"epoch={step} accuracy={accuracy:.4f}", flush=True)
    time.sleep(0.05)
"""

STUDY = """\
study: gangs
objective: {{maximize: accuracy}}
parameters: {{x: {{float: [0, 1]}}}}
algorithm: random
stopping: {{rule: {rule}, min_trials: 2, min_steps: 3}}
budget: {{trials: 5}}
job:
  command: [/usr/bin/python3, {folder}/trainer.py, {folder}]
  replicas: {{chief: 1, worker: 2, ps: 1, evaluator: 1}}
"""


def check_delays(folder, trial, judged_step):
    """The longest time from the judged measurement to the signal of a replica."""
    printed = float((folder / f"{trial}-step-{judged_step}").read_text())
    delays = {path.stem.partition("-")[2]: float(path.read_text()) - printed for path in folder.glob(f"{trial}-*.signal")}
    assert sorted(delays) == REPLICAS, f"trial {trial}: SIGTERM reached {sorted(delays)} only"
    late = {replica: delay for replica, delay in delays.items() if delay > MOST_SECONDS}
    assert not late, f"trial {trial}: SIGTERM came late: {late}"
    return max(delays.values())


def check_stopped(bin_dir, folder, trial, rule, events):
    number = trial["number"]
    of_trial = [e for e in events if e.get("trial") == number]
    measurements = [e["payload"]["measurement"] for e in of_trial if e["kind"] == "measurement_reported"]
    assert trial["state"] == "COMPLETED" and trial["stop"]["rule"] == rule, trial
    assert trial["final_metrics"] == measurements[-1]["metrics"], (trial, measurements[-1])
    assert trial["final_metrics"]["accuracy"] < 0.5, trial
    reason = trial["stop"]["explanation"]
    assert reason and "finished trials" in reason, trial
    for command in ("show", "why"):
        text = vernier(bin_dir, folder, "trial", command, "gangs", str(number))
        assert f"STOPPED at step {measurements[-1]['step']}" in text, text
        assert f"{rule} version" in text and text.count(reason) == 1, text
    judged = next(e["payload"]["stop"]["as_of"] for e in of_trial if e["kind"] == "stop_decided")
    return next(e["payload"]["measurement"]["step"] for e in of_trial if e["seq"] == judged)


def check(bin_dir, folder, rule):
    (folder / "trainer.py").write_text(TRAINER)
    (folder / "study.yaml").write_text(STUDY.format(folder=folder, rule=rule))
    vernier(bin_dir, folder, "run", str(folder / "study.yaml"), "--cpus", "5")  # Room for one gang.
    trials = json.loads(vernier(bin_dir, folder, "trial", "list", "gangs", "-o", "json"))
    events = [json.loads(line) for line in vernier(bin_dir, folder, "study", "export", "gangs").splitlines()]
    table = vernier(bin_dir, folder, "trial", "list", "gangs")

    assert [t["state"] for t in trials] == ["COMPLETED"] * 5, trials
    assert [t["number"] for t in trials if "stop" in t] == POOR, trials
    longest = 0.0
    for number in POOR:
        judged_step = check_stopped(bin_dir, folder, trials[number - 1], rule, events)
        longest = max(longest, check_delays(folder, number, judged_step))
    assert table.count("STOPPED") == len(POOR), table
    return longest


def main():
    bin_dir = pathlib.Path(sys.argv[1])
    for rule in ("median", "percentile"):
        with tempfile.TemporaryDirectory(prefix="vernier-gang-stop-") as name:
            longest = check(bin_dir, pathlib.Path(name), rule)
        print(f"{rule}: SIGTERM reached all replicas of two gangs within {longest:.2f} s of the judged measurement")


if __name__ == "__main__":
    main()
