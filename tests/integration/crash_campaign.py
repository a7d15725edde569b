#!/usr/bin/env python3
"""Random faults against a daemon that runs several studies at once; afterwards every promise is checked.

The faults are drawn from a seed and printed with their numbers: the same seed draws the same faults. What each of them
hits depends on what runs at that moment. After the last one the daemon is left alone and must bring every study to its
end; campaign_checks.py says what must hold then. On a violation the folder is kept and the exit status is 1.

usage: crash_campaign.py --bin BIN_DIR [--faults N] [--seed N] [--trials N]
"""

import argparse
import dataclasses
import json
import os
import pathlib
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time

import campaign_checks
from daemon import Daemon, left_over

DISK_BYTES = 64 << 20  # Of the runs, if they have a disk of their own: so much, and
DISK_BYTES_PER_FAULT = 1 << 20  # so much more for the records of what ran meanwhile.
LEAST_OPEN = 2  # Studies that run while faults are sent.
KINDS = {  # Kind of fault: its weight.
    "daemon-kill": 5, "daemon-end": 2, "daemon-stop": 2, "supervisor-kill": 3, "supervisor-stop": 2, "replica-kill": 5,
    "replica-stop": 2, "two-kills": 3, "folder-removed": 2, "metrics-fifo": 1, "metrics-directory": 1, "metrics-loop": 1,
    "disk-full": 2}


@dataclasses.dataclass
class Fault:
    number: int
    kind: str
    pause: float  # Seconds before it.
    hold: float  # Seconds for which something is away, suspended or full.
    picks: list  # Which of the candidates, as shares of 1.


@dataclasses.dataclass
class Replica:
    """A replica whose program and supervisor live."""
    folder: pathlib.Path
    program: int
    supervisor: int

    @property
    def study(self):
        return self.folder.parts[-4]

    @property
    def trial(self):
        return int(self.folder.parts[-3].removeprefix("trial-"))

    @property
    def attempt(self):
        return int(self.folder.parts[-2].removeprefix("attempt-"))

    @property
    def name(self):
        return self.folder.name


def draw_faults(seed, count, has_disk):
    chance = random.Random(seed)
    faults = []
    for number in range(1, count + 1):
        kind = chance.choices(list(KINDS), KINDS.values())[0]
        pause, hold = chance.uniform(0.05, 0.7), chance.uniform(0.05, 1.2)
        fault = Fault(number, kind, pause, hold, picks=[chance.random() for _ in range(3)])
        if kind == "disk-full" and not has_disk:
            fault.kind = "daemon-kill"
        faults.append(fault)
    return faults


def is_of(process, text, file):
    try:
        return os.fsencode(text) in pathlib.Path(f"/proc/{process}/{file}").read_bytes()
    except OSError:
        return False


class Studies:
    """The studies of every round; a new round begins before all of one have ended."""

    def __init__(self, daemon, trials):
        self.daemon, self.trials, self.round = daemon, trials, 0
        self.specs = {}  # By name, of all rounds.
        self.watches = {}
        self.journal = daemon.folder / "journal"
        self.journal.mkdir()

    def definition(self, name, way="print", steps=5, pause=0.15, algorithm="random", replicas=(), parallel=2, job=None,
                   how="well", **more):
        program = str(pathlib.Path(__file__).with_name("campaign_program.py"))
        words = ["/usr/bin/python3", "-S", "-E", program, "--way", way, "--how", how, "--steps", str(steps),
                 "--pause", str(pause), "--journal", str(self.journal)]
        roles = {"chief": 1, **dict(replicas)}
        return {"study": f"{name}-{self.round}", "objective": {"maximize": "score"},
                "parameters": {"x": {"float": [0, 1], "points": 20}, "kind": {"categorical": ["a", "b"]}},
                "algorithm": algorithm, "parallel": parallel, "seed": self.round,
                "budget": {"trials": self.trials, "failed": 1000},
                "job": {"command": words, "replicas": {role: {"count": count, "cpus": 1} for role, count in roles.items()},
                        "limits": {"grace": "2s"}, **(job or {})}, **more}

    def definitions(self):
        return [
            self.definition("printed"),
            self.definition("filed", way="file", algorithm="gp"),
            self.definition("reported", way="report", algorithm="grid", replicas={"worker": 2}),
            self.definition("gang", replicas={"worker": 1}, job={"restarts": {"replica": 0}}),
            self.definition("failing", how="failing"),
            self.definition("judged", steps=8, parallel=3, stopping={"rule": "median", "min_trials": 2}),
            self.definition("limited", how="long", job={"limits": {"grace": "2s", "time": "4s"}}),
        ]

    def begin(self):
        self.round += 1
        for spec in self.definitions():
            name = spec["study"]
            file = self.daemon.folder / f"{name}.json"
            file.write_text(json.dumps(spec))
            self.daemon.call("study", "create", file)
            self.specs[name] = spec
            self.watches[name] = Watch(self.daemon, name)

    def count_open(self):
        return sum(not watch.has_ended for watch in self.watches.values())


class Watch:
    """A user who follows a study, through every death of the daemon. What was shown once must stay."""

    def __init__(self, daemon, name):
        self.daemon, self.name = daemon, name
        self.events = []
        self.has_ended = False
        self.thread = threading.Thread(target=self.follow, daemon=True)
        self.thread.start()

    def follow(self):
        while not self.has_ended:
            after = self.events[-1]["seq"] if self.events else 0
            words = [self.daemon.bin_dir / "vernier", "--server", f"unix:{self.daemon.socket}", "-o", "jsonl", "study",
                     "watch", self.name, "-v", "--after", str(after)]
            with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as process:
                for line in process.stdout:
                    if line.endswith("\n"):
                        self.note(json.loads(line))
            if not self.has_ended:
                time.sleep(0.2)  # The server is away.

    def note(self, event):
        self.events.append(event)
        if event["kind"] == "study_state_changed" and event["payload"]["to"] in ("COMPLETED", "FAILED", "CANCELLED"):
            self.has_ended = True


class Campaign:
    def __init__(self, daemon, studies, has_disk):
        self.daemon, self.studies, self.has_disk = daemon, studies, has_disk
        self.runs = daemon.folder / "vernier.db.runs"
        self.options = ["--listen", f"unix:{daemon.socket}", "--cpus", "12", "--memory", "32GiB"]
        self.hits = []  # {fault, kind, study, trial, attempt, replica}: what explains failures.
        self.full = []  # [from, to] when the disk of the runs was full.
        self.told = []  # What was done, for the report of a violation.
        self.suspended = []  # (when to continue, process)

    def replicas(self):
        """What may be hit now, in a settled order."""
        found = []
        for record in sorted(self.runs.glob("*/trial-*/attempt-*/*/running.json")):
            folder = record.parent
            try:
                program = json.loads(record.read_text())["process"]
                supervisor = int((folder / "supervisor.lock").read_text().split()[0])
            except (OSError, ValueError, IndexError):
                continue
            is_live = is_of(program, f"VERNIER_REPLICA_DIRECTORY={folder}", "environ")
            if is_live and is_of(supervisor, f"{folder}", "cmdline") and not (folder / "exit.json").exists():
                found.append(Replica(folder, program, supervisor))
        return found

    def choose(self, share, accept=lambda replica: True):
        """One of the replicas that run, once there is one."""
        deadline = time.monotonic() + campaign_checks.PATIENCE
        while time.monotonic() < deadline:
            found = [replica for replica in self.replicas() if accept(replica)]
            if found:
                return found[int(share * len(found))]
            self.proceed()
            time.sleep(0.05)
        raise campaign_checks.Violation(f"nothing that can be hit has run for {campaign_checks.PATIENCE} s")

    def proceed(self):
        """What is due between faults."""
        self.resume(time.monotonic())
        if self.daemon.process.poll() is not None:
            raise campaign_checks.Violation(f"the daemon ended by itself with {self.daemon.process.returncode}")
        if self.studies.count_open() < LEAST_OPEN:
            self.studies.begin()

    def resume(self, now):
        for due, process in list(self.suspended):
            if due <= now:
                self.suspended.remove((due, process))
                send(process, signal.SIGCONT)

    def hit(self, fault, kind, replica):
        self.hits.append({"fault": fault.number, "kind": kind, "study": replica.study, "trial": replica.trial,
                          "attempt": replica.attempt, "replica": replica.name})
        return f"{replica.study} trial {replica.trial} attempt {replica.attempt} {replica.name}"

    def carry_out(self, fault):
        what = getattr(self, fault.kind.replace("-", "_"))(fault)
        line = f"fault {fault.number}: {fault.kind}, {what}"
        self.told.append(line)
        print(line, flush=True)

    # The daemon.

    def restart(self, fault):
        time.sleep(fault.hold / 3)
        begun = time.monotonic()
        self.daemon.start(*self.options)
        return f"back after {time.monotonic() - begun:.2f} s"

    def daemon_kill(self, fault):
        self.daemon.kill()
        return self.restart(fault)

    def daemon_end(self, fault):
        self.daemon.stop()
        if self.daemon.process.returncode != 0:
            raise campaign_checks.Violation(f"the daemon ended with {self.daemon.process.returncode} on SIGTERM")
        return self.restart(fault)

    def daemon_stop(self, fault):
        self.daemon.process.send_signal(signal.SIGSTOP)
        time.sleep(fault.hold)
        self.daemon.process.send_signal(signal.SIGCONT)
        return f"for {fault.hold:.2f} s"

    # Supervisors and programs.

    def kill_of(self, fault, kind, share):
        replica = self.choose(share)
        # Noted first, so that nothing is judged without its reason.
        text = self.hit(fault, f"{kind}-kill", replica)
        send(replica.supervisor if kind == "supervisor" else replica.program, signal.SIGKILL)
        return f"{kind} of {text}"

    def supervisor_kill(self, fault):
        return self.kill_of(fault, "supervisor", fault.picks[0])

    def replica_kill(self, fault):
        return self.kill_of(fault, "replica", fault.picks[0])

    def suspend(self, fault, process, replica):
        send(process, signal.SIGSTOP)
        self.suspended.append((time.monotonic() + fault.hold * 2, process))
        return f"{self.hit(fault, 'suspended', replica)} for {fault.hold * 2:.2f} s"

    def supervisor_stop(self, fault):
        replica = self.choose(fault.picks[0])
        return self.suspend(fault, replica.supervisor, replica)

    def replica_stop(self, fault):
        replica = self.choose(fault.picks[0])
        return self.suspend(fault, replica.program, replica)

    def two_kills(self, fault):
        pair = [("daemon", "supervisor"), ("daemon", "replica"), ("supervisor", "replica"), ("supervisor", "supervisor"),
                ("replica", "replica")][int(fault.picks[2] * 5)]
        said = []
        if "daemon" in pair:
            kind = pair[1]
            replica = self.choose(fault.picks[0])
            said.append(f"{kind} of {self.hit(fault, f'{kind}-kill', replica)}")
            self.daemon.process.send_signal(signal.SIGKILL)
            send(replica.supervisor if kind == "supervisor" else replica.program, signal.SIGKILL)
            self.daemon.process.wait()
            return f"the daemon and the {said[0]}, {self.restart(fault)}"
        return " and ".join(self.kill_of(fault, kind, share) for kind, share in zip(pair, fault.picks))

    # Files.

    def folder_removed(self, fault):
        replica = self.choose(fault.picks[0])
        text = self.hit(fault, "folder-removed", replica)
        shutil.rmtree(replica.folder.parent, ignore_errors=True)
        return text

    def replace_metrics(self, fault, make):
        replica = self.choose(fault.picks[0], lambda one: one.name == "chief-0" and one.study.startswith("filed"))
        text = self.hit(fault, "metrics", replica)
        file = replica.folder / "hypertune.metrics"
        try:
            file.unlink(missing_ok=True)
            make(file)
        except OSError as error:
            return f"{text}: {error}"  # Its trial has gone on meanwhile, or the file is no file any more.
        return text

    def metrics_fifo(self, fault):
        return self.replace_metrics(fault, os.mkfifo)

    def metrics_directory(self, fault):
        return self.replace_metrics(fault, os.mkdir)

    def metrics_loop(self, fault):
        return self.replace_metrics(fault, lambda file: os.symlink(file, file))

    def disk_full(self, fault):
        ballast = self.runs / "ballast"
        self.full.append([time.time(), float("inf")])
        with open(ballast, "wb", buffering=0) as file:  # Nothing is left to be written when it is closed.
            try:
                while True:  # To the last byte; what others free meanwhile is taken too.
                    file.write(b"\0" * (1 << 20))
            except OSError:
                pass
        time.sleep(fault.hold)
        os.unlink(ballast)
        self.full[-1][1] = time.time()
        return f"for {fault.hold:.2f} s"

    def run(self, faults):
        self.daemon.start(*self.options)
        for fault in faults:
            self.proceed()
            time.sleep(fault.pause)
            self.carry_out(fault)
        self.resume(float("inf"))


def send(process, number):
    try:
        os.kill(process, number)
    except ProcessLookupError:
        pass  # It ended meanwhile.


def in_a_namespace():
    """Goes on in a namespace where the runs can have a disk of their own, if this host lets us."""
    if "VERNIER_CAMPAIGN_APART" in os.environ or os.geteuid() != 0 or not shutil.which("unshare"):
        return
    if subprocess.run(["unshare", "--mount", "true"], stderr=subprocess.DEVNULL, check=False).returncode == 0:
        os.environ["VERNIER_CAMPAIGN_APART"] = "1"
        os.execvp("unshare", ["unshare", "--mount", sys.executable, *sys.argv])


def mount_disk(runs, size):
    """Whether the runs have a small disk of their own now."""
    if "VERNIER_CAMPAIGN_APART" not in os.environ:
        return False
    done = subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={size}", "none", str(runs)], check=False,
                          stderr=subprocess.DEVNULL)
    return done.returncode == 0


def is_ordinary(path):
    return path.is_file() or path.is_dir()


def give_up(campaign):
    """Keeps everything, and ends what runs."""
    folder = campaign.daemon.folder
    if campaign.has_disk:  # It vanishes with the namespace.
        shutil.copytree(campaign.runs, folder / "kept.runs", symlinks=True, ignore=lambda at, names: [
            name for name in names if not is_ordinary(pathlib.Path(at) / name)])
    print(f"everything is kept in {folder}", flush=True)
    campaign.daemon.process.kill()
    campaign.resume(float("inf"))
    for process, words in left_over(folder):
        if b"vernier-supervisor" in words:
            send(int(process), signal.SIGTERM)  # Then it brings its replica down.


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--bin", type=pathlib.Path, required=True, dest="bin_dir")
    parser.add_argument("--faults", type=int, default=20)
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--trials", type=int, default=6, help="budget of each study")
    args = parser.parse_args()
    in_a_namespace()
    begun = time.monotonic()
    folder = pathlib.Path(tempfile.mkdtemp(prefix="vernier-campaign-"))
    runs = folder / "vernier.db.runs"
    runs.mkdir()
    has_disk = mount_disk(runs, DISK_BYTES + args.faults * DISK_BYTES_PER_FAULT)
    if not has_disk:
        print("skipped: a full disk, which needs root and mount; the daemon is killed instead")
    daemon = Daemon(args.bin_dir.resolve(), folder)
    daemon.socket = folder / "socket"
    campaign = Campaign(daemon, Studies(daemon, args.trials), has_disk)
    try:
        campaign.run(draw_faults(args.seed, args.faults, has_disk))
        calm = time.monotonic()
        summary = campaign_checks.check(campaign)
        ended = time.monotonic()
        daemon.stop()
    except (Exception, SystemExit) as problem:  # Also what the daemon, or a command, ended with.
        print(f"seed {args.seed}, after {len(campaign.told)} faults:", *campaign.told, f"violation: {problem}", sep="\n")
        give_up(campaign)
        sys.exit(1)
    if has_disk:
        subprocess.run(["umount", str(runs)], check=True)
    shutil.rmtree(folder)
    print(f"seed {args.seed}: {args.faults} faults in {calm - begun:.0f} s, {ended - calm:.0f} s to the end and checks; "
          f"{summary}")


if __name__ == "__main__":
    main()
