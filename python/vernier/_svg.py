"""Figures as SVG: no script, no link, no package."""

from __future__ import annotations

import math
import textwrap
from typing import NamedTuple, Sequence, Union

from vernier._figure import (
    FAINT,
    MUTED,
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
    color_of,
    escaped,
    legend_of,
    star_corners,
)

_WIDTH = 760
_FONT = 12
# Width of a character as a share of the size of the font: a little above that of common fonts.
_CHARACTER = 0.56
_LINE = 17
_GAP = 14
# Levels that can be told apart; cells of equal colour are drawn as one.
_LEVELS = 32


class _Frame(NamedTuple):
    """Where a panel's data is drawn, in pixels."""

    left: float
    top: float
    right: float
    bottom: float
    panel: Panel

    def x(self, value: float) -> float:
        share = value / self.panel.x.high if self.panel.rulers else self.panel.x.share(value)
        return self.left + share * (self.right - self.left)

    def y(self, value: float) -> float:
        return self.bottom - self.panel.y.share(value) * (self.bottom - self.top)


def render(figure: Figure) -> str:
    out: list[str] = []
    y = 8.0 + _FONT + 3
    out.append(_text(_GAP, y, figure.title, size=_FONT + 3, weight="600"))
    for line in _wrapped(figure.subtitle):
        y += _LINE
        out.append(_text(_GAP, y, line, color=MUTED))
    if figure.empty:
        y += 2 * _LINE
        for line in _wrapped(figure.empty):
            out.append(_text(_WIDTH / 2, y, line, anchor="middle", color=MUTED))
            y += _LINE
        return _document(out, y + _GAP)
    y += _GAP
    y = _legend(out, legend_of(figure), y)
    y = _panels(out, figure, y)
    for note in figure.notes:
        for line in _wrapped(note):
            y += _LINE
            out.append(_text(_GAP, y, line, color=MUTED))
    return _document(out, y + _GAP)


def _document(parts: Sequence[str], height: float) -> str:
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {_n(height)}" width="{_WIDTH}" height="{_n(height)}" '
        f'style="max-width: 100%; height: auto" font-family="system-ui, sans-serif" font-size="{_FONT}">\n'
        '<rect width="100%" height="100%" fill="#ffffff"/>\n' + "\n".join(parts) + "\n</svg>\n"
    )


# --- layout ---
def _panels(out: list[str], figure: Figure, top: float) -> float:
    columns = min(figure._columns, len(figure._panels))
    right = _WIDTH - _GAP - (74 if figure._bar else 0)
    width = (right - _GAP) / columns
    for row in range(math.ceil(len(figure._panels) / columns)):
        panels = figure._panels[row * columns : (row + 1) * columns]
        bottom = top + figure._height
        for i, panel in enumerate(panels):
            left = _GAP + i * width
            _panel(out, panel, left, top, left + width - (_GAP if columns > 1 else 0), bottom)
        if figure._bar and row == 0:
            _bar(out, figure._bar, right + 12, top + 20, bottom - 40)
        top = bottom + _GAP
    return top - _GAP


def _panel(out: list[str], panel: Panel, left: float, top: float, right: float, bottom: float) -> None:
    if panel.rulers:
        first = panel.rulers[0]
        room = max(_widest(first) + 8, len(first.label) * _FONT * _CHARACTER / 2)
        frame = _Frame(left + room, top + 34, right - 46, bottom - 10, panel)
        for mark in panel.marks:
            _mark(out, mark, frame)
        for i, ruler in enumerate(panel.rulers):
            _ruler(out, ruler, frame, i, is_crowded=len(panel.rulers) > 7)
        return
    frame = _Frame(left + _widest(panel.y) + (26 if panel.y.label else 10), top + 6, right, bottom - 38, panel)
    _grid(out, frame)
    for mark in panel.marks:
        _mark(out, mark, frame)


def _grid(out: list[str], frame: _Frame) -> None:
    x_axis, y_axis = frame.panel.x, frame.panel.y
    for tick in _fitting_ticks(x_axis, frame.right - frame.left):
        x = frame.x(tick.at)
        out.append(_line(x, frame.top, x, frame.bottom, FAINT))
        out.append(_text(x, frame.bottom + 15, tick.text, anchor="middle", color=MUTED))
    for tick in y_axis.chosen_ticks(_y_ticks(frame.bottom - frame.top)):
        y = frame.y(tick.at)
        out.append(_line(frame.left, y, frame.right, y, FAINT))
        out.append(_text(frame.left - 6, y + 4, tick.text, anchor="end", color=MUTED))
    out.append(_text((frame.left + frame.right) / 2, frame.bottom + 32, x_axis.label, anchor="middle"))
    if y_axis.label:
        x, y = frame.left - 12 - _widest(y_axis), (frame.top + frame.bottom) / 2
        out.append(_text(x, y, y_axis.label, anchor="middle", more=f' transform="rotate(-90 {_n(x)} {_n(y)})"'))


def _y_ticks(height: float) -> int:
    return max(4, int(height / 45))


def _widest(axis: Axis) -> float:
    return max((len(tick.text) for tick in axis.chosen_ticks(6)), default=0) * _FONT * _CHARACTER


def _fitting_ticks(axis: Axis, width: float) -> Sequence[Tick]:
    """As many ticks as fit beside each other."""
    ticks = axis.chosen_ticks(max(2, int(width / 70)))
    widest = max((len(tick.text) for tick in ticks), default=0) * _FONT * _CHARACTER + 8
    return ticks[:: max(1, math.ceil(len(ticks) * widest / width))]


def _ruler(out: list[str], ruler: Axis, frame: _Frame, i: int, is_crowded: bool) -> None:
    x = frame.x(i)
    out.append(_line(x, frame.top, x, frame.bottom, MUTED))
    for tick in ruler.chosen_ticks(5):
        y = frame.y(ruler.share(tick.at))
        if frame.top - 1 <= y <= frame.bottom + 1:
            out.append(_line(x - 3, y, x, y, MUTED))
            halo = ' stroke="#ffffff" stroke-width="3" paint-order="stroke"'
            out.append(_text(x - 5, y + 4, tick.text, anchor="end", color=TEXT, size=_FONT - 2, more=halo))
    # Every second name higher up, if there are many.
    out.append(_text(x, frame.top - (22 if is_crowded and i % 2 else 8), ruler.label, anchor="middle"))


def _bar(out: list[str], bar: Bar, x: float, top: float, bottom: float) -> None:
    count = _LEVELS
    height = (bottom - top) / count
    for i in range(count):
        y = bottom - (i + 1) * height
        out.append(_rect(x, y, 12, height + 0.5, color_of(i / (count - 1)), 1))
    for tick in bar.ticks:
        if -0.01 <= tick.at <= 1.01:
            y = bottom - tick.at * (bottom - top)
            out.append(_text(x + 17, y + 4, tick.text, color=MUTED, size=_FONT - 1))
    out.append(_text(x + 60, top - 10, bar.label, anchor="end", size=_FONT - 1))


def _legend(out: list[str], marks: Sequence[Union[Points, Line, Band, Boxes]], y: float) -> float:
    if not marks:
        return y
    x = float(_GAP)
    y += 4
    for mark in marks:
        width = 26 + len(mark.label) * _FONT * _CHARACTER
        if x + width > _WIDTH - _GAP and x > _GAP:
            x, y = _GAP, y + _LINE
        if isinstance(mark, Points):
            out.append(_dot(x + 7, y - 4, mark.shape, min(mark.size, 5), mark.color, ""))
        elif isinstance(mark, Line):
            out.append(_line(x, y - 4, x + 14, y - 4, mark.color, mark.width))
        else:
            out.append(_rect(x, y - 9, 14, 10, mark.color, mark.opacity))
        out.append(_text(x + 19, y, mark.label))
        x += width + 8
    return y + 10


# --- marks ---
def _mark(out: list[str], mark: Mark, frame: _Frame) -> None:
    if isinstance(mark, Points):
        for i, (x, y, tip) in enumerate(zip(mark.x, mark.y, mark.tips)):
            color = mark.color if mark.levels is None else color_of(mark.levels[i])
            out.append(_dot(frame.x(x), frame.y(y), mark.shape, mark.size, color, tip))
    elif isinstance(mark, Line):
        color = mark.color if mark.level is None else color_of(mark.level)
        paths = [" ".join(f"{_n(frame.x(x))},{_n(frame.y(y))}" for x, y in zip(*part)) for part in mark.parts()]
        path = "".join(f"M{path}" for path in paths)
        opacity = "" if mark.opacity == 1 else f' stroke-opacity="{_n(mark.opacity)}"'
        out.append(
            f'<path d="{path}" fill="none" stroke="{color}" stroke-width="{_n(mark.width)}"{opacity}'
            f' stroke-linejoin="round"{_tip(mark.tip, "path")}'
        )
    elif isinstance(mark, Band):
        edge = [f"{_n(frame.x(x))},{_n(frame.y(y))}" for x, y in zip(mark.x, mark.high)]
        edge += [f"{_n(frame.x(x))},{_n(frame.y(y))}" for x, y in reversed(list(zip(mark.x, mark.low)))]
        out.append(f'<polygon points="{" ".join(edge)}" fill="{mark.color}" fill-opacity="{_n(mark.opacity)}"/>')
    elif isinstance(mark, Boxes):
        _boxes(out, mark, frame)
    else:
        for x, y, text in zip(mark.x, mark.y, mark.texts):
            out.append(_text(frame.x(x) + 3, frame.y(y) + 4, text, color=MUTED))


def _boxes(out: list[str], mark: Boxes, frame: _Frame) -> None:
    if mark.levels is not None:
        return _cells(out, mark, mark.levels, frame)
    for (left, low, right, high), tip in zip(mark.corners, mark.tips):
        x, y = frame.x(left), frame.y(high)
        out.append(_rect(x, y, frame.x(right) - x, frame.y(low) - y, mark.color, mark.opacity, tip))


def _cells(out: list[str], mark: Boxes, levels: Sequence[float], frame: _Frame) -> None:
    """Neighbours of one colour as one rectangle: a picture of thousands of cells stays small."""
    shown = [round(level * (_LEVELS - 1)) for level in levels]
    out.append('<g shape-rendering="crispEdges">')
    i = 0
    while i < len(shown):
        left, low, right, high = mark.corners[i]
        level = shown[i]
        i += 1
        while i < len(shown) and shown[i] == level and mark.corners[i][:2] == (right, low):
            right = mark.corners[i][2]
            i += 1
        x, y = frame.x(left), frame.y(high)
        # A little larger, so that no line shows between neighbours.
        out.append(_rect(x, y, frame.x(right) - x + 0.4, frame.y(low) - y + 0.4, color_of(level / (_LEVELS - 1)), 1))
    out.append("</g>")


def _dot(x: float, y: float, shape: str, size: float, color: str, tip: str) -> str:
    look = f'fill="{color}" stroke="#ffffff" stroke-width="0.6"' if color != "#ffffff" else f'fill="{color}" stroke="{TEXT}"'
    hollow = f'fill="none" stroke="{color}" stroke-width="1.5"'
    if shape in ("disc", "ring"):
        return f'<circle cx="{_n(x)}" cy="{_n(y)}" r="{_n(size)}" {look if shape == "disc" else hollow}{_tip(tip, "circle")}'
    if shape in ("cross", "plus"):
        a = size * (0.9 if shape == "cross" else 1.1)
        path = f"M{_n(x - a)},{_n(y - a)}L{_n(x + a)},{_n(y + a)}M{_n(x - a)},{_n(y + a)}L{_n(x + a)},{_n(y - a)}"
        if shape == "plus":
            path = f"M{_n(x - a)},{_n(y)}L{_n(x + a)},{_n(y)}M{_n(x)},{_n(y - a)}L{_n(x)},{_n(y + a)}"
        return f'<path d="{path}" {hollow}{_tip(tip, "path")}'
    corners = " ".join(f"{_n(x + size * a)},{_n(y + size * b)}" for a, b in _CORNERS[shape])
    return f'<polygon points="{corners}" {look}{_tip(tip, "polygon")}'


_CORNERS = {
    "diamond": [(0, -1.25), (1.25, 0), (0, 1.25), (-1.25, 0)],
    "square": [(-0.9, -0.9), (0.9, -0.9), (0.9, 0.9), (-0.9, 0.9)],
    "star": star_corners(),
    "up": [(0, -1.1), (1.1, 0.9), (-1.1, 0.9)],
    "down": [(0, 1.1), (-1.1, -0.9), (1.1, -0.9)],
}


# --- elements ---
def _n(value: float) -> str:
    return f"{value:.1f}".rstrip("0").rstrip(".") if abs(value) >= 1 else f"{value:.2f}"


def _tip(tip: str, element: str) -> str:
    return f"><title>{escaped(tip)}</title></{element}>" if tip else "/>"


def _line(x1: float, y1: float, x2: float, y2: float, color: str, width: float = 1) -> str:
    return f'<line x1="{_n(x1)}" y1="{_n(y1)}" x2="{_n(x2)}" y2="{_n(y2)}" stroke="{color}" stroke-width="{_n(width)}"/>'


def _rect(x: float, y: float, width: float, height: float, color: str, opacity: float, tip: str = "") -> str:
    look = f'fill="{color}"' + ("" if opacity == 1 else f' fill-opacity="{_n(opacity)}"')
    return f'<rect x="{_n(x)}" y="{_n(y)}" width="{_n(max(width, 0))}" height="{_n(max(height, 0))}" {look}{_tip(tip, "rect")}'


def _text(
    x: float,
    y: float,
    text: str,
    *,
    anchor: str = "start",
    color: str = TEXT,
    size: float = _FONT,
    weight: str = "",
    more: str = "",
) -> str:
    look = "" if size == _FONT else f' font-size="{size}"'
    look += f' font-weight="{weight}"' if weight else ""
    look += f' text-anchor="{anchor}"' if anchor != "start" else ""
    return f'<text x="{_n(x)}" y="{_n(y)}" fill="{color}"{look}{more}>{escaped(text)}</text>'


def _wrapped(text: str) -> list[str]:
    return textwrap.wrap(text, int((_WIDTH - 2 * _GAP) / (_FONT * _CHARACTER)))
