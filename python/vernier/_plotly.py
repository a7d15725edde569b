"""Figures as plain values for Plotly, without importing it."""

from __future__ import annotations

import math
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
    color_of,
    escaped,
)

_SHAPES = {
    "disc": "circle",
    "ring": "circle-open",
    "cross": "x-thin-open",
    "plus": "cross-thin-open",
    "diamond": "diamond",
    "square": "square",
    "star": "star",
    "up": "triangle-up",
    "down": "triangle-down",
}
_SCALE = [[i / (len(RAMP) - 1), color] for i, color in enumerate(RAMP)]
_TOP = 115


def specification(figure: Figure) -> dict[str, Any]:
    layout: dict[str, Any] = {
        "title": {"text": _title(figure), "x": 0, "xref": "paper", "font": {"size": 16}},
        "template": {"layout": {"colorway": [TEXT]}},
        "paper_bgcolor": "white",
        "plot_bgcolor": "white",
        "font": {"color": TEXT, "size": 12},
        "hovermode": "closest",
        "margin": {"t": _TOP, "l": 60, "r": 30, "b": 60 + 18 * len(figure.notes)},
        "legend": {"orientation": "h", "x": 0, "y": 1, "yanchor": "bottom", "itemsizing": "constant"},
    }
    rows = math.ceil(len(figure._panels) / max(1, figure._columns))
    layout["height"] = max(220, figure._height * rows + _TOP + 60 + 18 * len(figure.notes))
    notes = [figure.empty] if figure.empty else figure.notes
    layout["annotations"] = [_annotation(note, i, figure) for i, note in enumerate(notes)]
    if figure.empty:
        layout.update(xaxis={"visible": False}, yaxis={"visible": False})
        return {"data": [], "layout": layout}
    if figure._panels[0].rulers:
        layout["margin"]["t"] += 20  # Its names stand above it.
        layout["title"].update(yref="container", y=0.97, yanchor="top")
        return {"data": [_parallel(figure, figure._panels[0])], "layout": layout}
    traces: list[dict[str, Any]] = []
    named: set[str] = set()
    for i, panel in enumerate(figure._panels):
        suffix = "" if i == 0 else str(i + 1)
        domains = _domains(i, figure._columns, rows, figure._height)
        layout[f"xaxis{suffix}"] = {**_axis(panel.x), "domain": domains[0], "anchor": f"y{suffix}"}
        layout[f"yaxis{suffix}"] = {**_axis(panel.y), "domain": domains[1], "anchor": f"x{suffix}"}
        for mark in panel.marks:
            for trace in _traces(mark, figure, panel):
                trace.update(xaxis=f"x{suffix}", yaxis=f"y{suffix}")
                label = getattr(mark, "label", "")
                trace["showlegend"] = bool(label) and label not in named
                if label:
                    trace.update(name=escaped(label), legendgroup=label)
                    named.add(label)
                traces.append(trace)
    return {"data": traces, "layout": layout}


def _title(figure: Figure) -> str:
    small = f"<br><span style='font-size: 12px; color: {MUTED}'>{escaped(figure.subtitle)}</span>" if figure.subtitle else ""
    return escaped(figure.title) + small


def _annotation(note: str, i: int, figure: Figure) -> dict[str, Any]:
    place = (
        {"x": 0.5, "y": 0.5} if figure.empty else {"x": 0, "xanchor": "left", "y": 0, "yanchor": "top", "yshift": -56 - 18 * i}
    )
    return {"text": escaped(note), "showarrow": False, "xref": "paper", "yref": "paper", "font": {"color": MUTED}, **place}


def _domains(i: int, columns: int, rows: int, row_height: float) -> tuple[list[float], list[float]]:
    column, row = i % columns, i // columns
    # Room for the labels of the axes.
    gap_x, gap_y = 0.1, 75 / (row_height * rows)
    width, height = (1 - gap_x * (columns - 1)) / columns, (1 - gap_y * (rows - 1)) / rows
    left, top = column * (width + gap_x), 1 - row * (height + gap_y)
    return [left, left + width], [max(0, top - height), top]


def _axis(axis: Axis) -> dict[str, Any]:
    ends = [math.log10(axis.low), math.log10(axis.high)] if axis.is_log else [axis.low, axis.high]
    shown = {"title": {"text": escaped(axis.label), "standoff": 8}, "range": ends, "gridcolor": FAINT, "zeroline": False}
    shown.update(exponentformat="power", automargin=True)
    if axis.is_log:
        shown.update({"type": "log", "dtick": 1} if ends[1] - ends[0] > 1 else {"type": "log"})
    elif axis.ticks is not None:
        shown.update(tickvals=[t.at for t in axis.ticks], ticktext=[escaped(t.text) for t in axis.ticks])
    elif axis.is_whole and axis.high - axis.low < 10:
        shown["dtick"] = 1
    return shown


def _traces(mark: Mark, figure: Figure, panel: Panel) -> list[dict[str, Any]]:
    if isinstance(mark, Points):
        return [_points(mark, figure)]
    if isinstance(mark, Line):
        return [_line(mark)]
    if isinstance(mark, Band):
        x = [*mark.x, *reversed(mark.x)]
        y = [*mark.high, *reversed(mark.low)]
        return [_area(x, y, mark.color, mark.opacity)]
    if isinstance(mark, Boxes):
        return _heatmap(mark, figure) if mark.levels is not None else [_boxes(mark), _centers(mark)]
    return [
        {
            "type": "scatter",
            "mode": "text",
            "x": list(mark.x),
            "y": list(mark.y),
            "hoverinfo": "skip",
            "text": [escaped(text) for text in mark.texts],
            "textposition": "middle right",
        }
    ]


def _points(mark: Points, figure: Figure) -> dict[str, Any]:
    marker: dict[str, Any] = {"symbol": _SHAPES[mark.shape], "size": 2 * mark.size + (3 if mark.shape == "star" else 0)}
    outline = TEXT if mark.color == "#ffffff" else mark.color if mark.shape in ("cross", "plus", "ring") else "white"
    marker["line"] = {"width": 1.5 if outline == mark.color else 0.6, "color": outline}
    if mark.levels is None:
        marker["color"] = mark.color
    else:
        marker.update(color=list(mark.levels), **_color_axis(figure._bar))
    return {
        "type": "scatter",
        "mode": "markers",
        "x": list(mark.x),
        "y": list(mark.y),
        "marker": marker,
        "text": [_tip(tip) for tip in mark.tips],
        "hovertemplate": "%{text}<extra></extra>",
        "cliponaxis": False,
    }


def _line(mark: Line) -> dict[str, Any]:
    color = mark.color if mark.level is None else color_of(mark.level)
    trace = {
        "type": "scatter",
        "mode": "lines",
        "x": list(mark.x),
        "y": list(mark.y),
        "opacity": mark.opacity,
        "line": {"color": color, "width": mark.width},
    }
    trace.update({"text": _tip(mark.tip), "hovertemplate": "%{text}<extra></extra>"} if mark.tip else {"hoverinfo": "skip"})
    return trace


def _area(x: Sequence[Any], y: Sequence[Any], color: str, opacity: float) -> dict[str, Any]:
    red, green, blue = (int(color[k : k + 2], 16) for k in (1, 3, 5))
    return {
        "type": "scatter",
        "mode": "lines",
        "x": list(x),
        "y": list(y),
        "fill": "toself",
        "hoverinfo": "skip",
        "line": {"width": 0},
        "fillcolor": f"rgba({red}, {green}, {blue}, {opacity})",
    }


def _boxes(mark: Boxes) -> dict[str, Any]:
    x: list[Any] = []
    y: list[Any] = []
    for left, low, right, high in mark.corners:
        x += [left, right, right, left, left, None]
        y += [low, low, high, high, low, None]
    return _area(x, y, mark.color, mark.opacity)


def _centers(mark: Boxes) -> dict[str, Any]:
    """Where the tips of boxes appear."""
    return {
        "type": "scatter",
        "mode": "markers",
        "marker": {"size": 14, "opacity": 0, "color": mark.color},
        "x": [(left + right) / 2 for left, _, right, _ in mark.corners],
        "y": [(low + high) / 2 for _, low, _, high in mark.corners],
        "text": [_tip(tip) for tip in mark.tips],
        "hovertemplate": "%{text}<extra></extra>",
    }


def _heatmap(mark: Boxes, figure: Figure) -> list[dict[str, Any]]:
    """Cells of one grid, of which some may be absent."""
    assert mark.levels is not None
    x_edges = sorted({edge for box in mark.corners for edge in (box[0], box[2])})
    y_edges = sorted({edge for box in mark.corners for edge in (box[1], box[3])})
    levels: list[list[Any]] = [[None] * (len(x_edges) - 1) for _ in y_edges[1:]]
    tips = [[""] * (len(x_edges) - 1) for _ in y_edges[1:]]
    for (left, low, _, _), level, tip in zip(mark.corners, mark.levels, mark.tips):
        levels[y_edges.index(low)][x_edges.index(left)] = level
        tips[y_edges.index(low)][x_edges.index(left)] = _tip(tip)
    return [
        {
            "type": "heatmap",
            "x": x_edges,
            "y": y_edges,
            "z": levels,
            "text": tips,
            "hoverongaps": False,
            "hovertemplate": "%{text}<extra></extra>",
            **{"zmin" if k == "cmin" else "zmax" if k == "cmax" else k: v for k, v in _color_axis(figure._bar).items()},
        }
    ]


def _parallel(figure: Figure, panel: Panel) -> dict[str, Any]:
    lines = [mark for mark in panel.marks if isinstance(mark, Line)]
    dimensions = []
    for i, ruler in enumerate(panel.rulers):
        ticks = [tick for tick in ruler.chosen_ticks(5) if -0.01 <= ruler.share(tick.at) <= 1.01]
        dimensions.append(
            {
                "label": escaped(ruler.label),
                "range": [0, 1],
                "values": [line.y[i] for line in lines],
                "tickvals": [ruler.share(tick.at) for tick in ticks],
                "ticktext": [escaped(tick.text) for tick in ticks],
            }
        )
    return {
        "type": "parcoords",
        "dimensions": dimensions,
        "line": {"color": [line.level for line in lines], **_color_axis(figure._bar)},
    }


def _color_axis(bar: Any) -> dict[str, Any]:
    assert isinstance(bar, Bar)
    ticks = [tick for tick in bar.ticks if 0 <= tick.at <= 1]
    return {
        "colorscale": _SCALE,
        "cmin": 0,
        "cmax": 1,
        "showscale": True,
        "colorbar": {
            "title": {"text": escaped(bar.label)},
            "tickvals": [tick.at for tick in ticks],
            "ticktext": [escaped(tick.text) for tick in ticks],
        },
    }


def _tip(tip: str) -> str:
    return escaped(tip).replace("\n", "<br>")
