"""What a recorded result says of where it was measured."""

import datetime
import importlib.metadata
import os
import pathlib
import platform
import subprocess


def machine():
    models = [line.split(":", 1)[1].strip() for line in pathlib.Path("/proc/cpuinfo").read_text().splitlines()
              if line.startswith("model name")]
    return {"cpu": models[0] if models else platform.machine(), "cores": os.cpu_count(), "kernel": platform.release(),
            "load_before": os.getloadavg()[0]}


def versions(*packages):
    """Of Python and of those packages that are installed."""
    found = {"python": platform.python_version()}
    for package in packages:
        try:
            found[package] = importlib.metadata.version(package)
        except importlib.metadata.PackageNotFoundError:
            pass
    return found


def header(*packages):
    commit = subprocess.run(["git", "rev-parse", "--short", "HEAD"], capture_output=True, text=True,
                            cwd=pathlib.Path(__file__).parent).stdout.strip()
    return {"date": f"{datetime.date.today():%Y-%m-%d}", "commit": commit, "machine": machine(),
            "versions": versions(*packages)}
