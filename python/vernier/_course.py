"""Figures of how studies went: when their trials ran, and what several of them found."""

from __future__ import annotations

import itertools
import math
import time
from typing import TYPE_CHECKING, Any, Optional, Sequence, Union

from vernier import _marks, _values
from vernier._errors import InvalidValueError
from vernier._figure import BLUE, GREEN, MUTED, ORANGE, RED, SKY, TEXT, Axis, Boxes, Figure, Line, Panel, Points
from vernier._figure import short, shortened
from vernier._view import ValueAxis, View, counts, fate_of, padded

if TYPE_CHECKING:
    from vernier._study import Study

# One for each study, then from the first one again.
_COLORS = (BLUE, ORANGE, GREEN, RED, SKY, TEXT, MUTED)
_UNITS = ((2 * 86400, 86400, "days"), (2 * 3600, 3600, "hours"), (120, 60, "minutes"), (0, 1, "seconds"))
# A choice: more bars of a timeline cannot be told apart.
_MOST_BARS = 1000


# --- several studies ---
def compare(
    study: Union[Study, Sequence[Study]], *others: Study, objective: Optional[str] = None, axis: str = "auto"
) -> Figure:
    """The best value so far of several studies of the same objective, one by one or as a list."""
    views, metric, title = _together(study, others, objective)
    values = [best for view in views for best in _bests(view, metric)]
    if not values:
        return Figure(title, empty="no trial has a value yet")
    scale = ValueAxis(values, metric, views[0].maximizes(metric), axis)
    lines = [_marks.best_line(view, metric, scale) for view in views]
    marks = [line._replace(label=label, color=color) for line, (label, color) in zip(lines, _looks(views)) if line.x]
    numbers = [record.number for view in views for record in view.trials]
    return Figure(
        title,
        [Panel(padded(Axis("trial", min(numbers), max(numbers), is_whole=True), 0.015), scale.axis, marks)],
        subtitle="best so far" if len(views) > 1 else _marks.best_text(views[0], metric),
        notes=_marks.outlier_notes(values, metric, scale, "value"),
        data=[
            {"study": view.name, "trial": record.number, metric: value}
            for view in views
            for record in view.trials
            if counts(record) and (value := view.value(record, metric)) is not None
        ],
    )


def _bests(view: View, metric: str) -> list[float]:
    """The best value after each trial that counts."""
    values = [value for r in view.trials if counts(r) and (value := view.value(r, metric)) is not None]
    return list(itertools.accumulate(values, max if view.maximizes(metric) else min))


def edf(
    study: Union[Study, Sequence[Study]], *others: Study, objective: Optional[str] = None, axis: str = "auto"
) -> Figure:
    """The share of trials with at most each value, of one study or several, one by one or as a list: the empirical
    distribution function."""
    views, metric, title = _together(study, others, objective)
    title = f"{title}, distribution"
    found = [sorted(value for r in view.trials if counts(r) and (value := view.value(r, metric)) is not None) for view in views]
    if not any(found):
        return Figure(title, empty="no trial has a value yet")
    everything = [value for values in found for value in values]
    scale = ValueAxis(everything, metric, views[0].maximizes(metric), axis)
    marks = []
    for values, (label, color) in zip(found, _looks(views)):
        if values:
            xs, ys = [scale.axis.low], [0.0]
            # Distances to the best fall as values to maximize rise.
            for i, place in enumerate(sorted(map(scale.place, values))):
                xs += [place] * 2
                ys += [i / len(values), (i + 1) / len(values)]
            marks.append(Line([*xs, scale.axis.high], [*ys, 1.0], label, color, 1.8))
    return Figure(
        title,
        [Panel(scale.axis, padded(Axis("share of trials", 0, 1), 0.02), marks)],
        subtitle=f"{_marks.count(len(everything), 'trial')} with a value",
        notes=_marks.outlier_notes(everything, metric, scale, "trial"),
        data=[
            {"study": view.name, metric: value, "share": (i + 1) / len(values)}
            for view, values in zip(views, found)
            for i, value in enumerate(values)
        ],
    )


def _together(
    study: Union[Study, Sequence[Study]], others: Sequence[Study], objective: Optional[str]
) -> tuple[list[View], str, str]:
    first: list[Any] = list(study) if isinstance(study, (list, tuple)) else [study]
    views = [View(one) for one in (*first, *others)]
    if not views:
        raise InvalidValueError("study: must be a study or a list of at least one, got none", field="study")
    metric = views[0].objective(objective)
    goal = views[0].objectives[metric]
    for view in views:
        if view.objectives.get(metric) != goal:
            raise InvalidValueError(f"study: must {goal} {metric}, which study '{view.name}' does not", field="study")
    name = views[0].name if len(views) == 1 else f"{len(views)} studies"
    return views, metric, f"{name}: {views[0].objectives[metric]} {metric}"


def _looks(views: Sequence[View]) -> list[tuple[str, str]]:
    """A label and a colour for each study. Those of the same name are told apart by their place."""
    names = [view.name for view in views]
    labels = [shortened(name) + (f" ({i + 1})" if names.count(name) > 1 else "") for i, name in enumerate(names)]
    return [(label, _COLORS[i % len(_COLORS)]) for i, label in enumerate(labels)]


# --- time ---
def timeline(study: Study, *, last: Optional[int] = None) -> Figure:
    """When each trial ran, and what became of it. ``last``: only this many trials, the last ones; default: at most 1000."""
    view = View(study)
    title = f"{view.name}: trials in time"
    most = _MOST_BARS if last is None else _values.whole(last, "last", 1)
    started = [(record, at) for record in view.trials if (at := record.started) is not None]
    shown = started[-most:]
    if not shown:
        return Figure(title, empty="no trial has started yet")
    begin, now = min(at for _, at in shown), time.time()
    spans = [(record, at - begin, max(at, now if record.ended is None else record.ended) - begin) for record, at in shown]
    longest = max(end for _, _, end in spans)
    unit, name = next((unit, name) for least, unit, name in _UNITS if longest >= least)
    marks = []
    for fate, (color, _) in _marks.FATES.items():
        some = [(r, start / unit, end / unit) for r, start, end in spans if fate_of(r) == fate]
        if some:
            corners = [(start, r.number - 0.4, end, r.number + 0.4) for r, start, end in some]
            tips = [f"{view.tip(r, view.objective(None))}\n{short(end - start)} {name}" for r, start, end in some]
            marks.append(Boxes(corners, tips, fate, color))
    numbers = [record.number for record, _, _ in spans]
    return Figure(
        title,
        [
            Panel(
                padded(Axis(f"{name} since the start", 0, longest / unit), 0.02),
                Axis("trial", min(numbers) - 0.6, max(numbers) + 0.6, is_whole=True),
                marks,
            )
        ],
        subtitle=f"{_marks.count(len(spans), 'trial')} in {short(longest / unit)} {name}",
        notes=[f"only the last {len(shown)} of {len(started)} trials are shown"] if len(shown) < len(started) else [],
        data=[
            {"trial": r.number, "start": start, "end": end, "state": r.state, "fate": fate_of(r)} for r, start, end in spans
        ],
    )


# --- several objectives ---
def hypervolume(study: Study, reference: Optional[Sequence[float]] = None) -> Figure:
    """The volume that the Pareto-optimal trials dominate, after each trial. ``reference``: the point up to which it is
    measured, one number for each objective; default: the worst values so far.

    InvalidValueError: the study has one objective only."""
    view = View(study)
    metrics = list(view.objectives)
    if len(metrics) < 2:
        raise InvalidValueError(f"study '{view.name}' has one objective; history() draws it", field="objective")
    given = None if reference is None else _point(reference, len(metrics))
    title = f"{view.name}: hypervolume of {', '.join(map(shortened, metrics))}"
    valued = [(record, [view.value(record, metric) for metric in metrics]) for record in view.trials if counts(record)]
    done = [(record, [value for value in values if value is not None]) for record, values in valued if None not in values]
    if not done:
        return Figure(title, empty="no trial has completed yet")
    signs = [-1 if view.maximizes(metric) else 1 for metric in metrics]
    costs = [[sign * value for sign, value in zip(signs, values)] for _, values in done]
    if given is None:
        worst = [max(column) for column in zip(*costs)]
        given = [sign * value for sign, value in zip(signs, worst)]
    sizes = _growth(costs, [sign * value for sign, value in zip(signs, given)])
    numbers = [record.number for record, _ in done]
    xs = [x for a, b in zip(numbers, [*numbers[1:], numbers[-1]]) for x in (a, b)]
    ys = [y for size in sizes for y in (size, size)]
    tips = [f"{view.tip(record, *metrics)}\nhypervolume {short(size)}" for (record, _), size in zip(done, sizes)]
    return Figure(
        title,
        [
            Panel(
                padded(Axis("trial", numbers[0], numbers[-1], is_whole=True), 0.015),
                padded(Axis("hypervolume", 0, sizes[-1]), 0.03),
                [Line(xs, ys, "", TEXT, 1.8), Points(numbers, sizes, tips)],
            )
        ],
        subtitle="up to " + ", ".join(f"{shortened(metric)} {short(value)}" for metric, value in zip(metrics, given)),
        data=[{"trial": number, "hypervolume": size} for number, size in zip(numbers, sizes)],
    )


def _point(reference: Any, count: int) -> list[float]:
    values = reference.tolist() if hasattr(reference, "tolist") else reference
    if isinstance(values, (str, bytes)) or not isinstance(values, Sequence) or len(values) != count:
        text = f"reference: must be {count} numbers, one for each objective, got {reference!r}"
        raise InvalidValueError(text, field="reference")
    return [float(_values.finite(value, f"reference[{i}]")) for i, value in enumerate(values)]


def _growth(costs: Sequence[Sequence[float]], bound: Sequence[float]) -> list[float]:
    """The volume between the points and the bound after each of them. Each adds what it alone dominates."""
    front: list[Sequence[float]] = []
    volume, volumes = 0.0, []
    for cost in costs:
        if all(a < b for a, b in zip(cost, bound)) and not any(covers(other, cost) for other in front):
            shared = [[max(a, b) for a, b in zip(cost, other)] for other in front]
            volume += math.prod(b - a for a, b in zip(cost, bound)) - _volume(shared, bound)
            front = [other for other in front if not covers(cost, other)] + [cost]
        volumes.append(volume)
    return volumes


def covers(one: Sequence[float], other: Sequence[float]) -> bool:
    """Whether no cost of ``one`` is higher."""
    return all(a <= b for a, b in zip(one, other))


def _volume(points: Sequence[Sequence[float]], bound: Sequence[float]) -> float:
    """By slices along the last coordinate."""
    ordered = sorted(points, key=lambda point: point[-1])
    if len(bound) == 1:
        return bound[0] - ordered[0][0] if ordered else 0.0
    total = 0.0
    slice_of: list[Sequence[float]] = []
    for point, end in zip(ordered, [*(later[-1] for later in ordered[1:]), bound[-1]]):
        rest = point[:-1]
        if not any(covers(other, rest) for other in slice_of):
            slice_of = [other for other in slice_of if not covers(rest, other)] + [rest]
        if end > point[-1]:
            total += (end - point[-1]) * _volume(slice_of, bound[:-1])
    return total
