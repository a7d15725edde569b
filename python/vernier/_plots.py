"""Figures, by matplotlib."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from vernier._study import Study


def plot_history(study: Study, ax: Any = None) -> Any:
    """Draws the value of each completed trial in the first objective, and the best so far."""
    import matplotlib.pyplot as pyplot

    [(metric, goal), *_] = study.objectives.items()
    better = max if goal == "maximize" else min
    done = [(record.number, record.metrics[metric]) for record in study.trials if metric in record.metrics]
    best: list[float] = []
    for _, value in done:
        best.append(better(best[-1], value) if best else value)
    if ax is None:
        _, ax = pyplot.subplots()
    numbers = [number for number, _ in done]
    ax.plot(numbers, [value for _, value in done], "o", markersize=4, alpha=0.6, label="trial")
    ax.step(numbers, best, where="post", label="best so far")
    ax.set_xlabel("trial")
    ax.set_ylabel(metric)
    ax.set_title(study.name)
    ax.legend()
    return ax
