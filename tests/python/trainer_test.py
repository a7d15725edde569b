#!/usr/bin/env python3
"""The functions for training programs: by themselves, and in programs that `vernier run` starts.
usage: trainer_test.py [BIN_DIR]     (without: no program is started)
"""

import contextlib
import io
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import textwrap
import unittest
from unittest import mock

import vernier
from vernier import trainer

BIN = None
PROGRAM = """
import sys, time, vernier
params = vernier.params(momentum=0.9)
assert isinstance(params["layers"], int) and params["opt"] in ("sgd", "adam") and params["momentum"] == 0.9, params
good = params["layers"] % 2
for epoch in range(1, 31):
    vernier.report(step=epoch, accuracy=0.9 if good else 0.1, metrics={"val/loss": float("nan")})
    if vernier.should_stop():
        print("ends by itself at", epoch)
        sys.exit(0)
    time.sleep(0.05)
"""


class ByItself(unittest.TestCase):
    def setUp(self):
        trainer._last_step = 0
        clean = {name: value for name, value in os.environ.items() if not name.startswith(("VERNIER_", "CLOUD_ML_"))}
        patch = mock.patch.dict(os.environ, clean, clear=True)
        patch.start()
        self.addCleanup(patch.stop)

    def printed(self, call):
        text = io.StringIO()
        with contextlib.redirect_stdout(text):
            call()
        return text.getvalue()

    def test_without_vernier(self):
        self.assertEqual(vernier.params(lr=0.1), {"lr": 0.1})
        self.assertEqual(self.printed(lambda: vernier.report(accuracy=0.5)), "step=1 accuracy=0.5\n")
        self.assertEqual(self.printed(lambda: vernier.report(step=12, accuracy=1 / 3, loss=float("nan"))),
                         "step=12 accuracy=0.3333333333333333 loss=nan\n")
        self.assertEqual(self.printed(lambda: vernier.report(accuracy=1)), "step=13 accuracy=1.0\n")
        self.assertFalse(vernier.should_stop())

    def test_broken_parameters(self):
        for broken in ("{", "[1]"):
            with mock.patch.dict(os.environ, VERNIER_PARAMETERS=broken):
                with self.assertRaisesRegex(ValueError, r"\$VERNIER_PARAMETERS: must be a JSON object, got '"):
                    vernier.params()

    def test_parameters(self):
        with mock.patch.dict(os.environ, VERNIER_PARAMETERS='{"lr": 0.01, "opt": "adam", "flag": true, "n": 3}'):
            self.assertEqual(vernier.params(lr=1.0, momentum=0.9),
                             {"lr": 0.01, "momentum": 0.9, "opt": "adam", "flag": True, "n": 3})

    def test_the_file(self):
        with tempfile.TemporaryDirectory() as folder, mock.patch.dict(os.environ, CLOUD_ML_HP_METRIC_FILE=f"{folder}/m"):
            self.assertEqual(self.printed(lambda: vernier.report(step=3, accuracy=0.5, loss=float("inf"))), "")
            vernier.report(metrics={"val/acc": 1})
            lines = [json.loads(line) for line in pathlib.Path(folder, "m").read_text().splitlines()]
        self.assertEqual([{k: v for k, v in line.items() if k != "timestamp"} for line in lines],
                         [{"global_step": "3", "accuracy": 0.5, "loss": "inf"}, {"global_step": "4", "val/acc": 1.0}])

    def test_bad_input(self):
        for call in (vernier.report, lambda: vernier.report(step=-1, a=1), lambda: vernier.report(a="high"),
                     lambda: vernier.report(step="1", a=1), lambda: vernier.report(metrics=3)):
            with self.assertRaises((ValueError, TypeError)):
                call()

    def test_import_is_light(self):
        text = subprocess.run([sys.executable, "-c", "import sys, vernier; print('vernier._core' in sys.modules, "
                               "'multiprocessing' in sys.modules)"], capture_output=True, text=True, check=True).stdout
        self.assertEqual(text.strip(), "False False")


class UnderVernier(unittest.TestCase):
    def setUp(self):
        if BIN is None:
            self.skipTest("needs the folder of the programs")
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def run_study(self, study, *arguments):
        (self.folder / "train.py").write_text(PROGRAM)
        (self.folder / "study.yaml").write_text(textwrap.dedent(study).replace("PYTHON", sys.executable))
        environment = {**os.environ, "PYTHONPATH": str(pathlib.Path(vernier.__file__).parent.parent)}
        done = subprocess.run([BIN / "vernier", "--store", "s.db", "run", "study.yaml", *arguments], cwd=self.folder,
                              env=environment, capture_output=True, text=True, timeout=120)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    def query(self, *arguments):
        return subprocess.run([BIN / "vernier", "--store", "s.db", *arguments], cwd=self.folder, capture_output=True, text=True,
                              timeout=60, check=True).stdout

    def test_reports_and_stops(self):
        self.run_study("""
            study: s
            objective: {maximize: accuracy}
            parameters: {layers: {int: [1, 4]}, opt: {categorical: [sgd, adam]}}
            algorithm: grid
            stopping: {rule: median, min_trials: 2, warm_up: 0, min_steps: 2}
            budget: {trials: 8}
            job: {command: [PYTHON, train.py], limits: {grace: 30s}}
        """)
        trials = json.loads(self.query("trial", "list", "s", "-o", "json"))
        trials = trials["trials"] if isinstance(trials, dict) else trials
        self.assertEqual([trial["state"] for trial in trials], ["COMPLETED"] * 8)
        shown = [self.query("trial", "show", "s", str(number)) for number in range(1, 9)]
        self.assertIn("hypertune", shown[0])
        logs = [self.query("trial", "logs", "s", str(number)) for number in range(1, 9)]
        stopped = ["stopped" in text for text in shown]
        self.assertTrue(any(stopped))
        self.assertTrue(any("ends by itself at" in log for log in logs), logs)


if __name__ == "__main__":
    if len(sys.argv) > 1 and not sys.argv[1].startswith("-") and os.path.isdir(sys.argv[1]):
        BIN = pathlib.Path(sys.argv.pop(1))
    unittest.main()
