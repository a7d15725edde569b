#!/usr/bin/env python3
"""Runs one *.test file of command lines against their expected output.

  run_golden.py BIN_DIR FILE.test [--update]

A test is lines of these kinds; a blank line ends a command's output, comments stand after one or at the top:
  $ COMMAND     run by bash in a folder of its own, where the folder files/ was copied to and $VERNIER_STORE is fresh
  OUTPUT        standard output, line by line, as printed after the times in it were made alike
  ! OUTPUT      standard error
  ? CODE        exit code; 0 where it is not given
--update writes down what the commands print now; read the difference before committing it.
"""
import argparse
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
ALIKE = [
    (re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)"), "<time>"),
    (re.compile(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d"), "<time>"),
    (re.compile(r"\b\d\d:\d\d:\d\d\b"), "<clock>"),
    (re.compile(r"\bprocess \d+ owns\b"), "process # owns"),
    (re.compile(r"\b\d\.\ds\b"), "#.#s"),
    (re.compile(r"\bcli-[0-9a-f]+-\d+-\d+\b"), "<request>"),
    (re.compile(r'("fingerprint": ?)"[^"]*"'), r'\1"<fingerprint>"'),
    (re.compile(r"(fingerprint: ).*"), r"\1<fingerprint>"),
]


class Step:
    def __init__(self, command):
        self.command, self.out, self.err, self.code = command, [], [], 0

    def lines(self):
        shown = ["$ " + self.command, *self.out, *("! " + line for line in self.err)]
        return shown + ([f"? {self.code}"] if self.code else [])


def parse(text):
    """The file as comments, blank lines and steps, in order."""
    parts = []
    for line in text.splitlines():
        last = parts[-1] if parts and isinstance(parts[-1], Step) else None
        if line.startswith("$ "):
            parts.append(Step(line[2:]))
        elif last is None or not line:
            parts.append(line)
        elif line.startswith("! "):
            last.err.append(line[2:])
        elif line.startswith("? "):
            last.code = int(line[2:])
        else:
            last.out.append(line)
    return parts


def normal(text, folder):
    text = text.replace(str(folder), "<folder>")
    for pattern, word in ALIKE:
        text = pattern.sub(word, text)
    # A blank line would end the expectation.
    return [line.rstrip() or "." for line in text.splitlines()]


def hide_gpus(folder, env):
    """What commands print must not depend on the GPUs of the host: its driver's library and its program are not found."""
    nothing = folder / ".no-gpus"
    nothing.mkdir()
    (nothing / "libnvidia-ml.so.1").touch()
    (nothing / "nvidia-smi").write_text("#!/bin/sh\nexit 1\n")
    (nothing / "nvidia-smi").chmod(0o755)
    return {**env, "PATH": f"{nothing}:{env['PATH']}", "LD_LIBRARY_PATH": str(nothing)}


def run(step, folder, env):
    done = subprocess.run(["bash", "-c", step.command], cwd=folder, env=env, capture_output=True,
                          text=True, timeout=60, stdin=subprocess.DEVNULL)
    real = Step(step.command)
    real.out, real.err = normal(done.stdout, folder), normal(done.stderr, folder)
    real.code = done.returncode
    return real


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("bin_dir", type=pathlib.Path)
    parser.add_argument("test", type=pathlib.Path)
    parser.add_argument("--update", action="store_true")
    args = parser.parse_args()
    parts = parse(args.test.read_text())
    failed = 0
    with tempfile.TemporaryDirectory(prefix="vernier-golden-") as name:
        folder = pathlib.Path(name).resolve()
        shutil.copytree(HERE / "files", folder, dirs_exist_ok=True)
        env = {"PATH": f"{args.bin_dir.resolve()}:{os.environ['PATH']}", "HOME": str(folder), "TZ": "UTC",
               "LC_ALL": "C.UTF-8", "VERNIER_STORE": str(folder / "store.db")}
        env = hide_gpus(folder, env)
        for i, part in enumerate(parts):
            if not isinstance(part, Step):
                continue
            real = run(part, folder, env)
            if real.lines() != part.lines() and not args.update:
                failed += 1
                print("expected:", *part.lines(), "got:", *real.lines(), "", sep="\n")
            parts[i] = real
    if args.update:
        lines = [line for part in parts for line in (part.lines() if isinstance(part, Step) else [part])]
        args.test.write_text("\n".join(lines) + "\n")
    steps = sum(isinstance(part, Step) for part in parts)
    print(f"{args.test.name}: {steps - failed} of {steps} commands as expected")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
