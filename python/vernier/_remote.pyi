"""Types of the extension module for servers. Its source is python/src/remote_module.cc."""

from typing import Optional

from vernier._core import Backend

# Fields of vernier.ServerStatus, in their order.
StatusRow = tuple[
    str,  # version
    str,  # store
    int,  # process_id
    float,  # started
    int,  # studies
    int,  # open_trials
    int,  # memory
]

class Stream:
    def take(self, timeout: float, /) -> tuple[bool, Optional[str]]:
        """(True, item); (True, None): none came in time; (False, None): there are no more."""
    def close(self) -> None: ...

class Server(Backend):
    def __init__(self, address: str, token: str, timeout: float, attempts: tuple[int, int], actor: str, /) -> None: ...
    def status(self) -> StatusRow: ...
    def submit(self, definition: str, name: str, folder: str, actor: str, /) -> int: ...
    def resubmit(self, study: int, definition: str, folder: str, actor: str, /) -> None: ...
    def validate(self, definition: str, name: str, folder: str, /) -> None: ...
    def watch(self, study: int, after: int, follow: bool, /) -> Stream: ...
    def logs(
        self, study: int, trial: int, follow: bool, attempt: int, role: str, index: Optional[int], tail: int, /
    ) -> Stream: ...

class Reporter:
    def __init__(self, address: str, study: str, trial: int, token: str, timeout: float, /) -> None: ...
    def report(self, step: int, metrics: dict[str, float], /) -> bool: ...
