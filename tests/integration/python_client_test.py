#!/usr/bin/env python3
"""A Python client made from proto/ alone submits a study with a training job and follows it to its best trial.

usage: python_client_test.py BIN_DIR PROTO_DIR     (with a Python that has grpcio-tools: scripts/lib/python_venv grpc)
"""

import importlib.resources
import json
import pathlib
import subprocess
import sys
import tempfile

import grpc
import grpc_tools.protoc

TRAINER = """\
#!/bin/sh
# Reports a value that is best where x is 0.5, then ends.
for argument; do
  case $argument in --x=*) x=${argument#--x=} ;; esac
done
awk -v x="$x" 'BEGIN { printf "score=%.6f\\n", 1 - (x - 0.5) * (x - 0.5) }'
"""
# Reports by the generated stubs alone, as docs/guides/training_jobs.md shows it.
REPORTER = """\
import os, sys, grpc
sys.path.insert(0, sys.argv[1])
from vernier.v1 import study_service_pb2 as pb, study_service_pb2_grpc as rpc
stub = rpc.StudyServiceStub(grpc.insecure_channel(os.environ["VERNIER_ADDRESS"]))
for epoch in range(1, 6):
    request = pb.ReportMeasurementRequest(name=os.environ["VERNIER_TRIAL_NAME"], attempt_token=os.environ["VERNIER_TOKEN"])
    request.measurements.add(step=epoch, metrics={"score": epoch / 10})
    stop = stub.ReportMeasurement(request, wait_for_ready=True, timeout=30).should_stop
    assert not stop
"""
TRIALS = 6


def generate(proto_dir, out):
    """Python for every file of the service, as a user of the wire would make it."""
    well_known = importlib.resources.files("grpc_tools") / "_proto"
    files = [str(path) for path in sorted((proto_dir / "vernier/v1").glob("*.proto"))]
    code = grpc_tools.protoc.main(
        ["protoc", f"-I{proto_dir}", f"-I{well_known}", f"--python_out={out}", f"--grpc_python_out={out}", *files])
    if code != 0:
        sys.exit(f"protoc: exit {code}")
    sys.path.insert(0, str(out))


class Daemon:
    def __init__(self, bin_dir, folder):
        self.process = subprocess.Popen(
            [str(bin_dir / "vernierd"), "--store", str(folder / "vernier.db"),
             "--cpus", "2", "--log-level", "error"],
            stdout=subprocess.PIPE, text=True)
        line = self.process.stdout.readline()  # listening on ADDRESS store PATH
        if not line.startswith("listening on "):
            sys.exit(f"vernierd did not start: {line!r}")
        self.address = line.split()[2]

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.terminate()
        if self.process.wait(timeout=20) != 0:
            sys.exit(f"vernierd ended with {self.process.returncode}")


def make_study(pb, study_pb, trainer):
    spec = study_pb.StudySpec(
        objectives=[study_pb.Objective(metric="score", goal=study_pb.MAXIMIZE)],
        parameters=[study_pb.Parameter(name="x", float=study_pb.FloatDomain(lower=0, upper=1))],
        algorithm=study_pb.Choice(name="random"), parallel=2, budget=study_pb.Budget(trials=TRIALS), seed=7)
    spec.metrics["score"].regex = "score=([0-9.]+)"
    spec.job.command.extend(["/bin/sh", str(trainer)])
    spec.job.replicas["chief"].cpus = 0.5
    return pb.CreateStudyRequest(study_id="from-python", study=study_pb.Study(spec=spec), request_id="create-1")


def report_from_a_job(stub, pb, study_pb, folder, generated):
    """The steps and values that a trial's program reported by its stubs."""
    reporter = folder / "reporter.py"
    reporter.write_text(REPORTER)
    spec = study_pb.StudySpec(
        objectives=[study_pb.Objective(metric="score", goal=study_pb.MAXIMIZE)],
        parameters=[study_pb.Parameter(name="x", float=study_pb.FloatDomain(lower=0, upper=1))],
        algorithm=study_pb.Choice(name="random"), parallel=1, budget=study_pb.Budget(trials=1))
    spec.job.command.extend([sys.executable, str(reporter), str(generated)])
    stub.CreateStudy(pb.CreateStudyRequest(study_id="reporting", study=study_pb.Study(spec=spec)), timeout=10)
    follow(stub, pb, "studies/reporting")
    listed = stub.ListMeasurements(pb.ListMeasurementsRequest(parent="studies/reporting/trials/1"), timeout=10)
    return [(m.step, m.metrics["score"], m.source) for m in listed.measurements]


def follow(stub, pb, name):
    """Watches the study to its end; returns its events."""
    events = []
    for event in stub.WatchStudy(pb.WatchStudyRequest(name=name, follow=True), timeout=90):
        events.append(event)
    return events


def check(problems, condition, message):
    if not condition:
        problems.append(message)


def main():
    bin_dir, proto_dir = (pathlib.Path(argument).resolve() for argument in sys.argv[1:3])
    with tempfile.TemporaryDirectory(prefix="vernier-python-") as name:
        folder = pathlib.Path(name)
        generated = folder / "generated"
        generated.mkdir()
        generate(proto_dir, generated)
        from vernier.v1 import study_pb2, study_service_pb2 as pb, study_service_pb2_grpc, trial_pb2
        trainer = folder / "trainer.sh"
        trainer.write_text(TRAINER)
        problems = []
        with Daemon(bin_dir, folder) as daemon, grpc.insecure_channel(daemon.address) as channel:
            stub = study_service_pb2_grpc.StudyServiceStub(channel)
            request = make_study(pb, study_pb2, trainer)
            study = stub.CreateStudy(request, timeout=10)
            check(problems, stub.CreateStudy(request, timeout=10).name == study.name, "the retry made another study")
            events = follow(stub, pb, study.name)
            check(problems, [e.seq for e in events] == list(range(1, len(events) + 1)), "the log has gaps")
            check(problems, all(json.loads(e.payload_json) is not None for e in events), "a payload is no JSON")

            study = stub.GetStudy(pb.GetStudyRequest(name=study.name), timeout=10)
            check(problems, study.state == study_pb2.STUDY_COMPLETED, f"the study is {study}")
            trials = stub.ListTrials(
                pb.ListTrialsRequest(parent=study.name, order_by="metrics.score desc"), timeout=10).trials
            check(problems, len(trials) == TRIALS, f"there are {len(trials)} trials")
            for trial in trials:
                check(problems, trial.state == trial_pb2.COMPLETED, f"trial {trial.number}: {trial.message}")
                wanted = 1 - (trial.parameters["x"].number - 0.5) ** 2
                check(problems, abs(trial.final_metrics["score"] - wanted) < 1e-5, f"trial {trial.number}: {trial}")
            check(problems, trials[0].number == study.best_trial, f"best is {study.best_trial}, not {trials[0].number}")

            logs = list(stub.StreamTrialLogs(pb.StreamTrialLogsRequest(name=trials[0].name), timeout=10))
            check(problems, any(line.text.startswith("score=") for line in logs), f"logs are {logs}")
            replay = stub.ReplayStudy(pb.ReplayStudyRequest(name=study.name), timeout=10)
            check(problems, replay.verified == TRIALS and not replay.problems, f"replay: {replay}")
            best = trials[0]
            reported = report_from_a_job(stub, pb, study_pb2, folder, generated)
            check(problems, reported == [(n, n / 10, "report") for n in range(1, 6)], f"reported were {reported}")
    if problems:
        sys.exit("\n".join(problems))
    print(f"best is trial {best.number}: x={best.parameters['x'].number:.4f} score={best.final_metrics['score']:.6f}")


if __name__ == "__main__":
    main()
