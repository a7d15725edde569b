#!/usr/bin/env python3
"""Tunes real distributed programs as users of AI Platform Training do, by `jobs submit training` and a configuration file:
TensorFlow's MultiWorkerMirroredStrategy and ParameterServerStrategy with an evaluator, PyTorch's DistributedDataParallel,
and one replica of scikit-learn; their package needs another one, which pip installs.

All replicas must have taken part, the metric must have come in, and nobody be left who never ends by itself. A worker is
killed in one trial of each strategy of TensorFlow: the collective one is run again and goes on from its backup, the
asynchronous one goes on without it and takes it back, and outlives the daemon.   usage: strategies_test.py SOURCE_DIR BIN_DIR
"""

import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import time

from daemon import Daemon, kill_program, left_over, running, wait_until

# The server's CPUs are declared, not real, so that no program gets a small part of one.
SERVER = """\
host: {{cpus: 64, memory: 256GiB, fitting: scaled, gpus: [{gpus}]}}
runtimes:
  default: {{python: /usr/bin/python3}}
  "1.15": {{python: /usr/bin/python3}}
  "2.15": {{python: {tensorflow}}}
"""

ROLES = {
    "worker": "workerType: n1-standard-4\n  workerCount: {}",
    "ps": "parameterServerType: n1-standard-4\n  parameterServerCount: {}",
    "evaluator": "evaluatorType: n1-standard-4\n  evaluatorCount: {}",
}

TUNING = """\
  hyperparameters:
    goal: {goal}
    hyperparameterMetricTag: {metric}
    maxTrials: 2
    params:
    - {{parameterName: {parameter}, type: DOUBLE, minValue: {low}, maxValue: {high}, scaleType: UNIT_LOG_SCALE}}
"""

# The GPU document's job, whose flags say the same as its file.
THIRTEEN = """\
trainingInput:
  scaleTier: CUSTOM
  masterType: n1-highcpu-16
  masterConfig: {acceleratorConfig: {count: 4, type: NVIDIA_TESLA_T4}}
  workerCount: 9
  workerType: n1-highcpu-16
  workerConfig: {acceleratorConfig: {count: 4, type: NVIDIA_TESLA_T4}}
  parameterServerCount: 3
  parameterServerType: n1-highmem-8
"""


class Jobs:
    def __init__(self, daemon, source):
        self.daemon, self.folder = daemon, daemon.folder
        shutil.copytree(source / "tests/integration/strategies", self.folder / "package")

    def submit(self, name, module, config, *words, runtime=None):
        (self.folder / f"{name}.yaml").write_text(config)
        runtime = ["--runtime-version", runtime] if runtime else []
        self.daemon.call("jobs", "submit", "training", name, "--config", self.folder / f"{name}.yaml", "--package-path",
                         self.folder / "package/trainer", "--module-name", f"trainer.{module}", *runtime, *words)

    def output(self, name, trial, role=None, index=0, attempt=1):
        replica = ["--role", role, "--index", index] if role else []
        return self.daemon.call("trial", "logs", name, trial, *replica, "--attempt", attempt)

    def log(self, name, trial, role, attempt=1):
        return self.folder / f"vernier.db.runs/{name}/trial-{trial}/attempt-{attempt}/{role}/output.log"

    def await_line(self, words, *log):
        """In the file itself: asking the daemon again and again would take the programs' time."""
        wait_until(lambda: self.log(*log).exists() and words in self.log(*log).read_text(), f"{log}: no '{words}'", 300)

    def kill(self, name, trial, role):
        runs = self.folder / "vernier.db.runs" / name / f"trial-{trial}"
        [(replica, process)] = running(runs, role).items()
        assert kill_program(process, replica), f"{role} had ended"

    def finish(self, name, trials):
        """The trials of the job, which has succeeded and left nothing."""
        study = self.daemon.wait_for_study(name, 400)
        shown = [self.daemon.json("trial", "show", name, number + 1) for number in range(trials)]
        assert study["state"] == "COMPLETED", (study, shown, self.logs_of(name))
        assert [trial["state"] for trial in shown] == ["COMPLETED"] * trials, shown
        job = self.daemon.json("jobs", "describe", name)
        assert job["state"] == "SUCCEEDED", job
        wait_until(lambda: not left_over(self.folder), f"{name} left processes behind", pause=0.5)
        return shown, job

    def logs_of(self, name):
        logs = self.folder.glob(f"vernier.db.runs/{name}/*/*/*/output.log")
        return "\n".join(f"{log}\n{log.read_text()[-2000:]}" for log in logs)


def tuning(parameter, low, high, metric="accuracy", goal="MAXIMIZE", **counts):
    if not counts:
        text = "trainingInput:\n  scaleTier: BASIC\n"
    else:
        roles = "".join(f"  {ROLES[role].format(count)}\n" for role, count in counts.items())
        text = f"trainingInput:\n  scaleTier: CUSTOM\n  masterType: n1-standard-4\n{roles}"
    return text + TUNING.format(parameter=parameter, low=low, high=high, metric=metric, goal=goal)


def exits(attempt):
    """How each replica ended, by role and index, and how often it was started again."""
    ends = {}
    for replica in attempt["replicas"]:
        end = f"signal {replica['signal']}" if "signal" in replica else f"exit {replica.get('exit_code')}"
        ends[replica["role"], replica.get("index", 0)] = (end, replica.get("restarts", 0))
    return ends


def check_metrics(job, trials, parameter, metric="accuracy"):
    """Every trial has its value, and the programs were given what the job says was tried."""
    output = job["trainingOutput"]
    assert output["completedTrialCount"] == str(len(trials)), output
    for trial in output["trials"]:
        assert 0 <= trial["finalMetric"]["objectiveValue"] <= (1 if metric == "accuracy" else 100), trial
        assert parameter in trial["hyperparameters"], trial
    return {trial["trialId"]: float(trial["hyperparameters"][parameter]) for trial in output["trials"]}


def test_single(jobs):
    jobs.submit("single", "single", tuning("alpha", 1e-5, 1e-2))
    trials, job = jobs.finish("single", 2)
    check_metrics(job, trials, "alpha")
    assert all(trial["finalMetric"]["objectiveValue"] > 0.8 for trial in job["trainingOutput"]["trials"]), job
    for number in (1, 2):
        said = jobs.output("single", number)
        # What pip installed, not what the host may have.
        assert f"alone: ['chief'], 1, hypertune from {jobs.folder}/vernier.db.runs/.environments/" in said, said


def test_data_parallel(jobs):
    """A runtime below 2.0: the primary is `master`."""
    jobs.submit("data_parallel", "data_parallel",
                tuning("lr", 0.05, 0.2, metric="loss", goal="MINIMIZE", worker=2), runtime="1.15")
    trials, job = jobs.finish("data_parallel", 2)
    tried = check_metrics(job, trials, "lr", metric="loss")
    for number, trial in enumerate(trials, start=1):
        for rank, (role, index) in enumerate([("master", 0), ("worker", 0), ("worker", 1)]):
            said = jobs.output("data_parallel", number, role, index)
            expected = f"{role} {index} of trial {number} is {rank} of 3, together 111, lr={tried[str(number)]}"
            assert expected in said, (expected, said)
        assert exits(trial["attempts"][0])["master", 0] == ("exit 0", 0), trial


def check_told(jobs, name, trials, tried, cluster, replicas):
    """Each replica had the trial's number, its values, and the cluster without the evaluator."""
    for number, trial in enumerate(trials, start=1):
        assert len(trial["attempts"][-1]["replicas"]) == len(replicas), trial
        for role, index in replicas:
            said = jobs.output(name, number, role, index, attempt=len(trial["attempts"]))
            expected = f"{role} {index} of trial {number}: lr={tried[str(number)]} width=8 devices= cluster={cluster}"
            assert expected in said, (expected, said)


def test_multi_worker(jobs):
    out = jobs.folder / "out-mirrored"
    jobs.submit("mirrored", "multi_worker", tuning("lr", 0.05, 0.5, worker=2, evaluator=1), "--job-dir", out, "--",
                "--epochs", 3, "--hold-trial", 2, runtime="2.15")
    jobs.await_line("begins epoch 2", "mirrored", 2, "chief-0")
    jobs.kill("mirrored", 2, "worker-1")
    (out / "2" / "go").touch()
    trials, job = jobs.finish("mirrored", 2)
    replicas = [("chief", 0), ("worker", 0), ("worker", 1), ("evaluator", 0)]
    check_told(jobs, "mirrored", trials, check_metrics(job, trials, "lr"), "['chief', 'worker']", replicas)
    for number, trial in enumerate(trials, start=1):
        last = len(trial["attempts"])
        for role, index in replicas[:-1]:
            assert "3 in sync, together 111" in jobs.output("mirrored", number, role, index, attempt=last)
        ends = exits(trial["attempts"][-1])
        assert ends["chief", 0] == ("exit 0", 0), ends
        assert ends["evaluator", 0][0] == "signal 15", ends
        assert trial["final_metrics"]["accuracy"] > 0.5, trial
    lost, won = trials[1]["attempts"]
    assert (len(trials[0]["attempts"]), lost["failure"]) == (1, "PREEMPTED"), trials
    assert lost["message"].startswith("The replica worker 1 exited with a non-zero status of 9(SIGKILL)"), lost
    assert won["state"] == "SUCCEEDED", won
    begun = re.findall(r"begins epoch (\d)", jobs.output("mirrored", 2, "chief", attempt=2))
    assert begun == ["2", "3"], begun  # Keras had made its backup after the first.


def test_parameter_server(jobs):
    out = jobs.folder / "out-ps"
    jobs.submit("ps", "parameter_server", tuning("lr", 0.05, 0.5, worker=2, ps=1, evaluator=1), "--job-dir", out, "--",
                "--epochs", 3, "--hold-trial", 2, runtime="2.15")
    (out / "2").mkdir(parents=True)
    for worker in ("worker-0", "worker-1"):
        jobs.await_line("takes a step", "ps", 2, worker)
    jobs.kill("ps", 2, "worker-0")
    log = jobs.log("ps", 2, "worker-1")
    steps = log.read_text().count("takes a step")
    # The other goes on without it, and it comes back to the same address.
    wait_until(lambda: log.read_text().count("takes a step") > steps + 10, "the other worker stopped")
    log = jobs.log("ps", 2, "worker-0")
    wait_until(lambda: "takes a step" in (log.read_text().split("[vernier] restart 1 of 5") + [""])[1],
               "the worker that was killed did not come back", 120)
    jobs.daemon.kill()
    jobs.daemon.start("--config", jobs.folder / "server.yaml")
    (out / "2" / "go").touch()
    trials, job = jobs.finish("ps", 2)
    replicas = [("chief", 0), ("worker", 0), ("worker", 1), ("ps", 0), ("evaluator", 0)]
    check_told(jobs, "ps", trials, check_metrics(job, trials, "lr"), "['chief', 'ps', 'worker']", replicas)
    for number, trial in enumerate(trials, start=1):
        for worker in (0, 1):
            assert "takes a step" in jobs.output("ps", number, "worker", worker)
        ends = exits(trial["attempts"][0])
        assert ends.pop(("chief", 0)) == ("exit 0", 0), trial
        assert {end for end, _ in ends.values()} == {"signal 15"}, ends  # None ends by itself.
        restarts = {replica: count for replica, (_, count) in ends.items() if count}
        assert restarts == ({("worker", 0): 1} if number == 2 else {}), restarts
        assert len(trial["attempts"]) == 1, trial


def test_thirteen(jobs):
    """The GPU document's 13 replicas with 40 devices, as a real asynchronous job."""
    jobs.submit("thirteen", "parameter_server", THIRTEEN, "--job-dir", jobs.folder / "out-13", "--", "--epochs", 5,
                runtime="2.15")
    [trial], _ = jobs.finish("thirteen", 1)
    replicas = trial["attempts"][0]["replicas"]
    assert len(replicas) == 13, replicas
    devices = []
    for replica in replicas:
        said = jobs.output("thirteen", 1, replica["role"], replica.get("index", 0))
        [seen] = re.findall(r"devices=(\S*) cluster=\['chief', 'ps', 'worker'\]", said)
        devices += [device for device in seen.split(",") if device]
        assert len(seen.split(",")) == (1 if replica["role"] == "ps" else 4), said
        if replica["role"] == "worker":
            assert "takes a step" in said, said
    assert len(devices) == len(set(devices)) == 40, devices
    assert "weights on 3 parameter servers" in jobs.output("thirteen", 1, "chief"), trial


def main():
    source, bin_dir = (pathlib.Path(word).resolve() for word in sys.argv[1:3])
    tensorflow = subprocess.run([source / "scripts/lib/python_venv", "tensorflow"], check=True, capture_output=True,
                                text=True).stdout.strip()
    with tempfile.TemporaryDirectory(prefix="vernier-strategies-") as name:
        folder = pathlib.Path(name)
        (folder / "server.yaml").write_text(
            SERVER.format(tensorflow=tensorflow, gpus=", ".join(f"T4:t{i}" for i in range(40))))
        daemon = Daemon(bin_dir, folder)
        daemon.start("--config", folder / "server.yaml")
        try:
            jobs = Jobs(daemon, source)
            for test in (test_single, test_data_parallel, test_multi_worker, test_parameter_server, test_thirteen):
                begun = time.monotonic()
                test(jobs)
                print(f"{test.__name__}: {time.monotonic() - begun:.1f} s", flush=True)
        finally:
            daemon.stop_with_trials()


if __name__ == "__main__":
    main()
