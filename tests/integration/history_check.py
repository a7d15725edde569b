#!/usr/bin/env python3
"""Sixteen clients of one study over gRPC, and a daemon that is killed at random moments; then their history is checked.

Every client writes down what it sent and what was acknowledged, and repeats a call with its request id until it has an answer.
Then history_rules.py compares this with the study's log. On a violation the folder is kept and the exit status is 1.

usage: history_check.py --bin BIN_DIR [--kills N] [--seed N] [--clients N]
(with a Python that has grpcio-tools: scripts/lib/python_venv grpc)
"""

import argparse
import dataclasses
import itertools
import json
import os
import pathlib
import random
import shutil
import sys
import tempfile
import threading
import time

os.environ["GRPC_ENABLE_FORK_SUPPORT"] = "0"  # The daemon is started by exec at once.
import grpc

import history_rules
from daemon import Daemon
from python_client_test import generate

TTL = 2.0  # Seconds of a lease.
PATIENCE = 60  # Seconds in which a call must have an answer.
TRANSIENT = (grpc.StatusCode.UNAVAILABLE, grpc.StatusCode.DEADLINE_EXCEEDED, grpc.StatusCode.CANCELLED)


@dataclasses.dataclass
class Call:
    """One call, with all its repetitions."""
    client: str
    verb: str
    request_id: str
    trial: int  # 0: about the study.
    token: int = 0
    step: int = 0
    value: float = 0.0
    began: float = 0.0  # When it was sent first.
    sent: float = 0.0  # When that was sent which was answered.
    ended: float = 0.0  # When the answer came.
    tries: int = 0
    refused: str = ""  # Status of the refusal; empty: acknowledged, if it has ended.
    trials: list = dataclasses.field(default_factory=list)  # In the answer, as seen() has them.
    again: list = dataclasses.field(default_factory=list)  # Numbers in the answer when the call was repeated after its answer.
    again_ended: float = 0.0  # When that came.

    @property
    def is_acknowledged(self):
        return self.ended > 0 and not self.refused


def seen(trial, state_name):
    return {"number": trial.number, "state": state_name(trial.state), "count": trial.measurement_count,
            "final": dict(trial.final_metrics), "holder": trial.lease.holder, "token": trial.lease.token,
            "has_lease": trial.HasField("lease")}


class Wire:
    """The service, called until it answers."""

    def __init__(self, daemon, modules):
        self.pb, self.study_pb, self.trial_pb, self.rpc = modules
        self.channel = grpc.insecure_channel(f"unix:{daemon.socket}", options=[
            ("grpc.initial_reconnect_backoff_ms", 50), ("grpc.min_reconnect_backoff_ms", 50),
            ("grpc.max_reconnect_backoff_ms", 200), ("grpc.use_local_subchannel_pool", 1)])
        self.stub = self.rpc.StudyServiceStub(self.channel)

    def ask(self, method, request, call):
        """The answer; None if the call was refused."""
        deadline = time.time() + PATIENCE
        call.began = call.began or time.time()
        while True:
            call.tries += 1
            call.sent = time.time()
            try:
                answer = getattr(self.stub, method)(request, timeout=5, wait_for_ready=True)
                call.ended = time.time()
                return answer
            except grpc.RpcError as error:
                if error.code() not in TRANSIENT or time.time() > deadline:
                    call.refused = f"{error.code().name}: {error.details()}"
                    call.ended = time.time()
                    return None

    def seen(self, trial):
        return seen(trial, self.trial_pb.TrialState.Name)


class Client(threading.Thread):
    """Works on trials until it is told to end. Sometimes it forgets a trial, is late, stops somebody's trial."""

    steps = itertools.count(1)  # Of all clients, so that a step names its report.

    def __init__(self, wire, name, seed, study):
        super().__init__(daemon=True)
        self.wire, self.name_, self.chance, self.study = wire, name, random.Random(f"{seed} {name}"), study
        self.history = []
        self.is_over = threading.Event()
        self.highest = 1
        self.error = None

    def run(self):
        try:
            while not self.is_over.is_set():
                self.work()
        except Exception as error:  # Told by the main thread.
            self.error = error

    def call(self, verb, method, request, trial=0, **more):
        """Sends it with a request id if it changes anything, now and then once more after the answer."""
        number = len(self.history) + 1
        call = Call(self.name_, verb, f"{self.name_}-{number}" if hasattr(request, "request_id") else "", trial, **more)
        if call.request_id:
            request.request_id = call.request_id
        self.history.append(call)
        answer = self.wire.ask(method, request, call)
        if answer is None:
            return None
        call.trials = [self.wire.seen(one) for one in trials_of(answer)]
        if call.request_id and self.chance.random() < 0.1:
            again = Call(self.name_, verb, call.request_id, trial)
            repeated = self.wire.ask(method, request, again)
            call.again = [f"refused: {again.refused}"] if repeated is None else [t.number for t in trials_of(repeated)]
            call.again_ended = again.ended
        return answer

    def trial_name(self, number):
        return f"{self.study}/trials/{number}"

    def work(self):
        pb, chance = self.wire.pb, self.chance
        request = pb.SuggestTrialsRequest(parent=self.study, count=chance.choice([1, 1, 1, 2, 3]), client_id=self.name_)
        answer = self.call("suggest", "SuggestTrials", request)
        for trial in answer.trials if answer else []:
            self.highest = max(self.highest, trial.number)
            if trial.lease.holder == self.name_ and trial.state == self.wire.trial_pb.RUNNING:
                self.try_out(trial)
        if chance.random() < 0.2:
            self.call("list", "ListTrials", pb.ListTrialsRequest(parent=self.study, page_size=20, order_by="number desc"))
        if chance.random() < 0.1:
            number = max(1, self.highest - chance.randrange(20))
            self.call("stop", "StopTrial", pb.StopTrialRequest(name=self.trial_name(number), reason="seen enough"), number)

    def try_out(self, trial):
        pb, chance = self.wire.pb, self.chance
        for _ in range(chance.randrange(1, 5)):
            self.is_over.wait(chance.uniform(0, 0.05))
            step = next(Client.steps)
            request = pb.ReportMeasurementRequest(name=trial.name, client_id=self.name_, lease_token=trial.lease.token)
            request.measurements.add(step=step, metrics={"score": history_rules.value(trial.number, step)})
            self.call("report", "ReportMeasurement", request, trial.number, token=trial.lease.token, step=step,
                      value=history_rules.value(trial.number, step))
            if chance.random() < 0.7:
                request = pb.HeartbeatTrialRequest(name=trial.name, client_id=self.name_, lease_token=trial.lease.token)
                self.call("heartbeat", "HeartbeatTrial", request, trial.number, token=trial.lease.token)
            if chance.random() < 0.3:
                self.call("get", "GetTrial", pb.GetTrialRequest(name=trial.name), trial.number)
        fate = chance.random()
        if fate < 0.08:
            return  # Forgotten: its lease expires, or the next suggestion brings it again.
        if fate < 0.12:
            self.is_over.wait(TTL * 1.5)  # Late: somebody else may have it.
        request = pb.CompleteTrialRequest(name=trial.name, client_id=self.name_, lease_token=trial.lease.token)
        final = history_rules.value(trial.number, 0)
        if chance.random() < 0.5:
            request.final_metrics["score"] = final
        self.call("complete", "CompleteTrial", request, trial.number, token=trial.lease.token,
                  value=request.final_metrics["score"] if request.final_metrics else 0.0)
        self.call("get", "GetTrial", pb.GetTrialRequest(name=trial.name), trial.number)


def trials_of(answer):
    if hasattr(answer, "trials"):
        return list(answer.trials)
    return [answer.trial] if hasattr(answer, "trial") else [answer]


class Tail(threading.Thread):
    """Follows the study's log through every death of the daemon."""

    def __init__(self, wire, study):
        super().__init__(daemon=True)
        self.wire, self.study, self.events = wire, study, []
        self.is_over = threading.Event()

    def run(self):
        while not self.is_over.is_set():
            after = self.events[-1].seq if self.events else 0
            request = self.wire.pb.WatchStudyRequest(name=self.study, after_event=after, follow=True)
            try:
                for event in self.wire.stub.WatchStudy(request, timeout=2, wait_for_ready=True):
                    self.events.append(event)
            except grpc.RpcError as error:
                if error.code() not in TRANSIENT:
                    raise


def create_study(wire):
    spec = wire.study_pb.StudySpec(
        objectives=[wire.study_pb.Objective(metric="score", goal=wire.study_pb.MAXIMIZE)],
        parameters=[wire.study_pb.Parameter(name="x", float=wire.study_pb.FloatDomain(lower=0, upper=1))],
        algorithm=wire.study_pb.Choice(name="random"), parallel=100, seed=5)
    spec.lease.ttl.FromNanoseconds(int(TTL * 1e9))
    request = wire.pb.CreateStudyRequest(study_id="history", study=wire.study_pb.Study(spec=spec), request_id="create")
    return wire.stub.CreateStudy(request, timeout=20, wait_for_ready=True).name


def run(args, daemon, modules):
    """What the clients and the tail have seen, and the final state."""
    chance = random.Random(args.seed)
    options = ["--listen", f"unix:{daemon.socket}", "--log-level", "warning"]
    daemon.start(*options)
    wire = Wire(daemon, modules)
    study = create_study(wire)
    clients = [Client(Wire(daemon, modules), f"client-{n}", args.seed, study) for n in range(args.clients)]
    tail = Tail(Wire(daemon, modules), study)
    for thread in [tail, *clients]:
        thread.start()
    for number in range(1, args.kills + 1):
        time.sleep(chance.uniform(0.1, 1.0))
        daemon.kill()
        time.sleep(chance.choice([0, 0.1, 0.2, 0.3, 1.5 * TTL]))  # The last: every lease has expired meanwhile.
        daemon.start(*options)
        print(f"kill {number}: {sum(len(client.history) for client in clients)} calls so far", flush=True)
    for client in clients:
        client.is_over.set()
    for client in clients:
        client.join(timeout=2 * PATIENCE)
    tail.is_over.set()
    tail.join(timeout=PATIENCE)
    errors = [f"{client.name_}: {client.error!r}" for client in clients if client.error or client.is_alive()]
    events, trials = final_state(wire, study)
    replay = wire.stub.ReplayStudy(wire.pb.ReplayStudyRequest(name=study), timeout=120)
    return history_rules.Record(calls=[call for client in clients for call in client.history], events=events,
                                tailed=tail.events, trials=trials, replay=replay, errors=errors, ttl=TTL)


def final_state(wire, study):
    """The log, and the rows at its end: leases may expire between the two looks."""
    while True:
        events = list(wire.stub.WatchStudy(wire.pb.WatchStudyRequest(name=study), timeout=60))
        trials, token = [], ""
        while not trials or token:
            request = wire.pb.ListTrialsRequest(parent=study, page_size=1000, page_token=token)
            page = wire.stub.ListTrials(request, timeout=60)
            trials += [wire.seen(trial) for trial in page.trials]
            token = page.next_page_token
        study_now = wire.stub.GetStudy(wire.pb.GetStudyRequest(name=study), timeout=60)
        if study_now.last_event == events[-1].seq:
            return events, trials


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--bin", type=pathlib.Path, required=True, dest="bin_dir")
    parser.add_argument("--kills", type=int, default=10)
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--clients", type=int, default=16)
    args = parser.parse_args()
    begun = time.monotonic()
    folder = pathlib.Path(tempfile.mkdtemp(prefix="vernier-history-"))
    generated = folder / "generated"
    generated.mkdir()
    generate(pathlib.Path(__file__).resolve().parents[2] / "proto", generated)
    from vernier.v1 import study_pb2, study_service_pb2, study_service_pb2_grpc, trial_pb2
    daemon = Daemon(args.bin_dir.resolve(), folder)
    daemon.socket = folder / "socket"
    try:
        record = run(args, daemon, (study_service_pb2, study_pb2, trial_pb2, study_service_pb2_grpc))
    finally:
        if daemon.process is not None and daemon.process.poll() is None:
            daemon.stop()
    problems = history_rules.check(record)
    if problems:
        with open(folder / "calls.jsonl", "w", encoding="utf-8") as file:
            file.writelines(json.dumps(dataclasses.asdict(call)) + "\n" for call in record.calls)
        print(f"seed {args.seed}, {args.kills} kills; the log and calls.jsonl are kept in {folder}")
        print(*problems[:50], f"{len(problems)} violations", sep="\n")
        sys.exit(1)
    shutil.rmtree(folder)
    print(f"seed {args.seed}: {args.kills} kills in {time.monotonic() - begun:.0f} s; {history_rules.numbers(record)}")


if __name__ == "__main__":
    main()
