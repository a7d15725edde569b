#!/usr/bin/env python3
"""Studies in process: what is refused and how, ask and tell, results."""

import contextlib
import math
import os
import pickle
import tempfile
import unittest
from unittest import mock

import vernier


def make(name="s", space=None, **options):
    options.setdefault("minimize", "loss")
    return vernier.create_study(name, space or {"x": vernier.Float(-5, 5)}, **options)


class Refusals(unittest.TestCase):
    CASES = [
        ({"x": vernier.Float(0, 1, log=True)}, ValueError, "parameters.x.float[0]: must be above 0 for log scale, got 0"),
        ({"x": vernier.Float(math.nan, 1)}, ValueError, "parameters.x.float[0]: must be finite, got nan"),
        ({"x": vernier.Float(0, math.inf)}, ValueError, "parameters.x.float[1]: must be finite, got inf"),
        ({"x": vernier.Float("0", 1)}, TypeError, "parameters.x.float[0]: must be a number, got '0'"),
        ({"x": vernier.Float(True, 1)}, TypeError, "parameters.x.float[0]: must be a number, got True"),
        ({"x": vernier.Float(None, 1)}, TypeError, "parameters.x.float[0]: must be a number, got None"),
        ({"x": vernier.Float(0, 1, log=[1])}, TypeError, "parameters.x.log: must be True or False, got [1]"),
        ({"x": vernier.Float}, TypeError, "got the class Float; call it"),
        ({"x": (0, 1)}, ValueError, "parameters.x: (0, 1) may mean a range or two values; write Float(0, 1), Int(0, 1) or [0, 1]"),
        ({"x": vernier.Float(0, 1, log="no")}, TypeError, "parameters.x.log: must be True or False, got 'no'"),
        ({"x": vernier.Int(0, 10**400)}, ValueError, "parameters.x.int[1]: must be finite, got a number of too many digits"),
        ({"x": 3}, TypeError, "parameters.x: must be Float, Int, Discrete, Categorical, Bool or a list of values, got 3"),
        ({"x": "adam"}, TypeError, "got 'adam'"),
        ({"x": []}, ValueError, "parameters.x.categorical: must have at least one value"),
        ({"x": [1, 1]}, ValueError, "parameters.x.categorical[1]: '1' is listed twice"),
        ({"x": ["1", 1]}, ValueError,
         "parameters.x.categorical[1]: must also differ as text from categorical[0], text (1), got an integer (1)"),
        ({"n" * 500: vernier.Float("0", 1)}, TypeError, f"parameters.{'n' * 40}….float[0]: must be a number, got '0'"),
        ({"n" * 500: vernier.Float(0, 1)}, ValueError, f"got '{'n' * 40}…'"),
        ({"x": [object()]}, TypeError, "parameters.x.categorical[0]: must be a number, text or a boolean"),
        ({"x": vernier.Discrete([2, 1])}, ValueError, "parameters.x.discrete"),
        ({"x": vernier.Discrete("12")}, TypeError, "parameters.x.discrete: must be a list of values, got '12'"),
        ({"x": vernier.Int(1, 0)}, ValueError, "parameters.x.int"),
        ({"x": vernier.Int(1, 2**70)}, ValueError, "parameters.x.int[1]"),
        ({"x": vernier.Float(0, 1, log=True, reverse_log=True)}, ValueError, "log and reverse_log exclude each other"),
        ({"x": vernier.Float(0, 1, when={"y": 1})}, ValueError, "parameters.x.when.y: no such parameter"),
        ({"x": vernier.Float(0, 1, when="y")}, TypeError, "parameters.x.when: must be a mapping"),
        ({"x": vernier.Float(0, 1, default=2)}, ValueError, "parameters.x.default"),
        ({1: vernier.Float(0, 1)}, TypeError, "name of a parameter: must be text, got 1"),
        ({"\ud800": [1]}, ValueError, "name of a parameter: must be text without lone surrogates, got '\\ud800'"),
        ({"x": ["\ud800"]}, ValueError, "parameters.x.categorical[0]: must be text without lone surrogates"),
        ({"x\0": [1]}, ValueError, "without control characters"),
        ({"x": [math.nan]}, ValueError, "parameters.x.categorical[0]: must be finite, got nan"),
        ({"x": vernier.Float(0, 1, default=math.inf)}, ValueError, "parameters.x.default: must be finite, got inf"),
        ({}, ValueError, "space: must have at least one parameter, got none"),
        ([], TypeError, "space: must be a mapping"),
    ]
    OPTIONS = [
        ({"minimize": None}, ValueError, "objective: give maximize= or minimize= the name of a metric"),
        ({"minimize": 3}, TypeError, "minimize: must be a name or a list of names, got 3"),
        ({"minimize": {"a": 1}}, TypeError, "minimize: must be a name or a list of names"),
        ({"algorithm": "tpe"}, ValueError, "algorithm: unknown algorithm 'tpe'; known: gp, grid, quasi-random, random"),
        ({"algorithm": {"name": "gp", "points": 3}}, ValueError, "algorithm.points"),
        ({"algorithm": 3}, TypeError, "algorithm: must be a name"),
        ({"stopping": {"rule": "median", "q": 1}}, ValueError, "stopping.q: median has no such option"),
        ({"seed": -1}, ValueError, "seed: must be 0 to 18446744073709551615, got -1"),
        ({"seed": 0.5}, TypeError, "seed: must be a whole number, got 0.5"),
        ({"trials": 0}, ValueError, "trials: must be 1 to"),
        ({"constraints": ["x <"]}, ValueError, "constraints[0]"),
        ({"outcome_constraints": ["y <"]}, ValueError, "outcome_constraints[0]"),
        ({"warm_start": ["nobody"]}, ValueError, "nobody"),
        ({"minimize": "\ud800"}, ValueError, "lone surrogates"),
        ({"minimize": ["a", "a"]}, ValueError, "objective[1]: metric 'a' is an objective twice"),
        ({"storage": 3}, TypeError, "storage: must be the path of a file, got 3"),
        ({"storage": "a\0b"}, ValueError, "storage: must be the path of a file, without null characters, got 'a\\x00b'"),
        ({"storage": "/no/such/a.db"}, LookupError, "storage: must be in a folder that exists, and there is no folder /no/such"),
        ({"storage": f"{__file__}/a.db"}, LookupError, f"there is no folder {os.path.realpath(__file__)}"),
        ({"storage": "sqlite:///a.db"}, ValueError, "storage: must be the path of a file, not a URL, got 'sqlite:///a.db'"),
        ({"resume": True}, ValueError, "resume: needs storage="),
        ({"storage": ""}, ValueError, "storage: must be the path of a file, or None, got ''"),
        ({"resume": "yes", "storage": "a.db"}, TypeError, "resume: must be True or False, got 'yes'"),
        ({"job": 3}, TypeError, "job: must be a Job, got 3"),
        ({"algorithm": {"name": "gp", "initial_points": math.nan}}, ValueError, "algorithm.initial_points: must be finite, got nan"),
        ({"constraints": 3}, TypeError, "constraints: must be a name or a list of names, got 3"),
        ({"labels": {"A B": "c"}}, ValueError, "labels"),
        ({"labels": "ab"}, TypeError, "labels: must be a mapping of texts to texts, got 'ab'"),
        ({"labels": {"a": 1}}, TypeError, "labels.a: must be text, got 1"),
    ]

    def check(self, error, message, **options):
        with self.assertRaises(error) as caught:
            make(**options)
        self.assertIn(message, str(caught.exception))

    def test_spaces(self):
        for space, error, message in self.CASES:
            with self.subTest(space=space):
                if not isinstance(space, dict) or not space:
                    with self.assertRaises(error) as caught:
                        vernier.create_study("s", space, minimize="loss")
                    self.assertIn(message, str(caught.exception))
                else:
                    self.check(error, message, space=space)

    def test_options(self):
        for options, error, message in self.OPTIONS:
            with self.subTest(**options):
                self.check(error, message, **options)

    def test_one_constraint_needs_no_list(self):
        study = make(constraints="x <= 0.5", outcome_constraints="m <= 1")
        with self.assertRaisesRegex(ValueError, "x <= 0.5"):
            study.enqueue({"x": 0.75})
        self.assertFalse(study.add({"x": 0.25}, {"loss": 1, "m": 2}).feasible)

    def test_points_and_values(self):
        study = make(space={"x": vernier.Float(0, 1), "n": vernier.Int(1, 5)})
        point = {"x": 0.5, "n": 2}
        trial = study.ask()
        for call, error, message in (
            (lambda: study.enqueue({**point, "x": math.nan}), ValueError, "params.x: must be finite, got nan"),
            (lambda: study.enqueue({**point, "x": 2}), ValueError, "params.x: must be at most 1, got 2"),
            (lambda: study.enqueue({**point, "x": True}), ValueError, "params.x: must be a number, got a boolean (true)"),
            (lambda: study.enqueue({**point, "n": 2**63}), ValueError, f"params.n: must fit into 64 bits, got {2**63}"),
            (lambda: study.enqueue({**point, "z": 1}), ValueError, "params.z: no such parameter; known: x, n"),
            (lambda: study.add({"x": 0.5}, 1), ValueError, "params.n: must have a value"),
            (lambda: study.add(point, {}), ValueError, "value: must not be empty"),
            (lambda: study.add(point, {"m": 1}), ValueError, "value: must hold the objective 'loss'"),
            (lambda: study.add(point, {"loss": 1, "": 1}), ValueError, "value: the name of a metric must not be empty"),
            (lambda: study.tell(trial, {}), ValueError, "value: must not be empty"),
            (lambda: study.tell(trial, {"m": 1}), ValueError, "value: has 'm', the study's objective is 'loss'"),
            (lambda: study.tell(trial, []), ValueError, "value: must be a mapping with loss, or a number, got 0 values"),
            (lambda: study.tell(1.5, 1), TypeError, "trial: must be a trial or its number, got 1.5"),
            (lambda: study.tell(0, 1), ValueError, f"trial: must be 1 to {2**63 - 1}, got 0"),
            (lambda: trial.report(1, {"": 1}), ValueError, "metrics: the name of a metric must not be empty"),
            (lambda: trial.report(1, {"a": 1}, a=2), ValueError, "metrics: 'a' is given twice"),
            (lambda: trial.report(1, {"a" * 200: 1}), ValueError, "metrics: a metric's name must have at most 128 bytes, got 200"),
            (lambda: study.predict(point), TypeError, f"points: must be a list of points, got {point}"),
            (lambda: study.predict(3), TypeError, "points: must be a list of points, got 3"),
            (lambda: study.optimize(len, timeout=-1), ValueError, "timeout: must be 0 or more seconds, got -1"),
            (lambda: study.optimize(len, callback=3), TypeError, "callback: must be a function of the study and a record, got 3"),
            (lambda: vernier.import_study(3), TypeError, "path: must be the path of a file, got 3"),
        ):
            with self.subTest(message), self.assertRaises(error) as caught:
                call()
            self.assertEqual(str(caught.exception), message)
            if getattr(caught.exception, "field", ""):
                self.assertTrue(message.startswith(caught.exception.field), caught.exception.field)
        self.assertEqual([record.state for record in study.trials], ["RUNNING"])

    def test_an_error_names_its_field(self):
        with self.assertRaises(vernier.InvalidValueError) as caught:
            make(space={"x": vernier.Float(1, 0)})
        self.assertEqual(caught.exception.field, "parameters.x.float[1]")
        copy = pickle.loads(pickle.dumps(caught.exception))
        self.assertEqual((str(copy), copy.field), (str(caught.exception), caught.exception.field))


class Reasons(unittest.TestCase):
    def test_a_trial_says_why(self):
        study = make(space={"x": vernier.Float(-5, 5), "y": vernier.Float(-5, 5)}, algorithm="gp")
        study.optimize(lambda trial: trial["x"] ** 2, trials=9)
        first, last = study.trials[0], study.trials[8]
        self.assertRegex(first.why, r"^origin: \w+[^\n]*$")
        self.assertRegex(last.why, r"^origin: model.*\npredicted: \S+ ± \S+\nexpected: to improve the best by \S+\n"
                                   r"importance: x \d+%, y \d+%$")
        failed = study.tell(study.ask(), failed="no memory")
        self.assertTrue(failed.why.endswith("\nfailed: USER_ERROR, no memory"), failed.why)


class AskAndTell(unittest.TestCase):
    def test_an_array_is_a_list_of_values(self):
        class Array:  # As NumPy's.
            def tolist(self):
                return [1, 2, 4]

        study = make(space={"x": vernier.Discrete(Array()), "y": vernier.Categorical(Array())})
        self.assertLessEqual(set(study.ask().params.values()), {1, 2, 4})

    def test_values_have_the_types_of_the_space(self):
        study = make(
            space={
                "z": vernier.Float(1e-5, 0.1, log=True),
                "opt": ["sgd", "adam"],
                "momentum": vernier.Float(0.5, 0.99, when={"opt": "sgd"}),
                "width": vernier.Int(16, 256, log=True),
                "batch": vernier.Discrete([16, 32, 64]),
                "rate": vernier.Discrete([0.5, 1]),
                "flag": vernier.Bool(),
                "mixed": ["a", 1, 2.5, True],
            }
        )
        seen = set()
        for _ in range(30):
            trial = study.ask()
            point = trial.params
            seen.add(type(point["mixed"]))
            self.assertEqual("momentum" in point, point["opt"] == "sgd")
            # The order is that of the space.
            self.assertEqual([n for n in point if n != "momentum"], ["z", "opt", "width", "batch", "rate", "flag", "mixed"])
            for name, kind in (("z", float), ("width", int), ("batch", int), ("rate", float), ("flag", bool), ("opt", str)):
                self.assertIs(type(point[name]), kind, name)
            study.tell(trial, point["z"])
        self.assertEqual(seen, {str, int, float, bool})
        self.assertTrue(all(record.params["batch"] in (16, 32, 64) for record in study.trials))

    def test_the_space_comes_back_as_it_was_given(self):
        space = {
            "lr": vernier.Float(1e-5, 0.1, log=True, default=0.01),
            "keep": vernier.Float(0.5, 0.999, reverse_log=True),
            "width": vernier.Int(1, 64, step=3),
            "grid": vernier.Float(0, 1, points=5),
            "batch": vernier.Discrete([16, 32]),
            "half": vernier.Discrete([0.5, 1.0]),
            "kind": vernier.Categorical(["a", 1, 2.5, True], default=1),
            "deep": vernier.Bool(when={"kind": ["a"]}),
            "skip": vernier.Bool(default=False, when={"kind": ["a", 1], "deep": [False]}),
        }
        back = make(space=space).space
        self.assertEqual(list(back), list(space))
        again = make(space=back).space
        self.assertEqual(back, again)
        for name, given in space.items():
            for field, value in vars(given).items():
                if value is not None and field != "step":
                    self.assertEqual(getattr(back[name], field), value, (name, field))
        self.assertEqual(make(space={"x": ["p", "q"]}).space, {"x": vernier.Categorical(["p", "q"])})

    def test_equal_seeds_give_equal_points(self):
        def points(seed):
            study = make(seed=seed)
            for _ in range(12):
                trial = study.ask()
                study.tell(trial, trial["x"] ** 2)
            return [record.params for record in study.trials]

        self.assertEqual(points(7), points(7))
        self.assertNotEqual(points(7), points(8))

    def test_results(self):
        study = make()
        for value in (3.0, 1.0, 2.0):
            record = study.tell(study.ask(), value)
            self.assertEqual((record.state, record.value, record.metrics), ("COMPLETED", value, {"loss": value}))
        self.assertEqual(study.best.number, 2)
        self.assertEqual(study.objectives, {"loss": "minimize"})
        self.assertEqual([r.number for r in study.trials[1:]], [2, 3])
        self.assertIsInstance(study.trials[:1], vernier.TrialList)
        self.assertEqual(study.state, "ACTIVE")
        self.assertIn("minimize: loss", study.definition)
        self.assertGreaterEqual(study.best.duration, 0)

    def test_the_value_is_that_of_the_first_objective(self):
        study = make(space={"x": [1, 2]}, minimize=["loss", "cost"])
        record = study.tell(study.ask(), {"accuracy": 0.5, "cost": 3.0, "loss": 2.0})
        self.assertEqual((record.value, study.best.value), (2.0, 2.0))

    def test_a_trial_that_was_told_takes_no_reports(self):
        study = make()
        trial = study.ask()
        trial.report(1, loss=2.0)
        study.tell(trial, 1.0)
        with self.assertRaisesRegex(vernier.StateError, "trial 1 was told already, and takes no more reports"):
            trial.report(2, loss=0.5)

    def test_a_rounding_error_does_not_miss_the_grid(self):
        study = make(space={"x": vernier.Float(0, 1, step=0.1)})
        self.assertEqual(study.add({"x": 3 * 0.1}, 1.0).params, {"x": 0.3})
        self.assertEqual(study.enqueue({"x": 1 - 0.9}).params, {"x": 0.1})
        with self.assertRaisesRegex(ValueError, "params.x: must be 0 plus a multiple of 0.1, got 0.35; the nearest is 0.3"):
            study.enqueue({"x": 0.35})

    def test_a_wrong_value_leaves_the_trial_open(self):
        study = make()
        trial = study.ask()
        study.tell(study.ask(), failed="\ud800" + "x" * 100_000)
        for value, error in (("0.5", TypeError), ([1, 2], ValueError), ({"acc": 1}, ValueError), (object(), TypeError),
                             (None, ValueError), ({"loss": "a"}, TypeError), ({1: 2}, TypeError), (1j, TypeError)):
            with self.subTest(value=value), self.assertRaises(error):
                study.tell(trial, value)
        with self.assertRaises(ValueError):
            study.tell(trial, 1, failed="both")
        self.assertEqual(study.trials[0].state, "RUNNING")
        self.assertRegex(study.trials[1].message, r"^[?]x{1999}$")
        self.assertEqual(study.tell(trial.number, 1).state, "COMPLETED")
        with self.assertRaisesRegex(vernier.StateError, "trial 1 is COMPLETED"):
            study.tell(1, 2)
        with self.assertRaisesRegex(vernier.StateError, "already COMPLETED"):
            study.tell(trial, 2)
        with self.assertRaises(vernier.NotFoundError):
            study.tell(99, 2)
        with self.assertRaisesRegex(ValueError, "belongs to another study"):
            make("other").tell(study.ask(), 2)

    def test_ends_without_a_value(self):
        study = make()
        ends = [
            (study.tell(study.ask(), math.nan), "FAILED", "DIVERGED"),
            (study.tell(study.ask(), -math.inf), "FAILED", "DIVERGED"),
            (study.tell(study.ask(), failed="no GPU"), "FAILED", "USER_ERROR"),
            (study.tell(study.ask(), infeasible="too wide"), "INFEASIBLE", "INFEASIBLE"),
        ]
        for record, state, failure in ends:
            self.assertEqual((record.state, record.failure), (state, failure))
        self.assertEqual(ends[2][0].message, "no GPU")
        self.assertIsNone(study.best)
        self.assertIsNone(ends[0][0].value)

    def test_a_report_of_step_0_is_a_result(self):
        study = make()
        trial = study.ask()
        trial.report(0, loss=2.0)
        record = study.tell(trial)
        self.assertEqual((record.state, record.value), ("COMPLETED", 2.0))
        study.optimize(lambda trial: trial.report(0, loss=1.0), trials=2)
        self.assertEqual([record.state for record in study.trials], ["COMPLETED"] * 3)

    def test_reports(self):
        study = make()
        trial = study.ask()
        trial.report(loss=3)
        trial.report(5, {"val/loss": 2}, loss=2.5)
        trial.report(loss=1)
        with self.assertRaises(TypeError):
            study.curve("1")
        last = study.ask()
        last.report(2**63 - 1, loss=1)
        for call in (lambda: last.report(loss=1), lambda: trial.report(1), lambda: trial.report(-1, loss=1), lambda: trial.report(1, loss="a"),
                     lambda: trial.report(1.5, loss=1), lambda: trial.report(1, [1])):
            with self.assertRaises((ValueError, TypeError)):
                call()
        self.assertEqual([(point.step, point.metrics) for point in study.curve(trial)],
                         [(1, {"loss": 3}), (5, {"val/loss": 2, "loss": 2.5}), (6, {"loss": 1})])
        self.assertFalse(trial.should_stop())
        record = study.tell(trial)
        self.assertEqual((record.state, record.metrics["loss"], record.reports), ("COMPLETED", 1, 3))

    def test_a_stopping_rule(self):
        study = make(maximize="acc", minimize=None, stopping={"rule": "median", "min_trials": 3, "warm_up": 0})
        for _ in range(4):
            trial = study.ask()
            for step in range(5):
                trial.report(step, acc=0.9)
            study.tell(trial)
        bad = study.ask()
        steps = 0
        while not bad.should_stop():
            bad.report(steps, acc=0.1)
            steps += 1
            self.assertLess(steps, 6)
        self.assertIn("median", bad.stop_reason)
        record = study.tell(bad, 0.1)
        self.assertEqual(record.state, "COMPLETED")
        self.assertIn("median", record.stopped)

    def test_several_objectives_and_constraints(self):
        study = make(maximize="acc", minimize="latency", outcome_constraints=["memory <= 8"])
        self.assertEqual(list(study.objectives), ["acc", "latency"])
        for acc, latency, memory in ((0.9, 10, 9), (0.8, 5, 8), (0.7, 1, 1), (0.6, 2, 1)):
            study.tell(study.ask(), {"acc": acc, "latency": latency, "memory": memory})
        self.assertEqual(study.best.number, 2)
        self.assertEqual([record.number for record in study.optimal], [2, 3])
        self.assertEqual([record.feasible for record in study.trials], [False, True, True, True])
        self.assertIsNone(study.tell(study.ask(), failed="no memory").feasible)
        with self.assertRaisesRegex(ValueError, "a mapping with acc, latency, or 2 numbers"):
            study.tell(study.ask(), 0.5)
        self.assertEqual(study.tell(study.ask(), (0.5, 7)).metrics, {"acc": 0.5, "latency": 7})

    def test_points_of_the_user_come_first(self):
        study = make(space={"x": vernier.Float(-5, 5), "n": vernier.Int(0, 9)})
        study.add({"x": 1, "n": 2.0}, 4)
        study.enqueue({"x": 2, "n": 3})
        self.assertEqual(study.best.params, {"x": 1.0, "n": 2})
        self.assertEqual(study.ask().params, {"x": 2.0, "n": 3})
        for point, error in (({"x": 6, "n": 1}, ValueError), ({"x": 1}, ValueError), ({"x": 1, "n": 1, "y": 1}, ValueError),
                             ({"x": 1, "n": 2**70}, ValueError), ({"x": "1", "n": 1}, ValueError), ([1, 2], TypeError)):
            with self.subTest(point=point), self.assertRaises(error):
                study.enqueue(point)

    def test_the_model(self):
        study = make()
        with self.assertRaises(vernier.StateError):
            study.predict([{"x": 1}])
        study.optimize(lambda trial: (trial["x"] - 2) ** 2, trials=15)
        near, far = study.predict([{"x": 2}, {"x": -5}])
        self.assertLess(near.mean, 1)
        self.assertGreater(far.mean, 10)
        self.assertEqual(study.predict([]), [])
        self.assertEqual([len(record.importance) for record in (study.trials[0], study.trials[-1])], [0, 1])
        self.assertAlmostEqual(sum(study.trials[-1].importance.values()), 1)
        with self.assertRaises(ValueError):
            study.predict([{"x": 9}])
        replay = study.replay()
        self.assertEqual((replay.suggestions, replay.verified, replay.problems), (15, 15, []))

    def test_the_end_of_a_finite_space(self):
        study = make(space={"a": [1, 2, 3]}, algorithm="grid")
        for _ in range(3):
            study.tell(study.ask(), 1)
        for _ in range(2):
            with self.assertRaises(vernier.ExhaustedError):
                study.ask()

    def test_the_budget(self):
        study = make(trials=2)
        study.tell(study.ask(), 1)
        trial = study.ask()
        with self.assertRaises(vernier.ExhaustedError):
            study.ask()
        study.tell(trial, 1)
        self.assertEqual(study.state, "COMPLETED")
        with self.assertRaises(vernier.ExhaustedError):
            study.ask()

    def test_the_last_trial_ends_while_another_one_is_asked_for(self):
        study = make(trials=1)
        trial = study.ask()

        def find_orphans():
            study.tell(trial, 1)
            return [trial.leased]

        with mock.patch.object(study, "_find_orphans", find_orphans), self.assertRaises(vernier.ExhaustedError):
            study.ask()

    def test_a_finished_study_takes_no_trials(self):
        study = make()
        study.tell(study.ask(), 1)
        study.finish("good enough")
        with self.assertRaises(vernier.ExhaustedError):
            study.ask()

    def test_numbers_of_other_packages(self):
        try:
            import numpy
        except ImportError:
            self.skipTest("needs numpy")
        study = make(space={"x": vernier.Float(numpy.float32(-5), numpy.float64(5)), "n": vernier.Int(numpy.int64(1), 9),
                            "c": list(numpy.array([1, 2])), "b": [numpy.bool_(True), numpy.str_("no")]})
        trial = study.ask()
        trial.report(numpy.int64(3), loss=numpy.float32(0.5))
        self.assertEqual(study.tell(trial, numpy.array([0.25])).value, 0.25)
        with self.assertRaises(ValueError):
            study.tell(study.ask(), numpy.array([1, 2]))
        with self.assertRaises(TypeError):
            study.tell(study.ask(), {"loss": numpy.array([1, 2])})

    def test_in_memory_nothing_is_pickled(self):
        study = make()
        for thing in (study, study.ask()):
            with self.assertRaises(TypeError):
                pickle.dumps(thing)


class Tables(unittest.TestCase):
    def test_pandas(self):
        try:
            import pandas
        except ImportError:
            self.skipTest("needs pandas")
        study = make(space={"x": vernier.Float(0, 1), "loss": vernier.Float(0, 1), "state": ["a"]})
        study.tell(study.ask(), 1)
        study.ask()
        table = study.trials.to_pandas()
        self.assertEqual(list(table["number"]), [1, 2])
        self.assertEqual(list(table["state"]), ["COMPLETED", "RUNNING"])
        self.assertEqual(table["loss"][0], 1)
        self.assertTrue(pandas.isna(table["loss"][1]))
        self.assertIn("params.loss", table)
        self.assertEqual(list(table["params.state"]), ["a", "a"])
        self.assertEqual(len(vernier.create_study("e", {"x": [1]}, minimize="y").trials.to_pandas()), 0)

    def test_history(self):
        try:
            import matplotlib
        except ImportError:
            self.skipTest("needs matplotlib")
        matplotlib.use("Agg")
        study = make()
        for value in (3, 1, 2):
            study.tell(study.ask(), value)
        axes = study.plot_history()
        best = axes.lines[0]
        self.assertEqual((list(best.get_xdata()), list(best.get_ydata())), ([1, 2, 2, 3], [3, 3, 1, 1]))
        self.assertEqual(axes.get_ylabel(), "loss")


class Files(unittest.TestCase):
    def setUp(self):
        self.folder = self.enterContext(tempfile.TemporaryDirectory()) if hasattr(self, "enterContext") else tempfile.mkdtemp()
        self.path = f"{self.folder}/s.db"

    def test_a_study_is_continued(self):
        with contextlib.closing(make(storage=self.path, trials=5)) as study:
            study.tell(study.ask(), 1)
        with self.assertRaisesRegex(vernier.StudyExistsError, "'s'.*; resume=True continues it"):
            make(storage=self.path)
        again = make(storage=self.path, trials=7, resume=True)
        self.assertEqual(len(again.trials), 1)
        self.assertIn("trials: 7", again.definition)
        with self.assertRaisesRegex(ValueError, "seed: cannot change"):
            make(storage=self.path, trials=7, resume=True, seed=3)
        with self.assertRaisesRegex(ValueError, r"parameters.x.float.*cannot change"):
            make(storage=self.path, resume=True, space={"x": vernier.Float(-5, 6)})
        self.assertEqual(vernier.open_study("s", self.path).best.value, 1)
        self.assertEqual(pickle.loads(pickle.dumps(again)).name, "s")
        with self.assertRaises(vernier.NotFoundError):
            vernier.open_study("t", self.path)
        self.assertEqual(vernier.study_names(self.path), ["s"])
        vernier.delete_study("s", self.path)
        self.assertEqual(vernier.study_names(self.path), [])

    def test_a_file_that_was_removed_is_not_made_again_by_reading(self):
        with contextlib.closing(make(storage=self.path)) as study:
            study.tell(study.ask(), 1)
        os.remove(self.path)
        with self.assertRaisesRegex(vernier.NotFoundError, "storage: the file .*/s.db was removed"):
            study.best
        self.assertFalse(os.path.exists(self.path))
        again = make(storage=self.path)
        self.assertEqual((len(again.trials), again.name), (0, "s"))
        again.close()

    def test_a_warm_start(self):
        first = make("first", storage=self.path)
        first.optimize(lambda trial: (trial["x"] - 2) ** 2, trials=15)
        second = make("second", storage=self.path, warm_start=["first"])
        trial = second.ask()
        self.assertAlmostEqual(trial["x"], 2, delta=0.5)

    def test_what_is_no_store(self):
        with self.assertRaisesRegex(vernier.NotFoundError, "storage: there is no file .*/none.db"):
            vernier.open_study("s", f"{self.folder}/none.db")
        for path, error in ((f"{self.folder}/none/s.db", vernier.NotFoundError), (self.folder, ValueError), (__file__, ValueError)):
            with self.subTest(path=path), self.assertRaises(error):
                make(storage=path)


if __name__ == "__main__":
    unittest.main()
