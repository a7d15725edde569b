"""Makes a virtual environment that sees what the running interpreter has, and installs packages into it.

usage: install_packages.py FOLDER WHEELS PACKAGE...

WHEELS is a folder of wheels that is asked instead of an index; empty: pip's own configuration decides. A package is an
archive, a folder with a setup.py or pyproject.toml, or a name with or without a version.
"""

import importlib.util
import os
import subprocess
import sys
import sysconfig
import venv


def make_environment(folder):
    """The interpreter of a new environment whose packages come before those of the running one."""
    venv.EnvBuilder(with_pip=False, symlinks=True, clear=True).create(folder)
    own = sysconfig.get_path("purelib", "venv", vars={"base": folder, "platbase": folder})
    inherited = [path for path in sys.path if os.path.basename(path) in ("site-packages", "dist-packages")]
    os.makedirs(own, exist_ok=True)
    with open(os.path.join(own, "runtime.pth"), "w", encoding="utf-8") as file:
        file.writelines(path + "\n" for path in inherited)
    return os.path.join(folder, "bin", "python")


def install(python, wheels, packages):
    """Whether pip could install them. What is there for building packages is used: an isolated build needs an index."""
    options = ["--no-input", "--disable-pip-version-check", "--no-warn-script-location"]
    if wheels:
        options += ["--no-index", "--find-links", wheels]
    tries = [[]]
    if all(importlib.util.find_spec(name) for name in ("setuptools", "wheel")):
        tries = [["--no-build-isolation"], []]
    for extra in tries:
        command = [sys.executable, "-m", "pip", "--python", python, "install", *options, *extra, *packages]
        print("installing:", *packages, flush=True)
        if subprocess.run(command, check=False).returncode == 0:
            return True
    return False


def main():
    folder, wheels, *packages = sys.argv[1:]
    if not importlib.util.find_spec("pip"):
        sys.exit(f"{sys.executable} has no pip, which installs packages")
    python = make_environment(folder)
    if not install(python, wheels, packages):
        sys.exit("pip could not install " + ", ".join(packages))


if __name__ == "__main__":
    main()
