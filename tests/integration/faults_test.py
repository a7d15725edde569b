#!/usr/bin/env python3
"""What becomes of a job whose real processes fail, by a real daemon, row by row: own statuses, crashes, ends from outside,
want of memory, programs that cannot be started, each role, both readings, every limit. Then what the test itself kills:
programs by SIGTERM, supervisors, running jobs with children.   usage: faults_test.py BIN_DIR
"""

import collections
import dataclasses
import json
import os
import pathlib
import re
import signal
import sys
import tempfile

from daemon import Daemon, kill_program, left_over, running, wait_until

FOREVER = "exec sleep 1000"
ABORT = "python3 -c 'import os, resource; resource.setrlimit(resource.RLIMIT_CORE, (0, 0)); os.abort()'"
SEGFAULT = "python3 -c 'import ctypes, resource; resource.setrlimit(resource.RLIMIT_CORE, (0, 0)); ctypes.string_at(1)'"
RAISE = "exec python3 -c 'raise RuntimeError(\"a point that does not converge\")'"
HOG = "exec python3 -c 'x = b\"x\" * (300 << 20)'"  # Of the 100 MiB that it gets.


def once(end):
    """Ends so in its first run, and well in the next, which leaves a mark."""
    return f"[ -e $OUT/$ROLE-ran ] && {{ touch $OUT/$ROLE-again; exit 0; }}; touch $OUT/$ROLE-ran; {end}"


def when(mark, text="exit 0"):
    return f"until [ -e $OUT/{mark} ]; do sleep 0.02; done; {text}"


def after(role, text="exit 0"):
    """Once the replica of that role, of the same attempt, has ended for good."""
    return f"until [ -e $VERNIER_REPLICA_DIRECTORY/../{role}-0/exit.json ]; do sleep 0.02; done; {text}"


@dataclasses.dataclass
class Row:
    name: str
    replicas: dict  # Role: the shell text of its program.
    state: str = "COMPLETED"
    failure: str = ""
    attempts: int = 1
    runs: dict = dataclasses.field(default_factory=dict)  # Role: how often its program ran, in all.
    message: str = ""
    job: dict = dataclasses.field(default_factory=dict)
    resources: dict = dataclasses.field(default_factory=dict)
    ends: dict = dataclasses.field(default_factory=dict)  # Role: its last end, as `exit N` or `signal N`.


def failed(name, replicas, failure, attempts, runs, message, **more):
    return Row(name, replicas, "FAILED", failure, attempts, runs, message, **more)


def exited(role, status, why):
    return f"The replica {role} 0 exited with a non-zero status of {status}. Termination reason: {why}."


ROWS = [
    # The primary's end is the job's.
    Row("all-begin-together", {role: "touch $OUT/$ROLE-up; until [ $(ls $OUT | grep -c -- -up) = 4 ]; do sleep 0.02; done"
                               for role in ("chief", "worker", "ps", "evaluator")}, runs={"chief": 1}),
    Row("others-never-end", {"chief": "sleep 0.5", "worker": FOREVER, "ps": FOREVER, "evaluator": FOREVER},
        ends={"chief": "exit 0", "worker": "signal 15", "ps": "signal 15", "evaluator": "signal 15"}),
    Row("others-ignore-the-end-signal",
        {"chief": when("worker-deaf"), "worker": "trap '' TERM; touch $OUT/worker-deaf; while :; do sleep 0.05; done"},
        job={"limits": {"grace": "1s"}}, ends={"worker": "signal 9"}),
    Row("worker-ends-early", {"chief": after("worker"), "worker": "exit 0"},
        runs={"chief": 1, "worker": 1}, ends={"worker": "exit 0"}),
    Row("ps-ends-early", {"chief": after("ps"), "ps": "exit 0"}, runs={"chief": 1, "ps": 1}, ends={"ps": "exit 0"}),
    # Own statuses are final, by the strict reading.
    failed("chief-exits-1", {"chief": "exit 1", "worker": FOREVER}, "USER_ERROR", 1, {"chief": 1, "worker": 1},
           exited("chief", 1, "Error"), ends={"worker": "signal 15"}),
    failed("chief-raises", {"chief": RAISE}, "USER_ERROR", 1, {"chief": 1},
           "RuntimeError: a point that does not converge (<string>:1). " + exited("chief", 1, "Error")),
    failed("chief-exits-255", {"chief": "exit 255"}, "USER_ERROR", 1, {"chief": 1}, exited("chief", 255, "Error")),
    failed("worker-exits-1", {"chief": FOREVER, "worker": "exit 1"}, "USER_ERROR", 1, {"chief": 1, "worker": 1},
           exited("worker", 1, "Error"), ends={"chief": "signal 15"}),
    failed("ps-exits-1", {"chief": FOREVER, "ps": "exit 1"}, "USER_ERROR", 1, {"ps": 1}, exited("ps", 1, "Error")),
    Row("evaluator-exits-1", {"chief": after("evaluator"), "evaluator": "exit 1"}, runs={"evaluator": 1},
        ends={"evaluator": "exit 1"}),
    Row("evaluator-aborts", {"chief": after("evaluator"), "evaluator": "exec " + ABORT}, runs={"evaluator": 1},
        ends={"evaluator": "signal 6"}),
    Row("evaluator-is-killed-always", {"chief": after("evaluator"), "evaluator": "kill -KILL $$"}, runs={"evaluator": 6}),
    failed("chief-exits-1-leniently", {"chief": "exit 1"}, "USER_ERROR", 4, {"chief": 24}, exited("chief", 1, "Error"),
           job={"restarts": {"reading": "lenient"}}),
    Row("worker-exits-1-once-leniently", {"chief": when("worker-again"), "worker": once("exit 1")},
        runs={"worker": 2}, job={"restarts": {"reading": "lenient"}}),
    # Crashes are for the whole job, leniently for the replica first; the same crash twice is final.
    failed("chief-aborts", {"chief": "exec " + ABORT, "worker": FOREVER}, "USER_ERROR", 2, {"chief": 2},
           exited("chief", "6(SIGABRT)", "crashed")),
    failed("chief-segfaults", {"chief": "exec " + SEGFAULT}, "USER_ERROR", 2, {"chief": 2},
           exited("chief", "11(SIGSEGV)", "crashed")),
    failed("chief-aborts-in-a-container", {"chief": ABORT + " 2>/dev/null; exit 134"}, "USER_ERROR", 2, {"chief": 2},
           exited("chief", "134(SIGABRT)", "crashed")),
    Row("chief-aborts-once", {"chief": once("exec " + ABORT)}, attempts=2, runs={"chief": 2}),
    failed("worker-aborts", {"chief": after("worker", "exit 1"), "worker": "exec " + ABORT}, "USER_ERROR", 2,
           {"chief": 2, "worker": 2}, exited("worker", "6(SIGABRT)", "crashed"), job={"restarts": {"job": 1}}),
    failed("chief-aborts-leniently", {"chief": "exec " + ABORT}, "USER_ERROR", 2, {"chief": 6},
           exited("chief", "6(SIGABRT)", "crashed"), job={"restarts": {"reading": "lenient", "replica": 2, "job": 1}}),
    # Ends from outside restart the replica.
    failed("chief-is-killed-always", {"chief": "kill -KILL $$"}, "PREEMPTED", 4, {"chief": 24},
           exited("chief", "9(SIGKILL)", "ended from outside")),
    failed("chief-is-told-always-in-a-container", {"chief": "exit 143"}, "PREEMPTED", 4, {"chief": 24},
           exited("chief", "143(SIGTERM)", "ended from outside")),
    failed("chief-is-interrupted-always", {"chief": "exit 130"}, "PREEMPTED", 2, {"chief": 4},
           exited("chief", "130(SIGINT)", "ended from outside"), job={"restarts": {"replica": 1, "job": 1}}),
    Row("ps-is-killed-once", {"chief": when("ps-again"), "ps": once("kill -KILL $$")}, runs={"chief": 1, "ps": 2}),
    Row("worker-is-killed-once-in-a-container", {"chief": when("worker-again"), "worker": once("exit 137")},
        runs={"chief": 1, "worker": 2}),
    # What cannot be started is the user's error.
    failed("no-such-program", {"chief": ["vernier-no-such-program"]}, "USER_ERROR", 1, {},
           "The replica chief 0 could not be started: cannot run 'vernier-no-such-program'"),
    # Limits.
    failed("runs-for-too-long", {"chief": FOREVER, "worker": FOREVER}, "TIMEOUT", 1, {"chief": 1},
           "ran for longer than its time limit of 1s", job={"limits": {"time": "1s"}}),
    failed("runs-for-too-long-in-all-attempts", {"chief": "[ $VERNIER_ATTEMPT = 1 ] && kill -KILL $$; " + FOREVER},
           "TIMEOUT", 2, {"chief": 2}, "ran for longer than its trial's limit of 3s, in 2 attempts",
           job={"limits": {"trial": "3s"}, "restarts": {"replica": 0}}),
    failed("makes-no-progress", {"chief": FOREVER}, "TIMEOUT", 1, {"chief": 1}, "reported nothing for ",
           job={"limits": {"progress": "1s"}}),
]

MEMORY_ROWS = [
    failed(f"{role}-wants-more-memory", replicas, "OUT_OF_MEMORY", 1, {role: 1},
           f"The replica {role} 0 ran out-of-memory and exited with a non-zero status of 9(SIGKILL).",
           resources={role: {"memory": "100MiB"}})
    for role, replicas in (("chief", {"chief": HOG}), ("worker", {"chief": FOREVER, "worker": HOG}))
]


class Cluster:
    """The daemon, and studies with a job and nothing to tune."""

    def __init__(self, daemon):
        self.daemon, self.folder = daemon, daemon.folder

    def create(self, row, **study):
        out = self.folder / "out" / row.name
        out.mkdir(parents=True)
        replicas = {}
        for role, text in row.replicas.items():
            note = f"echo $VERNIER_ATTEMPT $TF_CONFIG >> $OUT/runs-{role}; "
            command = ["/bin/sh", "-c", note + text] if isinstance(text, str) else text
            replicas[role] = {"count": 1, "cpus": 0.5, "command": command, "env": {"OUT": str(out), "ROLE": role},
                              **row.resources.get(role, {})}
        file = self.folder / f"{row.name}.json"
        file.write_text(json.dumps({"study": row.name, "job": {"replicas": replicas, **row.job}, **study}))
        self.daemon.call("study", "create", file)

    def runs(self, name, role):
        """What the replica of the role was given, run by run."""
        file = self.folder / "out" / name / f"runs-{role}"
        return file.read_text().splitlines() if file.exists() else []

    def replica(self, name, role, attempt=1):
        return self.folder / f"vernier.db.runs/{name}/trial-1/attempt-{attempt}/{role}-0"

    def await_runs(self, name, role, count):
        wait_until(lambda: len(self.runs(name, role)) == count, f"{name}: run {count} of {role} did not begin")

    def check(self, row):
        """Says what is not as the row says."""
        self.daemon.wait_for_study(row.name)
        trial = self.daemon.json("trial", "show", row.name, 1)
        found = dataclasses.replace(
            row, state=trial["state"], failure=trial.get("failure", ""), attempts=len(trial["attempts"]),
            runs={role: len(self.runs(row.name, role)) for role in row.runs},
            ends={role: ends(trial)[role] for role in row.ends})
        problems = [] if found == row else [f"{row.name}: expected\n  {row}\nfound\n  {found}\n  {trial}"]
        if not trial.get("message", "").startswith(row.message):
            problems.append(f"{row.name}: the message is '{trial.get('message', '')}'")
        for role in row.runs:
            by_attempt = collections.defaultdict(set)
            for line in self.runs(row.name, role):
                attempt, tf_config = line.split(" ", 1)
                by_attempt[attempt].add(tf_config)
            if any(len(given) > 1 for given in by_attempt.values()):
                problems.append(f"{row.name}: restarts of {role} were given something else")
        return problems


def ends(trial):
    """How the last run of each role ended."""
    return {replica["role"]: f"signal {replica['signal']}" if "signal" in replica else f"exit {replica.get('exit_code')}"
            for replica in trial["attempts"][-1]["replicas"]}


def test_rows(cluster, rows):
    for row in rows:
        cluster.create(row)
    problems = [problem for row in rows for problem in cluster.check(row)]
    assert not problems, "\n".join(problems)


def test_programs_told_to_end(cluster):
    """SIGTERM from elsewhere restarts a replica; a stop of the study takes it down, with all that it started."""
    text = "sleep 1000 & (setsid sleep 1000 &) ; wait"
    row = Row("told", {"chief": text, "worker": text}, job={"limits": {"grace": "1s"}})
    cluster.create(row)
    for role in row.replicas:
        cluster.await_runs("told", role, 1)
        wait_until(lambda: cluster.replica("told", role) in running(cluster.folder, f"{role}-0"), f"no {role} runs")
        replica = cluster.replica("told", role)
        assert kill_program(running(cluster.folder, f"{role}-0")[replica], replica, signal.SIGTERM)
        cluster.await_runs("told", role, 2)
    cluster.daemon.call("study", "stop", "told")
    study = cluster.daemon.wait_for_study("told")
    trial = cluster.daemon.json("trial", "show", "told", 1)
    assert (study["state"], trial["state"]) == ("CANCELLED", "CANCELLED"), (study, trial)
    assert [replica.get("restarts", 0) for replica in trial["attempts"][0]["replicas"]] == [1, 1], trial


def kill_supervisor(cluster, name, role, attempt):
    replica = cluster.replica(name, role, attempt)
    wait_until((replica / "running.json").exists, f"{name}: attempt {attempt} does not run")
    process = int((replica / "supervisor.lock").read_text().split()[0])
    assert os.fsencode(str(replica)) in pathlib.Path(f"/proc/{process}/cmdline").read_bytes(), process
    os.kill(process, signal.SIGKILL)


def test_supervisors_killed(cluster):
    """Errors of the service itself: three attempts in all."""
    once_lost = Row("supervisor-killed-once", {"chief": "[ $VERNIER_ATTEMPT = 2 ] && exit 0; " + FOREVER}, attempts=2,
                    runs={"chief": 2})
    lost = failed("supervisor-killed-always", {"chief": FOREVER, "worker": FOREVER}, "NODE_LOST", 3,
                  {"chief": 3, "worker": 3},
                  "Internal error occurred for the current attempt: The replica worker 0 was lost")
    cluster.create(once_lost)
    cluster.create(lost)
    kill_supervisor(cluster, once_lost.name, "chief", 1)
    for attempt in (1, 2, 3):
        for role in ("chief", "worker"):
            cluster.await_runs(lost.name, role, attempt)
        kill_supervisor(cluster, lost.name, "worker", attempt)
    problems = cluster.check(once_lost) + cluster.check(lost)
    assert not problems, "\n".join(problems)


def test_waiting_for_too_long(cluster):
    """While another job has the whole host."""
    cluster.create(Row("holder", {"chief": FOREVER}, resources={"chief": {"cpus": CPUS}}))
    cluster.await_runs("holder", "chief", 1)
    row = Row("waits-for-too-long", {"chief": "exit 0"}, state="CANCELLED", attempts=0, runs={"chief": 0},
              message="did not come to run within its wait limit of 1s", job={"limits": {"wait": "1s"}})
    cluster.create(row)
    problems = cluster.check(row)
    assert not problems, problems
    cluster.daemon.call("study", "stop", "holder")
    cluster.daemon.wait_for_study("holder")


def test_tuned(cluster):
    """What counts only where something is tuned: the guard against jobs that cannot succeed, and a missing metric."""
    tuned = {"objective": {"maximize": "accuracy"}, "parameters": {"x": {"float": [0, 1]}}, "algorithm": "random"}
    cluster.create(Row("fails-alike", {"chief": "exit 1"}), budget={"trials": 9}, **tuned)
    cluster.create(Row("reports-nothing", {"chief": "echo done"}), budget={"trials": 1}, **tuned)
    study = cluster.daemon.wait_for_study("fails-alike")
    assert study["state"] == "FAILED", study
    assert re.match("first 3 trials all failed: The replica chief 0 exited with a non-zero status of 1", study["reason"])
    assert len(cluster.daemon.json("trial", "list", "fails-alike")) == 3
    cluster.daemon.wait_for_study("reports-nothing")
    trial = cluster.daemon.json("trial", "show", "reports-nothing", 1)
    assert (trial["failure"], len(trial["attempts"])) == ("NO_METRIC", 1) and "done" in trial["message"], trial


CPUS = 64  # More than any host of a test has, so that jobs do not wait for each other.


def main():
    bin_dir = pathlib.Path(sys.argv[1]).resolve()
    with tempfile.TemporaryDirectory(prefix="vernier-faults-") as name:
        daemon = Daemon(bin_dir, pathlib.Path(name))
        limited = "memory" in next(check["found"] for check in daemon.json("doctor") if check["check"] == "limits")
        daemon.start("--cpus", str(CPUS), "--memory", "64GiB")
        try:
            cluster = Cluster(daemon)
            test_rows(cluster, ROWS + (MEMORY_ROWS if limited else []))
            test_programs_told_to_end(cluster)
            test_supervisors_killed(cluster)
            test_waiting_for_too_long(cluster)
            test_tuned(cluster)
            wait_until(lambda: not left_over(daemon.folder), "processes are left behind", pause=0.5)
        finally:
            daemon.stop_with_trials()
    print(f"{len(ROWS)} rows, {'and' if limited else 'without'} {len(MEMORY_ROWS)} of memory")


if __name__ == "__main__":
    main()
