#!/usr/bin/env python3
"""Runs Optuna's own tests against vernier.optuna: those of its public interface, as far as optuna_suite.txt selects them.

usage: optuna_suite.py [--source DIR] [--all] [PYTEST_OPTION ...]

Runs in the environment that `scripts/lib/python_venv optuna` makes. --source: an unpacked source
distribution of Optuna; without it pip downloads the pinned version, which has the tests in it. --all: also what the selection
leaves out. Exit status 77, which ctest takes as skipped, if it cannot be downloaded.
"""

import argparse
import contextlib
import importlib
import importlib.abc
import importlib.util
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tarfile
import tempfile
import types

VERSION = "5.0.0"
HERE = pathlib.Path(__file__).resolve().parent
SKIPPED = 77
SECONDS = 15  # That a test may take.
HELPER = "optuna.testing.visualization"  # A part of the tests that lies in the package.


# --- optuna is vernier.optuna ---
class Alias(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Finds `optuna.x` as `vernier.optuna.x`, and what only Optuna's own tests use among the stand-ins."""

    def __init__(self, source):
        self.source = source
        self.stand_ins = stand_ins()

    def find_spec(self, name, path=None, target=None):
        if name != "optuna" and not name.startswith("optuna."):
            return None
        return importlib.util.spec_from_loader(name, self, is_package=True)

    def create_module(self, spec):
        if spec.name in self.stand_ins:
            module = types.ModuleType(spec.name)
            vars(module).update(self.stand_ins[spec.name])
            return module
        if spec.name == HELPER:
            return types.ModuleType(spec.name)
        if re.match(r"optuna\.(importance|visualization)\.(matplotlib\.)?_", spec.name):
            return Private(spec.name)
        try:
            return importlib.import_module(f"vernier.{spec.name}")
        except ModuleNotFoundError as error:
            raise ModuleNotFoundError(f"no module {spec.name}", name=spec.name) from error

    def exec_module(self, module):
        if module.__name__ == HELPER:
            path = self.source.joinpath(*module.__name__.split(".")).with_suffix(".py")
            exec(compile(path.read_text(), path, "exec"), vars(module))


class Private(types.ModuleType):
    """A private module of Optuna's. Files of tests import it; the tests that use it are left out."""

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)


        def private(*arguments, **options):
            raise NotImplementedError(f"{self.__name__}.{name} is private to Optuna")

        return private


def stand_ins():
    import matplotlib
    import plotly.graph_objects as go
    from matplotlib import axes, pyplot
    from vernier import optuna
    from vernier.optuna import _optimize, _tell, study, trial

    class DeterministicPruner(optuna.pruners.BasePruner):
        def __init__(self, is_pruning):
            self.is_pruning = is_pruning

        def prune(self, study, trial):
            return self.is_pruning

    def deterministic(params):
        return optuna.samplers.PartialFixedSampler(params, optuna.samplers.RandomSampler())

    class StorageSupplier(contextlib.ExitStack):
        def __init__(self, mode, **options):
            super().__init__()
            self.mode = mode

        def __enter__(self):
            super().__enter__()
            if self.mode == "inmemory":
                return optuna.storages.InMemoryStorage()
            folder = self.enter_context(tempfile.TemporaryDirectory())
            return optuna.storages.RDBStorage(f"sqlite:///{folder}/study.db")

    class NamedTemporaryFilePool:
        def __init__(self, **options):
            self.folder = tempfile.TemporaryDirectory()

        def __enter__(self):
            return types.SimpleNamespace(name=os.path.join(self.folder.__enter__(), "study.db"))

        def __exit__(self, *error):
            self.folder.__exit__(*error)

    def fail_objective(trial):
        raise ValueError

    def pruned_objective(trial):
        raise optuna.TrialPruned

    matplotlib.use("agg")
    # A picture by plotly needs a browser.
    go.Figure.write_image = lambda self, *arguments, **options: self.to_json()
    found = types.SimpleNamespace(is_successful=lambda: True)
    modes = {"STORAGE_MODES": ["inmemory", "sqlite"], "StorageSupplier": StorageSupplier}
    return {
        "optuna.testing": {},
        "optuna.testing.storages": modes,
        "optuna.testing.objectives": {"fail_objective": fail_objective, "pruned_objective": pruned_objective},
        "optuna.testing.samplers": {"DeterministicSampler": deterministic},
        "optuna.testing.pruners": {"DeterministicPruner": DeterministicPruner},
        "optuna.testing.tempfile_pool": {"NamedTemporaryFilePool": NamedTemporaryFilePool},
        "optuna.study.study": {**vars(study), "_SYSTEM_ATTR_METRIC_NAMES": study._METRIC_NAMES},
        "optuna.study._constrained_optimization": {"_CONSTRAINTS_KEY": trial.CONSTRAINTS},
        "optuna.study._tell": {**vars(_tell), "_tell_with_warning": _tell.tell},
        "optuna.study._optimize": vars(_optimize),
        "optuna.samplers._grid": {"GridValueType": object},
        "optuna.samplers._brute_force": {"_TreeNode": object, "_enumerate_candidates": None, "_UNEXPANDED_NODE": None},
        "optuna.trial._trial": {**vars(trial), "_LazyTrialSystemAttrs": dict},
        "optuna._imports": {"try_import": contextlib.nullcontext},
        "optuna.visualization._plotly_imports": {"_imports": found, "go": go},
        "optuna.visualization.matplotlib._matplotlib_imports": {"_imports": found, "Axes": axes.Axes, "plt": pyplot},
    }


def reset_logging():
    """Makes the default handler write to what stderr is now."""
    from vernier.optuna import logging

    logging.disable_default_handler()
    logging._handler = None
    logging.get_logger("optuna")


# --- what is run ---
def selection():
    """Files, and the tests of them that are left out, with the reasons."""
    files, left_out, reason = [], {}, ""
    for line in (HERE / "optuna_suite.txt").read_text().splitlines():
        if line.startswith("## "):
            reason = line[3:]
        elif "::" in line:
            left_out[line] = reason
        elif line and not line.startswith("#"):
            files.append(line)
    return files, left_out


def _too_long(number, frame):
    raise TimeoutError(f"the test takes more than {SECONDS} s")


class Selection:
    """A plugin of pytest."""

    def __init__(self, left_out):
        self.left_out, self.counts = left_out, {}

    def pytest_collection_modifyitems(self, config, items):
        chosen, dropped = [], []
        for item in items:
            name = item.nodeid.split("tests/", 1)[-1]
            reason = self.left_out.get(name) or self.left_out.get(name.split("[", 1)[0])
            if reason:
                self.counts[reason] = self.counts.get(reason, 0) + 1
            (dropped if reason else chosen).append(item)
        config.hook.pytest_deselected(items=dropped)
        items[:] = chosen

    def pytest_runtest_setup(self, item):
        signal.signal(signal.SIGALRM, _too_long)
        signal.alarm(SECONDS)

    def pytest_runtest_teardown(self, item):
        signal.alarm(0)

    def pytest_terminal_summary(self, terminalreporter):
        for reason, count in sorted(self.counts.items(), key=lambda pair: -pair[1]):
            terminalreporter.write_line(f"left out, {count}: {reason}")


def source():
    """The unpacked source distribution, downloaded once."""
    folder = pathlib.Path(os.environ.get("VERNIER_VENVS", pathlib.Path.home() / ".cache/vernier")) / f"optuna-{VERSION}-source"
    if not (folder / "tests").is_dir():
        with tempfile.TemporaryDirectory() as name:
            command = [sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check", "--no-deps",
                       "--no-binary", ":all:", f"optuna=={VERSION}", "--dest", name]
            if subprocess.run(command).returncode != 0:
                print(f"optuna {VERSION} cannot be downloaded: skipped", file=sys.stderr)
                sys.exit(SKIPPED)
            [archive] = pathlib.Path(name).glob("optuna-*.tar.gz")
            with tarfile.open(archive) as tar:
                tar.extractall(name)
            shutil.copytree(pathlib.Path(name) / f"optuna-{VERSION}", folder, dirs_exist_ok=True)
    return folder


def in_environment():
    """Begins again with the Python that has pytest, unless this one has it."""
    if importlib.util.find_spec("pytest") and importlib.util.find_spec("plotly"):
        return
    made = subprocess.run([HERE.parents[1] / "scripts/lib/python_venv", "optuna"], stdout=subprocess.PIPE, text=True)
    if made.returncode != 0:
        print("the packages cannot be downloaded: skipped", file=sys.stderr)
        sys.exit(SKIPPED)
    python = made.stdout.strip()
    os.execv(python, [python, __file__, *sys.argv[1:]])


def main():
    in_environment()
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--source", type=pathlib.Path)
    parser.add_argument("--all", action="store_true")
    arguments, rest = parser.parse_known_args()
    root = (arguments.source or source()).resolve()
    import pytest

    sys.meta_path.insert(0, Alias(root))
    import optuna

    assert optuna.__name__ == "vernier.optuna"
    optuna.pruners._percentile = None  # Imported by a test, for its internals.
    optuna.logging._reset_library_root_logger = reset_logging
    files, left_out = selection()
    # The tests import each other as `tests.…`; Optuna itself, which lies beside them, must stay out of sight.
    with tempfile.TemporaryDirectory() as folder:
        os.symlink(root / "tests", pathlib.Path(folder) / "tests")
        os.chdir(folder)
        sys.path.insert(0, folder)
        options = ["--quiet", "--no-header", "-p", "no:cacheprovider", "--rootdir", folder, "-W", "ignore", *rest]
        targets = [f"tests/{name}" for name in files]
        sys.exit(pytest.main([*options, *targets], plugins=[Selection({} if arguments.all else left_out)]))


if __name__ == "__main__":
    main()
