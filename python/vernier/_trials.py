"""Trials: the one that ``train`` gets, and the records of all of them."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any, Callable, Mapping, NamedTuple, Optional, Sequence, Union, overload

from vernier import _values
from vernier._errors import InvalidValueError, LeaseLostError, StateError, without_long_words
from vernier._values import Value

if TYPE_CHECKING:
    import datetime

    import pandas

    from vernier import _core
    from vernier._store import StoreHandle


class Trial:
    """One evaluation of a point. Made by ``Study.ask`` and ``Study.optimize``. Not thread-safe.

    ``number``: from 1. ``params``: the values to try, without inactive parameters; ``trial["lr"]`` is one of them. ``origin``:
    how the point was found, as in TrialRecord.
    """

    def __init__(self, number: int, params: dict[str, Value], origin: str) -> None:
        self.number = number
        self.params = params
        self.origin = origin
        self._last_step = 0
        self._has_reported = False  # Maybe at step 0.
        self._is_told = False
        self._stop = False
        self.stop_reason: str = ""
        """Why the trial should stop; empty if it should not."""

    def __getitem__(self, name: str) -> Value:
        try:
            return self.params[name]
        except KeyError:
            text = f"no parameter {name!r}; the trial has {', '.join(self.params) or 'none'}"
            raise KeyError(without_long_words(text)) from None

    def __repr__(self) -> str:
        return f"Trial({self.number}, {self.params})"

    def report(self, step: Optional[int] = None, metrics: Optional[Mapping[str, Any]] = None, **values: Any) -> None:
        """Reports metrics at a step: ``trial.report(3, accuracy=0.91)``. Without ``step``: the one after the last, 1 at
        first. Names that are no Python names go into ``metrics``: ``trial.report(3, {"val/acc": 0.91})``.

        StateError: this program has told the trial. If it was ended from elsewhere, the report is dropped, and ``should_stop``
        is True from then on."""
        number = _values.whole(self._last_step + 1 if step is None else step, "step", 0)
        measured = _values.merged(metrics, values)
        with _values.naming("measurements[0].metrics", "metrics"):
            self._stop, self.stop_reason = self._send(number, measured)
        self._last_step = max(self._last_step, number)
        self._has_reported = True

    async def report_async(
        self, step: Optional[int] = None, metrics: Optional[Mapping[str, Any]] = None, **values: Any
    ) -> None:
        """As ``report``, for an async ``train``: the event loop does not wait for the store or the server."""
        from vernier._async import in_thread

        await in_thread(lambda: self.report(step, metrics, **values))

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
        self.holder: str = leased.holder
        self.renewed: float = time.monotonic()
        # Called when there is no such trial any more, to find it under another number.
        self.moved: Optional[Callable[[AskedTrial], None]] = None
        handle.lease(self)

    def __reduce__(self) -> Any:
        raise TypeError("a trial cannot be pickled: the lease belongs to this process; pass trial.params instead")

    def _send(self, step: int, metrics: dict[str, float]) -> tuple[bool, str]:
        if self._is_told:
            raise StateError(f"trial {self.number} was told already, and takes no more reports")
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
    """Metrics that a trial reported at one step."""

    step: int
    elapsed: float
    """Seconds since the start of the trial; 0 if unknown."""
    metrics: dict[str, float]


class Prediction(NamedTuple):
    """What the model expects at a point, in units of the metrics."""

    mean: float
    """Of the first objective."""
    deviation: float
    """Standard deviation of the first objective."""
    others: dict[str, tuple[float, float]]
    """(mean, deviation) of the other objectives by name, and of the slacks of outcome constraints by their text: how far they
    are from being violated."""


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
    """What the failure says: an exception, for instance. Empty without one."""
    stopped: Optional[str]
    """Why it was stopped early; None if it was not."""
    created: float
    started: Optional[float]
    """When it was first leased, or its job first ran; None: not yet."""
    ended: Optional[float]
    """None: it has not ended."""
    origin: str
    """How the point was found: "model", "initial design", "random", "user" …"""
    predicted_mean: Optional[float]
    """What the model expected of the first objective, in its units; None without a model."""
    predicted_deviation: Optional[float]
    """Standard deviation of that."""
    expected_improvement: Optional[float]
    """By how much it was expected to beat the best trial then, in units of the first objective."""
    note: str
    """A sentence about the suggestion; may be empty."""
    feasible: Optional[bool]
    """Whether it satisfies every outcome constraint; None if it has not completed."""
    importance: dict[str, float]
    """How much each parameter matters to the model that proposed it, as shares of 1; empty without a model."""
    value: Optional[float]
    """The result of a completed trial in the first objective."""

    def __repr__(self) -> str:
        values = ", ".join(f"{name}={value:.6g}" for name, value in (self.metrics or self.last).items())
        outcome = ": ".join(part for part in (self.state, values or (self.message if self.failure else "")) if part)
        return f"<trial {self.number} {outcome} {self.params}>"

    def _repr_html_(self) -> str:
        from vernier._html import of_trial

        return of_trial(self)

    @property
    def duration(self) -> Optional[float]:
        """Seconds from its start to its end; None if it has not ended."""
        return None if self.started is None or self.ended is None else self.ended - self.started

    @property
    def why(self) -> str:
        """Why this point was tried, and why the trial was stopped or failed: one line for each reason."""
        lines = [f"origin: {self.origin or 'unknown'}" + (f" ({self.note})" if self.note else "")]
        if self.predicted_mean is not None:
            deviation = "" if self.predicted_deviation is None else f" ± {self.predicted_deviation:.2g}"
            lines.append(f"predicted: {self.predicted_mean:.5g}{deviation}")
        if self.expected_improvement is not None:
            lines.append(f"expected: to improve the best by {self.expected_improvement:.3g}")
        if self.importance:
            shares = sorted(self.importance.items(), key=lambda item: -item[1])
            lines.append("importance: " + ", ".join(f"{name} {share:.0%}" for name, share in shares))
        if self.stopped:
            lines.append(f"stopped: {self.stopped}")
        if self.failure:
            lines.append(f"failed: {self.failure}" + (f", {self.message}" if self.message else ""))
        return "\n".join(lines)


class TrialList(Sequence[TrialRecord]):
    """The trials of a study at one moment, a sequence of TrialRecord in the order of their numbers. Made by ``Study.trials``
    and ``Study.optimal``."""

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

    def _repr_html_(self) -> str:
        from vernier._html import of_trials

        return of_trials(self)

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


def number_of(trial: Union[Trial, TrialRecord, int]) -> int:
    """The number of a trial that a user gives."""
    return trial.number if isinstance(trial, (Trial, TrialRecord)) else _values.whole(trial, "trial", 1)


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
