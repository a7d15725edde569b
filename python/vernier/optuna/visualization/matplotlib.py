"""Figures of studies, drawn by matplotlib. Each function returns the axes, or an array of them."""

from __future__ import annotations

import functools
from typing import Any, Callable

from vernier.optuna.visualization import _figures


def is_available() -> bool:
    """Whether matplotlib is installed."""
    import importlib.util

    return importlib.util.find_spec("matplotlib") is not None


def _by_matplotlib(figure: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(figure)
    def draw(*arguments: Any, **options: Any) -> Any:
        axes = figure(*arguments, **options).matplotlib()
        if not isinstance(axes, list):
            return axes
        import numpy

        return numpy.array(axes)

    return draw


plot_contour: Callable[..., Any] = _by_matplotlib(_figures.plot_contour)
plot_edf: Callable[..., Any] = _by_matplotlib(_figures.plot_edf)
plot_hypervolume_history: Callable[..., Any] = _by_matplotlib(_figures.plot_hypervolume_history)
plot_intermediate_values: Callable[..., Any] = _by_matplotlib(_figures.plot_intermediate_values)
plot_optimization_history: Callable[..., Any] = _by_matplotlib(_figures.plot_optimization_history)
plot_parallel_coordinate: Callable[..., Any] = _by_matplotlib(_figures.plot_parallel_coordinate)
plot_param_importances: Callable[..., Any] = _by_matplotlib(_figures.plot_param_importances)
plot_pareto_front: Callable[..., Any] = _by_matplotlib(_figures.plot_pareto_front)
plot_rank: Callable[..., Any] = _by_matplotlib(_figures.plot_rank)
plot_slice: Callable[..., Any] = _by_matplotlib(_figures.plot_slice)
plot_terminator_improvement: Callable[..., Any] = _by_matplotlib(_figures.plot_terminator_improvement)
plot_timeline: Callable[..., Any] = _by_matplotlib(_figures.plot_timeline)
