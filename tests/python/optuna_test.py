#!/usr/bin/env python3
"""Programs written for Optuna, on vernier.optuna.
usage: optuna_test.py [BIN_DIR]     (without: the command line is left out)
"""

import contextlib
import importlib
import io
import math
import multiprocessing
import os
import pathlib
import pickle
import random
import signal
import sqlite3
import subprocess
import sys
import tempfile
import textwrap
import time
import threading
import unittest
import warnings

import servers
import vernier
import vernier.optuna as optuna
from vernier.optuna._source import StudySource, as_study
from vernier.optuna._tree import Recent, infer
from vernier.optuna.distributions import CategoricalDistribution, FloatDistribution, IntDistribution
from vernier.optuna.trial import TrialState

BIN = None
optuna.logging.set_verbosity(optuna.logging.ERROR)


def gp(seed=1):
    return optuna.samplers.TPESampler(seed=seed)


def branch(trial):
    optimizer = trial.suggest_categorical("optimizer", ["sgd", "adam"])
    if optimizer == "sgd":
        return 0.1 + (trial.suggest_float("momentum", 0.0, 1.0) - 0.9) ** 2
    return (math.log10(trial.suggest_float("lr", 1e-5, 1e-1, log=True)) + 3) ** 2


def tree_of(study):
    return {name: dict(node.when) for name, node in study._book._tree.nodes.items()}



class Steps(unittest.TestCase):
    def test_values_with_a_step_survive_a_larger_space(self):
        # 0.1 + 6 * 0.1 is not 0.7.
        def objective(trial):
            if trial.suggest_categorical("clf", ["svm", "rf"]) == "svm":
                return trial.suggest_float("C", 0, 1)
            return 1 + trial.suggest_int("depth", 1, 32, log=True) + trial.suggest_float("frac", 0.1, 1, step=0.1)

        for seed in range(3):
            study = optuna.create_study(sampler=optuna.samplers.TPESampler(seed=seed))
            study.enqueue_trial({"clf": "rf", "depth": 3, "frac": 0.1 + 6 * 0.1})
            study.optimize(objective, n_trials=25)
            self.assertEqual(len(study.trials), 25)
            for trial in study.trials[1:]:
                self.assertIn(trial.params.get("frac", 0.1), [round(0.1 * i, 1) for i in range(1, 11)])


class SpaceTest(unittest.TestCase):
    """What is inferred of a program's space."""

    def test_branches_become_conditions(self):
        study = optuna.create_study(sampler=gp())
        study.optimize(branch, n_trials=30)
        self.assertEqual(tree_of(study), {"optimizer": {}, "momentum": {"optimizer": ("sgd",)}, "lr": {"optimizer": ("adam",)}})
        self.assertLess(study.best_value, 1e-3)
        # Once the space is known, every value is the algorithm's.
        for trial in study.trials[10:]:
            self.assertLessEqual(trial.params.items(), study._book.drawn(trial.number).items())

    def test_widths_of_layers_depend_on_their_number(self):
        def objective(trial):
            count = trial.suggest_int("layers", 1, 4)
            return sum(trial.suggest_float(f"width_{i}", 0, 1) for i in range(count)) + count

        study = optuna.create_study(sampler=optuna.samplers.RandomSampler(seed=3))
        study.optimize(objective, n_trials=40)
        self.assertEqual(tree_of(study), {"layers": {}, "width_0": {}, "width_1": {"layers": (2, 3, 4)},
                                          "width_2": {"layers": (3, 4)}, "width_3": {"layers": (4,)}})

    def test_conditions_within_conditions_and_of_two_parameters(self):
        def objective(trial):
            a = trial.suggest_categorical("a", ["x", "y"])
            b = trial.suggest_categorical("b", ["x", "y"])
            if a == "x":
                if trial.suggest_categorical("inner", ["u", "v", "w"]) == "u":
                    trial.suggest_float("deep", 0, 1)
            if a == "y" and b == "y":
                trial.suggest_float("both", 0, 1)
            return 1.0

        study = optuna.create_study(sampler=optuna.samplers.RandomSampler(seed=1))
        study.optimize(objective, n_trials=60)
        tree = tree_of(study)
        self.assertEqual(tree["inner"], {"a": ("x",)})
        self.assertEqual(tree["deep"], {"inner": ("u",)})
        self.assertEqual(tree["both"], {"a": ("y",), "b": ("y",)})

    def test_trials_that_fit_no_tree_count_all_the_same(self):
        flip = random.Random(5)

        def objective(trial):
            x = trial.suggest_float("x", -1, 1)
            if flip.random() < 0.5:
                trial.suggest_float("y", 0, 1)
            return x * x

        study = optuna.create_study(sampler=gp())
        study.optimize(objective, n_trials=30)
        self.assertEqual(tree_of(study), {"x": {}, "y": {}})
        self.assertLess(study.best_value, 1e-3)
        engine = study._book._engine
        self.assertEqual(sum(record.state == "COMPLETED" for record in engine.trials), 30)

    def test_a_range_may_depend_on_another_parameter(self):
        def objective(trial):
            x = trial.suggest_float("x", 0, 1)
            y = trial.suggest_float("y", 0, x)
            self.assertLessEqual(y, x)
            return (x - 0.6) ** 2 + (y - 0.3) ** 2

        study = optuna.create_study(sampler=gp())
        study.optimize(objective, n_trials=40)
        self.assertLess(study.best_value, 1e-2)
        values = {round(r.metrics["value"], 12) for r in study._book._engine.trials if r.state == "COMPLETED"}
        self.assertEqual(values, {round(trial.value, 12) for trial in study.trials})

    def test_a_range_that_was_changed_for_good_is_taken_over(self):
        study = optuna.create_study(sampler=gp())
        study.optimize(lambda t: t.suggest_float("x", 0, 1), n_trials=8)
        study.optimize(lambda t: t.suggest_float("x", 0.5, 0.75), n_trials=8)
        [node] = study._book._tree.nodes.values()
        self.assertEqual((node.distribution.low, node.distribution.high), (0.5, 0.75))
        study.optimize(lambda t: t.suggest_float("x", 0, 2), n_trials=2)
        self.assertEqual(len(study.trials), 18)
        self.assertTrue(all(0 <= trial.params["x"] <= 2 for trial in study.trials))

    def test_a_finite_space_is_never_used_up(self):
        for sampler in (gp(), optuna.samplers.QMCSampler(), optuna.samplers.RandomSampler()):
            study = optuna.create_study(sampler=sampler)
            study.optimize(lambda t: t.suggest_int("n", 0, 2) + ("b" == t.suggest_categorical("c", ["a", "b"])), n_trials=20)
            self.assertEqual(len(study.trials), 20)
            self.assertEqual(study.best_value, 0)

    def test_names_that_change_with_each_trial(self):
        study = optuna.create_study(sampler=gp())
        study.optimize(lambda t: t.suggest_float(f"x{t.number}", 0, 1), n_trials=15)
        self.assertEqual([list(trial.params) for trial in study.trials], [[f"x{i}"] for i in range(15)])

    def test_what_a_study_cannot_have_is_drawn_at_random(self):
        def objective(trial):
            trial.suggest_float("a\nb", 0, 1)
            trial.suggest_float("n" * 200, 0, 1)
            trial.suggest_int("huge", 0, 2**62)
            trial.suggest_float("narrow", 1, math.nextafter(1, 2))
            return trial.suggest_float("x", -1, 1) ** 2

        study = optuna.create_study(sampler=gp())
        study.optimize(objective, n_trials=12)
        self.assertEqual(len(study.trials[0].params), 5)
        self.assertIn("x", tree_of(study))
        self.assertLess(study.best_value, 1e-2)

    def test_choices_of_any_kind(self):
        choices = [None, True, 1, 1.5, "1", "", float("inf"), (1, 2)]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            study = optuna.create_study(sampler=optuna.samplers.RandomSampler(seed=2))
            study.optimize(lambda t: float(t.suggest_categorical("c", choices) is None), n_trials=60)
        self.assertEqual({repr(trial.params["c"]) for trial in study.trials}, {repr(choice) for choice in choices})

    def test_infer_keeps_to_evidence(self):
        def trial(state=TrialState.COMPLETE, **params):
            kinds = {"a": CategoricalDistribution(["x", "y", "z"]), "n": IntDistribution(1, 9), "f": FloatDistribution(0, 1)}
            value = 0.0 if state is TrialState.COMPLETE else None
            return optuna.create_trial(state=state, value=value, params=params, distributions={k: kinds[k] for k in params})

        def when(*trials):
            recent = Recent()
            for one in trials:
                recent.add(one)
            return dict(infer(trials, recent).nodes["f"].when)

        self.assertEqual(when(trial(a="x", f=0.5)), {})
        self.assertEqual(when(trial(a="x", f=0.5), trial(a="y")), {"a": ("x",)})
        # A trial that ended early says nothing of what it did not ask for.
        self.assertEqual(when(trial(a="x", f=0.5), trial(TrialState.PRUNED, a="x")), {})
        # With the same value of the only parent, nothing tells the trials apart.
        self.assertEqual(when(trial(a="x", f=0.5), trial(a="x")), {})
        self.assertEqual(when(trial(n=7, f=0.5), trial(n=4)), {"n": (5, 6, 7, 8, 9)})
        self.assertEqual(when(trial(n=2, f=0.5), trial(n=4)), {"n": (1, 2, 3)})
        # A parent must be asked for first.
        self.assertEqual(when(trial(f=0.5, a="x"), trial(a="y")), {})


class StudyTest(unittest.TestCase):
    def test_equal_seeds_give_equal_trials(self):
        def params(seed):
            study = optuna.create_study(sampler=gp(seed))
            study.optimize(branch, n_trials=15)
            return [trial.params for trial in study.trials]

        self.assertEqual(params(4), params(4))
        self.assertNotEqual(params(4), params(5))

    def test_threads(self):
        study = optuna.create_study(sampler=gp())
        seen, lock = set(), threading.Lock()

        def objective(trial):
            with lock:
                seen.add(threading.current_thread().name)
            trial.report(1.0, 0)
            return branch(trial)

        study.optimize(objective, n_trials=40, n_jobs=4)
        self.assertEqual([trial.number for trial in study.trials], list(range(40)))
        self.assertTrue(all(trial.state is TrialState.COMPLETE for trial in study.trials))
        self.assertGreater(len(seen), 1)

    def test_pruning_by_a_rule(self):
        def objective(trial):
            quality = trial.suggest_float("x", 0, 1)
            for step in range(10):
                trial.report(quality + 1 / (step + 1), step)
                if trial.should_prune():
                    raise optuna.TrialPruned()
            return quality

        study = optuna.create_study(sampler=optuna.samplers.RandomSampler(seed=1), pruner=optuna.pruners.MedianPruner())
        study.optimize(objective, n_trials=40)
        pruned = study.get_trials(states=[TrialState.PRUNED])
        self.assertGreater(len(pruned), 5)
        self.assertTrue(all(len(trial.intermediate_values) < 10 for trial in pruned))
        worst_best = sorted(trial.value for trial in study.get_trials(states=[TrialState.COMPLETE]))
        self.assertEqual(study.best_value, worst_best[0])

    def test_every_pruner_is_a_valid_rule(self):
        pruners = optuna.pruners
        for pruner in (None, pruners.NopPruner(), pruners.MedianPruner(0, 3, 2), pruners.PercentilePruner(25.0),
                       pruners.SuccessiveHalvingPruner(), pruners.SuccessiveHalvingPruner(2, 3, 1), pruners.HyperbandPruner(),
                       pruners.HyperbandPruner(1, 27, 3), pruners.PatientPruner(pruners.MedianPruner(), 2),
                       pruners.PatientPruner(None, 2), pruners.ThresholdPruner(upper=0.9), pruners.AutomaticPruner()):
            study = optuna.create_study(pruner=pruner)
            trial = study.ask()
            trial.report(trial.suggest_float("x", 0, 1), 1)
            trial.should_prune()
            study.tell(trial, 1.0)
            study.tell(study.ask(), 2.0)

    def test_every_sampler(self):
        samplers = optuna.samplers
        for sampler in (samplers.TPESampler(n_startup_trials=3, multivariate=True), samplers.GPSampler(),
                        samplers.CmaEsSampler(), samplers.RandomSampler(), samplers.QMCSampler(), samplers.NSGAIISampler(population_size=5),
                        samplers.NSGAIIISampler(), samplers.PartialFixedSampler({"optimizer": "adam"}, gp())):
            study = optuna.create_study(sampler=sampler)
            study.optimize(branch, n_trials=8)
            self.assertEqual(len(study.trials), 8, sampler)
        self.assertEqual({trial.params["optimizer"] for trial in study.trials}, {"adam"})

    def test_grids_end(self):
        study = optuna.create_study(sampler=optuna.samplers.GridSampler({"x": [-1, 0, 2], "y": ["a", "b"]}))
        study.optimize(lambda t: t.suggest_float("x", -5, 5) + len(t.suggest_categorical("y", ["a", "b"])))
        self.assertEqual({tuple(trial.params.values()) for trial in study.trials}, {(x, y) for x in (-1, 0, 2) for y in "ab"})
        self.assertEqual(len(study.trials), 6)

    def test_several_objectives(self):
        study = optuna.create_study(directions=["minimize", "maximize"])
        study.optimize(lambda t: (t.suggest_float("x", 0, 2) ** 2, t.params["x"] - (t.params["x"] - 1) ** 2), n_trials=20)
        best = study.best_trials
        self.assertGreater(len(best), 3)
        for a in best:
            self.assertFalse(any(b.values[0] <= a.values[0] and b.values[1] >= a.values[1] and b.values != a.values
                                 for b in study.trials))
        with self.assertRaisesRegex(RuntimeError, "best_trials"):
            study.best_trial

    def test_constraints(self):
        sampler = optuna.samplers.TPESampler(seed=1, constraints_func=lambda t: (0.3 - t.params["x"],))
        study = optuna.create_study(sampler=sampler)
        study.optimize(lambda t: t.suggest_float("x", 0, 1), n_trials=25)
        self.assertGreaterEqual(study.best_params["x"], 0.3)
        self.assertLess(study.best_value, 0.35)

    def test_constraints_by_name(self):
        def objective(trial):
            x = trial.suggest_float("x", 0, 1)
            trial.set_constraint("at least", 0.3 - x)
            if trial.number > 5:
                trial.set_constraint("at most", x - 0.9)
            return x

        study = optuna.create_study(sampler=gp())
        study.optimize(objective, n_trials=25)
        self.assertGreaterEqual(study.best_params["x"], 0.3)
        self.assertLess(study.best_value, 0.35)
        self.assertEqual(set(study.best_trial.constraints), {"at least", "at most"})
        self.assertEqual(study._book.plan.constraints, ["at least", "at most"])
        with self.assertRaisesRegex(ValueError, "constraint 'c': must be a number, got nan"):
            study.ask().set_constraint("c", math.nan)

    def test_failures_and_values(self):
        def objective(trial):
            x = trial.suggest_float("x", 0, 1)
            return [None, math.nan, "text", math.inf, x][trial.number % 6 - 1] if trial.number % 6 else 1 / 0

        study = optuna.create_study(sampler=gp())
        study.optimize(objective, n_trials=12, catch=ZeroDivisionError)
        fail, complete = TrialState.FAIL, TrialState.COMPLETE
        self.assertEqual([trial.state for trial in study.trials], [fail, fail, fail, fail, complete, complete] * 2)
        with self.assertRaises(ZeroDivisionError):
            study.optimize(lambda t: 1 / 0, n_trials=2)

    def test_a_store_that_does_not_answer_is_no_failure_of_a_trial(self):
        for error in (vernier.StoreBusyError("held"), vernier.ServerUnavailableError("away")):
            def objective(trial):
                raise error

            study = optuna.create_study(sampler=gp())
            with self.assertRaises(type(error)):
                study.optimize(objective, n_trials=5, catch=Exception)
            self.assertEqual([trial.state for trial in study.trials], [TrialState.RUNNING])

    def test_figures(self):
        try:
            import matplotlib
        except ImportError:
            self.skipTest("no matplotlib")
        matplotlib.use("agg")
        study = optuna.create_study(sampler=gp())

        def objective(trial):
            trial.report(1.0, 0)
            value = branch(trial) + trial.suggest_float("z", 0, 1) + trial.suggest_int("k", 1, 9) + trial.suggest_float("one", 1, 1)
            if trial.number == 5:
                raise optuna.TrialPruned
            return math.nan if trial.number == 6 else value

        study.optimize(objective, n_trials=15)
        draw = optuna.visualization.matplotlib
        for plot in (draw.plot_contour, draw.plot_edf, draw.plot_intermediate_values, draw.plot_optimization_history,
                     draw.plot_param_importances, draw.plot_rank, draw.plot_timeline):
            self.assertGreater(len(plot(study).get_children()), 8, plot)
        values = {trial.number: trial.value for trial in study.trials if trial.state is TrialState.COMPLETE}
        # Numbers, values and fates are those of this study, not of Vernier's.
        source = as_study(StudySource(study))
        rows = {row["trial"]: row for row in vernier.plots.history(source).data}
        self.assertEqual({number: row["Objective Value"] for number, row in rows.items()}, values)
        self.assertEqual(rows[14]["best"], study.best_value)
        fates = {row["trial"]: row["fate"] for row in vernier.plots.timeline(source).data}
        self.assertEqual((fates[4], fates[5], fates[6]), ("completed", "stopped early", "failed"))
        self.assertEqual(draw.plot_slice(study).shape, (len({name for trial in study.trials for name in trial.params}),))
        ax = draw.plot_parallel_coordinate(study, ["z", "k"])
        self.assertEqual([label.get_text() for label in ax.get_xticklabels()], ["z", "k", "Objective Value"])
        with self.assertWarnsRegex(UserWarning, "target_name"):
            ax = draw.plot_optimization_history(study, target=lambda trial: trial.params["z"])
        ax = draw.plot_optimization_history([study, study], target_name="loss")
        self.assertEqual(ax.get_ylabel(), "loss")
        for call, error, text in (
            (lambda: draw.plot_slice(study, ["nosuch"]), ValueError, r"params|parameters\[0\]: must be one of"),
            (lambda: draw.plot_rank(study, ["z", "z"]), ValueError, "y: must be another parameter than x"),
            (lambda: draw.plot_contour(3), TypeError, "study: must be a study, got 3"),
            (lambda: draw.plot_contour(study, target=3, target_name="a"), TypeError, "target: must be a function of a trial, got 3"),
            (lambda: draw.plot_hypervolume_history(study, [1, 1]), ValueError, "study: must have several objectives"),
            (lambda: draw.plot_timeline(study, n_recent_trials=0), ValueError, "n_recent_trials: must be 1 to"),
            (lambda: draw.plot_optimization_history(study, error_bar=True), NotImplementedError, "error_bar"),
            (lambda: draw.plot_terminator_improvement(study), NotImplementedError, "no terminators"),
        ):
            with self.subTest(text), self.assertRaisesRegex(error, text):
                call()
        if not optuna.visualization.is_available():
            with self.assertRaisesRegex(ImportError, "plot_slice: needs plotly, .*visualization.matplotlib draws the same"):
                optuna.visualization.plot_slice(study)
        matplotlib.pyplot.close("all")

    def test_figures_of_several_objectives(self):
        import matplotlib

        matplotlib.use("agg")
        study = optuna.create_study(directions=["minimize", "minimize"])
        study.optimize(lambda t: (t.suggest_float("x", 0, 1), 1 - t.params["x"] + t.suggest_float("y", 0, 1)), n_trials=12)
        draw = optuna.visualization.matplotlib
        ax = draw.plot_pareto_front(study, target_names=["size", "loss"], axis_order=[1, 0])
        self.assertEqual((ax.get_xlabel(), ax.get_ylabel()), ("minimize loss", "minimize size"))
        self.assertGreater(draw.plot_hypervolume_history(study, [1, 2]).get_ylim()[1], 1)
        self.assertEqual(len(draw.plot_param_importances(study)), 2)
        self.assertEqual(draw.plot_slice(study, ["y"], target=lambda t: t.values[1], target_name="loss").get_ylabel(), "loss")
        for call, text in (
            (lambda: draw.plot_slice(study), "target: must be a function of a trial, as the study has several objectives"),
            (lambda: draw.plot_pareto_front(study, target_names=["a"]), "target_names: must be 2 names, got \\['a'\\]"),
            (lambda: draw.plot_pareto_front(study, axis_order=[0, 2]), "axis_order: must be"),
        ):
            with self.subTest(text), self.assertRaisesRegex(ValueError, text):
                call()
        matplotlib.pyplot.close("all")

    def test_importances(self):
        study = optuna.create_study(sampler=optuna.samplers.RandomSampler(seed=1))

        def objective(trial):
            idle = 0 * (trial.suggest_float("idle", 0, 1) + trial.suggest_int("one", 1, 1))
            return 3 * trial.suggest_float("large", 0, 1) + trial.suggest_float("small", 0, 1) + idle

        study.optimize(objective, n_trials=30)
        get = optuna.importance.get_param_importances
        shares = get(study)
        # The variances are as 9 to 1 to 0.
        self.assertEqual(list(shares)[:2], ["large", "small"])
        self.assertAlmostEqual(shares["large"], 0.9, delta=0.05)
        self.assertAlmostEqual(sum(shares.values()), 1)
        self.assertEqual((shares["one"], len(shares)), (0, 4))
        plain = get(study, normalize=False, params=["small", "large"])
        self.assertAlmostEqual(plain["large"], 0.9, delta=0.1)
        self.assertEqual(list(plain), ["large", "small"])
        self.assertEqual(list(get(study, target=lambda trial: trial.params["idle"]))[0], "idle")
        self.assertEqual(get(study, params=[]), {})
        for call, error, text in (
            (lambda: get(study, evaluator=optuna.importance.FanovaImportanceEvaluator(seed=1)), NotImplementedError,
             "evaluator: .* leave it out, got FanovaImportanceEvaluator"),
            (lambda: get(study, params=["nosuch"]), ValueError, r"params\[0\]: must be one of the parameters"),
            (lambda: get(optuna.create_study()), ValueError, "study: must have at least two completed trials, got 0"),
            (lambda: get(optuna.create_study(directions=["minimize"] * 2)), ValueError, "target: must be a function"),
            (lambda: get(3), TypeError, "study: must be a study, got 3"),
        ):
            with self.subTest(text), self.assertRaisesRegex(error, text):
                call()

    def test_progress(self):
        stderr = io.StringIO()
        study = optuna.create_study(study_name="shown")
        with contextlib.redirect_stderr(stderr):
            study.optimize(lambda trial: trial.suggest_float("x", 0, 0), n_trials=4, show_progress_bar=True)
        self.assertRegex(stderr.getvalue().splitlines()[-1], r"shown: 4/4 trials  best 0 \(trial 0\)")

    def test_a_sampler_of_the_program(self):
        class Walk(optuna.samplers.BaseSampler):
            """Steps from the best trial; what it does not know begins in the middle."""

            def __init__(self, step):  # Without the constructor of the base class.
                self.rng, self.step, self.seen = random.Random(1), step, []

            def infer_relative_search_space(self, study, trial):
                return optuna.search_space.intersection_search_space(study.get_trials(deepcopy=False))

            def sample_relative(self, study, trial, search_space):
                best = study.best_params if search_space else {}
                return {
                    name: min(max(best[name] + self.rng.uniform(-1, 1) * self.step, dist.low), dist.high)
                    for name, dist in search_space.items()
                }

            def sample_independent(self, study, trial, name, dist):
                return (dist.low + dist.high) / 2

            def after_trial(self, study, trial, state, values):
                self.seen.append((trial.number, state, values))

        def objective(trial):
            value = (trial.suggest_float("x", -4, 2) - 1) ** 2 + (trial.suggest_float("y", 0, 2) - 1) ** 2
            if trial.number == 3:
                raise optuna.TrialPruned
            return value

        with tempfile.TemporaryDirectory() as folder:
            sampler = Walk(0.5)
            path = f"{folder}/a.log"
            backend = optuna.storages.journal.JournalFileBackend(path)
            study = optuna.create_study(sampler=sampler, storage=optuna.storages.JournalStorage(backend), study_name="walk")
            study.optimize(objective, n_trials=25)
            self.assertEqual(study.trials[0].params, {"x": -1, "y": 1})
            self.assertTrue(all(abs(trial.params["x"] - study.trials[0].params["x"]) <= 0.5 for trial in study.trials[1:2]))
            self.assertLess(study.best_value, 1)
            self.assertEqual([number for number, _, _ in sampler.seen], list(range(25)))
            self.assertEqual(sampler.seen[3], (3, TrialState.PRUNED, None))
            # Vernier learns the points: another sampler goes on with them.
            engine = study._book._engine
            done = [record.params for record in engine.trials if record.state == "COMPLETED" and record.stopped is None]
            self.assertEqual(sorted(point["x"] for point in done),
                             sorted(trial.params["x"] for trial in study.trials if trial.state is TrialState.COMPLETE))
            again = optuna.load_study(study_name="walk", storage=f"sqlite:///{path}", sampler=gp())
            again.optimize(objective, n_trials=3)
            self.assertEqual(len(again.trials), 28)
            self.assertLess(again.best_value, 0.05)

        class Broken(Walk):
            def sample_relative(self, study, trial, search_space):
                return {"x": 9, "z": 1} if search_space else {}

        study = optuna.create_study(sampler=Broken(1))
        study.optimize(objective, n_trials=2)
        # A value outside the range is chosen anew; a parameter outside the space is an error.
        self.assertEqual(study.trials[1].params, {"x": -1, "y": 1})
        with self.assertRaisesRegex(ValueError, "sample_relative: chose 'z', which its search space does not have"):
            study.optimize(lambda trial: trial.suggest_float("z", 0, 1), n_trials=1)

        class Failing(Walk):
            def before_trial(self, study, trial):
                raise KeyError("before")

        study = optuna.create_study(sampler=Failing(1))
        with self.assertRaisesRegex(KeyError, "before"):
            study.optimize(objective, n_trials=1)
        self.assertEqual([trial.state for trial in study.trials], [TrialState.FAIL])

    def test_a_journal_of_optuna_is_refused(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "journal.log"
            path.write_text('{"op_code": 0}\n')
            with self.assertRaisesRegex(Exception, "is a journal of Optuna, .* vernier.import_study"):
                optuna.storages.JournalStorage(optuna.storages.journal.JournalFileBackend(path))

    def test_an_interrupt_ends_optimize(self):
        study = optuna.create_study()

        def objective(trial):
            raise KeyboardInterrupt

        with self.assertRaises(KeyboardInterrupt):
            study.optimize(objective, n_trials=3)
        self.assertEqual([trial.state for trial in study.trials], [TrialState.FAIL])

    def test_a_study_in_memory_can_be_pickled(self):
        study = optuna.create_study(sampler=gp())
        study.optimize(branch, n_trials=8)
        again = pickle.loads(pickle.dumps(study))
        again.optimize(branch, n_trials=3)
        self.assertEqual((len(study.trials), len(again.trials)), (8, 11))

    def test_what_is_missing_says_what_to_use(self):
        for call, words in (
            (lambda: optuna.pruners.WilcoxonPruner(), "MedianPruner"),
            (lambda: optuna.storages.journal.JournalRedisBackend("redis://host"), "sqlite:///"),
            (lambda: optuna.create_study(storage="mysql://user:secret@host/db"), "sqlite:///"),
            (lambda: optuna.create_study(sampler=object()), "derived from BaseSampler"),
            (lambda: optuna.create_study(sampler=optuna.samplers.BaseSampler()), "derived from BaseSampler that samples"),
            (lambda: optuna.terminator, "study.stop"),
            (lambda: optuna.pruners.SuccessiveHalvingPruner(1, bootstrap_count=2), "bootstrap_count"),
        ):
            with self.assertRaisesRegex(optuna.exceptions.NotSupportedError, words) as raised:
                call()
            self.assertNotIn("secret", str(raised.exception))
        for part in ("artifacts", "cli", "integration", "terminator"):
            with self.assertRaisesRegex(ImportError, f"vernier.optuna has no {part}: "):
                importlib.import_module(f"vernier.optuna.{part}")
        with self.assertRaises(AttributeError):
            optuna.no_such_thing

    def test_wrong_arguments(self):
        study = optuna.create_study()
        for call, message in (
            (lambda: optuna.create_study(direction="up"), "direction: must be 'minimize' or 'maximize', got 'up'"),
            (lambda: optuna.create_study(pruner=5), "pruner: must be one of"),
            (lambda: optuna.create_study(study_name=5), "study_name: must be text, got 5"),
            (lambda: study.optimize(3, n_trials=1), "func: must be a function of a trial, got 3"),
            (lambda: study.optimize(branch, n_trials="x"), "n_trials: must be a whole number, got 'x'"),
            (lambda: study.optimize(branch, n_trials=-1), "n_trials: must be 0 to"),
            (lambda: study.optimize(branch, n_trials=1, n_jobs=0), "n_jobs: must be 1 to"),
            (lambda: study.optimize(branch, timeout="x"), "timeout: must be a number, got 'x'"),
            (lambda: study.optimize(branch, n_trials=1, catch=5), "catch: must be a class of exceptions"),
            (lambda: study.tell(7, 1.0), "there is no trial 7"),
        ):
            with self.assertRaisesRegex((TypeError, ValueError), message):
                call()
        self.assertEqual(study.trials, [])
        trial = study.ask()
        for call, message in (
            (lambda: trial.suggest_float("x", 0, math.inf), "low and high must be finite, got 0.0 and inf"),
            (lambda: trial.suggest_float("x", 2, 1), "low must not be above high, got low=2.0 and high=1.0"),
            (lambda: trial.suggest_float("x", 0, 1, log=True), "low must be above 0 with log=True, got 0.0"),
            (lambda: trial.suggest_float(5, 0, 1), "name: must be text, got 5"),
            (lambda: trial.suggest_categorical("c", []), "choices must have at least one element"),
            (lambda: trial.report("high", 1), "value: must be a number, got 'high'"),
            (lambda: trial.report(1.0, -1), "step: must be 0 or more, got -1"),
        ):
            with self.assertRaisesRegex((TypeError, ValueError), message):
                call()
        self.assertEqual(trial.params, {})

    def test_optuna_itself_is_not_loaded(self):
        self.assertNotIn("optuna", sys.modules)


class FileTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.path = pathlib.Path(folder.name) / "a.db"
        self.url = f"sqlite:///{self.path}"

    def run_program(self, program, *arguments):
        program = "import sys, os, signal\nimport vernier.optuna as optuna\n" + textwrap.dedent(program)
        return subprocess.run([sys.executable, "-c", program, self.url, *map(str, arguments)], text=True, timeout=120,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT)

    def vernier(self, *arguments):
        return subprocess.run([BIN / "vernier", "--store", self.path, *arguments], text=True, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT)

    PROGRAM = """
        def objective(trial):
            trial.set_user_attr("number", [trial.number])
            kind = trial.suggest_categorical("kind", ["a", "b", None])
            trial.report(1.0, 3)
            if trial.number == int(sys.argv[2]):
                os.kill(os.getpid(), signal.SIGKILL)
            return trial.suggest_float("x", 0, 1) if kind == "a" else trial.suggest_int("n", 2, 8)

        sampler = optuna.samplers.TPESampler(seed=1)
        study = optuna.create_study(study_name="s", storage=sys.argv[1], load_if_exists=True, sampler=sampler)
        study.set_user_attr("data", "digits")
        study.optimize(objective, n_trials=20)
    """

    def test_a_killed_program_goes_on(self):
        killed = self.run_program(self.PROGRAM, 9)
        self.assertEqual(killed.returncode, -signal.SIGKILL, killed.stdout)
        study = optuna.load_study(study_name="s", storage=self.url)
        self.assertEqual([trial.state.name for trial in study.trials], ["COMPLETE"] * 9 + ["RUNNING"])
        lost = study.trials[9]
        study._book._handle.close()
        again = self.run_program(self.PROGRAM, -1)
        self.assertEqual(again.returncode, 0, again.stdout)
        trials = study.trials
        # The lost trial has failed, and its point was the first to be tried again.
        self.assertEqual([trial.state.name for trial in trials], ["COMPLETE"] * 9 + ["FAIL"] + ["COMPLETE"] * 20)
        self.assertEqual(trials[10].params["kind"], lost.params["kind"])
        self.assertEqual(optuna.storages.RetryFailedTrialCallback.retried_trial_number(trials[10]), 9)
        self.assertEqual(trials[5].user_attrs, {"number": [5]})
        self.assertEqual(trials[5].intermediate_values, {3: 1.0})
        self.assertEqual(study.user_attrs, {"data": "digits"})
        self.assertEqual(study._book._tree.nodes["n"].when[0][0], "kind")

    def test_a_kill_while_the_study_is_replaced(self):
        program = """
            from vernier.optuna import _book
            import vernier
            calls, real = [], getattr(vernier, sys.argv[2])
            def dying(*arguments, **options):
                calls.append(1)
                if len(calls) == int(sys.argv[3]):
                    os.kill(os.getpid(), signal.SIGKILL)
                return real(*arguments, **options)
            study = optuna.create_study(study_name="s", storage=sys.argv[1])
            study.set_user_attr("k", 1)
            setattr(vernier, sys.argv[2], dying)
            study.optimize(lambda t: t.suggest_float("x", 0, 1) + t.suggest_int(f"n{t.number // 2}", 0, 3), n_trials=3)
        """
        for function, count in (("create_study", 1), ("delete_study", 1), ("create_study", 2), ("delete_study", 2),
                                ("create_study", 4)):
            with self.subTest(function=function, count=count):
                if self.path.exists():
                    os.unlink(self.path)
                killed = self.run_program(program, function, count)
                self.assertEqual(killed.returncode, -signal.SIGKILL, killed.stdout)
                study = optuna.load_study(study_name="s", storage=self.url)
                trials = study.trials
                self.assertIs(trials[0].state, TrialState.COMPLETE)
                self.assertAlmostEqual(trials[0].params["x"] + trials[0].params["n0"], trials[0].value)
                self.assertEqual(study.user_attrs, {"k": 1})
                study.optimize(lambda t: t.suggest_float("x", 0, 1), n_trials=2)
                self.assertEqual(vernier.study_names(self.path), ["s"])
                study._book._handle.close()
                del study

    def test_another_process_may_go_on_meanwhile(self):
        study = optuna.create_study(study_name="s", storage=self.url)
        study.optimize(lambda t: t.suggest_float("x", 0, 1), n_trials=3)
        study._book._handle.close()
        other = self.run_program("""
            study = optuna.load_study(study_name="s", storage=sys.argv[1])
            study.optimize(lambda t: t.suggest_float("x", 0, 1) + t.suggest_int("n", 0, 9), n_trials=3)
        """)
        self.assertEqual(other.returncode, 0, other.stdout)
        self.assertEqual(len(study.trials), 6)
        study.optimize(lambda t: t.suggest_float("x", 0, 1), n_trials=2)
        self.assertEqual([trial.number for trial in study.trials], list(range(8)))

    SHARING = """
        import time
        def objective(trial):
            trial.set_user_attr("process", os.getpid())
            kind = trial.suggest_categorical("kind", ["a", "b"])
            trial.report(1.0, 3)
            if trial.number == int(sys.argv[2]):
                print("open", flush=True)
                time.sleep(100)
            time.sleep(0.005)
            x = trial.suggest_float("x", 0, 1) if kind == "a" else trial.suggest_int("n", 2, 8)
            print(trial.number, x, flush=True)
            if sys.argv[4:]:
                sys.stdin.readline()
            return x
        optuna.logging.set_verbosity(optuna.logging.WARNING)
        study = optuna.create_study(study_name="s", storage=sys.argv[1], load_if_exists=True)
        study.optimize(objective, n_trials=int(sys.argv[3]))
    """

    def start(self, *arguments):
        program = "import sys, os, signal\nimport vernier.optuna as optuna\n" + textwrap.dedent(self.SHARING)
        process = subprocess.Popen([sys.executable, "-c", program, self.url, *map(str, arguments)], text=True,
                                   stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        self.addCleanup(process.communicate)
        self.addCleanup(process.kill)
        return process

    def test_processes_share_a_study(self):
        processes = [self.start(-1, 8) for _ in range(4)]
        lines = []
        for process in processes:
            text, _ = process.communicate(timeout=100)
            self.assertEqual(process.returncode, 0, text)
            lines += text.splitlines()
        trials = optuna.load_study(study_name="s", storage=self.url).trials
        self.assertEqual([trial.number for trial in trials], list(range(32)))
        self.assertEqual({trial.state for trial in trials}, {TrialState.COMPLETE})
        self.assertEqual({int(number): float(value) for number, value in map(str.split, lines)},
                         {trial.number: trial.value for trial in trials})
        self.assertEqual(len(lines), 32)
        for trial in trials:
            self.assertEqual(trial.value, trial.params["x"] if trial.params["kind"] == "a" else trial.params["n"])
            self.assertEqual(trial.intermediate_values, {3: 1.0})
        self.assertEqual(len({trial.user_attrs["process"] for trial in trials}), 4)

    def test_a_trial_of_a_killed_process_is_tried_by_another(self):
        slow = self.start(0, 1)
        self.assertEqual(slow.stdout.readline(), "open\n")
        study = optuna.load_study(study_name="s", storage=self.url)
        self.assertIs(study.trials[0].state, TrialState.RUNNING)
        # The space grows, so that Vernier's study is replaced, and the trial stays with its process.
        study.optimize(lambda t: t.suggest_float("x", 0, 1), n_trials=3)
        self.assertEqual([trial.state.name for trial in study.trials], ["RUNNING"] + ["COMPLETE"] * 3)
        slow.kill()
        slow.wait()
        study.optimize(lambda t: t.suggest_float("x", 0, 1), n_trials=1)
        self.assertEqual([trial.state.name for trial in study.trials], ["FAIL"] + ["COMPLETE"] * 4)
        self.assertEqual(optuna.storages.RetryFailedTrialCallback.retried_trial_number(study.trials[4]), 0)

    def test_a_trial_keeps_its_lease_while_others_replace_the_study(self):
        study = optuna.create_study(study_name="s", storage=self.url)
        trial = study.ask()
        asked = study._book._open[trial.number]
        before = asked.leased.study
        other = self.start(-1, 4)
        text, _ = other.communicate(timeout=100)
        self.assertEqual(other.returncode, 0, text)
        # As if a third of the lease had passed: the keeper finds the trial in the new study.
        asked.renewed -= 45
        deadline = time.monotonic() + 20
        while asked.leased.study == before and time.monotonic() < deadline:
            time.sleep(0.05)
        self.assertNotEqual(asked.leased.study, before)
        trial.suggest_float("x", 0, 1)
        study.tell(trial, 1.0)
        self.assertEqual([t.state.name for t in study.trials], ["COMPLETE"] * 5)

    def test_names_and_studies_of_a_file(self):
        for name in ("plain", "with blanks / and ümlauts", "x" * 300):
            optuna.create_study(study_name=name, storage=self.url).optimize(branch, n_trials=2)
        names = ["plain", "with blanks / and ümlauts", "x" * 300]
        self.assertEqual(sorted(optuna.get_all_study_names(self.url)), sorted(names))
        with self.assertRaisesRegex(optuna.exceptions.DuplicatedStudyError, "load_if_exists=True"):
            optuna.create_study(study_name="plain", storage=self.url)
        optuna.copy_study(from_study_name="plain", from_storage=self.url, to_storage=self.url, to_study_name="copy")
        self.assertEqual([trial.params for trial in optuna.load_study(study_name="copy", storage=self.url).trials],
                         [trial.params for trial in optuna.load_study(study_name="plain", storage=self.url).trials])
        optuna.delete_study(study_name="plain", storage=self.url)
        with self.assertRaises(KeyError):
            optuna.load_study(study_name="plain", storage=self.url)

    def test_other_files(self):
        vernier.create_study("own", {"x": vernier.Float(0, 1)}, minimize="loss", storage=self.path).close()
        with self.assertRaisesRegex(KeyError, "was not created by vernier.optuna; vernier.open_study opens it"):
            optuna.load_study(study_name="own", storage=self.url)
        self.assertEqual(optuna.get_all_study_names(self.url), [])
        theirs = self.path.with_name("theirs.db")
        with sqlite3.connect(theirs) as file:
            for table in ("studies", "study_directions", "trial_params", "version_info"):
                file.execute(f"CREATE TABLE {table} (id INTEGER)")
        file.close()
        with self.assertRaisesRegex(vernier.StoreError, "is a database of Optuna, not a store of Vernier"):
            optuna.create_study(storage=f"sqlite:///{theirs}")

    def serve(self):
        return servers.serve(self, BIN, self.path, self.path.parent)

    def test_programs_wait_for_the_end_of_a_server(self):
        # Each ends a trial when it gets a line, so that none has ended when a server comes.
        processes = [self.start(-1, 12, "by line")]
        lines = [processes[0].stdout.readline()]
        for by in (signal.SIGKILL, signal.SIGTERM):
            daemon = self.serve()
            processes.append(self.start(-1, 12, "by line"))
            for process in processes:
                process.stdin.write("\n")
                process.stdin.flush()
                while "waits until the server" not in (line := process.stdout.readline()):
                    self.assertTrue(line, "ended while the server had the file")
                    lines.append(line)
                self.assertIn(f"at unix:{self.path.parent}/d.sock has closed the file; stop the server to go on", line)
            daemon.send_signal(by)
            daemon.wait(timeout=20)
            lines += [process.stdout.readline() for process in processes]
        for process in processes:
            process.stdin.write("\n" * 12)
            process.stdin.flush()
        for process in processes:
            lines += process.stdout.readlines()  # With those that were read ahead.
            self.assertEqual(process.wait(timeout=20), 0, lines)
        trials = optuna.load_study(study_name="s", storage=self.url).trials
        self.assertEqual([trial.state for trial in trials], [TrialState.COMPLETE] * 36)
        told = [(trial.number, trial.value) for trial in trials]
        self.assertEqual(sorted((int(number), float(value)) for number, value in map(str.split, lines)), told)

    def test_leases_are_renewed_through_a_server(self):
        study = optuna.create_study(study_name="s", storage=self.url)
        trial = study.ask()
        trial.suggest_float("x", 0, 1)
        [asked] = study._book._open.values()
        study._book._handle.close()
        # Another process replaces Vernier's study, and with it the trial.
        other = self.run_program("""
            study = optuna.load_study(study_name="s", storage=sys.argv[1])
            study.optimize(lambda t: t.suggest_float("x", 0, 1) + t.suggest_int("n", 0, 9), n_trials=3)
        """)
        self.assertEqual(other.returncode, 0, other.stdout)
        before = asked.leased.study
        daemon = self.serve()
        asked.renewed -= 45  # As after 45 of 60 seconds.
        due = asked.renewed + 40
        deadline = time.monotonic() + 20
        while asked.renewed < due and time.monotonic() < deadline:
            time.sleep(0.05)
        self.assertGreater(asked.renewed, due)
        self.assertNotEqual(asked.leased.study, before)
        daemon.terminate()
        daemon.wait(timeout=20)
        study.tell(trial, 1.0)
        self.assertEqual([trial.state for trial in study.trials], [TrialState.COMPLETE] * 4)

    def test_what_cannot_be_stored_is_refused(self):
        study = optuna.create_study(storage=self.url)
        trial = study.ask()
        with self.assertRaisesRegex(TypeError, "attribute: must be"):
            trial.set_user_attr("model", object())
        trial.set_user_attr("fine", {"a": [1, None]})
        study.tell(trial, 1.0)
        self.assertEqual(study.trials[0].user_attrs, {"fine": {"a": [1, None]}})

    def test_a_fork_must_open_the_study_itself(self):
        study = optuna.create_study(study_name="s", storage=self.url)
        study.optimize(branch, n_trials=2)
        study._book._handle.close()
        with multiprocessing.get_context("fork").Pool(1) as pool:
            self.assertEqual(pool.apply(_count, (self.url,)), 2)

    def test_the_command_line_reads_it(self):
        if BIN is None:
            self.skipTest("no command line")
        study = optuna.create_study(study_name="s", storage=self.url, sampler=gp())
        study.optimize(branch, n_trials=12)
        study._book._handle.close()
        shown = self.vernier("study", "list").stdout
        self.assertRegex(shown, r"\ns +ACTIVE +minimize value +gp +12 ")
        self.assertIn("verified", self.vernier("study", "replay", "s", "--verify").stdout)
        self.assertEqual(self.vernier("study", "replay", "s", "--verify").returncode, 0)


def _count(url):
    return len(optuna.load_study(study_name="s", storage=url).trials)


if __name__ == "__main__":
    if len(sys.argv) > 1 and not sys.argv[1].startswith("-") and os.path.isdir(sys.argv[1]):
        BIN = pathlib.Path(sys.argv.pop(1))
    unittest.main()
