#!/usr/bin/env python3
"""Several processes that share one file by turns.
usage: share_test.py [BIN_DIR]     (without: the command line and the server are left out)
"""

import collections
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import textwrap
import time
import unittest
from unittest import mock

import servers
import vernier
from vernier import _file

BIN = None
HERE = os.path.dirname(os.path.abspath(__file__))
SPACE = {"x": vernier.Float(-5, 5), "y": vernier.Float(-5, 5)}

# Writes each trial that it runs as a line: its number and its point.
WORKER = """
    import sys, time, vernier
    path, budget, seconds, algorithm = sys.argv[1], int(sys.argv[2]), float(sys.argv[3]), sys.argv[4]
    def train(trial):
        print(trial.number, trial["x"], trial["y"], flush=True)
        time.sleep(seconds)
        return trial["x"] ** 2
    study = vernier.create_study("s", {"x": vernier.Float(-5, 5), "y": vernier.Float(-5, 5)}, minimize="loss",
                                 storage=path, resume=True, trials=budget, algorithm=algorithm)
    study.optimize(train)
"""


def make(path, **options):
    options.setdefault("algorithm", "random")
    return vernier.create_study("s", SPACE, minimize="loss", storage=path, **options)


def start(program, *arguments):
    return subprocess.Popen([sys.executable, "-c", textwrap.dedent(program), *map(str, arguments)], text=True, cwd=HERE,
                            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)


class ShareTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.path = self.folder / "s.db"

    def start(self, program, *arguments):
        process = start(program, *arguments)
        self.addCleanup(process.communicate)
        self.addCleanup(process.kill)
        return process

    def finish(self, process, timeout=100):
        text, _ = process.communicate(timeout=timeout)
        self.assertEqual(process.returncode, 0, text)
        return text

    def vernier(self, *arguments):
        done = subprocess.run([BIN / "vernier", "--store", self.path, *arguments], capture_output=True, text=True, timeout=100)
        return done.returncode, done.stdout + done.stderr

    # --- many processes ---
    def run_together(self, count, budget, algorithm):
        processes = [self.start(WORKER, self.path, budget, 0.003, algorithm) for _ in range(count)]
        self.check_trials([line for process in processes for line in self.finish(process).splitlines()], budget)

    def check_trials(self, lines, budget):
        """Each trial ran once and completed, and the last process has cleaned up. ``lines``: what WORKER wrote."""
        study = vernier.open_study("s", self.path)
        records = study.trials
        self.assertEqual([record.number for record in records], list(range(1, budget + 1)))
        self.assertEqual({record.state for record in records}, {"COMPLETED"})
        # Its own point, and the value of that.
        ran = {int(number): (float(x), float(y)) for number, x, y in map(str.split, lines)}
        self.assertEqual(len(lines), budget)
        self.assertEqual(len(ran), budget)
        self.assertEqual(len(set(ran.values())), budget)
        for record in records:
            self.assertEqual(ran[record.number], (record.params["x"], record.params["y"]))
            self.assertEqual(record.metrics["loss"], record.params["x"] ** 2)
        self.assertEqual(study.state, "COMPLETED")
        replay = study.replay()
        self.assertEqual((replay.verified, replay.problems), (budget, []))
        study.close()
        # The last process has left one file, and the owner's.
        self.assertEqual({path.name for path in self.folder.iterdir()} - {"d.sock", "s.db.runs"}, {"s.db", "s.db.owner"})

    def test_eight_processes_spend_one_budget(self):
        self.run_together(8, 64, "random")

    def test_processes_share_a_model(self):
        self.run_together(3, 24, "gp")

    def test_threads_and_processes(self):
        program = """
            import sys, vernier
            study = vernier.create_study("s", {"x": vernier.Float(-5, 5)}, minimize="loss", storage=sys.argv[1], resume=True,
                                         trials=40, algorithm="random")
            study.optimize(lambda trial: trial["x"] ** 2, parallel=4)
        """
        for process in [self.start(program, self.path) for _ in range(3)]:
            self.finish(process)
        self.assertEqual([r.state for r in vernier.open_study("s", self.path).trials], ["COMPLETED"] * 40)

    def test_executors_of_two_programs(self):
        program = """
            import sys, vernier, workers
            study = vernier.create_study("s", {"x": vernier.Float(-5, 5)}, minimize="loss", storage=sys.argv[1], resume=True,
                                         trials=16, algorithm="random")
            study.optimize(workers.square, parallel=2, executor=sys.argv[2])
        """
        for process in [self.start(program, self.path, executor) for executor in ("fork", "forkserver")]:
            self.finish(process)
        self.assertEqual([r.state for r in vernier.open_study("s", self.path).trials], ["COMPLETED"] * 16)

    def test_processes_that_are_killed_lose_nothing(self):
        rng_pauses = (0.4, 0.1, 0.25, 0.15, 0.3)
        processes = [self.start(WORKER, self.path, 48, 0.02, "random") for _ in range(4)]
        lines = []
        for i, pause in enumerate(rng_pauses):
            time.sleep(pause)
            processes[i % 4].kill()
            lines += processes[i % 4].communicate()[0].splitlines()
            processes[i % 4] = self.start(WORKER, self.path, 48, 0.02, "random")
        for process in processes:
            lines += self.finish(process).splitlines()
        study = vernier.open_study("s", self.path)
        # The last to end may have met the budget while a trial of a process was open that was killed since.
        study.optimize(lambda trial: trial["x"] ** 2)
        self.assertEqual([record.state for record in study.trials], ["COMPLETED"] * 48)
        ran = collections.Counter(line.split()[0] for line in lines)
        self.assertLessEqual(sum(count - 1 for count in ran.values()), len(rng_pauses))
        self.assertEqual(study.replay().problems, [])

    # --- turns ---
    def test_an_open_trial_does_not_keep_the_file(self):
        study = make(self.path)
        trial = study.ask()
        other = self.start("""
            import sys, time, vernier
            begun = time.monotonic()
            study = vernier.open_study("s", sys.argv[1])
            trial = study.ask()
            study.tell(trial, 2)
            print(trial.number, time.monotonic() - begun < 5)
        """, self.path)
        self.assertEqual(self.finish(other).strip(), "2 True")
        self.assertEqual(study.tell(trial, 1).state, "COMPLETED")
        self.assertEqual([record.metrics["loss"] for record in study.trials], [1, 2])

    def test_a_suspended_owner_is_named(self):
        owner = self.start("""
            import sys, vernier
            study = vernier.create_study("s", {"x": vernier.Float(-5, 5)}, minimize="loss", storage=sys.argv[1])
            with study._handle.use():
                print("has it", flush=True)
                sys.stdin.readline()
            print("done", flush=True)
        """, self.path)
        self.assertEqual(owner.stdout.readline(), "has it\n")
        owner.send_signal(signal.SIGSTOP)
        with mock.patch.object(_file, "_PATIENCE", 0.3):
            with self.assertRaisesRegex(vernier.StoreBusyError, f"is in use by process {owner.pid}"):
                vernier.open_study("s", self.path)
        owner.send_signal(signal.SIGCONT)
        owner.stdin.write("\n")
        owner.stdin.flush()
        self.assertEqual(owner.stdout.readline(), "done\n")
        self.assertEqual(vernier.study_names(self.path), ["s"])

    def test_a_suspended_or_killed_waiter_holds_up_nobody(self):
        study = make(self.path)
        program = """
            import sys, vernier
            print("waits", flush=True)
            vernier.open_study("s", sys.argv[1])
        """
        with study._handle.use():
            suspended, killed = self.start(program, self.path), self.start(program, self.path)
            for waiter in (suspended, killed):
                waiter.stdout.readline()
            deadline = time.monotonic() + 20
            while not study._handle._is_awaited() and time.monotonic() < deadline:
                time.sleep(0.01)
            suspended.send_signal(signal.SIGSTOP)
            killed.kill()
        begun = time.monotonic()
        study.optimize(lambda trial: 1.0, trials=3)
        self.assertLess(time.monotonic() - begun, 10)
        suspended.send_signal(signal.SIGCONT)
        self.finish(suspended)

    def test_a_waiter_can_be_interrupted(self):
        study = make(self.path)
        waiter = self.start("""
            import sys, time, vernier
            print("waits", flush=True)
            try:
                vernier.open_study("s", sys.argv[1])
            except KeyboardInterrupt:
                print("interrupted", flush=True)
        """, self.path)
        with study._handle.use():
            waiter.stdout.readline()
            deadline = time.monotonic() + 20
            while not study._handle._is_awaited() and time.monotonic() < deadline:
                time.sleep(0.01)
            time.sleep(0.2)
            waiter.send_signal(signal.SIGINT)
            self.assertEqual(self.finish(waiter, 20), "interrupted\n")

    def test_leases_are_renewed_while_the_file_is_closed(self):
        file = self.path.with_suffix(".yaml")
        file.write_text("")
        study = make(self.path)
        trial = study.ask()
        # As after 45 of 60 seconds.
        trial.renewed -= 45
        study._handle.close()
        deadline = time.monotonic() + 20
        while time.monotonic() - trial.renewed > 10 and time.monotonic() < deadline:
            time.sleep(0.05)
        self.assertLess(time.monotonic() - trial.renewed, 10)
        self.assertEqual(study.tell(trial, 1).state, "COMPLETED")

    def test_trials_of_the_dead_are_taken_once(self):
        program = """
            import os, signal, sys, vernier
            study = vernier.create_study("s", {"x": vernier.Float(-5, 5)}, minimize="loss", storage=sys.argv[1], resume=True,
                                         trials=3)
            trials = [study.ask() for _ in range(3)]
            os.kill(os.getpid(), signal.SIGKILL)
        """
        self.start(program, self.path).wait()
        # All of them find the same three, and the budget is spent.
        others = [self.start(WORKER.replace('"y": vernier.Float(-5, 5)', "").replace(', trial["y"]', ", 0"), self.path, 3, 0.05, "gp")
                  for _ in range(3)]
        lines = [line for process in others for line in self.finish(process).splitlines()]
        self.assertEqual(sorted(line.split()[0] for line in lines), ["1", "2", "3"])

    def test_a_death_is_noticed_before_the_budget_counts_as_spent(self):
        study = make(self.path, trials=2)
        other = self.start("""
            import sys, time, vernier
            trial = vernier.open_study("s", sys.argv[1]).ask()
            print(trial.number, flush=True)
            time.sleep(100)
        """, self.path)
        self.assertEqual(other.stdout.readline(), "1\n")
        study.tell(study.ask(), 1)
        with self.assertRaises(vernier.ExhaustedError):
            study.ask()
        other.kill()
        other.wait()
        trial = study.ask()
        self.assertEqual(trial.number, 1)
        study.tell(trial, 1)
        self.assertEqual(study.state, "COMPLETED")

    def test_a_folder_that_cannot_be_written(self):
        if os.geteuid() == 0:
            self.skipTest("root may write everywhere")
        make(self.path).close()
        os.unlink(f"{self.path}.owner")
        os.chmod(self.folder, 0o500)
        self.addCleanup(os.chmod, self.folder, 0o700)
        with self.assertRaisesRegex(vernier.StoreError, "cannot be written"):
            vernier.open_study("s", self.path)

    def test_the_end_of_the_interpreter_leaves_one_file(self):
        make(self.path)
        program = """
            import sys, vernier
            def main():
                study = vernier.open_study("s", sys.argv[1])
                study._handle._met = float("inf")       # As if another process had been there.
                study.ask()
            main()
        """
        self.finish(self.start(program, self.path))
        self.assertFalse(os.path.exists(f"{self.path}-wal"))

    # --- the command line and servers ---
    def test_the_command_line_takes_turns(self):
        if BIN is None:
            self.skipTest("needs the folder of the programs")
        processes = [self.start(WORKER, self.path, 60, 0.02, "random") for _ in range(3)]
        processes[0].stdout.readline()
        for arguments in (("study", "show", "s"), ("study", "list"), ("trial", "list", "s"), ("study", "replay", "s", "--verify")):
            status, text = self.vernier(*arguments)
            self.assertEqual(status, 0, text)
        for process in processes:
            self.finish(process)
        status, text = self.vernier("study", "replay", "s", "--verify")
        self.assertEqual(status, 0, text)
        self.assertIn("60 of 60 decisions verified", text)

    def test_watch_and_wait_follow_programs(self):
        if BIN is None:
            self.skipTest("needs the folder of the programs")
        processes = [self.start(WORKER, self.path, 30, 0.1, "random") for _ in range(2)]
        for process in processes:
            process.stdout.readline()
        commands = [subprocess.Popen([BIN / "vernier", "--store", self.path, "study", command, "s"], text=True,
                                     stdout=subprocess.PIPE, stderr=subprocess.STDOUT) for command in ("watch", "wait")]
        for process in processes:
            self.finish(process)
        watched, waited = (command.communicate(timeout=60)[0] for command in commands)
        self.assertEqual([command.returncode for command in commands], [0, 0], watched + waited)
        self.assertEqual(watched.count("COMPLETED") >= 30, True, watched)
        self.assertIn("study 's' is COMPLETED", waited)

    def test_watch_ends_with_the_programs_of_a_study_that_does_not(self):
        if BIN is None:
            self.skipTest("needs the folder of the programs")
        study = make(self.path)
        study.optimize(lambda trial: 1.0, trials=2)
        status, text = self.vernier("study", "watch", "s")
        self.assertEqual(status, 0, text)
        self.assertEqual(text.splitlines()[-1], "vernier: study 's' is ACTIVE, and no program tunes it at present")
        status, text = self.vernier("study", "wait", "s")
        self.assertEqual(status, 2, text)
        self.assertNotIn("vernier run", text)

    def test_optimize_ends_when_somebody_pauses_or_stops_its_study(self):
        if BIN is None:
            self.skipTest("needs the folder of the programs")
        for command, hint in (("pause", "; `study.resume()` or `vernier study resume pause` lets it go on"),
                              ("stop", "; it stays ended, but create_study with another name and warm_start='stop' goes on from its trials")):
            with self.subTest(command):
                study = vernier.create_study(command, SPACE, minimize="loss", storage=self.path, algorithm="random")

                def train(trial):
                    if trial.number == 3:
                        self.assertEqual(self.vernier("study", command, command)[0], 0)
                    return 1.0

                with self.assertLogs("vernier", "WARNING") as logged:
                    self.assertEqual(study.optimize(train, trials=9).number, 1)
                self.assertEqual(len(study.trials), 3)
                [record] = logged.records
                self.assertTrue(record.getMessage().endswith("it takes no new trials" + hint), record.getMessage())
                with self.assertRaises(vernier.StateError) as caught:  # A call that begins no trial at all.
                    study.optimize(train, trials=1)
                self.assertEqual(str(caught.exception), record.getMessage())
        study = vernier.create_study("again", SPACE, minimize="loss", storage=self.path, algorithm="random", warm_start="stop")
        self.assertEqual(study.optimize(lambda trial: 1.0, trials=1).number, 1)

    def test_a_command_waits_for_its_turn(self):
        if BIN is None:
            self.skipTest("needs the folder of the programs")
        study = make(self.path)
        with study._handle.use():
            command = subprocess.Popen([BIN / "vernier", "--store", self.path, "study", "list"], text=True,
                                       stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
            time.sleep(0.5)
            self.assertIsNone(command.poll())
        self.assertIn("s", command.communicate(timeout=20)[0])
        self.assertEqual(command.returncode, 0)

    def serve(self):
        return servers.serve(self, BIN, self.path, self.folder)

    def end(self, daemon, by):
        daemon.send_signal(by)
        daemon.wait(timeout=20)

    def test_a_server_takes_the_file_and_gives_it_back(self):
        study = make(self.path)
        other = make(self.folder / "other.db")
        early = study.ask()
        processes = [self.start(WORKER, self.path, 80, 0.05, "random") for _ in range(2)]
        for process in processes:
            process.stdout.readline()
        daemon = self.serve()
        # Calls go through the server, also those about a trial that was asked for before.
        self.assertEqual(study.tell(early, 7).state, "COMPLETED")
        self.assertIsNotNone(study._handle._server)
        late = study.ask()
        self.assertEqual(other.ask().number, 1)
        self.assertTrue(vernier.connect(f"unix:{self.folder}/d.sock").open_study("s").trials)
        self.end(daemon, signal.SIGTERM)
        self.assertEqual(study.tell(late, 8).state, "COMPLETED")
        self.assertIsNone(study._handle._server)
        for process in processes:
            self.finish(process)
        records = study.trials
        self.assertEqual([(r.number, r.message) for r in records if r.state != "COMPLETED"], [])
        self.assertEqual(records[early.number - 1].metrics["loss"], 7)
        self.assertEqual(records[late.number - 1].metrics["loss"], 8)

    def test_servers_come_and_go(self):
        processes = []

        def start_two():
            """Waits until both have a trial."""
            new = [self.start(WORKER, self.path, 160, 0.04, "random") for _ in range(2)]
            processes.extend(new)
            return [process.stdout.readline() for process in new]

        lines = start_two()
        for by in (signal.SIGKILL, signal.SIGTERM):
            daemon = self.serve()
            lines += start_two()
            time.sleep(0.3)
            self.end(daemon, by)
            time.sleep(0.3)
        for process in processes:
            lines += process.stdout.readlines()  # With those that were read ahead.
            self.finish(process)
        self.check_trials(lines, 160)

    def test_a_study_that_a_server_created(self):
        # So that its number in the store is not that among the server's studies.
        make(self.path)
        vernier.delete_study("s", self.path)
        vernier.create_study("first", SPACE, minimize="loss", storage=self.path).close()
        daemon = self.serve()
        study = make(self.path)
        trial, late = study.ask(), study.ask()
        trial.report(1, loss=3)
        self.end(daemon, signal.SIGKILL)
        self.assertEqual(study.tell(trial).state, "COMPLETED")
        self.assertEqual(study.curve(trial)[0].metrics, {"loss": 3})
        daemon = self.serve()
        self.assertEqual(study.tell(late, 1).state, "COMPLETED")
        vernier.delete_study("s", self.path)
        with self.assertRaisesRegex(vernier.NotFoundError, "no study"):
            study.ask()
        self.end(daemon, signal.SIGTERM)
        with self.assertRaisesRegex(vernier.NotFoundError, "no study"):
            study.ask()
        self.assertEqual(len(vernier.open_study("first", self.path).trials), 0)

    def test_changes_whose_answer_was_lost_take_effect_once(self):
        study = make(self.path)
        study.close()

        def lose_answer(name, call):
            """Kills the server of the file once it has done the call, before it answers."""
            daemon = self.serve()
            vernier.study_names(self.path)
            served = study._handle._core
            server = served._connected()

            class Dying:
                def __getattr__(self, called):
                    def pass_on(*arguments):
                        answer = getattr(server, called)(*arguments)
                        if called != name:
                            return answer
                        test.end(daemon, signal.SIGKILL)
                        raise vernier.ServerUnavailableError("the server does not answer")

                    return pass_on

            test = self
            served._server = Dying()
            result = call()
            self.assertIsNotNone(daemon.poll())
            return result

        self.assertEqual(lose_answer("add_trial", lambda: study.enqueue({"x": 1, "y": 2})).number, 1)
        self.assertEqual(lose_answer("add_trial", lambda: study.add({"x": 1, "y": 3}, 4.0)).number, 2)
        self.assertEqual([record.state for record in study.trials], ["REQUESTED", "COMPLETED"])
        new = lose_answer("create_study", lambda: vernier.create_study("new", SPACE, minimize="loss", storage=self.path))
        self.assertEqual((new.name, new.state), ("new", "ACTIVE"))
        self.assertEqual(vernier.study_names(self.path), ["s", "new"])

    def test_trials_of_the_dead_are_taken_once_while_a_server_has_the_file(self):
        daemon = self.serve()
        program = """
            import os, signal, sys, vernier
            study = vernier.create_study("s", {"x": vernier.Float(-5, 5), "y": vernier.Float(-5, 5)}, minimize="loss",
                                         storage=sys.argv[1], trials=3, algorithm="random")
            trials = [study.ask() for _ in range(3)]
            os.kill(os.getpid(), signal.SIGKILL)
        """
        self.start(program, self.path).wait()
        # Those that find the budget spent look for dead processes again, while the trials run.
        others = [self.start(WORKER, self.path, 3, 0.5, "random") for _ in range(5)]
        lines = [line for process in others for line in self.finish(process).splitlines()]
        lines = [line for line in lines if line[0].isdigit()]  # Without warnings of those that got no trial.
        self.end(daemon, signal.SIGTERM)
        self.check_trials(lines, 3)

    def test_calls_of_own_classes_wait_for_the_end_of_a_server(self):
        daemon = self.serve()
        program = """
            import sys, vernier
            class Middle(vernier.Optimizer):
                def suggest(self, request):
                    return [{"x": 0.25}] * request.count
            study = vernier.create_study("own", {"x": vernier.Float(-5, 5)}, minimize="loss", storage=sys.argv[1],
                                         algorithm=Middle())
            print(study.ask().params["x"], flush=True)
        """
        process = self.start(program, self.path)
        self.assertIn(f"{self.path}: waits until the server at unix:{self.folder}/d.sock has closed the file; stop the server",
                      process.stdout.readline())
        self.assertEqual(vernier.study_names(self.path), [])
        self.end(daemon, signal.SIGTERM)
        self.assertEqual(self.finish(process), "0.25\n")


if __name__ == "__main__":
    if len(sys.argv) > 1 and not sys.argv[1].startswith("-") and os.path.isdir(sys.argv[1]):
        BIN = pathlib.Path(sys.argv.pop(1))
    unittest.main()
