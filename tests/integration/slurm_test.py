#!/usr/bin/env python3
"""Studies on a real Slurm cluster of this host. A chief and two workers that meet by TF_CONFIG, to the best trial; kills at random
meanwhile, of the daemon, of the controller (which may come back with an older state), of a node's daemon, of a process of a step, of a job, and
a node that is set down. Afterwards: the budget is exact, no trial ran twice to its
end, the study replays, and no job is left. Then bad input, each refused with one sentence.
usage: slurm_test.py BIN_DIR SOURCE_DIR [--kills N] [--seed N]
"""

import argparse
import contextlib
import json
import os
import pathlib
import random
import signal
import subprocess
import sys
import time

from daemon import wait_until
from slurm_cluster import cluster_and_daemon


# The workers wait for the chief, which listens at the address that TF_CONFIG has for it.
TRAINER = """\
import json, os, socket, sys, time
config = json.loads(os.environ["TF_CONFIG"])
task, cluster = config["task"], config["cluster"]
out, x = sys.argv[1], float(sys.argv[2].split("=")[1])
host, port = cluster["chief"][0].rsplit(":", 1)
assert os.environ["MASTER_ADDR"] == host and os.environ["MASTER_PORT"] == port, os.environ
assert os.environ["WORLD_SIZE"] == "3"
if task["type"] == "chief":
    server = socket.create_server((host, int(port)))
    for _ in cluster["worker"]:
        server.accept()[0].sendall(b"go")
    for epoch in range(4):
        print(f"epoch={epoch} accuracy={1 - (x - 0.3) ** 2 - 0.1 / (epoch + 1)}", flush=True)
        time.sleep(0.1)
    with open(out, "a") as done:
        done.write(os.environ["VERNIER_TRIAL"] + "\\n")
else:
    for _ in range(600):
        try:
            with socket.create_connection((host, int(port)), timeout=1) as chief:
                chief.recv(2)
                break
        except OSError:
            time.sleep(0.05)
    else:
        sys.exit("the chief does not answer")
"""

STUDY = """\
study: {name}
objective: {{maximize: accuracy}}
parameters: {{x: {{float: [0, 1]}}}}
parallel: 3
budget: {{trials: {trials}}}
cluster: hpc
job:
  command: [python3, {folder}/train.py, {folder}/done-{name}]
  replicas: {{chief: {{count: 1, cpus: 1}}, worker: {{count: 2, cpus: 1, gpus: 1, gpu_type: V100}}}}
  restarts: {{job: 20, internal: 20}}
"""

# Words that a shell would take apart.
ODD = "a b;$(touch /tmp/vernier-was-here)'%j"

# `hpc` works, and so does `odd`; the others are wrong in one respect each.
CONFIGURATION = """\
clusters:
  hpc: {{slurm: {{shared: {folder}/shared, gpus: {{V100: v100}}}}}}
  odd: {{slurm: {{shared: "{folder}/{odd}"}}}}
  partition: {{slurm: {{shared: {folder}/shared, partition: "{odd}"}}}}
  reservation: {{slurm: {{shared: {folder}/shared, reservation: "{odd}"}}}}
  constraint: {{slurm: {{shared: {folder}/shared, constraint: "{odd}"}}}}
  nodes: {{slurm: {{shared: {folder}/shared, arguments: ["--nodelist={odd}"]}}}}
  option: {{slurm: {{shared: {folder}/shared, arguments: [--no-such-option]}}}}
  missing: {{slurm: {{shared: {folder}/shared, commands: {folder}/no-commands}}}}
  failing: {{slurm: {{shared: {folder}/shared, commands: {folder}/failing}}}}
  babbling: {{slurm: {{shared: {folder}/shared, commands: {folder}/babbling}}}}
"""


def programs(folder):
    """Processes of the supervisors on the nodes, and of what they run."""
    found = []
    for process in pathlib.Path("/proc").glob("[0-9]*"):
        try:
            words = (process / "cmdline").read_bytes().split(b"\0")
        except OSError:
            continue
        is_supervisor = len(words) > 2 and words[1] == b"--task" and words[2].startswith(str(folder).encode())
        if is_supervisor or str(folder / "train.py").encode() in words:
            found.append(int(process.name))
    return found


def disturb(daemon, cluster, configuration, chance):
    """One kill, and what brings it back."""
    what = chance.choice(["daemon", "controller", "old state", "node", "node down", "step", "job"])
    node = f"n{chance.randint(1, 4)}"
    if what == "daemon":
        daemon.kill()
        daemon.start("--config", configuration)
    elif what == "controller":
        cluster.kill("controller")
        time.sleep(chance.uniform(0, 1))
        cluster.run("controller")
    elif what == "old state":
        cluster.save_state()
        time.sleep(chance.uniform(0, 1))
        cluster.kill("controller")
        cluster.restore_state()
        cluster.run("controller")
    elif what == "node":
        cluster.kill(node)
        time.sleep(chance.uniform(0, 1))
        cluster.run("node", node)
    elif what == "node down":
        subprocess.run(["scontrol", "update", f"nodename={node}", "state=down", "reason=test"], check=False)
        time.sleep(chance.uniform(0, 1))
        subprocess.run(["scontrol", "update", f"nodename={node}", "state=resume"], check=False)
    elif what == "step":
        if processes := programs(daemon.folder):
            with contextlib.suppress(ProcessLookupError):
                os.kill(chance.choice(processes), signal.SIGKILL)
    elif jobs := cluster.jobs():
        subprocess.run(["scancel", chance.choice(jobs)], check=False)
    return what


def make_clients(folder, name, script):
    """Slurm's clients as they should not be."""
    (folder / name).mkdir()
    for client in ("sbatch", "squeue", "scontrol", "scancel", "sinfo"):
        (folder / name / client).write_text("#!/bin/sh\n" + script)
        (folder / name / client).chmod(0o755)


def refusals(daemon, folder):
    """Bad definitions and what the answer, one sentence, must say. Nothing is stored."""
    study = STUDY.format(name="bad", trials=1, folder=folder)

    def on(cluster):
        return study.replace("cluster: hpc", f"cluster: {cluster}")

    never = "Requested node configuration is not available"
    rows = [
        (on("nowhere"), "cluster: unknown cluster 'nowhere'; known: local, babbling,"),
        (on("7"), "cluster: must be text"),
        (on("[hpc]"), "cluster: must be text"),
        (on("''"), "cluster: must not be empty"),
        (study.replace("gpu_type: V100", "gpu_type: A100"), never),
        (study.replace("gpu_type: V100", f"gpu_type: \"{ODD}\""), never),
        (study.replace("gpus: 1", "gpus: 9"), never),
        (study.replace("chief: {count: 1, cpus: 1}", "chief: {count: 1, cpus: 99}"), never),
        (study.replace("chief: {count: 1, cpus: 1}", "chief: {count: 1, cpus: 1, memory: 900GiB}"), never),
        (study.replace("worker: {count: 2,", "worker: {count: 200,"), "replicas"),
        (study.replace("command: [python3", "image: org/trainer\n  command: [python3"), "container images need apptainer"),
        (on("partition"), f"invalid partition specified: {ODD}"),
        (on("reservation"), "reservation"),
        (on("constraint"), "feature"),
        (on("nodes"), f"error opening file {ODD}"),
        (on("option"), "unrecognized option '--no-such-option'"),
        (on("missing"), f"{folder}/no-commands/sbatch cannot be run: No such file or directory"),
        (on("failing"), "sbatch: the disk is on fire"),
    ]
    wrong = []
    for number, (text, message) in enumerate(rows):
        file = folder / f"bad{number}.yaml"
        file.write_text(text)
        said = daemon.fails(2, "study", "create", file)
        sentence, *hints = said.strip().split("\n")
        if message not in sentence or not all(hint.startswith("  ") for hint in hints):
            wrong.append(f"row {number}: {said!r} does not say {message!r} in one sentence")
    if wrong:
        sys.exit("\n".join(wrong))


# What a program is given, and where its files are, has words that a shell would take apart.
QUOTING = """\
study: quoting
objective: {{maximize: score}}
parameters: {{x: {{categorical: ["{odd}", "a\\nb"]}}}}
algorithm: grid
budget: {{trials: 2}}
cluster: odd
job: {{command: [python3, {folder}/say.py, "{odd}"], env: {{ODD: "{odd}"}}}}
"""
SAY = """\
import json, os, sys
print(json.dumps([sys.argv[1:], os.environ["ODD"]]))
print("score=1")
"""
# sbatch answers with something that is no id.
BABBLING = """\
study: babbling
objective: {{maximize: score}}
parameters: {{x: {{float: [0, 1]}}}}
budget: {{trials: 1, failed: 1}}
cluster: babbling
job: {{command: ["true"], restarts: {{internal: 0}}}}
"""


def oddities(daemon, folder):
    (folder / "say.py").write_text(SAY)
    (folder / "quoting.yaml").write_text(QUOTING.format(folder=folder, odd=ODD))
    daemon.call("study", "create", folder / "quoting.yaml")
    study = daemon.wait_for_study("quoting", seconds=60)
    assert study["state"] == "COMPLETED", (study, daemon.call("trial", "list", "quoting"))
    for number, x in ((1, ODD), (2, "a\nb")):
        said = json.loads(daemon.call("trial", "logs", "quoting", number).splitlines()[0].split(" O ")[-1])
        assert said == [[ODD, f"--x={x}"], ODD], said
    assert not pathlib.Path("/tmp/vernier-was-here").exists()

    # What shows only once the trial is submitted: sbatch accepts a job that is longer than its partition allows.
    for name, study, words in (
            ("babbling", BABBLING, "sbatch answered 'no idea' instead of a job's id"),
            ("endless", BABBLING.replace("babbling", "endless").replace("cluster: endless", "cluster: hpc").replace(
                "job: {{", "job: {{limits: {{time: 1000h}}, "), "PartitionTimeLimit")):
        (folder / f"{name}.yaml").write_text(study.format())
        daemon.call("study", "create", folder / f"{name}.yaml")
        study = daemon.wait_for_study(name, seconds=60)
        shown = daemon.call("trial", "show", name, 1)
        assert study["state"] == "FAILED" and words in shown, (study, shown)


def check(daemon, cluster, folder, name, budget):
    study = daemon.wait_for_study(name, seconds=240 + 20 * budget)
    if study["state"] != "COMPLETED" or int(study["trial_count"]) != budget:
        sys.exit(f"the study ended as {study['state']} with {study['trial_count']} trials: {study.get('reason')}\n"
                 + daemon.call("trial", "list", name))
    trials = daemon.json("trial", "list", name)
    states = [trial["state"] for trial in trials]
    if states.count("COMPLETED") < budget - 1:
        sys.exit(f"too few trials completed:\n{daemon.call('trial', 'list', name)}")
    ran = (folder / f"done-{name}").read_text().split()
    for trial in trials:
        number = str(trial["name"].rsplit("/", 1)[-1]) if "name" in trial else str(trial["number"])
        # A job that was killed after its chief had written may be run again: by another attempt, which the log has.
        if ran.count(number) > len(trial["attempts"]):
            sys.exit(f"trial {number} ran {ran.count(number)} times to its end, in {len(trial['attempts'])} attempts")
    daemon.call("study", "replay", name, "--verify")
    wait_until(lambda: cluster.jobs() == [], "jobs are left", seconds=150, pause=0.5)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("bin_dir", type=pathlib.Path)
    parser.add_argument("source", type=pathlib.Path)
    parser.add_argument("--kills", type=int, default=8)
    parser.add_argument("--trials", type=int, default=12)
    parser.add_argument("--seed", type=int, default=random.randrange(10**6))
    args = parser.parse_args()
    print("seed", args.seed)
    chance = random.Random(args.seed)
    with cluster_and_daemon(args.source, args.bin_dir) as (cluster, daemon, folder):
        (folder / "train.py").write_text(TRAINER)
        configuration = folder / "server.yaml"
        configuration.write_text(CONFIGURATION.format(folder=folder, odd=ODD))
        make_clients(folder, "failing", "echo sbatch: error: the disk is on fire >&2\nexit 1\n")
        make_clients(folder, "babbling", "echo no idea\n")
        daemon.start("--config", configuration)
        for name in ("calm", "rough"):
            (folder / f"{name}.yaml").write_text(STUDY.format(name=name, trials=args.trials, folder=folder))
        daemon.call("study", "create", folder / "calm.yaml")
        check(daemon, cluster, folder, "calm", args.trials)
        best = daemon.json("study", "best", "calm")
        print("best of calm:", json.dumps(best)[:200])
        nodes = daemon.call("node", "list")
        if "hpc:n1" not in nodes:
            sys.exit(f"node list does not show the cluster:\n{nodes}")
        refusals(daemon, folder)
        oddities(daemon, folder)

        daemon.call("study", "create", folder / "rough.yaml")
        for _ in range(args.kills):
            time.sleep(chance.uniform(0.2, 2))
            print("kill", disturb(daemon, cluster, configuration, chance), flush=True)
            cluster.heal(4)
        check(daemon, cluster, folder, "rough", args.trials)
        daemon.stop()


if __name__ == "__main__":
    main()
