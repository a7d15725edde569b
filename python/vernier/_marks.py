"""How trials and models look in figures: marks, and the sentences about them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Callable, Optional, Sequence

from vernier._figure import BLUE, GREEN, MUTED, ORANGE, RED, SKY, TEXT, Axis, Band, Boxes, Line, Mark, Points, Tick, short
from vernier._view import ValueAxis, View, axis_of, counts, fate_of, is_category, place

if TYPE_CHECKING:
    from vernier._trials import TrialRecord
    from vernier._values import Value

# How the fates of trials look, the same in all figures; shapes differ, too, for those who see no colours.
FATES = {
    "completed": (BLUE, "disc"),
    "stopped early": (ORANGE, "diamond"),
    "breaks a constraint": (MUTED, "ring"),
    "failed": (RED, "cross"),
    "cancelled": (MUTED, "plus"),
    "not ended": (GREEN, "square"),
}
# Points of a panel. A choice: more make a figure of megabytes.
MOST_POINTS = 1000
# Half the width of a column of a list's value.
COLUMN = 0.32


def count(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"


def best_text(view: View, metric: str) -> str:
    best = view.best(metric)
    return "no trial counts yet" if best is None else f"best {short(view.value(best, metric) or 0)} in trial {best.number}"


def fates(
    view: View, records: Sequence[TrialRecord], at: Callable[[TrialRecord], tuple[float, float]], *metrics: str
) -> list[Points]:
    """The trials as points, those of each fate with a look of their own."""
    marks = []
    for fate, (color, shape) in FATES.items():
        some = [record for record in records if fate_of(record) == fate]
        if some:
            marks.append(points(view, some, at, *metrics)._replace(label=fate, color=color, shape=shape))
    return marks


def points(
    view: View, records: Sequence[TrialRecord], at: Callable[[TrialRecord], tuple[float, float]], *metrics: str
) -> Points:
    places = [at(record) for record in records]
    tips = [view.tip(record, *metrics) for record in records]
    return Points([place[0] for place in places], [place[1] for place in places], tips)


def valued(
    view: View, records: Sequence[TrialRecord], at: Callable[[TrialRecord], tuple[float, float]], metric: str, scale: ValueAxis
) -> list[Points]:
    """As fates, where one of the places is the metric's: outliers get a look of their own."""
    values = {record.number: view.value(record, metric) for record in records}
    beyond = [r for r in records if (value := values[r.number]) is not None and scale.is_outlier(value)]
    marks = fates(view, [record for record in records if record not in beyond], at, metric)
    if beyond:
        shape = "up" if scale.bad_is_high else "down"
        marks.append(points(view, beyond, at, metric)._replace(label="beyond the axis", shape=shape))
    return marks


def star(view: View, best: TrialRecord, at: tuple[float, float], metric: str) -> Points:
    return Points([at[0]], [at[1]], ["best: " + view.tip(best, metric)], "best", TEXT, "star", 6)


def notes(view: View, metric: str, drawn: Sequence[TrialRecord], scale: ValueAxis) -> list[str]:
    without = sum(view.value(record, metric) is None for record in drawn)
    notes = outlier_notes(view.values(metric), metric, scale, "trial")
    if without:
        notes.append(f"{count(without, 'trial')} without a value: at the bad end of the axis")
    return notes


def outlier_notes(values: Sequence[float], metric: str, scale: ValueAxis, noun: str) -> list[str]:
    beyond = [value for value in values if scale.is_outlier(value)]
    if not beyond:
        return []
    worst = max(beyond, key=lambda value: abs(value - scale.bad_end))
    return [f"{count(len(beyond), noun)} beyond the axis, at its end; the worst {metric} is {short(worst)}"]


def best_line(view: View, metric: str, scale: ValueAxis) -> Line:
    xs: list[float] = []
    ys: list[float] = []
    best: Optional[float] = None
    for record in view.trials:
        value = view.value(record, metric)
        if counts(record) and value is not None and (best is None or view.is_better(metric, value, best)):
            if ys:
                xs.append(record.number)
                ys.append(ys[-1])
            best = value
            xs.append(record.number)
            ys.append(scale.place(value))
    if xs:
        xs.append(view.trials[-1].number)
        ys.append(ys[-1])
    return Line(xs, ys, "best so far", TEXT, 1.8)


def curve_marks(
    view: View,
    metric: str,
    drawn: Sequence[tuple[TrialRecord, list[tuple[int, float]]]],
    best: Optional[TrialRecord],
    scale: ValueAxis,
) -> list[Mark]:
    marks: list[Mark] = []
    opacity = max(0.15, min(0.85, (8 / len(drawn)) ** 0.5))
    ordered = [pair for pair in drawn if best is None or pair[0].number != best.number]
    ordered += [pair for pair in drawn if best is not None and pair[0].number == best.number]
    for record, points in ordered:
        is_best = best is not None and record.number == best.number
        fate = "best trial" if is_best else fate_of(record)
        color = TEXT if is_best else FATES[fate][0]
        ys = [scale.place(y) for _, y in points]
        tip = view.tip(record, metric)
        width, how_dense = (2.2, 1.0) if is_best else (1.3, opacity)
        marks.append(Line([x for x, _ in points], ys, fate, color, width, how_dense, tip))
    # Where a curve breaks off, since a line alone does not say why; and curves of a single point.
    for fate, (color, shape) in FATES.items():
        ends = [
            (points[-1][0], scale.place(points[-1][1]), view.tip(record, metric))
            for record, points in ordered
            if fate_of(record) == fate and (fate != "completed" or len(points) == 1)
        ]
        if ends:
            marks.append(Points([e[0] for e in ends], [e[1] for e in ends], [e[2] for e in ends], "", color, shape, 3.2))
    return marks


def slice_model(view: View, name: str, steps: Sequence[tuple[Value, float, float]], scale: ValueAxis) -> list[Mark]:
    if not steps:
        return []
    xs = [place(view.space[name], value) for value, _, _ in steps]
    means = [scale.place(mean) for _, mean, _ in steps]
    low = [scale.place(mean - 2 * deviation) for _, mean, deviation in steps]
    high = [scale.place(mean + 2 * deviation) for _, mean, deviation in steps]
    if not is_category(view.space[name]):
        return [Band(xs, low, high, "± 2 standard deviations"), Line(xs, means, "model's mean", TEXT, 1.8)]
    corners = [(x - COLUMN, a, x + COLUMN, b) for x, a, b in zip(xs, low, high)]
    tips = [f"model: {short(mean)} ± {short(2 * deviation)}" for _, mean, deviation in steps]
    line_x = [at for x in xs for at in (x - COLUMN, x + COLUMN, None)]
    line_y = [at for mean in means for at in (mean, mean, None)]
    return [
        Boxes(corners, tips, "± 2 standard deviations", SKY, 0.3),
        Line(line_x, line_y, "model's mean", TEXT, 1.8),
    ]


def slice_trials(view: View, metric: str, name: str, scale: ValueAxis) -> list[Mark]:
    parameter = view.space[name]
    best = view.best(metric)

    def at(record: TrialRecord) -> tuple[float, float]:
        x = place(parameter, record.params[name])
        if is_category(parameter):
            # Multiples of the golden ratio modulo 1: evenly spread, and the same in every figure.
            x += COLUMN * 1.4 * (0.6180339887498949 * record.number % 1 - 0.5)
        return x, scale.place(view.value(record, metric) or 0)

    drawn = [r for r in view.trials if name in r.params and view.value(r, metric) is not None]
    drawn = view.best_of(metric, drawn, MOST_POINTS)
    marks = [mark._replace(size=2.8) for mark in valued(view, drawn, at, metric, scale)]
    if best is not None and name in best.params:
        marks.append(star(view, best, at(best), metric))
    return list(marks)


def ruler(view: View, name: str, drawn: Sequence[TrialRecord]) -> Axis:
    """The axis of a parameter; with a place at its lower end for trials in which it is inactive, if there are any."""
    ruler = axis_of(name, view.space[name], 0)
    if all(name in record.params for record in drawn):
        return ruler
    ticks = ruler.chosen_ticks(6)
    if ruler.is_log:
        low = ruler.low / (ruler.high / ruler.low) ** 0.12
    else:
        low = ruler.low - 0.12 * (ruler.high - ruler.low)
    return ruler._replace(low=low, ticks=[Tick(low, "–"), *ticks])


def parallel_line(
    view: View, record: TrialRecord, names: Sequence[str], rulers: Sequence[Axis], metric: str, scale: ValueAxis
) -> Line:
    value = view.value(record, metric) or 0
    shares = [
        ruler.share(place(view.space[name], record.params[name]) if name in record.params else ruler.low)
        for name, ruler in zip(names, rulers)
    ]
    shares.append(scale.axis.share(scale.place(value)))
    tip = view.tip(record, metric)
    return Line(range(len(shares)), shares, width=1.2, tip=tip, level=scale.level(value))


def contour_trials(
    view: View,
    metric: str,
    drawn: Sequence[TrialRecord],
    best: TrialRecord,
    x: str,
    y: str,
    levels: Optional[Sequence[float]],
) -> list[Mark]:
    def at(record: TrialRecord) -> list[float]:
        places = []
        for k, name in enumerate((x, y)):
            shift = 0.5 * (0.6180339887498949 * record.number * (k + 1) % 1 - 0.5) if is_category(view.space[name]) else 0
            places.append(place(view.space[name], record.params[name]) + shift)
        return places

    places = [at(record) for record in drawn]
    tips = [view.tip(record, metric) for record in drawn]
    marks: list[Mark] = [Points([p[0] for p in places], [p[1] for p in places], tips, "trial", "#ffffff", "disc", 3, levels)]
    if best is not None:
        marks.append(star(view, best, (at(best)[0], at(best)[1]), metric)._replace(color=RED))
    return marks


def staircase(points: Sequence[tuple[float, float]], maximizes_y: bool) -> Line:
    """The border of what the points dominate: its corners are as bad as either neighbour."""
    xs, ys = [points[0][0]], [points[0][1]]
    for (x0, y0), (x1, y1) in zip(points, points[1:]):
        worse_y = min(y0, y1) if maximizes_y else max(y0, y1)
        xs += [x0 if worse_y == y1 else x1, x1]
        ys += [worse_y, y1]
    return Line(xs, ys, "Pareto front", TEXT, 1.2)
