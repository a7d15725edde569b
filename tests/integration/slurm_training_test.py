#!/usr/bin/env python3
"""Real distributed training on a Slurm cluster of this host: the example's digits study by `vernier run --cluster`, without a
daemon, and a TensorFlow job with ParameterServerStrategy under a daemon: a chief without a GPU, two workers with one each
and a parameter server, each of whom sees the devices that it asked for.   usage: slurm_training_test.py SOURCE_DIR BIN_DIR
"""

import os
import pathlib
import shutil
import subprocess
import sys

from daemon import wait_until
from slurm_cluster import cluster_and_daemon

PARAMETER_SERVER = """\
study: ps
cluster: hpc
objective: {{maximize: accuracy}}
parameters: {{lr: {{float: [0.05, 0.5], scale: log}}}}
parallel: 1
budget: {{trials: 2}}
job:
  command: [{python}, -m, trainer.parameter_server, --epochs, "3"]
  working_dir: {folder}/package
  dir: {folder}/out
  replicas:
    chief: {{count: 1, cpus: 2}}
    worker: {{count: 2, cpus: 1, gpus: 1, gpu_type: V100}}
    ps: {{count: 1, cpus: 1}}
"""


def digits(bin_dir, source, folder):
    """As a user on a login node: the example, a configuration, one command."""
    shutil.copytree(source / "examples/slurm", folder / "examples/slurm")
    shutil.copytree(source / "examples/digits", folder / "examples/digits")
    example = folder / "examples/slurm"
    study = (example / "study.yaml").read_text()
    (example / "study.yaml").write_text(study.replace("trials: 20", "trials: 4").replace("python3", "/usr/bin/python3"))
    configuration = (example / "server.yaml").read_text()
    assert "/home/me/vernier" in configuration
    (example / "server.yaml").write_text(configuration.replace("/home/me/vernier", f"{folder}/shared"))
    store = ["--store", folder / "run.db"]
    ran = subprocess.run([bin_dir / "vernier", "run", "study.yaml", "--config", "server.yaml", *store], cwd=example,
                         capture_output=True, text=True, timeout=300)
    if ran.returncode != 0:
        sys.exit(f"vernier run: exit {ran.returncode}\n{ran.stdout}\n{ran.stderr}")
    for number in (1, 2, 3, 4):
        log = subprocess.run([bin_dir / "vernier", "trial", "logs", "digits", str(number), *store], check=True,
                             capture_output=True, text=True).stdout
        assert f"trial {number}: replica 0 of 2" in log and f"trial {number}: replica 1 of 2" in log, log
    assert "study 'digits' is COMPLETED" in ran.stdout and "best trial" in ran.stdout, ran.stdout
    subprocess.run([bin_dir / "vernier", "study", "replay", "digits", "--verify", "--strict", *store], check=True,
                   capture_output=True)


def parameter_server(daemon, python, source, folder):
    shutil.copytree(source / "tests/integration/strategies", folder / "package")
    (folder / "ps.yaml").write_text(PARAMETER_SERVER.format(python=python, folder=folder))
    daemon.call("study", "create", folder / "ps.yaml")
    study = daemon.wait_for_study("ps", seconds=300)
    assert study["state"] == "COMPLETED", (study, daemon.call("trial", "list", "ps"), daemon.call("trial", "logs", "ps", 1))
    best = daemon.json("study", "best", "ps")
    assert best["final_metrics"]["accuracy"] > 0.5, best
    for number in (1, 2):
        devices = {}
        for role, index in (("chief", 0), ("worker", 0), ("worker", 1), ("ps", 0)):
            said = daemon.call("trial", "logs", "ps", number, "--role", role, "--index", index)
            assert "cluster=['chief', 'ps', 'worker']" in said, said
            devices[role, index] = said.split("devices=")[1].split(" ")[0]
            assert role != "worker" or "takes a step" in said, said
        assert devices["chief", 0] == devices["ps", 0] == "", devices
        assert all(devices["worker", index] in "0123" and devices["worker", index] for index in (0, 1)), devices


def main():
    source, bin_dir = (pathlib.Path(word).resolve() for word in sys.argv[1:3])
    python = subprocess.run([source / "scripts/lib/python_venv", "tensorflow"], check=True, capture_output=True,
                            text=True).stdout.strip()
    with cluster_and_daemon(source, bin_dir) as (cluster, daemon, folder):
        digits(bin_dir, source, folder)
        configuration = folder / "server.yaml"
        configuration.write_text(f"clusters: {{hpc: {{slurm: {{shared: {folder}/shared}}}}}}\n")
        daemon.start("--config", configuration)
        parameter_server(daemon, python, source, folder)
        wait_until(lambda: cluster.jobs() == [], "jobs are left", seconds=30, pause=0.2)
        daemon.stop()


if __name__ == "__main__":
    os.umask(0o077)
    main()
