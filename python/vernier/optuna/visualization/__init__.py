"""Figures of studies, drawn by plotly. ``visualization.matplotlib`` draws the same by matplotlib."""

from __future__ import annotations

import functools
from typing import Any, Callable

from vernier.optuna.visualization import _figures, matplotlib

__all__ = [
    "is_available",
    "matplotlib",
    "plot_contour",
    "plot_edf",
    "plot_hypervolume_history",
    "plot_intermediate_values",
    "plot_optimization_history",
    "plot_parallel_coordinate",
    "plot_param_importances",
    "plot_pareto_front",
    "plot_rank",
    "plot_slice",
    "plot_terminator_improvement",
    "plot_timeline",
]


def is_available() -> bool:
    """Whether plotly is installed."""
    import importlib.util

    return importlib.util.find_spec("plotly") is not None


def _by_plotly(figure: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(figure)
    def draw(*arguments: Any, **options: Any) -> Any:
        made = figure(*arguments, **options)
        try:
            import plotly.graph_objects
        except ImportError:
            raise ImportError(
                f"{figure.__name__}: needs plotly, which is not installed; "
                "vernier.optuna.visualization.matplotlib draws the same"
            ) from None
        return plotly.graph_objects.Figure(made.plotly())

    return draw


plot_contour = _by_plotly(_figures.plot_contour)
plot_edf = _by_plotly(_figures.plot_edf)
plot_hypervolume_history = _by_plotly(_figures.plot_hypervolume_history)
plot_intermediate_values = _by_plotly(_figures.plot_intermediate_values)
plot_optimization_history = _by_plotly(_figures.plot_optimization_history)
plot_parallel_coordinate = _by_plotly(_figures.plot_parallel_coordinate)
plot_param_importances = _by_plotly(_figures.plot_param_importances)
plot_pareto_front = _by_plotly(_figures.plot_pareto_front)
plot_rank = _by_plotly(_figures.plot_rank)
plot_slice = _by_plotly(_figures.plot_slice)
plot_terminator_improvement = _by_plotly(_figures.plot_terminator_improvement)
plot_timeline = _by_plotly(_figures.plot_timeline)
