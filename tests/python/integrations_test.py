#!/usr/bin/env python3
"""Callbacks for trainers, with the frameworks themselves. What cannot be imported is skipped.

usage: integrations_test.py [--bin FOLDER] [--environment NAME --source FOLDER] [TEST ...]

--bin: folder of the command line, for programs that it runs. --environment: runs the tests with this environment of
scripts/lib/python_venv. Lightning is in none of them, as it needs a PyTorch of several GB: give this program a Python that has it.
"""

import argparse
import contextlib
import importlib
import io
import logging
import math
import os
import pathlib
import pickle
import re
import subprocess
import sys
import tempfile
import textwrap
import unittest
import warnings

BIN = None
# What ctest takes for "skipped".
SKIPPED = 77

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
os.environ.setdefault("CUDA_VISIBLE_DEVICES", "")
warnings.simplefilter("ignore")
logging.getLogger("vernier").setLevel(logging.CRITICAL)


def run_in_environment(options):
    """Runs this program again with the Python of the environment."""
    python = subprocess.run([options.source / "scripts/lib/python_venv", options.environment], check=True, capture_output=True,
                            text=True).stdout.strip()
    version = subprocess.run([python, "-c", "import sys; print(*sys.version_info[:2])"], check=True, capture_output=True,
                             text=True).stdout.split()
    if version != [str(part) for part in sys.version_info[:2]]:
        print(f"skipped: the module is built for Python {sys.version_info[:2]}, environment {options.environment} has {version}")
        sys.exit(SKIPPED)
    bin_ = ["--bin", str(options.bin)] if options.bin else []
    os.execv(python, [python, "-W", "ignore", __file__, *bin_, *options.tests])


def needs(*modules):
    """Skips a class of tests if a framework cannot be imported."""
    for module in modules:
        try:
            importlib.import_module(module)
        except Exception as error:  # Some fail in other ways than by ImportError.
            return unittest.skip(f"{module} cannot be imported: {type(error).__name__}: {error}")
    return lambda cls: cls


def make(goal="minimize", metric="loss", third=True):
    """A study whose trials are stopped at their third report."""
    import vernier

    class Third(vernier.StoppingRule):
        def judge(self, running, others, goal):
            return len(running.values) == 3

    return vernier.create_study("s", {"lr": vernier.Float(0.01, 0.1)}, algorithm="random",
                                stopping=Third if third else "none", **{goal: metric})


def run_processes(program):
    """Runs a program in two processes, which know their RANK. Returns what they print."""
    with tempfile.TemporaryDirectory() as folder:
        head = f"import sys\nsys.path.insert(0, {os.path.dirname(os.path.abspath(__file__))!r})\nimport integrations_test\n"
        body = textwrap.dedent(program).replace("SHARED", os.path.join(folder, "shared"))
        started = [
            subprocess.Popen([sys.executable, "-c", f"{head}RANK = {rank}\n{body}"], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                             text=True)
            for rank in range(2)
        ]
        try:
            done = [process.communicate(timeout=120) for process in started]
        finally:
            for process in started:
                process.kill()
    for process, (_, errors) in zip(started, done):
        assert process.returncode == 0, errors
    return [output for output, _ in done]


class Framework:
    """What holds for each callback. A framework defines `callback`, `fit(callback, rounds)`, which returns the number of rounds
    that were run, and a `known` and an `unknown` name of a metric."""

    def run_one(self, metrics, study):
        ran = []

        def train(trial):
            ran.append(self.fit(self.callback(metrics, trial=trial), 6))

        study.optimize(train, trials=1, catch=())
        return ran[0], study.curve(1), study.trials[0]

    def test_stops_when_the_trial_is_stopped(self):
        ran, curve, record = self.run_one({"loss": self.known}, make())
        self.assertEqual([point.step for point in curve], [1, 2, 3])
        self.assertEqual([list(point.metrics) for point in curve], [["loss"]] * 3)
        self.assertEqual((ran, record.state, record.metrics), (3, "COMPLETED", curve[-1].metrics))
        self.assertIsNotNone(record.stopped)

    def test_runs_to_the_end_otherwise(self):
        ran, curve, record = self.run_one(self.known, make(metric=self.known, third=False))
        self.assertEqual((ran, [point.step for point in curve]), (6, [1, 2, 3, 4, 5, 6]))
        self.assertTrue(math.isfinite(record.value))

    def test_reports_all_metrics_by_default(self):
        _, curve, _ = self.run_one(None, make(metric=self.known))
        self.assertIn(self.known, curve[0].metrics)

    def test_names_a_missing_metric_and_those_that_are_there(self):
        import vernier

        with self.assertRaises(vernier.InvalidValueError) as caught:
            self.run_one({"loss": self.unknown}, make())
        self.assertIn(f"metric '{self.unknown}': ", str(caught.exception))
        self.assertIn(self.known, str(caught.exception))

    def test_refuses_rubbish(self):
        with self.assertRaisesRegex(TypeError, "trial: must be a trial of a study, or None, got 7"):
            self.callback(trial=7)
        with self.assertRaisesRegex(ValueError, "metrics: must name at least one metric"):
            self.callback([])
        with self.assertRaisesRegex(TypeError, "metrics.loss: must be text, got 3"):
            self.callback({"loss": 3})

    def test_prints_where_nobody_reads(self):
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            ran = self.fit(self.callback({"loss": self.known}), 2)
        self.assertEqual(ran, 2)
        self.assertIn("step=", printed.getvalue())
        self.assertIn("loss=", printed.getvalue())

    def test_works_in_a_program_that_vernier_runs(self):
        if BIN is None:
            self.skipTest("needs the folder of the command line")
        import vernier

        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            # The tests' own `fit` is the program. Vernier stops a program by SIGTERM, here after its third report.
            (folder / "train.py").write_text(textwrap.dedent(f"""
                import os, signal, sys
                sys.path.insert(0, {os.path.dirname(os.path.abspath(__file__))!r})
                import integrations_test
                case = integrations_test.{type(self).__name__}()
                case.setUp()
                callback = case.callback({{"loss": case.known}})
                send = callback._reports.send
                def send_and_stop(step, known, *rest):
                    send(step, known, *rest)
                    if step == 3:
                        os.kill(os.getpid(), signal.SIGTERM)
                callback._reports.send = send_and_stop
                print("rounds:", case.fit(callback, 9))
            """))
            (folder / "study.yaml").write_text(textwrap.dedent(f"""
                study: s
                objective: {{minimize: loss}}
                parameters: {{lr: {{float: [0.01, 0.1]}}}}
                algorithm: random
                stopping: none
                budget: {{trials: 1}}
                job: {{command: [{sys.executable}, {folder / "train.py"}]}}
            """))
            environment = {**os.environ, "PYTHONPATH": str(pathlib.Path(vernier.__file__).parent.parent)}
            done = subprocess.run([BIN / "vernier", "--store", "s.db", "run", "study.yaml"], cwd=folder, env=environment,
                                  capture_output=True, text=True, timeout=120, check=False)
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
            def query(*words):
                return subprocess.run([BIN / "vernier", "--store", "s.db", "trial", *words], cwd=folder, capture_output=True,
                                      text=True, timeout=60, check=True).stdout

            self.assertIn("COMPLETED", query("show", "s", "1"))
            self.assertIn("rounds: 3", query("logs", "s", "1"))
            steps = [line.split()[0] for line in query("metrics", "s", "1", "--no-headers").splitlines()]
            self.assertEqual(steps, ["1", "2", "3"])


@needs("keras", "numpy")
class Keras(Framework, unittest.TestCase):
    known, unknown = "val_loss", "val_f1"

    def callback(self, *arguments, **options):
        from vernier.integrations.keras import VernierCallback

        return VernierCallback(*arguments, **options)

    def fit(self, callback, rounds, **options):
        import keras
        import numpy

        x = numpy.linspace(0, 1, 8).reshape(-1, 1)
        model = keras.Sequential([keras.layers.Dense(1)])
        model.compile("sgd", "mse")
        options.setdefault("validation_data", (x, 2 * x))
        return len(model.fit(x, 2 * x, epochs=rounds, verbose=0, callbacks=[callback], **options).epoch)

    def test_an_epoch_without_validation_is_not_reported(self):
        study = make(third=False)
        study.optimize(lambda trial: self.fit(self.callback({"loss": "val_loss"}, trial=trial), 6, validation_freq=2) and None, trials=1)
        self.assertEqual([point.step for point in study.curve(1)], [2, 4, 6])
        with self.assertRaisesRegex(ValueError, "metric 'val_loss': Keras has no such metric; it has loss"):
            self.fit(self.callback("val_loss"), 2, validation_data=None)

    def test_only_the_chief_of_several_workers_reports(self):
        from vernier.integrations.keras import _place

        def place(task):
            os.environ["TF_CONFIG"] = f'{{"cluster": {{"worker": ["a:1", "b:1"]}}, "task": {task}}}'
            try:
                return _place()
            finally:
                del os.environ["TF_CONFIG"]

        self.assertEqual(place('{"type": "worker", "index": 0}'), (True, False))
        self.assertEqual(place('{"type": "worker", "index": 1}'), (False, False))
        self.assertEqual(_place(), (True, True))


@needs("torch", "pytorch_lightning")
class Lightning(Framework, unittest.TestCase):
    known, unknown = "val_loss", "val_f1"

    def setUp(self):
        logging.getLogger("pytorch_lightning").setLevel(logging.ERROR)

    def callback(self, *arguments, **options):
        from vernier.integrations.lightning import VernierCallback

        return VernierCallback(*arguments, **options)

    def fit(self, callback, rounds, validate=True, **options):
        import pytorch_lightning
        import torch

        class Line(pytorch_lightning.LightningModule):
            def __init__(self):
                super().__init__()
                self.layer = torch.nn.Linear(1, 1)

            def loss(self, batch):
                x, y = batch
                return ((self.layer(x) - y) ** 2).mean()

            def training_step(self, batch, _):
                loss = self.loss(batch)
                self.log("train_loss", loss, on_epoch=True, on_step=False, sync_dist=True)
                return loss

            if validate:

                def validation_step(self, batch, _):
                    self.log("val_loss", self.loss(batch), sync_dist=True)

            def configure_optimizers(self):
                return torch.optim.SGD(self.parameters(), 0.1)

        x = torch.linspace(0, 1, 8).reshape(-1, 1)
        data = torch.utils.data.DataLoader(torch.utils.data.TensorDataset(x, 2 * x), batch_size=4)
        with tempfile.TemporaryDirectory() as folder:
            settings = {"accelerator": "cpu", "logger": False, "enable_checkpointing": False, "enable_progress_bar": False,
                        "enable_model_summary": False, "default_root_dir": folder, **options}
            trainer = pytorch_lightning.Trainer(max_epochs=rounds, callbacks=[callback], **settings)
            trainer.fit(Line(), data, data if validate else None)
        return trainer.current_epoch

    def test_without_validation_each_epoch_is_reported(self):
        study = make()
        study.optimize(lambda trial: self.fit(self.callback({"loss": "train_loss"}, trial=trial), 6, validate=False) and None, trials=1)
        self.assertEqual([point.step for point in study.curve(1)], [1, 2, 3])

    def test_each_validation_of_an_epoch_is_a_step(self):
        study = make(third=False)
        study.optimize(lambda trial: self.fit(self.callback({"loss": "val_loss"}, trial=trial), 2, val_check_interval=0.5) and None,
                       trials=1)
        self.assertEqual([point.step for point in study.curve(1)], [1, 2, 3, 4])

    def test_processes_stop_together_and_one_reports(self):
        with tempfile.TemporaryDirectory() as folder:
            program = pathlib.Path(folder, "train.py")
            program.write_text(textwrap.dedent(f"""
                import os, sys
                sys.path.insert(0, {os.path.dirname(os.path.abspath(__file__))!r})
                import integrations_test
                import vernier
                case = integrations_test.Lightning()
                callback = case.callback("val_loss")
                # Process 1 alone is told to stop, at its fourth report.
                def should_stop():
                    return os.environ.get("LOCAL_RANK") == "1" and callback._step == 4
                callback._reports.should_stop = should_stop
                print("epochs", case.fit(callback, 9, strategy="ddp", devices=2))
            """))
            done = subprocess.run([sys.executable, program], capture_output=True, text=True, timeout=120, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(done.stdout.count("epochs 4"), 2, done.stdout)
        self.assertEqual([line.split()[0] for line in done.stdout.splitlines() if line.startswith("step=")],
                         [f"step={n}" for n in range(1, 5)])

    def test_the_step_goes_on_from_a_checkpoint(self):
        first = self.callback()
        first._step = 7
        second = self.callback()
        second.load_state_dict(first.state_dict())
        self.assertEqual(second._step, 7)


@needs("torch", "transformers", "accelerate")
class Transformers(Framework, unittest.TestCase):
    known, unknown = "eval_loss", "eval_f1"

    def callback(self, *arguments, **options):
        from vernier.integrations.transformers import VernierCallback

        return VernierCallback(*arguments, **options)

    def fit(self, callback, rounds, sets=1, resume=False, folder=None):
        import torch
        import transformers

        class Line(torch.nn.Module):
            def __init__(self):
                super().__init__()
                self.layer = torch.nn.Linear(1, 1)

            def forward(self, x=None, labels=None):
                output = self.layer(x)
                return {"loss": ((output - labels) ** 2).mean(), "logits": output}

        data = [{"x": torch.tensor([i / 8]), "labels": torch.tensor([i / 4])} for i in range(8)]
        with tempfile.TemporaryDirectory() as new:
            when = {("eval_strategy" if hasattr(transformers.TrainingArguments, "eval_strategy") else "evaluation_strategy"): "epoch"}
            arguments = transformers.TrainingArguments(
                folder or new, num_train_epochs=rounds, use_cpu=True, report_to=[], disable_tqdm=True,
                save_strategy="epoch" if folder else "no", **when)
            evaluated = data if sets == 1 else {f"set{i}": data for i in range(sets)}
            trainer = transformers.Trainer(Line(), arguments, train_dataset=data, eval_dataset=evaluated, callbacks=[callback])
            trainer.remove_callback(transformers.PrinterCallback)
            trainer.train(resume_from_checkpoint=resume)
        return round(trainer.state.epoch)

    def test_metrics_of_several_sets_are_reported_together(self):
        study = make()
        wanted = {"loss": "eval_set0_loss", "other": "eval_set1_loss"}
        study.optimize(lambda trial: self.fit(self.callback(wanted, trial=trial), 6, sets=2) and None, trials=1)
        self.assertEqual([(point.step, sorted(point.metrics)) for point in study.curve(1)],
                         [(step, ["loss", "other"]) for step in (1, 2, 3)])

    def test_the_step_goes_on_from_a_checkpoint(self):
        with tempfile.TemporaryDirectory() as folder:
            study = make(third=False)

            def train(trial):
                self.fit(self.callback({"loss": "eval_loss"}, trial=trial), 2, folder=folder)
                self.fit(self.callback({"loss": "eval_loss"}, trial=trial), 4, folder=folder, resume=True)

            study.optimize(train, trials=1, catch=())
        self.assertEqual([point.step for point in study.curve(1)], [1, 2, 3, 4])


    def test_processes_stop_together_and_one_reports(self):
        outputs = run_processes("""
            from torch import distributed
            distributed.init_process_group("gloo", rank=RANK, world_size=2, init_method="file://SHARED")
            case = integrations_test.Transformers()
            callback = case.callback("eval_loss")
            steps = 0
            # Process 1 alone is told to stop, at its fourth evaluation.
            def should_stop():
                global steps
                steps += 1
                return RANK == 1 and steps == 4
            callback._reports.should_stop = should_stop
            from transformers.trainer_callback import TrainerState
            state, control = TrainerState(), type("Control", (), {"should_training_stop": False})()
            state.is_world_process_zero = RANK == 0
            while not control.should_training_stop:
                state.global_step += 10
                state.log_history.append({"eval_loss": 1.0, "step": state.global_step})
                callback.on_evaluate(None, state, control, {"eval_loss": 1.0})
            print("stopped after", len(state.log_history))
        """)
        self.assertEqual([output.splitlines()[-1] for output in outputs], ["stopped after 4"] * 2)
        self.assertEqual([output.count("step=") for output in outputs], [4, 0])


class Boosting(Framework):
    def test_reports_each_tenth_round(self):
        study = make(third=False)
        study.optimize(lambda trial: self.fit(self.callback({"loss": self.known}, every=10, trial=trial), 25) and None, trials=1)
        self.assertEqual([point.step for point in study.curve(1)], [10, 20])
        with self.assertRaisesRegex(ValueError, "every: must be 1 to"):
            self.callback(every=0)


@needs("xgboost", "numpy")
class XGBoost(Boosting, unittest.TestCase):
    known, unknown = "valid-rmse", "valid-auc"

    def callback(self, *arguments, **options):
        from vernier.integrations.xgboost import VernierCallback

        return VernierCallback(*arguments, **options)

    def data(self):
        import numpy
        import xgboost

        x = numpy.linspace(0, 1, 40).reshape(-1, 1)
        return xgboost.DMatrix(x, x.ravel() ** 2)

    def fit(self, callback, rounds):
        import xgboost

        data = self.data()
        booster = xgboost.train({"max_depth": 2, "nthread": 1, "eta": 0.1}, data, rounds, evals=[(data, "valid")],
                                callbacks=[callback], verbose_eval=False)
        return booster.num_boosted_rounds()

    def test_cross_validation_and_estimators(self):
        import numpy
        import xgboost

        study = make()

        def train(trial):
            callback = self.callback({"loss": "test-rmse"}, trial=trial)
            self.assertEqual(len(xgboost.cv({"nthread": 1}, self.data(), 9, nfold=2, callbacks=[callback], as_pandas=False)["test-rmse-mean"]), 3)

        study.optimize(train, trials=1, catch=())
        x = numpy.linspace(0, 1, 40).reshape(-1, 1)

        def fit(trial):
            callback = self.callback({"loss": "validation_0-rmse"}, trial=trial)
            model = xgboost.XGBRegressor(n_estimators=9, n_jobs=1, callbacks=[callback])
            model.fit(x, x.ravel(), eval_set=[(x, x.ravel())], verbose=False)
            self.assertEqual(model.get_booster().num_boosted_rounds(), 3)

        study.optimize(fit, trials=1, catch=())


    def test_processes_stop_together_and_one_reports(self):
        from xgboost.tracker import RabitTracker

        tracker = RabitTracker(host_ip="127.0.0.1", n_workers=2)
        tracker.start()
        outputs = run_processes("""
            import xgboost
            case = integrations_test.XGBoost()
            callback = case.callback("valid-rmse")
            rounds = 0
            # Process 1 alone is told to stop, at its fourth round.
            def should_stop():
                global rounds
                rounds += 1
                return RANK == 1 and rounds == 4
            callback._reports.should_stop = should_stop
            with xgboost.collective.CommunicatorContext(**ARGUMENTS, dmlc_task_id=str(RANK)):
                assert xgboost.collective.get_rank() == RANK
                print("stopped after", case.fit(callback, 9))
        """.replace("ARGUMENTS", repr(dict(tracker.worker_args()))))
        self.assertEqual([output.splitlines()[-1] for output in outputs], ["stopped after 4"] * 2)
        self.assertEqual([output.count("step=") for output in outputs], [4, 0])


@needs("lightgbm", "numpy")
class LightGBM(Boosting, unittest.TestCase):
    known, unknown = "valid_0-l2", "valid_0-auc"

    def callback(self, *arguments, **options):
        from vernier.integrations.lightgbm import VernierCallback

        return VernierCallback(*arguments, **options)

    def data(self):
        import lightgbm
        import numpy

        x = numpy.linspace(0, 1, 80).reshape(-1, 1)
        return lightgbm.Dataset(x, x.ravel() ** 2, free_raw_data=False)

    def fit(self, callback, rounds):
        import lightgbm

        data = self.data()
        valid = data.create_valid(data.data, label=data.label)
        booster = lightgbm.train({"num_threads": 1, "verbosity": -1, "metric": "l2", "min_data_in_leaf": 2}, data, rounds,
                                 valid_sets=[valid], callbacks=[callback])
        return booster.current_iteration()

    def test_cross_validation_and_estimators(self):
        import lightgbm
        import numpy

        study = make()

        def train(trial):
            callback = self.callback({"loss": "valid-l2"}, trial=trial)
            parameters = {"num_threads": 1, "verbosity": -1, "metric": "l2"}
            scores = lightgbm.cv(parameters, self.data(), 9, nfold=2, stratified=False, callbacks=[callback])
            self.assertEqual(len(scores["valid l2-mean"]), 3)

        study.optimize(train, trials=1, catch=())
        x = numpy.linspace(0, 1, 80).reshape(-1, 1)

        def fit(trial):
            model = lightgbm.LGBMRegressor(n_estimators=9, n_jobs=1, verbosity=-1)
            model.fit(x, x.ravel(), eval_set=[(x, x.ravel())], callbacks=[self.callback({"loss": "valid_0-l2"}, trial=trial)])
            self.assertEqual(model.booster_.current_iteration(), 3)

        study.optimize(fit, trials=1, catch=())


@needs("sklearn", "scipy")
class ScikitLearn(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        from sklearn.datasets import load_iris

        cls.x, cls.y = load_iris(return_X_y=True)

    def search(self, estimator=None, space=None, **options):
        import vernier
        from sklearn.svm import SVC
        from vernier.integrations.sklearn import SearchCV

        space = space or {"C": vernier.Float(1e-2, 1e2, log=True), "kernel": ["linear", "rbf"]}
        return SearchCV(estimator or SVC(), space, **{"n_iter": 6, "cv": 3, "random_state": 0, **options})

    def test_takes_the_place_of_a_randomized_search(self):
        from sklearn.model_selection import RandomizedSearchCV
        from sklearn.svm import SVC

        search = self.search(n_jobs=2, parallel=3, return_train_score=True).fit(self.x, self.y)
        other = RandomizedSearchCV(SVC(), {"C": [1, 2], "kernel": ["linear", "rbf"]}, n_iter=2, cv=3, return_train_score=True)
        other.fit(self.x, self.y)
        self.assertEqual(set(search.cv_results_), set(other.cv_results_))
        self.assertEqual(set(vars(other)) - set(vars(search)), set())
        self.assertEqual(len(search.cv_results_["params"]), 6)
        self.assertEqual(search.best_score_, max(search.cv_results_["mean_test_score"]))
        self.assertEqual(search.best_params_, search.study_.best.params)
        self.assertEqual(search.best_params_["C"], search.best_estimator_.C)
        self.assertGreater(search.score(self.x, self.y), 0.9)
        self.assertEqual([record.value for record in search.study_.trials], list(search.cv_results_["mean_test_score"]))

    def test_equal_states_give_equal_results_and_fit_begins_anew(self):
        search = self.search()
        first = search.fit(self.x, self.y).cv_results_["params"]
        self.assertEqual(search.fit(self.x, self.y).cv_results_["params"], first)
        self.assertNotEqual(self.search(random_state=1).fit(self.x, self.y).cv_results_["params"], first)

    def test_copies_and_pickles(self):
        from sklearn.base import clone

        search = self.search().fit(self.x, self.y)
        copied = pickle.loads(pickle.dumps(search))
        self.assertEqual(copied.best_params_, search.best_params_)
        self.assertEqual(list(copied.predict(self.x)), list(search.predict(self.x)))
        self.assertFalse(hasattr(copied, "study_"))
        self.assertFalse(hasattr(clone(search), "cv_results_"))
        self.assertEqual(clone(search).get_params()["n_iter"], 6)

    def test_lists_of_any_values_and_distributions(self):
        import scipy.stats
        from sklearn.neural_network import MLPClassifier
        from sklearn.pipeline import Pipeline
        from sklearn.preprocessing import MinMaxScaler, StandardScaler

        pipeline = Pipeline([("scale", StandardScaler()), ("net", MLPClassifier(max_iter=5))])
        scalers = [MinMaxScaler(), None, "passthrough"]
        search = self.search(pipeline, {
            "scale": scalers,
            "net__hidden_layer_sizes": [(5,), (5, 5)],
            "net__alpha": scipy.stats.loguniform(1e-4, 1e-1),
            "net__momentum": scipy.stats.uniform(0.5, 0.4),
            "net__batch_size": scipy.stats.randint(8, 10),
        }, n_iter=8, algorithm="random").fit(self.x, self.y)
        for params in search.cv_results_["params"]:
            self.assertIn(params["scale"], scalers)
            self.assertIn(params["net__hidden_layer_sizes"], [(5,), (5, 5)])
            self.assertTrue(1e-4 <= params["net__alpha"] <= 1e-1)
            self.assertTrue(0.5 <= params["net__momentum"] <= 0.9)
            self.assertIn(params["net__batch_size"], (8, 9))

    def test_several_scores(self):
        search = self.search(scoring=["accuracy", "f1_macro"], refit="f1_macro").fit(self.x, self.y)
        self.assertEqual(search.best_score_, max(search.cv_results_["mean_test_f1_macro"]))
        self.assertEqual(search.study_.best.value, search.best_score_)
        with self.assertRaisesRegex(ValueError, "refit: must name the score to optimize, one of accuracy, f1_macro, got False"):
            self.search(scoring=["accuracy", "f1_macro"], refit=False).fit(self.x, self.y)

    def test_a_failing_point_is_a_failed_trial(self):
        from sklearn.svm import SVC

        search = self.search(SVC(), {"C": [1.0, -1.0]}, n_iter=5).fit(self.x, self.y)
        self.assertEqual(sorted(record.state for record in search.study_.trials), ["COMPLETED", "FAILED"])
        self.assertEqual(search.best_params_, {"C": 1.0})

    def test_refuses_rubbish(self):
        import scipy.stats

        for options, text in (
            ({"n_iter": 0}, "n_iter: must be 1 to"),
            ({"parallel": 0}, "parallel: must be 1 to"),
            ({"algorithm": "tpe"}, "unknown algorithm 'tpe'"),
            ({"space": {"C": "rbf"}}, "param_distributions.C: must be a parameter, a list or a distribution of scipy, got 'rbf'"),
            ({"space": {"C": scipy.stats.norm(0, 1)}}, "param_distributions.C: must be scipy's uniform, loguniform or randint"),
            ({"space": [1]}, "param_distributions: must be a mapping"),
        ):
            with self.subTest(text=text), self.assertRaisesRegex((TypeError, ValueError), text):
                self.search(**options).fit(self.x, self.y)

    def test_keeps_the_conventions_of_estimators(self):
        import vernier
        from sklearn.linear_model import LogisticRegression
        from sklearn.utils.estimator_checks import check_estimator

        check_estimator(self.search(LogisticRegression(), {"C": vernier.Float(0.1, 10, log=True)}, n_iter=2, cv=2, algorithm="random"))

    def test_a_cross_validation_ends_early(self):
        import vernier
        from sklearn.svm import SVC
        from vernier.integrations.sklearn import cross_val_score

        study = make("maximize", "score")
        study.optimize(lambda trial: cross_val_score(trial, SVC(C=trial["lr"]), self.x, self.y, cv=10), trials=1, catch=())
        self.assertEqual([point.step for point in study.curve(1)], [1, 2, 3])
        self.assertEqual(study.best.value, study.curve(1)[-1].metrics["score"])
        whole = make("maximize", "score", third=False)
        from sklearn.model_selection import cross_val_score as theirs

        whole.optimize(lambda trial: cross_val_score(trial, SVC(), self.x, self.y), trials=1, catch=())
        self.assertAlmostEqual(whole.best.value, theirs(SVC(), self.x, self.y).mean())


class Guide(unittest.TestCase):
    """The programs of the guide, each by itself."""

    def test_programs(self):
        guide = pathlib.Path(__file__).resolve().parents[2] / "docs/guides/python_trainers.md"
        count = 0
        for program in re.findall(r"^```python\n(.*?)^```$", guide.read_text(), re.M | re.S):
            with self.subTest(program=program), tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
                [module] = set(re.findall(r"from vernier.integrations.(\w+) import", program))
                framework = {"sklearn": "sklearn", "lightning": "pytorch_lightning"}.get(module, module)
                try:
                    importlib.import_module(framework)
                except Exception:  # As for `needs`.
                    continue
                exec(compile(program, f"{guide}: {module}", "exec"), {"__name__": "guide"})
                count += 1
        self.assertGreater(count, 0)


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--bin", type=pathlib.Path)
    parser.add_argument("--environment")
    parser.add_argument("--source", type=pathlib.Path)
    parser.add_argument("tests", nargs="*")
    chosen = parser.parse_args()
    if chosen.environment:
        run_in_environment(chosen)
    BIN = chosen.bin
    unittest.main(argv=[sys.argv[0], "-v", *chosen.tests])
