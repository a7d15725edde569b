"""The loop of ``Study.optimize``: threads that ask, train and tell until there is a reason to end."""

from __future__ import annotations

import contextlib
import threading
import time
from typing import TYPE_CHECKING, Any, Callable, ContextManager, Optional, Union

from vernier import _values
from vernier._errors import (
    ExhaustedError,
    InvalidValueError,
    LeaseLostError,
    ParallelLimitError,
    StateError,
    TooManyFailuresError,
    TrialStopped,
)
from vernier._store import logger

if TYPE_CHECKING:
    from vernier._study import Study
    from vernier._trials import AskedTrial, Trial, TrialRecord

Train = Callable[["Trial"], Any]
Catch = Union[type[BaseException], tuple[type[BaseException], ...]]

# Failures at the beginning that end a run, where no trial of the study has completed: then train is broken, not the points.
_TELLING_FAILURES = 3
# Pause before another try to get a trial from a study that allows no more at a time.
_PAUSE = 0.05
_TRIES_ALONE = 10
# Time that trials have to notice an interrupt, which they do when they report or ask whether to stop.
_PATIENCE = 2.0


class _Interrupted(BaseException):
    """Ends ``train`` at its next report after an interrupt. Not an Exception, so that ``train`` does not catch it."""


class WorkerDied(Exception):
    """The process that ran the trial has ended."""


def optimize(
    study: Study,
    train: Train,
    *,
    trials: Optional[int],
    parallel: int,
    executor: str,
    timeout: Optional[float],
    max_failures: Optional[int],
    catch: Catch,
    callback: Optional[Callable[[Study, TrialRecord], Any]],
) -> None:
    if not callable(train):
        raise TypeError(f"train: must be a function of a trial, got {train!r}")
    run = _Run(study, trials, timeout, max_failures, catch, callback)
    if executor != "threads":
        from vernier._processes import Workers

        workers = Workers(train, executor)
        run.work_in_threads(workers, parallel, workers.kill)
    elif parallel > 1:
        run.work_in_threads(lambda: contextlib.nullcontext(train), parallel, lambda: None)
    else:
        run.work_here(train)
    run.raise_error()


class _Run:
    """One call of optimize. The fields are guarded by ``lock``."""

    def __init__(
        self,
        study: Study,
        trials: Optional[int],
        timeout: Optional[float],
        max_failures: Optional[int],
        catch: Catch,
        callback: Optional[Callable[[Study, TrialRecord], Any]],
    ) -> None:
        self.study = study
        self.left = trials
        self.deadline = None if timeout is None else time.monotonic() + timeout
        self.max_failures = max_failures
        self.catch = catch
        self.callback = callback
        self.lock = threading.Lock()
        self.telling = threading.Lock()  # Held while `callback` runs.
        self.open: set[Trial] = set()
        self.holders: set[str] = set()  # Of the trials that were asked for and not told.
        self.failures = 0
        self.has_completed: Optional[bool] = None  # Whether a trial of the study has; None: not yet known.
        self.last_failure: Optional[BaseException] = None
        self.error: Optional[BaseException] = None
        self.is_over = False
        self.is_interrupted = False

    # --- in the caller's thread ---
    def work_here(self, train: Train) -> None:
        try:
            while self._may_begin():
                self._run_one(train)
        except BaseException:
            # An interrupt may come at any moment, also before the trial is known here.
            self._cancel_all()
            raise

    def work_in_threads(
        self, workers: Callable[[], ContextManager[Train]], parallel: int, kill: Callable[[], None]
    ) -> None:
        threads = [
            threading.Thread(target=self._work, args=(workers,), name=f"vernier-worker-{i}", daemon=True)
            for i in range(parallel)
        ]
        try:
            for thread in threads:
                thread.start()
            for thread in threads:
                # A join without a timeout cannot be interrupted on every platform.
                while thread.is_alive():
                    thread.join(0.2)
        except BaseException:
            self._interrupt([thread for thread in threads if thread.ident is not None], kill)
            raise

    def raise_error(self) -> None:
        if self.error is not None:
            raise self.error

    def _interrupt(self, threads: list[threading.Thread], kill: Callable[[], None]) -> None:
        with self.lock:
            self.is_over = self.is_interrupted = True
            for trial in self.open:
                _make_stop(trial)
        kill()
        deadline = time.monotonic() + _PATIENCE
        try:
            for thread in threads:
                thread.join(max(0.0, deadline - time.monotonic()))
        finally:
            self._cancel_all()

    def _cancel_all(self) -> None:
        for leased in self.study._leased_to(self.holders) if self.holders else ():
            self.study._cancel(leased, "interrupted")

    # --- in any thread ---
    def _work(self, workers: Callable[[], ContextManager[Train]]) -> None:
        try:
            with workers() as train:
                while self._may_begin():
                    self._run_one(train)
        except BaseException as error:  # The caller's thread raises it.
            self._end(error)

    def _may_begin(self) -> bool:
        with self.lock:
            if self.left == 0 or self._is_over():
                return False
            if self.left is not None:
                self.left -= 1
            return True

    def _is_over(self) -> bool:
        return self.is_over or (self.deadline is not None and time.monotonic() >= self.deadline)

    def _end(self, error: Optional[BaseException] = None) -> None:
        with self.lock:
            self.is_over = True
            # An interrupted trial's end is no error of its own.
            if self.error is None and not self.is_interrupted:
                self.error = error

    def _run_one(self, train: Train) -> None:
        try:
            trial = self._ask()
        except ExhaustedError as error:
            logger().info("study '%s': %s", self.study.name, error)
            self._end()
            return
        if trial is None:
            return
        with self.lock:
            self.open.add(trial)
            if self.is_interrupted:
                _make_stop(trial)
        try:
            record = self._train_and_tell(train, trial)
        except BaseException:
            self._cancel(trial)
            raise
        finally:
            with self.lock:
                self.open.discard(trial)
        self.holders.discard(trial.holder)
        if record is not None:
            self._count(record)
            if self.callback is not None:
                with self.telling:
                    self.callback(self.study, record)

    def _cancel(self, trial: AskedTrial) -> None:
        self.study._cancel(trial.leased, "interrupted")

    def _ask(self) -> Optional[AskedTrial]:
        """The next trial; None if the run was over before the study allowed one."""
        # Another thread's trial will end; without one, only the caller could end it. Not at once, since a thread that has
        # just got a trial may not have said so yet.
        tries_alone = 0
        while True:
            try:
                return self.study._ask(self.holders.add)
            except ParallelLimitError:
                if self._is_over():
                    return None
                tries_alone = 0 if self.open else tries_alone + 1
                if tries_alone > _TRIES_ALONE:
                    raise
            time.sleep(_PAUSE)

    def _train_and_tell(self, train: Train, trial: AskedTrial) -> Optional[TrialRecord]:
        try:
            try:
                value = train(trial)
            except TrialStopped:
                value = None
            return self._tell(trial, value)
        except _Interrupted:
            self._cancel(trial)
            return None
        except WorkerDied as error:
            return self._fail(trial, error, is_lost=True)
        except self.catch as error:
            return self._fail(trial, error)
        except Exception as error:
            self._fail(trial, error)
            raise

    def _tell(self, trial: AskedTrial, value: Any) -> Optional[TrialRecord]:
        if value is None and trial._last_step == 0:
            raise InvalidValueError("train: gave no value, and the trial reported nothing", field="train")
        try:
            return self.study.tell(trial, value)
        except (LeaseLostError, StateError) as error:
            # Ended from elsewhere meanwhile, or offered to another process: its result is not wanted.
            logger().warning("study '%s': trial %d: %s", self.study.name, trial.number, error)
            return None

    def _fail(self, trial: AskedTrial, error: BaseException, is_lost: bool = False) -> Optional[TrialRecord]:
        if self.is_interrupted:
            self._cancel(trial)
            return None
        message = _values.described(error)
        logger().warning(
            "study '%s': trial %d failed: %s", self.study.name, trial.number, message, exc_info=None if is_lost else error
        )
        self.last_failure = error
        try:
            if is_lost:
                return self.study._lose(trial, str(error))
            return self.study.tell(trial, failed=message)
        except (LeaseLostError, StateError):
            return None

    def _count(self, record: TrialRecord) -> None:
        if record.state == "COMPLETED":
            self.has_completed = True
        if record.state != "FAILED" or record.failure == "DIVERGED":
            return
        with self.lock:
            self.failures += 1
            failures = self.failures
        if self.max_failures is not None:
            if failures >= self.max_failures:
                self._give_up(f"{failures} trials failed, the bound is {self.max_failures}", record)
        elif failures >= _TELLING_FAILURES and not self._has_completed():
            self._give_up(f"the first {failures} trials all failed", record)

    def _has_completed(self) -> bool:
        if self.has_completed is None or not self.has_completed:
            self.has_completed = self.study._completed() > 0
        return self.has_completed

    def _give_up(self, why: str, record: TrialRecord) -> None:
        error = TooManyFailuresError(f"{why}; the last one: {record.message}")
        error.__cause__ = self.last_failure
        self._end(error)


def _make_stop(trial: Trial) -> None:
    """Makes the trial's next report end ``train``."""

    def send(step: int, metrics: dict[str, float]) -> tuple[bool, str]:
        raise _Interrupted

    trial._stop, trial.stop_reason = True, "interrupted"
    trial._send = send  # type: ignore[method-assign]
