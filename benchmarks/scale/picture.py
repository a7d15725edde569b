"""Draws what run_benchmark recorded: cost over the number of trials, a panel for each kind of call, a line for each run.

usage: benchmarks/scale/picture.py REPORT.json      writes REPORT.svg
"""

import json
import math
import pathlib
import sys

# Okabe and Ito's colours, which the colour-blind can tell apart; dashes tell lines apart without any.
STYLES = [("#d55e00", "6 3"), ("#0072b2", "none"), ("#009e73", "2 2"), ("#cc79a7", "8 2 2 2")]
PANELS = {
    "slowest page by number, ms": lambda row: row["walks"]["by_number"]["pages"]["max_ms"],
    "slowest page by a metric, ms": lambda row: row["walks"]["by_metric"]["pages"]["max_ms"],
    "slowest page by a parameter, ms": lambda row: row["walks"]["by_parameter"]["pages"]["max_ms"],
    "first page after a start, ms": lambda row: row["first_page"]["first_ms"],
    "first suggestion after a start, ms": lambda row: row["suggest"]["first_ms"],
    "suggestion after that, median, ms": lambda row: row["suggest"]["suggest"]["p50_ms"],
    "best trial, median, ms": lambda row: row["best"]["p50_ms"],
    "list as CSV, s": lambda row: row["csv"]["seconds"],
    "peak memory, MiB": lambda row: max(row["memory_after_lists"]["peak_mib"], row["memory_after_suggestions"]["peak_mib"]),
}
COLUMNS, WIDTH, HEIGHT, MARGIN = 3, 300, 230, 48


def decades(values):
    low, high = math.floor(math.log10(min(values))), math.ceil(math.log10(max(values)))
    return low, max(high, low + 1)


def label(exponent):
    return f"{10 ** exponent:,}" if exponent >= 0 else f"{10.0 ** exponent:g}"


class Panel:
    def __init__(self, left, top, title, lines):
        self.left, self.top = left + MARGIN, top + 30
        self.width, self.height = WIDTH - MARGIN - 16, HEIGHT - 30 - MARGIN
        self.lines = lines
        points = [point for line in lines for point in line]
        self.x_range, self.y_range = decades([x for x, _ in points]), decades([y for _, y in points])
        self.parts = [f'<text x="{self.left}" y="{top + 18}" font-weight="bold">{title}</text>']

    def x(self, value):
        low, high = self.x_range
        return self.left + self.width * (math.log10(value) - low) / (high - low)

    def y(self, value):
        low, high = self.y_range
        return self.top + self.height * (high - math.log10(value)) / (high - low)

    def draw(self):
        bottom = self.top + self.height
        for exponent in range(self.x_range[0], self.x_range[1] + 1):
            x = self.x(10.0 ** exponent)
            self.parts.append(f'<line x1="{x:.1f}" y1="{self.top}" x2="{x:.1f}" y2="{bottom}" stroke="#dddddd"/>'
                              f'<text x="{x:.1f}" y="{bottom + 16}" text-anchor="middle">{label(exponent)}</text>')
        for exponent in range(self.y_range[0], self.y_range[1] + 1):
            y = self.y(10.0 ** exponent)
            self.parts.append(f'<line x1="{self.left}" y1="{y:.1f}" x2="{self.left + self.width}" y2="{y:.1f}" stroke="#dddddd"/>'
                              f'<text x="{self.left - 4}" y="{y + 4:.1f}" text-anchor="end">{label(exponent)}</text>')
        self.parts.append(f'<text x="{self.left + self.width / 2:.1f}" y="{bottom + 32}" text-anchor="middle">trials</text>')
        for line, (colour, dashes) in zip(self.lines, STYLES):
            path = " ".join(f"{self.x(x):.1f},{self.y(y):.1f}" for x, y in line)
            self.parts.append(f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="2" stroke-dasharray="{dashes}"/>')
            self.parts += [f'<circle cx="{self.x(x):.1f}" cy="{self.y(y):.1f}" r="3" fill="{colour}"/>' for x, y in line]
        return "\n".join(self.parts)


def draw(runs, path):
    """`runs` as run_benchmark writes them."""
    width, height = COLUMNS * WIDTH, -(-len(PANELS) // COLUMNS) * HEIGHT + 30
    parts = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" font-family="sans-serif" font-size="11">',
             f'<rect width="{width}" height="{height}" fill="white"/>']
    for i, (name, (colour, dashes)) in enumerate(zip(runs, STYLES)):
        x = MARGIN + 160 * i
        parts.append(f'<line x1="{x}" y1="15" x2="{x + 30}" y2="15" stroke="{colour}" stroke-width="2" stroke-dasharray="{dashes}"/>'
                     f'<text x="{x + 36}" y="19">{name} ({runs[name]["commit"]})</text>')
    for i, (title, value) in enumerate(PANELS.items()):
        lines = [[(row["trials"], value(row)) for row in report["sizes"]] for report in runs.values()]
        parts.append(Panel(i % COLUMNS * WIDTH, 30 + i // COLUMNS * HEIGHT, title, lines).draw())
    path.write_text("\n".join(parts) + "\n</svg>\n")


if __name__ == "__main__":
    source = pathlib.Path(sys.argv[1])
    draw(json.loads(source.read_text()), source.with_suffix(".svg"))
