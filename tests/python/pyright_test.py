#!/usr/bin/env python3
"""Checks the types of the package by pyright, as editors do: of its sources, with and without the packages of trainers; of what
users see of it; and of two programs of users, one of which has wrong types. Exit status 77 if pyright cannot be installed.
usage: pyright_test.py SOURCE_DIR"""

import json
import os
import pathlib
import subprocess
import sys
import tempfile

# Share of the public names whose type is known. What is missing are classes of other packages, from which callbacks are derived.
COMPLETE = 0.985

RIGHT = """\
import vernier

study = vernier.create_study("typed", {"lr": vernier.Float(1e-5, 0.1, log=True), "opt": ["sgd", "adam"]}, maximize="accuracy")


def train(trial: vernier.Trial) -> float:
    trial.report(1, accuracy=0.5)
    return 0.5 if trial.should_stop() else 0.9


study.optimize(train, trials=3, parallel=2)
best = study.best
if best is not None:
    print(best.number + 1, best.params["lr"])
"""
WRONG = """\
import vernier

vernier.Float("low", 1)
study = vernier.create_study("typed", {"x": vernier.Float(0, 1)}, maximize=1)
study.tell(1.5, 0.5)
"""


def pyright(python, *words, path="", packages_of=sys.executable):
    environment = {**os.environ, "PYTHONPATH": path, "PYRIGHT_PYTHON_IGNORE_WARNINGS": "1"}
    result = subprocess.run([python, "-m", "pyright", "--outputjson", "--pythonpath", packages_of, *map(str, words)],
                            capture_output=True, text=True, env=environment, check=False)
    return json.loads(result.stdout)


def errors(report):
    return [f"{pathlib.Path(at['file']).name}:{at['range']['start']['line'] + 1}: {at['message']}"
            for at in report["generalDiagnostics"] if at["severity"] == "error"]


def environment(source, name):
    """Its Python; None if it cannot be had."""
    made = subprocess.run([source / "scripts/lib/python_venv", name], stdout=subprocess.PIPE, text=True, check=False)
    return made.stdout.strip() if made.returncode == 0 else None


def main():
    source = pathlib.Path(sys.argv[1]).resolve()
    python = environment(source, "pyright")
    if python is None:
        print("pyright cannot be installed", file=sys.stderr)
        sys.exit(77)
    # Without the packages that are integrated, and with them.
    trainers = environment(source, "trainers")
    for interpreter in [sys.executable, *([trainers] if trainers else [])]:
        found = errors(pyright(python, "--project", source, packages_of=interpreter))
        assert not found, "\n".join(found)

    package = source / "python"
    seen = pyright(python, "--ignoreexternal", "--verifytypes", "vernier", path=package)["typeCompleteness"]["completenessScore"]
    assert seen >= COMPLETE, f"the types of {seen:.1%} of the public names are known, must be at least {COMPLETE:.1%}"

    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        (folder / "pyrightconfig.json").write_text(json.dumps({"extraPaths": [str(package)], "reportMissingModuleSource": False}))
        (folder / "right.py").write_text(RIGHT)
        (folder / "wrong.py").write_text(WRONG)
        found = errors(pyright(python, "--project", folder))
    assert [at.split(":")[:2] for at in found] == [["wrong.py", "3"], ["wrong.py", "4"], ["wrong.py", "5"]], "\n".join(found)
    print(f"pyright finds no error; the types of {seen:.1%} of the public names are known")


if __name__ == "__main__":
    main()
