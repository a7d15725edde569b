"""What a model says of a study: how much parameters matter, and what is expected along one or two of them."""

from __future__ import annotations

import math
import statistics
from typing import TYPE_CHECKING, Optional, Sequence

from vernier._view import Model, View, axis_of, model_of, place, spread

if TYPE_CHECKING:
    from vernier._trials import TrialRecord
    from vernier._values import Value

# Choices: a smooth picture, computed in a second.
_SLICE_STEPS = 61
_CONTOUR_STEPS = 40
_IMPORTANCE_POINTS = 96


def importance(view: View, metric: str) -> tuple[dict[str, float], str]:
    """The share of each parameter, and where it comes from; or nothing, and why."""
    for record in reversed(view.trials):
        total = sum(record.importance.values())
        if total > 0:
            shares = {name: amount / total for name, amount in record.importance.items()}
            return shares, f"by the model that proposed trial {record.number}, from its length scales"
    model, why_none = model_of(view, metric)
    if model is None:
        return {}, why_none
    effects = total_effects(view, metric, model)
    total = sum(effects.values())
    shares = {name: effect / total for name, effect in effects.items()} if total > 0 else {}
    return shares, f"total effects in {model.name}" if shares else "its mean is the same everywhere"


def total_effects(view: View, metric: str, model: Model) -> dict[str, float]:
    """How far the mean moves when one parameter alone is drawn anew, as a share of its variance (Jansen, 1999)."""
    points = view.sample(_IMPORTANCE_POINTS)
    asked = list(points)
    steps: list[tuple[str, int, int]] = []
    for k, name in enumerate(view.space):
        for i, point in enumerate(points):
            # The new value is that of another point, so that values have the distribution of the sample.
            other = points[(i + 1 + k) % len(points)]
            if name in point and name in other:
                steps.append((name, i, len(asked)))
                asked.append(view.moved(metric, point, {name: other[name]}))
    predicted = model.predict(asked)
    amounts = dict.fromkeys(view.space, 0.0)
    for name, before, after in steps:
        one, two = predicted[before], predicted[after]
        if one is not None and two is not None:
            amounts[name] += (one[0] - two[0]) ** 2 / 2
    means = [pair[0] for pair in predicted[: len(points)] if pair is not None]
    variance = statistics.pvariance(means) if means else 0.0
    return {name: amount / len(means) / variance for name, amount in amounts.items()} if variance > 0 else {}


def ranked(view: View, metric: str) -> list[str]:
    """All parameters, the most important first; those of unknown importance last, in the order of the space."""
    shares, _ = importance(view, metric)
    return sorted(view.space, key=lambda name: -shares.get(name, 0))


def slices(
    view: View, metric: str, names: Sequence[str], model: Optional[Model]
) -> dict[str, list[tuple[Value, float, float]]]:
    """(value, mean, deviation) along each parameter."""
    asked = []
    for name in names:
        best = view.best(metric, [name])
        if model is not None and best is not None:
            values = spread(view.space[name], _SLICE_STEPS)
            asked += [(name, value, view.moved(metric, best.params, {name: value})) for value in values]
    slices: dict[str, list[tuple[Value, float, float]]] = {name: [] for name in names}
    # All points in one call: a model may be fitted, or a server asked, for each.
    predicted = [] if model is None else model.predict([point for _, _, point in asked])
    for (name, value, _), each in zip(asked, predicted):
        if each is not None:
            slices[name].append((value, *each))
    return slices


def cells(
    view: View, metric: str, best: TrialRecord, x: str, y: str, model: Model
) -> list[tuple[tuple[float, float, float, float], Value, Value, float]]:
    """(corners, value of x, value of y, mean) of each valid cell."""
    across, up = (spread(view.space[name], _CONTOUR_STEPS) for name in (x, y))
    grid = [(i, j) for j in range(len(up)) for i in range(len(across))]
    points = [view.moved(metric, best.params, {x: across[i], y: up[j]}) for i, j in grid]
    edges_x, edges_y = edges(view, x, across), edges(view, y, up)
    cells = []
    for (i, j), point, predicted in zip(grid, points, model.predict(points)):
        if predicted is not None and x in point and y in point:
            corners = (edges_x[i], edges_y[j], edges_x[i + 1], edges_y[j + 1])
            cells.append((corners, across[i], up[j], predicted[0]))
    return cells


def edges(view: View, name: str, values: Sequence[Value]) -> list[float]:
    """The borders between neighbours, in the middle of the axis between them; at the ends those of the axis."""
    parameter = view.space[name]
    axis = axis_of(name, parameter, 0.02)
    places = [place(parameter, value) for value in values]
    middle = [math.sqrt(a) * math.sqrt(b) if axis.is_log else (a + b) / 2 for a, b in zip(places, places[1:])]
    return [axis.low, *middle, axis.high]
