#!/usr/bin/env python3
"""Studies in a file: other processes, killed processes, forks, and the command line.
usage: store_test.py [BIN_DIR]     (without: the command line is left out)
"""

import multiprocessing
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import textwrap
import time
import unittest

import vernier

BIN = None
HERE = os.path.dirname(os.path.abspath(__file__))


def make(path, **options):
    options.setdefault("algorithm", "random")
    return vernier.create_study("s", {"x": vernier.Float(-5, 5)}, minimize="loss", storage=path, **options)


def square(trial):
    return trial["x"] ** 2


def start(program, *arguments):
    # Python 3.12 and later warn of a fork beside threads.
    return subprocess.Popen([sys.executable, "-W", "ignore::DeprecationWarning", "-c", textwrap.dedent(program),
                             *map(str, arguments)], text=True, cwd=HERE, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                            stderr=subprocess.STDOUT)


class StoreTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.path = pathlib.Path(folder.name) / "s.db"

    # --- the same program again ---
    def test_another_definition_is_refused_in_the_words_of_create_study(self):
        make(self.path)
        other = "Create a study of another name instead"
        advice = f"{other}; `warm_start` from s takes over the completed trials"
        for options, message in (
            ({"seed": 3}, f"seed: cannot change after the study was created (0 → 3). {advice} that fit"),
            ({"space": {"x": vernier.Float(-5, 6)}},
             f"parameters.x.float: cannot change after the study was created ([-5.0,5.0] → [-5.0,6.0]). {advice} that fit"),
            ({"minimize": None, "maximize": "loss"},
             f"objective: cannot change after the study was created (minimize loss → maximize loss). {other}"),
            ({"name": "a b"}, "name: must match ^[A-Za-z][A-Za-z0-9_-]{0,127}$, got 'a b'"),
        ):
            given = {"name": "s", "space": {"x": vernier.Float(-5, 5)}, "minimize": "loss", "algorithm": "random", **options}
            with self.subTest(message), self.assertRaises(vernier.InvalidValueError) as caught:
                vernier.create_study(storage=self.path, resume=True, **given)
            self.assertEqual(str(caught.exception), message)

    # --- other processes ---
    def test_an_idle_store_is_free(self):
        study = make(self.path)
        study.optimize(square, trials=2)
        other = start("""
            import sys, time, vernier
            time.sleep(float(sys.argv[2]))
            study = vernier.open_study("s", sys.argv[1])
            study.optimize(lambda trial: 1.0, trials=3)
            study.close()
            print(len(study.trials))
        """, self.path, 2)
        text, _ = other.communicate(timeout=100)
        self.assertEqual(text.strip(), "5")
        # Closed meanwhile, and opened again.
        self.assertEqual(len(study.trials), 5)
        study.close()
        self.assertEqual(vernier.study_names(self.path), ["s"])

    def test_a_process_that_nobody_reaped_is_dead(self):
        make(self.path).close()
        killed = start("""
            import sys, time, vernier
            study = vernier.open_study("s", sys.argv[1])
            trial = study.ask()
            print("asked", flush=True)
            time.sleep(100)
        """, self.path)
        self.addCleanup(killed.communicate)
        self.assertEqual(killed.stdout.readline(), "asked\n")
        killed.send_signal(signal.SIGKILL)
        os.waitid(os.P_PID, killed.pid, os.WEXITED | os.WNOWAIT)
        study = vernier.open_study("s", self.path)
        self.assertEqual(study.ask().number, 1)
        study.close()

    def test_a_killed_process_loses_nothing(self):
        program = """
            import sys, time, vernier
            study = vernier.create_study("s", {"x": vernier.Float(-5, 5)}, minimize="loss", storage=sys.argv[1], resume=True)
            def train(trial):
                trial.report(1, loss=9)
                time.sleep(0.01)
                return trial["x"] ** 2
            def told(study, record):
                print(record.number, flush=True)
            study.optimize(train, trials=1000, parallel=4, callback=told)
        """
        told = set()
        for _ in range(3):
            process = start(program, self.path)
            for _ in range(12):
                line = process.stdout.readline().strip()
                self.assertTrue(line.isdigit(), line)
                told.add(int(line))
            process.kill()
            process.communicate()
        study = vernier.open_study("s", self.path)
        records = {record.number: record for record in study.trials}
        # Whatever was told is there, and no number is missing.
        self.assertEqual([records[number].state for number in told], ["COMPLETED"] * len(told))
        self.assertEqual(list(records), list(range(1, len(records) + 1)))
        left = [number for number, record in records.items() if record.state != "COMPLETED"]
        self.assertLessEqual(len(left), 4)
        study.optimize(square, trials=len(left))
        self.assertEqual({record.state for record in study.trials}, {"COMPLETED"})
        self.assertEqual(len(study.trials), len(records))
        replay = study.replay()
        self.assertEqual((replay.verified, replay.problems), (len(records), []))

    def test_workers_end_with_their_program(self):
        program = """
            import sys, vernier, workers
            if __name__ == "__main__":
                study = vernier.create_study("s", {"x": vernier.Float(-5, 5)}, minimize="loss", storage=sys.argv[1])
                study.optimize(workers.waits, parallel=2, executor=sys.argv[2])
        """
        for executor in ("fork", "spawn", "forkserver"):
            for by in (signal.SIGTERM, signal.SIGKILL):
                with self.subTest(executor=executor, by=by):
                    path = self.path.with_name(f"{executor}-{by}.db")
                    process = start(program, path, executor)
                    pids = {int(process.stdout.readline()) for _ in range(2)}
                    process.send_signal(by)
                    try:
                        # Until each process that has its output has ended. A trial would take 1000 s.
                        text, _ = process.communicate(timeout=60)
                    except subprocess.TimeoutExpired:
                        for pid in pids:
                            os.kill(pid, signal.SIGKILL)
                        raise
                    self.assertEqual((process.returncode, text), (-by, ""))
                    self.assertEqual(len(vernier.open_study("s", path).trials), 2)

    # --- forks ---
    def test_a_child_may_not_use_the_parents_store(self):
        study = make(self.path)
        trial = study.ask()
        reader, writer = os.pipe()
        child = os.fork()
        if child == 0:
            try:
                study.ask()
                os.write(writer, b"asked")
            except vernier.StateError as error:
                os.write(writer, str(error).encode())
            except BaseException as error:
                os.write(writer, repr(error).encode())
            os._exit(0)
        os.waitpid(child, 0)
        self.assertIn(b"open it again in this process", os.read(reader, 1000))
        os.close(reader)
        os.close(writer)
        self.assertEqual(study.tell(trial, 1).state, "COMPLETED")

    def test_a_child_does_not_hold_the_lock(self):
        study = make(self.path)
        study.ask()
        # A child that exits as Python does, destroying its objects, must not touch the parent's file either.
        child = os.fork()
        if child == 0:
            signal.pause()
        program = start("""
            import os, signal, sys, vernier
            study = vernier.create_study("t", {"x": [1, 2]}, minimize="loss", storage=sys.argv[1] + "2")
            trial = study.ask()
            child = os.fork()
            if child == 0:
                sys.exit(0)
            os.waitpid(child, 0)
            child = os.fork()
            if child == 0:
                signal.pause()
            print(child, flush=True)
            os.kill(os.getpid(), signal.SIGKILL)
        """, self.path)
        grandchild = int(program.stdout.readline())
        program.wait()
        try:
            # Its parent was killed, and it still lives: the store is free all the same.
            self.assertEqual(vernier.open_study("t", f"{self.path}2").ask().number, 1)
        finally:
            for pid in (child, grandchild):
                os.kill(pid, signal.SIGKILL)
            os.waitpid(child, 0)
            program.communicate()

    def test_processes_of_a_study_in_a_file(self):
        study = make(self.path)
        import workers

        for method in multiprocessing.get_all_start_methods():
            study.optimize(workers.square, trials=4, parallel=2, executor=method)
        self.assertEqual([record.state for record in study.trials], ["COMPLETED"] * 12)

    # --- the command line ---
    def vernier(self, *arguments):
        where = [] if "--store" in arguments else ["--store", self.path]
        done = subprocess.run([BIN / "vernier", *where, *arguments], capture_output=True, text=True, timeout=200)
        return done.returncode, done.stdout + done.stderr

    def test_the_command_line(self):
        if BIN is None:
            self.skipTest("needs the folder of the programs")
        study = make(self.path, algorithm="gp")
        study.optimize(square, trials=12)
        study.close()
        status, text = self.vernier("study", "show", "s")
        self.assertEqual(status, 0, text)
        self.assertIn("12 trials", text)
        self.assertIn("any number at a time", text)
        status, text = self.vernier("study", "replay", "s", "--verify")
        self.assertEqual(status, 0, text)
        self.assertIn("12 of 12 decisions verified", text)
        # The file is closed for the command, though a trial is open.
        trial = study.ask()
        status, text = self.vernier("study", "show", "s")
        self.assertEqual(status, 0, text)
        self.assertIn("13 trials", text)
        copy = self.path.with_name("copy.db")
        status, text = self.vernier("server", "backup", str(copy))
        self.assertEqual(status, 0, text)
        status, text = self.vernier("--store", str(copy), "study", "show", "s")
        self.assertEqual(status, 0, text)
        self.assertIn("13 trials", text)
        study.tell(trial, 1)

    def test_a_study_of_the_command_line(self):
        if BIN is None:
            self.skipTest("needs the folder of the programs")
        file = self.path.with_suffix(".yaml")
        file.write_text("study: s\nobjective: {minimize: loss}\nparameters: {x: {float: [-5, 5]}}\nlease: {ttl: 1s}\nparallel: 2\n")
        self.assertEqual(self.vernier("study", "create", str(file))[0], 0)
        study = vernier.open_study("s", self.path)

        def slow(trial):
            # Longer than the lease, which lasts a second unless it is renewed.
            time.sleep(2.5)
            return 1.0

        study.optimize(slow, trials=3, parallel=3)
        self.assertEqual([record.state for record in study.trials], ["COMPLETED"] * 3)
        file.write_text(file.read_text().replace("study: s", "study: j") + "job: {command: [python3, train.py]}\n")
        study.close()
        self.assertEqual(self.vernier("study", "create", str(file))[0], 0)
        with vernier.open_study("j", self.path) as study:
            self.assertEqual((study.state, len(study.trials)), ("ACTIVE", 0))
            with self.assertRaisesRegex(vernier.StateError, "runs its own job"):
                study.ask()


if __name__ == "__main__":
    if len(sys.argv) > 1 and not sys.argv[1].startswith("-") and os.path.isdir(sys.argv[1]):
        BIN = pathlib.Path(sys.argv.pop(1))
    unittest.main()
