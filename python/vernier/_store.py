"""Open stores of this process: who uses them, who closes them, and what keeps leases alive."""

from __future__ import annotations

import atexit
import contextlib
import itertools
import os
import threading
import time
import weakref
from typing import TYPE_CHECKING, Callable, Iterator, Optional

from vernier._errors import LeaseLostError, StateError, StoreError, VernierError

if TYPE_CHECKING:
    import logging

    from vernier import _core
    from vernier._trials import AskedTrial

# Time between two rounds of the keeper, which also looks for due leases and closes an idle store.
_ROUND = 0.5
# Time without a call after which a store is closed, if no trial of this process is open: other programs can then open it.
_IDLE = 1.0
# Heartbeats of a trial in the time that its lease lasts. A choice: two may be late.
_HEARTBEATS = 3

# Tells this process from an earlier one with the same number.
_session = os.urandom(4).hex()
_host = os.uname().nodename[:64]
_numbers = itertools.count(1)


def logger() -> logging.Logger:
    """Imported when it is needed, since it takes longer than the rest of this package."""
    import logging

    return logging.getLogger("vernier")


def actor() -> str:
    """The name of this process in the log of a study."""
    return f"python:{_host}:{os.getpid()}:{_session}"


def new_holder() -> str:
    """A holder of one lease: each trial has its own, so that two threads never get the same trial."""
    return f"{actor()}:{next(_numbers)}"


def is_orphan(holder: str) -> bool:
    """Whether the lease belongs to a Python process of this host that has ended."""
    parts = holder.rsplit(":", 3)
    if len(parts) != 4 or parts[0] != f"python:{_host}" or not parts[1].isdigit():
        return False
    pid, session = int(parts[1]), parts[2]
    if session == _session:
        return False
    if pid == os.getpid():
        return True
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return True
    except PermissionError:
        pass
    return False


class StoreHandle:
    """A store, opened when it is needed. Thread-safe.

    In a file: closed when it was not used for a moment and no trial of this process is open, so that the command line
    and other processes can have it. In memory (``path`` is None): open until the handle is dropped.
    """

    def __init__(self, path: Optional[str]) -> None:
        self.path = path
        self._lock = threading.Lock()
        self._core: Optional[_core.Store] = None
        self._users = 0
        self._used = 0.0
        # Open trials by holder, with the times of the last renewals. A trial that was dropped untold is not kept alive, and
        # is found here by looking: a finalizer could swallow an interrupt.
        self._open: dict[str, weakref.ref[AskedTrial]] = {}
        self._keeper: Optional[threading.Thread] = None
        self._is_shut = False
        self._forked_from: Optional[int] = None
        _all.add(self)

    @contextlib.contextmanager
    def use(self) -> Iterator[_core.Store]:
        core = self._enter()
        try:
            yield core
        finally:
            with self._lock:
                self._users -= 1
                self._used = time.monotonic()

    def _enter(self) -> _core.Store:
        with self._lock:
            if self._forked_from is not None:
                raise StateError(
                    f"the study was opened in process {self._forked_from} before the fork; open it again in this process"
                )
            if self._is_shut:
                raise StoreError("the interpreter is exiting: no more calls")
            if self._core is None:
                from vernier import _core

                self._core = _core.Store.open(self.path or "")
                if self.path is not None:
                    self._keeper = threading.Thread(target=self._keep, name="vernier-keeper", daemon=True)
                    self._keeper.start()
            self._users += 1
            return self._core

    def lease(self, trial: AskedTrial) -> None:
        """Keeps the lease alive until ``release``, or until the trial is dropped."""
        if self.path is not None:
            with self._lock:
                self._open[trial.holder] = weakref.ref(trial)

    def release(self, holder: str) -> None:
        with self._lock:
            self._open.pop(holder, None)

    def close(self) -> None:
        """Closes the file, unless a call is in progress. The next call opens it again."""
        if self.path is not None:
            self._close_if(lambda: True)

    def shut(self) -> None:
        """At the end of the interpreter: waits for calls in progress, and lets no further one begin."""
        with self._lock:
            self._is_shut = True
        for _ in range(200):
            with self._lock:
                if self._users == 0:
                    self._core = None
                    return
            time.sleep(0.01)

    def abandon(self, parent: int) -> None:
        """In the child of a fork."""
        self._lock = threading.Lock()
        self._forked_from = parent
        if self._core is not None:
            self._core.abandon()

    def _close_if(self, may_close: Callable[[], bool]) -> bool:
        with self._lock:
            if self._users or self._core is None or not may_close():
                return self._core is None
            # The last reference: this closes the file, and nobody else can open it meanwhile.
            self._core = None
            return True

    def _is_idle(self) -> bool:
        self._open = {holder: trial for holder, trial in self._open.items() if trial() is not None}
        return not self._open and time.monotonic() - self._used >= _IDLE

    def _keep(self) -> None:
        while not self._close_if(self._is_idle):
            time.sleep(_ROUND)
            try:
                self._renew()
            except VernierError as error:
                logger().warning("%s: %s", self.path, error)

    def _renew(self) -> None:
        now = time.monotonic()
        with self._lock:
            if self._core is None or self._is_shut or not self._open:
                return
            core = self._core
            self._users += 1
            trials = [trial for trial in (known() for known in self._open.values()) if trial is not None]
        try:
            core.tick()
            for trial in trials:
                if now - trial.renewed < trial.leased.ttl / _HEARTBEATS:
                    continue
                try:
                    core.heartbeat(trial.leased)
                    trial.renewed = now
                except (LeaseLostError, StateError):
                    self.release(trial.holder)
        finally:
            with self._lock:
                self._users -= 1


_all: weakref.WeakSet[StoreHandle] = weakref.WeakSet()
_by_path: weakref.WeakValueDictionary[str, StoreHandle] = weakref.WeakValueDictionary()
_by_path_lock = threading.Lock()


def handle_of(storage: Optional[str]) -> StoreHandle:
    """The handle of a file, one for each file in this process; a new one for None, a store in memory."""
    if storage is None:
        return StoreHandle(None)
    path = os.path.realpath(storage)
    with _by_path_lock:
        handle = _by_path.get(path)
        if handle is None or handle._forked_from is not None:
            handle = _by_path[path] = StoreHandle(path)
        return handle


def _before_exit() -> None:
    for handle in list(_all):
        handle.shut()


def _after_fork_in_child() -> None:
    global _session, _by_path_lock
    _session = os.urandom(4).hex()
    _by_path_lock = threading.Lock()
    for handle in list(_all):
        handle.abandon(os.getppid())


atexit.register(_before_exit)
os.register_at_fork(after_in_child=_after_fork_in_child)
