#!/usr/bin/env python3
"""Fails on a link between documents that leads nowhere, on a guide that the index does not name, and on a README that grew."""

import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
README_LINES = 150
LINK = re.compile(r"\]\(([^)\s]+)\)|(?:src|href)=\"([^\"]+)\"")
CODE = re.compile(r"^(```|~~~).*?^\1|`[^`\n]+`", re.M | re.S)
# A pattern that loses the end of a number such as 9.5e-05; `after:` reads numbers.
CUTS_NUMBERS = re.compile(r"\(\[0-9\.?\]\+\)|\(\[0-9\.[eE+-]*\]\+\)|\(\[\\d\.\]\+\)")


def documents():
    listed = subprocess.run(["git", "ls-files", "--cached", "--others", "--exclude-standard", "*.md"],
                            cwd=ROOT, check=True, capture_output=True, text=True)
    return [ROOT / name for name in listed.stdout.split("\n") if name and (ROOT / name).exists()]


def anchors(text):
    """Names of headings, as GitHub makes them."""
    names = set()
    for heading in re.findall(r"^#+ +(.*)$", re.sub(r"^```.*?^```", "", text, flags=re.M | re.S), re.M):
        plain = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading).strip().lower()
        name = re.sub(r"[^\w\- ]", "", plain).replace(" ", "-")
        count = sum(other == name or re.fullmatch(re.escape(name) + r"-\d+", other) is not None for other in names)
        names.add(f"{name}-{count}" if count else name)
    return names


def broken_links(path):
    text = path.read_text()
    for match in LINK.finditer(CODE.sub("", text)):
        target = match[1] or match[2]
        if re.match(r"[a-z]+:", target):
            continue
        name, _, anchor = target.partition("#")
        aim = (path.parent / name).resolve() if name else path
        if not aim.exists():
            yield f"{path.relative_to(ROOT)}: {target} leads nowhere"
        elif anchor and aim.suffix == ".md" and anchor not in anchors(aim.read_text()):
            yield f"{path.relative_to(ROOT)}: {target} names no heading"


def problems():
    for path in documents():
        yield from broken_links(path)
        if path.name != "CHANGELOG.md" and CUTS_NUMBERS.search(path.read_text()):
            yield f"{path.relative_to(ROOT)}: teaches a pattern that cuts numbers"
    index = ROOT / "docs/guides/README.md"
    for guide in (ROOT / "docs/guides").glob("*.md"):
        if guide != index and f"({guide.name})" not in index.read_text():
            yield f"docs/guides/README.md does not name {guide.name}"
    lines = len((ROOT / "README.md").read_text().splitlines())
    if lines > README_LINES:
        yield f"README.md has {lines} lines, {README_LINES} at most"


def main():
    found = list(problems())
    print(*found, sep="\n", end="\n" if found else "")
    sys.exit(1 if found else 0)


if __name__ == "__main__":
    main()
