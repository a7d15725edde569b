"""Figures as specifications for Vega-Lite 5, with their data in them."""

from __future__ import annotations

import json
from typing import Any, Sequence

from vernier._figure import (
    FAINT,
    MUTED,
    RAMP,
    TEXT,
    Axis,
    Band,
    Bar,
    Boxes,
    Figure,
    Line,
    Mark,
    Panel,
    Points,
    Tick,
    legend_of,
    star_corners,
)

SCHEMA = "https://vega.github.io/schema/vega-lite/v5.json"
_SHAPES = {
    "disc": "circle",
    "ring": "M1,0A1,1,0,1,1,-1,0A1,1,0,1,1,1,0ZM0.65,0A0.65,0.65,0,1,0,-0.65,0A0.65,0.65,0,1,0,0.65,0Z",
    "cross": "M-0.8,-0.8L0.8,0.8M-0.8,0.8L0.8,-0.8",
    "plus": "M-0.9,0L0.9,0M0,-0.9L0,0.9",
    "diamond": "diamond",
    "square": "square",
    "star": "M" + "L".join(f"{x:.3f},{y:.3f}" for x, y in star_corners()) + "Z",
    "up": "triangle-up",
    "down": "triangle-down",
}
_STROKES = ("cross", "plus")
_LEGEND = {"symbolOpacity": 1, "symbolStrokeWidth": 1.5}
_WIDTH = 640


def specification(figure: Figure) -> dict[str, Any]:
    title: dict[str, Any] = {"text": figure.title, "anchor": "start", "subtitleColor": MUTED}
    below = [text for text in [figure.subtitle, *figure.notes] if text]
    if below:
        title["subtitle"] = below
    spec: dict[str, Any] = {"$schema": SCHEMA, "title": title, "background": "white"}
    if figure.empty:
        words = {
            "mark": {"type": "text", "color": MUTED},
            "data": {"values": [{}]},
            "encoding": {"text": {"value": figure.empty}},
        }
        return {**spec, "width": _WIDTH, "height": 60, "view": {"stroke": None}, **words}
    looks = _Looks(figure)
    panels = [_panel(panel, figure, looks) for panel in figure._panels]
    spec["config"] = {"axis": {"gridColor": FAINT}, "view": {"stroke": None}}
    if len(panels) == 1:
        return {**spec, **panels[0]}
    # One legend for all panels, and axes of their own.
    return {**spec, "concat": panels, "columns": figure._columns, "resolve": {"scale": {"color": "shared", "shape": "shared"}}}


class _Looks:
    """The legend: labels with their colours and shapes."""

    def __init__(self, figure: Figure) -> None:
        # Colours of levels have a legend of their own, with which another one would be mixed up.
        marks = [] if figure._bar else legend_of(figure)
        self.labels = [mark.label for mark in marks]
        self.colors = [TEXT if mark.color == "#ffffff" else mark.color for mark in marks]
        self.shapes = [
            "stroke" if isinstance(m, Line) else _SHAPES[m.shape] if isinstance(m, Points) else "square" for m in marks
        ]

    def color(self) -> dict[str, Any]:
        return self._encoding(self.colors)

    def shape(self) -> dict[str, Any]:
        return self._encoding(self.shapes)

    def _encoding(self, looks: list[str]) -> dict[str, Any]:
        scale = {"domain": self.labels, "range": looks}
        return {"field": "label", "type": "nominal", "title": None, "scale": scale, "legend": _LEGEND}


def _panel(panel: Panel, figure: Figure, looks: _Looks) -> dict[str, Any]:
    width = _WIDTH if figure._columns == 1 else round(_WIDTH / figure._columns)
    x = _axis(panel.x)
    y = _axis(panel.y)
    layers: list[dict[str, Any]] = []
    if panel.rulers:
        x = {"scale": {"domain": [-0.3, len(panel.rulers) - 0.9], "nice": False}, "axis": None}
        y = {"scale": {"domain": [-0.02, 1.1], "nice": False}, "axis": None}
        layers += _behind_rulers(panel)
    lines = [mark for mark in panel.marks if isinstance(mark, Line) and _is_levelled(mark)]
    if lines:
        layers.append(_levelled_lines(lines, figure._bar))
    layers += [_layer(mark, figure._bar, looks) for mark in panel.marks if not _is_levelled(mark)]
    if panel.rulers:
        # White behind, so that they can be read on lines.
        layers += [_ruler_words(panel, {"stroke": "white", "strokeWidth": 3}), _ruler_words(panel, {})]
    for layer in layers:
        for channel, shared in (("x", x), ("y", y)):
            if channel in layer["encoding"]:
                layer["encoding"][channel] = {**shared, **layer["encoding"][channel]}
    return {"width": width - 40 if figure._columns > 1 else width, "height": figure._height - 60, "layer": layers}


def _is_levelled(mark: Mark) -> bool:
    return isinstance(mark, Line) and mark.level is not None


def _axis(axis: Axis) -> dict[str, Any]:
    scale: dict[str, Any] = {"domain": [axis.low, axis.high], "nice": False, "zero": False}
    shown: dict[str, Any] = {"title": axis.label or None}
    if axis.is_log:
        scale = {"type": "log", "domain": [axis.low, axis.high], "nice": False}
    ticks = axis.chosen_ticks(7)
    shown.update(values=[tick.at for tick in ticks], labelExpr=_texts(ticks), labelLimit=200, labelOverlap=axis.ticks is None)
    return {"scale": scale, "axis": shown}


def _layer(mark: Mark, bar: Any, looks: _Looks) -> dict[str, Any]:
    if isinstance(mark, Points):
        return _points(mark, bar, looks)
    if isinstance(mark, Line):
        rows = [
            {"x": _n(x), "y": _n(y), "part": i, "order": k}
            for i, part in enumerate(mark.parts())
            for k, (x, y) in enumerate(zip(*part))
        ]
        look = {"type": "line", "strokeWidth": mark.width, "opacity": mark.opacity, "tooltip": _tip(mark.tip) or None}
        layer = _made(look, rows, {"x": _field("x"), "y": _field("y"), "detail": {"field": "part"}, "order": _field("order")})
        return _colored(layer, mark.label, mark.color, looks)
    if isinstance(mark, Band):
        rows = [{"x": _n(x), "y": _n(low), "y2": _n(high)} for x, low, high in zip(mark.x, mark.low, mark.high)]
        layer = _made(
            {"type": "area", "opacity": mark.opacity}, rows, {"x": _field("x"), "y": _field("y"), "y2": {"field": "y2"}}
        )
        return _colored(layer, mark.label, mark.color, looks)
    if isinstance(mark, Boxes):
        return _boxes(mark, bar, looks)
    words = [{"x": _n(x), "y": _n(y), "text": text} for x, y, text in zip(mark.x, mark.y, mark.texts)]
    look = {"type": "text", "align": "left", "color": MUTED}
    return _made(look, words, {"x": _field("x"), "y": _field("y"), "text": {"field": "text"}})


def _points(mark: Points, bar: Any, looks: _Looks) -> dict[str, Any]:
    rows = [{"x": _n(x), "y": _n(y), "tip": _tip(tip)} for x, y, tip in zip(mark.x, mark.y, mark.tips)]
    hollow = mark.shape in _STROKES
    look: dict[str, Any] = {"type": "point", "size": (2 * mark.size) ** 2, "filled": not hollow, "opacity": 1}
    look["strokeWidth"] = 1.5 if hollow else 0.5
    encoding: dict[str, Any] = {"x": _field("x"), "y": _field("y"), "tooltip": {"field": "tip", "type": "nominal"}}
    if mark.levels is not None:
        for row, level in zip(rows, mark.levels):
            row["level"] = _n(level)
        return _made(look, rows, {**encoding, "color": _level_color(bar)})
    if mark.color == "#ffffff":
        look.update(filled=True, fill="white", stroke=TEXT)
    elif not hollow:
        look.update(stroke="white")
    if mark.label in looks.labels:
        encoding["shape"] = looks.shape()
    else:
        look["shape"] = _SHAPES[mark.shape]
    return _colored(_made(look, rows, encoding), mark.label, mark.color, looks)


def _boxes(mark: Boxes, bar: Any, looks: _Looks) -> dict[str, Any]:
    rows = [
        {"x": _n(left), "y": _n(low), "x2": _n(right), "y2": _n(high), "tip": _tip(tip)}
        for (left, low, right, high), tip in zip(mark.corners, mark.tips)
    ]
    encoding: dict[str, Any] = {
        "x": _field("x"),
        "y": _field("y"),
        "x2": {"field": "x2"},
        "y2": {"field": "y2"},
        "tooltip": {"field": "tip", "type": "nominal"},
    }
    if mark.levels is None:
        return _colored(_made({"type": "rect", "opacity": mark.opacity}, rows, encoding), mark.label, mark.color, looks)
    for row, level in zip(rows, mark.levels):
        row["level"] = _n(level)
    return _made({"type": "rect"}, rows, {**encoding, "color": _level_color(bar)})


def _levelled_lines(lines: Sequence[Line], bar: Any) -> dict[str, Any]:
    """All lines in one layer."""
    rows = [
        {"x": _n(x), "y": _n(y), "line": i, "level": _n(line.level or 0), "tip": _tip(line.tip)}
        for i, line in enumerate(lines)
        for x, y in zip(line.x, line.y)
        if x is not None and y is not None
    ]
    encoding = {
        "x": _field("x"),
        "y": _field("y"),
        "detail": {"field": "line"},
        "color": _level_color(bar),
        "tooltip": {"field": "tip", "type": "nominal"},
    }
    return _made({"type": "line", "strokeWidth": lines[0].width, "opacity": lines[0].opacity}, rows, encoding)


def _behind_rulers(panel: Panel) -> list[dict[str, Any]]:
    rows = [{"x": i, "y": 0, "y2": 1} for i in range(len(panel.rulers))]
    return [_made({"type": "rule", "color": MUTED}, rows, {"x": _field("x"), "y": _field("y"), "y2": {"field": "y2"}})]


def _ruler_words(panel: Panel, look: dict[str, Any]) -> dict[str, Any]:
    ticks = [
        {"x": i, "y": _n(ruler.share(tick.at)), "text": tick.text, "size": 10}
        for i, ruler in enumerate(panel.rulers)
        for tick in ruler.chosen_ticks(5)
        if -0.01 <= ruler.share(tick.at) <= 1.01
    ]
    names = [{"x": i, "y": 1.06, "text": ruler.label, "size": 12} for i, ruler in enumerate(panel.rulers)]
    encoding = {
        "x": _field("x"),
        "y": _field("y"),
        "text": {"field": "text"},
        "size": {"field": "size", "type": "quantitative", "scale": None},
    }
    return _made({"type": "text", "align": "right", "color": TEXT, "dx": -3, **look}, [*ticks, *names], encoding)


def _texts(ticks: Sequence[Tick]) -> str:
    """An expression for the text of a tick. The texts are data, never code: JSON has no way out of a string."""
    return f"{json.dumps([tick.text for tick in ticks])}[indexof({json.dumps([tick.at for tick in ticks])}, datum.value)] || ''"


def _level_color(bar: Any) -> dict[str, Any]:
    assert isinstance(bar, Bar)
    ticks = [tick for tick in bar.ticks if 0 <= tick.at <= 1]
    legend = {"title": bar.label, "values": [tick.at for tick in ticks], "labelExpr": _texts(ticks)}
    return {"field": "level", "type": "quantitative", "scale": {"domain": [0, 1], "range": list(RAMP)}, "legend": legend}


def _made(mark: dict[str, Any], rows: Sequence[dict[str, Any]], encoding: dict[str, Any]) -> dict[str, Any]:
    return {"mark": mark, "data": {"values": list(rows)}, "encoding": encoding}


def _colored(layer: dict[str, Any], label: str, color: str, looks: _Looks) -> dict[str, Any]:
    if label in looks.labels:
        layer["encoding"]["color"] = looks.color()
        layer["transform"] = [{"calculate": json.dumps(label), "as": "label"}]
    else:
        layer["mark"]["color"] = color
    return layer


def _field(name: str) -> dict[str, Any]:
    return {"field": name, "type": "quantitative"}


def _n(value: float) -> float:
    """Nine significant digits: more than can be seen, and shorter."""
    return float(f"{value:.9g}")


def _tip(tip: str) -> str:
    return tip.replace("\n", ", ")
