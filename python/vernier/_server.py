"""Studies of a server: connected to, submitted, followed."""

from __future__ import annotations

import contextlib
import json
import os
import re
import time
import weakref
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, AsyncIterator, Callable, Iterator, Mapping, NamedTuple, Optional, Sequence, TypeVar, Union

from vernier import _values
from vernier._errors import NO_ANSWER, InvalidValueError, NotFoundError, ServerUnavailableError, StateError
from vernier._store import StoreHandle, actor
from vernier._study import Study, create_study
from vernier._trials import Trial, TrialRecord, number_of

if TYPE_CHECKING:
    from vernier import _core, _remote

_ENDED = ("COMPLETED", "CANCELLED", "FAILED")
# Longest wait of a thread for the next item, after which it looks for signals.
_SLICE = 0.2
# Seconds for one call with all its retries. A choice: longer than a server takes to restart.
_TIMEOUT = 30.0
# Tries of a call whose connection breaks, before and after the server's first answer: of a server that may restart, where after
# that only `timeout` counts; and of one that has a file open, which is likely to have closed it.
_TRIES, _TRIES_OF_OWNER = (10, 1_000_000), (2, 2)
# Schemes of gRPC, which checks the rest itself; or a host and a port.
_ADDRESS = re.compile(r"(unix|unix-abstract|dns|ipv4|ipv6):.+|([^\s/:\[\]]+|\[[^\s/\[\]]+\]):[0-9]{1,5}")
# Bytes of the path of a Unix socket: sun_path of <sys/un.h>, less the zero that ends it.
_LONGEST_SOCKET = 107
# Waits between two looks at a study that is waited for: first, and at most.
_FIRST_LOOK = 0.05
_LONGEST_LOOK = 1.0
_T = TypeVar("_T")
# Whether this process has used gRPC. Calls of a forked child would disturb those of its parent, with which it shares gRPC's
# sockets and its poller.
_has_connected = False
_forked_from: Optional[int] = None


def _after_fork_in_child() -> None:
    global _forked_from
    if _has_connected:
        _forked_from = os.getppid()


os.register_at_fork(after_in_child=_after_fork_in_child)


class ServerHandle(StoreHandle):
    """A server, connected to at the first call. The connection stays until the handle is dropped."""

    is_shared = True

    def __init__(self, address: str, token: str, timeout: float) -> None:
        super().__init__()
        self.address = address
        self._token = token
        self._timeout = timeout

    def __str__(self) -> str:
        return self.address

    def open_study_args(self, name: str) -> tuple[Any, ...]:
        # Without the token: whoever reads the pickle must not get it.
        return name, None, self.address

    @contextlib.contextmanager
    def use(self, *, ends: bool = False, needs_file: bool = False) -> Iterator[_core.Backend]:
        with self.named(), super().use(ends=ends, needs_file=needs_file) as core:
            yield core

    @contextlib.contextmanager
    def named(self) -> Iterator[None]:
        """Names the address where an error says that the server does not answer."""
        try:
            yield
        except ServerUnavailableError as error:
            if not str(error).startswith(NO_ANSWER):
                raise
            text = f"no server answers at {self.address}" + str(error)[len(NO_ANSWER) :]
            raise ServerUnavailableError(f"{text}; start one with `vernier server start`, or give another address") from None

    def study(self, study_id: int, name: str) -> ServerStudy:
        return ServerStudy(self, study_id, name)

    def create(self, core: _core.Backend, definition: str) -> int:
        return self.server(core).submit(definition, "", os.getcwd(), actor())

    def redefine(self, core: _core.Backend, study_id: int, definition: str) -> None:
        self.server(core).resubmit(study_id, definition, os.getcwd(), actor())

    def server(self, core: _core.Backend) -> _remote.Server:
        from vernier import _remote

        assert isinstance(core, _remote.Server)
        return core

    def _connect(self) -> _core.Backend:
        return _connection(self.address, self._token, self._timeout, _TRIES)


def _connection(address: str, token: str, timeout: float, tries: tuple[int, int]) -> _remote.Server:
    global _has_connected
    if _forked_from is not None:
        raise StateError(
            f"this process was forked from process {_forked_from}, which had connected to a server, and can therefore not connect"
            " itself; start processes by 'spawn' or 'forkserver', or connect in the children only"
        )
    from vernier import _remote

    _has_connected = True
    return _remote.Server(address, token, timeout, tries, actor())


class Event(NamedTuple):
    """One change of a study. docs/formats/events.md lists the kinds and their data."""

    seq: int
    """Its number in the study's log, from 1."""
    time: float
    """Seconds since 1970."""
    actor: str
    """Who caused it: a client, or a part of the server."""
    kind: str
    """"trial_created", "measurement_reported", "study_state_changed" …"""
    data: dict[str, Any]

    @property
    def trial(self) -> Optional[int]:
        """The number of the trial that it is about; None: it is about the study."""
        number = self.data.get("trial")
        return number if isinstance(number, int) else None


@dataclass(frozen=True)
class LogLine:
    """One line that a replica of a trial's job printed."""

    time: float
    """Seconds since 1970."""
    attempt: int
    """Number of the run of the trial's job, from 1."""
    role: str
    """Role of the replica, such as "worker"."""
    index: int
    """Index of the replica in its role, from 0."""
    stream: str
    """"stdout" or "stderr"."""
    text: str


class ServerStatus(NamedTuple):
    """The state of a server process."""

    version: str
    store: str
    """Path of its store."""
    process_id: int
    started: float
    """Seconds since 1970."""
    studies: int
    open_trials: int
    """Trials that have not ended, waiting ones included."""
    memory: int
    """Resident memory in bytes."""


class ServerStudy(Study):
    """A study of a server. In addition to the methods of Study it can be followed, and its jobs' logs read."""

    def __init__(self, handle: ServerHandle, study_id: int, name: str) -> None:
        super().__init__(handle, study_id, name)
        self._server = handle

    def wait(self, timeout: Optional[float] = None) -> str:
        """Waits until the study has ended, and returns its state: "COMPLETED", "CANCELLED" or "FAILED".

        TimeoutError: it has not ended after ``timeout`` seconds.
        """
        deadline = None if timeout is None else time.monotonic() + _values.finite(timeout, "timeout")
        pause = _FIRST_LOOK
        while True:
            state = self.state
            if state in _ENDED:
                return state
            left = pause if deadline is None else min(pause, deadline - time.monotonic())
            if left <= 0:
                raise TimeoutError(f"study '{self.name}' is {state} after {timeout:g} s")
            time.sleep(left)
            pause = min(2 * pause, _LONGEST_LOOK)

    def watch(self, after: int = 0, *, follow: bool = True) -> Iterator[Event]:
        """Gives the events after number ``after``: those that there are, and with ``follow`` those to come, until the study
        has ended. A lost connection is resumed: no event comes twice, and none is missed."""
        return _items(self._server, self._events(after, follow), _event)

    def watch_async(self, after: int = 0, *, follow: bool = True) -> AsyncIterator[Event]:
        """As ``watch``, for ``async for``."""
        return _items_async(self._server, self._events(after, follow), _event)

    def logs(
        self,
        trial: Union[Trial, TrialRecord, int],
        *,
        follow: bool = False,
        attempt: Optional[int] = None,
        role: Optional[str] = None,
        index: Optional[int] = None,
        tail: Optional[int] = None,
    ) -> Iterator[LogLine]:
        """Gives the lines that a trial's job printed: those of the last attempt, or of ``attempt``. ``follow``: also those
        to come, until the trial has ended. ``role``, ``index``: of these replicas only, such as "worker", 0. ``tail``: only
        the last lines, as many."""
        number = number_of(trial)
        with self._handle.use() as core:
            stream = self._server.server(core).logs(
                self._id,
                number,
                _values.flag(follow, "follow"),
                0 if attempt is None else _values.whole(attempt, "attempt", 1, 2**31 - 1),
                "" if role is None else _values.text(role, "role"),
                None if index is None else _values.whole(index, "index", 0, 2**31 - 1),
                0 if tail is None else _values.whole(tail, "tail", 1),
            )
        return _items(self._server, stream, lambda item: LogLine(**json.loads(item)))

    def _events(self, after: int, follow: bool) -> _remote.Stream:
        number = _values.whole(after, "after", 0)
        with self._handle.use() as core:
            return self._server.server(core).watch(self._id, number, _values.flag(follow, "follow"))


class Server:
    """A running `vernierd`, or another process of Vernier that serves its store. Made by ``connect``. Thread-safe."""

    def __init__(self, handle: ServerHandle) -> None:
        self._handle = handle

    @property
    def address(self) -> str:
        """Where it is: "HOST:PORT" or "unix:PATH"."""
        return self._handle.address

    def __repr__(self) -> str:
        return f"<vernier.Server {self.address}>"

    @property
    def status(self) -> ServerStatus:
        """The state of the server process."""
        with self._handle.use() as core:
            return ServerStatus(*self._handle.server(core).status())

    def submit(
        self,
        study: Union[str, os.PathLike[str], Mapping[str, Any]],
        *,
        name: Optional[str] = None,
        validate_only: bool = False,
    ) -> Optional[ServerStudy]:
        """Creates a study from a study file: its path, or its content as a mapping. With a ``job`` the server runs the trials
        at once. ``name`` replaces the name in the file. ``validate_only``: makes all checks, stores nothing, returns None.

        Paths are relative to the folder of the file, or to the current one. A job runs in its ``dir`` on the server's host, by
        default that folder.  InvalidValueError: a field is wrong.  NotFoundError: there is no such file.  StudyExistsError: the
        name is taken.
        """
        if isinstance(study, Mapping):
            text, folder = _values.document(study, "study"), os.getcwd()
        else:
            path = _values.path(study, "study")
            text = _content_of(path)
            folder = os.path.dirname(os.path.abspath(path))
        new_name = "" if name is None else _values.text(name, "name")
        with self._handle.use() as core:
            server = self._handle.server(core)
            if validate_only:
                server.validate(text, new_name, folder)
                return None
            study_id = server.submit(text, new_name, folder, actor())
            return ServerStudy(self._handle, study_id, server.study(study_id)[0])

    def create_study(self, name: str, space: Any, **options: Any) -> Study:
        """``vernier.create_study`` on this server; with ``job=``, the server runs the trials."""
        return create_study(name, space, server=self, **options)

    def open_study(self, name: str) -> ServerStudy:
        """Opens a study.  NotFoundError: there is none of that name."""
        with self._handle.use() as core:
            study_id = core.find_study(_values.text(name, "name"))
            return ServerStudy(self._handle, study_id, name)

    def study_names(self) -> list[str]:
        """The names of all studies."""
        with self._handle.use() as core:
            return core.study_names()

    def delete_study(self, name: str, *, force: bool = False) -> None:
        """Deletes a study with its trials. ``force``: also if trials of it are running."""
        with self._handle.use() as core:
            core.delete_study(_values.text(name, "name"), _values.flag(force, "force"), actor())


class Job:
    """A training job, which a server runs for each trial: ``Job(["python3", "train.py"], replicas={"chief": 1, "worker": 2})``.

    ``command``: a program and its arguments, or one line that is split as a shell does; parameters are added as options,
    ``--lr=0.1``. ``working_dir``: by default the current directory; the server's host must have it. ``replicas``: number of
    processes by role, or a mapping such as ``{"count": 2, "gpus": 1, "cpus": 4, "memory": "8GiB"}``; by default one chief.
    ``env``: variables. ``limits``: ``{"time": "2h"}``. ``options``: the other keys of a job in a study file
    (docs/formats/study_file.md), such as ``code="."``, ``pausable=True``, ``dir="runs/digits"``, or ``image=`` or ``trainer=``
    instead of a command. The server checks the files that it names when the study is created.

    InvalidValueError: a key or a value is wrong.
    """

    def __init__(
        self,
        command: Union[str, Sequence[str], None] = None,
        *,
        working_dir: Union[str, os.PathLike[str], None] = None,
        replicas: Optional[Mapping[str, Any]] = None,
        env: Optional[Mapping[str, str]] = None,
        limits: Optional[Mapping[str, Any]] = None,
        **options: Any,
    ) -> None:
        words = command
        if command is not None and not isinstance(command, str):
            if not isinstance(command, Sequence) or isinstance(command, bytes):
                raise TypeError(f"command: must be a list of a program and its arguments, or a line, got {command!r}")
            words = [_values.text(word, f"command[{i}]") for i, word in enumerate(command)]
        folder = None if working_dir is None else os.fspath(working_dir)
        given = {"command": words, "working_dir": folder, "replicas": replicas, "env": env, "limits": limits, **options}
        self.definition: dict[str, Any] = {key: value for key, value in given.items() if value is not None}
        from vernier import _core

        # Reads a study file with the job alone, which checks the job.
        _core.parameters(_values.document({"study": "job", "job": self.definition}, "job"))

    def __repr__(self) -> str:
        return f"Job({self.definition})"


_handles: weakref.WeakValueDictionary[tuple[str, str, float], ServerHandle] = weakref.WeakValueDictionary()


def connect(address: Optional[str] = None, *, token: Optional[str] = None, timeout: float = 30.0) -> Server:
    """Returns the server at an address, "HOST:PORT" or "unix:PATH"; by default $VERNIER_SERVER.

    ``token``: that of a server that is reached over TCP; by default the content of the file $VERNIER_TOKEN_FILE, or, of a server
    on this host, the token of this user. ``timeout``: seconds for one call with all its retries. A call whose connection breaks
    is made again, and takes effect once.

    ServerUnavailableError: no server answers.  AccessDeniedError: the token is wrong.
    """
    server = Server(_handle(address, token, timeout))
    server.status  # Finds out now whether there is one.
    return server


def _handle(address: Optional[str], token: Optional[str], timeout: float) -> ServerHandle:
    place = os.environ.get("VERNIER_SERVER", "") if address is None else _values.text(address, "address")
    if not place:
        raise InvalidValueError("address: must be HOST:PORT or unix:PATH; $VERNIER_SERVER is not set", field="address")
    if not _ADDRESS.fullmatch(place):
        raise InvalidValueError(f"address: must be HOST:PORT or unix:PATH, got {place!r}", field="address")
    socket = os.fsencode(place[len("unix:") :]) if place.startswith("unix:") else b""
    if len(socket) > _LONGEST_SOCKET:
        raise InvalidValueError(
            f"address: the path of a socket must have at most {_LONGEST_SOCKET} bytes, got {len(socket)}", field="address"
        )
    seconds = _values.finite(timeout, "timeout")
    if seconds <= 0:
        raise InvalidValueError(f"timeout: must be above 0, got {seconds:g}", field="timeout")
    key = (place, "" if token is None else _values.token(token, "token"), seconds)
    handle = _handles.get(key)
    if handle is None or handle._forked_from is not None:
        handle = _handles[key] = ServerHandle(*key)
    return handle


def connect_to_owner(address: str, token_file: str) -> _remote.Server:
    """A connection of its own to the server that has a store open."""
    return _connection(address, _token_in(token_file), _TIMEOUT, _TRIES_OF_OWNER)


def _token_in(path: str) -> str:
    if not path:
        return ""
    with open(path, encoding="utf-8") as file:
        return file.read().strip()


def server_of(server: Union[str, Server]) -> Server:
    """The server, or the one at an address."""
    return server if isinstance(server, Server) else Server(_handle(server, None, _TIMEOUT))


def _content_of(path: str) -> str:
    """Of a study file."""
    try:
        with open(path, encoding="utf-8") as file:
            return file.read()
    except FileNotFoundError:
        raise NotFoundError(f"study: there is no file {path}", field="study") from None
    except OSError as error:
        raise InvalidValueError(f"study: {path} cannot be read: {error.strerror}", field="study") from None
    except UnicodeDecodeError:
        raise InvalidValueError(f"study: {path} is not UTF-8 text", field="study") from None


def _event(item: str) -> Event:
    return Event(**json.loads(item))


def _items(server: ServerHandle, stream: _remote.Stream, read: Callable[[str], _T]) -> Iterator[_T]:
    try:
        while True:
            with server.named():
                is_open, item = stream.take(_SLICE)
            if not is_open:
                return
            if item is not None:
                yield read(item)
    finally:
        stream.close()


async def _items_async(
    server: ServerHandle, stream: _remote.Stream, read: Callable[[str], _T]
) -> AsyncIterator[_T]:
    import asyncio

    try:
        while True:
            with server.named():
                is_open, item = await asyncio.to_thread(stream.take, _SLICE)
            if not is_open:
                return
            if item is not None:
                yield read(item)
    finally:
        stream.close()
