#!/usr/bin/env python3
"""Runs training jobs in containers, by podman, as users of AI Platform Training do: a job of two replicas by flags, a tuning
job by a configuration file, a study file. Then what may go wrong: a trial that is stopped, one that does not listen, an
image that is nowhere, a program that is not in its image, too much memory, a daemon and a supervisor that are killed. After
each no container is left.

The image is made here, from a static busybox. Where podman or the right to run it is missing, the test says so and is
skipped.
usage: container_test.py BIN_DIR
"""

import argparse
import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile

from daemon import Daemon, wait_until

SKIPPED = 77
# What this host may need to run any container: a runtime for version 1 of control groups, and limits that a user without
# CAP_SYS_RESOURCE may set.
FRUGAL = """\
[containers]
default_ulimits = ["nofile=1024:1024", "nproc=1000:1000"]
[engine]
runtime = "runc"
"""

# The image's entry point. The chief reports, once the worker has been heard of.
ENTRY = """\
#!/bin/sh
role=$(echo "$TF_CONFIG" | sed 's/.*"type":"\\([a-z]*\\)".*/\\1/')
echo "role=$role args=$*"
echo "$TF_CONFIG" > "$OUT/$VERNIER_TRIAL-$role-tf_config"
echo "$CLUSTER_SPEC" > "$OUT/$VERNIER_TRIAL-$role-cluster_spec"
echo "$*" > "$OUT/$VERNIER_TRIAL-$role-args"
env > "$OUT/$VERNIER_TRIAL-$role-env"
[ "$role" = worker ] && exec sleep 1000
while [ ! -e "$OUT/$VERNIER_TRIAL-worker-args" ]; do sleep 0.05; done
[ -n "$CLOUD_ML_HP_METRIC_FILE" ] || exit 0
echo '{"timestamp": 1.0, "trial": "'$VERNIER_TRIAL'", "global_step": "3", "checkpoint_path": "", "accuracy": "0.75"}' \\
  > "$CLOUD_ML_HP_METRIC_FILE"
"""

TUNING = """\
trainingInput:
  scaleTier: CUSTOM
  masterType: n1-standard-4
  masterConfig: {imageUri: IMAGE, containerCommand: [/bin/sh, /entry], containerArgs: [--steps, "9"]}
  workerType: n1-standard-4
  workerCount: 1
  workerConfig: {containerArgs: [--work]}
  useChiefInTfConfig: true
  jobDir: OUT
  hyperparameters:
    goal: MAXIMIZE
    hyperparameterMetricTag: accuracy
    maxTrials: 2
    params:
    - {parameterName: lr, type: DOUBLE, minValue: 0.001, maxValue: 1.0, scaleType: UNIT_LOG_SCALE}
"""

STUDY = """\
study: NAME
objective: {maximize: accuracy}
parameters: {lr: {float: [0.001, 1], scale: log}}
algorithm: random
budget: {trials: 1, failed: 1}
metrics: {accuracy: {regex: 'accuracy=([0-9.]+)'}}
job:
  image: IMAGE
  command: [/bin/sh, -c, 'COMMAND']
  limits: {grace: 1s}
"""


class Podman:
    def __init__(self, folder):
        self.image = f"localhost/vernier-test-{os.getpid()}:1"
        self.folder = folder

    def run(self, *words):
        return subprocess.run(["podman", *words], capture_output=True, text=True, timeout=120, check=False)

    def build(self):
        """Why not; empty: the image is there, and can be run."""
        busybox = shutil.which("busybox")
        if not shutil.which("podman") or not busybox:
            return "podman or busybox is not installed"
        root = self.folder / "root"
        (root / "bin").mkdir(parents=True)
        (root / "tmp").mkdir()
        shutil.copy(busybox, root / "bin/busybox")
        for name in ("sh", "sleep", "sed", "env", "cat", "dd", "true", "ls", "head", "tail"):
            (root / "bin" / name).symlink_to("busybox")
        (root / "entry").write_text(ENTRY)
        (root / "entry").chmod(0o755)
        archive = self.folder / "root.tar"
        subprocess.run(["tar", "-C", root, "-cf", archive, "."], check=True)
        imported = self.run("import", "--change", 'ENTRYPOINT ["/bin/sh", "/entry"]', "--change", 'CMD ["--from-image"]',
                            str(archive), self.image)
        if imported.returncode != 0:
            return imported.stderr.strip()
        usual = self.try_out()
        if usual:
            (self.folder / "containers.conf").write_text(FRUGAL)
            os.environ["CONTAINERS_CONF"] = str(self.folder / "containers.conf")
            return self.try_out() and usual
        return ""

    def try_out(self):
        result = self.run("run", "--rm", "--network", "host", "--entrypoint", "/bin/true", self.image)
        return "" if result.returncode == 0 else result.stderr.strip() or "podman cannot run a container"

    def containers(self):
        """Of Vernier's replicas below our folder, ended or not."""
        listed = self.run("ps", "--all", "--format", '{{.Names}} {{index .Labels "vernier.replica"}}')
        return [line for line in listed.stdout.splitlines() if f" {self.folder}/" in line]

    def clean(self):
        for line in self.containers():
            self.run("rm", "--force", "--time", "0", line.split()[0])
        self.run("rmi", "--force", self.image)


class Test:
    def __init__(self, bin_dir, folder, podman):
        self.bin_dir, self.folder, self.podman = bin_dir, folder, podman
        self.out = folder / "out"
        self.daemon = Daemon(bin_dir, folder)
        self.configuration = folder / "server.yaml"
        self.configuration.write_text(f"containers: {{engine: podman, arguments: [--env, OUT={self.out}, "
                                      f"--volume, {self.out}:{self.out}]}}\n")

    def start(self):
        self.daemon.start("--config", self.configuration, "--fitting", "scaled")

    def clear(self):
        shutil.rmtree(self.out, ignore_errors=True)
        self.out.mkdir()

    def vernier(self, *words, code=0):
        result = subprocess.run([self.bin_dir / "vernier", "--store", self.daemon.store, *map(str, words)],
                                capture_output=True, text=True, timeout=120, check=False)
        assert result.returncode == code, (words, result.returncode, result.stdout, result.stderr)
        return result

    def submit(self, name, *flags):
        self.vernier("jobs", "submit", "training", name, *flags)
        return self.described(name, "SUCCEEDED")

    def described(self, name, state):
        def ended():
            job = json.loads(self.vernier("-o", "json", "jobs", "describe", name).stdout)
            return job if job["state"] in ("SUCCEEDED", "FAILED", "CANCELLED") else None
        job = wait_until(ended, f"job {name} did not end", 120)
        assert job["state"] == state, job
        self.no_container()
        return job

    def no_container(self):
        wait_until(lambda: not self.podman.containers(), "containers are left")

    def study(self, name, command, extra=""):
        path = self.folder / f"{name}.yaml"
        text = STUDY.replace("NAME", name).replace("IMAGE", self.podman.image).replace("COMMAND", command)
        path.write_text(text + extra)
        self.vernier("study", "create", path)

    def trial(self, name):
        return self.daemon.json("trial", "list", name)[0]

    def ended(self, name):
        self.daemon.wait_for_study(name)
        self.no_container()
        return self.trial(name)

    def heard(self, name):
        wait_until(lambda: (self.out / name).exists(), f"nothing of {name}")
        return (self.out / name).read_text()

    def read(self, name):
        return json.loads(self.heard(name))


def test_two_replicas(test):
    test.clear()
    test.submit("two", "--master-image-uri", test.podman.image, "--scale-tier", "custom", "--master-machine-type",
                "n1-standard-4", "--worker-machine-type", "n1-standard-4", "--worker-count", 1, "--", "--steps", 9)
    assert test.heard("1-master-args") == "--steps 9\n" and test.heard("1-worker-args") == "--steps 9\n"
    config = test.read("1-master-tf_config")
    assert set(config["cluster"]) == {"master", "worker"} and config["task"]["type"] == "master", config
    assert config["job"]["master_config"]["image_uri"] == test.podman.image, config
    assert set(test.read("1-worker-cluster_spec")["cluster"]) == {"master", "worker"}
    assert "role=worker" in test.vernier("jobs", "stream-logs", "two").stdout
    variables = test.heard("1-master-env")
    assert "CONTAINERS_CONF" not in variables and "CLOUD_ML_JOB_ID=two" in variables, variables


def test_own_arguments(test):
    test.clear()
    (test.out / "1-worker-args").touch()
    test.submit("plain", "--master-image-uri", test.podman.image)
    assert test.heard("1-master-args") == "--from-image\n", "the image's own arguments"


def test_tuning(test):
    test.clear()
    config = test.folder / "tuning.yaml"
    config.write_text(TUNING.replace("IMAGE", test.podman.image).replace("OUT", str(test.folder / "jobs")))
    job = test.submit("tuned", "--config", config)
    trials = job["trainingOutput"]["trials"]
    assert [trial["finalMetric"]["objectiveValue"] for trial in trials] == [0.75, 0.75], trials
    for trial in trials:
        rate, directory = trial["hyperparameters"]["lr"], test.folder / "jobs" / trial["trialId"]
        assert test.heard(f"{trial['trialId']}-chief-args") == f"--steps 9 --job-dir {directory} --lr={rate}\n"
        assert test.heard(f"{trial['trialId']}-worker-args") == f"--work --job-dir {directory} --lr={rate}\n"
    assert set(test.read("2-chief-tf_config")["cluster"]) == {"chief", "worker"}
    assert set(test.read("2-chief-cluster_spec")["cluster"]) == {"master", "worker"}


def test_study_file(test):
    """By `vernier run`, which has its own store and no configuration: the working directory is seen, if it is given."""
    project = test.folder / "project"
    project.mkdir()
    (project / "train.sh").write_text("echo accuracy=0.5; echo $1 > rate\n")
    text = STUDY.replace("NAME", "by_run").replace("IMAGE", test.podman.image).replace(
        "[/bin/sh, -c, 'COMMAND']", "[/bin/sh, train.sh]") + "  working_dir: .\n"
    (project / "study.yaml").write_text(text)
    result = subprocess.run([test.bin_dir / "vernier", "run", project / "study.yaml", "--store", test.folder / "run.db"],
                            capture_output=True, text=True, timeout=120, check=False)
    assert result.returncode == 0, (result.stdout, result.stderr)
    assert (project / "rate").read_text().startswith("--lr="), "the program's files are in the working directory"
    assert (project / "rate").stat().st_uid == os.geteuid()
    test.no_container()


def test_stop(test):
    test.clear()
    test.study("stopped", 'trap "echo told > $OUT/told; exit 0" TERM; echo > $OUT/on; while :; do sleep 0.1; done')
    test.heard("on")
    assert len(test.podman.containers()) == 1
    test.vernier("trial", "stop", "stopped", "1")
    assert test.ended("stopped")["state"] == "CANCELLED"
    assert test.heard("told") == "told\n"


def test_kill(test):
    test.clear()
    test.study("deaf", 'trap "" TERM; echo > $OUT/on; while :; do sleep 0.1; done')
    test.heard("on")
    test.vernier("study", "stop", "deaf")
    test.ended("deaf")


def test_failures(test):
    def failed(name, command, failure, words, image=None, extra=""):
        good = test.podman.image
        test.podman.image = image or good
        test.study(name, command, extra)
        test.podman.image = good
        trial = test.ended(name)
        assert trial["failure"] == failure and words in trial["message"], (trial["failure"], trial["message"])

    test.clear()
    failed("nowhere", "true", "USER_ERROR", "the images localhost:9/no/such:1 could not be fetched: ", "localhost:9/no/such:1")
    failed("status", "exit 125", "USER_ERROR", "non-zero status of 125")
    failed("no_program", "true", "USER_ERROR", "o such file or directory",
           extra="  replicas: {chief: {command: [/no/such/program]}}\n")
    failed("memory", "x=a; while :; do x=$x$x; done", "OUT_OF_MEMORY", "ran out-of-memory",
           extra="  replicas: {chief: {memory: 16MiB}}\n")


def test_daemon_killed(test):
    test.clear()
    test.study("adopted", 'echo > $OUT/on; while [ ! -e $OUT/end ]; do sleep 0.1; done; echo accuracy=0.5')
    test.heard("on")
    containers = test.podman.containers()
    test.daemon.kill()
    test.start()
    wait_until(lambda: test.trial("adopted")["state"] == "RUNNING", "the trial is not taken back")
    assert test.podman.containers() == containers, "another container was started"
    (test.out / "end").touch()
    trial = test.ended("adopted")
    assert trial["state"] == "COMPLETED", trial


def test_supervisor_killed(test):
    test.clear()
    test.study("lost", 'echo $VERNIER_ATTEMPT >> $OUT/on; [ $VERNIER_ATTEMPT = 1 ] && sleep 1000; echo accuracy=0.5')
    test.heard("on")
    lock = next(test.folder.glob("**/lost/trial-1/attempt-1/chief-0/supervisor.lock"))
    os.kill(int(lock.read_text().split()[0]), signal.SIGKILL)
    trial = test.ended("lost")
    assert trial["state"] == "COMPLETED" and test.heard("on") == "1\n2\n", trial


def test_none(test):
    """Nothing is stored of a job that cannot be run here."""
    folder = test.folder / "none"
    folder.mkdir()
    daemon = Daemon(test.bin_dir, folder)
    path, os.environ["PATH"] = os.environ["PATH"], str(folder)
    daemon.start()
    os.environ["PATH"] = path
    try:
        result = subprocess.run([test.bin_dir / "vernier", "jobs", "submit", "training", "refused", "--master-image-uri",
                                 test.podman.image, "--store", daemon.store], capture_output=True, text=True, check=False)
        assert result.returncode == 2, (result.stdout, result.stderr)
        assert "trainingInput.masterConfig.imageUri: container images need podman, docker or apptainer" in result.stderr
        assert daemon.json("study", "list") == []
    finally:
        daemon.stop()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("bin_dir", type=pathlib.Path)
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        folder = pathlib.Path(temporary)
        podman = Podman(folder)
        reason = podman.build()
        if reason:
            print(f"skipped: {reason}")
            podman.clean()
            return SKIPPED
        test = Test(args.bin_dir, folder, podman)
        test.start()
        try:
            for case in (test_two_replicas, test_own_arguments, test_tuning, test_study_file, test_stop, test_kill,
                         test_failures, test_daemon_killed, test_supervisor_killed, test_none):
                case(test)
                print(f"{case.__name__}: ok", flush=True)
        finally:
            test.daemon.stop()
            podman.clean()
    print("ok")
    return 0


if __name__ == "__main__":
    sys.exit(main())
