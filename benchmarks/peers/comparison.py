"""What comparisons of engines share: runs kept from before, means with their intervals, a line of a table."""

import json
import random
import statistics
import sys

DRAWS = 2000


def interval(groups):
    """Mean of the groups' means, and its 95 % bootstrap interval over groups and what is in them."""
    chance = random.Random(1)
    means = sorted(statistics.fmean(statistics.fmean(chance.choices(group, k=len(group)))
                                    for group in chance.choices(groups, k=len(groups))) for _ in range(DRAWS))
    mean = statistics.fmean(statistics.fmean(group) for group in groups)
    return [round(v, 4) for v in (mean, means[int(0.025 * DRAWS)], means[int(0.975 * DRAWS)])]


def kept_runs(path, **settings):
    """The runs in an earlier report, if there is one: it must have been measured with the same settings."""
    if not path.exists():
        return []
    report = json.loads(path.read_text())
    for name, value in settings.items():
        if report[name] != value:
            sys.exit(f"{path} was measured with {name} {report[name]}, not {value}")
    return report["runs"]


def write(path, report):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(report, separators=(",", ":")) + "\n")


def ahead_of(reference):
    """The column that says by how much that engine is ahead."""
    return reference.replace("-", "_") + "_ahead_by"


def cells(by_trials, column, reference="vernier-gp"):
    """After each number of trials what is in `column`, and by how much the reference is ahead."""
    texts = []
    for trials, row in by_trials.items():
        ahead = row.get(ahead_of(reference))
        note = f" ({ahead[0]:+.3f}, {ahead[1]:+.3f} to {ahead[2]:+.3f})" if ahead else ""
        texts.append(f"@{trials} {row[column]:.3f}{note}")
    return "  ".join(texts)
