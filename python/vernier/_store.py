"""Open stores of this process: who uses them, who closes them, and what keeps leases alive."""

from __future__ import annotations

import atexit
import contextlib
import itertools
import os
import threading
import time
import weakref
from typing import TYPE_CHECKING, Any, Iterator, Optional, cast

from vernier._errors import AlgorithmError, LeaseLostError, NotFoundError, StateError, StoreError, VernierError

if TYPE_CHECKING:
    import logging

    from vernier import _core
    from vernier._own_calls import Classes
    from vernier._study import Study
    from vernier._trials import AskedTrial

# Time between two rounds of the keeper, which looks for leases that are due.
_ROUND = 0.5
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


def new_request() -> str:
    """The id of a change. The change takes effect once, also if it is asked for again, in the file or of its server."""
    return os.urandom(16).hex()


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
    if _is_zombie(pid):
        return True
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return True
    except PermissionError:
        pass
    return False


class _Here(threading.local):
    """What the current thread is doing."""

    def __init__(self) -> None:
        self.handles: list[StoreHandle] = []
        """Whose store it is calling."""
        self.inside = 0
        """Number of calls of users' algorithms and rules that it is in."""
        self.error: Optional[BaseException] = None
        """What the last one of these raised."""


here = _Here()


def _is_zombie(pid: int) -> bool:
    """Whether the process has ended, and only its parent has not yet asked for its exit status."""
    try:
        with open(f"/proc/{pid}/stat", encoding="utf-8", errors="replace") as file:
            return file.read().rpartition(")")[2].split()[0] == "Z"
    except (OSError, IndexError):
        return False


class StoreHandle:
    """The studies of one place, opened when they are needed. Thread-safe. Here a store in memory, which stays open until the
    handle is dropped; FileHandle and ServerHandle are the other places."""

    # Whether other processes may get the trials of this one unless their leases are renewed.
    is_shared = False
    # How often it was opened. Another process may have changed it before each time.
    openings: int = 0

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._core: Optional[_core.Backend] = None
        # Threads that are in a call. By their number, so that an interrupt at a bad moment is put right by the thread's next call.
        self._users: set[int] = set()
        # Open trials by holder. A trial that was dropped untold is not kept alive, and is found here by looking: a finalizer
        # could swallow an interrupt.
        self._open: dict[str, weakref.ref[AskedTrial]] = {}
        self._has_keeper = False
        self._wake = threading.Event()
        self._is_shut = False
        self._forked_from: Optional[int] = None
        self._classes: Optional[Classes] = None
        _all.add(self)

    def __str__(self) -> str:
        return self.path or "memory"

    @property
    def path(self) -> Optional[str]:
        """Of the file; None: it is no file."""
        return None

    @property
    def classes(self) -> Classes:
        """The algorithms and stopping rules of this program that studies of the store may name."""
        with self._lock:
            return self._known_classes()

    def _known_classes(self) -> Classes:
        if self._classes is None:
            from vernier._own_calls import Classes

            self._classes = Classes()
        return self._classes

    @contextlib.contextmanager
    def use(self, *, ends: bool = False, needs_file: bool = False) -> Iterator[_core.Backend]:
        """Opens the store, and keeps it open meanwhile. ``ends``: a trial ends, so that the next call follows at once.
        ``needs_file``: for calls that a server does not have, or cannot answer; waits until none has the file."""
        if here.inside and self in here.handles:
            raise StateError("an algorithm or a stopping rule must not call the study that it works for")
        depth = len(here.handles)
        is_outer = self not in here.handles
        try:
            core = self._enter(needs_file) if is_outer or self._core is None else self._core
            here.handles.append(self)
            here.error = None
            yield core
        except VernierError as error:
            cause, here.error = here.error, None
            if cause is None or error is cause:
                raise
            if isinstance(cause, Exception):
                raise AlgorithmError(str(error), error.reason, error.field) from cause
            raise cause from None
        else:
            if here.error is not None and not isinstance(here.error, Exception):
                raise here.error
        finally:
            del here.handles[depth:]
            here.error = None
            if is_outer:
                self._leave(ends)

    @contextlib.contextmanager
    def use_store(self, *, ends: bool = False) -> Iterator[_core.Store]:
        """As ``use`` with ``needs_file``."""
        with self.use(ends=ends, needs_file=True) as core:
            yield cast("_core.Store", core)

    def study(self, study_id: int, name: str) -> Study:
        from vernier._study import Study

        return Study(self, study_id, name)

    def create(self, core: _core.Backend, definition: str) -> int:
        """Creates a study of a study file, and returns its id."""
        return core.create_study(definition, actor(), new_request())

    def redefine(self, core: _core.Backend, study_id: int, definition: str) -> None:
        """Gives a study another definition, of which only some parts may differ."""
        core.redefine_study(study_id, definition, actor())

    def open_study_args(self, name: str) -> tuple[Any, ...]:
        """Arguments of open_study for a study of this store."""
        raise TypeError("a study in memory cannot be pickled; give create_study a storage")

    def lease(self, trial: AskedTrial) -> None:
        """Keeps the lease alive until ``release``, or until the trial is dropped."""
        if self.is_shared:
            with self._lock:
                self._open[trial.holder] = weakref.ref(trial)
                self._start_keeper()

    def release(self, holder: str) -> None:
        with self._lock:
            self._open.pop(holder, None)

    def close(self) -> None:
        """Closes a file, unless a call is in progress. The next call opens it again."""

    def shut(self) -> None:
        """At the end of the interpreter: waits for calls in progress, and lets no further one begin."""
        with self._lock:
            self._is_shut = True
        for _ in range(200):
            with self._lock:
                if not self._users:
                    self._drop()
                    return
            time.sleep(0.01)

    def abandon(self, parent: int) -> None:
        """In the child of a fork."""
        self._lock = threading.Lock()
        self._forked_from = parent
        if self._core is not None:
            self._core.abandon()

    # --- calls; all but the first two with the lock held ---
    def _enter(self, needs_file: bool) -> _core.Backend:
        with self._lock:
            self._check()
            if self._core is None:
                self._core = self._connect()
                self.openings += 1
            self._users.add(threading.get_ident())
            return self._core

    def _leave(self, ends: bool) -> None:
        with self._lock:
            self._users.discard(threading.get_ident())

    def _check(self) -> None:
        if self._forked_from is not None:
            raise StateError(
                f"the study was opened in process {self._forked_from} before the fork; open it again in this process"
            )
        if self._is_shut:
            raise StoreError("the interpreter is exiting: no more calls")

    def _connect(self) -> _core.Backend:
        from vernier import _core

        return _core.Store.open("", self._known_classes(), 0)

    def _drop(self) -> None:
        self._core = None

    # --- leases ---
    def _start_keeper(self) -> None:
        if not self._has_keeper:
            self._has_keeper = True
            threading.Thread(target=self._keep, name="vernier-keeper", daemon=True).start()

    def _keep(self) -> None:
        said = ""
        while self._look():
            try:
                self._renew()
                said = ""
            except VernierError as error:
                if str(error) != said and not self._is_shut:
                    logger().warning("%s: %s", self, error)
                said = str(error)

    def _look(self) -> bool:
        """Waits until it is time to look for leases that are due. False: there are none to keep, and the keeper ends."""
        until = time.monotonic() + _ROUND
        while time.monotonic() < until:
            with self._lock:
                pause = self._next_look()
                if pause is None or self._is_shut:
                    self._has_keeper = False
                    return False
            self._wake.wait(pause)
            self._wake.clear()
        return True

    def _next_look(self) -> Optional[float]:
        """The time until the keeper should look again; None: there is nothing to look after."""
        self._open = {holder: trial for holder, trial in self._open.items() if trial() is not None}
        return _ROUND if self._open else None

    def _renew(self) -> None:
        now = time.monotonic()
        with self._lock:
            trials = [trial for trial in (known() for known in self._open.values()) if trial is not None]
        due = [trial for trial in trials if now - trial.renewed >= trial.leased.ttl / _HEARTBEATS]
        if not due:
            return
        missing = []
        with self.use() as core:
            core.tick()
            for trial in due:
                try:
                    core.heartbeat(trial.leased)
                    trial.renewed = now
                except (LeaseLostError, StateError):
                    self.release(trial.holder)
                except NotFoundError:
                    missing.append(trial)
        for trial in missing:
            if trial.moved is None:
                self.release(trial.holder)
            else:
                trial.moved(trial)


_all: weakref.WeakSet[StoreHandle] = weakref.WeakSet()
def _before_exit() -> None:
    for handle in list(_all):
        handle.shut()


# Handles whose lock this thread holds during a fork.
_forking = threading.local()


def _before_fork() -> None:
    """Waits until no file is being opened, whose lock the child would get."""
    _forking.held = [handle for handle in sorted(_all, key=id) if handle._lock.acquire(timeout=1)]


def _after_fork_in_parent() -> None:
    for handle in _forking.held:
        handle._lock.release()


def _after_fork_in_child() -> None:
    global _session
    _session = os.urandom(4).hex()
    for handle in list(_all):
        handle.abandon(os.getppid())


atexit.register(_before_exit)
os.register_at_fork(before=_before_fork, after_in_parent=_after_fork_in_parent, after_in_child=_after_fork_in_child)
