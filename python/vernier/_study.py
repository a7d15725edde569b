"""Studies: created, opened, asked and told."""

from __future__ import annotations

import contextlib
import os
import weakref
from typing import TYPE_CHECKING, Any, Awaitable, Callable, Collection, Iterable, Mapping, NamedTuple, Optional, Sequence, Union

from vernier import _values
from vernier._errors import (
    ExhaustedError,
    InvalidValueError,
    LeaseLostError,
    NotFoundError,
    ParallelLimitError,
    StateError,
    StudyExistsError,
    VernierError,
)
from vernier._file import handle_of
from vernier._own import Optimizer, StoppingRule, class_of, definition_of, name_of
from vernier._space import Parameter, Space, parameters_of, space_of
from vernier._store import StoreHandle, actor, is_orphan, new_holder, new_request
from vernier._trials import AskedTrial, CurvePoint, Prediction, Trial, TrialList, TrialRecord, number_of, params_of

if TYPE_CHECKING:
    from vernier import _core
    from vernier._server import Job, Server

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
    """Number of suggestions in the log."""
    stops: int
    """Number of stops in the log."""
    verified: int
    """Number of suggestions and stops that came out as recorded."""
    problems: list[str]
    """Those that did not, or that cannot be verified here."""


class Study:
    """A search for the best parameters. Made by ``create_study`` and ``open_study``. Thread-safe.

    Its ``name`` is that in the storage. In a ``with`` statement it is closed at the end.
    """

    def __init__(self, handle: StoreHandle, study_id: int, name: str) -> None:
        self._handle = handle
        self._id = study_id
        self.name = name
        with handle.use() as core:
            row = core.study(study_id)
        self._objectives = row[8]
        self._classes = row[12], row[13]
        # Trials that this process has asked for, by number.
        self._asked: dict[int, weakref.ref[AskedTrial]] = {}
        self._orphans = self._find_orphans()

    def __repr__(self) -> str:
        where = f", {self._handle}" if self._handle.is_shared else ""
        return f"<vernier.Study {self.name!r}{where}>"

    def _repr_html_(self) -> Optional[str]:
        from vernier._html import of_study

        try:
            return of_study(self)
        except VernierError:  # Its text is shown instead.
            return None

    def __reduce__(self) -> Any:
        arguments = self._handle.open_study_args(self.name)
        classes = self._handle.classes.of(*self._classes) if any(self._classes) else (None, None)
        return _reopen, (arguments, *classes)

    # --- what it is ---
    @property
    def objectives(self) -> dict[str, str]:
        """The metrics to "maximize" or "minimize", the first one first."""
        return {metric: "maximize" if is_max else "minimize" for metric, is_max in self._objectives}

    @property
    def state(self) -> str:
        """What it does: "ACTIVE", "PAUSED", "STOPPING", "COMPLETED", "CANCELLED" or "FAILED"."""
        with self._handle.use() as core:
            return core.study(self._id)[1]

    @property
    def definition(self) -> str:
        """The study as a study file (YAML), with every default."""
        with self._handle.use() as core:
            return core.definition(self._id)

    @property
    def space(self) -> dict[str, Parameter]:
        """The parameters by name."""
        from vernier import _core

        return space_of(_core.parameters(self.definition))

    # --- ask and tell ---
    def ask(self) -> Trial:
        """Returns a trial to run. First come trials that an earlier process left behind, and those that were enqueued.

        ExhaustedError: the budget is spent, or every point was tried. ParallelLimitError: as many trials are open as the study
        allows. StateError: the study has ended, is paused, or runs a job for each trial.
        """
        return self._ask(lambda holder: None)

    def _ask(self, tell_holder: Callable[[str], object]) -> AskedTrial:
        """As ask. Calls `tell_holder` with the holder of a trial before it is leased."""
        if any(self._classes):
            self._handle.classes.require(self.name, *self._classes)
        # A server cannot call classes of this program.
        with self._handle.use(needs_file=any(self._classes)) as core:
            self._free_orphans(core)
            holder = new_holder()
            tell_holder(holder)
            try:
                suggested = self._suggest(core, holder)
            except (ExhaustedError, ParallelLimitError):
                # A process may have died since this one opened the study.
                self._orphans = self._find_orphans()
                if not self._orphans:
                    raise
                self._free_orphans(core)
                suggested = self._suggest(core, holder)
            [(leased, params, origin)] = suggested
            return self._remember(AskedTrial(self._handle, leased, params, origin))

    def _suggest(self, core: _core.Backend, holder: str) -> list[tuple[_core.Leased, dict[str, Any], str]]:
        try:
            return core.suggest(self._id, 1, holder)
        except StateError as error:
            if error.reason != "STUDY_NOT_ACTIVE":
                raise
            state = core.study(self._id)[1]
            if state == "COMPLETED":
                raise ExhaustedError(str(error), error.reason) from None
            raise StateError(str(error) + _how_to_go_on(self.name, state), error.reason) from None

    def _free_orphans(self, core: _core.Backend) -> None:
        """Lets trials of dead processes be offered again, before new ones."""
        orphans, self._orphans = self._orphans, []
        for orphan in orphans:
            # Another process has done so, or has the trial by now.
            with contextlib.suppress(LeaseLostError, StateError):
                core.end_lease(orphan, actor())

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

        StateError: the trial has ended, or was not asked for by this process. LeaseLostError: another process has the trial.
        InvalidValueError: the value is wrong; the trial stays open.
        """
        asked = self._find(trial)
        if (value is not None) + (failed is not None) + (infeasible is not None) > 1:
            raise InvalidValueError("tell: give one of value, failed and infeasible", field="tell")
        metrics = self._metrics_of(value)
        if value is not None and not metrics:
            raise InvalidValueError("value: must not be empty", field="value")
        if value is None and failed is None and infeasible is None and not asked._has_reported:
            raise InvalidValueError(
                f"tell: trial {asked.number} reported nothing, so that it needs a value", field="tell"
            )
        with _values.naming("final_metrics", "value"), self._handle.use(ends=True) as core:
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
        progress: Optional[bool] = None,
    ) -> Optional[TrialRecord]:
        """Calls ``train(trial)`` for one trial after another, and returns the best one of the study; None, with a warning that
        says why, if there is none.

        ``trials``: number of trials to begin now, whatever becomes of them: failed and cancelled ones count, as in the budget
        of ``create_study``; 0: none, which returns the best one so far; None: until ``timeout``, or until there are no more.
        ``parallel``: number of trials at a time. ``executor``: "threads" of this process, or processes that are started by "spawn", "fork" or
        "forkserver"; for processes other than of "fork", ``train`` must be defined in a module. ``timeout``: seconds after
        which no trial is begun. ``callback(study, record)`` is called after each trial, one call at a time. ``progress``:
        whether to show it, as the last line of the terminal or in the cell of a notebook; None: if there is one of them.

        What ``train`` returns is told to the study, as by ``tell``. An exception of a class in ``catch`` makes the trial
        FAILED, and the next one begins; another exception ends the call. The call also ends, with TooManyFailuresError,
        after ``max_failures`` failed trials; by default, if the first three all failed and no trial of the study has
        completed. Diverged trials do not count. Ctrl-C cancels the open trials, and ends with KeyboardInterrupt.
        """
        from vernier._loop import without_our_frames
        from vernier._optimize import best_of, optimize
        from vernier._progress import progress_of

        trials = None if trials is None else _values.whole(trials, "trials", 0)
        timeout = _timeout(timeout)
        if callback is not None:
            _values.function(callback, "callback", "the study and a record")
        try:
            with progress_of(self, progress, trials, timeout) as shown:
                optimize(
                    self,
                    train,
                    trials=trials,
                    parallel=_values.whole(parallel, "parallel", 1, _MOST_PARALLEL),
                    executor=_values.text(executor, "executor"),
                    timeout=timeout,
                    max_failures=None if max_failures is None else _values.whole(max_failures, "max_failures", 1),
                    catch=_values.exceptions(catch, "catch"),
                    callback=callback,
                    progress=shown,
                )
        except KeyboardInterrupt as interrupt:
            raise without_our_frames(interrupt) from None
        return best_of(self)

    async def optimize_async(
        self,
        train: Callable[[Trial], Awaitable[Any]],
        trials: Optional[int] = None,
        *,
        parallel: int = 1,
        timeout: Optional[float] = None,
        max_failures: Optional[int] = None,
        catch: Union[type[BaseException], tuple[type[BaseException], ...]] = Exception,
        callback: Optional[Callable[[Study, TrialRecord], Any]] = None,
        progress: Optional[bool] = None,
    ) -> Optional[TrialRecord]:
        """As ``optimize``, for an async ``train``: ``await study.optimize_async(train, trials=50, parallel=8)``.

        The trials are tasks of the running event loop, which never waits for the study. If the call is cancelled, so are its
        open trials. ``callback`` is called in a thread. ``await trial.report_async(step, loss=…)`` reports.
        """
        import asyncio

        from vernier._async import optimize
        from vernier._loop import without_our_frames
        from vernier._optimize import Run, best_of
        from vernier._progress import progress_of

        trials = None if trials is None else _values.whole(trials, "trials", 0)
        timeout = _timeout(timeout)
        if callback is not None:
            _values.function(callback, "callback", "the study and a record")
        try:
            with progress_of(self, progress, trials, timeout) as shown:
                run = Run(
                    self,
                    trials,
                    timeout,
                    None if max_failures is None else _values.whole(max_failures, "max_failures", 1),
                    _values.exceptions(catch, "catch"),
                    callback,
                    shown,
                )
                await optimize(run, train, _values.whole(parallel, "parallel", 1, _MOST_PARALLEL))
        except (asyncio.CancelledError, KeyboardInterrupt) as interrupt:
            raise without_our_frames(interrupt) from None
        return await asyncio.to_thread(best_of, self)

    # --- results ---
    @property
    def best(self) -> Optional[TrialRecord]:
        """The best completed trial that satisfies every outcome constraint, by the first objective; None: there is none. A trial
        that was stopped early counts with its last value, and has ``stopped``."""
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
        """Everything that a trial has reported, oldest first.  NotFoundError: there is no such trial."""
        number = number_of(trial)
        with self._handle.use() as core:
            return [CurvePoint(*point) for point in core.curve(self._id, number)]

    def predict(self, points: Iterable[Mapping[str, Any]]) -> list[Prediction]:
        """What the model of the algorithm "gp" expects at points of the space, one answer for each, in units of the metrics.

        StateError: the algorithm has no model, or there are too few trials. InvalidValueError: a point is outside of the space.
        """
        if isinstance(points, Mapping) or not isinstance(points, Iterable):
            raise TypeError(f"points: must be a list of points, got {points!r}")
        wanted = [params_of(point, f"points[{i}]") for i, point in enumerate(points)]
        with _values.naming("point", "points[0]" if len(wanted) == 1 else "points"), self._handle.use() as core:
            return [Prediction(*row) for row in core.predict(self._id, wanted)] if wanted else []

    def replay(self) -> Replay:
        """Computes every suggestion and every stop again from the log, and compares. Takes as long as they took."""
        with self._handle.use() as core:
            suggestions, stops, verified, problems = core.replay(self._id)
        lines = [f"trial {trial}: {detail}" for trial, _, detail in problems]
        return Replay(suggestions, stops, verified, lines)

    def plot_history(self, ax: Any = None) -> Any:
        """Draws the value of each trial and the best so far, with matplotlib, and returns the axes. ``vernier.plots`` has
        more figures."""
        from vernier import plots

        return plots.history(self).matplotlib(ax)

    # --- other trials ---
    def enqueue(self, params: Mapping[str, Any]) -> TrialRecord:
        """Adds a point to be tried before new suggestions, and returns its trial.

        InvalidValueError: it is outside of the space. StateError: the study has ended.
        """
        return self._add(params, None)

    def add(self, params: Mapping[str, Any], value: Any) -> TrialRecord:
        """Adds a point that was tried elsewhere, with its value as for ``tell``, and returns its trial.

        InvalidValueError: the point is outside of the space, or the value is wrong. StateError: the study has ended.
        """
        metrics = self._metrics_of(value)
        if not metrics:
            raise InvalidValueError("value: must not be empty", field="value")
        return self._add(params, metrics)

    def _add(self, params: Mapping[str, Any], metrics: Optional[dict[str, float]]) -> TrialRecord:
        point = params_of(params, "params")
        with _values.naming("point", "params"), _values.naming("final_metrics", "value"), self._handle.use() as core:
            return TrialRecord(*core.add_trial(self._id, point, metrics, actor(), new_request()))

    # --- its course ---
    def pause(self) -> None:
        """Gives no new trials until ``resume``; open ones continue.  StateError: the study is not ACTIVE."""
        with self._handle.use() as core:
            core.pause_study(self._id, actor())

    def resume(self) -> None:
        """Makes a paused study ACTIVE again.  StateError: the study is not PAUSED."""
        with self._handle.use() as core:
            core.resume_study(self._id, actor())

    def stop(self, reason: str = "") -> None:
        """Stops the study and its trials: it becomes STOPPING, and CANCELLED once the last trial has ended."""
        with self._handle.use() as core:
            core.stop_study(self._id, _values.text(reason, "reason"), actor())

    def finish(self, reason: str = "") -> None:
        """Ends the study: it takes no more trials, and becomes COMPLETED."""
        with self._handle.use() as core:
            core.finish_study(self._id, _values.text(reason, "reason"), actor())

    def close(self) -> None:
        """Closes the file, unless a call is in progress. The next use of the study opens it again. Other processes need not
        wait for this: the file is closed when one of them asks for it."""
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
        with self._handle.use(ends=True) as core:
            row = core.fail(asked.leased, True, _values.message(message, "message", _MESSAGE))
        self._forget(asked)
        return TrialRecord(*row)

    def _completed(self) -> int:
        with self._handle.use() as core:
            return core.study(self._id)[4]

    # --- parts ---
    def _find_orphans(self) -> list[_core.Leased]:
        """The open trials of processes of this host that have ended."""
        if not self._handle.is_shared:
            return []
        with self._handle.use() as core:
            return [leased for leased, _, _ in core.leased(self._id) if is_orphan(leased.holder)]

    def _remember(self, trial: AskedTrial) -> AskedTrial:
        self._asked[trial.number] = weakref.ref(trial)
        return trial

    def _forget(self, trial: AskedTrial) -> None:
        trial._is_told = True
        self._handle.release(trial.holder)
        self._asked.pop(trial.number, None)

    def _find(self, trial: Union[Trial, int]) -> AskedTrial:
        if isinstance(trial, AskedTrial):
            if trial.leased.study != self._id or trial._handle is not self._handle:
                raise InvalidValueError(f"trial {trial.number} belongs to another study", field="trial")
            return trial
        if isinstance(trial, bool) or not hasattr(trial, "__index__"):
            raise TypeError(f"trial: must be a trial or its number, got {trial!r}")
        trial = _values.whole(trial, "trial", 1)
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
            return _values.metrics(value, "value")
        names = [metric for metric, _ in self._objectives]
        wanted = f"a mapping with {', '.join(names)}" + (f", or {len(names)} numbers" if len(names) > 1 else ", or a number")
        if hasattr(value, "tolist"):  # An array or a tensor.
            value = value.tolist()
        if isinstance(value, (list, tuple)):
            if len(value) != len(names):
                raise InvalidValueError(f"value: must be {wanted}, got {_count(len(value), 'value')}", field="value")
            return {name: _values.metric(one, name) for name, one in zip(names, value)}
        if len(names) > 1:
            raise InvalidValueError(f"value: must be {wanted}, got {value!r}", field="value")
        return {names[0]: _values.metric(value, names[0])}


def _how_to_go_on(name: str, state: str) -> str:
    """The end of a message about a study that takes no new trials."""
    if state == "PAUSED":
        return f"; `study.resume()` or `vernier study resume {name}` lets it go on"
    if state == "FAILED":
        return f"; once its program is fixed, `vernier study amend {name} --fixed` lets it go on"
    if state in ("STOPPING", "CANCELLED"):
        return f"; it stays ended, but create_study with another name and warm_start='{name}' goes on from its trials"
    return ""


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"


def _timeout(timeout: Optional[float]) -> Optional[float]:
    if timeout is None or _values.finite(timeout, "timeout") >= 0:
        return timeout
    raise InvalidValueError(f"timeout: must be 0 or more seconds, got {timeout}", field="timeout")


def _names(names: Names, field: str) -> list[str]:
    if names is None:
        return []
    if isinstance(names, str):
        return [_values.text(names, field)]
    if isinstance(names, Mapping) or not isinstance(names, Sequence):
        raise TypeError(f"{field}: must be a name or a list of names, got {names!r}")
    return [_values.text(name, f"{field}[{i}]") for i, name in enumerate(names)]


def _options(choice: Any, field: str, key: str) -> Any:
    if isinstance(choice, str):
        return choice
    if class_of(choice) is not None:
        return definition_of(choice() if isinstance(choice, type) else choice, key)
    if not isinstance(choice, Mapping):
        raise TypeError(f"{field}: must be a name, or a mapping with {key} and options, got {choice!r}")
    return {
        _values.text(name, f"option of {field}"): _values.plain(value, f"{field}.{name}") for name, value in choice.items()
    }


def _path_of(storage: Storage) -> Optional[str]:
    """The file of a storage; None for memory, which the command line calls ":memory:"."""
    if storage is None or storage == ":memory:":
        return None
    path = _values.path(storage, "storage")
    if "://" in path:
        raise InvalidValueError(f"storage: must be the path of a file, not a URL, got {path!r}", field="storage")
    if not path:
        raise InvalidValueError("storage: must be the path of a file, or None, got ''", field="storage")
    return path


def check_folder(path: str) -> None:
    """Raises NotFoundError unless the file of a storage can be in its folder."""
    folder = os.path.dirname(os.path.realpath(path))
    if not os.path.isdir(folder):
        raise NotFoundError(f"storage: must be in a folder that exists, and there is no folder {folder}", field="storage")


def _existing(storage: Storage) -> str:
    path = _path_of(storage)
    if path is None:
        raise InvalidValueError(f"storage: must be the path of a file, got {storage!r}", field="storage")
    if not os.path.exists(path):
        raise NotFoundError(f"storage: there is no file {path}", field="storage")
    return path


def create_study(
    name: str,
    space: Space,
    *,
    maximize: Names = None,
    minimize: Names = None,
    algorithm: Union[Choice, Optimizer, type[Optimizer]] = "gp",
    stopping: Union[Choice, StoppingRule, type[StoppingRule], None] = None,
    constraints: Names = (),
    outcome_constraints: Names = (),
    warm_start: Names = (),
    trials: Optional[int] = None,
    seed: int = 0,
    labels: Optional[Mapping[str, str]] = None,
    storage: Storage = None,
    server: Union[str, Server, None] = None,
    job: Optional[Job] = None,
    parallel: Optional[int] = None,
    resume: bool = False,
) -> Study:
    """Creates a study.

    ``space``: parameters by name: Float, Int, Discrete, Categorical, Bool, or a list of values. ``maximize``,
    ``minimize``: the metric to optimize, or several; those to maximize come first, and the first of all decides which
    trial is the best. ``algorithm``: "gp", "quasi-random", "random" or "grid"; ``stopping``: "none", "automatic",
    "median", …; either with options as a mapping, ``{"name": "gp", "initial_points": 8}`` and
    ``{"rule": "median", "min_trials": 3}``, or an object of a class of your own (Optimizer, StoppingRule).
    ``constraints``: expressions over parameters that every point satisfies, one or a list of them, "width * batch <= 8192". ``outcome_constraints``: the same over metrics, which the best trial satisfies,
    "latency_ms <= 20". ``warm_start``: names of earlier studies of the same storage. ``trials``: the budget, of all calls
    together. ``seed``: equal seeds and equal results give equal points.

    ``storage``: a SQLite file, as of the command line, which other processes may use at the same time; ``server``: a server, or its address (``connect``); neither: memory.
    ``resume``: continue the study if there is one of that name; its parameters, objectives, algorithm and seed must be the
    same. ``job``: a training job, which the server runs for each trial, ``parallel`` of them at a time; its stopping rule is
    "automatic" by default. Without a job, ``parallel`` bounds the number of open trials.

    InvalidValueError: an argument is wrong; ``field`` names it. StudyExistsError: the name is taken.
    StoreBusyError: another process keeps the file for 30 s, and is no server. ServerUnavailableError: the server does not answer.
    """
    objectives = [{"maximize": metric} for metric in _names(maximize, "maximize")]
    objectives += [{"minimize": metric} for metric in _names(minimize, "minimize")]
    if not objectives:
        raise InvalidValueError("objective: give maximize= or minimize= the name of a metric", field="objective")
    definition: dict[str, Any] = {
        "study": _values.text(name, "name"),
        "objective": objectives if len(objectives) > 1 else objectives[0],
        "parameters": parameters_of(space),
        "algorithm": _options(algorithm, "algorithm", "name"),
        "seed": _values.whole(seed, "seed", 0, 2**64 - 1),
        "parallel": _parallel(parallel, job),
    }
    for key, texts in (
        ("constraints", _names(constraints, "constraints")),
        ("outcome_constraints", _names(outcome_constraints, "outcome_constraints")),
        ("warm_start", _names(warm_start, "warm_start")),
    ):
        if texts:
            definition[key] = texts
    if stopping is not None or job is None:
        definition["stopping"] = _options("none" if stopping is None else stopping, "stopping", "rule")
    if job is not None:
        from vernier._server import Job

        if not isinstance(job, Job):
            raise TypeError(f"job: must be a Job, got {job!r}")
        definition["job"] = job.definition
    if trials is not None:
        definition["budget"] = {"trials": _values.whole(trials, "trials", 1)}
    if labels is not None and (given := _values.texts(labels, "labels")):
        definition["labels"] = given
    resume = _values.flag(resume, "resume")
    handle = _handle_of(storage, server, creates=True)
    if not handle.is_shared:
        if resume:
            raise InvalidValueError("resume: needs storage= or server=, which outlives the program", field="resume")
        definition["lease"] = {"ttl": "never"}
    if job is not None and server is None:
        raise InvalidValueError("job: needs server=, which runs it", field="job")
    text = _values.document(definition, "study")
    has_classes = _give_classes(handle, algorithm, stopping)
    with _values.naming("study", "name"), handle.use(needs_file=has_classes) as core:
        try:
            study_id = handle.create(core, text)
        except StudyExistsError as error:
            if not resume:
                raise StudyExistsError(f"{error}; resume=True continues it", error.reason) from None
            study_id = core.find_study(name)
            handle.redefine(core, study_id, text)
        return handle.study(study_id, name)


def _parallel(parallel: Optional[int], job: Optional[Job]) -> int:
    if parallel is None:
        return _MOST_PARALLEL if job is None else 1
    return _values.whole(parallel, "parallel", 1, _MOST_PARALLEL)


def _handle_of(storage: Storage, server: Union[str, Server, None], *, creates: bool = False) -> StoreHandle:
    if server is None:
        path = _path_of(storage) if creates else _existing(storage)
        if path is not None:
            check_folder(path)
        return handle_of(path, creates=creates)
    if storage is not None:
        raise InvalidValueError("storage: and server= exclude each other", field="storage")
    from vernier._server import server_of

    return server_of(server)._handle


def _give_classes(handle: StoreHandle, algorithm: Any, stopping: Any) -> bool:
    """Makes the algorithm and the rule of this program known to the store, and returns whether it has one."""
    has_classes = False
    for choice, base, field in ((algorithm, Optimizer, "algorithm"), (stopping, StoppingRule, "stopping")):
        cls = class_of(choice)
        if cls is None:
            continue
        if handle.is_shared and handle.path is None:
            raise InvalidValueError(f"{field}: a server cannot call the Python class {cls.__name__}; give storage=", field=field)
        handle.classes.add(cls, base, field)
        has_classes = True
    return has_classes


def open_study(
    name: str,
    storage: Storage = None,
    server: Union[str, Server, None] = None,
    *,
    algorithm: Optional[type[Optimizer]] = None,
    stopping: Optional[type[StoppingRule]] = None,
) -> Study:
    """Opens a study of a storage or a server.  NotFoundError: it has none of that name.

    ``algorithm``, ``stopping``: the classes of the study, if it was created with an algorithm or a stopping rule of your
    own. Without them it can be read, and asked for no more trials. A study with a job in a file can be read, too; `vernier run`
    or `vernierd` runs its trials.
    """
    handle = _handle_of(storage, server)
    for cls, field in ((algorithm, "algorithm"), (stopping, "stopping")):
        if cls is not None and not isinstance(cls, type):
            raise TypeError(f"{field}: must be a class, since the study has its options, got {cls!r}")
    _give_classes(handle, algorithm, stopping)
    with handle.use() as core:
        study_id = core.find_study(_values.text(name, "name"))
        row = core.study(study_id)
        for cls, known, field in ((algorithm, row[12], "algorithm"), (stopping, row[13], "stopping")):
            if cls is not None and known != name_of(cls):
                has = f"the class '{known}'" if known else "one of Vernier's own"
                raise InvalidValueError(f"{field}: study '{row[0]}' has {has}, got {cls.__name__}", field=field)
        return handle.study(study_id, row[0])


def _reopen(
    arguments: tuple[Any, ...], algorithm: Optional[type[Optimizer]], stopping: Optional[type[StoppingRule]]
) -> Study:
    return open_study(*arguments, algorithm=algorithm, stopping=stopping)


def study_names(storage: Storage = None, *, server: Union[str, Server, None] = None) -> list[str]:
    """Returns the names of the studies of a storage or a server."""
    with _handle_of(storage, server).use() as core:
        return core.study_names()


def delete_study(
    name: str, storage: Storage = None, *, server: Union[str, Server, None] = None, force: bool = False
) -> None:
    """Deletes a study with its trials. ``force``: also if trials of it are running."""
    with _handle_of(storage, server).use() as core:
        core.delete_study(_values.text(name, "name"), _values.flag(force, "force"), actor())
