"""A daemon of its own in a folder of its own, for tests that kill what it runs."""

import json
import os
import pathlib
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

    def start(self, *options):
        command = [self.bin_dir / "vernierd", "--listen", "127.0.0.1:0", "--store", self.store, *options]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=open(self.log, "ab"), text=True)
        if not self.process.stdout.readline():
            sys.exit(f"vernierd did not start:\n{self.log.read_text()[-2000:]}")

    def kill(self):
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()

    def stop(self):
        self.process.terminate()
        self.process.wait(timeout=20)

    def call(self, *words):
        """What `vernier WORDS` prints."""
        result = subprocess.run([self.bin_dir / "vernier", *words, "--store", self.store],
                                capture_output=True, text=True, timeout=60)
        if result.returncode != 0:
            sys.exit(f"vernier {' '.join(map(str, words))}: exit {result.returncode}\n{result.stdout}\n{result.stderr}")
        return result.stdout

    def json(self, *words):
        return json.loads(self.call(*words, "-o", "json"))

    def wait_for_study(self, name, seconds=120):
        """The study once it has ended."""
        def ended():
            study = self.json("study", "show", name)
            return study if study["state"] not in ("STUDY_ACTIVE", "STUDY_PAUSED", "STUDY_STOPPING") else None
        return wait_until(ended, f"study {name} did not end", seconds)


def wait_until(condition, complaint, seconds=60):
    """The first value of `condition` that counts as true."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        value = condition()
        if value:
            return value
        time.sleep(0.02)
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


def kill_program(process, replica):
    """Kills a replica's program; False if it had ended. No other process is hit: its environment names the replica."""
    try:
        environment = pathlib.Path(f"/proc/{process}/environ").read_bytes().split(b"\0")
        if f"VERNIER_REPLICA_DIRECTORY={replica}".encode() not in environment:
            return False
        os.kill(process, signal.SIGKILL)
        return True
    except (OSError, ProcessLookupError):
        return False
