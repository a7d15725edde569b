#!/usr/bin/env python3
"""XGBoost over several replicas: the model of one, none hangs when another is lost, and what they refuse together.

usage: group_test.py SOURCE_DIR
"""

import contextlib
import importlib.util
import json
import os
import socket
import subprocess
import sys
import time
import unittest

from trainer_test import SOURCE, TrainerTest

DIGITS = ["--objective=multi:softprob", "--tree_method=hist", "--max_depth=3", "--nthread=1"]
ENDING_TAKES = 10


def free_port():
    with contextlib.closing(socket.socket()) as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


@unittest.skipUnless(importlib.util.find_spec("xgboost"), "xgboost is not installed")
class GroupTest(TrainerTest):
    trainer = "xgboost"
    least = []

    def start_group(self, *arguments, size=3, port=None, only=None, **more):
        """The processes of a chief and workers, as a job starts them."""
        port = port or free_port()
        processes = []
        for rank in range(size) if only is None else only:
            environment = dict(os.environ, PYTHONPATH=str(SOURCE / "trainers"), CLOUD_ML_TRIAL_ID="7", RANK=str(rank),
                               WORLD_SIZE=str(size), MASTER_ADDR="127.0.0.1", MASTER_PORT=str(port),
                               CLOUD_ML_HP_METRIC_FILE=str(self.folder / ("metrics" if rank == 0 else f"metrics-{rank}")))
            environment.update(more)
            processes.append(subprocess.Popen([sys.executable, "-m", "vernier_trainers.xgboost", *map(str, arguments)],
                                              cwd=self.folder, env=environment, stdout=subprocess.PIPE,
                                              stderr=subprocess.STDOUT, text=True))
        self.addCleanup(self.end_all, processes)
        return processes

    @staticmethod
    def end_all(processes):
        for process in processes:
            process.kill()
            process.communicate()

    def ends(self, processes, timeout=60):
        """Exit status and last JSON line of each."""
        ends = []
        for process in processes:
            out, _ = process.communicate(timeout=timeout)
            self.assertNotIn("Traceback", out)
            lines = [json.loads(line) for line in out.splitlines() if line.startswith("{")]
            ends.append((process.returncode, lines[-1]["message"] if lines else out))
        return ends

    def run_group(self, *arguments, **options):
        ends = self.ends(self.start_group(*arguments, **options))
        self.assertEqual([status for status, _ in ends], [0] * len(ends), ends)
        return self.metrics()[-1][1]

    def test_is_the_model_of_one_replica(self):
        alone = self.last_metrics(*self.on("digits"), *DIGITS, "--job-dir=alone")
        together = self.run_group(*self.on("digits"), *DIGITS, "--job-dir=together")
        self.assertAlmostEqual(together["accuracy"], alone["accuracy"], delta=0.01)
        self.assertAlmostEqual(together["mlogloss"], alone["mlogloss"], delta=0.01)
        self.assertEqual(len(self.metrics()), 20)  # Ten rounds each; the chief alone reports.
        self.assertFalse((self.folder / "metrics-1").exists())
        for file in ("processed_data/training.csv", "artifacts/preprocessing.json"):
            self.assertEqual((self.folder / "together" / file).read_bytes(), (self.folder / "alone" / file).read_bytes())
        evaluation = self.read_json("together/artifacts/evaluation.json")
        self.assertEqual(evaluation["validation"], together)
        self.assertGreater(evaluation["test"]["accuracy"], 0.85)

    def test_each_reads_its_rows_where_nothing_is_preprocessed(self):
        """Classes with names that one replica alone sees, beside classes that look like numbers."""
        rows = (self.data / "digits.csv").read_text().splitlines(keepends=True)
        rows[4] = "nine" + rows[4][1:]
        (self.folder / "train.csv").write_text("".join(rows[:1400]))
        (self.folder / "valid.csv").write_text("".join(rows[1400:]))
        arguments = ["--training_data_path=train.csv", "--validation_data_path=valid.csv", *DIGITS]
        alone = self.last_metrics(*arguments)
        together = self.start_group(*arguments, "--job-dir=together")
        self.assertIn("trains on 466 rows", self.ends(together)[2][1])
        self.assertAlmostEqual(self.metrics()[-1][1]["accuracy"], alone["accuracy"], delta=0.02)
        classes = self.read_json("together/artifacts/preprocessing.json")["classes"]
        self.assertEqual(classes, [*"0123456789", "nine"])

    def test_goes_on_after_a_worker_was_killed(self):
        arguments = [*self.on("digits"), *DIGITS, "--num_boost_round=40"]
        processes = self.start_group(*arguments, "--job-dir=killed")
        checkpoint = self.folder / "killed/experiment/checkpoint"
        while not checkpoint.exists() and processes[0].poll() is None:
            time.sleep(0.001)
        processes[1].kill()
        begin = time.monotonic()
        ends = self.ends(processes, timeout=ENDING_TAKES)
        self.assertLess(time.monotonic() - begin, ENDING_TAKES)
        self.assertEqual([status for status, _ in ends], [1, -9, 1], ends)
        self.assertRegex(ends[0][1], "^worker 0 is lost: (Connection reset by peer|Broken pipe)$")
        self.assertRegex(ends[2][1], "^the chief is lost: (Connection reset by peer|Broken pipe)$")
        self.run_group(*arguments, "--job-dir=killed")
        self.run_group(*arguments, "--job-dir=alone")
        self.assertEqual((self.folder / "killed/model/model.json").read_bytes(),
                         (self.folder / "alone/model/model.json").read_bytes())

    def test_strangers_are_sent_away(self):
        port = free_port()
        processes = self.start_group(*self.on("breast_cancer"), "--objective=binary:logistic", size=2, port=port, only=[0])
        for hello in (b"GET / HTTP/1.1\r\n\r\n", b'{"rank": 5, "size": 2}\n', b'{"rank": 1, "size": 3}\n', b"[]\n", b""):
            with contextlib.closing(self.connected(port)) as stranger:
                stranger.sendall(hello)
        processes += self.start_group(*self.on("breast_cancer"), "--objective=binary:logistic", size=2, port=port, only=[1])
        self.assertEqual([status for status, _ in self.ends(processes)], [0, 0])

    def connected(self, port):
        deadline = time.monotonic() + ENDING_TAKES
        while True:
            try:
                return socket.create_connection(("127.0.0.1", port), timeout=ENDING_TAKES)
            except OSError:
                self.assertLess(time.monotonic(), deadline)
                time.sleep(0.05)

    def test_what_several_replicas_cannot_do_is_refused(self):
        (self.folder / "few.csv").write_text("1,2\n0,3\n")
        (self.folder / "valid.csv").write_text("1,2\n")
        files = ["--training_data_path=few.csv", "--validation_data_path=valid.csv"]
        cases = {
            "--tree_method: 'exact' trains in one replica only, the job has 3": [
                *self.on("diabetes"), "--tree_method=exact"],
            "--training_data_path: few.csv holds fewer rows than the 3 replicas": files,
            "--max_depth: must be a whole number of at least 0, got '-1'": [*self.on("diabetes"), "--max_depth=-1"],
        }
        for sentence, arguments in cases.items():
            with self.subTest(sentence):
                ends = self.ends(self.start_group(*arguments), timeout=ENDING_TAKES)
                self.assertEqual({status for status, _ in ends}, {1})
                self.assertIn(sentence, [said for _, said in ends])
                for _, said in ends:  # The others name it too, or say that they lost a replica, which are not to blame.
                    self.assertRegex(said, f"{sentence}|is lost: (Connection reset by peer|Broken pipe)")

    def test_an_environment_that_makes_no_sense_is_refused(self):
        for name, value, bound in (("WORLD_SIZE", "many", "at least 1"), ("RANK", "3", "from 0 to 2")):
            [(status, sentence)] = self.ends(self.start_group(*self.on("diabetes"), only=[0], **{name: value}))
            self.assertEqual((status, sentence), (1, f"the environment's {name} must be a whole number of {bound}, got "
                                                     f"'{value}'"))


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[2:])
