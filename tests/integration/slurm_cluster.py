"""A Slurm cluster of this host's own, for tests (tests/slurm/cluster.sh)."""

import contextlib
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile

from daemon import Daemon


class Cluster:
    """`folder` must be short, for Slurm's sockets. Slurm's clients of this process and its children find the cluster."""

    def __init__(self, source, folder):
        self.script = source / "tests/slurm/cluster.sh"
        self.folder = folder / "c"
        os.environ["SLURM_CONF"] = str(self.folder / "slurm.conf")
        os.environ["PATH"] += ":/usr/sbin"

    def run(self, *words):
        subprocess.run([self.script, words[0], self.folder, *words[1:]], check=True)

    def kill(self, what):
        pid = (self.folder / "run" / f"{what}.pid").read_text()
        os.kill(int(pid), signal.SIGKILL)

    def save_state(self):
        """A copy of what the controller remembers, which `restore_state` puts back."""
        saved = self.folder / "saved"
        shutil.rmtree(saved, ignore_errors=True)
        # The controller replaces its files meanwhile.
        shutil.copytree(self.folder / "state", saved, ignore_dangling_symlinks=True,
                        copy_function=lambda source, to: shutil.copy2(source, to) if os.path.exists(source) else None)

    def restore_state(self):
        shutil.rmtree(self.folder / "state")
        shutil.copytree(self.folder / "saved", self.folder / "state")

    def heal(self, nodes):
        """Brings back nodes that are down or drained, for instance as an older state of the controller has them."""
        for number in range(1, nodes + 1):
            pid = (self.folder / "run" / f"n{number}.pid").read_text().strip()
            if not os.path.exists(f"/proc/{pid}"):
                self.run("node", f"n{number}")
            subprocess.run(["scontrol", "update", f"nodename=n{number}", "state=resume"], check=False, capture_output=True)

    def jobs(self):
        """Ids of jobs that wait or run; None while the controller does not answer."""
        listed = subprocess.run(["squeue", "-h", "-o", "%A"], capture_output=True, text=True, check=False)
        return listed.stdout.split() if listed.returncode == 0 else None


@contextlib.contextmanager
def cluster_and_daemon(source, bin_dir):
    """A cluster of four nodes, a daemon that is not started yet, and their folder. If the test fails, their logs are shown."""
    folder = pathlib.Path(tempfile.mkdtemp(prefix="vsl-", dir="/tmp"))  # Short, for Slurm's sockets.
    cluster, daemon = Cluster(source.resolve(), folder), Daemon(bin_dir.resolve(), folder)
    cluster.run("start", "4")
    try:
        yield cluster, daemon, folder
    except BaseException:
        for log in [daemon.log, *folder.glob("shared/**/slurm.log")]:
            if log.exists():
                print(f"--- {log}\n{log.read_text()[-1500:]}", file=sys.stderr)
        raise
    finally:
        if daemon.process is not None and daemon.process.poll() is None:
            daemon.process.kill()
        cluster.run("stop")
        shutil.rmtree(folder, ignore_errors=True)
