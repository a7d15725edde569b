#!/usr/bin/env python3
"""Runs the Python programs of documents as they stand there: those of a document one after another, in one namespace.
usage: guide_test.py FILE.md|FILE.ipynb ...
"""

import json
import os
import pathlib
import re
import sys
import tempfile


def programs(document):
    """The programs with the numbers of their first lines, so that a traceback leads there; of a notebook, the cells."""
    text = document.read_text()
    if document.suffix == ".ipynb":
        cells = json.loads(text)["cells"]
        yield from ((0, "".join(cell["source"])) for cell in cells if cell["cell_type"] == "code")
    for match in re.finditer(r"^```python\n(.*?)^```$", text, re.M | re.S):
        yield text.count("\n", 0, match.start(1)), match[1]


def main():
    documents = [pathlib.Path(name).resolve() for name in sys.argv[1:]]
    for document in documents:
        with tempfile.TemporaryDirectory() as folder:
            os.chdir(folder)
            names, count = {"__name__": "guide"}, 0
            for line, program in programs(document):
                exec(compile("\n" * line + program, str(document), "exec"), names)
                count += 1
            assert count, f"{document} has no Python program"
            print(f"{document.name}: {count} programs")
            os.chdir("/")


if __name__ == "__main__":
    main()
