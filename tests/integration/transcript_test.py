#!/usr/bin/env python3
"""Types the commands of a document into a shell and compares what they print with what the document says.

  transcript_test.py SOURCE_DIR BIN_DIR FILE.md [--update]

In the document:
  ```console                    a block of commands, each after "$ ", and what they print
  <!-- file: NAME -->           before a block: the block is that file, written where the shell is by then
  <!-- same as: PATH -->        before a block: the block has the content of that file of the repository
  <!-- fails -->                before a block: each of its commands fails; else none may
A line that is "…" alone stands for any number of lines. Times, durations and folders are not compared.
--update puts what the commands print now into the document, into blocks without "…"; read the difference before committing it.
"""

import argparse
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

BLOCK = re.compile(r"(?:^<!-- (?P<what>file|same as|fails):? ?(?P<name>\S*) -->\n)?^```(?P<kind>\w*)\n(?P<text>.*?)^```$", re.M | re.S)
ALIKE = [
    (re.compile(r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(\.\d+)?( ?(Z|UTC|[+-]\d\d:?\d\d))?"), "<time>"),
    (re.compile(r"\b\d\d:\d\d:\d\d\b"), "<clock>"),
    (re.compile(r" *(?<![\w.])(\d+h)?(\d+m)?\d+(\.\d+)?(ms|s)\b"), " <duration>"),
    (re.compile(r"\b\d+(\.\d+)? (KiB|MiB|GiB|TiB)"), "<size>"),
]
SECONDS = 240  # Of one command.


class Shell:
    """Runs commands one after the other in a folder of its own; `cd` holds for those that follow."""

    def __init__(self, folder, source, bin_dir):
        self.folder, self.where = folder, folder
        # The sources, as a user has them.
        shutil.copytree(source / "examples", folder / "examples", ignore=shutil.ignore_patterns("__pycache__"))
        self.env = {**os.environ, "PATH": f"{bin_dir}:{os.environ['PATH']}", "HOME": str(folder), "TZ": "UTC", "LC_ALL": "C.UTF-8",
                    "NO_COLOR": "1"}
        for name in ("VERNIER_STORE", "VERNIER_SERVER", "COLUMNS"):
            self.env.pop(name, None)
        self.hide_gpus()

    def hide_gpus(self):
        """The documents show a host without GPUs: the driver's library and its program are not found."""
        nothing = self.folder / ".no-gpus"
        nothing.mkdir()
        (nothing / "libnvidia-ml.so.1").touch()
        (nothing / "nvidia-smi").write_text("#!/bin/sh\nexit 1\n")
        (nothing / "nvidia-smi").chmod(0o755)
        self.env["PATH"] = f"{nothing}:{self.env['PATH']}"
        self.env["LD_LIBRARY_PATH"] = f"{nothing}:{self.env.get('LD_LIBRARY_PATH', '')}".rstrip(":")

    def run(self, command):
        script = command + "\nstatus=$?\npwd >\"$HOME/.where\"\nexit $status"
        done = subprocess.run(["bash", "-c", script], cwd=self.where, env=self.env, stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=SECONDS)
        self.where = pathlib.Path((self.folder / ".where").read_text().strip())
        return done.returncode, done.stdout.replace(str(self.folder), "~")


def normal(line):
    for pattern, word in ALIKE:
        line = pattern.sub(word, line)
    return re.sub(r"\s+", " ", line).strip()


def alike(expected, real):
    """Whether lines are as expected, where "…" is any number of lines."""
    if not expected:
        return not real
    if expected[0].strip() == "…":
        return any(alike(expected[1:], real[skipped:]) for skipped in range(len(real) + 1))
    return bool(real) and normal(expected[0]) == normal(real[0]) and alike(expected[1:], real[1:])


def commands(text):
    """The commands of a block with the lines that each prints."""
    found = []
    for line in text.splitlines():
        if line.startswith("$ "):
            found.append((line[2:], []))
        elif found and found[-1][0].endswith("\\"):
            found[-1] = (found[-1][0] + "\n" + line, [])
        elif found:
            found[-1][1].append(line)
        else:
            sys.exit(f"transcript_test: a block begins with {line!r}, not with a command")
    return found


class Document:
    def __init__(self, source, shell):
        self.source, self.shell, self.failures, self.count = source, shell, 0, 0

    def fail(self, *lines):
        self.failures += 1
        print(*lines, "", sep="\n")

    def transcript(self, text, fails):
        """Runs a block, and returns it with what was printed now."""
        lines = []
        for command, expected in commands(text):
            self.count += 1
            status, printed = self.shell.run(command)
            real = [line.rstrip() for line in printed.splitlines()]
            wanted = [line for line in expected if line]
            if bool(status) != fails or not alike(wanted, [line for line in real if line]):
                self.fail(f"$ {command}", *([f"exit {status}"] if bool(status) != fails else []), "expected:", *expected, "got:", *real)
            blank = [""] if expected and not expected[-1] else []
            kept = any(line.strip() == "…" for line in expected)
            lines += [f"$ {command}", *(expected if kept else real + blank)]
        return "\n".join(lines) + "\n"

    def block(self, match):
        what, name, text = match["what"], match["name"], match["text"]
        if match["kind"] == "console":
            return match[0].replace(text, self.transcript(text, what == "fails"))
        if what == "file":
            (self.shell.where / name).write_text(text)
        if what == "same as":
            self.count += 1
            if (self.source / name).read_text() != text:
                self.fail(f"the block is not {name}, which is:", (self.source / name).read_text())
        return match[0]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("source", type=pathlib.Path)
    parser.add_argument("bin_dir", type=pathlib.Path)
    parser.add_argument("document", type=pathlib.Path)
    parser.add_argument("--update", action="store_true")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="vernier-transcript-") as name:
        document = Document(args.source.resolve(), Shell(pathlib.Path(name).resolve(), args.source.resolve(), args.bin_dir.resolve()))
        text = args.document.read_text()
        updated = BLOCK.sub(document.block, text)
    if args.update:
        args.document.write_text(updated)
    print(f"{args.document.name}: {document.count - document.failures} of {document.count} as the document says")
    if not document.count:
        sys.exit("transcript_test: the document has nothing to check")
    sys.exit(1 if document.failures and not args.update else 0)


if __name__ == "__main__":
    main()
