"""The space that a program's trials have asked for so far, as parameters and conditions of Vernier.

A program that defines its space by running shows it one trial at a time. A parameter that was asked for in some trials only is
taken for conditional if other parameters tell those trials from the rest, as the values of ``optimizer`` tell when
``momentum`` is asked for. What cannot be told that way counts as always there: a trial that did not ask for it gets a value
that makes no difference.
"""

from __future__ import annotations

import json
import math
from dataclasses import dataclass, field
from typing import AbstractSet, Any, Iterable, Mapping, Optional, Sequence, Union

from vernier._space import Categorical, Discrete, Float, Int, Parameter
from vernier.optuna._states import TrialState
from vernier.optuna.distributions import (
    BaseDistribution,
    CategoricalDistribution,
    FloatDistribution,
    IntDistribution,
    distribution_to_json,
    json_to_distribution,
)
from vernier.optuna.trial import FrozenTrial

Encoded = Union[int, float, str]
Point = dict[str, Encoded]

# Trials in a row that must ask with the same range before a range that was wider earlier is given up for it. A choice:
# few, as points outside are useless, and enough that a range that moves with other parameters is rarely mistaken.
_SETTLED = 5
# Most values of a whole number that others may depend on: beyond, it is a quantity and not a switch. A choice.
_MOST_CASES = 64
# Name of the parameter that tells repeated points apart.
_REPETITION = "(repetition)"
# Bounds of the core (include/vernier/core/limits.h): bytes of a name and of a choice, parameters of a study.
_MOST_NAME = 128
_MOST_CHOICE = 1024
_MOST_PARAMETERS = 1000
# Up to here every whole number is a double.
_MOST_WHOLE = 2**53


@dataclass(frozen=True)
class Node:
    """A parameter, and when it is active: if each of these parents has one of these values."""

    name: str
    distribution: BaseDistribution
    when: tuple[tuple[str, tuple[Encoded, ...]], ...] = ()
    # The choices of a categorical parameter, as Vernier has them.
    codes: Sequence[Encoded] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        dist = self.distribution
        object.__setattr__(self, "codes", _codes(dist) if isinstance(dist, CategoricalDistribution) else ())

    def parameter(self) -> Parameter:
        when = {parent: list(values) for parent, values in self.when} or None
        dist = self.distribution
        if isinstance(dist, FloatDistribution):
            return Float(dist.low, dist.high, log=dist.log, step=dist.step, when=when)
        if isinstance(dist, IntDistribution):
            return Int(dist.low, dist.high, log=dist.log, step=None if dist.step == 1 else dist.step, when=when)
        assert isinstance(dist, CategoricalDistribution)
        if isinstance(self.codes[0], str):
            return Categorical(self.codes, when=when)
        return Discrete([code for code in self.codes if not isinstance(code, str)], when=when)

    def encode(self, value: Any) -> Optional[Encoded]:
        """The value as Vernier has it; None if it lies outside the domain."""
        try:
            internal = self.distribution.to_internal_repr(value)
        except ValueError:
            return None
        if not self.distribution._contains(internal):
            return None
        if isinstance(self.distribution, CategoricalDistribution):
            return self.codes[int(internal)]
        if isinstance(self.distribution, FloatDistribution):
            return self.distribution.on_grid(float(internal))
        return int(internal)

    def decode(self, value: Encoded) -> Any:
        if isinstance(self.distribution, CategoricalDistribution):
            return self.distribution.choices[self.codes.index(value)]
        return int(value) if isinstance(self.distribution, IntDistribution) else float(value)

    def cases(self) -> Optional[Sequence[Encoded]]:
        """The values that other parameters may depend on; None if there are too many."""
        dist = self.distribution
        if isinstance(dist, CategoricalDistribution):
            return self.codes
        if isinstance(dist, IntDistribution) and (dist.high - dist.low) // dist.step < _MOST_CASES:
            return list(range(dist.low, dist.high + 1, dist.step))
        return None

    def middle(self) -> Encoded:
        dist = self.distribution
        if isinstance(dist, CategoricalDistribution):
            return self.codes[0]
        assert isinstance(dist, (FloatDistribution, IntDistribution))
        middle = math.sqrt(dist.low) * math.sqrt(dist.high) if dist.log else dist.low / 2 + dist.high / 2
        if dist.step is None:
            return middle
        value = dist.low + round((middle - dist.low) / dist.step) * dist.step
        return int(value) if isinstance(dist, IntDistribution) else dist.on_grid(value)


@dataclass
class Tree:
    """Parameters by name, every parent before its children."""

    nodes: dict[str, Node] = field(default_factory=dict)
    outside: frozenset[str] = frozenset()
    """Names of parameters that the space leaves out; a trial may ask for them."""
    repeats: bool = False
    """Whether points may be tried again. A further parameter tells them apart, since Vernier proposes no point twice."""

    def knows(self, names: Iterable[str]) -> bool:
        return all(name in self.nodes or name in self.outside for name in names)

    def without(self, names: AbstractSet[str]) -> Tree:
        nodes = {
            name: Node(name, node.distribution, tuple(one for one in node.when if one[0] not in names))
            for name, node in self.nodes.items()
            if name not in names
        }
        return Tree(nodes, self.outside | names, self.repeats)

    def is_finite(self) -> bool:
        return all(getattr(node.distribution, "step", 1) is not None for node in self.nodes.values())

    def is_outside(self, name: str, value: Any) -> bool:
        return name not in self.nodes or self.nodes[name].encode(value) is None

    def space(self) -> dict[str, Parameter]:
        space = {name: node.parameter() for name, node in self.nodes.items()}
        return {**space, _REPETITION: Float(0, 1)} if self.repeats else space

    def decode(self, point: Mapping[str, Any]) -> dict[str, Any]:
        return {name: self.nodes[name].decode(value) if name in self.nodes else value for name, value in point.items()}

    def point_of(self, params: Mapping[str, Any], drawn: Mapping[str, Any]) -> Optional[Point]:
        """The point of a trial: values of the active parameters. One that the trial did not ask for has the value that was
        drawn for it. None: a value lies outside its domain."""
        point: Point = {}
        for name, node in self.nodes.items():
            if not _is_active(node, point):
                continue
            if name in params:
                value = node.encode(params[name])
                if value is None:
                    return None
            else:
                value = node.encode(drawn[name]) if name in drawn else None
                if value is None:
                    value = node.middle()
            point[name] = value
        if self.repeats:
            point[_REPETITION] = drawn.get(_REPETITION, 0.5)
        return point

    def explains(self, trial: FrozenTrial, recent: Recent) -> bool:
        """Whether the trial asked for exactly the parameters that are active at its point, within their domains."""
        point = self.point_of(trial.params, {})
        if point is None:
            return False
        for name, dist in trial.distributions.items():
            if name in self.outside or (dist.single() and name not in self.nodes):
                continue
            if name not in point or _union([self.nodes[name].distribution, dist]) != self.nodes[name].distribution:
                return False
            if dist != self.nodes[name].distribution and recent.is_settled(name):
                return False
        return trial.state is not TrialState.COMPLETE or all(name in trial.params or name == _REPETITION for name in point)

    def to_json(self) -> str:
        nodes = [[n.name, distribution_to_json(n.distribution), n.when] for n in self.nodes.values()]
        return json.dumps([nodes, sorted(self.outside), self.repeats])

    @staticmethod
    def from_json(text: str) -> Tree:
        nodes = {}
        rows, outside, repeats = json.loads(text)
        for name, dist, when in rows:
            conditions = tuple((parent, tuple(values)) for parent, values in when)
            nodes[name] = Node(name, json_to_distribution(dist), conditions)
        return Tree(nodes, frozenset(outside), repeats)


class Recent:
    """The distributions that finished trials asked with, by name of the parameter."""

    def __init__(self) -> None:
        self._runs: dict[str, tuple[BaseDistribution, int]] = {}  # The last one, and how often in a row it was used.

    def add(self, trial: FrozenTrial) -> None:
        for name, dist in trial.distributions.items():
            last, count = self._runs.get(name, (dist, 0))
            self._runs[name] = (dist, count + 1 if dist == last else 1)

    def is_settled(self, name: str) -> bool:
        return self._runs[name][1] >= _SETTLED

    def last(self, name: str) -> BaseDistribution:
        return self._runs[name][0]


def infer(
    trials: Iterable[FrozenTrial],
    recent: Recent,
    known: Mapping[str, BaseDistribution] = {},
    outside: AbstractSet[str] = frozenset(),
) -> Tree:
    """The space of these finished trials, and of parameters that are known to be asked for, without those `outside`."""
    trials = list(trials)
    nodes: dict[str, Node] = {}
    asked: dict[str, list[BaseDistribution]] = {name: [dist] for name, dist in known.items()}
    for trial in trials:
        for name, dist in trial.distributions.items():
            asked.setdefault(name, []).append(dist)
    left_out = set(outside)
    for name, dists in sorted(asked.items(), key=lambda item: -len(item[1])):
        if name in outside:
            continue
        settled = name not in known and recent.is_settled(name)
        dist = recent.last(name) if settled else _union(dists)
        if len(nodes) == _MOST_PARAMETERS or not _is_expressible(name, dist):
            left_out.add(name)
        elif not dist.single():
            nodes[name] = Node(name, dist)
    views = [_View(trial, nodes) for trial in trials]
    for name in [name for name in nodes if name not in known]:
        nodes[name] = Node(name, nodes[name].distribution, _conditions(name, views, nodes))
    order = {name: i for i, name in enumerate(asked)}
    return Tree(_parents_first(nodes, order), frozenset(left_out))


class _View:
    """A trial as the search for conditions sees it."""

    def __init__(self, trial: FrozenTrial, nodes: Mapping[str, Node]) -> None:
        self.codes = {name: nodes[name].encode(value) for name, value in trial.params.items() if name in nodes}
        self.places = {name: i for i, name in enumerate(trial.params)}
        self.is_whole = trial.state is TrialState.COMPLETE


def _conditions(
    name: str, views: Sequence[_View], nodes: Mapping[str, Node]
) -> tuple[tuple[str, tuple[Encoded, ...]], ...]:
    having = [view for view in views if name in view.codes]
    # A trial that was pruned or failed may have ended before it asked: it counts only where no completed one speaks.
    without = [view for view in views if name not in view.codes]
    lacking = [view for view in without if view.is_whole] or without
    if not lacking or not having:
        return ()
    parents: dict[str, tuple[Encoded, ...]] = {}
    for parent in having[-1].codes:
        if parent == name or not all(parent in v.codes and v.places[parent] < v.places[name] for v in having):
            continue
        values = _active_cases(nodes[parent], having, without)
        if values is not None:
            parents[parent] = values
    nearest_first = sorted(parents, key=lambda parent: -having[-1].places[parent])
    left, chosen = lacking, []
    while left:
        # The first of equals: the nearest, which is the usual way to write a branch.
        best = max(nearest_first, key=lambda p: sum(_excludes(p, parents[p], view) for view in left), default=None)
        rest = left if best is None else [view for view in left if not _excludes(best, parents[best], view)]
        if best is None or len(rest) == len(left):
            return ()
        chosen.append(best)
        left = rest
    return tuple((parent, parents[parent]) for parent in sorted(chosen))


def _active_cases(parent: Node, having: Sequence[_View], lacking: Sequence[_View]) -> Optional[tuple[Encoded, ...]]:
    """The values of `parent` with which a parameter is taken for active, given trials that have it and that lack it."""
    cases = parent.cases()
    with_it = {view.codes[parent.name] for view in having}
    if cases is None or None in with_it:
        return None
    # A trial that ended early counts only as far as no other one speaks for the value.
    without = {view.codes.get(parent.name) for view in lacking if view.is_whole}
    without |= {view.codes.get(parent.name) for view in lacking} - with_it
    active = [case for case in cases if case in with_it]
    if not isinstance(cases[0], str):
        # Of numbers, values that were not seen yet go with the side they lie on: layers 3 and 4 if 5 has it and 2 has not.
        numbers: list[Any] = [case for case in without if case is not None]
        if numbers and max(numbers) < min(active):
            active = [case for case in cases if case > max(numbers)]
        elif numbers and min(numbers) > max(active):
            active = [case for case in cases if case < min(numbers)]
    return None if len(active) == len(cases) and None not in without else tuple(active)


def _excludes(parent: str, values: tuple[Encoded, ...], view: _View) -> bool:
    return view.codes.get(parent) not in values


def _parents_first(nodes: Mapping[str, Node], order: Mapping[str, int]) -> dict[str, Node]:
    placed: dict[str, Node] = {}

    def place(name: str) -> None:
        for parent, _ in nodes[name].when:
            if parent not in placed:
                place(parent)
        placed.setdefault(name, nodes[name])

    for name in sorted(nodes, key=lambda name: order[name]):
        place(name)
    return placed


def _is_active(node: Node, point: Point) -> bool:
    return all(point.get(parent) in values for parent, values in node.when)


def _union(dists: Sequence[BaseDistribution]) -> BaseDistribution:
    """The smallest distribution that holds all of these, which differ in their ranges only."""
    first = dists[0]
    if all(dist == first for dist in dists) or not isinstance(first, (FloatDistribution, IntDistribution)):
        return first
    low = min(dist.low for dist in dists)  # type: ignore[attr-defined]
    high = max(dist.high for dist in dists)  # type: ignore[attr-defined]
    steps = {dist.step for dist in dists}  # type: ignore[attr-defined]
    [step] = steps if len(steps) == 1 else [None]
    fits = step is not None and all(
        FloatDistribution(low, high)._contains(dist.low)  # type: ignore[attr-defined]
        and ((dist.low - low) / step).is_integer()  # type: ignore[attr-defined]
        for dist in dists
    )
    if isinstance(first, IntDistribution):
        return IntDistribution(int(low), int(high), log=first.log, step=step if fits and step else 1)
    return FloatDistribution(low, high, log=first.log, step=step if fits else None)


def _is_expressible(name: str, dist: BaseDistribution) -> bool:
    """Whether a study can have the parameter. Others are drawn at random."""
    if not 0 < len(name.encode("utf-8", "replace")) <= _MOST_NAME or not name.isprintable():
        return False
    if isinstance(dist, IntDistribution):
        return max(abs(dist.low), abs(dist.high)) < _MOST_WHOLE
    return not isinstance(dist, FloatDistribution) or math.isfinite(dist.high - dist.low)


def _is_ordered(dist: CategoricalDistribution) -> bool:
    """Whether the choices are ascending numbers, at least three, such as batch sizes: neighbours are then alike."""
    choices = dist.choices
    return (
        len(choices) > 2
        and all(type(choice) in (int, float) and math.isfinite(choice) for choice in choices)  # type: ignore[arg-type]
        and all(a < b for a, b in zip(choices, choices[1:]))  # type: ignore[operator]
    )


def _codes(dist: CategoricalDistribution) -> Sequence[Encoded]:
    return dist.choices if _is_ordered(dist) else _labels(dist)  # type: ignore[return-value]


def _labels(dist: CategoricalDistribution) -> list[str]:
    """Texts for the choices, which may be any objects."""
    labels = [choice if isinstance(choice, str) else repr(choice) for choice in dist.choices]
    if len(set(labels)) == len(labels) and all(
        0 < len(label.encode("utf-8", "replace")) <= _MOST_CHOICE and label.isprintable() for label in labels
    ):
        return labels
    return [f"choice {i}" for i in range(len(labels))]
