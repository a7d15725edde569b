"""A daemon of its own in a folder of its own, for tests that kill what it runs."""

import json
import os
import pathlib
import re
import signal
import subprocess
import sys
import time


class Daemon:
    def __init__(self, bin_dir, folder):
        self.bin_dir, self.folder = bin_dir, folder
        self.store = folder / "vernier.db"
        self.log = folder / "vernierd.log"
        self.process = None
        self.greeting = ""  # The line that says where it listens.

    def start(self, *options, **how):
        """`how`: of its process, as subprocess.Popen takes it."""
        command = [self.bin_dir / "vernierd", "--store", self.store, *options]
        with open(self.log, "ab") as log:
            self.process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=log, text=True, **how)
        self.greeting = self.process.stdout.readline()
        if not self.greeting:
            sys.exit(f"vernierd did not start:\n{self.log.read_text()[-2000:]}")

    @property
    def address(self):
        """The first that it listens on."""
        return re.search(r"listening on ([^\s,]+)", self.greeting).group(1)

    def kill(self):
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()

    def stop(self):
        self.process.terminate()
        self.process.wait(timeout=20)

    def call(self, *words):
        """What `vernier WORDS` prints."""
        result = subprocess.run([self.bin_dir / "vernier", "--store", self.store, *map(str, words)],
                                capture_output=True, text=True, timeout=60)
        if result.returncode != 0:
            sys.exit(f"vernier {' '.join(map(str, words))}: exit {result.returncode}\n{result.stdout}\n{result.stderr}")
        return result.stdout

    def fails(self, code, *words):
        """What `vernier WORDS` complains of, which must exit with that code."""
        result = subprocess.run([self.bin_dir / "vernier", "--store", self.store, *map(str, words)],
                                capture_output=True, text=True, timeout=60)
        if result.returncode != code:
            sys.exit(f"vernier {' '.join(map(str, words))}: exit {result.returncode}, not {code}\n{result.stderr}")
        return result.stderr

    def json(self, *words):
        return json.loads(self.call("-o", "json", *words))

    def stop_with_trials(self):
        """Also ends what runs, which would outlive the daemon as it is meant to."""
        self.stop()
        for process, words in left_over(self.folder):
            if b"vernier-supervisor" in words:
                os.kill(int(process), signal.SIGTERM)  # Then it brings its replica down.

    def wait_for_study(self, name, seconds=120):
        """The study once it has ended."""
        subprocess.run([self.bin_dir / "vernier", "--store", self.store, "study", "wait", name], capture_output=True,
                       timeout=seconds, check=False)
        return self.json("study", "show", name)


def wait_until(condition, complaint, seconds=60, pause=0.02):
    """The first value of `condition` that counts as true."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        value = condition()
        if value:
            return value
        time.sleep(pause)
    sys.exit(complaint)


def running(folder, replica):
    """The processes of that replica's programs, of every attempt below the folder, by the folder of the replica."""
    processes = {}
    for record in pathlib.Path(folder).glob(f"**/{replica}/running.json"):
        if not (record.parent / "exit.json").exists():
            try:
                processes[record.parent] = json.loads(record.read_text())["process"]
            except (OSError, ValueError):
                pass  # It is being replaced.
    return processes


def kill_program(process, replica, by=signal.SIGKILL):
    """Kills a replica's program; False if it had ended. No other process is hit: its environment names the replica."""
    try:
        environment = pathlib.Path(f"/proc/{process}/environ").read_bytes().split(b"\0")
        if f"VERNIER_REPLICA_DIRECTORY={replica}".encode() not in environment:
            return False
        os.kill(process, by)
        return True
    except (OSError, ProcessLookupError):
        return False


def left_over(folder):
    """The processes that belong to a replica of a trial whose store is in the folder."""
    records = re.compile(re.escape(os.fsencode(folder)) + rb"/[^/\0]*\.db\.runs/")
    found = []
    for process in pathlib.Path("/proc").glob("[0-9]*"):
        try:
            words = (process / "environ").read_bytes() + (process / "cmdline").read_bytes()
        except OSError:
            continue
        if records.search(words):
            found.append((process.name, words))  # Its id, its environment and its command line.
    return found
