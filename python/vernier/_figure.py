"""Figures as values: panels with axes, and marks in units of the data. ``plots`` makes them and does not know how they are
drawn; the renderers (``_svg``, ``_matplotlib``, ``_vega``, ``_plotly``) do not know studies."""

from __future__ import annotations

import json
import math
import sys
import os
from typing import Any, NamedTuple, Optional, Sequence, Union

from vernier import _values
from vernier._errors import InvalidValueError, NotFoundError

Number = Optional[float]

# Colours of Okabe and Ito, which can be told apart with any colour vision.
TEXT, MUTED, FAINT = "#222222", "#6b6b6b", "#e4e4e4"
BLUE, SKY, GREEN, ORANGE, RED = "#0072b2", "#56b4e9", "#009e73", "#e69f00", "#d55e00"
# From the worst to the best, of evenly falling lightness: the best stands out on white.
RAMP = ("#efe345", "#a4d968", "#57c886", "#00b09a", "#0094a3", "#0075a2", "#1f5596", "#37357f", "#3d145e")
SHAPES = ("disc", "ring", "cross", "plus", "diamond", "square", "star", "up", "down")


class Tick(NamedTuple):
    at: float
    text: str


class Axis(NamedTuple):
    """``ticks``: None, if the renderer may choose. Categories stand at 0, 1, 2, … and are ticks. ``is_whole``: only whole
    numbers are ticks."""

    label: str
    low: float
    high: float
    is_log: bool = False
    ticks: Optional[Sequence[Tick]] = None
    is_whole: bool = False

    def share(self, value: float) -> float:
        """Where a value lies between the ends: from 0 to 1."""
        if self.is_log:
            low = math.log(self.low)
            return (math.log(value) - low) / (math.log(self.high) - low)
        # In halves, since the whole length may be larger than any number.
        return (value / 2 - self.low / 2) / (self.high / 2 - self.low / 2)

    def chosen_ticks(self, count: int) -> Sequence[Tick]:
        """About ``count`` ticks, or those that the axis has."""
        if self.ticks is not None:
            return self.ticks
        values = _log_numbers(self.low, self.high, count) if self.is_log else round_numbers(self.low, self.high, count)
        return [Tick(value, short(value)) for value in values if not self.is_whole or value == round(value)]


class Points(NamedTuple):
    """``label``: its entry in the legend; empty: none. ``tips``: texts shown under the pointer, one for each point.
    ``levels``: from 0, the worst, to 1, the best; colours of the ramp instead of ``color``."""

    x: Sequence[float]
    y: Sequence[float]
    tips: Sequence[str]
    label: str = ""
    color: str = BLUE
    shape: str = "disc"
    size: float = 3.5
    """Half of its width in pixels."""
    levels: Optional[Sequence[float]] = None


class Line(NamedTuple):
    """None in ``x`` breaks it. ``level``: its colour on the ramp, instead of ``color``."""

    x: Sequence[Number]
    y: Sequence[Number]
    label: str = ""
    color: str = TEXT
    width: float = 1.5
    opacity: float = 1
    tip: str = ""
    level: Optional[float] = None

    def parts(self) -> list[tuple[list[float], list[float]]]:
        parts: list[tuple[list[float], list[float]]] = [([], [])]
        for x, y in zip(self.x, self.y):
            if x is None or y is None:
                parts.append(([], []))
            else:
                parts[-1][0].append(x)
                parts[-1][1].append(y)
        return [part for part in parts if part[0]]


class Band(NamedTuple):
    """The area between two curves."""

    x: Sequence[float]
    low: Sequence[float]
    high: Sequence[float]
    label: str = ""
    color: str = SKY
    opacity: float = 0.3


class Boxes(NamedTuple):
    """Rectangles (left, bottom, right, top). ``levels``: as for Points."""

    corners: Sequence[tuple[float, float, float, float]]
    tips: Sequence[str]
    label: str = ""
    color: str = BLUE
    opacity: float = 1
    levels: Optional[Sequence[float]] = None


class Words(NamedTuple):
    """Texts to the right of positions."""

    x: Sequence[float]
    y: Sequence[float]
    texts: Sequence[str]


Mark = Union[Points, Line, Band, Boxes, Words]


class Panel(NamedTuple):
    """``rulers``: vertical axes at 0, 1, 2, … instead of ``x`` and ``y``; marks are in their shares, from 0 to 1."""

    x: Axis
    y: Axis
    marks: Sequence[Mark]
    title: str = ""
    rulers: Sequence[Axis] = ()


class Bar(NamedTuple):
    """The meaning of the ramp's colours: ticks at levels."""

    label: str
    ticks: Sequence[Tick]


class Figure:
    """A figure of a study, made by a function of ``vernier.plots``.

    Jupyter shows it by itself. ``data`` has the numbers in it: one mapping for each row of a table.
    """

    def __init__(
        self,
        title: str,
        panels: Sequence[Panel] = (),
        *,
        data: Sequence[dict[str, Any]] = (),
        subtitle: str = "",
        notes: Sequence[str] = (),
        bar: Optional[Bar] = None,
        columns: int = 1,
        height: float = 320,
        empty: str = "",
    ) -> None:
        self.title = title
        self.subtitle = subtitle
        self.notes: list[str] = list(notes)
        """Sentences below the figure."""
        self.data: list[dict[str, Any]] = list(data)
        self.empty: str = empty or ("" if panels else "nothing to draw")
        """Why there is nothing to draw; empty if there is something."""
        self._panels = list(panels)
        self._bar = bar
        self._columns = columns
        self._height = height

    def __repr__(self) -> str:
        return f"<vernier.plots.Figure {self.title!r}{': ' + self.empty if self.empty else ''}>"

    # --- renderers ---
    def matplotlib(self, ax: Any = None) -> Any:
        """Draws with matplotlib, and returns the axes: a list of them if there are several panels. ``ax``: axes to draw
        into, as many as it returns; None: those of a new figure.

        InvalidValueError: ``ax`` has another number of axes. ImportError: matplotlib is not installed."""
        from vernier._matplotlib import draw

        return draw(self, ax)

    def vega(self) -> dict[str, Any]:
        """Returns the specification for Vega-Lite 5, with its data in it."""
        from vernier._vega import specification

        return specification(self)

    def plotly(self) -> dict[str, Any]:
        """Returns the figure for Plotly: ``plotly.graph_objects.Figure(figure.plotly())``. Needs no package itself."""
        from vernier._plotly import specification

        return specification(self)

    def svg(self) -> str:
        """Returns the figure as SVG, without scripts and links. Needs no package."""
        from vernier._svg import render

        return render(self)

    def save(self, path: Union[str, os.PathLike[str]]) -> None:
        """Writes a file; its ending decides: ``.svg`` or ``.html`` (no package needed, no network), ``.json`` (Vega-Lite),
        ``.png`` or ``.pdf`` (by matplotlib).

        InvalidValueError: another ending. NotFoundError: there is no such folder. OSError: the file cannot be written. ImportError: matplotlib is not installed."""
        name = _values.path(path, "path")
        ending = os.path.splitext(name)[1].lower()
        folder = os.path.dirname(os.path.abspath(name))
        if ending and not os.path.isdir(folder):
            raise NotFoundError(f"path: must be in a folder that exists, and there is no folder {folder}")
        if ending in (".png", ".pdf"):
            from vernier._matplotlib import save

            return save(self, path)
        if ending == ".svg":
            text = self.svg()
        elif ending == ".html":
            text = _PAGE.format(title=escaped(self.title), svg=self.svg())
        elif ending == ".json":
            text = json.dumps(self.vega(), indent=1, allow_nan=False)
        else:
            raise InvalidValueError(f"path: must end in .svg, .html, .json, .png or .pdf, got {name!r}", field="path")
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, Any]:
        # SVG for whatever shows no Vega-Lite, so that the picture is never blank.
        return {
            "application/vnd.vegalite.v5+json": self.vega(),
            "image/svg+xml": self.svg(),
            "text/plain": repr(self),
        }


_PAGE = """<!DOCTYPE html>
<html lang="en">
<meta charset="utf-8">
<title>{title}</title>
<body style="margin: 1em">
{svg}
</body>
</html>
"""


def legend_of(figure: Figure) -> list[Union[Points, Line, Band, Boxes]]:
    """The marks that the legend names, each label once."""
    marks: dict[str, Union[Points, Line, Band, Boxes]] = {}
    for panel in figure._panels:
        for mark in panel.marks:
            if not isinstance(mark, Words) and mark.label:
                marks.setdefault(mark.label, mark)
    return list(marks.values())


def star_corners() -> list[tuple[float, float]]:
    turns = [(1.15 if i % 2 == 0 else 0.5, math.pi * i / 5) for i in range(10)]
    return [(radius * math.sin(turn), -radius * math.cos(turn)) for radius, turn in turns]


def color_of(level: float) -> str:
    """The colour of a level, between the two nearest of the ramp."""
    place = min(max(level, 0.0), 1.0) * (len(RAMP) - 1)
    first = min(int(place), len(RAMP) - 2)
    below, above = (tuple(int(RAMP[i][k : k + 2], 16) for k in (1, 3, 5)) for i in (first, first + 1))
    return "#" + "".join(f"{round(a + (b - a) * (place - first)):02x}" for a, b in zip(below, above))


def escaped(text: str) -> str:
    """Text for use between tags and in attributes of XML and HTML, without characters that XML cannot have."""
    kept = "".join(
        c if c >= " " and not "\ud800" <= c <= "\udfff" and c not in "\ufffe\uffff" or c in "\n\t" else "?" for c in text
    )
    for character, entity in (("&", "&amp;"), ("<", "&lt;"), (">", "&gt;"), ('"', "&quot;"), ("'", "&#39;")):
        kept = kept.replace(character, entity)
    return kept


def short(number: float) -> str:
    """A number for people: at most four significant digits."""
    text = f"{number:.4g}"
    return text.replace("e+0", "e").replace("e-0", "e-").replace("e+", "e")


def shortened(text: str, most: int = 24) -> str:
    return text if len(text) <= most else text[: most - 1] + "…"


def round_numbers(low: float, high: float, count: int) -> list[float]:
    """Multiples of 1, 2 or 5 times a power of ten between two numbers, about ``count`` of them."""
    rough = (high - low) / max(count, 1)
    if not 0 < rough < math.inf:  # A range wider than the largest number, or of denormal numbers.
        return [low, high]
    power = 10 ** math.floor(math.log10(rough))
    step = next(power * factor for factor in (1, 2, 5, 10) if power * factor >= rough * 0.999)
    first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
    return [round(i * step, 12 - math.floor(math.log10(step))) if step < 1e12 else i * step for i in range(first, last + 1)]


def _log_numbers(low: float, high: float, count: int) -> list[float]:
    """Powers of ten, or also 2 and 5 times them, between two numbers; round numbers if the range is too narrow for that."""
    exponents = range(math.floor(math.log10(low)), min(math.ceil(math.log10(high)), sys.float_info.max_10_exp) + 1)
    most = min(high * (1 + 1e-8), sys.float_info.max)
    for factors in ((1,), (1, 3), (1, 2, 5)):
        values = [
            factor * 10.0**e
            for e in exponents
            for factor in factors
            if low <= factor * 10.0**e * (1 + 1e-9) <= most
        ]
        if len(values) > count:
            every = math.ceil(len(values) / count)
            return values[::every]
        if len(values) >= max(3, count // 2):
            return values
    return round_numbers(low, high, count)
