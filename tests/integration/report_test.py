#!/usr/bin/env python3
"""Programs of trials that report by `vernier report`: under a daemon, under `vernier run`, through a daemon's death, told to
stop, and as somebody else, which nobody may.   usage: report_test.py BIN_DIR
"""

import hashlib
import json
import os
import pathlib
import re
import shutil
import struct
import subprocess
import sys
import tempfile
import time

from daemon import Daemon, wait_until

STUDY = """\
study: {name}
objective: {{maximize: accuracy}}
parameters: {{x: {{float: [0, 1]}}}}
algorithm: random
budget: {{trials: {trials}}}
job:
  command: [sh, {program}, {folder}]
"""

# Three steps, a metric that is no number, and one step that the server counts.
STEPS = """\
for step in 1 2 3; do
  vernier report accuracy=0.$step loss=nan --step $step --elapsed $step || exit 9
done
vernier report accuracy=0.75 || exit 9
"""

# Goes on until it is told to stop, however often it is asked to end.
UNTIL_STOPPED = """\
trap '' TERM
step=0
while :; do
  step=$((step + 1))
  vernier report accuracy=0.5 --step $step 2> $1/said
  status=$?
  if [ $status != 0 ]; then echo $status > $1/status; exit 0; fi
  touch $1/reported
done
"""

# Forty reports, whatever becomes of the daemon meanwhile.
FORTY = """\
for step in $(seq 40); do
  vernier report accuracy=0.$step --step $step || { echo "step $step: $?" >> $1/failed; exit 9; }
  echo $step > $1/step
done
"""

# Its first attempt leaves its identity behind and crashes; the second waits until it has been tried.
TWO_ATTEMPTS = """\
env | grep ^VERNIER_ > $1/env-$VERNIER_ATTEMPT.new
mv $1/env-$VERNIER_ATTEMPT.new $1/env-$VERNIER_ATTEMPT
vernier report accuracy=0.$VERNIER_ATTEMPT --step $VERNIER_ATTEMPT || exit 9
if [ $VERNIER_ATTEMPT = 1 ]; then kill -SEGV $$; fi
while [ ! -e $1/tried ]; do sleep 0.05; done
"""


def write_study(folder, name, program, trials=1):
    (folder / f"{name}.sh").write_text(program)
    study = folder / f"{name}.yaml"
    study.write_text(STUDY.format(name=name, trials=trials, program=folder / f"{name}.sh", folder=folder))
    return study


def report(bin_dir, environment, *words):
    """Exit status and standard error of `vernier report` under these variables."""
    plain = {name: value for name, value in os.environ.items() if not name.startswith("VERNIER_")}
    done = subprocess.run([bin_dir / "vernier", "report", *words], env={**plain, **environment}, capture_output=True,
                          text=True, timeout=60, check=False)
    return done.returncode, done.stderr


def read_environment(path):
    wait_until(path.exists, f"{path.name} did not come")
    return dict(line.split("=", 1) for line in path.read_text().splitlines())


def steps_are_stored(daemon, folder):
    daemon.call("study", "create", write_study(folder, "steps", STEPS))
    study = daemon.wait_for_study("steps")
    assert study["state"] == "COMPLETED", study
    measurements = daemon.json("trial", "metrics", "steps", 1)
    assert [m["step"] for m in measurements] == [1, 2, 3, 4], measurements
    assert {m["source"] for m in measurements} == {"report"}, measurements
    assert [m["elapsed"] for m in measurements[:3]] == ["1s", "2s", "3s"], measurements
    assert measurements[0]["metrics"] == {"accuracy": 0.1, "loss": "NaN"}, measurements
    trial = daemon.json("trial", "show", "steps", 1)
    assert trial["final_metrics"]["accuracy"] == 0.75, trial


def the_stop_is_told(daemon, folder):
    daemon.call("study", "create", write_study(folder, "stopped", UNTIL_STOPPED))
    wait_until((folder / "reported").exists, "nothing was reported")
    daemon.call("trial", "stop", "stopped", 1, "--reason", "seen enough")
    daemon.wait_for_study("stopped")
    assert (folder / "status").read_text() == "3\n", (folder / "status").read_text()
    assert (folder / "said").read_text() == "vernier: stop: seen enough\n", (folder / "said").read_text()
    assert daemon.json("trial", "show", "stopped", 1)["state"] == "COMPLETED"


def a_restart_loses_nothing(daemon, folder):
    daemon.call("study", "create", write_study(folder, "forty", FORTY))
    step = folder / "step"
    wait_until(lambda: step.exists() and int(step.read_text() or 0) >= 5, "it does not report")
    daemon.kill()
    time.sleep(1)  # It is away while the next report is made.
    daemon.start()
    study = daemon.wait_for_study("forty")
    assert not (folder / "failed").exists(), (folder / "failed").read_text()
    assert study["state"] == "COMPLETED", study
    steps = [m["step"] for m in daemon.json("trial", "metrics", "forty", 1)]
    assert steps == list(range(1, 41)), steps


def nobody_speaks_for_another(daemon, folder, bin_dir):
    daemon.call("study", "create", write_study(folder, "fenced", TWO_ATTEMPTS))
    first = read_environment(folder / "env-1")
    second = read_environment(folder / "env-2")
    wait_until(lambda: daemon.json("trial", "show", "fenced", 1)["measurement_count"] == 2, "attempt 2 does not report")
    address = first["VERNIER_ADDRESS"].removeprefix("unix:")
    assert os.stat(address).st_mode & 0o777 == 0o600 and len(address) < 108, address

    code, said = report(bin_dir, first, "accuracy=0.99", "--step", "9")
    assert code == 5 and "attempt 2 took its place" in said, (code, said)
    other = {**second, "VERNIER_TRIAL_NAME": "studies/steps/trials/1"}
    code, said = report(bin_dir, other, "accuracy=0.99")
    assert code == 5 and "not a token of trial 1" in said, (code, said)
    code, said = report(bin_dir, {**second, "VERNIER_TOKEN": "2-" + "0" * 64}, "accuracy=0.99")
    assert code == 5 and "not a token" in said, (code, said)
    code, said = report(bin_dir, {**second, "VERNIER_TRIAL_NAME": "studies/none/trials/1"}, "accuracy=0.99")
    assert code == 3 and "none" in said, (code, said)
    # The socket takes reports, and nothing else.
    listed = subprocess.run([bin_dir / "vernier", "--server", "unix:" + address, "study", "list"], capture_output=True,
                            text=True, timeout=60, check=False)
    assert listed.returncode != 0 and "fenced" not in listed.stdout, listed
    code, said = report(bin_dir, second, "accuracy=0.9", "--step", "3")
    assert (code, said) == (0, ""), (code, said)
    (folder / "tried").touch()
    assert daemon.wait_for_study("fenced")["state"] == "COMPLETED"
    code, said = report(bin_dir, second, "accuracy=0.9", "--step", "4")
    assert code == 3 and "COMPLETED" in said, (code, said)

    shown = "".join(daemon.call("-o", form, *words) for form in ("table", "json")
                    for words in (("trial", "show", "fenced", 1), ("trial", "logs", "fenced", 1), ("study", "show", "fenced")))
    shown += daemon.call("study", "export", "fenced") + daemon.log.read_text() + daemon.greeting
    secret = re.compile(r"\b[0-9a-f]{64}\b")
    assert first["VERNIER_TOKEN"] not in shown and second["VERNIER_TOKEN"] not in shown
    assert not secret.search(shown), secret.search(shown)


def short_folder(runs):
    """Where the socket of such a folder of runs is, whose own path is too long for one."""
    text = f"{runs}/.report/socket".encode()
    digest = hashlib.sha256(struct.pack("=Q", len(text)) + text).hexdigest()
    return pathlib.Path(f"/tmp/vernier-{os.geteuid()}-{digest[:16]}")


def without_a_daemon(bin_dir, folder):
    study = write_study(folder, "alone", STEPS, trials=3)
    plain = {**os.environ, "VERNIER_SERVER": ""}
    deep = folder / ("d" * 60) / ("e" * 60)  # Where the path of a socket would be too long.
    deep.mkdir(parents=True)
    for store in (folder / "alone.db", deep / "alone.db"):
        words = [bin_dir / "vernier", "--store", store]
        done = subprocess.run([*words, "run", study], capture_output=True, text=True, timeout=120, env=plain, check=False)
        assert done.returncode == 0, done
        trials = json.loads(subprocess.run([*words, "-o", "json", "trial", "list", "alone"], capture_output=True,
                                           text=True, timeout=60, check=True).stdout)
        assert [t["final_metrics"]["accuracy"] for t in trials] == [0.75] * 3, trials
    shutil.rmtree(short_folder(deep / "alone.db.runs"))


def with_nobody_there(bin_dir, folder):
    nobody = {"VERNIER_ADDRESS": f"unix:{folder}/nobody", "VERNIER_TRIAL_NAME": "studies/s/trials/1", "VERNIER_TOKEN": "1-a"}
    begun = time.monotonic()
    code, said = report(bin_dir, nobody, "accuracy=1", "--wait", "1s")
    assert code == 6 and "not reported" in said, (code, said)
    assert time.monotonic() - begun < 10
    code, said = report(bin_dir, nobody, "accuracy=1", "--wait", "0s")
    assert code == 6, (code, said)


def main():
    bin_dir = pathlib.Path(sys.argv[1]).resolve()
    with tempfile.TemporaryDirectory(prefix="vernier-report-") as name:
        folder = pathlib.Path(name)
        with_nobody_there(bin_dir, folder)
        daemon = Daemon(bin_dir, folder)
        daemon.start()
        try:
            steps_are_stored(daemon, folder)
            the_stop_is_told(daemon, folder)
            a_restart_loses_nothing(daemon, folder)
            nobody_speaks_for_another(daemon, folder, bin_dir)
        finally:
            daemon.stop_with_trials()
        without_a_daemon(bin_dir, folder)


if __name__ == "__main__":
    main()
