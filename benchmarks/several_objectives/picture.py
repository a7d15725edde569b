"""Draws what run_benchmark recorded: the share of the best hypervolume known over trials, a panel for each problem.

usage: benchmarks/several_objectives/picture.py REPORT.json      writes REPORT.svg
"""

import json
import pathlib
import sys

# Okabe and Ito's colours, which the colour-blind can tell apart; dashes and marks tell lines apart without any.
STYLES = {
    "vernier-gp": ("#0072b2", "-", "o"),
    "vizier": ("#d55e00", "-", "s"),
    "optuna-gp": ("#009e73", "-", "^"),
    "optuna-tpe": ("#cc79a7", "--", None),
    "optuna-nsga2": ("#e69f00", "--", None),
    "vernier-quasi-random": ("#666666", ":", None),
}
COLUMNS = 3


def draw_panel(axes, problem, engines):
    for engine in sorted(engines, key=list(STYLES).index):
        colour, dashes, mark = STYLES[engine]
        rows = sorted((int(n), row) for n, row in engines[engine].items())
        trials = [n for n, _ in rows]
        low, high = zip(*(row["share_interval"] for _, row in rows))
        axes.fill_between(trials, low, high, color=colour, alpha=0.15, linewidth=0)
        axes.plot(trials, [row["share"] for _, row in rows], dashes, marker=mark, markersize=4, color=colour, label=engine)
    seeds = sorted({row["seeds"] for by_trials in engines.values() for row in by_trials.values()})
    axes.set_title(f"{problem} ({' or '.join(map(str, seeds))} seeds)")
    axes.set_xlabel("trials")
    axes.set_ylabel("share of the best\nhypervolume known")
    axes.set_xlim(left=0)
    axes.set_ylim(-0.03, 1.03)
    axes.grid(color="#dddddd")


def draw(summary, path):
    """`summary` as run_benchmark writes it. Needs matplotlib; without it there is no picture."""
    try:
        import matplotlib
    except ImportError:
        print(f"not drawn: {path} (no matplotlib)", file=sys.stderr)
        return
    matplotlib.use("svg")
    matplotlib.rcParams.update({"svg.fonttype": "none", "svg.hashsalt": "vernier", "font.size": 10})
    from matplotlib import pyplot
    columns = min(COLUMNS, len(summary))
    height = -(-len(summary) // columns)
    figure, panels = pyplot.subplots(height, columns, figsize=(4.2 * columns, 3.2 * height + 0.8), squeeze=False,
                                     layout="constrained")
    for axes in panels.flat[len(summary):]:
        axes.axis("off")
    for axes, (problem, engines) in zip(panels.flat, summary.items()):
        draw_panel(axes, problem, engines)
    entries = {label: handle for axes in panels.flat for handle, label in zip(*axes.get_legend_handles_labels())}
    figure.legend(entries.values(), entries.keys(), loc="outside lower center", ncols=len(entries), frameon=False)
    figure.suptitle("Several objectives: mean over seeds, shaded its 95 % bootstrap interval")
    figure.savefig(path, metadata={"Date": None})
    pyplot.close(figure)


def main():
    path = pathlib.Path(sys.argv[1])
    draw(json.loads(path.read_text())["summary"], path.with_suffix(".svg"))


if __name__ == "__main__":
    main()
