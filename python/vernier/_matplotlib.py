"""Figures by matplotlib."""

from __future__ import annotations

import math
import os
import textwrap
from typing import Any, Union

from vernier._errors import InvalidValueError
from vernier._figure import FAINT, MUTED, RAMP, Axis, Band, Boxes, Figure, Line, Mark, Panel, Points, color_of, legend_of

_SHAPES = {
    "disc": "o",
    "ring": "o",
    "cross": "x",
    "plus": "+",
    "diamond": "D",
    "square": "s",
    "star": "*",
    "up": "^",
    "down": "v",
}
# Inches for a pixel of the other renderers.
_INCH = 1 / 100
_FEW_BOXES = 100


def draw(figure: Figure, ax: Any = None) -> Any:
    count = max(1, len(figure._panels))
    axes = _new_axes(figure) if ax is None else _given_axes(ax, count)
    axes[0].set_title(_plain(figure.title) if count == 1 else "", loc="left", fontsize="medium")
    if figure.empty:
        axes[0].set_axis_off()
        axes[0].text(0.5, 0.5, "\n".join(textwrap.wrap(_plain(figure.empty), 60)), ha="center", va="center", color=MUTED)
        return axes[0]
    for panel, one in zip(figure._panels, axes):
        _draw_panel(panel, one)
    _legend(figure, axes)
    if figure._bar is not None:
        _bar(figure, axes[0])
    return axes[0] if count == 1 else axes


def save(figure: Figure, path: Union[str, os.PathLike[str]]) -> None:
    axes = draw(figure)
    drawing = (axes[0] if isinstance(axes, list) else axes).figure
    try:
        drawing.savefig(path, dpi=150, bbox_inches="tight")
    finally:
        import matplotlib.pyplot

        matplotlib.pyplot.close(drawing)


def _new_axes(figure: Figure) -> list[Any]:
    try:
        import matplotlib.pyplot as pyplot
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] != "matplotlib":
            raise
        raise ModuleNotFoundError(
            "figure: .png, .pdf and axes need matplotlib, which is not installed; saving as .svg, .html or .json needs no package",
            name="matplotlib",
        ) from None

    count = max(1, len(figure._panels))
    columns = min(figure._columns, count)
    rows = math.ceil(count / columns)
    height = 100 if figure.empty else figure._height * rows + 110 + 17 * len(figure.notes)
    size = (7.6, height * _INCH)
    drawing, grid = pyplot.subplots(rows, columns, figsize=size, squeeze=False, layout="constrained")
    axes = list(grid.flat)
    for unused in axes[count:]:
        unused.remove()
    lines = [line for text in [figure.subtitle, *figure.notes] if text for line in textwrap.wrap(_plain(text), 110)]
    if count > 1:  # The legend is below.
        drawing.suptitle("\n".join([_plain(figure.title), *lines]), x=0.01, ha="left", fontsize="medium")
    elif lines and not figure.empty:
        drawing.supxlabel("\n".join(lines), x=0.01, ha="left", fontsize="small", color=MUTED)
    return axes[:count]


def _given_axes(ax: Any, count: int) -> list[Any]:
    axes = list(ax.flat) if hasattr(ax, "flat") else list(ax) if isinstance(ax, (list, tuple)) else [ax]
    if not all(hasattr(one, "set_title") for one in axes):
        raise TypeError(f"ax: must be axes of matplotlib, got {ax!r}")
    if len(axes) != count:
        raise InvalidValueError(f"ax: must be {count} axes, got {len(axes)}", field="ax")
    return axes


def _draw_panel(panel: Panel, ax: Any) -> None:
    if panel.rulers:
        _rulers(panel, ax)
    else:
        _axis(panel.x, ax.xaxis, ax.set_xscale, ax.set_xlim, ax.set_xlabel)
        _axis(panel.y, ax.yaxis, ax.set_yscale, ax.set_ylim, ax.set_ylabel)
        ax.grid(color=FAINT, linewidth=0.8)
        ax.set_axisbelow(True)
        ax.spines[["top", "right"]].set_visible(False)
    for order, mark in enumerate(panel.marks):
        _draw_mark(mark, ax, 2 + order / 1000)


def _axis(axis: Axis, at: Any, set_scale: Any, set_limits: Any, set_label: Any) -> None:
    if axis.is_log:
        set_scale("log")
    set_limits(axis.low, axis.high)
    set_label(_plain(axis.label))
    if axis.is_whole and not axis.is_log:
        at.get_major_locator().set_params(integer=True)
    if axis.ticks is not None:
        at.set_ticks([tick.at for tick in axis.ticks], [_plain(tick.text) for tick in axis.ticks])
        at.minorticks_off()


def _rulers(panel: Panel, ax: Any) -> None:
    last = len(panel.rulers) - 1
    ax.set(xlim=(-0.35, last + 0.35), ylim=(-0.02, 1.02), yticks=[])
    ax.xaxis.tick_top()
    ax.set_xticks(range(last + 1), [_plain(ruler.label) for ruler in panel.rulers])
    if last > 6:
        ax.tick_params(axis="x", labelrotation=30)
    ax.spines[["top", "right", "left", "bottom"]].set_visible(False)
    ax.tick_params(length=0)
    halo = {"facecolor": "white", "edgecolor": "none", "alpha": 0.75, "pad": 0.6}
    for i, ruler in enumerate(panel.rulers):
        ax.axvline(i, color=MUTED, linewidth=0.8, zorder=1)
        # On the right of the last ruler there are no lines.
        at, side = (i + 0.03, "left") if i == last else (i - 0.03, "right")
        for tick in ruler.chosen_ticks(5):
            share = ruler.share(tick.at)
            if -0.01 <= share <= 1.01:
                ax.text(at, share, _plain(tick.text), ha=side, va="center", fontsize="x-small", bbox=halo, zorder=5)


def _draw_mark(mark: Mark, ax: Any, order: float) -> None:
    if isinstance(mark, Points):
        _draw_points(mark, ax, order)
    elif isinstance(mark, Line):
        color = mark.color if mark.level is None else color_of(mark.level)
        xs, ys = ([math.nan if value is None else value for value in values] for values in (mark.x, mark.y))
        ax.plot(xs, ys, color=color, linewidth=mark.width * 0.8, alpha=mark.opacity, zorder=order)
    elif isinstance(mark, Band):
        ax.fill_between(mark.x, mark.low, mark.high, color=mark.color, alpha=mark.opacity, linewidth=0, zorder=order)
    elif isinstance(mark, Boxes):
        _draw_boxes(mark, ax, order)
    else:
        for x, y, text in zip(mark.x, mark.y, mark.texts):
            ax.text(x, y, _plain(text), va="center", fontsize="small", color=MUTED, zorder=order)


def _draw_points(mark: Points, ax: Any, order: float) -> None:
    area = (mark.size * (2.2 if mark.shape == "star" else 1.5)) ** 2
    colors = mark.color if mark.levels is None else [color_of(level) for level in mark.levels]
    # Points at the ends of the axis are whole.
    look = {"s": area, "marker": _SHAPES[mark.shape], "zorder": order, "clip_on": False}
    if mark.shape in ("cross", "plus"):
        ax.scatter(mark.x, mark.y, c=colors, linewidths=1.3, **look)
    elif mark.shape == "ring":
        ax.scatter(mark.x, mark.y, facecolors="none", edgecolors=colors, linewidths=1.2, **look)
    else:
        edge = "#222222" if mark.color == "#ffffff" else "white"
        ax.scatter(mark.x, mark.y, c=colors, edgecolors=edge, linewidths=0.5, **look)


def _draw_boxes(mark: Boxes, ax: Any, order: float) -> None:
    from matplotlib.collections import PolyCollection

    corners = [[(a, b), (c, b), (c, d), (a, d)] for a, b, c, d in mark.corners]
    colors = mark.color if mark.levels is None else [color_of(level) for level in mark.levels]
    # The thin edge closes the gaps between neighbours.
    edges = colors if mark.levels is not None else "none"
    ax.add_collection(
        PolyCollection(corners, facecolors=colors, edgecolors=edges, linewidths=0.4, alpha=mark.opacity, zorder=order),
        autolim=False,
    )


def _legend(figure: Figure, axes: list[Any]) -> None:
    from matplotlib.lines import Line2D
    from matplotlib.patches import Patch

    handles: list[Any] = []
    for mark in legend_of(figure):
        if isinstance(mark, Points):
            look: dict[str, Any] = {"color": mark.color, "markersize": 8 if mark.shape == "star" else 5, "linestyle": ""}
            look.update(markerfacecolor="none" if mark.shape == "ring" else mark.color)
            look.update({"markeredgecolor": "#222222"} if mark.color == "#ffffff" else {})
            handles.append(Line2D([], [], marker=_SHAPES[mark.shape], label=_plain(mark.label), **look))
        elif isinstance(mark, Line):
            handles.append(Line2D([], [], color=mark.color, linewidth=mark.width, label=_plain(mark.label)))
        else:
            handles.append(Patch(color=mark.color, alpha=mark.opacity, label=_plain(mark.label)))
    if handles and len(axes) == 1:
        # The best place is far from the marks; among many boxes that takes seconds to find.
        boxes = sum(len(mark.corners) for panel in figure._panels for mark in panel.marks if isinstance(mark, Boxes))
        place = "best" if boxes <= _FEW_BOXES else "upper right"
        axes[0].legend(handles=handles, fontsize="small", framealpha=0.85, loc=place)
    elif handles:
        axes[0].figure.legend(handles=handles, loc="outside lower left", ncols=4, fontsize="small", frameon=False)


def _bar(figure: Figure, ax: Any) -> None:
    from matplotlib.cm import ScalarMappable
    from matplotlib.colors import LinearSegmentedColormap

    assert figure._bar is not None
    ramp = LinearSegmentedColormap.from_list("vernier", RAMP)
    bar = ax.figure.colorbar(ScalarMappable(cmap=ramp), ax=ax, pad=0.02)
    ticks = [tick for tick in figure._bar.ticks if 0 <= tick.at <= 1]
    bar.set_ticks([tick.at for tick in ticks], labels=[_plain(tick.text) for tick in ticks])
    bar.set_label(_plain(figure._bar.label))
    bar.outline.set_visible(False)


def _plain(text: str) -> str:
    """Text that matplotlib does not read as a formula."""
    return text.replace("$", r"\$")
