"""Pruners under Optuna's names, which are Vernier's stopping rules. They judge what a trial reports."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Optional, Union

from vernier.optuna.exceptions import NotSupportedError

if TYPE_CHECKING:
    from vernier.optuna.study import Study
    from vernier.optuna.trial import FrozenTrial


class BasePruner:
    """Base class of pruners. One of your own defines ``prune``."""

    def prune(self, study: Study, trial: FrozenTrial) -> bool:
        """Whether the trial should end after its last report."""
        raise NotImplementedError

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(f'{name}={value!r}' for name, value in vars(self).items())})"


class RulePruner(BasePruner):
    """A stopping rule of Vernier."""

    def _rule(self) -> dict[str, Any]:
        """The rule with its options, as in a study file."""
        raise NotImplementedError

    def prune(self, study: Study, trial: FrozenTrial) -> bool:
        return study._book.is_stopped(trial.number)


class NopPruner(RulePruner):
    """Never prunes."""

    def _rule(self) -> dict[str, Any]:
        return {"rule": "none"}


class AutomaticPruner(RulePruner):
    """Vernier's default rule, "automatic": predicts from parameters and curve how a trial will end."""

    def _rule(self) -> dict[str, Any]:
        return {"rule": "automatic"}


def _at_least(value: Any, least: float, name: str) -> None:
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not value >= least:
        raise ValueError(f"{name}: must be {least} or more, got {value!r}")


class PercentilePruner(RulePruner):
    """Vernier's rule "percentile": ``percentile`` % of the trials go on at a step. Steps are counted by reports."""

    def __init__(
        self,
        percentile: float,
        n_startup_trials: int = 5,
        n_warmup_steps: int = 0,
        interval_steps: int = 1,
        *,
        n_min_trials: int = 1,
    ) -> None:
        if not 0 <= percentile <= 100:
            raise ValueError(f"percentile: must be 0 to 100, got {percentile}")
        _at_least(n_startup_trials, 0, "n_startup_trials")
        _at_least(n_warmup_steps, 0, "n_warmup_steps")
        _at_least(interval_steps, 1, "interval_steps")
        _at_least(n_min_trials, 1, "n_min_trials")
        self._percentile = percentile
        self._n_startup_trials = n_startup_trials
        self._n_warmup_steps = n_warmup_steps
        self._interval_steps = interval_steps
        self._n_min_trials = n_min_trials

    def _rule(self) -> dict[str, Any]:
        return {
            "rule": "percentile",
            "percentile": min(max(self._percentile, 1e-3), 100 - 1e-3),
            "min_trials": max(self._n_startup_trials, self._n_min_trials, 1),
            "warm_up": 0,
            "min_steps": self._n_warmup_steps + 1,
            "interval": self._interval_steps,
        }


class MedianPruner(PercentilePruner):
    """Vernier's rule "median"."""

    def __init__(
        self, n_startup_trials: int = 5, n_warmup_steps: int = 0, interval_steps: int = 1, *, n_min_trials: int = 1
    ) -> None:
        super().__init__(50.0, n_startup_trials, n_warmup_steps, interval_steps, n_min_trials=n_min_trials)

    def _rule(self) -> dict[str, Any]:
        rule = super()._rule()
        del rule["percentile"]
        return {**rule, "rule": "median"}


class SuccessiveHalvingPruner(RulePruner):
    """Vernier's rule "asha". Resources are counted by reports."""

    def __init__(
        self,
        min_resource: Union[str, int] = "auto",
        reduction_factor: int = 4,
        min_early_stopping_rate: int = 0,
        bootstrap_count: int = 0,
    ) -> None:
        if isinstance(min_resource, str):
            if min_resource != "auto":
                raise ValueError(f"min_resource: must be a number or 'auto', got {min_resource!r}")
        else:
            _at_least(min_resource, 1, "min_resource")
        _at_least(reduction_factor, 2, "reduction_factor")
        _at_least(min_early_stopping_rate, 0, "min_early_stopping_rate")
        _at_least(bootstrap_count, 0, "bootstrap_count")
        if bootstrap_count > 0 and min_resource == "auto":
            raise ValueError("bootstrap_count: must be 0 with min_resource='auto'")
        if bootstrap_count > 0:
            raise NotSupportedError(
                "SuccessiveHalvingPruner: Vernier has no bootstrap_count; leave it 0, or use HyperbandPruner"
            )
        if min_early_stopping_rate > 0 and min_resource == "auto":
            raise NotSupportedError("SuccessiveHalvingPruner: give min_resource a number with min_early_stopping_rate")
        self._min_resource = min_resource
        self._reduction_factor = reduction_factor
        self._min_early_stopping_rate = min_early_stopping_rate

    def _rule(self) -> dict[str, Any]:
        rule: dict[str, Any] = {"rule": "asha", "reduction_factor": self._reduction_factor}
        if not isinstance(self._min_resource, str):
            rule["min_resource"] = self._min_resource * self._reduction_factor**self._min_early_stopping_rate
        return rule


class HyperbandPruner(RulePruner):
    """Vernier's rule "hyperband". Resources are counted by reports."""

    def __init__(
        self,
        min_resource: int = 1,
        max_resource: Union[str, int] = "auto",
        reduction_factor: int = 3,
        bootstrap_count: int = 0,
    ) -> None:
        _at_least(min_resource, 1, "min_resource")
        if isinstance(max_resource, str):
            if max_resource != "auto":
                raise ValueError(f"max_resource: must be a number or 'auto', got {max_resource!r}")
        else:
            _at_least(max_resource, min_resource, "max_resource")
        _at_least(reduction_factor, 2, "reduction_factor")
        if bootstrap_count:
            raise NotSupportedError("HyperbandPruner: Vernier has no bootstrap_count; leave it 0")
        self._min_resource = min_resource
        self._max_resource = max_resource
        self._reduction_factor = reduction_factor

    def _rule(self) -> dict[str, Any]:
        rule = {"rule": "hyperband", "min_resource": self._min_resource, "reduction_factor": self._reduction_factor}
        if not isinstance(self._max_resource, str):
            rule["max_resource"] = self._max_resource
        return rule


class PatientPruner(RulePruner):
    """Prunes as the wrapped pruner, but only after ``patience`` reports without an improvement; without one, whenever that
    is so."""

    def __init__(self, wrapped_pruner: Optional[BasePruner], patience: int, min_delta: float = 0.0) -> None:
        _at_least(patience, 0, "patience")
        _at_least(min_delta, 0, "min_delta")
        is_percentile = isinstance(wrapped_pruner, PercentilePruner)
        if isinstance(wrapped_pruner, RulePruner) and not is_percentile:
            raise NotSupportedError(
                "PatientPruner: Vernier has patience for MedianPruner and PercentilePruner only; wrap one of them"
            )
        if min_delta and is_percentile:
            raise NotSupportedError("PatientPruner: Vernier's rules have no min_delta; leave it 0")
        self._wrapped_pruner = wrapped_pruner
        self._patience = patience
        self._min_delta = min_delta

    def _rule(self) -> dict[str, Any]:
        if isinstance(self._wrapped_pruner, PercentilePruner):
            return {**self._wrapped_pruner._rule(), "patience": self._patience}
        return {"rule": "none"}

    def prune(self, study: Study, trial: FrozenTrial) -> bool:
        if isinstance(self._wrapped_pruner, PercentilePruner):
            return super().prune(study, trial)
        if self._improves(trial, sign=-1 if study.direction.name == "MAXIMIZE" else 1):
            return False
        return self._wrapped_pruner is None or self._wrapped_pruner.prune(study, trial)

    def _improves(self, trial: FrozenTrial, sign: int) -> bool:
        """Whether the last ``patience`` + 1 reports have a better value than those before, or are the first ones."""
        costs = [sign * value for _, value in sorted(trial.intermediate_values.items())]
        before, last = costs[: -self._patience - 1], [cost for cost in costs[-self._patience - 1 :] if not math.isnan(cost)]
        before = [cost for cost in before if not math.isnan(cost)]
        if not before:
            return True
        return bool(last) and min(last) - self._min_delta <= min(before)


class ThresholdPruner(BasePruner):
    """Prunes a trial whose last value is below ``lower``, above ``upper`` or NaN."""

    def __init__(
        self,
        lower: Optional[float] = None,
        upper: Optional[float] = None,
        n_warmup_steps: int = 0,
        interval_steps: int = 1,
    ) -> None:
        if lower is None and upper is None:
            raise TypeError("ThresholdPruner: give lower, upper or both")
        for name, bound in (("lower", lower), ("upper", upper)):
            if bound is not None:
                try:
                    float(bound)
                except (TypeError, ValueError):
                    raise TypeError(f"{name}: must be a number, got {bound!r}") from None
        self._lower = -math.inf if lower is None else float(lower)
        self._upper = math.inf if upper is None else float(upper)
        if self._lower > self._upper:
            raise ValueError(f"lower: must not be above upper, got {lower} and {upper}")
        _at_least(n_warmup_steps, 0, "n_warmup_steps")
        _at_least(interval_steps, 1, "interval_steps")
        self._n_warmup_steps = n_warmup_steps
        self._interval_steps = interval_steps

    def prune(self, study: Study, trial: FrozenTrial) -> bool:
        steps = sorted(trial.intermediate_values)
        if not steps or steps[-1] < self._n_warmup_steps:
            return False
        # The first report of each interval is judged.
        first = (steps[-1] - self._n_warmup_steps) // self._interval_steps * self._interval_steps + self._n_warmup_steps
        if len(steps) > 1 and steps[-2] >= first:
            return False
        value = trial.intermediate_values[steps[-1]]
        return math.isnan(value) or not self._lower <= value <= self._upper


class WilcoxonPruner(BasePruner):
    def __init__(self, *arguments: Any, **options: Any) -> None:
        raise NotSupportedError("WilcoxonPruner: Vernier has no such rule; use MedianPruner, or AutomaticPruner")
