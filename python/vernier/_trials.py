"""Trials: the one that ``train`` gets, and the records of all of them."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any, Mapping, NamedTuple, Optional, Sequence, Union, overload

from vernier import _values
from vernier._errors import InvalidValueError, LeaseLostError, StateError
from vernier._values import Value

if TYPE_CHECKING:
    import datetime

    import pandas

    from vernier import _core
    from vernier._store import StoreHandle


class Trial:
    """One evaluation of a point: ``params`` has the values to try. Not thread-safe."""

    def __init__(self, number: int, params: dict[str, Value], origin: str) -> None:
        self.number = number
        self.params = params
        self.origin = origin
        self._last_step = 0
        self._stop = False
        self.stop_reason = ""
        """Why the trial should stop; empty if it should not."""

    def __getitem__(self, name: str) -> Value:
        try:
            return self.params[name]
        except KeyError:
            raise KeyError(f"no parameter {name!r}; the trial has {', '.join(self.params) or 'none'}") from None

    def __repr__(self) -> str:
        return f"Trial({self.number}, {self.params})"

    def report(self, step: Optional[int] = None, metrics: Optional[Mapping[str, Any]] = None, **values: Any) -> None:
        """Reports metrics at a step: ``trial.report(3, accuracy=0.91)``. Without ``step``: the one after the last, 1 at
        first. Names that are no Python names go into ``metrics``: ``trial.report(3, {"val/acc": 0.91})``."""
        number = _values.whole(self._last_step + 1 if step is None else step, "step", 0)
        measured = _values.merged(metrics, values)
        self._stop, self.stop_reason = self._send(number, measured)
        self._last_step = max(self._last_step, number)

    def should_stop(self) -> bool:
        """Whether ``train`` should return now: the stopping rule has judged the last report, or ``optimize`` is being
        interrupted. The value that ``train`` then returns is recorded as the last one of a stopped trial."""
        return self._stop

    def _send(self, step: int, metrics: dict[str, float]) -> tuple[bool, str]:
        raise NotImplementedError


class AskedTrial(Trial):
    """A trial that this process has leased."""

    def __init__(self, handle: StoreHandle, leased: _core.Leased, params: dict[str, Value], origin: str) -> None:
        super().__init__(leased.number, params, origin)
        self._handle = handle
        self.leased = leased
        self.holder = leased.holder
        self.renewed = time.monotonic()
        handle.lease(self)

    def __reduce__(self) -> Any:
        raise TypeError("a trial cannot be pickled: the lease belongs to this process; pass trial.params instead")

    def _send(self, step: int, metrics: dict[str, float]) -> tuple[bool, str]:
        with self._handle.use() as core:
            try:
                stop, reason = core.report(self.leased, step, metrics)
            except LeaseLostError as error:
                return True, str(error)
            except StateError as error:
                if error.reason != "TRIAL_FINISHED":
                    raise
                return True, str(error)
        self.renewed = time.monotonic()
        return stop, reason


class CurvePoint(NamedTuple):
    """Metrics that a trial reported at one step. ``elapsed``: seconds since its start, 0 if unknown."""

    step: int
    elapsed: float
    metrics: dict[str, float]


class Prediction(NamedTuple):
    """What the model expects at a point: mean and standard deviation of the first objective, in its own units.
    ``others``: (mean, deviation) of the other objectives, by name, and of the slacks of outcome constraints."""

    mean: float
    deviation: float
    others: dict[str, tuple[float, float]]


def _time(seconds: Optional[float]) -> Optional[datetime.datetime]:
    import datetime

    return None if seconds is None else datetime.datetime.fromtimestamp(seconds, datetime.timezone.utc)


class TrialRecord(NamedTuple):
    """A trial as it is stored. Times are seconds since 1970."""

    number: int
    state: str
    """"RUNNING", "COMPLETED", "FAILED", "INFEASIBLE", "CANCELLED", "STOPPING", or "REQUESTED": it waits to be run."""
    params: dict[str, Value]
    metrics: dict[str, float]
    """The result of a completed trial."""
    last: dict[str, float]
    """The last reported value of each metric."""
    reports: int
    """Number of reports."""
    failure: Optional[str]
    """Why it failed: "USER_ERROR" (an exception), "DIVERGED" (NaN or an infinity), "NO_METRIC", "LOST"."""
    message: str
    stopped: Optional[str]
    """Why it was stopped early; None if it was not."""
    created: float
    started: Optional[float]
    ended: Optional[float]
    origin: str
    """How the point was found: "model", "initial design", "random", "user" …"""
    predicted_mean: Optional[float]
    """What the model expected of the first objective."""
    predicted_deviation: Optional[float]
    expected_improvement: Optional[float]
    note: str

    def __repr__(self) -> str:
        values = ", ".join(f"{name}={value:.6g}" for name, value in (self.metrics or self.last).items())
        return f"<trial {self.number} {self.state}{': ' + values if values else ''} {self.params}>"

    @property
    def duration(self) -> Optional[float]:
        """Seconds from its start to its end; None if it has not ended."""
        return None if self.started is None or self.ended is None else self.ended - self.started

    @property
    def value(self) -> Optional[float]:
        """The result, of a completed trial with a single metric."""
        return next(iter(self.metrics.values())) if len(self.metrics) == 1 else None


class TrialList(Sequence[TrialRecord]):
    """The trials of a study at one moment, in the order of their numbers."""

    def __init__(self, records: Sequence[TrialRecord]) -> None:
        self._records = list(records)

    @overload
    def __getitem__(self, index: int) -> TrialRecord: ...
    @overload
    def __getitem__(self, index: slice) -> TrialList: ...
    def __getitem__(self, index: Union[int, slice]) -> Union[TrialRecord, TrialList]:
        if isinstance(index, slice):
            return TrialList(self._records[index])
        return self._records[index]

    def __len__(self) -> int:
        return len(self._records)

    def __repr__(self) -> str:
        return f"<{len(self)} trials>"

    def to_pandas(self) -> pandas.DataFrame:
        """One row for each trial: number, state, metrics, parameters, times, failure, message, stopped. A metric with the
        name of another column becomes ``metrics.NAME``, a parameter ``params.NAME``."""
        import pandas

        columns: dict[str, list[Any]] = {"number": [r.number for r in self], "state": [r.state for r in self]}
        later = ("origin", "started", "ended", "duration", "failure", "message", "stopped")
        metrics = list(dict.fromkeys(name for r in self for name in r.metrics))
        params = list(dict.fromkeys(name for r in self for name in r.params))
        taken = {*columns, *later}
        for name in metrics:
            columns[f"metrics.{name}" if name in taken else name] = [r.metrics.get(name) for r in self]
        taken.update(metrics)
        for name in params:
            columns[f"params.{name}" if name in taken else name] = [r.params.get(name) for r in self]
        for name in later:
            column = [getattr(r, name) for r in self]
            columns[name] = [_time(value) for value in column] if name in ("started", "ended") else column
        return pandas.DataFrame(columns)


def params_of(params: Any, field: str) -> dict[str, Value]:
    """The values of a point that a user gives."""
    if not isinstance(params, Mapping):
        raise TypeError(f"{field}: must be a mapping of parameters to values, got {params!r}")
    return {
        _values.text(name, "name of a parameter"): _integer_checked(_values.plain(value, f"{field}.{name}"), f"{field}.{name}")
        for name, value in params.items()
    }


def _integer_checked(value: Value, field: str) -> Value:
    if isinstance(value, int) and not -(2**63) <= value < 2**63:
        raise InvalidValueError(f"{field}: must fit into 64 bits, got {value}", field=field)
    return value
