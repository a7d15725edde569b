#!/usr/bin/env python3
"""Kills a replica of a data-parallel PyTorch job, first the worker, then the chief. The other one ends with a status of its
own, as gloo does; yet the one that was killed is to blame, and the job is run again and completes.
usage: peer_loss_test.py SOURCE_DIR BIN_DIR
"""

import pathlib
import sys
import tempfile

from daemon import Daemon, kill_program, running, wait_until

STUDY = """\
study: {name}
objective: {{maximize: accuracy}}
parameters: {{lr: {{float: [1e-3, 0.1]}}}}
algorithm: random
budget: {{trials: 1}}
metrics: {{accuracy: {{regex: 'epoch=(?P<step>\\d+) accuracy=([0-9.]+)'}}}}
job:
  command: [/usr/bin/python3, {trainer}, --epochs, "20"]
  env: {{OMP_NUM_THREADS: "1"}}
  replicas: {{chief: {{count: 1, cpus: 0.5}}, worker: {{count: 1, cpus: 0.5}}}}
"""


def lose(daemon, folder, trainer, role):
    name = f"lost-{role}"
    (folder / f"{name}.yaml").write_text(STUDY.format(name=name, trainer=trainer))
    daemon.call("study", "create", folder / f"{name}.yaml")
    wait_until(lambda: daemon.json("trial", "list", name), "no trial was made")
    wait_until(lambda: "epoch=2 " in daemon.call("trial", "logs", name, "1"), "the job did not train")
    [(replica, process)] = running(folder / "vernier.db.runs" / name, f"{role}-0").items()
    assert kill_program(process, replica), "the job had ended"
    study = daemon.wait_for_study(name)
    trial = daemon.json("trial", "show", name, "1")
    assert study["state"] == "COMPLETED" and trial["state"] == "COMPLETED", trial
    lost, won = trial["attempts"]
    assert (lost["state"], lost["failure"]) == ("FAILED", "PREEMPTED"), lost
    assert lost["message"].startswith(f"The replica {role} 0 exited with a non-zero status of 9(SIGKILL)"), lost
    assert won["state"] == "SUCCEEDED", won


def main():
    source, bin_dir = (pathlib.Path(word).resolve() for word in sys.argv[1:])
    with tempfile.TemporaryDirectory(prefix="vernier-peer-") as name:
        folder = pathlib.Path(name)
        daemon = Daemon(bin_dir, folder)
        daemon.start()
        for role in ("worker", "chief"):
            lose(daemon, folder, source / "examples/digits/train.py", role)
        daemon.stop()
    print("the loss of a worker and of a chief cost an attempt each")


if __name__ == "__main__":
    main()
