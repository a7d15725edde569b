"""What the loops of ``Study.optimize`` here and in ``vernier.optuna`` share: when to begin a trial, threads, and interrupts."""

from __future__ import annotations

import contextlib
import threading
import time
from types import TracebackType
from typing import Callable, Optional, TypeVar

from vernier._store import logger

# Time that trials have to notice an interrupt, which they do when they report or ask whether to stop.
PATIENCE = 2.0
# Time after an interrupt before the user is told of the wait, and between two looks at the threads.
SILENCE = 0.3
ROUND = 0.02
# Modules between the call of optimize and the function of the user.
_PLUMBING = ("vernier", "asyncio", "contextlib", "threading")
_E = TypeVar("_E", bound=BaseException)


def without_our_frames(error: _E) -> _E:
    """The exception with only the user's frames in its traceback, for ``raise … from None`` in the function that was called."""
    frames = _users_frames(error)
    if frames:
        frames[-1].tb_next = None
    return error.with_traceback(frames[0] if frames else None)


def has_users_frames(error: BaseException) -> bool:
    """Whether its traceback has a line of the user's."""
    return bool(_users_frames(error))


def _users_frames(error: BaseException) -> list[TracebackType]:
    frames = []
    frame: Optional[TracebackType] = error.__traceback__
    while frame is not None:
        if frame.tb_frame.f_globals.get("__name__", "").partition(".")[0] not in _PLUMBING:
            frames.append(frame)
        frame = frame.tb_next
    return frames


class Loop:
    """One call of optimize. The fields are guarded by ``lock``."""

    def __init__(self, name: str, trials: Optional[int], timeout: Optional[float]) -> None:
        self.name = name
        self.left = trials
        self.deadline = None if timeout is None else time.monotonic() + timeout
        self.lock = threading.Lock()
        self.error: Optional[BaseException] = None
        self.is_over = False
        self.is_interrupted = False
        self._threads: set[threading.Thread] = set()  # Those that have not ended.
        self._wake = threading.Lock()  # Held, but for the moment after one ended.
        self._wake.acquire()

    # --- for subclasses ---
    def press(self) -> None:
        """After an interrupt: asks what the threads do to end. Called again until they have ended."""

    def clean_up(self) -> None:
        """After an interrupt, once the threads have ended or have had their time. Called in a thread of its own."""

    # --- in any thread ---
    def may_begin(self) -> bool:
        with self.lock:
            if self.left == 0 or self.has_to_end():
                return False
            if self.left is not None:
                self.left -= 1
            return True

    def has_to_end(self) -> bool:
        return self.is_over or (self.deadline is not None and time.monotonic() >= self.deadline)

    def mark_interrupted(self) -> None:
        with self.lock:
            self.is_over = self.is_interrupted = True

    def log_wait(self) -> None:
        logger().warning("study '%s': interrupted; open trials have %g s to end", self.name, PATIENCE)

    def log_stuck(self) -> None:
        """A rule that cannot be ended, as it waits in a function of C, may keep the study locked."""
        logger().error("study '%s': a stopping rule does not return; open trials are not cancelled", self.name)

    def end(self, error: Optional[BaseException] = None) -> None:
        """Lets no further trial begin. The caller's thread raises the first error."""
        with self.lock:
            self.is_over = True
            # An interrupted trial's end is no error of its own.
            if self.error is None and not self.is_interrupted:
                self.error = error

    # --- in the caller's thread ---
    def raise_error(self) -> None:
        if self.error is not None:
            raise self.error

    def in_threads(self, count: int, work: Callable[[], None]) -> None:
        """Calls ``work`` in threads, and waits for them."""
        try:
            for i in range(count):
                self._start(work, f"vernier-worker-{i}")
            # A wait without a timeout cannot be interrupted on every platform.
            while not self._have_ended(0.2):
                pass
        except BaseException:
            self._interrupt()
            raise

    def _start(self, work: Callable[[], None], name: str) -> None:
        def run() -> None:
            try:
                work()
            except BaseException as error:
                self.end(error)
            finally:
                self._threads.discard(thread)
                with contextlib.suppress(RuntimeError):  # It is released already.
                    self._wake.release()

        thread = threading.Thread(target=run, name=name, daemon=True)
        self._threads.add(thread)
        try:
            thread.start()
        finally:
            if thread.ident is None:
                self._threads.discard(thread)

    def _have_ended(self, seconds: float) -> bool:
        """Waits for the threads. Not by Thread.join: after an interrupt there, it takes the thread for ended (Python 3.9 to
        3.12). Not by Condition.wait: after an interrupt there, its lock may not be held, and leaving it raises RuntimeError."""
        deadline = time.monotonic() + seconds
        while self._threads and (left := deadline - time.monotonic()) > 0:
            self._wake.acquire(timeout=left)
        return not self._threads

    def _interrupt(self) -> None:
        self.mark_interrupted()
        try:
            if not self._have_been_ended(SILENCE):
                self.log_wait()
                self._have_been_ended(PATIENCE)
        finally:
            self._threads.clear()
            self._start(self.clean_up, "vernier-cancel")
            if not self._have_been_ended(PATIENCE):
                self.log_stuck()

    def _have_been_ended(self, seconds: float) -> bool:
        deadline = time.monotonic() + seconds
        while not self._have_ended(ROUND) and time.monotonic() < deadline:
            self.press()
        return not self._threads
