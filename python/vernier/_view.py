"""What figures are made from: the trials of a study, read once, axes for its parameters, and its model."""

from __future__ import annotations

import math
import random
import sys
from typing import TYPE_CHECKING, Any, Iterable, Mapping, Optional, Sequence

from vernier import _values
from vernier._errors import InvalidValueError, StateError
from vernier._figure import Axis, Tick, round_numbers, short, shortened
from vernier._space import Bool, Discrete, Float, Int, Parameter
from vernier._values import Value

if TYPE_CHECKING:
    from vernier._study import Study
    from vernier._trials import TrialRecord

Point = Mapping[str, Value]

# Values of a list that get a column each; a longer list of numbers gets an axis of numbers.
_MOST_COLUMNS = 30
# Points of one call, so that a call is short.
_CHUNK = 1000
# Trials that a model is fitted to, if the study has none. A choice: a second or so.
_MOST_FITTED = 300
# Largest value that is drawn: differences of larger ones may be infinite.
_LARGEST = 1e300
# Parameters that a tooltip names.
_MOST_IN_TIP = 12
_MOST_LONG_TIPS = 2000


class Source:
    """Base class of what figures take in the place of a Study: it has the name, objectives, definition, space, trials, curve
    and predict of one."""


class View:
    """A study at one moment."""

    def __init__(self, study: Study) -> None:
        from vernier._study import Study

        if not isinstance(study, (Study, Source)):
            raise TypeError(f"study: must be a study, got {study!r}")
        self.study = study
        self.name = study.name
        self.objectives = study.objectives
        self.definition = study.definition
        self.space = study.space
        self.trials = sorted(study.trials, key=lambda record: record.number)
        self.models: dict[str, tuple[Optional[Model], str]] = {}
        """Those that model_of has found, by objective."""
        self._parents_first = _parents_first(self.space)

    # --- metrics ---
    def objective(self, name: Optional[str], field: str = "objective", other: Optional[str] = None) -> str:
        """The objective of this name; without a name the first one, but not the `other` one."""
        names = list(self.objectives)
        if name is None:
            return next(metric for metric in names if metric != other)
        if _values.text(name, field) not in names:
            raise InvalidValueError(f"{field}: must be one of the objectives {', '.join(names)}, got {name!r}", field=field)
        return name

    def maximizes(self, metric: str) -> bool:
        return self.objectives.get(metric) == "maximize"

    def is_better(self, metric: str, one: float, other: float) -> bool:
        return one > other if self.maximizes(metric) else one < other

    def value(self, record: TrialRecord, metric: str) -> Optional[float]:
        """The final or last value of a trial that did not fail; None: it has none that can be drawn."""
        if fate_of(record) == "failed":
            return None
        value = record.metrics.get(metric, record.last.get(metric))
        return value if value is not None and abs(value) <= _LARGEST else None

    def values(self, metric: str) -> list[float]:
        return [value for value in (self.value(record, metric) for record in self.trials) if value is not None]

    def best(self, metric: str, having: Iterable[str] = ()) -> Optional[TrialRecord]:
        """The trial with the best value of those that count and have these parameters."""
        names = list(having)
        counted = [
            (value, record)
            for record in self.trials
            if counts(record)
            and all(name in record.params for name in names)
            and (value := self.value(record, metric)) is not None
        ]
        if not counted:
            return None
        pick = max if self.maximizes(metric) else min
        return pick(counted, key=lambda pair: pair[0])[1]

    def best_of(self, metric: str, records: Sequence[TrialRecord], most: int) -> list[TrialRecord]:
        """The trials with the best values of those that have one, in the order of their numbers."""
        sign = -1 if self.maximizes(metric) else 1
        ranked = sorted(records, key=lambda record: sign * (self.value(record, metric) or 0))[:most]
        return sorted(ranked, key=lambda record: record.number)

    def tip(self, record: TrialRecord, *metrics: str) -> str:
        values = [f"{name} {short(value)}" for name in metrics if (value := self.value(record, name)) is not None]
        # Thousands of long texts would make a figure of megabytes.
        most = _MOST_IN_TIP if len(self.trials) <= _MOST_LONG_TIPS else 0
        params = [f"{name}={_shown(value)}" for name, value in list(record.params.items())[:most]]
        return "\n".join([f"trial {record.number}: {', '.join(values) or 'no value'} ({fate_of(record)})", *params])

    # --- points ---
    def parameter(self, name: Any, field: str) -> str:
        if _values.text(name, field) not in self.space:
            raise InvalidValueError(
                f"{field}: must be one of the parameters {', '.join(self.space)}, got {name!r}", field=field
            )
        return str(name)

    def moved(self, metric: str, point: Point, changes: Point) -> dict[str, Value]:
        """The point with other values. A parameter that becomes active has its value in the best trial that has it."""
        moved: dict[str, Value] = {}
        for name in self._parents_first:
            if not _is_active(self.space[name], moved):
                continue
            if name in changes:
                moved[name] = changes[name]
            else:
                moved[name] = point[name] if name in point else self._fresh(metric, name)
        return moved

    def _fresh(self, metric: str, name: str) -> Value:
        donor = self.best(metric, [name])
        if donor is not None:
            return donor.params[name]
        default = self.space[name].default
        return default if default is not None else value_at(self.space[name], 0.5)

    def sample(self, count: int) -> list[dict[str, Value]]:
        """Random points, the same for the same study."""
        chance = random.Random(1)
        return [self._random_point(chance) for _ in range(count)]

    def _random_point(self, chance: random.Random) -> dict[str, Value]:
        point: dict[str, Value] = {}
        for name in self._parents_first:
            if _is_active(self.space[name], point):
                point[name] = value_at(self.space[name], chance.random())
        return point


def fate_of(record: TrialRecord) -> str:
    """How figures name what became of a trial."""
    if record.state == "COMPLETED":
        if record.feasible is False:
            return "breaks a constraint"
        return "completed" if record.stopped is None else "stopped early"
    return {"FAILED": "failed", "INFEASIBLE": "failed", "CANCELLED": "cancelled"}.get(record.state, "not ended")


def counts(record: TrialRecord) -> bool:
    """Whether the trial may be the best one."""
    return record.state == "COMPLETED" and record.feasible is not False


def _shown(value: Value) -> str:
    return short(value) if isinstance(value, float) else shortened(str(value))


def _parents_first(space: Mapping[str, Parameter]) -> list[str]:
    names: list[str] = []
    while len(names) < len(space):
        names += [n for n, p in space.items() if n not in names and all(parent in names for parent in p.when or ())]
    return names


def _is_active(parameter: Parameter, point: Point) -> bool:
    return all(parent in point and point[parent] in _listed(wanted) for parent, wanted in (parameter.when or {}).items())


def _listed(values: Any) -> Sequence[Value]:
    return values if isinstance(values, (list, tuple)) else [values]


# --- axes of parameters ---
def _choices(parameter: Parameter) -> Optional[Sequence[Value]]:
    """The values that get a column each; None: the parameter has an axis of numbers."""
    if isinstance(parameter, Bool):
        return [False, True]
    if isinstance(parameter, (Float, Int)):
        return None
    values: Sequence[Value] = parameter.values  # type: ignore[attr-defined]
    return None if isinstance(parameter, Discrete) and len(values) > _MOST_COLUMNS else values


def is_category(parameter: Parameter) -> bool:
    return _choices(parameter) is not None


def _bounds(parameter: Parameter) -> tuple[float, float]:
    if isinstance(parameter, (Float, Int)):
        return float(parameter.low), float(parameter.high)
    values: Sequence[float] = parameter.values  # type: ignore[attr-defined]
    return float(values[0]), float(values[-1])


def _is_log(parameter: Parameter, reverse: bool = False) -> bool:
    return isinstance(parameter, (Float, Int)) and bool(parameter.reverse_log if reverse else parameter.log)


def _mirrored(parameter: Parameter, value: float) -> float:
    """Where a value stands on an axis that is logarithmic from its upper end."""
    low, high = _bounds(parameter)
    return -math.log10(low + high - value)


def place(parameter: Parameter, value: Value) -> float:
    """Where a value stands on the parameter's axis."""
    choices = _choices(parameter)
    if choices is not None:
        # True is 1 in Python, but not in a study.
        return float([(type(c) is bool, c) for c in choices].index((type(value) is bool, value)))
    return _mirrored(parameter, float(value)) if _is_log(parameter, reverse=True) else float(value)


def axis_of(name: str, parameter: Parameter, margin: float = 0.03) -> Axis:
    choices = _choices(parameter)
    if choices is not None:
        ticks = [Tick(i, shortened(_shown(choice), 14)) for i, choice in enumerate(choices)]
        return Axis(shortened(name), -0.5, len(choices) - 0.5, ticks=ticks)
    low, high = _bounds(parameter)
    if _is_log(parameter, reverse=True):
        ticks = [Tick(_mirrored(parameter, value), short(value)) for value in round_numbers(low, high, 4)]
        return padded(Axis(shortened(name), -math.log10(high), -math.log10(low), ticks=ticks), margin)
    return padded(Axis(shortened(name), low, high, _is_log(parameter), is_whole=isinstance(parameter, Int)), margin)


def padded(axis: Axis, margin: float) -> Axis:
    """The axis with room at both ends, of this share of its length."""
    low, high = axis.low, axis.high
    most = sys.float_info.max
    if axis.is_log:
        # By logarithms, since the ratio of the ends may be larger than any number.
        factor = math.exp((math.log(high) - math.log(low)) * margin) if low < high else 2.0
        return axis._replace(low=max(low / factor, sys.float_info.min), high=min(high * factor, most))
    room = high * margin - low * margin if high > low else 0.5 * (abs(low) or 1)
    return axis._replace(low=max(low - room, -most), high=min(high + room, most))


def value_at(parameter: Parameter, share: float) -> Value:
    """The value at a share of the parameter's range, on its scale, with its steps."""
    values = parameter.__dict__.get("values", [False, True])
    if not isinstance(parameter, (Float, Int)):
        return values[min(int(share * len(values)), len(values) - 1)]  # type: ignore[no-any-return]
    low, high = float(parameter.low), float(parameter.high)
    if parameter.log:
        value = low * (high / low) ** share
    elif parameter.reverse_log:
        value = low + high - low * (high / low) ** (1 - share)
    else:
        value = low + (high - low) * share
    step = parameter.step or (1 if isinstance(parameter, Int) else None)
    if step is not None:
        value = low + step * min(round((value - low) / step), math.floor((high - low) / step + 1e-9))
    return int(value) if isinstance(parameter, Int) else min(max(value, low), high)


def spread(parameter: Parameter, count: int) -> list[Value]:
    """At most ``count`` values over the whole axis, ascending; of a list all of them."""
    choices = _choices(parameter)
    if choices is not None:
        return list(choices)
    return list(dict.fromkeys(value_at(parameter, i / (count - 1)) for i in range(count)))


# --- the model ---
class Model:
    """What a study's model expects of one of its objectives."""

    def __init__(self, name: str, definition: str, study: Study, metric: str) -> None:
        self.name = name
        self._definition = definition
        self._study = study
        self._metric = metric

    def predict(self, points: Sequence[Point]) -> list[Optional[tuple[float, float]]]:
        """Mean and deviation at each point; None where a point violates a constraint of the space."""
        from vernier import _core

        valid = _core.are_valid(self._definition, [dict(point) for point in points])
        asked = [point for point, is_valid in zip(points, valid) if is_valid]
        chunks = [self._study.predict(asked[i : i + _CHUNK]) for i in range(0, len(asked), _CHUNK)]
        is_first = self._metric == next(iter(self._study.objectives))
        answers = iter([(p.mean, p.deviation) if is_first else p.others[self._metric] for chunk in chunks for p in chunk])
        return [next(answers) if is_valid else None for is_valid in valid]


def model_of(view: View, metric: str) -> tuple[Optional[Model], str]:
    """The study's own model, or, if its algorithm has none, one fitted to its completed trials. Otherwise None, and why."""
    if metric not in view.models:
        view.models[metric] = _find_model(view, metric)
    return view.models[metric]


def _find_model(view: View, metric: str) -> tuple[Optional[Model], str]:
    best = view.best(metric)
    if best is None:
        return None, "no trial has a value yet"
    if not view.space:
        return None, "it has no parameters"
    why = ""
    for make in (_own, _fitted):
        try:
            model = make(view, metric)
            model.predict([best.params])
            return model, ""
        except StateError as error:
            why = str(error)
    return None, why


def _own(view: View, metric: str) -> Model:
    return Model(f"model of the study '{view.name}'", view.definition, view.study, metric)


def _fitted(view: View, metric: str) -> Model:
    from vernier._study import create_study

    study = create_study("model", view.space, **{view.objectives[metric]: metric})  # type: ignore[arg-type]
    done = [record for record in view.trials if record.state == "COMPLETED" and view.value(record, metric) is not None]
    for record in done[-_MOST_FITTED:]:
        study.add(record.params, view.value(record, metric))
    which = f"last {_MOST_FITTED} " if len(done) > _MOST_FITTED else ""
    return Model(f"a Gaussian process fitted to the {which}completed trials", view.definition, study, metric)


# --- axes of values ---
class ValueAxis:
    """An axis for an objective, which a few very bad values do not flatten.

    Such an outlier is beyond the axis, and drawn at its bad end. The rule is Tukey's fence, measured from the best value.
    The factors are choices.
    """

    MODES = ("auto", "full", "log", "regret")

    def __init__(self, values: Sequence[float], metric: str, maximizes: bool, mode: str) -> None:
        if mode not in self.MODES:
            raise InvalidValueError(f"axis: must be one of {', '.join(self.MODES)}, got {mode!r}", field="axis")
        self.bad_is_high = not maximizes
        self._regret_of: Optional[float] = None
        low, high = min(values), max(values)
        best = high if maximizes else low
        distances = sorted(abs(value - best) for value in values)
        label, is_log = shortened(metric), False
        if mode == "log" and low <= 0:
            raise InvalidValueError(f"axis: log needs values above 0, got {short(low)}; 'regret' shows any", field="axis")
        if mode == "regret":
            self.bad_is_high, self._regret_of = True, best
            least = next((distance for distance in distances if distance > 0), 0.1)
            label, low, high, is_log = f"distance to the best {label}", least / 2, max(distances[-1], least), True
        elif mode == "log" or (mode == "auto" and self._spans_decades(sorted(values))):
            is_log = True
        else:
            farthest = _farthest_shown(distances) if mode == "auto" else distances[-1]
            low, high = (high - farthest, high) if maximizes else (low, low + farthest)
        self.axis = padded(Axis(label, low, high, is_log), 0.05)

    def _spans_decades(self, ascending: list[float]) -> bool:
        if not self.bad_is_high or ascending[0] <= 0 or len(ascending) < 5:
            return False
        return ascending[int(0.9 * (len(ascending) - 1))] / ascending[0] > 100

    @property
    def bad_end(self) -> float:
        return self.axis.high if self.bad_is_high else self.axis.low

    def place(self, value: float) -> float:
        if self._regret_of is not None:
            value = abs(value - self._regret_of)
        return min(max(value, self.axis.low), self.axis.high)

    def place_or_end(self, value: Optional[float]) -> float:
        """Where a value stands; the bad end of the axis if there is none."""
        return self.bad_end if value is None else self.place(value)

    def is_outlier(self, value: float) -> bool:
        if self._regret_of is not None:
            return False
        return value > self.axis.high if self.bad_is_high else value < self.axis.low

    def level(self, value: float) -> float:
        """From 0, the worst, to 1, the best."""
        share = self.axis.share(self.place(value))
        return 1 - share if self.bad_is_high else share

    def level_ticks(self) -> list[Tick]:
        ticks = self.axis.chosen_ticks(5)
        shares = [self.axis.share(tick.at) for tick in ticks]
        return [Tick(1 - share if self.bad_is_high else share, tick.text) for share, tick in zip(shares, ticks)]


def _farthest_shown(distances: list[float]) -> float:
    """The bad end of an axis, as a distance from the best value; the largest one if there are no outliers."""
    if len(distances) < 5:
        return distances[-1]
    fence = 2.5 * (_quantile(distances, 0.75) or _quantile(distances, 0.9))
    if not fence or distances[-1] < 1.6 * fence:
        return distances[-1]
    return max(distance for distance in distances if distance <= fence) or distances[-1]


def _quantile(ascending: list[float], share: float) -> float:
    place = share * (len(ascending) - 1)
    first = int(place)
    second = min(first + 1, len(ascending) - 1)
    return ascending[first] + (place - first) * (ascending[second] - ascending[first])
