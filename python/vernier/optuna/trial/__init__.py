"""Trials: the one that an objective function gets, and the records of all of them."""

from __future__ import annotations

import datetime
import math
import warnings
from typing import TYPE_CHECKING, Any, Mapping, Optional, Sequence, Union, overload

from vernier.optuna._states import TrialState
from vernier.optuna.distributions import (
    BaseDistribution,
    CategoricalChoiceType,
    CategoricalDistribution,
    FloatDistribution,
    IntDistribution,
    _modern,
    check_distribution_compatibility,
)

if TYPE_CHECKING:
    from vernier.optuna.study import Study

__all__ = ["BaseTrial", "FixedTrial", "FrozenTrial", "Trial", "TrialState", "create_trial"]

# System attribute that holds the values of constraints_func, and prefix of those of set_constraint, as in Optuna.
CONSTRAINTS = "constraints"
# Name of the system attribute that holds the parameters of an enqueued trial, as in Optuna.
FIXED_PARAMS = "fixed_params"


class BaseTrial:
    """What the kinds of trials have in common: the functions that ask for parameters."""

    def _suggest(self, name: str, distribution: BaseDistribution) -> Any:
        raise NotImplementedError

    def _attributes(self) -> Mapping[str, Any]:
        """The system attributes."""
        raise NotImplementedError

    def _set_constraint(self, attribute: str, value: float) -> None:
        raise NotImplementedError

    @property
    def constraints(self) -> dict[str, float]:
        """The values of the constraints, by name. Each holds if it is 0 or less."""
        attributes = self._attributes()
        values: Sequence[float] = attributes.get(CONSTRAINTS) or ()
        found = {str(i): value for i, value in enumerate(values)}
        prefix = f"{CONSTRAINTS}:"
        found.update((name[len(prefix) :], value) for name, value in attributes.items() if name.startswith(prefix))
        return found

    def set_constraint(self, key: str, value: float) -> None:
        """Sets the value of a constraint, which holds if it is 0 or less. The first value of a name counts."""
        attribute = f"{CONSTRAINTS}:{key}"
        if attribute in self._attributes():
            warnings.warn(f"constraint {key!r} has a value already; {value!r} does not count", stacklevel=2)
        else:
            self._set_constraint(attribute, _constraint(key, value))

    def suggest_float(
        self, name: str, low: float, high: float, *, step: Optional[float] = None, log: bool = False
    ) -> float:
        """Returns a real number from ``low`` to ``high``; ``log``: with more resolution near ``low``; ``step``: only low,
        low + step, …"""
        value: float = self._suggest(name, FloatDistribution(low, high, log=log, step=step))
        return value

    def suggest_int(self, name: str, low: int, high: int, *positional: Any, step: int = 1, log: bool = False) -> int:
        """Returns a whole number from ``low`` to ``high``."""
        if positional:  # As older programs wrote it.
            given = (*positional, *(step, log)[len(positional) :])
            step, log = int(given[0]), bool(given[1])
        value: int = self._suggest(name, IntDistribution(low, high, log=log, step=step))
        return value

    @overload
    def suggest_categorical(self, name: str, choices: Sequence[None]) -> None: ...
    @overload
    def suggest_categorical(self, name: str, choices: Sequence[bool]) -> bool: ...
    @overload
    def suggest_categorical(self, name: str, choices: Sequence[int]) -> int: ...
    @overload
    def suggest_categorical(self, name: str, choices: Sequence[float]) -> float: ...
    @overload
    def suggest_categorical(self, name: str, choices: Sequence[str]) -> str: ...
    @overload
    def suggest_categorical(self, name: str, choices: Sequence[CategoricalChoiceType]) -> CategoricalChoiceType: ...
    def suggest_categorical(self, name: str, choices: Sequence[Any]) -> Any:
        """Returns one of ``choices``."""
        return self._suggest(name, CategoricalDistribution(choices))

    def suggest_uniform(self, name: str, low: float, high: float) -> float:
        """Deprecated: suggest_float(name, low, high)."""
        _deprecated("suggest_uniform", "suggest_float")
        return self.suggest_float(name, low, high)

    def suggest_loguniform(self, name: str, low: float, high: float) -> float:
        """Deprecated: suggest_float(name, low, high, log=True)."""
        _deprecated("suggest_loguniform", "suggest_float(..., log=True)")
        return self.suggest_float(name, low, high, log=True)

    def suggest_discrete_uniform(self, name: str, low: float, high: float, q: float) -> float:
        """Deprecated: suggest_float(name, low, high, step=q)."""
        _deprecated("suggest_discrete_uniform", "suggest_float(..., step=...)")
        return self.suggest_float(name, low, high, step=q)


def _constraint(key: str, value: Any) -> float:
    if isinstance(value, str) or not hasattr(value, "__float__"):
        raise TypeError(f"constraint {key!r}: must be a number, got {value!r}")
    if math.isnan(value):
        raise ValueError(f"constraint {key!r}: must be a number, got {value}")
    return float(value)


def _deprecated(old: str, new: str) -> None:
    warnings.warn(f"{old} is deprecated in Optuna; use {new}", FutureWarning, stacklevel=3)


class _GivenTrial(BaseTrial):
    """A trial whose values are given, and which no pruner judges."""

    _distributions: dict[str, BaseDistribution]
    _user_attrs: dict[str, Any]
    _system_attrs: dict[str, Any]

    def set_user_attr(self, key: str, value: Any) -> None:
        self._user_attrs[key] = value

    def set_system_attr(self, key: str, value: Any) -> None:
        _deprecated("set_system_attr", "set_user_attr")
        self._system_attrs[key] = value

    def _attributes(self) -> Mapping[str, Any]:
        return self._system_attrs

    def _set_constraint(self, attribute: str, value: float) -> None:
        self._system_attrs[attribute] = value

    def report(self, value: float, step: int) -> None:
        """Does nothing, so that an objective function also takes a trial that does not run."""

    def should_prune(self) -> bool:
        return False

    def _note(self, name: str, value: Any, distribution: BaseDistribution) -> None:
        """Checks that the value may be asked for by this distribution, which becomes that of the parameter."""
        if not distribution._contains(distribution.to_internal_repr(value)):
            warnings.warn(f"parameter {name!r}: {value!r} is outside {distribution}", stacklevel=4)
        if name in self._distributions:
            check_distribution_compatibility(self._distributions[name], distribution)
        self._distributions[name] = distribution


class FrozenTrial(_GivenTrial):
    """A trial as it is recorded."""

    def __init__(
        self,
        number: int,
        state: TrialState,
        value: Optional[float],
        datetime_start: Optional[datetime.datetime],
        datetime_complete: Optional[datetime.datetime],
        params: dict[str, Any],
        distributions: dict[str, BaseDistribution],
        user_attrs: dict[str, Any],
        system_attrs: dict[str, Any],
        intermediate_values: dict[int, float],
        trial_id: int,
        *,
        values: Optional[Sequence[float]] = None,
    ) -> None:
        if value is not None and values is not None:
            raise ValueError("value and values: give one of them")
        self.number = number
        self.state = state
        self._values = [value] if value is not None else None if values is None else list(values)
        self.datetime_start = datetime_start
        self.datetime_complete = datetime_complete
        self.params = params
        self._distributions = distributions
        self._user_attrs = user_attrs
        self._system_attrs = system_attrs
        self.intermediate_values = intermediate_values
        self._trial_id = trial_id

    @property
    def value(self) -> Optional[float]:
        if self._values is not None and len(self._values) > 1:
            raise RuntimeError("value: the trial has several objectives; use values")
        return None if self._values is None else self._values[0]

    @value.setter
    def value(self, value: Optional[float]) -> None:
        if self._values is not None and len(self._values) > 1:
            raise RuntimeError("value: the trial has several objectives; use values")
        self._values = None if value is None else [value]

    @property
    def values(self) -> Optional[list[float]]:
        return self._values

    @values.setter
    def values(self, values: Optional[Sequence[float]]) -> None:
        self._values = None if values is None else list(values)

    @property
    def distributions(self) -> dict[str, BaseDistribution]:
        return self._distributions

    @distributions.setter
    def distributions(self, distributions: dict[str, BaseDistribution]) -> None:
        self._distributions = distributions

    @property
    def user_attrs(self) -> dict[str, Any]:
        return self._user_attrs

    @user_attrs.setter
    def user_attrs(self, attributes: dict[str, Any]) -> None:
        self._user_attrs = attributes

    @property
    def system_attrs(self) -> dict[str, Any]:
        return self._system_attrs

    @system_attrs.setter
    def system_attrs(self, attributes: dict[str, Any]) -> None:
        self._system_attrs = attributes

    @property
    def last_step(self) -> Optional[int]:
        return max(self.intermediate_values) if self.intermediate_values else None

    @property
    def duration(self) -> Optional[datetime.timedelta]:
        if self.datetime_start is None or self.datetime_complete is None:
            return None
        return self.datetime_complete - self.datetime_start

    def _suggest(self, name: str, distribution: BaseDistribution) -> Any:
        if name not in self.params:
            raise ValueError(f"trial {self.number} has no parameter {name!r}")
        self._note(name, self.params[name], distribution)
        return self.params[name]

    def _validate(self) -> None:
        """Raises ValueError if the parts of the trial contradict each other."""
        if self.state is not TrialState.WAITING and self.datetime_start is None:
            raise ValueError(f"datetime_start: must be set for a trial in {self.state}")
        if self.state.is_finished() != (self.datetime_complete is not None):
            raise ValueError(
                f"datetime_complete: must {'' if self.state.is_finished() else 'not '}be set for a trial in "
                f"{self.state}"
            )
        if self.state is TrialState.COMPLETE and self._values is None:
            raise ValueError("value: must be set for a trial in TrialState.COMPLETE")
        if self.state is TrialState.FAIL and self._values is not None:
            raise ValueError(f"value: must not be set for a trial in TrialState.FAIL, got {self._values}")
        if self._values is not None and any(math.isnan(value) for value in self._values):
            raise ValueError(f"value: must not be NaN, got {self._values}")
        if set(self.params) != set(self._distributions):
            raise ValueError(
                f"params and distributions: must have the same names, got {sorted(self.params)} and "
                f"{sorted(self._distributions)}"
            )
        for name, value in self.params.items():
            distribution = self._distributions[name]
            if not distribution._contains(distribution.to_internal_repr(value)):
                raise ValueError(f"params[{name!r}]: must be in {distribution}, got {value!r}")

    def __eq__(self, other: object) -> bool:
        return self.__dict__ == other.__dict__ if isinstance(other, FrozenTrial) else NotImplemented

    def __lt__(self, other: Any) -> bool:
        return self.number < other.number if isinstance(other, FrozenTrial) else NotImplemented

    def __le__(self, other: Any) -> bool:
        return self.number <= other.number if isinstance(other, FrozenTrial) else NotImplemented

    def __hash__(self) -> int:
        return hash(repr(sorted(self.__dict__.items())))

    def __repr__(self) -> str:
        names = (
            "number",
            "state",
            "values",
            "datetime_start",
            "datetime_complete",
            "params",
            "user_attrs",
            "system_attrs",
            "intermediate_values",
            "distributions",
        )
        fields = ", ".join(f"{name}={getattr(self, name)!r}" for name in names)
        return f"FrozenTrial({fields}, trial_id={self._trial_id!r}, value=None)"


def create_trial(
    *,
    state: TrialState = TrialState.COMPLETE,
    value: Optional[float] = None,
    values: Optional[Sequence[float]] = None,
    params: Optional[dict[str, Any]] = None,
    distributions: Optional[dict[str, BaseDistribution]] = None,
    user_attrs: Optional[dict[str, Any]] = None,
    system_attrs: Optional[dict[str, Any]] = None,
    intermediate_values: Optional[dict[int, float]] = None,
    constraints: Optional[dict[str, float]] = None,
) -> FrozenTrial:
    """Returns a trial for ``Study.add_trial``."""
    now = datetime.datetime.now()
    trial = FrozenTrial(
        number=-1,
        trial_id=-1,
        state=state,
        value=value,
        values=values,
        datetime_start=None if state is TrialState.WAITING else now,
        datetime_complete=now if state.is_finished() else None,
        params=dict(params or {}),
        distributions={name: _modern(dist) for name, dist in (distributions or {}).items()},
        user_attrs=dict(user_attrs or {}),
        system_attrs=dict(system_attrs or {}),
        intermediate_values=dict(intermediate_values or {}),
    )
    for key, one in (constraints or {}).items():
        trial.set_constraint(key, one)
    trial._validate()
    return trial


class FixedTrial(_GivenTrial):
    """A trial with given parameters, to call an objective function with: ``objective(FixedTrial({"x": 1}))``."""

    def __init__(self, params: dict[str, Any], number: int = 0) -> None:
        self._params = params
        self.number = number
        self._suggested: dict[str, Any] = {}
        self._distributions: dict[str, BaseDistribution] = {}
        self._user_attrs: dict[str, Any] = {}
        self._system_attrs: dict[str, Any] = {}
        self.datetime_start: Optional[datetime.datetime] = datetime.datetime.now()

    @property
    def params(self) -> dict[str, Any]:
        return self._suggested

    @property
    def distributions(self) -> dict[str, BaseDistribution]:
        return self._distributions

    @property
    def user_attrs(self) -> dict[str, Any]:
        return self._user_attrs

    @property
    def system_attrs(self) -> dict[str, Any]:
        return self._system_attrs

    def _suggest(self, name: str, distribution: BaseDistribution) -> Any:
        if name not in self._params:
            raise ValueError(f"parameter {name!r} has no value in the FixedTrial")
        self._note(name, self._params[name], distribution)
        self._suggested[name] = self._params[name]
        return self._params[name]


class Trial(BaseTrial):
    """One evaluation of an objective function. Belongs to one thread."""

    def __init__(self, study: Study, number: int) -> None:
        self.study = study
        self._number = number
        self._trial_id = number
        self._is_warned = False
        # As long as the trial runs, what it asks for goes straight into its record.
        self._record = study._book.record(number)

    @property
    def number(self) -> int:
        return self._number

    @property
    def params(self) -> dict[str, Any]:
        return dict(self._record.params)

    @property
    def distributions(self) -> dict[str, BaseDistribution]:
        return dict(self._record.distributions)

    @property
    def user_attrs(self) -> dict[str, Any]:
        return dict(self._record.user_attrs)

    @property
    def system_attrs(self) -> dict[str, Any]:
        return dict(self._record.system_attrs)

    @property
    def relative_params(self) -> dict[str, Any]:
        """What the algorithm chose before the trial began."""
        return self.study._book.drawn(self._number)

    @property
    def datetime_start(self) -> Optional[datetime.datetime]:
        return self._record.datetime_start

    def _attributes(self) -> Mapping[str, Any]:
        return self._record.system_attrs

    def _set_constraint(self, attribute: str, value: float) -> None:
        self.study._book.set_trial_attrs(self._number, system={attribute: value})

    def report(self, value: float, step: int) -> None:
        """Reports the objective's value at a step, for ``should_prune``."""
        if len(self.study.directions) > 1:
            raise NotImplementedError("report: a study with several objectives prunes no trials")
        try:
            number = float(value)
        except (TypeError, ValueError):
            raise TypeError(f"value: must be a number, got {value!r}") from None
        try:
            at = int(step)
        except (TypeError, ValueError):
            raise TypeError(f"step: must be a whole number, got {step!r}") from None
        if at < 0:
            raise ValueError(f"step: must be 0 or more, got {at}")
        if at in self._record.intermediate_values:
            warnings.warn(
                f"step {at} of trial {self._number} was reported before; this report does not count", stacklevel=2
            )
            return
        self.study._book.report(self._number, at, number)

    def should_prune(self) -> bool:
        """Whether the study's pruner would end the trial now. The program does so by ``raise TrialPruned``."""
        if len(self.study.directions) > 1:
            raise NotImplementedError("should_prune: a study with several objectives prunes no trials")
        return self.study._should_prune(self._number)

    def set_user_attr(self, key: str, value: Any) -> None:
        self.study._book.set_trial_attrs(self._number, user={key: value})

    def set_system_attr(self, key: str, value: Any) -> None:
        _deprecated("set_system_attr", "set_user_attr")
        self.study._book.set_trial_attrs(self._number, system={key: value})

    def _suggest(self, name: str, distribution: BaseDistribution) -> Any:
        if not isinstance(name, str):
            raise TypeError(f"name: must be text, got {name!r}")
        known = self._record.distributions.get(name)
        if known is not None:
            check_distribution_compatibility(known, distribution)
            if known != distribution and not self._is_warned:
                self._is_warned = True
                warnings.warn(
                    f"parameter {name!r} of trial {self._number} was asked for with {known}; its value stays, and "
                    f"{distribution} does not count",
                    RuntimeWarning,
                    stacklevel=3,
                )
            return self._record.params[name]
        self.study.sampler._check(name, distribution)
        return self.study._book.suggest(self._number, name, distribution)

    def __repr__(self) -> str:
        return f"Trial(number={self._number}, params={self._record.params})"


FixedParams = Union[Mapping[str, Any], None]
