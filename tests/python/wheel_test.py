#!/usr/bin/env python3
"""Builds wheels of the checkout by scripts/wheels, installs each into a clean virtual environment, and uses it there.
usage: wheel_test.py SOURCE_DIR
"""

import os
import pathlib
import platform
import subprocess
import sys
import tempfile

# A choice: the bound that the package promises.
MOST_BYTES = 10_000_000
PROGRAM = """
import os, sys, time, importlib.metadata
started = time.perf_counter()
import vernier
print("import", round((time.perf_counter() - started) * 1000), "ms")
assert vernier.__file__.startswith(sys.prefix), vernier.__file__
assert vernier.__version__ == importlib.metadata.version("vernier")
assert os.path.exists(os.path.join(os.path.dirname(vernier.__file__), "py.typed"))
study = vernier.create_study("s", {"x": vernier.Float(-5, 5)}, minimize="loss", storage="s.db")
study.optimize(lambda trial: (trial["x"] - 1) ** 2, trials=12, parallel=2)
assert len(study.trials) == 12 and study.replay().problems == []
from vernier import optuna
shim = optuna.create_study(storage="sqlite:///o.db")
shim.optimize(lambda trial: trial.suggest_float("x", -1, 1) ** 2, n_trials=3)
assert len(shim.trials) == 3 and "optuna" not in sys.modules
# Python has another copy of SQLite than the wheel, and two in one process must not have a store open.
assert "sqlite3" not in sys.modules
assert not importlib.metadata.requires("vernier") or all("extra" in r for r in importlib.metadata.requires("vernier"))
from vernier import _core
assert _core.version == vernier.__version__
# What a machine without a compiler lacks comes with the wheel.
loaded = {line.split()[-1] for line in open("/proc/self/maps") if ".so" in line}
assert not any("grpc" in path for path in loaded), "a study in memory loads gRPC"
try:
    vernier.connect("unix:none.sock", timeout=1)
except vernier.ServerUnavailableError:
    pass
loaded = {line.split()[-1] for line in open("/proc/self/maps") if ".so" in line}
for library in ("absl_status", "nlopt", "yaml-cpp", "fmt", "grpc_unsecure", "protobuf"):
    [path] = [path for path in loaded if f"lib{library}-" in path]
    assert path.startswith(sys.prefix), path
assert not any("libcrypto" in path and path.startswith(sys.prefix) for path in loaded), "2 MB that a client does not need"
"""


def run(*command, **options):
    subprocess.run(command, check=True, **options)


def check(wheel, python, folder):
    print(wheel.name, wheel.stat().st_size, "bytes, in", python)
    assert wheel.stat().st_size < MOST_BYTES
    # The oldest glibc that libraries of Debian 12 need; one symbol of our own from a newer one raises it.
    assert platform.libc_ver()[1] != "2.36" or "manylinux_2_34" in wheel.name
    run(python, "-m", "venv", folder)
    run(folder / "bin/python", "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-index", wheel)
    clean = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    run(folder / "bin/python", "-c", PROGRAM, cwd=folder, env=clean)


def main():
    script = pathlib.Path(sys.argv[1]).resolve() / "scripts/wheels"
    pythons = {f"cp{sys.version_info[0]}{sys.version_info[1]}-": sys.executable}
    found = dict(line.split(" ", 1) for line in subprocess.check_output([script, "--list"], text=True).splitlines())
    # For the stable ABI, if there is a Python for it here. Those for other versions differ less from ours.
    if "cp312-abi3" in found:
        pythons["cp312-abi3"] = found["cp312-abi3"]
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        run(script, "--output", folder / "wheels", *pythons.values())
        for tag, python in pythons.items():
            [wheel] = (folder / "wheels").glob(f"vernier-*-{tag}*.whl")
            check(wheel, python, folder / tag)


if __name__ == "__main__":
    main()
