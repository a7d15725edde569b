#!/usr/bin/env python3
"""Submits training jobs as users of AI Platform Training do: a package, flags, a configuration file; by a daemon.

The package holds a trainer that says what it was given. Checked: what each replica got, the job as it is described, its
logs and their task names, cancelling, what is refused, interrupting `local train`, and the documented examples of 13 replicas and 40 GPUs, by file and
by flags, on declared devices, their CPUs and memory scaled to this host.
usage: jobs_test.py BIN_DIR
"""

import argparse
import json
import os
import pathlib
import pty
import signal
import subprocess
import sys
import tempfile

from daemon import Daemon, wait_until

TASK = '''\
import argparse, json, os, sys
parser = argparse.ArgumentParser()
parser.add_argument("--steps", type=int, default=1)
parser.add_argument("--job-dir", default="")
parser.add_argument("--lr", type=float, default=0.5)
parser.add_argument("--folder", required=True)
args = parser.parse_args()
tf_config = json.loads(os.environ["TF_CONFIG"])
task = tf_config["task"]
record = {"argv": sys.argv[1:], "tf_config": tf_config, "gpus": os.environ.get("CUDA_VISIBLE_DEVICES"), "folder": os.getcwd(),
          "tuned": "CLOUD_ML_TRIAL_ID" in os.environ, "python": sys.executable}
name = f"{os.environ['CLOUD_ML_JOB_ID']}-{task.get('trial', '')}-{task['type']}-{task['index']}.json"
with open(os.path.join(args.folder, name + ".part"), "w") as file:
    json.dump(record, file)
os.rename(file.name, os.path.join(args.folder, name))
print(json.dumps({"severity": "WARNING", "message": "taken apart"}), flush=True)
print("plain words", file=sys.stderr, flush=True)
if task["type"] == "chief":
    # The others are taken down when the chief ends: not before all have said what they got.
    expected = sum(len(addresses) for addresses in tf_config["cluster"].values())
    prefix = name[:name.index("-chief")]
    while len([n for n in os.listdir(args.folder) if n.startswith(prefix + "-") and n.endswith(".json")]) < expected:
        pass
    if "CLOUD_ML_HP_METRIC_FILE" in os.environ:
        with open(os.environ["CLOUD_ML_HP_METRIC_FILE"], "w") as file:
            file.write(json.dumps({"timestamp": 1.0, "trial": task["trial"], "global_step": "3",
                                   "checkpoint_path": "", "accuracy": str(1 - abs(args.lr - 0.1))}) + "\\n")
else:
    import time
    time.sleep(1000)
'''

# Says that it is there, and its last words when it is told to end; with --deaf it is not to be told, nor
# its child.
PATIENT = '''\
import argparse, json, os, signal, subprocess, sys, time
parser = argparse.ArgumentParser()
parser.add_argument("--folder", required=True)
parser.add_argument("--deaf", action="store_true")
args = parser.parse_args()
def end(*_):
    print("last words", flush=True)
    sys.exit(0)
signal.signal(signal.SIGTERM, signal.SIG_IGN if args.deaf else end)
if args.deaf:
    subprocess.Popen(["sleep", "1000"], start_new_session=True)
task = json.loads(os.environ["TF_CONFIG"])["task"]
open(os.path.join(args.folder, f"there-{task.get('type', 'chief')}-{task.get('index', 0)}"), "w").close()
while True:
    print("going on", flush=True)
    time.sleep(0.1)
'''

CONFIG = """\
labels: {owner: alice}
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

TUNING = """\
trainingInput:
  scaleTier: CUSTOM
  masterType: n1-standard-4
  workerType: n1-standard-4
  workerCount: 1
  hyperparameters:
    goal: MAXIMIZE
    hyperparameterMetricTag: accuracy
    maxTrials: 3
    maxParallelTrials: 2
    params:
    - {parameterName: lr, type: DOUBLE, minValue: 0.001, maxValue: 1.0, scaleType: UNIT_LOG_SCALE}
"""


class Jobs:
    """The command line, run in a folder with the package beside it."""

    def __init__(self, bin_dir, folder, daemon):
        self.vernier = bin_dir / "vernier"
        self.folder = folder
        self.daemon = daemon
        package = folder / "trainer"
        package.mkdir()
        (package / "__init__.py").touch()
        (package / "task.py").write_text(TASK)

    def run(self, *args, code=0):
        result = subprocess.run([self.vernier, "--store", self.daemon.store, *map(str, args)], cwd=self.folder,
                                capture_output=True, text=True, check=False, timeout=120)
        assert result.returncode == code, (args, result.returncode, result.stdout, result.stderr)
        return result

    def submit(self, name, *flags, code=0, stream=True):
        logs = ["--stream-logs"] if stream else []
        return self.run("jobs", "submit", "training", name, "--package-path", "trainer", "--module-name", "trainer.task",
                        *logs, *flags, "--", "--folder", self.folder, code=code)

    def describe(self, name):
        return json.loads(self.run("-o", "json", "jobs", "describe", name).stdout)

    def said(self, name):
        """What each replica of the job was given, by the name of its file."""
        return {path.name[len(name) + 1:-5]: json.loads(path.read_text()) for path in self.folder.glob(name + "-*.json")}


def test_one_replica(jobs):
    result = jobs.submit("census_1", "--job-dir", jobs.folder / "out", "--region", "us-central1", "--labels", "team=a")
    assert "Job [census_1] submitted successfully." in result.stderr, result.stderr
    assert "WARNING" in result.stdout and "master-replica-0" in result.stdout, result.stdout
    chief = jobs.said("census_1")["-chief-0"]
    assert chief["argv"] == ["--folder", str(jobs.folder), "--job-dir", str(jobs.folder / "out")], chief["argv"]
    assert not chief["tuned"] and "trial" not in chief["tf_config"]["task"]
    assert chief["tf_config"]["job"]["python_module"] == "trainer.task"
    assert chief["tf_config"]["job"]["region"] == "us-central1"
    job = jobs.describe("census_1")
    assert job["state"] == "SUCCEEDED" and job["labels"] == {"team": "a"}, job
    used = job["resourcesUsed"]
    assert float(used["cpuTime"].removesuffix("s")) > 0 and used["gpuTime"] == "0s", used
    assert int(used["peakMemoryBytes"]) > 1 << 20, used
    assert "trainingOutput" not in job and {"createTime", "startTime", "endTime"} <= set(job), job


def check_thirteen(jobs, name, gpu):
    said = jobs.said(name)
    assert len(said) == 13, sorted(said)
    gpus = [gpu_id for replica in said.values() for gpu_id in replica["gpus"].split(",") if gpu_id]
    assert len(gpus) == 40 and len(set(gpus)) == 40, gpus
    assert all(gpu_id.startswith(gpu) for gpu_id in gpus), gpus
    assert {len(addresses) for addresses in said["-chief-0"]["tf_config"]["cluster"].values()} == {1, 9, 3}
    job = jobs.describe(name)
    assert job["state"] == "SUCCEEDED", job
    held = float(job["resourcesUsed"]["gpuTime"].removesuffix("s"))
    assert 40 * 0.01 < held < 40 * 120, job["resourcesUsed"]


def test_documented_examples(jobs):
    (jobs.folder / "config.yaml").write_text(CONFIG)
    jobs.submit("by_file", "--config", "config.yaml")
    check_thirteen(jobs, "by_file", "t")
    assert jobs.said("by_file")["-chief-0"]["tf_config"]["job"]["worker_count"] == "9"
    jobs.submit("by_flags", "--scale-tier", "custom", "--master-machine-type", "n1-highcpu-16", "--master-accelerator",
                "count=4,type=nvidia-tesla-t4", "--worker-machine-type", "n1-highcpu-16", "--worker-count", 9,
                "--worker-accelerator", "count=4,type=nvidia-tesla-t4", "--parameter-server-machine-type", "n1-highmem-8",
                "--parameter-server-count", 3)
    check_thirteen(jobs, "by_flags", "t")
    jobs.submit("older_types", "--scale-tier", "CUSTOM", "--master-machine-type", "complex_model_m_gpu",
                "--worker-machine-type", "complex_model_m_gpu", "--worker-count", 9, "--parameter-server-machine-type",
                "large_model", "--parameter-server-count", 3)
    check_thirteen(jobs, "older_types", "k")


def test_tuning(jobs):
    (jobs.folder / "tuning.yaml").write_text(TUNING)
    jobs.submit("tuned", "--config", "tuning.yaml", "--job-dir", jobs.folder / "out")
    job = jobs.describe("tuned")
    output = job["trainingOutput"]
    assert output["completedTrialCount"] == "3" and output["isHyperparameterTuningJob"], output
    values = [trial["finalMetric"]["objectiveValue"] for trial in output["trials"]]
    assert values == sorted(values, reverse=True) and len(values) == 3, values
    assert output["trials"][0]["finalMetric"]["trainingStep"] == "3"
    for trial in output["trials"]:
        chief = jobs.said("tuned")[f"{trial['trialId']}-chief-0"]
        assert chief["argv"][-1] == f"--lr={trial['hyperparameters']['lr']}", chief["argv"]
        assert chief["argv"][-2] == str(jobs.folder / "out" / trial["trialId"]), chief["argv"]
    lines = [json.loads(line) for line in jobs.run("-o", "jsonl", "jobs", "stream-logs", "tuned").stdout.splitlines()]
    times = [line["time"] for line in lines]
    assert len(lines) >= 3 * 2 * 2 and times == sorted(times, key=lambda t: t.rstrip("Z").ljust(26, "0")), times  # Of all trials together.
    summary = jobs.run("jobs", "describe", "tuned", "--summarize").stdout
    assert "SUCCEEDED" in summary and "lr=" in summary, summary


def test_cancel_and_list(jobs):
    (jobs.folder / "trainer" / "slow.py").write_text("import time\nprint('begun', flush=True)\ntime.sleep(1000)\n")
    jobs.run("jobs", "submit", "training", "slow", "--package-path", "trainer", "--module-name", "trainer.slow")
    wait_until(lambda: jobs.describe("slow")["state"] == "RUNNING", "the slow job runs")
    wait_until(lambda: "begun" in jobs.run("trial", "logs", "slow", "1").stdout, "the slow job says so")
    jobs.run("jobs", "cancel", "slow")
    wait_until(lambda: jobs.describe("slow")["state"] == "CANCELLED", "the slow job is cancelled")
    jobs.run("jobs", "cancel", "slow")  # Once more does nothing.
    assert "begun" in jobs.run("jobs", "stream-logs", "slow", "--task-name", "master-replica-0").stdout
    jobs.run("jobs", "update", "slow", "--update-labels", "team=vision")
    assert jobs.describe("slow")["labels"] == {"team": "vision"}
    found = json.loads(jobs.run("-o", "json", "jobs", "list", "--filter", "labels.team = vision").stdout)
    assert [job["jobId"] for job in found] == ["slow"], found
    listed = {job["jobId"]: job["state"] for job in json.loads(jobs.run("-o", "json", "jobs", "list").stdout)}
    assert listed["slow"] == "CANCELLED" and listed["census_1"] == "SUCCEEDED", listed


def test_running_time(jobs):
    """What runs for longer than it may is cancelled, by the service and with a reason."""
    limited = "trainingInput:\n  scheduling: {maxRunningTime: 2s}\n"
    tuned = TUNING.split("  hyperparameters:")[1]
    for name, config, reason in (
            ("limited", limited, "ran for longer than its trial's limit of 2s, in 1 attempts"),
            ("limited_tuned", limited + "  hyperparameters:" + tuned, "time budget of 2s spent")):
        (jobs.folder / f"{name}.yaml").write_text(config)
        jobs.run("jobs", "submit", "training", name, "--package-path", "trainer", "--module-name", "trainer.slow",
                 "--config", f"{name}.yaml", "--stream-logs", code=1)
        job = jobs.describe(name)
        assert (job["state"], job["errorMessage"]) == ("CANCELLED", reason), job
        listed = {job["jobId"]: job["state"] for job in json.loads(jobs.run("-o", "json", "jobs", "list").stdout)}
        assert listed[name] == "CANCELLED", listed
    for trial in job["trainingOutput"]["trials"]:  # No rule found it unpromising.
        assert trial["state"] == "CANCELLED" and "isTrialStoppedEarly" not in trial, trial


def test_failure(jobs):
    (jobs.folder / "trainer" / "bad.py").write_text("raise SystemExit(3)\n")
    result = jobs.run("jobs", "submit", "training", "bad", "--package-path", "trainer", "--module-name", "trainer.bad",
                      "--stream-logs", code=1)
    assert "submitted successfully" in result.stderr
    assert "state: FAILED" in result.stdout and "status of 3" in result.stdout, result.stdout
    message = jobs.describe("bad")["errorMessage"]
    assert message.startswith("The replica chief 0 exited with a non-zero status of 3. Termination reason: Error."), message


def test_attempts(jobs):
    """What crashed is run again, unless in the same way; its logs are those of all attempts, while it runs and afterwards."""
    (jobs.folder / "trainer" / "crash.py").write_text(
        "import os\nnumber = int(os.environ['VERNIER_ATTEMPT'])\nprint('attempt', number, flush=True)\n"
        "if number < 3:\n    os.kill(os.getpid(), {1: 6, 2: 11}[number])\n")
    words = ("jobs", "submit", "training", "crashing", "--package-path", "trainer", "--module-name", "trainer.crash")
    live = jobs.run(*words, "--stream-logs").stdout
    for said in (live, jobs.run("jobs", "stream-logs", "crashing").stdout):
        attempts = [line.split("attempt ")[1] for line in said.splitlines() if "  attempt " in line]
        assert attempts == ["1", "2", "3"], said


def test_awaited_attempt(jobs):
    """Whoever follows an attempt before it exists gets its lines once it does; or hears that it never came."""
    go_on = jobs.folder / "go-on"
    (jobs.folder / "trainer" / "held.py").write_text(
        "import os, time\n"
        f"while not os.path.exists({str(go_on)!r}):\n    time.sleep(0.02)\n"
        "print('attempt', os.environ['VERNIER_ATTEMPT'], flush=True)\n"
        "if os.environ['VERNIER_ATTEMPT'] == '1':\n    os.abort()\n")
    jobs.run("jobs", "submit", "training", "held", "--package-path", "trainer", "--module-name", "trainer.held")
    wait_until(lambda: jobs.describe("held")["state"] == "RUNNING", "the held job runs")
    command = [jobs.vernier, "--store", jobs.daemon.store, "trial", "logs", "held", "1", "-f", "--attempt"]
    with subprocess.Popen([*command, "2"], stdout=subprocess.PIPE, text=True) as second, \
            subprocess.Popen([*command, "7"], stderr=subprocess.PIPE, text=True) as seventh:
        for _ in range(3):  # Other commands come and go meanwhile.
            assert jobs.describe("held")["state"] == "RUNNING"
        assert second.poll() is None and seventh.poll() is None
        go_on.touch()
        assert second.communicate(timeout=60)[0] == "attempt 2\n" and second.returncode == 0
        assert "trial 1 has no attempt 7" in seventh.communicate(timeout=60)[1] and seventh.returncode == 3


def test_uninstallable(jobs):
    """A package that pip cannot install fails the job before anything could print."""
    package = jobs.folder / "broken-0.1.tar.gz"
    package.write_text("no archive\n")
    result = jobs.run("-o", "json", "jobs", "submit", "training", "uninstallable", "--packages", package, "--module-name", "a",
                      "--stream-logs", code=1)
    said = json.loads("{\n" + result.stdout.rpartition("{\n")[2])  # Behind what the service says.
    assert said["jobId"] == "uninstallable" and said["state"] == "FAILED" and "broken" in said["errorMessage"], said


def test_not_a_number(jobs):
    """NaN is no value and infinity never the best."""
    (jobs.folder / "trainer" / "odd.py").write_text(
        "import argparse\nparser = argparse.ArgumentParser()\nparser.add_argument('--value')\n"
        "print('accuracy=' + parser.parse_args().value)\n")
    (jobs.folder / "odd.yaml").write_text(
        "trainingInput:\n  hyperparameters:\n    goal: MAXIMIZE\n    hyperparameterMetricTag: accuracy\n"
        "    maxTrials: 3\n    maxFailedTrials: 3\n    algorithm: GRID_SEARCH\n    params:\n"
        "    - {parameterName: value, type: CATEGORICAL, categoricalValues: ['nan', '0.73', 'inf']}\n")
    jobs.run("jobs", "submit", "training", "odd", "--package-path", "trainer", "--module-name", "trainer.odd", "--config",
             "odd.yaml")
    wait_until(lambda: jobs.describe("odd")["state"] == "SUCCEEDED", "the odd job ends")
    trials = jobs.describe("odd")["trainingOutput"]["trials"]
    assert trials[0]["hyperparameters"] == {"value": "0.73"}, trials
    assert trials[0]["finalMetric"]["objectiveValue"] == 0.73 and trials[0]["state"] == "SUCCEEDED", trials
    assert [trial["state"] for trial in trials[1:]] == ["FAILED"] * 2, trials
    assert all("finalMetric" not in trial and "accuracy" in trial["errorMessage"] for trial in trials[1:]), trials


def test_side_by_side(bin_dir):
    """Two jobs of the smallest tier share a host of two cores."""
    with tempfile.TemporaryDirectory() as path:
        folder = pathlib.Path(path)
        daemon = Daemon(bin_dir, folder)
        daemon.start("--cpus", "2", "--memory", "24GiB", "--fitting", "scaled")
        try:
            for name in ("left", "right"):
                (folder / f"{name}.yaml").write_text("trainingInput: {scaleTier: BASIC, pythonModule: trainer.wait}\n")
            (folder / "trainer").mkdir()
            (folder / "trainer" / "__init__.py").touch()
            (folder / "trainer" / "wait.py").write_text(
                "import pathlib, sys, time\nthere = pathlib.Path(sys.argv[1])\n(there / sys.argv[2]).touch()\n"
                "while len(list(there.glob('*ght'))) + len(list(there.glob('le*t'))) < 2:\n    time.sleep(0.02)\n")
            for name in ("left", "right"):
                subprocess.run([bin_dir / "vernier", "--store", daemon.store, "jobs", "submit", "training", name, "--config",
                                f"{name}.yaml", "--package-path", "trainer", "--", path, name],
                               cwd=folder, check=True, capture_output=True, timeout=60)
            for name in ("left", "right"):
                assert daemon.wait_for_study(name)["state"] == "COMPLETED", name
        finally:
            daemon.stop_with_trials()


def test_interrupted_stream(jobs):
    command = [jobs.vernier, "--store", jobs.daemon.store, "jobs", "submit", "training", "watched", "--package-path",
               "trainer", "--module-name", "trainer.slow", "--stream-logs"]
    with subprocess.Popen(command, cwd=jobs.folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert any("begun" in line for line in process.stdout)  # Read as far as that.
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=60)
    assert process.returncode == 130 and "the server goes on with job 'watched'" in err, (process.returncode, err)
    assert "state: RUNNING" in out and jobs.describe("watched")["state"] == "RUNNING", out
    jobs.run("jobs", "cancel", "watched")


def test_refusals(jobs):
    def refused(words, *flags, name="refused"):
        result = jobs.submit(name, *flags, code=2, stream=False)
        assert words in result.stderr, (words, result.stderr)
        jobs.run("jobs", "describe", name, code=3)

    refused("jobId: must match", name="with-dash")
    refused("trainingInput.masterType: is missing", "--scale-tier", "custom")
    refused("takes 1 or 2 or 4 of NVIDIA_TESLA_T4, got 3", "--scale-tier", "custom", "--master-machine-type",
            "n1-highcpu-16", "--master-accelerator", "count=3,type=nvidia-tesla-t4")
    refused("--worker-machine-type and --worker-count go together", "--scale-tier", "custom", "--worker-count", 2)
    refused("which no host of this server has", "--scale-tier", "basic-tpu")
    refused("has no GPUs", "--scale-tier", "basic-gpu", "--region", "us-central2")
    refused("needs 40 V100, this host has 0", "--scale-tier", "custom", "--master-machine-type", "complex_model_l_v100",
            "--worker-machine-type", "complex_model_l_v100", "--worker-count", 4)
    result = jobs.run("jobs", "submit", "training", "nowhere", "--package-path", "no/such", "--module-name", "a", code=3)
    assert "--package-path: 'no/such' is no folder" in result.stderr, result.stderr


def test_local_train(bin_dir, folder):
    result = subprocess.run([bin_dir / "vernier", "local", "train", "--module-name", "trainer.task", "--package-path",
                             folder / "trainer", "--job-dir", "here", "--distributed", "--worker-count", "2",
                             "--parameter-server-count", "1", "--start-port", "27182", "--", "--folder", folder],
                            capture_output=True, text=True, check=False, timeout=120, cwd="/",
                            env={**os.environ, "CUDA_VISIBLE_DEVICES": "1,0"})
    assert result.returncode == 0, (result.stdout, result.stderr)
    assert "plain words" in result.stderr and "taken apart" in result.stdout, (result.stdout, result.stderr)
    said = {path.name for path in folder.glob("local_train-*.json")}
    assert said == {f"local_train--{task}.json" for task in ("chief-0", "worker-0", "worker-1", "ps-0")}, said
    record = json.loads((folder / "local_train--chief-0.json").read_text())
    assert record["gpus"] == "1,0" and record["folder"] == str(folder), record
    cluster = record["tf_config"]["cluster"]
    ports = [int(address.rsplit(":", 1)[1]) for role in ("chief", "ps", "worker") for address in cluster[role]]
    assert ports == sorted(ports) and 27182 <= ports[0] and ports[-1] < 27182 + 200, ports


ONCE = '''\
import json, os, signal, sys
task = json.loads(os.environ["TF_CONFIG"])["task"].get("type", "chief")
with open(os.path.join(sys.argv[1], "runs"), "a") as file:
    file.write(task + "\\n")
if task == "chief" and sys.argv[2] == "signal":
    os.kill(os.getpid(), signal.SIGKILL)
if task == "chief":
    while len(open(os.path.join(sys.argv[1], "runs")).readlines()) < int(sys.argv[3]):
        pass
    sys.exit(int(sys.argv[2]))
sys.exit(1)
'''


def test_local_train_ends_as_its_primary(bin_dir, folder):
    """Each program runs once; the primary's exit status is the command's, whatever became of the others."""
    package = folder / "once"
    package.mkdir()
    (package / "__init__.py").touch()
    (package / "task.py").write_text(ONCE)

    def run(code, status, *args, cwd=package, expected=1, gcloud=()):
        (package / "runs").unlink(missing_ok=True)
        command = [bin_dir / "vernier", *gcloud, "local", "train", "--module-name", "once.task", *args, "--", package, status,
                   str(expected)]
        result = subprocess.run(command, capture_output=True, text=True, check=False, timeout=120, cwd=cwd)
        assert result.returncode == code, (code, result)
        runs = sorted((package / "runs").read_text().split())
        return runs

    assert run(0, "0") == ["chief"]  # From within the package, whose parent is on the path.
    assert run(0, "0", cwd=folder) == ["chief"]
    assert run(7, "7", gcloud=["gcloud", "ai-platform"]) == ["chief"]
    assert run(137, "signal") == ["chief"]
    distributed = ["--distributed", "--worker-count", "1", "--parameter-server-count", "1"]
    assert run(0, "0", *distributed, expected=3) == ["chief", "ps", "worker"]
    assert run(5, "5", *distributed, "--package-path", "../once/", expected=3) == ["chief", "ps", "worker"]


class Interrupted:
    """A `local train` of four replicas, all of which run, with a folder for temporary files that nobody else uses."""

    def __init__(self, bin_dir, folder, name, *args):
        self.temporary = folder / f"tmp-{name}"
        self.there = folder / f"there-{name}"
        self.temporary.mkdir()
        self.there.mkdir()
        (folder / "trainer" / "patient.py").write_text(PATIENT)
        self.command = [str(bin_dir / "vernier"), "local", "train", "--module-name", "trainer.patient", "--package-path",
                        str(folder / "trainer"), "--distributed", "--worker-count", "2", "--parameter-server-count", "1",
                        "--", "--folder", str(self.there), *args]
        self.env = {**os.environ, "TMPDIR": str(self.temporary)}

    def wait_until_there(self):
        wait_until(lambda: len(list(self.there.iterdir())) == 4, "not all four replicas of local train started")
        assert len(self.processes()) >= 8, self.processes()  # Each and its supervisor.

    def processes(self):
        found = []
        for process in pathlib.Path("/proc").glob("[0-9]*"):
            try:
                if os.fsencode(f"TMPDIR={self.temporary}") in (process / "environ").read_bytes().split(b"\0"):
                    found.append(int(process.name))
            except OSError:
                continue
        return found

    def check(self, code, number):
        assert code == 128 + number, (self.command, code)
        assert not list(self.temporary.iterdir()), list(self.temporary.iterdir())
        # The supervisors say that their replicas have ended, and then end themselves.
        wait_until(lambda: not self.processes(), f"processes of an interrupted run go on: {self.processes()}", seconds=5)


def test_interrupted_local_train(bin_dir, folder):
    run = Interrupted(bin_dir, folder, "terminal")
    child, terminal = pty.fork()
    if child == 0:
        os.execve(run.command[0], run.command, run.env)
    run.wait_until_there()
    os.write(terminal, b"\x03")
    said = b""
    try:
        while part := os.read(terminal, 65536):
            said += part
    except OSError:
        pass  # The other end of the terminal is closed.
    run.check(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), signal.SIGINT)
    assert said.count(b"last words") == 4, said
    for name, number, args in (("terminated", signal.SIGTERM, ["--deaf"]), ("hung_up", signal.SIGHUP, []),
                               ("unread", signal.SIGPIPE, [])):
        run = Interrupted(bin_dir, folder, name, *args)
        ours, theirs = os.pipe()
        with subprocess.Popen(run.command, env=run.env, stdout=theirs) as process:
            os.close(theirs)
            run.wait_until_there()
            if number == signal.SIGPIPE:
                os.close(ours)  # Which comes to who writes what nobody reads.
            else:
                process.send_signal(number)
            process.wait(timeout=60)
            run.check(process.returncode, number)
        if number != signal.SIGPIPE:
            os.close(ours)


def test_ignored_counts(bin_dir, folder):
    result = subprocess.run([bin_dir / "vernier", "local", "train", "--module-name", "trainer.bad", "--package-path",
                             folder / "trainer", "--worker-count", "3"], capture_output=True, text=True, check=False,
                            timeout=120)
    assert "warning: --worker-count is ignored without --distributed" in result.stderr, result.stderr
    assert "exited with a non-zero status of 3" in result.stderr and result.returncode == 3, result


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("bin_dir", type=pathlib.Path)
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        folder = pathlib.Path(temporary)
        declared = [f"T4:t{i}" for i in range(40)] + [f"K80:k{i}" for i in range(40)]
        options = ["--fitting", "scaled"] + [word for gpu in declared for word in ("--gpu", gpu)]
        daemon = Daemon(args.bin_dir, folder)
        daemon.start(*options)
        try:
            jobs = Jobs(args.bin_dir, folder, daemon)
            test_one_replica(jobs)
            test_documented_examples(jobs)
            test_tuning(jobs)
            test_cancel_and_list(jobs)
            test_running_time(jobs)
            test_failure(jobs)
            test_attempts(jobs)
            test_awaited_attempt(jobs)
            test_uninstallable(jobs)
            test_not_a_number(jobs)
            test_interrupted_stream(jobs)
            test_refusals(jobs)
        finally:
            daemon.stop()
        test_side_by_side(args.bin_dir)
        test_local_train(args.bin_dir, folder)
        test_local_train_ends_as_its_primary(args.bin_dir, folder)
        test_interrupted_local_train(args.bin_dir, folder)
        test_ignored_counts(args.bin_dir, folder)
    print("ok")
    return 0


if __name__ == "__main__":
    sys.exit(main())
