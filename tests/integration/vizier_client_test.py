#!/usr/bin/env python3
"""Drives a daemon with the unmodified client of open-source Vizier: its own tests of studies and trials, and then what those
leave out: every parameter type, conditions, metadata, errors, many workers, a daemon that is killed.
usage: vizier_client_test.py BIN_DIR     (with a Python that has google-vizier: scripts/lib/python_venv vizier)
"""

import pathlib
import sys
import tempfile
import threading

import grpc
from absl.testing import absltest
from google.longrunning import operations_pb2
from vizier import pyvizier as vz
from vizier._src.service import study_pb2, stubs_util, vizier_service_pb2
from vizier.client import client_abc_testing
from vizier.service import clients
from vizier.service import pyvizier as svz

from daemon import Daemon

OWNER = "ann"
daemon = None  # Of all tests; it is started below.


def listen():
    """Starts the daemon, whose port is new each time, and makes it the clients' endpoint."""
    daemon.start()
    address = daemon.address
    clients.environment_variables.server_endpoint = address


def stub():
    return stubs_util.create_vizier_server_stub(clients.environment_variables.server_endpoint)


def config(algorithm="RANDOM_SEARCH", **metrics):
    made = svz.StudyConfig(algorithm=algorithm)
    for name, goal in (metrics or {"loss": vz.ObjectiveMetricGoal.MINIMIZE}).items():
        made.metric_information.append(vz.MetricInformation(name=name, goal=goal))
    return made


def create(made, study_id):
    return clients.Study.from_study_config(made, owner=OWNER, study_id=study_id)


def add(study, trial):
    """Without the check that `Study.add_trial` makes before it calls."""
    made = stub().CreateTrial(vizier_service_pb2.CreateTrialRequest(
        parent=study.resource_name, trial=svz.TrialConverter.to_proto(trial)))
    return study.get_trial(int(made.id))


class VizierOwnTest(client_abc_testing.TestCase):
    """The client's own tests."""

    def create_study(self, study_config, name):
        made = svz.StudyConfig.from_problem(study_config)
        made.algorithm = "RANDOM_SEARCH"
        return create(made, name)

    def tune(self, algorithm, **options):
        def factory(problem):
            made = svz.StudyConfig.from_problem(problem)
            made.algorithm = algorithm
            return create(made, self.id() + algorithm)
        self.assertPassesE2ETuning(study_factory=factory, **options)

    def test_tunes_by_every_algorithm(self):
        for algorithm in ("DEFAULT", "GP_UCB_PE", "GAUSSIAN_PROCESS_BANDIT", "RANDOM_SEARCH", "QUASI_RANDOM_SEARCH",
                          "GRID_SEARCH", "SHUFFLED_GRID_SEARCH", "NSGA2", "CMA_ES", "EAGLE_STRATEGY", "BOCS", "HARMONICA"):
            with self.subTest(algorithm):
                self.tune(algorithm)

    def test_tunes_two_objectives(self):
        self.tune("DEFAULT", multi_objective=True)


class CallsTest(absltest.TestCase):
    def refuses(self, code, words, call):
        with self.assertRaises(grpc.RpcError) as refused:
            call()
        self.assertEqual(refused.exception.code(), code, refused.exception.details())
        self.assertIn(words, refused.exception.details())

    def test_every_parameter_type_comes_back_as_it_was(self):
        made = config()
        root = made.search_space.root
        root.add_float_param("rate of learning", 1e-4, 0.1, scale_type=vz.ScaleType.LOG, default_value=0.01)
        root.add_float_param("decay", 0.9, 0.999, scale_type=vz.ScaleType.REVERSE_LOG)
        root.add_int_param("layers", 1, 8, default_value=3)
        root.add_discrete_param("batch", [16, 32, 64])
        root.add_discrete_param("share", [0.25, 0.5])
        root.add_categorical_param("kind", ["sgd", "adam"], default_value="adam")
        root.add_bool_param("nesterov")
        made.metadata.ns("mine")["note"] = "by hand"
        study = create(made, "every type")
        self.assertEqual(study.materialize_study_config().to_proto(), made.to_proto())
        self.assertEqual(study.resource_name, "owners/ann/studies/every type")
        for trial in study.suggest(count=5):
            values = trial.parameters
            self.assertTrue(1e-4 <= values["rate of learning"] <= 0.1, values)
            self.assertIn(values["layers"], range(1, 9))
            self.assertIsInstance(values["batch"], int)
            self.assertIn(values["share"], (0.25, 0.5))
            self.assertIn(values["kind"], ("sgd", "adam"))
            self.assertIsInstance(values["nesterov"], bool)

    def test_conditions_and_the_same_name_in_two_branches(self):
        made = config()
        model = made.search_space.root.add_categorical_param("model", ["linear", "dnn", "tree"])
        model.select_values(["linear"]).add_float_param("rate", 0.1, 0.2)
        model.select_values(["dnn"]).add_float_param("rate", 0.01, 0.02)
        model.select_values(["dnn"]).add_int_param("layers", 1, 2)
        proto = made.to_proto()
        layers = proto.parameters[0].conditional_parameter_specs[2].parameter_spec
        deeper = layers.conditional_parameter_specs.add()  # The client's own builder goes one level deep.
        deeper.parent_int_values.values.append(2)
        deeper.parameter_spec.parameter_id = "width"
        deeper.parameter_spec.integer_value_spec.min_value = 10
        deeper.parameter_spec.integer_value_spec.max_value = 20
        created = stub().CreateStudy(vizier_service_pb2.CreateStudyRequest(
            parent="owners/ann", study=study_pb2.Study(display_name="branches", study_spec=proto)))
        self.assertEqual(created.study_spec, proto)
        study = clients.Study.from_resource_name(created.name)
        seen = set()
        for trial in study.suggest(count=60):
            values = trial.parameters
            wanted = {"linear": {"model", "rate"}, "tree": {"model"}}.get(
                values["model"], {"model", "rate", "layers"} | ({"width"} if values.get("layers") == 2 else set()))
            self.assertEqual(set(values), wanted)
            if values["model"] == "linear":
                self.assertTrue(0.1 <= values["rate"] <= 0.2)
            elif values["model"] == "dnn":
                self.assertTrue(0.01 <= values["rate"] <= 0.02)
            seen.add((values["model"], values.get("layers")))
        self.assertEqual(seen, {("linear", None), ("tree", None), ("dnn", 1), ("dnn", 2)})
        point = {"model": "dnn", "rate": 0.015, "layers": 2, "width": 11}
        asked = study.request(vz.TrialSuggestion(point))
        self.assertEqual(dict(asked.parameters), point)

    def test_final_measurement_keeps_step_time_and_other_metrics(self):
        made = config()
        made.search_space.root.add_float_param("x", 0, 1)
        study = create(made, "final")
        trial = study.suggest(count=1, client_id="w")[0]
        last = vz.Measurement({"loss": 0.5, "seconds": 3.0}, steps=7, elapsed_secs=2)
        self.assertEqual(trial.complete(last), last)
        seen = trial.materialize()
        self.assertEqual(seen.final_measurement, last)
        self.assertEqual(seen.assigned_worker, "w")
        self.assertGreaterEqual(seen.completion_time, seen.creation_time)
        self.assertTrue(stub().GetTrial(vizier_service_pb2.GetTrialRequest(
            name=f"{study.resource_name}/trials/1")).HasField("end_time"))
        hot = study.suggest(count=1, client_id="w")[0]
        hot.complete(last, infeasible_reason="too hot")
        seen = hot.materialize()
        self.assertTrue(seen.infeasible)
        self.assertEqual((seen.infeasibility_reason, seen.final_measurement), ("too hot", last))
        self.assertEqual([t.id for t in study.optimal_trials()], [1])

    def test_metadata_is_kept_by_namespace_all_or_nothing(self):
        made = config()
        made.search_space.root.add_float_param("x", 0, 1)
        study = create(made, "metadata")
        trial = study.suggest(count=1)[0]
        delta = vz.Metadata()
        delta.ns("a").ns("b")["k"] = "1"
        delta["k"] = "2"
        message = study_pb2.Measurement(step_count=3)
        delta["any"] = message
        trial.update_metadata(delta)
        study.update_metadata(delta)
        for seen in (trial.materialize().metadata, study.materialize_study_config().metadata):
            self.assertEqual(seen.ns("a").ns("b")["k"], "1")
            self.assertEqual(seen["k"], "2")
            self.assertEqual(seen.get("any", cls=study_pb2.Measurement), message)
        update = vizier_service_pb2.UpdateMetadataRequest(name=study.resource_name)
        for trial_id in ("1", "99"):
            unit = update.delta.add(trial_id=trial_id)
            unit.metadatum.key, unit.metadatum.value = "k", "3"
        self.assertIn("trial 99", stub().UpdateMetadata(update).error_details)
        self.assertEqual(trial.materialize().metadata["k"], "2")

    def test_metadata_says_what_stands_in_for_an_algorithm(self):
        made = config("CMA_ES")
        made.search_space.root.add_float_param("x", 0, 1)
        study = create(made, "stand-in")
        self.assertEqual(study.materialize_study_config().metadata.ns("vernier")["algorithm"],
                         "the Gaussian process, in place of CMA_ES")

    def test_optimal_trials_keep_safety_and_none_dominates(self):
        made = config(loss=vz.ObjectiveMetricGoal.MINIMIZE, gain=vz.ObjectiveMetricGoal.MAXIMIZE)
        made.metric_information.append(vz.MetricInformation(
            name="heat", goal=vz.ObjectiveMetricGoal.MINIMIZE, safety_threshold=50.0))
        made.search_space.root.add_float_param("x", 0, 1)
        study = create(made, "pareto")
        outcomes = [(1, 1, 10), (2, 2, 10), (2, 1, 10), (0, 3, 90)]
        for loss, gain, heat in outcomes:
            study.suggest(count=1)[0].complete(vz.Measurement({"loss": loss, "gain": gain, "heat": heat}))
        self.assertEqual([t.id for t in study.optimal_trials()], [1, 2])

    def changes_nothing(self, study, trial):
        """Of a study that is not active."""
        refused = grpc.StatusCode.FAILED_PRECONDITION
        note = vz.Metadata({"k": "v"})
        self.assertEqual(study.suggest(count=1), [])
        self.refuses(refused, "no new trials", lambda: study.request(vz.TrialSuggestion({"x": 0.5})))
        self.refuses(refused, "no new trials", lambda: study.add_trial(vz.Trial(parameters={"x": 0.5})))
        for change in (trial.stop, trial.delete, trial.check_early_stopping,
                       lambda: trial.update_metadata(note), lambda: study.update_metadata(note)):
            self.refuses(refused, "its trials may be reported on and completed, no more", change)
        self.assertEqual([t.id for t in study.trials()], [trial.id])

    def test_states_and_what_they_forbid(self):
        made = config()
        made.search_space.root.add_float_param("x", 0, 1)
        study = create(made, "states")
        trial = study.suggest(count=1)[0]
        study.set_state(vz.StudyState.ABORTED)
        self.assertEqual(study.materialize_state(), vz.StudyState.ABORTED)
        self.assertEqual(study.suggest(count=1, client_id="other"), [])
        self.changes_nothing(study, trial)
        study.set_state(vz.StudyState.ACTIVE)
        self.assertEqual(study.suggest(count=1)[0].id, trial.id)
        study.set_state(vz.StudyState.COMPLETED)
        self.assertEqual(study.materialize_state(), vz.StudyState.COMPLETED)
        self.changes_nothing(study, trial)
        trial.complete(vz.Measurement({"loss": 1.0}))  # What ran on is not lost.
        self.assertEqual(study.materialize_state(), vz.StudyState.COMPLETED)
        self.refuses(grpc.StatusCode.FAILED_PRECONDITION, "COMPLETED", lambda: study.set_state(vz.StudyState.ACTIVE))

    def test_a_finite_space_ends_with_an_empty_list(self):
        made = config()
        made.search_space.root.add_categorical_param("kind", ["a", "b", "c"])
        study = create(made, "finite")
        trials = study.suggest(count=5)
        self.assertEqual(sorted(t.parameters["kind"] for t in trials), ["a", "b", "c"])
        self.assertEqual(study.suggest(count=1, client_id="other"), [])
        for trial in trials:
            trial.complete(vz.Measurement({"loss": 1.0}))
        self.assertEqual(study.materialize_state(), vz.StudyState.ACTIVE)  # It goes on until a client ends it.
        again = study.request(vz.TrialSuggestion({"kind": "a"}))
        self.assertEqual(study.suggest(count=1)[0].id, again.id)

    def test_a_study_may_name_no_metric_or_nothing_at_all(self):
        nothing = create(svz.StudyConfig(), "nothing")
        made = svz.StudyConfig(algorithm="EAGLE_STRATEGY")
        made.search_space.root.add_float_param("x", 0, 1)
        unmeasured = create(made, "unmeasured")
        self.assertEqual(unmeasured.materialize_study_config().metadata.ns("vernier")["algorithm"],
                         "random search, in place of EAGLE_STRATEGY: the study names no metric to optimize")
        for study in nothing, unmeasured:
            study.update_metadata(vz.Metadata({"k": "v"}))
            first = study.suggest(count=1)[0]
            first.add_measurement(vz.Measurement({"speed": 1.0}, steps=1))
            first.complete(vz.Measurement({"speed": 2.0}))
            add(study, vz.Trial(final_measurement=vz.Measurement({"speed": 3.0})))
            self.assertEqual([t.id for t in study.optimal_trials()], [1, 2])
            self.assertEqual(study.materialize_study_config().metadata["k"], "v")
        listed = stub().ListStudies(vizier_service_pb2.ListStudiesRequest(parent=f"owners/{OWNER}"))
        self.assertContainsSubset({"nothing", "unmeasured"}, {study.display_name for study in listed.studies})
        for name in "ann-nothing", "ann-unmeasured":
            for words in (("study", "show"), ("trial", "list"), ("study", "export"), ("study", "replay"), ("plot", "timeline")):
                daemon.call(*words, name)
            daemon.call("study", "export", name, "-o", "csv")
            daemon.call("study", "export", name, "-o", "yaml")
            daemon.call("study", "report", name, "--html", daemon.folder / "report.html")
            daemon.call("plot", "curves", name, "--metric", "speed")
            daemon.call("study", "amend", name, "--parallel", "5")
            self.assertIn("1 of 1 decisions verified", daemon.call("study", "replay", name, "--verify"))
            self.assertIn("names no objective", daemon.fails(3, "study", "best", name))
            self.assertIn("has no objective to draw", daemon.fails(2, "plot", "history", name))
            self.assertIn("has no objective to draw", daemon.fails(2, "plot", "pareto", name))
            self.assertIn("has no objective", daemon.fails(2, "plot", "curves", name))
        self.assertIn("ann-nothing", daemon.call("study", "list"))
        for study in nothing, unmeasured:
            study.set_state(vz.StudyState.COMPLETED)
            daemon.call("study", "watch", "ann-" + study.resource_name.rpartition("/")[2])

    def test_trials_may_lack_parameters_and_objectives(self):
        made = config("DEFAULT", loss=vz.ObjectiveMetricGoal.MINIMIZE, gain=vz.ObjectiveMetricGoal.MAXIMIZE)
        made.search_space.root.add_float_param("x", 0, 1)
        made.search_space.root.add_float_param("y", 0, 1)
        study = create(made, "lacking")
        add(study, vz.Trial(parameters={"x": 0.5}, final_measurement=vz.Measurement({"loss": -1.0, "gain": 9.0})))
        add(study, vz.Trial(final_measurement=vz.Measurement({"loss": -5.0})))
        asked = add(study, vz.Trial(parameters={"y": 0.25}))
        self.assertEqual(asked.materialize().parameters.as_dict(), {"y": 0.25})
        self.assertEqual(study.suggest(count=1)[0].id, asked.id)
        asked.complete(vz.Measurement({"gain": 1.0}))
        self.assertEqual(asked.materialize().status, vz.TrialStatus.COMPLETED)
        self.assertFalse(asked.materialize().infeasible)
        for _ in range(8):
            trial = study.suggest(count=1)[0]
            self.assertEqual(set(trial.parameters), {"x", "y"})
            trial.complete(vz.Measurement({"loss": trial.parameters["x"], "gain": trial.parameters["y"]}))
        self.assertEqual([t.id for t in study.optimal_trials()], [1])
        self.assertIn("8 of 8 decisions verified", daemon.call("study", "replay", "ann-lacking", "--verify"))
        self.assertEqual(daemon.json("trial", "show", "ann-lacking", "3")["parameters"], {"y": 0.25})
        for words in (("study", "show"), ("study", "best"), ("trial", "list"), ("plot", "history"), ("plot", "parallel"),
                      ("plot", "slice"), ("plot", "contour"), ("plot", "importance"), ("plot", "pareto")):
            daemon.call(*words, "ann-lacking")
        for number in 1, 2, 5:
            daemon.call("trial", "why", "ann-lacking", number)
        daemon.call("study", "export", "ann-lacking", "-o", "csv")
        daemon.call("study", "report", "ann-lacking", "--html", daemon.folder / "report.html")

    def test_deleted_ids_are_not_used_again(self):
        made = config()
        made.search_space.root.add_float_param("x", 0, 1)
        study = create(made, "deleted")
        trials = study.suggest(count=2)
        trials[1].delete()
        self.refuses(grpc.StatusCode.NOT_FOUND, "no trial 2", trials[1].materialize)
        self.assertEqual([t.id for t in study.suggest(count=2)], [1, 3])

    def test_early_stopping_judges_the_curve(self):
        made = config()
        made.search_space.root.add_float_param("x", 0, 1)
        study = create(made, "stopping")
        for _ in range(6):
            trial = study.suggest(count=1)[0]
            for step in range(1, 6):
                trial.add_measurement(vz.Measurement({"loss": 1.0 / step}, steps=step))
            self.assertFalse(trial.check_early_stopping())
            trial.complete()
        poor = study.suggest(count=1)[0]
        for step in range(1, 6):
            poor.add_measurement(vz.Measurement({"loss": 9.0}, steps=step))
        self.assertEqual(poor.materialize().status, vz.TrialStatus.ACTIVE)
        self.assertTrue(poor.check_early_stopping())
        why = daemon.json("trial", "show", "ann-stopping", "7")["stop"]
        self.assertEqual(why["rule"], "median")

    def test_errors_name_what_is_wrong_and_change_nothing(self):
        service = stub()
        parent = "owners/ann"
        request = vizier_service_pb2.CreateStudyRequest
        self.refuses(grpc.StatusCode.INVALID_ARGUMENT, "parent: must be owners/OWNER, got 'ann'",
                     lambda: service.CreateStudy(request(parent="ann", study={"display_name": "s"})))
        self.refuses(grpc.StatusCode.INVALID_ARGUMENT, "study.display_name",
                     lambda: service.CreateStudy(request(parent=parent)))
        self.refuses(grpc.StatusCode.INVALID_ARGUMENT, "study.display_name",
                     lambda: service.CreateStudy(request(parent=parent, study={"display_name": "a/b"})))
        made = config()
        made.algorithm = "EMUKIT_GP_EI"
        made.search_space.root.add_float_param("x", 0, 1)
        self.refuses(grpc.StatusCode.INVALID_ARGUMENT, "study_spec.algorithm: must be one of",
                     lambda: create(made, "bad"))
        made = config()
        made.search_space.root.add_float_param("x", 0, 1)
        proto = made.to_proto()
        proto.parameters[0].double_value_spec.min_value = 2
        self.refuses(grpc.StatusCode.INVALID_ARGUMENT, "must not be below the lower bound 2",
                     lambda: service.CreateStudy(request(
                         parent=parent, study=study_pb2.Study(display_name="bad", study_spec=proto))))
        name = f"{parent}/studies/none"
        self.refuses(grpc.StatusCode.NOT_FOUND, f"there is no study {name}",
                     lambda: service.GetStudy(vizier_service_pb2.GetStudyRequest(name=name)))
        self.refuses(grpc.StatusCode.NOT_FOUND, "no operation",
                     lambda: service.GetOperation(operations_pb2.GetOperationRequest(name="owners/a/operations/b")))
        study = create(made, "good")
        self.refuses(grpc.StatusCode.INVALID_ARGUMENT, "x: must be at most 1, got 5",
                     lambda: study.request(vz.TrialSuggestion({"x": 5.0})))
        self.refuses(grpc.StatusCode.INVALID_ARGUMENT, "must be from 1 to 1000, got 5000",
                     lambda: study.suggest(count=5000))
        requested = study.request(vz.TrialSuggestion({"x": 0.5}))
        self.refuses(grpc.StatusCode.FAILED_PRECONDITION, "trial 1 is REQUESTED",
                     lambda: requested.complete(vz.Measurement({"loss": 1.0})))
        self.refuses(grpc.StatusCode.FAILED_PRECONDITION, "trial 1 is REQUESTED", requested.check_early_stopping)
        trial = study.suggest(count=1)[0]
        self.refuses(grpc.StatusCode.INVALID_ARGUMENT, "final_measurement: is needed", trial.complete)
        self.assertEqual(trial.materialize().status, vz.TrialStatus.ACTIVE)
        trial.complete(vz.Measurement({"loss": 1.0}))
        self.refuses(grpc.StatusCode.FAILED_PRECONDITION, "already COMPLETED",
                     lambda: trial.complete(vz.Measurement({"loss": 2.0})))
        self.assertEqual(trial.materialize().final_measurement.metrics["loss"].value, 1.0)
        self.assertLen(list(study.trials()), 1)

    def test_large_studies_come_in_pages_or_are_refused(self):
        made = config()
        made.search_space.root.add_float_param("x", 0, 1)
        study = create(made, "large")
        note = "n" * 100_000
        for _ in range(50):
            trial = vz.Trial(parameters={"x": 0.5})
            trial.metadata["note"] = note
            study.add_trial(trial)
        self.refuses(grpc.StatusCode.RESOURCE_EXHAUSTED, "50 of them do not fit", study.trials)
        seen, token = [], ""
        while True:
            page = stub().ListTrials(vizier_service_pb2.ListTrialsRequest(
                parent=study.resource_name, page_size=1000, page_token=token))
            seen += [int(trial.id) for trial in page.trials]
            token = page.next_page_token
            if not token:
                break
            for trial in seen[-2:]:  # What goes meanwhile moves no other out of its page.
                study.get_trial(trial).delete()
        self.assertEqual(seen, list(range(1, 51)))

    def test_sixteen_workers_never_share_a_trial(self):
        made = config()
        made.search_space.root.add_float_param("x", 0, 1)
        create(made, "workers")
        done, lock = [], threading.Lock()

        def work(worker):
            study = create(made, "workers")
            for _ in range(10):
                trial = study.suggest(count=1, client_id=f"worker {worker}")[0]
                trial.complete(vz.Measurement({"loss": trial.parameters["x"]}))
                with lock:
                    done.append(trial.id)

        workers = [threading.Thread(target=work, args=(i,)) for i in range(16)]
        for worker in workers:
            worker.start()
        for worker in workers:
            worker.join()
        self.assertEqual(sorted(done), list(range(1, 161)))
        self.assertLen(list(create(made, "workers").optimal_trials()), 1)

    def test_a_killed_daemon_forgets_nothing(self):
        made = config("DEFAULT")
        made.search_space.root.add_float_param("x", 0, 1)
        study = create(made, "killed")
        for _ in range(7):
            trial = study.suggest(count=1)[0]
            trial.complete(vz.Measurement({"loss": (trial.parameters["x"] - 0.3) ** 2}))
        held = study.suggest(count=1, client_id="w")[0]
        point = dict(held.parameters)
        held.add_measurement(vz.Measurement({"loss": 0.5}, steps=1))
        daemon.kill()
        listen()
        study = create(made, "killed")
        again = study.suggest(count=1, client_id="w")[0]
        self.assertEqual((again.id, dict(again.parameters)), (8, point))
        again.complete()
        self.assertEqual(again.materialize().final_measurement.metrics["loss"].value, 0.5)
        replay = daemon.call("study", "replay", "ann-killed", "--verify")
        self.assertNotIn("diverged", replay.lower().replace("0 diverged", ""))

    def test_both_sides_see_the_same_studies(self):
        made = config()
        made.search_space.root.add_float_param("x", 0, 1)
        create(made, "seen").suggest(count=1, client_id="w")
        names = [study["name"] for study in daemon.json("study", "list")]
        self.assertIn("studies/ann-seen", names)
        (daemon.folder / "own.yaml").write_text("""\
study: own
objective: {minimize: loss}
parameters:
  lr: {float: [1e-4, 0.1], scale: log}
  width: {int: [16, 64], step: 16}
  kind: {categorical: [sgd, adam]}
  momentum: {float: [0, 1], when: {kind: [sgd]}}
  deep: {bool: {}}
algorithm: random
lease: {ttl: 1h}
""")
        daemon.call("study", "create", daemon.folder / "own.yaml")
        own = clients.Study.from_resource_name("owners/vernier/studies/own")
        space = own.materialize_study_config().search_space
        self.assertEqual([p.name for p in space.parameters], ["lr", "width", "kind", "deep"])
        trial = own.suggest(count=1, client_id="w")[0]
        self.assertIsInstance(trial.parameters["deep"], bool)
        self.assertIn(trial.parameters["width"], (16, 32, 48, 64))
        trial.complete(vz.Measurement({"loss": 0.25}))
        best = daemon.json("trial", "show", "own", "1")
        self.assertEqual((best["state"], best["final_metrics"]["loss"]), ("COMPLETED", 0.25))


if __name__ == "__main__":
    bin_dir = pathlib.Path(sys.argv.pop(1)).resolve()
    with tempfile.TemporaryDirectory(prefix="vernier-vizier-") as name:
        daemon = Daemon(bin_dir, pathlib.Path(name))
        listen()
        try:
            absltest.main()
        finally:
            daemon.stop()
