#!/usr/bin/env python3
"""Runs the tests in open-source Vizier's package against daemons: vizier_client_test, vizier_service_test and
performance_test, unmodified.

These tests start a server in their own process and write studies and trials into its store. Here a stand-in replaces that
server: it starts a daemon with a store of its own, forwards calls to it, and makes by calls what a test writes. A message
that a test wrote is then replaced by the daemon's answer, which has the number, times and client that the daemon assigned.

usage: vizier_package_test.py BIN_DIR [TEST ...]     (with a Python that has google-vizier: scripts/lib/python_venv vizier)
"""

import importlib
import pathlib
import sys
import tempfile
import types
import unittest

import numpy as np
from vizier import pyvizier as vz
from vizier._src.service import (resources, study_pb2, stubs_util, vizier_client, vizier_service_pb2,
                                 vizier_service_pb2_grpc)

from daemon import Daemon

BIN_DIR = pathlib.Path(sys.argv[1]).resolve()
Trial = study_pb2.Trial
daemons = []  # Started by the current test.

# Where the daemon differs on purpose: docs/guides/coming-from-vizier.md.
STOPS_AT_RANDOM = "Vizier's server stops a random trial, the daemon judges the curve"
DIFFERENT = {
    "VizierClientTest.test_should_trial_stop": STOPS_AT_RANDOM,
    "VizierServicerTest.test_early_stopping": STOPS_AT_RANDOM,
}


def start():
    """A new daemon's address."""
    folder = tempfile.TemporaryDirectory(prefix="vernier-vizier-")
    daemon = Daemon(BIN_DIR, pathlib.Path(folder.name))
    daemon.start()
    daemons.append((daemon, folder))
    return daemon.address


def stop_all():
    while daemons:
        daemon, folder = daemons.pop()
        daemon.stop()
        folder.cleanup()


class Datastore:
    """A store whose contents are written and read by calls of a daemon."""

    def __init__(self, stub):
        self.stub = stub

    def create_study(self, study):
        wanted = study.state
        name = resources.StudyResource.from_name(study.name)
        made = study_pb2.Study(display_name=name.study_id, study_spec=study.study_spec)
        study.CopyFrom(self.stub.CreateStudy(vizier_service_pb2.CreateStudyRequest(
            parent=resources.OwnerResource(name.owner_id).name, study=made)))
        if wanted not in (study_pb2.Study.STATE_UNSPECIFIED, study_pb2.Study.ACTIVE):
            study.CopyFrom(self.stub.SetStudyState(vizier_service_pb2.SetStudyStateRequest(
                parent=study.name, state=wanted)))

    def create_trial(self, trial):
        wanted = trial.state
        name = resources.TrialResource.from_name(trial.name)
        made = self.stub.CreateTrial(vizier_service_pb2.CreateTrialRequest(
            parent=name.study_resource.name, trial=trial))
        if made.name != trial.name:
            raise AssertionError(f"the trial is {made.name}, not {trial.name}")
        if wanted == Trial.ACTIVE:  # It is the only one that waits for a client.
            self.stub.SuggestTrials(vizier_service_pb2.SuggestTrialsRequest(
                parent=name.study_resource.name, suggestion_count=1, client_id=f"seed {made.id}"))
        trial.CopyFrom(self.get_trial(made.name))
        if wanted == Trial.ACTIVE and trial.state != Trial.ACTIVE:
            raise AssertionError(f"{trial.name} is {Trial.State.Name(trial.state)}, not ACTIVE")

    def load_study(self, name):
        return self.stub.GetStudy(vizier_service_pb2.GetStudyRequest(name=name))

    def get_trial(self, name):
        return self.stub.GetTrial(vizier_service_pb2.GetTrialRequest(name=name))


class VizierServicer(vizier_service_pb2_grpc.VizierServiceServicer):
    """Vizier's service in the test's process; forwards every call to a daemon."""

    def __init__(self, address=None, **unused_options):
        self.stub = stubs_util.create_vizier_server_stub(address or start())
        self.datastore = Datastore(self.stub)
        for method in vizier_service_pb2.DESCRIPTOR.services_by_name["VizierService"].methods:
            setattr(self, method.name, getattr(self.stub, method.name))


class DefaultVizierServer:
    def __init__(self, **unused_options):
        self.endpoint = start()
        self._servicer = VizierServicer(self.endpoint)


class Sphere:
    """The function that performance_test minimizes; Vizier's own needs JAX."""

    def __init__(self, name, dimension):
        if name != "Sphere":
            raise ValueError(name)
        self.dimension = dimension

    def __call__(self):
        return self

    def problem_statement(self):
        problem = vz.ProblemStatement()
        for i in range(self.dimension):
            problem.search_space.root.add_float_param(f"x{i}", -5.0, 5.0)
        problem.metric_information.append(
            vz.MetricInformation(name="bbob_eval", goal=vz.ObjectiveMetricGoal.MINIMIZE))
        return problem

    def evaluate(self, trials):
        for trial in trials:
            x = np.array([trial.parameters[f"x{i}"].value for i in range(self.dimension)])
            trial.complete(vz.Measurement({"bbob_eval": float(np.sum(x * x))}))


def stand_in(name, **members):
    module = types.ModuleType(name)
    for key, value in members.items():
        setattr(module, key, value)
    sys.modules[name] = module
    parent, _, child = name.rpartition(".")
    setattr(sys.modules[parent], child, module)


class Result(unittest.TextTestResult):
    def stopTest(self, test):
        super().stopTest(test)
        if not isinstance(test, SHARES_A_SERVER):
            stop_all()
        vizier_client._create_local_vizier_servicer.cache_clear()


def cases(suite):
    for item in suite:
        if isinstance(item, unittest.TestSuite):
            yield from cases(item)
        else:
            yield item


def name_of(test):
    """CLASS.METHOD."""
    return ".".join(test.id().split(" ")[0].split(".")[-2:])


stand_in("vizier._src.service.vizier_service", VizierServicer=VizierServicer)
stand_in("vizier._src.service.vizier_server", DefaultVizierServer=DefaultVizierServer)
stand_in("vizier.benchmarks", experimenters=types.SimpleNamespace(BBOBExperimenterFactory=Sphere))
MODULES = [importlib.import_module(f"vizier._src.service.{name}")
           for name in ("vizier_client_test", "vizier_service_test", "performance_test")]
SHARES_A_SERVER = MODULES[2].PerformanceTest  # One for all tests of the class.


def main():
    loader = unittest.TestLoader()
    chosen = unittest.TestSuite()
    seen = set()
    for module in MODULES:
        for test in cases(loader.loadTestsFromModule(module)):
            name = name_of(test)
            if len(sys.argv) > 2 and not any(name.startswith(word) for word in sys.argv[2:]):
                continue
            seen.add(name)
            if name in DIFFERENT:
                print(f"left out: {name}: {DIFFERENT[name]}")
            else:
                chosen.addTest(test)
    if len(sys.argv) == 2 and not seen.issuperset(DIFFERENT):
        sys.exit(f"no such tests: {set(DIFFERENT) - seen}")
    try:
        return unittest.TextTestRunner(resultclass=Result, verbosity=2).run(chosen).wasSuccessful()
    finally:
        stop_all()


if __name__ == "__main__":
    from absl import flags
    flags.FLAGS(sys.argv[:1])
    sys.exit(not main())
