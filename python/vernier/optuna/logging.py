"""Messages of studies, to the logger "optuna" and by default to stderr."""

from __future__ import annotations

import logging
import sys
import threading
from logging import CRITICAL, DEBUG, ERROR, FATAL, INFO, WARN, WARNING
from typing import TYPE_CHECKING, Any, Optional

__all__ = ["CRITICAL", "DEBUG", "ERROR", "FATAL", "INFO", "WARN", "WARNING"]

_lock = threading.Lock()
_handler: Optional[logging.Handler] = None


if TYPE_CHECKING:
    _StreamHandler = logging.StreamHandler[Any]
else:
    _StreamHandler = logging.StreamHandler  # Not generic before Python 3.11.


class _StderrHandler(_StreamHandler):
    """Writes to what sys.stderr is at the time, as a notebook changes it."""

    def __init__(self) -> None:
        logging.Handler.__init__(self)

    @property
    def stream(self) -> Any:
        return sys.stderr

    @stream.setter
    def stream(self, stream: Any) -> None:
        pass


def _root() -> logging.Logger:
    global _handler
    root = logging.getLogger("optuna")
    with _lock:
        if _handler is None:
            _handler = _StderrHandler()
            _handler.setFormatter(logging.Formatter("[%(levelname).1s %(asctime)s] %(message)s"))
            root.addHandler(_handler)
            if root.level == logging.NOTSET:
                root.setLevel(logging.INFO)
            root.propagate = False
    return root


def get_logger(name: str) -> logging.Logger:
    _root()
    return logging.getLogger(name)


def get_verbosity() -> int:
    return _root().getEffectiveLevel()


def set_verbosity(verbosity: int) -> None:
    _root().setLevel(verbosity)


def disable_default_handler() -> None:
    root = _root()
    assert _handler is not None
    root.removeHandler(_handler)


def enable_default_handler() -> None:
    root = _root()
    assert _handler is not None
    root.addHandler(_handler)


def disable_propagation() -> None:
    _root().propagate = False


def enable_propagation() -> None:
    _root().propagate = True
