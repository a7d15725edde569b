"""Figures of a study.

    figure = vernier.plots.importance(study)
    figure                              # in a notebook: shows itself
    figure.save("importance.svg")       # or .html, .json (Vega-Lite), .png, .pdf
    axes = figure.matplotlib()          # or figure.matplotlib(ax)
    plotly.graph_objects.Figure(figure.plotly())
    pandas.DataFrame(figure.data)

A study without trials gives a figure that says so. ``objective``: the metric to draw, by default the first objective.
``axis``: "auto" leaves far outliers out, "full" shows every value, "log" is logarithmic, "regret" shows the distance to
the best value. InvalidValueError: there is no such objective or parameter, or "log" with values of 0 or less.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Iterable, Mapping, Optional, Sequence

from vernier import _effects, _marks, _values
from vernier._course import compare, covers, edf, hypervolume, timeline
from vernier._errors import InvalidValueError
from vernier._figure import TEXT, Axis, Bar, Boxes, Figure, Mark, Panel, Points, Tick, Words, short, shortened
from vernier._view import ValueAxis, View, axis_of, counts, fate_of, model_of, padded

if TYPE_CHECKING:
    from vernier._study import Study
    from vernier._trials import TrialRecord
    from vernier._values import Value

__all__ = [
    "Figure",
    "compare",
    "contour",
    "curves",
    "edf",
    "history",
    "hypervolume",
    "importance",
    "parallel",
    "pareto",
    "rank",
    "slice",
    "timeline",
]

# Choices: what can still be told apart, or computed in a second.
_MOST_CURVES = 300
_MOST_CURVE_POINTS = 300
_MOST_BARS = 30
_MOST_LINES = 400
_MOST_SLICES = 12


def history(study: Study, objective: Optional[str] = None, *, axis: str = "auto") -> Figure:
    """The objective of every trial, and the best so far. Trials without a value stand at the bad end of the axis."""
    view = View(study)
    metric = view.objective(objective)
    title = f"{view.name}: {view.objectives[metric]} {metric}"
    values = view.values(metric)
    if not values:
        return _nothing(title, "no trial has a value yet")
    scale = ValueAxis(values, metric, view.maximizes(metric), axis)
    best = view.best(metric)
    drawn = [r for r in view.trials if view.value(r, metric) is not None or fate_of(r) != "not ended"]
    marks: list[Mark] = [_marks.best_line(view, metric, scale)]
    marks += _marks.valued(view, drawn, lambda r: (r.number, scale.place_or_end(view.value(r, metric))), metric, scale)
    if best is not None:
        marks.append(_marks.star(view, best, (best.number, scale.place(view.value(best, metric) or 0)), metric))
    low, high = view.trials[0].number, view.trials[-1].number
    return Figure(
        title,
        [Panel(padded(Axis("trial", low, high, is_whole=True), 0.015), scale.axis, marks)],
        subtitle=f"{_marks.best_text(view, metric)}; {_marks.count(len(view.trials), 'trial')}",
        notes=_marks.notes(view, metric, drawn, scale),
        data=_history_data(view, metric),
    )


def curves(study: Study, metric: Optional[str] = None, *, trials: Optional[Iterable[int]] = None, axis: str = "auto") -> Figure:
    """What trials reported, step by step. ``metric``: any reported one; default: the first objective. ``trials``: numbers
    of trials; default: the last 300 that reported it, and the best."""
    view = View(study)
    metric = view.objective(None) if metric is None else _values.text(metric, "metric")
    title = f"{view.name}: {metric} by step"
    best = view.best(metric if metric in view.objectives else view.objective(None))
    chosen = _chosen_curves(view, trials, best)
    drawn = []
    for record in chosen:
        points = [(p.step, p.metrics[metric]) for p in study.curve(record) if metric in p.metrics]
        points = _thinned(sorted((x, y) for x, y in points if abs(y) < float("inf")), _MOST_CURVE_POINTS)
        if points:
            drawn.append((record, points))
    if not drawn:
        return _nothing(title, f"no trial has reported {metric} yet")
    if metric not in view.objectives and axis == "auto":
        axis = "full"  # Nobody knows which of its ends is the bad one.
    scale = ValueAxis([y for _, points in drawn for _, y in points], metric, view.maximizes(metric), axis)
    steps = [x for _, points in drawn for x, _ in points]
    what = _marks.best_text(view, metric) if metric in view.objectives else _marks.count(len(view.trials), "trial")
    return Figure(
        title,
        [
            Panel(
                padded(Axis("step", min(steps), max(steps), is_whole=True), 0.01),
                scale.axis,
                _marks.curve_marks(view, metric, drawn, best, scale),
            )
        ],
        subtitle=f"{_marks.count(len(drawn), 'curve')}; {what}",
        notes=_marks.outlier_notes([y for _, points in drawn for _, y in points], metric, scale, "value"),
        data=[{"trial": record.number, "step": x, metric: y} for record, points in drawn for x, y in points],
    )


def importance(study: Study, objective: Optional[str] = None) -> Figure:
    """How much each parameter matters, in shares of 1, by the model of the latest suggestion. Without one: how far the
    mean of a model moves when one parameter alone is drawn anew, as total effects (Jansen, 1999)."""
    view = View(study)
    metric = view.objective(objective)
    title = f"{view.name}: importance of the parameters for {metric}"
    shares, source = _effects.importance(view, metric)
    if not shares:
        return _nothing(title, f"no model says yet how much each parameter matters: {source}")
    return _bars(title, {"": shares}, source)


def slice(study: Study, *parameters: str, objective: Optional[str] = None, axis: str = "auto") -> Figure:
    """The objective along each parameter: trials, and the model's mean with a band of two standard deviations. The other
    parameters are as in the best trial that has this one. Default: all parameters, at most the 12 most important."""
    view = View(study)
    metric = view.objective(objective)
    names = [view.parameter(name, f"parameters[{i}]") for i, name in enumerate(parameters)]
    title = f"{view.name}: {metric} along {shortened(names[0]) if len(names) == 1 else 'each parameter'}"
    values = view.values(metric)
    if not values:
        return _nothing(title, "no trial has a value yet")
    notes = (
        [f"only the best {_marks.MOST_POINTS} of {len(values)} trials are shown"] if len(values) > _marks.MOST_POINTS else []
    )
    if not names:
        names = list(view.space)
        if len(names) > _MOST_SLICES:
            names = _effects.ranked(view, metric)[:_MOST_SLICES]
            notes.append(f"{len(view.space) - len(names)} less important parameters are not shown")
    if not names:
        return _nothing(title, "it has no parameters")
    model, why_none = model_of(view, metric)
    slices = _effects.slices(view, metric, names, model)
    means = [mean for steps in slices.values() for _, mean, _ in steps]
    scale = ValueAxis(values + means, metric, view.maximizes(metric), axis)
    many = len(names) > 1
    panels = []
    for name, steps in slices.items():
        x = axis_of(name, view.space[name])
        marks = _marks.slice_model(view, name, steps, scale) + _marks.slice_trials(view, metric, name, scale)
        panels.append(Panel(x, scale.axis, marks))
    return Figure(
        title,
        panels,
        subtitle="trials only: " + why_none if model is None else f"{model.name}; the rest as in the best trial",
        notes=notes + _marks.outlier_notes(values, metric, scale, "trial"),
        columns=min(3, len(names)),
        height=190 if many else 320,
        data=[
            {"parameter": name, "value": value, "mean": mean, "deviation": deviation}
            for name, steps in slices.items()
            for value, mean, deviation in steps
        ],
    )


def parallel(
    study: Study, objective: Optional[str] = None, *, parameters: Sequence[str] = (), axis: str = "auto"
) -> Figure:
    """Parallel coordinates: a line for each trial with a value, through all parameters to the objective, coloured by it,
    the best on top. "–" is the place of inactive parameters. ``parameters``: some of them, in this order."""
    view = View(study)
    metric = view.objective(objective)
    names = _some(view, parameters) or list(view.space)
    title = f"{view.name}: parameters and {metric}"
    values = {r.number: value for r in view.trials if (value := view.value(r, metric)) is not None}
    if not values:
        return _nothing(title, "no trial has a value yet")
    scale = ValueAxis(list(values.values()), metric, view.maximizes(metric), axis)
    drawn = view.best_of(metric, [record for record in view.trials if record.number in values], _MOST_LINES)
    rulers = [_marks.ruler(view, name, drawn) for name in names]
    # The best lines are on top.
    ordered = sorted(drawn, key=lambda record: scale.level(values[record.number]))
    opacity = max(0.2, min(0.85, 6 / len(drawn) ** 0.5))
    lines = [_marks.parallel_line(view, record, names, rulers, metric, scale)._replace(opacity=opacity) for record in ordered]
    count = _marks.count(len(values), "trial")
    which = count if len(drawn) == len(values) else f"the best {len(drawn)} of {count}"
    return Figure(
        title,
        [Panel(Axis("", 0, len(rulers)), Axis("", 0, 1), lines, rulers=[*rulers, scale.axis])],
        subtitle=f"{_marks.best_text(view, metric)}; {which}",
        notes=_marks.outlier_notes([values[record.number] for record in drawn], metric, scale, "trial"),
        bar=Bar(shortened(metric), scale.level_ticks()),
        data=[
            {"trial": r.number, metric: values[r.number], **{f"parameters.{k}": r.params[k] for k in names if k in r.params}}
            for r in drawn
        ],
    )


def contour(study: Study, x: Optional[str] = None, y: Optional[str] = None, *, objective: Optional[str] = None) -> Figure:
    """The model's mean over two parameters, by default the most important ones. The other parameters are as in the best
    trial that has both. Cells are empty where a constraint excludes the point."""
    view = View(study)
    metric = view.objective(objective)
    x, y = _two_parameters(view, metric, x, y)
    title = f"{view.name}: {metric} over {shortened(x)} and {shortened(y)}"
    model, why_none = model_of(view, metric)
    best = view.best(metric, [x, y])
    if best is None:
        return _nothing(title, f"no trial with a value has both {x} and {y} yet")
    cells = [] if model is None else _effects.cells(view, metric, best, x, y, model)
    drawn = _with_both(view, metric, x, y)
    means = [mean for _, _, _, mean in cells] or [view.value(r, metric) or 0 for r in drawn]
    scale = ValueAxis(means, metric, view.maximizes(metric), "auto")
    axes = axis_of(x, view.space[x], 0.02), axis_of(y, view.space[y], 0.02)
    marks: list[Mark] = []
    if cells:
        tips = [f"{x}={a}, {y}={b}: {short(mean)}" for _, a, b, mean in ((c, _text(a), _text(b), m) for c, a, b, m in cells)]
        marks.append(Boxes([corners for corners, _, _, _ in cells], tips, levels=[scale.level(mean) for *_, mean in cells]))
    levels = None if cells else [scale.level(view.value(r, metric) or 0) for r in drawn]
    marks += _marks.contour_trials(view, metric, drawn, best, x, y, levels)
    return Figure(
        title,
        [Panel(axes[0], axes[1], marks)],
        subtitle=(
            f"trials only: {why_none}"
            if model is None
            else f"mean of the {model.name.removeprefix('a ')}; the rest as in trial {best.number}"
        ),
        bar=Bar(shortened(metric), scale.level_ticks()),
        height=380,
        data=[{x: a, y: b, "mean": mean} for _, a, b, mean in cells],
    )


def rank(study: Study, x: Optional[str] = None, y: Optional[str] = None, *, objective: Optional[str] = None) -> Figure:
    """Trials over two parameters, by default the most important ones, coloured by their rank: the best is dark, whatever the
    scale of the objective. Trials of equal value share a rank."""
    view = View(study)
    metric = view.objective(objective)
    x, y = _two_parameters(view, metric, x, y, "a rank figure")
    title = f"{view.name}: rank of {metric} over {shortened(x)} and {shortened(y)}"
    best = view.best(metric, [x, y])
    if best is None:
        return _nothing(title, f"no trial with a value has both {x} and {y} yet")
    drawn = _with_both(view, metric, x, y)
    values = [view.value(record, metric) or 0.0 for record in drawn]
    ordered = sorted(values, reverse=view.maximizes(metric))
    ranks = [1 + ordered.index(value) + (ordered.count(value) - 1) / 2 for value in values]
    worst = max(len(values), 2)
    levels = [1 - (rank - 1) / (worst - 1) for rank in ranks]
    marks = _marks.contour_trials(view, metric, drawn, best, x, y, levels)
    return Figure(
        title,
        [Panel(axis_of(x, view.space[x], 0.02), axis_of(y, view.space[y], 0.02), marks)],
        subtitle=f"{_marks.best_text(view, metric)}; {_marks.count(len(drawn), 'trial')}",
        bar=Bar(f"rank of {shortened(metric)}", [Tick(1, "1"), Tick(0.5, short((1 + worst) / 2)), Tick(0, str(worst))]),
        height=380,
        data=[
            {"trial": r.number, x: r.params[x], y: r.params[y], metric: value, "rank": rank}
            for r, value, rank in zip(drawn, values, ranks)
        ],
    )


def pareto(study: Study, x: Optional[str] = None, y: Optional[str] = None) -> Figure:
    """Two objectives of every completed trial. Stars: trials that no other one dominates in all objectives. The line: the same in
    the two that are drawn. ``x``, ``y``: by default the first two; a note names the others.

    InvalidValueError: the study has one objective only."""
    view = View(study)
    if len(view.objectives) < 2:
        raise InvalidValueError(f"study '{view.name}' has one objective; history() draws it", field="objective")
    x = view.objective(x, "x", other=y)
    y = view.objective(y, "y", other=x)
    if x == y:
        raise InvalidValueError(f"y: must be another objective than x, got {y!r}", field="y")
    rest = [shortened(metric) for metric in view.objectives if metric not in (x, y)]
    title = f"{view.name}: {y} against {x}"
    drawn = [r for r in view.trials if r.state == "COMPLETED" and all(view.value(r, m) is not None for m in (x, y))]
    if not drawn:
        return _nothing(title, "no trial has completed yet")
    at = {r.number: (view.value(r, x) or 0.0, view.value(r, y) or 0.0) for r in drawn}
    front = _front(view, [r for r in drawn if counts(r)], x, y, at)
    marks: list[Mark] = []
    if front:
        marks.append(_marks.staircase([at[r.number] for r in front], view.maximizes(y)))
    marks += _marks.fates(view, drawn, lambda r: at[r.number], x, y)
    best = _optimal(view, [r for r in drawn if counts(r)]) if rest else front
    if best:
        stars = [at[r.number] for r in best]
        marks.append(
            Points(
                [p[0] for p in stars],
                [p[1] for p in stars],
                [view.tip(r, x, y) for r in best],
                "Pareto-optimal",
                TEXT,
                "star",
                5,
            )
        )
    scales = [
        padded(Axis(f"{view.objectives[m]} {shortened(m)}", min(v), max(v)), 0.05)
        for m, v in ((x, [p[0] for p in at.values()]), (y, [p[1] for p in at.values()]))
    ]
    numbers = {r.number for r in best}
    return Figure(
        title,
        [Panel(scales[0], scales[1], marks)],
        subtitle=f"{len(best)} of {_marks.count(len(drawn), 'completed trial')} Pareto-optimal"
        + (f" in all {len(view.objectives)} objectives" if rest else ""),
        notes=[f"not shown: {', '.join(rest)}; x and y choose two objectives"] if rest else [],
        data=[
            {"trial": r.number, x: at[r.number][0], y: at[r.number][1], "optimal": r.number in numbers, "feasible": r.feasible}
            for r in drawn
        ],
    )


def _bars(title: str, shares_of: Mapping[str, Mapping[str, float]], source: str) -> Figure:
    """Shares of parameters, the largest first: a panel for each objective."""
    if not any(shares_of.values()):
        return _nothing(title, "it has no parameters")
    tables = {name: sorted(shares.items(), key=lambda pair: -pair[1]) for name, shares in shares_of.items()}
    count = max(map(len, tables.values()))
    return Figure(
        title,
        [_bar_panel(name, ranked[:_MOST_BARS]) for name, ranked in tables.items()],
        subtitle=source,
        notes=[f"{count - _MOST_BARS} less important parameters are not shown"] if count > _MOST_BARS else [],
        height=max(120, 26 * min(count, _MOST_BARS) + 60),
        data=[
            {**({"objective": name} if name else {}), "parameter": parameter, "importance": share, "source": source}
            for name, ranked in tables.items()
            for parameter, share in ranked
        ],
    )


def _bar_panel(name: str, shown: Sequence[tuple[str, float]]) -> Panel:
    rows = [len(shown) - 1 - i for i in range(len(shown))]
    percents = [f"{100 * share:.1f}%" for _, share in shown]
    widest = shown[0][1]
    return Panel(
        Axis("share of the importance" + (f" for {name}" if name else ""), 0, widest * 1.12),
        Axis("", -0.6, len(shown) - 0.4, ticks=[Tick(row, shortened(parameter)) for row, (parameter, _) in zip(rows, shown)]),
        [
            Boxes(
                [(0, row - _marks.COLUMN, share, row + _marks.COLUMN) for row, (_, share) in zip(rows, shown)],
                [f"{parameter}: {percent}" for (parameter, _), percent in zip(shown, percents)],
            ),
            Words([share + widest * 0.012 for _, share in shown], rows, percents),
        ],
    )


def _some(view: View, parameters: Sequence[str]) -> list[str]:
    if isinstance(parameters, str) or not isinstance(parameters, Sequence):
        raise TypeError(f"parameters: must be a list of names, got {parameters!r}")
    return [view.parameter(name, f"parameters[{i}]") for i, name in enumerate(parameters)]


def _nothing(title: str, why: str) -> Figure:
    return Figure(title, empty=why)


def _text(value: Value) -> str:
    return short(value) if isinstance(value, float) else str(value)


def _history_data(view: View, metric: str) -> list[dict[str, Any]]:
    rows = []
    best: Optional[float] = None
    for record in view.trials:
        value = view.value(record, metric)
        if value is None:
            continue
        if counts(record) and (best is None or view.is_better(metric, value, best)):
            best = value
        rows.append({"trial": record.number, "state": record.state, metric: value, "best": best})
    return rows


def _chosen_curves(view: View, trials: Optional[Iterable[int]], best: Optional[TrialRecord]) -> list[TrialRecord]:
    if trials is not None:
        if isinstance(trials, (str, bytes)) or not isinstance(trials, Iterable):
            raise TypeError(f"trials: must be a list of numbers of trials, got {trials!r}")
        known = {record.number: record for record in view.trials}
        wanted = [_values.whole(number, f"trials[{i}]", 1) for i, number in enumerate(trials)]
        for i, number in enumerate(wanted):
            if number not in known:
                raise InvalidValueError(f"trials[{i}]: study '{view.name}' has no trial {number}", field=f"trials[{i}]")
        return [known[number] for number in dict.fromkeys(wanted)]
    reported = [record for record in view.trials if record.reports > 0]
    chosen = reported[-_MOST_CURVES:]
    if best is not None and best.reports > 0 and best not in chosen:
        chosen.insert(0, best)
    return chosen


def _thinned(points: list[tuple[int, float]], most: int) -> list[tuple[int, float]]:
    """The first and the last point, and the lowest and highest of equal parts between them."""
    if len(points) <= most:
        return points
    parts = most // 2 - 1
    kept = {0, len(points) - 1}
    for part in range(parts):
        inside = range(part * len(points) // parts, (part + 1) * len(points) // parts)
        kept.add(min(inside, key=lambda i: points[i][1]))
        kept.add(max(inside, key=lambda i: points[i][1]))
    return [points[i] for i in sorted(kept)]


def _with_both(view: View, metric: str, x: str, y: str) -> list[TrialRecord]:
    """Trials with a value that have both parameters."""
    drawn = [r for r in view.trials if x in r.params and y in r.params and fate_of(r) in ("completed", "stopped early")]
    return [r for r in drawn if view.value(r, metric) is not None]


def _two_parameters(
    view: View, metric: str, x: Optional[str], y: Optional[str], what: str = "a contour"
) -> tuple[str, str]:
    if len(view.space) < 2:
        raise InvalidValueError(
            f"study '{view.name}' has {_marks.count(len(view.space), 'parameter')}, {what} needs two; slice() draws one",
            field="x",
        )
    given = [None if name is None else view.parameter(name, field) for field, name in (("x", x), ("y", y))]
    if given[0] is not None and given[0] == given[1]:
        raise InvalidValueError(f"y: must be another parameter than x, got {y!r}", field="y")
    rest = [name for name in _effects.ranked(view, metric) if name not in given] if None in given else []
    first, second = (name if name is not None else rest.pop(0) for name in given)
    return first, second


def _optimal(view: View, records: Sequence[TrialRecord]) -> list[TrialRecord]:
    """Those that no other one dominates in all objectives."""
    costs: dict[int, list[float]] = {}
    for r in records:
        values = [(view.value(r, metric), view.maximizes(metric)) for metric in view.objectives]
        if all(value is not None for value, _ in values):
            costs[r.number] = [-(value or 0.0) if maximizes else (value or 0.0) for value, maximizes in values]
    return [
        r
        for r in records
        if r.number in costs
        and not any(cost != costs[r.number] and covers(cost, costs[r.number]) for cost in costs.values())
    ]


def _front(view: View, records: Sequence[TrialRecord], x: str, y: str, at: dict[int, tuple[float, float]]) -> list[TrialRecord]:
    """Those that no other one dominates in both objectives, from left to right."""
    sign_x, sign_y = (1 if view.maximizes(metric) else -1 for metric in (x, y))
    ordered = sorted(records, key=lambda r: (-sign_x * at[r.number][0], -sign_y * at[r.number][1]))
    front: list[TrialRecord] = []
    for record in ordered:
        here, last = at[record.number], at[front[-1].number] if front else None
        if last is None or here == last or sign_y * here[1] > sign_y * last[1]:
            front.append(record)
    return sorted(front, key=lambda r: at[r.number])
