#!/usr/bin/env python3
"""Runs the Python program of README.md, as it stands there, against a daemon: 15 lines, and the best point is found.
usage: readme_python_test.py README.md BIN_DIR     (with a Python that has google-vizier: scripts/lib/python_venv vizier)
"""

import contextlib
import io
import pathlib
import re
import sys
import tempfile

from daemon import Daemon

LINES = 15
DEFAULT_ADDRESS = '"unix:" + os.path.expanduser("~/.local/state/vernier/vernier.db.sock")'


def main():
    readme, bin_dir = map(pathlib.Path, sys.argv[1:])
    programs = re.findall(r"^```python\n(.*?)^```$", readme.read_text(), re.M | re.S)
    assert len(programs) == 1, f"README.md has {len(programs)} Python programs"
    program = programs[0]
    lines = [line for line in program.splitlines() if line]
    assert len(lines) == LINES, f"the program has {len(lines)} lines, README.md and the guides speak of {LINES}"
    assert DEFAULT_ADDRESS in program, f"the program does not ask {DEFAULT_ADDRESS}, where vernierd listens by default"

    with tempfile.TemporaryDirectory() as folder:
        daemon = Daemon(bin_dir, pathlib.Path(folder))
        daemon.start()
        try:
            printed = io.StringIO()
            with contextlib.redirect_stdout(printed):
                exec(compile(program.replace(DEFAULT_ADDRESS, repr(daemon.address)), str(readme), "exec"), {})
        finally:
            daemon.stop()
    print(printed.getvalue())
    found = re.search(r"'x': (-?[\d.e-]+)", printed.getvalue())
    assert found, "the program prints no best point"
    assert abs(float(found[1]) - 1) < 0.5, f"the best x is 1, found {found[1]}"


if __name__ == "__main__":
    main()
