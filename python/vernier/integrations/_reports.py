"""What all callbacks share: which metrics to report, and to whom."""

from __future__ import annotations

from typing import Any, Mapping, Optional, Sequence, Union

from vernier import _values, trainer
from vernier._errors import InvalidValueError
from vernier._trials import Trial

# A metric of the framework; several; or the names in the study, with those of the framework.
Metrics = Union[str, Sequence[str], Mapping[str, str], None]


def wanted_of(metrics: Metrics) -> Optional[dict[str, str]]:
    """Names of the framework by names of the study; None: all."""
    if metrics is None:
        return None
    if isinstance(metrics, str):
        metrics = [metrics]
    if not isinstance(metrics, Mapping):
        metrics = {name: name for name in metrics}
    if not metrics:
        raise InvalidValueError("metrics: must name at least one metric, or be None for all", field="metrics")
    return {_values.text(name, "metrics"): _values.text(theirs, f"metrics.{name}") for name, theirs in metrics.items()}


class Reports:
    """Reports to a trial of this process or, without one, to the Vernier that has started this program."""

    def __init__(self, framework: str, metrics: Metrics, trial: Optional[Trial]) -> None:
        if trial is not None and not isinstance(trial, Trial):
            raise TypeError(f"trial: must be a trial of a study, or None, got {trial!r}")
        self._framework = framework
        self._target: Any = trainer if trial is None else trial
        self.wanted = wanted_of(metrics)

    def lacks(self, known: Mapping[str, Any]) -> list[str]:
        """The wanted metrics that are not there."""
        return [] if self.wanted is None else [theirs for theirs in self.wanted.values() if theirs not in known]

    def send(self, step: int, known: Mapping[str, Any], is_first: bool = True) -> None:
        """Reports what is wanted of ``known``, if this is the first of several processes.

        InvalidValueError: it is not all there; in each process, so that none waits for another one.
        """
        if self.lacks(known):
            raise self.missing(known)
        if not is_first:
            return
        values = dict(known) if self.wanted is None else {name: known[theirs] for name, theirs in self.wanted.items()}
        if values:
            self._target.report(step, values)

    def missing(self, known: Mapping[str, Any]) -> InvalidValueError:
        name = self.lacks(known)[0]
        there = ", ".join(sorted(known)) or "none"
        return InvalidValueError(f"metric '{name}': {self._framework} has no such metric; it has {there}", field="metrics")

    def should_stop(self) -> bool:
        return bool(self._target.should_stop())

    def take_sigterm(self) -> None:
        """Leaves SIGTERM to ``should_stop``, in a program that Vernier has started, instead of to the framework."""
        if self._target is trainer:
            trainer._handle_sigterm(replaces=True)


def every_of(every: Any) -> int:
    return _values.whole(every, "every", 1)
