#!/usr/bin/env python3
"""Studies of a server: the same objects over gRPC, processes and servers that are killed, jobs, events.
usage: server_test.py BIN_DIR
"""

import asyncio
import collections
import logging
import multiprocessing
import os
import pathlib
import pickle
import signal
import subprocess
import sys
import tempfile
import textwrap
import threading
import time
import unittest
from unittest import mock

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "integration"))
import vernier
from daemon import Daemon

logging.getLogger("vernier").setLevel(logging.CRITICAL)
BIN = None
PACKAGE_PATH = os.environ.get("PYTHONPATH", "")  # Empty: the package is installed.
SPACE = {"x": vernier.Float(-5, 5), "kind": ["a", "b"], "width": vernier.Int(1, 8, when={"kind": "a"})}


def square(trial):
    return trial["x"] ** 2


def start(program, *arguments, **options):
    # Python 3.12 and later warn of a fork beside threads.
    return subprocess.Popen([sys.executable, "-W", "ignore::DeprecationWarning", "-c", textwrap.dedent(program),
                             *map(str, arguments)], text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, **options)


def take_all(how, numbers):
    """One of many processes: runs trials until there are none."""
    study = vernier.open_study("many", **how)
    own = []
    while True:
        try:
            trial = study.ask()
        except vernier.ExhaustedError:
            break
        except vernier.ParallelLimitError:
            time.sleep(0.01)
            continue
        study.tell(trial, trial["x"] ** 2)
        own.append(trial.number)
    numbers.put(own)


class ServerTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.daemon = Daemon(BIN, self.folder)
        self.addCleanup(lambda: self.daemon.process.stdout.close())
        self.daemon.start()
        self.addCleanup(lambda: self.daemon.process.poll() is None and self.daemon.kill())
        self.server = vernier.connect(self.daemon.address)

    def make(self, name="s", **options):
        options.setdefault("algorithm", "random")
        return self.server.create_study(name, SPACE, minimize="loss", **options)

    # --- the same objects ---
    def test_suggests_what_a_study_in_memory_suggests(self):
        here = vernier.create_study("s", SPACE, minimize="loss", seed=3)
        there = self.make(algorithm="gp", seed=3)
        for study in (here, there):
            study.optimize(square, trials=12)
        self.assertEqual([r.params for r in here.trials], [r.params for r in there.trials])
        self.assertEqual(here.best.params, there.best.params)
        self.assertEqual(there.replay(), (12, 0, 12, []))
        [ours], [theirs] = here.predict([{"x": 1, "kind": "b"}]), there.predict([{"x": 1, "kind": "b"}])
        self.assertEqual(ours, theirs)
        self.assertEqual(here.space, there.space)
        for kind in ("history", "importance", "slice", "parallel", "contour"):
            ours, theirs = (getattr(vernier.plots, kind)(study) for study in (here, there))
            self.assertTrue(ours.data)
            self.assertEqual(ours.data, theirs.data)

    def test_ask_tell_report_and_records(self):
        study = self.make(trials=4, stopping={"rule": "median", "min_trials": 1, "warm_up": 0})
        for level in (0.0, 9.0):
            trial = study.ask()
            for step in range(1, 4):
                trial.report(step, loss=level)
            study.tell(trial)
        self.assertIn("median", trial.stop_reason)
        self.assertEqual([(r.state, r.metrics["loss"], r.reports) for r in study.trials],
                         [("COMPLETED", 0, 3), ("COMPLETED", 9, 3)])
        self.assertIsNotNone(study.trials[1].stopped)
        self.assertEqual([point.step for point in study.curve(2)], [1, 2, 3])
        study.enqueue({"x": 0.5, "kind": "b"})
        queued = study.ask()
        self.assertEqual(queued["x"], 0.5)
        self.assertEqual(study.tell(queued, failed="no memory").message, "no memory")
        self.assertEqual(study.add({"x": 2, "kind": "b"}, 4.0).metrics, {"loss": 4})
        with self.assertRaises(vernier.ExhaustedError):
            study.ask()
        with self.assertRaises(vernier.StateError):
            study.tell(queued, 1)

    def test_names_resume_pause_and_delete(self):
        study = self.make(labels={"team": "a"})
        study.optimize(square, trials=2)
        with self.assertRaisesRegex(vernier.StudyExistsError, "resume=True"):
            self.make()
        again = vernier.create_study("s", SPACE, minimize="loss", algorithm="random", resume=True, server=self.daemon.address)
        self.assertEqual(len(again.trials), 2)
        self.assertEqual(pickle.loads(pickle.dumps(again)).best, study.best)
        again.pause()
        with self.assertRaisesRegex(vernier.StateError, "PAUSED"):
            again.ask()
        again.resume()
        again.optimize(square, trials=1)
        self.assertEqual(vernier.study_names(server=self.server), ["s"])
        again.finish("enough")
        self.assertEqual(again.wait(1), "COMPLETED")
        self.server.delete_study("s")
        with self.assertRaisesRegex(vernier.NotFoundError, "'s'"):
            self.server.open_study("s")
        self.assertEqual(self.server.study_names(), [])

    def test_status(self):
        self.make()
        status = self.server.status
        self.assertEqual((status.process_id, status.studies), (self.daemon.process.pid, 1))
        self.assertEqual(status.version, vernier.__version__)

    # --- many processes ---
    def test_64_processes_run_each_trial_once(self):
        study = self.make("many", trials=256)
        context = multiprocessing.get_context("forkserver")
        numbers = context.Queue()
        processes = [context.Process(target=take_all, args=({"server": self.daemon.address}, numbers)) for _ in range(64)]
        for process in processes:
            process.start()
        taken = collections.Counter(number for _ in processes for number in numbers.get(timeout=100))
        for process in processes:
            process.join()
            self.assertEqual(process.exitcode, 0)
        self.assertEqual(taken, {number: 1 for number in range(1, 257)})
        self.assertEqual({r.state for r in study.trials}, {"COMPLETED"})

    def test_8_processes_share_a_file_through_its_owner(self):
        study = vernier.create_study("many", SPACE, minimize="loss", trials=40, storage=self.daemon.store, algorithm="random")
        context = multiprocessing.get_context("forkserver")
        numbers = context.Queue()
        processes = [context.Process(target=take_all, args=({"storage": self.daemon.store}, numbers)) for _ in range(8)]
        for process in processes:
            process.start()
        taken = collections.Counter(number for _ in processes for number in numbers.get(timeout=100))
        for process in processes:
            process.join()
        self.assertEqual(taken, {number: 1 for number in range(1, 41)})
        # Without the server, the file is opened here.
        self.daemon.stop()
        self.assertEqual(len(study.trials), 40)
        study.close()

    def test_a_killed_process_loses_nothing(self):
        study = self.make(trials=10)
        killed = start("""
            import sys, time, vernier
            study = vernier.connect(sys.argv[1]).open_study("s")
            study.optimize(lambda trial: trial["x"] if trial.number < 3 else (print(trial.number, flush=True), time.sleep(100)))
        """, self.daemon.address)
        self.assertEqual(killed.stdout.readline(), "3\n")
        killed.kill()
        killed.communicate()
        # Its trial is the first that the next process gets, without waiting for the end of its lease.
        study = self.server.open_study("s")
        self.assertEqual(study.ask().number, 3)

    def test_an_interrupt_cancels_open_trials(self):
        study = self.make()
        program = start("""
            import sys, time, vernier
            study = vernier.connect(sys.argv[1]).open_study("s")
            def train(trial):
                sys.stdout.write(f"{trial.number}\\n")  # At once, unlike print.
                sys.stdout.flush()
                for step in range(1000):
                    time.sleep(0.05)
                    trial.report(loss=step)
            study.optimize(train, parallel=2)
        """, self.daemon.address)
        self.assertEqual({program.stdout.readline(), program.stdout.readline()}, {"1\n", "2\n"})
        program.send_signal(signal.SIGINT)
        text, _ = program.communicate(timeout=60)
        self.assertIn("KeyboardInterrupt", text)
        # They reported, so that the interrupt ends them with their last values, or cancels them.
        self.assertLessEqual({r.state for r in study.trials}, {"COMPLETED", "CANCELLED"})

    def test_leases_are_kept_alive(self):
        study = self.server.submit({"study": "short", "objective": {"minimize": "loss"}, "algorithm": "random",
                                    "parameters": {"x": {"float": [0, 1]}}, "lease": {"ttl": "1s"}})
        trial = study.ask()
        time.sleep(2.5)
        self.assertEqual(study.tell(trial, 1).state, "COMPLETED")

    def test_forked_children_leave_the_connection_alone(self):
        study = self.make()
        study.optimize(square, trials=4, parallel=2, executor="fork")
        program = start("""
            import os, sys, vernier
            study = vernier.connect(sys.argv[1]).open_study("s")
            child = os.fork()
            if child == 0:
                for call in (study.ask, lambda: vernier.connect(sys.argv[1])):
                    try:
                        call()
                    except vernier.StateError as error:
                        print(error, flush=True)
                os._exit(0)
            os.waitpid(child, 0)
            print(study.tell(study.ask(), 1).number)
        """, self.daemon.address)
        text, _ = program.communicate(timeout=60)
        self.assertRegex(text, r"before the fork; .*\nthis process was forked from .* 'spawn' .*\n5\n")

    # --- a server that dies ---
    def test_a_killed_server_costs_nothing(self):
        study = self.make(trials=60)
        runner = threading.Thread(target=lambda: study.optimize(lambda t: time.sleep(0.02) or t["x"] ** 2, parallel=3))
        runner.start()
        for outage in (4, 0, 0):  # Seconds. In the first, no trial has been asked for yet, or few have.
            self.daemon.kill()
            time.sleep(outage)
            self.daemon.start()
            time.sleep(0.2)
        runner.join(60)
        self.assertFalse(runner.is_alive())
        self.assertEqual([r.state for r in study.trials], ["COMPLETED"] * 60)
        self.assertEqual(study.replay().problems, [])

    def test_a_server_that_is_not_there(self):
        self.daemon.stop()
        began = time.monotonic()
        address = f"unix:{self.folder}/none.sock"
        with self.assertRaises(vernier.ServerUnavailableError) as caught:
            vernier.connect(address, timeout=1)
        self.assertEqual(str(caught.exception), f"no server answers at {address} (No such file or directory); start one with "
                                                "`vernier server start`, or give another address")
        for wrong in ("rubbish", "/no/such.sock", "http://localhost:80", "host:", ":7117"):
            with self.subTest(wrong), self.assertRaisesRegex(ValueError, "^address: must be HOST:PORT or unix:PATH, got '"):
                vernier.connect(wrong)
        with self.assertRaises(ConnectionError):
            vernier.connect(self.daemon.address, timeout=1)
        self.assertLess(time.monotonic() - began, 20)

    def test_tokens(self):
        self.daemon.stop()
        token = self.folder / "token"
        token.write_text("secret-of-this-test-0123456789-abcdef\n")
        token.chmod(0o600)
        self.daemon.start("--listen", "127.0.0.1:0", "--token-file", token)
        with self.assertRaises(vernier.AccessDeniedError) as caught:
            vernier.connect(self.daemon.address, token="another-token-0123456789-abcdef")
        self.assertIsInstance(caught.exception, PermissionError)
        for wrong in ("", "\n", "a\nb", "größe"):
            with self.assertRaisesRegex(vernier.InvalidValueError, "^token: must be printable ASCII characters"):
                vernier.connect(self.daemon.address, token=wrong)
        for path in (self.folder / "none", self.folder):
            with mock.patch.dict(os.environ, VERNIER_TOKEN_FILE=str(path)):
                with self.assertRaisesRegex(vernier.VernierError, r"^\$VERNIER_TOKEN_FILE: .*"):
                    vernier.connect(self.daemon.address)
        server = vernier.connect(self.daemon.address, token=token.read_text())
        self.assertEqual(server.study_names(), [])
        study = server.create_study("s", SPACE, minimize="loss")
        self.assertNotIn("secret", repr(study) + repr(server) + repr(pickle.dumps(study)))

    # --- jobs and events ---
    def test_a_job_is_run_followed_and_read(self):
        (self.folder / "train.py").write_text(
            "import vernier\np = vernier.params()\nprint('hello from', p['x'])\nvernier.report(step=1, loss=p['x'] ** 2)\n")
        job = vernier.Job([sys.executable, "train.py"], working_dir=self.folder, env={"PYTHONPATH": PACKAGE_PATH},
                          limits={"time": "1m"})
        study = self.server.create_study("job", {"x": vernier.Float(1, 2)}, minimize="loss", trials=3, job=job, parallel=2)
        events = list(study.watch())
        self.assertEqual([event.seq for event in events], list(range(1, len(events) + 1)))
        self.assertEqual({event.trial for event in events if event.kind == "trial_created"}, {1, 2, 3})
        self.assertEqual(study.wait(), "COMPLETED", study.trials[0])
        for record in study.trials:
            self.assertEqual(record.metrics, {"loss": record.params["x"] ** 2})
            [line] = study.logs(record)
            self.assertEqual((line.text, line.role, line.index, line.attempt, line.stream),
                             (f"hello from {record.params['x']}", "chief", 0, 1, "stdout"))
        for options, error in (({"role": "worker"}, "^role: must be one of chief, got 'worker'"),
                               ({"role": "chief", "index": 1}, "^index: must be at most 0 of role chief, got 1")):
            with self.assertRaisesRegex(vernier.InvalidValueError, error):
                list(study.logs(1, **options))
        with self.assertRaisesRegex(vernier.StateError, "runs its own job"):
            study.ask()
        # Paths of a file are relative to its folder; the directory of the test is another.
        (self.folder / "file.yaml").write_text(
            "study: file\nobjective: {minimize: loss}\nparameters: {x: {float: [1, 2]}}\nbudget: {trials: 1}\n"
            f"job: {{command: [{sys.executable}, train.py], env: {{PYTHONPATH: '{PACKAGE_PATH}'}}}}\n")
        self.assertIsNone(self.server.submit(self.folder / "file.yaml", validate_only=True))
        self.assertEqual(self.server.study_names(), ["job"])
        self.assertEqual(self.server.submit(self.folder / "file.yaml", name="renamed").wait(60), "COMPLETED")
        self.daemon.stop()
        in_file = vernier.open_study("job", self.daemon.store)
        self.assertEqual((len(in_file.trials), in_file.best.state), (3, "COMPLETED"))
        with self.assertRaisesRegex(vernier.StateError, "runs its own job"):
            in_file.ask()
        in_file.close()

    def test_the_code_of_a_job_is_sent(self):
        code = self.folder / "code"
        code.mkdir()
        (code / "train.py").write_text("import sys\nprint('loss=' + sys.argv[1].partition('=')[2])\n")
        job = vernier.Job([sys.executable, "train.py"], code=str(code))
        study = self.server.create_study("sent", {"x": vernier.Float(1, 2)}, minimize="loss", trials=1, job=job)
        (code / "train.py").write_text("raise SystemExit('a later version')\n")
        self.assertEqual(study.wait(60), "COMPLETED", study.trials[0])
        self.assertEqual(study.best.metrics["loss"], study.best.params["x"])

    def test_programs_report_to_the_server(self):
        (self.folder / "train.py").write_text(textwrap.dedent("""
            import os, vernier
            x = vernier.params()["x"]
            assert not vernier.should_stop()  # From here on SIGTERM, which comes beside the answer, does not end the program.
            for step in range(1, 6):
                vernier.report(step=step, loss=x + 1 / step)
                if vernier.should_stop():
                    print("told at", step)
                    break
        """))
        env = {"PYTHONPATH": PACKAGE_PATH, "VERNIER_REPORT": "server"}
        study = self.server.create_study("j", {"x": vernier.Discrete([1, 2, 3, 4])}, minimize="loss", trials=4, algorithm="grid",
                                         stopping={"rule": "median", "min_trials": 1, "warm_up": 0},
                                         job=vernier.Job([sys.executable, "train.py"], working_dir=self.folder, env=env))
        self.assertEqual(study.wait(60), "COMPLETED", study.trials)
        self.assertEqual([point.metrics["loss"] for point in study.curve(1)], [1 + 1 / step for step in range(1, 6)])
        self.assertEqual([point.step for point in study.curve(1)], [1, 2, 3, 4, 5])
        # Worse than the first from its first report on, which the answer to that report says.
        self.assertEqual([(r.reports, bool(r.stopped)) for r in study.trials[1:]], [(1, True)] * 3)
        self.assertEqual([line.text for line in study.logs(2)], ["told at 1"])

    def test_events_are_followed_through_a_restart(self):
        study = self.make(trials=3)
        kinds = []
        watcher = threading.Thread(target=lambda: kinds.extend(event.kind for event in study.watch()))
        watcher.start()
        study.optimize(square, trials=1)
        self.daemon.kill()
        self.daemon.start()
        study.optimize(square, trials=2)
        watcher.join(30)
        self.assertFalse(watcher.is_alive())
        self.assertEqual(kinds.count("trial_created"), 3)
        self.assertEqual(kinds[-1], "study_state_changed")

    def test_async(self):
        study = self.make()

        async def train(trial):
            await asyncio.sleep(0.01)
            return trial["x"] ** 2

        async def watch():
            return [event.kind async for event in study.watch_async()]

        async def main():
            watcher = asyncio.create_task(watch())
            best = await study.optimize_async(train, trials=9, parallel=3)
            study.finish()
            return best, await asyncio.wait_for(watcher, 30)

        best, kinds = asyncio.run(main())
        self.assertEqual(best, study.best)
        self.assertEqual(kinds.count("trial_created"), 9)

    def test_an_open_watch_does_not_keep_the_interpreter(self):
        self.make()
        program = start("""
            import sys, vernier
            study = vernier.connect(sys.argv[1]).open_study("s")
            events = study.watch()
            print(next(events).kind)
        """, self.daemon.address)
        text, _ = program.communicate(timeout=30)
        self.assertEqual((text, program.returncode), ("study_created\n", 0))

    def test_wait_ends_in_time(self):
        with self.assertRaisesRegex(TimeoutError, "study 's' is ACTIVE after 0.1 s"):
            self.make().wait(0.1)

    # --- what is wrong ---
    def test_wrong_arguments(self):
        wrong = [
            (lambda: vernier.connect(""), vernier.InvalidValueError, "address"),
            (lambda: vernier.connect(7117), TypeError, "address"),
            (lambda: vernier.connect(self.daemon.address, timeout=0), vernier.InvalidValueError, "timeout: must be above 0"),
            (lambda: self.make(storage="x.db"), vernier.InvalidValueError, "storage"),
            (lambda: vernier.create_study("j", SPACE, minimize="loss", job=vernier.Job(["x"])), vernier.InvalidValueError,
             "job: needs server="),
            (lambda: vernier.Job(7), TypeError, "command: must be a list"),
            (lambda: vernier.Job([]), vernier.InvalidValueError, "job.command: must not be empty"),
            (lambda: vernier.Job(), vernier.InvalidValueError, "job.command: must not be empty"),
            (lambda: vernier.Job("python3 'train.py"), vernier.InvalidValueError, "job.command: the quote ' is not closed"),
            (lambda: vernier.Job(["x"], replicas={"boss": {}}), vernier.InvalidValueError, "job.replicas.boss: unknown key"),
            (lambda: vernier.Job(["x"], comand=1), vernier.InvalidValueError, "comand"),
            (lambda: self.make(job=vernier.Job(["x"], code="none")), vernier.InvalidValueError, "job.code: '.*none' is no folder"),
            (lambda: self.server.submit({"study": {1, 2}}), vernier.InvalidValueError, "JSON"),
            (lambda: self.server.submit(self.folder / "none.yaml"), vernier.NotFoundError, "study: there is no file .*none.yaml"),
            (lambda: self.make("m", parallel=0), vernier.InvalidValueError, "parallel"),
            (lambda: next(self.make("w").watch(-1)), vernier.InvalidValueError, "after"),
            (lambda: self.server.submit(self.folder), vernier.InvalidValueError, "study: .* cannot be read: Is a directory"),
            (lambda: vernier.connect("unix:/" + 120 * "x"), vernier.InvalidValueError, "at most 107 bytes, got 121"),
            (lambda: next(self.make("l").logs(7)), vernier.NotFoundError, "7"),
        ]
        for call, kind, text in wrong:
            with self.subTest(text), self.assertRaisesRegex(kind, text):
                call()
        self.assertEqual(self.server.study_names(), ["w", "l"])


if __name__ == "__main__":
    BIN = pathlib.Path(sys.argv.pop(1)).resolve()
    unittest.main()
