"""The loop of ``Study.optimize``."""

from __future__ import annotations

import gc
import os
import threading
from typing import TYPE_CHECKING, Any, Iterable, Optional, Union

from vernier._errors import UNREACHABLE, ExhaustedError
from vernier._loop import Loop
from vernier._values import described, finite, whole
from vernier.optuna import _tell
from vernier.optuna._states import TrialState
from vernier.optuna.exceptions import TrialPruned
from vernier.optuna.trial import FrozenTrial

if TYPE_CHECKING:
    import logging

    from vernier.optuna.study import Callback, ObjectiveFunc, Study


def logger() -> logging.Logger:
    from vernier.optuna.logging import get_logger

    return get_logger("optuna")


class Calls:
    """The calls of optimize of one study, one at a time."""

    def __init__(self) -> None:
        self._running = threading.Lock()
        self._threads = threading.local()
        self._run: Optional[_Run] = None

    def stop(self) -> None:
        if self._run is None:
            raise RuntimeError("stop: optimize is not running")
        self._run.end()

    def run(
        self,
        study: Study,
        func: ObjectiveFunc,
        n_trials: Optional[int],
        timeout: Optional[float],
        n_jobs: int,
        catch: Union[Iterable[type[Exception]], type[Exception]],
        callbacks: Optional[Iterable[Callback]],
        gc_after_trial: bool,
        show_progress_bar: bool,
    ) -> None:
        from vernier._progress import progress_of
        from vernier.optuna._source import StudySource, as_study

        if not callable(func):
            raise TypeError(f"func: must be a function of a trial, got {func!r}")
        n_trials = None if n_trials is None else whole(n_trials, "n_trials", 0)
        timeout = None if timeout is None else finite(timeout, "timeout")
        n_jobs = os.cpu_count() or 1 if n_jobs == -1 else whole(n_jobs, "n_jobs", 1)
        classes = tuple(catch) if isinstance(catch, Iterable) else (catch,)
        if not all(isinstance(one, type) and issubclass(one, BaseException) for one in classes):
            raise TypeError(f"catch: must be a class of exceptions, or several, got {catch!r}")
        if getattr(self._threads, "is_inside", False):
            raise RuntimeError("optimize: must not be called within the objective function of the same study")
        source = StudySource(study)
        with self._running, progress_of(as_study(source), bool(show_progress_bar), n_trials, timeout) as progress:
            after = [*(callbacks or ()), lambda _, trial: progress.add(source.bare(trial))]
            run = _Run(study, func, n_trials, timeout, classes, after, gc_after_trial)
            self._run = run
            try:
                if n_jobs > 1:
                    run.in_threads(n_jobs, lambda: self._work(run))
                    run.raise_error()
                else:
                    self._work(run)
            finally:
                self._run = None

    def _work(self, run: _Run) -> None:
        self._threads.is_inside = True
        try:
            run.work()
        finally:
            self._threads.is_inside = False


class _Run(Loop):
    def __init__(
        self,
        study: Study,
        func: ObjectiveFunc,
        n_trials: Optional[int],
        timeout: Optional[float],
        catch: tuple[type[BaseException], ...],
        callbacks: list[Callback],
        gc_after_trial: bool,
    ) -> None:
        super().__init__(study.study_name, n_trials, timeout)
        self.study = study
        self.func = func
        self.catch = catch
        self.callbacks = callbacks
        self.gc_after_trial = gc_after_trial

    def work(self) -> None:
        while self.may_begin():
            try:
                trial = self._run_one()
            except ExhaustedError as error:
                logger().info("The study ends: %s", error)
                self.end()
                return
            finally:
                if self.gc_after_trial:
                    gc.collect()
            for callback in self.callbacks:
                callback(self.study, trial)

    def _run_one(self) -> FrozenTrial:
        study = self.study
        trial = study.ask()
        values: Any = None
        state: Optional[TrialState] = None
        message = ""
        error: Optional[BaseException] = None
        try:
            values = self.func(trial)
        except TrialPruned as pruned:
            state, message = TrialState.PRUNED, str(pruned)
        except UNREACHABLE:
            raise  # No fault of the trial, which stays as it is.
        except (Exception, KeyboardInterrupt) as raised:
            state, message, error = TrialState.FAIL, described(raised), raised
        try:
            record = _tell.tell(study, trial, values, state, message=message, warn=False)
        except UNREACHABLE:
            raise
        except Exception:
            record = study._book.record(trial.number)
            if not record.state.is_finished():
                study._book.end(trial.number, TrialState.FAIL, None, "could not be told")
            raise
        self._log(record, values, message, error)
        if error is not None and not isinstance(error, self.catch):
            raise error
        return record

    def _log(self, record: FrozenTrial, values: Any, message: str, error: Optional[BaseException]) -> None:
        log = logger()
        if record.state is TrialState.PRUNED:
            log.info("Trial %d pruned. %s", record.number, message)
        elif record.state is TrialState.FAIL:
            why = message or _tell.checked(values, len(self.study.directions))[1]
            # The traceback of an interrupt is shown by the interpreter.
            traceback = None if isinstance(error, KeyboardInterrupt) else error
            log.warning("Trial %d failed with parameters: %s: %s", record.number, record.params, why, exc_info=traceback)
        elif len(record.values or ()) > 1:
            log.info("Trial %d finished with values: %s and parameters: %s.", record.number, record.values, record.params)
        elif log.isEnabledFor(20):
            best = self.study._best() if self.study._feasible() else None
            found = (
                f"Best is trial {best.number} with value: {best.value}."
                if best
                else "No trial satisfies the constraints yet."
            )
            log.info(
                "Trial %d finished with value: %s and parameters: %s. %s", record.number, record.value, record.params, found
            )
