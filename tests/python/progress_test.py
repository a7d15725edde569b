#!/usr/bin/env python3
"""Progress of optimize under a pseudo-terminal, as a person sees it: the bytes go through a small model of a screen."""

import fcntl
import os
import pty
import re
import signal
import struct
import subprocess
import sys
import termios
import time
import unittest

PROGRAM = """
import logging, os, sys, time
import vernier

def train(trial):
    time.sleep({seconds})
    {body}
    return (trial["x"] - 1) ** 2

if __name__ == "__main__":
    study = vernier.create_study("s", {{"x": vernier.Float(-5, 5)}}, minimize="loss", algorithm="random")
    before = sys.stdout, sys.stderr
    {setup}
    try:
        study.optimize(train, {arguments})
    finally:
        assert (sys.stdout, sys.stderr) == before
    {after}
"""


def program(body="pass", arguments="trials=8", seconds=0.12, setup="pass", after="pass"):
    return PROGRAM.format(body=body, arguments=arguments, seconds=seconds, setup=setup, after=after)


class Screen:
    """Lines of a terminal that knows \\r, \\n and "erase to the end of the line", and never scrolls."""

    def __init__(self, columns):
        self.columns = columns
        self.lines, self.row, self.column = [""], 0, 0
        self.widest = 0

    def feed(self, text):
        for token in re.findall(r"\x1b\[K|\r|\n|[^\x1b\r\n]", text):
            line = self.lines[self.row]
            if token == "\x1b[K":
                self.lines[self.row] = line[: self.column]
            elif token == "\r":
                self.column = 0
            elif token == "\n":
                self.row, self.column = self.row + 1, 0
                self.lines.append("")
            else:
                self.lines[self.row] = line[: self.column].ljust(self.column) + token + line[self.column + 1 :]
                self.column += 1
                self.widest = max(self.widest, self.column)


def take_terminal():
    """In the child: Ctrl-C of its terminal reaches it, also if this test runs in the background of a shell."""
    fcntl.ioctl(0, termios.TIOCSCTTY, 0)
    signal.signal(signal.SIGINT, signal.SIG_DFL)


class Run:
    """A program on a terminal of its own."""

    def __init__(self, text, columns=100, interrupt_after=None, **environment):
        master, slave = pty.openpty()
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
        environment = {**os.environ, "TERM": "xterm", "PYTHONIOENCODING": "utf-8", "PYTHON_COLORS": "0", **environment}
        environment.pop("COLUMNS", None)
        with open(os.path.join(os.environ["TMP_PROGRAMS"], f"program{time.monotonic_ns()}.py"), "w") as file:
            file.write(text)
        child = subprocess.Popen([sys.executable, file.name], stdin=slave, stdout=slave, stderr=slave, env=environment,
                                 start_new_session=True, preexec_fn=take_terminal)
        os.close(slave)
        self.text = ""
        started = time.monotonic()
        while True:
            try:
                part = os.read(master, 65536)
            except OSError:  # The other end is closed.
                break
            if not part:
                break
            self.text += part.decode()
            if interrupt_after is not None and re.search(interrupt_after, self.text):
                os.write(master, b"\x03")
                interrupt_after = None
            if time.monotonic() - started > 60:
                child.send_signal(signal.SIGKILL)
        self.status = child.wait()
        os.close(master)
        self.screen = Screen(columns)
        self.screen.feed(self.text.replace("\r\n", "\n"))
        self.lines = [line.rstrip() for line in self.screen.lines if line.strip()]


class Terminal(unittest.TestCase):
    def test_one_line_that_ends_complete(self):
        run = Run(program("if trial.number == 3: raise ValueError('no')",
                          setup="logging.getLogger('vernier').addHandler(logging.NullHandler())"))
        self.assertEqual(run.status, 0, run.text)
        [line] = run.lines
        self.assertRegex(line, r"^s: 8/8 trials  █{16}  best \S+ \(trial \d\)  1 failed  0:0\d$")
        shown = re.findall(r"s: (\d)/8", run.text)
        self.assertEqual(shown, sorted(shown))
        self.assertGreater(len(set(shown)), 2)
        self.assertIn("left", run.text)
        self.assertIn("1 running", run.text)
        # The bar does not jump.
        self.assertEqual({len(bar) for bar in re.findall("[█░]+", run.text)}, {16})
        # It is written over itself, in one piece, and never longer than the terminal.
        self.assertEqual(run.text.count("\n"), 1)
        self.assertLess(run.screen.widest, 100)

    def test_a_narrow_terminal(self):
        for columns in (40, 20, 5):
            run = Run(program(), columns=columns)
            self.assertEqual(len(run.lines), 1, run.text)
            self.assertLess(run.screen.widest, columns)

    def test_text_without_unicode(self):
        [line] = Run(program(), PYTHONIOENCODING="ascii").lines
        self.assertIn("########", line)

    def test_what_is_printed_and_logged_appears_above(self):
        body = "print('value of', trial.number); logging.warning('logged %d', trial.number); print('a', end='', flush=trial.number % 2 == 0); print('b')"
        run = Run(program(body, setup="logging.basicConfig(format='LOG %(message)s')"))
        wanted = [line for n in range(1, 9) for line in (f"value of {n}", f"LOG logged {n}", "ab")]
        self.assertEqual(run.lines[:-1], wanted)
        self.assertIn("s: 8/8 trials", run.lines[-1])

    def test_a_line_without_an_end_stays(self):
        run = Run(program("if trial.number == 8: print('the end', end='')"))
        self.assertEqual(run.lines[0], "the end")
        self.assertIn("s: 8/8 trials", run.lines[1])

    def test_threads_and_processes(self):
        for executor in ("threads", "spawn", "fork"):
            with self.subTest(executor):
                # In one piece, since processes have no lock in common.
                body = "sys.stdout.write(f'from {trial.number}\\n')"
                run = Run(program(body, f"trials=9, parallel=3, executor={executor!r}", seconds=0.3))
                self.assertEqual(run.status, 0, run.text)
                self.assertIn("s: 9/9 trials", run.lines[-1])
                self.assertIn("3 running", run.text)
                self.assertEqual(len(re.findall(r"from \d", run.text)), 9)

    def test_an_interrupt_ends_the_line(self):
        for parallel in (1, 3):
            with self.subTest(parallel=parallel):
                run = Run(program(arguments=f"trials=1000, parallel={parallel}"), interrupt_after=r"s: \d+/1000")
                self.assertEqual(run.lines[-1], "KeyboardInterrupt")
                [shown] = [line for line in run.lines if "/1000" in line]
                self.assertRegex(shown, r"^(\^C)?s: \d+/1000 trials.*0:0\d$")
                self.assertNotIn("AssertionError", run.text)

    def test_shown_only_where_it_is_seen(self):
        quick = program(seconds=0, after="print('end')")
        self.assertEqual(Run(quick).lines, ["end"])
        self.assertEqual(Run(program(arguments="trials=8, progress=False")).lines, [])
        self.assertEqual(Run(program(), TERM="dumb").lines, [])
        for arguments, wanted in (("trials=8", ""), ("trials=8, progress=True", r"s: 8/8 trials  best \S+ \(trial \d\)  0:0\d\n")):
            piped = subprocess.run([sys.executable, "-c", program(arguments=arguments)], capture_output=True, text=True)
            self.assertRegex(piped.stderr, f"^{wanted}$")
        self.assertIn("s: 8/8 trials", Run(program(seconds=0, arguments="trials=8, progress=True")).lines[0])

    def test_without_a_number_of_trials(self):
        run = Run(program(arguments="timeout=1"))
        self.assertRegex(run.lines[0], r"^s: \d+ trials  best \S+ \(trial \d\)  0:01$")
        self.assertIn("0:00 left", run.text)

    def test_a_closed_terminal_does_not_end_the_study(self):
        run = Run(program(setup="os.close(2)", arguments="trials=8, progress=True", after="print(len(study.trials))"))
        self.assertEqual((run.status, run.lines[-1]), (0, "8"), run.text)

    def test_what_is_refused(self):
        run = subprocess.run([sys.executable, "-c", program(arguments="trials=1, progress='yes'")], capture_output=True, text=True)
        self.assertIn("TypeError: progress: must be True or False, got 'yes'", run.stderr)


class Pages(unittest.TestCase):
    """What notebooks show of studies and trials."""

    def test_everything_is_escaped(self):
        import xml.etree.ElementTree as xml

        import figure_studies
        import vernier

        study, open_trial = figure_studies.everything()
        rubbish = figure_studies.rubbish()
        for thing in (study, study.trials, *study.trials, rubbish, rubbish.trials, rubbish.trials[0], figure_studies.empty()):
            html = thing._repr_html_()
            root = xml.fromstring(html.replace("&emsp;", " "))
            self.assertEqual({element.tag for element in root.iter()} - {
                "div", "strong", "table", "thead", "tbody", "tr", "th", "td"}, set())
        self.assertIn(figure_studies.RUBBISH[:20], "".join(xml.fromstring(rubbish.trials._repr_html_()).itertext()))
        text = "".join(xml.fromstring(study.trials._repr_html_()).itertext())
        self.assertIn("24 trials", text)
        self.assertIn("out of <memory>", text)
        self.assertEqual(study.trials._repr_html_().count("<tr>"), 22)  # With the head, and a row of dots.
        self.assertIn("1 running", study._repr_html_())
        del open_trial
        # A page is no place for a traceback.
        with self.subTest("gone"):
            import tempfile

            with tempfile.TemporaryDirectory() as folder:
                path = os.path.join(folder, "s.db")
                gone = vernier.create_study("gone", {"x": [1]}, minimize="y", storage=path)
                vernier.delete_study("gone", path)
                self.assertIsNone(gone._repr_html_())
                gone.close()


if __name__ == "__main__":
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        os.environ["TMP_PROGRAMS"] = folder
        unittest.main()
