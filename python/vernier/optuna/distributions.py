"""Distributions: what a trial asks a parameter's value from."""

from __future__ import annotations

import json
import math
import numbers
import warnings
from decimal import Decimal
from typing import Any, Generic, Optional, Sequence, TypeVar, Union

CategoricalChoiceType = Union[None, bool, int, float, str]

_Number = TypeVar("_Number", int, float)

# Values are as good as on the grid of a step if they miss it by less than this share of the step.
_ON_GRID = 1e-8


class BaseDistribution:
    """Base class of distributions. Two are equal if they have the same class and the same fields."""

    def to_external_repr(self, param_value_in_internal_repr: float) -> Any:
        """The parameter's value for its internal number: for a categorical parameter the index of the choice."""
        return param_value_in_internal_repr

    def to_internal_repr(self, param_value_in_external_repr: Any) -> float:
        raise NotImplementedError

    def single(self) -> bool:
        """Whether there is only one value."""
        raise NotImplementedError

    def _contains(self, param_value_in_internal_repr: float) -> bool:
        raise NotImplementedError

    def _asdict(self) -> dict[str, Any]:
        return dict(vars(self))

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, BaseDistribution):
            return NotImplemented
        return type(self) is type(other) and vars(self) == vars(other)

    def __hash__(self) -> int:
        return hash((type(self), *sorted(vars(self).items())))

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(f'{name}={value!r}' for name, value in self._asdict().items())})"


class _Range(BaseDistribution, Generic[_Number]):
    low: _Number
    high: _Number
    log: bool

    def single(self) -> bool:
        step = getattr(self, "step", None)
        return self.low == self.high or (step is not None and (self.high - self.low) / step < 1 - _ON_GRID)

    def to_internal_repr(self, param_value_in_external_repr: Any) -> float:
        value = param_value_in_external_repr
        try:
            number = float(value)
        except (TypeError, ValueError):
            raise ValueError(f"a value of {self} must be a number, got {value!r}") from None
        if math.isnan(number):
            raise ValueError(f"a value of {self} must be a number, got {number}")
        if self.log and number <= 0:
            raise ValueError(f"a value on a logarithmic scale must be above 0, got {number}")
        return number

    def _contains(self, param_value_in_internal_repr: float) -> bool:
        value = param_value_in_internal_repr
        if not self.low <= value <= self.high:
            return False
        step = getattr(self, "step", None)
        if step is None:
            return True
        steps: float = (value - self.low) / step
        return abs(steps - round(steps)) < _ON_GRID


def _checked_range(low: float, high: float, log: bool, step: Any, least_step: float) -> None:
    if not (math.isfinite(low) and math.isfinite(high)):
        raise ValueError(f"low and high must be finite, got {low} and {high}")
    if log and step is not None and step != 1:
        raise ValueError(f"step must not be given with log=True, got {step}")
    if low > high:
        raise ValueError(f"low must not be above high, got low={low} and high={high}")
    if log and low < least_step:
        raise ValueError(f"low must be {'above 0' if least_step < 1 else 'at least 1'} with log=True, got {low}")
    if step is not None and step <= 0:
        raise ValueError(f"step must be above 0, got {step}")


def _adjusted_high(low: float, high: float, step: float) -> float:
    """The largest low + k * step that is not above `high`. A warning says if that is not `high` itself."""
    width, exact = Decimal(str(high)) - Decimal(str(low)), Decimal(str(step))
    if width % exact == 0:
        return high
    adjusted = float((width // exact) * exact + Decimal(str(low)))
    warnings.warn(
        f"the range [{low}, {high}] is not divisible by step {step}; it is taken as [{low}, {adjusted}]", stacklevel=4
    )
    return adjusted


class FloatDistribution(_Range[float]):
    """A real number from ``low`` to ``high``; ``log``: on a logarithmic scale; ``step``: only low, low + step, …"""

    def __init__(self, low: float, high: float, log: bool = False, step: Union[None, float] = None) -> None:
        low, high = float(low), float(high)
        _checked_range(low, high, log, step, math.ulp(0.0))
        if log and step is not None:
            raise ValueError(f"step must not be given with log=True, got {step}")
        self.low = low
        self.high: float = high if step is None else _adjusted_high(low, high, float(step))
        self.log = log
        self.step: Optional[float] = None if step is None else float(step)

    def on_grid(self, value: float) -> float:
        """The value of the grid next to `value`, without the rounding errors of low + k * step; `value` without a step."""
        if self.step is None:
            return value
        return min(float(Decimal(str(self.low)) + round((value - self.low) / self.step) * Decimal(str(self.step))), self.high)

    def to_external_repr(self, param_value_in_internal_repr: float) -> float:
        return float(param_value_in_internal_repr)


class IntDistribution(_Range[int]):
    """A whole number from ``low`` to ``high``. The arguments are those of FloatDistribution."""

    def __init__(self, low: int, high: int, log: bool = False, step: int = 1) -> None:
        _checked_range(low, high, log, step, 1)
        self.low: int = int(low)
        self.high: int = int(_adjusted_high(int(low), int(high), int(step)))
        self.log: bool = bool(log)
        self.step: int = int(step)

    def to_external_repr(self, param_value_in_internal_repr: float) -> int:
        return int(param_value_in_internal_repr)


class CategoricalDistribution(BaseDistribution):
    """One of several values without an order."""

    def __init__(self, choices: Sequence[CategoricalChoiceType]) -> None:
        if len(choices) == 0:
            raise ValueError("choices must have at least one element")
        for choice in choices:
            if choice is not None and not isinstance(choice, (bool, int, float, str)):
                warnings.warn(
                    f"a choice should be None, bool, int, float or str, to be stored; got {choice!r}", stacklevel=3
                )
        self.choices: tuple[CategoricalChoiceType, ...] = tuple(choices)

    def to_external_repr(self, param_value_in_internal_repr: float) -> Any:
        return self.choices[int(param_value_in_internal_repr)]

    def to_internal_repr(self, param_value_in_external_repr: Any) -> float:
        wanted = param_value_in_external_repr
        for index, choice in enumerate(self.choices):
            if choice is wanted or (type(choice) is type(wanted) and _same(choice, wanted)):
                return index
        for index, choice in enumerate(self.choices):
            if _same(choice, wanted):
                return index
        raise ValueError(f"{wanted!r} is not in {self.choices}")

    def single(self) -> bool:
        return len(self.choices) == 1

    def _contains(self, param_value_in_internal_repr: float) -> bool:
        return 0 <= int(param_value_in_internal_repr) < len(self.choices)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, CategoricalDistribution):
            return False if isinstance(other, BaseDistribution) else NotImplemented
        return len(self.choices) == len(other.choices) and all(map(_same, self.choices, other.choices))

    def __hash__(self) -> int:
        return super().__hash__()


def _same(a: Any, b: Any) -> bool:
    """Equality in which NaN equals NaN, and nothing raises."""
    if isinstance(a, numbers.Real) and isinstance(b, numbers.Real) and math.isnan(a) and math.isnan(b):
        return True
    try:
        return bool(a == b)
    except Exception:
        return False


def _deprecated(old: str, new: str) -> None:
    warnings.warn(f"{old} is deprecated in Optuna; use {new}", FutureWarning, stacklevel=3)


class UniformDistribution(FloatDistribution):
    """Deprecated: FloatDistribution(low, high)."""

    def __init__(self, low: float, high: float) -> None:
        _deprecated("UniformDistribution", "FloatDistribution")
        super().__init__(low, high)

    def _asdict(self) -> dict[str, Any]:
        return {"low": self.low, "high": self.high}


class LogUniformDistribution(FloatDistribution):
    """Deprecated: FloatDistribution(low, high, log=True)."""

    def __init__(self, low: float, high: float) -> None:
        _deprecated("LogUniformDistribution", "FloatDistribution")
        super().__init__(low, high, log=True)

    def _asdict(self) -> dict[str, Any]:
        return {"low": self.low, "high": self.high}


class DiscreteUniformDistribution(FloatDistribution):
    """Deprecated: FloatDistribution(low, high, step=q)."""

    def __init__(self, low: float, high: float, q: float) -> None:
        _deprecated("DiscreteUniformDistribution", "FloatDistribution")
        super().__init__(low, high, step=q)

    @property
    def q(self) -> float:
        assert self.step is not None
        return self.step

    def _asdict(self) -> dict[str, Any]:
        return {"low": self.low, "high": self.high, "q": self.step}


class IntUniformDistribution(IntDistribution):
    """Deprecated: IntDistribution(low, high, step=step)."""

    def __init__(self, low: int, high: int, step: int = 1) -> None:
        _deprecated("IntUniformDistribution", "IntDistribution")
        super().__init__(low, high, step=step)

    def _asdict(self) -> dict[str, Any]:
        return {"low": self.low, "high": self.high, "step": self.step}


class IntLogUniformDistribution(IntDistribution):
    """Deprecated: IntDistribution(low, high, log=True)."""

    def __init__(self, low: int, high: int, step: int = 1) -> None:
        _deprecated("IntLogUniformDistribution", "IntDistribution")
        super().__init__(low, high, log=True)

    def _asdict(self) -> dict[str, Any]:
        return {"low": self.low, "high": self.high, "step": self.step}


DISTRIBUTION_CLASSES = (
    IntDistribution,
    IntLogUniformDistribution,
    IntUniformDistribution,
    FloatDistribution,
    UniformDistribution,
    LogUniformDistribution,
    DiscreteUniformDistribution,
    CategoricalDistribution,
)


def distribution_to_json(dist: BaseDistribution) -> str:
    return json.dumps({"name": type(dist).__name__, "attributes": dist._asdict()})


def json_to_distribution(json_str: str) -> BaseDistribution:
    """The distribution of a text that ``distribution_to_json`` returned, or of Optuna's short form with "type"."""
    fields = json.loads(json_str)
    if "name" in fields:
        for kind in DISTRIBUTION_CLASSES:
            if kind.__name__ == fields["name"]:
                return kind(**fields["attributes"])
        raise ValueError(f"name: must be a distribution, got {fields['name']!r}")
    kind_name = fields.get("type")
    if kind_name == "categorical":
        return CategoricalDistribution(fields["choices"])
    if kind_name in ("float", "int"):
        options = {"log": fields.get("log", False)}
        if fields.get("step") is not None:
            options["step"] = fields["step"]
        make = FloatDistribution if kind_name == "float" else IntDistribution
        return make(fields["low"], fields["high"], **options)
    raise ValueError(f"type: must be float, int or categorical, got {kind_name!r}")


def check_distribution_compatibility(dist_old: BaseDistribution, dist_new: BaseDistribution) -> None:
    """Raises ValueError if a parameter of a study cannot change from one distribution to the other: its kind, its scale and
    its choices are fixed; its range may change."""
    if _kind(dist_old) is not _kind(dist_new):
        raise ValueError(f"a parameter cannot change its kind, from {dist_old} to {dist_new}")
    if isinstance(dist_old, _Range) and isinstance(dist_new, _Range) and dist_old.log != dist_new.log:
        raise ValueError(f"a parameter cannot change its scale, from {dist_old} to {dist_new}")
    if isinstance(dist_old, CategoricalDistribution) and dist_old != dist_new:
        raise ValueError(f"a categorical parameter cannot change its choices, from {dist_old} to {dist_new}")


def _kind(dist: BaseDistribution) -> type[BaseDistribution]:
    for kind in (FloatDistribution, IntDistribution, CategoricalDistribution):
        if isinstance(dist, kind):
            return kind
    return type(dist)


def _modern(dist: BaseDistribution) -> BaseDistribution:
    """The distribution without a deprecated class."""
    if type(dist) is _kind(dist) or isinstance(dist, CategoricalDistribution):
        return dist
    new: BaseDistribution
    if isinstance(dist, FloatDistribution):
        new = FloatDistribution(dist.low, dist.high, log=dist.log, step=dist.step)
    elif isinstance(dist, IntDistribution):
        new = IntDistribution(dist.low, dist.high, log=dist.log, step=1 if dist.log else dist.step)
    else:
        return dist
    warnings.warn(f"{dist} is deprecated in Optuna, and taken as {new}", FutureWarning, stacklevel=3)
    return new
