#!/usr/bin/env python3
"""Runs the program of the guide for users of Vizier, as it stands there, against a daemon: the best point is found.
usage: vizier_program_test.py GUIDE.md BIN_DIR     (with a Python that has google-vizier: scripts/lib/python_venv vizier)
"""

import contextlib
import io
import pathlib
import re
import sys
import tempfile

from daemon import Daemon

DEFAULT_ADDRESS = '"unix:" + os.path.expanduser("~/.local/state/vernier/vernier.db.sock")'


def main():
    guide, bin_dir = map(pathlib.Path, sys.argv[1:])
    programs = re.findall(r"^```python\n(.*?)^```$", guide.read_text(), re.M | re.S)
    [program] = [program for program in programs if "optimal_trials" in program]
    assert DEFAULT_ADDRESS in program, f"the program does not ask {DEFAULT_ADDRESS}, where vernierd listens by default"

    with tempfile.TemporaryDirectory() as folder:
        daemon = Daemon(bin_dir, pathlib.Path(folder))
        daemon.start()
        try:
            printed = io.StringIO()
            with contextlib.redirect_stdout(printed):
                exec(compile(program.replace(DEFAULT_ADDRESS, repr(daemon.address)), str(guide), "exec"), {})
        finally:
            daemon.stop()
    print(printed.getvalue())
    found = re.search(r"'x': (-?[\d.e-]+)", printed.getvalue())
    assert found, "the program prints no best point"
    assert abs(float(found[1]) - 1) < 0.5, f"the best x is 1, found {found[1]}"


if __name__ == "__main__":
    main()
