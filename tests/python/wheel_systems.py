#!/usr/bin/env python3
"""Uses wheels on the systems that they are for: in clean roots of other distributions, with their Python and their glibc.
usage: wheel_systems.py WHEELS BIN      (as root; WHEELS: what scripts/wheels built, BIN: a folder with vernierd)

Not a part of the tests: it downloads packages of these distributions. The guide of the Python package says what was tried.
"""

import pathlib
import subprocess
import sys
import tempfile

from wheel_test import PROGRAM

UBUNTU = "http://archive.ubuntu.com/ubuntu"
DEBIAN = "http://deb.debian.org/debian"
# Suite, archive, version of its Python, and its wheel.
SYSTEMS = [
    ("bookworm", DEBIAN, "3.11", "cp311"),
    ("trixie", DEBIAN, "3.13", "cp312"),
    ("jammy", UBUNTU, "3.10", "cp310"),
    ("noble", UBUNTU, "3.12", "cp312"),
]
# In memory by the Gaussian process, and on a server.
MORE = """
import platform
study = vernier.create_study("m", {"x": vernier.Float(-5, 5)}, minimize="loss", algorithm="gp", seed=1)
best = study.optimize(lambda trial: (trial["x"] - 1) ** 2, trials=20)
assert best.metrics["loss"] < 0.01, best
server = vernier.connect("unix:/tmp/vernier.sock")
served = server.create_study("s", {"x": vernier.Float(-5, 5)}, minimize="loss", trials=12)
served.optimize(lambda trial: (trial["x"] - 1) ** 2, parallel=2)
assert len(served.trials) == 12 and served.wait() == "COMPLETED"
print("Python", platform.python_version(), "glibc", platform.libc_ver()[1], "ok")
"""


def run(*command, **options):
    done = subprocess.run(command, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, **options)
    if done.returncode != 0:
        sys.exit(f"{' '.join(map(str, command))}: {done.stdout}")
    return done.stdout


def extract(suite, archive, packages, root, *options):
    """A root that holds these packages and what they depend on, checked against the archive's signature."""
    sources = f"deb {archive} {suite} main" + (" universe" if archive == UBUNTU else "")
    run("mmdebstrap", "--variant=extract", "--hook-dir=/usr/share/mmdebstrap/hooks/merged-usr", f"--include={packages}", *options,
        suite, root, sources)


def use(root, version, wheel, binaries):
    python = f"/usr/bin/python{version}"
    inside = ["unshare", "--mount", "--pid", "--fork", f"--root={root}", "--mount-proc"]
    environment = {"HOME": "/tmp", "PATH": "/usr/bin:/bin", "LANG": "C.UTF-8"}
    (root / "proc").mkdir(exist_ok=True)
    # Debian's pip reads certificates even without a network; in an extracted root nothing has put them into their file.
    certificates = sorted((root / "usr/share/ca-certificates/mozilla").glob("*.crt"))
    (root / "etc/ssl/certs").mkdir(parents=True, exist_ok=True)
    (root / "etc/ssl/certs/ca-certificates.crt").write_text("".join(file.read_text() for file in certificates))
    (root / "tmp" / wheel.name).write_bytes(wheel.read_bytes())
    run(*inside, python, "-m", "venv", "/venv", env=environment)
    run(*inside, "/venv/bin/python", "-m", "pip", "install", "--no-index", f"/tmp/{wheel.name}", env=environment)
    daemon = subprocess.Popen([binaries / "vernierd", "--listen", f"unix:{root}/tmp/vernier.sock", "--store", root / "tmp/server.db"],
                              stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        print(run(*inside, "--wd=/tmp", "/venv/bin/python", "-c", PROGRAM + MORE, env=environment).splitlines()[-1])
    finally:
        daemon.terminate()
        daemon.wait()


def main():
    wheels, binaries = map(pathlib.Path, sys.argv[1:])
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        # Debian signs the keys of Ubuntu.
        extract("trixie", DEBIAN, "ubuntu-keyring", folder / "keys")
        keys = f"--keyring={folder}/keys/usr/share/keyrings/ubuntu-archive-keyring.gpg"
        for suite, archive, version, tag in SYSTEMS:
            [wheel] = wheels.glob(f"vernier-*-{tag}-*.whl")
            root = folder / suite
            extract(suite, archive, f"base-files,ca-certificates,libstdc++6,python{version}-venv", root, *([keys] if archive == UBUNTU else []))
            print(suite, wheel.name, end=": ", flush=True)
            use(root, version, wheel, binaries)


if __name__ == "__main__":
    main()
