"""Studies: created, opened, asked and told."""

from __future__ import annotations

import contextlib
import json
import os
import weakref
from typing import TYPE_CHECKING, Any, Callable, Collection, Iterable, Mapping, NamedTuple, Optional, Sequence, Union

from vernier import _values
from vernier._errors import ExhaustedError, InvalidValueError, StateError, StudyExistsError, VernierError
from vernier._space import Space, parameters_of
from vernier._store import StoreHandle, actor, handle_of, is_orphan, new_holder
from vernier._trials import AskedTrial, CurvePoint, Prediction, Trial, TrialList, TrialRecord, params_of

if TYPE_CHECKING:
    from vernier import _core

Storage = Union[str, "os.PathLike[str]", None]
Names = Union[str, Sequence[str], None]
# The name of an algorithm or a stopping rule, or a mapping with its name and options.
Choice = Union[str, Mapping[str, Any]]

# Largest number of open trials of a study: the core's own bound, so that it is the caller who decides.
_MOST_PARALLEL = 10_000
# Longest message of a failed trial. A choice: a sentence, not a whole traceback.
_MESSAGE = 2000


class Replay(NamedTuple):
    """The result of computing all suggestions and stops of a study again."""

    suggestions: int
    stops: int
    verified: int
    """Number of suggestions and stops that came out as recorded."""
    problems: list[str]
    """Those that did not, or that cannot be verified here."""


class Study:
    """A search for the best parameters. Made by ``create_study`` and ``open_study``. Thread-safe."""

    def __init__(self, handle: StoreHandle, study_id: int, name: str) -> None:
        self._handle = handle
        self._id = study_id
        self.name = name
        with handle.use() as core:
            row = core.study(study_id)
        self._objectives = row[8]
        # Trials that this process has asked for, by number.
        self._asked: dict[int, weakref.ref[AskedTrial]] = {}
        self._orphans = self._find_orphans()

    def __repr__(self) -> str:
        where = "" if self._handle.path is None else f", storage={self._handle.path!r}"
        return f"<vernier.Study {self.name!r}{where}>"

    def __reduce__(self) -> Any:
        if self._handle.path is None:
            raise TypeError("a study in memory cannot be pickled; give create_study a storage")
        return open_study, (self.name, self._handle.path)

    # --- what it is ---
    @property
    def objectives(self) -> dict[str, str]:
        """The metrics to "maximize" or "minimize", the first one first."""
        return {metric: "maximize" if is_max else "minimize" for metric, is_max in self._objectives}

    @property
    def state(self) -> str:
        """"ACTIVE", "PAUSED", "STOPPING", "COMPLETED", "CANCELLED" or "FAILED"."""
        with self._handle.use() as core:
            return core.study(self._id)[1]

    @property
    def definition(self) -> str:
        """The study as a study file (YAML), with every default."""
        with self._handle.use() as core:
            return core.definition(self._id)

    # --- ask and tell ---
    def ask(self) -> Trial:
        """Returns a trial to run. First come trials that an earlier process left behind, and those that were enqueued.

        ExhaustedError: there are no more trials. ParallelLimitError: not before another one has ended. StateError: the
        study has ended.
        """
        return self._ask(lambda holder: None)

    def _ask(self, tell_holder: Callable[[str], object]) -> AskedTrial:
        """As ask. Calls `tell_holder` with the holder of a trial before it is leased."""
        with self._handle.use() as core:
            while self._orphans:
                holder = self._orphans.pop()
                tell_holder(holder)
                for leased, params, origin in core.suggest(self._id, 1, holder):
                    return self._remember(AskedTrial(self._handle, leased, params, origin))
            holder = new_holder()
            tell_holder(holder)
            try:
                [(leased, params, origin)] = core.suggest(self._id, 1, holder)
            except StateError as error:
                if error.reason == "STUDY_NOT_ACTIVE" and core.study(self._id)[1] == "COMPLETED":
                    raise ExhaustedError(str(error), error.reason) from None
                raise
            return self._remember(AskedTrial(self._handle, leased, params, origin))

    def tell(
        self,
        trial: Union[Trial, int],
        value: Any = None,
        *,
        failed: Optional[str] = None,
        infeasible: Optional[str] = None,
    ) -> TrialRecord:
        """Ends a trial, and returns its record.

        ``value``: a number; or, with several objectives, a sequence of one number for each, or a mapping of metrics to
        numbers. None: the values that the trial reported last. A trial whose value is NaN or infinite FAILED, as one
        that diverged. ``failed``: it has no value, for this reason. ``infeasible``: the point cannot be evaluated.

        StateError: the trial has ended. InvalidValueError, TypeError: the value is wrong; the trial stays open.
        """
        asked = self._find(trial)
        if (value is not None) + (failed is not None) + (infeasible is not None) > 1:
            raise InvalidValueError("tell: give one of value, failed and infeasible", field="tell")
        metrics = self._metrics_of(value)
        if value is None and failed is None and infeasible is None and asked._last_step == 0:
            raise InvalidValueError(
                f"tell: trial {asked.number} reported nothing, so that it needs a value", field="tell"
            )
        with self._handle.use() as core:
            if failed is not None:
                row = core.fail(asked.leased, False, _values.message(failed, "failed", _MESSAGE))
            elif infeasible is not None:
                row = core.mark_infeasible(asked.leased, _values.message(infeasible, "infeasible", _MESSAGE))
            else:
                row = core.complete(asked.leased, metrics, asked._last_step)
        self._forget(asked)
        return TrialRecord(*row)

    def optimize(
        self,
        train: Callable[[Trial], Any],
        trials: Optional[int] = None,
        *,
        parallel: int = 1,
        executor: str = "threads",
        timeout: Optional[float] = None,
        max_failures: Optional[int] = None,
        catch: Union[type[BaseException], tuple[type[BaseException], ...]] = Exception,
        callback: Optional[Callable[[Study, TrialRecord], Any]] = None,
    ) -> Optional[TrialRecord]:
        """Calls ``train(trial)`` for one trial after another, and returns the best one of the study.

        ``trials``: number of trials to run now; None: until ``timeout``, or until there are no more. ``parallel``: number
        of trials at a time. ``executor``: "threads" of this process, or processes that are started by "spawn", "fork" or
        "forkserver"; for processes other than of "fork", ``train`` must be defined in a module. ``timeout``: seconds after
        which no trial is begun. ``callback(study, record)`` is called after each trial, one call at a time.

        What ``train`` returns is told to the study, as by ``tell``. An exception of a class in ``catch`` makes the trial
        FAILED, and the next one begins; another exception ends the call. The call also ends, with TooManyFailuresError,
        after ``max_failures`` failed trials; by default, if the first three all failed and no trial of the study has
        completed. Diverged trials do not count. Ctrl-C cancels the open trials, and ends with KeyboardInterrupt.
        """
        from vernier._optimize import optimize

        optimize(
            self,
            train,
            trials=None if trials is None else _values.whole(trials, "trials", 0),
            parallel=_values.whole(parallel, "parallel", 1, _MOST_PARALLEL),
            executor=_values.text(executor, "executor"),
            timeout=None if timeout is None else _values.finite(timeout, "timeout"),
            max_failures=None if max_failures is None else _values.whole(max_failures, "max_failures", 1),
            catch=_values.exceptions(catch, "catch"),
            callback=callback,
        )
        return self.best

    # --- results ---
    @property
    def best(self) -> Optional[TrialRecord]:
        """The best completed trial that satisfies every outcome constraint, by the first objective; None: there is none."""
        with self._handle.use() as core:
            best = core.study(self._id)[6]
            return None if best is None else TrialRecord(*core.trial(self._id, best))

    @property
    def optimal(self) -> TrialList:
        """The Pareto-optimal trials: no other one is as good in every objective and better in one."""
        with self._handle.use() as core:
            return TrialList([TrialRecord(*core.trial(self._id, n)) for n in core.study(self._id)[7]])

    @property
    def trials(self) -> TrialList:
        """All trials, as they are now."""
        with self._handle.use() as core:
            return TrialList([TrialRecord(*row) for row in core.trials(self._id)])

    def curve(self, trial: Union[Trial, TrialRecord, int]) -> list[CurvePoint]:
        """Everything that a trial has reported."""
        number = trial.number if isinstance(trial, (Trial, TrialRecord)) else _values.whole(trial, "trial", 1)
        with self._handle.use() as core:
            return [CurvePoint(*point) for point in core.curve(self._id, number)]

    def predict(self, points: Iterable[Mapping[str, Any]]) -> list[Prediction]:
        """What the model of the algorithm "gp" expects at points.  StateError: too few trials for a model."""
        wanted = [params_of(point, f"points[{i}]") for i, point in enumerate(points)]
        with self._handle.use() as core:
            return [Prediction(*row) for row in core.predict(self._id, wanted)] if wanted else []

    def replay(self) -> Replay:
        """Computes every suggestion and every stop again from the log, and compares."""
        with self._handle.use() as core:
            suggestions, stops, verified, problems = core.replay(self._id)
        lines = [f"trial {trial}: {detail}" for trial, _, detail in problems]
        return Replay(suggestions, stops, verified, lines)

    def plot_history(self, ax: Any = None) -> Any:
        """Draws the value of each trial and the best so far, with matplotlib, and returns the axes."""
        from vernier._plots import plot_history

        return plot_history(self, ax)

    # --- other trials ---
    def enqueue(self, params: Mapping[str, Any]) -> TrialRecord:
        """Adds a point to be tried before new suggestions."""
        with self._handle.use() as core:
            return TrialRecord(*core.add_trial(self._id, params_of(params, "params"), None, actor()))

    def add(self, params: Mapping[str, Any], value: Any) -> TrialRecord:
        """Adds a point that was tried elsewhere, with its value as for ``tell``."""
        metrics = self._metrics_of(value)
        if not metrics:
            raise InvalidValueError("value: must not be empty", field="value")
        with self._handle.use() as core:
            return TrialRecord(*core.add_trial(self._id, params_of(params, "params"), metrics, actor()))

    # --- its end ---
    def finish(self, reason: str = "") -> None:
        """Ends the study: it takes no more trials, and becomes COMPLETED."""
        with self._handle.use() as core:
            core.finish_study(self._id, _values.text(reason, "reason"), actor())

    def close(self) -> None:
        """Closes the store, so that another process can open it at once; without it that takes about a second. The next
        use of the study opens it again."""
        self._handle.close()

    def __enter__(self) -> Study:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    # --- for optimize ---
    def _cancel(self, leased: _core.Leased, reason: str) -> None:
        """Cancels a trial; does nothing if it has ended."""
        with self._handle.use() as core:
            # Another thread may be cancelling it, too: whoever comes second finds it told to stop, and must not return
            # before it has ended.
            with contextlib.suppress(VernierError):
                core.stop_trial(self._id, leased.number, reason, actor())
            with contextlib.suppress(VernierError):
                core.fail(leased, False, reason)
        self._handle.release(leased.holder)
        self._asked.pop(leased.number, None)

    def _leased_to(self, holders: Collection[str]) -> list[_core.Leased]:
        """The open trials of these holders. Reads all trials."""
        with self._handle.use() as core:
            return [leased for leased, _, _ in core.leased(self._id) if leased.holder in holders]

    def _lose(self, asked: AskedTrial, message: str) -> TrialRecord:
        with self._handle.use() as core:
            row = core.fail(asked.leased, True, _values.message(message, "message", _MESSAGE))
        self._forget(asked)
        return TrialRecord(*row)

    def _completed(self) -> int:
        with self._handle.use() as core:
            return core.study(self._id)[4]

    # --- parts ---
    def _find_orphans(self) -> list[str]:
        if self._handle.path is None:
            return []
        with self._handle.use() as core:
            return [leased.holder for leased, _, _ in core.leased(self._id) if is_orphan(leased.holder)][::-1]

    def _remember(self, trial: AskedTrial) -> AskedTrial:
        self._asked[trial.number] = weakref.ref(trial)
        return trial

    def _forget(self, trial: AskedTrial) -> None:
        self._handle.release(trial.holder)
        self._asked.pop(trial.number, None)

    def _find(self, trial: Union[Trial, int]) -> AskedTrial:
        if isinstance(trial, AskedTrial):
            if trial.leased.study != self._id or trial._handle is not self._handle:
                raise InvalidValueError(f"trial {trial.number} belongs to another study", field="trial")
            return trial
        if isinstance(trial, bool) or not isinstance(trial, int):
            raise TypeError(f"trial: must be a trial or its number, got {trial!r}")
        known = self._asked.get(trial)
        asked = None if known is None else known()
        if asked is not None:
            return asked
        with self._handle.use() as core:
            state = core.trial(self._id, trial)[1]
        raise StateError(f"trial {trial} is {state}, and was not asked for by this process")

    def _metrics_of(self, value: Any) -> dict[str, float]:
        """What ``train`` returned, as metrics."""
        if value is None:
            return {}
        if isinstance(value, Mapping):
            return _values.metrics(value)
        names = [metric for metric, _ in self._objectives]
        wanted = f"a mapping with {', '.join(names)}" + (f", or {len(names)} numbers" if len(names) > 1 else ", or a number")
        if hasattr(value, "tolist"):  # An array or a tensor.
            value = value.tolist()
        if isinstance(value, (list, tuple)):
            if len(value) != len(names):
                raise InvalidValueError(f"value: must be {wanted}, got {len(value)} values", field="value")
            return {name: _values.metric(one, name) for name, one in zip(names, value)}
        if len(names) > 1:
            raise InvalidValueError(f"value: must be {wanted}, got {value!r}", field="value")
        return {names[0]: _values.metric(value, names[0])}


def _names(names: Names, field: str) -> list[str]:
    if names is None:
        return []
    if isinstance(names, str):
        return [_values.text(names, field)]
    if isinstance(names, Mapping) or not isinstance(names, Sequence):
        raise TypeError(f"{field}: must be a name or a list of names, got {names!r}")
    return [_values.text(name, f"{field}[{i}]") for i, name in enumerate(names)]


def _options(choice: Choice, field: str, key: str) -> Any:
    if isinstance(choice, str):
        return choice
    if not isinstance(choice, Mapping):
        raise TypeError(f"{field}: must be a name, or a mapping with {key} and options, got {choice!r}")
    return {
        _values.text(name, f"option of {field}"): _values.plain(value, f"{field}.{name}") for name, value in choice.items()
    }


def _path_of(storage: Storage) -> Optional[str]:
    """The file of a storage; None for memory, which the command line calls ":memory:"."""
    if storage is None or storage == ":memory:":
        return None
    if not isinstance(storage, (str, os.PathLike)):
        raise TypeError(f"storage: must be the path of a file, or None, got {storage!r}")
    path = os.fsdecode(storage)
    if "://" in path:
        raise InvalidValueError(f"storage: must be the path of a file, not a URL, got {path!r}", field="storage")
    if not path:
        raise InvalidValueError("storage: must be the path of a file, or None, got ''", field="storage")
    return path


def _existing(storage: Storage) -> str:
    path = _path_of(storage)
    if path is None:
        raise InvalidValueError(f"storage: must be the path of a file, got {storage!r}", field="storage")
    if not os.path.exists(path):
        raise FileNotFoundError(f"there is no store at {path}")
    return path


def create_study(
    name: str,
    space: Space,
    *,
    maximize: Names = None,
    minimize: Names = None,
    algorithm: Choice = "gp",
    stopping: Choice = "none",
    constraints: Sequence[str] = (),
    outcome_constraints: Sequence[str] = (),
    warm_start: Sequence[str] = (),
    trials: Optional[int] = None,
    seed: int = 0,
    labels: Optional[Mapping[str, str]] = None,
    storage: Storage = None,
    resume: bool = False,
) -> Study:
    """Creates a study.

    ``space``: parameters by name: Float, Int, Discrete, Categorical, Bool, or a list of values. ``maximize``,
    ``minimize``: the metric to optimize, or several; those to maximize come first, and the first of all decides which
    trial is the best. ``algorithm``: "gp", "quasi-random", "random" or "grid"; ``stopping``: "none", "automatic",
    "median", …; either with options as a mapping, ``{"name": "gp", "initial_points": 8}`` and
    ``{"rule": "median", "min_trials": 3}``. ``constraints``: expressions over parameters that every point satisfies,
    "width * batch <= 8192". ``outcome_constraints``: expressions over metrics that the best trial satisfies,
    "latency_ms <= 20". ``warm_start``: names of earlier studies of the same storage. ``trials``: the budget, of all calls
    together. ``seed``: equal seeds and equal results give equal points.

    ``storage``: a SQLite file, as of the command line; None: memory. ``resume``: continue the study if the storage has
    one of that name; its parameters, objectives, algorithm and seed must be the same.

    InvalidValueError (a ValueError), TypeError: an argument is wrong. StudyExistsError: the name is taken.
    StoreBusyError: another process has the file open.
    """
    objectives = [{"maximize": metric} for metric in _names(maximize, "maximize")]
    objectives += [{"minimize": metric} for metric in _names(minimize, "minimize")]
    if not objectives:
        raise InvalidValueError("objective: give maximize= or minimize= the name of a metric", field="objective")
    definition: dict[str, Any] = {
        "study": _values.text(name, "study"),
        "objective": objectives if len(objectives) > 1 else objectives[0],
        "parameters": parameters_of(space),
        "algorithm": _options(algorithm, "algorithm", "name"),
        "stopping": _options(stopping, "stopping", "rule"),
        "seed": _values.whole(seed, "seed", 0, 2**64 - 1),
        "parallel": _MOST_PARALLEL,
    }
    for key, texts in (
        ("constraints", _names(constraints, "constraints")),
        ("outcome_constraints", _names(outcome_constraints, "outcome_constraints")),
        ("warm_start", _names(warm_start, "warm_start")),
    ):
        if texts:
            definition[key] = texts
    if trials is not None:
        definition["budget"] = {"trials": _values.whole(trials, "trials", 1)}
    if labels:
        definition["labels"] = {_values.text(k, "label"): _values.text(v, f"labels.{k}") for k, v in labels.items()}
    path = _path_of(storage)
    if path is None and _values.flag(resume, "resume"):
        raise InvalidValueError("resume: needs storage=, a file that outlives the program", field="resume")
    if path is None:
        definition["lease"] = {"ttl": "never"}
    text = json.dumps(definition, allow_nan=False)
    handle = handle_of(path)
    with handle.use() as core:
        try:
            study_id = core.create_study(text, actor())
        except StudyExistsError as error:
            if not resume:
                raise StudyExistsError(f"{error}; resume=True continues it", error.reason) from None
            study_id = core.find_study(name)
            core.redefine_study(study_id, text, actor())
        return Study(handle, study_id, name)


def open_study(name: str, storage: Storage) -> Study:
    """Opens a study of a storage.  NotFoundError: it has none of that name."""
    handle = handle_of(_existing(storage))
    with handle.use() as core:
        study_id = core.find_study(_values.text(name, "study"))
        row = core.study(study_id)
        if row[11]:
            raise StateError(f"study '{name}' runs a job of its own: `vernier run` or `vernierd` runs its trials")
        return Study(handle, study_id, row[0])


def study_names(storage: Union[str, os.PathLike[str]]) -> list[str]:
    """Returns the names of the studies of a storage."""
    with handle_of(_existing(storage)).use() as core:
        return core.study_names()


def delete_study(name: str, storage: Union[str, os.PathLike[str]], *, force: bool = False) -> None:
    """Deletes a study with its trials. ``force``: also if trials of it are running."""
    with handle_of(_existing(storage)).use() as core:
        core.delete_study(_values.text(name, "study"), bool(force), actor())
