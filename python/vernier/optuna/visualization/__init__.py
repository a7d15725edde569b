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


plot_contour: Callable[..., Any] = _by_plotly(_figures.plot_contour)
plot_edf: Callable[..., Any] = _by_plotly(_figures.plot_edf)
plot_hypervolume_history: Callable[..., Any] = _by_plotly(_figures.plot_hypervolume_history)
plot_intermediate_values: Callable[..., Any] = _by_plotly(_figures.plot_intermediate_values)
plot_optimization_history: Callable[..., Any] = _by_plotly(_figures.plot_optimization_history)
plot_parallel_coordinate: Callable[..., Any] = _by_plotly(_figures.plot_parallel_coordinate)
plot_param_importances: Callable[..., Any] = _by_plotly(_figures.plot_param_importances)
plot_pareto_front: Callable[..., Any] = _by_plotly(_figures.plot_pareto_front)
plot_rank: Callable[..., Any] = _by_plotly(_figures.plot_rank)
plot_slice: Callable[..., Any] = _by_plotly(_figures.plot_slice)
plot_terminator_improvement: Callable[..., Any] = _by_plotly(_figures.plot_terminator_improvement)
plot_timeline: Callable[..., Any] = _by_plotly(_figures.plot_timeline)
