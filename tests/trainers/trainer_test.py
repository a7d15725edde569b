#!/usr/bin/env python3
"""The built-in trainers as programs: what they refuse, how good they are on real data, what they leave, how they go on.

usage: trainer_test.py SOURCE_DIR [linear_learner | xgboost]
"""

import csv
import importlib.util
import json
import math
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import time
import unittest

import numpy as np

SOURCE = pathlib.Path(sys.argv[1]).resolve()
CLASSIFY = ["--model_type=classification"]


class TrainerTest(unittest.TestCase):
    trainer = "linear_learner"
    least = CLASSIFY  # Arguments that it needs besides data.

    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory(prefix="vernier-trainer-")
        cls.addClassCleanup(folder.cleanup)
        cls.data = pathlib.Path(folder.name)
        subprocess.run([sys.executable, SOURCE / "examples/built_in/make_data.py", cls.data], check=True)

    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="vernier-trainer-")
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def start(self, *arguments, tag=None, path=""):
        environment = dict(os.environ, PYTHONPATH=f"{path}:{SOURCE / 'trainers'}",
                           CLOUD_ML_HP_METRIC_FILE=str(self.folder / "metrics"), CLOUD_ML_TRIAL_ID="7")
        if tag:
            environment["CLOUD_ML_HP_METRIC_TAG"] = tag
        return subprocess.Popen([sys.executable, "-m", f"vernier_trainers.{self.trainer}", *map(str, arguments)],
                                cwd=self.folder, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    def run_trainer(self, *arguments, **options):
        """Its log lines."""
        process = self.start(*arguments, **options)
        out, err = process.communicate(timeout=120)
        self.assertEqual(process.returncode, 0, out + err)
        self.assertNotIn("Traceback", err)
        return [json.loads(line) for line in out.splitlines() if line.startswith("{")]  # XGBoost has its own words too.

    def refusal(self, *arguments, **options):
        """The sentence with which it ends, without a traceback."""
        process = self.start(*arguments, **options)
        out, err = process.communicate(timeout=120)
        self.assertEqual((process.returncode, err), (1, ""), out)
        line = json.loads(out.splitlines()[-1])
        self.assertEqual(line["severity"], "ERROR")
        return line["message"]

    def refusal_of_data(self, text, *arguments):
        path = self.folder / "data.csv"
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return self.refusal(*self.least, f"--training_data_path={path}", *(arguments or ["--preprocess"]))

    def on(self, name):
        return ["--preprocess", f"--training_data_path={self.data / name}.csv"]

    def metrics(self):
        """What was reported, as Vernier reads it: the step and the values of each line."""
        lines = [json.loads(line) for line in (self.folder / "metrics").read_text().splitlines()]
        for line in lines:
            self.assertEqual(line["trial"], "7")
            self.assertGreater(line["timestamp"], 1e9)
        return [(int(line["global_step"]), {name: float(value) for name, value in line.items()
                                            if name not in ("timestamp", "trial", "global_step")}) for line in lines]

    def read_json(self, name):
        return json.loads((self.folder / name).read_text())

    def last_metrics(self, *arguments):
        self.run_trainer(*arguments)
        return self.metrics()[-1][1]

    def kill_and_resume(self, *arguments):
        """Kills a run once it has a checkpoint, then lets it go on to its end; the same arguments give the model of a run
        that was left alone, and no step is reported twice."""
        process = self.start(*arguments, "--job-dir=killed")
        checkpoint = self.folder / "killed/experiment/checkpoint"
        while not checkpoint.exists() and process.poll() is None:
            time.sleep(0.001)
        process.kill()
        process.communicate(timeout=60)
        self.assertEqual(process.returncode, -signal.SIGKILL, "it had ended before it was killed")
        saved = json.loads(checkpoint.read_bytes().partition(b"\n")[0])["step"]
        (self.folder / "metrics").unlink()
        lines = [line["message"] for line in self.run_trainer(*arguments, "--job-dir=killed")]
        self.assertIn(f"goes on from step {saved}", lines)
        steps = [step for step, _ in self.metrics()]
        self.assertTrue(0 < saved < steps[0], (saved, steps[0]))
        self.assertFalse(checkpoint.exists())
        self.run_trainer(*arguments, "--job-dir=alone")
        self.assertEqual((self.folder / "killed/model/model.json").read_bytes(),
                         (self.folder / "alone/model/model.json").read_bytes())


class LinearLearnerTest(TrainerTest):
    def test_arguments_are_refused_with_their_bounds(self):
        data = [*CLASSIFY, "--preprocess", "--training_data_path=data.csv"]
        cases = {
            "the following arguments are required: --training_data_path, --model_type": [],
            "--model_type: invalid choice: 'cluster' (choose from 'classification', 'regression')": [
                "--model_type=cluster", *data[1:]],
            "--batch_size: must be a whole number of at least 1, got '0'": [*data, "--batch_size=0"],
            "--max_steps: must be a whole number of at least 1, got '1.5'": [*data, "--max_steps=1.5"],
            "--learning_rate: must be a number above 0, got '0'": [*data, "--learning_rate=0"],
            "--learning_rate: must be a number above 0, got 'nan'": [*data, "--learning_rate", "nan"],
            "--beta_1: must be a number of at least 0 and at most 1, got '1'": [*data, "--beta_1=1"],
            "--preprocess: must be true or false, got 'perhaps'": [*data, "--preprocess=perhaps"],
            "unknown argument --lerning_rate; did you mean --learning_rate?": [*data, "--lerning_rate=1"],
            "unknown argument --hidden_units": [*data, "--hidden_units=120"],
            "'5' belongs to no argument; values go as --name=value": [*data, "5"],
            "--beta_1 is for --optimizer_type=adam, got ftrl": [*data, "--beta_1=0.5"],
            "--l1_regularization_strength is for --optimizer_type=ftrl, got sgd": [
                *data, "--l1_regularization_strength=1", "--optimizer_type=sgd"],
            "--validation_data_path is missing; give it, or --preprocess, which splits the training data": [
                *CLASSIFY, "--training_data_path=data.csv"],
            "--validation_split and --test_split must be at most 0.4 together, got 0.3 and 0.2": [
                *data, "--validation_split=0.3"],
            "--test_split needs --preprocess and no --validation_data_path": [
                *data, "--validation_data_path=v.csv", "--test_split=0.1"],
            "--test_split and --test_data_path cannot go together; give one of them": [
                *data, "--test_data_path=t.csv", "--test_split=0.1"],
            "--training_data_path: cannot read 'data.csv': No such file or directory": data,
            "--training_data_path: must be a file of this host, got 'gs://bucket/data.csv'": [
                *CLASSIFY, "--preprocess", "--training_data_path=gs://bucket/data.csv"],
            "--training_data_path: no file matches '*.tsv'": [*CLASSIFY, "--preprocess", "--training_data_path=*.tsv"],
            "--job-dir: must be a folder of this host, got 'gs://bucket/out'": [*data, "--job-dir=gs://bucket/out"],
        }
        for sentence, arguments in cases.items():
            with self.subTest(sentence):
                self.assertEqual(self.refusal(*arguments), sentence)

    def test_rubbish_in_files_is_refused_with_its_place(self):
        rows = "".join(f"{i % 2},{i},{i * i % 7}\n" for i in range(20))
        cases = {
            "data.csv holds no rows": "",
            "data.csv has one column; the target comes first, then what it is learnt from": "1\n2\n3\n",
            "data.csv, line 3 has 2 columns, the first line has 3": "1,2,3\n0,1,2\n1,2\n",
            "data.csv, line 1, column 1 is 'label', and below it are numbers; the file must have no header":
                "label,age,size\n" + rows,
            "data.csv, line 3 has no target, which is the first column": "0,3,1\n\n,1,2\n" + rows,
            "data.csv, line 3, column 2 is not finite": "1,1,3\n0,1,2\n0,inf,2\n" + rows,
            "data.csv is not UTF-8 text": b"1,2\n\xff\xfe,3\n",
            "data.csv, line 2 is not CSV: ',' expected after '\"'": "1,2\n0,\"3\"4\n",
            "the target has one class only, '1'": "1,2,3\n" * 20,
            "the target has 1001 different values; a classification has at most 1000 classes":
                "".join(f"{i},1\n" for i in range(1001)),
            "has 3 rows that can be used, too few to split": "1,2\n0,3\n1,4\n",
            "column 3 has no value at all; leave it out":
                "".join(f"{i % 2},1,," + "2," * 12 + "2\n" for i in range(20)),
            "data.csv has no row with at least nine tenths of its values": "1,,\n0,,\n",
        }
        for sentence, text in cases.items():
            with self.subTest(sentence):
                self.assertIn(sentence, self.refusal_of_data(text))

    def test_what_validation_data_must_be(self):
        valid = self.folder / "valid.csv"
        rows = "".join(f"{'ab'[i % 2]},{i},{i % 3}\n" for i in range(20))
        cases = {
            "has 2 columns, the training data has 3": "a,1\n",
            "has the class 'c', which the training data lacks": "a,1,2\nc,1,2\n",
            f"{valid}, line 2, column 3 is 'x', a number in the training data": "a,1,2\nb,1,x\n",
            f"{valid}, line 2, column 2 is blank; --preprocess fills it in": "a,1,2\nb,,2\n",
        }
        for sentence, text in cases.items():
            with self.subTest(sentence):
                valid.write_text(text)
                self.assertIn(sentence, self.refusal_of_data(rows, f"--validation_data_path={valid}"))
        self.assertIn("is 'red', no number; --preprocess makes columns of 0 and 1 of categories",
                      self.refusal_of_data("a,1,red\nb,2,blue\n" * 9, f"--validation_data_path={valid}"))

    def test_a_regression_needs_numbers(self):
        self.least = ["--model_type=regression"]
        self.assertIn("line 2 has the target 'b'; a regression needs numbers",
                      self.refusal_of_data("1,1\nb,2\n3,5\n" + "1,2\n" * 9))

    def test_too_many_texts_are_no_categories(self):
        self.assertIn("column 2 has 1001 different texts; at most 1000 make categories",
                      self.refusal_of_data("".join(f"{i % 2},t{i % 1001}\n" for i in range(4004)), "--preprocess",
                                           "--validation_split=0.0001", "--test_split=0"))

    def test_digits_and_tumours_are_told_apart(self):
        for optimizer, rate in (("ftrl", 0.3), ("adam", 0.01), ("sgd", 0.1)):
            arguments = [*CLASSIFY, f"--optimizer_type={optimizer}", f"--learning_rate={rate}", "--max_steps=300"]
            with self.subTest(optimizer):
                self.assertGreater(self.last_metrics(*arguments, *self.on("digits"))["accuracy"], 0.94)
                self.assertGreater(self.last_metrics(*arguments, *self.on("breast_cancer"))["accuracy"], 0.95)

    def test_a_regression_comes_as_near_as_least_squares(self):
        metrics = self.last_metrics("--model_type=regression", "--max_steps=1000", "--job-dir=out", *self.on("diabetes"))
        self.assertAlmostEqual(metrics["rmse"] ** 2, metrics["loss"], places=6)
        training, validation = (np.loadtxt(self.folder / f"out/processed_data/{name}.csv", delimiter=",")
                                for name in ("training", "validation"))
        with_one = lambda rows: np.column_stack([rows[:, 1:], np.ones(len(rows))])
        best = np.linalg.lstsq(with_one(training), training[:, 0], rcond=None)[0]
        exact = math.sqrt(np.mean((with_one(validation) @ best - validation[:, 0]) ** 2))
        self.assertLess(abs(metrics["rmse"] - exact), 1.5)

    def test_l1_leaves_weights_out_and_l2_makes_them_small(self):
        def weights(*arguments):
            self.run_trainer(*CLASSIFY, "--max_steps=200", "--job-dir=out", *arguments, *self.on("breast_cancer"))
            deviations = np.loadtxt(self.folder / "out/processed_data/training.csv", delimiter=",")[:, 1:].std(axis=0)
            return np.array(self.read_json("out/model/model.json")["weights"]) * deviations[:, np.newaxis]
        plain = weights()
        self.assertEqual(np.count_nonzero(plain), plain.size)
        self.assertLess(np.count_nonzero(weights("--l1_regularization_strength=60")), plain.size / 2)
        self.assertLess(np.abs(weights("--l2_regularization_strength=50")).max(), np.abs(plain).max() / 2)

    def test_the_exported_model_is_the_one_that_was_evaluated(self):
        last = self.last_metrics(*CLASSIFY, "--job-dir=out", *self.on("digits"))
        model = self.read_json("out/model/model.json")
        rows = np.loadtxt(self.folder / "out/processed_data/validation.csv", delimiter=",")
        scores = rows[:, 1:] @ np.array(model["weights"]) + model["bias"]
        right = np.mean(np.array(model["classes"])[scores.argmax(axis=1)] == rows[:, 0])
        self.assertAlmostEqual(right, last["accuracy"], places=9)
        evaluation = self.read_json("out/artifacts/evaluation.json")
        self.assertEqual(evaluation["validation"], last)
        self.assertGreater(evaluation["test"]["accuracy"], 0.9)
        parts = [len((self.folder / f"out/processed_data/{name}.csv").read_text().splitlines())
                 for name in ("training", "validation", "test")]
        self.assertEqual(parts, [1079, 359, 359])

    def test_categories_and_blanks_are_encoded(self):
        rows = []
        for i in range(400):
            colour = ("red", "green", "blue")[i % 3]
            rows.append(["yes" if colour == "red" else "no", colour, i % 5, *range(9)])
            if i % 10 == 0:
                rows[-1][2] = ""
        rows += [["yes", "", "", *range(9)]] * 5  # Two of eleven values are missing: left out.
        with open(self.folder / "data.csv", "w", newline="") as file:
            csv.writer(file).writerows(rows)
        lines = self.run_trainer(*CLASSIFY, "--preprocess", "--training_data_path=data.csv", "--job-dir=out",
                                 "--learning_rate=1", "--max_steps=100")
        self.assertIn("5 of 405 rows are left out: more than a tenth of their values is missing",
                      [line["message"] for line in lines])
        self.assertEqual(self.metrics()[-1][1]["accuracy"], 1)
        about = self.read_json("out/artifacts/preprocessing.json")
        self.assertEqual(about["classes"], ["no", "yes"])
        self.assertEqual(about["columns"][0], {"column": 2, "kind": "category", "values": ["blue", "green", "red"]})
        self.assertAlmostEqual(about["columns"][1]["fill"], 2.2, delta=0.3)
        self.assertEqual(len(self.read_json("out/model/model.json")["weights"]), 3 + 10)

    def test_a_column_whose_text_comes_late_is_text(self):
        with open(self.folder / "data.csv", "w", newline="") as file:
            csv.writer(file).writerows([i % 2, "x" if i > 60_000 and i % 2 else i % 2 * 4] for i in range(60_100))
        self.run_trainer(*CLASSIFY, "--preprocess", "--training_data_path=data.csv", "--job-dir=out", "--batch_size=10000")
        self.assertEqual(self.read_json("out/artifacts/preprocessing.json")["columns"],
                         [{"column": 2, "kind": "category", "values": ["0", "4", "x"]}])

    def test_several_files_and_data_that_is_split_already(self):
        rows = (self.data / "digits.csv").read_text().splitlines(keepends=True)
        for name, part in (("part-1.csv", rows[:700]), ("part-2.csv", rows[700:1400]), ("valid.csv", rows[1400:])):
            (self.folder / name).write_text("".join(part))
        lines = self.run_trainer(*CLASSIFY, "--training_data_path=part-*.csv", "--validation_data_path=valid.csv")
        self.assertTrue(any("trains on 1400 rows of 64 columns" in line["message"] for line in lines), lines)
        self.assertGreater(self.metrics()[-1][1]["accuracy"], 0.85)

    def test_the_seed_decides_alone(self):
        def model(seed, folder):
            self.run_trainer(*CLASSIFY, *self.on("digits"), f"--seed={seed}", f"--job-dir={folder}")
            return (self.folder / folder / "model/model.json").read_bytes()
        self.assertEqual(model(3, "a"), model(3, "b"))
        self.assertNotEqual(model(3, "c"), model(4, "d"))

    def test_each_epoch_is_reported_and_a_hundred_at_most(self):
        self.run_trainer(*CLASSIFY, *self.on("digits"), "--max_steps=25")
        self.assertEqual([step for step, _ in self.metrics()], [11, 22, 25])
        (self.folder / "metrics").unlink()
        self.run_trainer(*CLASSIFY, *self.on("digits"), "--max_steps=3000")
        self.assertLessEqual(len(self.metrics()), 101)

    def test_a_metric_that_it_does_not_report_is_refused(self):
        self.assertEqual(self.refusal(*CLASSIFY, *self.on("digits"), tag="auc"),
                         "the study asks for the metric 'auc', and this trainer reports accuracy, loss")

    def test_a_learning_rate_that_is_too_large_is_told(self):
        self.assertIn("--learning_rate=1e+200 is too large",
                      self.refusal("--model_type=regression", "--optimizer_type=sgd", "--learning_rate=1e200",
                                   *self.on("diabetes")))

    def test_goes_on_after_a_kill(self):
        for optimizer in ("ftrl", "adam"):
            with self.subTest(optimizer):
                self.kill_and_resume(*CLASSIFY, *self.on("digits"), "--max_steps=15000", f"--optimizer_type={optimizer}")
                subprocess.run(["rm", "-r", self.folder / "killed", self.folder / "alone"], check=True)

    def test_begins_anew_where_the_checkpoint_is_of_something_else(self):
        checkpoint = self.folder / "out/experiment/checkpoint"
        checkpoint.parent.mkdir(parents=True)
        for content in (b"rubbish", b'{"step": 5, "fingerprint": "other"}\nx', b"\xff\n", b""):
            checkpoint.write_bytes(content)
            lines = self.run_trainer(*CLASSIFY, *self.on("breast_cancer"), "--job-dir=out")
            self.assertTrue(any("training begins anew" in line["message"] for line in lines), lines)
            self.assertEqual(self.metrics()[0][0], 4)
            (self.folder / "metrics").unlink()


@unittest.skipUnless(importlib.util.find_spec("xgboost"), "xgboost is not installed")
class XgboostTest(TrainerTest):
    trainer = "xgboost"
    least = []

    def test_arguments_are_refused_with_their_bounds(self):
        data = self.on("breast_cancer")
        cases = {
            "--max_depth: must be a whole number of at least 0, got '-1'": [*data, "--max_depth=-1"],
            "--eta/--learning_rate: must be a number of at least 0 and at most 1, got '2'": [*data, "--eta=2"],
            "--subsample: must be a number above 0 and at most 1, got '0'": [*data, "--subsample=0"],
            "unknown argument --max_dept; did you mean --max_depth?": [*data, "--max_dept=3"],
            "--process_type: 'update' needs a model to begin with, and none can be given": [
                *data, "--process_type=update"],
            "--objective: 'binary:logistic' is for two classes, the target has 10; multi:softmax takes them": [
                *self.on("digits"), "--objective=binary:logistic"],
            "--num_class: must be at least the 10 classes that the target has, got 4": [
                *self.on("digits"), "--objective=multi:softmax", "--num_class=4"],
        }
        for sentence, arguments in cases.items():
            with self.subTest(sentence):
                self.assertEqual(self.refusal(*arguments), sentence)
        self.assertRegex(self.refusal(*data, "--objective=rank:pairwise"),
                         "^--objective: must be one of binary:logistic, .*, got 'rank:pairwise'$")
        self.assertRegex(self.refusal(*data, "--tree_method=magic"), "^XGBoost: .*magic")
        self.assertRegex(self.refusal(*data, "--eval_metric=beauty"), "^XGBoost: .*beauty")

    def test_digits_tumours_and_diabetes(self):
        metrics = self.last_metrics(*self.on("breast_cancer"), "--objective=binary:logistic")
        self.assertGreater(metrics["accuracy"], 0.94)
        self.assertGreater(metrics["auc"], 0.98)
        self.assertAlmostEqual(metrics["accuracy"] + metrics["error"], 1)
        metrics = self.last_metrics(*self.on("digits"), "--objective=multi:softprob", "--num_class=10",
                                    "--num_boost_round=20", "--max_depth=4")
        self.assertGreater(metrics["accuracy"], 0.93)
        self.assertEqual([step for step, _ in self.metrics()][-20:], list(range(1, 21)))
        metrics = self.last_metrics(*self.on("diabetes"), "--objective=reg:linear", "--max_depth=2")
        self.assertLess(metrics["rmse"], 62)

    def test_the_exported_model_is_the_one_that_was_evaluated(self):
        import xgboost
        last = self.last_metrics(*self.on("digits"), "--objective=multi:softmax", "--job-dir=out", "--num_boost_round=5")
        rows = np.loadtxt(self.folder / "out/processed_data/validation.csv", delimiter=",")
        booster = xgboost.Booster(model_file=self.folder / "out/model/model.json")
        classes = np.array(self.read_json("out/artifacts/preprocessing.json")["classes"])
        predicted = classes[booster.predict(xgboost.DMatrix(rows[:, 1:])).astype(int)]
        self.assertAlmostEqual(np.mean(predicted == rows[:, 0]), last["accuracy"], places=6)

    def test_blanks_need_no_preprocessing_and_weights_count(self):
        rng = np.random.default_rng(1)
        x = rng.uniform(-1, 1, (400, 2))
        rows = [[int(a > 0), 1, a, b if b > -0.5 else ""] for a, b in x.tolist()]
        def lies(weight):  # Most rows, if they weigh anything.
            return [[int(a <= 0), weight, a, b] for a, b in x.tolist() * 3]
        for name, part in (("light.csv", rows[:300] + lies(1e-6)), ("heavy.csv", rows[:300] + lies(1)),
                           ("valid.csv", rows[300:])):
            with open(self.folder / name, "w", newline="") as file:
                csv.writer(file).writerows(part)
        files = ["--validation_data_path=valid.csv", "--objective=binary:logistic", "--csv_weight=1"]
        self.assertGreater(self.last_metrics(*files, "--training_data_path=light.csv")["accuracy"], 0.97)
        self.assertLess(self.last_metrics(*files, "--training_data_path=heavy.csv")["accuracy"], 0.5)
        (self.folder / "light.csv").write_text("1,-1,2\n0,1,3\n" * 9)
        (self.folder / "valid.csv").write_text("1,1,2\n")
        self.assertRegex(self.refusal(*files, "--training_data_path=light.csv"), "line 1 has the weight '-1.0', which must be 0 or more")

    def test_parameters_of_older_commands_are_taken(self):
        lines = self.run_trainer(*self.on("diabetes"), "--validation_split=0.3", "--test_split=0.1",
                                 "--objective=reg:linear", "--booster=gbtree", "--subsample=1", "--colsample_bytree=1",
                                 "--lambda=1", "--reg_alpha=0.1", "--tree_method=exact", "--colsample_bylevel=1",
                                 "--scale_pos_weight=1", "--updater=grow_colmaker,prune", "--process_type=default",
                                 "--num_boost_round=3", "--max_depth=6", "--eta=0.3", "--csv_weight=0",
                                 "--base_score=0.5", "--sketch_eps=0.03", "--job_dir=out")
        self.assertIn("--sketch_eps has no effect: XGBoost has it no longer", [line["message"] for line in lines])

    def test_the_seed_decides_alone(self):
        def model(seed, folder):
            self.run_trainer(*self.on("diabetes"), "--subsample=0.5", f"--seed={seed}", f"--job-dir={folder}")
            return (self.folder / folder / "model/model.json").read_bytes()
        self.assertEqual(model(3, "a"), model(3, "b"))
        self.assertNotEqual(model(3, "c"), model(4, "d"))

    def test_goes_on_after_a_kill(self):
        self.kill_and_resume(*self.on("digits"), "--objective=multi:softmax", "--num_boost_round=40", "--max_depth=3",
                             "--nthread=1")

    def test_says_what_to_install(self):
        (self.folder / "xgboost.py").write_text("raise ImportError('not here')\n")
        sentence = self.refusal(*self.on("diabetes"), path=str(self.folder))
        self.assertRegex(sentence, "^the Python package xgboost is missing from .*; install it there "
                                   r"\(Debian: apt install python3-xgboost; elsewhere: pip install xgboost\)")


if __name__ == "__main__":
    wanted = {"linear_learner": LinearLearnerTest, "xgboost": XgboostTest}
    names = sys.argv[2:] or list(wanted)
    unittest.main(argv=[sys.argv[0], *(wanted[name].__name__ for name in names)])
