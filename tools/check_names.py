#!/usr/bin/env python3
"""Fails on a name that two files of a library or a program of tests define. Files are compiled several at a time
(VERNIER_MERGE_FILES): an overload in one file would silently be called by another."""

import collections
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
# Folders whose files belong to the target of the folder above.
PARTS = ("src/cli/commands", "algorithms/gaussian_process/", "tests/algorithms/early_stopping", "tests/algorithms/grid",
         "tests/algorithms/quasi_random", "tests/algorithms/random", "tests/algorithms/sampling")
# Overloads that headers declare.
SHARED = {("src/cli", "ExitCodeOf"), ("src/codec", "Describe"), ("src/codec", "Form"), ("src/core", "IsFinished")}
TYPE = re.compile(r"(?:struct|class|enum class|enum)\s+(\w+)")
# What begins in the first column, and is followed by its arguments or its value: `absl::Time At(double seconds) {`.
OTHER = re.compile(r"(?:[\w:<>,&*\[\]]+ )*?[\w:<>,&*\[\]]+[ &*]+(\w+)(?:\(|\{|\[| = | =$)")
IGNORED = re.compile(r"(?:[ #}/{]|TEST|TYPED_TEST|INSTANTIATE|REGISTER|MATCHER_P|"
                     r"using |namespace |template|static_assert|extern )")
MATCHER = re.compile(r"MATCHER(?:_P\d?)?\((\w+)")


def names(text):
    for line in text.splitlines():
        found = MATCHER.match(line) or (None if IGNORED.match(line) else TYPE.match(line) or OTHER.match(line))
        if found:
            yield found.group(1)


def main():
    owners = collections.defaultdict(set)
    for path in sorted(path for top in ("algorithms", "src", "tests") for path in (ROOT / top).rglob("*.cc")):
        folder = path.parent.relative_to(ROOT).as_posix()
        if folder.startswith(PARTS):
            folder = folder.rpartition("/")[0]
        for name in names(path.read_text()):
            owners[folder, name].add(path.name)
    failures = 0
    for (folder, name), files in sorted(owners.items()):
        if name != "main" and len(files) > 1 and (folder, name) not in SHARED:
            print(f"{folder}: '{name}' is defined in {', '.join(sorted(files))}: rename one, or share it in a header")
            failures += 1
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
