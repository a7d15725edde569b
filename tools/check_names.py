#!/usr/bin/env python3
"""Fails on a name that two files of a library or a program of tests define, or a file and a header as a type. Files are compiled several at a time
(VERNIER_MERGE_FILES): an overload in one file would silently be called by another."""

import collections
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
# Overloads and specialisations that headers declare.
SHARED = {("src/cli", "ExitCodeOf"), ("src/codec", "Describe"), ("src/codec", "Form"), ("src/codec", "FileForm"), ("src/core", "IsFinished"),
          ("src/launch", "Describe")}
NAMESPACE = re.compile(r"^namespace ([\w:]+)", re.MULTILINE)
TYPE = re.compile(r"(?:struct|class|enum class|enum)\s+(\w+)\b(?!::)")
DECLARED = re.compile(r"(?:struct|class|enum class|enum)\s+\w+;")
# What begins in the first column, and is followed by its arguments or its value: `absl::Time At(double seconds) {`.
OTHER = re.compile(r"(?:[\w:<>,&*\[\]]+ )*?[\w:<>,&*\[\]]+[ &*]+(\w+)(?:\(|\{|\[| = | =$)")
IGNORED = re.compile(r"(?:[ #}/{]|TEST|TYPED_TEST|INSTANTIATE|REGISTER|MATCHER_P|"
                     r"using |namespace |template|static_assert|extern )")
MATCHER = re.compile(r"MATCHER(?:_P\d?)?\((\w+)")


def names(text):
    """What a source defines."""
    for line in text.splitlines():
        found = MATCHER.match(line) or (None if IGNORED.match(line) else TYPE.match(line) or OTHER.match(line))
        if found:
            yield found.group(1)


def types(text):
    """What a header defines, as far as a source could define it again."""
    for line in text.splitlines():
        if (found := TYPE.match(line)) and not DECLARED.match(line):
            yield found.group(1)


def main():
    owners = collections.defaultdict(set)  # By folder of the target, namespace and name.
    for path in sorted(path for top in ("algorithms", "python", "src", "tests") for kind in ("*.cc", "*.h") for path in (ROOT / top).rglob(kind)):
        folder = next(parent for parent in path.parents if (parent / "CMakeLists.txt").exists()).relative_to(ROOT).as_posix()
        text = path.read_text()
        space = NAMESPACE.search(text)
        for name in (names if path.suffix == ".cc" else types)(text):
            owners[folder, space and space.group(1), name].add(path.relative_to(ROOT / folder).as_posix())
    failures = 0
    for (folder, _, name), files in sorted(owners.items(), key=str):
        if name != "main" and len(files) > 1 and (folder, name) not in SHARED:
            print(f"{folder}: '{name}' is defined in {', '.join(sorted(files))}: rename one, or share it in a header")
            failures += 1
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
