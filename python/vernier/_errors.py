"""Exceptions of the library. The message is one sentence that names the field, the value and the bound."""

from __future__ import annotations

import re

# A word that is longer than any name in a definition, or of a file.
_LONG_WORD = re.compile(r"[^\s'\"/.,:;=<>()\[\]{}]{256,}")


# What the command line calls its options, in messages of the core, and what this package calls its arguments.
_ARGUMENTS = {
    "--objective maximize:METRIC or minimize:METRIC": "maximize= or minimize=",
    "--parameters NAME,NAME": "parameters=",
    "--space FILE": "space=",
    "--study NAME": "study=",
    "--format names": "format= is",
    "add --force": "give force=True",
}


def for_python(message: str) -> str:
    """The message of the core, with arguments in place of options of the command line."""
    for option, argument in _ARGUMENTS.items():
        message = message.replace(option, argument)
    return message


def without_long_words(message: str) -> str:
    """The message, with an ellipsis for most of a name that is much too long."""
    return _LONG_WORD.sub(lambda word: word[0][:40] + "…", message)


class VernierError(Exception):
    """Base class of all errors of this package.

    ``reason`` says why a call was refused, for programs ("TRIAL_FINISHED"); ``field`` names the field of the
    definition or of the call that is wrong ("parameters.lr.float[0]"). Both may be empty.
    """

    def __init__(self, message: str, reason: str = "", field: str = "") -> None:
        super().__init__(without_long_words(message))
        self.reason = reason
        self.field = field

    def __reduce__(self) -> tuple[type[VernierError], tuple[str, str, str]]:
        return type(self), (str(self), self.reason, self.field)


class InvalidValueError(VernierError, ValueError):
    """An argument, a parameter or a metric has a value that is not allowed."""


class NotFoundError(VernierError, LookupError):
    """There is no such study, trial or folder."""


class StudyExistsError(VernierError):
    """The store has a study with this name. ``resume=True`` continues it."""


class ExhaustedError(VernierError):
    """There are no more trials: the budget is spent, or every point of the space was tried."""


class ParallelLimitError(VernierError):
    """As many trials are open as the study allows (``parallel`` in its definition). One must end first."""


class StateError(VernierError):
    """The state of the study or of the trial does not allow the call; a trial that has ended cannot be told again."""


class LeaseLostError(VernierError):
    """The trial was given to another process, because this one was not heard of in time."""


class StoreError(VernierError):
    """The store cannot be read or written."""


class StoreBusyError(StoreError):
    """Another process has kept the store open for 30 s."""


class ServerUnavailableError(VernierError, ConnectionError):
    """The server cannot be reached, or does not answer in time. What was called may have taken effect nevertheless."""


# The store or the server may be reached later.
UNREACHABLE = (StoreBusyError, ServerUnavailableError)


class AccessDeniedError(VernierError, PermissionError):
    """The server wants a token, or another one."""


class AlgorithmError(VernierError):
    """An algorithm of the user's own (``Optimizer``) raised an exception, which is ``__cause__``, or gave no legal points."""


class TooManyFailuresError(VernierError):
    """``optimize`` ended because too many trials failed. ``__cause__`` is the last exception of ``train``."""


class TrialStopped(Exception):
    """Raised by ``train`` to end a trial early; the trial completes with the values that it reported last."""


class Interrupted(BaseException):
    """Ends what a user's function or class does in a thread, after an interrupt. Not an Exception, so that it is not caught."""


_BY_REASON: dict[str, type[VernierError]] = {
    "BUDGET_SPENT": ExhaustedError,
    "SPACE_EXHAUSTED": ExhaustedError,
    "PARALLEL_LIMIT": ParallelLimitError,
    "STUDY_EXISTS": StudyExistsError,
    "LEASE_LOST": LeaseLostError,
    "STORE_BUSY": StoreBusyError,
}
_BY_CODE: dict[str, type[VernierError]] = {
    "INVALID_ARGUMENT": InvalidValueError,
    "NOT_FOUND": NotFoundError,
    "FAILED_PRECONDITION": StateError,
    "DATA_LOSS": StoreError,
    "UNAVAILABLE": StoreError,
    "RESOURCE_EXHAUSTED": StoreError,
    "UNAUTHENTICATED": AccessDeniedError,
    "PERMISSION_DENIED": AccessDeniedError,
}
NO_ANSWER = "the server does not answer"
_SILENCE = ("UNAVAILABLE", "DEADLINE_EXCEEDED")


def from_status(code: str, reason: str, field: str, message: str) -> VernierError:
    """Returns the exception for a status of the core. Called by the extension module _core."""
    kind = _BY_REASON.get(reason) or _BY_CODE.get(code) or VernierError
    return kind(for_python(message), "" if reason == "NONE" else reason, field)


def from_server_status(code: str, reason: str, field: str, message: str) -> VernierError:
    """Returns the exception for a status of a call to a server. Called by the extension module _remote."""
    if code in _SILENCE and reason == "NONE":
        # The text of gRPC is a chain of causes, of which the last one says what is the matter.
        return ServerUnavailableError(f"{NO_ANSWER} ({message.rpartition(': ')[2]})")
    return from_status(code, reason, field, message)
