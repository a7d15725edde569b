"""Store files, which several processes share by turns.

One process at a time has a file open. If that is a server, calls go to it, until it has closed the file. A process that
waits for its turn announces itself by a lock on the owner file (src/storage/owner/store_lock.h). The process that has the file
looks for such a lock after each call, and between calls in a thread, and closes the file for the others. Training takes no
turn, only calls do.
"""

from __future__ import annotations

import contextlib
import os
import threading
import time
import weakref
from typing import TYPE_CHECKING, Any, Optional, cast

from vernier._errors import NotFoundError, ServerUnavailableError, StateError, StoreBusyError, VernierError
from vernier._store import StoreHandle, logger

if TYPE_CHECKING:
    from vernier import _core, _remote

# Seconds for which one process may keep a file before those who wait give up.
_PATIENCE = 30.0
# Seconds without a call after which a file is closed.
_IDLE = 1.0
# Seconds for which a process keeps a file that others wait for, while its calls follow each other. A choice: several times
# what closing and opening a file takes.
_TURN = 0.03
# Calls follow each other if less time than this passes between them.
_GAP = 0.003
# Time for those who wait to take a file that this process has given up, before it waits again itself. They look every 2 ms.
_COURTESY = 0.005
# Seconds for which other processes that were met are expected to be there.
_MEMORY = 60.0
# Seconds that one look for a free file may take. Meanwhile no other thread can use the handle.
_LOOK = 0.05
# Seconds between two looks whether a server has closed a file.
_SERVED = 0.1
# Seconds between two looks of the keeper for others, if none were met lately, and if some were.
_RARELY, _OFTEN = 0.01, 0.002


class FileHandle(StoreHandle):
    """A store in a file: open while it is used, and for a second after, unless another process waits for it; or the server
    that has the file open."""

    is_shared = True

    def __init__(self, path: str) -> None:
        super().__init__()
        self._path = path
        # One thread waits for the file. Comes before _lock.
        self._opening = threading.Lock()
        # The server to which calls go, since it has the file open: its address and the file of its token.
        self._server: Optional[tuple[str, str]] = None
        self._busy: Optional[StoreBusyError] = None  # Why the last look failed.
        # Times of the opening, the last call, the last hand-over, and of the last sight of another process.
        self._opened = self._used = self._given = 0.0
        self._met = -_MEMORY
        # Whether the file is made if it is missing. Once it was open, a missing file was removed, with its studies.
        self.may_create = False
        # Whether the last call ended a trial, so that another one follows; and the time that passed after the last other call.
        self._follows = False
        self._pause = _MEMORY

    @property
    def path(self) -> str:
        return self._path

    def open_study_args(self, name: str) -> tuple[Any, ...]:
        return name, self.path

    def close(self) -> None:
        with self._lock:
            if not self._users:
                self._drop()

    def abandon(self, parent: int) -> None:
        self._opening = threading.Lock()
        super().abandon(parent)

    # --- calls ---
    def _enter(self, needs_file: bool) -> _core.Backend:
        called = time.monotonic()
        with self._lock:
            core = self._begin(called, needs_file)
        return core or self._await_turn(called, needs_file)

    def _await_turn(self, called: float, needs_file: bool) -> _core.Backend:
        with self._opening:
            time.sleep(max(0.0, self._given + _COURTESY - time.monotonic()))
            seen, deadline, told = "", 0.0, None
            while True:
                with self._lock:
                    core = self._begin(called, needs_file) or self._open_file(called, needs_file)
                    seen, last = "" if self._busy is None else self._owner_seen(), seen
                    server = self._server
                if core is not None:
                    return core
                if server is not None:
                    if server != told:
                        logger().warning(
                            "%s: waits until the server at %s has closed the file; stop the server to go on, as vernier.optuna"
                            " and algorithms and rules of your own need the file itself",
                            self,
                            server[0],
                        )
                    told = server
                    time.sleep(_SERVED)
                now = time.monotonic()
                if seen != last or self._busy is None:
                    deadline = now + _PATIENCE
                elif now >= deadline:
                    raise StoreBusyError(f"{self._busy}; end that process, or call again", self._busy.reason)
                time.sleep(0.001)  # For threads that wait for the lock.

    def _reopen(self, served: _Served) -> Optional[_core.Backend]:
        """In a call to a server that does not answer: the studies where they are now. None: that server still has them."""
        deadline = time.monotonic() + _PATIENCE
        while time.monotonic() < deadline:
            with self._lock:
                self._check()
                self._leave_server()
                core = self._core or self._open_file(time.monotonic(), needs_file=False)
            if core is served:  # type: ignore[comparison-overlap]
                break
            if core is not None:
                return core
            time.sleep(_RARELY)
        return None

    def _leave(self, ends: bool) -> None:
        with self._lock:
            self._users.discard(threading.get_ident())
            self._used, self._follows = time.monotonic(), ends
            if not self._users and self._server is None and self._gives_way():
                self._drop(is_brief=True)

    # --- with the lock held ---
    def _begin(self, called: float, needs_file: bool) -> Optional[_core.Backend]:
        """Begins a call, if the file is open and this process may use it."""
        self._check()
        self._leave_server()
        if self._core is None or (needs_file and self._server is not None):
            return None
        self.may_create = False
        if self._users and self._is_awaited() and called - self._opened >= _TURN:
            return None
        if not self._users and not self._follows:
            self._pause = called - self._used
        self._users.add(threading.get_ident())
        return self._core

    def _open_file(self, called: float, needs_file: bool) -> Optional[_core.Backend]:
        """Opens the file and begins a call; None: another process has it, or other threads have not yet given it up."""
        self._busy = None
        if self._core is not None:
            return None
        try:
            self._core = self._connect()
        except StoreBusyError as error:
            self._busy, self._met = error, time.monotonic()
            return None
        self.openings += 1
        self._opened = time.monotonic()
        self._start_keeper()
        self._wake.set()
        return self._begin(called, needs_file)

    def _connect(self) -> _core.Backend:
        from vernier import _core

        if not self.may_create and not os.path.exists(self.path):
            raise NotFoundError(f"storage: the file {self.path} was removed", field="storage")
        try:
            return _core.Store.open(self.path, self._known_classes(), _LOOK)
        except StoreBusyError:
            self._server = _core.address_of_owner(self.path)
            if self._server is None:
                raise
        return cast("_core.Backend", _Served(self, *self._server))

    def _leave_server(self) -> None:
        """Forgets a server that has closed the file."""
        if self._server is not None:
            from vernier import _core

            if _core.address_of_owner(self.path) != self._server:
                self._core = self._server = None

    def _owner_seen(self) -> str:
        """Changes each time that a process opens the file."""
        try:
            return str(os.stat(self.path + ".owner").st_mtime_ns)
        except OSError:
            return "?"

    def _is_awaited(self) -> bool:
        """Whether another process waits for the file."""
        if self._core is None or self._server is not None:
            return False
        is_awaited = cast("_core.Store", self._core).is_awaited()
        if is_awaited:
            self._met = time.monotonic()
        return is_awaited

    def _gives_way(self) -> bool:
        """Whether to close the file after a call. Not only for those who wait now: until the next call, training may keep the
        keeper from running."""
        is_awaited = self._is_awaited()
        if self._follows or self._pause < _GAP:
            return is_awaited and self._used - self._opened >= _TURN
        return self._used - self._met < _MEMORY

    def _drop(self, is_brief: bool = False) -> None:
        """Closes the file. ``is_brief``: SQLite's log stays beside it, which is quicker for this process and the next one."""
        if self._is_awaited():
            self._given = time.monotonic()
        core, server = self._core, self._server
        self._core = self._server = None
        if core is not None and server is None:
            cast("_core.Store", core).close(is_brief)
        elif self in _untidy and os.path.exists(self.path + "-wal"):
            from vernier import _core

            with contextlib.suppress(VernierError):  # If the file is in use, another process will do it.
                _core.Store.open(self.path, self._known_classes(), _GAP).close(False)
        if is_brief:
            _untidy.add(self)
        else:
            _untidy.discard(self)

    def _next_look(self) -> Optional[float]:
        if self._core is not None and self._server is None:
            now = time.monotonic()
            idle = now - max(self._used, self._opened)
            if self._users or idle < _GAP or (idle < _IDLE and not self._is_awaited()):
                return _OFTEN if now - self._met < _MEMORY else _RARELY
            self._drop(is_brief=idle < _IDLE)
        return super()._next_look()


class _Served:
    """The studies of a server that has the file open, connected to at the first call. Once it has closed the file, calls go to
    where the studies are then."""

    def __init__(self, handle: FileHandle, address: str, token_file: str) -> None:
        self._handle = weakref.ref(handle)
        self._owner = address, token_file
        self._server: Optional[_remote.Server] = None
        self._next: Optional[_core.Backend] = None

    def abandon(self) -> None:
        if self._server is not None:
            self._server.abandon()

    def __getattr__(self, name: str) -> Any:
        def call(*arguments: Any) -> Any:
            if self._next is not None:
                return getattr(self._next, name)(*arguments)
            deadline = 0.0
            while self._next is None:
                try:
                    return getattr(self._connected(), name)(*arguments)
                except ServerUnavailableError:
                    handle, now = self._handle(), time.monotonic()
                    deadline = deadline or now + _PATIENCE
                    if handle is None or now >= deadline:
                        raise
                    self._next = handle._reopen(self)
                    time.sleep(_RARELY)
            try:
                return getattr(self._next, name)(*arguments)
            except StateError as error:
                # Its answer was lost, but it took effect.
                if error.reason != "TRIAL_FINISHED" or name not in ("complete", "fail", "mark_infeasible"):
                    raise
                return self._next.trial(arguments[0].study, arguments[0].number)

        return call

    def _connected(self) -> _remote.Server:
        if self._server is None:
            from vernier._server import connect_to_owner

            self._server = connect_to_owner(*self._owner)
        return self._server


# Handles whose last closing was brief. The last process to end brings the log into the file.
_untidy: set[FileHandle] = set()
_by_path: weakref.WeakValueDictionary[str, FileHandle] = weakref.WeakValueDictionary()
_by_path_lock = threading.Lock()


def handle_of(storage: Optional[str], *, creates: bool = False) -> StoreHandle:
    """The handle of a file, one for each file in this process; a new one for None, a store in memory. ``creates``: makes the
    file if it is missing."""
    if storage is None:
        return StoreHandle()
    path = os.path.realpath(storage)
    with _by_path_lock:
        handle = _by_path.get(path)
        if handle is None or handle._forked_from is not None:
            handle = _by_path[path] = FileHandle(path)
        handle.may_create |= creates
        return handle


def _after_fork_in_child() -> None:
    global _by_path_lock
    _untidy.clear()
    _by_path_lock = threading.Lock()


os.register_at_fork(after_in_child=_after_fork_in_child)
