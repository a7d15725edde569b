#!/usr/bin/env python3
"""The loop of optimize: counts, failures, interrupts, threads and processes."""

import asyncio
import functools
import logging
import os
import signal
import subprocess
import sys
import tempfile
import textwrap
import threading
import time
import unittest
from unittest import mock

import vernier
import workers

logging.getLogger("vernier").setLevel(logging.CRITICAL)


def make(**options):
    options.setdefault("algorithm", "random")
    return vernier.create_study("s", {"x": vernier.Float(-5, 5)}, minimize="loss", **options)


def square(trial):
    return trial["x"] ** 2


class Broken(Exception):
    pass


class Unspeakable(Exception):
    def __str__(self):
        raise RuntimeError("no text")


class Oddities(unittest.TestCase):
    def test_an_exception_without_a_text_costs_its_trial(self):
        def train(trial):
            if trial.number == 2:
                raise Unspeakable
            return 1.0

        study = make()
        study.optimize(train, trials=3)
        self.assertEqual([record.state for record in study.trials], ["COMPLETED", "FAILED", "COMPLETED"])
        self.assertEqual(study.trials[1].message, "Unspeakable")

    def test_a_misspelt_parameter_is_named_with_those_that_are(self):
        with self.assertRaisesRegex(KeyError, "no parameter 'lr'; the trial has x"):
            make().ask()["lr"]


class Counts(unittest.TestCase):
    def test_runs_as_many_as_wanted(self):
        study = make()
        self.assertEqual(study.optimize(square, trials=3), study.best)
        self.assertEqual(study.optimize(square, trials=0), study.best)
        study.optimize(square, trials=2)
        self.assertEqual([record.state for record in study.trials], ["COMPLETED"] * 5)

    def test_none_of_an_empty_study_is_told(self):
        with self.assertLogs("vernier", "WARNING") as caught:
            self.assertIsNone(make().optimize(square, trials=0))
        self.assertEqual(caught.records[0].getMessage(), "study 's': no trial is the best: there are none")

    def test_threads_share_the_number(self):
        study = make()
        running, most, lock = 0, 0, threading.Lock()

        def train(trial):
            nonlocal running, most
            with lock:
                running += 1
                most = max(most, running)
            time.sleep(0.005)
            with lock:
                running -= 1
            return trial["x"] ** 2

        study.optimize(train, trials=50, parallel=4)
        self.assertEqual([(r.number, r.state) for r in study.trials], [(n, "COMPLETED") for n in range(1, 51)])
        self.assertEqual(most, 4)

    def test_ends_with_the_space_the_budget_and_the_time(self):
        study = vernier.create_study("g", {"a": [1, 2, 3]}, minimize="loss", algorithm="grid")
        study.optimize(lambda trial: trial["a"], parallel=2)
        self.assertEqual(len(study.trials), 3)
        study.optimize(lambda trial: trial["a"])
        study = make(trials=4)
        study.optimize(square, parallel=3)
        self.assertEqual((len(study.trials), study.state), (4, "COMPLETED"))
        study = make()
        started = time.monotonic()
        study.optimize(lambda trial: time.sleep(0.01) or 1.0, timeout=1)
        self.assertLess(time.monotonic() - started, 20)
        self.assertGreater(len(study.trials), 0)

    def test_waits_for_a_study_that_allows_fewer_at_a_time(self):
        with tempfile.TemporaryDirectory() as folder:
            study = make(storage=f"{folder}/s.db")
            # As a study file may say.
            with study._handle.use() as core:
                core.redefine_study(study._id, study.definition.replace("parallel: 10000", "parallel: 2"), "test")
            study.optimize(lambda trial: time.sleep(0.01) or 1.0, trials=10, parallel=4)
            self.assertEqual([record.state for record in study.trials], ["COMPLETED"] * 10)
            started = time.monotonic()
            study.optimize(lambda trial: time.sleep(3) or 1.0, parallel=4, timeout=2)
            self.assertLess(time.monotonic() - started, 20)
            self.assertEqual(len(study.trials), 12)
            open_trials = study.ask(), study.ask()
            for parallel in (1, 2):
                with self.assertRaisesRegex(vernier.ParallelLimitError, "2 trials are open, the bound is 2"):
                    study.optimize(square, trials=1, parallel=parallel)
            del open_trials
            study.close()

    def test_other_threads_run_during_a_suggestion(self):
        study = make(algorithm="gp")
        study.optimize(square, trials=30)
        # A long call, in which a thread that needs the GIL would not move.
        counted, is_done = 0, False

        def count():
            nonlocal counted
            while not is_done:
                counted += 1
                time.sleep(0)

        thread = threading.Thread(target=count)
        thread.start()
        moved = 0
        for _ in range(20):
            before = counted
            study.replay()
            moved = max(moved, counted - before)
        is_done = True
        thread.join()
        # With the GIL held it would move once, at the beginning.
        self.assertGreater(moved, 3)

    def test_tells_a_callback(self):
        seen = []
        study = make()
        study.optimize(square, trials=10, parallel=3, callback=lambda s, record: seen.append((s, record.number)))
        self.assertEqual(sorted(number for _, number in seen), list(range(1, 11)))
        self.assertIs(seen[0][0], study)

    def test_an_error_of_a_callback_ends_it(self):
        def callback(study, record):
            raise Broken

        for parallel in (1, 3):
            study = make()
            with self.assertRaises(Broken):
                study.optimize(square, trials=10, parallel=parallel, callback=callback)
            self.assertNotIn("RUNNING", [record.state for record in study.trials])

    def test_bad_arguments(self):
        study = make()
        for error, options in ((TypeError, {"train": 3}), (ValueError, {"trials": -1}), (TypeError, {"trials": 1.5}),
                               (ValueError, {"parallel": 0}), (ValueError, {"executor": "dask"}),
                               (ValueError, {"max_failures": 0}), (TypeError, {"timeout": "3"}), (TypeError, {"catch": 3}), (TypeError, {"train": lambda t: 1, "executor": "spawn"})):
            with self.subTest(**options), self.assertRaises(error):
                study.optimize(**{"train": square, **options})
        self.assertEqual(len(study.trials), 0)


class Failures(unittest.TestCase):
    def test_goes_on_after_an_exception(self):
        def train(trial):
            if trial.number % 2 == 0:
                raise Broken("bad luck")
            return trial["x"] ** 2

        for parallel in (1, 3):
            study = make()
            study.optimize(train, trials=20, parallel=parallel)
            records = study.trials
            self.assertEqual([r.state for r in records], ["COMPLETED", "FAILED"] * 10)
            self.assertEqual((records[1].failure, records[1].message), ("USER_ERROR", "Broken: bad luck"))

    def test_ends_if_nothing_works(self):
        def train(trial):
            raise Broken("no data")

        for parallel in (1, 3):
            study = make()
            with self.assertRaisesRegex(vernier.TooManyFailuresError, "the first . trials all failed.*Broken: no data") as caught:
                study.optimize(train, trials=100, parallel=parallel)
            self.assertIsInstance(caught.exception.__cause__, Broken)
            self.assertLess(len(study.trials), 7)
            self.assertNotIn("RUNNING", [record.state for record in study.trials])

    def test_a_bound_on_failures(self):
        def train(trial):
            if trial.number > 2:
                raise Broken
            return 1

        study = make()
        with self.assertRaisesRegex(vernier.TooManyFailuresError, "4 trials failed, the bound is 4"):
            study.optimize(train, trials=100, max_failures=4)
        self.assertEqual(len(study.trials), 6)

    def test_exceptions_that_are_not_caught(self):
        def train(trial):
            raise Broken("stop here")

        study = make()
        for catch in ((), KeyError):
            with self.assertRaisesRegex(Broken, "stop here"):
                study.optimize(train, trials=5, catch=catch)
        self.assertEqual([r.state for r in study.trials], ["FAILED"] * 2)

    def test_a_store_that_does_not_answer_is_no_failure_of_a_trial(self):
        for error in (vernier.StoreBusyError("held"), vernier.ServerUnavailableError("away")):
            for parallel in (1, 3):
                study = make()
                with mock.patch.object(vernier.Trial, "report", side_effect=error), self.assertRaises(type(error)):
                    study.optimize(lambda trial: trial.report(1, loss=1), trials=5, parallel=parallel)
                self.assertEqual({r.state for r in study.trials}, {"CANCELLED"})

    def test_wrong_values_are_failures(self):
        study = make()
        for value, message in ((None, "gave no value"), ("high", "must be a number"), ({"accuracy": 1}, "accuracy")):
            with self.assertRaisesRegex(vernier.TooManyFailuresError, message):
                study.optimize(lambda trial: value, trials=9)
        self.assertEqual(len(study.trials), 9)

    def test_a_wrong_value_is_told_by_the_function_that_returned_it(self):
        async def train_async(trial):
            return "high"

        def train(trial):
            return "high"

        class Callable:
            def __call__(self, trial):
                return "high"

        def optimize_async(study):
            asyncio.run(study.optimize_async(train_async, trials=1))

        line = train.__code__.co_firstlineno
        for call, name, first in (
            (lambda study: study.optimize(train, trials=1), "train", line),
            (lambda study: study.optimize(functools.partial(train), trials=1), "train", line),
            (lambda study: study.optimize(train, trials=1, parallel=2, executor="fork"), "train", line),
            (optimize_async, "train_async", train_async.__code__.co_firstlineno),
            (lambda study: study.optimize(Callable(), trials=1), "Callable", Callable.__call__.__code__.co_firstlineno),
        ):
            with self.subTest(name), self.assertLogs("vernier", "WARNING") as logged:
                study = make()
                call(study)
            text = f"TypeError: train: the value that {name} ({__file__}, line {first}) returned: loss: must be a number, got 'high'"
            self.assertEqual(study.trials[0].message, text)
            self.assertEqual(logged.records[0].getMessage(), f"study 's': trial 1 failed: {text}")
            self.assertIsNone(logged.records[0].exc_info)  # There is no line of the user's to show.
        with self.assertRaisesRegex(vernier.InvalidValueError, rf"<lambda> \({__file__}, line \d+\) gave no value") as caught:
            make().optimize(lambda trial: None, catch=())
        self.assertEqual(caught.exception.field, "train")

    def test_nan_is_no_failure_of_the_program(self):
        study = make()
        study.optimize(lambda trial: float("nan"), trials=6)
        self.assertEqual([r.failure for r in study.trials], ["DIVERGED"] * 6)

    def test_a_study_without_a_best_trial_says_why(self):
        for study, value, why in ((make(), float("nan"), "3 with a value that is NaN or infinite"),
                                  (make(outcome_constraints="m <= 0"), {"loss": 1}, "3 violated an outcome constraint or gave no value for it")):
            with self.assertLogs("vernier", "WARNING") as logged:
                self.assertIsNone(study.optimize(lambda trial: value, trials=3))
            self.assertEqual(logged.records[-1].getMessage(), f"study 's': no trial is the best: {why}")

    def test_cancelled_trials_count(self):
        def train(trial):
            if trial.number == 1:
                study._cancel(trial.leased, "from elsewhere")
            return 1.0

        study = make()
        study.optimize(train, trials=2)
        self.assertEqual([r.state for r in study.trials], ["CANCELLED", "COMPLETED"])

    def test_a_stopped_trial_keeps_its_last_value(self):
        def train(trial):
            trial.report(1, loss=3)
            raise vernier.TrialStopped

        study = make()
        study.optimize(train, trials=2)
        self.assertEqual([r.value for r in study.trials], [3, 3])


class Interrupts(unittest.TestCase):
    def test_the_trial_is_cancelled(self):
        def train(trial):
            trial.report(1, loss=1)
            if trial.number == 3:
                raise KeyboardInterrupt
            return 1

        study = make()
        with self.assertRaises(KeyboardInterrupt):
            study.optimize(train, trials=10)
        self.assertEqual([r.state for r in study.trials], ["COMPLETED", "COMPLETED", "CANCELLED"])
        study.optimize(square, trials=2)
        self.assertEqual([r.state for r in study.trials][3:], ["COMPLETED"] * 2)

    def test_at_any_moment_nothing_is_left_open(self):
        def interrupt(number, frame):
            raise KeyboardInterrupt

        make().optimize(square, trials=1)  # An interrupted import begins again, and would be all that happens.
        before = signal.signal(signal.SIGALRM, interrupt)
        try:
            study = make()
            rounds = 0
            dropped = []  # Python drops what is raised while it frees an object.
            with mock.patch.object(sys, "unraisablehook", lambda raised: dropped.append(raised.exc_type)):
                for i in range(200):
                    try:
                        # Twenty moments in each of ten trials, or so.
                        signal.setitimer(signal.ITIMER_REAL, 0.0002 + 0.00001 * i)
                        study.optimize(square, trials=3000)
                    except KeyboardInterrupt:
                        rounds += 1
            self.assertEqual(rounds + dropped.count(KeyboardInterrupt), 200)
            self.assertGreater(rounds, 190)
            states = [record.state for record in study.trials]
            self.assertEqual(set(states), {"COMPLETED", "CANCELLED"})
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
            signal.signal(signal.SIGALRM, before)
        self.assertEqual(study.optimize(square, trials=1).state, "COMPLETED")

    def interrupted(self, train, executor="threads"):
        program = textwrap.dedent(f"""
            import sys, time, vernier, workers
            {textwrap.indent(textwrap.dedent(train), ' ' * 12).strip()}
            study = vernier.create_study("s", {{"x": vernier.Float(-5, 5)}}, minimize="loss")
            try:
                study.optimize(train, parallel=3, executor="{executor}", callback=lambda s, r: print("told", flush=True))
            except KeyboardInterrupt:
                print("interrupted", *sorted(set(r.state for r in study.trials)))
                study.optimize(workers.square, trials=1)
                print("goes on", study.trials[-1].state)
        """)
        process = subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                                   cwd=os.path.dirname(os.path.abspath(__file__)), preexec_fn=lambda: signal.signal(
                                       signal.SIGINT, signal.default_int_handler))
        self.assertEqual(process.stdout.readline().strip(), "told")
        started = time.monotonic()
        process.send_signal(signal.SIGINT)
        try:
            text, _ = process.communicate(timeout=100)
        finally:
            process.kill()
        self.assertEqual(process.returncode, 0, text)
        lines = [line for line in text.splitlines() if line != "told"]
        said = [line for line in lines if line.startswith("study 's': interrupted; open trials have 2 s to end")]
        self.assertLessEqual(len(said), 1)
        self.assertEqual([line for line in lines if line not in said],
                         ["interrupted CANCELLED COMPLETED", "goes on COMPLETED"], text)
        return time.monotonic() - started

    def test_threads_that_report_end_at_once(self):
        took = self.interrupted("""
            def train(trial):
                for step in range(5 if trial.number == 1 else 10_000):
                    time.sleep(0.01)
                    trial.report(step, loss=1)
                return 1
        """)
        # The training would take 100 s; the machine may be busy.
        self.assertLess(took, 20)

    def test_threads_that_never_report_are_left(self):
        self.interrupted("""
            def train(trial):
                time.sleep(0.01 if trial.number == 1 else 1000)
                return 1
        """)

    def test_processes_are_ended(self):
        self.interrupted("""
            def train(trial):
                time.sleep(0.01 if trial.number == 1 else 1000)
                return 1
        """, "fork")


    def traceback_of(self, program):
        """What an interrupt of a program and its processes, as from a terminal, prints once the program has said that it runs."""
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "tune.py")
            with open(path, "w") as file:
                file.write(textwrap.dedent(program))
            process = subprocess.Popen([sys.executable, path], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                                       start_new_session=True, preexec_fn=lambda: signal.signal(
                                           signal.SIGINT, signal.default_int_handler))
            try:
                self.assertIn("running\n", iter(process.stdout.readline, ""))
                os.killpg(process.pid, signal.SIGINT)
                text, _ = process.communicate(timeout=100)
            finally:
                process.kill()
        self.assertEqual(text.splitlines()[-1], "KeyboardInterrupt", text)
        return [line for line in text.splitlines() if not line.startswith("study 's': interrupted; ")]

    def test_the_traceback_has_only_the_lines_of_the_user(self):
        def program(call, study="vernier.create_study('s', {'x': vernier.Float(-5, 5)}, minimize='loss')"):
            return f"""
                import time, vernier, vernier.optuna
                def train(trial):
                    print("running", flush=True)
                    time.sleep(1000)
                study = {study}
                {call}
            """

        for case, call, study in (
            ("alone", "study.optimize(train)", None),
            ("in threads", "study.optimize(train, parallel=2, trials=1)", None),
            ("optuna", "study.optimize(train)", "vernier.optuna.create_study()"),
        ):
            with self.subTest(case):
                lines = self.traceback_of(program(call, study) if study else program(call))
                lines = lines[lines.index("Traceback (most recent call last):"):]
                files = [line.split('"')[1] for line in lines if line.startswith('  File "')]
                self.assertEqual(sum(os.sep + "vernier" + os.sep in file for file in files), 1, lines)
                self.assertEqual(lines.count("Traceback (most recent call last):"), 1, lines)
                self.assertEqual(sum(line.endswith("in train") for line in lines), case != "in threads", lines)
                self.assertLessEqual(len(lines), 10, lines)

    def test_processes_that_start_print_no_traceback(self):
        lines = self.traceback_of("""
            import time, vernier
            if __name__ != "__main__":
                print("running", flush=True)
                time.sleep(1000)
            def train(trial):
                return 1
            if __name__ == "__main__":
                study = vernier.create_study("s", {"x": vernier.Float(-5, 5)}, minimize="loss")
                study.optimize(train, parallel=1, executor="spawn")
        """)
        self.assertLessEqual(len(lines), 8, lines)


class Processes(unittest.TestCase):
    def test_an_interrupt_while_workers_start_leaves_none(self):
        import multiprocessing

        def interrupt(number, frame):
            raise KeyboardInterrupt

        # In Python 3.9 and 3.10 an interrupted Condition.wait() may release a lock that it does not hold.
        raised = KeyboardInterrupt if sys.version_info >= (3, 11) else (KeyboardInterrupt, RuntimeError)
        before = signal.signal(signal.SIGALRM, interrupt)
        try:
            for i in range(10):
                study = make()
                with self.assertRaises(raised):
                    signal.setitimer(signal.ITIMER_REAL, 0.001 + 0.003 * i)
                    study.optimize(lambda trial: time.sleep(1000), parallel=3, executor="fork")
                self.assertEqual({r.state for r in study.trials} - {"CANCELLED"}, set())
                deadline = time.monotonic() + 20
                while multiprocessing.active_children() and time.monotonic() < deadline:
                    time.sleep(0.01)
                self.assertEqual(multiprocessing.active_children(), [])
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
            signal.signal(signal.SIGALRM, before)

    def test_killed_workers_are_not_started(self):
        from vernier._optimize import WorkerDied
        from vernier._processes import Workers

        workers_of_run = Workers(workers.square, "fork")
        with workers_of_run() as train:
            workers_of_run.kill()
            with self.assertRaises(WorkerDied):
                train(make().ask())

    def test_every_method(self):
        for method in ("fork", "spawn", "forkserver"):
            with self.subTest(method=method):
                study = make()
                study.optimize(workers.pid, trials=8, parallel=2, executor=method)
                self.assertEqual([r.state for r in study.trials], ["COMPLETED"] * 8)
                pids = {r.metrics["pid"] for r in study.trials}
                self.assertNotIn(os.getpid(), pids)
                self.assertLessEqual(len(pids), 2)

    def test_reports_and_stops(self):
        study = make(stopping={"rule": "median", "min_trials": 3, "warm_up": 0})
        study.optimize(workers.stops, trials=8, executor="fork")
        self.assertIsNone(study.trials[0].stopped)
        self.assertIn("median", study.trials[-1].stopped)
        self.assertLess(study.trials[-1].reports, 6)

    def test_a_killed_worker_costs_its_trial(self):
        for train, message in ((workers.dies_at_third, "was killed by signal 9"), (workers.exits_at_third, "exited with status 4")):
            study = make()
            study.optimize(train, trials=8, parallel=2, executor="fork")
            states = [r.state for r in study.trials]
            self.assertEqual((states.count("COMPLETED"), states[2]), (7, "FAILED"))
            self.assertEqual(study.trials[2].failure, "LOST")
            self.assertIn(message, study.trials[2].message)

    def test_an_exception_comes_back(self):
        study = make()
        study.optimize(workers.fails_at_third, trials=5, executor="spawn")
        self.assertEqual(study.trials[2].message, "KeyError: 'third'")
        with self.assertRaises(KeyError):
            make().optimize(workers.fails_at_third, trials=5, executor="fork", catch=())

    def test_sys_exit_ends_the_call_wherever_train_runs(self):
        for executor in ("threads", "fork"):
            with self.subTest(executor):
                study = make()
                with self.assertRaises(SystemExit) as caught:
                    study.optimize(workers.leaves_at_third, trials=8, executor=executor)
                self.assertEqual(caught.exception.code, 5)
                self.assertEqual([r.state for r in study.trials], ["COMPLETED", "COMPLETED", "CANCELLED"])

    def test_a_program_without_a_guard_ends(self):
        # With "spawn" its workers run it from the top, and must not start workers of their own.
        with tempfile.TemporaryDirectory() as folder:
            program = os.path.join(folder, "program.py")
            with open(program, "w") as file:
                file.write("import vernier, workers\n"
                           "study = vernier.create_study('s', {'x': [1, 2, 3]}, minimize='loss')\n"
                           "study.optimize(workers.square, trials=9, parallel=2, executor='spawn')\n")
            here = os.path.dirname(os.path.abspath(__file__))
            path = os.pathsep.join(filter(None, [here, os.environ.get("PYTHONPATH")]))
            done = subprocess.run([sys.executable, program], env={**os.environ, "PYTHONPATH": path}, capture_output=True,
                                  text=True, timeout=200)
        self.assertEqual(done.returncode, 1)
        self.assertRegex(done.stderr.splitlines()[-1], r"WorkerCannotStart: .* `if __name__ == \"__main__\":`")
        self.assertIn("was called again by a worker process", done.stderr)
        self.assertLess(len(done.stderr.splitlines()), 150)

    def test_fork_needs_no_module(self):
        study = make()
        study.optimize(lambda trial: trial["x"], trials=3, executor="fork")
        self.assertEqual(len(study.trials), 3)


if __name__ == "__main__":
    unittest.main()
