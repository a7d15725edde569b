"""The loop of ``Study.optimize``: threads that ask, train and tell until there is a reason to end."""

from __future__ import annotations

import contextlib
import threading
import time
from typing import TYPE_CHECKING, Any, Callable, ContextManager, Optional, Union

from vernier import _values
from vernier._errors import (
    UNREACHABLE,
    ExhaustedError,
    Interrupted,
    InvalidValueError,
    LeaseLostError,
    ParallelLimitError,
    StateError,
    TooManyFailuresError,
    TrialStopped,
    VernierError,
)
from vernier._loop import Loop, has_users_frames
from vernier._store import logger

if TYPE_CHECKING:
    from vernier._progress import Progress
    from vernier._study import Study
    from vernier._trials import AskedTrial, Trial, TrialRecord

Train = Callable[["Trial"], Any]
Catch = Union[type[BaseException], tuple[type[BaseException], ...]]

# Failures at the beginning that end a run, where no trial of the study has completed: then train is broken, not the points.
_TELLING_FAILURES = 3
# Pause before another try to get a trial from a study that allows no more at a time.
_PAUSE = 0.05
_TRIES_ALONE = 10


class WorkerDied(Exception):
    """The process that ran the trial has ended."""


class WorkerCannotStart(VernierError):
    """The process that was to run the trial has ended before it could."""


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
    progress: Progress,
) -> None:
    import inspect

    _values.function(train, "train", "a trial")
    if inspect.iscoroutinefunction(train):
        raise TypeError("train: is an async function; use optimize_async")
    run = Run(study, trials, timeout, max_failures, catch, callback, progress)
    run.train = _values.place(train)
    if executor != "threads":
        from vernier._processes import Workers

        workers = Workers(train, executor)
        run.work_in_threads(workers, parallel, workers.kill)
    elif parallel > 1:
        run.work_in_threads(lambda: contextlib.nullcontext(train), parallel)
    else:
        run.work_here(train)
    run.raise_error()


def best_of(study: Study) -> Optional[TrialRecord]:
    """The best trial. Warns if there is none."""
    best = study.best
    if best is None:
        fates = [_fate_of(record) for record in study.trials]
        counts = ", ".join(f"{fates.count(fate)} {fate}" for fate in dict.fromkeys(fates))
        logger().warning("study '%s': no trial is the best: %s", study.name, counts or "there are none")
    return best


def _fate_of(record: TrialRecord) -> str:
    if record.failure == "DIVERGED":
        return "with a value that is NaN or infinite"
    return "violated an outcome constraint or gave no value for it" if record.state == "COMPLETED" else record.state.lower()


class Run(Loop):
    """One call of optimize. The fields are guarded by ``lock``."""

    def __init__(
        self,
        study: Study,
        trials: Optional[int],
        timeout: Optional[float],
        max_failures: Optional[int],
        catch: Catch,
        callback: Optional[Callable[[Study, TrialRecord], Any]],
        progress: Progress,
    ) -> None:
        super().__init__(study.name, trials, timeout)
        self.study = study
        self.max_failures = max_failures
        self.catch = catch
        self.callback = callback
        self.progress = progress
        self.train = ""  # The user's function, for messages.
        self.telling = threading.Lock()  # Held while `callback` runs.
        self.open: set[Trial] = set()
        progress.running = self.open
        self.holders: set[str] = set()  # Of the trials that were asked for and not told.
        self.has_begun = False  # Whether this call has begun a trial.
        self.failures = 0
        self.has_completed: Optional[bool] = None  # Whether a trial of the study has; None: not yet known.
        self.last_failure: Optional[BaseException] = None
        self._kill: Callable[[], None] = lambda: None  # Ends worker processes.

    # --- in the caller's thread ---
    def work_here(self, train: Train) -> None:
        try:
            while self.may_begin():
                self._run_one(train)
        except BaseException:
            # An interrupt may come at any moment, also before the trial is known here.
            self.clean_up()
            raise

    def work_in_threads(
        self, workers: Callable[[], ContextManager[Train]], parallel: int, kill: Callable[[], None] = lambda: None
    ) -> None:
        def work() -> None:
            with workers() as train:
                while self.may_begin():
                    self._run_one(train)

        self._kill = kill
        self.in_threads(parallel, work)

    # --- after an interrupt ---
    def press(self) -> None:
        with self.lock:
            for trial in self.open:
                _make_stop(trial)
        self._kill()
        self.study._handle.classes.interrupt()

    def clean_up(self) -> None:
        for leased in self.study._leased_to(self.holders) if self.holders else ():
            self.study._cancel(leased, "interrupted")

    # --- in any thread ---
    def _run_one(self, train: Train) -> None:
        trial = self.begin()
        if trial is not None:
            self.finish(train, trial)

    def begin(self) -> Optional[AskedTrial]:
        """The next trial; None: there is none, or the run is over."""
        try:
            trial = self._ask()
        except ExhaustedError as error:
            logger().info("study '%s': %s", self.study.name, error)
            self.end()
            return None
        except StateError as error:
            if error.reason != "STUDY_NOT_ACTIVE" or not self.has_begun:
                raise
            self._end_with_study(error)
            return None
        if trial is None:
            return None
        with self.lock:
            self.has_begun = True
            self.open.add(trial)
            if self.is_interrupted:
                _make_stop(trial)
        return trial

    def finish(self, train: Train, trial: AskedTrial) -> None:
        """Trains, and tells what came of it."""
        try:
            record = self._train_and_tell(train, trial)
        except BaseException:
            self.cancel(trial)
            raise
        finally:
            with self.lock:
                self.open.discard(trial)
        self.holders.discard(trial.holder)
        if record is not None:
            self._count(record)
            self.progress.add(record)
            if self.callback is not None:
                with self.telling:
                    self.callback(self.study, record)

    def _end_with_study(self, error: StateError) -> None:
        """Somebody has paused or stopped the study meanwhile."""
        with self.lock:
            is_told, self.is_over = self.is_over, True
        if not is_told:
            logger().warning("%s", error)

    def cancel(self, trial: AskedTrial) -> None:
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
                if self.has_to_end():
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
        except Interrupted:
            self.cancel(trial)
            return None
        except (WorkerCannotStart, *UNREACHABLE):
            raise  # No fault of the trial, which is cancelled.
        except WorkerDied as error:
            return self._fail(trial, error, is_lost=True)
        except self.catch as error:
            return self._fail(trial, error)
        except Exception as error:
            self._fail(trial, error)
            raise

    def _tell(self, trial: AskedTrial, value: Any) -> Optional[TrialRecord]:
        if value is None and not trial._has_reported:
            raise InvalidValueError(f"train: {self.train} gave no value, and the trial reported nothing", field="train")
        try:
            return self.study.tell(trial, value)
        except (InvalidValueError, TypeError) as error:
            raise type(error)(f"train: the value that {self.train} returned: {error}") from None
        except (LeaseLostError, StateError) as error:
            # Ended from elsewhere meanwhile, or offered to another process: its result is not wanted.
            logger().warning("trial %d of study '%s' was not told: %s", trial.number, self.study.name, error)
            return None

    def _fail(self, trial: AskedTrial, error: BaseException, is_lost: bool = False) -> Optional[TrialRecord]:
        if self.is_interrupted:
            self.cancel(trial)
            return None
        message = _values.described(error)
        if not has_users_frames(error):  # It is about what train returned, or its process.
            error.__traceback__ = None
        has_traceback = error.__traceback__ is not None or error.__cause__ is not None
        logger().warning(
            "study '%s': trial %d failed: %s", self.study.name, trial.number, message, exc_info=error if has_traceback else None
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
        self.end(error)


def _make_stop(trial: Trial) -> None:
    """Makes the trial's next report end ``train``."""

    def send(step: int, metrics: dict[str, float]) -> tuple[bool, str]:
        raise Interrupted

    trial._stop, trial.stop_reason = True, "interrupted"
    trial._send = send  # type: ignore[method-assign]
