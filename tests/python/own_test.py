#!/usr/bin/env python3
"""Algorithms and stopping rules written in Python.  usage: own_test.py [FOLDER OF THE COMMAND LINE]"""

import contextlib
import faulthandler
import logging
import math
import os
import pathlib
import pickle
import random
import signal
import subprocess
import sys
import tempfile
import textwrap
import threading
import time
import unittest

import vernier
import vernier.testing

# A deadlock must end the test, and show where the threads are.
faulthandler.dump_traceback_later(300, exit=True)
logging.getLogger("vernier").setLevel(logging.CRITICAL)
VERNIER = None
SPACE = {"x": vernier.Float(-5, 5)}


class Dice(vernier.Optimizer):
    """Random points."""

    name, pure = "dice", True

    def __init__(self, high: float = 5, note: str = "") -> None:
        self.high = high
        self.note = note

    def check(self, problem):
        if len(problem.objectives) > 1:
            raise ValueError("needs one objective")

    def suggest(self, request):
        for _ in range(1000):
            params = request.space.sample(request.rng)
            if not request.tried(params):
                return vernier.Suggestion(params, note=self.note)
        raise vernier.ExhaustedError("1000 random points were all tried")


class Plateau(vernier.StoppingRule):
    """Stops a trial without a new best value for some reports."""

    name, pure = "plateau", True

    def __init__(self, patience: int = 3) -> None:
        self.patience = patience

    def judge(self, running, others, goal):
        sign = 1 if goal == "minimize" else -1
        keys = [math.inf if math.isnan(value) else sign * value for value in running.values]
        age = len(keys) - 1 - keys.index(min(keys))
        return vernier.Verdict(age >= self.patience, f"its best value is {age} reports old", {"age": age})


def make(algorithm="random", space=SPACE, **options):
    return vernier.create_study("s", space, minimize="loss", algorithm=algorithm, **options)


def train(trial):
    for epoch in range(1, 12):
        trial.report(epoch, loss=trial["x"] ** 2 + abs(epoch - 4))
        if trial.should_stop():
            break
    return None


def answering(answer):
    class Answering(vernier.Optimizer):
        def suggest(self, request):
            return answer(request) if callable(answer) else answer

    return Answering


def judging(answer):
    class Judging(vernier.StoppingRule):
        def judge(self, running, others, goal):
            return answer(running) if callable(answer) else answer

    return Judging


class Studies(unittest.TestCase):
    def test_a_study_with_own_classes_replays(self):
        study = make(Dice(note="by chance"), stopping=Plateau(patience=2))
        study.optimize(train, trials=20, parallel=4)
        self.assertEqual([record.stopped for record in study.trials], ["its best value is 2 reports old"] * 20)
        replay = study.replay()
        self.assertEqual((replay.suggestions, replay.stops, replay.verified, replay.problems), (20, 20, 40, []))
        self.assertEqual({(record.origin, record.note) for record in study.trials}, {("dice", "by chance")})
        self.assertIn("algorithm: {name: python, class: dice, high: 5, note: \"by chance\"}", study.definition)
        self.assertIn("stopping: {rule: python, class: plateau, patience: 2}", study.definition)

    def test_what_is_not_declared_pure_is_not_verified(self):
        class Impure(Dice):
            name, pure = "impure", False

        class Moody(Plateau):
            name, pure = "moody", False

        study = make(Impure, stopping=Moody)
        study.optimize(train, trials=3)
        replay = study.replay()
        self.assertEqual((replay.suggestions, replay.stops, replay.verified), (3, 3, 0))
        self.assertEqual(len(replay.problems), 6)
        self.assertEqual(
            {problem.partition(": ")[2] for problem in replay.problems},
            {"made by version 1, this is 1, which does not declare pure = True"},
        )

    def test_a_study_is_opened_with_its_own_classes_only(self):
        class Other(Dice):
            name = "other"

        with tempfile.TemporaryDirectory() as folder:
            path = f"{folder}/s.db"
            make(Dice(), storage=path).close()
            with self.assertRaisesRegex(ValueError, "^algorithm: study 's' has the class 'dice', got Other$"):
                vernier.open_study("s", path, algorithm=Other)
            with self.assertRaisesRegex(ValueError, "^stopping: study 's' has one of Vernier's own, got Plateau$"):
                vernier.open_study("s", path, algorithm=Dice, stopping=Plateau)
            vernier.open_study("s", path, algorithm=Dice).close()

    def test_a_replay_finds_what_is_not_pure_in_spite_of_its_word(self):
        class Liar(Dice):
            name = "liar"

            def suggest(self, request):
                return request.space.sample(random)

        study = make(Liar)
        study.optimize(lambda trial: 1.0, trials=2)
        self.assertRegex(study.replay().problems[0], "trial 1: recorded x=.*, computed x=")

    def test_equal_seeds_give_equal_points(self):
        points = []
        for seed in (7, 7, 8):
            study = make(Dice, seed=seed)
            study.optimize(lambda trial: trial["x"], trials=5)
            points.append([record.params for record in study.trials])
        self.assertEqual(points[0], points[1])
        self.assertNotEqual(points[0], points[2])

    def test_the_request_tells_of_all_trials(self):
        seen = []

        class Curious(Dice):
            name = "curious"

            def suggest(self, request):
                seen.append(request)
                return vernier.Suggestions([super().suggest(request)], state=f"call {len(seen)}")

        space = {"opt": ["sgd", "adam"], "m": vernier.Float(0.5, 0.9, when={"opt": "sgd"}), "n": vernier.Discrete([1, 2])}
        study = make(Curious, space=space, outcome_constraints=["size <= 3"])
        study.tell(study.ask(), {"loss": 1, "size": 2})
        study.tell(study.ask(), failed="broken")
        study.tell(study.ask(), math.nan)
        waiting = study.ask()
        study.ask()
        last = seen[-1]
        self.assertEqual([(t.number, t.outcome, t.values, t.slacks) for t in last.finished[:2]],
                         [(1, "completed", (1.0,), (1.0,)), (2, "failed", (), ())])
        self.assertEqual([t.params for t in last.finished], [r.params for r in study.trials[:3]])
        self.assertEqual(last.pending, ((4, waiting.params),))
        self.assertEqual((last.state, last.count, last.objectives), ("call 4", 1, {"loss": "minimize"}))
        self.assertEqual(last.problem.outcome_constraints, ("size <= 3",))
        self.assertEqual(list(last.space.parameters), ["opt", "m", "n"])
        self.assertEqual(last.space.parameters["m"], vernier.Float(0.5, 0.9, when={"opt": ["sgd"]}))
        with self.assertRaises(TypeError):
            last.finished[0].params["opt"] = "other"
        with self.assertRaises(TypeError):
            last.pending[0].params["opt"] = "other"

    def test_an_earlier_study_is_known(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "s.db")
            with make(Dice, storage=path) as first:
                first.optimize(lambda trial: trial["x"], trials=4)
                seen = []

                class Heir(Dice):
                    name = "heir"

                    def suggest(self, request):
                        seen.extend(request.problem.earlier)
                        return super().suggest(request)

                heir = vernier.create_study("heir", SPACE, minimize="loss", algorithm=Heir, warm_start=["s"], storage=path)
                heir.ask()
                self.assertEqual(seen[0].name, "s")
                self.assertEqual([t.params for t in seen[0].trials], [r.params for r in first.trials])

    def test_predictions_are_recorded(self):
        study = make(answering({"x": 1}))
        self.assertEqual(study._handle.classes.find("Answering", vernier.Optimizer).version, "1")
        study = make(answering(vernier.Suggestion({"x": 1}, "model", 0.5, predicted_mean=2, predicted_deviation=0)))
        study.ask()
        [record] = study.trials
        self.assertEqual((record.origin, record.predicted_mean, record.predicted_deviation), ("model", 2.0, 0.0))

    def test_an_exhausted_space_ends_the_study(self):
        study = make(Dice, space={"a": vernier.Bool()})
        study.optimize(lambda trial: 1.0, trials=10)
        self.assertEqual(len(study.trials), 2)
        with self.assertRaisesRegex(vernier.ExhaustedError, "1000 random points were all tried"):
            study.ask()

    def test_a_class_that_is_defined_again_takes_its_own_place(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "s.db")
            study = make(answering({"x": 1}), storage=path)
            study.tell(study.ask(), 1)
            again = make(answering({"x": 2}), storage=path, resume=True)
            self.assertEqual(again.ask()["x"], 2)
            self.assertEqual(study.ask()["x"], 2)


class Definitions(unittest.TestCase):
    def test_options_are_the_arguments_of_the_constructor(self):
        class Options(vernier.Optimizer):
            def __init__(self, a, *, b=2.5, c="t", d=True, e=None):
                self.all = (a, b, c, d, e)

            def suggest(self, request):
                assert self.all == (3, 2.5, "t", False, None), self.all
                return {"x": 0}

        study = make(Options(3, d=False))
        study.ask()
        self.assertIn("{name: python, a: 3, b: 2.5, c: t, class: Options, d: false}", study.definition)
        copied = pickle.loads(pickle.dumps(Dice(2.0)))
        self.assertEqual((repr(copied), copied.high), (repr(Dice(2.0)), 2.0))

    def test_refuses_with_a_sentence(self):
        class Listed(vernier.Optimizer):
            def __init__(self, sizes):
                pass

        class Reserved(vernier.Optimizer):
            def __init__(self, name="x"):
                pass

        class Any(vernier.Optimizer):
            def __init__(self, **options):
                pass

        class Median(vernier.StoppingRule):
            name = "median"

        class Spaced(vernier.StoppingRule):
            name = "two words"

        class DiceRule(vernier.StoppingRule):
            name = "dice"

        for make_it, error, text in (
            (lambda: Listed([1]), TypeError, r"Listed.sizes: must be a number, text or a boolean, got \[1\]"),
            (lambda: Listed(math.nan), ValueError, "Listed.sizes: must be finite, got nan"),
            (lambda: Listed(2**70), ValueError, "Listed.sizes: must fit into 64 bits"),
            (lambda: Listed(), TypeError, "Listed: missing a required argument: 'sizes'"),
            (lambda: Dice(low=1), TypeError, "Dice: got an unexpected keyword argument 'low'"),
            (lambda: Reserved(), TypeError, "'name' cannot be the name of an option"),
            (lambda: Any(), TypeError, "must name each option"),
            (lambda: make(Plateau()), TypeError, "algorithm: must be a class derived from vernier.Optimizer"),
            (lambda: make(vernier.Optimizer), TypeError, "algorithm: must be a class derived from vernier.Optimizer"),
            (lambda: make(stopping=Dice), TypeError, "stopping: must be a class derived from vernier.StoppingRule"),
            (lambda: make(stopping=Median), ValueError, "'median' is a name of Vernier's own; choose another one"),
            (lambda: make(stopping=Spaced), ValueError, "Spaced.name: must be 1 to 64 letters"),
            (lambda: make(Dice, stopping=DiceRule), TypeError, "are both called 'dice'"),
            (lambda: make({"name": "python", "class": "lost"}).ask(), vernier.StateError, "has algorithm 'lost', a Python class"),
            (lambda: make({"name": "python"}), ValueError, "algorithm.class: must be the name of a Python class, got None"),
            (lambda: make(Dice, server="localhost:1"), ValueError, "algorithm: a server cannot call the Python class Dice; give storage="),
            (lambda: vernier.create_study("s", SPACE, minimize=["a", "b"], algorithm=Dice), ValueError,
             "algorithm: dice: needs one objective"),
        ):
            with self.subTest(text=text), self.assertRaisesRegex(error, text):
                make_it()

    def test_types_of_options_are_checked_when_a_study_is_opened(self):
        with self.assertRaisesRegex(vernier.VernierError, "dice: TypeError: dice: got an unexpected keyword|unexpected keyword"):
            study = make(Dice)
            study._handle.classes  # The class is known there.
            with study._handle.use() as core:
                core.create_study(study.definition.replace("study: s", "study: t").replace("high: 5", "low: 5"), "test", "")


class Errors(unittest.TestCase):
    def test_rubbish_is_refused_with_field_value_and_bound(self):
        for answer, text in (
            (None, "suggest: must return a point, a list of points or Suggestions, got None"),
            ("x", "suggest: must return a point, a list of points or Suggestions, got 'x'"),
            ([], "suggest: must return 1 to 1 points, got 0"),
            ([{"x": 1}, {"x": 2}], "suggest: must return 1 to 1 points, got 2"),
            ([3], r"suggest\[0\]: must be a mapping of parameters to values or a Suggestion, got 3"),
            ({}, r"suggest\[0\].*x"),
            ({"x": 9}, r"suggest\[0\].x: must be at most 5, got 9"),
            ({"x": math.nan}, r"suggest\[0\].x: .*nan"),
            ({"x": "1"}, r"suggest\[0\].x: "),
            ({"x": [1]}, r"suggest\[0\].x: must be a number, text or a boolean, got \[1\]"),
            ({"x": 1, "y": 2}, r"suggest\[0\].*y"),
            (vernier.Suggestion({"x": 1}, predicted_mean=math.inf), r"suggest\[0\].predicted_mean: must be finite, got inf"),
            (vernier.Suggestion({"x": 1}, predicted_deviation=-1), r"suggest\[0\].predicted_deviation: must be at least 0"),
            (vernier.Suggestion({"x": 1}, origin=3), r"suggest\[0\].origin: must be text, got 3"),
            (vernier.Suggestions([{"x": 1}], state=7), "state: must be text, got 7"),
        ):
            with self.subTest(answer=answer):
                study = make(answering(answer))
                with self.assertRaisesRegex(vernier.AlgorithmError, f"algorithm 'Answering': {text}"):
                    study.ask()
                self.assertEqual((study.state, len(study.trials)), ("ACTIVE", 0))

    def test_an_exception_ends_the_call_and_not_the_study(self):
        def fail(request):
            return 1 / len(request.finished)

        study = make(answering(fail))
        with self.assertLogs("vernier", "ERROR") as logged, self.assertRaises(vernier.AlgorithmError) as caught:
            study.optimize(lambda trial: 1.0, trials=3)
        self.assertEqual(str(caught.exception), "algorithm 'Answering' failed: ZeroDivisionError: division by zero")
        self.assertIsInstance(caught.exception.__cause__, ZeroDivisionError)
        self.assertIn("in fail", logged.output[0])
        study.add({"x": 1}, 1.0)
        with self.assertRaisesRegex(vernier.AlgorithmError, r"must return a point"):
            study.ask()  # It returns 1.0 now.

    def test_a_rule_that_fails_lets_trials_go_on_and_is_logged_once(self):
        for answer, text in (
            (lambda running: 1 / 0, "ZeroDivisionError: division by zero"),
            (None, "TypeError: judge: must be"),
            ("yes", "TypeError: judge: must be True or False, got 'yes'"),
            (vernier.Verdict(True, numbers={"a": "b"}), "TypeError: verdict.numbers.a: must be a number, got 'b'"),
            (vernier.Verdict(1), "TypeError: verdict.stop: must be True or False, got 1"),
            (vernier.Verdict(True, explanation=None), "TypeError: verdict.explanation: must be text, got None"),
        ):
            with self.subTest(text=text):
                study = make(stopping=judging(answer))
                with self.assertLogs("vernier", "ERROR") as logged:
                    study.optimize(train, trials=3)
                self.assertEqual([record.reports for record in study.trials], [11] * 3)
                self.assertEqual(len(logged.output), 1, logged.output)
                self.assertIn(f"stopping rule 'Judging' failed, and the trial goes on: {text}", logged.output[0])

    def test_a_class_without_its_method_is_refused(self):
        class Nothing(vernier.Optimizer):
            pass

        class Never(vernier.StoppingRule):
            pass

        for options, message in (({"algorithm": Nothing()}, "algorithm: Nothing must define suggest"),
                                 ({"stopping": Never}, "stopping: Never must define judge")):
            with self.assertRaises(TypeError) as caught:
                make(**options)
            self.assertEqual(str(caught.exception), message)
        study = make(stopping=judging(lambda running: None))
        with self.assertLogs("vernier", "ERROR") as logged:
            study.optimize(train, trials=1)
        self.assertIn("judge: must be a Verdict, true or false, got None", logged.output[0])

    def test_a_path_is_named_once(self):
        for params, path in (({"x": 2**63}, "suggest[0].x: must fit"), ({"x": 9}, "suggest[0].x: must be at most 5, got 9")):
            with self.assertRaises(vernier.AlgorithmError) as caught:
                make(answering(lambda request: params)).ask()
            self.assertIn(f": {path}", str(caught.exception))
            self.assertEqual(str(caught.exception).count("suggest[0]"), 1)

    def test_a_plain_verdict_gets_an_explanation(self):
        study = make(stopping=judging(lambda running: len(running.values) > 2))
        study.optimize(train, trials=1)
        self.assertEqual(study.trials[0].stopped, "rule 'Judging' stops the trial")

    def test_an_interrupt_arrives(self):
        def interrupted(*_):
            raise KeyboardInterrupt

        study = make(answering(interrupted))
        with self.assertRaises(KeyboardInterrupt):
            study.optimize(train, trials=3)
        study = make(stopping=judging(interrupted))
        with self.assertRaises(KeyboardInterrupt):
            study.optimize(train, trials=3)
        self.assertEqual(study.trials[0].state, "CANCELLED")

    def test_a_class_must_not_call_its_study(self):
        study = make(answering(lambda request: study.trials))
        with self.assertRaisesRegex(vernier.AlgorithmError, "must not call the study that it works for"):
            study.ask()
        judged = make(stopping=judging(lambda running: judged.best is None))
        with self.assertLogs("vernier", "ERROR") as logged:
            judged.optimize(train, trials=1)
        self.assertIn("must not call the study that it works for", logged.output[0])

    def test_a_class_may_call_another_study(self):
        inner = make()
        study = make(answering(lambda request: inner.ask().params))
        self.assertEqual(study.ask().params, inner.trials[0].params)


class Threads(unittest.TestCase):
    def test_a_slow_algorithm_does_not_hold_up_reports(self):
        for work in (lambda: time.sleep(0.001), lambda: sum(range(1000))):
            begun, told = threading.Event(), threading.Event()

            def suggest(request):
                if request.pending:
                    begun.set()
                    while not told.is_set():
                        work()
                return {"x": random.random()}

            study = make(answering(suggest))
            trial = study.ask()
            thread = threading.Thread(target=study.ask)
            thread.start()
            begun.wait()
            for step in range(1, 11):
                trial.report(step, loss=1.0)
            study.tell(trial, 1.0)
            self.assertTrue(thread.is_alive())
            told.set()
            thread.join()
            self.assertEqual(len(study.trials), 2)

    def test_many_threads_meet_no_deadlock(self):
        study = make(Dice, stopping=Plateau)
        over = threading.Event()

        def watch():
            while not over.is_set():
                study.trials, study.best, study.definition, study.replay()

        watchers = [threading.Thread(target=watch) for _ in range(2)]
        for watcher in watchers:
            watcher.start()
        study.optimize(train, trials=60, parallel=8)
        over.set()
        for watcher in watchers:
            watcher.join()
        self.assertEqual({record.state for record in study.trials}, {"COMPLETED"})

    def test_workers_in_processes_train_for_a_study_with_own_classes(self):
        study = make(Dice, stopping=Plateau)
        study.optimize(train, trials=6, parallel=2, executor="fork")
        self.assertEqual([record.reports for record in study.trials], [7] * 6)

    def test_a_fork_during_a_call_leaves_a_child_that_works(self):
        begun = threading.Event()

        def suggest(request):
            begun.set()
            time.sleep(0.5)
            return {"x": 1}

        study = make(answering(suggest))
        thread = threading.Thread(target=study.ask)
        thread.start()
        begun.wait()
        pid = os.fork()
        if pid == 0:
            code = 3
            with contextlib.suppress(BaseException):
                other = make(Dice, stopping=Plateau)
                other.optimize(train, trials=2)
                code = 0 if len(other.trials) == 2 else 2
            os._exit(code)
        _, status = os.waitpid(pid, 0)
        thread.join()
        self.assertEqual(os.waitstatus_to_exitcode(status), 0)


EXIT = """
    import signal, sys, threading, time
    import vernier

    begun = threading.Event()

    class Slow(vernier.Optimizer):
        def suggest(self, request):
            begun.set()
            while True:
                WORK

    study = vernier.create_study("s", {"x": vernier.Float(0, 1)}, minimize="loss", algorithm=Slow)
    START
"""

WAIT = """
    import signal, threading, time
    from vernier._loop import Loop

    def interrupt(*_):
        raise KeyboardInterrupt

    loop = Loop("s", None, None)
    loop._start(threading.Event().wait, "worker")
    signal.signal(signal.SIGALRM, interrupt)
    end = time.monotonic() + 1
    interrupts = 0
    while time.monotonic() < end:
        try:
            signal.setitimer(signal.ITIMER_REAL, 1e-5 + interrupts % 50 * 1e-6)
            while True:
                loop._have_ended(1e-5)
        except KeyboardInterrupt:
            interrupts += 1
    print("more than 100 interrupts" if interrupts > 100 else interrupts)
"""


class Exits(unittest.TestCase):
    def run_it(self, work, start, interrupt):
        program = textwrap.dedent(EXIT).replace("WORK", work).replace("START", start)
        process = subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        if interrupt:
            self.assertEqual(process.stdout.readline(), "begun\n")
            process.send_signal(signal.SIGINT)
        output, _ = process.communicate(timeout=30)
        return process.returncode, output

    def test_the_interpreter_exits_while_an_algorithm_computes(self):
        start = "threading.Thread(target=study.ask, daemon=True).start(); begun.wait(); print('end')"
        for work in ("time.sleep(0.01)", "sum(range(1000))"):
            with self.subTest(work=work):
                self.assertEqual(self.run_it(work, start, interrupt=False), (0, "end\n"))

    def test_ctrl_c_ends_a_run_whose_algorithm_computes(self):
        tell = "threading.Thread(target=lambda: (begun.wait(), print('begun', flush=True))).start()"
        for parallel in (1, 2):
            with self.subTest(parallel=parallel):
                start = f"{tell}; study.optimize(lambda trial: 1.0, trials=3, parallel={parallel})"
                code, output = self.run_it("time.sleep(0.01)", start, interrupt=True)
                self.assertEqual(code, -signal.SIGINT, output)
                self.assertTrue(output.rstrip().endswith("KeyboardInterrupt"), output)

    def test_an_interrupt_anywhere_in_the_wait_for_the_threads_is_no_other_error(self):
        done = subprocess.run([sys.executable, "-c", textwrap.dedent(WAIT)], capture_output=True, text=True, timeout=60)
        self.assertEqual((done.returncode, done.stdout), (0, "more than 100 interrupts\n"), done.stderr)


ENDLESS = """
    import asyncio, os, signal, threading, time, vernier

    class Search(vernier.Optimizer):
        def suggest(self, request):
            while len(request.finished) > 4:
                WORK
            return request.space.sample(request.rng)

    class Rule(vernier.StoppingRule):
        def judge(self, running, others, goal):
            while len(others) > 4:
                WORK
            return False

    class SecondLook(vernier.StoppingRule):
        # What stops a trial is asked for again if others reported meanwhile: under the study's lock.
        seen = set()

        def judge(self, running, others, goal):
            while running.trial in self.seen:
                WORK
            if len(others) > 4:
                self.seen.add(running.trial)
                time.sleep(0.05)  # Others report.
            return running.trial in self.seen

    def train(trial):
        trial.report(1, loss=1)

    async def train_async(trial):
        await trial.report_async(1, loss=1)

    study = vernier.create_study("s", {"x": vernier.Float(0, 1)}, minimize="loss", OPTIONS)
    threading.Timer(0.5, os.kill, (os.getpid(), signal.SIGINT)).start()
    started = time.monotonic()
    try:
        if "RUN" == "async":
            asyncio.run(study.optimize_async(train_async, parallel=3))
        else:
            study.optimize(train, parallel=3)
    except KeyboardInterrupt:
        print("interrupted", flush=True)
    if "STATE":
        print(*{record.state for record in study.trials} - {"COMPLETED"}, len(study.trials) > 4)
"""


class Endless(unittest.TestCase):
    """Ctrl-C ends optimize, whatever algorithms and rules do in its threads."""

    def output_of(self, options, run="threads", work="pass", state="state"):
        algorithm = "" if "algorithm" in options else ', algorithm="random"'
        program = textwrap.dedent(ENDLESS).replace("OPTIONS", options + algorithm).replace("RUN", run)
        program = program.replace("WORK", work).replace("STATE", state)
        done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout.split("\n")[:-1], done.stderr

    def test_one_that_loops(self):
        for run in ("threads", "async"):
            with self.subTest(run):
                self.assertEqual(self.output_of("stopping=Rule", run)[0], ["interrupted", "CANCELLED True"])
                self.assertEqual(self.output_of("algorithm=Search", run)[0], ["interrupted", "True"])

    def test_a_rule_that_waits_for_ever_in_c(self):
        for run in ("threads", "async"):
            with self.subTest(run):
                printed, logged = self.output_of("stopping=Rule", run, "time.sleep(1000)")
                self.assertEqual(printed, ["interrupted", "CANCELLED True"])
                self.assertNotIn("does not return", logged)
                printed, logged = self.output_of("stopping=SecondLook", run, "time.sleep(1000)", "")
                self.assertEqual(printed, ["interrupted"])
                self.assertIn("a stopping rule does not return; open trials are not cancelled", logged)
                self.assertNotIn("Traceback", logged)



OWN = """
    import vernier

    class Halves(vernier.Optimizer):
        name, pure = "halves", True

        def suggest(self, request):
            return {"x": request.rng.uniform(-5, 5) / 2 ** len(request.finished)}

    class Third(vernier.StoppingRule):
        name, pure = "third", True

        def judge(self, running, others, goal):
            return len(running.values) == 3

    def train(trial):
        step = 0
        while not trial.should_stop():
            step += 1
            trial.report(step, loss=trial["x"] ** 2)

    def make(path, **options):
        return vernier.create_study("kept", {"x": vernier.Float(-5, 5)}, minimize="loss", algorithm=Halves, stopping=Third,
                                    storage=path, **options)
"""


class Processes(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.path = str(self.folder / "kept.db")
        (self.folder / "own.py").write_text(textwrap.dedent(OWN))

    def python(self, program):
        environment = {**os.environ, "PYTHONPATH": f"{os.environ.get('PYTHONPATH', '')}:{self.folder}"}
        done = subprocess.run([sys.executable, "-c", textwrap.dedent(program)], env=environment, capture_output=True,
                              text=True, timeout=60, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def test_another_process_continues_the_study(self):
        self.python(f"import own; own.make({self.path!r}).optimize(own.train, trials=3)")
        output = self.python(f"""
            import vernier
            study = vernier.open_study("kept", {self.path!r})
            print(len(study.trials), study.best is not None, len(study.replay().problems))
            print(study.replay().problems[0])
            try:
                study.ask()
            except vernier.StateError as error:
                print(error)
            import own
            study = vernier.open_study("kept", {self.path!r}, algorithm=own.Halves)
            try:
                study.optimize(own.train, trials=1)
            except vernier.StateError as error:
                print(error)
            study = vernier.open_study("kept", {self.path!r}, algorithm=own.Halves, stopping=own.Third)
            study.optimize(own.train, trials=2)
            print(study.replay())
        """)
        lines = output.splitlines()
        self.assertEqual(lines[0], "3 True 6")
        self.assertEqual(lines[1], "trial 1: made by version 1, this is unknown: this process was given no class 'halves'")
        self.assertEqual(lines[2], "study 'kept' has algorithm 'halves', a Python class that this process was not given: "
                                   "open_study(…, algorithm=CLASS) gives it")
        self.assertEqual(lines[3], "study 'kept' has stopping rule 'third', a Python class that this process was not given: "
                                   "open_study(…, stopping=CLASS) gives it")
        self.assertEqual(lines[4], "Replay(suggestions=5, stops=5, verified=10, problems=[])")
        output = self.python(f"""
            import own
            study = own.make({self.path!r}, resume=True)
            study.optimize(own.train, trials=1)
            whole = own.make(None)
            whole.optimize(own.train, trials=6)
            assert [r.params for r in study.trials] == [r.params for r in whole.trials]
            import pickle
            study.close()
            pickle.loads(pickle.dumps(study)).ask()
        """)

    def test_the_command_line_shows_the_study_and_says_what_it_cannot_do(self):
        if VERNIER is None:
            self.skipTest("no command line")
        self.python(f"import own; own.make({self.path!r}).optimize(own.train, trials=3)")

        def vernier_says(*words):
            return subprocess.run([VERNIER, "--store", self.path, *words], capture_output=True, text=True, timeout=60, check=False)

        shown = vernier_says("study", "show", "kept")
        self.assertEqual(shown.returncode, 0, shown.stderr)
        self.assertIn("halves", shown.stdout)
        replayed = vernier_says("study", "replay", "kept", "--verify")
        self.assertIn("algorithm 'halves' is a class of a Python program, which this program cannot call", replayed.stdout)
        self.assertIn("UNVERIFIABLE", replayed.stdout)
        self.assertNotIn("DIVERGED", replayed.stdout)


class Contract(unittest.TestCase):
    def test_good_classes_pass(self):
        vernier.testing.check_optimizer(Dice())
        vernier.testing.check_stopping_rule(Plateau)

    def test_bad_algorithms_are_told_what_they_break(self):
        count = 0

        def with_memory(request):
            nonlocal count
            count += 1
            return request.space.decode([count * 0.37 % 1] * len(request.space.parameters))

        for suggest, text in (
            (lambda request: request.space.sample(request.rng), "proposes every point of a small space once.* again"),
            (lambda request: request.space.sample(random), "gives equal answers to equal requests"),
            (with_memory, "is pure, and gave"),
            (lambda request: 1 / len(request.finished), "starts without trials and with one: .*ZeroDivisionError"),
            (lambda request: {"x": sum(t.value for t in request.finished) % 1}, "survives failed trials .*TypeError"),
            (lambda request: vernier.Suggestions([request.space.decode([float(request.state or 0)])], "0.5"), "takes any state"),
            (lambda request: {"x": 2.0}, "must be at most 1, got 2"),
        ):
            bad = type("Bad", (vernier.Optimizer,), {"pure": True, "suggest": lambda self, request, answer=suggest: answer(request)})
            spaces = {"x": {"x": vernier.Float(0, 1)}, "b": {"b": vernier.Bool()}}
            with self.subTest(text=text), self.assertRaisesRegex(AssertionError, text):
                vernier.testing.check_optimizer(bad, spaces=spaces)

    def test_bad_rules_are_told_what_they_break(self):
        class Moody(vernier.StoppingRule):
            pure = True

            def judge(self, running, others, goal):
                return random.random() < 0.5

        class Hasty(vernier.StoppingRule):
            def judge(self, running, others, goal):
                return running.values[-1] > others[0].values[-1]

        with self.assertRaisesRegex(AssertionError, "Moody breaks its contract:\n.*is pure, and gave"):
            vernier.testing.check_stopping_rule(Moody)
        with self.assertRaisesRegex(AssertionError, "minimize, one report, no other trial: IndexError"):
            vernier.testing.check_stopping_rule(Hasty)

    def test_spaces_that_an_algorithm_refuses_are_skipped(self):
        class Narrow(Dice):
            name = "narrow"

            def check(self, problem):
                if len(problem.space.parameters) > 1:
                    raise ValueError("needs one parameter")

        vernier.testing.check_optimizer(Narrow)
        with self.assertRaisesRegex(AssertionError, "Narrow.check refuses every space"):
            vernier.testing.check_optimizer(Narrow, spaces={"two": {"a": vernier.Bool(), "b": vernier.Bool()}})


class Spaces(unittest.TestCase):
    def test_points_and_coordinates(self):
        space = vernier.SearchSpace(
            {"lr": vernier.Float(0.01, 1, log=True), "o": ["a", "b"], "n": vernier.Int(1, 4, when={"o": "b"})},
            ["lr <= 0.5"],
        )
        self.assertEqual(space.decode([0, 0.1, 0.9]), {"lr": 0.01, "o": "a"})
        self.assertEqual(space.decode([0, 0.6, 0.9]), {"lr": 0.01, "o": "b", "n": 4})
        self.assertEqual(space.encode({"lr": 1e-2, "o": "a"}), [0.0, 0.25, None])
        self.assertEqual(space.check({"lr": 0.1, "o": "b", "n": 2}), {"lr": 0.1, "o": "b", "n": 2})
        self.assertEqual(space.constraints, ["lr <= 0.5"])
        self.assertEqual((space.cardinality, vernier.SearchSpace({"b": vernier.Bool()}).cardinality), (None, 2))
        self.assertEqual((space.satisfies({"lr": 0.9, "o": "a"}), space.satisfies({"lr": 0.1, "o": "a"})), (False, True))
        self.assertLessEqual(space.sample(random.Random(1))["lr"], 0.5)
        self.assertEqual(len(space.embed({"lr": 0.1, "o": "a"})), 4)
        self.assertEqual(space.key({"lr": 0.1, "o": "a"}), space.key({"o": "a", "lr": 0.1}))
        for call, text in (
            (lambda: space.decode([0.5]), "coordinates: must be 3 numbers, one for each parameter, got 1"),
            (lambda: space.check({"lr": 0.9, "o": "a"}), "'lr <= 0.5' does not hold"),
            (lambda: space.encode({"lr": 2, "o": "a"}), "lr: must be at most 1, got 2"),
            (lambda: vernier.SearchSpace({"x": vernier.Float(2, 1)}), r"parameters.x.float"),
        ):
            with self.subTest(text=text), self.assertRaisesRegex(vernier.InvalidValueError, text):
                call()


if __name__ == "__main__":
    if len(sys.argv) > 1 and os.path.isdir(sys.argv[1]):
        VERNIER = pathlib.Path(sys.argv.pop(1)) / "vernier"
    unittest.main()
