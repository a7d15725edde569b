#!/usr/bin/env python3
"""Types into a real shell what its user would, presses Tab, and reads the line that comes of it.

usage: completion_in_shell_test.py BIN_DIR bash|zsh|fish      exit code 77: the shell is not installed
"""

import os
import pathlib
import pty
import re
import select
import shutil
import subprocess
import sys
import tempfile
import time

SKIPPED = 77
PATIENCE = 20
MARK = "=== "

# What is typed before Tab, and what the line is then. One possible end each, so that shells do not differ.
LINES = [
    ("vernier stu", "vernier study"),
    ("vernier study cr", "vernier study create"),
    ("vernier study create --dry", "vernier study create --dry-run"),
    ("vernier trial logs --fol", "vernier trial logs --follow"),
    ("vernier trial logs fir", "vernier trial logs first"),
    # Options and their values stand between the words of a command.
    ("vernier --store trial study cr", "vernier --store trial study create"),
    ("vernier trial logs -o json sec", "vernier trial logs -o json second"),
    # Only the first argument is a study; files complete the others, and the values of options.
    ("vernier trial logs first exam", "vernier trial logs first example.yaml"),
    ("vernier run exam", "vernier run example.yaml"),
    ("vernier study list --store exam", "vernier study list --store example.yaml"),
    # No command of its own: nothing is offered twice.
    ("vernier study list stu", "vernier study list stu"),
]


class Terminal:
    """A shell that believes to be used by a person."""

    def __init__(self, command, env, folder):
        self.pid, self.file = pty.fork()
        if self.pid == 0:
            os.chdir(folder)
            os.execvpe(command[0], command, env)
        self.seen = ""

    def type(self, text):
        os.write(self.file, text.encode())

    def read_until(self, pattern):
        deadline = time.monotonic() + PATIENCE
        while not (found := re.search(pattern, self.seen)):
            ready, _, _ = select.select([self.file], [], [], max(0.0, deadline - time.monotonic()))
            if not ready:
                raise AssertionError(f"no {pattern!r} in {self.seen!r}")
            self.seen += os.read(self.file, 65536).decode(errors="replace")
        self.seen = self.seen[found.end():]
        return found

    def close(self):
        os.close(self.file)  # The shell is hung up.
        os.waitpid(self.pid, 0)


def by_terminal(shell, env, folder):
    """Completes each line in one interactive shell: Tab, then the line is turned into an argument and printed."""
    flags = {"bash": ["--norc", "--noprofile", "-i"], "zsh": ["-f", "-i"]}[shell]
    terminal = Terminal([shell, *flags], env, folder)
    answers = []
    try:
        # What a command prints is told apart from the command as it was typed by the text of $Q.
        terminal.type(f"PS1='> '; Q='{MARK}'; bind 'set bell-style none' 2>/dev/null; unsetopt beep 2>/dev/null\n")
        terminal.type(f"source <(vernier completion {shell}); echo \"$Q\"sourced\n")
        terminal.read_until(MARK + "sourced")
        for line, _ in LINES:
            # Ctrl-A and Ctrl-E: to the beginning and the end of the line.
            terminal.type(f"{line}\t\x01echo \"$Q\"'\x05'\"|\"\n")
            answers.append(terminal.read_until(re.escape(MARK) + r"([^|]*)\|").group(1).strip())
    finally:
        terminal.close()
    return answers


def by_fish(env, folder):
    """Asks fish for the candidates; one of them is what Tab puts in."""
    answers = []
    for line, _ in LINES:
        script = "vernier completion fish | source; complete -C $argv[1]"
        done = subprocess.run(["fish", "--no-config", "-c", script, line], cwd=folder, env=env, capture_output=True,
                              text=True, timeout=PATIENCE)
        assert not done.stderr, done.stderr
        words = [candidate.split("\t")[0] for candidate in done.stdout.splitlines()]
        head = line.rpartition(" ")[0]
        answers.append(f"{head} {words[0]}" if len(words) == 1 else f"{line}{words or ''}")
    return answers


def main():
    bin_dir, shell = pathlib.Path(sys.argv[1]).resolve(), sys.argv[2]
    if shutil.which(shell) is None:
        print(f"skipped: {shell} is not installed")
        sys.exit(SKIPPED)
    with tempfile.TemporaryDirectory(prefix="vernier-completion-") as name:
        folder = pathlib.Path(name)
        env = {"PATH": f"{bin_dir}:{os.environ['PATH']}", "HOME": name, "TERM": "dumb", "LC_ALL": "C.UTF-8",
               "VERNIER_STORE": str(folder / "store" / "vernier.db")}
        (folder / "store").mkdir()
        (folder / "example.yaml").write_text("study: first\nobjective: {minimize: loss}\n"
                                             "parameters: {x: {float: [0, 1]}}\nbudget: {trials: 1}\n")
        for words in (["example.yaml"], ["example.yaml", "--name", "second"]):
            subprocess.run(["vernier", "study", "create", *words], cwd=folder, env=env, check=True,
                           stdout=subprocess.DEVNULL, timeout=PATIENCE)
        answers = by_fish(env, folder) if shell == "fish" else by_terminal(shell, env, folder)
    failed = [f"{line!r}: expected {expected!r}, got {answer!r}"
              for (line, expected), answer in zip(LINES, answers, strict=True) if answer != expected]
    print("\n".join(failed) or f"{shell}: {len(LINES)} lines completed as expected")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
