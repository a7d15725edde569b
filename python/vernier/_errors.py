"""Exceptions of the library. The message is one sentence that names the field, the value and the bound."""

from __future__ import annotations


class VernierError(Exception):
    """Base class of all errors of this package.

    ``reason`` says why a call was refused, for programs ("TRIAL_FINISHED"); ``field`` names the field of the
    definition or of the call that is wrong ("parameters.lr.float[0]"). Both may be empty.
    """

    def __init__(self, message: str, reason: str = "", field: str = "") -> None:
        super().__init__(message)
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
    """Another process has the store open."""


class TooManyFailuresError(VernierError):
    """``optimize`` ended because too many trials failed. ``__cause__`` is the last exception of ``train``."""


class TrialStopped(Exception):
    """Raised by ``train`` to end a trial early; the trial completes with the values that it reported last."""


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
}


def from_status(code: str, reason: str, field: str, message: str) -> VernierError:
    """Returns the exception for a status of the core. Called by the extension module."""
    kind = _BY_REASON.get(reason) or _BY_CODE.get(code) or VernierError
    return kind(message, "" if reason == "NONE" else reason, field)
