#!/usr/bin/env python3
"""vernier.import_study, on files that Optuna and Ray wrote.

usage: import_test.py SOURCE_DIR
"""

import contextlib
import json
import logging
import os
import pathlib
import shutil
import sqlite3
import subprocess
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

    def test_a_table_that_lacks_the_objective_is_refused(self):
        path = os.path.join(self.folder.name, "t.csv")
        pathlib.Path(path).write_text("lr,loss,acc\n0.1,0.5,0.7\n0.2,0.4,0.8\n0.3,lost,0.9\n")
        for options, error in (
            ({"parameters": "lr"}, "objective: is not in the file; give maximize= or minimize=$"),
            ({"minimize": "loss"}, "which columns are parameters is not known; give parameters= or space=; columns: lr, loss, acc$"),
            ({"minimize": "loss", "parameters": "lr"}, "objective: 'loss': row 3 has 'lost', which is no number$"),
            ({"minimize": "los", "parameters": "lr"}, "objective: no trial has a metric 'los'"),
        ):
            with self.subTest(options), self.assertRaisesRegex(ValueError, error):
                vernier.import_study(path, storage=self.store, **options)
        self.assertEqual(vernier.study_names(self.store), [])
        self.assertEqual(vernier.import_study(path, maximize="acc", parameters="lr").best.value, 0.9)

    def is_locked(self, path):
        """Whether another process may not write to the database."""
        program = ("import sqlite3, sys\n"
                   "sqlite3.connect(sys.argv[1], timeout=0, isolation_level=None).execute('BEGIN IMMEDIATE')")
        done = subprocess.run([sys.executable, "-c", program, path], stderr=subprocess.PIPE, text=True)
        return done.returncode == 1 and "database is locked" in done.stderr

    def test_a_database_that_is_open_in_this_program_stays_locked(self):
        path = os.path.join(self.folder.name, "optuna.db")
        shutil.copy(DATA / "optuna.db", path)
        with contextlib.closing(sqlite3.connect(path, isolation_level=None)) as database:
            for begin in ("BEGIN IMMEDIATE", "BEGIN EXCLUSIVE"):
                database.execute(begin)
                database.execute("DELETE FROM trials")
                self.assertTrue(self.is_locked(path))
                if begin == "BEGIN IMMEDIATE":
                    study = vernier.import_study(path, study="digits")  # As it was before.
                    self.assertEqual(len(study.trials), 13)
                else:
                    with self.assertRaisesRegex(ValueError, f"path: {path} is open in this program.* database is locked"):
                        vernier.import_study(path, study="digits")
                self.assertTrue(self.is_locked(path))
                database.execute("ROLLBACK")

    def test_a_store_that_is_open_in_this_program_stays_usable(self):
        study = vernier.create_study("s", {"x": [1, 2]}, minimize="loss", storage=self.store)
        with study._handle.use():
            study.add({"x": 1}, 1)
            with self.assertRaisesRegex(ValueError, f"^{self.store}: is a store of Vernier, which needs no import"):
                vernier.import_study(self.store)
            self.is_locked(self.store)  # Would remove the write-ahead log if nobody else had the store open.
            study.add({"x": 2}, 2)
        self.assertEqual(len(study.trials), 2)
        study.close()

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
