#!/usr/bin/env python3
"""vernier.import_study, on files that Optuna and Ray wrote.

usage: import_test.py SOURCE_DIR
"""

import json
import logging
import os
import pathlib
import sys
import tempfile
import unittest

import vernier

DATA = pathlib.Path(sys.argv.pop(1)) / "tests" / "import" / "data"


class ImportTest(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.store = os.path.join(self.folder.name, "tuning.db")

    def test_has_what_optuna_says(self):
        with self.assertLogs("vernier", logging.WARNING) as logged:
            study = vernier.import_study(DATA / "optuna.db", study="digits")
        said = json.loads((DATA / "optuna.json").read_text())["optuna.db"]["digits"]
        best = said["trials"][said["best"]]
        self.assertEqual(study.name, "digits")
        self.assertEqual(study.best.value, best["values"][0])
        self.assertEqual({**best["params"]}, {name: study.best.params[name] for name in best["params"]})
        self.assertEqual([point.metrics["value"] for point in study.curve(study.best)], list(best["curve"].values()))
        self.assertTrue(any("momentum: active where optimizer is one of" in line for line in logged.output))

    def test_goes_on_from_the_imported_trials(self):
        study = vernier.import_study(DATA / "optuna.log", study="front", name="pareto", storage=self.store)
        trial = study.ask()
        self.assertEqual(trial.number, 7)
        self.assertEqual(study.trials[-1].origin, "model")  # And not "initial design": there are six results already.
        study.tell(trial, {"gain": 0.5, "cost": 0.5})
        self.assertEqual(study.replay().problems, [])
        study.close()

    def test_takes_the_trials_that_wait_first(self):
        study = vernier.import_study(DATA / "optuna.db", study="digits", storage=self.store)
        self.assertEqual(study.ask().params["lr"], 0.02)  # As it was enqueued there.
        study.close()

    def test_ray_needs_the_goal(self):
        with self.assertRaisesRegex(ValueError, "does not say which way 'accuracy' is better"):
            vernier.import_study(DATA / "ray")
        study = vernier.import_study(DATA / "ray", maximize="accuracy")
        said = json.loads((DATA / "ray.json").read_text())["trials"]
        self.assertEqual(study.best.metrics["accuracy"], max(t["metrics"]["accuracy"] for t in said if not t["failed"]))

    def test_refuses_and_stores_nothing(self):
        vernier.import_study(DATA / "optuna.db", study="digits", storage=self.store).close()
        with self.assertRaises(vernier.StudyExistsError):
            vernier.import_study(DATA / "optuna.db", study="digits", storage=self.store)
        with self.assertRaises(vernier.NotFoundError):
            vernier.import_study(DATA / "optuna.db", study="digit", storage=self.store)
        with self.assertRaises(vernier.NotFoundError):
            vernier.import_study("missing.db", storage=self.store)
        with self.assertRaises(TypeError):
            vernier.import_study(DATA / "ray", maximize=7)
        self.assertEqual(vernier.study_names(self.store), ["digits"])


if __name__ == "__main__":
    unittest.main()
