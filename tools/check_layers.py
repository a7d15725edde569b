#!/usr/bin/env python3
"""Fails on an include that breaks the one-way dependencies between folders (ARCHITECTURE.md, Folders)."""

import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent

# What each folder may include besides itself and include/vernier. Longer names win.
ALLOWED = {
    "include": set(),
    "src/core": set(),
    "algorithms": {"src/core"},
    "src/base": {"src/core"},
    "src/codec": {"src/core"},
    "src/storage": {"src/core", "src/codec", "src/base"},
    "src/import": {"src/core", "src/base", "src/codec", "src/storage", "src/study"},
    "src/study": {"src/core", "src/codec"},
    "src/jobs": {"src/core", "src/codec"},
    "src/launch": {"src/core", "src/base", "src/jobs"},
    "src/metrics": {"src/core", "src/base", "src/jobs", "src/launch"},
    "src/engine": {"src/core", "src/base", "src/study", "src/jobs", "src/launch", "src/metrics"},
    "src/wire": {"src/core", "src/codec", "proto"},
    "src/service": {"src/core", "src/base", "src/study", "src/wire", "src/codec", "src/launch", "proto"},
    "src/client": {"src/core", "src/base", "src/wire", "proto"},
    "src/submission": {"src/core", "src/base", "src/jobs"},
    "src/app": {"src/core", "src/base", "src/codec", "src/storage", "src/study", "src/jobs", "src/launch", "src/metrics",
                "src/engine", "src/wire", "src/service", "proto"},
    "python": {"src/core", "src/codec", "src/import", "src/storage", "src/jobs", "src/submission", "src/client"},
    "src/c_api": {"src/core", "src/codec"},
    "src/cli": {"src/core", "src/base", "src/codec", "src/import", "src/jobs", "src/wire", "src/client", "src/submission", "src/app",
                "proto"},
}
# Rooms: folders of a folder, each of which may include those before it. What lies beside them comes last.
ROOMS = {
    "algorithms/gaussian_process": ["space", "model", "acquisition", "search"],
    "src/launch": ["supervisor", "gang", "container", "python", "local", "slurm"],
}
# Headers beside the rooms that rooms may include.
SHARED_BY_ROOMS = {
    "src/launch": {"control_group.h", "environment.h", "gang_tasks.h", "host_ports.h", "last_words.h",
                   "output_segments.h", "output_tail.h", "preparation.h", "programs.h", "replica_files.h"},
}
# One algorithm never includes another; what they share is here.
SHARED_BY_ALGORITHMS = {"numerics", "sampling"}

# Third-party headers and the folders that may name them.
RESTRICTED = {
    r"^(Eigen|nlopt)": ("algorithms",),
    r"^sqlite3\.h": ("src/storage",),
    r"^(grpcpp|google/protobuf|google/rpc)": ("src/wire", "src/service", "src/client", "src/app", "src/cli"),
    r"^yaml-cpp": ("src/codec",),
    r"^spdlog": ("src/base",),
    r"^re2": ("src/metrics", "src/cli"),
    r"^(Eigen|nlopt|sqlite3|grpc|google|nlohmann|yaml-cpp|spdlog|fmt|re2|CLI)": (
        "algorithms", "src", "python"),  # so: never in include/vernier
}
INCLUDE = re.compile(r'^\s*#\s*include\s+([<"])([^>"]+)[>"]', re.MULTILINE)
CLOCKS = re.compile(r"\b(system_clock|steady_clock|sleep_for|absl::Now|absl::SleepFor|random_device|BitGen)\b"
                    r"|std::\w+_distribution\b")


def folder_of(path):
    parts = path.split("/")
    return "/".join(parts[:2]) if parts[0] == "src" else parts[0]


def room_error(path, target):
    for folder, rooms in ROOMS.items():
        if not (path.startswith(folder + "/") and target.startswith(folder + "/")):
            continue
        mine, theirs = (p.removeprefix(folder + "/").split("/")[0] for p in (path, target))
        if theirs in SHARED_BY_ROOMS.get(folder, ()):
            continue
        if mine in rooms and (theirs not in rooms or rooms.index(theirs) > rooms.index(mine)):
            return f"{path}: {mine} may not depend on {target}"
    return None


def include_error(path, target):
    home = folder_of(path)
    for pattern, homes in RESTRICTED.items():
        if re.match(pattern, target) and not any(home == h or home.startswith(h + "/") for h in homes):
            return f"{path}: includes {target}, which only {', '.join(homes)} may"
    if target.startswith("vernier/v1/"):
        return None if "proto" in ALLOWED[home] else f"{path}: includes the wire's {target}"
    if not target.startswith(("src/", "algorithms/", "python/", "tests/")):
        return None
    other = folder_of(target)
    if error := room_error(path, target):
        return error
    if other == home == "algorithms":
        mine, theirs = path.split("/")[1], target.split("/")[1]
        single = "/" in path.removeprefix("algorithms/") and "/" in target.removeprefix("algorithms/")
        if single and mine != theirs and theirs not in SHARED_BY_ALGORITHMS:
            return f"{path}: one algorithm includes another, {target}"
        return None
    if other != home and other not in ALLOWED[home]:
        return f"{path}: {home} may not depend on {other} ({target})"
    return None


def clock_errors(path, text):
    if path.startswith("src/base/"):
        return []
    return [f"{path}: {match.group(0)}: time and chance are arguments; only src/base reads the clock"
            for match in CLOCKS.finditer(text)]


def main():
    errors = []
    for top in ("include", "algorithms", "src", "python"):
        for file in sorted((ROOT / top).rglob("*")):
            if file.suffix not in (".h", ".cc"):
                continue
            path = file.relative_to(ROOT).as_posix()
            text = file.read_text()
            errors += [e for _, target in INCLUDE.findall(text) if (e := include_error(path, target))]
            errors += clock_errors(path, text)
    print("\n".join(errors) if errors else "layers: ok")
    return 1 if errors else 0


if __name__ == "__main__":
    sys.exit(main())
